// The step of a character: pose, skinning, springs, normals, and the way into the caller's arrays.
//
// Blocks are skinned straight into the slot of the springs' history that the sample goes to, a few dozen at a time, and
// stepped while they are still in the cache. Steps that do not take a sample in the ordinary way (the first, pauses,
// teleports) are rare and go through plain arrays.
#include "character_internal.h"

#include <math.h>
#include <string.h>

enum { DENSE = 3 * sizeof(float), CHUNK = 32 };

static jnSpringsOutput OwnOutput(jnCharacter* c, const jnCharacterOutput* output)
{
    bool velocities = output != NULL && output->velocities != NULL;
    return (jnSpringsOutput){.positions = c->positions, .velocities = velocities ? c->velocities : NULL};
}

void jnRestMaskedSprings(jnCharacter* c)
{
    for (int block = 0; c->masked && block < c->springBlocks; ++block) {
        for (int i = 0; i < 2 && !c->mask[block]; ++i) {
            memset(c->springs->states[i] + (size_t)block * JN_STATE_SIZE, 0, JN_STATE_SIZE * sizeof(float));
        }
    }
}

// A run of blocks that rest: the sample goes into the history and out again, nothing is advanced.
static void ShowBlocks(jnCharacter* c, int first, int end)
{
    jnSprings* springs = c->springs;
    jnStepPass pass = springs->pass;
    if (pass.filled && pass.inputFrame == NULL && pass.outputFrame == NULL && pass.velocities == NULL) {
        int last = end * JN_LANES < springs->count ? end * JN_LANES : springs->count;
        jnPackField(pass.base, 0, first * JN_LANES, last, c->positions);
        return;
    }
    pass.nextState = NULL;
    springs->kernels->runPass(&pass, first, end);
}

static void StepBlocks(jnCharacter* c, int first, int end)
{
    while (first < end) {
        int run = first;
        bool moves = !c->masked || c->mask[first];
        while (run < end && (!c->masked || (c->mask[run] != 0) == moves)) {
            ++run;
        }
        if (moves) {
            jnSprings_StepBlocks(c->springs, first, run);
        } else {
            ShowBlocks(c, first, run);
        }
        first = run;
    }
}

static void StepSprings(jnCharacter* c, const jnCharacterInput* in, const jnSpringsOutput* out)
{
    jnSprings* springs = c->springs;
    int blocks = c->springBlocks;
    // A root in a pause would make the springs follow it for good; without scaled inertia nothing needs it.
    bool felt = springs->inertia[0] != 1.0f || springs->inertia[1] != 1.0f;
    jnSpringsInput input = {.h = in->h, .teleport = in->teleport, .root = in->h > 0.0f || felt ? &c->root : NULL};
    float* slot = jnSprings_NextSlot(springs, in->h, in->teleport);
    if (slot == NULL) {
        jnSkinBlocks(c, 0, blocks, c->field, 0);
        jnPackField(c->field, 0, 0, springs->count, c->positions);
        input.targets = c->positions;
        jnSprings_BeginStep(springs, &input, out);
    } else {
        jnSprings_BeginFilledStep(springs, &input, out);
    }
    for (int first = 0; first < blocks; first += CHUNK) {
        int end = first + CHUNK < blocks ? first + CHUNK : blocks;
        if (slot != NULL) {
            jnSkinBlocks(c, first, end, slot, 0);
        }
        StepBlocks(c, first, end);
    }
    jnSprings_EndStep(springs);
}

// The components are all the weights there are beside springs of single vertices.
static void ShowComponents(jnCharacter* c, const jnCharacterOutput* output)
{
    if (output != NULL) {
        jnDeliverWeights(c, c->weights, output->weights);
    }
}

// Coordinates begin where the newest pose says: what springs and tail know of the past is moved there.
static void FollowOrigin(jnCharacter* c)
{
    double shift[3];
    bool moves = false;
    for (int i = 0; i < 3; ++i) {
        shift[i] = c->past[i] - c->origin[i];
        moves = moves || shift[i] != 0.0;
        c->past[i] = c->origin[i];
    }
    if (moves && c->springs->clock.sampleCount > 0) {
        jnSprings_Shift(c->springs, shift);
        jnShiftTail(c, shift);
    }
}

