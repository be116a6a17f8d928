// A workspace opened for one call.
#pragma once

#include "helpers/support.h"
#include "pipeline/engine.h"

/// Brings the import of a workspace up to date. imported: whether there was something to do.
static inline jnResult UpdateImport(const char* path, bool* imported, jnError* error)
{
    jnaStageRun run = {0};
    jnResult result = jnaOpenWorkspace(path, &run.workspace, error);
    result = result == jn_ok ? jnaStageKind_Run(&jnaImportStage, &run, error) : result;
    *imported = result == jn_ok && run.made;
    jnaCloseWorkspace(run.workspace);
    return result;
}

/// An opened workspace, or a failed test.
static inline jnaWorkspace* Opened(const char* path)
{
    jnaWorkspace* workspace;
    jnError error = {0};
    if (jnaOpenWorkspace(path, &workspace, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return workspace;
}
