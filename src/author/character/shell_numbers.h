// The connected parts of a character's surface, numbered so that a person can name one.
#pragma once

#include "character/character.h"

/// Shells are numbered from 1, the one with the most triangles first; of equals the one whose vertex comes first.
typedef struct jnaShellNumbers {
    int count;
    int32_t* shellOf; // [vertexCount], 1 to count; 0: of no triangle
} jnaShellNumbers;

/// One shell, for a table.
typedef struct jnaShellLine {
    int triangleCount;
    double middle[3], size; // of its box, and the box's diagonal; metres
    int joint;              // that has the most of its weight
    int part;               // of its first triangle
} jnaShellLine;

/// Vertices that share an edge or a place are of one shell.
jnResult jnaNumberShells(const jnaCharacter* character, jnaShellNumbers* shells, jnError* error);
void jnaDestroyShellNumbers(jnaShellNumbers* shells);

/// lines: [shells->count].
jnResult jnaDescribeShells(
    const jnaCharacter* character, const jnaShellNumbers* shells, jnaShellLine* lines, jnError* error);
