// What the hosts of a .glb can read, and what they should get.
#pragma once

#include "asset/engine_glb.h"

/// One host: what jounce export --for sets where no option says otherwise.
typedef struct jnaEngineHost {
    const char* name;
    bool quantize, sparse, zeros, paired; // as in jnaEngineDef
    int influences;                       // joints a vertex that it reads; 0: all
    int targets;                          // at most; 0: all
    double budget;                        // bytes of the file
    int gpuBytes;                         // that it keeps for a vertex and a target with normals; 0: not known
} jnaEngineHost;

/// Their names as a choice of an option: "gltf|godot|...". The first is the default.
#define JNA_ENGINE_HOSTS "gltf|godot|unity|unreal|three|babylon|playcanvas|blender"

/// A host by its number in that list.
const jnaEngineHost* jnaGetEngineHost(int index);
int jnaEngineHostCount(void);

/// Sets what a host reads.
void jnaUseEngineHost(const jnaEngineHost* host, jnaEngineDef* def);
