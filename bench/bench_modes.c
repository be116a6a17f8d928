// jounce-bench modes: the step of springs on modes against reading their basis, and the whole step beside springs of
// single vertices.
#include "asset/asset_writer.h"
#include "bench.h"
#include "character/figure.h"
#include "character/hand_springs.h"
#include "cli.h"
#include "jounce/jounce.h"
#include "measure.h"
#include "modes/modes.h"
#include "volume/bones.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

#include "runtime/asset_format.h"
#include "runtime/character_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    const jnAsset* asset;
    jnCharacter* character;
    float *rotations, *positions, *normals;
    int frame;
    uint64_t sum; // of what was read
} Scene;

// All joints but the first swing, each at its own pace.
static void Pose(Scene* s)
{
    for (int j = 0; j < s->asset->jointCount; ++j) {
        const float* rest = s->asset->joints[j].rotation;
        double half = j > 0 ? 0.1 * sin(0.15 * s->frame + j) : 0;
        float x = (float)sin(half), w = (float)cos(half);
        float* q = s->rotations + 4 * (size_t)j; // rest times a turn about x
        q[0] = rest[3] * x + rest[0] * w;
        q[1] = rest[1] * w + rest[2] * x;
        q[2] = rest[2] * w - rest[1] * x;
        q[3] = rest[3] * w - rest[0] * x;
    }
}

static void Step(Scene* s, bool normals)
{
    s->frame++;
    Pose(s);
    jnCharacter_Step(s->character, &(jnCharacterInput){.h = 1.0f / 60, .pose = {.rotations = s->rotations}},
        &(jnCharacterOutput){.positions = s->positions, .normals = normals ? s->normals : NULL});
}

static void RunStep(void* user)
{
    Step(user, false);
}

static void RunWholeStep(void* user)
{
    Step(user, true);
}

// Every number of the basis once, shapes for the way out and projections for the way in, into one sum. Unrolled: a loop
// as short as this is otherwise half as fast where the linker happens to put it badly.
static void RunRead(void* user)
{
    Scene* s = user;
    const jnAssetModes* m = s->asset->modes;
    const uint64_t* halves[2] = {(const void*)m->shapes, (const void*)m->projections};
    size_t words = (size_t)m->entryCount * 3 * JN_LANES * sizeof(int16_t) / sizeof(uint64_t);
    uint64_t sum = s->sum;
    for (int half = 0; half < 2; ++half) {
        const uint64_t* at = halves[half];
#pragma GCC unroll 8
        for (size_t i = 0; i < words; ++i) {
            sum += at[i];
        }
    }
    s->sum = sum;
}

// The same into several sums at a time: as fast as the numbers come.
static void RunReadWide(void* user)
{
    typedef uint64_t Two __attribute__((vector_size(16)));
    enum { SUMS = 6 }; // an entry
    Scene* s = user;
    const jnAssetModes* m = s->asset->modes;
    const int16_t* halves[2] = {m->shapes, m->projections};
    Two sums[SUMS] = {{0}};
    for (int half = 0; half < 2; ++half) {
        const Two* at = (const void*)halves[half];
        for (int e = 0; e < m->entryCount; ++e, at += SUMS) {
            for (int k = 0; k < SUMS; ++k) {
                sums[k] += at[k];
            }
        }
    }
    for (int k = 0; k < SUMS; ++k) {
        s->sum += sums[k][0] + sums[k][1];
    }
}

// The interval that the springs stand at, again.
static void RunModes(void* user)
{
    Scene* s = user;
    jnModes_Advance(s->character->modes, s->character->springs);
    jnShowModes(s->character, 1.0, &(jnSpringsOutput){.positions = s->character->positions});
}

static void RunAdvance(void* user)
{
    Scene* s = user;
    jnModes_Advance(s->character->modes, s->character->springs);
}

static bool FillScene(Scene* s, const jnAsset* asset)
{
    *s = (Scene){.asset = asset};
    s->rotations = malloc(4 * (size_t)asset->jointCount * sizeof(float));
    s->positions = malloc(3 * (size_t)asset->fileVertexCount * sizeof(float));
    s->normals = malloc(3 * (size_t)asset->fileVertexCount * sizeof(float));
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    bool made = s->rotations != NULL && s->positions != NULL && s->normals != NULL &&
                jnCreateCharacter(&def, &s->character, NULL) == jn_ok;
    for (int n = 0; made && n < 8; ++n) {
        Step(s, false);
    }
    return made;
}

static void FreeScene(Scene* s)
{
    jnDestroyCharacter(s->character);
    free(s->rotations);
    free(s->positions);
    free(s->normals);
}

static void PrintRow(const jnbContender* c, const jnbContender* base, const char* baseName, const char* goal)
{
    printf("  %-44s %9.1f %9.1f %8.2fx %-8s %s\n", c->name, c->min * 1e6, c->median * 1e6, c->min / base->min, baseName,
        goal);
}

