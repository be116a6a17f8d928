// The export for engines: a file that a viewer plays as the runtime would, and a small one that gives the same weights
// live. The scene is a tube of two parts whose vertices hang on five joints, with a trained network and modes.
#include "helpers/command.h"
#include "helpers/gltf_player.h"
#include "helpers/tube_scene.h"

#include "asset/bake.h"
#include "asset/engine_glb.h"
#include "asset/glb_buffer.h"
#include "jounce/character.h"
#include "runtime/for_author.h"

enum { MOST_VERTICES = 2 * TUBE_SPRINGS, SHOWN = 10 };
#define NEAR_ENOUGH 1e-4   // metres
#define NORMALS_ENOUGH 2.0 // degrees, on average
#define LIVE_ENOUGH 1e-6

static TubeScene scene;
static jnaNetwork network;
static void* bytes;
static jnAsset* asset;
static GltfPlayer player;

static void* Encode(const jnaAssetDef* def, jnAsset** loaded)
{
    void* made;
    size_t size;
    jnError error = {0};
    if (jnaEncodeAsset(def, &made, &size, &error) != jn_ok ||
        jnLoadAsset(&(jnAssetDef){.bytes = made, .size = size}, loaded, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return made;
}

static int MakeAsset(void** state)
{
    jnError error = {0};
    jnaCharacter* c = &scene.shapes.character;
    if (EnterScratchFolder(state) != 0 || MakeTubeScene(&scene, true, &error) != jn_ok ||
        TrainTube(&scene, jn_networkPca, 5, &network, &error) != jn_ok) {
        print_message("%s\n", error.message);
        return -1;
    }
    // two parts, which share a ring
    c->partCount = 2;
    c->parts = realloc(c->parts, 2 * sizeof(*c->parts));
    int lower = c->triangleCount / 2 / (2 * TUBE_SEGMENTS) * 2 * TUBE_SEGMENTS;
    c->parts[0] = (jnaPart){.name = "lower", .material = "skin", .color = {1, 0.5f, 0.25f, 1}, .triangleCount = lower};
    c->parts[1] = (jnaPart){.name = "upper", .material = "cloth", .color = {0, 0.5f, 1, 1}};
    c->parts[1].firstTriangle = lower;
    c->parts[1].triangleCount = c->triangleCount - lower;
    jnaAssetDef def = DefineTube(&scene);
    def.network = &network;
    bytes = Encode(&def, &asset);
    return 0;
}

static int FreeAsset(void** state)
{
    jnDestroyAsset(asset);
    free(bytes);
    jnaDestroyNetwork(&network);
    DestroyTubeScene(&scene);
    return LeaveScratchFolder(state);
}

static jnaEngineReport MustExport(const char* path, const jnaEngineDef* def)
{
    jnError error = {0};
    jnaEngineReport report;
    if (jnaWriteEngineGlb(path, def, &report, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return report;
}

// The file vertices of a primitive: those of the part's triangles, rising, or a run of them as in the source.
static size_t FindVertices(const jnAsset* a, size_t primitive, size_t first, bool source, size_t count, int* vertices)
{
    static bool used[MOST_VERTICES];
    memset(used, 0, sizeof(used));
    const jnAssetPart* part = &a->parts[primitive];
    for (int i = 3 * part->firstTriangle; i < 3 * (part->firstTriangle + part->triangleCount); ++i) {
        used[a->triangles[i]] = true;
    }
    size_t found = 0;
    for (size_t v = 0; v < (size_t)a->fileVertexCount; ++v) {
        if (source ? v >= first && v < first + count : used[v]) {
            vertices[found++] = (int)v;
        }
    }
    return found;
}

// What jnCharacter_Step shows, every frame of it.
typedef struct Truth {
    const jnAsset* asset;
    float *positions, *normals; // [TUBE_FRAMES][fileVertexCount][3]
} Truth;

static bool Keep(int frame, const float* positions, const float* normals, void* user)
{
    Truth* t = user;
    size_t size = 3 * (size_t)t->asset->fileVertexCount;
    memcpy(t->positions + (size_t)frame * size, positions, size * sizeof(float));
    memcpy(t->normals + (size_t)frame * size, normals, size * sizeof(float));
    return true;
}

static Truth PlayTruth(const jnAsset* a)
{
    size_t size = 3 * (size_t)a->fileVertexCount * TUBE_FRAMES * sizeof(float);
    Truth t = {a, malloc(size), malloc(size)};
    jnaBakeDef def = jnaDefaultBakeDef(a);
    def.wantsNormals = true;
    def.take = Keep;
    def.user = &t;
    assert_int_equal(jnaBakeFrameCount(&def), TUBE_FRAMES);
    assert_int_equal(jnaBake(&def, NULL), jn_ok);
    return t;
}

static void FreeTruth(Truth* t)
{
    free(t->positions);
    free(t->normals);
}

// How far a played file is from the runtime.
typedef struct Apart {
    double farthest; // metres
    double degrees;  // mean angle of the normals
} Apart;

// The difference at some frames, with the targets that the file has besides ours.
static Apart Compare(const char* path, const jnAsset* a, size_t node, bool source)
{
    static double positions[3 * MOST_VERTICES], normals[3 * MOST_VERTICES];
    static int vertices[MOST_VERTICES];
    Truth t = PlayTruth(a);
    Apart apart = {0};
    double angles = 0, counted = 0;
    OpenPlayer(&player, path);
    for (size_t n = 0; n < SHOWN; ++n) {
        size_t frame = n * (TUBE_FRAMES - 1) / (SHOWN - 1), first = 0;
        PlayKey(&player, "sway", frame, (double)frame / 30);
        json_t* mesh = json_array_get(json_object_get(player.file.root, "meshes"), 0);
        for (size_t p = 0; p < json_array_size(json_object_get(mesh, "primitives")); ++p) {
            const json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), p);
            size_t count = ShowPrimitive(&player, node, primitive, player.weights[node], positions, normals);
            assert_int_equal(FindVertices(a, p, first, source, count, vertices), count);
            first += count;
            for (size_t v = 0; v < count; ++v) {
                size_t at = 3 * (frame * (size_t)a->fileVertexCount + (size_t)vertices[v]);
                double shown[3], normal[3];
                for (size_t i = 0; i < 3; ++i) {
                    shown[i] = (double)t.positions[at + i];
                    normal[i] = (double)t.normals[at + i];
                }
                apart.farthest = fmax(apart.farthest, jnaDistance(shown, positions + 3 * v));
                angles += acos(fmin(1, jnaDot(normal, normals + 3 * v))) * 180 / JNA_PI;
                counted++;
            }
        }
    }
    ClosePlayer(&player);
    FreeTruth(&t);
    assert_true(counted > SHOWN * TUBE_SPRINGS);
    apart.degrees = angles / counted;
    print_message("%s: %.4f mm, %.3f degrees\n", path, 1e3 * apart.farthest, apart.degrees);
    return apart;
}

static void AViewerShowsWhatTheRuntimeShows(void** state)
{
    (void)state;
    static const bool plain[2] = {false, true};
    for (int i = 0; i < 2; ++i) {
        jnaEngineDef def = jnaDefaultEngineDef(asset);
        def.quantize = def.sparse = !plain[i];
        jnaEngineReport report = MustExport("hero.glb", &def);
        assert_int_equal(report.targets, asset->componentCount + TUBE_MODES);
        assert_int_equal(report.components, asset->componentCount);
        assert_int_equal(report.modes, TUBE_MODES);
        assert_true(report.byteCount > report.targetBytes && report.targetBytes > 10000);
        assert_int_equal(report.influences, TUBE_JOINTS);
        assert_true(report.influenceError == 0 && report.captured == 1);
        Apart apart = Compare("hero.glb", asset, 0, false);
        ASSERT_AT_MOST(apart.farthest, plain[i] ? 1e-5 : NEAR_ENOUGH);
        ASSERT_AT_MOST(apart.degrees, NORMALS_ENOUGH);
    }
}

static void WithoutTargetsThereAreNoEmptyLists(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.components = def.modes = 0;
    (void)MustExport("none.glb", &def);
    OpenPlayer(&player, "none.glb");
    const json_t* mesh = jnaGltf_Entry(&player.file, "meshes", 0);
    assert_null(json_object_get(mesh, "weights"));
    assert_null(json_object_get(json_array_get(json_object_get(mesh, "primitives"), 0), "targets"));
    const json_t* animation = jnaGltf_Entry(&player.file, "animations", 0);
    for (size_t i = 0; i < json_array_size(json_object_get(animation, "channels")); ++i) {
        const json_t* target = json_object_get(json_array_get(json_object_get(animation, "channels"), i), "target");
        assert_string_not_equal(json_string_value(json_object_get(target, "path")), "weights");
    }
    ClosePlayer(&player);
}

static void TargetsHaveNamesAndWeightsAreWithinOne(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.components = 3;
    def.modes = 4;
    jnaEngineReport report = MustExport("few.glb", &def);
    assert_true(report.captured < 1 && report.captured > 0 && report.largestWeight <= 1);
    OpenPlayer(&player, "few.glb");
    json_t* mesh = jnaGltf_Entry(&player.file, "meshes", 0);
    json_t* names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    assert_int_equal(json_array_size(names), 7);
    for (size_t i = 0; i < 7; ++i) {
        char name[32];
        snprintf(name, sizeof(name), "jounce.flesh.%03zu", i);
        assert_string_equal(json_string_value(json_array_get(names, i)), name);
    }
    assert_int_equal(json_array_size(json_object_get(mesh, "weights")), 7);
    assert_int_equal(json_array_size(json_object_get(mesh, "primitives")), 2);
    for (size_t p = 0; p < 2; ++p) {
        const json_t* primitive = json_array_get(json_object_get(mesh, "primitives"), p);
        assert_int_equal(json_array_size(json_object_get(primitive, "targets")), 7);
    }
    double largest = 0;
    for (size_t key = 0; key < TUBE_FRAMES; ++key) {
        PlayKey(&player, "sway", key, (double)key / 30);
        for (int t = 0; t < 7; ++t) {
            largest = fmax(largest, fabs(player.weights[0][t]));
        }
    }
    assert_true(largest > 0.01 && largest <= 1);
    ASSERT_NEAR(largest, report.largestWeight, 1e-6);
    ClosePlayer(&player);
}

static void ABudgetLeavesOutTheLastTargets(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    jnaEngineReport all = MustExport("all.glb", &def);
    def.budget = 0.6 * (double)all.byteCount;
    jnaEngineReport some = MustExport("some.glb", &def);
    assert_true(some.targets < all.targets && some.targets > 1);
    assert_int_equal(some.components + some.modes, 0);
    ASSERT_AT_MOST(some.byteCount, def.budget);
    assert_true(some.captured < 1 && some.rms > 0);
}

// How fast the weights of a file's targets change, from how fast those of the whole character do.
static void ExpectRates(const jnAsset* a, const float* weights, const float* rates, const float* own)
{
    int count = asset->componentCount + asset->modeCount;
    for (int t = 0; t < a->weightCount; ++t) {
        int row = a->weightsArePairs ? t / 2 : t;
        double sum = 0, size = 0;
        for (int k = 0; k < count; ++k) {
            double factor = a->weightMix != NULL ? (double)a->weightMix[row * count + k]
                                                 : (double)(k == t) * (double)a->weightScales[k];
            sum += factor * (double)own[k];
            size += fabs(factor * (double)own[k]);
        }
        if (a->weightsArePairs) { // the one that is shown changes, the other stays 0
            sum = weights[t] > 0 ? (t % 2 == 0 ? sum : -sum) : 0;
            if (weights[2 * row] == 0 && weights[2 * row + 1] == 0) {
                continue;
            }
        }
        ASSERT_NEAR((double)rates[t], sum, 1e-5 * size + 1e-9);
    }
}

// Weights of a file's targets, live: those that the .glb has baked. Returns how far apart.
static double CompareLive(const char* sidecar, const char* glb)
{
    jnaAssetFile live;
    jnCharacter* c[2];
    double apart = 0, largest = 0;
    assert_int_equal(jnaOpenAsset(sidecar, &live, NULL), jn_ok);
    for (int i = 0; i < 2; ++i) {
        jnCharacterDef how = jnDefaultCharacterDef(i == 0 ? live.asset : asset);
        how.weightsOnly = true;
        assert_int_equal(jnCreateCharacter(&how, &c[i], NULL), jn_ok);
    }
    OpenPlayer(&player, glb);
    const json_t* primitive =
        json_array_get(json_object_get(jnaGltf_Entry(&player.file, "meshes", 0), "primitives"), 0);
    assert_int_equal(json_array_size(json_object_get(primitive, "targets")), live.asset->weightCount);
    for (int n = 0; n < TUBE_FRAMES; ++n) {
        float rotations[4 * TUBE_JOINTS], translations[3 * TUBE_JOINTS], scales[3 * TUBE_JOINTS];
        float weights[PLAYER_WEIGHTS], rates[PLAYER_WEIGHTS], own[PLAYER_WEIGHTS];
        jnAsset_SampleClip(asset, 0, n / 30.0, rotations, translations, scales);
        jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales};
        jnCharacterInput input = {.h = 1.0f / 30, .pose = pose};
        jnCharacter_Step(c[0], &input, &(jnCharacterOutput){.weights = weights, .weightRates = rates});
        jnCharacter_Step(c[1], &input, &(jnCharacterOutput){.weightRates = own});
        ExpectRates(live.asset, weights, rates, own);
        PlayKey(&player, "sway", (size_t)n, n / 30.0);
        for (int t = 0; t < live.asset->weightCount; ++t) {
            apart = fmax(apart, fabs((double)weights[t] - player.weights[0][t]));
            largest = fmax(largest, fabs((double)weights[t]));
            assert_true(!live.asset->weightsArePairs || weights[t] >= 0);
        }
    }
    assert_true(largest > 0.01);
    ClosePlayer(&player);
    jnDestroyCharacter(c[0]);
    jnDestroyCharacter(c[1]);
    jnaCloseAsset(&live);
    return apart;
}

static void WeightsAndTargetsAgreeWhateverIsLeftOut(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.bytes = bytes;
    def.sidecar = "some.weights.jounce";
    for (int i = 0; i < 5; ++i) {
        def.components = i == 1 ? 3 : -1;
        def.modes = i == 1 ? 4 : -1;
        def.targets = i == 2 || i == 4 ? 6 : 0;
        def.paired = i >= 3;
        jnaEngineReport report = MustExport("some.glb", &def);
        assert_int_equal(report.targets, i == 0   ? asset->componentCount + TUBE_MODES
                                         : i == 1 ? 7
                                         : i == 3 ? 2 * (asset->componentCount + TUBE_MODES)
                                                  : 6);
        double apart = CompareLive("some.weights.jounce", "some.glb");
        print_message("%d targets: live against baked %.2g\n", report.targets, apart);
        ASSERT_AT_MOST(apart, 1e-5);
    }
}

// All of a basis, and pairs, are the same surface in other words.
static void OtherTargetsShowTheSameSurface(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.paired = true;
    MustExport("pairs.glb", &def);
    Apart apart = Compare("pairs.glb", asset, 0, false);
    ASSERT_AT_MOST(apart.farthest, 1e-5);
    ASSERT_AT_MOST(apart.degrees, NORMALS_ENOUGH);
    def = jnaDefaultEngineDef(asset);
    def.sparse = def.zeros = true;
    MustExport("zeros.glb", &def);
    apart = Compare("zeros.glb", asset, 0, false);
    ASSERT_AT_MOST(apart.farthest, 1e-5);
    OpenPlayer(&player, "zeros.glb");
    const json_t* accessors = json_object_get(player.file.root, "accessors");
    int sparse = 0;
    for (size_t i = 0; i < json_array_size(accessors); ++i) {
        const json_t* accessor = json_array_get(accessors, i);
        assert_non_null(json_object_get(accessor, "bufferView"));
        sparse += json_object_get(accessor, "sparse") != NULL;
    }
    assert_true(sparse > 0);
    assert_null(json_object_get(player.file.root, "extensionsRequired"));
    ClosePlayer(&player);
}

// The error that is printed is the one that a viewer shows, and the best targets miss less than the first.
static void FewerTargetsMissWhatIsPrinted(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    double last = 1;
    for (int count = 2; count <= 10; count += 4) {
        def.targets = count;
        jnaEngineReport report = MustExport("fewer.glb", &def);
        assert_int_equal(report.targets, count);
        assert_true(report.rms > 0 && report.rms < last);
        last = report.rms;
        Apart apart = Compare("fewer.glb", asset, 0, false);
        print_message("%d targets: %.4f mm rms, %.4f mm at most\n", count, 1e3 * report.rms, 1e3 * apart.farthest);
        assert_true(apart.farthest > report.rms && apart.farthest < 30 * report.rms + 1e-5);
    }
    jnaTargetTable table = MustExport("fewer.glb", &def).table;
    assert_int_equal(table.counts[0], 16);
    assert_true(table.best[0] < table.first[0]);
}

static void TheSmallFileGivesTheSameWeightsLive(void** state)
{
    (void)state;
    jnaAssetFile live;
    jnError error = {0};
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.bytes = bytes;
    def.sidecar = "hero.weights.jounce";
    jnaEngineReport report = MustExport("hero.glb", &def);
    assert_true(report.sidecarBytes > 1000 && 3 * report.sidecarBytes < asset->byteCount);
    assert_int_equal(jnaOpenAsset("hero.weights.jounce", &live, &error), jn_ok);
    assert_int_equal(live.size, report.sidecarBytes);
    assert_int_equal(live.asset->vertexCount, 0);
    jnCharacterDef how = jnDefaultCharacterDef(live.asset);
    jnCharacter* c = NULL;
    assert_true(how.weightsOnly);
    assert_int_equal(jnCreateCharacter(&how, &c, NULL), jn_ok);
    OpenPlayer(&player, "hero.glb");
    int count = asset->componentCount + asset->modeCount;
    double apart = 0, largest = 0;
    for (int n = 0; n < TUBE_FRAMES; ++n) {
        float rotations[4 * TUBE_JOINTS], translations[3 * TUBE_JOINTS], scales[3 * TUBE_JOINTS];
        float weights[PLAYER_WEIGHTS];
        jnAsset_SampleClip(asset, 0, n / 30.0, rotations, translations, scales);
        jnPose pose = {.rotations = rotations, .translations = translations, .scales = scales};
        jnCharacter_Step(
            c, &(jnCharacterInput){.h = 1.0f / 30, .pose = pose}, &(jnCharacterOutput){.weights = weights});
        PlayKey(&player, "sway", (size_t)n, n / 30.0);
        for (int t = 0; t < count; ++t) {
            apart = fmax(apart, fabs((double)weights[t] - player.weights[0][t]));
            largest = fmax(largest, fabs((double)weights[t]));
        }
    }
    print_message("live against baked: %.2g\n", apart);
    assert_true(largest > 0.01);
    ASSERT_AT_MOST(apart, LIVE_ENOUGH);
    ClosePlayer(&player);
    jnDestroyCharacter(c);
    how.weightsOnly = false;
    assert_int_equal(jnCreateCharacter(&how, &c, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "has no surface: it gives morph weights alone"));
    jnaCloseAsset(&live);
}

// What an impulse changes of how fast the weights of modes change, [modes].
static void Hit(jnCharacter* c, int vertex, const float* center, float radius, float* change)
{
    const jnAsset* a = jnCharacter_Asset(c);
    float before[PLAYER_WEIGHTS], after[PLAYER_WEIGHTS], velocity[3] = {0.4f, -0.7f, 1.1f};
    jnCharacter_Evaluate(c, 1, &(jnCharacterOutput){.weightRates = before});
    if (center == NULL) {
        jnCharacter_AddImpulse(c, vertex, velocity);
    } else {
        jnCharacter_AddImpulseSphere(c, center, radius, velocity);
    }
    jnCharacter_Evaluate(c, 1, &(jnCharacterOutput){.weightRates = after});
    for (int k = 0; k < a->modeCount; ++k) {
        float scale = a->weightScales != NULL ? a->weightScales[a->componentCount + k] : 1.0f;
        change[k] = (after[a->componentCount + k] - before[a->componentCount + k]) / scale;
    }
}

// Impulses at all vertices, on the character and on the file beside its .glb: the root of the mean square that they
// differ by, as a fraction. radius 0: at the vertex alone.
static double HitsDiffer(jnCharacter* whole, jnCharacter* live, float radius, const float* positions)
{
    double difference = 0, all = 0;
    for (int v = 0; v < asset->vertexCount; ++v) {
        float there[PLAYER_WEIGHTS], here[PLAYER_WEIGHTS];
        const float* center = radius > 0 ? positions + 3 * v : NULL;
        Hit(whole, v, center, radius, there);
        Hit(live, v, center, radius, here);
        for (int k = 0; k < asset->modeCount; ++k) {
            difference += pow((double)there[k] - (double)here[k], 2);
            all += (double)there[k] * (double)there[k];
        }
    }
    assert_true(all > 0);
    return sqrt(difference / all);
}

static void TheSmallFileCanBeHit(void** state)
{
    (void)state;
    jnaAssetFile file;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    jnCharacter* c[2];
    float* positions = malloc(3 * sizeof(float) * (size_t)asset->vertexCount);
    def.bytes = bytes;
    def.sidecar = JN_BINARY_DIR "/seed-hits.jounce"; // for the fuzzer, too
    MustExport("hit.glb", &def);
    assert_int_equal(jnaOpenAsset(def.sidecar, &file, NULL), jn_ok);
    assert_int_equal(file.asset->hitVertexCount, asset->vertexCount);
    for (int i = 0; i < 2; ++i) {
        jnCharacterDef how = jnDefaultCharacterDef(i == 0 ? asset : file.asset);
        double origin[3] = {1e5, 0, -2e4};
        assert_int_equal(jnCreateCharacter(&how, &c[i], NULL), jn_ok);
        for (int n = 0; n < 8; ++n) {
            float r[4 * TUBE_JOINTS], t[3 * TUBE_JOINTS], s[3 * TUBE_JOINTS];
            jnAsset_SampleClip(asset, 0, n / 30.0, r, t, s);
            jnCharacterInput input = {
                .h = 1.0f / 30, .pose = {.rotations = r, .translations = t, .scales = s, .origin = origin}};
            jnCharacter_Step(
                c[i], &input, &(jnCharacterOutput){.positions = i == 0 ? positions : NULL, .welded = true});
        }
    }
    double vertex = HitsDiffer(c[0], c[1], 0, positions), small = HitsDiffer(c[0], c[1], 0.05f, positions);
    double large = HitsDiffer(c[0], c[1], 0.2f, positions);
    print_message("off by %.3f at a vertex, %.3f within 5 cm, %.3f within 20 cm\n", vertex, small, large);
    ASSERT_AT_MOST(vertex, 0.2);
    ASSERT_AT_MOST(small, 0.15);
    ASSERT_AT_MOST(large, 0.05);
    jnDestroyCharacter(c[0]);
    jnDestroyCharacter(c[1]);
    jnaCloseAsset(&file);
    free(positions);
}

// Sections of a surface in a file that has none: refused, whichever it is, or of no effect.
static void AFileWithoutASurfaceMayHaveAnySection(void** state)
{
    (void)state;
    static const char* const ids[] = {"POSN", "INFS", "INFJ", "INFW", "STIF", "DAMP", "WELD", "NGRP", "TRIS", "RNGS",
        "RNGF", "UVS0", "VORD", "PART", "CLPS", "CLPD", "FOLW", "TARG"};
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    jnaAssetFile file;
    def.bytes = bytes;
    def.sidecar = "renamed.weights.jounce";
    MustExport("renamed.glb", &def);
    assert_int_equal(jnaOpenAsset(def.sidecar, &file, NULL), jn_ok);
    char* copy = malloc(file.size);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); ++i) {
        jnAssetHeader header;
        jnAsset* loaded = NULL;
        memcpy(copy, file.bytes, file.size);
        memcpy(&header, copy, sizeof(header));
        for (size_t n = 0; n < header.sectionCount; ++n) {
            char* entry = copy + sizeof(header) + n * sizeof(jnAssetEntry);
            memcpy(entry, memcmp(entry, "WSCL", 4) == 0 ? ids[i] : entry, 4);
        }
        header.checksum = jnAssetChecksum(copy, file.size);
        memcpy(copy, &header, sizeof(header));
        (void)jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = file.size}, &loaded, NULL);
        jnDestroyAsset(loaded);
    }
    free(copy);
    jnaCloseAsset(&file);
}

