// Where bones go: a tapered elliptic capsule from each joint towards each child, or, for a joint at the end of a limb,
// towards the flesh that it moves.
//
// Sections square to the axis tell how thick the flesh is. The axis is moved towards the middle of the sections; the
// cross-section is an ellipse whose half-axes are a share of the thickness, so that the torso's bones are wider than
// deep. A bone ends short of a joint by 1.2 of the flesh's radius, which keeps bones apart when the joint bends, but by
// no more than a quarter of its length, or short joints of a spine would have none. Bones of different joints that
// come too near to each other shrink until they do not.
#include "bones_internal.h"

#include "inside_internal.h"

#include "character/affine.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { STATIONS = 7, GAP_SAMPLES = 13, SHRINK_ROUNDS = 40 };

// In radii of the flesh: our trials solved well with it, and bones collided with 0.4.
static const double SHORT_OF_JOINT = 1.2;
// At most this part of the segment is left free at each end; less where the flesh is meant to be nearly rigid.
static const double SHORT_LIMIT = 0.25, SHORT_LIMIT_RIGID = 0.15, NEARLY_RIGID = 0.5;
// How far the axis moves to the middle of the flesh. Not all the way: a spine lies behind it.
static const double CENTRING = 0.6;
// A bone reaches at most this far from its axis to the skin, in all directions but a few: a mouth or an eye socket is
// no reason for a small skull.
static const double DEEPEST = 0.85, IGNORED_RAYS = 0.1, IGNORED_RAYS_RIGID = 0.3;
// A segment shorter than this part of the flesh's reach says little about where its bone should be.
static const double STUB = 0.5;
// A joint nearer to the middle of its flesh than this part of the reach has no direction of its own.
static const double CENTRED = 0.15;
// Bones of different joints keep this part of the smaller one's thickness between them.
static const double APART = 1.2;
// Flesh below this part of the whole gets no bone of its own.
static const double LEAST_FLESH = 2e-5;

// A segment that wants a bone.
typedef struct Segment {
    int joint;
    double from[3], to[3];
    double freeStart, freeEnd; // what to leave at the ends, in radii of the flesh
    double share;
} Segment;

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

double jnaBone_Gap(const jnaBone* a, const jnaBone* b)
{
    double least = HUGE_VAL;
    for (int i = 0; i < GAP_SAMPLES; ++i) {
        for (int k = 0; k < GAP_SAMPLES; ++k) {
            double s = i / (GAP_SAMPLES - 1.0), t = k / (GAP_SAMPLES - 1.0), p[3], q[3], d[3], back[3];
            Between(a->ends[0], a->ends[1], s, p);
            Between(b->ends[0], b->ends[1], t, q);
            for (int n = 0; n < 3; ++n) {
                d[n] = q[n] - p[n];
            }
            double distance = jnaNormalize(d);
            for (int n = 0; n < 3; ++n) {
                back[n] = -d[n];
            }
            least = fmin(least, distance - Support(a, s, d) - Support(b, t, back));
        }
    }
    return least;
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
            double angle = 2 * 3.14159265358979 * k / JNA_SECTION_RAYS, d[3];
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

// The bone of a segment; false where the segment does not run inside the flesh.
static bool ShapeBone(jnaSlicer* slicer, Segment* segment, jnaBone* bone)
{
    jnaSection sections[STATIONS];
    *bone = (jnaBone){.joint = segment->joint};
    if (CutSegment(slicer, segment->from, segment->to, bone->axes, sections) == 0) {
        return false;
    }
    Centre(segment, bone->axes, sections);
    if (CutSegment(slicer, segment->from, segment->to, bone->axes, sections) == 0) {
        return false;
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
        bone->radii[e][0] = segment->share * line[e] * (1 + oval);
        bone->radii[e][1] = segment->share * line[e] * (1 - oval);
    }
    Thin(bone, sections, u, v, segment->share < NEARLY_RIGID ? IGNORED_RAYS : IGNORED_RAYS_RIGID);
    double length = Distance(segment->from, segment->to);
    double limit = (segment->share < NEARLY_RIGID ? SHORT_LIMIT : SHORT_LIMIT_RIGID) * length;
    double start = fmin(segment->freeStart * line[0], limit), end = length - fmin(segment->freeEnd * line[1], limit);
    SetExtent(bone, segment->from, bone->axes[2], start, end);
    return true;
}

// The segment of a joint at the end of a limb: through the middle of its flesh to where that ends. Returns its length.
static double LeafSegment(const jnaSlicer* slicer, const jnaCharacter* character, const jnaJointFlesh* flesh, int joint,
    double share, Segment* segment)
{
    const double *position = flesh->positions[joint], *center = flesh->centers[joint];
    double along[3], back[3], ahead, behind;
    for (int i = 0; i < 3; ++i) {
        along[i] = center[i] - position[i];
    }
    double offset = jnaNormalize(along);
    *segment = (Segment){.joint = joint, .share = share, .freeStart = 1 - share, .freeEnd = 1 - share};
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
    }
    for (int i = 0; i < 3; ++i) {
        back[i] = -along[i];
    }
    // A head has flesh below its joint too, but there is the neck's bone: half of it.
    behind = (middle ? 1 : 0.5) * jnaJointFlesh_Reach(flesh, slicer->nodeCount, slicer->nodes, joint, position, back);
    if (!middle && share < NEARLY_RIGID) {
        behind = 0;
        segment->freeStart = character->joints[joint].parent >= 0 ? SHORT_OF_JOINT : 0;
    }
    for (int i = 0; i < 3; ++i) {
        segment->from[i] = position[i] - behind * along[i];
        segment->to[i] = position[i] + ahead * along[i];
    }
    return behind + ahead;
}

