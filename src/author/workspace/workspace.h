// A workspace: one folder per character, with a manifest a person edits, what was imported, and what the
// stages made.
//
//   manifest.yaml
//   character/  character.json, positions.npy, joints.npy, weights.npy, weld.npy, normals.npy, uvs.npy,
//   triangles.npy clips/NAME/ clip.json, rotations.npy, translations.npy, scales.npy, motion.npy stages/
//   NAME.json: what each stage was made from
#pragma once

#include "volume/anatomy.h"
#include "flesh/flesh.h"
#include "character/import.h"
#include "base/npy.h"
#include "volume/volume.h"
#include "jounce/asset.h"
#include "jounce/springs.h"

enum { JNA_MAX_CLIPS = 1024 };

/// In the place of a file: the built-in figure and its clips.
#define JNA_FIGURE_SOURCE "built-in:figure"

/// In the place of a clip's number of frames: to its end.
enum { JNA_ALL_FRAMES = -1 };

/// One clip of the manifest.
typedef struct jnaManifestClip {
    char* name; // letters, digits, '-', '_', '.'; its folder
    jnaRole role;
    char* source;    // file
    char* animation; // name inside the file; NULL: the only one
    char* motion;    // vertex cache with the clip's ground truth; NULL for none
    int first;       // frame that simulation, learning and measuring begin at; 0
    int frames;      // that they take at most; JNA_ALL_FRAMES, or 0: none, the clip is only played
} jnaManifestClip;

/// A pair of the retarget map. joint "" leaves the source joint unused.
typedef struct jnaManifestPair {
    char* source;
    char* joint;
} jnaManifestPair;

/// Springs set by hand, before any fit.
typedef enum jnaSpringMode {
    jna_springsUniform,   // all vertices alike
    jna_springsJoints,    // by the joint that moves a vertex most; others as uniform
    jna_springsMask,      // uniform, under a weight per vertex from an array: 1 flesh to 0 rigid
    jna_springsAttribute, // the same by an attribute of the character's file
    jna_springsFitted,    // what `jounce fit` learned
} jnaSpringMode;

/// What moves: a spring per vertex, springs on vibration modes, or both.
typedef enum jnaSpringLayer {
    jna_layerVertex,
    jna_layerModal,
    jna_layerBoth,
} jnaSpringLayer;

/// How far modes may move the skin.
typedef enum jnaCapKind {
    jna_capFlesh,  // a multiple of the thickness of the flesh there
    jna_capMetres, // the same everywhere
    jna_capOff,    // as far as they go
} jnaCapKind;

typedef struct jnaManifestSpring {
    char* joint;
    double hertz;
    double dampingRatio;
} jnaManifestSpring;

/// Flesh that differs from the rest: that of one joint, or the layer under the skin.
typedef struct jnaManifestFlesh {
    char* joint;          // NULL for the layer
    double youngFactor;   // times the general one; 1
    double densityFactor; // 1
    double poisson;       // below 0, the default: as the rest
} jnaManifestFlesh;

/// The bones of one joint: its shaft, its ball, a rib cage or a pelvis.
typedef struct jnaManifestBone {
    char* joint;
    double radius; // times what is placed by itself; 0: no bone; 1
    double length; // the same
    bool rigid;    // all flesh that the joint moves most is bone; false
} jnaManifestBone;

/// A region of the body.
typedef struct jnaManifestRegion {
    jnaRegion region;
    double youngFactor;   // times the general one; below 0, the default: that of the region
    double densityFactor; // the same
    double poisson;       // below 0, the default: the general one
    bool rigid;           // all of it is bone; false
} jnaManifestRegion;

typedef enum jnaNetworkKind {
    jna_networkPca,
    jna_networkCnn,
    jna_networkNone,
} jnaNetworkKind;

