// The damped spring's response in closed form: the mathematics that everything else stands on.
//
// A spring's offset y from its target obeys  y'' + k_d y' + k_s y = f(t),  k_s the stiffness and k_d the
// damping, both per unit of mass. With alpha = k_d/2 and sigma = alpha^2 - k_s, the response to a unit
// impulse at time 0 is
//
//     w(t) = e^{-alpha t} sinh(sqrt(sigma) t)/sqrt(sigma)      (sin instead of sinh where sigma < 0, t
//     e^{-alpha t} at 0)
//
// and all that a step of the spring needs is w, its derivative, and its first two integrals.
#pragma once

#include "jounce/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Responses of a spring at time h. The names in brackets are those of the equations in docs/background/springs.md.
typedef struct jnSpringResponse {
    double cosine;   // e^{-alpha h} cosh(sqrt(sigma) h)  [EC]
    double impulse;  // w(h), offset after a unit kick of velocity  [ES], seconds
    double step;     // integral of w, offset under a unit acceleration  [G1], seconds^2
    double ramp;     // integral of step, offset under an acceleration that grows as t  [G2], seconds^3
    double position; // offset that is left of a unit offset at rest  [EC + alpha ES = 1 - k_s G1]
    double velocity; // velocity that is left of a unit velocity  [EC - alpha ES = w'(h)]
} jnSpringResponse;

/// Evaluates all responses for any stiffness >= 0 (1/s^2), damping >= 0 (1/s) and h >= 0 (s), in every
/// regime, with an error of at most 1e-12 of each function's envelope wherever |sqrt(sigma)| h <= 1e3;
/// beyond, the phase is no better known than the arguments, and the result is finite and inside the envelope.
/// Arguments above 1e60 act as 1e60; NaN and negative arguments act as 0.
JN_API jnSpringResponse jnEvaluateSpring(double stiffness, double damping, double h);

/// The same with the derivatives by stiffness and by damping, to the same accuracy. Continuous across
/// critical damping.
JN_API jnSpringResponse jnDifferentiateSpring(
    double stiffness, double damping, double h, jnSpringResponse* byStiffness, jnSpringResponse* byDamping);

/// Stiffness of a spring that swings `hertz` times a second when undamped: (2 pi hertz)^2.
JN_API float jnStiffnessFromHertz(float hertz);

/// Damping for a damping ratio (1 is critical) at a frequency: 4 pi hertz ratio.
JN_API float jnDampingFromRatio(float hertz, float ratio);

/// Undamped frequency in hertz of a stiffness.
JN_API float jnHertzFromStiffness(float stiffness);

/// Damping ratio of a spring; infinite for a damped spring without stiffness, 0 without damping.
JN_API float jnRatioFromDamping(float stiffness, float damping);

#ifdef __cplusplus
}
#endif
