// jounce bake: a clip of a character file as a vertex cache or morph targets.
#include "cli.h"

#include "asset/asset_writer.h"
#include "asset/bake.h"
#include "character/scene.h"
#include "workspace/manifest.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Morph targets take 24 bytes a vertex and frame; from this many megabytes on it is worth a word.
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
    double megabytes = 24e-6 * def->asset->fileVertexCount * jnaBakeFrameCount(def);
    const char* dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".glb") == 0 && megabytes > LARGE_GLB) {
        fprintf(stderr,
            "jounce: warning: morph targets will take about %.0f MB; .pc2 holds the same motion for tools "
            "that read caches, --rate 15 halves it\n",
            megabytes);
    }
}

// What the line asks for besides the clip.
typedef struct Wishes {
    const char *path, *clip, *output, *order;
    int stage, units, up;
    double rate, preroll;
    bool seamless;
    bool ownOrder; // that of the workspace's source, which nobody asked for
} Wishes;

const char* jncCharacterFile(const char* path, char* buffer, size_t size)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(buffer, size, "%s/character.jounce", path);
        return buffer;
    }
    return path;
}

jnResult jncExpectCharacter(const char* workspace, const char* file, jnError* error)
{
    if (strcmp(workspace, file) == 0 || access(file, F_OK) == 0) {
        return jn_ok;
    }
    return jnFail(error, jn_ioFailed, "%s: there is no character.jounce in it; jounce build %s --until modes makes it",
        workspace, workspace);
}

static jnResult Open(const char* workspace, const char* path, jnaAssetFile* file, jnError* error)
{
    JN_PASS(jncExpectCharacter(workspace, path, error));
    return jnaOpenAsset(path, file, error);
}

// FBX and Collada split a mesh at every corner; a bake of a workspace is in the points that the artist's program has.
// NULL where the source is another format, is gone, or the output has its own order.
static const char* SourceOrder(const Wishes* w, char* buffer, size_t size)
{
    char manifestPath[4096];
    jnaManifest manifest = {0};
    jnError error;
    snprintf(manifestPath, sizeof(manifestPath), "%s/manifest.yaml", w->path);
    if (access(manifestPath, R_OK) != 0 || jnaHasEnding(w->output, ".glb") ||
        jnaReadManifest(manifestPath, &manifest, &error) != jn_ok) {
        return NULL;
    }
    const char* source = manifest.character;
    snprintf(buffer, size, "%s%s%s", source[0] == '/' ? "" : w->path, source[0] == '/' ? "" : "/", source);
    jnaDestroyManifest(&manifest);
    bool split = jnaHasEnding(buffer, ".fbx") || jnaHasEnding(buffer, ".dae");
    return split && access(buffer, R_OK) == 0 ? buffer : NULL;
}

static void ChooseOrder(Wishes* w, char* buffer, size_t size)
{
    if (w->order == NULL) {
        w->order = SourceOrder(w, buffer, size);
        w->ownOrder = w->order != NULL;
    } else if (strcmp(w->order, "split") == 0) {
        w->order = NULL;
    }
}

static jnResult Bake(const Wishes* w, const jnAsset* asset, int* frames, jnaBakeOrder* order, jnError* error)
{
    static const double units[] = {0, 1, 0.01, 0.001};
    jnaBakeDef def = jnaDefaultBakeDef(asset);
    def.clip = jnAsset_FindClip(asset, w->clip);
    def.stage = (jnaBakeStage)w->stage;
    def.rate = w->rate;
    def.seamless = w->seamless;
    def.preroll = w->preroll;
    def.metresPerUnit = units[w->units];
    def.yUp = w->up == 1;
    def.zUp = w->up == 2;
    char names[256];
    ListClips(asset, names, sizeof(names));
    if (def.clip < 0) {
        return jnFail(error, jn_badArgument, "%s: has no clip '%s'; it has: %s", w->path, w->clip, names);
    }
    if (w->order != NULL) {
        jnResult result = jnaReadBakeOrder(w->order, asset, order, error);
        if (result != jn_ok && w->ownOrder) {
            fprintf(stderr, "jounce: warning: %s; written in the character's split order\n", error->message);
        } else if (result != jn_ok) {
            return result;
        } else {
            def.order = order;
            printf("order of %s: %s\n", w->order, order->summary);
        }
    }
    *frames = jnaBakeFrameCount(&def);
    WarnOfSize(w->output, &def);
    return jnaBakeToFile(w->output, &def, error);
}

