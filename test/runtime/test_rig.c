// Skinning: against the formula in double, the same bytes from every kernel, rigid motion as rigid motion.
#include "helpers/support.h"

#include "rig.h"

enum { BLOCKS = 9, LANES = BLOCKS * JN_LANES, JOINTS = 7, FIELD = 3 * JN_LANES, MAX = 8 };

// A rig with one block for each number of influences from 1 to 8, and one more; all arrays filled at random.
typedef struct Rig {
    jnAsset asset;
    jnAssetJoint joints[JOINTS];
    _Alignas(64) float rest[LANES * 4];
    uint32_t starts[BLOCKS + 1];
    uint16_t influenceJoints[LANES * MAX];
    float weights[LANES * MAX];
    float rotations[JOINTS * 4], translations[JOINTS * 3], scales[JOINTS * 3];
    double globals[JOINTS * 12];
    _Alignas(64) float palette[JOINTS * JN_PALETTE_SIZE];
    _Alignas(64) float stretches[JOINTS * JN_PALETTE_SIZE];
    float duals[JOINTS * JN_DUAL_SIZE];
} Rig;

static void RandomRotation(Random* random, float q[4])
{
    double square = 0;
    for (int i = 0; i < 4; ++i) {
        q[i] = (float)Uniform(random, -1, 1);
        square += (double)q[i] * (double)q[i];
    }
    for (int i = 0; i < 4; ++i) {
        q[i] = (float)((double)q[i] / sqrt(square));
    }
}

static void MakeJoints(Rig* rig, Random* random, double stretch)
{
    for (int j = 0; j < JOINTS; ++j) {
        rig->joints[j] = (jnAssetJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        float* bind = rig->joints[j].inverseBind;
        bind[0] = bind[5] = bind[10] = 1;
        RandomRotation(random, rig->rotations + 4 * j);
        for (int i = 0; i < 3; ++i) {
            bind[4 * i + 3] = (float)Uniform(random, -1, 1);
            rig->translations[3 * j + i] = (float)Uniform(random, -1, 1);
            rig->scales[3 * j + i] = (float)(1 + Uniform(random, -stretch, stretch));
        }
    }
}

static Rig* MakeRig(uint64_t seed, double stretch)
{
    static Rig rig;
    Random random = {seed};
    memset(&rig, 0, sizeof(rig));
    MakeJoints(&rig, &random, stretch);
    for (int b = 0; b < BLOCKS; ++b) {
        int count = b % MAX + 1;
        rig.starts[b + 1] = rig.starts[b] + (uint32_t)count;
        for (int v = 0; v < JN_LANES; ++v) {
            size_t at = (size_t)rig.starts[b] * JN_LANES + (size_t)(v * count);
            double sum = 0;
            for (int k = 0; k < count; ++k) {
                rig.influenceJoints[at + (size_t)k] = (uint16_t)(NextBits(&random) % JOINTS);
                rig.weights[at + (size_t)k] = (float)Uniform(&random, 0.1, 1);
                sum += (double)rig.weights[at + (size_t)k];
            }
            for (int k = 0; k < count; ++k) {
                rig.weights[at + (size_t)k] /= (float)sum;
            }
        }
    }
    for (int i = 0; i < LANES * 4; ++i) {
        rig.rest[i] = i % 4 == 3 ? 1.0f : (float)Uniform(&random, -1, 1);
    }
    rig.asset = (jnAsset){.jointCount = JOINTS, .vertexCount = LANES, .blockCount = BLOCKS, .joints = rig.joints};
    jnPose pose = {.rotations = rig.rotations, .translations = rig.translations, .scales = rig.scales};
    assert_true(jnMakeGlobals(&rig.asset, &pose, rig.globals));
    jnMakePalette(&rig.asset, rig.globals, rig.palette);
    return &rig;
}

static jnSkinPass MakePass(const Rig* rig, float* field)
{
    return (jnSkinPass){.rest = rig->rest,
        .starts = rig->starts,
        .joints = rig->influenceJoints,
        .weights = rig->weights,
        .palette = rig->palette,
        .field = field};
}

// Every kernel of this machine gives the bytes of the plain one.
static void ExpectSameBytes(const jnSkinPass* pass)
{
    static float other[LANES * 3];
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (jnKernelAvailable((jnKernel)kernel)) {
            jnSkinPass again = *pass;
            again.field = other;
            memset(other, 0xff, sizeof(other));
            jnFindRigKernels((jnKernel)kernel)->skin(&again, 0, BLOCKS);
            assert_memory_equal(other, pass->field, sizeof(other));
        }
    }
}

