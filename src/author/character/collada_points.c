// Positions of the meshes in a Collada file: the float_array behind every input with the semantic POSITION.
//
// The file was read by Assimp already; this only looks for three elements and passes over what is not as expected.
#include "base/try.h"
#include "character/mesh_cache_internal.h"
#include "character/source_points.h"

#include "runtime/for_author.h"

#include <stdlib.h>

enum { MAX_ID = JNA_MAX_ATTRIBUTE, MAX_MESHES = 65536 };

bool jnaTakeAttribute(const char* tag, const char* end, const char* name, char* value, size_t size)
{
    size_t length = strlen(name);
    for (const char* at = strstr(tag, name); at != NULL && at < end; at = strstr(at + 1, name)) {
        if (at[length] == '=' && (at[length + 1] == '"' || at[length + 1] == '\'')) {
            const char* from = at + length + 2;
            const char* to = strchr(from, at[length + 1]);
            if (to == NULL || to >= end || (size_t)(to - from) >= size) {
                return false;
            }
            memcpy(value, from, (size_t)(to - from));
            value[to - from] = '\0';
            return true;
        }
    }
    return false;
}

// The numbers of the first float_array inside <source id="ID">.
static bool AddSource(const char* text, size_t size, const char* id, jnaSourceMeshes* list)
{
    char other[MAX_ID], count[MAX_ID];
    for (const char* at = strstr(text, "<source"); at != NULL; at = strstr(at + 1, "<source")) {
        const char* end = strchr(at, '>');
        if (end == NULL || !jnaTakeAttribute(at, end, " id", other, MAX_ID) || strcmp(other, id) != 0) {
            continue;
        }
        const char* array = strstr(end, "<float_array");
        const char* open = array != NULL ? strchr(array, '>') : NULL;
        if (open == NULL || !jnaTakeAttribute(array, open, "count", count, MAX_ID)) {
            return true;
        }
        unsigned long numbers = strtoul(count, NULL, 10);
        // A number takes two bytes of text at least.
        if (numbers == 0 || numbers % 3 != 0 || numbers > size / 2) {
            return true;
        }
        float* points = malloc(numbers * sizeof(float));
        char* next = (char*)(uintptr_t)(open + 1);
        for (unsigned long i = 0; points != NULL && i < numbers; ++i) {
            points[i] = strtof(next, &next);
        }
        return points != NULL && jnaSourceMeshes_Add(list, points, numbers / 3);
    }
    return true;
}

jnResult jnaReadColladaPoints(const char* path, jnaSourceMeshes* list, jnError* error)
{
    jnResult result = jn_ok;
    char* text = NULL;
    char semantic[MAX_ID], source[MAX_ID];
    size_t length = 0;
    JN_TRY(jnaReadText(path, &text, &length, error));
    for (const char* at = strstr(text, "<input"); at != NULL && list->count < MAX_MESHES;
         at = strstr(at + 1, "<input")) {
        const char* end = strchr(at, '>');
        if (end == NULL) {
            break;
        }
        bool positions = jnaTakeAttribute(at, end, "semantic", semantic, MAX_ID) && strcmp(semantic, "POSITION") == 0 &&
                         jnaTakeAttribute(at, end, "source", source, MAX_ID) && source[0] == '#';
        if (positions && !AddSource(text, length, source + 1, list)) {
            result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
            goto done;
        }
    }
done:
    free(text);
    return result;
}
