// jounce view: the viewer in a browser, from a server on this machine alone.
#include "asset/asset_writer.h"
#include "base/try.h"
#include "cli.h"
#include "pipeline/stage_export.h"
#include "view/server.h"
#include "view_parts.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_PORT = 4517, PATH_SIZE = 4096 };

// The simulated or scanned motion of a clip: float32 (frames, vertices, 3) in a file, which is read for every request.
// It is not mapped: a simulation that runs meanwhile may replace it or cut it.
typedef struct Motion {
    int file;                // descriptor, where frames > 0
    off_t start;             // of the numbers in the file
    size_t frames, vertices; // 0: there is none
    int first;               // frame of the clip that its first one is
} Motion;

// What is served: the viewer's files, the asset, a word about the workspace, and its simulated motion.
typedef struct View {
    jnaAssetFile file;
    jnaFolder viewer;
    jnaDocument* documents; // [viewer.count + 2]
    char* description;      // view.json
    const char* workspace;  // NULL: a file alone was given
    Motion* motions;        // [clipCount]
} View;

// "../share/jounce/viewer" beside the command, built or installed.
static jnResult FindViewer(const char* given, char path[PATH_SIZE], jnError* error)
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
    if (stat(asset, &status) != 0) {
        return jnFail(
            error, jn_ioFailed, "%s: there is no %s in it; jounce build %s makes it", path, JNA_ASSET_NAME, path);
    }
    return jnaOpenAsset(asset, &view->file, error);
}

// A file of motion where it is whole and of this character.
static void OpenArray(const char* path, int vertexCount, Motion* motion)
{
    jnaArray a;
    if (jnaOpenArray(path, &a, NULL) != jn_ok) {
        return;
    }
    bool fits = a.scalar == jna_float32 && a.dimensions == 3 && a.shape[1] == (size_t)vertexCount && a.shape[2] == 3;
    int file = fits && a.shape[0] > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        motion->file = file;
        motion->start = (off_t)(a.mappingSize - a.count * sizeof(float));
        motion->frames = a.shape[0];
        motion->vertices = a.shape[1];
    }
    jnaCloseArray(&a);
}

// WORKSPACE/motion/NAME/dynamic.npy, which jounce simulate leaves.
static void OpenSimulation(const char* workspace, const char* clip, int vertexCount, Motion* motion)
{
    char path[PATH_SIZE], json[PATH_SIZE];
    int length = snprintf(path, sizeof(path), "%s/motion/%s/dynamic.npy", workspace, clip);
    snprintf(json, sizeof(json), "%s/motion/%s/dynamic.json", workspace, clip);
    json_t* about = json_load_file(json, 0, NULL);
    json_int_t first = json_integer_value(json_object_get(about, "first"));
    json_decref(about);
    if (length < PATH_SIZE && first >= 0 && first <= INT_MAX) {
        OpenArray(path, vertexCount, motion);
        motion->first = (int)first;
    }
}

static void OpenMotion(const View* view, const jnaCharacter* character, const char* name, Motion* motion)
{
    jnaClip clip;
    char path[PATH_SIZE];
    // A clip of the asset may have left the workspace since: it has no motion then.
    if (jnaLoadClip(view->workspace, name, character, &clip, NULL) != jn_ok) {
        return;
    }
    if (snprintf(path, sizeof(path), "%s/clips/%s/motion.npy", view->workspace, name) < PATH_SIZE) {
        OpenArray(path, character->vertexCount, motion);
    }
    if (motion->frames == 0) {
        OpenSimulation(view->workspace, name, character->vertexCount, motion);
    }
    jnaDestroyClip(&clip);
}

static jnResult OpenMotions(View* view, jnError* error)
{
    const jnAsset* a = view->file.asset;
    view->motions = calloc((size_t)a->clipCount + 1, sizeof(*view->motions));
    if (view->motions == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory");
    }
    if (view->workspace == NULL) {
        return jn_ok;
    }
    jnaCharacter character;
    JN_PASS(jnaLoadCharacter(view->workspace, &character, error));
    for (int i = 0; i < a->clipCount && character.vertexCount == a->vertexCount; ++i) {
        OpenMotion(view, &character, jnAsset_Clip(a, i).name, &view->motions[i]);
    }
    jnaDestroyCharacter(&character);
    return jn_ok;
}

