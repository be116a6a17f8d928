// What the parts of a character are, by the names of its joints and the shape of its skeleton: see anatomy.h.
//
// Limbs whose names make whole chains on both sides are taken from there. The rest is found by shape:
// A branch of a joint is a child with all that hangs on it; its length runs along the longest chain to the end of the
// flesh. Two branches of one joint that are long and equally long are limbs. A limb's own joints are found by where
// they divide it: a hip is 0, a knee 0.40, an ankle 0.76 of the way from the hip along the leg to the toes, and
// shoulder, elbow and wrist divide an arm nearly alike, so that collar bones, joints that split a segment in two, and
// fingers need no names. The two limbs of a pair are divided together, so that left and right have mirrored joints. A
// head is what holds most of the flesh beyond the chest. Hair and props are never a part of the body, and fingers and
// twist joints never divide a limb.
#include "volume/anatomy.h"

#include "base/affine.h"
#include "base/try.h"
#include "character/body.h"
#include "character/joint_names.h"
#include "volume/anatomy_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Branches from this part of the body's size on may be limbs: a breast or an ear is shorter.
#define LONG_BRANCH 0.2
// Limbs of a pair differ at most so much, in length and in volume.
#define EQUAL_LENGTH 0.15
#define EQUAL_VOLUME 0.5
// Where hinge and end divide an arm, and a leg, whose foot turns off; how far off (summed squares) a division may be.
static const double ARM[2] = {0.39, 0.72}, LEG[2] = {0.40, 0.76}, WORST_DIVISION = 0.06;
// A foot's middle is away from the shin's direction by at least this cosine.
#define STRAIGHT 0.7
// Chains of a pair whose joints divide them at places that differ by at most this part are mirror images.
#define EQUAL_PLACE 0.1
// What the part of a branch before the limb's root costs, squared: a shin and foot divide as a leg does.
#define SKIPPED 0.05
// The head holds at least this part of the flesh beyond the chest.
#define HEAD_SHARE 0.65
// A branch with less of the flesh than this is no head.
#define LEAST_HEAD 0.004
// Joints with less of the flesh in their whole branch than this move none.
#define LEAST_FLESH 1e-5
// A trunk is upright if its legs point down along it at least so much.
#define UPRIGHT 0.5

enum { MAX_CHAIN = 64 };

const char* const jnaRegionNames[JNA_REGIONS] = {"other", "head", "neck", "chest", "breast", "belly", "back", "buttock",
    "hip", "upper_arm", "elbow", "forearm", "hand", "thigh", "knee", "shin", "calf", "foot"};

// The skeleton as branches.
typedef struct Tree {
    const jnaCharacter* character;
    const jnaJointFlesh* flesh;
    double* volumes; // [jointCount], of the branch that begins with the joint
    double* lengths; // [jointCount], from the joint to the farthest end of its branch
    int8_t* pairs;   // [jointCount], pairs of limbs that hang on the joint
    uint8_t* kinds;  // [jointCount], jnaNameKind
    jnaAnatomy* anatomy;
    int given[JNA_BODY_SLOTS]; // joints that names or a person say, -1 for none
    int hipsAt, shouldersAt;   // joints that the limbs of pelvis and chest hang on
} Tree;

// A chain of joints down a branch.
typedef struct Chain {
    int count;
    int joints[MAX_CHAIN];
    double at[MAX_CHAIN]; // way along the chain
    double total;         // to the end of the flesh
} Chain;

static int ParentOf(const Tree* t, int joint)
{
    return t->character->joints[joint].parent;
}

static double Gap(const Tree* t, int a, int b)
{
    double d[3];
    for (int i = 0; i < 3; ++i) {
        d[i] = t->flesh->positions[a][i] - t->flesh->positions[b][i];
    }
    return sqrt(jnaDot(d, d));
}

// How far a joint's own flesh reaches beyond it, away from the middle.
static double OwnReach(const Tree* t, const jnaSlicer* slicer, int joint)
{
    double along[3];
    for (int i = 0; i < 3; ++i) {
        along[i] = t->flesh->centers[joint][i] - t->flesh->positions[joint][i];
    }
    if (!(t->flesh->volumes[joint] > 0) || jnaNormalize(along) <= 0) {
        return 0;
    }
    return jnaJointFlesh_Reach(t->flesh, slicer->nodeCount, slicer->nodes, joint, t->flesh->positions[joint], along);
}

