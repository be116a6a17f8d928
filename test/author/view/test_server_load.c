// The viewer's server with many clients, most of them rude: every request of a good one is answered, and soon.
#include "helpers/http_client.h"
#include "view/server.h"

#include <dirent.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <time.h>

// Without a place a client waits for a rude one's deadline, ten seconds. With one it waits a few times as long as
// alone, which is hundredths on an idle machine and more on a busy one: a second, and TIMES that, but never as much as
// a deadline.
enum { LARGE = 64 << 20, RUDE = 200, IDLE = 1000, TIMES = 20, ALONE = 20 };
#define LONGEST 8.0
static jnaServer* server;
static char* large;
static jnaDocument documents[2];
static int port;

static int Start(void** state)
{
    (void)state;
    large = calloc(1, LARGE);
    documents[0] = (jnaDocument){"/", "text/html", "<p>page", 7, false};
    documents[1] = (jnaDocument){"/large", "application/octet-stream", large, LARGE, true};
    jnaServerDef def = jnaDefaultServerDef();
    def.documents = documents;
    def.documentCount = 2;
    if (large == NULL || jnaStartServer(&def, &server, NULL) != jn_ok) {
        return -1;
    }
    port = jnaServer_Port(server);
    return 0;
}

static int Stop(void** state)
{
    (void)state;
    jnaStopServer(server);
    free(large);
    return 0;
}

static double Seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Seconds that a client waits for its page.
static double WaitForPage(void)
{
    char reply[4096];
    double start = Seconds();
    assert_int_equal(Get(port, "GET", "/", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "<p>page"));
    return Seconds() - start;
}

static double patience; // seconds

static void MeasureAlone(void)
{
    double most = 0;
    for (int i = 0; i < ALONE; ++i) {
        most = fmax(most, WaitForPage());
    }
    patience = fmin(1 + TIMES * most, LONGEST);
}

static void ExpectPageSoon(void)
{
    ASSERT_AT_MOST(WaitForPage(), patience);
}

// Room for `count` connections: both ends are descriptors of this process.
static int RoomFor(int count)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return (rlim_t)(2 * count + 100) <= limit.rlim_cur ? count : (int)(limit.rlim_cur / 2) - 100;
}

static int CountText(const char* text, const char* what)
{
    int count = 0;
    for (; (text = strstr(text, what)) != NULL; ++text) {
        count++;
    }
    return count;
}

static void PipelinedRequestsAreAllAnswered(void** state)
{
    (void)state;
    char request[8192] = "", reply[65536];
    const char* const kinds[] = {"GET / HTTP/1.1", "HEAD / HTTP/1.1", "GET /absent HTTP/1.1", "DELETE / HTTP/1.1"};
    for (int i = 0; i < 40; ++i) {
        char one[128];
        snprintf(
            one, sizeof(one), "%s\r\nHost: localhost\r\n%s\r\n", kinds[i % 4], i == 39 ? "Connection: close\r\n" : "");
        strcat(request, one);
    }
    int s = ConnectTo(port);
    assert_true(s >= 0);
    assert_true(SendAll(s, request, strlen(request)));
    ReceiveAll(s, reply, sizeof(reply));
    close(s);
    assert_int_equal(CountText(reply, "HTTP/1.1 200"), 20);
    assert_int_equal(CountText(reply, "HTTP/1.1 404"), 10);
    assert_int_equal(CountText(reply, "HTTP/1.1 405"), 10);
}

// Connections that never ask, and then readers that hardly read.
static void AClientAmongSilentOnesAndSlowReadersGetsItsPage(void** state)
{
    (void)state;
    static const char ask[] = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static int slow[RUDE], idle[IDLE];
    int silent = RoomFor(IDLE + RUDE) - RUDE;
    MeasureAlone();
    for (int i = 0; i < silent; ++i) {
        idle[i] = ConnectTo(port);
        assert_true(idle[i] >= 0);
        if (i % 200 == 199) {
            ExpectPageSoon();
        }
    }
    for (int i = 0; i < RUDE; ++i) {
        slow[i] = ConnectTo(port);
        assert_true(slow[i] >= 0);
        int little = 4096;
        setsockopt(slow[i], SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
        SendAll(slow[i], ask, strlen(ask));
        if (i % 40 == 39) {
            ExpectPageSoon();
        }
    }
    ExpectPageSoon();
    for (int i = 0; i < RUDE; ++i) {
        close(slow[i]);
    }
    for (int i = 0; i < silent; ++i) {
        close(idle[i]);
    }
    ExpectPageSoon();
    print_message("%d silent, %d slow; patience was %.2f s\n", silent, RUDE, patience);
}

// One who reads is not put out by those who do not.
static void AFastReaderIsServedToTheEnd(void** state)
{
    (void)state;
    static const char ask[] = "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static int slow[RUDE];
    int s = ConnectTo(port);
    SendAll(s, ask, strlen(ask));
    char part[65536];
    size_t total = 0;
    for (int i = 0; i < RUDE; ++i) {
        char first;
        slow[i] = ConnectTo(port);
        SendAll(slow[i], ask, strlen(ask));
        recv(slow[i], &first, 1, 0); // it has asked: a silent one would go first
        // Enough that the other side's window moves.
        for (int k = 0; k < 4; ++k) {
            ssize_t n = recv(s, part, sizeof(part), 0);
            total += n > 0 ? (size_t)n : 0;
        }
    }
    for (ssize_t n; (n = recv(s, part, sizeof(part), 0)) > 0;) {
        total += (size_t)n;
    }
    assert_true(total > LARGE);
    close(s);
    for (int i = 0; i < RUDE; ++i) {
        close(slow[i]);
    }
}

static long CountDescriptors(void)
{
    long count = 0;
    DIR* folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

// What is in use of the heap: the server's memory, and nothing of the client's stays.
static void ManyRequestsLeaveNothingBehind(void** state)
{
    (void)state;
    enum { REQUESTS = 400 };
    long descriptors = 0;
    size_t bytes = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < REQUESTS; ++i) {
            char reply[4096];
            assert_int_equal(
                Get(port, "GET", i % 3 == 0 ? "/absent" : "/", reply, sizeof(reply)), i % 3 == 0 ? 404 : 200);
        }
        usleep(200000);   // the last connections end a moment after their replies
        if (round == 1) { // the first round has brought everything that is kept
            descriptors = CountDescriptors();
            bytes = mallinfo2().uordblks;
        }
    }
    assert_true(CountDescriptors() <= descriptors);
    assert_true(mallinfo2().uordblks <= bytes + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PipelinedRequestsAreAllAnswered),
        cmocka_unit_test(AClientAmongSilentOnesAndSlowReadersGetsItsPage),
        cmocka_unit_test(AFastReaderIsServedToTheEnd),
        cmocka_unit_test(ManyRequestsLeaveNothingBehind),
    };
    return cmocka_run_group_tests(tests, Start, Stop);
}
