// Frames of a clip whose equilibrium was not found, filled in between those beside them.
//
// What the solver left there is no shape of the flesh, and as a target it would shake all that hangs on it.
#include "pipeline/takes.h"

#include "modes/modal_motion.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// A surface that is carried along by the skinned one.
typedef struct Carrier {
    const jnaTakes* takes;
    const jnaTake* take;
    float *matrices, *turns;    // of the joints
    float *skinned, *rotations; // of the vertices in the frame at hand
    double* displacements[2];   // [vertexCount][3], in the skinned frames, of the solved frames before and after
} Carrier;

static void Carry(Carrier* c, int frame)
{
    const jnaCharacter* character = c->takes->character;
    jnaPoseMatrices(character, &c->takes->clips[c->take->clip], c->take->first + frame, c->matrices);
    jnaSkin(character, c->matrices, c->skinned);
    jnaJointTurns(character, c->matrices, c->turns);
    jnaVertexRotations(character, c->turns, c->rotations);
}

// out = R v, or R^T v.
static void TurnVector(const float* rotation, bool back, const double v[3], double out[3])
{
    double q[4];
    for (int i = 0; i < 4; ++i) {
        q[i] = back && i < 3 ? -(double)rotation[i] : (double)rotation[i];
    }
    jnaQuat_Rotate(q, v, out);
}

static void FindDisplacements(Carrier* c, int frame, const float* surface, double* displacements)
{
    Carry(c, frame);
    for (size_t v = 0; v < (size_t)c->takes->character->vertexCount; ++v) {
        double off[3];
        for (size_t a = 0; a < 3; ++a) {
            off[a] = (double)surface[3 * v + a] - (double)c->skinned[3 * v + a];
        }
        TurnVector(c->rotations + 4 * v, true, off, displacements + 3 * v);
    }
}

// Frames [begin, end) from those beside them.
static void FillBetween(Carrier* c, int begin, int end, float* targets)
{
    size_t vertices = (size_t)c->takes->character->vertexCount, width = 3 * vertices;
    int before = begin - 1, after = end < c->take->frameCount ? end : -1;
    if (before >= 0) {
        FindDisplacements(c, before, targets + (size_t)before * width, c->displacements[0]);
    }
    if (after >= 0) {
        FindDisplacements(c, after, targets + (size_t)after * width, c->displacements[1]);
    }
    for (int n = begin; n < end; ++n) {
        double share = before < 0 ? 1 : after < 0 ? 0 : (double)(n - before) / (after - before);
        Carry(c, n);
        for (size_t v = 0; v < vertices; ++v) {
            double local[3] = {0}, off[3];
            for (size_t a = 0; a < 3; ++a) {
                local[a] += before >= 0 ? (1 - share) * c->displacements[0][3 * v + a] : 0;
                local[a] += after >= 0 ? share * c->displacements[1][3 * v + a] : 0;
            }
            TurnVector(c->rotations + 4 * v, false, local, off);
            for (size_t a = 0; a < 3; ++a) {
                targets[(size_t)n * width + 3 * v + a] = (float)((double)c->skinned[3 * v + a] + off[a]);
            }
        }
    }
}

jnResult jnaFillUnsolved(const jnaTakes* t, const jnaTake* take, float* targets, jnError* error)
{
    int joints = t->character->jointCount, vertices = t->character->vertexCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    Carrier c = {.takes = t, .take = take};
    c.matrices = jnaArena_Take(&arena, joints, 12 * sizeof(float));
    c.turns = jnaArena_Take(&arena, joints, 4 * sizeof(float));
    c.skinned = jnaArena_Take(&arena, vertices, 3 * sizeof(float));
    c.rotations = jnaArena_Take(&arena, vertices, 4 * sizeof(float));
    c.displacements[0] = jnaArena_Take(&arena, vertices, 3 * sizeof(double));
    c.displacements[1] = jnaArena_Take(&arena, vertices, 3 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "frames that were not solved", error));
    for (int n = 0; n < take->frameCount; ++n) {
        int begin = n;
        while (n < take->frameCount && take->solved[n] == 0) {
            n++;
        }
        if (n > begin && n - begin < take->frameCount) {
            FillBetween(&c, begin, n, targets);
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
