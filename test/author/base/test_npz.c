// Arrays out of .npz files, as numpy.savez and numpy.savez_compressed write them, whole and damaged.
#include "helpers/support.h"

#include "base/npy.h"

#include <unistd.h>
#include <zlib.h>

enum { MAX_BYTES = 65536 };

static char path[256];
static unsigned char file[MAX_BYTES], directory[MAX_BYTES];
static size_t fileSize, directorySize, memberCount;

static void Put(unsigned char* bytes, size_t* size, uint64_t value, int width)
{
    for (int i = 0; i < width; ++i) {
        bytes[(*size)++] = (unsigned char)(value >> (8 * i));
    }
}

static void PutBytes(unsigned char* bytes, size_t* size, const void* from, size_t count)
{
    memcpy(bytes + *size, from, count);
    *size += count;
}

static void Begin(void)
{
    fileSize = directorySize = memberCount = 0;
}

// The fields that a local header and an entry of the directory share.
static void PutCommon(unsigned char* to, size_t* size, bool deflated, const unsigned long* numbers, const char* name)
{
    Put(to, size, 45, 2);
    Put(to, size, 0, 2);
    Put(to, size, deflated ? 8 : 0, 2);
    Put(to, size, 0, 4);
    for (int i = 0; i < 3; ++i) {
        Put(to, size, numbers[i], 4); // checksum, stored, size
    }
    Put(to, size, strlen(name), 2);
}

static void AddMember(const char* name, bool deflated, const void* bytes, size_t size)
{
    static unsigned char packed[MAX_BYTES];
    size_t offset = fileSize, stored = size;
    memcpy(packed, bytes, size);
    if (deflated) {
        z_stream stream = {0};
        deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        stream.next_in = (unsigned char*)(uintptr_t)bytes;
        stream.avail_in = (uInt)size;
        stream.next_out = packed;
        stream.avail_out = sizeof(packed);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        stored = stream.total_out;
        deflateEnd(&stream);
    }
    const unsigned long numbers[3] = {crc32(0, bytes, (uInt)size), stored, size};
    Put(file, &fileSize, 0x04034b50, 4);
    PutCommon(file, &fileSize, deflated, numbers, name);
    Put(file, &fileSize, 4, 2); // an extra field, which numpy always writes
    PutBytes(file, &fileSize, name, strlen(name));
    Put(file, &fileSize, 0x9999, 4);
    PutBytes(file, &fileSize, packed, stored);
    Put(directory, &directorySize, 0x02014b50, 4);
    Put(directory, &directorySize, 45, 2);
    PutCommon(directory, &directorySize, deflated, numbers, name);
    Put(directory, &directorySize, 0, 2 + 2 + 2 + 2);
    Put(directory, &directorySize, 0, 4);
    Put(directory, &directorySize, offset, 4);
    PutBytes(directory, &directorySize, name, strlen(name));
    memberCount++;
}

static void WriteBytes(const void* bytes, size_t size)
{
    FILE* out = fopen(path, "wb");
    assert_non_null(out);
    fwrite(bytes, 1, size, out);
    fclose(out);
}

static void End(void)
{
    size_t offset = fileSize;
    PutBytes(file, &fileSize, directory, directorySize);
    Put(file, &fileSize, 0x06054b50, 4);
    Put(file, &fileSize, 0, 4);
    Put(file, &fileSize, memberCount, 2);
    Put(file, &fileSize, memberCount, 2);
    Put(file, &fileSize, directorySize, 4);
    Put(file, &fileSize, offset, 4);
    Put(file, &fileSize, 0, 2);
    WriteBytes(file, fileSize);
}

// A .npy file of count floats, first, first + 1 and so on, in memory.
static size_t MakeNpy(unsigned char* bytes, int count, float first)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }\n", count);
    size_t size = 0;
    PutBytes(bytes, &size, "\x93NUMPY\x01\x00", 8);
    Put(bytes, &size, (uint64_t)length, 2);
    PutBytes(bytes, &size, text, (size_t)length);
    for (int i = 0; i < count; ++i) {
        float value = first + (float)i;
        PutBytes(bytes, &size, &value, sizeof(value));
    }
    return size;
}

