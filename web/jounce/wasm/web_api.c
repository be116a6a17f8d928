// The runtime as a WebAssembly module: flat functions over handles, numbers and addresses in the module's memory.
//
// JavaScript cannot build C structs at ease, so what it has to know of an asset or a character is laid out as a table
// of 32-bit words; words.h names them, for both sides. Tables and the last error are static: the module has one thread.
// Everything else is the C library as it is.
#include "jounce/jounce.h"
#include "network.h"
#include "rig.h"
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
    float* targets;      // [targetCount], weights of the source's morph targets, by jnwSampleClip
    float* weights;      // [weightCount], by every step
    float* weightRates;  // as weights, where they are asked for
    float* modeTuning;   // [2][modeCount], stiffness and damping as they are tuned
    float* state;        // [2][springCount][3], by jnwReadState; NULL before
    float* felt;         // [3][vertexCount], by jnwReadModes; NULL before
    double origin[3];    // of the pose in a larger world
    jnTransform root;
    float strength;
    float* jointStrengths;  // [jointCount]
    float* vertexStrengths; // [springCount]; NULL: none
    float* loop;            // [loopFrames] poses of a motion that repeats, while they are collected
    jnPose* poses;          // [loopFrames] of them, for the library
    jnTransform* roots;
    int loopFrames;
} jnwCharacter;

// Characters that are stepped at once. Arrays that JavaScript writes, [count] each.
typedef struct jnwCrowd {
    int count;
    jnwCharacter** members;
    float* seconds;      // of each one's step
    uint32_t* teleports; // jnTeleport of each
    float* weights;      // [count][weightCount]
    double* times;       // in a clip, for jnwSampleCrowd
    float* matrices;     // [count][jointCount][12], by jnwPoseCrowd
    double* globals;     // [jointCount][12], scratch
    jnCharacter** characters;
    jnCharacterInput* inputs;
    jnCharacterOutput* outputs;
} jnwCrowd;

// As jnCharacterDef; -1: as the asset says.
typedef struct jnwCharacterDef {
    int32_t timing, curve, start, detail, components, modes, weightsOnly;
} jnwCharacterDef;

enum { WANT_POSITIONS = 1, WANT_NORMALS = 2, WANT_VELOCITIES = 4, WANT_RATES = 8 };
enum { TABLE_SIZE = 48 };
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

static void DropLoop(jnwCharacter* c)
{
    free(c->loop);
    free(c->poses);
    free(c->roots);
    c->loop = NULL;
    c->poses = NULL;
    c->roots = NULL;
    c->loopFrames = 0;
}

void EXPORT(jnwDestroyCharacter)(jnwCharacter* c)
{
    if (c != NULL) {
        jnDestroyCharacter(c->character);
        DropLoop(c);
        free(c->state);
        free(c->felt);
        free(c->vertexStrengths);
        free(c->rotations);
    }
    free(c);
}

// A pose's arrays in one block: the rest pose in all but the matrices, which are of no use until they are written.
static bool MakePose(jnwCharacter* c, const jnAsset* a)
{
    size_t joints = (size_t)a->jointCount, modes = a->modes != NULL ? (size_t)a->modes->modeCount : 0;
    size_t weights = (size_t)a->weightCount;
    float* memory =
        calloc(joints * (4 + 3 + 3 + 12 + 1) + 2 * modes + 2 * weights + (size_t)a->targetCount, sizeof(float));
    if (memory == NULL) {
        return false;
    }
    c->rotations = memory;
    c->translations = memory + 4 * joints;
    c->scales = memory + 7 * joints;
    c->matrices = memory + 10 * joints;
    c->modeTuning = memory + 22 * joints;
    c->weights = c->modeTuning + 2 * modes;
    c->weightRates = c->weights + weights;
    c->jointStrengths = c->weightRates + weights;
    c->targets = c->jointStrengths + joints;
    for (int t = 0; t < a->targetCount; ++t) {
        c->targets[t] = a->targets[t].weight;
    }
    for (size_t j = 0; j < joints; ++j) {
        c->jointStrengths[j] = 1.0f;
        memcpy(c->rotations + 4 * j, a->joints[j].rotation, 4 * sizeof(float));
        memcpy(c->translations + 3 * j, a->joints[j].translation, 3 * sizeof(float));
        memcpy(c->scales + 3 * j, a->joints[j].scale, 3 * sizeof(float));
    }
    return true;
}

