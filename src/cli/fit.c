// jounce fit: learns the springs of a workspace and tells how far they carry.
#include "cli.h"

#include "pipeline/stage_fit.h"

#include "workspace/learned.h"

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
    json_t* root = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "targets",
        targets[fit->targets], "vertices", fit->vertexCount, "frames", fit->frames, "kept_frames", fit->keptFrames,
        "at_bound", fit->atBound, "weak", fit->weak, "modes", fit->modeCount, "loss_before", fit->lossBefore,
        "loss_after", fit->lossAfter, "captured_before", Share(fit->capturedBefore), "captured_after",
        Share(fit->capturedAfter), "captured_all_before", Share(fit->capturedAllBefore), "captured_all_after",
        Share(fit->capturedAllAfter), "by_part", jnaSpringParts_Json(&fit->parts), "clips", clips);
    int code = root != NULL && json_dumpf(root, stdout, JSON_INDENT(2)) == 0 ? JNC_DONE : JNC_FAILED;
    printf("\n");
    json_decref(root);
    return code;
}

static double Percent(int count, int all)
{
    return all > 0 ? 100.0 * count / all : 0;
}

// Where springs are stiff and where they are soft, and how many stopped at a bound.
static void PrintParts(const jnaSpringParts* parts)
{
    printf(
        "  part                       springs  stiff, overdamped  soft, underdamped  at a bound  median k_s   k_d\n");
    for (int i = -1; i < parts->count; ++i) {
        const jnaSpringPart* p = i < 0 ? &parts->all : &parts->parts[i];
        printf("  %-26.26s %7d %16.0f %% %16.0f %% %9.0f %% %11.3g %5.3g\n", p->name, p->count,
            Percent(p->stiffOverdamped, p->count), Percent(p->softUnderdamped, p->count), Percent(p->atBound, p->count),
            p->stiffness, p->damping);
    }
    if (isfinite(parts->leftRight[0])) {
        printf("  left against right: correlation of log k_s %.4f, of log k_d %.4f\n", parts->leftRight[0],
            parts->leftRight[1]);
    } else {
        printf("  left against right: the character is not symmetric\n");
    }
}

static void PrintTable(const jnaWorkspaceFit* fit)
{
    const int* bounds = fit->parts.bounds;
    printf("%d springs on %s targets; %d (%.1f %%) stopped at a bound, %d that the motion hardly says anything about\n",
        fit->vertexCount, targets[fit->targets], fit->atBound, Percent(fit->atBound, fit->vertexCount), fit->weak);
    if (fit->atBound > 0) {
        printf("  at the lowest stiffness %d, highest %d; at the lowest damping %d, highest %d\n",
            bounds[jna_boundStiffnessLow], bounds[jna_boundStiffnessHigh], bounds[jna_boundDampingLow],
            bounds[jna_boundDampingHigh]);
    }
    printf("  fitted to all %d frames, then without the worst; on the %d frames a vertex that both have:\n"
           "  %.3f, then %.3f mm rms are left, captured %.3f, then %.3f; on all frames captured %.3f, then %.3f\n",
        fit->frames, fit->keptFrames, 1e3 * sqrt(fit->lossBefore), 1e3 * sqrt(fit->lossAfter), fit->capturedBefore,
        fit->capturedAfter, fit->capturedAllBefore, fit->capturedAllAfter);
    printf("  one spring for all: %.3g 1/s2, %.3g 1/s\n", fit->uniform[0], fit->uniform[1]);
    PrintParts(&fit->parts);
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

static const jncUsage usage = {
    .synopsis = "jounce fit WORKSPACE [--targets quasistatic|network|skinned] [options]",
    .about = "Fits the springs to the clips marked `train` that have motion, simulated by `jounce simulate` or "
             "imported. Writes\n"
             "WORKSPACE/springs/: a spring per vertex and, if `jounce modes` has run, a spring per vibration mode. "
             "Prints where\n"
             "springs are stiff and soft, then plays all clips that have motion and prints the fraction of the motion "
             "that each\n"
             "model captures, for clips used in training and for unseen clips. `jounce evaluate` prints more.\n",
    .example = "  jounce simulate hero --clips && jounce simulate hero --clips --dynamic && jounce fit hero\n",
};

int jncFit(int argc, char** argv)
{
    const char* workspace = NULL;
    int kind = -1, method = jna_fitLm, dropBy = jna_dropByVertex;
    long threads = 0;
    bool json = false;
    jnaWorkspaceFitDef def = jnaDefaultWorkspaceFitDef();
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_CHOICE("--targets", kind, "quasistatic|network|skinned", "target surface of the springs (default: quasistatic if simulated)")},
        {JNC_CHOICE("--method", method, "lm|descent", "optimiser of springs per vertex: Levenberg-Marquardt, or gradient descent as in the paper (default lm)")},
        {JNC_NUMBER("--drop", def.drop, "FRACTION", 0, 0.5, "fraction of frames, the worst, ignored in a second fit (default 0.1)")},
        {JNC_CHOICE("--drop-by", dropBy, "vertex|frame", "choose the worst frames per vertex or for all vertices together (default vertex)")},
        {JNC_NUMBER("--prior", def.prior, "METRES", 0, 10, "strength of a prior towards a stiff spring (default 0, none)")},
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
    jnaWorkspaceFit fit;
    jncProgress progress = jncBeginProgress("fitting springs");
    def.targets = (jnaFitTargets)kind;
    def.method = (jnaFitMethod)method;
    def.dropBy = (jnaFitDrop)dropBy;
    def.threads = (int)threads;
    def.watch = (jnaWatch){jncShowProgress, &progress};
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
