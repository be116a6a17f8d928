// Shards of a job: their files, their names and the locks on them.
#pragma once

#include "pipeline/job.h"

/// What is kept of each solve besides its surface.
typedef enum jnaColumn {
    jna_columnResidual,
    jna_columnIterations,
    jna_columnEvaluations,
    jna_columnPathSteps,
    jna_columnAttempts,
    jna_columnInverted,
    jna_columnContacts,
    jna_columnSkinnedDepth,
    jna_columnSkinnedVolume,
    jna_columnDepth,
    jna_columnVolume,
    jna_columnBones,
    jna_columnRoom,    // 1: without
    jna_columnSeconds, // last: not in the JSON
    JNA_COLUMNS,
} jnaColumn;
extern const char* const jnaColumnNames[JNA_COLUMNS];

typedef struct jnaRecord {
    double values[JNA_COLUMNS];
    char reason[JNA_REASON_LENGTH]; // empty: valid
} jnaRecord;

/// A shard in memory.
typedef struct jnaShard {
    int index, first, count; // `count` poses from `first` of the job on
    jnaRecord* records;      // [count]
    float* positions;        // [count][vertexCount][3]
    double* state;           // [stateCount] of a motion, at the end; NULL otherwise
} jnaShard;

/// What a job is cut into.
typedef struct jnaShardPlan {
    const jnaJob* job;
    int shardCount;
    uint64_t* hashes; // [shardCount], of all that a shard depends on
    uint64_t id;      // of all of them
} jnaShardPlan;
jnResult jnaCreateShardPlan(const jnaJob* job, jnaShardPlan* plan, jnError* error);
void jnaDestroyShardPlan(jnaShardPlan* plan);

jnResult jnaCreateShard(const jnaShardPlan* plan, int index, jnaShard* shard, jnError* error);
void jnaDestroyShard(jnaShard* shard);

/// Whether the file of a shard is there, by its name, header and size.
bool jnaShard_Exists(const jnaShardPlan* plan, int index);
jnResult jnaShard_Write(const jnaShardPlan* plan, const jnaShard* shard, jnError* error);

/// Reads into a shard made by jnaCreateShard. A damaged file is removed; *good says that it is not.
jnResult jnaShard_Read(const jnaShardPlan* plan, jnaShard* shard, bool* good, jnError* error);

/// Removes shards, and what killed runs left of files in the making.
void jnaShardPlan_Remove(const jnaShardPlan* plan, bool shards);

/// "FOLDER/NAME" of a job.
jnResult jnaJob_Path(const jnaJob* job, const char* name, char* path, jnError* error);

/// Locks of the runs in one folder. They end with the process, however it ends.
typedef struct jnaJobLock {
    int descriptor;
} jnaJobLock;

/// Joins the runs in the folder. Runs of other inputs at the same time are refused in words.
/// alone: nobody else is there, and whoever comes waits until jnaJobLock_Admit.
jnResult jnaOpenJobLock(const jnaShardPlan* plan, jnaJobLock* lock, bool* alone, jnError* error);
void jnaJobLock_Admit(jnaJobLock* lock);
void jnaCloseJobLock(jnaJobLock* lock);

/// Takes a shard; false where another run has it.
bool jnaJobLock_Take(jnaJobLock* lock, int shard);
void jnaJobLock_Release(jnaJobLock* lock, int shard);

/// Merging is for one at a time; false where another run is at it.
bool jnaJobLock_TakeMerge(jnaJobLock* lock);

/// Merges the shards, which must all be there, into the arrays. *good is false where a shard was damaged.
jnResult jnaMergeShards(const jnaShardPlan* plan, bool* good, jnError* error);

/// Whether the arrays of just this plan are there. report: gets how many poses failed; may be NULL.
bool jnaIsMerged(const jnaShardPlan* plan, jnaJobReport* report);

/// Whether those arrays hold what was written: reads them all. Arrays of before this was recorded are believed.
bool jnaMergedIsWhole(const jnaShardPlan* plan);

/// Writes those shards of the plan that the arrays of an earlier, shorter job hold.
jnResult jnaReuseMerged(const jnaShardPlan* plan, jnError* error);

/// Fills a record from a report. positions that are not finite are zeroed, with a reason.
void jnaFillRecord(const jnaFleshReport* report, int attempts, int vertexCount, float* positions, jnaRecord* record);

/// Applies the job's carry to a pose of it. index: counted from the job's first.
void jnaJob_Carry(const jnaJob* job, int index, float* positions);

/// The sequential kind of job.
jnResult jnaRunMotion(const jnaShardPlan* plan, jnaJobLock* lock, jnaProgress* progress, bool* merged, jnError* error);
