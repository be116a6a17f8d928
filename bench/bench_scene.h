// A rigged surface made by code, of any size, for the benchmarks: a tube along a chain of joints.
#pragma once

#include "asset/asset_writer.h"

enum { JNB_JOINTS = 31, JNB_INFLUENCES = 4 };

/// Encodes a tube of rings x segments vertices, JNB_INFLUENCES joints each, and its asset. Release `bytes` with free
/// after jnDestroyAsset.
jnResult jnbCreateTube(int rings, int segments, void** bytes, jnAsset** asset, jnError* error);

/// A pose that bends every joint a little, another one for each frame. rotations: [jointCount][4].
void jnbPoseTube(const jnAsset* asset, int frame, float* rotations);
