// Ranges and ticks of a chart's axes.
#include "draw/chart.h"

#include <math.h>

// Share of the range that is left free above and below the lines.
#define MARGIN 0.06

void jnaChart_FindRange(const jnaChart* chart, bool alongX, double range[2])
{
    const double* given = alongX ? chart->xRange : chart->yRange;
    range[0] = given[0];
    range[1] = given[1];
    if (range[1] > range[0]) {
        return;
    }
    range[0] = HUGE_VAL;
    range[1] = -HUGE_VAL;
    for (int s = 0; s < chart->seriesCount; ++s) {
        for (int i = 0; i < chart->series[s].count; ++i) {
            double value = alongX ? chart->series[s].x[i] : chart->series[s].y[i];
            if (isfinite(value)) {
                range[0] = fmin(range[0], value);
                range[1] = fmax(range[1], value);
            }
        }
    }
    if (!(range[1] >= range[0])) {
        range[0] = 0;
        range[1] = 1;
    }
    double pad = range[1] > range[0] ? (alongX ? 0 : MARGIN * (range[1] - range[0])) : fmax(0.5, fabs(range[0]));
    range[0] -= pad;
    range[1] += pad;
}

double jnaTickStep(const double range[2], int count)
{
    double raw = (range[1] - range[0]) / count, power = pow(10, floor(log10(raw))), share = raw / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}
