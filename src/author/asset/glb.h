// A baked clip as binary glTF 2.0: the first frame as the mesh, the others as morph targets that follow each other.
#pragma once

#include "base/file.h"
#include "jounce/asset.h"

typedef struct jnaGlb {
    const jnAsset* asset;
    int frameCount;
    double rate;
    float* frames;  // [frameCount][fileVertexCount][3]
    float* normals; // [frameCount][fileVertexCount][3]
} jnaGlb;

jnResult jnaCreateGlb(const jnAsset* asset, int frameCount, double rate, jnaGlb* glb, jnError* error);
void jnaDestroyGlb(jnaGlb* glb);
void jnaGlb_Take(jnaGlb* glb, int frame, const float* positions, const float* normals);

/// Writes all frames as one animation. Every part has a vertex buffer of its own, and targets move normals, too.
jnResult jnaGlb_Write(jnaGlb* glb, const char* clip, jnaFile* file, jnError* error);
