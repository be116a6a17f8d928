// Joint names of common conventions, brought to one form.
//
// The side is "left" or "right" anywhere, a lone l or r between separators, an l or r before a capital, or a capital L
// or R at the end. The word is what remains in small letters without namespaces, prefixes of exporters and separators.
// Whether a name is of hair, a prop or a finger is decided by whole words: "elbow" has a bow in it, "forearm" an ear.
#include "character/joint_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

// Cut off the front of the joined word, and off the front where they stand apart.
static const char* const prefixes[] = {
    "mixamorig", "valvebiped", "jbipc", "jbip", "bip001", "bip01", "bip", "def", "org", "ccbase", "character1"};
static const char* const firstWords[] = {"b", "bn", "jnt", "rig", "skel", "armature", "bone"};
static const char* const lastWords[] = {"jnt", "jt", "joint", "bone", "skin"};

static const char* const detailWords[] = {"finger", "fingers", "thumb", "index", "middle", "mid", "ring", "pinky",
    "pinkie", "little", "metacarpal", "carpal", "digit", "palm", "toe", "toes", "twist", "roll", "helper", "end", "nub",
    "top", "site", "eye", "eyes", "eyelid", "jaw", "ear", "ears", "lip", "lips", "brow", "eyebrow", "tongue", "teeth",
    "tooth", "cheek", "nose", "chin", "breast", "boob", "pec", "butt", "buttock"};
static const char* const foreignWords[] = {"hair", "ponytail", "pony", "braid", "bangs", "fringe", "prop", "weapon",
    "sword", "bow", "bowstring", "arrow", "quiver", "gun", "rifle", "shield", "staff", "bag", "pouch", "belt", "cloth",
    "pants", "skirt", "coat", "cape", "cloak", "scarf", "hat", "helmet", "hood", "tie", "ribbon", "ik", "pole",
    "target", "control", "ctrl", "camera"};