// What colliders do to a surface of springs, which do not feel it.
static void TouchVertices(jnCharacter* c)
{
    double stack[12 * JN_STACK_JOINTS], *matrices = c->matrices != NULL ? c->matrices : stack;
    if (!c->isTouched) {
        return;
    }
    for (size_t i = 0; i < 12 * (size_t)c->asset->jointCount; ++i) {
        double origin = i % 4 == 3 ? c->origin[i % 12 / 4] : 0.0;
        matrices[i] = (double)c->palette[i / 12 * JN_PALETTE_SIZE + i % 12] + origin;
    }
    jnTouch(c, matrices, NULL, c->positions, jn_touchStill);
    jnDent(c);
}

static void StepVertices(jnCharacter* c, const jnCharacterInput* input, const jnCharacterOutput* output)
{
    jnSpringsOutput out = OwnOutput(c, output);
    jnUsePose(c, &input->pose, true);
    FollowOrigin(c);
    StepSprings(c, input, &out);
    jnStepTail(c, jnCleanTime(input->h), input->teleport);
    jnShowTail(c, 1.0, out.velocities != NULL);
    TouchVertices(c);
    ShowComponents(c, output);
    jnDeliver(c, output, true);
}

static bool AllThere(jnCharacter* const* characters, int count)
{
    bool there = true;
    for (int i = 0; i < count; ++i) {
        there = there && characters[i] != NULL;
    }
    return there;
}

void jnStepCharacters(
    jnCharacter* const* characters, const jnCharacterInput* inputs, const jnCharacterOutput* outputs, int count)
{
    if (JN_BROKEN(count >= 0 && (count == 0 || (characters != NULL && inputs != NULL))) ||
        JN_BROKEN(AllThere(characters, count))) {
        return;
    }
    for (int i = 0; i < count; ++i) {
        characters[i]->seconds += (double)jnCleanTime(inputs[i].h);
    }
    // Characters without springs of single vertices go together, as far as they are of one asset.
    for (int first = 0, end; first < count; first = end) {
        end = first + 1;
        if (characters[first]->morphs == NULL) {
            StepVertices(characters[first], &inputs[first], outputs != NULL ? &outputs[first] : NULL);
            continue;
        }
        while (end < count && characters[end]->morphs != NULL && characters[end]->asset == characters[first]->asset) {
            ++end;
        }
        jnStepMorphs(characters + first, inputs + first, outputs != NULL ? outputs + first : NULL, end - first);
    }
}

void jnCharacter_Step(jnCharacter* c, const jnCharacterInput* input, const jnCharacterOutput* output)
{
    jnStepCharacters(&c, input, output, 1);
}

void jnStepOnTargets(jnCharacter* c, const jnCharacterInput* in, const float* targets)
{
    jnSpringsOutput own = OwnOutput(c, NULL);
    jnSprings_Step(c->springs, &(jnSpringsInput){.h = in->h, .targets = targets}, &own);
}

void jnCharacter_Reset(jnCharacter* c, const jnCharacterInput* input, const jnCharacterOutput* output)
{
    if (JN_BROKEN(c != NULL && input != NULL)) {
        return;
    }
    jnCharacterInput first = *input;
    first.teleport = jn_teleportReset;
    jnCharacter_Step(c, &first, output);
}

// The pose at hand as it is.
static void ShowPose(jnCharacter* c, const jnCharacterOutput* output)
{
    const jnAsset* a = c->asset;
    ShowComponents(c, output);
    if (output == NULL || (output->positions == NULL && output->normals == NULL) || JN_BROKEN(!c->weightsOnly)) {
        return;
    }
    for (int first = 0; first < a->blockCount; first += CHUNK) {
        float field[CHUNK * JN_FIELD_SIZE];
        int end = first + CHUNK < a->blockCount ? first + CHUNK : a->blockCount;
        int last = end * JN_LANES < a->vertexCount ? end * JN_LANES : a->vertexCount;
        jnSkinBlocks(c, first, end, field, first);
        jnPackField(field, first, first * JN_LANES, last, c->positions);
    }
    jnDeliver(c, output, false);
}

void jnCharacter_Skin(jnCharacter* c, const jnPose* pose, const jnCharacterOutput* output)
{
    if (!JN_BROKEN(c != NULL && pose != NULL)) {
        jnUsePose(c, pose, false);
        ShowPose(c, output);
    }
}

