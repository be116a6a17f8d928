// What a part of a surface is like: how far it bends, how open it is, what lies under it.
#include "helpers/voxels.h"
#include "volume/surface_internal.h"

static jnaCharacter character;
static jnaFaces faces;
static jnaPartMeasure measures[2];
static jnError error;

static int Clear(void** state)
{
    (void)state;
    jnaDestroyCharacter(&character);
    free(faces.positions);
    free(faces.faces);
    free(faces.component);
    free(faces.partStarts);
    free(faces.byPart);
    faces = (jnaFaces){0};
    return 0;
}

// Faces of the character as they are.
static void Measure(void)
{
    AddJointAt(&character, "a", 0, 0, 0);
    AddJointAt(&character, "b", 1, 0, 0);
    faces.vertexCount = character.vertexCount;
    faces.positions = malloc(3 * sizeof(double) * (size_t)character.vertexCount);
    faces.faces = malloc(3 * sizeof(int32_t) * (size_t)character.triangleCount);
    faces.count = faces.capacity = character.triangleCount;
    for (int i = 0; i < 3 * character.vertexCount; ++i) {
        faces.positions[i] = (double)character.positions[i];
    }
    memcpy(faces.faces, character.triangles, 3 * sizeof(int32_t) * (size_t)character.triangleCount);
    int flipped = 0;
    assert_int_equal(jnaFaces_Orient(&faces, &flipped, &error), jn_ok);
    assert_int_equal(jnaFaces_ListParts(&faces, &error), jn_ok);
    assert_int_equal(jnaFaces_Measure(&faces, &character, measures, &error), jn_ok);
}

static void ABoxHasTheSizeOfABox(void** state)
{
    (void)state;
    AddBox(&character, (double[3]){0, 0, 0}, (double[3]){1, 2, 2});
    AddInfluences(&character);
    Measure();
    ASSERT_NEAR(measures[0].area, 16, 1e-9);
    ASSERT_NEAR(measures[0].volume, 4, 1e-9);
    ASSERT_NEAR(measures[0].diagonal, 3, 1e-9);
    ASSERT_NEAR(measures[0].rim, 0, 1e-12);
    ASSERT_NEAR(measures[0].weight, measures[0].total, 1e-9);
    ASSERT_NEAR(measures[0].bend, 0, 1e-9);
}

static void AnOpenBoxHasARim(void** state)
{
    (void)state;
    AddBox(&character, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
    AddInfluences(&character);
    int kept = 0;
    for (int t = 0; t < character.triangleCount; ++t) {
        int top = 0;
        for (int k = 0; k < 3; ++k) {
            top += character.positions[3 * character.triangles[3 * t + k] + 1] > 0.5f;
        }
        if (top < 3) {
            memmove(character.triangles + 3 * kept++, character.triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    character.triangleCount = kept;
    Measure();
    ASSERT_NEAR(measures[0].rim, 4, 1e-9);
}

static void EvenWeightsDoNotBendAndHalvesDo(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    AddInfluences(&character);
    for (int v = 0; v < character.vertexCount; ++v) {
        Follow(&character, v, 0, 0.7f, 1);
    }
    Measure();
    ASSERT_NEAR(measures[0].bend, 0, 1e-9);
    for (int v = 0; v < character.vertexCount; ++v) {
        Follow(&character, v, 0, character.positions[3 * v] > 0 ? 1.0f : 0.0f, 1);
    }
    assert_int_equal(jnaFaces_Measure(&faces, &character, measures, &error), jn_ok);
    assert_true(measures[0].bend > 0.4 && measures[0].bend < 0.6); // each half is half away from the mean
}

static void ABallUnderABallIsSeenFromOutsideAlone(void** state)
{
    (void)state;
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 0, 0, 0, 0.9);
    AddInfluences(&character);
    Measure();
    int32_t* faceOf = malloc(sizeof(int32_t) * (size_t)faces.count);
    for (int f = 0; f < faces.count; ++f) {
        faceOf[f] = f;
    }
    jnaTree tree;
    assert_int_equal(jnaCreateTree(faces.positions, faces.count, (int32_t*)faces.faces, &tree, &error), jn_ok);
    assert_true(jnaFaces_Cover(&faces, measures, &tree, faceOf, 0, 0.2) > 0.99);
    assert_true(jnaFaces_Cover(&faces, measures, &tree, faceOf, 0, 0.05) < 0.01); // too far under it
    assert_true(jnaFaces_Cover(&faces, measures, &tree, faceOf, 1, 0.2) < 0.01);
    jnaDestroyTree(&tree);
    free(faceOf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ABoxHasTheSizeOfABox, Clear),
        cmocka_unit_test_teardown(AnOpenBoxHasARim, Clear),
        cmocka_unit_test_teardown(EvenWeightsDoNotBendAndHalvesDo, Clear),
        cmocka_unit_test_teardown(ABallUnderABallIsSeenFromOutsideAlone, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
