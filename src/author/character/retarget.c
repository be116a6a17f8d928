// Motion of one human skeleton on another.
//
// Both skeletons stand in a reference pose: the character in its rest pose, the motion in its rest pose or
// its first frame, whichever is nearer to a T-pose. D(f) is a source joint's change of global rotation since
// the reference. The target's global rotation is then
//
//   G(f) = D(f) A G_rest
//
// where A turns a limb of the character from its rest direction to the source's reference direction, first by
// the smallest rotation, parent before child, then about the limb until the hinge of elbow or knee agrees
// with the hinge that the motion itself shows. So limbs point where the performer's point, whatever pose the
// rig rests in. Trunk, neck, head and shoulders keep their rest shape (A = 1); feet are turned by heading
// only, so that soles stay level. Joints without a counterpart follow their parent. The root's path is scaled
// by leg length and stands on the same floor.
#include "base/arena.h"
#include "base/try.h"
#include "character/humanoid.h"
#include "character/import_internal.h"
#include "character/joint_names.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <strings.h>

// A hinge axis means something only where the joint is bent.
#define MOTION_BEND (25 * JNA_PI / 180)
#define REST_BEND (6 * JNA_PI / 180)

/// Global rotation and position of every joint in one pose.
typedef struct Pose {
    double (*rotations)[4];
    double (*positions)[3];
} Pose;

typedef struct Job {
    jnaArena arena;
    const jnaSource* source;
    const jnaCharacter* target;
    jnaHumanoid from, to;
    int* match;           // [target joints], source joint or -1
    double (*align)[4];   // [target joints], A
    Pose reference, rest; // of source and target
    Pose now;             // source, this frame
    jnaClip sample;       // source, one frame
    float* matrices;
    double axes[4]; // source world to target world
    int firstFrame; // of the source that is motion
    double ratio;   // target leg over source leg
    double floorFrom, floorTo;
} Job;

static void ReadPose(const jnaCharacter* skeleton, const jnaClip* clip, int frame, float* matrices, Pose* pose)
{
    jnaPoseMatrices(skeleton, clip, frame, matrices);
    for (int j = 0; j < skeleton->jointCount; ++j) {
        jnaAffine m = jnaAffine_FromFloats(matrices + 12 * (size_t)j);
        double scale[3];
        jnaAffine_ToTrs(&m, pose->positions[j], pose->rotations[j], scale);
    }
}

// The source at a time in frames, between two frames where needed.
static void SampleSource(const jnaSource* source, double frame, jnaClip* sample)
{
    int last = source->clip.frameCount - 1;
    int a = frame < last ? (int)frame : last, b = a < last ? a + 1 : a;
    double share = fmin(fmax(frame - a, 0), 1);
    size_t joints = (size_t)source->clip.jointCount;
    for (size_t j = 0; j < joints; ++j) {
        size_t ends[2] = {(size_t)a * joints + j, (size_t)b * joints + j};
        double q[2][4], mixed[4];
        for (int e = 0; e < 2; ++e) {
            for (int i = 0; i < 4; ++i) {
                q[e][i] = (double)source->clip.rotations[4 * ends[e] + (size_t)i];
            }
        }
        jnaQuat_Slerp(q[0], q[1], share, mixed);
        for (int i = 0; i < 4; ++i) {
            sample->rotations[4 * j + (size_t)i] = (float)mixed[i];
        }
        for (size_t i = 0; i < 3; ++i) {
            sample->translations[3 * j + i] = (float)((1 - share) * (double)source->clip.translations[3 * ends[0] + i] +
                                                      share * (double)source->clip.translations[3 * ends[1] + i]);
        }
    }
}

static bool Direction(const Pose* pose, int from, int to, double* direction)
{
    if (from < 0 || to < 0) {
        return false;
    }
    jnaSubtract(pose->positions[to], pose->positions[from], direction);
    return jnaNormalize(direction) > 0;
}

