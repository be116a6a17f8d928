// jounce simulate: the flesh in training poses and in clips, by threads, runs and machines.
#include "cli.h"
#include "ranks.h"

#include "base/input.h"

#include "pipeline/simulate.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// More failed poses than this share are told loudly.
#define MOST_FAILED 0.01

/// What was asked for on the line.
typedef struct Request {
    const char* workspace;
    bool poses, dynamic, allClips, shake, merge, force, json, firstGiven, framesGiven;
    long poseCount, first, frames, threads;
    jncList clips;
    int part, parts;
} Request;

/// One job of it, and what became of it.
typedef struct Done {
    char what[JNA_NAME_LENGTH + 32];
    char path[JNA_NAME_LENGTH + 64]; // inside the workspace
    const char* unit;
    int count;
    jnaJobReport report;
} Done;

typedef struct Run {
    const Request* request;
    jnaSimulation* simulation;
    jncRanks ranks;
    jncProgress progress;
    jnaNotes notes;
    int doneCount;
    Done done[JNC_MAX_REPEATS + JNA_SHAKES + 1];
} Run;

static bool Watch(const jnaProgress* p, void* user)
{
    Run* run = user;
    jnaProgress all = *p;
    if (run->ranks.size > 1) {
        // Rank 0 knows what all have been given.
        int given = 16 * jncRanks_HandedOut(&run->ranks), there = p->done - p->solved;
        all.done = given < p->total ? given : p->total;
        all.solved = all.done > there ? all.done - there : 0;
    }
    return run->ranks.rank > 0 || jncShowProgress(&all, &run->progress);
}

static jnaSimulateDef DefOf(Run* run)
{
    const Request* r = run->request;
    jnaSimulateDef def = jnaDefaultSimulateDef();
    def.threads = (int)r->threads;
    def.part = r->part;
    def.parts = r->parts;
    def.force = r->force;
    def.watch = (jnaWatch){Watch, run};
    if (r->merge) {
        // A part that has no shard.
        def.parts = INT_MAX;
        def.part = INT_MAX - 1;
    }
    if (run->ranks.size > 1) {
        def.threads = r->threads > 0 ? (int)r->threads : 1;
        def.workOnly = true;
        def.next = run->ranks.queued ? jncRanks_Next : NULL;
        def.nextUser = &run->ranks;
        def.part = run->ranks.queued ? 0 : run->ranks.rank;
        def.parts = run->ranks.queued ? 1 : run->ranks.size;
    }
    return def;
}

// Which job: poses, or one clip frame by frame.
typedef struct Piece {
    const jnaClipRange* range; // NULL: poses
    jnaJobReport* report;
} Piece;

static jnResult RunPiece(Run* run, const Piece* piece, const jnaSimulateDef* def, jnError* error)
{
    return piece->range != NULL ? jnaSimulateClip(run->simulation, piece->range, def, piece->report, error)
                                : jnaSimulatePoses(run->simulation, (int)run->request->poseCount, def, piece->report,
                                      run->notes.count == 0 ? &run->notes : NULL, error);
}

// All ranks work on the shards; then rank 0 alone looks after what is left, and merges.
static jnResult Share(Run* run, const Piece* piece, jnError* error)
{
    jnaSimulateDef def = DefOf(run);
    jncRanks_Open(&run->ranks);
    jnResult result = RunPiece(run, piece, &def, error);
    jncRanks_Close(&run->ranks);
    if (run->ranks.size == 1) {
        return result;
    }
    bool all = jncRanks_All(&run->ranks, result == jn_ok);
    int solved = piece->report->solved;
    if (all && run->ranks.rank == 0) {
        def.next = NULL;
        def.part = 0;
        def.parts = 1;
        def.workOnly = false;
        result = RunPiece(run, piece, &def, error);
        piece->report->solved += solved;
    } else if (!all && result == jn_ok) {
        *error = (jnError){
            jn_ioFailed, "another MPI process failed; finished work is kept, and the same command resumes it"};
        result = jn_ioFailed;
    }
    return result;
}

static Done* AddDone(Run* run, const char* unit)
{
    Done* done = &run->done[run->doneCount++];
    *done = (Done){.unit = unit};
    return done;
}

static jnResult RunPoses(Run* run, jnError* error)
{
    Done* done = AddDone(run, "poses");
    snprintf(done->what, sizeof(done->what), "poses");
    snprintf(done->path, sizeof(done->path), "poses/poses.json");
    run->progress = jncBeginProgress("poses");
    jnResult result = Share(run, &(Piece){NULL, &done->report}, error);
    jncEndProgress(&run->progress);
    return result;
}

