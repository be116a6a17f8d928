// Vibration modes of a volume, brought to the surface.
//
// Of the volume's modes phi (unit modal mass) the surface keeps U_v = sum of the corners' phi by the skin's weights.
// The force of an acceleration on a mode is phi . M a over all nodes, but only the surface's acceleration is known at
// run time: it is carried inside by the Laplace equation, a = H a_s, which is exact for every affine motion, so the
// projection is P = H^T M phi. With T the skin's weights and p a stiff tie, H = (L + p T^T T)^-1 p T^T, and a solve per
// mode and axis gives P for all vertices at once.
//
// Modes of another pose than rest are turned back into the rest pose node by node, as the surface is when it is
// skinned: what follows is the same for both.
#include "modes/modes.h"

#include "base/affine.h"
#include "base/try.h"
#include "modes/elastic.h"
#include "modes/modes_internal.h"
#include "runtime/for_author.h"
#include "volume/laplacian.h"
#include "volume/skin_extension.h"
#include "volume/skin_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Below this a piece of flesh hangs on nothing and only drifts.
#define FLOATING_HERTZ 0.25
// Joints this close to each other's mirror image, as a share of the height, are left and right; stiffnesses of a mirror
// pair of modes differ by less than this.
#define MIRROR_TOLERANCE 0.05
#define PAIR_TOLERANCE 0.08
// Tie of the skin to the Laplace equation, in metres: a hundred thousand times the equation's own entries.
#define TIE 1e3

jnaModesDef jnaDefaultModesDef(void)
{
    return (jnaModesDef){.count = 64,
        .cutoff = 25,
        .ratio = 0.15,
        .damping = 0.006,
        .drag = 7,
        .threshold = 0.02,
        .mixing = 0.02,
        .speed = 4};
}

void jnaDestroyModes(jnaModes* m)
{
    jnaReleaseArena(&m->memory);
    *m = (jnaModes){0};
}

jnResult jnaModes_Allocate(jnaModes* m, int modeCount, int vertexCount, int jointCount, jnError* error)
{
    JN_ASSERT(modeCount >= 0 && vertexCount >= 1 && jointCount >= 1);
    int64_t n = modeCount, numbers = 3 * n * vertexCount;
    *m = (jnaModes){.modeCount = modeCount, .vertexCount = vertexCount, .jointCount = jointCount};
    m->stiffness = jnaArena_Take(&m->memory, n, sizeof(double));
    m->damping = jnaArena_Take(&m->memory, n, sizeof(double));
    m->masses = jnaArena_Take(&m->memory, n, sizeof(double));
    m->gain = jnaArena_Take(&m->memory, n, sizeof(double));
    m->limits = jnaArena_Take(&m->memory, n, sizeof(double));
    m->caps = jnaArena_Take(&m->memory, n, sizeof(double));
    m->critical = jnaArena_Take(&m->memory, JNA_MAX_CRITICAL, 3 * sizeof(int32_t));
    m->criticalLimits = jnaArena_Take(&m->memory, JNA_MAX_CRITICAL, sizeof(float));
    m->joints = jnaArena_Take(&m->memory, n, sizeof(int32_t));
    m->massShare = jnaArena_Take(&m->memory, n, sizeof(double));
    m->regions = jnaArena_Take(&m->memory, n, JNA_REGIONS * sizeof(double));
    m->sizes = jnaArena_Take(&m->memory, n, sizeof(int32_t));
    m->shapes = jnaArena_Take(&m->memory, numbers, sizeof(float));
    m->projections = jnaArena_Take(&m->memory, numbers, sizeof(float));
    m->pose = jnaArena_Take(&m->memory, jointCount, 4 * sizeof(float));
    m->spins = jnaArena_Take(&m->memory, 3 * jointCount * n * n, sizeof(float));
    jnResult result = jnaArena_Check(&m->memory, "modes of the surface", error);
    if (result != jn_ok) {
        jnaDestroyModes(m);
    }
    for (int k = 0; k < m->modeCount; ++k) {
        m->gain[k] = m->masses[k] = 1;
    }
    return result;
}

