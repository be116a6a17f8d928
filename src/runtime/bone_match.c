// The joints of an asset among the bones of an engine. See jounce/match.h.
//
// The trunk comes first: tools number the spine in their own ways, so that "Spine1" of one is "Spine" of another.
// Unless all joints of a spine have a bone of their name, the two spines are matched from the hips upwards, if they are
// equally long. All others are matched by what is more certain first: the same name, the name without what exporters
// add, the part of a human skeleton that the name stands for. A name that stands for two is no match.
#include "bone_names.h"
#include "internal.h"
#include "jounce/match.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TRUNK = 24 };

// What the match is between.
typedef struct Match {
    const jnAsset* asset;
    const char* const* names;
    int nameCount;
    jnBoneMatch* matches;
} Match;

static bool IsTaken(const Match* m, int bone)
{
    for (int j = 0; j < m->asset->jointCount; ++j) {
        if (m->matches[j].bone == bone) {
            return true;
        }
    }
    return false;
}

static void Take(const Match* m, int joint, int bone, jnBoneFound found)
{
    m->matches[joint] = (jnBoneMatch){.bone = bone, .found = (int32_t)found};
}

// A part by its word, or by the word without a number that stands apart.
static int FindRow(const jnBoneName* name)
{
    bool sided = name->side != JN_NO_SIDE;
    int row = jnFindBoneWord(name->word, sided);
    return row >= 0 ? row : jnFindBoneWord(name->base, sided);
}

static jnBonePart TrunkPart(const char* text)
{
    jnBoneName name;
    jnSplitBoneName(text, &name);
    int row = name.side == JN_NO_SIDE ? FindRow(&name) : -1;
    return row >= 0 ? jnBoneWords[row].part : jn_partNone;
}

// Hips, spine, neck and head.
typedef struct Trunk {
    int hips, head, spineCount, neckCount;
    int spine[MOST_TRUNK], neck[MOST_TRUNK];
} Trunk;

static void AddToTrunk(Trunk* t, const char* name, int number)
{
    jnBonePart part = TrunkPart(name);
    if (part == jn_partHips && t->hips < 0) {
        t->hips = number;
    } else if (part == jn_partHead && t->head < 0) {
        t->head = number;
    } else if (part == jn_partSpine && t->spineCount < MOST_TRUNK) {
        t->spine[t->spineCount++] = number;
    } else if (part == jn_partNeck && t->neckCount < MOST_TRUNK) {
        t->neck[t->neckCount++] = number;
    }
}

// The bone whose name is a joint's but for prefix, case and separators; -1: none, or several.
static int FindAlike(const Match* m, const jnBoneName* joint, bool whole)
{
    int found = -1;
    for (int i = 0; i < m->nameCount; ++i) {
        jnBoneName name;
        jnSplitBoneName(m->names[i], &name);
        bool alike =
            name.side == joint->side && strcmp(whole ? name.whole : name.word, whole ? joint->whole : joint->word) == 0;
        if (alike && !IsTaken(m, i)) {
            if (found >= 0) {
                return -1;
            }
            found = i;
        }
    }
    return found;
}

static int FindSame(const Match* m, const char* joint)
{
    for (int i = 0; i < m->nameCount; ++i) {
        if (strcmp(m->names[i], joint) == 0 && !IsTaken(m, i)) {
            return i;
        }
    }
    return -1;
}

// By its name alone. Takes it.
static bool TakeByName(const Match* m, int joint)
{
    jnBoneName split;
    int bone = FindSame(m, m->asset->joints[joint].name);
    if (bone >= 0) {
        Take(m, joint, bone, jn_boneSame);
        return true;
    }
    jnSplitBoneName(m->asset->joints[joint].name, &split);
    bone = FindAlike(m, &split, true);
    bone = bone >= 0 ? bone : FindAlike(m, &split, false);
    if (bone >= 0 && split.word[0] != '\0') {
        Take(m, joint, bone, jn_boneAlike);
        return true;
    }
    return false;
}