// moves: whether the simulated motion can be asked for.
static jnResult Describe(View* view, bool moves, jnError* error)
{
    const jnAsset* a = view->file.asset;
    json_t* motions = json_array();
    for (int i = 0; i < a->clipCount; ++i) {
        const Motion* motion = &view->motions[i];
        json_array_append_new(motions, moves && motion->frames > 0 ? json_pack("{s:i, s:I}", "first", motion->first,
                                                                         "frames", (json_int_t)motion->frames)
                                                                   : json_null());
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

// A number of at most seven digits, and what follows it.
static const char* ReadNumber(const char* text, size_t* number)
{
    size_t digits = strspn(text, "0123456789");
    *number = digits > 0 && digits < 8 ? strtoul(text, NULL, 10) : SIZE_MAX;
    return text + digits;
}

// Numbers of a motion from the file; false where it has become shorter.
static bool ReadNumbers(const Motion* motion, size_t first, size_t count, float* out)
{
    off_t at = motion->start + (off_t)(first * sizeof(float));
    size_t size = count * sizeof(float), done = 0;
    while (done < size) {
        ssize_t part = pread(motion->file, (char*)out + done, size - done, at + (off_t)done);
        if (part <= 0) {
            return false;
        }
        done += (size_t)part;
    }
    return true;
}

// x, y, z of one vertex of the workspace in every frame, as floats.
static float* CopyVertex(const Motion* motion, size_t vertex, size_t* size)
{
    float* out = vertex < motion->vertices ? malloc(motion->frames * 3 * sizeof(float)) : NULL;
    bool good = out != NULL;
    for (size_t n = 0; good && n < motion->frames; ++n) {
        good = ReadNumbers(motion, 3 * (n * motion->vertices + vertex), 3, out + 3 * n);
    }
    if (!good) {
        free(out);
        return NULL;
    }
    *size = motion->frames * 3 * sizeof(float);
    return out;
}

// The same of every vertex in one frame.
static float* CopyFrame(const Motion* motion, size_t frame, size_t* size)
{
    *size = motion->vertices * 3 * sizeof(float);
    float* out = frame < motion->frames ? malloc(*size) : NULL;
    if (out != NULL && !ReadNumbers(motion, 3 * frame * motion->vertices, 3 * motion->vertices, out)) {
        free(out);
        out = NULL;
    }
    return out;
}

// "/motion/CLIP/VERTEX" and "/frames/CLIP/FRAME", all numbers.
static bool AnswerMotion(const char* path, void** bytes, size_t* size, void* user)
{
    const View* view = user;
    static const char prefixes[2][9] = {"/motion/", "/frames/"};
    bool ofFrame = strncmp(path, prefixes[1], strlen(prefixes[1])) == 0;
    size_t clip, number;
    if (!ofFrame && strncmp(path, prefixes[0], strlen(prefixes[0])) != 0) {
        return false;
    }
    const char* rest = ReadNumber(path + strlen(prefixes[0]), &clip);
    if (*rest != '/' || *ReadNumber(rest + 1, &number) != '\0' || clip >= (size_t)view->file.asset->clipCount) {
        return false;
    }
    const Motion* motion = &view->motions[clip];
    *bytes = ofFrame ? CopyFrame(motion, number, size) : CopyVertex(motion, number, size);
    return *bytes != NULL;
}

static void CloseView(View* view)
{
    for (int i = 0; view->motions != NULL && i < view->file.asset->clipCount; ++i) {
        if (view->motions[i].frames > 0) {
            close(view->motions[i].file);
        }
    }
    free(view->motions);
    free(view->documents);
    free(view->description);
    jnaDestroyFolder(&view->viewer);
    jnaCloseAsset(&view->file);
}

// Opens the address in a browser where there is a screen and xdg-open; says nothing where not. The grandchild belongs
// to nobody and leaves nothing to wait for.
static void OpenBrowser(const char* address)
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

// Serves until Ctrl-C. Signals are blocked before the server's thread starts, so that only this wait sees them.
static jnResult Serve(const View* view, int port, bool anyPort, bool opens, jnError* error)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);

    union {
        const View* from;
        void* to;
    } user = {view};
    jnaServerDef def = jnaDefaultServerDef();
    def.port = port;
    def.documents = view->documents;
    def.documentCount = view->viewer.count + 2;
    def.answer = AnswerMotion;
    def.user = user.to;
    jnaServer* server;
    jnResult result = jnaStartServer(&def, &server, error);
    if (result != jn_ok && anyPort) {
        def.port = 0;
        result = jnaStartServer(&def, &server, error);
    }
    if (result != jn_ok) {
        return result;
    }
    char address[64];
    snprintf(address, sizeof(address), "http://127.0.0.1:%d/", jnaServer_Port(server));
    printf("%s shows '%s'; Ctrl-C ends it\n", address, view->file.asset->name);
    fflush(stdout);
    if (opens) {
        OpenBrowser(address);
    }
    while (sigtimedwait(&ends, NULL, &(struct timespec){.tv_sec = 1}) < 0) {
        jnaServer_Sweep(server);
    }
    jnaStopServer(server);
    return jn_ok;
}

