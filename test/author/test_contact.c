// Self-contact: blocks with known overlaps, a bar bent onto itself, layers, sliding, and a body against the plainest
// possible search.
#include "volumes.h"

#include "jounce-author/contact.h"
#include "jounce-author/inside.h"
#include "jounce-author/volume_mesh.h"

#include "../../bench/bend.h"
#include "solve/contact_internal.h"

#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 100 }; // of the depths that are compared
#else
enum { STRIDE = 10 };
#endif

/// A volume and what looks at it.
typedef struct Scene {
    jnaVolume volume;
    double* nodes; // deformed
    jnaContactShape* shape;
    jnaContactFinder* finder;
    jnaContacts contacts;
} Scene;

// Adds a block of cells with its low corner at a point, at rest. Returns its first node.
static int AddBlock(jnaVolume* v, const int cells[3], const double size[3], const double low[3])
{
    TestVolume block = MakeBlock(cells[0], cells[1], cells[2], size, 0.1, 2);
    int first = v->nodeCount;
    v->nodes = realloc(v->nodes, sizeof(double) * 3 * (size_t)(first + block.volume.nodeCount));
    v->tetrahedra =
        realloc(v->tetrahedra, sizeof(int32_t) * 4 * (size_t)(v->tetrahedronCount + block.volume.tetrahedronCount));
    for (int i = 0; i < 3 * block.volume.nodeCount; ++i) {
        // The block's middle is at 0 in y and z.
        double start = i % 3 == 0 ? 0 : 0.5 * size[i % 3];
        v->nodes[3 * first + i] = block.volume.nodes[i] + start + low[i % 3];
    }
    for (int i = 0; i < 4 * block.volume.tetrahedronCount; ++i) {
        v->tetrahedra[4 * v->tetrahedronCount + i] = block.volume.tetrahedra[i] + first;
    }
    v->nodeCount += block.volume.nodeCount;
    v->tetrahedronCount += block.volume.tetrahedronCount;
    DestroyTestVolume(&block);
    return first;
}

static void Prepare(Scene* s, const jnaContactDef* def)
{
    jnError error;
    jnaContactDef own = jnaDefaultContactDef(&s->volume);
    s->nodes = malloc(sizeof(double) * 3 * (size_t)s->volume.nodeCount);
    memcpy(s->nodes, s->volume.nodes, sizeof(double) * 3 * (size_t)s->volume.nodeCount);
    assert_int_equal(jnaCreateContactShape(def != NULL ? def : &own, &s->shape, &error), jn_ok);
    assert_int_equal(jnaCreateContactFinder(s->shape, &s->finder, &error), jn_ok);
}

static void DestroyScene(Scene* s)
{
    jnaDestroyContacts(&s->contacts);
    jnaDestroyContactFinder(s->finder);
    jnaDestroyContactShape(s->shape);
    jnaDestroyVolume(&s->volume);
    free(s->nodes);
}

static void Move(Scene* s, int first, int end, double x, double y, double z)
{
    for (int n = first; n < end; ++n) {
        s->nodes[3 * n] = s->volume.nodes[3 * n] + x;
        s->nodes[3 * n + 1] = s->volume.nodes[3 * n + 1] + y;
        s->nodes[3 * n + 2] = s->volume.nodes[3 * n + 2] + z;
    }
}

static void CheckEqual(const jnaPenetration* a, const jnaPenetration* b)
{
    assert_int_equal(a->nodeCount, b->nodeCount);
    ASSERT_NEAR(a->depth, b->depth, 0);
    ASSERT_NEAR(a->volume, b->volume, 0);
}

static jnaPenetration Find(Scene* s)
{
    jnError error;
    jnaPenetration p, alone;
    assert_int_equal(jnaContactFinder_Measure(s->finder, s->nodes, &alone, &error), jn_ok);
    assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &s->contacts, &p, &error), jn_ok);
    CheckEqual(&p, &alone);
    return p;
}

static double Gap(const Scene* s, const jnaContactPair* pair)
{
    double gap = 0;
    for (int i = 0; i < 3; ++i) {
        double x = s->nodes[3 * pair->node + i];
        for (int k = 0; k < 3; ++k) {
            x -= pair->weights[k] * s->nodes[3 * pair->corners[k] + i];
        }
        gap += pair->normal[i] * x;
    }
    return gap;
}

