// Whether files are what they were when they were made: a workspace, or one file of any kind that we read.
#pragma once

#include "base/notes.h"
#include "jounce/base.h"

/// What was looked at. A note per file that is damaged or missing.
typedef struct jnaCheckReport {
    int fileCount;    // files whose contents were compared or read through
    int damagedCount; // of those; also files that are missing
    int staleCount;   // stages whose inputs have changed since: to be built, not damaged
    jnaNotes notes;   // owned
} jnaCheckReport;

/// Reads all that the stages of a workspace made and compares it with their records, and reads the character file as
/// the runtime does. Writes nothing.
jnResult jnaCheckWorkspace(const char* workspace, jnaCheckReport* report, jnError* error);

/// Reads one file as the verb that takes it would: .jounce, .npy, a model (.glb, .gltf, .fbx, .dae). Damage is an error
/// that says where.
jnResult jnaCheckFile(const char* path, jnError* error);
