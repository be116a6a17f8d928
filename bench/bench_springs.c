// jounce-bench springs: the step against a memcpy that moves the same number of bytes, in one run.
#include "bench.h"
#include "cli.h"
#include "jounce/jounce.h"
#include "measure.h"

#include <math.h>
#include <stdlib.h>

// Bytes that a step moves per spring: the sample read, three older samples read and one written, ten
// coefficients, the state read and written, the position written.
enum { BYTES_PER_SPRING = 12 + 36 + 12 + 40 + 24 + 24 + 12 };
// Making coefficients reads both parameters and writes ten numbers.
enum { PARAMETER_BYTES = 8 + 40 };

typedef struct Scene {
    int count;
    jnSprings* springs;
    float* targets; // [4][count][3], taken in turn
    float* positions;
    bool jitter;
    int frame;
    jnbCopy copy;
} Scene;

static void RunStep(void* user)
{
    Scene* scene = user;
    scene->frame++;
    float h = scene->jitter ? (1.0f + 0.01f * (float)(scene->frame % 16)) / 60.0f : 1.0f / 60.0f;
    size_t sample = (size_t)(scene->frame % 4) * 3 * (size_t)scene->count;
    jnSprings_Step(scene->springs, &(jnSpringsInput){.h = h, .targets = scene->targets + sample},
        &(jnSpringsOutput){.positions = scene->positions});
}

static double Hash(uint32_t i)
{
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    i = (i ^ (i >> 16)) * 0x45d9f3bu;
    return (double)(i ^ (i >> 16)) / 4294967296.0;
}

static bool MakeScene(Scene* scene, int count, jnKernel kernel, jnTiming timing, bool jitter)
{
    size_t n = (size_t)count;
    float* stiffness = malloc(2 * n * sizeof(float));
    scene->targets = malloc(4 * 3 * n * sizeof(float));
    scene->positions = malloc(3 * n * sizeof(float));
    scene->copy.bytes = BYTES_PER_SPRING * n;
    scene->copy.from = malloc(scene->copy.bytes);
    scene->copy.to = malloc(scene->copy.bytes);
    if (stiffness == NULL || scene->targets == NULL || scene->positions == NULL || scene->copy.from == NULL ||
        scene->copy.to == NULL) {
        free(stiffness);
        return false;
    }
    for (size_t i = 0; i < n; ++i) {
        // Soft to stiff, under- and overdamped mixed at random: the worst case for anything that sorts
        // springs.
        stiffness[i] = (float)(50 * pow(100, Hash((uint32_t)i)));
        stiffness[n + i] = (float)pow(60, Hash((uint32_t)(i + n)));
    }
    for (size_t i = 0; i < 12 * n; ++i) {
        scene->targets[i] = (float)(sin((double)(i % (3 * n))) + 0.01 * sin((double)i));
    }
    for (size_t i = 0; i < scene->copy.bytes; ++i) {
        scene->copy.from[i] = (char)i;
        scene->copy.to[i] = 0;
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = count;
    def.stiffness = stiffness;
    def.damping = stiffness + n;
    def.timing = timing;
    def.kernel = kernel;
    bool made = jnCreateSprings(&def, &scene->springs, NULL) == jn_ok;
    free(stiffness);
    scene->count = count;
    scene->jitter = jitter;
    return made;
}

static void FreeScene(Scene* scene)
{
    jnDestroySprings(scene->springs);
    free(scene->targets);
    free(scene->positions);
    free(scene->copy.from);
    free(scene->copy.to);
    *scene = (Scene){0};
}

static void PrintRow(const jnbContender* c, const jnbContender* copy, double bytes)
{
    printf("  %-34s %9.1f %9.1f %8.1f %8.2fx\n", c->name, c->min * 1e6, c->median * 1e6, bytes / c->min * 1e-9,
        c->min / copy->min);
}

static const char header[] = "                                        min us median us     GB/s  /memcpy\n";

int jnbBenchSprings(double seconds)
{
    enum { COUNT = 13575, VARIANTS = 5 };
    static const struct {
        const char* name;
        jnKernel kernel;
        jnTiming timing;
        bool jitter;
    } variants[VARIANTS] = {
        {"step, causal", jn_kernelAuto, jn_timingCausal, false},
        {"step, exact", jn_kernelAuto, jn_timingExact, false},
        {"step, causal, h changes every step", jn_kernelAuto, jn_timingCausal, true},
        {"step, causal, plain C", jn_kernelBaseline, jn_timingCausal, false},
        {"step, plain C, h changes", jn_kernelBaseline, jn_timingCausal, true},
    };
    static Scene scenes[VARIANTS];
    static jnbContender contenders[VARIANTS + 1];
    bool made = true;
    for (int i = 0; i < VARIANTS; ++i) {
        made = made && MakeScene(&scenes[i], COUNT, variants[i].kernel, variants[i].timing, variants[i].jitter);
        contenders[i + 1] = (jnbContender){.name = variants[i].name, .run = RunStep, .user = &scenes[i]};
    }
    contenders[0] = (jnbContender){.name = "memcpy", .run = jnbRunCopy, .user = &scenes[0].copy};
    if (made) {
        jnbRace(contenders, VARIANTS + 1, seconds);
        double bytes = (double)BYTES_PER_SPRING * COUNT;
        printf("springs, %d vertices, one core, kernel %s, %d bytes moved a vertex (%d more when h changes)\n%s", COUNT,
            jnKernelName(jnSprings_Kernel(scenes[0].springs)), BYTES_PER_SPRING, PARAMETER_BYTES, header);
        for (int i = 0; i <= VARIANTS; ++i) {
            PrintRow(&contenders[i], &contenders[0], bytes);
        }
    }
    for (int i = 0; i < VARIANTS; ++i) {
        FreeScene(&scenes[i]);
    }
    printf("\ngrowth with the number of vertices, causal, fixed h\n  vertices      us a step  ns a vertex  "
           "/memcpy\n");
    for (int count = 1000; made && count <= 1000000; count *= 10) {
        made = MakeScene(&scenes[0], count, jn_kernelAuto, jn_timingCausal, false);
        contenders[1].user = &scenes[0];
        contenders[0].user = &scenes[0].copy;
        if (made) {
            jnbRace(contenders, 2, seconds / 4);
            printf("  %8d %14.1f %12.2f %7.2fx\n", count, contenders[1].min * 1e6, contenders[1].min * 1e9 / count,
                contenders[1].min / contenders[0].min);
        }
        FreeScene(&scenes[0]);
    }
    if (!made) {
        return jncFail(&(jnError){.message = "no memory for the benchmark"});
    }
    return JNC_DONE;
}
