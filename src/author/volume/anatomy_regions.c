// The rib cage of a trunk, and which region of the flesh a point is in; see anatomy.h.
//
// Heights in the trunk run from 0 at the hips to 1 at the shoulders. In people the lower ribs begin at about 0.4 at the
// sides and 0.65 in front, and the crest of the hip bone ends at 0.25. The breast bone is just under the skin in the
// middle plane, whatever hangs beside it, so the depth of the rib cage is measured there; its width is that under the
// armpits. Fat on the flanks and belly says nothing about it.
#include "volume/anatomy_internal.h"

#include "base/affine.h"
#include "runtime/for_author.h"

#include <float.h>

// Heights of the rib cage's ends, and where its width and depth are taken.
#define RIBS_LOW 0.66
#define RIBS_HIGH 0.94
#define WIDTH_AT 0.68
#define DEPTH_AT 0.8
// Of the way to the skin; and ribs are never deeper than this part of their width.
#define RIBS_WIDE 0.84
#define RIBS_DEEP 0.85
#define DEEPEST_RIBS 0.85
// The cage is narrower at the top, where the shoulders are.
#define RIBS_TAPER 0.72
// Flesh in front of the ribs that is thicker than this part of the body's size is breast, on a chest where it bulges
// over the fold below it by so much: a chest that is merely broad has corners, and no breasts.
#define BREAST 0.02
#define BREAST_FACES 0.3
#define BREAST_BULGES 0.009
// Heights of the trunk in which that is measured begin here.
#define CHEST_LOW 0.5
// A knee reaches this many half-thicknesses from its pivot along the leg.
#define HINGE_REACH 0.9
// The shin's front: within about 55 degrees of where the toes point.
#define SHIN_FRONT 0.57
// Heights of the trunk: belly up to the ribs, buttocks from below the hip joints to the crest of the hip bone.
#define CHEST_FROM 0.6
#define BACK_CHEST_FROM 0.45
#define BUTTOCK_FROM (-0.35)
#define BUTTOCK_TO 0.2
#define HIP_TO 0.12
// The belly reaches from front to flank; the buttocks lie behind the hip joints by this part of the trunk's length.
#define BELLY_FACES (-0.15)
#define BUTTOCK_BEHIND 0.1

double jnaAnatomy_Height(const jnaAnatomy* a, const double* point)
{
    double d[3] = {point[0] - a->hips[0], point[1] - a->hips[1], point[2] - a->hips[2]};
    return jnaDot(d, a->up) / a->length;
}

bool jnaCutTrunk(jnaSlicer* slicer, const jnaAnatomy* a, double height, double at[3], double reach[3])
{
    jnaSection section;
    for (int k = 0; k < 3; ++k) {
        at[k] = a->hips[k] + height * a->length * a->up[k];
    }
    jnaSlice(slicer, at, a->left, a->front, &section);
    if (!section.inside) {
        return false;
    }
    reach[0] = section.distances[JNA_SECTION_RAYS / 4];
    reach[1] = section.distances[3 * JNA_SECTION_RAYS / 4];
    reach[2] = fmin(section.distances[0], section.distances[JNA_SECTION_RAYS / 2]);
    return true;
}

