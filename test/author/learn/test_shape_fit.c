// The fit of shapes: what a vertex does while the modes swing is found again, where the vertex is in the mode.
#include "helpers/core.h"
#include "learn/shape_fit.h"

#include <omp.h>

enum { COUNT = 6 };
#define DAMPING 6.0

typedef struct Lesson {
    Core core;
    jnaModes modes, truth; // as the physics has them; what moves
    jnaModalSequence sequence;
    size_t numbers; // of all shapes
    float* shapes;
} Lesson;

// Motion of shapes that are up to 30 % off, in the modes' own vertices. A few vertices are in no mode.
static Lesson MakeLesson(void)
{
    Lesson l = {.core = MakeCore(6)};
    l.modes = FindCoreModes(&l.core, COUNT, jna_projectVolume);
    l.truth = FindCoreModes(&l.core, COUNT, jna_projectVolume);
    l.numbers = 3 * COUNT * (size_t)l.modes.vertexCount;
    l.shapes = malloc(l.numbers * sizeof(float));
    Random random = {4};
    for (size_t i = 0; i < l.numbers; ++i) {
        bool out = i / 3 % (size_t)l.modes.vertexCount % 7 == 3 && i / 3 / (size_t)l.modes.vertexCount > 1;
        l.modes.shapes[i] *= out ? 0.0f : 1.0f;
        l.truth.shapes[i] = l.modes.shapes[i] * (1 + 0.3f * (float)Uniform(&random, -1, 1));
    }
    l.sequence = RunCore(&l.core, CORE_BOXING, DAMPING, 1);
    const jnaModalSequence* s = &l.sequence;
    size_t size = (size_t)s->frameCount * COUNT;
    double *starts = malloc(3 * size * sizeof(double)), *rates = starts + size, *z = rates + size;
    assert_int_equal(jnaModes_Force(&l.modes, s, starts, rates, NULL), jn_ok);
    assert_int_equal(jnaModes_Run(&l.modes, s, &(jnaModalDrive){starts, rates, NULL}, z, NULL, NULL), jn_ok);
    for (int n = 0; n < s->frameCount; ++n) {
        jnaModes_Show(&l.truth, s, n, z, l.core.positions + 3 * (size_t)n * (size_t)s->vertexCount);
    }
    free(starts);
    return l;
}

static void DestroyLesson(Lesson* l)
{
    free(l->shapes);
    jnaDestroyModes(&l->modes);
    jnaDestroyModes(&l->truth);
    DestroyCore(&l->core);
}

static void Fit(Lesson* l, double prior, float* shapes)
{
    jnError error = {0};
    if (jnaFitShapes(&l->modes, &l->sequence, 1, prior, shapes, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// Root mean square of what shapes differ from the truth by.
static double Off(const Lesson* l, const float* shapes)
{
    double sum = 0;
    for (size_t i = 0; i < l->numbers; ++i) {
        double d = (double)shapes[i] - (double)l->truth.shapes[i];
        sum += d * d / (double)l->numbers;
    }
    return sqrt(sum);
}

static void ShapesAreFoundAgain(void** state)
{
    (void)state;
    Lesson l = MakeLesson();
    double before = Off(&l, l.modes.shapes), weak, strong;
    Fit(&l, 1e-7, l.shapes);
    weak = Off(&l, l.shapes);
    for (size_t i = 0; i < l.numbers; ++i) {
        assert_true(l.modes.shapes[i] != 0.0f || l.shapes[i] == 0.0f); // as sparse as they were
    }
    Fit(&l, JNA_SHAPE_PRIOR, l.shapes);
    strong = Off(&l, l.shapes);
    print_message("shapes off by %.4f, fitted %.4f, with the usual prior %.4f\n", before, weak, strong);
    ASSERT_AT_MOST(weak, 0.02 * before);
    ASSERT_AT_MOST(strong, before);
    Fit(&l, 1e9, l.shapes);
    ASSERT_NEAR(Off(&l, l.shapes), before, 1e-6);
    DestroyLesson(&l);
}

static void FramesWithoutEquilibriumTeachNothing(void** state)
{
    (void)state;
    Lesson l = MakeLesson();
    uint8_t solved[CORE_FRAMES];
    float* with = malloc(l.numbers * sizeof(float));
    for (int n = 0; n < CORE_FRAMES; ++n) {
        solved[n] = n % 9 != 4;
    }
    l.sequence.solved = solved;
    Fit(&l, JNA_SHAPE_PRIOR, l.shapes);
    for (int n = 0; n < CORE_FRAMES; ++n) {
        for (size_t i = 0; solved[n] == 0 && i < 3 * (size_t)l.sequence.vertexCount; ++i) {
            l.core.positions[3 * (size_t)n * (size_t)l.sequence.vertexCount + i] += 10.0f;
        }
    }
    Fit(&l, JNA_SHAPE_PRIOR, with);
    assert_memory_equal(l.shapes, with, l.numbers * sizeof(float));
    l.sequence.solved = NULL;
    Fit(&l, JNA_SHAPE_PRIOR, with);
    assert_memory_not_equal(l.shapes, with, l.numbers * sizeof(float));
    free(with);
    DestroyLesson(&l);
}

static void MotionThatIsNotFiniteIsRefused(void** state)
{
    (void)state;
    Lesson l = MakeLesson();
    jnError error = {0};
    l.core.positions[3 * (size_t)l.sequence.vertexCount * 20 + 3] = (float)NAN;
    assert_int_equal(jnaFitShapes(&l.modes, &l.sequence, 1, JNA_SHAPE_PRIOR, l.shapes, &error), jn_badData);
    assert_string_equal(error.message, "the shapes of modes cannot be fitted: the motion of 1 vertices is not finite");
    l.core.targets[3 * (size_t)l.sequence.vertexCount * 20 + 3] = (float)NAN;
    assert_int_equal(jnaFitShapes(&l.modes, &l.sequence, 1, JNA_SHAPE_PRIOR, l.shapes, &error), jn_badData);
    assert_string_equal(error.message, "the shapes of modes cannot be fitted: a target is not finite");
    DestroyLesson(&l);
}

static void ThreadsDoNotMatterAndStillnessKeepsThem(void** state)
{
    (void)state;
    Lesson l = MakeLesson();
    float* with = malloc(l.numbers * sizeof(float));
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    Fit(&l, JNA_SHAPE_PRIOR, l.shapes);
    omp_set_num_threads(5);
    Fit(&l, JNA_SHAPE_PRIOR, with);
    omp_set_num_threads(threads);
    assert_memory_equal(l.shapes, with, l.numbers * sizeof(float));
    memset(l.modes.gain, 0, COUNT * sizeof(double)); // nothing moves
    Fit(&l, JNA_SHAPE_PRIOR, with);
    assert_memory_equal(l.modes.shapes, with, l.numbers * sizeof(float));
    free(with);
    DestroyLesson(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ShapesAreFoundAgain),
        cmocka_unit_test(FramesWithoutEquilibriumTeachNothing),
        cmocka_unit_test(MotionThatIsNotFiniteIsRefused),
        cmocka_unit_test(ThreadsDoNotMatterAndStillnessKeepsThem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
