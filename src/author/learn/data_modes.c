// Modes of motion: principal components per joint, by snapshots.
//
// With d = R^T (x - x^) the dynamics layer in the skinned frames and w_j a joint's weights, the fields w_j d add up to
// d over all joints. Their Gram matrix over frames, each vertex weighed by the area around it, has the components as
// eigenvectors: with F frames it is F x F, however many vertices there are.
#include "learn/modal_fit.h"

#include "jounce/spring_functions.h"

#include "base/affine.h"
#include "base/matrices.h"
#include "base/try.h"
#include "modes/modes_internal.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The Gram matrix takes every so many frames, so that it stays below this.
enum { MOST_FRAMES = 400, HERTZ_STEPS = 24, RATIO_STEPS = 5 };
// A region whose vertices move less than this, metres rms, has no modes.
#define LEAST_MOTION 1e-4

jnaDataModesDef jnaDefaultDataModesDef(void)
{
    return (jnaDataModesDef){.perRegion = 6, .share = 0.95, .count = 64, .threshold = 0.02};
}

// One component in the making.
typedef struct Component {
    int joint;
    double strength; // eigenvalue
    float* shape;    // [vertexCount][3]
} Component;

typedef struct Work {
    const jnaDataModesDef* def;
    jnaArena arena;
    size_t frames, width; // snapshots, numbers of one
    float* fields;        // [frames][vertexCount][3], the layer in its frames
    double* areas;        // [vertexCount]
    float* weights;       // [vertexCount], of the joint at hand
    double *gram, *values;
    Component* components;
    int count;
} Work;

static void TakeFrame(const jnaModalSequence* s, int frame, float* out)
{
    for (size_t v = 0; v < (size_t)s->vertexCount; ++v) {
        size_t at = (size_t)frame * (size_t)s->vertexCount + v;
        double d[3], q[4] = {0, 0, 0, 1}, turned[3];
        for (size_t a = 0; a < 3; ++a) {
            d[a] = (double)s->motion[3 * at + a] - (double)s->targets[3 * at + a];
            q[a] = s->rotations != NULL ? -(double)s->rotations[4 * at + a] : 0;
        }
        q[3] = s->rotations != NULL ? (double)s->rotations[4 * at + 3] : 1;
        jnaQuat_Rotate(q, d, turned);
        for (size_t a = 0; a < 3; ++a) {
            out[3 * v + a] = (float)turned[a];
        }
    }
}

static jnResult Prepare(Work* w, jnError* error)
{
    const jnaDataModesDef* def = w->def;
    int total = 0;
    for (int s = 0; s < def->sequenceCount; ++s) {
        const jnaModalSequence* q = &def->sequences[s];
        if (q->motion == NULL || q->vertexCount != def->character->vertexCount || q->frameCount < 2) {
            return jnFail(
                error, jn_badArgument, "sequence %d has no motion of %d vertices", s + 1, def->character->vertexCount);
        }
        total += q->frameCount;
    }
    int every = (total + MOST_FRAMES - 1) / MOST_FRAMES, most = total / every + def->sequenceCount;
    int64_t vertices = def->character->vertexCount;
    w->width = 3 * (size_t)vertices;
    w->fields = jnaArena_Take(&w->arena, most * vertices, 3 * sizeof(float));
    w->areas = jnaArena_Take(&w->arena, vertices, sizeof(double));
    w->weights = jnaArena_Take(&w->arena, vertices, sizeof(float));
    w->gram = jnaArena_Take(&w->arena, (int64_t)most * most, sizeof(double));
    w->values = jnaArena_Take(&w->arena, most, sizeof(double));
    w->components =
        jnaArena_Take(&w->arena, (int64_t)def->character->jointCount * def->perRegion, sizeof(*w->components));
    if (w->arena.failed) {
        return jnaArena_Check(&w->arena, "the frames that modes are taken from", error);
    }
    for (int s = 0; s < def->sequenceCount; ++s) {
        for (int n = 0; n < def->sequences[s].frameCount; n += every) {
            TakeFrame(&def->sequences[s], n, w->fields + w->frames++ * w->width);
        }
    }
    jnaFindVertexAreas(def->character, w->areas);
    return jn_ok;
}

// The joint's weights; returns the area that is its own.
static double FindRegion(Work* w, int joint)
{
    const jnaCharacter* c = w->def->character;
    double area = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        w->weights[v] = 0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            w->weights[v] += c->influences[v].joints[k] == joint ? c->influences[v].weights[k] : 0;
        }
        area += (double)w->weights[v] * w->areas[v];
    }
    return area;
}