static bool HasFlesh(const Tree* t, int joint)
{
    return t->volumes[joint] > LEAST_FLESH * t->flesh->total;
}

// Volumes and lengths of all branches; children come after their parents.
static void MeasureBranches(Tree* t, const jnaSlicer* slicer)
{
    for (int j = t->character->jointCount - 1; j >= 0; --j) {
        t->volumes[j] += t->flesh->volumes[j];
        if (t->lengths[j] == 0) {
            t->lengths[j] = OwnReach(t, slicer, j);
        }
        int parent = ParentOf(t, j);
        if (parent >= 0) {
            t->volumes[parent] += t->volumes[j];
            bool own = HasFlesh(t, j) && t->kinds[j] != jna_nameForeign;
            double length = own ? Gap(t, j, parent) + t->lengths[j] : 0;
            t->lengths[parent] = fmax(t->lengths[parent], length);
        }
    }
}

static double BranchLength(const Tree* t, int joint)
{
    int parent = ParentOf(t, joint);
    return t->lengths[joint] + (parent >= 0 ? Gap(t, joint, parent) : 0);
}

// The longest chain from the first joint of a branch.
static void FollowBranch(const Tree* t, int first, Chain* chain)
{
    *chain = (Chain){.count = 1, .joints = {first}};
    for (int j = first; chain->count < MAX_CHAIN;) {
        int next = -1;
        double longest = 0;
        for (int c = j + 1; c < t->character->jointCount; ++c) {
            bool own = ParentOf(t, c) == j && HasFlesh(t, c) && t->kinds[c] != jna_nameForeign;
            double length = own ? BranchLength(t, c) : 0;
            if (length > longest) {
                longest = length;
                next = c;
            }
        }
        if (next < 0) {
            break;
        }
        chain->joints[chain->count] = next;
        chain->at[chain->count] = chain->at[chain->count - 1] + Gap(t, j, next);
        chain->count++;
        j = next;
    }
    int last = chain->joints[chain->count - 1];
    chain->total = chain->at[chain->count - 1] + t->lengths[last];
}

// Whether what lies beyond a limb's end turns off, as a foot does: the flesh of the last joint against the segment
// before.
static bool TurnsOff(const Tree* t, const Chain* chain, int hinge, int end)
{
    int last = chain->joints[chain->count - 1];
    double along[3], beyond[3];
    for (int i = 0; i < 3; ++i) {
        const double* at = t->flesh->positions[chain->joints[end]];
        along[i] = at[i] - t->flesh->positions[chain->joints[hinge]][i];
        beyond[i] = t->flesh->centers[last][i] - at[i];
    }
    return jnaNormalize(along) > 0 && jnaNormalize(beyond) > 0 && jnaDot(along, beyond) < STRAIGHT;
}

// How far off a division of a chain is from that of an arm or a leg.
static double DivisionError(const Tree* t, const Chain* chain, int r, int h, int e)
{
    double length = chain->total - chain->at[r];
    const double* parts = TurnsOff(t, chain, h, e) ? LEG : ARM;
    double a = (chain->at[h] - chain->at[r]) / length - parts[0];
    double b = (chain->at[e] - chain->at[r]) / length - parts[1];
    return a * a + b * b + SKIPPED * pow(chain->at[r] / chain->total, 2);
}

// Whether a place of one or two chains can be a limb's joint: no finger, and of two chains the same place.
static bool MayDivide(const Tree* t, const Chain* const* chains, int count, int place)
{
    for (int i = 0; i < count; ++i) {
        if (t->kinds[chains[i]->joints[place]] != jna_nameAny) {
            return false;
        }
    }
    double last = chains[count - 1]->at[place] / chains[count - 1]->total;
    return fabs(chains[0]->at[place] / chains[0]->total - last) < EQUAL_PLACE;
}

