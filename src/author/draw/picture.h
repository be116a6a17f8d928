// Pictures of surfaces, drawn in software: a z-buffer, soft light and shadow, captions, PNG.
//
// Metres, Y up. A picture is a grid of panels of equal size, all seen by the same camera; every mesh stands
// in one of them. The bytes do not depend on the number of threads.
#pragma once

#include "character/character.h"

enum { JNA_MOST_DIRECTIONS = 96 };

/// One surface in a picture. A zeroed struct with positions and triangles set is a good start.
typedef struct jnaPictureMesh {
    const float* positions; // [vertexCount][3]
    int vertexCount;
    const int32_t* triangles; // [triangleCount][3], counter-clockwise seen from outside
    int triangleCount;
    const int32_t* weld;         // corner to vertex, as in jnaCharacter; NULL where triangles hold vertices
    const float* normals;        // [vertexCount][3], unit; NULL: area-weighted from the triangles
    const float* colors;         // [vertexCount][3], linear RGB; NULL: `color`
    const float* triangleColors; // [triangleCount][3], linear RGB, instead of all others but heat; may be NULL
    const float* heat;           // [vertexCount], drawn through the colour map instead of colours; may be NULL
    float heatLow, heatHigh;     // the values at the ends of the colour map
    float color[3];              // linear RGB; all 0: a warm clay
    float turn;                  // degrees about Y, before the offset
    float offset[3];             // metres
    int panel;                   // 0 to columns * rows - 1, left to right, top to bottom
} jnaPictureMesh;

/// Puts the middle of a mesh, seen from above and turned, over the origin.
void jnaPictureMesh_Center(jnaPictureMesh* mesh);

/// Where the camera is: it looks at `target` from a distance that makes `height` metres fill the panel.
typedef struct jnaCamera {
    float target[3];
    float yaw;         // degrees about Y; 0 looks along -Z, at the front of a figure that faces +Z
    float pitch;       // degrees, positive looks down
    float height;      // metres seen at the target, bottom to top of a panel
    float fieldOfView; // degrees, vertical; 0 is orthographic
} jnaCamera;

/// What to draw. Fill it with jnaDefaultPictureDef, then change what matters.
typedef struct jnaPictureDef {
    int panelWidth, panelHeight; // pixels
    int columns, rows;           // of panels
    int samples;                 // per pixel and axis, 1 to 8; default 3
    int directions;              // that light comes from, 8 to 96; default 96, fewer are faster and less smooth
    jnaCamera camera;
    bool ground;                 // draw the shadow on the plane y = groundHeight
    float groundHeight;          // metres
    const char* const* captions; // [columns * rows], ASCII, under each panel in a band of its own, see
                                 // jnaPictureDef_Band; NULL entries for none, NULL: no bands
    int threads;                 // 0: as many as OpenMP likes
} jnaPictureDef;

/// An image, sRGB.
typedef struct jnaPicture {
    int width, height;
    uint8_t* pixels; // [height][width][4], R, G, B, A, owned
} jnaPicture;

typedef enum jnaTextAlign {
    jna_textLeft,
    jna_textCenter,
    jna_textRight,
} jnaTextAlign;

/// A character's surface as a mesh, in the colours of its parts.
/// positions: [vertexCount][3], or NULL for the rest pose; triangleColors: [triangleCount][3], written by
/// this call. Both, and the character, must outlive the mesh.
jnaPictureMesh jnaPictureCharacter(const jnaCharacter* character, const float* positions, float* triangleColors);

/// Pixels that captions take under each row of panels; 0 without captions. The picture is so much higher.
int jnaPictureDef_Band(const jnaPictureDef* def);

/// 480 x 640 panels, one of them, a camera on a standing person, ground at y = 0.
jnaPictureDef jnaDefaultPictureDef(void);

/// Points the camera at the axis x = z = 0 and takes it to where every mesh just fills its panel, with some air; the
/// width of the panels follows. Pitch, field of view, ground and panel height are kept.
void jnaPictureDef_Frame(jnaPictureDef* def, const jnaPictureMesh* meshes, int meshCount);

/// Draws the meshes. The picture is created by this call; destroy it afterwards.
jnResult jnaDrawPicture(
    const jnaPictureDef* def, const jnaPictureMesh* meshes, int meshCount, jnaPicture* picture, jnError* error);
void jnaDestroyPicture(jnaPicture* picture);

/// Colour of the map from dark blue over green to yellow whose lightness rises evenly. t in 0..1 is clamped.
void jnaHeatColor(float t, float rgb[3]); // linear RGB

/// How text is written.
typedef struct jnaTextStyle {
    double size; // pixels
    jnaTextAlign align;
    uint32_t color; // 0xRRGGBB
} jnaTextStyle;

/// Writes one line of ASCII text, its baseline at (x, y) pixels from the top left.
jnResult jnaPicture_Text(
    jnaPicture* picture, double x, double y, const jnaTextStyle* style, const char* text, jnError* error);

/// Draws a colour bar with its two values, for pictures with heat: its corner (size, size) pixels from the top left,
/// size high and seven times as wide.
jnResult jnaPicture_ColorBar(jnaPicture* picture, double size, const char* low, const char* high, jnError* error);

/// Linear RGB as a colour of text, 0xRRGGBB.
uint32_t jnaTextColor(const float rgb[3]);

/// The bytes of a PNG; release them with free.
jnResult jnaPicture_Encode(const jnaPicture* picture, uint8_t** bytes, size_t* size, jnError* error);

/// Reads a PNG. Destroy the picture afterwards.
jnResult jnaReadPicture(const char* path, jnaPicture* picture, jnError* error);

/// Writes a PNG: the whole file or nothing.
jnResult jnaPicture_Write(const jnaPicture* picture, const char* path, jnError* error);
