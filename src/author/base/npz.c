// Arrays of a .npz file: a zip archive of .npy files, stored or deflated.
//
// The archive is read from its end: end record, with its 64-bit form where numbers do not fit, then the central
// directory, whose entries say where each member lies. Offsets, lengths and the checksum are all verified.
#include "base/mapped_file.h"
#include "base/npy.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR64_SIGNATURE = 0x07064b50,
    ENTRY_SIGNATURE = 0x02014b50,
    MEMBER_SIGNATURE = 0x04034b50,
};
enum { END_SIZE = 22, LOCATOR64_SIZE = 20, END64_SIZE = 56, ENTRY_SIZE = 46, MEMBER_SIZE = 30, MAX_COMMENT = 65535 };
// Deflate cannot do better than this; an entry that claims more is no array but an attack.
enum { LARGEST_RATIO = 1040 };

typedef struct Member {
    const char* name; // not terminated, without ".npy"
    size_t nameLength;
    unsigned method;
    uint32_t checksum;
    uint64_t stored, size, offset;
} Member;

typedef struct Archive {
    const unsigned char* bytes;
    size_t size;
    uint64_t at, end; // of the central directory
    uint64_t left;    // entries that have not been read
} Archive;

// Finds the end record from the back; behind it stands a comment of up to 64 KB.
static const unsigned char* FindEnd(const Archive* a)
{
    for (size_t back = END_SIZE; back <= a->size && back <= END_SIZE + MAX_COMMENT; ++back) {
        const unsigned char* at = a->bytes + a->size - back;
        if (jnaLoadLittle(at, 4) == END_SIGNATURE) {
            return at;
        }
    }
    return NULL;
}

static bool OpenDirectory(Archive* a)
{
    const unsigned char* end = FindEnd(a);
    if (end == NULL) {
        return false;
    }
    size_t position = (size_t)(end - a->bytes);
    a->left = jnaLoadLittle(end + 10, 2);
    uint64_t size = jnaLoadLittle(end + 12, 4);
    a->at = jnaLoadLittle(end + 16, 4);
    if (a->at == UINT32_MAX || size == UINT32_MAX || a->left == UINT16_MAX) {
        if (position < LOCATOR64_SIZE || jnaLoadLittle(end - LOCATOR64_SIZE, 4) != LOCATOR64_SIGNATURE) {
            return false;
        }
        uint64_t wide = jnaLoadLittle(end - LOCATOR64_SIZE + 8, 8);
        if (wide > a->size || a->size - wide < END64_SIZE || jnaLoadLittle(a->bytes + wide, 4) != END64_SIGNATURE) {
            return false;
        }
        a->left = jnaLoadLittle(a->bytes + wide + 32, 8);
        size = jnaLoadLittle(a->bytes + wide + 40, 8);
        a->at = jnaLoadLittle(a->bytes + wide + 48, 8);
    }
    if (a->at > position || size > position - a->at) {
        return false;
    }
    a->end = a->at + size;
    return true;
}

// Sizes that do not fit 32 bits stand in an extra field, in this order, only those that are needed.
static bool TakeWide(const unsigned char* extra, size_t length, Member* m)
{
    uint64_t* const fields[3] = {&m->size, &m->stored, &m->offset};
    size_t at = 0;
    while (length - at >= 4) {
        size_t kind = (size_t)jnaLoadLittle(extra + at, 2), size = (size_t)jnaLoadLittle(extra + at + 2, 2);
        at += 4;
        if (size > length - at) {
            return false;
        }
        size_t used = 0;
        for (int i = 0; kind == 1 && i < 3; ++i) {
            if (*fields[i] == UINT32_MAX) {
                if (size - used < 8) {
                    return false;
                }
                *fields[i] = jnaLoadLittle(extra + at + used, 8);
                used += 8;
            }
        }
        at += size;
    }
    return true;
}

static bool NextMember(Archive* a, Member* m, bool* damaged)
{
    *damaged = false;
    if (a->left == 0) {
        return false;
    }
    *damaged = true;
    const unsigned char* entry = a->bytes + a->at;
    if (a->end - a->at < ENTRY_SIZE || jnaLoadLittle(entry, 4) != ENTRY_SIGNATURE) {
        return false;
    }
    size_t nameLength = (size_t)jnaLoadLittle(entry + 28, 2), extra = (size_t)jnaLoadLittle(entry + 30, 2);
    size_t total = ENTRY_SIZE + nameLength + extra + (size_t)jnaLoadLittle(entry + 32, 2);
    if (total > a->end - a->at) {
        return false;
    }
    *m = (Member){.name = (const char*)entry + ENTRY_SIZE,
        .nameLength = nameLength,
        .method = (unsigned)jnaLoadLittle(entry + 10, 2),
        .checksum = (uint32_t)jnaLoadLittle(entry + 16, 4),
        .stored = jnaLoadLittle(entry + 20, 4),
        .size = jnaLoadLittle(entry + 24, 4),
        .offset = jnaLoadLittle(entry + 42, 4)};
    if (!TakeWide(entry + ENTRY_SIZE + nameLength, extra, m)) {
        return false;
    }
    if (nameLength > 4 && memcmp(m->name + nameLength - 4, ".npy", 4) == 0) {
        m->nameLength -= 4;
    }
    a->at += total;
    a->left--;
    *damaged = false;
    return true;
}

