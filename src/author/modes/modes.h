// Springs on shared vibration modes: what they are made from. See docs/background/modes.md.
//
// With R_v the rotation of vertex v's skinned frame, U the shapes and P the projection, a mode's amplitude z follows
//     z'' + damping z' + stiffness z = -gain sum over v of P_v . (R_v^T x^''_v)       x_v = x^_v + R_v sum of U_v z
// where the frames do not turn. Where they do, amplitudes and their velocities turn the other way, by the spins: what
// moves in space goes on in space. Shapes have a largest displacement of 1, so that z is in metres; learned ones
// (learn/shape_fit.h) nearly so.
#pragma once

#include "base/arena.h"
#include "base/notes.h"
#include "base/watch.h"
#include "character/character.h"
#include "volume/anatomy.h"
#include "volume/volume.h"

/// Elements that bound the surface, at most.
enum { JNA_MAX_CRITICAL = 512 };
/// A triangle is not pressed by more than this part of its length, and not stretched by more than the other.
#define JNA_BOUND_LOW 0.43F
#define JNA_BOUND_HIGH 0.63F

/// Modes of a character's surface, by rising frequency.
typedef struct jnaModes {
    int modeCount, vertexCount, jointCount;
    int criticalCount;     // elements of the surface that bound the rest; 0: no bound
    jnaArena memory;       // of the arrays, as jnaModes_Allocate made them
    double* stiffness;     // [modeCount], omega^2, 1/s^2
    double* damping;       // [modeCount], 1/s
    double* masses;        // [modeCount], kg: at z' = 1 m/s the mode has the energy masses / 2
    double* gain;          // [modeCount], 1 for what the physics says
    double* limits;        // [modeCount], m/s^2: the force before the gain levels off towards this; 0: it does not
    double* caps;          // [modeCount], metres: the mode alone is at its bound there, about; 0: no bound
    int32_t* critical;     // [JNA_MAX_CRITICAL][3], corners of a triangle, or a vertex, -1, -1
    float* criticalLimits; // [JNA_MAX_CRITICAL], metres that a vertex may move; of a triangle a factor of its strain
    int32_t* joints;       // [modeCount], the joint that most of the mode lives at
    double* massShare;     // [modeCount], share of the flesh's mass that takes part, 0 to 1
    double* regions;       // [modeCount][JNA_REGIONS], fraction of its strain energy in each; all 0: not known
    int32_t* sizes;        // [modeCount], vertices in the mode
    float* shapes;         // [modeCount][vertexCount][3], 0 where a vertex is not in the mode
    float* projections;    // [modeCount][vertexCount][3], as shapes
    float* pose;           // [jointCount][4], local rotations of the joints in the pose that they vibrate about
    float* spins; // [jointCount][3][modeCount][modeCount]: row k, column l has the share of e x (shape l) in mode k,
                  // e the axis, each point weighed by the joint's weight
} jnaModes;

/// Allocates all arrays for the counts, zeroed, gains 1.
jnResult jnaModes_Allocate(jnaModes* modes, int modeCount, int vertexCount, int jointCount, jnError* error);
void jnaDestroyModes(jnaModes* modes);

/// Metres that the farthest vertex moves at an amplitude of 1.
double jnaModes_Largest(const jnaModes* modes, int mode);

/// The pose that they vibrate about. pose: [jointCount][4], local rotations; NULL: the rest pose.
void jnaModes_SetPose(jnaModes* modes, const jnaCharacter* character, const float* pose);

/// How an acceleration of the surface drives the modes.
typedef enum jnaProjection {
    jna_projectVolume,  // carried into the flesh as smoothly as can be, then weighed by the mass of every node
    jna_projectSurface, // mass-weighted least squares on the surface alone
} jnaProjection;

/// Which modes, and how they are kept. Start from jnaDefaultModesDef.
typedef struct jnaModesDef {
    int count;          // at most; 64
    double cutoff;      // hertz: modes above are left out; 25
    double ratio;       // damping ratio of soft flesh, tense muscle twice that; 0: as the next two say; 0.15
    double damping;     // Rayleigh's, as of the flesh: a mode is damped by drag + damping omega^2; seconds; 0.006
    double drag;        // 1/s; 7
    double threshold;   // a vertex that moves less than this share of the mode's largest is not in it; 0.02
    double mixing;      // modes are turned among each other to live in one place each, as long as the coupling that
                        // is dropped stays below this share of their stiffness; 0: as they are; 0.02
    double speed;       // m/s: the force on a mode levels off towards what moves it at this speed; 0: never; 4
    jnaProjection kind; // volume
    jnaWatch watch;     // nobody
} jnaModesDef;
jnaModesDef jnaDefaultModesDef(void);

/// Flesh at rest in a pose. Nothing is owned.
typedef struct jnaPosedFlesh {
    const float* pose;   // [jointCount][4], local rotations of the joints
    const float* turns;  // [jointCount][4], their rotations from rest, in the world
    const double* nodes; // [nodeCount][3], the equilibrium
} jnaPosedFlesh;

/// The lowest modes of a volume with its bones held, on the surface of its character. A last mode whose mirror image
/// was cut off by the count is dropped as well. Modes of pieces that hang on nothing are left out, with a note. The
/// volume needs weights, bones and material. posed: the pose that it vibrates about, NULL: the rest pose; jn_badData
/// where that is no stable equilibrium. notes: may be NULL. The same bytes for any number of threads.
jnResult jnaFindModes(const jnaVolume* volume, const jnaCharacter* character, const jnaModesDef* def,
    const jnaPosedFlesh* posed, jnaModes* modes, jnaNotes* notes, jnError* error);

/// How far each vertex of the skin may be moved, in metres: the thickness of the flesh there, which is its distance
/// from the nearest bone, within bounds that depend on the height. reach: [vertexCount].
jnResult jnaFindReach(const jnaVolume* volume, const jnaCharacter* character, float* reach, jnError* error);

/// The same without a volume: the distance from the skeleton, a line from each joint to its parent.
void jnaFindSkeletonReach(const jnaCharacter* character, float* reach);

/// Finds what bounds the surface, and the caps: whatever the amplitudes, what is shown neither stretches a triangle
/// beyond JNA_BOUND_LOW and JNA_BOUND_HIGH, nearly, nor moves a vertex farther than its limit. limits: [vertexCount],
/// metres; NULL: takes the bound away. The same bytes for any number of threads. See bound.c.
jnResult jnaModes_SetBound(jnaModes* modes, const jnaCharacter* character, const float* limits, jnError* error);

/// Metres that a mode swings by if the whole is accelerated by 1 g at once.
double jnaModes_Lively(const jnaModes* modes, int mode);

/// Elements of the bound: what their rows are, see jnBound in runtime/asset_format.h. A triangle's axes and the inverse
/// of its edges; false where it has no area. first, second: displacements of its second and third corner against the
/// first.
bool jnaElement_Frame(const jnaCharacter* character, const int32_t corners[3], float axes[3][3], float inverse[3]);
void jnaElement_Rows(
    const float axes[3][3], const float inverse[3], const float first[3], const float second[3], float rows[6]);
void jnaElement_VertexRows(const float displacement[3], float rows[6]);

/// Shapes under a weight per vertex, 1 as they are to 0 still. What is left of a mode is driven as strongly as before.
/// mask: [vertexCount], 0 to 1.
jnResult jnaModes_Mask(jnaModes* modes, const jnaCharacter* character, const float* mask, jnError* error);
