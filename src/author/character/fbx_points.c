// What Assimp does not tell of an FBX file of version 7, binary or ASCII: the control points of its meshes, and the
// weights at rest of its morph targets.
//
// Binary: records of end offset, number and length of properties, name; properties; nested records; an array is a
// count, an encoding (1: deflated) and bytes. Every record named `Vertices` with an array of doubles or floats is the
// points of a mesh or a shape; a record `Deformer` with the class BlendShapeChannel has a record `DeformPercent`.
// Offsets and lengths are checked against the file; depth and sizes are bounded.
#include "base/arena.h"
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
    bool wide;                     // 64-bit offsets
    jnaSourceMeshes* list;         // NULL: weights are wanted
    jnaFbxWeights* weights;        // NULL: points are wanted
    char channel[JNA_NAME_LENGTH]; // that the records at hand are of; "": of none
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

static bool AddWeight(Reading* r, const char* name, double percent)
{
    jnaFbxWeights* w = r->weights;
    if (!isfinite(percent) || w->count >= MAX_MESHES) {
        return true;
    }
    if (!jnaReserve(&w->list, &w->capacity, w->count + 1, sizeof(*w->list))) {
        return false;
    }
    snprintf(w->list[w->count].name, sizeof(w->list[0].name), "%s", name);
    w->list[w->count++].weight = (float)(percent / 100);
    return true;
}

// The name of a channel from the properties of a Deformer, number, name and class; "" where it is none.
static void ReadChannel(Reading* r, const unsigned char* property, size_t size)
{
    static const char kind[] = "BlendShapeChannel";
    r->channel[0] = '\0';
    if (size < 9 + 5 || property[0] != 'L' || property[9] != 'S') {
        return;
    }
    size_t length = (size_t)jnaLoadLittle(property + 10, 4);
    if (length > size - 14 || size - 14 - length < 5 + sizeof(kind) - 1 ||
        memcmp(property + 14 + length + 5, kind, sizeof(kind) - 1) != 0) {
        return;
    }
    snprintf(r->channel, sizeof(r->channel), "%.*s", (int)(length < 1024 ? length : 1024), (const char*)property + 14);
}

// What a record has for us; false where memory is short.
static bool ReadRecord(Reading* r, const char* name, size_t nameLength, const unsigned char* property, size_t size)
{
    if (r->list != NULL) {
        return nameLength != 8 || memcmp(name, "Vertices", 8) != 0 || ReadVertices(r, property, size);
    }
    if (nameLength == 8 && memcmp(name, "Deformer", 8) == 0) {
        ReadChannel(r, property, size);
    }
    bool percent = nameLength == 13 && memcmp(name, "DeformPercent", 13) == 0 && size >= 9 && property[0] == 'D';
    if (percent && r->channel[0] != '\0') {
        double value;
        memcpy(&value, property + 1, sizeof(value));
        return AddWeight(r, r->channel, value);
    }
    return true;
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
        if (!ReadRecord(r, (const char*)property - name, name, property, (size_t)length)) {
            return false;
        }
        size_t nested = at + head + name + (size_t)length;
        if (depth < MAX_DEPTH && !ReadRecords(r, nested, (size_t)next, depth + 1)) {
            return false;
        }
        if (name == 8 && memcmp(property - name, "Deformer", 8) == 0) {
            r->channel[0] = '\0'; // its records end here
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

// ASCII: `Deformer: 12, "SubDeformer::smile", "BlendShapeChannel" {`, then `DeformPercent: 50`.
static bool ReadTextWeights(Reading* r, const char* text)
{
    static const char kind[] = "\", \"BlendShapeChannel\"", title[] = "\"SubDeformer::";
    for (const char* at = strstr(text, kind); at != NULL; at = strstr(at + 1, kind)) {
        const char *next = strstr(at + 1, kind), *percent = strstr(at, "DeformPercent:"), *name = at;
        while (name > text && *name != '\n' && strncmp(name, title, sizeof(title) - 1) != 0) {
            --name;
        }
        if (percent == NULL || (next != NULL && percent > next) || strncmp(name, title, sizeof(title) - 1) != 0) {
            continue;
        }
        name += sizeof(title) - 1;
        snprintf(r->channel, sizeof(r->channel), "%.*s", (int)(at - name), name);
        if (!AddWeight(r, r->channel, strtod(percent + strlen("DeformPercent:"), NULL))) {
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
    bool good = r->list != NULL ? ReadText(r, text) : ReadTextWeights(r, text);
    free(text);
    return good;
}

static jnResult ReadFile(Reading* r)
{
    const char* path = r->path;
    jnError* error = r->error;
    jnResult result = jn_ok;
    jnaMappedFile file = {0};
    JN_TRY(jnaMapFile(path, &file, error));
    r->bytes = file.bytes;
    r->size = file.size;
    bool good = true;
    if (file.size > HEADER && memcmp(file.bytes, magic, sizeof(magic) - 1) == 0) {
        r->wide = jnaLoadLittle(file.bytes + 23, 4) >= WIDE_VERSION;
        good = ReadRecords(r, HEADER, file.size, 0);
    } else if (file.size > 0) {
        good = ReadAscii(r);
    }
    result = good ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
done:
    jnaUnmapFile(&file);
    return result;
}

jnResult jnaReadFbxPoints(const char* path, jnaSourceMeshes* list, jnError* error)
{
    return ReadFile(&(Reading){.path = path, .list = list, .error = error});
}

jnResult jnaReadFbxWeights(const char* path, jnaFbxWeights* weights, jnError* error)
{
    return ReadFile(&(Reading){.path = path, .weights = weights, .error = error});
}
