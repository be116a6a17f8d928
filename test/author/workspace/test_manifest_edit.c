// Changes to a manifest's text: what a person wrote stays, and what is set reads back.
#include "helpers/support.h"
#include "workspace/manifest_edit.h"

#define HEAD "version: 1\ncharacter: {source: a.glb} # héros, ours\n"

static char* Edit(const char* text, const char* const* words)
{
    jnaManifestChange change = {0};
    jnError error = {0};
    char* edited = NULL;
    for (int i = 0; words[i] != NULL; ++i) {
        if (jnaManifestChange_Take(&change, words[i], &error) != jn_ok) {
            fail_msg("%s", error.message);
        }
    }
    if (jnaEditManifest("m.yaml", text, &change, &edited, &error) != jn_ok) {
        fail_msg("%s\n%s", error.message, text);
    }
    return edited;
}

#define WORDS(...) ((const char* const[]){__VA_ARGS__, NULL})

static void ExpectEdit(const char* text, const char* const* words, const char* wanted)
{
    char* edited = Edit(text, words);
    assert_string_equal(edited, wanted);
    free(edited);
}

static void ATuningIsAddedWhereThereIsNone(void** state)
{
    (void)state;
    ExpectEdit(HEAD, WORDS("belly.softness=2"), HEAD "\ntuning:\n  - {region: belly, softness: 2}\n");
    ExpectEdit(
        HEAD "rate: 30", WORDS("belly.softness=2"), HEAD "rate: 30\n\ntuning:\n  - {region: belly, softness: 2}\n");
    ExpectEdit(HEAD "tuning: [] # nothing yet\nrate: 24\n", WORDS("thigh.limit=0.02 m", "belly.softness=2"),
        HEAD "tuning: # nothing yet\n  - {region: belly, softness: 2}\n  - {region: thigh, limit: 0.02 m}\nrate: 24\n");
    ExpectEdit(HEAD "tuning:\n# below\nrate: 24\n", WORDS("belly.tone=0.4"),
        HEAD "tuning:\n  - {region: belly, tone: 0.4}\n# below\nrate: 24\n");
}

static void WhatIsThereIsChangedInItsPlace(void** state)
{
    (void)state;
    const char* text = HEAD "# über\ntuning:\n  # the belly\n  - {region: belly, softness: 2} # a walker's\n"
                            "  - region: thigh # both\n    limit: 0.03 m # 30 mm\n\n# rates\nrate: 24\n";
    ExpectEdit(text, WORDS("belly.softness=1.5", "thigh.limit=0.02 m"),
        HEAD "# über\ntuning:\n  # the belly\n  - {region: belly, softness: 1.5} # a walker's\n"
             "  - region: thigh # both\n    limit: 0.02 m # 30 mm\n\n# rates\nrate: 24\n");
    ExpectEdit(text, WORDS("belly.limit=1", "thigh.softness=3", "calf.tone=1"),
        HEAD "# über\ntuning:\n  # the belly\n  - {region: belly, softness: 2, limit: 1} # a walker's\n"
             "  - region: thigh # both\n    limit: 0.03 m # 30 mm\n    softness: 3\n  - {region: calf, tone: 1}\n\n"
             "# rates\nrate: 24\n");
    ExpectEdit(text, WORDS("belly.softness=2"), text);
}

static void WhatIsTakenAwayLeavesNoTrace(void** state)
{
    (void)state;
    const char* const texts[] = {
        HEAD "tuning: []\nrate: 24\n",
        HEAD "tuning:\n  - {region: calf, tone: 1}\n  - region: foot\n    softness: 2 # two\n",
        HEAD "tuning: [{region: calf, tone: 1}]\n",
        HEAD "tuning: [{region: calf, tone: 1}, {region: foot, tone: 1}]\nrate: 24\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        char* there = Edit(texts[i], WORDS("belly.softness=2", "thigh.limit=0.02 m", "foot.damping=2"));
        assert_string_not_equal(there, texts[i]);
        ExpectEdit(there, WORDS("thigh.limit=", "belly.softness=", "foot.damping="), texts[i]);
        free(there);
    }
}

static void OthersKeysOfTheSameBlock(void** state)
{
    (void)state;
    ExpectEdit(HEAD "body:\n  build: auto # auto, lean\n  chest: Spine1\nsprings: {hertz: 4}\n",
        WORDS("build=heavy", "mask=mask.npy"),
        HEAD
        "body:\n  build: heavy # auto, lean\n  chest: Spine1\nsprings: {hertz: 4, mode: mask, mask: \"mask.npy\"}\n");
    ExpectEdit(
        HEAD "springs:\n  mode: mask\n  mask: \"mask.npy\"\n", WORDS("mask="), HEAD "springs:\n  mode: fitted\n");
    ExpectEdit(HEAD "body:\n", WORDS("build=lean"), HEAD "body:\n  build: lean\n");
    ExpectEdit(HEAD, WORDS("build=lean"), HEAD "\nbody:\n  build: lean\n");
}

