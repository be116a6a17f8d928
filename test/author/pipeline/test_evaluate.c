// Fit and evaluation of a small workspace whose answers are known: a tube, its skinned motion, and motion made from it.
#include "asset/asset_writer.h"
#include "helpers/command.h"
#include "helpers/failing_memory.h"
#include "helpers/opened.h"
#include "helpers/small_gltf.h"
#include "jounce/jounce.h"
#include "pipeline/evaluate.h"
#include "pipeline/play.h"
#include "pipeline/shake.h"
#include "pipeline/stage_export.h"
#include "pipeline/stage_import.h"
#include "pipeline/takes.h"
#include "workspace/learned.h"
#include "workspace/modes_store.h"
#include "workspace/shapes.h"

#include <jansson.h>

#define CLIP "motion/wave_top/"
enum { FRAMES = 31 };
static const double STIFFNESS = 400, DAMPING = 6;

static jnError error;

// The tube with its clip, and equilibria that are the skinned surface.
static int MakeTube(void** state)
{
    const TubeDef def = {.joints = 3, .armature = "", .animation = "rotation"};
    jnaWorkspaceDef workspace = jnaDefaultWorkspaceDef();
    char tube[512];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(tube, sizeof(tube), "%s", WriteTube("evaluate", &def));
    workspace.character = tube;
    return jnaCreateWorkspace("w", &workspace, NULL, &error) == jn_ok ? system("mkdir -p w/" CLIP) : -1;
}

static void Write(const char* name, const float* data)
{
    char path[300];
    size_t shape[3] = {FRAMES, TUBE_VERTICES, 3};
    snprintf(path, sizeof(path), "w/" CLIP "%s", name);
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, data, &error), jn_ok);
}

// The skinned surface, by the takes of a motion of which everything is missing.
static void Skin(float* surface)
{
    jnaTakes takes;
    jnaArray skinned;
    for (int i = 0; i < 3 * FRAMES * TUBE_VERTICES; ++i) {
        surface[i] = NAN;
    }
    Write("dynamic.npy", surface);
    jnaWorkspace* opened = Opened("w");
    assert_int_equal(jnaOpenTakes(opened, &takes, NULL, &error), jn_ok);
    assert_int_equal(takes.count, 1);
    assert_int_equal(jnaTakes_OpenTargets(&takes, 0, jna_targetsSkinned, &skinned, &error), jn_ok);
    assert_int_equal(skinned.count, 3 * FRAMES * TUBE_VERTICES);
    memcpy(surface, skinned.data, skinned.count * sizeof(float));
    jnaCloseTargets(&skinned);
    jnaCloseTakes(&takes);
    jnaCloseWorkspace(opened);
}

// Motion of springs on a surface, frame by frame, from rest.
static void SpringThrough(const float* surface, int frames, float* motion)
{
    float stiffness[TUBE_VERTICES], damping[TUBE_VERTICES];
    for (int v = 0; v < TUBE_VERTICES; ++v) {
        stiffness[v] = (float)STIFFNESS;
        damping[v] = (float)DAMPING;
    }
    jnSpringsDef def = jnDefaultSpringsDef();
    def.count = TUBE_VERTICES;
    def.stiffness = stiffness;
    def.damping = damping;
    def.timing = jn_timingExact;
    jnSprings* springs;
    assert_int_equal(jnCreateSprings(&def, &springs, &error), jn_ok);
    for (int n = 0; n < frames; ++n) {
        jnSpringsInput input = {.h = 1.0f / 30, .targets = surface + 3 * TUBE_VERTICES * n};
        jnSpringsOutput output = {.positions = motion + 3 * TUBE_VERTICES * (n > 0 ? n - 1 : 0)};
        jnSprings_Step(springs, &input, &output);
    }
    jnSprings_Finish(springs, &(jnSpringsOutput){.positions = motion + 3 * TUBE_VERTICES * (frames - 1)});
    jnDestroySprings(springs);
}

static void Spring(const float* surface, float* motion)
{
    SpringThrough(surface, FRAMES, motion);
}

