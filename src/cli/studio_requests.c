// What the page of jounce studio asks for. A request is "/studio/VERB/SESSION", its body JSON but for the two that
// bring files; the answer is always the state of the studio, with a sentence where something was refused.
//
// One page writes: the first that asks, until it has been silent for some seconds or another takes over. A save keeps
// the manifest's text and the mask from before and after it, so that it can be taken back to the byte.
#include "base/clock.h"
#include "base/file.h"
#include "base/input.h"
#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"
#include "cli.h"
#include "pipeline/stage_export.h"
#include "studio_parts.h"
#include "workspace/manifest_edit.h"

#include "runtime/for_author.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SILENCE 6.0 // seconds after which a page has gone
#define MASK_NAME "mask.npy"
#define EXPORT_FOLDER "exports"
enum { MOST_MASK = 16 << 20 };

static const char WHO[] = "jounce studio";

static json_t* DescribeJob(const jncStudio* s, const jncJobState* state)
{
    if (s->job.number == 0) {
        return json_null();
    }
    json_t* progress = json_loads(state->line, 0, NULL);
    return json_pack("{s:i, s:s, s:b, s:b, s:b, s:s, s:o?}", "number", s->job.number, "verb", s->job.verb, "runs",
        state->runs, "failed", state->failed, "stopped", state->stopped, "error", state->error, "progress",
        progress != NULL ? progress : json_null());
}

static void DescribeManifest(const jncStudio* s, json_t* root)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest m;
    jnError error = {0};
    if (s->workspace[0] == '\0' || jnaJoinPath(s->workspace, "manifest.yaml", path, &error) != jn_ok) {
        return;
    }
    if (jnaReadManifest(path, &m, &error) != jn_ok) {
        json_object_set_new(root, "error", json_string(error.message));
        return;
    }
    static const char* const builds[] = {"auto", "lean", "average", "heavy"};
    json_object_set_new(root, "saved", jncDescribeTuning(&m));
    json_object_set_new(root, "build", json_string(builds[m.materials.body.build]));
    json_object_set_new(root, "masked", json_boolean(m.springs.mode == jna_springsMask));
    jnaDestroyManifest(&m);
}

// The state, owned by the caller. refused: a sentence, "" for none.
static char* DescribeStudio(jncStudio* s, const jncJobState* job, bool writes, const char* refused)
{
    json_t* root = json_pack("{s:s, s:s, s:b, s:b, s:i, s:b, s:i, s:i, s:o?}", "folder", s->folder, "workspace",
        s->workspace, "writes", writes, "opened", s->file.asset != NULL, "revision", s->revision, "stale", s->stale,
        "undo", s->version, "redo", s->versionCount - s->version, "job", DescribeJob(s, job));
    DescribeManifest(s, root);
    if (refused[0] != '\0') {
        json_object_set_new(root, "error", json_string(refused));
    }
    char* text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

static void ForgetVersion(jncVersion* v)
{
    for (int i = 0; i < 2; ++i) {
        free(v->manifest[i]);
        free(v->mask[i]);
    }
    *v = (jncVersion){0};
}

void jncForgetVersions(jncStudio* s)
{
    for (int i = 0; i < s->versionCount; ++i) {
        ForgetVersion(&s->versions[i]);
    }
    s->versionCount = s->version = 0;
}

// The bytes of the painted mask; NULL where there is none.
static unsigned char* LoadMask(const char* workspace, size_t* size)
{
    char path[JNA_PATH_LENGTH];
    FILE* file;
    *size = 0;
    if (jnaJoinPath(workspace, MASK_NAME, path, NULL) != jn_ok || jnaOpenInput(path, &file, NULL) != jn_ok) {
        return NULL;
    }
    unsigned char* bytes = malloc(MOST_MASK);
    *size = bytes != NULL ? fread(bytes, 1, MOST_MASK, file) : 0;
    fclose(file);
    return bytes;
}

static jnResult StoreMask(const char* workspace, const unsigned char* bytes, size_t size, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(workspace, MASK_NAME, path, error));
    if (bytes == NULL) {
        (void)unlink(path);
        return jn_ok;
    }
    return jnaWriteBytes(path, bytes, size, error);
}

// Remembers how manifest and mask are, before or after a save.
static jnResult Remember(const jncStudio* s, jncVersion* v, int when, jnError* error)
{
    v->mask[when] = LoadMask(s->workspace, &v->maskSize[when]);
    return jnaLoadManifestText(s->workspace, &v->manifest[when], error);
}

