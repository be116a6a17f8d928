// jounce export: a character, its clips and its springs as one file for the runtime.
#include "asset/asset_writer.h"
#include "asset/engine_hosts.h"
#include "base/npy.h"
#include "base/try.h"
#include "character/figure.h"
#include "character/hand_springs.h"
#include "cli.h"
#include "export_glb.h"
#include "jounce/spring_functions.h"
#include "pipeline/stage_export.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// --skinning
typedef enum Skinning {
    skinning_auto,
    skinning_linear,
    skinning_dual,
} Skinning;

typedef struct Request {
    const char* workspace;
    bool figure;
    double hertz, ratio, rate, rigid, detail;
    jncList joints; // name and hertz
    const char *mask, *stiffness, *damping;
    int skinning, timing; // a Skinning
    const char* output;
    jncGlbRequest glb;
} Request;

// The character in the making.
typedef struct Work {
    jnaCharacter character;
    jnaClip clips[jna_figureClipCount];
    jnaRole roles[jna_figureClipCount];
    float *stiffness, *damping, *mask; // [vertexCount]
} Work;

static void DestroyWork(Work* work)
{
    if (work == NULL) {
        return;
    }
    for (int i = 0; i < jna_figureClipCount; ++i) {
        jnaDestroyClip(&work->clips[i]);
    }
    free(work->stiffness);
    free(work->damping);
    free(work->mask);
    jnaDestroyCharacter(&work->character);
}

static jnResult MakeFigure(const Request* request, Work* work, jnError* error)
{
    JN_PASS(jnaCreateFigure(&work->character, error));
    for (int i = 0; i < jna_figureClipCount; ++i) {
        JN_PASS(jnaCreateFigureClip(&work->character, i, request->rate, &work->clips[i], error));
        work->roles[i] = jnaFigureClipRole(i);
    }
    size_t size = sizeof(float) * (size_t)work->character.vertexCount;
    work->stiffness = malloc(size);
    work->damping = malloc(size);
    work->mask = malloc(size);
    return work->stiffness != NULL && work->damping != NULL && work->mask != NULL
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for the figure's springs");
}

// An array with one number per vertex.
static jnResult ReadNumbers(const char* option, const char* path, int count, float* values, jnError* error)
{
    jnaArray array;
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    char shape[96];
    jnaArray_Describe(&array, shape, sizeof(shape));
    if (array.count != (size_t)count || (array.scalar != jna_float32 && array.scalar != jna_float64)) {
        JN_TRY(jnFail(error, jn_badData, "%s: %s holds %s; (%d,) real numbers are needed, one a vertex", option, path,
            shape, count));
    }
    for (int i = 0; i < count; ++i) {
        values[i] = (float)jnaArray_Get(&array, (size_t)i);
    }
done:
    jnaCloseArray(&array);
    return result;
}

static jnResult MakeSprings(const Request* request, Work* work, jnError* error)
{
    jnaJointSpring joints[JNA_MAX_JOINT_SPRINGS];
    jnaHandSprings hand = {.hertz = (float)request->hertz, .ratio = (float)request->ratio, .joints = joints};
    int count = work->character.vertexCount;
    for (int i = 0; i < request->joints.count; ++i) {
        char* end;
        const char* word = request->joints.words[2 * i + 1];
        joints[i] = (jnaJointSpring){request->joints.words[2 * i], strtof(word, &end), (float)request->ratio};
        if (end == word || *end != '\0') {
            return jnFail(error, jn_badArgument, "--joint %s: '%s' is not a number of hertz", joints[i].joint, word);
        }
    }
    hand.jointCount = request->joints.count;
    if (request->mask != NULL) {
        JN_PASS(ReadNumbers("--mask", request->mask, count, work->mask, error));
        hand.mask = work->mask;
    }
    JN_PASS(jnaSetHandSprings(&work->character, &hand, work->stiffness, work->damping, error));
    if (request->stiffness != NULL) {
        JN_PASS(ReadNumbers("--stiffness", request->stiffness, count, work->stiffness, error));
    }
    if (request->damping != NULL) {
        JN_PASS(ReadNumbers("--damping", request->damping, count, work->damping, error));
    }
    return jn_ok;
}

