// How soft a workspace's character is, by region of the body: sag of the skin under gravity, lowest frequency, how far
// the skin swings in each clip, and whether lips that touch stay closed. See docs/guides/anatomy.md.
#pragma once

#include "base/watch.h"
#include "flesh/sag.h"
#include "pipeline/people.h"
#include "pipeline/stage_fit.h"

/// How far a region's skin is from where the pose alone has it, over a clip. Metres.
typedef struct jnaRegionMotion {
    double rms;  // over its vertices and all frames
    double most; // of any vertex in any frame
    int frame;   // of the clip, where that is
} jnaRegionMotion;

/// One clip.
typedef struct jnaClipSoftness {
    char name[JNA_NAME_LENGTH];
    bool simulated;        // simulated or imported motion; false: as the modes play the clip
    jnaFitTargets against; // what the skin's distance is taken from: equilibria, or the skinned surface
    int frameCount;
    jnaRegionMotion regions[JNA_REGIONS];
    double lips;   // the most by which two lips are farther apart than skinning has them, metres
    int lipsFrame; // of the clip
} jnaClipSoftness;

/// All of it.
typedef struct jnaSoftness {
    jnaSag sag;
    int modeCount;                                  // 0: the workspace has none
    int modes[JNA_REGIONS];                         // lowest mode that moves the region, -1: none does
    double hertz[JNA_REGIONS];                      // its frequency
    double ratio[JNA_REGIONS];                      // its damping ratio
    bool moved;                                     // the standard motions were played: a human body with modes
    double travel[JNA_STANDARD_MOVES][JNA_REGIONS]; // peak to peak in them, metres
    int lipPairs;    // vertices of the head that face and touch each other at rest; 0: no such lips
    double lipsRest; // their greatest distance at rest, metres
    int clipCount;
    jnaClipSoftness* clips; // [clipCount]
    jnaNotes warnings;      // regions that are far from a human body's, flesh that swings where it should not
} jnaSoftness;
void jnaDestroySoftness(jnaSoftness* softness);

/// Start from jnaDefaultSoftnessDef.
typedef struct jnaSoftnessDef {
    int axes;       // of gravity: 3, or 1 for -Y alone; 3
    bool clips;     // whether clips are measured; true
    jnaWatch watch; // nobody
} jnaSoftnessDef;
jnaSoftnessDef jnaDefaultSoftnessDef(void);

/// Measures a workspace that has a volume with bones and materials. Clips without motion are played by its modes as the
/// material says; without modes they are left out. The same for any number of threads.
jnResult jnaMeasureSoftness(const char* workspace, const jnaSoftnessDef* def, jnaSoftness* softness, jnError* error);

/// What the sag of a region says, where the clips say the same: a region that moves is not stiff, one that hardly does
/// is not soft. jna_sagUnknown where they disagree or where no clip was measured. median: along -Y, metres.
jnaSagFit jnaSoftness_Judge(const jnaSoftness* softness, jnaRegion region, double median);

/// The lowest of some modes in which a tenth of a region's vertices move at least half as far as the mode's farthest.
/// regions: [vertexCount]; modes: [JNA_REGIONS], -1 where there is none.
struct jnaModes;
void jnaLowestModes(const struct jnaModes* modes, const uint8_t* regions, int lowest[JNA_REGIONS]);

/// What was measured of this character beside a measurement on people; below 0 where there is nothing to compare.
double jnaSoftness_Against(const jnaSoftness* softness, const jnaPeopleMeasurement* people);

/// How far a region's skin moves at most in any of the clips, metres; 0 without clips.
double jnaSoftness_Travel(const jnaSoftness* softness, jnaRegion region);

/// The name of a fit for a person; empty where there is nothing to say.
const char* jnaSagFit_Words(jnaSagFit fit);

/// All numbers as JSON text, lengths in millimetres; release it with free. NULL: out of memory.
char* jnaSoftness_Json(const jnaSoftness* softness);
