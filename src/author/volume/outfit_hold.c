// What outfits do to the flesh: skin that a person said is rigid holds the nodes under it, and an outfit without a body
// under it is stiffer than flesh.
#include "volume/outfit_hold.h"

#include "base/arena.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Cloth over a body moves by a quarter of what bare flesh of the same shape does.
#define OUTFIT_STIFFNESS 4.0

int jnaVolume_HoldRigidSkin(jnaVolume* v, float strength)
{
    int count = 0;
    for (int i = 0; v->skinKinds != NULL && i < v->vertexCount; ++i) {
        bool holds = v->skinKinds[i] == jna_skinRigid && v->skinTetrahedra[i] >= 0;
        for (int k = 0; holds && k < 4; ++k) {
            int32_t node = v->tetrahedra[4 * (size_t)v->skinTetrahedra[i] + (size_t)k];
            if (v->heldBy[node] < 0) {
                v->heldBy[node] = 2 * v->jointCount;
                v->holdStrength[node] = strength;
                count++;
            }
        }
    }
    return count;
}

bool jnaVolume_IsOutfit(const jnaVolume* v)
{
    int clothed = 0, flesh = 0;
    for (int i = 0; v->skinKinds != NULL && i < v->vertexCount; ++i) {
        clothed += v->skinKinds[i] == jna_skinClothed;
        flesh += v->skinKinds[i] == jna_skinFlesh;
    }
    // Heads and hands have more vertices than coats.
    return clothed > 0 && clothed >= flesh / 4;
}

void jnaVolume_StiffenOutfit(jnaVolume* v)
{
    for (int m = 0; jnaVolume_IsOutfit(v) && m < v->materialCount; ++m) {
        v->materials[m].young *= OUTFIT_STIFFNESS;
    }
}
