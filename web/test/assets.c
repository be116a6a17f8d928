// Small assets with everything in them, for the tests of the web part.
//
//     assets FOLDER     writes pca-modal.jounce, cnn-modal.jounce (exact timing) and five-modal.jounce (five joints a
//     vertex, no network)
#include "helpers/tube_scene.h"

#include <stdio.h>

static jnResult Write(
    TubeScene* s, jnNetworkKind kind, bool exact, const char* folder, const char* name, jnError* error)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.jounce", folder, name);
    jnaNetwork network = {0};
    jnaAssetDef def = DefineTube(s);
    def.timing = exact ? jn_timingExact : jn_timingCausal;
    def.network = &network;
    jnResult result = TrainTube(s, kind, kind == jn_networkPca ? 40 : 1, &network, error);
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

int main(int argc, char** argv)
{
    static TubeScene s;
    jnError error = {.message = "usage: assets FOLDER"};
    bool good = argc == 2 && MakeTubeScene(&s, false, &error) == jn_ok &&
                Write(&s, jn_networkPca, false, argv[1], "pca-modal", &error) == jn_ok &&
                Write(&s, jn_networkCnn, true, argv[1], "cnn-modal", &error) == jn_ok &&
                WriteFive(argv[1], &error) == jn_ok;
    if (!good) {
        fprintf(stderr, "%s\n", error.message);
    }
    DestroyTubeScene(&s);
    return good ? 0 : 1;
}
