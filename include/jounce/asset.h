// The character file, `.jounce`: one read-only asset that any number of characters share.
//
// The file is little-endian: a header of 64 bytes (magic, version, checksum), a table of sections, and the sections,
// each at a multiple of 64 bytes, so that the asset can point into the caller's bytes, memory-mapped for instance.
// Everything is checked while loading: a file that loads is safe to use.
#pragma once

#include "jounce/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { JN_NAME_LENGTH = 64, JN_MAX_INFLUENCES = 8, JN_MAX_DRIVERS = 4, JN_ASSET_VERSION = 3 };

/// How the skeleton moves the surface.
typedef enum jnSkinning {
    jn_skinLinear, // linear blend of the joints' matrices
    jn_skinDual,   // dual quaternions: no collapse at twisted joints
} jnSkinning;

/// What the quasistatic network of an asset is.
typedef enum jnNetworkKind {
    jn_networkNone,
    jn_networkPca, // coefficients of displacement fields
    jn_networkCnn, // a map of displacements over the UV charts
    jn_networkKindCount,
} jnNetworkKind;

/// One joint, as it is in the file. Parents come before their children.
typedef struct jnAssetJoint {
    char name[JN_NAME_LENGTH];
    int32_t parent;       // -1 for a root
    float translation[3]; // rest pose, local to the parent
    float rotation[4];    // unit quaternion x, y, z, w
    float scale[3];
    float inverseBind[12]; // rest surface to joint, 3 rows of 4
    uint32_t reserved;     // 0
} jnAssetJoint;

/// A run of triangles that share a material, as it is in the file.
typedef struct jnAssetPart {
    char name[JN_NAME_LENGTH];
    char material[JN_NAME_LENGTH];
    float color[4]; // linear RGBA
    int32_t firstTriangle;
    int32_t triangleCount;
} jnAssetPart;

/// A morph target of the source (shape key, blend shape), as it is in the file.
typedef struct jnAssetTarget {
    char name[JN_NAME_LENGTH];
    float weight;         // at rest: the rest surface has this much of it
    uint32_t reserved[3]; // 0
} jnAssetTarget;

/// A vertex that is not stepped at coarse detail: its offset from the target is a weighted sum of those of a few that
/// are.
typedef struct jnAssetFollower {
    int32_t drivers[JN_MAX_DRIVERS]; // 0 to driverCount - 1
    float weights[JN_MAX_DRIVERS];   // 0 for an entry that is not used
} jnAssetFollower;

/// A clip of the asset.
typedef struct jnAssetClip {
    const char* name;
    double rate;               // frames a second
    int frameCount;            // at least 1
    bool looping;              // the frame after the last is the first
    bool isTest;               // held back from training
    const float* rotations;    // [frameCount][jointCount][4], local unit quaternions
    const float* translations; // [frameCount][jointCount][3], local
    const float* scales;       // [frameCount][jointCount][3], local; NULL: the rest pose's
} jnAssetClip;

/// One vibration mode, as it is in the file. Modes have unit modal mass: amplitudes are in metres times the root of a
/// kilogram.
typedef struct jnAssetMode {
    float stiffness;     // 1/s^2
    float damping;       // 1/s
    float gain;          // of what drives it; 1 is what the physics says
    float unit;          // the amplitude of a morph weight of 1
    float largest;       // metres that the farthest vertex moves at unit amplitude
    float massShare;     // of the flesh's mass, 0 to 1
    int32_t joint;       // that most of it lives at
    int32_t vertexCount; // that it moves
    float limit;         // the force before the gain saturates at this; 0: no limit
    float cap;           // shown amplitudes stay below; 0: no limit
} jnAssetMode;

/// Springs on vibration modes, the most important first: what drives them, from joints and components alone. Products
/// are sparse by blocks of 16 outputs: entries [starts[b], starts[b + 1]) of block b, each with a joint and its
/// weights.
typedef struct jnAssetModes {
    int modeCount, driverCount, forceCount, crossCount, pairCount, spinCount;
    const jnAssetMode* modes;    // [modeCount]
    const uint16_t* drivers;     // [driverCount], joints that drive modes; the joints below are numbers in this list
    const float* masses;         // [blockCount * 16], kilograms: what an impulse at a vertex moves
    const uint32_t* forceStarts; // [blocks of modes + 1]
    const uint16_t* forceJoints; // [forceCount]
    const float* forces;         // [forceCount][12][16], T_j: of rows and columns of Q_j^T M_j''
    const float* drives;         // [blocks of modes][componentCount][16], P B: of the components
    const uint16_t* crossComponents; // [crossCount]
    const uint16_t* crossJoints;     // [crossCount]
    const float* crosses;            // [crossCount][9][blocks of modes * 16]: of a component in a joint's moving frame
    const uint16_t* pairs;           // [pairCount][2], modes that joints' rotations couple, the larger first
    const uint32_t* spinStarts;      // [blocks of pairs + 1]
    const uint16_t* spinJoints;      // [spinCount]
    const float* spins;              // [spinCount][3][16]: by axis of the joint's rest frame
} jnAssetModes;

