// jounce studio: the viewer with what an artist changes, from a server on this machine alone.
#include "asset/asset_writer.h"
#include "base/input.h"
#include "base/path.h"
#include "base/try.h"
#include "cli.h"
#include "pipeline/stage_export.h"
#include "studio_parts.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { MOST_UPLOAD = 512 << 20, MOST_TEXTURES = 256 << 20 };

static jnResult MakeToken(char token[JNC_TOKEN + 1], jnError* error)
{
    unsigned char bytes[JNC_TOKEN / 2];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return jnFail(error, jn_ioFailed, "cannot make a token: %s", strerror(errno));
    }
    for (size_t i = 0; i < sizeof(bytes); ++i) {
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    }
    return jn_ok;
}

void jncStudio_Close(jncStudio* s)
{
    jncCloseMotions(&s->motions);
    jnaCloseAsset(&s->file);
    free(s->view);
    free(s->about);
    s->motions = (jncMotions){0};
    s->file = (jnaAssetFile){0};
    s->view = s->about = NULL;
}

// The character's own file where it is a .glb, for its textures, at its end; NULL: it is another. Nothing else that a
// manifest may name is sent.
static FILE* OpenTextures(const jncStudio* s, long* size)
{
    char manifest[JNA_PATH_LENGTH], path[JNA_PATH_LENGTH] = "", head[4] = "";
    jnaManifest m;
    FILE* file = NULL;
    if (s->workspace[0] == '\0' || jnaJoinPath(s->workspace, "manifest.yaml", manifest, NULL) != jn_ok ||
        jnaReadManifest(manifest, &m, NULL) != jn_ok) {
        return NULL;
    }
    bool there =
        jnaJoinPath(s->workspace, m.character, path, NULL) == jn_ok && jnaOpenInput(path, &file, NULL) == jn_ok;
    jnaDestroyManifest(&m);
    if (!there) {
        return NULL;
    }
    bool good = fread(head, 1, 4, file) == 4 && memcmp(head, "glTF", 4) == 0 && fseek(file, 0, SEEK_END) == 0;
    *size = good ? ftell(file) : -1;
    if (*size > 0 && *size <= MOST_TEXTURES) {
        return file;
    }
    fclose(file);
    return NULL;
}

static bool ReadTextures(const jncStudio* s, void** bytes, size_t* size)
{
    long length;
    FILE* file = OpenTextures(s, &length);
    if (file == NULL) {
        return false;
    }
    *size = (size_t)length;
    *bytes = malloc(*size);
    bool good = *bytes != NULL && fseek(file, 0, SEEK_SET) == 0 && fread(*bytes, 1, *size, file) == *size;
    fclose(file);
    if (!good) {
        free(*bytes);
    }
    return good;
}

static char* DescribeView(const jncStudio* s)
{
    const jnAsset* a = s->file.asset;
    json_t* motions = json_array();
    for (int i = 0; a != NULL && i < a->clipCount; ++i) {
        const jncMotion* motion = &s->motions.clips[i];
        json_array_append_new(motions,
            motion->frames > 0 ? json_pack("{s:i, s:I}", "first", motion->first, "frames", (json_int_t)motion->frames)
                               : json_null());
    }
    long size;
    FILE* textures = OpenTextures(s, &size);
    json_t* root = json_pack("{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:o}", "version", jnVersion(), "name",
        a != NULL ? a->name : "", "workspace", true, "studio", true, "opened", a != NULL, "regions", s->about != NULL,
        "textures", textures != NULL, "motions", motions);
    if (textures != NULL) {
        fclose(textures);
    }
    char* text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

void jncStudio_Open(jncStudio* s)
{
    char path[JNA_PATH_LENGTH], manifest[JNA_PATH_LENGTH];
    jnaManifest m;
    jncStudio_Close(s);
    s->revision++;
    if (s->workspace[0] != '\0' && jnaJoinPath(s->workspace, JNA_ASSET_NAME, path, NULL) == jn_ok &&
        jnaOpenAsset(path, &s->file, NULL) == jn_ok) {
        if (jncOpenMotions(s->workspace, s->file.asset, &s->motions, NULL) == jn_ok) {
            s->about = jncDescribeRegions(s->workspace, s->file.asset);
        } else {
            jncStudio_Close(s);
        }
    }
    if (s->file.asset != NULL && jnaJoinPath(s->workspace, "manifest.yaml", manifest, NULL) == jn_ok &&
        jnaReadManifest(manifest, &m, NULL) == jn_ok) {
        s->stale = jncIsMaterialStale(s->workspace, &m);
        jnaDestroyManifest(&m);
    }
    s->view = DescribeView(s);
}

static bool Copy(const void* from, size_t length, void** bytes, size_t* size)
{
    *bytes = from != NULL ? malloc(length + 1) : NULL;
    if (*bytes != NULL) {
        memcpy(*bytes, from, length);
        *size = length;
    }
    return *bytes != NULL;
}

bool jncAnswerStudio(const char* path, void** bytes, size_t* size, void* user)
{
    jncStudio* s = user;
    if (strcmp(path, "/view.json") == 0) {
        return s->view != NULL && Copy(s->view, strlen(s->view), bytes, size);
    }
    if (strcmp(path, "/studio.json") == 0) {
        return s->about != NULL && Copy(s->about, strlen(s->about), bytes, size);
    }
    if (strcmp(path, "/character.jounce") == 0) {
        return s->file.asset != NULL && Copy(s->file.bytes, s->file.size, bytes, size);
    }
    if (strcmp(path, "/source.glb") == 0) {
        return s->workspace[0] != '\0' && ReadTextures(s, bytes, size);
    }
    return s->file.asset != NULL && jncAnswerMotion(path, bytes, size, &s->motions);
}

// A folder with a manifest is a workspace; another one is where a workspace will be made.
static jnResult FindFolder(jncStudio* s, const char* path, jnError* error)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        --length;
    }
    if (length >= sizeof(s->folder) || length == 0) {
        return jnFail(error, jn_badArgument, "'%.60s' is no folder", path);
    }
    snprintf(s->folder, sizeof(s->folder), "%.*s", (int)length, path);
    if (jnaFolderHas(s->folder, "manifest.yaml")) {
        snprintf(s->workspace, sizeof(s->workspace), "%s", s->folder);
    } else {
        JN_PASS(jncMakeFolder(s->folder, error));
    }
    return jnaLockStudio(s->folder, &s->lock, error);
}

