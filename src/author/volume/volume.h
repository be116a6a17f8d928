// The flesh inside a character: tetrahedra, how the skin hangs on them, which joints move them and which bones hold
// them.
//
// Metres, rest pose. Nodes of a conforming mesh begin with the welded vertices of the surface; a lattice mesh has its
// own.
#pragma once

#include "jounce/base.h"

typedef enum jnaVolumeMethod {
    jna_volumeAuto, // lattice, but conforming where the surface is coarse and closed
    jna_volumeTetgen,
    jna_volumeLattice,
} jnaVolumeMethod;

/// What separate parts of a surface that hardly bend (plates, pouches, eyeballs) or are sheets are taken for.
typedef enum jnaShells {
    jna_shellsAuto,  // pieces and sheets: left out of the flesh, and riding on it (skin_extension.h)
    jna_shellsFlesh, // flesh, as all others
    jna_shellsRigid, // every part but the largest is a piece
} jnaShells;

/// What the skin at a vertex is.
typedef enum jnaSkinKind {
    jna_skinFlesh,   // tetrahedra carry it
    jna_skinClothed, // the same, of an outfit without a body under it: to be held to conservative limits
    jna_skinSheet,   // clothes, hems, hair cards: follows the flesh under it
    jna_skinPiece,   // pouches, plates, eyes: rides on the flesh as one piece, as it is
    jna_skinRigid,   // the joints alone move it
} jnaSkinKind;

/// How a bone holds its nodes.
typedef enum jnaBoneHold {
    jna_boneDirichlet, // they follow it exactly
    jna_boneSpring,    // zero-restlength springs pull them to it
} jnaBoneHold;

/// The material of a region.
typedef struct jnaMaterial {
    double young;        // Pa
    double poisson;      // 0 to below 0.5
    double density;      // kg/m3
    double extraDamping; // of what is proportional to the stiffness: 0 as the flesh in general, 1 twice that
    double stiffening;   // sheared by g it is 1 + stiffening g^2 times as stiff
} jnaMaterial;

/// A volume mesh of a character. Arrays are owned; who fills them is in brackets.
typedef struct jnaVolume {
    jnaVolumeMethod method;
    int nodeCount;
    double* nodes; // [nodeCount][3] (mesh)
    int tetrahedronCount;
    int32_t* tetrahedra; // [tetrahedronCount][4], positive volume (mesh)

    // The skin: vertex v is the weighted mean of the corners of its tetrahedron, plus an offset, rotated as its joints
    // are, to where it is outside the tetrahedra or was moved from for the simulation. A vertex that is left out of the
    // volume has tetrahedron -1 and is carried by skinning.
    // Where tetrahedra are too coarse for the surface (nipples, ears, lips), skinBlend is below 1, and the vertex moves
    // more or less as the skin around it does (skin_extension.h).
    int vertexCount;
    int32_t* skinTetrahedra; // [vertexCount] (mesh)
    double* skinWeights;     // [vertexCount][4], 0 to 1, sum 1 (mesh)
    double* skinOffsets;     // [vertexCount][3] (mesh)
    double* skinBlend;       // [vertexCount], 0 to 1 (its tetrahedron alone); NULL: 1 for all that have one (mesh)
    uint8_t* skinKinds;      // [vertexCount], jnaSkinKind; NULL: flesh where it has a tetrahedron (mesh)

    // Skinning of the nodes, rows compressed: entries rowStarts[n] to rowStarts[n + 1] (weights)
    int32_t* rowStarts; // [nodeCount + 1]
    uint16_t* joints;   // [rowStarts[nodeCount]]
    float* weights;     // the same, each row positive and of sum 1

    // Bones (bones)
    // What a node follows: the bone of joint j, or jointCount + j: the ball at joint j, which turns with half of its
    // rotation, or 2 * jointCount: the node's own skinned position. -1: nothing.
    int32_t* heldBy;     // [nodeCount]
    float* holdStrength; // [nodeCount] of the spring that holds it, 1/s2; 0: it follows exactly
    int jointCount;

    // Material (material)
    uint8_t* regions; // [tetrahedronCount], index into materials
    int materialCount;
    jnaMaterial* materials;
} jnaVolume;

void jnaDestroyVolume(jnaVolume* volume);

/// The material of a tetrahedron.
static inline const jnaMaterial* jnaVolume_Material(const jnaVolume* volume, int tetrahedron)
{
    return &volume->materials[volume->regions[tetrahedron]];
}

/// What the skin at a vertex is; of a volume without kinds, flesh or a sheet.
static inline jnaSkinKind jnaVolume_Kind(const jnaVolume* volume, int vertex)
{
    return volume->skinKinds != NULL            ? (jnaSkinKind)volume->skinKinds[vertex]
           : volume->skinTetrahedra[vertex] < 0 ? jna_skinSheet
                                                : jna_skinFlesh;
}

/// How well a vertex's tetrahedron resolves its motion: 0 where it follows the skin around it.
static inline double jnaVolume_Blend(const jnaVolume* volume, int vertex)
{
    return volume->skinTetrahedra[vertex] < 0 ? 0 : volume->skinBlend == NULL ? 1 : volume->skinBlend[vertex];
}
