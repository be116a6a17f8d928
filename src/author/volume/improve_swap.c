// Exchanging tetrahedra for others that fill the same space: an edge removed, a face flipped, a node put in.
#include "volume/improve_internal.h"

// An exchange must raise the smallest worth by this share, or it would go on forever over rounding.
#define LEAST_GAIN 1e-6

// The nodes around an edge a-b in order, and its tetrahedra. Returns their number; 0 where the edge lies on the
// boundary or has too many.
static int WalkRing(const jnaImprover* improver, int32_t a, int32_t b, int32_t* ring, int32_t* tetrahedra)
{
    int32_t from[JNA_MAX_RING], to[JNA_MAX_RING];
    int count = 0;
    for (int32_t corner = improver->heads[a]; corner >= 0; corner = improver->links[corner]) {
        const int32_t* c = improver->mesh->tetrahedra + 4 * (corner / 4);
        int ka = corner % 4, kb = 0;
        while (kb < 4 && c[kb] != b) {
            ++kb;
        }
        if (kb == 4) {
            continue;
        }
        if (count == JNA_MAX_RING) {
            return 0;
        }
        int others[2], found = 0;
        for (int k = 0; k < 4; ++k) {
            if (k != ka && k != kb) {
                others[found++] = k;
            }
        }
        // (ka, kb, first, second) is an even permutation of the corners where the count of exchanges is even.
        int order[4] = {ka, kb, others[0], others[1]}, swaps = 0;
        for (int i = 0; i < 4; ++i) {
            for (int j = i + 1; j < 4; ++j) {
                swaps += order[i] > order[j];
            }
        }
        from[count] = c[others[swaps % 2]];
        to[count] = c[others[1 - swaps % 2]];
        tetrahedra[count++] = corner / 4;
    }
    if (count < 3) {
        return 0;
    }
    ring[0] = from[0];
    for (int i = 0; i < count; ++i) {
        int next = 0;
        while (next < count && from[next] != ring[i]) {
            ++next;
        }
        if (next == count) {
            return 0;
        }
        int32_t node = to[next];
        if (i + 1 == count) {
            return node == ring[0] ? count : 0;
        }
        if (node == ring[0]) {
            return 0;
        }
        ring[i + 1] = node;
    }
    return 0;
}

static double WorthOf(const jnaImprover* improver, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const double* nodes = improver->mesh->nodes;
    return jnaWorth(nodes + 3 * a, nodes + 3 * b, nodes + 3 * c, nodes + 3 * d);
}

static void Put(jnaTetrahedronList* list, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t corners[4] = {a, b, c, d};
    memcpy(list->corners[list->count++], corners, sizeof(corners));
}

static void PutTriangulation(const uint8_t choice[JNA_MAX_RING][JNA_MAX_RING], const int32_t* ring, int i, int j,
    int32_t a, int32_t b, jnaTetrahedronList* list)
{
    if (j - i < 2) {
        return;
    }
    int k = choice[i][j];
    Put(list, ring[i], ring[k], ring[j], b);
    Put(list, ring[i], ring[j], ring[k], a);
    PutTriangulation(choice, ring, i, k, a, b, list);
    PutTriangulation(choice, ring, k, j, a, b, list);
}

static double RingWorth(const jnaImprover* improver, int count, const int32_t* tetrahedra)
{
    double worth = HUGE_VAL;
    for (int i = 0; i < count; ++i) {
        worth = fmin(worth, jnaImprover_Worth(improver, tetrahedra[i]));
    }
    return worth;
}

// The best triangulation of the ring by dynamic programming (Klincsek); each triangle makes two tetrahedra.
static bool RemoveEdge(jnaImprover* improver, int32_t a, int32_t b)
{
    int32_t ring[JNA_MAX_RING], tetrahedra[JNA_MAX_RING];
    double best[JNA_MAX_RING][JNA_MAX_RING];
    uint8_t choice[JNA_MAX_RING][JNA_MAX_RING];
    int count = WalkRing(improver, a, b, ring, tetrahedra);
    if (count == 0) {
        return false;
    }
    double old = RingWorth(improver, count, tetrahedra);
    for (int i = count - 1; i >= 0; --i) {
        for (int j = i + 1; j < count; ++j) {
            best[i][j] = j == i + 1 ? HUGE_VAL : -HUGE_VAL;
            choice[i][j] = (uint8_t)i;
            for (int k = i + 1; k < j; ++k) {
                double worth = fmin(best[i][k], best[k][j]);
                if (worth > best[i][j]) {
                    worth = fmin(worth, WorthOf(improver, ring[i], ring[k], ring[j], b));
                    worth = fmin(worth, WorthOf(improver, ring[i], ring[j], ring[k], a));
                }
                if (worth > best[i][j]) {
                    best[i][j] = worth;
                    choice[i][j] = (uint8_t)k;
                }
            }
        }
    }
    if (!(best[0][count - 1] > fmax(old, 0) + LEAST_GAIN)) {
        return false;
    }
    jnaTetrahedronList list = {0};
    PutTriangulation(choice, ring, 0, count - 1, a, b, &list);
    jnaImprover_Exchange(improver, count, tetrahedra, &list);
    return true;
}

