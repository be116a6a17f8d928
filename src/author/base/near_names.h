// Names that are like one that does not exist, for messages.
#pragma once

#include <stddef.h>

/// "'Head', 'HeadTop'": those of the names that are most like the one asked for, at most three, the nearest first;
/// "" where there are none. Letters count the same whatever their case. Returns the text.
const char* jnaNearNames(const char* wanted, const char* const* names, int count, char* text, size_t size);

/// How many letters must be added, left out or replaced to make one name of the other, case left aside.
int jnaNameDistance(const char* a, const char* b);
