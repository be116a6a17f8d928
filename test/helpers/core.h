// Flesh around a rigid core that moves and turns: the smallest character whose dynamics are known.
#pragma once

#include "helpers/linear_flesh.h"
#include "helpers/volumes.h"

#include "modes/elastic.h"
#include "modes/modal_motion.h"

enum { CORE_FRAMES = 120 };
#define CORE_DT (1.0 / 30)

// Two motions, of other axes, frequencies and kinds.
typedef enum CoreMotion { CORE_JUMPING, CORE_BOXING, CORE_SHIFTING } CoreMotion;

typedef struct Core {
    TestVolume block;
    jnaElastic* elastic;
    CoreMotion motion;
    // What a run filled.
    float *targets, *rotations, *turns, *positions;
} Core;

static inline Core MakeCore(int cells)
{
    Core core = {0};
    core.block = MakeBlock(cells, cells, cells, (double[3]){0.3, 0.24, 0.2}, 0.15, 2);
    jnaVolume* v = &core.block.volume;
    v->jointCount = 2;
    v->regions = calloc((size_t)v->tetrahedronCount, 1);
    v->materials = malloc(sizeof(jnaMaterial));
    v->materialCount = 1;
    v->materials[0] = (jnaMaterial){.young = 20000, .poisson = 0.4, .density = 1000};
    v->heldBy = malloc((size_t)v->nodeCount * sizeof(int32_t));
    v->holdStrength = calloc((size_t)v->nodeCount, sizeof(float));
    v->rowStarts = malloc(((size_t)v->nodeCount + 1) * sizeof(int32_t));
    v->joints = calloc((size_t)v->nodeCount, sizeof(uint16_t));
    v->weights = malloc((size_t)v->nodeCount * sizeof(float));
    for (int n = 0; n <= v->nodeCount; ++n) {
        v->rowStarts[n] = n;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* x = v->nodes + 3 * n;
        bool inside = fabs(x[0] - 0.12) < 0.062 && fabs(x[1]) < 0.05 && fabs(x[2]) < 0.042;
        v->heldBy[n] = inside ? 0 : -1;
        v->weights[n] = 1;
    }
    jnError error = {0};
    if (jnaCreateElastic(v, NULL, &core.elastic, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    size_t numbers = (size_t)CORE_FRAMES * (size_t)v->vertexCount;
    core.targets = malloc(3 * numbers * sizeof(float));
    core.rotations = malloc(4 * numbers * sizeof(float));
    core.turns = malloc(CORE_FRAMES * 2 * 4 * sizeof(float));
    core.positions = malloc(3 * numbers * sizeof(float));
    return core;
}

static inline void DestroyCore(Core* core)
{
    jnaDestroyElastic(core->elastic);
    DestroyTestVolume(&core->block);
    free(core->targets);
    free(core->rotations);
    free(core->turns);
    free(core->positions);
}

// Place and rotation of the core at a time.
static inline void CorePose(CoreMotion motion, double t, double place[3], double q[4])
{
    double angles[3] = {0};
    if (motion == CORE_JUMPING) {
        place[0] = 0.02 * sin(2.1 * t);
        place[1] = 0.10 * sin(11.0 * t) + 0.03 * sin(17.0 * t + 1);
        place[2] = 0.03 * sin(5.3 * t + 2);
        angles[0] = 0.2 * sin(5.5 * t);
        angles[2] = 0.3 * sin(5.1 * t + 1);
    } else {
        place[0] = 0.12 * sin(7.3 * t) + 0.05 * sin(13.1 * t + 1);
        place[1] = 0.03 * sin(6.1 * t + 2);
        place[2] = 0.08 * sin(9.7 * t + 0.5);
        angles[1] = motion == CORE_BOXING ? 0.9 * sin(4.3 * t + 0.3) + 0.2 * sin(9.1 * t) : 0;
        angles[0] = motion == CORE_BOXING ? 0.25 * sin(6.7 * t) : 0;
    }
    double half = 0.5 * sqrt(angles[0] * angles[0] + angles[1] * angles[1] + angles[2] * angles[2]);
    double scale = half > 1e-9 ? sin(half) / (2 * half) : 0.5;
    for (int i = 0; i < 3; ++i) {
        q[i] = scale * angles[i];
    }
    q[3] = cos(half);
}

static inline void TurnBy(const double* q, const double* v, double* out)
{
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    out[0] = v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
}

static inline void PoseCore(double t, double* targets, double* rotations, void* user)
{
    const Core* core = user;
    double place[3], q[4];
    CorePose(core->motion, t, place, q);
    for (int n = 0; n < core->block.volume.nodeCount; ++n) {
        TurnBy(q, core->block.volume.nodes + 3 * n, targets + 3 * n);
        for (int i = 0; i < 3; ++i) {
            targets[3 * n + i] += place[i];
        }
        memcpy(rotations + 4 * n, q, sizeof(q));
    }
}

// Vertices are the first nodes.
static inline void TakeCore(int frame, const double* targets, const double* positions, void* user)
{
    Core* core = user;
    size_t vertices = (size_t)core->block.volume.vertexCount, at = (size_t)frame * vertices;
    double place[3], q[4];
    CorePose(core->motion, frame * CORE_DT, place, q);
    for (size_t i = 0; i < 3 * vertices; ++i) {
        core->targets[3 * at + i] = (float)targets[i];
        core->positions[3 * at + i] = (float)positions[i];
    }
    for (size_t i = 0; i < 4 * vertices; ++i) {
        core->rotations[4 * at + i] = (float)q[i % 4];
    }
    for (int i = 0; i < 8; ++i) {
        core->turns[8 * frame + i] = (float)q[i % 4];
    }
}

// Simulates a motion; the sequence points into the core.
static inline jnaModalSequence RunCore(Core* core, CoreMotion motion, double massDamping, int substeps)
{
    core->motion = motion;
    LinearFleshDef def = {.volume = &core->block.volume,
        .elastic = core->elastic,
        .massDamping = massDamping,
        .dt = CORE_DT,
        .frameCount = CORE_FRAMES,
        .substeps = substeps,
        .pose = PoseCore,
        .take = TakeCore,
        .user = core};
    jnError error = {0};
    if (SimulateLinearFlesh(&def, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return (jnaModalSequence){.frameCount = CORE_FRAMES,
        .vertexCount = core->block.volume.vertexCount,
        .dt = CORE_DT,
        .targets = core->targets,
        .rotations = core->rotations,
        .turns = core->turns,
        .motion = core->positions};
}

static inline jnaModes FindCoreModes(const Core* core, int count, jnaProjection kind)
{
    jnaModesDef def = jnaDefaultModesDef();
    def.count = count;
    def.cutoff = 1e6;
    def.threshold = 0;
    def.mixing = 0;
    def.speed = 0; // the flesh is linear
    def.kind = kind;
    jnaModes modes;
    jnError error = {0};
    if (jnaFindModes(&core->block.volume, &core->block.character, &def, NULL, &modes, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return modes;
}
