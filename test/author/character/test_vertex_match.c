// Points of a cache find their vertices whatever the order, unit and axes; what does not belong is refused.
#include "helpers/support.h"
#include "helpers/the_figure.h"

#include "character/figure.h"
#include "character/vertex_match.h"

static float* posed;         // [vertexCount][3], the surface that the cache starts on
static jnaMeshCache cache;   // of the case in hand
static int32_t* permutation; // vertex of each point

static jnaMatchSurface Surface(void)
{
    return (jnaMatchSurface){.vertexCount = figure.vertexCount,
        .rest = figure.positions,
        .posed = posed,
        .fileVertexCount = figure.fileVertexCount,
        .weld = figure.weld,
        .triangleCount = figure.triangleCount,
        .triangles = figure.triangles,
        .metresPerUnit = 1};
}

// A cache of one frame with a point for each vertex of `order`.
static void MakeCache(const float* surface, const int32_t* order, int count)
{
    free(cache.positions);
    free(cache.ids);
    cache = (jnaMeshCache){.frameCount = 1, .pointCount = count, .upAxis = JNA_UP_UNKNOWN};
    cache.positions = malloc(3 * ((size_t)count + 1) * sizeof(float));
    assert_non_null(cache.positions);
    for (int i = 0; i < count; ++i) {
        memcpy(cache.positions + 3 * i, surface + 3 * order[i], 3 * sizeof(float));
    }
}

static void Shuffle(int count)
{
    Random random = {5};
    for (int i = 0; i < count; ++i) {
        permutation[i] = i % figure.vertexCount;
    }
    for (int i = count - 1; i > 0; --i) {
        int k = (int)Uniform(&random, 0, i + 1);
        int32_t swap = permutation[i];
        permutation[i] = permutation[k];
        permutation[k] = swap;
    }
}

static void Transform(double scale, bool zUp)
{
    for (int i = 0; i < cache.pointCount; ++i) {
        float* p = cache.positions + 3 * i;
        float y = p[1], z = p[2];
        p[1] = zUp ? -z : y;
        p[2] = zUp ? y : z;
        for (int k = 0; k < 3; ++k) {
            p[k] = (float)(scale * (double)p[k]);
        }
    }
}

// Smooth and large for flesh: several times the length of an edge at the belly.
static void Deform(double size)
{
    for (int i = 0; i < cache.pointCount; ++i) {
        float* p = cache.positions + 3 * i;
        double wave = sin(5 * (double)p[1]) * cos(4 * (double)p[0]);
        p[1] += (float)(size * wave);
        p[2] += (float)(size * (1 - wave));
    }
}

