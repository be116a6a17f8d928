// Learns the shapes of the modes from motion: what each vertex does while the modes swing.
//
// Modes are linear and each swings alone; flesh couples them, stiffens and slides along what it touches. What of that
// goes with an amplitude is part of the shape: with z the amplitudes that the modes have by themselves, driven by the
// joints, the shapes U of a vertex minimise
//     sum over frames |layer - U z|^2 + prior (mean over modes of sum z^2) |U - U_physical|^2
// over the modes that the vertex is in. So shapes stay as sparse as they are, and a step costs what it did.
#pragma once

#include "modes/modal_motion.h"

/// Strength of the prior. On a body and on a figure 0.3 and 1 capture the same of unseen motion, within 0.0004.
#define JNA_SHAPE_PRIOR 0.3

/// Fits shapes to motion. modes: with the numbers that they are to be played with. sequences: [sequenceCount], each
/// with its motion; frames that are not `solved` are left out. prior: above 0. shapes: [modeCount][vertexCount][3], not
/// those of the modes; without any motion these. jn_badData: something is not finite. The same bytes for any number of
/// threads.
jnResult jnaFitShapes(const jnaModes* modes, const jnaModalSequence* sequences, int sequenceCount, double prior,
    float* shapes, jnError* error);
