// The body of the spring kernels; see spring_kernels.h. What runs at every step is written with the vectors
// of lanes.h; what a step may need besides is plain loops over lanes.
//
// Coefficients without a transcendental function: at h / 2^m all rates are at most SLOW_RATE and a short
// Taylor series gives the step and ramp responses; the impulse response and its rate follow from the equation
// without division, and m doublings
//
//     w(2t) = w (P + Q)   Q(2t) = Q^2 - k_s w^2   G1(2t) = G1 (1 + P) + w^2   G2(2t) = G2 (1 + P) + G1 (t +
//     w)
//
// lead back to h. Only products and sums: the same bytes on every machine. An error doubles with each
// doubling, so stiffer springs than MAX_DOUBLINGS allows (a rate times h above 2^10) take the closed form of
// spring_functions.c.
#include "lanes.h"
#include "spring_kernels.h"

#include "jounce/spring_functions.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SLOW_RATE 0.5
enum { SERIES_TERMS = 11, MAX_DOUBLINGS = 12 };
// 1/n!, and the same with the sign that the recurrence below leaves out.
static const double inverseFactorials[SERIES_TERMS + 3] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

// Two vectors at a time: one alone would wait for itself.
enum { PAIR = 2 };

// Responses in units of the time t they are for: impulse w/t, step G1/t^2, ramp G2/t^3, velocity Q.
typedef struct Responses {
    jnDoubles p[PAIR], kappa[PAIR]; // k_d t, k_s t^2
    jnDoubles impulse[PAIR], velocity[PAIR], step[PAIR], ramp[PAIR];
    jnDoubles halvings[PAIR];
} Responses;

// Halves the time of each lane until p < SLOW_RATE and kappa < SLOW_RATE^2. Returns the most that a lane needed.
static inline int HalveTime(Responses* r, const jnDoubles* ks, const jnDoubles* kd, double h)
{
    const jnDoubles none = jnRepeatD(0.0), one = jnRepeatD(1.0), rate = jnRepeatD(SLOW_RATE);
    const jnDoubles square = jnRepeatD(SLOW_RATE * SLOW_RATE);
    for (int k = 0; k < PAIR; ++k) {
        r->p[k] = jnScaleD(h, kd[k]);
        r->kappa[k] = jnScaleD(h, jnScaleD(h, ks[k]));
        r->halvings[k] = none;
    }
    for (int count = 0; count < MAX_DOUBLINGS; ++count) {
        jnDoubles due[PAIR];
        for (int k = 0; k < PAIR; ++k) {
            due[k] = jnSelectAtLeastD(r->kappa[k], square, one, jnSelectAtLeastD(r->p[k], rate, one, none));
        }
        if (!jnAnyAtLeastD(jnAddD(due[0], due[PAIR - 1]), one)) {
            return count;
        }
        for (int k = 0; k < PAIR; ++k) {
            jnDoubles shorter = jnSubD(one, jnScaleD(0.5, due[k])); // 1 or 1/2: exact
            r->halvings[k] = jnAddD(r->halvings[k], due[k]);
            r->p[k] = jnMulD(r->p[k], shorter);
            r->kappa[k] = jnMulD(r->kappa[k], jnMulD(shorter, shorter));
        }
    }
    return MAX_DOUBLINGS;
}