// Writes the page for any web server. The simulated motion stays behind: it would be gigabytes.
static jnResult Export(const View* view, const char* folder, jnError* error)
{
    JN_PASS(jncWriteDocuments(folder, view->documents, view->viewer.count + 2, error));
    printf("%s has the page of '%s'; any web server can serve it\n", folder, view->file.asset->name);
    return jn_ok;
}

// What the command line asks for.
typedef struct Wish {
    const char *path, *viewer, *folder; // folder: to write to; NULL: serve
    long port;
    bool portGiven, stays;
} Wish;

static int ShowCharacter(const Wish* wish)
{
    View view = {0};
    jnError error;
    char viewer[PATH_SIZE];
    jnResult result = jn_ok;
    JN_TRY(OpenCharacter(&view, wish->path, &error));
    JN_TRY(FindViewer(wish->viewer, viewer, &error));
    JN_TRY(jnaReadFolder(viewer, &view.viewer, &error));
    JN_TRY(OpenMotions(&view, &error));
    JN_TRY(Describe(&view, wish->folder == NULL, &error));
    JN_TRY(ListDocuments(&view, &error));
    JN_TRY(wish->folder != NULL ? Export(&view, wish->folder, &error)
                                : Serve(&view, (int)wish->port, !wish->portGiven, !wish->stays, &error));
done:
    CloseView(&view);
    return jncEnd(result, &error);
}

int jncView(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce view WORKSPACE|FILE.jounce|MODEL.glb [--port N] [--no-open] [--export DIR]",
        .about = "Shows a character in motion in a browser. The page plays its clips with the runtime, compares "
                 "skinned, target and\n"
                 "springs, changes the tuning, applies impulses, and draws the curves of a vertex. With a workspace it "
                 "also shows the\n"
                 "simulated motion. Serves on 127.0.0.1 only, until Ctrl-C.\n"
                 "A model gets flesh on its vibration modes first, in about a minute, in a temporary workspace.\n"
                 "--export writes the page as a folder that works from any web server, and ends.\n",
        .example = "  jounce view hero\n  jounce view figure.jounce --port 8080\n  jounce view hero.glb\n"
                   "  jounce view hero --export page\n",
    };
    Wish wish = {.port = DEFAULT_PORT};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", wish.path, NULL, "a workspace, a .jounce file, or a .glb, .gltf, .fbx or .dae"), .required = true},
        {JNC_INTEGER("--port", wish.port, "N", 0, 65535, "port of 127.0.0.1; 0 for any (default 4517, or any if it is taken)"), .given = &wish.portGiven},
        {JNC_FLAG("--no-open", wish.stays, "do not open a browser")},
        {JNC_TEXT("--export", wish.folder, "DIR", "write the page there instead, for any web server")},
        {JNC_TEXT("--viewer", wish.viewer, "DIR", "folder of another build of the viewer")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
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