// The section of the weights' mix with one word changed, and with a row less.
static void ADamagedMixIsRefused(void** state)
{
    (void)state;
    static const struct {
        size_t word;
        uint32_t value;
        const char* says;
    } cases[] = {{0, 0, "counts that can be"}, {0, 1u << 30, "counts that can be"}, {0, 5, "bytes where its counts"},
        {1, 2, "counts that can be"}, {9, 1, "counts that can be"}, {16, 0x7fc00000u, "number 0 is nan"},
        {17, 0x7f800000u, "number 1 is inf"}};
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    jnaAssetFile file;
    def.bytes = bytes;
    def.targets = 6;
    def.sidecar = "mix.weights.jounce";
    MustExport("mix.glb", &def);
    assert_int_equal(jnaOpenAsset(def.sidecar, &file, NULL), jn_ok);
    assert_int_equal(file.asset->weightCount, 6);
    char* copy = malloc(file.size);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        jnAssetHeader header;
        jnAsset* loaded = NULL;
        jnError error = {0};
        bool changed = false;
        memcpy(copy, file.bytes, file.size);
        memcpy(&header, copy, sizeof(header));
        for (size_t n = 0; n < header.sectionCount; ++n) {
            jnAssetEntry entry;
            memcpy(&entry, copy + sizeof(header) + n * sizeof(entry), sizeof(entry));
            if (entry.id == JN_SECTION_WEIGHT_MIX) {
                memcpy(copy + entry.offset + 4 * cases[i].word, &cases[i].value, 4);
                changed = true;
            }
        }
        assert_true(changed);
        header.checksum = jnAssetChecksum(copy, file.size);
        memcpy(copy, &header, sizeof(header));
        assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = file.size}, &loaded, &error), jn_badData);
        if (strstr(error.message, cases[i].says) == NULL || strstr(error.message, "WMIX") == NULL) {
            fail_msg("said: %s", error.message);
        }
    }
    free(copy);
    jnaCloseAsset(&file);
}

