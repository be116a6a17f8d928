// Alembic, USD text and OBJ: what is written is read, transforms above a mesh are applied, damage ends in a sentence.
#include "helpers/support.h"

#include "character/mesh_cache.h"

#include <sys/stat.h>
#include <unistd.h>

enum { POINTS = 5, TRIANGLES = 4, FRAMES = 4, MAX_BYTES = 1 << 20 };

static const int32_t triangles[TRIANGLES][3] = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
static unsigned char bytes[MAX_BYTES];

static const char* Path(const char* ending)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/mesh_cache_%ld%s", JN_BINARY_DIR, (long)getpid(), ending);
    return path;
}

static float Position(int frame, int i)
{
    return (float)sin(1.7 * i + 0.3 * frame) * 1.25f;
}

static float Uv(int i)
{
    return (float)(i % 7) / 8;
}

typedef struct Format {
    const char* ending;
    jnResult (*create)(const char*, const jnaMeshCacheDef*, jnaMeshCacheFile*, jnError*);
    jnResult (*add)(jnaMeshCacheFile*, const float*, const float*, jnError*);
    jnResult (*commit)(jnaMeshCacheFile*, jnError*);
} Format;

static const Format formats[] = {
    {".abc", jnaCreateAlembic, jnaAlembic_AddFrame, jnaAlembic_Commit},
    {".usda", jnaCreateUsda, jnaUsda_AddFrame, jnaUsda_Commit},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const char* WriteCache(const Format* format, int frames, bool atCorners)
{
    float uvs[TRIANGLES * 6], positions[POINTS * 3], normals[TRIANGLES * 9];
    for (int i = 0; i < TRIANGLES * 6; ++i) {
        uvs[i] = Uv(i);
    }
    jnaMeshCacheDef def = {.name = "hero",
        .frameCount = frames,
        .pointCount = POINTS,
        .triangleCount = TRIANGLES,
        .triangles = triangles[0],
        .uvs = uvs,
        .withNormals = true,
        .normalsAtCorners = atCorners,
        .rate = 24,
        .metresPerUnit = 0.01,
        .upAxis = JNA_UP_Z};
    jnaMeshCacheFile file;
    jnError error = {0};
    const char* path = Path(format->ending);
    assert_int_equal(format->create(path, &def, &file, &error), jn_ok);
    for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < POINTS * 3; ++i) {
            positions[i] = Position(f, i);
        }
        for (int i = 0; i < (atCorners ? TRIANGLES * 9 : POINTS * 3); ++i) {
            normals[i] = (float)(i % 3 == 1) + (float)(i / 3) * 0.01f;
        }
        assert_int_equal(format->add(&file, positions, normals, &error), jn_ok);
    }
    assert_int_equal(format->commit(&file, &error), jn_ok);
    return path;
}

static void CheckCache(const jnaMeshCache* cache, int frames, bool atCorners)
{
    assert_int_equal(cache->frameCount, frames);
    assert_int_equal(cache->pointCount, POINTS);
    assert_int_equal(cache->meshCount, 1);
    for (int f = 0; f < frames; ++f) {
        for (int i = 0; i < POINTS * 3; ++i) {
            ASSERT_NEAR(cache->positions[f * POINTS * 3 + i], Position(f, i), 0);
        }
    }
    assert_int_equal(cache->faceCount, TRIANGLES);
    assert_int_equal(cache->cornerCount, 3 * TRIANGLES);
    assert_non_null(cache->uvs);
    assert_non_null(cache->normals);
    for (int c = 0; c < 3 * TRIANGLES; ++c) {
        // Faces may begin at another corner; what stands at a corner stands there still.
        int t = c / 3, k = 0;
        while (triangles[t][k] != cache->corners[c]) {
            assert_true(++k < 3);
        }
        assert_int_equal(triangles[t][(k + 1) % 3], cache->corners[3 * t + (c + 1) % 3]);
        ASSERT_NEAR(cache->uvs[2 * c], Uv(2 * (3 * t + k)), 1e-6);
        double lean = 0.01 * (atCorners ? 3 * t + k : triangles[t][k]);
        ASSERT_NEAR(cache->normals[3 * c] / cache->normals[3 * c + 1], lean / (1 + lean), 1e-5);
    }
}

static void WhatIsWrittenIsReadBack(void** state)
{
    (void)state;
    for (int f = 0; f < FORMATS; ++f) {
        for (int atCorners = 0; atCorners < 2; ++atCorners) {
            for (int frames = 1; frames <= FRAMES; frames += FRAMES - 1) {
                jnaMeshCache cache;
                jnError error = {0};
                const char* path = WriteCache(&formats[f], frames, atCorners != 0);
                if (jnaReadMeshCache(path, &cache, &error) != jn_ok) {
                    fail_msg("%s", error.message);
                }
                CheckCache(&cache, frames, atCorners != 0);
                ASSERT_NEAR(cache.rate, frames > 1 ? 24 : 0, 1e-9);
                jnaDestroyMeshCache(&cache);
            }
        }
    }
}

