// jounce train: the quasistatic network of a workspace.
#include "cli.h"

#include "base/input.h"
#include "learn/network.h"
#include "pipeline/engine.h"
#include "pipeline/stage_train.h"

#include "runtime/for_author.h"

#include <jansson.h>

static void PrintRow(const char* name, const jnaSurfaceError* skinned, const jnaSurfaceError* network)
{
    if (skinned->count == 0) {
        return;
    }
    printf(
        "  %-20s %5d poses  skinned: rms %7.3f median %7.3f 95%% %7.3f mm   network: rms %7.3f median %7.3f 95%% %7.3f "
        "mm   removed %.1f %%\n",
        name, skinned->count, 1000 * skinned->rms, 1000 * skinned->median, 1000 * skinned->percentile95,
        1000 * network->rms, 1000 * network->median, 1000 * network->percentile95,
        skinned->rms > 0.0 ? 100 * (1 - network->rms / skinned->rms) : 0.0);
}

static void PrintReport(const jnaNetworkReport* r)
{
    static const char* const surfaces[] = {"skinned", "network", "simulated"};
    PrintRow("held out, random", &r->skinnedRandom, &r->networkRandom);
    PrintRow("held out, of clips", &r->skinnedClip, &r->networkClip);
    PrintRow("of those, test clips", &r->skinnedTest, &r->networkTest);
    PrintRow("frames of test clips", &r->skinnedFrames, &r->networkFrames);
    for (int i = 0; i < 3 && r->soundness[i].count > 0; ++i) {
        const jnaSoundness* s = &r->soundness[i];
        printf(
            "  %-20s %5d poses  volume off by %5.2f %% (most %5.2f)   inside itself %6.2f mm deep (most %6.2f), %8.2f "
            "cm3 (most %8.2f)\n",
            surfaces[i], s->count, 100 * s->volumeError, 100 * s->mostVolumeError, 1e3 * s->depth, 1e3 * s->mostDepth,
            1e6 * s->overlap, 1e6 * s->mostOverlap);
    }
}

static json_t* Load(const char* workspace, const char* name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/network/%s", workspace, name);
    return jnaReadJson(path, 0, NULL);
}

// network.json and errors.json as they are, with the notes of this run beside them.
static int PrintJson(const char* workspace, bool made, const jnaNotes* notes)
{
    json_t *root = Load(workspace, "network.json"), *errors = Load(workspace, "errors.json"), *lines = json_array();
    bool whole = json_object_update_missing(root, errors) == 0;
    json_decref(errors);
    if (!whole) {
        json_decref(root);
        json_decref(lines);
        return jncFail(&(jnError){jn_ioFailed, "network.json and errors.json cannot be read back"});
    }
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_object_set_new(root, "workspace", json_string(workspace));
    json_object_set_new(root, "made", json_boolean(made));
    json_object_set_new(root, "notes", lines);
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return JNC_DONE;
}

// The training, unless only the measuring is wanted; then the measuring.
static jnResult Make(jnaStageRun* run, bool measureOnly, bool* measured, jnError* error)
{
    jnaStageRun measure = *run;
    if (!measureOnly) {
        JN_PASS(jnaStageKind_Run(&jnaTrainStage, run, error));
    }
    measure.force = measureOnly || run->made;
    JN_PASS(jnaStageKind_Run(&jnaMeasureStage, &measure, error));
    *measured = measure.made;
    return jn_ok;
}

