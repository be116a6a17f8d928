// The runtime as a WebAssembly module: flat functions over handles, numbers and addresses in the module's memory.
//
// JavaScript cannot build C structs at ease, so what it has to know of an asset or a character is laid out as a table
// of 32-bit words; words.h names them, for both sides. Tables and the last error are static: the module has one thread.
// Everything else is the C library as it is.
#include "jounce/jounce.h"
#include "network.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

// A surface: where results go. Arrays are in the order of the file.
typedef struct jnwSurface {
    float* positions;  // [fileVertexCount][3]
    float* normals;    // [fileVertexCount][3]
    float* velocities; // [fileVertexCount][3]
} jnwSurface;

// Where JavaScript writes a pose, and what it set.
typedef struct jnwCharacter {
    jnCharacter* character;
    float* rotations;    // [jointCount][4]
    float* translations; // [jointCount][3]
    float* scales;       // [jointCount][3]
    float* matrices;     // [jointCount][12]
    float* offsets;      // [springCount][3], by jnwReadState
    float* speeds;       // [springCount][3], by jnwReadState
    float* felt;         // [3][vertexCount], by jnwReadModes; NULL: no modes
    float* weights;      // [componentCount + modeCount], by every step
    float* modeTuning;   // [2][modeCount], stiffness and damping as they are tuned
    jnTransform root;
    float strength;
} jnwCharacter;

enum { WANT_POSITIONS = 1, WANT_NORMALS = 2, WANT_VELOCITIES = 4 };
enum { TABLE_SIZE = 40 };
#define VALUE(name, value) value,

static jnError lastError;
static uint32_t table[TABLE_SIZE];
static double numbers[4];

static uint32_t Address(const void* pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

uint32_t EXPORT(jnwMessage)(void)
{
    return Address(lastError.message);
}

uint32_t EXPORT(jnwVersion)(void)
{
    return Address(jnVersion());
}

// Memory at a multiple of 64; 0 where there is none.
void* EXPORT(jnwAllocate)(size_t size)
{
    return size <= SIZE_MAX - 63 ? aligned_alloc(64, (size + 63) & ~(size_t)63) : NULL;
}

void EXPORT(jnwRelease)(void* memory)
{
    free(memory);
}

// The bytes stay where they are as long as the asset lives.
jnAsset* EXPORT(jnwLoadAsset)(const void* bytes, size_t size)
{
    jnAsset* asset = NULL;
    return jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &lastError) == jn_ok ? asset : NULL;
}

void EXPORT(jnwDestroyAsset)(jnAsset* asset)
{
    jnDestroyAsset(asset);
}

// Vertices that move against their targets.
static uint32_t MovingCount(const jnAsset* a)
{
    return (uint32_t)(a->modes != NULL ? a->vertexCount : a->springCount);
}

const uint32_t* EXPORT(jnwDescribeAsset)(const jnAsset* a)
{
    const uint32_t words[] = {JNW_ASSET_WORDS(VALUE)};
    memcpy(table, words, sizeof(words));
    return table;
}

const uint32_t* EXPORT(jnwDescribeClip)(const jnAsset* a, int index)
{
    jnAssetClip clip = jnAsset_Clip(a, index);
    numbers[0] = clip.rate;
    const uint32_t words[] = {JNW_CLIP_WORDS(VALUE)};
    memcpy(table, words, sizeof(words));
    return table;
}

const uint32_t* EXPORT(jnwDescribeSection)(const jnAsset* a, int index)
{
    static jnAssetSection section;
    section = jnAsset_Section(a, index);
    table[0] = Address(section.id);
    table[1] = (uint32_t)section.size;
    return table;
}

void EXPORT(jnwDestroySurface)(jnwSurface* surface)
{
    if (surface != NULL) {
        free(surface->positions);
    }
    free(surface);
}

