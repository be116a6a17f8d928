// Reading of shapes; see shapes.h for the files.
#include "workspace/shapes.h"

#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum { POSES, POSITIONS, VALID, KIND, CLIP, HELD_OUT, FILE_COUNT };
static const char* const names[FILE_COUNT] = {"poses/poses.npy", "poses/positions.npy", "poses/valid.npy",
    "poses/kind.npy", "poses/clip.npy", "poses/held_out.npy"};
static const jnaScalar scalars[FILE_COUNT] = {jna_float32, jna_float32, jna_uint8, jna_uint8, jna_int32, jna_uint8};
#define UNIT_TOLERANCE 1e-2

static jnResult OpenOne(
    const char* workspace, int which, int dimensions, const size_t* shape, jnaArray* array, jnError* error)
{
    char path[JNA_PATH_LENGTH], text[96];
    JN_PASS(jnaJoinPath(workspace, names[which], path, error));
    if (which >= VALID && !jnaFileIsThere(path)) {
        return jn_ok;
    }
    JN_PASS(jnaOpenArray(path, array, error));
    bool fits = array->scalar == scalars[which] && array->dimensions == dimensions;
    for (int i = 0; fits && i < dimensions; ++i) {
        fits = array->shape[i] == shape[i] || (i == 0 && shape[0] == 0);
    }
    if (!fits) {
        jnaArray_Describe(array, text, sizeof(text));
        jnaCloseArray(array);
        return jnFail(error, jn_badData, "%s: is %s, which does not fit the character or the poses", path, text);
    }
    return jn_ok;
}

// A pose that failed may hold anything.
static jnResult CheckNumbers(const jnaShapes* s, jnError* error)
{
    size_t joints = (size_t)s->jointCount, floats = 3 * (size_t)s->vertexCount;
    for (int i = 0; i < s->count; ++i) {
        bool good = s->valid == NULL || s->valid[i] != 0;
        for (size_t j = 0; good && j < joints; ++j) {
            const float* q = s->rotations + 4 * ((size_t)i * joints + j);
            double square = (double)q[0] * (double)q[0] + (double)q[1] * (double)q[1] + (double)q[2] * (double)q[2] +
                            (double)q[3] * (double)q[3];
            if (!(fabs(square - 1.0) <= UNIT_TOLERANCE)) {
                return jnFail(error, jn_badData, "%s: pose %d, joint %zu: no unit quaternion", names[POSES], i, j);
            }
        }
        for (size_t k = 0; good && k < floats; ++k) {
            float x = s->positions[(size_t)i * floats + k];
            if (!(fabsf(x) <= 1e6f)) {
                return jnFail(error, jn_badData, "%s: pose %d, vertex %zu: %g is no coordinate", names[POSITIONS], i,
                    k / 3, (double)x);
            }
        }
    }
    return jn_ok;
}

jnResult jnaOpenShapes(
    const char* workspace, const jnaCharacter* character, bool* present, jnaShapes* shapes, jnError* error)
{
    *shapes = (jnaShapes){.jointCount = character->jointCount, .vertexCount = character->vertexCount};
    char path[JNA_PATH_LENGTH];
    jnResult result = jn_ok;
    *present = false;
    JN_PASS(jnaJoinPath(workspace, names[POSES], path, error));
    if (!jnaFileIsThere(path)) {
        return jn_ok;
    }
    *present = true;
    size_t shape[3] = {0, (size_t)character->jointCount, 4};
    JN_TRY(OpenOne(workspace, POSES, 3, shape, &shapes->arrays[POSES], error));
    size_t count = shapes->arrays[POSES].shape[0];
    if (count < 1 || count > 1 << 24) {
        JN_TRY(jnFail(error, jn_badData, "%s: holds %zu poses", path, count));
    }
    size_t positions[3] = {count, (size_t)character->vertexCount, 3};
    JN_TRY(OpenOne(workspace, POSITIONS, 3, positions, &shapes->arrays[POSITIONS], error));
    for (int i = VALID; i < FILE_COUNT; ++i) {
        JN_TRY(OpenOne(workspace, i, 1, &count, &shapes->arrays[i], error));
    }
    shapes->count = (int)count;
    shapes->rotations = shapes->arrays[POSES].data;
    shapes->positions = shapes->arrays[POSITIONS].data;
    shapes->valid = shapes->arrays[VALID].data;
    shapes->kinds = shapes->arrays[KIND].data;
    shapes->clips = shapes->arrays[CLIP].data;
    shapes->heldOut = shapes->arrays[HELD_OUT].data;
    JN_TRY(CheckNumbers(shapes, error));
done:
    if (result != jn_ok) {
        jnaCloseShapes(shapes);
    }
    return result;
}

void jnaCloseShapes(jnaShapes* shapes)
{
    for (int i = 0; i < FILE_COUNT; ++i) {
        if (shapes->arrays[i].data != NULL) {
            jnaCloseArray(&shapes->arrays[i]);
        }
    }
    *shapes = (jnaShapes){0};
}