// What every pair must be, whatever the flesh does.
static void CheckPairs(const Scene* s)
{
    for (int i = 0; i < s->contacts.count; ++i) {
        const jnaContactPair* p = &s->contacts.pairs[i];
        assert_in_range(p->node, 0, s->volume.nodeCount - 1);
        assert_true(i == 0 || s->contacts.pairs[i - 1].node <= p->node);
        assert_true(p->weights[0] >= 0 && p->weights[1] >= 0 && p->weights[2] >= 0);
        ASSERT_NEAR(p->weights[0] + p->weights[1] + p->weights[2], 1, 1e-12);
        ASSERT_NEAR(jnaLength(p->normal), 1, 1e-9);
        ASSERT_NEAR(p->gap, Gap(s, p), 1e-12);
        assert_true(p->stiffness > 0);
        assert_true(p->kept != 0 ? p->gap > -1e-9 && p->gap <= s->shape->reach * (1 + 1e-9) : p->gap < 0);
        assert_memory_equal(p->corners, s->shape->faces + 3 * p->face, sizeof(p->corners));
    }
}

// Two blocks far apart at rest; the second can be moved onto the first. Edges of 1 and 0.7 cm.
static int MakeTwo(Scene* s)
{
    *s = (Scene){0};
    AddBlock(&s->volume, (int[3]){20, 8, 20}, (double[3]){0.2, 0.08, 0.2}, (double[3]){0, 0, 0});
    int second =
        AddBlock(&s->volume, (int[3]){14, 12, 14}, (double[3]){0.1, 0.084, 0.1}, (double[3]){0.0512, 0.4, 0.0487});
    Prepare(s, NULL);
    return second;
}

// How deep a point is in a box; below 0 outside.
static double DepthInBox(const double* p, const double low[3], const double high[3])
{
    double depth = HUGE_VAL;
    for (int i = 0; i < 3; ++i) {
        depth = fmin(depth, fmin(p[i] - low[i], high[i] - p[i]));
    }
    return depth;
}

static void BlocksOverlapByWhatTheyWerePushed(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    const double depth = 0.0123, low[2][3] = {{0.0512, 0.08 - depth, 0.0487}, {0, 0, 0}},
                 high[2][3] = {{0.1512, 0.164 - depth, 0.1487}, {0.2, 0.08, 0.2}};
    jnaPenetration p = Find(&s);
    assert_int_equal(p.nodeCount, 0);
    assert_int_equal(s.contacts.count, 0);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - depth, 0);
    p = Find(&s);
    CheckPairs(&s);
    int inside = 0;
    double deepest = 0, volume = 0;
    for (int n = 0; n < s.shape->nodeCount; ++n) {
        int32_t node = s.shape->nodes[n];
        bool of = node >= second;
        double expected = fmax(0, DepthInBox(s.nodes + 3 * node, low[of], high[of])), share = s.shape->length[n];
        ASSERT_NEAR(jnaContactFinder_Depths(s.finder)[node], expected, 1e-12);
        inside += expected > 0;
        deepest = fmax(deepest, expected);
        volume += 0.5 * expected * share * share * sqrt(3.0) / 2; // rigid: the share is that of rest
    }
    assert_int_equal(p.nodeCount, inside);
    assert_int_equal(s.contacts.count, inside);
    ASSERT_NEAR(p.depth, depth, 1e-12);
    ASSERT_NEAR(deepest, depth, 1e-12);
    ASSERT_NEAR(p.volume, volume, 1e-12);
    ASSERT_NEAR(p.volume, 0.01 * depth, 0.1 * 0.01 * depth);
    print_message("overlap of %.1f cm3 measured as %.1f cm3\n", 1e6 * 0.01 * depth, 1e6 * p.volume);
    for (int i = 0; i < s.contacts.count; ++i) {
        const jnaContactPair* pair = &s.contacts.pairs[i];
        bool of = pair->node >= second;
        // Well inside the footprint the way out is straight up or down.
        const double* x = s.nodes + 3 * pair->node;
        if (x[0] > 0.0712 && x[0] < 0.1312 && x[2] > 0.0687 && x[2] < 0.1287) {
            ASSERT_NEAR(pair->normal[1], of ? 1 : -1, 1e-12);
            ASSERT_NEAR(pair->gap, -depth, 1e-12);
            for (int k = 0; k < 3; ++k) {
                assert_true((pair->corners[k] >= second) != of);
            }
        }
    }
    DestroyScene(&s);
}