// Hip, knee and ankle, or shoulder, elbow and wrist, of one chain or of a pair that is divided alike: places in it.
// False where nothing divides it so.
static bool DivideChains(const Tree* t, const Chain* const* chains, int count, int places[3])
{
    double least = WORST_DIVISION * count;
    int joints = chains[0]->count < chains[count - 1]->count ? chains[0]->count : chains[count - 1]->count;
    bool found = false;
    for (int r = 0; r + 2 < joints; ++r) {
        for (int h = r + 1; h + 1 < joints && MayDivide(t, chains, count, r); ++h) {
            for (int e = h + 1; e < joints && MayDivide(t, chains, count, h); ++e) {
                double off = MayDivide(t, chains, count, e) ? 0 : HUGE_VAL;
                for (int i = 0; i < count; ++i) {
                    off += DivisionError(t, chains[i], r, h, e);
                }
                if (off < least) {
                    least = off;
                    places[0] = r;
                    places[1] = h;
                    places[2] = e;
                    found = true;
                }
            }
        }
    }
    return found;
}

static void Spread(const Tree* t, int joint, jnaBodyPart part, int limb)
{
    // Parents come first, so one pass reaches the whole branch.
    uint8_t* parts = t->anatomy->parts;
    int8_t* limbs = t->anatomy->limbOf;
    parts[joint] = (uint8_t)part;
    limbs[joint] = (int8_t)limb;
    for (int c = joint + 1; c < t->character->jointCount; ++c) {
        int up = ParentOf(t, c);
        while (up > joint) {
            up = ParentOf(t, up);
        }
        if (up == joint) {
            parts[c] = (uint8_t)part;
            limbs[c] = (int8_t)limb;
        }
    }
}

// A limb that leaves the trunk at a joint. joints: its root, hinge and end; NULL where nothing divides it.
static void AddLimb(Tree* t, int first, int side, const int* joints)
{
    jnaAnatomy* a = t->anatomy;
    if (a->limbCount == JNA_MAX_LIMBS) {
        return;
    }
    int index = a->limbCount++;
    jnaLimb* limb = &a->limbs[index];
    *limb = (jnaLimb){.first = first, .hangs = ParentOf(t, first), .side = side, .root = first, .hinge = -1, .end = -1};
    if (joints == NULL) {
        memcpy(limb->rootAt, t->flesh->positions[first], sizeof(limb->rootAt));
        Spread(t, first, jna_bodyChain, index);
        return;
    }
    limb->root = joints[0];
    limb->hinge = joints[1];
    limb->end = joints[2];
    memcpy(limb->rootAt, t->flesh->positions[limb->root], sizeof(limb->rootAt));
    memcpy(limb->hingeAt, t->flesh->positions[limb->hinge], sizeof(limb->hingeAt));
    memcpy(limb->endAt, t->flesh->positions[limb->end], sizeof(limb->endAt));
    if (limb->root != first) {
        Spread(t, first, jna_bodyGirdle, index);
    }
    Spread(t, limb->root, jna_bodyUpper, index);
    Spread(t, limb->hinge, jna_bodyLower, index);
    Spread(t, limb->end, jna_bodyEnd, index);
}

// Two branches that are limbs by shape: divided together, or each by itself where they are no mirror images.
static void AddPair(Tree* t, const int firsts[2])
{
    Chain chains[2];
    const Chain* both[2] = {&chains[0], &chains[1]};
    for (int i = 0; i < 2; ++i) {
        FollowBranch(t, firsts[i], &chains[i]);
    }
    int places[3] = {0};
    bool together = DivideChains(t, both, 2, places);
    for (int i = 0; i < 2; ++i) {
        bool divided = together || DivideChains(t, &both[i], 1, places);
        const int joints[3] = {chains[i].joints[places[0]], chains[i].joints[places[1]], chains[i].joints[places[2]]};
        AddLimb(t, firsts[i], -1, divided ? joints : NULL);
    }
}

