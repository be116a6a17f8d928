// Plays takes in several ways and measures how far each is from the motion.
#pragma once

#include "pipeline/evaluate.h"

#include "pipeline/play.h"
#include "pipeline/takes.h"

enum { JNA_MOST_WAYS = 64 };

/// One way to be measured.
typedef struct jnaWay {
    jnaMethod method;
    jnaFitTargets targets;
    jnTiming timing;
    const jnaPlayer* player; // NULL: the targets themselves
    bool best;               // springs per vertex fitted to each take for itself, for the row with the same method
} jnaWay;

/// Measures all ways on all takes whose targets are there. threads: 0 for all.
jnResult jnaJudge(const jnaTakes* takes, const jnaWay* ways, int wayCount, const jnaEvaluateDef* def,
    jnaEvaluation* evaluation, jnError* error);