// Value of a mode at a node, 0 where it is held.
static const double* At(const jnaNodeModes* f, int mode, int node)
{
    static const double still[3] = {0};
    return f->places[node] >= 0 ? f->shapes + (size_t)mode * f->numbers + 3 * (size_t)f->places[node] : still;
}

/// What bringing a mode to the surface needs.
typedef struct Scratch {
    jnaSkinExtension* extension;
    double *values, *gradients; // [nodeCount][3], [nodeCount][JNA_GRADIENT]
    double *skin, *solve;       // [vertexCount][3]; of the extension
} Scratch;

// The shape on the surface, scaled to a largest displacement of 1, its sign fixed by the largest coordinate. Returns
// the scale that was taken out, negative where the sign was turned; 1 where the mode does not show and is all 0.
static double FillShape(const jnaVolume* v, const jnaNodeModes* f, int mode, const Scratch* scratch, float* shapes)
{
    double most = 0, largest = 0, sign = 1;
    for (int n = 0; n < v->nodeCount; ++n) {
        memcpy(scratch->values + 3 * (size_t)n, At(f, mode, n), 3 * sizeof(double));
    }
    jnaVolume_Gradients(v, scratch->values, scratch->gradients);
    for (int i = 0; i < v->vertexCount; ++i) {
        if (v->skinTetrahedra[i] >= 0) {
            jnaVolume_AtSkin(v, scratch->values, scratch->gradients, i, scratch->skin + 3 * (size_t)i);
        }
    }
    jnaSkinExtension_Apply(scratch->extension, scratch->skin, scratch->solve);
    for (int i = 0; i < v->vertexCount; ++i) {
        const double* shape = scratch->skin + 3 * (size_t)i;
        for (size_t a = 0; a < 3; ++a) {
            shapes[3 * (size_t)i + a] = (float)shape[a];
            if (fabs(shape[a]) > largest * (1 + 1e-6)) { // of equals the first, whatever the rounding
                largest = fabs(shape[a]);
                sign = shape[a] < 0 ? -1 : 1;
            }
        }
        most = fmax(most, jnaDot(shape, shape));
    }
    double scale = most > 0 ? sign * sqrt(most) : 1;
    for (size_t i = 0; i < 3 * (size_t)v->vertexCount; ++i) {
        shapes[i] = (float)((double)shapes[i] / scale);
    }
    return scale;
}

// Where the mode lives: the joint with the largest share of its kinetic energy, and the share of all mass that moves,
// (sum of m phi^2)^2 / sum of m phi^4 over the whole mass.
// shares: [jointCount], scratch.
static void Locate(const jnaVolume* v, const jnaNodeModes* f, int mode, double* shares, jnaModes* m)
{
    double squares = 0, fourths = 0;
    memset(shares, 0, (size_t)v->jointCount * sizeof(double));
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* at = At(f, mode, n);
        double square = jnaDot(at, at);
        squares += f->masses[n] * square;
        fourths += f->masses[n] * square * square;
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            shares[v->joints[i]] += f->masses[n] * square * (double)v->weights[i];
        }
    }
    int best = 0;
    for (int j = 1; j < v->jointCount; ++j) {
        best = shares[j] > shares[best] ? j : best;
    }
    m->joints[mode] = best;
    m->massShare[mode] = fourths > 0 ? squares * squares / fourths / f->totalMass : 0;
}

