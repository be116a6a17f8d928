// See engine_hosts.h. docs/guides/engine.md says which versions this was tried with, or where it was read.
//
// gltf is what every importer of glTF 2.0 must read: floats, no extension, no sparse arrays, one set of joints. A host that
// reads one set of two moves vertices by many times what leaving joints out does.
#include "asset/engine_hosts.h"

#define MEGABYTES 1e6
// Targets that a host keeps on the GPU, for one character near the camera.
enum { ON_GPU = 64 };

// Godot refuses required extensions that it does not list, and that one is not listed. UnityGLTF fails on arrays
// without a view. Blender clamps weights to a slider that begins at 0. three.js and Babylon.js keep targets in textures
// of four floats.
static const jnaEngineHost hosts[] = {
    {.name = "gltf", .influences = 4, .budget = 40 * MEGABYTES},
    {.name = "godot", .influences = 4, .targets = ON_GPU, .budget = 40 * MEGABYTES},
    {.name = "unity", .influences = 4, .targets = ON_GPU, .budget = 40 * MEGABYTES},
    {.name = "unreal", .targets = ON_GPU, .budget = 40 * MEGABYTES},
    {.name = "three",
        .quantize = true,
        .sparse = true,
        .influences = 4,
        .targets = ON_GPU,
        .budget = 20 * MEGABYTES,
        .gpuBytes = 32},
    {.name = "babylon", .quantize = true, .sparse = true, .targets = ON_GPU, .budget = 20 * MEGABYTES, .gpuBytes = 32},
    {.name = "playcanvas",
        .quantize = true,
        .sparse = true,
        .influences = 4,
        .targets = ON_GPU,
        .budget = 20 * MEGABYTES},
    {.name = "blender", .sparse = true, .zeros = true, .paired = true, .budget = 40 * MEGABYTES},
};

int jnaEngineHostCount(void)
{
    return (int)(sizeof(hosts) / sizeof(hosts[0]));
}

const jnaEngineHost* jnaGetEngineHost(int index)
{
    return &hosts[index];
}

void jnaUseEngineHost(const jnaEngineHost* host, jnaEngineDef* def)
{
    def->quantize = host->quantize;
    def->sparse = host->sparse;
    def->zeros = host->zeros;
    def->paired = host->paired;
    def->influences = host->influences;
    def->targets = host->targets;
    def->budget = host->budget;
}
