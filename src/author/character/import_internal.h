// What the files of the import share.
#pragma once

#include "character/import.h"

#include "character/scene.h"

/// Bytes of a model's file; of a .gltf with the .bin files of its folder.
double jnaSizeOfModel(const char* path);

/// A file adds to what the import may come to.
void jnaImportBudget_AddFile(jnaImportBudget* budget, const char* path);

/// Counts what is about to be allocated; an error where it is more than the files may come to. budget: NULL: not
/// counted.
jnResult jnaImportBudget_TakeBytes(jnaImportBudget* budget, const char* path, double bytes, jnError* error);

/// A joint in the making: a node of the scene, or a twin of one that a second skin binds differently.
typedef struct jnaRigJoint {
    int node;              // of the scene; a twin has its joint's
    int parent;            // joint, -1 for a root
    bool twin;             // moves rigidly with its parent
    bool bound;            // inverseBind is set
    double stretch;        // uniform scale of the nodes above the skeleton, taken out of the joint matrices
    jnaAffine inverseBind; // rest surface in file units to the node
} jnaRigJoint;

/// The nodes of a scene that become joints, and the folded ones above them.
typedef struct jnaRig {
    int jointCount, jointCapacity;
    jnaRigJoint* joints;
    int* jointOfNode;     // [nodeCount], -1 for a node that is none
    jnaAffine* above;     // [nodeCount], product of the folded nodes down to here, this one included
    bool* folded;         // [nodeCount]
    jnaAffine* restWorld; // [nodeCount], file units, upright
} jnaRig;

/// What turns a file's up axis to Y.
jnaAffine jnaUpright(int upAxis);

/// Leaves one character in the scene, counted from 1; 0: all of them, and a note that lists them where there are
/// several.
jnResult jnaChooseCharacter(const char* path, jnaScene* scene, int number, jnaNotes* notes, jnError* error);

/// jnaCreateRig with the scene's up axis set right.
jnResult jnaSettleUpAxis(
    const char* path, jnaScene* scene, jnaUp wanted, const bool* joints, jnaRig* rig, jnaNotes* notes, jnError* error);

/// Chooses the joints. `wanted` (may be NULL) lists nodes to take besides the bones, [nodeCount].
jnResult jnaCreateRig(const char* path, const jnaScene* scene, const bool* wanted, jnaRig* rig, jnError* error);
void jnaDestroyRig(jnaRig* rig);

/// A transform in its three parts.
typedef struct jnaTrs {
    double translation[3], rotation[4], scale[3];
} jnaTrs;

/// Local transform of a joint in metres, from the node's own. scale: metres per unit.
jnaTrs jnaRig_Local(const jnaRig* rig, const jnaScene* scene, int joint, const jnaTrs* node, double scale);

/// A copy of a mesh of the scene, placed in the common rest space.
typedef struct jnaPlacedMesh {
    const jnaSceneMesh* mesh;
    jnaAffine place; // mesh to rest surface, file units
    int firstVertex; // file vertex
    int fallback;    // joint that takes vertices without weight
    int* boneJoints; // [boneCount]; NULL for a rigid mesh
    jnaMeshRole role;
} jnaPlacedMesh;

typedef struct jnaPlacement {
    int count, capacity;
    jnaPlacedMesh* meshes;
    int fileVertexCount;
    int triangleCount;
} jnaPlacement;

/// Brings all meshes into one rest space and binds them to the rig.
jnResult jnaPlaceMeshes(
    const char* path, const jnaScene* scene, jnaRig* rig, jnaPlacement* placement, jnaNotes* notes, jnError* error);
void jnaDestroyPlacement(jnaPlacement* placement);

/// Sets what the meshes are, as the def names them.
void jnaSetRoles(const jnaScene* scene, const jnaImportDef* def, jnaPlacement* placement);

