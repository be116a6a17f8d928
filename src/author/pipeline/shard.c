// The file of a shard: a header, a record per pose, the surfaces, and for a motion the state at its end.
//
// The name carries the number and the hash of everything the shard depends on, so that a shard of other inputs is
// never taken for it. A checksum over the contents is looked at when it is read.
#include "pipeline/shard.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Part of every hash: changes when what is computed from the same inputs does.
static const char version[] = "jounce shard 2";
static const char magic[8] = "JNSHARD2";

const char* const jnaColumnNames[JNA_COLUMNS] = {"residual", "iterations", "evaluations", "path_steps", "attempts",
    "inverted", "contacts", "skinned_depth", "skinned_volume", "depth", "volume", "bones_overlap", "without_room",
    "seconds"};

typedef struct Header {
    char magic[8];
    uint64_t hash;
    uint64_t stateCount;
    int32_t count, vertexCount, recordSize, reserved;
    uint64_t checksum;
} Header;

jnaJob jnaDefaultJob(const jnaSolve* solve)
{
    return (jnaJob){.solve = solve, .threads = 1, .shardSize = 16, .parts = 1};
}

// Number of shards of a job.
static int CountShards(const jnaJob* job)
{
    return (job->count + job->shardSize - 1) / job->shardSize;
}

jnResult jnaJob_Path(const jnaJob* job, const char* name, char* path, jnError* error)
{
    return jnaJoinPath(job->folder, name, path, error);
}

// Eight bytes at a time: a checksum must not be slower than the disk.
static uint64_t Mix(const void* bytes, size_t size, uint64_t hash)
{
    const unsigned char* at = bytes;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return jnaHash(at, size, hash | 1);
}

static uint64_t HashFrames(const jnaClip* clip, int first, int count, uint64_t hash)
{
    size_t joints = (size_t)clip->jointCount, from = (size_t)first * joints, entries = (size_t)count * joints;
    hash = Mix(clip->rotations + 4 * from, entries * 4 * sizeof(float), hash);
    hash = Mix(clip->translations + 3 * from, entries * 3 * sizeof(float), hash);
    return clip->scales != NULL ? Mix(clip->scales + 3 * from, entries * 3 * sizeof(float), hash) : hash;
}

jnResult jnaCreateShardPlan(const jnaJob* job, jnaShardPlan* plan, jnError* error)
{
    JN_ASSERT(job->count > 0 && job->shardSize > 0 && job->first >= 0);
    JN_ASSERT(job->first + job->count <= job->clip->frameCount && job->parts > 0);
    *plan = (jnaShardPlan){.job = job, .shardCount = CountShards(job)};
    plan->hashes = malloc((size_t)plan->shardCount * sizeof(uint64_t));
    if (plan->hashes == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d shards", plan->shardCount);
    }
    int32_t numbers[3] = {job->motion, job->shardSize, job->solve->vertexCount};
    uint64_t base = Mix(numbers, sizeof(numbers), jnaHash(version, sizeof(version), job->hash | 1));
    if (job->motion) {
        // What happens at a frame depends on all before it, and on the curve through those after it.
        base = HashFrames(job->clip, 0, job->clip->frameCount, Mix(&job->first, sizeof(job->first), base));
        base = Mix(&job->clip->rate, sizeof(job->clip->rate), base);
    }
    plan->id = Mix(&job->count, sizeof(job->count), base);
    for (int i = 0; i < plan->shardCount; ++i) {
        int first = i * job->shardSize;
        int count = job->count - first < job->shardSize ? job->count - first : job->shardSize;
        uint64_t hash = Mix(&count, sizeof(count), base);
        hash = HashFrames(job->clip, job->first + first, count, Mix(&i, sizeof(i), hash));
        if (job->carry != NULL) {
            hash = Mix(job->carry + 12 * (size_t)first, (size_t)count * 12 * sizeof(double), hash);
        }
        plan->hashes[i] = hash;
        plan->id = Mix(&hash, sizeof(hash), plan->id);
    }
    // What lies beside the shards belongs to the outcome as well.
    for (int i = 0; i < job->arrayCount; ++i) {
        size_t size = jnaScalarSize(job->arrays[i].scalar);
        for (int k = 0; k < job->arrays[i].dimensions; ++k) {
            size *= job->arrays[i].shape[k];
        }
        plan->id = Mix(job->arrays[i].data, size, plan->id);
    }
    plan->id = job->about != NULL ? Mix(job->about, strlen(job->about), plan->id) : plan->id;
    return jn_ok;
}

