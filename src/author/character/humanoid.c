// Joint names of common conventions, brought to one form: side and word.
//
// The side is "left" or "right" anywhere, a lone l or r between separators, or a capital or small L or R
// before a capital. The word is what remains in small letters without prefixes of exporters, namespaces and
// separators.
#include "character/humanoid.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NO_SIDE = -1, HIPS = 100, HEAD, SPINE, NECK };

// In order of preference where a skeleton has several candidates for a part.
static const struct {
    const char* word;
    bool sided;
    int part;
} words[] = {
    {"hips", false, HIPS},
    {"pelvis", false, HIPS},
    {"hip", false, HIPS},
    {"root", false, HIPS},
    {"head", false, HEAD},
    {"head01", false, HEAD},
    {"lowerback", false, SPINE},
    {"spine", false, SPINE},
    {"spine1", false, SPINE},
    {"spine2", false, SPINE},
    {"spine3", false, SPINE},
    {"spine4", false, SPINE},
    {"spine01", false, SPINE},
    {"spine02", false, SPINE},
    {"spine03", false, SPINE},
    {"spine04", false, SPINE},
    {"spine05", false, SPINE},
    {"abdomen", false, SPINE},
    {"ab", false, SPINE},
    {"abdomen2", false, SPINE},
    {"chest", false, SPINE},
    {"chest2", false, SPINE},
    {"upperchest", false, SPINE},
    {"torso", false, SPINE},
    {"waist", false, SPINE},
    {"neck", false, NECK},
    {"neck1", false, NECK},
    {"neck2", false, NECK},
    {"neck01", false, NECK},
    {"neck02", false, NECK},
    {"neck03", false, NECK},
    {"clavicle", true, jna_clavicle},
    {"collar", true, jna_clavicle},
    {"shoulder", true, jna_clavicle},
    {"upperarm", true, jna_upperArm},
    {"arm", true, jna_upperArm},
    {"uparm", true, jna_upperArm},
    {"upperarm01", true, jna_upperArm},
    {"shldr", true, jna_upperArm},
    {"forearm", true, jna_foreArm},
    {"lowerarm", true, jna_foreArm},
    {"lowerarm01", true, jna_foreArm},
    {"elbow", true, jna_foreArm},
    {"lowarm", true, jna_foreArm},
    {"hand", true, jna_hand},
    {"wrist", true, jna_hand},
    {"upleg", true, jna_thigh},
    {"upperleg", true, jna_thigh},
    {"thigh", true, jna_thigh},
    {"upperleg01", true, jna_thigh},
    {"hip", true, jna_thigh},
    {"shin", true, jna_shin},
    {"lowerleg", true, jna_shin},
    {"calf", true, jna_shin},
    {"lowerleg01", true, jna_shin},
    {"knee", true, jna_shin},
    {"leg", true, jna_shin},
    {"lowleg", true, jna_shin},
    {"foot", true, jna_foot},
    {"ankle", true, jna_foot},
    {"toebase", true, jna_toe},
    {"toes", true, jna_toe},
    {"toe", true, jna_toe},
    {"ball", true, jna_toe},
    {"toe0", true, jna_toe},
    {"toe11", true, jna_toe},
};
enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

static const char* const prefixes[] = {
    "mixamorig", "jbipc", "jbip", "bip001", "bip01", "bip", "def", "org", "ccbase", "character1"};

// Cuts `what` out of the text; true if it was there.
static bool Remove(char* text, const char* what)
{
    char* at = strstr(text, what);
    if (at == NULL) {
        return false;
    }
    memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
    return true;
}

static bool IsSeparator(char c)
{
    return c == '\0' || strchr("_.- :|", c) != NULL;
}

// A lone l or r, or one glued before a capital (LThumb, lShldr): its place, or NULL.
static char* FindLetter(char* name)
{
    for (char* c = name; *c != '\0'; ++c) {
        bool letter = tolower((unsigned char)*c) == 'l' || tolower((unsigned char)*c) == 'r';
        bool starts = c == name || IsSeparator(c[-1]);
        if (letter && starts && IsSeparator(c[1])) {
            return c;
        }
        if (letter && c == name && isupper((unsigned char)c[1])) {
            return c;
        }
    }
    return NULL;
}

