// Sag under gravity; see sag.h.
#include "flesh/sag.h"

#include "base/arena.h"
#include "base/try.h"
#include "flesh/flesh.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

#define GRAVITY 9.81
// Fewer free vertices say nothing about a region.
#define LEAST_FREE 0.1
enum { FEWEST_FREE = 6 };

void jnaDestroySag(jnaSag* sag)
{
    for (int axis = 0; axis < 3; ++axis) {
        free(sag->lengths[axis]);
    }
    free(sag->depths);
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

jnResult jnaMeasureSag(const jnaVolume* volume, const jnaCharacter* character, const jnaBodyDef* body, int axes,
    jnaSag* sag, jnError* error)
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
    sag->depths = jnaArena_Give(&rest.arena, character->vertexCount, sizeof(float));
    sag->regions = jnaArena_Give(&rest.arena, character->vertexCount, 1);
    JN_TRY(jnaArena_Check(&rest.arena, "the sag of the surface", error));
    JN_TRY(jnaFindAnatomy(character, volume, &anatomy, error));
    JN_TRY(MakeRest(character, &rest.clip, error));
    jnaAnatomy_SkinRegions(&anatomy, character, sag->regions);
    JN_TRY(jnaFindPhysique(volume, character, &anatomy, body, &sag->physique, sag->depths, error));
    for (int v = 0; v < character->vertexCount; ++v) { // rigid pieces and sheets say nothing about flesh
        sag->depths[v] = jnaVolume_Kind(volume, v) > jna_skinClothed ? 0 : sag->depths[v];
    }
    sag->human = sag->physique.human;
    sag->size = anatomy.size;
    for (int r = 0; r < JNA_REGIONS; ++r) {
        sag->expected[r] = jnaPhysique_Sag(&sag->physique, (jnaRegion)r);
    }
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

int jnaSag_FreeCount(const jnaSag* sag, jnaRegion region)
{
    int count = 0, all = 0;
    for (int v = 0; v < sag->vertexCount; ++v) {
        all += sag->regions[v] == region;
        count += sag->regions[v] == region && sag->depths[v] > 0.0f;
    }
    return sag->expected[region].aim > 0 && count >= FEWEST_FREE && count >= LEAST_FREE * all ? count : 0;
}

int jnaSag_Region(const jnaSag* sag, int axis, jnaRegion region, double* median, double* greatest)
{
    int count = 0, taken = 0;
    bool freeAlone = jnaSag_FreeCount(sag, region) > 0;
    float* values = malloc(((size_t)sag->vertexCount + 1) * sizeof(float));
    for (int v = 0; values != NULL && v < sag->vertexCount; ++v) {
        count += sag->regions[v] == region;
        if (sag->regions[v] == region && (!freeAlone || sag->depths[v] > 0.0f)) {
            values[taken++] = sag->lengths[axis][v];
        }
    }
    if (taken > 0) {
        qsort(values, (size_t)taken, sizeof(float), CompareFloats);
        *median = (double)values[taken / 2];
        *greatest = (double)values[taken - 1];
    }
    free(values);
    return count;
}

jnaSagFit jnaSag_Judge(const jnaSag* sag, jnaRegion region, double median)
{
    const jnaSagBounds* bounds = &sag->expected[region];
    if (!sag->human || bounds->most <= 0) {
        return jna_sagUnknown;
    }
    return median > bounds->most ? jna_sagSofter : median < bounds->least ? jna_sagStiffer : jna_sagFits;
}