// How thick the flesh over the ribs is, all around.
static void MeasureChest(jnaSlicer* slicer, jnaAnatomy* a)
{
    _Static_assert((int)JNA_CHEST_RAYS == (int)JNA_SECTION_RAYS, "rays are those of a section");
    for (int h = 0; h < JNA_CHEST_HEIGHTS; ++h) {
        double height = CHEST_LOW + (1 - CHEST_LOW) * (h + 0.5) / JNA_CHEST_HEIGHTS, at[3];
        jnaSection section;
        for (int k = 0; k < 3; ++k) {
            at[k] = a->ribsAt[0][k] + (height - RIBS_LOW) * a->length * a->up[k];
        }
        jnaSlice(slicer, at, a->left, a->front, &section);
        for (int r = 0; section.inside && r < JNA_CHEST_RAYS; ++r) {
            double angle = JNA_TURN * r / JNA_CHEST_RAYS;
            double u = cos(angle) / a->ribs[0][0], v = sin(angle) / a->ribs[0][1];
            a->overRibs[h][r] = (float)(section.distances[r] - 1 / sqrt(u * u + v * v));
        }
    }
    a->breasts = false;
    for (int r = 0; r < JNA_CHEST_RAYS; ++r) {
        double fold = DBL_MAX;
        for (int h = 0; h < JNA_CHEST_HEIGHTS && sin(JNA_TURN * r / JNA_CHEST_RAYS) > BREAST_FACES; ++h) {
            a->breasts |= (double)a->overRibs[h][r] > fold + BREAST_BULGES * a->size;
            fold = fmin(fold, (double)a->overRibs[h][r]);
        }
    }
}

void jnaMeasureTrunk(jnaSlicer* slicer, jnaAnatomy* a)
{
    double at[3], width[3], depth[3];
    if (!jnaCutTrunk(slicer, a, WIDTH_AT, at, width) || !jnaCutTrunk(slicer, a, DEPTH_AT, at, depth)) {
        return;
    }
    double wide = RIBS_WIDE * width[2], deep = fmin(RIBS_DEEP * 0.5 * (depth[0] + depth[1]), DEEPEST_RIBS * wide);
    // The breast bone decides where the middle is: a thick back leaves the cage in front.
    double forward = depth[0] - 0.5 * (depth[0] + depth[1]);
    for (int e = 0; e < 2; ++e) {
        a->ribs[e][0] = wide * (e == 0 ? 1 : RIBS_TAPER);
        a->ribs[e][1] = deep * (e == 0 ? 1 : RIBS_TAPER);
        for (int k = 0; k < 3; ++k) {
            a->ribsAt[e][k] =
                a->hips[k] + (e == 0 ? RIBS_LOW : RIBS_HIGH) * a->length * a->up[k] + forward * a->front[k];
        }
    }
    MeasureChest(slicer, a);
}

// Whether flesh thicker than over ribs alone lies in the direction of a point of the chest: all of it is breast, down
// to the ribs.
static bool IsBreast(const jnaAnatomy* a, const double* point, double height)
{
    double d[3] = {point[0] - a->ribsAt[0][0], point[1] - a->ribsAt[0][1], point[2] - a->ribsAt[0][2]};
    double angle = atan2(jnaDot(d, a->front), jnaDot(d, a->left));
    int ray = (int)lround((angle / JNA_TURN + 1) * JNA_CHEST_RAYS) % JNA_CHEST_RAYS;
    int row = (int)floor((height - CHEST_LOW) / (1 - CHEST_LOW) * JNA_CHEST_HEIGHTS);
    return a->breasts && row >= 0 && row < JNA_CHEST_HEIGHTS && (double)a->overRibs[row][ray] > BREAST * a->size;
}

static jnaRegion TrunkRegion(const jnaAnatomy* a, const double* point)
{
    double height = jnaAnatomy_Height(a, point);
    double d[3] = {point[0] - a->hips[0], point[1] - a->hips[1], point[2] - a->hips[2]};
    double forward = jnaDot(d, a->front), aside = jnaDot(d, a->left), away = sqrt(forward * forward + aside * aside);
    double facing = away > 0 ? forward / away : 0;
    if (height > (facing > BELLY_FACES ? CHEST_FROM : BACK_CHEST_FROM)) {
        bool breast = a->ribs[0][0] > 0 && facing > BREAST_FACES && IsBreast(a, point, height);
        return breast ? jna_regionBreast : jna_regionChest;
    }
    if (forward < -BUTTOCK_BEHIND * a->length && height > BUTTOCK_FROM && height < BUTTOCK_TO) {
        return jna_regionButtock;
    }
    if (facing > BELLY_FACES && height > -HIP_TO) {
        return jna_regionBelly;
    }
    return height > HIP_TO ? jna_regionBack : jna_regionHip;
}