static jnaEvaluation Evaluate(int threads)
{
    jnaEvaluation e;
    jnaEvaluateDef def = jnaDefaultEvaluateDef();
    def.threads = threads;
    jnResult result = jnaEvaluateWorkspace("w", &def, &e, NULL, &error);
    if (result != jn_ok) {
        print_message("%s\n", error.message);
    }
    assert_int_equal(result, jn_ok);
    return e;
}

static void Fit(void)
{
    jnaWorkspaceFit fit;
    jnaWorkspaceFitDef def = jnaDefaultWorkspaceFitDef();
    jnResult result = jnaFitWorkspace("w", &def, &fit, NULL, &error);
    if (result != jn_ok) {
        print_message("%s\n", error.message);
    }
    assert_int_equal(result, jn_ok);
    assert_int_equal(fit.targets, jna_targetsQuasistatic);
    jnaDestroyWorkspaceFit(&fit);
}

static void MotionOfSpringsIsCaptured(void** state)
{
    (void)state;
    static float surface[3 * FRAMES * TUBE_VERTICES], motion[3 * FRAMES * TUBE_VERTICES];
    Skin(surface);
    Spring(surface, motion);
    Write("quasistatic.npy", surface);
    Write("dynamic.npy", motion);
    Fit();
    jnaLearned learned;
    assert_int_equal(jnaLoadLearned("w", TUBE_VERTICES, 0, &learned, &error), jn_ok);
    double top = (double)learned.stiffness[TUBE_VERTICES - 1];
    assert_true(fabs(top / STIFFNESS - 1) < 0.02);
    assert_true(fabs(learned.uniform[0] / STIFFNESS - 1) < 0.02 && fabs(learned.uniform[1] / DAMPING - 1) < 0.02);
    jnaDestroyLearned(&learned);
    jnaEvaluation e = Evaluate(1);
    assert_int_equal(e.clipCount, 1);
    assert_true(e.clips[0].trained && e.clips[0].frameCount == FRAMES && e.unseen.rowCount == 0);
    static const jnaMethod methods[] = {jna_methodUniform, jna_methodVertex};
    for (int i = 0; i < 2; ++i) {
        const jnaEvaluationRow* r = jnaEvaluatedClip_Find(&e.seen, methods[i], jna_targetsQuasistatic, false);
        const jnaEvaluationRow* causal = jnaEvaluatedClip_Find(&e.seen, methods[i], jna_targetsQuasistatic, true);
        assert_non_null(r);
        assert_true(r->captured > 0.999 && r->capturedSoft > 0.999 && r->layer > 1e-3);
        assert_true(causal->captured < r->captured && causal->captured > 0.5);
        // The mean of one clip is that clip's.
        assert_true(fabs(r->mean - r->captured) < 1e-12 && fabs(causal->meanSoft - causal->capturedSoft) < 1e-12);
        assert_true(isnan(jnaEvaluatedClip_Find(&e.clips[0], methods[i], jna_targetsQuasistatic, false)->mean));
        assert_true(methods[i] == jna_methodVertex ? r->best > 0.999 && r->bestSoft > 0.999 : isnan(r->best));
    }
    const jnaEvaluationRow* skinned = jnaEvaluatedClip_Find(&e.clips[0], jna_methodSkinned, jna_targetsSkinned, false);
    assert_true(skinned->captured == 0 && skinned->rms == skinned->layer);
    assert_true(
        jnaEvaluatedClip_Find(&e.seen, jna_methodSpringsOnSkinned, jna_targetsSkinned, false)->captured > 0.999);
    assert_null(jnaEvaluatedClip_Find(&e.seen, jna_methodNetwork, jna_targetsNetwork, false));
    jnaDestroyEvaluation(&e);
}

