// See weights_asset.h. Sections are copied as they are, but for what counts vertices in them: INFO, the masses of
// vertices in MODE, and all patches of MRPH. HITS is new: where the character can be hit.
#include "asset/weights_asset.h"

#include "asset/asset_sections.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { MASSES = 2 }; // of the arrays of section MODE

// The same arrays with those of vertices empty.
static void CopyModes(const jnAsset* a, const char* from, jnaSections* s)
{
    jnAssetModesHeader h;
    uint64_t old[JN_MODE_ARRAYS + 1], places[JN_MODE_ARRAYS + 1];
    memcpy(&h, from, sizeof(h));
    jnPlaceModes(&h, a->blockCount, old);
    jnPlaceModes(&h, 0, places);
    char* to = jnaAddSection(s, JN_SECTION_MODES, false, (size_t)places[JN_MODE_ARRAYS]);
    if (to != NULL) {
        memcpy(to, &h, sizeof(h));
        for (int i = 0; i < JN_MODE_ARRAYS; ++i) {
            if (i != MASSES) {
                memcpy(to + places[i], from + old[i], (size_t)(old[i + 1] - old[i]));
            }
        }
    }
}

static void CopyMorphs(const char* from, jnaSections* s)
{
    jnAssetMorphsHeader h;
    uint64_t places[JN_MORPH_ARRAYS + 1];
    memcpy(&h, from, sizeof(h));
    h.listCount = h.shapeCount = h.runCount = 0;
    jnPlaceMorphs(&h, 0, places);
    char* to = jnaAddSection(s, JN_SECTION_MORPHS, false, (size_t)places[JN_MORPH_ARRAYS]);
    if (to != NULL) {
        memcpy(to, &h, sizeof(h));
    }
}

static void CopyInfo(const char* from, jnaSections* s)
{
    jnAssetInfo* info = jnaAddSection(s, JN_SECTION_INFO, true, sizeof(*info));
    if (info != NULL) {
        memcpy(info, from, sizeof(*info));
        info->vertexCount = info->fileVertexCount = info->triangleCount = info->normalCount = 0;
        info->clipCount = info->partCount = info->springCount = 0;
    }
}

// The weights of the file's targets: the asset's own in another scale, or sums of them.
static void AddWeights(const jnaWeightsDef* def, jnaSections* s)
{
    size_t count = (size_t)(def->asset->componentCount + def->asset->modeCount) * sizeof(float);
    if (def->mix == NULL) {
        void* to = jnaAddSection(s, JN_SECTION_WEIGHT_SCALES, false, count);
        if (to != NULL) {
            memcpy(to, def->scales, count);
        }
        return;
    }
    jnAssetMixHeader h = {.rowCount = def->rowCount, .paired = def->paired};
    char* to = jnaAddSection(s, JN_SECTION_WEIGHT_MIX, true, sizeof(h) + (size_t)def->rowCount * count);
    if (to != NULL) {
        memcpy(to, &h, sizeof(h));
        memcpy(to + sizeof(h), def->mix, (size_t)def->rowCount * count);
    }
}

jnResult jnaEncodeWeightsAsset(const jnaWeightsDef* def, void** out, size_t* size, jnError* error)
{
    jnaSections s = {0};
    jnAsset* loaded = NULL;
    const jnAsset* a = def->asset;
    jnResult result = jn_ok;
    *out = NULL;
    for (int i = 0; i < jnAsset_SectionCount(a); ++i) {
        jnAssetSection section = jnAsset_Section(a, i);
        const char* from = (const char*)def->bytes + section.offset;
        uint32_t id = JN_SECTION_ID(section.id[0], section.id[1], section.id[2], section.id[3]);
        if (id == JN_SECTION_INFO) {
            CopyInfo(from, &s);
        } else if (id == JN_SECTION_MODES) {
            CopyModes(a, from, &s);
        } else if (id == JN_SECTION_MORPHS) {
            CopyMorphs(from, &s);
        } else if (id == JN_SECTION_JOINTS || id == JN_SECTION_NETWORK || id == JN_SECTION_BOUND) {
            void* to = jnaAddSection(&s, id, section.required, section.size);
            if (to != NULL) {
                memcpy(to, from, section.size);
            }
        }
    }
    jnaAddHits(a, &s);
    AddWeights(def, &s);
    JN_TRY(jnaArena_Check(&s.arena, "the sections of morph weights", error));
    JN_TRY(jnaJoinSections(&s, out, size, error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = *out, .size = *size, .source = a->name}, &loaded, error));
    jnDestroyAsset(loaded);
done:
    jnaFreeSections(&s);
    if (result != jn_ok) {
        free(*out);
        *out = NULL;
    }
    return result;
}
