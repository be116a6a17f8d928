// Primitives that KHR_draco_mesh_compression packed: their accessors get buffer views with what was in them.
#include "character/gltf_draco.h"

#include "base/try.h"
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Gives an accessor what was unpacked for it, which is the document's from now on.
static bool Attach(jnaGltf* g, json_t* accessor, void* data, size_t size)
{
    int view = jnaGltf_AddView(g, data, size);
    return view >= 0 && json_object_set_new(accessor, "bufferView", json_integer(view)) == 0 &&
           json_object_set_new(accessor, "byteOffset", json_integer(0)) == 0;
}

static const char* AttachAttribute(jnaGltf* g, const jnaDracoMesh* mesh, int64_t index, int64_t id)
{
    json_t* accessor = jnaGltf_Entry(g, "accessors", index);
    int64_t component = jnaGltf_Integer(accessor, "componentType", 0);
    size_t width = jnaGltf_TypeWidth(json_string_value(json_object_get(accessor, "type")));
    size_t size = jnaGltf_ComponentSize(component), count = jnaDraco_VertexCount(mesh);
    if (width == 0 || size == 0 || jnaGltf_Integer(accessor, "count", -1) != (int64_t)count) {
        return "its accessors have other counts than it has vertices";
    }
    void* data = malloc(count * width * size + 1);
    if (data == NULL || !jnaDraco_ReadAttribute(mesh, id, (int)component, width, data)) {
        free(data);
        return "an attribute is not in it, or of another type";
    }
    return Attach(g, accessor, data, count * width * size) ? NULL : "out of memory";
}

// Indices of the faces, in an accessor that is 32 bits wide from now on.
static const char* AttachFaces(jnaGltf* g, const jnaDracoMesh* mesh, int64_t index)
{
    json_t* accessor = jnaGltf_Entry(g, "accessors", index);
    size_t count = 3 * jnaDraco_FaceCount(mesh);
    uint32_t* indices = accessor != NULL ? malloc((count + 1) * sizeof(*indices)) : NULL;
    if (indices == NULL) {
        return "its indices have no accessor";
    }
    jnaDraco_ReadFaces(mesh, indices);
    json_object_set_new(accessor, "componentType", json_integer(5125));
    json_object_set_new(accessor, "type", json_string("SCALAR"));
    json_object_set_new(accessor, "count", json_integer((json_int_t)count));
    return Attach(g, accessor, indices, count * sizeof(*indices)) ? NULL : "out of memory";
}

static const char* Unpack(jnaGltf* g, json_t* primitive, const json_t* extension, const jnaGltfBytes* bytes)
{
    jnaDracoMesh* mesh = jnaOpenDraco(bytes->data, bytes->size);
    if (mesh == NULL) {
        return "it is damaged, or no mesh of triangles";
    }
    const char* reason = AttachFaces(g, mesh, jnaGltf_Integer(primitive, "indices", -1));
    const char* name;
    json_t* id;
    json_object_foreach(json_object_get(extension, "attributes"), name, id)
    {
        int64_t accessor = jnaGltf_Integer(json_object_get(primitive, "attributes"), name, -1);
        if (reason == NULL && json_is_integer(id)) {
            reason = AttachAttribute(g, mesh, accessor, json_integer_value(id));
        }
    }
    json_object_set_new(primitive, "mode", json_integer(4));
    jnaCloseDraco(mesh);
    return reason;
}

jnResult jnaGltf_DecompressMeshes(jnaGltf* g)
{
    size_t m, p;
    json_t *mesh, *primitive;
    json_array_foreach(json_object_get(g->root, "meshes"), m, mesh)
    {
        json_array_foreach(json_object_get(mesh, "primitives"), p, primitive)
        {
            const json_t* extension =
                json_object_get(json_object_get(primitive, "extensions"), "KHR_draco_mesh_compression");
            jnaGltfBytes bytes;
            if (extension == NULL) {
                continue;
            }
            bool found =
                jnaGltf_FindView(g, jnaGltf_Integer(extension, "bufferView", -1), &bytes) && bytes.data != NULL;
            if (!jnaHasDraco()) {
                return jnFail(g->error, jn_badData,
                    "%s: mesh %zu is packed by Draco, which this build of jounce leaves out; save it unpacked", g->path,
                    m);
            }
            const char* reason = found ? Unpack(g, primitive, extension, &bytes) : "its buffer is not there";
            if (reason != NULL) {
                return jnFail(g->error, jn_badData, "%s: mesh %zu is packed by Draco and cannot be unpacked: %s",
                    g->path, m, reason);
            }
        }
    }
    return jn_ok;
}
