// Training: Adam on mini-batches, a learning rate that rises shortly and falls along a cosine, validation after every
// epoch, the best parameters kept.
//
// A batch is cut into chunks of a fixed number of samples; each is computed on one thread, and the gradients of the
// chunks are added in their order. So neither the number of threads nor a resumed checkpoint changes a byte: the order
// of the poses follows from seed and epoch alone.
#include "learn/train.h"

#include "base/affine.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/random.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8
#define WARM_UP 0.02 // share of the steps
#define LAST_RATE 0.005
// Units that see all joints could learn each training pose by heart; they only keep what pays for itself.
#define SHARED_DECAY 50.0f

// The state that a checkpoint holds. [parameters] each.
typedef struct Descent {
    jnaArena arena;
    const jnaProblem* problem;
    const jnaTrainDef* def;
    int threads, chunks; // chunks of a full batch
    int epochs, patience, stepsPerEpoch;
    size_t count;
    float *parameters, *first, *second;
    float* best;      // becomes the network's
    float* gradients; // [chunks][parameters]
    double* losses;   // [max(trainCount, heldCount)], one for each sample
    int* order;       // [trainCount]
    jnaWorker** workers;
    int epoch; // done
    int bestEpoch;
    double bestLoss, trainLoss, heldLoss; // mean square metres
    uint64_t key;
    bool failed; // oneDNN refused
} Descent;

typedef struct CheckpointHead {
    char magic[8];
    uint64_t key, count;
    int32_t epoch, bestEpoch;
    double bestLoss;
} CheckpointHead;
#define MAGIC "JNTRAIN1"

jnaTrainDef jnaDefaultTrainDef(jnNetworkKind kind)
{
    jnaTrainDef def = {.kind = kind,
        .hidden = 16,
        .shared = 16,
        .decay = 0.01,
        .locality = 0.25,
        .mirror = true,
        .layers = 2,
        .components = 127,
        .residual = 0.01,
        .mapSize = 128,
        .learningRate = jnaTrainTraitsOf[kind].learningRate,
        .seed = 1,
        .checkpointSeconds = 20};
    return def;
}

static void Shuffle(const Descent* d)
{
    uint64_t state = jnaMixBits(d->def->seed + 0x9e3779b97f4a7c15u * (uint64_t)(d->epoch + 1));
    memcpy(d->order, d->problem->train, sizeof(int) * (size_t)d->problem->trainCount);
    for (int i = d->problem->trainCount - 1; i > 0; --i) {
        int k = (int)(jnaNextBits(&state) % (uint64_t)(i + 1)), pair = d->order[i];
        d->order[i] = d->order[k];
        d->order[k] = pair;
    }
}

// Forward, and backward into `gradient` where it is given, of up to a chunk of samples. Fills losses.
static bool RunChunk(
    const Descent* d, jnaWorker* worker, const int* samples, int count, double weight, float* gradient, double* losses)
{
    const jnaProblem* p = d->problem;
    size_t inputs = (size_t)p->inputCount, outputs = (size_t)jnaNetShape_OutputCount(&p->shape);
    omp_set_num_threads(1); // of this thread's own oneDNN calls
    for (int i = 0; i < p->chunk; ++i) {
        float* to = jnaWorker_Inputs(worker) + (size_t)i * inputs;
        if (i < count) {
            memcpy(to, p->inputs + (size_t)samples[i] * inputs, inputs * sizeof(float));
        } else {
            memset(to, 0, inputs * sizeof(float));
        }
    }
    if (!jnaWorker_Forward(worker, d->parameters)) {
        return false;
    }
    for (int i = 0; i < p->chunk; ++i) {
        float* slope = jnaWorker_Gradient(worker) + (size_t)i * outputs;
        if (i < count) {
            losses[i] = jnaProblem_Loss(p, samples[i], jnaWorker_Outputs(worker) + (size_t)i * outputs, weight,
                gradient != NULL ? slope : NULL);
        } else if (gradient != NULL) {
            memset(slope, 0, outputs * sizeof(float));
        }
    }
    return gradient == NULL || jnaWorker_Backward(worker, d->parameters, gradient, NULL);
}

