// Modal springs over a sequence, frame by frame in double precision.
//
// With E_n the second difference of a target over h^2 (0 at the ends of the sequence), the cubic over the interval from
// n to n + 1 begins with the acceleration 2 E_n - E_{n+1} and ends with 2 E_{n+1} - E_n. Both are turned into the frame
// of the interval's middle and projected.
//
// Frames turn. With S = sum over joints of (angular velocity in the joint's axes) . spins, and p = z' + S z the
// velocity in space, the springs obey
//     z' = p - S z        p' = -S p - stiffness z - damping (p - S z) - force
// An interval is split: both z and p turn by exp(-S h/2), the closed form steps in a frame that stands still, and both
// turn again. S is skew where modes have unit mass, so that a turn keeps the energy whatever the angle.
#include "modes/modal_motion.h"

#include "base/affine.h"
#include "base/matrices.h"
#include "base/try.h"
#include "jounce/spring_functions.h"
#include "modes/modes_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

void jnaJointTurns(const jnaCharacter* c, const float* matrices, float* turns)
{
    for (int j = 0; j < c->jointCount; ++j) {
        jnaAffine global = jnaAffine_FromFloats(matrices + 12 * (size_t)j);
        jnaAffine bind = jnaAffine_FromFloats(c->joints[j].inverseBind), m = jnaAffine_Multiply(&global, &bind);
        memcpy(turns + 4 * (size_t)j, jnRigidPart(m.m).rotation, 4 * sizeof(float));
    }
}

void jnaVertexRotations(const jnaCharacter* c, const float* turns, float* rotations)
{
    for (int v = 0; v < c->vertexCount; ++v) {
        const jnaInfluences* in = &c->influences[v];
        const float* first = turns + 4 * (size_t)in->joints[0];
        double sum[4] = {0}, square = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0.0f; ++k) {
            const float* q = turns + 4 * (size_t)in->joints[k];
            float cosine = first[0] * q[0] + first[1] * q[1] + first[2] * q[2] + first[3] * q[3];
            double weight = cosine < 0.0f ? -(double)in->weights[k] : (double)in->weights[k];
            for (int i = 0; i < 4; ++i) {
                sum[i] += weight * (double)q[i];
            }
        }
        for (int i = 0; i < 4; ++i) {
            square += sum[i] * sum[i];
        }
        for (int i = 0; i < 4; ++i) {
            rotations[4 * (size_t)v + (size_t)i] = (float)(sum[i] / sqrt(square));
        }
    }
}

// Rotation of a vertex' frame halfway between two frames, which may be the same.
static void FrameOf(const jnaModalSequence* s, int frame, int other, int vertex, double q[4])
{
    double sign = 1, dot = 0;
    memcpy(q, (const double[4]){0, 0, 0, 1}, 4 * sizeof(double));
    if (s->rotations == NULL) {
        return;
    }
    const float* a = s->rotations + 4 * ((size_t)frame * (size_t)s->vertexCount + (size_t)vertex);
    const float* b = s->rotations + 4 * ((size_t)other * (size_t)s->vertexCount + (size_t)vertex);
    for (int i = 0; i < 4; ++i) {
        dot += (double)a[i] * (double)b[i];
    }
    sign = dot < 0 ? -1 : 1;
    for (int i = 0; i < 4; ++i) {
        q[i] = (double)a[i] + sign * (double)b[i];
    }
    jnaQuat_Normalize(q);
}

// out = R^T v (back) or R v.
static void Turn(
    const jnaModalSequence* s, int frame, int other, int vertex, bool back, const double v[3], double out[3])
{
    double q[4];
    FrameOf(s, frame, other, vertex, q);
    for (int i = 0; i < 3; ++i) {
        q[i] = back ? -q[i] : q[i];
    }
    jnaQuat_Rotate(q, v, out);
}