static void TheOrderOfTheWordsDoesNotMatter(void** state)
{
    (void)state;
    char* first = Edit(HEAD, WORDS("thigh.limit=0.02 m", "belly.tone=0.3", "belly.softness=2"));
    ExpectEdit(HEAD, WORDS("belly.softness=2", "thigh.limit=0.02 m", "belly.tone=0.3"), first);
    free(first);
}

// What is written reads back as what was set, among all that a manifest holds.
static void AWrittenManifestTakesEveryKey(void** state)
{
    (void)state;
    char path[512], *text = NULL;
    jnError error = {0};
    jnaManifest m = jnaDefaultManifest(), read;
    snprintf(path, sizeof(path), "%s/edit-XXXXXX", JN_BINARY_DIR);
    assert_non_null(mkdtemp(path));
    char file[600], line[700];
    snprintf(file, sizeof(file), "%s/manifest.yaml", path);
    m.character = strdup("a.glb");
    assert_int_equal(jnaWriteManifest(file, &m, &error), jn_ok);
    jnaDestroyManifest(&m);
    jnaManifestChange change = {0};
    for (int r = 0; r < JNA_REGIONS; ++r) {
        for (int k = 0; k < JNA_TUNING_KEYS; ++k) {
            change.tuning[r][k] = k == jna_tuneLimit ? "0.01 m" : "0.5";
        }
    }
    bool changed = false;
    assert_int_equal(jnaLoadManifestText(path, &text, &error), jn_ok);
    assert_int_equal(jnaChangeManifest(path, "a test", &change, &changed, &error), jn_ok);
    assert_true(changed);
    assert_int_equal(jnaReadManifest(file, &read, &error), jn_ok);
    assert_int_equal(read.tuningCount, JNA_REGIONS);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        const jnaTuning* t = &read.tuning[r];
        assert_int_equal(t->region, r);
        assert_true(t->softness == 0.5 && t->damping == 0.5 && t->tone == 0.5 && t->limit.value == 0.01);
    }
    jnaDestroyManifest(&read);
    assert_int_equal(jnaChangeManifest(path, "a test", &change, &changed, &error), jn_ok);
    assert_false(changed);
    for (int i = 0; i < JNA_REGIONS * JNA_TUNING_KEYS; ++i) {
        change.tuning[i / JNA_TUNING_KEYS][i % JNA_TUNING_KEYS] = "";
    }
    char* after = NULL;
    assert_int_equal(jnaChangeManifest(path, "a test", &change, &changed, &error), jn_ok);
    assert_int_equal(jnaLoadManifestText(path, &after, &error), jn_ok);
    assert_string_equal(after, text);
    free(after);
    free(text);
    snprintf(line, sizeof(line), "rm -r '%s'", path);
    assert_int_equal(system(line), 0);
}

static void WhatTheManifestRefusesIsRefused(void** state)
{
    (void)state;
    static const char* const words[] = {"belly.softness=soft", "belly.softness=1000", "belly.limit=-1", "build=fat",
        "belly.softness=2}", "belly.softness=2\nrate: 5", "belly.softness=2 # x", "mask=a\"b", "build=lean: x"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        jnaManifestChange change = {0};
        jnError error = {0};
        char* edited = NULL;
        assert_int_equal(jnaManifestChange_Take(&change, words[i], &error), jn_ok);
        if (jnaEditManifest("m.yaml", HEAD, &change, &edited, &error) == jn_ok) {
            fail_msg("%s: taken", words[i]);
        }
        assert_null(edited);
        assert_true(strlen(error.message) > 10);
    }
    static const char* const unknown[] = {
        "belly", "belly.soft=2", "tummy.softness=2", "=2", "belly.=2", ".softness=2", ""};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); ++i) {
        jnaManifestChange change = {0};
        jnError error = {0};
        assert_int_not_equal(jnaManifestChange_Take(&change, unknown[i], &error), jn_ok);
        assert_non_null(strstr(error.message, "regions: other, head"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ATuningIsAddedWhereThereIsNone),
        cmocka_unit_test(WhatIsThereIsChangedInItsPlace),
        cmocka_unit_test(WhatIsTakenAwayLeavesNoTrace),
        cmocka_unit_test(OthersKeysOfTheSameBlock),
        cmocka_unit_test(TheOrderOfTheWordsDoesNotMatter),
        cmocka_unit_test(AWrittenManifestTakesEveryKey),
        cmocka_unit_test(WhatTheManifestRefusesIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
