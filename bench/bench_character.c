// jounce-bench character: skinning against a memcpy, normals against skinning, the whole step against the springs.
#include "asset/asset_writer.h"
#include "base/try.h"
#include "bench.h"
#include "bench_scene.h"
#include "character/figure.h"
#include "character/hand_springs.h"
#include "cli.h"
#include "jounce/jounce.h"
#include "measure.h"

#include "runtime/character_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    void* bytes;
    jnAsset* asset;
    jnCharacter* character;
    jnSprings* springs; // the same alone
    float* rotations;
    float* positions; // [fileVertexCount][3]
    float* normals;
    float* targets; // [4][vertexCount][3]
    jnbCopy copy;
    size_t skinBytes; // that skinning has to move: rest, influences, result
    int frame;
    jnDetail detail;
    bool uneven; // another h in every step, which makes the springs compute their coefficients anew
} Scene;

// How the figure is made.
typedef struct FigureDef {
    jnSkinning skinning;
    bool halfRigid;     // the upper body, for the level of detail
    bool firmLimbs;     // 12 Hz instead of 4, for the error of the coarse detail
    double detailShare; // of the coarse detail
} FigureDef;

static void RunSkin(void* user)
{
    Scene* s = user;
    jnSkinBlocks(s->character, 0, s->asset->blockCount, s->character->field, 0);
}

static void RunNormals(void* user)
{
    Scene* s = user;
    const jnAsset* a = s->asset;
    jnNormalsPass pass = {.positions = s->character->positions,
        .ringStarts = a->ringStarts,
        .rings = a->rings,
        .normals = s->character->normals};
    s->character->kernels->makeNormals(&pass, 0, jnBlockCount(a->normalCount));
}

static void RunSprings(void* user)
{
    Scene* s = user;
    s->frame++;
    size_t sample = (size_t)(s->frame % 4) * 3 * (size_t)s->asset->vertexCount;
    jnSprings_Step(s->springs, &(jnSpringsInput){.h = 1.0f / 60.0f, .targets = s->targets + sample},
        &(jnSpringsOutput){.positions = s->positions});
}

static void Step(Scene* s, bool normals)
{
    s->frame++;
    jnbPoseTube(s->asset, s->frame, s->rotations);
    float h = s->uneven ? 1.0f / (50.0f + (float)(s->frame % 20)) : 1.0f / 60.0f;
    jnCharacterInput input = {.h = h, .pose = {.rotations = s->rotations}};
    jnCharacterOutput output = {.positions = s->positions, .normals = normals ? s->normals : NULL};
    jnCharacter_Step(s->character, &input, &output);
}

static void RunStep(void* user)
{
    Step(user, false);
}

static void RunWholeStep(void* user)
{
    Step(user, true);
}

static void FreeScene(Scene* s)
{
    jnDestroyCharacter(s->character);
    jnDestroySprings(s->springs);
    jnDestroyAsset(s->asset);
    free(s->bytes);
    free(s->rotations);
    free(s->positions);
    free(s->normals);
    free(s->targets);
    free(s->copy.from);
    free(s->copy.to);
    *s = (Scene){0};
}

// Everything but the asset, which is there.
static bool FillScene(Scene* s, jnKernel kernel)
{
    const jnAsset* a = s->asset;
    size_t files = (size_t)a->fileVertexCount, vertices = (size_t)a->vertexCount;
    size_t influences = (size_t)a->influenceStarts[a->blockCount] * JN_LANES;
    s->skinBytes = vertices * (12 + 12) + influences * (sizeof(float) + sizeof(uint16_t));
    s->copy = (jnbCopy){.from = calloc(1, s->skinBytes), .to = calloc(1, s->skinBytes), .bytes = s->skinBytes};
    s->rotations = malloc(4 * sizeof(float) * (size_t)a->jointCount);
    s->positions = malloc(3 * sizeof(float) * files);
    s->normals = malloc(3 * sizeof(float) * files);
    s->targets = malloc(12 * sizeof(float) * vertices);
    jnCharacterDef def = jnDefaultCharacterDef(a);
    def.kernel = kernel;
    def.detail = s->detail;
    jnSpringsDef springs = jnDefaultSpringsDef();
    springs.count = a->vertexCount;
    springs.stiffness = a->stiffness;
    springs.damping = a->damping;
    springs.kernel = kernel;
    bool made = s->copy.from != NULL && s->copy.to != NULL && s->rotations != NULL && s->positions != NULL &&
                s->normals != NULL && s->targets != NULL && jnCreateCharacter(&def, &s->character, NULL) == jn_ok &&
                jnCreateSprings(&springs, &s->springs, NULL) == jn_ok;
    for (int n = 0; made && n < 4; ++n) {
        memset(s->copy.from, n, s->skinBytes);
        memset(s->copy.to, n, s->skinBytes);
        jnbPoseTube(a, n, s->rotations);
        jnCharacter_Skin(s->character, &(jnPose){.rotations = s->rotations},
            &(jnCharacterOutput){.positions = s->targets + (size_t)n * 3 * vertices, .welded = true});
    }
    return made;
}

