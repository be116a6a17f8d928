// PNG files, written with zlib: signature, head, one block of packed rows, end. A row is stored as differences from the
// pixel to the left (filter 1).
#include "base/arena.h"
#include "base/file.h"
#include "base/try.h"
#include "draw/picture.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEAD = 33, CHUNK = 12 }; // signature and first chunk; what a chunk is around its bytes

static void PutNumber(uint8_t* to, uint32_t value)
{
    for (int i = 0; i < 4; ++i) {
        to[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

// Length, name and checksum around bytes that are in their place.
static void CloseChunk(uint8_t* chunk, const char* name, uint32_t size)
{
    PutNumber(chunk, size);
    memcpy(chunk + 4, name, 4);
    PutNumber(chunk + 8 + size, (uint32_t)crc32(0, chunk + 4, size + 4));
}

static void FillRows(const jnaPicture* picture, uint8_t* rows)
{
    for (int y = 0; y < picture->height; ++y) {
        const uint8_t* in = picture->pixels + 4 * (size_t)y * (size_t)picture->width;
        *rows++ = 1;
        for (int x = 0; x < picture->width; ++x) {
            for (int k = 0; k < 3; ++k) {
                *rows++ = (uint8_t)(in[4 * x + k] - (x > 0 ? in[4 * x + k - 4] : 0));
            }
        }
    }
}

jnResult jnaPicture_Encode(const jnaPicture* picture, uint8_t** bytes, size_t* size, jnError* error)
{
    static const uint8_t signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    jnaArena arena = {0};
    size_t plain = (size_t)picture->height * (3 * (size_t)picture->width + 1);
    uLong packed = compressBound((uLong)plain);
    uint8_t* rows = jnaArena_Take(&arena, (int64_t)plain, 1);
    uint8_t* file = jnaArena_Give(&arena, (int64_t)packed + HEAD + 2 * CHUNK, 1);
    *bytes = NULL;
    *size = 0;
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "a picture's file", error));
    memcpy(file, signature, sizeof(signature));
    PutNumber(file + 16, (uint32_t)picture->width);
    PutNumber(file + 20, (uint32_t)picture->height);
    file[24] = 8; // bits
    file[25] = 2; // red, green, blue
    CloseChunk(file + 8, "IHDR", 13);
    FillRows(picture, rows);
    if (compress2(file + HEAD + 8, &packed, rows, (uLong)plain, 6) != Z_OK) {
        JN_TRY(
            jnFail(error, jn_outOfMemory, "out of memory for a picture of %d x %d", picture->width, picture->height));
    }
    CloseChunk(file + HEAD, "IDAT", (uint32_t)packed);
    CloseChunk(file + HEAD + CHUNK + packed, "IEND", 0);
    *bytes = file;
    *size = HEAD + 2 * CHUNK + packed;
done:
    if (result != jn_ok) {
        free(file);
    }
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaPicture_Write(const jnaPicture* picture, const char* path, jnError* error)
{
    uint8_t* bytes;
    size_t size;
    JN_PASS(jnaPicture_Encode(picture, &bytes, &size, error));
    jnResult result = jnaWriteBytes(path, bytes, size, error);
    free(bytes);
    return result;
}
