// Every allocation of ours in an import fails once: the call ends in a result that says so, nothing crashes, nothing
// leaks into the next round. Left out under the sanitizers, which own malloc themselves.
#include "small_gltf.h"

#include "jounce-author/workspace.h"

#include "character/import_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__

static void NothingToDo(void** state)
{
    (void)state;
    print_message("skipped: the sanitizer owns malloc\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(NothingToDo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

#include "failing_memory.h"

static char tubePath[512], bvhPath[512], manifestPath[512];
static char* stream;
static size_t streamSize;

static jnResult ParseAndBuild(jnError* error)
{
    jnaScene scene;
    void* copy = __libc_malloc(streamSize);
    memcpy(copy, stream, streamSize);
    jnResult result = jnaParseScene("x", copy, streamSize, &scene, error);
    if (result != jn_ok) {
        return result;
    }
    jnaRig rig = {0};
    jnaPlacement placement = {0};
    jnaCharacter character = {0};
    jnaClipList clips = {0};
    result = jnaCreateRig("x", &scene, NULL, &rig, error);
    result = result == jn_ok ? jnaPlaceMeshes("x", &scene, &rig, &placement, NULL, error) : result;
    character.jointCount = rig.jointCount;
    result = result == jn_ok ? jnaBuildSurface("x", &placement, 1, &character, NULL, error) : result;
    result = result == jn_ok ? jnaSampleAnimations("x", &scene, &rig, 1, 30, &clips, error) : result;
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&character);
    jnaDestroyPlacement(&placement);
    jnaDestroyRig(&rig);
    jnaDestroyScene(&scene);
    return result;
}

static void BuildingACharacterSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(ParseAndBuild, 25);
}

static jnResult ReadBvh(jnError* error)
{
    jnaSource source;
    jnResult result = jnaReadBvh(bvhPath, &source, error);
    if (result == jn_ok) {
        jnaDestroySource(&source);
    }
    return result;
}

static void ReadingABvhSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(ReadBvh, 8);
}

static jnResult ReadManifest(jnError* error)
{
    jnaManifest manifest;
    jnResult result = jnaReadManifest(manifestPath, &manifest, error);
    jnaDestroyManifest(&manifest);
    return result;
}

static void ReadingAManifestSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(ReadManifest, 3);
}

static int SetUp(void** state)
{
    (void)state;
    const TubeDef def = {.joints = 3, .armature = "", .animation = "rotation"};
    snprintf(tubePath, sizeof(tubePath), "%s", WriteTube("memory", &def));
    FILE* file = open_memstream(&stream, &streamSize);
    jnaWriteScene(tubePath, file);
    fclose(file);
    snprintf(bvhPath, sizeof(bvhPath), "%s/memory_%ld.bvh", JN_BINARY_DIR, (long)getpid());
    snprintf(manifestPath, sizeof(manifestPath), "%s/memory_%ld.yaml", JN_BINARY_DIR, (long)getpid());
    file = fopen(bvhPath, "w");
    fputs("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation End Site { OFFSET 0 1 0 } } MOTION Frames: 2 "
          "Frame Time: "
          "0.1 1 2\n",
        file);
    fclose(file);
    file = fopen(manifestPath, "w");
    fputs("version: 1\ncharacter: {source: a.glb, scale: 1}\nrate: 30\nclips:\n- {name: a, role: test, "
          "source: b}\n"
          "springs: {joints: [{joint: x, hertz: 1, damping_ratio: 1}]}\n",
        file);
    fclose(file);
    return 0;
}

static int TearDown(void** state)
{
    (void)state;
    unlink(tubePath);
    unlink(bvhPath);
    unlink(manifestPath);
    free(stream);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BuildingACharacterSurvivesEveryFailure),
        cmocka_unit_test(ReadingABvhSurvivesEveryFailure),
        cmocka_unit_test(ReadingAManifestSurvivesEveryFailure),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}

#endif
