// Self-contact of flesh: which nodes of the surface are inside foreign flesh, and the way out.
//
// A node of the volume's boundary is inside when it lies in a deformed tetrahedron whose material point there is
// foreign to it: far from it at rest, or across a gap. The way out starts at the point of the rest surface closest to
// that material point, so a deep start still knows its direction, and leads to the closest point of the deformed
// surface around it, so that sliding is free. Metres throughout.
#pragma once

#include "jounce/base.h"
#include "volume/volume.h"

/// A node and the face that it has to stay in front of: gap = normal . (x_node - sum of weight * x_corner) >= 0.
typedef struct jnaContactPair {
    int32_t node;       // of the volume's boundary
    int32_t corners[3]; // nodes of the face, counter-clockwise from outside
    int32_t face;       // of the boundary, where the finder goes on next time
    int32_t kept;       // 1: the node is no longer inside, but within reach
    double weights[3];  // of the corners, at least 0, sum 1
    double normal[3]; // when it was found, unit, out of the flesh: of the deformed face, or where the closest point is
                      // on an edge or a corner, the direction of the way out
    double stiffness; // N/m for a penalty factor of 1: shear modulus times local edge length
    double gap;       // when it was found or last looked at, metres; negative inside
    double offset;    // metres beyond the face that whoever solves aims at; the finder carries it along
} jnaContactPair;

/// Pairs at hand. Mutable, one per solving thread. A zeroed struct holds none.
typedef struct jnaContacts {
    int count, capacity;
    jnaContactPair* pairs; // [capacity], owned
} jnaContacts;
void jnaDestroyContacts(jnaContacts* contacts);

/// How much of the flesh is inside itself. Does not depend on the pairs at hand.
typedef struct jnaPenetration {
    int nodeCount; // nodes of the boundary inside foreign flesh
    double depth;  // greatest, metres, to the closest point of the surface around the way out
    double volume; // about, m3: half the sum of depth times the node's share of the deformed surface; half, because the
                   // surfaces on both sides of an overlap are counted
} jnaPenetration;

/// Start from jnaDefaultContactDef. Nothing of it is kept but the volume, which must live longer than the shape.
typedef struct jnaContactDef {
    const jnaVolume* volume; // heldBy and materials may be NULL: nothing held, shear modulus 10 kPa
    double restDistance; // flesh closer than this at rest does not touch; 0, the default: 3 times the median edge of
                         // the boundary, at least 2 % of the largest side of its box
    double reach; // pairs are kept while the gap is below this; 0: twice the median edge, or the local edge if longer
    bool gaps;    // flesh that is closer, but across a gap (fingers, thighs), does touch; true. Across a gap: not
                  // connected within 1.5 times restDistance around the node
} jnaContactDef;
jnaContactDef jnaDefaultContactDef(const jnaVolume* volume);

/// What does not change while the flesh moves: boundary, rest distances, trees. Shared by threads, only read.
typedef struct jnaContactShape jnaContactShape;
jnResult jnaCreateContactShape(const jnaContactDef* def, jnaContactShape** shape, jnError* error);
void jnaDestroyContactShape(jnaContactShape* shape); // NULL is allowed

/// Largest side of its box at rest, metres.
double jnaContactShape_Size(const jnaContactShape* shape);

/// Buffers for looking; one per thread.
typedef struct jnaContactFinder jnaContactFinder;
jnResult jnaCreateContactFinder(const jnaContactShape* shape, jnaContactFinder** finder, jnError* error);
void jnaDestroyContactFinder(jnaContactFinder* finder); // NULL is allowed

/// Finds the pairs of deformed nodes. Pairs that are in `contacts` already are looked at again (their point slides to
/// where it belongs now, at most restDistance) and kept while they are within reach; new ones are added for nodes that
/// are inside. Pairs whose nodes are all held by bones cannot be helped and are left out. Sorted by node; the same
/// bytes for the same input. nodes: [nodeCount][3]; one that is not finite is jn_badData. penetration: may be NULL.
/// After a failure the contacts are as they were.
jnResult jnaContactFinder_Find(
    jnaContactFinder* finder, const double* nodes, jnaContacts* contacts, jnaPenetration* penetration, jnError* error);

/// The penetration alone.
jnResult jnaContactFinder_Measure(
    jnaContactFinder* finder, const double* nodes, jnaPenetration* penetration, jnError* error);

/// How deep each node was inside at the last call, metres; 0 outside. [nodeCount], the finder's.
const double* jnaContactFinder_Depths(const jnaContactFinder* finder);
