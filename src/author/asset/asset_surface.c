// The rig and the surface of an asset, in the layouts that the runtime's kernels read.
#include "asset/asset_sections.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIANS 0.017453292519943295

static void AddJoints(const jnaCharacter* c, jnaSections* s)
{
    jnAssetJoint* joints = jnaAddSection(s, JN_SECTION_JOINTS, true, (size_t)c->jointCount * sizeof(*joints));
    for (int j = 0; joints != NULL && j < c->jointCount; ++j) {
        const jnaJoint* from = &c->joints[j];
        joints[j].parent = from->parent;
        jnaCopyName(joints[j].name, from->name);
        memcpy(joints[j].translation, from->translation, sizeof(from->translation));
        memcpy(joints[j].rotation, from->rotation, sizeof(from->rotation));
        memcpy(joints[j].scale, from->scale, sizeof(from->scale));
        memcpy(joints[j].inverseBind, from->inverseBind, sizeof(from->inverseBind));
    }
}

// Influences of a vertex, largest first and with sum 1; returns how many there are.
static int SortInfluences(const jnaInfluences* from, uint16_t* joints, float* weights)
{
    int count = 0;
    double sum = 0.0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        float weight = from->weights[k];
        if (!(weight > 0.0f)) {
            continue;
        }
        int at = count++;
        for (; at > 0 && weights[at - 1] < weight; --at) {
            weights[at] = weights[at - 1];
            joints[at] = joints[at - 1];
        }
        weights[at] = weight;
        joints[at] = from->joints[k];
        sum += (double)weight;
    }
    for (int k = 0; k < count; ++k) {
        weights[k] = (float)((double)weights[k] / sum);
    }
    return count;
}

void jnaAddRig(const jnaAssetDef* def, jnaSections* s)
{
    const jnaCharacter* c = def->character;
    size_t blocks = (size_t)jnBlockCount(c->vertexCount), lanes = blocks * JN_LANES;
    AddJoints(c, s);
    float* rest = jnaAddSection(s, JN_SECTION_REST, true, lanes * 4 * sizeof(float));
    uint32_t* starts = jnaAddSection(s, JN_SECTION_INFLUENCE_STARTS, true, (blocks + 1) * sizeof(uint32_t));
    int32_t* source = jnaArena_Take(&s->arena, (int64_t)lanes, sizeof(int32_t));
    uint16_t joints[JNA_MAX_INFLUENCES];
    float weights[JNA_MAX_INFLUENCES];
    if (s->arena.failed) {
        return;
    }
    for (size_t v = 0; v < lanes; ++v) {
        source[v] = -1;
        rest[4 * v + 3] = 1.0f;
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        size_t at = (size_t)s->place[v];
        source[at] = v;
        memcpy(rest + 4 * at, c->positions + 3 * (size_t)v, 3 * sizeof(float));
        // The block's count, at its end for now.
        uint32_t count = (uint32_t)SortInfluences(&c->influences[v], joints, weights);
        starts[at / JN_LANES + 1] = count > starts[at / JN_LANES + 1] ? count : starts[at / JN_LANES + 1];
    }
    for (size_t b = 0; b < blocks; ++b) {
        starts[b + 1] = starts[b] + (starts[b + 1] > 0 ? starts[b + 1] : 1);
    }
    size_t entries = (size_t)starts[blocks] * JN_LANES;
    uint16_t* allJoints = jnaAddSection(s, JN_SECTION_INFLUENCE_JOINTS, true, entries * sizeof(uint16_t));
    float* allWeights = jnaAddSection(s, JN_SECTION_INFLUENCE_WEIGHTS, true, entries * sizeof(float));
    for (size_t v = 0; !s->arena.failed && v < lanes; ++v) {
        size_t b = v / JN_LANES, width = starts[b + 1] - starts[b];
        size_t at = starts[b] * JN_LANES + v % JN_LANES * width;
        int count = source[v] >= 0 ? SortInfluences(&c->influences[source[v]], joints, weights) : 0;
        for (int k = 0; k < count; ++k) {
            allJoints[at + (size_t)k] = joints[k];
            allWeights[at + (size_t)k] = weights[k];
        }
        if (source[v] < 0) {
            allWeights[at] = 1.0f; // padding hangs on the first joint
        }
    }
}