// The side (0 left, 1 right, NO_SIDE) and the bare word of a joint's name.
static int SplitName(const char* name, char* word)
{
    const char* colon = strrchr(name, ':');
    const char* bar = strrchr(name, '|');
    const char* start = colon != NULL ? colon + 1 : name;
    start = bar != NULL && bar + 1 > start ? bar + 1 : start;
    char text[JNA_NAME_LENGTH], small[JNA_NAME_LENGTH];
    snprintf(text, sizeof(text), "%s", start);
    for (size_t i = 0; i < sizeof(small); ++i) {
        small[i] = (char)tolower((unsigned char)text[i]);
        if (text[i] == '\0') {
            break;
        }
    }
    int side = Remove(small, "left") ? 0 : Remove(small, "right") ? 1 : NO_SIDE;
    char* letter = side == NO_SIDE ? FindLetter(text) : NULL;
    if (letter != NULL) {
        side = tolower((unsigned char)*letter) == 'r';
        small[letter - text] = '_';
    }
    size_t length = 0;
    for (const char* c = small; *c != '\0'; ++c) {
        if (!IsSeparator(*c)) {
            word[length++] = *c;
        }
    }
    word[length] = '\0';
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); ++i) {
        size_t size = strlen(prefixes[i]);
        if (strncmp(word, prefixes[i], size) == 0 && word[size] != '\0') {
            memmove(word, word + size, strlen(word + size) + 1);
            break;
        }
    }
    return side;
}

// The best candidate so far for each part; lower rank wins, then the joint nearer to the root.
typedef struct Ranks {
    int hips, head, sided[JNA_SIDED_SLOTS];
} Ranks;

static void Offer(int joint, int rank, int* best, int* bestRank)
{
    if (*best < 0 || rank < *bestRank) {
        *best = joint;
        *bestRank = rank;
    }
}

static void Sort(int joint, int rank, int side, jnaHumanoid* h, Ranks* ranks)
{
    switch (words[rank].part) {
    case HIPS:
        Offer(joint, rank, &h->hips, &ranks->hips);
        break;
    case HEAD:
        Offer(joint, rank, &h->head, &ranks->head);
        break;
    case SPINE:
        if (h->spineCount < JNA_MAX_CHAIN) {
            h->spine[h->spineCount++] = joint;
        }
        break;
    case NECK:
        if (h->neckCount < JNA_MAX_CHAIN) {
            h->neck[h->neckCount++] = joint;
        }
        break;
    default:
        Offer(joint, rank, &h->sided[words[rank].part + side], &ranks->sided[words[rank].part + side]);
        break;
    }
}

// Where an arm has no joint of its own but a collar and a shoulder, as in Biovision's files, the shoulder is
// the arm.
static void SettleShoulders(const jnaCharacter* skeleton, jnaHumanoid* h)
{
    for (int j = 0; j < skeleton->jointCount; ++j) {
        char word[JNA_NAME_LENGTH];
        int side = SplitName(skeleton->joints[j].name, word);
        if (side == NO_SIDE || strcmp(word, "shoulder") != 0 || h->sided[jna_upperArm + side] >= 0) {
            continue;
        }
        h->sided[jna_upperArm + side] = j;
        if (h->sided[jna_clavicle + side] == j) {
            h->sided[jna_clavicle + side] = -1;
        }
    }
}

void jnaFindHumanoid(const jnaCharacter* skeleton, jnaHumanoid* humanoid)
{
    *humanoid = (jnaHumanoid){.hips = -1, .head = -1};
    for (int i = 0; i < JNA_SIDED_SLOTS; ++i) {
        humanoid->sided[i] = -1;
    }
    Ranks ranks = {0};
    for (int j = 0; j < skeleton->jointCount; ++j) {
        char word[JNA_NAME_LENGTH];
        int side = SplitName(skeleton->joints[j].name, word);
        for (int rank = 0; rank < WORD_COUNT; ++rank) {
            if (words[rank].sided == (side != NO_SIDE) && strcmp(words[rank].word, word) == 0) {
                Sort(j, rank, side, humanoid, &ranks);
                break;
            }
        }
    }
    SettleShoulders(skeleton, humanoid);
}