static jnResult LoadFigure(const FigureDef* wish, Scene* s, jnError* error)
{
    static const char* const limbs[] = {"Head", "LeftForeArm", "LeftHand", "LeftLeg", "LeftFoot", "LeftToeBase",
        "RightForeArm", "RightHand", "RightLeg", "RightFoot", "RightToeBase"};
    enum { LIMBS = sizeof(limbs) / sizeof(limbs[0]) };
    jnaJointSpring joints[LIMBS];
    jnaCharacter figure;
    JN_PASS(jnaCreateFigure(&figure, error));
    jnResult result = jn_ok;
    size_t count = (size_t)figure.vertexCount, size = 0;
    float* springs = malloc(2 * count * sizeof(float));
    jnaHandSprings hand = jnaDefaultHandSprings();
    for (int i = 0; i < LIMBS; ++i) {
        joints[i] = (jnaJointSpring){limbs[i], 12.0f, hand.ratio};
    }
    hand.joints = joints;
    hand.jointCount = wish->firmLimbs ? LIMBS : 0;
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &figure;
    def.stiffness = springs;
    def.damping = springs != NULL ? springs + count : NULL;
    def.rigidHertz = wish->halfRigid ? 50.0 : 0.0;
    def.skinning = wish->skinning;
    def.detailShare = wish->detailShare;
    JN_TRY(springs != NULL ? jnaSetHandSprings(&figure, &hand, springs, springs + count, error) : jn_outOfMemory);
    // Half of the vertices rigid, for the level of detail.
    for (size_t v = 0; wish->halfRigid && v < count; ++v) {
        springs[v] = figure.positions[3 * v + 1] > 0.85f ? 1e6f : springs[v];
    }
    JN_TRY(jnaEncodeAsset(&def, &s->bytes, &size, error));
    JN_TRY(jnLoadAsset(&(jnAssetDef){.bytes = s->bytes, .size = size}, &s->asset, error));
done:
    free(springs);
    jnaDestroyCharacter(&figure);
    return result;
}

// One line: the smallest and the median time, and its ratio to a contender of the same race with the goal for it.
static void PrintRow(const jnbContender* c, const jnbContender* base, const char* baseName, const char* goal)
{
    printf("  %-38s %9.1f %9.1f %8.2fx %-9s %s\n", c->name, c->min * 1e6, c->median * 1e6, c->min / base->min, baseName,
        goal);
}

enum { COPY, SKIN, NORMALS, SPRINGS, STEP, WHOLE, CONTENDERS };

static void Race(const char* title, Scene* s, double seconds)
{
    static jnbContender race[CONTENDERS];
    const jnAsset* a = s->asset;
    race[COPY] = (jnbContender){.name = "memcpy of skinning's bytes", .run = jnbRunCopy, .user = &s->copy};
    race[SKIN] = (jnbContender){.name = "skinning", .run = RunSkin, .user = s};
    race[NORMALS] = (jnbContender){.name = "normals", .run = RunNormals, .user = s};
    race[SPRINGS] = (jnbContender){.name = "springs alone", .run = RunSprings, .user = s};
    race[STEP] = (jnbContender){.name = "step: skinning, springs, file order", .run = RunStep, .user = s};
    race[WHOLE] = (jnbContender){.name = "whole step: and normals", .run = RunWholeStep, .user = s};
    jnbRace(race, CONTENDERS, seconds);
    printf(
        "%s: %d vertices (%d in the file), %d triangles, %d joints, %.1f influences a vertex, %zu bytes of skinning\n"
        "                                            min us median us    ratio\n",
        title, a->vertexCount, a->fileVertexCount, a->triangleCount, a->jointCount,
        (double)a->influenceStarts[a->blockCount] / a->blockCount, s->skinBytes);
    PrintRow(&race[COPY], &race[COPY], "memcpy", "");
    PrintRow(&race[SKIN], &race[COPY], "memcpy", "goal 6");
    PrintRow(&race[NORMALS], &race[SKIN], "skinning", "goal 2");
    PrintRow(&race[SPRINGS], &race[SPRINGS], "springs", "");
    PrintRow(&race[STEP], &race[SPRINGS], "springs", "");
    PrintRow(&race[WHOLE], &race[SPRINGS], "springs", "goal 6");
    printf("\n");
}

