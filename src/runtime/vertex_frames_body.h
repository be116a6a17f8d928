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

// The sign with which a joint's rotation joins that of a vertex' first joint: both are the same rotation.
static inline float jnTurnSign(const float* first, const float* other)
{
    float cosine = (first[0] * other[0] + first[1] * other[1]) + (first[2] * other[2] + first[3] * other[3]);
    return cosine < 0.0f ? -1.0f : 1.0f;
}

// Blended quaternions of a block, not yet of unit length, of `count` influences a vertex, a constant wherever this is
// called. turns: [joints][4]; aligned: no sign needs a look.
static inline void jnBlendTurns(
    const uint16_t* joints, const float* weights, int count, const float* turns, bool aligned, float sum[4][JN_LANES])
{
#ifdef JN_VECTORS
    for (int quad = 0; quad < JN_LANES; quad += 4) {
        jnFour q[4];
        for (int v = 0; v < 4; ++v) {
            const uint16_t* j = joints + (quad + v) * count;
            const float* w = weights + (quad + v) * count;
            const float* first = turns + 4 * (size_t)j[0];
            q[v] = w[0] * jnLoadFour(first);
            for (int k = 1; k < count; ++k) {
                const float* other = turns + 4 * (size_t)j[k];
                q[v] += (aligned ? w[k] : w[k] * jnTurnSign(first, other)) * jnLoadFour(other);
            }
        }
        jnStoreTransposed(q, sum[0] + quad, JN_LANES);
    }
#else
    for (int v = 0; v < JN_LANES; ++v) {
        const float* first = turns + 4 * (size_t)joints[v * count];
        for (int k = 0; k < count; ++k) {
            const float* other = turns + 4 * (size_t)joints[v * count + k];
            float sign = k == 0 || aligned ? 1.0f : jnTurnSign(first, other);
            for (int i = 0; i < 4; ++i) {
                float part = weights[v * count + k] * sign * other[i];
                sum[i][v] = k == 0 ? part : sum[i][v] + part;
            }
        }
    }
#endif
}

// The same for block b. starts, joints and weights are the asset's influences; aligned: no two joints of one vertex
// have quaternions more than a quarter turn of the sphere apart.
static inline void jnBlendBlockTurns(const uint32_t* starts, const uint16_t* joints, const float* weights, size_t b,
    const float* turns, bool aligned, float q[4][JN_LANES])
{
    size_t at = (size_t)starts[b] * JN_LANES;
    int count = (int)(starts[b + 1] - starts[b]);
    if (!aligned || count > 4) {
        jnBlendTurns(joints + at, weights + at, count, turns, aligned, q);
    } else if (count == 1) {
        jnBlendTurns(joints + at, weights + at, 1, turns, true, q);
    } else if (count == 2) {
        jnBlendTurns(joints + at, weights + at, 2, turns, true, q);
    } else if (count == 3) {
        jnBlendTurns(joints + at, weights + at, 3, turns, true, q);
    } else {
        jnBlendTurns(joints + at, weights + at, 4, turns, true, q);
    }
}

// The frames of block b.
static inline void jnMakeFrames(const uint32_t* starts, const uint16_t* joints, const float* weights, size_t b,
    const float* turns, bool aligned, jnBlockFrames* frames)
{
    float q[4][JN_LANES];
    jnBlendBlockTurns(starts, joints, weights, b, turns, aligned, q);
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
