// The body of the spring kernels; see spring_kernels.h. Loops run over JN_LANES with nothing in them but arithmetic and
// selections, so that any compiler turns them into vector code.
//
// Coefficients without a transcendental function: at h / 2^m all rates are at most SLOW_RATE and a short Taylor series gives
// the step and ramp responses; the impulse response and its rate follow from the equation without division, and m doublings
//
//     w(2t) = w (P + Q)   Q(2t) = Q^2 - k_s w^2   G1(2t) = G1 (1 + P) + w^2   G2(2t) = G2 (1 + P) + G1 (t + w)
//
// lead back to h. Only products and sums: the same bytes on every machine. An error doubles with each doubling, so stiffer
// springs than MAX_DOUBLINGS allows (a rate times h above 2^11) take the closed form of spring_functions.c.
#include "spring_kernels.h"

#include "jounce/spring_functions.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SLOW_RATE 0.5
enum { SERIES_TERMS = 12, MAX_DOUBLINGS = 12 };

// Below this an offset or velocity is rounding dust; it becomes 0, so that springs come to rest without denormals.
#define DUST 1e-30f

// Responses in units of the time t they are for: impulse w/t, step G1/t^2, ramp G2/t^3, velocity Q.
typedef struct Responses {
    double p[JN_LANES], kappa[JN_LANES]; // k_d t, k_s t^2
    double impulse[JN_LANES], velocity[JN_LANES], step[JN_LANES], ramp[JN_LANES];
    double doublings[JN_LANES];
} Responses;

// Halves the time of each lane until the series converges; returns the most doublings any lane needs.
static inline int HalveTime(Responses* r, const float* stiffness, const float* damping, double h)
{
    for (int i = 0; i < JN_LANES; ++i) {
        r->p[i] = (double)damping[i] * h;
        r->kappa[i] = (double)stiffness[i] * h * h;
        r->doublings[i] = 0.0;
    }
    int most = 0;
    for (; most < MAX_DOUBLINGS; ++most) {
        int fast = 0;
        for (int i = 0; i < JN_LANES; ++i) {
            bool halve = (r->p[i] > SLOW_RATE) | (r->kappa[i] > SLOW_RATE * SLOW_RATE);
            double half = halve ? 0.5 : 1.0;
            r->p[i] *= half;
            r->kappa[i] *= half * half;
            r->doublings[i] += halve ? 1.0 : 0.0;
            fast |= halve;
        }
        if (fast == 0) {
            break;
        }
    }
    return most;
}

// Taylor series of the step and ramp responses from the recurrence u'' = -p u' - kappa u of the derivatives at 0.
static inline void SumSeries(Responses* r)
{
    double u0[JN_LANES], u1[JN_LANES];
    for (int i = 0; i < JN_LANES; ++i) {
        u0[i] = 0.0;
        u1[i] = 1.0;
        r->step[i] = 0.5;
        r->ramp[i] = 1.0 / 6.0;
    }
    double over = 0.5; // 1/(n+1)!
    for (int n = 2; n <= SERIES_TERMS; ++n) {
        over /= n + 1;
        double over2 = over / (n + 2);
        for (int i = 0; i < JN_LANES; ++i) {
            double u2 = -(r->p[i] * u1[i] + r->kappa[i] * u0[i]);
            r->step[i] += u2 * over;
            r->ramp[i] += u2 * over2;
            u0[i] = u1[i];
            u1[i] = u2;
        }
    }
    for (int i = 0; i < JN_LANES; ++i) {
        r->impulse[i] = 1.0 - (r->p[i] * r->step[i] + r->kappa[i] * r->ramp[i]);
        r->velocity[i] = 1.0 - (r->p[i] * r->impulse[i] + r->kappa[i] * r->step[i]);
    }
}

static inline void DoubleTime(Responses* r)
{
    for (int i = 0; i < JN_LANES; ++i) {
        bool due = r->doublings[i] > 0.0;
        double w = r->impulse[i], q = r->velocity[i], g1 = r->step[i], g2 = r->ramp[i];
        double onward = q + r->p[i] * w; // P
        double w2 = 0.5 * (w * (onward + q));
        double q2 = q * q - r->kappa[i] * (w * w);
        double s2 = 0.25 * (g1 * (1.0 + onward) + w * w);
        double r2 = 0.125 * (g2 * (1.0 + onward) + g1 * (1.0 + w));
        r->impulse[i] = due ? w2 : w;
        r->velocity[i] = due ? q2 : q;
        r->step[i] = due ? s2 : g1;
        r->ramp[i] = due ? r2 : g2;
        r->p[i] *= due ? 2.0 : 1.0;
        r->kappa[i] *= due ? 4.0 : 1.0;
        r->doublings[i] -= 1.0;
    }
}

