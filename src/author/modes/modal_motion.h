// The motion of modal springs in double precision over whole sequences: the reference of the runtime, and what the fit
// works on.
#pragma once

#include "character/character.h"
#include "modes/modes.h"

/// A stretch of motion of the surface. Nothing is owned.
typedef struct jnaModalSequence {
    int frameCount, vertexCount;
    double dt;              // seconds between frames
    const float* targets;   // [frameCount][vertexCount][3]
    const float* rotations; // [frameCount][vertexCount][4], skinned frames, unit quaternions; NULL: they do not turn
    const float* turns;     // [frameCount][jointCount][4], rotations of the joints from rest; NULL: as if they did not
                            // turn between frames
    const float* matrices; // [frameCount][jointCount][12], the skin's matrices M_j; NULL: forces come from the vertices
    const jnaCharacter* character; // with matrices
    const float* motion;           // [frameCount][vertexCount][3], what the flesh did; NULL where it is not known
    const uint8_t* solved;         // [frameCount], 0 where the target is no equilibrium; NULL: all are
} jnaModalSequence;

/// Whether there is something to learn from a frame, or to judge by: its target is an equilibrium.
static inline bool jnaModalSequence_Counts(const jnaModalSequence* sequence, int frame)
{
    return sequence->solved == NULL || sequence->solved[frame] != 0;
}

/// Rotations of the joints from rest, for one pose. matrices: [jointCount][12], joint to world, as by jnaPoseMatrices.
/// turns: [jointCount][4].
void jnaJointTurns(const jnaCharacter* character, const float* matrices, float* turns);

/// Rotations of the skinned frames for one pose: joints' rotations blended by the vertex' weights, each with the sign
/// next to that of the heaviest, and normalised. turns: [jointCount][4]; rotations: [vertexCount][4].
void jnaVertexRotations(const jnaCharacter* character, const float* turns, float* rotations);

/// What drives each mode over each interval, before its gain: the projected acceleration of the cubic through the
/// targets at the interval's start, and how fast it grows, both in the frames of the interval's middle; saturated
/// towards the modes' limits. With matrices as the runtime has it, from the joints and from what the
/// targets displace the rest surface by; see modal_force.c. starts, rates: [frameCount - 1][modeCount].
jnResult jnaModes_Force(
    const jnaModes* modes, const jnaModalSequence* sequence, double* starts, double* rates, jnError* error);

/// The same from the joints, whatever the sequence has of matrices being there.
jnResult jnaModes_ForceByJoints(
    const jnaModes* modes, const jnaModalSequence* sequence, double* starts, double* rates, jnError* error);

/// Saturates forces on the modes over intervals of dt seconds that begin with a sequence. starts, rates: [intervals]
/// [modeCount], read and written.
void jnaSaturateForces(const jnaModes* modes, int intervals, double dt, double* starts, double* rates);

/// What the frames' turning does to amplitudes over each interval, for running a sequence again and again. Owned; NULL
/// where nothing turns.
typedef struct jnaModalTurns {
    float* rates;  // [frameCount - 1][modeCount][modeCount], S
    float* halves; // the same shape, exp(-S dt/2)
} jnaModalTurns;
jnResult jnaModes_FindTurns(
    const jnaModes* modes, const jnaModalSequence* sequence, jnaModalTurns* turns, jnError* error);
void jnaDestroyModalTurns(jnaModalTurns* turns);

/// What drives the modes over a sequence. Nothing is owned.
typedef struct jnaModalDrive {
    const double *starts, *rates; // [frameCount - 1][modeCount], as by jnaModes_Force
    const jnaModalTurns* turns;   // NULL: found on the way
} jnaModalDrive;

/// Amplitudes from rest, [frameCount][modeCount]: half of the interval's turn, the closed form, the other half.
/// velocities: their velocities in space, as amplitudes; may be NULL.
jnResult jnaModes_Run(const jnaModes* modes, const jnaModalSequence* sequence, const jnaModalDrive* drive,
    double* amplitudes, double* velocities, jnError* error);

/// What the flesh did beyond its target, in the skinned frame of a vertex. Returns its squared length.
double jnaModalLayer(const jnaModalSequence* sequence, int frame, int vertex, double layer[3]);

/// Amplitudes that come closest to the motion in the mass-weighted least squares of the surface,
/// [frameCount][modeCount].
jnResult jnaModes_Observe(const jnaModes* modes, const jnaCharacter* character, const jnaModalSequence* sequence,
    double* amplitudes, jnError* error);

/// Sums over vertices of shape . layer, the layer being motion - target in the skinned frames, and of |layer|^2: with
/// the sums of shape . shape all that a share captured needs. overlaps: [frameCount][modeCount]; layers: [frameCount].
jnResult jnaModes_Overlap(
    const jnaModes* modes, const jnaModalSequence* sequence, double* overlaps, double* layers, jnError* error);

/// Positions of one frame: targets and the modes' offsets. positions: [vertexCount][3].
void jnaModes_Show(
    const jnaModes* modes, const jnaModalSequence* sequence, int frame, const double* amplitudes, float* positions);

/// 1 - sum |x - motion|^2 / sum |target - motion|^2 of amplitudes, over the frames of [first, end) that are solved.
/// weights: [vertexCount], how much a vertex counts; NULL: all alike.
double jnaModes_Captured(const jnaModes* modes, const jnaModalSequence* sequence, const double* amplitudes, int first,
    int end, const float* weights);
