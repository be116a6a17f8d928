// How far a vertex of the skin may be moved: the thickness of the flesh under it, which is the distance to the nearest node
// that a bone holds, or, without a volume, the distance to the skeleton.
#include "modes/modes.h"

#include "base/affine.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A reach lies between these shares of the height: a mesh cannot resolve thinner flesh, and a strand of hair ten times
// as long as its bone need not swing over its whole length.
#define LEAST_REACH 0.01
#define MOST_REACH 0.08
jnResult jnaFindReach(const jnaVolume* v, const jnaCharacter* c, float* reach, jnError* error)
{
    if (v->heldBy == NULL) {
        return jnFail(error, jn_badArgument, "the volume has no bones; run jounce tetrahedralize");
    }
    double height = jnaHeightOf(c);
    double* bones = malloc(((size_t)v->nodeCount + 1) * 3 * sizeof(double));
    if (bones == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the thickness of the flesh");
    }
    size_t count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] >= 0) {
            memcpy(bones + 3 * count++, v->nodes + 3 * (size_t)n, 3 * sizeof(double));
        }
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->vertexCount; ++i) {
        const float* x = c->positions + 3 * (size_t)i;
        double least = HUGE_VAL;
        for (size_t n = 0; n < count; ++n) {
            double dx = (double)x[0] - bones[3 * n], dy = (double)x[1] - bones[3 * n + 1];
            double dz = (double)x[2] - bones[3 * n + 2];
            least = fmin(least, dx * dx + dy * dy + dz * dz);
        }
        reach[i] = (float)fmin(fmax(sqrt(least), LEAST_REACH * height), MOST_REACH * height);
    }
    free(bones);
    return jn_ok;
}

// Where a joint is in the rest pose.
static void FindJoint(const jnaJoint* joint, double* place)
{
    jnaAffine bind = jnaAffine_FromFloats(joint->inverseBind), global = jnaAffine_Identity();
    (void)jnaAffine_Invert(&bind, &global);
    for (int i = 0; i < 3; ++i) {
        place[i] = global.m[4 * i + 3];
    }
}

// The distance of a point to the line from a to b, squared.
static double FindDistance(const double* a, const double* b, const float* x)
{
    double along = 0, length = 0, square = 0;
    for (int i = 0; i < 3; ++i) {
        along += (b[i] - a[i]) * ((double)x[i] - a[i]);
        length += (b[i] - a[i]) * (b[i] - a[i]);
    }
    double part = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (int i = 0; i < 3; ++i) {
        double away = (double)x[i] - a[i] - part * (b[i] - a[i]);
        square += away * away;
    }
    return square;
}

void jnaFindSkeletonReach(const jnaCharacter* c, float* reach)
{
    double height = jnaHeightOf(c);
    for (int v = 0; v < c->vertexCount; ++v) {
        reach[v] = (float)(MOST_REACH * height);
    }
    for (int j = 0; j < c->jointCount; ++j) {
        double a[3], b[3];
        FindJoint(&c->joints[j], a);
        FindJoint(&c->joints[c->joints[j].parent >= 0 ? c->joints[j].parent : j], b);
        for (int v = 0; v < c->vertexCount; ++v) {
            double away = sqrt(FindDistance(a, b, c->positions + 3 * (size_t)v));
            reach[v] = (float)fmin((double)reach[v], fmax(away, LEAST_REACH * height));
        }
    }
}
