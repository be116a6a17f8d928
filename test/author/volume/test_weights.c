// Weights inside: harmonic, a partition of unity, within their bounds; one motion of all joints moves all nodes by it.
#include "helpers/volumes.h"
#include "volume/posing.h"

#include <omp.h>

static const double size[3] = {1, 0.25, 0.25};

static jnaWeightsDef KeepAll(void)
{
    jnaWeightsDef def = jnaDefaultWeightsDef();
    def.smallest = 1e-14;
    return def;
}

static double Weight(const jnaVolume* v, int node, int joint)
{
    double sum = 0;
    for (int i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
        sum += v->joints[i] == joint ? (double)v->weights[i] : 0;
    }
    return sum;
}

// Rows positive, their sum 1, joints that exist and none twice.
static void CheckRows(const jnaVolume* v)
{
    assert_int_equal(v->rowStarts[0], 0);
    for (int n = 0; n < v->nodeCount; ++n) {
        double sum = 0;
        assert_in_range(v->rowStarts[n + 1] - v->rowStarts[n], 1, JNA_MAX_INFLUENCES);
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            assert_true(v->weights[i] > 0 && v->weights[i] <= 1);
            assert_in_range(v->joints[i], 0, v->jointCount - 1);
            for (int k = v->rowStarts[n]; k < i; ++k) {
                assert_int_not_equal(v->joints[i], v->joints[k]);
            }
            sum += (double)v->weights[i];
        }
        ASSERT_NEAR(sum, 1, 3e-7);
    }
}

// Surface weights that are linear in x stay so inside, to the float they are stored in.
static void LinearWeightsStayLinear(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(12, 5, 5, size, 0.15, 2);
    for (int v = 0; v < test.character.vertexCount; ++v) {
        float x = test.character.positions[3 * v];
        test.character.influences[v] = (jnaInfluences){.joints = {0, 1}, .weights = {1 - x, x}};
    }
    jnError error;
    jnaWeightsDef def = KeepAll();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRows(&test.volume);
    for (int n = 0; n < test.volume.nodeCount; ++n) {
        ASSERT_NEAR(Weight(&test.volume, n, 1), test.volume.nodes[3 * n], 2e-7);
    }
    DestroyTestVolume(&test);
}

static void VerticesKeepTheirOwnWeights(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(12, 5, 5, size, 0.15, 4);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRows(&test.volume);
    for (int v = 0; v < test.character.vertexCount; ++v) {
        const jnaInfluences* in = &test.character.influences[v];
        for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0; ++k) {
            ASSERT_NEAR(Weight(&test.volume, v, in->joints[k]), in->weights[k], 1e-7);
        }
    }
    DestroyTestVolume(&test);
}

// The largest and smallest of a harmonic field lie on the boundary: inside a block that joint 1 moves at one end
// alone, no weight of it is above 1 or below 0, and it falls from that end to the other.
static void WeightsKeepWithinTheirBounds(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(16, 6, 6, size, 0.15, 2);
    for (int v = 0; v < test.character.vertexCount; ++v) {
        int joint = test.character.positions[3 * v] > 0.5f;
        test.character.influences[v] = (jnaInfluences){.joints = {(uint16_t)joint}, .weights = {1}};
    }
    jnError error;
    jnaWeightsDef def = KeepAll();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRows(&test.volume);
    int between = 0;
    for (int n = test.character.vertexCount; n < test.volume.nodeCount; ++n) {
        double x = test.volume.nodes[3 * n], w = Weight(&test.volume, n, 1);
        assert_true(x < 0.3 ? w < 0.2 : x > 0.7 ? w > 0.8 : w >= 0 && w <= 1);
        between += w > 0.1 && w < 0.9;
    }
    assert_true(between > 20);
    DestroyTestVolume(&test);
}

// Vertices in the middle of tetrahedra, as a lattice has them.
static void EmbeddedVerticesCarryTheirWeights(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(10, 4, 4, size, 0.15, 2);
    jnaVolume* v = &test.volume;
    for (int i = 0; i < v->vertexCount; ++i) {
        double x = 0;
        for (int k = 0; k < 4; ++k) {
            v->skinWeights[4 * i + k] = 0.1 * (k + 1);
            x += v->skinWeights[4 * i + k] * v->nodes[3 * v->tetrahedra[4 * v->skinTetrahedra[i] + k]];
        }
        test.character.influences[i] = (jnaInfluences){.joints = {0, 1}, .weights = {(float)(1 - x), (float)x}};
    }
    v->method = jna_volumeLattice;
    v->skinTetrahedra[3] = -1; // left out of the volume
    jnError error;
    jnaWeightsDef def = KeepAll();
    assert_int_equal(jnaVolume_CarryWeights(v, &test.character, &def, &error), jn_ok);
    CheckRows(v);
    double worst = 0;
    for (int i = 0; i < v->vertexCount; ++i) {
        double w = 0;
        for (int k = 0; k < 4 && v->skinTetrahedra[i] >= 0; ++k) {
            w += v->skinWeights[4 * i + k] * Weight(v, v->tetrahedra[4 * v->skinTetrahedra[i] + k], 1);
        }
        double target = (double)test.character.influences[i].weights[1];
        // At the ends the nodes beyond the vertices are clipped to 0 and 1.
        bool middle = v->skinTetrahedra[i] >= 0 && target > 0.2 && target < 0.8;
        worst = middle ? fmax(worst, fabs(w - target)) : worst;
    }
    ASSERT_AT_MOST(worst, 2e-4);
    DestroyTestVolume(&test);
}

