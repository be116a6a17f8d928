// jounce springs fit: stiffness and damping from arrays alone.
#include "cli.h"

#include "base/bounds.h"
#include "base/path.h"
#include "base/try.h"
#include "jounce/jounce.h"
#include "learn/spring_fit.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Frames after the start of a sequence that a wrong initial state spoils first.
enum { START_FRAMES = 4 };
// Fraction of the motion below which nothing is said of what the springs do not explain.
#define MISSED_NOTED 1e-4
// Seconds between two frames from which on frames a second were probably meant.
#define LONG_STEP 1.0

typedef struct Request {
    jncList sequences; // pairs of targets and dynamics
    const char* folder;
    const char* faces;
    double dt, drop, smooth, prior;
    int method, start, dropBy;
    long seed, threads;
    bool json, anyOrder;
} Request;

typedef struct Inputs {
    jnaSequence sequences[JNC_MAX_REPEATS];
    int count;
    int32_t* faces;
    int faceCount;
} Inputs;

static void CloseInputs(Inputs* inputs)
{
    for (int i = 0; i < inputs->count; ++i) {
        jnaCloseArray(&inputs->sequences[i].targets);
        jnaCloseArray(&inputs->sequences[i].dynamics);
    }
    free(inputs->faces);
}

// Faces as int32, from int32 or NumPy's own int64.
static jnResult ReadFaces(const char* path, Inputs* inputs, jnError* error)
{
    jnaArray array;
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    char shape[96];
    jnaArray_Describe(&array, shape, sizeof(shape));
    bool integers = array.scalar == jna_int32 || array.scalar == jna_int64;
    if (!integers || array.dimensions != 2 || array.shape[1] != 3 || array.shape[0] > 100000000) {
        JN_TRY(jnFail(error, jn_badData, "%s: is %s, faces must be whole numbers (faces, 3)", path, shape));
    } else {
        inputs->faces = malloc((array.count + 1) * sizeof(int32_t));
        inputs->faceCount = (int)array.shape[0];
        JN_TRY(inputs->faces == NULL ? jnFail(error, jn_outOfMemory, "%s: out of memory", path) : jn_ok);
    }
    for (size_t i = 0; i < array.count; ++i) {
        int64_t value = array.scalar == jna_int64 ? ((const int64_t*)array.data)[i] : ((const int32_t*)array.data)[i];
        inputs->faces[i] =
            value >= 0 && value <= INT32_MAX ? (int32_t)value : -1; // -1 is refused with its face's number
    }
done:
    jnaCloseArray(&array);
    return result;
}

static jnResult OpenInputs(const Request* request, Inputs* inputs, jnError* error)
{
    for (int i = 0; i < request->sequences.count; ++i) {
        jnaSequence* sequence = &inputs->sequences[i];
        JN_PASS(jnaOpenPositions(request->sequences.words[2 * i], &sequence->targets, error));
        inputs->count = i + 1;
        JN_PASS(jnaOpenPositions(request->sequences.words[2 * i + 1], &sequence->dynamics, error));
    }
    if (request->faces != NULL) {
        JN_PASS(ReadFaces(request->faces, inputs, error));
    }
    return jn_ok;
}

// "fit.json": how it was made, totals, and what deserves a look.
static json_t* DescribeFit(const Request* request, const jnaFitDef* def, const jnaFit* fit)
{
    static const char* const methods[] = {"lm", "descent"};
    static const char* const starts[] = {"moving", "observed"};
    static const char* const drops[] = {"vertex", "frame"};
    json_t* sequences = json_array();
    uint32_t* dropped = fit->dropped;
    json_int_t droppedTotal = 0;
    for (int i = 0; i < def->sequenceCount; ++i) {
        size_t frames = def->sequences[i].targets.shape[0];
        json_t* counts = json_array();
        for (size_t n = 0; n < frames; ++n) {
            json_array_append_new(counts, json_integer(dropped[n]));
            droppedTotal += dropped[n];
        }
        dropped += frames;
        json_array_append_new(
            sequences, json_pack("{s:s, s:s, s:i, s:o}", "targets", request->sequences.words[2 * i], "dynamics",
                           request->sequences.words[2 * i + 1], "frames", (int)frames, "droppedVertices", counts));
    }
    json_t* settings = json_pack("{s:s, s:s, s:f, s:s, s:f, s:I, s:f, s:f, s:[f, f], s:[f, f]}", "method",
        methods[request->method], "start", starts[request->start], "drop", def->drop, "dropBy", drops[request->dropBy],
        "dt", def->dt, "seed", (json_int_t)def->seed, "prior", def->prior, "smooth", def->smooth, "stiffnessRange",
        def->stiffnessRange[0], def->stiffnessRange[1], "dampingRange", def->dampingRange[0], def->dampingRange[1]);
    double rms = sqrt(fit->totalLoss / fmax(1.0, (double)fit->keptCount));
    return json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:i, s:I, s:o, s:o}", "version",
        jnVersion(), "vertices", fit->vertexCount, "frames", fit->frameCount, "loss", fit->totalLoss, "rms", rms,
        "captured", isfinite(fit->totalCaptured) ? fit->totalCaptured : 0.0, "capturedKept",
        isfinite(fit->keptCaptured) ? fit->keptCaptured : 0.0, "underdamped", fit->underdamped, "overdamped",
        fit->overdamped, "atBound", fit->atBound, "weak", fit->weak, "unobserved", fit->unobserved, "dropped",
        droppedTotal, "settings", settings, "sequences", sequences);
}

