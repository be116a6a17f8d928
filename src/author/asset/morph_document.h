// A glTF document that the morph targets of an asset are added to: that of the character's own file, or one made from
// the asset.
#pragma once

#include "asset/glb_buffer.h"
#include "asset/morph_shapes.h"
#include "character/gltf_source.h"

/// One primitive of the document whose vertices are vertices of the asset.
typedef struct jnaMorphPart {
    int mesh, primitive;
    int count;
    int32_t* vertices; // [count], file vertices; owned
    jnaAffine toMesh;  // rest surface in metres to the mesh's own space
    bool shared;       // stands at several places: it cannot have targets of its own
} jnaMorphPart;

typedef struct jnaMorphDocument {
    json_t* root;
    jnaGlbBuffer buffer;
    int partCount;
    jnaMorphPart* parts;
    int clipCount;
    int* animations; // [clipCount], the document's animation of each of the asset's clips
    double* starts;  // [clipCount], seconds of its first frame there
} jnaMorphDocument;
void jnaDestroyMorphDocument(jnaMorphDocument* document);

/// A file with clothes, whose materials the document takes over.
typedef struct jnaOutfitFile {
    jnaGltfSource source; // its document alone; empty where it is not glTF
    json_t *root, *taken; // of it: read, and what is in the document already
    int vertexCount;      // file vertices of the asset that are its
} jnaOutfitFile;

/// How a document is made.
typedef struct jnaMorphDocumentDef {
    const jnAsset* asset;
    const jnaMorphShapes* shapes;
    const jnaGltfSource* source;   // NULL: made from the asset
    const char* const* animations; // [clipCount], name of the source's animation of each clip; NULL: not of the source
    int influences;                // joints a vertex at most; 0: all
    bool seamless;                 // looping clips end with their first frame again
    jnaOutfitFile* outfits;        // [outfitCount], in the order of their vertices, behind the character's own
    int outfitCount;
} jnaMorphDocumentDef;
jnResult jnaCreateMorphDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* document, jnError* error);

// morph_document_asset.c
jnResult jnaMakeAssetDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* document, jnError* error);
/// Adds joints and weights of a part's vertices to its attributes. slots: [jointCount], what each joint is called by;
/// NULL: its number.
struct jnaGlbPart;
jnResult jnaAddInfluences(const jnaMorphDocumentDef* def, const struct jnaGlbPart* part, const int* slots,
    jnaGlbBuffer* buffer, json_t* attributes, jnError* error);
// morph_document_outfit.c
/// Whether an asset has the vertices of its source, and whole parts from other files behind them.
bool jnaSourceFits(const jnaGltfSource* source, const jnAsset* asset);
/// Adds the parts of the asset that the source's document does not have. nodes: [jointCount], node of each joint; -1:
/// none.
jnResult jnaAddOutfitParts(
    const jnaMorphDocumentDef* def, const int* nodes, jnaMorphDocument* document, jnError* error);
// morph_document_source.c
jnResult jnaTakeSourceDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* document, jnError* error);
// morph_document_clip.c
/// Adds an animation of a clip's joints. nodes: [jointCount], node of each joint; -1: none. source: of the joints'
/// units; NULL: those of the asset.
jnResult jnaAddClipAnimation(
    jnaMorphDocument* document, const jnaMorphDocumentDef* def, int clip, const int* nodes, jnError* error);

/// An array of the document by its name, made where it is missing.
json_t* jnaGltfList(json_t* object, const char* name);
