// The morph targets of an asset unpacked: displacements of the rest surface, and how normals change with them.
#pragma once

#include "jounce/asset.h"

typedef struct jnaMorphShapes {
    int count;          // componentCount + modeCount
    float* positions;   // [count][vertexCount][3], metres at a weight of 1
    float* normals;     // [count][normalCount][3], change of the unit normal at a weight of 1, to first order
    float* restNormals; // [normalCount][3], unit
} jnaMorphShapes;

jnResult jnaCreateMorphShapes(const jnAsset* asset, jnaMorphShapes* shapes, jnError* error);
void jnaDestroyMorphShapes(jnaMorphShapes* shapes);
