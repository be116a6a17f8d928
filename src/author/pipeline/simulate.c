// The jobs of a workspace: training poses, clips solved frame by frame, clips in motion.
#include "pipeline/simulate.h"

#include "base/path.h"
#include "base/try.h"
#include "pipeline/simulation.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Frames between two checkpoints of a motion.
enum { MOTION_SHARD = 30 };

jnaSimulateDef jnaDefaultSimulateDef(void)
{
    return (jnaSimulateDef){.parts = 1};
}

// A look writes nothing.
static jnResult PrepareFolder(
    const jnaSimulateDef* def, const char* parent, const char* name, char* folder, jnError* error)
{
    return def->look ? jnaJoinPath(parent, name, folder, error) : jnaMakeFolder(parent, name, folder, error);
}

static jnaJob BeginJob(const jnaSimulation* s, const jnaSimulateDef* def)
{
    jnaJob job = jnaDefaultJob(&s->solve);
    job.hash = s->poseHash;
    job.threads = def->threads;
    job.part = def->part;
    job.parts = def->parts;
    job.next = def->next;
    job.nextUser = def->nextUser;
    job.workOnly = def->workOnly;
    job.force = def->force;
    job.look = def->look;
    job.watch = def->watch;
    return job;
}

// The clips that frames are taken from, by name: the numbers in clip.npy. Test clips are not among them.
static char* DescribePoses(const jnaSimulation* s)
{
    json_t* clips = json_array();
    for (int i = 0; i < s->manifest->clipCount; ++i) {
        const jnaManifestClip* clip = &s->manifest->clips[i];
        if (clip->role == jna_train && clip->frames != 0) {
            json_array_append_new(clips, json_string(clip->name));
        }
    }
    json_t* root = json_pack("{s:o}", "clips", clips);
    char* text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

jnResult jnaSimulatePoses(
    jnaSimulation* s, int count, const jnaSimulateDef* def, jnaJobReport* report, jnaNotes* notes, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaPoseSet poses = {0};
    jnaClip clip = {0};
    jnResult result = jn_ok;
    char* about = DescribePoses(s);
    JN_TRY(about != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the poses"));
    JN_TRY(jnaSimulation_SamplePoses(s, count, &poses, notes, error));
    JN_TRY(jnaPoseSet_ToClip(&poses, s->character, &clip, error));
    JN_TRY(PrepareFolder(def, s->workspace->path, "poses", folder, error));
    size_t n = (size_t)poses.count, joints = (size_t)poses.jointCount;
    const jnaJobArray arrays[] = {{"poses.npy", jna_float32, 3, {n, joints, 4}, poses.rotations},
        {"kind.npy", jna_uint8, 1, {n}, poses.kinds}, {"clip.npy", jna_int32, 1, {n}, poses.clips},
        {"frame.npy", jna_int32, 1, {n}, poses.frames}, {"held_out.npy", jna_uint8, 1, {n}, poses.heldOut}};
    jnaJob job = BeginJob(s, def);
    job.folder = folder;
    job.names = (jnaJobNames){"positions.npy", "valid.npy", "times.npy", "poses.json", "shards"};
    job.clip = &clip;
    job.count = poses.count;
    job.arrays = arrays;
    job.arrayCount = sizeof(arrays) / sizeof(arrays[0]);
    job.about = about;
    JN_TRY(jnaRunJob(&job, report, error));
done:
    jnaDestroyClip(&clip);
    jnaDestroyPoses(&poses);
    free(about);
    return result;
}

// The folder of a clip's motion, and the frames that are asked for.
static jnResult PrepareClip(const jnaSimulation* s, const jnaClipRange* range, const jnaSimulateDef* def, char* folder,
    int* count, jnError* error)
{
    char parent[JNA_NAME_LENGTH + 16];
    const jnaClip* clip = jnaSimulation_Clip(s, range->clip);
    *count = range->count > 0 ? range->count : clip->frameCount - range->first;
    if (range->first < 0 || range->first >= clip->frameCount || *count > clip->frameCount - range->first) {
        return jnFail(error, jn_badArgument, "clip %s has %d frames, none from %d to %d", clip->name, clip->frameCount,
            range->first, range->first + *count - 1);
    }
    char path[JNA_PATH_LENGTH];
    jnaSimulation_Folder(s, range->clip, parent);
    char* name = strchr(parent, '/');
    *name = '\0';
    JN_PASS(PrepareFolder(def, s->workspace->path, parent, path, error));
    return PrepareFolder(def, path, name + 1, folder, error);
}

jnResult jnaSimulateClip(
    jnaSimulation* s, const jnaClipRange* range, const jnaSimulateDef* def, jnaJobReport* report, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    const jnaClip* clip = &s->clips[range->clip];
    jnaClip still = {0};
    jnaJob job = BeginJob(s, def);
    double* carry = NULL;
    jnResult result = jn_ok;
    JN_TRY(PrepareClip(s, range, def, folder, &job.count, error));
    JN_TRY(jnaClip_WithoutRoot(s->character, clip, &still, error));
    carry = malloc((size_t)job.count * 12 * sizeof(double));
    JN_TRY(carry != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for %d frames", job.count));
    for (int i = 0; i < job.count; ++i) {
        jnaRootMotion(s->character, clip, range->first + i, carry + 12 * (size_t)i);
    }
    job.folder = folder;
    job.names = (jnaJobNames){
        "quasistatic.npy", "quasistatic_valid.npy", "quasistatic_times.npy", "quasistatic.json", "quasistatic.shards"};
    job.clip = &still;
    job.first = range->first;
    job.carry = carry;
    JN_TRY(jnaRunJob(&job, report, error));
done:
    free(carry);
    jnaDestroyClip(&still);
    return result;
}

// Several motions at the same time, seen as one.
typedef struct Crowd {
    const jnaSimulateDef* def;
    int count;
    jnaProgress* progress; // [count]
    bool stop;
} Crowd;

typedef struct Member {
    Crowd* crowd;
    int index;
} Member;

static bool WatchMember(const jnaProgress* progress, void* user)
{
    Member* member = user;
    Crowd* crowd = member->crowd;
    bool goes;
#pragma omp critical(jnaWatchMember)
    {
        jnaProgress sum = {.waiting = true};
        crowd->progress[member->index] = *progress;
        for (int i = 0; i < crowd->count; ++i) {
            const jnaProgress* p = &crowd->progress[i];
            sum.done += p->done;
            sum.total += p->total;
            sum.solved += p->solved;
            sum.waiting = sum.waiting && (p->waiting || p->done == p->total);
        }
        if (!crowd->stop) {
            crowd->stop = !jnaWatch_Count(&crowd->def->watch, &sum);
        }
        goes = !crowd->stop;
    }
    return goes;
}

static jnResult RunMotion(
    jnaSimulation* s, const jnaClipRange* range, Member* member, jnaJobReport* report, jnError* error)
{
    char folder[JNA_PATH_LENGTH];
    jnaJob job = BeginJob(s, member->crowd->def);
    JN_PASS(PrepareClip(s, range, member->crowd->def, folder, &job.count, error));
    job.folder = folder;
    job.names =
        (jnaJobNames){"dynamic.npy", "dynamic_valid.npy", "dynamic_times.npy", "dynamic.json", "dynamic.shards"};
    job.clip = jnaSimulation_Clip(s, range->clip);
    job.first = range->first;
    job.motion = true;
    job.hash = s->motionHash;
    job.shardSize = MOTION_SHARD;
    // A part is whole clips, and each is done by whoever has it.
    job.part = 0;
    job.parts = 1;
    job.next = NULL;
    job.workOnly = false;
    job.watch = (jnaWatch){WatchMember, member};
    return jnaRunJob(&job, report, error);
}

// The next clip of this run; `count` at the end.
static int NextMotion(const jnaSimulateDef* def, int count, int* cursor)
{
    int index;
#pragma omp critical(jnaNextMotion)
    {
        do {
            index = def->next != NULL ? def->next(def->nextUser) : (*cursor)++;
        } while (index < count && def->next == NULL && index % def->parts != def->part);
    }
    return index < 0 || index > count ? count : index;
}

jnResult jnaSimulateMotions(jnaSimulation* s, int count, const jnaClipRange* ranges, const jnaSimulateDef* def,
    jnaJobReport* reports, jnError* error)
{
    int threads = def->threads > 0 ? def->threads : omp_get_max_threads(), cursor = 0;
    Crowd crowd = {.def = def, .count = count, .progress = calloc((size_t)count + 1, sizeof(*crowd.progress))};
    if (crowd.progress == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d clips", count);
    }
    memset(reports, 0, (size_t)count * sizeof(*reports));
    jnResult result = jnaSimulation_ShareFlesh(s, error);
    if (result != jn_ok) {
        free(crowd.progress);
        return result;
    }
    for (int i = 0; i < count; ++i) {
        crowd.progress[i].total =
            ranges[i].count > 0 ? ranges[i].count : jnaSimulation_Clip(s, ranges[i].clip)->frameCount - ranges[i].first;
        // Those of other parts do not count.
        if (def->next == NULL && i % def->parts != def->part) {
            crowd.progress[i].total = 0;
        }
    }
#pragma omp parallel num_threads(threads < count ? threads : count)
    for (int i; (i = NextMotion(def, count, &cursor)) < count;) {
        jnError failure = {0};
        Member member = {&crowd, i};
        jnResult outcome = RunMotion(s, &ranges[i], &member, &reports[i], &failure);
#pragma omp critical(jnaMotionResult)
        if (outcome != jn_ok && result == jn_ok) {
            result = outcome;
            *error = failure;
        }
    }
    free(crowd.progress);
    return result;
}
