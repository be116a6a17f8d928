// Whatever a client sends to the viewer's server: it answers or closes, serves nothing but its list, and goes on.
#include "memory_files.h"
#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static jnaDocument page = {"/", "text/html", "page", 4, false};
static jnaServer* server;

int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    (void)argc, (void)argv;
    jnaServerDef def = jnaDefaultServerDef();
    def.documents = &page;
    def.documentCount = 1;
    return jnaStartServer(&def, &server, NULL) == jn_ok ? 0 : (abort(), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)jnaServer_Port(server))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const struct timeval patience = {.tv_sec = 5};
    const struct linger now = {1, 0}; // no port is kept waiting: thousands are used in a second
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    if (connect(s, (struct sockaddr*)&address, sizeof(address)) != 0) {
        if (errno == EINTR) { // libFuzzer's alarm
            close(s);
            return 0;
        }
        perror("connect");
        abort();
    }
    (void)send(s, data, size, MSG_NOSIGNAL);
    shutdown(s, SHUT_WR);
    char reply[4096];
    for (ssize_t count; (count = recv(s, reply, sizeof(reply) - 1, 0)) > 0;) {
        reply[count] = '\0';
        if (strstr(reply, "root:") != NULL) {
            abort();
        }
    }
    close(s);
    return 0;
}
