// Zero-restlength springs: every vertex hangs on its own moving target and is stepped in closed form.
//
// A spring set takes one sample of the targets a frame and gives positions (and velocities) back. Its state
// is the offset from the target and the offset's velocity, so that springs at rest stay exactly on their
// targets. A step is exact for any length of time: there is no step size to choose and nothing to blow up.
//
//     jnSpringsDef def = jnDefaultSpringsDef();
//     def.count = vertexCount;
//     def.stiffness = stiffness;
//     def.damping = damping;
//     jnSprings* springs;
//     if (jnCreateSprings(&def, &springs, &error) != jn_ok) { ... }
//     each frame: jnSprings_Step(springs, &(jnSpringsInput){.h = h, .targets = targets},
//     &(jnSpringsOutput){.positions = out});
//
// No function of this file locks or allocates but jnCreateSprings and jnSprings_SolveLoop. A set may be used
// from one thread at a time; any number of sets may be stepped at once. See docs/background/springs.md for the
// equations and the guarantees.
#pragma once

#include "jounce/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How the target moves between two samples.
typedef enum jnCurve {
    jn_curveStep,    // stays on the older sample, then jumps
    jn_curveLinear,  // straight, with a jump of velocity at each sample
    jn_curveCubic,   // C1 cubic, slopes from neighbouring samples
    jn_curveHermite, // C1 cubic, slopes given by the caller with each sample (targetVelocities)
} jnCurve;

/// Where a cubic's slopes come from. Only jn_curveCubic distinguishes the two.
typedef enum jnTiming {
    jn_timingExact,  // central differences: needs the sample after the interval, so output lags one sample
    jn_timingCausal, // backward differences: no lag, a little less accurate
} jnTiming;

/// How a spring starts. It is on its target in both cases.
typedef enum jnStart {
    jn_startMoving, // with the target's velocity
    jn_startAtRest, // without velocity in space
} jnStart;

/// What a jump of the targets from one sample to the next means.
typedef enum jnTeleport {
    jn_teleportNone,  // it is motion
    jn_teleportKeep,  // the springs were carried along: offsets stay, the jump is not felt. Without a root the history
                      // is carried too: a set with exact timing, whose output lags, then shows the new place at once
    jn_teleportReset, // the springs start anew, on their targets
} jnTeleport;

typedef struct jnSprings jnSprings;

/// What a set of springs is made from. Start from jnDefaultSpringsDef.
typedef struct jnSpringsDef {
    int count;              // springs, at least 1
    const float* stiffness; // [count], the paper's k_s, 1/s^2, >= 0; copied; NULL: uniformStiffness for all
    const float* damping;   // [count], the paper's k_d, 1/s, >= 0; copied; NULL: uniformDamping for all
    float uniformStiffness; // default: 4 Hz
    float uniformDamping;   // default: a quarter of critical damping at 4 Hz
    jnCurve curve;          // default jn_curveCubic
    jnTiming timing;        // default jn_timingCausal
    jnStart start;          // default jn_startMoving
    jnKernel kernel;        // default jn_kernelAuto
    jnAllocator allocator;  // for the set, one block, and for the scratch memory of jnSprings_SolveLoop
    void* memory;           // if not NULL, the set lives here; aligned to 64 bytes
    size_t memorySize;      // bytes at `memory`, at least jnSprings_ByteCount
} jnSpringsDef;

/// One sample of the targets.
typedef struct jnSpringsInput {
    float h;                       // seconds since the previous sample; 0, below a microsecond or no number: a pause
    const float* targets;          // [count] x, y, z in metres
    size_t targetStride;           // bytes from one target to the next; 0 means 12
    const float* targetVelocities; // [count] x, y, z in m/s, same stride; needed by jn_curveHermite, else ignored
    const jnTransform* root;       // where the character stands; NULL: no root, inertia scales have no effect
    jnTeleport teleport;           // how to treat the change from the previous sample to this one
} jnSpringsInput;

/// Where results go. Every pointer may be NULL.
typedef struct jnSpringsOutput {
    float* positions;      // [count] x, y, z in metres
    size_t positionStride; // bytes; 0 means 12
    float* velocities;     // [count] x, y, z in m/s
    size_t velocityStride; // bytes; 0 means 12
} jnSpringsOutput;

/// A cubic curve, causal timing, springs of 4 Hz; count is still to be set.
JN_API jnSpringsDef jnDefaultSpringsDef(void);

/// Bytes that a set made from this definition needs. 0 if the definition has no valid count.
JN_API size_t jnSprings_ByteCount(const jnSpringsDef* def);

/// Makes a set. Fails on a count below 1, a negative or non-finite parameter, too little memory.
JN_API jnResult jnCreateSprings(const jnSpringsDef* def, jnSprings** springs, jnError* error);
JN_API void jnDestroySprings(jnSprings* springs); // NULL is allowed

/// Puts every spring on its target with the def's start; the history begins here. `input->h` is ignored.
JN_API void jnSprings_Reset(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output);

/// Takes the next sample and advances. Targets and positions may be the same array. The first sample after creation
/// resets. With jn_curveCubic and exact timing the output belongs to the sample before this one; otherwise to this one.
/// With h = 0 the state does not change; if the targets moved, they and their history are moved along. Cost: one pass
/// over memory, plus the coefficients when h or a parameter changed.
JN_API void jnSprings_Step(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output);

