// How good tetrahedra are: volumes, dihedral angles, nodes that nobody uses; and which bad ones the surface forces.
//
// The angle at an edge lies between the parts of the two faces that are perpendicular to it; atan2 of their cross and
// dot product keeps small and large angles exact.
#include "volume/mesh_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

static const uint8_t edgeCorners[6][4] = {
    {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};

#define BAD_ANGLE 5.0

// Six dihedral angles of a tetrahedron in radians, edges 01 02 03 12 13 23; false where it has no positive volume.
static bool FindDihedrals(const double* a, const double* b, const double* c, const double* d, double angles[6])
{
    const double* p[4] = {a, b, c, d};
    if (!(jnaVolume6(a, b, c, d) > 0)) {
        memset(angles, 0, 6 * sizeof(*angles));
        return false;
    }
    for (int e = 0; e < 6; ++e) {
        double along[3], u[3], v[3], nu[3], nv[3], across[3];
        const double* start = p[edgeCorners[e][0]];
        jnaSubtract(p[edgeCorners[e][1]], start, along);
        jnaSubtract(p[edgeCorners[e][2]], start, u);
        jnaSubtract(p[edgeCorners[e][3]], start, v);
        jnaCross(along, u, nu);
        jnaCross(along, v, nv);
        jnaCross(nu, nv, across);
        angles[e] = atan2(jnaLength(across), jnaDot(nu, nv));
    }
    return true;
}

static int CountOrphans(int nodeCount, int tetrahedronCount, const int32_t* tetrahedra)
{
    uint8_t* used = jnaAllocate(nodeCount, 1);
    int orphans = 0;
    for (int i = 0; used != NULL && i < 4 * tetrahedronCount; ++i) {
        used[tetrahedra[i]] = 1;
    }
    for (int n = 0; used != NULL && n < nodeCount; ++n) {
        orphans += used[n] == 0;
    }
    free(used);
    return orphans;
}

jnaMeshQuality jnaMeasureMesh(int nodeCount, const double* nodes, int tetrahedronCount, const int32_t* tetrahedra)
{
    jnaMeshQuality q = {.smallestVolume = HUGE_VAL, .smallestAngle = 180};
    q.orphanCount = CountOrphans(nodeCount, tetrahedronCount, tetrahedra);
    for (int t = 0; t < tetrahedronCount; ++t) {
        const int32_t* c = tetrahedra + 4 * t;
        const double *p0 = nodes + 3 * c[0], *p1 = nodes + 3 * c[1], *p2 = nodes + 3 * c[2], *p3 = nodes + 3 * c[3];
        double volume = jnaVolume6(p0, p1, p2, p3) / 6, angles[6], smallest = 180;
        q.volume += volume;
        q.smallestVolume = fmin(q.smallestVolume, volume);
        q.invertedCount += !FindDihedrals(p0, p1, p2, p3, angles);
        for (int e = 0; e < 6; ++e) {
            double degrees = angles[e] * JNA_DEGREES;
            int bin = (int)(degrees / (180.0 / JNA_ANGLE_BINS));
            q.histogram[bin < JNA_ANGLE_BINS ? bin : JNA_ANGLE_BINS - 1]++;
            smallest = fmin(smallest, degrees);
            q.largestAngle = fmax(q.largestAngle, degrees);
        }
        q.belowFive += smallest < BAD_ANGLE;
        q.smallestAngle = fmin(q.smallestAngle, smallest);
    }
    return q;
}

static int CompareFacets(const void* left, const void* right)
{
    const jnaFacet *a = left, *b = right;
    for (int k = 0; k < 3; ++k) {
        if (a->corners[k] != b->corners[k]) {
            return a->corners[k] < b->corners[k] ? -1 : 1;
        }
    }
    return a->tetrahedron < b->tetrahedron ? -1 : a->tetrahedron > b->tetrahedron;
}

static void Sort3(int32_t c[3])
{
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < 2; ++k) {
            if (c[k] > c[k + 1]) {
                int32_t other = c[k];
                c[k] = c[k + 1];
                c[k + 1] = other;
            }
        }
    }
}

