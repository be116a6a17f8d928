// What a trained network gives, through oneDNN, and how far off it is on poses that it has not seen.
#include "learn/train.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4 };

jnResult jnaNetwork_Predict(
    const jnaNetwork* network, const jnaPairs* pairs, const int* which, int count, float* out, jnError* error)
{
    jnaNetShape shape = jnaNetwork_Shape(network);
    size_t inputs = (size_t)network->inputCount, outputs = (size_t)jnaNetShape_OutputCount(&shape);
    size_t size = 3 * (size_t)network->vertexCount;
    jnaWorker* worker;
    jnResult result = jn_ok;
    JN_TRY(jnaCreateWorker(&shape, CHUNK, &worker, error));
    for (int i = 0; i < count; i += CHUNK) {
        int samples = count - i < CHUNK ? count - i : CHUNK;
        for (int k = 0; k < samples; ++k) {
            jnaNetwork_Inputs(network, pairs, which[i + k], jnaWorker_Inputs(worker) + (size_t)k * inputs);
        }
        if (!jnaWorker_Forward(worker, network->parameters)) {
            JN_TRY(jnFail(error, jn_badData, "oneDNN refused a layer of the network"));
        }
        for (int k = 0; k < samples; ++k) {
            const float* from = jnaWorker_Outputs(worker) + (size_t)k * outputs;
            jnaNetwork_Displace(network, from, out + (size_t)(i + k) * size);
        }
    }
done:
    jnaDestroyWorker(worker);
    return result;
}

// Distances of many vertices, for percentiles: counted in bins of a hundredth of their size.
enum { BINS = 4096 };
#define FINEST 1e-8

typedef struct Tally {
    int poses;
    double squares, largest, count;
    int64_t bins[BINS];
} Tally;

// Errors of displacements as the skin shows them: A_v (wanted - given).
static void Count(Tally* t, const jnaPairs* pairs, int pair, const float* given)
{
    int vertices = pairs->vertexCount;
    const float* wanted = pairs->displacements + (size_t)pair * 3 * (size_t)vertices;
    for (int v = 0; v < vertices; ++v) {
        double square = 0.0, d[3];
        float frame[9];
        jnaPairs_Frame(pairs, pair, v, frame);
        for (int axis = 0; axis < 3; ++axis) {
            d[axis] = (double)wanted[3 * v + axis] - (given != NULL ? (double)given[3 * v + axis] : 0.0);
        }
        for (int row = 0; row < 3; ++row) {
            const float* a = frame + 3 * row;
            double off = (double)a[0] * d[0] + (double)a[1] * d[1] + (double)a[2] * d[2];
            square += off * off;
        }
        double distance = sqrt(square), place = log(fmax(distance, FINEST) / FINEST) * 100.0;
        t->squares += square;
        t->largest = fmax(t->largest, distance);
        t->bins[place < BINS - 1 ? (int)place : BINS - 1]++;
    }
    t->count += vertices;
    t->poses++;
}

static double Percentile(const Tally* t, double share)
{
    double wanted = share * t->count, seen = 0.0;
    for (int i = 0; i < BINS; ++i) {
        seen += (double)t->bins[i];
        if (seen >= wanted) {
            return FINEST * exp((i + 0.5) / 100.0);
        }
    }
    return t->largest;
}

static jnaSurfaceError Summarise(const Tally* t)
{
    if (t->poses == 0) {
        return (jnaSurfaceError){0};
    }
    return (jnaSurfaceError){.count = t->poses,
        .rms = sqrt(t->squares / t->count),
        .median = Percentile(t, 0.5),
        .percentile95 = Percentile(t, 0.95),
        .largest = t->largest};
}

enum { RANDOM, CLIP, TEST, KINDS };

static void CountPair(const jnaPairs* pairs, int pair, const float* given, Tally* tallies)
{
    int kind = pairs->uses[pair] == jna_pairTest ? TEST : pairs->kinds[pair] == jna_shapeClip ? CLIP : RANDOM;
    Count(&tallies[kind], pairs, pair, NULL);
    Count(&tallies[KINDS + kind], pairs, pair, given);
}

// Skinned, then network, for each of KINDS.
static jnResult TallyPairs(const jnaNetwork* network, const jnaPairs* pairs, Tally* tallies, jnError* error)
{
    enum { GROUP = 64 };
    size_t size = 3 * (size_t)pairs->vertexCount;
    jnResult result = jn_ok;
    float* given = malloc(GROUP * size * sizeof(float));
    if (given == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the evaluation");
    }
    for (int next = 0; next < pairs->count;) {
        int which[GROUP], count = 0;
        for (; next < pairs->count && count < GROUP; ++next) {
            if (pairs->uses[next] != jna_pairTrain) {
                which[count++] = next;
            }
        }
        JN_TRY(jnaNetwork_Predict(network, pairs, which, count, given, error));
        for (int i = 0; i < count; ++i) {
            CountPair(pairs, which[i], given + (size_t)i * size, tallies);
        }
    }
done:
    free(given);
    return result;
}

jnResult jnaEvaluateNetwork(
    const jnaNetwork* network, const jnaPairs* pairs, const jnaPairs* frames, jnaNetworkReport* report, jnError* error)
{
    Tally* tallies = calloc(4 * KINDS, sizeof(Tally)); // of the pairs, then of the frames
    if (tallies == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the evaluation");
    }
    jnResult result = jn_ok;
    JN_TRY(TallyPairs(network, pairs, tallies, error));
    JN_TRY(frames != NULL ? TallyPairs(network, frames, tallies + 2 * KINDS, error) : jn_ok);
    *report = (jnaNetworkReport){.skinnedRandom = Summarise(&tallies[RANDOM]),
        .networkRandom = Summarise(&tallies[KINDS + RANDOM]),
        .skinnedClip = Summarise(&tallies[CLIP]),
        .networkClip = Summarise(&tallies[KINDS + CLIP]),
        .skinnedTest = Summarise(&tallies[TEST]),
        .networkTest = Summarise(&tallies[KINDS + TEST]),
        .skinnedFrames = Summarise(&tallies[2 * KINDS + TEST]),
        .networkFrames = Summarise(&tallies[3 * KINDS + TEST])};
done:
    free(tallies);
    return result;
}
