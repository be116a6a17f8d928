// Where bones go, by what the parts of a character are (anatomy.h).
//
// A bone is a tapered elliptic capsule, less whatever lies under its cover of flesh:
//
//   limbs       a shaft from pivot to pivot, as thick as a share of the flesh around it; a ball at each pivot that
//   turns
//               with half of the joint's rotation. Shafts begin inside their balls, whose size keeps them apart up to a
//               flexion of 140 degrees. The shin's shaft lies in front, under the skin.
//   trunk       a rib cage, a pelvis, and the spine between them
//   neck        a shaft a joint
//   the rest    tails, blobs: a shaft from each joint towards each child, or towards the flesh that it moves
//
// Head, hands and feet are bone all through but for their cover (bone_hold.c): their shape is that of the skin.
//
// Sections square to the axis tell how thick the flesh is. The axis is moved towards the middle of the sections; the
// cross-section is an ellipse.
#include "volume/anatomy_internal.h"

#include "base/affine.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { STATIONS = 7 };

// Shafts: shares of the local half-thickness.
#define THIGH 0.26
#define UPPER_ARM 0.34
#define FOREARM 0.5
#define SHIN 0.42
#define NECK 0.5
#define GIRDLE 0.35
#define SPINE 0.22
#define SOFT_CHAIN 0.3
#define LAST_OF_CHAIN 0.5
// Balls: shares of the half-thickness at their pivot. Hips are deep inside, shoulders under muscle.
#define HINGE_BALL 0.8
#define END_BALL 0.85
#define HIP_BALL 0.4
#define SHOULDER_BALL 0.6
// Flesh that is left over a ball and in front of the shin, shares of the half-thickness there.
#define BALL_COVER 0.1
#define SHIN_COVER 0.12
// A shaft begins this part of its ball's radius from the pivot.
#define IN_BALL 0.3
// Flesh over the ribs and the pelvis, parts of the body's size.
#define RIBS_COVER 0.008
#define PELVIS_COVER 0.014
// The rib cage is rounded below by this part of the trunk's length, and above.
#define RIBS_ROUND_LOW 0.24
#define RIBS_ROUND_HIGH 0.1
// The pelvis: height of its middle and half its height as parts of the trunk's length; width and depth of the way to
// the skin. Its depth leaves buttocks and belly.
#define PELVIS_AT 0.06
#define PELVIS_HIGH 0.2
#define PELVIS_WIDE 0.72
#define PELVIS_DEEP 0.4
// At most this part of a segment is left free at each end of a chain's bone.
#define SHORT_LIMIT 0.1
// How far the axis moves to the middle of the flesh. Not all the way: a spine lies behind it.
#define CENTRING 0.6
// A bone reaches at most this far from its axis to the skin, in all directions but a few.
#define DEEPEST 0.85
#define IGNORED_RAYS 0.1
// A segment shorter than this part of the flesh's reach says little about where its bone should be.
#define STUB 0.5
// A joint nearer to the middle of its flesh than this part of the reach has no direction of its own.
#define CENTRED 0.15
// Flesh below this part of the whole gets no bone of its own.
#define LEAST_FLESH 2e-5

// A segment that wants a bone.
typedef struct Segment {
    int joint;
    double from[3], to[3];
    double freeStart, freeEnd; // what to leave at the ends, metres
    double share;
    const double* front; // the bone lies under the skin on this side; NULL: in the middle
} Segment;

// What is being shaped.
typedef struct Shaper {
    const jnaCharacter* character;
    const jnaJointFlesh* flesh;
    const jnaAnatomy* anatomy;
    jnaSlicer* slicer;
    const jnaBoneSetting* settings; // [jointCount]
    jnaBoneList* bones;
} Shaper;

static double Distance(const double* a, const double* b)
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(jnaDot(d, d));
}

static void Between(const double* a, const double* b, double t, double* out)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[i] + t * (b[i] - a[i]);
    }
}

// Sections at even places along a segment. Returns how many lie inside the flesh.
static int CutSegment(
    jnaSlicer* slicer, const double* from, const double* to, double axes[3][3], jnaSection sections[STATIONS])
{
    int inside = 0;
    for (int i = 0; i < 3; ++i) {
        axes[2][i] = to[i] - from[i];
    }
    jnaNormalize(axes[2]);
    jnaCrossAxes(axes[2], axes[0], axes[1]);
    for (int s = 0; s < STATIONS; ++s) {
        double origin[3];
        Between(from, to, (s + 0.5) / STATIONS, origin);
        jnaSlice(slicer, origin, axes[0], axes[1], &sections[s]);
        inside += sections[s].inside;
    }
    return inside;
}

