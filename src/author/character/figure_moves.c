// What the figure does in its clips: the poses of an animator, in metres, degrees and seconds.
#include "character/figure_pose.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum { LEFT = 0, RIGHT = 1 };

#define RUN_CYCLE (RUN_CYCLE_FRAMES / 30.0)
#define WALK_CYCLE (WALK_CYCLE_FRAMES / 30.0)
#define GRAVITY 9.81

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

void jnaBuildJumpingJacks(Track* track)
{
    const double period = 0.88;
    Pose stand = jnaStandingPose();
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

void jnaBuildCalisthenics(Track* track)
{
    Pose stand = jnaStandingPose();
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
    Pose guard = jnaStandingPose();
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
    p->hipsTurn[1] = -30;
    p->spine[1] = -16;
    p->head[1] = 38;
    Set3(p->hand[LEFT], -0.02, 0.20, 0.985);
    Set3(p->elbow[LEFT], 0.7, -1, 0);
}

static void AddCross(Track* track, double t, const Pose* guard)
{
    Pose* p = AddKey(track, t, guard);
    Set3(p->hips, 0.010, -0.090, 0.070);
    p->hipsTurn[1] = 4;
    p->spine[1] = 14;
    p->head[1] = -10;
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
    p->hipsTurn[1] = -18;
    p->spine[1] = 0;
    p->head[1] = 18;
    Set3(p->hand[LEFT], 0.42, 0.02, 0.58);
    Set3(p->elbow[LEFT], 1, -0.15, -0.2);
    p = AddKey(track, t, guard);
    p->hips[1] = -0.070;
    p->hipsTurn[1] = -36;
    p->spine[1] = -18;
    p->head[1] = 46;
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

void jnaBuildShadowBoxing(Track* track)
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

// One leg over a cycle: phase, place along z, height, heel.
enum { STRIDE_KEYS = 8 };
typedef double Stride[STRIDE_KEYS][4];
static const Stride runStride = {
    {0.00, 0.26, 0.012, -8},  // touches down
    {0.06, 0.20, 0.000, 0},   //
    {0.20, -0.04, 0.000, 2},  // below the body
    {0.34, -0.28, 0.000, 40}, // pushes off
    {0.46, -0.40, 0.200, 78}, // heel behind
    {0.62, -0.12, 0.280, 62}, // swings through
    {0.78, 0.26, 0.240, 22},  // knee in front
    {0.92, 0.34, 0.090, -4},  //
};
static const Stride walkStride = {
    {0.00, 0.33, 0.030, -16},  // the heel touches down
    {0.08, 0.27, 0.006, -3},   //
    {0.30, 0.06, 0.000, 0},    // below the body
    {0.48, -0.13, 0.000, 20},  // the heel leaves the ground
    {0.60, -0.27, 0.012, 46},  // pushes off
    {0.72, -0.10, 0.085, 42},  //
    {0.84, 0.20, 0.060, 6},    // swings through
    {0.93, 0.345, 0.045, -15}, //
};

// One channel of a stride at a phase, as a closed curve.
static double StrideAt(const Stride stride, double phase, int channel)
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
Pose jnaRunPose(double time)
{
    double phase = time / RUN_CYCLE;
    Pose pose = jnaStandingPose();
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
        Set3(pose.foot[side], 0.135, StrideAt(runStride, own, 2), StrideAt(runStride, own, 1));
        pose.footTurn[side][0] = StrideAt(runStride, own, 3);
        // Arms swing against the legs: from beside the ribs to before the chest.
        double swing = Wave(own + 0.12);
        Set3(pose.hand[side], 0.19 - 0.17 * swing, -0.38 + 0.22 * swing, 0.30 + 0.38 * swing);
        Set3(pose.elbow[side], 0.42, -0.45 - 0.45 * swing, -1);
    }
    return pose;
}

// On the spot, as on a treadmill, at about 1.3 m/s: one foot is always on the ground, and the hips are highest above
// it.
Pose jnaWalkPose(double time)
{
    double phase = time / WALK_CYCLE;
    Pose pose = jnaStandingPose();
    pose.hips[0] = 0.018 * Wave(phase + 0.22);
    pose.hips[1] = -0.036 + 0.020 * Wave(2 * phase + 0.94);
    double sway = -Wave(phase + 0.30), turn = Wave(phase);
    pose.hipsTurn[0] = 3;
    pose.hipsTurn[1] = 6 * turn;
    pose.hipsTurn[2] = 3 * sway;
    pose.spine[0] = 2;
    pose.spine[1] = -13 * turn;
    pose.spine[2] = -3 * sway;
    pose.head[0] = -4;
    pose.head[1] = 7 * turn;
    for (int side = 0; side < 2; ++side) {
        double own = phase + (side == LEFT ? 0 : 0.5);
        Set3(pose.foot[side], 0.13, StrideAt(walkStride, own, 2), StrideAt(walkStride, own, 1));
        pose.footTurn[side][0] = StrideAt(walkStride, own, 3);
        // Arms hang and swing against the legs.
        double swing = Wave(own);
        Set3(pose.hand[side], 0.34 - 0.05 * swing, -0.89 + 0.04 * swing, 0.10 + 0.30 * swing);
        Set3(pose.elbow[side], 0.45, -0.1, -1);
    }
    return pose;
}

// From foot to foot in a wide stance: the hips over one leg, the other foot lifted across, an arm up.
static void AddSideStep(Track* track, double t, const Pose* stand, int side)
{
    double way = side == LEFT ? 1 : -1;
    int other = 1 - side;
    Pose* p = AddKey(track, t, stand);
    Set3(p->hips, 0.090 * way, -0.075, 0.010);
    p->hipsTurn[1] = 16 * way;
    p->hipsTurn[2] = -6 * way;
    p->spine[1] = -30 * way;
    p->spine[2] = 16 * way;
    p->head[1] = 10 * way;
    Set3(p->foot[other], 0.10, 0.075, 0.16);
    p->footTurn[other][0] = 24;
    Set3(p->hand[other], 0.50, 0.80, 0.22);
    Set3(p->elbow[other], 0.9, 0, -0.5);
    Set3(p->hand[side], 0.60, -0.62, 0.40);
    p = AddKey(track, t + 0.24, stand);
    p->hips[1] = -0.100;
    p->spine[0] = 6;
    SetHands(p, 0.78, -0.42, 0.34);
    SetElbows(p, 0.8, -0.3, -0.8);
}

// The hips draw a circle below a chest that stays where it is.
static void AddHipCircle(Track* track, double t, const Pose* stand)
{
    static const double circle[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (int i = 0; i < 9; ++i) {
        const double* at = circle[i % 4];
        Pose* p = AddKey(track, t + 0.17 * i, stand);
        Set3(p->hips, 0.075 * at[0], -0.085, 0.060 * at[1]);
        p->hipsTurn[0] = -9 * at[1];
        p->hipsTurn[2] = -9 * at[0];
        p->spine[0] = 12 * at[1];
        p->spine[2] = 14 * at[0];
        SetHands(p, 0.72, -0.10, 0.42);
        SetElbows(p, 0.8, -0.5, -0.5);
    }
}

// A small hop on both feet, arms thrown up.
static void AddHop(Track* track, double t, const Pose* stand)
{
    Pose* p = AddKey(track, t, stand);
    p->hips[1] = -0.130;
    p->spine[0] = 9;
    SetHands(p, 0.62, -0.66, 0.30);
    p = AddKey(track, t + 0.21, stand);
    p->hips[1] = 0.035;
    SetHands(p, 0.52, 0.78, 0.26);
    SetElbows(p, 0.8, 0, -0.6);
    SetFeet(p, 0.240, 0.050, 0.095, 30);
    p = AddKey(track, t + 0.42, stand);
    p->hips[1] = -0.115;
    p->spine[0] = 7;
    SetHands(p, 0.76, 0.05, 0.36);
    SetElbows(p, 0.8, -0.4, -0.6);
}

void jnaBuildDance(Track* track)
{
    Pose stand = jnaStandingPose();
    SetFeet(&stand, 0.240, 0, 0.095, 0);
    stand.footTurn[LEFT][1] = stand.footTurn[RIGHT][1] = 10;
    stand.hips[1] = -0.030;
    AddKey(track, 0, &stand);
    for (int i = 0; i < 4; ++i) {
        AddSideStep(track, 0.34 + 0.50 * i, &stand, i % 2 == 0 ? LEFT : RIGHT);
    }
    AddHipCircle(track, 2.44, &stand);
    for (int i = 0; i < 3; ++i) {
        AddHop(track, 4.10 + 0.46 * i, &stand);
    }
    AddSideStep(track, 5.72, &stand, RIGHT);
    AddKey(track, 6.40, &stand);
    AddKey(track, 6.80, &stand);
}

// Down, arms back; then up onto the toes with the arms thrown forward.
static void AddCrouch(Track* track, const Pose* stand)
{
    Pose* p = AddKey(track, 0.66, stand);
    Set3(p->hips, 0, -0.300, -0.090);
    p->hipsTurn[0] = 28;
    p->spine[0] = 22;
    p->head[0] = -22;
    SetHands(p, 0.36, -0.72, -0.54);
    SetElbows(p, 0.6, 0.1, -1);
    p = AddKey(track, 0.76, p);
    p->hips[1] = -0.315;
    SetHands(p, 0.38, -0.86, -0.28);
    p = AddKey(track, 0.87, p);
    Set3(p->hips, 0, -0.190, -0.040);
    p->hipsTurn[0] = 22;
    p->spine[0] = 15;
    SetHands(p, 0.40, -0.82, 0.32);
    SetElbows(p, 0.8, -0.3, -0.6);
    p = AddKey(track, 0.93, p);
    Set3(p->hips, 0, -0.095, -0.010);
    p->hipsTurn[0] = 15;
    p->spine[0] = 9;
    p->head[0] = -12;
    SetHands(p, 0.42, -0.58, 0.62);
    SetElbows(p, 0.9, -0.6, -0.4);
    SetFeet(p, 0.175, 0, 0.095, 22);
}

// A parabola, sampled closely enough for the cubics to follow it. The feet are drawn up, then reach for the
// ground.
static void AddFlight(Track* track, const Pose* stand, double takeOff, double flight, double travel)
{
    const double low = -0.010, drop = 0.045;
    for (int i = 0; i <= 8; ++i) {
        double u = (double)i / 8, t = flight * u;
        double rise = 0.5 * GRAVITY * t * (flight - t), tuck = 4 * u * (1 - u);
        Pose* p = AddKey(track, takeOff + t, stand);
        Set3(p->hips, 0, low - drop * u + rise, 0.02 + (travel - 0.09) * u);
        p->hipsTurn[0] = 9 + 5 * u;
        p->spine[0] = 4 + 2 * u;
        p->head[0] = -6 * (1 - u);
        SetFeet(p, 0.175, rise * (1 - u * u) + 0.085 * tuck, 0.095 + travel * SmoothStep(0, 1, u),
            46 * (1 - SmoothStep(0, 0.9, u)));
        // The arms go on up in the first half, and come down for the landing.
        double up = SmoothStep(0, 0.6, u), down = SmoothStep(0.5, 1, u);
        SetHands(p, 0.42, -0.30 + 0.70 * up - 0.25 * down, 0.80 - 0.15 * up);
        SetElbows(p, 0.9, -0.6, -0.4);
    }
}

// The knees take the fall, then the body rises a little too far and settles.
static void AddLanding(Track* track, const Pose* ended, double landing, double end)
{
    Pose* p = AddKey(track, landing + 0.18, ended);
    Set3(p->hips, 0, -0.285, ended->hips[2] - 0.080);
    p->hipsTurn[0] = 26;
    p->spine[0] = 22;
    p->head[0] = -20;
    SetHands(p, 0.66, -0.44, 0.50);
    SetElbows(p, 0.9, -0.3, -0.8);
    p = AddKey(track, landing + 0.28, p);
    p->hips[1] = -0.295;
    p = AddKey(track, landing + 0.72, ended);
    p->hips[1] = -0.004;
    SetHands(p, 0.40, -0.86, -0.06);
    p = AddKey(track, landing + 0.98, ended);
    p->hips[1] = -0.040;
    AddKey(track, landing + 1.30, ended);
    AddKey(track, end, ended);
}

void jnaBuildJumpAndLand(Track* track)
{
    const double takeOff = 0.98, flight = 0.46, travel = 0.34;
    Pose stand = jnaStandingPose(), ended = stand;
    AddKey(track, 0, &stand);
    AddKey(track, 0.25, &stand);
    AddCrouch(track, &stand);
    AddFlight(track, &stand, takeOff, flight, travel);
    ended.hips[2] += travel;
    SetFeet(&ended, 0.175, 0, 0.095 + travel, 0);
    AddLanding(track, &ended, takeOff + flight, 3.0);
}

// Off a step of 30 cm: the fall is free, the knees take it, and what is soft rings down in 1.5 s of standing.
void jnaBuildDrop(Track* track)
{
    const double step = 0.30, leave = 0.20, fall = sqrt(2 * step / GRAVITY);
    Pose stand = jnaStandingPose(), high = stand;
    high.hips[1] += step;
    SetFeet(&high, 0.155, step, 0.095, 0);
    SetHands(&high, 0.42, -0.80, 0.20);
    AddKey(track, 0, &high);
    for (int i = 0; i <= 8; ++i) {
        double u = (double)i / 8, fallen = step * u * u;
        Pose* p = AddKey(track, leave + fall * u, &high);
        p->hips[1] = step - fallen - 0.05 * u;
        p->hipsTurn[0] = 8 * u;
        p->spine[0] = 4 * u;
        SetFeet(p, 0.155, step - fallen, 0.095, 30 * (1 - SmoothStep(0, 1, fabs(2 * u - 1))));
    }
    AddLanding(track, &stand, leave + fall, 3.2);
}