static jnResult RunClips(Run* run, int count, const jnaClipRange* ranges, jnError* error)
{
    jnResult result = jn_ok;
    for (int i = 0; result == jn_ok && i < count; ++i) {
        const char* name = jnaSimulation_Clip(run->simulation, ranges[i].clip)->name;
        Done* done = AddDone(run, "frames");
        snprintf(done->what, sizeof(done->what), "%s, quasistatic", name);
        snprintf(done->path, sizeof(done->path), "motion/%s/quasistatic.json", name);
        run->progress = jncBeginProgress(name);
        result = Share(run, &(Piece){&ranges[i], &done->report}, error);
        jncEndProgress(&run->progress);
    }
    return result;
}

static jnResult RunMotions(Run* run, int count, const jnaClipRange* ranges, jnError* error)
{
    jnaJobReport reports[JNC_MAX_REPEATS + JNA_SHAKES];
    jnaSimulateDef def = DefOf(run);
    run->progress = jncBeginProgress("frames");
    jncRanks_Open(&run->ranks);
    jnResult result = jnaSimulateMotions(run->simulation, count, ranges, &def, reports, error);
    jncRanks_Close(&run->ranks);
    jncEndProgress(&run->progress);
    bool all = jncRanks_All(&run->ranks, result == jn_ok);
    if (!all && result == jn_ok) {
        *error = (jnError){
            jn_ioFailed, "another MPI process failed; finished work is kept, and the same command resumes it"};
        result = jn_ioFailed;
    }
    for (int i = 0; i < count; ++i) {
        const char* name = jnaSimulation_Clip(run->simulation, ranges[i].clip)->name;
        Done* done = AddDone(run, "frames");
        char folder[JNA_NAME_LENGTH + 16];
        jnaSimulation_Folder(run->simulation, ranges[i].clip, folder);
        snprintf(done->what, sizeof(done->what), "%s, dynamic", name);
        snprintf(done->path, sizeof(done->path), "%s/dynamic.json", folder);
        done->report = reports[i];
    }
    return result;
}

// The frames of each clip: those of the manifest, unless the line says otherwise. A clip of which the manifest wants
// none is left out of --clips; one that was named is taken as a whole. Returns how many are left or -1 with an error.
static int CutRanges(const Run* run, jnaClipRange* ranges, int count, jnError* error)
{
    const Request* r = run->request;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        jnaClipRange range;
        int all = jnaSimulation_Clip(run->simulation, ranges[i].clip)->frameCount;
        if (jnaSimulation_Part(run->simulation, ranges[i].clip, &range, error) != jn_ok) {
            return -1;
        }
        bool wanted = range.count > 0 || !r->allClips || r->framesGiven;
        range.first = r->firstGiven ? (int)r->first : range.first;
        int left = all - range.first;
        if (r->framesGiven) {
            range.count = (int)r->frames < left ? (int)r->frames : left;
        } else if (range.count == 0 || range.count > left) {
            range.count = left;
        }
        if (wanted) {
            ranges[kept++] = range;
        }
    }
    return kept;
}

// The clips that were asked for, each once. Returns their number or -1 with an error.
static int ListClips(const Run* run, jnaClipRange* ranges, jnError* error)
{
    const Request* r = run->request;
    int count = 0, known = jnaSimulation_ClipCount(run->simulation);
    for (int i = 0; r->allClips && i < known && count < JNC_MAX_REPEATS; ++i) {
        ranges[count++].clip = i;
    }
    for (int i = 0; i < r->clips.count; ++i) {
        int clip = jnaSimulation_FindClip(run->simulation, r->clips.words[i]);
        bool twice = r->allClips;
        for (int k = 0; k < count; ++k) {
            twice = twice || ranges[k].clip == clip;
        }
        if (clip < 0) {
            error->code = jn_badArgument;
            snprintf(
                error->message, sizeof(error->message), "%.200s: has no clip '%.64s'", r->workspace, r->clips.words[i]);
            return -1;
        }
        if (!twice) {
            ranges[count++].clip = clip;
        }
    }
    return CutRanges(run, ranges, count, error);
}

// The number of poses or frames and of failures, from the file that was written.
static int CountOf(const Run* run, const Done* done)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", run->request->workspace, done->path);
    json_t* root = jnaReadJson(path, 0, NULL);
    int count = (int)json_integer_value(json_object_get(root, "count"));
    json_decref(root);
    return count;
}

