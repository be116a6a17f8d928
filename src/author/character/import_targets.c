// The morph targets of a file's meshes as those of one character. A head, its brows and its teeth often have a target
// of the same name each: together they are one, which one weight moves.
#include "character/import_internal.h"

#include "base/arena.h"

#include "runtime/for_author.h"

#include <stdlib.h>

// In a line that lists them.
enum { MOST_LISTED = 12 };

static int FindTarget(const jnaCharacter* c, const char* name)
{
    for (int i = 0; i < c->targetCount; ++i) {
        if (strncmp(c->targets[i].name, name, JNA_NAME_LENGTH - 1) == 0) {
            return i;
        }
    }
    return -1;
}

// What a mesh has of a target: the first file vertex of each vertex has the last word, as with positions.
static void TakeOffsets(
    const jnaPlacedMesh* placed, const jnaSceneTarget* from, double scale, const int32_t* weld, jnaTarget* to)
{
    for (int v = placed->mesh->vertexCount - 1; v >= 0; --v) {
        const float* move = from->offsets + 3 * (size_t)v;
        float* out = to->offsets + 3 * (size_t)weld[placed->firstVertex + v];
        for (int i = 0; i < 3; ++i) {
            const double* row = placed->place.m + 4 * i;
            out[i] = (float)(scale * (row[0] * (double)move[0] + row[1] * (double)move[1] + row[2] * (double)move[2]));
        }
    }
}

static void NoteTargets(const jnaCharacter* c, jnaNotes* notes)
{
    char names[256] = "";
    size_t length = 0;
    for (int i = 0; i < c->targetCount && i < MOST_LISTED; ++i) {
        size_t left = sizeof(names) - length;
        int written = snprintf(names + length, left, "%s%.40s", i > 0 ? ", " : "", c->targets[i].name);
        length += written > 0 && (size_t)written < left ? (size_t)written : 0;
    }
    if (c->targetCount > 0) {
        jnaNotes_Add(notes, "%d morph targets of the source are kept: %s%s", c->targetCount, names,
            c->targetCount > MOST_LISTED ? ", ..." : "");
    }
}

// Those that `jounce export -o FILE.glb` adds are flesh, not the source's.
static bool IsOurs(const char* name)
{
    return strncmp(name, "jounce.pose.", 12) == 0 || strncmp(name, "jounce.mode.", 12) == 0;
}

jnResult jnaBuildTargets(const jnaPlacement* placement, double scale, jnaCharacter* c, jnaTargetSources* sources,
    jnaNotes* notes, jnError* error)
{
    int most = 0;
    for (int m = 0; m < placement->count; ++m) {
        most += placement->meshes[m].mesh->targetCount;
    }
    *sources = (jnaTargetSources){.list = calloc((size_t)most + 1, sizeof(*sources->list))};
    bool good = sources->list != NULL;
    for (int m = 0; good && m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        const jnaSceneMesh* mesh = placed->mesh;
        for (int t = 0; good && t < mesh->targetCount; ++t) {
            int found = FindTarget(c, mesh->targets[t].name);
            if (IsOurs(mesh->targets[t].name)) {
                continue;
            }
            if (found < 0) {
                good = jnaCharacter_AddTarget(c, mesh->targets[t].name, mesh->targets[t].weight) != NULL;
                found = c->targetCount - 1;
            }
            if (good) {
                TakeOffsets(placed, &mesh->targets[t], scale, c->weld, &c->targets[found]);
                int node = mesh->placeCount > 0 ? mesh->places[0] : -1;
                sources->list[sources->count++] = (jnaTargetSource){found, node, t};
            }
        }
    }
    NoteTargets(c, notes);
    return good ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d morph targets", most);
}
