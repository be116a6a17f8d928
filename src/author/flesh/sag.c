// Sag under gravity; see sag.h.
#include "flesh/sag.h"

#include "base/arena.h"
#include "base/try.h"
#include "flesh/flesh.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

#define GRAVITY 9.81
// Heights of people, metres: beyond them the table does not hold. A child's sag is less, a giant's more.
#define SMALLEST_PERSON 1.2
#define TALLEST_PERSON 2.4

// Of the skin, in people; from the team's table for a heavy man and an average woman.
const jnaSagBounds jnaExpectedSag[JNA_REGIONS] = {
    [jna_regionHead] = {0, 0.001, 0},
    [jna_regionChest] = {0, 0.004, 0},
    [jna_regionBreast] = {0.010, 0.030, 0.0125},
    [jna_regionBelly] = {0.010, 0.025, 0.011},
    [jna_regionButtock] = {0.005, 0.012, 0.0063},
    [jna_regionElbow] = {0, 0.0025, 0},
    [jna_regionHand] = {0, 0.001, 0},
    [jna_regionThigh] = {0.003, 0.008, 0.005},
    [jna_regionKnee] = {0, 0.0025, 0},
    [jna_regionShin] = {0, 0.001, 0},
    [jna_regionCalf] = {0.002, 0.005, 0.00227},
    [jna_regionFoot] = {0, 0.001, 0},
};

void jnaDestroySag(jnaSag* sag)
{
    for (int axis = 0; axis < 3; ++axis) {
        free(sag->lengths[axis]);
    }
    free(sag->regions);
    *sag = (jnaSag){0};
}

// The rest pose, and memory to solve it in.
typedef struct Rest {
    jnaArena arena;
    jnaClip clip;
    double* nodes;  // [nodeCount][3]
    float* surface; // [vertexCount][3]
} Rest;

// One axis: the rest pose, solved, against the rest surface.
static jnResult MeasureAxis(
    const jnaVolume* v, const jnaCharacter* c, const Rest* rest, int axis, jnaSag* sag, jnError* error)
{
    jnaFleshDef def = jnaDefaultFleshDef(v, c);
    float* surface = rest->surface;
    def.contact = false;
    def.gravity[axis == 0 ? 1 : axis == 1 ? 0 : 2] = -GRAVITY;
    jnaFlesh* flesh = NULL;
    jnaFleshSolver* solver = NULL;
    jnaFleshReport report = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateFlesh(&def, &flesh, error));
    JN_TRY(jnaCreateFleshSolver(flesh, &solver, error));
    JN_TRY(jnaFleshSolver_PoseInSteps(solver, &rest->clip, 0, 1, rest->nodes, &report, error));
    jnaFleshSolver_Surface(solver, &rest->clip, 0, rest->nodes, surface);
    sag->converged = sag->converged && report.converged;
    for (int i = 0; i < c->vertexCount; ++i) {
        double square = 0;
        for (size_t k = 0; k < 3; ++k) {
            square += pow((double)surface[3 * (size_t)i + k] - (double)c->positions[3 * (size_t)i + k], 2);
        }
        sag->lengths[axis][i] = (float)sqrt(square);
    }
done:
    jnaDestroyFleshSolver(solver);
    jnaDestroyFlesh(flesh);
    return result;
}

// A clip of one frame: the pose in which the surface was bound.
static jnResult MakeRest(const jnaCharacter* c, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){.rate = 30, .frameCount = 1, .jointCount = c->jointCount};
    JN_PASS(jnaClip_Allocate(clip, true, error));
    for (int j = 0; j < c->jointCount; ++j) {
        for (int k = 0; k < 4; ++k) {
            clip->rotations[4 * j + k] = c->joints[j].rotation[k];
            if (k < 3) {
                clip->translations[3 * j + k] = c->joints[j].translation[k];
                clip->scales[3 * j + k] = c->joints[j].scale[k];
            }
        }
    }
    return jn_ok;
}

// A standing person, by the parts that were found.
static bool IsHuman(const jnaAnatomy* a)
{
    int arms = 0, legs = 0;
    for (int i = 0; i < a->limbCount; ++i) {
        arms += a->limbs[i].hinge >= 0 && !a->limbs[i].leg;
        legs += a->limbs[i].hinge >= 0 && a->limbs[i].leg;
    }
    return a->trunk && a->head >= 0 && arms == 2 && legs == 2 && a->size > SMALLEST_PERSON && a->size < TALLEST_PERSON;
}

jnResult jnaMeasureSag(const jnaVolume* volume, const jnaCharacter* character, int axes, jnaSag* sag, jnError* error)
{
    *sag = (jnaSag){.vertexCount = character->vertexCount, .axes = axes, .converged = true};
    jnaAnatomy anatomy = {0};
    Rest rest = {0};
    jnResult result = jn_ok;
    rest.nodes = jnaArena_Take(&rest.arena, volume->nodeCount, 3 * sizeof(double));
    rest.surface = jnaArena_Take(&rest.arena, character->vertexCount, 3 * sizeof(float));
    for (int axis = 0; axis < 3; ++axis) {
        sag->lengths[axis] = jnaArena_Give(&rest.arena, character->vertexCount, sizeof(float));
    }
    sag->regions = jnaArena_Give(&rest.arena, character->vertexCount, 1);
    JN_TRY(jnaArena_Check(&rest.arena, "the sag of the surface", error));
    JN_TRY(jnaFindAnatomy(character, volume, &anatomy, error));
    JN_TRY(MakeRest(character, &rest.clip, error));
    jnaAnatomy_SkinRegions(&anatomy, character, sag->regions);
    sag->human = IsHuman(&anatomy);
    sag->size = anatomy.size;
    for (int axis = 0; axis < axes; ++axis) {
        JN_TRY(MeasureAxis(volume, character, &rest, axis, sag, error));
    }
done:
    jnaDestroyClip(&rest.clip);
    jnaReleaseArena(&rest.arena);
    jnaDestroyAnatomy(&anatomy);
    if (result != jn_ok) {
        jnaDestroySag(sag);
    }
    return result;
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

int jnaSag_Region(const jnaSag* sag, int axis, jnaRegion region, double* median, double* greatest)
{
    int count = 0;
    float* values = malloc(((size_t)sag->vertexCount + 1) * sizeof(float));
    for (int v = 0; values != NULL && v < sag->vertexCount; ++v) {
        if (sag->regions[v] == region) {
            values[count++] = sag->lengths[axis][v];
        }
    }
    if (count > 0) {
        qsort(values, (size_t)count, sizeof(float), CompareFloats);
        *median = (double)values[count / 2];
        *greatest = (double)values[count - 1];
    }
    free(values);
    return count;
}

jnaSagFit jnaSag_Judge(const jnaSag* sag, jnaRegion region, double median)
{
    const jnaSagBounds* bounds = &jnaExpectedSag[region];
    if (!sag->human || bounds->most <= 0) {
        return jna_sagUnknown;
    }
    return median > bounds->most ? jna_sagSofter : median < bounds->least ? jna_sagStiffer : jna_sagFits;
}
