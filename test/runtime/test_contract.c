// What happens where a caller breaks a contract: the list of misuses, each with what it does. Under AddressSanitizer no
// call of it reads or writes where it may not. Then settings of any size, and snapshots that were made by someone else.
#include "helpers/support.h"
#include "platforms/golden_asset.h"

#include "jounce/jounce.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RINGS = 13, SEGMENTS = 5, KINDS = 3, FORGED = 3200, MOST_TEXT = 1 << 16, MOST_FLOATS = 4096 };

static jnAsset* assets[KINDS];
static char* files[KINDS];
static int reported;
static char calls[MOST_TEXT];

static int Count(const char* condition, const char* file, int line)
{
    reported += condition[0] != '\0' && file[0] != '\0' && line > 0;
    return 0;
}

static int Load(void** state)
{
    (void)state;
    jnSetAssertHandler(Count);
    for (int kind = 0; kind < KINDS; ++kind) {
        size_t size;
        char* file = MakeGoldenAsset((GoldenKind)kind, RINGS, SEGMENTS, &size);
        files[kind] = aligned_alloc(64, (size + 63) / 64 * 64);
        memcpy(files[kind], file, size);
        free(file);
        if (jnLoadAsset(&(jnAssetDef){.bytes = files[kind], .size = size}, &assets[kind], NULL) != jn_ok) {
            return 1;
        }
    }
    return 0;
}

static int Unload(void** state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        jnDestroyAsset(assets[kind]);
        free(files[kind]);
    }
    jnSetAssertHandler(NULL);
    return 0;
}

static jnCharacter* Make(int kind, bool weightsOnly)
{
    jnCharacterDef def = jnDefaultCharacterDef(assets[kind]);
    jnCharacter* c = NULL;
    def.weightsOnly = weightsOnly;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    return c;
}

static void Note(const char* call, const char* does)
{
    print_message("%s: %s\n", call, does);
    size_t used = strlen(calls);
    assert_true(used + strlen(call) + 2 < sizeof(calls));
    snprintf(calls + used, sizeof(calls) - used, "%s\n", call);
}

