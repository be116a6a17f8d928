// Names of files.
#pragma once

#include "jounce/base.h"

enum { JNA_PATH_LENGTH = 4096 };

/// "folder/name", or name where it is absolute; an error where it does not fit. path: [JNA_PATH_LENGTH].
jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error);

/// Whether a text can be the name of a folder of ours: letters, digits, '-', '_' and '.', which is not first.
bool jnaIsPlainName(const char* name);

/// Whether a file of a folder is there and can be read.
bool jnaFileIsThere(const char* folder, const char* name);