static void FindGram(Work* w)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t i = 0; i < w->frames; ++i) {
        for (size_t k = 0; k <= i; ++k) {
            const float *a = w->fields + i * w->width, *b = w->fields + k * w->width;
            double sum = 0;
            for (size_t v = 0; v < w->width / 3; ++v) {
                if (w->weights[v] > 0) {
                    double weight = (double)w->weights[v] * (double)w->weights[v] * w->areas[v];
                    sum += weight *
                           (double)(a[3 * v] * b[3 * v] + a[3 * v + 1] * b[3 * v + 1] + a[3 * v + 2] * b[3 * v + 2]);
                }
            }
            w->gram[i * w->frames + k] = w->gram[k * w->frames + i] = sum;
        }
    }
}

// The component of an eigenvector: the frames' fields mixed by it.
static jnResult AddComponent(Work* w, int joint, const double* vector, double value, jnError* error)
{
    float* shape = jnaArena_Take(&w->arena, (int64_t)w->width, sizeof(float));
    if (shape == NULL) {
        return jnaArena_Check(&w->arena, "a mode", error);
    }
    double most = 0;
    for (size_t i = 0; i < w->width; ++i) {
        double sum = 0;
        for (size_t n = 0; w->weights[i / 3] > 0 && n < w->frames; ++n) {
            sum += vector[n] * (double)w->fields[n * w->width + i];
        }
        shape[i] = (float)(sum * (double)w->weights[i / 3]);
    }
    for (size_t v = 0; v < w->width / 3; ++v) {
        const float* u = shape + 3 * v;
        most = fmax(most, sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])));
    }
    for (size_t i = 0; most > 0 && i < w->width; ++i) {
        shape[i] = (float)((double)shape[i] / most);
    }
    w->components[w->count++] = (Component){joint, value, shape};
    return jn_ok;
}

static jnResult FindComponents(Work* w, int joint, jnError* error)
{
    double area = FindRegion(w, joint), total = 0, held = 0;
    int size = (int)w->frames;
    if (!(area > 0)) {
        return jn_ok;
    }
    FindGram(w);
    for (size_t i = 0; i < w->frames; ++i) {
        total += w->gram[i * w->frames + i];
    }
    if (!(total / (double)w->frames / area > LEAST_MOTION * LEAST_MOTION)) {
        return jn_ok;
    }
    jnResult result = jnaFindEigenvectors(size, w->gram, w->values);
    if (result != jn_ok) {
        return result == jn_outOfMemory
                   ? jnFail(error, result, "out of memory for the principal components of joint %d", joint)
                   : jnFail(error, result, "the motion of joint %d has no principal components", joint);
    }
    for (int i = 0; result == jn_ok && i < w->def->perRegion && i < size && held < w->def->share * total; ++i) {
        size_t at = (size_t)(size - 1 - i);
        result = AddComponent(w, joint, w->gram + at * w->frames, w->values[at], error);
        held += w->values[at];
    }
    return result;
}

static int CompareComponents(const void* a, const void* b)
{
    const Component *x = a, *y = b;
    return x->strength > y->strength ? -1 : x->strength < y->strength ? 1 : x->joint - y->joint;
}

