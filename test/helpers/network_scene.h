// Shapes whose truth is known, for the tests and benchmarks of the network: a rigged character whose flesh is displaced
// by a smooth function of its pose, bumps around each joint that swell, shear and twist with the joint's own turn and
// with that of its parent together.
#pragma once

#include "asset/character_pairs.h"
#include "character/character.h"
#include "learn/network.h"

#include "runtime/network.h"
#include "runtime/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct jnbShapes {
    jnaCharacter character;
    jnaPairs pairs;
    float* rotations; // [count][jointCount][4]
    float* positions; // [count][vertexCount][3]
    int count;
    double reach; // of a joint's bump, metres; 0: 0.12
} jnbShapes;

static inline uint64_t jnbNext(uint64_t* state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [-1, 1).
static inline double jnbUniform(uint64_t* state)
{
    return (double)(jnbNext(state) >> 11) * 0x1p-52 - 1.0;
}

// Up to four joints around a height, in units of a joint's length, the nearest with most weight.
static inline void jnbInfluence(double at, int joints, jnaInfluences* influences)
{
    double sum = 0.0;
    int used = joints < 4 ? joints : 4, first = (int)at - 2;
    first = first < 0 ? 0 : first > joints - used ? joints - used : first;
    *influences = (jnaInfluences){0};
    for (int k = 0; k < used; ++k) {
        double d = at - (first + k + 0.5), weight = 1.0 / (0.05 + d * d * d * d);
        int place = k;
        sum += weight;
        for (; place > 0 && (double)influences->weights[place - 1] < weight; --place) {
            influences->weights[place] = influences->weights[place - 1];
            influences->joints[place] = influences->joints[place - 1];
        }
        influences->weights[place] = (float)weight;
        influences->joints[place] = (uint16_t)(first + k);
    }
    for (int k = 0; k < used; ++k) {
        influences->weights[k] = (float)((double)influences->weights[k] / sum);
    }
}

// A tube along a chain of joints with UVs that are cut along one side: file vertices on the seam are there twice.
static inline jnResult jnbCreateUvTube(int rings, int segments, int joints, jnaCharacter* c, jnError* error)
{
    *c = (jnaCharacter){.name = "tube", .jointCount = joints, .partCount = 1};
    c->vertexCount = rings * segments;
    c->fileVertexCount = rings * (segments + 1);
    c->triangleCount = 2 * (rings - 1) * segments;
    jnResult result = jnaCharacter_Allocate(c, true, error);
    if (result != jn_ok) {
        return result;
    }
    const double length = 0.2;
    for (int j = 0; j < joints; ++j) {
        c->joints[j] = (jnaJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        c->joints[j].translation[1] = j > 0 ? (float)length : 0.0f;
        c->joints[j].inverseBind[0] = c->joints[j].inverseBind[5] = c->joints[j].inverseBind[10] = 1.0f;
        c->joints[j].inverseBind[7] = (float)(-length * j);
        c->joints[j].name[0] = (char)('a' + j % 26);
    }
    int32_t* triangle = c->triangles;
    for (int i = 0; i < c->fileVertexCount; ++i) {
        int r = i / (segments + 1), s = i % (segments + 1), v = r * segments + s % segments;
        double angle = 6.283185307179586 * s / segments, height = length * joints * r / (rings - 1);
        const double p[3] = {0.08 * cos(angle), height, -0.08 * sin(angle)};
        for (int axis = 0; axis < 3; ++axis) {
            c->positions[3 * v + axis] = (float)p[axis];
            c->fileNormals[3 * i + axis] = axis == 1 ? 0.0f : (float)(p[axis] / 0.08);
        }
        c->weld[i] = v;
        c->fileUvs[2 * i] = (float)(0.05 + 0.9 * s / segments);
        c->fileUvs[2 * i + 1] = (float)(0.05 + 0.9 * r / (rings - 1));
        jnbInfluence(height / length, joints, &c->influences[v]);
        if (r + 1 < rings && s < segments) {
            const int32_t two[6] = {i, i + 1, i + segments + 2, i, i + segments + 2, i + segments + 1};
            memcpy(triangle, two, sizeof(two));
            triangle += 6;
        }
    }
    c->parts[0].triangleCount = c->triangleCount;
    return jn_ok;
}

// A pose: every joint turned by up to `angle` about a random axis.
static inline void jnbRandomPose(const jnaCharacter* c, uint64_t* state, double angle, float* rotations)
{
    for (int j = 0; j < c->jointCount; ++j) {
        double axis[3] = {jnbUniform(state), jnbUniform(state), jnbUniform(state)};
        double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]) + 1e-9;
        double half = 0.5 * angle * jnbUniform(state) * (c->joints[j].parent >= 0 ? 1.0 : 0.0);
        const double turn[4] = {
            sin(half) * axis[0] / length, sin(half) * axis[1] / length, sin(half) * axis[2] / length, cos(half)};
        const float* r = c->joints[j].rotation;
        const double q[4] = {(double)r[0], (double)r[1], (double)r[2], (double)r[3]};
        float* out = rotations + 4 * j;
        out[0] = (float)(q[3] * turn[0] + q[0] * turn[3] + q[1] * turn[2] - q[2] * turn[1]);
        out[1] = (float)(q[3] * turn[1] + q[1] * turn[3] + q[2] * turn[0] - q[0] * turn[2]);
        out[2] = (float)(q[3] * turn[2] + q[2] * turn[3] + q[0] * turn[1] - q[1] * turn[0]);
        out[3] = (float)(q[3] * turn[3] - q[0] * turn[0] - q[1] * turn[1] - q[2] * turn[2]);
    }
}