static inline void StoreRows(float* rows, int lane, double p, double w, double rr, double q, double g1, double g2)
{
    float* at = rows + lane;
    float hp = (float)p, hw = (float)w, hr = (float)rr, hq = (float)q;
    at[ROW_P * JN_LANES] = hp;
    at[ROW_W * JN_LANES] = hw;
    at[ROW_R * JN_LANES] = hr;
    at[ROW_Q * JN_LANES] = hq;
    at[ROW_G1 * JN_LANES] = (float)g1;
    at[ROW_G2 * JN_LANES] = (float)g2;
    at[ROW_PL * JN_LANES] = (float)(p - (double)hp);
    at[ROW_WL * JN_LANES] = (float)(w - (double)hw);
    at[ROW_RL * JN_LANES] = (float)(rr - (double)hr);
    at[ROW_QL * JN_LANES] = (float)(q - (double)hq);
}

// Stiff lanes, one at a time: rare, and right for any stiffness.
static void MakeStiffLanes(const float* stiffness, const float* damping, double h, float* rows)
{
    for (int i = 0; i < JN_LANES; ++i) {
        double ks = (double)stiffness[i], kd = (double)damping[i];
        double limit = SLOW_RATE * (1 << MAX_DOUBLINGS);
        if (kd * h > limit || ks * h * h > limit * limit) {
            jnSpringResponse s = jnEvaluateSpring(ks, kd, h);
            StoreRows(rows, i, s.position, s.impulse, -ks * s.impulse, s.velocity, s.step, s.ramp);
        }
    }
}

static inline void MakeBlock(const float* restrict stiffness, const float* restrict damping, double h, float* restrict rows)
{
    Responses r;
    int doublings = HalveTime(&r, stiffness, damping, h);
    SumSeries(&r);
    for (int m = 0; m < doublings; ++m) {
        DoubleTime(&r);
    }
    double h2 = h * h, h3 = h2 * h;
    for (int i = 0; i < JN_LANES; ++i) {
        double w = r.impulse[i] * h;
        StoreRows(rows, i, r.velocity[i] + (double)damping[i] * w, w, -((double)stiffness[i] * w), r.velocity[i],
            r.step[i] * h2, r.ramp[i] * h3);
    }
    if (doublings == MAX_DOUBLINGS) {
        MakeStiffLanes(stiffness, damping, h, rows);
    }
}

static void MakeCoefficients(const float* stiffness, const float* damping, double h, float* coefficients, int first, int end)
{
    for (int block = first; block < end; ++block) {
        size_t b = (size_t)block;
        MakeBlock(stiffness + b * JN_LANES, damping + b * JN_LANES, h, coefficients + b * JN_COEFFICIENT_SIZE);
    }
}

// Reads `lanes` vectors at any stride into a block; lanes beyond the last are 0.
static inline void ReadVectors(const float* input, size_t stride, int lanes, float* restrict field)
{
    if (lanes == JN_LANES && stride == 3 * sizeof(float)) {
        for (int i = 0; i < JN_LANES; ++i) {
            field[i] = input[3 * i];
            field[JN_LANES + i] = input[3 * i + 1];
            field[2 * JN_LANES + i] = input[3 * i + 2];
        }
        return;
    }
    memset(field, 0, JN_FIELD_SIZE * sizeof(float));
    for (int i = 0; i < lanes; ++i) {
        const float* at = (const float*)(const void*)((const char*)input + (size_t)i * stride);
        field[i] = at[0];
        field[JN_LANES + i] = at[1];
        field[2 * JN_LANES + i] = at[2];
    }
}

static inline void WriteVectors(float* output, size_t stride, int lanes, const float* restrict field)
{
    if (lanes == JN_LANES && stride == 3 * sizeof(float)) {
        for (int i = 0; i < JN_LANES; ++i) {
            output[3 * i] = field[i];
            output[3 * i + 1] = field[JN_LANES + i];
            output[3 * i + 2] = field[2 * JN_LANES + i];
        }
        return;
    }
    for (int i = 0; i < lanes; ++i) {
        float* at = (float*)(void*)((char*)output + (size_t)i * stride);
        at[0] = field[i];
        at[1] = field[JN_LANES + i];
        at[2] = field[2 * JN_LANES + i];
    }
}

// How many of n numbers are not finite.
static inline int CountBad(const float* values, int n)
{
    int bad = 0;
    for (int i = 0; i < n; ++i) {
        bad += !(fabsf(values[i]) <= FLT_MAX);
    }
    return bad;
}