// Springs that were learned from something else lose; the best of their kind is what this clip's own motion gives.
static void TheBestOfAKindDoesNotDependOnWhatWasLearned(void** state)
{
    (void)state;
    size_t shape[1] = {TUBE_VERTICES};
    float wrong[TUBE_VERTICES];
    jnaLearned learned;
    assert_int_equal(jnaLoadLearned("w", TUBE_VERTICES, 0, &learned, &error), jn_ok);
    for (int v = 0; v < TUBE_VERTICES; ++v) {
        wrong[v] = 6 * learned.stiffness[v];
    }
    assert_int_equal(jnaWriteArray("w/springs/stiffness.npy", jna_float32, 1, shape, wrong, &error), jn_ok);
    jnaEvaluation e = Evaluate(1);
    const jnaEvaluationRow* r = jnaEvaluatedClip_Find(&e.clips[0], jna_methodVertex, jna_targetsQuasistatic, false);
    print_message("learned elsewhere %.3f, best of its kind %.4f\n", r->captured, r->best);
    assert_true(r->captured < 0.9 && r->best > 0.999);
    char* text = jnaEvaluation_Json(&e);
    assert_non_null(strstr(text, "\"best_soft\""));
    free(text);
    jnaDestroyEvaluation(&e);
    assert_int_equal(jnaWriteArray("w/springs/stiffness.npy", jna_float32, 1, shape, learned.stiffness, &error), jn_ok);
    jnaDestroyLearned(&learned);
}

// Frames whose equilibrium was not found or has no room are garbage, and marked: nothing of them shows.
static void UnsolvedFramesAreFilledIn(void** state)
{
    (void)state;
    static float surface[3 * FRAMES * TUBE_VERTICES], motion[3 * FRAMES * TUBE_VERTICES];
    uint8_t solved[FRAMES];
    size_t shape[1] = {FRAMES};
    double captured[2];
    Skin(surface);
    Spring(surface, motion);
    memset(solved, 1, sizeof(solved));
    for (int n = 0; n < FRAMES; n += n == 0 ? 11 : n < 13 ? 1 : FRAMES - 14) { // the first, two in a row, the last
        solved[n] = 0;
        for (int i = 0; i < 3 * TUBE_VERTICES; ++i) {
            surface[3 * TUBE_VERTICES * n + i] += 0.3f * (float)sin(i);
        }
    }
    solved[12] = jna_poseWithoutRoom;
    assert_true(solved[0] == 0 && solved[11] == 0 && solved[FRAMES - 1] == 0 && solved[10] == 1);
    Write("quasistatic.npy", surface);
    Write("dynamic.npy", motion);
    for (int i = 0; i < 2; ++i) {
        jnaEvaluation e = Evaluate(1);
        captured[i] = jnaEvaluatedClip_Find(&e.seen, jna_methodUniform, jna_targetsQuasistatic, false)->captured;
        assert_int_equal(e.clips[0].failed, i == 0 ? 0 : 5);
        assert_int_equal(e.seen.failed, e.clips[0].failed);
        if (i == 1) {
            assert_true(jnaEvaluatedClip_Find(&e.seen, jna_methodVertex, jna_targetsQuasistatic, false)->best > 0.99);
        }
        jnaDestroyEvaluation(&e);
        assert_int_equal(jnaWriteArray("w/" CLIP "quasistatic_valid.npy", jna_uint8, 1, shape, solved, &error), jn_ok);
    }
    assert_true(captured[0] < 0.9 && captured[1] > 0.99);
    assert_int_equal(unlink("w/" CLIP "quasistatic_valid.npy"), 0);
    Skin(surface);
    Write("quasistatic.npy", surface);
    Write("dynamic.npy", motion);
}

// Flesh without room stays in equilibrium and begins again after it: so do the springs that are fitted to it and judged
// by it.
static void MotionThatBeganAgainIsPlayedFromThere(void** state)
{
    (void)state;
    enum { AGAIN = 14 };
    static float surface[3 * FRAMES * TUBE_VERTICES], motion[3 * FRAMES * TUBE_VERTICES];
    uint8_t valid[FRAMES];
    size_t shape[1] = {FRAMES}, skipped = 3 * TUBE_VERTICES * AGAIN;
    Skin(surface);
    memcpy(motion, surface, sizeof(motion));
    SpringThrough(surface, AGAIN - 1, motion);
    SpringThrough(surface + skipped, FRAMES - AGAIN, motion + skipped);
    Write("quasistatic.npy", surface);
    Write("dynamic.npy", motion);
    memset(valid, jna_poseSolved, sizeof(valid));
    double captured[2];
    for (int marked = 0; marked < 2; ++marked) {
        valid[AGAIN - 1] = marked ? jna_poseWithoutRoom : jna_poseSolved;
        assert_int_equal(jnaWriteArray("w/" CLIP "dynamic_valid.npy", jna_uint8, 1, shape, valid, &error), jn_ok);
        Fit();
        jnaEvaluation e = Evaluate(2);
        captured[marked] = jnaEvaluatedClip_Find(&e.seen, jna_methodVertex, jna_targetsQuasistatic, false)->captured;
        assert_int_equal(e.clips[0].failed, marked);
        jnaDestroyEvaluation(&e);
    }
    jnaLearned learned;
    assert_int_equal(jnaLoadLearned("w", TUBE_VERTICES, 0, &learned, &error), jn_ok);
    assert_true(fabs((double)learned.stiffness[TUBE_VERTICES - 1] / STIFFNESS - 1) < 0.02);
    jnaDestroyLearned(&learned);
    print_message("captured %.4f, begun again and marked %.4f\n", captured[0], captured[1]);
    assert_true(captured[1] > 0.999 && captured[0] < 0.99);
    assert_int_equal(remove("w/" CLIP "dynamic_valid.npy"), 0);
}

