// What the files of the flesh share. Padded vectors have four numbers a node, x, y, z, 0; free nodes come first, in the
// order of the factor, and held nodes after them: a node's number there is its place.
#pragma once

#include "base/arena.h"
#include "flesh/flesh.h"

#include "flesh/elements.h"
#include "flesh/preconditioner.h"
#include "volume/skin_extension.h"

#include <time.h>

enum { JNA_PAIRS = 8 }; // pairs that the minimizer remembers

struct jnaFlesh {
    jnaFleshDef def;
    jnaArena arena; // of the arrays below
    int nodeCount, freeCount;
    int32_t* places;   // [nodeCount], place of a node
    int32_t* order;    // [nodeCount], node at a place
    double* mass;      // [nodeCount], by place, kg
    double* springs;   // [nodeCount], by place, N/m to the bone; 0: none
    bool hasSprings;   // any of them
    bool hasGravity;   //
    double* stiffness; // [tetrahedronCount], 2 mu + lambda, Pa
    double* diagonal;  // [nodeCount], by place, N/m: of the Laplacian with that stiffness
    double shearSum;   // sum of V mu, J: what the energy of the elements is rounded against
    double unitForce;  // norm of the forces of all elements under a strain of one, N
    uint8_t* held;     // [nodeCount], by node: follows its bone exactly
    jnaElements elements;
    jnaPreconditioner still;       // of the stiffness alone
    jnaContactShape* contactShape; // NULL: no contact
    jnaSkinExtension* extension;
    const jnaElementKernels* kernels;
};

// A vertex of the skin near a collider.
typedef struct jnaTouchPair {
    int32_t point, collider;
    int32_t places[4]; // of the corners of its tetrahedron
    double weights[4];
    double shift[3];  // from their weighted mean
    double stiffness; // N/m for a factor of 1
    double aim;       // metres outside that it aims at
} jnaTouchPair;

// Colliders and the skin that may meet them; see colliders.c.
typedef struct jnaTouching {
    jnaArena arena; // of the next four
    int pointCount; // vertices of the skin that can be pushed
    int32_t* points;
    double* stiffness; // [pointCount], N/m for a factor of 1
    double* shifts;    // [pointCount][3], of the pose
    int count;         // of colliders
    jnaCollider* colliders;
    jnaPosedCollider* posed;
    jnaColliderTouch* touches;
    double shrunk; // metres that all are smaller by, on the way to a pose
    int pairCount, pairCapacity;
    jnaTouchPair* pairs;
} jnaTouching;
void jnaDestroyTouching(jnaTouching* touching); // NULL is allowed

// The function to minimise: elements, a pull of every node to a target (inertia and drag in one), springs of bones,
// gravity, and contact with frozen pairs.
typedef struct jnaFleshProblem {
    const jnaFlesh* flesh;
    const jnaPreconditioner* preconditioner;
    const double* pulls;             // [freeCount], N/m; NULL: none
    const double* pullTargets;       // [freeCount][4]
    double boneFactor;               // of the flesh's springs of bones; 0: none
    const double* boneTargets;       // [freeCount][4], where bones want the nodes that have springs
    double boneBears;                // metres that a node may be pulled off; beyond, its bone gives way
    const jnaElementStrain* strains; // NULL: no damping
    double damping;
    bool gravity;
    const jnaContacts* contacts; // NULL: none
    double contactFactor;
    double contactMargin;        // metres that every pair aims in front of its face
    double slide;                // stiffness of a pair along its face, as a share of that across
    const jnaTouching* touching; // colliders; NULL: none
    double touchFactor;
    double tolerance;
    int leastIterations, mostIterations;
    int freshAfter;           // iterations of a run after which the factor is made anew; 0: however many
    bool goesOn;              // with what the minimizer remembers of a problem that differs little
    struct jnaNewton* newton; // its directions instead of L-BFGS; NULL: none
} jnaFleshProblem;

// What L-BFGS remembers of its steps; the vectors themselves are in the solver.
typedef struct jnaStepMemory {
    int count, newest;
    double bends[JNA_PAIRS]; // s . y
} jnaStepMemory;