static inline bool LaneIsFinite(const float* field, int lane)
{
    return fabsf(field[lane]) <= FLT_MAX && fabsf(field[JN_LANES + lane]) <= FLT_MAX &&
           fabsf(field[2 * JN_LANES + lane]) <= FLT_MAX;
}

static inline void RotateField(const float* m, const float* t, float* field)
{
    for (int i = 0; i < JN_LANES; ++i) {
        float x = field[i], y = field[JN_LANES + i], z = field[2 * JN_LANES + i];
        field[i] = m[0] * x + m[1] * y + m[2] * z + t[0];
        field[JN_LANES + i] = m[3] * x + m[4] * y + m[5] * z + t[1];
        field[2 * JN_LANES + i] = m[6] * x + m[7] * y + m[8] * z + t[2];
    }
}

// Takes the new sample into the history. Bits of the result: lanes whose sample was not finite.
static inline uint32_t TakeSample(const jnStepPass* pass, size_t b, int lanes)
{
    static const float nowhere[3] = {0, 0, 0};
    float* field = pass->newest + b * JN_FIELD_SIZE;
    const char* input = (const char*)pass->input + b * JN_LANES * pass->inputStride;
    ReadVectors((const float*)(const void*)input, pass->inputStride, lanes, field);
    if (pass->inputFrame != NULL) {
        RotateField(pass->inputFrame->rotation, pass->inputFrame->translation, field);
    }
    int bad = CountBad(field, JN_FIELD_SIZE);
    float* velocity = NULL;
    if (pass->inputVelocity != NULL) {
        velocity = pass->newestVelocity + b * JN_FIELD_SIZE;
        input = (const char*)pass->inputVelocity + b * JN_LANES * pass->inputStride;
        ReadVectors((const float*)(const void*)input, pass->inputStride, lanes, velocity);
        if (pass->inputFrame != NULL) {
            RotateField(pass->inputFrame->rotation, nowhere, velocity);
        }
        bad += CountBad(velocity, JN_FIELD_SIZE);
    }
    uint32_t mask = 0;
    for (int i = 0; bad != 0 && i < JN_LANES; ++i) {
        if (LaneIsFinite(field, i) && (velocity == NULL || LaneIsFinite(velocity, i))) {
            continue;
        }
        mask |= 1u << i;
        for (int axis = 0; axis < 3; ++axis) {
            size_t at = (size_t)(axis * JN_LANES + i);
            field[at] = pass->fallback != NULL ? pass->fallback[b * JN_FIELD_SIZE + at] : 0.0f;
            if (velocity != NULL) {
                velocity[axis * JN_LANES + i] = 0.0f;
            }
        }
    }
    return mask;
}

// The line and the two second differences of one axis; see target_curve.h.
typedef struct Basis {
    float line[JN_LANES], e0[JN_LANES], e1[JN_LANES];
} Basis;

static inline void MakeBasis(const jnStepPass* pass, size_t at, Basis* basis)
{
    const float* restrict s0 = pass->samples[0] + at;
    const float* restrict s1 = pass->samples[1] + at;
    const float* restrict s2 = pass->samples[2] + at;
    const float* restrict s3 = pass->samples[3] + at;
    float r0 = pass->ratios[0], r1 = pass->ratios[1], r2 = pass->ratios[2];
    bool exact = pass->own == 1;
    for (int i = 0; i < JN_LANES; ++i) {
        float d0 = (s1[i] - s0[i]) * r0, d1 = (s2[i] - s1[i]) * r1, d2 = (s3[i] - s2[i]) * r2;
        basis->line[i] = exact ? d1 : d2;
        basis->e0[i] = d1 - d0;
        basis->e1[i] = d2 - d1;
    }
    if (pass->slopes[0] != NULL) {
        const float* restrict m0 = pass->slopes[0] + at;
        const float* restrict m1 = pass->slopes[1] + at;
        float h = pass->length;
        for (int i = 0; i < JN_LANES; ++i) {
            basis->e0[i] = m0[i] * h - basis->line[i];
            basis->e1[i] = m1[i] * h - basis->line[i];
        }
    }
}

static inline float Clean(float value)
{
    return fabsf(value) < DUST ? 0.0f : value;
}

