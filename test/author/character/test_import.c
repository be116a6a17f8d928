// Import of characters: what a rig means is kept whatever hangs above it, and every bad file gets one clear
// line.
#include "character/import.h"
#include "character/scene.h"
#include "helpers/small_gltf.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct Imported {
    jnaCharacter character;
    jnaClipList clips;
    jnaNotes notes;
    double scale;
} Imported;

static Imported Import(const TubeDef* def, double scale)
{
    Imported in = {0};
    jnError error = {0};
    jnaImportDef options = jnaDefaultImportDef();
    options.scale = scale;
    const char* path = WriteTube("good", def);
    jnResult result = jnaImportCharacter(path, &options, &in.character, &in.clips, &in.scale, &in.notes, &error);
    if (result != jn_ok) {
        print_error("%s\n", error.message);
    }
    unlink(path);
    assert_int_equal(result, jn_ok);
    return in;
}

static void Release(Imported* in)
{
    jnaDestroyCharacter(&in->character);
    jnaDestroyClipList(&in->clips);
    jnaDestroyNotes(&in->notes);
}

// Largest distance between the skinned surface and A (w0 v + w1 T1 R T1^-1 v), R a turn about Z, in file
// order.
static double WorstOfPose(
    const Imported* in, const TubeDef* def, int frame, const jnaAffine* above, double angle, double scale)
{
    const jnaCharacter* c = &in->character;
    float* matrices = malloc((size_t)c->jointCount * 12 * sizeof(float));
    float* skinned = malloc((size_t)c->vertexCount * 3 * sizeof(float));
    jnaPoseMatrices(c, frame >= 0 ? &in->clips.clips[0] : NULL, frame, matrices);
    jnaSkin(c, matrices, skinned);
    double worst = 0;
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        float rest[3];
        TubePosition(v, rest);
        double x = (double)rest[0], y = (double)rest[1] - 1, w = (double)TubeWeight(def, v, 1);
        double turned[2] = {cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y + 1};
        double p[3] = {(1 - w) * x + w * turned[0], (1 - w) * (y + 1) + w * turned[1], (double)rest[2]};
        jnaAffine_Apply(above, p, p);
        for (int i = 0; i < 3; ++i) {
            worst = fmax(worst, fabs(scale * p[i] - (double)skinned[3 * (size_t)c->weld[v] + (size_t)i]));
        }
    }
    free(matrices);
    free(skinned);
    return worst;
}

static const TubeDef plain = {.joints = 2, .armature = "", .animation = "rotation"};

static void APlainTubeIsWeldedAndMoves(void** state)
{
    (void)state;
    Imported in = Import(&plain, 0);
    assert_int_equal(in.character.fileVertexCount, TUBE_FILE_VERTICES);
    assert_int_equal(in.character.vertexCount, TUBE_VERTICES);
    assert_int_equal(in.character.jointCount, 2);
    assert_string_equal(in.character.joints[1].name, "J1");
    assert_int_equal(in.character.joints[0].parent, -1);
    assert_int_equal(in.clips.count, 1);
    assert_string_equal(in.clips.clips[0].name, "wave_top");
    assert_int_equal(in.clips.clips[0].frameCount, 31);
    jnaAffine identity = jnaAffine_Identity();
    assert_true(WorstOfPose(&in, &plain, -1, &identity, 0, 1) < 1e-6);
    // Slerp between keys half a second apart is a steady turn.
    for (int f = 0; f <= 30; ++f) {
        assert_true(WorstOfPose(&in, &plain, f, &identity, 3.14159265358979 / 2 * f / 30, 1) < 2e-6);
    }
    Release(&in);
}

static void ASimilarityAboveTheSkeletonIsFolded(void** state)
{
    (void)state;
    TubeDef def = plain;
    // Half a unit up, a quarter turn about X, three times as large.
    def.armature = ",\"translation\":[0,0.5,0],\"rotation\":[0.70710678,0,0,0.70710678],\"scale\":[3,3,3]";
    Imported in = Import(&def, 0);
    jnaAffine above = {{3, 0, 0, 0, 0, 0, -3, 0.5, 0, 3, 0, 0}};
    assert_int_equal(in.character.jointCount, 2);
    // The scale went into the bones' lengths, not into the joints.
    assert_true(fabsf(in.character.joints[1].translation[1] - 3) < 1e-5F);
    assert_true(fabsf(in.character.joints[0].scale[0] - 1) < 1e-6F);
    assert_true(WorstOfPose(&in, &def, -1, &above, 0, 1) < 1e-5);
    assert_true(WorstOfPose(&in, &def, 30, &above, 3.14159265358979 / 2, 1) < 1e-5);
    Release(&in);
}

