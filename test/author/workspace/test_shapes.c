// Shapes in a workspace: what was written is read, and nothing that does not fit.
#include "helpers/write_shapes.h"

#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 3, JOINTS = 2, VERTICES = 4 };
static const char folder[] = JN_BINARY_DIR "/test_shapes";
static const jnaCharacter character = {.jointCount = JOINTS, .vertexCount = VERTICES};
static float rotations[COUNT][JOINTS][4], positions[COUNT][VERTICES][3];

static jnaShapes MakeShapes(void)
{
    for (int i = 0; i < COUNT * JOINTS; ++i) {
        (&rotations[0][0][0])[4 * i + 3] = 1.0f;
    }
    for (int i = 0; i < COUNT * VERTICES * 3; ++i) {
        (&positions[0][0][0])[i] = 0.1f * (float)i;
    }
    return (jnaShapes){.count = COUNT,
        .jointCount = JOINTS,
        .vertexCount = VERTICES,
        .rotations = &rotations[0][0][0],
        .positions = &positions[0][0][0]};
}

static int MakeFolder(void** state)
{
    (void)state;
    mkdir(folder, 0777);
    (void)unlink(JN_BINARY_DIR "/test_shapes/poses/poses.npy");
    return 0;
}

static jnResult Open(jnaShapes* shapes, jnError* error)
{
    bool present = false;
    jnResult result = jnaOpenShapes(folder, &character, &present, shapes, error);
    assert_true(present);
    return result;
}

static void AWorkspaceWithoutShapesSaysSo(void** state)
{
    (void)state;
    bool present = true;
    jnaShapes shapes;
    assert_int_equal(jnaOpenShapes(folder, &character, &present, &shapes, NULL), jn_ok);
    assert_false(present);
}

static void WhatIsWrittenIsRead(void** state)
{
    (void)state;
    const uint8_t valid[COUNT] = {1, 0, 1}, shapeKinds[COUNT] = {0, 1, 2};
    const int32_t clips[COUNT] = {-1, 4, -1};
    jnaShapes written = MakeShapes(), read;
    written.valid = valid;
    written.kinds = shapeKinds;
    written.clips = clips;
    rotations[1][0][3] = NAN; // that pose failed
    positions[1][2][0] = NAN;
    WriteShapes(folder, &written);
    assert_int_equal(Open(&read, NULL), jn_ok);
    assert_int_equal(read.count, COUNT);
    assert_memory_equal(read.rotations, rotations, sizeof(rotations));
    assert_memory_equal(read.positions, positions, sizeof(positions));
    assert_memory_equal(read.valid, valid, sizeof(valid));
    assert_memory_equal(read.kinds, shapeKinds, sizeof(shapeKinds));
    assert_memory_equal(read.clips, clips, sizeof(clips));
    jnaCloseShapes(&read);
    // Written again without them, the optional files are gone.
    written = MakeShapes();
    WriteShapes(folder, &written);
    assert_int_equal(Open(&read, NULL), jn_ok);
    assert_true(read.valid == NULL && read.kinds == NULL && read.clips == NULL);
    jnaCloseShapes(&read);
}

static void ExpectRefusal(const char* word)
{
    jnaShapes shapes;
    jnError error = {0};
    assert_int_equal(Open(&shapes, &error), jn_badData);
    if (strstr(error.message, word) == NULL) {
        fail_msg("it said: %s", error.message);
    }
}

static void ShapesOfAnotherCharacterOrWithBadNumbersAreRefused(void** state)
{
    (void)state;
    jnaShapes shapes = MakeShapes();
    positions[2][1][1] = HUGE_VALF;
    WriteShapes(folder, &shapes);
    ExpectRefusal("pose 2, vertex 1");
    shapes = MakeShapes();
    rotations[0][1][3] = 0.5f;
    WriteShapes(folder, &shapes);
    ExpectRefusal("pose 0, joint 1");
    shapes = MakeShapes();
    shapes.vertexCount = VERTICES - 1;
    WriteShapes(folder, &shapes);
    ExpectRefusal("(3, 3, 3)");
    shapes = MakeShapes();
    shapes.count = 0;
    WriteShapes(folder, &shapes);
    ExpectRefusal("0 poses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AWorkspaceWithoutShapesSaysSo),
        cmocka_unit_test(WhatIsWrittenIsRead),
        cmocka_unit_test(ShapesOfAnotherCharacterOrWithBadNumbersAreRefused),
    };
    return cmocka_run_group_tests(tests, MakeFolder, NULL);
}
