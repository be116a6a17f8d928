// Material of each tetrahedron: the manifest's general flesh, changed for the joints it lists, changed again for the
// layer of fat under the skin.
//
// A tetrahedron belongs to the joint with the largest weight over its corners. It is fat if its middle lies no deeper
// than the layer is thick. Distances to the skin are exact, by a grid whose cells know the triangles within that depth.
#include "section.h"

#include "inside_internal.h"

#include "jounce-author/inside.h"

#include "character/affine.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MATERIALS = 256, MAX_CELLS_A_SIDE = 128 };

typedef struct Grid {
    double low[3], cell;
    int sides[3];
    int* starts;  // [cells + 1]
    int* entries; // triangles whose distance to the cell may be below the depth
} Grid;

static double SegmentDistance(const double* p, const double* a, const double* b)
{
    double ab[3], ap[3], d[3];
    for (int i = 0; i < 3; ++i) {
        ab[i] = b[i] - a[i];
        ap[i] = p[i] - a[i];
    }
    double square = jnaDot(ab, ab), t = square > 0 ? fmin(fmax(jnaDot(ap, ab) / square, 0), 1) : 0;
    for (int i = 0; i < 3; ++i) {
        d[i] = ap[i] - t * ab[i];
    }
    return sqrt(jnaDot(d, d));
}

// Above the triangle the distance to its plane; beside it, to the nearest edge.
static double TriangleDistance(const double* p, const double* nodes, const int32_t* corners)
{
    const double* c[3];
    double normal[3], ab[3], ac[3], least = HUGE_VAL;
    bool above = true;
    for (int i = 0; i < 3; ++i) {
        c[i] = nodes + 3 * (size_t)corners[i];
    }
    for (int i = 0; i < 3; ++i) {
        ab[i] = c[1][i] - c[0][i];
        ac[i] = c[2][i] - c[0][i];
    }
    jnaCross(ab, ac, normal);
    double area = jnaNormalize(normal), offset[3];
    for (int e = 0; e < 3; ++e) {
        const double *a = c[e], *b = c[(e + 1) % 3];
        double edge[3], side[3];
        for (int i = 0; i < 3; ++i) {
            edge[i] = b[i] - a[i];
            offset[i] = p[i] - a[i];
        }
        jnaCross(edge, offset, side);
        above = above && area > 0 && jnaDot(side, normal) >= 0;
        least = fmin(least, SegmentDistance(p, a, b));
    }
    return above ? fabs(jnaDot(offset, normal)) : least;
}

static void DestroyGrid(Grid* grid)
{
    free(grid->starts);
    free(grid->entries);
}

// First and last cell that a triangle, widened by the depth, touches along an axis.
static void CellRange(const Grid* grid, const jnaSlicer* skin, int triangle, double depth, int first[3], int last[3])
{
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int k = 0; k < 3; ++k) {
            double x = skin->nodes[3 * (size_t)skin->triangles[3 * (size_t)triangle + (size_t)k] + (size_t)i];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        int most = grid->sides[i] - 1;
        int a = (int)floor((low - depth - grid->low[i]) / grid->cell);
        int b = (int)floor((high + depth - grid->low[i]) / grid->cell);
        first[i] = a < 0 ? 0 : a;
        last[i] = b > most ? most : b;
    }
}

// Two passes over the triangles: count, then fill.
static bool FillGrid(Grid* grid, const jnaSlicer* skin, double depth)
{
    size_t cells = (size_t)grid->sides[0] * (size_t)grid->sides[1] * (size_t)grid->sides[2];
    grid->starts = calloc(cells + 2, sizeof(int));
    for (int pass = 0; pass < 2; ++pass) {
        if (grid->starts == NULL || (pass == 1 && grid->entries == NULL)) {
            return false;
        }
        for (int t = 0; t < skin->triangleCount; ++t) {
            int first[3], last[3];
            CellRange(grid, skin, t, depth, first, last);
            for (int z = first[2]; z <= last[2]; ++z) {
                for (int y = first[1]; y <= last[1]; ++y) {
                    for (int x = first[0]; x <= last[0]; ++x) {
                        size_t cell =
                            ((size_t)z * (size_t)grid->sides[1] + (size_t)y) * (size_t)grid->sides[0] + (size_t)x;
                        if (pass == 0) {
                            grid->starts[cell + 2]++;
                        } else {
                            grid->entries[grid->starts[cell + 1]++] = t;
                        }
                    }
                }
            }
        }
        for (size_t cell = 0; pass == 0 && cell < cells; ++cell) {
            grid->starts[cell + 2] += grid->starts[cell + 1];
        }
        if (pass == 0) {
            grid->entries = malloc(((size_t)grid->starts[cells + 1] + 1) * sizeof(int));
        }
    }
    return true;
}