// All segments of a joint. segments: room for one per joint. Returns their number.
static int FindSegments(const jnaSlicer* slicer, const jnaCharacter* character, const jnaJointFlesh* flesh, int joint,
    double share, Segment* segments)
{
    if (!(share > 0) || flesh->volumes[joint] < LEAST_FLESH * flesh->total) {
        return 0;
    }
    Segment leaf;
    double reach = LeafSegment(slicer, character, flesh, joint, share, &leaf);
    int count = 0;
    for (int c = joint + 1; c < character->jointCount; ++c) {
        double length = Distance(flesh->positions[joint], flesh->positions[c]);
        if (character->joints[c].parent != joint || length < STUB * reach) {
            continue;
        }
        Segment* s = &segments[count++];
        *s = (Segment){.joint = joint, .share = share, .freeEnd = SHORT_OF_JOINT};
        s->freeStart = character->joints[joint].parent >= 0 ? SHORT_OF_JOINT : 0;
        memcpy(s->from, flesh->positions[joint], sizeof(s->from));
        memcpy(s->to, flesh->positions[c], sizeof(s->to));
    }
    if (count == 0 && reach > 0) {
        segments[count++] = leaf;
    }
    return count;
}

// Pulls a bone away from another: towards its farther tip, and half as much in thickness.
static void PullBack(jnaBone* bone, const jnaBone* other, double factor)
{
    double middle[3], tip[3];
    Between(other->ends[0], other->ends[1], 0.5, middle);
    int far = Distance(bone->ends[1], middle) >= Distance(bone->ends[0], middle);
    // The ends of an ellipsoid are one point; the tips tell them apart.
    double along[3] = {bone->ends[0][0] - middle[0], bone->ends[0][1] - middle[1], bone->ends[0][2] - middle[2]};
    if (Distance(bone->ends[0], bone->ends[1]) < bone->caps[0]) {
        far = jnaDot(along, bone->axes[2]) >= 0;
    }
    for (int i = 0; i < 3; ++i) {
        tip[i] = bone->ends[far][i] + (far ? 1 : -1) * bone->caps[far] * bone->axes[2][i];
    }
    for (int e = 0; e < 2; ++e) {
        for (int i = 0; i < 3; ++i) {
            bone->ends[e][i] = tip[i] + factor * (bone->ends[e][i] - tip[i]);
        }
        bone->radii[e][0] *= 0.5 * (1 + factor);
        bone->radii[e][1] *= 0.5 * (1 + factor);
        bone->caps[e] *= factor;
    }
}

static double Thickness(const jnaBone* bone)
{
    // At its thicker end: the thin tip of a thumb says little about the room that it needs.
    return fmax(fmin(bone->radii[0][0], bone->radii[0][1]), fmin(bone->radii[1][0], bone->radii[1][1]));
}

// Bones of different joints that are too near shrink, a little each round, the one with less flesh more.
static void KeepApart(const jnaJointFlesh* flesh, jnaBoneList* bones)
{
    bool changed = true;
    for (int round = 0; changed && round < SHRINK_ROUNDS; ++round) {
        changed = false;
        for (int a = 0; a < bones->count; ++a) {
            for (int b = a + 1; b < bones->count; ++b) {
                jnaBone *x = &bones->bones[a], *y = &bones->bones[b];
                if (x->joint == y->joint || jnaBone_Gap(x, y) >= APART * fmin(Thickness(x), Thickness(y))) {
                    continue;
                }
                double small = flesh->volumes[x->joint] - flesh->volumes[y->joint];
                PullBack(x, y, small < 0 ? 0.9 : 0.97);
                PullBack(y, x, small < 0 ? 0.97 : 0.9);
                changed = true;
            }
        }
    }
}

jnResult jnaShapeBones(const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer,
    const double* shares, jnaBoneList* bones, jnError* error)
{
    // A segment per child, or one for a joint without: at most two per joint.
    size_t joints = (size_t)character->jointCount + 1;
    Segment* segments = malloc(joints * sizeof(Segment));
    bones->bones = malloc(2 * joints * sizeof(jnaBone));
    bones->count = 0;
    if (segments == NULL || bones->bones == NULL) {
        free(segments);
        jnaDestroyBoneList(bones);
        return jnFail(error, jn_outOfMemory, "out of memory for the bones of %d joints", character->jointCount);
    }
    for (int j = 0; j < character->jointCount; ++j) {
        int count = FindSegments(slicer, character, flesh, j, shares[j], segments);
        for (int s = 0; s < count; ++s) {
            bones->count += ShapeBone(slicer, &segments[s], &bones->bones[bones->count]);
        }
    }
    free(segments);
    KeepApart(flesh, bones);
    return jn_ok;
}
