// jounce-bench ablation --splits --from WORKSPACE: when is a fit of the modes to be believed?
//
// Every pair of clips is learned from, every other clip is unseen. For each pair: how much less of the held-out motion
// the fit leaves than the physics does, by which the fit is judged before it is taken, and what it does to the clips
// that nobody looked at.
#include "ablation.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "learn/modal_fit.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A take as the runtime's form has it.
static jnaModalSequence SequenceOf(const jnbScene* s, int take)
{
    jnaModalSequence q = s->takes[take].sequence;
    q.matrices = s->takes[take].frames.matrices;
    q.character = s->workspace.character;
    return q;
}

// What modes leave of a take's dynamics, and the dynamics: sums of squares, added.
static jnResult AddLeft(const jnbScene* s, const jnaModes* m, int take, double sums[2], jnError* error)
{
    jnaModalSequence q = SequenceOf(s, take);
    size_t size = (size_t)q.frameCount * (size_t)m->modeCount;
    double layer = 0, *starts = calloc(3 * size + 1, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(starts != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "no memory for %d frames", q.frameCount));
    JN_TRY(jnaModes_Force(m, &q, starts, starts + size, error));
    JN_TRY(jnaModes_Run(m, &q, &(jnaModalDrive){starts, starts + size, NULL}, starts + 2 * size, NULL, error));
    for (size_t i = 0; i < 3 * (size_t)q.frameCount * (size_t)q.vertexCount; ++i) {
        double d = (double)q.motion[i] - (double)q.targets[i];
        layer += d * d;
    }
    double captured = jnaModes_Captured(m, &q, starts + 2 * size, 0, q.frameCount, NULL);
    sums[0] += isfinite(captured) ? (1 - captured) * layer : 0;
    sums[1] += layer;
done:
    free(starts);
    return result;
}

// Learns from two takes, whatever the held-out motion says.
static jnResult Learn(const jnbScene* s, const int pair[2], const jnaModes* start, jnaModalFit* fit, jnError* error)
{
    const jnaModalSequence sequences[2] = {SequenceOf(s, pair[0]), SequenceOf(s, pair[1])};
    jnaModalFitDef def = jnaDefaultModalFitDef();
    def.modes = start;
    def.character = s->workspace.character;
    def.sequences = sequences;
    def.sequenceCount = 2;
    def.leastGain = 0;
    return jnaFitModes(&def, fit, error);
}

static jnResult PrintPair(const jnbScene* s, const int pair[2], double worst[2], jnError* error)
{
    const jnaModes* start = s->workspace.modes;
    jnaModes learned = *start;
    jnaModalFit fit = {0};
    double sums[2][2] = {{0}};
    jnResult result = jn_ok;
    JN_TRY(Learn(s, pair, start, &fit, error));
    learned.stiffness = fit.stiffness;
    learned.damping = fit.damping;
    learned.gain = fit.gain;
    for (int t = 0; t < s->count; ++t) {
        if (t != pair[0] && t != pair[1]) {
            JN_TRY(AddLeft(s, start, t, sums[0], error));
            JN_TRY(AddLeft(s, &learned, t, sums[1], error));
        }
    }
    double gain = 1 - (1 - fit.heldOutCaptured) / (1 - fit.heldOutStart);
    double before = 1 - sums[0][0] / sums[0][1], after = 1 - sums[1][0] / sums[1][1];
    printf("  %-20s %-20s %8.3f %8.3f %8.3f %8.3f %+8.3f\n", s->takes[pair[0]].poses->name,
        s->takes[pair[1]].poses->name, fit.heldOutCaptured, gain, before, after, after - before);
    fflush(stdout);
    worst[gain < 0.1] = fmin(worst[gain < 0.1], after - before);
done:
    jnaDestroyModalFit(&fit);
    return result;
}

int jnbBenchSplits(const char* workspace)
{
    jnbScene s = {0};
    jnError error = {0};
    double worst[2] = {0};
    jnResult result = jn_ok;
    JN_TRY(jnbOpenScene(workspace, &s, &error));
    if (!s.workspace.hasModes) {
        JN_TRY(jnFail(&error, jn_badData, "%s has no modes; `jounce modes` finds them", workspace));
    }
    printf("%s: fits of the modes on every pair of %d clips, measured on the others; equilibria, exact\n"
           "  %-20s %-20s %8s %8s %8s %8s %8s\n",
        workspace, s.count, "learned from", "and", "held out", "gain", "physics", "learned", "");
    for (int a = 0; a < s.count; ++a) {
        for (int b = a + 1; b < s.count; ++b) {
            JN_TRY(PrintPair(&s, (const int[2]){a, b}, worst, &error));
        }
    }
    printf("  the worst that a fit with a gain of 0.1 or more did: %+.3f; with less: %+.3f\n", worst[0], worst[1]);
done:
    jnbCloseScene(&s);
    return jncEnd(result, &error);
}
