// Skinned frames of a block of vertices, for whatever kernel needs them.
//
// The rotation of a vertex is that of its joints, blended as quaternions by the skin's weights, each with the sign next
// to that of the first, heaviest joint, and normalised: defined for any pose, cheap, and what dual quaternion skinning
// turns a vertex by. Frames are rest to world: in the rest pose all are the identity.
#pragma once

#include "lanes.h"

// Rows of a frame: the rotation matrix [3][3] of every lane.
typedef struct jnBlockFrames {
    float m[9][JN_LANES];
} jnBlockFrames;

// Blended quaternions of a block, not yet of unit length. turns: [joints][4].
static inline void jnBlendTurns(
    const uint16_t* joints, const float* weights, int count, const float* turns, float sum[4][JN_LANES])
{
    for (int v = 0; v < JN_LANES; ++v) {
        const uint16_t* j = joints + v * count;
        const float* w = weights + v * count;
        const float* first = turns + 4 * (size_t)j[0];
        float x = w[0] * first[0], y = w[0] * first[1], z = w[0] * first[2], c = w[0] * first[3];
        for (int k = 1; k < count; ++k) {
            const float* q = turns + 4 * (size_t)j[k];
            float cosine = (first[0] * q[0] + first[1] * q[1]) + (first[2] * q[2] + first[3] * q[3]);
            float weight = cosine < 0.0f ? -w[k] : w[k];
            x += weight * q[0];
            y += weight * q[1];
            z += weight * q[2];
            c += weight * q[3];
        }
        sum[0][v] = x;
        sum[1][v] = y;
        sum[2][v] = z;
        sum[3][v] = c;
    }
}

// The frames of block b. starts, joints and weights are the asset's influences.
static inline void jnMakeFrames(const uint32_t* starts, const uint16_t* joints, const float* weights, size_t b,
    const float* turns, jnBlockFrames* frames)
{
    float q[4][JN_LANES];
    size_t at = (size_t)starts[b] * JN_LANES;
    jnBlendTurns(joints + at, weights + at, (int)(starts[b + 1] - starts[b]), turns, q);
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats x = jnLoad(q[0] + i), y = jnLoad(q[1] + i), z = jnLoad(q[2] + i), w = jnLoad(q[3] + i);
        jnFloats s = 2.0f / ((x * x + y * y) + (z * z + w * w)); // the length need not be 1
        jnFloats sx = s * x, sy = s * y, sz = s * z;
        jnStore(frames->m[0] + i, 1.0f - (sy * y + sz * z));
        jnStore(frames->m[1] + i, sx * y - sz * w);
        jnStore(frames->m[2] + i, sx * z + sy * w);
        jnStore(frames->m[3] + i, sx * y + sz * w);
        jnStore(frames->m[4] + i, 1.0f - (sx * x + sz * z));
        jnStore(frames->m[5] + i, sy * z - sx * w);
        jnStore(frames->m[6] + i, sx * z - sy * w);
        jnStore(frames->m[7] + i, sy * z + sx * w);
        jnStore(frames->m[8] + i, 1.0f - (sx * x + sy * y));
    }
}

// field <- R field, or R^T field, of a vector field's block.
static inline void jnTurnBlock(const jnBlockFrames* frames, bool back, const float* field, float* out)
{
    for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
        jnFloats x = jnLoad(field + i), y = jnLoad(field + JN_LANES + i), z = jnLoad(field + 2 * JN_LANES + i);
        for (int row = 0; row < 3; ++row) {
            const float* a = frames->m[back ? row : 3 * row] + i;
            const float* b = frames->m[back ? 3 + row : 3 * row + 1] + i;
            const float* c = frames->m[back ? 6 + row : 3 * row + 2] + i;
            jnStore(out + row * JN_LANES + i, jnLoad(a) * x + jnLoad(b) * y + jnLoad(c) * z);
        }
    }
}
