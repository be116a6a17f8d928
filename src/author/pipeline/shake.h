// Shakes of a workspace's character: the motion that springs on modes are fitted to.
#pragma once

#include "base/npy.h"
#include "modes/modal_motion.h"
#include "pipeline/take_frames.h"
#include "workspace/workspace.h"

/// The first two are in the pose of the modes, the others in poses of the training clips that are far from it and from
/// each other.
enum { JNA_SHAKES = 6 };

/// Prior of modes that are fitted to shakes (learn/modal_fit.h). Shakes drive every mode, so that a weak one is enough:
/// from 1e-3 to 1 the captured motion of other clips differs by less than 0.004.
#define JNA_SHAKEN_PRIOR 0.01

/// "shake/1", inside the workspace.
void jnaShakeFolder(int shake, char folder[JNA_NAME_LENGTH + 16]);

/// The clip of a shake, of the workspace's modes. Destroy it with jnaDestroyClip.
jnResult jnaMakeShake(jnaWorkspace* workspace, int shake, jnaClip* clip, jnError* error);

/// A simulated shake as the fit sees it.
typedef struct jnaShake {
    jnaClip clip;
    jnaArray motion;
    float* targets; // [frameCount][vertexCount][3], the first frame, carried along
    jnaTakeFrames frames;
    jnaModalSequence sequence; // of all that, up to a frame in which the flesh had to begin again
} jnaShake;

/// Opens the simulated motion of a shake. Close it also after a failure.
jnResult jnaOpenShake(jnaWorkspace* workspace, int shake, jnaShake* opened, jnError* error);
void jnaCloseShake(jnaShake* shake);
