// How far the modes of a workspace move the skin in its clips, and the caps that keep any other motion within the
// thickness of the flesh. Part of the stage `modes`: after it, before anything is exported.
#pragma once

#include "modes/modes.h"

/// An offset above this share of the height is no motion of flesh: it is warned of.
#define JNA_LARGE_OFFSET 0.15

/// The largest offset of some vertices in some clips.
typedef struct jnaOffset {
    double length; // metres; 0: nothing moved
    int vertex, clip, frame;
    int mode;     // that moves the vertex most at that moment
    double hertz; // of that mode
} jnaOffset;

/// What playing all clips showed. Arrays are owned.
typedef struct jnaOffsets {
    int jointCount, clipCount, modeCount;
    double height;     // of the character, metres
    jnaOffset* joints; // [jointCount], of the vertices that a joint moves most
    jnaOffset* clips;  // [clipCount]
    jnaOffset most;
    double* peaks; // [modeCount], largest amplitudes, metres
    double kept;   // share of the motion that the caps leave as it is, 1 - sum |capped - free|^2 / sum |free|^2
} jnaOffsets;
void jnaDestroyOffsets(jnaOffsets* offsets);

/// Plays clips with the runtime on the skinned surface, from rest; a looping clip again until its motion has built up.
/// The caps of the modes hold. The same numbers for any number of threads.
jnResult jnaFindOffsets(const jnaCharacter* character, const jnaModes* modes, int clipCount, const jnaClip* clips,
    jnaOffsets* offsets, jnError* error);

/// Offsets without and with caps.
typedef struct jnaWorkspaceOffsets {
    jnaOffsets before, after;
    int capped; // modes that a clip drives beyond 0.7 of their cap, where it begins to act
} jnaWorkspaceOffsets;
