// Area-weighted normals. A face between neighbours a and b of a vertex v has the area and direction of
// (a - v) x (b - v) / 2, so a walk around the vertex sums them up with one difference and one product a neighbour, and
// no array of faces between. Part of rig_kernels_body.h.
//
// With u and v in lanes (x, y, z), u * v.yzx - u.yzx * v is the cross product as (z, x, y): it stays in that order
// until the sums are taken apart into rows, where the order costs nothing.

// A sum of faces shorter than this has no direction: its square would leave the floats.
#define SMALLEST_SQUARE 1e-37f

#ifdef JN_VECTORS

// The points of as many rings as a vector has groups of four. What is in a group's last lane does not matter.
static inline jnFloats LoadPoints(const float* positions, const uint32_t* ring)
{
    jnFour a = jnLoadFour(positions + 3 * (size_t)ring[0]);
#if defined(__AVX__)
    jnEight ab = __builtin_shufflevector(a, jnLoadFour(positions + 3 * (size_t)ring[1]), 0, 1, 2, 3, 4, 5, 6, 7);
#if defined(__AVX512F__)
    jnFour c = jnLoadFour(positions + 3 * (size_t)ring[2]), d = jnLoadFour(positions + 3 * (size_t)ring[3]);
    jnEight cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
    return ab;
#endif
#else
    return a;
#endif
}

// Vectors that walk side by side: one alone would wait for itself, more than two would not fit the registers.
enum { WALKERS = GROUPS == 4 ? 1 : 2 };

static inline void WalkRings(const float* positions, const uint32_t* rings, uint32_t count, jnFloats sums[WALKERS])
{
    jnFloats centers[WALKERS], before[WALKERS], turnedBefore[WALKERS];
    const uint32_t* end = rings + JN_RING_LANES * (size_t)count;
    for (int i = 0; i < WALKERS; ++i) {
        centers[i] = LoadPoints(positions, rings + GROUPS * i);
        before[i] = LoadPoints(positions, rings + JN_RING_LANES + GROUPS * i) - centers[i];
        turnedBefore[i] = JN_SHUFFLE(before[i], before[i], 1, 2, 0, 3);
        sums[i] = centers[i] - centers[i];
    }
    for (const uint32_t* at = rings + 2 * JN_RING_LANES; at < end; at += JN_RING_LANES) {
        for (int i = 0; i < WALKERS; ++i) {
            jnFloats spoke = LoadPoints(positions, at + GROUPS * i) - centers[i];
            jnFloats turned = JN_SHUFFLE(spoke, spoke, 1, 2, 0, 3);
            sums[i] += before[i] * turned - turnedBefore[i] * spoke;
            before[i] = spoke;
            turnedBefore[i] = turned;
        }
    }
}

// Sums of the faces around four normals, as rows.
static inline void SumRings(const jnNormalsPass* pass, const uint32_t* rings, uint32_t count, float* field)
{
    jnFour sums[JN_RING_LANES];
    for (int first = 0; first < JN_RING_LANES; first += GROUPS * WALKERS) {
        jnFloats walked[WALKERS];
        WalkRings(pass->positions, rings + first, count, walked);
        for (int i = 0; i < WALKERS; ++i) {
            jnFour* to = sums + first + GROUPS * i;
            to[0] = JN_GROUP(walked[i], 0);
#if defined(__AVX__)
            to[1] = JN_GROUP(walked[i], 1);
#endif
#if defined(__AVX512F__)
            to[2] = JN_GROUP(walked[i], 2);
            to[3] = JN_GROUP(walked[i], 3);
#endif
        }
    }
    jnFour low = __builtin_shufflevector(sums[0], sums[1], 0, 4, 1, 5); // z0 z1 x0 x1
    jnFour lower = __builtin_shufflevector(sums[2], sums[3], 0, 4, 1, 5);
    jnFour high = __builtin_shufflevector(sums[0], sums[1], 2, 6, 3, 7); // y0 y1
    jnFour higher = __builtin_shufflevector(sums[2], sums[3], 2, 6, 3, 7);
    jnStoreFour(field, __builtin_shufflevector(low, lower, 2, 3, 6, 7));
    jnStoreFour(field + JN_LANES, __builtin_shufflevector(high, higher, 0, 1, 4, 5));
    jnStoreFour(field + 2 * JN_LANES, __builtin_shufflevector(low, lower, 0, 1, 4, 5));
}

#else

static inline void SumRings(const jnNormalsPass* pass, const uint32_t* rings, uint32_t count, float* field)
{
    for (int i = 0; i < JN_RING_LANES; ++i) {
        const float* center = pass->positions + 3 * (size_t)rings[i];
        float before[3], spoke[3], sum[3] = {0, 0, 0};
        for (uint32_t k = 1; k < count; ++k) {
            const float* point = pass->positions + 3 * (size_t)rings[JN_RING_LANES * k + (uint32_t)i];
            for (int axis = 0; axis < 3; ++axis) {
                spoke[axis] = point[axis] - center[axis];
            }
            for (int axis = 0; k > 1 && axis < 3; ++axis) {
                int next = (axis + 1) % 3;
                sum[axis] += before[axis] * spoke[next] - before[next] * spoke[axis];
            }
            memcpy(before, spoke, sizeof(before));
        }
        field[i] = sum[1];
        field[JN_LANES + i] = sum[2];
        field[2 * JN_LANES + i] = sum[0];
    }
}

#endif

// Unit length for JN_WIDTH vectors in rows. Where nothing has a direction, any is as good: z.
static inline void Normalize(float* field)
{
    jnFloats x = jnLoad(field), y = jnLoad(field + JN_LANES), z = jnLoad(field + 2 * JN_LANES);
    jnFloats square = x * x + y * y + z * z, none = square - square;
    jnFloats least = none + SMALLEST_SQUARE, one = none + 1.0f;
    jnFloats scale = 1.0f / jnSqrt(jnSelectAtLeast(square, least, square, one));
    jnStore(field, jnSelectAtLeast(square, least, x * scale, none));
    jnStore(field + JN_LANES, jnSelectAtLeast(square, least, y * scale, none));
    jnStore(field + 2 * JN_LANES, jnSelectAtLeast(square, least, z * scale, one));
}

static void MakeNormals(const jnNormalsPass* pass, int first, int end)
{
    for (int block = first; block < end; ++block) {
        float field[FIELD];
        for (int quad = 0; quad < JN_LANES / JN_RING_LANES; ++quad) {
            size_t q = (size_t)block * (JN_LANES / JN_RING_LANES) + (size_t)quad;
            uint32_t start = pass->ringStarts[q];
            SumRings(pass, pass->rings + (size_t)start * JN_RING_LANES, pass->ringStarts[q + 1] - start,
                field + quad * JN_RING_LANES);
        }
        float* out = pass->normals + (size_t)block * FIELD;
        for (int i = 0; i < JN_LANES; i += JN_WIDTH) {
            Normalize(field + i);
            jnPack(field + i, field + JN_LANES + i, field + 2 * JN_LANES + i, out + 3 * i);
        }
    }
}
