// Jobs of jounce studio. What a job says goes to a file without a name, so that it never waits for somebody who reads:
// a page may be closed while a build runs.
#include "studio_job.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAIL = 4096 };

extern char** environ;

// The signals that this process blocks or ignores are the job's to take.
static int Spawn(pid_t* process, char* const* words, int output)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawn(process, "/proc/self/exe", &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

jnResult jncJob_Start(jncJob* job, const char* const* words, jnError* error)
{
    union {
        const char* from;
        char* to;
    } given[JNC_JOB_WORDS + 2] = {{"jounce"}};
    char* list[JNC_JOB_WORDS + 2] = {given[0].to};
    if (job->process != 0) {
        return jnFail(error, jn_badArgument, "jounce %s is still running; cancel it first", job->verb);
    }
    for (int i = 0; i < JNC_JOB_WORDS && words[i] != NULL; ++i) {
        given[i + 1].from = words[i];
        list[i + 1] = given[i + 1].to;
    }
    int file = memfd_create("jounce-job", MFD_CLOEXEC);
    int flags = file >= 0 ? fcntl(file, F_GETFL) : -1;
    // Each line goes behind the last, whoever reads meanwhile.
    int code = flags >= 0 && fcntl(file, F_SETFL, flags | O_APPEND) == 0 ? Spawn(&job->process, list, file) : errno;
    if (code != 0) {
        job->process = 0;
        if (file >= 0) {
            close(file);
        }
        return jnFail(error, jn_ioFailed, "cannot start jounce %s: %s", words[0], strerror(code));
    }
    if (job->progress > 0) {
        close(job->progress - 1);
    }
    job->progress = file + 1;
    job->stopped = false;
    job->code = 0;
    job->number++;
    snprintf(job->verb, sizeof(job->verb), "%s", words[0]);
    return jn_ok;
}

// The last line that begins with a word, without the word where it is left out.
static void FindLine(const char* text, const char* word, size_t leftOut, char line[JNC_JOB_TEXT])
{
    line[0] = '\0';
    for (const char* at = text; at != NULL && *at != '\0';) {
        const char* end = strchr(at, '\n');
        if (end != NULL && strncmp(at, word, strlen(word)) == 0) {
            int length = (int)((size_t)(end - at) - leftOut);
            snprintf(line, JNC_JOB_TEXT, "%.*s", length, at + leftOut);
        }
        at = end != NULL ? end + 1 : NULL;
    }
}

static void ReadTail(const jncJob* job, jncJobState* state)
{
    char text[TAIL + 1];
    off_t size = lseek(job->progress - 1, 0, SEEK_END), from = size > TAIL ? size - TAIL : 0;
    ssize_t length = size > 0 ? pread(job->progress - 1, text, TAIL, from) : 0;
    text[length > 0 ? length : 0] = '\0';
    FindLine(text, "{", 0, state->line);
    FindLine(text, "jounce: ", 8, state->error);
}

bool jncJob_Look(jncJob* job, jncJobState* state)
{
    int status = 0;
    bool ended = job->process != 0 && waitpid(job->process, &status, WNOHANG) == job->process;
    if (ended) {
        job->process = 0;
        job->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    *state = (jncJobState){.runs = job->process != 0};
    if (job->progress > 0) {
        ReadTail(job, state);
    }
    state->stopped = !state->runs && job->stopped;
    state->failed = !state->runs && job->code != 0 && !job->stopped;
    if (state->failed && state->error[0] == '\0') {
        snprintf(state->error, sizeof(state->error), "jounce %s ended with code %d", job->verb, job->code);
    }
    if (!state->failed) {
        state->error[0] = '\0';
    }
    return ended;
}

void jncJob_Stop(jncJob* job)
{
    if (job->process != 0) {
        job->stopped = true;
        kill(job->process, SIGINT);
    }
}

void jncJob_Finish(jncJob* job)
{
    int status;
    jncJob_Stop(job);
    if (job->process != 0) {
        waitpid(job->process, &status, 0);
    }
    if (job->progress > 0) {
        close(job->progress - 1);
    }
    *job = (jncJob){0};
}