void jnaDestroyShardPlan(jnaShardPlan* plan)
{
    free(plan->hashes);
    *plan = (jnaShardPlan){0};
}

jnResult jnaCreateShard(const jnaShardPlan* plan, int index, jnaShard* shard, jnError* error)
{
    const jnaJob* job = plan->job;
    int first = index * job->shardSize;
    int count = job->count - first < job->shardSize ? job->count - first : job->shardSize;
    *shard = (jnaShard){.index = index, .first = first, .count = count};
    jnaArena arena = {0};
    shard->records = jnaArena_Give(&arena, count, sizeof(*shard->records));
    shard->positions = jnaArena_Give(&arena, (int64_t)count * job->solve->vertexCount, 3 * sizeof(float));
    shard->state = job->motion ? jnaArena_Give(&arena, (int64_t)job->solve->stateCount, sizeof(double)) : NULL;
    if (arena.failed) {
        jnaDestroyShard(shard);
    }
    return jnaArena_Check(&arena, "a shard", error);
}

void jnaDestroyShard(jnaShard* shard)
{
    free(shard->records);
    free(shard->positions);
    free(shard->state);
    *shard = (jnaShard){0};
}

static jnResult ShardPath(const jnaShardPlan* plan, int index, char* path, jnError* error)
{
    char name[JNA_NAME_LENGTH + 64];
    snprintf(
        name, sizeof(name), "%.64s/%06d-%016" PRIx64 ".shard", plan->job->names.shards, index, plan->hashes[index]);
    return jnaJob_Path(plan->job, name, path, error);
}

// Sizes of the three blocks after the header.
typedef struct Sizes {
    size_t records, positions, state;
} Sizes;

static Sizes SizesOf(const jnaShardPlan* plan, int count)
{
    const jnaSolve* solve = plan->job->solve;
    return (Sizes){(size_t)count * sizeof(jnaRecord), (size_t)count * (size_t)solve->vertexCount * 3 * sizeof(float),
        plan->job->motion ? solve->stateCount * sizeof(double) : 0};
}

static Header HeaderOf(const jnaShardPlan* plan, int index, int count)
{
    Header header = {.hash = plan->hashes[index], .count = count, .vertexCount = plan->job->solve->vertexCount};
    memcpy(header.magic, magic, sizeof(magic));
    header.stateCount = plan->job->motion ? plan->job->solve->stateCount : 0;
    header.recordSize = sizeof(jnaRecord);
    return header;
}

static uint64_t Checksum(const jnaShard* shard, Sizes sizes)
{
    uint64_t sum = Mix(shard->positions, sizes.positions, Mix(shard->records, sizes.records, 1));
    return sizes.state > 0 ? Mix(shard->state, sizes.state, sum) : sum;
}

bool jnaShard_Exists(const jnaShardPlan* plan, int index)
{
    char path[JNA_PATH_LENGTH];
    struct stat status;
    const jnaJob* job = plan->job;
    int first = index * job->shardSize;
    int count = job->count - first < job->shardSize ? job->count - first : job->shardSize;
    Sizes sizes = SizesOf(plan, count);
    return ShardPath(plan, index, path, NULL) == jn_ok && stat(path, &status) == 0 &&
           (size_t)status.st_size == sizeof(Header) + sizes.records + sizes.positions + sizes.state;
}

jnResult jnaShard_Write(const jnaShardPlan* plan, const jnaShard* shard, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaFile file;
    Sizes sizes = SizesOf(plan, shard->count);
    Header header = HeaderOf(plan, shard->index, shard->count);
    header.checksum = Checksum(shard, sizes);
    JN_PASS(ShardPath(plan, shard->index, path, error));
    JN_PASS(jnaCreateFile(path, &file, error));
    fwrite(&header, sizeof(header), 1, file.stream);
    fwrite(shard->records, 1, sizes.records, file.stream);
    fwrite(shard->positions, 1, sizes.positions, file.stream);
    if (sizes.state > 0) {
        fwrite(shard->state, 1, sizes.state, file.stream);
    }
    return jnaFile_Commit(&file, error);
}

