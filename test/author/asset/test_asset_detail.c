// Coarse detail: how drivers are chosen, what is in the file, and how the others follow them.
#include "helpers/support.h"

#include "asset/asset_writer.h"
#include "jounce/jounce.h"

#include "runtime/asset_format.h"

// Two tubes that touch nowhere, one above the other, bent by three joints; the last ring of each is rigid.
enum { TUBES = 2, RINGS = 17, SEGMENTS = 8, TUBE = RINGS * SEGMENTS, COUNT = TUBES * TUBE };
#define H (1.0f / 60.0f)

static jnaCharacter tubes;
static float stiffness[COUNT], damping[COUNT];
static void* bytes;
static jnAsset* asset;

static jnaAssetDef MakeDef(double share)
{
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &tubes;
    def.stiffness = stiffness;
    def.damping = damping;
    def.rigidHertz = 50;
    def.detailShare = share;
    return def;
}

static void FillVertex(int v)
{
    int tube = v / TUBE, ring = v % TUBE / SEGMENTS;
    double angle = 6.283185307179586 * (v % SEGMENTS) / SEGMENTS;
    const float p[3] = {(float)(0.1 * cos(angle)), 0.05f * (float)ring + 2.0f * (float)tube, (float)(0.1 * sin(angle))};
    memcpy(tubes.positions + 3 * v, p, sizeof(p));
    memcpy(tubes.fileNormals + 3 * v, (float[3]){(float)cos(angle), 0, (float)sin(angle)}, sizeof(p));
    tubes.weld[v] = v;
    float share = (float)ring / (RINGS - 1);
    tubes.influences[v] = (jnaInfluences){.joints = {1, 2}, .weights = {1 - share, share}};
    stiffness[v] = ring == RINGS - 1 ? 1e6f : 600.0f;
    damping[v] = 8.0f;
}

static int MakeTubes(void** state)
{
    (void)state;
    tubes = (jnaCharacter){.name = "tubes", .jointCount = 3, .vertexCount = COUNT, .fileVertexCount = COUNT};
    tubes.triangleCount = TUBES * 2 * (RINGS - 1) * SEGMENTS;
    tubes.partCount = 1;
    if (jnaCharacter_Allocate(&tubes, false, NULL) != jn_ok) {
        return -1;
    }
    for (int v = 0; v < COUNT; ++v) {
        FillVertex(v);
    }
    for (int i = 0; i < 3 * tubes.triangleCount; ++i) {
        static const int up[6] = {0, 1, 1, 0, 1, 0}, on[6] = {0, 0, 1, 0, 1, 1};
        int cell = i / 6, tube = cell / ((RINGS - 1) * SEGMENTS), ring = cell / SEGMENTS % (RINGS - 1);
        int segment = (cell % SEGMENTS + on[i % 6]) % SEGMENTS;
        tubes.triangles[i] = tube * TUBE + (ring + up[i % 6]) * SEGMENTS + segment;
    }
    for (int j = 0; j < 3; ++j) {
        tubes.joints[j] = (jnaJoint){.parent = j - 1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        snprintf(tubes.joints[j].name, JNA_NAME_LENGTH, "joint%d", j);
        tubes.joints[j].inverseBind[0] = tubes.joints[j].inverseBind[5] = tubes.joints[j].inverseBind[10] = 1;
    }
    tubes.parts[0].triangleCount = tubes.triangleCount;
    jnaAssetDef def = MakeDef(0.25);
    size_t size;
    // The file is for the fuzzer.
    return jnaEncodeAsset(&def, &bytes, &size, NULL) == jn_ok &&
                   jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, NULL) == jn_ok &&
                   jnaWriteAsset(JN_BINARY_DIR "/seed-coarse.jounce", &def, NULL) == jn_ok
               ? 0
               : -1;
}

static int FreeTubes(void** state)
{
    (void)state;
    jnDestroyAsset(asset);
    free(bytes);
    jnaDestroyCharacter(&tubes);
    return 0;
}

static jnCharacter* Create(jnDetail detail, jnTiming timing, jnKernel kernel)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.detail = detail;
    def.timing = timing;
    def.kernel = kernel;
    jnCharacter* character;
    assert_int_equal(jnCreateCharacter(&def, &character, NULL), jn_ok);
    return character;
}

// Position and velocity of every vertex, in the asset's order.
typedef struct Frame {
    float positions[3 * COUNT], velocities[3 * COUNT];
} Frame;

static jnCharacterOutput Into(Frame* frame)
{
    return (jnCharacterOutput){.positions = frame->positions, .velocities = frame->velocities, .welded = true};
}