// Found inside a word as well: nothing else is spelled so.
static const char* const detailParts[] = {"thumb", "finger", "pinky", "twist", "eyelid", "metacarpal"};
static const char* const foreignParts[] = {"ponytail", "weapon", "bowstring"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

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
static void TakeLocal(const char* name, char text[JNA_NAME_LENGTH])
{
    const char *colon = strrchr(name, ':'), *bar = strrchr(name, '|');
    const char* start = colon != NULL ? colon + 1 : name;
    start = bar != NULL && bar + 1 > start ? bar + 1 : start;
    size_t length = 0;
    while (*start != '\0' && length + 1 < JNA_NAME_LENGTH) {
        bool spelled = strncmp(start, "FBXASC", 6) == 0 && isdigit((unsigned char)start[6]) &&
                       isdigit((unsigned char)start[7]) && isdigit((unsigned char)start[8]);
        text[length++] = spelled ? '.' : *start;
        start += spelled ? 9 : 1;
    }
    text[length] = '\0';
}

// A lone l or r, one glued before a capital (LThumb, lShldr), or a capital at the end (ThighR): its place, or NULL.
static char* FindLetter(char* name)
{
    for (char* c = name; *c != '\0'; ++c) {
        bool starts = c == name || IsSeparator(c[-1]);
        if (IsSideLetter(*c) && starts && IsSeparator(c[1])) {
            return c;
        }
        if (IsSideLetter(*c) && c == name && isupper((unsigned char)c[1])) {
            return c;
        }
        if ((*c == 'L' || *c == 'R') && c[1] == '\0' && !starts && islower((unsigned char)c[-1])) {
            return c;
        }
    }
    return NULL;
}

// Blanks "left" or "right" in the text where it has one; the side.
static int TakeSideWord(char* text)
{
    for (char* c = text; *c != '\0'; ++c) {
        int side = strncasecmp(c, "left", 4) == 0    ? JNA_LEFT
                   : strncasecmp(c, "right", 5) == 0 ? JNA_RIGHT
                                                     : JNA_NO_SIDE;
        if (side != JNA_NO_SIDE) {
            memset(c, '_', side == JNA_LEFT ? 4 : 5);
            return side;
        }
    }
    return JNA_NO_SIDE;
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
static int Cut(const char* text, char pieces[MAX_PIECES][JNA_NAME_LENGTH])
{
    int count = 0;
    for (const char* c = text; *c != '\0' && count < MAX_PIECES;) {
        size_t length = 0;
        for (; !IsSeparator(*c); ++c) {
            pieces[count][length++] = (char)tolower((unsigned char)*c);
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

static void Join(char pieces[MAX_PIECES][JNA_NAME_LENGTH], int first, int end, char word[JNA_NAME_LENGTH])
{
    size_t length = 0;
    for (int p = first; p < end; ++p) {
        length += (size_t)snprintf(word + length, JNA_NAME_LENGTH - length, "%s", pieces[p]);
    }
    word[length] = '\0';
    CutPrefix(word);
}

void jnaSplitJointName(const char* name, jnaJointName* split)
{
    char text[JNA_NAME_LENGTH], pieces[MAX_PIECES][JNA_NAME_LENGTH];
    *split = (jnaJointName){0};
    TakeLocal(name, text);
    split->side = TakeSideWord(text);
    char* letter = split->side == JNA_NO_SIDE ? FindLetter(text) : NULL;
    if (letter != NULL) {
        split->side = tolower((unsigned char)*letter) == 'r' ? JNA_RIGHT : JNA_LEFT;
        *letter = '_';
    }
    int count = Cut(text, pieces), first = 0;
    first += count > 1 && IsIn(pieces[0], firstWords, COUNT(firstWords)) && !IsNumber(pieces[1]);
    int end = count - (count - first > 1 && IsIn(pieces[count - 1], lastWords, COUNT(lastWords)) ? 1 : 0);
    Join(pieces, first, end, split->word);
    Join(pieces, first, end - (end - first > 1 && IsNumber(pieces[end - 1]) ? 1 : 0), split->base);
}

// The next word of a name: letters up to a separator, a digit or a capital. False at the end.
static bool NextWord(const char** at, char word[JNA_NAME_LENGTH])
{
    const char* c = *at;
    while (*c != '\0' && !isalpha((unsigned char)*c)) {
        ++c;
    }
    size_t length = 0;
    for (; isalpha((unsigned char)*c); ++c) {
        bool capital =
            length > 0 && isupper((unsigned char)*c) && (islower((unsigned char)c[-1]) || islower((unsigned char)c[1]));
        if (capital) {
            break;
        }
        word[length++] = (char)tolower((unsigned char)*c);
    }
    word[length] = '\0';
    *at = c;
    return length > 0;
}

static bool HasPart(const char* word, const char* const* parts, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strstr(word, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

jnaNameKind jnaJointName_Kind(const char* name)
{
    char text[JNA_NAME_LENGTH], word[JNA_NAME_LENGTH];
    jnaNameKind kind = jna_nameAny;
    TakeLocal(name, text);
    (void)TakeSideWord(text);
    for (const char* at = text; NextWord(&at, word);) {
        if (IsIn(word, foreignWords, COUNT(foreignWords)) || HasPart(word, foreignParts, COUNT(foreignParts))) {
            return jna_nameForeign;
        }
        if (IsIn(word, detailWords, COUNT(detailWords)) || HasPart(word, detailParts, COUNT(detailParts))) {
            kind = jna_nameDetail;
        }
    }
    return kind;
}

bool jnaSameJointName(const char* a, const char* b)
{
    jnaJointName first, second;
    jnaSplitJointName(a, &first);
    jnaSplitJointName(b, &second);
    return first.side == second.side && first.word[0] != '\0' && strcmp(first.word, second.word) == 0;
}

int jnaWordDistance(const char* a, const char* b)
{
    // The table of edit distances, row by row; longer words are cut.
    int row[JNA_NAME_LENGTH + 1];
    int width = (int)strnlen(b, JNA_NAME_LENGTH), height = (int)strnlen(a, JNA_NAME_LENGTH);
    for (int k = 0; k <= width; ++k) {
        row[k] = k;
    }
    for (int i = 1; i <= height; ++i) {
        int corner = row[0];
        row[0] = i;
        for (int k = 1; k <= width; ++k) {
            int above = row[k], change = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]);
            int least = row[k - 1] < above ? row[k - 1] + 1 : above + 1;
            row[k] = corner + change < least ? corner + change : least;
            corner = above;
        }
    }
    return row[width];
}

// How far a joint's name is from what was asked for: the bare names count too, as prefixes are what people leave out.
static int NameDistance(const char* asked, const char* name)
{
    jnaJointName a, b;
    jnaSplitJointName(asked, &a);
    jnaSplitJointName(name, &b);
    int whole = jnaWordDistance(asked, name), bare = jnaWordDistance(a.word, b.word) + 2 * (a.side != b.side);
    return whole < bare ? whole : bare;
}

void jnaNearestJoints(const jnaCharacter* character, const char* name, char* text, size_t size)
{
    enum { SHOWN = 3 };
    int best[SHOWN], distances[SHOWN], count = 0;
    for (int j = 0; j < character->jointCount; ++j) {
        int distance = NameDistance(name, character->joints[j].name), at = count;
        while (at > 0 && distances[at - 1] > distance) {
            --at;
        }
        if (at == SHOWN) {
            continue;
        }
        count += count < SHOWN;
        for (int k = count - 1; k > at; --k) {
            best[k] = best[k - 1];
            distances[k] = distances[k - 1];
        }
        best[at] = j;
        distances[at] = distance;
    }
    size_t length = 0;
    text[0] = '\0';
    for (int k = 0; k < count && length + JNA_NAME_LENGTH + 5 < size; ++k) {
        length += (size_t)snprintf(
            text + length, size - length, "%s'%s'", k > 0 ? ", " : "", character->joints[best[k]].name);
    }
}
