// Pairs of pose and surface out of a workspace: what its network learns from and is judged by.
#pragma once

#include "learn/network.h"
#include "workspace/workspace.h"

/// All pairs of a workspace: its shapes, and the clips that have imported motion. One in ten of those that are not of
/// test clips is held out for validation, frames of a clip in runs, so that a neighbour gives nothing away.
jnResult jnaGatherPairs(jnaWorkspace* workspace, jnaPairs* pairs, jnError* error);

/// Frames of test clips that were solved one by one (`jounce simulate --clips`), at most `most` of each, all for
/// testing. None where there are none. frames is created by this call.
jnResult jnaGatherFrames(jnaWorkspace* workspace, int most, jnaPairs* frames, jnError* error);

/// One frame of a clip that was solved, as the only pair. pair is created by this call.
jnResult jnaLoadFrame(const char* workspace, const jnaCharacter* character, jnSkinning skinning, const char* clip,
    int frame, jnaPairs* pair, jnError* error);
