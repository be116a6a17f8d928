// Limits of the modes' amplitudes: how they are found, and that nothing flies off, whatever moves the character.
#include "helpers/modal_scene.h"

#include "pipeline/offsets.h"

enum { MODES = 14 };

static double ShapeAt(const jnaModes* m, int mode, int vertex)
{
    const float* u = m->shapes + 3 * ((size_t)mode * (size_t)m->vertexCount + (size_t)vertex);
    return sqrt((double)(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
}

// Largest sum over modes of cap times shape: what no vertex can go beyond.
static double LargestSum(const jnaModes* m)
{
    double most = 0;
    for (int v = 0; v < m->vertexCount; ++v) {
        double sum = 0;
        for (int k = 0; k < m->modeCount; ++k) {
            sum += m->caps[k] * ShapeAt(m, k, v);
        }
        most = fmax(most, sum);
    }
    return most;
}

// Largest distance of vertices from a rigid motion's targets; NaN counts as infinite.
static double LargestOffset(const float* positions, const float* skinned, int vertices)
{
    double most = 0;
    for (int i = 0; i < vertices; ++i) {
        double square = 0;
        for (int a = 0; a < 3; ++a) {
            double away = (double)positions[3 * i + a] - (double)skinned[3 * i + a];
            square += away * away;
        }
        most = square >= 0 && square < 1e30 ? fmax(most, sqrt(square)) : HUGE_VAL;
    }
    return most;
}

// Thrown about by a metre and half a turn a frame, with steps of any length, kicked and settled: the largest offset.
static double ThrowAbout(const Scene* s, jnTiming timing, float capScale)
{
    static const float steps[] = {1.0f / 30, 1e-4f, 0.5f, 1.0f / 240, 0, 1.0f / 60, 3, 1e-6f};
    jnCharacter* c = MustMake(s, timing, jn_kernelAuto);
    float *out = Positions(s), *skinned = Positions(s), *velocities = Positions(s);
    Random random = {11};
    double most = 0;
    jnTransform root = {.rotation = {0, 0, 0, 1}}, before = root;
    jnCharacter_ScaleModeCaps(c, capScale);
    for (int n = 0; n < 400; ++n) {
        double angle = Uniform(&random, -1.6, 1.6), x = Uniform(&random, -1, 1), y = Uniform(&random, -1, 1);
        before = root;
        root = (jnTransform){.position = {(float)x, (float)y, (float)Uniform(&random, -1, 1)},
            .rotation = {0, (float)sin(angle), 0, (float)cos(angle)}};
        jnCharacter_Step(c, &(jnCharacterInput){.h = steps[n % 8], .pose = {.root = &root}},
            &(jnCharacterOutput){.positions = out, .velocities = n % 3 == 0 ? velocities : NULL});
        // A pause shows what was there. Exact timing shows the pose before this one.
        jnCharacter_Skin(c, &(jnPose){.root = timing == jn_timingExact ? &before : &root},
            &(jnCharacterOutput){.positions = skinned});
        if (n > 1 && steps[n % 8] > 0 && (timing == jn_timingCausal || steps[(n + 7) % 8] > 0)) {
            most = fmax(most, LargestOffset(out, skinned, s->vertices));
        }
        if (n % 50 == 17) {
            jnCharacter_AddImpulseSphere(c, root.position, 5, (float[3]){1e4f, -1e5f, 1e3f});
        }
    }
    jnDestroyCharacter(c);
    free(out);
    free(skinned);
    free(velocities);
    return most;
}

static void NothingFliesOff(void** state)
{
    (void)state;
    amplitudeCap = 0.02;
    Scene s = MakeScene(5, MODES);
    amplitudeCap = 0;
    double bound = LargestSum(&s.modes);
    for (int timing = 0; timing < 2; ++timing) {
        double free = ThrowAbout(&s, (jnTiming)timing, 0), capped = ThrowAbout(&s, (jnTiming)timing, 1);
        double half = ThrowAbout(&s, (jnTiming)timing, 0.5f);
        print_message("thrown about: %.3g m without caps, %.3g m with, %.3g m with half; at most %.3g m\n", free,
            capped, half, bound);
        assert_true(free > 10 * bound);
        ASSERT_AT_MOST(capped, bound * 1.001);
        ASSERT_AT_MOST(half, 0.5 * bound * 1.001);
        assert_true(capped > 0.2 * bound);
    }
    DestroyScene(&s);
}

// Spun faster than it swings, flesh is flung out exponentially; once the spin ends it is back soon.
static void FleshComesBackFromASpin(void** state)
{
    (void)state;
    amplitudeCap = 0.02;
    Scene s = MakeScene(5, MODES);
    amplitudeCap = 0;
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    float *out = Positions(&s), *skinned = Positions(&s);
    double most = 0, bound = LargestSum(&s.modes);
    for (int n = 0; n < 600; ++n) { // eight seconds at 80 rad/s
        double half = 0.5 * fmin(n, 480) * 80 / 60;
        jnTransform root = {.rotation = {0, (float)sin(half), 0, (float)cos(half)}};
        jnCharacter_Step(
            c, &(jnCharacterInput){.h = 1.0f / 60, .pose = {.root = &root}}, &(jnCharacterOutput){.positions = out});
        jnCharacter_Skin(c, &(jnPose){.root = &root}, &(jnCharacterOutput){.positions = skinned});
        most = fmax(most, LargestOffset(out, skinned, s.vertices));
    }
    double left = LargestOffset(out, skinned, s.vertices);
    print_message("spun: %.3g m, %.3g m two seconds later\n", most, left);
    ASSERT_AT_MOST(most, 1.001 * bound);
    assert_true(most > 0.2 * bound);
    ASSERT_AT_MOST(left, 0.05 * bound);
    jnDestroyCharacter(c);
    free(out);
    free(skinned);
    DestroyScene(&s);
}

// Caps that nothing comes near do not change anything but the rounding of the targets, and neither do caps that are
// switched off.
static void SmallMotionIsUntouched(void** state)
{
    (void)state;
    float* ends[3];
    for (int kind = 0; kind < 3; ++kind) {
        amplitudeCap = kind == 0 ? 0 : kind == 1 ? 5 : 0.02;
        Scene s = MakeScene(5, MODES);
        amplitudeCap = 0;
        assert_int_equal(s.asset->modes->modes[0].cap > 0.0f, kind > 0);
        jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
        jnCharacter_ScaleModeCaps(c, kind == 2 ? 0 : 1);
        ends[kind] = Positions(&s);
        for (int n = 0; n < 30; ++n) {
            StepTo(c, CORE_BOXING, n * CORE_DT, FRAME, ends[kind], NULL);
        }
        if (kind > 0) {
            ASSERT_AT_MOST(FarthestOf(ends[0], ends[kind], s.vertices), 2e-4);
        }
        jnDestroyCharacter(c);
        DestroyScene(&s);
    }
    for (int kind = 0; kind < 3; ++kind) {
        free(ends[kind]);
    }
}

// Kernels, both ways out, snapshots and loops, while the caps act.
static void ContractsHoldUnderCaps(void** state)
{
    (void)state;
    enum { FRAMES = 24 };
    amplitudeCap = 0.02;
    Scene s = MakeScene(5, MODES);
    amplitudeCap = 0;
    size_t bytes = 3 * (size_t)s.vertices * sizeof(float);
    float *a = Positions(&s), *b = Positions(&s), *v = Positions(&s), *w = Positions(&s);
    for (int kernel = jn_kernelBaseline; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        jnCharacter* plain = MustMake(&s, jn_timingCausal, jn_kernelBaseline);
        jnCharacter* wide = MustMake(&s, jn_timingCausal, (jnKernel)kernel);
        void* snapshot = malloc(jnCharacter_SnapshotSize(wide));
        for (int n = 0; n < 30; ++n) {
            StepTo(plain, CORE_BOXING, n * CORE_DT, FRAME, a, n % 3 == 2 ? v : NULL);
            StepTo(wide, CORE_BOXING, n * CORE_DT, FRAME, b, n % 3 == 2 ? w : NULL);
            assert_memory_equal(a, b, bytes);
            assert_memory_equal(v, w, bytes);
            if (n == 20) {
                jnCharacter_Save(wide, snapshot);
            }
        }
        jnCharacter_Evaluate(plain, 1, &(jnCharacterOutput){.positions = b, .velocities = v});
        ASSERT_AT_MOST(FarthestOf(a, b, s.vertices), 2e-7);
        assert_int_equal(jnCharacter_Restore(wide, snapshot, jnCharacter_SnapshotSize(wide), NULL), jn_ok);
        for (int n = 21; n < 30; ++n) {
            StepTo(wide, CORE_BOXING, n * CORE_DT, FRAME, b, NULL);
        }
        ASSERT_AT_MOST(FarthestOf(a, b, s.vertices), 2e-7); // the last frame of the first run had no velocities either
        jnDestroyCharacter(plain);
        jnDestroyCharacter(wide);
        free(snapshot);
    }
    jnTransform roots[FRAMES];
    jnPose poses[FRAMES];
    for (int n = 0; n < FRAMES; ++n) {
        double phase = 2 * 3.14159265358979 * n / FRAMES, half = 0.4 * sin(phase);
        roots[n] = (jnTransform){.position = {(float)(0.1 * cos(phase)), (float)(0.1 * sin(2 * phase)), 0},
            .rotation = {0, (float)sin(half), 0, (float)cos(half)}};
        poses[n] = (jnPose){.root = &roots[n]};
    }
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    int unsolved = -1;
    assert_int_equal(jnCharacter_SolveLoop(c, &(jnCharacterLoop){poses, FRAMES, FRAME}, &unsolved, NULL), jn_ok);
    assert_int_equal(unsolved, 0);
    for (int n = 1; n <= FRAMES / 2 + FRAMES; ++n) {
        jnCharacter_Step(c, &(jnCharacterInput){.h = FRAME, .pose = poses[n % FRAMES]},
            &(jnCharacterOutput){.positions = n == FRAMES / 2 ? a : b});
    }
    ASSERT_AT_MOST(FarthestOf(a, b, s.vertices), 1e-5);
    jnDestroyCharacter(c);
    free(a);
    free(b);
    free(v);
    free(w);
    DestroyScene(&s);
}

// Where the caps bend the motion, velocities are still what positions do.
static void VelocitiesAreRightUnderCaps(void** state)
{
    (void)state;
    amplitudeCap = 0.006;
    Scene s = MakeScene(5, MODES);
    amplitudeCap = 0;
    jnCharacter* c = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    float *x[2] = {Positions(&s), Positions(&s)}, *v = Positions(&s);
    double worst = 0, most = 0;
    for (int n = 0; n < 30; ++n) {
        StepTo(c, CORE_BOXING, n * CORE_DT, FRAME, x[0], NULL);
        if (n < 4) {
            continue;
        }
        jnCharacter_Evaluate(c, 0.49f, &(jnCharacterOutput){.positions = x[0]});
        jnCharacter_Evaluate(c, 0.5f, &(jnCharacterOutput){.positions = x[1], .velocities = v});
        jnCharacter_Evaluate(c, 0.51f, &(jnCharacterOutput){.positions = x[1]});
        for (int i = 0; i < 3 * s.vertices; ++i) {
            double slope = ((double)x[1][i] - (double)x[0][i]) / (0.02 * (double)FRAME);
            worst = fmax(worst, fabs(slope - (double)v[i]));
            most = fmax(most, fabs(slope));
        }
    }
    print_message("velocities off by %.3g of %.3g m/s\n", worst, most);
    ASSERT_AT_MOST(worst, 0.02 * most);
    jnDestroyCharacter(c);
    free(x[0]);
    free(x[1]);
    free(v);
    DestroyScene(&s);
}

// A cap that is no number or negative.
static void DamagedCapsAreRefused(void** state)
{
    (void)state;
    amplitudeCap = 0.01;
    Scene s = MakeScene(3, 4);
    amplitudeCap = 0;
    size_t size = s.asset->byteCount;
    char* copy = aligned_alloc(64, (size + 63) / 64 * 64);
    const float bad[] = {(float)NAN, -1, (float)INFINITY, 2e9f};
    for (size_t i = 0; i < 4; ++i) {
        memcpy(copy, s.bytes, size);
        memcpy(copy + ((const char*)&s.asset->modes->modes[i].cap - (const char*)s.bytes), &bad[i], sizeof(float));
        uint64_t sum = jnAssetChecksum(copy, size);
        memcpy(copy + 24, &sum, sizeof(sum));
        jnAsset* asset;
        jnError error = {0};
        assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &asset, &error), jn_badData);
        assert_non_null(strstr(error.message, "cap"));
    }
    free(copy);
    DestroyScene(&s);
}

