// Files from elsewhere: what they name, how much they may take, and how large their numbers may be.
#include "base/bounds.h"
#include "base/path.h"
#include "character/gltf.h"
#include "character/import_internal.h"
#include "helpers/command.h"
#include "helpers/small_gltf.h"
#include "workspace/store.h"

static void Write(const char* path, const char* text)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void AUriStaysInTheModelsFolder(void** state)
{
    (void)state;
    static const char* const bad[] = {"../secret", "a/../../secret", "/etc/passwd", "file:///etc/passwd",
        "%2e%2e/secret", "..%2fsecret", "a\\..\\..\\secret", "C:\\secret", "\\\\host\\share", "http://host/x", "",
        "a%00b", ".."};
    static const char* const good[][2] = {{"model.bin", "model.bin"}, {"a%20b.bin", "a b.bin"},
        {"parts/x.bin", "parts/x.bin"}, {"./x..bin", "./x..bin"}, {"100%.bin", "100%.bin"}};
    char path[JNA_PATH_LENGTH];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        if (jnaGltf_DecodeUri(bad[i], path)) {
            fail_msg("%s is taken as %s", bad[i], path);
        }
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); ++i) {
        assert_true(jnaGltf_DecodeUri(good[i][0], path));
        assert_string_equal(path, good[i][1]);
    }
}

static void ABufferOutsideIsRefusedAndNamed(void** state)
{
    (void)state;
    assert_int_equal(system("mkdir -p model && echo secret > secret && ln -sf ../secret model/link.bin"), 0);
    static const char* const uris[] = {"../secret", "link.bin", "/etc/passwd", "absent.bin"};
    static const char* const why[] = {"not a file in the model's folder", "outside the model's folder",
        "not a file in the model's folder", "cannot be read"};
    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); ++i) {
        char text[300];
        jnaGltf g;
        jnError error = {0};
        snprintf(text, sizeof(text),
            "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"uri\":\"%s\",\"byteLength\":4}]}", uris[i]);
        Write("model/model.gltf", text);
        assert_int_not_equal(jnaOpenGltf("model/model.gltf", &g, &error), jn_ok);
        jnaCloseGltf(&g);
        if (strstr(error.message, why[i]) == NULL || strstr(error.message, uris[i]) == NULL) {
            fail_msg("%s: %s", uris[i], error.message);
        }
    }
}

// Joints without channels cost nothing in the file and much in memory.
static void ABvhThatUnfoldsIsRefused(void** state)
{
    (void)state;
    FILE* file = fopen("bomb.bvh", "wb");
    assert_non_null(file);
    fputs("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n", file);
    for (int i = 0; i < 1000; ++i) {
        fputs("JOINT b\n{\nOFFSET 0 0 0\n}\n", file);
    }
    fputs("}\nMOTION\nFrames: 20000\nFrame Time: .03\n", file);
    for (int i = 0; i < 20000; ++i) {
        fputs("0 ", file);
    }
    fclose(file);
    jnaSource source;
    jnError error = {0};
    assert_int_equal(jnaReadBvhConfined("bomb.bvh", &(jnaSceneLimits){0}, &source, &error), jn_badData);
    assert_non_null(strstr(error.message, "no channels"));
}

