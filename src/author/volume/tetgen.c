// The conforming mesh: the tetgen program on a closed surface without crossings.
//
// -p the surface, -Y none of it cut, -q1.4 radius over shortest edge, -a the largest volume. The program runs in a
// folder of its own under the system's temporary one; its text files are read with mistrust. A run that fails is
// repeated with -d, which only looks for crossings, to learn why. TetGen is AGPL and stays a program beside ours.
#include "volume/mesh_internal.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Of what it says the last is what counts.
enum { OUTPUT_SIZE = 65536 };

// Exit code of the child when it could not become the program; shells use the same.
enum { EXIT_NOT_FOUND = 127 };

/// One run of the program.
typedef struct Run {
    const char* folder;
    const char* program;
    const char* flags;
} Run;

// In the child: only calls that are safe after a fork.
static int BecomeTetgen(int output, void* user)
{
    const Run* run = user;
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0 || chdir(run->folder) != 0) {
        return EXIT_NOT_FOUND;
    }
    execlp(run->program, run->program, run->flags, "surface.poly", (char*)NULL);
    return EXIT_NOT_FOUND;
}

// How far the program is nobody knows.
static bool MeshesOn(const jnaProgress* progress, void* user)
{
    (void)progress;
    return jnaWatch_GoesOn(user, JNA_SHARE_MESH);
}

// Runs the program on surface.poly. child: what it said and how it ended, to be freed where the result is jn_ok.
static jnResult RunProgram(
    const char* folder, const jnaVolumeDef* def, const char* flags, jnaChildOutcome* child, jnError* error)
{
    Run run = {folder, def->program, flags};
    jnaWatch asked = def->watch;
    const jnaChildDef limits = {.run = BecomeTetgen,
        .user = &run,
        .seconds = def->timeLimit,
        .memory = def->memoryLimit,
        .terminal = true,
        .mostOutput = OUTPUT_SIZE,
        .keepsOnlyEnd = true,
        .watch = {MeshesOn, &asked}};
    jnError reason = {0};
    jnResult result = jnaRunChild(&limits, child, &reason);
    if (result != jn_ok) {
        return jnFail(error, result, "%s: %s", def->program, reason.message);
    }
    if (child->ending == jna_childTooLong) {
        result = jnFail(error, jn_ioFailed, "%s did not finish within %g s", def->program, def->timeLimit);
    } else if (child->ending == jna_childStopped) {
        result = jnaWatch_Stopped(error);
    } else if (child->ending == jna_childNoMemory) {
        result = jnFail(error, jn_outOfMemory, "out of memory to hear %s", def->program);
    } else if (child->ending != jna_childEnded) {
        result = jnFail(error, jn_ioFailed, "%s cannot be heard", def->program);
    } else if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == EXIT_NOT_FOUND) {
        result = jnFail(error, jn_ioFailed,
            "the program '%s' is not installed; on Debian: apt install tetgen, or use --method lattice", def->program);
    }
    if (result != jn_ok) {
        free(child->output);
        *child = (jnaChildOutcome){0};
    }
    return result;
}

static int RemoveOne(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static jnResult MakeTemporary(char* folder, size_t size, jnError* error)
{
    const char* base = getenv("TMPDIR");
    int length = snprintf(folder, size, "%s/jounce-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
    if (length >= (int)size || mkdtemp(folder) == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot make a temporary folder: %s", folder, strerror(errno));
    }
    return jn_ok;
}

// surface.poly: nodes, facets, holes; 17 digits bring every double back.
static jnResult WritePoly(const char* folder, const jnaSurface* surface, const jnaSeeds* seeds, jnError* error)
{
    const int seedCount = seeds != NULL ? seeds->count : 0;
    char path[512];
    snprintf(path, sizeof(path), "%s/surface.poly", folder);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno));
    }
    fprintf(file, "%d 3 0 0\n", surface->vertexCount + seedCount);
    for (int v = 0; v < surface->vertexCount + seedCount; ++v) {
        const double* p = v < surface->vertexCount ? surface->positions + 3 * (size_t)v
                                                   : seeds->points + 3 * (size_t)(v - surface->vertexCount);
        fprintf(file, "%d %.17g %.17g %.17g\n", v, p[0], p[1], p[2]);
    }
    fprintf(file, "%d 0\n", surface->triangleCount);
    for (int t = 0; t < surface->triangleCount; ++t) {
        const int32_t* c = surface->triangles + 3 * t;
        fprintf(file, "1\n3 %d %d %d\n", c[0], c[1], c[2]);
    }
    fprintf(file, "%d\n", surface->cavityCount);
    for (int h = 0; h < surface->cavityCount; ++h) {
        const double* p = surface->cavities[h];
        fprintf(file, "%d %.17g %.17g %.17g\n", h, p[0], p[1], p[2]);
    }
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    return failed ? jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno)) : jn_ok;
}