// All files are on the disk under temporary names before the first gets its own, and the JSON is the last to: where it
// is, everything is.
static jnResult WriteFit(const Request* request, const jnaFit* fit, json_t* root, jnError* error)
{
    enum { ARRAYS = 4, FILES };
    const size_t count = (size_t)fit->vertexCount;
    const struct {
        const char* name;
        jnaScalar scalar;
        const void* data;
    } arrays[ARRAYS] = {
        {"stiffness.npy", jna_float32, fit->stiffness},
        {"damping.npy", jna_float32, fit->damping},
        {"loss.npy", jna_float64, fit->loss},
        {"captured.npy", jna_float64, fit->captured},
    };
    jnaFile files[FILES] = {{0}};
    char path[JNA_PATH_LENGTH];
    jnResult result = jn_ok;
    JN_TRY(jncMakeFolder(request->folder, error));
    for (int i = 0; i < ARRAYS; ++i) {
        JN_TRY(jnaJoinPath(request->folder, arrays[i].name, path, error));
        JN_TRY(jnaCreateArray(path, arrays[i].scalar, 1, &count, &files[i], error));
        fwrite(arrays[i].data, jnaScalarSize(arrays[i].scalar), count, files[i].stream);
    }
    JN_TRY(jnaJoinPath(request->folder, "fit.json", path, error));
    JN_TRY(jnaCreateFile(path, &files[ARRAYS], error));
    json_dumpf(root, files[ARRAYS].stream, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    fputc('\n', files[ARRAYS].stream);
    for (int i = 0; i < FILES; ++i) {
        JN_TRY(jnaFile_Sync(&files[i], error));
    }
    for (int i = 0; i < FILES; ++i) {
        JN_TRY(jnaFile_Commit(&files[i], error));
    }
done:
    for (int i = 0; i < FILES; ++i) {
        jnaFile_Abandon(&files[i]);
    }
    return result;
}

// Whether the fit of most vertices left out one of the first frames, and explains far more without what it left out:
// a start that is not the motion's.
static bool DropsItsStart(const jnaFitDef* def, const jnaFit* fit)
{
    const uint32_t* dropped = fit->dropped;
    double missed = 1 - fit->totalCaptured, missedKept = 1 - fit->keptCaptured;
    if (!(missed > MISSED_NOTED && missedKept < 0.5 * missed)) {
        return false;
    }
    for (int i = 0; i < def->sequenceCount; ++i) {
        size_t frames = def->sequences[i].targets.shape[0];
        for (size_t n = 0; n < frames && n < START_FRAMES; ++n) {
            if (2 * (uint64_t)dropped[n] > (uint64_t)fit->vertexCount) {
                return true;
            }
        }
        dropped += frames;
    }
    return false;
}

static void PrintHints(const jnaFitDef* def, const jnaFit* fit)
{
    if (def->start == jna_fitStartMoving && DropsItsStart(def, fit)) {
        fprintf(stderr, "jounce: note: most vertices do not fit at the first frames; if the motion does not begin at "
                        "rest, use --start observed\n");
    }
    if (def->dt >= LONG_STEP) {
        fprintf(stderr,
            "jounce: note: --dt is the time between two frames in seconds; %g s is long (30 frames a "
            "second are 0.0333333)\n",
            def->dt);
    }
}

static void PrintSummary(const Request* request, const jnaFit* fit, json_t* root)
{
    if (fit->unobserved > 0) {
        int first = 0;
        while ((fit->state[first] & jna_springUnobserved) == 0) {
            first++;
        }
        fprintf(stderr, "jounce: note: %d vertices (the first is %d) have no valid frame and get the default spring\n",
            fit->unobserved, first);
    }
    if (request->json) {
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        printf("\n");
        return;
    }
    printf("%d springs from %d frames: %.1f %% of the motion captured (%.1f %% without the dropped frames)\n",
        fit->vertexCount, fit->frameCount, 100 * fit->totalCaptured, 100 * fit->keptCaptured);
    printf("%d underdamped, %d overdamped, %d at a bound, %d hardly determined by the data; written to %s\n",
        fit->underdamped, fit->overdamped, fit->atBound, fit->weak, request->folder);
}

static int Run(const Request* request, Inputs* inputs)
{
    jnError error = {0};
    jnResult result = OpenInputs(request, inputs, &error);
    if (result != jn_ok) {
        return jncFail(&error);
    }
    jnaFitDef def = jnaDefaultFitDef();
    def.sequences = inputs->sequences;
    def.sequenceCount = inputs->count;
    def.dt = request->dt;
    def.method = (jnaFitMethod)request->method;
    def.start = (jnaFitStart)request->start;
    def.dropBy = (jnaFitDrop)request->dropBy;
    def.drop = request->drop;
    def.smooth = request->smooth;
    def.prior = request->prior;
    def.faces = inputs->faces;
    def.faceCount = inputs->faceCount;
    def.seed = (uint64_t)request->seed;
    def.threads = (int)request->threads;
    def.checkOrder = !request->anyOrder;
    jncProgress progress = jncBeginProgress("fitting springs");
    def.watch = (jnaWatch){jncShowProgress, &progress};
    jnaFit fit;
    result = jnaFitSprings(&def, &fit, &error);
    jncEndProgress(&progress);
    if (result == jn_cancelled) {
        jnFail(&error, result, "interrupted; nothing was written");
    }
    if (result != jn_ok) {
        return jncFail(&error);
    }
    json_t* root = DescribeFit(request, &def, &fit);
    result = root != NULL
                 ? WriteFit(request, &fit, root, &error)
                 : jnFail(&error, jn_badArgument, "a file's name is not UTF-8 and cannot be written to fit.json");
    if (result == jn_ok) {
        PrintSummary(request, &fit, root);
        PrintHints(&def, &fit);
    }
    json_decref(root);
    jnaDestroyFit(&fit);
    return jncEnd(result, &error);
}

int jncSpringsFit(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce springs fit --sequence TARGETS.npy MOTION.npy [--sequence ...] --dt SECONDS -o DIR",
        .about =

            "Fits the stiffness and damping of one spring per vertex to motion that was simulated or scanned. TARGETS "
            "is the\n"
            "surface without dynamics, MOTION the same surface with dynamics. Arrays are (frames, vertices, 3), "
            "metres; NaN in\n"
            "MOTION marks missing data. Writes stiffness.npy, damping.npy, loss.npy, captured.npy and fit.json to "
            "DIR; see\n"
            "docs/background/fitting.md. If the motion does not begin at rest, use --start observed.\n",
        .example = "  jounce springs fit --sequence T.npy X.npy --dt 0.0333333 -o fit\n"
                   "  jounce springs run --targets T2.npy --stiffness fit/stiffness.npy --damping fit/damping.npy \\\n"
                   "      --dt 0.0333333 -o X2.npy\n",
    };
    jnaFitDef defaults = jnaDefaultFitDef();
    static Request request;
    static Inputs inputs;
    request = (Request){.drop = defaults.drop, .seed = (long)defaults.seed, .prior = defaults.prior};
    // clang-format off
    const jncOption options[] = {
        {JNC_LIST("--sequence", request.sequences, "T.npy X.npy", "targets and motion; may be repeated"), .arity = 2, .required = true},
        {JNC_NUMBER("--dt", request.dt, "SECONDS", 1e-9, 86400, "time between two frames"), .required = true},
        {JNC_TEXT("-o", request.folder, "DIR", "output folder"), .required = true},
        {JNC_CHOICE("--method", request.method, "lm|descent", "Levenberg-Marquardt or gradient descent (default lm)")},
        {JNC_NUMBER("--drop", request.drop, "FRACTION", 0, 0, "fraction of frames, the worst, ignored in a second fit (default 0.1)")},
        {JNC_CHOICE("--drop-by", request.dropBy, "vertex|frame", "choose the worst frames per vertex or for all vertices together (default vertex)")},
        {JNC_CHOICE("--start", request.start, "moving|observed", "initial state: on the target with its velocity, or as observed (default moving)")},
        {JNC_NUMBER("--smooth", request.smooth, "WEIGHT", 0, 0, "smooth over mesh neighbours; 1 expects differences of 10 % (default 0)")},
        {JNC_TEXT("--faces", request.faces, "F.npy", "(faces, 3), for --smooth")},
        {JNC_NUMBER("--prior", request.prior, "METRES", 0, 0, "strength of a prior towards a stiff, critically damped spring (default 0, none)")},
        {JNC_INTEGER("--seed", request.seed, "N", 0, 0, "random seed (default 1)")},
        {JNC_INTEGER("--threads", request.threads, "N", 1, 1024, "number of threads (default: all cores)")},
        {JNC_FLAG("--any-order", request.anyOrder, "fit even if the two arrays seem to be swapped")},
        {JNC_FLAG("--json", request.json, "also print fit.json")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (request.drop < 0.0 || request.drop > 0.5) {
        return jncMisuse("--drop: must be 0 to 0.5");
    }
    if (request.smooth < 0.0 || (request.smooth > 0.0 && request.faces == NULL)) {
        return jncMisuse("--smooth: must not be negative, and needs --faces");
    }
    if (request.prior < 0.0) {
        return jncMisuse("--prior: must not be negative");
    }
    code = Run(&request, &inputs);
    CloseInputs(&inputs);
    return code;
}
