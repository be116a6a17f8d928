// Points of the meshes in FBX and Collada files as the program that wrote them numbers them.
//
// Assimp gives one vertex for every corner of a face; the file itself still has the points that an artist sees, and
// that caches are written in.
#pragma once

#include "base/notes.h"
#include "character/import_internal.h"

/// The points of one mesh of the file, in file units, not transformed.
typedef struct jnaSourceMesh {
    int count;
    float* points; // [count][3], finite
} jnaSourceMesh;

typedef struct jnaSourceMeshes {
    int count, capacity;
    jnaSourceMesh* meshes;
} jnaSourceMeshes;
void jnaDestroySourceMeshes(jnaSourceMeshes* list);

/// Takes points over, which must come from malloc; those that are not finite are dropped. False where memory is short.
bool jnaSourceMeshes_Add(jnaSourceMeshes* list, float* points, size_t count);

/// Reads the points of every mesh: FBX 7 binary and ASCII, Collada. A file that cannot be understood gives none.
jnResult jnaReadFbxPoints(const char* path, jnaSourceMeshes* list, jnError* error);
jnResult jnaReadColladaPoints(const char* path, jnaSourceMeshes* list, jnError* error);

/// Weights at rest of the channels of an FBX file's morph targets, by name. Assimp does not tell them.
typedef struct jnaFbxWeight {
    char name[JNA_NAME_LENGTH]; // cut where it is too long
    float weight;               // finite
} jnaFbxWeight;
typedef struct jnaFbxWeights {
    int count, capacity;
    jnaFbxWeight* list; // owned; release with free
} jnaFbxWeights;
jnResult jnaReadFbxWeights(const char* path, jnaFbxWeights* weights, jnError* error);

enum { JNA_MAX_ATTRIBUTE = 256 };

/// The value of an attribute inside one tag of XML, [tag, end), in `size` bytes. False where it is not there or does
/// not fit.
bool jnaTakeAttribute(const char* tag, const char* end, const char* name, char* value, size_t size);

/// A Collada file without its morph targets and their animation, for a reader that fails at them; NULL where it has
/// none or memory is short. Owned by the caller, terminated; *size without the end.
char* jnaTakeColladaMorphs(const char* path, size_t* size);

/// Fills sourcePoints of a character that has its surface, where the file is FBX or Collada and its points are found.
jnResult jnaFindSourcePoints(
    const char* path, const jnaPlacement* placement, jnaCharacter* character, jnaNotes* notes, jnError* error);
