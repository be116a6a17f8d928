// The body of skinning and normals; see rig_kernels.h.
//
// Linear blend: the matrices of a vertex's joints, rows of four in one to three registers, are blended, multiplied by
// (x, y, z, 1) and summed crosswise for four vertices at a time, which transposes them on the way:
//
//     row . (x, y, z, 1) = (m0 x + m1 y) + (m2 z + m3)
//
// That order of the sum is the definition; the scalar twin keeps it.
#include "lanes.h"
#include "rig_kernels.h"

#include <string.h>

enum { FIELD = 3 * JN_LANES };
enum { MAX_INFLUENCES = 8 };

#ifdef JN_VECTORS

enum { VECTORS = JN_WIDTH == 8 ? 2 : 3 }; // that hold the three rows

// Sums the groups of four vertices' vectors: lane i of a group becomes the sum over vertex i's group.
static inline jnFloats SumCrosswise(jnFloats a, jnFloats b, jnFloats c, jnFloats d)
{
    jnFloats ab = jnAdd(jnEvens(a, b), jnOdds(a, b)), cd = jnAdd(jnEvens(c, d), jnOdds(c, d));
    return jnAdd(jnEvens(ab, cd), jnOdds(ab, cd));
}

// Group g of vector r is row JN_GROUPS * r + g of the result.
static inline void StoreRows(jnFloats sums, int r, float* field)
{
    jnStoreFour(field + JN_GROUPS * r * JN_LANES, JN_GROUP(sums, 0));
    if (JN_GROUPS > 1 && JN_GROUPS * r + 1 < 3) {
        jnStoreFour(field + (JN_GROUPS * r + 1) * JN_LANES, JN_GROUP(sums, JN_GROUPS - 1));
    }
}

// One block with `count` influences a vertex, a constant wherever this is called.
static inline void BlendBlock(
    const float* rest, const uint16_t* joints, const float* weights, int count, const float* palette, float* field)
{
    for (int quad = 0; quad < JN_LANES; quad += 4) {
        jnFloats products[4][VECTORS];
        for (int i = 0; i < 4; ++i) {
            int v = quad + i;
            const float* w = weights + v * count;
            const uint16_t* j = joints + v * count;
            jnFloats point = jnRepeatFour(rest + 4 * v);
            for (int r = 0; r < VECTORS; ++r) {
                const float* at = palette + r * JN_WIDTH;
                jnFloats sum = jnScale(w[0], jnLoad(at + (size_t)j[0] * JN_PALETTE_SIZE));
                for (int k = 1; k < count; ++k) {
                    sum = jnAdd(sum, jnScale(w[k], jnLoad(at + (size_t)j[k] * JN_PALETTE_SIZE)));
                }
                products[i][r] = jnMul(sum, point);
            }
        }
        for (int r = 0; r < VECTORS; ++r) {
            StoreRows(SumCrosswise(products[0][r], products[1][r], products[2][r], products[3][r]), r, field + quad);
        }
    }
}

#else

static inline void BlendBlock(
    const float* rest, const uint16_t* joints, const float* weights, int count, const float* palette, float* field)
{
    for (int v = 0; v < JN_LANES; ++v) {
        const float* p = rest + 4 * v;
        for (int row = 0; row < 3; ++row) {
            float m[4];
            for (int i = 0; i < 4; ++i) {
                for (int k = 0; k < count; ++k) {
                    size_t entry = (size_t)joints[v * count + k] * JN_PALETTE_SIZE + (size_t)(4 * row + i);
                    float part = weights[v * count + k] * palette[entry];
                    m[i] = k == 0 ? part : m[i] + part;
                }
            }
            field[row * JN_LANES + v] = (m[0] * p[0] + m[1] * p[1]) + (m[2] * p[2] + m[3] * p[3]);
        }
    }
}

#endif

static void BlendLinear(const jnSkinPass* pass, int block, const float* rest, const float* palette, float* field)
{
    size_t b = (size_t)block;
    const uint16_t* joints = pass->joints + (size_t)pass->starts[b] * JN_LANES;
    const float* weights = pass->weights + (size_t)pass->starts[b] * JN_LANES;
    int count = (int)(pass->starts[b + 1] - pass->starts[b]);
    // Blocks of few influences are common: a loop unrolled for each count is worth its code.
    switch (count) {
    case 1:
        BlendBlock(rest, joints, weights, 1, palette, field);
        break;
    case 2:
        BlendBlock(rest, joints, weights, 2, palette, field);
        break;
    case 3:
        BlendBlock(rest, joints, weights, 3, palette, field);
        break;
    case 4:
        BlendBlock(rest, joints, weights, 4, palette, field);
        break;
    default:
        BlendBlock(rest, joints, weights, count, palette, field);
        break;
    }
}

// The sign with which a joint's dual quaternion joins that of a vertex's first, heaviest joint: both halves of the
// double cover are the same motion, and blending takes the near one.
static inline float SignFor(const float* first, const float* other)
{
    float cosine = (first[0] * other[0] + first[1] * other[1]) + (first[2] * other[2] + first[3] * other[3]);
    return cosine < 0.0f ? -1.0f : 1.0f;
}