/// All that a person can set. Paths are as written; relative ones start at the workspace.
typedef struct jnaManifest {
    char* character; // file, or JNA_FIGURE_SOURCE
    double scale;    // metres per unit of that file; 0: recognised
    double rate;     // frames a second; 30
    int clipCount;
    jnaManifestClip* clips;
    int pairCount;
    jnaManifestPair* pairs;
    struct {
        double density; // kg/m3; 1000
        double young;   // Pa; 30000
        double poisson; // 0.45
        int jointCount;
        jnaManifestFlesh* joints;
        int regionCount;
        jnaManifestRegion* regions;
        bool calibrate;       // regions are made as soft as a body's are; true
        double fatDepth;      // metres under the skin that are fat; 0: none
        jnaManifestFlesh fat; // half as stiff, 0.9 of the density
    } materials;
    struct {
        jnaVolumeMethod method; // auto
        double edge;            // edge length aimed at inside, metres; 0: chosen
        double nodes;           // number of nodes aimed at instead, whole; 0: none
        jnaShells shells;       // auto
    } volume;
    struct {
        jnaBoneHold hold; // spring
        double stiffness; // of springs, 1/s2; 1e6
        int jointCount;
        jnaManifestBone* joints;
        int regionCount;
        jnaManifestRegion* regions; // rigid alone
    } bones;
    struct {
        int count;          // 0, the default: 5000, or 300 of the built-in figure
        double random;      // share drawn at random; 0.5
        double fromClips;   // share of frames of the clips; 0.5
        double heldOut;     // share of frames of test clips; 0.02
        double widen;       // how far random poses go past the clips' limits, share of the range; 0.1
        double seed;        // a whole number; 1
        bool limitsOfTrain; // random poses are made from the clips to train on alone; false
        char* file;         // .npy of poses by hand, (poses, joints, 4); NULL for none
    } poses;
    struct {
        jnaNetworkKind kind; // pca
        double epochs;       // passes over the poses, a whole number; 0, the default: by their number
    } network;
    struct {
        jnaSpringLayer layer; // modal
        jnaSpringMode mode;   // fitted
        double hertz;         // 3
        double dampingRatio;  // 0.2
        jnaCapKind capKind;   // flesh
        double cap;           // times the thickness, or metres; 2
        int jointCount;
        jnaManifestSpring* joints;
        char* mask;      // array of one weight per vertex; NULL for none
        char* attribute; // "COLOR_0.r", "_JIGGLE": an attribute, with a channel where it has several; NULL for none
    } springs;
    struct {
        double gravity;           // m/s2 down, along -Y; 0
        double damping;           // Rayleigh: share of the stiffness, seconds; 0.006
        double drag;              // Rayleigh: share of the mass, against the skinned motion, 1/s; 0.5
        jnaIntegrator integrator; // generalised alpha
        double substeps;          // steps in time per frame, a whole number; 0, the default: JNA_STEPS_A_SECOND
        bool contact;             // whether flesh keeps out of flesh; true
    } flesh;
    struct {
        double count;        // at most, a whole number; 64
        double cutoff;       // hertz; 25
        double dampingRatio; // 0, the default: as the flesh is damped
    } modes;
} jnaManifest;

/// The part of a clip of so many frames that is simulated, learned from and measured on. count: 0 for none.
jnResult jnaManifestClip_Part(const jnaManifestClip* clip, int frameCount, int* first, int* count, jnError* error);

/// How many poses a manifest asks for, by its number or by default.
int jnaManifest_PoseCount(const jnaManifest* manifest);

/// A manifest with the defaults and nothing else.
jnaManifest jnaDefaultManifest(void);

/// Reads a manifest. Unknown keys and wrong values are refused with file and line.
jnResult jnaReadManifest(const char* path, jnaManifest* manifest, jnError* error);

/// Writes a manifest with comments for the person who edits it, atomically.
jnResult jnaWriteManifest(const char* path, const jnaManifest* manifest, jnError* error);
void jnaDestroyManifest(jnaManifest* manifest);

/// What `jounce new` is asked for.
typedef struct jnaWorkspaceDef {
    const char* character; // file, or JNA_FIGURE_SOURCE
    double rate;           // 30
    double scale;          // 0: recognised
    int clipCount;
    const char* const* clipNames;
    const char* const* clipFiles; // [clipCount], besides the clips inside the character's file
    jnaSpringLayer layer;         // modal
    int motionCount;
    const char* const* motionClips;
    const char* const* motionFiles; // [motionCount]
    /// Sets what the manifest shall say besides, before anything is written; NULL: nothing. The clips are there.
    void (*adjust)(jnaManifest* manifest, void* user);
    void* user;
} jnaWorkspaceDef;
jnaWorkspaceDef jnaDefaultWorkspaceDef(void);

