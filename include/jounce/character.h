// A character: an asset's surface on a skeleton, with springs. Pose and time in; morph weights, positions, velocities
// and normals out.
//
// An asset with vibration modes, or without springs, is stepped as a handful of morph weights: its state is the joints'
// matrices, the network's components and the modes' amplitudes in time. No vertex is touched before a surface is asked
// for. An asset with springs of single vertices (layer `vertex`) works through every vertex and has no weights of
// modes.
//
//     jnCharacterDef def = jnDefaultCharacterDef(asset);
//     jnCharacter* character;
//     if (jnCreateCharacter(&def, &character, &error) != jn_ok) { ... }
//     each frame, in C11 (in C++17 fill the structs by assignments, as docs/guides/engine.md does):
//     jnCharacter_Step(character, &(jnCharacterInput){.h = h, .pose = {.rotations = r, .root = &root}},
//         &(jnCharacterOutput){.positions = p, .normals = n});
//
// All that changes lives in one block of memory per character; the asset is shared and only read. No function of this
// file locks or allocates but jnCreateCharacter and jnCharacter_SolveLoop. A character may be used from one thread at
// a time, any number of them at once.
#pragma once

#include "jounce/asset.h"
#include "jounce/springs.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct jnCharacter jnCharacter;

/// Where the joints are. Local transforms, each NULL for the rest pose's; or global matrices.
typedef struct jnPose {
    const float* rotations;    // [jointCount][4], unit quaternions x, y, z, w, local to the parent
    const float* translations; // [jointCount][3], local
    const float* scales;       // [jointCount][3], local
    const float* matrices; // [jointCount][12], joint to character, 3 rows of 4; if given, the three above are not used
    const jnTransform* root; // character to world; NULL: they are the same
    const double* origin;    // [3], metres: where the world's coordinates of this pose and its output begin in a larger
                             // world, of any size; it may change from pose to pose, and nothing of it is felt. NULL: 0
    const float* targets;    // [targetCount] of the asset, weights of the source's morph targets (faces); NULL: those
                             // at rest. The flesh moves on top of them
} jnPose;

/// How much of the surface has springs of its own.
typedef enum jnDetail {
    jn_detailFull,   // every vertex that the asset gives one
    jn_detailCoarse, // the asset's drivers alone; the others are carried along by the drivers around them
} jnDetail;

/// What a character is made from. Start from jnDefaultCharacterDef.
typedef struct jnCharacterDef {
    const jnAsset* asset;  // must live longer than the character
    jnCurve curve;         // default: the asset's
    jnTiming timing;       // default: the asset's
    jnStart start;         // default: the asset's
    jnDetail detail;       // default full; coarse needs an asset with drivers (`jounce export --lod`)
    int components, modes; // level of detail: how many weights of each, the first ones; 0 (default): all
    bool weightsOnly;      // no memory for a surface: gives weights alone; default: true if the asset has no surface
    jnKernel kernel;       // default jn_kernelAuto
    jnAllocator allocator; // used once, for one block
    void* memory;          // if not NULL, the character lives here and the allocator is not used; aligned to 64 bytes
    size_t memorySize;     // bytes at `memory`, at least jnCharacter_ByteCount
} jnCharacterDef;

/// One step's pose.
typedef struct jnCharacterInput {
    float h; // seconds since the previous pose; 0 (or not a positive number) is a pause
    jnPose pose;
    jnTeleport teleport; // how to treat the change from the previous pose to this one
} jnCharacterInput;

/// Where results go, in the caller's arrays. Every pointer may be NULL; what is not asked for costs nothing.
typedef struct jnCharacterOutput {
    float* weights;     // [weightCount] of the asset, morph weights: components within 1.25 of 0, modes in units of
                        // their jnAssetMode; what the level of detail leaves out is 0. Of a file beside a .glb:
                        // the weights of that file's targets, in the same order
    float* weightRates; // as weights, 1/s
    float* positions;   // [fileVertexCount] x, y, z in metres; [vertexCount] if welded
    size_t positionStride; // bytes; 0 means 12
    float* velocities;     // [fileVertexCount] x, y, z in m/s; [vertexCount] if welded
    size_t velocityStride; // bytes; 0 means 12
    float* normals;        // [fileVertexCount] unit vectors; [normalCount] if welded
    size_t normalStride;   // bytes; 0 means 12
    bool welded;           // the asset's vertices instead of the file's
} jnCharacterOutput;

