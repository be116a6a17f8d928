// A workspace's simulations: training poses, the quasistatic and dynamic motion of its clips, and an audit of them.
//
//   poses/        poses.npy, positions.npy, valid.npy, kind.npy, clip.npy, frame.npy, held_out.npy, times.npy,
//   poses.json motion/NAME/  quasistatic.npy, dynamic.npy, each with _valid.npy, _times.npy and .json
//   shake/N/      dynamic.npy and what belongs to it, of the shakes that springs on modes are fitted to
#pragma once

#include "workspace/workspace.h"

#include "base/notes.h"
#include "pipeline/job.h"
#include "pipeline/shake.h"

/// A workspace opened for simulation: character, clips, volume; solvers are made when they are needed.
typedef struct jnaSimulation jnaSimulation;
jnResult jnaOpenSimulation(const char* workspace, jnaSimulation** simulation, jnError* error);
/// The same of an opened workspace, which must live longer.
jnResult jnaCreateSimulation(jnaWorkspace* workspace, jnaSimulation** simulation, jnError* error);
void jnaCloseSimulation(jnaSimulation* simulation); // NULL is allowed

/// Index of a clip of the manifest, -1 where there is none; number, name and frames of them. The shakes have the
/// indices behind those.
int jnaSimulation_FindClip(const jnaSimulation* simulation, const char* name);
int jnaSimulation_ClipCount(const jnaSimulation* simulation);
const jnaClip* jnaSimulation_Clip(const jnaSimulation* simulation, int index);

/// Where the motion of a clip goes, inside the workspace.
void jnaSimulation_Folder(const jnaSimulation* simulation, int index, char folder[JNA_NAME_LENGTH + 16]);

/// Frames of a clip: `count` from `first` on; count 0: to the end.
typedef struct jnaClipRange {
    int clip, first, count;
} jnaClipRange;

/// The part of a clip that the manifest wants; count 0: none of it.
jnResult jnaSimulation_Part(const jnaSimulation* simulation, int clip, jnaClipRange* range, jnError* error);

/// The shakes, for jnaSimulateMotions; none where the flesh has no modes, which must be there. count: how many.
jnResult jnaSimulation_ListShakes(
    jnaSimulation* simulation, jnaClipRange ranges[JNA_SHAKES], int* count, jnError* error);

/// How a simulation is run; the fields are those of a job. Start from jnaDefaultSimulateDef.
typedef struct jnaSimulateDef {
    int threads; // 0: as many as OpenMP likes
    int part, parts;
    int (*next)(void* user); // of clips in motion it hands out the clips, otherwise shards
    void* nextUser;
    bool workOnly;
    bool force; // forget what is there and start again
    bool look;  // solve nothing: the report says what is there
    jnaWatch watch;
} jnaSimulateDef;
jnaSimulateDef jnaDefaultSimulateDef(void);

/// Solves the training poses. count: 0 for that of the manifest.
jnResult jnaSimulatePoses(jnaSimulation* simulation, int count, const jnaSimulateDef* def, jnaJobReport* report,
    jnaNotes* notes, jnError* error);

/// Solves each frame of a clip for itself, without the root's motion, then carries it to where the clip has it.
jnResult jnaSimulateClip(jnaSimulation* simulation, const jnaClipRange* range, const jnaSimulateDef* def,
    jnaJobReport* report, jnError* error);

/// Moves the flesh through clips step by step, clips at the same time on threads. A part (def->part) is whole
/// clips. reports: [count]. The first error is told after all have ended.
jnResult jnaSimulateMotions(jnaSimulation* simulation, int count, const jnaClipRange* ranges, const jnaSimulateDef* def,
    jnaJobReport* reports, jnError* error);

/// One pose solved three ways. Distances between the surfaces, metres: the greatest of a vertex.
typedef struct jnaAuditPose {
    int pose;             // index in the list of training poses
    int clip, frame;      // -1 where it is random or by hand
    double finer, direct; // from the standard path: to twice its steps, and to skinning as the start
    bool converged[3];    // standard, finer, direct
    int pathSteps[3];
} jnaAuditPose;

/// Solves the first `count` training poses along the standard path, along one of twice the steps and directly from
/// skinning. poses: [count].
jnResult jnaAuditPoses(
    jnaSimulation* simulation, int count, int threads, jnaAuditPose* poses, jnaWatch watch, jnError* error);

/// One pose or frame with contact, solved as a job solves it.
typedef struct jnaContactEntry {
    int clip, frame; // clip -1: a training pose, frame its index
    bool solved;
    double depth, volume;           // of flesh inside flesh, metres and m3
    double bones;                   // how deep bones are inside each other in the pose itself, metres; 0: apart
    double seconds;                 // of one thread
    char reason[JNA_REASON_LENGTH]; // empty where it was solved
} jnaContactEntry;

/// What jnaAuditContact looks at.
typedef struct jnaContactAuditDef {
    int every;   // frame of each clip
    int poses;   // to train on, from the first; 0 for none
    int threads; // 0: all
    jnaWatch watch;
} jnaContactAuditDef;

/// Solves every `every`-th frame of all clips and the first `poses` training poses, and keeps nothing but how each
/// ended. entries: [*count], clips in order and then the poses; free() it.
jnResult jnaAuditContact(
    jnaSimulation* simulation, const jnaContactAuditDef* def, int* count, jnaContactEntry** entries, jnError* error);
