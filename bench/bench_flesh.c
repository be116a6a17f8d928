// jounce-bench flesh: poses and steps in time of the flesh, their parts, and what an iteration costs against reading
// its data once.
#include "base/clock.h"
#include "base/try.h"
#include "bench.h"
#include "character/figure.h"
#include "character/import.h"
#include "cli.h"
#include "draw/contact_picture.h"
#include "flesh/flesh.h"
#include "flesh/flesh_internal.h"
#include "flesh/poses.h"
#include "helpers/bend.h"
#include "measure.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    jnaCharacter character;
    jnaClipList clips;
    jnaVolume volume;
    jnaFlesh *flesh, *loose; // with contact and without
} Scene;

static void DestroyScene(Scene* s)
{
    jnaDestroyFlesh(s->flesh);
    jnaDestroyFlesh(s->loose);
    jnaDestroyVolume(&s->volume);
    jnaDestroyClipList(&s->clips);
    jnaDestroyCharacter(&s->character);
}

static jnResult LoadFigure(Scene* s, jnError* error)
{
    JN_PASS(jnaCreateFigure(&s->character, error));
    s->clips.clips = calloc(jna_figureClipCount, sizeof(jnaClip));
    for (int i = 0; s->clips.clips != NULL && i < jna_figureClipCount; ++i) {
        JN_PASS(jnaCreateFigureClip(&s->character, i, 30, &s->clips.clips[i], error));
        s->clips.count = i + 1;
    }
    return jn_ok;
}

// nodes: 0 for the default mesh, else a lattice of about that many.
static jnResult CreateScene(const char* file, int nodes, Scene* s, jnError* error)
{
    jnaImportDef import = jnaDefaultImportDef();
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    if (nodes > 0) {
        def.method = jna_volumeLattice;
        def.nodes = nodes;
    }
    JN_PASS(file != NULL ? jnaImportCharacter(file, &import, &s->character, &s->clips, NULL, NULL, error)
                         : LoadFigure(s, error));
    JN_PASS(jnaCreateVolume(&s->character, &def, &s->volume, NULL, NULL, error));
    JN_PASS(jnaVolume_CarryWeights(&s->volume, &s->character, &weights, error));
    JN_PASS(jnaVolume_PlaceBones(&s->volume, &s->character, NULL, NULL, NULL, error));
    JN_PASS(jnaVolume_FillMaterials(&s->volume, &s->character, NULL, error));
    jnaFleshDef fleshDef = jnaDefaultFleshDef(&s->volume, &s->character);
    JN_PASS(jnaCreateFlesh(&fleshDef, &s->flesh, error));
    fleshDef.contact = false;
    return jnaCreateFlesh(&fleshDef, &s->loose, error);
}

static void Read(const void* bytes, size_t size, double* sum)
{
    const double* numbers = bytes;
    double parts[8] = {0};
    for (size_t i = 0; i + 8 <= size / sizeof(double); i += 8) {
        for (size_t k = 0; k < 8; ++k) {
            parts[k] += numbers[i + k];
        }
    }
    *sum += parts[0] + parts[1] + parts[2] + parts[3] + parts[4] + parts[5] + parts[6] + parts[7];
}

typedef struct Iteration {
    const jnaFlesh* flesh;
    jnaFleshSolver* solver;
    double sum;
} Iteration;

static void RunForces(void* user)
{
    Iteration* it = user;
    jnaFleshProblem problem = {.flesh = it->flesh};
    jnaFlesh_Evaluate(&problem, it->solver->x, it->solver->gradient, NULL, NULL);
}

static void RunElementRead(void* user)
{
    Iteration* it = user;
    Read(it->flesh->elements.blocks, (size_t)it->flesh->elements.blockCount * sizeof(jnaElementBlock), &it->sum);
}

static void RunSolve(void* user)
{
    Iteration* it = user;
    for (int i = 0; i < 4 * it->flesh->freeCount; ++i) {
        it->solver->direction[i] = 1.0f;
    }
    jnaPreconditioner_Solve(&it->flesh->still, it->solver->direction);
}

static void RunFactorRead(void* user)
{
    Iteration* it = user;
    for (int i = 0; i < 2; ++i) {
        Read(it->flesh->still.entries, it->flesh->still.entryCount * sizeof(float), &it->sum);
    }
}

// How many patches have 4, 3, 2, 1 tetrahedra: lanes left over cost as much as others.
static void PrintPatches(const jnaElements* elements)
{
    double sizes[JNA_ELEMENT_LANES + 1] = {0};
    for (int b = 0; b < elements->blockCount; ++b) {
        int used = 0;
        for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
            used += elements->blocks[b].shear[lane] > 0;
        }
        sizes[used] += 100.0 / elements->blockCount;
    }
    printf("  %d patches of 4, 3, 2, 1 tetrahedra: %.1f, %.1f, %.1f, %.1f %%\n", elements->blockCount, sizes[4],
        sizes[3], sizes[2], sizes[1]);
}

