// The pose at hand: matrices of its joints, what the network makes of it, and the surface's morph targets.
#include "character_internal.h"

#include <math.h>
#include <string.h>

// Of a morph target of the source.
#define LARGEST_TARGET 1e4f

bool jnNetworkActs(const jnCharacter* c)
{
    return c->network.head != NULL && c->networkState.strength != 0.0f;
}

bool jnTakePose(jnCharacter* c, const jnPose* pose, double* matrices)
{
    const jnAsset* asset = c->asset;
    bool good = jnMakeGlobals(asset, pose, matrices);
    for (int i = 0; pose->origin != NULL && i < 3; ++i) {
        good = good && fabs(pose->origin[i]) <= JN_LARGEST_ORIGIN; // false for what is not a number
    }
    if (good) {
        for (int i = 0; i < 3; ++i) {
            c->origin[i] = pose->origin != NULL ? pose->origin[i] : 0.0;
        }
        c->root = jnRigidPart(matrices);
        for (int i = 0; i < 3; ++i) {
            c->rootPlace[i] = matrices[4 * i + 3] + c->origin[i];
        }
    } else {
        c->badPoseCount++;
        if (c->morphs == NULL) {
            return false; // the pose at hand is the last good one
        }
        if (c->morphs->clock.sampleCount > 0) {
            jnMorphs_NewestMatrices(c->morphs, matrices);
            return false;
        }
        (void)jnMakeGlobals(asset, &(jnPose){0}, matrices);
    }
    jnToSurface(asset, matrices);
    for (size_t i = 0; i < 3 * (size_t)asset->jointCount; ++i) {
        matrices[4 * i + 3] += c->origin[i % 3];
    }
    return good;
}

void jnTakeInputs(jnCharacter* c, const float* turns)
{
    jnNetwork_MakeInputs(&c->network, c->networkKernels, c->asset, turns, c->networkState.inputs);
}

void jnUseMatrices(jnCharacter* c, const double* matrices, const double* origin)
{
    c->stretches = false;
    for (size_t j = 0; j < (size_t)c->asset->jointCount; ++j) {
        double local[12];
        for (size_t i = 0; i < 12; ++i) {
            local[i] = matrices[12 * j + i] - (i % 4 == 3 && origin != NULL ? origin[i / 4] : 0.0);
            c->palette[j * JN_PALETTE_SIZE + i] = (float)local[i];
        }
        if (c->asset->skinning == jn_skinDual) {
            bool stretched = jnMakeDual(local, c->duals + j * JN_DUAL_SIZE, c->stretchPalette + j * JN_PALETTE_SIZE);
            c->stretches = c->stretches || stretched;
        }
    }
}

// Weights as whole numbers of 16 bits, shares of the largest.
void jnUseWeights(jnCharacter* c, const float* weights)
{
    const jnAssetMorphs* morphs = c->asset->morphs;
    c->shaped = morphs != NULL && weights != NULL;
    c->mapped =
        weights != NULL && c->network.head != NULL && c->network.head->kind == jn_networkCnn && jnNetworkActs(c);
    if (!c->shaped) {
        return;
    }
    float range = 1.0f;
    for (int i = 0; i < morphs->columnCount; ++i) {
        float size = fabsf(weights[i]);
        range = size > range ? size : range;
    }
    float steps = 32767.0f / range;
    for (int i = 0; i < morphs->columnCount; ++i) {
        c->coefficients[i] = jnToShort(weights[i] * steps);
    }
    c->weightUnit = range / 32767.0f;
}

void jnTakeTargets(jnCharacter* c, const jnPose* pose)
{
    const jnAsset* a = c->asset;
    for (int i = 0; i < a->targetCount; ++i) {
        float weight = pose->targets != NULL ? pose->targets[i] - a->targets[i].weight : 0.0f;
        c->targets[i] = jnIsFinite(weight) ? jnClamp(weight, LARGEST_TARGET, 0.0f) : 0.0f;
    }
}

void jnUseTargets(jnCharacter* c, const float* weights)
{
    bool any = false;
    for (int i = 0; i < c->asset->targetCount && !any; ++i) {
        any = weights[i] != 0.0f;
    }
    c->posed = any ? weights : NULL;
}

void jnUsePose(jnCharacter* c, const jnPose* pose, bool network)
{
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    float own[4 * JN_STACK_JOINTS], *turns = c->turns != NULL ? c->turns : own;
    bool taken = jnTakePose(c, pose, matrices) || c->morphs != NULL, acts = network && jnNetworkActs(c);
    if (taken && acts) {
        jnNetworkState* state = &c->networkState;
        jnMakeTurns(c->asset, matrices, turns);
        jnTakeInputs(c, turns);
        jnNetwork_Evaluate(&c->network, c->networkKernels, &state, 1);
    }
    if (taken) {
        jnTakeTargets(c, pose);
    }
    if (taken && !c->weightsOnly) {
        jnUseMatrices(c, matrices, c->origin);
        jnUseTargets(c, c->targets);
    }
    size_t columns = c->asset->morphs != NULL ? (size_t)c->asset->morphs->columnCount : 0;
    memset(c->weights, 0, 2 * columns * sizeof(float));
    if (acts) {
        int count = c->morphs != NULL ? c->morphs->componentCount : c->asset->componentCount;
        memcpy(c->weights, c->networkState.components, (size_t)count * sizeof(float));
    }
    if (!c->weightsOnly) {
        jnUseWeights(c, network ? c->weights : NULL);
    }
}
