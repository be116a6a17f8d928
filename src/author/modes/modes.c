// Vibration modes of a volume, brought to the surface.
//
// Of the volume's modes phi (unit modal mass) the surface keeps U_v = sum of the corners' phi by the skin's weights.
// The force of an acceleration on a mode is phi . M a over all nodes, but only the surface's acceleration is known at
// run time: it is carried inside by the Laplace equation, a = H a_s, which is exact for every affine motion, so the
// projection is P = H^T M phi. With T the skin's weights and p a stiff tie, H = (L + p T^T T)^-1 p T^T, and a solve per
// mode and axis gives P for all vertices at once.
#include "modes/modes.h"

#include "modes/elastic.h"
#include "volume/laplacian.h"

#include "runtime/for_author.h"
#include "modes/modes_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586
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
    free(m->stiffness);
    free(m->damping);
    free(m->masses);
    free(m->gain);
    free(m->limits);
    free(m->caps);
    free(m->joints);
    free(m->massShare);
    free(m->sizes);
    free(m->shapes);
    free(m->projections);
    free(m->spins);
    *m = (jnaModes){0};
}

jnResult jnaModes_Allocate(jnaModes* m, int modeCount, int vertexCount, int jointCount, jnError* error)
{
    JN_ASSERT(modeCount >= 0 && vertexCount >= 1 && jointCount >= 1);
    size_t n = (size_t)modeCount + 1, numbers = n * (size_t)vertexCount * 3;
    *m = (jnaModes){.modeCount = modeCount, .vertexCount = vertexCount, .jointCount = jointCount};
    m->stiffness = calloc(n, sizeof(double));
    m->damping = calloc(n, sizeof(double));
    m->masses = calloc(n, sizeof(double));
    m->gain = calloc(n, sizeof(double));
    m->limits = calloc(n, sizeof(double));
    m->caps = calloc(n, sizeof(double));
    m->joints = calloc(n, sizeof(int32_t));
    m->massShare = calloc(n, sizeof(double));
    m->sizes = calloc(n, sizeof(int32_t));
    m->shapes = calloc(numbers, sizeof(float));
    m->projections = calloc(numbers, sizeof(float));
    m->spins = calloc(3 * (size_t)jointCount * n * n, sizeof(float));
    if (m->stiffness == NULL || m->damping == NULL || m->masses == NULL || m->gain == NULL || m->limits == NULL ||
        m->caps == NULL || m->joints == NULL || m->massShare == NULL || m->sizes == NULL || m->shapes == NULL ||
        m->projections == NULL || m->spins == NULL) {
        jnaDestroyModes(m);
        return jnFail(error, jn_outOfMemory, "out of memory for %d modes of %d vertices", modeCount, vertexCount);
    }
    for (int k = 0; k < modeCount; ++k) {
        m->gain[k] = m->masses[k] = 1;
    }
    return jn_ok;
}

// The volume's modes, all nodes.
typedef struct Found {
    int count;
    double* omega2; // [count]
    double* shapes; // [count][freeCount][3]
    jnaElastic* elastic;
} Found;

// Value of a mode at a node, 0 where it is held. places: [nodeCount], free index or -1.
static const double* At(const Found* f, const int* places, int mode, int node)
{
    static const double still[3] = {0};
    size_t n = (size_t)jnaElastic_FreeCount(f->elastic);
    return places[node] >= 0 ? f->shapes + 3 * ((size_t)mode * n + (size_t)places[node]) : still;
}

static double SurfaceShape(const jnaVolume* v, const Found* f, const int* places, int mode, int vertex, double shape[3])
{
    memset(shape, 0, 3 * sizeof(double));
    int t = v->skinTetrahedra[vertex];
    double blend = jnaVolume_Blend(v, vertex);
    for (int i = 0; blend > 0 && i < 4; ++i) {
        const double* at = At(f, places, mode, v->tetrahedra[4 * (size_t)t + (size_t)i]);
        for (int a = 0; a < 3; ++a) {
            shape[a] += blend * v->skinWeights[4 * (size_t)vertex + (size_t)i] * at[a];
        }
    }
    return shape[0] * shape[0] + shape[1] * shape[1] + shape[2] * shape[2];
}