/// What a collider is.
typedef enum jnColliderShape {
    jn_colliderSphere,
    jn_colliderCapsule, // along its y axis
    jn_colliderPlane,   // solid below y = 0
    jn_colliderBox,
    jn_colliderShapeCount,
} jnColliderShape;

/// A solid body that flesh is pressed against. It has no friction.
typedef struct jnCollider {
    jnColliderShape shape;
    int32_t joint;     // that carries it; -1: none, it is in the world
    float position[3]; // of its middle, metres: in the world, or in the joint's own frame
    float rotation[4]; // the same, a quaternion x, y, z, w of any length; all 0: none
    float radius;      // metres, of sphere and capsule; of a box, how far its edges are rounded outwards
    float half[3];     // metres, half the sides of a box; of a capsule half[1] is half of its axis
} jnCollider;

enum { JN_MAX_CONTACTS = 32 };

/// Where a collider presses the flesh.
typedef struct jnContact {
    int32_t collider; // number in the list that was set
    int32_t vertex;   // of the asset, of those that can be pressed the one that gives way most
    float point[3];   // where it is pressed, world
    float normal[3];  // out of the collider, unit
    float depth;      // metres that the skin gives way there
    float beyond;     // metres that the collider goes deeper than the flesh can: there is a bone
    float force[3];   // on the flesh, newtons
} jnContact;

/// The asset's curve, timing and start; full detail and all weights.
JN_API jnCharacterDef jnDefaultCharacterDef(const jnAsset* asset);

/// Bytes that a character made from this definition needs.
JN_API size_t jnCharacter_ByteCount(const jnCharacterDef* def);

JN_API jnResult jnCreateCharacter(const jnCharacterDef* def, jnCharacter** character, jnError* error);
JN_API void jnDestroyCharacter(jnCharacter* character); // NULL is allowed

/// Takes the next pose and advances: skinning, target curve, springs. With a cubic in exact timing the output belongs
/// to the pose before this one. A pose with a number that is not finite, or a place or scale beyond 1e7, is replaced
/// by the last good one.
JN_API void jnCharacter_Step(jnCharacter* character, const jnCharacterInput* input, const jnCharacterOutput* output);

/// Steps many characters of one asset, the network's layers and the modes' products for all of them at once. The same
/// bytes as one by one, in any order and split: give each of your threads a run of the array. outputs: [count]; NULL:
/// none.
JN_API void jnStepCharacters(
    jnCharacter* const* characters, const jnCharacterInput* inputs, const jnCharacterOutput* outputs, int count);

/// Stands on the pose with the def's start; `input->h` is ignored. Output is the pose itself.
JN_API void jnCharacter_Reset(jnCharacter* character, const jnCharacterInput* input, const jnCharacterOutput* output);

/// The surface that the skeleton alone gives; velocities are left untouched. Changes nothing of the motion.
JN_API void jnCharacter_Skin(jnCharacter* character, const jnPose* pose, const jnCharacterOutput* output);

/// The surface that the pose alone gives, skeleton and network: what the springs are drawn to. Otherwise as Skin.
JN_API void jnCharacter_Target(jnCharacter* character, const jnPose* pose, const jnCharacterOutput* output);

/// How much of the network's displacement is added to the skinned surface: 1 all, the default; 0 nothing, and then it
/// costs nothing. Takes effect with the next pose. Without a network nothing happens.
JN_API void jnCharacter_SetNetworkStrength(jnCharacter* character, float strength);

/// As the functions of the same name of jnSprings.
JN_API void jnCharacter_Finish(jnCharacter* character, const jnCharacterOutput* output);
JN_API void jnCharacter_Evaluate(jnCharacter* character, float fraction, const jnCharacterOutput* output);
JN_API void jnCharacter_Settle(jnCharacter* character, double seconds, const jnCharacterOutput* output);

