// jounce build: brings a workspace up to date and says what it did.
#include "cli.h"

#include "jounce-author/workspace.h"

int jncBuild(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce build WORKSPACE",
        .about =
            "Runs the stages of a workspace that are out of date, in order: import, then volume and modes where the\n"
            "manifest's springs are on modes, export. The outcome is WORKSPACE/character.jounce, the file that the\n"
            "runtime plays.\n",
        .example = "  jounce new hero --from hero.glb && jounce build hero\n",
    };
    const char* workspace = NULL;
    const jncOption options[] = {
        {.name = "WORKSPACE",
            .kind = jnc_text,
            .value = &workspace,
            .required = true,
            .help = "folder made by jounce new"},
        {0},
    };
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jnError error;
    jnaNotes notes = {0};
    jnResult result = jnaBuildWorkspace(workspace, &notes, &error);
    for (int i = 0; i < notes.count; ++i) {
        printf("%s\n", notes.lines[i]);
    }
    jnaDestroyNotes(&notes);
    if (result != jn_ok) {
        return jncFail(&error);
    }
    printf("%s/%s\n", workspace, JNA_ASSET_NAME);
    return JNC_DONE;
}