// A chain of the trunk: by names where all joints have one, otherwise from below, where both are equally long.
static void TakeChain(const Match* m, const int* joints, int jointCount, const int* bones, int boneCount)
{
    int named = 0;
    while (named < jointCount && TakeByName(m, joints[named])) {
        ++named;
    }
    if (named == jointCount) {
        return;
    }
    for (int i = 0; i < jointCount; ++i) {
        Take(m, joints[i], -1, jn_boneMissing);
    }
    for (int i = 0; i < jointCount && jointCount == boneCount; ++i) {
        Take(m, joints[i], bones[i], jn_boneOrder);
    }
}

static int Flatten(const Trunk* t, int* chain)
{
    int count = 0;
    if (t->hips >= 0) {
        chain[count++] = t->hips;
    }
    for (int i = 0; i < t->spineCount; ++i) {
        chain[count++] = t->spine[i];
    }
    for (int i = 0; i < t->neckCount; ++i) {
        chain[count++] = t->neck[i];
    }
    if (t->head >= 0) {
        chain[count++] = t->head;
    }
    return count;
}

static void TakeTrunk(const Match* m)
{
    Trunk own = {.hips = -1, .head = -1}, theirs = {.hips = -1, .head = -1};
    int joints[2 * MOST_TRUNK + 2], bones[2 * MOST_TRUNK + 2];
    for (int j = 0; j < m->asset->jointCount; ++j) {
        AddToTrunk(&own, m->asset->joints[j].name, j);
    }
    for (int i = 0; i < m->nameCount; ++i) {
        AddToTrunk(&theirs, m->names[i], i);
    }
    if (theirs.hips < 0 && theirs.head < 0 && own.hips >= 0 && own.head >= 0) { // Rigify: all of it is a spine
        TakeChain(m, joints, Flatten(&own, joints), bones, Flatten(&theirs, bones));
        return;
    }
    TakeChain(m, own.spine, own.spineCount, theirs.spine, theirs.spineCount);
    TakeChain(m, own.neck, own.neckCount, theirs.neck, theirs.neckCount);
    if (own.hips >= 0 && !TakeByName(m, own.hips) && theirs.hips >= 0 && !IsTaken(m, theirs.hips)) {
        Take(m, own.hips, theirs.hips, jn_bonePart);
    }
    if (own.head >= 0 && !TakeByName(m, own.head) && theirs.head >= 0 && !IsTaken(m, theirs.head)) {
        Take(m, own.head, theirs.head, jn_bonePart);
    }
}

// The number at the end of a word, -1: none; *length: of the word without it.
static int NumberOf(const char* word, size_t* length)
{
    size_t end = strlen(word), at = end;
    int number = 0, scale = 1;
    while (at > 0 && word[at - 1] >= '0' && word[at - 1] <= '9' && end - at < 4) {
        number += scale * (word[--at] - '0');
        scale *= 10;
    }
    *length = at;
    return at < end ? number : -1;
}

// Which finger, times 16, and which of its bones a word names, from 1; -1: none. CMU's one finger for four is the
// index; Biped's Finger12 is the third bone of finger 1.
static int FingerOf(const char* word)
{
    static const char* const kinds[] = {"thumb", "index", "middle", "ring", "pinky", "mid", "pinkie", "little"};
    static const int fingers[] = {0, 1, 2, 3, 4, 2, 4, 4};
    static const struct {
        const char* word;
        int bone;
    } bones[] = {{"metacarpal", 0}, {"proximal", 1}, {"intermediate", 2}, {"distal", 3}};
    word += strncmp(word, "hand", 4) == 0 ? 4 : 0;
    word += word[0] == 'f' && strncmp(word, "finger", 6) != 0 ? 1 : 0;
    size_t length;
    int number = NumberOf(word, &length);
    if (strncmp(word, "finger", 6) == 0 && length == 6 && number >= 0) {
        size_t digits = strlen(word) - length;
        int finger = word[6] - '0', bone = digits > 1 ? word[7] - '0' + 1 : 1;
        return finger <= 4 && digits <= 2 ? 16 * finger + bone : -1;
    }
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); ++k) {
        size_t size = strlen(kinds[k]);
        if (strncmp(word, kinds[k], size) != 0) {
            continue;
        }
        int bone = number >= 0 ? number : 1;
        for (size_t i = 0; i < sizeof(bones) / sizeof(bones[0]); ++i) {
            bone = strncmp(word + size, bones[i].word, strlen(bones[i].word)) == 0 ? bones[i].bone : bone;
        }
        return 16 * fingers[k] + (bone < 16 ? bone : 15);
    }
    return -1;
}

