// Ways of moving flesh on modes that were tried and left, so that anybody can try them again.
#include "ablation.h"
#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "flesh/flesh_internal.h"
#include "modes/elastic.h"
#include "volume/laplacian.h"
#include "volume/posing.h"

#include "runtime/internal.h"

#include <cblas.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Forces of a take: projected accelerations at the beginning of each interval, and how fast they grow.
typedef struct Forces {
    double *starts, *rates; // [frameCount][modeCount]
} Forces;

static jnResult MakeForces(const jnaModes* m, const jnaModalSequence* q, Forces* f, jnError* error)
{
    size_t size = (size_t)q->frameCount * (size_t)m->modeCount;
    f->starts = calloc(2 * size + 1, sizeof(double));
    f->rates = f->starts + size;
    return f->starts != NULL ? jnaModes_Force(m, q, f->starts, f->rates, error)
                             : jnFail(error, jn_outOfMemory, "no memory for %d frames", q->frameCount);
}

static jnResult PlayAsFound(
    const jnbScene* s, const jnaModes* m, const jnbTake* take, void* user, double* z, jnError* error)
{
    (void)s;
    (void)user;
    Forces f;
    jnResult result = jn_ok;
    JN_TRY(MakeForces(m, &take->sequence, &f, error));
    JN_TRY(jnaModes_Run(m, &take->sequence, &(jnaModalDrive){f.starts, f.rates, NULL}, z, NULL, error));
done:
    free(f.starts);
    return result;
}

// ---- The simulation's steps in time. ----

// What is left of a root of generalised alpha's equation for x'' + kd x' + ks x = 0; see flesh_scheme.c.
static double complex AlphaMiss(const jnaTimeScheme* t, double ks, double kd, double complex r)
{
    double s = t->step, am = t->massAlpha, af = t->forceAlpha;
    double complex newmark = t->beta * r * r + (0.5 - 2 * t->beta + t->gamma) * r + 0.5 + t->beta - t->gamma;
    double complex rate = (1.5 * r * r - 2 * r + 0.5) / s;
    double complex forces = ((1 - af) * r + af) * (ks * r * r + kd * rate);
    return (r - 1) * (r - 1) * ((1 - am) * r + am) * r * r + s * s * newmark * forces;
}

// What steps of s make of e^(lambda s): slower, and damped otherwise.
static double complex StepRoot(jnaIntegrator integrator, double s, double ks, double kd, double complex lambda)
{
    double complex step = s * lambda;
    if (integrator == jna_backwardEuler) {
        return 1 / (1 - step);
    }
    double complex root = (2 + csqrt(1 + 2 * step)) / (3 - 2 * step); // the larger one of BDF2
    if (integrator == jna_bdf2) {
        return root;
    }
    enum { NEWTON = 30 }; // far more than a start that is this close needs
    const double little = 1e-6;
    jnaTimeScheme scheme = jnaMakeTimeScheme(integrator, s);
    root = cexp(step);
    for (int i = 0; i < NEWTON; ++i) {
        double complex miss = AlphaMiss(&scheme, ks, kd, root);
        root -= miss * little / (AlphaMiss(&scheme, ks, kd, root + little) - miss);
    }
    return root;
}

// A constant force moves as far as before.
static jnResult TrySteps(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    jnaModes m;
    jnResult result = jn_ok;
    JN_TRY(jnaFindModes(&s->volume, s->workspace.character, def, &m, NULL, error));
    double substeps = s->workspace.manifest->flesh.substeps;
    double h = 1 / (substeps > 0 ? substeps * s->workspace.manifest->rate : JNA_STEPS_A_SECOND);
    for (int k = 0; k < m.modeCount; ++k) {
        double ks = m.stiffness[k], kd = m.damping[k];
        double complex own = -kd / 2 + csqrt(kd * kd / 4 - ks);
        double complex seen = clog(StepRoot(s->workspace.manifest->flesh.integrator, h, ks, kd, own)) / h;
        if (kd * kd < 4 * ks) {
            m.stiffness[k] = creal(seen * conj(seen));
            m.damping[k] = -2 * creal(seen);
            m.gain[k] = m.stiffness[k] / ks;
        }
    }
    JN_TRY(jnbPrintWay(s, "as the simulation's steps in time have it", &m, PlayAsFound, NULL, error));
done:
    jnaDestroyModes(&m);
    return result;
}

// ---- A gain for each direction. ----