static bool AreScales(float hertzScale, float ratioScale, float gainScale)
{
    bool good = hertzScale >= 0.0f && ratioScale >= 0.0f && hertzScale < HUGE_VALF && ratioScale < HUGE_VALF &&
                gainScale > -HUGE_VALF && gainScale < HUGE_VALF;
    if (!good) {
        lastError = (jnError){jn_badArgument, "scales of modes are finite, those of frequency and ratio not negative"};
    }
    return good;
}

static void NoteTuning(jnwCharacter* c, int k, float hertzScale, float ratioScale)
{
    const jnAssetModes* modes = jnCharacter_Asset(c->character)->modes;
    c->modeTuning[k] = modes->modes[k].stiffness * hertzScale * hertzScale;
    c->modeTuning[modes->modeCount + k] = modes->modes[k].damping * hertzScale * ratioScale;
}

// One mode by its number. Returns 1; 0 where there is no such mode, or -1 where a scale is of no use.
int EXPORT(jnwTuneMode)(jnwCharacter* c, int mode, float hertzScale, float ratioScale, float gainScale)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    if (!AreScales(hertzScale, ratioScale, gainScale)) {
        return -1;
    }
    if (a->modes != NULL && mode >= 0 && mode < a->modes->modeCount) {
        NoteTuning(c, mode, hertzScale, ratioScale);
    }
    return jnCharacter_TuneMode(c->character, mode, hertzScale, ratioScale, gainScale);
}

// Modes that live at a joint (-1: all). Returns how many those are, or -1 where a scale is of no use.
int EXPORT(jnwTuneModes)(jnwCharacter* c, int joint, float hertzScale, float ratioScale, float gainScale)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    if (!AreScales(hertzScale, ratioScale, gainScale)) {
        return -1;
    }
    for (int k = 0; a->modes != NULL && k < a->modes->modeCount; ++k) {
        if (joint < 0 || a->modes->modes[k].joint == joint) {
            NoteTuning(c, k, hertzScale, ratioScale);
        }
    }
    return jnCharacter_TuneModes(c->character, joint, hertzScale, ratioScale, gainScale);
}

jnwCharacter* EXPORT(jnwCreateCharacter)(const jnAsset* a, const jnwCharacterDef* given)
{
    jnwCharacter* c = calloc(1, sizeof(*c));
    if (c == NULL || !MakePose(c, a)) {
        free(c);
        lastError = (jnError){jn_outOfMemory, "no memory for the character"};
        return NULL;
    }
    jnCharacterDef def = jnDefaultCharacterDef(a);
    def.timing = given->timing >= 0 ? (jnTiming)given->timing : def.timing;
    def.curve = given->curve >= 0 ? (jnCurve)given->curve : def.curve;
    def.start = given->start >= 0 ? (jnStart)given->start : def.start;
    def.detail = given->detail >= 0 ? (jnDetail)given->detail : def.detail;
    def.components = given->components;
    def.modes = given->modes;
    def.weightsOnly = given->weightsOnly != 0;
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
    jnAsset_SampleTargets(jnCharacter_Asset(c->character), clip, seconds, c->targets);
}

static jnPose PoseOf(const jnwCharacter* c, int usesMatrices)
{
    bool moved = c->origin[0] != 0.0 || c->origin[1] != 0.0 || c->origin[2] != 0.0;
    return (jnPose){
        .rotations = c->rotations,
        .translations = c->translations,
        .scales = c->scales,
        .matrices = usesMatrices ? c->matrices : NULL,
        .root = &c->root,
        .origin = moved ? c->origin : NULL,
        .targets = c->targets,
    };
}