static void ANonUniformScaleAboveTheSkeletonIsKeptExactly(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.armature = ",\"translation\":[1,0,0],\"scale\":[1,2,0.5]";
    Imported in = Import(&def, 0);
    jnaAffine above = {{1, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0.5, 0}};
    assert_int_equal(in.character.jointCount, 3);
    assert_true(WorstOfPose(&in, &def, 15, &above, 3.14159265358979 / 4, 1) < 1e-5);
    Release(&in);
}

static void AMirrorAboveTheSkeletonKeepsTheOutsideOut(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.armature = ",\"scale\":[-1,1,1]";
    Imported in = Import(&def, 0), straight = Import(&plain, 0);
    double volumes[2] = {0, 0};
    const Imported* both[2] = {&in, &straight};
    for (int k = 0; k < 2; ++k) {
        const jnaCharacter* c = &both[k]->character;
        for (int t = 0; t < c->triangleCount; ++t) {
            double p[3][3], normal[3];
            for (int i = 0; i < 9; ++i) {
                p[i / 3][i % 3] = (double)c->positions[3 * c->weld[c->triangles[3 * t + i / 3]] + i % 3];
            }
            jnaCross(p[0], p[1], normal);
            volumes[k] += jnaDot(normal, p[2]) / 6;
        }
    }
    assert_true(fabs(volumes[0]) > 0.1);
    assert_true(fabs(volumes[0] - volumes[1]) < 1e-6);
    Release(&in);
    Release(&straight);
}

static void CentimetresAreRecognisedAndTold(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.armature = ",\"scale\":[85,85,85]";
    jnaAffine above = {{85, 0, 0, 0, 0, 85, 0, 0, 0, 0, 85, 0}};
    Imported in = Import(&def, 0);
    assert_true(in.scale == 0.01);
    assert_int_equal(in.notes.count, 1);
    assert_non_null(strstr(in.notes.lines[0], "centimetres"));
    assert_true(WorstOfPose(&in, &def, 20, &above, 3.14159265358979 / 3, 0.01) < 1e-5);
    Release(&in);
    in = Import(&def, 0.02);
    assert_true(in.scale == 0.02);
    assert_true(WorstOfPose(&in, &def, 20, &above, 3.14159265358979 / 3, 0.02) < 1e-5);
    Release(&in);
}

static void TheEightStrongestOfTenJointsAreKept(void** state)
{
    (void)state;
    TubeDef def = {.joints = 10, .armature = "", .allWeights = true};
    Imported in = Import(&def, 0);
    assert_int_equal(in.character.jointCount, 10);
    double kept = 0;
    for (int j = 0; j < 8; ++j) {
        kept += (double)TubeWeight(&def, 0, j);
    }
    const jnaInfluences* influences = &in.character.influences[3];
    double sum = 0;
    for (int k = 0; k < 8; ++k) {
        assert_int_equal(influences->joints[k], k);
        assert_true(fabs((double)influences->weights[k] - (double)TubeWeight(&def, 0, k) / kept) < 1e-6);
        sum += (double)influences->weights[k];
    }
    assert_true(fabs(sum - 1) < 1e-6);
    assert_int_equal(in.notes.count, 1);
    assert_non_null(strstr(in.notes.lines[0], "strongest"));
    Release(&in);
}

static void AJointThatIsListedTwiceCountsOnce(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.twice = true;
    Imported in = Import(&def, 0);
    for (int v = 0; v < in.character.vertexCount; ++v) {
        assert_true(in.character.influences[v].weights[2] == 0);
    }
    jnaAffine identity = jnaAffine_Identity();
    assert_true(WorstOfPose(&in, &def, 30, &identity, 3.14159265358979 / 2, 1) < 2e-6);
    Release(&in);
}

