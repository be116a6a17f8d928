// Area-weighted normals: the cross product of two edges of each face, which is as long as twice its area, summed over
// the faces around each normal. Part of rig_kernels_body.h.
//
// With u = b - a and v = c - a, lanes (x, y, z), u * v.yzx - u.yzx * v is the cross product as (z, x, y): it stays in
// that order until the sums are taken apart into rows, where the order costs nothing.

// A sum of faces shorter than this has no direction: its square would leave the floats.
#define SMALLEST_SQUARE 1e-37f

#ifdef JN_VECTORS

static inline jnFour Cross(const jnNormalsPass* pass, const int32_t* corners)
{
    jnFour a = jnLoadFour(pass->positions + 3 * (size_t)corners[0]);
    jnFour u = jnLoadFour(pass->positions + 3 * (size_t)corners[1]) - a;
    jnFour v = jnLoadFour(pass->positions + 3 * (size_t)corners[2]) - a;
    jnFour turnedU = __builtin_shufflevector(u, u, 1, 2, 0, 3), turnedV = __builtin_shufflevector(v, v, 1, 2, 0, 3);
    return u * turnedV - turnedU * v;
}

static void MakeFaces(const jnNormalsPass* pass, int first, int end)
{
    for (int face = first; face < end; ++face) {
        jnStoreFour(pass->faces + (size_t)face * JN_FACE_SIZE, Cross(pass, pass->corners + 3 * (size_t)face));
    }
}

// Sums of the faces around four normals, as rows.
static inline void SumRings(const jnNormalsPass* pass, const uint32_t* rings, uint32_t count, float* field)
{
    jnFour sums[4] = {{0}, {0}, {0}, {0}};
    for (uint32_t k = 0; k < count; ++k) {
        for (int i = 0; i < JN_RING_LANES; ++i) {
            sums[i] += jnLoadFour(pass->faces + (size_t)rings[JN_RING_LANES * k + (uint32_t)i] * JN_FACE_SIZE);
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

static void MakeFaces(const jnNormalsPass* pass, int first, int end)
{
    for (int face = first; face < end; ++face) {
        const int32_t* corners = pass->corners + 3 * (size_t)face;
        const float* a = pass->positions + 3 * (size_t)corners[0];
        const float* b = pass->positions + 3 * (size_t)corners[1];
        const float* c = pass->positions + 3 * (size_t)corners[2];
        float u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        float* out = pass->faces + (size_t)face * JN_FACE_SIZE;
        for (int i = 0; i < 3; ++i) {
            out[i] = u[i] * v[(i + 1) % 3] - u[(i + 1) % 3] * v[i];
        }
    }
}

static inline void SumRings(const jnNormalsPass* pass, const uint32_t* rings, uint32_t count, float* field)
{
    for (int i = 0; i < JN_RING_LANES; ++i) {
        float sum[3] = {0, 0, 0};
        for (uint32_t k = 0; k < count; ++k) {
            const float* face = pass->faces + (size_t)rings[JN_RING_LANES * k + (uint32_t)i] * JN_FACE_SIZE;
            for (int axis = 0; axis < 3; ++axis) {
                sum[axis] += face[axis];
            }
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
