// jounce-bench ablation --from WORKSPACE: what each part of a character as morph weights is worth.
//
// The asset that ships is played by the runtime itself on every clip with simulated motion, as it is and with one part
// of section MODE set to nothing: captured fraction of the dynamics, causal, on the network's targets and on simulated
// equilibria. The runtime has a frame for every joint. What a frame for every vertex would be worth instead is measured
// by the author's model of the modes, which knows both: its rows are in exact timing, on simulated equilibria, and soft
// is there the tenth of the vertices that moves most against its equilibria.
#include "ablation.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "pipeline/judge.h"
#include "pipeline/play.h"
#include "workspace/learned.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is taken away.
typedef struct Part {
    const char* name;
    bool crosses, network, spins;
} Part;

// Sets an array of the player's own bytes to 0.
static void Clear(const jnaPlayer* player, const float* array, size_t count)
{
    char* bytes = player->bytes;
    size_t at = (size_t)((const char*)array - bytes);
    memset(bytes + at, 0, count * sizeof(float));
}

static void TakeAway(const Part* part, const jnaPlayer* player)
{
    const jnAsset* a = player->asset;
    const jnAssetModes* m = a->modes;
    size_t lanes = (size_t)jnBlockCount(a->modeCount) * JN_LANES;
    if (part->crosses || part->network) {
        Clear(player, m->crosses, (size_t)m->crossCount * 9 * lanes);
    }
    if (part->network) {
        Clear(player, m->drives, (size_t)a->componentCount * lanes);
    }
    if (part->spins) {
        Clear(player, m->spins, (size_t)m->spinCount * 3 * JN_LANES);
    }
}

// The rows of an evaluation, network's targets and equilibria, seen and not.
static void PrintRow(const char* name, const jnaEvaluation* e, const jnaFitTargets kinds[2])
{
    printf("  %-46s", name);
    for (int i = 0; i < 4; ++i) {
        const jnaEvaluationRow* row =
            jnaEvaluatedClip_Find(i % 2 == 0 ? &e->seen : &e->unseen, jna_methodModal, kinds[i / 2], true);
        printf(
            " %8.3f %8.3f", row != NULL ? row->captured : (double)NAN, row != NULL ? row->capturedSoft : (double)NAN);
    }
    printf("\n");
    fflush(stdout);
}

static jnResult PrintPart(const jnaTakes* takes, const jnaModes* modes, const Part* part, jnError* error)
{
    static const jnaFitTargets kinds[2] = {jna_targetsNetwork, jna_targetsQuasistatic};
    jnaPlayerDef def = {.character = takes->character,
        .modes = modes,
        .network = takes->hasNetwork ? takes->network : NULL,
        .rate = takes->manifest->rate};
    jnaEvaluateDef how = jnaDefaultEvaluateDef();
    jnaEvaluation evaluation = {0};
    jnaPlayer player = {0};
    float* none = NULL;
    jnResult result = jn_ok;
    how.quiet = true;
    JN_TRY(jnaMakePlayer(&def, &player, error));
    TakeAway(part, &player);
    if (part->network) { // what the equilibria add to the skin drives nothing either
        none = calloc((size_t)modes->modeCount * 3 * (size_t)modes->vertexCount + 1, sizeof(float));
        JN_TRY(none != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "no memory for %d modes", modes->modeCount));
        player.projections = none;
    }
    jnaWay ways[2];
    for (int i = 0; i < 2; ++i) {
        ways[i] = (jnaWay){jna_methodModal, kinds[i], jn_timingCausal, &player, false};
    }
    JN_TRY(jnaJudge(takes, ways, 2, &how, &evaluation, error));
    PrintRow(part->name, &evaluation, kinds);
done:
    jnaDestroyEvaluation(&evaluation);
    jnaDestroyPlayer(&player);
    free(none);
    return result;
}

// Forces in the frames of vertices, or of joints as the runtime has it.
static jnResult PlayFrames(
    const jnbScene* s, const jnaModes* m, const jnbTake* take, void* user, double* z, jnError* error)
{
    jnaModalSequence q = take->sequence;
    size_t size = (size_t)q.frameCount * (size_t)m->modeCount;
    double* starts = calloc(2 * size + 1, sizeof(double));
    if (starts == NULL) {
        return jnFail(error, jn_outOfMemory, "no memory for %d frames", q.frameCount);
    }
    q.matrices = *(const bool*)user ? take->frames.matrices : NULL;
    q.character = s->workspace.character;
    jnResult result = jn_ok;
    JN_TRY(jnaModes_Force(m, &q, starts, starts + size, error));
    JN_TRY(jnaModes_Run(m, &q, &(jnaModalDrive){starts, starts + size, NULL}, z, NULL, error));
done:
    free(starts);
    return result;
}

static jnResult PrintAll(const char* workspace, jnbScene* s, const jnaModes* modes, jnError* error)
{
    static const Part parts[] = {{.name = "as it ships"},
        {.name = "without cross terms of components", .crosses = true},
        {.name = "without the acceleration of components", .network = true},
        {.name = "without rotation of the frames", .spins = true},
        {.name = "without all three", .crosses = true, .network = true, .spins = true}};
    bool byVertices = false, byJoints = true;
    printf("%s: captured fraction of the dynamics, causal; network's targets, then equilibria\n"
           "  %-46s %8s %8s %8s %8s %8s %8s %8s %8s\n",
        workspace, "", "seen", "soft", "unseen", "soft", "seen", "soft", "unseen", "soft");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        JN_PASS(PrintPart(&s->workspace, modes, &parts[i], error));
    }
    printf("%s: the same by the author's model, exact, equilibria\n"
           "  %-46s %5s %8s %8s %8s %8s\n",
        workspace, "", "modes", "seen", "soft", "unseen", "soft");
    JN_PASS(jnbPrintWay(s, "a frame for every joint", modes, PlayFrames, &byJoints, error));
    return jnbPrintWay(s, "a frame for every vertex", modes, PlayFrames, &byVertices, error);
}

int jnbBenchForm(const char* workspace)
{
    jnbScene s = {0};
    jnaLearned learned = {0};
    jnaModes modes = {0};
    jnError error = {0};
    jnResult result = jn_ok;
    JN_TRY(jnbOpenScene(workspace, &s, &error));
    if (!s.workspace.hasModes) {
        JN_TRY(jnFail(&error, jn_badData, "%s has no modes; `jounce modes` finds them", workspace));
    }
    JN_TRY(
        jnaLoadLearned(workspace, s.workspace.character->vertexCount, s.workspace.modes->modeCount, &learned, &error));
    if (learned.modalStiffness == NULL || learned.modalDamping == NULL || learned.modalGain == NULL) {
        JN_TRY(jnFail(&error, jn_badData, "%s: the modes are not learned yet; `jounce fit` learns them", workspace));
    }
    JN_TRY(jnaLearned_SetModes(&learned, s.workspace.modes, &modes, &error));
    JN_TRY(PrintAll(workspace, &s, &modes, &error));
done:
    free(modes.stiffness);
    jnaDestroyLearned(&learned);
    jnbCloseScene(&s);
    return jncEnd(result, &error);
}
