// Flesh against solid bodies: known answers, no friction, poses and motion.
#include "flesh/flesh_internal.h"
#include "helpers/fleshes.h"

#include "base/affine.h"

static const double BAR[3] = {1, 0.5, 0.5};
static const jnaMaterial SPONGE = {.young = 2e4, .poisson = 0, .density = 1000};
static const jnaMaterial SOFT = {.young = 2e4, .poisson = 0.4, .density = 1000};

static bool Has(const int32_t* corners, int32_t node)
{
    return corners[0] == node || corners[1] == node || corners[2] == node || corners[3] == node;
}

// The faces that one tetrahedron alone has are the character's triangles; which side they face does not matter here.
static void FillTriangles(TestVolume* test)
{
    const jnaVolume* v = &test->volume;
    jnaCharacter* c = &test->character;
    free(c->triangles);
    free(c->weld);
    c->triangles = malloc(12 * (size_t)v->tetrahedronCount * sizeof(int32_t));
    c->weld = malloc((size_t)c->vertexCount * sizeof(int32_t));
    c->triangleCount = 0;
    for (int i = 0; i < c->vertexCount; ++i) {
        c->weld[i] = i;
    }
    for (int f = 0; f < 4 * v->tetrahedronCount; ++f) {
        const int32_t* corners = v->tetrahedra + 4 * (f / 4);
        int32_t face[3] = {corners[(f + 1) % 4], corners[(f + 2) % 4], corners[(f + 3) % 4]};
        bool outer = true;
        for (int t = 0; outer && t < v->tetrahedronCount; ++t) {
            const int32_t* other = v->tetrahedra + 4 * t;
            outer = t == f / 4 || !Has(other, face[0]) || !Has(other, face[1]) || !Has(other, face[2]);
        }
        if (outer) {
            memcpy(c->triangles + 3 * (size_t)c->triangleCount++, face, sizeof(face));
        }
    }
}

static TestFlesh MakeTestFlesh(jnaMaterial material)
{
    TestFlesh flesh = {.test = MakeBlock(8, 4, 4, BAR, 0, 2)};
    FillInside(&flesh.test, material, HoldLeftFace);
    FillTriangles(&flesh.test);
    return flesh;
}

static void Create(TestFlesh* flesh, bool newton)
{
    flesh->def = PlainDef(&flesh->test);
    flesh->def.newton = newton;
    CreateTestFlesh(flesh);
}