// One axis of one block: the linear map of the header. Order of the sums: small terms first.
static inline void AdvanceAxis(const jnStepPass* pass, const float* restrict rows, const Basis* basis, float force,
    const float* y0, const float* v0, float* restrict y1, float* restrict v1)
{
    float a0 = pass->acceleration[0], a1 = pass->acceleration[1], j0 = pass->jerk[0], j1 = pass->jerk[1];
    for (int i = 0; i < JN_LANES; ++i) {
        float y = y0[i], v = v0[i];
        float acceleration = (a0 * basis->e0[i] + a1 * basis->e1[i]) - force;
        float jerk = j0 * basis->e0[i] + j1 * basis->e1[i];
        float g1 = rows[ROW_G1 * JN_LANES + i], g2 = rows[ROW_G2 * JN_LANES + i], w = rows[ROW_W * JN_LANES + i];
        float lowY = rows[ROW_PL * JN_LANES + i] * y + rows[ROW_WL * JN_LANES + i] * v;
        float lowV = rows[ROW_RL * JN_LANES + i] * y + rows[ROW_QL * JN_LANES + i] * v;
        float pushY = g1 * acceleration + g2 * jerk;
        float pushV = w * acceleration + g1 * jerk;
        y1[i] = Clean((rows[ROW_P * JN_LANES + i] * y + w * v) + (lowY - pushY));
        v1[i] = Clean((rows[ROW_R * JN_LANES + i] * y + rows[ROW_Q * JN_LANES + i] * v) + (lowV - pushV));
    }
}

// The target's velocity jump at the start of the interval, felt because the vertex's own velocity does not jump.
static inline void Kick(const jnStepPass* pass, const Basis* basis, const float* v, float* restrict kicked)
{
    for (int i = 0; i < JN_LANES; ++i) {
        kicked[i] = v[i] - (pass->kick[0] * basis->line[i] + pass->kick[1] * basis->e0[i] + pass->kick[2] * basis->e1[i]);
    }
}

// Puts lanes back on their target: those in `mask` and those whose state is not finite. Returns how many.
static inline int ResetLanes(uint32_t mask, float* state)
{
    if (mask == 0 && CountBad(state, JN_STATE_SIZE) == 0) {
        return 0;
    }
    int count = 0;
    for (int i = 0; i < JN_LANES; ++i) {
        if ((mask >> i & 1) == 0 && LaneIsFinite(state, i) && LaneIsFinite(state + JN_FIELD_SIZE, i)) {
            continue;
        }
        count++;
        for (int row = 0; row < 6; ++row) {
            state[row * JN_LANES + i] = 0.0f;
        }
    }
    return count;
}

// What is shown of an offset y: strength times y, bent so that it stays below the cap.
//     |y| <= cap/2: y         beyond: |y| -> cap - (cap/2)^2 / |y|, which is C1 at cap/2
static inline void LimitOffset(const jnStepPass* pass, size_t b, float* restrict y, float* restrict v)
{
    float cap = pass->cap, knee = 0.5f * cap;
    for (int i = 0; i < JN_LANES; ++i) {
        float strength = pass->strength * (pass->strengths != NULL ? pass->strengths[b * JN_LANES + (size_t)i] : 1.0f);
        float scale = 1.0f, along = 0.0f;
        if (cap > 0.0f) {
            float r2 = y[i] * y[i] + y[JN_LANES + i] * y[JN_LANES + i] + y[2 * JN_LANES + i] * y[2 * JN_LANES + i];
            float r = sqrtf(r2), dot = 0.0f;
            for (int axis = 0; axis < 3; ++axis) {
                dot += y[axis * JN_LANES + i] * v[axis * JN_LANES + i];
            }
            if (r > knee && r <= FLT_MAX) {
                float shown = cap - knee * (knee / r);
                scale = shown / r;
                along = (knee * (knee / r) / r - scale) * (dot / r) / r; // (d shown/dr - shown/r) r'/r
            }
        }
        for (int axis = 0; axis < 3; ++axis) {
            float offset = y[axis * JN_LANES + i];
            v[axis * JN_LANES + i] = strength * (scale * v[axis * JN_LANES + i] + along * offset);
            y[axis * JN_LANES + i] = strength * scale * offset;
        }
    }
}

static inline void WriteVelocities(const jnStepPass* pass, size_t b, int lanes, const Basis basis[3], const float* x, float* v)
{
    const float* s = pass->slope;
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < JN_LANES; ++i) {
            v[axis * JN_LANES + i] += s[0] * basis[axis].line[i] + s[1] * basis[axis].e0[i] + s[2] * basis[axis].e1[i];
        }
    }
    if (pass->outputFrame != NULL) {
        const jnFrame* f = pass->outputFrame;
        RotateField(f->rotation, f->drift, v);
        for (int i = 0; i < JN_LANES; ++i) {
            float a = x[i] - f->pivot[0], c = x[JN_LANES + i] - f->pivot[1], d = x[2 * JN_LANES + i] - f->pivot[2];
            v[i] += f->spin[1] * d - f->spin[2] * c;
            v[JN_LANES + i] += f->spin[2] * a - f->spin[0] * d;
            v[2 * JN_LANES + i] += f->spin[0] * c - f->spin[1] * a;
        }
    }
    WriteVectors((float*)(void*)((char*)pass->velocities + b * JN_LANES * pass->velocityStride), pass->velocityStride, lanes, v);
}