// E_n of a vertex' coordinates; 0 at the ends.
static void Bend(const jnaModalSequence* s, int frame, int vertex, double bend[3])
{
    size_t width = 3 * (size_t)s->vertexCount, at = (size_t)frame * width + 3 * (size_t)vertex;
    double scale = 1 / (s->dt * s->dt);
    for (size_t a = 0; a < 3; ++a) {
        bool inner = frame > 0 && frame < s->frameCount - 1;
        bend[a] = inner ? scale * ((double)s->targets[at - width + a] - 2 * (double)s->targets[at + a] +
                                      (double)s->targets[at + width + a])
                        : 0;
    }
}

// Projection of  2 E_frame - E_other  in the axes halfway. field: [vertexCount][3], scratch.
static void Project(const jnaModes* m, const jnaModalSequence* s, int frame, int other, double* field, double* out)
{
    size_t width = 3 * (size_t)m->vertexCount;
    for (int v = 0; v < m->vertexCount; ++v) {
        double own[3], far[3];
        Bend(s, frame, v, own);
        Bend(s, other, v, far);
        for (int a = 0; a < 3; ++a) {
            own[a] = 2 * own[a] - far[a];
        }
        Turn(s, frame, other, v, true, own, field + 3 * (size_t)v);
    }
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        const float* p = m->projections + k * width;
        double sum = 0;
        for (size_t i = 0; i < width; ++i) {
            sum += (double)p[i] * field[i];
        }
        out[k] = sum;
    }
}

jnResult jnaModes_Force(const jnaModes* m, const jnaModalSequence* s, double* starts, double* rates, jnError* error)
{
    JN_ASSERT(m->vertexCount == s->vertexCount && s->frameCount >= 1);
    if (s->matrices != NULL) {
        return jnaModes_ForceByJoints(m, s, starts, rates, error);
    }
    size_t modes = (size_t)m->modeCount;
    int failures = 0;
#pragma omp parallel reduction(+ : failures)
    {
        double* field = malloc((3 * (size_t)m->vertexCount + modes + 1) * sizeof(double));
        failures += field == NULL;
#pragma omp for schedule(dynamic, 4)
        for (int n = 0; n < s->frameCount - 1; ++n) {
            if (field == NULL) {
                continue;
            }
            double* ends = field + 3 * (size_t)m->vertexCount;
            Project(m, s, n, n + 1, field, starts + (size_t)n * modes);
            Project(m, s, n + 1, n, field, ends);
            for (size_t k = 0; k < modes; ++k) {
                rates[(size_t)n * modes + k] = (ends[k] - starts[(size_t)n * modes + k]) / s->dt;
            }
        }
        free(field);
    }
    if (failures > 0) {
        return jnFail(error, jn_outOfMemory, "out of memory to project %d frames", s->frameCount);
    }
    jnaSaturateForces(m, s->frameCount - 1, s->dt, starts, rates);
    return jn_ok;
}

// Rotation vector of every joint over an interval, in its own axes, and from it the turn of amplitudes over half of it.
static void FindTurn(const jnaModes* m, const jnaModalSequence* s, int frame, double* turn)
{
    size_t n = (size_t)m->modeCount, joints = (size_t)m->jointCount;
    memset(turn, 0, n * n * sizeof(double));
    for (size_t j = 0; s->turns != NULL && j < joints; ++j) {
        double from[4], to[4], q[4];
        for (size_t i = 0; i < 4; ++i) {
            double value = (double)s->turns[((size_t)frame * joints + j) * 4 + i];
            from[i] = i < 3 ? -value : value;
            to[i] = (double)s->turns[((size_t)(frame + 1) * joints + j) * 4 + i];
        }
        jnaQuat_Multiply(from, to, q);
        double sine = jnaLength(q), sign = q[3] < 0 ? -1 : 1;
        double scale = sign * (sine > 1e-12 ? 2 * atan2(sine, sign * q[3]) / sine : 2);
        for (size_t axis = 0; axis < 3; ++axis) {
            double angle = 0.5 * scale * q[axis];
            const float* spins = m->spins + (3 * j + axis) * n * n;
            for (size_t i = 0; i < n * n; ++i) {
                turn[i] += angle * (double)spins[i];
            }
        }
    }
}

