// The simulated motion of a clip, packed for a page that has the character file: `jounce view --export` sends it along.
//
// A motion is displacements of the rest surface through the skin, and these are a sum of a few fields:
//
//   x_v(n) = sum_j w_vj M_j(n) (r_v + sum_f c_f(n) B_fv)
//
// The file, little-endian: "JNPM"; uint32 version 1, frames, first frame of the clip, vertices, fields; float32
// [fields] metres to one unit; float32 [frames][fields] coefficients; int16 [fields][vertices][3], in the order of the
// asset's vertices.
#pragma once

#include "jounce/asset.h"

typedef struct jnaPackDef {
    const jnAsset* asset;
    int clip;          // of the asset
    int first;         // frame of the clip that the first row is
    int frames;        // 2 or more
    const float* rows; // [frames][vertexCount][3], metres, in the order of the source (asset->order)
    size_t budget;     // bytes at most; room for at least the mean is taken
} jnaPackDef;

typedef struct jnaPackedMotion {
    void* bytes; // by malloc
    size_t size;
    int fields;   // the mean among them
    double rms;   // metres: distance from the rows, over all vertices and frames
    double worst; // the largest
} jnaPackedMotion;

/// Packs a motion with as few fields as leave it within a tenth of a millimetre rms, or as many as the budget holds.
jnResult jnaPackMotion(const jnaPackDef* def, jnaPackedMotion* packed, jnError* error);
