// Progress of long work, and what is said of work that was stopped.
#include "base/watch.h"

#include "runtime/for_author.h"

bool jnaWatch_GoesOn(const jnaWatch* watch, double share)
{
    return jnaWatch_Show(watch, &(jnaProgress){.share = share});
}

bool jnaWatch_Count(const jnaWatch* watch, jnaProgress* progress)
{
    progress->share = progress->total > 0 ? (double)progress->done / progress->total : 0;
    return jnaWatch_Show(watch, progress);
}

jnResult jnaWatch_Stopped(jnError* error)
{
    return jnFail(error, jn_cancelled, "interrupted; finished work is kept, and the same command resumes it");
}

jnResult jnaWatch_Tell(const jnaWatch* watch, double share, jnError* error)
{
    return jnaWatch_GoesOn(watch, share) ? jn_ok : jnaWatch_Stopped(error);
}
