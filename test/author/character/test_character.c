// The runtime's character on the built-in figure: skinning against the reference, the step against its parts.
#include "helpers/support.h"

#include "asset/asset_writer.h"
#include "character/figure.h"
#include "character/hand_springs.h"
#include "jounce/jounce.h"

enum { FRAMES = 12 };
#define H (1.0f / 30.0f)

static jnaCharacter figure;
static jnaClip boxing;
static void* bytes[2];
static jnAsset* soft; // all vertices have springs
static jnAsset* half; // the upper body is rigid

static jnAsset* Encode(const float* springs, double rigidHertz, void** file)
{
    jnaAssetDef def = jnaDefaultAssetDef();
    size_t length;
    jnAsset* asset = NULL;
    jnError error = {0};
    def.character = &figure;
    def.clips = &boxing;
    def.clipCount = 1;
    def.stiffness = springs;
    def.damping = springs + figure.vertexCount;
    def.rigidHertz = rigidHertz;
    if (jnaEncodeAsset(&def, file, &length, &error) != jn_ok ||
        jnLoadAsset(&(jnAssetDef){.bytes = *file, .size = length}, &asset, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return asset;
}

static int MakeAssets(void** state)
{
    (void)state;
    if (jnaCreateFigure(&figure, NULL) != jn_ok ||
        jnaCreateFigureClip(&figure, jna_shadowBoxing, 30, &boxing, NULL) != jn_ok) {
        return -1;
    }
    float* springs = malloc(2 * sizeof(float) * (size_t)figure.vertexCount);
    jnaHandSprings hand = jnaDefaultHandSprings();
    jnaSetHandSprings(&figure, &hand, springs, springs + figure.vertexCount, NULL);
    soft = Encode(springs, 0, &bytes[0]);
    for (int v = 0; v < figure.vertexCount; ++v) {
        springs[v] = figure.positions[3 * v + 1] > 1.0f ? 1e6f : springs[v];
    }
    half = Encode(springs, 50, &bytes[1]);
    free(springs);
    return 0;
}

static int FreeAssets(void** state)
{
    (void)state;
    jnDestroyAsset(soft);
    jnDestroyAsset(half);
    free(bytes[0]);
    free(bytes[1]);
    jnaDestroyClip(&boxing);
    jnaDestroyCharacter(&figure);
    return 0;
}

static jnPose PoseOf(const jnAsset* asset, int frame)
{
    jnAssetClip clip = jnAsset_Clip(asset, 0);
    size_t at = (size_t)(frame % clip.frameCount) * (size_t)asset->jointCount;
    return (jnPose){.rotations = clip.rotations + 4 * at, .translations = clip.translations + 3 * at};
}

static jnCharacter* Create(const jnAsset* asset, jnTiming timing, jnKernel kernel)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.timing = timing;
    def.kernel = kernel;
    jnCharacter* character;
    assert_int_equal(jnCreateCharacter(&def, &character, NULL), jn_ok);
    return character;
}

static float* Vectors(int count)
{
    float* vectors = calloc((size_t)count, 3 * sizeof(float));
    assert_non_null(vectors);
    return vectors;
}

static void StepTo(jnCharacter* c, int frame, const jnCharacterOutput* output)
{
    jnCharacter_Step(c, &(jnCharacterInput){.h = H, .pose = PoseOf(jnCharacter_Asset(c), frame)}, output);
}

static void SkinningIsTheReference(void** state)
{
    (void)state;
    jnCharacter* c = Create(soft, jn_timingCausal, jn_kernelAuto);
    float* expected = Vectors(figure.vertexCount);
    float* actual = Vectors(figure.vertexCount);
    float matrices[64 * 12];
    for (int frame = 0; frame < boxing.frameCount; frame += 10) {
        jnaPoseMatrices(&figure, &boxing, frame, matrices);
        jnaSkin(&figure, matrices, expected);
        jnPose pose = PoseOf(soft, frame);
        jnCharacter_Skin(c, &pose, &(jnCharacterOutput){.positions = actual, .welded = true});
        for (int i = 0; i < 3 * figure.vertexCount; ++i) {
            ASSERT_NEAR(actual[i], expected[i], 2e-6);
        }
        jnCharacter_Skin(c, &(jnPose){.matrices = matrices}, &(jnCharacterOutput){.positions = actual, .welded = true});
        for (int i = 0; i < 3 * figure.vertexCount; ++i) {
            ASSERT_NEAR(actual[i], expected[i], 2e-6);
        }
    }
    free(expected);
    free(actual);
    jnDestroyCharacter(c);
}

// The step is skinning, then springs: byte for byte what the two give one after the other, in both timings, with a
// pause and two teleports on the way.
static void AStepIsSkinningThenSprings(void** state)
{
    (void)state;
    int count = soft->vertexCount;
    float *targets = Vectors(count), *expected = Vectors(2 * count), *actual = Vectors(2 * count);
    for (int timing = 0; timing < 2; ++timing) {
        jnCharacter* c = Create(soft, (jnTiming)timing, jn_kernelAuto);
        jnCharacter* skin = Create(soft, (jnTiming)timing, jn_kernelAuto);
        jnSpringsDef def = jnDefaultSpringsDef();
        def.count = count;
        def.stiffness = soft->stiffness;
        def.damping = soft->damping;
        def.timing = (jnTiming)timing;
        jnSprings* springs;
        assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
        for (int frame = 0; frame < FRAMES; ++frame) {
            jnTeleport teleport = frame == 7 ? jn_teleportKeep : frame == 9 ? jn_teleportReset : jn_teleportNone;
            jnCharacterInput input = {.h = frame == 5 ? 0 : H, .pose = PoseOf(soft, 3 * frame), .teleport = teleport};
            jnTransform root = {.position = {(float)frame, 0, 0}, .rotation = {0, 0, 0, 1}};
            input.pose.root = &root;
            jnCharacter_Step(c, &input,
                &(jnCharacterOutput){
                    .positions = actual, .velocities = frame % 2 == 0 ? actual + 3 * count : NULL, .welded = true});
            jnCharacter_Skin(skin, &input.pose, &(jnCharacterOutput){.positions = targets, .welded = true});
            jnTransform hips = {.rotation = {0, 0, 0, 1}};
            const float* q = input.pose.rotations; // the figure's first joint has the root as its parent
            memcpy(hips.rotation, q, sizeof(hips.rotation));
            for (int i = 0; i < 3; ++i) {
                hips.position[i] = (float)((double)input.pose.translations[i] + (double)root.position[i]);
            }
            jnSprings_Step(springs,
                &(jnSpringsInput){
                    .h = input.h, .targets = targets, .root = input.h > 0 ? &hips : NULL, .teleport = teleport},
                &(jnSpringsOutput){.positions = expected, .velocities = frame % 2 == 0 ? expected + 3 * count : NULL});
            double tolerance = frame >= 7 && frame < 9 ? 1e-5 : 0; // the hips' rotation took another way
            for (int i = 0; i < (frame % 2 == 0 ? 6 : 3) * count; ++i) {
                ASSERT_NEAR(actual[i], expected[i], i < 3 * count ? tolerance : 100 * tolerance);
            }
        }
        jnDestroySprings(springs);
        jnDestroyCharacter(c);
        jnDestroyCharacter(skin);
    }
    free(targets);
    free(expected);
    free(actual);
}

static void EveryKernelGivesTheSameBytes(void** state)
{
    (void)state;
    int files = half->fileVertexCount;
    float *first = Vectors(3 * files), *other = Vectors(3 * files);
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        float* out = kernel == jn_kernelBaseline ? first : other;
        jnCharacter* c = Create(half, jn_timingCausal, (jnKernel)kernel);
        for (int frame = 0; frame < FRAMES; ++frame) {
            StepTo(c, frame,
                &(jnCharacterOutput){
                    .positions = out, .velocities = out + 3 * files, .normals = out + 6 * (size_t)files});
        }
        assert_memory_equal(out, first, 9 * sizeof(float) * (size_t)files);
        jnDestroyCharacter(c);
    }
    free(first);
    free(other);
}