// Positions, and velocities if wanted, of one block. `state` is the block's and is used up.
static inline void WriteOutput(const jnStepPass* pass, size_t b, int lanes, const Basis basis[3], float* state)
{
    float* y = state;
    float* v = state + JN_FIELD_SIZE;
    float x[JN_FIELD_SIZE];
    if (pass->cap > 0.0f || pass->strength != 1.0f || pass->strengths != NULL) {
        LimitOffset(pass, b, y, v);
    }
    const float* base = pass->base + b * JN_FIELD_SIZE;
    for (int i = 0; i < JN_FIELD_SIZE; ++i) {
        x[i] = base[i] + y[i];
    }
    if (pass->placed) {
        const float* p = pass->place;
        for (int axis = 0; axis < 3; ++axis) {
            for (int i = 0; i < JN_LANES; ++i) {
                x[axis * JN_LANES + i] +=
                    p[0] * basis[axis].line[i] + p[1] * basis[axis].e0[i] + p[2] * basis[axis].e1[i];
            }
        }
    }
    if (pass->outputFrame != NULL) {
        RotateField(pass->outputFrame->rotation, pass->outputFrame->translation, x);
    }
    if (pass->positions != NULL) {
        char* at = (char*)pass->positions + b * JN_LANES * pass->positionStride;
        WriteVectors((float*)(void*)at, pass->positionStride, lanes, x);
    }
    if (pass->velocities != NULL) {
        WriteVelocities(pass, b, lanes, basis, x, v);
    }
}

// One block: sample in, state on, vertices out. `jumps` is a constant at each call, so that the common case has no trace of it.
static inline void RunBlock(const jnStepPass* pass, int block, bool jumps)
{
    size_t b = (size_t)block;
    int lanes = pass->count - block * JN_LANES < JN_LANES ? pass->count - block * JN_LANES : JN_LANES;
    uint32_t bad = pass->input != NULL ? TakeSample(pass, b, lanes) : 0;
    float state[JN_STATE_SIZE], made[JN_COEFFICIENT_SIZE];
    Basis basis[3];
    const float* before = pass->state + b * JN_STATE_SIZE;
    for (int axis = 0; axis < 3; ++axis) {
        MakeBasis(pass, b * JN_FIELD_SIZE + (size_t)(axis * JN_LANES), &basis[axis]);
    }
    if (pass->nextState == NULL && !pass->keepState) {
        memcpy(state, before, sizeof(state));
    } else {
        const float* rows = made;
        if (pass->responseTime > 0.0) {
            MakeBlock(pass->stiffness + b * JN_LANES, pass->damping + b * JN_LANES, pass->responseTime, made);
        } else {
            rows = pass->coefficients + b * JN_COEFFICIENT_SIZE;
        }
        for (int axis = 0; axis < 3; ++axis) {
            const float* y0 = before + axis * JN_LANES;
            const float* v0 = before + JN_FIELD_SIZE + axis * JN_LANES;
            float* y1 = state + axis * JN_LANES;
            float kicked[JN_LANES];
            if (jumps) {
                Kick(pass, &basis[axis], v0, kicked);
                v0 = kicked;
            }
            AdvanceAxis(pass, rows, &basis[axis], pass->force[axis], y0, v0, y1, state + JN_FIELD_SIZE + axis * JN_LANES);
            if (jumps) {
                for (int i = 0; i < JN_LANES; ++i) {
                    y1[i] -= pass->shift * basis[axis].line[i];
                }
            }
        }
    }
    if (pass->input != NULL || pass->nextState != NULL) {
        pass->resets[block] = (uint8_t)ResetLanes(bad, state);
    }
    if (pass->nextState != NULL) {
        memcpy(pass->nextState + b * JN_STATE_SIZE, state, sizeof(state));
    }
    WriteOutput(pass, b, lanes, basis, state);
}

static void RunPass(const jnStepPass* pass, int first, int end)
{
    for (int block = first; block < end; ++block) {
        if (pass->jumps) {
            RunBlock(pass, block, true);
        } else {
            RunBlock(pass, block, false);
        }
    }
}

const jnSpringKernels JN_KERNELS = {MakeCoefficients, RunPass};
