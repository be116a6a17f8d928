// jounce demo: the paper's experiment on the built-in figure. A workspace of its own, built as any other, and what came
// out of it as a table.
//
// What is simulated is chosen to fit into a few minutes of two cores: parts of the clips, a coarse lattice, half the
// usual steps in time, five hundred poses. The manifest in the folder says so, and can be edited and built again.
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "build.h"
#include "character/source.h"
#include "cli.h"
#include "pipeline/build.h"
#include "pipeline/stage_import.h"
#include "report/report.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/// What the figure's manifest says besides the defaults.
typedef struct Size {
    jnaVolumeMethod method;
    int nodes;    // aimed at; 0: chosen
    int substeps; // per frame
    int poses, epochs;
    int modes; // at most; 0: the default
    struct {
        const char* clip;
        int first, frames;
    } parts[5]; // what is not named is left out
} Size;

static const Size whole = {.method = jna_volumeLattice,
    .nodes = 3000,
    .substeps = 4,
    .poses = 500,
    .epochs = 100,
    .parts = {{"jumping-jacks", 0, JNA_ALL_FRAMES}, {"calisthenics", 0, 120}, {"shadow-boxing", 0, 150},
        {"run", 0, JNA_ALL_FRAMES}, {"jump-and-land", 0, JNA_ALL_FRAMES}}};
// For tests: everything happens, nothing is good.
static const Size quick = {.method = jna_volumeLattice,
    .nodes = 500,
    .substeps = 2,
    .poses = 32,
    .epochs = 60,
    .modes = 16,
    .parts = {{"jumping-jacks", 0, 16}, {"calisthenics", 60, 16}, {"shadow-boxing", 0, 16}}};

static void Adjust(jnaManifest* m, void* user)
{
    const Size* size = user;
    m->volume.method = size->method;
    m->volume.nodes = size->nodes;
    m->flesh.substeps = size->substeps;
    m->poses.count = size->poses;
    m->modes.count = size->modes > 0 ? size->modes : m->modes.count;
    m->network.kind = jn_networkPca;
    m->network.epochs = size->epochs;
    m->springs.mode = jna_springsFitted;
    m->springs.layer = jna_layerModal;
    for (int i = 0; i < m->clipCount; ++i) {
        m->clips[i].frames = 0;
        for (size_t k = 0; k < sizeof(size->parts) / sizeof(size->parts[0]); ++k) {
            if (size->parts[k].clip != NULL && strcmp(m->clips[i].name, size->parts[k].clip) == 0) {
                m->clips[i].first = size->parts[k].first;
                m->clips[i].frames = size->parts[k].frames;
            }
        }
    }
}

// A folder that has a manifest is gone on with, if it is of the figure: it is another run's, or was edited.
static jnResult Prepare(const char* folder, const Size* size, bool* there, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(folder, "manifest.yaml", path, error));
    *there = jnaFileIsThere(path);
    if (*there) {
        jnaManifest manifest;
        JN_PASS(jnaReadManifest(path, &manifest, error));
        jnResult result = jn_ok;
        if (strcmp(manifest.character, JNA_FIGURE_SOURCE) != 0) {
            result = jnFail(error, jn_badArgument, "%s: is a workspace of another character; jounce build %s builds it",
                folder, folder);
        }
        jnaDestroyManifest(&manifest);
        return result;
    }
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = JNA_FIGURE_SOURCE;
    def.adjust = Adjust;
    def.user = (void*)size;
    return jnaCreateWorkspace(folder, &def, NULL, error);
}

// One number of an evaluation's row; false where there is none.
static bool FindTimed(
    const json_t* rows, const char* timing, const char* method, const char* targets, const char* key, double* number)
{
    size_t i;
    const json_t* row;
    json_array_foreach(rows, i, row)
    {
        const json_t* value = json_object_get(row, key);
        const char *itsMethod = json_string_value(json_object_get(row, "method")),
                   *itsTargets = json_string_value(json_object_get(row, "targets")),
                   *itsTiming = json_string_value(json_object_get(row, "timing"));
        if (itsMethod != NULL && itsTargets != NULL && itsTiming != NULL && strcmp(itsTiming, timing) == 0 &&
            strcmp(itsMethod, method) == 0 && strcmp(itsTargets, targets) == 0 && json_is_number(value)) {
            *number = json_number_value(value);
            return true;
        }
    }
    return false;
}

