// What the name of a joint says, whichever tool gave it.
#pragma once

#include "character/character.h"

/// Which side of the body a name is of.
enum { JNA_NO_SIDE = -1, JNA_LEFT = 0, JNA_RIGHT = 1 };

/// A name without the prefixes of exporters, separators and its side: "mixamorig:LeftArm" is arm, on the left.
typedef struct jnaJointName {
    int side;
    char word[JNA_NAME_LENGTH]; // small letters and digits; "spine_01" is "spine01"
    char base[JNA_NAME_LENGTH]; // the same without a last number that stands apart: "spine"
} jnaJointName;

void jnaSplitJointName(const char* name, jnaJointName* split);

/// What a joint cannot be, by its name.
typedef enum jnaNameKind {
    jna_nameAny,     // nothing is known
    jna_nameDetail,  // a finger, a toe, a part of the face, a twist or helper joint: no shoulder, wrist or head
    jna_nameForeign, // hair, a prop, a garment, a control: no part of the body at all
} jnaNameKind;
jnaNameKind jnaJointName_Kind(const char* name);

/// Whether two joints have the same name but for the prefix, letter case and separators.
bool jnaSameJointName(const char* a, const char* b);

/// The names of joints that are nearest to a word, for a message: "'Spine1', 'Spine2'".
void jnaNearestJoints(const jnaCharacter* character, const char* name, char* text, size_t size);

/// How many letters must be changed, added or removed to turn one word into the other, without letter case.
int jnaWordDistance(const char* a, const char* b);
