// Making a workspace and bringing it up to date.
//
// Everything is imported into memory first, then written into a folder with a temporary name beside the final
// one, and renamed as the last step: whoever looks finds a whole workspace or none.
#include "pipeline/stage_import.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "character/gltf.h"
#include "character/mesh_cache.h"
#include "character/outfit.h"
#include "character/source.h"
#include "pipeline/engine.h"
#include "pipeline/height_note.h"
#include "pipeline/import_roles.h"
#include "volume/anatomy.h"
#include "workspace/stage.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/// A manifest with everything it names: clips and motions run along manifest.clips.
typedef struct Import {
    jnaManifest manifest;
    jnaCharacter character; // with all that it wears
    jnaCharacter flesh;     // empty where all of it is flesh
    double scale;
    jnaClip* clips;     // [capacity]
    jnaMotion* motions; // [capacity]; positions NULL where the clip has none
    jnaMotion* shapes;  // [capacity], the same of equilibria
    int capacity;
    double started; // when, by the wall clock
    jnaWatch watch;
    jnaImportBudget budget; // of what is read
    jnaImportBudget kept;   // as much again for the clips that are picked out of it
    jnaNotes* notes;
    int fixedCount;
    const char* const* fixed; // [fixedCount], clips of the character's file that keep the workspace's rate
} Import;

// What was imported, without the manifest.
static void DestroyImported(Import* import)
{
    for (int i = 0; i < import->manifest.clipCount && import->clips != NULL; ++i) {
        jnaDestroyClip(&import->clips[i]);
        jnaDestroyMotion(&import->motions[i]);
        jnaDestroyMotion(&import->shapes[i]);
    }
    free(import->clips);
    free(import->motions);
    free(import->shapes);
    jnaDestroyCharacter(&import->character);
    jnaDestroyCharacter(&import->flesh);
}

static const jnaCharacter* FleshOf(const Import* import)
{
    return import->character.outfitCount > 0 ? &import->flesh : &import->character;
}

static void DestroyImport(Import* import)
{
    DestroyImported(import);
    jnaDestroyManifest(&import->manifest);
}

static jnaImportDef ImportDef(Import* import)
{
    jnaImportDef def = jnaDefaultImportDef();
    def.rate = import->manifest.rate;
    def.scale = import->manifest.scale;
    def.up = import->manifest.up;
    def.character = import->manifest.number;
    def.watch = import->watch;
    def.budget = &import->budget;
    def.fixedCount = import->fixedCount;
    def.fixed = import->fixed;
    return def;
}

static jnResult OutOfMemory(jnError* error)
{
    return jnFail(error, jn_outOfMemory, "out of memory while importing");
}

// Parts of the body that do not fit together are refused now, not after the mesh is made.
static jnResult CheckBody(const Import* import, jnError* error)
{
    bool named = false;
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        named = named || import->manifest.body[s] != NULL;
    }
    if (!named) {
        return jn_ok;
    }
    jnaAnatomy anatomy;
    jnResult result = jnaFindSurfaceAnatomy(FleshOf(import), &anatomy, error);
    jnaDestroyAnatomy(&anatomy);
    return result;
}