bool jnaImprover_RemoveEdges(jnaImprover* improver, int32_t tetrahedron)
{
    int32_t c[4];
    memcpy(c, improver->mesh->tetrahedra + 4 * tetrahedron, sizeof(c));
    for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
            if (RemoveEdge(improver, c[i], c[j])) {
                return true;
            }
        }
    }
    return false;
}

// Two tetrahedra on a face become three around the edge between their tips.
static bool FlipFace(jnaImprover* improver, int32_t tetrahedron, int k)
{
    static const uint8_t faces[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    int32_t other = jnaImprover_Across(improver, tetrahedron, k);
    if (other < 0) {
        return false;
    }
    const int32_t *c = improver->mesh->tetrahedra + 4 * tetrahedron, *o = improver->mesh->tetrahedra + 4 * other;
    int32_t x = c[faces[k][0]], y = c[faces[k][1]], z = c[faces[k][2]], p = c[k], q = o[0];
    for (int i = 0; i < 4; ++i) {
        q = o[i] != x && o[i] != y && o[i] != z ? o[i] : q;
    }
    jnaTetrahedronList list = {0};
    Put(&list, q, p, x, y);
    Put(&list, q, p, y, z);
    Put(&list, q, p, z, x);
    const int32_t old[2] = {tetrahedron, other};
    if (!(jnaImprover_ListWorth(improver, &list) > fmax(RingWorth(improver, 2, old), 0) + LEAST_GAIN)) {
        return false;
    }
    jnaImprover_Exchange(improver, 2, old, &list);
    return true;
}

bool jnaImprover_FlipFaces(jnaImprover* improver, int32_t tetrahedron)
{
    for (int k = 0; k < 4; ++k) {
        if (FlipFace(improver, tetrahedron, k)) {
            return true;
        }
    }
    return false;
}

enum { MAX_CAVITY = 60, SETTLE_STEPS = 12 };

/// A hollow that a new node is to fill: tetrahedra taken out and the faces around them.
typedef struct Cavity {
    int count, faceCount;
    int32_t tetrahedra[MAX_CAVITY];
    int32_t faces[4 * MAX_CAVITY][3]; // seen counter-clockwise from inside
    int32_t across[4 * MAX_CAVITY];   // tetrahedron behind, or -1
} Cavity;

static bool InCavity(const Cavity* cavity, int32_t tetrahedron)
{
    for (int i = 0; i < cavity->count; ++i) {
        if (cavity->tetrahedra[i] == tetrahedron) {
            return true;
        }
    }
    return false;
}

// Takes one more tetrahedron out: its faces to others come in, those it shared go.
static void Widen(const jnaImprover* improver, Cavity* cavity, int32_t tetrahedron)
{
    static const uint8_t faces[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    const int32_t* c = improver->mesh->tetrahedra + 4 * tetrahedron;
    cavity->tetrahedra[cavity->count++] = tetrahedron;
    int kept = 0;
    for (int f = 0; f < cavity->faceCount; ++f) {
        if (cavity->across[f] != tetrahedron) {
            memmove(cavity->faces[kept], cavity->faces[f], sizeof(cavity->faces[f]));
            cavity->across[kept++] = cavity->across[f];
        }
    }
    cavity->faceCount = kept;
    for (int k = 0; k < 4; ++k) {
        int32_t other = jnaImprover_Across(improver, tetrahedron, k);
        if (other >= 0 && InCavity(cavity, other)) {
            continue;
        }
        for (int i = 0; i < 3; ++i) {
            cavity->faces[cavity->faceCount][i] = c[faces[k][i]];
        }
        cavity->across[cavity->faceCount++] = other;
    }
}

// Smallest worth of the tetrahedra from the faces to a point, and on which face.
static double CavityWorth(const jnaImprover* improver, const Cavity* cavity, const double* point, int* worst)
{
    const double* nodes = improver->mesh->nodes;
    double smallest = HUGE_VAL;
    for (int f = 0; f < cavity->faceCount; ++f) {
        const int32_t* c = cavity->faces[f];
        double worth = jnaWorth(nodes + 3 * c[0], nodes + 3 * c[1], nodes + 3 * c[2], point);
        if (worth < smallest) {
            smallest = worth;
            *worst = f;
        }
    }
    return smallest;
}

// A cavity around a point, widened across the worst face as long as there is one to cross; the best on the way is
// kept. Some drop in worth on the way is normal, so it does not stop at the first.
static double GrowCavity(const jnaImprover* improver, int32_t tetrahedron, const double* point, Cavity* best)
{
    Cavity cavity = {0};
    double reached = -HUGE_VAL;
    Widen(improver, &cavity, tetrahedron);
    while (cavity.count < MAX_CAVITY / 2) {
        int worst = 0;
        double worth = CavityWorth(improver, &cavity, point, &worst);
        if (worth > reached) {
            reached = worth;
            *best = cavity;
        }
        if (cavity.across[worst] < 0) {
            break;
        }
        Widen(improver, &cavity, cavity.across[worst]);
    }
    return reached;
}

// Whether the faces of a cavity enclose exactly its tetrahedra, seen from a point.
static bool SameVolume(const jnaImprover* improver, const Cavity* cavity, const double* point)
{
    const double* nodes = improver->mesh->nodes;
    double before = 0, after = 0;
    for (int i = 0; i < cavity->count; ++i) {
        const int32_t* c = improver->mesh->tetrahedra + 4 * cavity->tetrahedra[i];
        before += jnaVolume6(nodes + 3 * c[0], nodes + 3 * c[1], nodes + 3 * c[2], nodes + 3 * c[3]);
    }
    for (int f = 0; f < cavity->faceCount; ++f) {
        const int32_t* c = cavity->faces[f];
        after += jnaVolume6(nodes + 3 * c[0], nodes + 3 * c[1], nodes + 3 * c[2], point);
    }
    return fabs(after - before) <= 1e-9 * before;
}

// A cavity and its mesh.
typedef struct Place {
    const jnaImprover* improver;
    const Cavity* cavity;
} Place;

static double WorthAt(const double* place, double enough, const void* user)
{
    const Place* in = user;
    int face = 0;
    (void)enough;
    return CavityWorth(in->improver, in->cavity, place, &face);
}

// Moves the point within its cavity to where the worst face is best.
static double SettlePoint(const jnaImprover* improver, const Cavity* cavity, double worth, double* point)
{
    double step = 0;
    for (int f = 0; f < cavity->faceCount; ++f) {
        step = fmax(step, 0.25 * jnaDistance(point, improver->mesh->nodes + 3 * cavity->faces[f][0]));
    }
    const Place in = {improver, cavity};
    return jnaSettlePlace(point, worth, step, 0, SETTLE_STEPS, (jnaPlaceWorth){WorthAt, &in});
}

static bool AddNode(jnaImprover* improver, const double* point)
{
    jnaMesh* mesh = improver->mesh;
    if (!jnaReserve(&improver->heads, &improver->headCapacity, mesh->nodeCount + 1, sizeof(int32_t)) ||
        !jnaReserve(&improver->fixed, &improver->fixedCapacity, mesh->nodeCount + 1, 1) ||
        !jnaMesh_AddNode(mesh, point)) {
        improver->outOfMemory = true;
        return false;
    }
    improver->heads[mesh->nodeCount - 1] = -1;
    improver->fixed[mesh->nodeCount - 1] = 0;
    return true;
}

static bool FillCavity(jnaImprover* improver, const Cavity* cavity, const double* point)
{
    if (!AddNode(improver, point)) {
        return false;
    }
    jnaTetrahedronList list = {0};
    for (int f = 0; f < cavity->faceCount; ++f) {
        const int32_t* c = cavity->faces[f];
        Put(&list, c[0], c[1], c[2], improver->mesh->nodeCount - 1);
    }
    jnaImprover_Exchange(improver, cavity->count, cavity->tetrahedra, &list);
    return true;
}

// Where a new node may do good: the middle of the tetrahedron, and of its edges.
static void Candidate(const jnaImprover* improver, const int32_t* c, int which, double* point)
{
    static const uint8_t edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const double* nodes = improver->mesh->nodes;
    for (int i = 0; i < 3; ++i) {
        point[i] = which < 6
                       ? 0.5 * (nodes[3 * c[edges[which][0]] + i] + nodes[3 * c[edges[which][1]] + i])
                       : 0.25 * (nodes[3 * c[0] + i] + nodes[3 * c[1] + i] + nodes[3 * c[2] + i] + nodes[3 * c[3] + i]);
    }
}

bool jnaImprover_InsertNode(jnaImprover* improver, int32_t tetrahedron)
{
    int32_t c[4];
    Cavity cavity, best = {0};
    double chosen[3] = {0}, gain = 0;
    memcpy(c, improver->mesh->tetrahedra + 4 * tetrahedron, sizeof(c));
    for (int which = 0; which < 7; ++which) {
        double point[3];
        Candidate(improver, c, which, point);
        double worth = GrowCavity(improver, tetrahedron, point, &cavity);
        worth = SettlePoint(improver, &cavity, worth, point);
        double more = worth - fmax(RingWorth(improver, cavity.count, cavity.tetrahedra), 0);
        if (worth > 0 && more > gain + LEAST_GAIN && SameVolume(improver, &cavity, point)) {
            gain = more;
            best = cavity;
            memcpy(chosen, point, sizeof(chosen));
        }
    }
    return gain > 0 && FillCavity(improver, &best, chosen);
}
