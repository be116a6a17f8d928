// What the tests of the spring set share: a set, a step, a lively target, and springs of every kind.
#pragma once

#include "helpers/support.h"

#include "jounce/jounce.h"

#include <float.h>

enum { MAX_SPRINGS = 67 };

// Makes a set of `count` springs, all alike unless arrays are set in the def.
static inline jnSprings* Make(int count, float stiffness, float damping, jnCurve curve, jnTiming timing)
{
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = count;
    def.uniformStiffness = stiffness;
    def.uniformDamping = damping;
    def.curve = curve;
    def.timing = timing;
    jnSprings* springs;
    jnError error;
    if (jnCreateSprings(&def, &springs, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return springs;
}

static inline void Step(jnSprings* springs, double h, const float* targets, float* positions)
{
    jnSprings_Step(
        springs, &(jnSpringsInput){.h = (float)h, .targets = targets}, &(jnSpringsOutput){.positions = positions});
}

// A smooth, lively target of range about 1 m.
static inline void Target(double t, float x[3])
{
    x[0] = (float)(0.4 * sin(2.1 * t) + 0.1 * sin(7.3 * t));
    x[1] = (float)(1.0 + 0.3 * cos(3.3 * t) + 0.05 * sin(11 * t));
    x[2] = (float)(0.2 * sin(1.3 * t + 1) * cos(5 * t));
}

static inline void TargetVelocity(double t, float v[3])
{
    v[0] = (float)(0.4 * 2.1 * cos(2.1 * t) + 0.1 * 7.3 * cos(7.3 * t));
    v[1] = (float)(-0.3 * 3.3 * sin(3.3 * t) + 0.05 * 11 * cos(11 * t));
    v[2] = (float)(0.2 * (1.3 * cos(1.3 * t + 1) * cos(5 * t) - 5 * sin(1.3 * t + 1) * sin(5 * t)));
}

// Soft and stiff, under-, critically and overdamped.
static const float pairs[][2] = {{200, 2}, {200, 28.284271f}, {256, 32}, {200, 60}, {5000, 20}, {50, 1}, {9000, 400}};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };
