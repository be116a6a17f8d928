// jounce bake: in the vertex order, unit and axes of another file.
#include "helpers/command.h"

#include "base/npy.h"

static int MakeCharacter(void** state)
{
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    return RunJounce("new w --figure --layer vertex").code + RunJounce("export w -o w/character.jounce").code +
           RunJounce("bake w --clip run -o plain.npy").code;
}

// The rest surface as an OBJ: centimetres, Z up, vertices from the last to the first.
static int WriteOrder(const char* path, double stretch)
{
    jnaArray rest;
    assert_int_equal(jnaOpenArray("w/character/positions.npy", &rest, NULL), jn_ok);
    FILE* file = fopen(path, "w");
    for (size_t v = rest.shape[0]; v-- > 0;) {
        fprintf(file, "v %.7g %.7g %.7g\n", 100 * jnaArray_Get(&rest, 3 * v), -100 * jnaArray_Get(&rest, 3 * v + 2),
            stretch * 100 * jnaArray_Get(&rest, 3 * v + 1));
    }
    fclose(file);
    int count = (int)rest.shape[0];
    jnaCloseArray(&rest);
    return count;
}

static void ABakeTakesTheOrderUnitAndAxesOfAnotherFile(void** state)
{
    (void)state;
    int count = WriteOrder("order.obj", 1);
    Outcome outcome = RunJounce("bake w --clip run --order order.obj -o ordered.npy");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "by position, in centimetres, Z up"));
    assert_int_equal(RunJounce("bake w --clip run --order order.obj --units metres --up y -o ours.npy").code, 0);
    jnaArray plain, ordered, ours, weld;
    assert_int_equal(jnaOpenArray("plain.npy", &plain, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ordered.npy", &ordered, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ours.npy", &ours, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("w/character/weld.npy", &weld, NULL), jn_ok);
    assert_int_equal(ordered.shape[1], count);
    double worst = 0;
    for (size_t frame = 0; frame < plain.shape[0]; frame += 7) {
        for (size_t i = 0; i < weld.count; ++i) {
            size_t point = (size_t)count - 1 - (size_t)((const int32_t*)weld.data)[i];
            size_t from = 3 * (frame * plain.shape[1] + i), to = 3 * (frame * (size_t)count + point);
            double y = jnaArray_Get(&plain, from + 1), z = jnaArray_Get(&plain, from + 2);
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 2) - 100 * y));
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 1) + 100 * z));
            worst = fmax(worst, 100 * fabs(jnaArray_Get(&ours, to + 1) - y));
        }
    }
    ASSERT_AT_MOST(worst, 2e-5); // centimetres
    jnaCloseArray(&plain);
    jnaCloseArray(&ordered);
    jnaCloseArray(&ours);
    jnaCloseArray(&weld);
}

// What was written goes back in, as it is.
static void ABakeOfOursIsMotionAgain(void** state)
{
    (void)state;
    WriteOrder("order.obj", 1);
    static const char* const files[] = {"back.abc", "back.usda", "back.pc2", "back.npy"};
    for (int i = 0; i < 4; ++i) {
        char line[256];
        snprintf(line, sizeof(line), "bake w --clip run --order order.obj -o %s", files[i]);
        assert_int_equal(RunJounce(line).code, 0);
        snprintf(line, sizeof(line), "new back%d --figure --layer vertex --motion run=%s", i, files[i]);
        Outcome outcome = RunJounce(line);
        if (outcome.code != 0) {
            fail_msg("%s: %s", line, outcome.error);
        }
        assert_non_null(strstr(outcome.out, "in centimetres, Z up"));
    }
}

static void AnotherShapeAndAGlbAreRefused(void** state)
{
    (void)state;
    WriteOrder("tall.obj", 1.5);
    Outcome outcome = RunJounce("bake w --clip run --order tall.obj -o x.npy");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "tall.obj"));
    assert_false(FileExists("x.npy"));
    WriteOrder("order.obj", 1);
    outcome = RunJounce("bake w --clip run --order order.obj -o x.glb");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "its own vertex order"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ABakeTakesTheOrderUnitAndAxesOfAnotherFile),
        cmocka_unit_test(ABakeOfOursIsMotionAgain),
        cmocka_unit_test(AnotherShapeAndAGlbAreRefused),
    };
    return cmocka_run_group_tests(tests, MakeCharacter, LeaveScratchFolder);
}