static void UsdSaysItsUnitsAndItsUpAxis(void** state)
{
    (void)state;
    jnaMeshCache cache;
    assert_int_equal(jnaReadMeshCache(WriteCache(&formats[1], 2, false), &cache, NULL), jn_ok);
    ASSERT_NEAR(cache.metresPerUnit, 0.01, 1e-12);
    assert_int_equal(cache.upAxis, JNA_UP_Z);
    jnaDestroyMeshCache(&cache);
}

static void AMeshIsFoundByItsName(void** state)
{
    (void)state;
    for (int f = 0; f < FORMATS; ++f) {
        char path[512];
        jnaMeshCache cache;
        jnError error = {0};
        const char* file = WriteCache(&formats[f], 2, false);
        snprintf(path, sizeof(path), "%s:heroShape", file);
        assert_int_equal(jnaReadMeshCache(path, &cache, &error), jn_ok);
        assert_string_equal(cache.name, "/hero/heroShape");
        jnaDestroyMeshCache(&cache);
        snprintf(path, sizeof(path), "%s:other", file);
        assert_int_equal(jnaReadMeshCache(path, &cache, &error), jn_badData);
        assert_non_null(strstr(error.message, "has no mesh 'other'"));
        assert_non_null(strstr(error.message, "/hero/heroShape"));
    }
}

static size_t Load(const char* path)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    return size;
}