static int Run(jnaWorkspace* opened, jnaTrainDef* def, bool force, bool measureOnly, bool json)
{
    const char* workspace = opened->path;
    jnError error = {0};
    jnaNotes notes = {0};
    jnaNetworkReport r;
    bool measured = false;
    jncProgress progress = jncBeginProgress("training");
    jnaStageRun run = {.workspace = opened,
        .def = def,
        .report = &r,
        .force = force,
        .watch = {jncShowProgress, &progress},
        .notes = &notes};
    jnResult result = Make(&run, measureOnly, &measured, &error);
    jncEndProgress(&progress);
    int code = result == jn_ok ? JNC_DONE : jncFail(&error);
    if (result == jn_ok && json) {
        code = PrintJson(workspace, run.made, &notes);
    } else if (result == jn_ok) {
        if (!run.made && !measureOnly) {
            printf("%s: the network is up to date; --force trains it again\n", workspace);
        }
        for (int i = 0; i < notes.count; ++i) {
            printf("%s%s\n", i == 0 ? "" : "  ", notes.lines[i]);
        }
        if (measured) {
            PrintReport(&r);
        }
    }
    jnaDestroyNotes(&notes);
    return code;
}

static const jncUsage usage = {
    .synopsis = "jounce train WORKSPACE [--network pca|cnn] [--epochs N] [--threads N] [--json]",
    .about =

        "Trains the quasistatic network: it predicts the shape of the flesh in a pose as an offset from the skinned "
        "surface.\n"
        "Training data are the shapes in poses/ and clips with imported motion. Clips with the role test are used only "
        "for\n"
        "measuring the error; all their frames are used if jounce simulate --clips solved them.\n"
        "You can interrupt training at any time; the same command resumes it and gives the same result.\n",
    .example = "  jounce train hero --network pca\n  jounce build hero && jounce bake hero/character.jounce --clip "
               "walk --stage target -o walk.npy\n",
};

int jncTrain(int argc, char** argv)
{
    const char* workspace = NULL;
    int kind = 0;
    char kinds[64];
    jncJoinWords(jnNetworkNames + 1, jn_networkKindCount - 1, kinds, sizeof(kinds)); // without "none"
    long epochs = 0, threads = 0, seed = 1, map = 128;
    bool json = false, force = false, measure = false, plain = false, kindGiven = false, epochsGiven = false;
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_CHOICE("--network", kind, kinds, "kind of network (default: the manifest's)"), .given = &kindGiven},
        {JNC_INTEGER("--epochs", epochs, "N", 0, 0, "number of epochs (default: the manifest's, or chosen by the number of poses)"), .given = &epochsGiven},
        {JNC_INTEGER("--map", map, "N", 0, 0, "cnn: size of the texture map, 64, 128 or 256 (default 128)")},
        {JNC_INTEGER("--seed", seed, "N", 0, 0, "random seed (default 1)")},
        {JNC_INTEGER("--threads", threads, "N", 0, 0, "number of threads (default: all cores, at most four are used); the result does not depend on it")},
        {JNC_FLAG("--no-mirror", plain, "do not add the mirror image of every pose of a symmetric character")},
        {JNC_FLAG("--measure", measure, "do not train; measure the error again with the clips simulated since")},
        {JNC_FLAG("--force", force, "train even if up to date")},
        {JNC_FLAG("--json", json, "print what was made as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (epochs < 0 || epochs > 1000000 || threads < 0 || threads > 1024) {
        return jncMisuse("--epochs and --threads must not be negative or beyond reason");
    }
    if (map != 64 && map != 128 && map != 256) {
        return jncMisuse("--map: %ld is not 64, 128 or 256", map);
    }
    jnError error = {0};
    jnaWorkspace* opened;
    if (jnaOpenWorkspaceToWrite(workspace, "jounce train", &opened, &error) != jn_ok) {
        return jncFail(&error);
    }
    opened->manifest.network.kind = kindGiven ? (jnNetworkKind)(kind + 1) : opened->manifest.network.kind;
    if (!measure && opened->manifest.network.kind == jn_networkNone) {
        jnaCloseWorkspace(opened);
        return jncMisuse("the manifest says network none; give --network %s, or change it", kinds);
    }
    jnaTrainDef def = jnaWorkspaceTrainDef(opened);
    def.epochs = epochsGiven ? (int)epochs : def.epochs;
    def.threads = (int)threads;
    def.seed = (uint64_t)seed;
    def.mapSize = (int)map;
    def.mirror = !plain;
    code = Run(opened, &def, force, measure, json);
    jnaCloseWorkspace(opened);
    return code;
}
