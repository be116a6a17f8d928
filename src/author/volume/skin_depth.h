// How deep under the skin a point lies.
#pragma once

#include "volume/section.h"

typedef struct jnaSkinDepth jnaSkinDepth;

/// skin: must live longer than what is made. Destroy it afterwards; NULL is allowed.
jnResult jnaCreateSkinDepth(const jnaSlicer* skin, jnaSkinDepth** depth, jnError* error);
void jnaDestroySkinDepth(jnaSkinDepth* depth);

/// Distance of a point to the skin, or the limit where it is greater.
double jnaSkinDepth_At(const jnaSkinDepth* depth, const double* point, double limit);
