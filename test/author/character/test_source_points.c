// Points of FBX and Collada files in their own order, from whole and from damaged files.
#include "helpers/support.h"

#include "character/source_points.h"

#include <unistd.h>
#include <zlib.h>

enum { POINTS = 5 };

static unsigned char bytes[4096];
static size_t size;

static const char* Path(const char* ending)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/source_points_%ld%s", JN_BINARY_DIR, (long)getpid(), ending);
    return path;
}

static void Put(const void* from, size_t count)
{
    memcpy(bytes + size, from, count);
    size += count;
}

static void PutNumber(uint64_t value, int width)
{
    for (int i = 0; i < width; ++i) {
        bytes[size++] = (unsigned char)(value >> (8 * i));
    }
}

static double Coordinate(int i)
{
    return 0.25 * i - 1;
}

// Begins a record; its end is set when it is known.
static size_t BeginRecord(const char* name, size_t properties, int width)
{
    size_t at = size;
    PutNumber(0, width);
    PutNumber(1, width);
    PutNumber(properties, width);
    PutNumber(strlen(name), 1);
    Put(name, strlen(name));
    return at;
}

static void EndRecord(size_t at, int width)
{
    for (int i = 0; i < width; ++i) {
        bytes[at + (size_t)i] = (unsigned char)(size >> (8 * i));
    }
}

