// The built-in figure: a friendly, heavy-set mannequin and its clips, made by code. The same bytes on every
// machine.
#pragma once

#include "character/character.h"

/// The clips, in order; also the index that jnaCreateFigureClip takes. The last three are kept back: a workspace has
/// them only if its manifest names them, so that nothing is ever chosen by how they look or what they measure.
typedef enum jnaFigureClip {
    jna_jumpingJacks,
    jna_calisthenics,
    jna_shadowBoxing,
    jna_run,
    jna_jumpAndLand,
    jna_figureClipCount,
    jna_walk = jna_figureClipCount,
    jna_dance,
    jna_drop,
    jna_figureAllClips,
} jnaFigureClip;

/// Creates the figure: metres, Y up, facing +Z, standing on y = 0, about 1.7 m tall, arms held out and down.
/// Its joints have no rest rotation. Takes about a second on two cores. Destroy it with jnaDestroyCharacter.
jnResult jnaCreateFigure(jnaCharacter* character, jnError* error);

/// Name of a clip: "jumping-jacks", "calisthenics", "shadow-boxing", "run", "jump-and-land", "walk", "dance", "drop".
const char* jnaFigureClipName(int which);

/// What a clip is for: the springs are fitted on the trained ones and judged on the others.
jnaRole jnaFigureClipRole(int which);

/// Samples a clip at `rate` frames a second (above 0; 30 is a good choice). Only run and walk loop, and their
/// length is a whole number of frames at 30. Destroy it with jnaDestroyClip.
jnResult jnaCreateFigureClip(const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error);

/// A clip of the figure on another skeleton of a human body, named by its joints. jn_badData where it is none.
jnResult jnaRetargetFigureClip(const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error);
