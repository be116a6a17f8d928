// jounce tune: it changes the regions in a manifest, says what is set, and refuses what the manifest does not know.
#include "helpers/command.h"

#include <sys/stat.h>

static int Prepare(void** state)
{
    int code = EnterScratchFolder(state);
    assert_int_equal(RunJounce("new hero --figure").code, 0);
    return code;
}

static void ReadManifest(char* text, size_t size)
{
    ReadAll("hero/manifest.yaml", text, size);
    assert_true(strlen(text) + 1 < size);
}

static void ItChangesAndTellsWhatIsSet(void** state)
{
    (void)state;
    static char before[1 << 16], after[1 << 16], again[1 << 16];
    ReadManifest(before, sizeof(before));
    Outcome plain = RunJounce("tune hero");
    assert_int_equal(plain.code, 0);
    assert_non_null(strstr(plain.out, "no region is tuned"));
    Outcome set = RunJounce("tune hero --set belly.softness=2 --set 'thigh.limit=0.02 m' --set build=heavy");
    assert_int_equal(set.code, 0);
    assert_non_null(strstr(set.out, "jounce build hero --until modes"));
    ReadManifest(after, sizeof(after));
    assert_non_null(strstr(after, "\ntuning:\n  - {region: belly, softness: 2}\n  - {region: thigh, limit: 0.02 m}\n"));
    assert_non_null(strstr(after, "build: heavy"));
    Outcome told = RunJounce("tune hero");
    assert_non_null(strstr(told.out, "belly: softness 2, damping 1\nthigh: softness 1, damping 1, limit 0.02 m\n"));
    Outcome same = RunJounce("tune hero --set 'thigh.limit=0.02 m'");
    assert_non_null(strstr(same.out, "says so already"));
    assert_int_equal(RunJounce("tune hero --set belly.softness= --set thigh.limit= --set build=auto").code, 0);
    ReadManifest(again, sizeof(again));
    assert_string_equal(again, before);
}

static void ItRefusesWhatTheManifestDoesNotKnow(void** state)
{
    (void)state;
    static char before[1 << 16], after[1 << 16];
    ReadManifest(before, sizeof(before));
    static const char* const wrong[] = {"belly.softness=soft", "belly.softness=0", "tummy.softness=2", "belly",
        "belly.limit=-1", "build=fat", "thigh.tone=2"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        char line[128];
        snprintf(line, sizeof(line), "tune hero --set %s", wrong[i]);
        Outcome result = RunJounce(line);
        if (result.code != 1 || strstr(result.error, "jounce: ") != result.error) {
            fail_msg("%s: code %d: %s", wrong[i], result.code, result.error);
        }
    }
    ReadManifest(after, sizeof(after));
    assert_string_equal(after, before);
    Outcome none = RunJounce("tune nobody --set belly.softness=2");
    assert_int_equal(none.code, 1);
    assert_int_not_equal(access("nobody", F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ItChangesAndTellsWhatIsSet),
        cmocka_unit_test(ItRefusesWhatTheManifestDoesNotKnow),
    };
    return cmocka_run_group_tests(tests, Prepare, LeaveScratchFolder);
}