// A straight line through the values of the sections that are inside: at the start and at the end.
static void FitLine(const jnaSection* sections, const double* values, double line[2])
{
    double n = 0, t1 = 0, t2 = 0, y = 0, ty = 0, low = HUGE_VAL, high = -HUGE_VAL;
    for (int s = 0; s < STATIONS; ++s) {
        if (sections[s].inside) {
            double t = (s + 0.5) / STATIONS;
            n += 1;
            t1 += t;
            t2 += t * t;
            y += values[s];
            ty += t * values[s];
            low = fmin(low, values[s]);
            high = fmax(high, values[s]);
        }
    }
    double det = n * t2 - t1 * t1;
    double slope = det > 1e-9 ? (n * ty - t1 * y) / det : 0, start = (y - slope * t1) / n;
    line[0] = fmin(fmax(start, low), high);
    line[1] = fmin(fmax(start + slope, low), high);
}

// Moves a segment towards the middle of the flesh.
static void Centre(Segment* segment, double axes[3][3], const jnaSection* sections)
{
    for (int k = 0; k < 2; ++k) {
        double values[STATIONS], line[2];
        for (int s = 0; s < STATIONS; ++s) {
            double most = 0.5 * sections[s].radius;
            values[s] = sections[s].inside ? fmin(fmax(sections[s].shift[k], -most), most) : 0;
        }
        FitLine(sections, values, line);
        for (int i = 0; i < 3; ++i) {
            segment->from[i] += CENTRING * line[0] * axes[k][i];
            segment->to[i] += CENTRING * line[1] * axes[k][i];
        }
    }
}

// Turns the cross axes to the section's long and short side. Returns by how much they differ, 0 to 0.5 of the mean.
static double TurnAxes(double axes[3][3], const jnaSection* sections)
{
    double cosine = 0, sine = 0, radius = 0;
    for (int s = 0; s < STATIONS; ++s) {
        cosine += sections[s].inside ? sections[s].second[0] : 0;
        sine += sections[s].inside ? sections[s].second[1] : 0;
        radius += sections[s].inside ? sections[s].radius : 0;
    }
    double angle = 0.5 * atan2(sine, cosine), c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; ++i) {
        double u = axes[0][i], v = axes[1][i];
        axes[0][i] = c * u + s * v;
        axes[1][i] = c * v - s * u;
    }
    return fmin(sqrt(cosine * cosine + sine * sine) / radius, 0.5);
}

// Reach of a bone's cross-section in a direction of its frame, as the support of an ellipsoid.
static double Support(const jnaBone* bone, double t, const double* direction)
{
    double r[3];
    for (int k = 0; k < 2; ++k) {
        r[k] = (bone->radii[0][k] + t * (bone->radii[1][k] - bone->radii[0][k])) * jnaDot(direction, bone->axes[k]);
    }
    double along = jnaDot(direction, bone->axes[2]);
    r[2] = along * (along < 0 ? bone->caps[0] : bone->caps[1]);
    return sqrt(jnaDot(r, r));
}

// A bone of the given reach along its axis: rounded ends included, so that nothing sticks out of [start, end].
static void SetExtent(jnaBone* bone, const double* from, const double* along, double start, double end)
{
    double half = 0.5 * (end - start);
    for (int e = 0; e < 2; ++e) {
        bone->caps[e] = fmin(fmin(bone->radii[e][0], bone->radii[e][1]), half);
    }
    for (int i = 0; i < 3; ++i) {
        bone->ends[0][i] = from[i] + (start + bone->caps[0]) * along[i];
        bone->ends[1][i] = from[i] + (end - bone->caps[1]) * along[i];
    }
}

static int CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Keeps the cross-sections away from the skin. u, v: the axes of the sections' rays.
static void Thin(jnaBone* bone, const jnaSection* sections, const double* u, const double* v, double ignored)
{
    double room[STATIONS * JNA_SECTION_RAYS];
    int count = 0;
    for (int s = 0; s < STATIONS; ++s) {
        for (int k = 0; sections[s].inside && k < JNA_SECTION_RAYS; ++k) {
            double angle = JNA_TURN * k / JNA_SECTION_RAYS, d[3];
            for (int i = 0; i < 3; ++i) {
                d[i] = cos(angle) * u[i] + sin(angle) * v[i];
            }
            room[count++] = sections[s].distances[k] / Support(bone, (s + 0.5) / STATIONS, d);
        }
    }
    qsort(room, (size_t)count, sizeof(double), CompareDoubles);
    double scale = fmin(1, DEEPEST * room[(int)(ignored * count)]);
    for (int e = 0; e < 4; ++e) {
        bone->radii[e / 2][e % 2] *= scale;
    }
}