static jnCharacterOutput OutputOf(const jnwCharacter* c, const jnwSurface* surface, int wants)
{
    return (jnCharacterOutput){
        .weights = c->weights,
        .weightRates = wants & WANT_RATES ? c->weightRates : NULL,
        .positions = surface != NULL && (wants & WANT_POSITIONS) ? surface->positions : NULL,
        .normals = surface != NULL && (wants & WANT_NORMALS) ? surface->normals : NULL,
        .velocities = surface != NULL && (wants & WANT_VELOCITIES) ? surface->velocities : NULL,
    };
}

// The surface of a pose alone: weights stay those of the motion.
static jnCharacterOutput StillOutput(const jnwCharacter* c, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(c, surface, wants & ~(WANT_VELOCITIES | WANT_RATES));
    output.weights = NULL;
    return output;
}

void EXPORT(jnwStep)(jnwCharacter* c, float h, int teleport, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnCharacterInput input = {.h = h, .pose = PoseOf(c, usesMatrices), .teleport = (jnTeleport)teleport};
    jnCharacterOutput output = OutputOf(c, surface, wants);
    jnCharacter_Step(c->character, &input, &output);
}

void EXPORT(jnwReset)(jnwCharacter* c, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnCharacterInput input = {.pose = PoseOf(c, usesMatrices)};
    jnCharacterOutput output = OutputOf(c, surface, wants);
    jnCharacter_Reset(c->character, &input, &output);
}

void EXPORT(jnwDestroyCrowd)(jnwCrowd* crowd)
{
    if (crowd != NULL) {
        free(crowd->members);
        free(crowd->seconds);
        free(crowd->times);
        free(crowd->inputs);
    }
    free(crowd);
}

// Room for so many characters of an asset. JavaScript writes the members.
jnwCrowd* EXPORT(jnwCreateCrowd)(const jnAsset* a, int count)
{
    size_t n = count > 0 ? (size_t)count : 1, matrices = 12 * (size_t)a->jointCount;
    size_t floats = 2 + (size_t)a->weightCount + matrices;
    jnwCrowd* crowd = calloc(1, sizeof(*crowd));
    if (crowd == NULL || n > SIZE_MAX / 16 / floats) {
        free(crowd);
        return NULL;
    }
    crowd->count = count;
    crowd->members = calloc(2 * n, sizeof(void*));
    crowd->seconds = calloc(n * floats, sizeof(float));
    crowd->times = calloc(n + matrices, sizeof(double));
    crowd->inputs = calloc(n, sizeof(jnCharacterInput) + sizeof(jnCharacterOutput));
    if (crowd->members == NULL || crowd->seconds == NULL || crowd->times == NULL || crowd->inputs == NULL) {
        jnwDestroyCrowd(crowd);
        return NULL;
    }
    crowd->characters = (jnCharacter**)(crowd->members + n);
    crowd->teleports = (uint32_t*)(crowd->seconds + n);
    crowd->matrices = crowd->seconds + 2 * n;
    crowd->weights = crowd->matrices + n * matrices;
    crowd->globals = crowd->times + n;
    crowd->outputs = (jnCharacterOutput*)(crowd->inputs + n);
    return crowd;
}

const uint32_t* EXPORT(jnwDescribeCrowd)(const jnwCrowd* crowd)
{
    const uint32_t words[] = {JNW_CROWD_WORDS(VALUE)};
    memcpy(table, words, sizeof(words));
    return table;
}

// Poses of a clip for the first `count` members, each at its own time.
void EXPORT(jnwSampleCrowd)(jnwCrowd* crowd, int count, int clip)
{
    for (int i = 0; i < count; ++i) {
        jnwSampleClip(crowd->members[i], clip, crowd->times[i]);
    }
}