// The bar becomes a ring whose ends reach 8 mm into each other.
static void ABarBentOntoItselfMeetsItsOwnEnd(void** state)
{
    (void)state;
    Scene s = {0};
    const double length = 1, wide = 0.05, over = 0.008;
    AddBlock(&s.volume, (int[3]){80, 5, 5}, (double[3]){length, wide, wide}, (double[3]){0, 0, 0});
    Prepare(&s, NULL);
    double radius = (length - over) / (2 * 3.14159265358979323846);
    for (int n = 0; n < s.volume.nodeCount; ++n) {
        const double* x = s.volume.nodes + 3 * n;
        double angle = x[0] / radius, from = radius - x[1] + 0.5 * wide; // not mirrored
        s.nodes[3 * n] = from * cos(angle);
        s.nodes[3 * n + 1] = from * sin(angle);
        s.nodes[3 * n + 2] = x[2] + 0.0003 * sin(angle / 2.3); // so that ends do not lie face on face
    }
    jnaPenetration p = Find(&s);
    CheckPairs(&s);
    // On the middle line the overlap is 8 mm, on the outer side of the ring a little more.
    ASSERT_NEAR(p.depth, over, 0.2 * over);
    // Equal cross-sections: near the rim the way out to the side is shorter, and the volume falls short.
    ASSERT_NEAR(p.volume, 0.7 * over * wide * wide, 0.2 * over * wide * wide);
    int forward = 0, backward = 0;
    for (int i = 0; i < s.contacts.count; ++i) {
        const jnaContactPair* pair = &s.contacts.pairs[i];
        double x = s.volume.nodes[3 * pair->node], y = s.volume.nodes[3 * pair->corners[0]];
        assert_true(fabs(x - y) > 0.9 * length);
        forward += pair->normal[1] > 0.9;
        backward += pair->normal[1] < -0.9;
    }
    assert_true(forward >= 16 && backward >= 16);
    DestroyScene(&s);
}

// Three blocks into each other: nodes in two of them at once have a way out of each.
static void NodesInSeveralLayersGetAPairForEach(void** state)
{
    (void)state;
    Scene s = {0};
    const double size[3] = {0.1, 0.1, 0.1};
    int first[3];
    for (int k = 0; k < 3; ++k) {
        first[k] = AddBlock(&s.volume, (int[3]){8, 8 + k, 9 - k}, size, (double[3]){0.3 * k, 0, 0});
    }
    Prepare(&s, NULL);
    Move(&s, first[1], first[2], -0.3 + 0.003, 0.061, 0.002);
    Move(&s, first[2], s.volume.nodeCount, -0.6 + 0.001, 0.03, 0.071);
    jnaPenetration p = Find(&s);
    CheckPairs(&s);
    const double low[3][3] = {{0, 0, 0}, {0.003, 0.061, 0.002}, {0.001, 0.03, 0.071}};
    int expected = 0, both = 0;
    for (int n = 0; n < s.shape->nodeCount; ++n) {
        int32_t node = s.shape->nodes[n];
        int own = node < first[1] ? 0 : node < first[2] ? 1 : 2, layers = 0;
        double deepest = 0;
        for (int k = 0; k < 3; ++k) {
            double high[3] = {low[k][0] + 0.1, low[k][1] + 0.1, low[k][2] + 0.1};
            double depth = k == own ? 0 : fmax(0, DepthInBox(s.nodes + 3 * node, low[k], high));
            layers += depth > 0;
            deepest = fmax(deepest, depth);
        }
        expected += layers;
        both += layers == 2;
        ASSERT_NEAR(jnaContactFinder_Depths(s.finder)[node], deepest, 1e-12);
    }
    assert_true(both > 20);
    assert_int_equal(s.contacts.count, expected);
    assert_true(p.depth > 0.03);
    DestroyScene(&s);
}

