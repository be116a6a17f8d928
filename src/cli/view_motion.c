// The simulated motion of a workspace in `jounce view`: read for the page frame by frame, or packed for a page that is
// sent away.
#include "base/input.h"
#include "base/npy.h"
#include "base/try.h"
#include "cli.h"
#include "view/packed_motion.h"
#include "view_parts.h"
#include "workspace/store.h"

#include "runtime/for_author.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

// A file of motion where it is whole and of this character.
static void OpenArray(const char* path, int vertexCount, jncMotion* motion)
{
    jnaArray a;
    if (jnaOpenArray(path, &a, NULL) != jn_ok) {
        return;
    }
    bool fits = a.scalar == jna_float32 && a.dimensions == 3 && a.shape[1] == (size_t)vertexCount && a.shape[2] == 3;
    int file = fits && a.shape[0] > 0 ? jnaOpenDescriptor(path, NULL) : -1;
    if (file >= 0) {
        motion->file = file;
        motion->start = (off_t)(a.mappingSize - a.count * sizeof(float));
        motion->frames = a.shape[0];
        motion->vertices = a.shape[1];
    }
    jnaCloseArray(&a);
}

// WORKSPACE/motion/NAME/dynamic.npy, which jounce simulate leaves.
static void OpenSimulation(const char* workspace, const char* clip, int vertexCount, jncMotion* motion)
{
    char path[PATH_SIZE], json[PATH_SIZE];
    int length = snprintf(path, sizeof(path), "%s/motion/%s/dynamic.npy", workspace, clip);
    snprintf(json, sizeof(json), "%s/motion/%s/dynamic.json", workspace, clip);
    json_t* about = jnaReadJson(json, 0, NULL);
    json_int_t first = json_integer_value(json_object_get(about, "first"));
    json_decref(about);
    if (length < PATH_SIZE && first >= 0 && first <= INT_MAX) {
        OpenArray(path, vertexCount, motion);
        motion->first = (int)first;
    }
}

static void OpenMotion(const char* workspace, const jnaCharacter* character, const char* name, jncMotion* motion)
{
    jnaClip clip;
    char path[PATH_SIZE];
    // A clip of the asset may have left the workspace since: it has no motion then.
    if (jnaLoadClip(workspace, name, character, &clip, NULL) != jn_ok) {
        return;
    }
    if (snprintf(path, sizeof(path), "%s/clips/%s/motion.npy", workspace, name) < PATH_SIZE) {
        OpenArray(path, character->vertexCount, motion);
    }
    if (motion->frames == 0) {
        OpenSimulation(workspace, name, character->vertexCount, motion);
    }
    jnaDestroyClip(&clip);
}

jnResult jncOpenMotions(const char* workspace, const jnAsset* asset, jncMotions* motions, jnError* error)
{
    *motions = (jncMotions){.asset = asset, .clips = calloc((size_t)asset->clipCount + 1, sizeof(jncMotion))};
    if (motions->clips == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory");
    }
    if (workspace == NULL) {
        return jn_ok;
    }
    jnaCharacter character;
    JN_PASS(jnaLoadCharacter(workspace, &character, error));
    for (int i = 0; i < asset->clipCount && character.vertexCount == asset->vertexCount; ++i) {
        OpenMotion(workspace, &character, jnAsset_Clip(asset, i).name, &motions->clips[i]);
    }
    jnaDestroyCharacter(&character);
    return jn_ok;
}

void jncCloseMotions(jncMotions* motions)
{
    for (int i = 0; motions->clips != NULL && i < motions->asset->clipCount; ++i) {
        if (motions->clips[i].frames > 0) {
            close(motions->clips[i].file);
        }
    }
    free(motions->clips);
    *motions = (jncMotions){0};
}

// A number of at most seven digits, and what follows it.
static const char* ReadNumber(const char* text, size_t* number)
{
    size_t digits = strspn(text, "0123456789");
    *number = digits > 0 && digits < 8 ? strtoul(text, NULL, 10) : SIZE_MAX;
    return text + digits;
}

// Numbers of a motion from the file; false where it has become shorter.
static bool ReadNumbers(const jncMotion* motion, size_t first, size_t count, float* out)
{
    off_t at = motion->start + (off_t)(first * sizeof(float));
    size_t size = count * sizeof(float), done = 0;
    while (done < size) {
        ssize_t part = pread(motion->file, (char*)out + done, size - done, at + (off_t)done);
        if (part <= 0) {
            return false;
        }
        done += (size_t)part;
    }
    return true;
}

