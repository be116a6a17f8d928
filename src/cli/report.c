// jounce report: the figures and tables of a workspace as one HTML file.
#include "report/report.h"
#include "cli.h"

#include <limits.h>
#include <sys/stat.h>

int jncReport(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce report WORKSPACE [-o OUT.html] [options]",
        .about = "Writes WORKSPACE/report.html: errors, stills beside the simulation, curves of the dynamics layer, "
                 "the springs "
                 "on\n"
                 "the body, modes, what the network does, sizes, times and settings. One file that opens from disk. "
                 "Shows what "
                 "the\n"
                 "workspace has and says what it lacks, with the command that makes it.\n",
        .example = "  jounce evaluate hero && jounce report hero\n",
    };
    const char* workspace = NULL;
    long threads = 0;
    jnaReportDef def = jnaDefaultReportDef();
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_TEXT("-o", def.path, "OUT.html", "where it goes (WORKSPACE/" JNA_REPORT_NAME ")")},
        {JNC_FLAG("--quick", def.quick, "small pictures, in a third of the time")},
        JNC_THREADS(threads, "default: all; the file is the same"),
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
