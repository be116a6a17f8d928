// Progress of long jobs, Ctrl-C, and folders for their output.
#include "cli.h"

#include "base/clock.h"
#include "base/sandbox.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Seconds between two renewals of the line.
#define RENEW 0.2

// The only state that a signal may touch.
static volatile sig_atomic_t interrupted;

// Work asks often whether it shall end. Where it does not for as much processor time, the process ends all the same: no
// more is lost than by a kill, the pose in hand.
#define PATIENCE 1500000000L // nanoseconds
static timer_t overdue;

static void OnOverdue(int signal)
{
    static const char words[] = "\njounce: interrupted; finished work is kept, and the same command resumes it\n";
    (void)signal;
    // The empty line is for a terminal, which shows progress.
    size_t skipped = isatty(STDERR_FILENO) ? 0 : 1;
    ssize_t written = write(STDERR_FILENO, words + skipped, sizeof(words) - 1 - skipped);
    (void)written;
    _exit(JNC_FAILED);
}

static void OnInterrupt(int signal)
{
    const struct itimerspec soon = {.it_value = {.tv_sec = PATIENCE / 1000000000, .tv_nsec = PATIENCE % 1000000000}};
    int before = errno;
    (void)signal;
    interrupted = 1;
    (void)timer_settime(overdue, 0, &soon, NULL);
    errno = before;
}

static bool listening;

static void Listen(void)
{
    struct sigaction action = {.sa_handler = OnInterrupt}, end = {.sa_handler = OnOverdue};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    if (listening || timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &overdue) != 0) {
        return; // without such a timer a signal ends the process as it always does
    }
    listening = true;
    sigaction(SIGPROF, &end, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool jncInterrupted(void)
{
    return interrupted != 0;
}

void jncRequireSandbox(bool required)
{
    if (required) {
        (void)setenv(JNA_REQUIRE_SANDBOX, "1", 1);
    }
}

jncProgress jncBeginProgress(const char* what)
{
    Listen();
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
