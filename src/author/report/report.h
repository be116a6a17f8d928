// The report of a workspace: one HTML file with the paper's figures for this character, to be opened from disk.
//
// What the workspace has is shown; what is missing is said in a line, with the command that makes it. Pictures and
// charts are inside the file: it asks for nothing, and runs no script. The same workspace gives the same bytes, but for
// the element with the id "timings".
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "learn/spring_fit.h"
#include "pipeline/engine.h"

/// The file that a report is written to.
#define JNA_REPORT_NAME "report.html"

/// How a report is made. Start from jnaDefaultReportDef.
typedef struct jnaReportDef {
    const char* path; // NULL (default): JNA_REPORT_NAME in the workspace
    bool quick;       // small pictures with less light, in a third of the time; false
    int threads;      // 0: as many as OpenMP likes; the bytes are the same
    jnaWatch watch;   // nobody
} jnaReportDef;
jnaReportDef jnaDefaultReportDef(void);

/// Writes the report: the whole file or nothing. The character in motion is what WORKSPACE/character.jounce plays.
/// notes: a line for each part that is missing; may be NULL.
jnResult jnaReportWorkspace(const char* workspace, const jnaReportDef* def, jnaNotes* notes, jnError* error);

/// The stage "report", the last of a build (jnaBuildDef.report). Its def is a bool: small pictures.
extern const jnaStageKind jnaReportStage;
