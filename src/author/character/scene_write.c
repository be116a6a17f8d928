// The child's half of reading a file: Assimp in, a flat stream out. Runs in a process of its own and may
// crash there.
//
// The stream is a sequence of records, each padded to eight bytes so that the parent can use the arrays where
// they lie: numbers of 8 bytes, texts (length, bytes, zero) and arrays whose length is known from a number
// before them. No post-processing but triangulation is asked for: joining or splitting would change the
// file's vertex order.
#include "base/mapped_file.h"
#include "character/scene.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <stdlib.h>
#include <strings.h>

bool jnaHasEnding(const char* path, const char* ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static void PutBytes(FILE* stream, const void* bytes, size_t size)
{
    static const char padding[8] = {0};
    fwrite(bytes, 1, size, stream);
    fwrite(padding, 1, (8 - size % 8) % 8, stream);
}

static void PutInteger(FILE* stream, int64_t value)
{
    PutBytes(stream, &value, sizeof(value));
}

static void PutNumber(FILE* stream, double value)
{
    PutBytes(stream, &value, sizeof(value));
}

static void PutText(FILE* stream, const char* text)
{
    size_t length = strlen(text);
    PutInteger(stream, (int64_t)length);
    PutBytes(stream, text, length + 1);
}

static void PutMatrix(FILE* stream, const struct aiMatrix4x4* m)
{
    const float rows[12] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4};
    PutBytes(stream, rows, sizeof(rows));
}

// Nodes in depth-first order, so that parents come first.
typedef struct NodeList {
    const struct aiNode** nodes;
    int* parents;
    int count;
    bool tooMany;
} NodeList;

static void CollectNodes(const struct aiNode* node, int parent, NodeList* list)
{
    if (list->count == JNA_MAX_SCENE_NODES) {
        list->tooMany = true;
        return;
    }
    int index = list->count++;
    list->nodes[index] = node;
    list->parents[index] = parent;
    for (unsigned i = 0; i < node->mNumChildren && !list->tooMany; ++i) {
        CollectNodes(node->mChildren[i], index, list);
    }
}

// A node by its name: -1 for none, -2 for several, which leaves open which of them is meant.
static int FindNode(const NodeList* list, const char* name)
{
    int found = -1;
    for (int i = 0; i < list->count; ++i) {
        if (strcmp(list->nodes[i]->mName.data, name) == 0) {
            if (found >= 0) {
                return -2;
            }
            found = i;
        }
    }
    return found;
}

// Assimp has multiplied the axes of Collada's root by the file's unit; here they are in file units again, so
// that the caller alone decides what a unit is.
static struct aiMatrix4x4 InFileUnits(const struct aiMatrix4x4* root, double unit)
{
    struct aiMatrix4x4 m = *root;
    float* rows[3] = {&m.a1, &m.b1, &m.c1};
    for (int i = 0; i < 9 && unit > 0; ++i) {
        rows[i / 3][i % 3] = (float)((double)rows[i / 3][i % 3] / unit);
    }
    return m;
}

static void PutNodes(FILE* stream, const NodeList* list, double rootUnit)
{
    PutInteger(stream, list->count);
    for (int i = 0; i < list->count; ++i) {
        PutText(stream, list->nodes[i]->mName.data);
        PutInteger(stream, list->parents[i]);
        struct aiMatrix4x4 local = list->nodes[i]->mTransformation;
        local = i == 0 ? InFileUnits(&local, rootUnit) : local;
        PutMatrix(stream, &local);
    }
}

static void PutMaterial(FILE* stream, const struct aiScene* scene, const struct aiMesh* mesh)
{
    struct aiString name = {0};
    struct aiColor4D color = {0.8F, 0.8F, 0.8F, 1};
    if (mesh->mMaterialIndex < scene->mNumMaterials) {
        const struct aiMaterial* material = scene->mMaterials[mesh->mMaterialIndex];
        (void)aiGetMaterialString(material, AI_MATKEY_NAME, &name);
        if (aiGetMaterialColor(material, AI_MATKEY_BASE_COLOR, &color) != AI_SUCCESS) {
            (void)aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &color);
        }
    }
    PutText(stream, name.data);
    PutBytes(stream, &color, 4 * sizeof(float));
}

// Points and lines are left out: they have no surface.
static void PutTriangles(FILE* stream, const struct aiMesh* mesh)
{
    int64_t count = 0;
    for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
        count += mesh->mFaces[f].mNumIndices == 3;
    }
    PutInteger(stream, count);
    for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
        if (mesh->mFaces[f].mNumIndices == 3) {
            fwrite(mesh->mFaces[f].mIndices, sizeof(uint32_t), 3, stream);
        }
    }
    if (count % 2 != 0) {
        fwrite("\0\0\0\0", 1, 4, stream);
    }
}