static double LearningRate(const Descent* d, int64_t step)
{
    double total = (double)d->epochs * d->stepsPerEpoch, warm = fmax(WARM_UP * total, 1.0), at = (double)step;
    double cosine = 0.5 * (1.0 + cos(JNA_PI * fmin(at / total, 1.0)));
    return d->def->learningRate * fmin((at + 1.0) / warm, 1.0) * (LAST_RATE + (1.0 - LAST_RATE) * cosine);
}

// Adam over the sum of the chunks' gradients.
static void Update(Descent* d, int chunks, int64_t step)
{
    float rate = (float)(LearningRate(d, step) / (1.0 - pow(BETA1, (double)step + 1.0)));
    float second = (float)(1.0 / (1.0 - pow(BETA2, (double)step + 1.0)));
    float decay = (float)(LearningRate(d, step) * d->def->decay);
#pragma omp parallel for schedule(static) num_threads(d->threads)
    for (size_t i = 0; i < d->count; ++i) {
        float g = d->gradients[i];
        for (int k = 1; k < chunks; ++k) {
            g += d->gradients[(size_t)k * d->count + i];
        }
        g = d->problem->mask[i] != 0 ? g : 0.0f;
        d->first[i] = (float)BETA1 * d->first[i] + (float)(1.0 - BETA1) * g;
        d->second[i] = (float)BETA2 * d->second[i] + (float)(1.0 - BETA2) * g * g;
        float move = rate * d->first[i] / (sqrtf(d->second[i] * second) + (float)EPSILON);
        d->parameters[i] -= d->problem->reach[i] * move +
                            (d->problem->mask[i] == JNA_SHARED_WEIGHT ? SHARED_DECAY : 1.0f) * decay * d->parameters[i];
    }
}

// The mean of the losses that were filled.
static double MeanLoss(const Descent* d, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += d->losses[i];
    }
    return sum / count;
}

static void TrainEpoch(Descent* d)
{
    const jnaProblem* p = d->problem;
    Shuffle(d);
    for (int step = 0; step < d->stepsPerEpoch && !d->failed; ++step) {
        int first = step * p->batch, count = p->trainCount - first < p->batch ? p->trainCount - first : p->batch;
        int chunks = (count + p->chunk - 1) / p->chunk;
#pragma omp parallel for schedule(static) num_threads(d->threads)
        for (int k = 0; k < chunks; ++k) {
            int at = first + k * p->chunk, samples = count - k * p->chunk < p->chunk ? count - k * p->chunk : p->chunk;
            if (!RunChunk(d, d->workers[omp_get_thread_num()], d->order + at, samples, 1.0 / count,
                    d->gradients + (size_t)k * d->count, d->losses + at)) {
#pragma omp atomic write
                d->failed = true;
            }
        }
        Update(d, chunks, (int64_t)d->epoch * d->stepsPerEpoch + step);
    }
    d->trainLoss = MeanLoss(d, p->trainCount);
}

static void Validate(Descent* d)
{
    const jnaProblem* p = d->problem;
    int chunks = (p->heldCount + p->chunk - 1) / p->chunk;
#pragma omp parallel for schedule(static) num_threads(d->threads)
    for (int k = 0; k < chunks; ++k) {
        int at = k * p->chunk, samples = p->heldCount - at < p->chunk ? p->heldCount - at : p->chunk;
        if (!RunChunk(d, d->workers[omp_get_thread_num()], p->held + at, samples, 0.0, NULL, d->losses + at)) {
#pragma omp atomic write
            d->failed = true;
        }
    }
    d->heldLoss = MeanLoss(d, p->heldCount);
}

// What a checkpoint must agree with: the settings that shape the result, and the data.
static uint64_t FindKey(const Descent* d)
{
    const jnaProblem* p = d->problem;
    const jnaTrainDef* def = d->def;
    const double numbers[] = {def->kind, d->epochs, d->patience, def->hidden, def->layers, def->components,
        def->residual, def->mapSize, def->learningRate, def->shared, def->decay, def->locality, (double)def->seed,
        p->trainCount, p->heldCount};
    uint64_t key = jnaHash(numbers, sizeof(numbers), 0);
    key = jnaHash(&p->shape, sizeof(p->shape), key);
    key = jnaHash(p->inputs, sizeof(float) * (size_t)p->pairs->count * (size_t)p->inputCount, key);
    size_t floats = 3 * (size_t)p->pairs->vertexCount * (size_t)p->pairs->count;
    return jnaHash(p->pairs->displacements, floats * sizeof(float), key);
}

