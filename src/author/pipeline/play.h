// Plays clips with the runtime's own code, on targets that come from anywhere: what is measured is what ships.
#pragma once

#include "jounce/asset.h"
#include "jounce/springs.h"
#include "modes/modes.h"

/// One way to move a surface. What is NULL is left out.
typedef struct jnaPlayerDef {
    const jnaCharacter* character;
    const float *stiffness, *damping; // [vertexCount], springs of single vertices; NULL: they do not move
    const jnaModes* modes;            // springs on modes
    const struct jnaNetwork* network; // what the pose does to the flesh
    double rate;                      // frames a second
} jnaPlayerDef;

/// The asset of it, in memory. Character, modes and network of the definition must live as long.
typedef struct jnaPlayer {
    void* bytes;
    jnAsset* asset;
    double rate;
    const jnaCharacter* character;
    const struct jnaNetwork* network;
    const float* projections; // of the modes, as in jnaModes; NULL: none
    int32_t* order;           // [modeCount], the definition's mode of each of the asset's
    double* roots;            // [modeCount], of the asset's modes' masses
    float* deltas;            // [modeCount][vertexCount][3], morph targets of the modes in the character's order
} jnaPlayer;
jnResult jnaMakePlayer(const jnaPlayerDef* def, jnaPlayer* player, jnError* error);
void jnaDestroyPlayer(jnaPlayer* player);

/// Surfaces that the runtime draws from poses alone, network included. targets: [frameCount][vertexCount][3].
jnResult jnaPlayer_MakeTargets(
    const jnaPlayer* player, const jnaClip* clip, int first, int frameCount, float* targets, jnError* error);

/// A clip to play, from its first frame on, from rest.
typedef struct jnaPlay {
    const jnaClip* clip;
    int first, frameCount;
    const float* targets; // [frameCount][vertexCount][3], in the world
    bool own;             // the targets are what the player's own network makes: the character is stepped as it ships
    jnTiming timing;
    // Called for every frame in order; positions: [vertexCount][3].
    void (*take)(int frame, const float* positions, void* user);
    void* user;
} jnaPlay;

/// Plays it. Safe to call from several threads with one player.
jnResult jnaPlayer_Play(const jnaPlayer* player, const jnaPlay* play, jnError* error);
