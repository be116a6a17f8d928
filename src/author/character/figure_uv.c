// Charts of the figure: the body is cut into 16 half shells (front and back of head, trunk and legs; upper
// and lower side of the arms; top of the feet and soles), each is laid flat as rigidly as possible and all
// are packed into the unit square.
//
// Flattening (Liu and others 2008, "A local/global approach to mesh parameterization"): from a plain
// projection, turn by turn the best rotation of every triangle and the least-squares vertices for these
// rotations,
//
//   sum_t sum_i cot_i | (u_i - u_j) - R_t (x_i - x_j) |^2
//
// with x the triangle in its own plane. Left charts are mirrored to the right.
#include "character/figure_internal.h"

#include "base/try.h"

#include <string.h>

enum {
    HEAD_FRONT,
    HEAD_BACK,
    TRUNK_FRONT,
    TRUNK_BACK,
    ARM_TOP, // from here on: left ones, then right ones
    ARM_BOTTOM,
    LEG_FRONT,
    LEG_BACK,
    FOOT_TOP,
    SOLE,
    LEFT_CHARTS_END,
    SIDE_CHARTS = LEFT_CHARTS_END - ARM_TOP,
    CHART_COUNT = LEFT_CHARTS_END + SIDE_CHARTS
};
enum { TIDY_PASSES = 8, FLATTEN_ROUNDS = 40, SOLVE_STEPS = 36 };

// Space around every chart, in metres on the body.
#define PADDING 0.012
// Smallest cotangent weight: negative ones of obtuse triangles would let the flat triangles fold.
#define LEAST_WEIGHT 0.02

// Directions across and along each chart before flattening; the flat chart starts as a projection onto them.
static const double projections[LEFT_CHARTS_END][2][3] = {
    {{1, 0, 0}, {0, 1, 0}},
    {{-1, 0, 0}, {0, 1, 0}},
    {{1, 0, 0}, {0, 1, 0}},
    {{-1, 0, 0}, {0, 1, 0}},
    {{0, 0, -1}, {-0.766, 0.643, 0}},
    {{0, 0, 1}, {-0.766, 0.643, 0}},
    {{1, 0, 0}, {0, 1, 0}},
    {{-1, 0, 0}, {0, 1, 0}},
    {{1, 0, 0}, {0, 0.3, -1}},
    {{1, 0, 0}, {0, 0, 1}},
};

typedef struct Chart {
    int vertexCount, triangleCount;
    int* vertices;    // [vertexCount], of the mesh
    int32_t* corners; // [triangleCount][3], of the chart
    int* triangles;   // [triangleCount], of the mesh
    double* flat;     // [vertexCount][2], metres
    double* weights;  // [triangleCount][3], cotangent of the corner
    double* plane;    // [triangleCount][3][2], the triangle in its own plane
} Chart;

// The chart that a point of the left half belongs to.
static int ChartOf(const double p[3])
{
    double arm = (p[0] - 0.19) * 0.766 - (p[1] - 1.35) * 0.643;
    double above = (p[0] - 0.19) * 0.643 + (p[1] - 1.35) * 0.766;
    if (p[0] > 0.25 && p[1] > 0.70 && arm > 0.055) {
        return above > 0 ? ARM_TOP : ARM_BOTTOM;
    }
    double inner = 0.760 + 0.55 * p[0];
    if (p[1] < inner) {
        double middle = 0.002 - 0.032 * SmoothStep(0.48, 0.09, p[1]);
        if (p[1] < 0.020) {
            return SOLE;
        }
        bool front = p[2] > middle;
        return p[1] < 0.105 && front ? FOOT_TOP : front ? LEG_FRONT : LEG_BACK;
    }
    if (p[1] > 1.44 + 0.18 * (p[2] < 0 ? -0.3 * p[2] : -p[2])) {
        return p[2] > -0.004 ? HEAD_FRONT : HEAD_BACK;
    }
    return p[2] > -0.012 ? TRUNK_FRONT : TRUNK_BACK;
}

// The triangle across each edge. across: [triangleCount][3], -1 for none.
static jnResult FindAcross(const FigureMesh* mesh, jnaArena* arena, int* across, jnError* error)
{
    int* first = jnaArena_Take(arena, mesh->vertexCount, sizeof(int));
    int* next = jnaArena_Take(arena, mesh->triangleCount, 3 * sizeof(int));
    if (arena->failed) {
        return jnaArena_Check(arena, "the figure's charts", error);
    }
    memset(first, -1, sizeof(int) * (size_t)mesh->vertexCount);
    for (int h = 0; h < 3 * mesh->triangleCount; ++h) {
        int from = mesh->triangles[h];
        next[h] = first[from];
        first[from] = h;
    }
    for (int h = 0; h < 3 * mesh->triangleCount; ++h) {
        int from = mesh->triangles[h], to = mesh->triangles[h / 3 * 3 + (h + 1) % 3];
        across[h] = -1;
        for (int g = first[to]; g >= 0; g = next[g]) {
            across[h] = mesh->triangles[g / 3 * 3 + (g + 1) % 3] == from ? g / 3 : across[h];
        }
    }
    return jn_ok;
}

