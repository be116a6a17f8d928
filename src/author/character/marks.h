// Roles of single vertices: by connected shell, by joints, by a painted mask.
#pragma once

#include "character/character.h"

/// Which vertices, and what they are. A vertex must fit all that is given.
typedef struct jnaMarkSetting {
    const char* place;  // for messages: "parts[2]"
    const char* name;   // of a mesh or a material; NULL: all
    int shell;          // as jnaNumberShells counts; 0: all
    const char* joints; // names with commas between them, "Head*": with all joints below; NULL: all
    const char* mask;   // attribute, with a component where it has several: "_CLOTH", "COLOR_0.r"; NULL: all
    double above;       // least weight on the joints, least value of the mask
    jnaMeshRole role;
} jnaMarkSetting;

/// Sets the marks of a character; the last setting that fits a vertex counts. A name that nothing has, and a setting
/// that no vertex of the flesh fits, is refused with the nearest names.
jnResult jnaCharacter_Mark(jnaCharacter* character, const jnaMarkSetting* settings, int count, jnError* error);

/// Vertices that are marked with a role.
int jnaCharacter_CountMarks(const jnaCharacter* character, jnaMeshRole role);