static jnResult PrintIteration(const Scene* s, double seconds, jnError* error)
{
    Iteration it = {.flesh = s->loose};
    JN_PASS(jnaCreateFleshSolver(s->loose, &it.solver, error));
    jnaPadNodes(s->loose, s->volume.nodes, it.solver->x);
    jnbContender race[] = {{.name = "forces", .run = RunForces, .user = &it},
        {.name = "elements", .run = RunElementRead, .user = &it}, {.name = "solve", .run = RunSolve, .user = &it},
        {.name = "factor", .run = RunFactorRead, .user = &it}};
    jnbRace(race, 4, seconds);
    PrintPatches(&s->loose->elements);
    printf("  one iteration: forces %.2f ms, %.1f x reading the elements once; solve %.2f ms, %.1f x reading the "
           "factor (%zu entries) twice\n",
        1e3 * race[0].min, race[0].min / race[1].min, 1e3 * race[2].min, race[2].min / race[3].min,
        s->loose->still.entryCount);
    jnaDestroyFleshSolver(it.solver);
    return jn_ok;
}

// Sums over poses.
typedef struct Poses {
    int count, converged, apart, iterations, inverted;
    double seconds, forces, solve, contact, wall;
} Poses;

static void Count(const jnaFleshReport* r, Poses* sum)
{
    static const double DEPTH = 5e-3, VOLUME = 2e-6; // metres, m3
    sum->count++;
    sum->converged += r->converged;
    sum->apart += r->residual <= 1e-4 && r->solved.depth < DEPTH && r->solved.volume < VOLUME;
    sum->iterations += r->iterations;
    sum->inverted += r->invertedCount;
    sum->seconds += r->seconds;
    sum->forces += r->time.forces;
    sum->solve += r->time.solve;
    sum->contact += r->time.contact;
}

static jnResult SolvePoses(const jnaFlesh* flesh, const jnaClip* poses, Poses* sum, jnError* error)
{
    jnResult result = jn_ok;
    double started = jnaWallClock();
#pragma omp parallel
    {
        jnaFleshSolver* solver = NULL;
        jnError local = {0};
        jnResult mine = jnaCreateFleshSolver(flesh, &solver, &local);
        double* nodes = malloc(3 * (size_t)flesh->nodeCount * sizeof(double));
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < poses->frameCount; ++i) {
            jnaFleshReport report;
            if (mine == jn_ok && nodes != NULL) {
                mine = jnaFleshSolver_Pose(solver, poses, i, nodes, &report, &local);
            }
#pragma omp critical
            if (mine == jn_ok && nodes != NULL) {
                Count(&report, sum);
            }
        }
#pragma omp critical
        if (mine != jn_ok) {
            result = mine;
            *error = local;
        }
        free(nodes);
        jnaDestroyFleshSolver(solver);
    }
    sum->wall = jnaWallClock() - started;
    return result;
}

static void PrintPoses(const char* name, const Poses* p)
{
    double n = p->count > 0 ? p->count : 1;
    printf("  %-16s %6.2f %8.2f %7.0f %8.0f%% %6.0f%% %7.0f%% %9.1f %8d of %d\n", name, p->seconds / n, p->wall / n,
        p->iterations / n, 100 * p->forces / p->seconds, 100 * p->solve / p->seconds, 100 * p->contact / p->seconds,
        p->inverted / n, p->apart, p->count);
}

static jnResult PrintRandomPoses(const Scene* s, int count, jnError* error)
{
    jnaPoseDef def = jnaDefaultPoseDef(&s->character);
    jnaPoseSet set = {0};
    jnaClip poses = {0};
    def.clips = s->clips.clips;
    def.clipCount = s->clips.count;
    def.count = count;
    def.random = 1;
    def.fromClips = def.heldOut = 0;
    jnResult result = jn_ok;
    JN_TRY(jnaCreatePoses(&def, &set, NULL, error));
    JN_TRY(jnaPoseSet_ToClip(&set, &s->character, &poses, error));
    printf("  random poses      s/pose  s/pose iterations   forces  solve contact  inverted  < 5 mm and < 2 cm3\n"
           "                  one core   %d cores\n",
        omp_get_max_threads());
    for (int contact = 0; contact < 2; ++contact) {
        Poses sum = {0};
        JN_TRY(SolvePoses(contact ? s->flesh : s->loose, &poses, &sum, error));
        PrintPoses(contact ? "with contact" : "without contact", &sum);
    }
done:
    jnaDestroyClip(&poses);
    jnaDestroyPoses(&set);
    return result;
}

