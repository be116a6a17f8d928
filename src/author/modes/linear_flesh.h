// A simulator of linear flesh: the elasticity of the rest pose in frames that turn with the skeleton.
//
// Node n has a target x^ (where the skeleton puts it) and a rotation R. With u = R^T (x - x^),
//     M x'' = -R (K u + C u'),   C = massDamping M + stiffnessDamping K
// which is exact for small strains around one rigid core. It is what modes are a reduction of, so what they lose is
// told apart from what the flesh's nonlinearity adds. Second order in time (BDF2), no numerical damping to speak of.
#pragma once

#include "modes/elastic.h"

/// Targets [nodeCount][3] and unit quaternions [nodeCount][4] (x, y, z, w) at a time, seconds.
typedef void jnaFleshPose(double seconds, double* targets, double* rotations, void* user);

/// One frame's outcome; positions and targets are [nodeCount][3].
typedef void jnaFleshFrame(int frame, const double* targets, const double* positions, void* user);

typedef struct jnaLinearFleshDef {
    const jnaVolume* volume;
    jnaElastic* elastic;     // of the volume; its factor is replaced
    double massDamping;      // 1/s
    double stiffnessDamping; // s
    double dt;               // seconds between frames
    int frameCount;
    int substeps; // steps a frame
    jnaFleshPose* pose;
    jnaFleshFrame* take;
    void* user;
} jnaLinearFleshDef;

/// Runs from frame 0, where the flesh is on its targets and moves with them.
jnResult jnaSimulateLinearFlesh(const jnaLinearFleshDef* def, jnError* error);
