// Child processes: what they say is heard, whatever ends them is told apart, and none is left behind. Also without any
// terminal to be had, as in a small container.
#include "helpers/support.h"

#include "base/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static bool noTerminals;

// Stands before the system's.
int posix_openpt(int flags)
{
    int (*real)(int);
    *(void**)&real = dlsym(RTLD_NEXT, "posix_openpt");
    if (noTerminals) {
        errno = ENOENT;
        return -1;
    }
    return real(flags);
}

static int Say(int output, void* user)
{
    return write(output, user, strlen(user)) < 0;
}

// Becomes a program that writes through stdio and dies before it would empty its buffer.
static int SayAndAbort(int output, void* user)
{
    dup2(output, STDOUT_FILENO);
    execlp("sh", "sh", "-c", user, (char*)NULL);
    return 127;
}

static int SayMuch(int output, void* user)
{
    (void)user;
    char block[4096];
    memset(block, 'x', sizeof(block));
    for (int i = 0; i < 64; ++i) {
        block[0] = (char)('A' + i % 26);
        if (write(output, block, sizeof(block)) < 0) {
            return 1;
        }
    }
    return write(output, "end", 3) < 0;
}

static int Hang(int output, void* user)
{
    if (user != NULL) {
        close(output);
    }
    while (pause() < 0) {}
    return 0;
}

// As Ctrl-C does, which reaches the children as well.
static int Interrupt(int output, void* user)
{
    (void)user;
    raise(SIGINT);
    return write(output, "on", 2) < 0;
}

static bool GoOnTwice(const jnaProgress* progress, void* user)
{
    int* asked = user;
    assert_true(progress->share >= 0 && progress->share < 1);
    return ++*asked <= 2;
}

static int Crash(int output, void* user)
{
    (void)output;
    (void)user;
    raise(SIGSEGV);
    return 0;
}

static int Hunger(int output, void* user)
{
    (void)output;
    (void)user;
    void* much = malloc((size_t)1 << 32);
    bool got = much != NULL;
    free(much);
    return got ? 1 : 0;
}

static jnaChildDef Def(int (*run)(int, void*), void* user)
{
    return (jnaChildDef){.run = run,
        .user = user,
        .seconds = 10,
        .memory = (size_t)1 << 28,
        .sharesMemory = true,
        .mostOutput = 1 << 20};
}

static jnaChildOutcome Run(const jnaChildDef* def)
{
    jnaChildOutcome outcome;
    jnError error = {0};
    assert_int_equal(jnaRunChild(def, &outcome, &error), jn_ok);
    // None is left behind.
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return outcome;
}

static void WhatItSaysIsHeard(void** state)
{
    (void)state;
    char words[] = "a word\nand another";
    for (int kind = 0; kind < 3; ++kind) {
        jnaChildDef def = Def(Say, words);
        def.terminal = kind > 0;
        noTerminals = kind == 2;
        jnaChildOutcome outcome = Run(&def);
        assert_int_equal(outcome.ending, jna_childEnded);
        assert_true(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0);
        assert_int_equal(outcome.outputSize, strlen(words));
        assert_string_equal(outcome.output, words);
        free(outcome.output);
    }
    noTerminals = false;
}

static void AProgramIsHeardWithoutATerminalToo(void** state)
{
    (void)state;
    char line[] = "echo spoken; kill -ABRT $$";
    for (noTerminals = false;; noTerminals = true) {
        jnaChildDef def = Def(SayAndAbort, line);
        def.terminal = true;
        def.sharesMemory = false;
        jnaChildOutcome outcome = Run(&def);
        assert_int_equal(outcome.ending, jna_childEnded);
        assert_true(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT);
        assert_string_equal(outcome.output, "spoken\n");
        free(outcome.output);
        if (noTerminals) {
            break;
        }
    }
    noTerminals = false;
}

static void TooMuchIsEndedOrItsBeginningDropped(void** state)
{
    (void)state;
    jnaChildDef def = Def(SayMuch, NULL);
    def.mostOutput = 100000;
    jnaChildOutcome outcome = Run(&def);
    assert_int_equal(outcome.ending, jna_childTooMuch);
    free(outcome.output);
    def.keepsOnlyEnd = true;
    outcome = Run(&def);
    assert_int_equal(outcome.ending, jna_childEnded);
    assert_true(outcome.outputSize >= 50000 && outcome.outputSize < 200000);
    assert_string_equal(outcome.output + outcome.outputSize - 3, "end");
    free(outcome.output);
}

static void AHangEndsInTime(void** state)
{
    (void)state;
    // With its end of the pipe open, and closed.
    for (int closed = 0; closed < 2; ++closed) {
        jnaChildDef def = Def(Hang, closed ? &def : NULL);
        def.seconds = 0.2;
        jnaChildOutcome outcome = Run(&def);
        assert_int_equal(outcome.ending, jna_childTooLong);
        free(outcome.output);
    }
}

static void WhoWatchesMayEndIt(void** state)
{
    (void)state;
    int asked = 0;
    jnaChildDef def = Def(Hang, NULL);
    def.watch = (jnaWatch){GoOnTwice, &asked};
    jnaChildOutcome outcome = Run(&def);
    assert_int_equal(outcome.ending, jna_childStopped);
    assert_int_equal(asked, 3);
    free(outcome.output);
}

static void AnInterruptIsForTheParent(void** state)
{
    (void)state;
    jnaChildDef def = Def(Interrupt, NULL);
    jnaChildOutcome outcome = Run(&def);
    assert_int_equal(outcome.ending, jna_childEnded);
    assert_true(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0);
    assert_string_equal(outcome.output, "on");
    free(outcome.output);
}

static void ACrashIsItsOwn(void** state)
{
    (void)state;
    jnaChildDef def = Def(Crash, NULL);
    jnaChildOutcome outcome = Run(&def);
    assert_int_equal(outcome.ending, jna_childEnded);
    assert_true(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGSEGV);
    free(outcome.output);
}

static void MemoryIsLimited(void** state)
{
    (void)state;
#ifdef JN_SANITIZED
    skip();
#endif
    jnaChildDef def = Def(Hunger, NULL);
    jnaChildOutcome outcome = Run(&def);
    assert_true(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0);
    free(outcome.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatItSaysIsHeard),
        cmocka_unit_test(AProgramIsHeardWithoutATerminalToo),
        cmocka_unit_test(TooMuchIsEndedOrItsBeginningDropped),
        cmocka_unit_test(AHangEndsInTime),
        cmocka_unit_test(WhoWatchesMayEndIt),
        cmocka_unit_test(AnInterruptIsForTheParent),
        cmocka_unit_test(ACrashIsItsOwn),
        cmocka_unit_test(MemoryIsLimited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