typedef struct Directions {
    double* gains; // [modeCount][3]
} Directions;

// The share of each direction in the forces, levelled off as the whole is.
static jnResult SplitForces(const jnaModes* m, const jnaModalSequence* q, Forces parts[3], jnError* error)
{
    size_t width = 3 * (size_t)m->vertexCount, count = (size_t)m->modeCount, size = count * (size_t)q->frameCount;
    jnaModes part = *m;
    part.projections = malloc(count * width * sizeof(float) + 1);
    part.limits = calloc(count + 1, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(part.projections != NULL && part.limits != NULL
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "no memory for %zu modes", count));
    for (size_t d = 0; d < 3; ++d) {
        for (size_t i = 0; i < count * width; ++i) {
            part.projections[i] = i % 3 == d ? m->projections[i] : 0;
        }
        JN_TRY(MakeForces(&part, q, &parts[d], error));
    }
    for (size_t i = 0; i < size - count; ++i) {
        double ends[3], sums[2] = {0}, limit = m->limits[i % count], shares[2];
        for (int d = 0; d < 3; ++d) {
            ends[d] = parts[d].starts[i] + q->dt * parts[d].rates[i];
            sums[0] += parts[d].starts[i];
            sums[1] += ends[d];
        }
        for (int e = 0; e < 2; ++e) {
            shares[e] = limit > 0 ? 1 / sqrt(1 + sums[e] * sums[e] / (limit * limit)) : 1;
        }
        for (int d = 0; d < 3; ++d) {
            parts[d].starts[i] *= shares[0];
            parts[d].rates[i] = (shares[1] * ends[d] - parts[d].starts[i]) / q->dt;
        }
    }
done:
    free(part.projections);
    free(part.limits);
    return result;
}

static jnResult PlayDirections(
    const jnbScene* s, const jnaModes* m, const jnbTake* take, void* user, double* z, jnError* error)
{
    (void)s;
    const Directions* by = user;
    size_t count = (size_t)m->modeCount, size = count * (size_t)take->sequence.frameCount;
    Forces parts[3] = {{0}};
    jnResult result = jn_ok;
    JN_TRY(SplitForces(m, &take->sequence, parts, error));
    for (size_t i = 0; i < size; ++i) {
        double start = 0, rate = 0;
        for (size_t d = 0; d < 3; ++d) {
            start += by->gains[3 * (i % count) + d] * parts[d].starts[i];
            rate += by->gains[3 * (i % count) + d] * parts[d].rates[i];
        }
        parts[0].starts[i] = start;
        parts[0].rates[i] = rate;
    }
    JN_TRY(jnaModes_Run(m, &take->sequence, &(jnaModalDrive){parts[0].starts, parts[0].rates, NULL}, z, NULL, error));
done:
    for (int d = 0; d < 3; ++d) {
        free(parts[d].starts);
    }
    return result;
}

// Adds a take to the normal equations of every mode, [modeCount][3][4]: amplitudes are linear in the gains.
static jnResult AddNormals(
    const jnbScene* s, const jnaModes* m, const jnbTake* take, double (*normals)[3][4], jnError* error)
{
    size_t count = (size_t)m->modeCount, size = count * (size_t)take->sequence.frameCount;
    Forces parts[3] = {{0}};
    double* z = calloc(4 * size + 1, sizeof(double)); // of each direction, and what was observed
    jnResult result = jn_ok;
    JN_TRY(z != NULL ? SplitForces(m, &take->sequence, parts, error)
                     : jnFail(error, jn_outOfMemory, "no memory for %zu amplitudes", size));
    for (size_t d = 0; d < 3; ++d) {
        JN_TRY(jnaModes_Run(
            m, &take->sequence, &(jnaModalDrive){parts[d].starts, parts[d].rates, NULL}, z + d * size, NULL, error));
    }
    JN_TRY(jnaModes_Observe(m, s->workspace.character, &take->sequence, z + 3 * size, error));
    for (size_t i = 0; i < size; ++i) {
        for (size_t a = 0; a < 3; ++a) {
            for (size_t b = 0; b < 4; ++b) {
                normals[i % count][a][b] += z[a * size + i] * z[b * size + i];
            }
        }
    }
done:
    for (int d = 0; d < 3; ++d) {
        free(parts[d].starts);
    }
    free(z);
    return result;
}

