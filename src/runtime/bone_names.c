// Bone names of common conventions, brought to one form.
//
// The side is "left" or "right" anywhere, a lone l or r between separators, an l or r before a capital, or a capital L
// or R at the end. The word is what remains in small letters without namespaces, prefixes of exporters and separators.
#include "bone_names.h"

#include <stdio.h>
#include <string.h>

// Cut off the front of the joined word, and off the front where they stand apart.
static const char* const prefixes[] = {
    "mixamorig", "valvebiped", "jbipc", "jbip", "bip001", "bip01", "bip", "def", "org", "ccbase", "character1"};
static const char* const firstWords[] = {"b", "bn", "jnt", "rig", "skel", "armature", "bone"};
static const char* const lastWords[] = {"jnt", "jt", "joint", "bone", "skin"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const jnBoneWord jnBoneWords[JN_BONE_WORDS] = {
    {"hips", false, jn_partHips},
    {"pelvis", false, jn_partHips},
    {"hip", false, jn_partHips},
    {"root", false, jn_partHips},
    {"head", false, jn_partHead},
    {"head01", false, jn_partHead},
    {"lowerback", false, jn_partSpine},
    {"spine", false, jn_partSpine},
    {"spine1", false, jn_partSpine},
    {"spine2", false, jn_partSpine},
    {"spine3", false, jn_partSpine},
    {"spine4", false, jn_partSpine},
    {"spine01", false, jn_partSpine},
    {"spine02", false, jn_partSpine},
    {"spine03", false, jn_partSpine},
    {"spine04", false, jn_partSpine},
    {"spine05", false, jn_partSpine},
    {"abdomen", false, jn_partSpine},
    {"ab", false, jn_partSpine},
    {"abdomen2", false, jn_partSpine},
    {"chest", false, jn_partSpine},
    {"chest2", false, jn_partSpine},
    {"upperchest", false, jn_partSpine},
    {"chestlower", false, jn_partSpine},
    {"chestupper", false, jn_partSpine},
    {"abdomenlower", false, jn_partSpine},
    {"abdomenupper", false, jn_partSpine},
    {"torso", false, jn_partSpine},
    {"waist", false, jn_partSpine},
    {"neck", false, jn_partNeck},
    {"neck1", false, jn_partNeck},
    {"neck2", false, jn_partNeck},
    {"neck01", false, jn_partNeck},
    {"neck02", false, jn_partNeck},
    {"neck03", false, jn_partNeck},
    {"necklower", false, jn_partNeck},
    {"neckupper", false, jn_partNeck},
    {"necktwist01", false, jn_partNeck},
    {"necktwist02", false, jn_partNeck},
    {"clavicle", true, jn_partClavicle},
    {"collar", true, jn_partClavicle},
    {"shoulder", true, jn_partClavicle},
    {"upperarm", true, jn_partUpperArm},
    {"arm", true, jn_partUpperArm},
    {"uparm", true, jn_partUpperArm},
    {"upperarm01", true, jn_partUpperArm},
    {"shldr", true, jn_partUpperArm},
    {"shldrbend", true, jn_partUpperArm},
    {"forearm", true, jn_partForeArm},
    {"lowerarm", true, jn_partForeArm},
    {"lowerarm01", true, jn_partForeArm},
    {"elbow", true, jn_partForeArm},
    {"lowarm", true, jn_partForeArm},
    {"forearmbend", true, jn_partForeArm},
    {"hand", true, jn_partHand},
    {"wrist", true, jn_partHand},
    {"upleg", true, jn_partThigh},
    {"upperleg", true, jn_partThigh},
    {"thigh", true, jn_partThigh},
    {"upperleg01", true, jn_partThigh},
    {"thighbend", true, jn_partThigh},
    {"hip", true, jn_partThigh},
    {"shin", true, jn_partShin},
    {"lowerleg", true, jn_partShin},
    {"calf", true, jn_partShin},
    {"lowerleg01", true, jn_partShin},
    {"knee", true, jn_partShin},
    {"leg", true, jn_partShin},
    {"lowleg", true, jn_partShin},
    {"foot", true, jn_partFoot},
    {"ankle", true, jn_partFoot},
    {"toebase", true, jn_partToe},
    {"toes", true, jn_partToe},
    {"toe", true, jn_partToe},
    {"ball", true, jn_partToe},
    {"toe0", true, jn_partToe},
    {"toe11", true, jn_partToe},
};

int jnFindBoneWord(const char* word, bool sided)
{
    for (int row = 0; row < JN_BONE_WORDS; ++row) {
        if (jnBoneWords[row].sided == sided && strcmp(jnBoneWords[row].word, word) == 0) {
            return row;
        }
    }
    return -1;
}

static bool IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

static bool IsCapital(char c)
{
    return c >= 'A' && c <= 'Z';
}

// Whether a text begins with a word of small letters, in letters of any case.
static bool Begins(const char* text, const char* word)
{
    while (*word != '\0' && jnSmall(*text) == *word) {
        ++text;
        ++word;
    }
    return *word == '\0';
}

static bool IsIn(const char* word, const char* const* list, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(word, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool IsSeparator(char c)
{
    return c == '\0' || strchr("_.- :|", c) != NULL;
}

static bool IsSideLetter(char c)
{
    return c == 'l' || c == 'r' || c == 'L' || c == 'R';
}

// The name behind its namespaces, with separators that the FBX exporter of Maya spelled out ("FBXASC046" is a dot).
static void TakeLocal(const char* name, char text[JN_NAME_LENGTH])
{
    const char *colon = strrchr(name, ':'), *bar = strrchr(name, '|');
    const char* start = colon != NULL ? colon + 1 : name;
    start = bar != NULL && bar + 1 > start ? bar + 1 : start;
    size_t length = 0;
    while (*start != '\0' && length + 1 < JN_NAME_LENGTH) {
        bool spelled = strncmp(start, "FBXASC", 6) == 0 && IsDigit(start[6]) && IsDigit(start[7]) && IsDigit(start[8]);
        text[length++] = spelled ? '.' : *start;
        start += spelled ? 9 : 1;
    }
    text[length] = '\0';
}

// A lone l or r, one glued before a capital (LThumb, lShldr, rig_LHip), or a capital at the end (ThighR): its place, or
// NULL.
static char* FindLetter(char* name)
{
    for (char* c = name; *c != '\0'; ++c) {
        bool starts = c == name || IsSeparator(c[-1]);
        if (IsSideLetter(*c) && starts && IsSeparator(c[1])) {
            return c;
        }
        bool small = c == name && (*c == 'l' || *c == 'r'); // "LOWER" is a word
        bool word = IsCapital(c[1]) && (small || (c[2] >= 'a' && c[2] <= 'z'));
        if (IsSideLetter(*c) && starts && word) {
            return c;
        }
        if ((*c == 'L' || *c == 'R') && c[1] == '\0' && !starts && (c[-1] >= 'a' && c[-1] <= 'z')) {
            return c;
        }
    }
    return NULL;
}

// Blanks "left" or "right" in the text where it has one; the side.
static int TakeSideWord(char* text)
{
    for (char* c = text; *c != '\0'; ++c) {
        int side = Begins(c, "left") ? JN_LEFT_SIDE : Begins(c, "right") ? JN_RIGHT_SIDE : JN_NO_SIDE;
        if (side != JN_NO_SIDE) {
            memset(c, '_', side == JN_LEFT_SIDE ? 4 : 5);
            return side;
        }
    }
    return JN_NO_SIDE;
}

// Cuts a prefix off the joined word; what is left is never empty.
static void CutPrefix(char* word)
{
    for (bool cut = true; cut;) {
        cut = false;
        for (size_t i = 0; i < COUNT(prefixes) && !cut; ++i) {
            size_t size = strlen(prefixes[i]);
            if (strncmp(word, prefixes[i], size) == 0 && word[size] != '\0') {
                memmove(word, word + size, strlen(word + size) + 1);
                cut = true;
            }
        }
    }
}

// The pieces between separators, in small letters. Returns how many.
enum { MAX_PIECES = 12 };
static int Cut(const char* text, char pieces[MAX_PIECES][JN_NAME_LENGTH])
{
    int count = 0;
    for (const char* c = text; *c != '\0' && count < MAX_PIECES;) {
        size_t length = 0;
        for (; !IsSeparator(*c); ++c) {
            pieces[count][length++] = jnSmall(*c);
        }
        pieces[count][length] = '\0';
        count += length > 0;
        c += *c != '\0';
    }
    return count;
}

static bool IsNumber(const char* word)
{
    return word[strspn(word, "0123456789")] == '\0';
}

static void Join(char pieces[MAX_PIECES][JN_NAME_LENGTH], int first, int end, char word[JN_NAME_LENGTH])
{
    size_t length = 0;
    for (int p = first; p < end; ++p) {
        length += (size_t)snprintf(word + length, JN_NAME_LENGTH - length, "%s", pieces[p]);
    }
    word[length] = '\0';
    CutPrefix(word);
}

void jnSplitBoneName(const char* name, jnBoneName* split)
{
    char text[JN_NAME_LENGTH], pieces[MAX_PIECES][JN_NAME_LENGTH];
    *split = (jnBoneName){0};
    TakeLocal(name, text);
    split->side = TakeSideWord(text);
    char* letter = split->side == JN_NO_SIDE ? FindLetter(text) : NULL;
    if (letter != NULL) {
        split->side = jnSmall(*letter) == 'r' ? JN_RIGHT_SIDE : JN_LEFT_SIDE;
        *letter = '_';
    }
    int count = Cut(text, pieces), first = 0;
    first += count > 1 && IsIn(pieces[0], firstWords, COUNT(firstWords)) && !IsNumber(pieces[1]);
    Join(pieces, first, count, split->whole);
    int end = count - (count - first > 1 && IsIn(pieces[count - 1], lastWords, COUNT(lastWords)) ? 1 : 0);
    Join(pieces, first, end, split->word);
    Join(pieces, first, end - (end - first > 1 && IsNumber(pieces[end - 1]) ? 1 : 0), split->base);
}
