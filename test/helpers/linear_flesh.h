// A simulator of linear flesh: the elasticity of the rest pose in frames that turn with the skeleton.
//
// Node n has a target x^ (where the skeleton puts it) and a rotation R. With u = R^T (x - x^),
//     M x'' = -R (K u + C u'),   C = massDamping M + stiffnessDamping K
// which is exact for small strains around one rigid core. It is what modes are a reduction of, so what they lose is
// told apart from what the flesh's nonlinearity adds. Second order in time (BDF2), no numerical damping to speak of.
//
// BDF2: v1 = (3 x1 - 4 x0 + x-1) / 2s and a1 = (3 v1 - 4 v0 + v-1) / 2s over a step s. With x1 = x^1 + R1 u1 the step
// is
//     (9/(4 s^2) M + 3/(2 s) C + K) u1 = -M R1^T (known part of a1) - C (known part of u1'),
// one matrix for the whole run.
#pragma once

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "modes/elastic.h"

#include <string.h>

// Targets [nodeCount][3] and unit quaternions [nodeCount][4] (x, y, z, w) at a time, seconds.
typedef void LinearPose(double seconds, double* targets, double* rotations, void* user);

// One frame's outcome; positions and targets are [nodeCount][3].
typedef void LinearFrame(int frame, const double* targets, const double* positions, void* user);

typedef struct LinearFleshDef {
    const jnaVolume* volume;
    jnaElastic* elastic;     // of the volume; its factor is replaced
    double massDamping;      // 1/s
    double stiffnessDamping; // s
    double dt;               // seconds between frames
    int frameCount;
    int substeps; // steps a frame
    LinearPose* pose;
    LinearFrame* take;
    void* user;
} LinearFleshDef;

typedef struct LinearState {
    double *targets, *rotations;                      // [nodeCount][3], [nodeCount][4], at the new time
    double *positions[2], *velocities[2], *offset[2]; // [nodeCount][3] now and before; offsets in frames
    double *right, *drag, *force;                     // [freeCount][3]
} LinearState;

static inline jnResult AllocateLinear(LinearState* s, jnaArena* arena, int nodes, int freeNodes, jnError* error)
{
    for (int i = 0; i < 2; ++i) {
        s->positions[i] = jnaArena_Take(arena, nodes, 3 * sizeof(double));
        s->velocities[i] = jnaArena_Take(arena, nodes, 3 * sizeof(double));
        s->offset[i] = jnaArena_Take(arena, nodes, 3 * sizeof(double));
    }
    s->targets = jnaArena_Take(arena, nodes, 3 * sizeof(double));
    s->rotations = jnaArena_Take(arena, nodes, 4 * sizeof(double));
    s->right = jnaArena_Take(arena, freeNodes, 3 * sizeof(double));
    s->drag = jnaArena_Take(arena, freeNodes, 3 * sizeof(double));
    s->force = jnaArena_Take(arena, freeNodes, 3 * sizeof(double));
    return jnaArena_Check(arena, "the nodes of linear flesh", error);
}

static inline jnResult StepLinear(const LinearFleshDef* def, LinearState* s, double step, jnError* error)
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

// Runs from frame 0, where the flesh is on its targets and moves with them.
static inline jnResult SimulateLinearFlesh(const LinearFleshDef* def, jnError* error)
{
    double step = def->dt / def->substeps;
    LinearState s = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(AllocateLinear(&s, &arena, def->volume->nodeCount, jnaElastic_FreeCount(def->elastic), error));
    double stiffness = 1 + 1.5 / step * def->stiffnessDamping;
    double mass = 2.25 / (step * step) + 1.5 / step * def->massDamping;
    JN_TRY(jnaElastic_Factor(def->elastic, stiffness, mass, error));
    def->pose(step, s.velocities[0], s.rotations, def->user);
    def->pose(0, s.targets, s.rotations, def->user);
    for (size_t i = 0; i < 3 * (size_t)def->volume->nodeCount; ++i) {
        double v = (s.velocities[0][i] - s.targets[i]) / step;
        s.positions[0][i] = s.targets[i];
        s.positions[1][i] = s.targets[i] - step * v;
        s.velocities[0][i] = s.velocities[1][i] = v;
    }
    def->take(0, s.targets, s.positions[0], def->user);
    for (int frame = 1; frame < def->frameCount; ++frame) {
        for (int k = 1; k <= def->substeps; ++k) {
            def->pose((frame - 1) * def->dt + k * step, s.targets, s.rotations, def->user);
            JN_TRY(StepLinear(def, &s, step, error));
        }
        def->take(frame, s.targets, s.positions[0], def->user);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
