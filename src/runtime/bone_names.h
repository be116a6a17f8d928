// What the name of a bone says, whichever tool gave it: the same for characters that are made and for those that play.
#pragma once

#include "jounce/asset.h"

enum { JN_NO_SIDE = -1, JN_LEFT_SIDE = 0, JN_RIGHT_SIDE = 1 };

// A name without the prefixes of exporters, separators and its side: "mixamorig:LeftArm" is arm, on the left.
typedef struct jnBoneName {
    int side;
    char word[JN_NAME_LENGTH];  // small letters and digits; "spine_01" is "spine01"
    char base[JN_NAME_LENGTH];  // the same without a last number that stands apart: "spine"
    char whole[JN_NAME_LENGTH]; // as word, with what is left out at its end: "hipjoint", where word is "hip"
} jnBoneName;
void jnSplitBoneName(const char* name, jnBoneName* split);

// Parts of a human skeleton. Those with one joint on each side: the left one, and right = left + 1.
typedef enum jnBonePart {
    jn_partNone = -1,
    jn_partClavicle = 0,
    jn_partUpperArm = 2,
    jn_partForeArm = 4,
    jn_partHand = 6,
    jn_partThigh = 8,
    jn_partShin = 10,
    jn_partFoot = 12,
    jn_partToe = 14,
    jn_partHips = 100,
    jn_partHead,
    jn_partSpine,
    jn_partNeck,
} jnBonePart;

// The words for them, in order of preference where a skeleton has several candidates for a part.
typedef struct jnBoneWord {
    const char* word;
    bool sided;
    jnBonePart part;
} jnBoneWord;
enum { JN_BONE_WORDS = 77 };
extern const jnBoneWord jnBoneWords[JN_BONE_WORDS];
// The row of a word; -1: none.
int jnFindBoneWord(const char* word, bool sided);

// Small letters; numbers of ASCII alone, whatever the locale.
static inline char jnSmall(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}
