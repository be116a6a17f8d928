// What one import may come to. A file of a few bytes can ask for gigabytes: two keys half a day apart, a mesh that
// stands in a thousand places. Counted is what is about to be allocated, before it is.
#include "base/path.h"
#include "character/import_internal.h"

#include "runtime/for_author.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// What any import may take, what a byte of its files adds, and where that ends. Clips as exporters write them take 1.5
// bytes a byte; those with a few keys of a long motion up to a hundred.
#define LEAST_BYTES 256e6
#define BYTES_A_BYTE 200.0
#define MOST_BYTES 4e9
#define LEAST_FRAMES (double)(1 << 19)
#define FRAMES_A_BYTE 0.25
#define MOST_FRAMES 2e8

double jnaSizeOfModel(const char* path)
{
    struct stat status;
    double size = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (double)status.st_size : 0;
    const char* slash = strrchr(path, '/');
    char folder[JNA_PATH_LENGTH];
    int length = slash != NULL ? (int)(slash - path) + 1 : 0;
    if (!jnaHasEnding(path, ".gltf") || snprintf(folder, sizeof(folder), "%.*s.", length, path) >= JNA_PATH_LENGTH) {
        return size;
    }
    DIR* open = opendir(folder);
    for (struct dirent* entry; open != NULL && (entry = readdir(open)) != NULL;) {
        bool other = fstatat(dirfd(open), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                     S_ISREG(status.st_mode) && jnaHasEnding(entry->d_name, ".bin");
        size += other ? (double)status.st_size : 0;
    }
    if (open != NULL) {
        closedir(open);
    }
    return size;
}

void jnaImportBudget_AddFile(jnaImportBudget* budget, const char* path)
{
    double size = jnaSizeOfModel(path);
    budget->bytes = fmin((budget->bytes > 0 ? budget->bytes : LEAST_BYTES) + BYTES_A_BYTE * size, MOST_BYTES);
    budget->frames = fmin((budget->frames > 0 ? budget->frames : LEAST_FRAMES) + FRAMES_A_BYTE * size, MOST_FRAMES);
}

jnResult jnaImportBudget_TakeBytes(jnaImportBudget* budget, const char* path, double bytes, jnError* error)
{
    if (budget == NULL) {
        return jn_ok;
    }
    budget->takenBytes += bytes;
    return budget->takenBytes <= budget->bytes
               ? jn_ok
               : jnFail(error, jn_badData, "%s: comes to %.3g MB; files of this size may come to %.3g MB", path,
                     1e-6 * budget->takenBytes, 1e-6 * budget->bytes);
}

jnResult jnaImportBudget_TakeClip(
    jnaImportBudget* budget, const char* path, double frames, double numbers, jnError* error)
{
    if (budget == NULL) {
        return jn_ok;
    }
    budget->takenFrames += frames;
    budget->takenBytes += frames * numbers * sizeof(float);
    return budget->takenBytes <= budget->bytes && budget->takenFrames <= budget->frames
               ? jn_ok
               : jnFail(error, jn_badData,
                     "%s: its animations come to %.3g frames and %.3g MB; files of this size may come to %.3g and %.3g "
                     "MB: keep fewer or shorter ones, or lower the rate",
                     path, budget->takenFrames, 1e-6 * budget->takenBytes, budget->frames, 1e-6 * budget->bytes);
}