static void SmallestAreDroppedAndTheRestStillSumsToOne(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(20, 5, 5, size, 0.15, 12);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    def.smallest = 0;
    def.most = 3;
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRows(&test.volume);
    for (int n = test.character.vertexCount; n < test.volume.nodeCount; ++n) {
        assert_in_range(test.volume.rowStarts[n + 1] - test.volume.rowStarts[n], 1, 3);
    }
    def = jnaDefaultWeightsDef();
    def.smallest = 0.05;
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRows(&test.volume);
    for (int i = test.volume.rowStarts[test.character.vertexCount]; i < test.volume.rowStarts[test.volume.nodeCount];
         ++i) {
        assert_true(test.volume.weights[i] >= 0.05f);
    }
    DestroyTestVolume(&test);
}

// A second piece that no vertex touches takes the weights of the nearest vertex.
static void APieceWithoutVerticesIsStillMoved(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(4, 3, 3, size, 0, 2);
    jnaVolume* v = &test.volume;
    AddLoosePiece(v, 1.5);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(v, &test.character, &def, &error), jn_ok);
    CheckRows(v);
    ASSERT_NEAR(Weight(v, v->nodeCount - 1, 1), 1, 1e-6);
    DestroyTestVolume(&test);
}

static void RotateAndMove(double m[12])
{
    double c = cos(0.7), s = sin(0.7), d = cos(-1.1), e = sin(-1.1);
    double rows[12] = {c * d, -s, c * e, 3, s * d, c, s * e, -2, -e, 0, d, 0.5};
    memcpy(m, rows, sizeof(rows));
}

static void CheckRigid(const jnaVolume* v)
{
    double* transforms = malloc(sizeof(double) * 12 * (size_t)v->jointCount);
    double* positions = malloc(sizeof(double) * 3 * (size_t)v->nodeCount);
    double m[12];
    RotateAndMove(m);
    for (int j = 0; j < v->jointCount; ++j) {
        memcpy(transforms + 12 * j, m, sizeof(m));
    }
    jnaVolume_Skin(v, transforms, positions);
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* p = v->nodes + 3 * n;
        for (int i = 0; i < 3; ++i) {
            double expected = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
            ASSERT_NEAR(positions[3 * n + i], expected, 1e-12);
        }
    }
    free(transforms);
    free(positions);
}

static void OneMotionOfAllJointsMovesAllNodesByIt(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(12, 5, 5, size, 0.15, 5);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    CheckRigid(&test.volume);
    DestroyTestVolume(&test);
}

// A chain that folds by 180 degrees at its middle turns tetrahedra inside out; one at rest does not.
static void FoldingInvertsAndRestDoesNot(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(16, 4, 4, size, 0.1, 2);
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_ok);
    jnaClip clip = {.rate = 30, .frameCount = 3, .jointCount = 2};
    assert_int_equal(jnaClip_Allocate(&clip, false, &error), jn_ok);
    for (int f = 0; f < 3; ++f) {
        double angle = f * 0.5 * 3.0; // 0, 86 and 172 degrees about z
        for (int j = 0; j < 2; ++j) {
            float* q = clip.rotations + 4 * (2 * f + j);
            q[2] = (float)(j * sin(angle / 2));
            q[3] = (float)(j == 0 ? 1 : cos(angle / 2));
            clip.translations[3 * (2 * f + j)] = test.character.joints[j].translation[0];
        }
    }
    int counts[3] = {-1, -1, -1};
    assert_int_equal(jnaVolume_CountInversions(&test.volume, &test.character, &clip, 1, counts, &error), jn_ok);
    assert_int_equal(counts[0], 0);
    assert_true(counts[2] > counts[1] && counts[2] > 20);
    clip.jointCount = 3;
    assert_int_equal(
        jnaVolume_CountInversions(&test.volume, &test.character, &clip, 1, counts, &error), jn_badArgument);
    clip.jointCount = 2;
    jnaDestroyClip(&clip);
    DestroyTestVolume(&test);
}

