// jounce fit: learns the springs of a workspace and tells how far they carry.
#include "cli.h"

#include "jounce-author/workspace_fit.h"

#include <jansson.h>
#include <math.h>

static const char* const targets[] = {"quasistatic", "network", "skinned"};

static json_t* Share(double captured)
{
    return isfinite(captured) ? json_real(captured) : json_null();
}

static int PrintJson(const jnaWorkspaceFit* fit)
{
    json_t* clips = json_array();
    for (int i = 0; i < fit->clipCount; ++i) {
        const jnaClipFit* c = &fit->clips[i];
        json_array_append_new(
            clips, json_pack("{s:s, s:s, s:b, s:i, s:f, s:f, s:o, s:o}", "clip", c->name, "springs", c->layerName,
                       "trained", c->trained, "frames", c->frameCount, "layer", c->layer, "error", c->error, "captured",
                       Share(c->captured), "captured_soft", Share(c->capturedSoft)));
    }
    json_t* root = json_pack("{s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:o}", "targets", targets[fit->targets], "vertices",
        fit->vertexCount, "at_bound", fit->atBound, "weak", fit->weak, "modes", fit->modeCount, "loss_before",
        fit->lossBefore, "loss_after", fit->lossAfter, "clips", clips);
    int code = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 ? JNC_DONE : JNC_FAILED;
    printf("\n");
    json_decref(root);
    return code;
}

static void PrintTable(const jnaWorkspaceFit* fit)
{
    printf("%d springs on %s targets, %d at a bound, %d that the motion hardly says anything about\n", fit->vertexCount,
        targets[fit->targets], fit->atBound, fit->weak);
    printf("  they leave %.3f mm, without the worst frames %.3f mm; one spring for all: %.3g 1/s2, %.3g 1/s\n",
        1e3 * sqrt(fit->lossBefore), 1e3 * sqrt(fit->lossAfter), fit->uniform[0], fit->uniform[1]);
    if (fit->modeCount > 0) {
        printf(isfinite(fit->modalPrior) ? "  %d modes, held to the physics by %g\n"
                                         : "  %d modes, which stay as the physics says\n",
            fit->modeCount, fit->modalPrior);
    }
    printf("  clip                             frames  springs        layer mm   left mm   captured   soft vertices\n");
    for (int i = 0; i < fit->clipCount; ++i) {
        const jnaClipFit* c = &fit->clips[i];
        printf("  %-24s %-7s %6d  %-12s %10.2f %9.2f %10.3f %15.3f\n", c->name, c->trained ? "seen" : "unseen",
            c->frameCount, c->layerName, 1e3 * c->layer, 1e3 * c->error, c->captured, c->capturedSoft);
    }
}

int jncFit(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce fit WORKSPACE [--targets quasistatic|network|skinned] [options]",
        .about = "Learns the springs from the clips marked `train` that have motion, simulated by `jounce simulate` or "
                 "imported,\n"
                 "into WORKSPACE/springs/: one per vertex and, where `jounce modes` found vibration modes, those, and "
                 "springs per\n"
                 "vertex on what they leave. Then plays all clips that have motion with each and tells the share of "
                 "the dynamics\n"
                 "layer that they capture, seen and unseen. `jounce evaluate` tells it in full.\n",
        .example = "  jounce simulate hero --clips && jounce simulate hero --clips --dynamic && jounce fit hero\n",
    };
    const char* workspace = NULL;
    int kind = -1;
    long threads = 0;
    bool json = false;
    jnaWorkspaceFitDef def = jnaDefaultWorkspaceFitDef();
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {.name = "--targets",
            .kind = jnc_choice,
            .value = &kind,
            .choices = "quasistatic|network|skinned",
            .help = "what the springs hang on (quasistatic, or what there is)"},
        {.name = "--drop",
            .kind = jnc_number,
            .value = &def.drop,
            .argument = "SHARE",
            .range = {0, 0.5},
            .help = "worst frames left out of a second fit (0.1)"},
        JNC_THREADS(threads, "default: all; the result is the same"),
        {.name = "--json", .kind = jnc_flag, .value = &json, .help = "print what came out as JSON"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jnError error;
    jnaNotes notes = {0};
    jnaWorkspaceFit fit;
    jncProgress progress = jncBeginProgress("fitting springs");
    def.targets = (jnaFitTargets)kind;
    def.threads = (int)threads;
    def.progress = jncShowProgress;
    def.user = &progress;
    jnResult result = jnaFitWorkspace(workspace, &def, &fit, &notes, &error);
    jncEndProgress(&progress);
    if (result != jn_ok) {
        jnaDestroyNotes(&notes);
        return jncFail(&error);
    }
    if (json) {
        code = PrintJson(&fit);
    } else {
        code = JNC_DONE;
        PrintTable(&fit);
        jncPrintNotes(&notes);
        printf("%s/springs\n", workspace);
    }
    jnaDestroyNotes(&notes);
    jnaDestroyWorkspaceFit(&fit);
    return code;
}
