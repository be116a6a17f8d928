// What the studio's page has to know of a character's regions to show at once what a slider does: their materials by
// tone, and what each adds to the stiffness of the modes (modes/mode_regions.c). The page has the equations
// (web/viewer/src/studio/preview.ts).
#include "base/input.h"
#include "base/npy.h"
#include "base/path.h"
#include "base/try.h"
#include "studio_parts.h"
#include "volume/physique.h"
#include "workspace/store.h"
#include "workspace/workspace.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TONES = 11 };

// A character whose regions are described.
typedef struct Body {
    jnaWorkspace* workspace;
    jnaCharacter whole;
    jnaAnatomy anatomy;
    const jnAsset* asset;
    uint8_t* regions; // [asset's vertexCount]
    int counts[JNA_REGIONS];
    double limits[JNA_REGIONS]; // metres, the farthest of its vertices
} Body;

static void DestroyBody(Body* b)
{
    free(b->regions);
    jnaDestroyAnatomy(&b->anatomy);
    jnaDestroyCharacter(&b->whole);
    jnaCloseWorkspace(b->workspace);
}

static jnResult LoadBody(const char* path, const jnAsset* asset, Body* b, jnError* error)
{
    const jnaCharacter* character;
    const jnaVolume* volume;
    b->asset = asset;
    JN_PASS(jnaOpenWorkspace(path, &b->workspace, error));
    JN_PASS(jnaWorkspace_Character(b->workspace, &character, error));
    JN_PASS(jnaWorkspace_Volume(b->workspace, &volume, error));
    JN_PASS(jnaLoadWholeCharacter(path, &b->whole, error));
    JN_PASS(jnaFindAnatomy(character, volume, &b->anatomy, error));
    if (b->whole.vertexCount != asset->vertexCount) {
        return jnFail(error, jn_badData, "the character file is of another character");
    }
    jnaArena arena = {0};
    b->regions = jnaArena_Give(&arena, asset->vertexCount, 1);
    uint8_t* own = jnaArena_Take(&arena, asset->vertexCount, 1);
    jnResult result = jnaArena_Check(&arena, "the regions of a body", error);
    if (result == jn_ok) {
        jnaAnatomy_SkinRegions(&b->anatomy, &b->whole, own);
        for (int v = 0; v < asset->vertexCount; ++v) {
            b->regions[v] = own[asset->order != NULL ? asset->order[v] : v];
            b->counts[b->regions[v]]++;
        }
    }
    jnaReleaseArena(&arena);
    return result;
}

// How far each region may go now, from the vertices' own limits.
static void ReadLimits(Body* b)
{
    char path[JNA_PATH_LENGTH];
    jnaArray reach;
    if (jnaJoinPath(b->workspace->path, "modes/reach.npy", path, NULL) != jn_ok ||
        jnaOpenArray(path, &reach, NULL) != jn_ok) {
        return;
    }
    for (int v = 0; v < b->asset->vertexCount && reach.scalar == jna_float32; ++v) {
        size_t at = (size_t)(b->asset->order != NULL ? b->asset->order[v] : v);
        double limit = at < reach.count ? jnaArray_Get(&reach, at) : 0;
        b->limits[b->regions[v]] = fmax(b->limits[b->regions[v]], limit < 1e3 ? limit : 0);
    }
    jnaCloseArray(&reach);
}

// Stiffness and damping of a region by the tone of its muscles, as fractions of those at its usual tone.
static json_t* DescribeRegion(const Body* b, jnaPhysique physique, jnaRegion region)
{
    json_t *stiffness = json_array(), *damping = json_array();
    double usual = jnaUsualTone(region);
    physique.softness[region] = physique.damping[region] = 1;
    physique.tone[region] = usual;
    double plain = jnaPhysique_Shear(&physique, region), plainDamping = jnaPhysique_Damping(&physique, region);
    for (int i = 0; i < TONES; ++i) {
        physique.tone[region] = (double)i / (TONES - 1);
        json_array_append_new(stiffness, json_real(plain > 0 ? jnaPhysique_Shear(&physique, region) / plain : 1));
        json_array_append_new(
            damping, json_real(plainDamping > 0 ? jnaPhysique_Damping(&physique, region) / plainDamping : 1));
    }
    return json_pack("{s:s, s:i, s:i, s:f, s:f, s:o, s:o}", "name", jnaRegionNames[region], "number", (int)region,
        "vertices", b->counts[region], "limit", b->limits[region], "tone", usual, "stiffness", stiffness, "damping",
        damping);
}

