// Small assets with everything in them, for the tests of the web part: a bending tube with a trained network and
// springs on modes. The modes are bumps around its joints, not of any material: what is tested does not depend on that.
//
//     assets FOLDER     writes pca-modal.jounce and cnn-modal.jounce (exact timing)
#include "asset/asset_writer.h"
#include "helpers/network_scene.h"

#include <stdio.h>

enum { RINGS = 33, SEGMENTS = 24, JOINTS = 5, POSES = 48, HELD = 8, FRAMES = 60, MODES = 9 };
#define TURN 6.283185307179586
#define VERTEX_MASS 0.002 // kg
#define BUMP 0.13         // metres, how far a mode reaches

// Every joint but the first swings, each at its own pace; the whole repeats.
static jnResult MakeClip(jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){.name = "sway", .rate = 30, .frameCount = FRAMES, .jointCount = JOINTS, .looping = true};
    jnResult result = jnaClip_Allocate(clip, false, error);
    for (int i = 0; result == jn_ok && i < FRAMES * JOINTS; ++i) {
        int frame = i / JOINTS, j = i % JOINTS;
        double half = j > 0 ? 0.25 * sin(TURN * (frame * j / (double)FRAMES + 0.2 * j)) : 0.0;
        double axis = 1.3 * j;
        clip->rotations[4 * i] = (float)(sin(half) * cos(axis));
        clip->rotations[4 * i + 2] = (float)(sin(half) * sin(axis));
        clip->rotations[4 * i + 3] = (float)cos(half);
        clip->translations[3 * i + 1] = j > 0 ? 0.2f : 0.0f;
    }
    return result;
}

static double WeightOf(const jnaInfluences* influences, int joint)
{
    double weight = 0.0;
    for (int i = 0; i < (int)(sizeof(influences->joints) / sizeof(influences->joints[0])); ++i) {
        weight += influences->joints[i] == joint ? (double)influences->weights[i] : 0.0;
    }
    return weight;
}

// Mode 3 j + a: a bump along axis a around the middle of joint j + 1.
static void ShapeMode(const jnaCharacter* c, jnaModes* m, int k)
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
    m->stiffness[k] = TURN * hertz * TURN * hertz;
    m->damping[k] = 0.3 * TURN * hertz;
    m->masses[k] = mass;
    m->joints[k] = k / 3 + 1;
    m->massShare[k] = 0.1;
    m->caps[k] = 0.02;
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        m->projections[(size_t)k * (size_t)c->vertexCount * 3 + (size_t)i] = (float)(VERTEX_MASS / mass) * shape[i];
    }
}

// Of e x (shape l) in mode k.
static void SpinModes(const jnaCharacter* c, jnaModes* m, int joint, int axis)
{
    size_t vertices = (size_t)c->vertexCount;
    float* spins = m->spins + (size_t)(3 * joint + axis) * MODES * MODES;
    for (int k = 0; k < MODES; ++k) {
        for (int l = 0; l < MODES; ++l) {
            double sum = 0.0;
            for (size_t v = 0; v < vertices; ++v) {
                const float* p = m->projections + ((size_t)k * vertices + v) * 3;
                const float* u = m->shapes + ((size_t)l * vertices + v) * 3;
                int y = (axis + 1) % 3, z = (axis + 2) % 3; // (e x u) has -u[z] at y and u[y] at z
                sum += WeightOf(&c->influences[v], joint) * (double)(p[z] * u[y] - p[y] * u[z]);
            }
            spins[k * MODES + l] = (float)sum;
        }
    }
}

static jnResult MakeModes(const jnaCharacter* c, jnaModes* modes, jnError* error)
{
    jnResult result = jnaModes_Allocate(modes, MODES, c->vertexCount, JOINTS, error);
    for (int k = 0; result == jn_ok && k < MODES; ++k) {
        ShapeMode(c, modes, k);
    }
    for (int i = 0; result == jn_ok && i < 3 * JOINTS; ++i) {
        SpinModes(c, modes, i / 3, i % 3);
    }
    return result;
}

// Everything that goes into the assets but the network.
typedef struct Scene {
    jnbShapes shapes;
    jnaClip clip;
    jnaModes modes;
    float springs[2][RINGS * SEGMENTS];
} Scene;

static jnResult Write(Scene* s, jnNetworkKind kind, bool exact, const char* folder, const char* name, jnError* error)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.jounce", folder, name);
    jnaTrainDef train = jnaDefaultTrainDef(kind);
    train.epochs = kind == jn_networkPca ? 40 : 1;
    train.mapSize = 64;
    train.hidden = 8;
    train.shared = 16;
    jnaNetwork network = {0};
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &s->shapes.character;
    def.clips = &s->clip;
    def.clipCount = 1;
    def.stiffness = s->springs[0];
    def.damping = s->springs[1];
    def.timing = exact ? jn_timingExact : jn_timingCausal;
    def.modes = &s->modes;
    def.network = &network;
    jnResult result = jnaTrainNetwork(&s->shapes.character, &s->shapes.pairs, &train, &network, NULL, error);
    result = result == jn_ok ? jnaWriteAsset(path, &def, error) : result;
    jnaDestroyNetwork(&network);
    return result;
}

int main(int argc, char** argv)
{
    static Scene s;
    jnError error = {.message = "usage: assets FOLDER"};
    jnaCharacter* c = &s.shapes.character;
    for (int v = 0; v < RINGS * SEGMENTS; ++v) {
        s.springs[0][v] = 600.0f + (float)(v % 7) * 100.0f;
        s.springs[1][v] = 4.0f + (float)(v % 5);
    }
    bool good = argc == 2 && jnbCreateUvTube(RINGS, SEGMENTS, JOINTS, c, &error) == jn_ok &&
                jnbFillShapes(&s.shapes, POSES, HELD, 7, &error) == jn_ok && MakeClip(&s.clip, &error) == jn_ok &&
                MakeModes(c, &s.modes, &error) == jn_ok &&
                Write(&s, jn_networkPca, false, argv[1], "pca-modal", &error) == jn_ok &&
                Write(&s, jn_networkCnn, true, argv[1], "cnn-modal", &error) == jn_ok;
    if (!good) {
        fprintf(stderr, "%s\n", error.message);
    }
    jnaDestroyModes(&s.modes);
    jnaDestroyClip(&s.clip);
    jnbDestroyShapes(&s.shapes);
    return good ? 0 : 1;
}