static void WriteTwo(bool deflated)
{
    unsigned char npy[4096];
    Begin();
    AddMember("rest.npy", deflated, npy, MakeNpy(npy, 10, 5));
    AddMember("positions.npy", deflated, npy, MakeNpy(npy, 500, 100));
    End();
}

static void AnArrayIsFoundByItsName(void** state)
{
    (void)state;
    for (int deflated = 0; deflated < 2; ++deflated) {
        WriteTwo(deflated != 0);
        jnaArray array;
        jnError error = {0};
        assert_int_equal(jnaOpenArrayIn(path, "positions", &array, &error), jn_ok);
        assert_int_equal(array.count, 500);
        ASSERT_NEAR(jnaArray_Get(&array, 499), 599, 0);
        jnaCloseArray(&array);
        assert_int_equal(jnaOpenArrayIn(path, "rest", &array, &error), jn_ok);
        ASSERT_NEAR(jnaArray_Get(&array, 0), 5, 0);
        jnaCloseArray(&array);
    }
}

static void AWrongOrMissingNameListsWhatThereIs(void** state)
{
    (void)state;
    jnaArray array;
    jnError error = {0};
    WriteTwo(true);
    assert_int_equal(jnaOpenArrayIn(path, "points", &array, &error), jn_badData);
    assert_non_null(strstr(error.message, "has no array 'points'; it has rest, positions"));
    assert_int_equal(jnaOpenArrayIn(path, "", &array, &error), jn_badData);
    assert_non_null(strstr(error.message, "holds several arrays, rest, positions; name one"));
    unsigned char npy[256];
    Begin();
    AddMember("arr_0.npy", false, npy, MakeNpy(npy, 3, 1));
    End();
    assert_int_equal(jnaOpenArrayIn(path, "", &array, &error), jn_ok);
    assert_int_equal(array.count, 3);
    jnaCloseArray(&array);
}

// One byte of the file as it is: to write it anew ten thousand times would be a test of the disk.
static void StoreByte(size_t at, unsigned char byte)
{
    FILE* out = fopen(path, "r+b");
    assert_non_null(out);
    assert_int_equal(fseek(out, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, out), byte);
    fclose(out);
}

// Every length and every byte changed: an error with a sentence, or the array that was written. Run under ASan.
static void DamageIsRefused(void** state)
{
    (void)state;
    for (int deflated = 0; deflated < 2; ++deflated) {
        WriteTwo(deflated != 0);
        jnaArray array;
        for (size_t at = 0; at < fileSize; ++at) {
            jnError error = {0};
            StoreByte(at, file[at] ^ (unsigned char)(1 + at % 255));
            if (jnaOpenArrayIn(path, "positions", &array, &error) == jn_ok) {
                ASSERT_NEAR(jnaArray_Get(&array, 499), 599, 0);
                jnaCloseArray(&array);
            } else {
                assert_true(strlen(error.message) > 10);
            }
            StoreByte(at, file[at]);
        }
        for (size_t length = fileSize; length-- > 0;) {
            jnError error = {0};
            assert_int_equal(truncate(path, (off_t)length), 0);
            assert_int_not_equal(jnaOpenArrayIn(path, "positions", &array, &error), jn_ok);
            assert_true(strlen(error.message) > 10);
        }
    }
}

static int MakeName(void** state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/test_npz_%ld.npz", JN_BINARY_DIR, (long)getpid());
    return 0;
}

static int RemoveFile(void** state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnArrayIsFoundByItsName),
        cmocka_unit_test(AWrongOrMissingNameListsWhatThereIs),
        cmocka_unit_test(DamageIsRefused),
    };
    return cmocka_run_group_tests(tests, MakeName, RemoveFile);
}