// Projections of all modes by the Laplace equation, [count][vertexCount][3], times the scale of each. What is carried
// inside is the motion of the whole skin: vertices that skinning carries tell how the flesh under them moves as well.
static jnResult ProjectVolume(
    const jnaVolume* v, const jnaNodeModes* f, const double* scales, const jnaWatch* watch, jnaModes* m, jnError* error)
{
    size_t n = (size_t)v->nodeCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaLaplacian* laplacian = NULL;
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .ties = {.count = v->vertexCount, .tetrahedra = v->skinTetrahedra, .weights = v->skinWeights, .penalty = TIE}};
    double* loads = jnaArena_Take(&arena, 3 * v->nodeCount, sizeof(double));
    double* values = jnaArena_Take(&arena, 3 * v->nodeCount, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the projection of modes", error));
    JN_TRY(jnaCreateLaplacian(&def, &laplacian, error));
    for (int k = 0; k < m->modeCount; ++k) {
        for (size_t i = 0; i < n; ++i) {
            const double* at = At(f, k, (int)i);
            for (size_t a = 0; a < 3; ++a) {
                loads[a * n + i] = f->masses[i] * at[a];
                values[a * n + i] = 0;
            }
        }
        JN_TRY(jnaLaplacian_Solve(laplacian, 3, loads, values, error));
        JN_TRY(jnaWatch_Tell(watch, 0.7 + 0.2 * k / m->modeCount, error));
        float* out = m->projections + 3 * (size_t)k * (size_t)m->vertexCount;
        for (int i = 0; i < 3 * v->vertexCount; ++i) {
            int vertex = i / 3, t = v->skinTetrahedra[vertex];
            double sum = 0;
            for (int c = 0; t >= 0 && c < 4; ++c) {
                size_t node = (size_t)v->tetrahedra[4 * (size_t)t + (size_t)c];
                sum += v->skinWeights[4 * (size_t)vertex + (size_t)c] * values[(size_t)(i % 3) * n + node];
            }
            out[i] = (float)(TIE * sum * scales[k]);
        }
    }
done:
    jnaReleaseArena(&arena);
    jnaDestroyLaplacian(laplacian);
    return result;
}

// Shares of every turned mode in every other, over the whole volume.
static void FindSpins(const jnaVolume* v, const jnaNodeModes* f, const double* scales, jnaModes* m)
{
    size_t n = (size_t)m->modeCount;
    for (int node = 0; node < v->nodeCount; ++node) {
        for (size_t k = 0; f->places[node] >= 0 && k < n; ++k) {
            const double* a = At(f, (int)k, node);
            for (size_t l = 0; l < k; ++l) {
                double cross[3];
                jnaCross(At(f, (int)l, node), a, cross);
                for (int e = v->rowStarts[node]; e < v->rowStarts[node + 1]; ++e) {
                    double weight = f->masses[node] * (double)v->weights[e];
                    float* spins = m->spins + 3 * (size_t)v->joints[e] * n * n + k * n + l;
                    for (size_t axis = 0; axis < 3; ++axis) { // a . (e x b) = e . (b x a)
                        spins[axis * n * n] += (float)(weight * cross[axis]);
                    }
                }
            }
        }
    }
    // Skew while modes have unit mass; then in the units of the shapes.
    for (size_t matrix = 0; matrix < 3 * (size_t)m->jointCount; ++matrix) {
        float* spins = m->spins + matrix * n * n;
        for (size_t k = 0; k < n; ++k) {
            for (size_t l = 0; l < k; ++l) {
                double value = (double)spins[k * n + l];
                spins[k * n + l] = (float)(value * scales[k] / scales[l]);
                spins[l * n + k] = (float)(-value * scales[l] / scales[k]);
            }
        }
    }
}

// Between the threshold and twice it a vertex fades out, so that no step shows where the mode ends.
void jnaModes_Sparsen(jnaModes* m, double threshold)
{
    for (int k = 0; k < m->modeCount; ++k) {
        float* shape = m->shapes + 3 * (size_t)k * (size_t)m->vertexCount;
        float* projection = m->projections + 3 * (size_t)k * (size_t)m->vertexCount;
        m->sizes[k] = 0;
        for (int i = 0; i < m->vertexCount; ++i) {
            float *u = shape + 3 * (size_t)i, *p = projection + 3 * (size_t)i;
            double length = sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
            float share = threshold > 0 ? (float)fmin(fmax((length - threshold) / threshold, 0), 1) : 1;
            m->sizes[k] += share > 0.0f && length > 0;
            for (int a = 0; a < 3; ++a) {
                u[a] *= share;
                p[a] = share > 0.0f ? p[a] : 0.0f;
            }
        }
    }
}

// Places of the joints at rest, [jointCount][3]. places: room for [jointCount][12]
static void FindJointPlaces(const jnaCharacter* c, float* places)
{
    jnaPoseMatrices(c, NULL, 0, places);
    for (size_t i = 0; i < 3 * (size_t)c->jointCount; ++i) {
        places[i] = places[12 * (i / 3) + 4 * (i % 3) + 3];
    }
}

