// How bones hold the flesh: a zero-restlength spring at every node, as strong as there is bone around it.
//
// Every tetrahedron is sampled; b is how much of a sample is bone, fading out at the bone's surface:
//
//   strength of node n = strength * (integral of b N_n) / (integral of N_n)        N_n: hat function of the node
//
// So what is held does not depend on where a mesh happens to have nodes. A sample in a bone follows that bone; one
// in head, hand or foot deeper than their cover, or in a bone that blends, follows its skinned position, as in the
// paper. Where several kinds of bone reach into a tetrahedron, the one with most of it counts; so at a node.
//
// Pieces of the mesh that nothing holds would fly: their middle is held.
#include "base/affine.h"
#include "base/try.h"
#include "volume/bones_internal.h"
#include "volume/laplacian.h"
#include "volume/skin_depth.h"
#include "volume/volume_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Flesh over the bones of head, hands and feet, parts of the body's size.
#define HEAD_COVER 0.0025
#define HAND_COVER 0.002
#define FOOT_COVER 0.003
// Bone fades over this part of its radius, and of its cover.
#define FADE 0.25
#define COVER_FADE 0.5
// Whether a sample is in a head, hand or foot: their share of its weights, from not at all to wholly.
#define PART_FROM 0.45
#define PART_TO 0.75
// In hands and feet, flesh between two digits' joints follows both: it is let go where no joint has so much of it, for
// skinning folds it there.
#define ONE_FROM 0.5
#define ONE_TO 0.8
// Bones of the trunk keep away from the pivots of limbs by this part of the limb's half-thickness.
#define CLEAR 0.75
// A node with at least this part of bone is held exactly where that is asked for.
#define EXACT_FROM 0.5
// A piece held by less than this part of its volume counts as loose.
#define LOOSE 1e-3

enum { SAMPLES = 11, FEW_SAMPLES = 5, NEAREST = 4 };
// Tetrahedra smaller than this part of the body's size (the sum of their box's sides) need few samples.
#define SMALL 0.01

// Barycentric samples, equally weighted: the middle, four towards the corners, six towards the edges.
static const double samples[SAMPLES][4] = {{0.25, 0.25, 0.25, 0.25}, {0.7, 0.1, 0.1, 0.1}, {0.1, 0.7, 0.1, 0.1},
    {0.1, 0.1, 0.7, 0.1}, {0.1, 0.1, 0.1, 0.7}, {0.4, 0.4, 0.1, 0.1}, {0.4, 0.1, 0.4, 0.1}, {0.4, 0.1, 0.1, 0.4},
    {0.1, 0.4, 0.4, 0.1}, {0.1, 0.4, 0.1, 0.4}, {0.1, 0.1, 0.4, 0.4}};

// What holds a tetrahedron, and how much of it: integrals over its volume with each corner's hat function.
typedef struct Grip {
    int32_t frame; // as jnaVolume.heldBy
    float amounts[4];
} Grip;

typedef struct Hold {
    jnaVolume* volume;
    const jnaHoldDef* def;
    jnaSlicer skin;
    jnaSkinDepth* under;
    double limit;                   // depths beyond are not told apart
    float* depths;                  // [nodeCount], under the skin
    float* fades;                   // [nodeCount], of what follows its skinned position
    double (*lows)[3], (*highs)[3]; // [bones], boxes
    float* inPart;                  // [nodeCount], share of the weights that are head, hand or foot
    float* covers;                  // [nodeCount], mean cover of those
    uint8_t* rigid;                 // [tetrahedronCount], all bone by the manifest
    Grip* grips;                    // [tetrahedronCount]
} Hold;

static double Ramp(double x)
{
    return fmin(fmax(x, 0), 1);
}

