// jounce-bench steps: the integrators of the flesh at several numbers of steps a frame, on the built-in figure: how far
// from many small steps, as a share of what motion adds to the poses, and what a step costs.
#include "base/arena.h"
#include "base/try.h"
#include "bench.h"
#include "character/figure.h"
#include "cli.h"
#include "flesh/flesh.h"
#include "volume/bones.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"
#include "workspace/manifest.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 3000, FRAMES = 30, FINE = 32 };
#define STIFF 1e6 // springs of bones, 1/s2

// What is compared.
typedef struct Trial {
    const char* name;
    jnaFigureClip clip;
    int first; // frame; jumping jacks begin slowly
    bool springs, contact;
} Trial;

static const Trial trials[] = {
    {"jumping jacks, bones held, no contact", jna_jumpingJacks, 30, false, false},
    {"jumping jacks, springs of bones 1e6/s2, no contact", jna_jumpingJacks, 30, true, false},
    {"run, bones held, contact", jna_run, 0, false, true},
};

typedef struct Scene {
    const Trial* trial;
    jnaCharacter character;
    jnaClip clip;
    jnaVolume volume;
    double* poses;     // [FRAMES][nodeCount][3], quasistatic
    double* reference; // the same in motion, FINE steps a frame
    double* motion;
} Scene;

typedef struct Cost {
    double seconds, iterations;
    double depth; // greatest penetration left at the end of a frame, m
    int failed;   // frames
} Cost;

static void DestroyScene(Scene* s)
{
    jnaDestroyVolume(&s->volume);
    jnaDestroyClip(&s->clip);
    jnaDestroyCharacter(&s->character);
    free(s->poses);
    free(s->reference);
    free(s->motion);
}

static jnResult CreateScene(Scene* s, jnError* error)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    jnaManifest manifest = jnaDefaultManifest();
    manifest.bones.hold = s->trial->springs ? jna_boneSpring : jna_boneDirichlet;
    manifest.bones.stiffness = STIFF;
    def.method = jna_volumeLattice;
    def.nodes = NODES;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateFigure(&s->character, error));
    JN_TRY(jnaCreateFigureClip(&s->character, (int)s->trial->clip, 30, &s->clip, error));
    JN_TRY(jnaCreateVolume(&s->character, &def, &s->volume, NULL, NULL, error));
    JN_TRY(jnaVolume_CarryWeights(&s->volume, &s->character, &weights, error));
    JN_TRY(jnaVolume_PlaceBones(&s->volume, &s->character, &manifest.bones, NULL, NULL, error));
    JN_TRY(jnaVolume_FillMaterials(&s->volume, &s->character, &manifest.materials, error));
    s->poses = jnaArena_Give(&arena, s->volume.nodeCount, 3 * FRAMES * sizeof(double));
    s->reference = jnaArena_Give(&arena, s->volume.nodeCount, 3 * FRAMES * sizeof(double));
    s->motion = jnaArena_Give(&arena, s->volume.nodeCount, 3 * FRAMES * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "frames", error));
done:
    jnaDestroyManifest(&manifest);
    return result;
}

// Poses where def.substeps is 0, else motion.
static jnResult Run(const Scene* s, const jnaFleshDef* def, double* nodes, Cost* cost, jnError* error)
{
    jnaFlesh* flesh = NULL;
    jnaFleshSolver* solver = NULL;
    jnaFleshReport report;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateFlesh(def, &flesh, error));
    JN_TRY(jnaCreateFleshSolver(flesh, &solver, error));
    double* state = jnaArena_Take(&arena, (int64_t)jnaFlesh_StateCount(flesh), sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "a state", error));
    *cost = (Cost){0};
    int first = s->trial->first;
    JN_TRY(jnaFleshSolver_Start(solver, &s->clip, first, state, &report, error));
    size_t size = 3 * (size_t)s->volume.nodeCount;
    for (int f = 0; f < FRAMES; ++f) {
        JN_TRY(def->substeps > 0 ? jnaFleshSolver_Advance(solver, &s->clip, first + f, state, &report, error)
                                 : jnaFleshSolver_Pose(solver, &s->clip, first + f + 1, state, &report, error));
        memcpy(nodes + size * (size_t)f, state, size * sizeof(double));
        cost->seconds += report.seconds;
        cost->iterations += report.iterations;
        cost->failed += !report.converged;
        cost->depth = fmax(cost->depth, report.solved.depth);
    }
done:
    jnaReleaseArena(&arena);
    jnaDestroyFleshSolver(solver);
    jnaDestroyFlesh(flesh);
    return result;
}

static double Rms(const Scene* s, const double* a, const double* b)
{
    double sum = 0;
    size_t count = 3 * (size_t)s->volume.nodeCount * FRAMES;
    for (size_t i = 0; i < count; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(3 * sum / (double)count);
}

static jnResult Compare(const Trial* trial, jnError* error)
{
    static const int steps[] = {2, 4, 8};
    Scene s = {.trial = trial};
    Cost cost;
    jnResult result = jn_ok;
    JN_TRY(CreateScene(&s, error));
    jnaFleshDef def = jnaDefaultFleshDef(&s.volume, &s.character);
    def.contact = trial->contact;
    JN_TRY(Run(&s, &def, s.poses, &cost, error));
    def.substeps = FINE;
    JN_TRY(Run(&s, &def, s.reference, &cost, error));
    printf("%s: %d nodes, %d frames; motion adds %.2f mm rms to the poses, against %d steps a frame\n"
           "  integrator         steps  off mm  share  iterations  ms a step  frames failed  depth mm\n",
        trial->name, s.volume.nodeCount, FRAMES, 1e3 * Rms(&s, s.reference, s.poses), FINE);
    for (int i = 0; i < jna_integratorCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            def.integrator = (jnaIntegrator)i;
            def.substeps = steps[k];
            JN_TRY(Run(&s, &def, s.motion, &cost, error));
            double count = (double)steps[k] * FRAMES, off = Rms(&s, s.motion, s.reference);
            printf("  %-18s %5d %7.3f %6.3f %11.1f %10.2f %14d %9.2f\n", jnaIntegratorName(def.integrator), steps[k],
                1e3 * off, off / Rms(&s, s.reference, s.poses), cost.iterations / count, 1e3 * cost.seconds / count,
                cost.failed, 1e3 * cost.depth);
        }
    }
done:
    DestroyScene(&s);
    return result;
}

int jnbBenchSteps(void)
{
    jnError error = {0};
    jnResult result = jn_ok;
    for (size_t i = 0; result == jn_ok && i < sizeof(trials) / sizeof(trials[0]); ++i) {
        result = Compare(&trials[i], &error);
    }
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
