// The spring set from the inside, shared by springs.c (life and settings), springs_step.c (time) and
// springs_frame.c (root).
#pragma once

#include "spring_kernels.h"
#include "target_curve.h"

#include <string.h>

enum { JN_HISTORY = 4 };

// A rigid placement in double, so that it does not drift over hours of small motions.
typedef struct jnPlacement {
    double rotation[4]; // unit quaternion x, y, z, w
    double position[3];
} jnPlacement;

// How the simulation's own space moved over an interval: it follows the share of the root's motion that the
// springs are not to feel. Over the interval, x -> pivot + shift u + rotation(angle u) (x - pivot), u from 0
// to 1.
typedef struct jnSpaceMotion {
    jnPlacement from, to;
    double angle[3]; // rotation vector
    double pivot[3], shift[3];
} jnSpaceMotion;

// The simulation's own space at the newest sample and at the one that the state belongs to.
typedef struct jnSpace {
    int32_t moved; // it differs from the world
    int32_t hasRoot;
    jnPlacement root; // of the newest sample
    jnSpaceMotion newest, base;
} jnSpace;

// All that a step changes besides the arrays; saved in snapshots, so it has no padding. Flags are whole numbers, 0 or
// 1, so that a damaged snapshot may be looked at.
typedef struct jnSpringsClock {
    int32_t sampleCount;       // samples in the history since it began, up to JN_HISTORY
    int32_t newest;            // slot of the newest sample
    int32_t base;              // slot of the sample that the state belongs to
    int32_t current;           // which of the two state arrays is current
    uint32_t steps;            // advanced since the last reset
    int32_t dirty;             // steps until no sample in the history is a stand-in for a bad one
    int32_t advanced;          // the set has advanced since the history began: `interval` is valid
    int32_t atRest;            // the first interval starts without velocity in space
    double durations[3];       // between the samples, oldest first
    jnInterval interval;       // last one advanced
    int32_t slots[JN_HISTORY]; // its samples, oldest first
    jnSpace space;
} jnSpringsClock;
_Static_assert(sizeof(jnSpringsClock) == 160 + 64 + 2 * 184, "no padding in a snapshot");

struct jnSprings {
    // Settings.
    int count, blockCount;
    jnCurve curve;
    jnTiming timing;
    jnStart start;
    jnKernel kernel;
    const jnSpringKernels* kernels;
    jnAllocator allocator;
    bool ownsMemory;
    float force[3], cap, strength;
    bool hasStrengths;
    float inertia[2]; // translation, rotation
    float teleportThreshold;
    jnTeleport teleportKind;
    uint64_t resetCount;

    // Arrays, padded to whole blocks.
    float* fittedStiffness; // [blocks * JN_LANES] each; as given, by create and SetParameters
    float* fittedDamping;
    float* hertzScales; // by SetTuning
    float* ratioScales;
    float* stiffness; // in use: fitted times tuning
    float* damping;
    float* strengths;       // by SetStrength
    float* coefficients;    // [blocks][JN_COEFFICIENT_ROWS][JN_LANES], by BeginStep for coefficientTime
    double coefficientTime; // the h they are for; 0: none
    bool makesCoefficients; // the step under way makes them anew, block by block
    bool stepping;          // between BeginStep and EndStep
    uint8_t* resets;        // [blocks], by the pass

    // What a step changes: one stretch of memory from `moving` on, movingSize bytes.
    float* moving;
    size_t movingSize;
    float* states[2];               // [blocks][2][3][JN_LANES], offsets then velocities
    float* samples[JN_HISTORY];     // vector fields, by the pass
    float* velocities[JN_HISTORY];  // vector fields, Hermite only, else NULL
    uint16_t* badLanes[JN_HISTORY]; // [blocks], bits of the lanes whose sample in that slot is a stand-in, by the pass
    jnSpringsClock clock;

    // The step under way.
    jnStepPass pass;
    jnFrame inputFrame, outputFrame;
};

// What a new root means for the springs' space.
typedef enum jnRootMotion {
    jn_rootFelt,    // motion, of which the inertia scales leave a share
    jn_rootCarried, // a teleport: the space goes along entirely, and has no velocity from it
    jn_rootPaused,  // the same without a new sample
} jnRootMotion;

