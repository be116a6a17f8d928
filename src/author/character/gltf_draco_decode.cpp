// In C++, because Draco has no other interface.
#include "gltf_draco.h"

#include <draco/compression/decode.h>
#include <draco/core/decoder_buffer.h>

#include <cstring>
#include <memory>
#include <new>

struct jnaDracoMesh {
    std::unique_ptr<draco::Mesh> mesh;
};

bool jnaHasDraco(void)
{
    return true;
}

jnaDracoMesh* jnaOpenDraco(const void* data, size_t size)
{
    draco::DecoderBuffer buffer;
    buffer.Init(static_cast<const char*>(data), size);
    draco::Decoder decoder;
    auto decoded = decoder.DecodeMeshFromBuffer(&buffer);
    return decoded.ok() ? new (std::nothrow) jnaDracoMesh{std::move(decoded).value()} : nullptr;
}

void jnaCloseDraco(jnaDracoMesh* mesh)
{
    delete mesh;
}

size_t jnaDraco_VertexCount(const jnaDracoMesh* mesh)
{
    return mesh->mesh->num_points();
}

size_t jnaDraco_FaceCount(const jnaDracoMesh* mesh)
{
    return mesh->mesh->num_faces();
}

void jnaDraco_ReadFaces(const jnaDracoMesh* mesh, uint32_t* indices)
{
    for (uint32_t f = 0; f < mesh->mesh->num_faces(); ++f) {
        const auto& face = mesh->mesh->face(draco::FaceIndex(f));
        for (size_t k = 0; k < 3; ++k) {
            indices[3 * static_cast<size_t>(f) + k] = face[k].value();
        }
    }
}

template <typename T> static bool Convert(const draco::PointAttribute& from, size_t count, size_t width, void* values)
{
    T* to = static_cast<T*>(values);
    for (size_t i = 0; i < count; ++i) {
        auto index = from.mapped_index(draco::PointIndex(static_cast<uint32_t>(i)));
        if (!from.ConvertValue<T>(index, static_cast<int8_t>(width), to + i * width)) {
            return false;
        }
    }
    return true;
}

bool jnaDraco_ReadAttribute(const jnaDracoMesh* mesh, int64_t id, int component, size_t width, void* values)
{
    const draco::PointAttribute* from = mesh->mesh->GetAttributeByUniqueId(static_cast<uint32_t>(id));
    size_t count = mesh->mesh->num_points();
    if (from == nullptr || id < 0 || width > 16) {
        return false;
    }
    switch (component) {
    case 5120:
        return Convert<int8_t>(*from, count, width, values);
    case 5121:
        return Convert<uint8_t>(*from, count, width, values);
    case 5122:
        return Convert<int16_t>(*from, count, width, values);
    case 5123:
        return Convert<uint16_t>(*from, count, width, values);
    case 5125:
        return Convert<uint32_t>(*from, count, width, values);
    default:
        return Convert<float>(*from, count, width, values);
    }
}
