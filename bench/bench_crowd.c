// jounce-bench crowd: characters as morph weights, one by one and many at once, beside what their arithmetic takes at
// the peak of one core; and the whole way to a surface beside linear-blend skinning.
#include "asset/asset_writer.h"
#include "base/arena.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "helpers/network_scene.h"
#include "jounce/jounce.h"
#include "measure.h"
#include "modes/modes.h"

#include "runtime/character_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RINGS = 223, SEGMENTS = 60, INPUTS = 100, HIDDEN = 304, GROUP = 8, GROUPS = 30, OUTPUTS = 112, MODES = 64 };
enum { BATCH = 64, FRAMES = 21, MOST = 10000, FEW = 16 };

// A bump along an axis around a joint of the tube, of unit size.
static void MakeBump(const jnaCharacter* c, int joint, double reach, uint64_t* random, float scale, float* field)
{
    double axis[3] = {jnbUniform(random), jnbUniform(random), jnbUniform(random)};
    double middle = (double)-c->joints[joint].inverseBind[7];
    for (int v = 0; v < c->vertexCount; ++v) {
        double away = ((double)c->positions[3 * v + 1] - middle) / reach, size = exp(-away * away);
        for (int a = 0; a < 3; ++a) {
            field[3 * v + a] = size > 0.02 ? (float)(size * axis[a]) * scale : 0.0f;
        }
    }
}

// A network of the size and the structure of a body's, with random weights: what it shows does not matter here.
static bool MakeNetwork(const jnaCharacter* c, jnaNetwork* n)
{
    static const int sizes[4] = {INPUTS, HIDDEN, HIDDEN, OUTPUTS};
    uint64_t random = 5;
    *n = (jnaNetwork){.kind = jn_networkPca, .jointCount = c->jointCount, .vertexCount = c->vertexCount};
    n->inputCount = INPUTS;
    n->layerCount = 3;
    n->componentCount = OUTPUTS;
    n->energy = 4;
    memcpy(n->sizes, sizes, sizeof(sizes));
    n->inputs = malloc(INPUTS * sizeof(int32_t));
    n->centres = calloc(INPUTS, sizeof(float));
    n->halves = malloc(INPUTS * sizeof(float));
    n->parameterCount = (INPUTS + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * OUTPUTS;
    n->parameters = calloc(n->parameterCount, sizeof(float));
    n->basis = calloc((size_t)(OUTPUTS + 1) * 3 * (size_t)c->vertexCount, sizeof(float));
    if (n->inputs == NULL || n->centres == NULL || n->halves == NULL || n->parameters == NULL || n->basis == NULL) {
        return false;
    }
    for (int i = 0; i < INPUTS; ++i) {
        n->inputs[i] = 6 + i * 18 / 10;
        n->halves[i] = 0.5f;
    }
    float* at = n->parameters;
    for (int layer = 0; layer < 3; ++layer) {
        int in = sizes[layer], out = sizes[layer + 1];
        for (int i = 0; i < in * out; ++i) {
            int from = i / out, to = i % out, group = to / GROUP;
            bool near = layer == 0 ? from * GROUPS / INPUTS >= group - 1 && from * GROUPS / INPUTS <= group
                                   : from / GROUP == group;
            at[i] = layer == 2 || group >= GROUPS || near ? (float)(0.1 * jnbUniform(&random)) : 0.0f;
        }
        at += (in + 1) * out;
    }
    for (int k = 0; k <= OUTPUTS; ++k) {
        MakeBump(c, 1 + k * 29 / 113, 0.3, &random, k == 0 ? 0.01f : 0.004f,
            n->basis + (size_t)k * 3 * (size_t)c->vertexCount);
    }
    return true;
}

// What a joint's rotation about an axis does to pairs of modes.
static void FillSpins(const jnaCharacter* c, jnaModes* m)
{
    size_t n = (size_t)m->modeCount, width = 3 * (size_t)c->vertexCount;
    for (size_t i = 0; i < n * n; ++i) {
        const float *p = m->projections + i / n * width, *u = m->shapes + i % n * width;
        for (int v = 0; v < c->vertexCount; ++v) {
            const float *a = p + 3 * v, *b = u + 3 * v;
            if (a[0] * b[1] == 0.0f && a[1] * b[2] == 0.0f) {
                continue;
            }
            for (int k = 0; k < 4 && c->influences[v].weights[k] > 0.0f; ++k) {
                float* spins = m->spins + 3 * (size_t)c->influences[v].joints[k] * n * n + i;
                float w = c->influences[v].weights[k];
                spins[0] += w * (a[2] * b[1] - a[1] * b[2]);
                spins[n * n] += w * (a[0] * b[2] - a[2] * b[0]);
                spins[2 * n * n] += w * (a[1] * b[0] - a[0] * b[1]);
            }
        }
    }
}

static bool MakeModes(const jnaCharacter* c, jnaModes* m)
{
    uint64_t random = 9;
    size_t width = 3 * (size_t)c->vertexCount;
    if (jnaModes_Allocate(m, MODES, c->vertexCount, c->jointCount, NULL) != jn_ok) {
        return false;
    }
    for (int k = 0; k < MODES; ++k) {
        double hertz = 3 + 0.3 * k, mass = 0;
        float* shape = m->shapes + (size_t)k * width;
        MakeBump(c, 1 + k * 29 / MODES, 0.35, &random, 1.0f, shape);
        for (size_t i = 0; i < width; ++i) {
            mass += 0.001 * (double)shape[i] * (double)shape[i];
        }
        for (size_t i = 0; i < width; ++i) {
            m->projections[(size_t)k * width + i] = (float)(0.001 * (double)shape[i] / mass);
        }
        m->stiffness[k] = 39.478 * hertz * hertz;
        m->damping[k] = 2 * hertz;
        m->masses[k] = mass;
        m->caps[k] = 0.05;
        m->joints[k] = 1 + k * 29 / MODES;
    }
    FillSpins(c, m);
    return true;
}

// A stand-in for a body: 13,380 vertices, a network, 64 modes that all live at the first 30 joints.
static jnResult MakeBody(int joints, void** bytes, jnAsset** asset, jnError* error)
{
    jnaCharacter c = {0};
    jnaNetwork network = {0};
    jnaModes modes = {0};
    size_t size = 0;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnbCreateUvTube(RINGS, SEGMENTS, joints, &c, error));
    float* none = jnaArena_Take(&arena, c.vertexCount, sizeof(float));
    arena.failed = none == NULL || !MakeNetwork(&c, &network) || !MakeModes(&c, &modes);
    JN_TRY(jnaArena_Check(&arena, "the benchmark", error));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &c;
    def.stiffness = def.damping = none;
    def.modes = &modes;
    def.network = &network;
    JN_TRY(jnaEncodeAsset(&def, bytes, &size, error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = *bytes, .size = size}, asset, error));