// Left, up and forward of a standing skeleton as the rows of `frame`. Up is the coordinate axis nearest to
// the trunk.
static bool BodyFrame(const jnaHumanoid* h, const Pose* pose, double frame[3][3])
{
    double trunk[3], side[3];
    int top = h->head >= 0 ? h->head : h->neckCount > 0 ? h->neck[0] : h->sided[jna_upperArm];
    int low = h->hips;
    bool good = Direction(pose, low, top, trunk);
    good = good && (Direction(pose, h->sided[jna_thigh + 1], h->sided[jna_thigh], side) ||
                       Direction(pose, h->sided[jna_upperArm + 1], h->sided[jna_upperArm], side));
    if (!good) {
        return false;
    }
    int axis = fabs(trunk[1]) >= fabs(trunk[0]) && fabs(trunk[1]) >= fabs(trunk[2]) ? 1
               : fabs(trunk[2]) >= fabs(trunk[0])                                   ? 2
                                                                                    : 0;
    for (int i = 0; i < 3; ++i) {
        frame[1][i] = i == axis ? (trunk[axis] < 0 ? -1 : 1) : 0;
    }
    jnaCross(side, frame[1], frame[2]);
    if (!(jnaNormalize(frame[2]) > 1e-6)) {
        return false;
    }
    jnaCross(frame[1], frame[2], frame[0]);
    return true;
}

// Mean angle between the limbs of a pose and those of a T-pose, in radians.
static double DistanceFromTPose(const jnaHumanoid* h, const Pose* pose)
{
    double frame[3][3], sum = 0;
    int count = 0;
    if (!BodyFrame(h, pose, frame)) {
        return JNA_PI;
    }
    static const int limbs[][2] = {
        {jna_upperArm, jna_foreArm}, {jna_foreArm, jna_hand}, {jna_thigh, jna_shin}, {jna_shin, jna_foot}};
    for (int l = 0; l < 4; ++l) {
        for (int side = 0; side < 2; ++side) {
            double direction[3];
            if (Direction(pose, h->sided[limbs[l][0] + side], h->sided[limbs[l][1] + side], direction)) {
                double cosine =
                    l < 2 ? jnaDot(direction, frame[0]) * (side == 0 ? 1 : -1) : -jnaDot(direction, frame[1]);
                sum += acos(fmin(fmax(cosine, -1), 1));
                count++;
            }
        }
    }
    return count > 0 ? sum / count : JNA_PI;
}

static double MeanTurn(const jnaClip* clip, int a, int b)
{
    double sum = 0;
    for (int j = 0; j < clip->jointCount; ++j) {
        const float* p = clip->rotations + 4 * ((size_t)a * (size_t)clip->jointCount + (size_t)j);
        const float* q = clip->rotations + 4 * ((size_t)b * (size_t)clip->jointCount + (size_t)j);
        double cosine = 0;
        for (int i = 0; i < 4; ++i) {
            cosine += (double)p[i] * (double)q[i];
        }
        sum += 2 * acos(fmin(fabs(cosine), 1));
    }
    return sum / clip->jointCount;
}

// Chooses the source's reference pose. A first frame that is a T-pose and jumps to the second is not part of
// the motion.
static void ChooseReference(Job* job, jnaNotes* notes)
{
    const jnaSource* source = job->source;
    ReadPose(&source->skeleton, NULL, 0, job->matrices, &job->reference);
    double rest = DistanceFromTPose(&job->from, &job->reference);
    ReadPose(&source->skeleton, &source->clip, 0, job->matrices, &job->now);
    double first = DistanceFromTPose(&job->from, &job->now);
    if (first < rest) {
        ReadPose(&source->skeleton, &source->clip, 0, job->matrices, &job->reference);
    }
    if (first < 15 * JNA_PI / 180 && source->clip.frameCount > 2) {
        double jump = MeanTurn(&source->clip, 0, 1), next = MeanTurn(&source->clip, 1, 2);
        if (jump > 2 * JNA_PI / 180 && jump > 3 * next) {
            job->firstFrame = 1;
            jnaNotes_Add(notes, "the first frame is a T-pose and is skipped");
        }
    }
}

static int FindJoint(const jnaCharacter* skeleton, const char* name)
{
    for (int j = 0; name != NULL && j < skeleton->jointCount; ++j) {
        if (strcasecmp(skeleton->joints[j].name, name) == 0) {
            return j;
        }
    }
    return -1;
}

// The joint of that name, or else the first of the same bare name: "mixamorig:LeftHandThumb1" is LeftHandThumb1.
static int FindCounterpart(const jnaCharacter* skeleton, const char* name)
{
    int found = FindJoint(skeleton, name);
    for (int j = 0; found < 0 && j < skeleton->jointCount; ++j) {
        found = jnaSameJointName(skeleton->joints[j].name, name) ? j : -1;
    }
    return found;
}

