// Random poses of a body from the ranges of motion of human joints, so that the training knows poses that no clip has.
//
// Every recognised joint is rotated about axes of the body at rest (up, front, left; flexion axes of elbow and knee),
// first from the rest pose to the anatomical one (legs straight down, arms hanging), then by angles that are drawn
// within `ranges`. A joint's rotation against its parent, in axes of the rest pose, is D; with the rest rotations W of
// joint j and its parent p in the body, its local rotation is
//
//     q = W_p^-1 D W_j
//
// Angles are denser near the natural one: natural + t^1.5 s (end - natural), t even, s one number of a limb. Joints
// depend on each other where muscles that span two of them say so (hamstrings, rectus femoris), where the shoulder
// blade goes along (a third of the arm's elevation from 30 degrees on), and where the spine follows the hips.
// docs/background/poses.md has the table with its sources.
//
// Limits: a body with two legs below and two arms above an upright trunk. Fingers, toes, faces, twist joints and tails
// are left as they are given. No function of the mathematical library but the square root takes part.
#include "flesh/poses_internal.h"

#include "base/affine.h"
#include "base/random.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <string.h>

// Legs point down along the trunk at least so much: cosine.
#define UPRIGHT 0.5
#define RADIANS (JNA_PI / 180)

/// Degrees.
typedef struct Range {
    double low, natural, high;
} Range;

enum {
    HIP_FLEXION,
    HIP_ABDUCTION,
    HIP_ROTATION,
    KNEE_FLEXION,
    ANKLE_FLEXION,
    ANKLE_INVERSION,
    SHOULDER_ELEVATION,
    SHOULDER_PLANE,
    SHOULDER_ROTATION,
    CLAVICLE,
    ELBOW_FLEXION,
    FOREARM_ROTATION,
    WRIST_FLEXION,
    WRIST_DEVIATION,
    SPINE_FLEXION,
    SPINE_BENDING,
    SPINE_ROTATION,
    NECK_FLEXION,
    NECK_BENDING,
    NECK_ROTATION,
    RANGE_COUNT,
};

static const Range ranges[RANGE_COUNT] = {
    [HIP_FLEXION] = {-20, 10, 122},
    [HIP_ABDUCTION] = {-25, 4, 46}, // adduction, abduction
    [HIP_ROTATION] = {-45, 0, 45},  // inwards, outwards
    [KNEE_FLEXION] = {0, 10, 142},
    [ANKLE_FLEXION] = {-55, 0, 20}, // plantar, dorsal
    [ANKLE_INVERSION] = {-20, 0, 35},
    [SHOULDER_ELEVATION] = {0, 20, 170},
    [SHOULDER_PLANE] = {-60, 30, 130}, // 0: to the side, 90: to the front
    [SHOULDER_ROTATION] = {-65, 0, 80},
    [CLAVICLE] = {-8, 0, 12}, // on top of the rhythm with the arm
    [ELBOW_FLEXION] = {0, 25, 145},
    [FOREARM_ROTATION] = {-75, 0, 80}, // pronation, supination
    [WRIST_FLEXION] = {-75, 0, 76},    // dorsal, palmar
    [WRIST_DEVIATION] = {-21, 0, 36},  // radial, ulnar
    [SPINE_FLEXION] = {-30, 5, 80},
    [SPINE_BENDING] = {-35, 0, 35},
    [SPINE_ROTATION] = {-45, 0, 45},
    [NECK_FLEXION] = {-50, 0, 50},
    [NECK_BENDING] = {-45, 0, 45},
    [NECK_ROTATION] = {-70, 0, 70},
};

// Sine and cosine of up to a right angle and a half, to the last digits of a double: the same bytes everywhere.
static void SineAndCosine(double x, double* sine, double* cosine)
{
    double square = x * x, term = 1, s = 0, c = 0;
    for (int k = 0; k < 14; ++k) {
        c += term;
        s += term / (2 * k + 1);
        term *= -square / ((2 * k + 1) * (2 * k + 2));
    }
    *sine = s * x;
    *cosine = c;
}

// Rotation by degrees about an axis.
static void About(const double* axis, double degrees, double* q)
{
    double s, c, unit[3] = {axis[0], axis[1], axis[2]};
    jnaNormalize(unit);
    SineAndCosine(0.5 * RADIANS * degrees, &s, &c);
    for (int i = 0; i < 3; ++i) {
        q[i] = s * unit[i];
    }
    q[3] = c;
}

// q = q R(axis, degrees).
static void Rotate(double* q, const double* axis, double degrees)
{
    double r[4];
    About(axis, degrees, r);
    jnaQuat_Multiply(q, r, q);
}

/// What numbers are drawn with: a stream, and how far a limb goes.
typedef struct Dice {
    uint64_t state;
    double scale;
} Dice;

