// Linear elasticity of a volume about a state of rest: stiffness, lumped mass, and the factor of any positive sum of
// the two.
//
// The stiffness is the Hessian of the flesh simulator's energy (flesh/elements.h), on the same patches, at given
// positions of the nodes. In the rest pose, with G the gradient of a displacement and e its symmetric part, that is
// mu |e|^2 + lambda/2 tr(e)^2  with the ordinary Lame parameters of Young's modulus E and Poisson's ratio v,
//     mu = E / (2 (1 + v)),  lambda = E v / ((1 + v) (1 - 2 v)),
// and tr(e) averaged over a patch. In another pose, stretched and pressed flesh is part of it.
//
// Nodes whose bone holds them exactly are left out; springs of bones are part of the stiffness. Vectors are over the
// free nodes, [freeCount][3]. All calls give the same bytes for any number of threads.
#pragma once

#include "base/watch.h"
#include "volume/volume.h"

typedef struct jnaElastic jnaElastic;

/// Assembles stiffness and mass. Needs the volume's material; bones may be missing (nothing is held). The volume may
/// be destroyed afterwards. nodes: [nodeCount][3], an equilibrium; NULL: the rest pose.
jnResult jnaCreateElastic(const jnaVolume* volume, const double* nodes, jnaElastic** elastic, jnError* error);
void jnaDestroyElastic(jnaElastic* elastic); // NULL is allowed

int jnaElastic_FreeCount(const jnaElastic* elastic);
const int* jnaElastic_FreeNodes(const jnaElastic* elastic); // [freeCount], node of a free one
const double* jnaElastic_Masses(const jnaElastic* elastic); // [nodeCount], kg, held nodes included
double jnaElastic_TotalMass(const jnaElastic* elastic);     // kg

/// Factors  stiffness K + mass M  for jnaElastic_Solve; refused where it is not positive definite.
jnResult jnaElastic_Factor(jnaElastic* elastic, double stiffness, double mass, jnError* error);

/// values <- (stiffness K + mass M)^-1 values.
jnResult jnaElastic_Solve(jnaElastic* elastic, double* values, jnError* error);

/// How much more than the flesh in general a motion is damped: the mean of its tetrahedra, weighted by how much each is
/// strained.
double jnaElastic_Damping(const jnaElastic* elastic, const double* values);

/// result = K values.
void jnaElastic_Apply(const jnaElastic* elastic, const double* values, double* result);

/// The `count` lowest solutions of K phi = omega^2 M phi, or as many as there are: rising, each of unit modal mass
/// (phi . M phi = 1). Shift-invert Lanczos from a fixed start. omega2: [count], 1/s^2, may be a rounding error
/// below 0; shapes: [count][freeCount][3]. Replaces the factor. watch: may be NULL.
jnResult jnaElastic_FindModes(
    jnaElastic* elastic, int count, double* omega2, double* shapes, int* found, const jnaWatch* watch, jnError* error);