static void PutBones(FILE* stream, const struct aiMesh* mesh, const NodeList* list)
{
    PutInteger(stream, mesh->mNumBones);
    for (unsigned b = 0; b < mesh->mNumBones; ++b) {
        const struct aiBone* bone = mesh->mBones[b];
        PutText(stream, bone->mName.data);
        PutInteger(stream, FindNode(list, bone->mName.data));
        PutMatrix(stream, &bone->mOffsetMatrix);
        uint32_t* vertices = malloc((bone->mNumWeights + 1) * sizeof(*vertices));
        float* weights = malloc((bone->mNumWeights + 1) * sizeof(*weights));
        if (vertices == NULL || weights == NULL) {
            abort();
        }
        for (unsigned w = 0; w < bone->mNumWeights; ++w) {
            vertices[w] = bone->mWeights[w].mVertexId;
            weights[w] = bone->mWeights[w].mWeight;
        }
        PutInteger(stream, bone->mNumWeights);
        PutBytes(stream, vertices, bone->mNumWeights * sizeof(*vertices));
        PutBytes(stream, weights, bone->mNumWeights * sizeof(*weights));
        free(vertices);
        free(weights);
    }
}

static void PutPlaces(FILE* stream, unsigned mesh, const NodeList* list)
{
    int32_t* places = malloc((size_t)list->count * sizeof(*places));
    if (places == NULL) {
        abort();
    }
    size_t count = 0;
    for (int i = 0; i < list->count; ++i) {
        bool carries = false;
        for (unsigned k = 0; k < list->nodes[i]->mNumMeshes; ++k) {
            carries = carries || list->nodes[i]->mMeshes[k] == mesh;
        }
        if (carries) {
            places[count++] = i;
        }
    }
    PutInteger(stream, (int64_t)count);
    PutBytes(stream, places, count * sizeof(*places));
    free(places);
}

// Colours as Assimp has them, other attributes as the file has them. primitive: of the order; -1: none.
static void PutAttributes(FILE* stream, const struct aiMesh* mesh, const jnaGltfOrder* order, int primitive)
{
    int64_t count = 0;
    for (int i = 0; i < AI_MAX_NUMBER_OF_COLOR_SETS; ++i) {
        count += mesh->mColors[i] != NULL;
    }
    for (int i = 0; i < order->attributeCount; ++i) {
        count += order->attributes[i].primitive == primitive;
    }
    PutInteger(stream, count);
    for (int i = 0; i < AI_MAX_NUMBER_OF_COLOR_SETS; ++i) {
        if (mesh->mColors[i] != NULL) {
            char name[32];
            snprintf(name, sizeof(name), "COLOR_%d", i);
            PutText(stream, name);
            PutInteger(stream, 4);
            PutBytes(stream, mesh->mColors[i], mesh->mNumVertices * sizeof(*mesh->mColors[i]));
        }
    }
    for (int i = 0; i < order->attributeCount; ++i) {
        const jnaGltfAttribute* attribute = &order->attributes[i];
        if (attribute->primitive == primitive) {
            PutText(stream, attribute->name);
            PutInteger(stream, attribute->width);
            PutBytes(stream, attribute->values, mesh->mNumVertices * (size_t)attribute->width * sizeof(float));
        }
    }
}

static void PutMesh(FILE* stream, const struct aiScene* scene, unsigned index, const NodeList* list,
    const jnaGltfOrder* order, int primitive)
{
    const struct aiMesh* mesh = scene->mMeshes[index];
    const struct aiVector3D* uvs = mesh->mTextureCoords[0];
    PutText(stream, mesh->mName.data);
    PutInteger(stream, primitive);
    PutMaterial(stream, scene, mesh);
    PutInteger(stream, mesh->mNumVertices);
    PutInteger(stream, mesh->mNormals != NULL);
    PutInteger(stream, uvs != NULL);
    PutBytes(stream, mesh->mVertices, mesh->mNumVertices * sizeof(*mesh->mVertices));
    if (mesh->mNormals != NULL) {
        PutBytes(stream, mesh->mNormals, mesh->mNumVertices * sizeof(*mesh->mNormals));
    }
    for (unsigned v = 0; uvs != NULL && v < mesh->mNumVertices; ++v) {
        const float uv[2] = {uvs[v].x, uvs[v].y};
        PutBytes(stream, uv, sizeof(uv));
    }
    PutAttributes(stream, mesh, order, primitive);
    PutTriangles(stream, mesh);
    PutBones(stream, mesh, list);
    PutPlaces(stream, index, list);
}