static bool TooManyFailed(const Done* done)
{
    return done->report.merged && done->report.failedCount > MOST_FAILED * done->count;
}

static void PrintDone(const Run* run, const Done* done)
{
    const jnaJobReport* r = &done->report;
    printf("%s: %s: ", run->request->workspace, done->what);
    if (r->upToDate) {
        printf("up to date: %d %s, %d failed; --force makes them again\n", done->count, done->unit, r->failedCount);
        return;
    }
    if (r->merged) {
        printf("%d %s, %d failed", done->count, done->unit, r->failedCount);
        if (r->failedByBones > 0) {
            printf(", %d of them bone through bone", r->failedByBones);
        }
        if (r->withoutRoom > 0) {
            printf(", %d without room: bones gave way", r->withoutRoom);
        }
    } else if (r->shardCount > 0) {
        printf("not whole yet: %d of %d shards are missing; the last run merges them", r->missingCount, r->shardCount);
    } else {
        printf("left to another part");
    }
    if (r->solved > 0 && r->seconds > 0) {
        printf("; %d solved in %.1f s, %.0f an hour", r->solved, r->seconds, 3600 * r->solved / r->seconds);
    }
    putchar('\n');
    if (r->merged && r->failedCount > 0) {
        printf("  %s/%s lists what failed and why\n", run->request->workspace, done->path);
    }
}

static void PrintJson(const Run* run)
{
    json_t *jobs = json_array(), *notes = json_array();
    for (int i = 0; i < run->doneCount; ++i) {
        const Done* done = &run->done[i];
        const jnaJobReport* r = &done->report;
        json_array_append_new(
            jobs, json_pack("{s:s, s:s, s:b, s:b, s:i, s:i, s:i, s:i, s:b, s:i, s:i, s:i, s:f}", "what", done->what,
                      "json", done->path, "merged", r->merged, "up_to_date", r->upToDate, "count", done->count,
                      "failed", r->failedCount, "failed_by_bones", r->failedByBones, "without_room", r->withoutRoom,
                      "too_many_failed", TooManyFailed(done), "solved", r->solved, "shards", r->shardCount,
                      "missing_shards", r->missingCount, "seconds", r->seconds));
    }
    for (int i = 0; i < run->notes.count; ++i) {
        json_array_append_new(notes, json_string(run->notes.lines[i]));
    }
    json_t* root = json_pack("{s:s, s:o, s:o}", "workspace", run->request->workspace, "jobs", jobs, "notes", notes);
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}

static void Tell(Run* run)
{
    for (int i = 0; i < run->doneCount; ++i) {
        Done* done = &run->done[i];
        done->count = done->report.merged ? CountOf(run, done) : 0;
        if (!run->request->json) {
            PrintDone(run, done);
        }
        if (TooManyFailed(done)) {
            fprintf(stderr, "jounce: warning: %s: %d of %d %s failed, more than 1 %%; look at %s/%s\n", done->what,
                done->report.failedCount, done->count, done->unit, run->request->workspace, done->path);
        }
    }
    if (run->request->json) {
        PrintJson(run);
    } else {
        jncPrintNotes(&run->notes);
    }
}

static int Simulate(const Request* request)
{
    static Run run;
    run = (Run){.request = request};
    jncBeginRanks(&run.ranks);
    jnError error = {0};
    jnaClipRange ranges[JNC_MAX_REPEATS], shakes[JNA_SHAKES];
    int clips = 0, shakeCount = 0;
    jnResult result = jnaOpenSimulation(request->workspace, &run.simulation, &error);
    if (result == jn_ok) {
        clips = ListClips(&run, ranges, &error);
        result = clips < 0 ? jn_badArgument : jn_ok;
    }
    if (result == jn_ok && request->shake) {
        result = jnaSimulation_ListShakes(run.simulation, shakes, &shakeCount, &error);
    }
    // A rank that cannot even begin must not leave the others waiting.
    bool begun = jncRanks_All(&run.ranks, result == jn_ok);
    if (begun && request->poses) {
        result = RunPoses(&run, &error);
    }
    if (begun && result == jn_ok && clips > 0) {
        result = request->dynamic ? RunMotions(&run, clips, ranges, &error) : RunClips(&run, clips, ranges, &error);
    }
    if (begun && result == jn_ok && shakeCount > 0) {
        result = RunMotions(&run, shakeCount, shakes, &error);
    }
    int code = JNC_DONE;
    if (result != jn_ok) {
        code = jncFail(&error);
    } else if (run.ranks.rank == 0 && begun) {
        Tell(&run);
    }
    code = begun ? code : JNC_FAILED;
    jnaDestroyNotes(&run.notes);
    jnaCloseSimulation(run.simulation);
    jncEndRanks(&run.ranks);
    return code;
}