/// A motion that repeats: pose `frameCount` would be pose 0 again.
typedef struct jnCharacterLoop {
    const jnPose* poses; // [frameCount]
    int frameCount;      // at least 3
    float h;             // seconds between poses
} jnCharacterLoop;

/// Puts the springs into the motion that repeats exactly with the poses; see jnSprings_SolveLoop. The next step takes
/// pose 1 (pose 2 with exact timing). Allocates 12 bytes a spring and frame while it works.
JN_API jnResult jnCharacter_SolveLoop(
    jnCharacter* character, const jnCharacterLoop* loop, int* unsolved, jnError* error);

/// The springs of single vertices, for their parameters, tuning and strength by vertex; spring i is vertex i. At coarse
/// detail there are driverCount of them. They are stepped by the character alone. NULL if the asset has none.
JN_API jnSprings* jnCharacter_Springs(jnCharacter* character);

/// As the functions of the same name of jnSprings, for springs of single vertices and on modes alike. The root that
/// inertia and the teleport threshold look at is the asset's first joint. Any float is taken: numbers beyond 1e6 m/s^2,
/// and 100 for inertia, act as those, what is not a number as 0, and as 1 for inertia.
JN_API void jnCharacter_SetForce(jnCharacter* character, const float acceleration[3]);
JN_API void jnCharacter_SetInertia(jnCharacter* character, float translation, float rotation);
JN_API void jnCharacter_SetTeleportThreshold(jnCharacter* character, float distance, jnTeleport teleport);

/// Limits how far what is shown moves from the target, in metres; 0 (default): no limit. Of modes each is limited by
/// its own farthest vertex, besides the asset's limits.
JN_API void jnCharacter_SetCap(jnCharacter* character, float distance);

/// The fraction of the motion that is shown, 1 all (default), 0 the bare target; of the modes that live at a joint, or
/// of everything with joint -1. The hidden motion continues. Springs of single vertices have it by vertex
/// (jnSprings_SetStrength), not by joint. Above 32 it acts as 32. Fails where the strength is negative or not finite,
/// or no such joint.
JN_API jnResult jnCharacter_SetStrength(jnCharacter* character, int joint, float strength, jnError* error);

/// Changes the level of detail while the character plays: how many components and modes are in use, the first ones of
/// each; 0, or more than it was made with: all that it was made with. What goes is faded out over `seconds` of steps
/// and costs nothing from then on; what comes begins at rest and is faded in. 0 seconds: at once. A reset ends fades.
/// Snapshots keep level and fades. Nothing happens to springs of single vertices.
JN_API void jnCharacter_SetLevel(jnCharacter* character, int components, int modes, float seconds);

/// Springs or modes that met a number that was not finite and were reset, since creation.
JN_API uint64_t jnCharacter_ResetCount(const jnCharacter* character);

/// Adds to the velocity of one vertex, or of all within `radius` of `center` with a smooth fall-off, m/s: to the
/// springs of those vertices, and to the modes by what their shapes hold of it. vertex: 0 to hitVertexCount - 1 of the
/// asset; a file without a surface, beside a .glb, takes those of the whole character. Felt by the next step. Numbers
/// beyond 1e6 act as that, what is not a number as 0.
JN_API void jnCharacter_AddImpulse(jnCharacter* character, int vertex, const float velocity[3]);
JN_API void jnCharacter_AddImpulseSphere(
    jnCharacter* character, const float center[3], float radius, const float velocity[3]);

/// What the flesh is pressed against in every step from the next one on. The array is the caller's: it is read in every
/// step, may be moved between two, and must stay until others are set; NULL or a count of 0: nothing, which costs
/// nothing. Colliders with a number that is not finite, a size below 0 or a joint that is none are left out. Nothing
/// happens with an asset that was exported without touch (docs/guides/touching.md). Snapshots keep the motion, not the
/// colliders: set the same ones to continue from one. jnCharacter_Skin and jnCharacter_Target show no dents.
JN_API void jnCharacter_SetColliders(jnCharacter* character, const jnCollider* colliders, int count);
/// Where they pressed in the last step, one contact a collider, the first JN_MAX_CONTACTS that press. Returns how many
/// there are. contacts: [capacity]; NULL: they are only counted.
JN_API int jnCharacter_Contacts(const jnCharacter* character, jnContact* contacts, int capacity);

