// The progress callback of all long work: is told how far it is, and may end it.
#pragma once

#include "jounce/base.h"

#include <stdbool.h>
#include <stddef.h>

/// How far long work is. The share is always there, the rest where the work knows it, 0 otherwise.
typedef struct jnaProgress {
    double share;       // of the work, 0 to 1
    int done, total;    // poses, frames or epochs; total 0: it is not counted
    int solved;         // of the done ones by this run; the others were there
    bool waiting;       // for another run that has the rest in hand
    double secondsLeft; // of a build; who shows other work finds it by the clock
    struct {
        const char* name;  // NULL: the work has no parts
        int number, count; // of those that run, counted from 1
        double share;      // of the part, 0 to 1
    } part;                // the stage of a build
    char detail[96];       // "epoch 3 of 600, validation 0.41 mm"; may be empty
} jnaProgress;

/// All zeroes: nobody watches. Called now and then, one thread at a time.
typedef struct jnaWatch {
    bool (*tell)(const jnaProgress* progress, void* user); // false ends the work with jn_cancelled; may be NULL
    void* user;
} jnaWatch;

/// Tells how far the work is; false where it shall end. watch: may be NULL.
static inline bool jnaWatch_Show(const jnaWatch* watch, const jnaProgress* progress)
{
    return watch == NULL || watch->tell == NULL || watch->tell(progress, watch->user);
}

/// The same of work that knows its share alone.
bool jnaWatch_GoesOn(const jnaWatch* watch, double share);

/// The same of work that is counted: fills in the share.
bool jnaWatch_Count(const jnaWatch* watch, jnaProgress* progress);

/// jn_cancelled, with the sentence of all that is stopped. error: may be NULL.
jnResult jnaWatch_Stopped(jnError* error);

/// Tells the share, and jn_ok or that.
jnResult jnaWatch_Tell(const jnaWatch* watch, double share, jnError* error);
