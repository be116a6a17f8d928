// How near a workspace's character comes to its simulated or imported motion: every way to move it, clip by clip.
#pragma once

#include "base/watch.h"
#include "pipeline/stage_fit.h"
#include "workspace/workspace.h"

/// A way to move the surface.
typedef enum jnaMethod {
    jna_methodSkinned,          // the skeleton alone
    jna_methodNetwork,          // and what the pose does to the flesh
    jna_methodSpringsOnSkinned, // a spring per vertex, learned on and hung on the skinned surface
    jna_methodUniform,          // one stiffness and damping for all vertices, learned
    jna_methodVertex,           // a spring per vertex, learned
    jna_methodModalPhysical,    // springs on modes as the material says, nothing learned
    jna_methodModal,            // the same, learned
    jna_methodCount,
} jnaMethod;

/// "skinned", "springs_on_skinned", "modal" and so on.
const char* jnaMethodName(jnaMethod method);

/// One way on one clip, or on all clips of a kind. Lengths are metres, over vertices and frames.
typedef struct jnaEvaluationRow {
    jnaMethod method;
    jnaFitTargets targets; // what the springs hang on; of methods without springs, what is shown
    bool causal;           // the springs know the targets up to now; false: up to the next frame
    double rms;            // root mean square distance from the motion
    double percentile95;   // of the distance, within 0.1 %
    double layer;          // root mean square distance of the targets from the motion: what there is to capture
    double captured;       // 1 - rms^2 / layer^2; NaN where there is nothing to capture
    double rmsSoft, layerSoft, capturedSoft; // the same over soft vertices
    // Best of its kind: what springs per vertex capture that were fitted to this very clip, all frames, no prior. From
    // `captured` to here is lost by carrying over from other clips; from here to 1 is what such springs cannot do. NaN
    // of methods that are not springs per vertex alone.
    double best, bestSoft;
    double mean, meanSoft; // of all clips of a kind: the mean of what is captured of each; NaN of a clip
} jnaEvaluationRow;

/// All ways on one clip.
typedef struct jnaEvaluatedClip {
    char name[JNA_NAME_LENGTH]; // "" for all clips of a kind
    bool trained;               // its motion was learned from
    int frameCount;
    int dropped; // frames that the robust fit left out, on average over the vertices
    int failed;  // frames whose equilibrium the simulation did not find; they do not count on simulated targets
    int rowCount;
    jnaEvaluationRow* rows; // [rowCount]
} jnaEvaluatedClip;

typedef struct jnaEvaluation {
    int vertexCount;
    double softShare; // of the vertices: those that move most against their bones in the clips learned from
    int clipCount;
    jnaEvaluatedClip* clips;       // [clipCount]
    jnaEvaluatedClip seen, unseen; // all clips of a kind together
} jnaEvaluation;
void jnaDestroyEvaluation(jnaEvaluation* evaluation);

/// The row of a method; NULL where it is not there.
const jnaEvaluationRow* jnaEvaluatedClip_Find(
    const jnaEvaluatedClip* clip, jnaMethod method, jnaFitTargets targets, bool causal);

/// Start from jnaDefaultEvaluateDef.
typedef struct jnaEvaluateDef {
    int threads;    // 0: all; the result is the same
    bool quiet;     // writes no file; false
    jnaWatch watch; // nobody
} jnaEvaluateDef;
jnaEvaluateDef jnaDefaultEvaluateDef(void);

/// Plays every clip that has motion in every way that the workspace has (network, springs learned by jnaFitWorkspace,
/// modes), with the runtime itself, and writes evaluation/evaluation.json. What is missing is left out, with a note.
jnResult jnaEvaluateWorkspace(
    const char* workspace, const jnaEvaluateDef* def, jnaEvaluation* evaluation, jnaNotes* notes, jnError* error);

/// What is measured and shown: motion, and all that was learned, as inputs and settings of a stage.
void jnaDescribeMeasured(const jnaWorkspace* workspace, jnaStage* stage);

/// An evaluation as JSON text, lengths in millimetres; release it with free. NULL: out of memory.
char* jnaEvaluation_Json(const jnaEvaluation* evaluation);