// Whether two joints are each other's mirror image, left and right.
static bool AreMirrored(const float* places, int a, int b, double height)
{
    const float *p = places + 3 * (size_t)a, *q = places + 3 * (size_t)b;
    double x = (double)p[0] + (double)q[0], y = (double)p[1] - (double)q[1], z = (double)p[2] - (double)q[2];
    return a != b && sqrt(x * x + y * y + z * z) < MIRROR_TOLERANCE * height;
}

// How many of the found modes are kept: below the cut-off, and not the first of a mirror pair that the count cut apart.
// joints: [count], where each lives; places: of the joints.
static int KeepCount(
    const jnaNodeModes* f, const jnaModesDef* def, const jnaCharacter* c, const int32_t* joints, const float* places)
{
    double limit = JNA_TURN * def->cutoff * JNA_TURN * def->cutoff;
    int keep = 0;
    while (keep < f->count && keep < def->count && f->omega2[keep] <= limit) {
        keep++;
    }
    if (keep > 1 && keep < f->count) {
        bool pair = AreMirrored(places, joints[keep - 1], joints[keep], jnaHeightOf(c)) &&
                    f->omega2[keep] < (1 + PAIR_TOLERANCE) * f->omega2[keep - 1];
        bool matched = AreMirrored(places, joints[keep - 1], joints[keep - 2], jnaHeightOf(c)) &&
                       f->omega2[keep - 1] < (1 + PAIR_TOLERANCE) * f->omega2[keep - 2];
        keep -= pair && !matched;
    }
    return keep;
}

static void DropFloating(jnaNodeModes* f, jnaNotes* notes)
{
    double limit = JNA_TURN * FLOATING_HERTZ * JNA_TURN * FLOATING_HERTZ;
    int floating = 0;
    while (floating < f->count && f->omega2[floating] < limit) {
        floating++;
    }
    f->count -= floating;
    memmove(f->omega2, f->omega2 + floating, (size_t)f->count * sizeof(double));
    memmove(f->shapes, f->shapes + (size_t)floating * f->numbers, (size_t)f->count * f->numbers * sizeof(double));
    if (floating > 0) {
        jnaNotes_Add(notes, "%d motions of flesh that no bone holds are left out", floating);
    }
}