static void TheSameWhateverTheThreads(void** state)
{
    (void)state;
    jnaEvaluation one = Evaluate(1), more = Evaluate(3);
    char *first = jnaEvaluation_Json(&one), *second = jnaEvaluation_Json(&more);
    assert_string_equal(first, second);
    free(first);
    free(second);
    jnaDestroyEvaluation(&one);
    jnaDestroyEvaluation(&more);
}

static void DistancesAreWhatTheyAre(void** state)
{
    (void)state;
    static float surface[3 * FRAMES * TUBE_VERTICES];
    Skin(surface);
    for (int i = 0; i < 3 * FRAMES * TUBE_VERTICES; ++i) {
        surface[i] += i % 3 == 0 ? 3e-3f : i % 3 == 1 ? 4e-3f : 0;
    }
    surface[3 * TUBE_VERTICES * 7 + 5] = NAN; // a missing vertex counts in nothing
    Write("dynamic.npy", surface);
    jnaEvaluation e = Evaluate(1);
    const jnaEvaluationRow* r = jnaEvaluatedClip_Find(&e.seen, jna_methodSkinned, jna_targetsSkinned, false);
    assert_true(fabs(r->rms - 5e-3) < 1e-6 && fabs(r->rmsSoft - 5e-3) < 1e-6);
    assert_true(fabs(r->percentile95 / 5e-3 - 1) < 1e-3);
    jnaDestroyEvaluation(&e);
}

static void NothingToCaptureIsNull(void** state)
{
    (void)state;
    static float surface[3 * FRAMES * TUBE_VERTICES];
    Skin(surface);
    Write("dynamic.npy", surface);
    jnaEvaluation e = Evaluate(1);
    assert_true(isnan(jnaEvaluatedClip_Find(&e.seen, jna_methodVertex, jna_targetsQuasistatic, false)->captured));
    jnaDestroyEvaluation(&e);
    json_t* root = json_load_file("w/evaluation/evaluation.json", 0, NULL);
    json_t* row = json_array_get(json_object_get(json_object_get(root, "seen"), "rows"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "method")), "skinned");
    assert_true(json_is_null(json_object_get(row, "captured")));
    assert_true(json_real_value(json_object_get(row, "rms_mm")) == 0);
    json_decref(root);
}

// Frames of a player, and of the character stepped as a game steps it.
typedef struct Frames {
    float rows[FRAMES][3 * TUBE_VERTICES];
    int count;
} Frames;

static void TakeFrame(int frame, const float* positions, void* user)
{
    Frames* frames = user;
    assert_int_equal(frame, frames->count++);
    memcpy(frames->rows[frame], positions, sizeof(frames->rows[0]));
}

