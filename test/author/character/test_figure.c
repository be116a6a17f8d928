// The built-in figure: a surface that can be filled with tetrahedra, weights and charts that can be trusted.
#include "helpers/the_figure.h"

#include <omp.h>
#include <stdio.h>

// FNV-1a of every array of the figure. It changes only when the figure is meant to change.
static const uint64_t FIGURE_HASH = 0x8d7ab5168059378full;

static int VertexOf(int corner)
{
    return figure.weld[figure.triangles[corner]];
}

static const float* PointOf(int corner)
{
    return figure.positions + 3 * VertexOf(corner);
}

static void Subtract(const float* a, const float* b, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)a[i] - (double)b[i];
    }
}

static double Dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void Cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static uint64_t HashFigure(const jnaCharacter* c)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    hash = Hash(hash, c->joints, sizeof(*c->joints) * (size_t)c->jointCount);
    hash = Hash(hash, c->positions, sizeof(float) * 3 * (size_t)c->vertexCount);
    hash = Hash(hash, c->influences, sizeof(*c->influences) * (size_t)c->vertexCount);
    hash = Hash(hash, c->weld, sizeof(int32_t) * (size_t)c->fileVertexCount);
    hash = Hash(hash, c->fileNormals, sizeof(float) * 3 * (size_t)c->fileVertexCount);
    hash = Hash(hash, c->fileUvs, sizeof(float) * 2 * (size_t)c->fileVertexCount);
    hash = Hash(hash, c->triangles, sizeof(int32_t) * 3 * (size_t)c->triangleCount);
    for (int p = 0; p < c->partCount; ++p) { // all of it is flesh
        hash = Hash(hash, &c->parts[p], offsetof(jnaPart, role));
    }
    return hash;
}

static void ItHasTheSizeItPromises(void** state)
{
    (void)state;
    assert_in_range(figure.vertexCount, 6000, 10000);
    assert_in_range(figure.jointCount, 18, 24);
    float low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
    for (int i = 0; i < 3 * figure.vertexCount; ++i) {
        low[i % 3] = fminf(low[i % 3], figure.positions[i]);
        high[i % 3] = fmaxf(high[i % 3], figure.positions[i]);
    }
    assert_true(fabsf(low[1]) < 0.002f);
    assert_true(high[1] > 1.65f && high[1] < 1.75f);
    int covered = 0;
    for (int p = 0; p < figure.partCount; ++p) {
        assert_int_equal(figure.parts[p].firstTriangle, covered);
        assert_true(figure.parts[p].triangleCount > 0);
        covered += figure.parts[p].triangleCount;
    }
    assert_int_equal(covered, figure.triangleCount);
}