static void LinearBlendIsTheFormula(void** state)
{
    (void)state;
    static float field[LANES * 3];
    const Rig* rig = MakeRig(1, 0.3);
    jnSkinPass pass = MakePass(rig, field);
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    for (int v = 0; v < LANES; ++v) {
        uint32_t start = rig->starts[v / JN_LANES], count = rig->starts[v / JN_LANES + 1] - start;
        size_t at = (size_t)start * JN_LANES + (size_t)(v % JN_LANES) * count;
        for (int axis = 0; axis < 3; ++axis) {
            double sum = 0;
            for (uint32_t k = 0; k < count; ++k) {
                const float* row = rig->palette + rig->influenceJoints[at + k] * JN_PALETTE_SIZE + 4 * axis;
                const float* p = rig->rest + 4 * v;
                double x = (double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] +
                           (double)row[2] * (double)p[2] + (double)row[3];
                sum += (double)rig->weights[at + k] * x;
            }
            ASSERT_NEAR(field[v / JN_LANES * FIELD + axis * JN_LANES + v % JN_LANES], sum, 4e-6);
        }
    }
    ExpectSameBytes(&pass);
}

static void ARangeOfBlocksIsWrittenWhereItBelongs(void** state)
{
    (void)state;
    static float all[LANES * 3], some[3 * FIELD];
    jnSkinPass pass = MakePass(MakeRig(2, 0), all);
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    pass.field = some;
    pass.fieldStart = 4;
    jnFindRigKernels(jnBestKernel())->skin(&pass, 4, 7);
    assert_memory_equal(some, all + 4 * FIELD, sizeof(some));
}

// Dual quaternions of all joints; whether any is stretched. The globals become the skin's matrices.
static bool MakeDuals(Rig* rig)
{
    bool stretched = false;
    jnToSurface(&rig->asset, rig->globals);
    for (int j = 0; j < JOINTS; ++j) {
        bool own =
            jnMakeDual(rig->globals + 12 * j, rig->duals + j * JN_DUAL_SIZE, rig->stretches + j * JN_PALETTE_SIZE);
        stretched = stretched || own;
    }
    return stretched;
}

static void DualQuaternionsOfOneMotionAreThatMotion(void** state)
{
    (void)state;
    static float field[LANES * 3];
    Rig* rig = MakeRig(3, 0);
    // Every joint makes the same motion, half of them with the quaternion's other sign.
    for (int j = 1; j < JOINTS; ++j) {
        memcpy(rig->globals + 12 * j, rig->globals, 12 * sizeof(double));
        memcpy(rig->joints[j].inverseBind, rig->joints[0].inverseBind, sizeof(rig->joints[0].inverseBind));
    }
    assert_false(MakeDuals(rig));
    for (int i = 0; i < JOINTS * JN_DUAL_SIZE; ++i) {
        rig->duals[i] *= i / JN_DUAL_SIZE % 2 == 0 ? 1.0f : -1.0f;
    }
    jnMakePalette(&rig->asset, rig->globals, rig->palette);
    jnSkinPass pass = MakePass(rig, field);
    pass.duals = rig->duals;
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    for (int v = 0; v < LANES; ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            const float* row = rig->palette + 4 * axis;
            const float* p = rig->rest + 4 * v;
            double x = (double)row[0] * (double)p[0] + (double)row[1] * (double)p[1] + (double)row[2] * (double)p[2] +
                       (double)row[3];
            ASSERT_NEAR(field[v / JN_LANES * FIELD + axis * JN_LANES + v % JN_LANES], x, 2e-6);
        }
    }
    ExpectSameBytes(&pass);
}

// Two joints a half turn of twist apart: linear blend falls onto the axis, dual quaternions keep the distance.
static void DualQuaternionsKeepTheThicknessOfATwist(void** state)
{
    (void)state;
    static float field[LANES * 3];
    Rig* rig = MakeRig(4, 0);
    const double turn[12] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0}, none[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    for (int j = 0; j < JOINTS; ++j) {
        memcpy(rig->globals + 12 * j, j % 2 == 0 ? none : turn, sizeof(none));
        rig->joints[j].inverseBind[3] = rig->joints[j].inverseBind[7] = rig->joints[j].inverseBind[11] = 0;
    }
    MakeDuals(rig);
    jnSkinPass pass = MakePass(rig, field);
    pass.duals = rig->duals;
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    for (int v = 0; v < LANES; ++v) {
        const float* p = rig->rest + 4 * v;
        const float* x = field + v / JN_LANES * FIELD + v % JN_LANES;
        ASSERT_NEAR(hypotf(x[0], x[2 * JN_LANES]), hypotf(p[0], p[2]), 1e-6);
        ASSERT_NEAR(x[JN_LANES], p[1], 1e-6);
    }
}

