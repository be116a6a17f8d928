// One lock for all who write into a workspace, WORKSPACE/workspace.lock, which says who holds it.
//
// Whoever makes a stage holds it alone. Runs of a simulation share it: they divide the poses among themselves
// (pipeline/job.h). The lock ends with its process, however that ends; the file stays. A file system without locks lets
// everybody through.
#pragma once

#include "jounce/base.h"

/// All zeroes: not held.
typedef struct jnaWorkspaceLock {
    int file; // its descriptor and one; 0: none
} jnaWorkspaceLock;

/// Takes the lock, or fails with a sentence that names the holder. Alone, it also removes what killed runs left of
/// files in the making (*.part), and refuses a folder of the workspace that is a symbolic link: what is written must
/// stay in the workspace. who: "jounce build".
jnResult jnaLockWorkspace(const char* workspace, const char* who, bool alone, jnaWorkspaceLock* lock, jnError* error);

/// The same for a page that is open on a workspace, or on the folder that its workspaces are made in:
/// FOLDER/studio.lock. It leaves the lock of its writers alone, which its jobs take one after the other.
jnResult jnaLockStudio(const char* folder, jnaWorkspaceLock* lock, jnError* error);

/// Lets other runs of a simulation in; and waits until they have left.
void jnaWorkspaceLock_Share(jnaWorkspaceLock* lock);
void jnaWorkspaceLock_TakeAlone(jnaWorkspaceLock* lock);

/// Harmless where it is not held.
void jnaUnlockWorkspace(jnaWorkspaceLock* lock);

/// Removes folders "PATH.*.part" that killed runs of jounce new left: those that nobody holds.
void jnaRemoveAbandoned(const char* path);

/// Removes a folder with all that is in it. Symbolic links are removed, not followed.
void jnaRemoveFolder(const char* path);
