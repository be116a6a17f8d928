// Pieces of a mesh that only touch: their common nodes are doubled, and crumbs dropped.
//
// Tetrahedra hold together across a common face. A face whose three nodes all lie on the boundary, with no flesh at its
// middle, is a contact of two limbs and holds nothing.
#include "volume/mesh_internal.h"

#include "base/try.h"
#include "base/union.h"
#include "runtime/for_author.h"

// Whether a face between two tetrahedra holds them together.
static bool Holds(const jnaMesh* mesh, const jnaTree* tree, const uint8_t* onBoundary, const int32_t c[3])
{
    if (!onBoundary[c[0]] || !onBoundary[c[1]] || !onBoundary[c[2]]) {
        return true;
    }
    double middle[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = (mesh->nodes[3 * c[0] + i] + mesh->nodes[3 * c[1] + i] + mesh->nodes[3 * c[2] + i]) / 3;
    }
    return jnaTree_Winding(tree, middle) > 0.5;
}

// corners: union-find over corners of tetrahedra, those of one node that hold together; pieces: over tetrahedra.
static void JoinAcross(const jnaMesh* mesh, const jnaTree* tree, const jnaFacet* facets, const uint8_t* onBoundary,
    int32_t* corners, int32_t* pieces)
{
    for (int f = 0; f + 1 < 4 * mesh->tetrahedronCount; ++f) {
        const jnaFacet *a = &facets[f], *b = &facets[f + 1];
        if (memcmp(a->corners, b->corners, sizeof(a->corners)) != 0 || !Holds(mesh, tree, onBoundary, a->corners)) {
            continue;
        }
        jnaUnion_Join(pieces, a->tetrahedron, b->tetrahedron);
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                if (mesh->tetrahedra[4 * a->tetrahedron + i] == mesh->tetrahedra[4 * b->tetrahedron + j]) {
                    jnaUnion_Join(corners, 4 * a->tetrahedron + i, 4 * b->tetrahedron + j);
                }
            }
        }
    }
}

static void DropCrumbs(jnaMesh* mesh, double share, int32_t* pieces, double* volumes)
{
    double whole = 0;
    for (int t = 0; t < mesh->tetrahedronCount; ++t) {
        const int32_t* c = mesh->tetrahedra + 4 * t;
        const double* x = mesh->nodes;
        double volume = jnaVolume6(x + 3 * c[0], x + 3 * c[1], x + 3 * c[2], x + 3 * c[3]);
        volumes[jnaUnion_Root(pieces, t)] += volume;
        whole += volume;
    }
    int kept = 0;
    for (int t = 0; t < mesh->tetrahedronCount; ++t) {
        if (volumes[jnaUnion_Root(pieces, t)] >= share * whole) {
            memmove(mesh->tetrahedra + 4 * kept++, mesh->tetrahedra + 4 * t, 4 * sizeof(int32_t));
        }
    }
    mesh->tetrahedronCount = kept;
}

// One node per group of corners, in the order in which tetrahedra name them.
static bool NumberNodes(jnaMesh* mesh, int32_t* corners)
{
    int count = 4 * mesh->tetrahedronCount;
    jnaMesh numbered = {0};
    int32_t* number = malloc(((size_t)count + 1) * sizeof(*number));
    bool good = number != NULL;
    for (int i = 0; good && i < count; ++i) {
        int32_t root = jnaUnion_Root(corners, i);
        if (root == i) {
            number[i] = numbered.nodeCount;
            good = jnaMesh_AddNode(&numbered, mesh->nodes + 3 * mesh->tetrahedra[i]);
        }
    }
    for (int i = 0; good && i < count; ++i) {
        mesh->tetrahedra[i] = number[jnaUnion_Root(corners, i)];
    }
    if (good) {
        free(mesh->nodes);
        mesh->nodes = numbered.nodes;
        mesh->nodeCount = numbered.nodeCount;
        mesh->nodeCapacity = numbered.nodeCapacity;
    } else {
        jnaDestroyMesh(&numbered);
    }
    free(number);
    return good;
}

// First crumbs, then nodes, because corners are counted by tetrahedron.
jnResult jnaSplitPieces(const jnaTree* tree, double crumbShare, jnaMesh* mesh, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    for (int round = 0; round < 2; ++round) {
        int count = mesh->tetrahedronCount, faceCount = 0;
        jnaFacet* facets = jnaListFacets(mesh, &arena);
        int32_t* corners = jnaArena_Take(&arena, 4 * (int64_t)count, sizeof(*corners));
        int32_t* pieces = jnaArena_Take(&arena, count, sizeof(*pieces));
        double* volumes = jnaArena_Take(&arena, count, sizeof(*volumes));
        uint8_t* onBoundary = jnaArena_Take(&arena, mesh->nodeCount, 1);
        int32_t* boundary = jnaListBoundary(mesh, &faceCount, &arena);
        JN_TRY(jnaArena_Check(&arena, "a mesh", error));
        for (int i = 0; i < 4 * count; ++i) {
            corners[i] = i;
            pieces[i / 4] = i / 4;
        }
        for (int i = 0; i < 3 * faceCount; ++i) {
            onBoundary[boundary[i]] = 1;
        }
        JoinAcross(mesh, tree, facets, onBoundary, corners, pieces);
        if (round == 0) {
            DropCrumbs(mesh, crumbShare, pieces, volumes);
        } else {
            arena.failed = !NumberNodes(mesh, corners);
            JN_TRY(jnaArena_Check(&arena, "a mesh", error));
        }
        jnaReleaseArena(&arena);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
