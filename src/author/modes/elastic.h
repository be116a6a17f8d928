// Linear elasticity of a volume at rest: stiffness, lumped mass, and the factor of any positive sum of the two.
//
// With G the gradient of a displacement and e its symmetric part, the energy is  mu |e|^2 + lambda/2 tr(e)^2,  the
// second-order part at rest of the stable neo-Hookean flesh
//     psi = mu/2 (|F|^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2,
// so mu and lambda are the ordinary Lame parameters of Young's modulus E and Poisson's ratio v:
//     mu = E / (2 (1 + v)),  lambda = E v / ((1 + v) (1 - 2 v)).
// As in the flesh, the part with lambda is one of patches of up to four tetrahedra: tr(e) is averaged over a patch.
//
// Nodes whose bone holds them exactly are left out; springs of bones are part of the stiffness. Vectors are over the
// free nodes, [freeCount][3]. All calls give the same bytes for any number of threads.
#pragma once

#include "base/watch.h"
#include "volume/volume.h"

typedef struct jnaElastic jnaElastic;

/// Assembles stiffness and mass. Needs the volume's material; bones may be missing (nothing is held). The volume may
/// be destroyed afterwards.
jnResult jnaCreateElastic(const jnaVolume* volume, jnaElastic** elastic, jnError* error);
void jnaDestroyElastic(jnaElastic* elastic); // NULL is allowed

int jnaElastic_FreeCount(const jnaElastic* elastic);
const int* jnaElastic_FreeNodes(const jnaElastic* elastic); // [freeCount], node of a free one
const double* jnaElastic_Masses(const jnaElastic* elastic); // [nodeCount], kg, held nodes included
double jnaElastic_TotalMass(const jnaElastic* elastic);     // kg

/// Factors  stiffness K + mass M  for jnaElastic_Solve; refused where it is not positive definite.
jnResult jnaElastic_Factor(jnaElastic* elastic, double stiffness, double mass, jnError* error);

/// values <- (stiffness K + mass M)^-1 values.
jnResult jnaElastic_Solve(jnaElastic* elastic, double* values, jnError* error);

/// result = K values.
void jnaElastic_Apply(const jnaElastic* elastic, const double* values, double* result);

/// The `count` lowest solutions of K phi = omega^2 M phi, or as many as there are: rising, each of unit modal mass
/// (phi . M phi = 1). Shift-invert Lanczos (ARPACK) from a fixed start. omega2: [count], 1/s^2, may be a rounding error
/// below 0; shapes: [count][freeCount][3]. Replaces the factor. watch: may be NULL.
jnResult jnaElastic_FindModes(
    jnaElastic* elastic, int count, double* omega2, double* shapes, int* found, const jnaWatch* watch, jnError* error);
