// jounce-bench baselines: springs of single vertices at their best, on the data that the modes are fitted to.
//
// A spring (k_s, k_d) for each vertex as the paper has it, in the world, or in the turning frame R of the vertex with a
// gain G, still one spring and closed form:
//
//     z" + k_d z' + k_s z = -R^T x^"          x = x^ + R G z
//
// For given (k_s, k_d) the best G is linear least squares, so the numbers of every vertex are found by a grid over
// frequency and damping ratio that is refined three times; no start and no prior is left to choose. Targets are
// simulated equilibria, timing is exact. Captured is that of the clips not learned from: pooled, of soft vertices, and
// the mean of the clips.
#include "ablation.h"
#include "base/affine.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "jounce/spring_functions.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HERTZ = 10, RATIOS = 7, REFINEMENTS = 3, MOST_SEQUENCES = 64 };
#define LOWEST_HERTZ 0.5
#define HIGHEST_HERTZ 16.0
#define LOWEST_RATIO 0.02
#define HIGHEST_RATIO 2.0
// Of the trace of the normal equations: a direction that nothing excites gets no gain.
#define RIDGE 1e-6

typedef enum Kind { WORLD, SCALAR, MATRIX } Kind;

/// What a vertex has.
typedef struct Spring {
    double hertz, ratio, gain[9];
} Spring;

typedef struct Row {
    const char* name;
    Kind kind;
    bool clips, shakes, itself; // learned from; itself: from the clip that it is measured on
} Row;

/// A vertex in a sequence: what drives it, and where it goes, in its frame or in the world.
typedef struct Track {
    int frameCount;
    double dt;
    double *a, *q;   // [frameCount][3], 2a/h^2 and 6q/h^3 of the interval that begins there
    double* offsets; // [frameCount][3], motion less target
    uint8_t* counts; // [frameCount]
} Track;

static void TurnBack(const jnaModalSequence* s, int frame, int vertex, bool world, double* v)
{
    if (!world) {
        const float* r = s->rotations + 4 * ((size_t)frame * (size_t)s->vertexCount + (size_t)vertex);
        double q[4] = {-(double)r[0], -(double)r[1], -(double)r[2], (double)r[3]};
        jnaQuat_Rotate(q, v, v);
    }
}

static double At(const float* of, const jnaModalSequence* s, int frame, int vertex, int axis)
{
    return (double)of[3 * ((size_t)frame * (size_t)s->vertexCount + (size_t)vertex) + (size_t)axis];
}

// The paper's cubic through four samples; the ends repeat the difference beside them.
static void FillTrack(const jnaModalSequence* s, int vertex, bool world, Track* t)
{
    int last = s->frameCount - 1;
    t->frameCount = s->frameCount;
    t->dt = s->dt;
    for (int n = 0; n <= last; ++n) {
        double *a = t->a + 3 * n, *q = t->q + 3 * n, *d = t->offsets + 3 * n;
        for (int k = 0; k < 3; ++k) {
            double x0 = At(s->targets, s, n, vertex, k), x1 = At(s->targets, s, n < last ? n + 1 : n, vertex, k);
            double before = n > 0 ? At(s->targets, s, n - 1, vertex, k) : 2 * x0 - x1;
            double after = n + 1 < last ? At(s->targets, s, n + 2, vertex, k) : 2 * x1 - x0;
            a[k] = (2 * before - 5 * x0 + 4 * x1 - after) / (s->dt * s->dt);
            q[k] = 3 * (-before + 3 * x0 - 3 * x1 + after) / (s->dt * s->dt * s->dt);
            d[k] = At(s->motion, s, n, vertex, k) - x0;
        }
        TurnBack(s, n, vertex, world, a);
        TurnBack(s, n, vertex, world, q);
        TurnBack(s, n, vertex, world, d);
        t->counts[n] = jnaModalSequence_Counts(s, n);
    }
}

// The unit response of a spring. z: [frameCount][3].
static void Respond(const Track* t, double hertz, double ratio, double* z)
{
    double omega = JNA_TURN * hertz;
    const jnSpringResponse f = jnEvaluateSpring(omega * omega, 2 * ratio * omega, t->dt);
    double y[3] = {0}, v[3] = {0};
    for (int n = 0; n < t->frameCount; ++n) {
        memcpy(z + 3 * n, y, sizeof(y));
        for (int k = 0; k < 3; ++k) {
            double a = t->a[3 * n + k], q = t->q[3 * n + k], was = y[k];
            y[k] = f.position * was + f.impulse * v[k] - a * f.step - q * f.ramp;
            v[k] = -omega * omega * f.impulse * was + f.velocity * v[k] - a * f.impulse - q * f.step;
        }
    }
}

// Inverse of a symmetric matrix of three rows; false where it has none.
static bool Invert(const double m[9], double inverse[9])
{
    for (int i = 0; i < 3; ++i) {
        const double *b = m + 3 * ((i + 1) % 3), *c = m + 3 * ((i + 2) % 3);
        double column[3];
        jnaCross(b, c, column);
        for (int k = 0; k < 3; ++k) {
            inverse[3 * k + i] = column[k];
        }
    }
    double determinant = m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6];
    for (int i = 0; i < 9; ++i) {
        inverse[i] /= determinant;
    }
    return determinant > 0;
}