// Least squares with gains of 1 as the prior, which weighs as a tenth of the mode's own motion.
static void SolveGains(double normal[3][4], double gains[3])
{
    double trace = normal[0][0] + normal[1][1] + normal[2][2], prior = 0.1 * trace / 3 + 1e-30;
    for (int a = 0; a < 3; ++a) {
        normal[a][a] += prior;
        normal[a][3] += prior;
    }
    for (int i = 0; i < 3; ++i) {
        for (int row = 0; row < 3; ++row) {
            double factor = row != i ? normal[row][i] / normal[i][i] : 0;
            for (int k = i; k < 4; ++k) {
                normal[row][k] -= factor * normal[i][k];
            }
        }
    }
    for (int a = 0; a < 3; ++a) {
        gains[a] = normal[a][3] / normal[a][a];
    }
}

static jnResult TryDirections(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    jnaModes m = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaFindModes(&s->volume, s->workspace.character, def, &m, NULL, error));
    JN_TRY(jnbLearn(s, &m, error));
    double(*normals)[3][4] = jnaArena_Take(&arena, m.modeCount, sizeof(*normals));
    Directions by = {jnaArena_Take(&arena, m.modeCount, 3 * sizeof(double))};
    JN_TRY(jnaArena_Check(&arena, "gains", error));
    for (int t = 0; t < s->trainCount; ++t) {
        JN_TRY(AddNormals(s, &m, &s->takes[t], normals, error));
    }
    for (int k = 0; k < m.modeCount; ++k) {
        SolveGains(normals[k], by.gains + 3 * (size_t)k);
    }
    JN_TRY(jnbPrintWay(s, "numbers learned, a gain for each direction", &m, PlayDirections, &by, error));
done:
    jnaReleaseArena(&arena);
    jnaDestroyModes(&m);
    return result;
}

// ---- Posed flesh. ----

#define TIE 1e3

// The volume as it is in a frame: skinned, and what the surface is off there carried inside.
typedef struct Posed {
    jnaLaplacian* laplacian;
    jnaLaplacianTies ties;
    double *transforms, *nodes; // [jointCount][12], [nodeCount][3]
    double *loads, *values;     // [3][nodeCount]
    double* turns;              // [nodeCount][4], the nodes' frames
} Posed;

static void DestroyPosed(Posed* p)
{
    jnaDestroyLaplacian(p->laplacian);
    free(p->transforms);
    free(p->nodes);
    free(p->loads);
    free(p->values);
    free(p->turns);
}

static jnResult CreatePosed(const jnbScene* s, Posed* p, jnError* error)
{
    const jnaVolume* v = &s->volume;
    size_t nodes = (size_t)v->nodeCount;
    uint8_t* held = malloc(nodes);
    *p = (Posed){.ties = {v->vertexCount, v->skinTetrahedra, v->skinWeights, TIE}};
    p->transforms = malloc(12 * (size_t)v->jointCount * sizeof(double));
    p->nodes = malloc(3 * nodes * sizeof(double));
    p->loads = malloc(3 * nodes * sizeof(double));
    p->values = malloc(3 * nodes * sizeof(double));
    p->turns = malloc(4 * nodes * sizeof(double));
    bool good = held != NULL && p->transforms != NULL && p->nodes != NULL && p->loads != NULL && p->values != NULL &&
                p->turns != NULL;
    for (size_t n = 0; good && n < nodes; ++n) {
        held[n] = v->heldBy[n] >= 0;
    }
    jnaLaplacianDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .held = held,
        .ties = p->ties};
    jnResult result = good ? jnaCreateLaplacian(&def, &p->laplacian, error)
                           : jnFail(error, jn_outOfMemory, "no memory for %zu nodes", nodes);
    free(held);
    return result;
}

static void FindNodeTurns(const jnbScene* s, const float* turns, double* out)
{
    const jnaVolume* v = &s->volume;
    for (int n = 0; n < v->nodeCount; ++n) {
        double* q = out + 4 * (size_t)n;
        const float* first = turns + 4 * (size_t)v->joints[v->rowStarts[n]];
        memset(q, 0, 4 * sizeof(double));
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            const float* turn = turns + 4 * (size_t)v->joints[i];
            double dot = 0;
            for (int a = 0; a < 4; ++a) {
                dot += (double)first[a] * (double)turn[a];
            }
            for (int a = 0; a < 4; ++a) {
                q[a] += (dot < 0 ? -1 : 1) * (double)v->weights[i] * (double)turn[a];
            }
        }
        jnaQuat_Normalize(q);
    }
}

