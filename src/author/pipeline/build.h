// All of a workspace: every stage in order, only what is stale, with one progress for the whole.
#pragma once

#include "base/notes.h"
#include "pipeline/engine.h"
#include "pipeline/stage_list.h"

#define JNA_STAGE_NAME(name) jna_build##name,
/// jna_buildImport and so on, as stage_list.h has them.
typedef enum jnaBuildStage { JNA_STAGES(JNA_STAGE_NAME) jna_buildStageCount } jnaBuildStage;
#undef JNA_STAGE_NAME

/// "import", "volume" and so on.
const char* jnaBuildStageName(jnaBuildStage stage);

/// What is known about a stage.
typedef struct jnaBuildStep {
    bool needed;                  // by the manifest, and not behind the stage that the build ends with
    bool fresh;                   // what is there is up to date
    bool made;                    // it ran, and did something
    int count;                    // poses, or frames of both kinds of motion; 0 of other stages
    int left;                     // of those, to be solved
    double estimate;              // seconds that it will take, roughly; 0 where it is fresh
    double seconds;               // that it took
    char reason[JNA_NOTE_LENGTH]; // why it must run, or "up to date", or why it is not needed
} jnaBuildStep;

/// How to build. Start from jnaDefaultBuildDef.
typedef struct jnaBuildDef {
    jnaBuildStage until;        // the last stage that runs; an export follows from the modes on; jna_buildReport
    int threads;                // 0: as many as OpenMP likes. What is made does not depend on it
    bool planOnly;              // nothing runs and nothing is written; false
    const jnaStageKind* report; // the last stage, jnaReportStage of report/report.h; NULL: there is none
    bool quickReport;           // small pictures; false
    void (*plan)(const jnaBuildStep* steps, void* user); // [jna_buildStageCount], before anything long runs; NULL: none
    void (*said)(const jnaNotes* notes, void* user);     // after a stage, with all notes so far; NULL: nobody
    void* user;                                          // of plan and said
    jnaWatch watch;                                      // the parts of its progress are the stages; nobody
    jnaBuildStep* steps;                                 // [jna_buildStageCount], what became of each; may be NULL
} jnaBuildDef;
jnaBuildDef jnaDefaultBuildDef(void);

/// Brings a workspace up to date. A build that is stopped at any moment, by progress, an error or a kill, goes on from
/// there the next time, and what it makes are the same bytes. One note per stage tells what happened.
jnResult jnaBuildWorkspace(const char* workspace, const jnaBuildDef* def, jnaNotes* notes, jnError* error);
