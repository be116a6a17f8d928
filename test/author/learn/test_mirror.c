// Poses in the mirror: the same as if they had been posed and displaced there, and only where a character is symmetric.
#include "character/figure.h"
#include "helpers/network_scene.h"
#include "helpers/support.h"
#include "learn/network.h"

static jnaCharacter figure;

// The joint on the other side by its name.
static int PartnerOf(int joint)
{
    char name[JNA_NAME_LENGTH];
    const char* own = figure.joints[joint].name;
    if (strncmp(own, "Left", 4) == 0) {
        snprintf(name, sizeof(name), "Right%s", own + 4);
    } else if (strncmp(own, "Right", 5) == 0) {
        snprintf(name, sizeof(name), "Left%s", own + 5);
    } else {
        return joint;
    }
    for (int j = 0; j < figure.jointCount; ++j) {
        if (strcmp(figure.joints[j].name, name) == 0) {
            return j;
        }
    }
    fail_msg("%s has no partner", own);
    return -1;
}

// The rotation that turns in the mirror: in the world's axes x stays, y and z change their sign. The figure's joints
// have those axes at rest.
static void MirrorPose(const float* rotations, float* out)
{
    for (int j = 0; j < figure.jointCount; ++j) {
        const float* q = rotations + 4 * PartnerOf(j);
        assert_true(figure.joints[j].rotation[3] == 1.0f);
        const float turned[4] = {q[0], -q[1], -q[2], q[3]};
        memcpy(out + 4 * j, turned, sizeof(turned));
    }
}

static void AMirroredPairIsThatOfTheMirroredPose(void** state)
{
    (void)state;
    size_t joints = (size_t)figure.jointCount, floats = 3 * (size_t)figure.vertexCount;
    float* poses = calloc(2 * joints * 4, sizeof(float));
    float* surfaces = calloc(2 * floats, sizeof(float));
    uint64_t random = 3;
    jnbRandomPose(&figure, &random, 0.8, poses);
    MirrorPose(poses, poses + 4 * joints);
    jnaPairs pairs, mirrored;
    assert_int_equal(jnaCreateCharacterPairs(&figure, jn_skinLinear, 1, &pairs, NULL), jn_ok);
    assert_int_equal(jnaCreateCharacterPairs(&figure, jn_skinLinear, 1, &mirrored, NULL), jn_ok);
    // Any surface, and the same on the other side: vertices there are found by looking.
    for (size_t i = 0; i < floats; ++i) {
        surfaces[i] = figure.positions[i] + 0.01f * (float)jnbUniform(&random);
    }
    for (size_t v = 0; v < floats; v += 3) {
        const float* p = figure.positions + v;
        size_t best = 0;
        float closest = HUGE_VALF;
        for (size_t k = 0; k < floats; k += 3) {
            const float* o = figure.positions + k;
            float dx = p[0] + o[0], dy = p[1] - o[1], dz = p[2] - o[2], square = dx * dx + dy * dy + dz * dz;
            best = square < closest ? k : best;
            closest = square < closest ? square : closest;
        }
        surfaces[floats + v] = -surfaces[best];
        surfaces[floats + v + 1] = surfaces[best + 1];
        surfaces[floats + v + 2] = surfaces[best + 2];
    }
    const jnaPair one = {.rotations = poses, .positions = surfaces};
    const jnaPair other = {.rotations = poses + 4 * joints, .positions = surfaces + floats};
    assert_int_equal(jnaPairs_Add(&pairs, 1, &one, NULL), jn_ok);
    assert_int_equal(jnaPairs_Add(&mirrored, 1, &other, NULL), jn_ok);
    int added = 0;
    assert_int_equal(jnaPairs_Mirror(&pairs, &figure, NULL, &added, NULL), jn_ok);
    assert_int_equal(added, 1);
    assert_int_equal(pairs.count, 2);
    double numbers = 0.0, displacements = 0.0, size = 0.0;
    for (size_t i = 0; i < 6 * joints; ++i) {
        numbers = fmax(numbers, fabs((double)(pairs.numbers[6 * joints + i] - mirrored.numbers[i])));
    }
    for (size_t i = 0; i < floats; ++i) {
        size = fmax(size, fabs((double)mirrored.displacements[i]));
        displacements =
            fmax(displacements, fabs((double)(pairs.displacements[floats + i] - mirrored.displacements[i])));
    }
    print_message("numbers off by %g, displacements by %g of %g m\n", numbers, displacements, size);
    assert_true(numbers < 1e-5 && displacements < 1e-5 && size > 0.1);
    jnaDestroyPairs(&pairs);
    jnaDestroyPairs(&mirrored);
    free(poses);
    free(surfaces);
}

