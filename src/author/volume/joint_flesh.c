// What flesh each joint has: from a volume with weights, or, before there is one, from the surface alone.
#include "volume/bones_internal.h"

#include "volume/volume_internal.h"

#include "base/affine.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// The part of a joint's flesh that its reach leaves out: single vertices far off say nothing.
#define BEYOND_REACH 0.03

static jnResult AllocateFlesh(int nodeCount, int joints, jnaJointFlesh* flesh, jnError* error)
{
    *flesh = (jnaJointFlesh){.jointCount = joints};
    jnaArena* arena = &flesh->memory;
    flesh->positions = jnaArena_Take(arena, joints, sizeof(*flesh->positions));
    flesh->volumes = jnaArena_Take(arena, joints, sizeof(*flesh->volumes));
    flesh->centers = jnaArena_Take(arena, joints, sizeof(*flesh->centers));
    flesh->owners = jnaArena_Take(arena, nodeCount, sizeof(*flesh->owners));
    flesh->nodeVolumes = jnaArena_Take(arena, nodeCount, sizeof(*flesh->nodeVolumes));
    flesh->boundary = jnaArena_Take(arena, nodeCount, 1);
    jnResult result = jnaArena_Check(arena, "the flesh of joints", error);
    if (result != jn_ok) {
        jnaDestroyJointFlesh(flesh);
    }
    return result;
}

void jnaDestroyJointFlesh(jnaJointFlesh* flesh)
{
    jnaReleaseArena(&flesh->memory);
    *flesh = (jnaJointFlesh){0};
}

// Memory, and where the joints are.
static jnResult OpenFlesh(int nodeCount, const jnaCharacter* character, jnaJointFlesh* flesh, jnError* error)
{
    jnResult result = AllocateFlesh(nodeCount, character->jointCount, flesh, error);
    for (int j = 0; result == jn_ok && j < character->jointCount; ++j) {
        jnaAffine bind = jnaAffine_FromFloats(character->joints[j].inverseBind), joint;
        if (!jnaAffine_Invert(&bind, &joint)) {
            jnaDestroyJointFlesh(flesh);
            return jnFail(
                error, jn_badData, "joint '%s' has a bind matrix that cannot be inverted", character->joints[j].name);
        }
        for (int i = 0; i < 3; ++i) {
            flesh->positions[j][i] = joint.m[4 * i + 3];
        }
    }
    return result;
}

// Volumes and middles of the joints, from those of the nodes.
static void SumFlesh(int nodeCount, const double* nodes, jnaJointFlesh* flesh)
{
    for (int n = 0; n < nodeCount; ++n) {
        int owner = flesh->owners[n];
        if (owner < 0) {
            continue;
        }
        flesh->volumes[owner] += flesh->nodeVolumes[n];
        flesh->total += flesh->nodeVolumes[n];
        for (int i = 0; i < 3; ++i) {
            flesh->centers[owner][i] += flesh->nodeVolumes[n] * nodes[3 * (size_t)n + (size_t)i];
        }
    }
    for (int i = 0; i < 3 * flesh->jointCount; ++i) {
        flesh->centers[i / 3][i % 3] /= flesh->volumes[i / 3] > 0 ? flesh->volumes[i / 3] : 1;
    }
}

jnResult jnaCreateJointFlesh(
    const jnaVolume* v, const jnaCharacter* character, const jnaSlicer* slicer, jnaJointFlesh* flesh, jnError* error)
{
    JN_PASS(OpenFlesh(v->nodeCount, character, flesh, error));
    jnaNodeVolumes(v, flesh->nodeVolumes);
    for (int n = 0; n < v->nodeCount; ++n) {
        flesh->owners[n] = jnaDominantJoint(v, n);
    }
    SumFlesh(v->nodeCount, v->nodes, flesh);
    for (size_t i = 0; i < 3 * (size_t)slicer->triangleCount; ++i) {
        flesh->boundary[slicer->triangles[i]] = 1;
    }
    return jn_ok;
}

// The joint that moves a vertex most, the first of equals; -1 without any.
static int OwnerOf(const jnaInfluences* influences)
{
    int best = -1;
    float most = 0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        if (influences->weights[k] > most) {
            most = influences->weights[k];
            best = influences->joints[k];
        }
    }
    return best;
}

jnResult jnaCreateSurfaceFlesh(
    const jnaCharacter* character, const jnaSlicer* slicer, const int32_t* nodeOf, jnaJointFlesh* flesh, jnError* error)
{
    JN_PASS(OpenFlesh(slicer->nodeCount, character, flesh, error));
    memset(flesh->owners, 0xff, (size_t)slicer->nodeCount * sizeof(*flesh->owners));
    memset(flesh->nodeVolumes, 0, (size_t)slicer->nodeCount * sizeof(*flesh->nodeVolumes));
    memset(flesh->boundary, 1, (size_t)slicer->nodeCount);
    for (int v = character->vertexCount - 1; v >= 0; --v) {
        if (nodeOf[v] >= 0) {
            flesh->owners[nodeOf[v]] = OwnerOf(&character->influences[v]);
        }
    }
    // A node stands for the flesh between its triangles and the joint: a third of each cone's volume.
    for (int t = 0; t < slicer->triangleCount; ++t) {
        const int32_t* c = slicer->triangles + 3 * (size_t)t;
        for (int k = 0; k < 3; ++k) {
            if (flesh->owners[c[k]] < 0) {
                continue;
            }
            const double* apex = flesh->positions[flesh->owners[c[k]]];
            double edges[3][3], normal[3];
            for (int i = 0; i < 9; ++i) {
                edges[i / 3][i % 3] = slicer->nodes[3 * (size_t)c[i / 3] + (size_t)(i % 3)] - apex[i % 3];
            }
            jnaCross(edges[0], edges[1], normal);
            flesh->nodeVolumes[c[k]] += fabs(jnaDot(normal, edges[2])) / 18;
        }
    }
    SumFlesh(slicer->nodeCount, slicer->nodes, flesh);
    return jn_ok;
}

double jnaJointFlesh_Reach(
    const jnaJointFlesh* flesh, int nodeCount, const double* nodes, int joint, const double* from, const double* along)
{
    // A histogram instead of a sort: a hundredth of the reach is exact enough, and needs no memory.
    enum { BINS = 200 };
    double volumes[BINS] = {0}, most = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int n = 0; n < nodeCount; ++n) {
            if (flesh->owners[n] != joint) {
                continue;
            }
            const double* p = nodes + 3 * (size_t)n;
            double x = (p[0] - from[0]) * along[0] + (p[1] - from[1]) * along[1] + (p[2] - from[2]) * along[2];
            if (pass == 0) {
                most = fmax(most, x);
            } else {
                int bin = (int)fmin(fmax(x / most * BINS, 0), BINS - 1);
                volumes[bin] += flesh->nodeVolumes[n];
            }
        }
        if (!(most > 0)) {
            return 0;
        }
    }
    int bin = BINS;
    double above = 0;
    while (bin > 0 && above + volumes[bin - 1] <= BEYOND_REACH * flesh->volumes[joint]) {
        above += volumes[--bin];
    }
    return most * bin / BINS;
}
