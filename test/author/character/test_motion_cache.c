// Vertex caches as motion: what is written is read, in any vertex order; other surfaces, cut and damaged files are
// refused.
#include "base/npy.h"
#include "character/import.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

// A small fan of triangles; the last point is split in two by the file.
enum { POINTS = 6, FILE_POINTS = 7, FRAMES = 5, TRIANGLES = 4 };

static const float rest[POINTS][3] = {
    {0, 0, 0}, {1, 0, 0.1F}, {0.8F, 0.9F, 0}, {0, 1, 0.3F}, {-0.7F, 0.6F, 0.4F}, {-1, -0.2F, 0}};

static jnaCharacter MakeCharacter(void)
{
    jnaCharacter c = {
        .vertexCount = POINTS, .fileVertexCount = FILE_POINTS, .triangleCount = TRIANGLES, .jointCount = 1};
    assert_int_equal(jnaCharacter_Allocate(&c, false, NULL), jn_ok);
    const int32_t weld[FILE_POINTS] = {0, 1, 2, 3, 4, 5, 5};
    memcpy(c.weld, weld, sizeof(weld));
    memcpy(c.positions, rest, sizeof(rest));
    for (int t = 0; t < TRIANGLES; ++t) {
        const int32_t triangle[3] = {0, t + 1, t + 2};
        memcpy(c.triangles + 3 * t, triangle, sizeof(triangle));
    }
    return c;
}

static float Value(int frame, int point, int axis)
{
    // Both copies of the split point lie a little to either side of it.
    float seam = point == 5 ? -2e-6F : point == 6 ? 2e-6F : 0;
    return 2 * (rest[point < POINTS ? point : POINTS - 1][axis] + 0.01F * (float)(frame * (axis + 1)) + seam);
}

static const char* Path(const char* ending)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/motion_%ld%s", JN_BINARY_DIR, (long)getpid(), ending);
    return path;
}

static void Put32(FILE* file, const void* value, bool bigEndian)
{
    unsigned char b[4];
    memcpy(b, value, 4);
    for (int i = 0; i < 4; ++i) {
        fputc(b[bigEndian ? 3 - i : i], file);
    }
}

static void PutFrames(FILE* file, int points, bool bigEndian)
{
    for (int f = 0; f < FRAMES; ++f) {
        for (int i = 0; i < 3 * points; ++i) {
            float value = Value(f, i / 3, i % 3);
            Put32(file, &value, bigEndian);
        }
    }
}

static const char* WritePc2(int points)
{
    const char* path = Path(".pc2");
    FILE* file = fopen(path, "wb");
    int32_t version = 1, frames = FRAMES;
    float start = 0, step = 1;
    fwrite("POINTCACHE2", 1, 12, file);
    Put32(file, &version, false);
    Put32(file, &points, false);
    Put32(file, &start, false);
    Put32(file, &step, false);
    Put32(file, &frames, false);
    PutFrames(file, points, false);
    fclose(file);
    return path;
}

static const char* WriteMdd(int points)
{
    const char* path = Path(".mdd");
    FILE* file = fopen(path, "wb");
    int32_t frames = FRAMES;
    Put32(file, &frames, true);
    Put32(file, &points, true);
    for (int f = 0; f < FRAMES; ++f) {
        float time = (float)f / 24;
        Put32(file, &time, true);
    }
    PutFrames(file, points, true);
    fclose(file);
    return path;
}

static const char* WriteNpy(int points)
{
    const char* path = Path(".npy");
    double values[FRAMES * FILE_POINTS * 3];
    for (int i = 0; i < FRAMES * points * 3; ++i) {
        values[i] = (double)Value(i / (3 * points), i / 3 % points, i % 3);
    }
    size_t shape[3] = {FRAMES, (size_t)points, 3};
    assert_int_equal(jnaWriteArray(path, jna_float64, 3, shape, values, NULL), jn_ok);
    return path;
}

