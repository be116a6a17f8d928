// The pictures of jounce springs draw, and its character.
#pragma once

#include "jounce/base.h"

jnResult jncDrawRegimes(const char* path, jnError* error);
jnResult jncDrawRobustFit(const char* path, jnError* error);
jnResult jncWriteFigure(const char* path, jnError* error);
