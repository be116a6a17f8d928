// jounce train as a user runs it: from shapes in a workspace to a file that plays with the network.
#include "helpers/command.h"
#include "helpers/network_scene.h"
#include "helpers/small_gltf.h"
#include "helpers/write_shapes.h"
#include "workspace/store.h"

#include <jansson.h>

enum { POSES = 60 };

// A workspace with shapes of a known truth; the last ten are frames of its one clip.
static void MakeWorkspace(void)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new w --from '%s' --rate 10", WriteTube("train", &def));
    assert_int_equal(RunJounce(arguments).code, 0);
    jnbShapes s = {.reach = 0.5};
    uint8_t shapeKinds[POSES] = {0};
    int32_t clips[POSES];
    assert_int_equal(jnaLoadCharacter("w", &s.character, NULL), jn_ok);
    assert_int_equal(jnbFillShapes(&s, POSES, 0, 3, NULL), jn_ok);
    for (int i = 0; i < POSES; ++i) {
        shapeKinds[i] = i >= POSES - 10 ? jna_shapeClip : jna_shapeRandom;
        clips[i] = i >= POSES - 10 ? 0 : -1;
    }
    jnaShapes shapes = {.count = POSES,
        .jointCount = s.character.jointCount,
        .vertexCount = s.character.vertexCount,
        .rotations = s.rotations,
        .positions = s.positions,
        .kinds = shapeKinds,
        .clips = clips};
    WriteShapes("w", &shapes);
    jnbDestroyShapes(&s);
}

// Replaces a text in the manifest.
static void Edit(const char* from, const char* to)
{
    char command[256];
    snprintf(command, sizeof(command), "sed -i 's/%s/%s/' w/manifest.yaml", from, to);
    assert_int_equal(system(command), 0);
}

static void WithoutShapesItSaysWhereTheyComeFrom(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char arguments[2048];
    snprintf(arguments, sizeof(arguments), "new empty --from '%s' --rate 10", WriteTube("empty", &def));
    assert_int_equal(RunJounce(arguments).code, 0);
    ExpectFailure("train empty", 1, "no shapes", "simulate --poses");
    ExpectFailure("train nowhere", 1, "nowhere", "manifest");
    ExpectFailure("train", 2, "WORKSPACE", "missing");
    ExpectFailure("train empty --map 100", 2, "--map", "128");
    ExpectFailure("train empty --network vae", 2, "--network", "vae");
}

static void ANetworkIsTrainedExportedAndPlayed(void** state)
{
    (void)state;
    MakeWorkspace();
    Outcome outcome = RunJounce("train w --epochs 40 --threads 2");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "held out, random"));
    assert_false(FileExists("w/network/checkpoint"));
    outcome = RunJounce("train w --epochs 40");
    assert_non_null(strstr(outcome.out, "up to date"));
    assert_int_equal(RunJounce("build w --until modes").code, 0);
    outcome = RunJounce("info w/character.jounce --json");
    json_t* info = json_loads(outcome.out, 0, NULL);
    const json_t* network = json_object_get(info, "network");
    assert_string_equal(json_string_value(json_object_get(network, "kind")), "pca");
    assert_true(json_integer_value(json_object_get(network, "bytes")) > 1000);
    json_decref(info);
    outcome = RunJounce("info w/character.jounce");
    assert_non_null(strstr(outcome.out, "network   pca"));
    assert_int_equal(RunJounce("bake w/character.jounce --clip wave_top --stage skinned -o s.npy").code, 0);
    assert_int_equal(RunJounce("bake w/character.jounce --clip wave_top --stage target -o t.npy").code, 0);
    assert_int_not_equal(system("cmp -s s.npy t.npy"), 0);
    // Without a network in the manifest, the target is the skinned surface again.
    Edit("kind: pca", "kind: none");
    assert_int_equal(RunJounce("build w --until modes").code, 0);
    assert_int_equal(RunJounce("bake w/character.jounce --clip wave_top --stage target -o t.npy").code, 0);
    assert_int_equal(system("cmp -s s.npy t.npy"), 0);
    ExpectFailure("train w", 2, "none", "--network");
    Edit("kind: none", "kind: pca");
}