static void Store(const char* path, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

// One byte of the file as it is: to write it anew ten thousand times would be a test of the disk.
static void StoreByte(const char* path, size_t at, unsigned char byte)
{
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    fclose(file);
}

// The bytes as a file: read to the end or refused with a sentence.
static bool IsRead(const char* path)
{
    jnaMeshCache cache;
    jnError error = {0};
    jnResult result = jnaReadMeshCache(path, &cache, &error);
    assert_true(result == jn_ok || strlen(error.message) > 10);
    for (int c = 0; result == jn_ok && c < cache.cornerCount; ++c) {
        assert_true(cache.corners[c] >= 0 && cache.corners[c] < cache.pointCount);
    }
    jnaDestroyMeshCache(&cache);
    return result == jn_ok;
}

// Run under ASan. An Alembic file keeps its tree at its end, so no part of it is a file.
static void AFileCutAnywhereIsSafe(void** state)
{
    (void)state;
    for (int f = 0; f < FORMATS; ++f) {
        const char* path = WriteCache(&formats[f], 2, false);
        size_t size = Load(path);
        int read = 0;
        while (size-- > 0) {
            assert_int_equal(truncate(path, (off_t)size), 0);
            read += IsRead(path);
        }
        assert_true(f == 0 ? read == 0 : read <= 2); // USD text without its last line end
    }
}

static void AFileWithAnyByteFlippedIsSafe(void** state)
{
    (void)state;
    for (int f = 0; f < FORMATS; ++f) {
        const char* path = WriteCache(&formats[f], 2, false);
        size_t size = Load(path);
        int read = 0;
        for (size_t at = 0; at < size; ++at) {
            static const unsigned char flips[] = {0x01, 0x80, 0xff};
            for (size_t k = 0; k < sizeof(flips); ++k) {
                StoreByte(path, at, bytes[at] ^ flips[k]);
                read += IsRead(path);
            }
            StoreByte(path, at, bytes[at]);
        }
        assert_true(read > 0);
    }
}

// Every word of the tree points at every other place: loops, shared groups, counts out of data.
static void AnAlembicTreeThatLoopsIsSafe(void** state)
{
    (void)state;
    const char* path = WriteCache(&formats[0], 1, false);
    size_t size = Load(path);
    Random random = {11};
    for (int i = 0; i < 2000; ++i) {
        size_t at = 8 * (size_t)Uniform(&random, 1, (double)(size / 8));
        uint64_t old, word = (uint64_t)Uniform(&random, 0, (double)size);
        word |= NextBits(&random) % 2 == 0 ? 0 : 0x8000000000000000u;
        memcpy(&old, bytes + at, 8);
        memcpy(bytes + at, &word, 8);
        Store(path, size);
        IsRead(path);
        memcpy(bytes + at, &old, 8);
    }
}

static void WriteText(const char* path, const char* text)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// In the manner of Blender: Z up, an Xform with an animated matrix above the mesh, materials and a class around it.
static const char blenderText[] =
    "#usda 1.0\n"
    "(\n"
    "    doc = \"\"\"Blender v4.1.0 (it's \"quoted\")\"\"\"\n"
    "    endTimeCode = 3\n"
    "    metersPerUnit = 1\n"
    "    startTimeCode = 1\n"
    "    timeCodesPerSecond = 24\n"
    "    upAxis = \"Z\"\n"
    ")\n"
    "\n"
    "class \"_class_hidden\"\n"
    "{\n"
    "}\n"
    "\n"
    "def Xform \"root\" (\n"
    "    customData = {\n"
    "        dictionary Blender = {\n"
    "            bool generated = 1\n"
    "        }\n"
    "    }\n"
    ")\n"
    "{\n"
    "    float3 xformOp:rotateXYZ = (0, 0, 90)\n"
    "    double3 xformOp:translate.timeSamples = {\n"
    "        1: (10, 0, 0),\n"
    "        3: (12, 0, 0),\n"
    "    }\n"
    "    uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateXYZ\"]\n"
    "\n"
    "    def Mesh \"Cube\" (\n"
    "        prepend apiSchemas = [\"MaterialBindingAPI\"]\n"
    "    )\n"
    "    {\n"
    "        uniform bool doubleSided = 1\n"
    "        float3[] extent = [(-1, -1, -1), (1, 1, 1)]\n"
    "        int[] faceVertexCounts = [4]\n"
    "        int[] faceVertexIndices = [0, 1, 2, 3]\n"
    "        rel material:binding = </root/_materials/Skin>\n"
    "        normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)] (\n"
    "            interpolation = \"faceVarying\"\n"
    "        )\n"
    "        point3f[] points.timeSamples = {\n"
    "            1: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],\n"
    "            2: [(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],\n"
    "            3: [(0, 0, 2), (1, 0, 2), (1, 1, 2), (0, 1, 2)],\n"
    "        }\n"
    "        texCoord2f[] primvars:UVMap = [(0.25, 0), (1, 0), (1, 1), (0, 1)] (\n"
    "            interpolation = \"faceVarying\"\n"
    "        )\n"
    "        int[] primvars:__VID = [3, 2, 1, 0]\n"
    "        uniform token subdivisionScheme = \"none\"\n"
    "    }\n"
    "\n"
    "    def Scope \"_materials\"\n"
    "    {\n"
    "        def Material \"Skin\"\n"
    "        {\n"
    "            token outputs:surface.connect = </root/_materials/Skin/Principled_BSDF.outputs:surface>\n"
    "            asset inputs:file = @./skin.png@\n"
    "        }\n"
    "    }\n"
    "}\n";

static void BlendersUsdTextIsRead(void** state)
{
    (void)state;
    jnaMeshCache cache;
    jnError error = {0};
    WriteText(Path(".usda"), blenderText);
    if (jnaReadMeshCache(Path(".usda"), &cache, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(cache.frameCount, 3);
    assert_int_equal(cache.pointCount, 4);
    assert_int_equal(cache.upAxis, JNA_UP_Z);
    ASSERT_NEAR(cache.rate, 24, 1e-9);
    ASSERT_NEAR(cache.start, 1.0 / 24, 1e-9);
    // Point 1 of frame 2: (1, 0, 1), turned by 90 degrees about Z and moved by 11.
    const float* p = cache.positions + 3 * (4 + 1);
    ASSERT_NEAR(p[0], 11, 1e-6);
    ASSERT_NEAR(p[1], 1, 1e-6);
    ASSERT_NEAR(p[2], 1, 1e-6);
    assert_non_null(cache.ids);
    assert_int_equal(cache.ids[0], 3);
    assert_non_null(cache.uvs);
    ASSERT_NEAR(cache.uvs[0], 0.25, 0);
    jnaDestroyMeshCache(&cache);
}

// In the manner of Houdini and 3ds Max: faces as time samples, inches, the other winding.
static void FacesOverTimeMustStayTheSame(void** state)
{
    (void)state;
    static const char text[] = "#usda 1.0\n(\n    metersPerUnit = 0.0254\n    upAxis = \"Z\"\n)\n\n"
                               "def Mesh \"Box001\"\n{\n"
                               "    int[] faceVertexCounts.timeSamples = {\n        0: [3],\n        1: [3],\n    }\n"
                               "    int[] faceVertexIndices.timeSamples = {\n"
                               "        0: [0, 1, 2],\n        1: [0, %d, 2],\n    }\n"
                               "    uniform token orientation = \"leftHanded\"\n"
                               "    point3f[] points.timeSamples = {\n        0: [(0, 0, 0), (1, 0, 0), (0, 1, 0)],\n"
                               "        1: [(0, 0, 1), (1, 0, 1), (0, 1, 1)],\n    }\n}\n";
    char whole[1024];
    jnaMeshCache cache;
    jnError error = {0};
    snprintf(whole, sizeof(whole), text, 1);
    WriteText(Path(".usda"), whole);
    assert_int_equal(jnaReadMeshCache(Path(".usda"), &cache, &error), jn_ok);
    const int32_t corners[3] = {2, 1, 0};
    assert_memory_equal(cache.corners, corners, sizeof(corners));
    ASSERT_NEAR(cache.metresPerUnit, 0.0254, 0);
    jnaDestroyMeshCache(&cache);
    snprintf(whole, sizeof(whole), text, 0);
    WriteText(Path(".usda"), whole);
    assert_int_equal(jnaReadMeshCache(Path(".usda"), &cache, &error), jn_badData);
    assert_non_null(strstr(error.message, "change over time"));
}

static void DamagedUsdTextIsSafe(void** state)
{
    (void)state;
    size_t size = sizeof(blenderText) - 1;
    const char* path = Path(".usda");
    WriteText(path, blenderText);
    for (size_t at = 0; at < size; ++at) {
        static const char swaps[] = "([{}])\"<@=1\n";
        // Two of them at each place: all would be a test of the disk.
        for (size_t k = 0; k < 2; ++k) {
            StoreByte(path, at, (unsigned char)swaps[(5 * at + 7 * k) % (sizeof(swaps) - 1)]);
            IsRead(path);
        }
        StoreByte(path, at, (unsigned char)blenderText[at]);
    }
    while (size-- > 0) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        IsRead(path);
    }
}

static void PointsOfAnObjComeInItsOrder(void** state)
{
    (void)state;
    jnaMeshCache cache;
    const char* path = Path(".obj");
    WriteText(path, "# a quad\nv 0 0 0\nvn 0 0 1\nv 1 0 0\r\nv 1 1 0\nv 0 1 0 1 1 1\nvt 0 0\nf 1/1/1 2 -2//1 4\n");
    assert_int_equal(jnaReadMeshCache(path, &cache, NULL), jn_ok);
    assert_int_equal(cache.pointCount, 4);
    assert_int_equal(cache.frameCount, 1);
    ASSERT_NEAR(cache.positions[3 * 2 + 1], 1, 0);
    const int32_t corners[4] = {0, 1, 2, 3};
    assert_memory_equal(cache.corners, corners, sizeof(corners));
    jnaDestroyMeshCache(&cache);
    jnError error = {0};
    WriteText(path, "v 0 0 0\nf 1 2 3\n");
    assert_int_equal(jnaReadMeshCache(path, &cache, &error), jn_badData);
    WriteText(path, "v 0 zero 0\n");
    assert_int_equal(jnaReadMeshCache(path, &cache, &error), jn_badData);
}

static void OtherFilesAreNamedForWhatTheyAre(void** state)
{
    (void)state;
    static const struct {
        const char *ending, *text, *says;
    } cases[] = {
        {".abc", "hello", "is not an Alembic file"},
        {".abc", "\x89HDF\r\n\x1a\n............", "HDF5"},
        {".usda", "PXR-USDC........", "binary form"},
        {".usda", "hello", "is not USD text"},
        {".usda", "#usda 1.0\n", "holds no mesh"},
        {".usda", "#usda 1.0\ndef Mesh \"a\"\n{\n}\n", "with points"},
        {".obj", "# nothing\n", "has no points"},
        {".usdc", "", "usdcat"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        jnaMeshCache cache;
        jnError error = {0};
        WriteText(Path(cases[i].ending), cases[i].text);
        assert_int_equal(jnaReadMeshCache(Path(cases[i].ending), &cache, &error), jn_badData);
        if (strstr(error.message, cases[i].says) == NULL) {
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].says);
        }
    }
}

static int Clean(void** state)
{
    (void)state;
    unlink(Path(".abc"));
    unlink(Path(".usda"));
    unlink(Path(".usdc"));
    unlink(Path(".obj"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsWrittenIsReadBack),
        cmocka_unit_test(UsdSaysItsUnitsAndItsUpAxis),
        cmocka_unit_test(AMeshIsFoundByItsName),
        cmocka_unit_test(AFileCutAnywhereIsSafe),
        cmocka_unit_test(AFileWithAnyByteFlippedIsSafe),
        cmocka_unit_test(AnAlembicTreeThatLoopsIsSafe),
        cmocka_unit_test(BlendersUsdTextIsRead),
        cmocka_unit_test(FacesOverTimeMustStayTheSame),
        cmocka_unit_test(DamagedUsdTextIsSafe),
        cmocka_unit_test(PointsOfAnObjComeInItsOrder),
        cmocka_unit_test(OtherFilesAreNamedForWhatTheyAre),
    };
    return cmocka_run_group_tests(tests, NULL, Clean);
}