done:
    jnaReleaseArena(&arena);
    jnaDestroyModes(&modes);
    jnaDestroyNetwork(&network);
    jnaDestroyCharacter(&c);
    return result;
}

typedef struct Scene {
    const jnAsset* asset;
    jnCharacter* crowd[BATCH];
    jnCharacterInput inputs[BATCH];
    jnCharacterOutput outputs[BATCH];
    float* rotations; // [FRAMES][BATCH][jointCount][4], made before anything is timed
    float* weights;   // [BATCH][weights]
    float *positions, *normals;
    jnCharacter* surface;
    jnCharacter* coarse[BATCH]; // with FEW modes
    int frame;
} Scene;

// Poses of all characters, each at its own moment. They repeat after FRAMES.
static void MakePoses(Scene* s)
{
    for (int n = 0; n < FRAMES * BATCH; ++n) {
        float* rotations = s->rotations + (size_t)n * 4 * (size_t)s->asset->jointCount;
        for (int j = 0; j < s->asset->jointCount; ++j) {
            const float* rest = s->asset->joints[j].rotation;
            double half = 0.05 * sin(6.283185307179586 / FRAMES * (n / BATCH + 7 * (n % BATCH)) + 0.5 * j);
            float x = (float)half, w = (float)sqrt(1 - half * half), *q = rotations + 4 * (size_t)j;
            q[0] = rest[3] * x + rest[0] * w;
            q[1] = rest[1] * w + rest[2] * x;
            q[2] = rest[2] * w - rest[1] * x;
            q[3] = rest[3] * w - rest[0] * x;
        }
    }
}

// Every step has another pose than the one before, as in a clip: joints rotate, and nothing of the work falls away.
static void Pose(Scene* s)
{
    size_t joints = (size_t)s->asset->jointCount;
    s->frame = (s->frame + 1) % FRAMES;
    for (int n = 0; n < BATCH; ++n) {
        s->inputs[n].pose.rotations = s->rotations + ((size_t)s->frame * BATCH + (size_t)n) * 4 * joints;
    }
}

static void RunOne(void* user)
{
    Scene* s = user;
    Pose(s);
    for (int n = 0; n < BATCH; ++n) {
        jnCharacter_Step(s->crowd[n], &s->inputs[n], &s->outputs[n]);
    }
}

static void RunMany(void* user)
{
    Scene* s = user;
    Pose(s);
    jnStepCharacters(s->crowd, s->inputs, s->outputs, BATCH);
}

