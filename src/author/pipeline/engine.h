// The engine: the one place that decides what is out of date, times it and records it.
//
// A stage is a descriptor: its name, a function that says what it reads, depends on and makes, and one that makes it.
#pragma once

#include "base/watch.h"
#include "workspace/workspace.h"

/// One run of a stage.
typedef struct jnaStageRun {
    jnaWorkspace* workspace;
    const void* def; // the stage's own, where a caller wants something else than the manifest; NULL: as the manifest
    void* report;    // the stage's own, what came of it; may be NULL
    int threads;     // 0: as many as OpenMP likes
    bool force;      // even where it is up to date
    jnaWatch watch;
    jnaNotes* notes; // may be NULL
    bool made;       // whether it ran
} jnaStageRun;

typedef struct jnaStageKind {
    const char* name;
    jnResult (*describe)(const jnaStageRun* run, jnaStage* stage, jnError* error);
    jnResult (*run)(jnaStageRun* run, jnError* error);
} jnaStageKind;

/// Whether a stage must run; reason as of jnaStage_IsStale.
jnResult jnaStageKind_IsStale(
    const jnaStageKind* kind, const jnaStageRun* run, bool* stale, char* reason, jnError* error);

/// Runs a stage unless it is up to date, and records what it was made from and how long it took.
jnResult jnaStageKind_Run(const jnaStageKind* kind, jnaStageRun* run, jnError* error);

/// The stages. Those of the volume, of the modes, of the network and of the export are two each.
extern const jnaStageKind jnaImportStage, jnaVolumeStage, jnaInsideStage, jnaModesStage, jnaOffsetsStage, jnaTrainStage,
    jnaMeasureStage, jnaFitStage, jnaExportStage, jnaInspectStage, jnaEvaluateStage;
