// The viewer's server, on libmicrohttpd.
//
// A POST is judged by its headers alone, before its body is read; then the body is gathered in memory of the length
// that was promised.
//
// libmicrohttpd limits headers (a connection's memory), connections and idle time. Four things it has no option for
// are done here: percent signs are left alone, so that a path has one spelling; the Host header must name this machine,
// so that a page of another site cannot read the answers under a name of its own; and a connection has a deadline for
// each request, so that one byte now and then does not keep it. Whoever takes the last place puts out the one that has
// waited longest without a request, or else the one that has longest not taken a byte of its reply: a client behind any
// number of silent or slow ones is answered.
#include "view/server.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

// Memory of one connection: request line and headers have to fit.
enum { CONNECTION_MEMORY = 16384 };

// The body of a POST on its way.
typedef struct Upload {
    char* bytes; // [promised]
    size_t size, promised;
} Upload;

// An open connection. `since`: when its request, or its wait for one, began, in seconds.
typedef struct Slot {
    int socket; // -1: free
    bool asked; // a request is there and being answered
    double since;
    uint64_t taken;    // bytes that the other side has received so far
    double takenSince; // when that last grew
} Slot;

struct jnaServer {
    jnaServerDef def;
    struct MHD_Daemon* daemon;
    int port;
    pthread_mutex_t lock;             // of slots
    Slot* slots;                      // [def.connectionLimit]
    struct MHD_Response* refusals[8]; // by reason
};

enum { NOT_FOUND, NOT_ALLOWED, TOO_LARGE, WRONG_HOST, BAD_PATH, WRONG_ORIGIN, WRONG_TOKEN, NO_LENGTH };
static const unsigned int refusalCodes[] = {MHD_HTTP_NOT_FOUND, MHD_HTTP_METHOD_NOT_ALLOWED, MHD_HTTP_CONTENT_TOO_LARGE,
    MHD_HTTP_FORBIDDEN, MHD_HTTP_BAD_REQUEST, MHD_HTTP_FORBIDDEN, MHD_HTTP_FORBIDDEN, MHD_HTTP_LENGTH_REQUIRED};
static const char* const refusalTexts[] = {"not found\n", "only GET and HEAD are answered\n",
    "a request has no body here, or a shorter one\n", "this server answers as localhost and 127.0.0.1 alone\n",
    "a path has no zero in it\n", "this page is not of this server\n",
    "the token is wrong: open the address that jounce studio printed\n", "a body has a length\n"};
_Static_assert(sizeof(refusalTexts) / sizeof(refusalTexts[0]) == sizeof(((jnaServer*)NULL)->refusals) / sizeof(void*),
    "a reply for every reason");
#define TOKEN_HEADER "X-Jounce-Token"

// Nothing from elsewhere, no frames, no guessing of types. WebAssembly needs a word of its own.
#define POLICY(images, connections)                                                                                    \
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src " images      \
    "; connect-src " connections "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
static const char policy[] = POLICY("'self' data:", "'self'");
static const char memoryPolicy[] = POLICY("'self' data: blob:", "'self' blob:");
static const char* const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"}, {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Embedder-Policy", "require-corp"}, // and so a page gets a fine clock
};

static int SocketOf(struct MHD_Connection* connection)
{
    const union MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info != NULL ? info->connect_fd : -1;
}

// The slot of a socket, -1: a free one; NULL: there is none. With the lock held.
static Slot* FindSlot(jnaServer* server, int socket)
{
    for (int i = 0; i < server->def.connectionLimit; ++i) {
        if (server->slots[i].socket == socket) {
            return &server->slots[i];
        }
    }
    return NULL;
}

// A request, or the wait for one, begins.
static void Mark(jnaServer* server, struct MHD_Connection* connection, bool asked)
{
    pthread_mutex_lock(&server->lock);
    Slot* slot = FindSlot(server, SocketOf(connection));
    if (slot != NULL) {
        *slot = (Slot){slot->socket, asked, asked ? slot->since : jnaWallClock(), slot->taken, jnaWallClock()};
    }
    pthread_mutex_unlock(&server->lock);
}

