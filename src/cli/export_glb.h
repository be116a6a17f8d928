// jounce export -o FILE.glb, besides the options that it shares with other files.
#pragma once

#include "pipeline/export_engine.h"

typedef struct jncGlbRequest {
    int host;                 // of jnaGetEngineHost
    long components, modes;   // -1: all
    long targets, influences; // -1: what the host reads; 0: all
    double budget;            // megabytes; -1: the host's; 0: none
    bool plain, pairs, seamless;
    const char* sidecar; // NULL: beside the file
} jncGlbRequest;
jncGlbRequest jncDefaultGlb(void);

/// Whether a file is to be glTF by its ending.
bool jncIsGlb(const char* path);

/// Writes a workspace as a .glb and prints what it is; the exit code.
int jncExportGlb(const char* workspace, const char* path, const jnaExportDef* how, const jncGlbRequest* request);
