// See export_engine.h. A character from glTF keeps its own document; others get one made from the asset.
#include "pipeline/export_engine.h"

#include "asset/outfit_materials.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "character/source.h"
#include "workspace/learned.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Metres per unit as the import took them.
static jnResult ReadScale(const jnaWorkspace* w, double* scale, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    json_t* root = NULL;
    JN_PASS(jnaWorkspace_Path(w, path, error, "character"));
    JN_PASS(jnaLoadJson(path, "character.json", &root, error));
    *scale = json_number_value(json_object_get(root, "scale"));
    json_decref(root);
    return *scale > 0 ? jn_ok : jnFail(error, jn_badData, "%s/character.json: has no scale", path);
}

// The character's own file, where it is glTF. *there: whether it is.
static jnResult OpenSource(const jnaWorkspace* w, jnaGltfSource* source, bool* there, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaImportDef def = jnaDefaultImportDef();
    def.up = w->manifest.up;
    def.character = w->manifest.number;
    *there = !jnaIsFigure(w->manifest.character) && jnaIsGltf(w->manifest.character);
    if (!*there) {
        return jn_ok;
    }
    JN_PASS(jnaJoinPath(w->path, w->manifest.character, path, error));
    if (access(path, R_OK) != 0) {
        return jnFail(error, jn_ioFailed,
            "%s: cannot be read; a .glb is made from the character's own file, which the manifest names", path);
    }
    JN_PASS(ReadScale(w, &def.scale, error));
    return jnaReadGltfSource(path, &def, source, error);
}

// The files that the character's clothes came from, in the order in which the import put them on. files:
// [partCount].
static jnResult OpenOutfits(const jnaWorkspace* w, jnaOutfitFile* files, int* count, jnError* error)
{
    const jnaManifest* m = &w->manifest;
    for (int i = 0; i < m->partCount; ++i) {
        char path[JNA_PATH_LENGTH];
        jnaImportDef def = jnaDefaultImportDef();
        if (m->parts[i].source == NULL) {
            continue;
        }
        def.up = m->up;
        def.role = m->parts[i].role;
        JN_PASS(ReadScale(w, &def.scale, error));
        JN_PASS(jnaJoinPath(w->path, m->parts[i].source, path, error));
        JN_PASS(jnaReadOutfitFile(path, &def, &files[*count], error));
        ++*count;
    }
    return jn_ok;
}

// The name of each clip's animation in the source; NULL where it comes from elsewhere.
static const char** FindAnimations(const jnaWorkspace* w, const jnaGltfSource* source)
{
    const jnaManifest* m = &w->manifest;
    const char** names = calloc((size_t)m->clipCount + 1, sizeof(*names));
    for (int i = 0; names != NULL && i < m->clipCount; ++i) {
        const jnaManifestClip* clip = &m->clips[i];
        if (strcmp(clip->source, m->character) == 0) {
            names[i] = clip->animation != NULL       ? clip->animation
                       : source->animationCount == 1 ? source->animations[0].name
                                                     : NULL;
        }
    }
    return names;
}

// Morph weights need modes. A character whose springs per vertex were kept has those of its motion, too; they stand in
// where they explain enough of it.
static jnResult ChooseLayer(const jnaWorkspace* w, jnaExportDef* how, jnaEngineReport* report, jnError* error)
{
    report->standIn = jnaWorkspace_Layer(w) == jna_layerVertex && w->manifest.springs.layer == jna_layerAuto &&
                      jnaWorkspace_Has(w, "modes/modes.json");
    report->explains = jnaWorkspace_Explains(w, jna_layerModal);
    report->vertexExplains = jnaWorkspace_Explains(w, jna_layerVertex);
    if (report->standIn && !(report->explains >= JNA_LEAST_EXPLAINED)) {
        return jnFail(error, jn_badData,
            "%s: a .glb carries modes, and those of the motion explain only %.2f of it (springs per vertex %.2f); bake "
            "the "
            "clips (jounce bake), or set springs.layer to modal in the manifest",
            w->path, report->explains, report->vertexExplains);
    }
    how->modal = report->standIn;
    return jn_ok;
}

jnResult jnaExportEngine(const char* workspace, const char* path, const jnaExportDef* how, const jnaEngineDef* engine,
    jnaEngineReport* report, jnError* error)
{
    jnaWorkspace* w = NULL;
    jnAsset* asset = NULL;
    jnaGltfSource source = {0};
    jnaOutfitFile* outfits = NULL;
    int outfitCount = 0;
    void* bytes = NULL;
    size_t size = 0;
    const char** names = NULL;
    bool there;
    jnaExported exported;
    jnaExportDef settings = *how;
    jnaEngineReport chosen = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspace(workspace, &w, error));
    JN_TRY(jnaLockWorkspace(workspace, "jounce export", false, &w->lock, error));
    JN_TRY(ChooseLayer(w, &settings, &chosen, error));
    JN_TRY(jnaWorkspace_EncodeAsset(w, &settings, &bytes, &size, &exported, error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size, .source = workspace}, &asset, error));
    JN_TRY(OpenSource(w, &source, &there, error));
    names = FindAnimations(w, &source);
    outfits = calloc((size_t)w->manifest.partCount + 1, sizeof(*outfits));
    JN_TRY(names != NULL && outfits != NULL
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for the clips of '%s'", workspace));
    JN_TRY(OpenOutfits(w, outfits, &outfitCount, error));
    jnaEngineDef def = *engine;
    def.outfits = outfits;
    def.outfitCount = outfitCount;
    def.asset = asset;
    def.bytes = bytes;
    def.source = there ? &source : NULL;
    def.animations = names;
    JN_TRY(jnaWriteEngineGlb(path, &def, report, error));
    report->fallback = exported.fallback;
    report->standIn = chosen.standIn;
    report->explains = chosen.explains;
    report->vertexExplains = chosen.vertexExplains;
done:
    for (int i = 0; i < outfitCount; ++i) {
        jnaDestroyOutfitFile(&outfits[i]);
    }
    free(outfits);
    free(names);
    jnaDestroyGltfSource(&source);
    jnDestroyAsset(asset);
    free(bytes);
    jnaCloseWorkspace(w);
    return result;
}