static void TheSameSeedGivesTheSameFiles(void** state)
{
    (void)state;
    assert_int_equal(RunJounce("train w --epochs 40 --threads 1 --force").code, 0);
    assert_int_equal(system("cp w/network/parameters.npy one.npy"), 0);
    assert_int_equal(RunJounce("train w --epochs 40 --threads 3 --force").code, 0);
    assert_int_equal(system("cmp one.npy w/network/parameters.npy"), 0);
    // Another setting makes the stage stale.
    Outcome outcome = RunJounce("train w --epochs 40 --seed 2 --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_true(json_is_true(json_object_get(root, "made")));
    assert_true(json_is_object(json_object_get(root, "errors_in_metres")));
    json_decref(root);
    assert_int_not_equal(system("cmp -s one.npy w/network/parameters.npy"), 0);
}

static void PosesOfTestClipsAreHeldOut(void** state)
{
    (void)state;
    Edit("role: train", "role: test");
    Outcome outcome = RunJounce("train w --epochs 5 --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    const json_t* test = json_object_get(json_object_get(root, "errors_in_metres"), "network_test_clips");
    assert_int_equal(json_integer_value(json_object_get(test, "poses")), 10);
    json_decref(root);
}

// Frames of the clip as if they had been solved: skinned, a centimetre aside. One is marked as failed.
static int WriteFrames(int vertexCount)
{
    jnaCharacter c;
    jnaClip clip;
    assert_int_equal(jnaLoadCharacter("w", &c, NULL), jn_ok);
    assert_int_equal(jnaLoadClip("w", "wave_top", &c, &clip, NULL), jn_ok);
    size_t frames = (size_t)clip.frameCount, floats = 3 * (size_t)c.vertexCount;
    float* positions = malloc(frames * floats * sizeof(float));
    float* matrices = malloc(12 * (size_t)c.jointCount * sizeof(float));
    uint8_t* valid = malloc(frames);
    memset(valid, 1, frames);
    valid[1] = 0;
    for (size_t i = 0; i < frames; ++i) {
        jnaPoseMatrices(&c, &clip, (int)i, matrices);
        jnaSkin(&c, matrices, positions + i * floats);
        for (size_t k = 2; k < floats; k += 3) {
            positions[i * floats + k] += 0.01f;
        }
    }
    assert_int_equal(system("mkdir -p w/motion/wave_top"), 0);
    const size_t shape[3] = {frames, (size_t)(vertexCount > 0 ? vertexCount : c.vertexCount), 3}, *count = shape;
    assert_int_equal(jnaWriteArray("w/motion/wave_top/quasistatic.npy", jna_float32, 3, shape, positions, NULL), jn_ok);
    assert_int_equal(jnaWriteArray("w/motion/wave_top/quasistatic_valid.npy", jna_uint8, 1, count, valid, NULL), jn_ok);
    free(positions);
    free(matrices);
    free(valid);
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&c);
    return (int)frames;
}

static void SolvedFramesOfTestClipsAreMeasured(void** state)
{
    (void)state;
    int frames = WriteFrames(0);
    // They came after the network: it is up to date, and measured again.
    Outcome outcome = RunJounce("train w --epochs 5");
    assert_non_null(strstr(outcome.out, "up to date"));
    assert_non_null(strstr(outcome.out, "frames of test clips"));
    assert_null(strstr(RunJounce("train w --epochs 5").out, "frames of test clips"));
    outcome = RunJounce("train w --measure --json");
    assert_int_equal(outcome.code, 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    const json_t* skinned = json_object_get(json_object_get(root, "errors_in_metres"), "skinned_test_frames");
    assert_int_equal(json_integer_value(json_object_get(skinned, "poses")), frames - 1);
    assert_true(fabs(json_number_value(json_object_get(skinned, "rms")) - 0.01) < 1e-6);
    json_decref(root);
    outcome = RunJounce("train w --measure");
    assert_non_null(strstr(outcome.out, "frames of test clips"));
    assert_null(strstr(outcome.out, "up to date"));
    // A measurement is no reason to train again.
    assert_non_null(strstr(RunJounce("train w --epochs 5").out, "up to date"));
    outcome = RunJounce("picture w --clip wave_top --frame 2 --compare --near nowhere -o x.png");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "there is no joint 'nowhere'"));
    ExpectFailure("picture w --clip wave_top --frame 99 --compare --near a -o x.png", 1, "", "");
    ExpectFailure("picture w --clip wave_top --compare --near a -o x.png", 2, "--compare", "--frame");
    ExpectFailure("picture w --clip wave_top --frame 2 --near a -o x.png", 2, "--compare", "--near");
    WriteFrames(5);
    ExpectFailure("train w --measure", 1, "quasistatic.npy", "simulate it again");
    assert_int_equal(system("rm -r w/motion"), 0);
}