// Makes what changes one version, after those that hold; those that were taken back are gone.
static void KeepVersion(jncStudio* s, jncVersion* v)
{
    bool same = strcmp(v->manifest[0], v->manifest[1]) == 0 && v->maskSize[0] == v->maskSize[1] &&
                (v->maskSize[0] == 0 || memcmp(v->mask[0], v->mask[1], v->maskSize[0]) == 0);
    if (same) {
        ForgetVersion(v);
        return;
    }
    while (s->versionCount > s->version) {
        ForgetVersion(&s->versions[--s->versionCount]);
    }
    if (s->versionCount == JNC_VERSIONS) {
        ForgetVersion(&s->versions[0]);
        memmove(s->versions, s->versions + 1, (JNC_VERSIONS - 1) * sizeof(s->versions[0]));
        s->versionCount--;
    }
    s->versions[s->versionCount++] = *v;
    s->version = s->versionCount;
    s->stale = true;
}

static jnResult HasWorkspace(const jncStudio* s, jnError* error)
{
    return s->workspace[0] != '\0' ? jn_ok : jnFail(error, jn_badArgument, "there is no character yet");
}

// {"belly": {"softness": "2"}}: the words of a change, which point into the object.
static jnResult TakeTuning(json_t* tuning, jnaManifestChange* change, jnError* error)
{
    const char *region, *key;
    json_t *keys, *value;
    json_object_foreach(tuning, region, keys)
    {
        json_object_foreach(keys, key, value)
        {
            char word[128];
            jnaManifestChange one = {0};
            const char* text = json_string_value(value);
            if (text == NULL || snprintf(word, sizeof(word), "%.40s.%.40s=", region, key) < 0) {
                return jnFail(error, jn_badArgument, "%.40s.%.40s is not a text", region, key);
            }
            JN_PASS(jnaManifestChange_Take(&one, word, error)); // is there such a key
            for (int i = 0; i < JNA_REGIONS * JNA_TUNING_KEYS; ++i) {
                if (one.tuning[i / JNA_TUNING_KEYS][i % JNA_TUNING_KEYS] != NULL) {
                    change->tuning[i / JNA_TUNING_KEYS][i % JNA_TUNING_KEYS] = text;
                }
            }
        }
    }
    return jn_ok;
}

// {"tuning": {...}, "build": "heavy"}
static jnResult Save(jncStudio* s, const char* body, size_t size, jnError* error)
{
    jnaManifestChange change = {0};
    jncVersion version = {0};
    jnResult result = jn_ok;
    json_t* root = json_loadb(body, size, 0, NULL);
    JN_TRY(json_is_object(root) ? jn_ok : jnFail(error, jn_badArgument, "a save is a JSON object"));
    JN_TRY(HasWorkspace(s, error));
    JN_TRY(TakeTuning(json_object_get(root, "tuning"), &change, error));
    change.build = json_string_value(json_object_get(root, "build"));
    JN_TRY(Remember(s, &version, 0, error));
    JN_TRY(jnaChangeManifest(s->workspace, WHO, &change, NULL, error));
    JN_TRY(Remember(s, &version, 1, error));
    KeepVersion(s, &version);
    version = (jncVersion){0};
done:
    ForgetVersion(&version);
    json_decref(root);
    return result;
}

// The body: one float per vertex of the workspace's character, 1 flesh to 0 rigid. Nothing: no mask any more.
static jnResult SaveMask(jncStudio* s, const void* body, size_t size, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jncVersion version = {0};
    jnaManifestChange change = {.mask = size > 0 ? MASK_NAME : ""};
    size_t count[1] = {size / sizeof(float)};
    jnResult result = jn_ok;
    JN_TRY(HasWorkspace(s, error));
    bool fits = s->file.asset != NULL && (size == 0 || size == (size_t)s->file.asset->vertexCount * sizeof(float));
    JN_TRY(fits ? jn_ok : jnFail(error, jn_badArgument, "a mask has one number for each vertex of the character"));
    for (size_t i = 0; i < count[0]; ++i) {
        float value;
        memcpy(&value, (const char*)body + i * sizeof(value), sizeof(value));
        JN_TRY(value >= 0.0f && value <= 1.0f ? jn_ok
                                              : jnFail(error, jn_badArgument, "a mask's numbers lie between 0 and 1"));
    }
    JN_TRY(Remember(s, &version, 0, error));
    JN_TRY(jnaChangeManifest(s->workspace, WHO, &change, NULL, error));
    JN_TRY(jnaJoinPath(s->workspace, MASK_NAME, path, error));
    JN_TRY(
        size > 0 ? jnaWriteArray(path, jna_float32, 1, count, body, error) : StoreMask(s->workspace, NULL, 0, error));
    JN_TRY(Remember(s, &version, 1, error));
    KeepVersion(s, &version);
    version = (jncVersion){0};
done:
    ForgetVersion(&version);
    return result;
}

