// Progress of long jobs, Ctrl-C, and folders for their output.
#include "cli.h"

#include "base/clock.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Seconds between two renewals of the line.
#define RENEW 0.2

// The only state that a signal may touch.
static volatile sig_atomic_t interrupted;

static void OnInterrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

bool jncInterrupted(void)
{
    return interrupted != 0;
}

jncProgress jncBeginProgress(const char* what)
{
    struct sigaction action = {.sa_handler = OnInterrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return (jncProgress){.what = what, .started = jnaWallClock()};
}

const char* jncFormatTime(double seconds, char text[24])
{
    int whole = (int)fmin(fmax(seconds, 0) + 0.5, 1e9);
    if (whole >= 3600) {
        snprintf(text, 24, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
    } else {
        snprintf(text, 24, "%d:%02d", whole / 60, whole % 60);
    }
    return text;
}

// What is done: "41 %", "112 of 300", or as the work puts it.
static void PrintDone(const jnaProgress* state)
{
    if (state->detail[0] != '\0') {
        fputs(state->detail, stderr);
    } else if (state->total > 0) {
        fprintf(stderr, "%d of %d", state->done, state->total);
    } else {
        fprintf(stderr, "%.0f %%", 100 * state->share);
    }
}

// "fitting springs: 41 %, 2:10 left"; of counted things "poses: 112 of 300, 410 an hour, 27:30 left".
bool jncShowProgress(const jnaProgress* state, void* user)
{
    jncProgress* progress = user;
    double now = jnaWallClock();
    bool counted = state->total > 0;
    if (counted && !progress->counted) { // from here on: what came before was preparation
        progress->counted = true;
        progress->started = now;
        progress->before = state->solved;
    }
    if (!isatty(STDERR_FILENO) || now - progress->shown <= RENEW || (!counted && state->share <= 0)) {
        return interrupted == 0;
    }
    char left[24];
    double spent = now - progress->started, done = counted ? state->solved - progress->before : state->share;
    double rest = counted ? state->total - state->done : 1 - done;
    fprintf(stderr, "\r%s: ", progress->what);
    PrintDone(state);
    if (done > 0 && counted) {
        fprintf(stderr, ", %.0f an hour", 3600 * done / spent);
    }
    if (done > 0) {
        fprintf(stderr, ", %s left", jncFormatTime(spent * rest / done, left));
    }
    fprintf(stderr, "%s\033[K", state->waiting ? ", waiting for another run" : "");
    fflush(stderr);
    progress->shown = now;
    return interrupted == 0;
}

void jncEndProgress(jncProgress* progress)
{
    if (progress->shown > 0.0) {
        fprintf(stderr, "\r\033[K");
    }
}

jnResult jncMakeFolder(const char* path, jnError* error)
{
    struct stat status;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
        return jn_ok;
    }
    return jnFail(error, jn_ioFailed, "%s: cannot create the folder: %s", path, strerror(errno));
}
