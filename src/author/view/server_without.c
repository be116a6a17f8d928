// In the place of server.c where libmicrohttpd is left out.
#include "runtime/for_author.h"
#include "view/server.h"

jnaServerDef jnaDefaultServerDef(void)
{
    return (jnaServerDef){.connectionLimit = 64, .idleSeconds = 10, .requestSeconds = 30};
}

jnResult jnaStartServer(const jnaServerDef* def, jnaServer** server, jnError* error)
{
    (void)def;
    *server = NULL;
    return jnFail(error, jn_badArgument,
        "this build of jounce has no viewer (libmicrohttpd is left out); jounce view --export and jounce picture work");
}

int jnaServer_Port(const jnaServer* server)
{
    (void)server;
    return 0;
}

void jnaServer_Sweep(jnaServer* server)
{
    (void)server;
}

void jnaStopServer(jnaServer* server)
{
    (void)server;
}
