// The viewer's server with many clients, most of them rude: every request of a good one is answered, and soon.
#include "helpers/http_client.h"
#include "view/server.h"

#include <poll.h>
#include <time.h>

// PATIENCE: seconds. On an idle machine the page is there in hundredths; without a place it comes after ten at best.
enum { LARGE = 64 << 20, RUDE = 200, PATIENCE = 4 };
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

static void ExpectPageWithin(double seconds)
{
    char reply[4096];
    double start = Seconds();
    assert_int_equal(Get(port, "GET", "/", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "<p>page"));
    if (Seconds() - start > seconds) {
        fail_msg("the page came after %.2f s", Seconds() - start);
    }
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

static void AClientAmongSlowReadersGetsItsPage(void** state)
{
    (void)state;
    static const char ask[] = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static int slow[RUDE];
    for (int i = 0; i < RUDE; ++i) {
        slow[i] = ConnectTo(port);
        assert_true(slow[i] >= 0);
        int little = 4096;
        setsockopt(slow[i], SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
        SendAll(slow[i], ask, strlen(ask));
        if (i % 40 == 39) {
            ExpectPageWithin(PATIENCE);
        }
    }
    ExpectPageWithin(PATIENCE);
    for (int i = 0; i < RUDE; ++i) {
        close(slow[i]);
    }
    ExpectPageWithin(PATIENCE);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(PipelinedRequestsAreAllAnswered),
        cmocka_unit_test(AClientAmongSlowReadersGetsItsPage),
        cmocka_unit_test(AFastReaderIsServedToTheEnd),
    };
    return cmocka_run_group_tests(tests, Start, Stop);
}