// Moves a segment so that its bone lies under the skin on one side.
static void MoveToFront(Segment* segment, double axes[3][3], const jnaSection* sections)
{
    double values[STATIONS], line[2];
    const double x = jnaDot(segment->front, axes[0]), y = jnaDot(segment->front, axes[1]);
    int ray = (int)lround(atan2(y, x) / JNA_TURN * JNA_SECTION_RAYS + JNA_SECTION_RAYS) % JNA_SECTION_RAYS;
    for (int s = 0; s < STATIONS; ++s) {
        double radius = sections[s].radius;
        values[s] =
            sections[s].inside ? fmax(sections[s].distances[ray] - (SHIN_COVER + segment->share) * radius, 0) : 0;
    }
    FitLine(sections, values, line);
    for (int i = 0; i < 3; ++i) {
        segment->from[i] += line[0] * segment->front[i];
        segment->to[i] += line[1] * segment->front[i];
    }
}

// Adds the bone of a segment; none where the segment does not run inside the flesh.
static void AddShaft(Shaper* shaper, Segment* segment, bool blends)
{
    const jnaBoneSetting* setting = &shaper->settings[segment->joint];
    jnaSection sections[STATIONS];
    jnaBone* bone = &shaper->bones->bones[shaper->bones->count];
    *bone = (jnaBone){.joint = segment->joint, .blends = blends};
    if (!(setting->radius > 0 && setting->length > 0) ||
        CutSegment(shaper->slicer, segment->from, segment->to, bone->axes, sections) == 0) {
        return;
    }
    Centre(segment, bone->axes, sections);
    if (CutSegment(shaper->slicer, segment->from, segment->to, bone->axes, sections) == 0) {
        return;
    }
    double u[3], v[3], radii[STATIONS], line[2];
    memcpy(u, bone->axes[0], sizeof(u));
    memcpy(v, bone->axes[1], sizeof(v));
    double oval = TurnAxes(bone->axes, sections);
    for (int s = 0; s < STATIONS; ++s) {
        radii[s] = sections[s].radius;
    }
    FitLine(sections, radii, line);
    for (int e = 0; e < 2; ++e) {
        bone->radii[e][0] = setting->radius * segment->share * line[e] * (1 + oval);
        bone->radii[e][1] = setting->radius * segment->share * line[e] * (1 - oval);
    }
    Thin(bone, sections, u, v, IGNORED_RAYS);
    if (segment->front != NULL) {
        double square[3][3] = {{u[0], u[1], u[2]}, {v[0], v[1], v[2]}, {0}};
        MoveToFront(segment, square, sections);
    }
    double length = Distance(segment->from, segment->to), start = fmin(segment->freeStart, 0.4 * length);
    double end = length - fmin(segment->freeEnd, 0.4 * length), shorter = 0.5 * (1 - setting->length) * (end - start);
    SetExtent(bone, segment->from, bone->axes[2], start + shorter, end - shorter);
    shaper->bones->count++;
}

static void AddBall(Shaper* shaper, int joint, const double* at, double radius, double cover)
{
    double scale = shaper->settings[joint].radius;
    jnaBone* bone = &shaper->bones->bones[shaper->bones->count];
    *bone = (jnaBone){.joint = joint,
        .ball = shaper->character->joints[joint].parent >= 0,
        .cover = cover,
        .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int e = 0; e < 2; ++e) {
        memcpy(bone->ends[e], at, sizeof(bone->ends[e]));
        bone->radii[e][0] = bone->radii[e][1] = bone->caps[e] = scale * radius;
    }
    shaper->bones->count += scale * radius > 0;
}

static void SetSegment(Segment* s, int joint, const double* from, const double* to, double share)
{
    *s = (Segment){.joint = joint, .share = share};
    memcpy(s->from, from, sizeof(s->from));
    memcpy(s->to, to, sizeof(s->to));
}