static void StretchedJointsAreStretchedBeforeTheyTurn(void** state)
{
    (void)state;
    static float field[LANES * 3], linear[LANES * 3];
    Rig* rig = MakeRig(5, 0.4);
    rig->globals[0] *= -1; // one joint is a mirror
    rig->globals[4] *= -1;
    rig->globals[8] *= -1;
    assert_true(MakeDuals(rig));
    jnMakePalette(&rig->asset, rig->globals, rig->palette);
    jnSkinPass pass = MakePass(rig, linear);
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    pass.field = field;
    pass.duals = rig->duals;
    pass.stretches = rig->stretches;
    jnRigKernelsBaseline.skin(&pass, 0, BLOCKS);
    for (int i = 0; i < FIELD; ++i) { // one influence: both are the joint's matrix
        ASSERT_NEAR(field[i], linear[i], 5e-6);
    }
    ExpectSameBytes(&pass);
}

static void PosesAreComposedFromTheRoot(void** state)
{
    (void)state;
    Rig* rig = MakeRig(6, 0.2);
    static float matrices[JOINTS * 12];
    static double again[JOINTS * 12];
    for (int i = 0; i < JOINTS * 12; ++i) {
        matrices[i] = (float)rig->globals[i];
    }
    jnTransform root = {.position = {1, 2, 3}, .rotation = {0, 0.6f, 0, 0.8f}};
    jnPose local = {.rotations = rig->rotations, .translations = rig->translations, .scales = rig->scales};
    local.root = &root;
    jnMakeGlobals(&rig->asset, &local, rig->globals);
    jnMakeGlobals(&rig->asset, &(jnPose){.matrices = matrices, .root = &root}, again);
    for (int i = 0; i < JOINTS * 12; ++i) {
        ASSERT_NEAR(rig->globals[i], again[i], 1e-5);
    }
    rig->rotations[5] = NAN;
    assert_false(jnMakeGlobals(&rig->asset, &local, rig->globals));
    const double joint[12] = {0, 0, 2, 5, 0, 2, 0, 6, -2, 0, 0, 7};
    jnTransform rigid = jnRigidPart(joint);
    ASSERT_NEAR(rigid.position[2], 7, 0);
    ASSERT_NEAR(fabsf(rigid.rotation[1]), sqrt(0.5), 1e-7);
    ASSERT_NEAR(rigid.rotation[1], rigid.rotation[3], 1e-7);
}

// The rotation of a matrix is found whatever it is scaled or stretched by; a matrix that is one already is no
// exception.
static void RotationsAreFoundUnderAnyStretch(void** state)
{
    (void)state;
    static const double stretches[][3] = {{1, 1, 1}, {1 + 1e-7, 1, 1 - 1e-7}, {1 + 1e-5, 1, 1}, {2, 2, 2}, {1, 2, 3},
        {1e-3, 1, 1}, {1e-15, 1e-15, 1e-15}, {1e12, 1e12, 1e12}, {1, 1, 1e-5}};
    Random random = {11};
    for (int n = 0; n < 900; ++n) {
        double q[4], r[9], m[12] = {0}, found[4], square = 0, dot = 0;
        const double* s = stretches[n % 9];
        for (int i = 0; i < 4; ++i) {
            q[i] = (double)(NextBits(&random) % 2001) / 1000 - 1;
            square += q[i] * q[i];
        }
        for (int i = 0; i < 4; ++i) {
            q[i] /= sqrt(square);
        }
        double x = q[0], y = q[1], z = q[2], w = q[3];
        const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w),
            1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w),
            1 - 2 * (x * x + y * y)};
        memcpy(r, rows, sizeof(r));
        for (int i = 0; i < 9; ++i) { // the stretch is along the axes before the rotation
            m[4 * (i / 3) + i % 3] = r[i] * s[i % 3];
        }
        jnRotationOf(m, found);
        for (int i = 0; i < 4; ++i) {
            dot += found[i] * q[i];
        }
        ASSERT_NEAR(fabs(dot), 1.0, 1e-7);
    }
    const double flat[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    double found[4];
    jnRotationOf(flat, found);
    ASSERT_NEAR(found[3], 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LinearBlendIsTheFormula),
        cmocka_unit_test(ARangeOfBlocksIsWrittenWhereItBelongs),
        cmocka_unit_test(DualQuaternionsOfOneMotionAreThatMotion),
        cmocka_unit_test(DualQuaternionsKeepTheThicknessOfATwist),
        cmocka_unit_test(StretchedJointsAreStretchedBeforeTheyTurn),
        cmocka_unit_test(PosesAreComposedFromTheRoot),
        cmocka_unit_test(RotationsAreFoundUnderAnyStretch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
