// The last stage: what a workspace holds as one file for the runtime, and the order in which everything is brought up
// to date.
#include "pipeline/stage_export.h"

#include "asset/asset_writer.h"
#include "asset/dress.h"
#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"
#include "character/hand_springs.h"
#include "learn/network.h"
#include "modes/modes.h"
#include "modes/touch.h"
#include "pipeline/engine.h"
#include "workspace/learned.h"
#include "workspace/modes_store.h"
#include "workspace/network_store.h"
#include "workspace/stage.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The character in the making.
typedef struct Work {
    jnaWorkspace* workspace;
    const jnaManifest* manifest;
    jnaSpringLayer layer; // vertex or modal
    const jnaCharacter* character;
    const jnaClip* clips;              // [manifest->clipCount]
    jnaRole* roles;                    // [manifest->clipCount]
    float *stiffness, *damping, *mask; // [vertexCount]
    jnaTouch touch;                    // how the skin gives way; no probes: not asked for
    jnaModes modes;                    // where the springs are on modes; gets what was learned
    bool fallback;                     // springs were to be learned, and are not
    const jnaNetwork* network;         // NULL: none
    jnaArena arena;                    // of the arrays
} Work;

static void DestroyWork(Work* work)
{
    jnaReleaseArena(&work->arena);
    jnaDestroyModes(&work->modes);
    jnaDestroyTouch(&work->touch);
}

static jnResult LoadWork(jnaWorkspace* w, jnaSpringLayer layer, Work* work, jnError* error)
{
    *work = (Work){.workspace = w, .manifest = &w->manifest, .layer = layer};
    JN_PASS(jnaWorkspace_Character(w, &work->character, error));
    JN_PASS(jnaWorkspace_Clips(w, &work->clips, error));
    JN_PASS(jnaWorkspace_Network(w, &work->network, error));
    int vertices = work->character->vertexCount;
    work->roles = jnaArena_Take(&work->arena, w->manifest.clipCount, sizeof(*work->roles));
    work->stiffness = jnaArena_Take(&work->arena, vertices, sizeof(float));
    work->damping = jnaArena_Take(&work->arena, vertices, sizeof(float));
    work->mask = jnaArena_Take(&work->arena, vertices, sizeof(float));
    JN_PASS(jnaArena_Check(&work->arena, "springs", error));
    for (int i = 0; i < w->manifest.clipCount; ++i) {
        work->roles[i] = w->manifest.clips[i].role;
    }
    if (work->layer == jna_layerVertex) {
        return jn_ok;
    }
    JN_PASS(jnaLoadModes(w->path, &work->modes, error));
    return jnaModes_CheckCharacter(&work->modes, work->character, w->path, error);
}

// One weight a vertex, 0 to 1, in the file's order or welded.
static jnResult ReadMask(Work* work, jnError* error)
{
    const jnaCharacter* c = work->character;
    char path[JNA_PATH_LENGTH], shape[96];
    jnaArray array;
    JN_PASS(jnaJoinPath(work->workspace->path, work->manifest->springs.mask, path, error));
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    jnaArray_Describe(&array, shape, sizeof(shape));
    bool welded = array.count == (size_t)c->vertexCount, filed = array.count == (size_t)c->fileVertexCount;
    if (array.scalar > jna_float64 || array.dimensions != 1 || !(welded || filed)) {
        JN_TRY(jnFail(error, jn_badData,
            "%s: is %s; a mask has one number for each of the %d vertices (or %d welded ones)", path, shape,
            c->fileVertexCount, c->vertexCount));
    }
    for (size_t i = 0; i < array.count; ++i) {
        double value = jnaArray_Get(&array, i);
        if (!(value >= 0.0 && value <= 1.0)) {
            JN_TRY(jnFail(error, jn_badData, "%s: entry %zu is %g; a mask goes from 0, rigid, to 1", path, i, value));
        }
        work->mask[welded ? i : (size_t)c->weld[i]] = (float)value;
    }
done:
    jnaCloseArray(&array);
    return result;
}

