// jounce springs run: the runtime's own stepping over targets given as an array.
#include "base/arena.h"
#include "base/bounds.h"
#include "cli.h"

#include "base/npy.h"
#include "base/try.h"
#include "jounce/jounce.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VERTICES = 100000000 };

// What the command line asked for.
typedef struct Request {
    const char* targets;
    const char* stiffness;
    const char* damping;
    const char* output;
    const char* velocities;
    double dt;
    int curve, mode, start;
    long threads;
    bool json;
} Request;

// What is open while it runs.
typedef struct Run {
    jnaArray targets;
    jnSprings* springs;
    jnaFile positionFile, velocityFile;
    float* row;        // [vertices][3], a sample as floats
    float* positions;  // [vertices][3]
    float* velocities; // [vertices][3]
    size_t frames, vertices;
    bool wantsVelocities;
} Run;

// A parameter is a number on the line or a file with one per vertex. The array comes from malloc.
static jnResult ReadParameter(const char* name, const char* word, size_t vertices, float** values, jnError* error)
{
    *values = malloc(vertices * sizeof(float));
    if (*values == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", name);
    }
    char* end;
    double number = strtod(word, &end);
    bool isNumber = end != word && *end == '\0';
    jnaArray array = {0};
    if (!isNumber) {
        jnResult result = jnaOpenArray(word, &array, error);
        if (result != jn_ok) {
            return result;
        }
        char shape[96];
        jnaArray_Describe(&array, shape, sizeof(shape));
        if (array.scalar > jna_float64 || array.dimensions != 1 || array.shape[0] != vertices) {
            jnaCloseArray(&array);
            return jnFail(error, jn_badData,
                "%s: is %s, but the targets have %zu vertices, so a float array (%zu,) is needed", word, shape,
                vertices, vertices);
        }
    }
    jnResult result = jn_ok;
    for (size_t i = 0; i < vertices && result == jn_ok; ++i) {
        double value = isNumber ? number : jnaArray_Get(&array, i);
        (*values)[i] = (float)value;
        if (!(value >= 0.0) || !isfinite((*values)[i])) {
            result =
                isNumber
                    ? jnFail(error, jn_badArgument, "%s %s: must be a finite number that is not negative", name, word)
                    : jnFail(error, jn_badData, "%s: entry %zu is %g, it must be a finite number that is not negative",
                          word, i, value);
        }
    }
    if (!isNumber) {
        jnaCloseArray(&array);
    }
    return result;
}

static jnResult OpenTargets(const char* path, jnaArray* targets, jnError* error)
{
    JN_PASS(jnaOpenArray(path, targets, error));
    char shape[96];
    jnaArray_Describe(targets, shape, sizeof(shape));
    if (targets->scalar > jna_float64 || targets->dimensions != 3 || targets->shape[2] != 3) {
        return jnFail(error, jn_badData, "%s: is %s, targets must be a float array (frames, vertices, 3)", path, shape);
    }
    if (targets->shape[0] == 0 || targets->shape[1] == 0 || targets->shape[1] > MAX_VERTICES) {
        return jnFail(
            error, jn_badData, "%s: is %s, it needs at least one frame and 1 to 100 million vertices", path, shape);
    }
    return jnaArray_CheckPositions(targets, path, error);
}

