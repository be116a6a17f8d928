// Cross-sections by a plane: every triangle that crosses it leaves a segment, and rays in the plane meet segments.
// All rays of a section share the cut, which makes a section of the body cost 0.1 ms.
#include "volume/section.h"

#include "volume/volume_internal.h"

#include "base/affine.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>

jnResult jnaCreateSlicer(const jnaVolume* volume, jnaSlicer* slicer, jnError* error)
{
    *slicer = (jnaSlicer){.nodes = volume->nodes, .nodeCount = volume->nodeCount};
    JN_PASS(jnaFindBoundary(volume, &slicer->triangleCount, &slicer->triangles, error));
    slicer->heights = malloc((size_t)volume->nodeCount * sizeof(double));
    if (slicer->heights == NULL) {
        jnaDestroySlicer(slicer);
        return jnFail(error, jn_outOfMemory, "out of memory for sections of %d nodes", volume->nodeCount);
    }
    return jn_ok;
}

void jnaDestroySlicer(jnaSlicer* slicer)
{
    free(slicer->triangles);
    free(slicer->heights);
    *slicer = (jnaSlicer){0};
}

void jnaCrossAxes(const double* axis, double* u, double* v)
{
    // The coordinate axis that is farthest from it, so that nothing small is divided by.
    int least = fabs(axis[1]) < fabs(axis[0]) ? 1 : 0;
    least = fabs(axis[2]) < fabs(axis[least]) ? 2 : least;
    double other[3] = {0, 0, 0};
    other[least] = 1;
    jnaCross(axis, other, u);
    jnaNormalize(u);
    jnaCross(axis, u, v);
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Rays against one segment p-q of the plane: nearest hit and number of hits.
static void MeetRays(const double (*rays)[2], const double p[2], const double q[2], double* distances, int* hits)
{
    double area = p[0] * q[1] - p[1] * q[0];
    for (int k = 0; k < JNA_SECTION_RAYS; ++k) {
        const double* d = rays[k];
        double sideP = d[0] * p[1] - d[1] * p[0], sideQ = d[0] * q[1] - d[1] * q[0];
        if ((sideP > 0) == (sideQ > 0)) {
            continue;
        }
        double t = area / (sideQ - sideP);
        if (t > 0) {
            hits[k]++;
            distances[k] = fmin(distances[k], t);
        }
    }
}

// The segments of all triangles that cross the plane.
static void CutTriangles(
    const jnaSlicer* s, const double* origin, const double* u, const double* v, double* distances, int* hits)
{
    double rays[JNA_SECTION_RAYS][2];
    for (int k = 0; k < JNA_SECTION_RAYS; ++k) {
        rays[k][0] = cos(JNA_TURN * k / JNA_SECTION_RAYS);
        rays[k][1] = sin(JNA_TURN * k / JNA_SECTION_RAYS);
    }
    for (int t = 0; t < s->triangleCount; ++t) {
        const int32_t* c = s->triangles + 3 * (size_t)t;
        int above = (s->heights[c[0]] > 0) + (s->heights[c[1]] > 0) + (s->heights[c[2]] > 0);
        if (above == 0 || above == 3) {
            continue;
        }
        double ends[2][2];
        int count = 0;
        for (int i = 0; i < 3 && count < 2; ++i) {
            int32_t a = c[i], b = c[(i + 1) % 3];
            if ((s->heights[a] > 0) == (s->heights[b] > 0)) {
                continue;
            }
            double f = s->heights[a] / (s->heights[a] - s->heights[b]), point[3];
            for (int k = 0; k < 3; ++k) {
                double x = s->nodes[3 * (size_t)a + (size_t)k], y = s->nodes[3 * (size_t)b + (size_t)k];
                point[k] = x + f * (y - x) - origin[k];
            }
            ends[count][0] = jnaDot(point, u);
            ends[count++][1] = jnaDot(point, v);
        }
        MeetRays(rays, ends[0], ends[1], distances, hits);
    }
}

void jnaSlice(jnaSlicer* s, const double* origin, const double* u, const double* v, jnaSection* section)
{
    double normal[3], distances[JNA_SECTION_RAYS], sorted[JNA_SECTION_RAYS];
    int hits[JNA_SECTION_RAYS] = {0}, odd = 0;
    jnaCross(u, v, normal);
    for (int n = 0; n < s->nodeCount; ++n) {
        const double* p = s->nodes + 3 * (size_t)n;
        s->heights[n] =
            (p[0] - origin[0]) * normal[0] + (p[1] - origin[1]) * normal[1] + (p[2] - origin[2]) * normal[2];
    }
    for (int k = 0; k < JNA_SECTION_RAYS; ++k) {
        distances[k] = HUGE_VAL;
    }
    CutTriangles(s, origin, u, v, distances, hits);
    for (int k = 0; k < JNA_SECTION_RAYS; ++k) {
        odd += hits[k] % 2;
        sorted[k] = distances[k];
    }
    qsort(sorted, JNA_SECTION_RAYS, sizeof(double), CompareDoubles);
    *section = (jnaSection){
        .radius = 0.5 * (sorted[JNA_SECTION_RAYS / 2 - 1] + sorted[JNA_SECTION_RAYS / 2]), .least = sorted[0]};
    section->inside = 2 * odd > JNA_SECTION_RAYS && isfinite(section->radius);
    if (!section->inside) {
        return;
    }
    for (int k = 0; k < JNA_SECTION_RAYS; ++k) {
        // A ray that runs along a limb would say more about the limb than about the section.
        double angle = JNA_TURN * k / JNA_SECTION_RAYS, d = fmin(distances[k], 2 * section->radius);
        section->distances[k] = d;
        section->shift[0] += 2.0 / JNA_SECTION_RAYS * d * cos(angle);
        section->shift[1] += 2.0 / JNA_SECTION_RAYS * d * sin(angle);
        section->second[0] += 2.0 / JNA_SECTION_RAYS * d * cos(2 * angle);
        section->second[1] += 2.0 / JNA_SECTION_RAYS * d * sin(2 * angle);
    }
}