// Smallest and largest stretch of the triangles of a surface against its rest, and its largest displacement over limits.
typedef struct Seen {
    double least, most, farthest;
} Seen;

static void LookAt(const jnaCharacter* c, const float* moved, const float* limits, Seen* seen)
{
    for (int t = 0; t < c->triangleCount; ++t) {
        int32_t corners[3];
        float axes[3][3], inverse[3], edges[2][3], rows[6];
        for (int i = 0; i < 3; ++i) {
            corners[i] = c->weld[c->triangles[3 * t + i]];
        }
        assert_true(jnaElement_Frame(c, corners, axes, inverse));
        for (int a = 0; a < 3; ++a) {
            edges[0][a] = moved[3 * corners[1] + a] - moved[3 * corners[0] + a];
            edges[1][a] = moved[3 * corners[2] + a] - moved[3 * corners[0] + a];
        }
        jnaElement_Rows((const float(*)[3])axes, inverse, edges[0], edges[1], rows);
        double x = 0, y = 0, z = 0;
        for (int i = 0; i < 3; ++i) {
            double p = (double)rows[2 * i], q = (double)rows[2 * i + 1];
            x += p * p;
            y += q * q;
            z += p * q;
        }
        double mean = 0.5 * (x + y), away = sqrt(0.25 * (x - y) * (x - y) + z * z);
        seen->least = fmin(seen->least, sqrt(fmax(mean - away, 0)));
        seen->most = fmax(seen->most, sqrt(mean + away));
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        double square = 0;
        for (int a = 0; a < 3; ++a) {
            square += pow((double)moved[3 * v + a] - (double)c->positions[3 * v + a], 2);
        }
        seen->farthest = fmax(seen->farthest, sqrt(square) / (double)limits[v]);
    }
}

