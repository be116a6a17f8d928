// jounce-bench touch: random presses of the runtime's flesh against the simulation, and what colliders cost.
#include "asset/asset_writer.h"
#include "base/affine.h"
#include "base/try.h"
#include "bench.h"
#include "cli.h"
#include "jounce/jounce.h"
#include "measure.h"
#include "modes/touch.h"
#include "touch_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CROWD = 1000, COLLIDERS = 4 };
#define SPACING 0.04
#define MET_BONE 2e-3 // metres that the simulation leaves inside

typedef struct Played {
    jnbTouchScene scene;
    jnaModes modes;
    jnaTouch touch;
    void* bytes[2];
    jnAsset* assets[2]; // with touch, without
    jnCharacter* character;
    jnCharacter* crowd[2][CROWD]; // weights alone
    jnCollider colliders[COLLIDERS];
    float *positions, *still, *dents; // [vertexCount][3]; dents in the character's order
    float* weights;
    jnCharacterInput inputs[CROWD];
    int which; // of the assets, for the races
} Played;

static jnResult Encode(Played* p, int which, jnError* error)
{
    size_t count = (size_t)p->scene.character.vertexCount, size;
    float* none = calloc(count, sizeof(float));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &p->scene.character;
    def.stiffness = def.damping = none;
    def.modes = &p->modes;
    def.restVertices = true;
    def.touch = which == 0 ? &p->touch : NULL;
    jnResult result = none != NULL ? jnaEncodeAsset(&def, &p->bytes[which], &size, error) : jn_outOfMemory;
    if (result == jn_ok) {
        result = jnLoadAsset(&(jnAssetDef){.bytes = p->bytes[which], .size = size}, &p->assets[which], error);
        printf("  asset %s touch: %.2f MB\n", which == 0 ? "with" : "without", 1e-6 * (double)size);
    }
    free(none);
    return result;
}

static jnResult Create(const char* file, Played* p, jnError* error)
{
    JN_PASS(jnbCreateTouchScene(file, &p->scene, error));
    jnaModesDef modes = jnaDefaultModesDef();
    JN_PASS(jnaFindModes(&p->scene.volume, &p->scene.character, &modes, NULL, &p->modes, NULL, error));
    JN_PASS(jnaFindTouch(&p->scene.volume, &p->scene.character, SPACING, NULL, &p->touch, error));
    for (int i = 0; i < 2; ++i) {
        JN_PASS(Encode(p, i, error));
    }
    size_t numbers = 3 * (size_t)p->scene.character.vertexCount;
    p->positions = calloc(numbers, sizeof(float));
    p->still = calloc(numbers, sizeof(float));
    p->dents = calloc(numbers, sizeof(float));
    p->weights = calloc((size_t)p->assets[0]->componentCount + (size_t)p->assets[0]->modeCount + 1, sizeof(float));
    jnCharacterDef def = jnDefaultCharacterDef(p->assets[0]);
    JN_PASS(jnCreateCharacter(&def, &p->character, error));
    for (int i = 0; i < 2 * CROWD; ++i) {
        def = jnDefaultCharacterDef(p->assets[i / CROWD]);
        def.weightsOnly = true;
        JN_PASS(jnCreateCharacter(&def, &p->crowd[i / CROWD][i % CROWD], error));
    }
    bool there = p->positions != NULL && p->still != NULL && p->dents != NULL && p->weights != NULL;
    return there ? jn_ok : (error->code = jn_outOfMemory);
}

static void Destroy(Played* p)
{
    for (int i = 0; i < 2 * CROWD; ++i) {
        jnDestroyCharacter(p->crowd[i / CROWD][i % CROWD]);
    }
    jnDestroyCharacter(p->character);
    for (int i = 0; i < 2; ++i) {
        jnDestroyAsset(p->assets[i]);
        free(p->bytes[i]);
    }
    jnaDestroyTouch(&p->touch);
    jnaDestroyModes(&p->modes);
    jnbDestroyTouchScene(&p->scene);
    free(p->positions);
    free(p->still);
    free(p->dents);
    free(p->weights);
}

