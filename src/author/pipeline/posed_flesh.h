// The flesh of a workspace in the mean pose of its clips.
#pragma once

#include "flesh/flesh.h"
#include "workspace/workspace.h"

/// A pose and its equilibrium. Arrays are owned.
typedef struct jnaFleshPose {
    bool solved;      // otherwise `reason` says why not
    float* rotations; // [jointCount][4], local
    float* turns;     // [jointCount][4], rotations of the joints from rest
    double* nodes;    // [nodeCount][3]
    char reason[JNA_REASON_LENGTH];
} jnaFleshPose;
void jnaDestroyFleshPose(jnaFleshPose* pose);

/// Solves the equilibrium of the mean pose of the clips to train on. Without such clips it is not solved. Destroy it
/// also after a failure.
jnResult jnaFindMeanPose(jnaWorkspace* workspace, jnaFleshPose* pose, jnError* error);