// A broken contract: reported once, then `does`.
#define MISUSE(does, ...)                                                                                              \
    do {                                                                                                               \
        int before_ = reported;                                                                                        \
        uint64_t counted_ = jnMisuseCount();                                                                           \
        (void)(__VA_ARGS__);                                                                                           \
        assert_int_equal(reported, before_ + 1);                                                                       \
        assert_int_equal(jnMisuseCount(), counted_ + 1);                                                               \
        Note(#__VA_ARGS__, does);                                                                                      \
    } while (0)

// The same, and what it gives.
#define GIVES(expected, ...)                                                                                           \
    do {                                                                                                               \
        int before_ = reported;                                                                                        \
        assert_true((__VA_ARGS__) == (expected));                                                                      \
        assert_int_equal(reported, before_ + 1);                                                                       \
        Note(#__VA_ARGS__, "gives " #expected);                                                                        \
    } while (0)

// What is not misuse, but refused with a sentence: numbers may come from a file.
#define REFUSED(...)                                                                                                   \
    do {                                                                                                               \
        int before_ = reported;                                                                                        \
        error = (jnError){0};                                                                                          \
        jnResult result_ = (__VA_ARGS__);                                                                              \
        assert_true(result_ == jn_badArgument || result_ == jn_badData);                                               \
        assert_true(error.code == result_ && error.message[0] != '\0');                                                \
        assert_int_equal(reported, before_);                                                                           \
        Note(#__VA_ARGS__, "is refused with a sentence");                                                              \
    } while (0)

static void AssetsAreMisused(void** state)
{
    (void)state;
    jnAsset* asset = NULL;
    jnError error;
    const jnAsset* modal = assets[golden_modes];
    float pose[10 * GOLDEN_JOINTS], *r = pose, *t = pose + 4 * GOLDEN_JOINTS, *s = pose + 7 * GOLDEN_JOINTS;
    jnAssetDef zeroed = {0}, noBytes = {.size = 100}, tiny = {.bytes = "abc", .size = 3};
    GIVES(jn_badArgument, jnLoadAsset(NULL, &asset, NULL));
    GIVES(jn_badArgument, jnLoadAsset(&tiny, NULL, NULL));
    GIVES(jn_badArgument, jnLoadAsset(&noBytes, &asset, NULL));
    REFUSED(jnLoadAsset(&zeroed, &asset, &error));
    REFUSED(jnLoadAsset(&tiny, &asset, &error));
    GIVES(0, jnAsset_Clip(NULL, 0).frameCount);
    GIVES(0, jnAsset_Clip(modal, -1).frameCount);
    GIVES(0, jnAsset_Clip(modal, modal->clipCount).frameCount);
    jnAssetCounts counts;
    MISUSE("does nothing", jnAsset_Counts(NULL, &counts));
    MISUSE("does nothing", jnAsset_Counts(modal, NULL));
    GIVES(NULL, jnAsset_Joint(modal, -1));
    GIVES(NULL, jnAsset_Joint(modal, modal->jointCount));
    jnBoneMatch match;
    GIVES(0, jnAsset_MatchBones(NULL, NULL, 0, &match));
    GIVES(0, jnAsset_MatchBones(modal, NULL, 1, &match));
    GIVES(0, jnAsset_DescribeBones(modal, NULL, NULL, 0));
    jnEngineSpace space = {.axes = {0, 0, 0}, .signs = {1, 1, 1}, .unit = 1};
    GIVES(jn_badArgument, jnMakeEngineSpace(NULL, 1, &space, NULL));
    MISUSE("does nothing", jnEngineSpace_Points(&space, true, (float[3]){0}, 1, (float[3]){0}));
    MISUSE("does nothing", jnEngineSpace_Directions(NULL, true, (float[3]){0}, 1, (float[3]){0}));
    MISUSE("does nothing", jnEngineSpace_Rotations(NULL, true, (float[4]){0}, 1, (float[4]){0}));
    MISUSE("does nothing", jnEngineSpace_Scales(NULL, true, (float[3]){0}, 1, (float[3]){0}));
    MISUSE("does nothing", jnEngineSpace_Matrices(NULL, true, (float[12]){0}, 1, (float[12]){0}));
    GIVES(jn_badArgument, jnAsset_MatchVertices(modal, NULL, NULL, NULL, NULL));
    GIVES(-1, jnAsset_FindClip(NULL, "run"));
    GIVES(-1, jnAsset_FindClip(modal, NULL));
    for (int i = 0; i < 10 * GOLDEN_JOINTS; ++i) {
        pose[i] = -7;
    }
    MISUSE("the rest pose", jnAsset_SampleClip(modal, -1, 0, r, t, s));
    assert_memory_equal(r, modal->joints[0].rotation, 16);
    MISUSE("the rest pose", jnAsset_SampleClip(modal, 1 << 30, 0, r, t, s));
    assert_memory_equal(s + 3, modal->joints[1].scale, 12);
    MISUSE("does nothing", jnAsset_SampleClip(NULL, 0, 0, r, t, s));
    MISUSE("does nothing", jnAsset_SampleClip(modal, 0, 0, NULL, t, s));
    MISUSE("does nothing", jnAsset_SampleClip(modal, 0, 0, r, t, NULL));
    jnAsset_SampleClip(modal, 0, (double)NAN, r, t, s);
    jnAsset_SampleClip(modal, 0, 1e300, r, t, s);
    assert_true(isfinite(r[0]) && isfinite(t[0]) && isfinite(s[0]));
    MISUSE("does nothing", jnAsset_SampleTargets(NULL, 0, 0, r));
    MISUSE("those at rest", jnAsset_SampleTargets(modal, 7, 0, r));
    GIVES(-1, jnAsset_FindTarget(NULL, "smile"));
    GIVES(-1, jnAsset_FindTarget(modal, NULL));
    float* deltas = malloc(12 * (size_t)modal->fileVertexCount);
    MISUSE("does nothing", jnAsset_MorphDeltas(NULL, 0, false, deltas));
    MISUSE("does nothing", jnAsset_MorphDeltas(modal, -1, false, deltas));
    MISUSE("does nothing", jnAsset_MorphDeltas(modal, modal->componentCount + modal->modeCount, false, deltas));
    MISUSE("does nothing", jnAsset_MorphDeltas(modal, 0, false, NULL));
    GIVES(0, jnAsset_SparseMorph(NULL, 0, false, 0, NULL, NULL));
    GIVES(0, jnAsset_SparseMorph(modal, 99, false, 0, NULL, NULL));
    GIVES(0, jnAsset_SparseMorph(modal, 0, false, 0, (int32_t*)(void*)deltas, NULL));
    free(deltas);
    GIVES(0, jnAsset_SectionCount(NULL));
    GIVES(0, jnAsset_Section(NULL, 0).size);
    GIVES(0, jnAsset_Section(modal, -1).size);
    GIVES(0, jnAsset_Section(modal, 64).size);
    jnDestroyAsset(NULL);
}

static void DefinitionsAreMisused(void** state)
{
    (void)state;
    jnCharacter* c;
    jnError error;
    jnSprings* springs;
    jnCharacterDef zeroed = {0}, odd = jnDefaultCharacterDef(assets[golden_modes]), none;
    jnSpringsDef few = jnDefaultSpringsDef(), zeroedSprings = {0};
    none = odd;
    GIVES(NULL, jnDefaultCharacterDef(NULL).asset);
    GIVES(0, jnCharacter_ByteCount(NULL));
    GIVES(0, jnCharacter_ByteCount(&zeroed));
    GIVES(jn_badArgument, jnCreateCharacter(NULL, &c, NULL));
    GIVES(jn_badArgument, jnCreateCharacter(&zeroed, &c, NULL));
    GIVES(jn_badArgument, jnCreateCharacter(&odd, NULL, NULL));
    odd.curve = (jnCurve)77;
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.timing = (jnTiming)-1;
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.detail = (jnDetail)9;
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.detail = jn_detailCoarse;
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.kernel = (jnKernel)99;
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.memory = &odd, odd.memorySize = sizeof(odd);
    REFUSED(jnCreateCharacter(&odd, &c, &error));
    odd = none, odd.components = -5, odd.modes = 1 << 30; // as all
    assert_int_equal(jnCreateCharacter(&odd, &c, NULL), jn_ok);
    jnDestroyCharacter(c);
    jnDestroyCharacter(NULL);
    GIVES(0, jnSprings_ByteCount(NULL));
    GIVES(jn_badArgument, jnCreateSprings(NULL, &springs, NULL));
    GIVES(jn_badArgument, jnCreateSprings(&few, NULL, NULL));
    REFUSED(jnCreateSprings(&zeroedSprings, &springs, &error));
    few.count = -3;
    REFUSED(jnCreateSprings(&few, &springs, &error));
    jnDestroySprings(NULL);
    jnSpringResponse response;
    MISUSE("gives the response alone", jnDifferentiateSpring(1, 1, 1, NULL, &response));
    MISUSE("gives the response alone", jnDifferentiateSpring(1, 1, 1, &response, NULL));
}

// Calls without the object that they are about.
static void CharactersThatAreNotThere(void** state)
{
    (void)state;
    float v[3] = {0};
    jnError error;
    jnCharacterInput input = {.h = 0.03f};
    jnCharacterLoop loop = {.frameCount = 3, .h = 0.1f};
    MISUSE("does nothing", jnCharacter_Step(NULL, &input, NULL));
    MISUSE("does nothing", jnCharacter_Reset(NULL, &input, NULL));
    MISUSE("does nothing", jnStepCharacters(NULL, &input, NULL, 1));
    MISUSE("does nothing", jnStepCharacters(&(jnCharacter*){NULL}, &input, NULL, 1));
    MISUSE("does nothing", jnCharacter_Skin(NULL, &input.pose, NULL));
    MISUSE("does nothing", jnCharacter_Target(NULL, &input.pose, NULL));
    MISUSE("does nothing", jnCharacter_SetNetworkStrength(NULL, 1));
    MISUSE("does nothing", jnCharacter_Finish(NULL, NULL));
    MISUSE("does nothing", jnCharacter_Evaluate(NULL, 1, NULL));
    MISUSE("does nothing", jnCharacter_Settle(NULL, 1, NULL));
    GIVES(jn_badArgument, jnCharacter_SolveLoop(NULL, &loop, NULL, &error));
    GIVES(NULL, jnCharacter_Springs(NULL));
    MISUSE("does nothing", jnCharacter_SetForce(NULL, v));
    MISUSE("does nothing", jnCharacter_SetInertia(NULL, 1, 1));
    MISUSE("does nothing", jnCharacter_SetTeleportThreshold(NULL, 1, jn_teleportKeep));
    MISUSE("does nothing", jnCharacter_SetCap(NULL, 1));
    GIVES(jn_badArgument, jnCharacter_SetStrength(NULL, -1, 1, &error));
    GIVES(0, jnCharacter_ResetCount(NULL));
    MISUSE("does nothing", jnCharacter_AddImpulse(NULL, 0, v));
    MISUSE("does nothing", jnCharacter_AddImpulseSphere(NULL, v, 1, v));
    GIVES(0, jnCharacter_TuneModes(NULL, -1, 1, 1, 1));
    MISUSE("does nothing", jnCharacter_SetColliders(NULL, NULL, 0));
    GIVES(0, jnCharacter_Contacts(NULL, NULL, 0));
    GIVES(0, jnCharacter_TuneMode(NULL, 0, 1, 1, 1));
    MISUSE("does nothing", jnCharacter_ScaleModeCaps(NULL, 1));
    MISUSE("does nothing", jnCharacter_SetMask(NULL, NULL));
    MISUSE("does nothing", jnCharacter_SetLevel(NULL, 1, 1, 0));
    GIVES(0, jnCharacter_SnapshotSize(NULL));
    MISUSE("does nothing", jnCharacter_Save(NULL, v));
    GIVES(jn_badArgument, jnCharacter_Restore(NULL, v, 12, &error));
    GIVES(0, jnCharacter_BadPoseCount(NULL));
    MISUSE("does nothing", jnCharacter_Describe(NULL, NULL, NULL));
    GIVES(NULL, jnCharacter_Asset(NULL));
}

static void CharactersAreMisused(void** state)
{
    (void)state;
    static float out[MOST_FLOATS];
    for (int kind = 0; kind < KINDS; ++kind) {
        jnCharacter* c = Make(kind, false);
        jnCharacterInput input = {.h = 0.03f};
        jnCharacterLoop zeroed = {0}, noPoses = {.frameCount = 3, .h = 0.1f};
        jnPose poses[3] = {{0}};
        jnCharacterLoop noTime = {.poses = poses, .frameCount = 3, .h = 1e-20f};
        float v[3] = {0};
        jnError error;
        MISUSE("does nothing", jnCharacter_Step(c, NULL, NULL));
        MISUSE("does nothing", jnCharacter_Reset(c, NULL, NULL));
        MISUSE("does nothing", jnStepCharacters(&c, NULL, NULL, 1));
        MISUSE("does nothing", jnStepCharacters(&c, &input, NULL, -1));
        MISUSE("does nothing", jnStepCharacters((jnCharacter*[]){c, NULL}, (jnCharacterInput[2]){0}, NULL, 2));
        MISUSE("does nothing", jnCharacter_Skin(c, NULL, NULL));
        MISUSE("does nothing", jnCharacter_Target(c, NULL, NULL));
        MISUSE("does nothing", jnCharacter_SetForce(c, NULL));
        MISUSE("does nothing", jnCharacter_SetTeleportThreshold(c, 1, (jnTeleport)3));
        MISUSE("does nothing", jnCharacter_SetColliders(c, NULL, 1));
        MISUSE("does nothing", jnCharacter_SetColliders(c, NULL, -1));
        MISUSE("does nothing", jnCharacter_AddImpulse(c, 0, NULL));
        MISUSE("does nothing", jnCharacter_AddImpulse(c, -1, v));
        MISUSE("does nothing", jnCharacter_AddImpulse(c, assets[kind]->vertexCount, v));
        MISUSE("does nothing", jnCharacter_AddImpulseSphere(c, NULL, 1, v));
        MISUSE("does nothing", jnCharacter_AddImpulseSphere(c, v, 1, NULL));
        MISUSE("does nothing", jnCharacter_Save(c, NULL));
        GIVES(jn_badArgument, jnCharacter_Restore(c, NULL, 100, &error));
        GIVES(jn_badArgument, jnCharacter_SolveLoop(c, NULL, NULL, &error));
        GIVES(jn_badArgument, jnCharacter_SolveLoop(c, &noPoses, NULL, &error));
        REFUSED(jnCharacter_SolveLoop(c, &zeroed, NULL, &error));
        REFUSED(jnCharacter_SolveLoop(c, &noTime, NULL, &error));
        REFUSED(jnCharacter_SetStrength(c, 99, 1, &error));
        REFUSED(jnCharacter_SetStrength(c, -1, NAN, &error));
        REFUSED(jnCharacter_Restore(c, v, sizeof(v), &error));
        // Nothing of it has left a trace.
        jnCharacter_Step(c, &input, &(jnCharacterOutput){.positions = out});
        jnCharacter_Evaluate(c, NAN, &(jnCharacterOutput){.positions = out});
        jnCharacter_Settle(c, (double)INFINITY, &(jnCharacterOutput){.positions = out});
        for (int i = 0; i < 3 * assets[kind]->fileVertexCount; ++i) {
            assert_true(isfinite(out[i]));
        }
        jnDestroyCharacter(c);
    }
}

// A character without memory for a surface is asked for one.
static void WeightsHaveNoSurface(void** state)
{
    (void)state;
    static float out[MOST_FLOATS], weights[64];
    jnCharacter* c = Make(golden_modes, true);
    jnCharacterInput input = {.h = 0.03f};
    jnCharacterOutput output = {.positions = out, .velocities = out, .normals = out, .weights = weights};
    MISUSE("gives the weights alone", jnCharacter_Step(c, &input, &output));
    MISUSE("gives the weights alone", jnCharacter_Skin(c, &input.pose, &output));
    MISUSE("gives the weights alone", jnCharacter_Target(c, &input.pose, &output));
    MISUSE("gives the weights alone", jnCharacter_Reset(c, &input, &output));
    MISUSE("gives the weights alone", jnCharacter_Evaluate(c, 0.5f, &output));
    MISUSE("gives the weights alone", jnCharacter_Settle(c, 1, &output));
    MISUSE("gives the weights alone", jnCharacter_Finish(c, &output));
    MISUSE("gives the weights alone", jnStepCharacters(&c, &input, &output, 1));
    assert_true(out[0] == 0.0f && weights[0] == 1.0f);
    jnDestroyCharacter(c);
}

static void SpringsAreMisused(void** state)
{
    (void)state;
    float v[48] = {0}, *none = NULL;
    jnError error;
    jnSprings *s, *h;
    jnSpringsDef def = jnDefaultSpringsDef();
    jnSpringsInput input = {.h = 0.03f, .targets = v}, zeroed = {0};
    jnSpringsLoop loop = {.targets = v, .frameCount = 3, .h = 0.1f}, zeroedLoop = {0},
                  noTargets = {.frameCount = 3, .h = 1};
    def.count = 4;
    assert_int_equal(jnCreateSprings(&def, &s, NULL), jn_ok);
    def.curve = jn_curveHermite;
    assert_int_equal(jnCreateSprings(&def, &h, NULL), jn_ok);
    MISUSE("does nothing", jnSprings_Step(NULL, &input, NULL));
    MISUSE("does nothing", jnSprings_Step(s, NULL, NULL));
    MISUSE("does nothing", jnSprings_Step(s, &zeroed, NULL));
    MISUSE("does nothing", jnSprings_Step(h, &input, NULL)); // without velocities of the targets
    MISUSE("does nothing", jnSprings_Reset(NULL, &input, NULL));
    MISUSE("does nothing", jnSprings_Reset(s, NULL, NULL));
    MISUSE("does nothing", jnSprings_Reset(s, &zeroed, NULL));
    MISUSE("does nothing", jnSprings_BeginStep(NULL, &input, NULL));
    MISUSE("does nothing", jnSprings_StepBlocks(s, 0, 1));
    MISUSE("does nothing", jnSprings_EndStep(s));
    jnSprings_BeginStep(s, &input, NULL);
    MISUSE("does nothing", jnSprings_BeginStep(s, &input, NULL));
    MISUSE("does nothing", jnSprings_StepBlocks(s, -1, 1));
    MISUSE("does nothing", jnSprings_StepBlocks(s, 0, 9));
    MISUSE("does nothing", jnSprings_Step(s, &input, NULL));
    MISUSE("does nothing", jnSprings_Finish(s, NULL));
    MISUSE("does nothing", jnSprings_Settle(s, 1, NULL));
    jnSprings_StepBlocks(s, 0, 1);
    jnSprings_EndStep(s);
    MISUSE("does nothing", jnSprings_Finish(NULL, NULL));
    MISUSE("does nothing", jnSprings_Evaluate(NULL, 0, NULL));
    MISUSE("does nothing", jnSprings_Settle(NULL, 1, NULL));
    GIVES(jn_badArgument, jnSprings_SolveLoop(NULL, &loop, NULL, &error));
    GIVES(jn_badArgument, jnSprings_SolveLoop(s, NULL, NULL, &error));
    GIVES(jn_badArgument, jnSprings_SolveLoop(s, &noTargets, NULL, &error));
    REFUSED(jnSprings_SolveLoop(s, &zeroedLoop, NULL, &error));
    MISUSE("does nothing", jnSprings_SetForce(NULL, v));
    MISUSE("does nothing", jnSprings_SetForce(s, NULL));
    MISUSE("does nothing", jnSprings_AddImpulse(NULL, 0, v));
    MISUSE("does nothing", jnSprings_AddImpulse(s, 4, v));
    MISUSE("does nothing", jnSprings_AddImpulse(s, 0, none));
    MISUSE("does nothing", jnSprings_AddImpulseSphere(NULL, v, 1, v));
    MISUSE("does nothing", jnSprings_AddImpulseSphere(s, none, 1, v));
    GIVES(jn_badArgument, jnSprings_SetParameters(NULL, v, v, &error));
    GIVES(jn_badArgument, jnSprings_SetTuning(NULL, 1, 1, NULL, NULL, &error));
    GIVES(jn_badArgument, jnSprings_SetStrength(NULL, 1, NULL, &error));
    REFUSED(jnSprings_SetTuning(s, -1, 1, NULL, NULL, &error));
    MISUSE("does nothing", jnSprings_SetCap(NULL, 1));
    MISUSE("does nothing", jnSprings_SetInertia(NULL, 1, 1));
    MISUSE("does nothing", jnSprings_SetTeleportThreshold(NULL, 1, jn_teleportKeep));
    MISUSE("does nothing", jnSprings_SetTeleportThreshold(s, 1, (jnTeleport)-2));
    MISUSE("does nothing", jnSprings_GetState(NULL, v, v));
    MISUSE("does nothing", jnSprings_SetState(NULL, v, v));
    GIVES(0, jnSprings_SnapshotSize(NULL));
    MISUSE("does nothing", jnSprings_Save(NULL, v));
    MISUSE("does nothing", jnSprings_Save(s, NULL));
    GIVES(jn_badArgument, jnSprings_Restore(NULL, v, 4, &error));
    GIVES(jn_badArgument, jnSprings_Restore(s, NULL, jnSprings_SnapshotSize(s), &error));
    GIVES(0, jnSprings_ResetCount(NULL));
    GIVES(0, jnSprings_Count(NULL));
    GIVES(0, jnSprings_BlockCount(NULL));
    GIVES(jn_kernelAuto, jnSprings_Kernel(NULL));
    jnDestroySprings(s);
    jnDestroySprings(h);
}

// A function that takes a pointer and is not in the list above would be a hole in it.
static void TheListNamesEveryCall(void** state)
{
    (void)state;
    static const char* const headers[] = {"asset.h", "character.h", "springs.h", "spring_functions.h"};
    static const char* const harmless = // no pointer, or NULL is allowed
        " jnDestroyAsset jnDestroyCharacter jnDestroySprings jnDefaultSpringsDef jnEvaluateSpring jnStiffnessFromHertz "
        "jnDampingFromRatio jnHertzFromStiffness jnRatioFromDamping ";
    int found = 0;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); ++i) {
        char path[512], line[512];
        snprintf(path, sizeof(path), "%s/include/jounce/%s", JN_SOURCE_DIR, headers[i]);
        FILE* file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof(line), file) != NULL) {
            char* end = strncmp(line, "JN_API ", 7) == 0 ? strchr(line, '(') : NULL;
            if (end == NULL) {
                continue;
            }
            char* name = end;
            while (name[-1] != ' ' && name[-1] != '*') {
                --name;
            }
            char called[80], listed[80];
            snprintf(called, sizeof(called), "%.*s(", (int)(end - name), name);
            snprintf(listed, sizeof(listed), " %.*s ", (int)(end - name), name);
            if (strstr(calls, called) == NULL && strstr(harmless, listed) == NULL) {
                fail_msg("the list of misuses does not have %.*s", (int)(end - name), name);
            }
            ++found;
        }
        fclose(file);
    }
    assert_true(found > 60);
}