// A step with the root at a place, and the upper joint turned.
static void Step(jnCharacter* c, double x, double turn, float h, Frame* frame)
{
    float rotations[12] = {0, 0, 0, 1, 0, 0, 0, 1, (float)sin(turn), 0, 0, (float)cos(turn)};
    jnTransform root = {.rotation = {0, 0, 0, 1}, .position = {(float)x, 0.0f, 0.3f * (float)x}};
    jnCharacterOutput out = Into(frame);
    jnCharacter_Step(c, &(jnCharacterInput){.h = h, .pose = {.rotations = rotations, .root = &root}}, &out);
}

static void DriversComeFirstAndAreSpreadOverAllPieces(void** state)
{
    (void)state;
    int soft = TUBES * TUBE - TUBES * SEGMENTS;
    assert_int_equal(asset->driverCount, 64);
    assert_int_equal(asset->springCount, soft);
    int pieces[TUBES] = {0};
    for (int d = 0; d < asset->driverCount; ++d) {
        int v = asset->order[d], ring = v % TUBE / SEGMENTS;
        assert_true(ring < RINGS - 1);
        pieces[v / TUBE]++;
    }
    assert_in_range(pieces[0], 24, 40);
    for (int i = 0; i < asset->springCount - asset->driverCount; ++i) {
        const jnAssetFollower* follower = &asset->followers[i];
        int piece = asset->order[asset->driverCount + i] / TUBE;
        float sum = 0;
        for (int k = 0; k < JN_MAX_DRIVERS; ++k) {
            sum += follower->weights[k];
            // Nobody follows a driver of another piece.
            assert_true(follower->weights[k] == 0 || asset->order[follower->drivers[k]] / TUBE == piece);
        }
        ASSERT_NEAR(sum, 1, 1e-6); // all are equally stiff
    }
}

static void DriversMoveAsAtFullDetail(void** state)
{
    (void)state;
    static Frame full, coarse;
    for (int timing = 0; timing < 2; ++timing) {
        jnCharacter* a = Create(jn_detailFull, (jnTiming)timing, jn_kernelAuto);
        jnCharacter* b = Create(jn_detailCoarse, (jnTiming)timing, jn_kernelAuto);
        double error = 0, offset = 0;
        for (int n = 0; n < 60; ++n) {
            double turn = 0.3 * sin(0.2 * n);
            Step(a, 0.1 * sin(0.3 * n), turn, H, &full);
            Step(b, 0.1 * sin(0.3 * n), turn, H, &coarse);
            assert_memory_equal(full.positions, coarse.positions, 12 * (size_t)asset->driverCount);
            assert_memory_equal(full.velocities, coarse.velocities, 12 * (size_t)asset->driverCount);
            size_t rigid = (size_t)(COUNT - asset->springCount);
            assert_memory_equal(
                full.positions + 3 * asset->springCount, coarse.positions + 3 * asset->springCount, 12 * rigid);
            float* skinned = coarse.velocities;
            float rotations[12] = {0, 0, 0, 1, 0, 0, 0, 1, (float)sin(turn), 0, 0, (float)cos(turn)};
            jnTransform root = {.rotation = {0, 0, 0, 1}, .position = {(float)(0.1 * sin(0.3 * n)), 0, 0}};
            root.position[2] = 0.3f * root.position[0];
            jnCharacter* other = Create(jn_detailFull, (jnTiming)timing, jn_kernelAuto);
            jnCharacter_Skin(other, &(jnPose){.rotations = rotations, .root = &root},
                &(jnCharacterOutput){.positions = skinned, .welded = true});
            jnDestroyCharacter(other);
            for (int i = 0; i < 3 * COUNT; ++i) {
                error += pow((double)(full.positions[i] - coarse.positions[i]), 2);
                offset += pow((double)(full.positions[i] - skinned[i]), 2);
            }
        }
        // The others follow within a tenth of what the springs do.
        assert_true(offset > 0);
        ASSERT_AT_MOST(sqrt(error / offset), 0.1);
        jnDestroyCharacter(a);
        jnDestroyCharacter(b);
    }
}

