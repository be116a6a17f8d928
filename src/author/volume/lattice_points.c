// A body-centred cubic lattice over a surface: what is inside, and where it ends.
//
// Inside is where the generalised winding number exceeds one half, so holes, overlaps and doubled faces do no harm. On
// the way from an inside point to each of its 14 neighbours the flesh may end: at the first face behind which the
// winding number falls below one half. That is kept for each direction apart, so that two limbs with a gap between them
// narrower than the lattice end each on their own side. Points close to an end are moved onto it (Labelle and Shewchuk,
// "Isosurface stuffing", 2007), which keeps the angles of what is cut away large.
#include "volume/lattice_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <omp.h>

enum { MAX_POINTS = 40000000, POINTS_A_LOOK = 64 };

static void Coordinates(const jnaLattice* l, int32_t point, int c[3])
{
    bool center = point >= l->cornerCount;
    int rest = center ? point - l->cornerCount : point, extra = center ? 0 : 1;
    c[0] = 2 * (rest % (l->size[0] + extra)) + center;
    rest /= l->size[0] + extra;
    c[1] = 2 * (rest % (l->size[1] + extra)) + center;
    c[2] = 2 * (rest / (l->size[1] + extra)) + center;
}

static int32_t PointAt(const jnaLattice* l, const int c[3])
{
    int odd = c[0] & 1;
    for (int i = 0; i < 3; ++i) {
        if (c[i] < 0 || c[i] > 2 * l->size[i]) {
            return -1;
        }
    }
    int extra = odd ? 0 : 1, x = c[0] / 2, y = c[1] / 2, z = c[2] / 2;
    return (odd ? l->cornerCount : 0) + x + (l->size[0] + extra) * (y + (l->size[1] + extra) * z);
}

void jnaLattice_Step(int direction, int step[3])
{
    for (int i = 0; i < 3; ++i) {
        step[i] = direction < 8              ? ((direction >> i) & 1 ? 1 : -1)
                  : (direction - 8) / 2 == i ? 4 * (direction & 1) - 2
                                             : 0;
    }
}

// Neighbour of a point: directions 0 to 7 go half a diagonal (bits: +x, +y, +z), 8 to 13 along an axis, back then
// forth. -1 beyond the rim.
static int32_t NeighbourOf(const jnaLattice* l, int32_t point, int direction)
{
    int c[3], step[3];
    Coordinates(l, point, c);
    jnaLattice_Step(direction, step);
    for (int i = 0; i < 3; ++i) {
        c[i] += step[i];
    }
    return PointAt(l, c);
}

int jnaLattice_Direction(const jnaLattice* l, int32_t from, int32_t to)
{
    int a[3], b[3];
    Coordinates(l, from, a);
    Coordinates(l, to, b);
    if ((a[0] & 1) != (b[0] & 1)) {
        return (b[0] > a[0]) + 2 * (b[1] > a[1]) + 4 * (b[2] > a[2]);
    }
    int axis = b[0] != a[0] ? 0 : b[1] != a[1] ? 1 : 2;
    return 8 + 2 * axis + (b[axis] > a[axis]);
}