static jnResult PrintBends(const Scene* s, const char* keep, jnError* error)
{
    jnaClip clip = {0};
    jnaFleshSolver* solver = NULL;
    size_t size = 3 * (size_t)s->volume.nodeCount;
    double *nodes = malloc(2 * size * sizeof(double)),
           *transforms = malloc(12 * (size_t)s->character.jointCount * sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(jnbCreateBends(&s->character, 1, &clip, error));
    JN_TRY(jnaCreateFleshSolver(s->flesh, &solver, error));
    printf("  bent               skinned           solved                     seconds\n");
    for (int i = 0; nodes != NULL && transforms != NULL && i < JNB_BENDS; ++i) {
        jnaFleshReport r;
        JN_TRY(jnaFleshSolver_Pose(solver, &clip, i, nodes + size, &r, error));
        printf("  %-16s %5.1f mm %7.1f cm3  %5.2f mm %6.2f cm3  %5.1f %% gone %5.2f  %s\n", jnbBends[i].name,
            1e3 * r.skinned.depth, 1e6 * r.skinned.volume, 1e3 * r.solved.depth, 1e6 * r.solved.volume,
            r.skinned.volume > 0 ? 100 * (1 - r.solved.volume / r.skinned.volume) : 100, r.seconds, r.reason);
        if (keep != NULL) {
            char path[1024];
            const double* list[2] = {nodes, nodes + size};
            const char* captions[2] = {"skinned", "solved"};
            jnaPoseTransforms(&s->character, &clip, i, transforms);
            jnaVolume_Skin(&s->volume, transforms, nodes);
            snprintf(path, sizeof(path), "%s/flesh_%d.png", keep, i);
            JN_TRY(jnaPictureContact(solver->finder, 2, list, captions, path, error));
        }
    }
done:
    jnaDestroyFleshSolver(solver);
    jnaDestroyClip(&clip);
    free(nodes);
    free(transforms);
    return result;
}

static jnResult PrintMotion(const Scene* s, int frames, jnError* error)
{
    jnaFleshSolver* solver = NULL;
    double* state = malloc(jnaFlesh_StateCount(s->flesh) * sizeof(double));
    jnaFleshReport r = {0};
    const jnaClip* clip = &s->clips.clips[0];
    jnResult result = jn_ok;
    JN_TRY(jnaCreateFleshSolver(s->flesh, &solver, error));
    if (state != NULL) {
        JN_TRY(jnaFleshSolver_Start(solver, clip, 0, state, &r, error));
    }
    Poses sum = {0};
    int substeps = JNA_STEPS_A_SECOND / 30; // the rate of all clips here
    for (int i = 0; state != NULL && i < frames; ++i) {
        JN_TRY(jnaFleshSolver_Advance(solver, clip, i, state, &r, error));
        Count(&r, &sum);
    }
    double steps = (double)sum.count * substeps;
    printf("  steps in time of %s: %.3f s a step, %.0f iterations, forces %.0f %%, solve %.0f %%, contact %.0f %%\n",
        clip->name, sum.seconds / steps, sum.iterations / steps, 100 * sum.forces / sum.seconds,
        100 * sum.solve / sum.seconds, 100 * sum.contact / sum.seconds);
done:
    jnaDestroyFleshSolver(solver);
    free(state);
    return result;
}

static jnResult PrintSize(int nodes, jnError* error)
{
    Scene s = {0};
    jnaPoseSet set = {0};
    jnaClip poses = {0};
    Poses sum = {0};
    jnResult result = jn_ok;
    JN_TRY(CreateScene(NULL, nodes, &s, error));
    jnaPoseDef def = jnaDefaultPoseDef(&s.character);
    def.clips = s.clips.clips;
    def.clipCount = s.clips.count;
    def.count = 4;
    def.random = 1;
    def.fromClips = def.heldOut = 0;
    JN_TRY(jnaCreatePoses(&def, &set, NULL, error));
    JN_TRY(jnaPoseSet_ToClip(&set, &s.character, &poses, error));
    JN_TRY(SolvePoses(s.loose, &poses, &sum, error));
    printf("  %8d %11d %15zu %7.2f %11.0f %13.2f\n", s.volume.nodeCount, s.volume.tetrahedronCount,
        s.loose->still.entryCount, sum.seconds / sum.count, (double)sum.iterations / sum.count,
        1e3 * sum.seconds / sum.iterations);
done:
    jnaDestroyClip(&poses);
    jnaDestroyPoses(&set);
    DestroyScene(&s);
    return result;
}

// One pose at several resolutions.
static jnResult PrintGrowth(jnError* error)
{
    static const int sizes[] = {5000, 10000, 20000, 50000, 100000};
    printf("growth with the mesh: the figure by lattice, four random poses without contact\n"
           "     nodes  tetrahedra  factor entries  s/pose  iterations  ms/iteration\n");
    for (int i = 0; i < 5; ++i) {
        JN_PASS(PrintSize(sizes[i], error));
    }
    return jn_ok;
}

int jnbBenchFlesh(const char* file, const char* keep, int poses, double seconds)
{
    Scene s = {0};
    jnError error = {0};
    jnResult result = jn_ok;
    JN_TRY(CreateScene(file, 0, &s, &error));
    printf("flesh of %s: %d nodes, %d free, %d tetrahedra\n", file != NULL ? file : "the figure", s.volume.nodeCount,
        s.flesh->freeCount, s.volume.tetrahedronCount);
    JN_TRY(PrintIteration(&s, seconds, &error));
    JN_TRY(PrintRandomPoses(&s, poses, &error));
    JN_TRY(PrintBends(&s, keep, &error));
    JN_TRY(s.clips.count > 0 ? PrintMotion(&s, 10, &error) : jn_ok);
    JN_TRY(file == NULL ? PrintGrowth(&error) : jn_ok);
done:
    DestroyScene(&s);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