static void PutVectorKeys(FILE* stream, unsigned count, const struct aiVectorKey* keys)
{
    PutInteger(stream, count);
    for (unsigned k = 0; k < count; ++k) {
        PutNumber(stream, keys[k].mTime);
    }
    for (unsigned k = 0; k < count; ++k) {
        fwrite(&keys[k].mValue, sizeof(float), 3, stream);
    }
    if (count % 2 != 0) {
        fwrite("\0\0\0\0", 1, 4, stream);
    }
}

static void PutRotationKeys(FILE* stream, unsigned count, const struct aiQuatKey* keys)
{
    PutInteger(stream, count);
    for (unsigned k = 0; k < count; ++k) {
        PutNumber(stream, keys[k].mTime);
    }
    for (unsigned k = 0; k < count; ++k) {
        const struct aiQuaternion* q = &keys[k].mValue;
        const float xyzw[4] = {q->x, q->y, q->z, q->w};
        PutBytes(stream, xyzw, sizeof(xyzw));
    }
}

static void PutAnimation(FILE* stream, const struct aiAnimation* animation, const NodeList* list)
{
    PutText(stream, animation->mName.data);
    PutNumber(stream, animation->mTicksPerSecond);
    PutInteger(stream, animation->mNumChannels);
    for (unsigned c = 0; c < animation->mNumChannels; ++c) {
        const struct aiNodeAnim* channel = animation->mChannels[c];
        PutInteger(stream, FindNode(list, channel->mNodeName.data));
        PutVectorKeys(stream, channel->mNumPositionKeys, channel->mPositionKeys);
        PutRotationKeys(stream, channel->mNumRotationKeys, channel->mRotationKeys);
        PutVectorKeys(stream, channel->mNumScalingKeys, channel->mScalingKeys);
    }
}

static bool FindMetadata(const struct aiScene* scene, const char* key, double* value)
{
    const struct aiMetadata* data = scene->mMetaData;
    for (unsigned i = 0; data != NULL && i < data->mNumProperties; ++i) {
        const struct aiMetadataEntry* entry = &data->mValues[i];
        if (strcmp(data->mKeys[i].data, key) != 0 || entry->mData == NULL) {
            continue;
        }
        switch (entry->mType) {
        case AI_INT32:
            *value = *(const int32_t*)entry->mData;
            return true;
        case AI_FLOAT:
            *value = (double)*(const float*)entry->mData;
            return true;
        case AI_DOUBLE:
            *value = *(const double*)entry->mData;
            return true;
        default:
            return false;
        }
    }
    return false;
}

// Assimp applies the <unit meter="..."> of Collada but does not tell it; it stands near the top of the file.
static double FindColladaUnit(const char* path)
{
    char text[16385];
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    char* unit = strstr(text, "<unit");
    char* end = unit != NULL ? strchr(unit, '>') : NULL;
    if (end == NULL) {
        return 0;
    }
    *end = '\0';
    const char* metre = strstr(unit, "meter=\"");
    double metres = metre != NULL ? strtod(metre + strlen("meter=\""), NULL) : 0;
    return metres > 1e-9 && metres < 1e9 ? metres : 0;
}

// Assimp lists glTF meshes as it meets them in the hierarchy; users count vertices in the order of the file.
// Returns the meshes in that order, those it cannot find last. primitives: [meshes], the number of each in the order,
// -1 for one that is not in it.
static unsigned* OrderMeshes(const struct aiScene* scene, const jnaGltfOrder* order, int* primitives)
{
    unsigned* sorted = malloc((scene->mNumMeshes + 1) * sizeof(*sorted));
    bool* used = calloc(scene->mNumMeshes + 1, sizeof(*used));
    if (sorted == NULL || used == NULL) {
        abort();
    }
    unsigned count = 0;
    for (int i = 0; i < order->count; ++i) {
        for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
            if (!used[m] && scene->mMeshes[m]->mNumVertices == (unsigned)order->vertexCounts[i] &&
                strncmp(scene->mMeshes[m]->mName.data, order->names[i], sizeof(*order->names) - 1) == 0) {
                used[m] = true;
                primitives[count] = i;
                sorted[count++] = m;
                break;
            }
        }
    }
    for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
        if (!used[m]) {
            primitives[count] = -1;
            sorted[count++] = m;
        }
    }
    free(used);
    return sorted;
}

