// The flesh in motion: quasistatic poses and implicitly integrated sequences of a volume, with self-contact.
//
// Stable neo-Hookean tetrahedra whose held nodes follow the bones. A jnaFlesh is what never changes and is shared by
// threads; a jnaFleshSolver holds the buffers of one thread. The bytes of a result depend on the input alone.
#pragma once

#include "character/character.h"
#include "flesh/bone_overlap.h"
#include "flesh/colliders.h"
#include "flesh/contact.h"
#include "volume/volume.h"

/// How motion is integrated.
typedef enum jnaIntegrator {
    jna_backwardEuler,    // first order, as the paper; damps whatever swings
    jna_bdf2,             // second order
    jna_generalizedAlpha, // second order, a third of the error in frequency and no damping to speak of; contact and the
                          // springs of bones as backward Euler has them
    jna_integratorCount,
} jnaIntegrator;

/// As the manifest has it: "backward-euler", "bdf2", "generalized-alpha".
const char* jnaIntegratorName(jnaIntegrator integrator);

/// In a motion, by default; see docs/guides/simulating.md.
enum { JNA_STEPS_A_SECOND = 240 };

/// What is solved. Start from jnaDefaultFleshDef.
typedef struct jnaFleshDef {
    const jnaVolume* volume;       // with weights, bones and materials; must live longer than the flesh
    const jnaCharacter* character; // the same
    double gravity[3];             // m/s2; 0
    bool contact;                  // true
    double damping;                // Rayleigh: share of the stiffness, seconds; 0.006
    double drag;                   // Rayleigh: share of the mass, against the skinned motion, 1/s; 7
    jnaIntegrator integrator;      // generalised alpha
    int substeps;                  // steps in time per frame; 0, the default: JNA_STEPS_A_SECOND
    int pathSteps;                 // least number of steps from rest to a pose; 4
    double poseTolerance;          // residual of a pose; 1e-4
    double stepTolerance;          // residual of a step in time; 5e-5
    bool newton;                   // Newton's method throughout, the reference, ten times slower; false
} jnaFleshDef;
jnaFleshDef jnaDefaultFleshDef(const jnaVolume* volume, const jnaCharacter* character);

typedef struct jnaFlesh jnaFlesh;
jnResult jnaCreateFlesh(const jnaFleshDef* def, jnaFlesh** flesh, jnError* error);
void jnaDestroyFlesh(jnaFlesh* flesh); // NULL is allowed

typedef struct jnaFleshSolver jnaFleshSolver;
jnResult jnaCreateFleshSolver(const jnaFlesh* flesh, jnaFleshSolver** solver, jnError* error);
void jnaDestroyFleshSolver(jnaFleshSolver* solver); // NULL is allowed

enum { JNA_REASON_LENGTH = 192 };

/// How a solve went.
typedef struct jnaFleshReport {
    bool converged;    // residual and contact as asked
    double residual;   // norm of the free forces over the norm of the sums of their absolute parts
    int iterations;    // over all steps of the path
    int evaluations;   // of forces
    int pathSteps;     // steps from rest to the pose that were taken
    int invertedCount; // tetrahedra inside out in the result
    int contactCount;  // pairs that hold it
    jnaPenetration skinned, solved;
    jnaBoneOverlap bones; // of a pose with contact: found before it is solved; flesh cannot mend it
    bool withoutRoom;     // the motion does not fit this body: bones gave way, and where to is not one place alone
    double seconds;       // of this thread
    struct {
        double forces, solve, contact, other; // seconds
    } time;
    char reason[JNA_REASON_LENGTH]; // why it did not converge; empty if it did
} jnaFleshReport;

/// What the flesh is pressed against from now on, in poses and in motion; copied, but for paths, which must stay. count
/// 0: nothing. Not with Newton's method.
jnResult jnaFleshSolver_SetColliders(jnaFleshSolver* solver, const jnaCollider* colliders, int count, jnError* error);
/// What each did in the last solve, [count]; NULL where there never were colliders.
const jnaColliderTouch* jnaFleshSolver_Touches(const jnaFleshSolver* solver);

/// Solves the pose of one frame of a clip, along the same path from rest whatever was solved before.
/// nodes: [nodeCount][3], written also where it did not converge. Fails only out of memory or on a pose that is not
/// finite.
jnResult jnaFleshSolver_Pose(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* nodes, jnaFleshReport* report, jnError* error);

/// The same along a path of just so many steps, for trying harder and for audits; 1: directly from skinning.
jnResult jnaFleshSolver_PoseInSteps(jnaFleshSolver* solver, const jnaClip* clip, int frame, int steps, double* nodes,
    jnaFleshReport* report, jnError* error);

/// The skin of solved nodes: embedding, what was moved for the volume undone, parts left out carried by skinning.
/// positions: [vertexCount][3], in the character's order.
void jnaFleshSolver_Surface(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, const double* nodes, float* positions);

/// Numbers that the state of a motion takes: the nodes [nodeCount][3] come first, then what the integrator remembers.
size_t jnaFlesh_StateCount(const jnaFlesh* flesh);

/// The quasistatic equilibrium of a frame, as fast as the skin moves there. state: [jnaFlesh_StateCount], written.
jnResult jnaFleshSolver_Start(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error);

/// From frame to frame + 1 of a clip, in substeps with the skeleton interpolated smoothly; a looping clip goes on from
/// its last frame to its first, any other holds its last and is as fast at its ends as beside them. Nothing is
/// remembered but the state, so that a motion can go on from a saved one. Where either frame is without room, and after
/// a substep that does not converge, the motion begins again in the equilibrium of frame + 1. report: of the worst
/// substep, or of that equilibrium. Fails as jnaFleshSolver_Pose does, and then leaves the state as it was.
jnResult jnaFleshSolver_Advance(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, double* state, jnaFleshReport* report, jnError* error);
