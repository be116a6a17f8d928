// The paper's figure of the learned springs: stiffness, damping and what tells swinging from creeping, on the body from
// both sides, on logarithmic scales.
#include "report_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MAP_PANELS = 2 };

// One quantity on the body: values as they are coloured, and the two ends.
typedef struct Map {
    const char *id, *title, *unit;
    float* values; // [vertexCount], logarithms; with a sign where it diverges
    float* colors; // [vertexCount][3], where it diverges; else NULL
    float low, high;
} Map;

// From blue over nearly white to red, linear RGB; t from -1 to 1.
static void DivergingColor(float t, float rgb[3])
{
    static const float ends[2][3] = {{0.03f, 0.13f, 0.52f}, {0.58f, 0.05f, 0.03f}};
    const float* end = ends[t > 0];
    float share = fminf(fabsf(t), 1);
    for (int k = 0; k < 3; ++k) {
        rgb[k] = (1 - share) * 0.80f + share * end[k];
    }
}

static void WriteDivergingBar(FILE* out, float most)
{
    static const char* const stops[5] = {"#3665c0", "#a5b2dc", "#e7e7e7", "#dfa89c", "#c8402f"};
    fputs("<div class=\"scale\"><i style=\"background:linear-gradient(90deg", out);
    for (int i = 0; i < 5; ++i) {
        fprintf(out, ",%s", stops[i]);
    }
    fputs(")\"></i><div>", out);
    int decade = (int)floorf(most);
    for (int sign = -1; sign <= 1; ++sign) {
        double share = 0.5 + 0.5 * sign * decade / fmax((double)most, 1e-6);
        if (sign == 0) {
            fputs("<span style=\"left:50%\">0</span>", out);
        } else {
            fprintf(out, "<span class=\"%s\" style=\"left:%.1f%%\">%s10<sup>%d</sup>%s</span>", sign > 0 ? "e" : "b",
                100 * share, sign < 0 ? "−" : "", decade, sign > 0 ? " 1/s²" : "");
        }
    }
    fputs("</div></div>\n", out);
}

// Powers of ten along a logarithmic bar.
static void WriteLogBar(FILE* out, const Map* map)
{
    double shares[8];
    char labels[8][16];
    int count = 0;
    double range = (double)map->high - (double)map->low;
    // Far enough apart to be read; the unit follows the last.
    int first = (int)ceil((double)map->low), step = 1 + (int)(range / 4);
    for (int decade = first; decade <= (int)floor((double)map->high) && count < 8; decade += step) {
        shares[count] = (decade - (double)map->low) / range;
        snprintf(labels[count++], sizeof(labels[0]), "10<sup>%d</sup>", decade);
    }
    if (count < 2) { // not even two powers: the ends instead
        shares[0] = 0;
        shares[1] = 1;
        snprintf(labels[0], sizeof(labels[0]), "%.3g", pow(10, (double)map->low));
        snprintf(labels[1], sizeof(labels[1]), "%.3g", pow(10, (double)map->high));
        count = 2;
    }
    jnaReport_HeatBar(out, count, shares, labels, map->unit);
}

static jnResult DrawMap(Report* r, const Map* map, jnError* error)
{
    static const char labels[MAP_PANELS][96] = {"front", "back"};
    jnaPictureMesh meshes[MAP_PANELS];
    for (int i = 0; i < MAP_PANELS; ++i) {
        meshes[i] = jnaPictureCharacter(&r->character, NULL, r->triangleColors);
        meshes[i].turn = i == 0 ? 0 : 180;
        meshes[i].panel = i;
        if (map->colors != NULL) {
            meshes[i].triangleColors = NULL;
            meshes[i].colors = map->colors;
        } else {
            meshes[i].heat = map->values;
            meshes[i].heatLow = map->low;
            meshes[i].heatHigh = map->high;
        }
        jnaPictureMesh_Center(&meshes[i]);
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 400);
    def.columns = MAP_PANELS;
    jnaPictureDef_Frame(&def, meshes, MAP_PANELS);
    jnaPicture picture;
    jnResult result = jnaDrawPicture(&def, meshes, MAP_PANELS, &picture, error);
    if (result != jn_ok) {
        return result;
    }
    fprintf(
        r->out, "<figure id=\"%s\"><h3>%s</h3>\n<div class=\"row\" style=\"--least:120px\">\n", map->id, map->title);
    result = jnaReport_Panels(r, &picture, MAP_PANELS, labels, error);
    jnaDestroyPicture(&picture);
    fputs("</div>\n", r->out);
    if (map->colors != NULL) {
        WriteDivergingBar(r->out, map->high);
    } else {
        WriteLogBar(r->out, map);
    }
    fputs("</figure>\n", r->out);
    return result;
}