static struct MHD_Response* MakeResponse(const jnaServer* server, size_t size, const void* bytes,
    enum MHD_ResponseMemoryMode mode, const char* type, bool changes)
{
    // The library does not write to the bytes; its interface has no const.
    union {
        const void* from;
        void* to;
    } buffer = {bytes};
    struct MHD_Response* response = MHD_create_response_from_buffer(size, buffer.to, mode);
    if (response == NULL) {
        return NULL;
    }
    bool good = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
                MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, changes ? "no-store" : "no-cache") ==
                    MHD_YES &&
                MHD_add_response_header(
                    response, "Content-Security-Policy", server->def.readsMemory ? memoryPolicy : policy) == MHD_YES;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); ++i) {
        good = good && MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    }
    if (!good) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

// "127.0.0.1", "localhost" or "[::1]", with this port or none.
static bool IsOwnHost(const jnaServer* server, const char* host)
{
    static const char* const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char port[16];
    snprintf(port, sizeof(port), ":%d", server->port);
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); ++i) {
        size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 && (host[length] == '\0' || strcmp(host + length, port) == 0)) {
            return true;
        }
    }
    return false;
}

// The headers of a request that have a name: how many, and the last of them.
typedef struct Named {
    const char* name;
    int count;
    const char* last;
} Named;

static enum MHD_Result CountNamed(
    void* user, enum MHD_ValueKind kind, const char* key, size_t keySize, const char* value, size_t size)
{
    (void)kind, (void)size;
    Named* named = user;
    if (keySize == strlen(named->name) && strcasecmp(key, named->name) == 0) {
        named->count++;
        named->last = value;
    }
    return MHD_YES;
}

// The value of a header that is there once; NULL: it is not, or several times. Two programs may each believe another
// one of two values.
static const char* OnlyHeader(struct MHD_Connection* connection, const char* name)
{
    Named named = {.name = name};
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, CountNamed, &named);
    return named.count == 1 ? named.last : NULL;
}

// Whether a request names this machine.
static bool IsForUs(const jnaServer* server, struct MHD_Connection* connection)
{
    return IsOwnHost(server, OnlyHeader(connection, MHD_HTTP_HEADER_HOST));
}

// Whether a page of this server sends it: "http://" and the very host that it asks, with the port.
static bool IsOwnOrigin(const jnaServer* server, struct MHD_Connection* connection)
{
    static const char scheme[] = "http://";
    const char *origin = OnlyHeader(connection, MHD_HTTP_HEADER_ORIGIN),
               *host = OnlyHeader(connection, MHD_HTTP_HEADER_HOST);
    size_t length = sizeof(scheme) - 1;
    return origin != NULL && host != NULL && strncmp(origin, scheme, length) == 0 &&
           strcmp(origin + length, host) == 0 && IsOwnHost(server, host);
}

// Takes the same time wherever the first wrong letter is.
static bool IsToken(const char* token, const char* given)
{
    size_t length = strlen(token);
    unsigned differs = 0;
    if (given == NULL || strlen(given) != length) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        differs |= (unsigned)(token[i] ^ given[i]);
    }
    return differs == 0;
}

// The path as it came, before its query is cut off: its length and one, in the place of the request's state.
static void* NotePath(void* user, const char* path, struct MHD_Connection* connection)
{
    (void)user, (void)connection;
    return (void*)(uintptr_t)(strlen(path) + 1);
}

// Whether a path went on behind a zero, which ends it for all who read it later. The version of the protocol stands
// behind it in the same buffer; where a library keeps it elsewhere nothing is known.
static bool HasZero(const char* path, const char* version, uintptr_t length)
{
    uintptr_t from = (uintptr_t)path, to = (uintptr_t)version;
    if (length == 0 || length > CONNECTION_MEMORY || to <= from || to - from > CONNECTION_MEMORY) {
        return false;
    }
    for (uintptr_t i = length - 1; i < to - from; ++i) {
        if (path[i] != '\0' && path[i] != ' ') {
            return true;
        }
    }
    return false;
}

