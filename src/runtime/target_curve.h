// The target between two samples, as weights of differences of samples that are the same for every vertex.
//
// Of the last four samples s0 .. s3 (oldest first), with durations t0, t1, t2 between them, the interval that
// is advanced is number `own`. Differences are scaled to its length, D_i = (s_{i+1} - s_i) t_own / t_i, so
// that second differences
//
//     e0 = D1 - D0,  e1 = D2 - D1
//
// vanish exactly at constant velocity, in floating point too. Every curve is then the straight line D_own
// plus multiples of e0 and e1. A Hermite curve has given slopes and uses e0 = M0 - D_own, e1 = M1 - D_own
// instead.
#pragma once

#include "internal.h"
#include "jounce/springs.h"

typedef struct jnInterval {
    double h;        // seconds, length of the interval
    int own;         // which difference spans it: 1 (exact) or 2
    float ratios[3]; // t_own / t_i
    double start[2]; // slope at the start, times h: D_own + start . (e0, e1)
    double end[2];   // slope at the end, times h
    double kick[3];  // what the target's velocity jumps by at the start, times h, in (D_own, e0, e1)
    double line;     // 1, or 0 for a target that stands still in between (step)
} jnInterval;

// Weights of (D_own, e0, e1) at a time inside an interval.
typedef struct jnCurvePoint {
    float place[3]; // target relative to the sample at the interval's start
    float slope[3]; // target's velocity, m/s
} jnCurvePoint;

// What precedes and follows an interval.
typedef struct jnIntervalEnds {
    bool first;  // no sample before its start
    bool second; // just one sample before its start (causal only)
    bool last;   // no sample after its end (exact only)
    bool atRest; // first, and the springs have no velocity in space
} jnIntervalEnds;

// Describes the interval that a set with these durations advances.
jnInterval jnMakeInterval(jnCurve curve, jnTiming timing, const double durations[3], jnIntervalEnds ends);

// Weights of (e0, e1) of the target's second derivative, m/s^2, at the start of the interval, and of its
// rate, m/s^3.
void jnInterval_Forcing(const jnInterval* interval, float acceleration[2], float jerk[2]);

jnCurvePoint jnInterval_Point(const jnInterval* interval, double fraction);