/// Where the data of a patch begin; those of the next patch are behind them.
typedef struct jnAssetPatch {
    uint32_t columns; // of jnAssetMorphs.columns
    uint32_t shapes;  // of jnAssetMorphs.scales; a multiple of 8
    uint32_t values;  // of jnAssetMorphs.values, in runs of 16 bytes
} jnAssetPatch;

/// The morph targets, packed. The surface is cut into patches of 64 vertices (4 blocks). The targets of a patch, a
/// matrix of 192 rows with a column for each weight, are a product of two matrices of 8 bits: the weights give the
/// amounts of a few dozen shapes that belong to the patch, and those give the displacements of the rest surface.
///
///     displacement = sum_s shape_s scale_s sum_k mix_sk weight_k      k over the columns that move the patch
///
/// Columns are the components, then the modes, each made even in number.
typedef struct jnAssetMorphs {
    int columnCount, firstMode; // columns in all; column of the first mode
    int patchCount;
    uint32_t listCount, shapeCount, runCount;
    const jnAssetPatch* patches; // [patchCount + 1]
    const uint16_t* columns;     // [listCount], for each patch those that move it
    const float* scales;         // [shapeCount], metres
    const int8_t* values; // [runCount * 16], for each patch mix [columns / 2][shapes][2], the columns made even in
                          // number, then shape [blocks][shapes / 2][3][16][2]
} jnAssetMorphs;

/// A loaded asset. Everything in it is read-only and lives until jnDestroyAsset. A file that `jounce export` writes
/// beside a .glb has no surface: vertexCount and all counts of a surface are 0, and characters of it give weights
/// alone. "Vertices" are welded, one per point of the surface; "file vertices" are those of the source file, split at
/// UV seams and hard edges.
typedef struct jnAsset {
    const char* name;
    int jointCount, vertexCount, fileVertexCount, triangleCount, partCount, clipCount;
    int normalCount; // corners that share a normal: at least one a vertex, more at hard edges
    int springCount; // vertices 0 to springCount - 1 have springs, the others stay on their targets
    int blockCount;  // of 16 vertices
    jnSkinning skinning;
    int curve, timing, start;        // jnCurve, jnTiming, jnStart of the springs
    float rate;                      // frames a second the springs were made at
    const jnAssetJoint* joints;      // [jointCount]
    const float* rest;               // [blockCount * 16][4], x, y, z, 1
    const uint32_t* influenceStarts; // [blockCount + 1]; the difference is the block's influences a vertex
    const uint16_t* influenceJoints; // block b at 16 * influenceStarts[b]: [16][influences]
    const float* influenceWeights;   // as influenceJoints; largest first, sum 1
    const float* stiffness;          // [vertexCount], the paper's k_s, 1/s^2
    const float* damping;            // [vertexCount], the paper's k_d, 1/s
    const int32_t* weld;             // [fileVertexCount], vertex of a file vertex
    const int32_t* fileNormals;      // [fileVertexCount], normal of a file vertex
    const int32_t* triangles;        // [triangleCount][3], file vertices, counter-clockwise from outside
    const uint32_t* ringStarts;      // [4 * blocks of 16 normals + 1], for every four normals
    const uint32_t* rings; // [entries][4], for each normal its vertex, then the vertices around it: every two that
                           // follow each other are a triangle's; the vertex itself again where a walk ends
    int driverCount;       // vertices that are stepped at coarse detail come first; 0: the asset has no such detail
    const jnAssetFollower*
        followers;            // of the vertices from driverCount to the end of the last block with springs; NULL: none
    const float* uvs;         // [fileVertexCount][2]; NULL: none
    const int32_t* order;     // [vertexCount], the vertex's number in the source; NULL: the same
    const jnAssetPart* parts; // [partCount]
    int componentCount, modeCount; // morph weights: of the network (number 0 is constant), of the vibration modes
    const jnAssetModes* modes;     // NULL: none; an asset with modes has no springs of single vertices
    const jnAssetMorphs* morphs;   // NULL: no weights
    bool isLinear;                 // skinning with morph targets gives all of it: linear blend, and no map
    uint64_t hash;                 // of the file's contents
    jnNetworkKind network;         // what adds to the skinned surface
    size_t networkByteCount;       // of its section; 0 without one
    float networkError;            // metres, root-mean-square on poses held out of its training
    size_t byteCount;              // of the file
    bool weldIsIdentity;           // file vertices are vertices
    bool normalsAreIdentity;       // file vertices are normals
    const float* weightScales; // [componentCount + modeCount], what morph weights are multiplied by on their way out,
                               // as the targets of a .glb were made for; NULL: 1
    int targetCount;           // morph targets of the source: faces, for instance
    const jnAssetTarget* targets; // [targetCount]
    int hitVertexCount; // vertices that an impulse may be given to: vertexCount, or those of the whole character in a
                        // file without a surface that knows where it can be hit; 0: none
    int weightCount; // numbers that a character writes to jnCharacterOutput.weights: componentCount + modeCount, or, in
                     // a file beside a .glb, as many as that has targets of ours, in the same order
    const float* weightMix; // [weightCount, or half of it for pairs][componentCount + modeCount], what those numbers
                            // are made of; NULL: each weight is one
    bool weightsArePairs;   // for hosts that clamp at 0: number 2 t is the positive part of a row, 2 t + 1 the negative
} jnAsset;

