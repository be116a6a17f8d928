// Sections of an asset in the making, shared by asset_writer.c and asset_surface.c.
#pragma once

#include "asset/asset_writer.h"
#include "base/arena.h"

#include <string.h>

typedef struct jnaSection {
    uint32_t id;
    bool required;
    void* data; // in the arena
    size_t size;
} jnaSection;

typedef struct jnaSections {
    jnaSection list[64];
    int count;
    jnaArena arena; // of the sections and of all that is needed to make them
    int32_t* place; // [vertexCount], the character's vertex to the asset's
    int springCount;
    int driverCount; // 0: no coarse detail
    int normalCount;
    int32_t* groupOfFile; // [fileVertexCount]
    int32_t* modeOrder;   // [modes], the def's mode of each of the asset's; NULL: none
} jnaSections;

/// Adds a zeroed section and returns its data; NULL where the arena has failed.
void* jnaAddSection(jnaSections* sections, uint32_t id, bool required, size_t size);

/// Header, table and sections in one piece of memory, to be released with free; and the end of the sections.
jnResult jnaJoinSections(const jnaSections* sections, void** bytes, size_t* size, jnError* error);
void jnaFreeSections(jnaSections* sections);

/// A name into a zeroed field of JN_NAME_LENGTH, cut where it is too long.
static inline void jnaCopyName(char* to, const char* from)
{
    memcpy(to, from, strnlen(from, JN_NAME_LENGTH - 1));
}

// asset_surface.c
void jnaAddRig(const jnaAssetDef* def, jnaSections* sections);     // joints, rest positions, influences
void jnaAddSurface(const jnaAssetDef* def, jnaSections* sections); // weld, normals, triangles, rings, UVs

// asset_modes.c
/// The most important first, scratch from the arena; nothing where that has failed. order: [modeCount].
void jnaOrderModes(const jnaModes* modes, jnaArena* arena, int32_t* order);
/// Metres that a morph weight of 1 moves the farthest vertex of a mode.
double jnaModeUnit(const jnaModes* modes, int mode);
/// What drives springs on modes, after vertices and modes have their order.
void jnaAddModes(const jnaAssetDef* def, jnaSections* sections);

// asset_bound.c
void jnaAddBound(const jnaAssetDef* def, jnaSections* sections); // what the modes may do together, likewise

// asset_hits.c
/// Where an asset without the surface of this one can be hit, if it has modes.
void jnaAddHits(const jnAsset* asset, jnaSections* sections);

// asset_touch.c
/// How the skin gives way where it is pressed. asset: of the other sections.
jnResult jnaAddTouch(const jnaAssetDef* def, const jnAsset* asset, jnaSections* sections, jnError* error);

// asset_patches.c
/// Puts vertices that go to the places from `first` on into an order in which every patch of the surface is compact in
/// space, and vertices of as many influences are together within it. list: [count]
void jnaOrderPatches(const jnaCharacter* character, int32_t* list, int count, int first, jnaArena* arena);

// asset_morphs.c
jnResult jnaAddMorphs(const jnaAssetDef* def, jnaSections* sections, jnError* error); // likewise

// asset_targets.c
void jnaAddTargets(const jnaAssetDef* def, jnaSections* sections); // of the source, likewise

// asset_detail.c
/// The number of each driver, 0 to count - 1, among all vertices; -1 for the others. NULL: out of memory. rigid:
/// [vertexCount], those that cannot be drivers; at least `count` others must be there. In the sections' arena.
int32_t* jnaChooseDrivers(const jnaAssetDef* def, const uint8_t* rigid, int count, jnaSections* sections);
void jnaAddFollowers(const jnaAssetDef* def, const uint8_t* rigid, const int32_t* drivers, jnaSections* sections);

// asset_rings.c
void jnaAddRings(const jnaCharacter* character, jnaSections* sections); // after groupOfFile