// Which mode of the workspace each of the file's is: they are in another order, their stiffness tells. false: some were
// fitted, or the workspace's are not those of the file.
static bool MatchModes(const jnaModes* modes, const jnAsset* a, int* numbers)
{
    for (int k = 0; k < a->modes->modeCount; ++k) {
        const jnAssetMode* mode = &a->modes->modes[k];
        numbers[k] = -1;
        for (int i = 0; i < modes->modeCount && numbers[k] < 0; ++i) {
            bool same = (float)modes->stiffness[i] == mode->stiffness && (float)modes->damping[i] == mode->damping;
            numbers[k] = same ? i : -1;
        }
        if (numbers[k] < 0) {
            return false;
        }
    }
    return true;
}

// The fractions of a mode's energy in all regions.
static json_t* DescribeEnergies(const jnaModes* modes, int mode)
{
    json_t* row = json_array();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        json_array_append_new(row, json_real(modes->regions[(size_t)mode * JNA_REGIONS + (size_t)r]));
    }
    return row;
}

// How much of an acceleration of all of the flesh along x, y, z drives a mode.
static json_t* DescribeLoad(const jnaModes* modes, int mode)
{
    double sums[3] = {0};
    const float* projection = modes->projections + 3 * (size_t)mode * (size_t)modes->vertexCount;
    for (size_t i = 0; i < 3 * (size_t)modes->vertexCount; ++i) {
        sums[i % 3] += (double)projection[i];
    }
    return json_pack("[f, f, f]", sums[0], sums[1], sums[2]);
}

// The modes of the file: their energies and loads; null where they are not known.
static json_t* DescribeModes(const Body* b)
{
    const jnaModes* modes = NULL;
    const jnAsset* a = b->asset;
    int count = a->modes != NULL ? a->modes->modeCount : 0;
    int* numbers = calloc((size_t)count + 1, sizeof(*numbers));
    json_t* root = json_null();
    if (numbers != NULL && count > 0 && jnaWorkspace_Modes(b->workspace, &modes, NULL) == jn_ok &&
        MatchModes(modes, a, numbers)) {
        json_t *energies = json_array(), *loads = json_array();
        for (int k = 0; k < count; ++k) {
            json_array_append_new(energies, DescribeEnergies(modes, numbers[k]));
            json_array_append_new(loads, DescribeLoad(modes, numbers[k]));
        }
        root = json_pack("{s:o, s:o}", "energies", energies, "loads", loads);
    }
    free(numbers);
    return root;
}

json_t* jncDescribeTuning(const jnaManifest* m)
{
    json_t* all = json_object();
    for (int i = 0; i < m->tuningCount; ++i) {
        const jnaTuning* t = &m->tuning[i];
        char text[64];
        json_t* one = json_object();
        if (t->softness != 1) {
            snprintf(text, sizeof(text), "%.10g", t->softness);
            json_object_set_new(one, "softness", json_string(text));
        }
        if (t->damping != 1) {
            snprintf(text, sizeof(text), "%.10g", t->damping);
            json_object_set_new(one, "damping", json_string(text));
        }
        if (t->tone >= 0) {
            snprintf(text, sizeof(text), "%.10g", t->tone);
            json_object_set_new(one, "tone", json_string(text));
        }
        if (t->limit.kind != jna_capUsual) {
            snprintf(text, sizeof(text), "%.10g%s", t->limit.value, t->limit.kind == jna_capMetres ? " m" : "");
            json_object_set_new(one, "limit", json_string(t->limit.kind == jna_capOff ? "off" : text));
        }
        json_object_set_new(all, jnaRegionNames[t->region], one);
    }
    return all;
}

// The settings that the material was made with, as the stage kept them: "tuning[].softness 2", a line each.
static json_t* ReadInside(const char* workspace)
{
    char path[JNA_PATH_LENGTH];
    json_t* root =
        jnaJoinPath(workspace, "volume/inside.json", path, NULL) == jn_ok ? jnaReadJson(path, 0, NULL) : NULL;
    json_t* settings = json_incref(json_object_get(root, "settings"));
    json_decref(root);
    return settings;
}

// Those of the regions that were built, by number: lists of rows in the order of the items.
static json_t* DescribeBuilt(const char* workspace)
{
    static const char* const keys[] = {"tuning[].region ", "tuning[].softness ", "tuning[].damping ", "tuning[].tone "};
    json_t *settings = ReadInside(workspace), *built = json_object();
    const char* text = json_string_value(settings);
    for (int k = 0; k < 4; ++k) {
        json_t* values = json_array();
        for (const char* at = text; at != NULL && (at = strstr(at, keys[k])) != NULL;) {
            at += strlen(keys[k]);
            json_array_append_new(values, k == 0 ? json_stringn(at, strcspn(at, "\n")) : json_real(strtod(at, NULL)));
        }
        char name[16];
        snprintf(name, sizeof(name), "%.*s", (int)strlen(keys[k]) - 10, keys[k] + 9);
        json_object_set_new(built, name, values);
    }
    json_decref(settings);
    return built;
}