static void RunCoarse(void* user)
{
    Scene* s = user;
    Pose(s);
    jnStepCharacters(s->coarse, s->inputs, s->outputs, BATCH);
}

static void RunSkin(void* user)
{
    Scene* s = user;
    Pose(s);
    jnCharacter_Skin(s->surface, &s->inputs[0].pose, &(jnCharacterOutput){.positions = s->positions, .welded = true});
}

static void RunPositions(void* user)
{
    Scene* s = user;
    Pose(s);
    jnCharacter_Step(s->surface, &s->inputs[0], &(jnCharacterOutput){.positions = s->positions, .welded = true});
}

static void RunNormals(void* user)
{
    Scene* s = user;
    Pose(s);
    jnCharacterOutput output = {.positions = s->positions, .normals = s->normals, .welded = true};
    jnCharacter_Step(s->surface, &s->inputs[0], &output);
}

static bool FillScene(Scene* s, const jnAsset* asset)
{
    size_t weights = (size_t)(asset->componentCount + asset->modeCount), joints = (size_t)asset->jointCount;
    *s = (Scene){.asset = asset};
    s->rotations = malloc(FRAMES * BATCH * joints * 4 * sizeof(float));
    s->weights = malloc(BATCH * (weights + 1) * sizeof(float));
    s->positions = malloc(3 * (size_t)asset->fileVertexCount * sizeof(float));
    s->normals = malloc(3 * (size_t)asset->normalCount * sizeof(float));
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    bool made = s->rotations != NULL && s->weights != NULL && s->positions != NULL && s->normals != NULL &&
                jnCreateCharacter(&def, &s->surface, NULL) == jn_ok;
    if (made) {
        MakePoses(s);
    }
    def.weightsOnly = true;
    for (int n = 0; made && n < BATCH; ++n) {
        made = jnCreateCharacter(&def, &s->crowd[n], NULL) == jn_ok;
        def.modes = FEW;
        made = made && jnCreateCharacter(&def, &s->coarse[n], NULL) == jn_ok;
        def.modes = 0;
        s->inputs[n] = (jnCharacterInput){.h = 1.0f / 60};
        s->outputs[n] = (jnCharacterOutput){.weights = s->weights + (size_t)n * weights};
    }
    for (int n = 0; made && n < 8; ++n) {
        RunMany(s);
        RunPositions(s);
    }
    return made;
}

static void FreeScene(Scene* s)
{
    for (int n = 0; n < BATCH; ++n) {
        jnDestroyCharacter(s->crowd[n]);
        jnDestroyCharacter(s->coarse[n]);
    }
    jnDestroyCharacter(s->surface);
    free(s->rotations);
    free(s->weights);
    free(s->positions);
    free(s->normals);
}

// Products of a step that cannot be left out: network, forces, spins, and the rotation of the amplitudes.
static double CountProducts(const jnCharacter* c)
{
    const jnAsset* a = c->asset;
    double products = 0;
    for (int i = 0; c->network.head != NULL && i < c->network.head->layerCount; ++i) {
        products += 16.0 * c->network.head->rows[i];
    }
    if (a->modes != NULL) {
        products += 16.0 * (24.0 * a->modes->forceCount + 3.0 * a->modes->spinCount);
        products += (double)a->componentCount * a->modeCount + 8.0 * a->modeCount * a->modeCount;
    }
    return products;
}

static size_t BytesOf(const jnAsset* asset)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.weightsOnly = true;
    return jnCharacter_ByteCount(&def);
}

// Of the kernel that runs, with doubles.
static double PeakProducts(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnBestKernel() == jn_kernelAvx512) {
        return jnbPeakProductsAvx512();
    }
    if (jnBestKernel() == jn_kernelAvx2) {
        return jnbPeakProductsAvx2();
    }
#endif
    return jnbPeakProductsBaseline();
}

// Crowds from one to MOST, each stepped whole by one call a frame: what a character costs, beside one of the smallest.
static bool Grow(const jnAsset* asset, double seconds)
{
    static Scene s;
    static jnCharacter* all[MOST];
    static jnCharacterInput inputs[MOST];
    static jnCharacterOutput outputs[MOST];
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.weightsOnly = true;
    bool made = FillScene(&s, asset);
    double first = 0;
    for (int have = 0, count = 1; made && count <= MOST; count *= 10) {
        for (; made && have < count; ++have) {
            made = jnCreateCharacter(&def, &all[have], NULL) == jn_ok;
            outputs[have] = s.outputs[have % BATCH];
        }
        double best = 1e9, spent = 0;
        for (int frame = 0; made && (frame < 12 || spent < 0.1 * seconds); ++frame) {
            Pose(&s);
            for (int n = 0; n < count; ++n) {
                inputs[n] = s.inputs[n % BATCH];
            }
            clock_t start = clock(); // of the processor: long steps are interrupted
            jnStepCharacters(all, inputs, outputs, count);
            double time = (double)(clock() - start) / CLOCKS_PER_SEC;
            best = frame > 4 && time < best ? time : best; // histories are whole
            spent += time;
        }
        first = count == 1 ? best : first;
        printf("  a crowd of %-29d %12.2f           %.2fx that of one alone\n", count, 1e6 * best / count,
            best / count / first);
    }
    for (int n = 0; n < MOST; ++n) {
        jnDestroyCharacter(all[n]);
    }
    FreeScene(&s);
    return made;
}

