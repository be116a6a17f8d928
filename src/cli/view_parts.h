// What `jounce view` does besides serving: a bare model becomes a workspace, and the page becomes a folder.
#pragma once

#include "view/server.h"

#include <stddef.h>

/// Whether a path names a model that `jounce new --from` reads, by its ending.
bool jncIsModel(const char* path);

/// Makes a workspace of a model in a folder of its own below TMPDIR, and builds it until it has flesh on its modes.
/// Prints the progress of both verbs. folder: [size], what jncRemoveModelWorkspace takes; workspace: [size], inside it.
/// Returns JNC_DONE or the code of the verb that failed, which has said why.
int jncMakeModelWorkspace(const char* model, char* folder, char* workspace, size_t size);
void jncRemoveModelWorkspace(const char* folder); // "" is allowed

/// Writes documents as files below a folder, which is made where it is not there.
jnResult jncWriteDocuments(const char* folder, const jnaDocument* documents, int count, jnError* error);
