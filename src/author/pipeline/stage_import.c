// Making a workspace and bringing it up to date.
//
// Everything is imported into memory first, then written into a folder with a temporary name beside the final
// one, and renamed as the last step: whoever looks finds a whole workspace or none.
#include "pipeline/stage_import.h"

#include "base/clock.h"
#include "base/path.h"
#include "character/gltf.h"
#include "character/source.h"
#include "pipeline/engine.h"
#include "workspace/stage.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/// A manifest with everything it names: clips and motions run along manifest.clips.
typedef struct Import {
    jnaManifest manifest;
    jnaCharacter character;
    double scale;
    jnaClip* clips;     // [capacity]
    jnaMotion* motions; // [capacity]; positions NULL where the clip has none
    int capacity;
    double started; // when, by the wall clock
    jnaWatch watch;
} Import;

// What was imported, without the manifest.
static void DestroyImported(Import* import)
{
    for (int i = 0; i < import->manifest.clipCount && import->clips != NULL; ++i) {
        jnaDestroyClip(&import->clips[i]);
        jnaDestroyMotion(&import->motions[i]);
    }
    free(import->clips);
    free(import->motions);
    jnaDestroyCharacter(&import->character);
}

static void DestroyImport(Import* import)
{
    DestroyImported(import);
    jnaDestroyManifest(&import->manifest);
}

static jnaImportDef ImportDef(const Import* import)
{
    jnaImportDef def = jnaDefaultImportDef();
    def.rate = import->manifest.rate;
    def.scale = import->manifest.scale;
    def.watch = import->watch;
    return def;
}

static jnResult OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory while importing");
}

// Room for one more clip in all three lists.
static jnResult Reserve(Import* import, jnError* error)
{
    int count = import->manifest.clipCount;
    if (count == JNA_MAX_CLIPS) {
        return jnFail(error, jn_badData, "there are more than %d clips", JNA_MAX_CLIPS);
    }
    if (count < import->capacity) {
        return jn_ok;
    }
    int capacity = import->capacity + 64;
    jnaManifestClip* entries = realloc(import->manifest.clips, (size_t)capacity * sizeof(*entries));
    import->manifest.clips = entries != NULL ? entries : import->manifest.clips;
    jnaClip* clips = realloc(import->clips, (size_t)capacity * sizeof(*clips));
    import->clips = clips != NULL ? clips : import->clips;
    jnaMotion* motions = realloc(import->motions, (size_t)capacity * sizeof(*motions));
    import->motions = motions != NULL ? motions : import->motions;
    if (entries == NULL || clips == NULL || motions == NULL) {
        return OutOfMemory(error);
    }
    import->capacity = capacity;
    return jn_ok;
}

