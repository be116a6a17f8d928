// jounce-bench volume: the whole stage, from a character in its workspace to tetrahedra, weights, bones, materials and
// their picture on disk, against the tetgen program alone in the same runs.
#include "base/clock.h"
#include "base/try.h"
#include "bench.h"
#include "character/source.h"
#include "cli.h"
#include "measure.h"
#include "pipeline/stage_import.h"
#include "pipeline/stage_volume.h"
#include "volume/tetrahedralize.h"
#include "workspace/volume_store.h"

#include <ftw.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { ROUNDS = 3 };

// Steps in the order that they run in.
enum { SURFACE, CROSSINGS, SEEDS, PROGRAM, TEXTS, IMPROVE, WEIGHTS, BONES, MATERIALS, CLIPS, SAVE, REST, STEPS };
static const char* const stepNames[STEPS] = {"surface", "crossings", "seeds along bones", "tetgen alone", "its files",
    "improvement", "weights", "bones", "materials", "inversions over clips", "picture and files",
    "reading and the rest"};

static int RemoveOne(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

// Processor seconds so far: ours, or of the children, which are tetgen alone.
static double ProcessorTime(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static jnResult RunOnce(const char* workspace, jnaVolumeReport* report, double steps[STEPS], jnError* error)
{
    jnaStageRun run = {.report = report, .force = true};
    double start = jnaWallClock();
    JN_PASS(jnaOpenWorkspace(workspace, &run.workspace, error));
    run.workspace->manifest.volume = jnaDefaultVolumeDef();
    run.workspace->manifest.volume.method = jna_volumeTetgen;
    JN_PASS(jnaUpdateVolume(&run, error));
    double total = jnaWallClock() - start;
    jnaCloseWorkspace(run.workspace);
    const double list[STEPS] = {report->time.surface, report->time.crossings, report->time.seeds, report->time.program,
        report->time.mesh - report->time.program, report->time.improve, report->time.weights, report->time.bones,
        report->time.materials, report->time.clips, report->time.save, 0};
    memcpy(steps, list, sizeof(list));
    for (int i = 0; i < REST; ++i) {
        total -= steps[i];
    }
    steps[REST] = total;
    return jn_ok;
}

// The smallest of each step over the rounds, and the smallest ratio of a round to its own run of tetgen: other work on
// the machine slows both alike.
static jnResult Measure(const char* workspace, const char* name, jnError* error)
{
    double least[STEPS], ratio = 1e30, sum = 0;
    jnaVolumeReport report;
    double own = ProcessorTime(RUSAGE_SELF), theirs = ProcessorTime(RUSAGE_CHILDREN);
    for (int round = 0; round < ROUNDS; ++round) {
        double steps[STEPS], total = 0;
        jnResult result = RunOnce(workspace, &report, steps, error);
        if (result != jn_ok) {
            return result;
        }
        for (int i = 0; i < STEPS; ++i) {
            least[i] = round == 0 || steps[i] < least[i] ? steps[i] : least[i];
            total += steps[i];
        }
        ratio = total / steps[PROGRAM] < ratio ? total / steps[PROGRAM] : ratio;
    }
    own = (ProcessorTime(RUSAGE_SELF) - own) / ROUNDS;
    theirs = (ProcessorTime(RUSAGE_CHILDREN) - theirs) / ROUNDS;
    for (int i = 0; i < STEPS; ++i) {
        sum += least[i];
    }
    jnaVolume volume;
    JN_PASS(jnaLoadVolume(workspace, &volume, error));
    printf("%s: %d nodes, %d tetrahedra, smallest angle %.1f degrees, %d below 5\n", name, volume.nodeCount,
        volume.tetrahedronCount, report.after.smallestAngle, report.after.belowFive);
    jnaDestroyVolume(&volume);
    for (int i = 0; i < STEPS; ++i) {
        printf("  %-24s %8.0f ms %5.1f %%\n", stepNames[i], 1e3 * least[i], 100 * least[i] / sum);
    }
    printf("  %-24s %8.0f ms, %.2f times tetgen alone by the smallest of each step, %.2f in the best round "
           "(limit 4)\n",
        "whole stage", 1e3 * sum, sum / least[PROGRAM], ratio);
    printf("  %-24s %8.0f ms, %.2f times tetgen's, which has one thread\n\n", "processor time", 1e3 * (own + theirs),
        (own + theirs) / theirs);
    return jn_ok;
}

static jnResult BenchCharacter(const char* folder, const char* source, const char* name, jnError* error)
{
    char workspace[512];
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = source;
    snprintf(workspace, sizeof(workspace), "%s/%s", folder, name);
    JN_PASS(jnaCreateWorkspace(workspace, &def, NULL, error));
    return Measure(workspace, name, error);
}

int jnbBenchVolume(const char* file)
{
    char folder[] = "/tmp/jounce-bench-XXXXXX";
    jnError error = {0};
    if (mkdtemp(folder) == NULL) {
        return jncFail(&(jnError){jn_ioFailed, "cannot make a temporary folder"});
    }
    printf("volume: whole stage on %d threads, smallest of %d rounds\n\n", omp_get_max_threads(), ROUNDS);
    jnResult result = BenchCharacter(folder, JNA_FIGURE_SOURCE, "figure", &error);
    if (result == jn_ok && file != NULL) {
        char* path = realpath(file, NULL);
        result = BenchCharacter(folder, path != NULL ? path : file, "character", &error);
        free(path);
    }
    (void)nftw(folder, RemoveOne, 16, FTW_DEPTH | FTW_PHYS);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