// The matrices that skin the rest surface in the pose at hand, [jointCount][12]. globals: scratch of that size.
void EXPORT(jnwSkinMatrices)(jnwCharacter* c, int usesMatrices, double* globals, float* matrices)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    jnPose pose = PoseOf(c, usesMatrices);
    if (jnMakeGlobals(a, &pose, globals)) {
        jnToSurface(a, globals);
        for (size_t k = 0; k < 12 * (size_t)a->jointCount; ++k) {
            matrices[k] = (float)globals[k];
        }
    }
}

// The same of a crowd.
void EXPORT(jnwPoseCrowd)(jnwCrowd* crowd, int count, int usesMatrices)
{
    for (int i = 0; i < count; ++i) {
        size_t floats = 12 * (size_t)jnCharacter_Asset(crowd->members[i]->character)->jointCount;
        jnwSkinMatrices(crowd->members[i], usesMatrices, crowd->globals, crowd->matrices + (size_t)i * floats);
    }
}

// Steps the first `count` members, weights alone.
void EXPORT(jnwStepCrowd)(jnwCrowd* crowd, int count, int usesMatrices)
{
    for (int i = 0; i < count; ++i) {
        const jnwCharacter* c = crowd->members[i];
        const jnAsset* a = jnCharacter_Asset(c->character);
        size_t weights = (size_t)a->weightCount;
        crowd->characters[i] = c->character;
        crowd->inputs[i] = (jnCharacterInput){
            .h = crowd->seconds[i], .pose = PoseOf(c, usesMatrices), .teleport = (jnTeleport)crowd->teleports[i]};
        crowd->outputs[i] = (jnCharacterOutput){.weights = crowd->weights + (size_t)i * weights};
    }
    jnStepCharacters(crowd->characters, crowd->inputs, crowd->outputs, count);
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
    jnCharacterOutput output = StillOutput(c, surface, wants);
    jnCharacter_Skin(c->character, &pose, &output);
}

// The surface that the pose alone gives: skeleton and network.
void EXPORT(jnwTarget)(jnwCharacter* c, int usesMatrices, const jnwSurface* surface, int wants)
{
    jnPose pose = PoseOf(c, usesMatrices);
    jnCharacterOutput output = StillOutput(c, surface, wants);
    jnCharacter_Target(c->character, &pose, &output);
}

void EXPORT(jnwEvaluate)(jnwCharacter* c, float fraction, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(c, surface, wants);
    jnCharacter_Evaluate(c->character, fraction, &output);
}

// Shows the motion as it was set.
static void ShowMotion(jnwCharacter* c)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    if (springs != NULL) {
        (void)jnSprings_SetStrength(springs, c->strength, c->vertexStrengths, NULL);
        return;
    }
    for (int j = 0; j < jnCharacter_Asset(c->character)->jointCount; ++j) {
        (void)jnCharacter_SetStrength(c->character, j, c->jointStrengths[j], NULL);
    }
}

// What the springs hang on, at a fraction of the last interval: the motion shown without its offset.
void EXPORT(jnwEvaluateTarget)(jnwCharacter* c, float fraction, const jnwSurface* surface, int wants)
{
    (void)jnCharacter_SetStrength(c->character, -1, 0.0f, NULL);
    jnwEvaluate(c, fraction, surface, wants);
    ShowMotion(c);
}

void EXPORT(jnwSettle)(jnwCharacter* c, double seconds, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(c, surface, wants);
    jnCharacter_Settle(c->character, seconds, &output);
}

void EXPORT(jnwFinish)(jnwCharacter* c, const jnwSurface* surface, int wants)
{
    jnCharacterOutput output = OutputOf(c, surface, wants);
    jnCharacter_Finish(c->character, &output);
}

