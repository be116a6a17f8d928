// The reader of glTF: what a file says arrives as it is meant, whatever its arrays are stored in.
#include "character/gltf.h"

#include "character/import.h"
#include "helpers/small_gltf.h"

#include <meshoptimizer.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct Imported {
    jnaCharacter character;
    jnaClipList clips;
    jnaNotes notes;
} Imported;

static Imported ImportFile(const char* path, const jnaImportDef* options)
{
    Imported in = {0};
    jnError error = {0};
    jnResult result = jnaImportCharacter(path, options, &in.character, &in.clips, NULL, &in.notes, &error);
    if (result != jn_ok) {
        fail_msg("%s", error.message);
    }
    unlink(path);
    return in;
}

static Imported Import(const TubeDef* def)
{
    jnaImportDef options = jnaDefaultImportDef();
    return ImportFile(WriteTube("gltf", def), &options);
}

static void Release(Imported* in)
{
    jnaDestroyCharacter(&in->character);
    jnaDestroyClipList(&in->clips);
    jnaDestroyNotes(&in->notes);
}

static bool HasNote(const Imported* in, const char* words)
{
    for (int n = 0; n < in->notes.count; ++n) {
        if (strstr(in->notes.lines[n], words) != NULL) {
            return true;
        }
    }
    return false;
}

static double AngleOf(const Imported* in, int frame)
{
    const float* q = in->clips.clips[0].rotations + 4 * (2 * (size_t)frame + 1);
    return 2 * atan2((double)q[2], (double)q[3]);
}

static void StepKeysHoldTheirValue(void** state)
{
    (void)state;
    Imported in = Import(&(TubeDef){.joints = 2, .armature = "", .animation = "rotation", .interpolation = "STEP"});
    assert_int_equal(in.clips.clips[0].frameCount, 31);
    for (int f = 0; f <= 30; ++f) {
        double expected = f < 15 ? 0 : f < 30 ? JNA_PI / 4 : JNA_PI / 2;
        assert_true(fabs(AngleOf(&in, f) - expected) < 1e-5);
    }
    Release(&in);
}

static void CubicKeysFollowTheirSlopes(void** state)
{
    (void)state;
    Imported in =
        Import(&(TubeDef){.joints = 2, .armature = "", .animation = "rotation", .interpolation = "CUBICSPLINE"});
    const double angles[3] = {0, JNA_PI / 8, JNA_PI / 4};
    for (int f = 0; f <= 30; ++f) {
        int k = f < 15 ? 0 : 1;
        double t = f / 15.0 - k, d = 0.5;
        double h0 = 2 * t * t * t - 3 * t * t + 1, h1 = t * t * t - 2 * t * t + t, h2 = 1 - h0, h3 = t * t * t - t * t;
        double z = h0 * sin(angles[k]) + h2 * sin(angles[k + 1]) + d * h1 * (double)TubeSlope(k) +
                   d * h3 * (double)TubeSlope(k + 1);
        double w = h0 * cos(angles[k]) + h2 * cos(angles[k + 1]);
        assert_true(fabs(AngleOf(&in, f) - 2 * atan2(z, w)) < 1e-5);
    }
    // Far from the line between the keys.
    assert_true(fabs(AngleOf(&in, 11) - JNA_PI / 2 * 11 / 30) > 0.1);
    Release(&in);
}

static void ALoopOfAnyLengthCloses(void** state)
{
    (void)state;
    const TubeDef tube = {.joints = 2, .armature = "", .animation = "loop"};
    Imported in = Import(&tube);
    const jnaClip* clip = &in.clips.clips[0];
    // 21.25 frames at 30 Hz.
    assert_int_equal(clip->frameCount, 21);
    assert_true(clip->looping);
    assert_true(fabs(clip->frameCount / clip->rate - TUBE_LOOP) < 1e-6);
    assert_true(HasNote(&in, "after 0.7083 s: a loop of 21 frames at 29.65 Hz"));
    for (int f = 0; f < 21; ++f) {
        double expected = JNA_PI / 4 * (1 - fabs(2.0 * f / 21 - 1));
        assert_true(fabs(AngleOf(&in, f) - expected) < 1e-5);
    }
    Release(&in);
    // As it is, for who wants the rate.
    static const char* const names[] = {"other", "wave_top"};
    jnaImportDef options = jnaDefaultImportDef();
    options.fixed = names;
    options.fixedCount = 2;
    in = ImportFile(WriteTube("gltf", &tube), &options);
    clip = &in.clips.clips[0];
    assert_int_equal(clip->frameCount, 22);
    assert_true(clip->rate == 30 && !clip->looping);
    Release(&in);
    // A second that ends elsewhere is no loop, and one of whole frames keeps the rate.
    in = Import(&(TubeDef){.joints = 2, .armature = "", .animation = "rotation"});
    assert_false(in.clips.clips[0].looping);
    Release(&in);
    options.fixedCount = 0;
    options.rate = 3 / TUBE_LOOP * 8;
    in = ImportFile(WriteTube("gltf", &tube), &options);
    assert_int_equal(in.clips.clips[0].frameCount, 25);
    assert_true(jnaClip_SetLoop(&in.clips.clips[0], jna_loopAuto) && in.clips.clips[0].frameCount == 24);
    Release(&in);
}

