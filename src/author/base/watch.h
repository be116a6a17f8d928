// Someone who waits for long work: is told how far it is, and may end it.
#pragma once

#include "jounce/base.h"

#include <stdbool.h>
#include <stddef.h>

/// All zeroes: nobody watches.
typedef struct jnaWatch {
    bool (*tell)(double share, void* user); // share: of the work, 0 to 1; false ends it with jn_cancelled; may be NULL
    void* user;
} jnaWatch;

/// Tells how far the work is; false where it shall end. watch: may be NULL.
static inline bool jnaWatch_GoesOn(const jnaWatch* watch, double share)
{
    return watch == NULL || watch->tell == NULL || watch->tell(share, watch->user);
}

/// jn_cancelled, with the sentence of all that is stopped. error: may be NULL.
jnResult jnaWatch_Stopped(jnError* error);

/// Tells, and jn_ok or that.
jnResult jnaWatch_Tell(const jnaWatch* watch, double share, jnError* error);