// Corners of the face opposite each corner, counter-clockwise from outside.
static const uint8_t FACES[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

jnaFacet* jnaListFacets(const jnaMesh* mesh, jnaArena* arena)
{
    int count = 4 * mesh->tetrahedronCount;
    jnaFacet* list = jnaArena_Take(arena, count, sizeof(*list));
    for (int f = 0; list != NULL && f < count; ++f) {
        list[f].tetrahedron = f / 4;
        list[f].opposite = f % 4;
        for (int k = 0; k < 3; ++k) {
            list[f].corners[k] = mesh->tetrahedra[4 * (f / 4) + FACES[f % 4][k]];
        }
        Sort3(list[f].corners);
    }
    if (list != NULL) {
        qsort(list, (size_t)count, sizeof(*list), CompareFacets);
    }
    return list;
}

int32_t* jnaListBoundary(const jnaMesh* mesh, int* count, jnaArena* arena)
{
    int facets = 4 * mesh->tetrahedronCount;
    jnaFacet* list = jnaListFacets(mesh, arena);
    int32_t* boundary = jnaArena_Take(arena, facets, 3 * sizeof(*boundary));
    *count = 0;
    for (int f = 0, end; boundary != NULL && f < facets; f = end) {
        for (end = f + 1; end < facets && memcmp(list[f].corners, list[end].corners, sizeof(list[f].corners)) == 0;) {
            ++end;
        }
        for (int k = 0; k < 3 && end == f + 1; ++k) {
            boundary[3 * *count + k] = mesh->tetrahedra[4 * list[f].tetrahedron + FACES[list[f].opposite][k]];
        }
        *count += end == f + 1;
    }
    return boundary;
}

// Angle inside the flesh between two boundary faces on a common edge a-b, with tips c and d.
static double WedgeAngle(const double* a, const double* b, const double* c, const double* d)
{
    double along[3], u[3], v[3], nu[3], nv[3], across[3];
    jnaSubtract(b, a, along);
    jnaSubtract(c, a, u);
    jnaSubtract(d, a, v);
    jnaCross(along, u, nu);
    jnaCross(along, v, nv);
    jnaCross(nu, nv, across);
    return atan2(jnaLength(across), jnaDot(nu, nv)) * JNA_DEGREES;
}

static void LowerTo(double* value, double candidate)
{
    *value = fmin(*value, candidate);
}

// Per node the smallest angle that the boundary has there: inside a face, or between two faces that form a wedge.
static void BoundaryAngles(
    const jnaMesh* mesh, int count, const int32_t* boundary, const jnaFaceEdge* edges, double* angles)
{
    for (int n = 0; n < mesh->nodeCount; ++n) {
        angles[n] = 180;
    }
    for (int f = 0; f < count; ++f) {
        for (int k = 0; k < 3; ++k) {
            const int32_t* c = boundary + 3 * f;
            double u[3], v[3], across[3];
            jnaSubtract(mesh->nodes + 3 * c[(k + 1) % 3], mesh->nodes + 3 * c[k], u);
            jnaSubtract(mesh->nodes + 3 * c[(k + 2) % 3], mesh->nodes + 3 * c[k], v);
            jnaCross(u, v, across);
            double angle = atan2(jnaLength(across), jnaDot(u, v)) * JNA_DEGREES;
            for (int i = 0; i < 3; ++i) {
                LowerTo(&angles[c[i]], angle);
            }
        }
    }
    for (int e = 0; e + 1 < 3 * count; ++e) {
        const jnaFaceEdge *a = &edges[e], *b = &edges[e + 1];
        if (a->low != b->low || a->high != b->high) {
            continue;
        }
        const int32_t *fa = boundary + 3 * a->face, *fb = boundary + 3 * b->face;
        int32_t ta = fa[0] ^ fa[1] ^ fa[2] ^ a->low ^ a->high, tb = fb[0] ^ fb[1] ^ fb[2] ^ a->low ^ a->high;
        const double *p = mesh->nodes + 3 * a->low, *q = mesh->nodes + 3 * a->high;
        double angle = WedgeAngle(p, q, mesh->nodes + 3 * ta, mesh->nodes + 3 * tb);
        // A wedge of flesh and a slit between two skins look alike; both leave no room.
        LowerTo(&angles[a->low], angle);
        LowerTo(&angles[a->high], angle);
    }
}

// A boundary angle up to this many times the limit still holds a tetrahedron below it: the wedge is shared out.
#define FORCED_FACTOR 3.0

jnResult jnaExplainSlivers(const jnaMesh* mesh, jnaVolumeReport* report, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int count;
    int32_t* boundary = jnaListBoundary(mesh, &count, &arena);
    jnaFaceEdge* edges = jnaListFaceEdges(count, boundary, &arena);
    double* angles = jnaArena_Take(&arena, mesh->nodeCount, sizeof(*angles));
    JN_TRY(jnaArena_Check(&arena, "a mesh", error));
    BoundaryAngles(mesh, count, boundary, edges, angles);
    report->forcedCount = report->unforcedCount = 0;
    for (int t = 0; t < mesh->tetrahedronCount; ++t) {
        const int32_t* c = mesh->tetrahedra + 4 * t;
        double six[6], smallest = 180, surface = 180;
        FindDihedrals(
            mesh->nodes + 3 * c[0], mesh->nodes + 3 * c[1], mesh->nodes + 3 * c[2], mesh->nodes + 3 * c[3], six);
        for (int e = 0; e < 6; ++e) {
            LowerTo(&smallest, six[e] * JNA_DEGREES);
        }
        if (smallest >= BAD_ANGLE) {
            continue;
        }
        for (int k = 0; k < 4; ++k) {
            LowerTo(&surface, angles[c[k]]);
        }
        bool forced = surface < FORCED_FACTOR * BAD_ANGLE;
        int listed = report->forcedCount + report->unforcedCount;
        if (listed < JNA_MAX_LISTED) {
            report->forced[listed] = (jnaForcedTetrahedron){t, smallest, surface};
        }
        report->forcedCount += forced;
        report->unforcedCount += !forced;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