static void PutScene(
    FILE* stream, const char* path, const struct aiScene* scene, const NodeList* list, const jnaGltfOrder* order)
{
    // FBX states centimetres per unit. Assimp turns Collada upright itself; FBX it leaves as it lies.
    double metres = 0, up = 1;
    if (jnaHasEnding(path, ".fbx")) {
        metres = FindMetadata(scene, "UnitScaleFactor", &metres) ? metres * 0.01 : 0;
        (void)FindMetadata(scene, "UpAxis", &up);
    } else if (jnaHasEnding(path, ".dae")) {
        metres = FindColladaUnit(path);
    }
    PutInteger(stream, JNA_SCENE_MAGIC);
    PutInteger(stream, 1);
    PutNumber(stream, metres);
    PutInteger(stream, up == 0 || up == 2 ? (int64_t)up : 1);
    PutNodes(stream, list, jnaHasEnding(path, ".dae") ? metres : 0);
    PutInteger(stream, scene->mNumMeshes);
    int* primitives = malloc((scene->mNumMeshes + 1) * sizeof(*primitives));
    if (primitives == NULL) {
        abort();
    }
    unsigned* sorted = OrderMeshes(scene, order, primitives);
    for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
        PutMesh(stream, scene, sorted[m], list, order, primitives[m]);
    }
    free(primitives);
    free(sorted);
    PutInteger(stream, scene->mNumAnimations);
    for (unsigned a = 0; a < scene->mNumAnimations; ++a) {
        PutAnimation(stream, scene->mAnimations[a], list);
    }
}

static void PutFailure(FILE* stream, const char* sentence)
{
    PutInteger(stream, JNA_SCENE_MAGIC);
    PutInteger(stream, 0);
    PutText(stream, sentence);
}

// VRM is binary glTF with another ending, which Assimp goes by.
static const struct aiScene* ImportAsGlb(const char* path, const struct aiPropertyStore* properties)
{
    jnaMappedFile file;
    if (jnaMapFile(path, &file, NULL) != jn_ok || file.size > UINT32_MAX) {
        return NULL;
    }
    const struct aiScene* scene = aiImportFileFromMemoryWithProperties(
        (const char*)file.bytes, (unsigned)file.size, aiProcess_Triangulate, "glb", properties);
    jnaUnmapFile(&file);
    return scene;
}

void jnaWriteScene(const char* path, FILE* stream)
{
    jnError error;
    jnaGltfOrder order = {0};
    NodeList list = {0};
    struct aiPropertyStore* properties = NULL;
    const struct aiScene* scene = NULL;
    bool vrm = jnaHasEnding(path, ".vrm"), gltf = vrm || jnaHasEnding(path, ".glb") || jnaHasEnding(path, ".gltf");
    if (gltf && jnaCheckGltf(path, &order, &error) != jn_ok) {
        PutFailure(stream, error.message);
        goto done;
    }
    properties = aiCreatePropertyStore();
    // Pivots folded into their node; no mesh made up for a file that has only a skeleton.
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
    if (order.repaired != NULL) {
        scene = aiImportFileFromMemoryWithProperties(
            order.repaired, (unsigned)strlen(order.repaired), aiProcess_Triangulate, "gltf", properties);
    } else if (vrm) {
        scene = ImportAsGlb(path, properties);
    } else {
        scene = aiImportFileExWithProperties(path, aiProcess_Triangulate, NULL, properties);
    }
    if (scene == NULL || scene->mRootNode == NULL) {
        char sentence[JN_ERROR_LENGTH];
        snprintf(sentence, sizeof(sentence), "%s: cannot be read: %s", path, aiGetErrorString());
        PutFailure(stream, sentence);
        goto done;
    }
    list.nodes = malloc(JNA_MAX_SCENE_NODES * sizeof(*list.nodes));
    list.parents = malloc(JNA_MAX_SCENE_NODES * sizeof(*list.parents));
    if (list.nodes == NULL || list.parents == NULL) {
        abort();
    }
    CollectNodes(scene->mRootNode, -1, &list);
    if (list.tooMany) {
        char sentence[JN_ERROR_LENGTH];
        snprintf(sentence, sizeof(sentence), "%s: has more than %d nodes", path, JNA_MAX_SCENE_NODES);
        PutFailure(stream, sentence);
    } else {
        PutScene(stream, path, scene, &list, &order);
    }
done:
    aiReleaseImport(scene);
    if (properties != NULL) {
        aiReleasePropertyStore(properties);
    }
    free(list.nodes);
    free(list.parents);
    jnaDestroyGltfOrder(&order);
}
