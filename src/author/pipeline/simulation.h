// What the files of a workspace's simulations share.
#pragma once

#include "flesh/poses.h"
#include "pipeline/shake.h"
#include "pipeline/simulate.h"
#include "workspace/manifest.h"

#include <pthread.h>

struct jnaSimulation {
    jnaWorkspace* workspace; // owns what follows
    bool owned;              // the workspace is ours to close
    const jnaManifest* manifest;
    const jnaCharacter* character;
    const jnaVolume* volume;
    const jnaClip* clips; // [manifest->clipCount]
    jnaClip shakes[JNA_SHAKES];
    jnaFleshDef fleshDef;
    jnaFlesh* flesh; // made by the first worker
    pthread_mutex_t mutex;
    jnaSolve solve;
    uint64_t poseHash, motionHash; // of character, volume and settings
};

/// A thread's solver, and what it needs around it.
typedef struct jnaFleshWorker {
    jnaFleshSolver* solver;
    double* nodes;    // [nodeCount][3]
    int lastSteps;    // of the path of the pose that was solved last
    double tolerance; // residual of a pose
} jnaFleshWorker;

/// The functions that solve with the flesh of a simulation.
jnaSolve jnaFleshSolve(jnaSimulation* simulation);

/// Makes what all workers share, once, and with it the size of a motion's state.
jnResult jnaSimulation_ShareFlesh(jnaSimulation* simulation, jnError* error);

/// The training poses.
jnResult jnaSimulation_SamplePoses(
    const jnaSimulation* simulation, int count, jnaPoseSet* poses, jnaNotes* notes, jnError* error);
