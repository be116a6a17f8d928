// What is trained: the inputs chosen from the poses, the targets, the loss in square metres.
//
// pca: outputs are coefficients over their greatest size in training. The basis is orthonormal, so that an output off
// by e moves the rest surface by a mean square of (size e)^2 / vertices; what the skin makes of that is its square
// times the mean stretch of the skin there, |A_v|^2 / 3: the loss is the shown surface's own. Components are in the
// order of what they do in training, the largest first. cnn: the map is looked up at every vertex, and that is
// compared; texels between vertices, which no vertex sees, are held to the rasterised map by a small share of the loss.
//
// Flesh at a joint minds that joint and its neighbours, so most hidden units see only those: one group of units for
// each joint that moves, connected to the joint and its parent, and within itself; one group sees everything. Their sum
// is what few poses can teach: a full layer needs many times as many to find out the same.
#include "learn/train.h"

#include "base/matrices.h"
#include "base/try.h"
#include "learn/pca.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A number of the pose that varies by less does not count as moving; a half range is not taken smaller.
#define LEAST_RANGE 2e-3f
#define LEAST_HALF 0.02f
#define TEXEL_SHARE 0.1
enum { PCA_CHUNK = 16, PCA_BATCH = 64, CNN_CHUNK = 4, CNN_BATCH = 16, FIRST_SIZE = 8 };

static jnResult Split(const jnaPairs* pairs, jnaProblem* p, jnError* error)
{
    p->train = jnaArena_Take(&p->arena, pairs->count, sizeof(int));
    p->held = jnaArena_Take(&p->arena, pairs->count, sizeof(int));
    for (int i = 0; !p->arena.failed && i < pairs->count; ++i) {
        if (pairs->uses[i] == jna_pairTrain) {
            p->train[p->trainCount++] = i;
        } else if (pairs->uses[i] == jna_pairValidation) {
            p->held[p->heldCount++] = i;
        }
    }
    return jnaArena_Check(&p->arena, "the poses to learn from", error);
}

// Inputs are the numbers of joints that move in training, with their ranges there.
static jnResult ChooseInputs(const jnaPairs* pairs, const jnaProblem* p, jnaNetwork* network, jnError* error)
{
    int numbers = 6 * pairs->jointCount;
    jnaArena arena = {0};
    network->inputs = jnaArena_Give(&arena, numbers, sizeof(int32_t));
    network->centres = jnaArena_Give(&arena, numbers, sizeof(float));
    network->halves = jnaArena_Give(&arena, numbers, sizeof(float));
    JN_PASS(jnaArena_Check(&arena, "the inputs", error));
    for (int k = 0; k < numbers; ++k) {
        float low = HUGE_VALF, high = -HUGE_VALF;
        for (int i = 0; i < p->trainCount; ++i) {
            float x = pairs->numbers[(size_t)p->train[i] * (size_t)numbers + (size_t)k];
            low = fminf(low, x);
            high = fmaxf(high, x);
        }
        if (pairs->moves[k / 6] != 0 && high - low > LEAST_RANGE) {
            int at = network->inputCount++;
            network->inputs[at] = k;
            network->centres[at] = 0.5f * (low + high);
            network->halves[at] = fmaxf(0.5f * (high - low), LEAST_HALF);
        }
    }
    return network->inputCount > 0
               ? jn_ok
               : jnFail(error, jn_badData, "no joint moves in the poses, so there is nothing to learn from");
}

void jnaNetwork_Inputs(const jnaNetwork* network, const jnaPairs* pairs, int pair, float* out)
{
    const float* numbers = pairs->numbers + (size_t)pair * 6 * (size_t)pairs->jointCount;
    for (int i = 0; i < network->inputCount; ++i) {
        float scale = 1.0f / network->halves[i];
        out[i] = jnSoftLimit((numbers[network->inputs[i]] - network->centres[i]) * scale);
    }
}

// Squares of lengths that the skin of a pair makes of those at rest, on average over directions. out: [vertices]
static void FindStretches(const jnaPairs* pairs, int pair, float* out)
{
    for (int v = 0; v < pairs->vertexCount; ++v) {
        float frame[9], square = 0.0f;
        jnaPairs_Frame(pairs, pair, v, frame);
        for (int i = 0; i < 9; ++i) {
            square += frame[i] * frame[i];
        }
        out[v] = square / 3.0f;
    }
}

