// What the stage "inspect" leaves in a workspace, and what others show of it.
#pragma once

#include "draw/picture.h"
#include "pipeline/inspection.h"

#include <jansson.h>

#define JNA_SURFACE_NAME "surface.json"
#define JNA_PREVIEW_NAME "preview.png"

/// All numbers as JSON, lengths in millimetres; release it with json_decref. NULL: out of memory.
json_t* jnaInspection_Describe(const jnaInspection* inspection);

/// Adds the lines that the stage left. None where it has not run.
void jnaTellSurface(const char* workspace, jnaNotes* notes);

/// Draws the worst frame, skinned beside played; there must be one. panelHeight: pixels, 0 for the default.
jnResult jnaDrawWorst(
    jnaWorkspace* workspace, const jnaInspection* inspection, int panelHeight, jnaPicture* picture, jnError* error);
