// What each stage was made from, stages/NAME.json, and whether that is out of date.
#pragma once

#include "jounce/base.h"

/// A step of the pipeline: what it reads and what it writes. Paths are relative to the workspace or absolute.
typedef struct jnaStage {
    const char* name;
    int inputCount;
    const char* const* inputs; // [inputCount], files
    const char* settings;      // text that the outcome depends on as well; NULL for none
    int outputCount;
    const char* const* outputs; // [outputCount], files that must exist
    double seconds;             // wall time that it took, for the record; takes no part in what is stale
} jnaStage;

/// Whether a stage must run: it never did, or its inputs, its settings or their contents changed, or an
/// output is gone. reason: [JNA_NOTE_LENGTH], may be NULL. An input that does not exist is an error.
jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error);

/// Notes what a stage was made from, after its outputs are in place.
jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error);

/// Whether the inputs in a stage's record are as they were. *holds: goes to false where they are not, or where there is
/// no record; a stage that has other inputs by now, or other settings, it cannot tell. reason as of jnaStage_IsStale.
jnResult jnaStageRecord_Holds(const char* workspace, const char* name, bool* holds, char* reason, jnError* error);
