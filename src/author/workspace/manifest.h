// The manifest of a workspace: all that a person can set, in one file that is edited by hand.
#pragma once

#include "character/import.h"
#include "flesh/flesh.h"
#include "flesh/poses.h"
#include "learn/network.h"
#include "modes/modes.h"
#include "volume/bones.h"
#include "volume/materials.h"
#include "volume/tetrahedralize.h"

#include <stdio.h>

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
    char* shapes;    // vertex cache with the equilibrium of every frame; NULL for none
    int first;       // frame that simulation, learning and measuring begin at; 0
    int frames;      // that they take at most; JNA_ALL_FRAMES, or 0: none, the clip is only played
    jnaLoop loop;    // whether it repeats; jna_loopAuto
} jnaManifestClip;

/// A pair of the retarget map. joint "" leaves the source joint unused.
typedef struct jnaManifestPair {
    char* source;
    char* joint;
} jnaManifestPair;

/// What some parts or vertices are, or a file whose parts are added to the character. Of name, shell, joints and mask
/// all that are given must fit (character/marks.h).
typedef struct jnaManifestPart {
    char* name;   // of a mesh, a node or a material; NULL: any
    char* source; // file with clothes and the like; NULL: this is about what is there
    int shell;    // number of a connected shell, from 1; 0: any
    char* joints; // that have most of a vertex's weight; NULL: any
    char* mask;   // vertex attribute that is painted there; NULL: any
    double above; // least weight or value
    jnaMeshRole role;
} jnaManifestPart;
#define JNA_PART_ABOVE 0.5

/// Springs set by hand, before any fit.
typedef enum jnaSpringMode {
    jna_springsUniform,   // all vertices alike
    jna_springsJoints,    // by the joint that moves a vertex most; others as uniform
    jna_springsMask,      // uniform, under a weight per vertex from an array: 1 flesh to 0 rigid
    jna_springsAttribute, // the same by an attribute of the character's file
    jna_springsFitted,    // what `jounce fit` learned
} jnaSpringMode;

/// What moves: a spring per vertex, springs on modes, or whichever of the two explains the motion better.
typedef enum jnaSpringLayer {
    jna_layerVertex,
    jna_layerModal,
    jna_layerAuto,
} jnaSpringLayer;

/// Where modes come from: vibrations of the flesh, or the imported motion.
typedef enum jnaModesSource {
    jna_modesOfFlesh,
    jna_modesOfMotion,
} jnaModesSource;

/// The pose that modes of the flesh vibrate about.
typedef enum jnaModesPose {
    jna_modesMean, // the mean of the clips to train on, or of all clips where there are none
    jna_modesRest,
} jnaModesPose;

/// How far modes may move the skin.
typedef enum jnaCapKind {
    jna_capUsual,  // nobody says
    jna_capFlesh,  // a multiple of the thickness of the flesh there
    jna_capMetres, // the same everywhere
    jna_capOff,    // as far as they go
} jnaCapKind;

typedef struct jnaCap {
    jnaCapKind kind;
    double value; // times the thickness, or metres
} jnaCap;

/// What a person changes about a region of the body.
typedef struct jnaTuning {
    jnaRegion region;
    jnaCap limit;    // how far it may move
    double softness; // times as soft as its tissue; 1
    double damping;  // times the damping of its tissue; 1
    double tone;     // of its muscles, 0 relaxed to 1 tense; below 0: as of a body in motion
} jnaTuning;

typedef struct jnaManifestSpring {
    char* joint;
    double hertz;
    double dampingRatio;
} jnaManifestSpring;

