// jounce check: whether a workspace or a file is whole.
#include "pipeline/check.h"
#include "cli.h"
#include "pipeline/inspection_store.h"

#include <jansson.h>
#include <sys/stat.h>

static int CheckWorkspace(const char* path, bool json)
{
    jnError error = {0};
    jnaCheckReport report;
    jnResult result = jnaCheckWorkspace(path, &report, &error);
    if (result != jn_ok) {
        return jncFail(&error);
    }
    if (json) {
        json_t* lines = json_array();
        for (int i = 0; i < report.notes.count; ++i) {
            json_array_append_new(lines, json_string(report.notes.lines[i]));
        }
        json_t* root =
            json_pack("{s:i, s:i, s:i, s:b, s:O?, s:o}", "files", report.fileCount, "damaged", report.damagedCount,
                "stale", report.staleCount, "broken", report.broken, "surface", report.surface, "notes", lines);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else {
        for (int i = 0; i < report.notes.count; ++i) {
            printf("%s\n", report.notes.lines[i]);
        }
        printf("%s: %d files read, %d damaged or missing", path, report.fileCount, report.damagedCount);
        printf(report.damagedCount > 0 ? "; jounce build %s makes them again\n" : "\n", path);
        if (report.broken) {
            printf("%s: the surface breaks; see " JNA_PREVIEW_NAME " and docs/guides/troubleshooting.md\n", path);
        }
        if (report.staleCount > 0 && report.damagedCount == 0) {
            printf("%d stages are out of date; jounce build %s runs them\n", report.staleCount, path);
        }
    }
    int code = report.damagedCount == 0 && !report.broken ? JNC_DONE : JNC_FAILED;
    jnaDestroyCheckReport(&report);
    return code;
}

int jncCheck(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce check WORKSPACE|FILE [--json]",
        .about =

            "Checks a workspace or a file for damage. A workspace: reads everything that its stages wrote and compares "
            "it with\n"
            "their records, then plays every clip and\n"
            "counts triangles that flip and edges that tear. A file: reads it like the command that uses it (.jounce, "
            ".npy, .glb, .gltf, .fbx, .dae). "
            "Writes\n"
            "nothing. Exits with 1 if something is damaged or missing (jounce build then makes it again), if a\n"
            "triangle flips, or if more than one edge in a million tears.\n",
        .example = "  jounce check hero\n  jounce check character.jounce\n",
    };
    const char* path = NULL;
    bool json = false, confined = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", path, NULL, "a workspace or a file"), .required = true},
        JNC_REQUIRE_SANDBOX(confined),
        {JNC_FLAG("--json", json, "print the result as JSON (workspaces only)")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jncRequireSandbox(confined);
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        return CheckWorkspace(path, json);
    }
    jnError error = {0};
    if (jnaCheckFile(path, &error) != jn_ok) {
        return jncFail(&error);
    }
    printf("%s: is whole\n", path);
    return JNC_DONE;
}
