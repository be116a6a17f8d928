// Every allocation of ours in finding, storing, playing and fitting modes fails once: a result that says so, or the
// same outcome as without the failure; nothing half done.
#include "asset/asset_writer.h"
#include "helpers/core.h"
#include "helpers/failing_memory.h"
#include "jounce/jounce.h"
#include "learn/modal_fit.h"
#include "learn/shape_fit.h"
#include "pipeline/offsets.h"
#include "workspace/modes_store.h"

#include <omp.h>

enum { MODES = 4 };
static Core core;
static jnaModes modes; // what is found when nothing fails
static jnaModalSequence sequence;
static jnaModalFit fitted;
static char folder[256];

static void ModesAreTheSame(const jnaModes* a, const jnaModes* b)
{
    size_t n = (size_t)a->modeCount, numbers = 3 * n * (size_t)a->vertexCount;
    assert_int_equal(a->modeCount, b->modeCount);
    assert_memory_equal(a->stiffness, b->stiffness, n * sizeof(double));
    assert_memory_equal(a->joints, b->joints, n * sizeof(int32_t));
    assert_memory_equal(a->massShare, b->massShare, n * sizeof(double));
    assert_memory_equal(a->shapes, b->shapes, numbers * sizeof(float));
    assert_memory_equal(a->projections, b->projections, numbers * sizeof(float));
    assert_memory_equal(a->spins, b->spins, 3 * (size_t)a->jointCount * n * n * sizeof(float));
}

static jnaModesDef FewModes(void)
{
    jnaModesDef def = jnaDefaultModesDef();
    def.count = MODES;
    def.cutoff = 1e6;
    return def;
}

static jnResult Find(jnError* error)
{
    jnaModesDef def = FewModes();
    jnaModes found;
    jnResult result = jnaFindModes(&core.block.volume, &core.block.character, &def, NULL, &found, NULL, error);
    if (result == jn_ok && modes.modeCount > 0) {
        ModesAreTheSame(&found, &modes);
    }
    assert_true(result == jn_ok ? found.modeCount > 0 : result == jn_outOfMemory && found.shapes == NULL);
    jnaDestroyModes(&found);
    return result;
}

static void FindingModesSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(Find, 15);
}

static jnResult Store(jnError* error)
{
    jnaModes back = {0};
    jnResult result = jnaSaveModes(folder, &modes, error);
    result = result == jn_ok ? jnaLoadModes(folder, &back, error) : result;
    if (result == jn_ok) {
        ModesAreTheSame(&back, &modes);
    } else {
        assert_null(back.shapes);
    }
    jnaDestroyModes(&back);
    return result;
}

// Reach, caps, a mask and a clip that is played.
static jnResult Limit(jnError* error)
{
    jnaCharacter whole = core.block.character; // as an asset needs it
    const jnaCharacter* c = &whole;
    float reach[1000], turns[8 * 2 * 4] = {0}, places[8 * 2 * 3] = {0};
    jnaModes copy = {0};
    jnaOffsets offsets = {0};
    jnaClip clip = {.name = "still", .rate = 30, .frameCount = 8, .jointCount = 2, .rotations = turns};
    clip.translations = places;
    for (int i = 0; i < 16; ++i) {
        turns[4 * i + 3] = 1;
    }
    whole.triangleCount = 1;
    assert_true(c->vertexCount <= 1000);
    jnResult result = jnaFindReach(&core.block.volume, c, reach, error);
    result = result == jn_ok ? jnaModes_Allocate(&copy, MODES, c->vertexCount, 2, error) : result;
    if (result == jn_ok) {
        memcpy(copy.shapes, modes.shapes, 3 * MODES * (size_t)c->vertexCount * sizeof(float));
        memcpy(copy.stiffness, modes.stiffness, MODES * sizeof(double));
    }
    result = result == jn_ok ? jnaModes_SetBound(&copy, c, reach, error) : result;
    result = result == jn_ok ? jnaModes_Mask(&copy, &core.block.character, reach, error) : result;
    result = result == jn_ok ? jnaFindOffsets(c, &copy, 1, &clip, &offsets, error) : result;
    assert_true(result == jn_ok ? offsets.joints != NULL && offsets.kept == 1
                                : result == jn_outOfMemory && offsets.joints == NULL);
    jnaDestroyOffsets(&offsets);
    jnaDestroyModes(&copy);
    return result;
}

static void LimitingModesSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(Limit, 15);
}

static void StoringModesSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(Store, 10);
}