static void CopiesByInstancingAreCounted(void** state)
{
    (void)state;
    // Accessor 0 has the 25 positions: as translations of copies as good as any.
    Imported in = Import(&(TubeDef){.joints = 2,
        .armature = "",
        .extraMeshes = ",{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}",
        .extraNodes = ",{\"mesh\":0,\"skin\":0,\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{"
                      "\"TRANSLATION\":0}}}}",
        .sceneNodes = ",4"});
    assert_true(
        HasNote(&in, "node 4 has 25 copies of its mesh by EXT_mesh_gpu_instancing: one was taken, 24 are left"));
    Release(&in);
}

static void JointsOfTheSameNameAreToldApart(void** state)
{
    (void)state;
    const char* const names[] = {"Bone", "Bone"};
    Imported in = Import(&(TubeDef){.joints = 2, .armature = "", .animation = "rotation", .names = names});
    assert_int_equal(in.character.jointCount, 2);
    assert_true(fabs(AngleOf(&in, 30) - JNA_PI / 2) < 1e-5);
    assert_true(in.clips.clips[0].rotations[4 * 2 * 30 + 2] == 0);
    Release(&in);
}

// A second chain of joints, three units beside the first, and the same mesh on it.
static const TubeDef twins = {.joints = 2,
    .armature = "",
    .animation = "rotation",
    .secondSkin = true,
    .secondJoints = "4,5",
    .extraNodes =
        ",{\"name\":\"K0\",\"translation\":[3,0,0],\"children\":[5]},{\"name\":\"K1\",\"translation\":[0,1,0]},"
        "{\"name\":\"Twin\",\"mesh\":0,\"skin\":1}",
    .sceneNodes = ",4,6"};

static void AMeshUnderTwoSkinsIsTwoMeshes(void** state)
{
    (void)state;
    Imported in = Import(&twins);
    const jnaCharacter* c = &in.character;
    assert_int_equal(c->fileVertexCount, 2 * TUBE_FILE_VERTICES);
    assert_int_equal(c->vertexCount, 2 * TUBE_VERTICES);
    assert_int_equal(c->jointCount, 4);
    for (int v = 0; v < TUBE_FILE_VERTICES; ++v) {
        const float *a = c->positions + 3 * c->weld[v], *b = c->positions + 3 * c->weld[v + TUBE_FILE_VERTICES];
        assert_true(fabsf(b[0] - a[0] - 3) < 1e-5F && fabsf(b[1] - a[1]) < 1e-5F);
        int joint = c->influences[c->weld[v + TUBE_FILE_VERTICES]].joints[0];
        assert_int_equal(c->joints[joint].name[0], 'K');
    }
    assert_true(HasNote(&in, "2 skeletons share no joint"));
    assert_true(HasNote(&in, "--character N"));
    Release(&in);
}

static void OneOfSeveralCharactersCanBeTaken(void** state)
{
    (void)state;
    jnaImportDef options = jnaDefaultImportDef();
    for (options.character = 1; options.character <= 2; ++options.character) {
        Imported in = ImportFile(WriteTube("gltf", &twins), &options);
        assert_int_equal(in.character.vertexCount, TUBE_VERTICES);
        assert_int_equal(in.character.jointCount, 2);
        assert_int_equal(in.character.joints[1].name[0], options.character == 1 ? 'J' : 'K');
        assert_int_equal(in.notes.count, 0);
        Release(&in);
    }
    const char* path = WriteTube("gltf", &twins);
    jnError error = {0};
    jnaCharacter character;
    jnaClipList clips;
    assert_int_equal(jnaImportCharacter(path, &options, &character, &clips, NULL, NULL, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "it has 2: 1 'Tube'"));
    unlink(path);
}

