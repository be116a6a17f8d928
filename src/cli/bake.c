// jounce bake: a clip of a character file as a vertex cache or morph targets.
#include "cli.h"

#include "asset/asset_writer.h"
#include "asset/bake.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Morph targets take 12 bytes a vertex and frame; from this many megabytes on it is worth a word.
#define LARGE_GLB 20.0

// "jumping-jacks, run" for the message about a clip that is not there.
static void ListClips(const jnAsset* asset, char* text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < asset->clipCount && used < size; ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", jnAsset_Clip(asset, i).name);
    }
}

static void WarnOfSize(const char* path, const jnaBakeDef* def)
{
    double megabytes = 12e-6 * def->asset->fileVertexCount * jnaBakeFrameCount(def);
    const char* dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".glb") == 0 && megabytes > LARGE_GLB) {
        fprintf(stderr,
            "jounce: warning: morph targets will take about %.0f MB; .pc2 holds the same motion for tools "
            "that read caches, --rate 15 halves it\n",
            megabytes);
    }
}

int jncBake(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bake FILE.jounce --clip NAME [--stage skinned|target|dynamic] -o OUT",
        .about = "Plays a clip of a character file through the runtime and writes every frame, in the file's vertex\n"
                 "order. OUT says how by its ending:\n" JNA_BAKE_FORMATS ".\n",
        .example = "  jounce bake figure.jounce --clip run --seamless -o run.pc2\n",
    };
    const char *path = NULL, *clip = NULL, *output = NULL;
    int stage = jna_stageDynamic;
    double rate = 0.0;
    bool seamless = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("FILE", path, NULL, "a .jounce file"), .required = true},
        {JNC_TEXT("--clip", clip, "NAME", "jounce info lists them"), .required = true},
        {JNC_TEXT("-o", output, "OUT", "where it goes"), .required = true},
        {JNC_CHOICE("--stage", stage, "skinned|target|dynamic", "how far the surface is taken (default dynamic)")},
        {JNC_NUMBER("--rate", rate, "HZ", 0, 0, "frames a second (default: the clip's)")},
        {JNC_FLAG("--seamless", seamless, "a looping clip: the motion that repeats exactly")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (!jnaCanBakeTo(output)) {
        return jncMisuse("-o: %s must end in " JNA_BAKE_FORMATS, output);
    }
    if (rate < 0.0 || rate > 10000.0) {
        return jncMisuse("--rate: must be above 0 and at most 10000");
    }
    jnaAssetFile file;
    jnError error = {0};
    jnResult result = jnaOpenAsset(path, &file, &error);
    int frames = 0;
    if (result == jn_ok) {
        jnaBakeDef def = jnaDefaultBakeDef(file.asset);
        def.clip = jnAsset_FindClip(file.asset, clip);
        def.stage = (jnaBakeStage)stage;
        def.rate = rate;
        def.seamless = seamless;
        char names[256];
        ListClips(file.asset, names, sizeof(names));
        if (def.clip < 0) {
            result = jnFail(&error, jn_badArgument, "%s: has no clip '%s'; it has: %s", path, clip, names);
        } else {
            frames = jnaBakeFrameCount(&def);
            WarnOfSize(output, &def);
            result = jnaBakeToFile(output, &def, &error);
        }
    }
    if (result == jn_ok) {
        printf("%d frames of %d vertices written to %s\n", frames, file.asset->fileVertexCount, output);
    }
    jnaCloseAsset(&file);
    return jncEnd(result, &error);
}