// Shapes without the JSON of a simulation are taken for scans and not mirrored. A run of `simulate --force` that was
// killed leaves them so, and the next one makes the same arrays again.
static void WhatWasLearnedBetweenTwoSimulationsIsLearnedAgain(void** state)
{
    (void)state;
    assert_int_equal(system("echo {} > w/poses/poses.json"), 0);
    Outcome outcome = RunJounce("train w --epochs 5");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "mirror images"));
    assert_int_equal(system("cp w/network/parameters.npy good.npy && rm w/poses/poses.json"), 0);
    outcome = RunJounce("train w --epochs 5 --force");
    assert_int_equal(outcome.code, 0);
    assert_null(strstr(outcome.out, "mirror images"));
    assert_int_not_equal(system("cmp -s good.npy w/network/parameters.npy"), 0);
    assert_int_equal(system("echo {} > w/poses/poses.json"), 0);
    assert_null(strstr(RunJounce("train w --epochs 5").out, "up to date"));
    assert_int_equal(system("cmp good.npy w/network/parameters.npy"), 0);
}

static void EveryFileOfANetworkIsMadeAgainWhereItIsDamaged(void** state)
{
    (void)state;
    const char* const names[] = {"network.json", "inputs.npy", "ranges.npy", "parameters.npy", "basis.npy"};
    char line[256];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        snprintf(line, sizeof(line), "cp w/network/%s kept && echo x >> w/network/%s", names[i], names[i]);
        assert_int_equal(system(line), 0);
        assert_null(strstr(RunJounce("train w --epochs 5").out, "up to date"));
        snprintf(line, sizeof(line), "cmp kept w/network/%s", names[i]);
        assert_int_equal(system(line), 0);
    }
    assert_int_equal(system("echo x >> w/network/errors.json"), 0);
    assert_non_null(strstr(RunJounce("train w --epochs 5").out, "held out"));
}

static void ADamagedNetworkIsNotExported(void** state)
{
    (void)state;
    assert_int_equal(system("cp one.npy w/network/ranges.npy"), 0);
    ExpectFailure("export w -o x.jounce", 1, "ranges.npy", "jounce train");
    assert_false(FileExists("x.jounce"));
    assert_int_equal(system("echo {} > w/network/network.json"), 0);
    ExpectFailure("export w -o x.jounce", 1, "network.json", "damaged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WithoutShapesItSaysWhereTheyComeFrom),
        cmocka_unit_test(ANetworkIsTrainedExportedAndPlayed),
        cmocka_unit_test(TheSameSeedGivesTheSameFiles),
        cmocka_unit_test(PosesOfTestClipsAreHeldOut),
        cmocka_unit_test(SolvedFramesOfTestClipsAreMeasured),
        cmocka_unit_test(WhatWasLearnedBetweenTwoSimulationsIsLearnedAgain),
        cmocka_unit_test(EveryFileOfANetworkIsMadeAgainWhereItIsDamaged),
        cmocka_unit_test(ADamagedNetworkIsNotExported),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