static void OutputIsInTheFilesOrderAndStrides(void** state)
{
    (void)state;
    int files = soft->fileVertexCount;
    jnCharacter *c = Create(soft, jn_timingCausal, jn_kernelAuto), *d = Create(soft, jn_timingCausal, jn_kernelAuto);
    float *welded = Vectors(2 * soft->vertexCount), *strided = Vectors(3 * files);
    for (int frame = 0; frame < 5; ++frame) {
        StepTo(c, frame,
            &(jnCharacterOutput){.positions = welded, .normals = welded + 3 * soft->vertexCount, .welded = true});
        StepTo(d, frame,
            &(jnCharacterOutput){
                .positions = strided, .positionStride = 32, .normals = strided + 4, .normalStride = 32});
    }
    for (int f = 0; f < files; ++f) {
        assert_memory_equal(strided + 8 * f, welded + 3 * soft->weld[f], 12);
        assert_memory_equal(strided + 8 * f + 4, welded + 3 * (soft->vertexCount + soft->fileNormals[f]), 12);
    }
    free(welded);
    free(strided);
    jnDestroyCharacter(c);
    jnDestroyCharacter(d);
}

// Where a spring is rigid the vertex is on its target, exactly, and its velocity is the target's.
static void VerticesWithoutSpringsStayOnTheirTargets(void** state)
{
    (void)state;
    int count = half->vertexCount;
    for (int timing = 0; timing < 2; ++timing) {
        jnCharacter *c = Create(half, (jnTiming)timing, jn_kernelAuto), *skin = Create(half, 1, jn_kernelAuto);
        float *x = Vectors(2 * count), *target = Vectors(count), *before = Vectors(count), *oldest = Vectors(count);
        for (int frame = 0; frame < FRAMES; ++frame) {
            StepTo(c, frame, &(jnCharacterOutput){.positions = x, .velocities = x + 3 * count, .welded = true});
            memcpy(oldest, before, 12 * (size_t)count);
            memcpy(before, target, 12 * (size_t)count);
            jnPose pose = PoseOf(half, frame);
            jnCharacter_Skin(skin, &pose, &(jnCharacterOutput){.positions = target, .welded = true});
            bool lags = timing == jn_timingExact && frame > 0;
            for (int i = 3 * half->springCount; i < 3 * count; ++i) {
                ASSERT_NEAR(x[i], lags ? before[i] : target[i], 0);
                if (frame > 2) {
                    float velocity = lags ? (target[i] - oldest[i]) / (2 * H) : (target[i] - before[i]) / H;
                    ASSERT_NEAR(x[3 * count + i], velocity, 1e-4);
                }
            }
        }
        jnCharacter_Finish(c, &(jnCharacterOutput){.positions = x, .welded = true});
        assert_memory_equal(
            x + 3 * half->springCount, target + 3 * half->springCount, 12 * (size_t)(count - half->springCount));
        jnCharacter_Settle(c, 100, &(jnCharacterOutput){.positions = x, .welded = true});
        for (int i = 0; i < 3 * count; ++i) {
            ASSERT_NEAR(x[i], target[i], 1e-6);
        }
        free(x);
        free(target);
        free(before);
        free(oldest);
        jnDestroyCharacter(c);
        jnDestroyCharacter(skin);
    }
}

