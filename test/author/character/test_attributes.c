// Vertex attributes of a file, from the import to springs.
#include "asset/asset_writer.h"
#include "character/hand_springs.h"
#include "helpers/folders.h"
#include "helpers/small_gltf.h"
#include "helpers/support.h"
#include "jounce/jounce.h"
#include "jounce/spring_functions.h"
#include "pipeline/build.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_import.h"
#include "workspace/store.h"

static const TubeDef tube = {.joints = 2, .armature = "", .animation = "rotation", .painted = true};

static const char* Path(const char* name)
{
    static char path[600];
    snprintf(path, sizeof(path), "%s/attributes_%ld/%s", JN_BINARY_DIR, (long)getpid(), name);
    return path;
}

// Without poses and motion, whatever the manifest wants.
static jnResult Build(const char* workspace, jnaNotes* notes, jnError* error)
{
    jnaBuildDef def = jnaDefaultBuildDef();
    def.until = jna_buildModes;
    return jnaBuildWorkspace(workspace, &def, notes, error);
}

static int RemoveAll(void** state)
{
    (void)state;
    RemoveFolder(Path(""));
    return 0;
}

// A workspace of the painted tube with this in the place of its springs.
static void MakeWorkspace(const char* springs)
{
    jnError error = {0};
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = WriteTube("attributes", &tube);
    RemoveAll(NULL);
    if (jnaCreateWorkspace(Path(""), &def, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    FILE* file = fopen(Path("manifest.yaml"), "r");
    static char text[8192];
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    char* at = strstr(text, "\nsprings:");
    assert_non_null(at);
    *at = '\0';
    // A coarse lattice will do: what is looked at are rings.
    char *method = strstr(text, "\n  method: "), *nodes = strstr(text, "\n  nodes: ");
    assert_true(method != NULL && nodes != NULL && method < nodes);
    *method = *nodes = '\0';
    const char *between = strchr(method + 1, '\n'), *rest = strchr(nodes + 1, '\n');
    file = fopen(Path("manifest.yaml"), "w");
    fprintf(file, "%s\n  method: lattice%s\n  nodes: 300%s\n%s", text, between != NULL ? between : "",
        rest != NULL ? rest : "", springs);
    fclose(file);
}

static const jnaAttribute* Find(const jnaCharacter* c, const char* name)
{
    for (int i = 0; i < c->attributeCount; ++i) {
        if (strcmp(c->attributes[i].name, name) == 0) {
            return &c->attributes[i];
        }
    }
    return NULL;
}

// Ring of a vertex: the tube is two high.
static int RingOf(const jnaCharacter* c, int v)
{
    return (int)(c->positions[3 * v + 1] * (RINGS - 1) / 2 + 0.5f);
}

static void CheckAttributes(const jnaCharacter* c)
{
    const jnaAttribute *color = Find(c, "COLOR_0"), *jiggle = Find(c, "_JIGGLE");
    assert_non_null(color);
    assert_non_null(jiggle);
    assert_null(Find(c, "_BROKEN"));
    assert_int_equal(color->width, 4);
    assert_int_equal(jiggle->width, 1);
    for (int v = 0; v < c->vertexCount; ++v) {
        int ring = RingOf(c, v);
        ASSERT_NEAR(color->values[4 * v], ring * 0.2, 1e-6);
        ASSERT_NEAR(color->values[4 * v + 1], 1 - ring * 0.2, 1e-6);
        ASSERT_NEAR(jiggle->values[v], ring * 0.25, 1e-6); // the mean of both sides of the seam
    }
}

static void AttributesAreImportedWeldedAndKept(void** state)
{
    (void)state;
    jnaImportDef def = jnaDefaultImportDef();
    jnaCharacter c;
    jnaClipList clips;
    jnaNotes notes = {0};
    assert_int_equal(jnaImportCharacter(WriteTube("attributes", &tube), &def, &c, &clips, NULL, &notes, NULL), jn_ok);
    CheckAttributes(&c);
    bool told = false;
    for (int i = 0; i < notes.count; ++i) {
        told = told || strstr(notes.lines[i], "'_BROKEN' holds numbers that are not finite") != NULL;
    }
    assert_true(told);
    jnaDestroyNotes(&notes);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&c);
    MakeWorkspace("");
    assert_int_equal(jnaLoadCharacter(Path(""), &c, NULL), jn_ok);
    CheckAttributes(&c);
    jnaDestroyCharacter(&c);
}

// Frequency of the springs on a ring, in the file that a workspace is built into.
static void ExpectHertz(const double expected[RINGS])
{
    jnError error = {0};
    jnaAssetFile file;
    if (Build(Path(""), NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(jnaOpenAsset(Path(JNA_ASSET_NAME), &file, &error), jn_ok);
    for (int v = 0; v < file.asset->vertexCount; ++v) {
        int ring = (int)(file.asset->rest[4 * v + 1] * (RINGS - 1) / 2 + 0.5f);
        double hertz = (double)jnHertzFromStiffness(file.asset->stiffness[v]);
        ASSERT_NEAR(hertz, expected[ring], 1e-3 * expected[ring]);
    }
    jnaCloseAsset(&file);
}

static void AnAttributeSetsTheSprings(void** state)
{
    (void)state;
    double rigid = (double)JNA_RIGID_HERTZ, expected[RINGS];
    MakeWorkspace("springs: {mode: attribute, attribute: _JIGGLE, hertz: 2, damping_ratio: 0.1}\n");
    for (int ring = 0; ring < RINGS; ++ring) {
        expected[ring] = exp(log(rigid) + 0.25 * ring * (log(2) - log(rigid)));
    }
    ExpectHertz(expected);
    MakeWorkspace("springs: {mode: attribute, attribute: COLOR_0.g, hertz: 2, damping_ratio: 0.1}\n");
    for (int ring = 0; ring < RINGS; ++ring) {
        expected[ring] = exp(log(rigid) + (1 - 0.2 * ring) * (log(2) - log(rigid)));
    }
    ExpectHertz(expected);
}

// The clip of a modal asset, played: the farthest that any vertex of each ring is from where the skeleton puts it.
static void PlayRings(double farthest[RINGS])
{
    jnaAssetFile file;
    jnError error = {0};
    if (Build(Path(""), NULL, &error) != jn_ok || jnaOpenAsset(Path(JNA_ASSET_NAME), &file, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    const jnAsset* asset = file.asset;
    assert_non_null(asset->modes);
    size_t vertices = (size_t)asset->vertexCount;
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* c;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    float *out = malloc(3 * vertices * sizeof(float)), *skinned = malloc(3 * vertices * sizeof(float));
    jnAssetClip clip = jnAsset_Clip(asset, 0);
    memset(farthest, 0, RINGS * sizeof(double));
    for (int n = 0; n < clip.frameCount; ++n) {
        jnPose pose = {.rotations = clip.rotations + 4 * n * asset->jointCount};
        jnCharacter_Step(c, &(jnCharacterInput){.h = 1.0f / 30, .pose = pose},
            &(jnCharacterOutput){.positions = out, .welded = true});
        jnCharacter_Skin(c, &pose, &(jnCharacterOutput){.positions = skinned, .welded = true});
        for (size_t i = 0; i < 3 * vertices; ++i) {
            int ring = (int)(asset->rest[4 * (i / 3) + 1] * (RINGS - 1) / 2 + 0.5f);
            farthest[ring] = fmax(farthest[ring], fabs((double)out[i] - (double)skinned[i]));
        }
    }
    jnDestroyCharacter(c);
    jnaCloseAsset(&file);
    free(out);
    free(skinned);
}

// _JIGGLE is 0 on the first ring: it stands still, whatever moves; COLOR_0.g is 1 there.
static void AnAttributeActsOnModes(void** state)
{
    (void)state;
    double painted[RINGS], bare[RINGS];
    MakeWorkspace("springs: {layer: modal, mode: attribute, attribute: _JIGGLE}\n");
    PlayRings(painted);
    MakeWorkspace("springs: {layer: modal, mode: uniform}\n");
    PlayRings(bare);
    print_message("first ring %.2g m, painted %.2g m; last %.2g m, painted %.2g m\n", bare[0], painted[0],
        bare[RINGS - 1], painted[RINGS - 1]);
    assert_true(bare[0] > 1e-5 && painted[0] <= 1e-6);
    assert_true(painted[RINGS - 1] > 0.7 * bare[RINGS - 1] && painted[RINGS - 1] < 1.5 * bare[RINGS - 1]);
}

static void AChangedAttributeIsBuiltAgain(void** state)
{
    (void)state;
    jnaNotes notes = {0};
    jnError error = {0};
    MakeWorkspace("springs: {mode: attribute, attribute: COLOR_0.r, hertz: 2, damping_ratio: 0.1}\n");
    assert_int_equal(Build(Path(""), NULL, &error), jn_ok);
    char text[8192], *at;
    FILE* file = fopen(Path("manifest.yaml"), "r");
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    at = strstr(text, "attribute: COLOR_0.r");
    assert_non_null(at);
    at[19] = 'g';
    file = fopen(Path("manifest.yaml"), "w");
    fputs(text, file);
    fclose(file);
    assert_int_equal(Build(Path(""), &notes, &error), jn_ok);
    bool again = false;
    for (int i = 0; i < notes.count; ++i) {
        again = again || strstr(notes.lines[i], "export: done") != NULL;
    }
    assert_true(again);
    jnaDestroyNotes(&notes);
}

static void ExpectRefusal(const char* springs, const char* words)
{
    jnError error = {0};
    MakeWorkspace(springs);
    assert_int_equal(Build(Path(""), NULL, &error), jn_badData);
    if (strstr(error.message, words) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, words);
    }
    assert_int_not_equal(access(Path(JNA_ASSET_NAME), F_OK), 0);
}

static void WhatCannotBeIsRefused(void** state)
{
    (void)state;
    ExpectRefusal("springs: {mode: attribute}\n", "springs by attribute need springs.attribute");
    ExpectRefusal("springs: {mode: attribute, attribute: _BOUNCE}\n", "no '_BOUNCE'; it has: COLOR_0.r to .a, _JIGGLE");
    ExpectRefusal("springs: {mode: attribute, attribute: COLOR_0}\n", "no 'COLOR_0'; it has: COLOR_0.r to .a");
    ExpectRefusal("springs: {mode: attribute, attribute: COLOR_0.q}\n", "no 'COLOR_0.q'");
    ExpectRefusal("springs: {mode: attribute, attribute: _JIGGLE.y}\n", "no '_JIGGLE.y'");
}

static void DamagedAttributesAreRefused(void** state)
{
    (void)state;
    jnaCharacter c;
    jnError error = {0};
    MakeWorkspace("");
    assert_int_equal(remove(Path("character/attribute_0.npy")), 0);
    assert_int_equal(jnaLoadCharacter(Path(""), &c, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "attribute_0.npy"));
    const float value = 2;
    const size_t shape[1] = {1};
    assert_int_equal(jnaWriteArray(Path("character/attribute_0.npy"), jna_float32, 1, shape, &value, &error), jn_ok);
    assert_int_equal(jnaLoadCharacter(Path(""), &c, &error), jn_badData);
    assert_null(c.attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AttributesAreImportedWeldedAndKept),
        cmocka_unit_test(AnAttributeSetsTheSprings),
        cmocka_unit_test(AnAttributeActsOnModes),
        cmocka_unit_test(AChangedAttributeIsBuiltAgain),
        cmocka_unit_test(WhatCannotBeIsRefused),
        cmocka_unit_test(DamagedAttributesAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, RemoveAll);
}
