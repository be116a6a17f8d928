// Travel of the skin in standard motions, and what has been measured on people; see people.h.
#include "pipeline/people.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/figure.h"
#include "character/skin_frame.h"
#include "jounce/character.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Travel of a region is what this fraction of its vertices exceed: a marker is put where the flesh moves, and a
// region's border moves with its neighbour.
#define MOVED_BY 0.1

const char* const jnaStandardMoveNames[JNA_STANDARD_MOVES] = {"walk", "run", "drop"};

static const struct {
    jnaFigureClip clip;
    int rounds; // that are played; all but the last are for the flesh to settle into the motion
} moves[JNA_STANDARD_MOVES] = {{jna_walk, 2}, {jna_run, 2}, {jna_drop, 1}};

// Markers on the skin of thigh and shank move against the bone by the pose and by the shaking of flesh together, so
// those rows are upper bounds. A range where a mean and a deviation were published is the mean plus and minus the
// deviation.
static const jnaPeopleMeasurement measurements[] = {
    {jna_regionBreast, jna_peopleWalk, 0.032, 0.052, "nipple against trunk, D cup, unsupported, 42 +- 10 mm",
        "Scurr, White, Hedger 2011"},
    {jna_regionBreast, jna_peopleRun, 0.110, 0.194, "nipple against trunk, D cup, unsupported, 152 +- 42 mm",
        "Scurr, White, Hedger 2011"},
    {jna_regionBreast, jna_peopleHertz, 3, 5, "greatest answer at 4 Hz, size 80B", "Chen et al. 2013"},
    {jna_regionBreast, jna_peopleRatio, 0.17, 0.26, "free vibration, 0.215, size 80B", "Chen et al. 2013"},
    {jna_regionBelly, jna_peopleDrop, 0.050, 0.080, "mass of the viscera, hopping in place", "Minetti, Belli 1994"},
    {jna_regionThigh, jna_peopleWalk, 0, 0.018, "skin markers against bone, with the effect of the pose",
        "fluoroscopy, PMC8631460, 2021"},
    {jna_regionCalf, jna_peopleWalk, 0, 0.017, "skin markers against bone, with the effect of the pose",
        "fluoroscopy, PMC8631460, 2021"},
};

int jnaPeopleMeasurements(const jnaPeopleMeasurement** list)
{
    *list = measurements;
    return (int)(sizeof(measurements) / sizeof(measurements[0]));
}

// The box around each vertex' path in the frame of its joint.
typedef struct Paths {
    int vertexCount;
    uint16_t* joints;     // [vertexCount]
    float *least, *most;  // [vertexCount][3]
    float *shown, *still; // [vertexCount][3], scratch
    float* matrices;      // [jointCount][12], scratch
} Paths;

static jnResult TakePaths(const jnaCharacter* c, jnaArena* arena, Paths* p, jnError* error)
{
    *p = (Paths){.vertexCount = c->vertexCount,
        .joints = jnaArena_Take(arena, c->vertexCount, sizeof(uint16_t)),
        .least = jnaArena_Take(arena, c->vertexCount, 3 * sizeof(float)),
        .most = jnaArena_Take(arena, c->vertexCount, 3 * sizeof(float)),
        .shown = jnaArena_Take(arena, c->vertexCount, 3 * sizeof(float)),
        .still = jnaArena_Take(arena, c->vertexCount, 3 * sizeof(float)),
        .matrices = jnaArena_Take(arena, c->jointCount, 12 * sizeof(float))};
    JN_PASS(jnaArena_Check(arena, "the paths of the skin", error));
    for (int v = 0; v < c->vertexCount; ++v) {
        p->joints[v] = c->influences[v].joints[0];
    }
    for (size_t i = 0; i < 3 * (size_t)c->vertexCount; ++i) {
        p->least[i] = HUGE_VALF;
        p->most[i] = -HUGE_VALF;
    }
    return jn_ok;
}

// order: the vertex of the character that each of the asset's is; NULL: the same.
static void WidenPaths(Paths* p, const int32_t* order)
{
    for (size_t i = 0; i < (size_t)p->vertexCount; ++i) {
        size_t v = order != NULL ? (size_t)order[i] : i;
        const float* m = p->matrices + 12 * (size_t)p->joints[v];
        for (size_t a = 0; a < 3; ++a) { // R^T d
            float d = 0;
            for (size_t b = 0; b < 3; ++b) {
                d += m[4 * b + a] * (p->shown[3 * i + b] - p->still[3 * i + b]);
            }
            p->least[3 * v + a] = fminf(p->least[3 * v + a], d);
            p->most[3 * v + a] = fmaxf(p->most[3 * v + a], d);
        }
    }
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

static void FindTravel(const Paths* p, const uint8_t* regions, double* travel)
{
    float* sizes = p->shown;
    for (int r = 0; r < JNA_REGIONS; ++r) {
        size_t count = 0;
        for (size_t v = 0; v < (size_t)p->vertexCount; ++v) {
            float square = 0;
            for (size_t a = 0; regions[v] == r && a < 3; ++a) {
                float side = p->most[3 * v + a] - p->least[3 * v + a];
                square += side * side;
            }
            if (regions[v] == r) {
                sizes[count++] = sqrtf(square);
            }
        }
        qsort(sizes, count, sizeof(float), CompareFloats);
        travel[r] = count > 0 ? (double)sizes[(size_t)((1 - MOVED_BY) * (double)count)] : 0;
    }
}

jnResult jnaMeasureStandardMove(
    const jnaPlayer* player, jnaStandardMove move, const uint8_t* regions, double* travel, jnError* error)
{
    const jnAsset* asset = player->asset;
    jnResult result = jn_ok;
    jnaArena arena = {0};
    jnaClip clip = {0};
    Paths paths;
    jnCharacter* character = NULL;
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.timing = jn_timingCausal;
    JN_TRY(jnaRetargetFigureClip(player->character, (int)moves[move].clip, player->rate, &clip, error));
    JN_TRY(TakePaths(player->character, &arena, &paths, error));
    JN_TRY(jnCreateCharacter(&def, &character, error));
    jnCharacterOutput shown = {.positions = paths.shown, .welded = true};
    jnCharacterOutput still = {.positions = paths.still, .welded = true};
    for (int n = 0; n < moves[move].rounds * clip.frameCount; ++n) {
        int frame = n % clip.frameCount;
        jnPose pose = jnaClip_Pose(&clip, frame);
        jnCharacter_Step(character, &(jnCharacterInput){.h = (float)(1 / clip.rate), .pose = pose}, &shown);
        if (n / clip.frameCount == moves[move].rounds - 1) {
            jnCharacter_Target(character, &pose, &still);
            jnaPoseMatrices(player->character, &clip, frame, paths.matrices);
            WidenPaths(&paths, asset->order);
        }
    }
    FindTravel(&paths, regions, travel);
done:
    jnDestroyCharacter(character);
    jnaDestroyClip(&clip);
    jnaReleaseArena(&arena);
    return result;
}