static void StepAsAGame(const jnaPlayer* player, const jnaClip* clip, jnTiming timing, Frames* frames)
{
    jnCharacterDef def = jnDefaultCharacterDef(player->asset);
    def.timing = timing;
    jnCharacter* character;
    float out[3 * TUBE_VERTICES], own[3 * TUBE_VERTICES];
    assert_int_equal(jnCreateCharacter(&def, &character, &error), jn_ok);
    jnCharacterOutput output = {.positions = out, .welded = true};
    bool lags = timing == jn_timingExact;
    for (int n = 0; n <= FRAMES; ++n) {
        if (n == FRAMES && !lags) {
            break;
        }
        if (n == FRAMES) {
            jnCharacter_Finish(character, &output);
        } else {
            size_t at = (size_t)n * (size_t)clip->jointCount;
            jnPose pose = {.rotations = clip->rotations + 4 * at, .translations = clip->translations + 3 * at};
            jnCharacter_Step(character, &(jnCharacterInput){.h = 1.0f / 30, .pose = pose}, &output);
        }
        for (int v = 0; v < TUBE_VERTICES; ++v) {
            int source = player->asset->order != NULL ? player->asset->order[v] : v;
            memcpy(own + 3 * source, out + 3 * v, 3 * sizeof(float));
        }
        memcpy(frames->rows[lags && n > 0 ? n - 1 : n], own, sizeof(own));
    }
    jnDestroyCharacter(character);
}

// Two modes of no particular flesh, for vertices 3 to 13.
static jnaModes MakeModes(const jnaCharacter* c)
{
    jnaModes m;
    assert_int_equal(jnaModes_Allocate(&m, 2, c->vertexCount, c->jointCount, &error), jn_ok);
    Random random = {3};
    for (int k = 0; k < 2; ++k) {
        m.stiffness[k] = 300 + 200 * k;
        m.damping[k] = 4;
        for (int i = 9; i < 42; ++i) {
            m.shapes[3 * TUBE_VERTICES * k + i] = (float)Uniform(&random, -1, 1);
            m.projections[3 * TUBE_VERTICES * k + i] = (float)Uniform(&random, -1, 1);
        }
    }
    return m;
}

static void ThePlayerPlaysWhatShips(void** state)
{
    (void)state;
    jnaTakes takes;
    jnaWorkspace* opened = Opened("w");
    assert_int_equal(jnaOpenTakes(opened, &takes, NULL, &error), jn_ok);
    jnaModes modes = MakeModes(takes.character);
    float springs[TUBE_VERTICES], dampers[TUBE_VERTICES];
    for (int v = 0; v < TUBE_VERTICES; ++v) {
        springs[v] = 200;
        dampers[v] = 3;
    }
    static float targets[3 * FRAMES * TUBE_VERTICES];
    static Frames played, stepped;
    for (int i = 0; i < 4; ++i) { // vertices, modes; each causal and exact
        jnaPlayerDef def = {.character = takes.character, .rate = 30};
        def.modes = i / 2 > 0 ? &modes : NULL;
        def.stiffness = i / 2 != 1 ? springs : NULL;
        def.damping = i / 2 != 1 ? dampers : NULL;
        jnaPlayer player;
        assert_int_equal(jnaMakePlayer(&def, &player, &error), jn_ok);
        assert_int_equal(jnaPlayer_MakeTargets(&player, &takes.clips[0], 0, FRAMES, targets, &error), jn_ok);
        jnTiming timing = i % 2 == 0 ? jn_timingCausal : jn_timingExact;
        played.count = 0;
        jnaPlay play = {&takes.clips[0], 0, FRAMES, targets, false, timing, TakeFrame, &played};
        assert_int_equal(jnaPlayer_Play(&player, &play, &error), jn_ok);
        assert_int_equal(played.count, FRAMES);
        StepAsAGame(&player, &takes.clips[0], timing, &stepped);
        float moved = 0;
        for (int n = 0; n < FRAMES; ++n) {
            for (int k = 0; k < 3 * TUBE_VERTICES; ++k) {
                assert_true(fabsf(played.rows[n][k] - stepped.rows[n][k]) < 2e-6f);
                moved = fmaxf(moved, fabsf(played.rows[n][k] - targets[3 * TUBE_VERTICES * n + k]));
            }
        }
        assert_true(moved > 1e-3f);
        jnaDestroyPlayer(&player);
    }
    jnaDestroyModes(&modes);
    jnaCloseTakes(&takes);
    jnaCloseWorkspace(opened);
}