static jnResult Bring(const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, const jnaNodeModes* f,
    jnaModes* m, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    double* scales = jnaArena_Take(&arena, f->count, sizeof(double));
    double* shares = jnaArena_Take(&arena, v->jointCount, sizeof(double));
    float* jointPlaces = jnaArena_Take(&arena, c->jointCount, 12 * sizeof(float));
    Scratch scratch = {.values = jnaArena_Take(&arena, v->nodeCount, 3 * sizeof(double)),
        .gradients = jnaArena_Take(&arena, v->nodeCount, JNA_GRADIENT * sizeof(double)),
        .skin = jnaArena_Take(&arena, v->vertexCount, 3 * sizeof(double))};
    JN_TRY(jnaArena_Check(&arena, "the modes of a volume", error));
    JN_TRY(jnaCreateSkinExtension(c, v, &scratch.extension, error));
    scratch.solve = jnaArena_Take(&arena, (int64_t)jnaSkinExtension_ScratchCount(scratch.extension), sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the modes of a volume", error));
    JN_TRY(jnaModes_Allocate(m, f->count, v->vertexCount, v->jointCount, error));
    for (int k = 0; k < f->count; ++k) {
        Locate(v, f, k, shares, m);
    }
    FindJointPlaces(c, jointPlaces);
    m->modeCount = KeepCount(f, def, c, m->joints, jointPlaces);
    for (int k = 0; k < m->modeCount; ++k) {
        scales[k] = FillShape(v, f, k, &scratch, m->shapes + 3 * (size_t)k * (size_t)v->vertexCount);
        m->stiffness[k] = f->omega2[k];
        m->damping[k] = def->ratio > 0 ? 2 * def->ratio * f->damping[k] * sqrt(f->omega2[k])
                                       : def->drag + def->damping * f->damping[k] * f->omega2[k];
        m->limits[k] = def->speed * sqrt(f->omega2[k]);
        m->masses[k] = 1 / (scales[k] * scales[k]);
    }
    JN_TRY(def->kind == jna_projectVolume ? ProjectVolume(v, f, scales, &def->watch, m, error)
                                          : jnaModes_ProjectSurface(m, c, error));
    JN_TRY(jnaWatch_Tell(&def->watch, 0.9, error));
    FindSpins(v, f, scales, m);
    jnaModes_Sparsen(m, def->threshold);
done:
    jnaDestroySkinExtension(scratch.extension);
    jnaReleaseArena(&arena);
    return result;
}

static jnResult Check(const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, jnError* error)
{
    if (v->rowStarts == NULL || v->heldBy == NULL || v->regions == NULL) {
        return jnFail(error, jn_badArgument, "the volume has no weights, bones or material; run jounce tetrahedralize");
    }
    if (v->vertexCount != c->vertexCount || v->jointCount != c->jointCount) {
        return jnFail(error, jn_badData, "the volume is of %d vertices and %d joints, the character of %d and %d",
            v->vertexCount, v->jointCount, c->vertexCount, c->jointCount);
    }
    for (int i = 0; i < v->rowStarts[v->nodeCount]; ++i) {
        if (v->joints[i] >= v->jointCount) {
            return jnFail(error, jn_badData, "the volume's weights name joint %d of %d", v->joints[i], v->jointCount);
        }
    }
    if (def->count < 1 || def->count > JNA_MAX_MODES || !(def->cutoff > 0) || !(def->ratio >= 0 && def->ratio <= 100) ||
        !(def->threshold >= 0 && def->threshold < 1) || !(def->speed >= 0 && def->speed < 1e6)) {
        return jnFail(
            error, jn_badArgument, "modes: 1 to %d of them, a cut-off above 0 Hz, a ratio of 0 to 100", JNA_MAX_MODES);
    }
    return jn_ok;
}

// The search for the modes is the larger part of the work.
static bool TellSearch(const jnaProgress* search, void* user)
{
    return jnaWatch_GoesOn(user, 0.6 * search->share);
}

// Whether there is flesh: a node that no bone holds exactly.
static bool IsSoft(const jnaVolume* v)
{
    bool soft = false;
    for (int n = 0; n < v->nodeCount && !soft; ++n) {
        soft = v->heldBy[n] < 0 || (v->holdStrength != NULL && v->holdStrength[n] > 0);
    }
    return soft;
}

// The rotation of a node's frame in a pose: the joints' rotations blended by its weights, each with the sign next to
// the first one's.
static void NodeTurn(const jnaVolume* v, int node, const float* turns, double turn[4])
{
    const float* first = turns + 4 * (size_t)v->joints[v->rowStarts[node]];
    memset(turn, 0, 4 * sizeof(double));
    for (int i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
        const float* own = turns + 4 * (size_t)v->joints[i];
        float dot = first[0] * own[0] + first[1] * own[1] + first[2] * own[2] + first[3] * own[3];
        for (int a = 0; a < 4; ++a) {
            turn[a] += (dot < 0.0f ? -1 : 1) * (double)v->weights[i] * (double)own[a];
        }
    }
    jnaQuat_Normalize(turn);
}

// Shapes of a pose in the axes of the rest pose.
static void TurnBack(const jnaVolume* v, const float* turns, jnaNodeModes* f)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        double turn[4], back[4];
        if (f->places[n] < 0) {
            continue;
        }
        NodeTurn(v, n, turns, turn);
        jnaQuat_Conjugate(turn, back);
        for (int k = 0; k < f->count; ++k) {
            double *at = f->shapes + (size_t)k * f->numbers + 3 * (size_t)f->places[n], turned[3];
            jnaQuat_Rotate(back, at, turned);
            memcpy(at, turned, sizeof(turned));
        }
    }
}