// Logarithms of positive numbers and the range of nearly all of them.
static void FillLogs(const float* numbers, int count, Map* map, float* scratch)
{
    for (int v = 0; v < count; ++v) {
        map->values[v] = log10f(fmaxf(numbers[v], 1e-3f));
    }
    map->low = jnaReport_Percentile(map->values, count, 0.01, scratch);
    map->high = fmaxf(jnaReport_Percentile(map->values, count, 0.99, scratch), map->low + 0.01f);
}

// sign(d) log10(1 + |d|) of d = k_d^2 - 4 k_s.
static void FillRegime(const float* stiffness, const float* damping, int count, Map* map, float* scratch)
{
    for (int v = 0; v < count; ++v) {
        double d = (double)damping[v] * (double)damping[v] - 4 * (double)stiffness[v];
        map->values[v] = (float)copysign(log10(1 + fabs(d)), d);
        scratch[count + v] = fabsf(map->values[v]);
    }
    map->high = fmaxf(jnaReport_Percentile(scratch + count, count, 0.98, scratch), 0.1f);
    for (int v = 0; v < count; ++v) {
        DivergingColor(map->values[v] / map->high, map->colors + 3 * (size_t)v);
    }
}

static jnResult DrawMaps(Report* r, const float* stiffness, const float* damping, jnError* error)
{
    int count = r->character.vertexCount, under = 0;
    float* numbers = malloc((size_t)count * 6 * sizeof(float));
    if (numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    float* scratch = numbers + 4 * (size_t)count;
    Map map = {.id = "map-stiffness", .title = "Stiffness k<sub>s</sub>", .unit = " 1/s²", .values = numbers};
    for (int v = 0; v < count; ++v) {
        under += damping[v] * damping[v] < 4 * stiffness[v];
    }
    fprintf(r->out,
        "<p>What <code>jounce fit</code> learned of each vertex, on logarithmic scales. Flesh is soft and swings "
        "(k<sub>d</sub>² "
        "− 4k<sub>s</sub> below 0, blue); what lies close to a bone is stiff and creeps back (red). %.0f %% of the "
        "vertices "
        "swing.</p>\n<div class=\"row\" style=\"--least:300px\">\n",
        100.0 * under / count);
    FillLogs(stiffness, count, &map, scratch);
    jnResult result = DrawMap(r, &map, error);
    map = (Map){.id = "map-damping", .title = "Damping k<sub>d</sub>", .unit = " 1/s", .values = numbers};
    FillLogs(damping, count, &map, scratch);
    result = result == jn_ok ? DrawMap(r, &map, error) : result;
    map = (Map){.id = "map-regime",
        .title = "k<sub>d</sub>² − 4k<sub>s</sub>",
        .values = numbers,
        .colors = numbers + (size_t)count};
    FillRegime(stiffness, damping, count, &map, scratch);
    result = result == jn_ok ? DrawMap(r, &map, error) : result;
    fputs("</div>\n", r->out);
    free(numbers);
    return result;
}

jnResult jnaReport_HeatMaps(Report* r, jnError* error)
{
    jnaReport_BeginSection(r, "springs", "Springs on the body");
    float *stiffness = NULL, *damping = NULL;
    int count = r->character.vertexCount;
    jnResult result = jnaReport_ReadNumbers(r, "springs/stiffness.npy", count, &stiffness, error);
    result = result == jn_ok ? jnaReport_ReadNumbers(r, "springs/damping.npy", count, &damping, error) : result;
    if (stiffness != NULL && damping != NULL) {
        result = DrawMaps(r, stiffness, damping, error);
    } else if (result == jn_ok) {
        jnaReport_Missing(r, "no springs of single vertices were fitted: jounce fit %s", r->workspace);
    }
    free(stiffness);
    free(damping);
    jnaReport_EndSection(r);
    return result;
}
