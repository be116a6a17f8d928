// Displacements as a map over the UV charts: which triangle each texel shows, and where each vertex is found.
#pragma once

#include "character/character.h"

typedef struct jnaUvMap {
    int size;          // texels a side
    int32_t* vertices; // [size][size][3], welded vertices whose mix a texel shows; -1 where it shows nothing
    float* shares;     // [size][size][3]
    int lookupCount;
    int32_t* lookupStarts; // [vertexCount + 1]
    float* lookups;        // [lookupCount][2], a vertex's places in texels, one for each chart it is in
    double overlap;        // share of the covered texels that two triangles claim
} jnaUvMap;

/// Rasterises the charts, dilated past their borders. UVs that are missing, or of which more than a hundredth lies on
/// each other, are refused with the way out.
jnResult jnaCreateUvMap(const jnaCharacter* character, int size, jnaUvMap* map, jnError* error);
void jnaDestroyUvMap(jnaUvMap* map);