// Taylor series of the step and ramp responses from the recurrence u'' = -p u' - kappa u of the derivatives
// at 0, carried with alternating sign.
static inline void SumSeries(Responses* r)
{
    jnDoubles u0[PAIR], u1[PAIR]; // derivatives 1 and 2
    for (int k = 0; k < PAIR; ++k) {
        u0[k] = jnRepeatD(1.0);
        u1[k] = r->p[k];
        r->step[k] = jnSubD(jnRepeatD(0.5), jnScaleD(inverseFactorials[3], u1[k]));
        r->ramp[k] = jnSubD(jnRepeatD(inverseFactorials[3]), jnScaleD(inverseFactorials[4], u1[k]));
    }
    JN_UNROLL
    for (int n = 3; n <= SERIES_TERMS; ++n) {
        const double sign = n % 2 == 0 ? -1.0 : 1.0;
        const double over1 = sign * inverseFactorials[n + 1], over2 = sign * inverseFactorials[n + 2];
        for (int k = 0; k < PAIR; ++k) {
            jnDoubles u2 = jnSubD(jnMulD(r->p[k], u1[k]), jnMulD(r->kappa[k], u0[k]));
            r->step[k] = jnAddD(r->step[k], jnScaleD(over1, u2));
            r->ramp[k] = jnAddD(r->ramp[k], jnScaleD(over2, u2));
            u0[k] = u1[k];
            u1[k] = u2;
        }
    }
    for (int k = 0; k < PAIR; ++k) {
        const jnDoubles one = jnRepeatD(1.0), p = r->p[k], kappa = r->kappa[k];
        r->impulse[k] = jnSubD(one, jnAddD(jnMulD(p, r->step[k]), jnMulD(kappa, r->ramp[k])));
        r->velocity[k] = jnSubD(one, jnAddD(jnMulD(p, r->impulse[k]), jnMulD(kappa, r->step[k])));
    }
}

static inline void DoubleTime(Responses* r, int done)
{
    const jnDoubles one = jnRepeatD(1.0), next = jnRepeatD(done + 1.0);
    for (int k = 0; k < PAIR; ++k) {
        jnDoubles due = r->halvings[k], p = r->p[k], kappa = r->kappa[k];
        jnDoubles w = r->impulse[k], q = r->velocity[k], g1 = r->step[k], g2 = r->ramp[k];
        jnDoubles onward = jnAddD(q, jnMulD(p, w)); // P
        jnDoubles square = jnMulD(w, w), further = jnAddD(one, onward);
        jnDoubles impulse = jnScaleD(0.5, jnMulD(w, jnAddD(onward, q)));
        jnDoubles velocity = jnSubD(jnMulD(q, q), jnMulD(kappa, square));
        jnDoubles step = jnScaleD(0.25, jnAddD(jnMulD(g1, further), square));
        jnDoubles ramp = jnScaleD(0.125, jnAddD(jnMulD(g2, further), jnMulD(g1, jnAddD(one, w))));
        r->impulse[k] = jnSelectAtLeastD(due, next, impulse, w);
        r->velocity[k] = jnSelectAtLeastD(due, next, velocity, q);
        r->step[k] = jnSelectAtLeastD(due, next, step, g1);
        r->ramp[k] = jnSelectAtLeastD(due, next, ramp, g2);
        r->p[k] = jnSelectAtLeastD(due, next, jnScaleD(2.0, p), p);
        r->kappa[k] = jnSelectAtLeastD(due, next, jnScaleD(4.0, kappa), kappa);
    }
}

// Stores a value as a rounded float and what the rounding lost.
static inline void StorePair(jnDoubles value, float* rounded, float* rest)
{
    jnNarrow(jnSubD(value, jnNarrow(value, rounded)), rest);
}

// Coefficients of PAIR * JN_DOUBLE_WIDTH springs. Returns the most doublings one of them took.
static inline int MakeLanes(const float* stiffness, const float* damping, double h, float* rows)
{
    jnDoubles ks[PAIR], kd[PAIR];
    for (int k = 0; k < PAIR; ++k) {
        ks[k] = jnWiden(stiffness + k * JN_DOUBLE_WIDTH);
        kd[k] = jnWiden(damping + k * JN_DOUBLE_WIDTH);
    }
    Responses r;
    int doublings = HalveTime(&r, ks, kd, h);
    SumSeries(&r);
    for (int done = 0; done < doublings; ++done) {
        DoubleTime(&r, done);
    }
    for (int k = 0; k < PAIR; ++k, rows += JN_DOUBLE_WIDTH) {
        jnDoubles w = jnScaleD(h, r.impulse[k]), p = jnAddD(r.velocity[k], jnMulD(kd[k], w));
        StorePair(p, rows + ROW_P * JN_LANES, rows + ROW_PL * JN_LANES);
        StorePair(w, rows + ROW_W * JN_LANES, rows + ROW_WL * JN_LANES);
        StorePair(jnScaleD(-1.0, jnMulD(ks[k], w)), rows + ROW_R * JN_LANES, rows + ROW_RL * JN_LANES);
        StorePair(r.velocity[k], rows + ROW_Q * JN_LANES, rows + ROW_QL * JN_LANES);
        jnNarrow(jnScaleD(h * h, r.step[k]), rows + ROW_G1 * JN_LANES);
        jnNarrow(jnScaleD(h * h * h, r.ramp[k]), rows + ROW_G2 * JN_LANES);
    }
    return doublings;
}

