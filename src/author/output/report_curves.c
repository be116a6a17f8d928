// The paper's figure of the dynamics layer, for each clip: lengths over time, average and of one vertex, at three
// scales.
#include "report_internal.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>

enum { CHART_WIDTH = 360, CHART_HEIGHT = 210, LEVELS = 3, MOST_SHOWN = 3 };

static const struct {
    const char* label;
    uint32_t color;
    bool dashed;
} CURVES[curve_count] = {
    [curve_position] = {"position, from the pelvis", 0xd6453d, false},
    [curve_skinnedToSimulated] = {"skinning to simulation", 0x2f83d0, false},
    [curve_targetToSimulated] = {"network to simulation: the dynamics layer", 0x2f9e44, false},
    [curve_targetToOurs] = {"network to springs: what we make of it", 0xf08c1e, false},
    [curve_oursToSimulated] = {"springs to simulation: what is left", 0x8b949c, true},
};

// Which curves each of the three scales shows.
static const struct {
    const char* title;
    int count;
    ReportCurve curves[3];
} SCALES[LEVELS] = {
    {"position and skinning error", 2, {curve_position, curve_skinnedToSimulated}},
    {"skinning and network error", 2, {curve_skinnedToSimulated, curve_targetToSimulated}},
    {"the layer and the springs", 3, {curve_targetToSimulated, curve_targetToOurs, curve_oursToSimulated}},
};

static void DrawScale(
    FILE* out, int level, const char* whose, double* const curves[curve_count], const double* seconds, int frames)
{
    jnaSeries series[3];
    char title[96];
    for (int s = 0; s < SCALES[level].count; ++s) {
        ReportCurve which = SCALES[level].curves[s];
        series[s] = (jnaSeries){.x = seconds,
            .y = curves[which],
            .count = frames,
            .color = CURVES[which].color,
            .dashed = CURVES[which].dashed};
    }
    snprintf(title, sizeof(title), "%s: %s", whose, SCALES[level].title);
    double most = 0;
    for (int s = 0; s < SCALES[level].count; ++s) {
        for (int n = 0; n < frames; ++n) {
            most = isfinite(series[s].y[n]) ? fmax(most, series[s].y[n]) : most;
        }
    }
    jnaChart chart = {.title = title,
        .xLabel = "seconds",
        .yLabel = "mm",
        .series = series,
        .seriesCount = SCALES[level].count,
        .yRange = {0, most > 0 ? 1.06 * most : 1}};
    fputs("<div>", out);
    jnaReport_Chart(out, &chart, NULL, CHART_WIDTH, CHART_HEIGHT);
    fputs("</div>\n", out);
}

static jnResult DrawClip(Report* r, ReportClip* clip, int number, jnError* error)
{
    double* seconds = malloc(((size_t)clip->frameCount + 1) * sizeof(double));
    if (seconds == NULL) {
        return jnaReport_OutOfMemory(error);
    }
    for (int n = 0; n < clip->frameCount; ++n) {
        seconds[n] = (clip->first + n) / clip->clip.rate;
        for (int k = 0; k < curve_count; ++k) { // metres to millimetres
            clip->means[k][n] *= 1e3;
            clip->single[k][n] *= 1e3;
        }
    }
    fprintf(r->out, "<figure id=\"curves-%d\"><h3>", number);
    jnaReport_Text(r->out, clip->name);
    double captured = clip->layerSquares > 0 ? 1 - clip->leftSquares / clip->layerSquares : (double)NAN;
    fprintf(r->out, ", %s", clip->trained ? "seen" : "unseen");
    if (isfinite(captured)) {
        fprintf(r->out, ": captured %.2f over all vertices", fabs(captured) < 0.005 ? 0 : captured);
    }
    fputs("</h3>\n<div class=\"row\" style=\"--least:290px\">\n", r->out);
    for (int level = 0; level < LEVELS; ++level) {
        DrawScale(r->out, level, "average", clip->means, seconds, clip->frameCount);
    }
    fputs("</div>\n<div class=\"row\" style=\"--least:290px\">\n", r->out);
    for (int level = 0; level < LEVELS; ++level) {
        DrawScale(r->out, level, "one vertex", clip->single, seconds, clip->frameCount);
    }
    fputs("</div></figure>\n", r->out);
    free(seconds);
    return jn_ok;
}

static void WriteLegend(Report* r)
{
    fputs("<p>How far the simulated flesh is from what the pose alone explains, and what the springs make of that, as "
          "lengths: "
          "the average over all vertices, and one vertex, which moves most against its target in the part of the body "
          "that moves most (",
        r->out);
    fprintf(r->out, "number %d, at ", r->softVertex);
    jnaReport_Text(r->out, jnaReport_RegionOf(r, r->softVertex));
    fputs(
        "). From left to right the scale is magnified. Springs are played by the runtime, as they ship.</p>\n", r->out);
    if (r->asset.asset->network == jn_networkNone) {
        fputs("<p>The file has no network: its springs hang on the skinned surface, which is meant by <i>network</i> "
              "here.</p>\n",
            r->out);
    }
    fputs("<p class=\"keys\">", r->out);
    for (int k = 0; k < curve_count; ++k) {
        jnaReport_Key(r->out, CURVES[k].color, CURVES[k].dashed, CURVES[k].label);
    }
    fputs("</p>\n", r->out);
}

jnResult jnaReport_Curves(Report* r, jnError* error)
{
    jnResult result = jn_ok;
    jnaReport_BeginSection(r, "curves", "The dynamics layer");
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
