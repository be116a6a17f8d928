// JSON files.
#pragma once

#include "jounce/base.h"

#include <jansson.h>

/// Reads a JSON file of a folder; release it with json_decref. *root stays as it was on failure.
jnResult jnaLoadJson(const char* folder, const char* name, json_t** root, jnError* error);

/// Writes a JSON file, whole or not at all. digits: of real numbers, 17 bring every double back.
jnResult jnaSaveJson(const char* folder, const char* name, const json_t* root, int digits, jnError* error);