static double Even(Dice* dice)
{
    return (double)(jnaNextBits(&dice->state) >> 11) * 0x1p-53;
}

static double Clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double Draw(Dice* dice, Range r)
{
    double u = Even(dice), natural = Clamp(r.natural, r.low, r.high);
    double at = r.high > r.low ? (natural - r.low) / (r.high - r.low) : 0;
    bool below = u < at;
    double t = below ? 1 - u / at : at < 1 ? (u - at) / (1 - at) : 0;
    return natural + t * sqrt(t) * dice->scale * ((below ? r.low : r.high) - natural);
}

// Sets a joint by its rotation against its parent in axes of the body at rest.
static void Put(const jnaPoseRanges* r, int joint, const double* rotation, float* rotations)
{
    int parent = r->character->joints[joint].parent;
    double q[4] = {0, 0, 0, 1};
    if (parent >= 0) {
        jnaQuat_Conjugate(r->rest + 4 * parent, q);
    }
    jnaQuat_Multiply(q, rotation, q);
    jnaQuat_Multiply(q, r->rest + 4 * joint, q);
    jnaQuat_Normalize(q);
    for (int i = 0; i < 4; ++i) {
        rotations[4 * joint + i] = (float)q[i];
    }
}

// Joints strictly between two of a limb stay as they rest: the two say how it bends. above -1: nothing.
static void RestBetween(const jnaPoseRanges* r, int below, int above, float* rotations)
{
    const jnaCharacter* c = r->character;
    for (int j = c->joints[below].parent; above >= 0 && j >= 0 && j != above; j = c->joints[j].parent) {
        memcpy(rotations + 4 * j, c->joints[j].rotation, sizeof(c->joints[j].rotation));
    }
}

// Hip, knee, ankle. Returns the flexion of the hip.
static double DrawLeg(const jnaPoseRanges* r, const jnaRangeLimb* l, Dice* dice, float* rotations)
{
    const double *down = l->neutral, *out = l->out;
    double forwards[3], sideways[3], hip[4] = {0, 0, 0, 1}, knee[4] = {0, 0, 0, 1}, ankle[4] = {0, 0, 0, 1};
    jnaCross(down, r->front, forwards);
    jnaCross(down, out, sideways);
    double flexion = Draw(dice, ranges[HIP_FLEXION]), abduction = Draw(dice, ranges[HIP_ABDUCTION]);
    Range bent = ranges[KNEE_FLEXION];
    // Stretched hamstrings bend the knee of a lifted leg; a leg behind the body does not bend fully.
    bent.low = Clamp(0.9 * (flexion - 80), 0, 60);
    bent.high = Clamp(bent.high + 1.5 * flexion, 90, bent.high);
    bent.natural = bent.natural + 0.4 * Clamp(flexion, 0, 120);
    Rotate(hip, forwards, flexion);
    Rotate(hip, sideways, abduction);
    // A positive rotation turns the toes outwards on both sides.
    Rotate(hip, down, (l->side == 0 ? -1 : 1) * Draw(dice, ranges[HIP_ROTATION]));
    jnaQuat_Multiply(hip, l->toNeutral, hip);
    Put(r, l->root, hip, rotations);
    Rotate(knee, l->hingeAxis, Draw(dice, bent));
    jnaQuat_Multiply(knee, l->straight, knee);
    RestBetween(r, l->hinge, l->root, rotations);
    Put(r, l->hinge, knee, rotations);
    double toUp[3];
    jnaCross(l->front, r->up, toUp);
    Rotate(ankle, toUp, Draw(dice, ranges[ANKLE_FLEXION]));
    Rotate(ankle, l->front, (l->side == 0 ? -1 : 1) * Draw(dice, ranges[ANKLE_INVERSION]));
    RestBetween(r, l->end, l->hinge, rotations);
    Put(r, l->end, ankle, rotations);
    return flexion;
}

