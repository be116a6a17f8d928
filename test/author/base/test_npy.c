// The .npy reader against files of every kind of damage, and the atomic writer.
#include "helpers/support.h"

#include "base/npy.h"

#include <sys/stat.h>
#include <unistd.h>

static char path[256];

static int MakeName(void** state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/test_npy_%ld.npy", JN_BINARY_DIR, (long)getpid());
    return 0;
}

static int RemoveFile(void** state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void WriteBytes(const void* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

// One byte of the file as it is: to write it anew ten thousand times would be a test of the disk.
static void WriteByte(size_t at, unsigned char byte)
{
    FILE* file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    fclose(file);
}

static size_t ReadBytes(unsigned char* bytes, size_t size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void WhatIsWrittenIsReadBack(void** state)
{
    (void)state;
    float data[24];
    for (int i = 0; i < 24; ++i) {
        data[i] = (float)i * 0.37f;
    }
    for (int dimensions = 0; dimensions <= 4; ++dimensions) {
        size_t shape[4] = {2, 3, 4, 1}, count = 1;
        for (int i = 0; i < dimensions; ++i) {
            count *= shape[i];
        }
        assert_int_equal(jnaWriteArray(path, jna_float32, dimensions, shape, data, NULL), jn_ok);
        jnaArray array;
        assert_int_equal(jnaOpenArray(path, &array, NULL), jn_ok);
        assert_int_equal(array.dimensions, dimensions);
        assert_int_equal(array.count, count);
        assert_memory_equal(array.data, data, count * sizeof(float));
        assert_int_equal((uintptr_t)array.data % 64, 0);
        jnaCloseArray(&array);
    }
}

// As numpy.save writes them, and as others do: version 2, other order of keys, unaligned data.
static void OtherWritersFilesAreRead(void** state)
{
    (void)state;
    unsigned char bytes[512];
    static const char text[] = "{\"shape\": (2,3), 'fortran_order':False,'descr' : '<f8'}\n";
    size_t length = sizeof(text) - 1;
    double data[6] = {1, 2, 3, 4, 5, 6};
    for (int version = 1; version <= 3; ++version) {
        size_t start = version == 1 ? 10 : 12;
        memcpy(bytes, "\x93NUMPY", 6);
        bytes[6] = (unsigned char)version;
        bytes[7] = 0;
        bytes[8] = (unsigned char)length;
        bytes[9] = bytes[10] = bytes[11] = 0;
        memcpy(bytes + start, text, length);
        memcpy(bytes + start + length, data, sizeof(data));
        WriteBytes(bytes, start + length + sizeof(data));
        jnaArray array;
        jnError error = {0};
        if (jnaOpenArray(path, &array, &error) != jn_ok) {
            fail_msg("%s", error.message);
        }
        assert_int_equal(array.shape[1], 3);
        ASSERT_NEAR(jnaArray_Get(&array, 5), 6, 0);
        jnaCloseArray(&array);
    }
}

// numpy.save(numpy.asfortranarray(x)): the first index counts fastest.
static void FortranOrderIsReadAsCOrder(void** state)
{
    (void)state;
    unsigned char bytes[512] = "\x93NUMPY\x01";
    static const char text[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }   \n";
    float data[24];
    bytes[8] = sizeof(text) - 1;
    memcpy(bytes + 10, text, sizeof(text) - 1);
    for (int i = 0; i < 24; ++i) {
        // Element (i, j, k) holds 100 i + 10 j + k.
        data[i] = (float)(100 * (i % 2) + 10 * (i / 2 % 3) + i / 6);
    }
    memcpy(bytes + 10 + sizeof(text) - 1, data, sizeof(data));
    WriteBytes(bytes, 10 + sizeof(text) - 1 + sizeof(data));
    jnaArray array;
    assert_int_equal(jnaOpenArray(path, &array, NULL), jn_ok);
    assert_int_equal(array.shape[0], 2);
    for (size_t i = 0; i < 24; ++i) {
        ASSERT_NEAR(jnaArray_Get(&array, i), 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4, 0);
    }
    jnaCloseArray(&array);
}

// Every length: an error with a sentence, or (only the whole file) the array. Run under ASan.
static void AFileCutAnywhereIsRefused(void** state)
{
    (void)state;
    float data[30] = {0};
    size_t shape[3] = {5, 2, 3};
    unsigned char bytes[1024];
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, data, NULL), jn_ok);
    size_t size = ReadBytes(bytes, sizeof(bytes));
    for (size_t length = 0; length <= size + 1; ++length) {
        WriteBytes(bytes, length);
        jnaArray array;
        jnError error = {0};
        jnResult result = jnaOpenArray(path, &array, &error);
        assert_int_equal(result == jn_ok, length == size);
        assert_true(result == jn_ok || strlen(error.message) > 10);
        jnaCloseArray(&array);
    }
}

// Every byte of the header replaced by every value: never a crash, never data outside the file.
static void AHeaderWithAnyByteFlippedIsSafe(void** state)
{
    (void)state;
    float data[30] = {0};
    size_t shape[3] = {5, 2, 3};
    unsigned char bytes[1024];
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, data, NULL), jn_ok);
    size_t size = ReadBytes(bytes, sizeof(bytes));
    int accepted = 0;
    for (size_t at = 0; at < 128; ++at) {
        for (int value = 0; value < 256; value += at < 12 ? 1 : 3) {
            WriteByte(at, (unsigned char)value);
            jnaArray array;
            jnError error = {0};
            if (jnaOpenArray(path, &array, &error) == jn_ok) {
                accepted++;
                volatile double sum = 0;
                for (size_t i = 0; array.scalar <= jna_float64 && i < array.count; ++i) {
                    sum = sum + jnaArray_Get(&array, i);
                }
                assert_true(array.count * jnaScalarSize(array.scalar) <= size);
            } else {
                assert_true(strlen(error.message) > 10);
            }
            jnaCloseArray(&array);
        }
        WriteByte(at, bytes[at]);
    }
    assert_true(accepted > 0);
}

