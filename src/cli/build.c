// jounce build: every stage of a workspace that is out of date, with a plan first, one line of progress for the whole,
// and what was done in the end.
#include "build.h"
#include "base/clock.h"
#include "cli.h"
#include "pipeline/build.h"
#include "pipeline/stage_export.h"
#include "report/report.h"
#include "surface.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Between two renewals of the line.
#define RENEW 0.2
// Seconds; a longer plan says what would be shorter.
#define LONG_BUILD 600.0

typedef struct Teller {
    const char* workspace;
    jncProgress progress; // for Ctrl-C and the clock
    bool quiet, planOnly;
    bool lines; // progress as lines of JSON, for programs
    bool shown;
    bool whole;   // no stage was named to end at
    bool silent;  // no notes
    bool planned; // the plan is behind us, and notes may follow
    int said;     // notes that were printed
} Teller;

// Prints the notes that are new, as soon as their stage ended: a log is read while the build runs.
static void PrintNotes(const jnaNotes* notes, void* user)
{
    Teller* teller = user;
    if (teller->silent || !teller->planned) {
        return;
    }
    if (teller->shown) {
        fprintf(stderr, "\r\033[K");
        teller->shown = false;
    }
    for (; teller->said < notes->count; ++teller->said) {
        printf("%s\n", notes->lines[teller->said]);
    }
}

// What somebody may want instead of a long build. It can be stopped at any time and resumes.
static void PrintShorter(const Teller* teller, const jnaBuildStep* steps)
{
    char text[24];
    double modes = 0;
    for (int i = 0; i <= (int)jna_buildModes; ++i) {
        modes += steps[i].needed && !steps[i].fresh ? steps[i].estimate : 0;
    }
    printf(
        "  shorter: jounce build %s --until modes, about %s: flesh by its material alone, without poses and network\n"
        "           poses.count in manifest.yaml: fewer poses; Ctrl-C stops, the same command resumes\n",
        teller->workspace, jncFormatTime(modes, text));
}

static void PrintPlan(const jnaBuildStep* steps, void* user)
{
    Teller* teller = user;
    char text[24];
    double total = 0;
    teller->planned = true;
    if (teller->quiet) {
        return;
    }
    printf("%s: plan\n", teller->workspace);
    for (int i = 0; i < jna_buildStageCount; ++i) {
        const jnaBuildStep* step = &steps[i];
        const char* name = jnaBuildStageName((jnaBuildStage)i);
        if (!step->needed) {
            printf("  %-9s %7s  %s\n", name, "-", step->reason);
        } else if (step->fresh) {
            printf("  %-9s %7s  %s\n", name, "", step->made ? "done" : "up to date");
        } else {
            printf("  %-9s %7s  %s\n", name, jncFormatTime(step->estimate, text), step->reason);
            total += step->estimate;
        }
    }
    printf("  about %s in total\n", jncFormatTime(total, text));
    if (total > LONG_BUILD && teller->whole) {
        PrintShorter(teller, steps);
    }
    fflush(stdout);
}

// The same for programs that show it in their own way; one line, one write.
static void PrintProgressLine(const jnaProgress* p)
{
    json_t* line = json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:s}", "stage", p->part.name, "number", p->part.number,
        "count", p->part.count, "fraction", p->part.share, "whole", p->share, "seconds_left", p->secondsLeft, "detail",
        p->detail);
    char* text = line != NULL ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (text != NULL) {
        fprintf(stderr, "%s\n", text);
    }
    free(text);
    json_decref(line);
}

// "build 4/9 poses 37 % (112 of 300 poses), 41 % of all, 2:10 left"
static bool ShowProgress(const jnaProgress* p, void* user)
{
    Teller* teller = user;
    char left[24];
    double now = jnaWallClock();
    bool due = now - teller->progress.shown > RENEW || p->part.share <= 0;
    if (teller->lines && due) {
        PrintProgressLine(p);
        teller->progress.shown = now;
    } else if (isatty(STDERR_FILENO) && !teller->lines && due) {
        fprintf(stderr, "\r%d/%d %s %.0f %%%s%s%s; %.0f %% in total, %s left\033[K", p->part.number, p->part.count,
            p->part.name, 100 * p->part.share, p->detail[0] != '\0' ? " (" : "", p->detail,
            p->detail[0] != '\0' ? ")" : "", 100 * p->share, jncFormatTime(p->secondsLeft, left));
        fflush(stderr);
        teller->shown = true;
        teller->progress.shown = now;
    }
    return !jncInterrupted();
}

static json_t* DescribeSteps(const jnaBuildStep* steps)
{
    json_t* list = json_array();
    for (int i = 0; i < jna_buildStageCount; ++i) {
        const jnaBuildStep* s = &steps[i];
        json_array_append_new(list,
            json_pack("{s:s, s:b, s:b, s:b, s:i, s:i, s:f, s:f, s:s}", "stage", jnaBuildStageName((jnaBuildStage)i),
                "needed", s->needed, "fresh", s->fresh, "made", s->made, "count", s->count, "left", s->left, "estimate",
                s->estimate, "seconds", s->seconds, "reason", s->reason));
    }
    return list;
}