// The pair of limbs that names or a person say. The joint that they hang on; -1 without them.
static int AddGivenPair(Tree* t, bool leg)
{
    const int* joints[2] = {&t->given[jnaLimbSlot(leg, 0)], &t->given[jnaLimbSlot(leg, 1)]};
    if (joints[0][0] < 0 || joints[1][0] < 0) {
        return -1;
    }
    int hangs = jnaCommonJoint(t->character, joints[0][0], joints[1][0]);
    // In the order of the joints, as pairs that are found by shape are.
    int early = joints[0][0] < joints[1][0] ? 0 : 1;
    for (int i = 0; i < 2; ++i) {
        int side = i == 0 ? early : 1 - early, first = joints[side][0];
        while (ParentOf(t, first) != hangs) {
            first = ParentOf(t, first);
        }
        AddLimb(t, first, side, joints[side]);
    }
    t->pairs[hangs]++;
    return hangs;
}

static bool HoldsLimb(const Tree* t, int branch)
{
    for (int i = 0; i < t->anatomy->limbCount; ++i) {
        if (jnaIsAbove(t->character, branch, t->anatomy->limbs[i].first)) {
            return true;
        }
    }
    return false;
}

// Whether a branch holds what is known already: a pair of limbs, or the head.
static bool HoldsGiven(const Tree* t, int branch)
{
    bool head = t->given[jna_slotHead] >= 0 && jnaIsAbove(t->character, branch, t->given[jna_slotHead]);
    return head || HoldsLimb(t, branch);
}

// A free branch of a joint that is long by itself, without the way inside the trunk.
static bool MayBeLimb(const Tree* t, int joint, int branch)
{
    return ParentOf(t, branch) == joint && t->anatomy->parts[branch] == jna_bodyNone &&
           t->kinds[branch] != jna_nameForeign && !HoldsGiven(t, branch) &&
           t->lengths[branch] >= LONG_BRANCH * t->anatomy->size;
}

// Pairs of equal long branches of one joint become limbs, the most alike first.
static void FindPairs(Tree* t, int joint)
{
    for (;;) {
        int best[2] = {-1, -1};
        double least = HUGE_VAL;
        for (int x = joint + 1; x < t->character->jointCount; ++x) {
            if (!MayBeLimb(t, joint, x)) {
                continue;
            }
            for (int y = x + 1; y < t->character->jointCount; ++y) {
                double a = t->lengths[x], b = t->lengths[y];
                if (!MayBeLimb(t, joint, y) || fabs(a - b) > EQUAL_LENGTH * fmax(a, b) || fabs(a - b) >= least ||
                    fabs(t->volumes[x] - t->volumes[y]) > EQUAL_VOLUME * fmax(t->volumes[x], t->volumes[y])) {
                    continue;
                }
                least = fabs(a - b);
                best[0] = x;
                best[1] = y;
            }
        }
        if (best[0] < 0) {
            return;
        }
        AddPair(t, best);
        t->pairs[joint]++;
    }
}

static bool IsBelow(const Tree* t, int joint, int above)
{
    return jnaIsAbove(t->character, above, joint);
}

// The branch of a joint with pairs that is most likely a neck and head: no pairs in it, the most flesh. -1: none.
static int HeadBranch(const Tree* t, int joint)
{
    int best = -1;
    for (int c = joint + 1; c < t->character->jointCount; ++c) {
        bool clear = ParentOf(t, c) == joint && t->anatomy->parts[c] == jna_bodyNone && t->kinds[c] == jna_nameAny &&
                     t->volumes[c] > LEAST_HEAD * t->flesh->total;
        for (int k = c; clear && k < t->character->jointCount; ++k) {
            clear = t->pairs[k] == 0 || !IsBelow(t, k, c);
        }
        if (clear && (best < 0 || t->volumes[c] > t->volumes[best])) {
            best = c;
        }
    }
    return best;
}

// Steps in the tree from one joint to another.
static int PathLength(const Tree* t, int a, int b)
{
    int steps = 0;
    while (a != b) {
        if (a > b) {
            a = ParentOf(t, a);
        } else {
            b = ParentOf(t, b);
        }
        if (a < 0 || b < 0) {
            return -1;
        }
        steps++;
    }
    return steps;
}