static int CompareKeys(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static void EveryEdgeHasTwoTrianglesThatAgree(void** state)
{
    (void)state;
    size_t count = 3 * (size_t)figure.triangleCount;
    uint64_t* keys = malloc(sizeof(*keys) * count);
    assert_non_null(keys);
    for (size_t h = 0; h < count; ++h) {
        uint64_t a = (uint64_t)VertexOf((int)h), b = (uint64_t)VertexOf((int)(h / 3 * 3 + (h + 1) % 3));
        keys[h] = a << 32 | b;
    }
    qsort(keys, count, sizeof(*keys), CompareKeys);
    for (size_t h = 0; h < count; ++h) {
        uint64_t twin = keys[h] << 32 | keys[h] >> 32;
        assert_true(h == 0 || keys[h] != keys[h - 1]);
        assert_non_null(bsearch(&twin, keys, count, sizeof(*keys), CompareKeys));
    }
    assert_int_equal(figure.vertexCount - figure.triangleCount / 2, 2);
    free(keys);
}

// Around a vertex the triangles form one fan: walking from each to the next comes back after all of them.
static void EveryVertexHasOneFan(void** state)
{
    (void)state;
    int* after = malloc(sizeof(int) * (size_t)figure.vertexCount);
    int* first = malloc(sizeof(int) * (size_t)figure.vertexCount);
    int* next = malloc(sizeof(int) * 3 * (size_t)figure.triangleCount);
    assert_true(after != NULL && first != NULL && next != NULL);
    memset(first, -1, sizeof(int) * (size_t)figure.vertexCount);
    for (int h = 0; h < 3 * figure.triangleCount; ++h) {
        next[h] = first[VertexOf(h)];
        first[VertexOf(h)] = h;
    }
    for (int v = 0; v < figure.vertexCount; ++v) {
        int count = 0, steps = 0, start = -1;
        for (int h = first[v]; h >= 0; h = next[h]) {
            start = VertexOf(h / 3 * 3 + (h + 1) % 3);
            after[start] = VertexOf(h / 3 * 3 + (h + 2) % 3);
            ++count;
        }
        assert_true(count >= 3);
        int at = start;
        do {
            at = after[at];
            ++steps;
        } while (at != start && steps <= count);
        assert_int_equal(steps, count);
    }
    free(after);
    free(first);
    free(next);
}

static void ItsTrianglesAreWellShapedAndEncloseFlesh(void** state)
{
    (void)state;
    double volume = 0, smallest = 180, shortest = 1;
    for (int t = 0; t < figure.triangleCount; ++t) {
        const float* p[3] = {PointOf(3 * t), PointOf(3 * t + 1), PointOf(3 * t + 2)};
        for (int c = 0; c < 3; ++c) {
            double e[3], f[3], n[3];
            Subtract(p[(c + 1) % 3], p[c], e);
            Subtract(p[(c + 2) % 3], p[c], f);
            Cross(e, f, n);
            smallest = fmin(smallest, atan2(sqrt(Dot(n, n)), Dot(e, f)) * 57.29578);
            shortest = fmin(shortest, sqrt(Dot(e, e)));
            if (c == 0) {
                double a[3] = {(double)p[0][0], (double)p[0][1], (double)p[0][2]};
                volume += Dot(a, n) / 6;
            }
        }
    }
    assert_true(smallest > 15);
    assert_true(shortest > 0.003);
    assert_true(volume > 0.08 && volume < 0.14);
}

// Whether the segment from a to b passes through the triangle p.
static bool Pierces(const float* a, const float* b, const float* const p[3])
{
    double e[3], f[3], n[3], from[3], way[3];
    Subtract(p[1], p[0], e);
    Subtract(p[2], p[0], f);
    Cross(e, f, n);
    Subtract(a, p[0], from);
    Subtract(b, a, way);
    double slope = Dot(n, way), t = slope != 0 ? -Dot(n, from) / slope : -1;
    if (!(t >= 0 && t <= 1)) {
        return false;
    }
    double q[3] = {from[0] + t * way[0], from[1] + t * way[1], from[2] + t * way[2]}, u[3], w[3];
    Cross(q, f, u);
    Cross(e, q, w);
    double square = Dot(n, n), x = Dot(u, n) / square, y = Dot(w, n) / square;
    return x >= 0 && y >= 0 && x + y <= 1;
}

static bool TrianglesMeet(int s, int t)
{
    const float *p[3], *q[3];
    for (int i = 0; i < 9; ++i) {
        if (VertexOf(3 * s + i / 3) == VertexOf(3 * t + i % 3)) {
            return false;
        }
    }
    for (int c = 0; c < 3; ++c) {
        p[c] = PointOf(3 * s + c);
        q[c] = PointOf(3 * t + c);
    }
    for (int c = 0; c < 3; ++c) {
        if (Pierces(q[c], q[(c + 1) % 3], p) || Pierces(p[c], p[(c + 1) % 3], q)) {
            return true;
        }
    }
    return false;
}

// Sorted by height, a triangle only has to be compared with those that start below its top.
typedef struct Span {
    float low[3], high[3];
    int triangle;
} Span;

static int CompareSpans(const void* a, const void* b)
{
    float x = ((const Span*)a)->low[1], y = ((const Span*)b)->low[1];
    return (x > y) - (x < y);
}

static void ItDoesNotIntersectItself(void** state)
{
    (void)state;
    Span* spans = malloc(sizeof(*spans) * (size_t)figure.triangleCount);
    assert_non_null(spans);
    for (int t = 0; t < figure.triangleCount; ++t) {
        spans[t].triangle = t;
        for (int i = 0; i < 3; ++i) {
            float a = PointOf(3 * t)[i], b = PointOf(3 * t + 1)[i], c = PointOf(3 * t + 2)[i];
            spans[t].low[i] = fminf(a, fminf(b, c));
            spans[t].high[i] = fmaxf(a, fmaxf(b, c));
        }
    }
    qsort(spans, (size_t)figure.triangleCount, sizeof(*spans), CompareSpans);
    for (int i = 0; i < figure.triangleCount; ++i) {
        for (int k = i + 1; k < figure.triangleCount && spans[k].low[1] <= spans[i].high[1]; ++k) {
            bool apart = spans[k].low[0] > spans[i].high[0] || spans[k].high[0] < spans[i].low[0] ||
                         spans[k].low[2] > spans[i].high[2] || spans[k].high[2] < spans[i].low[2];
            assert_false(!apart && TrianglesMeet(spans[i].triangle, spans[k].triangle));
        }
    }
    free(spans);
}

static void ItsJointsAreNamedSortedAndUnturned(void** state)
{
    (void)state;
    static const char* const names[] = {"Hips", "Spine", "Head", "LeftArm", "RightForeArm", "LeftUpLeg", "RightFoot"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        int found = 0;
        for (int j = 0; j < figure.jointCount; ++j) {
            found += strcmp(figure.joints[j].name, names[i]) == 0;
        }
        assert_int_equal(found, 1);
    }
    float matrices[12 * 32];
    jnaPoseMatrices(&figure, NULL, 0, matrices);
    for (int j = 0; j < figure.jointCount; ++j) {
        assert_true(figure.joints[j].parent < j);
        assert_true(figure.joints[j].rotation[3] == 1);
        for (int i = 0; i < 3; ++i) {
            assert_true(fabsf(matrices[12 * j + 4 * i + 3] + figure.joints[j].inverseBind[4 * i + 3]) < 1e-6f);
        }
    }
}

static void WeightsAreSortedAndSumToOne(void** state)
{
    (void)state;
    for (int v = 0; v < figure.vertexCount; ++v) {
        const jnaInfluences* influences = &figure.influences[v];
        double sum = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            assert_true(influences->weights[k] >= 0);
            assert_true(influences->joints[k] < figure.jointCount);
            assert_true(k == 0 || influences->weights[k] <= influences->weights[k - 1] + 1e-6f);
            sum += (double)influences->weights[k];
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
}

// Across an edge of two centimetres no weight may jump: that would tear when the joint bends.
static void WeightsAreSmooth(void** state)
{
    (void)state;
    double largest = 0;
    for (int h = 0; h < 3 * figure.triangleCount; ++h) {
        const jnaInfluences* a = &figure.influences[VertexOf(h)];
        const jnaInfluences* b = &figure.influences[VertexOf(h / 3 * 3 + (h + 1) % 3)];
        double difference[32] = {0};
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            difference[a->joints[k]] += (double)a->weights[k];
            difference[b->joints[k]] -= (double)b->weights[k];
        }
        for (int j = 0; j < figure.jointCount; ++j) {
            largest = fmax(largest, fabs(difference[j]));
        }
    }
    assert_true(largest < 0.25);
}

static int OtherSide(int joint)
{
    char name[JNA_NAME_LENGTH + 8];
    const char* own = figure.joints[joint].name;
    bool left = strncmp(own, "Left", 4) == 0, right = strncmp(own, "Right", 5) == 0;
    snprintf(name, sizeof(name), "%s%s", left ? "Right" : right ? "Left" : "", own + (left ? 4 : right ? 5 : 0));
    for (int j = 0; j < figure.jointCount; ++j) {
        if (strcmp(figure.joints[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}

static float WeightOf(int vertex, int joint)
{
    float sum = 0;
    for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
        const jnaInfluences* influences = &figure.influences[vertex];
        sum += influences->joints[k] == joint ? influences->weights[k] : 0;
    }
    return sum;
}

static void LeftAndRightAreMirrorImages(void** state)
{
    (void)state;
    for (int v = 0; v < figure.vertexCount; ++v) {
        const float* p = figure.positions + 3 * v;
        int twin = -1;
        for (int w = 0; w < figure.vertexCount && twin < 0; ++w) {
            const float* q = figure.positions + 3 * w;
            twin = q[0] == -p[0] && q[1] == p[1] && q[2] == p[2] ? w : -1;
        }
        assert_true(twin >= 0);
        for (int j = 0; j < figure.jointCount; ++j) {
            assert_true(fabsf(WeightOf(v, j) - WeightOf(twin, OtherSide(j))) < 1e-6f);
        }
    }
}

static void NormalsPointOutwards(void** state)
{
    (void)state;
    for (int h = 0; h < 3 * figure.triangleCount; ++h) {
        const float* n = figure.fileNormals + 3 * figure.triangles[h];
        double normal[3] = {(double)n[0], (double)n[1], (double)n[2]}, e[3], f[3], face[3];
        Subtract(PointOf(h / 3 * 3 + 1), PointOf(h / 3 * 3), e);
        Subtract(PointOf(h / 3 * 3 + 2), PointOf(h / 3 * 3), f);
        Cross(e, f, face);
        assert_true(fabs(Dot(normal, normal) - 1) < 1e-5);
        assert_true(Dot(normal, face) > 0.3 * sqrt(Dot(face, face)));
    }
}

static const float* UvOf(int corner)
{
    return figure.fileUvs + 2 * figure.triangles[corner];
}

// Twice the signed area of a triangle in the chart.
static double UvArea(const float* a, const float* b, double x, double y)
{
    return ((double)b[0] - (double)a[0]) * (y - (double)a[1]) - ((double)b[1] - (double)a[1]) * (x - (double)a[0]);
}

static void ChartsDoNotOverlap(void** state)
{
    (void)state;
    enum { SIDE = 2048 };
    uint8_t* hit = calloc(SIDE, SIDE);
    assert_non_null(hit);
    size_t covered = 0;
    for (int t = 0; t < figure.triangleCount; ++t) {
        const float *a = UvOf(3 * t), *b = UvOf(3 * t + 1), *c = UvOf(3 * t + 2);
        assert_true(UvArea(a, b, (double)c[0], (double)c[1]) > 0);
        double low[2], high[2];
        for (int i = 0; i < 2; ++i) {
            low[i] = (double)fminf(a[i], fminf(b[i], c[i]));
            high[i] = (double)fmaxf(a[i], fmaxf(b[i], c[i]));
            assert_true(low[i] >= 0 && high[i] <= 1);
        }
        for (int y = (int)(low[1] * SIDE); y < SIDE && y <= high[1] * SIDE; ++y) {
            for (int x = (int)(low[0] * SIDE); x < SIDE && x <= high[0] * SIDE; ++x) {
                double u = (x + 0.5) / SIDE, v = (y + 0.5) / SIDE;
                // Strictly inside: a texel on a shared edge belongs to neither.
                if (UvArea(a, b, u, v) > 1e-9 && UvArea(b, c, u, v) > 1e-9 && UvArea(c, a, u, v) > 1e-9) {
                    assert_int_equal(hit[y * SIDE + x], 0);
                    hit[y * SIDE + x] = 1;
                    ++covered;
                }
            }
        }
    }
    assert_true((double)covered > 0.45 * SIDE * SIDE);
    free(hit);
}

static void ChartsHardlyStretch(void** state)
{
    (void)state;
    double flat = 0, round = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int t = 0; t < figure.triangleCount; ++t) {
            const float* c = UvOf(3 * t + 2);
            double e[3], f[3], n[3];
            Subtract(PointOf(3 * t + 1), PointOf(3 * t), e);
            Subtract(PointOf(3 * t + 2), PointOf(3 * t), f);
            Cross(e, f, n);
            double uv = UvArea(UvOf(3 * t), UvOf(3 * t + 1), (double)c[0], (double)c[1]), area = sqrt(Dot(n, n));
            flat += pass == 0 ? uv : 0;
            round += pass == 0 ? area : 0;
            double ratio = uv / area * round / flat;
            assert_true(pass == 0 || (ratio > 0.4 && ratio < 2));
        }
    }
    assert_true(figure.fileVertexCount > figure.vertexCount && figure.fileVertexCount < figure.vertexCount * 6 / 5);
}

static void TheFigureIsTheSameOnEveryMachineAndThreadCount(void** state)
{
    (void)state;
    uint64_t hash = HashFigure(&figure);
    if (hash != FIGURE_HASH) {
        fail_msg("the figure's hash is 0x%016llx", (unsigned long long)hash);
    }
    int threads = omp_get_max_threads();
    omp_set_num_threads(threads == 1 ? 2 : 1);
    jnaCharacter again;
    jnError error = {0};
    assert_int_equal(jnaCreateFigure(&again, &error), jn_ok);
    omp_set_num_threads(threads);
    assert_true(HashFigure(&again) == hash);
    jnaDestroyCharacter(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ItHasTheSizeItPromises),
        cmocka_unit_test(EveryEdgeHasTwoTrianglesThatAgree),
        cmocka_unit_test(EveryVertexHasOneFan),
        cmocka_unit_test(ItsTrianglesAreWellShapedAndEncloseFlesh),
        cmocka_unit_test(ItDoesNotIntersectItself),
        cmocka_unit_test(ItsJointsAreNamedSortedAndUnturned),
        cmocka_unit_test(WeightsAreSortedAndSumToOne),
        cmocka_unit_test(WeightsAreSmooth),
        cmocka_unit_test(LeftAndRightAreMirrorImages),
        cmocka_unit_test(NormalsPointOutwards),
        cmocka_unit_test(ChartsDoNotOverlap),
        cmocka_unit_test(ChartsHardlyStretch),
        cmocka_unit_test(TheFigureIsTheSameOnEveryMachineAndThreadCount),
    };
    return cmocka_run_group_tests(tests, CreateFigure, DestroyFigure);
}
