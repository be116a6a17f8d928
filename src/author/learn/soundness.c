// How sound surfaces are: how much volume they lose and how deep they go into themselves, skinned, by the network and
// simulated, all measured with the same instrument.
//
// A surface alone says nothing about what is inside what. So its displacement from skinning is carried into the flesh
// by the Laplace equation, bones held, and the tetrahedra are looked at as the simulation does: their volume, and the
// nodes of their boundary that lie in foreign flesh. Where the skin's vertices are nodes they are held; a lattice is
// tied to those that hang on it wholly, by springs that are firm but not stiff: nodes that had to bring every one of
// many vertices exactly to its place would go far beyond theirs.
#include "base/arena.h"
#include "base/try.h"
#include "flesh/contact.h"
#include "learn/network.h"
#include "runtime/for_author.h"
#include "volume/laplacian.h"
#include "volume/posing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SKINNED, NETWORK, SIMULATED, SURFACES };
// Of the skin to a lattice, over the side of the cube that a node has of the flesh: the equation's own entries are
// about that. With this the simulation's own surfaces come out as sound as its nodes are.
#define TIE 440.0

typedef struct Instrument {
    jnaArena arena;
    const jnaVolume* volume;
    const jnaCharacter* character;
    jnaLaplacian* laplacian;
    jnaContactShape* shape;
    jnaContactFinder* finder;
    double rest;                // volume, m3
    double *transforms, *nodes; // [2 * joints][12], of joints and of their balls; [nodeCount][3], skinned
    double *moved, *values;     // [nodeCount][3], [3][nodeCount]
    jnaLaplacianTies ties;      // none where the skin's vertices are nodes
    int32_t* tied;              // [vertexCount], tetrahedra of the ties; -1: carried by skinning, if partly
    double *loads, *targets;    // of the ties: [3][nodeCount], [vertexCount]
    float* positions[SURFACES]; // [vertexCount][3]
    float* given;               // [vertexCount][3], the network's displacements
} Instrument;

static double VolumeOf(const jnaVolume* v, const double* nodes)
{
    double sum = 0.0, gradients[4][3];
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        sum += jnaHatGradients(nodes, v->tetrahedra + 4 * (size_t)t, gradients);
    }
    return sum;
}

static void FreeInstrument(Instrument* s)
{
    jnaDestroyContactFinder(s->finder);
    jnaDestroyContactShape(s->shape);
    jnaDestroyLaplacian(s->laplacian);
    jnaReleaseArena(&s->arena);
}

static jnResult MakeLaplacian(Instrument* s, jnError* error)
{
    const jnaVolume* v = s->volume;
    uint8_t* held = jnaArena_Take(&s->arena, v->nodeCount, 1);
    s->tied = jnaArena_Take(&s->arena, v->vertexCount, sizeof(int32_t));
    JN_PASS(jnaArena_Check(&s->arena, "the volume", error));
    bool lattice = v->method == jna_volumeLattice;
    for (int i = 0; i < v->vertexCount; ++i) {
        s->tied[i] = jnaVolume_Blend(v, i) < 1 ? -1 : v->skinTetrahedra[i];
    }
    double side = cbrt(fabs(VolumeOf(v, v->nodes)) / v->nodeCount);
    s->ties = (jnaLaplacianTies){lattice ? v->vertexCount : 0, s->tied, v->skinWeights, TIE * side};
    for (int n = 0; n < v->nodeCount; ++n) {
        held[n] = (!lattice && n < v->vertexCount) || (v->heldBy != NULL && v->heldBy[n] >= 0);
    }
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = held,
        .ties = s->ties};
    return jnaCreateLaplacian(&def, &s->laplacian, error);
}

static jnResult MakeInstrument(Instrument* s, jnError* error)
{
    int nodes = s->volume->nodeCount, vertices = s->character->vertexCount;
    jnResult result = jn_ok;
    s->transforms = jnaArena_Take(&s->arena, s->character->jointCount, 2 * 12 * sizeof(double));
    s->nodes = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    s->moved = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    s->values = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    s->loads = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    s->targets = jnaArena_Take(&s->arena, vertices, sizeof(double));
    s->given = jnaArena_Take(&s->arena, vertices, 3 * sizeof(float));
    for (int i = 0; i < SURFACES; ++i) {
        s->positions[i] = jnaArena_Take(&s->arena, vertices, 3 * sizeof(float));
    }
    JN_TRY(jnaArena_Check(&s->arena, "measuring surfaces", error));
    s->rest = VolumeOf(s->volume, s->volume->nodes);
    jnaContactDef def = jnaDefaultContactDef(s->volume);
    JN_TRY(MakeLaplacian(s, error));
    JN_TRY(jnaCreateContactShape(&def, &s->shape, error));
    JN_TRY(jnaCreateContactFinder(s->shape, &s->finder, error));
done:
    return result;
}

// What bones are off their skinned places, where flesh follows its bones and not skinning alone.
static void PlaceBones(Instrument* s, size_t nodes)
{
    const jnaVolume* v = s->volume;
    for (int n = 0; v->heldBy != NULL && n < v->nodeCount; ++n) {
        double at[3];
        if (v->heldBy[n] < 0) {
            continue;
        }
        jnaVolume_HeldPosition(v, s->transforms, n, at);
        for (size_t a = 0; a < 3; ++a) {
            s->values[a * nodes + (size_t)n] = at[a] - s->nodes[3 * (size_t)n + a];
        }
    }
}