static void ThreadsChangeNoByte(void** state)
{
    (void)state;
    TestVolume tests[2];
    for (int run = 0; run < 2; ++run) {
        tests[run] = MakeBlock(16, 8, 8, size, 0.15, 40);
        jnError error;
        jnaWeightsDef def = jnaDefaultWeightsDef();
        def.threads = 1 + 2 * run;
        assert_int_equal(jnaVolume_CarryWeights(&tests[run].volume, &tests[run].character, &def, &error), jn_ok);
    }
    size_t nodes = (size_t)tests[0].volume.nodeCount, entries = (size_t)tests[0].volume.rowStarts[nodes];
    assert_memory_equal(tests[0].volume.rowStarts, tests[1].volume.rowStarts, (nodes + 1) * sizeof(int32_t));
    assert_memory_equal(tests[0].volume.joints, tests[1].volume.joints, entries * sizeof(uint16_t));
    assert_memory_equal(tests[0].volume.weights, tests[1].volume.weights, entries * sizeof(float));
    DestroyTestVolume(&tests[0]);
    DestroyTestVolume(&tests[1]);
}

static void AnotherSurfacesVolumeIsRefused(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(4, 3, 3, size, 0, 2);
    test.volume.vertexCount--;
    jnError error;
    jnaWeightsDef def = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&test.volume, &test.character, &def, &error), jn_badData);
    test.volume.vertexCount++;
    DestroyTestVolume(&test);
}

// Under the sanitizer, which is ten times slower, fewer frames.
#ifdef JN_SANITIZED
enum { EVERY = 20 };
#else
enum { EVERY = 4 };
#endif

// Carries the weights of a whole character, tells how long it took, and checks them.
static void CarryAndCheck(TestVolume* test, const char* name)
{
    const jnaVolume* v = &test->volume;
    double start = omp_get_wtime();
    CarryTestWeights(test);
    print_message("%s: %d nodes, %d tetrahedra, weights of %d joints in %.0f ms, %.2f joints a node\n", name,
        v->nodeCount, v->tetrahedronCount, v->jointCount, 1e3 * (omp_get_wtime() - start),
        (double)v->rowStarts[v->nodeCount] / v->nodeCount);
    CheckRows(v);
    CheckRigid(v);
}

// The share of tetrahedra that skinning inverts is told and small.
static void CheckInversions(const TestVolume* test, const jnaClip* clip, int every)
{
    int frames = (clip->frameCount - 1) / every + 1, worst = 0;
    int* counts = malloc((size_t)frames * sizeof(int));
    double sum = 0, all = test->volume.tetrahedronCount;
    assert_int_equal(jnaVolume_CountInversions(&test->volume, &test->character, clip, every, counts, NULL), jn_ok);
    for (int f = 0; f < frames; ++f) {
        sum += counts[f];
        worst = counts[f] > worst ? counts[f] : worst;
    }
    print_message("%-20s %4d frames: inverted %.3f %% on average, %.3f %% at worst\n", clip->name, frames,
        100 * sum / frames / all, 100 * worst / all);
    ASSERT_AT_MOST(sum / frames / all, 0.005);
    free(counts);
}

static void TheFiguresClipsInvertFew(void** state)
{
    (void)state;
    TestVolume test = MakeFigureVolume();
    CarryAndCheck(&test, "figure");
    for (int which = 0; which < jna_figureClipCount; ++which) {
        jnaClip clip;
        assert_int_equal(jnaCreateFigureClip(&test.character, which, 30, &clip, NULL), jn_ok);
        CheckInversions(&test, &clip, EVERY);
        jnaDestroyClip(&clip);
    }
    DestroyTestVolume(&test);
}

static void TheBodysWeightsAreCarried(void** state)
{
    (void)state;
    jnaClipList clips;
    TestVolume test = MakeBodyVolume(&clips);
    CarryAndCheck(&test, "body");
    CheckInversions(&test, &clips.clips[0], EVERY);
    jnaDestroyClipList(&clips);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LinearWeightsStayLinear),
        cmocka_unit_test(VerticesKeepTheirOwnWeights),
        cmocka_unit_test(WeightsKeepWithinTheirBounds),
        cmocka_unit_test(EmbeddedVerticesCarryTheirWeights),
        cmocka_unit_test(SmallestAreDroppedAndTheRestStillSumsToOne),
        cmocka_unit_test(APieceWithoutVerticesIsStillMoved),
        cmocka_unit_test(OneMotionOfAllJointsMovesAllNodesByIt),
        cmocka_unit_test(FoldingInvertsAndRestDoesNot),
        cmocka_unit_test(ThreadsChangeNoByte),
        cmocka_unit_test(AnotherSurfacesVolumeIsRefused),
        cmocka_unit_test(TheFiguresClipsInvertFew),
        cmocka_unit_test(TheBodysWeightsAreCarried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
