// Making the tetrahedra inside a character.
#pragma once

#include "base/notes.h"
#include "base/watch.h"
#include "character/character.h"
#include "volume/volume.h"

enum { JNA_ANGLE_BINS = 18, JNA_MAX_LISTED = 16 };

/// How a volume mesh is made. Start from jnaDefaultVolumeDef.
typedef struct jnaVolumeDef {
    jnaVolumeMethod method; // auto
    double edge;            // edge length aimed at inside, metres; 0, the default: chosen
    int nodes;              // number of nodes aimed at instead; 0: none
    bool keepInner;         // small closed parts inside others (eyeballs, teeth) belong to the volume; false
    jnaShells shells;       // auto
    bool improve;           // move nodes and swap tetrahedra inside until no angle is small; true
    const char* program;    // the tetgen program; "tetgen"
    double timeLimit;       // seconds that it may take; 120
    size_t memoryLimit;     // bytes that it may take; 4 GiB
    jnaWatch watch;         // nobody
} jnaVolumeDef;
jnaVolumeDef jnaDefaultVolumeDef(void);

/// What a surface is like before anything is done about it.
typedef struct jnaSurfaceReport {
    int degenerateCount;     // faces without an area, by index or by place
    int duplicateCount;      // faces on the same three vertices as another
    int seamCount;           // vertices joined with another on the same point
    int boundaryEdgeCount;   // edges of one face
    int nonManifoldCount;    // edges of more than two faces
    int holeCount;           // loops of boundary edges, capped
    int openChainCount;      // boundary edges that close no loop
    int componentCount;      // connected parts
    int flippedCount;        // faces against their neighbours' orientation, turned
    int insideOutCount;      // whole parts that were inside out, turned
    int leftOutCount;        // small parts inside others, carried by skinning
    int shellCount;          // parts that follow one joint, carried by skinning
    int cavityCount;         // parts that bound a hollow
    int crossingCount;       // pairs of faces that cross
    int movedCount;          // vertices moved to undo that
    double greatestMove;     // metres
    double area, volume;     // of what is meshed, m2 and m3
    int32_t crossings[8][2]; // faces of the first pairs
} jnaSurfaceReport;

/// Shape of tetrahedra. Angles are dihedral, in degrees.
typedef struct jnaMeshQuality {
    double volume;         // m3
    double smallestVolume; // m3, signed
    double smallestAngle;  // 0 where a tetrahedron is flat or turned over
    double largestAngle;
    int invertedCount;                 // tetrahedra without a positive volume
    int orphanCount;                   // nodes of no tetrahedron
    int belowFive;                     // tetrahedra with an angle below 5 degrees
    int64_t histogram[JNA_ANGLE_BINS]; // angles per 10 degrees, six a tetrahedron
} jnaMeshQuality;

/// Why a bad tetrahedron is still there.
typedef struct jnaForcedTetrahedron {
    int32_t tetrahedron;
    double angle;        // its smallest, degrees
    double surfaceAngle; // smallest angle that the surface itself has there: between two faces, or in one face
} jnaForcedTetrahedron;

/// What was made, how, and how long it took.
typedef struct jnaVolumeReport {
    jnaVolumeMethod method; // that was used
    char reason[JNA_NOTE_LENGTH];
    double edge; // edge length aimed at, metres
    jnaSurfaceReport surface;
    jnaMeshQuality before, after; // improvement
    int forcedCount;              // tetrahedra below 5 degrees where the surface itself has an angle like that
    int unforcedCount;            // the others below 5 degrees
    jnaForcedTetrahedron forced[JNA_MAX_LISTED];
    int outsideCount;       // lattice: surface vertices outside all tetrahedra
    double greatestOutside; // metres
    int skinnedCount;       // lattice: surface vertices that it is too coarse for, carried by skinning alone
    int blendedCount;       // and those between, partly by skinning
    struct {
        double surface, crossings, seeds, mesh, improve; // seconds
        double program;                                  // the tetgen program's share of mesh
        double weights, bones, materials, clips, save;   // of the stage "inside"
    } time;
    bool meshMade, insideMade; // by jnaUpdateVolume: which stage ran
} jnaVolumeReport;

/// Makes the tetrahedra inside a character and hangs its skin on them; weights, bones and material stay NULL.
/// A character of nothing but rigid shells gets a volume without nodes: skinning carries all of it.
/// Small crossings of the surface are repaired for the volume alone; skinOffsets undoes that. The same bytes for any
/// number of threads. report, notes: may be NULL. Destroy the volume with jnaDestroyVolume.
jnResult jnaCreateVolume(const jnaCharacter* character, const jnaVolumeDef* def, jnaVolume* volume,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error);

/// What can be said about a volume before it is made, from its surface alone.
typedef struct jnaVolumeForecast {
    bool hasFlesh;          // false where the character is made of rigid shells alone
    jnaVolumeMethod method; // tetgen or lattice; tetgen may still refuse
    int nodes;              // about so many
    int parts;              // of the flesh
} jnaVolumeForecast;
jnResult jnaForeseeVolume(
    const jnaCharacter* character, const jnaVolumeDef* def, jnaVolumeForecast* forecast, jnError* error);

/// Measures tetrahedra.
jnaMeshQuality jnaMeasureMesh(int nodeCount, const double* nodes, int tetrahedronCount, const int32_t* tetrahedra);
