// Tetrahedra from a lattice: whole ones inside, cut ones where the flesh ends.
//
// Each tetrahedron of the lattice gives one piece per connected group of its inside points; to a group all other points
// are outside, so limbs that share a cell get a cell each. What is left of a cut tetrahedron is a tetrahedron, a
// pyramid or a prism; the four-sided faces of neighbours are cut along the same diagonal, the shorter one. Afterwards
// nodes that hold groups together without a face between them are doubled, and crumbs dropped.
#include "volume/lattice_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

// Parts of less than this share of the whole volume are crumbs: tips that the lattice cut off.
#define CRUMB_SHARE 1e-3

// A point that is moved may leave this much, in cubes of the spacing, of a tetrahedron without a volume.
#define FLAT_SHARE 1e-9

typedef struct Filling {
    const jnaLattice* lattice;
    jnaMesh* mesh;
    int32_t* pointNodes; // [pointCount], node or -1
    int32_t* cutNodes;   // [insideCount][JNA_DIRECTIONS], node or -1
    bool outOfMemory;
} Filling;

static int32_t NewNode(Filling* f, const double* position)
{
    f->outOfMemory |= !jnaMesh_AddNode(f->mesh, position);
    return f->outOfMemory ? 0 : f->mesh->nodeCount - 1;
}

static int32_t PointNode(Filling* f, int32_t point)
{
    if (f->pointNodes[point] < 0) {
        f->pointNodes[point] = NewNode(f, f->lattice->positions + 3 * (size_t)point);
    }
    return f->pointNodes[point];
}

// The end of the flesh from an inside point toward another. Toward a point of other flesh it keeps away from that
// point, whose own place belongs to the other piece.
static int32_t CutNode(Filling* f, int32_t from, int32_t to)
{
    const jnaLattice* l = f->lattice;
    size_t entry = (size_t)l->number[from] * JNA_DIRECTIONS + (size_t)jnaLattice_Direction(l, from, to);
    if (f->cutNodes[entry] < 0) {
        int direction = jnaLattice_Direction(l, from, to), step[3];
        double low = direction < 8 ? JNA_MOVE_SHORT : JNA_MOVE_LONG, p[3];
        double at = fmin(1 - low, fmax(low, l->cuts[entry]));
        jnaLattice_Step(direction, step);
        for (int i = 0; i < 3; ++i) {
            p[i] = l->positions[3 * (size_t)from + (size_t)i] + 0.5 * at * l->spacing * step[i];
        }
        f->cutNodes[entry] = NewNode(f, p);
    }
    return f->cutNodes[entry];
}

static void Emit(Filling* f, int32_t a, int32_t b, int32_t c, int32_t d)
{
    if (f->outOfMemory) {
        return;
    }
    const double* x = f->mesh->nodes;
    double volume = jnaVolume6(x + 3 * a, x + 3 * b, x + 3 * c, x + 3 * d);
    double least = FLAT_SHARE * pow(f->lattice->spacing, 3);
    if (fabs(volume) > least) {
        f->outOfMemory |=
            volume > 0 ? !jnaMesh_AddTetrahedron(f->mesh, a, b, c, d) : !jnaMesh_AddTetrahedron(f->mesh, a, c, b, d);
    }
}

// Whether the diagonal of the face (p, q, cut q, cut p) starts at p. Decided by the face alone.
static bool StartsAtFirst(const Filling* f, int32_t p, int32_t q, int32_t cp, int32_t cq)
{
    if (f->outOfMemory) {
        return true;
    }
    const double* x = f->mesh->nodes;
    double first = jnaDistance(x + 3 * p, x + 3 * cq), second = jnaDistance(x + 3 * q, x + 3 * cp);
    return fabs(first - second) > 1e-9 * first ? first < second : p < q;
}