// The surface of a character at rest whose modes have amplitudes of any size.
static void ThrowModes(Scene* s, const float* limits, double size, Seen* seen)
{
    jnCharacter* c = MustMake(s, jn_timingCausal, jn_kernelAuto);
    float *out = Positions(s), *own = Positions(s);
    Random random = {5};
    for (int n = 0; n < 200; ++n) {
        jnCharacter_Reset(c, &(jnCharacterInput){0}, NULL);
        for (int i = 0; i < 4; ++i) {
            float blow[3];
            for (int a = 0; a < 3; ++a) {
                blow[a] = (float)(size * Uniform(&random, -1, 1));
            }
            jnCharacter_AddImpulse(c, (int)(Uniform(&random, 0, 1) * s->vertices) % s->vertices, blow);
        }
        for (int step = 0; step < 3; ++step) {
            jnCharacter_Step(c, &(jnCharacterInput){.h = (float)Uniform(&random, 0.001, 0.05)},
                &(jnCharacterOutput){.positions = out, .welded = true});
            for (int i = 0; i < s->vertices; ++i) {
                memcpy(own + 3 * (s->asset->order != NULL ? s->asset->order[i] : i), out + 3 * i, 3 * sizeof(float));
            }
            LookAt(&s->core.block.character, own, limits, seen);
        }
    }
    jnDestroyCharacter(c);
    free(out);
    free(own);
}