/// All that a person can set. Paths are as written; relative ones start at the workspace.
typedef struct jnaManifest {
    int version;     // 1
    char* character; // file, or JNA_FIGURE_SOURCE
    double scale;    // metres per unit of that file; 0: recognised
    jnaUp up;        // axis of that file that points up; jna_upAuto
    int number;      // of several characters in it, counted from 1; 0: all as one
    double rate;     // frames a second; 30
    int partCount;
    jnaManifestPart* parts;
    char* body[JNA_BODY_SLOTS]; // joints that a person names for parts of the body; NULL: recognised
    int clipCount;
    jnaManifestClip* clips;
    int pairCount;
    jnaManifestPair* pairs;
    jnaMaterialsDef materials;
    jnaVolumeDef volume;
    jnaBonesDef bones;
    jnaPoseDef poses; // count: 0, the default: 5000, or 300 of the built-in figure
    char* poseFile;   // .npy of poses by hand, (poses, joints, 4); NULL for none
    struct {
        jnNetworkKind kind;  // pca
        int epochs;          // passes over the poses; 0, the default: by their number
        jnSkinning skinning; // that it is learned for, and that the file has; linear
    } network;
    struct {
        jnaSpringLayer layer; // modal
        jnaSpringMode mode;   // fitted
        double hertz;         // 3
        double dampingRatio;  // 0.2
        jnaCap cap;           // twice the thickness of the flesh
        double touch;         // metres between probes of skin that can be pressed; 0: none, the default
        double shake;         // seconds of each shake that springs on modes are fitted to; 0: to the clips; 2
        int jointCount;
        jnaManifestSpring* joints;
        char* mask;      // array of one weight per vertex; NULL for none
        char* attribute; // "COLOR_0.r", "_JIGGLE": an attribute, with a channel where it has several; NULL for none
    } springs;
    int tuningCount;
    jnaTuning* tuning;          // [tuningCount]
    jnaFleshDef flesh;          // without volume and character
    jnaModesDef modes;          // ratio: 0, the default: damped as the flesh is
    jnaModesSource modesSource; // flesh
    jnaModesPose modesPose;     // mean
} jnaManifest;

/// Whether the ground truth is imported: some clip brings motion or equilibria, and modes are not to come from the
/// flesh. Then nothing of our own is simulated.
bool jnaManifest_IsImported(const jnaManifest* manifest);

/// Whether springs on modes are fitted to shakes of the flesh.
bool jnaManifest_Shakes(const jnaManifest* manifest);

/// The part of a clip of so many frames that is simulated, learned from and measured on. count: 0 for none.
jnResult jnaManifestClip_Part(const jnaManifestClip* clip, int frameCount, int* first, int* count, jnError* error);

/// How many poses a manifest asks for, by its number or by default.
int jnaManifest_PoseCount(const jnaManifest* manifest);

/// Gives a character the parts of the body that the manifest names, and no others. An unknown joint is refused.
jnResult jnaManifest_SetBody(const jnaManifest* manifest, jnaCharacter* character, jnError* error);

/// A manifest with the defaults and nothing else.
jnaManifest jnaDefaultManifest(void);

/// Reads a manifest. Unknown keys and wrong values are refused with file and line.
jnResult jnaReadManifest(const char* path, jnaManifest* manifest, jnError* error);

/// The same of a text in memory. file: for errors.
jnResult jnaParseManifest(const char* file, const char* text, size_t size, jnaManifest* manifest, jnError* error);

/// The words of the enums, by value.
extern const char* const jnaLayerNames[3];
extern const char* const jnaRoleNames[2];

/// All values that the outcome of a stage depends on, a line each. Release with free; NULL: out of memory.
char* jnaManifest_Settings(const jnaManifest* manifest, const char* stage);

/// The reference page of all fields, as Markdown.
void jnaDescribeManifest(FILE* file);

/// Makes the files that a manifest names relative to the workspace where they are near, so that both can move
/// together. The files are absolute; `workspace` need not exist, the folder that it is to stand in does.
jnResult jnaManifest_Relate(jnaManifest* manifest, const char* workspace, jnError* error);

/// Writes a manifest with comments for the person who edits it, atomically.
jnResult jnaWriteManifest(const char* path, const jnaManifest* manifest, jnError* error);
void jnaDestroyManifest(jnaManifest* manifest);
