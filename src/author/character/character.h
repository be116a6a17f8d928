// A rigged surface and the motion on it, as the author side holds them, wherever they came from.
//
// Metres, seconds, Y up. Joint transforms are local to the parent: p_parent + G_parent * (S, then R, then T).
#pragma once

#include "jounce/base.h"
#include "jounce/character.h"

enum { JNA_NAME_LENGTH = 64, JNA_MAX_INFLUENCES = 8 };

/// One joint. Parents come before their children.
typedef struct jnaJoint {
    char name[JNA_NAME_LENGTH];
    int parent;            // index, -1 for a root
    float translation[3];  // rest pose, local
    float rotation[4];     // rest pose, local, unit quaternion x, y, z, w
    float scale[3];        // rest pose, local
    float inverseBind[12]; // rest surface to joint, 3 rows of 4 (row-major affine)
} jnaJoint;

/// The joints that move a vertex, largest weight first; unused entries have weight 0 and joint 0; the sum
/// is 1.
typedef struct jnaInfluences {
    uint16_t joints[JNA_MAX_INFLUENCES];
    float weights[JNA_MAX_INFLUENCES];
} jnaInfluences;

/// What a part of the surface is.
typedef enum jnaMeshRole {
    jna_meshFlesh,   // simulated
    jna_meshFollows, // clothes, hair: moved by the flesh that it lies on
    jna_meshRigid,   // eyes, teeth, armour: moved by the joints alone
} jnaMeshRole;
extern const char* const jnaMeshRoleNames[3];
#define JNA_MARK(role) ((uint8_t)((role) + 1))

/// A run of triangles that share a material.
typedef struct jnaPart {
    char name[JNA_NAME_LENGTH];
    char material[JNA_NAME_LENGTH];
    float color[4]; // base colour, linear RGBA
    int firstTriangle;
    int triangleCount;
    jnaMeshRole role;
} jnaPart;

/// Numbers that the source gives each vertex: a colour, COLOR_0 and on, or an attribute of its own.
typedef struct jnaAttribute {
    char name[JNA_NAME_LENGTH];
    int width;     // 1 to 4
    float* values; // [vertexCount][width], finite; the mean of the file vertices that stand on the vertex
} jnaAttribute;

/// A morph target of the source: a shape key, a blend shape. Those of several meshes with one name are one.
typedef struct jnaTarget {
    char name[JNA_NAME_LENGTH];
    float weight;   // at rest; the rest surface has this much of it
    float* offsets; // [vertexCount][3], metres at a weight of 1
} jnaTarget;

/// Parts of a body that have a joint of their own, and that the manifest can name. A limb has three in a row; left
/// comes before right, arms before legs.
typedef enum jnaBodySlot {
    jna_slotPelvis,
    jna_slotChest,
    jna_slotNeck,
    jna_slotHead,
    jna_slotLimbs, // left upper arm, forearm, hand; the same on the right; thigh, shin, foot
    JNA_BODY_SLOTS = jna_slotLimbs + 12,
} jnaBodySlot;
extern const char* const jnaBodySlotNames[JNA_BODY_SLOTS];

/// A rigged character. "File vertices" are the vertices of the source file, split at UV and normal seams;
/// "vertices" are welded, one per point of the surface, and are what is simulated.
typedef struct jnaCharacter {
    char name[JNA_NAME_LENGTH];
    int jointCount;
    jnaJoint* joints;         // [jointCount]
    int body[JNA_BODY_SLOTS]; // joint + 1 that a person named for a part of the body; 0: it is recognised
    int vertexCount;
    int outfitCount;           // of these, the last: they are of parts that are not flesh
    float* positions;          // [vertexCount][3], rest pose
    jnaInfluences* influences; // [vertexCount]
    uint8_t* marks;            // [vertexCount], JNA_MARK of what a person said that a vertex is, 0: nothing;
                               // NULL: nothing of all
    int fileVertexCount;
    int32_t* weld;      // [fileVertexCount], the vertex that a file vertex stands on
    float* fileNormals; // [fileVertexCount][3], unit
    float* fileUvs;     // [fileVertexCount][2], v counted from the bottom; NULL where the file has none
    int triangleCount;
    int32_t* triangles; // [triangleCount][3], file vertices, counter-clockwise seen from outside
    int partCount;
    jnaPart* parts; // [partCount], cover all triangles in order
    int attributeCount;
    jnaAttribute* attributes; // [attributeCount]; NULL where there are none
    int targetCount;
    jnaTarget* targets; // [targetCount]; NULL where there are none
    int sourcePointCount;
    int32_t* sourcePoints; // [sourcePointCount], vertex of each point as the source numbers them, -1 where no face has
                           // it; NULL where the file does not tell; not kept in workspaces
} jnaCharacter;