// The best gain for a response, from sums over all frames: c = sum of d z^T, m = sum of z z^T, and what it leaves of
// the squares.
static double SolveGain(Kind kind, const double c[9], double m[9], double squares, double gain[9])
{
    double trace = m[0] + m[4] + m[8], inverse[9], left = squares;
    memset(gain, 0, 9 * sizeof(double));
    if (kind != MATRIX) {
        double scalar = kind == WORLD ? 1 : trace > 0 ? (c[0] + c[4] + c[8]) / trace : 0;
        gain[0] = gain[4] = gain[8] = scalar;
    } else {
        for (int i = 0; i < 9; i += 4) {
            m[i] += RIDGE * trace + 1e-30;
        }
        if (!Invert(m, inverse)) {
            return HUGE_VAL;
        }
        for (int i = 0; i < 9; ++i) {
            for (int k = 0; k < 3; ++k) {
                gain[i] += c[3 * (i / 3) + k] * inverse[3 * k + i % 3];
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            double of = 0; // (G M) row i, column k
            for (int l = 0; l < 3; ++l) {
                of += gain[3 * i + l] * m[3 * l + k];
            }
            left += gain[3 * i + k] * (of - 2 * c[3 * i + k]);
        }
    }
    return left;
}

// What a frequency and a ratio leave of all tracks at the best gain.
static double Try(Kind kind, const Track* tracks, int count, Spring* spring, double* z)
{
    double c[9] = {0}, m[9] = {0}, squares = 0;
    for (int i = 0; i < count; ++i) {
        const Track* t = &tracks[i];
        Respond(t, spring->hertz, spring->ratio, z);
        for (int n = 0; n < t->frameCount; ++n) {
            const double *d = t->offsets + 3 * n, *y = z + 3 * n;
            for (int k = 0; t->counts[n] != 0 && k < 9; ++k) {
                c[k] += d[k / 3] * y[k % 3];
                m[k] += y[k / 3] * y[k % 3];
            }
            squares += t->counts[n] != 0 ? jnaDot(d, d) : 0;
        }
    }
    return SolveGain(kind, c, m, squares, spring->gain);
}

static Spring FitVertex(Kind kind, const Track* tracks, int count, double* z)
{
    Spring best = {.hertz = 4, .ratio = 0.2};
    double least = HUGE_VAL, steps[2] = {pow(HIGHEST_HERTZ / LOWEST_HERTZ, 1.0 / (HERTZ - 1)),
                                 pow(HIGHEST_RATIO / LOWEST_RATIO, 1.0 / (RATIOS - 1))};
    for (int i = 0; i < HERTZ * RATIOS; ++i) {
        Spring s = {LOWEST_HERTZ * pow(steps[0], i % HERTZ), LOWEST_RATIO * pow(steps[1], i / HERTZ), {0}};
        double left = Try(kind, tracks, count, &s, z);
        best = left < least ? s : best;
        least = fmin(left, least);
    }
    for (int r = 0; r < REFINEMENTS; ++r) {
        const Spring middle = best;
        steps[0] = sqrt(steps[0]);
        steps[1] = sqrt(steps[1]);
        for (int i = 0; i < 9; ++i) {
            Spring s = {middle.hertz * pow(steps[0], i % 3 - 1), middle.ratio * pow(steps[1], i / 3 - 1), {0}};
            double left = i != 4 ? Try(kind, tracks, count, &s, z) : HUGE_VAL;
            best = left < least ? s : best;
            least = fmin(left, least);
        }
    }
    return best;
}

// Sequences that a row learns from when it is measured on a take.
static int Lessons(const jnbScene* s, const Row* row, int take, const jnaModalSequence** list)
{
    int count = 0;
    for (int i = 0; row->clips && i < s->trainCount; ++i) {
        list[count++] = &s->takes[i].sequence;
    }
    for (int i = 0; row->shakes && i < JNA_SHAKES; ++i) {
        list[count++] = &s->shakes[i].sequence;
    }
    if (row->itself) {
        list[count++] = &s->takes[take].sequence;
    }
    return count;
}

static int MostFrames(const jnbScene* s)
{
    int most = 0;
    for (int i = 0; i < s->count; ++i) {
        most = s->takes[i].sequence.frameCount > most ? s->takes[i].sequence.frameCount : most;
    }
    for (int i = 0; i < JNA_SHAKES; ++i) {
        most = s->shakes[i].sequence.frameCount > most ? s->shakes[i].sequence.frameCount : most;
    }
    return most;
}

// Room for the tracks of one vertex, and a response.
static bool CreateTracks(int count, int frames, Track* tracks, double** room, uint8_t** counts)
{
    *room = malloc(((size_t)count * 9 + 3) * (size_t)frames * sizeof(double));
    *counts = malloc((size_t)count * (size_t)frames);
    for (int i = 0; *room != NULL && i < count; ++i) {
        double* at = *room + (size_t)i * 9 * (size_t)frames;
        tracks[i] = (Track){.a = at, .q = at + 3 * frames, .offsets = at + 6 * frames, .counts = *counts + i * frames};
    }
    return *room != NULL && *counts != NULL;
}

// sums: what is left and what there is, of all and of soft vertices.
static void Measure(const Track* t, const Spring* s, double* z, bool soft, double sums[4])
{
    Respond(t, s->hertz, s->ratio, z);
    double left = 0, layer = 0;
    for (int n = 0; n < t->frameCount; ++n) {
        const double *d = t->offsets + 3 * n, *y = z + 3 * n;
        for (int i = 0; t->counts[n] != 0 && i < 3; ++i) {
            double off = d[i] - s->gain[3 * i] * y[0] - s->gain[3 * i + 1] * y[1] - s->gain[3 * i + 2] * y[2];
            left += off * off;
            layer += d[i] * d[i];
        }
    }
    sums[0] += left;
    sums[1] += layer;
    sums[2] += soft ? left : 0;
    sums[3] += soft ? layer : 0;
}

// Fits a row and measures it on a take. sums: [4].
static jnResult PlayTake(const jnbScene* s, const Row* row, int take, Spring* springs, double* sums, jnError* error)
{
    const jnaModalSequence *list[MOST_SEQUENCES], *of = &s->takes[take].sequence;
    int count = Lessons(s, row, take, list), frames = MostFrames(s), failures = 0;
    bool fits = row->itself || take == s->trainCount;
    double all = 0, left = 0, softAll = 0, softLeft = 0;
#pragma omp parallel reduction(+ : failures, all, left, softAll, softLeft)
    {
        Track tracks[MOST_SEQUENCES];
        double* room;
        uint8_t* counts;
        bool good = CreateTracks(count + 1, frames, tracks, &room, &counts);
        double* z = good ? room + (size_t)(count + 1) * 9 * (size_t)frames : NULL;
        failures += !good;
#pragma omp for schedule(dynamic, 16)
        for (int v = 0; v < of->vertexCount; ++v) {
            double own[4] = {0};
            for (int i = 0; good && fits && i < count; ++i) {
                FillTrack(list[i], v, row->kind == WORLD, &tracks[i]);
            }
            if (good) {
                springs[v] = fits ? FitVertex(row->kind, tracks, count, z) : springs[v];
                FillTrack(of, v, row->kind == WORLD, &tracks[count]);
                Measure(&tracks[count], &springs[v], z, s->soft[v] > 0, own);
            }
            left += own[0];
            all += own[1];
            softLeft += own[2];
            softAll += own[3];
        }
        free(room);
        free(counts);
    }
    const double found[4] = {left, all, softLeft, softAll};
    memcpy(sums, found, sizeof(found));
    return failures == 0 ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d frames", frames);
}

static jnResult PrintRow(const jnbScene* s, const Row* row, jnError* error)
{
    int vertices = s->workspace.character->vertexCount, clips = s->count - s->trainCount;
    double pooled[4] = {0}, mean = 0, least = HUGE_VAL;
    Spring* springs = calloc((size_t)vertices, sizeof(*springs));
    jnResult result = springs != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d springs", vertices);
    for (int t = s->trainCount; result == jn_ok && t < s->count; ++t) {
        double sums[4];
        result = PlayTake(s, row, t, springs, sums, error);
        for (int i = 0; result == jn_ok && i < 4; ++i) {
            pooled[i] += sums[i];
        }
        double captured = result == jn_ok ? 1 - sums[2] / sums[3] : 0;
        mean += captured / clips;
        least = fmin(least, captured);
    }
    if (result == jn_ok) {
        double soft = 1 - pooled[2] / pooled[3];
        printf("  %-52s %8.3f %8.3f %8.3f %8.3f %8.0f\n", row->name, 1 - pooled[0] / pooled[1], soft, mean, least,
            100 * sqrt(fmax(1 - soft, 0)));
        fflush(stdout);
    }
    free(springs);
    return result;
}

int jnbBenchBaselines(const char* workspace)
{
    static const Row rows[] = {
        {"a spring per vertex; clips", WORLD, true, false, false},
        {"a spring per vertex; clips and shakes", WORLD, true, true, false},
        {"a spring per vertex; that very clip", WORLD, false, false, true},
        {"with a gain in the local frame; clips", SCALAR, true, false, false},
        {"with a gain in the local frame; clips and shakes", SCALAR, true, true, false},
        {"with a 3x3 gain in the local frame; clips", MATRIX, true, false, false},
        {"with a 3x3 gain in the local frame; clips and shakes", MATRIX, true, true, false},
        {"with a 3x3 gain in the local frame; that very clip", MATRIX, false, false, true},
    };
    jnbScene scene = {0};
    jnError error = {0};
    jnResult result = jnbOpenScene(workspace, &scene, &error);
    if (result == jn_ok) {
        printf("  springs; learned from                                     all     soft     mean    least   left %%\n"
               "                                                                            of clips, soft\n");
    }
    for (size_t i = 0; result == jn_ok && i < sizeof(rows) / sizeof(rows[0]); ++i) {
        result = PrintRow(&scene, &rows[i], &error);
    }
    jnbCloseScene(&scene);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