static void StoreRows(float* rows, int lane, const jnSpringResponse* s, double stiffness)
{
    const double values[6] = {s->position, s->impulse, -stiffness * s->impulse, s->velocity, s->step, s->ramp};
    for (int row = ROW_P; row <= ROW_G2; ++row) {
        rows[row * JN_LANES + lane] = (float)values[row];
    }
    for (int row = ROW_P; row <= ROW_Q; ++row) {
        rows[(ROW_PL + row) * JN_LANES + lane] = (float)(values[row] - (double)(float)values[row]);
    }
}

// Stiff lanes, one at a time: rare, and right for any stiffness.
static void MakeStiffLanes(const float* stiffness, const float* damping, double h, float* rows)
{
    for (int i = 0; i < JN_LANES; ++i) {
        double ks = (double)stiffness[i], kd = (double)damping[i];
        double limit = SLOW_RATE * (1 << (MAX_DOUBLINGS - 1));
        if (kd * h > limit || ks * h * h > limit * limit) {
            jnSpringResponse s = jnEvaluateSpring(ks, kd, h);
            StoreRows(rows, i, &s, ks);
        }
    }
}

static inline void MakeBlock(const float* stiffness, const float* damping, double h, float* rows)
{
    int most = 0;
    for (int i = 0; i < JN_LANES; i += PAIR * JN_DOUBLE_WIDTH) {
        int doublings = MakeLanes(stiffness + i, damping + i, h, rows + i);
        most = doublings > most ? doublings : most;
    }
    if (most == MAX_DOUBLINGS) {
        MakeStiffLanes(stiffness, damping, h, rows);
    }
}

static void MakeCoefficients(
    const float* stiffness, const float* damping, double h, float* coefficients, int first, int end)
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
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnUnpack(input + 3 * i, field + i, field + JN_LANES + i, field + 2 * JN_LANES + i);
        }
        return;
    }
    memset(field, 0, JN_FIELD_SIZE * sizeof(float));
    for (int i = 0; i < lanes; ++i) {
        float at[3]; // copied: a stride need not be a multiple of a float's size
        memcpy(at, (const char*)input + (size_t)i * stride, sizeof(at));
        field[i] = at[0];
        field[JN_LANES + i] = at[1];
        field[2 * JN_LANES + i] = at[2];
    }
}

static inline void WriteVectors(float* output, size_t stride, int lanes, const float* restrict field)
{
    if (lanes == JN_LANES && stride == 3 * sizeof(float)) {
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            jnPack(field + i, field + JN_LANES + i, field + 2 * JN_LANES + i, output + 3 * i);
        }
        return;
    }
    for (int i = 0; i < lanes; ++i) {
        const float at[3] = {field[i], field[JN_LANES + i], field[2 * JN_LANES + i]};
        memcpy((char*)output + (size_t)i * stride, at, sizeof(at));
    }
}