static void AMeshTwiceUnderOneSkinIsTakenOnceAndTold(void** state)
{
    (void)state;
    Imported in = Import(&(TubeDef){
        .joints = 2, .armature = "", .extraNodes = ",{\"name\":\"Again\",\"mesh\":0,\"skin\":0}", .sceneNodes = ",4"});
    assert_int_equal(in.character.fileVertexCount, TUBE_FILE_VERTICES);
    assert_true(HasNote(&in, "2 nodes carry mesh 0 with the same skin"));
    Release(&in);
}

static void VerticesWithoutWeightsFollowTheSkinAroundThem(void** state)
{
    (void)state;
    Imported in = Import(&(TubeDef){.joints = 2, .armature = "", .animation = "rotation", .bare = true});
    const jnaCharacter* c = &in.character;
    for (int v = 3 * COLUMNS; v < TUBE_FILE_VERTICES; ++v) {
        // The third ring is the last with weights: half and half.
        const jnaInfluences* i = &c->influences[c->weld[v]];
        assert_true(fabsf(i->weights[0] - 0.5F) < 1e-6F && fabsf(i->weights[1] - 0.5F) < 1e-6F);
    }
    assert_true(HasNote(&in, "10 vertices"));
    Release(&in);
}

static void MorphTargetsAreNamed(void** state)
{
    (void)state;
    Imported in = Import(&(TubeDef){.joints = 2, .armature = "", .morph = true});
    assert_true(HasNote(&in, "1 morph targets of the source are kept: swell"));
    Release(&in);
}

static void AVrmFileIsGltf(void** state)
{
    (void)state;
    char vrm[600];
    const char* path = WriteTube("gltf", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"});
    snprintf(vrm, sizeof(vrm), "%.500s.vrm", path);
    assert_int_equal(rename(path, vrm), 0);
    jnaImportDef options = jnaDefaultImportDef();
    Imported in = ImportFile(vrm, &options);
    assert_int_equal(in.character.vertexCount, TUBE_VERTICES);
    assert_int_equal(in.clips.count, 1);
    Release(&in);
}

static const char* const human[] = {"Hips", "Spine", "Head", "LeftUpLeg", "RightUpLeg"};

static void ACharacterThatLiesIsTurnedUpright(void** state)
{
    (void)state;
    TubeDef def = {.joints = 5, .armature = "", .names = human, .animation = "rotation"};
    Imported standing = Import(&def);
    assert_int_equal(standing.notes.count, 0);
    def.armature = ",\"rotation\":[0.70710678,0,0,0.70710678]"; // Y to Z
    Imported turned = Import(&def);
    assert_true(HasNote(&turned, "the file's Z axis"));
    for (int i = 0; i < 3 * standing.character.vertexCount; ++i) {
        assert_true(fabsf(standing.character.positions[i] - turned.character.positions[i]) < 1e-5F);
    }
    jnaImportDef options = jnaDefaultImportDef();
    options.up = jna_upY;
    Imported lying = ImportFile(WriteTube("gltf", &def), &options);
    assert_int_equal(lying.notes.count, 0);
    assert_true(lying.character.positions[3 * 19 + 2] > 1.9F);
    // Names that say nothing: the file is believed, unless told otherwise.
    def.names = NULL;
    Imported unknown = Import(&def);
    assert_true(unknown.character.positions[3 * 19 + 2] > 1.9F);
    options.up = jna_upZ;
    Imported told = ImportFile(WriteTube("gltf", &def), &options);
    assert_true(HasNote(&told, "as --up says"));
    assert_true(told.character.positions[3 * 19 + 1] > 1.9F);
    Imported* const all[] = {&standing, &turned, &lying, &unknown, &told};
    for (size_t i = 0; i < 5; ++i) {
        Release(all[i]);
    }
}

// A document with one buffer, as a .glb of its own.
static const char* WriteDocument(const char* json, const void* bytes, size_t size)
{
    static char path[512];
    char text[8192];
    snprintf(text, sizeof(text), "%s", json);
    while (strlen(text) % 4 != 0) {
        strcat(text, " ");
    }
    static const char zeros[4] = {0};
    size_t padded = (size + 3) & ~(size_t)3;
    uint32_t length = (uint32_t)strlen(text);
    const uint32_t header[5] = {0x46546c67, 2, 28 + length + (uint32_t)padded, length, 0x4e4f534a};
    const uint32_t chunk[2] = {(uint32_t)padded, 0x004e4942};
    snprintf(path, sizeof(path), "%s/document_%ld.glb", JN_BINARY_DIR, (long)getpid());
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(header, 4, 5, file);
    fwrite(text, 1, length, file);
    fwrite(chunk, 4, 2, file);
    fwrite(bytes, 1, size, file);
    fwrite(zeros, 1, padded - size, file);
    fclose(file);
    return path;
}

static void SparseAccessorsAreFilledIn(void** state)
{
    (void)state;
    const struct {
        float base[6];
        uint16_t indices[2];
        float values[2];
    } bytes = {{0, 1, 2, 3, 4, 5}, {1, 4}, {10, 40}};
    static const char json[] =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36}],\"bufferViews\":[{\"buffer\":0,"
        "\"byteLength\":24},"
        "{\"buffer\":0,\"byteOffset\":24,\"byteLength\":4},{\"buffer\":0,\"byteOffset\":28,\"byteLength\":8}],"
        "\"accessors\":[{"
        "\"bufferView\":0,\"componentType\":5126,\"type\":\"SCALAR\",\"count\":6,\"sparse\":{\"count\":2,\"indices\":{"
        "\"bufferView\":1,\"componentType\":5123},\"values\":{\"bufferView\":2}}},{\"componentType\":5126,\"type\":"
        "\"SCALAR\",\"count\":5,\"sparse\":{\"count\":2,\"indices\":{\"bufferView\":1,\"componentType\":5123},"
        "\"values\":{"
        "\"bufferView\":2}}},{\"componentType\":5126,\"type\":\"SCALAR\",\"count\":4,\"sparse\":{\"count\":2,"
        "\"indices\":{"
        "\"bufferView\":1,\"componentType\":5123},\"values\":{\"bufferView\":2}}}]}";
    const char* path = WriteDocument(json, &bytes, sizeof(bytes));
    jnaGltf g;
    jnError error = {0};
    size_t count, width;
    float* values;
    assert_int_equal(jnaOpenGltf(path, &g, &error), jn_ok);
    assert_int_equal(jnaGltf_ReadFloats(&g, 0, &count, &width, &values), jn_ok);
    const float expected[6] = {0, 10, 2, 3, 40, 5}, alone[5] = {0, 10, 0, 0, 40};
    assert_int_equal(count, 6);
    assert_memory_equal(values, expected, sizeof(expected));
    assert_int_equal(jnaGltf_ReadFloats(&g, 1, &count, &width, &values), jn_ok);
    assert_memory_equal(values, alone, sizeof(alone));
    // Element 4 of 4 is past the end.
    assert_int_equal(jnaGltf_ReadFloats(&g, 2, &count, &width, &values), jn_badData);
    assert_non_null(strstr(error.message, "sparse"));
    jnaCloseGltf(&g);
    unlink(path);
}

