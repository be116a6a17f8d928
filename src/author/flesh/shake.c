// A clip that shakes a character; see poses.h.
//
// The numbers of a mode can only be learned from motion that drives the mode. Clips of a few movements do not drive all
// of them: in jumping jacks a belly hardly swings sideways. A shake does, in every direction, for a second or two, and
// what is learned from it holds in all clips.
//
// Each of the six ways to move a rigid body is a sum of sines of equal acceleration, from a few seconds a period to
// well above the slowest mode. They begin smoothly: the first frame is the pose at rest.
#include "flesh/poses.h"

#include "base/affine.h"
#include "base/random.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum { WAYS = 6, TONES = 12 };
// Root mean square of the acceleration: in metres per second squared along x, y and z; and of points as far from the
// middle as TURNED_AT of the character's largest side, about x, y and z. A trunk turns about its own axis faster than
// it nods.
static const double accelerations[WAYS] = {8, 10, 8, 3, 7.5, 3};
#define TURNED_AT 0.18
// Hertz of the slowest sine, and of the fastest as a multiple of the lowest mode; never faster than frames can show.
#define SLOWEST 0.8
#define FASTEST 2.2
#define FRAMES_A_PERIOD 4.3
// Seconds until it shakes in full.
#define RISE 0.4

typedef struct Tone {
    double omega, phase, size;
} Tone;

jnaShakeDef jnaDefaultShakeDef(const jnaCharacter* character, const float* pose)
{
    return (jnaShakeDef){
        .character = character, .pose = pose, .rate = 30, .frameCount = 60, .lowestHertz = 3, .turns = true, .seed = 1};
}

// Middle and largest side of the character at rest.
static double Measure(const jnaCharacter* c, double middle[3])
{
    double size = 0;
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int v = 0; v < c->vertexCount; ++v) {
            low = fmin(low, (double)c->positions[3 * (size_t)v + (size_t)i]);
            high = fmax(high, (double)c->positions[3 * (size_t)v + (size_t)i]);
        }
        middle[i] = 0.5 * (low + high);
        size = fmax(size, high - low);
    }
    return size;
}

static double Draw(uint64_t* state)
{
    return (double)(jnaNextBits(state) >> 11) * 0x1p-53;
}

// One tone in each of equal bands. size: largest side of the character.
static void MakeTones(const jnaShakeDef* def, double size, Tone tones[WAYS][TONES])
{
    uint64_t state = def->seed;
    double fastest = fmin(FASTEST * fmax(def->lowestHertz, SLOWEST), def->rate / FRAMES_A_PERIOD);
    double slowest = fmin(SLOWEST, 0.25 * fastest);
    for (int i = 0; i < WAYS * TONES; ++i) {
        int way = i / TONES;
        Tone* tone = &tones[way][i % TONES];
        double arm = way < 3 ? 1 : TURNED_AT * size;
        tone->omega = JNA_TURN * (slowest + (fastest - slowest) * (i % TONES + Draw(&state)) / TONES);
        tone->phase = JNA_TURN * Draw(&state);
        tone->size = accelerations[way] / arm * sqrt(2.0 / TONES) / (tone->omega * tone->omega);
    }
}

// How far it is moved and turned at a time.
static void MoveAt(const jnaShakeDef* def, Tone tones[WAYS][TONES], double time, double moves[WAYS])
{
    double rise = fmin(time / RISE, 1), share = rise * rise * (3 - 2 * rise);
    for (int way = 0; way < WAYS; ++way) {
        moves[way] = 0;
        for (int k = 0; k < TONES && (way < 3 || def->turns); ++k) {
            const Tone* tone = &tones[way][k];
            moves[way] += share * tone->size * sin(tone->omega * time + tone->phase);
        }
    }
}

// Moves a root joint by `moves`, turned about the middle.
static void MoveRoot(const double middle[3], const double moves[WAYS], float* rotation, float* translation)
{
    double angle = jnaLength(moves + 3), scale = angle > 1e-12 ? sin(0.5 * angle) / angle : 0.5;
    double turn[4] = {scale * moves[3], scale * moves[4], scale * moves[5], cos(0.5 * angle)}, q[4], d[3];
    for (int i = 0; i < 4; ++i) {
        q[i] = (double)rotation[i];
    }
    jnaQuat_Multiply(turn, q, q);
    jnaQuat_Normalize(q);
    for (int i = 0; i < 3; ++i) {
        d[i] = (double)translation[i] - middle[i];
    }
    jnaQuat_Rotate(turn, d, d);
    for (int i = 0; i < 4; ++i) {
        rotation[i] = (float)q[i];
    }
    for (int i = 0; i < 3; ++i) {
        translation[i] = (float)(middle[i] + d[i] + moves[i]);
    }
}

jnResult jnaCreateShake(const jnaShakeDef* def, jnaClip* clip, jnError* error)
{
    const jnaCharacter* c = def->character;
    size_t joints = (size_t)c->jointCount;
    *clip = (jnaClip){.name = "shake", .rate = def->rate, .frameCount = def->frameCount, .jointCount = c->jointCount};
    JN_PASS(jnaClip_Allocate(clip, false, error));
    double middle[3], size = Measure(c, middle);
    Tone tones[WAYS][TONES];
    MakeTones(def, size, tones);
    for (int f = 0; f < def->frameCount; ++f) {
        float* rotations = clip->rotations + 4 * joints * (size_t)f;
        float* translations = clip->translations + 3 * joints * (size_t)f;
        double moves[WAYS];
        MoveAt(def, tones, f / def->rate, moves);
        memcpy(rotations, def->pose, 4 * joints * sizeof(float));
        for (size_t j = 0; j < joints; ++j) {
            memcpy(translations + 3 * j, c->joints[j].translation, 3 * sizeof(float));
            if (c->joints[j].parent < 0) {
                MoveRoot(middle, moves, rotations + 4 * j, translations + 3 * j);
            }
        }
    }
    return jn_ok;
}
