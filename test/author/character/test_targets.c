// Morph targets of files as they come in: their number, names, rest weights and weights in clips. Khronos' samples are
// looked for in the folder that JOUNCE_SAMPLES names, as NAME.glb.
#include "helpers/support.h"

#include "character/gltf.h"
#include "character/import.h"
#include "helpers/collada_box.h"
#include "helpers/dressed_gltf.h"
#include "helpers/fbx_box.h"

typedef struct Imported {
    jnaCharacter character;
    jnaClipList clips;
    jnaNotes notes;
} Imported;

static Imported Import(const char* path)
{
    Imported in = {.notes = {0}};
    jnError error;
    jnaImportDef def = jnaDefaultImportDef();
    def.loose = true; // the samples have no skin
    def.scale = 1;
    if (jnaImportCharacter(path, &def, &in.character, &in.clips, NULL, &in.notes, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return in;
}

static void Release(Imported* in)
{
    jnaDestroyNotes(&in->notes);
    jnaDestroyClipList(&in->clips);
    jnaDestroyCharacter(&in->character);
}

static const char* Sample(const char* name)
{
    static char path[512];
    const char* folder = getenv("JOUNCE_SAMPLES");
    snprintf(path, sizeof(path), "%s/%s.glb", folder != NULL ? folder : "absent", name);
    if (access(path, R_OK) != 0) {
        print_message("skipped: no %s.glb in the folder that JOUNCE_SAMPLES names\n", name);
        skip();
    }
    return path;
}

// The weights of a clip against the keys of the file, which are linear. animation: its number.
static void CompareWithKeys(const char* path, const jnaClip* clip, int animation)
{
    jnaGltf g;
    float *times = NULL, *values = NULL;
    size_t keys = 0, numbers = 0, width = 0, count = (size_t)clip->targetCount;
    assert_int_equal(jnaOpenGltf(path, &g, NULL), jn_ok);
    const json_t* sampler = json_array_get(json_object_get(jnaGltf_Entry(&g, "animations", animation), "samplers"), 0);
    assert_int_equal(jnaGltf_ReadFloats(&g, jnaGltf_Integer(sampler, "input", -1), &keys, &width, &times), jn_ok);
    assert_int_equal(jnaGltf_ReadFloats(&g, jnaGltf_Integer(sampler, "output", -1), &numbers, &width, &values), jn_ok);
    assert_int_equal(numbers, keys * count);
    for (int f = 0; f < clip->frameCount; ++f) {
        double at = (double)times[0] + f / clip->rate;
        size_t next = 1;
        while (next + 1 < keys && (double)times[next] < at) {
            ++next;
        }
        double way = (at - (double)times[next - 1]) / ((double)times[next] - (double)times[next - 1]);
        way = fmin(fmax(way, 0), 1);
        for (size_t t = 0; t < count; ++t) {
            double a = (double)values[(next - 1) * count + t], b = (double)values[next * count + t];
            ASSERT_NEAR(clip->targets[(size_t)f * count + t], a + way * (b - a), 2e-3);
        }
    }
    jnaCloseGltf(&g);
}

static void AnimatedMorphCubePlays(void** state)
{
    (void)state;
    const char* path = Sample("AnimatedMorphCube");
    Imported in = Import(path);
    assert_int_equal(in.character.targetCount, 2);
    assert_int_equal(in.clips.count, 1);
    assert_int_equal(in.clips.clips[0].targetCount, 2);
    CompareWithKeys(path, &in.clips.clips[0], 0);
    Release(&in);
}

static void MorphStressTestPlays(void** state)
{
    (void)state;
    const char* path = Sample("MorphStressTest");
    Imported in = Import(path);
    assert_int_equal(in.character.targetCount, 8);
    assert_string_equal(in.character.targets[7].name, "Key 8");
    assert_int_equal(in.clips.count, 3);
    for (int i = 0; i < 3; ++i) {
        CompareWithKeys(path, &in.clips.clips[i], i);
    }
    Release(&in);
}

static void MorphPrimitivesTestRestsHalfway(void** state)
{
    (void)state;
    Imported in = Import(Sample("MorphPrimitivesTest"));
    assert_int_equal(in.character.targetCount, 1);
    ASSERT_NEAR(in.character.targets[0].weight, 0.5, 1e-6);
    Release(&in);
}

static void WeightsOfAClipAreSampledAndThoseAtRestAreInTheRestSurface(void** state)
{
    (void)state;
    static DressedMesh body;
    const DressedDef def = {.body = true, .moves = true, .morphs = true};
    const char* path = WriteDressed("targets", &def);
    Imported in = Import(path);
    FillBody(&body);
    assert_int_equal(in.character.targetCount, 2);
    assert_int_equal(in.clips.clips[0].targetCount, 2);
    ASSERT_NEAR(in.clips.clips[0].targets[2 * 15], 0.5, 1e-5); // half a second
    for (int v = 0; v < BODY_VERTICES; ++v) {
        float offset[3];
        DressedTarget(body.positions[v], 1, offset);
        const float* at = in.character.positions + 3 * in.character.weld[v];
        for (int i = 0; i < 3; ++i) {
            ASSERT_NEAR(at[i], body.positions[v][i] + 0.25F * offset[i], 1e-6);
        }
    }
    Release(&in);
    unlink(path);
}

static bool Notes(const Imported* in, const char* words)
{
    bool found = false;
    for (int i = 0; i < in->notes.count; ++i) {
        found = found || strstr(in->notes.lines[i], words) != NULL;
    }
    return found;
}

// Curves of an FBX have keys at times of their own.
static void WeightsOfAnFbxAreThoseOfItsCurves(void** state)
{
    (void)state;
    static const char* names[] = {"puff", "lean"};
    WriteFbxBox("targets.fbx", true);
    Imported in = Import("targets.fbx");
    assert_int_equal(in.character.targetCount, 2);
    assert_int_equal(in.clips.count, 1);
    const jnaClip* clip = &in.clips.clips[0];
    assert_int_equal(clip->targetCount, 2);
    assert_int_equal(clip->frameCount, 31);
    assert_false(Notes(&in, "not read"));
    double moved = 0;
    for (int t = 0; t < 2; ++t) {
        assert_string_equal(in.character.targets[t].name, names[t]);
        ASSERT_NEAR(in.character.targets[t].weight, FbxRest(t), 1e-6);
        for (int f = 0; f < clip->frameCount; ++f) {
            ASSERT_NEAR(clip->targets[2 * f + t], FbxWeight(t, f / clip->rate), 1e-5);
        }
        for (int i = 0; i < BOX_POINTS; ++i) {
            double offset[3];
            FbxTarget(t, i, offset);
            for (size_t k = 0; k < 3; ++k) { // in the file's unit here: def.scale is 1
                float found = in.character.targets[t].offsets[3 * (size_t)in.character.sourcePoints[i] + k];
                ASSERT_NEAR(found, 100 * offset[k], 1e-4);
                moved = fmax(moved, fabs((double)found));
            }
        }
    }
    assert_true(moved > 1);
    for (int i = 0; i < BOX_POINTS; ++i) { // the rest surface has what rests
        double p[3], offset[3];
        BoxPoint(i, p);
        FbxTarget(1, i, offset);
        ASSERT_NEAR(in.character.positions[3 * (size_t)in.character.sourcePoints[i] + 2],
            100 * (p[2] + FbxRest(1) * offset[2]), 1e-3);
    }
    Release(&in);
    unlink("targets.fbx");
}

// Assimp refuses the whole file for them: the rest of it arrives.
static void MorphsOfColladaAreLeftOutAndNamed(void** state)
{
    (void)state;
    for (int morphs = 0; morphs < 3; ++morphs) { // none; beside the skin; below it
        WriteColladaBox("targets.dae", morphs);
        Imported in = Import("targets.dae");
        assert_int_equal(in.character.targetCount, 0);
        assert_int_equal(in.character.fileVertexCount, 60);
        assert_true(in.character.jointCount >= 2);
        assert_int_equal(in.clips.clips[0].frameCount, 31);
        assert_int_equal(in.character.sourcePointCount, BOX_POINTS);
        assert_true(Notes(&in, "not read from Collada") == (morphs > 0));
        Release(&in);
    }
    unlink("targets.dae");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnimatedMorphCubePlays),
        cmocka_unit_test(MorphStressTestPlays),
        cmocka_unit_test(MorphPrimitivesTestRestsHalfway),
        cmocka_unit_test(WeightsOfAClipAreSampledAndThoseAtRestAreInTheRestSurface),
        cmocka_unit_test(WeightsOfAnFbxAreThoseOfItsCurves),
        cmocka_unit_test(MorphsOfColladaAreLeftOutAndNamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
