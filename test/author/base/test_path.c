// Names of files that lead from a folder to a file near it.
#include "helpers/support.h"

#include "base/path.h"

static void Expect(const char* folder, const char* file, const char* expected)
{
    char path[JNA_PATH_LENGTH];
    assert_int_equal(jnaRelativePath(folder, file, path, NULL), jn_ok);
    assert_string_equal(path, expected);
}

static void AFileBesideTheFolderIsNamedFromIt(void** state)
{
    (void)state;
    Expect("/home/ann/work/hero", "/home/ann/work/hero.glb", "../hero.glb");
    Expect("/home/ann/work/hero", "/home/ann/work/hero/mask.npy", "mask.npy");
    Expect("/home/ann/work/hero/", "/home/ann/work/hero/in/mask.npy", "in/mask.npy");
    Expect("/home/ann/work/hero", "/home/ann/work/heroes/a.glb", "../heroes/a.glb");
    Expect("/home/ann/work/heroes", "/home/ann/work/hero", "../hero");
    Expect("/home/ann/work/w/hero", "/home/ann/models/hero.glb", "../../../models/hero.glb");
}

static void AFileThatIsFarAwayStaysAbsolute(void** state)
{
    (void)state;
    Expect("/home/ann/work/hero", "/usr/share/hero.glb", "/usr/share/hero.glb");
    Expect("/home/ann/a/b/c/hero", "/home/ann/hero.glb", "/home/ann/hero.glb");
    Expect("/hero", "/hero.glb", "/hero.glb");
}

static void APathThatIsTooLongIsRefused(void** state)
{
    (void)state;
    char file[JNA_PATH_LENGTH + 8], path[JNA_PATH_LENGTH];
    memset(file, 'x', sizeof(file));
    file[0] = '/';
    file[sizeof(file) - 1] = '\0';
    jnError error = {0};
    assert_int_equal(jnaRelativePath("/home/hero", file, path, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AFileBesideTheFolderIsNamedFromIt),
        cmocka_unit_test(AFileThatIsFarAwayStaysAbsolute),
        cmocka_unit_test(APathThatIsTooLongIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