// x, y, z of one vertex of the workspace in every frame, as floats.
static float* CopyVertex(const jncMotion* motion, size_t vertex, size_t* size)
{
    float* out = vertex < motion->vertices ? malloc(motion->frames * 3 * sizeof(float)) : NULL;
    bool good = out != NULL;
    for (size_t n = 0; good && n < motion->frames; ++n) {
        good = ReadNumbers(motion, 3 * (n * motion->vertices + vertex), 3, out + 3 * n);
    }
    if (!good) {
        free(out);
        return NULL;
    }
    *size = motion->frames * 3 * sizeof(float);
    return out;
}

// The same of every vertex in one frame.
static float* CopyFrame(const jncMotion* motion, size_t frame, size_t* size)
{
    *size = motion->vertices * 3 * sizeof(float);
    float* out = frame < motion->frames ? malloc(*size) : NULL;
    if (out != NULL && !ReadNumbers(motion, 3 * frame * motion->vertices, 3 * motion->vertices, out)) {
        free(out);
        out = NULL;
    }
    return out;
}

// "/motion/CLIP/VERTEX" and "/frames/CLIP/FRAME", all numbers.
bool jncAnswerMotion(const char* path, void** bytes, size_t* size, void* user)
{
    const jncMotions* motions = user;
    static const char prefixes[2][9] = {"/motion/", "/frames/"};
    bool ofFrame = strncmp(path, prefixes[1], strlen(prefixes[1])) == 0;
    size_t clip, number;
    if (!ofFrame && strncmp(path, prefixes[0], strlen(prefixes[0])) != 0) {
        return false;
    }
    const char* rest = ReadNumber(path + strlen(prefixes[0]), &clip);
    if (*rest != '/' || *ReadNumber(rest + 1, &number) != '\0' || clip >= (size_t)motions->asset->clipCount) {
        return false;
    }
    const jncMotion* motion = &motions->clips[clip];
    *bytes = ofFrame ? CopyFrame(motion, number, size) : CopyVertex(motion, number, size);
    return *bytes != NULL;
}

static jnResult PackClip(const jncMotions* motions, int clip, size_t budget, jnaPackedMotion* packed, jnError* error)
{
    const jncMotion* motion = &motions->clips[clip];
    size_t count = motion->frames * motion->vertices * 3;
    float* rows = malloc(count * sizeof(float));
    jnResult result = jn_ok;
    if (rows == NULL || motion->frames > INT_MAX) {
        free(rows);
        return jnFail(error, jn_outOfMemory, "out of memory for %zu frames", motion->frames);
    }
    JN_TRY(ReadNumbers(motion, 0, count, rows)
               ? jn_ok
               : jnFail(error, jn_ioFailed, "the simulated motion of '%s' became shorter",
                     jnAsset_Clip(motions->asset, clip).name));
    JN_TRY(jnaPackMotion(&(jnaPackDef){.asset = motions->asset,
                             .clip = clip,
                             .first = motion->first,
                             .frames = (int)motion->frames,
                             .rows = rows,
                             .budget = budget},
        packed, error));
done:
    free(rows);
    return result;
}

bool jncCanPack(const jncMotion* motion)
{
    return motion->frames >= 2;
}

void jncMotionPath(int clip, char path[JNC_MOTION_PATH])
{
    snprintf(path, JNC_MOTION_PATH, "/motion/%d.bin", clip);
}

jnResult jncWriteMotions(
    const char* folder, const jncMotions* motions, double megabytes, jncWritten* written, jnError* error)
{
    int count = 0;
    *written = (jncWritten){0};
    for (int i = 0; i < motions->asset->clipCount; ++i) {
        count += jncCanPack(&motions->clips[i]);
    }
    size_t budget = count > 0 ? (size_t)(1e6 * megabytes / count) : 0;
    for (int i = 0; i < motions->asset->clipCount; ++i) {
        if (!jncCanPack(&motions->clips[i])) {
            continue;
        }
        jnaPackedMotion packed;
        JN_PASS(PackClip(motions, i, budget, &packed, error));
        jnaDocument document = {.bytes = packed.bytes, .size = packed.size};
        jncMotionPath(i, document.path);
        jnResult result = jncWriteDocuments(folder, &document, 1, error);
        free(packed.bytes);
        JN_PASS(result);
        written->clips += 1;
        written->bytes += packed.size;
        written->rms = packed.rms > written->rms ? packed.rms : written->rms;
        written->worst = packed.worst > written->worst ? packed.worst : written->worst;
    }
    return jn_ok;
}
