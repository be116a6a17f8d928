// Marks of files; see marks.h.
#include "workspace/marks.h"

#include "base/hash.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A file that changed within so many nanoseconds before the record may have changed once more after it was hashed
// without its time telling: file systems count in steps of up to 10 ms.
enum { CLOCK_STEP = 50000000 };

// Of the mark that is the hash.
enum { HASH_LENGTH = 16 };

static int64_t TimeOf(const struct stat* status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

int64_t jnaTimeOfChange(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 ? TimeOf(&status) : -1;
}

static bool EndsWith(const char* text, const char* end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static bool IsRecord(const char* name)
{
    return strncmp(name, "stages/", 7) == 0 && EndsWith(name, ".json");
}

// The names and hashes of what a stage made. False where its record has none: it is then hashed as any file.
static bool HashRecord(const char* path, uint64_t* hash)
{
    json_t* record = jnaReadJson(path, 0, NULL);
    json_t* outputs = json_object_get(record, "outputs");
    bool known = json_object_size(outputs) > 0;
    const char* name;
    json_t* mark;
    *hash = 0;
    // Written with sorted keys, which come back in their order.
    json_object_foreach(outputs, name, mark)
    {
        const char* text = json_string_value(mark);
        known = known && text != NULL && strlen(text) > HASH_LENGTH;
        *hash = jnaHash(name, strlen(name) + 1, *hash);
        *hash = known ? jnaHash(text, HASH_LENGTH, *hash) : 0;
    }
    json_decref(record);
    return known;
}

jnResult jnaMarkFile(const char* workspace, const char* name, char mark[JNA_MARK_LENGTH], jnError* error)
{
    char path[JNA_PATH_LENGTH];
    uint64_t hash;
    struct stat status = {0};
    JN_PASS(jnaJoinPath(workspace, name, path, error));
    bool known = stat(path, &status) == 0; // before it is read: a change in between is seen
    if (!IsRecord(name) || !HashRecord(path, &hash)) {
        JN_PASS(jnaHashFile(path, &hash, error));
    }
    snprintf(mark, JNA_MARK_LENGTH, "%016" PRIx64 " %lld %" PRId64, hash, known ? (long long)status.st_size : -1,
        TimeOf(&status));
    return jn_ok;
}

jnResult jnaCompareMark(
    const char* workspace, const char* name, const json_t* mark, int64_t recorded, bool* same, jnError* error)
{
    char path[JNA_PATH_LENGTH], now[JNA_MARK_LENGTH];
    const char* then = json_string_value(mark);
    long long size = -1, time = 0;
    struct stat status;
    *same = false;
    JN_PASS(jnaJoinPath(workspace, name, path, error));
    if (then != NULL && strlen(then) > HASH_LENGTH + 1 &&
        sscanf(then + HASH_LENGTH + 1, "%lld %lld", &size, &time) == 2 && stat(path, &status) == 0 &&
        status.st_size == size && TimeOf(&status) == time && time + CLOCK_STEP < recorded) {
        *same = true;
        return jn_ok;
    }
    JN_PASS(jnaMarkFile(workspace, name, now, error));
    *same = then != NULL && strncmp(now, then, HASH_LENGTH) == 0;
    return jn_ok;
}

// Locks and files in the making are nobody's outcome, and times differ from run to run.
static bool IsOutcome(const char* name)
{
    return !EndsWith(name, ".lock") && !EndsWith(name, ".part") && !EndsWith(name, "times.npy");
}

static jnResult AddMark(const char* workspace, const char* name, json_t* marks, jnError* error)
{
    char mark[JNA_MARK_LENGTH];
    JN_PASS(jnaMarkFile(workspace, name, mark, error));
    if (json_object_set_new(marks, name, json_string(mark)) != 0) {
        return jnFail(error, jn_badArgument, "%s: is not a name that can be written", name);
    }
    return jn_ok;
}

static jnResult AddFolder(const char* workspace, char* path, json_t* marks, jnError* error)
{
    jnResult result = jn_ok;
    char* paths[] = {path, NULL};
    FTS* walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    size_t start = strlen(workspace) + 1;
    if (walk == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    for (FTSENT* entry; (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
            JN_TRY(jnFail(error, jn_ioFailed, "%s: cannot read: %s", entry->fts_path, strerror(entry->fts_errno)));
        }
        if (entry->fts_info == FTS_F && IsOutcome(entry->fts_name)) {
            JN_TRY(AddMark(workspace, entry->fts_path + start, marks, error));
        }
    }
done:
    fts_close(walk);
    return result;
}

jnResult jnaMarkOutputs(const char* workspace, const jnaStage* stage, json_t* marks, jnError* error)
{
    for (int i = 0; i < stage->outputCount; ++i) {
        char path[JNA_PATH_LENGTH];
        struct stat status;
        JN_PASS(jnaJoinPath(workspace, stage->outputs[i], path, error));
        bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
        JN_PASS(
            folder ? AddFolder(workspace, path, marks, error) : AddMark(workspace, stage->outputs[i], marks, error));
    }
    return jn_ok;
}

const char* jnaFindChanged(const char* workspace, const json_t* marks, int64_t recorded)
{
    union {
        const json_t* from;
        json_t* to;
    } object = {marks};
    const char* name;
    json_t* mark;
    json_object_foreach(object.to, name, mark)
    {
        bool same = false;
        if (jnaCompareMark(workspace, name, mark, recorded, &same, NULL) != jn_ok || !same) {
            return name;
        }
    }
    return NULL;
}
