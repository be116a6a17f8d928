// jounce tune: changes the regions of the body in a workspace's manifest, as the studio's sliders do.
#include "base/path.h"
#include "base/try.h"
#include "cli.h"
#include "workspace/manifest_edit.h"

#include <stdlib.h>

// What the manifest says of the regions now, in the words that this verb takes.
static jnResult PrintTuning(const char* workspace, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest m;
    JN_PASS(jnaJoinPath(workspace, "manifest.yaml", path, error));
    JN_PASS(jnaReadManifest(path, &m, error));
    for (int i = 0; i < m.tuningCount; ++i) {
        const jnaTuning* t = &m.tuning[i];
        printf("%s:", jnaRegionNames[t->region]);
        printf(" softness %.10g, damping %.10g", t->softness, t->damping);
        if (t->tone >= 0) {
            printf(", tone %.10g", t->tone);
        }
        if (t->limit.kind != jna_capUsual) {
            printf(t->limit.kind == jna_capOff ? ", limit off" : ", limit %.10g%s", t->limit.value,
                t->limit.kind == jna_capMetres ? " m" : " times the flesh's thickness");
        }
        printf("\n");
    }
    if (m.tuningCount == 0) {
        printf("no region is tuned\n");
    }
    if (m.springs.mode == jna_springsMask) {
        printf("mask: %s\n", m.springs.mask);
    }
    jnaDestroyManifest(&m);
    return jn_ok;
}

static jnResult Tune(const char* workspace, const jncList* words, jnError* error)
{
    jnaManifestChange change = {0};
    bool changed = false;
    for (int i = 0; i < words->count; ++i) {
        JN_PASS(jnaManifestChange_Take(&change, words->words[i], error));
    }
    JN_PASS(jnaChangeManifest(workspace, "jounce tune", &change, &changed, error));
    printf(changed ? "%s/manifest.yaml is changed; jounce build %s --until modes makes the character anew\n"
                   : "%s/manifest.yaml says so already\n",
        workspace, workspace);
    return jn_ok;
}

int jncTune(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce tune WORKSPACE [--set REGION.KEY=VALUE]...",
        .about =
            "Changes how the regions of a body move, in WORKSPACE/manifest.yaml. The rest of the file stays as it "
            "is, with its\n"
            "comments. Without --set it prints what the manifest says. The sliders of jounce studio write the same "
            "bytes.\n"
            "Keys: softness (times as soft as the tissue is), damping (times), tone (of the muscles, 0 to 1), limit "
            "(how far\n"
            "the region may move: 0.02 m, or 1 for the thickness of its flesh). REGION.KEY= without a value takes "
            "the key away.\n"
            "build=heavy sets body.build; mask=FILE.npy sets a painted mask, mask= takes it away.\n",
        .example = "  jounce tune hero --set belly.softness=2 --set \"thigh.limit=0.02 m\"\n"
                   "  jounce build hero --until modes\n",
    };
    const char* workspace = NULL;
    jncList words = {0};
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_LIST("--set", words, "REGION.KEY=VALUE", "a change, for example belly.softness=2; may be given several times"), .arity = 1},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    jnError error = {0};
    jnResult result = words.count > 0 ? Tune(workspace, &words, &error) : PrintTuning(workspace, &error);
    return jncEnd(result, &error);
}
