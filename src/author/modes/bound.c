// The elements of the surface that bound the rest of it: see runtime/morphs_bound.c for what is done with them.
//
// Found by trial: random states of the modes, far beyond what is allowed, are scaled back to where the elements chosen
// so far are within their bounds, and the worst of all others is chosen as well, until there is none. The fields are
// smooth, so that a few hundred triangles and vertices stand for tens of thousands. What the last states still find
// beyond its bound, more than what is promised, becomes a margin. States are of four
// kinds: modes as random accelerations of the joints drive them, in step or out of step; a blow to one place whose
// modes have gone out of step; all modes alike in energy; one mode and little else. No clip takes part.
#include "modes/modes.h"

#include "base/affine.h"
#include "base/random.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 32, MOST_ROUNDS = 600, QUIET_ROUNDS = 64, MARGIN_ROUNDS = 64, CHUNK = 256, NO_CORNER = -1 };
// An acceleration of the whole body, m/s^2.
#define LIVELY 9.80665
// The shortest amplitude that is looked at, metres.
#define SHORTEST 1e-4
// A state is first made so many times as large as the limits allow.
#define EXAGGERATION 3.0F
// How far beyond its bound an element that is not chosen may be, stretched or displaced.
#define SLACK_STRETCH 1.04F
#define SLACK_LIMIT 1.05F
// How far beyond its bound a triangle may be that is not chosen: to half of its length, which is what is promised.
#define PROMISED (0.5F / JNA_BOUND_LOW)
// Triangles that are smaller than this have no direction, m^2.
#define SMALLEST_AREA 1e-10

typedef struct Element {
    int32_t corners[3]; // of a vertex: itself, NO_CORNER, NO_CORNER
    float axes[3][3];   // of a triangle: two in its plane and its normal
    float inverse[3];   // of its edges in the plane, (1/x1, -x2/(x1 y2), 1/y2)
    float limit;        // of a vertex, metres
} Element;

typedef struct Search {
    const jnaModes* m;
    size_t modes, vertices, count;
    Element* elements; // [count]
    double* lively;    // [modes]
    double* drives;    // [modes][joints][3], amplitude for an acceleration of a joint's flesh
    size_t joints;
    double* accelerations; // [joints][3], of the state in hand
    float* amplitudes;     // [modes][STATES]
    float* fields;         // [vertices][3][STATES]
    float scales[STATES];  // of the states
    float* best;           // [chunks][2][STATES], the worst ratio of triangles and of vertices
    int32_t* bestElement;  // likewise
    int32_t* chosen;       // [JNA_MAX_CRITICAL]
    int chosenCount;
    uint64_t random;
} Search;

double jnaModes_Lively(const jnaModes* m, int mode)
{
    double sum[3] = {0};
    size_t numbers = 3 * (size_t)m->vertexCount;
    for (size_t i = 0; i < numbers; ++i) {
        sum[i % 3] += (double)m->projections[(size_t)mode * numbers + i];
    }
    double drive = LIVELY * fabs(m->gain[mode]) * jnaLength(sum);
    return fmax(m->stiffness[mode] > 0 ? drive / m->stiffness[mode] : 0, SHORTEST);
}

bool jnaElement_Frame(const jnaCharacter* c, const int32_t corners[3], float axes[3][3], float inverse[3])
{
    double x[3][3], edges[2][3], normal[3], t1[3], t2[3];
    for (size_t i = 0; i < 3; ++i) {
        for (size_t a = 0; a < 3; ++a) {
            x[i][a] = (double)c->positions[3 * (size_t)corners[i] + a];
        }
    }
    jnaSubtract(x[1], x[0], edges[0]);
    jnaSubtract(x[2], x[0], edges[1]);
    jnaCross(edges[0], edges[1], normal);
    if (!(0.5 * jnaLength(normal) > SMALLEST_AREA)) {
        return false;
    }
    memcpy(t1, edges[0], sizeof(t1));
    double x1 = jnaNormalize(t1);
    (void)jnaNormalize(normal);
    jnaCross(normal, t1, t2);
    double x2 = jnaDot(edges[1], t1), y2 = jnaDot(edges[1], t2);
    for (int a = 0; a < 3; ++a) {
        axes[0][a] = (float)t1[a];
        axes[1][a] = (float)t2[a];
        axes[2][a] = (float)normal[a];
    }
    inverse[0] = (float)(1 / x1);
    inverse[1] = (float)(-x2 / (x1 * y2));
    inverse[2] = (float)(1 / y2);
    return true;
}