static void Set(TestFlesh* flesh, const jnaCollider* colliders, int count)
{
    jnError error = {0};
    if (jnaFleshSolver_SetColliders(flesh->solver, colliders, count, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// Solid where x is above `x`.
static jnaCollider Wall(double x)
{
    jnaCollider wall = {.shape = jna_colliderPlane, .joint = -1, .position = {x, 0, 0}};
    jnaQuat_Between((double[3]){0, 1, 0}, (double[3]){-1, 0, 0}, wall.rotation);
    return wall;
}

static jnaCollider Ball(double radius, double x, double y, double z)
{
    return (jnaCollider){
        .shape = jna_colliderSphere, .joint = -1, .position = {x, y, z}, .rotation = {0, 0, 0, 1}, .radius = radius};
}

// How deep the deepest vertex of the block is inside a collider of the world, metres.
static double Deepest(const TestFlesh* flesh, const jnaCollider* c)
{
    jnaAffine own = jnaAffine_FromTrs(c->position, c->rotation, (double[3]){1, 1, 1});
    jnaPosedCollider posed = {.shape = c->shape, .radius = c->radius};
    double deepest = 0, normal[3];
    for (int k = 0; k < 3; ++k) {
        posed.half[k] = c->half[k];
        posed.position[k] = own.m[4 * k + 3];
        memcpy(posed.rotation + 3 * k, own.m + 4 * k, 3 * sizeof(double));
    }
    for (int n = 0; n < flesh->test.volume.vertexCount; ++n) {
        deepest = fmax(deepest, -jnaPosedCollider_Distance(&posed, flesh->nodes + 3 * n, normal));
    }
    return deepest;
}

static void DistancesAreThoseOfTheShapes(void** state)
{
    (void)state;
    const struct {
        jnaPosedCollider c;
        double at[3], distance;
    } cases[] = {
        {{.shape = jna_colliderSphere, .radius = 0.5}, {0, 3, 4}, 4.5},
        {{.shape = jna_colliderSphere, .radius = 0.5}, {0.1, 0, 0}, -0.4},
        {{.shape = jna_colliderCapsule, .radius = 0.5, .half = {0, 2, 0}}, {0, 4, 0}, 1.5},
        {{.shape = jna_colliderCapsule, .radius = 0.5, .half = {0, 2, 0}}, {3, 1, 4}, 4.5},
        {{.shape = jna_colliderPlane}, {7, -2, 1}, -2},
        {{.shape = jna_colliderBox, .half = {1, 2, 3}}, {0.5, 0, 0}, -0.5},
        {{.shape = jna_colliderBox, .half = {1, 2, 3}}, {4, 6, 0}, 5},
        {{.shape = jna_colliderBox, .half = {1, 2, 3}, .radius = 0.25}, {4, 6, 0}, 4.75},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        jnaPosedCollider c = cases[i].c;
        double turn[4], place[3] = {0.3, -0.2, 0.7}, at[3], normal[3], other[3];
        jnaQuat_FromAxis((double[3]){0.6, 0, 0.8}, 0.9, turn);
        jnaAffine own = jnaAffine_FromTrs(place, turn, (double[3]){1, 1, 1});
        for (int k = 0; k < 3; ++k) {
            c.position[k] = place[k];
            memcpy(c.rotation + 3 * k, own.m + 4 * k, 3 * sizeof(double));
        }
        jnaAffine_Apply(&own, cases[i].at, at);
        ASSERT_NEAR(jnaPosedCollider_Distance(&c, at, normal), cases[i].distance, 1e-12);
        for (int k = 0; k < 3; ++k) { // the normal is the gradient
            double ahead[3], back[3];
            memcpy(ahead, at, sizeof(ahead));
            memcpy(back, at, sizeof(back));
            ahead[k] += 1e-6;
            back[k] -= 1e-6;
            double slope =
                (jnaPosedCollider_Distance(&c, ahead, other) - jnaPosedCollider_Distance(&c, back, other)) / 2e-6;
            ASSERT_NEAR(normal[k], slope, 1e-6);
        }
    }
}

// Without a Poisson effect nothing moves across: E A times the strain, for small ones.
static void AWallPressesAsHookSays(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh(SPONGE);
    Create(&flesh, false);
    jnaClip clip = RestClip(&flesh.test.character, 1, 30);
    jnaCollider wall = Wall(1 - 0.002);
    Set(&flesh, &wall, 1);
    SolvePose(&flesh, &clip, 0);
    assert_true(flesh.report.converged);
    const jnaColliderTouch* touch = jnaFleshSolver_Touches(flesh.solver);
    double expected = -SPONGE.young * BAR[1] * BAR[2] * 0.002;
    print_message("wall: %.4f N, by Hooke %.4f, left inside %.1e m\n", touch->force[0], expected, touch->depth);
    ASSERT_NEAR(touch->force[0], expected, 0.01 * fabs(expected));
    ASSERT_NEAR(touch->force[1], 0, 1e-3 * fabs(expected));
    ASSERT_AT_MOST(touch->depth, 1e-4);
    assert_int_equal(touch->count, 25);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

static void WhatIsPressedIsOutsideAndBulges(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh(SOFT);
    Create(&flesh, false);
    jnaClip clip = RestClip(&flesh.test.character, 1, 30);
    const jnaCollider balls[2] = {Ball(0.3, 0.7, 0.45, 0), Ball(0.3, 0.7, -0.45, 0)};
    assert_true(Deepest(&flesh, &balls[0]) == 0); // nothing is solved yet
    Set(&flesh, balls, 2);
    SolvePose(&flesh, &clip, 0);
    assert_true(flesh.report.converged);
    const jnaColliderTouch* touches = jnaFleshSolver_Touches(flesh.solver);
    ASSERT_AT_MOST(Deepest(&flesh, &balls[0]), 3e-4);
    ASSERT_AT_MOST(Deepest(&flesh, &balls[1]), 3e-4);
    assert_true(touches[0].force[1] < -1);
    // Of two that press against each other; the mesh is not quite even.
    ASSERT_NEAR(touches[0].force[1], -touches[1].force[1], 0.05 * fabs(touches[0].force[1]));
    double widest = 0;
    for (int n = 0; n < flesh.test.volume.nodeCount; ++n) {
        widest = fmax(widest, flesh.nodes[3 * n + 2]);
    }
    assert_true(widest > 0.25 + 0.005);
    // Taken away, there is nothing left of them.
    Set(&flesh, NULL, 0);
    SolvePose(&flesh, &clip, 0);
    ASSERT_AT_MOST(Farthest(flesh.nodes, flesh.test.volume.nodes, flesh.test.volume.nodeCount), 1e-9);
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

// A joint takes its collider along; the block turns as a whole, so the force turns with it.
static void AColliderOnAJointPressesTheSameInEveryPose(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh(SOFT);
    Create(&flesh, false);
    jnaClip clip = RestClip(&flesh.test.character, 2, 30);
    TurnJoint(&clip, 1, 0, 1.2, AXIS_Z);
    jnaCollider ball = Ball(0.3, 0.7, 0.45, 0);
    ball.joint = 0;
    Set(&flesh, &ball, 1);
    SolvePose(&flesh, &clip, 0);
    jnaColliderTouch still = jnaFleshSolver_Touches(flesh.solver)[0];
    SolvePose(&flesh, &clip, 1);
    jnaColliderTouch turned = jnaFleshSolver_Touches(flesh.solver)[0];
    ASSERT_NEAR(jnaLength(turned.force), jnaLength(still.force), 0.01 * jnaLength(still.force));
    double x = cos(1.2) * still.force[0] - sin(1.2) * still.force[1];
    ASSERT_NEAR(turned.force[0], x, 0.02 * jnaLength(still.force));
    jnaDestroyClip(&clip);
    DestroyTestFlesh(&flesh);
}

enum { FRAMES = 24 };

// A ball comes down, stays, and leaves; how deep it was inside at most, and what is left of it in the end.
static void Play(TestFlesh* flesh, double* deepest, double* state)
{
    jnaClip clip = RestClip(&flesh->test.character, FRAMES, 60);
    float path[FRAMES][7];
    for (int f = 0; f < FRAMES; ++f) {
        float down = f < 6 ? (float)f / 6 : f < 10 ? 1.0f : f < 13 ? 1 - (float)(f - 10) / 3 : 0.0f;
        memcpy(path[f], (float[7]){0.7f, 0.62f - 0.12f * down, 0, 0, 0, 0, 1}, sizeof(path[f]));
    }
    jnaCollider ball = Ball(0.3, 0, 0, 0);
    ball.path = &path[0][0];
    ball.pathCount = FRAMES;
    Set(flesh, &ball, 1);
    jnError error = {0};
    *deepest = 0;
    assert_int_equal(jnaFleshSolver_Start(flesh->solver, &clip, 0, state, &flesh->report, &error), jn_ok);
    for (int f = 0; f + 1 < FRAMES; ++f) {
        assert_int_equal(jnaFleshSolver_Advance(flesh->solver, &clip, f, state, &flesh->report, &error), jn_ok);
        assert_true(flesh->report.converged);
        memcpy(flesh->nodes, state, 3 * (size_t)flesh->test.volume.nodeCount * sizeof(double));
        jnaCollider now = Ball(0.3, 0.7, (double)path[f + 1][1], 0);
        *deepest = fmax(*deepest, Deepest(flesh, &now));
    }
    jnaDestroyClip(&clip);
}

static void MovingFleshStaysOutsideAndIsTheSameAgain(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh(SOFT);
    Create(&flesh, false);
    size_t bytes = jnaFlesh_StateCount(flesh.flesh) * sizeof(double);
    double deepest, *first = malloc(bytes), *second = malloc(bytes);
    Play(&flesh, &deepest, first);
    print_message("a ball of 30 cm pressed in by 5 cm and drawn back: at most %.2f mm inside\n", 1e3 * deepest);
    ASSERT_AT_MOST(deepest, 3e-3);
    assert_true(Farthest(first, flesh.test.volume.nodes, flesh.test.volume.nodeCount) > 1e-3); // it still swings
    assert_true(Farthest(first, flesh.test.volume.nodes, flesh.test.volume.nodeCount) < 0.05); // and was not shot away
    Play(&flesh, &deepest, second);
    assert_memory_equal(first, second, bytes);
    free(first);
    free(second);
    DestroyTestFlesh(&flesh);
}

static void WhatCannotBeIsRefused(void** state)
{
    (void)state;
    TestFlesh flesh = MakeTestFlesh(SOFT);
    Create(&flesh, false);
    jnError error = {0};
    jnaCollider bad[4] = {Ball(-1, 0, 0, 0), Ball((double)NAN, 0, 0, 0), Ball(1, 0, HUGE_VAL, 0), Ball(1, 0, 0, 0)};
    bad[3].joint = 2;
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(jnaFleshSolver_SetColliders(flesh.solver, &bad[i], 1, &error), jn_badArgument);
    }
    DestroyTestFlesh(&flesh);
    TestFlesh slow = MakeTestFlesh(SOFT);
    Create(&slow, true);
    jnaCollider good = Ball(1, 0, 2, 0);
    assert_int_equal(jnaFleshSolver_SetColliders(slow.solver, &good, 1, &error), jn_badArgument);
    DestroyTestFlesh(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(DistancesAreThoseOfTheShapes),
        cmocka_unit_test(AWallPressesAsHookSays),
        cmocka_unit_test(WhatIsPressedIsOutsideAndBulges),
        cmocka_unit_test(AColliderOnAJointPressesTheSameInEveryPose),
        cmocka_unit_test(MovingFleshStaysOutsideAndIsTheSameAgain),
        cmocka_unit_test(WhatCannotBeIsRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
