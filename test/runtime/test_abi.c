// The version and the sizes that a binding checks; test/project/runtime_alone.sh holds the list against the headers.
#include "helpers/support.h"

#include "jounce/jounce.h"

static size_t SizeOf(const char* name)
{
    for (const jnTypeSize* type = jnAbi(); type->name != NULL; ++type) {
        if (strcmp(type->name, name) == 0) {
            return type->size;
        }
    }
    return 0;
}

static void SizesAreThoseOfTheHeaders(void** state)
{
    (void)state;
    assert_int_equal(SizeOf("jnError"), sizeof(jnError));
    assert_int_equal(SizeOf("jnSpringsDef"), sizeof(jnSpringsDef));
    assert_int_equal(SizeOf("jnAsset"), sizeof(jnAsset));
    assert_int_equal(SizeOf("jnCharacterOutput"), sizeof(jnCharacterOutput));
    assert_int_equal(SizeOf("jnSprings"), 0); // not public
}

static void NoNameIsThereTwice(void** state)
{
    (void)state;
    for (const jnTypeSize* a = jnAbi(); a->name != NULL; ++a) {
        assert_true(a->size > 0);
        for (const jnTypeSize* b = a + 1; b->name != NULL; ++b) {
            assert_string_not_equal(a->name, b->name);
        }
    }
}

static void TheVersionIsTheHeaders(void** state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", JN_VERSION_MAJOR, JN_VERSION_MINOR, JN_VERSION_PATCH);
    assert_string_equal(jnVersion(), version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SizesAreThoseOfTheHeaders),
        cmocka_unit_test(NoNameIsThereTwice),
        cmocka_unit_test(TheVersionIsTheHeaders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