// Blocks that share a plane touch and are not inside; a pair that is known stays.
static void ANodeOnAFaceTouchesAndIsNotInside(void** state)
{
    (void)state;
    Scene s = {0};
    const double size[3] = {0.125, 0.125, 0.125};
    AddBlock(&s.volume, (int[3]){8, 8, 8}, size, (double[3]){0, 0, 0});
    int second = AddBlock(&s.volume, (int[3]){8, 8, 8}, size, (double[3]){0, 0.5, 0});
    Prepare(&s, NULL);
    Move(&s, second, s.volume.nodeCount, 0, 0.125 - 0.5, 0);
    jnaPenetration p = Find(&s);
    assert_int_equal(p.nodeCount, 0);
    assert_int_equal(s.contacts.count, 0);
    // Binary fractions throughout: nodes lie exactly on faces between tetrahedra of the other block.
    Move(&s, second, s.volume.nodeCount, 0, 0.125 - 0.5 - 0.015625, 0);
    p = Find(&s);
    CheckPairs(&s);
    ASSERT_NEAR(p.depth, 0.015625, 1e-15);
    int pairs = s.contacts.count;
    assert_int_equal(pairs, p.nodeCount);
    assert_true(pairs >= 49 * 2);
    Move(&s, second, s.volume.nodeCount, 0, 0.125 - 0.5, 0);
    p = Find(&s);
    CheckPairs(&s);
    assert_int_equal(p.nodeCount, 0);
    assert_int_equal(s.contacts.count, pairs);
    for (int i = 0; i < pairs; ++i) {
        ASSERT_NEAR(s.contacts.pairs[i].gap, 0, 1e-12);
    }
    DestroyScene(&s);
}

// Down onto the other block, along it by 6 cm, and up again: the point stays below the node, then the pair goes.
static void PairsSlideAreKeptAndDropped(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    int count = 0;
    for (int step = 0; step <= 12; ++step) {
        Move(&s, second, s.volume.nodeCount, 0.005 * step - 0.03, 0.08 - 0.4 - 0.004, 0);
        Find(&s);
        CheckPairs(&s);
        int own = 0;
        for (int i = 0; i < s.contacts.count; ++i) {
            const jnaContactPair* pair = &s.contacts.pairs[i];
            if (pair->node < second || pair->kept != 0) {
                continue;
            }
            ++own;
            for (int k = 0; k < 3; k += 2) {
                double at = 0;
                for (int c = 0; c < 3; ++c) {
                    at += pair->weights[c] * s.nodes[3 * pair->corners[c] + k];
                }
                ASSERT_NEAR(at, s.nodes[3 * pair->node + k], 1e-12);
            }
        }
        assert_int_equal(own, 15 * 15);
    }
    count = s.contacts.count;
    double reach = s.shape->reach;
    Move(&s, second, s.volume.nodeCount, 0.03, 0.08 - 0.4 + 0.9 * reach, 0);
    assert_int_equal(Find(&s).nodeCount, 0);
    CheckPairs(&s);
    assert_true(s.contacts.count >= 15 * 15 && s.contacts.count <= count);
    for (int i = 0; i < s.contacts.count; ++i) {
        // Nodes beside the other block's edge are a little farther.
        bool below = s.contacts.pairs[i].node >= second;
        ASSERT_NEAR(s.contacts.pairs[i].gap, below ? 0.9 * reach : 0.95 * reach, below ? 1e-12 : 0.0501 * reach);
    }
    Move(&s, second, s.volume.nodeCount, 0.03, 0.08 - 0.4 + 1.1 * reach, 0);
    assert_int_equal(Find(&s).nodeCount, 0);
    assert_int_equal(s.contacts.count, 0);
    DestroyScene(&s);
}

