// A process gives up what it does not need before it reads a file from elsewhere.
#pragma once

#include <stdbool.h>

/// What the kernel took away.
typedef struct jnaSandbox {
    bool calls; // all system calls but those of base/sandbox_calls.h (seccomp)
    bool files; // no file but those of one folder can be read (Landlock)
} jnaSandbox;

/// From here on this process may read the file and what is in its folder, and write to what it has open; for good.
/// Where the kernel has one of the two mechanisms or neither, the rest of the process's rights stay. Not for a process
/// that others than the caller have work in: call it in a child.
jnaSandbox jnaEnterSandbox(const char* file);

/// What a process without one of them should be told: "this kernel has no Landlock: ..."; NULL where it has both.
const char* jnaSandbox_Missing(jnaSandbox sandbox);

/// A name in the environment: where it is set to 1, no file is read by a process that is not confined by both.
#define JNA_REQUIRE_SANDBOX "JOUNCE_REQUIRE_SANDBOX"