// A motion that repeats is collected pose by pose: begin, every pose once, solve.
int EXPORT(jnwBeginLoop)(jnwCharacter* c, int frames)
{
    size_t floats = 22 * (size_t)jnCharacter_Asset(c->character)->jointCount, n = frames > 0 ? (size_t)frames : 1;
    DropLoop(c);
    bool fits = n <= SIZE_MAX / sizeof(float) / floats;
    c->loop = fits ? malloc(n * floats * sizeof(float)) : NULL;
    c->poses = fits ? calloc(n, sizeof(jnPose)) : NULL;
    c->roots = fits ? calloc(n, sizeof(jnTransform)) : NULL;
    if (c->loop == NULL || c->poses == NULL || c->roots == NULL) {
        DropLoop(c);
        lastError = (jnError){jn_outOfMemory, "no memory for the poses of the loop"};
        return -1;
    }
    c->loopFrames = frames;
    return 0;
}

void EXPORT(jnwTakeLoopPose)(jnwCharacter* c, int frame, int usesMatrices)
{
    size_t joints = (size_t)jnCharacter_Asset(c->character)->jointCount;
    float* to = c->loop + 22 * joints * (size_t)frame;
    memcpy(to, c->rotations, 22 * joints * sizeof(float)); // rotations, translations, scales, matrices
    c->roots[frame] = c->root;
    c->poses[frame] = (jnPose){
        .rotations = to,
        .translations = to + 4 * joints,
        .scales = to + 7 * joints,
        .matrices = usesMatrices ? to + 10 * joints : NULL,
        .root = &c->roots[frame],
    };
}

// Springs that have no such motion, or -1 and a message.
int EXPORT(jnwSolveLoop)(jnwCharacter* c, float h)
{
    int unsolved = 0;
    jnCharacterLoop loop = {.poses = c->poses, .frameCount = c->loopFrames, .h = h};
    jnResult result = jnCharacter_SolveLoop(c->character, &loop, &unsolved, &lastError);
    DropLoop(c);
    return result == jn_ok ? unsolved : -1;
}

size_t EXPORT(jnwSnapshotSize)(const jnwCharacter* c)
{
    return jnCharacter_SnapshotSize(c->character);
}

void EXPORT(jnwSave)(const jnwCharacter* c, void* snapshot)
{
    jnCharacter_Save(c->character, snapshot);
}

int EXPORT(jnwRestore)(jnwCharacter* c, const void* snapshot, size_t size)
{
    return (int)jnCharacter_Restore(c->character, snapshot, size, &lastError);
}

// Offsets and velocities of the vertices' own springs, [2][springCount][3]; NULL: no memory.
const float* EXPORT(jnwReadState)(jnwCharacter* c)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    size_t floats = 3 * (size_t)MovingCount(jnCharacter_Asset(c->character));
    c->state = c->state != NULL ? c->state : calloc(2 * floats + 1, sizeof(float));
    if (springs != NULL && c->state != NULL) {
        jnSprings_GetState(springs, c->state, c->state + floats);
    }
    return c->state;
}

// What a morph weight of 1 adds to the rest surface, in the file's order, [fileVertexCount][3].
void EXPORT(jnwMorphDeltas)(const jnAsset* a, int weight, float* deltas)
{
    jnAsset_MorphDeltas(a, weight, false, deltas);
}

// The same for the vertices that move by more than `least` metres; returns how many. vertices NULL: only counts.
int EXPORT(jnwSparseMorph)(const jnAsset* a, int weight, float least, int32_t* vertices, float* deltas)
{
    return jnAsset_SparseMorph(a, weight, false, least, vertices, deltas);
}

