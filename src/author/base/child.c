// Child processes: forked, limited in memory, processor and wall-clock time, heard through a terminal or a pipe, and
// gone when this call returns, however they end.
#include "base/child.h"

#include "base/clock.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 65536, CALLS = 1, FILES = 2 };
#define ASK 0.1 // seconds between two questions to who watches

static void CloseBoth(int* ours, int* theirs)
{
    if (*ours >= 0) {
        close(*ours);
    }
    if (*theirs >= 0) {
        close(*theirs);
    }
    *ours = *theirs = -1;
}

// Both ends of a pseudo-terminal that passes bytes as they are; false where the system has none to give.
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
    CloseBoth(ours, theirs);
    return false;
}

static bool OpenPipe(int* ours, int* theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    *ours = ends[0];
    *theirs = ends[1];
    return true;
}

static void Limit(unsigned resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    (void)setrlimit(resource, &limit);
}

// Bytes that this process has mapped, which a child inherits.
static rlim_t MappedBytes(void)
{
    unsigned long pages = 0;
    FILE* status = fopen("/proc/self/statm", "r");
    if (status != NULL) {
        if (fscanf(status, "%lu", &pages) != 1) {
            pages = 0;
        }
        fclose(status);
    }
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

// A sanitizer reserves terabytes of addresses for itself: no limit then, unless the child becomes another program.
static void LimitMemory(const jnaChildDef* def, rlim_t mapped)
{
#ifdef JN_SANITIZED
    const bool sanitized = true;
#else
    const bool sanitized = false;
#endif
    if (!sanitized || !def->sharesMemory) {
        Limit(RLIMIT_AS, (rlim_t)def->memory + (def->sharesMemory ? mapped : 0));
    }
}

static bool IsSandboxRequired(void)
{
    const char* required = getenv(JNA_REQUIRE_SANDBOX);
    return required != NULL && strcmp(required, "1") == 0;
}

// Closes all descriptors but the first three and one, which gets another number: files that the parent writes are not
// for who reads a file from elsewhere.
static int KeepOnly(int output)
{
    enum { KEPT = 3, MOST = 1 << 16 };
    if (output != KEPT && dup2(output, KEPT) != KEPT) {
        _exit(1);
    }
#ifdef SYS_close_range
    if (syscall(SYS_close_range, KEPT + 1, ~0U, 0) == 0) {
        return KEPT;
    }
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int i = KEPT + 1; i < (most > 0 && most < MOST ? (int)most : MOST); ++i) {
        close(i);
    }
    return KEPT;
}

static _Noreturn void BecomeChild(const jnaChildDef* def, int output, rlim_t mapped)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
    }
    // The parent's own handlers, a sanitizer's or a debugger's, would only slow a crash down. Ctrl-C reaches both: it
    // is for the parent to end its child, or the file would be blamed for that.
    const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGPIPE, SIGTERM};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); ++i) {
        signal(signals[i], SIG_DFL);
    }
    signal(SIGINT, SIG_IGN);
    Limit(RLIMIT_CORE, 0);
    Limit(RLIMIT_CPU, (rlim_t)def->seconds + 1);
    LimitMemory(def, mapped);
    if (def->file != NULL) {
        output = KeepOnly(output);
        jnaSandbox sandbox = jnaEnterSandbox(def->file);
        char first = (char)((sandbox.calls ? CALLS : 0) | (sandbox.files ? FILES : 0));
        if (write(output, &first, 1) != 1 || (IsSandboxRequired() && first != (CALLS | FILES))) {
            _exit(1);
        }
    }
    _exit(def->run(output, def->user));
}

// Takes the byte about the sandbox off what was heard.
static void TakeSandbox(jnaChildOutcome* outcome)
{
    int first = outcome->outputSize > 0 ? (unsigned char)outcome->output[0] : 0;
    outcome->sandbox = (jnaSandbox){(first & CALLS) != 0, (first & FILES) != 0};
    if (outcome->outputSize > 0) {
        memmove(outcome->output, outcome->output + 1, --outcome->outputSize);
    }
    if (outcome->outputSize == 0) {
        free(outcome->output);
        outcome->output = NULL;
    }
    if (outcome->ending == jna_childEnded && IsSandboxRequired() && first != (CALLS | FILES)) {
        outcome->ending = jna_childOpen;
    }
}