typedef struct jnaFleshOutcome {
    bool converged;
    double residual, energy;
    int iterations, evaluations, invertedCount;
    double forceSeconds, solveSeconds;
} jnaFleshOutcome;

// A step in time as a minimisation; see flesh_scheme.c and flesh_motion.c.
typedef struct jnaTimeScheme {
    double step;    // s, seconds
    double inertia; // 1/s2: times the mass, the pull to where inertia leads
    double rate;    // 1/s: of strains and places against their past
    double before;  // the past is y0 + before (y0 - y-1)
    double springs; // factor of the springs of bones and of contact
    // Of generalised alpha alone.
    double massAlpha, forceAlpha, beta, gamma;
    double lead; // share of s2 f/m by which the force at the end moves a node
} jnaTimeScheme;

struct jnaFleshSolver {
    const jnaFlesh* flesh;
    jnaContactFinder* finder;
    jnaPosedBones* bones; // with contact only
    jnaContacts contacts, found;
    jnaTouching* touching;            // NULL: there never were colliders
    jnaArena arena;                   // of the arrays below
    double *x, *trial;                // [nodeCount][4]
    double *gradient, *trialGradient; // [nodeCount][4]
    double* absolute;                 // [nodeCount][4]
    double* unpadded;                 // [nodeCount][3], by node
    double* skin;                     // [vertexCount][3], displacement in the rest pose
    double* skinSolve;                // scratch of the skin's extension
    double* nodeGradients;            // [nodeCount][JNA_GRADIENT], of the surface that was asked for last
    double* holds;                    // [nodeCount], by place: 1 where contact holds it in a step
    double *pulls, *pullTargets;      // [freeCount], [freeCount][4]
    double* boneTargets;              // [freeCount][4]
    double boneBears;                 // of a step in time
    double *old, *ahead;              // [nodeCount][4], x* of a step, and where inertia alone leads
    double* skinned[3];               // [nodeCount][3], by node: before, at and after the start of a step
    float* direction;                 // [freeCount + 1][4]
    double* contactStiffness;         // [nodeCount], by place, N/m: what contact adds to the diagonal
    float* scales;                    // [freeCount], of the preconditioner, for what contact adds to it
    jnaStepMemory memory;
    float* steps[JNA_PAIRS];                   // [freeCount + 1][4], s
    float* changes[JNA_PAIRS];                 // [freeCount + 1][4], y
    double* transforms;                        // [2 * jointCount][12], of joints and of their balls
    double *oldTransforms, *relative;          // [jointCount][12]
    jnaElementStrain *strains, *strainsBefore; // [blockCount]
    jnaClip pose;                              // one frame: the interpolated pose
    struct jnaNewton* newton;                  // made when first needed
    struct jnaFreshFactor* fresh;              // the same
    bool isFresh, isStale;                     // it is in use; what is in use fits badly
    jnaPreconditioner moving;                  // for steps of this length
    jnaTimeScheme scheme;                      // step 0: none yet
    double frameRate;
};

static inline double jnaSeconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The frame itself, or where there is none the end of the clip that is held, or the loop closed.
int jnaClip_Neighbour(const jnaClip* clip, int frame);

// flesh_energy.c: energy and gradient at x; clears what it adds to. absolute: may be NULL.
double jnaFlesh_Evaluate(
    const jnaFleshProblem* problem, const double* x, double* gradient, double* absolute, int* invertedCount);

// Stiffness of a node's spring to its bone, N/m, less where the bone gives way.
double jnaBoneStiffness(const jnaFleshProblem* problem, int place, const double* x);
// Metres that bones bear where skinning drives so much flesh so deep into flesh; see flesh_path.c.
double jnaBonesBear(const jnaFlesh* flesh, const jnaPenetration* skinned);
bool jnaIsWithoutRoom(const jnaFlesh* flesh, const jnaPenetration* skinned);

// What contact and colliders add to the diagonal of the Hessian at x. sums: [nodeCount], by place, written.
void jnaSumContactStiffness(const jnaFleshProblem* problem, const double* x, double* sums);

