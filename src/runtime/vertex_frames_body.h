// Skinned frames of a block of vertices, for whatever kernel needs them.
//
// The rotation of a vertex is that of its joints, blended as quaternions by the skin's weights, each with the sign next
// to that of the first, heaviest joint, and normalised: defined for any pose, cheap, and what dual quaternion skinning
// turns a vertex by. Frames are rest to world: in the rest pose all are the identity.
#pragma once

#include "lanes.h"

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
    enum { GROUPS = JN_WIDTH / 4 };
    for (int start = 0; start < JN_LANES; start += JN_WIDTH) {
        jnFloats q[4], rows[4];
        for (int v = 0; v < 4; ++v) {
            jnFour groups[GROUPS];
            for (int g = 0; g < GROUPS; ++g) {
                const uint16_t* j = joints + (start + 4 * g + v) * count;
                const float* w = weights + (start + 4 * g + v) * count;
                const float* first = turns + 4 * (size_t)j[0];
                groups[g] = w[0] * jnLoadFour(first);
                for (int k = 1; k < count; ++k) {
                    const float* other = turns + 4 * (size_t)j[k];
                    groups[g] += (aligned ? w[k] : w[k] * jnTurnSign(first, other)) * jnLoadFour(other);
                }
            }
            q[v] = jnJoinFours(groups);
        }
        jnTranspose(q, rows);
        for (int i = 0; i < 4; ++i) {
            jnStore(sum[i] + start, rows[i]);
        }
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

// The same where one joint moves the whole block, which skins have much of.
static inline void jnRepeatTurn(const float* turn, const float* weights, float sum[4][JN_LANES])
{
    for (int lane = 0; lane < JN_LANES; lane += JN_WIDTH) {
        for (int i = 0; i < 4; ++i) {
            jnStore(sum[i] + lane, jnLoad(weights + lane) * turn[i]);
        }
    }
}

// The same for block b. starts, joints and weights are the asset's influences; aligned: no two joints of one vertex
// have quaternions more than a quarter turn of the sphere apart.
static inline void jnBlendBlockTurns(const uint32_t* starts, const uint16_t* joints, const float* weights, size_t b,
    const float* turns, bool aligned, float q[4][JN_LANES])
{
    size_t at = (size_t)starts[b] * JN_LANES;
    int count = (int)(starts[b + 1] - starts[b]);
    bool alone = count == 1 && memcmp(joints + at, joints + at + 1, (JN_LANES - 1) * sizeof(*joints)) == 0;
    if (alone) {
        jnRepeatTurn(turns + 4 * (size_t)joints[at], weights + at, q);
    } else if (!aligned || count > 4) {
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

// Rotation matrices, rows of three, of JN_WIDTH lanes from `lane` on. Their quaternions need not have length 1.
static inline void jnMakeFrames(const float q[4][JN_LANES], int lane, jnFloats m[9])
{
    jnFloats x = jnLoad(q[0] + lane), y = jnLoad(q[1] + lane), z = jnLoad(q[2] + lane), w = jnLoad(q[3] + lane);
    jnFloats s = 2.0f / ((x * x + y * y) + (z * z + w * w));
    jnFloats sx = s * x, sy = s * y, sz = s * z;
    m[0] = 1.0f - (sy * y + sz * z);
    m[1] = sx * y - sz * w;
    m[2] = sx * z + sy * w;
    m[3] = sx * y + sz * w;
    m[4] = 1.0f - (sx * x + sz * z);
    m[5] = sy * z - sx * w;
    m[6] = sx * z - sy * w;
    m[7] = sy * z + sx * w;
    m[8] = 1.0f - (sx * x + sy * y);
}

// out = R v, or R^T v.
static inline void jnTurnLanes(const jnFloats m[9], bool back, const jnFloats v[3], jnFloats out[3])
{
    for (int row = 0; row < 3; ++row) {
        jnFloats a = m[back ? row : 3 * row], b = m[back ? 3 + row : 3 * row + 1], c = m[back ? 6 + row : 3 * row + 2];
        out[row] = a * v[0] + b * v[1] + c * v[2];
    }
}