// x <- exp(-S) x by its series, in as many parts as keep it short. work: [2 n].
static void TurnAmplitudes(const double* turn, size_t n, double* x, double* work)
{
    enum { TERMS = 16 };
    double norm = 0;
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (size_t k = 0; k < n; ++k) {
            sum += fabs(turn[i * n + k]);
        }
        norm = fmax(norm, sum);
    }
    int parts = 1 + (int)fmin(norm, 100.0);
    for (int part = 0; part < parts && norm > 0; ++part) {
        memcpy(work, x, n * sizeof(double));
        for (int term = 1; term <= TERMS; ++term) {
            for (size_t i = 0; i < n; ++i) {
                double sum = 0;
                for (size_t k = 0; k < n; ++k) {
                    sum += turn[i * n + k] * work[k];
                }
                work[n + i] = -sum / (parts * term);
                x[i] += work[n + i];
            }
            memcpy(work, work + n, n * sizeof(double));
        }
    }
}

void jnaDestroyModalTurns(jnaModalTurns* turns)
{
    free(turns->rates);
    free(turns->halves);
    *turns = (jnaModalTurns){0};
}

// exp(-S) by Horner's rule on its series; S is small. work: [n n]. False: out of memory.
static bool Exponentiate(const double* turn, size_t n, double* result, double* work)
{
    enum { TERMS = 10 };
    memset(result, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        result[i * n + i] = 1;
    }
    for (int term = TERMS; term >= 1; --term) {
        if (!jnaMultiplyDoubles((int)n, -1.0 / term, turn, result, work)) {
            return false;
        }
        memcpy(result, work, n * n * sizeof(double));
        for (size_t i = 0; i < n; ++i) {
            result[i * n + i] += 1;
        }
    }
    return true;
}

jnResult jnaModes_FindTurns(const jnaModes* m, const jnaModalSequence* s, jnaModalTurns* turns, jnError* error)
{
    size_t n = (size_t)m->modeCount, intervals = (size_t)(s->frameCount - 1);
    *turns = (jnaModalTurns){0};
    if (s->turns == NULL || n == 0) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    jnaArena arena = {0};
    turns->rates = jnaArena_Give(&arena, (int64_t)(intervals * n * n), sizeof(float));
    turns->halves = jnaArena_Give(&arena, (int64_t)(intervals * n * n), sizeof(float));
    double* work = jnaArena_Take(&arena, (int64_t)(n * n), 3 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the rotations of frames", error));
    for (size_t i = 0; i < intervals; ++i) {
        FindTurn(m, s, (int)i, work);
        if (!Exponentiate(work, n, work + n * n, work + 2 * n * n)) {
            JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the rotations of frames"));
        }
        for (size_t k = 0; k < n * n; ++k) {
            turns->rates[i * n * n + k] = (float)(work[k] * 2 / s->dt);
            turns->halves[i * n * n + k] = (float)work[n * n + k];
        }
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyModalTurns(turns);
    }
    return result;
}

// y = matrix x.
static void Apply(const float* matrix, size_t n, const double* x, double* y)
{
    for (size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (size_t k = 0; k < n; ++k) {
            sum += (double)matrix[i * n + k] * x[k];
        }
        y[i] = sum;
    }
}

// State of a run and its scratch.
typedef struct Runner {
    const jnaModes* m;
    const jnaModalSequence* s;
    const jnaModalTurns* turns; // NULL: found on the way
    double *turn, *z, *p, *drag, *work;
} Runner;

static void TurnState(const Runner* r, int frame)
{
    size_t n = (size_t)r->m->modeCount;
    double* states[2] = {r->z, r->p};
    for (int i = 0; i < 2; ++i) {
        if (r->turns == NULL) {
            TurnAmplitudes(r->turn, n, states[i], r->work);
        } else if (r->turns->halves != NULL) {
            Apply(r->turns->halves + (size_t)frame * n * n, n, states[i], r->work);
            memcpy(states[i], r->work, n * sizeof(double));
        }
    }
}

// The damping does not act on the turning itself.
static void FindDrag(const Runner* r, int frame)
{
    size_t n = (size_t)r->m->modeCount;
    memset(r->drag, 0, n * sizeof(double));
    if (r->turns != NULL && r->turns->rates != NULL) {
        Apply(r->turns->rates + (size_t)frame * n * n, n, r->z, r->drag);
    }
    for (size_t k = 0; k < n; ++k) {
        for (size_t l = 0; r->turns == NULL && l < n; ++l) {
            r->drag[k] += r->turn[k * n + l] * r->z[l] * 2 / r->s->dt;
        }
        r->drag[k] *= r->m->damping[k];
    }
}

static void StepState(const Runner* r, const jnSpringResponse* responses, const double* starts, const double* rates)
{
    const jnaModes* m = r->m;
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        const jnSpringResponse* q = &responses[k];
        double a = m->gain[k] * starts[k] - r->drag[k], j = m->gain[k] * rates[k], z = r->z[k], p = r->p[k];
        r->z[k] = q->position * z + q->impulse * p - q->step * a - q->ramp * j;
        r->p[k] = -m->stiffness[k] * q->impulse * z + q->velocity * p - q->impulse * a - q->step * j;
    }
}

