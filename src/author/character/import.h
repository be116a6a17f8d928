// Characters, clips and vertex caches from other programs' files.
//
// Characters and their clips: glTF 2.0 (.glb, .gltf, .vrm), FBX, Collada (.dae). Motion capture: BVH, retargeted.
// Simulated or scanned motion: Alembic, USD text, PC2, MDD, NumPy. Everything comes out in metres, Y up.
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "character/character.h"

/// Which axis of a file points up.
typedef enum jnaUp {
    jna_upAuto, // as the file says, or as the skeleton shows
    jna_upX,
    jna_upY,
    jna_upZ,
} jnaUp;

/// What the parts of a name are: a mesh's, its node's or a material's.
typedef struct jnaPartSetting {
    const char* name;
    jnaMeshRole role;
} jnaPartSetting;

/// What an import may come to in memory and frames, in proportion to its files, and what it has come to. All zeroes: no
/// file yet.
typedef struct jnaImportBudget {
    double bytes, frames;
    double takenBytes, takenFrames;
} jnaImportBudget;

/// Counts a clip that is about to be allocated; an error where it is more than the files may come to. numbers: floats
/// of a frame. budget: NULL: not counted.
jnResult jnaImportBudget_TakeClip(
    jnaImportBudget* budget, const char* path, double frames, double numbers, jnError* error);

/// How a file is read. Start from jnaDefaultImportDef.
typedef struct jnaImportDef {
    double rate;   // frames a second of the clips; 30
    double scale;  // metres per unit of the file; 0, the default: from the file's units or the height
    jnaUp up;      // jna_upAuto
    int character; // of several in the file, counted from 1; 0, the default: all of them as one
    int partCount;
    const jnaPartSetting* parts; // [partCount], of those that are not flesh; the last that fits a part counts
    bool* partsFound;            // [partCount], set where some part has the name; NULL: not wanted
    jnaMeshRole role;            // of parts that no setting names; jna_meshFlesh
    bool loose;                  // meshes that hang on no joint are taken too, bound to joint 0; false
    size_t memoryLimit;          // bytes that the reading process may take; 0, the default: by the size of the file
    double timeLimit;            // seconds that it may take; the same
    jnaWatch watch;              // may end it; nobody
    jnaImportBudget* budget;     // of all files of an import together; NULL, the default: of each by itself
    // A loop (its first and last pose agree) that is no whole number of frames long is sampled a little faster or
    // slower than `rate`, so that it closes: a whole number of frames, at a rate of its own. Not so the clips of these
    // names; fixedCount below 0: none.
    int fixedCount;
    const char* const* fixed; // [fixedCount]
} jnaImportDef;
jnaImportDef jnaDefaultImportDef(void);

/// Any number of clips, owned.
typedef struct jnaClipList {
    int count;
    jnaClip* clips; // [count]
} jnaClipList;
void jnaDestroyClipList(jnaClipList* list);

/// Reads a character and the clips in its file. `notes` may be NULL; lines are added to it.
/// usedScale: metres per unit of the file as it was taken, may be NULL.
/// A file that is cut, hostile or not a character ends in one sentence; it is read in a child process for that. File
/// vertices are those of the file's meshes one after another, each in its own order; where FBX and Collada index
/// positions and corners apart, there is one per corner of a face.
jnResult jnaImportCharacter(const char* path, const jnaImportDef* def, jnaCharacter* character, jnaClipList* clips,
    double* usedScale, jnaNotes* notes, jnError* error);

/// "'Body' (material 'Skin'), 'Shirt'", the parts of a character for a message. Returns the text.
const char* jnaListParts(const jnaCharacter* character, char* text, size_t size);

/// A pair of joints that names alone would not match.
typedef struct jnaJointPair {
    const char*
        source;        // joint of the motion file, or a part of the body: hips, spine, neck, head, left_clavicle,
                       // left_upper_arm, left_forearm, left_hand, left_thigh, left_shin, left_foot, left_toe, right_...
    const char* joint; // joint of the character; "" or NULL leaves the source joint unused
} jnaJointPair;

/// How motion of another skeleton is brought to a character.
typedef struct jnaRetargetDef {
    int pairCount;
    const jnaJointPair* pairs; // [pairCount], override the table of names
} jnaRetargetDef;

/// Reads the clips of a file for a character that is there already. Joints with the character's names and
/// rest pose are taken as they are; BVH and other skeletons are retargeted (`retarget` may be NULL). Joints
/// without a counterpart are listed in `notes`.
jnResult jnaImportClips(const char* path, const jnaImportDef* def, const jnaRetargetDef* retarget,
    const jnaCharacter* character, jnaClipList* clips, jnaNotes* notes, jnError* error);

/// Simulated or scanned positions of a character's surface.
typedef struct jnaMotion {
    int frameCount;
    int vertexCount;  // welded, that of the character
    double rate;      // frames a second as the file states it; 0 where it does not
    float* positions; // [frameCount][vertexCount][3], metres
} jnaMotion;

/// Reads a vertex cache (mesh_cache.h has the formats) for a character. Its points are matched to the vertices by where
/// they lie in the first frame, in whatever unit, axes and order (vertex_match.h); what does not match is refused.
/// Points that stand on one vertex are averaged. clip: whose skinned first frame the motion starts at; NULL: the rest
/// pose. metresPerUnit: of the character's file. notes: may be NULL; says how points were matched.
jnResult jnaReadMotion(const char* path, const jnaCharacter* character, const jnaClip* clip, double metresPerUnit,
    jnaMotion* motion, jnaNotes* notes, jnError* error);

/// The same in a confined child process, for files from elsewhere.
jnResult jnaReadMotionConfined(const char* path, const jnaCharacter* character, const jnaClip* clip,
    double metresPerUnit, jnaMotion* motion, jnaNotes* notes, jnError* error);
void jnaDestroyMotion(jnaMotion* motion);
