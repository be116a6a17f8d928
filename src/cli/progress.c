// Progress of long jobs, Ctrl-C, and folders for their output.
#include "cli.h"

#include "base/clock.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool jncShowProgress(double share, void* user)
{
    jncProgress* progress = user;
    double now = jnaWallClock();
    if (isatty(STDERR_FILENO) && now - progress->shown > 0.1 && share > 0.0) {
        double left = (now - progress->started) * (1.0 - share) / share;
        fprintf(stderr, "\r%s: %3.0f %%, %d:%02d left ", progress->what, 100 * share, (int)left / 60, (int)left % 60);
        fflush(stderr);
        progress->shown = now;
    }
    return interrupted == 0;
}

bool jncShowCount(jncProgress* progress, int done, int total, int solved, const char* more)
{
    double now = jnaWallClock(), rate = solved / (now - progress->started + 1e-9);
    if (isatty(STDERR_FILENO) && now - progress->shown > 0.25) {
        char left[32] = "";
        if (solved > 0) {
            int seconds = (int)((total - done) / rate);
            snprintf(left, sizeof(left), ", %d:%02d:%02d left", seconds / 3600, seconds / 60 % 60, seconds % 60);
        }
        progress->width =
            fprintf(stderr, "\r%s: %d of %d, %.0f an hour%s%s  ", progress->what, done, total, 3600 * rate, left, more);
        fflush(stderr);
        progress->shown = now;
    }
    return interrupted == 0;
}

void jncEndProgress(jncProgress* progress)
{
    if (progress->shown > 0.0) {
        int width = (int)strlen(progress->what) + 24;
        fprintf(stderr, "\r%*s\r", progress->width > width ? progress->width : width, "");
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