// Chains of different length: the ends meet, and what lies between is spread.
static void MatchChain(const int* from, int fromCount, const int* to, int toCount, int* match)
{
    for (int i = 0; i < toCount && fromCount > 0; ++i) {
        int k = toCount > 1 ? (int)lround((double)i * (fromCount - 1) / (toCount - 1)) : fromCount - 1;
        match[to[i]] = from[k];
    }
}

// Parts of a body by the names that the manifest has for them.
static const char* const sidedNames[JNA_SIDED_SLOTS] = {"left_clavicle", "right_clavicle", "left_upper_arm",
    "right_upper_arm", "left_forearm", "right_forearm", "left_hand", "right_hand", "left_thigh", "right_thigh",
    "left_shin", "right_shin", "left_foot", "right_foot", "left_toe", "right_toe"};

static bool Contains(const int* list, int count, int joint)
{
    for (int i = 0; i < count; ++i) {
        if (list[i] == joint) {
            return true;
        }
    }
    return false;
}

// Which part of the body a pair means: its source names the part, or is a joint of the motion that is one. The place of
// the character's joint of that part; NULL where it is no part. Of chains, the place of the next link.
static int* FindPart(const jnaHumanoid* from, int source, const char* name, jnaHumanoid* to)
{
    bool known = source >= 0;
    if (known ? source == from->hips : strcasecmp(name, "hips") == 0) {
        return &to->hips;
    }
    if (known ? source == from->head : strcasecmp(name, "head") == 0) {
        return &to->head;
    }
    for (int s = 0; s < JNA_SIDED_SLOTS; ++s) {
        if (known ? source == from->sided[s] : strcasecmp(name, sidedNames[s]) == 0) {
            return &to->sided[s];
        }
    }
    bool spine = known ? Contains(from->spine, from->spineCount, source) : strcasecmp(name, "spine") == 0;
    bool neck = known ? Contains(from->neck, from->neckCount, source) : strcasecmp(name, "neck") == 0;
    if (spine && to->spineCount < JNA_MAX_CHAIN) {
        return &to->spine[to->spineCount++];
    }
    return neck && to->neckCount < JNA_MAX_CHAIN ? &to->neck[to->neckCount++] : NULL;
}

// Pairs tell the parts of a character whose joints have names that say nothing; a chain that names showed stays.
static void TakeLandmarks(Job* job, const jnaRetargetDef* def)
{
    jnaHumanoid named = job->to;
    named.spineCount = named.neckCount = 0;
    for (int p = 0; def != NULL && p < def->pairCount; ++p) {
        const jnaJointPair* pair = &def->pairs[p];
        int joint = FindJoint(job->target, pair->joint);
        if (joint >= 0) {
            int* part = FindPart(&job->from, FindJoint(&job->source->skeleton, pair->source), pair->source, &named);
            if (part != NULL) {
                *part = joint;
            }
        }
    }
    if (named.spineCount == 0 || job->to.spineCount > 0) {
        named.spineCount = job->to.spineCount;
        memcpy(named.spine, job->to.spine, sizeof(named.spine));
    }
    if (named.neckCount == 0 || job->to.neckCount > 0) {
        named.neckCount = job->to.neckCount;
        memcpy(named.neck, job->to.neck, sizeof(named.neck));
    }
    job->to = named;
}

