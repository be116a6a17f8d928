// The table of manifest fields: what is left out keeps its default, a stage sees its own settings alone, and the
// reference page says what the table says.
#include "helpers/support.h"
#include "workspace/manifest.h"
#include "workspace/manifest_fields.h"

#include <unistd.h>

static const char* const head = "version: 1\ncharacter: {source: a.glb}\n";

static jnResult TryToRead(const char* text, jnaManifest* m, jnError* error)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/manifest_%ld.yaml", JN_BINARY_DIR, (long)getpid());
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", head, text);
    fclose(file);
    jnResult result = jnaReadManifest(path, m, error);
    (void)remove(path);
    return result;
}

static jnaManifest Read(const char* text)
{
    jnaManifest m;
    jnError error = {0};
    if (TryToRead(text, &m, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return m;
}

static void ASectionThatLeavesKeysOutKeepsTheirDefaults(void** state)
{
    (void)state;
    jnaManifest m = Read(
                    "springs:\n  hertz: 4\nvolume:\n  nodes: 500\nposes: {count: 9}\nnetwork: {epochs: 3}\nmodes:\n"),
                standard = jnaDefaultManifest();
    assert_true(m.springs.hertz == 4);
    assert_int_equal(m.springs.layer, jna_layerModal);
    assert_int_equal(m.springs.mode, jna_springsFitted);
    assert_true(m.springs.cap.kind == jna_capFlesh && m.springs.cap.value == 2);
    assert_int_equal(m.volume.method, standard.volume.method);
    assert_int_equal(m.network.kind, jn_networkPca);
    assert_int_equal(m.modes.count, 64);
    jnaDestroyManifest(&m);
}

// Nothing but the character: the same as the defaults, field by field.
static void AnEmptyManifestIsTheDefaults(void** state)
{
    (void)state;
    jnaManifest m = Read(""), standard = jnaDefaultManifest();
    for (int i = 0; i < jnaFieldCount; ++i) {
        char own[200] = "", other[200] = "";
        const jnaField* f = &jnaFields[i];
        if (jnaField_List(f) != NULL || strcmp(f->path, "character.source") == 0) {
            continue;
        }
        FILE* file = fmemopen(own, sizeof(own), "w");
        jnaField_Print(f, &m, file);
        fclose(file);
        file = fmemopen(other, sizeof(other), "w");
        jnaField_Print(f, &standard, file);
        fclose(file);
        assert_string_equal(own, other);
    }
    jnaDestroyManifest(&m);
}

static void ASettingChangesTheStagesThatItBelongsTo(void** state)
{
    (void)state;
    static const char* const stages[] = {"import", "volume", "inside", "modes", "offsets", "export"};
    static const struct {
        const char* text;
        const char* changes;
    } edits[] = {{"rate: 24\n", "import "}, {"volume: {nodes: 9}\n", "volume "}, {"bones: {stiffness: 5}\n", "inside "},
        {"materials:\n  joints:\n  - {joint: a}\n", "inside "}, {"flesh: {drag: 3}\n", "modes "},
        {"springs: {cap: off}\n", "offsets "}, {"springs: {layer: vertex}\n", "export "},
        {"poses: {seed: 3}\nflesh: {gravity: 1}\n", ""}};
    jnaManifest standard = Read("");
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); ++i) {
        char changed[100] = "";
        jnaManifest m = Read(edits[i].text);
        for (size_t k = 0; k < sizeof(stages) / sizeof(stages[0]); ++k) {
            char *before = jnaManifest_Settings(&standard, stages[k]), *after = jnaManifest_Settings(&m, stages[k]);
            assert_non_null(before);
            if (strcmp(before, after) != 0) {
                strcat(strcat(changed, stages[k]), " ");
            }
            free(before);
            free(after);
        }
        assert_string_equal(changed, edits[i].changes);
        jnaDestroyManifest(&m);
    }
    jnaDestroyManifest(&standard);
}

