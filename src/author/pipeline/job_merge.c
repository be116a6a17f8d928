// From shards to arrays, and back where a longer job can go on from a shorter one.
//
// All files are written and synced beside their final names; then the JSON of the old ones goes, the new ones get
// their names, and the new JSON comes last: arrays without it count as not there. Shards are removed only after that.
#include "pipeline/shard.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "workspace/shapes.h"

#include "runtime/for_author.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Files of the outcome besides those of the caller.
enum { POSITIONS, VALID, TIMES, OWN_FILES, MOST_FILES = 16 };

typedef struct Merge {
    const jnaShardPlan* plan;
    jnaFile files[MOST_FILES];
    int fileCount;
    json_t* columns[JNA_COLUMNS]; // borrowed from root
    json_t* failures;
    json_t* root;
    int failed, bones; // bones: of the failed ones those that drive bone through bone
    int withoutRoom;
} Merge;

static void FormatHash(uint64_t hash, char* text)
{
    snprintf(text, 17, "%016" PRIx64, hash);
}

static jnResult OpenFiles(Merge* m, jnError* error)
{
    const jnaJob* job = m->plan->job;
    size_t count = (size_t)job->count;
    size_t shape[3] = {count, (size_t)job->solve->vertexCount, 3};
    const jnaJobArray own[OWN_FILES] = {{job->names.positions, jna_float32, 3, {shape[0], shape[1], 3}, NULL},
        {job->names.valid, jna_uint8, 1, {count}, NULL}, {job->names.times, jna_float32, 1, {count}, NULL}};
    JN_ASSERT(job->arrayCount <= MOST_FILES - OWN_FILES);
    for (int i = 0; i < OWN_FILES + job->arrayCount; ++i) {
        const jnaJobArray* array = i < OWN_FILES ? &own[i] : &job->arrays[i - OWN_FILES];
        char path[JNA_PATH_LENGTH];
        JN_PASS(jnaJob_Path(job, array->name, path, error));
        JN_PASS(jnaCreateArray(path, array->scalar, array->dimensions, array->shape, &m->files[i], error));
        m->fileCount++;
        if (i >= OWN_FILES) {
            size_t size = jnaScalarSize(array->scalar);
            for (int k = 0; k < array->dimensions; ++k) {
                size *= array->shape[k];
            }
            fwrite(array->data, 1, size, m->files[i].stream);
        }
    }
    return jn_ok;
}

