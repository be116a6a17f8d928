// The glTF file that a character came from, so that something can be added to it: the document with all its buffers,
// and where the character's vertices, joints and clips are in it.
#pragma once

#include "base/affine.h"
#include "character/import.h"

/// A run of file vertices that is one primitive of the document.
typedef struct jnaGltfPart {
    int primitive; // counted over all meshes of the document
    int firstVertex, vertexCount;
    jnaAffine toMesh; // rest surface in metres to the mesh's own space
    bool shared;      // the primitive stands at several places, of which this is one
} jnaGltfPart;

/// A joint of the character in the document.
typedef struct jnaGltfJoint {
    char name[128]; // of the node; "" for a twin, which moves with its parent
    bool isRoot;
    double unit;     // metres per unit of the node's translation
    jnaAffine above; // of a root: the nodes above it, in metres
} jnaGltfJoint;

/// An animation of the document that is a clip.
typedef struct jnaGltfAnimation {
    char name[JNA_NAME_LENGTH]; // of the clip that is made of it
    int index;                  // in the document
    double first;               // seconds of its first key, where that clip begins
} jnaGltfAnimation;

typedef struct jnaGltfSource {
    char* text; // the JSON, buffers joined to one without a name; owned
    size_t textSize;
    unsigned char* binary; // that buffer; owned
    size_t binarySize;
    double metresPerUnit;
    int fileVertexCount;
    int partCount;
    jnaGltfPart* parts;
    int jointCount;
    jnaGltfJoint* joints;
    int animationCount;
    jnaGltfAnimation* animations;
} jnaGltfSource;

/// Whether a file is glTF by its ending.
bool jnaIsGltf(const char* path);

/// Reads the file again, in a confined child process. def: as it was imported, with the scale that was taken. Images
/// beside the file are put inside.
jnResult jnaReadGltfSource(const char* path, const jnaImportDef* def, jnaGltfSource* source, jnError* error);
/// The document alone, with the images beside it put inside; the places of a character in it are not looked for.
jnResult jnaReadGltfDocument(const char* path, jnaGltfSource* source, jnError* error);
void jnaDestroyGltfSource(jnaGltfSource* source);

/// What a joint's local transform is for its node: the opposite of what the import does. In place.
void jnaGltfJoint_ToNode(const jnaGltfJoint* joint, double translation[3], double rotation[4]);
