// See outfit_materials.h. Entries of a glTF document name each other by number: a material its textures, a texture its
// image and sampler, an image its bytes. Each is copied once, with what it names before it.
#include "asset/outfit_materials.h"

#include "asset/glb_parts.h"
#include "base/try.h"
#include "character/outfit.h"

#include "runtime/for_author.h"

#include <string.h>

void jnaDestroyOutfitFile(jnaOutfitFile* file)
{
    jnaDestroyGltfSource(&file->source);
    json_decref(file->root);
    json_decref(file->taken);
    *file = (jnaOutfitFile){0};
}

jnResult jnaReadOutfitFile(const char* path, const jnaImportDef* def, jnaOutfitFile* file, jnError* error)
{
    jnaCharacter character = {0};
    jnResult result = jn_ok;
    *file = (jnaOutfitFile){0};
    JN_TRY(jnaImportOutfit(path, def, &character, NULL, error));
    file->vertexCount = character.fileVertexCount;
    if (jnaIsGltf(path)) {
        JN_TRY(jnaReadGltfDocument(path, &file->source, error));
        file->root = json_loadb(file->source.text, file->source.textSize, 0, NULL);
        file->taken = json_object();
    }
done:
    jnaDestroyCharacter(&character);
    if (result != jn_ok) {
        jnaDestroyOutfitFile(file);
    }
    return result;
}

static json_int_t GetInteger(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static bool Lists(const json_t* root, const char* list, const char* name)
{
    size_t i;
    const json_t* entry;
    json_array_foreach(json_object_get(root, list), i, entry)
    {
        if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0) {
            return true;
        }
    }
    return false;
}

// The document says which extensions it uses, and which of them a reader must know.
static void UseExtensions(const jnaOutfitFile* f, json_t* extensions, jnaMorphDocument* d)
{
    static const char* const lists[] = {"extensionsUsed", "extensionsRequired"};
    const char* name;
    json_t* value;
    json_object_foreach(extensions, name, value)
    {
        for (int i = 0; i < 2; ++i) {
            if (Lists(f->root, lists[i], name) && !Lists(d->root, lists[i], name)) {
                json_array_append_new(jnaGltfList(d->root, lists[i]), json_string(name));
            }
        }
    }
}

static json_int_t Take(jnaOutfitFile* f, const char* list, json_int_t index, jnaMorphDocument* d);

// Numbers of other entries become theirs in the document; one that is not there is left out.
static void Renumber(jnaOutfitFile* f, json_t* object, const char* key, const char* list, jnaMorphDocument* d)
{
    json_int_t index = GetInteger(object, key), taken = index >= 0 ? Take(f, list, index, d) : -1;
    if (taken >= 0) {
        json_object_set_new(object, key, json_integer(taken));
    } else {
        json_object_del(object, key);
    }
}

// The bytes of an image: the document has one buffer.
static void TakeBytes(const jnaOutfitFile* f, json_t* image, jnaMorphDocument* d)
{
    json_int_t index = GetInteger(image, "bufferView");
    if (index < 0) {
        return; // in the text
    }
    const json_t* view = json_array_get(json_object_get(f->root, "bufferViews"), (size_t)index);
    json_int_t offset = GetInteger(view, "byteOffset"), length = GetInteger(view, "byteLength");
    size_t from = offset > 0 ? (size_t)offset : 0, size = length > 0 ? (size_t)length : 0;
    if (from > f->source.binarySize || size > f->source.binarySize - from) {
        size = 0;
    }
    json_object_set_new(image, "bufferView",
        json_integer(jnaGlbBuffer_AddView(&d->buffer, f->source.binary + (size > 0 ? from : 0), size, 0, 0)));
}

static void TakeTexture(jnaOutfitFile* f, json_t* texture, jnaMorphDocument* d)
{
    const char* name;
    json_t* extension;
    Renumber(f, texture, "source", "images", d);
    Renumber(f, texture, "sampler", "samplers", d);
    json_object_foreach(json_object_get(texture, "extensions"), name, extension)
    {
        Renumber(f, extension, "source", "images", d);
    }
    UseExtensions(f, json_object_get(texture, "extensions"), d);
}

