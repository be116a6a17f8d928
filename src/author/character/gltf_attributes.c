// Vertex attributes that a glTF file has of its own, `_JIGGLE` for instance: Assimp passes over them. Colours it reads.
#include "character/gltf.h"
#include "runtime/for_author.h"

#include <stdlib.h>

enum { MAX_ATTRIBUTES = 1024 };

static bool IsNormalized(const jnaGltf* g, size_t accessor)
{
    return json_is_true(json_object_get(json_array_get(json_object_get(g->root, "accessors"), accessor), "normalized"));
}

static bool Append(jnaGltfOrder* order, const jnaGltfAttribute* attribute)
{
    size_t size = ((size_t)order->attributeCount + 1) * sizeof(*attribute);
    jnaGltfAttribute* attributes = realloc(order->attributes, size);
    if (attributes == NULL) {
        return false;
    }
    order->attributes = attributes;
    attributes[order->attributeCount++] = *attribute;
    return true;
}

jnResult jnaGltf_ListAttributes(const jnaGltf* g, const json_t* attributes, int primitive, jnaGltfOrder* order)
{
    const char* name;
    json_t* value;
    // json_object_foreach takes an object that may be changed, which this one is not.
    json_object_foreach((json_t*)(uintptr_t)attributes, name, value)
    {
        jnaGltfElements e;
        jnaGltfAttribute attribute = {.primitive = primitive};
        size_t accessor = (size_t)json_integer_value(value);
        bool own = name[0] == '_' && strlen(name) < sizeof(attribute.name) && json_is_integer(value) &&
                   order->attributeCount < MAX_ATTRIBUTES && jnaGltf_FindElements(g, accessor, &e) == jn_ok;
        if (!own || e.data == NULL || e.width > 4 || e.count != (size_t)order->vertexCounts[primitive]) {
            continue;
        }
        bool normalized = IsNormalized(g, accessor);
        size_t size = jnaGltf_ComponentSize(e.component);
        strcpy(attribute.name, name);
        attribute.width = (int)e.width;
        attribute.values = malloc((e.count * e.width + 1) * sizeof(float));
        for (size_t i = 0; attribute.values != NULL && i < e.count * e.width; ++i) {
            const unsigned char* at = e.data + i / e.width * e.stride + i % e.width * size;
            attribute.values[i] = jnaGltf_LoadComponent(at, e.component, normalized);
        }
        if (attribute.values == NULL || !Append(order, &attribute)) {
            free(attribute.values);
            return jnFail(g->error, jn_outOfMemory, "%s: out of memory", g->path);
        }
    }
    return jn_ok;
}

void jnaDestroyGltfOrder(jnaGltfOrder* order)
{
    for (int i = 0; i < order->attributeCount; ++i) {
        free(order->attributes[i].values);
    }
    free(order->attributes);
    free(order->names);
    free(order->vertexCounts);
    free(order->repaired);
    *order = (jnaGltfOrder){0};
}