// The modes as each vertex feels them: stiffness (the harmonic mean, weighed by how much each mode moves the vertex),
// damping (weighed by that over the stiffness), and the share of the modes that live at a joint. 0 where no mode moves.
// Returns [3][vertexCount]; NULL: no modes, or no memory.
const float* EXPORT(jnwReadModes)(jnwCharacter* c, int joint)
{
    const jnAsset* a = jnCharacter_Asset(c->character);
    size_t vertices = (size_t)a->vertexCount;
    c->felt = c->felt != NULL || a->modes == NULL ? c->felt : malloc(3 * vertices * sizeof(float));
    float* deltas = c->felt != NULL ? malloc(7 * vertices * sizeof(float)) : NULL;
    if (deltas == NULL) {
        return NULL;
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
    return c->felt;
}

void EXPORT(jnwSetLevel)(jnwCharacter* c, int components, int modes, float seconds)
{
    jnCharacter_SetLevel(c->character, components, modes, seconds);
}

void EXPORT(jnwSetNetworkStrength)(jnwCharacter* c, float strength)
{
    jnCharacter_SetNetworkStrength(c->character, strength);
}

// The settings answer 0 where they were taken; otherwise jnwMessage says why not. Arrays are [springCount]; NULL: none.
int EXPORT(jnwSetTuning)(
    jnwCharacter* c, float hertzScale, float ratioScale, const float* hertzScales, const float* ratioScales)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    jnwTuneModes(c, -1, hertzScale, ratioScale, 1.0f);
    return springs != NULL
               ? (int)jnSprings_SetTuning(springs, hertzScale, ratioScale, hertzScales, ratioScales, &lastError)
               : 0;
}

int EXPORT(jnwSetParameters)(jnwCharacter* c, const float* stiffness, const float* damping)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    if (springs == NULL) {
        lastError = (jnError){jn_badArgument, "the asset has no springs of single vertices; tuneModes tunes modes"};
        return (int)jn_badArgument;
    }
    return (int)jnSprings_SetParameters(springs, stiffness, damping, &lastError);
}

// Strength by vertex; the array is kept, from jnwAllocate.
static int SetStrengths(jnwCharacter* c, float strength, const float* strengths)
{
    jnSprings* springs = jnCharacter_Springs(c->character);
    size_t size = springs != NULL ? (size_t)jnSprings_Count(springs) * sizeof(float) : 0;
    float* kept = springs != NULL ? malloc(size) : NULL;
    if (kept == NULL) {
        lastError = springs == NULL ? (jnError){jn_badArgument, "strength by vertex needs springs of single vertices"}
                                    : (jnError){jn_outOfMemory, "no memory for strengths"};
        return (int)lastError.code;
    }
    memcpy(kept, strengths, size);
    int result = (int)jnSprings_SetStrength(springs, strength, kept, &lastError);
    free(result == jn_ok ? c->vertexStrengths : kept);
    c->vertexStrengths = result == jn_ok ? kept : c->vertexStrengths;
    c->strength = result == jn_ok ? strength : c->strength;
    return result;
}

int EXPORT(jnwSetStrength)(jnwCharacter* c, int joint, float strength, const float* strengths)
{
    if (strengths != NULL) {
        return SetStrengths(c, strength, strengths);
    }
    int result = (int)jnCharacter_SetStrength(c->character, joint, strength, &lastError);
    for (int j = 0; result == jn_ok && j < jnCharacter_Asset(c->character)->jointCount; ++j) {
        c->jointStrengths[j] = joint < 0 || joint == j ? strength : c->jointStrengths[j];
    }
    if (result == jn_ok && joint < 0) {
        c->strength = strength;
        free(c->vertexStrengths);
        c->vertexStrengths = NULL;
    }
    return result;
}

void EXPORT(jnwSetTeleportThreshold)(jnwCharacter* c, float distance, int teleport)
{
    jnCharacter_SetTeleportThreshold(c->character, distance, (jnTeleport)teleport);
}

// mask: [springCount]; NULL: all move.
void EXPORT(jnwSetMask)(jnwCharacter* c, const uint8_t* mask)
{
    jnCharacter_SetMask(c->character, mask);
}

void EXPORT(jnwAddImpulseAt)(jnwCharacter* c, int vertex, float vx, float vy, float vz)
{
    jnCharacter_AddImpulse(c->character, vertex, (float[3]){vx, vy, vz});
}

double EXPORT(jnwBadPoseCount)(jnwCharacter* c)
{
    return (double)jnCharacter_BadPoseCount(c->character);
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
