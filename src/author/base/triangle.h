// Points and triangles.
#pragma once

/// Closest point of a triangle, as weights of its corners: exactly 0 where it is on an edge or a corner. A triangle
/// without area is its edges.
void jnaClosestOnTriangle(const double* p, const double* a, const double* b, const double* c, double w[3]);
