// Cross-sections of a volume's boundary: how thick the flesh is around a point.
#pragma once

#include "jounce/base.h"
#include "volume/volume.h"

enum { JNA_SECTION_RAYS = 24 };

/// The boundary of a volume, ready to be cut.
typedef struct jnaSlicer {
    const double* nodes; // [nodeCount][3], not owned
    int nodeCount;
    int triangleCount;
    int32_t* triangles; // [triangleCount][3]
    double* heights;    // [nodeCount], scratch
} jnaSlicer;

/// A section seen from its origin.
typedef struct jnaSection {
    bool inside;                        // most rays leave the flesh an odd number of times
    double distances[JNA_SECTION_RAYS]; // to the skin along evenly turned rays, none beyond twice the median
    double radius;                      // their median
    double least;                       // the shortest
    double shift[2];                    // from the origin to the middle of the section
    double second[2];                   // cosine and sine of twice the angle: how elliptic it is
} jnaSection;

jnResult jnaCreateSlicer(const jnaVolume* volume, jnaSlicer* slicer, jnError* error);
void jnaDestroySlicer(jnaSlicer* slicer);

/// Cuts by the plane through `origin` that u and v (unit, square to each other) span. Ray k points along
/// u cos(a) + v sin(a) with a = 2 pi k / JNA_SECTION_RAYS.
void jnaSlice(jnaSlicer* slicer, const double* origin, const double* u, const double* v, jnaSection* section);

/// Two unit vectors square to a unit axis and to each other.
void jnaCrossAxes(const double* axis, double* u, double* v);
