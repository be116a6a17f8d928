// Presses of the rest pose, without self-contact, against the same pose without them.
#include "touch_scene.h"

#include "base/affine.h"
#include "base/random.h"
#include "base/try.h"
#include "character/figure.h"
#include "character/import.h"
#include "modes/touch.h"
#include "volume/bones.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THINNEST 0.025  // metres of flesh under a press
#define DEEPEST 0.6     // of the flesh's thickness
#define MOST_DEEPER 1.3 // that anything is inside, over what was asked for
#define SHALLOW 1e-3    // metres that parts without flesh may be inside
#define TILT 0.4        // of a press' direction from the skin's normal

static jnResult MakeRest(jnbTouchScene* s, jnError* error)
{
    const jnaCharacter* c = &s->character;
    s->rest = (jnaClip){.name = "rest", .rate = 30, .frameCount = 1, .jointCount = c->jointCount};
    JN_PASS(jnaClip_Allocate(&s->rest, true, error));
    for (int j = 0; j < c->jointCount; ++j) {
        memcpy(s->rest.rotations + 4 * j, c->joints[j].rotation, sizeof(c->joints[j].rotation));
        memcpy(s->rest.translations + 3 * j, c->joints[j].translation, sizeof(c->joints[j].translation));
        memcpy(s->rest.scales + 3 * j, c->joints[j].scale, sizeof(c->joints[j].scale));
    }
    return jn_ok;
}

static jnResult FillScene(jnbTouchScene* s, jnError* error)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    jnaMaterialsDef materials = jnaDefaultMaterialsDef();
    jnaBodyDef body = {0};
    JN_PASS(jnaCreateVolume(&s->character, &def, &s->volume, NULL, NULL, error));
    JN_PASS(jnaVolume_CarryWeights(&s->volume, &s->character, &weights, error));
    JN_PASS(jnaVolume_PlaceBones(&s->volume, &s->character, NULL, NULL, NULL, error));
    JN_PASS(jnaVolume_CalibrateMaterials(&s->volume, &s->character, &materials, NULL, error));
    JN_PASS(jnaMeasureSag(&s->volume, &s->character, &body, 0, &s->sag, error));
    JN_PASS(MakeRest(s, error));
    jnaFleshDef flesh = jnaDefaultFleshDef(&s->volume, &s->character);
    flesh.contact = false;
    JN_PASS(jnaCreateFlesh(&flesh, &s->flesh, error));
    JN_PASS(jnaCreateFleshSolver(s->flesh, &s->solver, error));
    size_t vertices = (size_t)s->character.vertexCount;
    s->normals = calloc(3 * vertices, sizeof(double));
    s->areas = calloc(vertices, sizeof(double));
    s->still = calloc(3 * vertices, sizeof(float));
    s->nodes = calloc(3 * (size_t)s->volume.nodeCount, sizeof(double));
    if (s->normals == NULL || s->areas == NULL || s->still == NULL || s->nodes == NULL) {
        snprintf(error->message, sizeof(error->message), "out of memory for the benchmark");
        return error->code = jn_outOfMemory;
    }
    jnaMeasureSkin(&s->character, s->normals, s->areas);
    jnaFleshReport report;
    JN_PASS(jnaFleshSolver_Pose(s->solver, &s->rest, 0, s->nodes, &report, error));
    jnaFleshSolver_Surface(s->solver, &s->rest, 0, s->nodes, s->still);
    return jn_ok;
}

jnResult jnbCreateTouchScene(const char* file, jnbTouchScene* s, jnError* error)
{
    *s = (jnbTouchScene){0};
    jnaImportDef import = jnaDefaultImportDef();
    JN_PASS(file != NULL ? jnaImportCharacter(file, &import, &s->character, &s->clips, NULL, NULL, error)
                         : jnaCreateFigure(&s->character, error));
    return FillScene(s, error);
}

void jnbDestroyTouchScene(jnbTouchScene* s)
{
    jnaDestroyFleshSolver(s->solver);
    jnaDestroyFlesh(s->flesh);
    jnaDestroySag(&s->sag);
    jnaDestroyClip(&s->rest);
    jnaDestroyVolume(&s->volume);
    jnaDestroyClipList(&s->clips);
    jnaDestroyCharacter(&s->character);
    free(s->normals);
    free(s->areas);
    free(s->still);
    free(s->nodes);
}

