// The morph weights of every clip of an asset, as the runtime makes them, and how far they go.
#pragma once

#include "asset/morph_shapes.h"

typedef struct jnaMorphWeights {
    int count; // weights, componentCount + modeCount
    int clipCount;
    int* keyCounts;  // [clipCount], frames, and the first again at the end of a seamless loop
    float** weights; // [clipCount], each [keyCount][count], as the runtime gives them
    float* reach;    // [count], how far a weight goes in the clips, or can go at all where that is known
    double* squares; // [count], mean square over all clips
} jnaMorphWeights;

/// Plays every clip. seamless: looping ones repeat exactly.
jnResult jnaBakeMorphWeights(const jnAsset* asset, bool seamless, jnaMorphWeights* weights, jnError* error);
void jnaDestroyMorphWeights(jnaMorphWeights* weights);

/// Sums over all vertices of the products of every two targets: the square of a displacement is w^T G w. products:
/// [count][count].
void jnaMultiplyMorphs(const jnaMorphShapes* shapes, const jnAsset* asset, double* products);
