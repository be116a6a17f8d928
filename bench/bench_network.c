// jounce-bench network: inference against reading its weights, the step against skinning, learning against data, and
// training times for a peer.
#include "asset/asset_writer.h"
#include "base/clock.h"
#include "base/npy.h"
#include "base/try.h"
#include "bench.h"
#include "character/figure.h"
#include "cli.h"
#include "helpers/network_scene.h"
#include "jounce/jounce.h"
#include "learn/train.h"
#include "measure.h"

#include "runtime/character_internal.h"

#include <stdio.h>
#include <sys/stat.h>

enum { POSES = 260, HELD = 60, RINGS = 223, SEGMENTS = 60, JOINTS = 31 };

// One character that plays with a network, or without.
typedef struct Scene {
    void* bytes;
    jnAsset* asset;
    jnCharacter* character;
    const float* rotations; // [POSES][jointCount][4]
    float *positions, *normals;
    int frame;
    uint64_t sum;
    char* copies; // of the network's section, more than any cache holds; taken in turn
    int copyCount, copy;
} Scene;

static jnPose NextPose(Scene* s)
{
    s->frame = (s->frame + 1) % POSES;
    return (jnPose){.rotations = s->rotations + (size_t)s->frame * 4 * (size_t)s->asset->jointCount};
}

static void RunSkin(void* user)
{
    Scene* s = user;
    jnSkinBlocks(s->character, 0, s->asset->blockCount, s->character->field, 0);
}

// From a pose to displaced vertices, skinning included.
static void RunInference(void* user)
{
    Scene* s = user;
    jnCharacter* c = s->character;
    jnUsePose(c, &(jnPose){.rotations = s->rotations}, true);
    jnSkinBlocks(c, 0, c->asset->blockCount, c->field, 0);
}

// All bytes of the network once, through registers.
static void Read(Scene* s, const void* from)
{
    const uint64_t* words = from;
    size_t count = s->asset->networkByteCount / sizeof(uint64_t);
    uint64_t sums[8] = {0};
    for (size_t i = 0; i + 8 <= count; i += 8) {
        for (size_t k = 0; k < 8; ++k) {
            sums[k] += words[i + k];
        }
    }
    for (size_t k = 0; k < 8; ++k) {
        s->sum += sums[k];
    }
}

static void RunRead(void* user)
{
    Scene* s = user;
    Read(s, s->character->network.head);
}

static const void* NextCopy(Scene* s)
{
    s->copy = (s->copy + 1) % s->copyCount;
    return s->copies + (size_t)s->copy * jnAlignUp(s->asset->networkByteCount);
}

static void RunReadMemory(void* user)
{
    Read(user, NextCopy(user));
}

static void RunInferenceMemory(void* user)
{
    Scene* s = user;
    const void* copy = NextCopy(s);
    jnPlaceNetwork(copy, copy, s->asset->vertexCount, &s->character->network);
    RunInference(s);
}

static bool MakeCopies(Scene* s)
{
    enum { BYTES = 192 << 20 };
    size_t size = jnAlignUp(s->asset->networkByteCount);
    s->copyCount = (int)(BYTES / size) + 1;
    s->copies = aligned_alloc(JN_ALIGNMENT, size * (size_t)s->copyCount);
    for (int i = 0; s->copies != NULL && i < s->copyCount; ++i) {
        memcpy(s->copies + (size_t)i * size, s->character->network.head, s->asset->networkByteCount);
    }
    return s->copies != NULL;
}

static void RunStep(void* user)
{
    Scene* s = user;
    jnCharacterInput input = {.h = 1.0f / 60.0f, .pose = NextPose(s)};
    jnCharacter_Step(s->character, &input, &(jnCharacterOutput){.positions = s->positions, .normals = s->normals});
}