// How far the coarse detail is from the full one, and how far the springs carry the surface: root mean squares and the
// largest, in metres.
static void MeasureError(Scene* full, Scene* coarse, double* error, double* worst, double* carried)
{
    enum { FRAMES = 120 };
    size_t count = 3 * (size_t)full->asset->fileVertexCount;
    *error = *worst = *carried = 0.0;
    for (int n = 0; n < FRAMES; ++n) {
        jnbPoseTube(full->asset, n, full->rotations);
        jnCharacterInput input = {.h = 1.0f / 60.0f, .pose = {.rotations = full->rotations}};
        input.teleport = n == 0 ? jn_teleportReset : jn_teleportNone;
        jnCharacter_Step(full->character, &input, &(jnCharacterOutput){.positions = full->positions});
        jnCharacter_Step(coarse->character, &input, &(jnCharacterOutput){.positions = coarse->positions});
        jnCharacter_Skin(coarse->character, &input.pose, &(jnCharacterOutput){.positions = coarse->normals});
        for (size_t i = 0; i < count; ++i) {
            double off = (double)(coarse->positions[i] - full->positions[i]);
            double offset = (double)(full->positions[i] - coarse->normals[i]);
            *error += 3.0 * off * off / (double)(count * FRAMES);
            *carried += 3.0 * offset * offset / (double)(count * FRAMES);
            *worst = off > *worst ? off : -off > *worst ? -off : *worst;
        }
    }
    *error = sqrt(*error);
    *carried = sqrt(*carried);
}

static size_t InstanceBytes(const Scene* s)
{
    jnCharacterDef def = jnDefaultCharacterDef(s->asset);
    def.detail = s->detail;
    return jnCharacter_ByteCount(&def);
}

// What level of detail saves: the upper half of the figure rigid in the asset, half of the blocks masked at run time,
// an eighth of the springs stepped, which carry the others along; then all and those again with an h that changes.
static bool RaceDetail(double seconds)
{
    enum { ALL, RIGID, MASKED, COARSE, UNEVEN, UNEVEN_COARSE, COUNT };
    static Scene scenes[COUNT];
    static jnbContender race[COUNT];
    static const char* const names[COUNT] = {"step, all springs", "step, upper body rigid in the asset",
        "step, half of the blocks masked", "step, coarse: an eighth of the springs", "changing h, all springs",
        "changing h, coarse"};
    bool made = true;
    for (int i = 0; i < COUNT; ++i) {
        scenes[i].detail = i == COARSE || i == UNEVEN_COARSE ? jn_detailCoarse : jn_detailFull;
        scenes[i].uneven = i >= UNEVEN;
        FigureDef wish = {.halfRigid = i == RIGID, .firmLimbs = true};
        wish.detailShare = scenes[i].detail == jn_detailCoarse ? 0.125 : 0.0;
        made = made && LoadFigure(&wish, &scenes[i], NULL) == jn_ok && FillScene(&scenes[i], jn_kernelAuto);
        race[i] = (jnbContender){.name = names[i], .run = RunStep, .user = &scenes[i]};
    }
    uint8_t* mask = made ? calloc(1, (size_t)scenes[MASKED].asset->springCount) : NULL;
    made = made && mask != NULL;
    if (made) {
        double error, worst, carried;
        memset(mask, 1, (size_t)scenes[MASKED].asset->springCount / 2);
        jnCharacter_SetMask(scenes[MASKED].character, mask);
        jnbRace(race, COUNT, seconds);
        printf("level of detail on the figure, %d springs of %d vertices left where the upper body is rigid, %d where "
               "it is coarse\n"
               "                                            min us median us    ratio\n",
            scenes[RIGID].asset->springCount, scenes[RIGID].asset->vertexCount, scenes[COARSE].asset->driverCount);
        for (int i = 0; i < COUNT; ++i) {
            PrintRow(&race[i], &race[i >= UNEVEN ? UNEVEN : ALL], i >= UNEVEN ? "changing" : "all", "");
        }
        MeasureError(&scenes[ALL], &scenes[COARSE], &error, &worst, &carried);
        printf(
            "  coarse: %.2f mm rms from the full motion, %.2f mm at most, where the springs carry the surface %.2f mm "
            "rms;\n          %zu bytes an instance instead of %zu\n",
            1e3 * error, 1e3 * worst, 1e3 * carried, InstanceBytes(&scenes[COARSE]), InstanceBytes(&scenes[ALL]));
    }
    free(mask);
    for (int i = 0; i < COUNT; ++i) {
        FreeScene(&scenes[i]);
    }
    return made;
}

int jnbBenchCharacter(double seconds)
{
    static const struct {
        const char* title;
        bool figure;
        jnSkinning skinning;
        jnKernel kernel;
    } scenes[] = {
        {"tube, linear blend", false, jn_skinLinear, jn_kernelAuto},
        {"tube, linear blend, plain C", false, jn_skinLinear, jn_kernelBaseline},
        {"figure, linear blend", true, jn_skinLinear, jn_kernelAuto},
        {"figure, dual quaternions", true, jn_skinDual, jn_kernelAuto},
    };
    jnError error = {.message = "no memory for the benchmark"};
    bool made = true;
    for (size_t i = 0; made && i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        Scene s = {0};
        made = scenes[i].figure ? LoadFigure(&(FigureDef){.skinning = scenes[i].skinning}, &s, &error) == jn_ok
                                : jnbCreateTube(223, 60, &s.bytes, &s.asset, &error) == jn_ok;
        made = made && FillScene(&s, scenes[i].kernel);
        if (made) {
            Race(scenes[i].title, &s, seconds);
        }
        FreeScene(&s);
    }
    return made && RaceDetail(seconds) ? JNC_DONE : jncFail(&error);
}