static void Encode(Scene* s)
{
    jnaAssetDef def = jnaDefaultAssetDef();
    float* springs = calloc(2 * (size_t)s->vertices, sizeof(float));
    size_t size;
    def.character = &s->core.block.character;
    def.stiffness = springs;
    def.damping = springs + s->vertices;
    def.modes = &s->modes;
    def.restVertices = true;
    jnDestroyAsset(s->asset);
    free(s->bytes);
    assert_int_equal(jnaEncodeAsset(&def, &s->bytes, &size, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = s->bytes, .size = size}, &s->asset, NULL), jn_ok);
    free(springs);
}

// However hard the flesh is hit, no triangle is pressed or stretched too far and no vertex goes beyond its limit.
static void BoundHoldsTheSurface(void** state)
{
    (void)state;
    Scene s = MakeScene(6, 20);
    const jnaCharacter* c = &s.core.block.character;
    float* limits = malloc((size_t)s.vertices * sizeof(float));
    double height = jnaHeightOf(c);
    assert_int_equal(jnaFindReach(&s.core.block.volume, c, limits, NULL), jn_ok);
    for (int v = 0; v < s.vertices; ++v) {
        assert_true((double)limits[v] >= 0.0099 * height && (double)limits[v] <= 0.0801 * height);
    }
    Seen free_ = {1, 1, 0}, held = {1, 1, 0}, gentle = {1, 1, 0};
    assert_int_equal(jnaModes_SetBound(&s.modes, c, NULL, NULL), jn_ok);
    assert_true(s.modes.criticalCount == 0 && s.modes.caps[0] == 0);
    Encode(&s);
    ThrowModes(&s, limits, 100, &free_);
    assert_int_equal(jnaModes_SetBound(&s.modes, c, limits, NULL), jn_ok);
    assert_true(s.modes.criticalCount > 0 && s.modes.criticalCount < JNA_MAX_CRITICAL && s.modes.caps[0] > 0);
    Encode(&s);
    ThrowModes(&s, limits, 100, &held);
    ThrowModes(&s, limits, 0.1, &gentle);
    print_message("%d elements; stretches %.3g to %.3g and %.3g of the limit, without the bound %.3g to %.3g and %.3g\n",
        s.modes.criticalCount, held.least, held.most, held.farthest, free_.least, free_.most, free_.farthest);
    assert_true(free_.most > 2 && free_.farthest > 2);
    assert_true(held.least >= 0.5 && held.most <= 1.8);
    ASSERT_AT_MOST(held.farthest, 1.03);
    assert_true(held.farthest > 0.8); // it is used, not only kept
    assert_true(gentle.farthest > 0);
    // Half the limits hold as well.
    for (int v = 0; v < s.vertices; ++v) {
        limits[v] *= 0.5f;
    }
    held = (Seen){1, 1, 0};
    assert_int_equal(jnaModes_SetBound(&s.modes, c, limits, NULL), jn_ok);
    Encode(&s);
    ThrowModes(&s, limits, 100, &held);
    ASSERT_AT_MOST(held.farthest, 1.03);
    free(limits);
    DestroyScene(&s);
}