// Puts a version's state before or after it in place. Who else changed the manifest since keeps the change.
static jnResult GoTo(jncStudio* s, jncVersion* v, int when, jnError* error)
{
    char* now = NULL;
    JN_PASS(jnaLoadManifestText(s->workspace, &now, error));
    bool ours = strcmp(now, v->manifest[1 - when]) == 0;
    free(now);
    if (!ours) {
        return jnFail(error, jn_badArgument,
            "manifest.yaml was changed by somebody else since the last save; undo would lose that");
    }
    JN_PASS(jnaRestoreManifestText(s->workspace, WHO, v->manifest[when], error));
    return StoreMask(s->workspace, v->mask[when], v->maskSize[when], error);
}

static jnResult Undo(jncStudio* s, jnError* error)
{
    JN_PASS(s->version > 0 ? jn_ok : jnFail(error, jn_badArgument, "nothing is saved that could be taken back"));
    JN_PASS(GoTo(s, &s->versions[s->version - 1], 0, error));
    s->version--;
    s->stale = true;
    return jn_ok;
}

static jnResult Redo(jncStudio* s, jnError* error)
{
    JN_PASS(s->version < s->versionCount ? jn_ok : jnFail(error, jn_badArgument, "nothing was taken back"));
    JN_PASS(GoTo(s, &s->versions[s->version], 1, error));
    s->version++;
    s->stale = true;
    return jn_ok;
}

static jnResult Rebuild(jncStudio* s, jnError* error)
{
    JN_PASS(HasWorkspace(s, error));
    const char* const words[] = {"build", s->workspace, "--until", "modes", "--progress", NULL};
    return jncJob_Start(&s->job, words, error);
}

// {"format": "glb"}: to WORKSPACE/exports/NAME.glb.
static jnResult Export(jncStudio* s, const char* body, size_t size, jnError* error)
{
    char folder[JNA_PATH_LENGTH], path[2 * JNA_PATH_LENGTH + 16];
    json_t* root = json_loadb(body, size, 0, NULL);
    const char* format = json_string_value(json_object_get(root, "format"));
    bool glb = format != NULL && strcmp(format, "glb") == 0, own = format != NULL && strcmp(format, "jounce") == 0;
    json_decref(root);
    JN_PASS(HasWorkspace(s, error));
    if (!glb && !own) {
        return jnFail(error, jn_badArgument, "an export's format is glb or jounce");
    }
    JN_PASS(jnaMakeFolder(s->workspace, EXPORT_FOLDER, folder, error));
    const char* name = strrchr(s->workspace, '/');
    name = name != NULL && jnaIsPlainName(name + 1) ? name + 1
           : jnaIsPlainName(s->workspace)           ? s->workspace
                                                    : "character";
    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, glb ? "glb" : "jounce");
    const char* const words[] = {"export", s->workspace, "-o", path, NULL};
    return jncJob_Start(&s->job, words, error);
}

// A dropped model: to FOLDER/NAME, its workspace beside it.
static jnResult New(jncStudio* s, const char* name, const void* body, size_t size, jnError* error)
{
    char path[JNA_PATH_LENGTH], workspace[JNA_PATH_LENGTH], stem[256];
    const char* dot = strrchr(name, '.');
    if (s->workspace[0] != '\0') {
        return jnFail(error, jn_badArgument, "this studio has a character; start jounce studio in another folder");
    }
    bool good = jnaIsPlainName(name) && dot != NULL && dot != name && strlen(name) < sizeof(stem) && jncIsModel(name) &&
                strcmp(dot, ".gltf") != 0 && size > 0;
    if (!good) {
        return jnFail(
            error, jn_badArgument, "'%.60s': a character is one .glb, .fbx or .dae file with a plain name", name);
    }
    snprintf(stem, sizeof(stem), "%.*s", (int)(dot - name), name);
    JN_PASS(jnaJoinPath(s->folder, name, path, error));
    JN_PASS(jnaJoinPath(s->folder, stem, workspace, error));
    struct stat status;
    if (stat(path, &status) == 0 || stat(workspace, &status) == 0) {
        return jnFail(error, jn_badArgument, "%s or %s is there already; give the file another name", path, workspace);
    }
    JN_PASS(jnaWriteBytes(path, body, size, error));
    const char* const words[] = {"new", workspace, "--from", path, NULL};
    JN_PASS(jncJob_Start(&s->job, words, error));
    snprintf(s->workspace, sizeof(s->workspace), "%s", workspace);
    snprintf(s->dropped, sizeof(s->dropped), "%s", path);
    s->builds = true;
    return jn_ok;
}

