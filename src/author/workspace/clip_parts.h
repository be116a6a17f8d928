// Those parts of the clips that the manifest wants simulated, learned from and measured.
#pragma once

#include "base/arena.h"
#include "workspace/workspace.h"

typedef struct jnaClipParts {
    int count;
    jnaClip* clips;     // [count], they share the arrays of the workspace's
    jnaRole* roles;     // [count]
    int *index, *first; // [count], clip of the manifest and its first frame
    jnaArena arena;     // of these
} jnaClipParts;

/// Cuts them. Destroy them with jnaReleaseArena(&parts->arena), also after a failure.
jnResult jnaCutClips(jnaWorkspace* workspace, jnaClipParts* parts, jnError* error);

/// Leaves the parts to train on alone: what is learned, chosen or calibrated must not know the others.
void jnaClipParts_KeepTraining(jnaClipParts* parts);