static char* Load(const char* path)
{
    char* text = calloc(1, 1 << 20);
    FILE* file = fopen(path, "r");
    if (file != NULL) {
        (void)!fread(text, 1, (1 << 20) - 1, file);
        fclose(file);
    }
    return text;
}

static void TheReferencePageIsMadeFromTheTable(void** state)
{
    (void)state;
    FILE* file = fopen(JN_BINARY_DIR "/manifest.md", "w");
    assert_non_null(file);
    jnaDescribeManifest(file);
    fclose(file);
    char *made = Load(JN_BINARY_DIR "/manifest.md"), *kept = Load(JN_SOURCE_DIR "/docs/reference/manifest.md");
    if (strcmp(made, kept) != 0) {
        fail_msg(
            "docs/reference/manifest.md is not what the table says: cp %s/manifest.md docs/reference/", JN_BINARY_DIR);
    }
    free(made);
    free(kept);
}

// A key that is spelled as the path of an item would be written into an item that is not there.
static void AKeyThatLooksLikeAPathIsUnknown(void** state)
{
    (void)state;
    static const char* const keys[] = {"clips[0].name: walk\n", "clips[]: 1\n", "materials.joints[7].joint: a\n",
        "flesh.drag: 3\n", "clips:\n- {name: walk}\nmaterials.joints[900].joint: a\n"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        jnaManifest m;
        jnError error = {0};
        assert_int_equal(TryToRead(keys[i], &m, &error), jn_badData);
        assert_non_null(strstr(error.message, "unknown key '"));
    }
}

static void TheBodyHasABuildAndNamedParts(void** state)
{
    (void)state;
    jnaManifest m = Read("body: {build: heavy, chest: \"Bip001 Spine2\",\n  left_upper_arm: \"Bip001 L UpperArm\"}\n"),
                standard = jnaDefaultManifest(), again;
    assert_int_equal(standard.materials.body.build, jna_buildAuto);
    assert_int_equal(m.materials.body.build, jna_buildHeavy);
    assert_string_equal(m.body[jna_slotChest], "Bip001 Spine2");
    assert_string_equal(m.body[jna_slotLimbs], "Bip001 L UpperArm");
    assert_null(m.body[jna_slotHead]);
    char path[512];
    jnError error = {0};
    snprintf(path, sizeof(path), "%s/manifest_body_%ld.yaml", JN_BINARY_DIR, (long)getpid());
    assert_int_equal(jnaWriteManifest(path, &m, &error), jn_ok);
    assert_int_equal(jnaReadManifest(path, &again, &error), jn_ok);
    (void)remove(path);
    assert_int_equal(again.materials.body.build, jna_buildHeavy);
    assert_string_equal(again.body[jna_slotChest], "Bip001 Spine2");
    jnaDestroyManifest(&again);
    jnaDestroyManifest(&m);
    // The rows are in the order of the slots.
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        char text[80];
        snprintf(text, sizeof(text), "body: {%s: a}\n", jnaBodySlotNames[s]);
        m = Read(text);
        assert_string_equal(m.body[s], "a");
        jnaDestroyManifest(&m);
    }
    assert_int_equal(TryToRead("body: {chst: Spine1}\n", &m, &error), jn_badData);
    assert_non_null(strstr(error.message, "unknown key 'chst'; near to it: 'chest'"));
    assert_int_equal(TryToRead("body: {build: fat}\n", &m, &error), jn_badData);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASectionThatLeavesKeysOutKeepsTheirDefaults),
        cmocka_unit_test(AKeyThatLooksLikeAPathIsUnknown),
        cmocka_unit_test(TheBodyHasABuildAndNamedParts),
        cmocka_unit_test(AnEmptyManifestIsTheDefaults),
        cmocka_unit_test(ASettingChangesTheStagesThatItBelongsTo),
        cmocka_unit_test(TheReferencePageIsMadeFromTheTable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