// Neck joints down to the deepest one that still holds most of the branch: the head.
static void NameHead(Tree* t, int branch)
{
    int head = branch;
    for (bool deeper = true; deeper;) {
        deeper = false;
        for (int c = head + 1; c < t->character->jointCount && !deeper; ++c) {
            if (ParentOf(t, c) == head && t->kinds[c] == jna_nameAny &&
                t->volumes[c] >= HEAD_SHARE * t->volumes[branch]) {
                head = c;
                deeper = true;
            }
        }
    }
    Spread(t, branch, jna_bodyNeck, -1);
    Spread(t, head, jna_bodyHead, -1);
    t->anatomy->head = head;
}

// The head that names or a person say, and the neck below it. False where there is none with flesh.
static bool NameGivenHead(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    int head = t->given[jna_slotHead], neck = t->given[jna_slotNeck];
    if (head < 0 || a->parts[head] != jna_bodyNone || !HasFlesh(t, head)) {
        return false;
    }
    // From the head down to the neck's joint; without one, to where the arms hang.
    int first = head;
    for (int j = head; j >= 0 && j != t->shouldersAt; j = ParentOf(t, j)) {
        first = j;
        if (j == neck) {
            break;
        }
    }
    bool bound = neck >= 0 ? first == neck : ParentOf(t, first) == t->shouldersAt;
    if (bound && first != head && !HoldsLimb(t, first)) {
        Spread(t, first, jna_bodyNeck, -1);
    }
    Spread(t, head, jna_bodyHead, -1);
    // Arms that hang on the neck leave it a neck.
    for (int j = ParentOf(t, head); neck >= 0 && j >= neck; j = ParentOf(t, j)) {
        a->parts[j] = (uint8_t)jna_bodyNeck;
    }
    a->head = head;
    return true;
}

// The joint with pairs that has most flesh beyond it, and that branch; -1 where none has.
static int FindHeadBranch(const Tree* t, int* holder)
{
    int best = -1;
    for (int j = 0; j < t->character->jointCount; ++j) {
        int branch = t->pairs[j] > 0 ? HeadBranch(t, j) : -1;
        if (branch >= 0 && (best < 0 || t->volumes[branch] > t->volumes[best])) {
            best = branch;
            *holder = j;
        }
    }
    return best;
}

// Which joints with pairs are chest and pelvis, and the head.
static void NameEnds(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    int count = 0, holder = -1, head = FindHeadBranch(t, &holder);
    for (int j = 0; j < t->character->jointCount; ++j) {
        count += t->pairs[j] > 0;
    }
    t->shouldersAt = t->shouldersAt >= 0 || holder == t->hipsAt ? t->shouldersAt : holder;
    if (!NameGivenHead(t) && head >= 0) {
        NameHead(t, head);
    }
    if (count < 2) { // one pair: not known whether arms or legs
        return;
    }
    bool known = t->hipsAt >= 0;
    int farthest = -1;
    for (int j = t->character->jointCount - 1; j >= 0; --j) {
        if (t->pairs[j] == 0 || (known && j == t->hipsAt)) {
            continue;
        }
        t->shouldersAt = t->shouldersAt < 0 ? j : t->shouldersAt; // no head: the deeper pair is the chest
        int steps = PathLength(t, j, t->shouldersAt);
        if (!known && j != t->shouldersAt && steps > farthest) {
            farthest = steps;
            t->hipsAt = j;
        }
    }
    a->trunk = t->hipsAt >= 0 && t->shouldersAt >= 0 && t->hipsAt != t->shouldersAt;
    a->pelvis = t->given[jna_slotPelvis] >= 0 ? t->given[jna_slotPelvis] : t->hipsAt;
    a->chest = t->given[jna_slotChest] >= 0 ? t->given[jna_slotChest] : t->shouldersAt;
}

static void AddRoots(const jnaAnatomy* a, int joint, double middle[3], double across[3])
{
    int count = 0;
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        if (limb->hangs == joint) {
            for (int k = 0; k < 3; ++k) {
                middle[k] += limb->rootAt[k];
                across[k] += count % 2 == 0 ? limb->rootAt[k] : -limb->rootAt[k];
            }
            count++;
        }
    }
    for (int k = 0; k < 3 && count > 0; ++k) {
        middle[k] /= count;
    }
}

static void MakeSquare(double* v, const double* to)
{
    double along = jnaDot(v, to);
    for (int k = 0; k < 3; ++k) {
        v[k] -= along * to[k];
    }
}

