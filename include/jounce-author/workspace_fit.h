// Learns the springs of a workspace from its simulated or imported motion.
#pragma once

#include "jounce-author/import.h"
#include "jounce-author/spring_fit.h"

/// What the springs hang on while they are learned.
typedef enum jnaFitTargets {
    jna_targetsQuasistatic, // the simulated equilibrium of every frame: motion/NAME/quasistatic.npy
    jna_targetsSkinned,     // the skeleton alone
} jnaFitTargets;

/// Start from jnaDefaultWorkspaceFitDef.
typedef struct jnaWorkspaceFitDef {
    jnaFitTargets targets; // quasistatic
    double drop;           // share of frames that the robust refit leaves out; 0.1
    int threads;           // 0: all
    jnaProgress* progress; // NULL: none
    void* user;
} jnaWorkspaceFitDef;
jnaWorkspaceFitDef jnaDefaultWorkspaceFitDef(void);

/// How well springs follow the motion of one clip.
typedef struct jnaClipFit {
    char name[JNA_NAME_LENGTH];
    bool trained; // its motion was learned from
    int frameCount;
    double layer;        // metres, rms of the motion against the targets: what there is to capture
    double error;        // metres, rms of the motion against the springs
    double captured;     // 1 - sum |x - x_D|^2 / sum |target - x_D|^2
    double capturedSoft; // the same over the tenth of the vertices that move most against their targets
} jnaClipFit;

/// What was learned and how far it carries.
typedef struct jnaWorkspaceFit {
    int clipCount;
    jnaClipFit* clips; // [clipCount], owned
    int vertexCount, atBound, weak;
} jnaWorkspaceFit;
void jnaDestroyWorkspaceFit(jnaWorkspaceFit* fit);

/// Fits the springs on the clips marked `train` that have motion (motion/NAME/dynamic.npy, or an imported one), writes
/// springs/stiffness.npy, damping.npy and fit.json, and plays every clip that has motion with them, seen and unseen.
jnResult jnaFitWorkspace(
    const char* workspace, const jnaWorkspaceFitDef* def, jnaWorkspaceFit* fit, jnaNotes* notes, jnError* error);
