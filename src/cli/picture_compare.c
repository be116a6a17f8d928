// jounce picture --compare: the same place of the same frame three times: skinned, by the network, simulated; in motion
// skinned, with its springs, simulated.
//
// The body is seen as its root stands at rest: what the clip does with the whole of it is taken off by placing the
// joint that is looked at in the middle, and the camera turns with nothing.
#include "base/npy.h"
#include "base/try.h"
#include "cli.h"
#include "draw/picture.h"
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

enum { SURFACES = 3, MOST = JNC_MAX_PANELS };

typedef struct Drawing {
    jnaCharacter character;
    jnaClip clip;
    jnaNetwork network;
    float *colors, *given, *matrices;
    float* positions[MOST];
    float places[MOST / SURFACES][3]; // of the joint, each frame
    jnaPictureMesh meshes[MOST];
    char captions[MOST][48];
    const char* captionList[MOST];
} Drawing;

static void Free(Drawing* d)
{
    for (int i = 0; i < MOST; ++i) {
        free(d->positions[i]);
    }
    free(d->colors);
    free(d->given);
    free(d->matrices);
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
    size_t vertices = 3 * (size_t)d->character.vertexCount;
    d->colors = malloc(sizeof(float) * 3 * (size_t)d->character.triangleCount);
    d->given = malloc(sizeof(float) * vertices);
    d->matrices = malloc(sizeof(float) * 12 * (size_t)d->character.jointCount);
    bool good = d->colors != NULL && d->given != NULL && d->matrices != NULL;
    for (int i = 0; !o->dynamic && i < SURFACES * o->count; ++i) {
        d->positions[i] = malloc(sizeof(float) * vertices);
        good = good && d->positions[i] != NULL;
    }
    return good ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for a picture");
}

// The three surfaces of a frame.
static jnResult FillRow(const jncComparison* o, int row, Drawing* d, jnError* error)
{
    jnaPairs pair;
    JN_PASS(jnaLoadFrame(o->workspace, &d->character, o->clip, o->frames[row], &pair, error));
    jnResult result = jn_ok;
    const int first = 0;
    JN_TRY(jnaNetwork_Predict(&d->network, &pair, &first, 1, d->given, error));
    const float* displacements[SURFACES] = {NULL, d->given, pair.displacements};
    for (int i = 0; i < SURFACES; ++i) {
        JN_TRY(jnaPairs_Surface(&pair, 0, displacements[i], d->positions[SURFACES * row + i], error));
    }
done:
    jnaDestroyPairs(&pair);
    return result;
}

// Frames of the simulated motion, allocated, as the others are.
static jnResult LoadMotion(const jncComparison* o, const jnaCharacter* c, float** positions, jnError* error)
{
    char path[PATH_MAX];
    jnaArray motion;
    snprintf(path, sizeof(path), "%s/motion/%s/dynamic.npy", o->workspace, o->clip);
    jnResult result = jn_ok;
    JN_TRY(jnaOpenArray(path, &motion, error));
    size_t width = 3 * (size_t)c->vertexCount;
    if (motion.dimensions != 3 || motion.shape[1] * motion.shape[2] != width) {
        JN_TRY(jnFail(error, jn_badData, "%s: is of another character; simulate it again", path));
    }
    for (int i = 0; i < o->count; ++i) {
        if ((size_t)o->frames[i] >= motion.shape[0]) {
            JN_TRY(jnFail(error, jn_badArgument, "frame %d: %s has %zu", o->frames[i], path, motion.shape[0]));
        }
        positions[i] = malloc(width * sizeof(float));
        JN_TRY(positions[i] != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for a picture"));
        for (size_t k = 0; k < width; ++k) {
            positions[i][k] = (float)jnaArray_Get(&motion, (size_t)o->frames[i] * width + k);
        }
    }
done:
    jnaCloseArray(&motion);
    return result;
}

// All rows of a comparison in motion.
static jnResult FillMotion(const jncComparison* o, Drawing* d, jnError* error)
{
    float* surfaces[SURFACES][MOST / SURFACES] = {{NULL}};
    jncScene scene = {0};
    jnResult result = jn_ok;
    JN_TRY(LoadMotion(o, &d->character, surfaces[2], error));
    for (int i = 0; i < o->count; ++i) {
        if (o->frames[i] >= d->clip.frameCount) {
            JN_TRY(
                jnFail(error, jn_badArgument, "frame %d: clip '%s' has %d", o->frames[i], o->clip, d->clip.frameCount));
        }
    }
    for (int i = 0; i < 2; ++i) {
        scene = (jncScene){.workspace = o->workspace, .clip = o->clip, .dynamic = i == 1};
        JN_TRY(jncScene_Load(&scene, error));
        JN_TRY(jncScene_Pose(&scene, o->frames, o->count, surfaces[i], NULL, error));
        jncScene_Destroy(&scene);
    }
done:
    jncScene_Destroy(&scene);
    for (int i = 0; i < SURFACES * o->count; ++i) {
        d->positions[i] = surfaces[i % SURFACES][i / SURFACES];
    }
    return result;
}

static void Place(const jncComparison* o, int joint, Drawing* d)
{
    for (int row = 0; row < o->count; ++row) {
        jnaPoseMatrices(&d->character, &d->clip, o->frames[row], d->matrices);
        for (int axis = 0; axis < 3; ++axis) {
            d->places[row][axis] = d->matrices[12 * (size_t)joint + 4 * (size_t)axis + 3];
        }
    }
}

static jnResult Draw(const jncComparison* o, Drawing* d, jnError* error)
{
    const char* const names[SURFACES] = {"skinned", o->dynamic ? "Jounce" : "network", "simulated"};
    int count = SURFACES * o->count;
    for (int i = 0; i < count; ++i) {
        d->meshes[i] = jnaPictureCharacter(&d->character, d->positions[i], d->colors);
        d->meshes[i].panel = i;
        for (int axis = 0; axis < 3; ++axis) {
            d->meshes[i].offset[axis] = -d->places[i / SURFACES][axis];
        }
        snprintf(d->captions[i], sizeof(d->captions[i]), "%s, %.2f s", names[i % SURFACES],
            o->frames[i / SURFACES] / d->clip.rate);
        d->captionList[i] = d->captions[i];
    }
    jnaPictureDef def = jnaDefaultPictureDef();
    def.rows = o->count;
    def.columns = SURFACES;
    def.panelHeight = def.panelWidth = (int)o->panelHeight;
    def.captions = d->captionList;
    def.threads = o->threads;
    def.ground = false;
    def.camera = (jnaCamera){.yaw = (float)o->yaw, .pitch = (float)o->pitch, .height = (float)o->across};
    jnaPicture picture;
    jnResult result = jn_ok;
    JN_TRY(jnaDrawPicture(&def, d->meshes, count, &picture, error));
    JN_TRY(jnaPicture_Write(&picture, o->output, error));
    printf("%d panels, %d x %d pixels, written to %s\n", count, picture.width, picture.height, o->output);
done:
    jnaDestroyPicture(&picture);
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
    for (int i = 0; !o->dynamic && i < o->count; ++i) {
        JN_TRY(FillRow(o, i, d, &error));
    }
    JN_TRY(o->dynamic ? FillMotion(o, d, &error) : jn_ok);
    Place(o, joint, d);
    JN_TRY(Draw(o, d, &error));
done:
    if (d != NULL) {
        Free(d);
    }
    free(d);
    return jncEnd(result, &error);
}
