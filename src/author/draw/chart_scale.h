// Ranges and ticks of a chart's axes, whoever draws them.
#pragma once

#include "draw/chart.h"

// What is given, or the data's range with a margin above and below; never empty.
void jnaChart_FindRange(const jnaChart* chart, bool alongX, double range[2]);

// The distance between ticks: 1, 2 or 5 times a power of ten, about `count` of them.
double jnaTickStep(const double range[2], int count);