// "COLOR_0.r": an attribute and one of its channels; the only one needs no name. Returns the attribute, NULL: none.
static const jnaAttribute* FindAttribute(const jnaCharacter* c, const char* wanted, int* channel)
{
    static const char letters[2][5] = {"rgba", "xyzw"};
    size_t length = strlen(wanted);
    for (int i = 0; i < c->attributeCount; ++i) {
        const jnaAttribute* attribute = &c->attributes[i];
        size_t name = strlen(attribute->name);
        if (strncmp(wanted, attribute->name, name) != 0) {
            continue;
        }
        for (*channel = 0; *channel < attribute->width; ++*channel) {
            bool named = length == name + 2 && wanted[name] == '.' &&
                         (wanted[name + 1] == letters[0][*channel] || wanted[name + 1] == letters[1][*channel]);
            if (named || (length == name && attribute->width == 1)) {
                return attribute;
            }
        }
    }
    return NULL;
}

// What can be asked for: "COLOR_0.r to .a, _JIGGLE".
static void ListAttributes(const jnaCharacter* c, char* text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, c->attributeCount == 0 ? "none" : "");
    for (int i = 0; i < c->attributeCount && used < size; ++i) {
        const jnaAttribute* a = &c->attributes[i];
        const char last[2] = {"rgba"[a->width - 1], '\0'};
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", i > 0 ? ", " : "", a->name,
            a->width > 1 ? ".r to ." : "", a->width > 1 ? last : "");
    }
}

// One channel of an attribute as the mask.
static jnResult ReadAttribute(Work* work, jnError* error)
{
    const jnaCharacter* c = work->character;
    const char* wanted = work->manifest->springs.attribute;
    int channel = 0;
    const jnaAttribute* attribute = FindAttribute(c, wanted, &channel);
    if (attribute == NULL) {
        char names[200];
        ListAttributes(c, names, sizeof(names));
        return jnFail(error, jn_badData, "springs.attribute: the character has no '%s'; it has: %s", wanted, names);
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        float value = attribute->values[v * attribute->width + channel];
        // Means of several file vertices may be off by their rounding.
        if (!(value >= -1e-5f && value <= 1.0f + 1e-5f)) {
            return jnFail(error, jn_badData, "springs.attribute: '%s' of vertex %d is %g; it goes from 0, rigid, to 1",
                wanted, v, (double)value);
        }
        work->mask[v] = fminf(fmaxf(value, 0.0f), 1.0f);
    }
    return jn_ok;
}

// What `jounce fit` left for the layer, where it did.
static jnResult ReadFitted(Work* work, jnError* error)
{
    jnaLearned l;
    size_t vertices = (size_t)work->character->vertexCount, modes = (size_t)work->modes.modeCount;
    jnResult result = jnaLoadLearned(work->workspace->path, (int)vertices, (int)modes, &l, error);
    if (result != jn_ok) {
        return result;
    }
    bool modal = work->layer != jna_layerVertex;
    const float *stiffness = l.stiffness, *damping = l.damping;
    bool there = modal ? l.modalStiffness != NULL && l.modalDamping != NULL && l.modalGain != NULL : true;
    work->fallback = !there || stiffness == NULL || damping == NULL;
    if (!work->fallback) {
        memcpy(work->stiffness, stiffness, vertices * sizeof(float));
        memcpy(work->damping, damping, vertices * sizeof(float));
    }
    if (!work->fallback && modal) {
        jnaLearned_Apply(&l, &work->modes);
    }
    jnaDestroyLearned(&l);
    return result;
}

// Springs as the manifest sets them: learned, or by hand where they are not.
static jnResult SetSprings(Work* work, jnError* error)
{
    const jnaManifest* m = work->manifest;
    jnaJointSpring joints[JNA_MAX_JOINT_SPRINGS];
    jnaHandSprings hand = {.hertz = (float)m->springs.hertz, .ratio = (float)m->springs.dampingRatio, .joints = joints};
    if (m->springs.mode == jna_springsJoints) {
        if (m->springs.jointCount > JNA_MAX_JOINT_SPRINGS) {
            return jnFail(error, jn_badData, "the manifest sets springs of more than %d joints", JNA_MAX_JOINT_SPRINGS);
        }
        hand.jointCount = m->springs.jointCount;
        for (int i = 0; i < hand.jointCount; ++i) {
            const jnaManifestSpring* spring = &m->springs.joints[i];
            joints[i] = (jnaJointSpring){spring->joint, (float)spring->hertz, (float)spring->dampingRatio};
        }
    }
    if (m->springs.mode == jna_springsFitted) {
        JN_PASS(ReadFitted(work, error));
        if (!work->fallback) {
            return jn_ok;
        }
    }
    if (m->springs.mode == jna_springsMask && m->springs.mask != NULL) {
        JN_PASS(ReadMask(work, error));
        hand.mask = work->mask;
    }
    if (m->springs.mode == jna_springsAttribute) {
        JN_PASS(ReadAttribute(work, error));
        hand.mask = work->mask;
    }
    if (hand.mask != NULL && work->modes.modeCount > 0) {
        JN_PASS(jnaModes_Mask(&work->modes, work->character, hand.mask, error));
    }
    return jnaSetHandSprings(work->character, &hand, work->stiffness, work->damping, error);
}