bool jncIsMaterialStale(const char* workspace, const jnaManifest* manifest)
{
    json_t* settings = ReadInside(workspace);
    char* now = jnaManifest_Settings(manifest, "inside");
    bool stale = settings != NULL && now != NULL && strcmp(json_string_value(settings), now) != 0;
    free(now);
    json_decref(settings);
    return stale;
}

// The painted mask in the order of the asset's vertices; null where there is none.
static json_t* DescribeMask(const Body* b)
{
    char path[JNA_PATH_LENGTH];
    jnaArray mask;
    const jnaManifest* m = &b->workspace->manifest;
    if (m->springs.mode != jna_springsMask || m->springs.mask == NULL ||
        jnaJoinPath(b->workspace->path, m->springs.mask, path, NULL) != jn_ok ||
        jnaOpenArray(path, &mask, NULL) != jn_ok) {
        return json_null();
    }
    json_t* values = json_null();
    bool floats = mask.scalar == jna_float32 || mask.scalar == jna_float64;
    if (floats && mask.count == (size_t)b->asset->vertexCount) {
        values = json_array();
        for (int v = 0; v < b->asset->vertexCount; ++v) {
            size_t at = (size_t)(b->asset->order != NULL ? b->asset->order[v] : v);
            json_array_append_new(values, json_real(jnaArray_Get(&mask, at)));
        }
    }
    jnaCloseArray(&mask);
    return values;
}

// The worst frame of every clip, as the last build found them.
static json_t* DescribeWorst(const char* workspace)
{
    char path[JNA_PATH_LENGTH];
    json_t *root = jnaJoinPath(workspace, "surface.json", path, NULL) == jn_ok ? jnaReadJson(path, 0, NULL) : NULL,
           *list = json_array(), *clip;
    size_t i;
    json_array_foreach(json_object_get(root, "clips"), i, clip)
    {
        json_t* one = json_pack("{s:O, s:O, s:O, s:O}", "name", json_object_get(clip, "name"), "frame",
            json_object_get(clip, "worst_frame"), "largest", json_object_get(clip, "largest_mm"), "place",
            json_object_get(clip, "place"));
        if (one != NULL) {
            json_array_append_new(list, one);
        }
    }
    json_decref(root);
    return list;
}

static jnResult Describe(Body* b, char** text, jnError* error)
{
    const jnaCharacter* character;
    const jnaVolume* volume;
    const jnaManifest* m = &b->workspace->manifest;
    jnaPhysique physique;
    json_t *regions = json_array(), *vertices = json_array();
    JN_PASS(jnaWorkspace_Character(b->workspace, &character, error));
    JN_PASS(jnaWorkspace_Volume(b->workspace, &volume, error));
    JN_PASS(jnaFindPhysique(volume, character, &b->anatomy, &m->materials.body, &physique, NULL, error));
    ReadLimits(b);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        if (b->counts[r] > 0) {
            json_array_append_new(regions, DescribeRegion(b, physique, (jnaRegion)r));
        }
    }
    for (int v = 0; v < b->asset->vertexCount; ++v) {
        json_array_append_new(vertices, json_integer(b->regions[v]));
    }
    json_t* root = json_pack("{s:o, s:o, s:o, s:f, s:b, s:o, s:o, s:b, s:o}", "regions", regions, "vertices", vertices,
        "modes", DescribeModes(b), "drag", m->modes.ratio > 0 ? 0.0 : m->modes.drag, "by_ratio", m->modes.ratio > 0,
        "built", DescribeBuilt(b->workspace->path), "mask", DescribeMask(b), "paintable",
        character->vertexCount == b->asset->vertexCount, "worst", DescribeWorst(b->workspace->path));
    *text = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    json_decref(root);
    return *text != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory");
}

char* jncDescribeRegions(const char* workspace, const jnAsset* asset)
{
    Body body = {0};
    char* text = NULL;
    jnError error = {0};
    if (LoadBody(workspace, asset, &body, &error) == jn_ok) {
        (void)Describe(&body, &text, &error);
    }
    DestroyBody(&body);
    return text;
}
