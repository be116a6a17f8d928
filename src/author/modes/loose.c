// Flesh that nothing holds.
//
// A character may have parts that hang on no bone: plates of a robot, eyes, buttons. Such a part has no flesh of its
// own to swing against, only itself as a whole, slowly and far; and where a joint turns faster than that, it is flung
// off and no spring brings it back. Two things prevent it: a piece of the mesh with no bone but the crumb that the
// solver needs is taken out of the search, so that its joints carry it; and a mode that is far too slow for flesh of
// that thickness, or hardly shows on the skin, is left out.
#include "modes/modes_internal.h"

#include "base/affine.h"
#include "base/try.h"
#include "runtime/for_author.h"
#include "volume/volume_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A piece with no more held nodes than a tetrahedron has, one in so many, is held so that the solver can work, not by a
// bone.
enum { CRUMB = 4, SPARSE = 100 };
// Flesh of thickness t on a bone swings at c / 4 t, with the speed c of shear waves. A mode slower than SLOW times
// that, t the mean distance from the bones of what it moves, is no motion of flesh.
#define SLOW 0.1
// A mode whose largest displacement on the skin is below this share of the largest inside does not show.
#define SMALLEST_SHOWN 0.2

// One piece of the mesh, by the number of its first node.
typedef struct Piece {
    int nodes, held;
} Piece;

static void CountPieces(const jnaVolume* v, const int* pieces, Piece* list)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        list[pieces[n]].nodes++;
        list[pieces[n]].held += v->heldBy[n] >= 0;
    }
}

static bool IsLoose(const Piece* p)
{
    return p->nodes > 0 && p->held <= CRUMB && p->nodes > SPARSE * p->held;
}

static void TellLoose(const jnaVolume* v, const jnaCharacter* c, const Piece* list, jnaNotes* notes)
{
    int count = 0, largest = -1;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (IsLoose(&list[n])) {
            count++;
            largest = largest < 0 || list[n].nodes > list[largest].nodes ? n : largest;
        }
    }
    if (count > 0) {
        jnaNotes_Add(notes,
            "%d piece%s that no bone holds move%s with the joints, without modes; the largest is at '%s'", count,
            count > 1 ? "s" : "", count > 1 ? "" : "s", c->joints[jnaDominantJoint(v, largest)].name);
    }
}

jnResult jnaHoldLoose(
    const jnaVolume* v, const jnaCharacter* c, jnaArena* arena, jnaVolume* held, jnaNotes* notes, jnError* error)
{
    int* pieces = jnaArena_Take(arena, v->nodeCount, sizeof(int));
    Piece* list = jnaArena_Take(arena, v->nodeCount, sizeof(*list));
    *held = *v;
    held->heldBy = jnaArena_Take(arena, v->nodeCount, sizeof(int32_t));
    JN_PASS(jnaArena_Check(arena, "the pieces of a volume", error));
    jnaFindPieces(v, pieces);
    CountPieces(v, pieces, list);
    for (int n = 0; n < v->nodeCount; ++n) {
        bool loose = v->heldBy[n] < 0 && IsLoose(&list[pieces[n]]);
        held->heldBy[n] = loose ? jnaDominantJoint(v, n) : v->heldBy[n];
    }
    TellLoose(v, c, list, notes);
    return jn_ok;
}

// Speed of shear waves, m/s: of the softest material.
static double ShearSpeed(const jnaVolume* v)
{
    double least = HUGE_VAL;
    for (int i = 0; i < v->materialCount; ++i) {
        const jnaMaterial* m = &v->materials[i];
        least = fmin(least, m->young / (2 * (1 + m->poisson) * m->density));
    }
    return sqrt(least);
}

// Distance of every node from the nearest one that is held. held: [nodeCount], scratch.
static void FindDepths(const jnaVolume* v, int32_t* held, double* depths)
{
    int count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] >= 0) {
            held[count++] = n;
        }
    }