// A prism between triangles t and b, corner by corner; fromTop[k]: the diagonal of side k (corners k and k + 1) starts
// at t[k].
static void EmitPrism(Filling* f, const int32_t t[3], const int32_t b[3], const bool fromTop[3])
{
    for (int k = 0; k < 3; ++k) {
        // A top corner where both diagonals end: cut off the bottom triangle with it.
        int next = (k + 1) % 3, last = (k + 2) % 3;
        if (fromTop[k] && !fromTop[last]) {
            Emit(f, t[k], b[0], b[1], b[2]);
            if (fromTop[next]) {
                Emit(f, t[k], t[next], b[next], b[last]);
                Emit(f, t[k], t[next], t[last], b[last]);
            } else {
                Emit(f, t[k], t[last], b[next], b[last]);
                Emit(f, t[k], t[next], t[last], b[next]);
            }
            return;
        }
    }
    // All three run around: no corner can be cut off, so a node in the middle is needed.
    double middle[3] = {0};
    for (int k = 0; k < 3 && !f->outOfMemory; ++k) {
        for (int i = 0; i < 3; ++i) {
            middle[i] += (f->mesh->nodes[3 * t[k] + i] + f->mesh->nodes[3 * b[k] + i]) / 6;
        }
    }
    int32_t m = NewNode(f, middle);
    Emit(f, t[0], t[1], t[2], m);
    Emit(f, b[0], b[1], b[2], m);
    for (int k = 0; k < 3; ++k) {
        int next = (k + 1) % 3;
        Emit(f, t[k], t[next], fromTop[k] ? b[next] : b[k], m);
        Emit(f, b[k], b[next], fromTop[k] ? t[k] : t[next], m);
    }
}

// Two inside points, two outside: the prism lies along the edge between the inside ones.
static void FillTwoTwo(Filling* f, const int32_t plus[2], const int32_t minus[2])
{
    int32_t t[3] = {PointNode(f, plus[0]), CutNode(f, plus[0], minus[0]), CutNode(f, plus[0], minus[1])};
    int32_t b[3] = {PointNode(f, plus[1]), CutNode(f, plus[1], minus[0]), CutNode(f, plus[1], minus[1])};
    bool side0 = StartsAtFirst(f, t[0], b[0], t[1], b[1]), side2 = StartsAtFirst(f, t[0], b[0], t[2], b[2]);
    // Sides: 0 has corners 0 and 1, 1 the cut face, 2 corners 2 and 0. The cut face is free: never all around.
    bool fromTop[3] = {side0, false, !side2};
    bool around = fromTop[0] == fromTop[2];
    fromTop[1] = around ? !fromTop[0] : StartsAtFirst(f, t[1], t[2], b[1], b[2]);
    EmitPrism(f, t, b, fromTop);
}

static void FillThreeOne(Filling* f, const int32_t plus[3], int32_t minus)
{
    int32_t t[3], b[3];
    bool fromTop[3];
    for (int k = 0; k < 3; ++k) {
        t[k] = PointNode(f, plus[k]);
        b[k] = CutNode(f, plus[k], minus);
    }
    for (int k = 0; k < 3; ++k) {
        fromTop[k] = StartsAtFirst(f, t[k], t[(k + 1) % 3], b[k], b[(k + 1) % 3]);
    }
    EmitPrism(f, t, b, fromTop);
}

