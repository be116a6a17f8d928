// Normals of surfaces whose normals are known, and the same bytes from every kernel.
#include "helpers/support.h"

#include "rig_kernels.h"

enum { RINGS = 40, SEGMENTS = 80, VERTICES = RINGS * SEGMENTS, FACES = 2 * (RINGS - 1) * SEGMENTS, WIDEST = 1 + 3 * 6 };
enum { PADDED = (VERTICES + JN_LANES) / JN_LANES * JN_LANES };

typedef struct Surface {
    int faceCount, normalCount;
    float positions[3 * VERTICES + 4];
    int32_t corners[3 * FACES];
    int32_t groups[3 * FACES]; // normal of each corner
    uint32_t starts[PADDED / 4 + 1], rings[4 * WIDEST * PADDED / 4];
    float normals[3 * PADDED];
} Surface;

// Rings in which every triangle is a walk of its own: center, a, b, center, a, b, ...
static jnNormalsPass MakePass(Surface* s)
{
    int quads = (s->normalCount + JN_LANES - 1) / JN_LANES * (JN_LANES / 4);
    static uint32_t counts[PADDED], centers[PADDED];
    memset(counts, 0, sizeof(counts));
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        centers[s->groups[i]] = (uint32_t)s->corners[i];
    }
    for (int i = 0; i < quads * 4 * WIDEST; ++i) {
        s->rings[i] = centers[i / (4 * WIDEST) * 4 + i % 4];
        s->starts[i / (4 * WIDEST)] = (uint32_t)(i / (4 * WIDEST) * WIDEST);
    }
    s->starts[quads] = (uint32_t)(quads * WIDEST);
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        uint32_t g = (uint32_t)s->groups[i], at = 4 * (g / 4 * WIDEST + 1 + 3 * counts[g]++) + g % 4;
        assert_true(counts[g] <= 6);
        s->rings[at] = (uint32_t)s->corners[i / 3 * 3 + (i + 1) % 3];
        s->rings[at + 4] = (uint32_t)s->corners[i / 3 * 3 + (i + 2) % 3];
    }
    return (jnNormalsPass){
        .positions = s->positions, .ringStarts = s->starts, .rings = s->rings, .normals = s->normals};
}

static void Run(Surface* s, const jnNormalsPass* pass, const jnRigKernels* kernels)
{
    memset(s->normals, 0xff, sizeof(s->normals));
    kernels->makeNormals(pass, 0, (s->normalCount + JN_LANES - 1) / JN_LANES);
}

static void RunAll(Surface* s)
{
    static float first[3 * PADDED];
    jnNormalsPass pass = MakePass(s);
    Run(s, &pass, &jnRigKernelsBaseline);
    memcpy(first, s->normals, sizeof(first));
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (jnKernelAvailable((jnKernel)kernel)) {
            Run(s, &pass, jnFindRigKernels((jnKernel)kernel));
            assert_memory_equal(s->normals, first, sizeof(first));
        }
    }
}

// A band of the unit sphere, without its poles.
static void ASphereHasItsRadiiAsNormals(void** state)
{
    (void)state;
    static Surface s;
    memset(&s, 0, sizeof(s));
    s.normalCount = VERTICES;
    for (int r = 0; r < RINGS; ++r) {
        for (int k = 0; k < SEGMENTS; ++k) {
            int v = r * SEGMENTS + k, next = r * SEGMENTS + (k + 1) % SEGMENTS;
            double angle = 2 * 3.14159265358979 * k / SEGMENTS, height = -1.2 + 2.4 * r / (RINGS - 1);
            s.positions[3 * v] = (float)(cos(height) * cos(angle));
            s.positions[3 * v + 1] = (float)sin(height);
            s.positions[3 * v + 2] = (float)(-cos(height) * sin(angle));
            const int32_t two[6] = {v, next, next + SEGMENTS, v, next + SEGMENTS, v + SEGMENTS};
            if (r + 1 < RINGS) {
                memcpy(s.corners + 3 * s.faceCount, two, sizeof(two));
                s.faceCount += 2;
            }
        }
    }
    memcpy(s.groups, s.corners, sizeof(s.groups));
    RunAll(&s);
    for (int v = 0; v < VERTICES; ++v) {
        const float* n = s.normals + 3 * v;
        const float* p = s.positions + 3 * v;
        ASSERT_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-6);
        bool border = v < SEGMENTS || v >= VERTICES - SEGMENTS;
        ASSERT_AT_MOST(-(double)(n[0] * p[0] + n[1] * p[1] + n[2] * p[2]), border ? -0.995 : -0.99999);
    }
}

// Eight vertices and 24 normals: every side keeps its own.
static void ACubeKeepsItsHardEdges(void** state)
{
    (void)state;
    static const int32_t sides[6][4] = {
        {1, 3, 7, 5}, {0, 4, 6, 2}, {2, 6, 7, 3}, {0, 1, 5, 4}, {4, 5, 7, 6}, {0, 2, 3, 1}};
    static Surface s;
    memset(&s, 0, sizeof(s));
    s.normalCount = 24;
    for (int v = 0; v < 8; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            s.positions[3 * v + axis] = (v >> axis & 1) != 0 ? 1.0f : -1.0f;
        }
    }
    for (int side = 0; side < 6; ++side) {
        const int order[6] = {0, 1, 2, 0, 2, 3};
        for (int i = 0; i < 6; ++i) {
            s.corners[6 * side + i] = sides[side][order[i]];
            s.groups[6 * side + i] = 4 * side + order[i];
        }
    }
    s.faceCount = 12;
    RunAll(&s);
    for (int g = 0; g < 24; ++g) {
        for (int axis = 0; axis < 3; ++axis) {
            float expected = g / 8 == axis ? (g / 4 % 2 == 0 ? 1.0f : -1.0f) : 0.0f;
            ASSERT_NEAR(s.normals[3 * g + axis], expected, 1e-7);
        }
    }
}

// Larger faces weigh more: a corner between a small and a large one leans to the large one's side.
static void FacesWeighByTheirArea(void** state)
{
    (void)state;
    static Surface s;
    memset(&s, 0, sizeof(s));
    static const float corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3};
    memcpy(s.positions, corners, sizeof(corners));
    static const int32_t faces[6] = {0, 1, 2, 0, 2, 3}; // area 1/2 facing z, area 3/2 facing x
    memcpy(s.corners, faces, sizeof(faces));
    memcpy(s.groups, faces, sizeof(faces));
    s.faceCount = 2;
    s.normalCount = 4;
    RunAll(&s);
    ASSERT_NEAR(s.normals[0], 3 / sqrt(10), 1e-6);
    ASSERT_NEAR(s.normals[1], 0, 1e-6);
    ASSERT_NEAR(s.normals[2], 1 / sqrt(10), 1e-6);
}

static void FacesWithoutAreaGiveAUnitNormalAllTheSame(void** state)
{
    (void)state;
    static Surface s;
    memset(&s, 0, sizeof(s));
    s.faceCount = 1;
    s.normalCount = 3;
    s.corners[1] = s.groups[1] = 1;
    s.corners[2] = s.groups[2] = 2;
    RunAll(&s);
    for (int g = 0; g < 3; ++g) {
        ASSERT_NEAR(s.normals[3 * g + 2], 1, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASphereHasItsRadiiAsNormals),
        cmocka_unit_test(ACubeKeepsItsHardEdges),
        cmocka_unit_test(FacesWeighByTheirArea),
        cmocka_unit_test(FacesWithoutAreaGiveAUnitNormalAllTheSame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
