// The parent's half: a stream from the child, believed in nothing. Arrays are used where they lie in the
// stream; every count is checked against the bytes that are left before anything is allocated for it.
#include "base/try.h"
#include "character/scene.h"
#include "runtime/for_author.h"

#include <stdlib.h>

typedef struct Reader {
    const char* path;
    const char* at;
    size_t left;
    bool broken; // the stream is not what a child of ours writes
    jnError* error;
} Reader;

static const void* Take(Reader* r, size_t count, size_t size)
{
    if (r->broken || count > r->left / size) {
        r->broken = true;
        return NULL;
    }
    size_t bytes = (count * size + 7) & ~(size_t)7;
    if (bytes > r->left) {
        r->broken = true;
        return NULL;
    }
    const void* at = r->at;
    r->at += bytes;
    r->left -= bytes;
    return at;
}

static int64_t TakeInteger(Reader* r, int64_t least, int64_t most)
{
    const int64_t* value = Take(r, 1, sizeof(*value));
    if (value == NULL || *value < least || *value > most) {
        r->broken = true;
        return least;
    }
    return *value;
}

// A count of things that take at least `size` bytes each in what is left of the stream.
static int TakeCount(Reader* r, size_t size)
{
    size_t most = r->left / size < INT32_MAX / 4 ? r->left / size : INT32_MAX / 4;
    return (int)TakeInteger(r, 0, (int64_t)most);
}

static double TakeNumber(Reader* r)
{
    const double* value = Take(r, 1, sizeof(*value));
    return value != NULL ? *value : 0;
}

static const char* TakeText(Reader* r)
{
    int length = TakeCount(r, 1);
    const char* text = Take(r, (size_t)length + 1, 1);
    if (text == NULL || text[length] != '\0') {
        r->broken = true;
        return "";
    }
    return text;
}

