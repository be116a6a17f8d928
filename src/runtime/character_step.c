// The step of a character: pose, skinning, springs, normals, and the way into the caller's arrays.
//
// Blocks are skinned straight into the slot of the springs' history that the sample goes to, a few dozen at a time, and
// stepped while they are still in the cache. Steps that do not take a sample in the ordinary way (the first, pauses,
// teleports) are rare and go through plain arrays.
#include "character_internal.h"

#include <math.h>
#include <string.h>

enum { DENSE = 3 * sizeof(float), CHUNK = 32 };

// Makes a pose the one at hand. One that is not finite leaves the last good one in place.
static void TakePose(jnCharacter* c, const jnPose* pose)
{
    const jnAsset* asset = c->asset;
    if (!jnMakeGlobals(asset, pose, c->globals)) {
        c->badPoseCount++;
        return;
    }
    jnMakePalette(asset, c->globals, c->palette);
    if (asset->skinning == jn_skinDual || c->modes != NULL) {
        c->stretches = jnMakeDuals(asset, c->globals, c->duals, c->stretchPalette);
    }
}

// The same for targets: what the network makes of the pose too.
static void TakeTargetPose(jnCharacter* c, const jnPose* pose)
{
    uint64_t bad = c->badPoseCount;
    TakePose(c, pose);
    if (c->badPoseCount == bad && c->network.head != NULL && c->networkState.strength != 0.0f) {
        jnMakeTurns(c->asset, c->globals, c->networkState.turns);
        jnNetwork_Evaluate(&c->network, c->asset, c->networkKernels, &c->networkState);
    }
}

// Copies vectors to the caller: number map[i] to place i, or number i where there is no map.
static void Deliver(const float* from, const int32_t* map, int count, float* to, size_t stride)
{
    stride = stride != 0 ? stride : DENSE;
    if (map == NULL && stride == DENSE) {
        memcpy(to, from, (size_t)count * DENSE);
        return;
    }
    char* at = (char*)to;
    for (int i = 0; i < count; ++i, at += stride) {
        memcpy(at, from + 3 * (size_t)(map != NULL ? map[i] : i), DENSE);
    }
}

static void MakeNormals(jnCharacter* c)
{
    const jnAsset* asset = c->asset;
    jnNormalsPass pass = {
        .positions = c->positions,
        .ringStarts = asset->ringStarts,
        .rings = asset->rings,
        .normals = c->normals,
    };
    c->kernels->makeNormals(&pass, 0, jnBlockCount(asset->normalCount));
}

// Hands out what the character's own arrays hold.
static void DeliverAll(jnCharacter* c, const jnCharacterOutput* output, bool hasVelocities)
{
    const jnAsset* asset = c->asset;
    if (output == NULL) {
        return;
    }
    const int32_t* weld = output->welded || asset->weldIsIdentity ? NULL : asset->weld;
    const int32_t* normals = output->welded || asset->normalsAreIdentity ? NULL : asset->fileNormals;
    int count = output->welded ? asset->vertexCount : asset->fileVertexCount;
    if (output->positions != NULL) {
        Deliver(c->positions, weld, count, output->positions, output->positionStride);
    }
    if (output->velocities != NULL && hasVelocities) {
        Deliver(c->velocities, weld, count, output->velocities, output->velocityStride);
    }
    if (output->normals != NULL) {
        MakeNormals(c);
        Deliver(c->normals, normals, output->welded ? asset->normalCount : asset->fileVertexCount, output->normals,
            output->normalStride);
    }
}

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

