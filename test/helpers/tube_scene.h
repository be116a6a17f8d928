// A bending tube with poses to train a network on, a clip, and springs on modes: everything that an asset can hold. The
// modes are bumps around its joints, not of any material: what is tested does not depend on that.
#pragma once

#include "asset/asset_writer.h"
#include "base/affine.h"
#include "helpers/network_scene.h"

enum { TUBE_RINGS = 33, TUBE_SEGMENTS = 24, TUBE_JOINTS = 5, TUBE_POSES = 48, TUBE_HELD = 8 };
enum { TUBE_FRAMES = 60, TUBE_MODES = 9, TUBE_SPRINGS = TUBE_RINGS * TUBE_SEGMENTS };
#define VERTEX_MASS 0.002 // kg
#define BUMP 0.13         // metres, how far a mode reaches

// Every joint but the first swings, each at its own pace; the whole repeats.
static inline jnResult MakeTubeClip(jnaClip* clip, jnError* error)
{
    *clip =
        (jnaClip){.name = "sway", .rate = 30, .frameCount = TUBE_FRAMES, .jointCount = TUBE_JOINTS, .looping = true};
    jnResult result = jnaClip_Allocate(clip, false, error);
    for (int i = 0; result == jn_ok && i < TUBE_FRAMES * TUBE_JOINTS; ++i) {
        int frame = i / TUBE_JOINTS, j = i % TUBE_JOINTS;
        double half = j > 0 ? 0.25 * sin(JNA_TURN * (frame * j / (double)TUBE_FRAMES + 0.2 * j)) : 0.0;
        double axis = 1.3 * j;
        clip->rotations[4 * i] = (float)(sin(half) * cos(axis));
        clip->rotations[4 * i + 2] = (float)(sin(half) * sin(axis));
        clip->rotations[4 * i + 3] = (float)cos(half);
        clip->translations[3 * i + 1] = j > 0 ? 0.2f : 0.0f;
    }
    return result;
}

static inline double TubeWeightOf(const jnaInfluences* influences, int joint)
{
    double weight = 0.0;
    for (int i = 0; i < (int)(sizeof(influences->joints) / sizeof(influences->joints[0])); ++i) {
        weight += influences->joints[i] == joint ? (double)influences->weights[i] : 0.0;
    }
    return weight;
}

// Mode 3 j + a: a bump along axis a around the middle of joint j + 1.
static inline void ShapeTubeMode(const jnaCharacter* c, jnaModes* m, int k)
{
    float* shape = m->shapes + (size_t)k * (size_t)c->vertexCount * 3;
    double mass = 0.0;
    for (int v = 0; v < c->vertexCount; ++v) {
        double away = ((double)c->positions[3 * v + 1] - 0.2 * (k / 3 + 1.5)) / BUMP, size = exp(-2.0 * away * away);
        size = size > 0.02 ? size : 0.0;
        shape[3 * v + k % 3] = (float)size;
        m->sizes[k] += size > 0.0;
        mass += VERTEX_MASS * size * size;
    }
    double hertz = 2.0 + 0.7 * k;
    m->stiffness[k] = JNA_TURN * hertz * JNA_TURN * hertz;
    m->damping[k] = 0.3 * JNA_TURN * hertz;
    m->masses[k] = mass;
    m->joints[k] = k / 3 + 1;
    m->massShare[k] = 0.1;
    m->caps[k] = 0.02;
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        m->projections[(size_t)k * (size_t)c->vertexCount * 3 + (size_t)i] = (float)(VERTEX_MASS / mass) * shape[i];
    }
}

// Of e x (shape l) in mode k.
static inline void SpinTubeModes(const jnaCharacter* c, jnaModes* m, int joint, int axis)
{
    size_t vertices = (size_t)c->vertexCount;
    float* spins = m->spins + (size_t)(3 * joint + axis) * TUBE_MODES * TUBE_MODES;
    for (int k = 0; k < TUBE_MODES; ++k) {
        for (int l = 0; l < TUBE_MODES; ++l) {
            double sum = 0.0;
            for (size_t v = 0; v < vertices; ++v) {
                const float* p = m->projections + ((size_t)k * vertices + v) * 3;
                const float* u = m->shapes + ((size_t)l * vertices + v) * 3;
                int y = (axis + 1) % 3, z = (axis + 2) % 3; // (e x u) has -u[z] at y and u[y] at z
                sum += TubeWeightOf(&c->influences[v], joint) * (double)(p[z] * u[y] - p[y] * u[z]);
            }
            spins[k * TUBE_MODES + l] = (float)sum;
        }
    }
}