// The shape on the surface, scaled to a largest displacement of 1, its sign fixed by the largest coordinate. Returns
// the scale that was taken out, negative where the sign was turned; 0 where the mode does not show.
static double FillShape(const jnaVolume* v, const Found* f, const int* places, int mode, float* shapes)
{
    double most = 0, largest = 0, sign = 1, shape[3];
    for (int i = 0; i < v->vertexCount; ++i) {
        most = fmax(most, SurfaceShape(v, f, places, mode, i, shape));
        for (int a = 0; a < 3; ++a) {
            if (fabs(shape[a]) > largest * (1 + 1e-6)) { // of equals the first, whatever the rounding
                largest = fabs(shape[a]);
                sign = shape[a] < 0 ? -1 : 1;
            }
        }
    }
    double scale = most > 0 ? sign * sqrt(most) : 1; // a mode that does not show is all 0
    for (int i = 0; i < v->vertexCount; ++i) {
        SurfaceShape(v, f, places, mode, i, shape);
        for (int a = 0; a < 3; ++a) {
            shapes[3 * (size_t)i + (size_t)a] = (float)(shape[a] / scale);
        }
    }
    return scale;
}

// Where the mode lives: the joint with the largest share of its kinetic energy, and the share of all mass that moves,
// (sum of m phi^2)^2 / sum of m phi^4 over the whole mass.
// shares: [jointCount], scratch.
static void Locate(const jnaVolume* v, const Found* f, const int* places, int mode, double* shares, jnaModes* m)
{
    const double* masses = jnaElastic_Masses(f->elastic);
    double squares = 0, fourths = 0;
    memset(shares, 0, (size_t)v->jointCount * sizeof(double));
    for (int n = 0; n < v->nodeCount; ++n) {
        const double* at = At(f, places, mode, n);
        double square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        squares += masses[n] * square;
        fourths += masses[n] * square * square;
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            shares[v->joints[i]] += masses[n] * square * (double)v->weights[i];
        }
    }
    int best = 0;
    for (int j = 1; j < v->jointCount; ++j) {
        best = shares[j] > shares[best] ? j : best;
    }
    m->joints[mode] = best;
    m->massShare[mode] = fourths > 0 ? squares * squares / fourths / jnaElastic_TotalMass(f->elastic) : 0;
}

// Projections of all modes by the Laplace equation, [count][vertexCount][3], times the scale of each. What is carried
// inside is the motion of the whole skin: vertices that skinning carries tell how the flesh under them moves as well.
static jnResult ProjectVolume(const jnaVolume* v, const Found* f, const int* places, const double* scales,
    const jnaWatch* watch, jnaModes* m, jnError* error)
{
    size_t n = (size_t)v->nodeCount;
    const double* masses = jnaElastic_Masses(f->elastic);
    jnaLaplacian* laplacian = NULL;
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .ties = {.count = v->vertexCount, .tetrahedra = v->skinTetrahedra, .weights = v->skinWeights, .penalty = TIE}};
    jnResult result = jnaCreateLaplacian(&def, &laplacian, error);
    double* loads = malloc(3 * n * sizeof(double));
    double* values = malloc(3 * n * sizeof(double));
    if (result == jn_ok && (loads == NULL || values == NULL)) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the projection of modes");
    }
    for (int k = 0; result == jn_ok && k < m->modeCount; ++k) {
        for (size_t i = 0; i < n; ++i) {
            const double* at = At(f, places, k, (int)i);
            for (size_t a = 0; a < 3; ++a) {
                loads[a * n + i] = masses[i] * at[a];
                values[a * n + i] = 0;
            }
        }
        result = jnaLaplacian_Solve(laplacian, 3, loads, values, error);
        result = result == jn_ok ? jnaWatch_Tell(watch, 0.7 + 0.2 * k / m->modeCount, error) : result;
        float* out = m->projections + 3 * (size_t)k * (size_t)m->vertexCount;
        for (int i = 0; result == jn_ok && i < 3 * v->vertexCount; ++i) {
            int vertex = i / 3, t = v->skinTetrahedra[vertex];
            double sum = 0;
            for (int c = 0; t >= 0 && c < 4; ++c) {
                size_t node = (size_t)v->tetrahedra[4 * (size_t)t + (size_t)c];
                sum += v->skinWeights[4 * (size_t)vertex + (size_t)c] * values[(size_t)(i % 3) * n + node];
            }
            out[i] = (float)(TIE * sum * scales[k]);
        }
    }
    free(loads);
    free(values);
    jnaDestroyLaplacian(laplacian);
    return result;
}