static jnCollider ForRuntime(const jnaCollider* c)
{
    jnCollider out = {.shape = (jnColliderShape)c->shape, .joint = -1, .radius = (float)c->radius};
    for (int i = 0; i < 4; ++i) {
        out.rotation[i] = (float)c->rotation[i];
        if (i < 3) {
            out.position[i] = (float)c->position[i];
            out.half[i] = (float)c->half[i];
        }
    }
    return out;
}

static void Stand(Played* p, const jnCollider* collider, float* positions)
{
    jnCharacter_SetColliders(p->character, collider, collider != NULL);
    jnCharacter_Reset(
        p->character, &(jnCharacterInput){0}, &(jnCharacterOutput){.positions = positions, .welded = true});
}

/// What a press came to.
typedef struct Outcome {
    double missed, left, force;
} Outcome;

// The runtime's dent against the simulation's.
static Outcome Compare(Played* p, const jnbPress* press)
{
    const jnAsset* a = p->assets[0];
    jnCollider collider = ForRuntime(&press->collider);
    jnaPosedCollider posed = jnbPoseCollider(&press->collider);
    jnContact contact = {0};
    double missed = 0, all = 0, left = 0, force[2] = {0};
    Stand(p, NULL, p->still);
    Stand(p, &collider, p->positions);
    (void)jnCharacter_Contacts(p->character, &contact, 1);
    for (size_t v = 0; v < (size_t)a->vertexCount; ++v) {
        size_t own = a->order != NULL ? (size_t)a->order[v] : v;
        double at[3], normal[3], area = p->scene.areas[own];
        for (size_t k = 0; k < 3; ++k) {
            double truth = (double)p->dents[3 * own + k];
            double dent = (double)p->positions[3 * v + k] - (double)p->still[3 * v + k];
            missed += area * (dent - truth) * (dent - truth);
            all += area * truth * truth;
            at[k] = (double)p->positions[3 * v + k];
        }
        left = fmax(left, -jnaPosedCollider_Distance(&posed, at, normal));
    }
    for (int k = 0; k < 3; ++k) {
        force[0] += (double)contact.force[k] * (double)contact.force[k];
        force[1] += press->touch.force[k] * press->touch.force[k];
    }
    return (Outcome){missed / all, left, fabs(sqrt(force[0] / force[1]) - 1)};
}