static jnResult MatchJoints(Job* job, const jnaRetargetDef* def, jnError* error)
{
    const jnaCharacter *from = &job->source->skeleton, *to = job->target;
    for (int j = 0; j < to->jointCount; ++j) {
        job->match[j] = FindCounterpart(from, to->joints[j].name);
    }
    for (int s = 0; s < JNA_SIDED_SLOTS; ++s) {
        if (job->to.sided[s] >= 0 && job->from.sided[s] >= 0) {
            job->match[job->to.sided[s]] = job->from.sided[s];
        }
    }
    MatchChain(job->from.spine, job->from.spineCount, job->to.spine, job->to.spineCount, job->match);
    MatchChain(job->from.neck, job->from.neckCount, job->to.neck, job->to.neckCount, job->match);
    if (job->to.head >= 0 && job->from.head >= 0) {
        job->match[job->to.head] = job->from.head;
    }
    if (job->to.hips >= 0 && job->from.hips >= 0) {
        job->match[job->to.hips] = job->from.hips;
    }
    for (int p = 0; def != NULL && p < def->pairCount; ++p) {
        const jnaJointPair* pair = &def->pairs[p];
        int source = FindJoint(from, pair->source);
        bool unused = pair->joint == NULL || pair->joint[0] == '\0';
        int joint = FindJoint(to, pair->joint);
        if (!unused && joint < 0) {
            return jnFail(error, jn_badData, "retarget: the character has no joint '%s'", pair->joint);
        }
        // A pair may be meant for another clip's skeleton: a source joint that this file lacks is no mistake.
        for (int j = 0; source >= 0 && j < to->jointCount; ++j) {
            job->match[j] = job->match[j] == source ? -1 : job->match[j];
        }
        if (source >= 0 && joint >= 0) {
            job->match[joint] = source;
        }
    }
    return jn_ok;
}

// Overrides may also name the parts: a target part is where its match says, whatever the source joint is
// called.
static void AdoptMatches(Job* job)
{
    if (job->to.hips >= 0 && job->match[job->to.hips] >= 0) {
        job->from.hips = job->match[job->to.hips];
    }
    for (int s = 0; s < JNA_SIDED_SLOTS; ++s) {
        if (job->to.sided[s] >= 0 && job->match[job->to.sided[s]] >= 0) {
            job->from.sided[s] = job->match[job->to.sided[s]];
        }
    }
}

static double LegLength(const jnaHumanoid* h, const Pose* pose)
{
    double sum = 0;
    for (int side = 0; side < 2; ++side) {
        static const int chain[] = {jna_thigh, jna_shin, jna_foot};
        for (int l = 0; l < 2; ++l) {
            int a = h->sided[chain[l] + side], b = h->sided[chain[l + 1] + side];
            if (a < 0 || b < 0) {
                return 0;
            }
            sum += jnaDistance(pose->positions[b], pose->positions[a]);
        }
    }
    return sum / 2;
}

