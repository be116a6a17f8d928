// Long jobs of solved poses: done in shards by any number of threads, runs and machines, stopped at any moment, and
// merged into arrays at the end.
//
// A shard is a file of some consecutive poses, written whole or not at all and named by the hash of everything it was
// made from. Runs that work in one folder at the same time share the shards by locks that end with their process.
// Should a file system not have locks, a shard may be made twice: it has the same bytes. The arrays are the same bytes
// for any number of threads, runs and interruptions; what differs is the time that it took, in an array of its own.
#pragma once

#include "base/npy.h"
#include "base/watch.h"
#include "flesh/flesh.h"

/// How often a pose is tried, each time along a finer path.
enum { JNA_EFFORTS = 2 };

/// What solves. Functions return an error only where the run cannot go on; a pose that did not converge is none.
typedef struct jnaSolve {
    int vertexCount;
    size_t stateCount; // numbers in the state of a motion
    void* user;
    /// One worker per thread, made in that thread.
    jnResult (*open)(void* user, void** worker, jnError* error);
    void (*close)(void* worker);
    /// One pose. effort: 0 the standard path, then finer ones. positions: [vertexCount][3].
    jnResult (*pose)(void* worker, const jnaClip* clip, int frame, int effort, float* positions, jnaFleshReport* report,
        jnError* error);
    /// Whether a pose that failed is worth a finer path; NULL: always.
    bool (*again)(void* worker, const jnaFleshReport* report);
    /// The first frame of a motion, then from `frame` to the next one. positions: of the frame that was reached.
    jnResult (*start)(void* worker, const jnaClip* clip, int frame, double* state, float* positions,
        jnaFleshReport* report, jnError* error);
    jnResult (*advance)(void* worker, const jnaClip* clip, int frame, double* state, float* positions,
        jnaFleshReport* report, jnError* error);
} jnaSolve;

/// Where the outcome goes: names inside the folder.
typedef struct jnaJobNames {
    const char* positions; // float32 (count, vertexCount, 3)
    const char* valid;     // uint8 (count)
    const char* times;     // float32 (count), seconds
    const char* json;      // residuals, iterations, contact, failures
    const char* shards;    // folder of the shards; its name with .lock beside it
} jnaJobNames;

/// One more array that belongs to the outcome.
typedef struct jnaJobArray {
    const char* name;
    jnaScalar scalar;
    int dimensions;
    size_t shape[JNA_MAX_DIMENSIONS];
    const void* data;
} jnaJobArray;

/// A job. Start from jnaDefaultJob.
typedef struct jnaJob {
    const char* folder; // must exist
    jnaJobNames names;
    const jnaClip* clip; // its frames are the poses
    int first, count;    // the frames that are solved
    const double* carry; // [count][12] affine, applied to the outcome of each; NULL for none
    bool motion;         // in time: start, then advance, with checkpoints; otherwise every pose on its own
    const jnaSolve* solve;
    uint64_t hash; // of what the outcome depends on besides the clip
    int arrayCount;
    const jnaJobArray* arrays; // [arrayCount], written beside
    const char* about;         // a JSON object, kept in the JSON; NULL for none
    int threads;               // 1; a motion has one
    int shardSize;             // poses in a shard; 16 (30 of a motion)
    int part, parts;           // this run does the shards i with i % parts == part; 0 and 1: all
    int (*next)(void* user);   // hands out shard numbers, -1 at the end; NULL: by counting
    void* nextUser;
    bool workOnly; // leave the merging, and waiting for others, to somebody else
    bool look;     // solve nothing: the report says what is there and what is left
    bool force;    // forget the arrays and shards that are there; refused while another run is there
    jnaWatch watch;
} jnaJob;
jnaJob jnaDefaultJob(const jnaSolve* solve);

/// What became of it.
typedef struct jnaJobReport {
    bool merged;       // the arrays are there
    bool upToDate;     // they were before
    int solved;        // poses of this run
    int shardCount;    // in all
    int missingCount;  // shards that are not there yet
    int left;          // poses in them
    int failedCount;   // poses of all that are not valid; where merged
    int failedByBones; // of those the poses that drive bone through bone
    int withoutRoom;   // poses of all that are solved only because bones gave way
    double seconds;    // of this run
} jnaJobReport;

/// Runs a job until its arrays are there, or its part is done. A shard that is there is kept, one of other inputs is
/// not looked at. report may be NULL.
jnResult jnaRunJob(const jnaJob* job, jnaJobReport* report, jnError* error);