static jnResult Pose(const jnbScene* s, const jnbTake* take, int frame, Posed* p, jnError* error)
{
    const jnaVolume* v = &s->volume;
    size_t nodes = (size_t)v->nodeCount;
    jnaPoseTransforms(s->workspace.character, take->poses, take->first + frame, p->transforms);
    jnaVolume_Skin(v, p->transforms, p->nodes);
    FindNodeTurns(s, take->frames.turns + 4 * (size_t)frame * (size_t)s->workspace.character->jointCount, p->turns);
    memset(p->loads, 0, 3 * nodes * sizeof(double));
    memset(p->values, 0, 3 * nodes * sizeof(double));
    const float* target = take->sequence.targets + 3 * (size_t)frame * (size_t)v->vertexCount;
    for (int i = 0; i < v->vertexCount; ++i) {
        int t = v->skinTetrahedra[i];
        for (int a = 0; t >= 0 && a < 3; ++a) {
            const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
            const double* weights = v->skinWeights + 4 * (size_t)i;
            double off = (double)target[3 * i + a];
            for (int c = 0; c < 4; ++c) {
                off -= weights[c] * p->nodes[3 * corners[c] + a];
            }
            for (int c = 0; c < 4; ++c) {
                p->loads[(size_t)a * nodes + (size_t)corners[c]] += TIE * weights[c] * off;
            }
        }
    }
    jnResult result = jnaLaplacian_Solve(p->laplacian, 3, p->loads, p->values, error);
    for (size_t i = 0; i < 3 * nodes; ++i) {
        p->nodes[i] += p->values[i % 3 * nodes + i / 3];
    }
    return result;
}

// ---- The stiffness of the pose. ----

enum { FRAMES_APART = 3, SUBSTEPS = 8 };

typedef struct Tangent {
    bool diagonal; // each mode by itself
    double damping, drag;
    Posed posed;
    jnaElements elements;
    double* shapes;                       // [modeCount][nodeCount][3], of the volume, scaled as on the surface
    double *x, *forces[2];                // [nodeCount][4]
    double* products;                     // [modeCount][nodeCount][3]
    double *stiffness, *system, *vectors; // [modeCount][modeCount], the same, [8][modeCount]
} Tangent;

static void DestroyTangent(Tangent* t)
{
    DestroyPosed(&t->posed);
    jnaDestroyElements(&t->elements);
    free(t->shapes);
    free(t->x);
    free(t->products);
    free(t->stiffness);
}

static jnResult MakeElements(const jnaVolume* v, jnaElements* elements, jnError* error)
{
    size_t count = (size_t)v->tetrahedronCount;
    double* moduli = malloc(2 * count * sizeof(double));
    if (moduli == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %zu tetrahedra", count);
    }
    for (size_t i = 0; i < count; ++i) {
        const jnaMaterial* m = &v->materials[v->regions[i]];
        double mu = m->young / (2 * (1 + m->poisson));
        moduli[i] = mu;
        moduli[count + i] = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
    }
    jnaElementsDef def = {
        .nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .count = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .kinds = v->regions,
        .shear = moduli,
        .volumetric = moduli + count,
    };
    jnResult result = jnaCreateElements(&def, elements, error);
    free(moduli);
    return result;
}

// The volume's own modes again, for the modes of the surface that were made from them without mixing.
static jnResult FindVolumeShapes(const jnbScene* s, const jnaModes* m, int asked, double* shapes, jnError* error)
{
    const jnaVolume* v = &s->volume;
    jnaElastic* elastic = NULL;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int count = 0, first = 0;
    JN_TRY(jnaCreateElastic(v, &elastic, error));
    size_t frees = (size_t)jnaElastic_FreeCount(elastic);
    double* found = jnaArena_Take(&arena, asked, 3 * frees * sizeof(double));
    double* omega2 = jnaArena_Take(&arena, asked, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "modes", error));
    JN_TRY(jnaElastic_FindModes(elastic, asked, omega2, found, &count, NULL, error));
    while (first < count && omega2[first] < 0.999 * m->stiffness[0]) {
        first++; // flesh that no bone holds
    }
    for (int k = 0; k < m->modeCount; ++k) {
        const double* from = found + 3 * frees * (size_t)(first + k);
        double* to = shapes + 3 * (size_t)v->nodeCount * (size_t)k;
        memset(to, 0, 3 * (size_t)v->nodeCount * sizeof(double));
        double sign = 0;
        for (size_t i = 0; i < frees; ++i) {
            memcpy(to + 3 * jnaElastic_FreeNodes(elastic)[i], from + 3 * i, 3 * sizeof(double));
        }
        for (int i = 0; i < 3 * v->vertexCount; ++i) {
            int tetrahedron = v->skinTetrahedra[i / 3];
            for (int c = 0; tetrahedron >= 0 && c < 4; ++c) {
                sign += v->skinWeights[4 * (i / 3) + c] * to[3 * v->tetrahedra[4 * tetrahedron + c] + i % 3] *
                        (double)m->shapes[3 * (size_t)k * (size_t)v->vertexCount + (size_t)i];
            }
        }
        for (size_t i = 0; i < 3 * (size_t)v->nodeCount; ++i) {
            to[i] *= (sign < 0 ? -1 : 1) * sqrt(m->masses[k]);
        }
    }
