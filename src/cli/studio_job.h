// A verb of this command in a process of its own, for jounce studio: started, asked how far it is, stopped.
#pragma once

#include "jounce/base.h"

#include <stdbool.h>
#include <sys/types.h>

enum { JNC_JOB_TEXT = 600, JNC_JOB_WORDS = 12 };

/// All zeroes: there was none.
typedef struct jncJob {
    int number;    // counts up with every one that is started; 0: none yet
    pid_t process; // 0: none runs
    int progress;  // descriptor and one of what it says on standard error; 0: none
    bool stopped;  // by us
    int code;      // its exit code, or 128 and a signal, once it has ended
    char verb[16];
} jncJob;

/// How far a job is.
typedef struct jncJobState {
    bool runs, failed, stopped;
    char line[JNC_JOB_TEXT];  // the last line of progress, JSON; "" where there is none
    char error[JNC_JOB_TEXT]; // why it failed, one sentence; "" where it did not
} jncJobState;

/// Starts "jounce WORDS...". words[0] is the verb; NULL ends them. Refused while one runs.
jnResult jncJob_Start(jncJob* job, const char* const* words, jnError* error);

/// Looks how far it is; true if it has ended since the last look.
bool jncJob_Look(jncJob* job, jncJobState* state);

/// Asks it to end, as Ctrl-C does: what is finished is kept.
void jncJob_Stop(jncJob* job);

/// The same, and waits for its end.
void jncJob_Finish(jncJob* job);