// Where the bytes of a member lie; NULL where they do not lie in the file.
static const unsigned char* FindBytes(const Archive* a, const Member* m)
{
    if (m->offset > a->size || a->size - m->offset < MEMBER_SIZE ||
        jnaLoadLittle(a->bytes + m->offset, 4) != MEMBER_SIGNATURE) {
        return NULL;
    }
    const unsigned char* head = a->bytes + m->offset;
    uint64_t start = m->offset + MEMBER_SIZE + jnaLoadLittle(head + 26, 2) + jnaLoadLittle(head + 28, 2);
    return start <= a->size && m->stored <= a->size - start ? a->bytes + start : NULL;
}

static bool Inflate(const unsigned char* stored, size_t storedSize, unsigned char* out, size_t size)
{
    z_stream stream = {0};
    if (storedSize > UINT32_MAX || inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return false;
    }
    stream.next_in = (unsigned char*)(uintptr_t)stored;
    stream.avail_in = (uInt)storedSize;
    int status = Z_OK;
    size_t made = 0;
    while (status == Z_OK) {
        // Counters are 32 bits wide: larger arrays come in pieces.
        size_t room = size - made < 1u << 30 ? size - made : 1u << 30;
        stream.next_out = out + made;
        stream.avail_out = (uInt)room;
        status = inflate(&stream, Z_NO_FLUSH);
        made += room - stream.avail_out;
        status = status == Z_OK && room - stream.avail_out == 0 ? Z_BUF_ERROR : status;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && made == size;
}

static uint32_t Checksum(const unsigned char* bytes, size_t size)
{
    uLong sum = crc32(0, NULL, 0);
    for (size_t at = 0; at < size;) {
        size_t piece = size - at < 1u << 30 ? size - at : 1u << 30;
        sum = crc32(sum, bytes + at, (uInt)piece);
        at += piece;
    }
    return (uint32_t)sum;
}

static jnResult ReadMember(const char* path, const Archive* a, const Member* m, jnaArray* array, jnError* error)
{
    const unsigned char* stored = FindBytes(a, m);
    bool known = m->method == 0 || m->method == 8;
    if (!known) {
        return jnFail(error, jn_badData, "%s: '%.*s' is compressed by method %u; numpy.savez_compressed uses deflate",
            path, (int)m->nameLength, m->name, m->method);
    }
    if (stored == NULL || (m->method == 0 && m->size != m->stored) || m->size / LARGEST_RATIO > m->stored) {
        return jnFail(error, jn_badData, "%s: is cut off or damaged at '%.*s'", path, (int)m->nameLength, m->name);
    }
    unsigned char* bytes = NULL;
    if (m->method == 8) {
        bytes = malloc((size_t)m->size + 1);
        if (bytes == NULL) {
            return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        }
    }
    const unsigned char* whole = bytes != NULL ? bytes : stored;
    jnResult result = jn_ok;
    if ((bytes != NULL && !Inflate(stored, (size_t)m->stored, bytes, (size_t)m->size)) ||
        Checksum(whole, (size_t)m->size) != m->checksum) {
        result = jnFail(error, jn_badData, "%s: '%.*s' is damaged", path, (int)m->nameLength, m->name);
    } else {
        result = jnaCopyArray(path, whole, (size_t)m->size, array, error);
    }
    free(bytes);
    return result;
}

// The member that is asked for, or the only one; else a sentence that lists what there is.
static jnResult FindMember(const char* path, Archive a, const char* name, Member* found, jnError* error)
{
    char names[256] = "";
    size_t used = 0;
    int matches = 0, count = 0;
    bool damaged = false;
    Member m;
    while (NextMember(&a, &m, &damaged)) {
        bool same = name[0] == '\0' || (m.nameLength == strlen(name) && memcmp(m.name, name, m.nameLength) == 0);
        *found = same && matches == 0 ? m : *found;
        matches += same;
        if (used < sizeof(names)) {
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.*s", count > 0 ? ", " : "",
                (int)(m.nameLength < 64 ? m.nameLength : 64), m.name);
        }
        count++;
    }
    if (damaged || count == 0) {
        return jnFail(error, jn_badData, "%s: is cut off or damaged, or holds no array", path);
    }
    if (matches == 0) {
        return jnFail(error, jn_badData, "%s: has no array '%s'; it has %s", path, name, names);
    }
    if (name[0] == '\0' && matches > 1) {
        return jnFail(error, jn_badData, "%s: holds several arrays, %s; name one, as in %s:NAME", path, names, path);
    }
    return jn_ok;
}

jnResult jnaOpenArrayIn(const char* path, const char* name, jnaArray* array, jnError* error)
{
    jnResult result = jn_ok;
    jnaMappedFile file = {0};
    Member member = {0};
    *array = (jnaArray){0};
    JN_TRY(jnaMapFile(path, &file, error));
    Archive archive = {.bytes = file.bytes, .size = file.size};
    if (!OpenDirectory(&archive)) {
        result = jnFail(error, jn_badData, "%s: is not a .npz file, or is cut off", path);
        goto done;
    }
    JN_TRY(FindMember(path, archive, name, &member, error));
    JN_TRY(ReadMember(path, &archive, &member, array, error));
done:
    jnaUnmapFile(&file);
    return result;
}