static void StepSprings(jnCharacter* c, const jnCharacterInput* in, const jnSpringsOutput* asked)
{
    jnSprings* springs = c->springs;
    // What the modes do not add to directly is shown once they have moved.
    bool modal = c->modes != NULL, direct = !modal || (!jnVerticesRest(c) && jnModesShowDirectly(c, asked));
    const jnSpringsOutput* out = direct ? asked : &(jnSpringsOutput){0};
    uint32_t steps = springs->clock.steps;
    int blocks = c->springBlocks;
    jnTransform root = jnRigidPart(c->globals);
    // A root in a pause would make the springs follow it for good; without scaled inertia nothing needs it.
    bool felt = springs->inertia[0] != 1.0f || springs->inertia[1] != 1.0f;
    jnSpringsInput input = {.h = in->h, .teleport = in->teleport, .root = in->h > 0.0f || felt ? &root : NULL};
    float* slot = jnSprings_NextSlot(springs, in->h, in->teleport);
    if (slot == NULL) {
        jnTargetBlocks(c, 0, blocks, c->field, 0);
        jnPackField(c->field, 0, 0, springs->count, c->positions);
        input.targets = c->positions;
    }
    if (slot == NULL) {
        jnSprings_BeginStep(springs, &input, out);
    } else {
        jnSprings_BeginFilledStep(springs, &input, out);
    }
    for (int first = 0; first < blocks; first += CHUNK) {
        int end = first + CHUNK < blocks ? first + CHUNK : blocks;
        if (slot != NULL) {
            jnTargetBlocks(c, first, end, slot, 0);
        }
        if (!jnVerticesRest(c) || !springs->pass.filled || springs->pass.inputFrame != NULL ||
            springs->clock.dirty > 0) {
            StepBlocks(c, first, end);
        }
    }
    jnSprings_EndStep(springs);
    if (modal) {
        jnStepModes(c, springs->clock.steps != steps && !springs->restarted);
        if (direct) {
            jnAddModes(c);
        } else {
            jnShowModes(c, 1.0, asked);
        }
    }
}

void jnCharacter_Step(jnCharacter* c, const jnCharacterInput* input, const jnCharacterOutput* output)
{
    jnSpringsOutput out = OwnOutput(c, output);
    TakeTargetPose(c, &input->pose);
    if (c->springs != NULL) {
        StepSprings(c, input, &out);
    }
    jnStepTail(c, input->h > 0.0f ? (double)input->h : 0.0, input->teleport);
    jnShowTail(c, 1.0, out.velocities != NULL);
    DeliverAll(c, output, true);
}

void jnStepOnTargets(jnCharacter* c, const jnCharacterInput* in, const float* targets)
{
    if (c->springs == NULL) {
        return;
    }
    jnSpringsOutput own = OwnOutput(c, NULL);
    uint32_t steps = c->springs->clock.steps;
    bool direct = c->modes == NULL || (!jnVerticesRest(c) && jnModesShowDirectly(c, &own));
    TakePose(c, &in->pose);
    jnSprings_Step(c->springs, &(jnSpringsInput){.h = in->h, .targets = targets}, direct ? &own : NULL);
    if (c->modes != NULL) {
        jnStepModes(c, c->springs->clock.steps != steps && !c->springs->restarted);
        if (direct) {
            jnAddModes(c);
        } else {
            jnShowModes(c, 1.0, &own);
        }
    }
}

void jnCharacter_Reset(jnCharacter* c, const jnCharacterInput* input, const jnCharacterOutput* output)
{
    jnCharacterInput first = *input;
    first.teleport = jn_teleportReset;
    jnCharacter_Step(c, &first, output);
}

void jnCharacter_Skin(jnCharacter* c, const jnPose* pose, const jnCharacterOutput* output)
{
    TakePose(c, pose);
    jnSkinBlocks(c, 0, c->asset->blockCount, c->field, 0);
    jnPackField(c->field, 0, 0, c->asset->vertexCount, c->positions);
    DeliverAll(c, output, false);
}

void jnCharacter_Target(jnCharacter* c, const jnPose* pose, const jnCharacterOutput* output)
{
    TakeTargetPose(c, pose);
    jnTargetBlocks(c, 0, c->asset->blockCount, c->field, 0);
    jnPackField(c->field, 0, 0, c->asset->vertexCount, c->positions);
    DeliverAll(c, output, false);
}

