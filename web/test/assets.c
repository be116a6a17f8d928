// Small assets with everything in them, for the tests of the web part.
//
//     assets FOLDER     writes pca-modal.jounce, pca-dual.jounce (dual quaternions), cnn-modal.jounce (exact timing),
//     five-modal.jounce (five joints a vertex, no network), face-modal.jounce and face-vertex.jounce (morph targets of
//     their source: "smile", which the clip plays, and "frown", which rests at a quarter; modes, and springs of single
//     vertices)
#include "helpers/tube_scene.h"

#include <stdio.h>
#include <stdlib.h>

static jnResult Write(TubeScene* s, jnNetworkKind kind, bool exact, jnSkinning skinning, const char* folder,
    const char* name, jnError* error)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.jounce", folder, name);
    jnaNetwork network = {0};
    jnaAssetDef def = DefineTube(s);
    def.timing = exact ? jn_timingExact : jn_timingCausal;
    def.network = &network;
    jnResult result = TrainTube(s, kind, kind == jn_networkPca ? 40 : 1, &network, error);
    def.skinning = network.skinning = skinning; // any displacements do
    result = result == jn_ok ? jnaWriteAsset(path, &def, error) : result;
    jnaDestroyNetwork(&network);
    return result;
}

static jnResult WriteFive(const char* folder, jnError* error)
{
    static TubeScene s;
    char path[1024];
    snprintf(path, sizeof(path), "%s/five-modal.jounce", folder);
    jnResult result = MakeTubeScene(&s, true, error);
    jnaAssetDef def = DefineTube(&s);
    result = result == jn_ok ? jnaWriteAsset(path, &def, error) : result;
    DestroyTubeScene(&s);
    return result;
}

// Bulges along X around a height. The rest surface has a quarter of the second.
static bool AddFace(TubeScene* s)
{
    static const float weights[] = {0, 0.25f};
    jnaCharacter* c = &s->shapes.character;
    for (int t = 0; t < 2; ++t) {
        jnaTarget* target = jnaCharacter_AddTarget(c, t == 0 ? "smile" : "frown", weights[t]);
        for (int v = 0; target != NULL && v < c->vertexCount; ++v) {
            double away = ((double)c->positions[3 * v + 1] - 0.3 - 0.4 * t) / 0.1;
            target->offsets[3 * v] = (float)(0.05 * exp(-away * away));
        }
    }
    s->clip.targetCount = 2;
    s->clip.targets = calloc(2 * (size_t)s->clip.frameCount, sizeof(float));
    if (c->targetCount < 2 || s->clip.targets == NULL) {
        return false;
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        c->positions[3 * v] += weights[1] * c->targets[1].offsets[3 * v];
    }
    for (int f = 0; f < s->clip.frameCount; ++f) {
        s->clip.targets[2 * f] = (float)(0.5 - 0.5 * cos(JNA_TURN * f / s->clip.frameCount));
        s->clip.targets[2 * f + 1] = weights[1];
    }
    return true;
}

static jnResult WriteFace(const char* folder, jnError* error)
{
    static TubeScene s;
    char path[1024];
    jnResult result = MakeTubeScene(&s, false, error);
    if (result == jn_ok && !AddFace(&s)) {
        result = jn_outOfMemory;
    }
    for (int modal = 0; result == jn_ok && modal < 2; ++modal) {
        jnaAssetDef def = DefineTube(&s);
        def.modes = modal ? def.modes : NULL;
        snprintf(path, sizeof(path), "%s/face-%s.jounce", folder, modal ? "modal" : "vertex");
        result = jnaWriteAsset(path, &def, error);
    }
    DestroyTubeScene(&s);
    return result;
}

int main(int argc, char** argv)
{
    static TubeScene s;
    jnError error = {.message = "usage: assets FOLDER"};
    bool good = argc == 2 && MakeTubeScene(&s, false, &error) == jn_ok &&
                Write(&s, jn_networkPca, false, jn_skinLinear, argv[1], "pca-modal", &error) == jn_ok &&
                Write(&s, jn_networkPca, false, jn_skinDual, argv[1], "pca-dual", &error) == jn_ok &&
                Write(&s, jn_networkCnn, true, jn_skinLinear, argv[1], "cnn-modal", &error) == jn_ok &&
                WriteFive(argv[1], &error) == jn_ok && WriteFace(argv[1], &error) == jn_ok;
    if (!good) {
        fprintf(stderr, "%s\n", error.message);
    }
    DestroyTubeScene(&s);
    return good ? 0 : 1;
}