static void ABvhReadInAChildIsTheSame(void** state)
{
    (void)state;
    Write("walk.bvh",
        "HIERARCHY\nROOT hip\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "JOINT leg\n{\nOFFSET 0 -1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\n"
        "MOTION\nFrames: 2\nFrame Time: .05\n0 1 0 10 20 30 1 2 3\n0 2 0 0 0 0 40 50 60\n");
    jnaSource here, there;
    assert_int_equal(jnaReadBvh("walk.bvh", &here, NULL), jn_ok);
    assert_int_equal(jnaReadBvhConfined("walk.bvh", &(jnaSceneLimits){0}, &there, NULL), jn_ok);
    size_t joints = (size_t)here.clip.jointCount, entries = joints * (size_t)here.clip.frameCount;
    assert_int_equal(there.clip.jointCount, joints);
    assert_true(there.clip.rate == here.clip.rate);
    assert_memory_equal(here.skeleton.joints, there.skeleton.joints, joints * sizeof(jnaJoint));
    assert_memory_equal(here.clip.rotations, there.clip.rotations, 4 * entries * sizeof(float));
    assert_memory_equal(here.clip.translations, there.clip.translations, 3 * entries * sizeof(float));
    jnaDestroySource(&here);
    jnaDestroySource(&there);
    // Its errors come through, too.
    jnError error = {0};
    Write("cut.bvh", "HIERARCHY\nROOT hip\n{\nOFFSET 0 1");
    assert_int_equal(jnaReadBvhConfined("cut.bvh", &(jnaSceneLimits){0}, &there, &error), jn_badData);
    assert_non_null(strstr(error.message, "cut.bvh:4: OFFSET needs three numbers"));
    assert_int_equal(jnaReadBvhConfined("absent.bvh", &(jnaSceneLimits){0}, &there, &error), jn_ioFailed);
}

static void ACacheReadInAChildIsTheSameAndBounded(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    jnaCharacter c;
    jnaClipList clips;
    jnaImportDef import = jnaDefaultImportDef();
    assert_int_equal(jnaImportCharacter(WriteTube("confined", &def), &import, &c, &clips, NULL, NULL, NULL), jn_ok);
    size_t shape[] = {3, (size_t)c.vertexCount, 3}, count = 9 * (size_t)c.vertexCount;
    float* positions = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
        size_t perFrame = 3 * (size_t)c.vertexCount; // still at first, in units of half a metre
        positions[i] = 2 * c.positions[i % perFrame] + (i < perFrame ? 0 : 0.001f * (float)(i % 97));
    }
    assert_int_equal(jnaWriteArray("cache.npy", jna_float32, 3, shape, positions, NULL), jn_ok);
    jnaMotion here, there;
    jnError error = {0};
    assert_int_equal(jnaReadMotion("cache.npy", &c, NULL, 0.5, &here, NULL, NULL), jn_ok);
    assert_int_equal(jnaReadMotionConfined("cache.npy", &c, NULL, 0.5, &there, NULL, &error), jn_ok);
    assert_int_equal(there.frameCount, 3);
    assert_memory_equal(here.positions, there.positions, count * sizeof(float));
    jnaDestroyMotion(&here);
    jnaDestroyMotion(&there);
    positions[3 * ((size_t)c.vertexCount + 7) + 1] = 1e20f;
    assert_int_equal(jnaWriteArray("cache.npy", jna_float32, 3, shape, positions, NULL), jn_ok);
    assert_int_equal(jnaReadMotionConfined("cache.npy", &c, NULL, 0.5, &there, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "cache.npy: frame 1, vertex 7: a coordinate is 5e+19 m"));
    // So is every array of positions in a workspace.
    jnaArray array;
    assert_int_equal(jnaOpenPositions("cache.npy", &array, &error), jn_badData);
    assert_non_null(strstr(error.message, "cache.npy: frame 1, vertex 7: a coordinate is 1e+20"));
    assert_int_equal(jnaSaveCharacter(".", &c, 1, NULL), jn_ok);
    c.positions[11] = -1e20f;
    assert_int_equal(jnaWriteArray("character/positions.npy", jna_float32, 2, (size_t[]){(size_t)c.vertexCount, 3},
                         c.positions, NULL),
        jn_ok);
    jnaCharacter again;
    assert_int_equal(jnaLoadCharacter(".", &again, &error), jn_badData);
    assert_non_null(strstr(error.message, "character/positions.npy: vertex 3: a coordinate is -1e+20"));
    clips.clips[0].translations[3 * (size_t)c.jointCount] = 2e6f;
    assert_int_equal(jnaCheckClipBounds("x.glb", &clips, &error), jn_badData);
    assert_non_null(strstr(error.message, "frame 1, joint 0: is more than 1000 km away"));
    free(positions);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&c);
}

static void CoordinatesBeyondTheGridAreWelded(void** state)
{
    (void)state;
    const float positions[] = {1e30f, 0, 0, 1e30f, 0, 0, -3e38f, 1, 1, 0, 0, 0};
    jnaInfluences influences[4] = {{.weights = {1}}, {.weights = {1}}, {.weights = {1}}, {.weights = {1}}};
    int32_t weld[4];
    assert_int_equal(jnaWeld(4, positions, influences, 1e-12, weld), 3);
    assert_int_equal(weld[0], weld[1]);
    assert_int_equal(jnaCheckSurfaceBounds("x.glb", positions, 4, NULL), jn_badData);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AUriStaysInTheModelsFolder),
        cmocka_unit_test(ABufferOutsideIsRefusedAndNamed),
        cmocka_unit_test(ABvhThatUnfoldsIsRefused),
        cmocka_unit_test(ABvhReadInAChildIsTheSame),
        cmocka_unit_test(ACacheReadInAChildIsTheSameAndBounded),
        cmocka_unit_test(CoordinatesBeyondTheGridAreWelded),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