// Pushed step by step past the middle, a node still goes back where it came from, up to twice as far as through.
static void ANodeStaysOnTheSideItCameFrom(void** state)
{
    (void)state;
    Scene s = {0};
    AddBlock(&s.volume, (int[3]){20, 4, 20}, (double[3]){0.2, 0.04, 0.2}, (double[3]){0, 0, 0});
    int second =
        AddBlock(&s.volume, (int[3]){6, 20, 6}, (double[3]){0.04, 0.2, 0.04}, (double[3]){0.0812, 0.4, 0.0787});
    Prepare(&s, NULL);
    const double depths[] = {0.006, 0.012, 0.018, 0.024, 0.03};
    for (int step = 0; step < 5; ++step) {
        Move(&s, second, s.volume.nodeCount, 0, 0.04 - 0.4 - depths[step], 0);
        jnaPenetration p = Find(&s);
        CheckPairs(&s);
        ASSERT_NEAR(p.depth, 0.02, 0.015);
        for (int i = 0; i < s.contacts.count; ++i) {
            const jnaContactPair* pair = &s.contacts.pairs[i];
            // Nodes of the tip, whose way out is up or down and not to the side.
            if (pair->node >= second && s.volume.nodes[3 * pair->node + 1] < 0.4001) {
                ASSERT_NEAR(pair->normal[1], step < 4 ? 1 : -1, 1e-9);
                ASSERT_NEAR(pair->gap, step < 4 ? -depths[step] : depths[step] - 0.04, 1e-9);
            }
        }
    }
    // Without a past it leaves by the shorter way.
    s.contacts.count = 0;
    Move(&s, second, s.volume.nodeCount, 0, 0.04 - 0.4 - 0.024, 0);
    Find(&s);
    for (int i = 0; i < s.contacts.count; ++i) {
        const jnaContactPair* pair = &s.contacts.pairs[i];
        if (pair->node >= second && s.volume.nodes[3 * pair->node + 1] < 0.4001) {
            ASSERT_NEAR(pair->normal[1], -1, 1e-9);
        }
    }
    DestroyScene(&s);
}

// A fork: prongs 2 cm apart, closer than restDistance, and connected only at the far end.
static void FleshAcrossAGapTouches(void** state)
{
    (void)state;
    for (int gaps = 0; gaps < 2; ++gaps) {
        Scene s = {0};
        // A block of 3 x 10 x 2 cells of 2 cm with the middle column taken out above the base.
        AddBlock(&s.volume, (int[3]){9, 30, 6}, (double[3]){0.06, 0.2, 0.04}, (double[3]){0, 0, 0});
        int kept = 0;
        for (int t = 0; t < s.volume.tetrahedronCount; ++t) {
            double middle[3] = {0};
            for (int k = 0; k < 12; ++k) {
                middle[k % 3] += s.volume.nodes[3 * s.volume.tetrahedra[4 * t + k / 3] + k % 3] / 4;
            }
            // The jitter of inner nodes moves the middles, not by half a cell.
            bool out = middle[0] > 0.02 && middle[0] < 0.04 && middle[1] > 0.02;
            if (!out) {
                memmove(s.volume.tetrahedra + 4 * kept++, s.volume.tetrahedra + 4 * t, 4 * sizeof(int32_t));
            }
        }
        s.volume.tetrahedronCount = kept;
        jnaContactDef def = jnaDefaultContactDef(&s.volume);
        def.restDistance = 0.035;
        def.gaps = gaps != 0;
        Prepare(&s, &def);
        assert_int_equal(Find(&s).nodeCount, 0);
        // The upper part of the right prong leans over by 2.5 cm.
        for (int n = 0; n < s.volume.nodeCount; ++n) {
            const double* x = s.volume.nodes + 3 * n;
            if (x[0] > 0.0301 && x[1] > 0.02) {
                s.nodes[3 * n] -= 0.025 * pow((x[1] - 0.02) / 0.18, 2);
            }
        }
        jnaPenetration p = Find(&s);
        CheckPairs(&s);
        if (gaps != 0) {
            assert_true(p.nodeCount > 10);
            ASSERT_NEAR(p.depth, 0.005, 0.0025);
        } else {
            assert_int_equal(p.nodeCount, 0);
        }
        DestroyScene(&s);
    }
}