static double CoverOf(const jnaAnatomy* a, int joint)
{
    const jnaLimb* limb = a->limbOf[joint] >= 0 ? &a->limbs[a->limbOf[joint]] : NULL;
    switch (a->parts[joint]) {
    case jna_bodyHead:
        return HEAD_COVER * a->size;
    case jna_bodyEnd:
        return (limb != NULL && limb->leg ? FOOT_COVER : HAND_COVER) * a->size;
    default:
        return -1;
    }
}

static void WeighParts(Hold* h)
{
    const jnaVolume* v = h->volume;
    for (int n = 0; n < v->nodeCount; ++n) {
        double sum = 0, all = 0, cover = 0, blend = 0, most = 0;
        for (int32_t i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            double w = (double)v->weights[i], own = CoverOf(h->def->anatomy, v->joints[i]);
            all += w;
            sum += own >= 0 ? w : 0;
            cover += own >= 0 ? w * own : 0;
            blend = fmax(blend, h->def->anatomy->parts[v->joints[i]] == jna_bodyEnd);
            most = fmax(most, w);
        }
        h->inPart[n] = (float)(all > 0 ? sum / all : 0);
        h->fades[n] = (float)(all > 0 ? 1 - blend * (1 - Ramp((most / all - ONE_FROM) / (ONE_TO - ONE_FROM))) : 1);
        h->covers[n] = (float)(sum > 0 ? cover / sum : 0);
    }
}

// Parts that the manifest calls rigid, by joint or by region.
static void FindRigid(Hold* h)
{
    const jnaVolume* v = h->volume;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        double middle[3] = {0};
        for (int k = 0; k < 12; ++k) {
            middle[k % 3] += v->nodes[3 * (size_t)c[k / 3] + (size_t)(k % 3)] / 4;
        }
        int joint = jnaTetrahedronJoint(v, t);
        jnaRegion region = jnaAnatomy_Region(h->def->anatomy, joint, middle);
        h->rigid[t] = (joint >= 0 && h->def->settings[joint].rigid) || h->def->rigidRegions[region];
    }
}

// Depth of a sample under the skin; its tetrahedron's corners often tell that it lies beyond all covers.
// limit: depths beyond are not told apart.
static double DepthAt(const Hold* h, const int32_t* corners, const double* point, double limit)
{
    for (int k = 0; k < 4; ++k) {
        double d[3], depth = (double)h->depths[corners[k]];
        for (int i = 0; i < 3; ++i) {
            d[i] = point[i] - h->volume->nodes[3 * (size_t)corners[k] + (size_t)i];
        }
        if (depth - sqrt(jnaDot(d, d)) > limit) {
            return limit;
        }
    }
    return jnaSkinDepth_At(h->under, point, limit);
}

static void MeasureDepths(Hold* h)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int n = 0; n < h->volume->nodeCount; ++n) {
        const double* p = h->volume->nodes + 3 * (size_t)n;
        // Far deeper than any cover is as good as exact.
        h->depths[n] = (float)(h->def->flesh->boundary[n] ? 0 : jnaSkinDepth_At(h->under, p, 4 * h->limit));
    }
}

// How much of a bone of the trunk is left at a point: none around the pivots of hips and shoulders, where the flesh
// needs room for the limb to turn.
static double ClearOfLimbs(const jnaAnatomy* a, const double* point)
{
    double left = 1;
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        double d[3] = {point[0] - limb->rootAt[0], point[1] - limb->rootAt[1], point[2] - limb->rootAt[2]};
        double clear = CLEAR * limb->rootRadius;
        left = limb->hinge >= 0 ? fmin(left, Ramp((sqrt(jnaDot(d, d)) - clear) / (FADE * clear))) : left;
    }
    return left;
}

