// Control points of the meshes in an FBX file of version 7, binary or ASCII.
//
// Binary: records of end offset, number and length of properties, name; properties; nested records; an array is a
// count, an encoding (1: deflated) and bytes. Every record named `Vertices` with an array of doubles or floats is the
// points of a mesh or a shape. Offsets and lengths are checked against the file; depth and sizes are bounded.
#include "base/mapped_file.h"
#include "base/try.h"
#include "character/source_points.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <zlib.h>

enum { HEADER = 27, MAX_DEPTH = 16, MAX_MESHES = 65536, LARGEST_RATIO = 1040, WIDE_VERSION = 7500 };
static const char magic[] = "Kaydara FBX Binary  ";

typedef struct Reading {
    const char* path;
    const unsigned char* bytes;
    size_t size;
    bool wide; // 64-bit offsets
    jnaSourceMeshes* list;
    jnError* error;
} Reading;

// Numbers of an array as floats; false where memory is short.
static bool AddNumbers(Reading* r, const unsigned char* numbers, size_t count, size_t width)
{
    float* points = malloc(count * sizeof(float) + 1);
    if (points == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        if (width == 8) {
            double value;
            memcpy(&value, numbers + 8 * i, sizeof(value));
            points[i] = (float)value;
        } else {
            memcpy(&points[i], numbers + 4 * i, sizeof(float));
        }
    }
    return jnaSourceMeshes_Add(r->list, points, count / 3);
}

// The array property of a `Vertices` record; anything else is passed over.
static bool ReadVertices(Reading* r, const unsigned char* property, size_t size)
{
    if (size < 13 || (property[0] != 'd' && property[0] != 'f') || r->list->count >= MAX_MESHES) {
        return true;
    }
    size_t width = property[0] == 'd' ? 8 : 4;
    size_t count = (size_t)jnaLoadLittle(property + 1, 4), encoding = (size_t)jnaLoadLittle(property + 5, 4);
    size_t stored = (size_t)jnaLoadLittle(property + 9, 4);
    if (count % 3 != 0 || stored > size - 13 || count > INT32_MAX / 16) {
        return true;
    }
    if (encoding == 0) {
        return stored != count * width || AddNumbers(r, property + 13, count, width);
    }
    if (count * width / LARGEST_RATIO > stored) {
        return true;
    }
    uLongf length = (uLongf)(count * width);
    unsigned char* numbers = malloc(length + 1);
    if (numbers == NULL) {
        return false;
    }
    bool good = true;
    if (uncompress(numbers, &length, property + 13, (uLong)stored) == Z_OK && length == count * width) {
        good = AddNumbers(r, numbers, count, width);
    }
    free(numbers);
    return good;
}

static bool ReadRecords(Reading* r, size_t at, size_t end, int depth)
{
    size_t width = r->wide ? 8 : 4, head = 3 * width + 1;
    while (at <= end && end - at >= head) {
        uint64_t next = jnaLoadLittle(r->bytes + at, (int)width);
        uint64_t length = jnaLoadLittle(r->bytes + at + 2 * width, (int)width);
        size_t name = r->bytes[at + 3 * width];
        if (next == 0) {
            return true; // the empty record that ends a list
        }
        if (next > end || next <= at || next - at < head + name || length > next - at - head - name) {
            return true; // damaged: what was found until here is what there is
        }
        const unsigned char* property = r->bytes + at + head + name;
        bool vertices = name == 8 && memcmp(property - name, "Vertices", 8) == 0;
        if (vertices && !ReadVertices(r, property, (size_t)length)) {
            return false;
        }
        size_t nested = at + head + name + (size_t)length;
        if (depth < MAX_DEPTH && !ReadRecords(r, nested, (size_t)next, depth + 1)) {
            return false;
        }
        at = (size_t)next;
    }
    return true;
}

// ASCII: `Vertices: *24 {` and `a: 1,2,3,...`. The text is terminated.
static bool ReadText(Reading* r, const char* text)
{
    for (const char* at = strstr(text, "Vertices: *"); at != NULL && r->list->count < MAX_MESHES;
         at = strstr(at, "Vertices: *")) {
        char* after;
        unsigned long count = strtoul(at + strlen("Vertices: *"), &after, 10);
        at = after;
        const char* list = strstr(at, "a:");
        // A number takes two bytes of text at least.
        if (list == NULL || count % 3 != 0 || count == 0 || count > r->size / 2) {
            continue;
        }
        float* points = malloc(count * sizeof(float));
        if (points == NULL) {
            return false;
        }
        const char* number = list + 2;
        for (unsigned long i = 0; i < count; ++i) {
            points[i] = strtof(number, &after);
            number = *after == ',' ? after + 1 : after;
        }
        if (!jnaSourceMeshes_Add(r->list, points, count / 3)) {
            return false;
        }
    }
    return true;
}

static bool ReadAscii(Reading* r)
{
    char* text = malloc(r->size + 1);
    if (text == NULL) {
        return false;
    }
    memcpy(text, r->bytes, r->size);
    text[r->size] = '\0';
    bool good = ReadText(r, text);
    free(text);
    return good;
}

jnResult jnaReadFbxPoints(const char* path, jnaSourceMeshes* list, jnError* error)
{
    jnResult result = jn_ok;
    jnaMappedFile file = {0};
    JN_TRY(jnaMapFile(path, &file, error));
    Reading r = {.path = path, .bytes = file.bytes, .size = file.size, .list = list, .error = error};
    bool good = true;
    if (file.size > HEADER && memcmp(file.bytes, magic, sizeof(magic) - 1) == 0) {
        r.wide = jnaLoadLittle(file.bytes + 23, 4) >= WIDE_VERSION;
        good = ReadRecords(&r, HEADER, file.size, 0);
    } else if (file.size > 0) {
        good = ReadAscii(&r);
    }
    result = good ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
done:
    jnaUnmapFile(&file);
    return result;
}