// fresh_factor.c: a preconditioner of the flesh as it lies in solver->x, in the place of the problem's.
jnResult jnaFreshenFactor(jnaFleshSolver* solver, jnaFleshProblem* problem, jnError* error);
void jnaDestroyFreshFactor(struct jnaFreshFactor* fresh); // NULL is allowed
// The fresh one since it was made, until contacts are forgotten; before, `resting`.
const jnaPreconditioner* jnaFactorOf(const jnaFleshSolver* solver, const jnaPreconditioner* resting);
// What of contact the problem's preconditioner has, [nodeCount] by place; NULL: nothing.
const double* jnaFactoredContact(const jnaFleshSolver* solver, const jnaFleshProblem* problem);

// minimize.c: from solver->x to a minimum, in place; held nodes stay where they are.
void jnaMinimize(jnaFleshSolver* solver, const jnaFleshProblem* problem, jnaFleshOutcome* outcome);

// flesh_scheme.c
jnaTimeScheme jnaMakeTimeScheme(jnaIntegrator integrator, double step);

// flesh_path.c: moves all nodes of solver->x by the skinning that leads from oldTransforms to transforms, bones
// exactly.
void jnaCarryNodes(jnaFleshSolver* solver);
// The pose a share of the way from rest to a frame, into solver->pose and solver->transforms.
void jnaPoseOnPath(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share);
// The pose between two frames, smooth in time.
void jnaPoseBetween(jnaFleshSolver* solver, const jnaClip* clip, int frame, double share);
// Refuses a frame that holds a number that is not finite; and all frames that motion from one to the next reads.
jnResult jnaCheckPose(const jnaClip* clip, int frame, jnError* error);
jnResult jnaCheckPosesAround(const jnaClip* clip, int frame, jnError* error);
// The greatest angle of a joint from rest, roots left out, radians.
double jnaPoseAngle(const jnaCharacter* character, const jnaClip* clip, int frame);
// Where bones want the nodes that springs hold, into solver->boneTargets.
void jnaPlaceBones(jnaFleshSolver* solver);
// Places all nodes of x that follow a bone exactly.
void jnaPlaceHeldNodes(const jnaFleshSolver* solver, double* x);
// Metres and m3 of flesh inside flesh that a pose may be left with.
#define JNA_MOST_DEPTH 5e-3
#define JNA_MOST_VOLUME 2e-6
// How much is done about contact.
typedef struct jnaContactEffort {
    int rounds;       // in which the pairs settle
    double enough;    // metres: settled when no node is deeper
    double stiffness; // of pairs, times shear modulus times edge: stiff enough, not yet stuck
    int holds;        // in which they hold; 0: not to the end
    bool firm; // for poses: pairs hold along the face as well, offsets grow with every look, and all but the last holds
               // are solved roughly
} jnaContactEffort;
// flesh_contact.c: solves the problem with contact.
jnResult jnaSolveWithContact(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error);
void jnaForgetContacts(jnaFleshSolver* solver);
// flesh.c: a vertex' own blend of its joints' transforms, [12].
void jnaBlendVertex(const jnaCharacter* character, const double* transforms, int vertex, double blend[12]);

// colliders.c. Poses the colliders, the joints as solver->transforms has them, and what the skin is off its tetrahedra.
void jnaPoseColliders(jnaFleshSolver* solver, int frame, double share);
// Their energy and its gradient, added to; what they add to the diagonal; and the nodes that they hold: 1.
double jnaAddTouching(const jnaFleshProblem* problem, const double* x, double* gradient, double* absolute);
void jnaSumTouchStiffness(const jnaFleshProblem* problem, const double* x, double* sums);
void jnaHoldTouched(const jnaFleshSolver* solver, double* holds);
// The vertices that are near a collider at solver->x. again: those that were keep their aims.
jnResult jnaLookAtColliders(jnaFleshSolver* solver, bool again, jnError* error);
// As jnaSolveWithContact, with colliders where there are any.
jnResult jnaSolveTouched(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error);
// Brings posed colliders to flesh that is in equilibrium without them.
jnResult jnaPressColliders(jnaFleshSolver* solver, const jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error);

// Place order to node order and back.
void jnaPadNodes(const jnaFlesh* flesh, const double* nodes, double* padded);
void jnaUnpadNodes(const jnaFlesh* flesh, const double* padded, double* nodes);
