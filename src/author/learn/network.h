// The quasistatic network: learned from shapes, judged on poses held out, written into the asset.
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "character/character.h"
#include "jounce/asset.h"
#include "volume/volume.h"

/// Where a pose is from.
typedef enum jnaShapeKind {
    jna_shapeRandom,
    jna_shapeClip,
    jna_shapeHand,
} jnaShapeKind;

/// What a pair of pose and surface is for.
typedef enum jnaPairUse {
    jna_pairTrain,
    jna_pairValidation, // watched while training: when to stop
    jna_pairTest,       // from clips with role test: never looked at by training
} jnaPairUse;

/// Pairs of pose and surface as the network sees them.
typedef struct jnaPairs {
    int count, capacity, jointCount, vertexCount;
    float* numbers;       // [count][jointCount][6], columns of each joint's own rotation; see src/runtime/network.h
    float* displacements; // [count][vertexCount][3], of the rest surface, so that its skin is the surface; metres
    float* lost;          // [count], mean square metres of what no displacement can do, where the skin is singular
    float* palettes; // [count][jointCount][9], linear parts of the skin's matrices; with dual quaternions their stretch
    float* turns;    // [count][jointCount][4], their rotations, with dual quaternions; else NULL
    float* poses;    // [count][10 * jointCount], local rotations, then translations, then scales; 0 for mirrored pairs
    uint8_t* kinds;  // [count], jnaShapeKind
    uint8_t* uses;   // [count], jnaPairUse
    uint8_t* moves;  // [jointCount], the joint moves parts of the surface against others
    jnAsset* asset;  // the character for the runtime, which skins and turns
    void* bytes;     // of the asset
} jnaPairs;

/// A pose and its surface.
typedef struct jnaPair {
    const float* rotations;    // [jointCount][4], local
    const float* translations; // [jointCount][3], local; NULL: the rest pose's
    const float* scales;       // [jointCount][3], local; NULL: the rest pose's
    const float* positions;    // [vertexCount][3]
    jnaShapeKind kind;
    jnaPairUse use;
} jnaPair;

/// Room for pairs of a character, and the pairs themselves. The skinned surface and the frames are the runtime's own.
/// bytes: the character as an asset, with any springs; the pairs own them from here on, also where this fails. See
/// jnaCreateCharacterPairs of asset/character_pairs.h. Surfaces are skinned as that asset is.
jnResult jnaCreatePairs(
    const jnaCharacter* character, int capacity, void* bytes, size_t size, jnaPairs* pairs, jnError* error);
jnResult jnaPairs_Add(jnaPairs* pairs, int count, const jnaPair* added, jnError* error);
void jnaDestroyPairs(jnaPairs* pairs);

/// Linear part of a vertex' skin in a pair's pose, rows.
void jnaPairs_Frame(const jnaPairs* pairs, int pair, int vertex, float frame[9]);

/// The surface of a pair's pose with displacements [vertexCount][3]: those of a network, or the pair's own; NULL:
/// skinned alone. Not of mirrored pairs. positions: [vertexCount][3]
jnResult jnaPairs_Surface(
    const jnaPairs* pairs, int pair, const float* displacements, float* positions, jnError* error);

/// Adds every pair that is trained on once more as seen in a mirror across X, where the character's rest surface and
/// weights are symmetric there. marks: [jointCount], what a joint must have in common with its partner; NULL: nothing.
/// added: how many; 0 where it is not symmetric.
jnResult jnaPairs_Mirror(
    jnaPairs* pairs, const jnaCharacter* character, const uint64_t* marks, int* added, jnError* error);

/// A trained network. Parameters: for each dense layer weights [in][out] and biases [out]; for each enlarging stage
/// weights [out][in][4][4] and biases [out].
typedef struct jnaNetwork {
    jnNetworkKind kind;
    jnSkinning skinning; // whose displacements these are
    int jointCount, vertexCount;
    int inputCount;
    int32_t* inputs; // [inputCount], 6 * joint + number
    float* centres;  // [inputCount]
    float* halves;   // [inputCount], half of the range seen
    int layerCount, sizes[5];
    int stageCount, channels[7], firstSize;
    size_t parameterCount;
    float* parameters;
    int componentCount;    // pca: outputs
    float* basis;          // pca: [componentCount + 1][vertexCount][3], the mean, then what an output of 1 adds; metres
    double energy;         // pca: the greatest root of the sum of squared outputs in training
    float unit;            // cnn: metres of an output of 1
    int lookupCount;       // cnn
    int32_t* lookupStarts; // cnn: [vertexCount + 1]
    float* lookups;        // cnn: [lookupCount][2], texels
    double validation;     // metres, root mean square over the vertices of the poses held out
    int epochs;            // that were trained
    int bestEpoch;         // whose parameters these are
    bool leftOut; // of a workspace: on poses that it did not learn from it is worse than none; it is not played
} jnaNetwork;
void jnaDestroyNetwork(jnaNetwork* network);

