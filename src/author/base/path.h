// Names of files.
#pragma once

#include "jounce/base.h"

enum { JNA_PATH_LENGTH = 4096 };

/// "folder/name", or name where it is absolute; an error where it does not fit. path: [JNA_PATH_LENGTH].
jnResult jnaJoinPath(const char* folder, const char* name, char* path, jnError* error);

/// What leads from a folder to a file, both absolute as realpath has them: "../hero.glb". The file as it is where they
/// have only the root in common, or where the way climbs more than three folders. path: [JNA_PATH_LENGTH].
jnResult jnaRelativePath(const char* folder, const char* file, char* path, jnError* error);

/// Brings the names in the folder that holds `path` to the disk: one that was made, removed or renamed there is safe
/// from a loss of power only then. Where a file system cannot do it, nothing happens.
void jnaSyncFolderOf(const char* path);

/// Makes the folder "folder/name" where it is not there yet, and brings its name to the disk. path: [JNA_PATH_LENGTH],
/// its name; may be NULL.
jnResult jnaMakeFolder(const char* folder, const char* name, char* path, jnError* error);

/// Whether a text can be the name of a folder of ours: letters, digits, '-', '_' and '.', which is not first.
bool jnaIsPlainName(const char* name);

/// Whether there is a file, readable or not: opening one that is not says why.
bool jnaFileIsThere(const char* path);

/// The same for "folder/name".
bool jnaFolderHas(const char* folder, const char* name);
