// Names that are like one that does not exist.
#include "base/near_names.h"
#include "helpers/support.h"

static void DistanceCountsLettersAndNotTheirCase(void** state)
{
    (void)state;
    assert_int_equal(jnaNameDistance("head", "Head"), 0);
    assert_int_equal(jnaNameDistance("", "abc"), 3);
    assert_int_equal(jnaNameDistance("kitten", "sitting"), 3);
}

static void TheNearestComeFirstAndOnceEach(void** state)
{
    (void)state;
    const char* const names[] = {"Hips", "Head", "", "HeadTop", "Head", "LeftUpLeg"};
    char text[100];
    assert_string_equal(jnaNearNames("haed", names, 6, text, sizeof(text)), "'Head', 'Hips', 'HeadTop'");
    assert_string_equal(jnaNearNames("Top", names, 6, text, sizeof(text)), "'HeadTop', 'Hips', 'Head'");
    assert_string_equal(jnaNearNames("x", names, 0, text, sizeof(text)), "");
    assert_string_equal(jnaNearNames("haed", names, 6, text, 16), "'Head'"); // no room for more
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DistanceCountsLettersAndNotTheirCase),
        cmocka_unit_test(TheNearestComeFirstAndOnceEach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
