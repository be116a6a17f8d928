// What drives the modes, from joints alone, in double: the reference of the runtime's force (src/runtime/morphs.h).
//
//     force = sum_j T_j : (Q_j^T M_j'') + P d''        T_j = sum_v w_vj P_v (x) (r_v + b_v, 1)
//
// M_j are the skin's matrices, d the displacement of the rest surface whose skin is the target, b its mean over the
// sequence. As in modal_motion.c the acceleration over an interval goes from 2 E_n - E_{n+1} to 2 E_{n+1} - E_n, in the
// frames of the interval's middle. What the frames' motion does to d - b is left out.
#include "modes/modal_motion.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "character/skin_frame.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

typedef struct Work {
    const jnaModes* m;
    const jnaModalSequence* s;
    size_t modes, joints, vertices, frames;
    float* displacements; // [vertexCount][3], mean
    double* drives;       // [frames][modes], P d
    double* forces;       // [joints][12][modes], T_j
} Work;

// P d of a frame, and d added to a sum.
static void ProjectFrame(const Work* w, size_t n, float* d, double* sum)
{
    const jnaCharacter* c = w->s->character;
    const float* matrices = w->s->matrices + n * w->joints * 12;
    for (size_t v = 0; v < w->vertices; ++v) {
        float frame[9], place[3];
        jnaSkinFrame(c, matrices, (int)v, frame, place);
        for (size_t a = 0; a < 3; ++a) {
            place[a] = w->s->targets[3 * (n * w->vertices + v) + a] - place[a];
        }
        (void)jnaSolveFrame(frame, place, d + 3 * v);
        for (size_t a = 0; a < 3; ++a) {
            sum[3 * v + a] += (double)d[3 * v + a];
        }
    }
    for (size_t k = 0; k < w->modes; ++k) {
        const float* p = w->m->projections + 3 * k * w->vertices;
        double product = 0;
        for (size_t i = 0; i < 3 * w->vertices; ++i) {
            product += (double)p[i] * (double)d[i];
        }
        w->drives[n * w->modes + k] = product;
    }
}

// False if memory is short.
static bool FindDrives(Work* w)
{
    double* sums = calloc(3 * w->vertices, sizeof(double));
    bool good = sums != NULL;
#pragma omp parallel reduction(&& : good)
    {
        float* d = malloc(3 * w->vertices * sizeof(float));
        double* own = calloc(3 * w->vertices, sizeof(double));
        good = d != NULL && own != NULL && sums != NULL;
#pragma omp for schedule(static) ordered
        for (size_t n = 0; n < w->frames; ++n) {
            if (good) {
                memset(own, 0, 3 * w->vertices * sizeof(double));
                ProjectFrame(w, n, d, own);
            }
#pragma omp ordered
            for (size_t i = 0; good && i < 3 * w->vertices; ++i) {
                sums[i] += own[i];
            }
        }
        free(d);
        free(own);
    }
    for (size_t i = 0; good && i < 3 * w->vertices; ++i) {
        w->displacements[i] = (float)(sums[i] / (double)w->frames);
    }
    free(sums);
    return good;
}

static void SumForces(Work* w)
{
    const jnaCharacter* c = w->s->character;
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < w->modes; ++k) {
        for (size_t v = 0; v < w->vertices; ++v) {
            const float* p = w->m->projections + 3 * (k * w->vertices + v);
            const jnaInfluences* in = &c->influences[v];
            double place[4] = {0, 0, 0, 1};
            for (size_t a = 0; a < 3; ++a) {
                place[a] = (double)c->positions[3 * v + a] + (double)w->displacements[3 * v + a];
            }
            for (int i = 0; i < JNA_MAX_INFLUENCES && in->weights[i] > 0.0f; ++i) {
                double* t = w->forces + (size_t)in->joints[i] * 12 * w->modes + k;
                for (size_t n = 0; n < 12; ++n) {
                    t[n * w->modes] += (double)in->weights[i] * (double)p[n / 4] * place[n % 4];
                }
            }
        }
    }
}

