// FBX and Collada by Assimp: a file in, a stream out (scene_stream.h). Runs in a process of its own and may crash
// there.
//
// No post-processing but triangulation is asked for: joining or splitting would change the file's vertex order.
#include "base/arena.h"
#include "base/input.h"
#include "character/scene_stream.h"
#include "character/source_points.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <stdlib.h>
#include <strings.h>

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
    jnaPutInteger(stream, list->count);
    for (int i = 0; i < list->count; ++i) {
        struct aiMatrix4x4 m = list->nodes[i]->mTransformation;
        m = i == 0 ? InFileUnits(&m, rootUnit) : m;
        const float rows[12] = {m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4};
        jnaPutNode(stream, list->nodes[i]->mName.data, list->parents[i], rows);
    }
}

// What is being converted, and the memory for it.
typedef struct Conversion {
    const struct aiScene* scene;
    const NodeList* list;
    jnaArena arena;        // of one mesh or animation
    jnaFbxWeights weights; // at rest, of an FBX file
    int lostTargets;       // morph targets of another number of vertices than their mesh
    int lostChannels;      // animations of morph targets that could not be read
} Conversion;

// There is nobody to tell in this process: the parent sees it end.
static void* Take(Conversion* c, size_t count, size_t size)
{
    void* memory = jnaArena_Take(&c->arena, (int64_t)count, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void ConvertMaterial(Conversion* c, const struct aiMesh* from, jnaSceneMesh* mesh)
{
    struct aiString* name = Take(c, 1, sizeof(*name));
    struct aiColor4D color = {0.8F, 0.8F, 0.8F, 1};
    if (from->mMaterialIndex < c->scene->mNumMaterials) {
        const struct aiMaterial* material = c->scene->mMaterials[from->mMaterialIndex];
        (void)aiGetMaterialString(material, AI_MATKEY_NAME, name);
        if (aiGetMaterialColor(material, AI_MATKEY_BASE_COLOR, &color) != AI_SUCCESS) {
            (void)aiGetMaterialColor(material, AI_MATKEY_COLOR_DIFFUSE, &color);
        }
    }
    mesh->material = name->data;
    memcpy(mesh->color, &color, sizeof(mesh->color));
}

// Points and lines are left out: they have no surface.
static void ConvertTriangles(Conversion* c, const struct aiMesh* from, jnaSceneMesh* mesh)
{
    uint32_t* triangles = Take(c, from->mNumFaces, 3 * sizeof(*triangles));
    for (unsigned f = 0; f < from->mNumFaces; ++f) {
        if (from->mFaces[f].mNumIndices == 3) {
            memcpy(triangles + 3 * (size_t)mesh->triangleCount++, from->mFaces[f].mIndices, 3 * sizeof(*triangles));
        }
    }
    mesh->triangles = triangles;
}

static void ConvertBones(Conversion* c, const struct aiMesh* from, jnaSceneMesh* mesh)
{
    mesh->boneCount = (int)from->mNumBones;
    mesh->bones = Take(c, from->mNumBones, sizeof(*mesh->bones));
    for (unsigned b = 0; b < from->mNumBones; ++b) {
        const struct aiBone* bone = from->mBones[b];
        const struct aiMatrix4x4* m = &bone->mOffsetMatrix;
        const float rows[12] = {m->a1, m->a2, m->a3, m->a4, m->b1, m->b2, m->b3, m->b4, m->c1, m->c2, m->c3, m->c4};
        uint32_t* vertices = Take(c, bone->mNumWeights, sizeof(*vertices));
        float* weights = Take(c, bone->mNumWeights, sizeof(*weights));
        for (unsigned w = 0; w < bone->mNumWeights; ++w) {
            vertices[w] = bone->mWeights[w].mVertexId;
            weights[w] = bone->mWeights[w].mWeight;
        }
        mesh->bones[b] = (jnaSceneBone){bone->mName.data, FindNode(c->list, bone->mName.data),
            jnaAffine_FromFloats(rows), (int)bone->mNumWeights, vertices, weights};
    }
}

static void ConvertPlaces(Conversion* c, unsigned index, jnaSceneMesh* mesh)
{
    int32_t* places = Take(c, (size_t)c->list->count, sizeof(*places));
    for (int i = 0; i < c->list->count; ++i) {
        bool carries = false;
        for (unsigned k = 0; k < c->list->nodes[i]->mNumMeshes; ++k) {
            carries = carries || c->list->nodes[i]->mMeshes[k] == index;
        }
        if (carries) {
            places[mesh->placeCount++] = i;
        }
    }
    mesh->places = places;
}

static void ConvertColors(Conversion* c, const struct aiMesh* from, jnaSceneMesh* mesh)
{
    mesh->attributes = Take(c, AI_MAX_NUMBER_OF_COLOR_SETS, sizeof(*mesh->attributes));
    for (int i = 0; i < AI_MAX_NUMBER_OF_COLOR_SETS; ++i) {
        if (from->mColors[i] != NULL) {
            char* name = Take(c, 32, 1);
            snprintf(name, 32, "COLOR_%d", i);
            mesh->attributes[mesh->attributeCount++] = (jnaSceneAttribute){name, 4, &from->mColors[i]->r};
        }
    }
}

// The weight of a target at rest.
static float RestWeight(const Conversion* c, const char* name)
{
    for (int i = 0; i < c->weights.count; ++i) {
        if (strncmp(c->weights.list[i].name, name, sizeof(c->weights.list[i].name) - 1) == 0) {
            return c->weights.list[i].weight;
        }
    }
    return 0;
}

// Assimp gives a target as the positions it leads to.
static void ConvertTargets(Conversion* c, const struct aiMesh* from, jnaSceneMesh* mesh)
{
    mesh->targets = Take(c, from->mNumAnimMeshes, sizeof(*mesh->targets));
    for (unsigned t = 0; t < from->mNumAnimMeshes; ++t) {
        const struct aiAnimMesh* target = from->mAnimMeshes[t];
        if (target->mVertices == NULL || target->mNumVertices != from->mNumVertices) {
            c->lostTargets++;
            continue;
        }
        float* offsets = Take(c, from->mNumVertices, 3 * sizeof(*offsets));
        for (unsigned v = 0; v < from->mNumVertices; ++v) {
            offsets[3 * (size_t)v] = target->mVertices[v].x - from->mVertices[v].x;
            offsets[3 * (size_t)v + 1] = target->mVertices[v].y - from->mVertices[v].y;
            offsets[3 * (size_t)v + 2] = target->mVertices[v].z - from->mVertices[v].z;
        }
        mesh->targets[mesh->targetCount++] =
            (jnaSceneTarget){target->mName.data, RestWeight(c, target->mName.data), offsets};
    }
}

static void PutMesh(FILE* stream, Conversion* c, unsigned index)
{
    const struct aiMesh* from = c->scene->mMeshes[index];
    const struct aiVector3D* uvs = from->mTextureCoords[0];
    jnaSceneMesh mesh = {.name = from->mName.data,
        .primitive = -1,
        .vertexCount = (int)from->mNumVertices,
        .positions = &from->mVertices->x,
        .normals = from->mNormals != NULL ? &from->mNormals->x : NULL};
    if (uvs != NULL) {
        float* flat = Take(c, from->mNumVertices, 2 * sizeof(*flat));
        for (size_t v = 0; v < from->mNumVertices; ++v) {
            flat[2 * v] = uvs[v].x;
            flat[2 * v + 1] = uvs[v].y;
        }
        mesh.uvs = flat;
    }
    ConvertMaterial(c, from, &mesh);
    ConvertColors(c, from, &mesh);
    ConvertTargets(c, from, &mesh);
    ConvertTriangles(c, from, &mesh);
    ConvertBones(c, from, &mesh);
    ConvertPlaces(c, index, &mesh);
    jnaPutMesh(stream, &mesh);
    jnaReleaseArena(&c->arena);
}

static jnaSceneKeys ConvertVectors(Conversion* c, unsigned count, const struct aiVectorKey* keys)
{
    double* times = Take(c, count, sizeof(*times));
    float* values = Take(c, count, 3 * sizeof(*values));
    for (unsigned k = 0; k < count; ++k) {
        times[k] = keys[k].mTime;
        memcpy(values + 3 * (size_t)k, &keys[k].mValue, 3 * sizeof(*values));
    }
    return (jnaSceneKeys){(int)count, jna_linearKeys, times, values};
}

static jnaSceneKeys ConvertRotations(Conversion* c, unsigned count, const struct aiQuatKey* keys)
{
    double* times = Take(c, count, sizeof(*times));
    float* values = Take(c, count, 4 * sizeof(*values));
    for (unsigned k = 0; k < count; ++k) {
        const struct aiQuaternion* q = &keys[k].mValue;
        const float xyzw[4] = {q->x, q->y, q->z, q->w};
        times[k] = keys[k].mTime;
        memcpy(values + 4 * (size_t)k, xyzw, sizeof(xyzw));
    }
    return (jnaSceneKeys){(int)count, jna_linearKeys, times, values};
}

// Morph targets of a node's meshes; 0 where its channels do not tell which target they move: shapes between two of one
// channel, which Assimp gives as targets of the same name or with the channel's own weight.
static unsigned CountMovedTargets(const Conversion* c, const struct aiNode* node)
{
    unsigned most = 0;
    for (unsigned m = 0; m < node->mNumMeshes; ++m) {
        const struct aiMesh* mesh = c->scene->mMeshes[node->mMeshes[m]];
        for (unsigned t = 0; t < mesh->mNumAnimMeshes; ++t) {
            const struct aiAnimMesh* target = mesh->mAnimMeshes[t];
            if (target->mWeight != 1 ||
                (t > 0 && strcmp(target->mName.data, mesh->mAnimMeshes[t - 1]->mName.data) == 0)) {
                return 0;
            }
        }
        most = mesh->mNumAnimMeshes > most ? mesh->mNumAnimMeshes : most;
    }
    return most;
}

// The weight that a key has of a target; false where it has none.
static bool FindWeight(const struct aiMeshMorphKey* key, unsigned target, float* weight)
{
    for (unsigned i = 0; i < key->mNumValuesAndWeights; ++i) {
        if (key->mValues[i] == target) {
            *weight = (float)key->mWeights[i];
            return true;
        }
    }
    return false;
}

// Weights of one target at all keys: each curve of an FBX has times of its own, and a key only what stands there. A
// straight line lies between the curve's own keys; before and behind them it is level.
static void FillWeights(const struct aiMeshMorphAnim* from, unsigned target, size_t width, float rest, float* values)
{
    unsigned last = from->mNumKeys; // the curve's latest key; at first none
    for (unsigned k = 0; k < from->mNumKeys; ++k) {
        float* value = values + (size_t)k * width + target;
        if (!FindWeight(&from->mKeys[k], target, value)) {
            *value = last < k ? values[(size_t)last * width + target] : rest;
            continue;
        }
        unsigned first = last < k ? last + 1 : 0;
        float start = last < k ? values[(size_t)last * width + target] : *value;
        double begin = from->mKeys[last < k ? last : k].mTime, span = from->mKeys[k].mTime - begin;
        for (unsigned i = first; i < k; ++i) {
            double part = span > 0 ? (from->mKeys[i].mTime - begin) / span : 0;
            values[(size_t)i * width + target] = (float)((double)start + part * ((double)*value - (double)start));
        }
        last = k;
    }
}

// The name of a target of a node's meshes, which have the same.
static const char* TargetName(const Conversion* c, const struct aiNode* node, unsigned target)
{
    for (unsigned m = 0; m < node->mNumMeshes; ++m) {
        const struct aiMesh* mesh = c->scene->mMeshes[node->mMeshes[m]];
        if (target < mesh->mNumAnimMeshes) {
            return mesh->mAnimMeshes[target]->mName.data;
        }
    }
    return "";
}

// Weights of a node's morph targets, which Assimp names by the node, an asterisk and a number.
static void ConvertWeights(Conversion* c, const struct aiMeshMorphAnim* from, jnaSceneAnimation* animation)
{
    char name[MAXLEN];
    snprintf(name, sizeof(name), "%s", from->mName.data);
    char* asterisk = strrchr(name, '*');
    if (asterisk != NULL) {
        *asterisk = '\0';
    }
    int node = FindNode(c->list, name);
    unsigned width = node >= 0 ? CountMovedTargets(c, c->list->nodes[node]) : 0;
    if (width == 0) {
        c->lostChannels++;
        return;
    }
    double* times = Take(c, from->mNumKeys, sizeof(*times));
    float* values = Take(c, from->mNumKeys, width * sizeof(*values));
    for (unsigned k = 0; k < from->mNumKeys; ++k) {
        times[k] = from->mKeys[k].mTime;
    }
    for (unsigned t = 0; t < width; ++t) {
        FillWeights(from, t, width, RestWeight(c, TargetName(c, c->list->nodes[node], t)), values);
    }
    int channel = 0;
    while (channel < animation->channelCount && animation->channels[channel].node != node) {
        ++channel;
    }
    if (channel == animation->channelCount) {
        animation->channels[animation->channelCount++] = (jnaSceneChannel){.node = node};
    }
    animation->channels[channel].weightCount = (int)width;
    animation->channels[channel].weights = (jnaSceneKeys){(int)from->mNumKeys, jna_linearKeys, times, values};
}

static void PutAnimation(FILE* stream, Conversion* c, const struct aiAnimation* from)
{
    jnaSceneAnimation animation = {.name = from->mName.data,
        .ticksPerSecond = from->mTicksPerSecond,
        .channelCount = (int)from->mNumChannels,
        .channels = Take(c, (size_t)from->mNumChannels + from->mNumMorphMeshChannels, sizeof(*animation.channels))};
    for (unsigned i = 0; i < from->mNumChannels; ++i) {
        const struct aiNodeAnim* channel = from->mChannels[i];
        animation.channels[i] = (jnaSceneChannel){.node = FindNode(c->list, channel->mNodeName.data),
            .translation = ConvertVectors(c, channel->mNumPositionKeys, channel->mPositionKeys),
            .rotation = ConvertRotations(c, channel->mNumRotationKeys, channel->mRotationKeys),
            .scale = ConvertVectors(c, channel->mNumScalingKeys, channel->mScalingKeys)};
    }
    for (unsigned i = 0; i < from->mNumMorphMeshChannels; ++i) {
        ConvertWeights(c, from->mMorphMeshChannels[i], &animation);
    }
    jnaPutAnimation(stream, &animation);
    jnaReleaseArena(&c->arena);
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
    FILE* file;
    if (jnaOpenInput(path, &file, NULL) != jn_ok) {
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

// What is in the file and does not arrive.
static void PutNotes(FILE* stream, const Conversion* c, bool lostMorphs)
{
    jnaPutInteger(stream, (c->lostTargets > 0) + (c->lostChannels > 0) + lostMorphs);
    if (c->lostTargets > 0) {
        char sentence[160];
        snprintf(sentence, sizeof(sentence),
            "%d morph targets have another number of vertices than their mesh: left out", c->lostTargets);
        jnaPutText(stream, sentence);
    }
    if (c->lostChannels > 0) {
        jnaPutText(stream,
            "animated weights of morph targets with shapes in between, or of meshes of the same name, are "
            "not read: they stay as at rest");
    }
    if (lostMorphs) {
        jnaPutText(stream,
            "morph targets and their animation are not read from Collada: left out; export glTF or FBX for "
            "them");
    }
}

static void PutScene(FILE* stream, const char* path, const struct aiScene* scene, const NodeList* list, bool lostMorphs)
{
    // FBX states centimetres per unit. Assimp turns Collada upright itself; FBX it leaves as it lies.
    double metres = 0, up = 1;
    if (jnaHasEnding(path, ".fbx")) {
        metres = FindMetadata(scene, "UnitScaleFactor", &metres) ? metres * 0.01 : 0;
        (void)FindMetadata(scene, "UpAxis", &up);
    } else if (jnaHasEnding(path, ".dae")) {
        metres = FindColladaUnit(path);
    }
    jnaPutHead(stream, metres, up == 0 || up == 2 ? (int)up : 1);
    PutNodes(stream, list, jnaHasEnding(path, ".dae") ? metres : 0);
    Conversion conversion = {.scene = scene, .list = list};
    if (jnaHasEnding(path, ".fbx")) {
        (void)jnaReadFbxWeights(path, &conversion.weights, NULL); // it was read by Assimp; without them they are 0
    }
    jnaPutInteger(stream, scene->mNumMeshes);
    for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
        PutMesh(stream, &conversion, m);
    }
    jnaPutInteger(stream, scene->mNumAnimations);
    for (unsigned a = 0; a < scene->mNumAnimations; ++a) {
        PutAnimation(stream, &conversion, scene->mAnimations[a]);
    }
    PutNotes(stream, &conversion, lostMorphs);
    free(conversion.weights.list);
}

void jnaWriteAssimpScene(const char* path, FILE* stream)
{
    NodeList list = {0};
    struct aiPropertyStore* properties = aiCreatePropertyStore();
    // Pivots folded into their node; no mesh made up for a file that has only a skeleton.
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
    size_t size = 0;
    char* text = jnaHasEnding(path, ".dae") ? jnaTakeColladaMorphs(path, &size) : NULL;
    const struct aiScene* scene =
        text != NULL
            ? aiImportFileFromMemoryWithProperties(text, (unsigned)size, aiProcess_Triangulate, "dae", properties)
            : aiImportFileExWithProperties(path, aiProcess_Triangulate, NULL, properties);
    if (scene == NULL || scene->mRootNode == NULL) {
        char sentence[JN_ERROR_LENGTH];
        snprintf(sentence, sizeof(sentence), "%s: cannot be read: %s", path, aiGetErrorString());
        jnaPutFailure(stream, sentence);
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
        jnaPutFailure(stream, sentence);
    } else {
        PutScene(stream, path, scene, &list, text != NULL);
    }
done:
    aiReleaseImport(scene);
    aiReleasePropertyStore(properties);
    free(text);
    free(list.nodes);
    free(list.parents);
}