static int MirrorChart(int chart)
{
    return chart < ARM_TOP ? chart : chart < LEFT_CHARTS_END ? chart + SIDE_CHARTS : chart - SIDE_CHARTS;
}

// Charts of the left half by place, teeth at their edges taken off, then the right half as a copy.
static void AssignCharts(const FigureMesh* mesh, const int* across, int* charts)
{
    int half = mesh->triangleCount / 2;
    for (int t = 0; t < half; ++t) {
        double middle[3] = {0, 0, 0};
        for (int k = 0; k < 9; ++k) {
            middle[k % 3] += mesh->positions[3 * (size_t)mesh->triangles[3 * t + k / 3] + (size_t)(k % 3)] / 3;
        }
        charts[t] = ChartOf(middle);
        charts[t + half] = MirrorChart(charts[t]);
    }
    for (int pass = 0; pass < TIDY_PASSES; ++pass) {
        for (int t = 0; t < half; ++t) {
            int n[3];
            for (int c = 0; c < 3; ++c) {
                int other = across[3 * t + c];
                n[c] = other < 0 ? -1 : charts[other];
            }
            int wanted = n[0] == n[1] || n[0] == n[2] ? n[0] : n[1] == n[2] ? n[1] : charts[t];
            if (wanted >= 0 && wanted < LEFT_CHARTS_END) {
                charts[t] = wanted;
            }
        }
        for (int t = 0; t < half; ++t) {
            charts[t + half] = MirrorChart(charts[t]);
        }
    }
}

// Lays a triangle into its own plane and takes the cotangents of its corners.
static void MeasureTriangle(const FigureMesh* mesh, const int32_t* corners, double plane[6], double weights[3])
{
    const double* p[3];
    for (int c = 0; c < 3; ++c) {
        p[c] = mesh->positions + 3 * (size_t)corners[c];
    }
    double n[3];
    jnaAreaVector(p[0], p[1], p[2], n);
    double area = jnaLength(n), base = jnaDistance(p[0], p[1]);
    double e[3] = {p[1][0] - p[0][0], p[1][1] - p[0][1], p[1][2] - p[0][2]};
    double f[3] = {p[2][0] - p[0][0], p[2][1] - p[0][1], p[2][2] - p[0][2]};
    const double flat[6] = {0, 0, base, 0, jnaDot(e, f) / base, area / base};
    memcpy(plane, flat, sizeof(flat));
    for (int c = 0; c < 3; ++c) {
        const double *a = flat + 2 * c, *b = flat + 2 * ((c + 1) % 3), *d = flat + 2 * ((c + 2) % 3);
        double cotangent = ((b[0] - a[0]) * (d[0] - a[0]) + (b[1] - a[1]) * (d[1] - a[1])) / area;
        weights[c] = cotangent > LEAST_WEIGHT ? cotangent : LEAST_WEIGHT;
    }
}

// Gathers a chart and projects it. local: [vertexCount of the mesh], scratch.
static jnResult CreateChart(
    const FigureMesh* mesh, const int* charts, int which, int* local, jnaArena* arena, Chart* chart, jnError* error)
{
    *chart = (Chart){0};
    for (int t = 0; t < mesh->triangleCount; ++t) {
        chart->triangleCount += charts[t] == which;
    }
    int count = chart->triangleCount;
    chart->vertices = jnaArena_Take(arena, count, 3 * sizeof(int));
    chart->corners = jnaArena_Take(arena, count, 3 * sizeof(int32_t));
    chart->triangles = jnaArena_Take(arena, count, sizeof(int));
    chart->flat = jnaArena_Take(arena, count, 6 * sizeof(double));
    chart->weights = jnaArena_Take(arena, count, 3 * sizeof(double));
    chart->plane = jnaArena_Take(arena, count, 6 * sizeof(double));
    if (arena->failed) {
        return jnaArena_Check(arena, "the figure's charts", error);
    }
    memset(local, -1, sizeof(int) * (size_t)mesh->vertexCount);
    int next = 0;
    for (int t = 0; t < mesh->triangleCount; ++t) {
        if (charts[t] != which) {
            continue;
        }
        const int32_t* corners = mesh->triangles + 3 * t;
        for (int c = 0; c < 3; ++c) {
            int v = corners[c];
            if (local[v] < 0) {
                local[v] = chart->vertexCount;
                chart->vertices[chart->vertexCount++] = v;
            }
            chart->corners[3 * next + c] = local[v];
        }
        MeasureTriangle(mesh, corners, chart->plane + 6 * next, chart->weights + 3 * next);
        chart->triangles[next++] = t;
    }
    for (int v = 0; v < chart->vertexCount; ++v) {
        const double* p = mesh->positions + 3 * (size_t)chart->vertices[v];
        chart->flat[2 * v] = jnaDot(p, projections[which][0]);
        chart->flat[2 * v + 1] = jnaDot(p, projections[which][1]);
    }
    return jn_ok;
}

