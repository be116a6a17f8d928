// Recovery: the figure's flesh, every free node thrown by up to 0.1 m each way, untangles itself.
//
// With Poisson's ratio 0.3 half of the tries end at rest, the others folded. Flesh that resists a change of volume more
// strongly, 0.45 say, also rids itself of all inverted tetrahedra, but mostly comes to rest folded: an equilibrium like
// any other, for Newton's method too. That is why poses are reached from rest.
//
// Left out under the sanitizers, where making the figure's volume alone takes most of a minute; test_flesh.c runs the
// same code.
#include "character/figure.h"
#include "flesh/flesh_internal.h"
#include "helpers/fleshes.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"
#include "workspace/manifest.h"

static TestVolume figure;

// A coarse lattice inside the figure, with its bones.
static int SetUp(void** state)
{
    (void)state;
    TestVolume* test = &figure;
    jnError error = {0};
    jnaVolume* v = &test->volume;
    jnaVolumeDef volumeDef = jnaDefaultVolumeDef();
    volumeDef.method = jna_volumeLattice;
    volumeDef.nodes = 1000;
    jnaWeightsDef weightsDef = jnaDefaultWeightsDef();
    const jnaCharacter* c = &test->character;
    assert_int_equal(jnaCreateFigure(&test->character, &error), jn_ok);
    assert_int_equal(jnaCreateVolume(c, &volumeDef, v, NULL, NULL, &error), jn_ok);
    assert_int_equal(jnaVolume_CarryWeights(v, c, &weightsDef, &error), jn_ok);
    // Held exactly: scrambled flesh would pull springs out of their bones and fold around them.
    jnaManifest manifest = jnaDefaultManifest();
    manifest.bones.hold = jna_boneDirichlet;
    assert_int_equal(jnaVolume_PlaceBones(v, c, &manifest.bones, NULL, NULL, &error), jn_ok);
    assert_int_equal(jnaVolume_FillMaterials(v, c, NULL, &error), jn_ok);
    return 0;
}

static int TearDown(void** state)
{
    (void)state;
    DestroyTestVolume(&figure);
    return 0;
}

#define THROWN 0.1 // metres; a tetrahedron is half as long

static TestFlesh MakeFlesh(double poisson)
{
    TestFlesh flesh = {.test = figure};
    for (int m = 0; m < figure.volume.materialCount; ++m) {
        figure.volume.materials[m].poisson = poisson;
        figure.volume.materials[m].young = 30000; // one flesh all over: borders of regions are not what is tried
    }
    flesh.def = PlainDef(&figure);
    CreateTestFlesh(&flesh);
    return flesh;
}

// The figure stays.
static void DestroyFlesh(TestFlesh* flesh)
{
    flesh->test = (TestVolume){0};
    DestroyTestFlesh(flesh);
}

// Every free node is thrown to a random place of a cube about its own: far enough to turn nearly half of the tetrahedra
// inside out.
static void Scramble(const TestFlesh* flesh, uint64_t seed)
{
    Random random = {seed};
    jnaPadNodes(flesh->flesh, flesh->test.volume.nodes, flesh->solver->x);
    for (int i = 0; i < 4 * flesh->flesh->freeCount; ++i) {
        flesh->solver->x[i] += i % 4 < 3 ? Uniform(&random, -THROWN, THROWN) : 0;
    }
}

// Distance from rest after the solve, metres; and the tetrahedra inside out before and after it.
static double Recover(TestFlesh* flesh, uint64_t seed, int inverted[2])
{
    const jnaVolume* v = &flesh->test.volume;
    jnaFleshProblem problem = {
        .flesh = flesh->flesh, .preconditioner = &flesh->flesh->still, .tolerance = 1e-4, .mostIterations = 10000};
    jnaFleshOutcome outcome;
    Scramble(flesh, seed);
    jnaFlesh_Evaluate(&problem, flesh->solver->x, flesh->solver->gradient, NULL, &inverted[0]);
    jnaMinimize(flesh->solver, &problem, &outcome);
    assert_true(outcome.converged);
    inverted[1] = outcome.invertedCount;
    jnaUnpadNodes(flesh->flesh, flesh->solver->x, flesh->nodes);
    double away = Farthest(flesh->nodes, v->nodes, v->nodeCount);
    print_message("%d of %d tetrahedra inverted; after %d iterations %d, %.1e m from rest\n", inverted[0],
        v->tetrahedronCount, outcome.iterations, inverted[1], away);
    return away;
}

static void ScrambledFleshFindsBackToRest(void** state)
{
    (void)state;
    TestFlesh flesh = MakeFlesh(0.3);
    int back = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        int inverted[2];
        back += Recover(&flesh, seed, inverted) <= 1e-8;
        assert_true(inverted[0] > 0.4 * flesh.test.volume.tetrahedronCount);
        assert_int_equal(inverted[1], 0);
    }
    assert_true(back >= 3); // a limb that is turned inside out as a whole rests as well
    DestroyFlesh(&flesh);
}

static void ScrambledFleshOfFixedVolumeIsUntangled(void** state)
{
    (void)state;
    TestFlesh flesh = MakeFlesh(0.45);
    int inverted[2];
    Recover(&flesh, 1, inverted);
    assert_true(inverted[1] <= 3); // of thousands
    DestroyFlesh(&flesh);
}

int main(void)
{
#ifdef JN_SANITIZED
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ScrambledFleshFindsBackToRest),
        cmocka_unit_test(ScrambledFleshOfFixedVolumeIsUntangled),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
