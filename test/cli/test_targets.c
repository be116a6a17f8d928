// Morph targets of the source, from the file to the runtime and to the .glb: faces and flesh together.
#include "helpers/command.h"
#include "helpers/dressed_gltf.h"

#include "asset/asset_writer.h"
#include "asset/engine_hosts.h"
#include "base/affine.h"
#include "base/npy.h"
#include "character/gltf.h"
#include "jounce/character.h"
#include "runtime/for_author.h"

enum { FRAMES = 31 };

static Outcome outcome;
static jnaAssetFile file;

#define Run(...) RunInto(&outcome, __VA_ARGS__)

static void TheImportKeepsAndNamesThem(void** state)
{
    (void)state;
    const DressedDef def = {.body = true, .sleeve = true, .moves = true, .morphs = true};
    assert_int_equal(Run("new t --from '%s' --part Sleeve=follows", WriteDressed("face", &def)), 0);
    assert_non_null(strstr(outcome.out, "2 morph targets of the source are kept: smile, frown"));
    assert_int_equal(Run("build t --until modes"), 0);
    assert_int_equal(Run("export t -o t.jounce"), 0);
    assert_int_equal(Run("info t.jounce"), 0);
    assert_non_null(strstr(outcome.out, "smile, frown"));
    assert_int_equal(jnaOpenAsset("t.jounce", &file, NULL), jn_ok);
    const jnAsset* a = file.asset;
    assert_int_equal(a->targetCount, 2);
    assert_int_equal(jnAsset_FindTarget(a, "frown"), 1);
    assert_int_equal(jnAsset_FindTarget(a, "wink"), -1);
    ASSERT_NEAR(a->targets[1].weight, 0.25, 1e-7);
}

// The body's vertices are the file's first; the rest surface has a quarter of "frown".
static void TheRestSurfaceAndTheOffsetsAreThoseOfTheFile(void** state)
{
    (void)state;
    static DressedMesh body;
    const jnAsset* a = file.asset;
    float* deltas = calloc(6 * (size_t)a->fileVertexCount, sizeof(float));
    FillBody(&body);
    for (int t = 0; t < 2; ++t) {
        jnAsset_MorphDeltas(a, a->componentCount + a->modeCount + t, false, deltas + 3 * t * a->fileVertexCount);
    }
    for (int v = 0; v < BODY_VERTICES; ++v) {
        float offset[2][3];
        DressedTarget(body.positions[v], 0, offset[0]);
        DressedTarget(body.positions[v], 1, offset[1]);
        for (int i = 0; i < 3; ++i) {
            ASSERT_NEAR(deltas[3 * v + i], offset[0][i], 1e-6);
            ASSERT_NEAR(deltas[3 * (a->fileVertexCount + v) + i], offset[1][i], 1e-6);
            ASSERT_NEAR(a->rest[4 * a->weld[v] + i], body.positions[v][i] + 0.25F * offset[1][i], 1e-6);
        }
    }
    free(deltas);
}

static void AClipPlaysTheirWeights(void** state)
{
    (void)state;
    float weights[2];
    jnAsset_SampleTargets(file.asset, 0, 0.125, weights);
    ASSERT_NEAR(weights[0], 0.5, 0.02); // between two frames of the clip
    jnAsset_SampleTargets(file.asset, 0, 0.25, weights);
    ASSERT_NEAR(weights[0], 1, 0.07);
    ASSERT_NEAR(weights[1], 0.25, 1e-6);
}