/// How to train. Start from jnaDefaultTrainDef.
typedef struct jnaTrainDef {
    jnNetworkKind kind;
    int epochs;          // 0: as many as the number of poses asks for
    int patience;        // epochs without a better validation before it stops; 0: a quarter of them
    int hidden;          // hidden units of each joint that moves, in each layer
    int shared;          // hidden units that see all joints
    int layers;          // hidden layers
    int components;      // pca: at most
    double residual;     // pca: components are added until they leave out less than this share of the displacements
    int mapSize;         // cnn: 64, 128 or 256
    double learningRate; // the highest
    double decay;        // share of a weight that a step at rate 1 takes off
    double locality;     // pca: what a joint matters to flesh one joint farther away, 0 to 1; 1: as much
    bool mirror;         // of a workspace: learn from the poses seen in a mirror too, where that is right
    uint64_t seed;
    int threads;            // 0: all. The result does not depend on it
    const char* checkpoint; // file to write now and then and to resume from; NULL for none
    double checkpointSeconds;
    jnaWatch watch; // told once an epoch; nobody
} jnaTrainDef;
jnaTrainDef jnaDefaultTrainDef(jnNetworkKind kind);

/// Trains a network. The same pairs, definition and seed give the same bytes, whatever the number of threads and
/// however often it was ended and resumed. `character` gives the UVs of a cnn.
jnResult jnaTrainNetwork(const jnaCharacter* character, const jnaPairs* pairs, const jnaTrainDef* def,
    jnaNetwork* network, jnaNotes* notes, jnError* error);

/// Displacements of pairs' poses by the trained network, in floats, through oneDNN. which: [count]; out:
/// [count][vertexCount][3].
jnResult jnaNetwork_Predict(
    const jnaNetwork* network, const jnaPairs* pairs, const int* which, int count, float* out, jnError* error);

/// How far surfaces are off, over vertices and poses, metres.
typedef struct jnaSurfaceError {
    int count; // poses
    double rms, median, percentile95, largest;
} jnaSurfaceError;

/// How sound surfaces are over poses that training did not see: means and the worst.
typedef struct jnaSoundness {
    int count;                           // poses
    double volumeError, mostVolumeError; // share of the rest volume that is missing or too much
    double depth, mostDepth;             // of the deepest self-penetration, metres
    double overlap, mostOverlap;         // of flesh inside flesh, m3
} jnaSoundness;

/// Some sets of pairs, and how many of each are looked at.
typedef struct jnaPairSets {
    const jnaPairs* const* sets; // [count]
    int count;
    int most; // of each
} jnaPairSets;

/// Measures surfaces of held-out pairs: skinned, by the network, simulated. On a lattice they are measured as coarsely
/// as it is. A volume of another character or without weights leaves counts of 0.
jnResult jnaMeasureSoundness(const jnaVolume* volume, const jnaCharacter* character, const jnaNetwork* network,
    const jnaPairSets* sets, jnaSoundness soundness[3], jnError* error);

/// Errors of skinning alone and with a network over poses that training did not see.
typedef struct jnaNetworkReport {
    jnaSurfaceError skinnedRandom, networkRandom; // validation poses that are random or by hand
    jnaSurfaceError skinnedClip, networkClip;     // validation poses from clips to train on
    jnaSurfaceError skinnedTest, networkTest;     // poses from clips with role test alone
    jnaSurfaceError skinnedFrames, networkFrames; // frames of those clips, where they are simulated
    jnaSoundness soundness[3];                    // skinned, network, simulated; of a workspace with a volume
} jnaNetworkReport;

/// Evaluates a network on the pairs that are not trained on, and on frames of test clips (may be NULL). Leaves the
/// soundness to jnaMeasureSoundness.
jnResult jnaEvaluateNetwork(
    const jnaNetwork* network, const jnaPairs* pairs, const jnaPairs* frames, jnaNetworkReport* report, jnError* error);

/// The bytes of section NETW. place: the character's vertex to the asset's, [vertexCount]; NULL: the same. Release with
/// free.
jnResult jnaEncodeNetwork(const jnaNetwork* network, const int32_t* place, void** bytes, size_t* size, jnError* error);
/// Metres that the rounding of an asset's morph targets may move a vertex by, four times its root mean square.
#define JNA_NETWORK_TOLERANCE 1e-4
enum { JNA_MOST_COMPONENTS = 511 };
