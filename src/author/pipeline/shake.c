// See shake.h.
#include "pipeline/shake.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/bounds.h"
#include "base/path.h"
#include "base/try.h"
#include "flesh/poses.h"
#include "pipeline/takes.h"
#include "workspace/clip_parts.h"
#include "workspace/shapes.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaShakeFolder(int shake, char folder[JNA_NAME_LENGTH + 16])
{
    snprintf(folder, JNA_NAME_LENGTH + 16, "shake/%d", shake + 1);
}

// Shakes in the pose of the modes.
enum { MEAN_SHAKES = 2 };
// How far the other poses are from it, of the way to a frame of a clip: at the very ends of a motion flesh may have no
// room.
#define WAY 0.7
// Frames of the clips that are looked at, about.
enum { CANDIDATES = 400 };

// Where poses are looked for.
typedef struct Search {
    const jnaCharacter* character;
    jnaClipParts parts;
    bool* inChain; // [jointCount], joints that place the body: a pose leaves them at rest
    const float* poses[JNA_SHAKES];
    int poseCount;
} Search;

// How far two poses are apart: the sum of squares of half the angles of their joints, about.
static double DistanceOf(const Search* s, const float* a, const float* b)
{
    double sum = 0;
    for (size_t j = 0; j < (size_t)s->character->jointCount; ++j) {
        const float *p = a + 4 * j, *q = b + 4 * j;
        double dot = (double)p[0] * (double)q[0] + (double)p[1] * (double)q[1] + (double)p[2] * (double)q[2] +
                     (double)p[3] * (double)q[3];
        sum += s->inChain[j] ? 0 : fmax(1 - dot * dot, 0);
    }
    return sum;
}

// The frame of the parts to train on that is farthest from the nearest of the poses so far; the first pose where there
// are none.
static const float* FindFarthest(const Search* s)
{
    const jnaClipParts* parts = &s->parts;
    const float* farthest = s->poses[0];
    int64_t frames = 0;
    double most = 0;
    for (int i = 0; i < parts->count; ++i) {
        frames += parts->clips[i].frameCount;
    }
    for (int i = 0; i < parts->count; ++i) {
        for (int f = 0; f < parts->clips[i].frameCount; f += 1 + (int)(frames / CANDIDATES)) {
            const float* pose = parts->clips[i].rotations + 4 * (size_t)s->character->jointCount * (size_t)f;
            double distance = HUGE_VAL;
            for (int k = 0; k < s->poseCount; ++k) {
                distance = fmin(distance, DistanceOf(s, pose, s->poses[k]));
            }
            farthest = distance > most ? pose : farthest;
            most = fmax(most, distance);
        }
    }
    return farthest;
}

// A part of the way from the mean pose to another. pose: [jointCount][4].
static void Approach(const Search* s, const float* mean, const float* to, float* pose)
{
    for (size_t j = 0; j < (size_t)s->character->jointCount; ++j) {
        const float *from = mean + 4 * j, *end = to + 4 * j;
        double q[4], dot = 0;
        for (int i = 0; i < 4; ++i) {
            dot += (double)from[i] * (double)end[i];
        }
        for (int i = 0; i < 4; ++i) {
            q[i] = (1 - WAY) * (double)from[i] + (dot < 0 ? -WAY : WAY) * (double)end[i];
        }
        jnaQuat_Normalize(q);
        for (size_t i = 0; i < 4; ++i) {
            pose[4 * j + i] = s->inChain[j] ? from[i] : (float)q[i];
        }
    }
}

// The pose of a shake. mean: that of the modes; pose: [jointCount][4].
static jnResult FindPose(
    jnaWorkspace* w, const jnaCharacter* c, const float* mean, int shake, float* pose, jnError* error)
{
    Search s = {.character = c, .poses = {mean}, .poseCount = 1};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    memcpy(pose, mean, 4 * (size_t)c->jointCount * sizeof(float));
    if (shake < MEAN_SHAKES) {
        return jn_ok;
    }
    s.inChain = jnaArena_Take(&arena, c->jointCount, sizeof(bool));
    JN_TRY(jnaArena_Check(&arena, "the pose of a shake", error));
    (void)jnaRootChain(c, s.inChain);
    JN_TRY(jnaCutClips(w, &s.parts, error));
    jnaClipParts_KeepTraining(&s.parts);
    for (; s.poseCount <= shake - MEAN_SHAKES + 1; ++s.poseCount) {
        s.poses[s.poseCount] = FindFarthest(&s);
    }
    Approach(&s, mean, s.poses[s.poseCount - 1], pose);
done:
    jnaReleaseArena(&s.parts.arena);
    jnaReleaseArena(&arena);
    return result;
}