void jnaElement_Rows(const float axes[3][3], const float inverse[3], const float first[3], const float second[3],
    float rows[JN_BOUND_ROWS])
{
    for (int i = 0; i < 3; ++i) {
        float a = axes[i][0] * first[0] + axes[i][1] * first[1] + axes[i][2] * first[2];
        float b = axes[i][0] * second[0] + axes[i][1] * second[1] + axes[i][2] * second[2];
        rows[2 * i] = a * inverse[0];
        rows[2 * i + 1] = a * inverse[1] + b * inverse[2];
    }
}

void jnaElement_VertexRows(const float u[3], float rows[JN_BOUND_ROWS])
{
    rows[0] = rows[3] = 0.0F;
    rows[1] = -u[2];
    rows[2] = u[2];
    rows[4] = u[0];
    rows[5] = u[1];
}

static bool Moves(const Search* s, int32_t vertex)
{
    for (size_t k = 0; k < s->modes; ++k) {
        const float* u = s->m->shapes + 3 * (k * s->vertices + (size_t)vertex);
        if (u[0] != 0 || u[1] != 0 || u[2] != 0) {
            return true;
        }
    }
    return false;
}

// Triangles and vertices that any mode moves.
static jnResult ListElements(Search* s, const jnaCharacter* c, const float* limits, jnaArena* arena, jnError* error)
{
    s->elements = jnaArena_Take(arena, (int64_t)c->triangleCount + c->vertexCount, sizeof(*s->elements));
    uint8_t* moves = jnaArena_Take(arena, c->vertexCount, 1);
    JN_PASS(jnaArena_Check(arena, "the bound of the modes", error));
    for (int32_t v = 0; v < c->vertexCount; ++v) {
        moves[v] = Moves(s, v);
        if (moves[v]) {
            s->elements[s->count++] = (Element){.corners = {v, NO_CORNER, NO_CORNER}, .limit = limits[v]};
        }
    }
    for (size_t t = 0; t < (size_t)c->triangleCount; ++t) {
        Element* e = &s->elements[s->count];
        for (size_t i = 0; i < 3; ++i) {
            e->corners[i] = c->weld[c->triangles[3 * t + i]];
        }
        bool moved = moves[e->corners[0]] || moves[e->corners[1]] || moves[e->corners[2]];
        s->count += moved && jnaElement_Frame(c, e->corners, e->axes, e->inverse);
    }
    return jn_ok;
}

static double Uniform(uint64_t* state)
{
    return (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

// Of variance 1: the sum of twelve.
static double Normal(uint64_t* state)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += Uniform(state);
    }
    return sum;
}

// What moves the modes if the flesh of every joint is accelerated: projections by joint.
static void FindDrives(Search* s, const jnaCharacter* c)
{
    for (size_t k = 0; k < s->modes; ++k) {
        double* drives = s->drives + 3 * k * s->joints;
        double response = s->m->stiffness[k] > 0 ? LIVELY * s->m->gain[k] / s->m->stiffness[k] : 0;
        for (size_t v = 0; v < s->vertices; ++v) {
            const jnaInfluences* in = &c->influences[v];
            const float* p = s->m->projections + 3 * (k * s->vertices + v);
            for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) { // those that are not used weigh nothing
                for (size_t a = 0; a < 3; ++a) {
                    drives[3 * (size_t)in->joints[i] + a] += response * (double)in->weights[i] * (double)p[a];
                }
            }
        }
    }
}

static double Driven(const Search* s, size_t k, const double* accelerations)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * s->joints; ++i) {
        sum += s->drives[3 * k * s->joints + i] * accelerations[i];
    }
    return sum;
}

static void DrawState(Search* s, size_t state)
{
    for (size_t i = 0; i < 3 * s->joints; ++i) {
        s->accelerations[i] = Normal(&s->random);
    }
    size_t vertex = (size_t)(Uniform(&s->random) * (double)s->vertices), mode = 0;
    double blow[3];
    for (int a = 0; a < 3; ++a) {
        blow[a] = Normal(&s->random);
    }
    mode = (size_t)(Uniform(&s->random) * (double)s->modes);
    for (size_t k = 0; k < s->modes; ++k) {
        const float* u = s->m->shapes + 3 * (k * s->vertices + vertex);
        double along = (double)u[0] * blow[0] + (double)u[1] * blow[1] + (double)u[2] * blow[2];
        double drawn = Normal(&s->random), z = Driven(s, k, s->accelerations) * (state % 8 == 0 ? 1 : drawn);
        if (state % 4 == 1) {
            z = along * drawn / sqrt(s->m->masses[k] * fmax(s->m->stiffness[k], 1)) + 1e-3 * z;
        } else if (state % 4 == 2) {
            z = drawn / sqrt(s->m->masses[k] * fmax(s->m->stiffness[k], 1));
        } else if (state % 4 == 3) {
            z = k == mode ? s->lively[k] * copysign(10, drawn) : 0.5 * z;
        }
        s->amplitudes[k * STATES + state] = (float)z;
    }
}