static double MeanSquare(const jnaPairs* pairs, const jnaProblem* p)
{
    size_t size = 3 * (size_t)pairs->vertexCount;
    double total = 0.0;
    for (int i = 0; i < p->trainCount; ++i) {
        const float* row = pairs->displacements + (size_t)p->train[i] * size;
        double sum = 0.0;
        for (size_t k = 0; k < size; ++k) {
            sum += (double)row[k] * (double)row[k];
        }
        total += sum;
    }
    return total / p->trainCount / pairs->vertexCount;
}

// What components leave out of a pair, mean square metres as the skin shows it.
static double FindResidual(const jnaPairs* pairs, const jnaPca* pca, int pair, const double* c, float* left)
{
    size_t size = 3 * (size_t)pairs->vertexCount;
    const float* row = pairs->displacements + (size_t)pair * size;
    double sum = 0.0;
    for (size_t i = 0; i < size; ++i) {
        left[i] = row[i] - pca->mean[i];
    }
    for (int k = 0; k < pca->count; ++k) {
        const float* basis = pca->basis + (size_t)k * size;
        float own = (float)c[k];
        for (size_t i = 0; i < size; ++i) {
            left[i] -= own * basis[i];
        }
    }
    for (int v = 0; v < pairs->vertexCount; ++v) {
        float frame[9];
        const float* d = left + 3 * (size_t)v;
        jnaPairs_Frame(pairs, pair, v, frame);
        for (int i = 0; i < 3; ++i) {
            float off = frame[3 * i] * d[0] + frame[3 * i + 1] * d[1] + frame[3 * i + 2] * d[2];
            sum += (double)(off * off);
        }
    }
    return sum / pairs->vertexCount + (double)pairs->lost[pair];
}

// Coefficients of every pair, and what they leave out. [pairs][count], [pairs]. False if memory is short.
static bool ProjectAll(const jnaPairs* pairs, const jnaPca* pca, double* coefficients, double* residuals)
{
    size_t size = 3 * (size_t)pairs->vertexCount, count = (size_t)pca->count;
    bool good = true;
#pragma omp parallel reduction(&& : good)
    {
        float* left = malloc(size * sizeof(float));
        good = left != NULL;
#pragma omp for schedule(static)
        for (int i = 0; i < pairs->count; ++i) {
            double* c = coefficients + (size_t)i * count;
            jnaPca_Project(pca, size, pairs->displacements + (size_t)i * size, c);
            residuals[i] = left != NULL ? FindResidual(pairs, pca, i, c, left) : 0.0;
        }
        free(left);
    }
    return good;
}

// Mean square metres of every component in every pair, per unit of its coefficient squared: [pairs][count]. False if
// memory is short.
static bool WeighComponents(const jnaPairs* pairs, const jnaPca* pca, float* squares)
{
    enum { GROUP = 64 };
    size_t vertices = (size_t)pairs->vertexCount, count = (size_t)pca->count;
    float* shapes = malloc(count * vertices * sizeof(float));
    float* stretches = malloc(GROUP * vertices * sizeof(float));
    bool good = shapes != NULL && stretches != NULL;
    for (size_t i = 0; good && i < count * vertices; ++i) {
        const float* b = pca->basis + 3 * i;
        shapes[i] = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    }
    for (int first = 0; good && first < pairs->count; first += GROUP) {
        int some = pairs->count - first < GROUP ? pairs->count - first : GROUP;
#pragma omp parallel for schedule(static)
        for (int i = 0; i < some; ++i) {
            FindStretches(pairs, first + i, stretches + (size_t)i * vertices);
        }
        good =
            jnaMultiplyFloats(1.0f / (float)vertices, (jnaFloats){stretches, some, (int)vertices, (int)vertices, false},
                (jnaFloats){shapes, (int)vertices, pca->count, (int)vertices, true}, squares + (size_t)first * count,
                pca->count);
    }
    free(shapes);
    free(stretches);
    return good;
}

// The components that do most first.
static void SortComponents(jnaPca* pca, size_t size)
{
    for (int k = 0; k < pca->count; ++k) {
        int best = k;
        for (int other = k + 1; other < pca->count; ++other) {
            best = pca->spread[other] > pca->spread[best] ? other : best;
        }
        double spread = pca->spread[k];
        pca->spread[k] = pca->spread[best];
        pca->spread[best] = spread;
        float *a = pca->basis + (size_t)k * size, *b = pca->basis + (size_t)best * size;
        for (size_t i = 0; best != k && i < size; ++i) {
            float value = a[i];
            a[i] = b[i];
            b[i] = value;
        }
    }
}

