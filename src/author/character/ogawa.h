// The Ogawa container and the property tree that Alembic keeps in it, read from bytes that may hold anything.
//
// A file is a tree of groups and data. A group is a count and that many 64-bit words; a word is the position of a
// child, with the top bit set where the child is data, which are a length and bytes. Position 0 is an empty child. On
// top of that, an object is a group of its properties, its children and one block of headers; a compound property is a
// group of properties and one block of headers; samples of a property are data that begin with a key of 16 bytes.
// Little-endian. Nothing here allocates, and every position and count is checked against the size of the file.
#pragma once

#include "jounce/base.h"

enum { JNA_MAX_ABC_SAMPLINGS = 1024, JNA_MAX_ABC_METADATA = 256, JNA_ABC_KEY = 16 };

typedef struct jnaAbcText {
    const char* text; // not terminated
    size_t length;
} jnaAbcText;

typedef struct jnaAbcBytes {
    const unsigned char* bytes;
    size_t size;
} jnaAbcBytes;

typedef struct jnaAbcGroup {
    const unsigned char* words; // [count], unaligned
    uint64_t count;
} jnaAbcGroup;

/// Times of samples. Sample i of a cycle of n: times[i % n] + (i / n) * period.
typedef struct jnaAbcSampling {
    double period;
    uint32_t count;
    const unsigned char* times; // [count] doubles, unaligned
    bool acyclic;               // times are those of all samples
} jnaAbcSampling;

typedef enum jnaAbcPod {
    jna_abcBool = 0,
    jna_abcUint8 = 1,
    jna_abcUint32 = 5,
    jna_abcInt32 = 6,
    jna_abcFloat32 = 10,
    jna_abcFloat64 = 11,
} jnaAbcPod;

typedef struct jnaAbcProperty {
    bool compound, scalar; // else an array
    int pod;               // jnaAbcPod, or one that is not listed
    int extent;            // numbers an element
    uint32_t sampleCount;  // as the file says; may be any number
    uint32_t firstChanged, lastChanged;
    uint32_t sampling;
    jnaAbcText name, metadata;
    uint64_t word; // of its group
} jnaAbcProperty;

typedef struct jnaAbcObject {
    jnaAbcText name, metadata;
    uint64_t word; // of its group
} jnaAbcObject;

/// An opened archive: points into the caller's bytes.
typedef struct jnaAbcArchive {
    const unsigned char* bytes;
    size_t size;
    uint64_t top; // word of the top object
    int samplingCount;
    jnaAbcSampling samplings[JNA_MAX_ABC_SAMPLINGS];
    int metadataCount;
    jnaAbcText metadata[JNA_MAX_ABC_METADATA];
} jnaAbcArchive;

/// Fails with a sentence for a file of another kind or version, or one that is damaged. path: for the sentence.
jnResult jnaOpenAbc(const char* path, const unsigned char* bytes, size_t size, jnaAbcArchive* archive, jnError* error);

/// A block of headers that is walked through. Zeroed `at` begins; `index` is that of the entry last given.
typedef struct jnaAbcCursor {
    jnaAbcGroup group;
    jnaAbcBytes headers;
    size_t at;
    uint64_t index;
    bool damaged;
} jnaAbcCursor;

/// Children of an object. False from Next: no more, or `damaged`.
bool jnaAbc_BeginChildren(const jnaAbcArchive* archive, uint64_t object, jnaAbcCursor* cursor);
bool jnaAbc_NextChild(const jnaAbcArchive* archive, jnaAbcCursor* cursor, jnaAbcObject* child);

/// The word of an object's properties, a compound.
uint64_t jnaAbc_Properties(const jnaAbcArchive* archive, uint64_t object);

/// Properties of a compound.
bool jnaAbc_BeginProperties(const jnaAbcArchive* archive, uint64_t compound, jnaAbcCursor* cursor);
bool jnaAbc_NextProperty(const jnaAbcArchive* archive, jnaAbcCursor* cursor, jnaAbcProperty* property);

/// A property by its name; false where there is none.
bool jnaAbc_Find(const jnaAbcArchive* archive, uint64_t compound, const char* name, jnaAbcProperty* property);

/// The bytes of a sample without its key; false where the file is damaged. index: below sampleCount.
bool jnaAbc_Sample(const jnaAbcArchive* archive, const jnaAbcProperty* property, uint32_t index, jnaAbcBytes* sample);

/// Seconds of a sample, and the last sample at or before a time (0 where all are later). count: at least 1.
double jnaAbcSampling_Time(const jnaAbcSampling* sampling, uint32_t index);
uint32_t jnaAbcSampling_Floor(const jnaAbcSampling* sampling, uint32_t count, double seconds);

/// Whether metadata, "key=value;key=value", gives a key that value.
bool jnaAbcText_Says(jnaAbcText metadata, const char* key, const char* value);
