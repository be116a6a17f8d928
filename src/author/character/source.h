// Where a character comes from: a file, or the figure that is built in.
#pragma once

#include "character/import.h"

/// In the place of a file: the built-in figure and its clips.
#define JNA_FIGURE_SOURCE "built-in:figure"

/// Whether a source is the built-in figure rather than a file.
bool jnaIsFigure(const char* source);

/// The character and its own clips, from a file or the built-in figure; as jnaImportCharacter.
jnResult jnaOpenSource(const char* path, const jnaImportDef* def, jnaCharacter* character, jnaClipList* clips,
    double* usedScale, jnaNotes* notes, jnError* error);

/// What a character's own clip is for until somebody says otherwise: the figure's clips know, of a file's the first is
/// learned from.
jnaRole jnaSourceRole(const char* source, int index);

/// Whether a new workspace leaves out a character's own clip unless it is asked for by name.
bool jnaSource_KeepsBack(const char* source, int index);