// Finite, and not so far that what follows would not be.
static inline bool LaneIsFinite(const float* field, int lane)
{
    return fabsf(field[lane]) <= JN_LARGEST_STATE && fabsf(field[JN_LANES + lane]) <= JN_LARGEST_STATE &&
           fabsf(field[2 * JN_LANES + lane]) <= JN_LARGEST_STATE;
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

// Takes the new sample of a block into the history, as it is.
static inline void TakeSample(const jnStepPass* pass, size_t b, int lanes)
{
    static const float nowhere[3] = {0, 0, 0};
    float* field = pass->newest + b * JN_FIELD_SIZE;
    const char* input = (const char*)pass->input + b * JN_LANES * pass->inputStride;
    if (!pass->filled) {
        ReadVectors((const float*)(const void*)input, pass->inputStride, lanes, field);
    }
    if (pass->inputFrame != NULL) {
        RotateField(pass->inputFrame->rotation, pass->inputFrame->translation, field);
    }
    if (pass->inputVelocity != NULL) {
        float* velocity = pass->newestVelocity + b * JN_FIELD_SIZE;
        input = (const char*)pass->inputVelocity + b * JN_LANES * pass->inputStride;
        ReadVectors((const float*)(const void*)input, pass->inputStride, lanes, velocity);
        if (pass->inputFrame != NULL) {
            RotateField(pass->inputFrame->rotation, nowhere, velocity);
        }
    }
}

// Puts the last finite sample in the place of one that is not. Bits of the result: the lanes concerned.
static uint32_t RepairSample(const jnStepPass* pass, size_t b)
{
    float* field = pass->newest + b * JN_FIELD_SIZE;
    float* velocity = pass->inputVelocity != NULL ? pass->newestVelocity + b * JN_FIELD_SIZE : NULL;
    uint32_t mask = 0;
    for (int i = 0; i < JN_LANES; ++i) {
        if (LaneIsFinite(field, i) && (velocity == NULL || LaneIsFinite(velocity, i))) {
            continue;
        }
        mask |= 1u << i;
        for (int axis = 0; axis < 3; ++axis) {
            size_t at = (size_t)(axis * JN_LANES + i);
            field[at] = pass->fallback != NULL ? pass->fallback[b * JN_FIELD_SIZE + at] : 0.0f;
            if (velocity != NULL) {
                velocity[at] = 0.0f;
            }
        }
    }
    return mask;
}

// Lanes that stay on their target because a sample of their history is a stand-in: its differences mean nothing. So a
// vertex that comes back starts anew, and does not feel the way from where it was lost.
static uint32_t HeldLanes(const jnStepPass* pass, size_t b, uint32_t bad)
{
    uint32_t held = bad;
    if (pass->newestBad != NULL) {
        pass->newestBad[b] = (uint16_t)bad;
    }
    for (int i = 0; i < 3; ++i) {
        held |= pass->olderBad[i] != NULL ? pass->olderBad[i][b] : 0u;
    }
    return held;
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

// The linear map of the header for the JN_WIDTH springs at `i` of one axis. Order of the sums: small terms
// first.
static inline void AdvanceLanes(const float* rows, int i, jnFloats acceleration, jnFloats jerk, jnFloats y, jnFloats v,
    float dust, float* y1, float* v1)
{
    rows += i;
    jnFloats g1 = jnLoad(rows + ROW_G1 * JN_LANES), g2 = jnLoad(rows + ROW_G2 * JN_LANES),
             w = jnLoad(rows + ROW_W * JN_LANES);
    jnFloats p = jnLoad(rows + ROW_P * JN_LANES), r = jnLoad(rows + ROW_R * JN_LANES),
             q = jnLoad(rows + ROW_Q * JN_LANES);
    jnFloats pl = jnLoad(rows + ROW_PL * JN_LANES), wl = jnLoad(rows + ROW_WL * JN_LANES);
    jnFloats rl = jnLoad(rows + ROW_RL * JN_LANES), ql = jnLoad(rows + ROW_QL * JN_LANES);
    jnFloats lowY = jnAdd(jnMul(pl, y), jnMul(wl, v)), lowV = jnAdd(jnMul(rl, y), jnMul(ql, v));
    jnFloats pushY = jnAdd(jnMul(g1, acceleration), jnMul(g2, jerk));
    jnFloats pushV = jnAdd(jnMul(w, acceleration), jnMul(g1, jerk));
    jnFloats newY = jnAdd(jnAdd(jnMul(p, y), jnMul(w, v)), jnSub(lowY, pushY));
    jnFloats newV = jnAdd(jnAdd(jnMul(r, y), jnMul(q, v)), jnSub(lowV, pushV));
    jnStore(y1 + i, dust > 0.0f ? jnFlush(newY, dust) : newY);
    jnStore(v1 + i, dust > 0.0f ? jnFlush(newV, dust) : newV);
}

// One axis of one block, from its basis.
static inline void AdvanceAxis(const jnStepPass* pass, const float* rows, const Basis* basis, float force,
    const float* y0, const float* v0, float* y1, float* v1)
{
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats e0 = jnLoad(basis->e0 + i), e1 = jnLoad(basis->e1 + i);
        jnFloats pull = jnAdd(jnScale(pass->acceleration[0], e0), jnScale(pass->acceleration[1], e1));
        jnFloats acceleration = jnSub(pull, jnRepeat(force));
        jnFloats jerk = jnAdd(jnScale(pass->jerk[0], e0), jnScale(pass->jerk[1], e1));
        AdvanceLanes(rows, i, acceleration, jerk, jnLoad(y0 + i), jnLoad(v0 + i), pass->dust, y1, v1);
    }
}

// The same straight from the samples, with the new position: the common case, all in registers. What is
// constant over the pass is copied first, or every store would make the compiler read it again.
static inline void AdvancePlainAxis(const jnStepPass* pass, const float* rows, size_t at, float force, const float* y0,
    const float* v0, float* y1, float* v1, float* x)
{
    const float a0 = pass->acceleration[0], a1 = pass->acceleration[1], j0 = pass->jerk[0], j1 = pass->jerk[1];
    const float r0 = pass->ratios[0], r1 = pass->ratios[1], r2 = pass->ratios[2];
    const float* samples[4] = {
        pass->samples[0] + at, pass->samples[1] + at, pass->samples[2] + at, pass->samples[3] + at};
    const float* base = pass->base + at;
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats s0 = jnLoad(samples[0] + i), s1 = jnLoad(samples[1] + i);
        jnFloats s2 = jnLoad(samples[2] + i), s3 = jnLoad(samples[3] + i);
        jnFloats d0 = jnScale(r0, jnSub(s1, s0)), d1 = jnScale(r1, jnSub(s2, s1)), d2 = jnScale(r2, jnSub(s3, s2));
        jnFloats e0 = jnSub(d1, d0), e1 = jnSub(d2, d1);
        jnFloats acceleration = jnSub(jnAdd(jnScale(a0, e0), jnScale(a1, e1)), jnRepeat(force));
        jnFloats jerk = jnAdd(jnScale(j0, e0), jnScale(j1, e1));
        AdvanceLanes(rows, i, acceleration, jerk, jnLoad(y0 + i), jnLoad(v0 + i), 0.0f, y1, v1);
        jnStore(x + i, jnAdd(jnLoad(base + i), jnLoad(y1 + i)));
    }
}