jnwSurface* EXPORT(jnwCreateSurface)(const jnAsset* a)
{
    size_t floats = 3 * (size_t)a->fileVertexCount;
    jnwSurface* surface = calloc(1, sizeof(*surface));
    float* memory = floats <= SIZE_MAX / 12 ? calloc(3 * floats, sizeof(float)) : NULL;
    if (surface == NULL || memory == NULL) {
        free(surface);
        free(memory);
        return NULL;
    }
    *surface = (jnwSurface){memory, memory + floats, memory + 2 * floats};
    return surface;
}

const uint32_t* EXPORT(jnwDescribeSurface)(const jnwSurface* surface)
{
    const uint32_t words[] = {JNW_SURFACE_WORDS(VALUE)};
    memcpy(table, words, sizeof(words));
    return table;
}

void EXPORT(jnwDestroyCharacter)(jnwCharacter* c)
{
    if (c != NULL) {
        jnDestroyCharacter(c->character);
        free(c->rotations);
    }
    free(c);
}

// A pose's arrays in one block: the rest pose in all but the matrices, which are of no use until they are written.
static bool MakePose(jnwCharacter* c, const jnAsset* a)
{
    size_t joints = (size_t)a->jointCount, springs = MovingCount(a);
    size_t modes = a->modes != NULL ? (size_t)a->modes->modeCount : 0;
    size_t felt = modes > 0 ? 3 * (size_t)a->vertexCount : 0, weights = (size_t)a->componentCount + modes;
    float* memory = calloc(joints * (4 + 3 + 3 + 12) + 6 * springs + felt + 2 * modes + weights, sizeof(float));
    if (memory == NULL) {
        return false;
    }
    c->rotations = memory;
    c->translations = memory + 4 * joints;
    c->scales = memory + 7 * joints;
    c->matrices = memory + 10 * joints;
    c->offsets = memory + 22 * joints;
    c->speeds = c->offsets + 3 * springs;
    c->felt = modes > 0 ? c->speeds + 3 * springs : NULL;
    c->modeTuning = modes > 0 ? c->felt + felt : NULL;
    c->weights = memory + 22 * joints + 6 * springs + felt + 2 * modes;
    for (size_t j = 0; j < joints; ++j) {
        memcpy(c->rotations + 4 * j, a->joints[j].rotation, 4 * sizeof(float));
        memcpy(c->translations + 3 * j, a->joints[j].translation, 3 * sizeof(float));
        memcpy(c->scales + 3 * j, a->joints[j].scale, 3 * sizeof(float));
    }
    return true;
}

// Modes that live at a joint (-1: all). Returns how many those are, or -1 where a scale is of no use.
int EXPORT(jnwTuneModes)(jnwCharacter* c, int joint, float hertzScale, float ratioScale, float gainScale)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    bool good = hertzScale >= 0.0f && ratioScale >= 0.0f && hertzScale < HUGE_VALF && ratioScale < HUGE_VALF &&
                gainScale > -HUGE_VALF && gainScale < HUGE_VALF;
    if (!good) {
        lastError = (jnError){jn_badArgument, "scales of modes are finite, those of frequency and ratio not negative"};
        return -1;
    }
    for (int k = 0; a->modes != NULL && k < a->modes->modeCount; ++k) {
        const jnAssetMode* mode = &a->modes->modes[k];
        if (joint < 0 || mode->joint == joint) {
            c->modeTuning[k] = mode->stiffness * hertzScale * hertzScale;
            c->modeTuning[a->modes->modeCount + k] = mode->damping * hertzScale * ratioScale;
        }
    }
    return jnCharacter_TuneModes(c->character, joint, hertzScale, ratioScale, gainScale);
}

// timing: jnTiming, or -1 for the asset's.
jnwCharacter* EXPORT(jnwCreateCharacter)(const jnAsset* a, int timing)
{
    jnwCharacter* c = calloc(1, sizeof(*c));
    if (c == NULL || !MakePose(c, a)) {
        free(c);
        lastError = (jnError){jn_outOfMemory, "no memory for the character"};
        return NULL;
    }
    jnCharacterDef def = jnDefaultCharacterDef(a);
    def.timing = timing >= 0 ? (jnTiming)timing : def.timing;
    c->root.rotation[3] = 1.0f;
    c->strength = 1.0f;
    if (jnCreateCharacter(&def, &c->character, &lastError) != jn_ok) {
        jnwDestroyCharacter(c);
        return NULL;
    }
    jnwTuneModes(c, -1, 1.0f, 1.0f, 1.0f);
    return c;
}