static jnResult Prepare(const Request* request, Run* run, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    JN_PASS(OpenTargets(request->targets, &run->targets, error));
    run->frames = run->targets.shape[0];
    run->vertices = run->targets.shape[1];
    run->wantsVelocities = request->velocities != NULL;
    float *stiffness = NULL, *damping = NULL;
    JN_TRY(ReadParameter("--stiffness", request->stiffness, run->vertices, &stiffness, error));
    JN_TRY(ReadParameter("--damping", request->damping, run->vertices, &damping, error));
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = (int)run->vertices;
    def.stiffness = stiffness;
    def.damping = damping;
    def.curve = (jnCurve)request->curve;
    def.timing = (jnTiming)request->mode;
    def.start = (jnStart)request->start;
    JN_TRY(jnCreateSprings(&def, &run->springs, error));
    run->row = jnaArena_Give(&arena, (int64_t)run->vertices, 3 * sizeof(float));
    run->positions = jnaArena_Give(&arena, (int64_t)run->vertices, 3 * sizeof(float));
    run->velocities = jnaArena_Give(&arena, (int64_t)run->vertices, 3 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the vertices of springs", error));
    JN_TRY(jnaCreateArray(request->output, jna_float32, 3, run->targets.shape, &run->positionFile, error));
    if (run->wantsVelocities) {
        JN_TRY(jnaCreateArray(request->velocities, jna_float32, 3, run->targets.shape, &run->velocityFile, error));
    }
done:
    free(stiffness);
    free(damping);
    return result;
}

static void WriteRow(Run* run, const float* positions, const float* velocities)
{
    fwrite(positions, sizeof(float), 3 * run->vertices, run->positionFile.stream);
    if (run->wantsVelocities) {
        fwrite(velocities, sizeof(float), 3 * run->vertices, run->velocityFile.stream);
    }
}

// Sample n as floats; fails on a number that is not finite.
static jnResult ReadRow(const Request* request, Run* run, size_t n, jnError* error)
{
    size_t size = 3 * run->vertices;
    for (size_t i = 0; i < size; ++i) {
        run->row[i] = (float)jnaArray_Get(&run->targets, n * size + i);
        if (!isfinite(run->row[i])) {
            return jnFail(error, jn_badData, "%s: frame %zu, vertex %zu has a coordinate that is not a finite number",
                request->targets, n, i / 3);
        }
    }
    return jn_ok;
}

static void StepThreaded(Run* run, double dt, int threads)
{
    jnSpringsInput input = {.h = (float)dt, .targets = run->row};
    jnSpringsOutput output = {.positions = run->positions, .velocities = run->wantsVelocities ? run->velocities : NULL};
    jnSprings_BeginStep(run->springs, &input, &output);
    int blocks = jnSprings_BlockCount(run->springs);
    enum { CHUNK = 64 };
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int first = 0; first < blocks; first += CHUNK) {
        jnSprings_StepBlocks(run->springs, first, first + CHUNK < blocks ? first + CHUNK : blocks);
    }
    jnSprings_EndStep(run->springs);
}

// Row 0: the targets themselves, and the velocities at the start of the first interval, known once it has
// been advanced.
static jnResult WriteStart(Run* run, jnError* error)
{
    size_t size = 3 * run->vertices;
    float* start = malloc(2 * size * sizeof(float));
    if (start == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %zu vertices", run->vertices);
    }
    jnSprings_Evaluate(run->springs, 0.0f, &(jnSpringsOutput){.velocities = start + size});
    for (size_t i = 0; i < size; ++i) {
        start[i] = (float)jnaArray_Get(&run->targets, i);
    }
    WriteRow(run, start, start + size);
    free(start);
    return jn_ok;
}

static jnResult Advance(const Request* request, Run* run, jnError* error)
{
    bool lags = request->curve == jn_curveCubic && request->mode == jn_timingExact;
    // A frame of fewer springs is done before the threads have met.
    bool many = run->vertices >= 200000;
    int threads = request->threads > 0 ? (int)request->threads : many ? omp_get_max_threads() : 1;
    jncProgress progress = jncBeginProgress("moving springs");
    for (size_t n = 0; n < run->frames; ++n) {
        jnResult result = ReadRow(request, run, n, error);
        if (result == jn_ok && !jncShowProgress(&(jnaProgress){.share = (double)n / (double)run->frames}, &progress)) {
            result = jnFail(error, jn_cancelled, "interrupted; nothing was written");
        }
        if (result != jn_ok) {
            jncEndProgress(&progress);
            return result;
        }
        StepThreaded(run, request->dt, threads);
        size_t first = lags ? 2 : 1; // the sample whose step advances for the first time
        if (n == first) {
            result = WriteStart(run, error);
        }
        if (n >= first) {
            WriteRow(run, run->positions, run->velocities);
        }
        if (result != jn_ok) {
            return result;
        }
    }
    jncEndProgress(&progress);
    if (lags && run->frames > 1) {
        jnSprings_Finish(run->springs, &(jnSpringsOutput){.positions = run->positions,
                                           .velocities = run->wantsVelocities ? run->velocities : NULL});
        JN_PASS(run->frames == 2 ? WriteStart(run, error) : jn_ok);
    }
    if (run->frames == 1 || lags) {
        WriteRow(run, run->positions, run->velocities);
    }
    return jn_ok;
}

