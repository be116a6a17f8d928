// Learns stiffness, damping and gain of each mode from motion, from what the physics says and held to it by a prior.
//
// For one mode the loss is the sum over frames of (z - z_observed)^2, z_observed the amplitude that comes closest to
// the motion, plus the prior: how far the logarithms of the three numbers went from their start, in units of how far
// they plausibly go, times the strength and the mean square of all modes' amplitudes. So a mode that the motion hardly
// excites stays what it was, but for what all modes have in common: three factors that are fitted first, without prior.
// The strength is chosen on frames that are held back.
#pragma once

#include "character/character.h"
#include "modes/modal_motion.h"

/// What to fit and how. Start from jnaDefaultModalFitDef.
typedef struct jnaModalFitDef {
    const jnaModes* modes;             // where it starts
    const jnaCharacter* character;     // of the modes
    const jnaModalSequence* sequences; // [sequenceCount], each with its motion
    int sequenceCount;
    double drop;      // share of each mode's frames, its worst, that a second fit leaves out, 0 to 0.5; 0.1
    double prior;     // strength; below 0, the default: chosen
    double heldOut;   // share of an only sequence, its end, that the choice is made on; of several each is held back in
                      // turn. 0.05 to 0.5; 0.25
    bool keepGain;    // only stiffness and damping; false
    double leastGain; // a chosen fit is taken only if it leaves so much less of the held-out motion than the start; 0.1
} jnaModalFitDef;
jnaModalFitDef jnaDefaultModalFitDef(void);

/// What was learned. Arrays are [modeCount], owned.
typedef struct jnaModalFit {
    int modeCount;
    double *stiffness, *damping, *gain;
    double prior;                         // the strength that was used; infinite: the start was best on held-out frames
    double startCaptured;                 // share of the motion's dynamics that the start captures, over all frames
    double captured;                      // the same of what was learned
    double heldOutStart, heldOutCaptured; // of the trial that chose the strength: frames it did not see; NaN: no choice
    int iterations;
} jnaModalFit;

jnResult jnaFitModes(const jnaModalFitDef* def, jnaModalFit* fit, jnError* error);
void jnaDestroyModalFit(jnaModalFit* fit);

/// Modes from motion alone, where there is no volume: scans, imported caches. Start from jnaDefaultDataModesDef.
typedef struct jnaDataModesDef {
    const jnaCharacter* character;
    const jnaModalSequence* sequences; // [sequenceCount], each with its motion
    int sequenceCount;
    int perRegion;    // modes of one joint's flesh at most; 6
    double share;     // of a region's motion that its modes are to hold; 0.95
    int count;        // in all, the strongest; 64
    double threshold; // as in jnaModesDef; 0.02
} jnaDataModesDef;
jnaDataModesDef jnaDefaultDataModesDef(void);

/// Principal components of the motion in the skinned frames, joint by joint: the flesh of a joint is what its skin
/// weights say, so that parts which merely move together are not tied. Each gets the frequency, damping and gain of a
/// coarse grid that explains its amplitudes best; jnaFitModes refines them.
jnResult jnaFindDataModes(const jnaDataModesDef* def, jnaModes* modes, jnError* error);

/// Caps of such modes, as jnaModes_SetCaps. ofFlesh: a multiple of the distance to the skeleton, widened to what the
/// motion shows; 0: `metres` everywhere, and where that is 0, too, none.
jnResult jnaCapDataModes(const jnaDataModesDef* def, double ofFlesh, double metres, jnaModes* modes, jnError* error);
