// Locks between the runs of a job: byte ranges of one file, by open file description, so that they end with the
// process. Byte 0 stands for merging, byte 1 for being there at all, the others for shards.
//
// The file holds the id of what is being made: whoever comes while others are there must have the same one.
#include "pipeline/shard.h"

#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MERGE, PRESENCE, SHARDS };

// False where another run holds it. A file system without locks lets everybody through: shards are then made twice at
// worst.
static bool Lock(int descriptor, int byte, short kind, bool wait)
{
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int code;
    do {
        code = fcntl(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range);
    } while (code != 0 && errno == EINTR);
    return code == 0 || (errno != EAGAIN && errno != EACCES);
}

jnResult jnaOpenJobLock(const jnaShardPlan* plan, jnaJobLock* lock, bool* alone, jnError* error)
{
    char name[JNA_NAME_LENGTH + 8], path[JNA_PATH_LENGTH], id[17], present[17] = "";
    snprintf(name, sizeof(name), "%.64s.lock", plan->job->names.shards);
    snprintf(id, sizeof(id), "%016" PRIx64, plan->id);
    *alone = false;
    lock->descriptor = -1;
    JN_PASS(jnaJob_Path(plan->job, name, path, error));
    lock->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (lock->descriptor < 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(errno));
    }
    struct stat status;
    if (fstat(lock->descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        jnaCloseJobLock(lock);
        return jnFail(error, jn_ioFailed, "%s: cannot write: it is not a file", path);
    }
    if (Lock(lock->descriptor, PRESENCE, F_WRLCK, false)) {
        *alone = true;
        bool written = pwrite(lock->descriptor, id, 16, 0) == 16;
        int reason = errno;
        if (!written) {
            jnaCloseJobLock(lock);
            return jnFail(error, jn_ioFailed, "%s: cannot write: %s", path, strerror(reason));
        }
    }
    // Whoever is alone keeps the others waiting until it has prepared the folder.
    if (!*alone) {
        Lock(lock->descriptor, PRESENCE, F_RDLCK, true);
    }
    bool same = *alone || (pread(lock->descriptor, present, 16, 0) == 16 && memcmp(present, id, 16) == 0);
    if (!same) {
        jnaCloseJobLock(lock);
        return jnFail(error, jn_ioFailed,
            "%s: another run works here on other poses or settings; wait for its end, or stop it", plan->job->folder);
    }
    return jn_ok;
}

void jnaJobLock_Admit(jnaJobLock* lock)
{
    Lock(lock->descriptor, PRESENCE, F_RDLCK, true);
}

void jnaCloseJobLock(jnaJobLock* lock)
{
    if (lock->descriptor >= 0) {
        close(lock->descriptor);
    }
    lock->descriptor = -1;
}

bool jnaJobLock_Take(jnaJobLock* lock, int shard)
{
    return Lock(lock->descriptor, SHARDS + shard, F_WRLCK, false);
}

void jnaJobLock_Release(jnaJobLock* lock, int shard)
{
    Lock(lock->descriptor, SHARDS + shard, F_UNLCK, false);
}

bool jnaJobLock_TakeMerge(jnaJobLock* lock)
{
    return Lock(lock->descriptor, MERGE, F_WRLCK, false);
}
