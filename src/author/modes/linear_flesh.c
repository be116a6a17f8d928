// BDF2: v1 = (3 x1 - 4 x0 + x-1) / 2s and a1 = (3 v1 - 4 v0 + v-1) / 2s over a step s. With x1 = x^1 + R1 u1 the step
// is
//     (9/(4 s^2) M + 3/(2 s) C + K) u1 = -M R1^T (known part of a1) - C (known part of u1'),
// one matrix for the whole run.
#include "modes/linear_flesh.h"

#include "base/affine.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

typedef struct State {
    double *targets, *rotations;                      // [nodeCount][3], [nodeCount][4], at the new time
    double *positions[2], *velocities[2], *offset[2]; // [nodeCount][3] now and before; offsets in frames
    double *right, *drag, *force;                     // [freeCount][3]
    double* block;
} State;

static bool Allocate(State* s, size_t nodes, size_t freeNodes)
{
    s->block = calloc(nodes * 3 * 7 + nodes * 4 + freeNodes * 3 * 3, sizeof(double));
    if (s->block == NULL) {
        return false;
    }
    double* at = s->block;
    double** arrays[7] = {&s->targets, &s->positions[0], &s->positions[1], &s->velocities[0], &s->velocities[1],
        &s->offset[0], &s->offset[1]};
    for (int i = 0; i < 7; ++i, at += 3 * nodes) {
        *arrays[i] = at;
    }
    s->rotations = at;
    s->right = at + 4 * nodes;
    s->drag = s->right + 3 * freeNodes;
    s->force = s->drag + 3 * freeNodes;
    return true;
}

static jnResult Step(const jnaLinearFleshDef* def, State* s, double step, jnError* error)
{
    const int* nodes = jnaElastic_FreeNodes(def->elastic);
    const double* masses = jnaElastic_Masses(def->elastic);
    size_t freeCount = (size_t)jnaElastic_FreeCount(def->elastic), count = (size_t)def->volume->nodeCount;
    double half = 1 / (2 * step);
    for (size_t i = 0; i < 3 * freeCount; ++i) {
        size_t n = 3 * (size_t)nodes[i / 3] + i % 3;
        s->drag[i] = half * (4 * s->offset[0][n] - s->offset[1][n]); // -(known part of u')
    }
    jnaElastic_Apply(def->elastic, s->drag, s->force);
    for (size_t f = 0; f < freeCount; ++f) {
        size_t n = (size_t)nodes[f];
        double known[3], turned[3], inverse[4];
        for (size_t a = 0; a < 3; ++a) {
            size_t i = 3 * n + a;
            double v = half * (3 * s->targets[i] - 4 * s->positions[0][i] + s->positions[1][i]);
            known[a] = half * (3 * v - 4 * s->velocities[0][i] + s->velocities[1][i]);
        }
        jnaQuat_Conjugate(s->rotations + 4 * n, inverse);
        jnaQuat_Rotate(inverse, known, turned);
        for (size_t a = 0; a < 3; ++a) {
            size_t i = 3 * f + a;
            s->right[i] = -masses[n] * turned[a] + def->massDamping * masses[n] * s->drag[i] +
                          def->stiffnessDamping * s->force[i];
        }
    }
    jnResult result = jnaElastic_Solve(def->elastic, s->right, error);
    memcpy(s->offset[1], s->offset[0], 3 * count * sizeof(double));
    for (size_t f = 0; f < freeCount; ++f) {
        memcpy(s->offset[0] + 3 * (size_t)nodes[f], s->right + 3 * f, 3 * sizeof(double));
    }
    for (size_t n = 0; n < count; ++n) {
        double moved[3];
        jnaQuat_Rotate(s->rotations + 4 * n, s->offset[0] + 3 * n, moved);
        for (size_t a = 0; a < 3; ++a) {
            size_t i = 3 * n + a;
            double x = s->targets[i] + moved[a];
            double v = half * (3 * x - 4 * s->positions[0][i] + s->positions[1][i]);
            s->positions[1][i] = s->positions[0][i];
            s->positions[0][i] = x;
            s->velocities[1][i] = s->velocities[0][i];
            s->velocities[0][i] = v;
        }
    }
    return result;
}

jnResult jnaSimulateLinearFlesh(const jnaLinearFleshDef* def, jnError* error)
{
    size_t count = (size_t)def->volume->nodeCount;
    double step = def->dt / def->substeps;
    State s = {0};
    if (!Allocate(&s, count, (size_t)jnaElastic_FreeCount(def->elastic))) {
        return jnFail(error, jn_outOfMemory, "out of memory to simulate %zu nodes", count);
    }
    double stiffness = 1 + 1.5 / step * def->stiffnessDamping;
    double mass = 2.25 / (step * step) + 1.5 / step * def->massDamping;
    jnResult result = jnaElastic_Factor(def->elastic, stiffness, mass, error);
    if (result == jn_ok) {
        def->pose(step, s.velocities[0], s.rotations, def->user);
        def->pose(0, s.targets, s.rotations, def->user);
        for (size_t i = 0; i < 3 * count; ++i) {
            double v = (s.velocities[0][i] - s.targets[i]) / step;
            s.positions[0][i] = s.targets[i];
            s.positions[1][i] = s.targets[i] - step * v;
            s.velocities[0][i] = s.velocities[1][i] = v;
        }
        def->take(0, s.targets, s.positions[0], def->user);
    }
    for (int frame = 1; frame < def->frameCount && result == jn_ok; ++frame) {
        for (int k = 1; k <= def->substeps && result == jn_ok; ++k) {
            def->pose((frame - 1) * def->dt + k * step, s.targets, s.rotations, def->user);
            result = Step(def, &s, step, error);
        }
        if (result == jn_ok) {
            def->take(frame, s.targets, s.positions[0], def->user);
        }
    }
    free(s.block);
    return result;
}
