// The paper's figure of the learned springs: stiffness, damping and what tells swinging from creeping, on the body from
// both sides, on logarithmic scales; and the same in numbers, part by part. Springs that stopped at a bound of the fit
// say "more than" or "less than": they are drawn apart.
#include "report/report_internal.h"

#include "base/try.h"
#include "learn/spring_parts.h"
#include "workspace/learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_PANELS = 2 };

// One quantity on the body: values as they are coloured, and the two ends.
typedef struct Map {
    const char *id, *title, *unit;
    bool diverges; // about 0; else from low to high
    float* values; // [vertexCount], logarithms; with a sign where it diverges
    float* colors; // [vertexCount][3]
    float low, high;
} Map;

// Springs at a bound, linear RGB and on the page: on neither colour map.
static const float BOUND_COLOR[3] = {0.85f, 0.12f, 0.42f};
enum { BOUND_PAGE_COLOR = 0xee61ad };

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
        meshes[i] = jnaPictureCharacter(r->character, NULL, r->triangleColors);
        meshes[i].turn = i == 0 ? 0 : 180;
        meshes[i].panel = i;
        meshes[i].triangleColors = NULL;
        meshes[i].colors = map->colors;
        jnaPictureMesh_Center(&meshes[i]);
    }
    jnaPictureDef def = jnaReport_PictureDef(r, 400);
    def.columns = MAP_PANELS;
    jnaPictureDef_Frame(&def, meshes, MAP_PANELS);
    jnaPicture picture;
    JN_PASS(jnaDrawPicture(&def, meshes, MAP_PANELS, &picture, error));
    fprintf(
        r->out, "<figure id=\"%s\"><h3>%s</h3>\n<div class=\"row\" style=\"--least:120px\">\n", map->id, map->title);
    jnResult result = jnaReport_Panels(r, &picture, MAP_PANELS, labels, error);
    jnaDestroyPicture(&picture);
    fputs("</div>\n", r->out);
    if (map->diverges) {
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
    for (int v = 0; v < count; ++v) {
        jnaHeatColor((map->values[v] - map->low) / (map->high - map->low), map->colors + 3 * (size_t)v);
    }
}

