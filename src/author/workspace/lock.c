// The lock of a workspace's writers: an advisory lock on a file, by open file description, so that threads of one
// process exclude each other too and the end of the process is the end of the lock.
#include "workspace/lock.h"

#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char LOCK_NAME[] = "workspace.lock", STUDIO_NAME[] = "studio.lock";
enum { HOLDER_LENGTH = 160 };

// False where another process holds it.
static bool SetLock(int descriptor, short kind, bool wait)
{
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_len = 1};
    int code;
    do {
        code = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range);
    } while (code != 0 && errno == EINTR);
    return code == 0 || (errno != EAGAIN && errno != EACCES);
}

// "jounce build, process 1234 on hostname"
static void WriteHolder(int descriptor, const char* who)
{
    char host[64] = "", text[HOLDER_LENGTH];
    (void)gethostname(host, sizeof(host) - 1);
    int length = snprintf(text, sizeof(text), "%s, process %ld on %s\n", who, (long)getpid(), host);
    // For people alone: a lock whose file cannot be written is still a lock.
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, (size_t)length, 0) != length) {
        return;
    }
}

static void ReadHolder(int descriptor, char text[HOLDER_LENGTH])
{
    ssize_t length = pread(descriptor, text, HOLDER_LENGTH - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    for (char* c = text; *c != '\0'; ++c) {
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    }
    if (text[0] == '\0') {
        strcpy(text, "another process");
    }
}

static bool EndsWith(const char* text, const char* end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

// A walk through a folder, links not followed but for the folder itself. NULL: it cannot be read.
static FTS* Walk(const char* path)
{
    union {
        const char* from;
        char* to;
    } root = {path};
    char* paths[] = {root.to, NULL};
    return fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
}

void jnaRemoveFolder(const char* path)
{
    FTS* walk = Walk(path);
    for (FTSENT* entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (entry->fts_info != FTS_D) { // a folder comes once more after what is in it
            (void)remove(entry->fts_accpath);
        }
    }
    if (walk != NULL) {
        fts_close(walk);
    }
}

static bool IsLinkToFolder(const FTSENT* entry)
{
    struct stat target;
    return entry->fts_info == FTS_SL && stat(entry->fts_accpath, &target) == 0 && S_ISDIR(target.st_mode);
}

static jnResult TidyUp(const char* workspace, jnError* error)
{
    jnResult result = jn_ok;
    FTS* walk = Walk(workspace);
    for (FTSENT* entry; result == jn_ok && walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (IsLinkToFolder(entry)) {
            result = jnFail(error, jn_ioFailed,
                "%s: is a symbolic link to a folder; a workspace writes into its own folders alone", entry->fts_path);
        } else if (entry->fts_info == FTS_DEFAULT) {
            result = jnFail(error, jn_ioFailed, "%s: is neither a file nor a folder; remove it", entry->fts_path);
        } else if (entry->fts_level > 0 && EndsWith(entry->fts_name, ".part")) {
            if (entry->fts_info == FTS_D) {
                jnaRemoveFolder(entry->fts_path);
                (void)fts_set(walk, entry, FTS_SKIP);
            } else if (entry->fts_info != FTS_DP) {
                (void)unlink(entry->fts_accpath);
            }
        }
    }
    if (walk != NULL) {
        fts_close(walk);
    }
    return result;
}

// Opens the file of a lock and holds it.
static jnResult Hold(
    const char* folder, const char* name, const char* who, bool alone, jnaWorkspaceLock* lock, jnError* error)
{
    char path[JNA_PATH_LENGTH], holder[HOLDER_LENGTH];
    jnResult result = jn_ok;
    *lock = (jnaWorkspaceLock){0};
    JN_TRY(jnaJoinPath(folder, name, path, error));
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0 && !alone && (errno == EACCES || errno == EROFS)) {
        return jn_ok; // one who may only read: nobody can be kept waiting
    }
    if (descriptor < 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno));
    }
    lock->file = descriptor + 1;
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        JN_TRY(jnFail(error, jn_ioFailed, "%s: cannot write: it is not a file", path));
    }
    if (!SetLock(descriptor, alone ? F_WRLCK : F_RDLCK, false)) {
        ReadHolder(descriptor, holder);
        result =
            name == STUDIO_NAME
                ? jnFail(error, jn_ioFailed, "%s: %s has it open; use its page, or stop it", folder, holder)
                : jnFail(error, jn_ioFailed, "%s: %s writes into it; wait for its end, or stop it", folder, holder);
        goto done;
    }
    WriteHolder(descriptor, who);
done:
    if (result != jn_ok) {
        jnaUnlockWorkspace(lock);
    }
    return result;
}

jnResult jnaLockWorkspace(const char* workspace, const char* who, bool alone, jnaWorkspaceLock* lock, jnError* error)
{
    JN_PASS(Hold(workspace, LOCK_NAME, who, alone, lock, error));
    jnResult result = alone && lock->file > 0 ? TidyUp(workspace, error) : jn_ok;
    if (result != jn_ok) {
        jnaUnlockWorkspace(lock);
    }
    return result;
}

jnResult jnaLockStudio(const char* folder, jnaWorkspaceLock* lock, jnError* error)
{
    return Hold(folder, STUDIO_NAME, "jounce studio", true, lock, error);
}

void jnaWorkspaceLock_Share(jnaWorkspaceLock* lock)
{
    (void)SetLock(lock->file - 1, F_RDLCK, true);
}

void jnaWorkspaceLock_TakeAlone(jnaWorkspaceLock* lock)
{
    (void)SetLock(lock->file - 1, F_WRLCK, true);
}

void jnaUnlockWorkspace(jnaWorkspaceLock* lock)
{
    if (lock->file > 0) {
        close(lock->file - 1);
    }
    *lock = (jnaWorkspaceLock){0};
}

// "PATH.1234.part": a run that was killed before it had a lock.
static bool IsOfEndedProcess(const char* path)
{
    const char *end = strrchr(path, '.'), *at = end;
    while (at > path && at[-1] != '.') {
        at--;
    }
    long process = strtol(at, NULL, 10);
    return process > 0 && process <= INT_MAX && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

void jnaRemoveAbandoned(const char* path)
{
    char pattern[2 * JNA_PATH_LENGTH];
    size_t length = 0;
    for (const char* c = path; *c != '\0' && length + 16 < sizeof(pattern); ++c) {
        if (strchr("*?[\\", *c) != NULL) {
            pattern[length++] = '\\';
        }
        pattern[length++] = *c;
    }
    strcpy(pattern + length, ".*.part");
    glob_t found;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        jnaWorkspaceLock lock;
        char inside[JNA_PATH_LENGTH];
        // Without the file of the lock it is nothing of ours, unless it is empty and the process in its name has ended.
        if (IsOfEndedProcess(found.gl_pathv[i]) && rmdir(found.gl_pathv[i]) == 0) {
            continue;
        }
        if (jnaJoinPath(found.gl_pathv[i], LOCK_NAME, inside, NULL) == jn_ok && jnaFileIsThere(inside) &&
            jnaLockWorkspace(found.gl_pathv[i], "jounce new", true, &lock, NULL) == jn_ok) {
            jnaRemoveFolder(found.gl_pathv[i]);
            jnaUnlockWorkspace(&lock);
        }
    }
    globfree(&found);
}
