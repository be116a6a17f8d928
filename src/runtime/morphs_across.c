// The modes of JN_LANES characters over their intervals at once, a lane for each character: what StepThrough of
// morphs_modes.c does for one, with the same bytes. The arrays of the characters are transposed where they are, so that
// nothing needs memory of its own.
#include "morphs.h"

// Pairs by their larger and smaller mode, each a pass that keeps the order of the one before.
static void SortPairs(const jnAcrossPair* from, int count, bool larger, jnAcrossPair* to)
{
    int starts[JN_ACROSS_MODES + 1] = {0};
    for (int i = 0; i < count; ++i) {
        starts[(larger ? from[i].larger : from[i].smaller) + 1]++;
    }
    for (int k = 0; k < JN_ACROSS_MODES; ++k) {
        starts[k + 1] += starts[k];
    }
    for (int i = 0; i < count; ++i) {
        to[starts[larger ? from[i].larger : from[i].smaller]++] = from[i];
    }
}

bool jnOrderPairs(jnMorphs* const* list, jnPairOrder* order)
{
    const jnAssetModes* modes = list[0]->modes;
    int count = list[0]->modeCount;
    bool alike = list[0]->pairCount > 0 && modes->pairCount <= JN_ACROSS_PAIRS && count <= JN_ACROSS_MODES;
    for (int n = 1; n < JN_LANES; ++n) {
        alike = alike && list[n]->modeCount == count;
    }
    if (!alike || order->modeCount == count) {
        return alike;
    }
    jnAcrossPair own[JN_ACROSS_PAIRS];
    order->modeCount = count;
    order->pairCount = 0;
    for (int i = 0; i < list[0]->pairCount; ++i) {
        if (modes->pairs[2 * i] < count) { // the larger of the two
            order->pairs[order->pairCount++] = (jnAcrossPair){.larger = (uint8_t)modes->pairs[2 * i],
                .smaller = (uint8_t)modes->pairs[2 * i + 1],
                .number = (uint16_t)i};
        }
    }
    SortPairs(order->pairs, order->pairCount, false, own);
    SortPairs(own, order->pairCount, true, order->pairs);
    return true;
}

static void PlanTurns(jnAcrossPass* pass, const jnMorphKernels* kernels)
{
    float norms[JN_LANES], bounds[JN_LANES];
    bool large = false;
    kernels->pairAcross(pass, norms);
    for (int n = 0; n < JN_LANES; ++n) {
        large = large || norms[n] > JN_TURN_TWO;
    }
    if (large) {
        kernels->boundAcross(pass, bounds);
    }
    for (int n = 0; n < JN_LANES; ++n) {
        float norm = norms[n] > JN_TURN_TWO && bounds[n] < norms[n] ? bounds[n] : norms[n];
        jnTurnPlan plan = jnPlanTurn(norm);
        pass->parts[n] = (float)plan.parts;
        pass->terms[n] = (float)plan.terms;
        for (int i = 0; i < JN_MAX_TERMS; ++i) {
            pass->scales[i][n] = plan.scales[i];
        }
        pass->mostParts = plan.parts > pass->mostParts ? plan.parts : pass->mostParts;
        pass->mostTerms = plan.terms > pass->mostTerms ? plan.terms : pass->mostTerms;
    }
}

void jnStepAcross(jnMorphs* const* list, const jnPairOrder* order)
{
    const jnMorphs* m = list[0];
    const jnMorphKernels* kernels = m->kernels;
    jnAcrossPass pass = {.modes = m->modes,
        .order = order->pairs,
        .pairCount = order->pairCount,
        .pairBlocks = jnBlockCount(m->pairCount),
        .modeCount = m->modeCount,
        .lanes = m->lanes};
    for (int n = 0; n < JN_LANES; ++n) {
        pass.angles[n] = list[n]->angles;
        pass.pairs[n] = list[n]->pairs;
        pass.states[n] = list[n]->now;
        pass.work[n] = list[n]->work;
        pass.drags[n] = list[n]->work + 4 * (size_t)m->lanes;
    }
    kernels->transpose(pass.angles, m->driverBlocks * 3 * JN_LANES);
    PlanTurns(&pass, kernels);
    if (pass.mostParts > 0) {
        kernels->transpose(pass.states, 2 * m->lanes);
        kernels->turnAcross(&pass);
        kernels->applyAcross(&pass);
        kernels->transpose(pass.states, 2 * m->lanes);
        kernels->transpose(pass.drags, m->lanes);
    }
    for (int n = 0; n < JN_LANES; ++n) {
        jnSwing(list[n], list[n]->clock.interval.h, pass.parts[n] > 0.0f ? pass.drags[n] : NULL, list[n]->now);
    }
    if (pass.mostParts > 0) {
        kernels->transpose(pass.states, 2 * m->lanes);
        kernels->turnAcross(&pass);
        kernels->transpose(pass.states, 2 * m->lanes);
    }
}