static jnResult SaveCheckpoint(const Descent* d, jnError* error)
{
    jnaFile file;
    JN_PASS(jnaCreateFile(d->def->checkpoint, &file, error));
    CheckpointHead head = {.key = d->key, .count = d->count, .epoch = d->epoch, .bestEpoch = d->bestEpoch};
    head.bestLoss = d->bestLoss;
    memcpy(head.magic, MAGIC, sizeof(head.magic));
    const float* arrays[4] = {d->parameters, d->first, d->second, d->best};
    fwrite(&head, sizeof(head), 1, file.stream);
    for (int i = 0; i < 4; ++i) {
        fwrite(arrays[i], sizeof(float), d->count, file.stream);
    }
    return jnaFile_Commit(&file, error);
}

// A checkpoint that does not fit is as good as none.
static void LoadCheckpoint(Descent* d)
{
    FILE* file;
    CheckpointHead head = {0};
    if (d->def->checkpoint == NULL || jnaOpenInput(d->def->checkpoint, &file, NULL) != jn_ok) {
        return;
    }
    bool fits = fread(&head, sizeof(head), 1, file) == 1 && memcmp(head.magic, MAGIC, sizeof(head.magic)) == 0 &&
                head.key == d->key && head.count == d->count && head.epoch >= 0 && head.epoch <= d->epochs;
    float* all = fits ? malloc(4 * d->count * sizeof(float)) : NULL;
    if (all != NULL && fread(all, sizeof(float), 4 * d->count, file) == 4 * d->count) {
        float* arrays[4] = {d->parameters, d->first, d->second, d->best};
        for (size_t i = 0; i < 4; ++i) {
            memcpy(arrays[i], all + i * d->count, d->count * sizeof(float));
        }
        d->epoch = head.epoch;
        d->bestEpoch = head.bestEpoch;
        d->bestLoss = head.bestLoss;
    }
    free(all);
    fclose(file);
}

// Enough steps to learn from few poses, which are soon known by heart, not more passes than needed over many.
static int AutoEpochs(jnNetworkKind kind, int poses, int steps)
{
    const jnaTrainTraits* t = &jnaTrainTraitsOf[kind];
    int total = t->stepsPerPose * poses;
    total = total < t->leastSteps ? t->leastSteps : total > t->mostSteps ? t->mostSteps : total;
    int wanted = total / steps;
    return wanted < t->leastEpochs ? t->leastEpochs : wanted > t->mostEpochs ? t->mostEpochs : wanted;
}

static jnResult MakeDescent(const jnaProblem* p, const jnaTrainDef* def, Descent* d, jnError* error)
{
    *d = (Descent){.problem = p, .def = def, .bestLoss = HUGE_VAL};
    d->chunks = p->batch / p->chunk;
    d->threads = def->threads > 0 ? def->threads : omp_get_max_threads();
    d->threads = d->threads < d->chunks ? d->threads : d->chunks;
    d->stepsPerEpoch = (p->trainCount + p->batch - 1) / p->batch;
    d->epochs = def->epochs > 0 ? def->epochs : AutoEpochs(def->kind, p->trainCount, d->stepsPerEpoch);
    d->patience = def->patience > 0 ? def->patience : d->epochs / 4 + 1;
    d->count = jnaNetShape_ParameterCount(&p->shape);
    int64_t count = (int64_t)d->count;
    d->parameters = jnaArena_Take(&d->arena, count, sizeof(float));
    d->first = jnaArena_Take(&d->arena, count, sizeof(float));
    d->second = jnaArena_Take(&d->arena, count, sizeof(float));
    d->gradients = jnaArena_Take(&d->arena, count * d->chunks, sizeof(float));
    d->losses = jnaArena_Take(&d->arena, p->trainCount + p->heldCount, sizeof(double));
    d->order = jnaArena_Take(&d->arena, p->trainCount, sizeof(int));
    d->workers = jnaArena_Take(&d->arena, d->threads, sizeof(jnaWorker*));
    d->best = calloc(d->count, sizeof(float));
    jnResult result = jn_ok;
    if (d->arena.failed || d->best == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %zu parameters", d->count));
    }
    for (int i = 0; i < d->threads; ++i) {
        JN_TRY(jnaCreateWorker(&p->shape, p->chunk, &d->workers[i], error));
    }
    jnaProblem_Initialise(p, def->seed, d->parameters);
    d->key = FindKey(d);
    LoadCheckpoint(d);
done:
    return result;
}

