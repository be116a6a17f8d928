// See ogawa.h. The layout is that of version 1 of the container and version 0 of Alembic's use of it, which every
// program since 2013 writes.
#include "character/ogawa.h"

#include "runtime/for_author.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DATA_BIT 0x8000000000000000u
// A period that stands for "times are listed"; the format writes the largest double divided by 32.
#define ACYCLIC (DBL_MAX / 32.0)
// Bits of a property's first word.
enum {
    KIND_MASK = 0x3,
    SIZE_SHIFT = 2,
    POD_SHIFT = 4,
    HAS_SAMPLING = 0x100,
    HAS_CHANGES = 0x200,
    IS_CONSTANT = 0x800,
    EXTENT_SHIFT = 12,
    METADATA_SHIFT = 20,
    METADATA_INLINE = 0xff,
};

static uint64_t Load(const unsigned char* bytes, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; --i) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static double LoadDouble(const unsigned char* bytes)
{
    double value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static bool OpenGroup(const jnaAbcArchive* a, uint64_t word, jnaAbcGroup* group)
{
    *group = (jnaAbcGroup){0};
    if (word == 0) {
        return true;
    }
    if ((word & DATA_BIT) != 0 || word > a->size || a->size - word < 8) {
        return false;
    }
    uint64_t count = Load(a->bytes + word, 8);
    if (count > (a->size - word - 8) / 8) {
        return false;
    }
    *group = (jnaAbcGroup){a->bytes + word + 8, count};
    return true;
}

static uint64_t Child(const jnaAbcGroup* group, uint64_t index)
{
    return Load(group->words + 8 * index, 8);
}

static bool OpenData(const jnaAbcArchive* a, uint64_t word, jnaAbcBytes* data)
{
    *data = (jnaAbcBytes){0};
    if ((word & DATA_BIT) == 0) {
        return false;
    }
    uint64_t at = word & ~DATA_BIT;
    if (at == 0) {
        return true;
    }
    if (at > a->size || a->size - at < 8) {
        return false;
    }
    uint64_t size = Load(a->bytes + at, 8);
    if (size > a->size - at - 8) {
        return false;
    }
    *data = (jnaAbcBytes){a->bytes + at + 8, (size_t)size};
    return true;
}

static bool ReadSamplings(jnaAbcArchive* a, jnaAbcBytes data)
{
    size_t at = 0;
    while (at < data.size) {
        if (data.size - at < 16 || a->samplingCount == JNA_MAX_ABC_SAMPLINGS) {
            return false;
        }
        jnaAbcSampling* sampling = &a->samplings[a->samplingCount++];
        sampling->period = LoadDouble(data.bytes + at + 4);
        sampling->count = (uint32_t)Load(data.bytes + at + 12, 4);
        sampling->times = data.bytes + at + 16;
        sampling->acyclic = !(sampling->period < ACYCLIC);
        at += 16;
        if (sampling->count == 0 || sampling->count > (data.size - at) / 8) {
            return false;
        }
        at += 8 * (size_t)sampling->count;
    }
    return true;
}

static bool ReadMetadata(jnaAbcArchive* a, jnaAbcBytes data)
{
    a->metadata[0] = (jnaAbcText){"", 0};
    a->metadataCount = 1;
    for (size_t at = 0; at < data.size;) {
        size_t length = data.bytes[at++];
        if (length > data.size - at || a->metadataCount == JNA_MAX_ABC_METADATA) {
            return false;
        }
        a->metadata[a->metadataCount++] = (jnaAbcText){(const char*)data.bytes + at, length};
        at += length;
    }
    return true;
}

static bool ReadRoot(jnaAbcArchive* a)
{
    jnaAbcGroup root;
    jnaAbcBytes version, samplings, metadata;
    if (!OpenGroup(a, Load(a->bytes + 8, 8), &root) || root.count < 6) {
        return false;
    }
    a->top = Child(&root, 2);
    return OpenData(a, Child(&root, 0), &version) && version.size == 4 && Load(version.bytes, 4) == 0 &&
           OpenData(a, Child(&root, 4), &samplings) && ReadSamplings(a, samplings) &&
           OpenData(a, Child(&root, 5), &metadata) && ReadMetadata(a, metadata);
}

jnResult jnaOpenAbc(const char* path, const unsigned char* bytes, size_t size, jnaAbcArchive* archive, jnError* error)
{
    *archive = (jnaAbcArchive){.bytes = bytes, .size = size};
    if (size >= 8 && memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0) {
        return jnFail(error, jn_badData,
            "%s: is Alembic in the HDF5 container of before 2013; export it anew, or convert it to Ogawa", path);
    }
    if (size < 16 || memcmp(bytes, "Ogawa", 5) != 0) {
        return jnFail(error, jn_badData, "%s: is not an Alembic file", path);
    }
    if (bytes[5] != 0xff) {
        return jnFail(error, jn_badData, "%s: was not finished by the program that wrote it", path);
    }
    if (bytes[6] != 0 || bytes[7] != 1) {
        return jnFail(error, jn_badData, "%s: version %d.%d of the container is not known", path, bytes[6], bytes[7]);
    }
    return ReadRoot(archive) ? jn_ok : jnFail(error, jn_badData, "%s: is cut off or damaged", path);
}

// The last child of an object or a compound is the block of headers.
static bool BeginHeaders(const jnaAbcArchive* a, uint64_t word, size_t tail, jnaAbcCursor* cursor)
{
    *cursor = (jnaAbcCursor){.index = UINT64_MAX};
    if (!OpenGroup(a, word, &cursor->group)) {
        cursor->damaged = true;
        return false;
    }
    if (cursor->group.count == 0) {
        return true;
    }
    uint64_t last = Child(&cursor->group, cursor->group.count - 1);
    if ((last & DATA_BIT) == 0) {
        return true;
    }
    cursor->damaged = !OpenData(a, last, &cursor->headers) || (cursor->headers.size > 0 && cursor->headers.size < tail);
    cursor->headers.size -= cursor->headers.size > 0 && !cursor->damaged ? tail : 0;
    return !cursor->damaged;
}

static bool Damaged(jnaAbcCursor* cursor)
{
    cursor->damaged = true;
    return false;
}

static bool TakeNumber(jnaAbcCursor* cursor, int size, uint32_t* number)
{
    if (size == 0 || cursor->headers.size - cursor->at < (size_t)size) {
        return Damaged(cursor);
    }
    *number = (uint32_t)Load(cursor->headers.bytes + cursor->at, size);
    cursor->at += (size_t)size;
    return true;
}

static bool TakeText(jnaAbcCursor* cursor, int size, jnaAbcText* text)
{
    uint32_t length;
    if (!TakeNumber(cursor, size, &length) || length > cursor->headers.size - cursor->at) {
        return Damaged(cursor);
    }
    *text = (jnaAbcText){(const char*)cursor->headers.bytes + cursor->at, length};
    cursor->at += length;
    return true;
}

static bool TakeMetadata(const jnaAbcArchive* a, jnaAbcCursor* cursor, uint32_t index, int size, jnaAbcText* metadata)
{
    if (index == METADATA_INLINE) {
        return TakeText(cursor, size, metadata);
    }
    if (index >= (uint32_t)a->metadataCount) {
        return Damaged(cursor);
    }
    *metadata = a->metadata[index];
    return true;
}

bool jnaAbc_BeginChildren(const jnaAbcArchive* archive, uint64_t object, jnaAbcCursor* cursor)
{
    // Behind the headers of the children stand two hashes of 16 bytes.
    return BeginHeaders(archive, object, 32, cursor);
}

bool jnaAbc_NextChild(const jnaAbcArchive* archive, jnaAbcCursor* cursor, jnaAbcObject* child)
{
    uint32_t metadata;
    if (cursor->damaged || cursor->at >= cursor->headers.size) {
        return false;
    }
    if (!TakeText(cursor, 4, &child->name) || !TakeNumber(cursor, 1, &metadata) ||
        !TakeMetadata(archive, cursor, metadata, 4, &child->metadata)) {
        return false;
    }
    cursor->index++;
    // Child 0 is the properties.
    if (cursor->index + 1 >= cursor->group.count) {
        return Damaged(cursor);
    }
    child->word = Child(&cursor->group, cursor->index + 1);
    return true;
}

uint64_t jnaAbc_Properties(const jnaAbcArchive* archive, uint64_t object)
{
    jnaAbcGroup group;
    if (!OpenGroup(archive, object, &group) || group.count == 0) {
        return 0;
    }
    uint64_t word = Child(&group, 0);
    return (word & DATA_BIT) == 0 ? word : 0;
}

bool jnaAbc_BeginProperties(const jnaAbcArchive* archive, uint64_t compound, jnaAbcCursor* cursor)
{
    return BeginHeaders(archive, compound, 0, cursor);
}

static bool TakeSampling(jnaAbcCursor* cursor, uint32_t info, int size, jnaAbcProperty* p)
{
    if (!TakeNumber(cursor, size, &p->sampleCount)) {
        return false;
    }
    if ((info & HAS_CHANGES) != 0) {
        if (!TakeNumber(cursor, size, &p->firstChanged) || !TakeNumber(cursor, size, &p->lastChanged) ||
            p->firstChanged > p->lastChanged) {
            return Damaged(cursor);
        }
    } else if ((info & IS_CONSTANT) == 0 && p->sampleCount > 1) {
        p->firstChanged = 1;
        p->lastChanged = p->sampleCount - 1;
    }
    return (info & HAS_SAMPLING) == 0 || TakeNumber(cursor, size, &p->sampling);
}

bool jnaAbc_NextProperty(const jnaAbcArchive* archive, jnaAbcCursor* cursor, jnaAbcProperty* p)
{
    static const int sizes[4] = {1, 2, 4, 0};
    uint32_t info;
    if (cursor->damaged || cursor->at >= cursor->headers.size || !TakeNumber(cursor, 4, &info)) {
        return false;
    }
    *p = (jnaAbcProperty){.compound = (info & KIND_MASK) == 0, .scalar = (info & KIND_MASK) == 1};
    p->pod = info >> POD_SHIFT & 0xf;
    p->extent = info >> EXTENT_SHIFT & 0xff;
    int size = sizes[info >> SIZE_SHIFT & 3];
    if ((!p->compound && !TakeSampling(cursor, info, size, p)) || !TakeText(cursor, size, &p->name) ||
        !TakeMetadata(archive, cursor, info >> METADATA_SHIFT & 0xff, size, &p->metadata)) {
        return false;
    }
    cursor->index++;
    if (cursor->index + 1 >= cursor->group.count || p->sampling >= (uint32_t)archive->samplingCount) {
        return Damaged(cursor);
    }
    p->word = Child(&cursor->group, cursor->index);
    return true;
}

static bool TextIs(jnaAbcText text, const char* other)
{
    return text.length == strlen(other) && memcmp(text.text, other, text.length) == 0;
}

bool jnaAbc_Find(const jnaAbcArchive* archive, uint64_t compound, const char* name, jnaAbcProperty* property)
{
    jnaAbcCursor cursor;
    jnaAbc_BeginProperties(archive, compound, &cursor);
    while (jnaAbc_NextProperty(archive, &cursor, property)) {
        if (TextIs(property->name, name)) {
            return true;
        }
    }
    return false;
}

// Samples that are like the one before the first change, or like the last that changed, are stored once.
static uint64_t StoredIndex(const jnaAbcProperty* p, uint32_t index)
{
    if (index < p->firstChanged || p->lastChanged == 0) {
        return 0;
    }
    uint32_t last = index < p->lastChanged ? index : p->lastChanged;
    return (uint64_t)last - p->firstChanged + 1;
}

bool jnaAbc_Sample(const jnaAbcArchive* archive, const jnaAbcProperty* p, uint32_t index, jnaAbcBytes* sample)
{
    jnaAbcGroup group;
    // Behind each sample of an array stand its dimensions; points, indices and normals have one.
    uint64_t child = StoredIndex(p, index) * (p->scalar ? 1 : 2);
    if (p->compound || index >= p->sampleCount || !OpenGroup(archive, p->word, &group) || child >= group.count ||
        !OpenData(archive, Child(&group, child), sample)) {
        return false;
    }
    if (sample->size == 0) {
        return true;
    }
    if (sample->size < JNA_ABC_KEY) {
        return false;
    }
    sample->bytes += JNA_ABC_KEY;
    sample->size -= JNA_ABC_KEY;
    return true;
}

double jnaAbcSampling_Time(const jnaAbcSampling* s, uint32_t index)
{
    if (s->acyclic) {
        return LoadDouble(s->times + 8 * (size_t)(index < s->count ? index : s->count - 1));
    }
    return LoadDouble(s->times + 8 * (size_t)(index % s->count)) + (double)(index / s->count) * s->period;
}

uint32_t jnaAbcSampling_Floor(const jnaAbcSampling* s, uint32_t count, double seconds)
{
    uint32_t low = 0, high = count;
    // A hair later, so that a time which went through a division is still the same frame.
    double limit = seconds + 1e-6;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (jnaAbcSampling_Time(s, middle) <= limit) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool jnaAbcText_Says(jnaAbcText metadata, const char* key, const char* value)
{
    size_t keyLength = strlen(key), length = keyLength + 1 + strlen(value);
    for (size_t at = 0; at < metadata.length;) {
        const char* entry = metadata.text + at;
        const char* end = memchr(entry, ';', metadata.length - at);
        size_t size = end != NULL ? (size_t)(end - entry) : metadata.length - at;
        if (size == length && memcmp(entry, key, keyLength) == 0 && entry[keyLength] == '=' &&
            memcmp(entry + keyLength + 1, value, size - keyLength - 1) == 0) {
            return true;
        }
        at += size + 1;
    }
    return false;
}
