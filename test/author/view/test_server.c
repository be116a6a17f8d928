// The viewer's server under requests that mean no good.
#include "helpers/http_client.h"

#include "view/server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define SECRET "nobody must read this"
#define PAGE "<!doctype html>the page"

static char folder[512]; // parent: secret.txt; inside it viewer/: what is served
static jnaFolder viewer;
static jnaServer* server;
static int port;

static void WriteText(const char* name, const char* text)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool AnswerOne(const char* path, void** bytes, size_t* size, void* user)
{
    (void)user;
    if (strcmp(path, "/motion/0/1") != 0) {
        return false;
    }
    *bytes = strdup("answer");
    *size = 6;
    return true;
}

static int Start(void** state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "%s/server-XXXXXX", JN_BINARY_DIR);
    char path[600], link[600];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/viewer", folder);
    snprintf(link, sizeof(link), "%s/viewer/link.txt", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof(path), "%s/viewer/assets", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    WriteText("secret.txt", SECRET);
    WriteText("viewer/index.html", PAGE);
    WriteText("viewer/assets/index.js", "let x = 1;");
    WriteText("viewer/.hidden", SECRET);
    snprintf(path, sizeof(path), "%s/secret.txt", folder);
    assert_int_equal(symlink(path, link), 0);
    snprintf(path, sizeof(path), "%s/viewer", folder);
    assert_int_equal(jnaReadFolder(path, &viewer, NULL), jn_ok);
    jnaServerDef def = jnaDefaultServerDef();
    def.documents = viewer.documents;
    def.documentCount = viewer.count;
    def.answer = AnswerOne;
    def.connectionLimit = 16;
    def.idleSeconds = 1;
    def.requestSeconds = 1;
    assert_int_equal(jnaStartServer(&def, &server, NULL), jn_ok);
    port = jnaServer_Port(server);
    return 0;
}

static int Stop(void** state)
{
    (void)state;
    jnaStopServer(server);
    jnaDestroyFolder(&viewer);
    char line[700];
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

static void ExpectAlive(void)
{
    char reply[4096];
    assert_int_equal(Get(port, "GET", "/", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, PAGE));
}

static void ItServesItsDocumentsWithStrictHeaders(void** state)
{
    (void)state;
    char reply[4096];
    assert_int_equal(viewer.count, 3);
    assert_int_equal(Get(port, "GET", "/", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, PAGE));
    assert_non_null(strstr(reply, "Content-Security-Policy: default-src 'none'"));
    assert_non_null(strstr(reply, "X-Content-Type-Options: nosniff"));
    assert_non_null(strstr(reply, "text/html"));
    assert_int_equal(Get(port, "GET", "/assets/index.js?v=1", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "text/javascript"));
    assert_int_equal(Get(port, "GET", "/motion/0/1", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "answer"));
    assert_int_equal(Get(port, "HEAD", "/", reply, sizeof(reply)), 200);
    assert_null(strstr(reply, PAGE));
}

static void ItListensOnLoopbackAlone(void** state)
{
    (void)state;
    // Any other address of this machine refuses; 127.0.0.2 is one that always exists.
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    assert_int_not_equal(connect(s, (struct sockaddr*)&address, sizeof(address)), 0);
    assert_int_equal(errno, ECONNREFUSED);
    close(s);
}

static void NoSpellingOfAPathLeavesTheList(void** state)
{
    (void)state;
    static const char* const targets[] = {"/../secret.txt", "/assets/../../secret.txt", "/..%2fsecret.txt",
        "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/%252e%252e/secret.txt", "/..%5csecret.txt", "/..\\secret.txt",
        "/%c0%ae%c0%ae/secret.txt", "/%c0%af..%c0%afsecret.txt", "/%uff0e%uff0e/secret.txt", "/....//secret.txt",
        "/./../secret.txt", "//etc/passwd", "/etc/passwd", "/%00/../secret.txt", "/index.html%00", "/index.html%00.js",
        "/%69ndex.html", "/index.html/", "/INDEX.HTML", "/assets", "/assets/", "/assets/..", "/.hidden", "/link.txt",
        "/motion/0/1/", "/motion/00/1", "/motion/-1/1", "/%", "/%2", "/%zz", "/index.html;x", "/~", "/*",
        "/assets/%2e%2e/%2e%2e/secret.txt", "/\xef\xbc\x8e\xef\xbc\x8e/secret.txt", "/..;/secret.txt",
        "/.%2e/secret.txt", "/%2E%2E/%2E%2E/etc/passwd", "/file:///etc/passwd"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
        char reply[4096];
        int status = Get(port, "GET", targets[i], reply, sizeof(reply));
        if ((status != 404 && status != 400) || strstr(reply, SECRET) != NULL || strstr(reply, "root:") != NULL) {
            fail_msg("%s: status %d: %s", targets[i], status, reply);
        }
    }
    // Targets that are no paths.
    static const char* const others[] = {"http://127.0.0.1/../secret.txt", "..", "../secret.txt", "secret.txt", "*"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        char reply[4096];
        int status = Get(port, "GET", others[i], reply, sizeof(reply));
        assert_true(status == 404 || status == 400 || status == 0);
        assert_null(strstr(reply, SECRET));
    }
}

// A zero ends a path for whoever reads it as text; what stands behind it must not be taken for granted.
static void APathWithAZeroIsRefused(void** state)
{
    (void)state;
    static const char* const paths[] = {
        "/?../secret.txt", "/index.html?x", "/?", "/assets/index.js?.html", "/motion/0/1?"};
    char reply[4096], request[256];
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); ++i) {
        for (int query = 0; query < 2; ++query) {
            int length = snprintf(request, sizeof(request), "GET %s%s HTTP/1.1\r\nHost: localhost\r\n\r\n", paths[i],
                query ? "x=1" : "z");
            *strchr(request, '?') = '\0';
            int status = Ask(port, request, (size_t)length, reply, sizeof(reply));
            if (status != 400 && status != 0) {
                fail_msg("%s: status %d", paths[i], status);
            }
            assert_null(strstr(reply, PAGE));
        }
    }
    static const char good[] = "GET /?a=1&b= HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_int_equal(Ask(port, good, strlen(good), reply, sizeof(reply)), 200);
}

