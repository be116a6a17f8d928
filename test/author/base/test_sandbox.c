// The sandbox of processes that read files from elsewhere: what they can still do, and what not.
#include "base/child.h"
#include "helpers/command.h"
#include "jounce/base.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

// What the child did, a bit each.
enum {
    READ_OWN = 1,
    READ_BESIDE = 2,
    READ_OTHER = 4,
    WROTE = 8,
    CONNECTED = 16,
    RAN = 32,
    FORKED = 64,
    THREADED = 128
};

static void* DoNothing(void* user)
{
    return user;
}

static bool CanOpen(const char* path, int flags)
{
    int file = open(path, flags, 0666);
    if (file >= 0) {
        close(file);
    }
    return file >= 0;
}

static int TryEverything(int output, void* user)
{
    (void)output, (void)user;
    int done = 0;
    pthread_t thread;
    done |= CanOpen("models/model.glb", O_RDONLY) ? READ_OWN : 0;
    done |= CanOpen("models/model.bin", O_RDONLY) ? READ_BESIDE : 0;
    done |= CanOpen("/etc/passwd", O_RDONLY) || CanOpen("secret", O_RDONLY) ? READ_OTHER : 0;
    done |= CanOpen("models/new", O_WRONLY | O_CREAT) || CanOpen("models/model.bin", O_RDWR) ||
                    unlink("models/model.bin") == 0 || rename("models/model.bin", "models/x") == 0
                ? WROTE
                : 0;
    int connection = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    done |= connection >= 0 || local >= 0 ? CONNECTED : 0;
    done |= system("true") == 0 ? RAN : 0;
    // Were the call itself not refused, it would look for the file.
    char* const none[] = {NULL};
    execve("models/none", none, none);
    done |= errno == ENOENT ? RAN : 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    done |= child > 0 ? FORKED : 0;
    done |= pthread_create(&thread, NULL, DoNothing, NULL) == 0 && pthread_join(thread, NULL) == 0 ? THREADED : 0;
    return done;
}

static int RunIt(const char* file)
{
    const jnaChildDef def = {.run = TryEverything,
        .file = file,
        .seconds = 20,
        .memory = (size_t)1 << 30,
        .sharesMemory = true,
        .mostOutput = 1000};
    jnaChildOutcome outcome;
    assert_int_equal(jnaRunChild(&def, &outcome, NULL), jn_ok);
    assert_int_equal(outcome.ending, jna_childEnded);
    assert_true(WIFEXITED(outcome.status));
    free(outcome.output);
    return WEXITSTATUS(outcome.status);
}

static void MakeFiles(void)
{
    assert_int_equal(
        system("mkdir -p models && echo 1 > models/model.glb && echo 2 > models/model.bin && echo 3 > secret"), 0);
}

static void AReaderReachesItsFolderAndNothingElse(void** state)
{
    (void)state;
    MakeFiles();
    int done = RunIt("models/model.glb");
    assert_int_equal(done & (READ_OWN | READ_BESIDE | THREADED), READ_OWN | READ_BESIDE | THREADED);
    assert_int_equal(done & (WROTE | CONNECTED | RAN | FORKED), 0);
    if ((done & READ_OTHER) != 0) {
        print_message("this kernel has no Landlock: other files can be read\n");
    }
}

static void AChildWithoutAFileIsNotConfined(void** state)
{
    (void)state;
    MakeFiles();
    int done = RunIt(NULL);
    assert_int_equal(
        done & (READ_OTHER | WROTE | CONNECTED | RAN | FORKED), READ_OTHER | WROTE | CONNECTED | RAN | FORKED);
}

static int Abort(int output, void* user)
{
    (void)output, (void)user;
    abort();
}

static void ACrashInTheSandboxIsSeenAsOne(void** state)
{
    (void)state;
    MakeFiles();
    const jnaChildDef def = {.run = Abort,
        .file = "models/model.glb",
        .seconds = 20,
        .memory = (size_t)1 << 30,
        .sharesMemory = true,
        .mostOutput = 1000};
    jnaChildOutcome outcome;
    assert_int_equal(jnaRunChild(&def, &outcome, NULL), jn_ok);
    assert_true(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGABRT);
    free(outcome.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AReaderReachesItsFolderAndNothingElse),
        cmocka_unit_test(AChildWithoutAFileIsNotConfined),
        cmocka_unit_test(ACrashInTheSandboxIsSeenAsOne),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
