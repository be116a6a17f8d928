// Motion capture and vertex caches read in a confined child process (base/sandbox.h), as models are. The child's
// readers are those of bvh.c and motion_cache.c; what they found comes back through a pipe and is checked once more,
// because a child that a hostile file has taken over may write anything.
//
// The stream: a code, then a sentence or a header with what it announces.
#include "base/bounds.h"
#include "base/path.h"
#include "base/try.h"
#include "character/import_internal.h"
#include "character/mesh_cache.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <sys/stat.h>

// More than a file of any of these kinds can hold, by its size: a number of text is two bytes and becomes 28 in a
// joint.
static const size_t OUTPUT_A_BYTE = 64, LEAST_OUTPUT = (size_t)1 << 20;

// Limits of the reader of caches, whatever the size; and bytes a second that any disk can do.
static const size_t CACHE_MEMORY = (size_t)256 << 20;
#define CACHE_SECONDS 60.0
#define CACHE_SPEED 1e7

typedef struct Header {
    int32_t code;            // a jnResult; a sentence follows unless it is jn_ok
    int32_t frames, columns; // joints, or vertices
    double rate;
} Header;

static size_t MostOutput(const char* path)
{
    struct stat status;
    size_t size = stat(path, &status) == 0 ? (size_t)status.st_size : 0;
    return size < SIZE_MAX / OUTPUT_A_BYTE - LEAST_OUTPUT ? LEAST_OUTPUT + OUTPUT_A_BYTE * size : SIZE_MAX;
}

static void WriteFailure(FILE* stream, jnResult result, const jnError* error)
{
    const Header header = {.code = (int32_t)result};
    fwrite(&header, sizeof(header), 1, stream);
    fwrite(error->message, 1, sizeof(error->message), stream);
}

// Takes the header off what the child wrote, or its sentence.
static jnResult TakeHeader(const char* path, const char* output, size_t size, Header* header, jnError* error)
{
    if (output == NULL || size < sizeof(*header)) {
        return jnFail(error, jn_badData, "%s: could not be read", path);
    }
    memcpy(header, output, sizeof(*header));
    if (header->code != jn_ok && size == sizeof(*header) + sizeof(error->message)) {
        jnResult result =
            header->code == jn_ioFailed || header->code == jn_outOfMemory ? (jnResult)header->code : jn_badData;
        return jnFail(error, result, "%.*s", (int)sizeof(error->message) - 1, output + sizeof(*header));
    }
    return header->code == jn_ok && header->frames > 0 && header->columns > 0 && header->frames < INT32_MAX / 16 &&
                   header->rate >= 0 && header->rate <= 1e6
               ? jn_ok
               : jnFail(error, jn_badData, "%s: could not be read", path);
}

static void WriteBvh(const char* path, FILE* stream, void* user)
{
    (void)user;
    jnaSource source;
    jnError error = {0};
    jnResult result = jnaReadBvh(path, &source, &error);
    if (result != jn_ok) {
        WriteFailure(stream, result, &error);
        return;
    }
    const jnaClip* clip = &source.clip;
    const Header header = {jn_ok, clip->frameCount, clip->jointCount, clip->rate};
    size_t entries = (size_t)clip->frameCount * (size_t)clip->jointCount;
    fwrite(&header, sizeof(header), 1, stream);
    fwrite(source.skeleton.joints, sizeof(jnaJoint), (size_t)clip->jointCount, stream);
    fwrite(clip->rotations, 4 * sizeof(float), entries, stream);
    fwrite(clip->translations, 3 * sizeof(float), entries, stream);
    jnaDestroySource(&source);
}

static bool IsGoodJoint(const jnaJoint* joint, int index)
{
    return memchr(joint->name, '\0', sizeof(joint->name)) != NULL && joint->parent >= -1 && joint->parent < index &&
           (index == 0 || joint->parent >= 0) && jnaFindUnbounded(joint->translation, 3, JNA_LARGEST) == 3 &&
           jnaFindUnbounded(joint->rotation, 4, 2) == 4 && jnaFindUnbounded(joint->scale, 3, JNA_LARGEST) == 3 &&
           jnaFindUnbounded(joint->inverseBind, 12, JNA_LARGEST) == 12;
}

// at: behind the header.
static jnResult TakeBvh(
    const char* path, const Header* header, const char* at, size_t size, jnaSource* source, jnError* error)
{
    size_t joints = (size_t)header->columns, entries = (size_t)header->frames * joints;
    jnaClip* clip = &source->clip;
    jnResult result = jn_ok;
    if (joints > UINT16_MAX || entries > (size_t)1 << 28 ||
        size != joints * sizeof(jnaJoint) + 7 * entries * sizeof(float)) {
        return jnFail(error, jn_badData, "%s: could not be read", path);
    }
    source->skeleton.jointCount = clip->jointCount = header->columns;
    clip->frameCount = header->frames;
    clip->rate = header->rate;
    JN_TRY(jnaCharacter_Allocate(&source->skeleton, false, error));
    JN_TRY(jnaClip_Allocate(clip, false, error));
    memcpy(source->skeleton.joints, at, joints * sizeof(jnaJoint));
    memcpy(clip->rotations, at + joints * sizeof(jnaJoint), 4 * entries * sizeof(float));
    memcpy(
        clip->translations, at + joints * sizeof(jnaJoint) + 4 * entries * sizeof(float), 3 * entries * sizeof(float));
    bool good = clip->rate > 0 && jnaFindUnbounded(clip->rotations, 4 * entries, 2) == 4 * entries &&
                jnaFindUnbounded(clip->translations, 3 * entries, JNA_LARGEST) == 3 * entries;
    for (int j = 0; good && j < header->columns; ++j) {
        good = IsGoodJoint(&source->skeleton.joints[j], j);
    }
    result = good ? jn_ok : jnFail(error, jn_badData, "%s: could not be read", path);
done:
    return result;
}