static bool HasBody(struct MHD_Connection* connection)
{
    const char* length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    return (length != NULL && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

static enum MHD_Result Refuse(const jnaServer* server, struct MHD_Connection* connection, int why)
{
    return MHD_queue_response(connection, refusalCodes[why], server->refusals[why]);
}

static enum MHD_Result Send(struct MHD_Connection* connection, struct MHD_Response* response, unsigned status)
{
    if (response == NULL) {
        return MHD_NO; // no memory: the connection is closed
    }
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

// Judges a POST by its headers: the reason to refuse it, or -1 and memory for its body.
static int JudgePost(const jnaServer* server, struct MHD_Connection* connection, Upload** upload)
{
    const char* length = OnlyHeader(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (!IsForUs(server, connection)) {
        return WRONG_HOST;
    }
    if (!IsOwnOrigin(server, connection)) {
        return WRONG_ORIGIN;
    }
    if (!IsToken(server->def.token, OnlyHeader(connection, TOKEN_HEADER))) {
        return WRONG_TOKEN;
    }
    if (length == NULL || length[strspn(length, "0123456789")] != '\0' || length[0] == '\0' ||
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL) {
        return NO_LENGTH;
    }
    errno = 0;
    unsigned long long promised = strtoull(length, NULL, 10);
    if (errno != 0 || promised > server->def.bodyLimit) {
        return TOO_LARGE;
    }
    *upload = calloc(1, sizeof(**upload));
    if (*upload != NULL) {
        (*upload)->bytes = malloc((size_t)promised + 1);
        (*upload)->promised = (size_t)promised;
    }
    if (*upload == NULL || (*upload)->bytes == NULL) {
        free(*upload);
        *upload = NULL;
        return TOO_LARGE;
    }
    return -1;
}

static enum MHD_Result TakePost(jnaServer* server, struct MHD_Connection* connection, const char* url,
    const char* bytes, size_t* size, Upload* upload)
{
    if (*size > 0) {
        if (*size > upload->promised - upload->size) {
            return MHD_NO;
        }
        memcpy(upload->bytes + upload->size, bytes, *size);
        upload->size += *size;
        *size = 0;
        return MHD_YES;
    }
    void* answer = NULL;
    size_t answerSize = 0;
    upload->bytes[upload->size] = '\0';
    int status = server->def.take(url, upload->bytes, upload->size, &answer, &answerSize, server->def.user);
    if (answer == NULL) {
        return Refuse(server, connection, NOT_FOUND);
    }
    struct MHD_Response* response =
        MakeResponse(server, answerSize, answer, MHD_RESPMEM_MUST_FREE, "application/json", true);
    return Send(connection, response, (unsigned)status);
}

// Called with a request's headers. Its state becomes the server's address, or that of the body of a POST.
static enum MHD_Result Begin(
    jnaServer* server, struct MHD_Connection* connection, const char* method, bool zero, void** state)
{
    Upload* upload = NULL;
    Mark(server, connection, true);
    *state = server;
    if (zero) {
        return Refuse(server, connection, BAD_PATH);
    }
    if (server->def.take != NULL && strcmp(method, MHD_HTTP_METHOD_POST) == 0) {
        int why = JudgePost(server, connection, &upload);
        *state = upload != NULL ? (void*)upload : (void*)server;
        return why >= 0 ? Refuse(server, connection, why) : MHD_YES;
    }
    return HasBody(connection) ? Refuse(server, connection, TOO_LARGE) : MHD_YES;
}

// Called once a request's headers are there, and again once it is whole. An answer at the first call keeps a body from
// being read, and ends the connection: requests behind it would be lost.
static enum MHD_Result Handle(void* user, struct MHD_Connection* connection, const char* url, const char* method,
    const char* version, const char* upload, size_t* uploadSize, void** state)
{
    jnaServer* server = user;
    if ((uintptr_t)*state <= CONNECTION_MEMORY) { // the length of the path
        return Begin(server, connection, method, HasZero(url, version, (uintptr_t)*state), state);
    }
    if (*state != server) {
        return TakePost(server, connection, url, upload, uploadSize, *state);
    }
    if (!IsForUs(server, connection)) {
        return Refuse(server, connection, WRONG_HOST);
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        return Refuse(server, connection, NOT_ALLOWED);
    }
    for (int i = 0; i < server->def.documentCount; ++i) {
        const jnaDocument* document = &server->def.documents[i];
        if (strcmp(url, document->path) == 0) {
            return Send(connection,
                MakeResponse(
                    server, document->size, document->bytes, MHD_RESPMEM_PERSISTENT, document->type, document->changes),
                MHD_HTTP_OK);
        }
    }
    void* bytes = NULL;
    size_t size = 0;
    if (server->def.answer != NULL && server->def.answer(url, &bytes, &size, server->def.user)) {
        struct MHD_Response* response =
            MakeResponse(server, size, bytes, MHD_RESPMEM_MUST_FREE, "application/octet-stream", true);
        return Send(connection, response, MHD_HTTP_OK);
    }
    return Refuse(server, connection, NOT_FOUND);
}

// Paths are taken as they come.
static size_t LeaveEscapes(void* user, struct MHD_Connection* connection, char* text)
{
    (void)user, (void)connection;
    return strlen(text);
}

// Notes whether the other side has taken more of its reply since the last connection came.
static void MeasureTaken(Slot* slot, double now)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(slot->socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_bytes_acked != slot->taken) {
        slot->taken = info.tcpi_bytes_acked;
        slot->takenSince = now;
    }
}

// Whether one connection is to go before another: silent ones first, then those that do not read.
static bool GoesBefore(const Slot* a, const Slot* b)
{
    if (a->asked != b->asked) {
        return !a->asked;
    }
    return a->asked ? a->takenSince < b->takenSince : a->since < b->since;
}

// Closes a connection for the sake of the newest. With the lock held.
static void MakePlace(jnaServer* server, const Slot* newest)
{
    const Slot* oldest = NULL;
    for (int i = 0; i < server->def.connectionLimit; ++i) {
        const Slot* slot = &server->slots[i];
        if (slot->socket >= 0 && slot != newest && (oldest == NULL || GoesBefore(slot, oldest))) {
            oldest = slot;
        }
    }
    if (oldest != NULL) {
        shutdown(oldest->socket, SHUT_RDWR);
    }
}

// Gives a connection a slot or takes it back. The library closes the socket only after the second call, so that a
// socket in a slot is always the connection's.
static void OnConnection(
    void* user, struct MHD_Connection* connection, void** context, enum MHD_ConnectionNotificationCode code)
{
    (void)context;
    jnaServer* server = user;
    bool starts = code == MHD_CONNECTION_NOTIFY_STARTED;
    int socket = SocketOf(connection);
    double now = jnaWallClock();
    pthread_mutex_lock(&server->lock);
    // With each one that comes, or those who read could not be told from those who do not when the last place is taken.
    for (int i = 0; i < server->def.connectionLimit && starts; ++i) {
        if (server->slots[i].socket >= 0 && server->slots[i].asked) {
            MeasureTaken(&server->slots[i], now);
        }
    }
    Slot* slot = FindSlot(server, starts ? -1 : socket);
    if (slot != NULL) {
        *slot = (Slot){starts ? socket : -1, false, now, 0, now};
    }
    if (starts && FindSlot(server, -1) == NULL) {
        MakePlace(server, slot);
    }
    pthread_mutex_unlock(&server->lock);
}

// The next request of a connection gets its own time.
static void OnCompleted(
    void* user, struct MHD_Connection* connection, void** state, enum MHD_RequestTerminationCode code)
{
    (void)code;
    if ((uintptr_t)*state > CONNECTION_MEMORY && *state != user) {
        Upload* upload = *state;
        free(upload->bytes);
        free(upload);
        *state = NULL;
    }
    Mark(user, connection, false);
}

void jnaServer_Sweep(jnaServer* server)
{
    double now = jnaWallClock();
    pthread_mutex_lock(&server->lock);
    for (int i = 0; i < server->def.connectionLimit; ++i) {
        Slot* slot = &server->slots[i];
        if (slot->socket >= 0 && now - slot->since > server->def.requestSeconds) {
            shutdown(slot->socket, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&server->lock);
}

jnaServerDef jnaDefaultServerDef(void)
{
    return (jnaServerDef){.connectionLimit = 64, .idleSeconds = 10, .requestSeconds = 30, .bodyLimit = 16 << 20};
}

static bool MakeRefusals(jnaServer* server)
{
    bool made = true;
    for (size_t i = 0; i < sizeof(refusalTexts) / sizeof(refusalTexts[0]); ++i) {
        server->refusals[i] =
            MakeResponse(server, strlen(refusalTexts[i]), refusalTexts[i], MHD_RESPMEM_PERSISTENT, "text/plain", true);
        made = made && server->refusals[i] != NULL;
    }
    return made &&
           MHD_add_response_header(server->refusals[NOT_ALLOWED], MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES;
}

// poll, not epoll: under epoll this library sees the end of a connection only when its time is up. Its option to reuse
// an address is left alone: on Linux it would let another process serve on the same port.
static void Listen(jnaServer* server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server->def.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD, (uint16_t)server->def.port, NULL, NULL, Handle,
        server, MHD_OPTION_SOCK_ADDR, (struct sockaddr*)&address, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned int)server->def.connectionLimit, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)server->def.idleSeconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_UNESCAPE_CALLBACK, LeaveEscapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, NotePath, NULL, MHD_OPTION_NOTIFY_CONNECTION, OnConnection, server,
        MHD_OPTION_NOTIFY_COMPLETED, OnCompleted, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

jnResult jnaStartServer(const jnaServerDef* def, jnaServer** out, jnError* error)
{
    *out = NULL;
    jnaServer* server = calloc(1, sizeof(*server));
    if (server == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the server");
    }
    jnResult result = jn_ok;
    server->def = *def;
    pthread_mutex_init(&server->lock, NULL);
    if (!jnaResize(&server->slots, def->connectionLimit, sizeof(*server->slots)) || !MakeRefusals(server)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the server"));
    }
    for (int i = 0; i < def->connectionLimit; ++i) {
        server->slots[i] = (Slot){.socket = -1};
    }
    errno = 0;
    Listen(server);
    if (server->daemon == NULL) {
        JN_TRY(jnFail(error, jn_ioFailed, "cannot serve on port %d of 127.0.0.1: %s", def->port,
            errno != 0 ? strerror(errno) : "it is not free"));
    }
    const union MHD_DaemonInfo* info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : def->port;
    *out = server;
    server = NULL;
done:
    jnaStopServer(server);
    return result;
}

int jnaServer_Port(const jnaServer* server)
{
    return server->port;
}

void jnaStopServer(jnaServer* server)
{
    if (server == NULL) {
        return;
    }
    if (server->daemon != NULL) {
        MHD_stop_daemon(server->daemon);
    }
    for (size_t i = 0; i < sizeof(refusalTexts) / sizeof(refusalTexts[0]); ++i) {
        if (server->refusals[i] != NULL) {
            MHD_destroy_response(server->refusals[i]);
        }
    }
    pthread_mutex_destroy(&server->lock);
    free(server->slots);
    free(server);
}
