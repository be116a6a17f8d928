// A small web server for the viewer: loopback only, a fixed list of documents in memory, nothing else.
//
// A request names a document or gets a 404: no path ever reaches the file system. GET and HEAD alone are answered, a
// request with a body or for another host is refused, headers, connections and the time of a request are limited.
//
// A server that takes changes (`take`) answers POST as well. Such a request has to bring what only a page of this very
// server can: the token that was given to whoever opened it, in X-Jounce-Token, and an Origin header that names this
// server. Its body has a length, within a limit, that is known before a byte of it is read.
#pragma once

#include "jounce/base.h"

#include <stddef.h>

/// One document. The path is compared as it is in the request, letter for letter, without decoding.
typedef struct jnaDocument {
    char path[256];   // "/assets/index.js"; letters, digits, '/', '.', '_', '-'
    const char* type; // media type; static
    const void* bytes;
    size_t size;
    bool changes; // the browser must ask again each time
} jnaDocument;

/// Answers what is not in the list: fills in bytes from malloc, which the server frees. false: 404. Called from the
/// server's thread.
typedef bool (*jnaAnswer)(const char* path, void** bytes, size_t* size, void* user);

/// Takes a POST whose token, Origin and Host are right. body: [size]. Fills in an answer from malloc, which the server
/// frees, JSON; returns the status, 200 where it was done. Called from the server's thread.
typedef int (*jnaTake)(const char* path, const void* body, size_t size, void** bytes, size_t* answerSize, void* user);

typedef struct jnaServerDef {
    int port; // 0: any that is free
    int documentCount;
    const jnaDocument* documents; // [documentCount], and what they point to, must outlive the server
    jnaAnswer answer;             // NULL: none
    jnaTake take;                 // NULL: a POST is refused
    const char* token;            // that a POST must bring; not NULL where there is `take`
    size_t bodyLimit;             // bytes of a POST at most; default 16 MB
    bool readsMemory;             // the page may load images that it made in memory (blob:), of textures
    void* user;
    int connectionLimit; // at once; default 64. Who takes the last place puts out the oldest silent one
    int idleSeconds;     // a connection that is silent for so long is closed; default 10
    int requestSeconds;  // so is one whose request or reply takes longer; default 30
} jnaServerDef;

typedef struct jnaServer jnaServer;

jnaServerDef jnaDefaultServerDef(void);

/// Starts to serve, in a thread of its own. Fails if the port is taken.
jnResult jnaStartServer(const jnaServerDef* def, jnaServer** server, jnError* error);

/// The port that is served.
int jnaServer_Port(const jnaServer* server);

/// Closes the connections whose time is up. To be called about once a second.
void jnaServer_Sweep(jnaServer* server);

/// Ends all connections and the thread. NULL is allowed.
void jnaStopServer(jnaServer* server);

/// Files of a folder as documents, in memory.
typedef struct jnaFolder {
    int count;
    jnaDocument* documents; // [count]; "/index.html" is also "/"
} jnaFolder;

/// Reads a folder and those inside it, regular files with plain names alone; symbolic links are not followed.
jnResult jnaReadFolder(const char* path, jnaFolder* folder, jnError* error);
void jnaDestroyFolder(jnaFolder* folder);
