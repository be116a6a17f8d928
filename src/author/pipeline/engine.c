// The engine; see engine.h.
#include "pipeline/engine.h"

#include "base/clock.h"
#include "base/try.h"

jnResult jnaStageKind_IsStale(
    const jnaStageKind* kind, const jnaStageRun* run, bool* stale, char* reason, jnError* error)
{
    jnaStage stage = {.name = kind->name};
    *stale = true;
    jnResult result = jn_ok;
    JN_TRY(kind->describe(run, &stage, error));
    JN_TRY(jnaStage_IsStale(run->workspace->path, &stage, stale, reason, error));
done:
    jnaDestroyStage(&stage);
    return result;
}

jnResult jnaStageKind_Run(const jnaStageKind* kind, jnaStageRun* run, jnError* error)
{
    const char* path = run->workspace->path;
    double started = jnaWallClock();
    jnaStage stage = {.name = kind->name};
    jnResult result = jn_ok;
    JN_TRY(kind->describe(run, &stage, error));
    run->made = run->force;
    if (!run->force) {
        JN_TRY(jnaStage_IsStale(path, &stage, &run->made, NULL, error));
    }
    if (run->made) {
        result = kind->run(run, error);
        jnaWorkspace_Forget(run->workspace); // what a failed run left is not what was loaded either
        JN_TRY(result);
        stage.seconds = jnaWallClock() - started;
        JN_TRY(jnaStage_Record(path, &stage, error));
    }
done:
    jnaDestroyStage(&stage);
    return result;
}
