// jounce picture --compare: the same place of the same frame three times: skinned, by the network, simulated; in motion
// skinned, with its springs, simulated.
//
// The body is seen as its root stands at rest: what the clip does with the whole of it is taken off by placing the
// joint that is looked at in the middle, and the camera turns with nothing.
#include "base/arena.h"
#include "base/bounds.h"
#include "base/npy.h"
#include "base/try.h"
#include "cli.h"
#include "learn/network.h"
#include "picture.h"
#include "pipeline/gather_pairs.h"
#include "workspace/network_store.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SURFACES = 3 };

typedef struct Drawing {
    jnaCharacter character;
    jnaClip clip;
    jnaNetwork network;
    int rows;
    int* frames; // [rows]
    float *colors, *given, *matrices;
    float** positions[SURFACES]; // [rows] of each
    float* places;               // [rows][3], of the joint
    jnaArena arena;              // that all of this is in, but the positions themselves
} Drawing;

static void Free(Drawing* d)
{
    for (int i = 0; i < SURFACES; ++i) {
        for (int row = 0; d->positions[i] != NULL && row < d->rows; ++row) {
            free(d->positions[i][row]);
        }
    }
    jnaReleaseArena(&d->arena);
    jnaDestroyNetwork(&d->network);
    jnaDestroyClip(&d->clip);
    jnaDestroyCharacter(&d->character);
}

static jnResult FindJoint(const jnaCharacter* c, const char* name, int* joint, jnError* error)
{
    for (*joint = 0; *joint < c->jointCount; ++*joint) {
        if (strcmp(c->joints[*joint].name, name) == 0) {
            return jn_ok;
        }
    }
    return jnFail(error, jn_badArgument, "--near: there is no joint '%s' (but %s, for one)", name, c->joints[0].name);
}

// Those that were named; in motion all from the first to the last, or all there are.
static jnResult ChooseFrames(const jncComparison* o, Drawing* d, jnError* error)
{
    int first = o->count > 0 ? o->frames[0] : 0, last = o->count > 0 ? o->frames[o->count - 1] : d->clip.frameCount - 1;
    if (o->moving && first > last) {
        return jnFail(error, jn_badArgument, "a GIF from frame %d to frame %d: the first comes first", first, last);
    }
    d->rows = o->moving ? last - first + 1 : o->count;
    d->frames = jnaArena_Take(&d->arena, d->rows, sizeof(int));
    JN_PASS(jnaArena_Check(&d->arena, "a picture", error));
    for (int i = 0; i < d->rows; ++i) {
        d->frames[i] = o->moving ? first + i : o->frames[i];
        if (d->frames[i] >= d->clip.frameCount) {
            return jnFail(
                error, jn_badArgument, "frame %d: clip '%s' has %d", d->frames[i], o->clip, d->clip.frameCount);
        }
    }
    return jn_ok;
}

static jnResult Load(const jncComparison* o, Drawing* d, jnError* error)
{
    JN_PASS(jnaLoadCharacter(o->workspace, &d->character, error));
    JN_PASS(jnaLoadClip(o->workspace, o->clip, &d->character, &d->clip, error));
    if (!o->dynamic) {
        JN_PASS(jnaLoadNetwork(o->workspace, &d->network, error));
    }
    if (!o->dynamic && d->network.vertexCount != d->character.vertexCount) {
        return jnFail(error, jn_badData, "%s/network: is of another character; run jounce train", o->workspace);
    }
    JN_PASS(ChooseFrames(o, d, error));
    int64_t vertices = 3 * (int64_t)d->character.vertexCount;
    d->colors = jnaArena_Take(&d->arena, 3 * (int64_t)d->character.triangleCount, sizeof(float));
    d->given = jnaArena_Take(&d->arena, vertices, sizeof(float));
    d->matrices = jnaArena_Take(&d->arena, 12 * (int64_t)d->character.jointCount, sizeof(float));
    d->places = jnaArena_Take(&d->arena, 3 * (int64_t)d->rows, sizeof(float));
    for (int i = 0; i < SURFACES; ++i) {
        d->positions[i] = jnaArena_Take(&d->arena, d->rows, sizeof(float*));
        for (int row = 0; !o->dynamic && d->positions[i] != NULL && row < d->rows; ++row) {
            d->positions[i][row] = jnaArena_Give(&d->arena, vertices, sizeof(float));
        }
    }
    return jnaArena_Check(&d->arena, "a picture", error);
}

// The three surfaces of a frame.
static jnResult FillRow(const jncComparison* o, int row, Drawing* d, jnError* error)
{
    jnaPairs pair;
    JN_PASS(jnaLoadFrame(o->workspace, &d->character, d->network.skinning, o->clip, d->frames[row], &pair, error));
    jnResult result = jn_ok;
    const int first = 0;
    JN_TRY(jnaNetwork_Predict(&d->network, &pair, &first, 1, d->given, error));
    const float* displacements[SURFACES] = {NULL, d->given, pair.displacements};
    for (int i = 0; i < SURFACES; ++i) {
        JN_TRY(jnaPairs_Surface(&pair, 0, displacements[i], d->positions[i][row], error));
    }
done:
    jnaDestroyPairs(&pair);
    return result;
}

