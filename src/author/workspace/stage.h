// What each stage was made from, stages/NAME.json, and whether that is out of date.
//
// A record holds a mark (workspace/marks.h) of every input and of every output, by their contents. What differs from
// its mark is made again.
#pragma once

#include "jounce/base.h"

/// A step of the pipeline: what it reads, depends on and writes. Paths are relative to the workspace or absolute.
/// Filled by the functions below, which remember a failure until jnaStage_IsStale or jnaStage_Record tells it.
typedef struct jnaStage {
    const char* name;
    int inputCount, outputCount;
    char **inputs, **outputs; // [inputCount] files; [outputCount] files, or folders for all that is in them; owned
    int sharedCount;
    char** shared;  // [sharedCount] "STAGE FILE": must exist, and is as that stage left it; owned
    char* settings; // text that the outcome depends on as well; owned, NULL for none
    double seconds; // wall time that it took, for the record; takes no part in what is stale
    bool failed;    // memory was short
} jnaStage;
void jnaDestroyStage(jnaStage* stage);

/// One more input, once; with a folder: only where the file is there.
void jnaStage_Read(jnaStage* stage, const char* folder, const char* format, ...) __attribute__((format(printf, 3, 4)));
/// Several inputs, a NULL at the end.
void jnaStage_ReadAll(jnaStage* stage, const char* folder, const char* const* names);
/// One more output, or several.
void jnaStage_Make(jnaStage* stage, const char* format, ...) __attribute__((format(printf, 2, 3)));
void jnaStage_MakeAll(jnaStage* stage, const char* const* names);
/// An output that two stages write: it must exist, and be as the record of the later one says if it has one.
void jnaStage_Share(jnaStage* stage, const char* later, const char* format, ...) __attribute__((format(printf, 3, 4)));
/// More text of the settings.
void jnaStage_Depend(jnaStage* stage, const char* format, ...) __attribute__((format(printf, 2, 3)));

/// Whether a stage must run: it never did, or its inputs, its settings or their contents changed, or an
/// output is gone or not as the record says. reason: [JNA_NOTE_LENGTH], may be NULL. An input that does not exist is an
/// error.
jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error);

/// Removes outputs that are not as the record says, before the stage makes them again: it may read some of them.
void jnaStage_RemoveDamaged(const char* workspace, const jnaStage* stage);

/// Notes what a stage was made from, after its outputs are in place.
jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error);