// The modes of a volume whose loose pieces are held.
static jnResult FindHeld(const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, const jnaPosedFlesh* posed,
    jnaModes* modes, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaElastic* elastic = NULL;
    JN_TRY(jnaCreateElastic(v, posed != NULL ? posed->nodes : NULL, &elastic, error));
    int freeCount = jnaElastic_FreeCount(elastic), asked = def->count + 1;
    jnaNodeModes f = {.numbers = 3 * (size_t)freeCount,
        .masses = jnaElastic_Masses(elastic),
        .totalMass = jnaElastic_TotalMass(elastic),
        .omega2 = jnaArena_Take(&arena, asked, sizeof(double)),
        .damping = jnaArena_Take(&arena, asked, sizeof(double)),
        .shapes = jnaArena_Take(&arena, asked * (int64_t)freeCount, 3 * sizeof(double)),
        .places = jnaArena_Take(&arena, v->nodeCount, sizeof(int))};
    JN_TRY(jnaArena_Check(&arena, "the modes of a volume", error));
    jnaWatch whole = def->watch;
    const jnaWatch search = {TellSearch, &whole};
    if (freeCount > 0) {
        JN_TRY(jnaElastic_FindModes(elastic, asked, f.omega2, f.shapes, &f.count, &search, error));
    }
    JN_TRY(jnaWatch_Tell(&whole, 0.6, error));
    for (int n = 0; n < v->nodeCount; ++n) {
        f.places[n] = -1;
    }
    for (int i = 0; i < freeCount; ++i) {
        f.places[jnaElastic_FreeNodes(elastic)[i]] = i;
    }
    DropFloating(&f, notes);
    JN_TRY(jnaDropLoose(v, &f, notes, error));
    JN_TRY(def->mixing > 0 ? jnaLocalizeModes(v, def->mixing, &f, error) : jn_ok);
    JN_TRY(jnaWatch_Tell(&whole, 0.7, error));
    for (int k = 0; k < f.count; ++k) {
        f.damping[k] = jnaElastic_Damping(elastic, f.shapes + (size_t)k * f.numbers);
    }
    double* regions = jnaArena_Take(&arena, f.count, JNA_REGIONS * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the modes of a volume", error));
    JN_TRY(jnaFindModeRegions(v, c, posed != NULL ? posed->nodes : NULL, &f, regions, error));
    if (posed != NULL) {
        TurnBack(v, posed->turns, &f);
    }
    JN_TRY(Bring(v, c, def, &f, modes, error));
    memcpy(modes->regions, regions, (size_t)modes->modeCount * JNA_REGIONS * sizeof(double));
done:
    jnaReleaseArena(&arena);
    jnaDestroyElastic(elastic);
    return result;
}

double jnaModes_Largest(const jnaModes* m, int mode)
{
    const float* shape = m->shapes + 3 * (size_t)mode * (size_t)m->vertexCount;
    double most = 0;
    for (size_t v = 0; v < (size_t)m->vertexCount; ++v) {
        double x = (double)shape[3 * v], y = (double)shape[3 * v + 1], z = (double)shape[3 * v + 2];
        most = fmax(most, x * x + y * y + z * z);
    }
    return sqrt(most);
}

void jnaModes_SetPose(jnaModes* m, const jnaCharacter* c, const float* pose)
{
    for (size_t j = 0; j < (size_t)m->jointCount; ++j) {
        memcpy(m->pose + 4 * j, pose != NULL ? pose + 4 * j : c->joints[j].rotation, 4 * sizeof(float));
    }
}

jnResult jnaFindModes(const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, const jnaPosedFlesh* posed,
    jnaModes* modes, jnaNotes* notes, jnError* error)
{
    *modes = (jnaModes){0};
    jnaVolume held = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(Check(v, c, def, error));
    JN_TRY(v->nodeCount > 0 ? jnaHoldLoose(v, c, &arena, &held, notes, error) : jn_ok);
    if (IsSoft(&held)) {
        JN_TRY(FindHeld(&held, c, def, posed, modes, notes, error));
    } else {
        jnaNotes_Add(notes, "no flesh is soft: the character moves with its joints alone, without modes");
        JN_TRY(jnaModes_Allocate(modes, 0, v->vertexCount, v->jointCount, error));
    }
    jnaModes_SetPose(modes, c, posed != NULL ? posed->pose : NULL);
done:
    if (result != jn_ok) {
        jnaDestroyModes(modes);
    }
    jnaReleaseArena(&arena);
    return result;
}