static int Race(const jnAsset* asset, double seconds)
{
    enum { READ, WIDE, MODES, ADVANCE, VERTEX, MODAL, VERTEX_WHOLE, MODAL_WHOLE, COUNT };
    static jnbContender race[COUNT];
    static Scene modal, vertex;
    // The same vertices, each on its own spring. The view is the head of a block that has the network too.
    jnAssetBlock plain = *(const jnAssetBlock*)(const void*)asset;
    plain.view.modes = NULL;
    if (!FillScene(&modal, asset) || !FillScene(&vertex, &plain.view)) {
        return jncFail(&(jnError){jn_outOfMemory, "no memory for the benchmark"});
    }
    race[READ] = (jnbContender){.name = "reading the basis twice", .run = RunRead, .user = &modal};
    race[WIDE] = (jnbContender){.name = "  as fast as the numbers come", .run = RunReadWide, .user = &modal};
    race[MODES] = (jnbContender){.name = "modal step: project, step, show", .run = RunModes, .user = &modal};
    race[ADVANCE] = (jnbContender){.name = "  of it: project and step", .run = RunAdvance, .user = &modal};
    race[VERTEX] = (jnbContender){.name = "character step, springs of vertices", .run = RunStep, .user = &vertex};
    race[MODAL] = (jnbContender){.name = "character step, springs on modes", .run = RunStep, .user = &modal};
    race[VERTEX_WHOLE] = (jnbContender){.name = "  and normals, vertices", .run = RunWholeStep, .user = &vertex};
    race[MODAL_WHOLE] = (jnbContender){.name = "  and normals, modes", .run = RunWholeStep, .user = &modal};
    jnbRace(race, COUNT, seconds);
    const jnAssetModes* m = asset->modes;
    printf("%s: %d vertices, %d in modes, %d modes, %d entries of 16 vertices (%.0f %% of all), basis %.2f MB\n"
           "                                                  min us median us    ratio\n",
        asset->name, asset->vertexCount, asset->springCount, m->modeCount, m->entryCount,
        100.0 * m->entryCount / m->modeCount / asset->blockCount, m->entryCount * 96e-6);
    PrintRow(&race[READ], &race[READ], "reading", "");
    PrintRow(&race[WIDE], &race[READ], "reading", "");
    PrintRow(&race[MODES], &race[READ], "reading", "goal 2");
    printf("  %-44s %28.2fx of the faster reading\n", "", race[MODES].min / race[WIDE].min);
    PrintRow(&race[ADVANCE], &race[READ], "reading", "");
    PrintRow(&race[VERTEX], &race[VERTEX], "vertices", "");
    PrintRow(&race[MODAL], &race[VERTEX], "vertices", "");
    PrintRow(&race[VERTEX_WHOLE], &race[VERTEX_WHOLE], "vertices", "");
    PrintRow(&race[MODAL_WHOLE], &race[VERTEX_WHOLE], "vertices", modal.sum == 1 ? " " : "");
    FreeScene(&modal);
    FreeScene(&vertex);
    return JNC_DONE;
}

// The built-in figure on its own modes.
static jnResult MakeFigure(void** bytes, size_t* size, jnError* error)
{
    jnaCharacter figure = {0};
    jnaVolume volume = {0};
    jnaModes modes = {0};
    jnaVolumeDef volumeDef = jnaDefaultVolumeDef();
    jnaWeightsDef weightsDef = jnaDefaultWeightsDef();
    jnaModesDef modesDef = jnaDefaultModesDef();
    jnResult result = jnaCreateFigure(&figure, error);
    result = result == jn_ok ? jnaCreateVolume(&figure, &volumeDef, &volume, NULL, NULL, error) : result;
    result = result == jn_ok ? jnaVolume_CarryWeights(&volume, &figure, &weightsDef, error) : result;
    result = result == jn_ok ? jnaVolume_PlaceBones(&volume, &figure, NULL, NULL, NULL, error) : result;
    result = result == jn_ok ? jnaVolume_FillMaterials(&volume, &figure, NULL, error) : result;
    result = result == jn_ok ? jnaFindModes(&volume, &figure, &modesDef, &modes, NULL, error) : result;
    float* springs = result == jn_ok ? malloc(2 * (size_t)figure.vertexCount * sizeof(float)) : NULL;
    if (springs != NULL) {
        jnaHandSprings hand = jnaDefaultHandSprings();
        jnaAssetDef def = jnaDefaultAssetDef();
        def.character = &figure;
        def.stiffness = springs;
        def.damping = springs + figure.vertexCount;
        def.modes = &modes;
        def.restVertices = true;
        result = jnaSetHandSprings(&figure, &hand, springs, springs + figure.vertexCount, error);
        result = result == jn_ok ? jnaEncodeAsset(&def, bytes, size, error) : result;
    }
    free(springs);
    jnaDestroyModes(&modes);
    jnaDestroyVolume(&volume);
    jnaDestroyCharacter(&figure);
    return result;
}

int jnbBenchModes(const char* path, double seconds)
{
    jnError error = {0};
    jnaAssetFile file = {0};
    void* bytes = NULL;
    size_t size = 0;
    jnAsset* asset = NULL;
    jnResult result;
    if (path != NULL) {
        result = jnaOpenAsset(path, &file, &error);
        asset = file.asset;
    } else {
        result = MakeFigure(&bytes, &size, &error);
        result = result == jn_ok ? jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &error) : result;
    }
    int code = JNC_FAILED;
    if (result != jn_ok) {
        code = jncFail(&error);
    } else if (asset->modes == NULL) {
        code = jncMisuse("%s has no springs on modes; jounce new --layer modal makes some", path);
    } else {
        code = Race(asset, seconds);
    }
    if (path != NULL) {
        jnaCloseAsset(&file);
    } else {
        jnDestroyAsset(asset);
    }
    free(bytes);
    return code;
}