// The target's velocity jump at the start of the interval, felt because the vertex's own velocity does not
// jump.
static inline void Kick(const jnStepPass* pass, const Basis* basis, const float* v, float* restrict kicked)
{
    for (int i = 0; i < JN_LANES; ++i) {
        kicked[i] =
            v[i] - (pass->kick[0] * basis->line[i] + pass->kick[1] * basis->e0[i] + pass->kick[2] * basis->e1[i]);
    }
}

// False if a position of the block is not finite or beyond 1.7 times the largest state: times TOO_FAR it is infinite
// then, and so is the sum, or no number. A sum beyond floats is a false alarm.
#define TOO_FAR 2e23f
static inline bool FieldIsFinite(const float* field)
{
    bool finite = true;
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats x = jnScale(TOO_FAR, jnLoad(field + i)), y = jnScale(TOO_FAR, jnLoad(field + JN_LANES + i));
        jnFloats z = jnScale(TOO_FAR, jnLoad(field + 2 * JN_LANES + i));
        finite = finite && jnAllFinite(jnAdd(jnAdd(x, y), z));
    }
    return finite;
}

// Puts lanes back on their target: those in `bad`, those whose state is not finite, and, without counting them, those
// in `held`. Returns how many of the first `lanes`; the rest is padding.
static int ResetLanes(uint32_t bad, uint32_t held, int lanes, float* state)
{
    int count = 0;
    for (int i = 0; i < JN_LANES; ++i) {
        bool finite = LaneIsFinite(state, i) && LaneIsFinite(state + JN_FIELD_SIZE, i);
        if (((bad | held) >> i & 1) == 0 && finite) {
            continue;
        }
        count += i < lanes && ((bad >> i & 1) != 0 || !finite);
        for (int row = 0; row < 6; ++row) {
            state[row * JN_LANES + i] = 0.0f;
        }
    }
    return count;
}

