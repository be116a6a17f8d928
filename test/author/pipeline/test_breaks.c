// Triangles that flip and edges that tear, on a sheet small enough to count by hand.
#include "helpers/small_surface.h"
#include "pipeline/breaks.h"

enum { SIDE = 5, VERTICES = SIDE * SIDE, MIDDLE = 12 };
// Of an edge of the sheet, metres.
#define EDGE 0.01

// A flat sheet of 4 x 4 squares, each cut into two triangles, that faces +Z.
static jnaCharacter MakeSheet(void)
{
    jnaCharacter c = {0};
    for (int i = 0; i < VERTICES; ++i) {
        AddVertex(&c, EDGE * (i % SIDE), EDGE * (i / SIDE), 0);
    }
    for (int y = 0; y + 1 < SIDE; ++y) {
        for (int x = 0; x + 1 < SIDE; ++x) {
            int at = SIDE * y + x;
            AddTriangle(&c, at, at + 1, at + SIDE + 1);
            AddTriangle(&c, at, at + SIDE + 1, at + SIDE);
        }
    }
    return c;
}

static void DestroySheet(jnaCharacter* c)
{
    free(c->positions);
    free(c->weld);
    free(c->triangles);
}

static jnaBreaks MakeBreaks(const jnaCharacter* c, const int32_t* places)
{
    jnError error;
    jnaBreaks breaks;
    assert_int_equal(jnaMakeBreaks(c, places, &breaks, &error), jn_ok);
    return breaks;
}

static jnaBreakCount Count(const jnaBreaks* breaks, const float* compared, const float* shown)
{
    uint8_t moved[VERTICES];
    return jnaBreaks_Count(breaks, compared, shown, moved);
}

