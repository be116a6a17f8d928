// What the parts of a character are, by the shape of its skeleton: see anatomy.h.
//
// A branch of a joint is a child with all that hangs on it; its length runs along the longest chain to the end of the
// flesh. Two branches of one joint that are long and equally long are limbs. A limb's own joints are found by where
// they divide it: a hip is 0, a knee 0.40, an ankle 0.76 of the way from the hip along the leg to the toes, and
// shoulder, elbow and wrist divide an arm nearly alike, so that collar bones, joints that split a segment in two, and
// fingers need no names. A head is what holds most of the flesh beyond the chest.
#include "volume/anatomy.h"

#include "base/affine.h"
#include "base/try.h"
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
    jnaAnatomy* anatomy;
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
            double length = HasFlesh(t, j) ? Gap(t, j, parent) + t->lengths[j] : 0;
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
            double length = ParentOf(t, c) == j && HasFlesh(t, c) ? BranchLength(t, c) : 0;
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

// Hip, knee and ankle of a chain, or shoulder, elbow and wrist: places in it. False where nothing divides it so.
static bool DivideChain(const Tree* t, const Chain* chain, int* root, int* hinge, int* end)
{
    double least = WORST_DIVISION;
    bool found = false;
    for (int r = 0; r + 2 < chain->count; ++r) {
        double length = chain->total - chain->at[r];
        for (int h = r + 1; h + 1 < chain->count; ++h) {
            for (int e = h + 1; e < chain->count; ++e) {
                const double* parts = TurnsOff(t, chain, h, e) ? LEG : ARM;
                double a = (chain->at[h] - chain->at[r]) / length - parts[0];
                double b = (chain->at[e] - chain->at[r]) / length - parts[1], off = a * a + b * b;
                off += SKIPPED * pow(chain->at[r] / chain->total, 2);
                if (off < least) {
                    least = off;
                    *root = r;
                    *hinge = h;
                    *end = e;
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

static void AddLimb(Tree* t, int first)
{
    jnaAnatomy* a = t->anatomy;
    if (a->limbCount == JNA_MAX_LIMBS) {
        return;
    }
    int index = a->limbCount++, root = 0, hinge = 0, end = 0;
    jnaLimb* limb = &a->limbs[index];
    *limb = (jnaLimb){.first = first, .root = -1, .hinge = -1, .end = -1};
    Chain chain;
    FollowBranch(t, first, &chain);
    if (!DivideChain(t, &chain, &root, &hinge, &end)) {
        limb->root = first;
        memcpy(limb->rootAt, t->flesh->positions[first], sizeof(limb->rootAt));
        Spread(t, first, jna_bodyChain, index);
        return;
    }
    limb->root = chain.joints[root];
    limb->hinge = chain.joints[hinge];
    limb->end = chain.joints[end];
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

// A free branch of a joint that is long by itself, without the way inside the trunk.
static bool MayBeLimb(const Tree* t, int joint, int branch)
{
    return ParentOf(t, branch) == joint && t->anatomy->parts[branch] == jna_bodyNone &&
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
        AddLimb(t, best[0]);
        AddLimb(t, best[1]);
        t->pairs[joint]++;
    }
}

static bool IsBelow(const Tree* t, int joint, int above)
{
    while (joint > above) {
        joint = ParentOf(t, joint);
    }
    return joint == above;
}

// The branch of a joint with pairs that is most likely a neck and head: no pairs in it, the most flesh. -1: none.
static int HeadBranch(const Tree* t, int joint)
{
    int best = -1;
    for (int c = joint + 1; c < t->character->jointCount; ++c) {
        bool clear = ParentOf(t, c) == joint && t->anatomy->parts[c] == jna_bodyNone &&
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
            if (ParentOf(t, c) == head && t->volumes[c] >= HEAD_SHARE * t->volumes[branch]) {
                head = c;
                deeper = true;
            }
        }
    }
    Spread(t, branch, jna_bodyNeck, -1);
    Spread(t, head, jna_bodyHead, -1);
    t->anatomy->head = head;
}

// Which joints with pairs are chest and pelvis, and the head.
static void NameEnds(Tree* t)
{
    jnaAnatomy* a = t->anatomy;
    int headBranch = -1, count = 0;
    for (int j = 0; j < t->character->jointCount; ++j) {
        if (t->pairs[j] == 0) {
            continue;
        }
        count++;
        int branch = HeadBranch(t, j);
        if (branch >= 0 && (headBranch < 0 || t->volumes[branch] > t->volumes[headBranch])) {
            headBranch = branch;
            a->chest = j;
        }
    }
    if (headBranch >= 0) {
        NameHead(t, headBranch);
    }
    if (count < 2) { // one pair: not known whether arms or legs
        a->chest = -1;
        return;
    }
    int farthest = -1;
    for (int j = t->character->jointCount - 1; j >= 0; --j) {
        if (t->pairs[j] == 0) {
            continue;
        }
        a->chest = a->chest < 0 ? j : a->chest; // no head: the deeper pair is the chest
        int steps = PathLength(t, j, a->chest);
        if (j != a->chest && steps > farthest) {
            farthest = steps;
            a->pelvis = j;
        }
    }
    a->trunk = a->pelvis >= 0;
}

static void AddRoots(const jnaAnatomy* a, const Tree* t, int joint, double middle[3], double across[3])
{
    int count = 0;
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        if (ParentOf(t, limb->first) == joint) {
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
    AddRoots(a, t, a->pelvis, a->hips, acrossHips);
    AddRoots(a, t, a->chest, a->shoulders, acrossShoulders);
    for (int k = 0; k < 3; ++k) {
        a->up[k] = a->shoulders[k] - a->hips[k];
        a->left[k] = acrossHips[k] + (jnaDot(acrossHips, acrossShoulders) < 0 ? -1 : 1) * acrossShoulders[k];
    }
    a->length = jnaNormalize(a->up);
    for (int i = 0; i < a->limbCount; ++i) {
        jnaLimb* limb = &a->limbs[i];
        bool hind = ParentOf(t, limb->first) == a->pelvis;
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

jnResult jnaNameParts(
    const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer, jnaAnatomy* anatomy, jnError* error)
{
    int joints = character->jointCount;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    *anatomy = (jnaAnatomy){.jointCount = character->jointCount, .pelvis = -1, .chest = -1, .head = -1};
    Tree t = {.character = character, .flesh = flesh, .anatomy = anatomy};
    t.volumes = jnaArena_Take(&arena, joints, sizeof(double));
    t.lengths = jnaArena_Take(&arena, joints, sizeof(double));
    t.pairs = jnaArena_Take(&arena, joints, 1);
    anatomy->parts = jnaArena_Give(&arena, joints, 1);
    anatomy->limbOf = jnaArena_Give(&arena, joints, 1);
    JN_TRY(jnaArena_Check(&arena, "the parts of a body", error));
    memset(anatomy->limbOf, 0xff, (size_t)joints);
    anatomy->size = SizeOf(slicer);
    MeasureBranches(&t, slicer);
    for (int j = 0; j < character->jointCount; ++j) {
        if (anatomy->parts[j] == jna_bodyNone) { // a hand's fingers are no limbs
            FindPairs(&t, j);
        }
    }
    NameEnds(&t);
    if (anatomy->trunk) {
        FindAxes(&t);
    }
    NameRest(&t);
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

jnResult jnaFindAnatomy(const jnaCharacter* character, const jnaVolume* volume, jnaAnatomy* anatomy, jnError* error)
{
    jnaSlicer slicer = {0};
    jnaJointFlesh flesh = {0};
    *anatomy = (jnaAnatomy){0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateSlicer(volume, &slicer, error));
    JN_TRY(jnaCreateJointFlesh(volume, character, &slicer, &flesh, error));
    JN_TRY(jnaNameParts(character, &flesh, &slicer, anatomy, error));
done:
    jnaDestroyJointFlesh(&flesh);
    jnaDestroySlicer(&slicer);
    return result;
}

void jnaAnatomy_Tell(const jnaAnatomy* a, const jnaCharacter* c, jnaNotes* notes)
{
    if (a->trunk) {
        jnaNotes_Add(notes, "recognised trunk: pelvis at '%s', chest at '%s', head at '%s'%s",
            c->joints[a->pelvis].name, c->joints[a->chest].name, a->head >= 0 ? c->joints[a->head].name : "none",
            a->ribs[0][0] > 0 ? ", with a rib cage" : "");
    } else {
        jnaNotes_Add(notes, "no trunk was recognised: every joint with flesh has a plain bone");
    }
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        if (limb->hinge >= 0) {
            jnaNotes_Add(notes, "recognised %s: '%s', %s '%s', %s '%s'", limb->leg ? "leg" : "arm",
                c->joints[limb->root].name, limb->leg ? "knee" : "elbow", c->joints[limb->hinge].name,
                limb->leg ? "ankle" : "wrist", c->joints[limb->end].name);
        } else {
            jnaNotes_Add(notes, "recognised limb without joints of its own: '%s'", c->joints[limb->root].name);
        }
    }
}
