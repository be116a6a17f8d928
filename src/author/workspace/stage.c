// Which stages of the pipeline are out of date: a small JSON per stage holds the hash of everything it was
// made from.
#include "workspace/stage.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/notes.h"
#include "base/path.h"
#include "character/character.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void FormatHash(uint64_t hash, char* text)
{
    snprintf(text, 17, "%016" PRIx64, hash);
}

static jnResult RecordPath(const char* workspace, const jnaStage* stage, char* path, jnError* error)
{
    char name[JNA_NAME_LENGTH + 32];
    snprintf(name, sizeof(name), "stages/%.64s.json", stage->name);
    return jnaJoinPath(workspace, name, path, error);
}

static void Explain(char* reason, const char* what, const char* name)
{
    if (reason != NULL) {
        snprintf(reason, JNA_NOTE_LENGTH, "%s%.300s", what, name);
    }
}

static jnResult HashInput(const char* workspace, const char* input, char* text, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    uint64_t hash;
    jnResult result = jnaJoinPath(workspace, input, path, error);
    result = result == jn_ok ? jnaHashFile(path, &hash, error) : result;
    if (result == jn_ok) {
        FormatHash(hash, text);
    }
    return result;
}

static bool SameText(const json_t* value, const char* text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

// Compares the record with the world. `reason` is set, and *stale, where they differ.
static jnResult Compare(
    const char* workspace, const jnaStage* stage, const json_t* record, bool* stale, char* reason, jnError* error)
{
    char text[17];
    *stale = true;
    const char* settings = stage->settings != NULL ? stage->settings : "";
    FormatHash(jnaHash(settings, strlen(settings), 0), text);
    if (!SameText(json_object_get(record, "settings"), text)) {
        Explain(reason, "its settings changed", "");
        return jn_ok;
    }
    const json_t* inputs = json_object_get(record, "inputs");
    if (json_object_size(inputs) != (size_t)stage->inputCount) {
        Explain(reason, "it has other inputs", "");
        return jn_ok;
    }
    for (int i = 0; i < stage->inputCount; ++i) {
        jnResult result = HashInput(workspace, stage->inputs[i], text, error);
        if (result != jn_ok) {
            return result;
        }
        if (!SameText(json_object_get(inputs, stage->inputs[i]), text)) {
            Explain(reason, "changed: ", stage->inputs[i]);
            return jn_ok;
        }
    }
    for (int i = 0; i < stage->outputCount; ++i) {
        char path[JNA_PATH_LENGTH];
        jnResult result = jnaJoinPath(workspace, stage->outputs[i], path, error);
        if (result != jn_ok) {
            return result;
        }
        if (access(path, R_OK) != 0) {
            Explain(reason, "missing: ", stage->outputs[i]);
            return jn_ok;
        }
    }
    *stale = false;
    Explain(reason, "up to date", "");
    return jn_ok;
}

jnResult jnaStage_IsStale(const char* workspace, const jnaStage* stage, bool* stale, char* reason, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *stale = true;
    jnResult result = RecordPath(workspace, stage, path, error);
    if (result != jn_ok) {
        return result;
    }
    // A record that is missing or damaged only means that the stage runs.
    json_t* record = json_load_file(path, 0, NULL);
    if (record == NULL) {
        Explain(reason, "it has not run yet", "");
        return jn_ok;
    }
    result = Compare(workspace, stage, record, stale, reason, error);
    json_decref(record);
    return result;
}

jnResult jnaStageRecord_Holds(const char* workspace, const char* name, bool* holds, char* reason, jnError* error)
{
    char path[JNA_PATH_LENGTH], text[17];
    const char* input;
    json_t* hash;
    const jnaStage stage = {.name = name};
    jnResult result = RecordPath(workspace, &stage, path, error);
    json_t* record = result == jn_ok ? json_load_file(path, 0, NULL) : NULL;
    if (record == NULL || !*holds) {
        Explain(reason, record == NULL ? "it has not run yet" : "something is missing", "");
        *holds = false;
    }
    json_object_foreach(json_object_get(record, "inputs"), input, hash)
    {
        if (*holds && (HashInput(workspace, input, text, NULL) != jn_ok || !SameText(hash, text))) {
            Explain(reason, "changed: ", input);
            *holds = false;
        }
    }
    json_decref(record);
    return result;
}

jnResult jnaStage_Record(const char* workspace, const jnaStage* stage, jnError* error)
{
    char text[17], path[JNA_PATH_LENGTH];
    const char* settings = stage->settings != NULL ? stage->settings : "";
    FormatHash(jnaHash(settings, strlen(settings), 0), text);
    json_t* inputs = json_object();
    json_t* record = json_pack(
        "{s:s, s:s, s:o, s:f}", "stage", stage->name, "settings", text, "inputs", inputs, "seconds", stage->seconds);
    if (record == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
    }
    jnResult result = RecordPath(workspace, stage, path, error);
    for (int i = 0; i < stage->inputCount && result == jn_ok; ++i) {
        result = HashInput(workspace, stage->inputs[i], text, error);
        if (result == jn_ok && json_object_set_new(inputs, stage->inputs[i], json_string(text)) != 0) {
            result = jnFail(error, jn_badArgument, "%s: is not a name that can be written", stage->inputs[i]);
        }
    }
    jnaFile file;
    result = result == jn_ok ? jnaCreateFile(path, &file, error) : result;
    if (result == jn_ok) {
        (void)json_dumpf(record, file.stream, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
        fputc('\n', file.stream);
        result = jnaFile_Commit(&file, error);
    }
    json_decref(record);
    return result;
}
