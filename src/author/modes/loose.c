// Flesh that nothing holds.
//
// A character may have parts that hang on no bone: plates of a robot, eyes, buttons. Such a part has no flesh of its
// own to swing against, only itself as a whole, slowly and far. Two things keep it from flying off: a piece of the mesh
// with no bone but the crumb that the solver needs is taken out of the search, so that its joints carry it; and a mode
// that moves pieces as rigid bodies, or hardly shows on the skin, is left out.
//
// How rigid a mode is: of each piece the translation t and rotation w nearest to it in the sense of the mass,
//     t = sum m phi / M        I w = sum m (x - centre) x phi        energy M |t|^2 + w . I w
// against the energy of the whole mode, sum m |phi|^2.
#include "modes_internal.h"

#include "character/affine.h"
#include "internal.h"
#include "volume/inside_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A piece with no more held nodes than a tetrahedron has, one in so many, is held so that the solver can work, not by a
// bone.
enum { CRUMB = 4, SPARSE = 100 };
// A mode is no motion of flesh where more than this of its energy is rigid motion of pieces, and where it is slower
// than SLOW times the lowest frequency at which flesh of the piece's length could swing by itself, c / 2 L with the
// speed c of shear waves.
#define RIGID_SHARE 0.95
#define SLOW 0.25
#define PI 3.14159265358979323846
// A mode whose largest displacement on the skin is below this share of the largest inside does not show.
#define SMALLEST_SHOWN 0.2

// One piece of the mesh, by the number of its first node.
typedef struct Piece {
    int nodes, held;
    double mass, centre[3], inertia[3][3];
    double momentum[3], spin[3]; // of the mode at hand
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

jnResult jnaHoldLoose(const jnaVolume* v, const jnaCharacter* c, jnaVolume* held, jnaNotes* notes, jnError* error)
{
    size_t nodes = (size_t)v->nodeCount;
    int* pieces = malloc(nodes * sizeof(int));
    Piece* list = calloc(nodes, sizeof(*list));
    *held = *v;
    held->heldBy = malloc(nodes * sizeof(int32_t));
    jnResult result = jn_ok;
    if (pieces == NULL || list == NULL || held->heldBy == NULL) {
        free(held->heldBy);
        held->heldBy = NULL;
        result = jnFail(error, jn_outOfMemory, "out of memory for the pieces of %d nodes", v->nodeCount);
    } else {
        jnaFindPieces(v, pieces);
        CountPieces(v, pieces, list);
        for (int n = 0; n < v->nodeCount; ++n) {
            bool loose = v->heldBy[n] < 0 && IsLoose(&list[pieces[n]]);
            held->heldBy[n] = loose ? jnaDominantJoint(v, n) : v->heldBy[n];
        }
        TellLoose(v, c, list, notes);
    }
    free(pieces);
    free(list);
    return result;
}

// Mass, centre and inertia of every piece.
static void WeighPieces(const jnaVolume* v, const double* masses, const int* pieces, Piece* list)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        Piece* p = &list[pieces[n]];
        p->mass += masses[n];
        for (int a = 0; a < 3; ++a) {
            p->centre[a] += masses[n] * v->nodes[3 * (size_t)n + (size_t)a];
        }
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        for (int a = 0; a < 3 && list[n].mass > 0; ++a) {
            list[n].centre[a] /= list[n].mass;
        }
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        Piece* p = &list[pieces[n]];
        double r[3];
        for (int a = 0; a < 3; ++a) {
            r[a] = v->nodes[3 * (size_t)n + (size_t)a] - p->centre[a];
        }
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) {
                p->inertia[a][b] += masses[n] * ((a == b ? jnaDot(r, r) : 0) - r[a] * r[b]);
            }
        }
    }
}