#pragma omp parallel for schedule(static)
    for (int n = 0; n < v->nodeCount; ++n) {
        double least = HUGE_VAL;
        for (int i = 0; i < count; ++i) {
            double away[3];
            jnaSubtract(v->nodes + 3 * (size_t)n, v->nodes + 3 * (size_t)held[i], away);
            least = fmin(least, jnaDot(away, away));
        }
        depths[n] = sqrt(least);
    }
}

// Mean distance from the bones of what a mode moves, by its energy; infinite where it moves bone that springs hold more
// than flesh, which is no matter of thickness.
static double DepthOf(const jnaVolume* v, const jnaNodeModes* m, const double* shape, const double* depths)
{
    double flesh = 0, bone = 0, sum = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* at = shape + 3 * (size_t)(m->places[n] >= 0 ? m->places[n] : 0);
        double energy = m->places[n] >= 0 ? m->masses[n] * jnaDot(at, at) : 0;
        bone += v->heldBy[n] >= 0 ? energy : 0;
        flesh += v->heldBy[n] < 0 ? energy : 0;
        sum += v->heldBy[n] < 0 ? energy * depths[n] : 0;
    }
    return flesh > bone ? sum / flesh : HUGE_VAL;
}

// Largest displacement on the skin of the largest inside.
static double ShownShare(const jnaVolume* v, const int* places, const double* shape)
{
    double inside = 0, shown = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* at = shape + 3 * (size_t)(places[n] >= 0 ? places[n] : 0);
        inside = places[n] >= 0 ? fmax(inside, jnaDot(at, at)) : inside;
    }
    for (int i = 0; i < v->vertexCount; ++i) {
        int t = v->skinTetrahedra[i];
        double sum[3] = {0};
        for (int k = 0; t >= 0 && k < 4; ++k) {
            int place = places[v->tetrahedra[4 * (size_t)t + (size_t)k]];
            for (int a = 0; place >= 0 && a < 3; ++a) {
                sum[a] += v->skinWeights[4 * (size_t)i + (size_t)k] * shape[3 * (size_t)place + (size_t)a];
            }
        }
        shown = fmax(shown, jnaDot(sum, sum));
    }
    return inside > 0 ? sqrt(shown / inside) : 0;
}

jnResult jnaDropLoose(const jnaVolume* v, jnaNodeModes* m, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int32_t* held = jnaArena_Take(&arena, v->nodeCount, sizeof(*held));
    double *depths = jnaArena_Take(&arena, v->nodeCount, sizeof(*depths)), speed = ShearSpeed(v);
    int kept = 0, slow = 0, hidden = 0;
    JN_TRY(jnaArena_Check(&arena, "the bones of a volume", error));
    FindDepths(v, held, depths);
    for (int k = 0; k < m->count; ++k) {
        const double* shape = m->shapes + (size_t)k * m->numbers;
        double depth = DepthOf(v, m, shape, depths);
        bool isSlow = sqrt(m->omega2[k]) * depth < SLOW * 0.5 * JNA_PI * speed;
        bool isHidden = !isSlow && ShownShare(v, m->places, shape) < SMALLEST_SHOWN;
        slow += isSlow;
        hidden += isHidden;
        if (!isSlow && !isHidden) {
            m->omega2[kept] = m->omega2[k];
            memmove(m->shapes + (size_t)kept * m->numbers, shape, m->numbers * sizeof(double));
            kept++;
        }
    }
    m->count = kept;
    if (slow > 0) {
        jnaNotes_Add(notes, "%d mode%s left out: too slow for flesh, because almost nothing holds the part", slow,
            slow > 1 ? "s are" : " is");
    }
    if (hidden > 0) {
        jnaNotes_Add(notes, "%d mode%s left out: %s on the skin", hidden, hidden > 1 ? "s are" : " is",
            hidden > 1 ? "they hardly show" : "it hardly shows");
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
