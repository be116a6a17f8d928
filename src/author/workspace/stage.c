// Which stages of the pipeline are out of date: a small JSON per stage holds the hash of everything it was made from.
#include "workspace/stage.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/notes.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A file that changed within so many nanoseconds before the record may have changed once more after it was hashed
// without its time telling: file systems count in steps of up to 10 ms.
static const int64_t CLOCK_STEP = 50000000;

void jnaDestroyStage(jnaStage* s)
{
    for (int i = 0; i < s->inputCount; ++i) {
        free(s->inputs[i]);
    }
    for (int i = 0; i < s->outputCount; ++i) {
        free(s->outputs[i]);
    }
    free(s->inputs);
    free(s->outputs);
    free(s->settings);
    *s = (jnaStage){0};
}

// Adds a text once. False when memory is short.
static bool AddText(char*** texts, int* count, const char* text)
{
    for (int i = 0; i < *count; ++i) {
        if (strcmp((*texts)[i], text) == 0) {
            return true;
        }
    }
    char* copy = strdup(text);
    char** more = copy != NULL ? realloc(*texts, ((size_t)*count + 1) * sizeof(*more)) : NULL;
    if (more == NULL) {
        free(copy);
        return false;
    }
    *texts = more;
    more[(*count)++] = copy;
    return true;
}