static bool CreateGrid(const jnaVolume* v, const jnaSlicer* skin, double depth, Grid* grid)
{
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, largest = 0;
    *grid = (Grid){.low = {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
    for (int n = 0; n < v->nodeCount; ++n) {
        for (int i = 0; i < 3; ++i) {
            grid->low[i] = fmin(grid->low[i], v->nodes[3 * (size_t)n + (size_t)i]);
            high[i] = fmax(high[i], v->nodes[3 * (size_t)n + (size_t)i]);
            largest = fmax(largest, high[i] - grid->low[i]);
        }
    }
    grid->cell = fmax(depth, largest / MAX_CELLS_A_SIDE);
    for (int i = 0; i < 3; ++i) {
        grid->sides[i] = 1 + (int)((high[i] - grid->low[i]) / grid->cell);
    }
    return FillGrid(grid, skin, depth);
}

static bool IsNearSkin(const Grid* grid, const jnaSlicer* skin, const double* p, double depth)
{
    size_t at[3];
    for (int i = 0; i < 3; ++i) {
        int x = (int)floor((p[i] - grid->low[i]) / grid->cell);
        at[i] = (size_t)(x < 0 ? 0 : x < grid->sides[i] ? x : grid->sides[i] - 1);
    }
    size_t cell = (at[2] * (size_t)grid->sides[1] + at[1]) * (size_t)grid->sides[0] + at[0];
    for (int i = grid->starts[cell]; i < grid->starts[cell + 1]; ++i) {
        if (TriangleDistance(p, skin->nodes, skin->triangles + 3 * (size_t)grid->entries[i]) <= depth) {
            return true;
        }
    }
    return false;
}

// Moves the tetrahedra near the skin to the fat twin of their region.
static jnResult FindFat(jnaVolume* v, double depth, jnError* error)
{
    jnaSlicer skin;
    Grid grid = {0};
    jnResult result = jnaCreateSlicer(v, &skin, error);
    if (result != jn_ok) {
        return result;
    }
    if (!CreateGrid(v, &skin, depth, &grid)) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the fat of %d tetrahedra", v->tetrahedronCount);
    }
    int count = result == jn_ok ? v->tetrahedronCount : 0;
#pragma omp parallel for schedule(static)
    for (int t = 0; t < count; ++t) {
        double middle[3] = {0, 0, 0};
        for (int k = 0; k < 12; ++k) {
            middle[k % 3] += v->nodes[3 * (size_t)v->tetrahedra[4 * (size_t)t + (size_t)(k / 3)] + (size_t)(k % 3)] / 4;
        }
        v->regions[t] = (uint8_t)(v->regions[t] + IsNearSkin(&grid, &skin, middle, depth));
    }
    DestroyGrid(&grid);
    jnaDestroySlicer(&skin);
    return result;
}

// The joint with the largest weight over the corners; the first of equals.
static int TetrahedronJoint(const jnaVolume* v, int t)
{
    int best = -1;
    double most = 0;
    const int32_t* c = v->tetrahedra + 4 * (size_t)t;
    for (int k = 0; k < 4; ++k) {
        for (int32_t i = v->rowStarts[c[k]]; i < v->rowStarts[c[k] + 1]; ++i) {
            double sum = 0;
            for (int n = 0; n < 4; ++n) {
                sum += jnaWeightOf(v, c[n], v->joints[i]);
            }
            if (sum > most) {
                most = sum;
                best = v->joints[i];
            }
        }
    }
    return best;
}

static jnaMaterial Change(jnaMaterial material, const jnaManifestFlesh* flesh)
{
    material.young *= flesh->youngFactor;
    material.density *= flesh->densityFactor;
    material.poisson = flesh->poisson >= 0 ? flesh->poisson : material.poisson;
    return material;
}

// General flesh and that of the joints listed, each with its fat twin behind it where there is fat.
static void ListMaterials(const jnaManifest* m, int twins, jnaMaterial* materials)
{
    jnaMaterial general = {m->materials.young, m->materials.poisson, m->materials.density};
    for (int i = 0; i <= m->materials.jointCount; ++i) {
        jnaMaterial* material = &materials[i * twins];
        material[0] = i > 0 ? Change(general, &m->materials.joints[i - 1]) : general;
        if (twins == 2) {
            material[1] = Change(material[0], &m->materials.fat);
        }
    }
}

jnResult jnaVolume_FillMaterials(
    jnaVolume* v, const jnaCharacter* character, const jnaManifest* manifest, jnError* error)
{
    JN_ASSERT(v->rowStarts != NULL);
    jnaManifest standard = jnaDefaultManifest();
    const jnaManifest* m = manifest != NULL ? manifest : &standard;
    int twins = m->materials.fatDepth > 0 ? 2 : 1, count = twins * (m->materials.jointCount + 1);
    if (count > MAX_MATERIALS) {
        return jnFail(error, jn_badData, "materials: %d kinds of flesh; there may be %d", count, MAX_MATERIALS);
    }
    free(v->regions);
    free(v->materials);
    v->regions = malloc((size_t)v->tetrahedronCount + 1);
    v->materials = calloc((size_t)count, sizeof(*v->materials));
    int* kinds = calloc((size_t)character->jointCount + 1, sizeof(int)); // by joint
    jnResult result = jn_ok;
    if (v->regions == NULL || v->materials == NULL || kinds == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the material of %d tetrahedra", v->tetrahedronCount);
    }
    for (int i = 0; result == jn_ok && i < m->materials.jointCount; ++i) {
        int joint = jnaFindJoint(character, m->materials.joints[i].joint);
        if (joint < 0) {
            result =
                jnFail(error, jn_badData, "materials: the character has no joint '%s'", m->materials.joints[i].joint);
        } else {
            kinds[joint] = i + 1;
        }
    }
    if (result == jn_ok) {
        ListMaterials(m, twins, v->materials);
        v->materialCount = count;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            v->regions[t] = (uint8_t)(m->materials.jointCount > 0 ? twins * kinds[TetrahedronJoint(v, t)] : 0);
        }
        result = twins == 2 ? FindFat(v, m->materials.fatDepth, error) : jn_ok;
    }
    free(kinds);
    return result;
}
