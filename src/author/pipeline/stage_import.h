// The import: a workspace is made from a character and its clips. The stage "import" brings it up to date with them.
#pragma once

#include "workspace/manifest.h"

/// What `jounce new` is asked for.
typedef struct jnaWorkspaceDef {
    const char* character; // file, or JNA_FIGURE_SOURCE
    double rate;           // 30
    double scale;          // 0: recognised
    jnaUp up;              // axis of the file that points up; jna_upAuto
    int number;            // of several characters in the file, counted from 1; 0: all as one
    int ownCount;
    const char* const* ownClips; // [ownCount], clips of the character's file to take; none: all
    int clipCount;
    const char* const* clipNames;
    const char* const* clipFiles; // [clipCount], besides the clips inside the character's file
    int pairCount;
    const char* const* pairSources; // [pairCount], parts of the body or joints of motion files
    const char* const* pairJoints;  // [pairCount], joints of the character
    int partCount;
    const char* const* partNames; // [partCount], meshes, nodes or materials
    const jnaMeshRole* partRoles; // [partCount]
    int followCount;
    const char* const* followFiles; // [followCount], clothes and the like, which follow the flesh
    jnaSpringLayer layer;           // modal
    bool layerGiven;                // false: with motion jna_layerAuto
    int motionCount;
    const char* const* motionClips;
    const char* const* motionFiles; // [motionCount]
    int shapeCount;
    const char* const* shapeClips;
    const char* const* shapeFiles; // [shapeCount], equilibria
    /// Sets what the manifest shall say besides, before anything is written; NULL: nothing. The clips are there.
    void (*adjust)(jnaManifest* manifest, void* user);
    void* user;
} jnaWorkspaceDef;
jnaWorkspaceDef jnaDefaultWorkspaceDef(void);

/// Makes a workspace: imports, writes the manifest, and only then gives the folder its name. On failure there
/// is none.
jnResult jnaCreateWorkspace(const char* path, const jnaWorkspaceDef* def, jnaNotes* notes, jnError* error);
