// Flesh for tests: blocks of tetrahedra with a material, bones where the test wants them, and poses by hand.
#pragma once

#include "flesh/flesh.h"
#include "helpers/volumes.h"

typedef struct TestFlesh {
    TestVolume test;
    jnaFleshDef def;
    jnaFlesh* flesh;
    jnaFleshSolver* solver;
    double* nodes; // [nodeCount][3], for results
    jnaFleshReport report;
} TestFlesh;

// The joint that holds a node of the block, or -1.
typedef int (*HoldRule)(const jnaVolume* volume, int node);

static inline int HoldNothing(const jnaVolume* volume, int node)
{
    (void)volume;
    (void)node;
    return -1;
}

// The face at x = 0, by the root.
static inline int HoldLeftFace(const jnaVolume* volume, int node)
{
    return volume->nodes[3 * node] <= 0 ? 0 : -1;
}

// Weights that blend between the joints along x as the surface's do, one material, held nodes by the rule.
static inline void FillInside(TestVolume* test, jnaMaterial material, HoldRule rule)
{
    jnaVolume* v = &test->volume;
    int joints = test->character.jointCount;
    double length = 0;
    v->jointCount = joints;
    v->rowStarts = calloc((size_t)v->nodeCount + 1, sizeof(int32_t));
    v->joints = malloc((size_t)v->nodeCount * 2 * sizeof(uint16_t));
    v->weights = malloc((size_t)v->nodeCount * 2 * sizeof(float));
    v->heldBy = malloc((size_t)v->nodeCount * sizeof(int32_t));
    v->holdStrength = calloc((size_t)v->nodeCount, sizeof(float));
    v->regions = calloc((size_t)v->tetrahedronCount + 1, 1);
    v->materialCount = 1;
    v->materials = malloc(sizeof(jnaMaterial));
    v->materials[0] = material;
    for (int n = 0; n < v->nodeCount; ++n) {
        length = fmax(length, v->nodes[3 * n]);
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        double x = fmin(fmax(v->nodes[3 * n] / length * joints - 0.5, 0), joints - 1);
        int first = (int)fmin(x, joints - 2), used = v->rowStarts[n];
        float second = (float)(x - first);
        if (second < 1) {
            v->joints[used] = (uint16_t)first;
            v->weights[used++] = 1 - second;
        }
        if (second > 0) {
            v->joints[used] = (uint16_t)(first + 1);
            v->weights[used++] = second;
        }
        v->rowStarts[n + 1] = used;
        v->heldBy[n] = rule(v, n);
    }
}

static inline jnaFleshDef PlainDef(const TestVolume* test)
{
    jnaFleshDef def = jnaDefaultFleshDef(&test->volume, &test->character);
    def.contact = false;
    return def;
}

// Makes flesh and solver from a def whose volume and character are those of the test.
static inline void CreateTestFlesh(TestFlesh* flesh)
{
    jnError error = {0};
    if (jnaCreateFlesh(&flesh->def, &flesh->flesh, &error) != jn_ok ||
        jnaCreateFleshSolver(flesh->flesh, &flesh->solver, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    flesh->nodes = calloc((size_t)flesh->test.volume.nodeCount * 3, sizeof(double));
}

// Undoes CreateTestFlesh: the def may be changed and the flesh made again.
static inline void UnmakeTestFlesh(TestFlesh* flesh)
{
    jnaDestroyFleshSolver(flesh->solver);
    jnaDestroyFlesh(flesh->flesh);
    free(flesh->nodes);
}

static inline void DestroyTestFlesh(TestFlesh* flesh)
{
    UnmakeTestFlesh(flesh);
    DestroyTestVolume(&flesh->test);
}

// A clip of `frames` rest poses.
static inline jnaClip RestClip(const jnaCharacter* character, int frames, double rate)
{
    jnaClip clip = {.name = "rest", .rate = rate, .frameCount = frames, .jointCount = character->jointCount};
    jnError error;
    assert_int_equal(jnaClip_Allocate(&clip, true, &error), jn_ok);
    for (int i = 0; i < frames * clip.jointCount; ++i) {
        const jnaJoint* joint = &character->joints[i % clip.jointCount];
        memcpy(clip.rotations + 4 * i, joint->rotation, sizeof(joint->rotation));
        memcpy(clip.translations + 3 * i, joint->translation, sizeof(joint->translation));
        memcpy(clip.scales + 3 * i, joint->scale, sizeof(joint->scale));
    }
    return clip;
}

// Turns a joint of one frame by an angle about an axis of unit length.
static inline void TurnJoint(jnaClip* clip, int frame, int joint, double angle, const double axis[3])
{
    float* q = clip->rotations + 4 * (frame * clip->jointCount + joint);
    for (int k = 0; k < 3; ++k) {
        q[k] = (float)(sin(0.5 * angle) * axis[k]);
    }
    q[3] = (float)cos(0.5 * angle);
}

static const double AXIS_X[3] = {1, 0, 0}, AXIS_Y[3] = {0, 1, 0}, AXIS_Z[3] = {0, 0, 1};

static inline void SolvePose(TestFlesh* flesh, const jnaClip* clip, int frame)
{
    jnError error = {0};
    if (jnaFleshSolver_Pose(flesh->solver, clip, frame, flesh->nodes, &flesh->report, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

// The greatest distance between two sets of nodes.
static inline double Farthest(const double* a, const double* b, int count)
{
    double greatest = 0;
    for (int n = 0; n < count; ++n) {
        double d[3] = {a[3 * n] - b[3 * n], a[3 * n + 1] - b[3 * n + 1], a[3 * n + 2] - b[3 * n + 2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        greatest = length > greatest || isnan(length) ? length : greatest;
    }
    return greatest;
}
