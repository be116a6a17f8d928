// A solver that costs nothing, and a job on it: what the tests of the jobs kill, starve and disturb.
//
// Faults are asked for by name, and every solve is noted in a log, so that a test can count what was done.
#pragma once

#include "helpers/support.h"

#include "pipeline/job.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAND_IN_VERTICES = 40, STAND_IN_NODES = 7, STAND_IN_JOINTS = 3, STAND_IN_FRAMES = 300 };

typedef struct StandIn {
    jnaSolve solve;
    jnaClip clip;
    int delay;       // microseconds a solve takes
    int stopAt;      // frame whose solve is an error; -1: none
    int hard;        // frame that converges at the second effort; -1: none
    int hopeless;    // frame that never does; -1: none
    int notFinite;   // frame with a NaN; -1: none
    int tight;       // frame without room for the flesh; -1: none
    const char* log; // a byte for every solve; NULL: none
} StandIn;

static inline void StandIn_Note(const StandIn* s)
{
    if (s->delay > 0) {
        usleep((useconds_t)s->delay);
    }
    if (s->log != NULL) {
        int file = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0666);
        if (file < 0 || write(file, "x", 1) != 1) {
            abort();
        }
        close(file);
    }
}

static inline jnResult StandIn_Open(void* user, void** worker, jnError* error)
{
    (void)error;
    *worker = user;
    return jn_ok;
}

static inline void StandIn_Close(void* worker)
{
    (void)worker;
}

// Every vertex depends on every number of the pose.
static inline void StandIn_Surface(const jnaClip* clip, int frame, double more, float* positions)
{
    const float* q = clip->rotations + 4 * (size_t)frame * STAND_IN_JOINTS;
    for (int i = 0; i < 3 * STAND_IN_VERTICES; ++i) {
        double sum = more;
        for (int k = 0; k < 4 * STAND_IN_JOINTS; ++k) {
            sum += (double)q[k] * ((i * 31 + k * 17) % 23);
        }
        positions[i] = (float)sum;
    }
}

static inline jnResult StandIn_Pose(
    void* worker, const jnaClip* clip, int frame, int effort, float* positions, jnaFleshReport* report, jnError* error)
{
    const StandIn* s = worker;
    StandIn_Note(s);
    if (frame == s->stopAt) {
        *error = (jnError){jn_outOfMemory, "the stand-in has no memory"};
        return jn_outOfMemory;
    }
    StandIn_Surface(clip, frame, effort, positions);
    if (frame == s->notFinite) {
        positions[17] = NAN;
    }
    *report = (jnaFleshReport){.residual = 1e-5 * (frame + 1), .iterations = frame, .pathSteps = 4 << effort};
    report->solved.depth = 0.001 * frame;
    report->withoutRoom = frame == s->tight;
    report->seconds = 0.5;
    report->converged = frame != s->hopeless && !(frame == s->hard && effort == 0);
    if (!report->converged) {
        snprintf(report->reason, sizeof(report->reason), "the residual stays at %d", frame);
    }
    return jn_ok;
}

static inline jnResult StandIn_Start(void* worker, const jnaClip* clip, int frame, double* state, float* positions,
    jnaFleshReport* report, jnError* error)
{
    for (int i = 0; i < 3 * STAND_IN_NODES; ++i) {
        state[i] = i + (double)clip->rotations[4 * (size_t)frame * STAND_IN_JOINTS];
        state[3 * STAND_IN_NODES + i] = 0;
    }
    return StandIn_Pose(worker, clip, frame, 0, positions, report, error);
}

// A chain of numbers in which every bit of the state before counts.
static inline jnResult StandIn_Advance(void* worker, const jnaClip* clip, int frame, double* state, float* positions,
    jnaFleshReport* report, jnError* error)
{
    const StandIn* s = worker;
    double sum = 0, *velocities = state + 3 * STAND_IN_NODES;
    for (int i = 0; i < 3 * STAND_IN_NODES; ++i) {
        double pull = (double)clip->rotations[4 * (size_t)(frame + 1) * STAND_IN_JOINTS + 1] - state[i];
        velocities[i] = 0.9 * velocities[i] + pull / 3;
        state[i] += velocities[i] / 7;
        sum += state[i];
    }
    jnResult result = StandIn_Pose(worker, clip, frame + 1, 0, positions, report, error);
    if (frame + 1 == s->notFinite) {
        state[3] = (double)NAN;
        positions[17] = 0;
    }
    StandIn_Surface(clip, frame + 1, sum, positions);
    return result;
}

static inline void InitStandIn(StandIn* s)
{
    *s = (StandIn){.stopAt = -1, .hard = -1, .hopeless = -1, .notFinite = -1, .tight = -1};
    s->solve = (jnaSolve){.vertexCount = STAND_IN_VERTICES,
        .stateCount = 6 * STAND_IN_NODES,
        .user = s,
        .open = StandIn_Open,
        .close = StandIn_Close,
        .pose = StandIn_Pose,
        .start = StandIn_Start,
        .advance = StandIn_Advance};
    s->clip =
        (jnaClip){.name = "standing-in", .rate = 30, .frameCount = STAND_IN_FRAMES, .jointCount = STAND_IN_JOINTS};
    jnError error;
    assert_int_equal(jnaClip_Allocate(&s->clip, false, &error), jn_ok);
    Random random = {5};
    for (size_t i = 0; i < (size_t)STAND_IN_FRAMES * STAND_IN_JOINTS * 4; ++i) {
        s->clip.rotations[i] = (float)Uniform(&random, -1, 1);
    }
}

static inline jnaJob StandInJob(const StandIn* s, const char* folder, int count)
{
    jnaJob job = jnaDefaultJob(&s->solve);
    job.folder = folder;
    job.names = (jnaJobNames){"positions.npy", "valid.npy", "times.npy", "poses.json", "shards"};
    job.clip = &s->clip;
    job.count = count;
    job.hash = 77;
    (void)mkdir(folder, 0777);
    return job;
}

// Number of solves that a log has noted.
static inline int CountLog(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (int)status.st_size : 0;
}
