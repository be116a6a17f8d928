// Self-contact of whole characters, against the plainest possible search.
#include "base/triangle.h"
#include "character/figure.h"
#include "flesh/contact_internal.h"
#include "helpers/bend.h"
#include "helpers/contact_scene.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "volume/tetrahedralize.h"

enum { STRIDE = 10 }; // of the depths that are compared

// The plainest search takes minutes under the sanitizers, and the same code runs over small volumes in test_contact.c.
static void NeedSpeed(void)
{
#ifdef JN_SANITIZED
    print_message("skipped: too slow under the sanitizers\n");
    skip();
#endif
}

static bool ReferenceHit(const Scene* s, int32_t node, int32_t t, double rest[3])
{
    const jnaVolume* v = &s->volume;
    const int32_t* c = v->tetrahedra + 4 * t;
    const double *p = s->nodes + 3 * node, *x[4];
    for (int k = 0; k < 4; ++k) {
        x[k] = s->nodes + 3 * c[k];
        if (c[k] == node) {
            return false;
        }
    }
    double whole = jnaVolume6(x[0], x[1], x[2], x[3]), w[4];
    if (!(whole > s->shape->flatVolume)) {
        return false;
    }
    w[0] = jnaVolume6(p, x[1], x[2], x[3]) / whole;
    w[1] = jnaVolume6(x[0], p, x[2], x[3]) / whole;
    w[2] = jnaVolume6(x[0], x[1], p, x[3]) / whole;
    w[3] = jnaVolume6(x[0], x[1], x[2], p) / whole;
    rest[0] = rest[1] = rest[2] = 0;
    for (int k = 0; k < 4; ++k) {
        if (w[k] < -1e-12) {
            return false;
        }
        for (int i = 0; i < 3; ++i) {
            rest[i] += w[k] * v->nodes[3 * c[k] + i];
        }
    }
    return jnaDistance(rest, v->nodes + 3 * node) >= s->shape->restDistance ||
           !Connected(v, node, c, s->shape->restDistance);
}

// How far a node is from the surface around a material point, over all faces.
static double ReferenceDepth(const Scene* s, int32_t node, const double rest[3])
{
    const jnaContactShape* shape = s->shape;
    const double* p = s->nodes + 3 * node;
    double nearest = HUGE_VAL, radius = 0;
    for (int deformed = 0; deformed < 2; ++deformed) {
        const double *positions = deformed ? s->nodes : s->volume.nodes, *point = deformed ? p : rest;
        double best = HUGE_VAL, seed = 0;
        for (int f = 0; f < shape->faceCount; ++f) {
            const int32_t* c = shape->faces + 3 * f;
            bool near = false, within = !deformed;
            for (int k = 0; k < 3; ++k) {
                near = near || jnaContactShape_IsOwn(shape, node, c[k]);
                within = within || jnaDistance(s->volume.nodes + 3 * c[k], rest) <= radius;
            }
            if (near || !within) {
                continue;
            }
            double w[3], at[3], area[3], behind[3], away[3];
            jnaClosestOnTriangle(point, positions + 3 * c[0], positions + 3 * c[1], positions + 3 * c[2], w);
            for (int i = 0; i < 3; ++i) {
                at[i] =
                    w[0] * positions[3 * c[0] + i] + w[1] * positions[3 * c[1] + i] + w[2] * positions[3 * c[2] + i];
            }
            jnaSubtract(point, at, away);
            if (deformed) {
                jnaAreaVector(positions + 3 * c[0], positions + 3 * c[1], positions + 3 * c[2], area);
                jnaSubtract(positions + 3 * shape->opposites[f], positions + 3 * c[0], behind);
                double side = jnaDot(area, behind) > 0 ? -jnaDot(area, away) : jnaDot(area, away);
                if (side > 1e-9 * jnaLength(area) * jnaLength(away)) {
                    continue;
                }
            }
            if (jnaLength(away) < best) {
                best = jnaLength(away);
                for (int i = 0; i < 3; ++i) {
                    at[i] =
                        w[0] * s->nodes[3 * c[0] + i] + w[1] * s->nodes[3 * c[1] + i] + w[2] * s->nodes[3 * c[2] + i];
                }
                seed = jnaDistance(at, p);
            }
        }
        radius = 3 * best + shape->medianEdge;
        nearest = deformed ? fmin(best, nearest) : seed;
    }
    return nearest;
}

// A node by its height, or a hit of the reference.
typedef struct Entry {
    double key;
    int32_t node, tetrahedron;
    double rest[3];
} Entry;

