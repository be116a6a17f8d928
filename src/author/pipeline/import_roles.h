// Roles of a character's parts, from the command line to the manifest and from the manifest to the character.
#pragma once

#include "pipeline/stage_import.h"

/// Fills the parts of a new manifest. A name may have a prefix: "shell:12", "joints:Head,Neck", "mask:COLOR_0.r" or
/// "mask:COLOR_0.r>0.3", "name:mask:x" for what is called so.
jnResult jnaTakeParts(const jnaWorkspaceDef* def, jnaManifest* manifest, jnError* error);

/// Whether a part of the manifest is about single vertices, not about whole meshes.
bool jnaPartMarks(const jnaManifestPart* part);

/// Refuses names that no part has, then gives the vertices their marks. found: [partCount], of names.
jnResult jnaSetMarks(const jnaManifest* manifest, const bool* found, jnaCharacter* character, jnError* error);

/// One line a role where there is more than flesh.
void jnaNoteParts(const jnaCharacter* character, jnaNotes* notes);