static bool Race(const jnAsset* asset, const char* goals[3], double seconds)
{
    enum { ONE, MANY, COARSE, SKIN, POSITIONS, NORMALS, COUNT };
    static jnbContender race[COUNT];
    static Scene s;
    bool made = FillScene(&s, asset);
    if (made) {
        race[ONE] = (jnbContender){.name = "weights, one by one", .run = RunOne, .user = &s};
        race[MANY] = (jnbContender){.name = "weights, 64 at once", .run = RunMany, .user = &s};
        race[COARSE] = (jnbContender){.name = "weights, 64 at once, 16 modes", .run = RunCoarse, .user = &s};
        race[SKIN] = (jnbContender){.name = "linear-blend skinning", .run = RunSkin, .user = &s};
        race[POSITIONS] = (jnbContender){.name = "pose to positions", .run = RunPositions, .user = &s};
        race[NORMALS] = (jnbContender){.name = "pose to positions and normals", .run = RunNormals, .user = &s};
        jnbRace(race, COUNT, seconds);
        double products = CountProducts(s.crowd[0]);
        double peak = 2 * PeakProducts();
        double read = 0;
        for (int i = 0; i < 3 && asset->network == jn_networkPca; ++i) {
            read += 64.0 * s.crowd[0]->network.head->rows[i];
        }
        printf("%s: %d joints, %d vertices, %d components, %d modes; asset %.1f MB, %zu bytes an instance%s\n"
               "                                          us each, min  median\n",
            asset->name, asset->jointCount, asset->vertexCount, asset->componentCount, asset->modeCount,
            1e-6 * (double)asset->byteCount, BytesOf(asset), goals[0]);
        for (int i = 0; i <= MANY; ++i) {
            printf("  %-40s %12.2f %8.2f  %.1fx its %.0f products at the peak (%.2f us)%s\n", race[i].name,
                1e6 * race[i].min / BATCH, 1e6 * race[i].median / BATCH, race[i].min / BATCH / (products / peak),
                products, 1e6 * products / peak, goals[1 + i]);
        }
        printf("  %-40s %12.2f %8.2f  %.2fx that of all modes\n", race[COARSE].name, 1e6 * race[COARSE].min / BATCH,
            1e6 * race[COARSE].median / BATCH, race[COARSE].min / race[MANY].min);
        printf("  the network's weights are %.2f MB, read once for one or for all of a batch\n", 1e-6 * read);
        for (int i = SKIN; i < COUNT; ++i) {
            printf("  %-40s %12.1f %8.1f  %.2fx skinning%s\n", race[i].name, 1e6 * race[i].min, 1e6 * race[i].median,
                race[i].min / race[SKIN].min,
                i == POSITIONS ? ", goal 4.5"
                : i == NORMALS ? ", goal 6"
                               : "");
        }
    }
    FreeScene(&s);
    return made;
}

int jnbBenchCrowd(const char* path, double seconds)
{
    static const char* goals[2][3] = {
        {", goal 32,000", ", goal 16 us", ", goal 8 us"}, {", goal 64,000", ", goal 30 us", ""}};
    jnError error = {.code = jn_outOfMemory, .message = "no memory for the benchmark"};
    bool good = true;
    for (int i = 0; good && i < (path != NULL ? 1 : 2); ++i) {
        jnaAssetFile file = {0};
        void* bytes = NULL;
        jnAsset* asset = NULL;
        good = path != NULL ? jnaOpenAsset(path, &file, &error) == jn_ok
                            : MakeBody(i == 0 ? 31 : 163, &bytes, &asset, &error) == jn_ok;
        asset = path != NULL ? file.asset : asset;
        if (good && asset->springCount > 0) {
            good = false;
            error = (jnError){jn_badData, "the asset has springs of single vertices; export it with the layer modal"};
        }
        good = good && Race(asset, goals[asset->jointCount > 64], seconds) && (i > 0 || Grow(asset, seconds));
        if (path != NULL) {
            jnaCloseAsset(&file);
        } else {
            jnDestroyAsset(asset);
        }
        free(bytes);
    }
    return good ? JNC_DONE : jncFail(&error);
}