static jnResult Fit(jnError* error)
{
    jnaModalFitDef def = jnaDefaultModalFitDef();
    def.modes = &modes;
    def.character = &core.block.character;
    def.sequences = &sequence;
    def.sequenceCount = 1;
    jnaModalFit fit;
    jnResult result = jnaFitModes(&def, &fit, error);
    if (result == jn_ok && fitted.stiffness != NULL) {
        assert_memory_equal(fit.stiffness, fitted.stiffness, MODES * sizeof(double));
        assert_memory_equal(fit.damping, fitted.damping, MODES * sizeof(double));
        assert_memory_equal(fit.gain, fitted.gain, MODES * sizeof(double));
    }
    if (result == jn_ok && fitted.stiffness == NULL) {
        fitted = fit;
        return result;
    }
    assert_true(result == jn_ok || (result == jn_outOfMemory && fit.stiffness == NULL));
    jnaDestroyModalFit(&fit);
    return result;
}

static void FittingModesSurvivesEveryFailure(void** state)
{
    (void)state;
    assert_int_equal(Fit(NULL), jn_ok);
    FailEach(Fit, 20);
}

static jnResult FitTheShapes(jnError* error)
{
    static float shapes[3 * MODES * 1000];
    assert_true(modes.vertexCount <= 1000);
    return jnaFitShapes(&modes, &sequence, 1, JNA_SHAPE_PRIOR, shapes, error);
}

static void FittingShapesSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(FitTheShapes, 8);
}

static jnResult TakeFromMotion(jnError* error)
{
    jnaDataModesDef def = jnaDefaultDataModesDef();
    def.character = &core.block.character;
    def.sequences = &sequence;
    def.sequenceCount = 1;
    def.perRegion = 3;
    jnaModes found;
    jnResult result = jnaFindDataModes(&def, &found, error);
    assert_true(result == jn_ok || result == jn_outOfMemory);
    jnaDestroyModes(&found);
    return result;
}

static void ModesOfMotionSurviveEveryFailure(void** state)
{
    (void)state;
    FailEach(TakeFromMotion, 10);
}

static jnResult Play(jnError* error)
{
    size_t n = (size_t)core.block.character.vertexCount, size = 0;
    float* springs = __libc_calloc(2 * n, sizeof(float));
    jnaAssetDef def = jnaDefaultAssetDef();
    void* bytes = NULL;
    jnAsset* asset = NULL;
    jnCharacter* character = NULL;
    for (size_t i = 0; i < 2 * n; ++i) {
        springs[i] = 20;
    }
    core.block.character.triangleCount = 1; // an asset needs one
    def.character = &core.block.character;
    def.stiffness = springs;
    def.damping = springs + n;
    def.modes = &modes;
    def.restVertices = true;
    jnResult result = jnaEncodeAsset(&def, &bytes, &size, error);
    result = result == jn_ok ? jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, error) : result;
    if (result == jn_ok) {
        jnCharacterDef characterDef = jnDefaultCharacterDef(asset);
        result = jnCreateCharacter(&characterDef, &character, error);
    }
    if (result != jn_ok && result != jn_outOfMemory) {
        fail_msg("%s", error->message);
    }
    core.block.character.triangleCount = 0;
    jnDestroyCharacter(character);
    jnDestroyAsset(asset);
    free(bytes);
    free(springs);
    return result;
}

static void PlayingModesSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(Play, 5);
}

static int SetUp(void** state)
{
    (void)state;
    onlyOurs = true;
    // The threads of OpenMP allocate when they like.
    omp_set_num_threads(1);
    core = MakeCore(4);
    jnaCharacter* c = &core.block.character;
    for (int v = 0; v < c->vertexCount; ++v) {
        c->influences[v] = (jnaInfluences){.joints = {0}, .weights = {1}};
    }
    for (int i = 0; i < c->fileVertexCount; ++i) {
        c->weld[i] = i;
        c->fileNormals[3 * i] = 1;
    }
    c->triangles = realloc(c->triangles, 3 * sizeof(int32_t));
    memcpy(c->triangles, (const int32_t[3]){0, 1, 2}, 3 * sizeof(int32_t));
    jnaModesDef def = FewModes();
    if (jnaFindModes(&core.block.volume, c, &def, NULL, &modes, NULL, NULL) != jn_ok || modes.modeCount != MODES) {
        return -1;
    }
    sequence = RunCore(&core, CORE_JUMPING, 6, 2);
    sequence.frameCount = 16; // a failure at a time: short
    snprintf(folder, sizeof(folder), "%s/modes-memory-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int TearDown(void** state)
{
    (void)state;
    char line[300];
    jnaDestroyModalFit(&fitted);
    jnaDestroyModes(&modes);
    DestroyCore(&core);
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(FindingModesSurvivesEveryFailure),
        cmocka_unit_test(LimitingModesSurvivesEveryFailure),
        cmocka_unit_test(StoringModesSurvivesEveryFailure),
        cmocka_unit_test(FittingModesSurvivesEveryFailure),
        cmocka_unit_test(FittingShapesSurvivesEveryFailure),
        cmocka_unit_test(ModesOfMotionSurviveEveryFailure),
        cmocka_unit_test(PlayingModesSurvivesEveryFailure),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