static void MarkBounds(const Report* r, Map* map)
{
    for (int v = 0; v < r->character->vertexCount; ++v) {
        if (jnaBoundsOf(r->stiffness[v], r->damping[v]) != 0) {
            memcpy(map->colors + 3 * (size_t)v, BOUND_COLOR, sizeof(BOUND_COLOR));
        }
    }
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

static double Percent(int count, int all)
{
    return all > 0 ? 100.0 * count / all : 0;
}

static void WritePart(FILE* out, const jnaSpringPart* p)
{
    fputs("<tr><td class=\"l\">", out);
    jnaReport_Text(out, p->name);
    fprintf(out, "</td><td>%d</td><td>%.0f %%</td><td>%.0f %%</td><td>%.0f %%</td><td>%.3g</td><td>%.3g</td></tr>\n",
        p->count, Percent(p->stiffOverdamped, p->count), Percent(p->softUnderdamped, p->count),
        Percent(p->atBound, p->count), p->stiffness, p->damping);
}

static void WriteParts(Report* r, const jnaSpringParts* parts)
{
    FILE* out = r->out;
    fputs("<figure id=\"spring-parts\"><h3>Part by part</h3>\n<div class=\"wide\"><table><tr><th class=\"l\">part</th>"
          "<th>springs</th><th>stiff and<br>overdamped</th><th>soft and<br>underdamped</th><th>at a<br>bound</th>"
          "<th>median k<sub>s</sub>,<br>1/s²</th><th>median k<sub>d</sub>,<br>1/s</th></tr>\n",
        out);
    for (int i = -1; i < parts->count; ++i) {
        WritePart(out, i < 0 ? &parts->all : &parts->parts[i]);
    }
    fputs(
        "</table></div>\n<figcaption>By the joint that moves a vertex most, left and right together. Stiff: 10 Hz and "
        "more. ",
        out);
    if (isfinite(parts->leftRight[0])) {
        fprintf(out,
            "Each vertex was fitted separately; left and right correlate by %.4f in log k<sub>s</sub> and %.4f in log "
            "k<sub>d</sub>.",
            parts->leftRight[0], parts->leftRight[1]);
    } else {
        fputs("The character is not symmetric: left and right are not compared.", out);
    }
    fputs("</figcaption></figure>\n", out);
}

static void WriteWords(Report* r, const jnaSpringParts* parts)
{
    int under = 0, count = r->character->vertexCount;
    for (int v = 0; v < count; ++v) {
        under += r->damping[v] * r->damping[v] < 4 * r->stiffness[v];
    }
    fprintf(r->out,
        "<p>Stiffness and damping of each vertex, fitted by <code>jounce fit</code>, on logarithmic scales. Flesh is "
        "soft and underdamped "
        "(k<sub>d</sub>² − 4k<sub>s</sub> below 0, blue); what lies close to a bone is stiff and overdamped (red). "
        "%.0f %% of the vertices are underdamped. %.1f %% ended at a bound of the fit, because their motion is unlike "
        "a spring's "
        "or too small: at the lowest stiffness %d, at the highest %d; at the lowest damping %d, at the highest "
        "%d.</p>\n",
        Percent(under, count), Percent(parts->all.atBound, parts->all.count), parts->bounds[jna_boundStiffnessLow],
        parts->bounds[jna_boundStiffnessHigh], parts->bounds[jna_boundDampingLow], parts->bounds[jna_boundDampingHigh]);
    if (parts->all.atBound > 0) {
        fputs("<p class=\"keys\">", r->out);
        jnaReport_Key(r->out, BOUND_PAGE_COLOR, false, "at a bound");
        fputs("</p>\n", r->out);
    }
}

static jnResult DrawMaps(Report* r, const jnaSpringParts* parts, jnError* error)
{
    int count = r->character->vertexCount;
    float* numbers = malloc((size_t)count * 6 * sizeof(float));
    if (numbers == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    float *scratch = numbers + 4 * (size_t)count, *colors = numbers + (size_t)count;
    Map maps[3] = {{.id = "map-stiffness", .title = "Stiffness k<sub>s</sub>", .unit = " 1/s²"},
        {.id = "map-damping", .title = "Damping k<sub>d</sub>", .unit = " 1/s"},
        {.id = "map-regime", .title = "k<sub>d</sub>² − 4k<sub>s</sub>", .diverges = true}};
    WriteWords(r, parts);
    fputs("<div class=\"row\" style=\"--least:300px\">\n", r->out);
    jnResult result = jn_ok;
    for (int i = 0; i < 3; ++i) {
        maps[i].values = numbers;
        maps[i].colors = colors;
        if (maps[i].diverges) {
            FillRegime(r->stiffness, r->damping, count, &maps[i], scratch);
        } else {
            FillLogs(i == 0 ? r->stiffness : r->damping, count, &maps[i], scratch);
        }
        MarkBounds(r, &maps[i]);
        JN_TRY(DrawMap(r, &maps[i], error));
    }
done:
    fputs("</div>\n", r->out);
    free(numbers);
    return result;
}

jnResult jnaReport_HeatMaps(Report* r, jnError* error)
{
    jnaSpringParts parts = {0};
    jnaParts regions = {0};
    jnResult result = jn_ok;
    jnaReport_BeginSection(r, "springs", "Springs on the body");
    if (r->stiffness != NULL && r->damping != NULL) {
        JN_TRY(jnaPartsOfWorkspace(r->opened, &regions, error));
        JN_TRY(jnaSortSprings(r->character, &regions, r->stiffness, r->damping, &parts, error));
        JN_TRY(DrawMaps(r, &parts, error));
        WriteParts(r, &parts);
    } else {
        jnaReport_Missing(r, "no springs of single vertices were fitted: jounce fit %s", r->workspace);
    }
done:
    jnaDestroyParts(&regions);
    jnaDestroySpringParts(&parts);
    jnaReport_EndSection(r);
    return result;
}
