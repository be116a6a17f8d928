// How far modes of motion may move the skin; see modes/caps.c. There is no volume to measure the flesh in: its
// thickness is taken as the distance to the skeleton. What the motion shows is true whatever the skeleton says: the
// reach of a vertex is never below what it does there, with the room that the runtime's law needs to leave it alone.
#include "learn/modal_fit.h"

#include "base/try.h"

#include <math.h>

// The law that limits a mode begins to bend at this part of its cap.
#define KNEE 0.7

// What each vertex does in the motion, and the largest amplitude of each mode.
static jnResult LookAt(const jnaDataModesDef* def, const jnaModalSequence* s, const jnaModes* m, jnaArena* arena,
    float* farthest, double* peaks, jnError* error)
{
    size_t modes = (size_t)m->modeCount;
    double* amplitudes = jnaArena_Take(arena, (int64_t)s->frameCount * m->modeCount, sizeof(double));
    JN_PASS(jnaArena_Check(arena, "the caps of modes", error));
    JN_PASS(jnaModes_Observe(m, def->character, s, amplitudes, error));
    for (size_t i = 0; i < (size_t)s->frameCount * modes; ++i) {
        peaks[i % modes] = fmax(peaks[i % modes], fabs(amplitudes[i]));
    }
    for (size_t i = 0; i < (size_t)s->frameCount * (size_t)s->vertexCount; ++i) {
        double square = 0;
        for (size_t a = 0; a < 3; ++a) {
            square += pow((double)s->motion[3 * i + a] - (double)s->targets[3 * i + a], 2);
        }
        float* most = &farthest[i % (size_t)s->vertexCount];
        *most = fmaxf(*most, (float)sqrt(square));
    }
    return jn_ok;
}

jnResult jnaCapDataModes(const jnaDataModesDef* def, double ofFlesh, double metres, jnaModes* m, jnError* error)
{
    jnResult result = jn_ok;
    jnaArena arena = {0};
    const jnaCharacter* c = def->character;
    float* reach = jnaArena_Take(&arena, c->vertexCount, sizeof(float));
    float* farthest = jnaArena_Take(&arena, c->vertexCount, sizeof(float));
    double* peaks = jnaArena_Take(&arena, m->modeCount, sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the caps of modes", error));
    for (int s = 0; s < def->sequenceCount; ++s) {
        JN_TRY(LookAt(def, &def->sequences[s], m, &arena, farthest, peaks, error));
    }
    jnaFindSkeletonReach(c, reach);
    for (int v = 0; v < c->vertexCount; ++v) {
        double thick = fmax(ofFlesh * (double)reach[v], (double)farthest[v] / KNEE);
        reach[v] = (float)(ofFlesh > 0 ? thick : metres);
    }
    JN_TRY(jnaModes_SetBound(m, c, ofFlesh > 0 || metres > 0 ? reach : NULL, error));
done:
    jnaReleaseArena(&arena);
    return result;
}