// Where all springs do the same, a weighted mean of them is that too: under a shaken root coarse is full, at the steps,
// between them, in a pause, and at the end.
static void AShakenRootMovesAllAlike(void** state)
{
    (void)state;
    static Frame full, coarse;
    for (int timing = 0; timing < 2; ++timing) {
        jnCharacter* a = Create(jn_detailFull, (jnTiming)timing, jn_kernelAuto);
        jnCharacter* b = Create(jn_detailCoarse, (jnTiming)timing, jn_kernelAuto);
        for (int n = 0; n < 30; ++n) {
            double x = 0.2 * sin(0.4 * n);
            float h = n == 11 ? 0.0f : n % 3 == 0 ? 2 * H : H;
            Step(a, x, 0, h, &full);
            Step(b, x, 0, h, &coarse);
            for (int i = 0; i < 3 * asset->springCount; ++i) {
                ASSERT_NEAR(coarse.positions[i], full.positions[i], 2e-6);
                ASSERT_NEAR(coarse.velocities[i], full.velocities[i], 2e-4);
            }
        }
        jnCharacterOutput intoFull = Into(&full), intoCoarse = Into(&coarse);
        jnCharacter_Evaluate(a, 0.4f, &intoFull);
        jnCharacter_Evaluate(b, 0.4f, &intoCoarse);
        for (int i = 0; i < 3 * asset->springCount; ++i) {
            ASSERT_NEAR(coarse.positions[i], full.positions[i], 2e-6);
            ASSERT_NEAR(coarse.velocities[i], full.velocities[i], 2e-4);
        }
        jnCharacter_Finish(a, &intoFull);
        jnCharacter_Finish(b, &intoCoarse);
        for (int i = 0; i < 3 * asset->springCount; ++i) {
            ASSERT_NEAR(coarse.positions[i], full.positions[i], 2e-6);
        }
        jnDestroyCharacter(a);
        jnDestroyCharacter(b);
    }
}

static void EveryKernelCarriesTheSameBytes(void** state)
{
    (void)state;
    static Frame first, other;
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        Frame* frame = kernel == jn_kernelBaseline ? &first : &other;
        jnCharacter* c = Create(jn_detailCoarse, jn_timingCausal, (jnKernel)kernel);
        for (int n = 0; n < 20; ++n) {
            Step(c, 0.1 * sin(0.3 * n), 0.3 * sin(0.2 * n), H, frame);
        }
        jnDestroyCharacter(c);
        assert_memory_equal(frame, &first, sizeof(first));
    }
}

static void SnapshotsMasksAndLoopsWorkOnDrivers(void** state)
{
    (void)state;
    static Frame once, again;
    jnCharacter* c = Create(jn_detailCoarse, jn_timingCausal, jn_kernelAuto);
    jnCharacter* full = Create(jn_detailFull, jn_timingCausal, jn_kernelAuto);
    Step(c, 0, 0, H, &once);
    Step(c, 0.1, 0.1, H, &once);
    size_t size = jnCharacter_SnapshotSize(c);
    void* snapshot = malloc(size);
    jnCharacter_Save(c, snapshot);
    Step(c, 0.2, 0.2, H, &once);
    assert_int_equal(jnCharacter_Restore(c, snapshot, size, NULL), jn_ok);
    Step(c, 0.2, 0.2, H, &again);
    assert_memory_equal(&once, &again, sizeof(once));
    assert_int_equal(jnCharacter_Restore(full, snapshot, size, NULL), jn_badData);
    // With all drivers at rest nobody is carried anywhere.
    uint8_t mask[COUNT] = {0};
    jnCharacter_SetMask(c, mask);
    Step(c, 0.3, 0.4, H, &once);
    jnCharacter_Skin(full, &(jnPose){.root = &(jnTransform){.rotation = {0, 0, 0, 1}}}, NULL);
    float rotations[12] = {0, 0, 0, 1, 0, 0, 0, 1, (float)sin(0.4), 0, 0, (float)cos(0.4)};
    jnTransform root = {.rotation = {0, 0, 0, 1}, .position = {0.3f, 0.0f, 0.3f * 0.3f}};
    jnCharacter_Skin(full, &(jnPose){.rotations = rotations, .root = &root},
        &(jnCharacterOutput){.positions = again.positions, .welded = true});
    for (int i = 0; i < 3 * COUNT; ++i) {
        ASSERT_NEAR(once.positions[i], again.positions[i], 1e-6);
    }
    jnCharacter_SetMask(c, NULL);
    jnPose poses[4] = {{.rotations = rotations}, {0}, {.rotations = rotations}, {0}};
    assert_int_equal(jnCharacter_SolveLoop(c, &(jnCharacterLoop){poses, 4, H}, NULL, NULL), jn_ok);
    free(snapshot);
    jnDestroyCharacter(c);
    jnDestroyCharacter(full);
}