// The next thing after a job: the build of a new workspace, or the character that it made.
static void FollowJob(jncStudio* s, bool ended, jncJobState* state)
{
    bool done = ended && !state->failed && !state->stopped;
    if (ended && !done && s->builds && strcmp(s->job.verb, "new") == 0) {
        s->workspace[0] = '\0'; // another file may be dropped, or the same, mended
        (void)unlink(s->dropped);
    }
    if (done && strcmp(s->job.verb, "build") == 0) {
        s->stale = false;
        jncStudio_Open(s);
    }
    bool next = done && s->builds && strcmp(s->job.verb, "new") == 0;
    s->builds = s->builds && !ended;
    if (next && Rebuild(s, &(jnError){0}) == jn_ok) {
        (void)jncJob_Look(&s->job, state);
    }
}

// Whether a session may write now. It becomes the writer where there is none, or where it takes over.
static bool Writes(jncStudio* s, const char* session, bool takesOver)
{
    double now = jnaWallClock();
    bool own = strcmp(s->writer, session) == 0;
    if (!own && (takesOver || s->writer[0] == '\0' || now - s->seen > SILENCE)) {
        snprintf(s->writer, sizeof(s->writer), "%s", session);
        own = true;
    }
    s->seen = own ? now : s->seen;
    return own;
}

static jnResult Do(jncStudio* s, const char* verb, const char* name, const void* body, size_t size, jnError* error)
{
    if (strcmp(verb, "save") == 0) {
        return Save(s, body, size, error);
    }
    if (strcmp(verb, "mask") == 0) {
        return SaveMask(s, body, size, error);
    }
    if (strcmp(verb, "undo") == 0) {
        return Undo(s, error);
    }
    if (strcmp(verb, "redo") == 0) {
        return Redo(s, error);
    }
    if (strcmp(verb, "rebuild") == 0) {
        return Rebuild(s, error);
    }
    if (strcmp(verb, "export") == 0) {
        return Export(s, body, size, error);
    }
    if (strcmp(verb, "new") == 0) {
        return New(s, name, body, size, error);
    }
    if (strcmp(verb, "cancel") == 0) {
        jncJob_Stop(&s->job);
        return jn_ok;
    }
    return jnFail(error, jn_badArgument, "'%.20s' is nothing that the studio does", verb);
}

// "/studio/VERB/SESSION" and, of a file, "/NAME".
static bool SplitPath(const char* path, char verb[16], char session[JNC_SESSION + 1], char name[128])
{
    int end = 0;
    name[0] = '\0';
    if (sscanf(path, "/studio/%15[a-z]/%40[a-z0-9]%n", verb, session, &end) != 2 || strlen(session) < 16) {
        return false;
    }
    return path[end] == '\0' ||
           (path[end] == '/' && sscanf(path + end, "/%127[A-Za-z0-9._-]%n", name, &(int){0}) == 1 &&
               strlen(name) == strlen(path + end + 1));
}

int jncTakeStudio(const char* path, const void* body, size_t size, void** bytes, size_t* answerSize, void* user)
{
    jncStudio* s = user;
    char verb[16], session[JNC_SESSION + 1], name[128];
    jnError error = {0};
    jncJobState state;
    if (!SplitPath(path, verb, session, name)) {
        return 404;
    }
    bool ended = jncJob_Look(&s->job, &state);
    FollowJob(s, ended, &state);
    bool writes = Writes(s, session, strcmp(verb, "take") == 0), looks = strcmp(verb, "state") == 0;
    jnResult result = jn_ok;
    if (!looks && strcmp(verb, "take") != 0) {
        result = writes ? Do(s, verb, name, body, size, &error)
                        : jnFail(&error, jn_badArgument, "this character is open in another page, which may change it");
        (void)jncJob_Look(&s->job, &state);
    }
    char* text = DescribeStudio(s, &state, writes, result != jn_ok ? error.message : "");
    *bytes = text;
    *answerSize = text != NULL ? strlen(text) : 0;
    return text == NULL ? 404 : result == jn_ok ? 200 : 409;
}