static void MeshoptIsUnpackedUnderEveryName(void** state)
{
    (void)state;
    static const char* const names[] = {"EXT_meshopt_compression", "KHR_meshopt_compression", "MESHOPT_compression"};
    float positions[60][3];
    for (int i = 0; i < 180; ++i) {
        positions[i / 3][i % 3] = 0.25F * (float)(i % 17) - (float)(i / 7);
    }
    unsigned char packed[4096];
    size_t size = meshopt_encodeVertexBuffer(packed, sizeof(packed), positions, 60, 12);
    assert_true(size > 0);
    for (size_t k = 0; k < 3; ++k) {
        for (int fault = 0; fault < 3; ++fault) { // none, cut, of a newer codec
            bool cut = fault == 1, newer = fault == 2;
            char json[2048];
            packed[0] = newer ? 0xa1 : 0xa0;
            snprintf(json, sizeof(json),
                "{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"%s\"],\"buffers\":[{\"byteLength\":%zu},{"
                "\"byteLength\":720}],\"bufferViews\":[{\"buffer\":1,\"byteLength\":720,\"byteStride\":12,"
                "\"extensions\":{"
                "\"%s\":{\"buffer\":0,\"byteLength\":%zu,\"byteStride\":12,\"count\":60,\"mode\":\"ATTRIBUTES\"}}}],"
                "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"type\":\"VEC3\",\"count\":60}]}",
                names[k], size, names[k], size - 5 * (size_t)cut);
            const char* path = WriteDocument(json, packed, size);
            jnaGltf g;
            jnError error = {0};
            assert_int_equal(jnaOpenGltf(path, &g, &error), fault > 0 ? jn_badData : jn_ok);
            if (fault > 0) {
                assert_non_null(strstr(
                    error.message, cut ? "packed by meshopt and" : "version 1 of meshopt's vertex codec (KHR_meshopt"));
            } else {
                size_t count, width;
                float* values;
                assert_int_equal(jnaGltf_ReadFloats(&g, 0, &count, &width, &values), jn_ok);
                assert_memory_equal(values, positions, sizeof(positions));
            }
            jnaCloseGltf(&g);
            unlink(path);
        }
    }
}