// Applies the weighted Laplacian of a chart to pairs of numbers.
static void ApplyLaplacian(const Chart* chart, const double* x, double* out)
{
    memset(out, 0, sizeof(double) * 2 * (size_t)chart->vertexCount);
    for (int t = 0; t < chart->triangleCount; ++t) {
        const int32_t* corners = chart->corners + 3 * t;
        // The weight of an edge is that of the corner across from it.
        const double* weights = chart->weights + 3 * t;
        for (int c = 0; c < 3; ++c) {
            int a = 2 * corners[c < 2 ? c + 1 : 0], b = 2 * corners[c > 0 ? c - 1 : 2];
            double flow = weights[c] * (x[a] - x[b]), other = weights[c] * (x[a + 1] - x[b + 1]);
            out[a] += flow;
            out[b] -= flow;
            out[a + 1] += other;
            out[b + 1] -= other;
        }
    }
}

// Right-hand side: every triangle's own shape, turned to fit the flat one best.
static void RotateTriangles(const Chart* chart, double* right)
{
    memset(right, 0, sizeof(double) * 2 * (size_t)chart->vertexCount);
    for (int t = 0; t < chart->triangleCount; ++t) {
        const int32_t* corners = chart->corners + 3 * t;
        const double* plane = chart->plane + 6 * t;
        double along = 0, across = 0;
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            double x[2] = {plane[2 * a] - plane[2 * b], plane[2 * a + 1] - plane[2 * b + 1]};
            const double *ua = chart->flat + 2 * corners[a], *ub = chart->flat + 2 * corners[b];
            double u[2] = {ua[0] - ub[0], ua[1] - ub[1]};
            along += chart->weights[3 * t + c] * (x[0] * u[0] + x[1] * u[1]);
            across += chart->weights[3 * t + c] * (x[0] * u[1] - x[1] * u[0]);
        }
        double length = sqrt(along * along + across * across);
        double cosine = length > 0 ? along / length : 1, sine = length > 0 ? across / length : 0;
        for (int c = 0; c < 3; ++c) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            double x[2] = {plane[2 * a] - plane[2 * b], plane[2 * a + 1] - plane[2 * b + 1]};
            double w = chart->weights[3 * t + c];
            double turned[2] = {w * (cosine * x[0] - sine * x[1]), w * (sine * x[0] + cosine * x[1])};
            for (int i = 0; i < 2; ++i) {
                right[2 * corners[a] + i] += turned[i];
                right[2 * corners[b] + i] -= turned[i];
            }
        }
    }
}

