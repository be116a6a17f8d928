// Joint names of common conventions. How they are brought to one form is in the runtime (bone_names.c), which matches
// bones by it. Whether a name is of hair, a prop or a finger is decided by whole words: "elbow" has a bow in it,
// "forearm" an ear.
#include "character/joint_names.h"

#include "runtime/for_author.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

void jnaSplitJointName(const char* name, jnaJointName* split)
{
    jnBoneName bone;
    jnSplitBoneName(name, &bone);
    *split = (jnaJointName){.side = bone.side};
    memcpy(split->word, bone.word, sizeof(split->word));
    memcpy(split->base, bone.base, sizeof(split->base));
}

// The name behind its namespaces and without the word for its side.
static void TakeBare(const char* name, char text[JNA_NAME_LENGTH])
{
    const char *colon = strrchr(name, ':'), *bar = strrchr(name, '|');
    const char* start = colon != NULL ? colon + 1 : name;
    start = bar != NULL && bar + 1 > start ? bar + 1 : start;
    snprintf(text, JNA_NAME_LENGTH, "%s", start);
    for (char* c = text; *c != '\0'; ++c) {
        size_t size = strncasecmp(c, "left", 4) == 0 ? 4 : strncasecmp(c, "right", 5) == 0 ? 5 : 0;
        if (size > 0) {
            memset(c, '_', size);
            break;
        }
    }
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
    TakeBare(name, text);
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
