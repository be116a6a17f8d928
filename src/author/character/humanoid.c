// Which joint is what, by the words that joint_names.c finds in names.
#include "character/humanoid.h"

#include "character/joint_names.h"

#include <string.h>

enum { HIPS = 100, HEAD, SPINE, NECK };

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
    {"chestlower", false, SPINE},
    {"chestupper", false, SPINE},
    {"abdomenlower", false, SPINE},
    {"abdomenupper", false, SPINE},
    {"torso", false, SPINE},
    {"waist", false, SPINE},
    {"neck", false, NECK},
    {"neck1", false, NECK},
    {"neck2", false, NECK},
    {"neck01", false, NECK},
    {"neck02", false, NECK},
    {"neck03", false, NECK},
    {"necklower", false, NECK},
    {"neckupper", false, NECK},
    {"necktwist01", false, NECK},
    {"necktwist02", false, NECK},
    {"clavicle", true, jna_clavicle},
    {"collar", true, jna_clavicle},
    {"shoulder", true, jna_clavicle},
    {"upperarm", true, jna_upperArm},
    {"arm", true, jna_upperArm},
    {"uparm", true, jna_upperArm},
    {"upperarm01", true, jna_upperArm},
    {"shldr", true, jna_upperArm},
    {"shldrbend", true, jna_upperArm},
    {"forearm", true, jna_foreArm},
    {"lowerarm", true, jna_foreArm},
    {"lowerarm01", true, jna_foreArm},
    {"elbow", true, jna_foreArm},
    {"lowarm", true, jna_foreArm},
    {"forearmbend", true, jna_foreArm},
    {"hand", true, jna_hand},
    {"wrist", true, jna_hand},
    {"upleg", true, jna_thigh},
    {"upperleg", true, jna_thigh},
    {"thigh", true, jna_thigh},
    {"upperleg01", true, jna_thigh},
    {"thighbend", true, jna_thigh},
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

// Of an ankle and a foot, or a wrist and a hand, the one nearer to the root is the pivot.
static bool IsPivot(int part)
{
    return part == jna_hand || part == jna_foot;
}

static void Sort(int joint, int row, int rank, int side, jnaHumanoid* h, Ranks* ranks)
{
    int part = words[row].part;
    switch (part) {
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
        rank = IsPivot(part) && rank < WORD_COUNT ? 0 : rank;
        Offer(joint, rank, &h->sided[part + side], &ranks->sided[part + side]);
        break;
    }
}

// The row of a word, -1 for none.
static int FindWord(const char* word, bool sided)
{
    for (int row = 0; row < WORD_COUNT; ++row) {
        if (words[row].sided == sided && strcmp(words[row].word, word) == 0) {
            return row;
        }
    }
    return -1;
}

// Where an arm has no joint of its own but a collar and a shoulder, as in Biovision's files, the shoulder is
// the arm.
static void SettleShoulders(const jnaCharacter* skeleton, jnaHumanoid* h)
{
    for (int j = 0; j < skeleton->jointCount; ++j) {
        jnaJointName name;
        jnaSplitJointName(skeleton->joints[j].name, &name);
        if (name.side == JNA_NO_SIDE || strcmp(name.word, "shoulder") != 0 || h->sided[jna_upperArm + name.side] >= 0) {
            continue;
        }
        h->sided[jna_upperArm + name.side] = j;
        if (h->sided[jna_clavicle + name.side] == j) {
            h->sided[jna_clavicle + name.side] = -1;
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
        jnaJointName name;
        jnaSplitJointName(skeleton->joints[j].name, &name);
        bool sided = name.side != JNA_NO_SIDE;
        int row = FindWord(name.word, sided), rank = row;
        if (row < 0) {
            // A number that a tool put behind the name counts less. Of spines it may be the head (Rigify).
            row = FindWord(name.base, sided);
            row = row >= 0 && words[row].part == SPINE ? -1 : row;
            rank = row + WORD_COUNT;
        }
        if (row >= 0) {
            Sort(j, row, rank, name.side, humanoid, &ranks);
        }
    }
    SettleShoulders(skeleton, humanoid);
}
