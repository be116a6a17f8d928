// Every allocation of ours on the way from a file to baked motion fails once: the call ends in a result that says so,
// nothing crashes, nothing leaks into the next round. Left out under the sanitizers, which own malloc themselves.
#include "asset/asset_writer.h"
#include "asset/bake.h"
#include "character/import_internal.h"
#include "draw/picture.h"
#include "flesh/contact.h"
#include "helpers/failing_memory.h"
#include "helpers/folders.h"
#include "helpers/small_gltf.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_import.h"
#include "workspace/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { STRIP = 40 };
static char tubePath[512], bvhPath[512], manifestPath[512], workspace[512], assetPath[600], bakedPath[600];
static jnaCharacter strip;
static float stripSprings[2 * STRIP];
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
    jnaTargetSources targets = {0};
    result = jnaCreateRig("x", &scene, NULL, &rig, error);
    result = result == jn_ok ? jnaPlaceMeshes("x", &scene, &rig, &placement, NULL, error) : result;
    character.jointCount = rig.jointCount;
    result = result == jn_ok ? jnaBuildSurface("x", &placement, 1, &character, NULL, error) : result;
    result = result == jn_ok ? jnaBuildAttributes(&placement, &character, NULL, error) : result;
    result = result == jn_ok ? jnaBuildTargets(&placement, 1, &character, &targets, NULL, error) : result;
    const jnaSampling sampling = {
        .scene = &scene, .rig = &rig, .scale = 1, .rate = 30, .character = &character, .sources = &targets};
    result = result == jn_ok ? jnaSampleAnimations("x", &sampling, &clips, error) : result;
    free(targets.list);
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
    // The manifest is good: whatever fails, it must not be blamed.
    if (result != jn_ok && strstr(error->message, " memory") == NULL) {
        fail_msg("without memory it says: %s", error->message);
    }
    return result;
}

static void ReadingAManifestSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(ReadManifest, 3);
}

// A large tetrahedron and a small one with a corner in it; apart at rest.
static jnResult FindContact(jnError* error)
{
    static double rest[24] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 3, 0, 0, 3.1, 0, 0, 3, 0.1, 0, 3, 0, 0.1};
    static int32_t tetrahedra[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const jnaVolume volume = {.nodeCount = 8, .nodes = rest, .tetrahedronCount = 2, .tetrahedra = tetrahedra};
    double nodes[24];
    for (int i = 0; i < 24; ++i) {
        nodes[i] = rest[i] - (i >= 12 && i % 3 == 0 ? 2.95 : 0) + (i >= 12 && i % 3 != 0 ? 0.05 : 0);
    }
    jnaContactDef def = jnaDefaultContactDef(&volume);
    def.restDistance = 0.5;
    jnaContactShape* shape = NULL;
    jnaContactFinder* finder = NULL;
    jnaContacts contacts = {0};
    jnResult result = jnaCreateContactShape(&def, &shape, error);
    result = result == jn_ok ? jnaCreateContactFinder(shape, &finder, error) : result;
    result = result == jn_ok ? jnaContactFinder_Find(finder, nodes, &contacts, NULL, error) : result;
    int count = contacts.count;
    assert_int_equal(count, result == jn_ok ? 4 : 0);
    result = result == jn_ok ? jnaContactFinder_Find(finder, nodes, &contacts, NULL, error) : result;
    assert_int_equal(contacts.count, count);
    jnaDestroyContacts(&contacts);
    jnaDestroyContactFinder(finder);
    jnaDestroyContactShape(shape);
    return result;
}

static void FindingContactSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(FindContact, 50);
}

static jnResult LoadWorkspace(jnError* error)
{
    jnaCharacter character;
    jnaClip clip = {0};
    jnResult result = jnaLoadCharacter(workspace, &character, error);
    result = result == jn_ok ? jnaLoadClip(workspace, "wave_top", &character, &clip, error) : result;
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&character);
    return result;
}

static void LoadingAWorkspaceSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(LoadWorkspace, 14);
}

// A failure may leave no file, and none may take the place of the old one.
static jnResult ExportWorkspace(jnError* error)
{
    jnaExportDef def = jnaDefaultExportDef();
    jnaExported exported;
    unlink(assetPath);
    jnResult result = jnaExportWorkspace(workspace, assetPath, &def, &exported, error);
    assert_true((access(assetPath, F_OK) == 0) == (result == jn_ok));
    return result;
}

static void ExportingAWorkspaceSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(ExportWorkspace, 45);
}