// Height of the lowest foot or toe joint, along the target's up axis, in the units of the pose.
static double LowestFoot(const jnaHumanoid* h, const Pose* pose, const double* axes)
{
    double lowest = HUGE_VAL;
    for (int s = jna_foot; s < JNA_SIDED_SLOTS; ++s) {
        if (h->sided[s] >= 0) {
            double turned[3];
            jnaQuat_Rotate(axes, pose->positions[h->sided[s]], turned);
            lowest = fmin(lowest, turned[1]);
        }
    }
    return lowest;
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// The floor of the motion: what the feet are seldom below, in at most 400 frames.
static void FindFloor(Job* job)
{
    enum { FLOOR_SAMPLES = 400 };
    static const double identity[4] = {0, 0, 0, 1};
    double heights[FLOOR_SAMPLES];
    int frames = job->source->clip.frameCount - job->firstFrame,
        count = frames < FLOOR_SAMPLES ? frames : FLOOR_SAMPLES;
    for (int k = 0; k < count; ++k) {
        int frame = job->firstFrame + (int)((long)k * (frames - 1) / (count > 1 ? count - 1 : 1));
        ReadPose(&job->source->skeleton, &job->source->clip, frame, job->matrices, &job->now);
        heights[k] = LowestFoot(&job->from, &job->now, job->axes);
    }
    qsort(heights, (size_t)count, sizeof(double), CompareDoubles);
    job->floorFrom = heights[count / 20];
    job->floorTo = LowestFoot(&job->to, &job->rest, identity);
    if (!isfinite(job->floorFrom) || !isfinite(job->floorTo)) {
        // No feet: the thighs' own height stands in.
        double turned[3];
        jnaQuat_Rotate(job->axes, job->reference.positions[job->from.sided[jna_thigh]], turned);
        job->floorFrom = turned[1];
        job->floorTo = job->rest.positions[job->to.sided[jna_thigh]][1];
    }
}

// Change of a source joint's global rotation since the reference, in the target's world.
static void Change(const Job* job, int joint, double* change)
{
    double back[4], inverse[4];
    jnaQuat_Conjugate(job->reference.rotations[joint], back);
    jnaQuat_Multiply(job->now.rotations[joint], back, change);
    jnaQuat_Conjugate(job->axes, inverse);
    jnaQuat_Multiply(job->axes, change, change);
    jnaQuat_Multiply(change, inverse, change);
}

static bool Hinge(const double* upper, const double* lower, double bend, double* axis)
{
    jnaCross(upper, lower, axis);
    double sine = jnaNormalize(axis), cosine = jnaDot(upper, lower);
    return atan2(sine, cosine) > bend;
}

// The axis about which the motion bends an elbow or knee, carried back to the reference pose, in the target's
// world.
static bool FindHinge(Job* job, int upper, int lower, int end, double* axis)
{
    double sum[3] = {0, 0, 0};
    int count = 0, frames = job->source->clip.frameCount, step = frames > 300 ? frames / 300 : 1;
    for (int f = job->firstFrame; f < frames && upper >= 0 && lower >= 0 && end >= 0; f += step) {
        double a[3], b[3], h[3], change[4];
        ReadPose(&job->source->skeleton, &job->source->clip, f, job->matrices, &job->now);
        if (!Direction(&job->now, upper, lower, a) || !Direction(&job->now, lower, end, b) ||
            !Hinge(a, b, MOTION_BEND, h)) {
            continue;
        }
        jnaQuat_Rotate(job->axes, h, h);
        Change(job, upper, change);
        jnaQuat_Conjugate(change, change);
        jnaQuat_Rotate(change, h, h);
        for (int i = 0; i < 3; ++i) {
            sum[i] += h[i];
        }
        count++;
    }
    memcpy(axis, sum, sizeof(sum));
    // A hinge keeps its axis; where the frames disagree there is none to follow.
    return jnaNormalize(axis) > 0.7 * count && count >= 10;
}

// Angle about `axis` that brings a to b, both taken across the axis.
static double TwistBetween(const double* axis, const double* a, const double* b)
{
    double cross[3], sine, cosine;
    jnaCross(a, b, cross);
    sine = jnaDot(cross, axis);
    cosine = jnaDot(a, b) - jnaDot(a, axis) * jnaDot(b, axis);
    return atan2(sine, cosine);
}

// Turns `align` on so that the target's bone from -> to points as the source's does in its reference pose.
static bool AlignBone(const Job* job, int from, int to, int sourceFrom, int sourceTo, double* align, double* wanted)
{
    double mine[3], turn[4];
    if (!Direction(&job->rest, from, to, mine) || !Direction(&job->reference, sourceFrom, sourceTo, wanted)) {
        return false;
    }
    jnaQuat_Rotate(job->axes, wanted, wanted);
    jnaQuat_Rotate(align, mine, mine);
    jnaQuat_Between(mine, wanted, turn);
    jnaQuat_Multiply(turn, align, align);
    return true;
}

// Upper and lower part of an arm or leg. last: the hand or foot.
static void AlignLimb(Job* job, int upper, int lower, int last)
{
    const int* to = job->to.sided;
    const int* from = job->from.sided;
    if (to[upper] < 0 || to[lower] < 0 || to[last] < 0) {
        return;
    }
    double* align = job->align[to[upper]];
    double direction[3], hinge[3], a[3], b[3], mine[3], turn[4];
    if (!AlignBone(job, to[upper], to[lower], from[upper], from[lower], align, direction)) {
        return;
    }
    if (Direction(&job->rest, to[upper], to[lower], a) && Direction(&job->rest, to[lower], to[last], b) &&
        Hinge(a, b, REST_BEND, mine) && FindHinge(job, from[upper], from[lower], from[last], hinge)) {
        jnaQuat_Rotate(align, mine, mine);
        double twist = TwistBetween(direction, mine, hinge);
        // More than a quarter turn is no pose of the same joint but a hinge misread.
        if (fabs(twist) < JNA_PI / 2) {
            jnaQuat_FromAxis(direction, twist, turn);
            jnaQuat_Multiply(turn, align, align);
        }
    }
    memcpy(job->align[to[lower]], align, sizeof(job->align[0]));
    AlignBone(job, to[lower], to[last], from[lower], from[last], job->align[to[lower]], direction);
    memcpy(job->align[to[last]], job->align[to[lower]], sizeof(job->align[0]));
}

// The hand's own direction, by a child that both skeletons have.
static void AlignHand(Job* job, int side)
{
    int hand = job->to.sided[jna_hand + side];
    for (int j = 0; hand >= 0 && j < job->target->jointCount; ++j) {
        if (job->target->joints[j].parent == hand && job->match[j] >= 0 && job->match[hand] >= 0 &&
            strcasestr(job->target->joints[j].name, "thumb") == NULL) {
            double direction[3];
            AlignBone(job, hand, j, job->match[hand], job->match[j], job->align[hand], direction);
            return;
        }
    }
}

static void AlignFoot(Job* job, int side)
{
    int foot = job->to.sided[jna_foot + side], toe = job->to.sided[jna_toe + side];
    double mine[3], wanted[3];
    static const double up[3] = {0, 1, 0};
    if (foot < 0) {
        return;
    }
    double* align = job->align[foot];
    memcpy(align, (double[4]){0, 0, 0, 1}, 4 * sizeof(double));
    if (Direction(&job->rest, foot, toe, mine) &&
        Direction(&job->reference, job->from.sided[jna_foot + side], job->from.sided[jna_toe + side], wanted)) {
        jnaQuat_Rotate(job->axes, wanted, wanted);
        jnaQuat_FromAxis(up, TwistBetween(up, mine, wanted), align);
    }
    if (toe >= 0) {
        memcpy(job->align[toe], align, 4 * sizeof(double));
    }
}

static void AlignAll(Job* job)
{
    for (int j = 0; j < job->target->jointCount; ++j) {
        memcpy(job->align[j], (double[4]){0, 0, 0, 1}, 4 * sizeof(double));
    }
    for (int side = 0; side < 2; ++side) {
        AlignLimb(job, jna_upperArm + side, jna_foreArm + side, jna_hand + side);
        AlignLimb(job, jna_thigh + side, jna_shin + side, jna_foot + side);
        AlignHand(job, side);
        AlignFoot(job, side);
    }
}

// The first joints of a character, for a message: "Root, Bone, Bone.001, ...".
static void ListJoints(const jnaCharacter* character, char* text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int j = 0; j < character->jointCount; ++j) {
        const char* name = character->joints[j].name;
        if (length + strlen(name) + sizeof(", ") + sizeof(", ...") >= size) {
            snprintf(text + length, size - length, ", ...");
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", j > 0 ? ", " : "", name);
    }
}

static jnResult PrepareAxes(Job* job, jnError* error)
{
    double from[3][3], to[3][3];
    if (job->from.hips < 0 || !BodyFrame(&job->from, &job->reference, from)) {
        return jnFail(error, jn_badData,
            "%s: no hips, head and legs among its joints; name them under retarget in the manifest", job->source->path);
    }
    if (job->to.hips < 0 || !BodyFrame(&job->to, &job->rest, to)) {
        char joints[240];
        ListJoints(job->target, joints, sizeof(joints));
        return jnFail(error, jn_badData,
            "%s: no names of hips, head and legs among the character's joints; say which they are with --retarget "
            "hips=JOINT --retarget left_thigh=JOINT ...; its joints: %s",
            job->source->path, joints);
    }
    jnaAffine turn = {{0}};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            for (int l = 0; l < 3; ++l) {
                turn.m[4 * i + k] += to[l][i] * from[l][k];
            }
        }
    }
    double unused[3], scale[3];
    jnaAffine_ToTrs(&turn, unused, job->axes, scale);
    double fromLeg = LegLength(&job->from, &job->reference), toLeg = LegLength(&job->to, &job->rest);
    if (!(fromLeg > 0) || !(toLeg > 0)) {
        return jnFail(error, jn_badData, "%s: the legs cannot be measured: thigh, shin or foot is not matched",
            job->source->path);
    }
    job->ratio = toLeg / fromLeg;
    return jn_ok;
}

