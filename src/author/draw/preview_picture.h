// One frame of a clip, skinned beside played: the whole character and the place where it is worst.
#pragma once

#include "draw/picture.h"

/// What to show.
typedef struct jnaPreview {
    const jnaCharacter* character;
    const float *compared, *shown; // [vertexCount][3], the surface without springs and with them
    const uint8_t* marks;          // [triangleCount], 1: drawn in red in the played surface; NULL: none
    int vertex;                    // that the camera looks at
    const char* comparedName;      // "skinned"
    const char* caption;           // ASCII
    int panelHeight;               // pixels; 0: 560
} jnaPreview;

/// Draws four panels in a row, whole and near, each skinned and played. Destroy the picture afterwards.
jnResult jnaDrawPreview(const jnaPreview* preview, jnaPicture* picture, jnError* error);

/// The panels of such a picture at half the size, skinned above played. Destroy the tile afterwards.
jnResult jnaPreview_Stack(const jnaPicture* preview, jnaPicture* tile, jnError* error);