done:
    jnaReleaseArena(&arena);
    jnaDestroyElastic(elastic);
    return result;
}

static jnResult CreateTangent(const jnbScene* s, const jnaModes* m, int asked, Tangent* t, jnError* error)
{
    size_t nodes = (size_t)s->volume.nodeCount, count = (size_t)m->modeCount;
    JN_PASS(CreatePosed(s, &t->posed, error));
    JN_PASS(MakeElements(&s->volume, &t->elements, error));
    t->shapes = malloc(3 * nodes * count * sizeof(double) + 1);
    t->products = malloc(3 * nodes * count * sizeof(double) + 1);
    t->x = aligned_alloc(64, (12 * nodes * sizeof(double) + 63) / 64 * 64);
    t->stiffness = calloc(2 * count * count + 8 * count + 1, sizeof(double));
    if (t->shapes == NULL || t->products == NULL || t->x == NULL || t->stiffness == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %zu nodes", nodes);
    }
    t->forces[0] = t->x + 4 * nodes;
    t->forces[1] = t->x + 8 * nodes;
    t->system = t->stiffness + count * count;
    t->vectors = t->system + count * count;
    return FindVolumeShapes(s, m, asked, t->shapes, error);
}

// phi_k . R^T K(x) R phi_l over the mass of k, K by differences of the flesh's own forces.
static void FindStiffness(const jnbScene* s, const jnaModes* m, Tangent* t)
{
    const double apart = 1e-4;
    size_t nodes = (size_t)s->volume.nodeCount, count = (size_t)m->modeCount;
    const jnaElementKernels* kernels = jnaChooseElementKernels();
    for (size_t l = 0; l < count; ++l) {
        for (int side = 0; side < 2; ++side) {
            for (size_t n = 0; n < nodes; ++n) {
                double turned[3];
                jnaQuat_Rotate(t->posed.turns + 4 * n, t->shapes + 3 * (l * nodes + n), turned);
                for (size_t a = 0; a < 3; ++a) {
                    t->x[4 * n + a] = t->posed.nodes[3 * n + a] + (side == 0 ? apart : -apart) * turned[a];
                }
                t->x[4 * n + 3] = 0;
            }
            memset(t->forces[side], 0, 4 * nodes * sizeof(double));
            jnaElementPass pass = {.elements = &t->elements, .positions = t->x, .gradient = t->forces[side]};
            kernels->addForces(&pass);
        }
        for (size_t n = 0; n < nodes; ++n) {
            double back[4], force[3];
            jnaQuat_Conjugate(t->posed.turns + 4 * n, back);
            for (size_t a = 0; a < 3; ++a) {
                force[a] = (t->forces[0][4 * n + a] - t->forces[1][4 * n + a]) / (2 * apart);
            }
            jnaQuat_Rotate(back, force, t->products + 3 * (l * nodes + n));
        }
    }
    int k = (int)count, width = (int)(3 * nodes);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, k, k, width, 1, t->shapes, width, t->products, width, 0,
        t->stiffness, k);
    for (size_t i = 0; i < count * count; ++i) {
        bool drop = t->diagonal && i / count != i % count;
        t->stiffness[i] = drop ? 0 : t->stiffness[i] / m->masses[i / count];
    }
}

// x <- A^-1 x by Gauss, A [n][n] as it is replaced by its factors the first time.
static void Factor(double* a, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t row = i + 1; row < n; ++row) {
            double factor = a[row * n + i] /= a[i * n + i];
            for (size_t c = i + 1; c < n; ++c) {
                a[row * n + c] -= factor * a[i * n + c];
            }
        }
    }
}

