// Marks: what a record (workspace/stage.h) knows of a file, "HASH SIZE TIME".
//
// A file whose size and time of change are those of its mark is not read again, unless it changed so shortly before the
// record was written that the clock could not tell. The mark of another stage's record has the hash of what that stage
// made and nothing else: the same arrays, made once more, are no change.
#pragma once

#include "workspace/stage.h"

#include <jansson.h>

enum { JNA_MARK_LENGTH = 64 };

/// Marks a file. The path is relative to the workspace or absolute.
jnResult jnaMarkFile(const char* workspace, const char* name, char mark[JNA_MARK_LENGTH], jnError* error);

/// Whether a file is as its mark says. recorded: when the record was written, nanoseconds; 0: its contents are read in
/// any case.
jnResult jnaCompareMark(
    const char* workspace, const char* name, const json_t* mark, int64_t recorded, bool* same, jnError* error);

/// Time of change of a file, nanoseconds; -1 where there is none.
int64_t jnaTimeOfChange(const char* path);

/// Marks of all that a stage made, by name. A folder stands for the files in it, but for locks, files in the making and
/// times. marks: an object, which is added to.
jnResult jnaMarkOutputs(const char* workspace, const jnaStage* stage, json_t* marks, jnError* error);

/// The first file among marks that is missing or differs, NULL where all are as they were. recorded as above.
const char* jnaFindChanged(const char* workspace, const json_t* marks, int64_t recorded);
