// An asset without its surface: what it takes to compute morph weights, and nothing else.
#pragma once

#include "jounce/asset.h"

/// What is encoded.
typedef struct jnaWeightsDef {
    const jnAsset* asset;
    const void* bytes;   // of the asset
    const float* scales; // [componentCount + modeCount], what weights are multiplied by; NULL: there is a mix
    const float* mix; // [rowCount][componentCount + modeCount], weights of targets from those of the asset; NULL: none
    int rowCount;
    bool paired; // each row is two targets, for its positive and its negative values
} jnaWeightsDef;

/// Joints, what drives the modes, and the network of an asset, without vertices and clips. *out: release with free.
jnResult jnaEncodeWeightsAsset(const jnaWeightsDef* def, void** out, size_t* size, jnError* error);