/// Makes a workspace: imports, writes the manifest, and only then gives the folder its name. On failure there
/// is none.
jnResult jnaCreateWorkspace(const char* path, const jnaWorkspaceDef* def, jnaNotes* notes, jnError* error);

/// Whether the import must run; reason as of jnaStage_IsStale.
jnResult jnaImportIsStale(const char* path, const jnaManifest* manifest, bool* stale, char* reason, jnError* error);

/// Imports again what the manifest names, if it or a file it names has changed. watch, imported: may be NULL.
jnResult jnaUpdateWorkspace(const char* path, const jnaWatch* watch, bool* imported, jnaNotes* notes, jnError* error);

/// The imported character and clips, checked as any file is.
jnResult jnaLoadCharacter(const char* workspace, jnaCharacter* character, jnError* error);
jnResult jnaLoadClip(
    const char* workspace, const char* name, const jnaCharacter* character, jnaClip* clip, jnError* error);

/// Maps a clip's ground-truth motion, float32 (frames, vertices, 3). *present is false where the clip has
/// none.
jnResult jnaOpenClipMotion(const char* workspace, const jnaClip* clip, const jnaCharacter* character, bool* present,
    jnaArray* motion, jnError* error);

/// The other way; `folder` is a workspace in the making. motion may be NULL.
jnResult jnaSaveCharacter(const char* folder, const jnaCharacter* character, double scale, jnError* error);
jnResult jnaSaveClip(const char* folder, const jnaClip* clip, const jnaMotion* motion, jnError* error);

/// The file that a workspace is built into.
#define JNA_ASSET_NAME "character.jounce"

/// How a workspace is exported. Start from jnaDefaultExportDef.
typedef struct jnaExportDef {
    jnSkinning skinning; // default linear
    jnTiming timing;     // default causal
    double rigidHertz;   // springs from this frequency on are not stepped; 0 (default): all are
    double detailShare;  // of the springs that are stepped at coarse detail; 0 (default): no such detail
} jnaExportDef;
jnaExportDef jnaDefaultExportDef(void);

/// What went into the file.
typedef struct jnaExported {
    int vertexCount, jointCount, clipCount, modeCount;
    bool fallback; // springs were to be learned and are not yet: set by hand, modes as the physics says
} jnaExported;
#define JNA_FALLBACK_NOTE                                                                                              \
    "no springs are learned yet (`jounce fit`): springs as set by hand, modes as the material says"

/// Writes character, clips and the springs of the manifest as one file for the runtime.
jnResult jnaExportWorkspace(
    const char* workspace, const char* path, const jnaExportDef* def, jnaExported* exported, jnError* error);

/// Whether the file that a workspace is built into must be written; reason as of jnaStage_IsStale.
jnResult jnaAssetIsStale(const char* workspace, const jnaManifest* manifest, bool* stale, char* reason, jnError* error);

/// Writes it, with the defaults, unless it is up to date.
jnResult jnaUpdateAsset(
    const char* workspace, const jnaManifest* manifest, bool* made, jnaNotes* notes, jnError* error);

/// A step of the pipeline: what it reads and what it writes. Paths are relative to the workspace or absolute.
typedef struct jnaStage {
    const char* name;
    int inputCount;
    const char* const* inputs; // [inputCount], files
    const char* settings;      // text that the outcome depends on as well; NULL for none
    int outputCount;
    const char* const* outputs; // [outputCount], files that must exist
    double seconds;             // wall time that it took, for the record; takes no part in what is stale
} jnaStage;

/// Whether a stage must run: it never did, or its inputs, its settings or their contents changed, or an
/// output is gone. reason: [JNA_NOTE_LENGTH], may be NULL. An input that does not exist is an error.
jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error);

/// Notes what a stage was made from, after its outputs are in place.
jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error);

/// 64-bit FNV-1a of bytes and of a file's contents. Finds changes, not forgeries.
uint64_t jnaHash(const void* bytes, size_t size, uint64_t hash);
jnResult jnaHashFile(const char* path, uint64_t* hash, jnError* error);