void jnaStage_Read(jnaStage* s, const char* folder, const char* format, ...)
{
    char name[JNA_PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    if (folder == NULL || jnaFolderHas(folder, name)) {
        s->failed = !AddText(&s->inputs, &s->inputCount, name) || s->failed;
    }
}

void jnaStage_ReadAll(jnaStage* s, const char* folder, const char* const* names)
{
    for (; *names != NULL; ++names) {
        jnaStage_Read(s, folder, "%s", *names);
    }
}

void jnaStage_Make(jnaStage* s, const char* format, ...)
{
    char name[JNA_PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    s->failed = !AddText(&s->outputs, &s->outputCount, name) || s->failed;
}

void jnaStage_MakeAll(jnaStage* s, const char* const* names)
{
    for (; *names != NULL; ++names) {
        jnaStage_Make(s, "%s", *names);
    }
}

void jnaStage_Depend(jnaStage* s, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t used = s->settings != NULL ? strlen(s->settings) : 0;
    char* text = realloc(s->settings, used + (size_t)length + 1);
    if (text == NULL) {
        s->failed = true;
        return;
    }
    s->settings = text;
    va_start(arguments, format);
    vsnprintf(text + used, (size_t)length + 1, format, arguments);
    va_end(arguments);
}

static void HashSettings(const jnaStage* stage, char text[17])
{
    const char* settings = stage->settings != NULL ? stage->settings : "";
    snprintf(text, 17, "%016" PRIx64, jnaHash(settings, strlen(settings), 0));
}

static jnResult RecordPath(const char* workspace, const char* name, char* path, jnError* error)
{
    char file[JNA_PATH_LENGTH];
    snprintf(file, sizeof(file), "stages/%.64s.json", name);
    return jnaJoinPath(workspace, file, path, error);
}

static void Explain(char* reason, const char* what, const char* name)
{
    if (reason != NULL) {
        snprintf(reason, JNA_NOTE_LENGTH, "%s%.300s", what, name);
    }
}

static int64_t TimeOf(const struct stat* status)
{
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

// "HASH SIZE TIME" of a file.
enum { MARK_LENGTH = 64 };
static jnResult MarkFile(const char* workspace, const char* input, char mark[MARK_LENGTH], jnError* error)
{
    char path[JNA_PATH_LENGTH];
    uint64_t hash;
    struct stat status = {0};
    JN_PASS(jnaJoinPath(workspace, input, path, error));
    bool known = stat(path, &status) == 0; // before it is read: a change in between is seen
    JN_PASS(jnaHashFile(path, &hash, error));
    snprintf(mark, MARK_LENGTH, "%016" PRIx64 " %lld %" PRId64, hash, known ? (long long)status.st_size : -1,
        TimeOf(&status));
    return jn_ok;
}

// A record and when it was written.
typedef struct Record {
    json_t *root, *inputs; // inputs is the root's
    int64_t time;
} Record;

// Whether a file is as its mark says, by its size and time where they can be believed, else by its contents.
static jnResult CompareFile(
    const char* workspace, const char* input, const Record* record, bool* same, bool* renewed, jnError* error)
{
    char path[JNA_PATH_LENGTH], now[MARK_LENGTH];
    json_t* mark = json_object_get(record->inputs, input);
    const char* then = json_string_value(mark);
    long long size = -1, time = 0;
    struct stat status;
    JN_PASS(jnaJoinPath(workspace, input, path, error));
    *same = then != NULL && strlen(then) > 17 && sscanf(then + 17, "%lld %lld", &size, &time) == 2 &&
            stat(path, &status) == 0 && status.st_size == size && TimeOf(&status) == time &&
            time + CLOCK_STEP < record->time;
    if (!*same) {
        JN_PASS(MarkFile(workspace, input, now, error));
        *same = then != NULL && strncmp(now, then, 16) == 0;
        *renewed = (*same && json_string_set(mark, now) == 0) || *renewed;
    }
    return jn_ok;
}

// A record that is missing or damaged only means that the stage runs: NULL.
static json_t* LoadRecord(const char* workspace, const char* name, Record* record)
{
    char path[JNA_PATH_LENGTH];
    struct stat status;
    *record = (Record){0};
    if (RecordPath(workspace, name, path, NULL) == jn_ok && stat(path, &status) == 0) {
        record->root = json_load_file(path, 0, NULL);
        record->inputs = json_object_get(record->root, "inputs");
        record->time = TimeOf(&status);
    }
    return record->root;
}

static jnResult SaveRecord(const char* workspace, const char* name, const json_t* root, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaFile file;
    JN_PASS(RecordPath(workspace, name, path, error));
    JN_PASS(jnaCreateFile(path, &file, error));
    (void)json_dumpf(root, file.stream, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    fputc('\n', file.stream);
    return jnaFile_Commit(&file, error);
}

// Compares the record with the world. `reason` is set, and *stale, where they differ.
static jnResult Compare(
    const char* workspace, const jnaStage* stage, const Record* record, bool* stale, char* reason, jnError* error)
{
    char text[17];
    bool renewed = false;
    *stale = true;
    HashSettings(stage, text);
    const json_t* settings = json_object_get(record->root, "settings");
    if (!json_is_string(settings) || strcmp(json_string_value(settings), text) != 0) {
        Explain(reason, "its settings changed", "");
        return jn_ok;
    }
    if (json_object_size(record->inputs) != (size_t)stage->inputCount) {
        Explain(reason, "it has other inputs", "");
        return jn_ok;
    }
    for (int i = 0; i < stage->inputCount; ++i) {
        bool same = false;
        jnResult result = CompareFile(workspace, stage->inputs[i], record, &same, &renewed, error);
        if (result != jn_ok || !same) {
            Explain(reason, "changed: ", stage->inputs[i]);
            return result;
        }
    }
    for (int i = 0; i < stage->outputCount; ++i) {
        if (!jnaFolderHas(workspace, stage->outputs[i])) {
            Explain(reason, "missing: ", stage->outputs[i]);
            return jn_ok;
        }
    }
    *stale = false;
    Explain(reason, "up to date", "");
    if (renewed) { // the next look goes by sizes and times again; where that cannot be written it reads once more
        (void)SaveRecord(workspace, stage->name, record->root, NULL);
    }
    return jn_ok;
}

static jnResult CheckStage(const char* workspace, const jnaStage* stage, jnError* error)
{
    return stage->failed ? jnFail(error, jn_outOfMemory, "%s: out of memory", workspace) : jn_ok;
}

jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error)
{
    Record record;
    *stale = true;
    JN_PASS(CheckStage(workspace, stage, error));
    if (LoadRecord(workspace, stage->name, &record) == NULL) {
        Explain(reason, "it has not run yet", "");
        return jn_ok;
    }
    jnResult result = Compare(workspace, stage, &record, stale, reason, error);
    json_decref(record.root);
    return result;
}

jnResult jnaStageRecord_Holds(const char* workspace, const char* name, bool* holds, char* reason, jnError* error)
{
    const char* input;
    json_t* mark;
    Record record;
    bool renewed = false;
    (void)error;
    if (LoadRecord(workspace, name, &record) == NULL || !*holds) {
        Explain(reason, record.root == NULL ? "it has not run yet" : "something is missing", "");
        *holds = false;
    }
    json_object_foreach(record.inputs, input, mark)
    {
        bool same = false;
        if (*holds && (CompareFile(workspace, input, &record, &same, &renewed, NULL) != jn_ok || !same)) {
            Explain(reason, "changed: ", input);
            *holds = false;
        }
    }
    if (*holds && renewed) {
        (void)SaveRecord(workspace, name, record.root, NULL);
    }
    json_decref(record.root);
    return jn_ok;
}

jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error)
{
    char text[17], mark[MARK_LENGTH];
    HashSettings(stage, text);
    json_t* inputs = json_object();
    json_t* record = json_pack(
        "{s:s, s:s, s:o, s:f}", "stage", stage->name, "settings", text, "inputs", inputs, "seconds", stage->seconds);
    if (record == NULL || stage->failed) {
        json_decref(record);
        return jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
    }
    jnResult result = jn_ok;
    for (int i = 0; i < stage->inputCount; ++i) {
        JN_TRY(MarkFile(workspace, stage->inputs[i], mark, error));
        if (json_object_set_new(inputs, stage->inputs[i], json_string(mark)) != 0) {
            JN_TRY(jnFail(error, jn_badArgument, "%s: is not a name that can be written", stage->inputs[i]));
        }
    }
    JN_TRY(SaveRecord(workspace, stage->name, record, error));
done:
    json_decref(record);
    return result;
}
