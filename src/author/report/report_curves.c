// The paper's figure of the dynamics layer, for each clip: lengths over time, average and of one vertex, at three
// scales.
#include "report/report_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>

enum { CHART_WIDTH = 360, CHART_HEIGHT = 210, LEVELS = 3, MOST_SHOWN = 3 };

// The paper's colours; what ships beside springs per vertex is purple.
static const struct {
    const char* label;
    uint32_t color;
    bool dashed;
} CURVES[curve_count] = {
    [curve_position] = {"position, from the pelvis", 0xd6453d, false},
    [curve_skinnedToSimulated] = {"skinning to simulation", 0x2f83d0, false},
    [curve_targetToSimulated] = {"network to simulation: the dynamics layer", 0x2f9e44, false},
    [curve_targetToOurs] = {"network to ", 0x8a4fc8, false},
    [curve_oursToSimulated] = {" to simulation: error", 0x8a4fc8, true},
    [curve_targetToPaper] = {"network to springs per vertex, the paper", 0xf08c1e, false},
    [curve_paperToSimulated] = {"springs per vertex to simulation: error", 0xf08c1e, true},
};

// Which curves each of the three scales shows.
enum { MOST_CURVES = 5 };
static const struct {
    const char* title;
    int count;
    ReportCurve curves[MOST_CURVES];
} SCALES[LEVELS] = {
    {"position and skinning error", 2, {curve_position, curve_skinnedToSimulated}},
    {"skinning and network error", 2, {curve_skinnedToSimulated, curve_targetToSimulated}},
    {"the dynamics layer and the springs", 5,
        {curve_targetToSimulated, curve_targetToOurs, curve_oursToSimulated, curve_targetToPaper,
            curve_paperToSimulated}},
};

static bool IsShown(const Report* r, ReportCurve curve)
{
    return r->showsPaper || (curve != curve_targetToPaper && curve != curve_paperToSimulated);
}

static void DrawScale(
    const Report* r, int level, const char* whose, double* const curves[curve_count], const double* seconds, int frames)
{
    FILE* out = r->out;
    jnaSeries series[MOST_CURVES];
    char title[96];
    int count = 0;
    for (int s = 0; s < SCALES[level].count; ++s) {
        ReportCurve which = SCALES[level].curves[s];
        if (!IsShown(r, which)) {
            continue;
        }
        series[count++] = (jnaSeries){.x = seconds,
            .y = curves[which],
            .count = frames,
            .color = CURVES[which].color,
            .dashed = CURVES[which].dashed};
    }
    snprintf(title, sizeof(title), "%s: %s", whose, SCALES[level].title);
    double most = 0;
    for (int s = 0; s < count; ++s) {
        for (int n = 0; n < frames; ++n) {
            most = isfinite(series[s].y[n]) ? fmax(most, series[s].y[n]) : most;
        }
    }
    jnaChart chart = {.title = title,
        .xLabel = "seconds",
        .yLabel = "mm",
        .series = series,
        .seriesCount = count,
        .yRange = {0, most > 0 ? 1.06 * most : 1}};
    fputs("<div>", out);
    jnaReport_Chart(out, &chart, NULL, CHART_WIDTH, CHART_HEIGHT);
    fputs("</div>\n", out);
}

static double Captured(double left, double layer)
{
    double captured = 1 - left / layer;
    return fabs(captured) < 0.005 ? 0 : captured; // no -0.00
}

static jnResult DrawClip(Report* r, ReportClip* clip, int number, jnError* error)
{
    double* seconds = malloc(((size_t)clip->frameCount + 1) * sizeof(double));
    if (seconds == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int n = 0; n < clip->frameCount; ++n) {
        seconds[n] = (clip->first + n) / clip->clip->rate;
        for (int k = 0; k < curve_count; ++k) { // metres to millimetres
            clip->means[k][n] *= 1e3;
            clip->single[k][n] *= 1e3;
        }
    }
    fprintf(r->out, "<figure id=\"curves-%d\"><h3>", number);
    jnaReport_Text(r->out, clip->name);
    fprintf(r->out, ", %s", clip->trained ? "seen" : "unseen");
    if (clip->layerSquares > 0) {
        fprintf(r->out, ": captured over all vertices by %s %.2f", jnaReport_OursName(r),
            Captured(clip->leftSquares, clip->layerSquares));
    }
    if (clip->layerSquares > 0 && r->showsPaper) {
        fprintf(r->out, ", by fitted springs per vertex %.2f", Captured(clip->paperSquares, clip->layerSquares));
    }
    fputs("</h3>\n<div class=\"row\" style=\"--least:290px\">\n", r->out);
    for (int level = 0; level < LEVELS; ++level) {
        DrawScale(r, level, "average", clip->means, seconds, clip->frameCount);
    }
    fputs("</div>\n<div class=\"row\" style=\"--least:290px\">\n", r->out);
    for (int level = 0; level < LEVELS; ++level) {
        DrawScale(r, level, "one vertex", clip->single, seconds, clip->frameCount);
    }
    fputs("</div></figure>\n", r->out);
    free(seconds);
    return jn_ok;
}

static void WriteLegend(Report* r)
{
    fputs("<p>Distance of the simulated flesh from the target surface of the pose, and the same for the springs: "
          "the average over all vertices, and the vertex that moves most "
          "(",
        r->out);
    fprintf(r->out, "number %d, at ", r->softVertex);
    jnaReport_Text(r->out, jnaReport_RegionOf(r, r->softVertex));
    fputs("). From left to right the scale is magnified. The runtime plays the exported character", r->out);
    fputs(r->showsPaper ? "; beside it are fitted springs per vertex, as in the paper, on the same targets.</p>\n"
                        : ".</p>\n",
        r->out);
    if (r->asset.asset->network == jn_networkNone) {
        fputs("<p>The file has no network: its target is the skinned surface, labelled <i>network</i> "
              "here.</p>\n",
            r->out);
    }
    fputs("<p class=\"keys\">", r->out);
    for (int k = 0; k < curve_count; ++k) {
        char label[128];
        const char *own = CURVES[k].label, *ours = jnaReport_OursName(r);
        if (k == curve_targetToOurs) {
            snprintf(label, sizeof(label), "%s%s: exported", own, ours);
        } else {
            snprintf(label, sizeof(label), "%s%s", k == curve_oursToSimulated ? ours : "", own);
        }
        if (IsShown(r, (ReportCurve)k)) {
            jnaReport_Key(r->out, CURVES[k].color, CURVES[k].dashed, label);
        }
    }
    fputs("</p>\n", r->out);
}

jnResult jnaReport_Curves(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    jnaReport_BeginSection(r, "curves", "Motion over time");
    if (!r->played) {
        if (r->asset.asset == NULL) {
            jnaReport_Missing(r, "nothing to play: jounce build %s", r->workspace);
        } else {
            jnaReport_Missing(r, "no motion simulated: jounce simulate %s --clips --dynamic", r->workspace);
        }
        jnaReport_EndSection(r);
        return jn_ok;
    }
    WriteLegend(r);
    int number = 0;
    for (int i = 0; i < r->clipCount && result == jn_ok; ++i) {
        ReportClip* clip = &r->clips[i];
        if (clip->means[0] == NULL) {
            continue;
        }
        if (number == MOST_SHOWN) {
            fputs("<details><summary>More clips</summary>\n", r->out);
        }
        result = DrawClip(r, clip, number++, error);
    }
    fputs(number > MOST_SHOWN ? "</details>\n" : "", r->out);
    jnaReport_EndSection(r);
    return result;
}
