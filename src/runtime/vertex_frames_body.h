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
    for (int start = 0; start < JN_LANES; start += JN_WIDTH) {
        jnFloats q[4], rows[4];
        for (int v = 0; v < 4; ++v) {
            jnFour groups[JN_GROUPS];
            for (int g = 0; g < JN_GROUPS; ++g) {
                const uint16_t* j = joints + (start + 4 * g + v) * count;
                const float* w = weights + (start + 4 * g + v) * count;
                const float* first = turns + 4 * (size_t)j[0];
                groups[g] = jnScaleFour(w[0], jnLoadFour(first));
                for (int k = 1; k < count; ++k) {
                    const float* other = turns + 4 * (size_t)j[k];
                    float weight = aligned ? w[k] : w[k] * jnTurnSign(first, other);
                    groups[g] = jnAddFour(groups[g], jnScaleFour(weight, jnLoadFour(other)));
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
            jnStore(sum[i] + lane, jnScale(turn[i], jnLoad(weights + lane)));
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
static inline void jnMakeFrames(float q[4][JN_LANES], int lane, jnFloats m[9])
{
    jnFloats x = jnLoad(q[0] + lane), y = jnLoad(q[1] + lane), z = jnLoad(q[2] + lane), w = jnLoad(q[3] + lane);
    jnFloats square = jnAdd(jnAdd(jnMul(x, x), jnMul(y, y)), jnAdd(jnMul(z, z), jnMul(w, w)));
    jnFloats s = jnDiv(jnRepeat(2.0f), square), one = jnRepeat(1.0f);
    jnFloats sx = jnMul(s, x), sy = jnMul(s, y), sz = jnMul(s, z);
    jnFloats xx = jnMul(sx, x), yy = jnMul(sy, y), zz = jnMul(sz, z);
    jnFloats xy = jnMul(sx, y), xz = jnMul(sx, z), yz = jnMul(sy, z);
    jnFloats xw = jnMul(sx, w), yw = jnMul(sy, w), zw = jnMul(sz, w);
    m[0] = jnSub(one, jnAdd(yy, zz));
    m[1] = jnSub(xy, zw);
    m[2] = jnAdd(xz, yw);
    m[3] = jnAdd(xy, zw);
    m[4] = jnSub(one, jnAdd(xx, zz));
    m[5] = jnSub(yz, xw);
    m[6] = jnSub(xz, yw);
    m[7] = jnAdd(yz, xw);
    m[8] = jnSub(one, jnAdd(xx, yy));
}

// out = R v, or R^T v.
static inline void jnTurnLanes(const jnFloats m[9], bool back, const jnFloats v[3], jnFloats out[3])
{
    for (int row = 0; row < 3; ++row) {
        jnFloats a = m[back ? row : 3 * row], b = m[back ? 3 + row : 3 * row + 1], c = m[back ? 6 + row : 3 * row + 2];
        out[row] = jnAdd(jnAdd(jnMul(a, v[0]), jnMul(b, v[1])), jnMul(c, v[2]));
    }
}