static void OtherMethodsAndBodiesAreRefused(void** state)
{
    (void)state;
    static const char* const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "X"};
    char reply[4096], request[1024];
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); ++i) {
        assert_int_equal(Get(port, methods[i], "/", reply, sizeof(reply)), 405);
        assert_non_null(strstr(reply, "Allow: GET, HEAD"));
        assert_null(strstr(reply, PAGE));
    }
    static const char* const bodies[] = {"Content-Length: 5\r\n\r\nhello", "Content-Length: 99999999999\r\n\r\nx",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); ++i) {
        int length = snprintf(
            request, sizeof(request), "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s", bodies[i]);
        int status = Ask(port, request, (size_t)length, reply, sizeof(reply));
        assert_true(status == 413 || status == 400 || status == 0);
        assert_null(strstr(reply, PAGE));
    }
}

static void OtherHostsAreRefused(void** state)
{
    (void)state;
    static const char* const hosts[] = {
        "evil.example", "127.0.0.1.evil.example", "localhost:1", "127.0.0.1:99999", "", "localhost.", "127.0.0.2"};
    char reply[4096], request[256];
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); ++i) {
        int length =
            snprintf(request, sizeof(request), "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", hosts[i]);
        assert_int_equal(Ask(port, request, (size_t)length, reply, sizeof(reply)), 403);
        assert_null(strstr(reply, PAGE));
    }
    // Twice, the same one or another, in either order.
    static const char* const lines[] = {"Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nHost: evil\r\n",
        "Host: evil\r\nHost: localhost\r\n", "host: localhost\r\nHOST: localhost\r\n"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); ++i) {
        int length = snprintf(request, sizeof(request), "GET / HTTP/1.1\r\n%sConnection: close\r\n\r\n", lines[i]);
        int status = Ask(port, request, (size_t)length, reply, sizeof(reply));
        if (status != 403 && status != 400 && status != 0) {
            fail_msg("%s: status %d", lines[i], status);
        }
        assert_null(strstr(reply, PAGE));
    }
    static const char none[] = "GET / HTTP/1.0\r\n\r\n";
    assert_int_equal(Ask(port, none, strlen(none), reply, sizeof(reply)), 403);
}