static double Between(uint64_t* state, double low, double high)
{
    return low + (high - low) * (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

static bool IsThick(const jnbTouchScene* s, int v)
{
    return (double)s->sag.depths[v] >= THINNEST && jnaVolume_Blend(&s->volume, v) > 0.99 &&
           s->sag.regions[v] != jna_regionHead && s->sag.regions[v] != jna_regionHand &&
           s->sag.regions[v] != jna_regionFoot;
}

static void DrawPress(const jnbTouchScene* s, uint64_t* state, jnbPress* press)
{
    int v;
    do {
        v = (int)(jnaNextBits(state) % (uint64_t)s->character.vertexCount);
    } while (!IsThick(s, v));
    double out[3], up[3] = {0, 1, 0}, turn[4], roll[4], all[4];
    for (size_t k = 0; k < 3; ++k) {
        out[k] = s->normals[3 * (size_t)v + k] + TILT * Between(state, -0.5, 0.5);
    }
    jnaNormalize(out);
    jnaQuat_Between(up, out, turn);
    jnaQuat_FromAxis(up, Between(state, 0, 6.28), roll);
    jnaQuat_Multiply(turn, roll, all);
    *press = (jnbPress){.vertex = v, .asked = Between(state, 0.01, 0.04), .collider = {.joint = -1}};
    press->asked = fmin(press->asked, DEEPEST * (double)s->sag.depths[v]);
    jnaCollider* c = &press->collider;
    double kind = Between(state, 0, 1), away = 0;
    c->radius = Between(state, 0.05, 0.15);
    if (kind < 0.5) {
        c->shape = jna_colliderSphere;
        away = c->radius;
    } else if (kind < 0.75) {
        const double lie[4] = {0, 0, 0.70710678, 0.70710678}; // its axis along the skin
        double lying[4];
        c->shape = jna_colliderCapsule;
        c->radius = Between(state, 0.03, 0.1);
        c->half[1] = Between(state, 0.05, 0.2);
        away = c->radius;
        jnaQuat_Multiply(all, lie, lying);
        memcpy(all, lying, sizeof(all));
    } else if (kind < 0.875) {
        c->shape = jna_colliderPlane;
        for (int k = 0; k < 3; ++k) { // solid on the outside
            out[k] = -out[k];
        }
        jnaQuat_Between(up, out, all);
        for (int k = 0; k < 3; ++k) {
            out[k] = -out[k];
        }
    } else {
        c->shape = jna_colliderBox;
        c->radius = 0.01;
        memcpy(c->half, (double[3]){Between(state, 0.03, 0.1), 0.05, Between(state, 0.03, 0.1)}, sizeof(c->half));
        away = 0.06;
    }
    for (size_t k = 0; k < 3; ++k) {
        c->position[k] = (double)s->character.positions[3 * (size_t)v + k] + (away - press->asked) * out[k];
    }
    memcpy(c->rotation, all, sizeof(all));
}

jnaPosedCollider jnbPoseCollider(const jnaCollider* c)
{
    jnaAffine own = jnaAffine_FromTrs(c->position, c->rotation, (const double[3]){1, 1, 1});
    jnaPosedCollider posed = {.shape = c->shape, .radius = c->radius};
    for (int k = 0; k < 3; ++k) {
        posed.half[k] = c->half[k];
        posed.position[k] = own.m[4 * k + 3];
        memcpy(posed.rotation + 3 * k, own.m + 4 * k, 3 * sizeof(double));
    }
    return posed;
}

// A press is one place: an arm behind the chest is not what a wall in front of it was asked to meet.
static bool IsOnePlace(const jnbTouchScene* s, const jnbPress* press)
{
    jnaPosedCollider posed = jnbPoseCollider(&press->collider);
    bool one = true;
    for (int v = 0; v < s->character.vertexCount; ++v) {
        double at[3], normal[3];
        for (size_t k = 0; k < 3; ++k) {
            at[k] = (double)s->still[3 * (size_t)v + k];
        }
        double depth = -jnaPosedCollider_Distance(&posed, at, normal);
        one = one && depth < MOST_DEEPER * press->asked;
        one = one && (depth < SHALLOW || jnaVolume_Blend(&s->volume, v) > 0.5);
    }
    return one;
}

void jnbMakePress(const jnbTouchScene* s, uint64_t* state, jnbPress* press)
{
    do {
        DrawPress(s, state, press);
    } while (!IsOnePlace(s, press));
}

jnResult jnbSolvePress(jnbTouchScene* s, jnbPress* press, float* dents, jnError* error)
{
    jnaFleshReport report;
    JN_PASS(jnaFleshSolver_SetColliders(s->solver, &press->collider, 1, error));
    JN_PASS(jnaFleshSolver_Pose(s->solver, &s->rest, 0, s->nodes, &report, error));
    jnaFleshSolver_Surface(s->solver, &s->rest, 0, s->nodes, dents);
    for (size_t i = 0; i < 3 * (size_t)s->character.vertexCount; ++i) {
        dents[i] -= s->still[i];
    }
    press->touch = jnaFleshSolver_Touches(s->solver)[0];
    press->converged = report.converged;
    press->seconds = report.seconds;
    return jn_ok;
}