// Where the toes point: from the ankle to the middle of the foot, square to the shin.
static void FindFront(const Tree* t, jnaLimb* limb, int index)
{
    double middle[3] = {0}, volume = 0, shin[3];
    for (int j = 0; j < t->character->jointCount; ++j) {
        if (t->anatomy->parts[j] == jna_bodyEnd && t->anatomy->limbOf[j] == index) {
            volume += t->flesh->volumes[j];
            for (int k = 0; k < 3; ++k) {
                middle[k] += t->flesh->volumes[j] * t->flesh->centers[j][k];
            }
        }
    }
    for (int k = 0; k < 3; ++k) {
        shin[k] = limb->endAt[k] - limb->hingeAt[k];
        limb->front[k] = volume > 0 ? middle[k] / volume - limb->endAt[k] : 0;
    }
    jnaNormalize(shin);
    MakeSquare(limb->front, shin);
    jnaNormalize(limb->front);
}

// The trunk's axes, and which limbs are legs.
static void FindAxes(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    double acrossHips[3] = {0}, acrossShoulders[3] = {0}, down[3] = {0}, toes[3] = {0};
    AddRoots(a, t->hipsAt, a->hips, acrossHips);
    AddRoots(a, t->shouldersAt, a->shoulders, acrossShoulders);
    for (int k = 0; k < 3; ++k) {
        a->up[k] = a->shoulders[k] - a->hips[k];
        a->left[k] = acrossHips[k] + (jnaDot(acrossHips, acrossShoulders) < 0 ? -1 : 1) * acrossShoulders[k];
    }
    a->length = jnaNormalize(a->up);
    for (int i = 0; i < a->limbCount; ++i) {
        jnaLimb* limb = &a->limbs[i];
        bool hind = limb->hangs == t->hipsAt;
        limb->hind = hind;
        if (limb->hinge < 0) {
            continue;
        }
        FindFront(t, limb, i);
        limb->leg = hind;
        for (int k = 0; k < 3 && hind; ++k) {
            down[k] += limb->endAt[k] - limb->rootAt[k];
            toes[k] += limb->front[k];
        }
    }
    jnaNormalize(down);
    bool upright = -jnaDot(down, a->up) >= UPRIGHT;
    for (int i = 0; i < a->limbCount; ++i) {
        a->limbs[i].leg = a->limbs[i].leg || (!upright && a->limbs[i].hinge >= 0);
    }
    MakeSquare(a->left, a->up);
    if (jnaNormalize(a->left) < 1e-6 * a->size) {
        double other[3];
        jnaCrossAxes(a->up, a->left, other);
    }
    jnaCross(a->left, a->up, a->front);
    // The belly is on the side of the toes, or of the legs where the trunk lies; of a model that shows neither, +Z.
    const double facing[3] = {0, 0, 1}, *towards = upright ? toes : down;
    double sign = jnaDot(a->front, towards);
    sign = fabs(sign) > 0.1 ? sign : jnaDot(a->front, facing);
    for (int k = 0; k < 3 && sign < 0; ++k) {
        a->front[k] = -a->front[k];
        a->left[k] = -a->left[k];
    }
}

// On which side of the trunk limbs are that no name tells.
static void FindSides(jnaAnatomy* a)
{
    for (int i = 0; i < a->limbCount; ++i) {
        double d[3];
        for (int k = 0; k < 3; ++k) {
            d[k] = a->limbs[i].rootAt[k] - a->hips[k];
        }
        a->limbs[i].side = a->limbs[i].side >= 0 ? a->limbs[i].side : jnaDot(d, a->left) > 0 ? 0 : 1;
    }
}

// Half-thickness of the flesh around a point of a limb; `otherwise` where the point lies outside.
static double RadiusAt(jnaSlicer* slicer, const double* at, const double* axis, double otherwise)
{
    double along[3] = {axis[0], axis[1], axis[2]}, u[3], v[3];
    jnaSection section;
    if (jnaNormalize(along) <= 0) {
        return otherwise;
    }
    jnaCrossAxes(along, u, v);
    jnaSlice(slicer, at, u, v, &section);
    return section.inside ? section.radius : otherwise;
}