// A clip that jumps about, as the stage plays it.
static void HostileClipIsToldAndCapped(void** state)
{
    (void)state;
    Scene s = MakeScene(5, MODES);
    jnaCharacter* c = &s.core.block.character;
    jnaClip clip = {.name = "hostile", .rate = 30, .frameCount = 40, .jointCount = c->jointCount, .looping = true};
    assert_int_equal(jnaClip_Allocate(&clip, false, NULL), jn_ok);
    Random random = {3};
    for (int i = 0; i < clip.frameCount * clip.jointCount; ++i) {
        clip.rotations[4 * i + 3] = 1;
        clip.translations[3 * i] = c->joints[i % clip.jointCount].translation[0];
        clip.translations[3 * i + 1] = i % clip.jointCount == 0 ? (float)Uniform(&random, -3, 3) : 0;
    }
    float* reach = malloc((size_t)s.vertices * sizeof(float));
    jnaOffsets before, after;
    jnError error = {0};
    if (jnaFindOffsets(c, &s.modes, 1, &clip, &before, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_true(before.most.length > 0.15 * before.height && before.kept == 1);
    assert_true(before.joints[0].length == before.most.length && before.most.hertz > 1);
    for (int v = 0; v < s.vertices; ++v) {
        reach[v] = 0.01f;
    }
    assert_int_equal(jnaModes_SetBound(&s.modes, c, reach, NULL), jn_ok);
    assert_int_equal(jnaFindOffsets(c, &s.modes, 1, &clip, &after, NULL), jn_ok);
    print_message("%.3g m, with caps %.3g m, %.3g of it kept\n", before.most.length, after.most.length, after.kept);
    ASSERT_AT_MOST(after.most.length, 0.0103);
    assert_true(after.kept < 0.9 && after.most.length > 0.005);
    jnaDestroyOffsets(&before);
    jnaDestroyOffsets(&after);
    jnaDestroyClip(&clip);
    free(reach);
    DestroyScene(&s);
}

// Vertices of weight 0 stand still, those of weight 1 move, a mask of 1 changes nothing.
static void MasksActOnModes(void** state)
{
    (void)state;
    Scene s = MakeScene(5, MODES);
    jnaModes* m = &s.modes;
    jnaCharacter* c = &s.core.block.character;
    size_t numbers = 3 * (size_t)MODES * (size_t)s.vertices;
    float *mask = malloc((size_t)s.vertices * sizeof(float)), *shapes = malloc(numbers * sizeof(float));
    memcpy(shapes, m->shapes, numbers * sizeof(float));
    for (int v = 0; v < s.vertices; ++v) {
        mask[v] = 1;
    }
    assert_int_equal(jnaModes_Mask(m, c, mask, NULL), jn_ok);
    assert_memory_equal(shapes, m->shapes, numbers * sizeof(float));
    double mass = m->masses[0];
    for (int v = 0; v < s.vertices; ++v) {
        mask[v] = c->positions[3 * v + 1] > 0.0f ? 1 : 0;
    }
    assert_int_equal(jnaModes_Mask(m, c, mask, NULL), jn_ok);
    assert_true(m->masses[0] < mass);
    jnaAssetDef def = jnaDefaultAssetDef();
    float* springs = calloc(2 * (size_t)s.vertices, sizeof(float));
    def.character = c;
    def.stiffness = springs;
    def.damping = springs + s.vertices;
    def.modes = m;
    def.restVertices = true;
    jnDestroyAsset(s.asset);
    free(s.bytes);
    size_t size;
    assert_int_equal(jnaEncodeAsset(&def, &s.bytes, &size, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = s.bytes, .size = size}, &s.asset, NULL), jn_ok);
    jnCharacter* player = MustMake(&s, jn_timingCausal, jn_kernelAuto);
    float *out = Positions(&s), *skinned = Positions(&s);
    double moved = 0;
    for (int n = 0; n < 30; ++n) {
        StepTo(player, CORE_BOXING, n * CORE_DT, FRAME, out, NULL);
        (void)OffsetOf(player, CORE_BOXING, n * CORE_DT, out, skinned, s.vertices);
        for (int i = 0; i < 3 * s.vertices; ++i) {
            double away = fabs((double)out[i] - (double)skinned[i]);
            moved = fmax(moved, mask[i / 3] > 0 ? away : 0);
            assert_true(mask[i / 3] > 0 || away <= 1e-6);
        }
    }
    assert_true(moved > 0.01);
    jnDestroyCharacter(player);
    free(mask);
    free(shapes);
    free(springs);
    free(out);
    free(skinned);
    DestroyScene(&s);
}

// The core's block twice, the second beside the first and held by nothing, or by one tetrahedron.
static TestVolume MakeTwo(const Core* core, int held)
{
    const jnaVolume* v = &core->block.volume;
    const jnaCharacter* c = &core->block.character;
    int nodes = v->nodeCount, vertices = v->vertexCount, tetrahedra = v->tetrahedronCount;
    TestVolume two = {.character = {.jointCount = 2, .vertexCount = 2 * vertices, .fileVertexCount = 2 * vertices}};
    assert_int_equal(jnaCharacter_Allocate(&two.character, false, NULL), jn_ok);
    memcpy(two.character.joints, c->joints, 2 * sizeof(jnaJoint));
    jnaVolume* w = &two.volume;
    *w = (jnaVolume){.method = v->method,
        .nodeCount = 2 * nodes,
        .tetrahedronCount = 2 * tetrahedra,
        .jointCount = 2,
        .vertexCount = 2 * vertices,
        .materialCount = 1};
    w->nodes = malloc(6 * (size_t)nodes * sizeof(double));
    w->tetrahedra = malloc(8 * (size_t)tetrahedra * sizeof(int32_t));
    w->skinTetrahedra = malloc(2 * (size_t)vertices * sizeof(int32_t));
    w->skinWeights = malloc(8 * (size_t)vertices * sizeof(double));
    w->skinOffsets = calloc(6 * (size_t)vertices, sizeof(double));
    w->rowStarts = malloc((2 * (size_t)nodes + 1) * sizeof(int32_t));
    w->joints = calloc(2 * (size_t)nodes, sizeof(uint16_t));
    w->weights = malloc(2 * (size_t)nodes * sizeof(float));
    w->heldBy = malloc(2 * (size_t)nodes * sizeof(int32_t));
    w->holdStrength = calloc(2 * (size_t)nodes, sizeof(float));
    w->regions = calloc(2 * (size_t)tetrahedra, 1);
    w->materials = malloc(sizeof(jnaMaterial));
    w->materials[0] = v->materials[0];
    for (int n = 0; n < 2 * nodes; ++n) {
        for (int a = 0; a < 3; ++a) {
            w->nodes[3 * n + a] = v->nodes[3 * (n % nodes) + a] + (n >= nodes && a == 0 ? 1 : 0);
        }
        w->rowStarts[n] = n;
        w->weights[n] = 1;
        w->heldBy[n] = n < nodes ? v->heldBy[n] : -1;
    }
    w->rowStarts[2 * nodes] = 2 * nodes;
    for (int i = 0; i < 8 * tetrahedra; ++i) {
        w->tetrahedra[i] = v->tetrahedra[i % (4 * tetrahedra)] + (i >= 4 * tetrahedra ? nodes : 0);
    }
    for (int i = 0; i < held; ++i) {
        w->heldBy[w->tetrahedra[4 * tetrahedra + i]] = 0;
    }
    for (int i = 0; i < 2 * vertices; ++i) {
        w->skinTetrahedra[i] = v->skinTetrahedra[i % vertices] + (i >= vertices ? tetrahedra : 0);
        memcpy(w->skinWeights + 4 * i, v->skinWeights + 4 * (i % vertices), 4 * sizeof(double));
        two.character.influences[i] = (jnaInfluences){.joints = {0}, .weights = {1}};
        for (int a = 0; a < 3; ++a) {
            two.character.positions[3 * i + a] = c->positions[3 * (i % vertices) + a] + (i >= vertices && a == 0);
        }
    }
    return two;
}

// A part that nothing holds has no modes, and those of the rest are as without it.
static void LooseFleshIsLeftOut(void** state)
{
    (void)state;
    Core core = MakeCore(8);
    jnaModes alone = FindCoreModes(&core, 8, jna_projectVolume);
    for (int held = 0; held <= 4; held += 4) {
        TestVolume two = MakeTwo(&core, held);
        jnaModesDef def = jnaDefaultModesDef();
        def.count = 8;
        def.cutoff = 1e6;
        def.threshold = 0;
        def.mixing = 0;
        jnaModes modes;
        jnaNotes notes = {0};
        jnError error = {0};
        if (jnaFindModes(&two.volume, &two.character, &def, NULL, &modes, &notes, &error) != jn_ok) {
            fail_msg("%s", error.message);
        }
        for (int i = 0; i < notes.count; ++i) {
            print_message("%s\n", notes.lines[i]);
        }
        assert_int_equal(notes.count, 1);
        assert_non_null(strstr(notes.lines[0], "no bone holds"));
        assert_int_equal(modes.modeCount, alone.modeCount);
        for (int k = 0; k < modes.modeCount; ++k) {
            ASSERT_AT_MOST(fabs(modes.stiffness[k] / alone.stiffness[k] - 1), 1e-6);
            for (int v = core.block.volume.vertexCount; v < modes.vertexCount; ++v) {
                assert_true(ShapeAt(&modes, k, v) == 0);
            }
        }
        jnaDestroyNotes(&notes);
        jnaDestroyModes(&modes);
        DestroyTestVolume(&two);
    }
    // Where nothing is held at all, nothing moves, and that is no error.
    TestVolume two = MakeTwo(&core, 0);
    memset(two.volume.heldBy, 0xff, (size_t)two.volume.nodeCount * sizeof(int32_t));
    jnaModesDef def = jnaDefaultModesDef();
    jnaModes none;
    assert_int_equal(jnaFindModes(&two.volume, &two.character, &def, NULL, &none, NULL, NULL), jn_ok);
    assert_int_equal(none.modeCount, 0);
    jnaDestroyModes(&none);
    DestroyTestVolume(&two);
    jnaDestroyModes(&alone);
    DestroyCore(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NothingFliesOff),
        cmocka_unit_test(FleshComesBackFromASpin),
        cmocka_unit_test(SmallMotionIsUntouched),
        cmocka_unit_test(ContractsHoldUnderCaps),
        cmocka_unit_test(VelocitiesAreRightUnderCaps),
        cmocka_unit_test(DamagedCapsAreRefused),
        cmocka_unit_test(BoundHoldsTheSurface),
        cmocka_unit_test(HostileClipIsToldAndCapped),
        cmocka_unit_test(MasksActOnModes),
        cmocka_unit_test(LooseFleshIsLeftOut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