// Whether a point is around the hinge of a limb.
static bool IsAtHinge(const jnaLimb* limb, const double* point)
{
    double axis[3], upper[3], lower[3], d[3];
    for (int k = 0; k < 3; ++k) {
        upper[k] = limb->hingeAt[k] - limb->rootAt[k];
        lower[k] = limb->endAt[k] - limb->hingeAt[k];
        d[k] = point[k] - limb->hingeAt[k];
    }
    jnaNormalize(upper);
    jnaNormalize(lower);
    for (int k = 0; k < 3; ++k) {
        axis[k] = upper[k] + lower[k];
    }
    jnaNormalize(axis);
    return fabs(jnaDot(d, axis)) < HINGE_REACH * limb->hingeRadius;
}

static bool IsOnShin(const jnaLimb* limb, const double* point)
{
    double shin[3], d[3];
    for (int k = 0; k < 3; ++k) {
        shin[k] = limb->endAt[k] - limb->hingeAt[k];
        d[k] = point[k] - limb->hingeAt[k];
    }
    jnaNormalize(shin);
    double along = jnaDot(d, shin);
    for (int k = 0; k < 3; ++k) {
        d[k] -= along * shin[k];
    }
    return jnaDot(d, limb->front) > SHIN_FRONT * sqrt(jnaDot(d, d));
}

static jnaRegion LimbRegion(const jnaAnatomy* a, const jnaLimb* limb, jnaBodyPart part, const double* point)
{
    if (part == jna_bodyEnd) {
        return limb->leg ? jna_regionFoot : jna_regionHand;
    }
    if (IsAtHinge(limb, point)) {
        return limb->leg ? jna_regionKnee : jna_regionElbow;
    }
    if (part == jna_bodyLower) {
        return !limb->leg ? jna_regionForeArm : IsOnShin(limb, point) ? jna_regionShin : jna_regionCalf;
    }
    // The top of a leg is buttock behind, and hip in front.
    if (limb->leg && a->trunk && jnaAnatomy_Height(a, point) > BUTTOCK_FROM) {
        jnaRegion region = TrunkRegion(a, point);
        if (region == jna_regionButtock) {
            return region;
        }
    }
    return limb->leg ? jna_regionThigh : jna_regionUpperArm;
}

jnaRegion jnaAnatomy_Region(const jnaAnatomy* a, int joint, const double* point)
{
    jnaBodyPart part = joint >= 0 ? (jnaBodyPart)a->parts[joint] : jna_bodyNone;
    const jnaLimb* limb = joint >= 0 && a->limbOf[joint] >= 0 ? &a->limbs[a->limbOf[joint]] : NULL;
    switch (part) {
    case jna_bodyHead:
        return jna_regionHead;
    case jna_bodyNeck:
        return jna_regionNeck;
    case jna_bodyTrunk:
        return a->trunk ? TrunkRegion(a, point) : jna_regionOther;
    case jna_bodyGirdle:
        return !a->trunk ? jna_regionOther : TrunkRegion(a, point);
    case jna_bodyUpper:
    case jna_bodyLower:
    case jna_bodyEnd:
        return limb != NULL && limb->hinge >= 0 ? LimbRegion(a, limb, part, point) : jna_regionOther;
    default:
        return jna_regionOther;
    }
}

void jnaAnatomy_SkinRegions(const jnaAnatomy* a, const jnaCharacter* c, uint8_t* regions)
{
    for (int v = 0; v < c->vertexCount; ++v) {
        double point[3];
        for (int k = 0; k < 3; ++k) {
            point[k] = (double)c->positions[3 * (size_t)v + (size_t)k];
        }
        // The joint with the largest weight comes first.
        int joint = c->influences[v].weights[0] > 0 ? c->influences[v].joints[0] : -1;
        regions[v] = (uint8_t)jnaAnatomy_Region(a, joint, point);
    }
}
