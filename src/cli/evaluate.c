// jounce evaluate: how near each way to move a character comes to its simulated or imported motion.
#include "anatomy.h"
#include "cli.h"

#include "pipeline/evaluate.h"

#include <math.h>
#include <stdlib.h>

static void PrintShare(double captured)
{
    if (isfinite(captured)) {
        printf(" %8.3f", captured);
    } else {
        printf(" %8s", "-");
    }
}

// One line per way: both timings side by side.
static void PrintClip(const jnaEvaluatedClip* clip)
{
    static const char* const targets[] = {"simulated", "network", "skinned"};
    bool all = clip->name[0] == '\0';
    printf(
        "  springs              on         rms mm   95 %% mm   soft mm captured     soft   causal     soft%s   left %%"
        "  at best     soft\n",
        all ? "  of each" : "");
    for (int i = 0; i < clip->rowCount; ++i) {
        const jnaEvaluationRow* r = &clip->rows[i];
        const jnaEvaluationRow* causal = jnaEvaluatedClip_Find(clip, r->method, r->targets, true);
        bool still = r->method == jna_methodSkinned || r->method == jna_methodNetwork;
        if (r->causal) {
            continue;
        }
        printf("  %-20s %-9s %7.2f %9.2f %9.2f", jnaMethodName(r->method), still ? "" : targets[r->targets],
            1e3 * r->rms, 1e3 * r->percentile95, 1e3 * r->rmsSoft);
        for (int k = 0; !still && k < 2; ++k) {
            const jnaEvaluationRow* shown = k == 0 ? r : causal;
            PrintShare(shown != NULL ? shown->captured : (double)NAN);
            PrintShare(shown != NULL ? shown->capturedSoft : (double)NAN);
        }
        if (!still && all) {
            PrintShare(causal != NULL ? causal->meanSoft : r->meanSoft);
        }
        if (!still) {
            const jnaEvaluationRow* shown = causal != NULL ? causal : r;
            printf(" %8.0f", 100 * sqrt(fmax(1 - shown->capturedSoft, 0)));
        }
        if (isfinite(r->best)) {
            PrintShare(r->best);
            PrintShare(r->bestSoft);
        }
        printf("\n");
    }
}

// Frames that are not like the others: what the fit dropped, and what the simulation did not solve.
static void PrintFrames(const jnaEvaluatedClip* clip)
{
    if (clip->failed > 0) {
        printf(", %d of %d frames count", clip->frameCount - clip->failed, clip->frameCount);
        printf(" (the others have no equilibrium, or no room for the flesh)");
    } else {
        printf(", %d frames", clip->frameCount);
    }
    if (clip->dropped > 0) {
        printf(", %d of them dropped by the fit", clip->dropped);
    }
    printf("\n");
}

static void PrintAll(const jnaEvaluation* e, bool each)
{
    for (int i = 0; each && i < e->clipCount; ++i) {
        const jnaEvaluatedClip* c = &e->clips[i];
        printf("%s, %s", c->name, c->trained ? "seen" : "unseen");
        PrintFrames(c);
        PrintClip(c);
    }
    if (e->seen.rowCount > 0) {
        printf("all training clips");
        PrintFrames(&e->seen);
        PrintClip(&e->seen);
    }
    if (e->unseen.rowCount > 0) {
        printf("all unseen clips");
        PrintFrames(&e->unseen);
        PrintClip(&e->unseen);
    }
    printf(
        "captured: fraction of the motion between targets and simulation that the springs follow; soft: over the "
        "%.0f %% of\nthe vertices that move most against their bones; causal: without knowing the next frame; of each: "
        "mean of the\nclips, causal, soft; left: amplitude that is missing, the root of 1 - captured, causal, soft; at "
        "best: springs "
        "per vertex\nfitted to that very clip, so the most that one spring per vertex without a gain can do\n",
        100 * e->softShare);
}

static int PrintJson(const jnaEvaluation* e)
{
    char* text = jnaEvaluation_Json(e);
    if (text == NULL) {
        return jncFail(&(jnError){jn_outOfMemory, "out of memory for the evaluation"});
    }
    printf("%s\n", text);
    free(text);
    return JNC_DONE;
}

int jncEvaluate(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce evaluate WORKSPACE [--each] [options]",
        .about = "Compares the character with its simulated or imported motion. Plays every clip that has motion with "
                 "every model\n"
                 "of the workspace (skinning alone, the network, springs per vertex, springs on vibration modes, "
                 "fitted or not), and\n"
                 "prints the distance from the motion, for clips used in training and for unseen clips. Writes\n"
                 "WORKSPACE/evaluation/evaluation.json.\n",
        .example = "  jounce fit hero && jounce evaluate hero\n",
    };
    const char* workspace = NULL;
    long threads = 0;
    bool json = false, each = false;
    jnaEvaluateDef def = jnaDefaultEvaluateDef();
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_FLAG("--each", each, "also print a table for each clip")},
        JNC_THREADS(threads, "number of threads (default: all cores); the result does not depend on it"),
        {JNC_FLAG("--json", json, "print the results as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jnError error;
    jnaNotes notes = {0};
    jnaEvaluation evaluation;
    jncProgress progress = jncBeginProgress("evaluating");
    def.threads = (int)threads;
    def.watch = (jnaWatch){jncShowProgress, &progress};
    jnResult result = jnaEvaluateWorkspace(workspace, &def, &evaluation, &notes, &error);
    jncEndProgress(&progress);
    if (result != jn_ok) {
        jnaDestroyNotes(&notes);
        return jncFail(&error);
    }
    if (json) {
        code = PrintJson(&evaluation);
    } else {
        code = JNC_DONE;
        PrintAll(&evaluation, each);
        jncPrintNotes(&notes);
        jncPrintSoftness(workspace);
        printf("%s/evaluation/evaluation.json\n", workspace);
    }
    jnaDestroyNotes(&notes);
    jnaDestroyEvaluation(&evaluation);
    return code;
}
