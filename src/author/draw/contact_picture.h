// Pictures of flesh inside flesh.
#pragma once

#include "flesh/contact.h"
#include "jounce/base.h"

/// Draws the boundary of deformed nodes as a PNG, a row for each, from the front, from the side, and as a close-up of
/// the deepest place of the first: from outside, and from the far half of the skin, where the nodes inside can be seen.
/// Penetrating nodes are red, brighter with depth. The finder measures them. captions: [count], ASCII; may be NULL.
jnResult jnaPictureContact(jnaContactFinder* finder, int count, const double* const* nodes, const char* const* captions,
    const char* path, jnError* error);
