// The five clips: poses at chosen times, joined by cubics.
//
// Each channel of the pose is a monotone cubic through its keys (Fritsch and Butland's tangents): once
// continuously differentiable, without overshoot, so a planted foot stays planted and a held hand stays
// still.
#include "figure_pose.h"

#include "internal.h"

#include <stdio.h>
#include <string.h>

enum
{
    MAX_KEYS = 96,
    LEFT = 0,
    RIGHT = 1
};

typedef struct Track
{
    int count;
    double times[MAX_KEYS]; // seconds, rising
    Pose poses[MAX_KEYS];
} Track;

typedef struct ClipInfo
{
    const char* name;
    jnaRole role;
    double duration; // seconds
    bool looping;
    void (*build)(Track* track);
} ClipInfo;

// The run's length: 22 frames at 30 a second for two steps.
static const double RUN_CYCLE = 22.0 / 30;
enum
{
    RUN_CYCLES = 3
};
static const double GRAVITY = 9.81;

// Adds a key and hands out its pose, a copy of `base`, for changes.
static Pose* AddKey(Track* track, double time, const Pose* base)
{
    JN_ASSERT(track->count < MAX_KEYS);
    track->times[track->count] = time;
    track->poses[track->count] = *base;
    return &track->poses[track->count++];
}