/// What a clip is for.
typedef enum jnaRole {
    jna_train,
    jna_test,
} jnaRole;

/// Motion of a character's joints at a fixed rate.
typedef struct jnaClip {
    char name[JNA_NAME_LENGTH];
    double rate; // frames a second
    int frameCount;
    int jointCount;      // that of the character
    float* rotations;    // [frameCount][jointCount][4], local unit quaternions x, y, z, w
    float* translations; // [frameCount][jointCount][3], local
    float* scales;       // [frameCount][jointCount][3], local; NULL where all are the rest pose's
    bool looping;        // the frame after the last is the first
    int targetCount;     // that of the character; 0 where the clip does not move its morph targets
    float* targets;      // [frameCount][targetCount], weights of them; NULL where there are none
} jnaClip;

/// Allocates all arrays of a character for the counts already set in it (UVs if `withUvs`), zeroed.
jnResult jnaCharacter_Allocate(jnaCharacter* character, bool withUvs, jnError* error);
void jnaDestroyCharacter(jnaCharacter* character);

/// The flesh of a character alone: its parts, their file vertices and the vertices before the outfit. Owned.
jnResult jnaCharacter_TakeFlesh(const jnaCharacter* character, jnaCharacter* flesh, jnError* error);

/// Height of a character at rest, metres; its largest side where it lies down. Whatever speaks of a height means this.
double jnaHeightOf(const jnaCharacter* character);

/// What each vertex is part of. roles: [vertexCount].
void jnaCharacter_FindRoles(const jnaCharacter* character, uint8_t* roles);

/// Adds an attribute, zeroed, and returns its values; NULL when memory is short. The name is cut where it is too long.
float* jnaCharacter_AddAttribute(jnaCharacter* character, const char* name, int width);

/// Adds a morph target, zeroed, and returns it; NULL when memory is short. The name is cut where it is too long.
jnaTarget* jnaCharacter_AddTarget(jnaCharacter* character, const char* name, float weight);

/// Allocates a clip's arrays for the counts already set in it, zeroed (scales only if `withScales`).
jnResult jnaClip_Allocate(jnaClip* clip, bool withScales, jnError* error);
void jnaDestroyClip(jnaClip* clip);

/// Whether a clip repeats.
typedef enum jnaLoop {
    jna_loopAuto, // where its first and last frame agree
    jna_loopYes,
    jna_loopNo,
} jnaLoop;

/// Makes a clip a loop or not; a last frame that is the first again is dropped. Returns whether it became one now.
bool jnaClip_SetLoop(jnaClip* clip, jnaLoop loop);

/// One frame of a clip, as the runtime takes it. Points into the clip.
jnPose jnaClip_Pose(const jnaClip* clip, int frame);

/// A joint's local transform in one frame of a clip, or in the rest pose where clip is NULL.
typedef struct jnaLocal {
    const float *translation, *rotation, *scale;
} jnaLocal;
jnaLocal jnaCharacter_Local(const jnaCharacter* character, const jnaClip* clip, int frame, int joint);

/// Global joint matrices of one frame of a clip, or of the rest pose where clip is NULL.
/// matrices: [jointCount][12], affine, rows of 4; joint to world.
void jnaPoseMatrices(const jnaCharacter* character, const jnaClip* clip, int frame, float* matrices);

/// Linear blend skinning in double precision, the reference. positions: [vertexCount][3].
void jnaSkin(const jnaCharacter* character, const float* matrices, float* positions);
