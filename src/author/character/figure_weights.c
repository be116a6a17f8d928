// Skinning weights: every vertex is first given whole to one joint, then the weights diffuse along the
// surface.
//
// Diffusion of a partition of unity is one, smooth, and cannot jump from thigh to thigh or from arm to flank
// through the air. Its reach is a diffusion length of about 5 cm on the limbs and 8 cm on the trunk. The left
// half is computed and the right half copied, so that both are equal to the last bit.
#include "character/figure_internal.h"

#include "base/try.h"

enum { DIFFUSION_ROUNDS = 44, KEPT = JNA_MAX_INFLUENCES };
// Weights below this fade out: they cost time at every step and move nothing that can be seen.
#define FADE 0.012

// Signed height of p over the plane that halves the angle between two bones at joint b of the chain a, b, c.
static double OverJoint(const double p[3], int a, int b, int c)
{
    const double *pa = jnaFigureJoints[a].position, *pb = jnaFigureJoints[b].position,
                 *pc = jnaFigureJoints[c].position;
    double before = jnaDistance(pa, pb), after = jnaDistance(pb, pc), sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += (p[i] - pb[i]) * ((pb[i] - pa[i]) / before + (pc[i] - pb[i]) / after);
    }
    return sum;
}

static double SegmentDistance(const double p[3], const double a[3], const double b[3], double ra, double rb)
{
    double axis[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, d[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double t = jnaDot(d, axis) / jnaDot(axis, axis);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double off[3] = {d[0] - t * axis[0], d[1] - t * axis[1], d[2] - t * axis[2]};
    return jnaLength(off) - (ra + t * (rb - ra));
}

// The joint that owns a point of the left half.
static int OwnerOf(const double p[3])
{
    static const double shoulder[3] = {0.215, 1.325, -0.022}, fingers[3] = {0.74, 0.89, 0};
    static const double groin[3] = {0.125, 0.800, 0}, ribs[3] = {0.095, 1.300, -0.01},
                        pelvis[3] = {0.095, 0.900, -0.02};
    double arm = SegmentDistance(p, shoulder, fingers, 0.068, 0.04);
    double trunk = SegmentDistance(p, ribs, pelvis, 0.098, 0.11);
    double leg = SegmentDistance(p, groin, jnaFigureJoints[LEFT_FOOT].position, 0.095, 0.04);
    if (p[1] < 0.60 || (p[1] < 0.86 && leg < trunk)) {
        return p[2] - 0.085 > 0.6 * (0.03 - p[1]) && p[1] < 0.12                ? LEFT_TOE
               : OverJoint(p, LEFT_LEG, LEFT_FOOT, LEFT_TOE) > 0 && p[1] < 0.13 ? LEFT_FOOT
               : OverJoint(p, LEFT_UP_LEG, LEFT_LEG, LEFT_FOOT) > 0             ? LEFT_LEG
                                                                                : LEFT_UP_LEG;
    }
    if (p[0] > 0.30 || (p[0] > 0.16 && p[1] > 1.1 && arm < trunk)) {
        double wrist = (p[0] - 0.592) * 0.766 - (p[1] - 1.013) * 0.643;
        return wrist > 0 ? LEFT_HAND : OverJoint(p, LEFT_ARM, LEFT_FOREARM, LEFT_HAND) > 0 ? LEFT_FOREARM : LEFT_ARM;
    }
    // The chin hangs below the head's joint, the nape above it.
    if (p[1] + 0.45 * p[2] > 1.485 && p[1] > 1.43) {
        return HEAD;
    }
    if (p[1] > 1.435 - 0.2 * p[0]) {
        return p[0] < 0.075 ? NECK : LEFT_SHOULDER;
    }
    if (p[0] > 0.085 && p[1] > 1.30) {
        return LEFT_SHOULDER;
    }
    return p[1] > 1.185 ? SPINE1 : p[1] > 1.025 ? SPINE : HIPS;
}

// Share of the way to the neighbours' mean per round: the trunk bends over a longer stretch than a limb.
static double Reach(const double p[3])
{
    double x = p[0] < 0 ? -p[0] : p[0];
    double trunk = SmoothStep(0.30, 0.20, x) * SmoothStep(0.62, 0.80, p[1]) * SmoothStep(1.50, 1.42, p[1]);
    return 0.34 + 0.56 * trunk;
}

static void CopyToRight(const FigureMesh* mesh, double* weights)
{
    for (int v = 0; v < mesh->middleCount + mesh->leftCount; ++v) {
        double* from = weights + (size_t)v * JOINT_COUNT;
        double* to = weights + (size_t)MirrorVertex(mesh, v) * JOINT_COUNT;
        for (int j = 0; j < JOINT_COUNT; ++j) {
            int k = jnaMirrorJoint(j);
            // In the middle, left and right joints share evenly.
            if (to == from && j <= k) {
                from[j] = from[k] = 0.5 * (from[j] + from[k]);
            } else if (to != from) {
                to[k] = from[j];
            }
        }
    }
}

// One round for the left half, from `weights` to `next`.
static void Diffuse(const FigureMesh* mesh, const Neighbors* neighbors, const double* weights, double* next)
{
#pragma omp parallel for schedule(static)
    for (int v = 0; v < mesh->middleCount + mesh->leftCount; ++v) {
        double reach = Reach(mesh->positions + 3 * (size_t)v);
        int first = neighbors->start[v], end = neighbors->start[v + 1];
        for (int j = 0; j < JOINT_COUNT; ++j) {
            double sum = 0;
            for (int i = first; i < end; ++i) {
                sum += weights[(size_t)neighbors->list[i] * JOINT_COUNT + (size_t)j];
            }
            size_t at = (size_t)v * JOINT_COUNT + (size_t)j;
            next[at] = weights[at] + reach * (sum / (end - first) - weights[at]);
        }
    }
}

// Keeps the largest weights, sorted, as floats whose sum is 1.
static void Pack(const double* weights, jnaInfluences* out)
{
    double faded[JOINT_COUNT], sum = 0;
    for (int j = 0; j < JOINT_COUNT; ++j) {
        faded[j] = weights[j] > FADE ? weights[j] - FADE : 0;
    }
    *out = (jnaInfluences){0};
    for (int k = 0; k < KEPT; ++k) {
        int best = 0;
        for (int j = 1; j < JOINT_COUNT; ++j) {
            best = faded[j] > faded[best] ? j : best;
        }
        if (faded[best] > 0) {
            out->joints[k] = (uint16_t)best;
            out->weights[k] = (float)faded[best];
            sum += faded[best];
            faded[best] = 0;
        }
    }
    float rest = 1;
    for (int k = 1; k < KEPT; ++k) {
        out->weights[k] = (float)((double)out->weights[k] / sum);
        rest -= out->weights[k];
    }
    out->weights[0] = rest;
}

jnResult jnaComputeFigureWeights(const FigureMesh* mesh, jnaInfluences* influences, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* weights = jnaArena_Take(&arena, mesh->vertexCount, JOINT_COUNT * sizeof(double));
    double* next = jnaArena_Take(&arena, mesh->vertexCount, JOINT_COUNT * sizeof(double));
    Neighbors neighbors = {0};
    JN_TRY(
        jnaCreateFigureNeighbors(mesh->vertexCount, mesh->triangles, mesh->triangleCount, &arena, &neighbors, error));
    for (int v = 0; v < mesh->middleCount + mesh->leftCount; ++v) {
        weights[(size_t)v * JOINT_COUNT + (size_t)OwnerOf(mesh->positions + 3 * (size_t)v)] = 1;
    }
    CopyToRight(mesh, weights);
    for (int round = 0; round < DIFFUSION_ROUNDS; ++round) {
        Diffuse(mesh, &neighbors, weights, next);
        CopyToRight(mesh, next);
        double* swap = weights;
        weights = next;
        next = swap;
    }
    for (int v = 0; v < mesh->vertexCount; ++v) {
        Pack(weights + (size_t)v * JOINT_COUNT, &influences[v]);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