static void Solve(const double* a, size_t n, double* x)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < i; ++c) {
            x[i] -= a[i * n + c] * x[c];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t c = i + 1; c < n; ++c) {
            x[i] -= a[i * n + c] * x[c];
        }
        x[i] /= a[i * n + i];
    }
}

// One interval in a frame that stands still, by the trapezoidal rule in parts:
// z' = p, p' = -K z - C p - force + C drag.
// state: z and p.
static void StepTangent(const Tangent* t, size_t n, double dt, const double* start, const double* rate,
    double* const state[2], const double* spin)
{
    double *z = state[0], *p = state[1];
    double h = dt / SUBSTEPS, *right = t->vectors + 4 * n, *middle = t->vectors + 5 * n;
    for (int step = 0; step < SUBSTEPS; ++step) {
        for (size_t i = 0; i < n; ++i) {
            double force = start[i] + rate[i] * h * (step + 0.5), damped = t->drag * (p[i] - spin[i]), pull = 0;
            for (size_t l = 0; l < n; ++l) {
                double kl = t->stiffness[i * n + l];
                pull += kl * (z[l] + h / 2 * p[l]);
                damped += t->damping * kl * (p[l] - spin[l]);
            }
            right[i] = -h / 2 * (force + pull + damped);
        }
        Solve(t->system, n, right); // half of the change of p
        for (size_t i = 0; i < n; ++i) {
            middle[i] = p[i] + right[i];
            z[i] += h * middle[i];
            p[i] += 2 * right[i];
        }
    }
}

static void MakeSystem(Tangent* t, size_t n, double h)
{
    for (size_t i = 0; i < n * n; ++i) {
        bool own = i / n == i % n;
        t->system[i] = (own ? 1 + h / 2 * t->drag : 0) + (h / 2 * t->damping + h * h / 4) * t->stiffness[i];
    }
    Factor(t->system, n);
}

static void Multiply(const float* matrix, size_t n, const double* x, double* y)
{
    for (size_t i = 0; i < n; ++i) {
        y[i] = 0;
        for (size_t k = 0; matrix != NULL && k < n; ++k) {
            y[i] += (double)matrix[i * n + k] * x[k];
        }
    }
}

static jnResult PlayTangent(
    const jnbScene* s, const jnaModes* m, const jnbTake* take, void* user, double* z, jnError* error)
{
    Tangent* t = user;
    const jnaModalSequence* q = &take->sequence;
    size_t n = (size_t)m->modeCount;
    double *state[2] = {t->vectors, t->vectors + n}, *spin = t->vectors + 2 * n, *turned = t->vectors + 3 * n;
    Forces f = {0};
    jnaModalTurns turns = {0};
    jnResult result = jn_ok;
    JN_TRY(MakeForces(m, q, &f, error));
    JN_TRY(jnaModes_FindTurns(m, q, &turns, error));
    memset(t->vectors, 0, 8 * n * sizeof(double));
    for (int frame = 0; frame + 1 < q->frameCount; ++frame) {
        if (frame % FRAMES_APART == 0) {
            JN_TRY(Pose(s, take, frame, &t->posed, error));
            FindStiffness(s, m, t);
            MakeSystem(t, n, q->dt / SUBSTEPS);
        }
        const float* half = turns.halves + (size_t)frame * n * n;
        for (int part = 0; part < 2; ++part) {
            for (int i = 0; i < 2; ++i) {
                Multiply(half, n, state[i], turned);
                memcpy(state[i], turned, n * sizeof(double));
            }
            if (part == 0) {
                Multiply(turns.rates + (size_t)frame * n * n, n, state[0], spin);
                StepTangent(t, n, q->dt, f.starts + (size_t)frame * n, f.rates + (size_t)frame * n, state, spin);
            }
        }
        memcpy(z + (size_t)(frame + 1) * n, state[0], n * sizeof(double));
    }
done:
    free(f.starts);
    jnaDestroyModalTurns(&turns);
    return result;
}

static jnResult TryTangent(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    jnaModesDef pure = *def;
    pure.mixing = 0;
    jnaModes m;
    Tangent t = {.damping = def->damping, .drag = def->drag};
    jnResult result = jn_ok;
    JN_TRY(jnaFindModes(&s->volume, s->workspace.character, &pure, &m, NULL, error));
    JN_TRY(CreateTangent(s, &m, pure.count + 1, &t, error));
    JN_TRY(jnbPrintWay(s, "stiffness of the pose, not localised", &m, PlayTangent, &t, error));
    t.diagonal = true;
    JN_TRY(jnbPrintWay(s, "the same, each mode by itself", &m, PlayTangent, &t, error));
done:
    DestroyTangent(&t);
    jnaDestroyModes(&m);
    return result;
}

