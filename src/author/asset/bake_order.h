// The vertex order, unit and axes of a file that a bake is to fit.
#pragma once

#include "jounce/asset.h"

typedef struct jnaBakeOrder {
    int pointCount;
    int32_t* fileVertices; // [pointCount], a file vertex of the asset that stands where the point does
    int32_t* triangles;    // [triangleCount of the asset][3], points
    double metresPerUnit;  // of the file
    double rotation[9];    // rows; our axes to the file's
    char summary[160];     // how the points were found
} jnaBakeOrder;

/// Reads the points of a mesh or cache (.obj, .abc, .usda, .pc2, .mdd, .npy, .npz) or of a rigged file (.glb, .gltf,
/// .vrm, .fbx, .dae; FBX and Collada in the order of the source's points), and finds the asset's vertices by where they
/// lie in the rest pose. A rigged file gives metres and Y up, a mesh its own unit and axes.
jnResult jnaReadBakeOrder(const char* path, const jnAsset* asset, jnaBakeOrder* order, jnError* error);
void jnaDestroyBakeOrder(jnaBakeOrder* order);