// A whole text file with a zero at its end, owned by the caller.
static jnResult ReadText(const char* path, char** text)
{
    FILE* file = fopen(path, "rb");
    struct stat status;
    jnResult result = jn_badData;
    *text = NULL;
    if (file != NULL && fstat(fileno(file), &status) == 0 && status.st_size >= 0) {
        size_t size = (size_t)status.st_size;
        *text = malloc(size + 1);
        if (*text != NULL) {
            (*text)[fread(*text, 1, size, file)] = '\0';
        }
        result = *text != NULL ? jn_ok : jn_outOfMemory;
    }
    if (file != NULL) {
        fclose(file);
    }
    return result;
}

// Asked before strtol and strtod rather than comparing pointers after: GCC 12 takes those for equal at -O3.
static bool StartsNumber(const char* at)
{
    at += *at == '-';
    return isdigit((unsigned char)*at);
}

// The next number of a text; comments run from '#' to the end of the line.
static bool NextNumber(char** at, double* number)
{
    for (;;) {
        while (isspace((unsigned char)**at)) {
            ++*at;
        }
        if (**at != '#') {
            break;
        }
        *at += strcspn(*at, "\n");
    }
    if (!StartsNumber(*at)) {
        return false;
    }
    *number = strtod(*at, at);
    return isfinite(*number);
}

static bool NextInteger(char** at, int64_t low, int64_t high, int32_t* value)
{
    while (isspace((unsigned char)**at)) {
        ++*at;
    }
    if (!StartsNumber(*at)) {
        return false;
    }
    long number = strtol(*at, at, 10);
    *value = (int32_t)number;
    return number >= low && number < high;
}

static jnResult ParseNodes(char* text, const jnaSurface* surface, jnaMesh* mesh)
{
    int32_t count, dimensions, attributes, markers, index;
    if (!NextInteger(&text, surface->vertexCount, INT32_MAX / 64, &count) || !NextInteger(&text, 3, 4, &dimensions) ||
        !NextInteger(&text, 0, 1, &attributes) || !NextInteger(&text, 0, 1, &markers)) {
        return jn_badData;
    }
    for (int n = 0; n < count; ++n) {
        double p[3];
        if (!NextInteger(&text, n, (int64_t)n + 1, &index) || !NextNumber(&text, &p[0]) || !NextNumber(&text, &p[1]) ||
            !NextNumber(&text, &p[2])) {
            return jn_badData;
        }
        if (!jnaMesh_AddNode(mesh, p)) {
            return jn_outOfMemory;
        }
        // The surface comes first and where it was, or the skin could not hang on it.
        if (n < surface->vertexCount && memcmp(p, surface->positions + 3 * n, sizeof(p)) != 0 &&
            jnaDistance(p, surface->positions + 3 * n) > 0) {
            return jn_badData;
        }
    }
    return jn_ok;
}

static jnResult ParseTetrahedra(char* text, jnaMesh* mesh)
{
    int32_t count, corners, attributes, index, c[4];
    if (!NextInteger(&text, 1, INT32_MAX / 64, &count) || !NextInteger(&text, 4, 5, &corners) ||
        !NextInteger(&text, 0, 2, &attributes)) {
        return jn_badData;
    }
    for (int t = 0; t < count; ++t) {
        bool good = NextInteger(&text, t, (int64_t)t + 1, &index);
        for (int k = 0; k < 4; ++k) {
            good = good && NextInteger(&text, 0, mesh->nodeCount, &c[k]);
        }
        double skipped;
        good = good && (attributes == 0 || NextNumber(&text, &skipped));
        if (!good) {
            return jn_badData;
        }
        // TetGen counts the other way round.
        bool turn = jnaVolume6(mesh->nodes + 3 * c[0], mesh->nodes + 3 * c[1], mesh->nodes + 3 * c[2],
                        mesh->nodes + 3 * c[3]) < 0;
        if (!jnaMesh_AddTetrahedron(mesh, c[0], c[turn ? 2 : 1], c[turn ? 1 : 2], c[3])) {
            return jn_outOfMemory;
        }
    }
    return jn_ok;
}