// Length of a vector, and how fast a velocity makes it grow.
static inline float LengthOf(const float* y, const float* v, int i, float* rate)
{
    float square = 0.0f, dot = 0.0f;
    for (int row = i; row < JN_FIELD_SIZE; row += JN_LANES) {
        square += y[row] * y[row];
        dot += y[row] * v[row];
    }
    float length = sqrtf(square);
    *rate = length > 0.0f ? dot / length : 0.0f;
    return length;
}

// What is shown of an offset y: strength times y, bent so that it stays below the cap.
//     |y| <= cap/2: y         beyond: |y| -> cap - (cap/2)^2 / |y|, which is C1 at cap/2
static inline void LimitOffset(const jnStepPass* pass, size_t b, float* y, float* v)
{
    float cap = pass->cap, knee = 0.5f * cap;
    for (int i = 0; i < JN_LANES; ++i) {
        float strength = pass->strength * (pass->strengths != NULL ? pass->strengths[b * JN_LANES + (size_t)i] : 1.0f);
        for (int row = i; row < JN_FIELD_SIZE; row += JN_LANES) {
            y[row] *= strength;
            v[row] *= strength;
        }
        float rate, r = LengthOf(y, v, i, &rate);
        if (!(cap > 0.0f && r > knee && r <= FLT_MAX)) {
            continue;
        }
        float bent = knee * (knee / r), scale = (cap - bent) / r;
        float along = (bent / r - scale) * rate / r; // (d shown/dr - shown/r) r'/r
        for (int row = i; row < JN_FIELD_SIZE; row += JN_LANES) {
            v[row] = scale * v[row] + along * y[row];
            y[row] *= scale;
        }
    }
}

static inline void WriteVelocities(
    const jnStepPass* pass, size_t b, int lanes, const Basis basis[3], const float* x, float* v)
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
    WriteVectors(
        (float*)(void*)((char*)pass->velocities + b * JN_LANES * pass->velocityStride), pass->velocityStride, lanes, v);
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

static inline int LanesOf(const jnStepPass* pass, int block)
{
    int left = pass->count - block * JN_LANES;
    return left < JN_LANES ? left : JN_LANES;
}

// Advances a block from `before` to `after`, every kind of curve and start.
static inline void AdvanceBlock(
    const jnStepPass* pass, size_t b, const Basis basis[3], const float* before, float* after)
{
    float made[JN_COEFFICIENT_SIZE], kicked[JN_LANES];
    const float* rows = made;
    if (pass->responseTime > 0.0) {
        MakeBlock(pass->stiffness + b * JN_LANES, pass->damping + b * JN_LANES, pass->responseTime, made);
    } else {
        rows = pass->coefficients + b * JN_COEFFICIENT_SIZE;
    }
    for (int axis = 0; axis < 3; ++axis) {
        const float* v0 = before + JN_FIELD_SIZE + axis * JN_LANES;
        float* y1 = after + axis * JN_LANES;
        if (pass->jumps) {
            Kick(pass, &basis[axis], v0, kicked);
            v0 = kicked;
        }
        AdvanceAxis(pass, rows, &basis[axis], pass->force[axis], before + axis * JN_LANES, v0, y1,
            after + JN_FIELD_SIZE + axis * JN_LANES);
        for (int i = 0; pass->jumps && i < JN_LANES; ++i) {
            y1[i] -= pass->shift * basis[axis].line[i];
        }
    }
}