// Surfaces of the clip, [FRAMES][fileVertexCount][3], with some weights of the targets; NULL: those at rest.
static float* Play(const jnAsset* a, const float* targets, bool moves, float* velocities)
{
    jnCharacterDef def = jnDefaultCharacterDef(a);
    jnCharacter* c;
    size_t joints = (size_t)a->jointCount, wide = 3 * (size_t)a->fileVertexCount;
    float *pose = calloc(10 * joints, sizeof(float)), *shown = calloc(FRAMES * wide, sizeof(float));
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    for (int n = 0; n < FRAMES; ++n) {
        jnAsset_SampleClip(a, 0, n / 30.0, pose, pose + 4 * joints, pose + 7 * joints);
        jnCharacterInput input = {.h = 1.0f / 30,
            .pose = {.rotations = pose,
                .translations = pose + 4 * joints,
                .scales = pose + 7 * joints,
                .targets = targets != NULL ? targets + 2 * n : NULL}};
        jnCharacterOutput output = {.positions = shown + (size_t)n * wide};
        output.velocities = velocities != NULL ? velocities + (size_t)n * wide : NULL;
        if (moves) {
            jnCharacter_Step(c, &input, &output);
        } else {
            jnCharacter_Skin(c, &input.pose, &output);
        }
    }
    jnDestroyCharacter(c);
    free(pose);
    return shown;
}

// What the targets add to the moving flesh is what they add to the skin.
static void FacesAndFleshAddUp(void** state)
{
    (void)state;
    const jnAsset* a = file.asset;
    size_t wide = 3 * (size_t)a->fileVertexCount;
    float targets[FRAMES][2];
    double largest = 0, worst = 0;
    for (int n = 0; n < FRAMES; ++n) {
        targets[n][0] = 0.5f + 0.5f * sinf(0.4f * (float)n);
        targets[n][1] = 0.25f - 0.01f * (float)n;
    }
    float *flesh = Play(a, NULL, true, NULL), *both = Play(a, targets[0], true, NULL);
    float *skin = Play(a, NULL, false, NULL), *face = Play(a, targets[0], false, NULL);
    for (size_t i = 0; i < FRAMES * wide; ++i) {
        double added = (double)face[i] - (double)skin[i];
        largest = fmax(largest, fabs(added));
        worst = fmax(worst, fabs((double)both[i] - (double)flesh[i] - added));
    }
    print_message("targets move the skin by up to %.2f mm; beside the flesh they are off by %.2g mm\n", 1e3 * largest,
        1e3 * worst);
    assert_true(largest > 5e-3);
    assert_true(worst < 1e-5);
    free(flesh);
    free(both);
    free(skin);
    free(face);
}

// At the middle of a motion: positions of the frames around it, over the time between them.
static void VelocitiesKnowTheTargets(void** state)
{
    (void)state;
    const jnAsset* a = file.asset;
    size_t wide = 3 * (size_t)a->fileVertexCount;
    float targets[FRAMES][2];
    for (int n = 0; n < FRAMES; ++n) {
        targets[n][0] = 0.1f * (float)n; // steadily
        targets[n][1] = 0.25f;
    }
    float* velocities = calloc(2 * FRAMES * wide, sizeof(float));
    float *both = Play(a, targets[0], true, velocities), *flesh = Play(a, NULL, true, velocities + FRAMES * wide);
    double worst = 0, largest = 0;
    for (size_t i = 10 * wide; i < 11 * wide; ++i) {
        double found = (double)velocities[i] - (double)velocities[FRAMES * wide + i];
        double before = (double)both[i - wide] - (double)flesh[i - wide];
        double after = (double)both[i + wide] - (double)flesh[i + wide];
        worst = fmax(worst, fabs(found - (after - before) * 15));
        largest = fmax(largest, fabs(found));
    }
    print_message("velocities of the targets: up to %.3f m/s, off by %.4f\n", largest, worst);
    assert_true(largest > 0.03);
    assert_true(worst < 0.1 * largest);
    free(velocities);
    free(both);
    free(flesh);
}

