// Which joint is what, by the words that are found in names (bone_names.c of the runtime).
#include "character/humanoid.h"

#include "character/joint_names.h"

#include "runtime/for_author.h"

#include <string.h>

// The slots are numbered as the runtime's parts are.
_Static_assert((int)jna_clavicle == (int)jn_partClavicle && (int)jna_hand == (int)jn_partHand &&
                   (int)jna_thigh == (int)jn_partThigh && (int)jna_toe == (int)jn_partToe,
    "slots are parts");

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
    int part = (int)jnBoneWords[row].part;
    switch (part) {
    case jn_partHips:
        Offer(joint, rank, &h->hips, &ranks->hips);
        break;
    case jn_partHead:
        Offer(joint, rank, &h->head, &ranks->head);
        break;
    case jn_partSpine:
        if (h->spineCount < JNA_MAX_CHAIN) {
            h->spine[h->spineCount++] = joint;
        }
        break;
    case jn_partNeck:
        if (h->neckCount < JNA_MAX_CHAIN) {
            h->neck[h->neckCount++] = joint;
        }
        break;
    default:
        rank = IsPivot(part) && rank < JN_BONE_WORDS ? 0 : rank;
        Offer(joint, rank, &h->sided[part + side], &ranks->sided[part + side]);
        break;
    }
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
        int row = jnFindBoneWord(name.word, sided), rank = row;
        if (row < 0) {
            // A number that a tool put behind the name counts less. Of spines it may be the head (Rigify).
            row = jnFindBoneWord(name.base, sided);
            row = row >= 0 && jnBoneWords[row].part == jn_partSpine ? -1 : row;
            rank = row + JN_BONE_WORDS;
        }
        if (row >= 0) {
            Sort(j, row, rank, name.side, humanoid, &ranks);
        }
    }
    SettleShoulders(skeleton, humanoid);
}
