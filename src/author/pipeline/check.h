// Whether files are what they were when they were made: a workspace, or one file of any kind that we read.
#pragma once

#include "base/notes.h"
#include "jounce/base.h"

#include <jansson.h>

/// What was looked at. A note per file that is damaged or missing.
typedef struct jnaCheckReport {
    int fileCount;    // files whose contents were compared or read through
    int damagedCount; // of those; also files that are missing
    int staleCount;   // stages whose inputs have changed since: to be built, not damaged
    bool broken;      // the surface flips or tears in a clip, more than is accepted (pipeline/inspection.h)
    json_t* surface;  // what the inspection of the surface found; NULL: there was nothing to play; owned
    jnaNotes notes;   // owned
} jnaCheckReport;
void jnaDestroyCheckReport(jnaCheckReport* report);

/// Reads all that the stages of a workspace made and compares it with their records, and reads the character file as
/// the runtime does. Plays all clips of a character file that is whole and looks at the surface. Writes nothing.
jnResult jnaCheckWorkspace(const char* workspace, jnaCheckReport* report, jnError* error);

/// Reads one file as the verb that takes it would: .jounce, .npy, a model (.glb, .gltf, .fbx, .dae). Damage is an error
/// that says where.
jnResult jnaCheckFile(const char* path, jnError* error);