// "2/5": the second of five.
static bool ParseShard(const char* text, Request* request)
{
    char* end;
    long part = strtol(text, &end, 10), parts = *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || part < 1 || parts < part || parts > 100000) {
        return false;
    }
    request->part = (int)part - 1;
    request->parts = (int)parts;
    return true;
}

static int CheckRequest(Request* r, const char* shard)
{
    if (r->dynamic && !r->allClips && r->clips.count == 0) {
        return jncMisuse("--dynamic needs --clip NAME or --clips");
    }
    if (!r->poses && !r->allClips && !r->shake && r->clips.count == 0) {
        return jncMisuse("say what to simulate: --poses, --clip NAME, --clips or --shake");
    }
    if (shard != NULL && !ParseShard(shard, r)) {
        return jncMisuse("--shard: '%s' is not of the form 2/5, the second of five", shard);
    }
    if (r->merge && (shard != NULL || r->force)) {
        return jncMisuse("--merge solves nothing; it goes without --shard and --force");
    }
    if (r->force && shard != NULL) {
        return jncMisuse(
            "--force with --shard would delete the work of other shards; remove the folder yourself instead");
    }
    return -1;
}

int jncSimulate(int argc, char** argv)
{
    static const jncUsage usage = {
        "jounce simulate WORKSPACE --poses [N] | --clip NAME ... | --clips [--dynamic] | --shake",
        "Simulates the flesh: in the training poses of the manifest (--poses), in every frame of a clip separately\n"
        "(--clip, quasistatic), in motion through a clip (--clip --dynamic), or shaken in the mean pose of the\n"
        "clips and in four others (--shake), which is what springs on modes are fitted to. Writes surfaces to "
        "WORKSPACE/poses "
        "and\n"
        "WORKSPACE/motion/NAME as .npy, with a JSON file of residuals, contact and failures.\n"
        "The work is divided into shards. You can interrupt a run at any time; the same command resumes it. Several "
        "runs at\n"
        "the same time share the work, other machines can do a part with --shard on a shared folder, and mpirun hands "
        "out\n"
        "shards to its processes (one thread each unless --threads is given). The result does not depend on any of "
        "this.\n",
        "  jounce simulate hero --poses 5000\n"
        "  jounce simulate hero --clip walk --clip jump --dynamic --frames 450\n"
        "  jounce simulate hero --poses --shard 2/4        # the second of four machines\n"
        "  mpirun -n 8 jounce simulate hero --poses\n"};
    Request r = {.parts = 1};
    const char* shard = NULL;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", r.workspace, NULL, "folder of the character"), .required = true},
        {JNC_INTEGER("--poses", r.poseCount, "N", 1, 1e7, "simulate N training poses (default: poses.count of the manifest)"), .optional = true, .given = &r.poses},
        {JNC_LIST("--clip", r.clips, "NAME", "simulate this clip"), .arity = 1},
        {JNC_FLAG("--clips", r.allClips, "simulate all clips")},
        {JNC_FLAG("--shake", r.shake, "simulate the shakes that springs on modes are fitted to; needs the modes")},
        {JNC_FLAG("--dynamic", r.dynamic, "simulate motion over time instead of single frames")},
        {JNC_INTEGER("--first", r.first, "FRAME", 0, 1e9, "first frame (default: the manifest's)"), .given = &r.firstGiven},
        {JNC_INTEGER("--frames", r.frames, "N", 1, 1e9, "maximum number of frames of each clip (default: the manifest's)"), .given = &r.framesGiven},
        {JNC_INTEGER("--threads", r.threads, "N", 1, 1024, "poses or clips solved at the same time (default: all cores)")},
        {JNC_TEXT("--shard", shard, "I/N", "do part I of N only; the part that finishes last merges")},
        {JNC_FLAG("--merge", r.merge, "merge existing shards without solving anything")},
        {JNC_FLAG("--force", r.force, "start over, even if up to date")},
        {JNC_FLAG("--json", r.json, "print what was done as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    code = code >= 0 ? code : CheckRequest(&r, shard);
    return code >= 0 ? code : Simulate(&r);
}