static void ExpectRefusal(const jnaAssetDef* def, const char* words)
{
    jnAsset* other;
    jnError error = {0};
    jnaEngineReport report;
    void* made = Encode(def, &other);
    jnaEngineDef how = jnaDefaultEngineDef(other);
    assert_int_equal(jnaWriteEngineGlb("refused.glb", &how, &report, &error), jn_badArgument);
    if (strstr(error.message, words) == NULL) {
        fail_msg("said: %s", error.message);
    }
    assert_false(FileExists("refused.glb"));
    jnDestroyAsset(other);
    free(made);
}

static void WhatIsNoMorphTargetIsRefused(void** state)
{
    (void)state;
    jnaNetwork map = {0};
    assert_int_equal(TrainTube(&scene, jn_networkCnn, 1, &map, NULL), jn_ok);
    jnaAssetDef def = DefineTube(&scene);
    def.network = &map;
    ExpectRefusal(&def, "has a cnn network, whose displacements are no morph targets");
    jnaDestroyNetwork(&map);
    def.network = NULL;
    def.modes = NULL;
    ExpectRefusal(&def, "has springs of single vertices (layer vertex), which are no morph targets");
    def.restVertices = true;
    ExpectRefusal(&def, "has neither a network nor modes");
}

// Hosts of glTF skin linearly. What that does to a character with dual quaternions is measured, and in the file.
static void ALinearHostDiffersByWhatIsPrinted(void** state)
{
    (void)state;
    jnAsset* dual;
    jnaAssetDef how = DefineTube(&scene);
    how.skinning = jn_skinDual;
    void* made = Encode(&how, &dual);
    jnaEngineDef def = jnaDefaultEngineDef(dual);
    jnaEngineReport report = MustExport("dual.glb", &def);
    assert_true(report.dual && report.linearFarthest > 1e-4 && report.linearRms > 0);
    assert_string_equal(report.linearClip, "sway");
    Apart apart = Compare("dual.glb", dual, 0, false); // what a viewer shows, and what the runtime does
    print_message("linear blend: %.3f mm at most, %.3f mm rms; a viewer is off by %.3f mm\n",
        1e3 * report.linearFarthest, 1e3 * report.linearRms, 1e3 * apart.farthest);
    ASSERT_AT_MOST(apart.farthest, report.linearFarthest + 1e-5);
    assert_true(apart.farthest > 0.5 * report.linearFarthest);
    OpenPlayer(&player, "dual.glb");
    const json_t* extras = json_object_get(json_object_get(player.file.root, "asset"), "extras");
    ASSERT_NEAR(json_number_value(
                    json_object_get(json_object_get(extras, "jounceSkinning"), "linearBlendDiffersByAtMostMetres")),
        report.linearFarthest, 1e-12);
    ClosePlayer(&player);
    jnDestroyAsset(dual);
    free(made);
}

