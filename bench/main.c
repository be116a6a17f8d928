// jounce-bench: speed, beside the limits that it is compared with.
#include "bench.h"
#include "cli.h"

static int BenchModes(const char* ablation, bool meshes, const char* from)
{
    if (meshes) {
        return jnbBenchMeshes(from);
    }
    return ablation != NULL ? jnbBenchAblation(ablation) : jncMisuse("modes needs --ablation or --meshes");
}

static int BenchForm(const char* workspace, bool baselines, bool splits)
{
    workspace = workspace != NULL ? workspace : "build/demo";
    if (baselines) {
        return jnbBenchBaselines(workspace);
    }
    return splits ? jnbBenchSplits(workspace) : jnbBenchForm(workspace);
}

// What needs a character file.
static int BenchAsset(bool rates, const char* asset, long states)
{
    if (asset == NULL) {
        return jncMisuse("bound and rates need --asset");
    }
    return rates ? jnbBenchRates(asset) : jnbBenchBound(asset, states);
}

static bool PosesAreFine(bool network, long poses)
{
    return network ? poses <= 20000 && (poses == 0 || poses >= 160) : poses >= 1;
}

static const jncUsage usage = {
    .synopsis = "jounce-bench [WHAT] [options]",
    .about = "Measures speed on this machine, each figure beside its limit in the same run: the smallest of several.\n",
    .example = "  jounce-bench springs\n  jounce-bench crowd --asset hero/character.jounce\n",
};
enum { SPRINGS, CHARACTER, CROWD, MODES, FIT, VOLUME, CONTACT, FLESH, NETWORK, STEPS, ABLATION, BOUND, BASELINES, RATES, TOUCH };

int main(int argc, char** argv)
{
    int what = SPRINGS;
    double seconds = 2.0;
    long poses = 24, states = 100000;
    const char *keep = NULL, *from = NULL, *asset = NULL, *ablation = NULL;
    bool posesGiven = false, meshes = false, splits = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_CHOICE("WHAT", what, "springs|character|crowd|modes|fit|volume|contact|flesh|network|steps|ablation|bound|baselines|rates|touch", "what to measure (default springs)")},
        {JNC_NUMBER("--seconds", seconds, "S", 0.1, 60.0, "springs, character, crowd, network: time for each figure (default 2)")},
        {JNC_TEXT("--asset", asset, "FILE", "crowd: a character file (made-up bodies of 31 and 163 joints); bound, rates: the character file")},
        {JNC_INTEGER("--states", states, "N", 1, 1000000000, "bound: random states (100000)")},
        {JNC_TEXT("--ablation", ablation, "WORKSPACE", "modes: what each part of them is worth on the simulated motion of a workspace")},
        {JNC_FLAG("--splits", splits, "ablation: instead, fits of the modes on every pair of its clips, measured on the others")},
        {JNC_FLAG("--meshes", meshes, "modes: the first ten frequencies on meshes of 3,000 to 48,000 nodes")},
        {JNC_TEXT("--keep", keep, "DIR", "fit, network: leave the arrays for bench/peers; contact, flesh: pictures of the poses")},
        {JNC_TEXT("--from", from, "FILE", "volume: a character besides the built-in figure; contact, flesh, modes --meshes: instead of it; ablation, baselines: a workspace (build/demo)")},
        {JNC_INTEGER("--poses", poses, "N", 0, 100000, "flesh: random poses to solve (24); network: the most it learns from, 0 for none (2000)"), .given = &posesGiven},
        {0},
    };
    // clang-format on
    int code = jncParse(argc - 1, argv + 1, &usage, options);
    if (code >= 0) {
        return code;
    }
    poses = what == NETWORK && !posesGiven ? 2000 : poses;
    if (!PosesAreFine(what == NETWORK, poses)) {
        return jncMisuse("--poses: %ld is too few or too many", poses);
    }
    switch (what) {
    case FLESH:
        return jnbBenchFlesh(from, keep, (int)poses, seconds);
    case NETWORK:
        return jnbBenchNetwork(seconds, (int)poses, keep);
    case ABLATION:
    case BASELINES:
        return BenchForm(from, what == BASELINES, splits);
    case TOUCH:
        return jnbBenchTouch(from, (int)poses, seconds);
    case STEPS:
        return jnbBenchSteps();
    case CONTACT:
        return jnbBenchContact(from, keep, seconds);
    case VOLUME:
        return jnbBenchVolume(from);
    case FIT:
        return jnbBenchFit(keep);
    case MODES:
        return BenchModes(ablation, meshes, from);
    case CROWD:
        return jnbBenchCrowd(asset, seconds);
    case RATES:
    case BOUND:
        return BenchAsset(what == RATES, asset, states);
    default:
        return what == CHARACTER ? jnbBenchCharacter(seconds) : jnbBenchSprings(seconds);
    }
}
