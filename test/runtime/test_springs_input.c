// Springs fed as no one should: strides that are no multiple of a float, steps of next to no time.
#include "helpers/support.h"
#include "jounce/springs.h"

enum { COUNT = 37, STRIDE = 13 };

static void FillTargets(int frame, float* targets)
{
    for (int i = 0; i < 3 * COUNT; ++i) {
        targets[i] = 0.01f * (float)((7 * i + 13 * frame) % 31);
    }
}

static jnSprings* Create(void)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = COUNT;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, NULL), jn_ok);
    return springs;
}

static void AnyStrideGivesTheSameBytes(void** state)
{
    (void)state;
    jnSprings *dense = Create(), *odd = Create();
    float targets[3 * COUNT], positions[3 * COUNT], velocities[3 * COUNT];
    static _Alignas(64) char in[STRIDE * COUNT], place[STRIDE * COUNT], speed[STRIDE * COUNT];
    for (int frame = 0; frame < 8; ++frame) {
        FillTargets(frame, targets);
        for (int i = 0; i < COUNT; ++i) {
            memcpy(in + i * STRIDE, targets + 3 * i, 12);
        }
        // A pause and a teleport read the targets in other ways.
        float h = frame == 4 ? 0.0f : 0.02f;
        jnTeleport teleport = frame == 6 ? jn_teleportKeep : jn_teleportNone;
        jnSprings_Step(dense, &(jnSpringsInput){.h = h, .targets = targets, .teleport = teleport},
            &(jnSpringsOutput){.positions = positions, .velocities = velocities});
        jnSprings_Step(odd,
            &(jnSpringsInput){
                .h = h, .targets = (const float*)(const void*)in, .targetStride = STRIDE, .teleport = teleport},
            &(jnSpringsOutput){(float*)(void*)place, STRIDE, (float*)(void*)speed, STRIDE});
        for (int i = 0; i < COUNT; ++i) {
            assert_memory_equal(place + i * STRIDE, positions + 3 * i, 12);
            assert_memory_equal(speed + i * STRIDE, velocities + 3 * i, 12);
        }
    }
    jnDestroySprings(dense);
    jnDestroySprings(odd);
}

static void AStepOfNoTimeIsAPause(void** state)
{
    (void)state;
    static const float shorts[] = {1e-30f, 1e-10f, 1e-8f, 9e-7f, -1.0f, NAN, -INFINITY};
    for (size_t k = 0; k < sizeof(shorts) / sizeof(shorts[0]); ++k) {
        jnSprings* springs = Create();
        float targets[3 * COUNT], velocities[3 * COUNT];
        for (int frame = 0; frame < 12; ++frame) {
            FillTargets(frame % 3, targets);
            jnSprings_Step(springs, &(jnSpringsInput){.h = frame == 6 ? shorts[k] : 0.02f, .targets = targets},
                &(jnSpringsOutput){.velocities = velocities});
            for (int i = 0; i < 3 * COUNT; ++i) { // targets move by 0.3 m in a step of 0.02 s
                if (!(fabsf(velocities[i]) < 100)) {
                    fail_msg("h %g, frame %d: a velocity of %g m/s", (double)shorts[k], frame, (double)velocities[i]);
                }
            }
        }
        jnDestroySprings(springs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnyStrideGivesTheSameBytes),
        cmocka_unit_test(AStepOfNoTimeIsAPause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
