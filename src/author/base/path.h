// Names of files.
#pragma once

#include "jounce/base.h"

enum { JNA_PATH_LENGTH = 4096 };

/// "folder/name", or name where it is absolute; an error where it does not fit. path: [JNA_PATH_LENGTH].
jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error);

/// Whether a file of a folder is there and can be read.
bool jnaFileIsThere(const char* folder, const char* name);
