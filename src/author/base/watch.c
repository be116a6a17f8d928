// What is said of work that was stopped.
#include "base/watch.h"

#include "runtime/for_author.h"

jnResult jnaWatch_Stopped(jnError* error)
{
    return jnFail(error, jn_cancelled, "interrupted; finished work is kept, and the same command resumes it");
}

jnResult jnaWatch_Tell(const jnaWatch* watch, double share, jnError* error)
{
    return jnaWatch_GoesOn(watch, share) ? jn_ok : jnaWatch_Stopped(error);
}