static void AMaskRestsItsBlocksAndLeavesTheOthersAlone(void** state)
{
    (void)state;
    int count = soft->vertexCount;
    uint8_t* mask = calloc(1, (size_t)count);
    memset(mask, 1, 3200);
    jnCharacter *all = Create(soft, 1, 0), *some = Create(soft, 1, 0), *skin = Create(soft, 1, 0);
    float *x = Vectors(count), *y = Vectors(2 * count), *target = Vectors(count);
    jnCharacter_SetMask(some, mask);
    for (int frame = 0; frame < FRAMES; ++frame) {
        jnPose pose = PoseOf(soft, frame);
        float* velocities = frame % 3 == 0 ? y + 3 * count : NULL; // another way through the springs
        StepTo(all, frame, &(jnCharacterOutput){.positions = x, .welded = true});
        StepTo(some, frame, &(jnCharacterOutput){.positions = y, .velocities = velocities, .welded = true});
        jnCharacter_Skin(skin, &pose, &(jnCharacterOutput){.positions = target, .welded = true});
        assert_memory_equal(x, y, 12 * 3200);
        assert_memory_equal(y + 3 * 3200, target + 3 * 3200, 12 * (size_t)(count - 3200));
    }
    // Awake again, the springs start from their targets and are soon where the others are.
    jnCharacter_SetMask(some, NULL);
    for (int frame = FRAMES; frame < FRAMES + 60; ++frame) {
        StepTo(all, frame, &(jnCharacterOutput){.positions = x, .welded = true});
        StepTo(some, frame, &(jnCharacterOutput){.positions = y, .welded = true});
    }
    for (int i = 0; i < 3 * count; ++i) {
        ASSERT_NEAR(x[i], y[i], 1e-4);
    }
    free(mask);
    free(x);
    free(y);
    free(target);
    jnDestroyCharacter(all);
    jnDestroyCharacter(some);
    jnDestroyCharacter(skin);
}