static jnResult Export(const Request* request, Work* work, jnError* error)
{
    JN_PASS(MakeFigure(request, work, error));
    JN_PASS(MakeSprings(request, work, error));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &work->character;
    def.clips = work->clips;
    def.roles = work->roles;
    def.clipCount = jna_figureClipCount;
    def.stiffness = work->stiffness;
    def.damping = work->damping;
    def.skinning = request->skinning == skinning_dual ? jn_skinDual : jn_skinLinear;
    def.timing = (jnTiming)request->timing;
    def.rate = request->rate;
    def.rigidHertz = request->rigid;
    def.detailShare = request->detail;
    return jnaWriteAsset(request->output, &def, error);
}

static int ExportWorkspace(const Request* request)
{
    jnError error;
    jnaExported exported;
    jnaExportDef def = {.skinning = request->skinning - 1,
        .timing = (jnTiming)request->timing,
        .rigidHertz = request->rigid,
        .detailShare = request->detail,
        .measure = true};
    if (jncIsGlb(request->output)) {
        return jncExportGlb(request->workspace, request->output, &def, &request->glb);
    }
    if (jnaExportWorkspace(request->workspace, request->output, &def, &exported, &error) != jn_ok) {
        return jncFail(&error);
    }
    printf("%d vertices, %d joints, %d clips written to %s\n", exported.vertexCount, exported.jointCount,
        exported.clipCount, request->output);
    if (exported.packing.bytes > 0) {
        printf("  morph targets packed to %.2f MB: off by %.4f mm rms and at most %.3f mm over the clips\n",
            1e-6 * (double)exported.packing.bytes, 1e3 * exported.packing.rms, 1e3 * exported.packing.largest);
    }
    if (exported.fallback) {
        printf("  note: %s\n", JNA_FALLBACK_NOTE);
    }
    return JNC_DONE;
}

static const jncUsage usage = {
    .synopsis = "jounce export WORKSPACE | --figure [--hertz F] [--ratio Z] [--joint NAME F ...] -o FILE",
    .about =
        "Writes the character file that the runtime plays (.jounce). A workspace is exported with the springs of its\n"
        "manifest. The built-in figure is exported with springs set by options (a frequency and a damping ratio for "
        "all\n"
        "flesh, around joints, or under a mask) or from arrays.\n"
        "\n"
        "-o FILE.glb writes the character of a workspace for engines and viewers: its glTF file (or one made from it)\n"
        "with the flesh as morph targets, and their weights baked for every clip. FILE.weights.jounce, a file without\n"
        "vertices beside it, lets the runtime compute the same weights live.\n",
    .example = "  jounce export hero -o hero.jounce\n"
               "  jounce export hero -o hero.glb --for godot\n"
               "  jounce export --figure --hertz 3.5 --ratio 0.2 --joint Head 20 -o figure.jounce\n"
               "  jounce bake figure.jounce --clip run -o run.pc2\n",
};

// The exit code where the figure cannot be exported so; -1: it can.
static int CheckFigure(const Request* request)
{
    if (jncIsGlb(request->output)) {
        return jncMisuse("--figure has springs of single vertices, which are no morph targets; export a workspace");
    }
    if (!(request->rate >= 1.0 && request->rate <= 1000.0) || request->rigid < 0.0) {
        return jncMisuse("--rate must be 1 to 1000, --rigid not negative");
    }
    if (!(request->hertz > 0.0 && request->hertz <= (double)JNA_RIGID_HERTZ) || request->ratio < 0.0) {
        return jncMisuse("--hertz must be above 0 and at most %g, --ratio not negative", (double)JNA_RIGID_HERTZ);
    }
    return -1;
}

