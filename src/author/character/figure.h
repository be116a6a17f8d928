// The built-in figure: a friendly, heavy-set mannequin and five clips, made by code. The same bytes on every
// machine.
#pragma once

#include "character/character.h"

/// The clips, in order; also the index that jnaCreateFigureClip takes.
typedef enum jnaFigureClip {
    jna_jumpingJacks,
    jna_calisthenics,
    jna_shadowBoxing,
    jna_run,
    jna_jumpAndLand,
    jna_figureClipCount,
} jnaFigureClip;

/// Creates the figure: metres, Y up, facing +Z, standing on y = 0, about 1.7 m tall, arms held out and down.
/// Its joints have no rest rotation. Takes about a second on two cores. Destroy it with jnaDestroyCharacter.
jnResult jnaCreateFigure(jnaCharacter* character, jnError* error);

/// Name of a clip: "jumping-jacks", "calisthenics", "shadow-boxing", "run", "jump-and-land".
const char* jnaFigureClipName(int which);

/// What a clip is for: the springs are fitted on the trained ones and judged on the others.
jnaRole jnaFigureClipRole(int which);

/// Samples a clip at `rate` frames a second (above 0; 30 is a good choice). Only the run loops, and its
/// length is a whole number of frames at 30. Destroy it with jnaDestroyClip.
jnResult jnaCreateFigureClip(const jnaCharacter* character, int which, double rate, jnaClip* clip, jnError* error);