// Drops nodes behind the surface's that no tetrahedron uses.
static jnResult DropOrphans(jnaMesh* mesh, int surfaceCount)
{
    int32_t* number = jnaAllocate(mesh->nodeCount, sizeof(*number));
    if (number == NULL) {
        return jn_outOfMemory;
    }
    for (int i = 0; i < 4 * mesh->tetrahedronCount; ++i) {
        number[mesh->tetrahedra[i]] = 1;
    }
    int kept = 0;
    for (int n = 0; n < mesh->nodeCount; ++n) {
        if (n < surfaceCount || number[n] != 0) {
            memmove(mesh->nodes + 3 * kept, mesh->nodes + 3 * n, 3 * sizeof(double));
            number[n] = kept++;
        }
    }
    mesh->nodeCount = kept;
    for (int i = 0; i < 4 * mesh->tetrahedronCount; ++i) {
        mesh->tetrahedra[i] = number[mesh->tetrahedra[i]];
    }
    free(number);
    return jn_ok;
}

static jnResult ReadMesh(const char* folder, const jnaSurface* surface, jnaMesh* mesh, jnError* error)
{
    char path[512], *nodes = NULL, *tetrahedra = NULL;
    jnResult result = jn_ok;
    snprintf(path, sizeof(path), "%s/surface.1.node", folder);
    JN_TRY(ReadText(path, &nodes));
    snprintf(path, sizeof(path), "%s/surface.1.ele", folder);
    JN_TRY(ReadText(path, &tetrahedra));
    JN_TRY(ParseNodes(nodes, surface, mesh));
    JN_TRY(ParseTetrahedra(tetrahedra, mesh));
    JN_TRY(DropOrphans(mesh, surface->vertexCount));
done:
    free(nodes);
    free(tetrahedra);
    return result == jn_ok            ? jn_ok
           : result == jn_outOfMemory ? jnFail(error, result, "out of memory to read the mesh of tetgen")
                                      : jnFail(error, result, "tetgen wrote a mesh that cannot be read");
}

static int CountWord(const char* text, const char* word)
{
    int count = 0;
    for (const char* at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        ++count;
    }
    return count;
}

// Pairs of faces that cross, by a run that only looks for them; 0 where it does not say.
static int CountCrossings(const char* folder, const jnaVolumeDef* def)
{
    jnaChildOutcome child;
    if (RunProgram(folder, def, "-d", &child, NULL) != jn_ok) {
        return 0;
    }
    int pairs = child.output != NULL ? CountWord(child.output, "intersects") : 0;
    free(child.output);
    return pairs;
}

// What TetGen said, as a person would say it. The text is its own, so only what is known is passed on.
static jnResult Translate(const char* folder, const jnaVolumeDef* def, const jnaChildOutcome* child, jnError* error)
{
    const char* said = child->output != NULL ? child->output : "";
    if (strstr(said, "out of memory") != NULL || strstr(said, "bad_alloc") != NULL) {
        return jnFail(
            error, jn_ioFailed, "tetgen needs more than its limit of %.3g GB", (double)def->memoryLimit / 1e9);
    }
    if (strstr(said, "too small") != NULL || strstr(said, "smaller than") != NULL) {
        return jnFail(error, jn_badData, "tetgen finds two parts of the surface too close to each other");
    }
    JN_PASS(jnaWatch_Tell(&def->watch, JNA_SHARE_MESH, error));
    int pairs = CountCrossings(folder, def);
    if (pairs > 0) {
        return jnFail(error, jn_badData, "tetgen finds %d pairs of faces that cross", pairs);
    }
    if (WIFSIGNALED(child->status)) {
        return jnFail(error, jn_badData, "tetgen gave up on this surface (%s)", strsignal(WTERMSIG(child->status)));
    }
    return jnFail(error, jn_badData, "tetgen could not fill this surface (exit code %d)", WEXITSTATUS(child->status));
}

jnResult jnaRunTetgen(const jnaSurface* surface, const jnaSeeds* seeds, const jnaVolumeDef* def, double greatestVolume,
    jnaMesh* mesh, double* seconds, jnError* error)
{
    char folder[256], flags[64];
    *mesh = (jnaMesh){0};
    *seconds = 0;
    jnaChildOutcome child = {0};
    jnResult result = MakeTemporary(folder, sizeof(folder), error);
    if (result != jn_ok) {
        return result;
    }
    // -F: the faces are not needed.
    snprintf(flags, sizeof(flags), "-pYFq1.4a%.6g", greatestVolume);
    JN_TRY(WritePoly(folder, surface, seeds, error));
    double start = jnaWallClock();
    JN_TRY(RunProgram(folder, def, flags, &child, error));
    *seconds = jnaWallClock() - start;
    if (!(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0)) {
        JN_TRY(Translate(folder, def, &child, error));
    }
    JN_TRY(ReadMesh(folder, surface, mesh, error));
done:
    free(child.output);
    if (result != jn_ok) {
        jnaDestroyMesh(mesh);
    }
    (void)nftw(folder, RemoveOne, 16, FTW_DEPTH | FTW_PHYS);
    return result;
}