// Displacements in the vertices' frames. numbers: [jointCount][6]; out: [vertexCount][3]
static inline void jnbTruth(const jnbShapes* s, const float* numbers, float* out)
{
    const jnaPairs* pairs = &s->pairs;
    const jnaCharacter* c = &s->character;
    const double reach = s->reach > 0.0 ? s->reach : 0.12, size = 0.1 * reach;
    memset(out, 0, sizeof(float) * 3 * (size_t)c->vertexCount);
    for (int j = 0; j < c->jointCount; ++j) {
        if (pairs->moves[j] == 0) {
            continue;
        }
        const float *x = numbers + 6 * (size_t)j, *y = numbers + 6 * (size_t)c->joints[j].parent;
        const float* bind = c->joints[j].inverseBind;
        // Without rest rotations the inverse bind matrix is a translation by minus the joint's place.
        const double centre[3] = {-(double)bind[3], -(double)bind[7], -(double)bind[11]};
        double bend = (1.0 - (double)x[0]) + (1.0 - (double)x[4]), both = (double)x[1] * (double)y[5];
        double shear = sin(2.0 * (double)x[2] + (double)x[5]), twist = (double)x[3] * fabs((double)x[3]) + both;
        for (int v = 0; v < c->vertexCount; ++v) {
            double d[3], square = 0.0;
            for (int axis = 0; axis < 3; ++axis) {
                d[axis] = ((double)c->positions[3 * v + axis] - centre[axis]) / reach;
                square += d[axis] * d[axis];
            }
            if (square < 9.0) {
                double bump = size * exp(-square);
                out[3 * v] += (float)(bump * (bend * d[0] + shear * d[1]));
                out[3 * v + 1] += (float)(bump * (0.5 * bend * d[1] + twist * d[2]));
                out[3 * v + 2] += (float)(bump * (bend * d[2] - twist * d[1] + 0.5 * shear));
            }
        }
    }
}

