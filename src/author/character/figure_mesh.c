// From the implicit body to a closed surface: a net of one vertex per grid cell that the surface passes
// through, one quad per grid edge that it crosses (Gibson's surface nets), evened out afterwards.
//
// Only the left half is made. The first layer of cells straddles x = 0 and its vertices are put on that
// plane; the right half is the mirror image, bit for bit. The grid is finer around the head and the hands,
// where small shapes are.
#include "character/figure_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 62, LAYERS = 128, SLICES = 46 }; // nodes in x, y, z

// Spacing of the grid in metres away from head and hands.
#define SPACING 0.0209
#define LOW_Y (-0.030)
// Slices in front of z = 0, as a share of all.
#define MIDDLE_Z 0.463

typedef struct Grid {
    double x[COLUMNS]; // before scaling by HeadScale
    double y[LAYERS];
    double* values;    // [LAYERS][SLICES][COLUMNS]
    int32_t* vertices; // [LAYERS - 1][SLICES - 1][COLUMNS - 1], -1 where the surface does not pass
} Grid;

// How much finer the grid is at a height: the head has a face.
static double HeadScale(double y)
{
    return 1 - 0.47 * SmoothStep(1.36, 1.50, y);
}

// How much finer it is at a distance from the middle: the hands are thin.
static double HandScale(double x)
{
    return 1 - 0.42 * SmoothStep(0.46, 0.60, x);
}

static void FillAxes(Grid* grid)
{
    grid->y[0] = LOW_Y;
    for (int j = 1; j < LAYERS; ++j) {
        grid->y[j] = grid->y[j - 1] + SPACING * HeadScale(grid->y[j - 1]);
    }
    grid->x[0] = -0.5 * SPACING;
    grid->x[1] = 0.5 * SPACING;
    for (int i = 2; i < COLUMNS; ++i) {
        grid->x[i] = grid->x[i - 1] + SPACING * HandScale(grid->x[i - 1]);
    }
}

static void NodePosition(const Grid* grid, int i, int j, int k, double p[3])
{
    double scale = HeadScale(grid->y[j]);
    p[0] = grid->x[i] * scale;
    p[1] = grid->y[j];
    p[2] = ((double)k - MIDDLE_Z * SLICES) * SPACING * scale * HandScale(grid->x[i]);
}

static size_t Node(int i, int j, int k)
{
    return ((size_t)j * SLICES + (size_t)k) * COLUMNS + (size_t)i;
}

static size_t Cell(int i, int j, int k)
{
    return ((size_t)j * (SLICES - 1) + (size_t)k) * (COLUMNS - 1) + (size_t)i;
}

static void FillValues(Grid* grid)
{
#pragma omp parallel for schedule(dynamic)
    for (int j = 0; j < LAYERS; ++j) {
        for (int k = 0; k < SLICES; ++k) {
            for (int i = 0; i < COLUMNS; ++i) {
                double p[3];
                NodePosition(grid, i, j, k, p);
                grid->values[Node(i, j, k)] = jnaFigureDistance(p);
            }
        }
    }
}

// Mean of the points where the surface crosses the edges of a cell; false where it crosses none.
static bool CellVertex(const Grid* grid, int i, int j, int k, double mean[3])
{
    int count = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int a = 0; a < 8; ++a) {
        for (int axis = 0; axis < 3; ++axis) {
            int b = a | 1 << axis;
            if (b == a) {
                continue;
            }
            int u[3] = {i + (a & 1), j + (a >> 1 & 1), k + (a >> 2)},
                v[3] = {i + (b & 1), j + (b >> 1 & 1), k + (b >> 2)};
            double f = grid->values[Node(u[0], u[1], u[2])], g = grid->values[Node(v[0], v[1], v[2])];
            if ((f < 0) == (g < 0)) {
                continue;
            }
            double p[3], q[3], t = f / (f - g);
            NodePosition(grid, u[0], u[1], u[2], p);
            NodePosition(grid, v[0], v[1], v[2], q);
            for (int c = 0; c < 3; ++c) {
                mean[c] += p[c] + t * (q[c] - p[c]);
            }
            ++count;
        }
    }
    for (int c = 0; c < 3 && count > 0; ++c) {
        mean[c] /= count;
    }
    if (i == 0) {
        mean[0] = 0;
    }
    return count > 0;
}

// Numbers the cells' vertices, those on the middle plane first. Returns how many there are; positions may be
// NULL.
static int PlaceVertices(const Grid* grid, double* positions)
{
    int count = 0;
    for (int i = 0; i < COLUMNS - 1; ++i) {
        for (int j = 0; j < LAYERS - 1; ++j) {
            for (int k = 0; k < SLICES - 1; ++k) {
                double mean[3];
                bool passes = CellVertex(grid, i, j, k, mean);
                grid->vertices[Cell(i, j, k)] = passes ? count : -1;
                if (passes && positions != NULL) {
                    memcpy(positions + 3 * (size_t)count, mean, sizeof(mean));
                }
                count += passes;
            }
        }
    }
    return count;
}

// Two triangles over the shorter diagonal. `outward` says whether the corners already run counter-clockwise.
static void AddQuad(HalfMesh* half, int32_t a, int32_t b, int32_t c, int32_t d, bool outward)
{
    const double* p = half->positions;
    bool first = jnaDistance(p + 3 * (size_t)a, p + 3 * (size_t)c) <= jnaDistance(p + 3 * (size_t)b, p + 3 * (size_t)d);
    int32_t forward[6] = {a, b, first ? c : d, first ? a : b, c, d};
    if (!first) {
        int32_t other[6] = {a, b, d, b, c, d};
        memcpy(forward, other, sizeof(forward));
    }
    int32_t* out = half->triangles + 3 * (size_t)half->triangleCount;
    for (int t = 0; t < 2; ++t) {
        out[3 * t] = forward[3 * t];
        out[3 * t + 1] = forward[3 * t + (outward ? 1 : 2)];
        out[3 * t + 2] = forward[3 * t + (outward ? 2 : 1)];
    }
    half->triangleCount += 2;
}

