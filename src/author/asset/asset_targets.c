// The morph targets of the source as section TARG: sparse by blocks of the asset's vertices, with their weights in
// clips.
#include "asset/asset_sections.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// Metres: what moves less than this at a weight of 1 does not move.
#define LEAST_MOVE 1e-7F

static bool MovesBlock(const float* offsets, const int32_t* vertices, int count)
{
    bool moves = false;
    for (int i = 0; i < count && !moves; ++i) {
        for (size_t k = 0; k < 3; ++k) {
            moves = moves || fabsf(offsets[3 * (size_t)vertices[i] + k]) > LEAST_MOVE;
        }
    }
    return moves;
}

// Entries of all blocks; with `values` NULL they are only counted. order: [vertexCount], the character's vertices as
// the asset has them.
static uint32_t FillEntries(
    const jnaCharacter* c, const int32_t* order, uint32_t* starts, uint16_t* numbers, float* values)
{
    uint32_t entries = 0;
    for (int b = 0; b < jnBlockCount(c->vertexCount); ++b) {
        const int32_t* vertices = order + (size_t)b * JN_LANES;
        int left = c->vertexCount - b * JN_LANES, count = left < JN_LANES ? left : JN_LANES;
        for (int t = 0; t < c->targetCount; ++t) {
            const float* offsets = c->targets[t].offsets;
            if (!MovesBlock(offsets, vertices, count)) {
                continue;
            }
            for (int i = 0; values != NULL && i < 3 * count; ++i) {
                values[(size_t)entries * 3 * JN_LANES + (size_t)(i % 3 * JN_LANES + i / 3)] =
                    offsets[3 * (size_t)vertices[i / 3] + (size_t)(i % 3)];
            }
            if (values != NULL) {
                numbers[entries] = (uint16_t)t;
            }
            entries++;
        }
        if (values != NULL) {
            starts[b + 1] = entries;
        }
    }
    return entries;
}

static bool Plays(const jnaAssetDef* def, int clip)
{
    return def->clips[clip].targets != NULL && def->clips[clip].targetCount == def->character->targetCount;
}

static void FillTracks(const jnaAssetDef* def, uint32_t trackCount, uint32_t* tracks, float* weights)
{
    uint32_t at = 0;
    for (int i = 0; i < def->clipCount; ++i) {
        tracks[i] = Plays(def, i) ? at : trackCount;
        if (Plays(def, i)) {
            uint32_t floats = (uint32_t)(def->clips[i].frameCount * def->clips[i].targetCount);
            memcpy(weights + at, def->clips[i].targets, floats * sizeof(float));
            at += floats;
        }
    }
}

void jnaAddTargets(const jnaAssetDef* def, jnaSections* s)
{
    const jnaCharacter* c = def->character;
    int32_t* order = c->targetCount > 0 ? jnaArena_Take(&s->arena, c->vertexCount, sizeof(*order)) : NULL;
    if (order == NULL || s->arena.failed) {
        return;
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        order[s->place[v]] = v;
    }
    jnAssetTargetsHeader h = {.targetCount = c->targetCount, .entryCount = FillEntries(c, order, NULL, NULL, NULL)};
    for (int i = 0; i < def->clipCount; ++i) {
        h.trackCount += Plays(def, i) ? (uint32_t)(def->clips[i].frameCount * c->targetCount) : 0;
    }
    uint64_t places[JN_TARGET_ARRAYS + 1];
    jnPlaceTargets(&h, jnBlockCount(c->vertexCount), def->clipCount, places);
    char* section = jnaAddSection(s, JN_SECTION_TARGETS, false, (size_t)places[JN_TARGET_ARRAYS]);
    if (section != NULL) {
        memcpy(section, &h, sizeof(h));
        jnAssetTarget* targets = (jnAssetTarget*)(void*)(section + places[0]);
        for (int i = 0; i < c->targetCount; ++i) {
            jnaCopyName(targets[i].name, c->targets[i].name);
            targets[i].weight = c->targets[i].weight;
        }
        FillEntries(c, order, (uint32_t*)(void*)(section + places[1]), (uint16_t*)(void*)(section + places[2]),
            (float*)(void*)(section + places[3]));
        FillTracks(def, h.trackCount, (uint32_t*)(void*)(section + places[4]), (float*)(void*)(section + places[5]));
    }
}