// How much bone a sample is, and of which frame.
static double Sample(const Hold* h, const int* bones, int boneCount, const double* point, const double* bary,
    const int32_t* corners, int32_t* frame)
{
    const jnaVolume* v = h->volume;
    double best = 0, share = 0, cover = 0;
    for (int k = 0; k < 4; ++k) {
        share += bary[k] * (double)h->inPart[corners[k]];
        cover += bary[k] * (double)(h->inPart[corners[k]] * h->covers[corners[k]]);
    }
    double part = Ramp((share - PART_FROM) / (PART_TO - PART_FROM));
    if (part > 0) {
        cover /= share;
        double depth = DepthAt(h, corners, point, (1 + COVER_FADE) * cover);
        best = part * Ramp((depth - cover) / (COVER_FADE * cover));
        *frame = 2 * v->jointCount;
    }
    for (int i = 0; i < boneCount; ++i) {
        const jnaBone* bone = &h->def->bones->bones[bones[i]];
        double b = Ramp((1 - jnaBone_Depth(bone, point)) / FADE);
        // A ball counts before the shafts that end in it.
        if (!(b > 0) || (b <= best && !(bone->ball && *frame < v->jointCount))) {
            continue;
        }
        if (h->def->anatomy->parts[bone->joint] == jna_bodyTrunk) {
            b *= ClearOfLimbs(h->def->anatomy, point);
        }
        if (b > 0 && bone->cover > 0) {
            double depth = DepthAt(h, corners, point, (1 + COVER_FADE) * bone->cover);
            b *= Ramp((depth - bone->cover) / (COVER_FADE * bone->cover));
        }
        if (b > best || (bone->ball && b > 0.5 * best && *frame < v->jointCount)) {
            best = b;
            *frame = bone->blends ? 2 * v->jointCount : bone->ball ? v->jointCount + bone->joint : bone->joint;
        }
    }
    return best;
}

// Bones whose box meets a tetrahedron's.
static int FindNear(const Hold* h, const double* low, const double* high, int* near)
{
    int count = 0;
    for (int b = 0; b < h->def->bones->count; ++b) {
        bool meets = true;
        for (int i = 0; i < 3; ++i) {
            meets = meets && h->lows[b][i] <= high[i] && h->highs[b][i] >= low[i];
        }
        if (meets) {
            near[count++] = b;
        }
    }
    return count;
}

static void GripTetrahedron(const Hold* h, int t, int* near)
{
    const jnaVolume* v = h->volume;
    const int32_t* c = v->tetrahedra + 4 * (size_t)t;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, gradients[4][3];
    for (int k = 0; k < 12; ++k) {
        double x = v->nodes[3 * (size_t)c[k / 3] + (size_t)(k % 3)];
        low[k % 3] = fmin(low[k % 3], x);
        high[k % 3] = fmax(high[k % 3], x);
    }
    double volume = fabs(jnaHatGradients(v->nodes, c, gradients));
    int count = FindNear(h, low, high, near);
    Grip grips[NEAREST] = {{-1, {0}}};
    double sums[NEAREST] = {0};
    int used = 0, best = 0, samplesOf = SAMPLES;
    if (high[0] - low[0] + high[1] - low[1] + high[2] - low[2] < SMALL * h->def->anatomy->size) {
        samplesOf = FEW_SAMPLES;
    }
    for (int s = 0; s < samplesOf; ++s) {
        double point[3] = {0};
        for (int k = 0; k < 12; ++k) {
            point[k % 3] += samples[s][k / 3] * v->nodes[3 * (size_t)c[k / 3] + (size_t)(k % 3)];
        }
        int32_t frame = h->rigid[t] ? 2 * v->jointCount : -1;
        double b = h->rigid[t] ? 1 : Sample(h, near, count, point, samples[s], c, &frame);
        int at = 0;
        while (at < used && grips[at].frame != frame) {
            at++;
        }
        if (!(b > 0) || at == NEAREST) {
            continue;
        }
        if (at == used) {
            grips[used++] = (Grip){.frame = frame};
        }
        sums[at] += b;
        for (int k = 0; k < 4; ++k) {
            grips[at].amounts[k] += (float)(volume / samplesOf * b * samples[s][k]);
        }
    }
    for (int i = 1; i < used; ++i) {
        best = sums[i] > sums[best] ? i : best;
    }
    h->grips[t] = grips[best];
}