static void WeightsAndKeysMayBeIntegers(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.integers = true;
    Imported in = Import(&def, 0);
    assert_int_equal(in.character.vertexCount, TUBE_VERTICES);
    jnaAffine identity = jnaAffine_Identity();
    // A byte holds a weight to 1/510; the farthest point moves 2 units.
    assert_true(WorstOfPose(&in, &def, 30, &identity, 3.14159265358979 / 2, 1) < 0.005);
    Release(&in);
}

static void ASkinMayLeaveItsBindMatricesOut(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = "", .noBind = true};
    Imported in = Import(&def, 0);
    const jnaCharacter* c = &in.character;
    float matrices[24], skinned[3 * TUBE_FILE_VERTICES];
    jnaPoseMatrices(c, NULL, 0, matrices);
    jnaSkin(c, matrices, skinned);
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        float rest[3];
        TubePosition(v, rest);
        // Unit matrices: joint 1, one unit up, lifts its share by one.
        assert_true(fabsf(skinned[3 * c->weld[v] + 1] - rest[1] - TubeWeight(&def, v, 1)) < 1e-5F);
    }
    Release(&in);
}

static void BonesWithoutWeightStayJoints(void** state)
{
    (void)state;
    TubeDef def = {.joints = 4, .armature = ""};
    Imported in = Import(&def, 0);
    assert_int_equal(in.character.jointCount, 4);
    assert_int_equal(in.character.joints[3].parent, 2);
    Release(&in);
}

static void ASecondSkinMayBindTheSameJointsOtherwise(void** state)
{
    (void)state;
    TubeDef def = plain;
    // The same tube again in a skin whose bind matrices double it: twice the size around each joint.
    def.secondSkin = true;
    def.extraMeshes = ",{\"name\":\"Second\",\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":2,"
                      "\"WEIGHTS_0\":3},\"indices\":4}]}";
    def.extraNodes = ",{\"name\":\"Second\",\"mesh\":1,\"skin\":1}";
    def.sceneNodes = ",4";
    Imported in = Import(&def, 0);
    assert_int_equal(in.character.partCount, 2);
    assert_int_equal(in.character.fileVertexCount, 2 * TUBE_FILE_VERTICES);
    assert_string_equal(in.character.parts[1].name, "Second");
    const jnaCharacter* c = &in.character;
    float matrices[12 * 8], *skinned = malloc((size_t)c->vertexCount * 3 * sizeof(float));
    assert_true(c->jointCount <= 8);
    jnaPoseMatrices(c, NULL, 0, matrices);
    jnaSkin(c, matrices, skinned);
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        float rest[3];
        TubePosition(v, rest);
        const float* p = skinned + 3 * (size_t)c->weld[v + TUBE_FILE_VERTICES];
        // Joint j sends v to 2 v and a quarter of j sideways.
        assert_true(fabsf(p[0] - 2 * rest[0] - 0.25F * TubeWeight(&def, v, 1)) < 1e-5F);
        assert_true(fabsf(p[1] - 2 * rest[1]) < 1e-5F);
        assert_true(fabsf(p[2] - 2 * rest[2]) < 1e-5F);
    }
    free(skinned);
    jnaAffine identity = jnaAffine_Identity();
    assert_true(WorstOfPose(&in, &def, 30, &identity, 3.14159265358979 / 2, 1) < 1e-5);
    Release(&in);
}

static const char hatMesh[] = ",{\"name\":\"Hat\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":4}]}";

static void AMeshThatHangsNowhereIsLeftOutAndTold(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.extraMeshes = hatMesh;
    def.extraNodes = ",{\"name\":\"Prop\",\"mesh\":1}";
    def.sceneNodes = ",4";
    Imported in = Import(&def, 0);
    assert_int_equal(in.character.partCount, 1);
    assert_int_equal(in.notes.count, 1);
    assert_non_null(strstr(in.notes.lines[0], "'Hat' has no skin"));
    Release(&in);
}

