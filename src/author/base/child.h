// Other work in a process of its own, so that its crashes, its hunger for memory and its hangs stay there.
#pragma once

#include "base/sandbox.h"
#include "base/watch.h"

#include <stdbool.h>
#include <stddef.h>

/// What a child may do and how it is heard.
typedef struct jnaChildDef {
    int (*run)(int output, void* user); // in the child: writes to `output`, or becomes another program; its exit code
    void* user;
    const char* file;  // that it reads: it is then confined to it and its folder (base/sandbox.h); NULL: not confined
    double seconds;    // wall-clock and processor time
    size_t memory;     // bytes of address space
    bool sharesMemory; // on top of what this process has mapped: for a child that goes on with our own code
    bool terminal;     // `output` is a terminal where one can be had: a program then keeps no lines in a buffer, which
                       // it would take along when it aborts. Else, and where there is none, a pipe
    size_t mostOutput; // bytes that are listened to
    bool keepsOnlyEnd; // of more than that the beginning is dropped; else the child is ended
    jnaWatch watch;    // asked ten times a second, with the share of its time that has gone by
} jnaChildDef;

typedef enum jnaChildEnding {
    jna_childEnded,   // by itself: see status
    jna_childTooLong, // these four: by our hand
    jna_childTooMuch,
    jna_childStopped,  // by who watches
    jna_childNoMemory, // ours, for what it said
    jna_childLost,     // it could not be heard
    jna_childOpen,     // it was to be confined and was not: it did nothing (JNA_REQUIRE_SANDBOX)
} jnaChildEnding;

typedef struct jnaChildOutcome {
    jnaChildEnding ending;
    int status;         // as waitpid gives it
    jnaSandbox sandbox; // that a child with a file is in
    char* output;       // [outputSize] and a zero, owned by the caller, NULL where nothing was said
    size_t outputSize;
} jnaChildOutcome;

/// Runs a child to its end. An error only where it could not be started.
jnResult jnaRunChild(const jnaChildDef* def, jnaChildOutcome* outcome, jnError* error);