static void FillField(const Search* s, size_t vertex)
{
    float sums[3][STATES] = {0};
    for (size_t k = 0; k < s->modes; ++k) {
        const float *u = s->m->shapes + 3 * (k * s->vertices + vertex), *z = s->amplitudes + k * STATES;
        for (size_t a = 0; a < 3 && (u[0] != 0 || u[1] != 0 || u[2] != 0); ++a) {
            for (size_t i = 0; i < STATES; ++i) {
                sums[a][i] += u[a] * z[i];
            }
        }
    }
    memcpy(s->fields + vertex * 3 * STATES, sums, sizeof(sums));
}

static float RatioOf(const Search* s, const Element* e, size_t state)
{
    float corners[3][3] = {{0}}, rows[JN_BOUND_ROWS], scale = s->scales[state];
    for (size_t i = 0; i < 3 && e->corners[i] >= 0; ++i) {
        for (size_t a = 0; a < 3; ++a) {
            corners[i][a] = scale * s->fields[((size_t)e->corners[i] * 3 + a) * STATES + state];
        }
    }
    if (e->corners[1] < 0) {
        return sqrtf(corners[0][0] * corners[0][0] + corners[0][1] * corners[0][1] + corners[0][2] * corners[0][2]) /
               e->limit;
    }
    for (size_t a = 0; a < 3; ++a) {
        corners[1][a] -= corners[0][a];
        corners[2][a] -= corners[0][a];
    }
    jnaElement_Rows((const float(*)[3])e->axes, e->inverse, corners[1], corners[2], rows);
    return jnBoundRatio(rows, JNA_BOUND_LOW, JNA_BOUND_HIGH);
}

// The worst triangle and the worst vertex of every state: best and bestElement of chunk 0.
static void FindWorst(Search* s)
{
    int chunks = (int)((s->count + CHUNK - 1) / CHUNK);
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < chunks; ++chunk) {
        float* best = s->best + (size_t)chunk * 2 * STATES;
        int32_t* which = s->bestElement + (size_t)chunk * 2 * STATES;
        memset(best, 0, 2 * STATES * sizeof(float));
        size_t end = (size_t)(chunk + 1) * CHUNK < s->count ? (size_t)(chunk + 1) * CHUNK : s->count;
        for (size_t e = (size_t)chunk * CHUNK; e < end; ++e) {
            size_t kind = s->elements[e].corners[1] < 0 ? STATES : 0;
            for (size_t i = 0; i < STATES; ++i) {
                float ratio = RatioOf(s, &s->elements[e], i);
                if (ratio > best[kind + i]) {
                    best[kind + i] = ratio;
                    which[kind + i] = (int32_t)e;
                }
            }
        }
    }
    for (size_t chunk = 1; chunk < (size_t)chunks; ++chunk) {
        for (size_t i = 0; i < 2 * (size_t)STATES; ++i) {
            if (s->best[chunk * 2 * STATES + i] > s->best[i]) {
                s->best[i] = s->best[chunk * 2 * STATES + i];
                s->bestElement[i] = s->bestElement[chunk * 2 * STATES + i];
            }
        }
    }
}

static float WorstChosen(const Search* s, size_t state)
{
    float most = 0;
    for (int i = 0; i < s->chosenCount; ++i) {
        most = fmaxf(most, RatioOf(s, &s->elements[s->chosen[i]], state));
    }
    return most;
}

// New states, scaled to where what is chosen is within its bounds.
static void DrawStates(Search* s)
{
    for (size_t i = 0; i < STATES; ++i) {
        DrawState(s, i);
        s->scales[i] = 1;
    }
#pragma omp parallel for schedule(static)
    for (int v = 0; v < (int)s->vertices; ++v) {
        FillField(s, (size_t)v);
    }
    FindWorst(s);
    for (size_t i = 0; i < STATES; ++i) {
        float far = s->best[STATES + i]; // of vertices, which is linear
        s->scales[i] = far > 0 ? EXAGGERATION / far : 0;
        s->scales[i] /= fmaxf(WorstChosen(s, i), 1);
    }
    FindWorst(s);
}

// Chooses what the states find; how many.
static int ChooseMore(Search* s)
{
    int before = s->chosenCount;
    for (size_t i = 0; i < 2 * (size_t)STATES; ++i) {
        float slack = i < STATES ? SLACK_STRETCH : SLACK_LIMIT;
        if (s->best[i] > slack * fmaxf(WorstChosen(s, i % STATES), 1) && s->chosenCount < JNA_MAX_CRITICAL) {
            s->chosen[s->chosenCount++] = s->bestElement[i];
        }
    }
    return s->chosenCount - before;
}

