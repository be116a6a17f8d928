// A character as morph weights, from the inside: morphs.c has its life and what is shown of it, morphs_step.c its time,
// morphs_modes.c the motion of the modes over an interval, morphs_across.c that of many characters, morphs_bound.c what
// is shown of it.
//
// The surface is  x_v = sum_j w_vj M_j (r_v + sum_c B_vc c_c + sum_k U_vk z_k)  with the skin's matrices M_j, the
// network's components c and the modes' amplitudes z. The state is M, c and z in time. A cubic through skinned vertices
// is the skin of a cubic through the matrices' entries, so what drives the modes needs no vertex:
//
//     force = sum_j T_j : (Q_j^T M_j'') + (P B) c'' + what the frames' motion does to the larger components
//
// Q_j is the rotation of M_j, P the projection of accelerations on modes, T_j = sum_v w_vj P_v (x) (r_v + B_v0, 1).
//
// With S = the angular velocities of the joints times the asset's spins and p = z' + S z the velocity in space of the
// amplitudes,
//     z' = p - S z        p' = -S p - k_s z - k_d (p - S z) - force
// An interval rotates z and p by exp(-S h/2), steps the closed form in a frame that stands still, and rotates again:
// what moves in space goes on in space while the frames rotate.
//
// Forces saturate behind a filter; see force_filter.h.
//
// Places are relative to the first joint, whose own is kept in double: a character may stand anywhere.
#pragma once

#include "asset_format.h"
#include "force_filter.h"
#include "jounce/character.h"
#include "morph_kernels.h"
#include "network.h"
#include "springs_internal.h"

// What the last sample meant.
typedef struct jnMorphStep {
    bool restarted, carried, paused;
    double h;
    float ahead; // of a carried one: h over the duration before
    int last;    // slot of the sample before
} jnMorphStep;

// The level of detail and what it is on the way to; saved in snapshots, so it has no padding.
typedef struct jnMorphLevel {
    int32_t modes, components; // that are in use
    int32_t wantedModes, wantedComponents;
    float rate;     // of fades, 1/s
    int32_t fading; // 0 or 1
} jnMorphLevel;

typedef struct jnMorphs {
    const jnAsset* asset;
    const jnAssetModes* modes; // NULL: none
    const jnMorphKernels* kernels;
    const jnSpringKernels* springKernels;
    jnCurve curve;
    jnTiming timing;
    jnStart start;
    int modeCapacity, componentCapacity; // that there is room for; the first of the asset's
    int componentCount;                  // that are in use
    int modeCount, lanes;                // that are in use, and that rounded up to JN_LANES
    int pairCount;                       // pairs of modes up to the last of those in use
    uint64_t resetCount;

    // Settings; arrays are [lanes] of all modes there is room for.
    float force[3], inertia[2];
    float teleportThreshold;
    jnTeleport teleportKind;
    float capScale, capDistance;
    bool capped, limited, bounded;
    float *stiffness, *damping, *gain;
    float* inverses;        // of the limits of forces, times the gain; 0: none
    float* caps;            // of the amplitudes that are shown; 0: none
    float* strengths;       // fraction that is shown
    float* boundScales;     // [blocks of the bound][JN_LANES], of its rows
    float* boundTightness;  // [blocks of the bound], limits of the asset over those in force
    float* coefficients;    // [lanes / JN_LANES][JN_COEFFICIENT_ROWS][JN_LANES], for coefficientTime
    double coefficientTime; // 0: none
    float decay[4];         // of the forces' filter over a piece of decayTime
    double decayTime;       // 0: none
    uint16_t* joints;       // [jointCount], in the order that their numbers are kept in: those that drive modes, as the
                            // asset has them, others whose rotation is needed, the rest
    uint16_t* places;       // [jointCount], where a joint stands in it
    int turnedCount;        // joints whose rotation is needed
    int driverBlocks;       // blocks of JN_LANES joints that drive modes
    uint32_t driveStarts[JN_MAX_ASSET_MODES / JN_LANES + 1], crossStarts[JN_MAX_ASSET_MODES / JN_LANES + 1];

    jnMorphStep step;
    // Scratch: what is in it between two calls does not matter. A network may use it before the modes do.
    char* scratch;
    size_t scratchSize;                 // bytes
    float* forcing[JN_MODE_FIELDS];     // [driverBlocks][JN_ROWS_SIZE]
    float* crossInputs[JN_MODE_FIELDS]; // [crossCount][9]
    float* angles;                      // [driverBlocks][3][JN_LANES]
    float* middle;                      // [driverBlocks][JN_TURNS_SIZE], frames halfway through an interval
    float* pairs;                       // [blocks of pairs][JN_LANES], of an interval's rotation; where forcing was
    float* columns;                     // [modeCount][lanes]; NULL: on the stack
    float* work;                        // [8][lanes]
    float* results;                     // [JN_MODE_FIELDS][lanes], right behind

    // What a step changes: the clock, and one stretch of memory.
    jnSpringsClock clock;
    char* moving;
    size_t movingSize;        // bytes
    double* origins;          // [JN_HISTORY][3], places of the first joint in the simulation's space
    float* rows[JN_HISTORY];  // [blocks of joints][JN_ROWS_SIZE], matrices of the samples, places from their origin
    float* turns[JN_HISTORY]; // [blocks of turned joints][JN_TURNS_SIZE], Q_j
    float* components[JN_HISTORY]; // [asset's componentCount]
    float* targets[JN_HISTORY];    // [asset's targetCount], weights of the source's targets, 0 at rest
    float* drives[JN_HISTORY];     // [lanes], P B c
    float *now, *before; // [4][lanes], z, p, the forces behind their filter and the rates of those; `before` at
                         // the start of the last interval
    float* forces;       // [2][lanes], of the last interval: at its start, and its rate
    jnMorphLevel* level; // behind all that a restart forgets
    float* fades[2];     // [lanes of all modes + componentCapacity], at the start of the last step and now: 0 to 1
} jnMorphs;

