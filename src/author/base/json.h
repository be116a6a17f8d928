// JSON files.
#pragma once

#include "jounce/base.h"

#include <jansson.h>

/// Reads a JSON file of a folder; release it with json_decref. *root stays as it was on failure.
jnResult jnaLoadJson(const char* folder, const char* name, json_t** root, jnError* error);

/// Writes a JSON file, whole or not at all, and releases `root`; out of memory where that is NULL. digits: of real
/// numbers, 17 bring every double back.
jnResult jnaSaveJson(const char* folder, const char* name, json_t* root, int digits, jnError* error);
