// A box of two halves on two joints, in an order of points of its own, as programs other than Blender write it: the
// upper joint turns about Z by a quarter in a second. Every triangle has its own normals, so that Assimp splits each of
// the 12 points into its corners.
#pragma once

#include "helpers/support.h"

enum { BOX_POINTS = 12, BOX_TRIANGLES = 20 };

static inline void BoxPoint(int point, double* p)
{
    int order = point * 5 % BOX_POINTS, ring = order / 4, corner = order % 4; // 5 has no factor of 12
    p[0] = corner == 0 || corner == 3 ? 0.2 : -0.2;
    p[1] = 0.5 * ring;
    p[2] = corner < 2 ? 0.3 : -0.3;
}

static inline int BoxNumber(int ring, int corner)
{
    for (int point = 0; point < BOX_POINTS; ++point) {
        if (point * 5 % BOX_POINTS == 4 * ring + corner % 4) {
            return point;
        }
    }
    return -1;
}

// The joint that holds a point: the upper one has the upper ring.
static inline int BoxJoint(int point)
{
    double p[3];
    BoxPoint(point, p);
    return p[1] > 0.75;
}

static inline void BoxTriangles(int triangles[BOX_TRIANGLES][3])
{
    int count = 0;
    for (int ring = 0; ring < 2; ++ring) {
        for (int c = 0; c < 4; ++c) {
            int a = BoxNumber(ring, c), b = BoxNumber(ring, c + 1), d = BoxNumber(ring + 1, c);
            const int two[2][3] = {{a, d, b}, {b, d, BoxNumber(ring + 1, c + 1)}};
            memcpy(triangles + count, two, sizeof(two));
            count += 2;
        }
    }
    for (int end = 0; end < 2; ++end) {
        int c[4];
        for (int i = 0; i < 4; ++i) {
            c[i] = BoxNumber(2 * end, end ? 3 - i : i);
        }
        const int two[2][3] = {{c[0], c[1], c[2]}, {c[0], c[2], c[3]}};
        memcpy(triangles + count, two, sizeof(two));
        count += 2;
    }
    assert_int_equal(count, BOX_TRIANGLES);
}