// The amplitude at which a mode alone is at its bound, nearly.
static double CapOf(const Search* s, size_t k)
{
    double least = HUGE_VAL, whole = (double)jnBoundReach(JNA_BOUND_HIGH);
    for (size_t e = 0; e < s->count; ++e) {
        const Element* el = &s->elements[e];
        const float* u = s->m->shapes + 3 * k * s->vertices;
        float first[3], second[3], rows[JN_BOUND_ROWS];
        double square = 0;
        for (size_t a = 0; a < 3; ++a) {
            first[a] = u[3 * (size_t)el->corners[0] + a];
            square += (double)first[a] * (double)first[a];
        }
        if (el->corners[1] < 0) {
            least = square > 0 ? fmin(least, (double)el->limit / sqrt(square)) : least;
            continue;
        }
        for (size_t a = 0; a < 3; ++a) {
            second[a] = u[3 * (size_t)el->corners[2] + a] - first[a];
            first[a] = u[3 * (size_t)el->corners[1] + a] - first[a];
        }
        jnaElement_Rows((const float(*)[3])el->axes, el->inverse, first, second, rows);
        square = 0;
        for (int i = 0; i < JN_BOUND_ROWS; ++i) {
            square += (double)rows[i] * (double)rows[i];
        }
        least = square > 0 ? fmin(least, whole / sqrt(square)) : least;
    }
    return least < HUGE_VAL ? fmax(least, SHORTEST) : 0;
}

static jnResult Prepare(Search* s, const jnaCharacter* c, const float* limits, jnaArena* arena, jnError* error)
{
    JN_PASS(ListElements(s, c, limits, arena, error));
    int64_t chunks = (int64_t)(s->count + CHUNK - 1) / CHUNK + 1;
    s->lively = jnaArena_Take(arena, (int64_t)s->modes, sizeof(double));
    s->joints = (size_t)c->jointCount;
    s->drives = jnaArena_Take(arena, (int64_t)(s->modes * s->joints), 3 * sizeof(double));
    s->accelerations = jnaArena_Take(arena, c->jointCount, 3 * sizeof(double));
    s->amplitudes = jnaArena_Take(arena, (int64_t)s->modes, STATES * sizeof(float));
    s->fields = jnaArena_Take(arena, (int64_t)s->vertices, 3 * STATES * sizeof(float));
    s->best = jnaArena_Take(arena, chunks, 2 * STATES * sizeof(float));
    s->bestElement = jnaArena_Take(arena, chunks, 2 * STATES * sizeof(int32_t));
    s->chosen = jnaArena_Take(arena, JNA_MAX_CRITICAL, sizeof(int32_t));
    JN_PASS(jnaArena_Check(arena, "the bound of the modes", error));
    for (size_t k = 0; k < s->modes; ++k) {
        s->lively[k] = jnaModes_Lively(s->m, (int)k);
    }
    FindDrives(s, c);
    return jn_ok;
}

// What is chosen, with margins for what is not.
static void Keep(const Search* s, const float margins[2], jnaModes* m)
{
    m->criticalCount = s->chosenCount;
    for (int i = 0; i < s->chosenCount; ++i) {
        const Element* e = &s->elements[s->chosen[i]];
        memcpy(m->critical + 3 * (size_t)i, e->corners, sizeof(e->corners));
        m->criticalLimits[i] = e->corners[1] < 0 ? e->limit / margins[1] : margins[0];
    }
}

jnResult jnaModes_SetBound(jnaModes* m, const jnaCharacter* c, const float* limits, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    m->criticalCount = 0;
    memset(m->caps, 0, (size_t)m->modeCount * sizeof(double));
    if (limits == NULL || m->modeCount == 0) {
        return jn_ok;
    }
    Search s = {.m = m, .modes = (size_t)m->modeCount, .vertices = (size_t)m->vertexCount, .random = 1};
    JN_TRY(Prepare(&s, c, limits, &arena, error));
    for (int round = 0, quiet = 0; s.count > 0 && round < MOST_ROUNDS && quiet < QUIET_ROUNDS; ++round) {
        DrawStates(&s);
        quiet = ChooseMore(&s) > 0 ? 0 : quiet + 1;
    }
    float margins[2] = {1, 1};
    for (int round = 0; s.count > 0 && round < MARGIN_ROUNDS; ++round) {
        DrawStates(&s);
        for (size_t i = 0; i < 2 * (size_t)STATES; ++i) {
            margins[i / STATES] = fmaxf(margins[i / STATES], s.best[i] / fmaxf(WorstChosen(&s, i % STATES), 1));
        }
    }
    margins[0] = fmaxf(margins[0] / PROMISED, 1);
    Keep(&s, margins, m);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < m->modeCount; ++k) {
        m->caps[k] = CapOf(&s, (size_t)k);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