const uint32_t* EXPORT(jnwDescribeCharacter)(jnwCharacter* c)
{
    const uint32_t words[] = {JNW_CHARACTER_WORDS(VALUE)};
    memcpy(table, words, sizeof(words));
    return table;
}

void EXPORT(jnwSampleClip)(jnwCharacter* c, int clip, double seconds)
{
    jnAsset_SampleClip(jnCharacter_Asset(c->character), clip, seconds, c->rotations, c->translations, c->scales);
}

static jnPose PoseOf(const jnwCharacter* c, int usesMatrices)
{
    return (jnPose){
        .rotations = c->rotations,
        .translations = c->translations,
        .scales = c->scales,
        .matrices = usesMatrices ? c->matrices : NULL,
        .root = &c->root,
    };
}

static jnCharacterOutput OutputOf(const jnwSurface* surface, int wants)
{
    return (jnCharacterOutput){
        .positions = surface != NULL && (wants & WANT_POSITIONS) ? surface->positions : NULL,
        .normals = surface != NULL && (wants & WANT_NORMALS) ? surface->normals : NULL,
        .velocities = surface != NULL && (wants & WANT_VELOCITIES) ? surface->velocities : NULL,
    };
}

void EXPORT(jnwStep)(jnwCharacter* c, float h, int teleport, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnCharacterInput input = {.h = h, .pose = PoseOf(c, usesMatrices), .teleport = (jnTeleport)teleport};
    jnCharacterOutput output = OutputOf(surface, wants);
    output.weights = c->weights;
    jnCharacter_Step(c->character, &input, &output);
}

// Many steps of one clip in one call, for measuring.
void EXPORT(jnwPlay)(jnwCharacter* c, int clip, float h, int steps, const jnwSurface* surface, int wants)
{
    for (int n = 0; n < steps; ++n) {
        jnwSampleClip(c, clip, (double)n * (double)h);
        jnwStep(c, h, jn_teleportNone, 0, surface, wants);
    }
}

void EXPORT(jnwSkin)(jnwCharacter* c, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnPose pose = PoseOf(c, usesMatrices);
    jnCharacterOutput output = OutputOf(surface, wants & ~WANT_VELOCITIES);
    jnCharacter_Skin(c->character, &pose, &output);
}

// The surface that the pose alone gives: skeleton and network.
void EXPORT(jnwTarget)(jnwCharacter* c, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnPose pose = PoseOf(c, usesMatrices);
    jnCharacterOutput output = OutputOf(surface, wants & ~WANT_VELOCITIES);
    jnCharacter_Target(c->character, &pose, &output);
}

void EXPORT(jnwEvaluate)(jnwCharacter* c, float fraction, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(surface, wants);
    output.weights = c->weights;
    jnCharacter_Evaluate(c->character, fraction, &output);
}

static void ShowShare(jnwCharacter* c, float strength)
{
    (void)jnCharacter_SetStrength(c->character, -1, strength, NULL);
}

// What the springs hang on, at a fraction of the last interval: the motion shown without its offset.
void EXPORT(jnwEvaluateTarget)(jnwCharacter* c, float fraction, const jnwSurface* surface, int wants)
{
    ShowShare(c, 0.0f);
    jnwEvaluate(c, fraction, surface, wants);
    ShowShare(c, c->strength);
}

void EXPORT(jnwSettle)(jnwCharacter* c, double seconds, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(surface, wants);
    jnCharacter_Settle(c->character, seconds, &output);
}

void EXPORT(jnwReadState)(jnwCharacter* c)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    if (springs != NULL) {
        jnSprings_GetState(springs, c->offsets, c->speeds);
    }
}

