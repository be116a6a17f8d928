// jounce view: what it serves, what it says when it cannot, and how it ends.
#include "helpers/command.h"
#include "helpers/http_client.h"

#include <signal.h>
#include <time.h>

// A view in the background.
typedef struct View {
    pid_t process;
    int port;
} View;

static View StartView(const char* arguments)
{
    View view = {.process = fork()};
    assert_true(view.process >= 0);
    if (view.process == 0) {
        char line[1024];
        unsetenv("DISPLAY");
        unsetenv("WAYLAND_DISPLAY");
        snprintf(
            line, sizeof(line), "exec %s/bin/jounce view %s > view.txt 2> view-error.txt", JN_BINARY_DIR, arguments);
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(127);
    }
    char text[1024] = "";
    for (int i = 0; i < 300 && view.port == 0; ++i) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        ReadAll("view.txt", text, sizeof(text));
        const char* address = strstr(text, "http://127.0.0.1:");
        view.port = address != NULL && strchr(address, '\n') != NULL ? atoi(address + 17) : 0;
    }
    if (view.port == 0) {
        ReadAll("view-error.txt", text, sizeof(text));
        fail_msg("jounce view %s: %s", arguments, text);
    }
    return view;
}

static int EndView(const View* view, int signalNumber)
{
    int status;
    kill(view->process, signalNumber);
    assert_int_equal(waitpid(view->process, &status, 0), view->process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int Prepare(void** state)
{
    int code = EnterScratchFolder(state);
    assert_int_equal(mkdir("viewer", 0777), 0);
    FILE* page = fopen("viewer/index.html", "w");
    assert_non_null(page);
    fputs("<!doctype html>a page", page);
    fclose(page);
    assert_int_equal(mkdir("empty", 0777), 0);
    assert_int_equal(RunJounce("export --figure -o figure.jounce").code, 0);
    assert_int_equal(RunJounce("bake figure.jounce --clip run -o run.npy").code, 0);
    assert_int_equal(RunJounce("new ws --figure --layer vertex --motion run=run.npy").code, 0);
    assert_int_equal(RunJounce("build ws --until modes").code, 0);
    return code;
}

static void ItServesAFile(void** state)
{
    (void)state;
    View view = StartView("figure.jounce --port 0 --viewer viewer");
    char reply[8192];
    assert_int_equal(Get(view.port, "GET", "/", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "a page"));
    assert_int_equal(Get(view.port, "GET", "/character.jounce", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "\r\n\r\nJOUNCE"));
    assert_int_equal(Get(view.port, "GET", "/view.json", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "\"workspace\":false"));
    assert_int_equal(Get(view.port, "GET", "/motion/0/0", reply, sizeof(reply)), 404);
    assert_int_equal(Get(view.port, "GET", "/figure.jounce", reply, sizeof(reply)), 404);
    assert_int_equal(Get(view.port, "GET", "/run.npy", reply, sizeof(reply)), 404);
    assert_int_equal(EndView(&view, SIGINT), 0);
}

static void ItServesTheMotionOfAWorkspace(void** state)
{
    (void)state;
    View view = StartView("ws --port 0 --viewer viewer");
    char reply[8192];
    assert_int_equal(Get(view.port, "GET", "/view.json", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "[null,null,null,{\"first\":0,\"frames\":66},null]"));
    // 66 frames of x, y, z.
    assert_int_equal(Get(view.port, "GET", "/motion/3/100", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "Content-Length: 792"));
    // One frame of 9,842 vertices.
    assert_int_equal(Get(view.port, "GET", "/frames/3/65", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "Content-Length: 118104"));
    static const char* const wrong[] = {"/frames/3/66", "/frames/0/0", "/frames/3/9999999", "/frames/3/-1", "/frames/3",
        "/frames/3/0/", "/frames/5/0", "/frame/3/0", "/motion/0/100", "/motion/3/9842", "/motion/5/0",
        "/motion/3/99999999", "/motion/3/18446744073709551617", "/motion/-1/0", "/motion/3", "/motion/", "/motion/3/",
        "/motion//3", "/motion/3/1x", "/motion/3/+1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        int status = Get(view.port, "GET", wrong[i], reply, sizeof(reply));
        if (status != 404 && status != 400) {
            fail_msg("%s: status %d", wrong[i], status);
        }
    }
    assert_int_equal(EndView(&view, SIGTERM), 0);
}

// What jounce simulate leaves is served where it fits, and passed over where it does not.
static void ItServesASimulation(void** state)
{
    (void)state;
    // The same array as a simulation of another clip; one of the wrong shape for a third.
    assert_int_equal(system("mkdir -p ws/motion/calisthenics ws/motion/jumping-jacks && "
                            "cp ws/clips/run/motion.npy ws/motion/calisthenics/dynamic.npy && "
                            "echo '{\"first\": 7}' > ws/motion/calisthenics/dynamic.json && "
                            "cp ws/character/positions.npy ws/motion/jumping-jacks/dynamic.npy"),
        0);
    View view = StartView("ws --port 0 --viewer viewer");
    char reply[8192];
    assert_int_equal(Get(view.port, "GET", "/view.json", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "[null,{\"first\":7,\"frames\":66},null,{\"first\":0,\"frames\":66},null]"));
    assert_int_equal(Get(view.port, "GET", "/motion/1/9841", reply, sizeof(reply)), 200);
    assert_int_equal(Get(view.port, "GET", "/motion/0/1", reply, sizeof(reply)), 404);
    assert_int_equal(EndView(&view, SIGINT), 0);
}

static void ATakenPortIsToldOrAvoided(void** state)
{
    (void)state;
    View view = StartView("figure.jounce --port 0 --viewer viewer");
    char arguments[128], port[16];
    snprintf(port, sizeof(port), "%d", view.port);
    snprintf(arguments, sizeof(arguments), "view figure.jounce --viewer viewer --port %d", view.port);
    ExpectFailure(arguments, 1, port, "127.0.0.1");
    assert_int_equal(EndView(&view, SIGHUP), 0);
}

static void WhatIsMissingIsTold(void** state)
{
    (void)state;
    ExpectFailure("view nothing-here --viewer viewer", 1, "nothing-here", "cannot read");
    ExpectFailure("view empty --viewer viewer", 1, "character.jounce", "jounce build empty");
    ExpectFailure("view figure.jounce --viewer nowhere", 1, "nowhere", "cannot read");
    ExpectFailure("view run.npy --viewer viewer", 1, "run.npy", "");
    ExpectFailure("view figure.jounce --viewer viewer --port 70000", 2, "--port", "");
    ExpectFailure("view", 2, "", "");
    // A command that lies elsewhere has no viewer beside it.
    char line[1024], text[1024];
    snprintf(line, sizeof(line),
        "mkdir -p a/b && cp %s/bin/jounce a/b/ && timeout 20 a/b/jounce view figure.jounce 2> lonely.txt",
        JN_BINARY_DIR);
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    ReadAll("lonely.txt", text, sizeof(text));
    assert_non_null(strstr(text, "the viewer was not built"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ItServesAFile),
        cmocka_unit_test(ItServesTheMotionOfAWorkspace),
        cmocka_unit_test(ItServesASimulation),
        cmocka_unit_test(ATakenPortIsToldOrAvoided),
        cmocka_unit_test(WhatIsMissingIsTold),
    };
    return cmocka_run_group_tests(tests, Prepare, LeaveScratchFolder);
}
