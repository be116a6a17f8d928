// What was imported, in the folder of a workspace:
//
//   character/    character.json, positions.npy, joints.npy, weights.npy, weld.npy, normals.npy, uvs.npy,
//   triangles.npy,
//                 target_0.npy and on
//   clips/NAME/   clip.json, rotations.npy, translations.npy, scales.npy, targets.npy, motion.npy,
//                 quasistatic.npy
#pragma once

#include "base/npy.h"
#include "character/import.h"

/// The imported character with everything that it wears, and its flesh alone, checked as any file is.
jnResult jnaLoadWholeCharacter(const char* workspace, jnaCharacter* character, jnError* error);
jnResult jnaLoadCharacter(const char* workspace, jnaCharacter* character, jnError* error);
jnResult jnaLoadClip(
    const char* workspace, const char* name, const jnaCharacter* character, jnaClip* clip, jnError* error);

/// What was imported with a clip, frame by frame.
typedef enum jnaClipCache {
    jna_clipMotion, // the ground truth in motion
    jna_clipShapes, // its equilibria
} jnaClipCache;

/// "motion.npy" or "quasistatic.npy", in the clip's folder.
const char* jnaClipCacheName(jnaClipCache kind);

/// Maps it, float32 (frames, vertices, 3). *present is false where the clip has none.
jnResult jnaOpenClipCache(const char* workspace, const jnaClip* clip, const jnaCharacter* character, jnaClipCache kind,
    bool* present, jnaArray* positions, jnError* error);

/// The other way; `folder` is a workspace in the making. motion and shapes may be NULL.
jnResult jnaSaveCharacter(const char* folder, const jnaCharacter* character, double scale, jnError* error);
jnResult jnaSaveClip(
    const char* folder, const jnaClip* clip, const jnaMotion* motion, const jnaMotion* shapes, jnError* error);