static jnResult Serve(jncStudio* s, const jnaFolder* viewer, int port, bool anyPort, bool opens, jnError* error)
{
    jnaServerDef def = jnaDefaultServerDef();
    def.port = port;
    def.documents = viewer->documents;
    def.documentCount = viewer->count;
    def.answer = jncAnswerStudio;
    def.take = jncTakeStudio;
    def.token = s->token;
    def.bodyLimit = MOST_UPLOAD;
    def.readsMemory = true;
    def.user = s;
    char query[96];
    snprintf(query, sizeof(query), "?token=%s", s->token);
    return jncServe(&def, anyPort, opens, query, ". Ctrl-C stops the studio.", error);
}

static void DestroyStudio(jncStudio* s)
{
    jncJob_Finish(&s->job);
    jncStudio_Close(s);
    jncForgetVersions(s);
    jnaUnlockWorkspace(&s->lock);
    free(s);
}

static int Run(const char* path, const char* given, int port, bool anyPort, bool opens)
{
    jnError error = {0};
    jnResult result = jn_ok;
    jnaFolder files = {0};
    char viewer[JNA_PATH_LENGTH];
    jncStudio* s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return jncFail(&(jnError){jn_outOfMemory, "out of memory"});
    }
    JN_TRY(jncFindViewer(given, viewer, &error));
    JN_TRY(jnaReadFolder(viewer, &files, &error));
    JN_TRY(MakeToken(s->token, &error));
    JN_TRY(FindFolder(s, path, &error));
    jncStudio_Open(s);
    JN_TRY(Serve(s, &files, port, anyPort, opens, &error));
done:
    DestroyStudio(s);
    jnaDestroyFolder(&files);
    return jncEnd(result, &error);
}

int jncStudioVerb(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce studio [FOLDER] [--port N] [--no-open]",
        .about =
            "Opens a character in a browser to change how it moves: a slider for the softness, damping, tone and "
            "limit of\n"
            "every region, shown at once; a mask painted on the skin; Save, which writes the manifest and keeps its "
            "comments;\n"
            "Rebuild, with progress and cancel; undo; Export. FOLDER is a workspace, or a folder to drop a "
            "character into, then\n"
            "the workspace is made in it (default: the current folder). Nothing is written outside FOLDER.\n"
            "Serves on 127.0.0.1 only, until Ctrl-C. Only the page at the printed address can change something.\n",
        .example = "  jounce studio hero\n  jounce studio characters\n",
    };
    const char *folder = ".", *viewer = NULL;
    long port = JNC_VIEW_PORT;
    bool portGiven = false, stays = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("FOLDER", folder, NULL, "a workspace, or a folder to make one in (default: the current folder)")},
        {JNC_INTEGER("--port", port, "N", 0, 65535, "port of 127.0.0.1; 0 for any (default 4517, or any if it is taken)"), .given = &portGiven},
        {JNC_FLAG("--no-open", stays, "do not open a browser")},
        {JNC_TEXT("--viewer", viewer, "DIR", "folder of another build of the viewer")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    return code >= 0 ? code : Run(folder, viewer, (int)port, !portGiven, !stays);
}