static void ASnapshotBringsTheSameFramesBack(void** state)
{
    (void)state;
    int files = half->fileVertexCount;
    jnCharacter* c = Create(half, jn_timingExact, 0);
    float *x = Vectors(files), *y = Vectors(files);
    for (int frame = 0; frame < 6; ++frame) {
        StepTo(c, frame, NULL);
    }
    size_t length = jnCharacter_SnapshotSize(c);
    void* snapshot = malloc(length);
    jnCharacter_Save(c, snapshot);
    StepTo(c, 6, NULL);
    StepTo(c, 7, &(jnCharacterOutput){.positions = x});
    assert_int_equal(jnCharacter_Restore(c, snapshot, length, NULL), jn_ok);
    StepTo(c, 6, NULL);
    StepTo(c, 7, &(jnCharacterOutput){.positions = y});
    assert_memory_equal(x, y, 12 * (size_t)files);
    assert_int_equal(jnCharacter_Restore(c, snapshot, length - 1, NULL), jn_badData);
    free(snapshot);
    free(x);
    free(y);
    jnDestroyCharacter(c);
}

static void ALoopRepeatsExactly(void** state)
{
    (void)state;
    int count = half->vertexCount;
    jnCharacter* c = Create(half, jn_timingCausal, 0);
    jnPose poses[20];
    for (int n = 0; n < 20; ++n) {
        poses[n] = PoseOf(half, 40 + (n < 10 ? n : 20 - n)); // there and back
    }
    int unsolved = -1;
    assert_int_equal(
        jnCharacter_SolveLoop(c, &(jnCharacterLoop){.poses = poses, .frameCount = 20, .h = H}, &unsolved, NULL), jn_ok);
    assert_int_equal(unsolved, 0);
    float *x = Vectors(count), *y = Vectors(count);
    for (int n = 1; n <= 21; ++n) {
        float* out = n == 1 ? x : y;
        jnCharacter_Step(c, &(jnCharacterInput){.h = H, .pose = poses[n % 20]},
            &(jnCharacterOutput){.positions = out, .welded = true});
    }
    for (int i = 0; i < 3 * count; ++i) {
        ASSERT_NEAR(x[i], y[i], 2e-6);
    }
    assert_int_equal(jnCharacter_SolveLoop(c, &(jnCharacterLoop){.poses = poses, .frameCount = 2, .h = H}, NULL, NULL),
        jn_badArgument);
    free(x);
    free(y);
    jnDestroyCharacter(c);
}