/// The same in three calls, to spread one large set over threads: begin, then every block in 0 ..
/// jnSprings_BlockCount once, in any order and from any threads, then end. Input and output arrays must stay
/// valid until the end. The bytes do not depend on how the blocks were spread.
JN_API void jnSprings_BeginStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output);
JN_API void jnSprings_StepBlocks(jnSprings* springs, int firstBlock, int endBlock);
JN_API void jnSprings_EndStep(jnSprings* springs);
JN_API int jnSprings_BlockCount(const jnSprings* springs);

/// With exact timing: advances to the newest sample, whose slope is then one-sided, and gives its output. The
/// next step starts a new history there. Otherwise only gives the output again.
JN_API void jnSprings_Finish(jnSprings* springs, const jnSpringsOutput* output);

/// Positions and velocities inside the last interval that was advanced, fraction 0 its start, 1 its end.
/// Changes nothing. For motion blur and for displays that run at another rate.
JN_API void jnSprings_Evaluate(const jnSprings* springs, float fraction, const jnSpringsOutput* output);

/// The exact state after the targets have rested on their newest sample for `seconds`, in one step, however
/// long.
JN_API void jnSprings_Settle(jnSprings* springs, double seconds, const jnSpringsOutput* output);

/// A motion that repeats: sample `frameCount` would be sample 0 again.
typedef struct jnSpringsLoop {
    const float* targets; // [frameCount][count] x, y, z, densely packed
    int frameCount;       // at least 3
    float h;              // seconds between samples
} jnSpringsLoop;

/// Puts the set into the state whose motion repeats exactly with the targets, by solving a 2x2 fixed point
/// per vertex and axis. Afterwards the set stands at sample 0: the next step takes sample 1 (sample 2 with
/// exact timing, whose output is that of sample 1). Springs that have no periodic motion (undamped and in
/// resonance) are put on their target; `unsolved` (NULL allowed) counts them. Allocates scratch memory: 24
/// bytes a spring. Not for jn_curveHermite.
JN_API jnResult jnSprings_SolveLoop(jnSprings* springs, const jnSpringsLoop* loop, int* unsolved, jnError* error);

/// A constant acceleration of all springs, m/s^2: gravity that the targets do not contain, wind. Default 0. Beyond 1e6
/// it acts as 1e6.
JN_API void jnSprings_SetForce(jnSprings* springs, const float acceleration[3]);

/// Adds to the velocity of one spring, or of all within `radius` of `center` with a smooth fall-off, m/s.
/// Felt by the next step.
JN_API void jnSprings_AddImpulse(jnSprings* springs, int spring, const float velocity[3]);
JN_API void jnSprings_AddImpulseSphere(
    jnSprings* springs, const float center[3], float radius, const float velocity[3]);

/// Replaces the parameters, without touching the state. NULL keeps what is there. Fails on negative or
/// non-finite values and then changes nothing.
JN_API jnResult jnSprings_SetParameters(
    jnSprings* springs, const float* stiffness, const float* damping, jnError* error);

/// Tunes in an artist's units, over the parameters: frequency times `hertzScale`, damping ratio times
/// `ratioScale`. Default 1, 1. The arrays [count] multiply the numbers; NULL for none; they are copied.
JN_API jnResult jnSprings_SetTuning(jnSprings* springs, float hertzScale, float ratioScale, const float* hertzScales,
    const float* ratioScales, jnError* error);

/// The fraction of the offset that is shown, 1 all (default), 0 the bare target; an array [count] multiplies it;
/// NULL for none. Numbers above 32 act as 32. The hidden motion continues, so that it may be faded in and out at any
/// time.
JN_API jnResult jnSprings_SetStrength(jnSprings* springs, float strength, const float* strengths, jnError* error);

/// Limits the shown offset: up to half the distance it is untouched, then it bends smoothly (C1) and never
/// reaches the distance. 0 (default) for no limit.
JN_API void jnSprings_SetCap(jnSprings* springs, float distance);

/// How much of the root's motion the springs feel: 1 physical (default), 0 nothing of it. Needs a root in
/// each input. Beyond 100 it acts as 100.
JN_API void jnSprings_SetInertia(jnSprings* springs, float translation, float rotation);

/// A step in which the targets' centre moves more than this, in metres, counts as a teleport. 0 (default):
/// never.
JN_API void jnSprings_SetTeleportThreshold(jnSprings* springs, float distance, jnTeleport teleport);

/// Offsets from the targets and their velocities as they are now, [count] x, y, z each; NULL to skip one. In
/// the axes of the simulation, which are the world's unless an inertia scale made them follow the root.
JN_API void jnSprings_GetState(const jnSprings* springs, float* offsets, float* velocities);
JN_API void jnSprings_SetState(jnSprings* springs, const float* offsets, const float* velocities);

/// Everything that a step changes, as bytes, for rollback and scrubbing. Parameters and settings are not part
/// of it.
JN_API size_t jnSprings_SnapshotSize(const jnSprings* springs);
JN_API void jnSprings_Save(const jnSprings* springs, void* snapshot);
/// Fails if the snapshot is of a set with another count, curve or timing, of another build of the library, or damaged;
/// the set is then unchanged.
JN_API jnResult jnSprings_Restore(jnSprings* springs, const void* snapshot, size_t size, jnError* error);

/// Springs that met a number that is not finite or beyond 1e15, since creation. Such a spring is put on its last finite target (the origin if
/// there was none), and stays on its target until its whole history is finite again: it does not feel the way back.
/// Forces, impulses, caps, roots and states that are not finite are ignored.
JN_API uint64_t jnSprings_ResetCount(const jnSprings* springs);

JN_API int jnSprings_Count(const jnSprings* springs);
JN_API jnKernel jnSprings_Kernel(const jnSprings* springs); // never jn_kernelAuto

#ifdef __cplusplus
}
#endif