/// What to load.
typedef struct jnAssetDef {
    const void* bytes; // the whole file; must stay valid as long as the asset if it is at a multiple of 64
    size_t size;
    const char* source;    // name used in errors; NULL: "asset"
    jnAllocator allocator; // used once
} jnAssetDef;

/// One section of the file, for tools.
typedef struct jnAssetSection {
    char id[5]; // four letters
    bool required;
    size_t offset, size;
} jnAssetSection;

/// Loads an asset: checks everything and points into the bytes; where they are not at a multiple of 64 they are copied.
/// Fails with jn_badData and a sentence that says what is wrong and where.
JN_API jnResult jnLoadAsset(const jnAssetDef* def, jnAsset** asset, jnError* error);
JN_API void jnDestroyAsset(jnAsset* asset); // NULL is allowed

/// The numbers of an asset, for bindings that do not mirror jnAsset; as its members of the same names.
typedef struct jnAssetCounts {
    int32_t joints, vertices, fileVertices, normals, triangles, parts, clips;
    int32_t components, modes, weights, targets, hitVertices;
    int32_t isLinear, weightsArePairs; // 0 or 1
} jnAssetCounts;
JN_API void jnAsset_Counts(const jnAsset* asset, jnAssetCounts* counts);
/// A joint by index, 0 to jointCount - 1; NULL for an index that is out of range.
JN_API const jnAssetJoint* jnAsset_Joint(const jnAsset* asset, int index);

/// A clip by index, 0 to clipCount - 1.
JN_API jnAssetClip jnAsset_Clip(const jnAsset* asset, int index);
/// Index of the clip with a name; -1: none.
JN_API int jnAsset_FindClip(const jnAsset* asset, const char* name);

/// The local pose of a clip at a time: rotations [jointCount][4], translations and scales [jointCount][3]. A
/// Catmull-Rom spline runs through the frames, of unit quaternions too, so that the pose has a velocity everywhere; the
/// flesh solver samples its clips in the same way. A looping clip wraps, another stays on its ends.
/// The rest pose for an index that is out of range.
JN_API void jnAsset_SampleClip(
    const jnAsset* asset, int index, double seconds, float* rotations, float* translations, float* scales);

/// Weights of the source's morph targets that a clip plays at a time, for jnPose; those at rest where it plays none. On
/// straight lines between the frames, so that they stay within what was keyed.
/// weights: [targetCount].
JN_API void jnAsset_SampleTargets(const jnAsset* asset, int index, double seconds, float* weights);
/// Index of the source's morph target with a name; -1: none.
JN_API int jnAsset_FindTarget(const jnAsset* asset, const char* name);

/// Displacements of the rest surface that a morph weight of 1 adds, in metres; for upload to a GPU. weight: 0 to
/// componentCount + modeCount - 1, as in jnCharacterOutput, and then the targets of the source. deltas:
/// [fileVertexCount] x, y, z; [vertexCount] if welded.
JN_API void jnAsset_MorphDeltas(const jnAsset* asset, int weight, bool welded, float* deltas);

/// The same for the vertices alone that move by more than `least` metres. Returns how many; with `vertices` NULL it
/// only counts. vertices: indices; deltas: x, y, z of each.
JN_API int jnAsset_SparseMorph(
    const jnAsset* asset, int weight, bool welded, float least, int32_t* vertices, float* deltas);

JN_API int jnAsset_SectionCount(const jnAsset* asset);
JN_API jnAssetSection jnAsset_Section(const jnAsset* asset, int index);

#ifdef __cplusplus
}
#endif
