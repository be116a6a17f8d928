// Ways of moving flesh on modes that were tried and left, so that anybody can try them again.
#include "ablation.h"
#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "flesh/flesh_internal.h"

#include "runtime/internal.h"

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
    JN_TRY(jnbFindModes(s, def, false, &m, error));
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
    JN_TRY(jnbFindModes(s, def, false, &m, error));
    JN_TRY(jnbLearn(s, jnb_shakes, &m, error));
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

jnResult jnbPrintTrials(const jnbScene* s, const jnaModesDef* def, jnError* error)
{
    JN_PASS(TrySteps(s, def, error));
    return TryDirections(s, def, error);
}