static void ScaleTargets(jnaProblem* p, const jnaPca* pca, const double* coefficients, jnaNetwork* network)
{
    size_t size = 3 * (size_t)p->pairs->vertexCount, count = (size_t)pca->count;
    memcpy(network->basis, pca->mean, size * sizeof(float));
    for (size_t k = 0; k < count; ++k) {
        double limit = 1e-12;
        for (int i = 0; i < p->trainCount; ++i) {
            limit = fmax(limit, fabs(coefficients[(size_t)p->train[i] * count + k]));
        }
        for (int i = 0; i < p->pairs->count; ++i) {
            p->squares[(size_t)i * count + k] *= (float)(limit * limit);
            p->targets[(size_t)i * count + k] = (float)(coefficients[(size_t)i * count + k] / limit);
        }
        float* to = network->basis + (k + 1) * size;
        for (size_t i = 0; i < size; ++i) {
            to[i] = (float)(limit * (double)pca->basis[k * size + i]);
        }
    }
    for (int i = 0; i < p->trainCount; ++i) {
        double square = 1.0;
        for (size_t k = 0; k < count; ++k) {
            double y = (double)p->targets[(size_t)p->train[i] * count + k];
            square += y * y;
        }
        network->energy = fmax(network->energy, sqrt(square));
    }
}

// Joints that have inputs, in order; how many. joints: [jointCount] or NULL
static int ListGroups(const jnaNetwork* n, int* joints)
{
    int count = 0;
    for (int i = 0; i < n->inputCount; ++i) {
        if (i == 0 || n->inputs[i] / 6 != n->inputs[i - 1] / 6) {
            if (joints != NULL) {
                joints[count] = n->inputs[i] / 6;
            }
            count++;
        }
    }
    return count;
}

static int HiddenUnits(const jnaNetwork* n, const jnaTrainDef* def)
{
    return ListGroups(n, NULL) * def->hidden + def->shared;
}

// Whether the group of a joint sees another one: itself and its parent.
static bool Sees(const jnAsset* asset, int joint, int other)
{
    return joint == other || asset->joints[joint].parent == other;
}

// Weights from `in` to `out`, groups of units: each sees itself, the last one all of them.
static void MaskHidden(uint8_t* mask, int in, int out, int units, int shared)
{
    for (int i = 0; i < in; ++i) {
        for (int o = 0; o < out; ++o) {
            bool global = o >= out - shared;
            mask[(size_t)i * (size_t)out + (size_t)o] =
                global ? JNA_SHARED_WEIGHT : i < in - shared && i / units == o / units;
        }
    }
}

static void MaskInputs(
    const jnaProblem* p, const jnaNetwork* n, const int* joints, const jnaTrainDef* def, uint8_t* mask)
{
    int out = n->sizes[1];
    for (int i = 0; i < n->inputCount; ++i) {
        for (int o = 0; o < out; ++o) {
            mask[(size_t)i * (size_t)out + (size_t)o] =
                o >= out - def->shared ? JNA_SHARED_WEIGHT
                                       : Sees(p->pairs->asset, joints[o / def->hidden], n->inputs[i] / 6);
        }
    }
}

// joints: [groups], as by ListGroups
static void MakeMask(jnaProblem* p, const jnaNetwork* n, const jnaTrainDef* def, const int* joints)
{
    memset(p->mask, 1, jnaNetShape_ParameterCount(&p->shape));
    int hidden = n->kind == jn_networkPca ? def->layers : 1;
    for (int i = 0; i < hidden; ++i) {
        size_t weights, biases, at = jnaNetShape_Offset(&p->shape, i, &weights, &biases);
        if (i == 0) {
            MaskInputs(p, n, joints, def, p->mask + at);
        } else {
            MaskHidden(p->mask + at, n->sizes[i], n->sizes[i + 1], def->hidden, def->shared);
        }
    }
}

