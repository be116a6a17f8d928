// What the ablation of the modes and its trials share.
#pragma once

#include "modes/modal_motion.h"
#include "pipeline/posed_flesh.h"
#include "pipeline/shake.h"
#include "pipeline/takes.h"

/// A clip with its simulated motion on its equilibria.
typedef struct jnbTake {
    jnaModalSequence sequence;
    const jnaClip* poses;
    int first; // frame of the clip that the motion begins with
    jnaArray targets;
    jnaTakeFrames frames;
} jnbTake;

typedef struct jnbScene {
    jnaWorkspace* opened;
    jnaTakes workspace;
    jnaVolume volume;
    jnbTake* takes; // those to learn from first; only those with equilibria
    int count, trainCount;
    float* soft;       // [vertexCount], 1 for soft
    jnaFleshPose pose; // that modes are of
    jnaShake shakes[JNA_SHAKES];
} jnbScene;

/// Clips with simulated motion and equilibria, some to learn from and some others.
jnResult jnbOpenScene(const char* workspace, jnbScene* scene, jnError* error);
void jnbCloseScene(jnbScene* scene);

/// The modes of the scene's flesh, in its mean pose or at rest.
jnResult jnbFindModes(const jnbScene* scene, const jnaModesDef* def, bool atRest, jnaModes* modes, jnError* error);

/// Amplitudes of a take, [frameCount][modeCount].
typedef jnResult jnbPlayTake(
    const jnbScene* scene, const jnaModes* modes, const jnbTake* take, void* user, double* amplitudes, jnError* error);

/// Prints a row of the table: what `play` captures of every take.
jnResult jnbPrintWay(
    const jnbScene* scene, const char* name, const jnaModes* modes, jnbPlayTake* play, void* user, jnError* error);

/// What the modes' numbers are learned from.
typedef enum jnbLesson {
    jnb_shakes,
    jnb_seenClips,   // as without shakes
    jnb_unseenClips, // those that they are judged on: what numbers alone could reach
} jnbLesson;

/// Learns the modes' numbers, in place.
jnResult jnbLearn(const jnbScene* scene, jnbLesson lesson, jnaModes* modes, jnError* error);

/// Ways that were tried and are not part of Jounce: the numbers as the simulation's steps in time make them, a gain for
/// each direction. def: of the modes as they are made.
jnResult jnbPrintTrials(const jnbScene* scene, const jnaModesDef* def, jnError* error);