static void OversizedRequestsAreRefused(void** state)
{
    (void)state;
    enum { SIZE = 4 << 20 };
    char* request = malloc(SIZE);
    char reply[4096];
    assert_non_null(request);
    // A header of megabytes, a path of megabytes, ten thousand headers, a line that never ends.
    static const char* const starts[] = {"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", "GET /", "GET / HTTP/1.1\r\n", ""};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); ++i) {
        memset(request, 'a', SIZE);
        for (size_t k = 0; i == 2 && k + 8 <= SIZE; k += 8) {
            memcpy(request + k, "A: bcd\r\n", 8);
        }
        memcpy(request, starts[i], strlen(starts[i]));
        int status = Ask(port, request, SIZE, reply, sizeof(reply));
        if (status != 0 && status != 400 && status != 413 && status != 414 && status != 431) {
            fail_msg("kind %zu: status %d", i, status);
        }
        assert_null(strstr(reply, PAGE));
    }
    free(request);
    ExpectAlive();
}

static void NoiseIsSurvived(void** state)
{
    (void)state;
    Random random = {7};
    static const char good[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for (int round = 0; round < 400; ++round) {
        char request[256], reply[1024];
        size_t size = 1 + NextBits(&random) % (sizeof(request) - 1);
        if (round % 2 == 0) {
            for (size_t i = 0; i < size; ++i) {
                request[i] = (char)NextBits(&random);
            }
        } else {
            size = strlen(good);
            memcpy(request, good, size);
            for (int k = 0; k < 3; ++k) {
                request[NextBits(&random) % size] = (char)NextBits(&random);
            }
        }
        int s = ConnectTo(port);
        assert_true(s >= 0);
        SendAll(s, request, size);
        shutdown(s, SHUT_WR);
        ReceiveAll(s, reply, sizeof(reply));
        assert_null(strstr(reply, SECRET));
        close(s);
    }
    ExpectAlive();
}

static double Seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Every place taken by clients that say nothing, or a byte now and then: they lose it, and a good one is answered.
static void SlowClientsLoseTheirPlace(void** state)
{
    (void)state;
    int slow[16];
    for (int i = 0; i < 16; ++i) {
        slow[i] = ConnectTo(port);
        assert_true(slow[i] >= 0);
        SendAll(slow[i], "GET / HT", 8);
    }
    double start = Seconds();
    int open = 16;
    while (open > 0 && Seconds() - start < 8.0) {
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
        jnaServer_Sweep(server);
        open = 0;
        for (int i = 0; i < 16; ++i) {
            char byte;
            ssize_t got = recv(slow[i], &byte, 1, MSG_DONTWAIT);
            bool alive = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
            open += alive;
            if (alive && i % 2 == 0) {
                SendAll(slow[i], "T", 1);
            }
        }
    }
    assert_int_equal(open, 0);
    for (int i = 0; i < 16; ++i) {
        close(slow[i]);
    }
    ExpectAlive();
}

// Opens connections that say nothing, without waiting for the server to take them.
static void ConnectSilently(int count, int* sockets)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < count; ++i) {
        sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int code = connect(sockets[i], (struct sockaddr*)&address, sizeof(address));
        assert_true(code == 0 || errno == EINPROGRESS);
    }
}

// Their time alone would be 300 / 16 seconds here, a second for every sixteen of them.
static void AGoodClientBehindSilentOnesIsAnswered(void** state)
{
    (void)state;
    int silent[300];
    ConnectSilently(300, silent);
    double start = Seconds();
    ExpectAlive();
    assert_true(Seconds() - start < 3);
    for (int i = 0; i < 300; ++i) {
        close(silent[i]);
    }
}

static int CountDescriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 4096; ++fd) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