void jnCharacter_Finish(jnCharacter* c, const jnCharacterOutput* output)
{
    jnSpringsOutput out = OwnOutput(c, output);
    if (c->modes != NULL) {
        jnFinishModes(c);
        jnRestMaskedSprings(c);
        jnShowModes(c, 1.0, &out);
    } else if (c->springs != NULL) {
        jnSprings_Finish(c->springs, &out);
        jnRestMaskedSprings(c);
    }
    if (c->lags) {
        jnStopTail(c);
    }
    jnShowTail(c, 1.0, out.velocities != NULL);
    DeliverAll(c, output, true);
}

void jnCharacter_Evaluate(jnCharacter* c, float fraction, const jnCharacterOutput* output)
{
    jnSpringsOutput out = OwnOutput(c, output);
    if (c->modes != NULL) {
        jnShowModes(c, fmin(fmax((double)fraction, 0.0), 1.0), &out);
    } else if (c->springs != NULL) {
        jnSprings_Evaluate(c->springs, fraction, &out);
    }
    jnShowTail(c, fmin(fmax((double)fraction, 0.0), 1.0), out.velocities != NULL);
    DeliverAll(c, output, true);
}

void jnCharacter_Settle(jnCharacter* c, double seconds, const jnCharacterOutput* output)
{
    jnSpringsOutput out = OwnOutput(c, output);
    if (c->modes != NULL) {
        if (seconds > 0.0 && c->springs->clock.sampleCount > 0) {
            jnFinishModes(c);
            jnModes_Settle(c->modes, c->springs, seconds);
        }
        jnSprings_Settle(c->springs, seconds, NULL);
        jnRestMaskedSprings(c);
        jnShowModes(c, 1.0, &out);
    } else if (c->springs != NULL) {
        jnSprings_Settle(c->springs, seconds, &out);
        jnRestMaskedSprings(c);
    }
    jnStopTail(c);
    jnShowTail(c, 1.0, out.velocities != NULL);
    DeliverAll(c, output, true);
}

jnResult jnCharacter_SolveLoop(jnCharacter* c, const jnCharacterLoop* loop, int* unsolved, jnError* error)
{
    size_t springs = (size_t)c->springCount, frames = (size_t)(loop->frameCount > 0 ? loop->frameCount : 0);
    if (unsolved != NULL) {
        *unsolved = 0;
    }
    if (frames < 3) {
        return jnFail(error, jn_badArgument, "a loop needs at least 3 poses, not %d", loop->frameCount);
    }
    if (springs > SIZE_MAX / DENSE / frames) {
        return jnFail(error, jn_outOfMemory, "a loop of %d poses is too long", loop->frameCount);
    }
    float* targets = springs > 0 ? jnAllocate(&c->allocator, springs * frames * DENSE) : NULL;
    if (springs > 0 && targets == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for a loop of %d poses", loop->frameCount);
    }
    jnResult result = jn_ok;
    if (springs > 0) {
        for (size_t n = 0; n < frames; ++n) {
            TakeTargetPose(c, &loop->poses[n]);
            jnTargetBlocks(c, 0, c->springBlocks, c->field, 0);
            jnPackField(c->field, 0, 0, (int)springs, targets + n * springs * 3);
        }
        jnSpringsLoop targetsLoop = {.targets = targets, .frameCount = loop->frameCount, .h = loop->h};
        result = jnSprings_SolveLoop(c->springs, &targetsLoop, unsolved, error);
        if (result == jn_ok && c->modes != NULL) {
            result = jnLoopModes(c, loop, TakeTargetPose, unsolved, error);
        }
        jnRestMaskedSprings(c);
        jnRelease(&c->allocator, targets);
    }
    // With exact timing the springs have already taken pose 1, and stand at pose 0.
    c->tail.sampleCount = 0;
    for (int n = -2; result == jn_ok && n <= (c->lags ? 1 : 0); ++n) {
        TakeTargetPose(c, &loop->poses[((size_t)(n + 2) + frames - 2) % frames]);
        jnStepTail(c, (double)loop->h, jn_teleportNone);
    }
    return result;
}
