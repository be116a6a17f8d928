// From a pose to joint rotations: the back is turned by angles, arms and legs reach their targets by the
// triangle of two bones. World rotations are built first; a local rotation is the inverse of the parent's
// times the joint's own.
#include "character/figure_pose.h"

#include "character/figure_internal.h"

#include <string.h>

typedef struct Matrix {
    double m[3][3];
} Matrix;

// Sine of degrees by its Taylor series on -90..90, where eight terms are good to 1e-13.
static double Sine(double degrees)
{
    double turns = degrees / 360;
    double whole = turns >= 0 ? (double)(long)(turns + 0.5) : (double)(long)(turns - 0.5);
    double d = degrees - 360 * whole;
    d = d > 90 ? 180 - d : d < -90 ? -180 - d : d;
    double x = d * 0.017453292519943295, square = x * x, term = x, sum = x;
    for (int n = 1; n <= 8; ++n) {
        term *= -square / ((2 * n) * (2 * n + 1));
        sum += term;
    }
    return sum;
}

static double Cosine(double degrees)
{
    return Sine(degrees + 90);
}

static Matrix Multiply(Matrix a, Matrix b)
{
    Matrix out;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            out.m[i][k] = a.m[i][0] * b.m[0][k] + a.m[i][1] * b.m[1][k] + a.m[i][2] * b.m[2][k];
        }
    }
    return out;
}

static Matrix Transpose(Matrix a)
{
    Matrix out;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            out.m[i][k] = a.m[k][i];
        }
    }
    return out;
}

static void Apply(Matrix a, const double v[3], double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = jnaDot(a.m[i], v);
    }
}

// Yaw, then pitch, then roll in the turned frame: pitch leans forward, roll leans to the left.
static Matrix Turn(double pitch, double yaw, double roll)
{
    double cp = Cosine(pitch), sp = Sine(pitch), cy = Cosine(yaw), sy = Sine(yaw), cr = Cosine(-roll), sr = Sine(-roll);
    Matrix x = {{{1, 0, 0}, {0, cp, -sp}, {0, sp, cp}}};
    Matrix y = {{{cy, 0, sy}, {0, 1, 0}, {-sy, 0, cy}}};
    Matrix z = {{{cr, -sr, 0}, {sr, cr, 0}, {0, 0, 1}}};
    return Multiply(y, Multiply(x, z));
}

// A frame with columns: the bone, its hinge, and what is square to both.
static Matrix BoneFrame(const double bone[3], const double hinge[3])
{
    double r[3] = {bone[0], bone[1], bone[2]}, h[3] = {hinge[0], hinge[1], hinge[2]}, s[3];
    jnaNormalize(r);
    double along = jnaDot(h, r);
    for (int i = 0; i < 3; ++i) {
        h[i] -= along * r[i];
    }
    jnaNormalize(h);
    jnaCross(r, h, s);
    return (Matrix){{{r[0], h[0], s[0]}, {r[1], h[1], s[1]}, {r[2], h[2], s[2]}}};
}

// World rotation that turns a bone of the rest pose, hinged square to `restPole`, onto a new bone and hinge.
static Matrix TurnBone(int from, int to, const double restPole[3], const double bone[3], const double hinge[3])
{
    double rest[3], restHinge[3];
    for (int i = 0; i < 3; ++i) {
        rest[i] = jnaFigureJoints[to].position[i] - jnaFigureJoints[from].position[i];
    }
    jnaCross(rest, restPole, restHinge);
    return Multiply(BoneFrame(bone, hinge), Transpose(BoneFrame(rest, restHinge)));
}