// Energy of the rigid motion with an angular momentum: L . I^-1 L by the adjugate; 0 where the piece is a line.
static double SpinEnergy(const double i[3][3], const double l[3])
{
    double rows[3][3], sum = 0;
    jnaCross(i[1], i[2], rows[0]);
    jnaCross(i[2], i[0], rows[1]);
    jnaCross(i[0], i[1], rows[2]);
    double determinant = jnaDot(i[0], rows[0]), scale = i[0][0] + i[1][1] + i[2][2];
    for (int a = 0; a < 3; ++a) {
        sum += l[a] * jnaDot(rows[a], l);
    }
    return determinant > 1e-9 * scale * scale * scale ? sum / determinant : 0;
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

// Share of a mode's energy in rigid motion of pieces, and the length of the piece that has most of it, as of a rod with
// that radius of gyration.
static double RigidShare(const jnaVolume* v, const double* masses, const int* places, const int* pieces,
    const double* shape, Piece* list, double* length)
{
    double whole = 0, rigid = 0, most = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        memset(list[n].momentum, 0, sizeof(list[n].momentum));
        memset(list[n].spin, 0, sizeof(list[n].spin));
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        Piece* p = &list[pieces[n]];
        if (places[n] < 0) {
            continue;
        }
        const double* at = shape + 3 * (size_t)places[n];
        double r[3], spin[3];
        for (int a = 0; a < 3; ++a) {
            r[a] = v->nodes[3 * (size_t)n + (size_t)a] - p->centre[a];
        }
        jnaCross(r, at, spin);
        for (int a = 0; a < 3; ++a) {
            p->momentum[a] += masses[n] * at[a];
            p->spin[a] += masses[n] * spin[a];
        }
        whole += masses[n] * jnaDot(at, at);
    }
    *length = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        const Piece* p = &list[n];
        if (!(p->mass > 0)) {
            continue;
        }
        double energy = jnaDot(p->momentum, p->momentum) / p->mass + SpinEnergy(p->inertia, p->spin);
        rigid += energy;
        if (energy > most) {
            most = energy;
            *length = sqrt(6 * (p->inertia[0][0] + p->inertia[1][1] + p->inertia[2][2]) / p->mass);
        }
    }
    return whole > 0 ? rigid / whole : 1;
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

jnResult jnaDropLoose(const jnaVolume* v, const double* masses, const int* places, size_t numbers, int* count,
    double* omega2, double* shapes, jnaNotes* notes, jnError* error)
{
    size_t nodes = (size_t)v->nodeCount;
    int *pieces = malloc(nodes * sizeof(int)), kept = 0, rigid = 0, hidden = 0;
    Piece* list = calloc(nodes, sizeof(*list));
    if (pieces == NULL || list == NULL) {
        free(pieces);
        free(list);
        return jnFail(error, jn_outOfMemory, "out of memory for the pieces of %d nodes", v->nodeCount);
    }
    double speed = ShearSpeed(v);
    jnaFindPieces(v, pieces);
    WeighPieces(v, masses, pieces, list);
    for (int k = 0; k < *count; ++k) {
        const double* shape = shapes + (size_t)k * numbers;
        double length, share = RigidShare(v, masses, places, pieces, shape, list, &length);
        bool isRigid = share > RIGID_SHARE && sqrt(omega2[k]) * length < SLOW * PI * speed;
        bool isHidden = !isRigid && ShownShare(v, places, shape) < SMALLEST_SHOWN;
        rigid += isRigid;
        hidden += isHidden;
        if (!isRigid && !isHidden) {
            omega2[kept] = omega2[k];
            memmove(shapes + (size_t)kept * numbers, shape, numbers * sizeof(double));
            kept++;
        }
    }
    if (rigid > 0) {
        jnaNotes_Add(notes, "%d mode%s left out: whole pieces that hang on next to nothing swing in %s", rigid,
            rigid > 1 ? "s are" : " is", rigid > 1 ? "them" : "it");
    }
    if (hidden > 0) {
        jnaNotes_Add(notes, "%d mode%s left out: %s on the skin", hidden, hidden > 1 ? "s are" : " is",
            hidden > 1 ? "they hardly show" : "it hardly shows");
    }
    *count = kept;
    free(pieces);
    free(list);
    return jn_ok;
}
