// Displacement of the whole skin from that of the flesh under it.
//
// Tetrahedra move the skin where they resolve it. What is too fine for them (nipples, ears, fingers), lies across a gap
// (lips, armpits) or is no flesh at all (buckles, pouches, hems) follows the skin that it grows or lies on: its
// displacement in the rest pose is the smoothest one that meets the known displacement around it, and it fades to none
// over a few spacings where it reaches far from flesh.
#pragma once

#include "character/character.h"
#include "volume/volume.h"

typedef struct jnaSkinExtension jnaSkinExtension;

/// Neither argument is needed afterwards.
jnResult jnaCreateSkinExtension(
    const jnaCharacter* character, const jnaVolume* volume, jnaSkinExtension** extension, jnError* error);
void jnaDestroySkinExtension(jnaSkinExtension* extension);

/// Numbers of scratch that jnaSkinExtension_Apply needs.
size_t jnaSkinExtension_ScratchCount(const jnaSkinExtension* extension);

/// displacements: [vertexCount][3], rest pose. In: of the flesh where vertices have a tetrahedron, whatever elsewhere;
/// out: of the skin. Many may call it at once, each with its own scratch.
void jnaSkinExtension_Apply(const jnaSkinExtension* extension, double* displacements, double* scratch);
