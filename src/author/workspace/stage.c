// Which stages of the pipeline are out of date: a small JSON per stage holds the hash of everything it was made from.
#include "workspace/stage.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/notes.h"
#include "base/path.h"
#include "base/try.h"
#include "workspace/marks.h"

#include "runtime/for_author.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void jnaDestroyStage(jnaStage* s)
{
    for (int i = 0; i < s->inputCount; ++i) {
        free(s->inputs[i]);
    }
    for (int i = 0; i < s->outputCount; ++i) {
        free(s->outputs[i]);
    }
    for (int i = 0; i < s->sharedCount; ++i) {
        free(s->shared[i]);
    }
    free(s->shared);
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
    if (copy == NULL || !jnaResize(texts, *count + 1, sizeof(copy))) {
        free(copy);
        return false;
    }
    (*texts)[(*count)++] = copy;
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

void jnaStage_Share(jnaStage* s, const char* later, const char* format, ...)
{
    char text[JNA_PATH_LENGTH];
    int length = snprintf(text, sizeof(text), "%s ", later);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof(text) - (size_t)length, format, arguments);
    va_end(arguments);
    s->failed = !AddText(&s->shared, &s->sharedCount, text) || s->failed;
}

void jnaStage_Depend(jnaStage* s, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t used = s->settings != NULL ? strlen(s->settings) : 0;
    if (!jnaResize(&s->settings, (int64_t)used + length, 1)) {
        s->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(s->settings + used, (size_t)length + 1, format, arguments);
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

// A record that is missing or damaged only means that the stage runs: NULL.
static json_t* LoadRecord(const char* workspace, const char* name, int64_t* recorded)
{
    char path[JNA_PATH_LENGTH];
    if (RecordPath(workspace, name, path, NULL) != jn_ok || (*recorded = jnaTimeOfChange(path)) < 0) {
        return NULL;
    }
    return jnaReadJson(path, 0, NULL);
}

// Whether an output that a later stage has changed is there, and as that stage left it. shared: "STAGE FILE".
static bool SharedIsGood(const char* workspace, const char* shared, char* reason)
{
    char later[64];
    const char* name = strchr(shared, ' ') + 1;
    int64_t recorded = 0;
    bool same = true;
    if (!jnaFolderHas(workspace, name)) {
        Explain(reason, "missing: ", name);
        return false;
    }
    snprintf(later, sizeof(later), "%.*s", (int)(name - 1 - shared), shared);
    json_t* record = LoadRecord(workspace, later, &recorded);
    const json_t* mark = json_object_get(json_object_get(record, "outputs"), name);
    if (mark != NULL && (jnaCompareMark(workspace, name, mark, recorded, &same, NULL) != jn_ok || !same)) {
        Explain(reason, "not as it was made: ", name);
        same = false;
    }
    json_decref(record);
    return same;
}

static bool IsShared(const jnaStage* stage, const char* name)
{
    for (int i = 0; i < stage->sharedCount; ++i) {
        if (strcmp(strchr(stage->shared[i], ' ') + 1, name) == 0) {
            return true;
        }
    }
    return false;
}

// A file that the stage alone makes.
static bool IsOutput(const jnaStage* stage, const char* name)
{
    for (int i = 0; i < stage->outputCount; ++i) {
        if (strcmp(stage->outputs[i], name) == 0) {
            return !IsShared(stage, name);
        }
    }
    return false;
}

// Compares the record with the world. `reason` is set, and *stale, where they differ.
static jnResult Compare(const char* workspace, const jnaStage* stage, const json_t* record, int64_t recorded,
    bool* stale, char* reason, jnError* error)
{
    char text[17];
    *stale = true;
    HashSettings(stage, text);
    const json_t *settings = json_object_get(record, "settings"), *inputs = json_object_get(record, "inputs");
    if (!json_is_string(settings) || strcmp(json_string_value(settings), text) != 0) {
        Explain(reason, "its settings changed", "");
        return jn_ok;
    }
    if (json_object_size(inputs) != (size_t)stage->inputCount) {
        Explain(reason, "it has other inputs", "");
        return jn_ok;
    }
    for (int i = 0; i < stage->inputCount; ++i) {
        bool same = false;
        jnResult result = jnaCompareMark(
            workspace, stage->inputs[i], json_object_get(inputs, stage->inputs[i]), recorded, &same, error);
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
    for (int i = 0; i < stage->sharedCount; ++i) {
        if (!SharedIsGood(workspace, stage->shared[i], reason)) {
            return jn_ok;
        }
    }
    const char* changed = jnaFindChanged(workspace, json_object_get(record, "outputs"), recorded);
    if (changed != NULL) {
        Explain(reason, "not as it was made: ", changed);
        return jn_ok;
    }
    *stale = false;
    Explain(reason, "up to date", "");
    return jn_ok;
}

static jnResult CheckStage(const char* workspace, const jnaStage* stage, jnError* error)
{
    return stage->failed ? jnFail(error, jn_outOfMemory, "%s: out of memory", workspace) : jn_ok;
}

jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error)
{
    int64_t recorded = 0;
    *stale = true;
    JN_PASS(CheckStage(workspace, stage, error));
    json_t* record = LoadRecord(workspace, stage->name, &recorded);
    if (record == NULL) {
        Explain(reason, "not run yet", "");
        return jn_ok;
    }
    jnResult result = Compare(workspace, stage, record, recorded, stale, reason, error);
    json_decref(record);
    return result;
}

void jnaStage_RemoveDamaged(const char* workspace, const jnaStage* stage)
{
    int64_t recorded = 0;
    json_t* record = LoadRecord(workspace, stage->name, &recorded);
    const char* name;
    json_t* mark;
    json_object_foreach(json_object_get(record, "outputs"), name, mark)
    {
        char path[JNA_PATH_LENGTH];
        bool same = false;
        // Nothing but what the stage makes: a record from elsewhere may name anything.
        if (IsOutput(stage, name) && jnaCompareMark(workspace, name, mark, recorded, &same, NULL) == jn_ok && !same &&
            jnaJoinPath(workspace, name, path, NULL) == jn_ok) {
            (void)unlink(path);
        }
    }
    json_decref(record);
}

jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error)
{
    char text[17], path[JNA_PATH_LENGTH], mark[JNA_MARK_LENGTH];
    HashSettings(stage, text);
    json_t *inputs = json_object(), *outputs = json_object();
    json_t* record = json_pack("{s:s, s:s, s:o, s:o, s:f}", "stage", stage->name, "settings", text, "inputs", inputs,
        "outputs", outputs, "seconds", stage->seconds);
    if (record == NULL || stage->failed) {
        json_decref(record);
        return jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
    }
    jnResult result = jn_ok;
    JN_TRY(jnaMakeFolder(workspace, "stages", path, error));
    JN_TRY(RecordPath(workspace, stage->name, path, error));
    for (int i = 0; i < stage->inputCount; ++i) {
        JN_TRY(jnaMarkFile(workspace, stage->inputs[i], mark, error));
        if (json_object_set_new(inputs, stage->inputs[i], json_string(mark)) != 0) {
            JN_TRY(jnFail(error, jn_badArgument, "%s: is not a name that can be written", stage->inputs[i]));
        }
    }
    JN_TRY(jnaMarkOutputs(workspace, stage, outputs, error));
    jnaFile file;
    JN_TRY(jnaCreateFile(path, &file, error));
    (void)json_dumpf(record, file.stream, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
    fputc('\n', file.stream);
    JN_TRY(jnaFile_Commit(&file, error));
done:
    json_decref(record);
    return result;
}