// Motion that modes made, other than those that the workspace has; the file is kept for the tests behind.
static void MakeModalMotion(void)
{
    static float surface[3 * FRAMES * TUBE_VERTICES];
    static Frames moved;
    jnaTakes takes;
    Skin(surface);
    jnaWorkspace* opened = Opened("w");
    assert_int_equal(jnaOpenTakes(opened, &takes, NULL, &error), jn_ok);
    jnaModes modes = MakeModes(takes.character);
    jnaModes_SetPose(&modes, takes.character, NULL);
    assert_int_equal(jnaSaveModes("w", &modes, &error), jn_ok);
    for (int k = 0; k < 2; ++k) {
        modes.stiffness[k] *= 1.2;
        modes.damping[k] *= 1.5;
        modes.gain[k] *= 0.9;
    }
    jnaPlayerDef def = {.character = takes.character, .modes = &modes, .rate = 30};
    jnaPlayer player;
    assert_int_equal(jnaMakePlayer(&def, &player, &error), jn_ok);
    moved.count = 0;
    jnaPlay play = {&takes.clips[0], 0, FRAMES, surface, false, jn_timingExact, TakeFrame, &moved};
    assert_int_equal(jnaPlayer_Play(&player, &play, &error), jn_ok);
    Write("quasistatic.npy", surface);
    Write("dynamic.npy", moved.rows[0]);
    jnaDestroyPlayer(&player);
    jnaDestroyModes(&modes);
    jnaCloseTakes(&takes);
    jnaCloseWorkspace(opened);
}

static void MotionOfModesIsCaptured(void** state)
{
    (void)state;
    MakeModalMotion();
    Fit();
    jnaEvaluation e = Evaluate(0);
    double captured[jna_methodCount];
    for (int i = jna_methodVertex; i < jna_methodCount; ++i) {
        const jnaEvaluationRow* r = jnaEvaluatedClip_Find(&e.seen, (jnaMethod)i, jna_targetsQuasistatic, false);
        assert_non_null(r);
        captured[i] = r->captured;
    }
    print_message("vertex %.4f, modal physical %.4f, learned %.4f\n", captured[jna_methodVertex],
        captured[jna_methodModalPhysical], captured[jna_methodModal]);
    assert_true(captured[jna_methodModal] > 0.99);
    assert_true(captured[jna_methodModalPhysical] < captured[jna_methodModal]);
    assert_true(captured[jna_methodVertex] < captured[jna_methodModal]);
    jnaDestroyEvaluation(&e);
}

// The first two shakes are in the pose of the modes, the third in another that a clip goes to.
static void ShakesAreInSeveralPoses(void** state)
{
    (void)state;
    jnaWorkspace* opened = Opened("w");
    const jnaModes* modes;
    assert_int_equal(jnaWorkspace_Modes(opened, &modes, &error), jn_ok);
    size_t size = 4 * (size_t)modes->jointCount;
    for (int i = 0; i < 3; ++i) {
        jnaClip clips[2];
        double away = 0;
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(jnaMakeShake(opened, i, &clips[k], &error), jn_ok);
        }
        for (size_t n = 4; n < size; ++n) { // without the root, which is shaken
            away = fmax(away, fabs((double)clips[0].rotations[n] - (double)modes->pose[n]));
        }
        print_message("shake %d: off the pose of the modes by %.3f\n", i + 1, away);
        assert_true(i < 2 ? away < 1e-6 : away > 0.05);
        assert_memory_equal(clips[0].rotations, clips[1].rotations, size * sizeof(float));
        jnaDestroyClip(&clips[0]);
        jnaDestroyClip(&clips[1]);
    }
    jnaCloseWorkspace(opened);
}

