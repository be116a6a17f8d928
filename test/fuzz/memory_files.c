// Files in memory; see memory_files.h. This object stands before the library, whose file.c, mapped_file.c and input.c
// are then not linked.
#include "memory_files.h"

#include "base/file.h"
#include "base/input.h"
#include "base/mapped_file.h"
#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/mman.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

enum { MOST_FILES = 16, GUARD = 4096, FILE_ALIGNMENT = 64 };

typedef struct MemoryFile {
    char path[256];
    char* region; // where the bytes end; a guard page follows. Without AddressSanitizer only.
    char* bytes;
    size_t size;
} MemoryFile;

static MemoryFile files[MOST_FILES];
static int fileCount;

static MemoryFile* Find(const char* path)
{
    for (int i = 0; i < fileCount; ++i) {
        if (strcmp(files[i].path, path) == 0) {
            return &files[i];
        }
    }
    return NULL;
}

// A file begins at a multiple of 64 bytes, as a mapped one does at a page.
static void Place(MemoryFile* file, size_t size)
{
    file->size = size;
    if (__has_feature(address_sanitizer)) {
        void* bytes = NULL;
        free(file->bytes);
        if (posix_memalign(&bytes, FILE_ALIGNMENT, size > 0 ? size : 1) != 0) {
            abort();
        }
        file->bytes = bytes;
        return;
    }
    if (file->region == NULL) {
        file->region = mmap(
            NULL, MOST_FILE_BYTES + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (file->region == MAP_FAILED || mprotect(file->region + MOST_FILE_BYTES, GUARD, PROT_NONE) != 0) {
            abort();
        }
    }
    file->bytes = file->region + MOST_FILE_BYTES - (size + FILE_ALIGNMENT - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT;
}

const char* PutFile(const char* path, const void* data, size_t size)
{
    MemoryFile* file = Find(path);
    if (file == NULL) {
        if (fileCount == MOST_FILES || strlen(path) >= sizeof(file->path)) {
            abort();
        }
        file = &files[fileCount++];
        memcpy(file->path, path, strlen(path) + 1);
    }
    if (size > MOST_FILE_BYTES) {
        abort();
    }
    Place(file, size);
    memcpy(file->bytes, data, size);
    return path;
}

const void* GetFile(const char* path, size_t* size)
{
    const MemoryFile* file = Find(path);
    *size = file != NULL ? file->size : 0;
    return file != NULL ? file->bytes : NULL;
}

jnResult jnaMapFile(const char* path, jnaMappedFile* file, jnError* error)
{
    const MemoryFile* found = Find(path);
    *file = (jnaMappedFile){0};
    if (found == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(ENOENT));
    }
    if (found->size > 0) {
        *file = (jnaMappedFile){(unsigned char*)found->bytes, found->size};
    }
    return jn_ok;
}

void jnaUnmapFile(jnaMappedFile* file)
{
    *file = (jnaMappedFile){0};
}

// The text is where open_memstream put it: `temporaryPath` is its address, `size` its length, in one block.
typedef struct Draft {
    char* text;
    size_t size;
} Draft;

jnResult jnaCreateFile(const char* path, jnaFile* file, jnError* error)
{
    (void)error;
    Draft* draft = calloc(1, sizeof(*draft));
    *file = (jnaFile){.path = strdup(path), .temporaryPath = (char*)draft};
    file->stream = draft != NULL ? open_memstream(&draft->text, &draft->size) : NULL;
    if (file->stream == NULL || file->path == NULL) {
        abort();
    }
    return jn_ok;
}

jnResult jnaFile_Sync(jnaFile* file, jnError* error)
{
    (void)error;
    return fflush(file->stream) == 0 ? jn_ok : jn_ioFailed;
}

jnResult jnaFile_Commit(jnaFile* file, jnError* error)
{
    const Draft* draft = (const Draft*)file->temporaryPath;
    (void)error;
    fflush(file->stream);
    PutFile(file->path, draft->text, draft->size);
    jnaFile_Abandon(file);
    return jn_ok;
}

void jnaFile_Abandon(jnaFile* file)
{
    Draft* draft = (Draft*)file->temporaryPath;
    if (draft != NULL) {
        fclose(file->stream);
        free(draft->text);
        free(draft);
        free(file->path);
    }
    *file = (jnaFile){0};
}

jnResult jnaWriteBytes(const char* path, const void* bytes, size_t size, jnError* error)
{
    (void)error;
    PutFile(path, bytes, size);
    return jn_ok;
}

// All that base/input.c has, so that it is not linked either.
int jnaOpenDescriptor(const char* path, jnError* error)
{
    jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(ENOENT));
    errno = ENOENT;
    return -1;
}

jnResult jnaOpenInput(const char* path, FILE** stream, jnError* error)
{
    static char nothing[1];
    const MemoryFile* file = Find(path);
    if (file == NULL) {
        errno = ENOENT;
        *stream = NULL;
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(ENOENT));
    }
    *stream = fmemopen(file->size > 0 ? file->bytes : nothing, file->size, "rb");
    if (*stream == NULL) {
        abort();
    }
    return jn_ok;
}

json_t* jnaReadJson(const char* path, size_t flags, json_error_t* why)
{
    const MemoryFile* file = Find(path);
    json_error_t own;
    why = why != NULL ? why : &own;
    if (file == NULL) {
        *why = (json_error_t){.line = -1, .column = -1, .text = "cannot read"};
        why->text[sizeof(why->text) - 1] = (char)json_error_cannot_open_file;
        return NULL;
    }
    return json_loadb(file->bytes, file->size, flags, why);
}

// What the linker calls in the place of fopen and access (--wrap).
FILE* __real_fopen(const char* path, const char* mode);
FILE* __wrap_fopen(const char* path, const char* mode);
int __real_access(const char* path, int mode);
int __wrap_access(const char* path, int mode);

FILE* __wrap_fopen(const char* path, const char* mode)
{
    const MemoryFile* file = Find(path);
    return file != NULL ? fmemopen(file->bytes, file->size, "rb") : __real_fopen(path, mode);
}

int __wrap_access(const char* path, int mode)
{
    return Find(path) != NULL ? 0 : __real_access(path, mode);
}