static void CheckMotion(const char* path)
{
    jnaCharacter c = MakeCharacter();
    jnError error = {0};
    jnaMotion motion;
    if (jnaReadMotion(path, &c, NULL, 0.5, &motion, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(motion.frameCount, FRAMES);
    assert_int_equal(motion.vertexCount, POINTS);
    for (int f = 0; f < FRAMES; ++f) {
        for (int i = 0; i < 3 * POINTS; ++i) {
            assert_true(fabsf(motion.positions[f * 3 * POINTS + i] - 0.5F * Value(f, i / 3, i % 3)) < 5e-6F);
        }
    }
    jnaDestroyMotion(&motion);
    jnaDestroyCharacter(&c);
}

static const char* (*const writers[])(int) = {WritePc2, WriteMdd, WriteNpy};

static void WeldedAndFileOrderAreBothRead(void** state)
{
    (void)state;
    for (int w = 0; w < 3; ++w) {
        CheckMotion(writers[w](POINTS));
        CheckMotion(writers[w](FILE_POINTS));
    }
}

static void TheRateOfAnMddIsFound(void** state)
{
    (void)state;
    jnaCharacter c = MakeCharacter();
    jnaMotion motion;
    assert_int_equal(jnaReadMotion(WriteMdd(POINTS), &c, NULL, 0.5, &motion, NULL, NULL), jn_ok);
    assert_true(fabs(motion.rate - 24) < 1e-3);
    jnaDestroyMotion(&motion);
    jnaDestroyCharacter(&c);
}

static void EveryCutIsRefused(void** state)
{
    (void)state;
    jnaCharacter c = MakeCharacter();
    for (int w = 0; w < 3; ++w) {
        const char* path = writers[w](FILE_POINTS);
        FILE* file = fopen(path, "rb");
        static char bytes[65536];
        size_t size = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        for (size_t length = 0; length < size + 4; length += 3) {
            if (length == size) {
                continue;
            }
            file = fopen(path, "wb");
            fwrite(bytes, 1, length, file);
            fclose(file);
            jnError error = {0};
            jnaMotion motion;
            assert_int_not_equal(jnaReadMotion(path, &c, NULL, 0.5, &motion, NULL, &error), jn_ok);
            assert_int_not_equal(strlen(error.message), 0);
        }
    }
    jnaDestroyCharacter(&c);
}

static void HugeCountsAndNanAreRefused(void** state)
{
    (void)state;
    jnaCharacter c = MakeCharacter();
    jnError error = {0};
    jnaMotion motion;
    const char* path = WriteMdd(POINTS);
    FILE* file = fopen(path, "r+b");
    fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, file);
    fclose(file);
    assert_int_equal(jnaReadMotion(path, &c, NULL, 0.5, &motion, NULL, &error), jn_badData);
    path = WritePc2(POINTS);
    file = fopen(path, "r+b");
    fseek(file, 32 + 4 * (3 * POINTS + 5), SEEK_SET);
    fwrite("\xff\xff\xff\xff", 1, 4, file);
    fclose(file);
    assert_int_equal(jnaReadMotion(path, &c, NULL, 0.5, &motion, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "frame 1: the position of vertex 1"));
    jnaDestroyCharacter(&c);
}

static void AnotherSurfaceIsRefused(void** state)
{
    (void)state;
    jnaCharacter c = MakeCharacter();
    c.positions[3 * 4] += 1.2F;
    jnError error = {0};
    jnaMotion motion;
    assert_int_equal(jnaReadMotion(WritePc2(POINTS), &c, NULL, 0.5, &motion, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "m from the character's surface on average"));
    assert_int_equal(jnaReadMotion("motion.fbx", &c, NULL, 1, &motion, NULL, &error), jn_badData);
    assert_int_equal(jnaReadMotion(Path(".absent.pc2"), &c, NULL, 1, &motion, NULL, &error), jn_ioFailed);
    jnaDestroyCharacter(&c);
}

// The points lie on the rest surface, so they are found; but the clip begins somewhere else.
static void AMotionThatBeginsFarFromItsClipIsRefused(void** state)
{
    (void)state;
    jnaCharacter c = MakeCharacter();
    c.joints[0] = (jnaJoint){.parent = -1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    c.joints[0].inverseBind[0] = c.joints[0].inverseBind[5] = c.joints[0].inverseBind[10] = 1;
    for (int v = 0; v < POINTS; ++v) {
        c.influences[v].weights[0] = 1;
    }
    jnaClip clip = {.name = "walk", .rate = 30, .frameCount = 1, .jointCount = 1};
    assert_int_equal(jnaClip_Allocate(&clip, false, NULL), jn_ok);
    clip.rotations[3] = 1;
    jnError error = {0};
    jnaNotes notes = {0};
    jnaMotion motion;
    assert_int_equal(jnaReadMotion(WritePc2(POINTS), &c, &clip, 0.5, &motion, &notes, &error), jn_ok);
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.lines[0], "motion of 'walk': 6 points for 6 vertices by position"));
    jnaDestroyMotion(&motion);
    jnaDestroyNotes(&notes);
    clip.translations[0] = 1;
    assert_int_equal(jnaReadMotion(WritePc2(POINTS), &c, &clip, 0.5, &motion, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "begins 1 m from the skinned surface of the first frame of 'walk'"));
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&c);
}

static int Clean(void** state)
{
    (void)state;
    unlink(Path(".pc2"));
    unlink(Path(".mdd"));
    unlink(Path(".npy"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WeldedAndFileOrderAreBothRead),
        cmocka_unit_test(TheRateOfAnMddIsFound),
        cmocka_unit_test(EveryCutIsRefused),
        cmocka_unit_test(HugeCountsAndNanAreRefused),
        cmocka_unit_test(AnotherSurfaceIsRefused),
        cmocka_unit_test(AMotionThatBeginsFarFromItsClipIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, Clean);
}