static jnResult EncodeCoarse(jnError* error)
{
    void* bytes;
    size_t size;
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &strip;
    def.stiffness = def.damping = stripSprings;
    def.detailShare = 0.25;
    jnResult result = jnaEncodeAsset(&def, &bytes, &size, error);
    free(bytes);
    return result;
}

static void CoarseDetailSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(EncodeCoarse, 25);
}

static jnResult Bake(jnError* error)
{
    jnaAssetFile file;
    jnResult result = jnaOpenAsset(assetPath, &file, error);
    if (result != jn_ok) {
        return result;
    }
    jnaBakeDef def = jnaDefaultBakeDef(file.asset);
    unlink(bakedPath);
    result = jnaBakeToFile(bakedPath, &def, error);
    assert_true((access(bakedPath, F_OK) == 0) == (result == jn_ok));
    jnaCloseAsset(&file);
    return result;
}

static void BakingSurvivesEveryFailure(void** state)
{
    (void)state;
    static const char* const endings[] = {"npy", "pc2", "mdd", "glb"};
    for (int i = 0; i < 4; ++i) {
        snprintf(bakedPath, sizeof(bakedPath), "%s/baked.%s", workspace, endings[i]);
        FailEach(Bake, 8);
    }
}

static jnResult DrawStrip(jnError* error)
{
    static float colors[6 * STRIP];
    jnaPicture picture;
    jnaPictureDef def = jnaDefaultPictureDef();
    jnaPictureMesh mesh = jnaPictureCharacter(&strip, NULL, colors);
    def.panelWidth = def.panelHeight = 16;
    def.samples = def.threads = 1;
    jnResult result = jnaDrawPicture(&def, &mesh, 1, &picture, error);
    jnaDestroyPicture(&picture);
    return result;
}

static void DrawingSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(DrawStrip, 6);
}

// A strip of two rows, large enough for coarse detail.
static void MakeStrip(void)
{
    strip = (jnaCharacter){.name = "strip", .jointCount = 1, .vertexCount = 2 * STRIP, .fileVertexCount = 2 * STRIP};
    strip.triangleCount = 2 * (STRIP - 1);
    strip.partCount = 1;
    assert_int_equal(jnaCharacter_Allocate(&strip, false, NULL), jn_ok);
    strip.joints[0] = (jnaJoint){.parent = -1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    strip.joints[0].inverseBind[0] = strip.joints[0].inverseBind[5] = strip.joints[0].inverseBind[10] = 1;
    for (int v = 0; v < 2 * STRIP; ++v) {
        strip.positions[3 * v] = (float)(v / 2);
        strip.positions[3 * v + 1] = (float)(v % 2);
        strip.fileNormals[3 * v + 2] = 1;
        strip.weld[v] = v;
        strip.influences[v].weights[0] = 1;
        stripSprings[v] = 100;
    }
    for (int i = 0; i < 3 * strip.triangleCount; ++i) {
        strip.triangles[i] = i / 3 + (i / 3 % 2 == 0 ? i % 3 : 2 - i % 3);
    }
    strip.parts[0].triangleCount = strip.triangleCount;
}

static int SetUp(void** state)
{
    (void)state;
    const TubeDef def = {.joints = 3, .armature = "", .animation = "rotation", .painted = true};
    jnaWorkspaceDef workspaceDef = jnaDefaultWorkspaceDef();
    MakeStrip();
    snprintf(workspace, sizeof(workspace), "%s/memory_%ld", JN_BINARY_DIR, (long)getpid());
    snprintf(assetPath, sizeof(assetPath), "%s/memory_%ld/" JNA_ASSET_NAME, JN_BINARY_DIR, (long)getpid());
    workspaceDef.character = WriteTube("memory", &def);
    workspaceDef.layer = jna_layerVertex;
    if (jnaCreateWorkspace(workspace, &workspaceDef, NULL, NULL) != jn_ok) {
        return -1;
    }
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
    jnaDestroyCharacter(&strip);
    RemoveFolder(workspace);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(BuildingACharacterSurvivesEveryFailure),
        cmocka_unit_test(ReadingABvhSurvivesEveryFailure),
        cmocka_unit_test(ReadingAManifestSurvivesEveryFailure),
        cmocka_unit_test(FindingContactSurvivesEveryFailure),
        cmocka_unit_test(LoadingAWorkspaceSurvivesEveryFailure),
        cmocka_unit_test(ExportingAWorkspaceSurvivesEveryFailure),
        cmocka_unit_test(CoarseDetailSurvivesEveryFailure),
        cmocka_unit_test(BakingSurvivesEveryFailure),
        cmocka_unit_test(DrawingSurvivesEveryFailure),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