static int PrintSummary(const Request* request, const Run* run)
{
    static const char* const curves[] = {"step", "linear", "cubic"};
    static const char* const modes[] = {"exact", "causal"};
    if (request->json) {
        json_t* root = json_pack("{s:i, s:i, s:f, s:s, s:s, s:s, s:I}", "frames", (int)run->frames, "vertices",
            (int)run->vertices, "dt", request->dt, "curve", curves[request->curve], "mode", modes[request->mode],
            "output", request->output, "resets", (json_int_t)jnSprings_ResetCount(run->springs));
        if (root == NULL) {
            return jncFail(&(jnError){.message = "the name of the output is not UTF-8 and cannot be written to JSON"});
        }
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        printf("\n");
        json_decref(root);
    } else {
        printf("%zu frames of %zu vertices written to %s\n", run->frames, run->vertices, request->output);
    }
    return JNC_DONE;
}

static void Close(Run* run)
{
    jnaFile_Abandon(&run->positionFile);
    jnaFile_Abandon(&run->velocityFile);
    jnaCloseArray(&run->targets);
    jnDestroySprings(run->springs);
    free(run->row);
    free(run->positions);
    free(run->velocities);
}

int jncSpringsRun(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce springs run --targets T.npy --stiffness KS --damping KD --dt SECONDS -o X.npy",
        .about = "Simulates one zero-restlength spring per vertex, attached to a moving target. Each step is solved in "
                 "closed form\n"
                 "with the code of the runtime. X[n] is the position at frame n; X[0] is T[0].\n",
        .example = "  jounce springs run --targets T.npy --stiffness KS.npy --damping 8 --dt 0.0333333 -o X.npy\n",
    };
    Request request = {.curve = jn_curveCubic, .mode = jn_timingExact};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("--targets", request.targets, "T.npy", "(frames, vertices, 3), float32 or float64, metres"), .required = true},
        {JNC_TEXT("--stiffness", request.stiffness, "KS", "(vertices,) or one number, 1/s^2"), .required = true},
        {JNC_TEXT("--damping", request.damping, "KD", "(vertices,) or one number, 1/s"), .required = true},
        {JNC_NUMBER("--dt", request.dt, "SECONDS", 1e-9, 86400, "time between two frames"), .required = true},
        {JNC_TEXT("-o", request.output, "X.npy", "positions, float32, shape of the targets"), .required = true},
        {JNC_TEXT("--velocities", request.velocities, "V.npy", "also write velocities, m/s")},
        {JNC_CHOICE("--curve", request.curve, "step|linear|cubic", "interpolation of the targets between frames (default cubic)")},
        {JNC_CHOICE("--mode", request.mode, "exact|causal", "slopes of the cubic: exact uses central differences, causal backward ones (default exact)")},
        {JNC_CHOICE("--start", request.start, "moving|rest", "initial velocity: that of the target, or zero (default moving)")},
        {JNC_INTEGER("--threads", request.threads, "N", 1, 1024, "number of threads (default: 1, or all cores from 200,000 vertices on)")},
        {JNC_FLAG("--json", request.json, "print a summary as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (request.velocities != NULL && strcmp(request.velocities, request.output) == 0) {
        return jncMisuse("-o and --velocities name the same file");
    }
    Run run = {0};
    jnError error = {0};
    jnResult result = jn_ok;
    JN_TRY(Prepare(&request, &run, &error));
    JN_TRY(Advance(&request, &run, &error));
    JN_TRY(run.wantsVelocities ? jnaFile_Commit(&run.velocityFile, &error) : jn_ok);
    JN_TRY(jnaFile_Commit(&run.positionFile, &error));
done:
    code = result == jn_ok ? PrintSummary(&request, &run) : jncFail(&error);
    Close(&run);
    return code;
}