static void ARigidMeshOnAJointMovesWithIt(void** state)
{
    (void)state;
    TubeDef def = plain;
    def.hat = true;
    def.extraMeshes = hatMesh;
    def.extraNodes = ",{\"name\":\"Hat\",\"mesh\":1,\"translation\":[0,0.5,0]}";
    Imported in = Import(&def, 0);
    const jnaCharacter* c = &in.character;
    assert_int_equal(c->partCount, 2);
    float matrices[12 * 8], *skinned = malloc((size_t)c->vertexCount * 3 * sizeof(float));
    assert_int_equal(c->jointCount, 2);
    jnaPoseMatrices(c, &in.clips.clips[0], 30, matrices);
    jnaSkin(c, matrices, skinned);
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        float rest[3];
        TubePosition(v, rest);
        const float* p = skinned + 3 * (size_t)c->weld[v + TUBE_FILE_VERTICES];
        // Half a unit above joint 1, which is turned by 90 degrees.
        assert_true(fabsf(p[0] + (rest[1] + 0.5F)) < 1e-5F);
        assert_true(fabsf(p[1] - (1 + rest[0])) < 1e-5F);
        assert_true(fabsf(p[2] - rest[2]) < 1e-5F);
    }
    free(skinned);
    Release(&in);
}

static void AnAnimationWithoutLengthIsLeftOutAndTold(void** state)
{
    (void)state;
    Imported in = Import(&(TubeDef){.joints = 2, .armature = "", .animation = "zero"}, 0);
    assert_int_equal(in.clips.count, 0);
    assert_int_equal(in.notes.count, 1);
    assert_non_null(strstr(in.notes.lines[0], "zero length"));
    Release(&in);
}

static void AClipInCentimetresFitsACharacterInMetres(void** state)
{
    (void)state;
    TubeDef large = plain;
    large.armature = ",\"scale\":[100,100,100]";
    Imported in = Import(&plain, 0);
    jnError error = {0};
    jnaImportDef options = jnaDefaultImportDef();
    jnaClipList clips;
    const char* path = WriteTube("large", &large);
    assert_int_equal(jnaImportClips(path, &options, NULL, &in.character, &clips, NULL, &error), jn_ok);
    unlink(path);
    assert_int_equal(clips.count, 1);
    size_t joints = (size_t)in.clips.clips[0].frameCount * 2;
    assert_int_equal(clips.clips[0].frameCount, in.clips.clips[0].frameCount);
    for (size_t i = 0; i < 3 * joints; ++i) {
        assert_true(fabsf(clips.clips[0].translations[i] - in.clips.clips[0].translations[i]) < 1e-5F);
    }
    for (size_t i = 0; i < 4 * joints; ++i) {
        assert_true(fabsf(clips.clips[0].rotations[i] - in.clips.clips[0].rotations[i]) < 1e-5F);
    }
    jnaDestroyClipList(&clips);
    Release(&in);
}

// One line that names the file and holds the words.
static void Refused(const TubeDef* def, const char* words)
{
    const char* path = WriteTube("bad", def);
    jnError error = {0};
    jnaCharacter character;
    jnaClipList clips;
    jnaImportDef options = jnaDefaultImportDef();
    jnResult result = jnaImportCharacter(path, &options, &character, &clips, NULL, NULL, &error);
    assert_int_equal(result, jn_badData);
    if (strstr(error.message, words) == NULL) {
        fail_msg("'%s' does not say '%s'", error.message, words);
    }
    assert_non_null(strstr(error.message, path));
    assert_null(strchr(error.message, '\n'));
    assert_null(character.joints);
    assert_null(clips.clips);
    unlink(path);
}

static void BadFilesGetOneClearLine(void** state)
{
    (void)state;
    Refused(&(TubeDef){.joints = 2, .armature = "", .noSkin = true}, "has no skin");
    Refused(&(TubeDef){.joints = 2, .armature = "", .nan = true}, "position of vertex 7 is not a finite number");
    Refused(&(TubeDef){.joints = 2, .armature = "", .outOfRange = true}, "vertex 9 names joint 77");
    Refused(&(TubeDef){.joints = 3, .armature = "", .cycle = true}, "two parents");
    Refused(&(TubeDef){.joints = 2, .armature = "", .extraNodes = ",{\"children\":[5]},{\"children\":[4]}"}, "cycle");
    Refused(&(TubeDef){.joints = 2, .armature = "", .flat = true}, "no area");
    Refused(&(TubeDef){.joints = 2, .armature = ",\"scale\":[0,0,0]"}, "inverted");
}