static void BonesLeaveOnlyWhatCanMove(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    jnaDestroyContactFinder(s.finder);
    jnaDestroyContactShape(s.shape);
    free(s.nodes);
    s.volume.heldBy = malloc(sizeof(int32_t) * (size_t)s.volume.nodeCount);
    s.volume.jointCount = 2;
    s.volume.holdStrength = calloc(2, sizeof(float));
    int counts[4];
    jnaPenetration first = {0};
    for (int kind = 0; kind < 4; ++kind) {
        // Nothing held; the second block by a bone; both by one each; both by springs of one each.
        for (int n = 0; n < s.volume.nodeCount; ++n) {
            s.volume.heldBy[n] = kind == 0 ? -1 : n >= second ? 1 : kind >= 2 ? 0 : -1;
        }
        s.volume.holdStrength[0] = s.volume.holdStrength[1] = kind == 3 ? 1e4f : 0;
        s.contacts.count = 0;
        Prepare(&s, NULL);
        Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
        jnaPenetration p = Find(&s);
        first = kind == 0 ? p : first;
        CheckEqual(&p, &first);
        counts[kind] = s.contacts.count;
        if (kind < 3) {
            jnaDestroyContactFinder(s.finder);
            jnaDestroyContactShape(s.shape);
            free(s.nodes);
        }
    }
    assert_int_equal(counts[0], first.nodeCount);
    assert_int_equal(counts[1], counts[0]);
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[3], counts[0]);
    DestroyScene(&s);
}

static void AnInvertedBlockHoldsNothing(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    for (int n = 0; n < second; ++n) {
        s.nodes[3 * n] = 0.2 - s.nodes[3 * n]; // mirrored in place
    }
    jnaPenetration p = Find(&s);
    CheckPairs(&s);
    assert_true(p.nodeCount > 50);
    for (int i = 0; i < s.contacts.count; ++i) {
        assert_true(s.contacts.pairs[i].node < second); // in the upright one
    }
    // One node flung away: the others are found as before.
    memcpy(s.nodes, s.volume.nodes, sizeof(double) * 3 * (size_t)s.volume.nodeCount);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    int before = Find(&s).nodeCount;
    s.nodes[3 * (s.volume.nodeCount - 1)] = 1e12; // inside the second block, where nothing reaches
    s.nodes[3 * (s.volume.nodeCount - 1) + 1] = -1e12;
    int after = Find(&s).nodeCount;
    print_message("%d nodes inside, %d with one node flung away\n", before, after);
    assert_in_range(after, before / 2, before + before / 2);
    DestroyScene(&s);
    // All in one point: nothing has a volume, and nothing fails.
    s = (Scene){0};
    AddBlock(&s.volume, (int[3]){3, 3, 3}, (double[3]){0.1, 0.1, 0.1}, (double[3]){0, 0, 0});
    Prepare(&s, NULL);
    memset(s.nodes, 0, sizeof(double) * 3 * (size_t)s.volume.nodeCount);
    p = Find(&s);
    assert_int_equal(p.nodeCount, 0);
    DestroyScene(&s);
}

static void ANodeThatIsNoNumberIsNamed(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    Find(&s);
    int count = s.contacts.count;
    const double bad[3] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < 3; ++k) {
        jnError error = {0};
        jnaPenetration p;
        double old = s.nodes[3 * 77 + k];
        s.nodes[3 * 77 + k] = bad[k];
        assert_int_equal(jnaContactFinder_Find(s.finder, s.nodes, &s.contacts, &p, &error), jn_badData);
        assert_non_null(strstr(error.message, "node 77"));
        assert_int_equal(s.contacts.count, count);
        s.nodes[3 * 77 + k] = old;
    }
    jnaVolume none = {0};
    jnaContactDef def = jnaDefaultContactDef(&none);
    jnaContactShape* shape;
    jnError error;
    assert_int_equal(jnaCreateContactShape(&def, &shape, &error), jn_badArgument);
    assert_null(shape);
    def = jnaDefaultContactDef(&s.volume);
    def.reach = (double)NAN;
    assert_int_equal(jnaCreateContactShape(&def, &shape, &error), jn_badArgument);
    DestroyScene(&s);
}

// The same input, the same bytes: from nothing, from the same pairs, by another finder.
static void CheckRepeats(Scene* s)
{
    jnError error;
    jnaContacts a = {0}, b = {0};
    jnaContactFinder* other;
    assert_int_equal(jnaCreateContactFinder(s->shape, &other, &error), jn_ok);
    for (int round = 0; round < 2; ++round) {
        jnaPenetration p, q;
        assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &a, &p, &error), jn_ok);
        assert_int_equal(jnaContactFinder_Find(other, s->nodes, &b, &q, &error), jn_ok);
        assert_int_equal(a.count, b.count);
        assert_true(a.count > 0);
        assert_memory_equal(a.pairs, b.pairs, (size_t)a.count * sizeof(*a.pairs));
        CheckEqual(&p, &q);
    }
    // Nothing has moved: nothing slides.
    int count = a.count;
    jnaContactPair* pairs = malloc((size_t)count * sizeof(*pairs));
    memcpy(pairs, a.pairs, (size_t)count * sizeof(*pairs));
    assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &a, NULL, &error), jn_ok);
    assert_int_equal(a.count, count);
    assert_memory_equal(a.pairs, pairs, (size_t)count * sizeof(*pairs));
    free(pairs);
    jnaDestroyContacts(&a);
    jnaDestroyContacts(&b);
    jnaDestroyContactFinder(other);
}