// The point between the two thigh joints. Where the hips joint lies above it is each rig's own affair.
static void MiddleOfThighs(const jnaHumanoid* h, const Pose* pose, double* middle)
{
    const double* left = pose->positions[h->sided[jna_thigh]];
    const double* right = pose->positions[h->sided[jna_thigh + 1]];
    for (int i = 0; i < 3; ++i) {
        middle[i] = (left[i] + right[i]) / 2;
    }
}

// Where the hips are in the target's world: the thighs stand as high as the performer's, scaled.
// start: the middle of the source's thighs in the first frame, turned.
static void PlaceHips(const Job* job, const double* start, double* position)
{
    double middle[3], rest[3], arm[3], change[4];
    MiddleOfThighs(&job->from, &job->now, middle);
    jnaQuat_Rotate(job->axes, middle, middle);
    MiddleOfThighs(&job->to, &job->rest, rest);
    jnaSubtract(job->rest.positions[job->to.hips], rest, arm);
    Change(job, job->from.hips, change);
    jnaQuat_Rotate(change, arm, arm);
    position[0] = rest[0] + job->ratio * (middle[0] - start[0]) + arm[0];
    position[1] = job->floorTo + job->ratio * (middle[1] - job->floorFrom) + arm[1];
    position[2] = rest[2] + job->ratio * (middle[2] - start[2]) + arm[2];
}