jnResult jnaShard_Read(const jnaShardPlan* plan, jnaShard* shard, bool* good, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *good = false;
    JN_PASS(ShardPath(plan, shard->index, path, error));
    FILE* file;
    jnResult opened = jnaOpenInput(path, &file, error);
    if (file == NULL) {
        return errno == ENOENT ? jn_ok : opened;
    }
    Sizes sizes = SizesOf(plan, shard->count);
    Header header, expected = HeaderOf(plan, shard->index, shard->count);
    bool whole = fread(&header, sizeof(header), 1, file) == 1 &&
                 fread(shard->records, 1, sizes.records, file) == sizes.records &&
                 fread(shard->positions, 1, sizes.positions, file) == sizes.positions &&
                 (sizes.state == 0 || fread(shard->state, 1, sizes.state, file) == sizes.state);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed) {
        return jnFail(error, jn_ioFailed, "%s: cannot read", path);
    }
    if (whole) {
        expected.checksum = Checksum(shard, sizes);
        *good = memcmp(&header, &expected, sizeof(header)) == 0;
        for (int i = 0; i < shard->count; ++i) {
            shard->records[i].reason[JNA_REASON_LENGTH - 1] = '\0';
        }
    }
    if (!*good) {
        (void)unlink(path);
    }
    return jn_ok;
}

static bool EndsWith(const char* text, const char* end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static void RemoveEnding(const char* folder, const char* prefix, const char* end)
{
    DIR* entries = opendir(folder);
    for (struct dirent* entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        char path[JNA_PATH_LENGTH];
        if (EndsWith(entry->d_name, end) && strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            jnaJoinPath(folder, entry->d_name, path, NULL) == jn_ok) {
            (void)unlink(path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

void jnaShardPlan_Remove(const jnaShardPlan* plan, bool shards)
{
    const jnaJob* job = plan->job;
    char path[JNA_PATH_LENGTH];
    if (jnaJob_Path(job, job->names.shards, path, NULL) != jn_ok) {
        return;
    }
    RemoveEnding(path, "", ".part");
    if (shards) {
        RemoveEnding(path, "", ".shard");
        (void)rmdir(path);
        // The record of the stage comes later: where it is on the disk, nobody looks for shards any more.
        jnaSyncFolderOf(path);
    }
    const char* names[] = {job->names.positions, job->names.valid, job->names.times, job->names.json};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        char prefix[JNA_NAME_LENGTH + 2];
        snprintf(prefix, sizeof(prefix), "%.64s.", names[i]);
        RemoveEnding(job->folder, prefix, ".part");
    }
}

void jnaFillRecord(const jnaFleshReport* report, int attempts, int vertexCount, float* positions, jnaRecord* record)
{
    const double values[JNA_COLUMNS] = {report->residual, report->iterations, report->evaluations, report->pathSteps,
        attempts, report->invertedCount, report->contactCount, report->skinned.depth, report->skinned.volume,
        report->solved.depth, report->solved.volume, report->bones.depth, report->withoutRoom, report->seconds};
    *record = (jnaRecord){0};
    for (int i = 0; i < JNA_COLUMNS; ++i) {
        record->values[i] = isfinite(values[i]) ? values[i] : -1;
    }
    if (!report->converged) {
        snprintf(record->reason, sizeof(record->reason), "%s", report->reason);
        if (record->reason[0] == '\0') {
            strcpy(record->reason, "did not converge");
        }
    }
    for (size_t i = 0; i < 3 * (size_t)vertexCount; ++i) {
        if (!isfinite(positions[i])) {
            snprintf(record->reason, sizeof(record->reason), "vertex %zu is not finite", i / 3);
            memset(positions, 0, 3 * (size_t)vertexCount * sizeof(float));
            break;
        }
    }
}

void jnaJob_Carry(const jnaJob* job, int index, float* positions)
{
    if (job->carry == NULL) {
        return;
    }
    const double* m = job->carry + 12 * (size_t)index;
    for (int v = 0; v < job->solve->vertexCount; ++v) {
        float* p = positions + 3 * (size_t)v;
        double x = (double)p[0], y = (double)p[1], z = (double)p[2];
        for (int i = 0; i < 3; ++i) {
            p[i] = (float)(m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2] * z + m[4 * i + 3]);
        }
    }
}