// Shares of turned modes in each other on the surface, by joint.
static void FindSpins(const jnaCharacter* c, jnaModes* m)
{
    size_t n = (size_t)m->modeCount, width = 3 * (size_t)m->vertexCount;
    for (size_t k = 0; k < n; ++k) {
        for (size_t l = 0; l < n; ++l) {
            for (size_t v = 0; v < width / 3; ++v) {
                const float *p = m->projections + k * width + 3 * v, *u = m->shapes + l * width + 3 * v;
                const float cross[3] = {
                    u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
                for (int i = 0; i < JNA_MAX_INFLUENCES && c->influences[v].weights[i] > 0; ++i) {
                    float* spins = m->spins + 3 * (size_t)c->influences[v].joints[i] * n * n + k * n + l;
                    for (size_t axis = 0; axis < 3; ++axis) {
                        spins[axis * n * n] += c->influences[v].weights[i] * cross[axis];
                    }
                }
            }
        }
    }
}

// Squared residual of a mode's amplitudes for one frequency and ratio with the best gain.
static double TryNumbers(
    const Work* w, const jnaModes* m, double* const* arrays, size_t k, double hertz, double ratio, double* gain)
{
    double ks = JNA_TURN * hertz * JNA_TURN * hertz, kd = 2 * ratio * JNA_TURN * hertz, zz = 0, zo = 0, oo = 0;
    for (int s = 0; s < w->def->sequenceCount; ++s) {
        const jnaModalSequence* q = &w->def->sequences[s];
        size_t n = (size_t)m->modeCount, size = (size_t)q->frameCount * n;
        const double *starts = arrays[s], *rates = starts + size, *observed = rates + size;
        jnSpringResponse r = jnEvaluateSpring(ks, kd, q->dt);
        double z = 0, v = 0;
        for (size_t at = k; at < size; at += n) {
            zz += z * z;
            zo += z * observed[at];
            oo += observed[at] * observed[at];
            double next = r.position * z + r.impulse * v - r.step * starts[at] - r.ramp * rates[at];
            v = -ks * r.impulse * z + r.velocity * v - r.impulse * starts[at] - r.step * rates[at];
            z = next;
        }
    }
    *gain = zz > 0 ? fmin(fmax(zo / zz, 0.05), 5) : 1;
    return oo - 2 * *gain * zo + *gain * *gain * zz;
}

// The numbers of a grid that explain each mode best.
static jnResult GuessNumbers(Work* w, jnaModes* m, jnError* error)
{
    jnResult result = jn_ok;
    double** arrays = jnaArena_Take(&w->arena, w->def->sequenceCount, sizeof(double*));
    JN_TRY(jnaArena_Check(&w->arena, "the numbers of modes", error));
    for (int s = 0; s < w->def->sequenceCount; ++s) {
        const jnaModalSequence* q = &w->def->sequences[s];
        size_t size = (size_t)q->frameCount * (size_t)m->modeCount;
        arrays[s] = jnaArena_Take(&w->arena, (int64_t)size, 3 * sizeof(double));
        JN_TRY(jnaArena_Check(&w->arena, "the numbers of modes", error));
        JN_TRY(jnaModes_Force(m, q, arrays[s], arrays[s] + size, error));
        JN_TRY(jnaModes_Observe(m, w->def->character, q, arrays[s] + 2 * size, error));
    }
    for (int k = 0; k < m->modeCount; ++k) {
        double best = HUGE_VAL;
        for (int i = 0; i < HERTZ_STEPS * RATIO_STEPS; ++i) {
            double hertz = 1.0 * pow(20, (i / RATIO_STEPS) / (HERTZ_STEPS - 1.0)),
                   ratio = 0.04 * pow(2, i % RATIO_STEPS);
            double gain, loss = TryNumbers(w, m, arrays, (size_t)k, hertz, ratio, &gain);
            if (loss < best) {
                best = loss;
                m->stiffness[k] = JNA_TURN * hertz * JNA_TURN * hertz;
                m->damping[k] = 2 * ratio * JNA_TURN * hertz;
                m->gain[k] = gain;
            }
        }
    }
done:
    return result;
}

static jnResult Gather(Work* w, jnaModes* m, jnError* error)
{
    const jnaCharacter* c = w->def->character;
    qsort(w->components, (size_t)w->count, sizeof(*w->components), CompareComponents);
    int count = w->count < w->def->count ? w->count : w->def->count;
    if (count < 1) {
        return jnFail(error, jn_badData, "the motion does not differ from the targets: there are no modes in it");
    }
    jnResult result = jn_ok;
    JN_TRY(jnaModes_Allocate(m, count, c->vertexCount, c->jointCount, error));
    jnaModes_SetPose(m, c, NULL);
    double all = 0;
    for (int v = 0; v < c->vertexCount; ++v) {
        all += w->areas[v];
    }
    for (int k = 0; k < count; ++k) {
        float* shape = m->shapes + (size_t)k * w->width;
        double squares = 0, fourths = 0;
        memcpy(shape, w->components[k].shape, w->width * sizeof(float));
        for (size_t v = 0; v < w->width / 3; ++v) {
            const float* u = shape + 3 * v;
            double square = (double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            squares += w->areas[v] * square;
            fourths += w->areas[v] * square * square;
        }
        m->joints[k] = w->components[k].joint;
        m->masses[k] = squares > 0 ? squares : 1;
        m->massShare[k] = fourths > 0 && all > 0 ? squares * squares / fourths / all : 0;
    }
    JN_TRY(jnaModes_ProjectSurface(m, c, error));
    jnaModes_Sparsen(m, w->def->threshold);
    FindSpins(c, m);
    JN_TRY(GuessNumbers(w, m, error));
done:
    return result;
}

jnResult jnaFindDataModes(const jnaDataModesDef* def, jnaModes* modes, jnError* error)
{
    *modes = (jnaModes){0};
    if (def->sequenceCount < 1 || def->perRegion < 1 || def->perRegion > 64 || def->count < 1 ||
        def->count > JNA_MAX_MODES || !(def->share > 0 && def->share <= 1)) {
        return jnFail(
            error, jn_badArgument, "modes of motion need a sequence, 1 to 64 a region, 1 to %d in all", JNA_MAX_MODES);
    }
    Work w = {.def = def};
    jnResult result = jn_ok;
    JN_TRY(Prepare(&w, error));
    for (int j = 0; j < def->character->jointCount; ++j) {
        JN_TRY(FindComponents(&w, j, error));
    }
    JN_TRY(Gather(&w, modes, error));
done:
    if (result != jn_ok) {
        jnaDestroyModes(modes);
    }
    jnaReleaseArena(&w.arena);
    return result;
}
