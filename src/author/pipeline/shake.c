// See shake.h.
#include "pipeline/shake.h"

#include "base/affine.h"
#include "base/bounds.h"
#include "base/path.h"
#include "base/try.h"
#include "flesh/poses.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void jnaShakeFolder(int shake, char folder[JNA_NAME_LENGTH + 16])
{
    snprintf(folder, JNA_NAME_LENGTH + 16, "shake/%d", shake + 1);
}

jnResult jnaMakeShake(jnaWorkspace* w, int shake, jnaClip* clip, jnError* error)
{
    const jnaCharacter* character;
    const jnaModes* modes;
    const double* gravity = w->manifest.flesh.gravity;
    JN_PASS(jnaWorkspace_Character(w, &character, error));
    JN_PASS(jnaWorkspace_Modes(w, &modes, error));
    jnaShakeDef def = jnaDefaultShakeDef(character, modes->pose);
    def.rate = w->manifest.rate;
    def.frameCount = (int)fmax(ceil(w->manifest.springs.shake * def.rate), 8);
    def.lowestHertz = modes->modeCount > 0 ? sqrt(modes->stiffness[0]) / JNA_TURN : def.lowestHertz;
    def.turns = gravity[0] == 0 && gravity[1] == 0 && gravity[2] == 0;
    def.seed = (uint64_t)shake + 1;
    return jnaCreateShake(&def, clip, error);
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
    s->sequence = (jnaModalSequence){.frameCount = s->clip.frameCount,
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
