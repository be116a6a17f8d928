// Whatever is in the files of a workspace's character and clip: they are loaded within bounds, or there is an error.
// The first byte says which file holds the bytes; the others are as jounce new writes them.
#include "input_file.h"
#include "workspace/store.h"

#include <string.h>

static const char* const names[] = {"character/character.json", "character/positions.npy", "character/weld.npy",
    "character/normals.npy", "character/triangles.npy", "character/joints.npy", "character/weights.npy",
    "clips/walk/clip.json", "clips/walk/rotations.npy", "clips/walk/translations.npy"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static struct {
    char* bytes;
    size_t size;
} originals[NAMES];

static void SaveSmall(void)
{
    float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, normals[9] = {0};
    int32_t weld[] = {0, 1, 2}, triangles[] = {0, 1, 2};
    jnaInfluences influences[3] = {{.weights = {1}}, {.weights = {1}}, {.weights = {1}}};
    jnaJoint joint = {.name = "root", .parent = -1, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    jnaPart part = {.name = "part", .triangleCount = 1};
    jnaCharacter c = {.name = "small",
        .vertexCount = 3,
        .fileVertexCount = 3,
        .triangleCount = 1,
        .partCount = 1,
        .jointCount = 1,
        .positions = positions,
        .fileNormals = normals,
        .weld = weld,
        .triangles = triangles,
        .influences = influences,
        .joints = &joint,
        .parts = &part};
    float rotations[] = {0, 0, 0, 1, 0, 0, 0, 1}, translations[6] = {0};
    jnaClip clip = {.name = "walk",
        .rate = 30,
        .frameCount = 2,
        .jointCount = 1,
        .rotations = rotations,
        .translations = translations};
    if (jnaSaveCharacter(FuzzFolder(), &c, 1, NULL) != jn_ok || jnaSaveClip(FuzzFolder(), &clip, NULL, NULL) != jn_ok) {
        abort();
    }
}

static void PathOf(int name, char path[160])
{
    snprintf(path, 160, "%s/%s", FuzzFolder(), names[name]);
}

int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    (void)argc, (void)argv;
    SaveSmall();
    for (int i = 0; i < NAMES; ++i) {
        char path[160];
        PathOf(i, path);
        FILE* file = fopen(path, "rb");
        originals[i].bytes = malloc(65536);
        originals[i].size = file != NULL ? fread(originals[i].bytes, 1, 65536, file) : 0;
        fclose(file);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[160];
    jnaCharacter character;
    jnaClip clip;
    jnError error;
    if (size == 0) {
        return 0;
    }
    int name = data[0] % NAMES;
    PathOf(name, path);
    WriteBytes(path, data + 1, size - 1);
    if (jnaLoadCharacter(FuzzFolder(), &character, &error) == jn_ok) {
        if (jnaLoadClip(FuzzFolder(), "walk", &character, &clip, &error) == jn_ok) {
            jnaDestroyClip(&clip);
        }
        jnaDestroyCharacter(&character);
    }
    WriteBytes(path, originals[name].bytes, originals[name].size);
    return 0;
}