// One block, whatever is asked: sample in, state on, vertices out.
static void RunBlock(const jnStepPass* pass, int block)
{
    size_t b = (size_t)block;
    int lanes = LanesOf(pass, block);
    uint32_t bad = 0, held = 0;
    if (pass->input != NULL) {
        TakeSample(pass, b, lanes);
        bad = RepairSample(pass, b);
        held = HeldLanes(pass, b, bad);
    }
    float state[JN_STATE_SIZE];
    Basis basis[3];
    for (int axis = 0; axis < 3; ++axis) {
        MakeBasis(pass, b * JN_FIELD_SIZE + (size_t)(axis * JN_LANES), &basis[axis]);
    }
    const float* before = pass->state + b * JN_STATE_SIZE;
    if (pass->nextState == NULL && !pass->keepState) {
        memcpy(state, before, sizeof(state));
    } else {
        AdvanceBlock(pass, b, basis, before, state);
    }
    if (pass->input != NULL || pass->nextState != NULL) {
        pass->resets[block] = (uint8_t)ResetLanes(bad, held, lanes, state);
    }
    if (bad != 0 && pass->nextState == NULL && pass->resetState != NULL) {
        memcpy(pass->resetState + b * JN_STATE_SIZE, state, sizeof(state));
    }
    if (pass->nextState != NULL) {
        memcpy(pass->nextState + b * JN_STATE_SIZE, state, sizeof(state));
    }
    WriteOutput(pass, b, lanes, basis, state);
}

// The same for a plain step: a C1 curve, positions out as they are. A bad number is left to RunBlock, which
// starts over from the state before. It shows in the position at once, because the sample enters the
// acceleration, or at the latest one step after the velocity went beyond floats.
static inline void RunPlainBlock(const jnStepPass* pass, int block)
{
    size_t b = (size_t)block;
    int lanes = LanesOf(pass, block);
    TakeSample(pass, b, lanes);
    const float* before = pass->state + b * JN_STATE_SIZE;
    const float* rows = pass->coefficients + b * JN_COEFFICIENT_SIZE;
    float* after = pass->nextState + b * JN_STATE_SIZE;
    float x[JN_FIELD_SIZE];
    for (int axis = 0; axis < 3; ++axis) {
        int row = axis * JN_LANES;
        AdvancePlainAxis(pass, rows, b * JN_FIELD_SIZE + (size_t)row, pass->force[axis], before + row,
            before + JN_FIELD_SIZE + row, after + row, after + JN_FIELD_SIZE + row, x + row);
    }
    if (!FieldIsFinite(x)) {
        RunBlock(pass, block);
        return;
    }
    pass->resets[block] = 0;
    char* at = (char*)pass->positions + b * JN_LANES * pass->positionStride;
    WriteVectors((float*)(void*)at, pass->positionStride, lanes, x);
}

static bool IsPlain(const jnStepPass* pass)
{
    bool bare = pass->cap == 0.0f && pass->strength == 1.0f && pass->strengths == NULL;
    return bare && pass->dust == 0.0f && pass->olderBad[0] == NULL && !pass->jumps && !pass->placed &&
           pass->input != NULL && pass->inputFrame == NULL && pass->inputVelocity == NULL && pass->nextState != NULL &&
           pass->responseTime == 0.0 && pass->slopes[0] == NULL && pass->positions != NULL &&
           pass->velocities == NULL && pass->outputFrame == NULL;
}

static void RunPass(const jnStepPass* pass, int first, int end)
{
    bool plain = IsPlain(pass);
    for (int block = first; block < end; ++block) {
        if (plain) {
            RunPlainBlock(pass, block);
        } else {
            RunBlock(pass, block);
        }
    }
}

const jnSpringKernels JN_KERNELS = {MakeCoefficients, RunPass};
