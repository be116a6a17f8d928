// What lives inside a volume mesh: weights of the nodes, bones that hold them, material, and how they move.
//
// Every call takes a volume whose mesh is filled and a character of the same rest pose, and owns nothing of either.
// The bytes do not depend on the number of threads.
#pragma once

#include "volume/volume.h"
#include "workspace/workspace.h"

/// How the weights are carried inside. Start from jnaDefaultWeightsDef.
typedef struct jnaWeightsDef {
    double smallest; // weights of inner nodes below this are dropped; 0.002
    int most;        // joints per inner node, 1 to JNA_MAX_INFLUENCES; 8
    int threads;     // 0: as many as OpenMP likes
} jnaWeightsDef;
jnaWeightsDef jnaDefaultWeightsDef(void);

/// Carries the surface's weights to all nodes by the Laplace equation; fills rowStarts, joints, weights, jointCount.
/// A node that is a vertex of the surface gets that vertex's own weights. About 0.3 s for 21,000 nodes and 31 joints.
jnResult jnaVolume_CarryWeights(
    jnaVolume* volume, const jnaCharacter* character, const jnaWeightsDef* def, jnError* error);

/// A piece of bone: a segment with an elliptic cross-section that tapers, rounded at both ends, less what lies under
/// its cover. Rest pose, metres.
typedef struct jnaBone {
    int joint;          // that it follows
    bool ball;          // it turns with half of the joint's rotation, about the joint
    bool blends;        // it follows the skinned positions of its nodes, as a spine does
    double cover;       // flesh between it and the skin; 0: as its shape says
    double ends[2][3];  // equal for an ellipsoid
    double axes[3][3];  // unit: across, across, along
    double radii[2][2]; // at each end, along the first two axes
    double caps[2];     // how far the rounding reaches beyond each end
} jnaBone;

typedef struct jnaBoneList {
    int count;
    jnaBone* bones; // [count], owned
} jnaBoneList;
void jnaDestroyBoneList(jnaBoneList* bones);

/// How far out a point lies in a bone: below 1 inside, 0 on its axis.
double jnaBone_Depth(const jnaBone* bone, const double* point);

/// Places bones inside the flesh and holds the nodes in them; fills heldBy, holdStrength. Needs the weights.
/// manifest: its bones section; NULL for the defaults. bones: what was placed, may be NULL.
/// Notes say what each part of the character was taken for.
jnResult jnaVolume_PlaceBones(jnaVolume* volume, const jnaCharacter* character, const jnaManifest* manifest,
    jnaBoneList* bones, jnaNotes* notes, jnError* error);

/// Young's modulus of a region, times the general one, where the manifest does not say.
double jnaRegionYoung(jnaRegion region);

/// Gives every tetrahedron its material; fills regions, materialCount, materials. Needs the weights.
/// manifest: its materials section; NULL for the defaults.
jnResult jnaVolume_FillMaterials(
    jnaVolume* volume, const jnaCharacter* character, const jnaManifest* manifest, jnError* error);

/// Refuses a workspace whose bones and materials are not those of its manifest.
jnResult jnaCheckInside(const char* workspace, const jnaManifest* manifest, jnError* error);

/// Draws the bones and the held nodes inside the far half of the skin, from the front and the side, as a PNG.
jnResult jnaPictureBones(
    const jnaVolume* volume, const jnaCharacter* character, const jnaBoneList* bones, const char* path, jnError* error);

/// Rest surface to posed surface, per joint, of one frame of a clip or of the rest pose where clip is NULL.
/// transforms: [jointCount][12], affine, rows of 4, in double precision throughout.
void jnaPoseTransforms(const jnaCharacter* character, const jnaClip* clip, int frame, double* transforms);

/// The balls at the joints of a pose: each turns half as far as its joint does against the joint's parent, about the
/// joint. transforms: [2 * jointCount][12]; the first half is given, the second written.
void jnaBallTransforms(const jnaCharacter* character, double* transforms);

/// Where bones hold a node in a pose; see jnaVolume.heldBy. The node must be held. transforms: of the joints, then of
/// the balls.
void jnaVolume_HeldPosition(const jnaVolume* volume, const double* transforms, int node, double position[3]);

/// Linear blend skinning of the nodes. A row is divided by its own sum, so that one motion of all joints moves every
/// node by exactly that. positions: [nodeCount][3].
void jnaVolume_Skin(const jnaVolume* volume, const double* transforms, double* positions);

/// Tetrahedra that skinning alone turns inside out, in every `every`-th frame of a clip, the first included.
/// counts: [(frameCount - 1) / every + 1].
jnResult jnaVolume_CountInversions(const jnaVolume* volume, const jnaCharacter* character, const jnaClip* clip,
    int every, int* counts, jnError* error);
