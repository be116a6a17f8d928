// The demo's pictures.
#pragma once

#include "jounce/base.h"

jnResult jncDrawRegimes(const char* path, jnError* error);
jnResult jncDrawRobustFit(const char* path, jnError* error);