// morphs.c
typedef struct jnMorphsDef {
    const jnAsset* asset;
    int components, modes; // 0: all
    jnCurve curve;
    jnTiming timing;
    jnStart start;
    jnKernel kernel;          // not auto
    const jnNetwork* network; // head NULL: none
} jnMorphsDef;

// Where number `k` of a joint stands, of `size` numbers a joint.
static inline size_t jnJointPlace(const jnMorphs* morphs, size_t joint, size_t size, size_t k)
{
    size_t place = morphs->places[joint];
    return (place / JN_LANES * size + k) * JN_LANES + place % JN_LANES;
}
size_t jnMorphs_ByteCount(const jnMorphsDef* def);
size_t jnMorphs_ScratchSize(const jnMorphsDef* def);
// Makes them at a multiple of 64 in zeroed memory.
void jnMakeMorphs(jnMorphs* morphs, const jnMorphsDef* def);
// The modes that live at a joint (all with -1) as in the asset, frequency, damping ratio and gain scaled; how many.
int jnMorphs_Tune(jnMorphs* morphs, int joint, float hertzScale, float ratioScale, float gainScale);
// The same for one of them by its number; 0: there is none.
int jnMorphs_TuneMode(jnMorphs* morphs, int mode, float hertzScale, float ratioScale, float gainScale);
// Caps from the asset's and from a distance.
void jnMorphs_SetCaps(jnMorphs* morphs, float scale, float distance);
void jnMorphs_SetStrength(jnMorphs* morphs, int joint, float strength);

// Weights at a fraction of the last interval, and how fast they change (NULL: not wanted), [columnCount] each.
void jnMorphs_Weights(jnMorphs* morphs, double fraction, float* weights, float* rates);
// Weights of the source's targets there, 0 at rest, and how fast they change (NULL: not wanted), [targetCount] each.
void jnMorphs_Targets(const jnMorphs* morphs, double fraction, float* weights, float* rates);
// The skin's matrices there, [jointCount][12] in the world, and how fast they change (NULL: not wanted).
void jnMorphs_Matrices(const jnMorphs* morphs, double fraction, double* matrices, double* rates);
// Those of the newest sample.
void jnMorphs_NewestMatrices(const jnMorphs* morphs, double* matrices);
// Its rotations, [jointCount][4]; those that are not needed are left alone.
void jnMorphs_NewestTurns(const jnMorphs* morphs, float* turns);
// What the modes do after the last step, into a report that is 0 so far. modes: [modeCount], or NULL.
void jnMorphs_Describe(const jnMorphs* morphs, jnCharacterReport* report, jnModeReport* modes);
// Everything that a step changes, as bytes of any machine.
size_t jnMorphs_SnapshotSize(const jnMorphs* morphs);
void jnMorphs_Save(const jnMorphs* morphs, void* snapshot);
jnResult jnMorphs_Restore(jnMorphs* morphs, const void* snapshot, size_t size, jnError* error);
// snapshot.c: whether a step may go on from a clock and `moving`, which came from elsewhere and may lie at any address.
bool jnMorphs_IsSane(const jnMorphs* morphs, const jnSpringsClock* clock, const char* moving);

// morphs_step.c, in this order
// Takes the matrices of a new pose, [jointCount][12] in the world. root: NULL where it is not known.
void jnMorphs_TakeMatrices(
    jnMorphs* morphs, const double* matrices, const jnPlacement* root, float h, jnTeleport teleport);
// Takes its components, [componentCount of the asset], for each of `count` characters of one asset.
void jnMorphs_TakeComponents(jnMorphs* const* morphs, const float* const* components, int count);
// Takes its weights of the source's targets, [targetCount], 0 at rest.
void jnMorphs_TakeTargets(jnMorphs* morphs, const float* weights);
// Advances, if there is an interval to advance over.
void jnMorphs_Advance(jnMorphs* const* morphs, int count);
// What drives the modes instead of P B c, [lanes], for measuring; between the last two.
void jnMorphs_ReplaceDrive(jnMorphs* morphs, const float* drive);
void jnMorphs_Finish(jnMorphs* morphs);
void jnMorphs_Settle(jnMorphs* morphs, double seconds);

