// Skins with fewer joints a vertex, for viewers that read four: the largest weights stay, and add up to 1 again.
#pragma once

#include "asset/morph_document.h"
#include "asset/morph_weights.h"

/// Joints that a vertex has at most.
int jnaMostInfluences(const jnAsset* asset);

/// How far, in metres, a vertex is moved at most over all frames of the clips by keeping the `kept` largest.
jnResult jnaMeasureFewerJoints(const jnAsset* asset, const jnaMorphShapes* shapes, const jnaMorphWeights* weights,
    int kept, double* farthest, jnError* error);

/// Keeps the largest of a primitive of the document, in all its sets JOINTS_n and WEIGHTS_n. A primitive that has no
/// more than that stays as it is.
jnResult jnaKeepJoints(jnaMorphDocument* document, json_t* primitive, int kept, jnError* error);
