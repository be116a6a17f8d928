// A process gives up what it does not need before it reads a file from elsewhere.
#pragma once

#include <stdbool.h>

/// What the kernel took away.
typedef struct jnaSandbox {
    bool calls; // no connections, no other programs, nothing written or removed (seccomp)
    bool files; // no file but those of one folder can be read (Landlock)
} jnaSandbox;

/// From here on this process may read the file and what is in its folder, and write to what it has open; for good.
/// Where the kernel has one of the two mechanisms or neither, the rest of the process's rights stay. Not for a process
/// that others than the caller have work in: call it in a child.
jnaSandbox jnaEnterSandbox(const char* file);