/// Fills the surface of a character: positions, influences, weld, normals, UVs, triangles, parts.
jnResult jnaBuildSurface(const char* path, const jnaPlacement* placement, double scale, jnaCharacter* character,
    jnaNotes* notes, jnError* error);

/// Gives vertices without weights the influences of the skin around them.
jnResult jnaSpreadWeights(const jnaPlacement* placement, jnaCharacter* character, jnError* error);
/// Refuse what is too large to be computed with, by its place. positions: [count][3], metres.
jnResult jnaCheckSurfaceBounds(const char* path, const float* positions, size_t count, jnError* error);
jnResult jnaCheckJointBounds(const char* path, const jnaCharacter* character, jnError* error);
jnResult jnaCheckClipBounds(const char* path, const jnaClipList* clips, jnError* error);

/// Fills the attributes of a character that has its surface.
jnResult jnaBuildAttributes(const jnaPlacement* placement, jnaCharacter* character, jnaNotes* notes, jnError* error);

/// Where the weight of a character's target is animated: a node of the scene and the number there.
typedef struct jnaTargetSource {
    int target, node, number;
} jnaTargetSource;

typedef struct jnaTargetSources {
    int count;
    jnaTargetSource* list; // [count]
} jnaTargetSources;

/// Fills the morph targets of a character that has its surface. scale: metres per unit. sources: release their list.
jnResult jnaBuildTargets(const jnaPlacement* placement, double scale, jnaCharacter* character,
    jnaTargetSources* sources, jnaNotes* notes, jnError* error);

/// Welds file vertices with the same position and influences. weld: [count], out. Returns the number of
/// vertices, or -1 when memory is short. Vertices are numbered as they first appear.
int jnaWeld(int count, const float* positions, const jnaInfluences* influences, double tolerance, int32_t* weld);

/// What animations are sampled on, and how densely.
typedef struct jnaSampling {
    const jnaScene* scene;
    const jnaRig* rig;
    double scale; // metres per unit
    double rate;  // hertz
    jnaNotes* notes;
    const jnaCharacter* character;   // whose morph targets are animated; NULL: none are
    const jnaTargetSources* sources; // of them
    const jnaImportDef* loops;       // loops of any length are closed as it says; NULL: they are not
    jnaImportBudget* budget;         // NULL: there is none
    const jnaWatch* watch;           // may end it; NULL: nobody
} jnaSampling;

/// Whether the first and last frame of a clip agree; see clip_loop.c.
bool jnaClip_EndsMeet(const jnaClip* clip);

/// Samples every animation of the scene on the rig at a fixed rate, loops at one of their own. One without a length, a
/// single pose, is left out and noted.
jnResult jnaSampleAnimations(const char* path, const jnaSampling* sampling, jnaClipList* clips, jnError* error);

/// Fills names, parents, rest transforms and bind matrices of a rig's joints. joints: [rig->jointCount].
void jnaFillJoints(const jnaScene* scene, const jnaRig* rig, double scale, jnaJoint* joints);

/// The same of a file's name, without folder and ending.
void jnaNameByFile(const char* path, char* name);

/// A skeleton with its motion, whatever the file it came from.
typedef struct jnaSource {
    const char* path;
    jnaCharacter skeleton; // joints only
    jnaClip clip;          // at the file's own rate
    const jnaWatch* watch; // may end its retargeting; NULL: nobody
} jnaSource;

jnResult jnaReadBvh(const char* path, jnaSource* source, jnError* error);
/// The same in a confined child process, for files from elsewhere.
jnResult jnaReadBvhConfined(const char* path, const jnaSceneLimits* limits, jnaSource* source, jnError* error);
void jnaDestroySource(jnaSource* source);

/// Brings the motion of another skeleton to a character, see retarget.c.
jnResult jnaRetarget(const jnaSource* source, const jnaRetargetDef* def, const jnaCharacter* character, double rate,
    jnaClip* clip, jnaNotes* notes, jnError* error);