// The collar bone with the arm, and the arm against the chest. shoulder: what the arm's joint does against the collar
// bone.
static void DrawShoulder(const jnaPoseRanges* r, const jnaRangeLimb* l, Dice* dice, double* shoulder, float* rotations)
{
    double elevation = Draw(dice, ranges[SHOULDER_ELEVATION]);
    Range range = ranges[SHOULDER_PLANE];
    // Neither far behind nor far across the body with the arm up.
    range.low += 50 * Clamp((elevation - 60) / 40, 0, 1);
    range.high -= 40 * Clamp((elevation - 90) / 60, 0, 1);
    double plane = Draw(dice, range), turn = Draw(dice, ranges[SHOULDER_ROTATION]),
           jitter = Draw(dice, ranges[CLAVICLE]);
    double jitter2 = Draw(dice, ranges[CLAVICLE]), s, c, towards[3], axis[3], girdle[4] = {0, 0, 0, 1};
    SineAndCosine(RADIANS * plane, &s, &c);
    for (int i = 0; i < 3; ++i) {
        towards[i] = c * l->out[i] + s * r->front[i];
        shoulder[i] = 0;
    }
    shoulder[3] = 1;
    jnaCross(l->neutral, towards, axis);
    Rotate(shoulder, axis, elevation);
    Rotate(shoulder, l->neutral, (l->side == 0 ? -1 : 1) * turn);
    jnaQuat_Multiply(shoulder, l->toNeutral, shoulder);
    if (l->girdle < 0) {
        return;
    }
    jnaCross(l->out, r->up, axis);
    Rotate(girdle, axis, 0.2 * Clamp(elevation - 30, 0, 140) + jitter);
    jnaCross(l->out, r->front, axis);
    Rotate(girdle, axis, 0.2 * (plane - 30) * Clamp(elevation / 60, 0, 1) + jitter2);
    Put(r, l->girdle, girdle, rotations);
    RestBetween(r, l->root, l->girdle, rotations);
    jnaQuat_Conjugate(girdle, girdle);
    jnaQuat_Multiply(girdle, shoulder, shoulder);
}

static void DrawArm(const jnaPoseRanges* r, const jnaRangeLimb* l, Dice* dice, float* rotations)
{
    double shoulder[4], elbow[4] = {0, 0, 0, 1}, wrist[4] = {0, 0, 0, 1}, aside[3];
    double side = l->side == 0 ? -1 : 1;
    DrawShoulder(r, l, dice, shoulder, rotations);
    Put(r, l->root, shoulder, rotations);
    double flexion = Draw(dice, ranges[ELBOW_FLEXION]), roll = side * Draw(dice, ranges[FOREARM_ROTATION]);
    Rotate(elbow, l->hingeAxis, flexion);
    jnaQuat_Multiply(elbow, l->straight, elbow);
    Rotate(elbow, l->along, 0.5 * roll); // half in the forearm, half in the hand, as its skin does
    RestBetween(r, l->hinge, l->root, rotations);
    Put(r, l->hinge, elbow, rotations);
    jnaCross(l->along, l->palm, aside);
    Rotate(wrist, l->along, 0.5 * roll);
    Rotate(wrist, aside, Draw(dice, ranges[WRIST_FLEXION]));
    Rotate(wrist, l->palm, side * Draw(dice, ranges[WRIST_DEVIATION]));
    RestBetween(r, l->end, l->hinge, rotations);
    Put(r, l->end, wrist, rotations);
}

// A chain of joints that bend as one: each does its part. first: of the three ranges; more: degrees of flexion.
static void DrawChain(
    const jnaPoseRanges* r, const jnaRangeChain* chain, int first, double more, Dice* dice, float* rotations)
{
    double right[3], bend = Draw(dice, ranges[first]) + more;
    bend = Clamp(bend, ranges[first].low, ranges[first].high);
    double aside = Draw(dice, ranges[first + 1]), turn = Draw(dice, ranges[first + 2]);
    // One joint for a whole spine would fold it in one place.
    double part = chain->count > 1 ? 1.0 / chain->count : 0.7;
    for (int i = 0; i < 3; ++i) {
        right[i] = -r->left[i];
    }
    for (int k = 0; k < chain->count; ++k) {
        double q[4] = {0, 0, 0, 1}, axis[3];
        Rotate(q, r->up, part * turn);
        jnaCross(r->up, right, axis);
        Rotate(q, axis, part * aside);
        jnaCross(r->up, r->front, axis);
        Rotate(q, axis, part * bend);
        Put(r, chain->joints[k], q, rotations);
    }
}

void jnaPoseRanges_Draw(const jnaPoseRanges* r, uint64_t seed, float* rotations)
{
    double hips = 0;
    for (int i = 0; i < 6; ++i) {
        // Parts do not shift each other's numbers.
        Dice dice = {.state = seed + (uint64_t)(i + 1) * 0xa0761d6478bd642fu};
        dice.scale = 0.4 + 0.6 * Even(&dice);
        if (i < 2) {
            hips += 0.5 * DrawLeg(r, &r->limbs[i], &dice, rotations);
        } else if (i < 4) {
            DrawArm(r, &r->limbs[i], &dice, rotations);
        } else if (i == 4) {
            DrawChain(r, &r->spine, SPINE_FLEXION, 0.25 * Clamp(hips - 10, 0, 120), &dice, rotations);
        } else {
            DrawChain(r, &r->neck, NECK_FLEXION, 0, &dice, rotations);
        }
    }
}

// Rotations of the rest pose in the body. rest: [jointCount][4].
static void FindRest(const jnaCharacter* c, double* rest)
{
    for (int j = 0; j < c->jointCount; ++j) {
        double* q = rest + 4 * j;
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)c->joints[j].rotation[i];
        }
        jnaQuat_Normalize(q);
        if (c->joints[j].parent >= 0) {
            jnaQuat_Multiply(rest + 4 * c->joints[j].parent, q, q);
        }
    }
}

