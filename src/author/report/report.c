// The report: loads what there is, plays the clips, and writes section by section into a file that appears at the end.
#include "report/report.h"

#include "base/path.h"
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
    for (size_t i = 0; result == jn_ok && i < sizeof(SECTIONS) / sizeof(SECTIONS[0]); ++i) {
        if (SECTIONS[i].draw != NULL) {
            result = SECTIONS[i].draw(r, error);
        } else {
            SECTIONS[i].write(r);
        }
        if (result == jn_ok && !jnaReport_Progress(r, SECTIONS[i].share)) {
            result = jnFail(error, jn_cancelled, "the report was cancelled");
        }
    }
    jnaReport_EndPage(r);
    return result;
}

jnResult jnaReportWorkspace(const char* workspace, const jnaReportDef* def, jnaNotes* notes, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    Report r = {.workspace = workspace, .def = def, .notes = notes};
    jnaFile file = {0};
    jnResult result = jnaReport_Load(&r, error);
    result = result == jn_ok ? jnaReport_PlayAll(&r, error) : result;
    result = result == jn_ok ? jnaJoinPath(workspace, JNA_REPORT_NAME, path, error) : result;
    result = result == jn_ok ? jnaCreateFile(def->path != NULL ? def->path : path, &file, error) : result;
    if (result == jn_ok) {
        r.out = file.stream;
        result = WriteSections(&r, error);
        if (result == jn_ok) {
            result = jnaFile_Commit(&file, error);
        } else {
            jnaFile_Abandon(&file);
        }
    }
    jnaReport_Destroy(&r);
    return result;
}

jnResult jnaReportBuild(const char* workspace, const jnaBuildDef* build, int threads, jnaProgress* progress,
    void* progressUser, jnaNotes* notes, jnError* error)
{
    jnaReportDef def = jnaDefaultReportDef();
    def.quick = build->quickReport;
    def.threads = threads;
    def.progress = progress;
    def.user = progressUser;
    return jnaReportWorkspace(workspace, &def, notes, error);
}