jnResult jnaMakeShake(jnaWorkspace* w, int shake, jnaClip* clip, jnError* error)
{
    const jnaCharacter* character;
    const jnaModes* modes;
    const double* gravity = w->manifest.flesh.gravity;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_PASS(jnaWorkspace_Character(w, &character, error));
    JN_PASS(jnaWorkspace_Modes(w, &modes, error));
    float* pose = jnaArena_Take(&arena, character->jointCount, 4 * sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "the pose of a shake", error));
    JN_TRY(FindPose(w, character, modes->pose, shake, pose, error));
    jnaShakeDef def = jnaDefaultShakeDef(character, pose);
    def.rate = w->manifest.rate;
    def.frameCount = (int)fmax(ceil(w->manifest.springs.shake * def.rate), 8);
    def.lowestHertz = modes->modeCount > 0 ? sqrt(modes->stiffness[0]) / JNA_TURN : def.lowestHertz;
    def.turns = gravity[0] == 0 && gravity[1] == 0 && gravity[2] == 0;
    def.seed = (uint64_t)shake + 1;
    JN_TRY(jnaCreateShake(&def, clip, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

// Frames until the flesh had to begin again.
static jnResult CountMoved(jnaWorkspace* w, const char* folder, int* count, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    uint8_t* states;
    int frames = *count, moved = 0;
    JN_PASS(jnaWorkspace_Path(w, path, error, "%s/dynamic_valid.npy", folder));
    JN_PASS(jnaReadFrameStates(path, frames, &states, error));
    while (states != NULL && moved < frames && states[moved] == jna_poseSolved) {
        moved++;
    }
    *count = states != NULL ? moved : frames;
    free(states);
    return jn_ok;
}

// The equilibrium moves as a whole with the root: every target is the first frame, moved.
static void CarryTargets(const jnaCharacter* c, jnaShake* s)
{
    size_t vertices = (size_t)c->vertexCount;
    const float* first = s->motion.data;
    for (int f = 0; f < s->clip.frameCount; ++f) {
        float* targets = s->targets + 3 * (size_t)f * vertices;
        double m[12];
        jnaRootMotion(c, &s->clip, f, m);
        for (size_t i = 0; i < 3 * vertices; ++i) {
            const float* p = first + 3 * (i / 3);
            const double* row = m + 4 * (i % 3);
            targets[i] = (float)(row[0] * (double)p[0] + row[1] * (double)p[1] + row[2] * (double)p[2] + row[3]);
        }
    }
}

void jnaCloseShake(jnaShake* s)
{
    jnaDestroyClip(&s->clip);
    jnaCloseArray(&s->motion);
    jnaDestroyTakeFrames(&s->frames);
    free(s->targets);
    *s = (jnaShake){0};
}

jnResult jnaOpenShake(jnaWorkspace* w, int shake, jnaShake* s, jnError* error)
{
    char folder[JNA_NAME_LENGTH + 16], path[JNA_PATH_LENGTH];
    const jnaCharacter* c;
    *s = (jnaShake){0};
    jnaShakeFolder(shake, folder);
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    JN_PASS(jnaMakeShake(w, shake, &s->clip, error));
    JN_PASS(jnaWorkspace_Path(w, path, error, "%s/dynamic.npy", folder));
    JN_PASS(jnaOpenPositions(path, &s->motion, error));
    if (s->motion.scalar != jna_float32 || s->motion.dimensions != 3 ||
        s->motion.shape[0] != (size_t)s->clip.frameCount || s->motion.shape[1] != (size_t)c->vertexCount) {
        return jnFail(error, jn_badData, "%s: is not of this character and these modes; jounce simulate --shake", path);
    }
    s->targets = malloc(s->motion.count * sizeof(float));
    if (s->targets == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    CarryTargets(c, s);
    JN_PASS(jnaMakeTakeFrames(c, &s->clip, 0, s->clip.frameCount, &s->frames, error));
    int moved = s->clip.frameCount;
    JN_PASS(CountMoved(w, folder, &moved, error));
    s->sequence = (jnaModalSequence){.frameCount = moved,
        .vertexCount = c->vertexCount,
        .dt = 1 / s->clip.rate,
        .targets = s->targets,
        .rotations = s->frames.rotations,
        .turns = s->frames.turns,
        .matrices = s->frames.matrices,
        .character = c,
        .motion = s->motion.data};
    return jn_ok;
}
