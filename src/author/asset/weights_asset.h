// An asset without its surface: what it takes to compute morph weights, and nothing else.
#pragma once

#include "jounce/asset.h"

/// Joints, what drives the modes, and the network of an asset, without vertices and clips. bytes: of the asset. scales:
/// [componentCount + modeCount], what weights are multiplied by. *out: release with free.
jnResult jnaEncodeWeightsAsset(
    const jnAsset* asset, const void* bytes, const float* scales, void** out, size_t* size, jnError* error);
