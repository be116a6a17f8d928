// What a build saw when it played the clips, for verbs that show it.
#pragma once

#include <jansson.h>

/// The numbers of WORKSPACE/surface.json; NULL where there are none. Release it with json_decref.
json_t* jncLoadSurface(const char* workspace);

/// A table of the clips: breaks, largest offset, strength of the motion by region. Nothing where there is none.
void jncPrintSurface(const char* workspace);
