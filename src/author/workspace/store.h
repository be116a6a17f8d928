// What was imported, in the folder of a workspace:
//
//   character/    character.json, positions.npy, joints.npy, weights.npy, weld.npy, normals.npy, uvs.npy, triangles.npy
//   clips/NAME/   clip.json, rotations.npy, translations.npy, scales.npy, motion.npy
#pragma once

#include "base/npy.h"
#include "character/import.h"

/// The imported character and clips, checked as any file is.
jnResult jnaLoadCharacter(const char* workspace, jnaCharacter* character, jnError* error);
jnResult jnaLoadClip(
    const char* workspace, const char* name, const jnaCharacter* character, jnaClip* clip, jnError* error);

/// Maps a clip's ground-truth motion, float32 (frames, vertices, 3). *present is false where the clip has
/// none.
jnResult jnaOpenClipMotion(const char* workspace, const jnaClip* clip, const jnaCharacter* character, bool* present,
    jnaArray* motion, jnError* error);

/// The other way; `folder` is a workspace in the making. motion may be NULL.
jnResult jnaSaveCharacter(const char* folder, const jnaCharacter* character, double scale, jnError* error);
jnResult jnaSaveClip(const char* folder, const jnaClip* clip, const jnaMotion* motion, jnError* error);