static void Between(const double* from, const double* to, double* unit)
{
    jnaSubtract(to, from, unit);
    jnaNormalize(unit);
}

static void SetLimb(const jnaPoseRanges* r, const jnaAnatomy* a, const jnaLimb* from, jnaRangeLimb* to)
{
    double upper[3], back[3], turned[4];
    *to = (jnaRangeLimb){.side = from->side, .girdle = -1, .root = from->root, .hinge = from->hinge, .end = from->end};
    Between(from->rootAt, from->hingeAt, upper);
    Between(from->hingeAt, from->endAt, to->along);
    for (int i = 0; i < 3; ++i) {
        to->neutral[i] = -a->up[i];
        to->out[i] = from->side == 0 ? a->left[i] : -a->left[i];
        to->front[i] = from->front[i];
    }
    if (jnaNormalize(to->front) < 0.5) {
        memcpy(to->front, a->front, sizeof(to->front));
    }
    jnaQuat_Between(upper, to->neutral, to->toNeutral);
    jnaQuat_Between(to->along, upper, to->straight);
    // The shin goes back, the forearm to the front. The axis is square to the straight limb.
    for (int i = 0; i < 3; ++i) {
        back[i] = from->hind ? -to->front[i] : a->front[i];
    }
    jnaCross(upper, back, to->hingeAxis);
    jnaQuat_Conjugate(to->toNeutral, turned);
    for (int i = 0; i < 3; ++i) {
        back[i] = -to->out[i]; // palms face the thighs of hanging arms
    }
    jnaQuat_Rotate(turned, back, to->palm);
    if (!from->hind && from->first != from->root && a->parts[from->first] == jna_bodyGirdle) {
        to->girdle = from->first;
    }
    (void)r;
}

// Joints from one up to another, without it, those that bend alone.
static void ListChain(const jnaCharacter* c, int from, int above, const bool* inChain, jnaRangeChain* chain)
{
    for (int j = from; j >= 0 && j != above && !inChain[j] && chain->count < JNA_RANGE_CHAIN; j = c->joints[j].parent) {
        chain->joints[chain->count++] = j;
    }
}

// Whether a joint is on the way from another one to the root.
static bool IsOnTheWay(const jnaCharacter* c, int joint, int from)
{
    while (from >= 0 && from != joint) {
        from = c->joints[from].parent;
    }
    return from == joint;
}

static bool SetLimbs(const jnaAnatomy* a, jnaPoseRanges* r)
{
    int found[4] = {0};
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* l = &a->limbs[i];
        if (l->hinge < 0 || l->end < 0 || l->side < 0) {
            continue;
        }
        int slot = (l->hind ? 0 : 2) + l->side;
        double along[3];
        Between(l->rootAt, l->endAt, along);
        // An animal's legs in front are no arms.
        if (found[slot]++ == 0 && l->leg == l->hind && (!l->hind || -jnaDot(along, a->up) > UPRIGHT)) {
            SetLimb(r, a, l, &r->limbs[slot]);
        } else {
            return false;
        }
    }
    return found[0] && found[1] && found[2] && found[3];
}

jnResult jnaCreatePoseRanges(const jnaCharacter* c, const jnaAnatomy* a, jnaPoseRanges* r, jnError* error)
{
    *r = (jnaPoseRanges){.character = c};
    r->rest = jnaArena_Take(&r->memory, c->jointCount, 4 * sizeof(double));
    bool* inChain = jnaArena_Take(&r->memory, c->jointCount, sizeof(bool));
    JN_PASS(jnaArena_Check(&r->memory, "the ranges of joints", error));
    if (a == NULL || !a->trunk || a->chest < 0) {
        return jn_ok;
    }
    memcpy(r->up, a->up, sizeof(r->up));
    memcpy(r->front, a->front, sizeof(r->front));
    memcpy(r->left, a->left, sizeof(r->left));
    FindRest(c, r->rest);
    jnaRootChain(c, inChain);
    r->known = SetLimbs(a, r);
    ListChain(c, a->chest, a->pelvis, inChain, &r->spine);
    if (a->head >= 0 && !IsOnTheWay(c, a->head, a->chest)) {
        for (int j = a->head; j >= 0 && !IsOnTheWay(c, j, a->chest) && r->neck.count < JNA_RANGE_CHAIN;
             j = c->joints[j].parent) {
            r->neck.joints[r->neck.count++] = j;
        }
    }
    return r->known ? jnaPoseRanges_FindCapsules(r, a, error) : jn_ok;
}

void jnaDestroyPoseRanges(jnaPoseRanges* r)
{
    jnaReleaseArena(&r->memory);
    *r = (jnaPoseRanges){0};
}
