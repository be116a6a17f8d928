// Learns the springs of a workspace from its simulated or imported motion.
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "learn/spring_fit.h"
#include "learn/spring_parts.h"

/// What springs hang on.
typedef enum jnaFitTargets {
    jna_targetsAuto = -1,   // quasistatic where all clips to learn from have it, else network, else skinned
    jna_targetsQuasistatic, // the simulated equilibrium of every frame: motion/NAME/quasistatic.npy
    jna_targetsNetwork,     // what the trained network makes of the pose, as the runtime does
    jna_targetsSkinned,     // the skeleton alone
    jna_targetsCount,
} jnaFitTargets;

/// Start from jnaDefaultWorkspaceFitDef.
typedef struct jnaWorkspaceFitDef {
    jnaFitTargets targets; // auto
    jnaFitMethod method;   // of springs per vertex; Levenberg-Marquardt
    jnaFitDrop dropBy;     // which frames the robust refit of springs per vertex leaves out; each vertex's own worst
    double drop;           // share of frames that the robust refit leaves out; 0.1
    double prior;          // of springs per vertex, metres, as in jnaFitDef; that of jnaDefaultFitDef
    bool keep;             // leaves springs that are up to date alone; false
    int threads;           // 0: all
    jnaWatch watch;        // nobody
} jnaWorkspaceFitDef;
jnaWorkspaceFitDef jnaDefaultWorkspaceFitDef(void);

/// How well one layer of springs follows the motion of one clip.
typedef struct jnaClipFit {
    char name[JNA_NAME_LENGTH];
    const char* layerName; // "vertex", "modal"
    bool trained;          // its motion was learned from
    int frameCount;
    double layer;        // metres, rms of the motion against the targets: what there is to capture
    double error;        // metres, rms of the motion against the springs
    double captured;     // 1 - sum |x - x_D|^2 / sum |target - x_D|^2; NaN where there is nothing
    double capturedSoft; // the same over the tenth of the vertices that move most against their targets
} jnaClipFit;

/// What was learned and how far it carries.
typedef struct jnaWorkspaceFit {
    bool made;             // false: what was there is up to date, and nothing else is filled in
    jnaFitTargets targets; // that were used
    int clipCount;         // times layers
    jnaClipFit* clips;     // [clipCount], owned
    int vertexCount, atBound, weak;
    int keptFrames;       // a vertex, on average, that the robust refit keeps, of `frames`
    int frames;           // of all clips learned from
    jnaSpringParts parts; // springs per vertex, part by part
    int modeCount;        // that were learned; 0: none
    double modalPrior;    // strength that was chosen for them; infinite: they stay as the physics says
    double uniform[2];    // one stiffness and damping for all vertices
    const char* better;   // of "vertex" and "modal", what explains more; springs.layer `auto` keeps it
    double explains[2];   // fraction of the motion by springs per vertex and by modes; NaN: not learned
    // Springs per vertex fitted to all frames (before) and refitted without the worst (after), compared on the same
    // frames: those that the refit keeps, and all of them.
    double lossBefore, lossAfter;               // mean square of what they leave on the kept frames, m^2
    double capturedBefore, capturedAfter;       // of the motion on the kept frames
    double capturedAllBefore, capturedAllAfter; // of the motion on all frames
} jnaWorkspaceFit;
void jnaDestroyWorkspaceFit(jnaWorkspaceFit* fit);

/// Fits on the clips marked `train` that have motion (motion/NAME/dynamic.npy, or an imported one): a spring per
/// vertex, one spring for all, springs on skinning alone, and where the workspace has modes those. Where the ground
/// truth is imported, modes are found in the motion first and written to modes/. Writes springs/*.npy and fit.json,
/// records the stage "fit", and plays every clip that has motion with what was learned, seen and unseen.
jnResult jnaFitWorkspace(
    const char* workspace, const jnaWorkspaceFitDef* def, jnaWorkspaceFit* fit, jnaNotes* notes, jnError* error);
