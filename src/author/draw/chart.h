// Line charts as PNG or SVG files.
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

/// A sheet of charts in rows, left to right.
typedef struct jnaSheet {
    const char* title; // over all charts; NULL for none
    const jnaChart* charts;
    int chartCount;
    int columns;
    int chartWidth, chartHeight; // pixels (points in an SVG) of each chart
} jnaSheet;

/// Draws the sheet and writes it atomically; an ending .svg makes an SVG, everything else a PNG.
jnResult jnaWriteSheet(const char* path, const jnaSheet* sheet, jnError* error);