static void EveryCutOfAFileIsRefused(void** state)
{
    (void)state;
    const char* path = WriteTube("cut", &plain);
    static char bytes[1 << 16];
    FILE* file = fopen(path, "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t length = 0; length < size; length += 97) {
        file = fopen(path, "wb");
        fwrite(bytes, 1, length, file);
        fclose(file);
        jnError error = {0};
        jnaCharacter character;
        jnaClipList clips;
        jnaImportDef options = jnaDefaultImportDef();
        assert_int_not_equal(jnaImportCharacter(path, &options, &character, &clips, NULL, NULL, &error), jn_ok);
        assert_non_null(strstr(error.message, path));
    }
    unlink(path);
}

static void TimeAndMemoryAreLimited(void** state)
{
    (void)state;
    const char* path = WriteTube("limits", &plain);
    jnError error = {0};
    jnaCharacter character;
    jnaClipList clips;
    jnaImportDef options = jnaDefaultImportDef();
    options.timeLimit = 1e-5;
    assert_int_not_equal(jnaImportCharacter(path, &options, &character, &clips, NULL, NULL, &error), jn_ok);
    assert_non_null(strstr(error.message, "took longer"));
#ifndef JN_SANITIZED
    // 64 MiB of nothing: too much for a process that may have 16.
    char large[512];
    snprintf(large, sizeof(large), "%s/large_%ld.gltf", JN_BINARY_DIR, (long)getpid());
    FILE* file = fopen(large, "wb");
    assert_int_equal(ftruncate(fileno(file), 64 << 20), 0);
    fclose(file);
    options = jnaDefaultImportDef();
    assert_int_not_equal(jnaImportCharacter(large, &options, &character, &clips, NULL, NULL, &error), jn_ok);
    assert_non_null(strstr(error.message, "JSON"));
    options.memoryLimit = 16 << 20;
    assert_int_not_equal(jnaImportCharacter(large, &options, &character, &clips, NULL, NULL, &error), jn_ok);
    assert_non_null(strstr(error.message, "allocate memory"));
    unlink(large);
#endif
    unlink(path);
    assert_int_equal(jnaImportCharacter("absent.glb", &options, &character, &clips, NULL, NULL, &error), jn_ioFailed);
    assert_int_equal(jnaImportCharacter("a.txt", &options, &character, &clips, NULL, NULL, &error), jn_badData);
}

// Everything that the code behind the parser relies on.
static void CheckScene(const jnaScene* scene)
{
    for (int n = 0; n < scene->nodeCount; ++n) {
        assert_true(scene->nodes[n].parent < n && (n == 0 || scene->nodes[n].parent >= 0));
        for (int i = 0; i < 12; ++i) {
            assert_true(isfinite(scene->nodes[n].local.m[i]));
        }
    }
    for (int m = 0; m < scene->meshCount; ++m) {
        const jnaSceneMesh* mesh = &scene->meshes[m];
        for (int i = 0; i < 3 * mesh->triangleCount; ++i) {
            assert_true(mesh->triangles[i] < (uint32_t)mesh->vertexCount);
        }
        for (int i = 0; i < 3 * mesh->vertexCount; ++i) {
            assert_true(isfinite(mesh->positions[i]));
        }
        for (int i = 0; i < mesh->placeCount; ++i) {
            assert_true(mesh->places[i] >= 0 && mesh->places[i] < scene->nodeCount);
        }
        for (int b = 0; b < mesh->boneCount; ++b) {
            assert_true(mesh->bones[b].node >= 0 && mesh->bones[b].node < scene->nodeCount);
            for (int w = 0; w < mesh->bones[b].weightCount; ++w) {
                assert_true(mesh->bones[b].vertices[w] < (uint32_t)mesh->vertexCount);
                assert_true(isfinite(mesh->bones[b].weights[w]));
            }
        }
    }
    for (int a = 0; a < scene->animationCount; ++a) {
        for (int c = 0; c < scene->animations[a].channelCount; ++c) {
            const jnaSceneChannel* channel = &scene->animations[a].channels[c];
            assert_true(channel->node >= 0 && channel->node < scene->nodeCount);
            for (int k = 0; k < channel->rotation.count; ++k) {
                assert_true(isfinite(channel->rotation.times[k]) && isfinite(channel->rotation.values[4 * k]));
            }
        }
    }
}

