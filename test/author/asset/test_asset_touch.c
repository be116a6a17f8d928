// Flesh that can be touched: what the author writes and the runtime plays, on flesh around a core.
#include "helpers/modal_scene.h"

#include "modes/touch.h"

#include <float.h>

static const float TOP[3] = {0.12f, 0.12f, 0.0f}; // in the middle of the block's upper face
#define STEP (1.0f / 60)

typedef struct Touched {
    Scene scene; // without touch
    jnaTouch touch;
    void* bytes;
    size_t size;
    jnAsset* asset;
    int vertices;
} Touched;

static Touched MakeTouched(void)
{
    Touched t = {.scene = MakeScene(6, 12)};
    jnaCharacter* c = &t.scene.core.block.character;
    jnError error = {0};
    t.vertices = c->vertexCount;
    if (jnaFindTouch(&t.scene.core.block.volume, c, 0.05, NULL, &t.touch, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    float* springs = calloc((size_t)t.vertices, sizeof(float));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = c;
    def.stiffness = def.damping = springs;
    def.modes = &t.scene.modes;
    def.touch = &t.touch;
    if (jnaEncodeAsset(&def, &t.bytes, &t.size, &error) != jn_ok ||
        jnLoadAsset(&(jnAssetDef){.bytes = t.bytes, .size = t.size}, &t.asset, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    free(springs);
    return t;
}

static void DestroyTouched(Touched* t)
{
    jnDestroyAsset(t->asset);
    free(t->bytes);
    jnaDestroyTouch(&t->touch);
    DestroyScene(&t->scene);
}

static jnCharacter* Make(const jnAsset* asset, jnKernel kernel)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.kernel = kernel;
    jnCharacter* c;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    return c;
}

static jnCollider Ball(float radius, float deep)
{
    return (jnCollider){.shape = jn_colliderSphere,
        .joint = -1,
        .radius = radius,
        .position = {TOP[0], TOP[1] + radius - deep, TOP[2]}};
}

static void Step(jnCharacter* c, float h, float* positions)
{
    jnCharacter_Step(c, &(jnCharacterInput){.h = h}, &(jnCharacterOutput){.positions = positions, .welded = true});
}

static void Reset(jnCharacter* c, float* positions)
{
    jnCharacter_Reset(c, &(jnCharacterInput){0}, &(jnCharacterOutput){.positions = positions, .welded = true});
}

static float* Numbers(const Touched* t)
{
    return calloc(3 * (size_t)t->vertices + 16, sizeof(float));
}

static double DeepestIn(const Touched* t, const jnCollider* ball, const float* positions)
{
    double deepest = 0;
    for (int v = 0; v < t->vertices; ++v) {
        double square = 0;
        for (int k = 0; k < 3; ++k) {
            square += pow((double)positions[3 * v + k] - (double)ball->position[k], 2);
        }
        deepest = fmax(deepest, (double)ball->radius - sqrt(square));
    }
    return deepest;
}

static void PressedSkinIsOutsideAndTellsTheForce(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    jnCharacter* c = Make(t.asset, jn_kernelAuto);
    float *still = Numbers(&t), *pressed = Numbers(&t);
    Reset(c, still);
    jnCollider ball = Ball(0.08f, 0.02f);
    double before = DeepestIn(&t, &ball, still);
    ASSERT_NEAR(before, 0.02, 0.006); // the mesh is coarse
    jnCharacter_SetColliders(c, &ball, 1);
    Reset(c, pressed);
    jnContact contact = {0};
    assert_int_equal(jnCharacter_Contacts(c, &contact, 1), 1);
    print_message("pressed by 20 mm: left inside %.2f mm, %.1f N, %.1f mm deep\n", 1e3 * DeepestIn(&t, &ball, pressed),
        -(double)contact.force[1], 1e3 * (double)contact.depth);
    ASSERT_AT_MOST(DeepestIn(&t, &ball, pressed), 0.004); // of 20 mm, on cells of 5 cm
    assert_true(contact.force[1] < -1.0f);                // down, into the flesh
    ASSERT_NEAR(contact.force[0], 0, 0.3 * fabs((double)contact.force[1]));
    assert_true(contact.normal[1] < -0.8f); // out of the ball
    assert_true(contact.depth > 0.01f && contact.beyond == 0.0f && contact.collider == 0);
    // Half as deep, about half the force.
    ball = Ball(0.08f, 0.01f);
    jnContact less;
    Reset(c, pressed);
    assert_int_equal(jnCharacter_Contacts(c, &less, 1), 1);
    assert_true(less.force[1] > 0.7f * contact.force[1] && less.force[1] < 0.0f);
    // Gone, nothing is left of it.
    jnCharacter_SetColliders(c, NULL, 0);
    Reset(c, pressed);
    assert_memory_equal(still, pressed, 3 * (size_t)t.vertices * sizeof(float));
    assert_int_equal(jnCharacter_Contacts(c, NULL, 0), 0);
    jnDestroyCharacter(c);
    free(still);
    free(pressed);
    DestroyTouched(&t);
}

// The responses against themselves: pressed at a probe alone, it gives way by what it is asked to.
static void APushAndWhatItMovesAreOfOnePiece(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    size_t vertices = (size_t)t.vertices;
    for (int p = 0; p < t.touch.probeCount; ++p) {
        for (int q = 0; q < t.touch.probeCount;
             ++q) { // what p does to q is what q does to p, nearly: cones are not points
            double ways[2];
            for (int i = 0; i < 2; ++i) {
                int push = i == 0 ? p : q, at = i == 0 ? q : p;
                const float* u = t.touch.responses + 3 * ((size_t)push * vertices + (size_t)t.touch.probes[at]);
                const float* n = t.touch.normals + 3 * at;
                ways[i] = -(double)(u[0] * n[0] + u[1] * n[1] + u[2] * n[2]);
            }
            const float* own = t.touch.responses + 3 * ((size_t)p * vertices + (size_t)t.touch.probes[p]);
            double scale = sqrt((double)(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]));
            ASSERT_NEAR(ways[0], ways[1], 0.35 * scale);
            assert_true(p != q || ways[0] > 0);
        }
    }
    DestroyTouched(&t);
}

// A body on a seat, at any frame rate: after the first seconds no vertex moves by a hundredth of a millimetre.
static void WhatRestsDoesNotTremble(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    static const float steps[4] = {0.001f, 1.0f / 60, 1.0f / 15, 1.0f};
    float *before = Numbers(&t), *now = Numbers(&t);
    for (int s = 0; s < 4; ++s) {
        jnCharacter* c = Make(t.asset, jn_kernelAuto);
        jnCollider ball = Ball(0.08f, 0.025f);
        Reset(c, now);
        jnCharacter_SetColliders(c, &ball, 1);
        int settle = (int)(8 / steps[s]) + 20;
        for (int i = 0; i < settle; ++i) {
            Step(c, steps[s], now);
        }
        double worst = 0;
        for (int i = 0; i < 60; ++i) {
            memcpy(before, now, 3 * (size_t)t.vertices * sizeof(float));
            Step(c, steps[s] * (1 + 0.3f * (float)(i % 3)), now); // no two alike
            worst = fmax(worst, FarthestOf(before, now, t.vertices));
        }
        print_message("resting, steps of %g s: at most %.1e mm a step\n", (double)steps[s], 1e3 * worst);
        ASSERT_AT_MOST(worst, 1e-5);
        jnDestroyCharacter(c);
    }
    free(before);
    free(now);
    DestroyTouched(&t);
}

// Pressed until it rests, and let go: the flesh swings and comes back.
static void LetGoItSwingsAndComesBack(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    jnCharacter* c = Make(t.asset, jn_kernelAuto);
    float *still = Numbers(&t), *now = Numbers(&t);
    Reset(c, still);
    jnCollider ball = Ball(0.1f, 0.03f);
    jnCharacter_SetColliders(c, &ball, 1);
    for (int i = 0; i < 120; ++i) {
        Step(c, STEP, now);
    }
    jnCharacter_SetColliders(c, NULL, 0);
    Step(c, STEP, now);
    double swing = FarthestOf(still, now, t.vertices);
    for (int i = 0; i < 600; ++i) {
        Step(c, STEP, now);
    }
    print_message("let go: off by %.2f mm after a step, %.1e mm after ten seconds\n", 1e3 * swing,
        1e3 * FarthestOf(still, now, t.vertices));
    assert_true(swing > 1e-4 && swing < 0.03);
    ASSERT_AT_MOST(FarthestOf(still, now, t.vertices), 1e-5);
    jnDestroyCharacter(c);
    free(still);
    free(now);
    DestroyTouched(&t);
}

static jnCollider Moving(int step)
{
    jnCollider ball = Ball(0.06f, 0.03f * (float)sin(0.2 * step));
    ball.position[0] += 0.05f * (float)cos(0.13 * step);
    return ball;
}

static void AllKernelsGiveTheSameBytes(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    size_t bytes = 3 * (size_t)t.vertices * sizeof(float);
    float *first = Numbers(&t), *now = Numbers(&t);
    for (int kernel = jn_kernelAuto; kernel <= jn_kernelAvx512; ++kernel) {
        if (!jnKernelAvailable((jnKernel)kernel)) {
            continue;
        }
        jnCharacter* c = Make(t.asset, (jnKernel)kernel);
        int pressed = 0;
        for (int i = 0; i < 100; ++i) {
            jnCollider ball = Moving(i);
            jnCharacter_SetColliders(c, &ball, 1);
            Step(c, STEP, now);
            pressed += jnCharacter_Contacts(c, NULL, 0);
            jnCharacter_SetColliders(c, NULL, 0);
        }
        assert_true(pressed > 20);
        if (kernel == jn_kernelAuto) {
            memcpy(first, now, bytes);
        }
        assert_memory_equal(first, now, bytes);
        jnDestroyCharacter(c);
    }
    free(first);
    free(now);
    DestroyTouched(&t);
}

static void ASnapshotInTheMiddleGoesOnAsItWould(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    size_t bytes = 3 * (size_t)t.vertices * sizeof(float);
    jnCharacter *c = Make(t.asset, jn_kernelAuto), *other = Make(t.asset, jn_kernelAuto);
    float *first = Numbers(&t), *second = Numbers(&t);
    void* snapshot = malloc(jnCharacter_SnapshotSize(c));
    jnCollider ball;
    jnCharacter_SetColliders(c, &ball, 1);
    jnCharacter_SetColliders(other, &ball, 1);
    for (int i = 0; i < 80; ++i) {
        ball = Moving(i); // of the caller's array
        Step(c, STEP, first);
        if (i == 8) {
            assert_int_equal(jnCharacter_Contacts(c, NULL, 0), 1);
            jnCharacter_Save(c, snapshot);
            assert_int_equal(jnCharacter_Restore(other, snapshot, jnCharacter_SnapshotSize(c), &(jnError){0}), jn_ok);
        } else if (i > 8) {
            Step(other, STEP, second);
            assert_memory_equal(first, second, bytes);
        }
    }
    free(snapshot);
    free(first);
    free(second);
    jnDestroyCharacter(c);
    jnDestroyCharacter(other);
    DestroyTouched(&t);
}

static void ManyTogetherAreAsOneByOne(void** state)
{
    (void)state;
    enum { MANY = 9 };
    Touched t = MakeTouched();
    jnCharacter *together[MANY], *alone[MANY];
    jnCharacterInput inputs[MANY] = {0};
    jnCharacterOutput outputs[MANY] = {0};
    jnCollider balls[MANY];
    float *a = calloc(MANY, 3 * (size_t)t.vertices * sizeof(float)), *b = Numbers(&t);
    for (int n = 0; n < MANY; ++n) {
        together[n] = Make(t.asset, jn_kernelAuto);
        alone[n] = Make(t.asset, jn_kernelAuto);
        inputs[n].h = STEP;
        outputs[n] = (jnCharacterOutput){.positions = a + 3 * (size_t)n * (size_t)t.vertices, .welded = true};
        jnCharacter_SetColliders(together[n], &balls[n], n % 3 != 0); // some have none
        jnCharacter_SetColliders(alone[n], &balls[n], n % 3 != 0);
    }
    for (int i = 0; i < 40; ++i) {
        for (int n = 0; n < MANY; ++n) {
            balls[n] = Moving(i + 3 * n);
        }
        jnStepCharacters(together, inputs, outputs, MANY);
        for (int n = 0; n < MANY; ++n) {
            Step(alone[n], STEP, b);
            assert_memory_equal(outputs[n].positions, b, 3 * (size_t)t.vertices * sizeof(float));
        }
    }
    for (int n = 0; n < MANY; ++n) {
        jnDestroyCharacter(together[n]);
        jnDestroyCharacter(alone[n]);
    }
    free(a);
    free(b);
    DestroyTouched(&t);
}

// A joint carries its collider along, in its own frame.
static void AColliderOnAJointMovesWithIt(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    jnCharacter* c = Make(t.asset, jn_kernelAuto);
    float* positions = Numbers(&t);
    double bind[12];
    jnCollider ball = Ball(0.08f, 0.02f);
    jnCharacter_SetColliders(c, &ball, 1);
    Reset(c, positions);
    jnContact still, moved;
    assert_int_equal(jnCharacter_Contacts(c, &still, 1), 1);
    for (int i = 0; i < 12; ++i) {
        bind[i] = (double)t.asset->joints[0].inverseBind[i];
    }
    ball.joint = 0;
    float world[3] = {ball.position[0], ball.position[1], ball.position[2]};
    for (int i = 0; i < 3; ++i) {
        ball.position[i] = (float)(bind[4 * i] * (double)world[0] + bind[4 * i + 1] * (double)world[1] +
                                   bind[4 * i + 2] * (double)world[2] + bind[4 * i + 3]);
    }
    const jnTransform root = {.position = {1000, 3, -7}, .rotation = {0, 0.70710678f, 0, 0.70710678f}};
    jnCharacter_Reset(c, &(jnCharacterInput){.pose = {.root = &root}}, NULL);
    assert_int_equal(jnCharacter_Contacts(c, &moved, 1), 1);
    ASSERT_NEAR(moved.depth, still.depth, 1e-4);
    ASSERT_NEAR(moved.force[1], still.force[1], 0.01 * fabs((double)still.force[1]));
    assert_true(fabsf(moved.point[0] - 1000) < 0.5f);
    jnDestroyCharacter(c);
    free(positions);
    DestroyTouched(&t);
}

static float Hostile(Random* random)
{
    static const float odd[8] = {INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.0f, 1e-42f, 1e9f};
    return Uniform(random, 0, 1) < 0.15 ? odd[NextBits(random) % 8] : (float)Uniform(random, -0.4, 0.4);
}

static jnCollider MakeHostile(Random* random)
{
    jnCollider c = {.shape = (jnColliderShape)(NextBits(random) % 6),
        .joint = (int32_t)(NextBits(random) % 5) - 2,
        .radius = Hostile(random)};
    for (int i = 0; i < 4; ++i) {
        c.rotation[i] = Hostile(random);
        c.position[i % 3] = Hostile(random);
        c.half[i % 3] = fabsf(Hostile(random));
    }
    c.radius = Uniform(random, 0, 1) < 0.8 ? fabsf(c.radius) : c.radius;
    return c;
}

// Teleporting colliders of any size and place, one or a thousand at once: all stays finite and near, and comes back.
static void HostileCollidersDoNoHarm(void** state)
{
    (void)state;
#ifdef JN_SANITIZED
    enum { MANY = 1000, STEPS = 4000 };
#else
    enum { MANY = 1000, STEPS = 182000 };
#endif
    Touched t = MakeTouched();
    jnCharacter* c = Make(t.asset, jn_kernelAuto);
    float *still = Numbers(&t), *now = Numbers(&t);
    jnCollider* colliders = malloc(MANY * sizeof(*colliders));
    Random random = {3};
    double farthest = 0;
    long tried = 0, pressed = 0;
    Reset(c, still);
    for (int i = 0; i < STEPS; ++i) {
        int count = i % 500 == 0 ? MANY : (int)(NextBits(&random) % 8);
        for (int k = 0; k < count; ++k) {
            colliders[k] = MakeHostile(&random);
        }
        jnCharacter_SetColliders(c, colliders, count);
        Step(c, (float)pow(10, Uniform(&random, -4, 1)), now);
        tried += count;
        jnContact contacts[JN_MAX_CONTACTS];
        int found = jnCharacter_Contacts(c, contacts, JN_MAX_CONTACTS);
        pressed += found;
        for (int k = 0; k < found; ++k) {
            float sum = contacts[k].depth + contacts[k].force[0] + contacts[k].force[1] + contacts[k].force[2];
            assert_true(isfinite(sum) && contacts[k].depth <= 0.3f && contacts[k].beyond >= 0.0f);
        }
        double away = FarthestOf(still, now, t.vertices);
        assert_true(away < HUGE_VAL);
        farthest = fmax(farthest, away);
    }
    print_message("%ld hostile colliders, %ld pressed: at most %.0f mm from rest\n", tried, pressed, 1e3 * farthest);
    ASSERT_AT_MOST(farthest, 1.0); // flesh of 12 cm without caps, hit in every step
    assert_true(pressed > 1000);
    jnCharacter_SetColliders(c, NULL, 0);
    for (int i = 0; i < 900; ++i) {
        Step(c, STEP, now);
    }
    ASSERT_AT_MOST(FarthestOf(still, now, t.vertices), 1e-5);
    free(colliders);
    free(still);
    free(now);
    jnDestroyCharacter(c);
    DestroyTouched(&t);
}

// Springs of single vertices do not feel a press, but the skin shows it.
static void SkinOnSpringsOfVerticesIsPressedToo(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    float* springs = malloc(2 * (size_t)t.vertices * sizeof(float));
    for (int v = 0; v < t.vertices; ++v) {
        springs[v] = 900;
        springs[t.vertices + v] = 12;
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &t.scene.core.block.character;
    def.stiffness = springs;
    def.damping = springs + t.vertices;
    def.touch = &t.touch;
    void* bytes;
    size_t size;
    jnAsset* asset;
    assert_int_equal(jnaEncodeAsset(&def, &bytes, &size, NULL), jn_ok);
    assert_int_equal(jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, NULL), jn_ok);
    jnCharacter* c = Make(asset, jn_kernelAuto);
    assert_non_null(jnCharacter_Springs(c));
    float *still = Numbers(&t), *pressed = Numbers(&t);
    jnCollider ball = Ball(0.08f, 0.02f);
    Reset(c, still);
    double before = DeepestIn(&t, &ball, still);
    jnCharacter_SetColliders(c, &ball, 1);
    Step(c, STEP, pressed);
    assert_int_equal(jnCharacter_Contacts(c, NULL, 0), 1);
    ASSERT_AT_MOST(DeepestIn(&t, &ball, pressed), 0.4 * before);
    jnCharacter_SetColliders(c, NULL, 0);
    Step(c, STEP, pressed);
    assert_memory_equal(still, pressed, 3 * (size_t)t.vertices * sizeof(float));
    jnDestroyCharacter(c);
    jnDestroyAsset(asset);
    free(bytes);
    free(springs);
    free(still);
    free(pressed);
    DestroyTouched(&t);
}

static void AnAssetWithoutTouchPlaysAsBefore(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    jnCharacter* c = Make(t.scene.asset, jn_kernelAuto);
    float *still = Numbers(&t), *now = Numbers(&t);
    jnCollider ball = Ball(0.08f, 0.02f);
    Reset(c, still);
    jnCharacter_SetColliders(c, &ball, 1);
    Reset(c, now);
    assert_memory_equal(still, now, 3 * (size_t)t.vertices * sizeof(float));
    assert_int_equal(jnCharacter_Contacts(c, NULL, 0), 0);
    free(still);
    free(now);
    jnDestroyCharacter(c);
    DestroyTouched(&t);
}

// Every byte of the section's header and a few thousand of the rest, each damaged in turn and signed again: refused, or
// played without harm.
static void ADamagedSectionIsRefusedOrHarmless(void** state)
{
    (void)state;
    Touched t = MakeTouched();
    size_t offset = 0, size = 0;
    int refused = 0, played = 0;
    for (int i = 0; i < jnAsset_SectionCount(t.asset); ++i) {
        jnAssetSection section = jnAsset_Section(t.asset, i);
        if (strcmp(section.id, "TUCH") == 0) {
            offset = section.offset;
            size = section.size;
        }
    }
    assert_true(size > 1000);
    unsigned char* bytes = aligned_alloc(64, (t.size + 63) / 64 * 64);
    float* now = Numbers(&t);
    Random random = {9};
    for (int i = 0; i < 1500; ++i) {
        memcpy(bytes, t.bytes, t.size);
        size_t at = i < 64 ? (size_t)i : (size_t)(NextBits(&random) % size);
        bytes[offset + at] ^= (unsigned char)(1 + NextBits(&random) % 255);
        uint64_t checksum = jnAssetChecksum(bytes, t.size);
        memcpy(bytes + offsetof(jnAssetHeader, checksum), &checksum, sizeof(checksum));
        jnAsset* asset = NULL;
        jnError error;
        if (jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = t.size}, &asset, &error) != jn_ok) {
            assert_non_null(strstr(error.message, "TUCH"));
            ++refused;
            continue;
        }
        jnCharacter* c = Make(asset, jn_kernelAuto);
        jnCollider ball = Ball(0.08f, 0.02f);
        jnCharacter_SetColliders(c, &ball, 1);
        for (int k = 0; k < 3; ++k) {
            Step(c, STEP, now);
        }
        for (int k = 0; k < 3 * t.vertices; ++k) {
            assert_true(isfinite(now[k]));
        }
        ++played;
        jnDestroyCharacter(c);
        jnDestroyAsset(asset);
    }
    print_message("damaged: %d refused, %d played\n", refused, played);
    assert_true(refused > 64 && played > 100);
    free(bytes);
    free(now);
    DestroyTouched(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PressedSkinIsOutsideAndTellsTheForce),
        cmocka_unit_test(APushAndWhatItMovesAreOfOnePiece),
        cmocka_unit_test(WhatRestsDoesNotTremble),
        cmocka_unit_test(LetGoItSwingsAndComesBack),
        cmocka_unit_test(AllKernelsGiveTheSameBytes),
        cmocka_unit_test(ASnapshotInTheMiddleGoesOnAsItWould),
        cmocka_unit_test(ManyTogetherAreAsOneByOne),
        cmocka_unit_test(AColliderOnAJointMovesWithIt),
        cmocka_unit_test(HostileCollidersDoNoHarm),
        cmocka_unit_test(SkinOnSpringsOfVerticesIsPressedToo),
        cmocka_unit_test(AnAssetWithoutTouchPlaysAsBefore),
        cmocka_unit_test(ADamagedSectionIsRefusedOrHarmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
