// What the files of the build share.
#pragma once

#include "pipeline/build.h"
#include "pipeline/engine.h"
#include "pipeline/simulate.h"
#include "workspace/manifest.h"

/// A build under way.
typedef struct jnaBuild {
    jnaWorkspace* workspace;
    const jnaManifest* manifest; // the workspace's
    const jnaBuildDef* def;
    jnaNotes* notes;
    int threads;
    bool changed; // a stage of this build made something
    jnaBuildStep steps[jna_buildStageCount];

    // What the estimates are made from, known once the import is done.
    int vertexCount, nodeCount;
    int frameCount;     // of the clips that are simulated
    int longestFrames;  // of one of them
    int importedFrames; // of clips with imported motion or equilibria
    int trainFrames;    // of clips with motion that is learned from
    int partCount;      // of the surface that is to be filled
    bool lattice;       // that it will be filled by
    bool fleshless;     // nothing but rigid shells: skinning is all there is, known with the volume

    jnaTrainDef train;         // of the network, with the build's progress
    jnaSimulation* simulation; // open while volume and import do not change; NULL: not open

    // Progress.
    jnaBuildStage at;
    double started, total, done; // seconds by the estimates; done: before the stage at hand
} jnaBuild;

/// One stage of the plan. parts: what it consists of, which the engine looks at and runs; none of a long job, which
/// knows itself what is left of it.
typedef struct jnaBuildKind {
    const char* name;
    bool (*needed)(const jnaBuild* build, char* reason);
    const jnaStageKind* parts[2];
    void (*prepare)(jnaBuild* build, jnaStageRun* run); // gives the parts what only the build knows; may be NULL
    jnResult (*look)(jnaBuild* build, jnaBuildStep* step, jnError* error); // of a long job
    jnResult (*run)(jnaBuild* build, jnaBuildStep* step, jnError* error);  // the same
    double (*estimate)(const jnaBuild* build, const jnaBuildStep* step); // one thread's seconds, and how they share out
} jnaBuildKind;

#define JNA_STAGE_KIND(name) extern const jnaBuildKind jnaBuild##name;
JNA_STAGES(JNA_STAGE_KIND)
#undef JNA_STAGE_KIND

/// All stages, in order.
extern const jnaBuildKind* const jnaBuildKinds[jna_buildStageCount];

/// The workspace opened for simulation, once.
jnResult jnaBuild_Open(jnaBuild* build, jnError* error);

/// Tells how far the stage at hand is. Returns false once the build shall end.
bool jnaBuild_Tell(jnaBuild* build, double share, const char* format, ...) __attribute__((format(printf, 3, 4)));

/// Whether clips are simulated for the springs to be learned from: learned springs, and a clip to train on.
bool jnaBuild_Learns(const jnaBuild* build);