// The quad around one grid edge, from the four cells that share it. The edge starts at a node and runs along
// `axis`.
static void AddEdge(const Grid* grid, HalfMesh* half, const int node[3], int axis)
{
    int end[3] = {node[0], node[1], node[2]};
    end[axis]++;
    double f = grid->values[Node(node[0], node[1], node[2])], g = grid->values[Node(end[0], end[1], end[2])];
    if ((f < 0) == (g < 0)) {
        return;
    }
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int32_t corners[4];
    for (int c = 0; c < 4; ++c) {
        int cell[3] = {node[0], node[1], node[2]};
        cell[u] -= c == 0 || c == 3;
        cell[v] -= c == 0 || c == 1;
        corners[c] = grid->vertices[Cell(cell[0], cell[1], cell[2])];
    }
    AddQuad(half, corners[0], corners[1], corners[2], corners[3], f < 0);
}

static void AddQuads(const Grid* grid, HalfMesh* half)
{
    for (int j = 1; j < LAYERS - 1; ++j) {
        for (int k = 1; k < SLICES - 1; ++k) {
            for (int i = 1; i < COLUMNS - 1; ++i) {
                for (int axis = 0; axis < 3; ++axis) {
                    AddEdge(grid, half, (int[3]){i, j, k}, axis);
                }
            }
        }
    }
}

// half: of the arena.
static jnResult CreateHalf(jnaArena* arena, HalfMesh* half, jnError* error)
{
    jnResult result = jn_ok;
    Grid grid;
    *half = (HalfMesh){0};
    grid.values = jnaArena_Take(arena, LAYERS * SLICES * COLUMNS, sizeof(double));
    grid.vertices = jnaArena_Take(arena, LAYERS * SLICES * COLUMNS, sizeof(int32_t));
    JN_TRY(jnaArena_Check(arena, "the figure's grid", error));
    FillAxes(&grid);
    FillValues(&grid);
    half->vertexCount = PlaceVertices(&grid, NULL);
    // A net of quads has about as many quads as vertices; twice that is never reached.
    half->positions = jnaArena_Take(arena, half->vertexCount, 3 * sizeof(double));
    half->bordered = jnaArena_Take(arena, half->vertexCount, sizeof(bool));
    half->triangles = jnaArena_Take(arena, half->vertexCount, 4 * 3 * sizeof(int32_t));
    JN_TRY(jnaArena_Check(arena, "the figure's surface", error));
    PlaceVertices(&grid, half->positions);
    AddQuads(&grid, half);
done:
    return result;
}

// Both halves as one surface. The grid numbered the middle vertices first.
static jnResult Mirror(const HalfMesh* half, FigureMesh* mesh, jnError* error)
{
    int middle = 0;
    while (middle < half->vertexCount && half->positions[3 * (size_t)middle] == 0) {
        ++middle;
    }
    int left = half->vertexCount - middle;
    *mesh = (FigureMesh){.vertexCount = middle + 2 * left,
        .middleCount = middle,
        .leftCount = left,
        .triangleCount = 2 * half->triangleCount};
    jnaArena arena = {0};
    mesh->positions = jnaArena_Give(&arena, mesh->vertexCount, 3 * sizeof(double));
    mesh->bordered = jnaArena_Give(&arena, mesh->vertexCount, sizeof(bool));
    mesh->triangles = jnaArena_Give(&arena, mesh->triangleCount, 3 * sizeof(int32_t));
    if (arena.failed) {
        jnaDestroyFigureMesh(mesh);
        return jnaArena_Check(&arena, "the figure's surface", error);
    }
    memcpy(mesh->positions, half->positions, sizeof(double) * 3 * (size_t)half->vertexCount);
    memcpy(mesh->bordered, half->bordered, sizeof(bool) * (size_t)half->vertexCount);
    for (int v = middle; v < half->vertexCount; ++v) {
        mesh->bordered[v + left] = half->bordered[v];
        const double* p = half->positions + 3 * (size_t)v;
        double* q = mesh->positions + 3 * (size_t)(v + left);
        q[0] = -p[0];
        q[1] = p[1];
        q[2] = p[2];
    }
    for (int t = 0; t < half->triangleCount; ++t) {
        const int32_t* c = half->triangles + 3 * (size_t)t;
        int32_t* a = mesh->triangles + 3 * (size_t)t;
        int32_t* b = mesh->triangles + 3 * (size_t)(t + half->triangleCount);
        memcpy(a, c, 3 * sizeof(*c));
        b[0] = MirrorVertex(mesh, c[0]);
        b[1] = MirrorVertex(mesh, c[2]);
        b[2] = MirrorVertex(mesh, c[1]);
    }
    return jn_ok;
}

jnResult jnaCreateFigureMesh(FigureMesh* mesh, jnError* error)
{
    HalfMesh half;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    *mesh = (FigureMesh){0};
    JN_TRY(CreateHalf(&arena, &half, error));
    JN_TRY(jnaRelaxHalf(&half, error));
    JN_TRY(Mirror(&half, mesh, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaDestroyFigureMesh(FigureMesh* mesh)
{
    free(mesh->positions);
    free(mesh->bordered);
    free(mesh->triangles);
    *mesh = (FigureMesh){0};
}