static void ShapeLimb(Shaper* shaper, const jnaLimb* limb)
{
    double root = (limb->leg ? HIP_BALL : SHOULDER_BALL) * limb->rootRadius;
    double hinge = HINGE_BALL * limb->hingeRadius, end = END_BALL * limb->endRadius;
    Segment s;
    SetSegment(&s, limb->root, limb->rootAt, limb->hingeAt, limb->leg ? THIGH : UPPER_ARM);
    s.freeStart = root; // a hip is deep inside: its shaft begins where the ball ends
    s.freeEnd = IN_BALL * hinge;
    AddShaft(shaper, &s, false);
    SetSegment(&s, limb->hinge, limb->hingeAt, limb->endAt, limb->leg ? SHIN : FOREARM);
    s.freeStart = IN_BALL * hinge;
    s.freeEnd = IN_BALL * end;
    s.front = limb->leg && jnaDot(limb->front, limb->front) > 0 ? limb->front : NULL;
    AddShaft(shaper, &s, false);
    AddBall(shaper, limb->root, limb->rootAt, root, BALL_COVER * limb->rootRadius);
    AddBall(shaper, limb->hinge, limb->hingeAt, hinge, BALL_COVER * limb->hingeRadius);
    AddBall(shaper, limb->end, limb->endAt, end, BALL_COVER * limb->endRadius);
}

// A solid of the trunk between two points of its axes.
static jnaBone* AddSolid(Shaper* shaper, int joint, double radii[2][2], const double* caps, double cover)
{
    const jnaAnatomy* a = shaper->anatomy;
    double scale = shaper->settings[joint].radius;
    jnaBone* bone = &shaper->bones->bones[shaper->bones->count];
    *bone = (jnaBone){.joint = joint, .cover = cover};
    memcpy(bone->axes[0], a->left, sizeof(a->left));
    memcpy(bone->axes[1], a->front, sizeof(a->front));
    memcpy(bone->axes[2], a->up, sizeof(a->up));
    for (int e = 0; e < 2; ++e) {
        bone->radii[e][0] = scale * radii[e][0];
        bone->radii[e][1] = scale * radii[e][1];
        bone->caps[e] = caps[e];
    }
    shaper->bones->count += scale > 0;
    return bone;
}

// Height of the joint where the spine leaves the pelvis; 1 where the pelvis hangs on the chest.
static double SpineHeight(const Shaper* shaper)
{
    const jnaAnatomy* a = shaper->anatomy;
    int joint = a->chest;
    while (joint > a->pelvis && shaper->character->joints[joint].parent != a->pelvis) {
        joint = shaper->character->joints[joint].parent;
    }
    return joint > a->pelvis ? jnaAnatomy_Height(a, shaper->flesh->positions[joint]) : 1;
}

static void ShapeTrunk(Shaper* shaper)
{
    const jnaAnatomy* a = shaper->anatomy;
    double at[3], reach[3];
    if (a->ribs[0][0] > 0) {
        double radii[2][2], caps[2] = {RIBS_ROUND_LOW * a->length, RIBS_ROUND_HIGH * a->length};
        memcpy(radii, a->ribs, sizeof(radii));
        jnaBone* bone = AddSolid(shaper, a->chest, radii, caps, RIBS_COVER * a->size);
        memcpy(bone->ends, a->ribsAt, sizeof(bone->ends));
    }
    if (jnaCutTrunk(shaper->slicer, a, PELVIS_AT, at, reach)) {
        double wide = PELVIS_WIDE * reach[2], deep = PELVIS_DEEP * 0.5 * (reach[0] + reach[1]);
        double radii[2][2] = {{wide, deep}, {wide, deep}};
        // The spine bends above the pelvis, not inside it.
        double high = fmin(PELVIS_HIGH, fmax(SpineHeight(shaper) - PELVIS_AT, 0.3 * PELVIS_HIGH));
        double caps[2] = {PELVIS_HIGH * a->length, high * a->length};
        jnaBone* bone = AddSolid(shaper, a->pelvis, radii, caps, PELVIS_COVER * a->size);
        memcpy(bone->ends[0], at, sizeof(at));
        memcpy(bone->ends[1], at, sizeof(at));
    }
}

// The segment of a joint at the end of a chain: through the middle of its flesh to where that ends. Returns its length.
static double LeafSegment(const Shaper* shaper, int joint, Segment* segment)
{
    const jnaJointFlesh* flesh = shaper->flesh;
    const jnaSlicer* slicer = shaper->slicer;
    const double *position = flesh->positions[joint], *center = flesh->centers[joint];
    double along[3], back[3], ahead, behind = 0;
    for (int i = 0; i < 3; ++i) {
        along[i] = center[i] - position[i];
    }
    double offset = jnaNormalize(along);
    *segment = (Segment){.joint = joint, .share = LAST_OF_CHAIN};
    ahead = jnaJointFlesh_Reach(flesh, slicer->nodeCount, slicer->nodes, joint, position, along);
    bool middle = offset < CENTRED * ahead || ahead <= 0;
    if (middle) {
        // The joint sits in the middle of its flesh: the bone goes through it along the longest of the three axes.
        position = center;
        ahead = 0;
        for (int k = 0; k < 3; ++k) {
            double axis[3] = {k == 0, k == 1, k == 2};
            double length = jnaJointFlesh_Reach(flesh, slicer->nodeCount, slicer->nodes, joint, center, axis);
            if (length > ahead) {
                ahead = length;
                memcpy(along, axis, sizeof(axis));
            }
        }
        for (int i = 0; i < 3; ++i) {
            back[i] = -along[i];
        }
        behind = jnaJointFlesh_Reach(flesh, slicer->nodeCount, slicer->nodes, joint, position, back);
    }
    for (int i = 0; i < 3; ++i) {
        segment->from[i] = position[i] - behind * along[i];
        segment->to[i] = position[i] + ahead * along[i];
    }
    segment->freeEnd = (1 - LAST_OF_CHAIN) * 0.5 * ahead;
    segment->freeStart = (1 - LAST_OF_CHAIN) * 0.5 * behind;
    return behind + ahead;
}

