// What a host that skins by linear blend shows of a character with dual quaternions.
#pragma once

#include "asset/morph_document.h"
#include "asset/morph_weights.h"

typedef struct jnaLinearHost {
    double farthest, rms; // metres, over all vertices and frames of the clips
    int clip, frame;      // of the farthest; clip -1: there are none
} jnaLinearHost;

/// How far linear blend is from dual quaternions, both with the same morph weights.
jnResult jnaMeasureLinearHost(const jnAsset* asset, const jnaMorphShapes* shapes, const jnaMorphWeights* weights,
    jnaLinearHost* host, jnError* error);

/// Says it in the document, asset.extras.jounceSkinning.
jnResult jnaNoteLinearHost(jnaMorphDocument* document, const jnaLinearHost* host, jnError* error);