// The stream of the child with one word changed or its tail gone: refused or read, never more.
static void NoStreamOfTheChildIsTrusted(void** state)
{
    (void)state;
    const char* path = WriteTube("stream", &plain);
    char* bytes = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&bytes, &size);
    jnaWriteScene(path, stream);
    fclose(stream);
    unlink(path);
    jnaScene scene;
    int refused = 0;
    for (size_t at = 0; at <= size; at += 4) {
        char* cut = malloc(at + 1);
        memcpy(cut, bytes, at);
        bool whole = at == size;
        assert_int_equal(jnaParseScene("x", cut, at, &scene, NULL) == jn_ok, whole);
        jnaDestroyScene(&scene);
    }
    static const int64_t values[] = {-1, 0, 3, 1 << 20, INT64_MAX, INT64_MIN, 0x7ff8000000000000};
    for (size_t at = 0; at + 8 <= size; at += 8) {
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); ++k) {
            char* changed = malloc(size);
            memcpy(changed, bytes, size);
            memcpy(changed + at, &values[k], 8);
            if (jnaParseScene("x", changed, size, &scene, NULL) == jn_ok) {
                CheckScene(&scene);
            } else {
                refused++;
            }
            jnaDestroyScene(&scene);
        }
    }
    assert_true(refused > 500);
    free(bytes);
}

// Wider than tall: the side that decides about the unit is not the height that is told.
static void NotesTellTheHeightThatEverythingShows(void** state)
{
    (void)state;
    TubeDef def = {.joints = 2, .armature = ",\"scale\":[1000,100,100]"};
    const char* path = WriteTube("wide", &def);
    jnaImportDef import = jnaDefaultImportDef();
    jnaCharacter c;
    jnaClipList clips;
    jnaNotes notes = {0};
    assert_int_equal(jnaImportCharacter(path, &import, &c, &clips, NULL, &notes, NULL), jn_ok);
    assert_true(fabs(jnaHeightOf(&c) - 0.2) < 1e-6);
    bool told = false;
    for (int i = 0; i < notes.count; ++i) {
        told = told || strstr(notes.lines[i], "200 units tall: taken as millimetres, 0.2 m") != NULL;
    }
    assert_true(told);
    // Lying down: the longest side counts.
    for (int v = 0; v < c.vertexCount; ++v) {
        c.positions[3 * v + 1] *= 0.1F;
    }
    assert_true(fabs(jnaHeightOf(&c) - 0.6) < 1e-6);
    assert_true(fabs(jnaHeightOf(&(jnaCharacter){0}) - 0) < 1e-12);
    jnaDestroyNotes(&notes);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&c);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NotesTellTheHeightThatEverythingShows),
        cmocka_unit_test(APlainTubeIsWeldedAndMoves),
        cmocka_unit_test(ASimilarityAboveTheSkeletonIsFolded),
        cmocka_unit_test(ANonUniformScaleAboveTheSkeletonIsKeptExactly),
        cmocka_unit_test(AMirrorAboveTheSkeletonKeepsTheOutsideOut),
        cmocka_unit_test(CentimetresAreRecognisedAndTold),
        cmocka_unit_test(TheEightStrongestOfTenJointsAreKept),
        cmocka_unit_test(AJointThatIsListedTwiceCountsOnce),
        cmocka_unit_test(WeightsAndKeysMayBeIntegers),
        cmocka_unit_test(ASkinMayLeaveItsBindMatricesOut),
        cmocka_unit_test(BonesWithoutWeightStayJoints),
        cmocka_unit_test(ASecondSkinMayBindTheSameJointsOtherwise),
        cmocka_unit_test(AMeshThatHangsNowhereIsLeftOutAndTold),
        cmocka_unit_test(ARigidMeshOnAJointMovesWithIt),
        cmocka_unit_test(AnAnimationWithoutLengthIsLeftOutAndTold),
        cmocka_unit_test(AClipInCentimetresFitsACharacterInMetres),
        cmocka_unit_test(BadFilesGetOneClearLine),
        cmocka_unit_test(EveryCutOfAFileIsRefused),
        cmocka_unit_test(TimeAndMemoryAreLimited),
        cmocka_unit_test(NoStreamOfTheChildIsTrusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
