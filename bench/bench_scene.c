// See bench_scene.h.
#include "bench_scene.h"
#include "asset/asset_writer.h"
#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOINT_LENGTH 0.1
#define RADIUS 0.15

static void FillJoints(jnaCharacter* c)
{
    for (int j = 0; j < c->jointCount; ++j) {
        jnaJoint* joint = &c->joints[j];
        *joint = (jnaJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        joint->translation[1] = j > 0 ? (float)JOINT_LENGTH : 0.0f;
        joint->inverseBind[0] = joint->inverseBind[5] = joint->inverseBind[10] = 1.0f;
        joint->inverseBind[7] = (float)(-JOINT_LENGTH * j);
        snprintf(joint->name, sizeof(joint->name), "joint%d", j);
    }
}

// The four joints around a height, the nearest with most weight.
static void FillInfluences(jnaInfluences* influences, double height)
{
    double at = height / JOINT_LENGTH, sum = 0.0, weights[JNB_INFLUENCES];
    int first = (int)at - 1 < 0 ? 0 : (int)at - 1;
    first = first > JNB_JOINTS - JNB_INFLUENCES ? JNB_JOINTS - JNB_INFLUENCES : first;
    for (int k = 0; k < JNB_INFLUENCES; ++k) {
        double d = at - (first + k);
        sum += weights[k] = 1.0 / (0.2 + d * d);
    }
    for (int k = 0; k < JNB_INFLUENCES; ++k) {
        influences->joints[k] = (uint16_t)(first + k);
        influences->weights[k] = (float)(weights[k] / sum);
    }
}

static void FillSurface(jnaCharacter* c, int rings, int segments)
{
    int32_t* triangle = c->triangles;
    for (int r = 0; r < rings; ++r) {
        for (int s = 0; s < segments; ++s) {
            int v = r * segments + s, around = (s + 1) % segments;
            double angle = JNA_TURN * s / segments, height = JOINT_LENGTH * (JNB_JOINTS - 1) * r / (rings - 1);
            const float p[3] = {(float)(RADIUS * cos(angle)), (float)height, (float)(-RADIUS * sin(angle))};
            const float n[3] = {(float)cos(angle), 0.0f, (float)-sin(angle)};
            memcpy(c->positions + 3 * v, p, sizeof(p));
            memcpy(c->fileNormals + 3 * v, n, sizeof(n));
            c->weld[v] = v;
            FillInfluences(&c->influences[v], height);
            if (r + 1 < rings) {
                int a = v, b = r * segments + around, d = a + segments, e = b + segments;
                const int32_t two[6] = {a, b, e, a, e, d};
                memcpy(triangle, two, sizeof(two));
                triangle += 6;
            }
        }
    }
}

jnResult jnbCreateTube(int rings, int segments, void** bytes, jnAsset** asset, jnError* error)
{
    jnaCharacter c = {.name = "tube", .jointCount = JNB_JOINTS, .partCount = 1};
    c.vertexCount = c.fileVertexCount = rings * segments;
    c.triangleCount = 2 * (rings - 1) * segments;
    *bytes = NULL;
    *asset = NULL;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_PASS(jnaCharacter_Allocate(&c, false, error));
    FillJoints(&c);
    FillSurface(&c, rings, segments);
    c.parts[0].triangleCount = c.triangleCount;
    float* springs = jnaArena_Take(&arena, c.vertexCount, 2 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the benchmark", error));
    for (int v = 0; v < c.vertexCount; ++v) {
        springs[v] = 600.0f;
        springs[c.vertexCount + v] = 10.0f;
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &c;
    def.stiffness = springs;
    def.damping = springs + c.vertexCount;
    size_t size = 0;
    JN_TRY(jnaEncodeAsset(&def, bytes, &size, error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = *bytes, .size = size}, asset, error));
done:
    jnaReleaseArena(&arena);
    jnaDestroyCharacter(&c);
    return result;
}

void jnbPoseTube(const jnAsset* asset, int frame, float* rotations)
{
    for (int j = 0; j < asset->jointCount; ++j) {
        double half = 0.05 * sin(0.3 * frame + 0.5 * j), side = 0.05 * cos(0.2 * frame + j);
        const float q[4] = {(float)half, 0.0f, (float)side, (float)sqrt(1 - half * half - side * side)};
        memcpy(rotations + 4 * j, q, sizeof(q));
    }
}
