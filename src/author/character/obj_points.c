// Points and faces of a Wavefront OBJ file, in its own order; and the lists that text readers collect numbers in.
#include "base/arena.h"
#include "base/mapped_file.h"
#include "base/try.h"
#include "character/mesh_cache_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>

jnResult jnaReadText(const char* path, char** text, size_t* length, jnError* error)
{
    jnaMappedFile file;
    JN_PASS(jnaMapFile(path, &file, error));
    *text = malloc(file.size + 1);
    *length = file.size;
    if (*text != NULL && file.size > 0) {
        memcpy(*text, file.bytes, file.size);
    }
    jnaUnmapFile(&file);
    if (*text == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    (*text)[*length] = '\0';
    return jn_ok;
}

// Makes room for one more; false, with `failed` set, where memory is short. The list keeps what it has.
static bool MakeRoom(void* values, size_t size, size_t count, size_t* capacity, bool* failed)
{
    if (count == *capacity && !*failed) {
        size_t more = 2 * *capacity + 64;
        *failed = !jnaResize(values, (int64_t)more, size);
        *capacity = *failed ? *capacity : more;
    }
    return !*failed;
}

void jnaFloats_Add(jnaFloats* list, float value)
{
    if (MakeRoom(&list->values, sizeof(value), list->count, &list->capacity, &list->failed)) {
        list->values[list->count++] = value;
    }
}

void jnaIntegers_Add(jnaIntegers* list, int32_t value)
{
    if (MakeRoom(&list->values, sizeof(value), list->count, &list->capacity, &list->failed)) {
        list->values[list->count++] = value;
    }
}

// "f 1/1/1 2/2/2 -1": the number in front of each slash; negative ones count from the last point.
static void AddFace(char* at, size_t pointCount, jnaIntegers* corners, jnaIntegers* sizes)
{
    int32_t size = 0;
    for (;;) {
        char* after;
        long index = strtol(at, &after, 10);
        if (after == at) {
            break;
        }
        long point = index < 0 ? (long)pointCount + index : index - 1;
        jnaIntegers_Add(corners, point >= 0 && point < INT32_MAX ? (int32_t)point : -1);
        size++;
        at = after + strcspn(after, " \t\r");
    }
    jnaIntegers_Add(sizes, size);
}

jnResult jnaReadObjPoints(const char* path, jnaMeshCache* cache, jnError* error)
{
    jnResult result = jn_ok;
    char* text = NULL;
    size_t length = 0;
    jnaFloats points = {0};
    jnaIntegers corners = {0}, sizes = {0};
    jnaCacheMesh mesh = {.name = "", .frameCount = 1};
    JN_TRY(jnaReadText(path, &text, &length, error));
    for (char *line = text, *next; line != NULL; line = next) {
        next = memchr(line, '\n', (size_t)(text + length - line));
        if (next != NULL) {
            *next++ = '\0';
        }
        if (line[0] == 'v' && (line[1] == ' ' || line[1] == '\t')) {
            char* at = line + 1;
            for (int i = 0; i < 3; ++i) {
                char* from = at;
                double value = strtod(from, &at);
                jnaFloats_Add(&points, at != from ? (float)value : NAN);
            }
        } else if (line[0] == 'f' && (line[1] == ' ' || line[1] == '\t')) {
            AddFace(line + 1, points.count / 3, &corners, &sizes);
        }
    }
    if (points.failed || corners.failed || sizes.failed || points.count / 3 > INT32_MAX / 16 ||
        corners.count > INT32_MAX) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        goto done;
    }
    mesh.pointCount = (int)(points.count / 3);
    mesh.positions = points.values;
    mesh.faceCount = (int)sizes.count;
    mesh.faceSizes = sizes.values;
    mesh.cornerCount = (int)corners.count;
    mesh.corners = corners.values;
    points.values = NULL;
    corners.values = sizes.values = NULL;
    JN_TRY(jnaCheckCacheMesh(path, &mesh, error));
    JN_TRY(jnaMeshCache_Add(path, length, cache, &mesh, error));
done:
    free(points.values);
    free(corners.values);
    free(sizes.values);
    jnaDestroyCacheMesh(&mesh);
    free(text);
    return result;
}