// Reads in a child. output: what it wrote, the header first; to be freed also where this fails.
static jnResult Confine(
    const char* path, const jnaReadingDef* read, char** output, size_t* size, Header* header, jnError* error)
{
    *output = NULL;
    JN_PASS(jnaReadInChild(read, output, size, error));
    return TakeHeader(path, *output, *size, header, error);
}

jnResult jnaReadBvhConfined(const char* path, const jnaSceneLimits* limits, jnaSource* source, jnError* error)
{
    *source = (jnaSource){.path = path};
    const jnaReadingDef read = {path, WriteBvh, NULL, *limits, MostOutput(path)};
    Header header;
    char* output;
    size_t size;
    jnResult result = jn_ok;
    JN_TRY(Confine(path, &read, &output, &size, &header, error));
    JN_TRY(TakeBvh(path, &header, output + sizeof(header), size - sizeof(header), source, error));
done:
    free(output);
    if (result != jn_ok) {
        jnaDestroySource(source);
    }
    return result;
}

// What the reader of caches needs to know.
typedef struct CacheRequest {
    const char* path; // with the member that is meant, FILE.npz:ARRAY
    const jnaCharacter* character;
    const jnaClip* clip; // may be NULL
    double metresPerUnit;
} CacheRequest;

// Behind the header: how the points were matched, a line; then the positions.
static void WriteMotion(const char* file, FILE* stream, void* user)
{
    (void)file;
    const CacheRequest* request = user;
    jnaMotion motion;
    jnaNotes notes = {0};
    jnError error = {0};
    char line[JNA_NOTE_LENGTH] = "";
    jnResult result = jnaReadMotion(
        request->path, request->character, request->clip, request->metresPerUnit, &motion, &notes, &error);
    if (result != jn_ok) {
        WriteFailure(stream, result, &error);
        return;
    }
    if (notes.count > 0) {
        memcpy(line, notes.lines[0], sizeof(line));
    }
    const Header header = {jn_ok, motion.frameCount, motion.vertexCount, motion.rate};
    fwrite(&header, sizeof(header), 1, stream);
    fwrite(line, 1, sizeof(line), stream);
    fwrite(motion.positions, 3 * sizeof(float), (size_t)motion.frameCount * (size_t)motion.vertexCount, stream);
    jnaDestroyNotes(&notes);
    jnaDestroyMotion(&motion);
}

jnResult jnaReadMotionConfined(const char* path, const jnaCharacter* character, const jnaClip* clip,
    double metresPerUnit, jnaMotion* motion, jnaNotes* notes, jnError* error)
{
    *motion = (jnaMotion){0};
    CacheRequest request = {path, character, clip, metresPerUnit};
    char file[JNA_PATH_LENGTH], member[JNA_PATH_LENGTH];
    jnaSplitMember(path, file, member, sizeof(file));
    // A cache is mapped and copied; it may be larger than any model.
    size_t bytes = MostOutput(file) / OUTPUT_A_BYTE;
    const jnaSceneLimits limits = {
        .memory = CACHE_MEMORY + 4 * bytes, .seconds = CACHE_SECONDS + (double)bytes / CACHE_SPEED};
    const jnaReadingDef read = {file, WriteMotion, &request, limits, MostOutput(file)};
    Header header;
    char* output;
    size_t size;
    jnResult result = jn_ok;
    JN_TRY(Confine(path, &read, &output, &size, &header, error));
    size_t count = 3 * (size_t)header.frames * (size_t)header.columns;
    const size_t head = sizeof(header) + JNA_NOTE_LENGTH;
    if (header.columns != character->vertexCount || size != head + count * sizeof(float)) {
        JN_TRY(jnFail(error, jn_badData, "%s: could not be read", path));
    }
    if (output[sizeof(header)] != '\0') {
        jnaNotes_Add(notes, "%.*s", JNA_NOTE_LENGTH - 1, output + sizeof(header));
    }
    // The block is kept: a cache may be gigabytes.
    memmove(output, output + head, count * sizeof(float));
    *motion = (jnaMotion){header.frames, header.columns, header.rate, (float*)output};
    output = NULL;
    size_t bad = jnaFindUnbounded(motion->positions, count, JNA_FARTHEST);
    if (bad < count) {
        result = jnFail(error, jn_badData, "%s: could not be read", path);
    }
done:
    free(output);
    if (result != jn_ok) {
        jnaDestroyMotion(motion);
    }
    return result;
}