// E_n of a number that has one value a frame, `step` apart; 0 at the ends.
static double BendFloat(const Work* w, const float* x, size_t n, size_t step)
{
    double scale = 1 / (w->s->dt * w->s->dt);
    bool inner = n > 0 && n + 1 < w->frames;
    return inner ? scale * ((double)x[(n - 1) * step] - 2 * (double)x[n * step] + (double)x[(n + 1) * step]) : 0;
}

static double Bend(const Work* w, const double* x, size_t n, size_t step)
{
    double scale = 1 / (w->s->dt * w->s->dt);
    bool inner = n > 0 && n + 1 < w->frames;
    return inner ? scale * (x[(n - 1) * step] - 2 * x[n * step] + x[(n + 1) * step]) : 0;
}

// Rotation halfway between two frames.
static void MiddleOf(const Work* w, size_t joint, size_t n, size_t other, double q[4])
{
    memcpy(q, (const double[4]){0, 0, 0, 1}, 4 * sizeof(double));
    if (w->s->turns != NULL) {
        const float *a = w->s->turns + 4 * (n * w->joints + joint), *b = w->s->turns + 4 * (other * w->joints + joint);
        double dot = 0;
        for (int i = 0; i < 4; ++i) {
            dot += (double)a[i] * (double)b[i];
        }
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)a[i] + (dot < 0 ? -1 : 1) * (double)b[i];
        }
        jnaQuat_Normalize(q);
    }
    for (int i = 0; i < 3; ++i) {
        q[i] = -q[i];
    }
}

// Projection of 2 E_n - E_other.
static void Project(const Work* w, size_t n, size_t other, double* out)
{
    memset(out, 0, w->modes * sizeof(double));
    for (size_t j = 0; j < w->joints; ++j) {
        double field[12], q[4];
        const float* x = w->s->matrices + 12 * j;
        for (size_t i = 0; i < 12; ++i) {
            field[i] = 2 * BendFloat(w, x + i, n, 12 * w->joints) - BendFloat(w, x + i, other, 12 * w->joints);
        }
        MiddleOf(w, j, n, other, q);
        for (size_t column = 0; column < 4; ++column) {
            double v[3] = {field[column], field[4 + column], field[8 + column]};
            jnaQuat_Rotate(q, v, v);
            for (size_t row = 0; row < 3; ++row) {
                const double* t = w->forces + (j * 12 + 4 * row + column) * w->modes;
                for (size_t k = 0; k < w->modes; ++k) {
                    out[k] += t[k] * v[row];
                }
            }
        }
    }
    for (size_t k = 0; k < w->modes; ++k) {
        out[k] += 2 * Bend(w, w->drives + k, n, w->modes) - Bend(w, w->drives + k, other, w->modes);
    }
}

jnResult jnaModes_ForceByJoints(
    const jnaModes* m, const jnaModalSequence* s, double* starts, double* rates, jnError* error)
{
    JN_ASSERT(s->matrices != NULL && s->character != NULL);
    Work w = {.m = m,
        .s = s,
        .modes = (size_t)m->modeCount,
        .joints = (size_t)m->jointCount,
        .vertices = (size_t)m->vertexCount,
        .frames = (size_t)s->frameCount};
    jnResult result = jn_ok;
    jnaArena arena = {0};
    w.displacements = jnaArena_Take(&arena, m->vertexCount, 3 * sizeof(float));
    w.drives = jnaArena_Take(&arena, (int64_t)(w.frames * w.modes), sizeof(double));
    w.forces = jnaArena_Take(&arena, (int64_t)(w.joints * w.modes), 12 * sizeof(double));
    double* ends = jnaArena_Take(&arena, (int64_t)(w.frames * w.modes), sizeof(double));
    arena.failed = arena.failed || !FindDrives(&w);
    JN_TRY(jnaArena_Check(&arena, "the forces of frames", error));
    SumForces(&w);
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < w.frames - 1; ++n) {
        double *start = starts + n * w.modes, *end = ends + n * w.modes;
        Project(&w, n, n + 1, start);
        Project(&w, n + 1, n, end);
        for (size_t k = 0; k < w.modes; ++k) {
            rates[n * w.modes + k] = (end[k] - start[k]) / s->dt;
        }
    }
    jnaSaturateForces(m, s->frameCount - 1, s->dt, starts, rates);
done:
    jnaReleaseArena(&arena);
    return result;
}