// Frames of the simulated motion, allocated, as the others are.
static jnResult LoadMotion(const jncComparison* o, const Drawing* d, float** positions, jnError* error)
{
    char path[PATH_MAX];
    jnaArray motion;
    snprintf(path, sizeof(path), "%s/motion/%s/dynamic.npy", o->workspace, o->clip);
    jnResult result = jn_ok;
    JN_TRY(jnaOpenPositions(path, &motion, error));
    size_t width = 3 * (size_t)d->character.vertexCount;
    if (motion.dimensions != 3 || motion.shape[1] * motion.shape[2] != width) {
        JN_TRY(jnFail(error, jn_badData, "%s: is of another character; simulate it again", path));
    }
    for (int i = 0; i < d->rows; ++i) {
        if ((size_t)d->frames[i] >= motion.shape[0]) {
            JN_TRY(jnFail(error, jn_badArgument, "frame %d: %s has %zu", d->frames[i], path, motion.shape[0]));
        }
        positions[i] = malloc(width * sizeof(float));
        JN_TRY(positions[i] != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for a picture"));
        for (size_t k = 0; k < width; ++k) {
            positions[i][k] = (float)jnaArray_Get(&motion, (size_t)d->frames[i] * width + k);
        }
    }
done:
    jnaCloseArray(&motion);
    return result;
}

// All rows of a comparison in motion.
static jnResult FillMotion(const jncComparison* o, Drawing* d, jnError* error)
{
    jncScene scene = {0};
    jnResult result = jn_ok;
    JN_TRY(LoadMotion(o, d, d->positions[2], error));
    for (int i = 0; i < 2; ++i) {
        scene = (jncScene){.workspace = o->workspace, .clip = o->clip, .dynamic = i == 1};
        JN_TRY(jncScene_Load(&scene, error));
        JN_TRY(jncScene_Pose(&scene, d->frames, d->rows, d->positions[i], NULL, error));
        jncScene_Destroy(&scene);
    }
done:
    jncScene_Destroy(&scene);
    return result;
}

static void Place(int joint, Drawing* d)
{
    for (int row = 0; row < d->rows; ++row) {
        jnaPoseMatrices(&d->character, &d->clip, d->frames[row], d->matrices);
        for (int axis = 0; axis < 3; ++axis) {
            d->places[3 * (size_t)row + (size_t)axis] = d->matrices[12 * (size_t)joint + 4 * (size_t)axis + 3];
        }
    }
}

// Some rows in one picture.
static jnResult DrawRows(
    const jncComparison* o, const Drawing* d, int first, int rows, jnaPicture* picture, jnError* error)
{
    const char* const names[SURFACES] = {"skinned", o->dynamic ? "Jounce" : "network", "simulated"};
    jnaPictureMesh meshes[JNC_MAX_PANELS];
    char captions[JNC_MAX_PANELS][48];
    const char* captionList[JNC_MAX_PANELS];
    for (int i = 0; i < SURFACES * rows; ++i) {
        int row = first + i / SURFACES;
        meshes[i] = jnaPictureCharacter(&d->character, d->positions[i % SURFACES][row], d->colors);
        meshes[i].panel = i;
        for (int axis = 0; axis < 3; ++axis) {
            meshes[i].offset[axis] = -d->places[3 * (size_t)row + (size_t)axis];
        }
        double time = d->frames[row] / d->clip.rate;
        snprintf(captions[i], sizeof(captions[i]), "%s, %.2f s", names[i % SURFACES], time);
        captionList[i] = captions[i];
    }
    jnaPictureDef def = jnaDefaultPictureDef();
    def.rows = rows;
    def.columns = SURFACES;
    def.panelHeight = def.panelWidth = (int)o->panelHeight;
    def.captions = captionList;
    def.threads = o->threads;
    def.ground = false;
    def.camera = (jnaCamera){.yaw = (float)o->yaw, .pitch = (float)o->pitch, .height = (float)o->across};
    return jnaDrawPicture(&def, meshes, SURFACES * rows, picture, error);
}

// One picture with all rows, or a picture for each.
static jnResult Draw(const jncComparison* o, Drawing* d, jnError* error)
{
    int count = o->moving ? d->rows : 1, rows = o->moving ? 1 : d->rows;
    jnaPicture* pictures = jnaArena_Take(&d->arena, count, sizeof(*pictures));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&d->arena, "pictures", error));
    for (int i = 0; i < count; ++i) {
        JN_TRY(DrawRows(o, d, i, rows, &pictures[i], error));
    }
    JN_TRY(jncWritePictures(pictures, count, SURFACES * rows, d->clip.rate, o->output, error));
done:
    for (int i = 0; pictures != NULL && i < count; ++i) {
        jnaDestroyPicture(&pictures[i]);
    }
    return result;
}

int jncPicture_Compare(const jncComparison* o)
{
    jnError error = {0};
    int joint = 0;
    Drawing* d = calloc(1, sizeof(*d));
    jnResult result = jn_ok;
    JN_TRY(d != NULL ? Load(o, d, &error) : jnFail(&error, jn_outOfMemory, "out of memory for a picture"));
    JN_TRY(FindJoint(&d->character, o->joint, &joint, &error));
    for (int i = 0; !o->dynamic && i < d->rows; ++i) {
        JN_TRY(FillRow(o, i, d, &error));
    }
    JN_TRY(o->dynamic ? FillMotion(o, d, &error) : jn_ok);
    Place(joint, d);
    JN_TRY(Draw(o, d, &error));
done:
    if (d != NULL) {
        Free(d);
    }
    free(d);
    return jncEnd(result, &error);
}