// At the key 0.25 s the smile is whole: the bake shows it.
static void ABakeShowsThem(void** state)
{
    (void)state;
    const jnAsset* a = file.asset;
    size_t wide = 3 * (size_t)a->fileVertexCount;
    float targets[FRAMES][2];
    jnaArray array;
    for (int n = 0; n < FRAMES; ++n) {
        jnAsset_SampleTargets(a, 0, n / 30.0, targets[n]);
    }
    float* both = Play(a, targets[0], true, NULL);
    assert_int_equal(Run("bake t.jounce --clip swing -o t.npy"), 0);
    assert_int_equal(jnaOpenArray("t.npy", &array, NULL), jn_ok);
    assert_true(array.count >= 25 * wide);
    for (size_t i = 0; i < 25 * wide; ++i) {
        ASSERT_NEAR(jnaArray_Get(&array, i), both[i], 1e-6);
    }
    jnaCloseArray(&array);
    free(both);
}

static const json_t* WeightsSampler(const json_t* animation, int64_t node)
{
    size_t index;
    const json_t* channel;
    json_array_foreach(json_object_get(animation, "channels"), index, channel)
    {
        const json_t* target = json_object_get(channel, "target");
        if (strcmp(json_string_value(json_object_get(target, "path")), "weights") == 0 &&
            jnaGltf_Integer(target, "node", -1) == node) {
            return json_array_get(
                json_object_get(animation, "samplers"), (size_t)jnaGltf_Integer(channel, "sampler", -1));
        }
    }
    return NULL;
}

static void TheGlbHasThemBeforeTheFlesh(void** state)
{
    (void)state;
    jnaGltf g;
    size_t keys = 0, numbers = 0, width = 0;
    float *times = NULL, *weights = NULL;
    assert_int_equal(Run("export t -o t.glb"), 0);
    assert_int_equal(jnaOpenGltf("t.glb", &g, NULL), jn_ok);
    const json_t* mesh = jnaGltf_Entry(&g, "meshes", 0);
    const json_t* names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    size_t all = json_array_size(names);
    assert_true(all > 3);
    assert_string_equal(json_string_value(json_array_get(names, 0)), "smile");
    assert_string_equal(json_string_value(json_array_get(names, 1)), "frown");
    assert_string_equal(json_string_value(json_array_get(names, 2)), "jounce.mode.000");
    ASSERT_NEAR(json_number_value(json_array_get(json_object_get(mesh, "weights"), 1)), 0.25, 1e-6);
    const json_t* sampler = WeightsSampler(jnaGltf_Entry(&g, "animations", 0), DRESSED_JOINTS);
    assert_non_null(sampler);
    assert_int_equal(jnaGltf_ReadFloats(&g, jnaGltf_Integer(sampler, "input", -1), &keys, &width, &times), jn_ok);
    assert_int_equal(jnaGltf_ReadFloats(&g, jnaGltf_Integer(sampler, "output", -1), &numbers, &width, &weights), jn_ok);
    assert_int_equal(numbers, keys * all);
    bool seen = false;
    double moved = 0;
    for (size_t k = 0; k < keys; ++k) {
        if (fabsf(times[k] - 0.25F) < 1e-6F) {
            seen = true;
            ASSERT_NEAR(weights[k * all], 1, 1e-6);
            ASSERT_NEAR(weights[k * all + 1], 0.25, 1e-6);
        }
        moved = fmax(moved, fabs((double)weights[k * all + 2]));
    }
    print_message("the first mode's target: up to %.3g\n", moved);
    assert_true(seen && moved > 1e-4);
    jnaCloseGltf(&g);
}