// The frame with most bone around each node, and how much that is.
static jnResult GatherNodes(Hold* h, jnError* error)
{
    jnaVolume* v = h->volume;
    size_t nodes = (size_t)v->nodeCount;
    Grip* of = malloc((nodes + 1) * sizeof(Grip) * 2); // two frames a node: few have more
    if (of == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to hold %d nodes", v->nodeCount);
    }
    for (size_t n = 0; n < 2 * nodes; ++n) {
        of[n] = (Grip){.frame = -1};
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const Grip* grip = &h->grips[t];
        for (int k = 0; k < 4 && grip->frame >= 0; ++k) {
            Grip* node = of + 2 * (size_t)v->tetrahedra[4 * (size_t)t + (size_t)k];
            int at = node[0].frame == grip->frame || node[0].frame < 0 ? 0 : 1;
            if (at == 1 && node[1].frame >= 0 && node[1].frame != grip->frame) {
                continue;
            }
            node[at].frame = grip->frame;
            node[at].amounts[0] += grip->amounts[k];
        }
    }
    for (size_t n = 0; n < nodes; ++n) {
        const Grip* most = &of[2 * n + (of[2 * n + 1].amounts[0] > of[2 * n].amounts[0])];
        double share = (double)most->amounts[0] / fmax(h->def->flesh->nodeVolumes[n], 1e-300);
        share *= most->frame == 2 * v->jointCount ? (double)h->fades[n] : 1;
        bool held = h->def->exactly ? share >= EXACT_FROM : share > 0;
        v->heldBy[n] = held ? most->frame : -1;
        v->holdStrength[n] = held && !h->def->exactly ? (float)(fmin(share, 1) * h->def->strength) : 0;
    }
    free(of);
    return jn_ok;
}

// Volume, centre, and volume of bone of each piece.
static void SumPieces(const Hold* h, const int* pieces, double* sums)
{
    const jnaVolume* v = h->volume;
    for (int n = 0; n < v->nodeCount; ++n) {
        double* sum = sums + 5 * (size_t)pieces[n];
        double volume = h->def->flesh->nodeVolumes[n];
        sum[0] += volume;
        for (int i = 0; i < 3; ++i) {
            sum[1 + i] += volume * v->nodes[3 * (size_t)n + (size_t)i];
        }
        double share = h->def->exactly ? 1 : (double)v->holdStrength[n] / h->def->strength;
        sum[4] += v->heldBy[n] >= 0 ? volume * share : 0;
    }
}

// The tetrahedron of a piece that is nearest to a point.
static int NearestTetrahedron(const jnaVolume* v, const int* pieces, int piece, const double* to)
{
    int best = -1;
    double least = HUGE_VAL;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        double d = 0;
        for (int i = 0; i < 3 && pieces[c[0]] == piece; ++i) {
            double middle = 0;
            for (int k = 0; k < 4; ++k) {
                middle += v->nodes[3 * (size_t)c[k] + (size_t)i] / 4;
            }
            d += (middle - to[i]) * (middle - to[i]);
        }
        if (pieces[c[0]] == piece && d < least) {
            least = d;
            best = t;
        }
    }
    return best;
}