int jncBake(int argc, char** argv)
{
    static const jncUsage usage = {
        .synopsis = "jounce bake FILE|WORKSPACE --clip NAME [--order MESH] [--stage skinned|target|dynamic] -o OUT",
        .about = "Plays a clip with the runtime and writes every frame as a vertex cache or as morph targets. Vertices "
                 "are in the\n"
                 "order of the character's file, or with --order in the order, unit and axes of another mesh, rigged "
                 "file or cache\n"
                 "of the same shape. The extension of OUT selects the format:\n" JNA_BAKE_FORMATS ".\n",
        .example = "  jounce bake figure.jounce --clip run --seamless -o run.abc\n"
                   "  jounce bake hero --clip walk --order hero.fbx --up z -o walk.pc2     # for Blender's mesh\n",
    };
    Wishes w = {.stage = jna_stageDynamic};
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("FILE", w.path, NULL, "a .jounce file, or a workspace"), .required = true},
        {JNC_TEXT("--clip", w.clip, "NAME", "name of the clip; jounce info lists them"), .required = true},
        {JNC_TEXT("-o", w.output, "OUT", "output file"), .required = true},
        {JNC_TEXT("--order", w.order, "MESH", "vertex order of this file: .obj, .glb, .fbx, .dae or a cache; split: the character's own (default; of a workspace from FBX or Collada: the points of its source)")},
        {JNC_CHOICE("--units", w.units, "file|metres|centimetres|millimetres", "unit of the output (file: that of --order, else metres)")},
        {JNC_CHOICE("--up", w.up, "file|y|z", "up axis of the output (file: that of --order, else y)")},
        {JNC_CHOICE("--stage", w.stage, "skinned|target|dynamic", "skinned: skeleton only; target: with the network; dynamic: with springs (default dynamic)")},
        {JNC_NUMBER("--rate", w.rate, "HZ", 0, 0, "frames a second (default: the clip's)")},
        {JNC_NUMBER("--fps", w.rate, "HZ", 0, 0, "the same as --rate")},
        {JNC_NUMBER("--preroll", w.preroll, "SECONDS", 0, 60, "hold the first pose this long before the first frame (default 0)")},
        {JNC_FLAG("--seamless", w.seamless, "make the motion of a looping clip exactly periodic")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (!jnaCanBakeTo(w.output)) {
        return jncMisuse("-o: %s must end in " JNA_BAKE_FORMATS, w.output);
    }
    if (w.rate < 0.0 || w.rate > 10000.0) {
        return jncMisuse("--rate: must be above 0 and at most 10000");
    }
    char buffer[4096];
    char source[4096];
    ChooseOrder(&w, source, sizeof(source));
    const char* workspace = w.path;
    w.path = jncCharacterFile(workspace, buffer, sizeof(buffer));
    jnaAssetFile file = {0};
    jnaBakeOrder order = {0};
    jnError error = {0};
    int frames = 0;
    jnResult result = Open(workspace, w.path, &file, &error);
    if (result == jn_ok) {
        result = Bake(&w, file.asset, &frames, &order, &error);
    }
    if (result == jn_ok) {
        printf("%d frames of %d vertices written to %s\n", frames,
            order.pointCount > 0 ? order.pointCount : file.asset->fileVertexCount, w.output);
    }
    jnaDestroyBakeOrder(&order);
    jnaCloseAsset(&file);
    return jncEnd(result, &error);
}