// A normal in the making: file vertices of one vertex whose normals agree with its first.
typedef struct Group {
    int32_t file; // the first
    int32_t next; // group of the same vertex, -1: none
    int32_t number;
} Group;

static bool Agrees(const float* a, const float* b, double cosine)
{
    double dot = 0.0, aa = 0.0, bb = 0.0;
    for (int i = 0; i < 3; ++i) {
        dot += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return !(dot < cosine * sqrt(aa * bb)); // without a direction it agrees with all
}

// Finds the groups and numbers them in the order of the asset's vertices: on a smooth surface a normal has the number
// of its vertex.
static void FindGroups(const jnaAssetDef* def, jnaSections* s, Group* groups, int32_t* firsts)
{
    const jnaCharacter* c = def->character;
    double cosine = cos(def->hardAngle * RADIANS);
    int count = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        firsts[v] = -1;
    }
    for (int32_t f = 0; f < c->fileVertexCount; ++f) {
        int32_t* at = &firsts[s->place[c->weld[f]]];
        while (*at >= 0 &&
               !Agrees(c->fileNormals + 3 * (size_t)f, c->fileNormals + 3 * (size_t)groups[*at].file, cosine)) {
            at = &groups[*at].next;
        }
        if (*at < 0) {
            *at = count;
            groups[count++] = (Group){.file = f, .next = -1};
        }
        s->groupOfFile[f] = *at;
    }
    int number = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        for (int32_t g = firsts[v]; g >= 0; g = groups[g].next) {
            groups[g].number = number++;
        }
    }
    for (int32_t f = 0; f < c->fileVertexCount; ++f) {
        s->groupOfFile[f] = groups[s->groupOfFile[f]].number;
    }
    s->normalCount = count;
}

static void AddMaps(const jnaCharacter* c, jnaSections* s)
{
    size_t files = (size_t)c->fileVertexCount, corners = 3 * (size_t)c->triangleCount;
    int32_t* weld = jnaAddSection(s, JN_SECTION_WELD, true, files * sizeof(int32_t));
    int32_t* normals = jnaAddSection(s, JN_SECTION_FILE_NORMALS, true, files * sizeof(int32_t));
    int32_t* triangles = jnaAddSection(s, JN_SECTION_TRIANGLES, true, corners * sizeof(int32_t));
    if (s->arena.failed) {
        return;
    }
    memcpy(normals, s->groupOfFile, files * sizeof(int32_t));
    memcpy(triangles, c->triangles, corners * sizeof(int32_t));
    for (size_t f = 0; f < files; ++f) {
        weld[f] = s->place[c->weld[f]];
    }
    float* uvs = c->fileUvs != NULL ? jnaAddSection(s, JN_SECTION_UVS, false, files * 2 * sizeof(float)) : NULL;
    if (uvs != NULL) {
        memcpy(uvs, c->fileUvs, files * 2 * sizeof(float));
    }
}

void jnaAddSurface(const jnaAssetDef* def, jnaSections* s)
{
    const jnaCharacter* c = def->character;
    Group* groups = jnaArena_Take(&s->arena, c->fileVertexCount, sizeof(Group));
    int32_t* firsts = jnaArena_Take(&s->arena, c->vertexCount, sizeof(int32_t));
    s->groupOfFile = jnaArena_Take(&s->arena, c->fileVertexCount, sizeof(int32_t));
    if (!s->arena.failed) {
        FindGroups(def, s, groups, firsts);
        AddMaps(c, s);
        jnaAddRings(c, s);
    }
}