// Joints between two, along the skeleton, as what is left of `locality` to their power. matter: [joints][joints]
static void FillMatter(const jnAsset* asset, double locality, double* matter)
{
    size_t count = (size_t)asset->jointCount;
    for (size_t a = 0; a < count; ++a) {
        for (size_t b = 0; b <= a; ++b) {
            int parent = asset->joints[a].parent;
            // Parents come first: the way from a, the later one, to b leads over a's parent.
            double value = a == b ? 1.0 : parent >= 0 ? locality * matter[(size_t)parent * count + b] : 0.0;
            matter[a * count + b] = matter[b * count + a] = value;
        }
    }
}

// What share of a component's motion the skin of each joint has. shares: [joints]
static void FillShares(const jnaCharacter* c, const float* field, double* shares)
{
    double sum = 1e-30;
    memset(shares, 0, sizeof(double) * (size_t)c->jointCount);
    for (int v = 0; v < c->vertexCount; ++v) {
        const float* d = field + 3 * (size_t)v;
        double square = (double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            shares[c->influences[v].joints[k]] += square * (double)c->influences[v].weights[k];
        }
        sum += square;
    }
    for (int j = 0; j < c->jointCount; ++j) {
        shares[j] /= sum;
    }
}

// How far weights of the last layer of a pca may go: less from a joint's units to components far from that joint.
static void LimitReach(jnaProblem* p, const jnaCharacter* c, const jnaNetwork* n, const jnaTrainDef* def,
    const int* joints, double* matter, double* shares)
{
    size_t weights, biases, at = jnaNetShape_Offset(&p->shape, def->layers, &weights, &biases);
    size_t count = (size_t)n->jointCount, units = weights / biases, grouped = units - (size_t)def->shared;
    FillMatter(p->pairs->asset, def->locality, matter);
    for (size_t k = 0; k < biases; ++k) {
        FillShares(c, n->basis + (k + 1) * 3 * (size_t)n->vertexCount, shares);
        for (size_t i = 0; i < grouped; ++i) {
            size_t joint = (size_t)joints[i / (size_t)def->hidden];
            double sum = 0.0;
            for (size_t r = 0; r < count; ++r) {
                sum += shares[r] * matter[r * count + joint];
            }
            p->reach[at + i * biases + k] = (float)sqrt(sum);
        }
    }
}