static void MeasureLimb(jnaSlicer* slicer, jnaLimb* limb)
{
    double upper[3], lower[3], both[3], at[3];
    for (int k = 0; k < 3; ++k) {
        upper[k] = limb->hingeAt[k] - limb->rootAt[k];
        lower[k] = limb->endAt[k] - limb->hingeAt[k];
        at[k] = limb->rootAt[k] + 0.3 * upper[k];
    }
    // Unit vectors, so that the plane through the hinge halves its angle.
    double shin[3] = {lower[0], lower[1], lower[2]};
    double thigh[3] = {upper[0], upper[1], upper[2]};
    double length = jnaNormalize(thigh);
    jnaNormalize(shin);
    for (int k = 0; k < 3; ++k) {
        both[k] = thigh[k] + shin[k];
    }
    limb->rootRadius = RadiusAt(slicer, at, upper, 0.2 * length);
    limb->hingeRadius = RadiusAt(slicer, limb->hingeAt, both, 0.7 * limb->rootRadius);
    limb->hingeRadius = fmin(limb->hingeRadius, 0.4 * length);
    limb->endRadius = RadiusAt(slicer, limb->endAt, lower, 0.7 * limb->hingeRadius);
    limb->endRadius = fmin(limb->endRadius, limb->hingeRadius);
}

void jnaDestroyAnatomy(jnaAnatomy* a)
{
    free(a->parts);
    free(a->limbOf);
    *a = (jnaAnatomy){0};
}

static double SizeOf(const jnaSlicer* slicer)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, size = 0;
    for (int n = 0; n < 3 * slicer->nodeCount; ++n) {
        low[n % 3] = fmin(low[n % 3], slicer->nodes[n]);
        high[n % 3] = fmax(high[n % 3], slicer->nodes[n]);
    }
    for (int k = 0; k < 3; ++k) {
        size = fmax(size, high[k] - low[k]);
    }
    return size;
}

// What is left over is trunk where there is one, and plain chains where not.
static void NameRest(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    for (int j = 0; j < a->jointCount; ++j) {
        if (a->parts[j] != jna_bodyNone || !HasFlesh(t, j)) {
            continue;
        }
        // A branch that is neither limb nor head, and long by itself, is a tail; one that starts under the skin, as the
        // joint of a breast does, is not.
        bool tail =
            a->trunk && !IsBelow(t, a->chest, j) && !IsBelow(t, a->pelvis, j) && t->lengths[j] > LONG_BRANCH * a->size;
        bool below = ParentOf(t, j) >= 0 && a->parts[ParentOf(t, j)] == jna_bodyChain;
        a->parts[j] = !a->trunk || tail || below ? jna_bodyChain : jna_bodyTrunk;
    }
}

// All parts, from what is given and from the shape of the rest.
static void NameAll(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    int joints = a->jointCount;
    memset(a->parts, jna_bodyNone, (size_t)joints);
    memset(a->limbOf, 0xff, (size_t)joints);
    memset(t->pairs, 0, (size_t)joints);
    a->limbCount = 0;
    a->trunk = false;
    a->pelvis = a->chest = a->head = -1;
    memset(a->hips, 0, sizeof(a->hips));
    memset(a->shoulders, 0, sizeof(a->shoulders));
    // Those nearer to the root first, as they are found by shape.
    const int *arms = &t->given[jnaLimbSlot(false, 0)], *legs = &t->given[jnaLimbSlot(true, 0)];
    bool early = jnaCommonJoint(t->character, arms[0], arms[3]) < jnaCommonJoint(t->character, legs[0], legs[3]);
    t->shouldersAt = early ? AddGivenPair(t, false) : -1;
    t->hipsAt = AddGivenPair(t, true);
    t->shouldersAt = early ? t->shouldersAt : AddGivenPair(t, false);
    for (int j = 0; j < joints; ++j) {
        if (a->parts[j] == jna_bodyNone) { // a hand's fingers are no limbs
            FindPairs(t, j);
        }
    }
    NameEnds(t);
    if (a->trunk) {
        FindAxes(t);
        FindSides(a);
    }
    NameRest(t);
}