// Two triangles of four vertices with joints and weights, as draco::Encoder writes them by its edgebreaker.
static const unsigned char draco[] = {68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 4, 2, 2, 2, 0, 0, 1, 31, 255, 1, 17, 255,
    1, 17, 255, 1, 17, 3, 255, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 9, 3, 0, 0, 0, 1, 4, 2, 4, 0, 1, 1, 1, 4, 9, 4, 0, 2, 0, 0,
    0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 0, 63, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 2, 3, 1, 64, 1, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 128, 62, 0, 0,
    64, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

static const char* WriteDraco(size_t size, int count)
{
    char json[2048];
    snprintf(json, sizeof(json),
        "{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"buffers\":[{"
        "\"byteLength\":%zu}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%zu}],\"accessors\":[{\"componentType\":"
        "5126,"
        "\"type\":\"VEC3\",\"count\":%d},{\"componentType\":5121,\"type\":\"VEC4\",\"count\":4},{\"componentType\":"
        "5126,"
        "\"type\":\"VEC4\",\"count\":4},{\"componentType\":5123,\"type\":\"SCALAR\",\"count\":6}],\"meshes\":[{"
        "\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":3,\"extensions\":{"
        "\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":"
        "2}}}"
        "}]}],\"nodes\":[{\"name\":\"a\",\"children\":[1]},{\"name\":\"b\"},{\"mesh\":0,\"skin\":0}],\"skins\":[{"
        "\"joints\":[0,1]}],\"scenes\":[{\"nodes\":[0,2]}]}",
        size, size, count);
    return WriteDocument(json, draco, size);
}

static void DracoIsUnpacked(void** state)
{
    (void)state;
    jnaImportDef options = jnaDefaultImportDef();
    Imported in = ImportFile(WriteDraco(sizeof(draco), 4), &options);
    const jnaCharacter* c = &in.character;
    assert_int_equal(c->vertexCount, 4);
    assert_int_equal(c->triangleCount, 2);
    for (int v = 0; v < 4; ++v) {
        const float* p = c->positions + 3 * v;
        // Weight of the second joint by corner, as it was packed.
        float expected = p[1] < 1 ? 0 : p[0] < 0.5F ? 0.75F : 1, found = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            found += c->influences[v].joints[k] == 1 ? c->influences[v].weights[k] : 0;
        }
        assert_true(fabsf(found - expected) < 1e-6F);
        assert_true(fabsf(p[2] - (p[0] > 0.5F && p[1] > 1 ? 0.5F : 0)) < 1e-6F);
    }
    Release(&in);
    // Cut, and with accessors of another length: one clear line.
    for (int k = 0; k < 2; ++k) {
        jnError error = {0};
        const char* path = k == 0 ? WriteDraco(sizeof(draco) / 2, 4) : WriteDraco(sizeof(draco), 5);
        jnaCharacter character;
        jnaClipList clips;
        assert_int_equal(jnaImportCharacter(path, &options, &character, &clips, NULL, NULL, &error), jn_badData);
        assert_non_null(strstr(error.message, k == 0 ? "damaged" : "other counts"));
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(StepKeysHoldTheirValue),
        cmocka_unit_test(CubicKeysFollowTheirSlopes),
        cmocka_unit_test(ALoopOfAnyLengthCloses),
        cmocka_unit_test(CopiesByInstancingAreCounted),
        cmocka_unit_test(JointsOfTheSameNameAreToldApart),
        cmocka_unit_test(AMeshUnderTwoSkinsIsTwoMeshes),
        cmocka_unit_test(OneOfSeveralCharactersCanBeTaken),
        cmocka_unit_test(AMeshTwiceUnderOneSkinIsTakenOnceAndTold),
        cmocka_unit_test(VerticesWithoutWeightsFollowTheSkinAroundThem),
        cmocka_unit_test(MorphTargetsAreNamed),
        cmocka_unit_test(AVrmFileIsGltf),
        cmocka_unit_test(ACharacterThatLiesIsTurnedUpright),
        cmocka_unit_test(SparseAccessorsAreFilledIn),
        cmocka_unit_test(MeshoptIsUnpackedUnderEveryName),
        cmocka_unit_test(DracoIsUnpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
