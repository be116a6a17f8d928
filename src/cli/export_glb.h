// jounce export -o FILE.glb, besides the options that it shares with other files.
#pragma once

#include "pipeline/export_engine.h"

typedef struct jncGlbRequest {
    long components, modes, influences; // -1: all; influences 0: all
    double budget;                      // megabytes; 0: none
    bool plain, seamless;
    const char* sidecar; // NULL: beside the file
} jncGlbRequest;
jncGlbRequest jncDefaultGlb(void);

/// Whether a file is to be glTF by its ending.
bool jncIsGlb(const char* path);

/// Writes a workspace as a .glb and prints what it is; the exit code.
int jncExportGlb(const char* workspace, const char* path, const jnaExportDef* how, const jncGlbRequest* request);
