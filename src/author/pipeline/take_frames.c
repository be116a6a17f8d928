// See take_frames.h.
#include "pipeline/take_frames.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/skin_frame.h"
#include "modes/modal_motion.h"

#include "runtime/for_author.h"

#include <stdlib.h>

void jnaDestroyTakeFrames(jnaTakeFrames* frames)
{
    free(frames->turns);
    free(frames->matrices);
    free(frames->rotations);
    *frames = (jnaTakeFrames){0};
}

jnResult jnaMakeTakeFrames(
    const jnaCharacter* c, const jnaClip* clip, int first, int count, jnaTakeFrames* frames, jnError* error)
{
    size_t joints = 4 * (size_t)c->jointCount, vertices = 4 * (size_t)c->vertexCount;
    jnaArena arena = {0};
    frames->matrices = jnaArena_Give(&arena, count * (int64_t)joints, 3 * sizeof(float));
    frames->turns = jnaArena_Give(&arena, count * (int64_t)joints, sizeof(float));
    frames->rotations = jnaArena_Give(&arena, count * (int64_t)vertices, sizeof(float));
    if (arena.failed) {
        jnaDestroyTakeFrames(frames);
    }
    JN_PASS(jnaArena_Check(&arena, "the frames of a clip", error));
    for (int n = 0; n < count; ++n) {
        float* matrices = frames->matrices + 3 * (size_t)n * joints;
        jnaPoseMatrices(c, clip, first + n, matrices);
        jnaJointTurns(c, matrices, frames->turns + (size_t)n * joints);
        jnaToSkinMatrices(c, matrices);
    }
#pragma omp parallel for schedule(static)
    for (int n = 0; n < count; ++n) {
        jnaVertexRotations(c, frames->turns + (size_t)n * joints, frames->rotations + (size_t)n * vertices);
    }
    return jn_ok;
}