// Two bones from `root` towards `target`, their middle joint towards `pole`. Writes their world rotations.
static void Reach(int first, const double root[3], const double target[3], const double pole[3],
    const double restPole[3], Matrix* upper, Matrix* lower)
{
    double a = jnaDistance(jnaFigureJoints[first].position, jnaFigureJoints[first + 1].position);
    double b = jnaDistance(jnaFigureJoints[first + 1].position, jnaFigureJoints[first + 2].position);
    double way[3] = {target[0] - root[0], target[1] - root[1], target[2] - root[2]};
    double d = jnaLength(way);
    // Never quite straight: the hinge would be lost, and straight limbs snap.
    double longest = 0.998 * (a + b), shortest = 0.35 * (a + b);
    jnaNormalize(way);
    d = d > longest ? longest : d < shortest ? shortest : d;
    double along = (a * a + d * d - b * b) / (2 * d);
    double off = sqrt(a * a - along * along);
    double side[3], hinge[3], bone[3], rest[3];
    double slant = jnaDot(pole, way);
    for (int i = 0; i < 3; ++i) {
        side[i] = pole[i] - slant * way[i];
    }
    jnaNormalize(side);
    jnaCross(way, side, hinge);
    for (int i = 0; i < 3; ++i) {
        bone[i] = along * way[i] + off * side[i];
        rest[i] = d * way[i] - bone[i];
    }
    *upper = TurnBone(first, first + 1, restPole, bone, hinge);
    *lower = TurnBone(first + 1, first + 2, restPole, rest, hinge);
}

static void ToQuaternion(Matrix a, double q[4])
{
    double trace = a.m[0][0] + a.m[1][1] + a.m[2][2];
    if (trace > 0) {
        double s = 2 * sqrt(trace + 1);
        q[0] = (a.m[2][1] - a.m[1][2]) / s;
        q[1] = (a.m[0][2] - a.m[2][0]) / s;
        q[2] = (a.m[1][0] - a.m[0][1]) / s;
        q[3] = 0.25 * s;
    } else {
        // The largest of the three: its square root is far from zero.
        int i = a.m[0][0] > a.m[1][1] ? 0 : 1;
        i = a.m[2][2] > a.m[i][i] ? 2 : i;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double s = 2 * sqrt(1 + a.m[i][i] - a.m[j][j] - a.m[k][k]);
        q[i] = 0.25 * s;
        q[j] = (a.m[j][i] + a.m[i][j]) / s;
        q[k] = (a.m[k][i] + a.m[i][k]) / s;
        q[3] = (a.m[k][j] - a.m[j][k]) / s;
    }
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; ++i) {
        q[i] /= length;
    }
}

// Where a joint comes to lie: its parent's place and rotation applied to the rest offset.
static void Place(int joint, const Matrix* world, double positions[][3])
{
    int parent = jnaFigureJoints[joint].parent;
    double offset[3], turned[3];
    for (int i = 0; i < 3; ++i) {
        offset[i] = jnaFigureJoints[joint].position[i] - jnaFigureJoints[parent].position[i];
    }
    Apply(world[parent], offset, turned);
    for (int i = 0; i < 3; ++i) {
        positions[joint][i] = positions[parent][i] + turned[i];
    }
}

static void SolveArm(const Pose* pose, int side, Matrix* world, double positions[][3])
{
    int shoulder = side == 0 ? LEFT_SHOULDER : RIGHT_SHOULDER, arm = shoulder + 1;
    double sign = side == 0 ? 1 : -1;
    double hand[3] = {sign * pose->hand[side][0], pose->hand[side][1], pose->hand[side][2]};
    double elbow[3] = {sign * pose->elbow[side][0], pose->elbow[side][1], pose->elbow[side][2]};
    // The collar bone follows: up with a raised arm, forward with a punch.
    double lift = 26 * SmoothStep(-0.3, 1.0, hand[1]) - 6;
    double push = 16 * SmoothStep(0.3, 1.0, hand[2]);
    Place(shoulder, world, positions);
    world[shoulder] = Multiply(world[SPINE1], Turn(0, -sign * push, -sign * lift));
    Place(arm, world, positions);
    double length = jnaDistance(jnaFigureJoints[arm].position, jnaFigureJoints[arm + 1].position) +
                    jnaDistance(jnaFigureJoints[arm + 1].position, jnaFigureJoints[arm + 2].position);
    double target[3], pole[3];
    Apply(world[SPINE1], hand, target);
    Apply(world[SPINE1], elbow, pole);
    for (int i = 0; i < 3; ++i) {
        target[i] = positions[arm][i] + length * target[i];
    }
    static const double restPole[3] = {0, 0, -1};
    Reach(arm, positions[arm], target, pole, restPole, &world[arm], &world[arm + 1]);
    world[arm + 2] = world[arm + 1];
}

