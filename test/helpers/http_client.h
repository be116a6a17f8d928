// Raw requests to a server of this machine, for tests that say what no library would.
#pragma once

#include "helpers/support.h"
#include "jounce/base.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

// A connection to 127.0.0.1 that gives up after some seconds without a byte; -1 if refused.
static inline int ConnectTo(int port)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = 8};
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(s, (struct sockaddr*)&address, sizeof(address)) != 0) {
        close(s);
        return -1;
    }
    return s;
}

static inline bool SendAll(int s, const void* bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t part = send(s, (const char*)bytes + done, size - done, MSG_NOSIGNAL);
        if (part <= 0) {
            return false;
        }
        done += (size_t)part;
    }
    return true;
}

// Reads until the server closes, or nothing comes. Returns the bytes read, of which `size` - 1 are kept, terminated.
static inline size_t ReceiveAll(int s, char* text, size_t size)
{
    size_t total = 0, kept = 0;
    char part[4096];
    for (ssize_t n; (n = recv(s, part, sizeof(part), 0)) > 0; total += (size_t)n) {
        size_t room = size - 1 - kept, take = (size_t)n < room ? (size_t)n : room;
        memcpy(text + kept, part, take);
        kept += take;
    }
    text[kept] = '\0';
    return total;
}

// Sends bytes and returns the status of the reply, 0 where the connection was closed without one, -1 where there was
// none to be had.
static inline int Ask(int port, const char* request, size_t size, char* reply, size_t replySize)
{
    int s = ConnectTo(port);
    if (s < 0) {
        return -1;
    }
    SendAll(s, request, size);
    ReceiveAll(s, reply, replySize);
    close(s);
    int status = 0;
    return sscanf(reply, "HTTP/1.%*d %d", &status) == 1 ? status : 0;
}

// A plain request for a target, with the right host.
static inline int Get(int port, const char* method, const char* target, char* reply, size_t replySize)
{
    char request[4096];
    int length = snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n",
        method, target, port);
    return Ask(port, request, (size_t)length, reply, replySize);
}
