// The morph targets of an asset as targets of a glTF document's meshes, as small as they can be stored.
#pragma once

#include "asset/morph_document.h"
#include "asset/morph_weights.h"

/// Which targets are taken and how.
typedef struct jnaTargetsDef {
    const jnAsset* asset;
    const jnaMorphShapes* shapes;
    const jnaMorphWeights* weights;
    int components, modes; // the first of each
    bool quantize;         // whole numbers of 16 and 8 bits (KHR_mesh_quantization) where they are precise enough
    bool sparse;           // what does not move is left out where that is smaller
    bool* floats; // [componentCount + modeCount], targets that whole numbers are not precise enough for; written by
                  // jnaStretchTargets; NULL: none
} jnaTargetsDef;

/// Number of a target in the asset: target 0 to components + modes - 1 of the file.
static inline int jnaTargetWeight(const jnaTargetsDef* def, int target)
{
    return target < def->components ? target : def->asset->componentCount + target - def->components;
}

/// How many times a target is enlarged, so that weights stay within -1 to 1 and whole numbers are precise. The weight
/// of the file is that of the runtime divided by it. stretches: [componentCount + modeCount], of all of them.
void jnaStretchTargets(const jnaTargetsDef* def, const jnaMorphDocument* document, float* stretches);

/// Bytes that each target takes. sizes: [componentCount + modeCount].
jnResult jnaMeasureTargets(
    const jnaTargetsDef* def, const jnaMorphDocument* document, const float* stretches, size_t* sizes, jnError* error);

/// Adds the targets behind those that meshes have already, with their names and weights of 0.
jnResult jnaAddMorphTargets(
    const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* document, jnError* error);

/// Adds the weights of every clip to its animation, behind those that meshes have already.
jnResult jnaAddMorphAnimations(
    const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* document, jnError* error);

/// "jounce.pose.012" or "jounce.mode.003". name: [32].
void jnaNameTarget(const jnaTargetsDef* def, int target, char* name);