#ifdef JN_VECTORS

// Rows x, y, z and 1 of a block of rest positions.
static inline void TransposePoints(const float* rest, float* rows)
{
    for (int quad = 0; quad < JN_LANES; quad += 4) {
        jnFour points[4];
        for (int i = 0; i < 4; ++i) {
            points[i] = jnLoadFour(rest + 4 * (quad + i));
        }
        jnStoreTransposed(points, rows + quad, JN_LANES);
    }
}

static inline void BlendBlockDuals(
    const uint16_t* joints, const float* weights, int count, const float* duals, float sum[JN_DUAL_SIZE][JN_LANES])
{
    for (int quad = 0; quad < JN_LANES; quad += 4) {
        jnFour rotations[4], moves[4];
        for (int i = 0; i < 4; ++i) {
            const uint16_t* j = joints + (quad + i) * count;
            const float* w = weights + (quad + i) * count;
            const float* first = duals + (size_t)j[0] * JN_DUAL_SIZE;
            rotations[i] = jnScaleFour(w[0], jnLoadFour(first));
            moves[i] = jnScaleFour(w[0], jnLoadFour(first + 4));
            for (int k = 1; k < count; ++k) {
                const float* dual = duals + (size_t)j[k] * JN_DUAL_SIZE;
                float weight = w[k] * SignFor(first, dual);
                rotations[i] = jnAddFour(rotations[i], jnScaleFour(weight, jnLoadFour(dual)));
                moves[i] = jnAddFour(moves[i], jnScaleFour(weight, jnLoadFour(dual + 4)));
            }
        }
        jnStoreTransposed(rotations, sum[0] + quad, JN_LANES);
        jnStoreTransposed(moves, sum[4] + quad, JN_LANES);
    }
}

#else

static inline void TransposePoints(const float* rest, float* rows)
{
    for (int i = 0; i < 4 * JN_LANES; ++i) {
        rows[i] = rest[4 * (i % JN_LANES) + i / JN_LANES];
    }
}

static inline void BlendBlockDuals(
    const uint16_t* joints, const float* weights, int count, const float* duals, float sum[JN_DUAL_SIZE][JN_LANES])
{
    for (int v = 0; v < JN_LANES; ++v) {
        const float* first = duals + (size_t)joints[v * count] * JN_DUAL_SIZE;
        for (int k = 0; k < count; ++k) {
            const float* dual = duals + (size_t)joints[v * count + k] * JN_DUAL_SIZE;
            float weight = k == 0 ? weights[v * count] : weights[v * count + k] * SignFor(first, dual);
            for (int i = 0; i < JN_DUAL_SIZE; ++i) {
                sum[i][v] = k == 0 ? weight * dual[i] : sum[i][v] + weight * dual[i];
            }
        }
    }
}

#endif

// Blended dual quaternions of a block, not yet of unit length.
static inline void BlendDuals(const jnSkinPass* pass, int block, float sum[JN_DUAL_SIZE][JN_LANES])
{
    size_t b = (size_t)block;
    const uint16_t* joints = pass->joints + (size_t)pass->starts[b] * JN_LANES;
    const float* weights = pass->weights + (size_t)pass->starts[b] * JN_LANES;
    int count = (int)(pass->starts[b + 1] - pass->starts[b]);
    switch (count) {
    case 1:
        BlendBlockDuals(joints, weights, 1, pass->duals, sum);
        break;
    case 2:
        BlendBlockDuals(joints, weights, 2, pass->duals, sum);
        break;
    case 3:
        BlendBlockDuals(joints, weights, 3, pass->duals, sum);
        break;
    case 4:
        BlendBlockDuals(joints, weights, 4, pass->duals, sum);
        break;
    default:
        BlendBlockDuals(joints, weights, count, pass->duals, sum);
        break;
    }
}

// x' = x + 2 r x (r x x + w x) + 2 (w d - e r + r x d), rotation (r, w) and dual part (d, e) divided by |(r, w)|.
static void SkinDual(const jnSkinPass* pass, int block, const float* rest, float* field)
{
    float q[JN_DUAL_SIZE][JN_LANES], point[4 * JN_LANES];
    BlendDuals(pass, block, q);
    if (pass->stretches != NULL) {
        BlendLinear(pass, block, rest, pass->stretches, point);
    } else {
        TransposePoints(rest, point);
    }
    for (int v = 0; v < JN_LANES; v += JN_WIDTH) {
        jnFloats rx = jnLoad(q[0] + v), ry = jnLoad(q[1] + v), rz = jnLoad(q[2] + v), w = jnLoad(q[3] + v);
        jnFloats square = jnAdd(jnAdd(jnMul(rx, rx), jnMul(ry, ry)), jnMul(rz, rz));
        jnFloats scale = jnDiv(jnRepeat(1.0f), jnSqrt(jnAdd(square, jnMul(w, w))));
        jnFloats dx = jnMul(jnLoad(q[4] + v), scale), dy = jnMul(jnLoad(q[5] + v), scale);
        jnFloats dz = jnMul(jnLoad(q[6] + v), scale), e = jnMul(jnLoad(q[7] + v), scale);
        jnFloats r[3] = {jnMul(rx, scale), jnMul(ry, scale), jnMul(rz, scale)}, cross[3], twice[3];
        w = jnMul(w, scale);
        jnFloats x[3] = {jnLoad(point + v), jnLoad(point + JN_LANES + v), jnLoad(point + 2 * JN_LANES + v)};
        jnFloats d[3] = {dx, dy, dz};
        jnCrossLanes(r, x, cross);
        for (int i = 0; i < 3; ++i) {
            cross[i] = jnAdd(cross[i], jnMul(w, x[i]));
        }
        jnCrossLanes(r, cross, twice);
        jnCrossLanes(r, d, cross);
        for (int i = 0; i < 3; ++i) {
            jnFloats t = jnAdd(jnSub(jnMul(w, d[i]), jnMul(e, r[i])), cross[i]);
            jnStore(field + i * JN_LANES + v, jnAdd(x[i], jnScale(2.0f, jnAdd(twice[i], t))));
        }
    }
}

