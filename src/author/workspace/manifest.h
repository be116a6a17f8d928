// The manifest of a workspace: all that a person can set, in one file that is edited by hand.
#pragma once

#include "flesh/flesh.h"
#include "learn/network.h"
#include "volume/bones.h"
#include "volume/materials.h"

enum { JNA_MAX_CLIPS = 1024 };

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

/// All that a person can set. Paths are as written; relative ones start at the workspace.
typedef struct jnaManifest {
    char* character; // file, or JNA_FIGURE_SOURCE
    double scale;    // metres per unit of that file; 0: recognised
    double rate;     // frames a second; 30
    int clipCount;
    jnaManifestClip* clips;
    int pairCount;
    jnaManifestPair* pairs;
    jnaMaterialsDef materials;
    struct {
        jnaVolumeMethod method; // auto
        double edge;            // edge length aimed at inside, metres; 0: chosen
        double nodes;           // number of nodes aimed at instead, whole; 0: none
        jnaShells shells;       // auto
    } volume;
    jnaBonesDef bones;
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
        double drag;              // Rayleigh: share of the mass, against the skinned motion, 1/s; 7
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