// The nodes that go with a surface: skinned, and what the surface is off there carried inside.
static jnResult CarryInside(Instrument* s, int surface, jnError* error)
{
    size_t nodes = (size_t)s->volume->nodeCount;
    memset(s->values, 0, 3 * nodes * sizeof(double));
    memset(s->loads, 0, 3 * nodes * sizeof(double));
    if (surface != SKINNED) {
        PlaceBones(s, nodes);
    }
    for (size_t a = 0; a < 3; ++a) {
        for (size_t v = 0; v < (size_t)s->character->vertexCount; ++v) {
            bool part = s->volume->skinTetrahedra[v] >= 0;
            s->targets[v] =
                part ? (double)s->positions[surface][3 * v + a] - (double)s->positions[SKINNED][3 * v + a] : 0.0;
        }
        if (s->ties.count > 0) {
            jnaAddTies(&s->ties, s->volume->tetrahedra, s->targets, s->loads + a * nodes);
        } else {
            memcpy(s->values + a * nodes, s->targets, (size_t)s->character->vertexCount * sizeof(double));
        }
    }
    jnResult result = jnaLaplacian_Solve(s->laplacian, 3, s->loads, s->values, error);
    for (size_t i = 0; i < 3 * nodes; ++i) {
        s->moved[i] = s->nodes[i] + s->values[i % 3 * nodes + i / 3];
    }
    return result;
}

static void Tally(jnaSoundness* to, double volumeError, const jnaPenetration* found)
{
    to->count++;
    to->volumeError += volumeError;
    to->mostVolumeError = fmax(to->mostVolumeError, volumeError);
    to->depth += found->depth;
    to->mostDepth = fmax(to->mostDepth, found->depth);
    to->overlap += found->volume;
    to->mostOverlap = fmax(to->mostOverlap, found->volume);
}

static jnResult MeasurePair(
    Instrument* s, const jnaNetwork* network, const jnaPairs* pairs, int pair, jnaSoundness* sums, jnError* error)
{
    const size_t joints = (size_t)pairs->jointCount;
    float* pose = pairs->poses + (size_t)pair * 10 * joints;
    const float* own = pairs->displacements + (size_t)pair * 3 * (size_t)pairs->vertexCount;
    const jnaClip clip = {.rate = 30,
        .frameCount = 1,
        .jointCount = pairs->jointCount,
        .rotations = pose,
        .translations = pose + 4 * joints,
        .scales = pose + 7 * joints};
    jnaPoseTransforms(s->character, &clip, 0, s->transforms);
    jnaBallTransforms(s->character, s->transforms);
    jnaVolume_Skin(s->volume, s->transforms, s->nodes);
    jnResult result = jn_ok;
    JN_TRY(jnaNetwork_Predict(network, pairs, &pair, 1, s->given, error));
    const float* displacements[SURFACES] = {NULL, s->given, own};
    for (int i = 0; i < SURFACES; ++i) {
        JN_TRY(jnaPairs_Surface(pairs, pair, displacements[i], s->positions[i], error));
    }
    for (int i = 0; i < SURFACES; ++i) {
        jnaPenetration found;
        JN_TRY(CarryInside(s, i, error));
        JN_TRY(jnaContactFinder_Measure(s->finder, s->moved, &found, error));
        Tally(&sums[i], fabs(VolumeOf(s->volume, s->moved) / s->rest - 1.0), &found);
    }
done:
    return result;
}

// Sums of one set of pairs: at most so many of those held out, evenly spread.
static jnResult MeasureSet(
    Instrument* s, const jnaNetwork* network, const jnaPairs* pairs, int most, jnaSoundness* sums, jnError* error)
{
    int held = 0, next = 0;
    jnResult result = jn_ok;
    for (int i = 0; i < pairs->count; ++i) {
        held += pairs->uses[i] != jna_pairTrain;
    }
    int wanted = held < most ? held : most, taken = 0;
    for (int i = 0; result == jn_ok && i < pairs->count && taken < wanted; ++i) {
        if (pairs->uses[i] != jna_pairTrain && next++ == (int)((int64_t)taken * held / wanted)) {
            result = MeasurePair(s, network, pairs, i, sums, error);
            taken++;
        }
    }
    return result;
}

jnResult jnaMeasureSoundness(const jnaVolume* volume, const jnaCharacter* character, const jnaNetwork* network,
    const jnaPairSets* sets, jnaSoundness soundness[3], jnError* error)
{
    memset(soundness, 0, SURFACES * sizeof(*soundness));
    if (volume->rowStarts == NULL || volume->vertexCount != character->vertexCount) {
        return jn_ok;
    }
    Instrument s = {.volume = volume, .character = character};
    jnResult result = MakeInstrument(&s, error);
    for (int i = 0; result == jn_ok && i < sets->count; ++i) {
        result = MeasureSet(&s, network, sets->sets[i], sets->most, soundness, error);
    }
    for (int i = 0; i < SURFACES && soundness[i].count > 0; ++i) {
        soundness[i].volumeError /= soundness[i].count;
        soundness[i].depth /= soundness[i].count;
        soundness[i].overlap /= soundness[i].count;
    }
    FreeInstrument(&s);
    return result;
}
