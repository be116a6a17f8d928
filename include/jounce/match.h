// What an importer changed: names of bones, axes and units, the order of vertices; and the way back.
//
// Engines rename bones (left_up_leg, mixamorig:LeftUpLeg, DEF-thigh.L), turn axes and scale units (Unreal: centimetres,
// Z up, left-handed), and split and reorder vertices. A character wants the joints of its asset, in their order, in
// metres and in the axes of its file.
#pragma once

#include "jounce/asset.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How a joint was found among an engine's bones.
typedef enum jnBoneFound {
    jn_boneMissing, // it was not
    jn_boneSame,    // by the same name
    jn_boneAlike,   // by its name but for prefix, letter case and separators
    jn_bonePart,    // as the same part of a human skeleton, by another word: "thigh_l" is LeftUpLeg
    jn_boneOrder,   // by its place in the spine or the neck, which have as many bones in both
} jnBoneFound;

/// The bone of one joint.
typedef struct jnBoneMatch {
    int32_t bone;  // number of the name; -1: missing
    int32_t found; // jnBoneFound
} jnBoneMatch;

/// Finds the joints of an asset among an engine's bones by name: the same, the same but for prefix, letter case and
/// separators, or the words of Mixamo, Biped, Rigify, Unreal, VRM, Unity, Godot, MotionBuilder, Daz, Character Creator
/// and MakeHuman for the same part of a human skeleton. No bone is given to two joints. names: [nameCount], parents
/// before their children. matches: [jointCount] of the asset. Returns how many joints were found. Allocates nothing;
/// meant for loading.
JN_API int jnAsset_MatchBones(const jnAsset* asset, const char* const* names, int nameCount, jnBoneMatch* matches);

/// The report of a match in a sentence or two, with the names of the joints that are missing. Returns the length that
/// the whole report has, without its end; what does not fit into `size` is cut. text: NULL where size is 0.
JN_API size_t jnAsset_DescribeBones(const jnAsset* asset, const jnBoneMatch* matches, char* text, size_t size);

/// How the axes and units of an engine differ from those of an asset.
typedef struct jnEngineSpace {
    int8_t axes[3];  // 0 to 2: the asset's axis that the engine's x, y and z are
    int8_t signs[3]; // 1 or -1: along it or against it
    float unit;      // engine units in a metre
} jnEngineSpace;

/// The space of an engine. axes: its x, y and z as axes of the asset, "xyz" where they are the same, "-xyz" for Unity
/// (glTFast and UnityGLTF turn x around), "xzy" for Unreal (its glTF importer swaps y and z); unit: engine units in a
/// metre, 100 for Unreal. Fails where the letters are not x, y and z once each, or the unit is not positive.
JN_API jnResult jnMakeEngineSpace(const char* axes, float unit, jnEngineSpace* space, jnError* error);

/// Converts points and displacements, [count][3]: `toEngine`, from metres in the asset's axes; otherwise to them. `to` may
/// be `from`.
JN_API void jnEngineSpace_Points(const jnEngineSpace* space, bool toEngine, const float* from, int count, float* to);
/// The same without the unit, for normals.
JN_API void jnEngineSpace_Directions(const jnEngineSpace* space, bool toEngine, const float* from, int count, float* to);
/// Unit quaternions x, y, z, w, [count][4]. Where the engine has the other hand, their turn is the other way.
JN_API void jnEngineSpace_Rotations(const jnEngineSpace* space, bool toEngine, const float* from, int count, float* to);
/// Scales along the axes, [count][3].
JN_API void jnEngineSpace_Scales(const jnEngineSpace* space, bool toEngine, const float* from, int count, float* to);
/// Matrices, [count][12], 3 rows of 4, the fourth column a place.
JN_API void jnEngineSpace_Matrices(const jnEngineSpace* space, bool toEngine, const float* from, int count, float* to);

/// An importer's vertices, in metres and in the asset's axes.
typedef struct jnImportedVertices {
    const float* positions; // [count][3], at rest
    const float* uvs;       // [count][2], as in the asset; NULL: not known. They separate vertices at one place
    int count;
    float tolerance;       // metres, between an imported vertex and its own; 0 or less: 1e-4
    jnAllocator allocator; // used once, and released
} jnImportedVertices;

/// The asset's file vertex of each imported vertex, by position: the nearest within the tolerance, and of several at one
/// place that with the nearest texture coordinates. vertices: [count], -1 where there is none. *found: how many there
/// are. For morph targets and positions in an importer's order. Fails without a surface, or where memory is short.
JN_API jnResult jnAsset_MatchVertices(
    const jnAsset* asset, const jnImportedVertices* imported, int32_t* vertices, int* found, jnError* error);

#ifdef __cplusplus
}
#endif