// springs_step.c, for whoever makes targets in blocks
// The slot that the next sample goes to, a vector field to be filled block by block before each block is stepped. NULL
// where a step of this h and teleport does not take a sample in the ordinary way (the first, a pause, a teleport): that
// one needs targets.
float* jnSprings_NextSlot(jnSprings* springs, float h, jnTeleport teleport);
// jnSprings_BeginStep with the sample in the next slot; the input's targets are NULL.
void jnSprings_BeginFilledStep(jnSprings* springs, const jnSpringsInput* input, const jnSpringsOutput* output);

// Moves all that they know of the world, metres: its coordinates begin elsewhere.
void jnSprings_Shift(jnSprings* springs, const double shift[3]);

// Time, of springs and of modes alike.
// Whether a teleport is one of its enumeration.
static inline bool jnIsTeleport(jnTeleport teleport)
{
    return (int)teleport >= jn_teleportNone && (int)teleport <= jn_teleportReset;
}

// Seconds of a step as they are taken; 0: a pause.
double jnCleanTime(float h);
// A step longer than this is a day; longer ones are taken as one.
#define JN_LONGEST_STEP 86400.0
// Below a microsecond h is taken as 0: a target that moved between two such samples would have a velocity that no
// character survives.
#define JN_SHORTEST_STEP 1e-6f
// Opens a slot for a new sample that is h seconds after the newest.
void jnClock_Push(jnSpringsClock* clock, double h);
// Sets the clock to the next interval, if the history reaches it. last: there is no sample behind its end.
bool jnClock_Next(jnSpringsClock* clock, jnCurve curve, jnTiming timing, bool last);

// snapshot.c: of what was read from elsewhere
// Samples up to JN_LARGEST_STATE, after their coordinates began elsewhere a few times.
#define JN_LARGEST_SAVED_SAMPLE 4e15f
// Whether a step may calculate with a clock: indices and flags in their range, times, rotations and places as they come
// about.
bool jnClock_IsSane(const jnSpringsClock* clock);
// Whether all floats at an address of any alignment are within +-limit.
bool jnAreWithin(const void* bytes, size_t count, float limit);
// Whether samples may be so far apart.
bool jnIsDuration(double seconds);

// springs_frame.c
// Takes the root that comes with a sample, or during a pause; NULL: none. inertia: of translation and rotation.
void jnMoveSpace(jnSpace* space, const float inertia[2], const jnPlacement* root, jnRootMotion kind);
// A root as it is given. False if it is none.
bool jnReadRoot(const jnTransform* root, jnPlacement* placement);
// The space of the sample that the state belongs to.
const jnSpaceMotion* jnShownSpace(const jnSpringsClock* clock);
// Stands still where it got to.
void jnRestSpace(jnSpaceMotion* motion);
// A vector of the world in the axes of that space.
void jnToSpace(const jnSpringsClock* clock, const float world[3], float local[3]);
// World to simulation, for samples.
jnFrame jnSpaceFromWorld(const jnPlacement* placement);
// Simulation to world at a fraction of an interval of h seconds, with velocities.
jnFrame jnWorldFromSpace(const jnSpaceMotion* motion, double fraction, double h);
// The placement itself, in double.
jnPlacement jnFollowSpace(const jnSpaceMotion* motion, double fraction);
jnPlacement jnIdentityPlacement(void);

// rotation [9] times a vector; in and out may not be the same.
static inline void jnRotateVector(const float* rotation, const float* in, float* out)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = rotation[3 * i] * in[0] + rotation[3 * i + 1] * in[1] + rotation[3 * i + 2] * in[2];
    }
}

// Where component `row` of a spring is in a block layout of `rows` rows.
static inline size_t jnEntry(int spring, int rows, int row)
{
    return (size_t)(spring / JN_LANES) * (size_t)(rows * JN_LANES) + (size_t)(row * JN_LANES + spring % JN_LANES);
}

// A copy of vector i of a caller's array; a stride of 0 means densely packed, others may be any number of bytes.
static inline void jnCopyVector(const float* vectors, size_t stride, int i, float vector[3])
{
    size_t bytes = stride != 0 ? stride : 3 * sizeof(float);
    memcpy(vector, (const char*)vectors + (size_t)i * bytes, 3 * sizeof(float));
}

static inline int jnOlderSlot(int slot, int steps)
{
    return (slot + JN_HISTORY - steps) % JN_HISTORY;
}