static void SolveLeg(const Pose* pose, int side, Matrix* world, double positions[][3])
{
    int leg = side == 0 ? LEFT_UP_LEG : RIGHT_UP_LEG, foot = leg + 2, toe = leg + 3;
    double sign = side == 0 ? 1 : -1;
    Place(leg, world, positions);
    double pitch = pose->footTurn[side][0], yaw = sign * pose->footTurn[side][1];
    world[foot] = Turn(pitch, yaw, 0);
    // A raised heel rolls over the ball: the toes stay flat while the foot is near the ground.
    double bend = pitch > 0 ? pitch * SmoothStep(0.24, 0.01, pose->foot[side][1]) : 0;
    world[toe] = Turn(pitch - bend, yaw, 0);
    double offset[3], turned[3], ankle[3];
    for (int i = 0; i < 3; ++i) {
        offset[i] = jnaFigureJoints[foot].position[i] - jnaFigureJoints[toe].position[i];
    }
    Apply(world[foot], offset, turned);
    const double ball[3] = {
        sign * pose->foot[side][0], jnaFigureJoints[toe].position[1] + pose->foot[side][1], pose->foot[side][2]};
    for (int i = 0; i < 3; ++i) {
        ankle[i] = ball[i] + turned[i];
    }
    // Knees look where the toes do, a little outwards, and turn with the hips.
    double aim[3] = {sign * 0.12 + Sine(yaw), 0, Cosine(yaw)}, forward[3] = {0, 0.25, 1}, pole[3];
    Apply(world[HIPS], forward, pole);
    for (int i = 0; i < 3; ++i) {
        pole[i] = 0.6 * aim[i] + 0.4 * pole[i];
    }
    static const double restPole[3] = {0, 0, 1};
    Reach(leg, positions[leg], ankle, pole, restPole, &world[leg], &world[leg + 1]);
}

Pose jnaStandingPose(void)
{
    Pose pose = {.hips = {0, -0.012, 0}};
    for (int side = 0; side < 2; ++side) {
        const double hand[3] = {0.34, -0.91, 0.10}, elbow[3] = {0.35, 0, -1}, foot[3] = {0.175, 0, 0.095};
        memcpy(pose.hand[side], hand, sizeof(hand));
        memcpy(pose.elbow[side], elbow, sizeof(elbow));
        memcpy(pose.foot[side], foot, sizeof(foot));
        pose.footTurn[side][1] = 3;
    }
    return pose;
}

void jnaSolvePose(const Pose* pose, double rotations[JOINT_COUNT][4], double hips[3])
{
    Matrix world[JOINT_COUNT];
    double positions[JOINT_COUNT][3];
    for (int i = 0; i < 3; ++i) {
        positions[HIPS][i] = hips[i] = jnaFigureJoints[HIPS].position[i] + pose->hips[i];
    }
    world[HIPS] = Turn(pose->hipsTurn[0], pose->hipsTurn[1], pose->hipsTurn[2]);
    Matrix back = Turn(0.5 * pose->spine[0], 0.5 * pose->spine[1], 0.5 * pose->spine[2]);
    Matrix neck = Turn(0.5 * pose->head[0], 0.5 * pose->head[1], 0);
    for (int j = SPINE; j <= HEAD; ++j) {
        Place(j, world, positions);
        world[j] = Multiply(world[jnaFigureJoints[j].parent], j < NECK ? back : neck);
    }
    for (int side = 0; side < 2; ++side) {
        SolveArm(pose, side, world, positions);
        SolveLeg(pose, side, world, positions);
    }
    for (int j = 0; j < JOINT_COUNT; ++j) {
        int parent = jnaFigureJoints[j].parent;
        ToQuaternion(parent < 0 ? world[j] : Multiply(Transpose(world[parent]), world[j]), rotations[j]);
    }
}
