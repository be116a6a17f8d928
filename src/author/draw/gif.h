// Moving pictures that every browser, chat and presentation shows.
#pragma once

#include "draw/picture.h"

/// Writes frames of one size as a GIF that repeats for ever: the whole file or nothing.
/// rate: frames a second, at most 100.
jnResult jnaWriteGif(const jnaPicture* frames, int count, double rate, const char* path, jnError* error);