static jnResult MakeWeights(
    jnaProblem* p, const jnaCharacter* c, const jnaNetwork* n, const jnaTrainDef* def, jnError* error)
{
    size_t count = jnaNetShape_ParameterCount(&p->shape);
    jnaArena arena = {0};
    jnResult result = jn_ok;
    int* groups = jnaArena_Take(&arena, n->jointCount, sizeof(int));
    double* matter = jnaArena_Take(&arena, (int64_t)n->jointCount * n->jointCount, sizeof(double));
    double* shares = jnaArena_Take(&arena, n->jointCount, sizeof(double));
    p->mask = jnaArena_Take(&p->arena, (int64_t)count, 1);
    p->reach = jnaArena_Take(&p->arena, (int64_t)count, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the network's joints", error));
    JN_TRY(jnaArena_Check(&p->arena, "the network's weights", error));
    ListGroups(n, groups);
    MakeMask(p, n, def, groups);
    for (size_t i = 0; i < count; ++i) {
        p->reach[i] = 1.0f;
    }
    if (n->kind == jn_networkPca) {
        LimitReach(p, c, n, def, groups, matter, shares);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaProblem_Initialise(const jnaProblem* p, uint64_t seed, float* parameters)
{
    jnaNetShape_Initialise(&p->shape, seed, parameters);
    for (int layer = 0; layer < p->shape.layerCount; ++layer) {
        size_t weights, biases, at = jnaNetShape_Offset(&p->shape, layer, &weights, &biases);
        size_t in = weights / biases;
        // Units with fewer inputs get larger weights.
        for (size_t o = 0; o < biases; ++o) {
            int seen = 0;
            for (size_t i = 0; i < in; ++i) {
                seen += p->mask[at + i * biases + o] != 0;
            }
            float scale = seen > 0 ? sqrtf((float)in / (float)seen) : 0.0f;
            for (size_t i = 0; i < in; ++i) {
                size_t k = at + i * biases + o;
                parameters[k] *= p->mask[k] != 0 ? scale * p->reach[k] : 0.0f;
            }
        }
    }
}

static jnResult MakePca(const jnaCharacter* character, const jnaTrainDef* def, jnaProblem* p, jnaNetwork* network,
    jnaNotes* notes, jnError* error)
{
    (void)character;
    size_t size = 3 * (size_t)p->pairs->vertexCount;
    int64_t pairs = p->pairs->count;
    jnaPcaDef components = {.rows = p->pairs->displacements,
        .which = p->train,
        .count = p->trainCount,
        .size = size,
        .most = def->components,
        .residual = def->residual};
    jnaPca pca;
    jnResult result = jn_ok;
    double* coefficients = NULL;
    JN_TRY(jnaFindComponents(&components, &pca, error));
    bool localised = jnaPca_Localise(&pca, size);
    SortComponents(&pca, size);
    if (!localised) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the components"));
    }
    coefficients = jnaArena_Give(&p->arena, pairs * pca.count, sizeof(double));
    p->targets = jnaArena_Take(&p->arena, pairs * pca.count, sizeof(float));
    p->squares = jnaArena_Take(&p->arena, pairs * pca.count, sizeof(float));
    p->residuals = jnaArena_Take(&p->arena, pairs, sizeof(double));
    network->componentCount = pca.count;
    network->basis = jnaArena_Give(&p->arena, ((int64_t)pca.count + 1) * (int64_t)size, sizeof(float));
    if (p->arena.failed || !ProjectAll(p->pairs, &pca, coefficients, p->residuals) ||
        !WeighComponents(p->pairs, &pca, p->squares)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for %d components", pca.count));
    }
    ProjectAll(p->pairs, &pca, coefficients, p->residuals);
    ScaleTargets(p, &pca, coefficients, network);
    double left = pca.total;
    for (int k = 0; k < pca.count; ++k) {
        left -= pca.spread[k];
    }
    jnaNotes_Add(notes, "%d components represent the training poses within %.3f mm", pca.count,
        1000 * sqrt(fmax(left, 0.0) / p->trainCount / p->pairs->vertexCount));
    network->layerCount = def->layers + 1;
    for (int i = 0; i < def->layers; ++i) {
        network->sizes[i + 1] = HiddenUnits(network, def);
    }
    network->sizes[def->layers + 1] = network->componentCount;
    p->chunk = PCA_CHUNK;
    p->batch = PCA_BATCH;
done:
    free(coefficients);
    jnaDestroyPca(&pca);
    return result;
}

static jnResult MakeCnn(const jnaCharacter* character, const jnaTrainDef* def, jnaProblem* p, jnaNetwork* network,
    jnaNotes* notes, jnError* error)
{
    (void)notes;
    JN_PASS(jnaCreateUvMap(character, def->mapSize, &p->map, error));
    size_t starts = ((size_t)character->vertexCount + 1) * sizeof(int32_t);
    size_t lookups = 2 * (size_t)p->map.lookupCount * sizeof(float);
    network->lookupCount = p->map.lookupCount;
    network->lookupStarts = jnaArena_Give(&p->arena, (int64_t)starts, 1);
    network->lookups = jnaArena_Give(&p->arena, (int64_t)lookups, 1);
    JN_PASS(jnaArena_Check(&p->arena, "the map", error));
    memcpy(network->lookupStarts, p->map.lookupStarts, starts);
    memcpy(network->lookups, p->map.lookups, lookups);
    p->unit = network->unit = (float)sqrt(1.0 / p->scale);
    network->firstSize = FIRST_SIZE;
    static const int channels[] = {32, 64, 32, 16, 16, 16};
    while (FIRST_SIZE << network->stageCount < def->mapSize) {
        network->channels[network->stageCount] = channels[network->stageCount];
        network->stageCount++;
    }
    network->channels[network->stageCount] = 3;
    network->layerCount = 2;
    network->sizes[1] = HiddenUnits(network, def);
    network->sizes[2] = FIRST_SIZE * FIRST_SIZE * network->channels[0];
    p->chunk = CNN_CHUNK;
    p->batch = CNN_BATCH;
    return jn_ok;
}

jnaNetShape jnaNetwork_Shape(const jnaNetwork* n)
{
    jnaNetShape shape = {.layerCount = n->layerCount, .stageCount = n->stageCount, .firstSize = n->firstSize};
    memcpy(shape.sizes, n->sizes, sizeof(shape.sizes));
    memcpy(shape.channels, n->channels, sizeof(shape.channels));
    return shape;
}

static jnResult CheckCounts(const jnaPairs* pairs, const jnaProblem* p, jnError* error)
{
    if (p->trainCount < 2 || p->heldCount < 1) {
        return jnFail(error, jn_badData,
            "%d poses to learn from and %d to validate on are too few; make more poses (some hundreds at least)",
            p->trainCount, p->heldCount);
    }
    for (int i = 0; i < pairs->count; ++i) {
        const float* row = pairs->displacements + (size_t)i * 3 * (size_t)pairs->vertexCount;
        for (int k = 0; k < 3 * pairs->vertexCount; ++k) {
            if (!isfinite(row[k])) {
                return jnFail(error, jn_badData, "pose %d has a displacement that is not finite", i);
            }
        }
    }
    return jn_ok;
}

jnResult jnaCreateProblem(const jnaCharacter* character, const jnaPairs* pairs, const jnaTrainDef* def, jnaProblem* p,
    jnaNetwork* network, jnaNotes* notes, jnError* error)
{
    *p = (jnaProblem){.kind = def->kind, .pairs = pairs};
    *network =
        (jnaNetwork){.kind = def->kind, .jointCount = pairs->jointCount, .vertexCount = pairs->vertexCount, .unit = 1};
    jnResult result = jn_ok;
    JN_TRY(Split(pairs, p, error));
    JN_TRY(CheckCounts(pairs, p, error));
    JN_TRY(ChooseInputs(pairs, p, network, error));
    p->scale = 1.0 / fmax(MeanSquare(pairs, p), 1e-16);
    p->inputCount = network->sizes[0] = network->inputCount;
    JN_TRY(jnaTrainTraitsOf[def->kind].make(character, def, p, network, notes, error));
    p->shape = jnaNetwork_Shape(network);
    JN_TRY(MakeWeights(p, character, network, def, error));
    p->inputs = jnaArena_Take(&p->arena, (int64_t)pairs->count * p->inputCount, sizeof(float));
    JN_TRY(jnaArena_Check(&p->arena, "the inputs", error));
    for (int i = 0; i < pairs->count; ++i) {
        jnaNetwork_Inputs(network, pairs, i, p->inputs + (size_t)i * (size_t)p->inputCount);
    }
done:
    return result;
}

void jnaDestroyProblem(jnaProblem* p)
{
    jnaReleaseArena(&p->arena);
    jnaDestroyUvMap(&p->map);
    *p = (jnaProblem){0};
}

static double PcaLoss(const jnaProblem* p, int pair, const float* outputs, double weight, float* gradient)
{
    int count = p->shape.sizes[p->shape.layerCount];
    const float* targets = p->targets + (size_t)pair * (size_t)count;
    const float* squares = p->squares + (size_t)pair * (size_t)count;
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
        double off = (double)outputs[k] - (double)targets[k];
        sum += (double)squares[k] * off * off;
        if (gradient != NULL) {
            gradient[k] = (float)(weight * p->scale * 2.0 * (double)squares[k] * off);
        }
    }
    return sum + p->residuals[pair];
}

// The four texels around a place and their shares.
static void Corners(const float* place, int size, size_t at[4], float share[4])
{
    int column = (int)place[0], row = (int)place[1];
    float fx = place[0] - (float)column, fy = place[1] - (float)row;
    size_t first = (size_t)row * (size_t)size + (size_t)column;
    at[0] = first, at[1] = first + 1, at[2] = first + (size_t)size, at[3] = first + (size_t)size + 1;
    share[0] = (1 - fx) * (1 - fy), share[1] = fx * (1 - fy), share[2] = (1 - fx) * fy, share[3] = fx * fy;
}

static void LookUp(
    const float* outputs, const int32_t* starts, const float* lookups, int size, int vertex, float out[3])
{
    float count = (float)(starts[vertex + 1] - starts[vertex]);
    out[0] = out[1] = out[2] = 0.0f;
    for (int l = starts[vertex]; l < starts[vertex + 1]; ++l) {
        size_t at[4];
        float share[4];
        Corners(lookups + 2 * (size_t)l, size, at, share);
        for (int i = 0; i < 4; ++i) {
            for (size_t axis = 0; axis < 3; ++axis) {
                out[axis] += share[i] / count * outputs[3 * at[i] + axis];
            }
        }
    }
}

static double CnnLoss(const jnaProblem* p, int pair, const float* outputs, double weight, float* gradient)
{
    const jnaUvMap* map = &p->map;
    int vertices = p->pairs->vertexCount, texels = map->size * map->size;
    const float* wanted = p->pairs->displacements + (size_t)pair * 3 * (size_t)vertices;
    double sum = 0.0, unit = (double)p->unit, factor = weight * p->scale * 2.0 * unit;
    if (gradient != NULL) {
        memset(gradient, 0, sizeof(float) * 3 * (size_t)texels);
    }
    for (int v = 0; v < vertices; ++v) {
        float found[3], push[3];
        LookUp(outputs, map->lookupStarts, map->lookups, map->size, v, found);
        float frame[9], off[3], shown[3];
        jnaPairs_Frame(p->pairs, pair, v, frame);
        for (int axis = 0; axis < 3; ++axis) {
            off[axis] = p->unit * found[axis] - wanted[3 * v + axis];
        }
        for (int i = 0; i < 3; ++i) {
            shown[i] = frame[3 * i] * off[0] + frame[3 * i + 1] * off[1] + frame[3 * i + 2] * off[2];
            sum += (double)(shown[i] * shown[i]);
        }
        for (int axis = 0; axis < 3; ++axis) {
            float back = frame[axis] * shown[0] + frame[3 + axis] * shown[1] + frame[6 + axis] * shown[2];
            push[axis] = (float)(factor * (double)back / vertices);
        }
        float count = (float)(map->lookupStarts[v + 1] - map->lookupStarts[v]);
        for (int l = map->lookupStarts[v]; gradient != NULL && l < map->lookupStarts[v + 1]; ++l) {
            size_t at[4];
            float share[4];
            Corners(map->lookups + 2 * (size_t)l, map->size, at, share);
            for (int i = 0; i < 12; ++i) {
                gradient[3 * at[i / 3] + (size_t)(i % 3)] += share[i / 3] / count * push[i % 3];
            }
        }
    }
    for (size_t t = 0; gradient != NULL && t < (size_t)texels; ++t) {
        const int32_t* corners = map->vertices + 3 * t;
        for (size_t axis = 0; corners[0] >= 0 && axis < 3; ++axis) {
            float shown = 0.0f;
            for (size_t i = 0; i < 3; ++i) {
                shown += map->shares[3 * t + i] * wanted[3 * (size_t)corners[i] + axis];
            }
            double off = unit * (double)outputs[3 * t + axis] - (double)shown;
            gradient[3 * t + axis] += (float)(TEXEL_SHARE * factor * off / texels);
        }
    }
    return sum / vertices + (double)p->pairs->lost[pair];
}

static void DisplacePca(const jnaNetwork* network, const float* outputs, float* out)
{
    size_t size = 3 * (size_t)network->vertexCount;
    memcpy(out, network->basis, size * sizeof(float));
    for (int k = 0; k < network->componentCount; ++k) {
        const float* basis = network->basis + (size_t)(k + 1) * size;
        float y = jnSoftLimit(outputs[k]);
        for (size_t i = 0; i < size; ++i) {
            out[i] += y * basis[i];
        }
    }
}

static void DisplaceCnn(const jnaNetwork* network, const float* outputs, float* out)
{
    int side = network->firstSize << network->stageCount;
    for (int v = 0; v < network->vertexCount; ++v) {
        LookUp(outputs, network->lookupStarts, network->lookups, side, v, out + 3 * (size_t)v);
        for (size_t axis = 0; axis < 3; ++axis) {
            out[3 * (size_t)v + axis] *= network->unit;
        }
    }
}

const jnaTrainTraits jnaTrainTraitsOf[jn_networkKindCount] = {
    [jn_networkPca] = {1e-2, 8, 2000, 12000, 100, 1500, MakePca, PcaLoss, DisplacePca},
    [jn_networkCnn] = {2e-3, 0, 6000, 6000, 30, 600, MakeCnn, CnnLoss, DisplaceCnn},
};

double jnaProblem_Loss(const jnaProblem* p, int pair, const float* outputs, double weight, float* gradient)
{
    return jnaTrainTraitsOf[p->kind].loss(p, pair, outputs, weight, gradient);
}

void jnaNetwork_Displace(const jnaNetwork* network, const float* outputs, float* out)
{
    jnaTrainTraitsOf[network->kind].displace(network, outputs, out);
}