static int CompareEntries(const void* a, const void* b)
{
    const Entry *x = a, *y = b;
    if (x->key < y->key || x->key > y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->tetrahedron < y->tetrahedron ? -1 : x->tetrahedron > y->tetrahedron;
}

// Every tetrahedron with every node that is not above or below all of it.
static Entry* ListReferenceHits(const Scene* s, int* count)
{
    const jnaVolume* v = &s->volume;
    int total = s->shape->nodeCount;
    Entry *heights = malloc(sizeof(*heights) * (size_t)total), *hits = malloc(sizeof(*hits) * 20000);
    for (int n = 0; n < total; ++n) {
        heights[n] = (Entry){.key = s->nodes[3 * s->shape->nodes[n] + 1], .node = s->shape->nodes[n]};
    }
    qsort(heights, (size_t)total, sizeof(*heights), CompareEntries);
    *count = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int k = 0; k < 4; ++k) {
            double y = s->nodes[3 * v->tetrahedra[4 * t + k] + 1];
            low = y < low ? y : low;
            high = y > high ? y : high;
        }
        int first = 0, end = total;
        while (first < end) {
            int middle = (first + end) / 2;
            if (heights[middle].key < low - 1e-9) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        for (; first < total && heights[first].key <= high + 1e-9; ++first) {
            Entry hit = {.key = heights[first].node, .node = heights[first].node, .tetrahedron = t};
            if (ReferenceHit(s, hit.node, t, hit.rest)) {
                assert_true(*count < 20000);
                hits[(*count)++] = hit;
            }
        }
    }
    free(heights);
    qsort(hits, (size_t)*count, sizeof(*hits), CompareEntries);
    return hits;
}

static void CompareWithReference(Scene* s)
{
    int count, depths = 0;
    Entry* hits = ListReferenceHits(s, &count);
    Find(s);
    assert_int_equal(s->finder->hitCount, count);
    for (int h = 0; h < count; ++h) {
        assert_int_equal(s->finder->hits[h].node, hits[h].node);
        assert_int_equal(s->finder->hits[h].tetrahedron, hits[h].tetrahedron);
        bool alone = (h == 0 || hits[h - 1].node < hits[h].node) && (h + 1 == count || hits[h + 1].node > hits[h].node);
        // Of several hits the module takes the shorter way of each layer; nodes with one are compared.
        if (h % STRIDE == 0 && alone) {
            double depth = ReferenceDepth(s, hits[h].node, hits[h].rest);
            ASSERT_NEAR(jnaContactFinder_Depths(s->finder)[hits[h].node], depth, 1e-12);
            ++depths;
        }
    }
    print_message("%d hits and %d depths as the reference has them\n", count, depths);
    free(hits);
}

// Rest: nothing. Bent: as the reference says.
static void CheckCharacter(TestVolume* test, const char* name)
{
    jnError error;
    CarryTestWeights(test);
    assert_int_equal(jnaVolume_PlaceBones(&test->volume, &test->character, NULL, NULL, NULL, &error), jn_ok);
    assert_int_equal(jnaVolume_FillMaterials(&test->volume, &test->character, NULL, &error), jn_ok);
    Scene s = {.volume = test->volume};
    Prepare(&s, NULL);
    jnaPenetration p = Find(&s);
    assert_int_equal(s.finder->hitCount, 0);
    assert_int_equal(p.nodeCount, 0);
    assert_int_equal(s.contacts.count, 0);
    jnaClip clip;
    assert_int_equal(jnbCreateBends(&test->character, 1, &clip, &error), jn_ok);
    double* transforms = malloc(sizeof(double) * 12 * (size_t)test->character.jointCount);
    for (int frame = 0; frame < JNB_BENDS; ++frame) {
        jnaPoseTransforms(&test->character, &clip, frame, transforms);
        jnaVolume_Skin(&s.volume, transforms, s.nodes);
        s.contacts.count = 0;
        p = Find(&s);
        CheckPairs(&s);
        print_message("%s, %s: %d nodes inside, depth %.1f mm, volume %.0f cm3, %d pairs\n", name, jnbBends[frame].name,
            p.nodeCount, 1e3 * p.depth, 1e6 * p.volume, s.contacts.count);
        assert_true(p.nodeCount > 20 && p.depth > 0.01 && p.volume > 1e-5);
        if (frame == 0) {
            CheckRepeats(&s, false);
        }
        if (frame == 0) {
            CompareWithReference(&s);
        }
    }
    free(transforms);
    jnaDestroyClip(&clip);
    s.volume = (jnaVolume){0};
    DestroyScene(&s);
}

static void ALatticeInTheFigureIsFreeAtRestAndMeetsItselfBent(void** state)
{
    (void)state;
    NeedSpeed();
    TestVolume test = {0};
    jnError error;
    assert_int_equal(jnaCreateFigure(&test.character, &error), jn_ok);
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.edge = 0.04;
    assert_int_equal(jnaCreateVolume(&test.character, &def, &test.volume, NULL, NULL, &error), jn_ok);
    CheckCharacter(&test, "figure, lattice");
    DestroyTestVolume(&test);
}

static void TheFigureIsFreeAtRestAndMeetsItselfBent(void** state)
{
    (void)state;
    NeedSpeed();
    TestVolume test = MakeFigureVolume();
    CheckCharacter(&test, "figure");
    DestroyTestVolume(&test);
}

static void TheBodysElbowAgreesWithThePlainestSearch(void** state)
{
    (void)state;
    NeedSpeed();
    TestVolume test = MakeBodyVolume(NULL);
    CheckCharacter(&test, "body");
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALatticeInTheFigureIsFreeAtRestAndMeetsItselfBent),
        cmocka_unit_test(TheFigureIsFreeAtRestAndMeetsItselfBent),
        cmocka_unit_test(TheBodysElbowAgreesWithThePlainestSearch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
