// The layers on oneDNN: gradients of every one against finite differences, and the shapes they have.
#include "helpers/support.h"

#include "learn/net.h"

enum { CHUNK = 3 };

// A loss that is linear in the outputs, so that all curvature is the network's.
static double Loss(jnaWorker* worker, const float* parameters, const float* slope, size_t count)
{
    double sum = 0.0;
    assert_true(jnaWorker_Forward(worker, parameters));
    for (size_t i = 0; i < count; ++i) {
        sum += (double)slope[i] * (double)jnaWorker_Outputs(worker)[i];
    }
    return sum;
}

// Compares every derivative with a central difference in floats: good to a part in a few hundred. Returns the largest
// difference, which is not 0: the two are found in different ways.
static double CheckGradient(const jnaNetShape* shape)
{
    jnaWorker* worker;
    assert_int_equal(jnaCreateWorker(shape, CHUNK, &worker, NULL), jn_ok);
    size_t count = jnaNetShape_ParameterCount(shape), inputs = (size_t)(CHUNK * shape->sizes[0]);
    size_t outputs = (size_t)(CHUNK * jnaNetShape_OutputCount(shape));
    float *parameters = malloc(count * sizeof(float)), *gradient = malloc(count * sizeof(float));
    float *slope = malloc(outputs * sizeof(float)), *inputGradient = malloc(inputs * sizeof(float));
    Random random = {11};
    jnaNetShape_Initialise(shape, 5, parameters);
    for (size_t i = 0; i < count; ++i) {
        parameters[i] += (float)Uniform(&random, -0.1, 0.1); // biases too
    }
    for (size_t i = 0; i < inputs; ++i) {
        jnaWorker_Inputs(worker)[i] = (float)Uniform(&random, -1, 1);
    }
    for (size_t i = 0; i < outputs; ++i) {
        slope[i] = (float)Uniform(&random, -1, 1);
    }
    assert_true(jnaWorker_Forward(worker, parameters));
    memcpy(jnaWorker_Gradient(worker), slope, outputs * sizeof(float));
    assert_true(jnaWorker_Backward(worker, parameters, gradient, inputGradient));
    double size = 0.0, largest = 0.0;
    for (size_t i = 0; i < count; ++i) {
        size = fmax(size, fabs((double)gradient[i]));
    }
    for (size_t i = 0; i < count + inputs; ++i) {
        float* x = i < count ? &parameters[i] : &jnaWorker_Inputs(worker)[i - count];
        float before = *x, step = 2e-3f;
        *x = before + step;
        double above = Loss(worker, parameters, slope, outputs);
        *x = before - step;
        double below = Loss(worker, parameters, slope, outputs);
        *x = before;
        double difference = (above - below) / (2.0 * (double)step);
        double off = fabs((double)(i < count ? gradient[i] : inputGradient[i - count]) - difference);
        largest = fmax(largest, off);
        // A rectifier that changes sign within the step may be off by its share.
        ASSERT_AT_MOST(off, shape->stageCount > 0 ? 0.02 * size : 0.004 * size);
    }
    free(parameters);
    free(gradient);
    free(slope);
    free(inputGradient);
    jnaDestroyWorker(worker);
    return largest;
}

static void GradientsOfDenseLayersAreThoseOfFiniteDifferences(void** state)
{
    (void)state;
    assert_true(CheckGradient(&(jnaNetShape){.layerCount = 3, .sizes = {5, 7, 6, 4}}) > 0.0);
}

static void GradientsOfEnlargingStagesAreThoseOfFiniteDifferences(void** state)
{
    (void)state;
    jnaNetShape shape = {
        .layerCount = 2, .sizes = {4, 5, 4 * 4 * 4}, .stageCount = 2, .channels = {4, 8, 3}, .firstSize = 4};
    assert_true(CheckGradient(&shape) > 0.0);
}

static void ParametersAreCountedAndPlacedOneLayerAfterAnother(void** state)
{
    (void)state;
    jnaNetShape shape = {.layerCount = 1, .sizes = {2, 16}, .stageCount = 2, .channels = {1, 2, 3}, .firstSize = 4};
    size_t weights, biases;
    assert_int_equal(jnaNetShape_Offset(&shape, 0, &weights, &biases), 0);
    assert_true(weights == 32 && biases == 16);
    assert_int_equal(jnaNetShape_Offset(&shape, 2, &weights, &biases), 48 + 32 + 2);
    assert_true(weights == 6 * 16 && biases == 3);
    assert_int_equal(jnaNetShape_ParameterCount(&shape), 82 + 99);
    assert_int_equal(jnaNetShape_OutputCount(&shape), 16 * 16 * 3);
}

static void TheSameSeedGivesTheSameParameters(void** state)
{
    (void)state;
    jnaNetShape shape = {.layerCount = 2, .sizes = {3, 8, 2}};
    float a[64], b[64], c[64];
    size_t size = jnaNetShape_ParameterCount(&shape) * sizeof(float);
    jnaNetShape_Initialise(&shape, 1, a);
    jnaNetShape_Initialise(&shape, 1, b);
    jnaNetShape_Initialise(&shape, 2, c);
    assert_memory_equal(a, b, size);
    assert_memory_not_equal(a, c, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(GradientsOfDenseLayersAreThoseOfFiniteDifferences),
        cmocka_unit_test(GradientsOfEnlargingStagesAreThoseOfFiniteDifferences),
        cmocka_unit_test(ParametersAreCountedAndPlacedOneLayerAfterAnother),
        cmocka_unit_test(TheSameSeedGivesTheSameParameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