// Rest positions, [JN_LANES][4], with displacements [3][JN_LANES] added.
static inline void Displace(const float* rest, const float* by, float* out)
{
#ifdef JN_VECTORS
    static const float none[4] = {0, 0, 0, 0};
    for (int quad = 0; quad < JN_LANES; quad += 4) {
        jnFour rows[4] = {jnLoadFour(by + quad), jnLoadFour(by + JN_LANES + quad), jnLoadFour(by + 2 * JN_LANES + quad),
            jnLoadFour(none)};
        jnStoreTransposed(rows, out + 4 * quad, 4);
        for (int i = 4 * quad; i < 4 * quad + 16; i += 4) {
            jnStoreFour(out + i, jnAddFour(jnLoadFour(rest + i), jnLoadFour(out + i)));
        }
    }
#else
    for (int i = 0; i < 4 * JN_LANES; ++i) {
        out[i] = rest[i] + (i % 4 < 3 ? by[i % 4 * JN_LANES + i / 4] : 0.0f);
    }
#endif
}

static void Skin(const jnSkinPass* pass, int first, int end)
{
    for (int block = first; block < end; ++block) {
        float *field = pass->field + (size_t)(block - pass->fieldStart) * FIELD, moved[4 * JN_LANES];
        static const float none[4 * JN_LANES] = {0};
        const float* rest = pass->bare ? none : pass->rest + (size_t)block * 4 * JN_LANES;
        if (pass->displaced) {
            Displace(rest, field, moved);
            rest = moved;
        }
        if (pass->duals != NULL) {
            SkinDual(pass, block, rest, field);
        } else {
            BlendLinear(pass, block, rest, pass->palette, field);
        }
    }
}

#ifdef JN_VECTORS

static inline jnFour SumDrivers(const jnAssetFollower* follower, const float* offsets)
{
    jnFour sum = jnScaleFour(follower->weights[0], jnLoadFour(offsets + 4 * (size_t)follower->drivers[0]));
    for (int k = 1; k < JN_MAX_DRIVERS; ++k) {
        const float* driver = offsets + 4 * (size_t)follower->drivers[k];
        sum = jnAddFour(sum, jnScaleFour(follower->weights[k], jnLoadFour(driver)));
    }
    return sum;
}

// Adds what the drivers give to the vertices of a block. Four at a time and transposed in registers: memory written in
// pieces and read as a whole would stall.
static void Carry(const jnAssetFollower* followers, const float* offsets, float out[FIELD])
{
    for (int i = 0; i < JN_LANES; i += 4) {
        jnFour a = SumDrivers(followers + i, offsets), b = SumDrivers(followers + i + 1, offsets);
        jnFour c = SumDrivers(followers + i + 2, offsets), d = SumDrivers(followers + i + 3, offsets);
        jnFour ab = jnLowsFour(a, b), cd = jnLowsFour(c, d), abz = jnHighsFour(a, b), cdz = jnHighsFour(c, d);
        float* rows = out + i;
        jnStoreFour(rows, jnAddFour(jnLoadFour(rows), jnEvensFour(ab, cd)));
        rows += JN_LANES;
        jnStoreFour(rows, jnAddFour(jnLoadFour(rows), jnOddsFour(ab, cd)));
        rows += JN_LANES;
        jnStoreFour(rows, jnAddFour(jnLoadFour(rows), jnEvensFour(abz, cdz)));
    }
}

#else

static void Carry(const jnAssetFollower* followers, const float* offsets, float out[FIELD])
{
    for (int i = 0; i < JN_LANES; ++i) {
        for (size_t axis = 0; axis < 3; ++axis) {
            const jnAssetFollower* f = &followers[i];
            float sum = f->weights[0] * offsets[4 * (size_t)f->drivers[0] + axis];
            for (int k = 1; k < JN_MAX_DRIVERS; ++k) {
                sum += f->weights[k] * offsets[4 * (size_t)f->drivers[k] + axis];
            }
            out[axis * JN_LANES + (size_t)i] += sum;
        }
    }
}

#endif

#include "normals_body.h"

const jnRigKernels JN_KERNELS = {Skin, MakeNormals, Carry};
