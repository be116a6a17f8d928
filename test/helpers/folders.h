// Folders of a test, and the end of its processes.
#pragma once

#include "helpers/support.h"

#include <ftw.h>
#include <sys/wait.h>

static inline int RemoveOne(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

// With all that is in it; 0 where it is gone.
static inline int RemoveFolder(const char* path)
{
    return nftw(path, RemoveOne, 16, FTW_DEPTH | FTW_PHYS);
}

// The exit code of a child, or 128 and the signal that ended it.
static inline int WaitFor(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