static void FreeDescent(Descent* d)
{
    for (int i = 0; d->workers != NULL && i < d->threads; ++i) {
        jnaDestroyWorker(d->workers[i]);
    }
    free(d->best);
    jnaReleaseArena(&d->arena);
}

static bool Tell(const Descent* d, int firstEpoch)
{
    jnaProgress progress = {.done = d->epoch, .total = d->epochs, .solved = d->epoch - firstEpoch};
    snprintf(progress.detail, sizeof(progress.detail), "epoch %d of %d, loss %.2f mm, validation %.2f mm (best %.2f)",
        d->epoch, d->epochs, 1000 * sqrt(d->trainLoss), 1000 * sqrt(d->heldLoss), 1000 * sqrt(d->bestLoss));
    return jnaWatch_Count(&d->def->watch, &progress);
}

static jnResult Descend(Descent* d, jnError* error)
{
    jnResult result = jn_ok;
    double saved = jnaWallClock();
    int firstEpoch = d->epoch;
    while (d->epoch < d->epochs && d->epoch - d->bestEpoch < d->patience) {
        TrainEpoch(d);
        d->epoch++;
        Validate(d);
        if (d->failed || !isfinite(d->heldLoss)) {
            return jnFail(error, jn_badData, "training went wrong in epoch %d%s", d->epoch,
                d->failed ? ": oneDNN refused a layer" : ": the loss is not a number; try a lower learning rate");
        }
        if (d->heldLoss < d->bestLoss) {
            d->bestLoss = d->heldLoss;
            d->bestEpoch = d->epoch;
            memcpy(d->best, d->parameters, d->count * sizeof(float));
        }
        bool goesOn = Tell(d, firstEpoch);
        if (d->def->checkpoint != NULL && (!goesOn || jnaWallClock() - saved >= d->def->checkpointSeconds)) {
            JN_TRY(SaveCheckpoint(d, error));
            saved = jnaWallClock();
        }
        if (!goesOn) {
            JN_TRY(jnFail(error, jn_cancelled, "training was ended after epoch %d of %d%s", d->epoch, d->epochs,
                d->def->checkpoint != NULL ? "; the same command resumes it" : ""));
        }
    }
done:
    return result;
}

jnResult jnaTrainNetwork(const jnaCharacter* character, const jnaPairs* pairs, const jnaTrainDef* def,
    jnaNetwork* network, jnaNotes* notes, jnError* error)
{
    jnaProblem problem;
    Descent d = {0};
    if (!(jnaTrainTraitsOf[def->kind].learningRate > 0) || def->layers < 1 || def->layers >= JNA_MAX_DENSE ||
        def->hidden < 1 || def->shared < 0 || def->components < 1 || !(def->locality > 0.0 && def->locality <= 1.0) ||
        def->components >= JNA_MOST_COMPONENTS || (def->mapSize != 64 && def->mapSize != 128 && def->mapSize != 256)) {
        return jnFail(error, jn_badArgument, "a network of that shape cannot be trained");
    }
    jnResult result = jn_ok;
    JN_TRY(jnaCreateProblem(character, pairs, def, &problem, network, notes, error));
    JN_TRY(MakeDescent(&problem, def, &d, error));
    JN_TRY(Descend(&d, error));
    network->parameterCount = d.count;
    network->parameters = d.best;
    d.best = NULL;
    network->skinning = pairs->asset->skinning;
    network->validation = sqrt(d.bestLoss);
    network->epochs = d.epoch;
    network->bestEpoch = d.bestEpoch;
done:
    if (result != jn_ok) {
        jnaDestroyNetwork(network);
    }
    FreeDescent(&d);
    jnaDestroyProblem(&problem);
    return result;
}

void jnaDestroyNetwork(jnaNetwork* network)
{
    free(network->inputs);
    free(network->centres);
    free(network->halves);
    free(network->parameters);
    free(network->basis);
    free(network->lookupStarts);
    free(network->lookups);
    *network = (jnaNetwork){0};
}