// What each host cannot read is not in its file, and the file beside it has a weight for each target of ours.
static void EveryHostGetsWhatItReads(void** state)
{
    (void)state;
    for (int i = 0; i < jnaEngineHostCount(); ++i) {
        const jnaEngineHost* host = jnaGetEngineHost(i);
        jnaGltf g;
        jnaAssetFile live;
        bool views = true, sparse = false;
        assert_int_equal(Run("export t -o h.glb --for %s --targets %d", host->name, host->paired ? 4 : 3), 0);
        assert_non_null(strstr(outcome.out, host->name));
        assert_non_null(strstr(outcome.out, "mm rms"));
        assert_int_equal(strstr(outcome.out, "GPU") != NULL, host->gpuBytes > 0);
        assert_int_equal(jnaOpenGltf("h.glb", &g, NULL), jn_ok);
        assert_int_equal(jnaOpenAsset("h.weights.jounce", &live, NULL), jn_ok);
        const json_t* primitive = json_array_get(json_object_get(jnaGltf_Entry(&g, "meshes", 0), "primitives"), 0);
        const json_t* targets = json_object_get(primitive, "targets");
        assert_int_equal(json_array_size(targets), 2 + (host->paired ? 4 : 3));
        assert_int_equal(live.asset->weightCount, json_array_size(targets) - 2);
        assert_int_equal(live.asset->weightsArePairs, host->paired);
        for (size_t t = 2; t < json_array_size(targets); ++t) {
            json_int_t index = jnaGltf_Integer(json_array_get(targets, t), "POSITION", -1);
            const json_t* accessor = jnaGltf_Entry(&g, "accessors", index);
            views = views && json_object_get(accessor, "bufferView") != NULL;
            sparse = sparse || json_object_get(accessor, "sparse") != NULL;
            bool floats = jnaGltf_Integer(accessor, "componentType", -1) == 5126;
            assert_true(floats || host->quantize);
        }
        assert_true(views || (host->sparse && !host->zeros));
        assert_true(!sparse || host->sparse);
        const json_t* needed = json_object_get(g.root, "extensionsRequired");
        assert_true(json_array_size(needed) == 0 || host->quantize);
        const json_t* attributes = json_object_get(primitive, "attributes");
        assert_true(host->influences != 4 || json_object_get(attributes, "JOINTS_1") == NULL);
        jnaCloseAsset(&live);
        jnaCloseGltf(&g);
    }
    ExpectFailure("export t -o h.glb --for maya", 2, "--for", "is not one of gltf|godot");
}

// Every byte of the section in turn, with a checksum that fits again: refused or played, never a crash.
static void ADamagedSectionIsRefusedOrPlayed(void** state)
{
    (void)state;
    jnAssetSection section = {0};
    for (int i = 0; i < jnAsset_SectionCount(file.asset); ++i) {
        jnAssetSection s = jnAsset_Section(file.asset, i);
        section = strcmp(s.id, "TARG") == 0 ? s : section;
    }
    assert_true(section.size > 0);
    unsigned char* bytes = aligned_alloc(64, (file.size + 63) / 64 * 64);
    int refused = 0, tried = 0;
    for (size_t at = 0; at < section.size; at += at < 1024 ? 1 : 61) {
        jnAsset* a = NULL;
        memcpy(bytes, file.bytes, file.size);
        bytes[section.offset + at] ^= 0xff;
        uint64_t checksum = jnAssetChecksum(bytes, file.size);
        memcpy(bytes + 24, &checksum, sizeof(checksum));
        tried++;
        refused += jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = file.size}, &a, NULL) != jn_ok;
        if (a != NULL && a->targetCount == 2) {
            free(Play(a, NULL, false, NULL));
        }
        jnDestroyAsset(a);
    }
    print_message("%d of %d damaged sections are refused\n", refused, tried);
    assert_true(refused > 64);
    free(bytes);
    jnaCloseAsset(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheImportKeepsAndNamesThem),
        cmocka_unit_test(TheRestSurfaceAndTheOffsetsAreThoseOfTheFile),
        cmocka_unit_test(AClipPlaysTheirWeights),
        cmocka_unit_test(FacesAndFleshAddUp),
        cmocka_unit_test(VelocitiesKnowTheTargets),
        cmocka_unit_test(ABakeShowsThem),
        cmocka_unit_test(TheGlbHasThemBeforeTheFlesh),
        cmocka_unit_test(EveryHostGetsWhatItReads),
        cmocka_unit_test(ADamagedSectionIsRefusedOrPlayed),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
