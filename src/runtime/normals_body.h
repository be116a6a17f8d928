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
    jnFour points[JN_GROUPS];
    for (int g = 0; g < JN_GROUPS; ++g) {
        points[g] = jnLoadFour(positions + 3 * (size_t)ring[g]);
    }
    return jnJoinFours(points);
}

// Vectors that walk side by side: one alone would wait for itself, more than two would not fit the registers.
enum { WALKERS = 2 };

static inline void WalkRings(const float* positions, const uint32_t* rings, uint32_t count, jnFloats sums[WALKERS])
{
    jnFloats centers[WALKERS], before[WALKERS], turnedBefore[WALKERS];
    const uint32_t* end = rings + JN_RING_LANES * (size_t)count;
    for (int i = 0; i < WALKERS; ++i) {
        centers[i] = LoadPoints(positions, rings + JN_GROUPS * i);
        before[i] = jnSub(LoadPoints(positions, rings + JN_RING_LANES + JN_GROUPS * i), centers[i]);
        turnedBefore[i] = jnNextAxis(before[i]);
        sums[i] = jnRepeat(0.0f);
    }
    for (const uint32_t* at = rings + 2 * JN_RING_LANES; at < end; at += JN_RING_LANES) {
        for (int i = 0; i < WALKERS; ++i) {
            jnFloats spoke = jnSub(LoadPoints(positions, at + JN_GROUPS * i), centers[i]);
            jnFloats turned = jnNextAxis(spoke);
            sums[i] = jnAdd(sums[i], jnSub(jnMul(before[i], turned), jnMul(turnedBefore[i], spoke)));
            before[i] = spoke;
            turnedBefore[i] = turned;
        }
    }
}

// Sums of the faces around four normals, as rows.
static inline void SumRings(const jnNormalsPass* pass, const uint32_t* rings, uint32_t count, float* field)
{
    jnFour sums[JN_RING_LANES];
    for (int first = 0; first < JN_RING_LANES; first += JN_GROUPS * WALKERS) {
        jnFloats walked[WALKERS];
        WalkRings(pass->positions, rings + first, count, walked);
        for (int i = 0; i < WALKERS; ++i) {
            jnFour* to = sums + first + JN_GROUPS * i;
            to[0] = JN_GROUP(walked[i], 0);
            to[JN_GROUPS - 1] = JN_GROUP(walked[i], JN_GROUPS - 1);
        }
    }
    jnFour low = jnLowsFour(sums[0], sums[1]), lower = jnLowsFour(sums[2], sums[3]);     // z0 x0 z1 x1
    jnFour high = jnHighsFour(sums[0], sums[1]), higher = jnHighsFour(sums[2], sums[3]); // y0 and any
    jnStoreFour(field, jnOddsFour(low, lower));
    jnStoreFour(field + JN_LANES, jnEvensFour(high, higher));
    jnStoreFour(field + 2 * JN_LANES, jnEvensFour(low, lower));
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

// Flesh so large that the square of a normal leaves the floats has one still.
#define LARGEST_NORMAL 1e18f
static inline jnFloats Clamp(jnFloats x)
{
    jnFloats most = jnRepeat(LARGEST_NORMAL), least = jnRepeat(-LARGEST_NORMAL);
    return jnSelectAtLeast(x, most, most, jnSelectAtLeast(least, x, least, x));
}

// Unit length for JN_WIDTH vectors in rows. Where nothing has a direction, any is as good: z.
static inline void Normalize(float* field)
{
    jnFloats x = Clamp(jnLoad(field)), y = Clamp(jnLoad(field + JN_LANES)), z = Clamp(jnLoad(field + 2 * JN_LANES));
    jnFloats square = jnAdd(jnAdd(jnMul(x, x), jnMul(y, y)), jnMul(z, z));
    jnFloats none = jnRepeat(0.0f), least = jnRepeat(SMALLEST_SQUARE), one = jnRepeat(1.0f);
    jnFloats scale = jnDiv(one, jnSqrt(jnSelectAtLeast(square, least, square, one)));
    jnStore(field, jnSelectAtLeast(square, least, jnMul(x, scale), none));
    jnStore(field + JN_LANES, jnSelectAtLeast(square, least, jnMul(y, scale), none));
    jnStore(field + 2 * JN_LANES, jnSelectAtLeast(square, least, jnMul(z, scale), one));
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