static void PrintJson(const char* workspace, const jnaBuildStep* steps, const jnaNotes* notes)
{
    json_t* lines = json_array();
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_t* root = json_pack("{s:s, s:o, s:o, s:o?}", "workspace", workspace, "stages", DescribeSteps(steps), "notes",
        lines, "surface", steps[jna_buildExport].needed ? jncLoadSurface(workspace) : NULL);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(root);
}

// What is printed beside the result.
typedef struct Voice {
    bool quiet;   // no plan
    bool json;    // the result as JSON
    bool lines;   // progress as lines of JSON
    bool verbose; // what the surface does in each clip
} Voice;

static int Run(const char* workspace, jnaBuildDef def, Voice voice)
{
    const bool json = voice.json;
    jnError error = {0};
    jnaNotes notes = {0};
    jnaBuildStep steps[jna_buildStageCount] = {0};
    Teller teller = {.workspace = workspace,
        .progress = jncBeginProgress("build"),
        .quiet = voice.quiet || json,
        .planOnly = def.planOnly,
        .lines = voice.lines,
        .silent = json || def.planOnly,
        .whole = def.until == jna_buildReport};
    def.plan = PrintPlan;
    def.said = PrintNotes;
    def.user = &teller;
    def.watch = (jnaWatch){ShowProgress, &teller};
    def.steps = steps;
    jnResult result = jnaBuildWorkspace(workspace, &def, &notes, &error);
    if (teller.shown) {
        fprintf(stderr, "\r\033[K");
    }
    teller.planned = true;
    PrintNotes(&notes, &teller); // of the stage that failed, too
    if (json && result == jn_ok) {
        PrintJson(workspace, steps, &notes);
    }
    jnaDestroyNotes(&notes);
    if (result != jn_ok) {
        return jncFail(&error);
    }
    if (steps[jna_buildExport].needed && !json && !def.planOnly) {
        if (voice.verbose) {
            jncPrintSurface(workspace);
        }
        printf("%s/%s\n", workspace, JNA_ASSET_NAME);
    }
    if (steps[jna_buildReport].needed && !json && !def.planOnly) {
        printf("%s/%s\n", workspace, JNA_REPORT_NAME);
    }
    return JNC_DONE;
}

int jncRunBuild(const char* workspace, jnaBuildDef def, bool quiet)
{
    return Run(workspace, def, (Voice){.quiet = quiet});
}

int jncBuild(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce build WORKSPACE [--until STAGE] [--threads N] [--plan] [--verbose] [--json] [--progress]",
        .about =

            "Brings a workspace up to date. Runs, in order, the stages that the manifest needs and that are out of "
            "date:\n"
            "import, volume, modes, poses, motion, train, fit, export, evaluate, report. Prints the plan with an "
            "estimate of\n"
            "the time first. You can interrupt a build at any time, even with kill -9; the same command resumes it and "
            "gives\n"
            "the same result.\n"
            "--until stops after a stage. Every build from the stage modes on ends with WORKSPACE/character.jounce, "
            "the file\n"
            "that the runtime plays. The build then plays every clip, counts triangles that flip and edges that tear, "
            "and "
            "draws the\n"
            "worst frame to WORKSPACE/preview.png. --until modes gives secondary motion from vibration modes in about "
            "a minute.\n",
        .example = "  jounce new hero --from hero.glb && jounce build hero --until modes\n"
                   "  jounce build hero\n",
    };
    const char* names[jna_buildStageCount];
    char words[128];
    for (int i = 0; i < jna_buildStageCount; ++i) {
        names[i] = jnaBuildStageName((jnaBuildStage)i);
    }
    jncJoinWords(names, jna_buildStageCount, words, sizeof(words));
    const char* workspace = NULL;
    jnaBuildDef def = jnaDefaultBuildDef();
    def.report = &jnaReportStage;
    int until = jna_buildReport;
    long threads = 0;
    bool confined = false;
    Voice voice = {0};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", workspace, NULL, "folder made by jounce new"), .required = true},
        {JNC_CHOICE("--until", until, words, "last stage to run (default report)")},
        {JNC_INTEGER("--threads", threads, "N", 1, 1024, "number of threads (default: all cores); the result does not depend on it")},
        JNC_REQUIRE_SANDBOX(confined),
        {JNC_FLAG("--plan", def.planOnly, "print the plan and exit")},
        {JNC_FLAG("--verbose", voice.verbose, "print what the surface does in each clip: breaks, largest offset, strength of the motion by region")},
        {JNC_FLAG("--json", voice.json, "print what was done as JSON")},
        {JNC_FLAG("--progress", voice.lines, "print progress as lines of JSON on standard error, for programs")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jncRequireSandbox(confined);
    def.until = (jnaBuildStage)until;
    def.threads = (int)threads;
    return Run(workspace, def, voice);
}
