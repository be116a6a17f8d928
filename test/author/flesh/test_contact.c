// Self-contact: blocks with known overlaps, a bar bent onto itself, layers, sliding.
#include "draw/contact_picture.h"
#include "helpers/contact_scene.h"

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

static void Move(Scene* s, int first, int end, double x, double y, double z)
{
    for (int n = first; n < end; ++n) {
        s->nodes[3 * n] = s->volume.nodes[3 * n] + x;
        s->nodes[3 * n + 1] = s->volume.nodes[3 * n + 1] + y;
        s->nodes[3 * n + 2] = s->volume.nodes[3 * n + 2] + z;
    }
}

// Two blocks far apart at rest; the second can be moved onto the first. Edges of 1 and 0.7 cm.
static int MakeTwo(Scene* s)
{
    *s = (Scene){0};
    AddBlock(&s->volume, (int[3]){20, 8, 20}, (double[3]){0.2, 0.08, 0.2}, (double[3]){0, 0, 0});
    int second =
        AddBlock(&s->volume, (int[3]){14, 12, 14}, (double[3]){0.1, 0.084, 0.1}, (double[3]){0.0512, 0.4, 0.0487});
    jnaContactDef def = jnaDefaultContactDef(&s->volume);
    def.reach = 0.005;
    Prepare(s, &def);
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

// The way out of the tip of the second block: 1 back, -1 through.
static void CheckTip(const Scene* s, int second, double depth, double way)
{
    int count = 0;
    for (int i = 0; i < s->contacts.count; ++i) {
        const jnaContactPair* pair = &s->contacts.pairs[i];
        const double* x = s->volume.nodes + 3 * pair->node;
        // Not the rim, which looks half to the side.
        if (pair->node >= second && x[1] < 0.4001 && fabs(x[0] - 0.1012) < 0.0199 && fabs(x[2] - 0.0987) < 0.0199) {
            ASSERT_NEAR(pair->normal[1], way, 1e-9);
            ASSERT_NEAR(pair->gap, way > 0 ? -depth : depth - 0.04, 1e-9);
            ++count;
        }
    }
    assert_int_equal(count, 25);
}

// A bar pushed into a plate of 4 cm. Its tip looks down, so up, where the plate looks at it, counts as up to three
// times closer than down; twice that if it came from there.
static void ANodeStaysOnTheSideItCameFrom(void** state)
{
    (void)state;
    Scene s = {0};
    AddBlock(&s.volume, (int[3]){20, 4, 20}, (double[3]){0.2, 0.04, 0.2}, (double[3]){0, 0, 0});
    int second =
        AddBlock(&s.volume, (int[3]){6, 20, 6}, (double[3]){0.04, 0.2, 0.04}, (double[3]){0.0812, 0.4, 0.0787});
    Prepare(&s, NULL);
    const double depths[] = {0.006, 0.012, 0.018, 0.024, 0.028, 0.033, 0.037};
    for (int step = 0; step < 7; ++step) {
        Move(&s, second, s.volume.nodeCount, 0, 0.04 - 0.4 - depths[step], 0);
        jnaPenetration p = Find(&s);
        CheckPairs(&s);
        // Nodes of the bar's sides are at most in the middle of the plate.
        ASSERT_NEAR(p.depth, fmin(depths[step], 0.02), 0.005);
        CheckTip(&s, second, depths[step], step < 6 ? 1 : -1);
    }
    for (int step = 4; step < 6; ++step) {
        s.contacts.count = 0;
        Move(&s, second, s.volume.nodeCount, 0, 0.04 - 0.4 - depths[step], 0);
        Find(&s);
        CheckTip(&s, second, depths[step], step < 5 ? 1 : -1);
    }
    DestroyScene(&s);
}

// What is foreign in the ball around some nodes is what no path reaches.
static void CheckForeign(const Scene* s)
{
    int foreign = 0, near = 0;
    for (int n = 0; n < s->shape->nodeCount; n += 41) {
        int32_t node = s->shape->nodes[n];
        for (int32_t k = 0; k < s->volume.nodeCount; k += 3) {
            const int32_t to[4] = {k, k, k, k};
            if (jnaDistance(s->volume.nodes + 3 * k, s->volume.nodes + 3 * node) < s->shape->restDistance) {
                bool listed = false;
                for (int32_t e = s->shape->foreign.starts[n]; e < s->shape->foreign.starts[n + 1]; ++e) {
                    listed = listed || s->shape->foreign.entries[e] == k;
                }
                assert_true(listed != Connected(&s->volume, node, to, s->shape->restDistance));
                foreign += listed;
                near += !listed;
            }
        }
    }
    assert_true(foreign > 50 && near > 50);
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
        if (gaps != 0) {
            CheckForeign(&s);
        }
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
    s.volume.holdStrength = calloc((size_t)s.volume.nodeCount, sizeof(float));
    enum { NOTHING, SECOND_BLOCK, BOTH_EXACTLY, BOTH_BY_SPRINGS, ONE_BONE, ONE_BONE_WEAKLY, OWN_PLACES, KINDS };
    int counts[KINDS];
    jnaPenetration first = {0};
    for (int kind = 0; kind < KINDS; ++kind) {
        int ownPlace = 2 * s.volume.jointCount;
        for (int n = 0; n < s.volume.nodeCount; ++n) {
            bool inside = n >= second;
            int32_t of[KINDS] = {-1, inside ? 1 : -1, inside, inside, 1, 1, ownPlace};
            // A single strong spring shows that the others are weak.
            float strength[KINDS] = {0, 0, 0, 1e4f, 1e4f, n == 0 ? 1e4f : 1e3f, 1e4f};
            s.volume.heldBy[n] = of[kind];
            s.volume.holdStrength[n] = strength[kind];
        }
        s.contacts.count = 0;
        Prepare(&s, NULL);
        Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
        jnaPenetration p = Find(&s);
        first = kind == 0 ? p : first;
        CheckEqual(&p, &first);
        counts[kind] = s.contacts.count;
        if (kind + 1 < KINDS) {
            jnaDestroyContactFinder(s.finder);
            jnaDestroyContactShape(s.shape);
            free(s.nodes);
        }
    }
    assert_int_equal(counts[NOTHING], first.nodeCount);
    assert_int_equal(counts[SECOND_BLOCK], counts[NOTHING]);
    assert_int_equal(counts[BOTH_EXACTLY], 0);
    assert_int_equal(counts[BOTH_BY_SPRINGS], counts[NOTHING]);
    assert_int_equal(counts[ONE_BONE], 0);
    assert_int_equal(counts[ONE_BONE_WEAKLY], counts[NOTHING]);
    assert_int_equal(counts[OWN_PLACES], counts[NOTHING]);
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

static void LookingAgainGivesTheSame(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    CheckRepeats(&s, true);
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

static void OffsetsGoAlongWithTheirPairs(void** state)
{
    (void)state;
    Scene s;
    int second = MakeTwo(&s);
    Move(&s, second, s.volume.nodeCount, 0, 0.08 - 0.4 - 0.01, 0);
    Find(&s);
    int count = s.contacts.count;
    assert_true(count > 0);
    for (int p = 0; p < count; ++p) {
        assert_true(s.contacts.pairs[p].offset == 0);
        s.contacts.pairs[p].offset = 1e-3 * s.contacts.pairs[p].node;
    }
    Find(&s);
    assert_int_equal(s.contacts.count, count);
    for (int p = 0; p < count; ++p) {
        assert_true(s.contacts.pairs[p].offset == 1e-3 * s.contacts.pairs[p].node);
    }
    DestroyScene(&s);
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
        cmocka_unit_test(OffsetsGoAlongWithTheirPairs),
        cmocka_unit_test(APictureOfItCanBeDrawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