// ---- Modes of several poses. ----

enum { POSES = 3 };

// Modes of the flesh as it lies in a few frames, all played at once; what shows is blended by how near the pose is.
typedef struct Several {
    jnaModes modes[POSES];
    const float* turns[POSES]; // [jointCount][4], of the pose
} Several;

// Square of the angles between two poses, over joints against their parents.
static double Distance(const jnbScene* s, const float* a, const float* b)
{
    double sum = 0;
    for (int j = 0; j < s->workspace.character->jointCount; ++j) {
        int parent = s->workspace.character->joints[j].parent;
        double local[2][4];
        for (int i = 0; i < 2; ++i) {
            const float* turns = i == 0 ? a : b;
            double own[4], above[4] = {0, 0, 0, 1};
            for (int c = 0; c < 4; ++c) {
                own[c] = (double)turns[4 * j + c];
                above[c] = parent >= 0 ? (c < 3 ? -1 : 1) * (double)turns[4 * parent + c] : above[c];
            }
            jnaQuat_Multiply(above, own, local[i]);
        }
        double dot = 0;
        for (int c = 0; c < 4; ++c) {
            dot += local[0][c] * local[1][c];
        }
        double angle = parent >= 0 ? 2 * acos(fmin(fabs(dot), 1)) : 0;
        sum += angle * angle;
    }
    return sum;
}

// The surface's modes of a volume that lies as in a frame, in the skinned frames.
static jnResult FindPosedModes(const jnbScene* s, const jnaModesDef* def, const jnbTake* take, int frame,
    const Posed* posed, jnaModes* m, jnError* error)
{
    jnaVolume volume = s->volume;
    volume.nodes = posed->nodes;
    JN_PASS(jnaFindModes(&volume, s->workspace.character, def, m, NULL, error));
    size_t vertices = (size_t)s->workspace.character->vertexCount, joints = (size_t)s->workspace.character->jointCount;
    const float* rotations = take->frames.rotations + 4 * (size_t)frame * vertices;
    for (size_t i = 0; i < (size_t)m->modeCount * vertices; ++i) {
        double back[4];
        float* vectors[2] = {m->shapes + 3 * i, m->projections + 3 * i};
        for (size_t c = 0; c < 4; ++c) {
            back[c] = (c < 3 ? -1 : 1) * (double)rotations[4 * (i % vertices) + c];
        }
        for (int k = 0; k < 2; ++k) {
            double v[3] = {(double)vectors[k][0], (double)vectors[k][1], (double)vectors[k][2]}, turned[3];
            jnaQuat_Rotate(back, v, turned);
            for (int a = 0; a < 3; ++a) {
                vectors[k][a] = (float)turned[a];
            }
        }
    }
    size_t square = (size_t)m->modeCount * (size_t)m->modeCount;
    for (size_t i = 0; i < joints * square; ++i) {
        // axes of the world into those of the joint
        float* spins = m->spins + 3 * (i / square) * square + i % square;
        double back[4], v[3], turned[3];
        for (size_t c = 0; c < 4; ++c) {
            back[c] = (c < 3 ? -1 : 1) * (double)take->frames.turns[4 * ((size_t)frame * joints + i / square) + c];
        }
        for (size_t a = 0; a < 3; ++a) {
            v[a] = (double)spins[a * square];
        }
        jnaQuat_Rotate(back, v, turned);
        for (size_t a = 0; a < 3; ++a) {
            spins[a * square] = (float)turned[a];
        }
    }
    return jn_ok;
}

