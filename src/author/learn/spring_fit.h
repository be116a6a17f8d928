// Learns stiffness and damping of each spring from motion: targets, and what the flesh really did.
//
// For one spring the loss is the sum over all frames of |x(t_n) - x_D^n|^2, x the spring's exact motion on the cubic
// through its targets and x_D the observed one. Its derivatives come from forward sensitivities through all intervals,
// in the same pass as the loss. See docs/background/fitting.md.
#pragma once

#include "base/npy.h"

#include "base/watch.h"

/// The least damping that is fitted, 1/s: a spring's motion falls by e in four seconds. Less is in no flesh; data that
/// hold no decay would otherwise give springs that never come to rest.
#define JNA_LEAST_DAMPING 0.5

/// One continuous stretch of motion. Both arrays are (frames, vertices, 3) in C order, float32 or float64.
typedef struct jnaSequence {
    jnaArray targets;  // finite
    jnaArray dynamics; // a vertex with a coordinate that is not finite is missing in that frame
} jnaSequence;

typedef enum jnaFitMethod {
    jna_fitLm,      // Levenberg-Marquardt on the 2x2 normal equations
    jna_fitDescent, // gradient descent with a line search, as the paper has it
} jnaFitMethod;

typedef enum jnaFitStart {
    jna_fitStartMoving,   // on the target and moving with it
    jna_fitStartObserved, // at the first observed position, with the observed velocity
} jnaFitStart;

/// Which frames the robust refit leaves out.
typedef enum jnaFitDrop {
    jna_dropByVertex, // for each vertex its own worst frames
    jna_dropByFrame,  // the frames that are worst over all vertices
} jnaFitDrop;

/// What to fit and how. Start from jnaDefaultFitDef.
typedef struct jnaFitDef {
    const jnaSequence* sequences; // [sequenceCount], the same vertices in all
    int sequenceCount;
    double dt; // seconds between frames
    jnaFitMethod method;
    jnaFitStart start;
    jnaFitDrop dropBy;
    double drop;              // share of frames left out in the refit, 0 to 0.5; 0: no refit. Default 0.1
    uint64_t seed;            // of the genetic algorithm
    int threads;              // 0: all
    double stiffnessRange[2]; // bounds, 1/s^2. Default 0.1 to 1e6
    double dampingRange[2];   // bounds, 1/s. Default 0.5 to 1e4
    double prior;  // metres: the loss gets (prior/2)^2 |log k - log k_0|^2, k_0 that of jnaDefaultSpring. Default 0:
                   // none, but a vertex without any motion gets k_0
    double smooth; // weight of mesh neighbours, which at 1 are expected within 10 % of each other. Default 0
    const int32_t* faces; // [faceCount][3], needed by smooth
    int faceCount;
    bool checkOrder; // refuse where exchanging targets and dynamics explains the motion far better. Default true
    jnaWatch watch;  // nobody
} jnaFitDef;

/// What was learned. Arrays are [vertexCount], owned.
typedef struct jnaFit {
    int vertexCount;
    int frameCount; // over all sequences
    float* stiffness;
    float* damping;
    double* loss;      // m^2, over the frames that were kept
    double* captured;  // 1 - sum |x - x_D|^2 / sum |target - x_D|^2 over all valid frames; NaN where nothing moves
    uint8_t* state;    // jnaSpringState flags
    uint32_t* dropped; // [frameCount], vertices for which the frame was left out, sequences one after another
    // Totals.
    double totalLoss;     // over kept frames
    double totalCaptured; // over all vertices and valid frames
    double keptCaptured;  // the same over kept frames
    // The first fit, which all frames count in, on the same frames: what the refit is compared with.
    double firstCaptured, firstKeptCaptured;
    double firstKeptLoss; // m^2
    int atBound, underdamped, overdamped, weak, unobserved;
    int64_t keptCount; // vertices times frames that counted in the loss
    int passes;        // of loss and gradient, over all batches
} jnaFit;

/// Flags in jnaFit.state.
typedef enum jnaSpringState {
    jna_springAtBound = 1,    // a parameter ended at a bound
    jna_springWeak = 2,       // the data say less about it than the prior does, or than 0.02 mm of noise could
    jna_springUnobserved = 4, // no valid frame: it has the default parameters
} jnaSpringState;

jnaFitDef jnaDefaultFitDef(void);

/// The spring that a vertex without motion is pulled to: stiff and critically damped.
void jnaDefaultSpring(double* stiffness, double* damping);

/// Fits all springs. The bytes depend on the def but not on the number of threads. Fails with jn_badArgument if
/// cancelled.
jnResult jnaFitSprings(const jnaFitDef* def, jnaFit* fit, jnError* error);
void jnaDestroyFit(jnaFit* fit);

/// Where one spring goes, in exact timing from rest at its first target. targets, positions: [frameCount][3].
jnResult jnaRunSpring(const float* targets, int frameCount, double dt, double stiffness, double damping,
    float* positions, jnError* error);
