// Bone through bone; see bone_overlap.h.
//
// The tetrahedra of the bones are a volume of their own, and the search for flesh inside flesh is asked about it: a
// node of a bone inside a tetrahedron of another one that is far from it at rest. Thin bones that cross between their
// nodes are missed by at most an edge.
#include "flesh/bone_overlap.h"

#include "base/arena.h"
#include "base/try.h"
#include "flesh/contact_internal.h"
#include "volume/mesh_internal.h"
#include "volume/posing.h"

#include "runtime/for_author.h"

// Of the largest side: bones closer than this at rest meet at a joint, or are pieces of one.
#define JOINED 0.05

struct jnaPosedBones {
    const jnaVolume* volume;
    jnaVolume bones;   // nodes and tetrahedra alone
    int32_t* nodes;    // [bones.nodeCount], those of the volume
    double* positions; // [bones.nodeCount][3], posed
    jnaContactShape* shape;
    jnaContactFinder* finder;
};

void jnaDestroyPosedBones(jnaPosedBones* b)
{
    if (b == NULL) {
        return;
    }
    jnaDestroyContactFinder(b->finder);
    jnaDestroyContactShape(b->shape);
    free(b->bones.nodes);
    free(b->bones.tetrahedra);
    free(b->nodes);
    free(b->positions);
    free(b);
}

// Numbers the nodes that bones hold firmly, exactly or by a good share of the strongest spring; -1 for all others.
// Returns how many.
static int NumberFirm(const jnaVolume* v, int32_t* numbers)
{
    double firmFrom = jnaFirmStrength(v);
    int count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        double strength = v->heldBy[n] >= 0 ? (double)v->holdStrength[n] : -1;
        bool firm = strength == 0 || (strength > 0 && strength >= firmFrom);
        numbers[n] = firm ? count++ : -1;
    }
    return count;
}

// The tetrahedra between firm nodes, and those nodes.
static bool CutOut(const jnaVolume* v, const int32_t* numbers, jnaPosedBones* b)
{
    jnaArena arena = {0};
    b->bones.nodes = jnaArena_Give(&arena, b->bones.nodeCount, 3 * sizeof(double));
    b->bones.tetrahedra = jnaArena_Give(&arena, (int64_t)v->tetrahedronCount + 1, 4 * sizeof(int32_t));
    b->nodes = jnaArena_Give(&arena, b->bones.nodeCount, sizeof(int32_t));
    b->positions = jnaArena_Give(&arena, b->bones.nodeCount, 3 * sizeof(double));
    if (arena.failed) {
        return false;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        if (numbers[n] >= 0) {
            b->nodes[numbers[n]] = n;
            memcpy(b->bones.nodes + 3 * (size_t)numbers[n], v->nodes + 3 * (size_t)n, 3 * sizeof(double));
        }
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        int32_t* to = b->bones.tetrahedra + 4 * (size_t)b->bones.tetrahedronCount;
        bool all = true;
        for (int k = 0; k < 4; ++k) {
            to[k] = numbers[c[k]];
            all = all && to[k] >= 0;
        }
        b->bones.tetrahedronCount += all;
    }
    return true;
}

// Of the whole volume: bones may lie within a small part of it.
static double LargestSide(const jnaVolume* v)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < 3 * (size_t)v->nodeCount; ++i) {
        low[i % 3] = fmin(low[i % 3], v->nodes[i]);
        high[i % 3] = fmax(high[i % 3], v->nodes[i]);
    }
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

jnResult jnaCreatePosedBones(const jnaVolume* volume, jnaPosedBones** bones, jnError* error)
{
    *bones = NULL;
    jnaPosedBones* b = jnaAllocate(1, sizeof(*b));
    int32_t* numbers = jnaAllocate((int64_t)volume->nodeCount + 1, sizeof(int32_t));
    bool good = b != NULL && numbers != NULL;
    if (good) {
        b->volume = volume;
        b->bones.nodeCount = NumberFirm(volume, numbers);
        good = CutOut(volume, numbers, b);
    }
    free(numbers);
    jnResult result = jn_ok;
    JN_TRY(good ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d nodes", volume->nodeCount));
    if (b->bones.tetrahedronCount > 0) {
        jnaContactDef def = jnaDefaultContactDef(&b->bones);
        def.restDistance = JOINED * LargestSide(volume);
        def.gaps = false; // bones meet across the gap of a joint
        JN_TRY(jnaCreateContactShape(&def, &b->shape, error));
        JN_TRY(jnaCreateContactFinder(b->shape, &b->finder, error));
    }
    *bones = b;
done:
    if (result != jn_ok) {
        jnaDestroyPosedBones(b);
    }
    return result;
}

// The joint that a node of the bones goes with: that of its bone or ball, or of its largest weight.
static int JointOf(const jnaPosedBones* b, int32_t bone)
{
    const jnaVolume* v = b->volume;
    int32_t node = b->nodes[bone], by = v->heldBy[node], joint = 0;
    float most = -1;
    if (by < 2 * v->jointCount) {
        return by % v->jointCount;
    }
    for (int32_t i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
        joint = v->weights[i] > most ? v->joints[i] : joint;
        most = fmaxf(most, v->weights[i]);
    }
    return joint;
}

jnResult jnaPosedBones_Overlap(jnaPosedBones* b, const double* transforms, jnaBoneOverlap* overlap, jnError* error)
{
    *overlap = (jnaBoneOverlap){0, {-1, -1}};
    if (b->finder == NULL) {
        return jn_ok;
    }
    for (int n = 0; n < b->bones.nodeCount; ++n) {
        jnaVolume_HeldPosition(b->volume, transforms, b->nodes[n], b->positions + 3 * (size_t)n);
    }
    jnaPenetration penetration;
    jnResult result = jnaContactFinder_Measure(b->finder, b->positions, &penetration, error);
    if (result != jn_ok || !(penetration.depth > 0)) {
        return result;
    }
    const double* depths = jnaContactFinder_Depths(b->finder);
    for (int h = 0; h < b->finder->hitCount; ++h) {
        const jnaContactHit* hit = &b->finder->hits[h];
        if (depths[hit->node] > overlap->depth) {
            overlap->depth = depths[hit->node];
            overlap->joints[0] = JointOf(b, hit->node);
            overlap->joints[1] = JointOf(b, b->bones.tetrahedra[4 * (size_t)hit->tetrahedron]);
        }
    }
    return jn_ok;
}
