// Recovery: the figure's flesh, every free node thrown by the length of a tetrahedron, finds back to rest; thrown
// anywhere it untangles itself.
//
// With Poisson's ratio 0.3. Thrown twice as far (10 of 24 tries end at rest) or with flesh that resists a change of
// volume more strongly, 0.45 say, it mostly comes to rest folded: an equilibrium like any other, for Newton's method
// too. That is why poses are reached from rest.
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

#define THROWN 0.05 // metres: the length of a tetrahedron

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

// Every free node goes to a random place: no farther than `thrown` metres each way, or anywhere in the figure's box.
static void Scramble(const TestFlesh* flesh, uint64_t seed, double thrown)
{
    const jnaVolume* v = &flesh->test.volume;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * v->nodeCount; ++i) {
        low[i % 3] = fmin(low[i % 3], v->nodes[i]);
        high[i % 3] = fmax(high[i % 3], v->nodes[i]);
    }
    Random random = {seed};
    jnaPadNodes(flesh->flesh, v->nodes, flesh->solver->x);
    for (int i = 0; i < 4 * flesh->flesh->freeCount; ++i) {
        int axis = i % 4;
        if (axis < 3) {
            double at = flesh->solver->x[i];
            flesh->solver->x[i] =
                isfinite(thrown) ? Uniform(&random, at - thrown, at + thrown) : Uniform(&random, low[axis], high[axis]);
        }
    }
}

// Distance from rest after the solve, metres; and the tetrahedra inside out before and after it.
static double Recover(TestFlesh* flesh, uint64_t seed, double thrown, int inverted[2])
{
    const jnaVolume* v = &flesh->test.volume;
    jnaFleshProblem problem = {
        .flesh = flesh->flesh, .preconditioner = &flesh->flesh->still, .tolerance = 1e-4, .mostIterations = 10000};
    jnaFleshOutcome outcome;
    Scramble(flesh, seed, thrown);
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

// Tetrahedra that may stay inside out, of thousands: where bones hold nodes beside each other in the wrong order.
enum { MOST_LEFT = 3 };

// How many of six tries end at rest, in which more than that fraction of the tetrahedra is inside out first.
static int CountBack(double thrown, double scrambled)
{
    TestFlesh flesh = MakeFlesh(0.3);
    int back = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        int inverted[2];
        back += Recover(&flesh, seed, thrown, inverted) <= 1e-8;
        assert_true(inverted[0] > scrambled * flesh.test.volume.tetrahedronCount);
        assert_true(inverted[1] <= MOST_LEFT);
    }
    DestroyFlesh(&flesh);
    return back;
}

static void ScrambledFleshFindsBackToRest(void** state)
{
    (void)state;
    assert_int_equal(CountBack(THROWN, 0.3), 6);
}

static void FleshThatIsScrambledAllOverIsUntangled(void** state)
{
    (void)state;
    CountBack(HUGE_VAL, 0.4);
}

static void ScrambledFleshOfFixedVolumeIsUntangled(void** state)
{
    (void)state;
    TestFlesh flesh = MakeFlesh(0.45);
    int inverted[2];
    Recover(&flesh, 1, THROWN, inverted);
    assert_true(inverted[1] <= MOST_LEFT);
    DestroyFlesh(&flesh);
}

int main(void)
{
#ifdef JN_SANITIZED
    return 0;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ScrambledFleshFindsBackToRest),
        cmocka_unit_test(FleshThatIsScrambledAllOverIsUntangled),
        cmocka_unit_test(ScrambledFleshOfFixedVolumeIsUntangled),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
