// jounce audit --contact: how many frames and poses end without flesh inside flesh, how long they take, and why not.
#include "cli.h"

#include "base/arena.h"
#include "base/try.h"
#include "pipeline/simulate.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/// A line of the table.
typedef struct Row {
    int count, solved, bones; // bones: of those that were not solved
    double median, most;      // seconds
} Row;

static int Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Of one clip, -1 for the poses, or -2 for everything. scratch: [count].
static Row Sum(const jnaContactEntry* entries, int count, int clip, double* scratch)
{
    Row row = {0};
    for (int i = 0; i < count; ++i) {
        if (clip == -2 || entries[i].clip == clip) {
            scratch[row.count++] = entries[i].seconds;
            row.solved += entries[i].solved;
            row.bones += !entries[i].solved && entries[i].bones > 0;
        }
    }
    qsort(scratch, (size_t)row.count, sizeof(double), Compare);
    if (row.count > 0) {
        row.median = scratch[row.count / 2];
        row.most = scratch[row.count - 1];
    }
    return row;
}

static void PrintRow(const char* name, const Row* r)
{
    int apart = r->count - r->bones;
    printf("  %-24s %6d %7d %7d %6d %8.2f %% %8.2f %% %8.2f %7.1f\n", name, r->count, r->solved,
        r->count - r->solved - r->bones, r->bones, 100.0 * r->solved / r->count,
        apart > 0 ? 100.0 * r->solved / apart : 100.0, r->median, r->most);
}

static const char* NameOf(const jnaSimulation* simulation, int clip)
{
    return clip >= 0 ? jnaSimulation_Clip(simulation, clip)->name : "poses";
}

static void PrintTable(const jnaSimulation* simulation, const jnaContactEntry* entries, int count, double* scratch)
{
    printf("                                          flesh   bone\n"
           "                            solved  inside through   solved  without   seconds of one core\n"
           "                            count          flesh   bone      all     bones   median    most\n");
    for (int i = 0; i <= jnaSimulation_ClipCount(simulation); ++i) {
        int clip = i < jnaSimulation_ClipCount(simulation) ? i : -1;
        Row row = Sum(entries, count, clip, scratch);
        if (row.count > 0) {
            PrintRow(NameOf(simulation, clip), &row);
        }
    }
    Row all = Sum(entries, count, -2, scratch);
    PrintRow("all", &all);
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < count; ++i) {
            const jnaContactEntry* e = &entries[i];
            if (!e->solved && (e->bones > 0) == (pass == 1)) {
                printf("    %s %d: %s\n", NameOf(simulation, e->clip), e->frame, e->reason);
            }
        }
    }
}

static void PrintJson(const jnaSimulation* simulation, const jnaContactEntry* entries, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        const jnaContactEntry* e = &entries[i];
        json_array_append_new(
            list, json_pack("{s:s, s:i, s:b, s:f, s:f, s:f, s:f, s:s}", "clip", NameOf(simulation, e->clip), "frame",
                      e->frame, "solved", e->solved, "depth", e->depth, "volume", e->volume, "bones_overlap", e->bones,
                      "seconds", e->seconds, "reason", e->reason));
    }
    json_t* root = json_pack("{s:o}", "entries", list);
    json_dumpf(root, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(root);
}

int jncAuditContact(const char* workspace, int every, int poses, int threads, bool json)
{
    jnError error = {0};
    jnaSimulation* simulation = NULL;
    jnaContactEntry* entries = NULL;
    int count = 0;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaOpenSimulation(workspace, &simulation, &error));
    jncProgress progress = jncBeginProgress("contact");
    const jnaContactAuditDef def = {every, poses, threads, {jncShowProgress, &progress}};
    result = jnaAuditContact(simulation, &def, &count, &entries, &error);
    jncEndProgress(&progress);
    JN_TRY(result);
    double* scratch = jnaArena_Take(&arena, count, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "an audit", &error));
    if (json) {
        PrintJson(simulation, entries, count);
    } else {
        PrintTable(simulation, entries, count, scratch);
    }
done:
    jnaReleaseArena(&arena);
    free(entries);
    jnaCloseSimulation(simulation);
    return jncEnd(result, &error);
}
