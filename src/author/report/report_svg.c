// Line charts as SVG inside a page: text stays text, and frame, grid and labels take the page's colours.
#include "draw/chart.h"
#include "report/report_internal.h"

#include <math.h>

enum { LEFT = 46, RIGHT = 10, TOP = 22, BOTTOM = 34, MOST_TICKS = 24 };

typedef struct Axes {
    double x, y, width, height; // the frame
    double xRange[2], yRange[2];
} Axes;

static void DrawTicks(FILE* out, const Axes* axes, bool alongX)
{
    const double* range = alongX ? axes->xRange : axes->yRange;
    double step = jnaTickStep(range, alongX ? 6 : 4);
    int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    double first = ceil(range[0] / step - 1e-9);
    for (int i = 0; i < MOST_TICKS && (first + i) * step <= range[1] + 1e-9 * step; ++i) {
        double value = (first + i) * step, share = (value - range[0]) / (range[1] - range[0]);
        value = fabs(value) < 1e-9 * step ? 0.0 : value;
        if (alongX) {
            double x = axes->x + share * axes->width;
            fprintf(out, "<path class=\"g\" d=\"M%.1f %.1fv%.1f\"/>", x, axes->y, axes->height);
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.*f</text>", x,
                axes->y + axes->height + 13, decimals, value);
        } else {
            double y = axes->y + (1 - share) * axes->height;
            fprintf(out, "<path class=\"g\" d=\"M%.1f %.1fh%.1f\"/>", axes->x, y, axes->width);
            fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>", axes->x - 5, y + 4, decimals,
                value);
        }
    }
}

static double PlaceX(const Axes* axes, double value)
{
    return axes->x + (value - axes->xRange[0]) / (axes->xRange[1] - axes->xRange[0]) * axes->width;
}

// What leaves the frame runs along its edge.
static double PlaceY(const Axes* axes, double value)
{
    double share = (value - axes->yRange[0]) / (axes->yRange[1] - axes->yRange[0]);
    return axes->y + (1 - fmin(fmax(share, 0), 1)) * axes->height;
}

static void DrawSeries(FILE* out, const Axes* axes, const jnaSeries* series)
{
    bool drawing = false;
    for (int i = 0; i < series->count; ++i) {
        if (!isfinite(series->x[i] + series->y[i])) {
            fputs(drawing ? "\"/>" : "", out);
            drawing = false;
            continue;
        }
        if (!drawing) {
            fprintf(out, "<polyline stroke=\"#%06x\"%s points=\"", (unsigned)series->color,
                series->dashed ? " stroke-dasharray=\"4 3\"" : "");
        }
        fprintf(out, "%s%.1f,%.1f", drawing ? " " : "", PlaceX(axes, series->x[i]), PlaceY(axes, series->y[i]));
        drawing = true;
    }
    fputs(drawing ? "\"/>" : "", out);
}

// Darker ground where frames are marked, runs of them as one.
static void DrawShade(FILE* out, const Axes* axes, const jnaSeries* series, const uint8_t* shaded)
{
    for (int i = 0; i < series->count; ++i) {
        int end = i;
        while (end < series->count && shaded[end] != 0) {
            end++;
        }
        if (end > i) {
            double half = series->count > 1 ? 0.5 * (series->x[1] - series->x[0]) : 0.5;
            double from = fmax(PlaceX(axes, series->x[i] - half), axes->x);
            double to = fmin(PlaceX(axes, series->x[end - 1] + half), axes->x + axes->width);
            fprintf(out, "<rect class=\"s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", from, axes->y,
                fmax(to - from, 0), axes->height);
            i = end;
        }
    }
}

void jnaReport_Chart(FILE* out, const jnaChart* chart, const uint8_t* shaded, int width, int height)
{
    Axes axes = {.x = LEFT, .y = TOP, .width = width - LEFT - RIGHT, .height = height - TOP - BOTTOM};
    jnaChart_FindRange(chart, true, axes.xRange);
    jnaChart_FindRange(chart, false, axes.yRange);
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", width, height);
    jnaReport_Text(out, chart->title);
    fputs("\">", out);
    if (shaded != NULL && chart->seriesCount > 0) {
        DrawShade(out, &axes, &chart->series[0], shaded);
    }
    DrawTicks(out, &axes, true);
    DrawTicks(out, &axes, false);
    fprintf(out, "<rect class=\"f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", axes.x, axes.y, axes.width,
        axes.height);
    for (int s = 0; s < chart->seriesCount; ++s) {
        DrawSeries(out, &axes, &chart->series[s]);
    }
    fprintf(out, "<text class=\"t\" x=\"%.1f\" y=\"14\" text-anchor=\"middle\">", axes.x + axes.width / 2);
    jnaReport_Text(out, chart->title);
    fprintf(out, "</text><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", axes.x + axes.width / 2, height - 5);
    jnaReport_Text(out, chart->xLabel);
    fprintf(out, "</text><text transform=\"translate(10 %.1f) rotate(-90)\" text-anchor=\"middle\">",
        axes.y + axes.height / 2);
    jnaReport_Text(out, chart->yLabel);
    fputs("</text></svg>", out);
}
