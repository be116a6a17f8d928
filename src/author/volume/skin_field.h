// A field of the nodes at the skin.
#pragma once

#include "volume/volume.h"

/// Numbers of a node's gradient: derivatives of each coordinate along x, y, z; and the volume that they are the mean
/// of.
enum { JNA_GRADIENT = 10 };

/// Gradients at the nodes: the mean of the tetrahedra around each, by volume. values: [nodeCount][3]; gradients:
/// [nodeCount][JNA_GRADIENT], written.
void jnaVolume_Gradients(const jnaVolume* volume, const double* values, double* gradients);

/// The field where a vertex hangs, without its offset; the vertex must have a tetrahedron. gradients: NULL: linear in
/// the tetrahedron, with a kink at each of its faces; else exact for quadratic fields, and hardly a kink. A vertex that
/// is a node has the node's value both ways.
void jnaVolume_AtSkin(
    const jnaVolume* volume, const double* values, const double* gradients, int vertex, double value[3]);