static inline jnResult MakeTubeModes(const jnaCharacter* c, jnaModes* modes, jnError* error)
{
    jnResult result = jnaModes_Allocate(modes, TUBE_MODES, c->vertexCount, TUBE_JOINTS, error);
    for (int k = 0; result == jn_ok && k < TUBE_MODES; ++k) {
        ShapeTubeMode(c, modes, k);
    }
    for (int i = 0; result == jn_ok && i < 3 * TUBE_JOINTS; ++i) {
        SpinTubeModes(c, modes, i / 3, i % 3);
    }
    return result;
}

// What goes into an asset but the network.
typedef struct TubeScene {
    jnbShapes shapes;
    jnaClip clip;
    jnaModes modes;
    float springs[2][TUBE_SPRINGS];
} TubeScene;

// Every vertex on all five joints, the nearest with most weight.
static inline void SpreadTube(jnaCharacter* c)
{
    for (int v = 0; v < c->vertexCount; ++v) {
        jnaInfluences* in = &c->influences[v];
        double sum = 0.0, at = (double)c->positions[3 * v + 1] / 0.2;
        *in = (jnaInfluences){0};
        for (int j = 0; j < TUBE_JOINTS; ++j) {
            double d = at - (j + 0.5), weight = 1.0 / (0.05 + d * d * d * d);
            int place = j;
            sum += weight;
            for (; place > 0 && (double)in->weights[place - 1] < weight; --place) {
                in->weights[place] = in->weights[place - 1];
                in->joints[place] = in->joints[place - 1];
            }
            in->weights[place] = (float)weight;
            in->joints[place] = (uint16_t)j;
        }
        for (int k = 0; k < TUBE_JOINTS; ++k) {
            in->weights[k] = (float)((double)in->weights[k] / sum);
        }
    }
}

// spread: five joints a vertex instead of four.
static inline jnResult MakeTubeScene(TubeScene* s, bool spread, jnError* error)
{
    jnaCharacter* c = &s->shapes.character;
    for (int v = 0; v < TUBE_SPRINGS; ++v) {
        s->springs[0][v] = 600.0f + (float)(v % 7) * 100.0f;
        s->springs[1][v] = 4.0f + (float)(v % 5);
    }
    jnResult result = jnbCreateUvTube(TUBE_RINGS, TUBE_SEGMENTS, TUBE_JOINTS, c, error);
    if (result == jn_ok && spread) {
        SpreadTube(c);
    }
    result = result == jn_ok ? jnbFillShapes(&s->shapes, TUBE_POSES, TUBE_HELD, 7, error) : result;
    result = result == jn_ok ? MakeTubeClip(&s->clip, error) : result;
    return result == jn_ok ? MakeTubeModes(c, &s->modes, error) : result;
}

static inline void DestroyTubeScene(TubeScene* s)
{
    jnaDestroyModes(&s->modes);
    jnaDestroyClip(&s->clip);
    jnbDestroyShapes(&s->shapes);
}

// A small network for the scene.
static inline jnResult TrainTube(TubeScene* s, jnNetworkKind kind, int epochs, jnaNetwork* network, jnError* error)
{
    jnaTrainDef train = jnaDefaultTrainDef(kind);
    train.epochs = epochs;
    train.mapSize = 64;
    train.hidden = 8;
    train.shared = 16;
    return jnaTrainNetwork(&s->shapes.character, &s->shapes.pairs, &train, network, NULL, error);
}

// An asset's clip, springs and modes; the network is the caller's.
static inline jnaAssetDef DefineTube(const TubeScene* s)
{
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &s->shapes.character;
    def.clips = &s->clip;
    def.clipCount = 1;
    def.stiffness = s->springs[0];
    def.damping = s->springs[1];
    def.modes = &s->modes;
    return def;
}