// In the timing that ships, causal, where there is one.
static bool FindNumber(const json_t* rows, const char* method, const char* targets, const char* key, double* number)
{
    return FindTimed(rows, "causal", method, targets, key, number) ||
           FindTimed(rows, "exact", method, targets, key, number);
}

static void PrintNumber(const json_t* rows, const char* method, const char* targets, const char* key, int digits)
{
    double number = 0;
    if (FindNumber(rows, method, targets, key, &number)) {
        printf(" %12.*f", digits, number);
    } else {
        printf(" %12s", "");
    }
}

// What the motion that was never seen says about each way, from the evaluation's file.
static void PrintTable(const char* folder)
{
    static const struct {
        const char *method, *targets, *name;
    } rows[] = {{"skinned", "skinned", "skinned"}, {"network", "network", "network"},
        {"springs_on_skinned", "skinned", "springs on skinned"}, {"uniform", "network", "one spring for all"},
        {"vertex", "network", "a spring per vertex"}, {"modal_physical", "network", "modes, not fitted"},
        {"modal", "network", "modes, fitted"}};
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/evaluation/evaluation.json", folder);
    json_t* root = length > 0 && (size_t)length < sizeof(path) ? jnaReadJson(path, 0, NULL) : NULL;
    const json_t* unseen = json_object_get(json_object_get(root, "unseen"), "rows");
    printf("\nunseen motion:                  error, mm   captured fraction of the motion, soft vertices\n"
           "                                                  on network  on simulated  fitted to it\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        double ignored;
        if (!FindNumber(unseen, rows[i].method, rows[i].targets, "rms_mm", &ignored)) {
            continue;
        }
        printf("  %-24s", rows[i].name);
        PrintNumber(unseen, rows[i].method, rows[i].targets, "rms_mm", 2);
        printf("           ");
        if (i > 2) {
            PrintNumber(unseen, rows[i].method, "network", "captured_soft", 3);
            PrintNumber(unseen, rows[i].method, "quasistatic", "captured_soft", 3);
            PrintNumber(unseen, rows[i].method, "quasistatic", "best_soft", 3);
        }
        putchar('\n');
    }
    json_decref(root);
}

static int Run(const char* folder, bool quickly, int threads)
{
    jnError error = {0};
    bool there = false;
    if (Prepare(folder, quickly ? &quick : &whole, &there, &error) != jn_ok) {
        return jncFail(&error);
    }
    printf("%s: %s\n", folder, there ? "resuming the build" : "a new workspace with the built-in figure");
    jnaBuildDef def = jnaDefaultBuildDef();
    def.report = &jnaReportStage;
    def.threads = threads;
    def.quickReport = quickly;
    int code = jncRunBuild(folder, def, false);
    if (code == JNC_DONE) {
        PrintTable(folder);
        printf("\nReport: %s/%s\nTo see it move: jounce view %s\n", folder, JNA_REPORT_NAME, folder);
    }
    return code;
}

int jncDemo(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce demo [DIR] [--quick] [--threads N]",
        .about =

            "Runs the whole pipeline on the built-in figure. DIR becomes a workspace: the flesh is simulated in poses "
            "and\n"
            "in motion, the network is trained, and the springs are fitted to jumping jacks and calisthenics. The "
            "result is\n"
            "then evaluated on three clips that were not used for training. Prints a table and the path of the "
            "report.\n"
            "Takes a few minutes on two cores. You can interrupt it at any time; the same command resumes.\n",
        .example = "  jounce demo out && jounce view out\n",
    };
    const char* folder = "jounce-demo";
    bool quickly = false;
    long threads = 0;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("DIR", folder, NULL, "folder of the workspace (default jounce-demo)")},
        {JNC_FLAG("--quick", quickly, "a very coarse run of less than a minute, for tests")},
        {JNC_INTEGER("--threads", threads, "N", 1, 1024, "number of threads (default: all cores); the result does not depend on it")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    return code >= 0 ? code : Run(folder, quickly, (int)threads);
}