static jnResult MakeScene(const jnbShapes* shapes, const jnaNetwork* network, Scene* s, jnError* error)
{
    size_t size, count = (size_t)shapes->character.vertexCount, files = (size_t)shapes->character.fileVertexCount;
    float* springs = malloc(2 * count * sizeof(float));
    s->positions = malloc(3 * files * sizeof(float));
    s->normals = malloc(3 * files * sizeof(float));
    s->rotations = shapes->rotations;
    if (springs == NULL || s->positions == NULL || s->normals == NULL) {
        free(springs);
        return jnFail(error, jn_outOfMemory, "no memory for the benchmark");
    }
    for (size_t v = 0; v < count; ++v) {
        springs[v] = 600.0f;
        springs[count + v] = 10.0f;
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &shapes->character;
    def.stiffness = springs;
    def.damping = springs + count;
    def.network = network;
    jnResult result = jnaEncodeAsset(&def, &s->bytes, &size, error);
    free(springs);
    if (result == jn_ok) {
        result = jnLoadAsset(&(jnAssetDef){.bytes = s->bytes, .size = size}, &s->asset, error);
    }
    if (result == jn_ok) {
        jnCharacterDef character = jnDefaultCharacterDef(s->asset);
        result = jnCreateCharacter(&character, &s->character, error);
    }
    if (result == jn_ok) {
        RunStep(s); // a pose at hand
    }
    return result;
}

static void FreeScene(Scene* s)
{
    jnDestroyCharacter(s->character);
    jnDestroyAsset(s->asset);
    free(s->bytes);
    free(s->copies);
    free(s->positions);
    free(s->normals);
    *s = (Scene){0};
}

static void PrintRow(const jnbContender* c, const jnbContender* limit, const char* goal)
{
    printf("  %-46s %9.1f %9.1f %8.2fx %s\n", c->name, c->min * 1e6, c->median * 1e6, c->min / limit->min, goal);
}

static void RaceInference(Scene scenes[3], double seconds)
{
    enum { SKIN, READ_MEMORY, PCA_MEMORY, READ, PCA, PLAIN, WITH_PCA, READ_CNN, CNN, WITH_CNN, COUNT };
    static jnbContender race[COUNT];
    const jnbContender contenders[COUNT] = {{.name = "linear-blend skinning", .run = RunSkin, .user = &scenes[0]},
        {.name = "reading the bytes of the pca from memory", .run = RunReadMemory, .user = &scenes[1]},
        {.name = "pca inference, weights from memory", .run = RunInferenceMemory, .user = &scenes[1]},
        {.name = "reading the bytes of the pca from the cache", .run = RunRead, .user = &scenes[1]},
        {.name = "pca inference, weights in the cache", .run = RunInference, .user = &scenes[1]},
        {.name = "whole step without network", .run = RunStep, .user = &scenes[0]},
        {.name = "whole step with pca, pose to normals", .run = RunStep, .user = &scenes[1]},
        {.name = "reading the bytes of the cnn", .run = RunRead, .user = &scenes[2]},
        {.name = "cnn inference", .run = RunInference, .user = &scenes[2]},
        {.name = "whole step with cnn", .run = RunStep, .user = &scenes[2]}};
    memcpy(race, contenders, sizeof(contenders));
    jnbRace(race, COUNT, seconds);
    printf("                                                    min us median us    ratio\n");
    PrintRow(&race[SKIN], &race[SKIN], "skinning");
    PrintRow(&race[READ_MEMORY], &race[READ_MEMORY], "reading");
    PrintRow(&race[PCA_MEMORY], &race[READ_MEMORY], "reading, goal 2");
    PrintRow(&race[READ], &race[READ], "reading");
    PrintRow(&race[PCA], &race[READ], "reading");
    PrintRow(&race[PLAIN], &race[SKIN], "skinning");
    PrintRow(&race[WITH_PCA], &race[SKIN], "skinning, goal 8");
    PrintRow(&race[CNN], &race[READ_CNN], "reading");
    PrintRow(&race[WITH_CNN], &race[SKIN], "skinning");
}

// Networks of a body of 13,380 vertices, trained shortly: their cost does not depend on how good they are.
static jnResult BenchInference(double seconds, jnError* error)
{
    jnbShapes shapes = {0};
    jnaNetwork networks[2] = {{0}, {0}};
    Scene scenes[3] = {{0}, {0}, {0}};
    jnResult result = jn_ok;
    JN_TRY(jnbCreateUvTube(RINGS, SEGMENTS, JOINTS, &shapes.character, error));
    JN_TRY(jnbFillShapes(&shapes, POSES, HELD, 3, error));
    for (int i = 0; i < 2; ++i) {
        jnaTrainDef def = jnaDefaultTrainDef(i == 0 ? jn_networkPca : jn_networkCnn);
        def.epochs = i == 0 ? 20 : 1;
        JN_TRY(jnaTrainNetwork(&shapes.character, &shapes.pairs, &def, &networks[i], NULL, error));
    }
    for (int i = 0; i < 3; ++i) {
        JN_TRY(MakeScene(&shapes, i > 0 ? &networks[i - 1] : NULL, &scenes[i], error));
    }
    if (!MakeCopies(&scenes[1])) {
        JN_TRY(jnFail(error, jn_outOfMemory, "no memory for the benchmark"));
    }
    const jnNetworkHead* head = scenes[1].character->network.head;
    printf("tube of %d vertices, %d joints, %.1f influences a vertex; pca: %d inputs, %d components, %zu "
           "bytes; cnn: map of %d, %zu bytes\n",
        shapes.character.vertexCount, JOINTS,
        (double)scenes[0].asset->influenceStarts[scenes[0].asset->blockCount] / scenes[0].asset->blockCount,
        head->inputCount, head->componentCount, scenes[1].asset->networkByteCount,
        networks[1].firstSize << networks[1].stageCount, scenes[2].asset->networkByteCount);
    RaceInference(scenes, seconds);
done:
    for (int i = 0; i < 3; ++i) {
        FreeScene(&scenes[i]);
    }
    jnaDestroyNetwork(&networks[0]);
    jnaDestroyNetwork(&networks[1]);
    jnbDestroyShapes(&shapes);
    return result;
}

enum { VALIDATION = 200 }; // poses held out

static jnResult BenchCount(int count, jnError* error)
{
    jnbShapes shapes = {0};
    jnaNetwork network = {0};
    jnaNetworkReport r;
    jnResult result = jn_ok;
    JN_TRY(jnaCreateFigure(&shapes.character, error));
    JN_TRY(jnbFillShapes(&shapes, count + VALIDATION, VALIDATION, 7, error));
    jnaTrainDef def = jnaDefaultTrainDef(jn_networkPca);
    double start = jnaWallClock();
    JN_TRY(jnaTrainNetwork(&shapes.character, &shapes.pairs, &def, &network, NULL, error));
    double time = jnaWallClock() - start;
    JN_TRY(jnaEvaluateNetwork(&network, &shapes.pairs, NULL, &r, error));
    printf("  pca      %5d      %7.3f mm     %7.3f mm  %7.3f  %7.3f  %5.2f %%  %6.1f s%s\n", count,
        1e3 * r.skinnedRandom.rms, 1e3 * r.networkRandom.rms, 1e3 * r.networkRandom.median,
        1e3 * r.networkRandom.percentile95, 100 * r.networkRandom.rms / r.skinnedRandom.rms, time,
        count == 2000 ? "  goal 2 %" : "");
    fflush(stdout);
done:
    jnaDestroyNetwork(&network);
    jnbDestroyShapes(&shapes);
    return result;
}

// The figure, displaced by a known function of the pose: how the error on poses held out falls with the data.
static jnResult BenchData(int most, jnError* error)
{
    printf("\nthe figure, displaced by a known smooth function of the pose; %d poses held out\n"
           "  network  poses    skinned rms    network rms   median     95 %%    share   training\n",
        VALIDATION);
    for (int count = most / 16; count <= most; count *= 4) {
        JN_PASS(BenchCount(count, error));
    }
    return jn_ok;
}

// Arrays of a training problem for a peer, NAME.npy in the folder.
typedef struct Kept {
    const char* folder;
    const char* kind;
    jnError* error;
    jnResult result;
} Kept;

static void Keep(Kept* k, const char* name, jnaScalar scalar, size_t rows, size_t columns, const void* data)
{
    char path[4096];
    const size_t shape[2] = {rows, columns};
    snprintf(path, sizeof(path), "%s/%s_%s.npy", k->folder, k->kind, name);
    if (k->result == jn_ok && data != NULL) {
        k->result = jnaWriteArray(path, scalar, 2, shape, data, k->error);
    }
}

static jnResult KeepProblem(
    const char* folder, const jnaProblem* p, const jnaTrainDef* def, const double facts[6], jnError* error)
{
    Kept k = {.folder = folder, .kind = def->kind == jn_networkPca ? "pca" : "cnn", .error = error};
    size_t pairs = (size_t)p->pairs->count, size = 3 * (size_t)p->pairs->vertexCount;
    Keep(&k, "inputs", jna_float32, pairs, (size_t)p->inputCount, p->inputs);
    Keep(&k, "train", jna_int32, 1, (size_t)p->trainCount, p->train);
    Keep(&k, "held", jna_int32, 1, (size_t)p->heldCount, p->held);
    Keep(&k, "mask", jna_uint8, 1, jnaNetShape_ParameterCount(&p->shape), p->mask);
    Keep(&k, "sizes", jna_int32, 1, (size_t)p->shape.layerCount + 1, p->shape.sizes);
    Keep(&k, "facts", jna_float64, 1, 6, facts);
    if (def->kind == jn_networkPca) {
        size_t outputs = (size_t)p->shape.sizes[p->shape.layerCount];
        Keep(&k, "targets", jna_float32, pairs, outputs, p->targets);
        Keep(&k, "squares", jna_float64, 1, outputs, p->squares);
        Keep(&k, "residuals", jna_float64, 1, pairs, p->residuals);
    } else {
        Keep(&k, "channels", jna_int32, 1, (size_t)p->shape.stageCount + 1, p->shape.channels);
        Keep(&k, "displacements", jna_float32, pairs, size, p->pairs->displacements);
        Keep(&k, "lookup_starts", jna_int32, 1, size / 3 + 1, p->map.lookupStarts);
        Keep(&k, "lookups", jna_float32, (size_t)p->map.lookupCount, 2, p->map.lookups);
        size_t texels = (size_t)p->map.size * (size_t)p->map.size;
        Keep(&k, "texels", jna_int32, texels, 3, p->map.vertices);
        Keep(&k, "shares", jna_float32, texels, 3, p->map.shares);
    }
    return k.result;
}

static jnResult TrainOne(const jnbShapes* shapes, jnNetworkKind kind, const char* keep, jnError* error)
{
    jnaTrainDef def = jnaDefaultTrainDef(kind);
    def.epochs = kind == jn_networkPca ? 100 : 6;
    def.patience = def.epochs;
    def.mapSize = 64;
    def.threads = 2;
    def.locality = 1; // the peer knows nothing of it; it costs nothing
    jnaNetwork network;
    jnaProblem problem;
    double start = jnaWallClock();
    JN_PASS(jnaTrainNetwork(&shapes->character, &shapes->pairs, &def, &network, NULL, error));
    double seconds = jnaWallClock() - start, validation = network.validation;
    printf("  %s: %d epochs in %.2f s, validation %.4f mm\n", kind == jn_networkPca ? "pca" : "cnn", network.epochs,
        seconds, 1e3 * validation);
    jnaDestroyNetwork(&network);
    jnResult result = jnaCreateProblem(&shapes->character, &shapes->pairs, &def, &problem, &network, NULL, error);
    if (result == jn_ok && keep != NULL) {
        const double facts[6] = {seconds, validation, def.epochs, def.learningRate, def.decay, (double)problem.unit};
        result = KeepProblem(keep, &problem, &def, facts, error);
    }
    jnaDestroyProblem(&problem);
    jnaDestroyNetwork(&network);
    return result;
}

// Training of both networks, and all that a peer needs to do the same.
static jnResult BenchTraining(const char* keep, jnError* error)
{
    jnbShapes shapes = {0};
    jnResult result = jn_ok;
    JN_TRY(jnbCreateUvTube(40, 24, 12, &shapes.character, error));
    JN_TRY(jnbFillShapes(&shapes, 700, 100, 5, error));
    printf("\ntraining on 600 poses of %d vertices, 2 threads\n", shapes.character.vertexCount);
    JN_TRY(TrainOne(&shapes, jn_networkPca, keep, error));
    JN_TRY(TrainOne(&shapes, jn_networkCnn, keep, error));
done:
    jnbDestroyShapes(&shapes);
    return result;
}

int jnbBenchNetwork(double seconds, int poses, const char* keep)
{
    jnError error = {0};
    jnResult result = jn_ok;
    JN_TRY(keep != NULL ? jncMakeFolder(keep, &error) : jn_ok);
    JN_TRY(BenchInference(seconds, &error));
    JN_TRY(BenchTraining(keep, &error));
    JN_TRY(poses > 0 ? BenchData(poses, &error) : jn_ok);
done:
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