static json_t* Number(int column, double value)
{
    bool whole = (column >= jna_columnIterations && column <= jna_columnContacts) || column == jna_columnRoom;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

static void PutRecord(Merge* m, int pose, const jnaRecord* record)
{
    uint8_t valid = record->reason[0] != '\0'            ? jna_poseFailed
                    : record->values[jna_columnRoom] > 0 ? jna_poseWithoutRoom
                                                         : jna_poseSolved;
    float seconds = (float)record->values[jna_columnSeconds];
    fwrite(&valid, 1, 1, m->files[VALID].stream);
    fwrite(&seconds, sizeof(seconds), 1, m->files[TIMES].stream);
    for (int i = 0; i < jna_columnSeconds; ++i) {
        json_array_append_new(m->columns[i], Number(i, record->values[i]));
    }
    m->withoutRoom += valid == jna_poseWithoutRoom;
    if (valid == jna_poseFailed) {
        m->failed++;
        m->bones += record->values[jna_columnBones] > 0;
        json_array_append_new(m->failures, json_pack("{s:i, s:s}", "index", pose, "reason", record->reason));
    }
}

// The surfaces of all shards in order, with their records.
static jnResult PutShards(Merge* m, bool* good, jnError* error)
{
    const jnaShardPlan* plan = m->plan;
    size_t row = 3 * (size_t)plan->job->solve->vertexCount;
    *good = true;
    for (int i = 0; *good && i < plan->shardCount; ++i) {
        jnaShard shard;
        JN_PASS(jnaCreateShard(plan, i, &shard, error));
        jnResult result = jnaShard_Read(plan, &shard, good, error);
        if (result == jn_ok && *good) {
            fwrite(shard.positions, sizeof(float), row * (size_t)shard.count, m->files[POSITIONS].stream);
            for (int k = 0; k < shard.count; ++k) {
                PutRecord(m, shard.first + k, &shard.records[k]);
            }
        }
        jnaDestroyShard(&shard);
        JN_PASS(result);
        JN_PASS(ferror(m->files[POSITIONS].stream) != 0 ? jnaFile_Sync(&m->files[POSITIONS], error) : jn_ok);
    }
    return jn_ok;
}

// Everything that can be known before a shard is read.
static jnResult Describe(Merge* m, jnError* error)
{
    const jnaShardPlan* plan = m->plan;
    const jnaJob* job = plan->job;
    char text[17];
    FormatHash(plan->id, text);
    json_t *hashes = json_array(), *columns = json_object();
    m->failures = json_array();
    m->root = json_pack("{s:i, s:s, s:s, s:f, s:i, s:i, s:i, s:i, s:o, s:o, s:o}", "format", 1, "id", text, "clip",
        job->clip->name, "rate", job->clip->rate, "first", job->first, "count", job->count, "vertices",
        job->solve->vertexCount, "shard_size", job->shardSize, "shards", hashes, "columns", columns, "failures",
        m->failures);
    for (int i = 0; m->root != NULL && i < plan->shardCount; ++i) {
        FormatHash(plan->hashes[i], text);
        json_array_append_new(hashes, json_string(text));
    }
    for (int i = 0; m->root != NULL && i < jna_columnSeconds; ++i) {
        m->columns[i] = json_array();
        json_object_set_new(columns, jnaColumnNames[i], m->columns[i]);
    }
    if (m->root != NULL && job->about != NULL) {
        json_t* about = json_loads(job->about, 0, NULL);
        JN_ASSERT(about != NULL);
        json_object_set_new(m->root, "about", about);
    }
    return m->root != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", job->folder);
}

// What the arrays hold, but for the times, which differ from run to run.
static jnResult HashFiles(Merge* m, jnError* error)
{
    jnResult result = jn_ok;
    json_t* hashes = json_object();
    for (int i = 0; result == jn_ok && i < m->fileCount; ++i) {
        char text[17];
        uint64_t hash;
        const char* name = strrchr(m->files[i].path, '/');
        if (i != TIMES) {
            result = jnaHashFile(m->files[i].temporaryPath, &hash, error);
            FormatHash(hash, text);
            json_object_set_new(hashes, name != NULL ? name + 1 : m->files[i].path, json_string(text));
        }
    }
    json_object_set_new(m->root, "files", hashes);
    return result;
}

// Gives all files their names, the JSON last.
static jnResult Publish(Merge* m, jnError* error)
{
    const jnaJob* job = m->plan->job;
    char path[JNA_PATH_LENGTH];
    jnaFile json = {0};
    JN_PASS(jnaJob_Path(job, job->names.json, path, error));
    JN_PASS(jnaCreateFile(path, &json, error));
    jnResult result = jn_ok;
    json_object_set_new(m->root, "failed", json_integer(m->failed));
    json_object_set_new(m->root, "failed_by_bones", json_integer(m->bones));
    json_object_set_new(m->root, "without_room", json_integer(m->withoutRoom));
    for (int i = 0; i < m->fileCount; ++i) {
        JN_TRY(jnaFile_Sync(&m->files[i], error));
    }
    JN_TRY(HashFiles(m, error));
    (void)json_dumpf(m->root, json.stream, JSON_INDENT(1) | JSON_REAL_PRECISION(17) | JSON_SORT_KEYS);
    fputc('\n', json.stream);
    JN_TRY(jnaFile_Sync(&json, error));
    (void)unlink(path);
    for (int i = 0; i < m->fileCount; ++i) {
        JN_TRY(jnaFile_Commit(&m->files[i], error));
    }
    return jnaFile_Commit(&json, error);
done:
    if (json.stream != NULL) {
        jnaFile_Abandon(&json);
    }
    return result;
}

jnResult jnaMergeShards(const jnaShardPlan* plan, bool* good, jnError* error)
{
    Merge m = {.plan = plan};
    *good = true;
    jnResult result = jn_ok;
    JN_TRY(Describe(&m, error));
    JN_TRY(OpenFiles(&m, error));
    JN_TRY(PutShards(&m, good, error));
    if (*good) {
        JN_TRY(Publish(&m, error));
    }
done:
    for (int i = 0; i < m.fileCount; ++i) {
        jnaFile_Abandon(&m.files[i]);
    }
    json_decref(m.root);
    return result;
}

static json_t* LoadRecord(const jnaJob* job)
{
    char path[JNA_PATH_LENGTH];
    return jnaJob_Path(job, job->names.json, path, NULL) == jn_ok ? jnaReadJson(path, 0, NULL) : NULL;
}

static bool IsThere(const jnaJob* job, const char* name)
{
    char path[JNA_PATH_LENGTH];
    return jnaJob_Path(job, name, path, NULL) == jn_ok && access(path, R_OK) == 0;
}

bool jnaIsMerged(const jnaShardPlan* plan, jnaJobReport* report)
{
    const jnaJob* job = plan->job;
    char text[17];
    FormatHash(plan->id, text);
    json_t* root = LoadRecord(job);
    const char* id = json_string_value(json_object_get(root, "id"));
    bool merged = id != NULL && strcmp(id, text) == 0 && IsThere(job, job->names.positions) &&
                  IsThere(job, job->names.valid) && IsThere(job, job->names.times);
    for (int i = 0; merged && i < job->arrayCount; ++i) {
        merged = IsThere(job, job->arrays[i].name);
    }
    if (merged && report != NULL) {
        report->failedCount = (int)json_integer_value(json_object_get(root, "failed"));
        report->failedByBones = (int)json_integer_value(json_object_get(root, "failed_by_bones"));
        report->withoutRoom = (int)json_integer_value(json_object_get(root, "without_room"));
    }
    json_decref(root);
    return merged;
}

bool jnaMergedIsWhole(const jnaShardPlan* plan)
{
    json_t* root = LoadRecord(plan->job);
    const char* name;
    json_t* value;
    bool whole = true;
    json_object_foreach(json_object_get(root, "files"), name, value)
    {
        char path[JNA_PATH_LENGTH], text[17] = "";
        uint64_t hash = 0;
        whole = whole && json_is_string(value) && jnaJob_Path(plan->job, name, path, NULL) == jn_ok &&
                jnaHashFile(path, &hash, NULL) == jn_ok;
        FormatHash(hash, text);
        whole = whole && strcmp(text, json_string_value(value)) == 0;
    }
    json_decref(root);
    return whole;
}

// Arrays of an earlier job.
typedef struct Old {
    json_t* root;
    jnaArray positions, valid, times;
} Old;

static bool OpenOld(const jnaJob* job, Old* old)
{
    char path[JNA_PATH_LENGTH];
    *old = (Old){.root = LoadRecord(job)};
    const json_t* root = old->root;
    size_t count = (size_t)json_integer_value(json_object_get(root, "count"));
    return root != NULL && json_integer_value(json_object_get(root, "shard_size")) == job->shardSize &&
           jnaJob_Path(job, job->names.positions, path, NULL) == jn_ok &&
           jnaOpenArray(path, &old->positions, NULL) == jn_ok &&
           jnaJob_Path(job, job->names.valid, path, NULL) == jn_ok && jnaOpenArray(path, &old->valid, NULL) == jn_ok &&
           jnaJob_Path(job, job->names.times, path, NULL) == jn_ok && jnaOpenArray(path, &old->times, NULL) == jn_ok &&
           old->positions.dimensions == 3 && old->positions.shape[0] == count &&
           old->positions.shape[1] == (size_t)job->solve->vertexCount && old->positions.shape[2] == 3 &&
           old->positions.scalar == jna_float32 && old->valid.count == count && old->valid.scalar == jna_uint8 &&
           old->times.count == count && old->times.scalar == jna_float32;
}

static void CloseOld(Old* old)
{
    jnaCloseArray(&old->positions);
    jnaCloseArray(&old->valid);
    jnaCloseArray(&old->times);
    json_decref(old->root);
}

// One shard from the old arrays. False where it holds a failed pose, which may as well be tried again.
static bool FillFromOld(const Old* old, jnaShard* shard)
{
    size_t row = old->positions.shape[1] * 3;
    const json_t* columns = json_object_get(old->root, "columns");
    memcpy(shard->positions, (const float*)old->positions.data + row * (size_t)shard->first,
        row * (size_t)shard->count * sizeof(float));
    for (int k = 0; k < shard->count; ++k) {
        size_t pose = (size_t)(shard->first + k);
        for (int i = 0; i < jna_columnSeconds; ++i) {
            const json_t* value = json_array_get(json_object_get(columns, jnaColumnNames[i]), pose);
            if (!json_is_number(value)) {
                return false;
            }
            shard->records[k].values[i] = json_number_value(value);
        }
        shard->records[k].values[jna_columnSeconds] = jnaArray_Get(&old->times, pose);
        if (((const uint8_t*)old->valid.data)[pose] == jna_poseFailed) {
            return false;
        }
    }
    return true;
}

jnResult jnaReuseMerged(const jnaShardPlan* plan, jnError* error)
{
    Old old;
    jnResult result = jn_ok;
    bool open = OpenOld(plan->job, &old);
    const json_t* hashes = json_object_get(old.root, "shards");
    for (int i = 0; open && result == jn_ok && i < plan->shardCount; ++i) {
        char text[17];
        FormatHash(plan->hashes[i], text);
        const char* hash = json_string_value(json_array_get(hashes, (size_t)i));
        jnaShard shard;
        if (hash == NULL || strcmp(hash, text) != 0 || jnaShard_Exists(plan, i)) {
            continue;
        }
        result = jnaCreateShard(plan, i, &shard, error);
        if (result == jn_ok && (size_t)(shard.first + shard.count) <= old.valid.count && FillFromOld(&old, &shard)) {
            result = jnaShard_Write(plan, &shard, error);
        }
        jnaDestroyShard(&shard);
    }
    CloseOld(&old);
    return result;
}