static void LookingAgainGivesTheSame(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    CheckRepeats(&s);
    // Pairs of another shape are dropped.
    Find(&s);
    s.contacts.pairs[0].node = -5;
    s.contacts.pairs[1].face = 1 << 30;
    int count = s.contacts.count;
    Find(&s);
    assert_int_equal(s.contacts.count, count);
    CheckPairs(&s);
    DestroyScene(&s);
}

// Whether a path along edges leads from a node to another without leaving the ball: the plain way, over all tetrahedra.
static bool Connected(const jnaVolume* v, int32_t from, const int32_t* to, double r)
{
    char* reached = calloc((size_t)v->nodeCount, 1);
    const double* center = v->nodes + 3 * from;
    reached[from] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * t;
            if (!reached[c[0]] && !reached[c[1]] && !reached[c[2]] && !reached[c[3]]) {
                continue;
            }
            for (int k = 0; k < 4; ++k) {
                if (!reached[c[k]] && jnaDistance(v->nodes + 3 * c[k], center) < 1.5 * r) {
                    reached[c[k]] = 1;
                    more = true;
                }
            }
        }
    }
    bool any = false, all = true;
    for (int k = 0; k < 4; ++k) {
        if (jnaDistance(v->nodes + 3 * to[k], center) < r) {
            any = true;
            all = all && !reached[to[k]];
        }
    }
    free(reached);
    return !(any && all);
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
                near = near || jnaContactShape_IsNear(shape, node, c[k]);
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
            CheckRepeats(&s);
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
    TestVolume test = MakeFigureVolume();
    CheckCharacter(&test, "figure");
    DestroyTestVolume(&test);
}

static void TheBodysElbowAgreesWithThePlainestSearch(void** state)
{
    (void)state;
    TestVolume test = MakeBodyVolume(NULL);
    CheckCharacter(&test, "body");
    DestroyTestVolume(&test);
}

static void APictureOfItCanBeDrawn(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    const double* rows[2] = {s.nodes, s.volume.nodes};
    const char* captions[2] = {"pushed", "rest"};
    jnError error;
    assert_int_equal(
        jnaPictureContact(s.finder, 2, rows, captions, JN_BINARY_DIR "/contact_blocks.png", &error), jn_ok);
    assert_int_equal(jnaPictureContact(s.finder, 0, rows, captions, "x.png", &error), jn_badArgument);
    assert_int_equal(jnaPictureContact(s.finder, 1, rows, captions, "/nowhere/x.png", &error), jn_ioFailed);
    DestroyScene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BlocksOverlapByWhatTheyWerePushed),
        cmocka_unit_test(ABarBentOntoItselfMeetsItsOwnEnd),
        cmocka_unit_test(NodesInSeveralLayersGetAPairForEach),
        cmocka_unit_test(ANodeOnAFaceTouchesAndIsNotInside),
        cmocka_unit_test(PairsSlideAreKeptAndDropped),
        cmocka_unit_test(ANodeStaysOnTheSideItCameFrom),
        cmocka_unit_test(FleshAcrossAGapTouches),
        cmocka_unit_test(BonesLeaveOnlyWhatCanMove),
        cmocka_unit_test(AnInvertedBlockHoldsNothing),
        cmocka_unit_test(ANodeThatIsNoNumberIsNamed),
        cmocka_unit_test(LookingAgainGivesTheSame),
        cmocka_unit_test(APictureOfItCanBeDrawn),
        cmocka_unit_test(ALatticeInTheFigureIsFreeAtRestAndMeetsItselfBent),
        cmocka_unit_test(TheFigureIsFreeAtRestAndMeetsItselfBent),
        cmocka_unit_test(TheBodysElbowAgreesWithThePlainestSearch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