int jncExport(int argc, char** argv)
{
    Request request = {.hertz = 4.0, .ratio = 0.25, .rate = 30.0, .timing = jn_timingCausal, .glb = jncDefaultGlb()};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", request.workspace, NULL, "folder made by jounce new")},
        {JNC_FLAG("--figure", request.figure, "use the built-in figure instead")},
        {JNC_TEXT("-o", request.output, "FILE", "output file: .jounce for the runtime, or .glb for engines"), .required = true},
        {JNC_NUMBER("--hertz", request.hertz, "F", 0, 0, "frequency of the springs in hertz (default 4)")},
        {JNC_NUMBER("--ratio", request.ratio, "Z", 0, 0, "damping ratio, 1 is critical (default 0.25)")},
        {JNC_LIST("--joint", request.joints, "NAME F", "frequency around one joint, blended by skin weight"), .arity = 2},
        {JNC_TEXT("--mask", request.mask, "M.npy", "(vertices,), 1 flesh to 0 rigid")},
        {JNC_TEXT("--stiffness", request.stiffness, "KS.npy", "(vertices,), 1/s^2, instead of hertz")},
        {JNC_TEXT("--damping", request.damping, "KD.npy", "(vertices,), 1/s, instead of ratio")},
        {JNC_NUMBER("--rigid", request.rigid, "F", 0, 0, "springs at or above this frequency are rigid and not stepped (default: none)")},
        {JNC_NUMBER("--lod", request.detail, "FRACTION", 0.0, 0.5, "fraction of springs kept at the coarse level of detail, for example 0.12")},
        {JNC_CHOICE("--skinning", request.skinning, "auto|linear|dual", "linear blend or dual quaternions (default: what the manifest says, network.skinning)")},
        {JNC_CHOICE("--mode", request.timing, "exact|causal", "timing of the targets: exact has one frame of lag, causal none (default causal)")},
        {JNC_NUMBER("--rate", request.rate, "HZ", 0, 0, "frames a second of the clips (default 30)")},
        {JNC_INTEGER("--components", request.glb.components, "N", 0, 100000, ".glb: maximum number of morph targets of the network (default: all that fit)")},
        {JNC_INTEGER("--modes", request.glb.modes, "N", 0, 100000, ".glb: maximum number of morph targets of modes (default: all that fit)")},
        {JNC_CHOICE("--for", request.glb.host, JNA_ENGINE_HOSTS, ".glb: what reads the file; sets the options below where they are not given (default gltf, which every importer reads)")},
        {JNC_INTEGER("--targets", request.glb.targets, "N", 0, 100000, ".glb: maximum number of morph targets, the best for the clips; 0: all (default: 64 on a GPU, all for gltf and blender)")},
        {JNC_NUMBER("--budget", request.glb.budget, "MB", 0, 0, ".glb: maximum size, by fewer targets, the best for the clips; 0: no limit (default 40, in a web page 20)")},
        {JNC_INTEGER("--influences", request.glb.influences, "N", 0, 8, ".glb: maximum number of joints that move a vertex, prints the error; 0: all (default: what the host reads)")},
        {JNC_FLAG("--plain", request.glb.plain, ".glb: plain floats, nothing sparse, no extension, as for gltf: larger, for any reader")},
        {JNC_FLAG("--pairs", request.glb.pairs, ".glb: two targets for each, for positive and for negative weights, where a host clamps weights at 0 (default: for blender)")},
        {JNC_FLAG("--seamless", request.glb.seamless, ".glb: make the motion of looping clips exactly periodic")},
        {JNC_TEXT("--sidecar", request.glb.sidecar, "FILE.jounce", ".glb: name of the file for live weights (default: beside it)")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (request.figure == (request.workspace != NULL)) {
        return jncMisuse("either WORKSPACE or --figure is needed");
    }
    if (request.workspace != NULL) {
        return ExportWorkspace(&request);
    }
    code = CheckFigure(&request);
    if (code >= 0) {
        return code;
    }
    Work* work = calloc(1, sizeof(*work));
    jnError error = {.message = "out of memory"};
    jnResult result = work != NULL ? Export(&request, work, &error) : jn_outOfMemory;
    if (result == jn_ok) {
        printf("%d vertices, %d joints, %d clips written to %s\n", work->character.vertexCount,
            work->character.jointCount, jna_figureClipCount, request.output);
    }
    DestroyWork(work);
    free(work);
    return jncEnd(result, &error);
}
