// jounce view: the viewer in a browser, from a server on this machine alone.
#include "asset/asset_writer.h"
#include "base/path.h"
#include "base/try.h"
#include "cli.h"
#include "pipeline/stage_export.h"
#include "view/server.h"
#include "view_parts.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = JNA_PATH_LENGTH, DEFAULT_MEGABYTES = 24 };

// What is served: the viewer's files, the asset, a word about the workspace, and its simulated motion.
typedef struct View {
    jnaAssetFile file;
    jnaFolder viewer;
    jnaDocument* documents; // [viewer.count + 2]
    char* description;      // view.json
    const char* workspace;  // NULL: a file alone was given
    jncMotions motions;
} View;

// What the command line asks for.
typedef struct Wish {
    const char *path, *viewer, *folder; // folder: to write to; NULL: serve
    double megabytes;                   // of packed motion at most, in `folder`
    long port;
    bool portGiven, stays;
} Wish;

jnResult jncFindViewer(const char* given, char path[JNA_PATH_LENGTH], jnError* error)
{
    char command[PATH_SIZE];
    if (given != NULL) {
        snprintf(path, PATH_SIZE, "%s", given);
        return jn_ok;
    }
    ssize_t length = readlink("/proc/self/exe", command, sizeof(command) - 1);
    command[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(command, '/');
    if (slash == NULL || (size_t)(slash - command) + sizeof("/" JN_VIEWER_FROM_COMMAND) > PATH_SIZE) {
        return jnFail(
            error, jn_ioFailed, "cannot find the folder of this command; give the viewer's folder with --viewer");
    }
    *slash = '\0';
    int printed = snprintf(path, PATH_SIZE, "%s/%s", command, JN_VIEWER_FROM_COMMAND);
    struct stat status;
    if (printed >= PATH_SIZE || stat(path, &status) != 0) {
        return jnFail(error, jn_ioFailed,
            "the viewer was not built: it needs node 18 or later, npm and its registry, clang, lld and wasi-libc; "
            "make build says what is missing");
    }
    return jn_ok;
}

static jnResult OpenCharacter(View* view, const char* path, jnError* error)
{
    char asset[PATH_SIZE];
    struct stat status;
    if (stat(path, &status) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        return jnaOpenAsset(path, &view->file, error);
    }
    view->workspace = path;
    if (snprintf(asset, sizeof(asset), "%s/%s", path, JNA_ASSET_NAME) >= (int)sizeof(asset)) {
        return jnFail(error, jn_badArgument, "the path of the workspace is too long");
    }
    JN_PASS(jncExpectCharacter(path, asset, error));
    return jnaOpenAsset(asset, &view->file, error);
}

// What the page has to know of a clip's simulated motion: null, where it can be asked for, or the file that it is
// packed in.
static json_t* DescribeMotion(const View* view, int clip, const Wish* wish)
{
    const jncMotion* motion = &view->motions.clips[clip];
    char path[JNC_MOTION_PATH];
    bool packed = wish->folder != NULL;
    if (motion->frames == 0 || (packed && !(wish->megabytes > 0.0 && jncCanPack(motion)))) {
        return json_null();
    }
    json_t* about = json_pack("{s:i, s:I}", "first", motion->first, "frames", (json_int_t)motion->frames);
    if (packed) {
        jncMotionPath(clip, path);
        json_object_set_new(about, "file", json_string(path + 1));
    }
    return about;
}

static jnResult Describe(View* view, const Wish* wish, jnError* error)
{
    const jnAsset* a = view->file.asset;
    json_t* motions = json_array();
    for (int i = 0; i < a->clipCount; ++i) {
        json_array_append_new(motions, DescribeMotion(view, i, wish));
    }
    json_t* root = json_pack("{s:s, s:s, s:b, s:o}", "version", jnVersion(), "name", a->name, "workspace",
        view->workspace != NULL, "motions", motions);
    view->description = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return view->description != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory");
}

static jnResult ListDocuments(View* view, jnError* error)
{
    size_t count = (size_t)view->viewer.count;
    view->documents = calloc(count + 2, sizeof(*view->documents));
    if (view->documents == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory");
    }
    memcpy(view->documents, view->viewer.documents, count * sizeof(*view->documents));
    view->documents[count] =
        (jnaDocument){"/character.jounce", "application/octet-stream", view->file.bytes, view->file.size, true};
    view->documents[count + 1] =
        (jnaDocument){"/view.json", "application/json", view->description, strlen(view->description), true};
    return jn_ok;
}

static void CloseView(View* view)
{
    jncCloseMotions(&view->motions);
    free(view->documents);
    free(view->description);
    jnaDestroyFolder(&view->viewer);
    jnaCloseAsset(&view->file);
}

// The grandchild belongs to nobody and leaves nothing to wait for.
void jncOpenBrowser(const char* address)
{
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) {
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            sigset_t none;
            sigemptyset(&none);
            sigprocmask(SIG_SETMASK, &none, NULL);
            int quiet = open("/dev/null", O_RDWR);
            dup2(quiet, STDIN_FILENO);
            dup2(quiet, STDOUT_FILENO);
            dup2(quiet, STDERR_FILENO);
            execlp("xdg-open", "xdg-open", address, (char*)NULL);
        }
        _exit(0);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
}

