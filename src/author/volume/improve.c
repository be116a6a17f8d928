// Improving tetrahedra while the boundary stays as it is.
//
// The worth of a tetrahedron is the smallest sine of its dihedral angles, so that flat and pointed ones are equally
// bad. The worst are taken first: their free nodes are moved to where the worst of the tetrahedra around is best; edges
// are removed and faces flipped where that raises the smallest worth of those concerned; at last a new node is put in,
// as Klingner and Shewchuk do ("Aggressive tetrahedral mesh improvement", 2007). No step lowers the smallest worth of
// what it touches, and none turns a tetrahedron over. One thread: the same bytes always.
#include "volume/improve_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

enum { MAX_PASSES = 8, SMOOTH_STEPS = 16, MIN_INSERTIONS = 200 };

// Worth below which a tetrahedron is worked on: the sine of 12 degrees, well above the 5 that matter.
#define WANTED_WORTH 0.2079

// Worth below which a new node is put in: the sine of 9 degrees. Nodes cost time in every later stage.
#define INSERTION_WORTH 0.1564

double jnaWorth(const double* a, const double* b, const double* c, const double* d)
{
    // sin(angle at edge) = 6 V |edge| / (2 A1 2 A2).
    const double* p[4] = {a, b, c, d};
    static const uint8_t faces[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    static const uint8_t edges[6][4] = {
        {0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    double areas[4], volume = jnaVolume6(a, b, c, d), smallest = HUGE_VAL;
    for (int f = 0; f < 4; ++f) {
        double n[3];
        jnaAreaVector(p[faces[f][0]], p[faces[f][1]], p[faces[f][2]], n);
        areas[f] = jnaDot(n, n);
    }
    for (int e = 0; e < 6; ++e) {
        double u[3];
        jnaSubtract(p[edges[e][0]], p[edges[e][1]], u);
        smallest = fmin(smallest, jnaDot(u, u) / (areas[edges[e][2]] * areas[edges[e][3]]));
    }
    return isfinite(smallest) ? volume * sqrt(smallest) : -1;
}

double jnaImprover_Worth(const jnaImprover* improver, int32_t tetrahedron)
{
    const double* nodes = improver->mesh->nodes;
    const int32_t* c = improver->mesh->tetrahedra + 4 * tetrahedron;
    return jnaWorth(nodes + 3 * c[0], nodes + 3 * c[1], nodes + 3 * c[2], nodes + 3 * c[3]);
}

double jnaImprover_ListWorth(const jnaImprover* improver, const jnaTetrahedronList* list)
{
    const double* nodes = improver->mesh->nodes;
    double smallest = HUGE_VAL;
    for (int i = 0; i < list->count; ++i) {
        const int32_t* c = list->corners[i];
        smallest = fmin(smallest, jnaWorth(nodes + 3 * c[0], nodes + 3 * c[1], nodes + 3 * c[2], nodes + 3 * c[3]));
    }
    return smallest;
}

// Tetrahedra on a node, at most JNA_MAX_STAR; -1 where there are more. star: [JNA_MAX_STAR].
static int FindStar(const jnaImprover* improver, int32_t node, int32_t* star)
{
    int count = 0;
    for (int32_t corner = improver->heads[node]; corner >= 0; corner = improver->links[corner]) {
        if (count == JNA_MAX_STAR) {
            return -1;
        }
        star[count++] = corner / 4;
    }
    return count;
}

static bool HasNode(const int32_t* corners, int32_t node)
{
    return corners[0] == node || corners[1] == node || corners[2] == node || corners[3] == node;
}

int32_t jnaImprover_Across(const jnaImprover* improver, int32_t tetrahedron, int k)
{
    const int32_t* c = improver->mesh->tetrahedra + 4 * tetrahedron;
    int32_t a = c[(k + 1) % 4], b = c[(k + 2) % 4], d = c[(k + 3) % 4];
    for (int32_t corner = improver->heads[a]; corner >= 0; corner = improver->links[corner]) {
        const int32_t* other = improver->mesh->tetrahedra + 4 * (corner / 4);
        if (corner / 4 != tetrahedron && HasNode(other, b) && HasNode(other, d)) {
            return corner / 4;
        }
    }
    return -1;
}

static void Link(jnaImprover* improver, int32_t tetrahedron)
{
    for (int k = 0; k < 4; ++k) {
        int32_t corner = 4 * tetrahedron + k, node = improver->mesh->tetrahedra[corner];
        improver->links[corner] = improver->heads[node];
        improver->heads[node] = corner;
    }
}

static void Unlink(jnaImprover* improver, int32_t tetrahedron)
{
    for (int k = 0; k < 4; ++k) {
        int32_t corner = 4 * tetrahedron + k;
        int32_t* at = &improver->heads[improver->mesh->tetrahedra[corner]];
        while (*at != corner) {
            at = &improver->links[*at];
        }
        *at = improver->links[corner];
    }
}

void jnaImprover_Exchange(jnaImprover* improver, int oldCount, const int32_t* old, const jnaTetrahedronList* list)
{
    jnaMesh* mesh = improver->mesh;
    int most = mesh->tetrahedronCount + list->count;
    if (!jnaReserve(&mesh->tetrahedra, &mesh->tetrahedronCapacity, most, 4 * sizeof(int32_t)) ||
        !jnaReserve(&improver->links, &improver->linkCapacity, most, 4 * sizeof(int32_t)) ||
        !jnaReserve(&improver->freeList, &improver->freeCapacity, improver->freeCount + oldCount, sizeof(int32_t))) {
        improver->outOfMemory = true;
        return;
    }
    for (int i = 0; i < oldCount; ++i) {
        Unlink(improver, old[i]);
        mesh->tetrahedra[4 * old[i]] = -1;
        improver->freeList[improver->freeCount++] = old[i];
    }
    for (int i = 0; i < list->count; ++i) {
        int32_t place = improver->freeCount > 0 ? improver->freeList[--improver->freeCount] : mesh->tetrahedronCount++;
        memcpy(mesh->tetrahedra + 4 * place, list->corners[i], 4 * sizeof(int32_t));
        Link(improver, place);
    }
}

static double StarWorth(const jnaImprover* improver, int count, const int32_t* star, double enough)
{
    double smallest = HUGE_VAL;
    for (int i = 0; i < count && smallest > enough; ++i) {
        smallest = fmin(smallest, jnaImprover_Worth(improver, star[i]));
    }
    return smallest;
}

double jnaSettlePlace(double* place, double worth, double step, double last, int rounds, jnaPlaceWorth worthOf)
{
    for (int round = 0; round < rounds && step > last; ++round) {
        double from[3] = {place[0], place[1], place[2]}, chosen[3] = {place[0], place[1], place[2]}, reached = worth;
        for (int direction = 0; direction < 27; ++direction) {
            for (int i = 0, d = direction; i < 3; ++i, d /= 3) {
                place[i] = from[i] + step * (d % 3 - 1);
            }
            double candidate = worthOf.find(place, reached, worthOf.user);
            if (candidate > reached) {
                reached = candidate;
                memcpy(chosen, place, sizeof(chosen));
            }
        }
        memcpy(place, chosen, sizeof(chosen));
        step *= reached > worth ? 1 : 0.5;
        worth = reached;
    }
    return worth;
}

// The tetrahedra on a node.
typedef struct Star {
    const jnaImprover* improver;
    int count;
    int32_t list[JNA_MAX_STAR];
} Star;

// place: the node's own.
static double WorthAt(const double* place, double enough, const void* user)
{
    const Star* star = user;
    (void)place;
    return StarWorth(star->improver, star->count, star->list, enough);
}

static bool Smooth(jnaImprover* improver, int32_t node)
{
    Star star = {.improver = improver};
    star.count = improver->fixed[node] ? 0 : FindStar(improver, node, star.list);
    if (star.count <= 0) {
        return false;
    }
    double* p = improver->mesh->nodes + 3 * node;
    double start = StarWorth(improver, star.count, star.list, -HUGE_VAL), step = 0;
    for (int i = 0; i < star.count; ++i) {
        for (int k = 0; k < 4; ++k) {
            int32_t corner = improver->mesh->tetrahedra[4 * star.list[i] + k];
            step = fmax(step, jnaDistance(p, improver->mesh->nodes + 3 * corner));
        }
    }
    step *= 0.25;
    return jnaSettlePlace(p, start, step, 0.01 * step, SMOOTH_STEPS, (jnaPlaceWorth){WorthAt, &star}) > start;
}

static jnResult StartImprover(jnaMesh* mesh, int fixedCount, jnaImprover* improver, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int faceCount;
    int32_t* boundary = jnaListBoundary(mesh, &faceCount, &arena);
    *improver = (jnaImprover){.mesh = mesh,
        .linkCapacity = mesh->tetrahedronCount,
        .headCapacity = mesh->nodeCount,
        .fixedCapacity = mesh->nodeCount};
    improver->links = jnaArena_Give(&arena, mesh->tetrahedronCount, 4 * sizeof(int32_t));
    improver->heads = jnaArena_Give(&arena, mesh->nodeCount, sizeof(int32_t));
    improver->fixed = jnaArena_Give(&arena, mesh->nodeCount, 1);
    JN_TRY(jnaArena_Check(&arena, "a mesh", error));
    for (int n = 0; n < mesh->nodeCount; ++n) {
        improver->heads[n] = -1;
        improver->fixed[n] = n < fixedCount;
    }
    for (int i = 0; i < 3 * faceCount; ++i) {
        improver->fixed[boundary[i]] = 1;
    }
    for (int t = 0; t < mesh->tetrahedronCount; ++t) {
        Link(improver, t);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

typedef struct Bad {
    double worth;
    int32_t tetrahedron;
} Bad;

static int CompareBad(const void* left, const void* right)
{
    const Bad *a = left, *b = right;
    if (a->worth < b->worth || a->worth > b->worth) {
        return a->worth < b->worth ? -1 : 1;
    }
    return a->tetrahedron < b->tetrahedron ? -1 : a->tetrahedron > b->tetrahedron;
}

static int ListBad(const jnaImprover* improver, Bad* list)
{
    int count = 0;
    for (int t = 0; t < improver->mesh->tetrahedronCount; ++t) {
        double worth = improver->mesh->tetrahedra[4 * t] >= 0 ? jnaImprover_Worth(improver, t) : 1;
        if (worth < WANTED_WORTH) {
            list[count++] = (Bad){worth, t};
        }
    }
    qsort(list, (size_t)count, sizeof(*list), CompareBad);
    return count;
}

static bool StillBad(const jnaImprover* improver, const int32_t corners[4], int32_t tetrahedron)
{
    return memcmp(corners, improver->mesh->tetrahedra + 4 * tetrahedron, 4 * sizeof(int32_t)) == 0 &&
           jnaImprover_Worth(improver, tetrahedron) < WANTED_WORTH;
}

// Cheap means first; a new node only where nothing else helped.
static bool ImproveOne(jnaImprover* improver, int32_t tetrahedron, bool insert)
{
    int32_t corners[4];
    bool better = false;
    memcpy(corners, improver->mesh->tetrahedra + 4 * tetrahedron, sizeof(corners));
    for (int k = 0; k < 4 && StillBad(improver, corners, tetrahedron); ++k) {
        better |= Smooth(improver, corners[k]);
    }
    if (StillBad(improver, corners, tetrahedron)) {
        better |= jnaImprover_RemoveEdges(improver, tetrahedron);
    }
    if (StillBad(improver, corners, tetrahedron)) {
        better |= jnaImprover_FlipFaces(improver, tetrahedron);
    }
    if (insert && StillBad(improver, corners, tetrahedron) &&
        jnaImprover_Worth(improver, tetrahedron) < INSERTION_WORTH) {
        better |= jnaImprover_InsertNode(improver, tetrahedron);
    }
    return better;
}

// Closes the gaps that exchanges left, and drops nodes that nobody uses any more.
static jnResult Compact(jnaMesh* mesh, int fixedCount, jnError* error)
{
    int32_t* number = jnaAllocate(mesh->nodeCount, sizeof(*number));
    if (number == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for a mesh of %d nodes", mesh->nodeCount);
    }
    int kept = 0;
    for (int t = 0; t < mesh->tetrahedronCount; ++t) {
        if (mesh->tetrahedra[4 * t] >= 0) {
            memmove(mesh->tetrahedra + 4 * kept++, mesh->tetrahedra + 4 * t, 4 * sizeof(int32_t));
        }
    }
    mesh->tetrahedronCount = kept;
    for (int i = 0; i < 4 * kept; ++i) {
        number[mesh->tetrahedra[i]] = 1;
    }
    int nodes = 0;
    for (int n = 0; n < mesh->nodeCount; ++n) {
        if (n < fixedCount || number[n]) {
            memmove(mesh->nodes + 3 * nodes, mesh->nodes + 3 * n, 3 * sizeof(double));
            number[n] = nodes++;
        }
    }
    mesh->nodeCount = nodes;
    for (int i = 0; i < 4 * kept; ++i) {
        mesh->tetrahedra[i] = number[mesh->tetrahedra[i]];
    }
    free(number);
    return jn_ok;
}

jnResult jnaImproveMesh(jnaMesh* mesh, int fixedCount, jnError* error)
{
    jnaImprover improver;
    Bad* list = NULL;
    int capacity = 0;
    // A surface of needles would ask for ever more nodes.
    int mostNodes = mesh->nodeCount + (mesh->nodeCount > 10 * MIN_INSERTIONS ? mesh->nodeCount / 10 : MIN_INSERTIONS);
    jnResult result = StartImprover(mesh, fixedCount, &improver, error);
    for (int pass = 0; result == jn_ok && pass < MAX_PASSES; ++pass) {
        if (!jnaReserve(&list, &capacity, mesh->tetrahedronCount, sizeof(*list))) {
            result = jnFail(error, jn_outOfMemory, "out of memory for a mesh of %d nodes", mesh->nodeCount);
            break;
        }
        int count = ListBad(&improver, list), better = 0;
        for (int i = 0; i < count && !improver.outOfMemory; ++i) {
            int32_t t = list[i].tetrahedron;
            if (mesh->tetrahedra[4 * t] >= 0 && jnaImprover_Worth(&improver, t) < WANTED_WORTH) {
                better += ImproveOne(&improver, t, pass > 0 && mesh->nodeCount < mostNodes);
            }
        }
        if (improver.outOfMemory) {
            result = jnFail(error, jn_outOfMemory, "out of memory for a mesh of %d nodes", mesh->nodeCount);
        }
        if (better == 0 && pass > 0) {
            break;
        }
    }
    free(list);
    free(improver.links);
    free(improver.heads);
    free(improver.fixed);
    free(improver.freeList);
    jnResult compacted = Compact(mesh, fixedCount, error);
    return result == jn_ok ? compacted : result;
}