jnResult jnaModes_Run(const jnaModes* m, const jnaModalSequence* s, const jnaModalDrive* drive, double* amplitudes,
    double* velocities, jnError* error)
{
    size_t n = (size_t)m->modeCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnSpringResponse* responses = jnaArena_Take(&arena, m->modeCount, sizeof(*responses));
    Runner r = {.m = m,
        .s = s,
        .turns = drive->turns,
        .turn = jnaArena_Take(&arena, (int64_t)m->modeCount * m->modeCount, sizeof(double)),
        .z = jnaArena_Take(&arena, m->modeCount, sizeof(double)),
        .p = jnaArena_Take(&arena, m->modeCount, sizeof(double)),
        .drag = jnaArena_Take(&arena, m->modeCount, sizeof(double)),
        .work = jnaArena_Take(&arena, m->modeCount, 2 * sizeof(double))};
    JN_TRY(jnaArena_Check(&arena, "a run of the modes", error));
    for (size_t k = 0; k < n; ++k) {
        responses[k] = jnEvaluateSpring(m->stiffness[k], m->damping[k], s->dt);
    }
    for (int frame = 0; frame < s->frameCount; ++frame) {
        size_t at = (size_t)frame * n;
        memcpy(amplitudes + at, r.z, n * sizeof(double));
        if (velocities != NULL) {
            memcpy(velocities + at, r.p, n * sizeof(double));
        }
        if (frame == s->frameCount - 1) {
            break;
        }
        if (drive->turns == NULL) {
            FindTurn(m, s, frame, r.turn);
        }
        TurnState(&r, frame);
        FindDrag(&r, frame);
        StepState(&r, responses, drive->starts + at, drive->rates + at);
        TurnState(&r, frame);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

double jnaModalLayer(const jnaModalSequence* s, int frame, int vertex, double layer[3])
{
    size_t at = 3 * ((size_t)frame * (size_t)s->vertexCount + (size_t)vertex);
    double d[3], square = 0;
    for (size_t a = 0; a < 3; ++a) {
        d[a] = (double)s->motion[at + a] - (double)s->targets[at + a];
        square += d[a] * d[a];
    }
    Turn(s, frame, frame, vertex, true, d, layer);
    return square;
}

// Products of rows [modeCount][vertexCount][3] with the layer motion - target, in the skinned frames of every frame,
// and the layer's squares. products: [frameCount][modeCount]; squares: [frameCount] or NULL.
static jnResult MultiplyLayers(
    const jnaModes* m, const jnaModalSequence* s, const float* rows, double* products, double* squares, jnError* error)
{
    size_t width = 3 * (size_t)m->vertexCount, modes = (size_t)m->modeCount;
    int failures = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : failures)
    for (int n = 0; n < s->frameCount; ++n) {
        double* field = malloc(width * sizeof(double));
        double square = 0;
        failures += field == NULL;
        for (int v = 0; field != NULL && v < m->vertexCount; ++v) {
            square += jnaModalLayer(s, n, v, field + 3 * (size_t)v);
        }
        for (size_t k = 0; field != NULL && k < modes; ++k) {
            double sum = 0;
            for (size_t i = 0; i < width; ++i) {
                sum += (double)rows[k * width + i] * field[i];
            }
            products[(size_t)n * modes + k] = sum;
        }
        if (squares != NULL) {
            squares[n] = square;
        }
        free(field);
    }
    return failures == 0 ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d frames", s->frameCount);
}

jnResult jnaModes_Observe(
    const jnaModes* m, const jnaCharacter* c, const jnaModalSequence* s, double* amplitudes, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaModes fit = *m; // shapes are shared; the projection is one of its own
    fit.projections = jnaArena_Take(&arena, (int64_t)m->modeCount * m->vertexCount, 3 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the projection of modes", error));
    JN_TRY(jnaModes_ProjectSurface(&fit, c, error));
    JN_TRY(MultiplyLayers(m, s, fit.projections, amplitudes, NULL, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaModes_Overlap(
    const jnaModes* m, const jnaModalSequence* s, double* overlaps, double* layers, jnError* error)
{
    return MultiplyLayers(m, s, m->shapes, overlaps, layers, error);
}

static void OffsetOf(
    const jnaModes* m, const jnaModalSequence* s, int frame, int vertex, const double* amplitudes, double offset[3])
{
    size_t width = 3 * (size_t)m->vertexCount;
    double local[3] = {0};
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        const float* u = m->shapes + k * width + 3 * (size_t)vertex;
        double z = amplitudes[(size_t)frame * (size_t)m->modeCount + k];
        for (int a = 0; a < 3; ++a) {
            local[a] += (double)u[a] * z;
        }
    }
    Turn(s, frame, frame, vertex, false, local, offset);
}

void jnaModes_Show(const jnaModes* m, const jnaModalSequence* s, int frame, const double* amplitudes, float* positions)
{
    for (int v = 0; v < m->vertexCount; ++v) {
        size_t at = 3 * ((size_t)frame * (size_t)m->vertexCount + (size_t)v);
        double offset[3];
        OffsetOf(m, s, frame, v, amplitudes, offset);
        for (size_t a = 0; a < 3; ++a) {
            positions[3 * (size_t)v + a] = (float)((double)s->targets[at + a] + offset[a]);
        }
    }
}

// Squares of what is left and of the layer in one frame.
static void FrameSquares(const jnaModes* m, const jnaModalSequence* s, const double* amplitudes, int frame,
    const float* weights, double* sums)
{
    sums[0] = sums[1] = 0;
    for (int v = 0; jnaModalSequence_Counts(s, frame) && v < m->vertexCount; ++v) {
        size_t at = 3 * ((size_t)frame * (size_t)m->vertexCount + (size_t)v);
        double offset[3], weight = weights != NULL ? (double)weights[v] : 1;
        OffsetOf(m, s, frame, v, amplitudes, offset);
        for (size_t a = 0; a < 3; ++a) {
            double layer = (double)s->motion[at + a] - (double)s->targets[at + a];
            sums[0] += weight * (layer - offset[a]) * (layer - offset[a]);
            sums[1] += weight * layer * layer;
        }
    }
}

double jnaModes_Captured(
    const jnaModes* m, const jnaModalSequence* s, const double* amplitudes, int first, int end, const float* weights)
{
    enum { CHUNK = 256 };
    double residual = 0, layer = 0;
    for (int from = first; from < end; from += CHUNK) {
        double sums[CHUNK][2]; // a frame each: the same sum for any threads
        int count = end - from < CHUNK ? end - from : CHUNK;
#pragma omp parallel for schedule(dynamic, 4)
        for (int n = 0; n < count; ++n) {
            FrameSquares(m, s, amplitudes, from + n, weights, sums[n]);
        }
        for (int n = 0; n < count; ++n) {
            residual += sums[n][0];
            layer += sums[n][1];
        }
    }
    return layer > 0 ? 1 - residual / layer : (double)NAN;
}