static bool AllFinite(const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static jnResult Broken(const Reader* r)
{
    return jnFail(r->error, jn_badData, "%s: the process that reads it sent something else than a scene", r->path);
}

static jnResult TakeMatrix(Reader* r, const char* what, const char* name, jnaAffine* matrix)
{
    const float* rows = Take(r, 12, sizeof(float));
    if (rows == NULL) {
        return Broken(r);
    }
    if (!AllFinite(rows, 12)) {
        return jnFail(r->error, jn_badData, "%s: the %s of '%s' is not made of finite numbers", r->path, what, name);
    }
    *matrix = jnaAffine_FromFloats(rows);
    return jn_ok;
}

static void* Allocate(Reader* r, int count, size_t size)
{
    void* memory = calloc((size_t)count + 1, size);
    if (memory == NULL) {
        jnFail(r->error, jn_outOfMemory, "%s: out of memory while reading it", r->path);
    }
    return memory;
}

static jnResult TakeNodes(Reader* r, jnaScene* scene)
{
    scene->nodeCount = TakeCount(r, 64);
    scene->nodes = Allocate(r, scene->nodeCount, sizeof(*scene->nodes));
    if (scene->nodes == NULL) {
        return jn_outOfMemory;
    }
    for (int i = 0; i < scene->nodeCount; ++i) {
        jnaSceneNode* node = &scene->nodes[i];
        node->name = TakeText(r);
        node->parent = (int)TakeInteger(r, i == 0 ? -1 : 0, i - 1);
        JN_PASS(TakeMatrix(r, "transform", node->name, &node->local));
    }
    return scene->nodeCount == 0 ? Broken(r) : jn_ok;
}

static jnResult TakeBone(Reader* r, const jnaScene* scene, const jnaSceneMesh* mesh, jnaSceneBone* bone)
{
    const char* name = TakeText(r);
    bone->name = name;
    bone->node = (int)TakeInteger(r, -2, scene->nodeCount - 1);
    if (!r->broken && bone->node < 0) {
        return jnFail(r->error, jn_badData, "%s: mesh '%s' hangs on a joint '%s' that %s", r->path, mesh->name, name,
            bone->node == -1 ? "is not in the hierarchy" : "is several nodes of the same name; rename them");
    }
    JN_PASS(TakeMatrix(r, "bind matrix", name, &bone->offset));
    bone->weightCount = TakeCount(r, 8);
    bone->vertices = Take(r, (size_t)bone->weightCount, sizeof(uint32_t));
    bone->weights = Take(r, (size_t)bone->weightCount, sizeof(float));
    if (r->broken) {
        return Broken(r);
    }
    for (int w = 0; w < bone->weightCount; ++w) {
        if (bone->vertices[w] >= (uint32_t)mesh->vertexCount) {
            return jnFail(r->error, jn_badData, "%s: joint '%s' moves vertex %u of mesh '%s', which has %d", r->path,
                name, bone->vertices[w], mesh->name, mesh->vertexCount);
        }
        if (!isfinite(bone->weights[w])) {
            return jnFail(r->error, jn_badData, "%s: joint '%s' has a weight on mesh '%s' that is not finite", r->path,
                name, mesh->name);
        }
    }
    return jn_ok;
}

static jnResult TakeTargets(Reader* r, jnaSceneMesh* mesh)
{
    mesh->targetCount = TakeCount(r, 24);
    mesh->targets = Allocate(r, mesh->targetCount, sizeof(*mesh->targets));
    if (mesh->targets == NULL) {
        return jn_outOfMemory;
    }
    for (int i = 0; i < mesh->targetCount; ++i) {
        jnaSceneTarget* target = &mesh->targets[i];
        target->name = TakeText(r);
        double weight = TakeNumber(r);
        target->weight = fabs(weight) < 1e6 ? (float)weight : 0;
        target->offsets = Take(r, (size_t)mesh->vertexCount, 3 * sizeof(float));
        if (r->broken) {
            return Broken(r);
        }
        if (!AllFinite(target->offsets, 3 * (size_t)mesh->vertexCount)) {
            return jnFail(r->error, jn_badData, "%s: mesh '%s': its morph target '%s' is not made of finite numbers",
                r->path, mesh->name, target->name);
        }
    }
    return jn_ok;
}

static jnResult TakeSurface(Reader* r, jnaSceneMesh* mesh)
{
    mesh->vertexCount = TakeCount(r, 12);
    bool hasNormals = TakeInteger(r, 0, 1) != 0;
    bool hasUvs = TakeInteger(r, 0, 1) != 0;
    mesh->positions = Take(r, (size_t)mesh->vertexCount, 3 * sizeof(float));
    mesh->normals = hasNormals ? Take(r, (size_t)mesh->vertexCount, 3 * sizeof(float)) : NULL;
    mesh->uvs = hasUvs ? Take(r, (size_t)mesh->vertexCount, 2 * sizeof(float)) : NULL;
    mesh->attributeCount = TakeCount(r, 16);
    mesh->attributes = Allocate(r, mesh->attributeCount, sizeof(*mesh->attributes));
    if (mesh->attributes == NULL) {
        return jn_outOfMemory;
    }
    for (int i = 0; i < mesh->attributeCount; ++i) {
        jnaSceneAttribute* attribute = &mesh->attributes[i];
        attribute->name = TakeText(r);
        attribute->width = (int)TakeInteger(r, 1, 4);
        attribute->values = Take(r, (size_t)mesh->vertexCount, (size_t)attribute->width * sizeof(float));
    }
    JN_PASS(TakeTargets(r, mesh));
    mesh->triangleCount = TakeCount(r, 12);
    mesh->triangles = Take(r, (size_t)mesh->triangleCount, 3 * sizeof(uint32_t));
    if (r->broken) {
        return Broken(r);
    }
    for (int v = 0; v < mesh->vertexCount; ++v) {
        if (!AllFinite(mesh->positions + 3 * (size_t)v, 3)) {
            return jnFail(r->error, jn_badData, "%s: mesh '%s': the position of vertex %d is not a finite number",
                r->path, mesh->name, v);
        }
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i) {
        if (mesh->triangles[i] >= (uint32_t)mesh->vertexCount) {
            return jnFail(r->error, jn_badData, "%s: mesh '%s': a triangle names vertex %u of %d", r->path, mesh->name,
                mesh->triangles[i], mesh->vertexCount);
        }
    }
    return jn_ok;
}

static jnResult TakeMesh(Reader* r, const jnaScene* scene, jnaSceneMesh* mesh)
{
    mesh->name = TakeText(r);
    mesh->primitive = (int)TakeInteger(r, -1, INT32_MAX);
    mesh->material = TakeText(r);
    const float* color = Take(r, 4, sizeof(float));
    for (int i = 0; color != NULL && i < 4; ++i) {
        mesh->color[i] = isfinite(color[i]) ? fminf(fmaxf(color[i], 0), 1) : 1;
    }
    jnResult result = TakeSurface(r, mesh);
    if (result != jn_ok) {
        return result;
    }
    mesh->boneCount = TakeCount(r, 64);
    mesh->bones = Allocate(r, mesh->boneCount, sizeof(*mesh->bones));
    if (mesh->bones == NULL) {
        return jn_outOfMemory;
    }
    for (int b = 0; b < mesh->boneCount; ++b) {
        result = TakeBone(r, scene, mesh, &mesh->bones[b]);
        if (result != jn_ok) {
            return result;
        }
    }
    mesh->placeCount = TakeCount(r, sizeof(int32_t));
    mesh->places = Take(r, (size_t)mesh->placeCount, sizeof(int32_t));
    for (int i = 0; !r->broken && i < mesh->placeCount; ++i) {
        r->broken = mesh->places[i] < 0 || mesh->places[i] >= scene->nodeCount;
    }
    return r->broken ? Broken(r) : jn_ok;
}

static jnResult TakeKeys(Reader* r, const char* name, size_t width, jnaSceneKeys* keys)
{
    keys->count = TakeCount(r, sizeof(double) + width * sizeof(float));
    keys->interpolation = (jnaInterpolation)TakeInteger(r, jna_linearKeys, jna_cubicKeys);
    width *= keys->interpolation == jna_cubicKeys ? 3 : 1;
    keys->times = Take(r, (size_t)keys->count, sizeof(double));
    keys->values = Take(r, (size_t)keys->count * width, sizeof(float));
    if (r->broken) {
        return Broken(r);
    }
    for (int k = 0; k < keys->count; ++k) {
        if (!isfinite(keys->times[k]) || (k > 0 && keys->times[k] < keys->times[k - 1])) {
            return jnFail(r->error, jn_badData, "%s: animation '%s': the times of its keys do not rise", r->path, name);
        }
        if (!AllFinite(keys->values + width * (size_t)k, width)) {
            return jnFail(r->error, jn_badData, "%s: animation '%s': key %d is not a finite number", r->path, name, k);
        }
    }
    return jn_ok;
}

static jnResult TakeAnimation(Reader* r, const jnaScene* scene, jnaSceneAnimation* animation)
{
    animation->name = TakeText(r);
    animation->ticksPerSecond = TakeNumber(r);
    int count = TakeCount(r, 32);
    animation->channels = Allocate(r, count, sizeof(*animation->channels));
    bool* seen = Allocate(r, scene->nodeCount, sizeof(*seen));
    jnResult result = jn_ok;
    JN_TRY(animation->channels != NULL && seen != NULL ? jn_ok : jn_outOfMemory);
    for (int c = 0; c < count; ++c) {
        jnaSceneChannel channel = {.node = (int)TakeInteger(r, -2, scene->nodeCount - 1)};
        JN_TRY(TakeKeys(r, animation->name, 3, &channel.translation));
        JN_TRY(TakeKeys(r, animation->name, 4, &channel.rotation));
        JN_TRY(TakeKeys(r, animation->name, 3, &channel.scale));
        channel.weightCount = (int)TakeInteger(r, 0, 1 << 16);
        JN_TRY(TakeKeys(r, animation->name, (size_t)channel.weightCount, &channel.weights));
        // A channel of nothing, or a second one of the same node, moves nothing.
        if (channel.node >= 0 && !seen[channel.node]) {
            seen[channel.node] = true;
            animation->channels[animation->channelCount++] = channel;
        }
    }
    if (!isfinite(animation->ticksPerSecond) || animation->ticksPerSecond < 0) {
        result = jnFail(r->error, jn_badData, "%s: animation '%s' has no sound rate", r->path, animation->name);
    }
done:
    free(seen);
    return result;
}

static jnResult TakeScene(Reader* r, jnaScene* scene)
{
    if (TakeInteger(r, JNA_SCENE_MAGIC, JNA_SCENE_MAGIC) != JNA_SCENE_MAGIC || r->broken) {
        return Broken(r);
    }
    if (TakeInteger(r, 0, 1) == 0) {
        const char* sentence = TakeText(r);
        if (r->broken) {
            return Broken(r);
        }
        return jnFail(r->error, jn_badData, "%s", sentence);
    }
    scene->metresPerUnit = TakeNumber(r);
    if (!isfinite(scene->metresPerUnit) || scene->metresPerUnit < 0) {
        scene->metresPerUnit = 0;
    }
    scene->upAxis = (int)TakeInteger(r, 0, 2);
    jnResult result = TakeNodes(r, scene);
    scene->meshCount = TakeCount(r, 64);
    scene->meshes = Allocate(r, scene->meshCount, sizeof(*scene->meshes));
    if (scene->meshes == NULL) {
        return jn_outOfMemory;
    }
    for (int m = 0; m < scene->meshCount && result == jn_ok; ++m) {
        result = TakeMesh(r, scene, &scene->meshes[m]);
    }
    scene->animationCount = result == jn_ok ? TakeCount(r, 24) : 0;
    scene->animations = Allocate(r, scene->animationCount, sizeof(*scene->animations));
    if (scene->animations == NULL) {
        return jn_outOfMemory;
    }
    for (int a = 0; a < scene->animationCount && result == jn_ok; ++a) {
        result = TakeAnimation(r, scene, &scene->animations[a]);
    }
    scene->noteCount = result == jn_ok ? TakeCount(r, 8) : 0;
    scene->notes = Allocate(r, scene->noteCount, sizeof(*scene->notes));
    if (scene->notes == NULL) {
        return jn_outOfMemory;
    }
    for (int n = 0; n < scene->noteCount; ++n) {
        scene->notes[n] = TakeText(r);
    }
    return result == jn_ok && (r->broken || r->left != 0) ? Broken(r) : result;
}

jnResult jnaParseScene(const char* path, void* stream, size_t size, jnaScene* scene, jnError* error)
{
    *scene = (jnaScene){.stream = stream};
    Reader reader = {path, stream, size, false, error};
    jnResult result = TakeScene(&reader, scene);
    if (result != jn_ok) {
        jnaDestroyScene(scene);
    }
    return result;
}

void jnaDestroyScene(jnaScene* scene)
{
    for (int m = 0; scene->meshes != NULL && m < scene->meshCount; ++m) {
        free(scene->meshes[m].attributes);
        free(scene->meshes[m].targets);
        free(scene->meshes[m].bones);
    }
    for (int a = 0; scene->animations != NULL && a < scene->animationCount; ++a) {
        free(scene->animations[a].channels);
    }
    free(scene->nodes);
    free(scene->meshes);
    free(scene->animations);
    free((void*)scene->notes);
    free(scene->stream);
    *scene = (jnaScene){0};
}