static void WriteFbx(int version, bool deflated)
{
    int width = version >= 7500 ? 8 : 4;
    double numbers[3 * POINTS];
    unsigned char packed[512];
    uLongf length = sizeof(packed);
    for (int i = 0; i < 3 * POINTS; ++i) {
        numbers[i] = Coordinate(i);
    }
    compress(packed, &length, (const unsigned char*)numbers, sizeof(numbers));
    length = deflated ? length : sizeof(numbers);
    size = 0;
    Put("Kaydara FBX Binary  \0\x1a\0", 23);
    PutNumber((uint64_t)version, 4);
    size_t objects = BeginRecord("Objects", 0, width), geometry = BeginRecord("Geometry", 0, width);
    size_t vertices = BeginRecord("Vertices", 13 + length, width);
    PutNumber('d', 1);
    PutNumber(3 * POINTS, 4);
    PutNumber(deflated, 4);
    PutNumber(length, 4);
    Put(deflated ? (const void*)packed : (const void*)numbers, length);
    EndRecord(vertices, width);
    for (int i = 0; i < 3 * width + 1; ++i) {
        PutNumber(0, 1);
    }
    EndRecord(geometry, width);
    EndRecord(objects, width);
    FILE* file = fopen(Path(".fbx"), "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
}

// A channel of a morph target that rests at 0.375, and a deformer that is none.
static void WriteFbxChannels(int version)
{
    static const char* const kinds[] = {"Skin", "BlendShapeChannel"};
    int width = version >= 7500 ? 8 : 4;
    size = 0;
    Put("Kaydara FBX Binary  \0\x1a\0", 23);
    PutNumber((uint64_t)version, 4);
    size_t objects = BeginRecord("Objects", 0, width);
    for (int i = 0; i < 2; ++i) {
        double percent = 37.5;
        size_t deformer = BeginRecord("Deformer", 9 + 5 + 17 + 5 + strlen(kinds[i]), width);
        PutNumber('L', 1);
        PutNumber(7, 8);
        PutNumber('S', 1);
        PutNumber(17, 4);
        Put("smile\0\1SubDeforme", 17);
        PutNumber('S', 1);
        PutNumber(strlen(kinds[i]), 4);
        Put(kinds[i], strlen(kinds[i]));
        size_t value = BeginRecord("DeformPercent", 9, width);
        PutNumber('D', 1);
        Put(&percent, 8);
        EndRecord(value, width);
        for (int k = 0; k < 3 * width + 1; ++k) {
            PutNumber(0, 1);
        }
        EndRecord(deformer, width);
    }
    EndRecord(objects, width);
    FILE* file = fopen(Path(".fbx"), "wb");
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void WriteText(const char* path, const char* text)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void ExpectPoints(jnResult (*read)(const char*, jnaSourceMeshes*, jnError*), const char* path)
{
    jnaSourceMeshes list = {0};
    assert_int_equal(read(path, &list, NULL), jn_ok);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.meshes[0].count, POINTS);
    for (int i = 0; i < 3 * POINTS; ++i) {
        ASSERT_NEAR(list.meshes[0].points[i], Coordinate(i), 1e-7);
    }
    jnaDestroySourceMeshes(&list);
}

static void WeightsAtRestOfAnFbxAreRead(void** state)
{
    (void)state;
    for (int version = 7400; version <= 7700; version += 300) {
        jnaFbxWeights weights = {0};
        WriteFbxChannels(version);
        assert_int_equal(jnaReadFbxWeights(Path(".fbx"), &weights, NULL), jn_ok);
        assert_int_equal(weights.count, 1);
        assert_string_equal(weights.list[0].name, "smile");
        ASSERT_NEAR(weights.list[0].weight, 0.375, 1e-7);
        free(weights.list);
        for (size_t cut = 0; cut < size; ++cut) { // a file of any length
            weights = (jnaFbxWeights){0};
            assert_int_equal(truncate(Path(".fbx"), (off_t)(size - cut)), 0);
            (void)jnaReadFbxWeights(Path(".fbx"), &weights, NULL);
            free(weights.list);
        }
    }
    unlink(Path(".fbx"));
}

static void PointsOfAnFbxAreRead(void** state)
{
    (void)state;
    for (int i = 0; i < 4; ++i) {
        WriteFbx(i < 2 ? 7400 : 7700, i % 2 != 0);
        ExpectPoints(jnaReadFbxPoints, Path(".fbx"));
    }
    WriteText(Path(".fbx"),
        "; FBX 7.4.0 project file\nObjects: {\n Geometry: 1, \"Geometry::\", \"Mesh\" {\n"
        "  Vertices: *15 {\n   a: -1,-0.75,-0.5,-0.25,0,0.25,0.5,0.75,\n1,1.25,1.5,1.75,2,2.25,2.5\n"
        "  }\n }\n}\n");
    ExpectPoints(jnaReadFbxPoints, Path(".fbx"));
}

static void PointsOfAColladaFileAreRead(void** state)
{
    (void)state;
    WriteText(Path(".dae"),
        "<COLLADA><library_geometries><geometry id=\"g\"><mesh><source id=\"normals\"><float_array count=\"3\">0 0 1"
        "</float_array></source><source id=\"places\"><float_array id=\"places-array\" count=\"15\">\n-1 -0.75 -0.5 "
        "-0.25 0 "
        "0.25 0.5 0.75 1 1.25 1.5 1.75 2 2.25 2.5</float_array></source><vertices id=\"v\"><input "
        "semantic=\"POSITION\" "
        "source=\"#places\"/></vertices></mesh></geometry></library_geometries></COLLADA>");
    ExpectPoints(jnaReadColladaPoints, Path(".dae"));
    jnaSourceMeshes list = {0};
    WriteText(Path(".dae"),
        "<input semantic=\"POSITION\" source=\"#a\"/><source id=\"a\"><float_array count=\"9999999999\">");
    assert_int_equal(jnaReadColladaPoints(Path(".dae"), &list, NULL), jn_ok);
    assert_int_equal(list.count, 0);
    jnaDestroySourceMeshes(&list);
}

// Run under ASan: a damaged file gives other points or none.
static void DamageIsSafe(void** state)
{
    (void)state;
    for (int deflated = 0; deflated < 2; ++deflated) {
        WriteFbx(7400, deflated != 0);
        const char* path = Path(".fbx");
        for (size_t at = 0; at < size; ++at) {
            static const unsigned char flips[] = {0x01, 0x80, 0xff};
            for (size_t k = 0; k <= sizeof(flips); ++k) {
                FILE* file = fopen(path, "r+b");
                fseek(file, (long)at, SEEK_SET);
                fputc(bytes[at] ^ (k < sizeof(flips) ? flips[k] : 0), file);
                fclose(file);
                jnaSourceMeshes list = {0};
                (void)jnaReadFbxPoints(path, &list, NULL);
                jnaDestroySourceMeshes(&list);
            }
        }
        for (size_t length = size; length-- > 0;) {
            assert_int_equal(truncate(path, (off_t)length), 0);
            jnaSourceMeshes list = {0};
            (void)jnaReadFbxPoints(path, &list, NULL);
            jnaDestroySourceMeshes(&list);
        }
    }
}

static int Clean(void** state)
{
    (void)state;
    unlink(Path(".fbx"));
    unlink(Path(".dae"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PointsOfAnFbxAreRead),
        cmocka_unit_test(WeightsAtRestOfAnFbxAreRead),
        cmocka_unit_test(PointsOfAColladaFileAreRead),
        cmocka_unit_test(DamageIsSafe),
    };
    return cmocka_run_group_tests(tests, NULL, Clean);
}