// Followers and rigid vertices have no spring: an impulse on them is without effect, one on a driver is not.
static void AnImpulseAtCoarseDetailIsForDriversAlone(void** state)
{
    (void)state;
    static Frame plain, kicked;
    const float velocity[3] = {0, 3, 0};
    jnCharacter *a = Create(jn_detailCoarse, jn_timingCausal, jn_kernelAuto),
                *b = Create(jn_detailCoarse, jn_timingCausal, jn_kernelAuto);
    for (int n = 0; n < 4; ++n) {
        Step(a, 0.1, 0.1, H, &plain);
        for (int v = asset->driverCount; v < asset->vertexCount; ++v) {
            jnCharacter_AddImpulse(b, v, velocity);
        }
        Step(b, 0.1, 0.1, H, &kicked);
        assert_memory_equal(&plain, &kicked, sizeof(plain));
    }
    jnCharacter_AddImpulse(b, asset->driverCount - 1, velocity);
    Step(a, 0.1, 0.1, H, &plain);
    Step(b, 0.1, 0.1, H, &kicked);
    int last = 3 * (asset->driverCount - 1) + 1;
    assert_true(kicked.positions[last] > plain.positions[last] + 0.01f);
    jnDestroyCharacter(a);
    jnDestroyCharacter(b);
}

static void CoarseDetailNeedsDriversInTheAsset(void** state)
{
    (void)state;
    jnaAssetDef def = MakeDef(0);
    void* plain;
    size_t size;
    jnAsset* other;
    jnError error;
    assert_int_equal(jnaEncodeAsset(&def, &plain, &size, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = plain, .size = size}, &other, NULL), jn_ok);
    jnCharacterDef wish = jnDefaultCharacterDef(other);
    jnCharacter* character;
    wish.detail = jn_detailCoarse;
    assert_int_equal(jnCreateCharacter(&wish, &character, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "--lod"));
    jnDestroyAsset(other);
    free(plain);
}

static void SharesThatCannotBeAreRefused(void** state)
{
    (void)state;
    static const double shares[] = {-0.1, 0.51, 2, (double)NAN};
    void* none;
    size_t size;
    jnError error;
    for (int i = 0; i < 4; ++i) {
        jnaAssetDef def = MakeDef(shares[i]);
        assert_int_equal(jnaEncodeAsset(&def, &none, &size, &error), jn_badArgument);
        assert_non_null(strstr(error.message, "at most 0.5"));
    }
    jnaAssetDef def = MakeDef(0.25);
    def.rigidHertz = 1; // no spring is left
    assert_int_equal(jnaEncodeAsset(&def, &none, &size, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "0 springs"));
}

// Damages one number of the section under a right checksum.
static void ExpectRefusal(size_t offset, const void* value, const char* words)
{
    jnError error = {0};
    jnAsset* damaged;
    size_t size = asset->byteCount;
    char* copy = aligned_alloc(JN_ALIGNMENT, jnAlignUp(size));
    memcpy(copy, bytes, size);
    memcpy(copy + ((const char*)asset->followers - (const char*)bytes) + offset, value, 4);
    uint64_t checksum = jnAssetChecksum(copy, size);
    memcpy(copy + offsetof(jnAssetHeader, checksum), &checksum, sizeof(checksum));
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &damaged, &error), jn_badData);
    if (strstr(error.message, words) == NULL) {
        fail_msg("%s", error.message);
    }
    free(copy);
}

static void DamagedFollowersAreRefused(void** state)
{
    (void)state;
    int32_t beyond = asset->driverCount, negative = -1;
    float nan = (float)NAN, large = 17;
    ExpectRefusal(0, &beyond, "section FOLW: vertex 64 hangs on driver 64");
    ExpectRefusal(4, &negative, "driver -1");
    ExpectRefusal(16, &nan, "weight nan");
    ExpectRefusal(20, &large, "weight 17");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DriversComeFirstAndAreSpreadOverAllPieces),
        cmocka_unit_test(DriversMoveAsAtFullDetail),
        cmocka_unit_test(AShakenRootMovesAllAlike),
        cmocka_unit_test(EveryKernelCarriesTheSameBytes),
        cmocka_unit_test(SnapshotsMasksAndLoopsWorkOnDrivers),
        cmocka_unit_test(AnImpulseAtCoarseDetailIsForDriversAlone),
        cmocka_unit_test(CoarseDetailNeedsDriversInTheAsset),
        cmocka_unit_test(SharesThatCannotBeAreRefused),
        cmocka_unit_test(DamagedFollowersAreRefused),
    };
    return cmocka_run_group_tests(tests, MakeTubes, FreeTubes);
}
