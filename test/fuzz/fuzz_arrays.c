// Whatever is in the files of a workspace's character and clip: they are loaded within bounds, or there is an error.
// The first byte says which file holds the bytes; the others are as jounce new writes them.
#include "memory_files.h"
#include "workspace/store.h"

#include <string.h>
#include <unistd.h>

static const char* const names[] = {"character/character.json", "character/positions.npy", "character/weld.npy",
    "character/normals.npy", "character/triangles.npy", "character/joints.npy", "character/weights.npy",
    "clips/walk/clip.json", "clips/walk/rotations.npy", "clips/walk/translations.npy"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static char folder[] = "/tmp/jounce-fuzz-XXXXXX"; // empty, and gone again: its files are in memory
static struct {
    char path[64];
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
    if (jnaSaveCharacter(folder, &c, 1, NULL) != jn_ok || jnaSaveClip(folder, &clip, NULL, NULL, NULL) != jn_ok) {
        abort();
    }
}

int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    (void)argc, (void)argv;
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    SaveSmall();
    for (int i = 0; i < NAMES; ++i) {
        snprintf(originals[i].path, sizeof(originals[i].path), "%s/%s", folder, names[i]);
        const void* bytes = GetFile(originals[i].path, &originals[i].size);
        originals[i].bytes = bytes != NULL ? malloc(originals[i].size) : NULL;
        if (originals[i].bytes == NULL) {
            abort();
        }
        memcpy(originals[i].bytes, bytes, originals[i].size);
    }
    static const char* const made[] = {"/character", "/clips/walk", "/clips", ""};
    for (int i = 0; i < 4; ++i) {
        char path[64];
        snprintf(path, sizeof(path), "%s%s", folder, made[i]);
        if (rmdir(path) != 0) {
            abort();
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaCharacter character;
    jnaClip clip;
    jnError error;
    if (size == 0) {
        return 0;
    }
    int name = data[0] % NAMES;
    PutFile(originals[name].path, data + 1, size - 1);
    if (jnaLoadCharacter(folder, &character, &error) == jn_ok) {
        if (jnaLoadClip(folder, "walk", &character, &clip, &error) == jn_ok) {
            jnaDestroyClip(&clip);
        }
        jnaDestroyCharacter(&character);
    }
    PutFile(originals[name].path, originals[name].bytes, originals[name].size);
    return 0;
}
