// The engine; see engine.h.
#include "pipeline/engine.h"

#include "base/clock.h"

jnResult jnaStageKind_IsStale(
    const jnaStageKind* kind, const jnaStageRun* run, bool* stale, char* reason, jnError* error)
{
    jnaStage stage = {.name = kind->name};
    *stale = true;
    jnResult result = kind->describe(run, &stage, error);
    result = result == jn_ok ? jnaStage_IsStale(run->workspace->path, &stage, stale, reason, error) : result;
    jnaDestroyStage(&stage);
    return result;
}

jnResult jnaStageKind_Run(const jnaStageKind* kind, jnaStageRun* run, jnError* error)
{
    const char* path = run->workspace->path;
    double started = jnaWallClock();
    jnaStage stage = {.name = kind->name};
    jnaWorkspaceLock own = {0}; // of a caller who has not taken it
    jnResult result = run->workspace->lock.file == 0 ? jnaLockWorkspace(path, kind->name, true, &own, error) : jn_ok;
    result = result == jn_ok ? kind->describe(run, &stage, error) : result;
    run->made = run->force;
    if (result == jn_ok && !run->force) {
        result = jnaStage_IsStale(path, &stage, &run->made, NULL, error);
    }
    if (result == jn_ok && run->made) {
        jnaStage_RemoveDamaged(path, &stage);
        result = kind->run(run, error);
        jnaWorkspace_Forget(run->workspace);
        stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(path, &stage, error) : result;
    }
    jnaUnlockWorkspace(&own);
    jnaDestroyStage(&stage);
    return result;
}
