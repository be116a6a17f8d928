// Files that appear whole or not at all: written beside their final name, synced, then renamed.
#pragma once

#include "jounce/base.h"

#include <stdio.h>

/// An output file in the making. Write to `stream`, then commit or abandon.
typedef struct jnaFile {
    FILE* stream;        // buffered; the caller writes here
    char* path;          // final name, owned
    char* temporaryPath; // where the bytes go until the commit, owned
} jnaFile;

/// Opens a temporary file in the folder of `path`. Nothing at `path` changes before the commit.
jnResult jnaCreateFile(const char* path, jnaFile* file, jnError* error);

/// Brings all bytes to the disk. On failure the temporary file is removed. Several files that belong together are all
/// synced before the first is committed.
jnResult jnaFile_Sync(jnaFile* file, jnError* error);

/// Flushes, syncs and renames. On failure the temporary file is removed and `path` is as it was.
jnResult jnaFile_Commit(jnaFile* file, jnError* error);

/// Removes the temporary file. Harmless after a commit.
void jnaFile_Abandon(jnaFile* file);

/// All of it at once.
jnResult jnaWriteBytes(const char* path, const void* bytes, size_t size, jnError* error);
