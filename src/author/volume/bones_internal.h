// What the files of the bones share. Not installed.
#pragma once

#include "base/arena.h"
#include "volume/bones.h"

#include "volume/section.h"

/// What each joint's flesh is, before any bone: nodes belong to the joint with their largest weight.
typedef struct jnaJointFlesh {
    int jointCount;
    jnaArena memory;        // of the arrays below
    double (*positions)[3]; // [jointCount], of the joints in the rest surface
    double* volumes;        // [jointCount], m3 of its nodes
    double (*centers)[3];   // [jointCount], of its nodes, by volume
    int32_t* owners;        // [nodeCount], the joint that a node belongs to
    double* nodeVolumes;    // [nodeCount], m3
    uint8_t* boundary;      // [nodeCount], 1 on the skin
    double total;           // m3
} jnaJointFlesh;

jnResult jnaCreateJointFlesh(const jnaVolume* volume, const jnaCharacter* character, const jnaSlicer* slicer,
    jnaJointFlesh* flesh, jnError* error);
void jnaDestroyJointFlesh(jnaJointFlesh* flesh);

/// The same before there are tetrahedra: the nodes are the vertices of the surface that the slicer cuts. nodeOf:
/// [vertexCount] of the character, the surface's vertex or -1.
jnResult jnaCreateSurfaceFlesh(const jnaCharacter* character, const jnaSlicer* slicer, const int32_t* nodeOf,
    jnaJointFlesh* flesh, jnError* error);

/// How far a joint's flesh reaches from a point along a unit direction: 97 % of its volume lie below. 0 without any.
double jnaJointFlesh_Reach(
    const jnaJointFlesh* flesh, int nodeCount, const double* nodes, int joint, const double* from, const double* along);

/// What the manifest says about the bone of a joint.
typedef struct jnaBoneSetting {
    double radius; // times what is placed by itself; 0: none
    double length; // the same
    bool rigid;    // all flesh that the joint moves most is bone
} jnaBoneSetting;

struct jnaAnatomy;

/// Bones of a character whose parts are known. flesh: of the slicer's nodes. settings: [jointCount].
jnResult jnaShapeBones(const jnaCharacter* character, const jnaJointFlesh* flesh, jnaSlicer* slicer,
    const struct jnaAnatomy* anatomy, const jnaBoneSetting* settings, jnaBoneList* bones, jnError* error);

/// How the flesh is held: see bone_hold.c.
typedef struct jnaHoldDef {
    const jnaCharacter* character;
    const jnaJointFlesh* flesh;
    const struct jnaAnatomy* anatomy;
    const jnaBoneList* bones;
    const jnaBoneSetting* settings; // [jointCount]
    const bool* rigidRegions;       // [JNA_REGIONS]
    bool exactly;                   // nodes that are mostly in bone follow it exactly
    double strength;                // of whole bone, 1/s2
} jnaHoldDef;

/// Holds the nodes by the bone around them; fills heldBy and holdStrength, which must be allocated.
jnResult jnaHoldNodes(jnaVolume* volume, const jnaHoldDef* def, jnaNotes* notes, jnError* error);