// Every layer of a fitted workspace ships what was learned for it, and says so where nothing is.
static void EveryLayerShipsWhatWasLearned(void** state)
{
    (void)state;
    static const char* const layers[] = {"vertex", "modal"};
    jnaLearned learned;
    assert_int_equal(jnaLoadLearned("w", TUBE_VERTICES, 2, &learned, &error), jn_ok);
    for (int i = 0; i < 2; ++i) {
        char line[300];
        jnaExportDef def = jnaDefaultExportDef();
        jnaExported exported;
        jnaAssetFile file;
        snprintf(line, sizeof(line),
            "sed -i -e '/^springs:/,$s/^  layer: .*/  layer: %s/' -e '/^springs:/,$s/^  mode: .*/  mode: fitted/' "
            "w/manifest.yaml",
            layers[i]);
        assert_int_equal(system(line), 0);
        assert_int_equal(jnaExportWorkspace("w", "out.jounce", &def, &exported, &error), jn_ok);
        assert_false(exported.fallback);
        assert_int_equal(jnaOpenAsset("out.jounce", &file, &error), jn_ok);
        assert_true((file.asset->modes != NULL) == (i > 0));
        if (i > 0) {
            // The order of modes in an asset is that of their importance.
            int first = file.asset->modes->modes[0].stiffness == (float)learned.modalStiffness[0] ? 0 : 1;
            assert_true(file.asset->modes->modes[0].stiffness == (float)learned.modalStiffness[first]);
            assert_true(file.asset->modes->modes[0].gain == (float)learned.modalGain[first]);
            assert_int_equal(file.asset->springCount, 0);
        }
        int vertex = file.asset->order != NULL ? file.asset->order[4] : 4;
        assert_true(i == 1 || file.asset->stiffness[4] == learned.stiffness[vertex]);
        jnaCloseAsset(&file);
        if (i == 1) {
            assert_int_equal(system("mv w/springs/modal_gain.npy keep.npy"), 0);
            assert_int_equal(jnaExportWorkspace("w", "out.jounce", &def, &exported, &error), jn_ok);
            assert_true(exported.fallback);
            assert_int_equal(system("mv keep.npy w/springs/modal_gain.npy"), 0);
        }
    }
    jnaDestroyLearned(&learned);
}

// Learned shapes are played and shipped in the place of the physical ones; those of other modes are refused.
static void LearnedShapesAreShipped(void** state)
{
    (void)state;
    enum { NUMBERS = 2 * TUBE_VERTICES * 3 };
    jnaExportDef def = jnaDefaultExportDef();
    jnaExported exported;
    jnaWorkspace* w;
    const jnaModes* modes;
    static float shapes[NUMBERS];
    jnaEvaluation before = Evaluate(0), after;
    assert_int_equal(jnaExportWorkspace("w", "physical.jounce", &def, &exported, &error), jn_ok);
    assert_int_equal(jnaOpenWorkspace("w", &w, &error), jn_ok);
    assert_int_equal(jnaWorkspace_Modes(w, &modes, &error), jn_ok);
    for (int i = 0; i < NUMBERS; ++i) {
        shapes[i] = -modes->shapes[i];
    }
    jnaCloseWorkspace(w);
    assert_int_equal(
        jnaWriteArray("w/springs/modal_shapes.npy", jna_float32, 3, (size_t[]){2, TUBE_VERTICES, 3}, shapes, &error),
        jn_ok);
    assert_int_equal(jnaExportWorkspace("w", "learned.jounce", &def, &exported, &error), jn_ok);
    assert_int_not_equal(system("cmp -s physical.jounce learned.jounce"), 0);
    after = Evaluate(0);
    double captured[2];
    for (int i = 0; i < 2; ++i) {
        const jnaEvaluationRow* r =
            jnaEvaluatedClip_Find(i == 0 ? &before.seen : &after.seen, jna_methodModal, jna_targetsQuasistatic, false);
        assert_non_null(r);
        captured[i] = r->captured;
    }
    ASSERT_NEAR(captured[1], -3, 0.3); // what moves goes the other way: four times its squares are left
    assert_true(captured[0] > 0.99);
    jnaLearned learned;
    jnaModes set, capped;
    double caps[2] = {0.05, 0.03};
    assert_int_equal(jnaOpenWorkspace("w", &w, &error), jn_ok);
    assert_int_equal(jnaWorkspace_Modes(w, &modes, &error), jn_ok);
    assert_int_equal(jnaLoadLearned("w", TUBE_VERTICES, 2, &learned, &error), jn_ok);
    capped = *modes;
    capped.caps = caps;
    for (int i = 0; i < NUMBERS; ++i) {
        learned.modalShapes[i] *=
            i < NUMBERS / 2 ? 1.25f : 0.5f; // a larger shape lowers its cap, a smaller one does not
    }
    assert_int_equal(jnaLearned_SetModes(&learned, &capped, &set, &error), jn_ok);
    ASSERT_NEAR(set.caps[0], 0.04, 1e-8);
    assert_true(set.caps[1] == 0.03 && caps[0] == 0.05);
    free(set.stiffness);
    jnaDestroyLearned(&learned);
    jnaCloseWorkspace(w);
    jnaDestroyEvaluation(&before);
    jnaDestroyEvaluation(&after);
    assert_int_equal(jnaWriteArray("w/springs/modal_shapes.npy", jna_float32, 3, (size_t[]){2, TUBE_VERTICES - 1, 3},
                         shapes, &error),
        jn_ok);
    assert_int_equal(jnaExportWorkspace("w", "learned.jounce", &def, &exported, &error), jn_badData);
    assert_non_null(strstr(error.message, "modal_shapes.npy: is of another character or of other modes"));
    assert_int_equal(unlink("w/springs/modal_shapes.npy"), 0);
}