// What a material says of a texture, wherever it stands: under a name that ends so. The document has the first set of
// UVs alone; a texture on another is left out.
static void TakeTextures(jnaOutfitFile* f, json_t* object, jnaMorphDocument* d)
{
    static const char ending[] = "Texture";
    const char* key;
    json_t* value;
    void* next;
    json_object_foreach_safe(object, next, key, value)
    {
        size_t length = strlen(key), tail = sizeof(ending) - 1;
        bool texture = length > tail && strcmp(key + length - tail, ending) == 0 && GetInteger(value, "index") >= 0;
        json_int_t set = json_integer_value(json_object_get(value, "texCoord"));
        if (json_is_object(value)) {
            TakeTextures(f, value, d); // extensions of it, too
        }
        if (strcmp(key, "extensions") == 0) {
            UseExtensions(f, value, d);
        }
        if (texture) {
            Renumber(f, value, "index", "textures", d);
        }
        if (texture && (set > 0 || GetInteger(value, "index") < 0)) {
            json_object_del(object, key);
        }
    }
}

static json_int_t Take(jnaOutfitFile* f, const char* list, json_int_t index, jnaMorphDocument* d)
{
    char key[64];
    snprintf(key, sizeof(key), "%s %lld", list, (long long)index);
    json_int_t known = GetInteger(f->taken, key);
    const json_t* from = json_array_get(json_object_get(f->root, list), (size_t)index);
    if (known >= 0 || !json_is_object(from)) {
        return known;
    }
    json_t* copy = json_deep_copy(from);
    if (strcmp(list, "images") == 0) {
        TakeBytes(f, copy, d);
    } else if (strcmp(list, "textures") == 0) {
        TakeTexture(f, copy, d);
    } else if (strcmp(list, "materials") == 0) {
        TakeTextures(f, copy, d);
    }
    json_t* to = jnaGltfList(d->root, list);
    json_array_append_new(to, copy);
    json_object_set_new(f->taken, key, json_integer((json_int_t)json_array_size(to) - 1));
    return (json_int_t)json_array_size(to) - 1;
}

// Names of the asset are cut.
static bool IsNamed(const json_t* entry, const char* name)
{
    const char* own = json_string_value(json_object_get(entry, "name"));
    return own != NULL && name[0] != '\0' && strncmp(own, name, JN_NAME_LENGTH - 1) == 0;
}

// The material of a part in its own file: by its name, or that of the mesh of the part's name. -1: none.
static json_int_t FindMaterial(const jnaOutfitFile* f, const jnAssetPart* part)
{
    size_t i;
    const json_t* entry;
    json_array_foreach(json_object_get(f->root, "materials"), i, entry)
    {
        if (IsNamed(entry, part->material)) {
            return (json_int_t)i;
        }
    }
    json_array_foreach(json_object_get(f->root, "meshes"), i, entry)
    {
        if (IsNamed(entry, part->name)) {
            return GetInteger(json_array_get(json_object_get(entry, "primitives"), 0), "material");
        }
    }
    return -1;
}

json_int_t jnaAddPartMaterial(const jnaMorphDocumentDef* def, const jnAssetPart* part, jnaMorphDocument* d)
{
    const jnAsset* a = def->asset;
    int vertex = part->triangleCount > 0 ? a->triangles[3 * (size_t)part->firstTriangle] : 0, end = a->fileVertexCount;
    for (int i = def->outfitCount - 1; i >= 0; --i) { // behind the character's own, in their order
        jnaOutfitFile* f = &def->outfits[i];
        int first = end - f->vertexCount;
        json_int_t material = vertex >= first && vertex < end && f->root != NULL ? FindMaterial(f, part) : -1;
        if (material >= 0) {
            return Take(f, "materials", material, d);
        }
        end = first;
    }
    json_t* materials = jnaGltfList(d->root, "materials");
    json_array_append_new(materials, jnaMakeGltfMaterial(part));
    return (json_int_t)json_array_size(materials) - 1;
}