// A piece of the mesh that nothing holds is held at its middle.
static jnResult HoldLoosePieces(Hold* h, jnaNotes* notes, jnError* error)
{
    jnaVolume* v = h->volume;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int* pieces = jnaArena_Take(&arena, v->nodeCount, sizeof(int));
    double* sums = jnaArena_Take(&arena, v->nodeCount, 5 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "loose pieces", error));
    jnaFindPieces(v, pieces);
    SumPieces(h, pieces, sums);
    for (int p = 0; p < v->nodeCount; ++p) {
        const double* sum = sums + 5 * (size_t)p;
        if (pieces[p] != p || sum[4] > LOOSE * sum[0] || !(sum[0] > 0)) {
            continue;
        }
        const double middle[3] = {sum[1] / sum[0], sum[2] / sum[0], sum[3] / sum[0]};
        const int32_t* c = v->tetrahedra + 4 * (size_t)NearestTetrahedron(v, pieces, p, middle);
        int joint = h->def->flesh->owners[c[0]];
        for (int k = 0; k < 4; ++k) {
            v->heldBy[c[k]] = joint;
            v->holdStrength[c[k]] = h->def->exactly ? 0 : (float)h->def->strength;
        }
        jnaNotes_Add(notes, "a loose piece of %.3g litres at joint '%s' has no bone: its middle is held", 1e3 * sum[0],
            h->def->character->joints[joint].name);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// Boxes around the bones, and the deepest cover.
static double BoxBones(Hold* h)
{
    double deepest = fmax(HEAD_COVER, fmax(HAND_COVER, FOOT_COVER)) * h->def->anatomy->size;
    for (int b = 0; b < h->def->bones->count; ++b) {
        const jnaBone* bone = &h->def->bones->bones[b];
        double reach = 0;
        for (int e = 0; e < 2; ++e) {
            reach = fmax(reach, fmax(bone->caps[e], fmax(bone->radii[e][0], bone->radii[e][1])));
        }
        for (int i = 0; i < 3; ++i) {
            h->lows[b][i] = fmin(bone->ends[0][i], bone->ends[1][i]) - reach;
            h->highs[b][i] = fmax(bone->ends[0][i], bone->ends[1][i]) + reach;
        }
        deepest = fmax(deepest, bone->cover);
    }
    return (1 + COVER_FADE) * deepest;
}

static jnResult GripAll(Hold* h, jnError* error)
{
    int count = h->volume->tetrahedronCount;
    bool failed = false;
#pragma omp parallel
    {
        int* near = malloc(((size_t)h->def->bones->count + 1) * sizeof(int));
        if (near == NULL) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(dynamic, 256)
        for (int t = 0; t < count; ++t) {
            if (near != NULL) {
                GripTetrahedron(h, t, near);
            }
        }
        free(near);
    }
    return !failed ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory to hold %d tetrahedra", count);
}

jnResult jnaHoldNodes(jnaVolume* volume, const jnaHoldDef* def, jnaNotes* notes, jnError* error)
{
    int nodes = volume->nodeCount, elements = volume->tetrahedronCount, bones = def->bones->count;
    Hold h = {.volume = volume, .def = def};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    h.lows = jnaArena_Take(&arena, bones, sizeof(*h.lows));
    h.highs = jnaArena_Take(&arena, bones, sizeof(*h.highs));
    h.inPart = jnaArena_Take(&arena, nodes, sizeof(float));
    h.covers = jnaArena_Take(&arena, nodes, sizeof(float));
    h.depths = jnaArena_Take(&arena, nodes, sizeof(float));
    h.fades = jnaArena_Take(&arena, nodes, sizeof(float));
    h.rigid = jnaArena_Take(&arena, elements, 1);
    h.grips = jnaArena_Take(&arena, elements, sizeof(Grip));
    JN_TRY(jnaArena_Check(&arena, "the hold of bones", error));
    JN_TRY(jnaCreateSlicer(volume, &h.skin, error));
    WeighParts(&h);
    FindRigid(&h);
    h.limit = BoxBones(&h);
    JN_TRY(jnaCreateSkinDepth(&h.skin, &h.under, error));
    MeasureDepths(&h);
    JN_TRY(GripAll(&h, error));
    JN_TRY(GatherNodes(&h, error));
    JN_TRY(HoldLoosePieces(&h, notes, error));
done:
    jnaDestroySkinDepth(h.under);
    jnaDestroySlicer(&h.skin);
    jnaReleaseArena(&arena);
    return result;
}