static void WrongMotionIsRefused(void** state)
{
    (void)state;
    jnaEvaluation e;
    jnaEvaluateDef def = jnaDefaultEvaluateDef();
    float few[3 * 5 * TUBE_VERTICES] = {0};
    size_t shape[3] = {5, TUBE_VERTICES, 3};
    assert_int_equal(system("cp w/" CLIP "quasistatic.npy keep.npy"), 0);
    assert_int_equal(jnaWriteArray("w/" CLIP "quasistatic.npy", jna_float32, 3, shape, few, &error), jn_ok);
    assert_int_equal(jnaEvaluateWorkspace("w", &def, &e, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "simulate both alike"));
    assert_int_equal(system("mv keep.npy w/" CLIP "quasistatic.npy && mv w/motion away"), 0);
    assert_int_equal(jnaEvaluateWorkspace("w", &def, &e, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "no clip of w has motion"));
    assert_int_equal(system("mv away w/motion && printf x > w/springs/damping.npy"), 0);
    assert_int_not_equal(jnaEvaluateWorkspace("w", &def, &e, NULL, &error), jn_ok);
    assert_non_null(strstr(error.message, "damping.npy"));
    assert_int_equal(jnaEvaluateWorkspace("nowhere", &def, &e, NULL, &error) != jn_ok, true);
}

static jnResult FitOnce(jnError* failure)
{
    jnaWorkspaceFit fit;
    jnaWorkspaceFitDef def = jnaDefaultWorkspaceFitDef();
    def.threads = 1;
    jnResult result = jnaFitWorkspace("w", &def, &fit, NULL, failure);
    if (result == jn_ok) {
        jnaDestroyWorkspaceFit(&fit);
    }
    return result;
}

static void TheFitSurvivesEveryFailure(void** state)
{
    (void)state;
    onlyOurs = true;
    FailEach(FitOnce, 40);
}

static jnResult EvaluateOnce(jnError* failure)
{
    jnaEvaluation e;
    jnaEvaluateDef def = jnaDefaultEvaluateDef();
    def.threads = 1;
    jnResult result = jnaEvaluateWorkspace("w", &def, &e, NULL, failure);
    if (result == jn_ok) {
        assert_int_equal(e.seen.rowCount, e.clips[0].rowCount);
        jnaDestroyEvaluation(&e);
    }
    return result;
}

static void TheEvaluationSurvivesEveryFailure(void** state)
{
    (void)state;
    onlyOurs = true;
    FailEach(EvaluateOnce, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(MotionOfSpringsIsCaptured),
        cmocka_unit_test(TheBestOfAKindDoesNotDependOnWhatWasLearned),
        cmocka_unit_test(UnsolvedFramesAreFilledIn),
        cmocka_unit_test(MotionThatBeganAgainIsPlayedFromThere),
        cmocka_unit_test(TheSameWhateverTheThreads),
        cmocka_unit_test(ThePlayerPlaysWhatShips),
        cmocka_unit_test(TheFitSurvivesEveryFailure),
        cmocka_unit_test(TheEvaluationSurvivesEveryFailure),
        cmocka_unit_test(DistancesAreWhatTheyAre),
        cmocka_unit_test(NothingToCaptureIsNull),
        cmocka_unit_test(MotionOfModesIsCaptured),
        cmocka_unit_test(ShakesAreInSeveralPoses),
        cmocka_unit_test(EveryLayerShipsWhatWasLearned),
        cmocka_unit_test(LearnedShapesAreShipped),
        cmocka_unit_test(WrongMotionIsRefused),
    };
    return cmocka_run_group_tests(tests, MakeTube, LeaveScratchFolder);
}