static double DotPairs(const double* a, const double* b, int count)
{
    double sum = 0;
    for (int i = 0; i < 2 * count; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Conjugate gradients from the flat positions at hand. scratch: [4][vertexCount][2].
static void Solve(Chart* chart, const double* right, double* scratch)
{
    int n = chart->vertexCount;
    double *r = scratch, *d = r + 2 * n, *q = d + 2 * n;
    ApplyLaplacian(chart, chart->flat, q);
    for (int i = 0; i < 2 * n; ++i) {
        r[i] = right[i] - q[i];
        d[i] = r[i];
    }
    double square = DotPairs(r, r, n), enough = 1e-16 * DotPairs(right, right, n);
    for (int step = 0; step < SOLVE_STEPS && square > enough; ++step) {
        ApplyLaplacian(chart, d, q);
        double alpha = square / DotPairs(d, q, n), before = square;
        for (int i = 0; i < 2 * n; ++i) {
            chart->flat[i] += alpha * d[i];
            r[i] -= alpha * q[i];
        }
        square = DotPairs(r, r, n);
        for (int i = 0; i < 2 * n; ++i) {
            d[i] = r[i] + square / before * d[i];
        }
    }
}

static jnResult Flatten(Chart* chart, jnaArena* arena, jnError* error)
{
    double* right = jnaArena_Take(arena, chart->vertexCount, 2 * sizeof(double));
    double* scratch = jnaArena_Take(arena, chart->vertexCount, 8 * sizeof(double));
    for (int round = 0; !arena->failed && round < FLATTEN_ROUNDS; ++round) {
        RotateTriangles(chart, right);
        Solve(chart, right, scratch);
    }
    return jnaArena_Check(arena, "the figure's charts", error);
}

// Corner of a chart's box and its size, with padding.
static void MeasureChart(const Chart* chart, double low[2], double size[2])
{
    double high[2] = {-1e9, -1e9};
    low[0] = low[1] = 1e9;
    for (int i = 0; i < 2 * chart->vertexCount; ++i) {
        double x = chart->flat[i];
        low[i % 2] = x < low[i % 2] ? x : low[i % 2];
        high[i % 2] = x > high[i % 2] ? x : high[i % 2];
    }
    for (int i = 0; i < 2; ++i) {
        low[i] -= PADDING;
        size[i] = high[i] + PADDING - low[i];
    }
}

// Fills shelves of the given width with boxes in the given order; returns the height.
static double PackShelves(double width, const double sizes[][2], const int* order, double places[][2])
{
    double x = 0, y = 0, shelf = 0;
    for (int i = 0; i < CHART_COUNT; ++i) {
        int c = order[i];
        if (x > 0 && x + sizes[c][0] > width) {
            y += shelf;
            x = shelf = 0;
        }
        places[c][0] = x;
        places[c][1] = y;
        x += sizes[c][0];
        shelf = sizes[c][1] > shelf ? sizes[c][1] : shelf;
    }
    return y + shelf;
}

// Tallest first onto shelves; the width that makes the smallest square. Returns the square's side.
static double PackCharts(const double sizes[][2], double places[][2])
{
    int order[CHART_COUNT];
    double widest = 0;
    for (int c = 0; c < CHART_COUNT; ++c) {
        int at = c;
        for (; at > 0 && sizes[order[at - 1]][1] < sizes[c][1]; --at) {
            order[at] = order[at - 1];
        }
        order[at] = c;
        widest = sizes[c][0] > widest ? sizes[c][0] : widest;
    }
    double bestSide = 1e9, bestWidth = widest;
    for (int i = 0; i < 200; ++i) {
        double width = widest + 0.02 * i;
        double height = PackShelves(width, sizes, order, places);
        double side = height > width ? height : width;
        if (side < bestSide) {
            bestSide = side;
            bestWidth = width;
        }
    }
    PackShelves(bestWidth, sizes, order, places);
    return bestSide;
}

// Where all charts go.
typedef struct Layout {
    double lows[LEFT_CHARTS_END][2], sizes[CHART_COUNT][2], places[CHART_COUNT][2];
    double side; // of the square around them
} Layout;

// Writes the corners of a chart's triangles, and of its mirror image where it is one of a pair.
static void WriteChart(const FigureMesh* mesh, const Chart* chart, int which, const Layout* layout, double* uvs)
{
    int other = MirrorChart(which), half = mesh->triangleCount / 2;
    for (int h = 0; h < 3 * chart->triangleCount; ++h) {
        const double* flat = chart->flat + 2 * chart->corners[h];
        double u = flat[0] - layout->lows[which][0], v = flat[1] - layout->lows[which][1];
        size_t t = (size_t)chart->triangles[h / 3];
        double* out = uvs + 6 * t + 2 * (h % 3);
        out[0] = (layout->places[which][0] + u) / layout->side;
        out[1] = (layout->places[which][1] + v) / layout->side;
        if (other != which) {
            // The mirrored triangle runs the other way round: corners 1 and 2 change places.
            static const int swapped[3] = {0, 2, 1};
            out = uvs + 6 * (t + (size_t)half) + 2 * swapped[h % 3];
            out[0] = (layout->places[other][0] + layout->sizes[other][0] - u) / layout->side;
            out[1] = (layout->places[other][1] + v) / layout->side;
        }
    }
}

jnResult jnaComputeFigureUvs(const FigureMesh* mesh, int* charts, double* uvs, jnError* error)
{
    Chart parts[LEFT_CHARTS_END] = {{0}};
    Layout l;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int* across = jnaArena_Take(&arena, mesh->triangleCount, 3 * sizeof(int));
    int* local = jnaArena_Take(&arena, mesh->vertexCount, sizeof(int));
    JN_TRY(FindAcross(mesh, &arena, across, error));
    AssignCharts(mesh, across, charts);
    for (int c = 0; c < LEFT_CHARTS_END; ++c) {
        JN_TRY(CreateChart(mesh, charts, c, local, &arena, &parts[c], error));
        JN_TRY(Flatten(&parts[c], &arena, error));
        MeasureChart(&parts[c], l.lows[c], l.sizes[c]);
        memcpy(l.sizes[MirrorChart(c)], l.sizes[c], sizeof(l.sizes[c]));
    }
    l.side = PackCharts((const double(*)[2])l.sizes, l.places);
    for (int c = 0; c < LEFT_CHARTS_END; ++c) {
        WriteChart(mesh, &parts[c], c, &l, uvs);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
