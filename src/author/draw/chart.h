// Line charts: their data, ranges and ticks. report/report_svg.c draws them.
#pragma once

#include "jounce/base.h"

typedef struct jnaSeries {
    const char* label; // shown in the legend; NULL: not listed
    const double* x;   // [count]
    const double* y;   // [count]; a value that is not finite breaks the line
    int count;
    uint32_t color; // 0xRRGGBB
    double width;   // points
    bool dashed;
} jnaSeries;

/// One set of axes. Ranges follow the data unless given.
typedef struct jnaChart {
    const char* title;
    const char* xLabel;
    const char* yLabel;
    const jnaSeries* series; // [seriesCount]
    int seriesCount;
    double xRange[2], yRange[2]; // used where the second is above the first
} jnaChart;

/// What is given, or the data's range with a margin above and below; never empty.
void jnaChart_FindRange(const jnaChart* chart, bool alongX, double range[2]);

/// The distance between ticks: 1, 2 or 5 times a power of ten, about `count` of them.
double jnaTickStep(const double range[2], int count);