static void BetweenSamplesTheEndsMeetTheSteps(void** state)
{
    (void)state;
    int count = half->vertexCount;
    for (int timing = 0; timing < 2; ++timing) {
        jnCharacter* c = Create(half, (jnTiming)timing, 0);
        float *before = Vectors(count), *now = Vectors(count), *x = Vectors(count);
        for (int frame = 0; frame < FRAMES; ++frame) {
            memcpy(before, now, 12 * (size_t)count);
            StepTo(c, frame, &(jnCharacterOutput){.positions = now, .welded = true});
        }
        jnCharacter_Evaluate(c, 0, &(jnCharacterOutput){.positions = x, .welded = true});
        for (int i = 0; i < 3 * count; ++i) {
            ASSERT_NEAR(x[i], before[i], 2e-6);
        }
        jnCharacter_Evaluate(c, 1, &(jnCharacterOutput){.positions = x, .welded = true});
        for (int i = 0; i < 3 * count; ++i) {
            ASSERT_NEAR(x[i], now[i], 2e-6);
        }
        free(before);
        free(now);
        free(x);
        jnDestroyCharacter(c);
    }
}

// A root that the springs are not to feel moves the whole character and nothing else.
static void InertiaLooksAtTheFirstJoint(void** state)
{
    (void)state;
    int count = soft->vertexCount;
    float *x = Vectors(count), *target = Vectors(count);
    for (int felt = 0; felt < 2; ++felt) {
        jnCharacter *c = Create(soft, jn_timingCausal, 0), *skin = Create(soft, jn_timingCausal, 0);
        jnSprings_SetInertia(jnCharacter_Springs(c), (float)felt, (float)felt);
        double farthest = 0;
        for (int frame = 0; frame < FRAMES; ++frame) {
            float sine = 0.3f * sinf(0.8f * (float)frame);
            jnTransform root = {
                .position = {sinf((float)frame), 0, 0}, .rotation = {0, sine, 0, sqrtf(1 - sine * sine)}};
            jnPose pose = PoseOf(soft, 40);
            pose.root = &root;
            jnCharacter_Step(
                c, &(jnCharacterInput){.h = H, .pose = pose}, &(jnCharacterOutput){.positions = x, .welded = true});
            jnCharacter_Skin(skin, &pose, &(jnCharacterOutput){.positions = target, .welded = true});
            for (int i = 0; i < 3 * count; ++i) {
                farthest = fmax(farthest, fabs((double)x[i] - (double)target[i]));
            }
        }
        assert_true(felt ? farthest > 0.1 : farthest < 1e-4);
        jnDestroyCharacter(c);
        jnDestroyCharacter(skin);
    }
    free(x);
    free(target);
}

// Vertices without springs jump with a teleport and a pause, and their velocity does not notice.
// A pause is a step of no time, of next to none, or of what is no time at all.
static void WalkWithAPauseOf(float pause)
{
    int count = half->vertexCount;
    jnCharacter *c = Create(half, jn_timingCausal, 0), *skin = Create(half, jn_timingCausal, 0);
    float *x = Vectors(2 * count), *target = Vectors(count);
    for (int frame = 0; frame < FRAMES; ++frame) {
        // It walks along x at 3 m/s, and is put elsewhere twice.
        float place =
            3 * H * (float)(frame - (frame >= 8 ? 1 : 0)) + (frame >= 5 ? 20.0f : 0) + (frame >= 8 ? 7.0f : 0);
        jnTransform root = {.position = {place, 0, 0}, .rotation = {0, 0, 0, 1}};
        jnPose pose = PoseOf(half, 40);
        pose.root = &root;
        jnCharacter_Step(c,
            &(jnCharacterInput){
                .h = frame == 8 ? pause : H, .pose = pose, .teleport = frame == 5 ? jn_teleportKeep : jn_teleportNone},
            &(jnCharacterOutput){.positions = x, .velocities = x + 3 * count, .welded = true});
        jnCharacter_Skin(skin, &pose, &(jnCharacterOutput){.positions = target, .welded = true});
        for (int i = 3 * half->springCount; i < 3 * count; ++i) {
            ASSERT_NEAR(x[i], target[i], 1e-5);
            ASSERT_NEAR(x[3 * count + i], frame > 0 && i % 3 == 0 ? 3 : 0, 1e-3);
        }
    }
    free(x);
    free(target);
    jnDestroyCharacter(c);
    jnDestroyCharacter(skin);
}