bool jnaLattice_Tetrahedron(const jnaLattice* l, int32_t corner, int axis, int which, int32_t corners[4])
{
    static const int around[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    int c[3], at[3], u = (axis + 1) % 3, v = (axis + 2) % 3;
    Coordinates(l, corner, c);
    corners[0] = corner;
    memcpy(at, c, sizeof(at));
    at[axis] += 2;
    corners[1] = PointAt(l, at);
    for (int k = 0; k < 2; ++k) {
        at[axis] = c[axis] + 1;
        at[u] = c[u] + around[which + k][0];
        at[v] = c[v] + around[which + k][1];
        corners[2 + k] = PointAt(l, at);
    }
    return corners[1] >= 0 && corners[2] >= 0 && corners[3] >= 0;
}

static jnResult Layout(const jnaSurface* surface, double spacing, jnaLattice* l, jnError* error)
{
    double points = 2;
    *l = (jnaLattice){.spacing = spacing};
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int v = 0; v < surface->vertexCount; ++v) {
            low = fmin(low, surface->positions[3 * v + i]);
            high = fmax(high, surface->positions[3 * v + i]);
        }
        // A rim of outside points all around, and no point where a symmetric surface has its plane.
        double cubes = ceil((high - low) / spacing) + 3;
        points *= cubes + 1;
        l->size[i] = cubes < MAX_POINTS ? (int)cubes : MAX_POINTS;
        l->origin[i] = 0.5 * (low + high) - 0.5 * spacing * cubes + spacing * (0.0137 + 0.0071 * i);
    }
    if (!(points < MAX_POINTS)) {
        return jnFail(error, jn_badArgument,
            "an edge of %g m is too short for this character: the lattice would have %.2g points", spacing, points);
    }
    l->cornerCount = (l->size[0] + 1) * (l->size[1] + 1) * (l->size[2] + 1);
    l->pointCount = l->cornerCount + l->size[0] * l->size[1] * l->size[2];
    l->number = jnaArena_Take(&l->memory, l->pointCount, sizeof(*l->number));
    l->inside = jnaArena_Take(&l->memory, l->pointCount, sizeof(*l->inside));
    l->positions = jnaArena_Take(&l->memory, l->pointCount, 3 * sizeof(double));
    l->onSurface = jnaArena_Take(&l->memory, l->pointCount, 1);
    return jnaArena_Check(&l->memory, "a lattice", error);
}

// Whether the work of several threads shall end, asked by one of them now and then.
static bool IsStopped(const jnaLattice* l, int index, int* stopped)
{
    int now;
#pragma omp atomic read
    now = *stopped;
    if (now == 0 && index % POINTS_A_LOOK == 0 && omp_get_thread_num() == 0 && !jnaWatch_GoesOn(l->watch, 0)) {
        now = 1;
#pragma omp atomic write
        *stopped = 1;
    }
    return now != 0;
}

static jnResult FindInside(const jnaTree* tree, jnaLattice* l, jnError* error)
{
    int stopped = 0;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int32_t p = 0; p < l->pointCount; ++p) {
        if (IsStopped(l, p, &stopped)) {
            continue;
        }
        int c[3];
        double* x = l->positions + 3 * (size_t)p;
        Coordinates(l, p, c);
        for (int i = 0; i < 3; ++i) {
            x[i] = l->origin[i] + 0.5 * l->spacing * c[i];
        }
        l->number[p] = jnaTree_Winding(tree, x) > 0.5 ? 1 : -1;
    }
    for (int32_t p = 0; p < l->pointCount; ++p) {
        if (l->number[p] > 0) {
            l->number[p] = l->insideCount;
            l->inside[l->insideCount++] = p;
        }
    }
    return stopped ? jnaWatch_Stopped(error) : jn_ok;
}

static jnResult FindCuts(const jnaTree* tree, jnaLattice* l, jnError* error)
{
    l->cuts = jnaArena_Take(&l->memory, l->insideCount, JNA_DIRECTIONS * sizeof(double));
    JN_PASS(jnaArena_Check(&l->memory, "a lattice", error));
    int stopped = 0;
#pragma omp parallel for schedule(dynamic, 256)
    for (int n = 0; n < l->insideCount; ++n) {
        if (IsStopped(l, n, &stopped)) {
            continue;
        }
        for (int d = 0; d < JNA_DIRECTIONS; ++d) {
            int32_t other = NeighbourOf(l, l->inside[n], d);
            double* cut = &l->cuts[(size_t)n * JNA_DIRECTIONS + (size_t)d];
            *cut = other < 0 ? 0.5
                             : jnaTree_Exit(tree, l->positions + 3 * (size_t)l->inside[n],
                                   l->positions + 3 * (size_t)other, l->number[other] >= 0);
        }
    }
    return stopped ? jnaWatch_Stopped(error) : jn_ok;
}

static double* CutOf(jnaLattice* l, int32_t from, int32_t to)
{
    return &l->cuts[(size_t)l->number[from] * JNA_DIRECTIONS + (size_t)jnaLattice_Direction(l, from, to)];
}