/// Tunes the modes that live at a joint (-1: all) in an artist's units: frequency times hertzScale, damping ratio times
/// ratioScale, how strongly they are driven times gainScale; all over what the asset says. Returns how many modes that
/// were; 0 where a scale is negative or not finite.
JN_API int jnCharacter_TuneModes(
    jnCharacter* character, int joint, float hertzScale, float ratioScale, float gainScale);

/// The same for one mode, 0 to the asset's modeCount - 1. Returns 1; 0 where there is no such mode or a scale is
/// negative or not finite.
JN_API int jnCharacter_TuneMode(jnCharacter* character, int mode, float hertzScale, float ratioScale, float gainScale);

/// Limits how far the modes move what is shown: the asset's limit of each mode's amplitude, from the thickness of the
/// flesh that it moves, times `scale`. Up to 0.7 of it a mode is untouched, then it bends smoothly (C1) and never
/// reaches it; the hidden motion continues unchanged, up to ten times the limit. 1 by default; 0 (or not a positive
/// number) for no limit. Without limits in the asset nothing happens.
JN_API void jnCharacter_ScaleModeCaps(jnCharacter* character, float scale);

/// Level of detail of springs of single vertices: those of a block of 16 vertices whose mask is 0 throughout rest on
/// their targets and are not stepped; they take up their motion again, from rest, when the mask is set. NULL: all move.
/// mask: [springCount].
JN_API void jnCharacter_SetMask(jnCharacter* character, const uint8_t* mask);

/// State of the motion as bytes, for rollback, scrubbing and other machines. Settings and the mask are not part of it.
/// Without springs of single vertices it is a few kilobytes and good wherever the same asset is loaded; with them it is
/// of this build of the library.
JN_API size_t jnCharacter_SnapshotSize(const jnCharacter* character);
JN_API void jnCharacter_Save(const jnCharacter* character, void* snapshot);
/// Fails if the snapshot is of another asset, curve, timing or version, if a byte of it was altered, or if it holds a
/// number that no character saves; the character is then unchanged. What is restored plays finite from the first step,
/// whoever made the bytes.
JN_API jnResult jnCharacter_Restore(jnCharacter* character, const void* snapshot, size_t size, jnError* error);

/// Poses that held a number that was not finite or too large, since creation.
JN_API uint64_t jnCharacter_BadPoseCount(const jnCharacter* character);

/// What one mode is doing.
typedef struct jnModeReport {
    float kinetic, elastic; // joules
    float weight;           // as it moves: the morph weight before limits and strength
    float shown;            // of it what limits leave, before strength
    float force;            // that drives it, over the limit of its force: above 1 it is held back; 0: no limit
} jnModeReport;

/// What a character is doing, for a debug view.
typedef struct jnCharacterReport {
    double seconds;            // of all steps since creation
    uint32_t steps;            // since the last reset, whose pose is none
    int32_t components, modes; // in use at this level of detail
    double kinetic, elastic;   // joules, of all modes
    int32_t limited;           // modes that are shown smaller than they move
    int32_t held;              // modes whose force is above its limit
    int32_t joint;             // that the mode with the most energy lives at; -1: no mode moves
    uint64_t resets;           // as jnCharacter_ResetCount
    uint64_t badPoses;         // as jnCharacter_BadPoseCount
} jnCharacterReport;

/// The state after the last step, for debugging and level of detail: the energy of the modes, limits that are hit, resets
/// and time. Costs less than a step, and allocates nothing. Springs of single vertices have no energy here. modes:
/// [modeCount] of the asset, zeroes where a mode is not in use; NULL: not wanted.
JN_API void jnCharacter_Describe(const jnCharacter* character, jnCharacterReport* report, jnModeReport* modes);
JN_API const jnAsset* jnCharacter_Asset(const jnCharacter* character);

#ifdef __cplusplus
}
#endif
