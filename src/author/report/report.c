// The report: loads what there is, plays the clips, and writes section by section into a file that appears at the end.
#include "report/report.h"

#include "base/path.h"
#include "base/try.h"
#include "pipeline/evaluate.h"
#include "pipeline/inspection_store.h"
#include "pipeline/stage_export.h"
#include "report/report_internal.h"

#include "runtime/for_author.h"

jnaReportDef jnaDefaultReportDef(void)
{
    return (jnaReportDef){0};
}

// The sections in order, each with the share of the time after which it is done. Exactly one call is set.
static const struct {
    jnResult (*draw)(Report* report, jnError* error);
    void (*write)(Report* report);
    double share;
} SECTIONS[] = {
    {NULL, jnaReport_Summary, 0.15},
    {NULL, jnaReport_Surface, 0.15},
    {jnaReport_Worst, NULL, 0.35},
    {NULL, jnaReport_Evaluation, 0.35},
    {jnaReport_Anatomy, NULL, 0.4},
    {jnaReport_Stills, NULL, 0.65},
    {jnaReport_Curves, NULL, 0.65},
    {jnaReport_Robust, NULL, 0.68},
    {jnaReport_HeatMaps, NULL, 0.78},
    {jnaReport_Modes, NULL, 0.88},
    {jnaReport_CloseUps, NULL, 1},
    {NULL, jnaReport_Poses, 1},
    {NULL, jnaReport_Sizes, 1},
    {NULL, jnaReport_Timings, 1},
    {NULL, jnaReport_Settings, 1},
};

static jnResult WriteSections(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    jnaReport_BeginPage(r);
    for (size_t i = 0; i < sizeof(SECTIONS) / sizeof(SECTIONS[0]); ++i) {
        if (SECTIONS[i].draw != NULL) {
            JN_TRY(SECTIONS[i].draw(r, error));
        } else {
            SECTIONS[i].write(r);
        }
        if (!jnaReport_Progress(r, SECTIONS[i].share)) {
            JN_TRY(jnFail(error, jn_cancelled, "the report was cancelled"));
        }
    }
done:
    jnaReport_EndPage(r);
    return result;
}

static jnResult WriteReport(jnaWorkspace* w, const jnaReportDef* def, jnaNotes* notes, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    Report r = {.workspace = w->path, .opened = w, .def = def, .notes = notes};
    jnaFile file = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaReport_Load(&r, error));
    JN_TRY(jnaReport_PlayAll(&r, error));
    JN_TRY(jnaJoinPath(w->path, JNA_REPORT_NAME, path, error));
    JN_TRY(jnaCreateFile(def->path != NULL ? def->path : path, &file, error));
    r.out = file.stream;
    JN_TRY(WriteSections(&r, error));
    JN_TRY(jnaFile_Commit(&file, error));
done:
    jnaFile_Abandon(&file);
    jnaReport_Destroy(&r);
    return result;
}

jnResult jnaReportWorkspace(const char* workspace, const jnaReportDef* def, jnaNotes* notes, jnError* error)
{
    jnaWorkspace* w;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspaceToWrite(workspace, "jounce report", &w, error));
    JN_TRY(WriteReport(w, def, notes, error));
done:
    jnaCloseWorkspace(w);
    return result;
}

// A report is made from the evaluation, from the file that plays, and from what they were made from.
static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"volume/nodes.npy", "volume/held_by.npy", "volume/hold_strength.npy",
        "volume/regions.npy", "volume/materials.npy", "evaluation/evaluation.json", "network/errors.json",
        "poses/poses.json", JNA_SURFACE_NAME, JNA_PREVIEW_NAME, JNA_ASSET_NAME, NULL};
    (void)error;
    jnaDescribeMeasured(run->workspace, stage);
    jnaStage_ReadAll(stage, run->workspace->path, inputs);
    jnaStage_Make(stage, "%s", JNA_REPORT_NAME);
    // Smaller pictures say the same: a quick report is not out of date.
    jnaStage_Depend(stage, "version %s\n", jnVersion());
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    const bool* quick = run->def;
    jnaReportDef def = jnaDefaultReportDef();
    def.quick = quick != NULL && *quick;
    def.threads = run->threads;
    def.watch = run->watch;
    return WriteReport(run->workspace, &def, run->notes, error);
}

const jnaStageKind jnaReportStage = {"report", Describe, Run};