// Poses that lie far from rest and from each other in the clips to learn from; the first is the one nearest to all.
static void ChoosePoses(const jnbScene* s, int takes[POSES], int frames[POSES])
{
    size_t width = 4 * (size_t)s->workspace.character->jointCount;
    for (int p = 0; p < POSES; ++p) {
        double best = -HUGE_VAL;
        for (int t = 0; t < s->trainCount; ++t) {
            for (int n = 0; n < s->takes[t].sequence.frameCount; n += 4) {
                const float* own = s->takes[t].frames.turns + (size_t)n * width;
                double score = p == 0 ? 0 : HUGE_VAL;
                for (int o = 0; p > 0 && o < p; ++o) {
                    score = fmin(score, Distance(s, own, s->takes[takes[o]].frames.turns + (size_t)frames[o] * width));
                }
                for (int other = 0; p == 0 && other < s->trainCount; ++other) {
                    for (int i = 0; i < s->takes[other].sequence.frameCount; i += 8) {
                        score -= Distance(s, own, s->takes[other].frames.turns + (size_t)i * width);
                    }
                }
                if (score > best) {
                    best = score;
                    takes[p] = t;
                    frames[p] = n;
                }
            }
        }
    }
}

// all: [POSES] modes one after the other, each with its amplitudes times its share of the frame.
static jnResult PlaySeveral(
    const jnbScene* s, const jnaModes* all, const jnbTake* take, void* user, double* z, jnError* error)
{
    Several* several = user;
    size_t frames = (size_t)take->sequence.frameCount, joints = (size_t)s->workspace.character->jointCount, at = 0;
    double nearest = HUGE_VAL, distances[POSES];
    for (int a = 0; a < POSES; ++a) {
        for (int b = 0; b < a; ++b) {
            nearest = fmin(nearest, Distance(s, several->turns[a], several->turns[b]));
        }
    }
    jnResult result = jn_ok;
    for (int p = 0; result == jn_ok && p < POSES; ++p) {
        size_t count = (size_t)several->modes[p].modeCount;
        double* own = calloc(frames * count + 1, sizeof(double));
        result = own != NULL ? PlayAsFound(s, &several->modes[p], take, NULL, own, error)
                             : jnFail(error, jn_outOfMemory, "no memory for %zu frames", frames);
        for (size_t n = 0; result == jn_ok && n < frames; ++n) {
            double sum = 0, least = HUGE_VAL;
            for (int o = 0; o < POSES; ++o) {
                distances[o] = Distance(s, several->turns[o], take->frames.turns + 4 * n * joints) / nearest;
                least = fmin(least, distances[o]);
            }
            for (int o = 0; o < POSES; ++o) {
                sum += exp(4 * (least - distances[o]));
            }
            for (size_t k = 0; k < count; ++k) {
                z[n * (size_t)all->modeCount + at + k] = own[n * count + k] * exp(4 * (least - distances[p])) / sum;
            }
        }
        at += count;
        free(own);
    }
    return result;
}

static jnResult TrySeveral(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    int takes[POSES] = {0}, frames[POSES] = {0}, count = 0;
    size_t width = 3 * (size_t)s->workspace.character->vertexCount;
    Posed posed;
    Several several = {0};
    jnaModes all = {0};
    ChoosePoses(s, takes, frames);
    jnResult result = jn_ok;
    JN_TRY(CreatePosed(s, &posed, error));
    for (int p = 0; p < POSES; ++p) {
        const jnbTake* take = &s->takes[takes[p]];
        several.turns[p] = take->frames.turns + 4 * (size_t)frames[p] * (size_t)s->workspace.character->jointCount;
        JN_TRY(Pose(s, take, frames[p], &posed, error));
        JN_TRY(FindPosedModes(s, def, take, frames[p], &posed, &several.modes[p], error));
        count += several.modes[p].modeCount;
    }
    JN_TRY(jnbPrintWay(s, "of the flesh in the middle pose, not at rest", &several.modes[0], PlayAsFound, NULL, error));
    JN_TRY(
        jnaModes_Allocate(&all, count, s->workspace.character->vertexCount, s->workspace.character->jointCount, error));
    for (int p = 0, at = 0; p < POSES; at += several.modes[p++].modeCount) {
        memcpy(all.shapes + (size_t)at * width, several.modes[p].shapes,
            (size_t)several.modes[p].modeCount * width * sizeof(float));
    }
    JN_TRY(jnbPrintWay(s, "of three poses, blended by pose", &all, PlaySeveral, &several, error));
done:
    for (int p = 0; p < POSES; ++p) {
        jnaDestroyModes(&several.modes[p]);
    }
    jnaDestroyModes(&all);
    DestroyPosed(&posed);
    return result;
}

jnResult jnbPrintTrials(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    JN_PASS(TrySteps(s, def, error));
    JN_PASS(TryDirections(s, def, error));
    JN_PASS(TryTangent(s, def, error));
    return TrySeveral(s, def, error);
}
