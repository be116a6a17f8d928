// Modes that live in one place each.
//
// Two modes of nearly the same frequency may be any mixture of each other: the left and the right calf as a sum and a
// difference, an arm together with a foot. Turning such pairs so that each lives at as few joints as possible makes the
// modes sparse and gives mirror images a mode each. With E_r(i, j) = sum over nodes of the weight of joint r times
// m phi_i . phi_j, a rotation of the pair (i, j) by the angle of simultaneous diagonalisation (Cardoso and Souloumiac
// 1996) makes the sum of squares of all E_r(i, i) as large as it can be.
//
// The price is a coupling between the turned modes that is dropped, L_ij of phi^T K phi. A rotation that would leave a
// mode with more coupling than a share of its own stiffness is not made. The couplings of many modes add up: 15 % each
// cost a character's dynamics 4 to 6 % of their captured share, 2 % cost nothing that can be measured
// (docs/background/modes.md).
#include "modes/modes_internal.h"

#include "base/affine.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 30 };
// Smaller angles are as good as none.
#define SMALLEST_ANGLE 1e-4

typedef struct Work {
    size_t count, joints;
    double* energies;  // E [joints][count][count]
    double* stiffness; // L [count][count]
    double* turn;      // Q [count][count]: new mode k is the sum of Q[i][k] times mode i
} Work;

static void FindEnergies(const jnaVolume* v, const jnaNodeModes* m, Work* w)
{
    size_t n = w->count;
    for (int node = 0; node < v->nodeCount; ++node) {
        if (m->places[node] < 0) {
            continue;
        }
        const double* at = m->shapes + 3 * (size_t)m->places[node];
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = 0; k <= i; ++k) {
                double share = m->masses[node] * jnaDot(at + i * m->numbers, at + k * m->numbers);
                for (int e = v->rowStarts[node]; e < v->rowStarts[node + 1]; ++e) {
                    w->energies[((size_t)v->joints[e] * n + i) * n + k] += (double)v->weights[e] * share;
                }
            }
        }
    }
    for (size_t r = 0; r < w->joints; ++r) {
        for (size_t i = 0; i < n * n; ++i) {
            if (i % n > i / n) {
                w->energies[r * n * n + i] = w->energies[r * n * n + (i % n) * n + i / n];
            }
        }
    }
}

static double BestAngle(const Work* w, size_t i, size_t k)
{
    size_t n = w->count;
    double on = 0, off = 0;
    for (size_t r = 0; r < w->joints; ++r) {
        const double* e = w->energies + r * n * n;
        double difference = e[i * n + i] - e[k * n + k], cross = 2 * e[i * n + k];
        on += difference * difference - cross * cross;
        off += 2 * difference * cross;
    }
    return 0.5 * atan2(off, on + sqrt(on * on + off * off));
}

// Rows and columns i and k of a symmetric matrix.
static void TurnMatrix(double* m, size_t n, size_t i, size_t k, double c, double s)
{
    for (size_t x = 0; x < n; ++x) {
        double a = m[i * n + x], b = m[k * n + x];
        m[i * n + x] = c * a + s * b;
        m[k * n + x] = c * b - s * a;
    }
    for (size_t x = 0; x < n; ++x) {
        double a = m[x * n + i], b = m[x * n + k];
        m[x * n + i] = c * a + s * b;
        m[x * n + k] = c * b - s * a;
    }
}

static double Coupling(const Work* w, size_t i)
{
    double sum = 0, own = w->stiffness[i * w->count + i];
    for (size_t x = 0; x < w->count; ++x) {
        sum += x == i ? 0 : w->stiffness[i * w->count + x] * w->stiffness[i * w->count + x];
    }
    return own > 0 ? sqrt(sum) / own : HUGE_VAL;
}

static bool TurnPair(Work* w, size_t i, size_t k, double tolerance)
{
    size_t n = w->count;
    double a = w->stiffness[i * n + i], b = w->stiffness[k * n + k];
    if (fabs(a - b) > 2 * tolerance * fmin(a, b)) {
        return false;
    }
    double angle = BestAngle(w, i, k), c = cos(angle), s = sin(angle);
    if (fabs(angle) < SMALLEST_ANGLE) {
        return false;
    }
    TurnMatrix(w->stiffness, n, i, k, c, s);
    if (Coupling(w, i) > tolerance || Coupling(w, k) > tolerance) {
        TurnMatrix(w->stiffness, n, i, k, c, -s);
        return false;
    }
    for (size_t r = 0; r < w->joints; ++r) {
        TurnMatrix(w->energies + r * n * n, n, i, k, c, s);
    }
    for (size_t x = 0; x < n; ++x) {
        double p = w->turn[x * n + i], q = w->turn[x * n + k];
        w->turn[x * n + i] = c * p + s * q;
        w->turn[x * n + k] = c * q - s * p;
    }
    return true;
}

// New shapes in the order of their stiffness; `row` and `order` are scratch of [count].
static void Apply(const Work* w, jnaNodeModes* m, double* row, size_t* order)
{
    size_t n = w->count;
    for (size_t k = 0; k < n; ++k) {
        size_t at = k;
        for (; at > 0 && w->stiffness[order[at - 1] * n + order[at - 1]] > w->stiffness[k * n + k]; --at) {
            order[at] = order[at - 1];
        }
        order[at] = k;
    }
    for (size_t k = 0; k < n; ++k) {
        m->omega2[k] = w->stiffness[order[k] * n + order[k]];
    }
    for (size_t x = 0; x < m->numbers; ++x) {
        for (size_t k = 0; k < n; ++k) {
            row[k] = 0;
            for (size_t i = 0; i < n; ++i) {
                row[k] += w->turn[i * n + order[k]] * m->shapes[i * m->numbers + x];
            }
        }
        for (size_t k = 0; k < n; ++k) {
            m->shapes[k * m->numbers + x] = row[k];
        }
    }
}

jnResult jnaLocalizeModes(const jnaVolume* v, double tolerance, jnaNodeModes* m, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    int64_t count = m->count;
    size_t n = (size_t)m->count;
    Work w = {.count = n, .joints = (size_t)v->jointCount};
    w.energies = jnaArena_Take(&arena, v->jointCount * count * count, sizeof(double));
    w.stiffness = jnaArena_Take(&arena, count * count, sizeof(double));
    w.turn = jnaArena_Take(&arena, count * count, sizeof(double));
    double* row = jnaArena_Take(&arena, count, sizeof(double));
    size_t* order = jnaArena_Take(&arena, count, sizeof(size_t));
    JN_TRY(jnaArena_Check(&arena, "modes that live in one place each", error));
    for (size_t k = 0; k < n; ++k) {
        w.stiffness[k * n + k] = m->omega2[k];
        w.turn[k * n + k] = 1;
    }
    FindEnergies(v, m, &w);
    bool turned = true;
    for (int sweep = 0; turned && sweep < SWEEPS; ++sweep) {
        turned = false;
        for (size_t i = 0; i < n; ++i) {
            for (size_t k = i + 1; k < n; ++k) {
                turned = TurnPair(&w, i, k, tolerance) || turned;
            }
        }
    }
    Apply(&w, m, row, order);
done:
    jnaReleaseArena(&arena);
    return result;
}