static int MirroredCount(void)
{
    jnaPairs pairs;
    int added = -1;
    assert_int_equal(jnaCreateCharacterPairs(&figure, jn_skinLinear, 2, &pairs, NULL), jn_ok);
    float* rotations = calloc((size_t)figure.jointCount * 4, sizeof(float));
    for (int j = 0; j < figure.jointCount; ++j) {
        rotations[4 * j + 3] = 1.0f;
    }
    const jnaPair list[2] = {{.rotations = rotations, .positions = figure.positions},
        {.rotations = rotations, .positions = figure.positions, .use = jna_pairTest}};
    assert_int_equal(jnaPairs_Add(&pairs, 2, list, NULL), jn_ok);
    assert_int_equal(jnaPairs_Mirror(&pairs, &figure, NULL, &added, NULL), jn_ok);
    assert_int_equal(pairs.count, 2 + added);
    jnaDestroyPairs(&pairs);
    free(rotations);
    return added;
}

static void ACharacterThatIsNotSymmetricIsLeftAlone(void** state)
{
    (void)state;
    assert_int_equal(MirroredCount(), 1); // of those trained on, one
    int v = 0;
    while (fabsf(figure.positions[3 * v]) < 0.05f) {
        ++v;
    }
    float place = figure.positions[3 * v + 1];
    figure.positions[3 * v + 1] += 0.002f;
    assert_int_equal(MirroredCount(), 0);
    figure.positions[3 * v + 1] = place;
    // The same surface with weights that belong to other joints on one side.
    jnaInfluences* kept = malloc(sizeof(*kept) * (size_t)figure.vertexCount);
    memcpy(kept, figure.influences, sizeof(*kept) * (size_t)figure.vertexCount);
    for (v = 0; v < figure.vertexCount; ++v) {
        jnaInfluences* in = &figure.influences[v];
        if (figure.positions[3 * v] > 0.0f && in->weights[1] > 0.1f) {
            uint16_t joint = in->joints[0];
            in->joints[0] = in->joints[1];
            in->joints[1] = joint;
        }
    }
    assert_int_equal(MirroredCount(), 0);
    memcpy(figure.influences, kept, sizeof(*kept) * (size_t)figure.vertexCount);
    free(kept);
    assert_int_equal(MirroredCount(), 1);
}

static void MarkedJointsMustBeMarkedOnBothSides(void** state)
{
    (void)state;
    jnaPairs pairs;
    int added = -1, joint = 0;
    uint64_t* marks = calloc((size_t)figure.jointCount, sizeof(uint64_t));
    while (strcmp(figure.joints[joint].name, "LeftHand") != 0) {
        ++joint;
    }
    assert_int_equal(jnaCreateCharacterPairs(&figure, jn_skinLinear, 1, &pairs, NULL), jn_ok);
    float* rotations = calloc((size_t)figure.jointCount * 4, sizeof(float));
    for (int j = 0; j < figure.jointCount; ++j) {
        rotations[4 * j + 3] = 1.0f;
    }
    const jnaPair one = {.rotations = rotations, .positions = figure.positions};
    assert_int_equal(jnaPairs_Add(&pairs, 1, &one, NULL), jn_ok);
    marks[joint] = 7;
    assert_int_equal(jnaPairs_Mirror(&pairs, &figure, marks, &added, NULL), jn_ok);
    assert_int_equal(added, 0);
    marks[PartnerOf(joint)] = 7;
    assert_int_equal(jnaPairs_Mirror(&pairs, &figure, marks, &added, NULL), jn_ok);
    assert_int_equal(added, 1);
    jnaDestroyPairs(&pairs);
    free(rotations);
    free(marks);
}

// A vertex whose weights differ from its partner's: what is learned is still the mirrored surface.
static void WeightsThatDifferHereAndThereAreMinded(void** state)
{
    (void)state;
    int v = 0;
    while (figure.influences[v].weights[1] < 0.2f || fabsf(figure.positions[3 * v]) < 0.05f) {
        ++v;
    }
    figure.influences[v].weights[0] += 0.1f;
    figure.influences[v].weights[1] -= 0.1f;
    AMirroredPairIsThatOfTheMirroredPose(state);
    figure.influences[v].weights[0] -= 0.1f;
    figure.influences[v].weights[1] += 0.1f;
}

static int SetUp(void** state)
{
    (void)state;
    return jnaCreateFigure(&figure, NULL) == jn_ok ? 0 : -1;
}

static int TearDown(void** state)
{
    (void)state;
    jnaDestroyCharacter(&figure);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AMirroredPairIsThatOfTheMirroredPose),
        cmocka_unit_test(ACharacterThatIsNotSymmetricIsLeftAlone),
        cmocka_unit_test(MarkedJointsMustBeMarkedOnBothSides),
        cmocka_unit_test(WeightsThatDifferHereAndThereAreMinded),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