// morphs_modes.c
void jnRestModes(jnMorphs* morphs);
// Over the intervals that their clocks have just taken up.
void jnAdvanceModes(jnMorphs* const* morphs, int count);
void jnSettleModes(jnMorphs* morphs, double seconds);
// State [4][lanes] over a fraction of the last interval from its start.
void jnStepModesTo(jnMorphs* morphs, double fraction, float* state);
// From the velocity in space to the amplitudes' own: p - S z.
void jnFindRates(jnMorphs* morphs, float* state);
// How a rotation by at most `norm` is worked out.
#define JN_TURN_TWO 0.078f // below it two terms are enough
jnTurnPlan jnPlanTurn(float norm);
// The closed form over `h` seconds in a frame that stands still, state [4][lanes]. drag: what the frames' rotation
// makes of the amplitudes, [lanes]: the damping acts on their change in their frames. NULL: they do not rotate.
void jnSwing(jnMorphs* morphs, double h, const float* drag, float* state);

// morphs_level.c
// The first weights of each kind, 0: all there is room for, within `seconds`.
void jnMorphs_SetLevel(jnMorphs* morphs, int components, int modes, float seconds);
// Advances fades by h seconds, and leaves out what has faded.
void jnMorphs_Fade(jnMorphs* morphs, double h);
// Fades end here.
void jnMorphs_EndFades(jnMorphs* morphs);
// Whether a level and its fades, which were read from elsewhere, can be of these morphs.
// fades: bytes of [count] floats.
bool jnMorphs_LevelIsSane(const jnMorphs* morphs, const jnMorphLevel* level, const char* fades, size_t count);
// Takes over the level that the memory holds.
void jnMorphs_FollowLevel(jnMorphs* morphs);
// The fraction of mode, or of component, that is shown at a fraction of the last interval.
float jnMorphs_ModeFade(const jnMorphs* morphs, int mode, double fraction);
float jnMorphs_ComponentFade(const jnMorphs* morphs, int component, double fraction);

// morphs_bound.c: what the modes may do to the surface together; NULL: no bound.
const jnBound* jnMorphs_Bound(const jnMorphs* morphs);
// Limits of displacements from the asset's and from a distance, as jnMorphs_SetCaps.
void jnMorphs_SetBound(jnMorphs* morphs, float scale, float distance);
// Amplitudes as they are shown, of a bounded character: [blocks of the bound's modes][JN_LANES], 0 beyond the modes in
// use.
void jnBoundAmplitudes(const jnMorphs* morphs, float* amplitudes);

// morphs_hits.c: impulses. matrices: the skin's at the sample that is shown.
typedef struct jnSphere {
    float center[3], radius;
} jnSphere;

// The fraction of an impulse that a vertex at `at` gets.
static inline float jnShareInSphere(const jnSphere* sphere, const float at[3])
{
    float square = 0.0f;
    for (int i = 0; i < 3; ++i) {
        square += (at[i] - sphere->center[i]) * (at[i] - sphere->center[i]);
    }
    float inside = 1.0f - square / (sphere->radius * sphere->radius);
    return inside > 0.0f ? inside * inside : 0.0f;
}
// Adds to the velocity of a vertex, in the world.
void jnMorphs_Kick(jnMorphs* morphs, const double* matrices, int vertex, const float velocity[3]);
// Where an asset without a surface can be hit; pointCount 0: nowhere.
const jnHits* jnMorphs_Hits(const jnMorphs* morphs);
// The same there: at a vertex of the whole character, and at all that are in a sphere around a place from an origin.
void jnMorphs_KickHit(jnMorphs* morphs, const double* matrices, int vertex, const float velocity[3]);
void jnMorphs_KickHits(
    jnMorphs* morphs, const double* matrices, const double origin[3], const jnSphere* sphere, const float velocity[3]);

// morphs_across.c: JN_LANES characters of one asset at once, a lane for each
enum { JN_ACROSS_PAIRS = JN_ACROSS_MODES * (JN_ACROSS_MODES - 1) / 2 };
typedef struct jnPairOrder {
    int modeCount, pairCount; // modeCount 0: nothing is in it yet
    jnAcrossPair pairs[JN_ACROSS_PAIRS];
} jnPairOrder;
// Puts the pairs into the order that their sums run in, unless they are. False where they cannot go together.
bool jnOrderPairs(jnMorphs* const* morphs, jnPairOrder* order);
// Rotates, steps and rotates the modes over their last intervals, with forces and angles at hand.
void jnStepAcross(jnMorphs* const* morphs, const jnPairOrder* order);

// Weights of (line, e0, e1) as those of the three differences between samples; see target_curve.h.
void jnWeighDifferences(const jnSpringsClock* clock, const float weights[3], float out[3]);