static void Set3(double out[3], double x, double y, double z)
{
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

static void SetHands(Pose* pose, double x, double y, double z)
{
    Set3(pose->hand[LEFT], x, y, z);
    Set3(pose->hand[RIGHT], x, y, z);
}

static void SetElbows(Pose* pose, double x, double y, double z)
{
    Set3(pose->elbow[LEFT], x, y, z);
    Set3(pose->elbow[RIGHT], x, y, z);
}

// Both feet: half the stance, height of the balls, place along z, heels.
static void SetFeet(Pose* pose, double x, double y, double z, double pitch)
{
    for (int side = 0; side < 2; ++side) {
        Set3(pose->foot[side], x, y, z);
        pose->footTurn[side][0] = pitch;
    }
}

static void BuildJumpingJacks(Track* track)
{
    const double period = 0.88;
    Pose stand = StandingPose();
    SetFeet(&stand, 0.165, 0, 0.095, 0);
    AddKey(track, 0, &stand);
    for (int i = 0; i < 4; ++i) {
        double t = 0.14 + period * i;
        Pose* p = AddKey(track, t, &stand);
        p->hips[1] = -0.085;
        p->spine[0] = 5;
        p = AddKey(track, t + 0.20, &stand);
        p->hips[1] = 0.045;
        SetHands(p, 0.96, 0.10, 0.10);
        SetElbows(p, 0, -0.5, -1);
        SetFeet(p, 0.285, 0.060, 0.095, 32);
        p = AddKey(track, t + 0.36, &stand);
        p->hips[1] = -0.052;
        SetHands(p, 0.36, 0.90, 0.06);
        SetElbows(p, 0.5, 0, -1);
        SetFeet(p, 0.390, 0, 0.095, 6);
        p = AddKey(track, t + 0.46, p);
        p->hips[1] = -0.120;
        p->spine[0] = 4;
        SetHands(p, 0.30, 0.93, 0.06);
        SetFeet(p, 0.390, 0, 0.095, 0);
        p = AddKey(track, t + 0.66, &stand);
        p->hips[1] = 0.040;
        SetHands(p, 0.96, 0.06, 0.10);
        SetElbows(p, 0, -0.5, -1);
        SetFeet(p, 0.270, 0.055, 0.095, 32);
        p = AddKey(track, t + 0.80, &stand);
        p->hips[1] = -0.030;
        SetFeet(p, 0.165, 0, 0.095, 6);
    }
    Pose* p = AddKey(track, 3.70, &stand);
    p->hips[1] = -0.085;
    AddKey(track, 4.10, &stand);
    AddKey(track, 4.40, &stand);
}

static void AddSquat(Track* track, double t, const Pose* stand)
{
    AddKey(track, t, stand);
    Pose* p = AddKey(track, t + 0.55, stand);
    Set3(p->hips, 0, -0.330, -0.130);
    p->hipsTurn[0] = 22;
    p->spine[0] = 18;
    p->head[0] = -26;
    SetHands(p, -0.06, 0.26, 0.90);
    SetElbows(p, 0.8, -0.8, 0);
    p = AddKey(track, t + 0.68, p);
    p->hips[1] = -0.345;
    p = AddKey(track, t + 1.02, stand);
    p->hips[1] = -0.004;
    SetHands(p, 0.30, -0.60, 0.55);
}

static void AddTwist(Track* track, double t, const Pose* stand, double way)
{
    Pose* p = AddKey(track, t, stand);
    p->hips[1] = -0.050;
    p->hipsTurn[1] = 14 * way;
    p->spine[1] = 46 * way;
    p->head[1] = 14 * way;
    SetHands(p, 0.42, 0.02, 0.52);
    SetElbows(p, 1, 0.05, -0.1);
}

static void AddSideBend(Track* track, double t, const Pose* stand, int side)
{
    double way = side == LEFT ? 1 : -1;
    Pose* p = AddKey(track, t, stand);
    Set3(p->hips, -0.050 * way, -0.045, 0);
    p->hipsTurn[2] = 5 * way;
    p->spine[2] = 36 * way;
    Set3(p->hand[1 - side], 0.02, 0.93, 0.12);
    Set3(p->elbow[1 - side], 0.8, 0, -0.8);
    Set3(p->hand[side], 0.78, -0.56, 0.12);
}

static void BuildCalisthenics(Track* track)
{
    Pose stand = StandingPose();
    SetFeet(&stand, 0.260, 0, 0.095, 0);
    stand.footTurn[LEFT][1] = stand.footTurn[RIGHT][1] = 14;
    stand.hips[1] = -0.028;
    AddKey(track, 0, &stand);
    AddSquat(track, 0.25, &stand);
    AddSquat(track, 1.45, &stand);
    AddKey(track, 2.70, &stand);
    for (int i = 0; i < 4; ++i) {
        AddTwist(track, 3.10 + 0.46 * i, &stand, i % 2 == 0 ? 1 : -1);
    }
    AddKey(track, 4.95, &stand);
    for (int i = 0; i < 2; ++i) {
        Pose* p = AddKey(track, 5.30 + 0.80 * i, &stand);
        p->spine[0] = -12;
        p->head[0] = -8;
        SetHands(p, 0.22, 0.94, 0.14);
        SetElbows(p, 0.6, 0, -1);
        p = AddKey(track, 5.68 + 0.80 * i, &stand);
        Set3(p->hips, 0, -0.045, -0.110);
        p->hipsTurn[0] = 34;
        p->spine[0] = 44;
        p->head[0] = -10;
        SetHands(p, 0.02, -0.18, 0.93);
        SetElbows(p, 1, 0, -0.3);
    }
    Pose* p = AddKey(track, 6.86, &stand);
    SetHands(p, 0.80, -0.50, 0.20);
    AddSideBend(track, 7.24, &stand, LEFT);
    p = AddKey(track, 7.48, &stand);
    SetHands(p, 0.94, 0.05, 0.10);
    AddSideBend(track, 7.72, &stand, RIGHT);
    AddKey(track, 8.20, &stand);
    AddKey(track, 8.40, &stand);
}

// Left foot and shoulder in front, fists before the chin.
static Pose GuardPose(void)
{
    Pose guard = StandingPose();
    guard.hips[1] = -0.075;
    guard.hipsTurn[1] = -24;
    guard.spine[0] = 9;
    guard.spine[1] = -8;
    guard.head[0] = 2;
    guard.head[1] = 28;
    Set3(guard.foot[LEFT], 0.150, 0, 0.250);
    Set3(guard.foot[RIGHT], 0.190, 0, -0.060);
    guard.footTurn[LEFT][1] = -8;
    guard.footTurn[RIGHT][0] = 16;
    guard.footTurn[RIGHT][1] = 34;
    Set3(guard.hand[LEFT], -0.06, 0.17, 0.63);
    Set3(guard.hand[RIGHT], -0.11, 0.14, 0.52);
    SetElbows(&guard, 0.55, -1, 0.05);
    return guard;
}

static void AddJab(Track* track, double t, const Pose* guard)
{
    Pose* p = AddKey(track, t, guard);
    p->hips[2] = 0.050;
    p->hipsTurn[1] = -34;
    p->spine[1] = -26;
    p->head[1] = 50;
    Set3(p->hand[LEFT], -0.02, 0.20, 0.985);
    Set3(p->elbow[LEFT], 0.7, -1, 0);
}

static void AddCross(Track* track, double t, const Pose* guard)
{
    Pose* p = AddKey(track, t, guard);
    Set3(p->hips, 0.010, -0.090, 0.070);
    p->hipsTurn[1] = 22;
    p->spine[1] = 34;
    p->head[1] = -40;
    p->footTurn[RIGHT][0] = 34;
    p->footTurn[RIGHT][1] = 2;
    Set3(p->hand[RIGHT], 0.04, 0.18, 0.985);
    Set3(p->elbow[RIGHT], 0.7, -1, 0);
}

// Wound up first, then across in front of the face at shoulder height.
static void AddHook(Track* track, double t, const Pose* guard)
{
    Pose* p = AddKey(track, t - 0.15, guard);
    p->hips[1] = -0.105;
    p->hipsTurn[1] = -4;
    p->spine[1] = 16;
    p->head[1] = -4;
    Set3(p->hand[LEFT], 0.42, 0.02, 0.58);
    Set3(p->elbow[LEFT], 1, -0.15, -0.2);
    p = AddKey(track, t, guard);
    p->hips[1] = -0.070;
    p->hipsTurn[1] = -44;
    p->spine[1] = -34;
    p->head[1] = 66;
    p->footTurn[LEFT][0] = 22;
    p->footTurn[LEFT][1] = -30;
    Set3(p->hand[LEFT], -0.10, 0.14, 0.74);
    Set3(p->elbow[LEFT], 1, 0.05, 0.1);
}

// Under a swing: down and through, from one side to the other.
static void AddRoll(Track* track, double t, const Pose* guard)
{
    for (int i = 0; i < 2; ++i) {
        Pose* p = AddKey(track, t + 0.22 * i, guard);
        double way = i == 0 ? 1 : -1;
        Set3(p->hips, 0.050 * way, -0.200, -0.040);
        p->hipsTurn[0] = 12;
        p->spine[0] = 22;
        p->spine[2] = 17 * way;
        p->head[0] = -16;
    }
}

static void AddGuard(Track* track, double t, const Pose* guard, double dip)
{
    AddKey(track, t, guard)->hips[1] += dip;
}

static void BuildShadowBoxing(Track* track)
{
    Pose guard = GuardPose();
    AddGuard(track, 0, &guard, 0);
    AddGuard(track, 0.20, &guard, -0.035);
    AddGuard(track, 0.40, &guard, 0.015);
    AddJab(track, 0.54, &guard);
    AddGuard(track, 0.74, &guard, -0.020);
    AddJab(track, 0.90, &guard);
    AddGuard(track, 1.08, &guard, -0.015);
    AddCross(track, 1.24, &guard);
    AddGuard(track, 1.50, &guard, -0.010);
    AddHook(track, 1.80, &guard);
    AddGuard(track, 2.06, &guard, -0.010);
    AddGuard(track, 2.24, &guard, -0.045);
    AddGuard(track, 2.42, &guard, 0.015);
    AddRoll(track, 2.70, &guard);
    AddCross(track, 3.16, &guard);
    AddHook(track, 3.50, &guard);
    AddCross(track, 3.76, &guard);
    AddGuard(track, 4.02, &guard, -0.010);
    AddGuard(track, 4.20, &guard, -0.045);
    AddGuard(track, 4.38, &guard, 0.015);
    AddJab(track, 4.52, &guard);
    AddGuard(track, 4.70, &guard, -0.015);
    AddJab(track, 4.84, &guard);
    AddCross(track, 5.06, &guard);
    AddHook(track, 5.40, &guard);
    AddGuard(track, 5.68, &guard, -0.020);
    AddGuard(track, 5.84, &guard, -0.040);
    AddGuard(track, 6.05, &guard, 0);
}

// One leg of the run over a cycle: phase, place along z, height, heel.
static const double stride[][4] = {
    {0.00, 0.26, 0.012, -8}, // touches down
    {0.06, 0.20, 0.000, 0}, //
    {0.20, -0.04, 0.000, 2}, // below the body
    {0.34, -0.28, 0.000, 40}, // pushes off
    {0.46, -0.40, 0.200, 78}, // heel behind
    {0.62, -0.12, 0.280, 62}, // swings through
    {0.78, 0.26, 0.240, 22}, // knee in front
    {0.92, 0.34, 0.090, -4}, //
};
enum
{
    STRIDE_KEYS = sizeof(stride) / sizeof(stride[0])
};

// Tangent of a monotone cubic from the slopes and lengths on either side.
static double Tangent(double before, double after, double beforeLength, double afterLength)
{
    if (before * after <= 0) {
        return 0;
    }
    double a = 2 * afterLength + beforeLength, b = afterLength + 2 * beforeLength;
    return (a + b) / (a / before + b / after);
}

static double Hermite(double from, double to, double slopeFrom, double slopeTo, double length, double t)
{
    double u = t / length;
    return from + u * (slopeFrom * length * (1 - u) * (1 - u) - slopeTo * length * u * (1 - u)) +
           u * u * (3 - 2 * u) * (to - from);
}

// One channel of the stride at a phase, as a closed curve.
static double Stride(double phase, int channel)
{
    phase -= (double)(long)phase;
    int i = STRIDE_KEYS - 1;
    while (i > 0 && stride[i][0] > phase) {
        --i;
    }
    double times[4], values[4];
    for (int k = 0; k < 4; ++k) {
        int at = i + k - 1, wrapped = (at + STRIDE_KEYS) % STRIDE_KEYS;
        times[k] = stride[wrapped][0] + (at < 0 ? -1 : at >= STRIDE_KEYS ? 1 : 0);
        values[k] = stride[wrapped][channel];
    }
    double slopes[3], lengths[3];
    for (int k = 0; k < 3; ++k) {
        lengths[k] = times[k + 1] - times[k];
        slopes[k] = (values[k + 1] - values[k]) / lengths[k];
    }
    double from = Tangent(slopes[0], slopes[1], lengths[0], lengths[1]);
    double to = Tangent(slopes[1], slopes[2], lengths[1], lengths[2]);
    return Hermite(values[1], values[2], from, to, lengths[1], phase - times[1]);
}

// A wave of period 1 made of two parabolas: near to a cosine, once continuously differentiable.
static double Wave(double phase)
{
    phase -= (double)(long)phase;
    double u = phase < 0.5 ? 4 * phase - 1 : 3 - 4 * phase;
    return u < 0 ? (u + 1) * (u + 1) - 1 : 1 - (1 - u) * (1 - u);
}

// The run is a formula, not a track: everything repeats, and the right side is the left half a cycle later.
static Pose RunPose(double time)
{
    double phase = time / RUN_CYCLE;
    Pose pose = StandingPose();
    // Up in the two flights, down in the middle of each stance.
    pose.hips[1] = -0.062 + 0.036 * Wave(2 * phase + 0.58 + 0.5);
    double sway = Wave(phase + 0.55);
    pose.hipsTurn[0] = 6;
    pose.hipsTurn[1] = 9 * Wave(phase + 0.10);
    pose.hipsTurn[2] = 3.5 * sway;
    pose.spine[0] = 7;
    pose.spine[1] = -24 * Wave(phase + 0.10);
    pose.spine[2] = -3.5 * sway;
    pose.head[0] = -9;
    pose.head[1] = 14 * Wave(phase + 0.10);
    for (int side = 0; side < 2; ++side) {
        double own = phase + (side == LEFT ? 0 : 0.5);
        Set3(pose.foot[side], 0.135, Stride(own, 2), Stride(own, 1));
        pose.footTurn[side][0] = Stride(own, 3);
        // Arms swing against the legs: from beside the ribs to before the chest.
        double swing = Wave(own + 0.62);
        Set3(pose.hand[side], 0.19 - 0.17 * swing, -0.38 + 0.22 * swing, 0.30 + 0.38 * swing);
        Set3(pose.elbow[side], 0.42, -0.45 - 0.45 * swing, -1);
    }
    return pose;
}

static void BuildJumpAndLand(Track* track)
{
    const double takeOff = 0.98, flight = 0.46, travel = 0.34, low = -0.010, drop = 0.045;
    Pose stand = StandingPose();
    AddKey(track, 0, &stand);
    AddKey(track, 0.25, &stand);
    Pose* p = AddKey(track, 0.66, &stand);
    Set3(p->hips, 0, -0.300, -0.090);
    p->hipsTurn[0] = 28;
    p->spine[0] = 22;
    p->head[0] = -22;
    SetHands(p, 0.36, -0.72, -0.54);
    SetElbows(p, 0.6, 0.1, -1);
    p = AddKey(track, 0.76, p);
    p->hips[1] = -0.315;
    p = AddKey(track, 0.87, p);
    Set3(p->hips, 0, -0.190, -0.040);
    SetHands(p, 0.40, -0.72, 0.50);
    SetElbows(p, 0.8, -0.3, -0.6);
    p = AddKey(track, 0.93, p);
    Set3(p->hips, 0, -0.095, -0.010);
    p->hipsTurn[0] = 14;
    p->spine[0] = 6;
    SetHands(p, 0.44, 0.05, 0.87);
    SetElbows(p, 0.9, -0.6, -0.4);
    SetFeet(p, 0.175, 0, 0.095, 22);
    // Flight: a parabola, sampled closely enough for the cubics to follow it.
    for (int i = 0; i <= 8; ++i) {
        double t = flight * i / 8, u = (double)i / 8;
        p = AddKey(track, takeOff + t, &stand);
        Set3(p->hips, 0, low - drop * u + 0.5 * GRAVITY * t * (flight - t), 0.02 + (travel - 0.09) * u);
        p->hipsTurn[0] = 4 + 10 * u;
        p->spine[0] = -6 + 12 * u;
        double tuck = 4 * u * (1 - u);
        SetFeet(p, 0.175, (p->hips[1] - low + drop * u) * (1 - u * u) + 0.085 * tuck,
            0.095 + travel * SmoothStep(0, 1, u), 46 * (1 - SmoothStep(0, 0.9, u)));
        SetHands(p, 0.30 + 0.10 * u, 0.80 - 0.60 * u, 0.50 + 0.10 * u);
        SetElbows(p, 0.9, -0.6, -0.4);
    }
    double landing = takeOff + flight;
    Set3(p->foot[LEFT], 0.175, 0, 0.095 + travel);
    Set3(p->foot[RIGHT], 0.175, 0, 0.095 + travel);
    Pose ended = stand;
    ended.hips[2] += travel;
    SetFeet(&ended, 0.175, 0, 0.095 + travel, 0);
    p = AddKey(track, landing + 0.18, &ended);
    Set3(p->hips, 0, -0.285, travel - 0.080);
    p->hipsTurn[0] = 26;
    p->spine[0] = 22;
    p->head[0] = -20;
    SetHands(p, 0.66, -0.44, 0.50);
    SetElbows(p, 0.9, -0.3, -0.8);
    p = AddKey(track, landing + 0.28, p);
    p->hips[1] = -0.295;
    p = AddKey(track, landing + 0.72, &ended);
    p->hips[1] = -0.004;
    SetHands(p, 0.40, -0.86, -0.06);
    p = AddKey(track, landing + 0.98, &ended);
    p->hips[1] = -0.040;
    AddKey(track, landing + 1.30, &ended);
    AddKey(track, 3.0, &ended);
}

static const ClipInfo clips[jna_figureClipCount] = {
    {"jumping-jacks", jna_train, 4.4, false, BuildJumpingJacks},
    {"calisthenics", jna_train, 8.4, false, BuildCalisthenics},
    {"shadow-boxing", jna_test, 6.0, false, BuildShadowBoxing},
    {"run", jna_test, RUN_CYCLES * 22.0 / 30, true, NULL},
    {"jump-and-land", jna_test, 3.0, false, BuildJumpAndLand},
};

const char* jnaFigureClipName(int which)
{
    JN_ASSERT(which >= 0 && which < jna_figureClipCount);
    return clips[which].name;
}

jnaRole jnaFigureClipRole(int which)
{
    JN_ASSERT(which >= 0 && which < jna_figureClipCount);
    return clips[which].role;
}

double jnaFigureClipDuration(int which)
{
    JN_ASSERT(which >= 0 && which < jna_figureClipCount);
    return clips[which].duration;
}

static Pose SampleTrack(const Track* track, double time)
{
    int last = track->count - 1, i = 0;
    while (i < last - 1 && track->times[i + 1] <= time) {
        ++i;
    }
    time = time > track->times[last] ? track->times[last] : time;
    Pose out;
    const double* keys[4];
    double times[4];
    for (int k = 0; k < 4; ++k) {
        int at = i + k - 1;
        at = at < 0 ? 0 : at > last ? last : at;
        keys[k] = (const double*)&track->poses[at];
        times[k] = track->times[at];
    }
    for (int c = 0; c < POSE_CHANNELS; ++c) {
        double slopes[3], lengths[3];
        for (int k = 0; k < 3; ++k) {
            lengths[k] = times[k + 1] - times[k];
            slopes[k] = lengths[k] > 0 ? (keys[k + 1][c] - keys[k][c]) / lengths[k] : 0;
        }
        double from = Tangent(slopes[0], slopes[1], lengths[0], lengths[1]);
        double to = Tangent(slopes[1], slopes[2], lengths[1], lengths[2]);
        ((double*)&out)[c] = Hermite(keys[1][c], keys[2][c], from, to, lengths[1], time - times[1]);
    }
    return out;
}

// A quaternion and its negative are the same turn; neighbours in time should have the same sign.
static void StoreFrame(
    jnaClip* clip, const jnaCharacter* character, int frame, double (*rotations)[4], const double* hips)
{
    for (int j = 0; j < clip->jointCount; ++j) {
        size_t entry = (size_t)frame * (size_t)clip->jointCount + (size_t)j;
        float* out = clip->rotations + 4 * entry;
        double same = 1;
        if (frame > 0) {
            const float* before = out - 4 * (size_t)clip->jointCount;
            same = 0;
            for (int i = 0; i < 4; ++i) {
                same += (double)before[i] * rotations[j][i];
            }
        }
        for (int i = 0; i < 4; ++i) {
            out[i] = (float)(same < 0 ? -rotations[j][i] : rotations[j][i]);
        }
        for (int i = 0; i < 3; ++i) {
            clip->translations[3 * entry + (size_t)i] =
                j == HIPS ? (float)hips[i] : character->joints[j].translation[i];
        }
    }
}

jnResult jnaCreateFigureClip(
    const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){0};
    if (which < 0 || which >= jna_figureClipCount) {
        return jnFail(
            error, jn_badArgument, "clip %d of the figure: there are %d", which, jna_figureClipCount);
    }
    if (!(rate >= 1 && rate <= 10000)) {
        return jnFail(error, jn_badArgument, "a clip at %g frames a second: 1 to 10000 will do", rate);
    }
    if (character->jointCount != JOINT_COUNT) {
        return jnFail(error, jn_badArgument, "a character with %d joints is not the built-in figure",
            character->jointCount);
    }
    const ClipInfo* info = &clips[which];
    // A loop leaves out the frame that would repeat its first.
    int steps = (int)(info->duration * rate + 0.5);
    clip->rate = rate;
    clip->frameCount = info->looping ? steps : steps + 1;
    clip->jointCount = JOINT_COUNT;
    clip->looping = info->looping;
    snprintf(clip->name, sizeof(clip->name), "%s", info->name);
    jnResult result = jnaClip_Allocate(clip, false, error);
    if (result != jn_ok) {
        return result;
    }
    Track track = {0};
    if (info->build != NULL) {
        info->build(&track);
    }
    for (int frame = 0; frame < clip->frameCount; ++frame) {
        double time = info->looping ? info->duration * frame / steps : frame / rate;
        Pose pose = info->build != NULL ? SampleTrack(&track, time) : RunPose(time);
        double rotations[JOINT_COUNT][4], hips[3];
        SolvePose(&pose, rotations, hips);
        StoreFrame(clip, character, frame, rotations, hips);
    }
    return jn_ok;
}
