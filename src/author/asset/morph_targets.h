// The morph targets of an asset as targets of a glTF document's meshes, as small as they can be stored.
#pragma once

#include "asset/morph_document.h"
#include "asset/morph_weights.h"

/// Which targets are taken and how.
typedef struct jnaTargetsDef {
    const jnAsset* asset;
    const jnaMorphShapes* shapes;   // of the targets
    const jnaMorphWeights* weights; // likewise
    int count;                      // the first of them
    int poses, modes; // where both add up to count, the targets are so many components and then modes of the asset and
                      // are called so
    bool quantize;    // whole numbers of 16 and 8 bits (KHR_mesh_quantization) where they are precise enough
    bool sparse;      // what does not move is left out where that is smaller
    bool zeros;   // sparse arrays name a view of zeroes that they change, for readers that need one; not with quantize
    bool* floats; // [weights->count], targets that whole numbers are not precise enough for; written by
                  // jnaStretchTargets; NULL: none
} jnaTargetsDef;

/// How many times a target is enlarged, so that weights stay within -1 to 1 and whole numbers are precise. The weight
/// of the file is that of the runtime divided by it. stretches: [weights->count], of all of them.
void jnaStretchTargets(const jnaTargetsDef* def, const jnaMorphDocument* document, float* stretches);

/// Bytes that each target takes. sizes: [weights->count].
jnResult jnaMeasureTargets(
    const jnaTargetsDef* def, const jnaMorphDocument* document, const float* stretches, size_t* sizes, jnError* error);

/// Adds the targets behind those that meshes have already, with their names and weights of 0.
jnResult jnaAddMorphTargets(
    const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* document, jnError* error);

/// Adds the weights of every clip to its animation, behind those that meshes have already.
jnResult jnaAddMorphAnimations(
    const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* document, jnError* error);

/// "jounce.pose.012" or "jounce.mode.003"; "jounce.flesh.003" where it is neither. name: [32].
void jnaNameTarget(const jnaTargetsDef* def, int target, char* name);
