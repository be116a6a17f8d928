// Shapes in a workspace without a simulation, for tests of what reads them.
#pragma once

#include "helpers/support.h"

#include "base/path.h"
#include "workspace/shapes.h"

#include <unistd.h>

// Arrays that are NULL are left out, and removed where they are there from before.
static inline void WriteShapes(const char* workspace, const jnaShapes* s)
{
    const size_t count = (size_t)s->count;
    const struct {
        const char* name;
        jnaScalar scalar;
        int dimensions;
        size_t shape[3];
        const void* data;
    } files[] = {{"poses/poses.npy", jna_float32, 3, {count, (size_t)s->jointCount, 4}, s->rotations},
        {"poses/positions.npy", jna_float32, 3, {count, (size_t)s->vertexCount, 3}, s->positions},
        {"poses/valid.npy", jna_uint8, 1, {count}, s->valid}, {"poses/kind.npy", jna_uint8, 1, {count}, s->kinds},
        {"poses/clip.npy", jna_int32, 1, {count}, s->clips}};
    assert_int_equal(jnaMakeFolder(workspace, "poses", NULL, NULL), jn_ok);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        char path[JNA_PATH_LENGTH];
        assert_int_equal(jnaJoinPath(workspace, files[i].name, path, NULL), jn_ok);
        if (files[i].data == NULL) {
            (void)unlink(path);
        } else {
            jnResult result =
                jnaWriteArray(path, files[i].scalar, files[i].dimensions, files[i].shape, files[i].data, NULL);
            assert_int_equal(result, jn_ok);
        }
    }
}