// Whether all six joints of a pair of limbs are there.
static bool IsWholePair(const int* slots)
{
    bool whole = true;
    for (int k = 0; k < 6; ++k) {
        whole = whole && slots[k] >= 0;
    }
    return whole;
}

// Whether the joints that are given for a pair of limbs make one. found: what was recognised without a person's help.
static jnResult CheckPair(Tree* t, bool leg, const int* found, jnError* error)
{
    const jnaCharacter* c = t->character;
    int first = jnaLimbSlot(leg, 0);
    if (!IsWholePair(t->given + first)) {
        // The shape decides again, as long as nobody said otherwise.
        bool same = memcmp(t->given + first, found + first, 6 * sizeof(int)) == 0;
        for (int s = first; s < first + 6; ++s) {
            if (!same && t->given[s] < 0) {
                return jnFail(error, jn_badData,
                    "body: %s is not recognised, and the parts of a pair of limbs go together; name it, too",
                    jnaBodySlotNames[s]);
            }
            t->given[s] = -1;
        }
        return jn_ok;
    }
    for (int s = first; s < first + 6; ++s) {
        int before = s % 3 != first % 3 ? t->given[s - 1] : -1;
        if (before >= 0 && (before == t->given[s] || !jnaIsAbove(c, before, t->given[s]))) {
            return jnFail(error, jn_badData, "body: %s '%s' is not below %s '%s' in the skeleton", jnaBodySlotNames[s],
                c->joints[t->given[s]].name, jnaBodySlotNames[s - 1], c->joints[before].name);
        }
    }
    int left = t->given[first], right = t->given[first + 3];
    if (jnaCommonJoint(c, left, right) < 0 || jnaIsAbove(c, left, right) || jnaIsAbove(c, right, left)) {
        return jnFail(error, jn_badData, "body: %s '%s' and %s '%s' are no pair: one must not hang on the other",
            jnaBodySlotNames[first], c->joints[left].name, jnaBodySlotNames[first + 3], c->joints[right].name);
    }
    return jn_ok;
}

// Names the parts again with what a person said.
static jnResult Override(Tree* t, jnError* error)
{
    int found[JNA_BODY_SLOTS];
    jnaAnatomy_Body(t->anatomy, t->character, found);
    memcpy(t->given, found, sizeof(found));
    jnaCharacter_OverrideBody(t->character, t->given);
    JN_PASS(CheckPair(t, false, found, error));
    JN_PASS(CheckPair(t, true, found, error));
    NameAll(t);
    return jn_ok;
}

static bool IsOverridden(const jnaCharacter* c)
{
    bool any = false;
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        any = any || c->body[s] > 0;
    }
    return any;
}

jnResult jnaNameParts(
    const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer, jnaAnatomy* anatomy, jnError* error)
{
    int joints = character->jointCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    *anatomy = (jnaAnatomy){.jointCount = character->jointCount};
    Tree t = {.character = character, .flesh = flesh, .anatomy = anatomy};
    t.volumes = jnaArena_Take(&arena, joints, sizeof(double));
    t.lengths = jnaArena_Take(&arena, joints, sizeof(double));
    t.pairs = jnaArena_Take(&arena, joints, 1);
    t.kinds = jnaArena_Take(&arena, joints, 1);
    anatomy->parts = jnaArena_Give(&arena, joints, 1);
    anatomy->limbOf = jnaArena_Give(&arena, joints, 1);
    JN_TRY(jnaArena_Check(&arena, "the parts of a body", error));
    for (int j = 0; j < joints; ++j) {
        t.kinds[j] = (uint8_t)jnaJointName_Kind(character->joints[j].name);
    }
    anatomy->size = SizeOf(slicer);
    MeasureBranches(&t, slicer);
    jnaNameBody(character, t.given);
    NameAll(&t);
    JN_TRY(IsOverridden(character) ? Override(&t, error) : jn_ok);
    for (int i = 0; i < anatomy->limbCount; ++i) {
        if (anatomy->limbs[i].hinge >= 0) {
            MeasureLimb(slicer, &anatomy->limbs[i]);
        }
    }
    if (anatomy->trunk) {
        jnaMeasureTrunk(slicer, anatomy);
    }
done:
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyAnatomy(anatomy);
    }
    return result;
}
