// In the place of gltf_draco_decode.cpp where Draco is left out.
#include "character/gltf_draco.h"

bool jnaHasDraco(void)
{
    return false;
}

jnaDracoMesh* jnaOpenDraco(const void* data, size_t size)
{
    (void)data;
    (void)size;
    return NULL;
}

void jnaCloseDraco(jnaDracoMesh* mesh)
{
    (void)mesh;
}

size_t jnaDraco_VertexCount(const jnaDracoMesh* mesh)
{
    (void)mesh;
    return 0;
}

size_t jnaDraco_FaceCount(const jnaDracoMesh* mesh)
{
    (void)mesh;
    return 0;
}

void jnaDraco_ReadFaces(const jnaDracoMesh* mesh, uint32_t* indices)
{
    (void)mesh;
    (void)indices;
}

bool jnaDraco_ReadAttribute(const jnaDracoMesh* mesh, int64_t id, int component, size_t width, void* values)
{
    (void)mesh;
    (void)id;
    (void)component;
    (void)width;
    (void)values;
    return false;
}