// The surface of a pose: the displaced rest surface, skinned.
static inline bool jnbMakeSurface(const jnbShapes* s, const float* rotations, float* positions)
{
    const jnAsset* a = s->pairs.asset;
    size_t joints = (size_t)a->jointCount, field = (size_t)a->blockCount * 3 * JN_LANES;
    double* globals = malloc(joints * 12 * sizeof(double));
    float* palette = aligned_alloc(JN_ALIGNMENT, jnAlignUp(joints * JN_PALETTE_SIZE * sizeof(float)));
    float *turns = malloc(joints * 4 * sizeof(float)), *numbers = malloc(joints * 6 * sizeof(float));
    float *skinned = malloc(field * sizeof(float)), *given = calloc(field, sizeof(float));
    float* truth = malloc(3 * sizeof(float) * (size_t)a->vertexCount);
    bool good = globals != NULL && palette != NULL && turns != NULL && numbers != NULL && skinned != NULL &&
                given != NULL && truth != NULL && jnMakeGlobals(a, &(jnPose){.rotations = rotations}, globals);
    if (good) {
        jnToSurface(a, globals);
        jnMakePalette(a, globals, palette);
        jnMakeTurns(a, globals, turns);
        jnPoseNumbers(a, turns, numbers);
        jnbTruth(s, numbers, truth);
        for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
            size_t v = i / 3;
            given[v / JN_LANES * 3 * JN_LANES + i % 3 * JN_LANES + v % JN_LANES] = truth[i];
        }
        memcpy(skinned, given, field * sizeof(float));
        jnFindRigKernels(jnBestKernel())
            ->skin(&(jnSkinPass){.rest = a->rest,
                       .starts = a->influenceStarts,
                       .joints = a->influenceJoints,
                       .weights = a->influenceWeights,
                       .palette = palette,
                       .displaced = true,
                       .field = skinned},
                0, a->blockCount);
        for (size_t i = 0; i < 3 * (size_t)a->vertexCount; ++i) {
            size_t v = i / 3;
            positions[i] = skinned[v / JN_LANES * 3 * JN_LANES + i % 3 * JN_LANES + v % JN_LANES];
        }
    }
    free(globals);
    free(palette);
    free(turns);
    free(numbers);
    free(skinned);
    free(given);
    free(truth);
    return good;
}

// Makes `count` random poses and their surfaces of a character that is there; the last `held` are for validation.
static inline jnResult jnbFillShapes(jnbShapes* s, int count, int held, uint64_t seed, jnError* error)
{
    size_t joints = (size_t)s->character.jointCount, vertices = (size_t)s->character.vertexCount;
    jnResult result = jnaCreateCharacterPairs(&s->character, jn_skinLinear, count, &s->pairs, error);
    if (result != jn_ok) {
        return result;
    }
    s->count = count;
    s->rotations = malloc((size_t)count * joints * 4 * sizeof(float));
    s->positions = malloc((size_t)count * vertices * 3 * sizeof(float));
    jnaPair* list = calloc((size_t)count, sizeof(*list));
    bool good = s->rotations != NULL && s->positions != NULL && list != NULL;
    uint64_t state = seed;
    for (int i = 0; good && i < count; ++i) {
        float* rotations = s->rotations + (size_t)i * joints * 4;
        jnbRandomPose(&s->character, &state, 1.0, rotations);
        list[i] = (jnaPair){.rotations = rotations,
            .positions = s->positions + (size_t)i * vertices * 3,
            .use = i >= count - held ? jna_pairValidation : jna_pairTrain};
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < (good ? count : 0); ++i) {
        jnbMakeSurface(s, list[i].rotations, s->positions + (size_t)i * vertices * 3);
    }
    result = good ? jnaPairs_Add(&s->pairs, count, list, error) : jn_outOfMemory;
    free(list);
    return result;
}

static inline void jnbDestroyShapes(jnbShapes* s)
{
    jnaDestroyPairs(&s->pairs);
    jnaDestroyCharacter(&s->character);
    free(s->rotations);
    free(s->positions);
    *s = (jnbShapes){0};
}