// One group of a tetrahedron. kind: 1 inside, 0 on the surface, -1 outside.
static void FillGroup(Filling* f, const int32_t c[4], const int kind[4])
{
    int32_t plus[4], zero[4], minus[4];
    int plusCount = 0, zeroCount = 0, minusCount = 0;
    for (int k = 0; k < 4; ++k) {
        if (kind[k] > 0) {
            plus[plusCount++] = c[k];
        } else if (kind[k] == 0) {
            zero[zeroCount++] = c[k];
        } else {
            minus[minusCount++] = c[k];
        }
    }
    if (plusCount == 0) {
        return;
    }
    if (minusCount == 0 || plusCount == 1) {
        int32_t n[4];
        for (int k = 0; k < 4; ++k) {
            n[k] = kind[k] < 0 ? CutNode(f, plus[0], c[k]) : PointNode(f, c[k]);
        }
        Emit(f, n[0], n[1], n[2], n[3]);
    } else if (plusCount == 3) {
        FillThreeOne(f, plus, minus[0]);
    } else if (zeroCount == 1) {
        int32_t p = PointNode(f, plus[0]), q = PointNode(f, plus[1]), tip = PointNode(f, zero[0]);
        int32_t cp = CutNode(f, plus[0], minus[0]), cq = CutNode(f, plus[1], minus[0]);
        bool first = StartsAtFirst(f, p, q, cp, cq);
        Emit(f, p, q, first ? cq : cp, tip);
        Emit(f, first ? p : q, cq, cp, tip);
    } else {
        FillTwoTwo(f, plus, minus);
    }
}

static void FillTetrahedron(Filling* f, const int32_t c[4])
{
    const jnaLattice* l = f->lattice;
    int group[4];
    for (int i = 0; i < 4; ++i) {
        group[i] = l->number[c[i]] >= 0 ? i : -1;
        for (int j = 0; j < i && group[i] >= 0; ++j) {
            size_t entry = (size_t)l->number[c[i]] * JNA_DIRECTIONS + (size_t)jnaLattice_Direction(l, c[i], c[j]);
            if (group[j] >= 0 && l->cuts[entry] < 0) {
                group[i] = group[j];
                break;
            }
        }
    }
    for (int g = 0; g < 4; ++g) {
        int kind[4];
        for (int i = 0; i < 4; ++i) {
            bool outside = l->number[c[i]] < 0;
            kind[i] = outside ? (l->onSurface[c[i]] ? 0 : -1) : group[i] != g ? -1 : l->onSurface[c[i]] ? 0 : 1;
        }
        FillGroup(f, c, kind);
    }
}

static jnResult Fill(const jnaLattice* l, jnaMesh* mesh, jnError* error)
{
    Filling f = {.lattice = l, .mesh = mesh};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    f.pointNodes = jnaArena_Take(&arena, l->pointCount, sizeof(int32_t));
    f.cutNodes = jnaArena_Take(&arena, l->insideCount, JNA_DIRECTIONS * sizeof(int32_t));
    JN_TRY(jnaArena_Check(&arena, "a lattice", error));
    memset(f.pointNodes, -1, (size_t)l->pointCount * sizeof(int32_t));
    memset(f.cutNodes, -1, (size_t)l->insideCount * JNA_DIRECTIONS * sizeof(int32_t));
    for (int32_t p = 0; p < l->cornerCount && !f.outOfMemory; ++p) {
        for (int t = 0; t < 12; ++t) {
            int32_t c[4];
            if (jnaLattice_Tetrahedron(l, p, t / 4, t % 4, c)) {
                FillTetrahedron(&f, c);
            }
        }
    }
    arena.failed = f.outOfMemory;
    JN_TRY(jnaArena_Check(&arena, "a lattice", error));
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaBuildLattice(const jnaSurface* surface, const jnaTree* tree, double spacing, const jnaWatch* watch,
    jnaMesh* mesh, jnError* error)
{
    jnaLattice lattice = {.watch = watch};
    *mesh = (jnaMesh){0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateLattice(surface, tree, spacing, &lattice, error));
    JN_TRY(Fill(&lattice, mesh, error));
    JN_TRY(jnaSplitPieces(tree, CRUMB_SHARE, mesh, error));
    if (mesh->tetrahedronCount == 0) {
        result = jnFail(
            error, jn_badData, "a lattice of %g m is too coarse for this surface: give a smaller --edge", spacing);
    }
done:
    jnaDestroyLattice(&lattice);
    if (result != jn_ok) {
        jnaDestroyMesh(mesh);
    }
    return result;
}