// Joins what one tetrahedron connects by a detour; true where something changed.
static bool JoinDetours(jnaLattice* l, const int32_t c[4])
{
    int part[4];
    bool changed = false;
    for (int i = 0; i < 4; ++i) {
        part[i] = i;
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
            if (l->number[c[i]] >= 0 && l->number[c[j]] >= 0 && *CutOf(l, c[i], c[j]) < 0 && part[i] != part[j]) {
                int old = part[j];
                for (int k = 0; k < 4; ++k) {
                    part[k] = part[k] == old ? part[i] : part[k];
                }
            }
        }
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = i + 1; j < 4; ++j) {
            if (part[i] == part[j] && *CutOf(l, c[i], c[j]) >= 0) {
                *CutOf(l, c[i], c[j]) = *CutOf(l, c[j], c[i]) = -1;
                changed = true;
            }
        }
    }
    return changed;
}

// A cut between two inside points counts only where no tetrahedron leads around it: then all tetrahedra on an edge
// agree about it, and faces fit.
static void CloseDetours(jnaLattice* l)
{
    for (int n = 0; n < l->insideCount; ++n) {
        for (int d = 0; d < JNA_DIRECTIONS; ++d) {
            int32_t from = l->inside[n], to = NeighbourOf(l, from, d);
            if (to >= 0 && l->number[to] >= 0 && (*CutOf(l, from, to) < 0 || *CutOf(l, to, from) < 0)) {
                *CutOf(l, from, to) = *CutOf(l, to, from) = -1;
            }
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t p = 0; p < l->cornerCount; ++p) {
            int32_t c[4];
            for (int t = 0; t < 12; ++t) {
                if (jnaLattice_Tetrahedron(l, p, t / 4, t % 4, c) &&
                    (l->number[c[0]] >= 0) + (l->number[c[1]] >= 0) + (l->number[c[2]] >= 0) + (l->number[c[3]] >= 0) >
                        2) {
                    changed |= JoinDetours(l, c);
                }
            }
        }
    }
}

// Moves each point onto the nearest end of the flesh on its edges, if that is near. A point's own lattice place is
// needed by its neighbours, so the moved ones are written elsewhere first.
static jnResult MovePoints(jnaLattice* l, jnError* error)
{
    double* moved = jnaArena_Take(&l->memory, l->pointCount, 3 * sizeof(double));
    JN_PASS(jnaArena_Check(&l->memory, "a lattice", error));
    memcpy(moved, l->positions, 3 * (size_t)l->pointCount * sizeof(double));
    for (int32_t p = 0; p < l->pointCount; ++p) {
        double nearest = HUGE_VAL;
        for (int d = 0; d < JNA_DIRECTIONS; ++d) {
            int32_t other = NeighbourOf(l, p, d);
            bool inside = l->number[p] >= 0;
            if (other < 0 || (!inside && l->number[other] < 0)) {
                continue;
            }
            double cut = inside ? *CutOf(l, p, other) : 1 - *CutOf(l, other, p);
            double length = d < 8 ? sqrt(0.75) : 1;
            if (cut >= 0 && cut < (d < 8 ? JNA_MOVE_SHORT : JNA_MOVE_LONG) && cut * length < nearest) {
                nearest = cut * length;
                l->onSurface[p] = 1;
                for (int i = 0; i < 3; ++i) {
                    double a = l->positions[3 * (size_t)p + (size_t)i];
                    moved[3 * (size_t)p + (size_t)i] = a + cut * (l->positions[3 * (size_t)other + (size_t)i] - a);
                }
            }
        }
    }
    l->positions = moved;
    return jn_ok;
}

jnResult jnaCreateLattice(
    const jnaSurface* surface, const jnaTree* tree, double spacing, jnaLattice* lattice, jnError* error)
{
    JN_PASS(Layout(surface, spacing, lattice, error));
    JN_PASS(FindInside(tree, lattice, error));
    if (lattice->insideCount == 0) {
        return jnFail(error, jn_badData,
            "no point of a lattice of %g m lies inside the surface: give a smaller --edge or close the surface",
            spacing);
    }
    JN_PASS(FindCuts(tree, lattice, error));
    CloseDetours(lattice);
    return MovePoints(lattice, error);
}

void jnaDestroyLattice(jnaLattice* lattice)
{
    jnaReleaseArena(&lattice->memory);
    *lattice = (jnaLattice){0};
}
