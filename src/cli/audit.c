// jounce audit: are the solved shapes a function of the pose alone?
#include "cli.h"

#include "base/arena.h"
#include "base/try.h"
#include "pipeline/simulate.h"

#include <jansson.h>
#include <stdlib.h>

// Surfaces closer than this are the same solution, metres: the solver's tolerance leaves 0.1 to 0.2 mm.
#define SAME 1e-3

static int Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

typedef struct Spread {
    double median, most;
    int different; // poses
} Spread;

// Of the poses whose both ways converged. scratch: [count].
static Spread Measure(const jnaAuditPose* poses, int count, int way, double* scratch)
{
    int used = 0;
    Spread spread = {0};
    for (int i = 0; i < count; ++i) {
        if (poses[i].converged[0] && poses[i].converged[way]) {
            scratch[used] = way == 1 ? poses[i].finer : poses[i].direct;
            spread.different += scratch[used++] > SAME;
        }
    }
    qsort(scratch, (size_t)used, sizeof(double), Compare);
    if (used > 0) {
        spread.median = scratch[used / 2];
        spread.most = scratch[used - 1];
    }
    return spread;
}

static void PrintTable(const jnaAuditPose* poses, int count, const Spread spreads[2])
{
    static const char* const ways[] = {"twice the steps", "directly from skinning"};
    int failed[3] = {0};
    for (int i = 0; i < count; ++i) {
        for (int way = 0; way < 3; ++way) {
            failed[way] += !poses[i].converged[way];
        }
    }
    printf("%d poses; the standard path failed on %d\n", count, failed[0]);
    for (int way = 0; way < 2; ++way) {
        printf("  %-22s differs by %.3f mm in the median, %.3f mm at most; %d poses by more than %.0f mm; %d failed\n",
            ways[way], 1e3 * spreads[way].median, 1e3 * spreads[way].most, spreads[way].different, 1e3 * SAME,
            failed[way + 1]);
    }
    for (int i = 0; i < count; ++i) {
        const jnaAuditPose* p = &poses[i];
        if (p->finer > SAME || p->direct > SAME) {
            printf("    pose %d: %.1f mm with %d steps instead of %d, %.1f mm from skinning\n", p->pose, 1e3 * p->finer,
                p->pathSteps[1], p->pathSteps[0], 1e3 * p->direct);
        }
    }
}

static void PrintJson(const jnaAuditPose* poses, int count, const Spread spreads[2])
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        const jnaAuditPose* p = &poses[i];
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:i, s:f, s:f, s:[bbb], s:[iii]}", "pose", p->pose, "clip", p->clip, "frame",
                      p->frame, "finer", p->finer, "direct", p->direct, "converged", p->converged[0], p->converged[1],
                      p->converged[2], "path_steps", p->pathSteps[0], p->pathSteps[1], p->pathSteps[2]));
    }
    json_t* root = json_pack("{s:{s:f, s:f, s:i}, s:{s:f, s:f, s:i}, s:o}", "finer", "median", spreads[0].median,
        "most", spreads[0].most, "different", spreads[0].different, "direct", "median", spreads[1].median, "most",
        spreads[1].most, "different", spreads[1].different, "poses", list);
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(root);
}

int jncAudit(int argc, char** argv)
{
    static const jncUsage usage = {"jounce audit WORKSPACE [--poses N] [--contact [--every N]]",
        "Checks that simulated poses are reproducible. Solves some training poses along the standard path, along a "
        "path\n"
        "with twice the steps, and directly from skinning, and prints how far apart the surfaces are. Equilibria are "
        "not\n"
        "unique, so large differences mean that the training data depends on the path. Writes nothing.\n"
        "--contact solves frames of all clips and training poses once and prints how many end with less than 5 mm and "
        "2 cm3\n"
        "of self-penetration, how long they take, and why others fail. Poses in which bones intersect cannot be "
        "resolved\n"
        "and are counted separately.\n",
        "  jounce audit hero --poses 40\n"
        "  jounce audit hero --contact --every 10 --poses 100\n"};
    const char* workspace = NULL;
    long count = 20, threads = 0, every = 10;
    bool json = false, contact = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", workspace, NULL, "folder of the character"), .required = true},
        {JNC_INTEGER("--poses", count, "N", 1, 1e6, "number of training poses (default 20)")},
        {JNC_FLAG("--contact", contact, "check how well contact is resolved, and the time it takes")},
        {JNC_INTEGER("--every", every, "N", 1, 1e6, "with --contact: every Nth frame of each clip (default 10)")},
        {JNC_INTEGER("--threads", threads, "N", 1, 1024, "poses solved at the same time (default: all cores)")},
        {JNC_FLAG("--json", json, "print every pose as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (contact) {
        return jncAuditContact(workspace, (int)every, (int)count, (int)threads, json);
    }
    jnError error = {0};
    jnResult result = jn_ok;
    jnaSimulation* simulation = NULL;
    jnaArena arena = {0};
    jnaAuditPose* poses = jnaArena_Take(&arena, count, sizeof(*poses));
    double* scratch = jnaArena_Take(&arena, count, sizeof(*scratch));
    JN_TRY(jnaArena_Check(&arena, "an audit", &error));
    JN_TRY(jnaOpenSimulation(workspace, &simulation, &error));
    jncProgress progress = jncBeginProgress("audit");
    result = jnaAuditPoses(simulation, (int)count, (int)threads, poses, (jnaWatch){jncShowProgress, &progress}, &error);
    jncEndProgress(&progress);
    JN_TRY(result);
    const Spread spreads[2] = {Measure(poses, (int)count, 1, scratch), Measure(poses, (int)count, 2, scratch)};
    (json ? PrintJson : PrintTable)(poses, (int)count, spreads);
done:
    jnaReleaseArena(&arena);
    jnaCloseSimulation(simulation);
    return jncEnd(result, &error);
}