static int CompareNumbers(const void* a, const void* b)
{
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

static void PrintRow(const char* name, double scale, double* values, int count, const char* goal)
{
    qsort(values, (size_t)count, sizeof(double), CompareNumbers);
    printf("  %-36s %8.3f %8.3f %8.3f   %s\n", name, scale * values[count / 2], scale * values[count * 95 / 100],
        scale * values[count - 1], goal);
}

/// Presses by one kind of collider.
typedef struct Table {
    const char* name;
    int count, bone; // measured; that met a bone, by which the simulation itself was left inside
    double *missed, *left, *truth, *force;
} Table;

static void PrintTable(Table* t)
{
    if (t->count == 0) {
        return;
    }
    printf("%d random presses by %s, 1 to 4 cm deep; %d more met a bone\n"
           "                                         median      95 %%  largest   goal\n",
        t->count, t->name, t->bone);
    PrintRow("energy of the dent missed", 1, t->missed, t->count, "0.15, 0.4");
    PrintRow("skin left inside, mm", 1e3, t->left, t->count, "3, 6 at most");
    PrintRow("skin left inside, simulation, mm", 1e3, t->truth, t->count, "");
    PrintRow("force, off by", 1, t->force, t->count, "0.25");
}

static jnResult Press(Played* p, int presses, jnError* error)
{
    jnResult result = jn_ok;
    uint64_t state = 1;
    Table tables[2] = {{.name = "balls, capsules and planes"}, {.name = "boxes"}};
    double* numbers = calloc((size_t)presses, 8 * sizeof(double));
    for (int i = 0; i < 2; ++i) {
        tables[i].missed = numbers + (4 * i) * presses;
        tables[i].left = numbers + (4 * i + 1) * presses;
        tables[i].truth = numbers + (4 * i + 2) * presses;
        tables[i].force = numbers + (4 * i + 3) * presses;
    }
    for (int i = 0; numbers != NULL && result == jn_ok && i < presses; ++i) {
        jnbPress press;
        jnbMakePress(&p->scene, &state, &press);
        result = jnbSolvePress(&p->scene, &press, p->dents, error);
        Table* t = &tables[press.collider.shape == jna_colliderBox];
        if (press.touch.depth > MET_BONE) {
            ++t->bone;
            continue;
        }
        Outcome o = Compare(p, &press);
        t->missed[t->count] = o.missed;
        t->left[t->count] = o.left;
        t->force[t->count] = o.force;
        t->truth[t->count++] = press.touch.depth;
    }
    for (int i = 0; result == jn_ok && i < 2; ++i) {
        PrintTable(&tables[i]);
    }
    free(numbers);
    return result;
}

static void RunSurface(void* user)
{
    Played* p = user;
    jnCharacter_Step(p->character, &(jnCharacterInput){.h = 1.0f / 60.0f},
        &(jnCharacterOutput){.positions = p->positions, .welded = true});
}

static void RunWeights(void* user)
{
    Played* p = user;
    jnCharacter_Step(
        p->crowd[0][0], &(jnCharacterInput){.h = 1.0f / 60.0f}, &(jnCharacterOutput){.weights = p->weights});
}

static void RunCrowd(void* user)
{
    Played* p = user;
    jnStepCharacters(p->crowd[p->which], p->inputs, NULL, CROWD);
}

static void RunOtherCrowd(void* user)
{
    Played* p = user;
    jnStepCharacters(p->crowd[1 - p->which], p->inputs, NULL, CROWD);
}

static void Race(Played* p, double seconds)
{
    uint64_t state = 5;
    jnbPress press;
    for (int i = 0; i < COLLIDERS; ++i) {
        do {
            jnbMakePress(&p->scene, &state, &press);
        } while (press.collider.shape == jna_colliderPlane);
        p->colliders[i] = ForRuntime(&press.collider);
    }
    for (int i = 0; i < CROWD; ++i) {
        p->inputs[i].h = 1.0f / 60.0f;
    }
    jnbContender race[6] = {{.name = "weights, no collider", .run = RunWeights, .user = p},
        {.name = "surface, no collider", .run = RunSurface, .user = p},
        {.name = "crowd without touch in its asset", .run = RunOtherCrowd, .user = p},
        {.name = "crowd with touch, no collider", .run = RunCrowd, .user = p},
        {.name = "weights, 4 colliders", .run = RunWeights, .user = p},
        {.name = "surface, 4 colliders", .run = RunSurface, .user = p}};
    jnCharacter_SetColliders(p->character, NULL, 0);
    jnbRace(race, 4, seconds);
    jnCharacter_SetColliders(p->character, p->colliders, COLLIDERS);
    jnCharacter_SetColliders(p->crowd[0][0], p->colliders, COLLIDERS);
    jnbRace(race + 4, 2, seconds);
    printf("cost of a step                             min us   more us     ratio   goal\n");
    printf("  %-38s %8.2f\n  %-38s %8.2f\n", race[0].name, 1e6 * race[0].min, race[1].name, 1e6 * race[1].min);
    printf("  %-38s %8.2f %9.2f %9.2f   10 us more\n", race[4].name, 1e6 * race[4].min,
        1e6 * (race[4].min - race[0].min), race[4].min / race[0].min);
    printf("  %-38s %8.2f %9.2f %9.2f   1.3\n", race[5].name, 1e6 * race[5].min, 1e6 * (race[5].min - race[1].min),
        race[5].min / race[1].min);
    printf("  %-38s %8.2f\n  %-38s %8.2f %9.2f %9.2f   1\n", race[2].name, 1e6 * race[2].min, race[3].name,
        1e6 * race[3].min, 1e6 * (race[3].min - race[2].min), race[3].min / race[2].min);
    printf("  contacts of the 4: %d\n", jnCharacter_Contacts(p->character, NULL, 0));
}

int jnbBenchTouch(const char* file, int presses, double seconds)
{
    jnError error = {.message = "no memory for the benchmark"};
    Played* p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return jncFail(&error);
    }
    printf("touch of %s\n", file != NULL ? file : "the figure");
    jnResult result = Create(file, p, &error);
    if (result == jn_ok) {
        Race(p, seconds);
        result = Press(p, presses, &error);
    }
    Destroy(p);
    free(p);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