// The same for all that the character wears.
static jnResult Dress(Work* work, jnaAssetDef* def, jnaDressed* dressed, jnError* error)
{
    const jnaCharacter* whole;
    JN_PASS(jnaWorkspace_Whole(work->workspace, &whole, error));
    if (whole->outfitCount == 0) {
        return jn_ok;
    }
    const jnaFleshMotion flesh = {def->modes, def->network, def->stiffness, def->damping};
    JN_PASS(jnaDress(whole, &flesh, dressed, error));
    def->character = whole;
    def->modes = def->modes != NULL ? &dressed->modes : NULL;
    def->network = def->network != NULL ? &dressed->network : NULL;
    def->stiffness = dressed->stiffness;
    def->damping = dressed->damping;
    return jn_ok;
}

// How the skin gives way where it is pressed, of characters with modes of simulated flesh.
static jnResult FindTouch(Work* work, jnaAssetDef* def, jnError* error)
{
    const jnaVolume* volume;
    double spacing = work->manifest->springs.touch;
    if (!(spacing > 0)) {
        return jn_ok;
    }
    if (def->modes == NULL || jnaManifest_IsImported(work->manifest)) {
        return jnFail(error, jn_badArgument,
            "%s: springs.touch needs flesh that is simulated and springs on modes; set it to 0", work->workspace->path);
    }
    if (def->character->vertexCount != work->character->vertexCount) {
        return jnFail(error, jn_badArgument, "%s: springs.touch does not work with clothes yet; set it to 0",
            work->workspace->path);
    }
    JN_PASS(jnaWorkspace_Volume(work->workspace, &volume, error));
    JN_PASS(jnaFindTouch(volume, work->character, spacing, NULL, &work->touch, error));
    def->touch = &work->touch;
    return jn_ok;
}

jnResult jnaWorkspace_EncodeAsset(
    jnaWorkspace* w, const jnaExportDef* settings, void** bytes, size_t* size, jnaExported* exported, jnError* error)
{
    Work work;
    jnaDressed dressed = {0};
    jnAsset* asset = NULL;
    jnaSpringLayer layer = settings->modal ? jna_layerModal : jnaWorkspace_Layer(w);
    jnResult result = jn_ok;
    JN_TRY(LoadWork(w, layer, &work, error));
    JN_TRY(SetSprings(&work, error));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.modes = layer != jna_layerVertex && work.modes.modeCount > 0 ? &work.modes : NULL;
    def.restVertices = layer == jna_layerModal;
    def.character = work.character;
    def.clips = work.clips;
    def.roles = work.roles;
    def.clipCount = w->manifest.clipCount;
    def.stiffness = work.stiffness;
    def.damping = work.damping;
    def.skinning = settings->skinning >= 0 ? (jnSkinning)settings->skinning : w->manifest.network.skinning;
    def.timing = settings->timing;
    def.rigidHertz = settings->rigidHertz;
    def.detailShare = settings->detailShare;
    def.rate = w->manifest.rate;
    def.network = work.network;
    JN_TRY(settings->fleshOnly ? jn_ok : Dress(&work, &def, &dressed, error));
    JN_TRY(settings->fleshOnly ? jn_ok : FindTouch(&work, &def, error));
    JN_TRY(jnaEncodeAsset(&def, bytes, size, error));
    *exported = (jnaExported){.vertexCount = def.character->vertexCount,
        .jointCount = work.character->jointCount,
        .clipCount = w->manifest.clipCount,
        .modeCount = work.modes.modeCount,
        .fallback = work.fallback};
    if (settings->measure) {
        JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = *bytes, .size = *size}, &asset, error));
        JN_TRY(jnaMeasurePacking(&def, asset, &exported->packing, error));
    }
