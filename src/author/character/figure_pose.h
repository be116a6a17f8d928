// A pose of the figure as an animator says it: where hips, hands and feet are and how the back bends. Not
// installed.
#pragma once

#include "character/figure_internal.h"

// Positions in metres, angles in degrees. In pairs, 0 is left and 1 is right, and x points outwards on either
// side. All members are doubles, so that a pose can be interpolated as an array.
typedef struct Pose {
    double hips[3];        // moved from the rest position
    double hipsTurn[3];    // pitch (forward), yaw (to the left), roll (to the left)
    double spine[3];       // the same, shared by the two joints of the back
    double head[2];        // pitch, yaw, shared by neck and head
    double hand[2][3];     // wrist from the shoulder, in the chest's frame, in arm lengths
    double elbow[2][3];    // the way the elbow points, in the chest's frame
    double foot[2][3];     // ball of the foot: x and z on the ground, y above it
    double footTurn[2][2]; // pitch (heel up), yaw (toes out)
} Pose;

enum { POSE_CHANNELS = sizeof(Pose) / sizeof(double) };

// Upright, arms at the sides, feet below the hips.
Pose jnaStandingPose(void);

// Local rotations of all joints (quaternions x, y, z, w) and the translation of the hips.
void jnaSolvePose(const Pose* pose, double rotations[JOINT_COUNT][4], double hips[3]);

enum { MAX_KEYS = 96 };

// Poses at chosen times.
typedef struct Track {
    int count;
    double times[MAX_KEYS]; // seconds, rising
    Pose poses[MAX_KEYS];
} Track;

// Two steps of the run and of the walk, in frames at 30 a second.
enum { RUN_CYCLE_FRAMES = 22, WALK_CYCLE_FRAMES = 33 };

// The motions. Run and walk are formulas that repeat, the others are tracks.
void jnaBuildJumpingJacks(Track* track);
void jnaBuildCalisthenics(Track* track);
void jnaBuildShadowBoxing(Track* track);
void jnaBuildJumpAndLand(Track* track);
void jnaBuildDance(Track* track);
void jnaBuildDrop(Track* track);
Pose jnaRunPose(double time);
Pose jnaWalkPose(double time);

// Tangent of a monotone cubic from the slopes and lengths on either side.
static inline double Tangent(double before, double after, double beforeLength, double afterLength)
{
    if (before * after <= 0) {
        return 0;
    }
    double a = 2 * afterLength + beforeLength, b = afterLength + 2 * beforeLength;
    return (a + b) / (a / before + b / after);
}

static inline double Hermite(double from, double to, double slopeFrom, double slopeTo, double length, double t)
{
    double u = t / length;
    return from + u * (slopeFrom * length * (1 - u) * (1 - u) - slopeTo * length * u * (1 - u)) +
           u * u * (3 - 2 * u) * (to - from);
}