static void ASheetAtRestIsWhole(void** state)
{
    (void)state;
    jnaCharacter c = MakeSheet();
    jnaBreaks breaks = MakeBreaks(&c, NULL);
    assert_int_equal(breaks.triangleCount, 32);
    assert_int_equal(breaks.edgeCount, 56); // 20 + 20 along the axes, 16 across
    jnaBreakCount count = Count(&breaks, c.positions, c.positions);
    assert_int_equal(count.flipped + count.torn, 0);
    assert_int_equal(count.brokenVertex, -1);
    assert_true(count.largest == 0);
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

// The middle goes two and a half edges to the right, past the vertices around it.
static void AVertexThatGoesPastItsNeighboursFlipsAndTears(void** state)
{
    (void)state;
    jnaCharacter c = MakeSheet();
    jnaBreaks breaks = MakeBreaks(&c, NULL);
    float shown[3 * VERTICES];
    uint8_t marks[32] = {0};
    memcpy(shown, c.positions, sizeof(shown));
    shown[3 * MIDDLE] += 2.5f * (float)EDGE;
    jnaBreakCount count = Count(&breaks, c.positions, shown);
    // Its six edges, in units of an edge: 2.69 up and down and 3.5 to the left are beyond 1.8, 3.64 across is
    // beyond 1.8 times 1.41; 1.5 to the right and 1.80 across are not.
    assert_int_equal(count.torn, 4);
    // It passes the far side of two triangles, at x = 1 and at x - y = 1.
    assert_int_equal(count.flipped, 2);
    assert_true(fabs(count.largest - 2.5 * EDGE) < 1e-7);
    assert_int_equal(count.vertex, MIDDLE);
    assert_true(count.brokenVertex >= 0);
    jnaBreaks_Mark(&breaks, c.positions, shown, marks);
    int marked = 0;
    for (int t = 0; t < c.triangleCount; ++t) {
        bool around = false;
        for (int k = 0; k < 3; ++k) {
            around = around || c.triangles[3 * t + k] == MIDDLE;
        }
        assert_true(around || !marks[t]);
        marked += marks[t];
    }
    assert_int_equal(marked, 6);
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

static void AnEdgeTearsWhereItIsTooLongOrTooShort(void** state)
{
    (void)state;
    static const struct {
        double factor;
        int torn; // of a sheet that is stretched along X: 20 edges
    } cases[] = {{1.79, 0}, {1.81, 20}, {0.46, 0}, {0.44, 20}};
    jnaCharacter c = MakeSheet();
    jnaBreaks breaks = MakeBreaks(&c, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        float shown[3 * VERTICES];
        memcpy(shown, c.positions, sizeof(shown));
        for (int v = 0; v < VERTICES; ++v) {
            shown[3 * v] *= (float)cases[i].factor;
        }
        assert_int_equal(Count(&breaks, c.positions, shown).torn, cases[i].torn);
        // A pose that does the same is no break.
        assert_int_equal(Count(&breaks, shown, shown).torn, 0);
    }
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

static void WhatThePoseCrushesDoesNotFlip(void** state)
{
    (void)state;
    jnaCharacter c = MakeSheet();
    jnaBreaks breaks = MakeBreaks(&c, NULL);
    float compared[3 * VERTICES], shown[3 * VERTICES];
    for (int pass = 0; pass < 2; ++pass) {
        float height = pass == 0 ? 0.29f : 0.31f; // of the rest area
        for (int i = 0; i < 3 * VERTICES; ++i) {
            compared[i] = c.positions[i] * (i % 3 == 1 ? height : 1.0f);
            shown[i] = compared[i] * (i % 3 == 1 ? -1.0f : 1.0f); // a mirror image
        }
        assert_int_equal(Count(&breaks, compared, shown).flipped, pass == 0 ? 0 : 32);
    }
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

// A seam: the last vertex of the file stands on the middle. What is smaller than the limits is left out.
static void VerticesAtOnePlaceCountOnce(void** state)
{
    (void)state;
    jnaCharacter c = MakeSheet();
    c.weld = realloc(c.weld, sizeof(int32_t) * (VERTICES + 1));
    c.weld[VERTICES] = MIDDLE;
    c.fileVertexCount = VERTICES + 1;
    for (int t = 0; t < 12; ++t) {
        for (int k = 0; k < 3; ++k) {
            c.triangles[3 * t + k] = c.triangles[3 * t + k] == MIDDLE ? VERTICES : c.triangles[3 * t + k];
        }
    }
    AddTriangle(&c, MIDDLE, VERTICES, MIDDLE + 1); // of no area
    jnaBreaks breaks = MakeBreaks(&c, NULL);
    assert_int_equal(breaks.triangleCount, 32);
    assert_int_equal(breaks.edgeCount, 56);
    jnaDestroyBreaks(&breaks);
    for (int i = 0; i < 3 * VERTICES; ++i) {
        c.positions[i] *= 0.1f;
    }
    breaks = MakeBreaks(&c, NULL);
    assert_int_equal(breaks.edgeCount, 0);
    float shown[3 * VERTICES];
    for (int i = 0; i < 3 * VERTICES; ++i) {
        shown[i] = c.positions[i] * (i % 3 == 1 ? -1.0f : 1.0f);
    }
    assert_int_equal(Count(&breaks, c.positions, shown).flipped, 0);
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

static void AnotherOrderGivesTheSameCounts(void** state)
{
    (void)state;
    jnaCharacter c = MakeSheet();
    int32_t places[VERTICES];
    float rest[3 * VERTICES], shown[3 * VERTICES];
    for (int v = 0; v < VERTICES; ++v) {
        places[v] = (7 * v + 3) % VERTICES;
        memcpy(rest + 3 * places[v], c.positions + 3 * v, 3 * sizeof(float));
    }
    memcpy(shown, rest, sizeof(shown));
    shown[3 * places[MIDDLE]] += 2.5f * (float)EDGE;
    jnaBreaks breaks = MakeBreaks(&c, places);
    jnaBreakCount count = Count(&breaks, rest, shown);
    assert_int_equal(count.torn, 4);
    assert_int_equal(count.flipped, 2);
    assert_int_equal(count.vertex, places[MIDDLE]);
    jnaDestroyBreaks(&breaks);
    DestroySheet(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASheetAtRestIsWhole),
        cmocka_unit_test(AVertexThatGoesPastItsNeighboursFlipsAndTears),
        cmocka_unit_test(AnEdgeTearsWhereItIsTooLongOrTooShort),
        cmocka_unit_test(WhatThePoseCrushesDoesNotFlip),
        cmocka_unit_test(VerticesAtOnePlaceCountOnce),
        cmocka_unit_test(AnotherOrderGivesTheSameCounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