static void FewerJointsCostWhatIsPrinted(void** state)
{
    (void)state;
    jnaEngineDef def = jnaDefaultEngineDef(asset);
    def.influences = 4;
    jnaEngineReport report = MustExport("four.glb", &def);
    assert_int_equal(report.influences, 4);
    OpenPlayer(&player, "four.glb");
    const json_t* primitive =
        json_array_get(json_object_get(jnaGltf_Entry(&player.file, "meshes", 0), "primitives"), 0);
    assert_non_null(json_object_get(json_object_get(primitive, "attributes"), "JOINTS_0"));
    assert_null(json_object_get(json_object_get(primitive, "attributes"), "JOINTS_1"));
    ClosePlayer(&player);
    // at some of the frames that the error is the largest of
    Apart apart = Compare("four.glb", asset, 0, false);
    print_message("four joints: %.3f mm\n", 1e3 * report.influenceError);
    assert_true(apart.farthest > 2e-4 && apart.farthest > 0.8 * report.influenceError);
    ASSERT_AT_MOST(apart.farthest, report.influenceError + 1e-5);
}

// A glTF file with a target of its own that its clip animates, two primitives on five joints, and a texture: ours
// without a network and with one mode, which gets another name.
static void WriteSource(const char* path)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0,
        1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x63, 0x68,
        0, 0, 0, 0x82, 0, 0x81, 0x4c, 0x17, 0xd7, 0xdf, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    jnAsset* other;
    jnaFile file;
    jnaAssetDef how = DefineTube(&scene);
    void* made = Encode(&how, &other);
    jnaEngineDef def = jnaDefaultEngineDef(other);
    def.modes = 1;
    MustExport(path, &def);
    OpenPlayer(&player, path);
    json_t* root = player.file.root;
    json_t* names = json_object_get(json_object_get(jnaGltf_Entry(&player.file, "meshes", 0), "extras"), "targetNames");
    json_array_set_new(names, 0, json_string("smile"));
    jnaGlbBuffer buffer = {.views = json_object_get(root, "bufferViews"),
        .accessors = json_object_get(root, "accessors"),
        .bytes = malloc(player.file.buffers[0].size),
        .size = player.file.buffers[0].size,
        .capacity = player.file.buffers[0].size};
    memcpy(buffer.bytes, player.file.buffers[0].data, buffer.size);
    json_int_t view = jnaGlbBuffer_AddView(&buffer, png, sizeof(png), 0, 0);
    json_object_set_new(root, "images", json_pack("[{s:I, s:s}]", "bufferView", view, "mimeType", "image/png"));
    json_object_set_new(root, "textures", json_pack("[{s:i}]", "source", 0));
    json_t* material = jnaGltf_Entry(&player.file, "materials", 1);
    json_object_set_new(
        json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture", json_pack("{s:i}", "index", 0));
    assert_int_equal(jnaCreateFile(path, &file, NULL), jn_ok);
    assert_int_equal(jnaWriteGlb(root, &buffer, 17, &file, NULL), jn_ok);
    assert_int_equal(jnaFile_Commit(&file, NULL), jn_ok);
    jnaFile_Abandon(&file);
    jnaDestroyGlbBuffer(&buffer);
    ClosePlayer(&player);
    jnDestroyAsset(other);
    free(made);
}

