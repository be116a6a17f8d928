// The surface of an exported character, looked at in every frame of every clip: what flips, what tears, how far it
// moves and how strongly. Test clips are played and reported; nothing is ever derived from them here.
#pragma once

#include "asset/asset_writer.h"
#include "base/notes.h"
#include "pipeline/breaks.h"
#include "volume/anatomy.h"
#include "workspace/workspace.h"

/// Torn edges in a million edges of all frames that are still accepted.
#define JNA_TORN_ACCEPTED 1.0

/// One clip.
typedef struct jnaClipInspection {
    const char* name; // the manifest's
    bool isTest;      // held back from training
    int frameCount;
    int64_t flipped, torn;
    int badFrames;              // with a flipped triangle or a torn edge
    double largest;             // offset of any vertex, metres
    int frame, vertex;          // where that is
    int brokenFrame;            // with most breaks; -1: nothing breaks
    int broken, brokenVertex;   // breaks in it; a vertex of one of them
    double travel;              // how far any vertex of the compared surface goes from its first place, metres
    double motion[JNA_REGIONS]; // rms over a region's vertices and all frames of shown minus compared, without its mean
                                // over the clip; metres
    double whole;               // the same over all vertices
} jnaClipInspection;

/// All of it. Arrays are owned; the workspace must live as long.
typedef struct jnaInspection {
    const jnaCharacter* character; // as it is exported, with what it wears
    bool againstTargets;           // compared with the network's target surface; false: with skinning
    bool modal, still;             // there are modes; nothing moves although the clips do
    int edgeCount, triangleCount;
    int clipCount;
    jnaClipInspection* clips; // [clipCount]
    uint8_t* regions;         // [vertexCount], jnaRegion
    int sizes[JNA_REGIONS];   // vertices of each
    int64_t frameCount, flipped, torn;
    int farthest;  // clip of the largest offset; -1: there is no clip
    int worst;     // clip to be shown: the one with most breaks in a frame, or the farthest; -1: there is no clip
    int strongest; // clip with the strongest motion; -1: there is no clip
} jnaInspection;

/// Plays all clips of WORKSPACE/character.jounce. The same for any number of threads.
jnResult jnaInspectWorkspace(jnaWorkspace* workspace, jnaInspection* inspection, jnError* error);
void jnaDestroyInspection(jnaInspection* inspection);

/// The frame of a clip that is to be shown: that with most breaks, or with the largest offset.
int jnaClipInspection_Worst(const jnaClipInspection* clip);

/// The surfaces of one frame in the order of the whole character, [vertexCount][3] each.
jnResult jnaInspectFrame(jnaWorkspace* workspace, int clip, int frame, float* compared, float* shown, jnError* error);

/// Torn edges in a million, of so many frames.
double jnaInspection_TornInAMillion(const jnaInspection* inspection, int64_t torn, int64_t frames);
/// Whether it is whole: no triangle flips, and no more edges tear than JNA_TORN_ACCEPTED.
bool jnaInspection_IsWhole(const jnaInspection* inspection);

/// "the thigh", or "joint Tail02" where no region is known. text: [96].
const char* jnaInspection_Place(const jnaInspection* inspection, int vertex, char* text);

/// A line for all clips, one of the motion's strength, and warnings of clips that break and of a surface that does not
/// move. most: clips that are warned of by name.
void jnaInspection_Tell(const jnaInspection* inspection, int most, jnaNotes* notes);