jnResult jncServe(jnaServerDef* def, bool anyPort, bool opens, const char* query, const char* what, jnError* error)
{
    // Blocked before the server's thread starts, so that only the wait below sees them.
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);

    jnaServer* server;
    jnResult result = jnaStartServer(def, &server, error);
    if (result != jn_ok && anyPort) {
        def->port = 0;
        result = jnaStartServer(def, &server, error);
    }
    if (result != jn_ok) {
        return result;
    }
    char address[128];
    snprintf(address, sizeof(address), "http://127.0.0.1:%d/%s", jnaServer_Port(server), query);
    printf("Open %s in a browser%s\n", address, what);
    fflush(stdout);
    if (opens) {
        jncOpenBrowser(address);
    }
    while (sigtimedwait(&ends, NULL, &(struct timespec){.tv_sec = 1}) < 0) {
        jnaServer_Sweep(server);
    }
    jnaStopServer(server);
    return jn_ok;
}

static jnResult Serve(const View* view, int port, bool anyPort, bool opens, jnError* error)
{
    union {
        const jncMotions* from;
        void* to;
    } user = {&view->motions};
    jnaServerDef def = jnaDefaultServerDef();
    def.port = port;
    def.documents = view->documents;
    def.documentCount = view->viewer.count + 2;
    def.answer = jncAnswerMotion;
    def.user = user.to;
    char what[JN_NAME_LENGTH + 64];
    snprintf(what, sizeof(what), " to see '%s'. Ctrl-C stops the server.", view->file.asset->name);
    return jncServe(&def, anyPort, opens, "", what, error);
}

// Writes the page for any web server, the simulated motion packed.
static jnResult Export(const View* view, const Wish* wish, jnError* error)
{
    jncWritten written = {0};
    JN_PASS(jncWriteDocuments(wish->folder, view->documents, view->viewer.count + 2, error));
    if (wish->megabytes > 0.0) {
        JN_PASS(jncWriteMotions(wish->folder, &view->motions, wish->megabytes, &written, error));
    }
    printf(
        "Page of '%s' written to the folder %s. Serve it with any web server, for example: python3 -m http.server -d "
        "%s\n",
        view->file.asset->name, wish->folder, wish->folder);
    if (written.clips > 0) {
        printf("  simulated motion of %d clips: %.1f MB, %.2f mm rms from the simulation, at most %.1f mm\n",
            written.clips, 1e-6 * (double)written.bytes, 1e3 * written.rms, 1e3 * written.worst);
    }
    return jn_ok;
}

static int ShowCharacter(const Wish* wish)
{
    View view = {0};
    jnError error;
    char viewer[PATH_SIZE];
    jnResult result = jn_ok;
    JN_TRY(OpenCharacter(&view, wish->path, &error));
    JN_TRY(jncFindViewer(wish->viewer, viewer, &error));
    JN_TRY(jnaReadFolder(viewer, &view.viewer, &error));
    JN_TRY(jncOpenMotions(view.workspace, view.file.asset, &view.motions, &error));
    JN_TRY(Describe(&view, wish, &error));
    JN_TRY(ListDocuments(&view, &error));
    JN_TRY(wish->folder != NULL ? Export(&view, wish, &error)
                                : Serve(&view, (int)wish->port, !wish->portGiven, !wish->stays, &error));
done:
    CloseView(&view);
    return jncEnd(result, &error);
}

int jncView(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce view WORKSPACE|FILE.jounce|MODEL.glb [--port N] [--no-open] [--export DIR [--budget MB]]",
        .about = "Shows a character in motion in a browser. The page plays its clips with the runtime, compares "
                 "skinned, target and\n"
                 "springs, changes the tuning, applies impulses, and draws the curves of a vertex. With a workspace it "
                 "also shows the\n"
                 "simulated motion. Serves on 127.0.0.1 only, until Ctrl-C.\n"
                 "A model gets flesh on its vibration modes first, in about a minute, in a temporary workspace.\n"
                 "--export writes the page as a folder that works from any web server, with the simulated motion "
                 "packed, and "
                 "ends.\n",
        .example = "  jounce view hero\n  jounce view figure.jounce --port 8080\n  jounce view hero.glb\n"
                   "  jounce view hero --export page\n",
    };
    Wish wish = {.port = JNC_VIEW_PORT, .megabytes = DEFAULT_MEGABYTES};
    bool confined = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", wish.path, NULL, "a workspace, a .jounce file, or a .glb, .gltf, .fbx or .dae"), .required = true},
        {JNC_INTEGER("--port", wish.port, "N", 0, 65535, "port of 127.0.0.1; 0 for any (default 4517, or any if it is taken)"), .given = &wish.portGiven},
        {JNC_FLAG("--no-open", wish.stays, "do not open a browser")},
        {JNC_TEXT("--export", wish.folder, "DIR", "write the page there instead, for any web server")},
        {JNC_NUMBER("--budget", wish.megabytes, "MB", 0, 0, "--export: maximum size of the simulated motion that is packed with the page (default 24; 0: none)")},
        JNC_REQUIRE_SANDBOX(confined),
        {JNC_TEXT("--viewer", wish.viewer, "DIR", "folder of another build of the viewer")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jncRequireSandbox(confined);
    if (!jncIsModel(wish.path)) {
        return ShowCharacter(&wish);
    }
    char folder[PATH_SIZE] = "", workspace[PATH_SIZE + 16];
    code = jncMakeModelWorkspace(wish.path, folder, workspace, PATH_SIZE);
    wish.path = workspace;
    code = code == JNC_DONE ? ShowCharacter(&wish) : code;
    jncRemoveModelWorkspace(folder);
    return code;
}
