// The export: what a workspace holds as one file for the runtime.
#pragma once

#include "asset/asset_writer.h"
#include "jounce/asset.h"
#include "jounce/springs.h"
#include "workspace/workspace.h"

/// The file that a workspace is built into.
#define JNA_ASSET_NAME "character.jounce"

/// How a workspace is exported. Start from jnaDefaultExportDef.
typedef struct jnaExportDef {
    int skinning;        // jnSkinning; default -1: as the manifest has it
    jnTiming timing;     // default causal
    double rigidHertz;   // springs from this frequency on are not stepped; 0 (default): all are
    double detailShare;  // of the springs that are stepped at coarse detail; 0 (default): no such detail
    bool modal;          // the modes that are there, whatever the layer of the workspace; default false
    bool fleshOnly;      // without clothes and the like, as what is measured is; default false
    bool measure;        // what packing the morph targets does to the surface; default false
} jnaExportDef;
jnaExportDef jnaDefaultExportDef(void);

/// What went into the file.
typedef struct jnaExported {
    int vertexCount, jointCount, clipCount, modeCount;
    jnaMorphPacking packing; // where it was to be measured
    bool fallback;           // springs were to be learned and are not yet: set by hand, modes as the physics says
} jnaExported;
#define JNA_FALLBACK_NOTE                                                                                              \
    "springs are not fitted yet (`jounce fit` does that); the exported springs come from the manifest and the "        \
    "material"

/// Writes character, clips and the springs of the manifest as one file for the runtime.
jnResult jnaExportWorkspace(
    const char* workspace, const char* path, const jnaExportDef* def, jnaExported* exported, jnError* error);

/// The same in memory, of an opened workspace. *bytes: release with free.
jnResult jnaWorkspace_EncodeAsset(jnaWorkspace* workspace, const jnaExportDef* def, void** bytes, size_t* size,
    jnaExported* exported, jnError* error);
