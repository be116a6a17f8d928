// A picture of how soft a character is: its skin coloured by sag under gravity, and by region of the body.
#include "draw/softness_picture.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = JNA_SOFTNESS_COLUMNS * JNA_SOFTNESS_ROWS, PANEL_HEIGHT = 640 };

// The colour map ends where this part of the vertices is below: one vertex does not take the whole scale.
#define HIGH_PART 0.99
// And never below a tenth of a millimetre, metres.
#define LEAST_HIGH 1e-4

// A colour for each region, linear RGB.
static void ColorRegion(jnaRegion region, float rgb[3])
{
    // Hues a golden angle apart, so that neighbours in the list differ; the rest is grey.
    double hue = 6 * fmod((int)region * 0.38196601, 1), light = region % 2 == 0 ? 0.62 : 0.36;
    for (int i = 0; i < 3; ++i) {
        double away = fabs(hue - 2 * i);
        away = fmin(away, 6 - away);
        rgb[i] = region == jna_regionOther ? 0.4f : (float)(light * fmin(fmax(2 - away, 0.1), 1));
    }
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

// The sag at the end of the colour map. scratch: [vertexCount].
static double FindHigh(const jnaSag* sag, float* scratch)
{
    memcpy(scratch, sag->lengths[0], (size_t)sag->vertexCount * sizeof(float));
    qsort(scratch, (size_t)sag->vertexCount, sizeof(float), CompareFloats);
    return fmax((double)scratch[(size_t)(HIGH_PART * (sag->vertexCount - 1))], LEAST_HIGH);
}

// Names of the regions in their colours, beside the feet of the fourth panel.
static jnResult WriteNames(const jnaSag* sag, const jnaPictureDef* def, jnaPicture* picture, jnError* error)
{
    int listed = 0, counts[JNA_REGIONS] = {0};
    jnResult result = jn_ok;
    for (int v = 0; v < sag->vertexCount; ++v) {
        counts[sag->regions[v]]++;
    }
    double size = 0.026 * def->panelHeight;
    for (int r = 0; r < JNA_REGIONS && result == jn_ok; ++r) {
        float rgb[3];
        bool right = listed >= JNA_REGIONS / 2;
        if (counts[r] == 0) {
            continue;
        }
        ColorRegion((jnaRegion)r, rgb);
        double y = picture->height - jnaPictureDef_Band(def) -
                   size * (0.8 + 1.25 * (JNA_REGIONS / 2 - 1 - listed % (JNA_REGIONS / 2)));
        const jnaTextStyle style = {size, right ? jna_textRight : jna_textLeft, jnaTextColor(rgb)};
        double x = right ? def->panelWidth - size / 2 : size / 2;
        result = jnaPicture_Text(picture, x, y, &style, jnaRegionNames[r], error);
        listed++;
    }
    return result;
}

static jnResult WriteLegends(
    const jnaSag* sag, const jnaPictureDef* def, double high, jnaPicture* picture, jnError* error)
{
    char end[32];
    snprintf(end, sizeof(end), "%.1f mm", 1e3 * high);
    jnResult result = jnaPicture_ColorBar(picture, 0.03 * def->panelHeight, "0", end, error);
    return result != jn_ok ? result : WriteNames(sag, def, picture, error);
}

// Six panels. colors: [vertexCount][3], written; triangles: [triangleCount][3], scratch. Returns the lowest point.
static float FillPanels(const jnaSag* sag, const jnaCharacter* character, double high, float* colors, float* triangles,
    jnaPictureMesh meshes[PANELS])
{
    static const float turns[JNA_SOFTNESS_COLUMNS] = {0, -90, 180};
    float low = HUGE_VALF;
    for (size_t v = 0; v < (size_t)character->vertexCount; ++v) {
        ColorRegion((jnaRegion)sag->regions[v], colors + 3 * v);
        low = fminf(low, character->positions[3 * v + 1]);
    }
    for (int p = 0; p < PANELS; ++p) {
        meshes[p] = jnaPictureCharacter(character, NULL, triangles);
        meshes[p].triangleColors = NULL;
        meshes[p].heat = p < JNA_SOFTNESS_COLUMNS ? sag->lengths[0] : NULL;
        meshes[p].heatHigh = (float)high;
        meshes[p].colors = colors;
        meshes[p].turn = turns[p % JNA_SOFTNESS_COLUMNS];
        meshes[p].panel = p;
        jnaPictureMesh_Center(&meshes[p]);
    }
    return low;
}

jnResult jnaDrawSoftness(const jnaSag* sag, const jnaCharacter* character, const jnaPictureDef* settings,
    jnaPicture* picture, double* high, jnError* error)
{
    static const char* const captions[PANELS] = {
        "sag, front", "sag, side", "sag, back", "regions, front", "regions, side", "regions, back"};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    float* colors = jnaArena_Take(&arena, character->vertexCount, 3 * sizeof(float));
    float* triangles = jnaArena_Take(&arena, character->triangleCount, 3 * sizeof(float));
    *picture = (jnaPicture){0};
    JN_TRY(jnaArena_Check(&arena, "a picture", error));
    jnaPictureMesh meshes[PANELS];
    jnaPictureDef def = settings != NULL ? *settings : jnaDefaultPictureDef();
    double end = FindHigh(sag, colors);
    def.columns = JNA_SOFTNESS_COLUMNS;
    def.rows = JNA_SOFTNESS_ROWS;
    def.groundHeight = FillPanels(sag, character, end, colors, triangles, meshes);
    if (settings == NULL) {
        def.panelHeight = PANEL_HEIGHT;
        def.captions = captions;
    }
    jnaPictureDef_Frame(&def, meshes, PANELS);
    JN_TRY(jnaDrawPicture(&def, meshes, PANELS, picture, error));
    JN_TRY(settings == NULL ? WriteLegends(sag, &def, end, picture, error) : jn_ok);
    if (high != NULL) {
        *high = end;
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