static void ExpectMatch(jnaMatchKind kind, const char* says)
{
    jnaMatchSurface surface = Surface();
    jnaMatch match;
    jnError error = {0};
    if (jnaMatchVertices("cache", &surface, &cache, &match, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    int wrong = 0;
    for (int i = 0; i < cache.pointCount; ++i) {
        wrong += match.vertices[i] != permutation[i];
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(match.kind, kind);
    if (strstr(match.summary, says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", match.summary, says);
    }
    jnaDestroyMatch(&match);
}

static void ExpectRefusal(const char* says)
{
    jnaMatchSurface surface = Surface();
    jnaMatch match;
    jnError error = {0};
    assert_int_equal(jnaMatchVertices("cache", &surface, &cache, &match, &error), jn_badData);
    if (strstr(error.message, says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    }
}

static void AnyOrderUnitAndAxesAreFound(void** state)
{
    (void)state;
    static const struct {
        double scale;
        bool zUp;
        const char* says;
    } cases[] = {{1, false, "in metres, Y up"}, {100, false, "in centimetres, Y up"}, {1, true, "in metres, Z up"},
        {1000, true, "in millimetres, Z up"}, {1 / 0.0254, true, "in inches, Z up"}};
    for (int rest = 0; rest < 2; ++rest) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
            Shuffle(figure.vertexCount);
            MakeCache(rest ? figure.positions : posed, permutation, figure.vertexCount);
            Transform(cases[i].scale, cases[i].zUp);
            ExpectMatch(jna_matchExact, cases[i].says);
        }
    }
}

static void SplitPointsShareTheirVertex(void** state)
{
    (void)state;
    // Some vertices twice, as at a seam, in an order of nobody.
    int count = figure.vertexCount + 500;
    Shuffle(count);
    MakeCache(posed, permutation, count);
    ExpectMatch(jna_matchExact, "by position");
    // Moved a little: the copies still lie together.
    Deform(2e-4);
    ExpectMatch(jna_matchByNearest, "by the nearest vertex");
}

static void AKnownOrderIsProvenByDistance(void** state)
{
    (void)state;
    memcpy(permutation, figure.weld, (size_t)figure.fileVertexCount * sizeof(*permutation));
    MakeCache(posed, permutation, figure.fileVertexCount);
    Deform(0.03);
    Transform(100, true);
    ExpectMatch(jna_matchByOrder, "in centimetres, Z up");
    for (int i = 0; i < figure.vertexCount; ++i) {
        permutation[i] = i;
    }
    MakeCache(posed, permutation, figure.vertexCount);
    Deform(0.03);
    ExpectMatch(jna_matchByOrder, "which distance proves");
}

static void ACountThatHappensToFitProvesNothing(void** state)
{
    (void)state;
    Shuffle(figure.vertexCount);
    MakeCache(posed, permutation, figure.vertexCount);
    Deform(0.03);
    ExpectRefusal("lie on no vertex of the character");
}

static void IdsAreTakenWherePositionsConfirmThem(void** state)
{
    (void)state;
    Shuffle(figure.vertexCount);
    MakeCache(posed, permutation, figure.vertexCount);
    Deform(0.03);
    cache.ids = malloc((size_t)figure.vertexCount * sizeof(*cache.ids));
    memcpy(cache.ids, permutation, (size_t)figure.vertexCount * sizeof(*cache.ids));
    ExpectMatch(jna_matchById, "by their ids");
    // Ids of something else are no ids.
    for (int i = 0; i < figure.vertexCount; ++i) {
        cache.ids[i] = i;
    }
    ExpectRefusal("lie on no vertex");
}

static void OnePointTooManyOrTooFewIsRefused(void** state)
{
    (void)state;
    Shuffle(figure.vertexCount);
    MakeCache(posed, permutation, figure.vertexCount);
    cache.pointCount--;
    ExpectRefusal("1 of the");
    MakeCache(posed, permutation, figure.vertexCount);
    const float far[3] = {0.1f, 0.9f, 0.3f};
    memcpy(cache.positions + 3 * cache.pointCount++, far, sizeof(far));
    ExpectRefusal("1 of its");
}

static void AnotherCharacterIsRefused(void** state)
{
    (void)state;
    Shuffle(figure.vertexCount);
    MakeCache(posed, permutation, figure.vertexCount);
    Random random = {9};
    for (int i = 0; i < 3 * cache.pointCount; ++i) {
        cache.positions[i] = (float)Uniform(&random, -1, 1);
    }
    ExpectRefusal("character");
    for (int i = 0; i < 3 * cache.pointCount; ++i) {
        cache.positions[i] += 40;
    }
    ExpectRefusal("does not lie on the character in any usual unit or axes");
}

// Two sheets that lie on each other in the first frame and part later.
static void CoincidentPointsAreToldApartByHowTheyMove(void** state)
{
    (void)state;
    enum { SIDE = 12, SHEET = SIDE * SIDE, POINTS = 2 * SHEET, TRIANGLES = 4 * (SIDE - 1) * (SIDE - 1), FRAMES = 6 };
    static float rest[POINTS][3], frames[FRAMES][POINTS][3];
    static int32_t weld[POINTS], triangles[TRIANGLES][3], order[POINTS];
    int count = 0;
    Random random = {3};
    for (int v = 0; v < POINTS; ++v) {
        int x = v % SIDE, y = v / SIDE % SIDE;
        rest[v][0] = 0.1f * (float)x + 0.01f * (float)(x * y);
        rest[v][1] = 0.1f * (float)y;
        // The second sheet leaves the first at one side, so that some of its points are its own.
        rest[v][2] = v >= SHEET && x > 8 ? 0.1f * (float)(x - 8) : 0;
        weld[v] = order[v] = v;
        if (x + 1 < SIDE && y + 1 < SIDE) {
            const int32_t quad[2][3] = {{v, v + 1, v + SIDE + 1}, {v, v + SIDE + 1, v + SIDE}};
            memcpy(triangles[count], quad, sizeof(quad));
            count += 2;
        }
    }
    for (int i = POINTS - 1; i > 0; --i) {
        int k = (int)Uniform(&random, 0, i + 1);
        int32_t swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (int f = 0; f < FRAMES; ++f) {
        for (int i = 0; i < POINTS; ++i) {
            memcpy(frames[f][i], rest[order[i]], sizeof(rest[0]));
            frames[f][i][2] += order[i] >= SHEET ? 0.05f * (float)f : 0;
        }
    }
    jnaMatchSurface surface = {.vertexCount = POINTS,
        .rest = rest[0],
        .fileVertexCount = POINTS,
        .weld = weld,
        .triangleCount = TRIANGLES,
        .triangles = triangles[0]};
    jnaMeshCache moving = {
        .frameCount = FRAMES, .pointCount = POINTS, .positions = frames[0][0], .upAxis = JNA_UP_UNKNOWN};
    jnaMatch match;
    jnError error = {0};
    assert_int_equal(jnaMatchVertices("sheets", &surface, &moving, &match, &error), jn_ok);
    assert_true(match.coincident > SHEET);
    int wrong = 0;
    for (int i = 0; i < POINTS; ++i) {
        wrong += match.vertices[i] != order[i];
    }
    print_message("%d of %d coincident points are wrong\n", wrong, match.coincident);
    assert_int_equal(wrong, 0);
    jnaDestroyMatch(&match);
}

static int Prepare(void** state)
{
    jnaClip clip;
    if (CreateFigure(state) != 0) {
        return -1;
    }
    posed = malloc(3 * (size_t)figure.vertexCount * sizeof(float));
    permutation = malloc(2 * (size_t)figure.fileVertexCount * sizeof(*permutation));
    float* matrices = malloc(12 * (size_t)figure.jointCount * sizeof(float));
    if (posed == NULL || permutation == NULL || matrices == NULL ||
        jnaCreateFigureClip(&figure, 0, 30, &clip, NULL) != jn_ok) {
        return 1;
    }
    jnaPoseMatrices(&figure, &clip, 10, matrices);
    jnaSkin(&figure, matrices, posed);
    free(matrices);
    jnaDestroyClip(&clip);
    return 0;
}

static int Release(void** state)
{
    free(cache.positions);
    free(cache.ids);
    free(posed);
    free(permutation);
    return DestroyFigure(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnyOrderUnitAndAxesAreFound),
        cmocka_unit_test(SplitPointsShareTheirVertex),
        cmocka_unit_test(AKnownOrderIsProvenByDistance),
        cmocka_unit_test(ACountThatHappensToFitProvesNothing),
        cmocka_unit_test(IdsAreTakenWherePositionsConfirmThem),
        cmocka_unit_test(OnePointTooManyOrTooFewIsRefused),
        cmocka_unit_test(AnotherCharacterIsRefused),
        cmocka_unit_test(CoincidentPointsAreToldApartByHowTheyMove),
    };
    return cmocka_run_group_tests(tests, Prepare, Release);
}
