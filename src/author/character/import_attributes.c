// Vertex attributes of a character from those of its placed meshes, averaged over the file vertices of each vertex.
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

enum { MAX_ATTRIBUTES = 32 };

static const jnaSceneAttribute* FindAttribute(const jnaSceneMesh* mesh, const char* name, int width)
{
    for (int i = 0; i < mesh->attributeCount; ++i) {
        if (strcmp(mesh->attributes[i].name, name) == 0 && mesh->attributes[i].width == width) {
            return &mesh->attributes[i];
        }
    }
    return NULL;
}

static bool Has(const jnaCharacter* c, const char* name)
{
    for (int i = 0; i < c->attributeCount; ++i) {
        if (strcmp(c->attributes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Means of the file vertices. A mesh without the attribute has 1 where it is a colour, as glTF says, else 0.
static void Average(const jnaPlacement* placement, const jnaCharacter* c, const float* counts, const char* name,
    int width, float* values)
{
    float missing = strncmp(name, "COLOR_", 6) == 0 ? 1.0f : 0.0f;
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        const jnaSceneAttribute* attribute = FindAttribute(placed->mesh, name, width);
        for (int i = 0; i < placed->mesh->vertexCount * width; ++i) {
            int v = c->weld[placed->firstVertex + i / width];
            values[v * width + i % width] += (attribute != NULL ? attribute->values[i] : missing) / counts[v];
        }
    }
}

static bool AllFinite(const float* values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; ++i) {
        finite = finite && isfinite(values[i]);
    }
    return finite;
}

static jnResult AddAttribute(const jnaPlacement* placement, const jnaSceneAttribute* attribute, const float* counts,
    jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    if (c->attributeCount == MAX_ATTRIBUTES || strlen(attribute->name) >= JNA_NAME_LENGTH) {
        return jn_ok;
    }
    float* values = jnaCharacter_AddAttribute(c, attribute->name, attribute->width);
    if (values == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the attributes of %d vertices", c->vertexCount);
    }
    Average(placement, c, counts, attribute->name, attribute->width, values);
    if (!AllFinite(values, (size_t)c->vertexCount * (size_t)attribute->width)) {
        jnaNotes_Add(
            notes, "the vertex attribute '%s' holds numbers that are not finite: it is left out", attribute->name);
        c->attributeCount--;
        free(values);
    }
    return jn_ok;
}

jnResult jnaBuildAttributes(const jnaPlacement* placement, jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    float* counts = calloc((size_t)c->vertexCount + 1, sizeof(*counts)); // file vertices of each vertex
    if (counts == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the attributes of %d vertices", c->vertexCount);
    }
    for (int i = 0; i < c->fileVertexCount; ++i) {
        counts[c->weld[i]] += 1.0f;
    }
    jnResult result = jn_ok;
    for (int m = 0; result == jn_ok && m < placement->count; ++m) {
        const jnaSceneMesh* mesh = placement->meshes[m].mesh;
        for (int i = 0; result == jn_ok && i < mesh->attributeCount; ++i) {
            if (!Has(c, mesh->attributes[i].name)) {
                result = AddAttribute(placement, &mesh->attributes[i], counts, c, notes, error);
            }
        }
    }
    free(counts);
    return result;
}