static void WriteFrame(const Job* job, const double* start, double (*global)[4], jnaClip* clip, int frame)
{
    for (int j = 0; j < job->target->jointCount; ++j) {
        const jnaJoint* joint = &job->target->joints[j];
        size_t entry = (size_t)frame * (size_t)clip->jointCount + (size_t)j;
        double local[4] = {(double)joint->rotation[0], (double)joint->rotation[1], (double)joint->rotation[2],
            (double)joint->rotation[3]};
        double parent[4] = {0, 0, 0, 1}, back[4];
        if (joint->parent >= 0) {
            memcpy(parent, global[joint->parent], sizeof(parent));
        }
        if (job->match[j] >= 0) {
            Change(job, job->match[j], global[j]);
            jnaQuat_Multiply(global[j], job->align[j], global[j]);
            jnaQuat_Multiply(global[j], job->rest.rotations[j], global[j]);
            jnaQuat_Conjugate(parent, back);
            jnaQuat_Multiply(back, global[j], local);
            jnaQuat_Normalize(local);
        } else {
            jnaQuat_Multiply(parent, local, global[j]);
        }
        for (int i = 0; i < 4; ++i) {
            clip->rotations[4 * entry + (size_t)i] = (float)local[i];
        }
        memcpy(clip->translations + 3 * entry, joint->translation, 3 * sizeof(float));
    }
    // The nodes above the hips rest, so the hips' place in their frame is a matter of the rest pose alone.
    double position[3];
    PlaceHips(job, start, position);
    int up = job->target->joints[job->to.hips].parent;
    jnaPoseMatrices(job->target, clip, frame, job->matrices);
    jnaAffine above = up >= 0 ? jnaAffine_FromFloats(job->matrices + 12 * (size_t)up) : jnaAffine_Identity(), inverse;
    if (jnaAffine_Invert(&above, &inverse)) {
        jnaAffine_Apply(&inverse, position, position);
    }
    size_t entry = (size_t)frame * (size_t)clip->jointCount + (size_t)job->to.hips;
    for (size_t i = 0; i < 3; ++i) {
        clip->translations[3 * entry + i] = (float)position[i];
    }
}

static jnResult WriteClip(Job* job, double rate, jnaClip* clip, jnError* error)
{
    const jnaSource* source = job->source;
    int moving = source->clip.frameCount - job->firstFrame;
    if (moving < 2) {
        return jnFail(error, jn_badData, "%s: the motion has zero length", job->source->path);
    }
    double frames = floor((moving - 1) / source->clip.rate * rate + 1e-3) + 1;
    if (frames * job->target->jointCount > (double)(1 << 28)) {
        return jnFail(error, jn_badData, "%s: the motion is longer than can be taken", job->source->path);
    }
    clip->frameCount = (int)frames;
    clip->jointCount = job->target->jointCount;
    clip->rate = rate;
    JN_PASS(jnaClip_Allocate(clip, false, error));
    double(*global)[4] = jnaArena_Take(&job->arena, clip->jointCount, sizeof(*global));
    if (global == NULL) {
        jnaDestroyClip(clip);
        return jnaArena_Check(&job->arena, job->source->path, error);
    }
    double start[3] = {0, 0, 0};
    for (int f = 0; f < clip->frameCount; ++f) {
        if (f % 64 == 0 && !jnaWatch_GoesOn(source->watch, 0)) {
            jnaDestroyClip(clip);
            return jnaWatch_Stopped(error);
        }
        SampleSource(source, job->firstFrame + f * source->clip.rate / rate, &job->sample);
        ReadPose(&source->skeleton, &job->sample, 0, job->matrices, &job->now);
        if (f == 0) {
            MiddleOfThighs(&job->from, &job->now, start);
            jnaQuat_Rotate(job->axes, start, start);
        }
        WriteFrame(job, start, global, clip, f);
    }
    return jn_ok;
}