done:
    jnaDestroyDressed(&dressed);
    jnDestroyAsset(asset);
    DestroyWork(&work);
    return result;
}

// The same of an opened workspace. The stage "export" writes JNA_ASSET_NAME with the defaults.
static jnResult ExportOpened(
    jnaWorkspace* w, const char* path, const jnaExportDef* settings, jnaExported* exported, jnError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    JN_PASS(jnaWorkspace_EncodeAsset(w, settings, &bytes, &size, exported, error));
    jnResult result = jnaWriteBytes(path, bytes, size, error);
    free(bytes);
    return result;
}

jnResult jnaExportWorkspace(
    const char* workspace, const char* path, const jnaExportDef* def, jnaExported* exported, jnError* error)
{
    jnaWorkspace* w;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspace(workspace, &w, error));
    JN_TRY(jnaLockWorkspace(workspace, "jounce export", false, &w->lock, error));
    JN_TRY(ExportOpened(w, path, def, exported, error));
done:
    jnaCloseWorkspace(w);
    return result;
}

// Everything of the import, the springs of the manifest, the mask, and what was learned.
static jnResult Describe(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const fitted[] = {"springs/stiffness.npy", "springs/damping.npy", "springs/modal_stiffness.npy",
        "springs/modal_damping.npy", "springs/modal_gain.npy", "springs/modal_shapes.npy", NULL};
    const jnaWorkspace* w = run->workspace;
    const jnaManifest* m = &w->manifest;
    (void)error;
    jnaStage_Read(stage, NULL, "stages/import.json");
    jnaSpringLayer layer = jnaWorkspace_Layer(w);
    jnaStage_Depend(stage, "plays %s\n", jnaLayerNames[layer]);
    if (layer != jna_layerVertex && jnaManifest_IsImported(m)) {
        jnaStage_Read(stage, w->path, "modes/shapes.npy");
        jnaStage_Read(stage, w->path, "modes/caps.npy");
        jnaStage_Read(stage, w->path, "modes/critical.npy");
        jnaStage_Read(stage, w->path, "modes/critical_limits.npy");
    } else if (layer != jna_layerVertex) {
        jnaStage_Read(stage, NULL, "stages/modes.json");
        jnaStage_Read(stage, NULL, "modes/caps.npy");
        jnaStage_Read(stage, NULL, "modes/critical.npy");
        jnaStage_Read(stage, NULL, "modes/critical_limits.npy");
    }
    if (m->springs.mode == jna_springsMask && m->springs.mask != NULL) {
        jnaStage_Read(stage, NULL, "%s", m->springs.mask);
    }
    if (m->springs.mode == jna_springsFitted) {
        jnaStage_ReadAll(stage, w->path, fitted);
    }
    if (m->network.kind != jn_networkNone && jnaWorkspace_Has(w, "network/network.json")) {
        jnaStage_Read(stage, NULL, "network/parameters.npy");
        jnaStage_Read(stage, w->path, "stages/train.json"); // for all files of the network
        jnaStage_Depend(stage, "%s", jnaPlaysNetwork(w->path) ? "" : "without the network\n");
    }
    jnaStage_Depend(stage, "asset version %d", (int)JN_ASSET_VERSION);
    jnaStage_Make(stage, "%s", JNA_ASSET_NAME);
    jnaWorkspace_Depend(w, stage);
    return jn_ok;
}

static jnResult Run(jnaStageRun* run, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaExported exported;
    const jnaExportDef def = jnaDefaultExportDef();
    JN_PASS(jnaJoinPath(run->workspace->path, JNA_ASSET_NAME, path, error));
    JN_PASS(ExportOpened(run->workspace, path, &def, &exported, error));
    if (exported.fallback) {
        jnaNotes_Add(run->notes, JNA_FALLBACK_NOTE);
    }
    return jn_ok;
}

const jnaStageKind jnaExportStage = {"export", Describe, Run};

jnaExportDef jnaDefaultExportDef(void)
{
    return (jnaExportDef){.skinning = -1, .timing = jn_timingCausal};
}