static int FindClip(const jnaManifest* manifest, const char* name)
{
    for (int i = 0; i < manifest->clipCount; ++i) {
        if (strcmp(manifest->clips[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// Takes a clip over under a new name.
static jnResult AddClip(Import* import, const char* name, const char* source, jnaClip* clip, jnError* error)
{
    if (FindClip(&import->manifest, name) >= 0) {
        return jnFail(error, jn_badArgument, "there are two clips called '%s'; name one otherwise with --clip", name);
    }
    jnResult result = Reserve(import, error);
    if (result != jn_ok) {
        return result;
    }
    int index = import->manifest.clipCount;
    jnaManifestClip entry = {
        strdup(name), jnaSourceRole(source, index), strdup(source), strdup(clip->name), NULL, .frames = JNA_ALL_FRAMES};
    import->manifest.clips[index] = entry;
    import->clips[index] = *clip;
    import->motions[index] = (jnaMotion){0};
    import->manifest.clipCount++;
    *clip = (jnaClip){0};
    snprintf(import->clips[index].name, JNA_NAME_LENGTH, "%s", name);
    return entry.name != NULL && entry.source != NULL && entry.animation != NULL ? jn_ok : OutOfMemory(error);
}

// A file that several animations come from gives each its own name behind the one that was asked for.
static jnResult AddFile(Import* import, const char* name, const char* file, jnaNotes* notes, jnError* error)
{
    char clean[JNA_NAME_LENGTH], path[PATH_MAX];
    snprintf(clean, sizeof(clean), "%s", name);
    if (!jnaIsPlainName(name) || strlen(name) >= JNA_NAME_LENGTH) {
        return jnFail(error, jn_badArgument,
            "'%.64s' cannot be a clip's name: letters, digits, '-', '_' and '.' can, up to %d of them", name,
            JNA_NAME_LENGTH - 1);
    }
    if (realpath(file, path) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", file, strerror(errno));
    }
    jnaImportDef def = ImportDef(import);
    jnaClipList list;
    jnResult result = jnaImportClips(path, &def, NULL, &import->character, &list, notes, error);
    for (int i = 0; result == jn_ok && i < list.count; ++i) {
        char unique[2 * JNA_NAME_LENGTH];
        snprintf(unique, sizeof(unique), list.count > 1 ? "%s_%s" : "%s", name, list.clips[i].name);
        unique[JNA_NAME_LENGTH - 1] = '\0';
        result = AddClip(import, unique, path, &list.clips[i], error);
    }
    jnaDestroyClipList(&list);
    return result;
}

// Mean distance of the first frame of a motion from the skinned surface, in metres: far off means other units
// or axes.
static double DistanceFromSkin(const Import* import, int index)
{
    const jnaCharacter* c = &import->character;
    float* matrices = malloc((size_t)c->jointCount * 12 * sizeof(float));
    float* skinned = malloc((size_t)c->vertexCount * 3 * sizeof(float));
    double sum = 0;
    if (matrices != NULL && skinned != NULL) {
        jnaPoseMatrices(c, &import->clips[index], 0, matrices);
        jnaSkin(c, matrices, skinned);
        for (size_t i = 0; i < 3 * (size_t)c->vertexCount; ++i) {
            sum += fabs((double)skinned[i] - (double)import->motions[index].positions[i]);
        }
    }
    free(matrices);
    free(skinned);
    return sum / c->vertexCount;
}

static jnResult ReadMotion(Import* import, int index, const char* file, jnaNotes* notes, jnError* error)
{
    const jnaClip* clip = &import->clips[index];
    jnaMotion* motion = &import->motions[index];
    jnResult result = jnaReadMotionConfined(file, &import->character, import->scale, motion, error);
    if (result != jn_ok) {
        return result;
    }
    if (motion->frameCount != clip->frameCount) {
        return jnFail(error, jn_badData, "%s: has %d frames; clip '%s' has %d at %g Hz", file, motion->frameCount,
            clip->name, clip->frameCount, clip->rate);
    }
    double distance = DistanceFromSkin(import, index);
    if (distance > 0.3) {
        jnaNotes_Add(
            notes, "motion of '%s' starts %.3g m from the skinned surface: other units or axes?", clip->name, distance);
    }
    return jn_ok;
}

static jnResult AttachMotion(Import* import, const char* name, const char* file, jnaNotes* notes, jnError* error)
{
    char path[PATH_MAX];
    int index = FindClip(&import->manifest, name);
    if (index < 0) {
        return jnFail(error, jn_badArgument, "--motion %s=%s: there is no clip '%s'", name, file, name);
    }
    if (import->manifest.clips[index].motion != NULL) {
        return jnFail(error, jn_badArgument, "--motion: clip '%s' is given two motions", name);
    }
    if (realpath(file, path) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", file, strerror(errno));
    }
    import->manifest.clips[index].motion = strdup(path);
    return import->manifest.clips[index].motion != NULL ? ReadMotion(import, index, path, notes, error)
                                                        : OutOfMemory(error);
}

static jnResult Gather(const jnaWorkspaceDef* def, Import* import, jnaNotes* notes, jnError* error)
{
    char path[PATH_MAX];
    if (jnaIsFigure(def->character)) {
        strcpy(path, JNA_FIGURE_SOURCE);
    } else if (realpath(def->character, path) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", def->character, strerror(errno));
    }
    import->manifest = jnaDefaultManifest();
    import->manifest.rate = def->rate;
    import->manifest.springs.layer = def->layer;
    import->manifest.scale = def->scale;
    import->manifest.character = strdup(path);
    if (import->manifest.character == NULL) {
        return OutOfMemory(error);
    }
    jnResult result = jn_ok;
    jnaClipList list = {0};
    jnaImportDef importDef = ImportDef(import);
    result = jnaOpenSource(path, &importDef, &import->character, &list, &import->scale, notes, error);
    import->manifest.scale = import->scale;
    for (int i = 0; result == jn_ok && i < list.count; ++i) {
        char name[JNA_NAME_LENGTH];
        memcpy(name, list.clips[i].name, sizeof(name));
        result = AddClip(import, name, path, &list.clips[i], error);
    }
    jnaDestroyClipList(&list);
    for (int i = 0; result == jn_ok && i < def->clipCount; ++i) {
        result = AddFile(import, def->clipNames[i], def->clipFiles[i], notes, error);
    }
    for (int i = 0; result == jn_ok && i < def->motionCount; ++i) {
        result = AttachMotion(import, def->motionClips[i], def->motionFiles[i], notes, error);
    }
    return result;
}

// A .gltf keeps its bytes in files beside it; a change there is a change of the character.
static void AddBuffers(jnaStage* stage, const char* workspace, const char* file)
{
    char path[JNA_PATH_LENGTH];
    size_t length = strlen(file);
    if (length < 5 || strcasecmp(file + length - 5, ".gltf") != 0 ||
        jnaJoinPath(workspace, file, path, NULL) != jn_ok) {
        return;
    }
    json_t* root = json_load_file(path, 0, NULL);
    const json_t* buffers = json_object_get(root, "buffers");
    const char* slash = strrchr(file, '/');
    int folder = slash != NULL ? (int)(slash - file) + 1 : 0;
    for (size_t i = 0; i < json_array_size(buffers); ++i) {
        const char* uri = json_string_value(json_object_get(json_array_get(buffers, i), "uri"));
        char inside[JNA_PATH_LENGTH];
        if (uri != NULL && strncmp(uri, "data:", 5) != 0 && jnaGltf_DecodeUri(uri, inside)) {
            jnaStage_Read(stage, NULL, "%.*s%s", folder, file, inside);
        }
    }
    json_decref(root);
}

static void AddInput(jnaStage* stage, const char* workspace, const char* file)
{
    if (file != NULL && !jnaIsFigure(file)) {
        jnaStage_Read(stage, NULL, "%s", file);
        AddBuffers(stage, workspace, file);
    }
}

// All files that the manifest names, and those of its settings that change what is imported.
static void DescribeManifest(const char* workspace, const jnaManifest* m, jnaStage* stage)
{
    char* settings = jnaManifest_Settings(m, stage->name);
    stage->failed = settings == NULL;
    jnaStage_Depend(stage, "%s", settings != NULL ? settings : "");
    free(settings);
    AddInput(stage, workspace, m->character);
    jnaStage_Make(stage, "character");
    jnaStage_Make(stage, "clips");
    jnaStage_Share(stage, stage->name, "character/character.json");
    for (int i = 0; i < m->clipCount; ++i) {
        AddInput(stage, workspace, m->clips[i].source);
        AddInput(stage, workspace, m->clips[i].motion);
        jnaStage_Share(stage, stage->name, "clips/%s/clip.json", m->clips[i].name);
    }
}

static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    (void)error;
    DescribeManifest(run->workspace->path, &run->workspace->manifest, stage);
    return jn_ok;
}

static jnResult SaveImport(const char* folder, const Import* import, jnError* error)
{
    jnResult result = jnaSaveCharacter(folder, &import->character, import->scale, error);
    char clips[JNA_PATH_LENGTH];
    result = result == jn_ok ? jnaJoinPath(folder, "clips", clips, error) : result;
    if (result == jn_ok && mkdir(clips, 0777) != 0) {
        result = jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", clips, strerror(errno));
    }
    for (int i = 0; result == jn_ok && i < import->manifest.clipCount; ++i) {
        const jnaMotion* motion = import->motions[i].positions != NULL ? &import->motions[i] : NULL;
        result = jnaSaveClip(folder, &import->clips[i], motion, error);
    }
    return result;
}

// The folder of the records, and that of a new workspace's import.
static jnResult MakeStages(const char* workspace, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnResult result = jnaJoinPath(workspace, "stages", path, error);
    if (result == jn_ok && mkdir(path, 0777) != 0 && errno != EEXIST) {
        result = jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", path, strerror(errno));
    }
    return result;
}

static jnResult RecordImport(const char* workspace, const Import* import, jnError* error)
{
    jnaStage stage = {.name = jnaImportStage.name};
    jnResult result = MakeStages(workspace, error);
    if (result == jn_ok) {
        DescribeManifest(workspace, &import->manifest, &stage);
        stage.seconds = jnaWallClock() - import->started;
        result = jnaStage_Record(workspace, &stage, error);
    }
    jnaDestroyStage(&stage);
    return result;
}

static bool IsEmptyFolder(const char* path)
{
    DIR* folder = opendir(path);
    int entries = 0;
    while (folder != NULL && readdir(folder) != NULL) {
        entries++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    // "." and ".."
    return entries == 2;
}

jnaWorkspaceDef jnaDefaultWorkspaceDef(void)
{
    return (jnaWorkspaceDef){.rate = 30, .layer = jna_layerModal};
}

static jnResult WriteWorkspace(const char* temporary, const char* path, const Import* import, jnError* error)
{
    char manifest[JNA_PATH_LENGTH];
    if (mkdir(temporary, 0777) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", path, strerror(errno));
    }
    jnaWorkspaceLock lock; // so that it is not taken for one that a killed run left
    jnResult result = jnaLockWorkspace(temporary, "jounce new", true, &lock, error);
    result = result == jn_ok ? jnaJoinPath(temporary, "manifest.yaml", manifest, error) : result;
    result = result == jn_ok ? jnaWriteManifest(manifest, &import->manifest, error) : result;
    result = result == jn_ok ? SaveImport(temporary, import, error) : result;
    result = result == jn_ok ? RecordImport(temporary, import, error) : result;
    if (result == jn_ok && rename(temporary, path) != 0) {
        result = jnFail(error, jn_ioFailed, "%s: cannot make the workspace: %s", path, strerror(errno));
    }
    if (result != jn_ok) {
        jnaRemoveFolder(temporary);
    }
    jnaUnlockWorkspace(&lock);
    return result;
}

jnResult jnaCreateWorkspace(const char* path, const jnaWorkspaceDef* def, jnaNotes* notes, jnError* error)
{
    char plain[JNA_PATH_LENGTH - 64], temporary[JNA_PATH_LENGTH];
    if (path[0] == '\0' || strlen(path) >= sizeof(plain)) {
        return jnFail(error, jn_badArgument, "the path of the workspace is empty or too long");
    }
    strcpy(plain, path);
    for (size_t end = strlen(plain); end > 1 && plain[end - 1] == '/'; --end) {
        plain[end - 1] = '\0';
    }
    // An empty folder may take the workspace; anything else is somebody's work.
    if (access(plain, F_OK) == 0 && !IsEmptyFolder(plain)) {
        return jnFail(error, jn_ioFailed, "%s: already exists", path);
    }
    snprintf(temporary, sizeof(temporary), "%s.%ld.part", plain, (long)getpid());
    jnaRemoveAbandoned(plain);
    Import import = {.started = jnaWallClock()};
    jnResult result = Gather(def, &import, notes, error);
    if (result == jn_ok && def->adjust != NULL) {
        def->adjust(&import.manifest, def->user);
    }
    result = result == jn_ok ? WriteWorkspace(temporary, plain, &import, error) : result;
    DestroyImport(&import);
    return result;
}

// The clip that a manifest entry names among those of its file.
static jnResult PickClip(const jnaManifestClip* entry, const jnaClipList* list, jnaClip* clip, jnError* error)
{
    int found = entry->animation == NULL && list->count == 1 ? 0 : -1;
    for (int i = 0; entry->animation != NULL && i < list->count; ++i) {
        found = strcmp(list->clips[i].name, entry->animation) == 0 ? i : found;
    }
    if (found < 0) {
        return entry->animation != NULL
                   ? jnFail(error, jn_badData, "%s: has no animation '%s'", entry->source, entry->animation)
                   : jnFail(error, jn_badData, "%s: has %d animations; name the one of clip '%s' in the manifest",
                         entry->source, list->count, entry->name);
    }
    // A copy: two entries may name the same animation.
    const jnaClip* from = &list->clips[found];
    *clip = (jnaClip){.rate = from->rate, .frameCount = from->frameCount, .jointCount = from->jointCount};
    jnResult result = jnaClip_Allocate(clip, from->scales != NULL, error);
    if (result != jn_ok) {
        return result;
    }
    size_t entries = (size_t)from->frameCount * (size_t)from->jointCount;
    memcpy(clip->rotations, from->rotations, entries * 4 * sizeof(float));
    memcpy(clip->translations, from->translations, entries * 3 * sizeof(float));
    if (from->scales != NULL) {
        memcpy(clip->scales, from->scales, entries * 3 * sizeof(float));
    }
    clip->looping = from->looping;
    snprintf(clip->name, sizeof(clip->name), "%s", entry->name);
    return jn_ok;
}

static jnResult ImportEntry(
    const char* workspace, Import* import, int index, const jnaClipList* own, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    const jnaManifestClip* entry = &m->clips[index];
    char path[JNA_PATH_LENGTH];
    jnResult result;
    if (strcmp(entry->source, m->character) == 0) {
        result = PickClip(entry, own, &import->clips[index], error);
    } else {
        jnaClipList list = {0};
        jnaImportDef def = ImportDef(import);
        jnaRetargetDef retarget = {m->pairCount, NULL};
        jnaJointPair* pairs = calloc((size_t)m->pairCount + 1, sizeof(*pairs));
        for (int p = 0; pairs != NULL && p < m->pairCount; ++p) {
            pairs[p] = (jnaJointPair){m->pairs[p].source, m->pairs[p].joint};
        }
        retarget.pairs = pairs;
        result = pairs != NULL ? jnaJoinPath(workspace, entry->source, path, error) : OutOfMemory(error);
        if (result == jn_ok) {
            result = jnaImportClips(path, &def, &retarget, &import->character, &list, notes, error);
        }
        result = result == jn_ok ? PickClip(entry, &list, &import->clips[index], error) : result;
        jnaDestroyClipList(&list);
        free(pairs);
    }
    if (result == jn_ok && entry->motion != NULL) {
        result = jnaJoinPath(workspace, entry->motion, path, error);
        result = result == jn_ok ? ReadMotion(import, index, path, notes, error) : result;
    }
    return result;
}

static jnResult ImportManifest(const char* workspace, Import* import, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    char path[JNA_PATH_LENGTH];
    import->clips = calloc((size_t)m->clipCount + 1, sizeof(*import->clips));
    import->motions = calloc((size_t)m->clipCount + 1, sizeof(*import->motions));
    jnResult result = import->clips != NULL && import->motions != NULL
                          ? jnaJoinPath(workspace, m->character, path, error)
                          : OutOfMemory(error);
    if (jnaIsFigure(m->character)) {
        strcpy(path, JNA_FIGURE_SOURCE);
    }
    jnaClipList own = {0};
    jnaImportDef def = ImportDef(import);
    if (result == jn_ok) {
        result = jnaOpenSource(path, &def, &import->character, &own, &import->scale, notes, error);
    }
    for (int i = 0; result == jn_ok && i < m->clipCount; ++i) {
        result = jnaWatch_Tell(&import->watch, (i + 1.0) / (m->clipCount + 1), error);
        result = result == jn_ok ? ImportEntry(workspace, import, i, &own, notes, error) : result;
    }
    jnaDestroyClipList(&own);
    return result;
}

// Puts the new folder in the place of the old one, which goes last.
static jnResult Replace(const char* workspace, const char* fresh, const char* name, jnError* error)
{
    char from[JNA_PATH_LENGTH], to[JNA_PATH_LENGTH], old[JNA_PATH_LENGTH];
    jnResult result = jnaJoinPath(fresh, name, from, error);
    result = result == jn_ok ? jnaJoinPath(workspace, name, to, error) : result;
    if (result != jn_ok) {
        return result;
    }
    int length = snprintf(old, sizeof(old), "%s/%s.old", fresh, name);
    if (length >= (int)sizeof(old) || (rename(to, old) != 0 && errno != ENOENT) || rename(from, to) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot be replaced: %s", to, strerror(errno));
    }
    return jn_ok;
}

static jnResult ReplaceImport(const char* workspace, const Import* import, jnError* error)
{
    char name[32], fresh[JNA_PATH_LENGTH], record[JNA_PATH_LENGTH];
    snprintf(name, sizeof(name), "import.%ld.part", (long)getpid());
    jnResult result = jnaJoinPath(workspace, name, fresh, error);
    result = result == jn_ok ? jnaJoinPath(workspace, "stages/import.json", record, error) : result;
    if (result != jn_ok) {
        return result;
    }
    if (mkdir(fresh, 0777) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", fresh, strerror(errno));
    }
    result = SaveImport(fresh, import, error);
    if (result == jn_ok) {
        // From here until the new record the import counts as stale: a kill in between loses nothing but
        // time.
        (void)unlink(record);
        result = Replace(workspace, fresh, "character", error);
        result = result == jn_ok ? Replace(workspace, fresh, "clips", error) : result;
        result = result == jn_ok ? MakeStages(workspace, error) : result;
    }
    jnaRemoveFolder(fresh);
    return result;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    // The import borrows the manifest: what it names is the workspace's.
    Import import = {.manifest = w->manifest, .watch = run->watch};
    jnResult result = ImportManifest(w->path, &import, run->notes, error);
    result = result == jn_ok ? ReplaceImport(w->path, &import, error) : result;
    DestroyImported(&import);
    return result;
}

const jnaStageKind jnaImportStage = {"import", Describe, Run};
