// What jounce build and jounce demo share: a build with its plan and one line of progress.
#pragma once

#include "pipeline/build.h"

/// Runs a build. Prints the plan first and a line per stage in the end, unless quiet. Returns an exit code.
int jncRunBuild(const char* workspace, jnaBuildDef def, bool quiet);