void jnCharacter_Target(jnCharacter* c, const jnPose* pose, const jnCharacterOutput* output)
{
    if (!JN_BROKEN(c != NULL && pose != NULL)) {
        jnUsePose(c, pose, true);
        ShowPose(c, output);
    }
}

void jnCharacter_Finish(jnCharacter* c, const jnCharacterOutput* output)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
    if (c->morphs != NULL) {
        jnMorphs_Finish(c->morphs);
        jnShowMorphs(c, 1.0, output);
        return;
    }
    jnSpringsOutput out = OwnOutput(c, output);
    jnSprings_Finish(c->springs, &out);
    jnRestMaskedSprings(c);
    if (c->lags) {
        jnStopTail(c);
    }
    jnShowTail(c, 1.0, out.velocities != NULL);
    jnDeliver(c, output, true);
}

void jnCharacter_Evaluate(jnCharacter* c, float fraction, const jnCharacterOutput* output)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
    double share = fmin(fmax((double)fraction, 0.0), 1.0);
    if (c->morphs != NULL) {
        jnShowMorphs(c, share, output);
        return;
    }
    jnSpringsOutput out = OwnOutput(c, output);
    jnSprings_Evaluate(c->springs, fraction, &out);
    jnShowTail(c, share, out.velocities != NULL);
    jnDent(c);
    jnDeliver(c, output, true);
}

void jnCharacter_Settle(jnCharacter* c, double seconds, const jnCharacterOutput* output)
{
    if (JN_BROKEN(c != NULL)) {
        return;
    }
    if (c->morphs != NULL) {
        jnMorphs_Settle(c->morphs, seconds);
        jnShowMorphs(c, 1.0, output);
        return;
    }
    jnSpringsOutput out = OwnOutput(c, output);
    jnSprings_Settle(c->springs, seconds, &out);
    jnRestMaskedSprings(c);
    jnStopTail(c);
    jnShowTail(c, 1.0, out.velocities != NULL);
    jnDeliver(c, output, true);
}

// Springs of single vertices: all targets of the loop first.
static jnResult LoopVertices(jnCharacter* c, const jnCharacterLoop* loop, int* unsolved, jnError* error)
{
    size_t springs = (size_t)c->springCount, frames = (size_t)loop->frameCount;
    if (springs > SIZE_MAX / DENSE / frames) {
        return jnFail(error, jn_outOfMemory, "a loop of %d poses is too long", loop->frameCount);
    }
    float* targets = jnAllocate(&c->allocator, springs * frames * DENSE);
    if (targets == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for a loop of %d poses", loop->frameCount);
    }
    for (size_t n = 0; n < frames; ++n) {
        jnUsePose(c, &loop->poses[n], true);
        jnSkinBlocks(c, 0, c->springBlocks, c->field, 0);
        jnPackField(c->field, 0, 0, (int)springs, targets + n * springs * 3);
    }
    jnSpringsLoop targetsLoop = {.targets = targets, .frameCount = loop->frameCount, .h = loop->h};
    jnResult result = jnSprings_SolveLoop(c->springs, &targetsLoop, unsolved, error);
    jnRestMaskedSprings(c);
    jnRelease(&c->allocator, targets);
    memcpy(c->past, c->origin, sizeof(c->past));
    // With exact timing the springs have already taken pose 1, and stand at pose 0.
    c->tail.sampleCount = 0;
    for (int n = -2; result == jn_ok && n <= (c->lags ? 1 : 0); ++n) {
        jnUsePose(c, &loop->poses[((size_t)(n + 2) + frames - 2) % frames], true);
        jnStepTail(c, (double)loop->h, jn_teleportNone);
    }
    return result;
}

jnResult jnCharacter_SolveLoop(jnCharacter* c, const jnCharacterLoop* loop, int* unsolved, jnError* error)
{
    int own = 0, *count = unsolved != NULL ? unsolved : &own;
    *count = 0;
    JN_NEED(error, c != NULL && loop != NULL);
    if (loop->frameCount < 3) {
        return jnFail(error, jn_badArgument, "a loop needs at least 3 poses, not %d", loop->frameCount);
    }
    JN_NEED(error, loop->poses != NULL);
    return c->morphs != NULL ? jnLoopMorphs(c, loop, count, error) : LoopVertices(c, loop, count, error);
}