// Room for another block at the end of what was heard.
static jnaChildEnding MakeRoom(const jnaChildDef* def, jnaChildOutcome* outcome, size_t* capacity)
{
    if (outcome->outputSize >= def->mostOutput) {
        if (!def->keepsOnlyEnd) {
            return jna_childTooMuch;
        }
        size_t kept = def->mostOutput / 2;
        memmove(outcome->output, outcome->output + outcome->outputSize - kept, kept);
        outcome->outputSize = kept;
    }
    if (*capacity - outcome->outputSize <= BLOCK) {
        size_t larger = *capacity == 0 ? 4 * BLOCK : 2 * *capacity;
        char* grown = realloc(outcome->output, larger);
        if (grown == NULL) {
            return jna_childNoMemory;
        }
        outcome->output = grown;
        *capacity = larger;
    }
    return jna_childEnded;
}

// Reads until the child closes its end or a limit is reached.
static jnaChildEnding Listen(const jnaChildDef* def, int input, double deadline, jnaChildOutcome* outcome)
{
    size_t capacity = 0;
    for (;;) {
        double left = deadline - jnaWallClock();
        if (left <= 0) {
            return jna_childTooLong;
        }
        if (!jnaWatch_GoesOn(&def->watch, 1 - left / def->seconds)) {
            return jna_childStopped;
        }
        struct pollfd wait = {input, POLLIN, 0};
        int ready = poll(&wait, 1, (int)(1000 * fmin(left, ASK)) + 1);
        if (ready < 0 && errno != EINTR) {
            return jna_childLost;
        }
        if (ready <= 0) {
            continue;
        }
        jnaChildEnding ending = MakeRoom(def, outcome, &capacity);
        if (ending != jna_childEnded) {
            return ending;
        }
        ssize_t count = read(input, outcome->output + outcome->outputSize, BLOCK);
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            // A terminal whose other end is closed says EIO.
            return errno == EIO ? jna_childEnded : jna_childLost;
        }
        if (count == 0) {
            return jna_childEnded;
        }
        outcome->outputSize += count > 0 ? (size_t)count : 0;
    }
}

// A child may close its output long before it ends. False when the time is over.
static bool WaitFor(pid_t child, double deadline, int* status)
{
    for (;;) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            return true;
        }
        if (jnaWallClock() > deadline) {
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

jnResult jnaRunChild(const jnaChildDef* def, jnaChildOutcome* outcome, jnError* error)
{
    int ours = -1, theirs = -1;
    *outcome = (jnaChildOutcome){.ending = jna_childLost};
    if (!(def->terminal && OpenTerminal(&ours, &theirs)) && !OpenPipe(&ours, &theirs)) {
        return jnFail(error, jn_ioFailed, "cannot make a pipe: %s", strerror(errno));
    }
    // Asked for before the fork: the child of a process with threads should do as little as it can.
    rlim_t mapped = def->sharesMemory ? MappedBytes() : 0;
    double deadline = jnaWallClock() + def->seconds;
    pid_t child = fork();
    if (child == 0) {
        close(ours);
        BecomeChild(def, theirs, mapped);
    }
    if (child < 0) {
        CloseBoth(&ours, &theirs);
        return jnFail(error, jn_ioFailed, "cannot start a process: %s", strerror(errno));
    }
    close(theirs);
    outcome->ending = Listen(def, ours, deadline, outcome);
    close(ours);
    if (outcome->ending == jna_childEnded && !WaitFor(child, deadline, &outcome->status)) {
        outcome->ending = jna_childTooLong;
    }
    if (outcome->ending != jna_childEnded) {
        kill(child, SIGKILL);
        while (waitpid(child, &outcome->status, 0) < 0 && errno == EINTR) {}
    }
    if (def->file != NULL) {
        TakeSandbox(outcome);
    }
    if (outcome->output != NULL) {
        outcome->output[outcome->outputSize] = '\0';
    }
    return jn_ok;
}
