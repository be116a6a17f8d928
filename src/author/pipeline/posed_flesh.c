// See posed_flesh.h.
#include "pipeline/posed_flesh.h"

#include "base/try.h"
#include "flesh/poses.h"
#include "pipeline/take_frames.h"
#include "workspace/clip_parts.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

void jnaDestroyFleshPose(jnaFleshPose* p)
{
    free(p->rotations);
    free(p->turns);
    free(p->nodes);
    *p = (jnaFleshPose){0};
}

// The mean of the parts to train on. False: there are none.
static jnResult FindPose(jnaWorkspace* w, const jnaCharacter* c, float* rotations, bool* any, jnError* error)
{
    jnaClipParts parts = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCutClips(w, &parts, error));
    jnaClipParts_KeepTraining(&parts);
    *any = parts.count > 0;
    jnaMeanPose(c, parts.count, parts.clips, rotations);
done:
    jnaReleaseArena(&parts.arena);
    return result;
}

static jnResult Solve(jnaWorkspace* w, const jnaCharacter* c, const jnaVolume* v, jnaFleshPose* p, jnError* error)
{
    const jnaPoseSet one = {.count = 1, .jointCount = c->jointCount, .rotations = p->rotations};
    jnaFleshDef def = w->manifest.flesh;
    jnaFleshReport report;
    jnaFlesh* flesh = NULL;
    jnaFleshSolver* solver = NULL;
    jnaTakeFrames frames = {0};
    jnaClip clip = {0};
    jnResult result = jn_ok;
    def.volume = v;
    def.character = c;
    JN_TRY(jnaPoseSet_ToClip(&one, c, &clip, error));
    JN_TRY(jnaMakeTakeFrames(c, &clip, 0, 1, &frames, error));
    memcpy(p->turns, frames.turns, 4 * (size_t)c->jointCount * sizeof(float));
    JN_TRY(jnaCreateFlesh(&def, &flesh, error));
    JN_TRY(jnaCreateFleshSolver(flesh, &solver, error));
    JN_TRY(jnaFleshSolver_Pose(solver, &clip, 0, p->nodes, &report, error));
    p->solved = report.converged;
    memcpy(p->reason, report.reason, sizeof(p->reason));
done:
    jnaDestroyFleshSolver(solver);
    jnaDestroyFlesh(flesh);
    jnaDestroyTakeFrames(&frames);
    jnaDestroyClip(&clip);
    return result;
}

jnResult jnaFindMeanPose(jnaWorkspace* w, jnaFleshPose* p, jnError* error)
{
    const jnaCharacter* c;
    const jnaVolume* v;
    bool any = false;
    jnaArena arena = {0};
    *p = (jnaFleshPose){.reason = "there is nothing to solve"};
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    JN_PASS(jnaWorkspace_Volume(w, &v, error));
    p->rotations = jnaArena_Give(&arena, c->jointCount, 4 * sizeof(float));
    p->turns = jnaArena_Give(&arena, c->jointCount, 4 * sizeof(float));
    p->nodes = jnaArena_Give(&arena, v->nodeCount, 3 * sizeof(double));
    JN_PASS(jnaArena_Check(&arena, "the mean pose", error));
    JN_PASS(FindPose(w, c, p->rotations, &any, error));
    return any && v->nodeCount > 0 ? Solve(w, c, v, p, error) : jn_ok;
}
