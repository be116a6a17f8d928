// Which morph targets stand for an asset's weights: the asset's own, some of them, or fewer and better ones.
#pragma once

#include "asset/morph_weights.h"

/// Targets as sums of the asset's, and their weights as sums of the asset's weights. All zeroes: empty.
typedef struct jnaTargetBasis {
    int count;      // targets, the most important first
    int columns;    // weights of the asset
    bool own;       // the targets are the asset's own
    double* mix;    // [count][columns], weight of a target from those of the asset; owned
    double* shapes; // [count][columns], a target from those of the asset; owned
} jnaTargetBasis;
void jnaDestroyTargetBasis(jnaTargetBasis* basis);

/// The first components and modes of the asset as they are.
jnResult jnaPickTargets(const jnAsset* asset, int components, int modes, jnaTargetBasis* basis, jnError* error);

/// As many targets as `picked` has, which span the same: the first n of them are the best n for the clips, in the mean
/// square of what vertices are displaced by. products: [columns][columns], of jnaMultiplyMorphs.
jnResult jnaFindTargetBasis(const jnaTargetBasis* picked, const double* products, const jnaMorphWeights* weights,
    jnaTargetBasis* basis, jnError* error);

/// What the first `count` targets leave out over the clips.
typedef struct jnaBasisError {
    double rms;      // metres, over all vertices and frames
    double captured; // fraction of the mean square displacement that they make, without the constant component
} jnaBasisError;
jnResult jnaMeasureBasis(const jnaTargetBasis* basis, int count, const jnAsset* asset, const double* products,
    const jnaMorphWeights* weights, jnaBasisError* left, jnError* error);

/// Targets, and their weights in the clips.
typedef struct jnaMorphSet {
    jnaMorphShapes shapes;
    jnaMorphWeights weights;
} jnaMorphSet;
void jnaDestroyMorphSet(jnaMorphSet* set);

/// The first `count` targets. paired: each is two, for its positive and its negative weights, and the second the first
/// turned around.
jnResult jnaCombineTargets(const jnaTargetBasis* basis, int count, bool paired, const jnAsset* asset,
    const jnaMorphSet* from, jnaMorphSet* to, jnError* error);
