// Rigged models as they are found in the wild, from the file to motion: new, build, bake.
#include "asset/asset_writer.h"
#include "asset/bake.h"
#include "character/scene.h"
#include "helpers/folders.h"
#include "helpers/support.h"
#include "pipeline/build.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_import.h"

#include <dirent.h>
#include <unistd.h>

#define MODELS JN_SOURCE_DIR "/../shared/data/gltf"

// Under the sanitizers, which are ten times slower, the smallest stands for all.
#ifdef JN_SANITIZED
static const char ending[] = "Simple.glb";
enum { LEAST_MODELS = 1 };
#else
static const char ending[] = ".glb";
enum { LEAST_MODELS = 3 };
#endif

static const char* Workspace(void)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/play_%ld", JN_BINARY_DIR, (long)getpid());
    return path;
}

// Without poses and motion, whatever the manifest wants.
static jnResult Build(const char* workspace, jnaNotes* notes, jnError* error)
{
    jnaBuildDef def = jnaDefaultBuildDef();
    def.until = jna_buildModes;
    return jnaBuildWorkspace(workspace, &def, notes, error);
}

// What one clip does, over all its frames.
typedef struct Motion {
    int vertexCount, frameCount;
    float* first;    // of the file's vertices
    double farthest; // of any vertex from its first place, metres
    double sum;      // of all positions, to tell two motions apart
    bool finite, inOrder;
} Motion;

static bool Take(int frame, const float* positions, const float* normals, void* user)
{
    Motion* m = user;
    size_t size = 3 * (size_t)m->vertexCount;
    if (frame == 0) {
        memcpy(m->first, positions, size * sizeof(float));
    }
    m->inOrder = m->inOrder && frame == m->frameCount;
    m->frameCount++;
    for (size_t i = 0; i < size; ++i) {
        double step = fabs((double)(positions[i] - m->first[i])), unit = fabs((double)normals[i]);
        m->finite = m->finite && isfinite(positions[i]) && unit <= 1.0001;
        m->farthest = fmax(m->farthest, step);
        m->sum += fabs((double)positions[i]);
    }
    return true;
}

static Motion Play(const jnAsset* asset, int clip, jnaBakeStage stage)
{
    jnError error = {0};
    Motion motion = {.vertexCount = asset->fileVertexCount, .finite = true, .inOrder = true};
    motion.first = malloc(3 * sizeof(float) * (size_t)motion.vertexCount);
    jnaBakeDef def = jnaDefaultBakeDef(asset);
    def.clip = clip;
    def.stage = stage;
    def.wantsNormals = true;
    def.take = Take;
    def.user = &motion;
    if (jnaBake(&def, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_true(motion.finite && motion.inOrder);
    assert_int_equal(motion.frameCount, jnaBakeFrameCount(&def));
    free(motion.first);
    motion.first = NULL;
    return motion;
}

// Returns how many clips were played.
static int PlayModel(const char* path)
{
    jnError error = {0};
    jnaAssetFile file;
    char assetPath[600];
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = path;
    RemoveFolder(Workspace());
    snprintf(assetPath, sizeof(assetPath), "%s/%s", Workspace(), JNA_ASSET_NAME);
    if (jnaCreateWorkspace(Workspace(), &def, NULL, &error) != jn_ok || Build(Workspace(), NULL, &error) != jn_ok ||
        jnaOpenAsset(assetPath, &file, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    int clips = file.asset->clipCount;
    for (int i = 0; i < clips; ++i) {
        Motion skinned = Play(file.asset, i, jna_stageSkinned), target = Play(file.asset, i, jna_stageTarget);
        Motion dynamic = Play(file.asset, i, jna_stageDynamic);
        assert_true(skinned.farthest > 0.05 && skinned.farthest < 20.0);
        assert_true(dynamic.farthest > 0.05 && dynamic.farthest < 20.0);
        assert_true(target.sum == skinned.sum);
        assert_true(dynamic.sum != skinned.sum); // the springs do something
    }
    jnaCloseAsset(&file);
    RemoveFolder(Workspace());
    return clips;
}

static void EveryKhronosModelIsImportedBuiltAndPlayed(void** state)
{
    (void)state;
    DIR* folder = opendir(MODELS);
    if (folder == NULL) {
        print_message("skipped: no shared data\n");
        skip();
    }
    int models = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (jnaHasEnding(entry->d_name, ending)) {
            char path[1024];
            snprintf(path, sizeof(path), "%s/%s", MODELS, entry->d_name);
            int clips = PlayModel(path);
            print_message("%s: %d clips played\n", entry->d_name, clips);
            assert_true(clips > 0);
            models++;
        }
    }
    closedir(folder);
    assert_true(models >= LEAST_MODELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryKhronosModelIsImportedBuiltAndPlayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
