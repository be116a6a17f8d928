// Running another program with limits on its time and memory, and hearing what it says even when it dies.
//
// The program talks to a pseudo-terminal: on a pipe it would keep its lines in a buffer and take them along when it
// aborts.
#include "mesh_internal.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// Exit code of the child when it could not become the program; shells use the same.
enum { EXIT_NOT_FOUND = 127 };

static double Now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Both ends of a pseudo-terminal that passes bytes as they are.
static bool OpenTerminal(int* ours, int* theirs)
{
    char name[128];
    *theirs = -1;
    *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*ours >= 0 && grantpt(*ours) == 0 && unlockpt(*ours) == 0 && ptsname_r(*ours, name, sizeof(name)) == 0) {
        *theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    struct termios settings;
    if (*theirs >= 0 && tcgetattr(*theirs, &settings) == 0) {
        cfmakeraw(&settings);
        tcsetattr(*theirs, TCSANOW, &settings);
        return true;
    }
    if (*ours >= 0) {
        close(*ours);
    }
    if (*theirs >= 0) {
        close(*theirs);
    }
    return false;
}

// In the child, between fork and exec: only calls that are safe there.
static void BecomeProgram(const char* folder, char* const arguments[], int terminal, double timeLimit, size_t memory)
{
    struct rlimit seconds = {(rlim_t)timeLimit + 1, (rlim_t)timeLimit + 2}, bytes = {memory, memory}, none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_AS, &bytes);
    setrlimit(RLIMIT_CORE, &none);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(terminal, STDOUT_FILENO) < 0 ||
        dup2(terminal, STDERR_FILENO) < 0 || chdir(folder) != 0) {
        _exit(EXIT_NOT_FOUND);
    }
    execvp(arguments[0], arguments);
    _exit(EXIT_NOT_FOUND);
}

// Adds bytes at the end of a text, dropping its beginning where it grows too long.
static void Append(char* text, size_t size, size_t* length, const char* bytes, size_t count)
{
    if (*length + count >= size) {
        size_t drop = *length + count - size + 1 + size / 4;
        drop = drop < *length ? drop : *length;
        memmove(text, text + drop, *length - drop);
        *length -= drop;
    }
    count = count < size - 1 - *length ? count : size - 1 - *length;
    memcpy(text + *length, bytes, count);
    *length += count;
    text[*length] = '\0';
}

// Reads until the program closes its end. False when the time is over.
static bool Listen(int terminal, double deadline, char* output, size_t size)
{
    size_t length = 0;
    for (;;) {
        double left = deadline - Now();
        struct pollfd wait = {.fd = terminal, .events = POLLIN};
        if (left <= 0) {
            return false;
        }
        int ready = poll(&wait, 1, (int)fmin(1000 * left + 1, 1e6));
        if (ready < 0 && errno != EINTR) {
            return true;
        }
        if (ready > 0) {
            char block[4096];
            ssize_t count = read(terminal, block, sizeof(block));
            if (count <= 0 && !(count < 0 && errno == EINTR)) {
                return true;
            }
            Append(output, size, &length, block, count > 0 ? (size_t)count : 0);
        }
    }
}

// The program may close its output long before it ends. False when the time is over.
static bool WaitFor(pid_t child, double deadline, int* status)
{
    for (;;) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return true;
        }
        if (Now() > deadline) {
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

jnResult jnaRunChild(const char* folder, char* const arguments[], double timeLimit, size_t memoryLimit, char* output,
    size_t outputSize, int* status, jnError* error)
{
    int ours, theirs;
    output[0] = '\0';
    if (!OpenTerminal(&ours, &theirs)) {
        return jnFail(error, jn_ioFailed, "cannot open a terminal for %s: %s", arguments[0], strerror(errno));
    }
    double deadline = Now() + timeLimit;
    pid_t child = fork();
    if (child == 0) {
        BecomeProgram(folder, arguments, theirs, timeLimit, memoryLimit);
    }
    close(theirs);
    if (child < 0) {
        close(ours);
        return jnFail(error, jn_ioFailed, "cannot start %s: %s", arguments[0], strerror(errno));
    }
    bool inTime = Listen(ours, deadline, output, outputSize) && WaitFor(child, deadline, status);
    if (!inTime) {
        kill(child, SIGKILL);
        (void)waitpid(child, status, 0);
    }
    close(ours);
    if (!inTime) {
        return jnFail(error, jn_ioFailed, "%s did not finish within %g s", arguments[0], timeLimit);
    }
    if (WIFEXITED(*status) && WEXITSTATUS(*status) == EXIT_NOT_FOUND) {
        return jnFail(error, jn_ioFailed,
            "the program '%s' is not installed; on Debian: apt install tetgen, or use --method lattice", arguments[0]);
    }
    return jn_ok;
}