// The character with its own clips and all that it wears. path: of its file.
static jnResult OpenCharacter(
    const char* workspace, const char* path, Import* import, jnaClipList* own, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    jnaImportDef def = ImportDef(import);
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaPartSetting* settings = jnaArena_Take(&arena, m->partCount, sizeof(*settings));
    bool* found = jnaArena_Take(&arena, m->partCount, sizeof(*found));
    JN_TRY(jnaArena_Check(&arena, "parts", error));
    for (int i = 0; i < m->partCount; ++i) {
        bool whole = m->parts[i].name != NULL && !jnaPartMarks(&m->parts[i]);
        settings[i] = (jnaPartSetting){whole ? m->parts[i].name : "", m->parts[i].role};
    }
    def.partCount = m->partCount;
    def.parts = settings;
    def.partsFound = found;
    JN_TRY(jnaOpenSource(path, &def, &import->character, own, &import->scale, notes, error));
    for (int i = 0; i < m->partCount; ++i) {
        char file[JNA_PATH_LENGTH];
        if (m->parts[i].source == NULL) {
            continue;
        }
        def.scale = import->scale;
        def.role = m->parts[i].role;
        JN_TRY(jnaJoinPath(workspace, m->parts[i].source, file, error));
        JN_TRY(jnaAddOutfit(file, &def, &import->character, notes, error));
    }
    JN_TRY(jnaSetMarks(m, found, &import->character, error));
    JN_TRY(jnaManifest_SetBody(m, &import->character, error));
    if (import->character.outfitCount > 0) {
        JN_TRY(jnaCharacter_TakeFlesh(&import->character, &import->flesh, error));
    }
    jnaNoteParts(&import->character, notes);
    JN_TRY(CheckBody(import, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

// Room for one more clip in all four lists.
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
    if (!jnaResize(&import->manifest.clips, capacity, sizeof(*import->manifest.clips)) ||
        !jnaResize(&import->clips, capacity, sizeof(*import->clips)) ||
        !jnaResize(&import->motions, capacity, sizeof(*import->motions)) ||
        !jnaResize(&import->shapes, capacity, sizeof(*import->shapes))) {
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

static int FindInList(const jnaClipList* list, const char* name)
{
    for (int i = 0; i < list->count; ++i) {
        if (strcmp(list->clips[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

// "walk, run" for a message; "none".
static const char* ListClips(const jnaClipList* list, char* text, size_t size)
{
    size_t length = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < list->count && length + JNA_NAME_LENGTH + 8 < size; ++i) {
        length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "", list->clips[i].name);
    }
    return text;
}

// Whether a clip repeats, as the manifest says or as its ends show.
static void SettleLoop(jnaClip* clip, jnaLoop loop, jnaNotes* notes)
{
    if (jnaClip_SetLoop(clip, loop) && loop == jna_loopAuto) {
        jnaNotes_Add(notes,
            "clip '%s' ends where it begins: a loop of %d frames (loop: false in the manifest keeps it as "
            "it is)",
            clip->name, clip->frameCount);
    }
}

// Takes a clip over under a new name.
static jnResult AddClip(Import* import, const char* name, const char* source, jnaClip* clip, jnError* error)
{
    if (FindClip(&import->manifest, name) >= 0) {
        return jnFail(error, jn_badArgument, "there are two clips called '%s'; name one otherwise with --clip", name);
    }
    JN_PASS(Reserve(import, error));
    int index = import->manifest.clipCount;
    jnaManifestClip entry = {strdup(name), jnaSourceRole(source, index), strdup(source), strdup(clip->name), NULL, NULL,
        .frames = JNA_ALL_FRAMES};
    import->manifest.clips[index] = entry;
    import->clips[index] = *clip;
    import->motions[index] = import->shapes[index] = (jnaMotion){0};
    import->manifest.clipCount++;
    *clip = (jnaClip){0};
    snprintf(import->clips[index].name, JNA_NAME_LENGTH, "%s", name);
    SettleLoop(&import->clips[index], jna_loopAuto, import->notes);
    return entry.name != NULL && entry.source != NULL && entry.animation != NULL ? jn_ok : OutOfMemory(error);
}

// The manifest's retarget map as the import takes it; the names stay the manifest's. NULL: out of memory.
static jnaJointPair* PairsOf(const jnaManifest* m)
{
    jnaJointPair* pairs = calloc((size_t)m->pairCount + 1, sizeof(*pairs));
    for (int p = 0; pairs != NULL && p < m->pairCount; ++p) {
        pairs[p] = (jnaJointPair){m->pairs[p].source, m->pairs[p].joint};
    }
    return pairs;
}

static jnResult TakePairs(const jnaWorkspaceDef* def, jnaManifest* m, jnError* error)
{
    m->pairs = calloc((size_t)def->pairCount + 1, sizeof(*m->pairs));
    for (int p = 0; m->pairs != NULL && p < def->pairCount; ++p) {
        m->pairs[p] = (jnaManifestPair){strdup(def->pairSources[p]), strdup(def->pairJoints[p])};
        m->pairCount = p + 1;
        if (m->pairs[p].source == NULL || m->pairs[p].joint == NULL) {
            return OutOfMemory(error);
        }
    }
    return m->pairs != NULL ? jn_ok : OutOfMemory(error);
}

// Whether a cache is given for a clip, or for one of a file's: caches have frames at the workspace's rate.
static bool HasCache(const jnaWorkspaceDef* def, const char* name)
{
    bool has = false;
    for (int i = 0; i < def->motionCount; ++i) {
        has = has || strncmp(def->motionClips[i], name, strlen(name)) == 0;
    }
    for (int i = 0; i < def->shapeCount; ++i) {
        has = has || strncmp(def->shapeClips[i], name, strlen(name)) == 0;
    }
    return has;
}

// Notes on a file of motion say which clip they concern, by the name that the workspace has for it.
static void PassNotes(const jnaNotes* said, const char* name, bool single, jnaNotes* notes)
{
    for (int i = 0; i < said->count; ++i) {
        const char *line = said->lines[i], *end = strncmp(line, "clip '", 6) == 0 ? strchr(line + 6, '\'') : NULL;
        if (end == NULL) {
            jnaNotes_Add(notes, "clip '%s': %.300s", name, line);
        } else {
            jnaNotes_Add(notes, "clip '%s%s%.*s'%s", name, single ? "" : "_", single ? 0 : (int)(end - line - 6),
                line + 6, end + 1);
        }
    }
}

// A file that several animations come from gives each its own name behind the one that was asked for.
static jnResult AddFile(
    Import* import, const jnaWorkspaceDef* asked, const char* name, const char* file, jnError* error)
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
    def.fixedCount = HasCache(asked, name) ? -1 : 0;
    jnaClipList list = {0};
    jnaNotes said = {0};
    jnaJointPair* pairs = PairsOf(&import->manifest);
    const jnaRetargetDef retarget = {import->manifest.pairCount, pairs};
    jnResult result = jn_ok;
    JN_TRY(pairs != NULL ? jn_ok : OutOfMemory(error));
    JN_TRY(jnaImportClips(path, &def, &retarget, &import->character, &list, &said, error));
    PassNotes(&said, name, list.count == 1, import->notes);
    for (int i = 0; i < list.count; ++i) {
        char unique[2 * JNA_NAME_LENGTH];
        snprintf(unique, sizeof(unique), list.count > 1 ? "%s_%s" : "%s", name, list.clips[i].name);
        unique[JNA_NAME_LENGTH - 1] = '\0';
        JN_TRY(AddClip(import, unique, path, &list.clips[i], error));
    }
done:
    jnaDestroyNotes(&said);
    jnaDestroyClipList(&list);
    free(pairs);
    return result;
}

// A cache of a clip: its motion, or its equilibria.
static jnResult ReadCache(Import* import, int index, jnaClipCache kind, const char* file, jnError* error)
{
    const jnaClip* clip = &import->clips[index];
    jnaMotion* motion = kind == jna_clipMotion ? &import->motions[index] : &import->shapes[index];
    jnaNotes said = {0};
    jnResult result = jnaReadMotionConfined(file, FleshOf(import), clip, import->scale, motion, &said, error);
    for (int i = 0; i < said.count; ++i) {
        const char* line = said.lines[i];
        bool renamed = kind == jna_clipShapes && strncmp(line, "motion of ", 10) == 0;
        jnaNotes_Add(import->notes, "%s%s", renamed ? "equilibria of " : "", renamed ? line + 10 : line);
    }
    jnaDestroyNotes(&said);
    JN_PASS(result);
    // Of a loop the cache may have the frame that closes it, too.
    if (clip->looping && motion->frameCount == clip->frameCount + 1) {
        motion->frameCount--;
    }
    if (motion->frameCount != clip->frameCount) {
        return jnFail(error, jn_badData, "%s: has %d frames; clip '%s' has %d at %g Hz", file, motion->frameCount,
            clip->name, clip->frameCount, clip->rate);
    }
    return jn_ok;
}

// The manifest's name of a cache.
static char** CacheOf(jnaManifestClip* entry, jnaClipCache kind)
{
    return kind == jna_clipMotion ? &entry->motion : &entry->shapes;
}

static jnResult AttachCache(Import* import, jnaClipCache kind, const char* name, const char* file, jnError* error)
{
    const char* option = kind == jna_clipMotion ? "--motion" : "--quasistatic";
    char path[PATH_MAX], whole[2 * PATH_MAX];
    int index = FindClip(&import->manifest, name);
    if (index < 0) {
        char names[300];
        const jnaClipList all = {import->manifest.clipCount, import->clips};
        return jnFail(error, jn_badArgument, "%s %s=%s: there is no clip '%s'; there is %s", option, name, file, name,
            ListClips(&all, names, sizeof(names)));
    }
    char** entry = CacheOf(&import->manifest.clips[index], kind);
    if (*entry != NULL) {
        return jnFail(error, jn_badArgument, "%s: clip '%s' is given two caches", option, name);
    }
    char plain[PATH_MAX], member[PATH_MAX];
    jnaSplitMember(file, plain, member, sizeof(plain));
    if (realpath(plain, path) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", plain, strerror(errno));
    }
    snprintf(whole, sizeof(whole), "%s%s%s", path, member[0] != '\0' ? ":" : "", member);
    *entry = strdup(whole);
    return *entry != NULL ? ReadCache(import, index, kind, whole, error) : OutOfMemory(error);
}

// Ground truth from elsewhere: no flesh of ours is simulated beside it. Modes are found in it, springs per vertex can
// follow any motion, and the fit tells which of the two explains it. Equilibria are what a network learns from.
static void TrustMotion(const jnaWorkspaceDef* def, jnaManifest* manifest, jnaNotes* notes)
{
    if (def->motionCount + def->shapeCount == 0) {
        return;
    }
    manifest->modesSource = jna_modesOfMotion;
    manifest->springs.layer = def->layerGiven ? def->layer : jna_layerAuto;
    manifest->network.kind = def->shapeCount > 0 ? jn_networkPca : jn_networkNone;
    jnaNotes_Add(notes, "the ground truth is imported: nothing is simulated (modes.source in the manifest)%s%s",
        def->shapeCount > 0 ? "; the network learns from the equilibria (network.kind)" : "",
        def->motionCount > 0 && !def->layerGiven
            ? "; the fit keeps springs per vertex or on modes, whichever explain the motion better (springs.layer)"
            : "");
}

// Somebody's ground truth is there to be learned from: where no clip to train on has it, the first that has is one.
static void LearnFromCaches(jnaManifest* m, jnaNotes* notes)
{
    int first = -1;
    for (int i = 0; i < m->clipCount; ++i) {
        bool there = m->clips[i].motion != NULL || m->clips[i].shapes != NULL;
        if (there && m->clips[i].role == jna_train) {
            return;
        }
        first = there && first < 0 ? i : first;
    }
    if (first >= 0) {
        m->clips[first].role = jna_train;
        jnaNotes_Add(notes, "clip '%s' is the first with ground truth: it is trained on (role in the manifest)",
            m->clips[first].name);
    }
}

// Clips of the character's own file: those that were asked for, or all.
static jnResult AddOwnClips(const jnaWorkspaceDef* def, Import* import, jnaClipList* list, jnError* error)
{
    for (int k = 0; k < def->ownCount; ++k) {
        if (FindInList(list, def->ownClips[k]) < 0) {
            char names[300];
            return jnFail(error, jn_badArgument, "--clip %s: %s has no clip of that name; it has %s", def->ownClips[k],
                import->manifest.character, ListClips(list, names, sizeof(names)));
        }
    }
    for (int i = 0; i < list->count; ++i) {
        char name[JNA_NAME_LENGTH];
        bool wanted = def->ownCount == 0 && !jnaSource_KeepsBack(import->manifest.character, i);
        memcpy(name, list->clips[i].name, sizeof(name));
        for (int k = 0; k < def->ownCount; ++k) {
            wanted = wanted || strcmp(def->ownClips[k], name) == 0;
        }
        if (wanted) {
            JN_PASS(AddClip(import, name, import->manifest.character, &list->clips[i], error));
        }
    }
    return jn_ok;
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
    import->manifest.up = def->up;
    import->manifest.number = def->number;
    import->manifest.character = strdup(path);
    if (import->manifest.character == NULL) {
        return OutOfMemory(error);
    }
    JN_PASS(TakePairs(def, &import->manifest, error));
    JN_PASS(jnaTakeParts(def, &import->manifest, error));
    jnResult result = jn_ok;
    jnaClipList list = {0};
    const char** fixed = calloc((size_t)(def->motionCount + def->shapeCount) + 1, sizeof(*fixed));
    JN_TRY(fixed != NULL ? jn_ok : OutOfMemory(error));
    for (int i = 0; i < def->motionCount + def->shapeCount; ++i) {
        fixed[i] = i < def->motionCount ? def->motionClips[i] : def->shapeClips[i - def->motionCount];
    }
    import->fixed = fixed;
    import->fixedCount = def->motionCount + def->shapeCount;
    JN_TRY(OpenCharacter("", path, import, &list, notes, error));
    import->manifest.scale = import->scale;
    if (def->scale <= 0) {
        JN_TRY(jnaNoteHeight(FleshOf(import), import->scale, notes, error));
    }
    JN_TRY(AddOwnClips(def, import, &list, error));
    for (int i = 0; i < def->clipCount; ++i) {
        JN_TRY(AddFile(import, def, def->clipNames[i], def->clipFiles[i], error));
    }
    if (import->manifest.clipCount == 0) {
        jnaNotes_Add(notes, "there is no clip: nothing can be learned, played or measured until the workspace is made "
                            "with one (--clip NAME=FILE)");
    }
    TrustMotion(def, &import->manifest, notes);
    for (int i = 0; i < def->motionCount; ++i) {
        JN_TRY(AttachCache(import, jna_clipMotion, def->motionClips[i], def->motionFiles[i], error));
    }
    for (int i = 0; i < def->shapeCount; ++i) {
        JN_TRY(AttachCache(import, jna_clipShapes, def->shapeClips[i], def->shapeFiles[i], error));
    }
    LearnFromCaches(&import->manifest, notes);
done:
    import->fixedCount = 0;
    import->fixed = NULL;
    free(fixed);
    jnaDestroyClipList(&list);
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
    json_t* root = jnaReadJson(path, 0, NULL);
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
        char plain[JNA_PATH_LENGTH], member[JNA_PATH_LENGTH];
        jnaSplitMember(file, plain, member, sizeof(plain));
        jnaStage_Read(stage, NULL, "%s", plain);
        AddBuffers(stage, workspace, plain);
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
    for (int i = 0; i < m->partCount; ++i) {
        AddInput(stage, workspace, m->parts[i].source);
    }
    jnaStage_Make(stage, "character");
    jnaStage_Make(stage, "clips");
    jnaStage_Share(stage, stage->name, "character/character.json");
    for (int i = 0; i < m->clipCount; ++i) {
        AddInput(stage, workspace, m->clips[i].source);
        AddInput(stage, workspace, m->clips[i].motion);
        AddInput(stage, workspace, m->clips[i].shapes);
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
    JN_PASS(jnaSaveCharacter(folder, &import->character, import->scale, error));
    char clips[JNA_PATH_LENGTH];
    JN_PASS(jnaMakeFolder(folder, "clips", clips, error));
    for (int i = 0; i < import->manifest.clipCount; ++i) {
        const jnaMotion* motion = import->motions[i].positions != NULL ? &import->motions[i] : NULL;
        const jnaMotion* shapes = import->shapes[i].positions != NULL ? &import->shapes[i] : NULL;
        JN_PASS(jnaSaveClip(folder, &import->clips[i], motion, shapes, error));
    }
    return jn_ok;
}

// The folder of the records, and that of a new workspace's import.
static jnResult MakeStages(const char* workspace, jnError* error)
{
    return jnaMakeFolder(workspace, "stages", NULL, error);
}

static jnResult RecordImport(const char* workspace, const Import* import, jnError* error)
{
    jnaStage stage = {.name = jnaImportStage.name};
    jnResult result = jn_ok;
    JN_TRY(MakeStages(workspace, error));
    DescribeManifest(workspace, &import->manifest, &stage);
    stage.seconds = jnaWallClock() - import->started;
    JN_TRY(jnaStage_Record(workspace, &stage, error));
done:
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
    jnaWorkspaceLock lock = {0}; // so that it is not taken for one that a killed run left
    jnResult result = jn_ok;
    JN_TRY(jnaLockWorkspace(temporary, "jounce new", true, &lock, error));
    JN_TRY(jnaJoinPath(temporary, "manifest.yaml", manifest, error));
    jnaSyncFolderOf(manifest); // the lock is on the disk before anything that it would have to be known by
    JN_TRY(jnaWriteManifest(manifest, &import->manifest, error));
    JN_TRY(SaveImport(temporary, import, error));
    JN_TRY(RecordImport(temporary, import, error));
    if (rename(temporary, path) != 0) {
        JN_TRY(jnFail(error, jn_ioFailed, "%s: cannot make the workspace: %s", path, strerror(errno)));
    }
    jnaSyncFolderOf(path);
done:
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
    if (jnaFileIsThere(plain) && !IsEmptyFolder(plain)) {
        return jnFail(error, jn_ioFailed, "%s: already exists", path);
    }
    snprintf(temporary, sizeof(temporary), "%s.%ld.part", plain, (long)getpid());
    jnaRemoveAbandoned(plain);
    Import import = {.started = jnaWallClock(), .notes = notes};
    jnResult result = jn_ok;
    JN_TRY(Gather(def, &import, notes, error));
    JN_TRY(jnaManifest_Relate(&import.manifest, plain, error));
    if (def->adjust != NULL) {
        def->adjust(&import.manifest, def->user);
    }
    JN_TRY(WriteWorkspace(temporary, plain, &import, error));
done:
    DestroyImport(&import);
    return result;
}

// The clip that a manifest entry names among those of its file.
static jnResult PickClip(
    const jnaManifestClip* entry, const jnaClipList* list, Import* import, int index, jnError* error)
{
    jnaClip* clip = &import->clips[index];
    int found = entry->animation != NULL ? FindInList(list, entry->animation) : list->count == 1 ? 0 : -1;
    if (found < 0) {
        char names[300];
        ListClips(list, names, sizeof(names));
        return entry->animation != NULL
                   ? jnFail(error, jn_badData, "%s: has no animation '%s'; it has %s", entry->source, entry->animation,
                         names)
                   : jnFail(error, jn_badData, "%s: has %d animations; name the one of clip '%s' in the manifest: %s",
                         entry->source, list->count, entry->name, names);
    }
    // A copy: two entries may name the same animation.
    const jnaClip* from = &list->clips[found];
    import->kept.bytes = import->budget.bytes;
    import->kept.frames = import->budget.frames;
    JN_PASS(jnaImportBudget_TakeClip(
        &import->kept, entry->source, from->frameCount, 10.0 * from->jointCount + from->targetCount, error));
    *clip = (jnaClip){.rate = from->rate,
        .frameCount = from->frameCount,
        .jointCount = from->jointCount,
        .targetCount = from->targetCount};
    JN_PASS(jnaClip_Allocate(clip, from->scales != NULL, error));
    size_t entries = (size_t)from->frameCount * (size_t)from->jointCount;
    memcpy(clip->rotations, from->rotations, entries * 4 * sizeof(float));
    memcpy(clip->translations, from->translations, entries * 3 * sizeof(float));
    if (from->scales != NULL) {
        memcpy(clip->scales, from->scales, entries * 3 * sizeof(float));
    }
    if (from->targets != NULL) {
        memcpy(clip->targets, from->targets, (size_t)from->frameCount * (size_t)from->targetCount * sizeof(float));
    }
    clip->looping = from->looping;
    snprintf(clip->name, sizeof(clip->name), "%s", entry->name);
    SettleLoop(clip, entry->loop, NULL);
    return jn_ok;
}

// Whether a clip keeps the workspace's rate, loop or not.
static bool KeepsRate(const jnaManifestClip* entry)
{
    return entry->loop == jna_loopNo || entry->motion != NULL || entry->shapes != NULL;
}

// The character and the clips of its file, as the manifest wants them.
static jnResult ImportOwn(const char* workspace, Import* import, jnaClipList* own, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    char path[JNA_PATH_LENGTH];
    const char** fixed = calloc((size_t)m->clipCount + 1, sizeof(*fixed));
    jnResult result = jn_ok;
    JN_TRY(fixed != NULL ? jn_ok : OutOfMemory(error));
    import->fixed = fixed;
    for (int i = 0; i < m->clipCount; ++i) {
        if (KeepsRate(&m->clips[i]) && strcmp(m->clips[i].source, m->character) == 0) {
            fixed[import->fixedCount++] = m->clips[i].animation != NULL ? m->clips[i].animation : "";
        }
    }
    JN_TRY(jnaJoinPath(workspace, m->character, path, error));
    if (jnaIsFigure(m->character)) {
        strcpy(path, JNA_FIGURE_SOURCE);
    }
    JN_TRY(OpenCharacter(workspace, path, import, own, import->notes, error));
done:
    import->fixedCount = 0;
    import->fixed = NULL;
    free(fixed);
    return result;
}

// A clip of another file than the character's, brought onto its joints.
static jnResult ImportForeign(const char* path, Import* import, int index, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    jnaClipList list = {0};
    jnaImportDef def = ImportDef(import);
    const jnaImportBudget before = import->budget;
    def.fixedCount = KeepsRate(&m->clips[index]) ? -1 : 0;
    jnaJointPair* pairs = PairsOf(m);
    jnaRetargetDef retarget = {m->pairCount, pairs};
    jnResult result = jn_ok;
    JN_TRY(pairs != NULL ? jn_ok : OutOfMemory(error));
    JN_TRY(jnaImportClips(path, &def, &retarget, &import->character, &list, notes, error));
    // What was read is released at once; the clip that is kept counts.
    import->budget.takenBytes = before.takenBytes;
    import->budget.takenFrames = before.takenFrames;
    JN_TRY(PickClip(&m->clips[index], &list, import, index, error));
done:
    jnaDestroyClipList(&list);
    free(pairs);
    return result;
}

static jnResult ImportEntry(
    const char* workspace, Import* import, int index, const jnaClipList* own, jnaNotes* notes, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    const jnaManifestClip* entry = &m->clips[index];
    char path[JNA_PATH_LENGTH];
    if (strcmp(entry->source, m->character) == 0) {
        JN_PASS(PickClip(entry, own, import, index, error));
    } else {
        JN_PASS(jnaJoinPath(workspace, entry->source, path, error));
        JN_PASS(ImportForeign(path, import, index, notes, error));
    }
    for (int kind = jna_clipMotion; kind <= (int)jna_clipShapes; ++kind) {
        const char* file = kind == (int)jna_clipMotion ? entry->motion : entry->shapes;
        if (file != NULL) {
            JN_PASS(jnaJoinPath(workspace, file, path, error));
            JN_PASS(ReadCache(import, index, (jnaClipCache)kind, path, error));
        }
    }
    return jn_ok;
}

static jnResult ImportManifest(const char* workspace, Import* import, jnError* error)
{
    const jnaManifest* m = &import->manifest;
    import->clips = calloc((size_t)m->clipCount + 1, sizeof(*import->clips));
    import->motions = calloc((size_t)m->clipCount + 1, sizeof(*import->motions));
    import->shapes = calloc((size_t)m->clipCount + 1, sizeof(*import->shapes));
    jnaClipList own = {0};
    jnResult result = jn_ok;
    if (import->clips == NULL || import->motions == NULL || import->shapes == NULL) {
        free(import->clips);
        import->clips = NULL;
        return OutOfMemory(error);
    }
    JN_TRY(ImportOwn(workspace, import, &own, error));
    for (int i = 0; i < m->clipCount; ++i) {
        JN_TRY(jnaWatch_Tell(&import->watch, (i + 1.0) / (m->clipCount + 1), error));
        JN_TRY(ImportEntry(workspace, import, i, &own, import->notes, error));
    }
done:
    jnaDestroyClipList(&own);
    return result;
}

// Puts the new folder in the place of the old one, which goes last.
static jnResult Replace(const char* workspace, const char* fresh, const char* name, jnError* error)
{
    char from[JNA_PATH_LENGTH], to[JNA_PATH_LENGTH], old[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(fresh, name, from, error));
    JN_PASS(jnaJoinPath(workspace, name, to, error));
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
    JN_PASS(jnaJoinPath(workspace, name, fresh, error));
    JN_PASS(jnaJoinPath(workspace, "stages/import.json", record, error));
    jnResult result = jn_ok;
    if (mkdir(fresh, 0777) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot make the folder: %s", fresh, strerror(errno));
    }
    JN_TRY(SaveImport(fresh, import, error));
    // From here until the new record the import counts as stale: a kill in between loses nothing but time.
    (void)unlink(record);
    JN_TRY(Replace(workspace, fresh, "character", error));
    JN_TRY(Replace(workspace, fresh, "clips", error));
    JN_TRY(MakeStages(workspace, error));
done:
    jnaRemoveFolder(fresh);
    return result;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    // The import borrows the manifest: what it names is the workspace's.
    Import import = {.manifest = w->manifest, .watch = run->watch, .notes = run->notes};
    jnResult result = jn_ok;
    JN_TRY(ImportManifest(w->path, &import, error));
    JN_TRY(ReplaceImport(w->path, &import, error));
done:
    DestroyImported(&import);
    return result;
}

const jnaStageKind jnaImportStage = {"import", Describe, Run};
