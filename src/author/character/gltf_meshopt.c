// Buffer views that EXT_meshopt_compression packed, unpacked by meshoptimizer. The extension has had three names. The
// last of them also has a second version of the vertex codec and a filter for colours, which meshoptimizer 0.18, that
// of Debian 12, does not read; such files are refused with a sentence of their own.
#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <meshoptimizer.h>
#include <stdlib.h>

// Bytes of one view, more than a character has.
#define MAX_VIEW ((size_t)1 << 30)
enum { VERTEX_CODEC_1 = 0xa1 };

typedef struct Packed {
    jnaGltfBytes from;
    size_t count, stride;
    const char* mode;
    const char* filter;
} Packed;

static const json_t* FindExtension(const json_t* view)
{
    static const char* const names[] = {"EXT_meshopt_compression", "KHR_meshopt_compression", "MESHOPT_compression"};
    const json_t* found = NULL;
    for (size_t i = 0; found == NULL && i < 3; ++i) {
        found = json_object_get(json_object_get(view, "extensions"), names[i]);
    }
    return found;
}

static bool Describe(const jnaGltf* g, const json_t* extension, Packed* packed)
{
    int64_t buffer = jnaGltf_Integer(extension, "buffer", -1), start = jnaGltf_Integer(extension, "byteOffset", 0);
    int64_t length = jnaGltf_Integer(extension, "byteLength", -1), count = jnaGltf_Integer(extension, "count", -1);
    int64_t stride = jnaGltf_Integer(extension, "byteStride", -1);
    if (buffer < 0 || (size_t)buffer >= g->bufferCount || start < 0 || length < 0 || count < 0 || stride < 1 ||
        stride > 256 || (size_t)count > MAX_VIEW / (size_t)stride || g->buffers[buffer].data == NULL ||
        (size_t)start > g->buffers[buffer].size || (size_t)length > g->buffers[buffer].size - (size_t)start) {
        return false;
    }
    const char* mode = json_string_value(json_object_get(extension, "mode"));
    const char* filter = json_string_value(json_object_get(extension, "filter"));
    *packed = (Packed){{g->buffers[buffer].data + start, (size_t)length, false}, (size_t)count, (size_t)stride,
        mode != NULL ? mode : "", filter != NULL ? filter : "NONE"};
    return true;
}

// Whether a view is packed in a way that came with KHR_meshopt_compression: the first byte of a stream is its codec and
// version.
static bool IsNewer(const Packed* p)
{
    bool vertices = strcmp(p->mode, "ATTRIBUTES") == 0;
    return (vertices && p->from.size > 0 && p->from.data[0] == VERTEX_CODEC_1) || strcmp(p->filter, "COLOR") == 0;
}

static bool Unpack(const Packed* p, unsigned char* to)
{
    bool triangles = strcmp(p->mode, "TRIANGLES") == 0, whole = p->stride == 2 || p->stride == 4;
    if (strcmp(p->mode, "ATTRIBUTES") == 0) {
        return p->stride % 4 == 0 &&
               meshopt_decodeVertexBuffer(to, p->count, p->stride, p->from.data, p->from.size) == 0;
    }
    if (triangles) {
        return whole && p->count % 3 == 0 &&
               meshopt_decodeIndexBuffer(to, p->count, p->stride, p->from.data, p->from.size) == 0;
    }
    return strcmp(p->mode, "INDICES") == 0 && whole &&
           meshopt_decodeIndexSequence(to, p->count, p->stride, p->from.data, p->from.size) == 0;
}

static bool ApplyFilter(const Packed* p, unsigned char* to)
{
    if (strcmp(p->filter, "OCTAHEDRAL") == 0 && (p->stride == 4 || p->stride == 8)) {
        meshopt_decodeFilterOct(to, p->count, p->stride);
    } else if (strcmp(p->filter, "QUATERNION") == 0 && p->stride == 8) {
        meshopt_decodeFilterQuat(to, p->count, p->stride);
    } else if (strcmp(p->filter, "EXPONENTIAL") == 0 && p->stride % 4 == 0) {
        meshopt_decodeFilterExp(to, p->count, p->stride);
    } else {
        return strcmp(p->filter, "NONE") == 0;
    }
    return true;
}

jnResult jnaGltf_DecompressViews(jnaGltf* g)
{
    json_t* views = json_object_get(g->root, "bufferViews");
    for (size_t i = 0; i < g->viewCount; ++i) {
        json_t* view = json_array_get(views, i);
        const json_t* extension = FindExtension(view);
        Packed packed;
        if (extension == NULL) {
            continue;
        }
        unsigned char* to = NULL;
        if (Describe(g, extension, &packed)) {
            // The library unpacks vectors in whole blocks of its own; what it is given is exactly what it fills.
            if (IsNewer(&packed)) {
                return jnFail(g->error, jn_badData,
                    "%s: buffer view %zu is packed by version 1 of meshopt's vertex codec (KHR_meshopt_compression); "
                    "version 0 is read: export it as EXT_meshopt_compression or uncompressed",
                    g->path, i);
            }
            to = calloc(packed.count * packed.stride + 1, 1);
        }
        if (to == NULL || !Unpack(&packed, to) || !ApplyFilter(&packed, to)) {
            free(to);
            return jnFail(g->error, jn_badData,
                "%s: buffer view %zu is packed by meshopt and cannot be unpacked; export the file uncompressed",
                g->path, i);
        }
        g->views[i] = (jnaGltfBytes){to, packed.count * packed.stride, true};
        json_object_set_new(view, "byteStride", json_integer((json_int_t)packed.stride));
    }
    return jn_ok;
}
