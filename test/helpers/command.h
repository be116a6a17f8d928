// Runs the built command and looks at what came out.
#pragma once

#include "helpers/support.h"
#include "jounce/base.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Outcome {
    int code;        // exit code; 128 + n for signal n
    char out[16384]; // stdout and stderr, terminated
    char error[16384];
} Outcome;

static inline void ReadAll(const char* path, char* text, size_t size)
{
    FILE* file = fopen(path, "rb");
    size_t length = file != NULL ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL) {
        fclose(file);
    }
}

// Runs "jounce ARGUMENTS" through the shell, in the current folder. before: what stands before it there, limits say.
static inline Outcome RunJounceUnder(const char* before, const char* arguments)
{
    static Outcome outcome;
    char line[8192];
    snprintf(line, sizeof(line), "%s %s/bin/jounce %s > stdout.txt 2> stderr.txt", before, JN_BINARY_DIR, arguments);
    int status = system(line);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ReadAll("stdout.txt", outcome.out, sizeof(outcome.out));
    ReadAll("stderr.txt", outcome.error, sizeof(outcome.error));
    return outcome;
}

static inline Outcome RunJounce(const char* arguments)
{
    return RunJounceUnder("", arguments);
}

// The same with arguments as printf has them; what failed is printed. Returns the exit code.
static inline int RunInto(Outcome* outcome, const char* format, ...) __attribute__((format(printf, 2, 3)));
static inline int RunInto(Outcome* outcome, const char* format, ...)
{
    char arguments[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(arguments, sizeof(arguments), format, list);
    va_end(list);
    *outcome = RunJounce(arguments);
    if (outcome->code != 0) {
        print_message("jounce %s: %s\n", arguments, outcome->error);
    }
    return outcome->code;
}

// Moves into a fresh, empty folder for the test group.
static inline int EnterScratchFolder(void** state)
{
    (void)state;
    static char folder[256];
    snprintf(folder, sizeof(folder), "%s/scratch-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static inline int LeaveScratchFolder(void** state)
{
    (void)state;
    char folder[256], line[300];
    if (getcwd(folder, sizeof(folder)) == NULL || strstr(folder, "scratch-") == NULL || chdir("..") != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

static inline bool FileExists(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

// Fails unless the command ended with the code and one line on stderr that holds both words.
static inline void ExpectFailure(const char* arguments, int code, const char* word, const char* other)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != code || strstr(outcome.error, word) == NULL || strstr(outcome.error, other) == NULL) {
        fail_msg("jounce %s: exit %d, said: %s", arguments, outcome.code, outcome.error);
    }
    char* newline = strchr(outcome.error, '\n');
    assert_true(newline != NULL && newline[1] == '\0');
}