// What a morph weight of 1 adds to the rest surface, in the file's order, [fileVertexCount][3].
void EXPORT(jnwMorphDeltas)(const jnAsset* a, int weight, float* deltas)
{
    jnAsset_MorphDeltas(a, weight, false, deltas);
}

// The modes as each vertex feels them: stiffness (the harmonic mean, weighed by how much each mode moves the vertex),
// damping (weighed by that over the stiffness), and the share of the modes that live at a joint. 0 where no mode moves.
void EXPORT(jnwReadModes)(jnwCharacter* c, int joint)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    size_t vertices = (size_t)a->vertexCount;
    float* deltas = a->modes != NULL ? malloc(7 * vertices * sizeof(float)) : NULL;
    if (deltas == NULL) {
        return;
    }
    float* sums = deltas + 3 * vertices; // squares, compliances, times damping, and those of the joint's modes
    memset(sums, 0, 4 * vertices * sizeof(float));
    for (int k = 0; k < a->modeCount; ++k) {
        const jnAssetMode* mode = &a->modes->modes[k];
        float stiffness = c->modeTuning[k], damping = c->modeTuning[a->modeCount + k];
        jnAsset_MorphDeltas(a, a->componentCount + k, true, deltas);
        for (size_t v = 0; v < vertices; ++v) {
            const float* d = deltas + 3 * v;
            float square = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (mode->unit * mode->unit);
            float compliance = square / (stiffness > 1e-6f ? stiffness : 1e-6f);
            sums[v] += square;
            sums[vertices + v] += compliance;
            sums[2 * vertices + v] += compliance * damping;
            sums[3 * vertices + v] += joint < 0 || mode->joint == joint ? compliance : 0.0f;
        }
    }
    for (size_t v = 0; v < vertices; ++v) {
        float compliance = sums[vertices + v];
        c->felt[v] = compliance > 0.0f ? sums[v] / compliance : 0.0f;
        c->felt[vertices + v] = compliance > 0.0f ? sums[2 * vertices + v] / compliance : 0.0f;
        c->felt[2 * vertices + v] = compliance > 0.0f ? sums[3 * vertices + v] / compliance : 0.0f;
    }
    free(deltas);
}

void EXPORT(jnwSetNetworkStrength)(jnwCharacter* c, float strength)
{
    jnCharacter_SetNetworkStrength(c->character, strength);
}

// The settings answer 0 where they were taken; otherwise jnwMessage says why not.
int EXPORT(jnwSetTuning)(jnwCharacter* c, float hertzScale, float ratioScale)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    jnwTuneModes(c, -1, hertzScale, ratioScale, 1.0f);
    return springs != NULL ? (int)jnSprings_SetTuning(springs, hertzScale, ratioScale, NULL, NULL, &lastError) : 0;
}

int EXPORT(jnwSetStrength)(jnwCharacter* c, float strength)
{
    int result = (int)jnCharacter_SetStrength(c->character, -1, strength, &lastError);
    c->strength = result == jn_ok ? strength : c->strength;
    return result;
}

void EXPORT(jnwSetForce)(jnwCharacter* c, float x, float y, float z)
{
    jnCharacter_SetForce(c->character, (float[3]){x, y, z});
}

void EXPORT(jnwSetInertia)(jnwCharacter* c, float translation, float rotation)
{
    jnCharacter_SetInertia(c->character, translation, rotation);
}

void EXPORT(jnwSetCap)(jnwCharacter* c, float distance)
{
    jnCharacter_SetCap(c->character, distance);
}

void EXPORT(jnwScaleModeCaps)(jnwCharacter* c, float scale)
{
    jnCharacter_ScaleModeCaps(c->character, scale);
}

void EXPORT(jnwAddImpulse)(jnwCharacter* c, float x, float y, float z, float radius, float vx, float vy, float vz)
{
    jnCharacter_AddImpulseSphere(c->character, (float[3]){x, y, z}, radius, (float[3]){vx, vy, vz});
}

double EXPORT(jnwResetCount)(jnwCharacter* c)
{
    return (double)jnCharacter_ResetCount(c->character);
}