// A thousand connections at once, most of which say nothing; then all go, and what the server holds is as before.
static void AThousandConnectionsLeaveNothingBehind(void** state)
{
    (void)state;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
    ExpectAlive();
    int before = CountDescriptors();
    static int sockets[1000];
    // The queue of the system is finite: from some point on connecting takes patience, which is not the point here.
    ConnectSilently(1000, sockets);
    for (int i = 0; i < 1000; i += 3) {
        send(sockets[i], "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL);
    }
    jnaServer_Sweep(server);
    for (int i = 0; i < 1000; ++i) {
        close(sockets[i]);
    }
    ExpectAlive();
    double start = Seconds();
    while (CountDescriptors() > before && Seconds() - start < 8.0) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    assert_true(CountDescriptors() <= before);
}

static void ATakenPortIsToldAndAFreeOneFound(void** state)
{
    (void)state;
    jnaServer* other;
    jnError error;
    jnaServerDef def = jnaDefaultServerDef();
    def.port = port;
    assert_int_equal(jnaStartServer(&def, &other, &error), jn_ioFailed);
    char number[16];
    snprintf(number, sizeof(number), "%d", port);
    assert_non_null(strstr(error.message, number));
    def.port = 0;
    assert_int_equal(jnaStartServer(&def, &other, &error), jn_ok);
    assert_true(jnaServer_Port(other) != port && jnaServer_Port(other) > 0);
    jnaStopServer(other);
}

static void AFolderWithoutAPageIsRefused(void** state)
{
    (void)state;
    jnaFolder none;
    jnError error;
    char path[600];
    snprintf(path, sizeof(path), "%s/viewer/assets", folder);
    assert_int_equal(jnaReadFolder(path, &none, &error), jn_badData);
    assert_non_null(strstr(error.message, "index.html"));
    assert_int_equal(jnaReadFolder("/nowhere/at/all", &none, &error), jn_ioFailed);
}

// What a server that takes changes was given.
static char taken[64];
static int takes;

static int TakeOne(const char* path, const void* body, size_t size, void** bytes, size_t* answerSize, void* user)
{
    (void)user;
    if (strcmp(path, "/change") != 0) {
        return 404;
    }
    ++takes;
    snprintf(taken, sizeof(taken), "%.*s", (int)size, (const char*)body);
    *bytes = strdup("{\"done\":true}");
    *answerSize = 13;
    return size == 3 ? 409 : 200;
}

static jnaServer* StartTaker(int* at)
{
    jnaServer* taker;
    jnaServerDef def = jnaDefaultServerDef();
    def.documents = viewer.documents;
    def.documentCount = viewer.count;
    def.take = TakeOne;
    def.token = "0123456789abcdef";
    def.bodyLimit = 40;
    assert_int_equal(jnaStartServer(&def, &taker, NULL), jn_ok);
    *at = jnaServer_Port(taker);
    return taker;
}

// Posts `body` with these header lines. %d in them is the port.
static int Post(int at, const char* path, const char* lines, const char* body, char* reply, size_t size)
{
    char request[2048], filled[1024];
    int length = snprintf(filled, sizeof(filled), lines, at, at);
    length = snprintf(
        request, sizeof(request), "POST %s HTTP/1.1\r\nConnection: close\r\n%.*s\r\n%s", path, length, filled, body);
    return Ask(at, request, (size_t)length, reply, size);
}

#define OWN_HOST "Host: 127.0.0.1:%d\r\n"
#define OWN_ORIGIN "Origin: http://127.0.0.1:%d\r\n"
#define TOKEN "X-Jounce-Token: 0123456789abcdef\r\n"
#define LENGTH "Content-Length: 5\r\n"

static void AChangeNeedsTokenAndOrigin(void** state)
{
    (void)state;
    int at;
    char reply[4096];
    jnaServer* taker = StartTaker(&at);
    takes = 0;
    assert_int_equal(Post(at, "/change", OWN_HOST OWN_ORIGIN TOKEN LENGTH, "a = 1", reply, sizeof(reply)), 200);
    assert_non_null(strstr(reply, "{\"done\":true}"));
    assert_non_null(strstr(reply, "Content-Security-Policy: default-src 'none'"));
    assert_string_equal(taken, "a = 1");
    assert_int_equal(
        Post(at, "/change", OWN_HOST OWN_ORIGIN TOKEN "Content-Length: 3\r\n", "abc", reply, sizeof(reply)), 409);
    assert_int_equal(Post(at, "/other", OWN_HOST OWN_ORIGIN TOKEN LENGTH, "a = 1", reply, sizeof(reply)), 404);
    assert_int_equal(takes, 2);
    static const struct {
        const char* lines;
        int status;
    } wrong[] = {
        {OWN_HOST OWN_ORIGIN LENGTH, 403},                                                 // no token
        {OWN_HOST OWN_ORIGIN "X-Jounce-Token: 0123456789abcdeF\r\n" LENGTH, 403},          // another
        {OWN_HOST OWN_ORIGIN "X-Jounce-Token: 0123456789abcde\r\n" LENGTH, 403},           // part of it
        {OWN_HOST OWN_ORIGIN "X-Jounce-Token: \r\n" LENGTH, 403},                          //
        {OWN_HOST OWN_ORIGIN TOKEN "X-Jounce-Token: x\r\n" LENGTH, 403},                   // two
        {OWN_HOST TOKEN LENGTH, 403},                                                      // no origin
        {OWN_HOST "Origin: http://example.org\r\n" TOKEN LENGTH, 403},                     // a foreign one
        {OWN_HOST "Origin: null\r\n" TOKEN LENGTH, 403},                                   //
        {OWN_HOST "Origin: https://127.0.0.1:%d\r\n" TOKEN LENGTH, 403},                   // another scheme
        {OWN_HOST "Origin: http://127.0.0.1\r\n" TOKEN LENGTH, 403},                       // another port
        {OWN_HOST "Origin: http://127.0.0.1:%d.example.org\r\n" TOKEN LENGTH, 403},        //
        {OWN_HOST "Origin: http://localhost:%d\r\n" TOKEN LENGTH, 403},                    // not the host asked
        {OWN_HOST OWN_ORIGIN "Origin: http://example.org\r\n" TOKEN LENGTH, 403},          // two
        {"Host: example.org\r\nOrigin: http://example.org\r\n" TOKEN LENGTH, 403},         // rebinding
        {"Host: example.org:%d\r\nOrigin: http://example.org:%d\r\n" TOKEN LENGTH, 403},   //
        {OWN_ORIGIN TOKEN LENGTH, 400},                                                    // no host
        {OWN_HOST OWN_ORIGIN TOKEN, 411},                                                  // no length
        {OWN_HOST OWN_ORIGIN TOKEN "Content-Length: 41\r\n", 413},                         // too long
        {OWN_HOST OWN_ORIGIN TOKEN "Content-Length: 99999999999999999999999999\r\n", 413}, //
        {OWN_HOST OWN_ORIGIN TOKEN "Content-Length: -1\r\n", 400},                         //
        {OWN_HOST OWN_ORIGIN TOKEN "Transfer-Encoding: chunked\r\n", 411},                 // of no length
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        int status = Post(at, "/change", wrong[i].lines, "a = 2", reply, sizeof(reply));
        // What is no request at all may be refused by the library in its own way.
        if (status != wrong[i].status && status != 400 && status != 413) {
            fail_msg("%s: status %d: %s", wrong[i].lines, status, reply);
        }
        assert_null(strstr(reply, "done"));
    }
    assert_int_equal(takes, 2);
    assert_int_equal(Get(at, "GET", "/", reply, sizeof(reply)), 200);
    assert_int_equal(Get(at, "GET", "/change", reply, sizeof(reply)), 404);
    // A body that ends early, and one that takes its time.
    int s = ConnectTo(at);
    char half[600];
    int length =
        snprintf(half, sizeof(half), "POST /change HTTP/1.1\r\n" OWN_HOST OWN_ORIGIN TOKEN LENGTH "\r\na =", at, at);
    assert_true(SendAll(s, half, (size_t)length));
    close(s);
    assert_int_equal(Post(at, "/change", OWN_HOST OWN_ORIGIN TOKEN LENGTH, "a = 3", reply, sizeof(reply)), 200);
    assert_int_equal(takes, 3);
    jnaStopServer(taker);
}

static void AServerWithoutChangesTakesNone(void** state)
{
    (void)state;
    char reply[4096];
    assert_int_equal(Post(port, "/change", OWN_HOST OWN_ORIGIN TOKEN LENGTH, "a = 1", reply, sizeof(reply)), 413);
    assert_int_equal(
        Post(port, "/change", OWN_HOST OWN_ORIGIN TOKEN "Content-Length: 0\r\n", "", reply, sizeof(reply)), 405);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ItServesItsDocumentsWithStrictHeaders),
        cmocka_unit_test(ItListensOnLoopbackAlone),
        cmocka_unit_test(NoSpellingOfAPathLeavesTheList),
        cmocka_unit_test(OtherMethodsAndBodiesAreRefused),
        cmocka_unit_test(OtherHostsAreRefused),
        cmocka_unit_test(APathWithAZeroIsRefused),
        cmocka_unit_test(OversizedRequestsAreRefused),
        cmocka_unit_test(NoiseIsSurvived),
        cmocka_unit_test(SlowClientsLoseTheirPlace),
        cmocka_unit_test(AGoodClientBehindSilentOnesIsAnswered),
        cmocka_unit_test(AThousandConnectionsLeaveNothingBehind),
        cmocka_unit_test(ATakenPortIsToldAndAFreeOneFound),
        cmocka_unit_test(AFolderWithoutAPageIsRefused),
        cmocka_unit_test(AChangeNeedsTokenAndOrigin),
        cmocka_unit_test(AServerWithoutChangesTakesNone),
    };
    return cmocka_run_group_tests(tests, Start, Stop);
}