static void TeleportsAndPausesAreNotFeltByVerticesWithoutSprings(void** state)
{
    (void)state;
    WalkWithAPauseOf(0);
    WalkWithAPauseOf(1e-10f);
    WalkWithAPauseOf(NAN);
}

static void APoseThatIsNotFiniteIsTheLastGoodOne(void** state)
{
    (void)state;
    int count = half->vertexCount;
    jnCharacter *c = Create(half, 1, 0), *d = Create(half, 1, 0);
    float *x = Vectors(count), *y = Vectors(count), rotations[64 * 4];
    for (int i = 0; i < 64 * 4; ++i) {
        rotations[i] = NAN;
    }
    for (int frame = 0; frame < 4; ++frame) {
        bool bad = frame % 2 == 0; // the very first too: the rest pose stands in for it
        jnPose pose = frame == 0 ? (jnPose){0} : PoseOf(half, frame - (bad ? 1 : 0));
        jnCharacter_Step(
            d, &(jnCharacterInput){.h = H, .pose = pose}, &(jnCharacterOutput){.positions = y, .welded = true});
        pose.rotations = bad ? rotations : pose.rotations;
        jnCharacter_Step(
            c, &(jnCharacterInput){.h = H, .pose = pose}, &(jnCharacterOutput){.positions = x, .welded = true});
        assert_memory_equal(x, y, 12 * (size_t)count);
    }
    assert_int_equal(jnCharacter_BadPoseCount(c), 2);
    free(x);
    free(y);
    jnDestroyCharacter(c);
    jnDestroyCharacter(d);
}

static void* Refuse(size_t length, void* user)
{
    (void)length;
    ++*(int*)user;
    return NULL;
}

static void MemoryIsOneBlockOrTheCallers(void** state)
{
    (void)state;
    int asked = 0;
    jnCharacter* c;
    jnCharacterDef def = jnDefaultCharacterDef(half);
    def.allocator = (jnAllocator){.allocate = Refuse, .user = &asked};
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_outOfMemory);
    assert_int_equal(asked, 1);
    def.memorySize = jnCharacter_ByteCount(&def);
    def.memory = aligned_alloc(64, (def.memorySize + 63) / 64 * 64);
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    StepTo(c, 0, NULL);
    StepTo(c, 1, NULL);
    jnDestroyCharacter(c);
    assert_int_equal(asked, 1);
    def.memorySize--;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_badArgument);
    free(def.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(SkinningIsTheReference),
        cmocka_unit_test(AStepIsSkinningThenSprings),
        cmocka_unit_test(EveryKernelGivesTheSameBytes),
        cmocka_unit_test(OutputIsInTheFilesOrderAndStrides),
        cmocka_unit_test(VerticesWithoutSpringsStayOnTheirTargets),
        cmocka_unit_test(AMaskRestsItsBlocksAndLeavesTheOthersAlone),
        cmocka_unit_test(ASnapshotBringsTheSameFramesBack),
        cmocka_unit_test(ALoopRepeatsExactly),
        cmocka_unit_test(BetweenSamplesTheEndsMeetTheSteps),
        cmocka_unit_test(InertiaLooksAtTheFirstJoint),
        cmocka_unit_test(TeleportsAndPausesAreNotFeltByVerticesWithoutSprings),
        cmocka_unit_test(APoseThatIsNotFiniteIsTheLastGoodOne),
        cmocka_unit_test(MemoryIsOneBlockOrTheCallers),
    };
    return cmocka_run_group_tests(tests, MakeAssets, FreeAssets);
}