static void AShapeThatOverflowsIsRefused(void** state)
{
    (void)state;
    static const char* const shapes[] = {"(4294967296, 4294967296, 3)", "(99999999999999999999999, 1, 3)",
        "(1, 2, 3, 4, 5)", "(-1, 2)", "(2 2)",
        "(18446744073709551616,)"}; // the last would be 0, which no data are enough for
    for (int i = 0; i < 6; ++i) {
        char bytes[256] = "\x93NUMPY\x01";
        int length = snprintf(bytes + 10, 200, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n", shapes[i]);
        bytes[8] = (char)length;
        WriteBytes(bytes, 10 + (size_t)length);
        jnaArray array;
        jnError error;
        assert_int_equal(jnaOpenArray(path, &array, &error), jn_badData);
        assert_true((strstr(error.message, "more than 4 dimensions") != NULL) == (i == 2));
    }
}

static void AHeaderThatEndsBehindTheFileIsNotRead(void** state)
{
    (void)state;
    for (int length = 1; length < 12; ++length) {
        char bytes[10] = "\x93NUMPY\x01";
        bytes[8] = (char)length;
        WriteBytes(bytes, sizeof(bytes));
        jnaArray array;
        jnError error;
        assert_int_equal(jnaOpenArray(path, &array, &error), jn_badData);
        assert_non_null(strstr(error.message, "cut off inside its header"));
    }
}

static void AnAbandonedFileLeavesTheOldOne(void** state)
{
    (void)state;
    float one = 1;
    size_t shape[1] = {1};
    assert_int_equal(jnaWriteArray(path, jna_float32, 1, shape, &one, NULL), jn_ok);
    jnaFile file;
    assert_int_equal(jnaCreateFile(path, &file, NULL), jn_ok);
    fputs("half a file", file.stream);
    fflush(file.stream);
    char temporary[300];
    snprintf(temporary, sizeof(temporary), "%s", file.temporaryPath);
    jnaFile_Abandon(&file);
    assert_int_equal(access(temporary, F_OK), -1);
    jnaArray array;
    assert_int_equal(jnaOpenArray(path, &array, NULL), jn_ok);
    ASSERT_NEAR(jnaArray_Get(&array, 0), 1, 0);
    jnaCloseArray(&array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsWrittenIsReadBack),
        cmocka_unit_test(OtherWritersFilesAreRead),
        cmocka_unit_test(FortranOrderIsReadAsCOrder),
        cmocka_unit_test(AFileCutAnywhereIsRefused),
        cmocka_unit_test(AHeaderWithAnyByteFlippedIsSafe),
        cmocka_unit_test(AShapeThatOverflowsIsRefused),
        cmocka_unit_test(AHeaderThatEndsBehindTheFileIsNotRead),
        cmocka_unit_test(AnAbandonedFileLeavesTheOldOne),
    };
    return cmocka_run_group_tests(tests, MakeName, RemoveFile);
}