static double ShareOf(const Shaper* shaper, int joint)
{
    switch (shaper->anatomy->parts[joint]) {
    case jna_bodyTrunk:
        return SPINE;
    case jna_bodyNeck:
        return NECK;
    case jna_bodyGirdle:
        return GIRDLE;
    default:
        return SOFT_CHAIN;
    }
}

// Whether a child continues what its parent's bone is for: the spine to the chest, the neck to the head, a girdle to
// its limb, a chain to its next joint.
static bool Continues(const Shaper* shaper, int joint, int child)
{
    const jnaAnatomy* a = shaper->anatomy;
    jnaBodyPart part = (jnaBodyPart)a->parts[joint], next = (jnaBodyPart)a->parts[child];
    switch (part) {
    case jna_bodyTrunk:
        return next == jna_bodyTrunk || next == jna_bodyNeck || next == jna_bodyHead;
    case jna_bodyNeck:
        return next == jna_bodyNeck || next == jna_bodyHead;
    case jna_bodyGirdle:
        // Of a leg it is the pelvis.
        return (next == jna_bodyGirdle || next == jna_bodyUpper) && !a->limbs[a->limbOf[joint]].leg;
    default:
        return true;
    }
}

// Shafts of a joint of trunk, neck, girdle or chain.
static void ShapeJoint(Shaper* shaper, int joint)
{
    const jnaJointFlesh* flesh = shaper->flesh;
    const jnaCharacter* character = shaper->character;
    if (flesh->volumes[joint] < LEAST_FLESH * flesh->total) {
        return;
    }
    Segment leaf, s;
    bool chain = shaper->anatomy->parts[joint] == jna_bodyChain;
    double reach = chain ? LeafSegment(shaper, joint, &leaf) : 0;
    int before = shaper->bones->count;
    bool any = false;
    for (int c = joint + 1; c < character->jointCount; ++c) {
        double length = Distance(flesh->positions[joint], flesh->positions[c]);
        if (character->joints[c].parent != joint || length <= STUB * reach || !Continues(shaper, joint, c)) {
            continue;
        }
        SetSegment(&s, joint, flesh->positions[joint], flesh->positions[c], ShareOf(shaper, joint));
        s.freeStart = s.freeEnd = SHORT_LIMIT * length;
        any = true;
        if (shaper->bones->count - before < character->jointCount) {
            AddShaft(shaper, &s, true);
        }
    }
    if (!any && chain && reach > 0) {
        AddShaft(shaper, &leaf, true);
    }
}

jnResult jnaShapeBones(const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer,
    const jnaAnatomy* anatomy, const jnaBoneSetting* settings, jnaBoneList* bones, jnError* error)
{
    // A segment a child, or one for a joint without; five a limb; two of the trunk.
    size_t most = 2 * (size_t)character->jointCount + 5 * JNA_MAX_LIMBS + 3;
    bones->count = 0;
    bones->bones = malloc(most * sizeof(jnaBone));
    if (bones->bones == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the bones of %d joints", character->jointCount);
    }
    Shaper shaper = {character, flesh, anatomy, slicer, settings, bones};
    for (int j = 0; j < character->jointCount; ++j) {
        jnaBodyPart part = (jnaBodyPart)anatomy->parts[j];
        if (part == jna_bodyTrunk || part == jna_bodyNeck || part == jna_bodyGirdle || part == jna_bodyChain) {
            ShapeJoint(&shaper, j);
        }
    }
    for (int i = 0; i < anatomy->limbCount; ++i) {
        if (anatomy->limbs[i].hinge >= 0) {
            ShapeLimb(&shaper, &anatomy->limbs[i]);
        }
    }
    if (anatomy->trunk) {
        ShapeTrunk(&shaper);
    }
    return jn_ok;
}
