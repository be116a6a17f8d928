// Which characters a file holds: skeletons that share no joint, with the meshes that hang on them.
//
// Bones of one mesh belong together, and so do a bone and the bone above it. A mesh without bones belongs to the bone
// that it hangs on.
#include "base/arena.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// In a line that lists them.
enum { MOST_LISTED = 8 };

typedef struct Choice {
    int count;     // of characters
    int* group;    // [nodeCount], link to another bone of the same character
    bool* isBone;  // [nodeCount]
    int* numberOf; // [meshCount], character, counted from 1; 0: hangs on none
} Choice;

static int FindGroup(int* group, int node)
{
    while (group[node] != node) {
        group[node] = group[group[node]];
        node = group[node];
    }
    return node;
}

static void JoinBones(const jnaScene* scene, Choice* c)
{
    for (int n = 0; n < scene->nodeCount; ++n) {
        c->group[n] = n;
    }
    for (int m = 0; m < scene->meshCount; ++m) {
        const jnaSceneMesh* mesh = &scene->meshes[m];
        for (int b = 0; b < mesh->boneCount; ++b) {
            c->isBone[mesh->bones[b].node] = true;
            c->group[FindGroup(c->group, mesh->bones[b].node)] = FindGroup(c->group, mesh->bones[0].node);
        }
    }
    for (int n = 0; n < scene->nodeCount; ++n) {
        int up = scene->nodes[n].parent;
        if (up >= 0 && c->isBone[n] && c->isBone[up]) {
            c->group[FindGroup(c->group, n)] = FindGroup(c->group, up);
        }
    }
}

// numbers: [nodeCount], zeroed scratch: character of a group.
static void NumberMeshes(const jnaScene* scene, Choice* c, int* numbers)
{
    for (int m = 0; m < scene->meshCount; ++m) {
        if (scene->meshes[m].boneCount > 0) {
            int group = FindGroup(c->group, scene->meshes[m].bones[0].node);
            numbers[group] = numbers[group] > 0 ? numbers[group] : ++c->count;
            c->numberOf[m] = numbers[group];
        }
    }
    for (int m = 0; m < scene->meshCount; ++m) {
        int node = scene->meshes[m].boneCount == 0 && scene->meshes[m].placeCount > 0 ? scene->meshes[m].places[0] : -1;
        while (node >= 0 && !c->isBone[node]) {
            node = scene->nodes[node].parent;
        }
        c->numberOf[m] = node >= 0 ? numbers[FindGroup(c->group, node)] : c->numberOf[m];
    }
}

// "1 'Alice' (5012 vertices), 2 'Bob' (4100)"
static void ListCharacters(const jnaScene* scene, const Choice* c, char* text, size_t size)
{
    size_t length = 0;
    for (int number = 1; number <= c->count && number <= MOST_LISTED; ++number) {
        const jnaSceneMesh* largest = NULL;
        int vertices = 0;
        for (int m = 0; m < scene->meshCount; ++m) {
            const jnaSceneMesh* mesh = &scene->meshes[m];
            bool own = c->numberOf[m] == number && mesh->boneCount > 0;
            vertices += own ? mesh->vertexCount : 0;
            largest = own && (largest == NULL || mesh->vertexCount > largest->vertexCount) ? mesh : largest;
        }
        int written = snprintf(text + length, size - length, "%s%d '%.24s' (%d%s)", number > 1 ? ", " : "", number,
            largest != NULL ? largest->name : "", vertices, number == 1 ? " vertices" : "");
        length += written > 0 && (size_t)written < size - length ? (size_t)written : 0;
    }
    if (c->count > MOST_LISTED) {
        snprintf(text + length, size - length, " and %d more", c->count - MOST_LISTED);
    }
}

// Leaves the meshes of one character in the scene.
static void KeepMeshes(jnaScene* scene, const Choice* c, int number)
{
    int kept = 0;
    for (int m = 0; m < scene->meshCount; ++m) {
        if (c->numberOf[m] == number) {
            scene->meshes[kept++] = scene->meshes[m];
        } else {
            free(scene->meshes[m].attributes);
            free(scene->meshes[m].targets);
            free(scene->meshes[m].bones);
        }
    }
    scene->meshCount = kept;
}

jnResult jnaChooseCharacter(const char* path, jnaScene* scene, int number, jnaNotes* notes, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    Choice c = {.group = jnaArena_Take(&arena, scene->nodeCount, sizeof(int)),
        .isBone = jnaArena_Take(&arena, scene->nodeCount, sizeof(bool)),
        .numberOf = jnaArena_Take(&arena, scene->meshCount, sizeof(int))};
    int* numbers = jnaArena_Take(&arena, scene->nodeCount, sizeof(int));
    char list[300] = "";
    JN_TRY(jnaArena_Check(&arena, path, error));
    JoinBones(scene, &c);
    NumberMeshes(scene, &c, numbers);
    ListCharacters(scene, &c, list, sizeof(list));
    if (number > c.count) {
        JN_TRY(jnFail(error, jn_badArgument, "%s: has no character %d; it has %d: %s", path, number, c.count, list));
    }
    if (number > 0) {
        KeepMeshes(scene, &c, number);
    } else if (c.count > 1) {
        jnaNotes_Add(notes, "%d skeletons share no joint and are taken as one; --character N takes one of them: %s",
            c.count, list);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