static int Stop(const char* condition, const char* file, int line)
{
    (void)condition, (void)file, (void)line;
    return 1;
}

// A handler that wants it stops the program at the fault.
static void AHandlerMayStopTheProgram(void** state)
{
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        jnSetAssertHandler(Stop);
        (void)jnCharacter_Asset(NULL);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static const float odd[] = {
    0, -0.0f, NAN, INFINITY, -INFINITY, 1e-42f, 1e-30f, 1, -1, 1e4f, -1e9f, 1e15f, -1e20f, 1e30f, 3e38f, -3e38f};

static float Odd(Random* random)
{
    return odd[NextBits(random) % (sizeof(odd) / sizeof(odd[0]))];
}

static void SetAnything(jnCharacter* c, Random* random)
{
    const jnAsset* a = jnCharacter_Asset(c);
    float n[8];
    int joint = (int)(NextBits(random) % (GOLDEN_JOINTS + 1)) - 1;
    for (int i = 0; i < 8; ++i) {
        n[i] = Odd(random);
    }
    switch (NextBits(random) % 11) {
    case 0:
        jnCharacter_SetForce(c, n);
        break;
    case 1:
        jnCharacter_SetInertia(c, n[0], n[1]);
        break;
    case 2:
        jnCharacter_SetTeleportThreshold(c, n[0], (jnTeleport)(NextBits(random) % 3));
        break;
    case 3:
        jnCharacter_SetCap(c, n[0]);
        break;
    case 4:
        (void)jnCharacter_SetStrength(c, joint, n[0], NULL);
        break;
    case 5:
    case 6:
        jnCharacter_AddImpulse(c, (int)(NextBits(random) % (uint64_t)a->vertexCount), n);
        break;
    case 7:
        jnCharacter_AddImpulseSphere(c, n, n[3], n + 4);
        break;
    case 8:
        jnCharacter_TuneModes(c, joint, n[0], n[1], n[2]);
        jnCharacter_TuneMode(c, joint, n[2], n[0], n[1]);
        break;
    case 9:
        jnCharacter_ScaleModeCaps(c, n[0]);
        break;
    default:
        jnCharacter_SetNetworkStrength(c, n[0]);
        break;
    }
}

// A step of a clip, everything shown. False where a number is not finite.
static bool StepIsFinite(jnCharacter* c, int frame, float h)
{
    static float out[MOST_FLOATS], pose[10 * GOLDEN_JOINTS], weights[128];
    const jnAsset* a = jnCharacter_Asset(c);
    size_t floats = 3 * (size_t)a->fileVertexCount, count = (size_t)(a->componentCount + a->modeCount);
    assert_true(3 * floats <= MOST_FLOATS && count <= 64);
    jnAsset_SampleClip(a, 0, frame / 30.0, pose, pose + 4 * GOLDEN_JOINTS, pose + 7 * GOLDEN_JOINTS);
    jnTransform root = {.position = {(float)sin(0.3 * frame), 0, 0}, .rotation = {0, (float)sin(0.2 * frame), 0, 0.9f}};
    jnCharacterInput input = {
        .h = h, .pose = {.rotations = pose, .translations = pose + 4 * GOLDEN_JOINTS, .root = &root}};
    jnCharacter_Step(c, &input,
        &(jnCharacterOutput){.positions = out,
            .velocities = out + floats,
            .normals = out + 2 * floats,
            .weights = weights,
            .weightRates = weights + count});
    bool finite = true;
    for (size_t i = 0; i < 3 * floats; ++i) {
        finite = finite && isfinite(out[i]);
    }
    for (size_t i = 0; i < 2 * count; ++i) {
        finite = finite && isfinite(weights[i]);
    }
    return finite;
}

// The state as it is, shown in one of the ways that take no step.
static bool ShownIsFinite(jnCharacter* c, int way)
{
    static float out[MOST_FLOATS];
    const jnAsset* a = jnCharacter_Asset(c);
    size_t floats = 3 * (size_t)a->fileVertexCount;
    jnCharacterOutput to = {.positions = out, .velocities = out + floats, .normals = out + 2 * floats};
    if (way == 0) {
        jnCharacter_Evaluate(c, 0.3f, &to);
    } else if (way == 1) {
        jnCharacter_Finish(c, &to);
    } else {
        jnCharacter_Settle(c, 0.5, &to);
    }
    bool finite = true;
    for (size_t i = 0; i < 3 * floats; ++i) {
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

static void SettingsMayBeAnyNumber(void** state)
{
    (void)state;
    static const float times[] = {1.0f / 30, 1.0f / 30, 1e-6f, 0.5f, 1e9f};
    for (int kind = 0; kind < KINDS; ++kind) {
        Random random = {(uint64_t)kind + 3};
        int before = reported;
        for (int round = 0; round < 60; ++round) {
            jnCharacter* c = Make(kind, false);
            for (int frame = 0; frame < 40; ++frame) {
                SetAnything(c, &random);
                if (!StepIsFinite(c, frame, times[NextBits(&random) % 5])) {
                    fail_msg("asset %d, round %d, frame %d: not finite", kind, round, frame);
                }
            }
            jnDestroyCharacter(c);
        }
        assert_int_equal(reported, before); // a number is no misuse
    }
}

// What a forger would write: few numbers or many, of any size, or bits anywhere.
static void Forge(char* snapshot, size_t size, Random* random)
{
    int edits = 1 << NextBits(random) % 8;
    for (int i = 0; i < edits; ++i) {
        size_t at = NextBits(random) % (size / 4 - 1) * 4;
        if (at < 16) {
            continue; // what it is, and of which asset
        }
        float number = Odd(random);
        double large = (double)number * (NextBits(random) % 2 == 0 ? 1.0 : 1e200);
        switch (NextBits(random) % 4) {
        case 0:
            snapshot[at] = (char)(snapshot[at] ^ (char)(1 << NextBits(random) % 8));
            break;
        case 1:
            memcpy(snapshot + at, &large, sizeof(large));
            break;
        default:
            memcpy(snapshot + at, &number, sizeof(number));
            break;
        }
    }
    uint64_t checksum = jnAssetChecksum(snapshot, size);
    memcpy(snapshot + 24, &checksum, sizeof(checksum));
}

// The checksum is right and the numbers are hostile: refused, or finite from the first step.
static void ForgedSnapshotsAreRefusedOrPlayFinite(void** state)
{
    (void)state;
    int refused = 0, played = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        Random random = {(uint64_t)kind + 11};
        jnCharacter* c = Make(kind, false);
        size_t size = jnCharacter_SnapshotSize(c);
        char *good = malloc(size), *forged = malloc(size);
        for (int frame = 0; frame < 6; ++frame) {
            assert_true(StepIsFinite(c, frame, 1.0f / 30));
        }
        jnCharacter_Save(c, good);
        for (int n = 0; n < FORGED; ++n) {
            memcpy(forged, good, size);
            Forge(forged, size, &random);
            if (jnCharacter_Restore(c, forged, size, NULL) != jn_ok) {
                ++refused;
                continue;
            }
            ++played;
            if (n % 4 < 3 && !ShownIsFinite(c, n % 4)) {
                fail_msg("asset %d, snapshot %d, as it is: not finite", kind, n);
            }
            for (int frame = 6; frame < 9; ++frame) {
                if (!StepIsFinite(c, frame, n % 3 == 0 ? 0.0f : 1.0f / 30)) {
                    fail_msg("asset %d, snapshot %d, frame %d: not finite", kind, n, frame);
                }
            }
        }
        assert_int_equal(jnCharacter_Restore(c, good, size, NULL), jn_ok);
        jnDestroyCharacter(c);
        free(good);
        free(forged);
    }
    print_message("%d forged snapshots were refused, %d played\n", refused, played);
    assert_true(refused > FORGED / 4 && played > FORGED / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AssetsAreMisused),
        cmocka_unit_test(DefinitionsAreMisused),
        cmocka_unit_test(CharactersThatAreNotThere),
        cmocka_unit_test(CharactersAreMisused),
        cmocka_unit_test(WeightsHaveNoSurface),
        cmocka_unit_test(SpringsAreMisused),
        cmocka_unit_test(TheListNamesEveryCall),
        cmocka_unit_test(AHandlerMayStopTheProgram),
        cmocka_unit_test(SettingsMayBeAnyNumber),
        cmocka_unit_test(ForgedSnapshotsAreRefusedOrPlayFinite),
    };
    return cmocka_run_group_tests(tests, Load, Unload);
}
