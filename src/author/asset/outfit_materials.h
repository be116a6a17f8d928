// Materials and textures of the files that clothes came from, taken over into the document that is exported.
#pragma once

#include "asset/morph_document.h"

/// Reads a file with clothes. def: as it was imported. A file that is not glTF has no document: its parts keep their
/// colours alone.
jnResult jnaReadOutfitFile(const char* path, const jnaImportDef* def, jnaOutfitFile* file, jnError* error);
void jnaDestroyOutfitFile(jnaOutfitFile* file);

/// The material of a part in the document, added where it is new: that of the file it came from, or one of its colour.
json_int_t jnaAddPartMaterial(const jnaMorphDocumentDef* def, const jnAssetPart* part, jnaMorphDocument* document);
