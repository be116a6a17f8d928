// Parts of a character that are not flesh: which vertices they have, and the flesh without them.
#include "character/character.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <string.h>

const char* const jnaMeshRoleNames[3] = {"flesh", "follows", "rigid"};

void jnaCharacter_FindRoles(const jnaCharacter* c, uint8_t* roles)
{
    memset(roles, jna_meshFlesh, (size_t)c->vertexCount);
    for (int p = 0; p < c->partCount; ++p) {
        const jnaPart* part = &c->parts[p];
        for (int i = 0; part->role != jna_meshFlesh && i < 3 * part->triangleCount; ++i) {
            roles[c->weld[c->triangles[3 * (size_t)part->firstTriangle + (size_t)i]]] = (uint8_t)part->role;
        }
    }
}

// Triangles and parts of the flesh, and the new number of each file vertex. numbers: [fileVertexCount], -1 before.
static void TakeParts(const jnaCharacter* c, const int32_t* numbers, jnaCharacter* f)
{
    int triangles = 0, parts = 0;
    for (int p = 0; p < c->partCount; ++p) {
        if (c->parts[p].role != jna_meshFlesh) {
            continue;
        }
        f->parts[parts] = c->parts[p];
        f->parts[parts++].firstTriangle = triangles;
        const int32_t* from = c->triangles + 3 * (size_t)c->parts[p].firstTriangle;
        for (size_t i = 0; i < 3 * (size_t)c->parts[p].triangleCount; ++i) {
            f->triangles[3 * (size_t)triangles + i] = numbers[from[i]];
        }
        triangles += c->parts[p].triangleCount;
    }
}

static jnResult TakePoints(const jnaCharacter* c, jnaCharacter* f, jnError* error)
{
    jnaArena arena = {0};
    f->sourcePoints = c->sourcePoints != NULL ? jnaArena_Give(&arena, c->sourcePointCount, sizeof(int32_t)) : NULL;
    f->marks = c->marks != NULL ? jnaArena_Give(&arena, f->vertexCount, 1) : NULL;
    JN_PASS(jnaArena_Check(&arena, "the flesh of a character", error));
    if (c->marks != NULL) {
        memcpy(f->marks, c->marks, (size_t)f->vertexCount);
    }
    f->sourcePointCount = c->sourcePoints != NULL ? c->sourcePointCount : 0;
    for (int i = 0; i < f->sourcePointCount; ++i) {
        f->sourcePoints[i] = c->sourcePoints[i] < f->vertexCount ? c->sourcePoints[i] : -1;
    }
    for (int i = 0; i < c->attributeCount; ++i) {
        const jnaAttribute* from = &c->attributes[i];
        float* values = jnaCharacter_AddAttribute(f, from->name, from->width);
        if (values == NULL) {
            return jnFail(error, jn_outOfMemory, "out of memory for attribute '%s'", from->name);
        }
        memcpy(values, from->values, (size_t)f->vertexCount * (size_t)from->width * sizeof(float));
    }
    return jn_ok;
}

static void TakeSurface(const jnaCharacter* c, const int32_t* numbers, jnaCharacter* f)
{
    memcpy(f->joints, c->joints, (size_t)c->jointCount * sizeof(*c->joints));
    memcpy(f->positions, c->positions, (size_t)f->vertexCount * 3 * sizeof(float));
    memcpy(f->influences, c->influences, (size_t)f->vertexCount * sizeof(*c->influences));
    for (size_t v = 0; v < (size_t)c->fileVertexCount; ++v) {
        size_t to = (size_t)numbers[v];
        if (numbers[v] >= 0) {
            f->weld[to] = c->weld[v];
            memcpy(f->fileNormals + 3 * to, c->fileNormals + 3 * v, 3 * sizeof(float));
            if (c->fileUvs != NULL) {
                memcpy(f->fileUvs + 2 * to, c->fileUvs + 2 * v, 2 * sizeof(float));
            }
        }
    }
    TakeParts(c, numbers, f);
}

jnResult jnaCharacter_TakeFlesh(const jnaCharacter* c, jnaCharacter* f, jnError* error)
{
    *f = (jnaCharacter){.jointCount = c->jointCount, .vertexCount = c->vertexCount - c->outfitCount};
    memcpy(f->name, c->name, sizeof(f->name));
    memcpy(f->body, c->body, sizeof(f->body));
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int32_t* numbers = jnaArena_Take(&arena, c->fileVertexCount, sizeof(*numbers));
    JN_TRY(jnaArena_Check(&arena, "the flesh of a character", error));
    for (int v = 0; v < c->fileVertexCount; ++v) {
        numbers[v] = c->weld[v] < f->vertexCount ? f->fileVertexCount++ : -1;
    }
    for (int p = 0; p < c->partCount; ++p) {
        bool own = c->parts[p].role == jna_meshFlesh;
        f->partCount += own;
        f->triangleCount += own ? c->parts[p].triangleCount : 0;
    }
    JN_TRY(jnaCharacter_Allocate(f, c->fileUvs != NULL, error));
    TakeSurface(c, numbers, f);
    JN_TRY(TakePoints(c, f, error));
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyCharacter(f);
    }
    return result;
}