// Shares of every turned mode in every other, over the whole volume.
static void FindSpins(const jnaVolume* v, const Found* f, const int* places, const double* scales, jnaModes* m)
{
    const double* masses = jnaElastic_Masses(f->elastic);
    size_t n = (size_t)m->modeCount;
    for (int node = 0; node < v->nodeCount; ++node) {
        for (size_t k = 0; places[node] >= 0 && k < n; ++k) {
            const double* a = At(f, places, (int)k, node);
            for (size_t l = 0; l < k; ++l) {
                const double* b = At(f, places, (int)l, node);
                double cross[3] = {b[1] * a[2] - b[2] * a[1], b[2] * a[0] - b[0] * a[2], b[0] * a[1] - b[1] * a[0]};
                for (int e = v->rowStarts[node]; e < v->rowStarts[node + 1]; ++e) {
                    double weight = masses[node] * (double)v->weights[e];
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

// Places of the joints at rest, [jointCount][3].
static float* JointPlaces(const jnaCharacter* c)
{
    size_t n = (size_t)c->jointCount;
    float* places = malloc(n * 12 * sizeof(float));
    if (places != NULL) {
        jnaPoseMatrices(c, NULL, 0, places);
        for (size_t i = 0; i < 3 * n; ++i) {
            places[i] = places[12 * (i / 3) + 4 * (i % 3) + 3];
        }
    }
    return places;
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
    const Found* f, const jnaModesDef* def, const jnaCharacter* c, const int32_t* joints, const float* places)
{
    double limit = TWO_PI * def->cutoff * TWO_PI * def->cutoff;
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

static void DropFloating(Found* f, size_t numbers, jnaNotes* notes)
{
    double limit = TWO_PI * FLOATING_HERTZ * TWO_PI * FLOATING_HERTZ;
    int floating = 0;
    while (floating < f->count && f->omega2[floating] < limit) {
        floating++;
    }
    f->count -= floating;
    memmove(f->omega2, f->omega2 + floating, (size_t)f->count * sizeof(double));
    memmove(f->shapes, f->shapes + (size_t)floating * numbers, (size_t)f->count * numbers * sizeof(double));
    if (floating > 0) {
        jnaNotes_Add(notes, "%d motions of flesh that no bone holds are left out", floating);
    }
}

static jnResult Bring(const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, const Found* f,
    const int* places, jnaModes* m, jnError* error)
{
    jnResult result = jnaModes_Allocate(m, f->count, v->vertexCount, v->jointCount, error);
    double* scales = calloc((size_t)f->count + (size_t)v->jointCount + 1, sizeof(double)); // and scratch of the joints
    float* jointPlaces = JointPlaces(c);
    if (result == jn_ok && (scales == NULL || jointPlaces == NULL)) {
        result = jnFail(error, jn_outOfMemory, "out of memory for %d modes", f->count);
    }
    for (int k = 0; result == jn_ok && k < f->count; ++k) {
        Locate(v, f, places, k, scales + f->count, m);
    }
    m->modeCount = result == jn_ok ? KeepCount(f, def, c, m->joints, jointPlaces) : 0;
    for (int k = 0; k < m->modeCount; ++k) {
        scales[k] = FillShape(v, f, places, k, m->shapes + 3 * (size_t)k * (size_t)v->vertexCount);
        m->stiffness[k] = f->omega2[k];
        m->damping[k] = def->ratio > 0 ? 2 * def->ratio * sqrt(f->omega2[k]) : def->drag + def->damping * f->omega2[k];
        m->limits[k] = def->speed * sqrt(f->omega2[k]);
        m->masses[k] = 1 / (scales[k] * scales[k]);
    }
    if (result == jn_ok && def->kind == jna_projectVolume) {
        result = ProjectVolume(v, f, places, scales, &def->watch, m, error);
    } else if (result == jn_ok) {
        result = jnaModes_ProjectSurface(m, c, error);
    }
    result = result == jn_ok ? jnaWatch_Tell(&def->watch, 0.9, error) : result;
    if (result == jn_ok) {
        FindSpins(v, f, places, scales, m);
        jnaModes_Sparsen(m, def->threshold);
    }
    free(scales);
    free(jointPlaces);
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
static bool TellSearch(double share, void* user)
{
    return jnaWatch_GoesOn(user, 0.6 * share);
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

// The modes of a volume whose loose pieces are held.
static jnResult FindHeld(
    const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, jnaModes* modes, jnaNotes* notes, jnError* error)
{
    Found f = {0};
    int* places = NULL;
    jnResult result = jnaCreateElastic(v, &f.elastic, error);
    if (result != jn_ok) {
        return result;
    }
    size_t numbers = 3 * (size_t)jnaElastic_FreeCount(f.elastic), asked = (size_t)def->count + 1;
    f.omega2 = malloc(asked * sizeof(double));
    f.shapes = malloc(asked * numbers * sizeof(double) + 1);
    places = malloc((size_t)v->nodeCount * sizeof(int));
    if (f.omega2 == NULL || f.shapes == NULL || places == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for %zu modes of %zu numbers", asked, numbers);
    }
    jnaWatch whole = def->watch;
    const jnaWatch search = {TellSearch, &whole};
    if (result == jn_ok && numbers > 0) {
        result = jnaElastic_FindModes(f.elastic, (int)asked, f.omega2, f.shapes, &f.count, &search, error);
    }
    result = result == jn_ok ? jnaWatch_Tell(&whole, 0.6, error) : result;
    if (result == jn_ok) {
        for (int n = 0; n < v->nodeCount; ++n) {
            places[n] = -1;
        }
        for (size_t i = 0; i < numbers / 3; ++i) {
            places[jnaElastic_FreeNodes(f.elastic)[i]] = (int)i;
        }
        const double* masses = jnaElastic_Masses(f.elastic);
        DropFloating(&f, numbers, notes);
        result = jnaDropLoose(v, masses, places, numbers, &f.count, f.omega2, f.shapes, notes, error);
        if (result == jn_ok && def->mixing > 0) {
            result = jnaLocalizeModes(v, masses, places, def->mixing, f.count, numbers, f.omega2, f.shapes, error);
        }
    }
    result = result == jn_ok ? jnaWatch_Tell(&whole, 0.7, error) : result;
    if (result == jn_ok) {
        result = Bring(v, c, def, &f, places, modes, error);
    }
    free(f.omega2);
    free(f.shapes);
    free(places);
    jnaDestroyElastic(f.elastic);
    return result;
}

jnResult jnaFindModes(
    const jnaVolume* v, const jnaCharacter* c, const jnaModesDef* def, jnaModes* modes, jnaNotes* notes, jnError* error)
{
    *modes = (jnaModes){0};
    jnaVolume held = {0};
    jnResult result = Check(v, c, def, error);
    result = result == jn_ok && v->nodeCount > 0 ? jnaHoldLoose(v, c, &held, notes, error) : result;
    if (result == jn_ok && IsSoft(&held)) {
        result = FindHeld(&held, c, def, modes, notes, error);
    } else if (result == jn_ok) {
        jnaNotes_Add(notes, "no flesh is soft: the character moves with its joints alone, without modes");
        result = jnaModes_Allocate(modes, 0, v->vertexCount, v->jointCount, error);
    }
    if (result != jn_ok) {
        jnaDestroyModes(modes);
    }
    free(held.heldBy);
    return result;
}