// A character from such a file, and its asset.
typedef struct Imported {
    jnaCharacter character;
    jnaClipList clips;
    jnaModes modes;
    jnaGltfSource source;
    jnAsset* asset;
    void* bytes;
} Imported;

static Imported Import(const char* path)
{
    Imported s = {.bytes = NULL};
    jnError error = {0};
    jnaImportDef def = jnaDefaultImportDef();
    def.scale = 1;
    if (jnaImportCharacter(path, &def, &s.character, &s.clips, NULL, NULL, &error) != jn_ok ||
        jnaReadGltfSource(path, &def, &s.source, &error) != jn_ok ||
        MakeTubeModes(&s.character, &s.modes, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(s.character.vertexCount, TUBE_SPRINGS);
    assert_int_equal(s.character.jointCount, TUBE_JOINTS);
    assert_int_equal(s.clips.count, 1);
    jnaAssetDef how = DefineTube(&scene);
    how.character = &s.character;
    how.clips = s.clips.clips;
    how.modes = &s.modes;
    s.bytes = Encode(&how, &s.asset);
    return s;
}

static void FreeImported(Imported* s)
{
    jnDestroyAsset(s->asset);
    free(s->bytes);
    jnaDestroyGltfSource(&s->source);
    jnaDestroyModes(&s->modes);
    jnaDestroyClipList(&s->clips);
    jnaDestroyCharacter(&s->character);
}

// The weight of the first target at every key, and that target.
static void TakeOwn(const char* path, float* weights, float* target)
{
    size_t count, width;
    OpenPlayer(&player, path);
    for (size_t n = 0; n < TUBE_FRAMES; ++n) {
        PlayKey(&player, "sway", n, (double)n / 30);
        weights[n] = (float)player.weights[0][0];
    }
    json_t* primitives = json_object_get(jnaGltf_Entry(&player.file, "meshes", 0), "primitives");
    json_t* first = json_array_get(json_object_get(json_array_get(primitives, 1), "targets"), 0);
    const float* values = PlayerArray(&player, jnaGltf_Integer(first, "POSITION", -1), &count, &width);
    assert_true(count > 0 && count <= MOST_VERTICES);
    memcpy(target, values, 3 * count * sizeof(float));
    ClosePlayer(&player);
}

static void TheCharactersOwnFileKeepsWhatItHas(void** state)
{
    (void)state;
    static float weights[2][TUBE_FRAMES], targets[2][3 * MOST_VERTICES];
    static const char* const animations[] = {"sway"};
    WriteSource("source.glb");
    Imported s = Import("source.glb");
    jnaEngineDef def = jnaDefaultEngineDef(s.asset);
    def.source = &s.source;
    def.animations = animations;
    jnaEngineReport report = MustExport("own.glb", &def);
    assert_int_equal(report.modes, TUBE_MODES);
    TakeOwn("source.glb", weights[0], targets[0]);
    TakeOwn("own.glb", weights[1], targets[1]);
    assert_memory_equal(weights[0], weights[1], sizeof(weights[0]));
    assert_memory_equal(targets[0], targets[1], sizeof(targets[0]));
    assert_true(fabsf(weights[0][30]) > 1e-4f);
    OpenPlayer(&player, "own.glb");
    const json_t *root = player.file.root, *mesh = jnaGltf_Entry(&player.file, "meshes", 0);
    const json_t* names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    assert_int_equal(json_array_size(names), 1 + TUBE_MODES);
    assert_string_equal(json_string_value(json_array_get(names, 0)), "smile");
    assert_string_equal(json_string_value(json_array_get(names, 1)), "jounce.mode.000");
    assert_int_equal(json_array_size(json_object_get(mesh, "primitives")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "images")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "textures")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "animations")), 1);
    const json_t* material = jnaGltf_Entry(&player.file, "materials", 1);
    assert_non_null(json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture"));
    ClosePlayer(&player);
    Apart apart = Compare("own.glb", s.asset, 0, true);
    ASSERT_AT_MOST(apart.farthest, NEAR_ENOUGH);
    ASSERT_AT_MOST(apart.degrees, NORMALS_ENOUGH);
    // fewer joints of the source's own skin
    def.influences = 4;
    report = MustExport("four.glb", &def);
    apart = Compare("four.glb", s.asset, 0, true);
    assert_true(apart.farthest > 2e-4);
    ASSERT_AT_MOST(apart.farthest, report.influenceError + 1e-5);
    FreeImported(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AViewerShowsWhatTheRuntimeShows),
        cmocka_unit_test(WithoutTargetsThereAreNoEmptyLists),
        cmocka_unit_test(TargetsHaveNamesAndWeightsAreWithinOne),
        cmocka_unit_test(ABudgetLeavesOutTheLastTargets),
        cmocka_unit_test(WeightsAndTargetsAgreeWhateverIsLeftOut),
        cmocka_unit_test(OtherTargetsShowTheSameSurface),
        cmocka_unit_test(FewerTargetsMissWhatIsPrinted),
        cmocka_unit_test(TheSmallFileGivesTheSameWeightsLive),
        cmocka_unit_test(TheSmallFileCanBeHit),
        cmocka_unit_test(AFileWithoutASurfaceMayHaveAnySection),
        cmocka_unit_test(ADamagedMixIsRefused),
        cmocka_unit_test(WhatIsNoMorphTargetIsRefused),
        cmocka_unit_test(ALinearHostDiffersByWhatIsPrinted),
        cmocka_unit_test(FewerJointsCostWhatIsPrinted),
        cmocka_unit_test(TheCharactersOwnFileKeepsWhatItHas),
    };
    return cmocka_run_group_tests(tests, MakeAsset, FreeAsset);
}
