// Self-contact of flesh: which nodes of the surface are inside foreign flesh, and the way out.
//
// A node of the volume's boundary is inside when it lies in a deformed tetrahedron that it is not a corner of and whose
// material point there is far from it at rest. The way out is the point of the rest surface closest to that material
// point, carried along with its face; so a deep start still knows its direction. Metres throughout.
#pragma once

#include "jounce-author/volume.h"

/// A node and the face that it has to stay in front of: gap = normal . (x_node - sum of weight * x_corner) >= 0.
typedef struct jnaContactPair {
    int32_t node;       // of the volume's boundary
    int32_t corners[3]; // nodes of the face, counter-clockwise from outside
    double weights[3];  // of the corners, at least 0, sum 1
    double normal[3];   // of the deformed face when it was found, unit, out of the flesh
    double stiffness;   // N/m for a penalty factor of 1: shear modulus times local edge length
    double gap;         // when it was found or last looked at, metres; negative inside
} jnaContactPair;

/// Pairs at hand. Mutable, one per solving thread.
typedef struct jnaContacts {
    int count, capacity;
    jnaContactPair* pairs; // [capacity], owned
} jnaContacts;
void jnaDestroyContacts(jnaContacts* contacts);

/// How much of the flesh is inside itself.
typedef struct jnaPenetration {
    int nodeCount; // nodes of the boundary inside foreign flesh
    double depth;  // greatest, metres, along the way out
    double volume; // about, m3: sum of depth times the node's share of the surface
} jnaPenetration;

/// Start from jnaDefaultContactDef. Nothing of it is kept.
typedef struct jnaContactDef {
    const jnaVolume* volume;
    double restDistance; // points of the flesh closer than this at rest do not touch; 0, the default: 3 times the
                         // median edge of the boundary, at least 2 % of the height
    double reach;        // pairs are kept while the gap is below this; 0: half the median edge
} jnaContactDef;
jnaContactDef jnaDefaultContactDef(const jnaVolume* volume);

/// What does not change while the flesh moves: boundary, rest distances, trees. Shared by threads, only read.
typedef struct jnaContactShape jnaContactShape;
jnResult jnaCreateContactShape(const jnaContactDef* def, jnaContactShape** shape, jnError* error);
void jnaDestroyContactShape(jnaContactShape* shape); // NULL is allowed

/// Buffers for looking; one per thread.
typedef struct jnaContactFinder jnaContactFinder;
jnResult jnaCreateContactFinder(const jnaContactShape* shape, jnaContactFinder** finder, jnError* error);
void jnaDestroyContactFinder(jnaContactFinder* finder); // NULL is allowed

/// Finds the pairs of deformed nodes. Pairs that are in `contacts` already are looked at again (their point slides to
/// where it belongs now) and kept while they are within reach; new ones are added. Order depends on nothing but the
/// input. nodes: [nodeCount][3]. penetration: may be NULL.
jnResult jnaContactFinder_Find(
    jnaContactFinder* finder, const double* nodes, jnaContacts* contacts, jnaPenetration* penetration, jnError* error);

/// The penetration alone.
jnResult jnaContactFinder_Measure(
    jnaContactFinder* finder, const double* nodes, jnaPenetration* penetration, jnError* error);
