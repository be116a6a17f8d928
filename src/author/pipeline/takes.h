// Takes: the clips of a workspace that have motion, with what their springs can hang on.
//
// All frames are in the world, vertices in the character's order. Motion and equilibria are the imported ones
// (clips/NAME/motion.npy, quasistatic.npy) where the manifest names such, else the simulated ones (motion/NAME/
// dynamic.npy, quasistatic.npy). Targets are made when they are asked for.
#pragma once

#include "workspace/workspace.h"

#include "learn/network.h"
#include "modes/modes.h"
#include "pipeline/stage_fit.h"
#include "pipeline/take_frames.h"

/// One clip with motion.
typedef struct jnaTake {
    int clip; // of the manifest
    bool trained;
    int first;           // frame of the clip that the motion begins with
    int frameCount;      // of the motion
    bool hasQuasistatic; // its equilibria were solved or imported
    uint8_t* solved;     // [frameCount], 0 where a frame has no equilibrium or no room; NULL: all have. Owned
    uint8_t* counts; // [frameCount], 0 where it does not count: that, or the motion began again. NULL: all do. Owned
    uint8_t*
        restarted;   // [frameCount], 1 where the simulated flesh began again in its equilibrium; NULL: nowhere. Owned
    jnaArray motion; // (frames, vertices, 3); a vertex with a coordinate that is not finite is missing
} jnaTake;

/// A workspace with its takes, those to learn from first.
typedef struct jnaTakes {
    jnaWorkspace* workspace; // owns what follows
    const jnaManifest* manifest;
    const jnaCharacter* character;
    const jnaClip* clips; // [manifest->clipCount]
    bool hasModes, hasNetwork;
    const jnaModes* modes;     // as the physics says
    const jnaNetwork* network; // of the manifest's kind
    int count, trainCount;
    jnaTake* takes; // [count]
} jnaTakes;

/// Opens everything. A clip without motion is noted; that none is to learn from is not an error.
jnResult jnaOpenTakes(jnaWorkspace* workspace, jnaTakes* takes, jnaNotes* notes, jnError* error);
void jnaCloseTakes(jnaTakes* takes);

/// Path of a clip's equilibria, whether they are there or not. path: [JNA_PATH_LENGTH].
jnResult jnaWorkspace_EquilibriaPath(const jnaWorkspace* workspace, int clip, char* path, jnError* error);

/// take_start.c: refuses motion whose first frame is farther from its target surface than flesh could be.
jnResult jnaTakes_CheckStart(const jnaTakes* takes, const jnaTake* take, jnError* error);

/// The error for a workspace without motion to learn from.
jnResult jnaTakes_NeedTraining(const jnaTakes* takes, jnError* error);

/// "quasistatic", "network", "skinned".
const char* jnaTargetsName(jnaFitTargets kind);

/// Whether a take has targets of a kind.
bool jnaTakes_Has(const jnaTakes* takes, int take, jnaFitTargets kind);

/// What springs are learned on: as asked, or where nobody did (jna_targetsAuto) the best that all clips to learn from
/// have.
jnaFitTargets jnaTakes_Choose(const jnaTakes* takes, jnaFitTargets asked);

/// Targets of a take, float32 (frames, vertices, 3), mapped or made; close them with jnaCloseTargets. The network's
/// are what the runtime makes of the pose. Equilibria that were not found are filled in between their neighbours: what
/// the flesh does to the skinned surface, in the skinned frames, goes evenly from one to the other.
jnResult jnaTakes_OpenTargets(const jnaTakes* takes, int take, jnaFitTargets kind, jnaArray* targets, jnError* error);
void jnaCloseTargets(jnaArray* targets);

/// What became of the frames of a simulated motion (jnaPoseState), [frameCount], to be freed; NULL where all were
/// solved with room, or the file is not there.
jnResult jnaReadFrameStates(const char* path, int frameCount, uint8_t** states, jnError* error);

/// unsolved.c: the filling. targets: [frameCount][vertexCount][3]; take->solved is there.
jnResult jnaFillUnsolved(const jnaTakes* takes, const jnaTake* take, float* targets, jnError* error);

/// What modes need of a take besides.
jnResult jnaTakes_MakeFrames(const jnaTakes* takes, int take, jnaTakeFrames* frames, jnError* error);

/// Frames that a fit of springs needs at least.
enum { JNA_LEAST_STRETCH = 3 };

/// Frames that the flesh moved through in one go, from its equilibrium on.
typedef struct jnaStretch {
    int first, count;
} jnaStretch;

/// The stretch after the given one, of at least so many frames; {0} has the first one after it. False: there is none.
bool jnaTake_NextStretch(const jnaTake* take, int least, jnaStretch* stretch);

/// The longest stretch.
jnaStretch jnaTake_LongestStretch(const jnaTake* take);

/// The motion for fits of springs: float32, frames that do not count missing (NaN); take->motion itself where all do.
/// copy: what is to be freed, or NULL.
jnResult jnaTake_CountedMotion(const jnaTake* take, jnaArray* motion, float** copy, jnError* error);

/// Whether a frame counts in fits and measurements.
static inline bool jnaTake_Counts(const jnaTake* take, int frame)
{
    return take->counts == NULL || take->counts[frame] != 0;
}

/// Frames of a take that do not count.
int jnaTake_Failed(const jnaTake* take);

/// Whether all of a take's motion is there and finite.
bool jnaTake_IsWhole(const jnaTake* take);