// A number for the part of a body that a name stands for, of limbs and fingers; -1: none. *rank: how good the word is.
static int LimbOf(const char* text, int* rank)
{
    jnBoneName name;
    jnSplitBoneName(text, &name);
    if (name.side == JN_NO_SIDE) {
        return -1;
    }
    int row = FindRow(&name), finger = row < 0 ? FingerOf(name.word) : -1;
    *rank = row;
    return row >= 0 ? (int)jnBoneWords[row].part + name.side : finger >= 0 ? 1000 + 2 * finger + name.side : -1;
}

// The bone that stands for a part best: by the word that is preferred, the nearest to the root of several.
static int FindLimb(const Match* m, int limb)
{
    int found = -1, best = 0;
    for (int i = 0; i < m->nameCount; ++i) {
        int rank, part = LimbOf(m->names[i], &rank);
        if (part == limb && !IsTaken(m, i) && (found < 0 || rank < best)) {
            found = i;
            best = rank;
        }
    }
    return found;
}

int jnAsset_MatchBones(const jnAsset* a, const char* const* names, int nameCount, jnBoneMatch* matches)
{
    if (JN_BROKEN(a != NULL && matches != NULL && nameCount >= 0 && (names != NULL || nameCount == 0))) {
        return 0;
    }
    Match m = {a, names, nameCount, matches};
    int found = 0;
    for (int j = 0; j < a->jointCount; ++j) {
        Take(&m, j, -1, jn_boneMissing);
    }
    TakeTrunk(&m);
    for (int j = 0; j < a->jointCount; ++j) {
        if (matches[j].bone < 0 && TrunkPart(a->joints[j].name) == jn_partNone) {
            (void)TakeByName(&m, j);
        }
    }
    for (int j = 0; j < a->jointCount; ++j) {
        int rank, limb = matches[j].bone < 0 ? LimbOf(a->joints[j].name, &rank) : -1;
        int bone = limb >= 0 ? FindLimb(&m, limb) : -1;
        if (bone >= 0) {
            Take(&m, j, bone, jn_bonePart);
        }
        found += matches[j].bone >= 0;
    }
    return found;
}

size_t jnAsset_DescribeBones(const jnAsset* a, const jnBoneMatch* matches, char* text, size_t size)
{
    if (JN_BROKEN(a != NULL && matches != NULL && (text != NULL || size == 0))) {
        return 0;
    }
    static const char* const ways[] = {
        "", "by the same name", "but for prefix, case and separators", "as the same part of a body", "by their order"};
    int counts[5] = {0};
    for (int j = 0; j < a->jointCount; ++j) {
        int found = matches[j].found;
        counts[found >= 0 && found < 5 && matches[j].bone >= 0 ? found : 0]++;
    }
    size_t length = 0;
#define WRITE(...)                                                                                                     \
    length += (size_t)snprintf(length < size ? text + length : NULL, length < size ? size - length : 0, __VA_ARGS__)
    WRITE("%d of %d joints are found", a->jointCount - counts[0], a->jointCount);
    for (int i = 1, any = 0; i < 5; ++i) {
        if (counts[i] > 0) {
            WRITE("%s%d %s", any++ > 0 ? ", " : ": ", counts[i], ways[i]);
        }
    }
    for (int j = 0, any = 0; j < a->jointCount; ++j) {
        if (matches[j].bone < 0) {
            WRITE("%s'%s'", any++ > 0 ? ", " : "; missing: ", a->joints[j].name);
        }
    }
#undef WRITE
    return length;
}