// Adds a name to a list in a sentence, as long as there is room.
static void Append(char* text, size_t size, const char* name)
{
    size_t used = strlen(text);
    if (used + strlen(name) + 8 < size) {
        snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
    } else if (used + 5 < size && text[used - 1] != '.') {
        snprintf(text + used, size - used, " ...");
    }
}

// Whether a joint moves part of the surface. The end of a finger or of the head moves nothing.
static bool Moves(const jnaCharacter* c, int joint)
{
    for (int v = 0; v < c->vertexCount; ++v) {
        for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
            if (c->influences[v].joints[i] == joint && c->influences[v].weights[i] > 0) {
                return true;
            }
        }
    }
    return c->vertexCount == 0; // a skeleton alone
}

static void NoteUnmatched(const Job* job, jnaNotes* notes)
{
    char lost[JNA_NOTE_LENGTH - 80] = "", still[JNA_NOTE_LENGTH - 80] = "";
    for (int s = 0; s < job->source->skeleton.jointCount; ++s) {
        bool used = strncmp(job->source->skeleton.joints[s].name, "End:", 4) == 0;
        for (int j = 0; j < job->target->jointCount; ++j) {
            used = used || job->match[j] == s;
        }
        if (!used) {
            Append(lost, sizeof(lost), job->source->skeleton.joints[s].name);
        }
    }
    for (int j = 0; j < job->target->jointCount; ++j) {
        if (job->match[j] < 0 && Moves(job->target, j)) {
            Append(still, sizeof(still), job->target->joints[j].name);
        }
    }
    if (lost[0] != '\0') {
        jnaNotes_Add(notes, "joints of the motion file without a match in the character: %s", lost);
    }
    if (still[0] != '\0') {
        jnaNotes_Add(notes, "joints of the character that the motion does not drive: %s", still);
    }
}

static void TakePose(jnaArena* arena, int count, Pose* pose)
{
    pose->rotations = jnaArena_Take(arena, count, sizeof(*pose->rotations));
    pose->positions = jnaArena_Take(arena, count, sizeof(*pose->positions));
}

static jnResult AllocateJob(Job* job, jnError* error)
{
    int from = job->source->skeleton.jointCount, to = job->target->jointCount;
    job->match = jnaArena_Take(&job->arena, to, sizeof(*job->match));
    job->align = jnaArena_Take(&job->arena, to, sizeof(*job->align));
    job->matrices = jnaArena_Take(&job->arena, from > to ? from : to, 12 * sizeof(float));
    TakePose(&job->arena, from, &job->reference);
    TakePose(&job->arena, from, &job->now);
    TakePose(&job->arena, to, &job->rest);
    job->sample = (jnaClip){.frameCount = 1, .jointCount = from};
    jnResult result = jnaArena_Check(&job->arena, job->source->path, error);
    return result != jn_ok ? result : jnaClip_Allocate(&job->sample, false, error);
}

jnResult jnaRetarget(const jnaSource* source, const jnaRetargetDef* def, const jnaCharacter* character, double rate,
    jnaClip* clip, jnaNotes* notes, jnError* error)
{
    *clip = (jnaClip){0};
    Job job = {.source = source, .target = character};
    jnResult result = jn_ok;
    JN_TRY(AllocateJob(&job, error));
    jnaFindHumanoid(&source->skeleton, &job.from);
    jnaFindHumanoid(character, &job.to);
    TakeLandmarks(&job, def);
    JN_TRY(MatchJoints(&job, def, error));
    AdoptMatches(&job);
    ReadPose(character, NULL, 0, job.matrices, &job.rest);
    ChooseReference(&job, notes);
    JN_TRY(PrepareAxes(&job, error));
    FindFloor(&job);
    AlignAll(&job);
    JN_TRY(WriteClip(&job, rate, clip, error));
    NoteUnmatched(&job, notes);
done:
    jnaDestroyClip(&job.sample);
    jnaReleaseArena(&job.arena);
    return result;
}
