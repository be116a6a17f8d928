// Files to read. What is no file, a pipe, a socket, a device or a folder, is refused before it is waited for.
#pragma once

#include "jounce/base.h"

#include <jansson.h>
#include <stdio.h>

/// A descriptor to read the file from; -1 and an error where it cannot be opened or is no file. errno: ENOENT where
/// there is none.
int jnaOpenDescriptor(const char* path, jnError* error);

/// The same as a stream. *file: closed by the caller, NULL on failure.
jnResult jnaOpenInput(const char* path, FILE** file, jnError* error);

/// The JSON in a file; NULL and *why, which may be NULL, where it cannot be read. flags: of json_loadf.
json_t* jnaReadJson(const char* path, size_t flags, json_error_t* why);
