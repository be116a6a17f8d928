// The check of a workspace: every mark in every record by contents, never by time, and the hashes in the JSON of jobs.
#include "pipeline/check.h"

#include "asset/asset_writer.h"
#include "base/bounds.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "character/import.h"
#include "character/scene.h"
#include "pipeline/inspection_store.h"
#include "pipeline/stage_export.h"
#include "workspace/marks.h"
#include "workspace/workspace.h"

#include "runtime/for_author.h"

#include <fts.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

static void AddDamage(jnaCheckReport* report, const char* name, const char* what)
{
    report->damagedCount++;
    jnaNotes_Add(&report->notes, "%s: %s", name, what);
}

// What a stage made, against its record.
static void CheckRecord(const char* workspace, const char* stage, const json_t* record, jnaCheckReport* report)
{
    const char* name;
    json_t* mark;
    char what[128];
    json_object_foreach(json_object_get(record, "outputs"), name, mark)
    {
        bool same = false;
        report->fileCount++;
        if (!jnaFolderHas(workspace, name)) {
            snprintf(what, sizeof(what), "is missing; stage %.64s made it", stage);
            AddDamage(report, name, what);
        } else if (jnaCompareMark(workspace, name, mark, 0, &same, NULL) != jn_ok || !same) {
            snprintf(what, sizeof(what), "is not as stage %.64s made it", stage);
            AddDamage(report, name, what);
        }
    }
    json_object_foreach(json_object_get(record, "inputs"), name, mark)
    {
        bool same = false;
        if (jnaCompareMark(workspace, name, mark, 0, &same, NULL) != jn_ok || !same) {
            report->staleCount++;
            break;
        }
    }
}

// The arrays of a job, against the hashes in its JSON.
static void CheckJob(const char* folder, const json_t* root, jnaCheckReport* report)
{
    const char* name;
    json_t* value;
    json_object_foreach(json_object_get(root, "files"), name, value)
    {
        char path[JNA_PATH_LENGTH], text[17];
        uint64_t hash = 0;
        bool there = jnaJoinPath(folder, name, path, NULL) == jn_ok && jnaHashFile(path, &hash, NULL) == jn_ok;
        snprintf(text, sizeof(text), "%016" PRIx64, hash);
        report->fileCount++;
        if (!there || !json_is_string(value) || strcmp(text, json_string_value(value)) != 0) {
            AddDamage(report, path, there ? "is not as it was simulated" : "is missing");
        }
    }
}

static void CheckJson(const char* workspace, const FTSENT* entry, jnaCheckReport* report)
{
    json_error_t problem;
    json_t* root = jnaReadJson(entry->fts_accpath, 0, &problem);
    char folder[JNA_PATH_LENGTH], stage[64];
    if (root == NULL) {
        report->fileCount++;
        AddDamage(report, entry->fts_path, "is no JSON: it is cut off or damaged");
        return;
    }
    snprintf(folder, sizeof(folder), "%.*s", (int)(strlen(entry->fts_path) - entry->fts_namelen - 1), entry->fts_path);
    const char* last = strrchr(folder, '/');
    if (last != NULL && strcmp(last, "/stages") == 0) {
        snprintf(stage, sizeof(stage), "%.*s", (int)(entry->fts_namelen - strlen(".json")), entry->fts_name);
        CheckRecord(workspace, stage, root, report);
    } else {
        CheckJob(folder, root, report);
    }
    json_decref(root);
}

static void CheckAsset(const char* workspace, jnaCheckReport* report)
{
    char path[JNA_PATH_LENGTH];
    jnError why = {0};
    if (jnaFolderHas(workspace, JNA_ASSET_NAME) && jnaJoinPath(workspace, JNA_ASSET_NAME, path, NULL) == jn_ok) {
        report->fileCount++;
        if (jnaCheckFile(path, &why) != jn_ok) {
            report->damagedCount++;
            jnaNotes_Add(&report->notes, "%s", why.message);
        }
    }
}

// Every clip, played: what breaks is told by clip, frame and region. A file that is damaged or of another import is not
// played, others have told why.
static void CheckSurface(jnaWorkspace* w, jnaCheckReport* report)
{
    jnaInspection in = {0};
    if (report->damagedCount > 0 || w->manifest.clipCount == 0 || !jnaFolderHas(w->path, JNA_ASSET_NAME) ||
        jnaInspectWorkspace(w, &in, NULL) != jn_ok) {
        return;
    }
    report->broken = !jnaInspection_IsWhole(&in);
    report->surface = jnaInspection_Describe(&in);
    jnaInspection_Tell(&in, in.clipCount, &report->notes);
    jnaDestroyInspection(&in);
}

void jnaDestroyCheckReport(jnaCheckReport* report)
{
    json_decref(report->surface);
    jnaDestroyNotes(&report->notes);
    *report = (jnaCheckReport){0};
}

jnResult jnaCheckWorkspace(const char* workspace, jnaCheckReport* report, jnError* error)
{
    *report = (jnaCheckReport){0};
    jnaWorkspace* opened = NULL;
    jnResult result = jn_ok;
    FTS* walk = NULL;
    JN_TRY(jnaOpenWorkspace(workspace, &opened, error));
    union {
        const char* from;
        char* to;
    } root = {workspace};
    char* paths[] = {root.to, NULL};
    walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    for (FTSENT* entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info == FTS_F && jnaHasEnding(entry->fts_name, ".json")) {
            CheckJson(workspace, entry, report);
        } else if (entry->fts_info == FTS_DEFAULT) {
            report->fileCount++;
            AddDamage(report, entry->fts_path, "is neither a file nor a folder");
        } else if (entry->fts_info == FTS_F && jnaHasEnding(entry->fts_name, ".part")) {
            jnaNotes_Add(
                &report->notes, "%s: was left by a run that was killed; jounce build removes it", entry->fts_path);
        }
    }
    CheckAsset(workspace, report);
    CheckSurface(opened, report);
done:
    if (walk != NULL) {
        fts_close(walk);
    }
    jnaCloseWorkspace(opened);
    return result;
}

static jnResult CheckModel(const char* path, jnError* error)
{
    jnaCharacter character;
    jnaClipList clips;
    const jnaImportDef def = jnaDefaultImportDef();
    jnResult result = jnaImportCharacter(path, &def, &character, &clips, NULL, NULL, error);
    if (result == jn_ok) {
        jnaDestroyClipList(&clips);
        jnaDestroyCharacter(&character);
    }
    return result;
}

jnResult jnaCheckFile(const char* path, jnError* error)
{
    jnResult result;
    if (jnaHasEnding(path, ".jounce")) {
        jnaAssetFile file;
        result = jnaOpenAsset(path, &file, error);
        if (result == jn_ok) {
            jnaCloseAsset(&file);
        }
    } else if (jnaHasEnding(path, ".npy")) {
        jnaArray array;
        result = jnaOpenArray(path, &array, error);
        if (result == jn_ok) {
            result = jnaArray_CheckNumbers(&array, path, error);
            jnaCloseArray(&array);
        }
    } else {
        result = CheckModel(path, error);
    }
    return result;
}
