// jounce report: the figures and tables of a workspace as one HTML file.
#include "report/report.h"
#include "cli.h"

#include <limits.h>
#include <sys/stat.h>

int jncReport(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce report WORKSPACE [-o OUT.html] [options]",
        .about = "Writes WORKSPACE/report.html: errors, pictures beside the simulation, curves over time, maps of the "
                 "springs,\n"
                 "vibration modes, the effect of the network, sizes, times and settings. The page is one file that "
                 "opens from disk.\n"
                 "It shows what the workspace has, and names the command for what is missing.\n",
        .example = "  jounce evaluate hero && jounce report hero\n",
    };
    const char* workspace = NULL;
    long threads = 0;
    jnaReportDef def = jnaDefaultReportDef();
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_TEXT("-o", def.path, "OUT.html", "output file (default WORKSPACE/" JNA_REPORT_NAME ")")},
        {JNC_FLAG("--quick", def.quick, "smaller pictures, in a third of the time")},
        JNC_THREADS(threads, "number of threads (default: all cores); the result does not depend on it"),
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jnError error;
    jnaNotes notes = {0};
    jncProgress progress = jncBeginProgress("drawing the report");
    def.threads = (int)threads;
    def.watch = (jnaWatch){jncShowProgress, &progress};
    jnResult result = jnaReportWorkspace(workspace, &def, &notes, &error);
    jncEndProgress(&progress);
    if (result == jn_ok) {
        char path[PATH_MAX];
        struct stat status = {0};
        snprintf(path, sizeof(path), "%s/%s", workspace, JNA_REPORT_NAME);
        const char* written = def.path != NULL ? def.path : path;
        jncPrintNotes(&notes);
        if (stat(written, &status) == 0) {
            printf("%s, %.2f MB\n", written, 1e-6 * (double)status.st_size);
        }
    }
    jnaDestroyNotes(&notes);
    return jncEnd(result, &error);
}
