// See gltf_source.h. The file is imported a second time for the places that the import chose; what it reads is the
// same.
#include "character/gltf_source.h"

#include "base/try.h"
#include "character/gltf_pack.h"
#include "character/import_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>

bool jnaIsGltf(const char* path)
{
    return jnaHasEnding(path, ".glb") || jnaHasEnding(path, ".gltf") || jnaHasEnding(path, ".vrm");
}

void jnaDestroyGltfSource(jnaGltfSource* s)
{
    free(s->text);
    free(s->binary);
    free(s->parts);
    free(s->joints);
    free(s->animations);
    *s = (jnaGltfSource){0};
}

static jnResult OutOfMemory(const char* path, jnError* error)
{
    return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
}

// M maps the mesh to the rest surface in file units; p = s M v.
static jnResult TakeParts(const char* path, const jnaPlacement* placement, jnaGltfSource* s, jnError* error)
{
    s->fileVertexCount = placement->fileVertexCount;
    s->parts = calloc((size_t)placement->count + 1, sizeof(*s->parts));
    if (s->parts == NULL) {
        return OutOfMemory(path, error);
    }
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        jnaGltfPart* part = &s->parts[s->partCount++];
        *part = (jnaGltfPart){.primitive = placed->mesh->primitive,
            .firstVertex = placed->firstVertex,
            .vertexCount = placed->mesh->vertexCount};
        jnaAffine place = placed->place;
        for (int i = 0; i < 12; ++i) {
            place.m[i] *= s->metresPerUnit;
        }
        if (placed->mesh->primitive < 0) {
            return jnFail(error, jn_badData,
                "%s: the vertices of mesh '%s' are not read as they stand in the file; nothing can be added to them",
                path, placed->mesh->name);
        }
        if (!jnaAffine_Invert(&place, &part->toMesh)) {
            return jnFail(error, jn_badData, "%s: mesh '%s' is flattened by its place", path, placed->mesh->name);
        }
        for (int other = 0; other < m; ++other) {
            if (s->parts[other].primitive == part->primitive) {
                s->parts[other].shared = part->shared = true;
            }
        }
    }
    return jn_ok;
}

static jnResult TakeJoints(const char* path, const jnaScene* scene, const jnaRig* rig, jnaGltfSource* s, jnError* error)
{
    s->joints = calloc((size_t)rig->jointCount + 1, sizeof(*s->joints));
    if (s->joints == NULL) {
        return OutOfMemory(path, error);
    }
    s->jointCount = rig->jointCount;
    for (int j = 0; j < rig->jointCount; ++j) {
        const jnaRigJoint* from = &rig->joints[j];
        jnaGltfJoint* to = &s->joints[j];
        int up = scene->nodes[from->node].parent;
        to->isRoot = from->parent < 0;
        to->unit = from->stretch * s->metresPerUnit;
        to->above = up >= 0 ? rig->above[up] : jnaUpright(scene->upAxis);
        snprintf(to->name, sizeof(to->name), "%s", from->twin ? "" : scene->nodes[from->node].name);
    }
    return jn_ok;
}

static double FirstKey(const jnaSceneAnimation* animation)
{
    double first = HUGE_VAL;
    for (int c = 0; c < animation->channelCount; ++c) {
        const jnaSceneChannel* channel = &animation->channels[c];
        const jnaSceneKeys* keys[4] = {&channel->translation, &channel->rotation, &channel->scale, &channel->weights};
        for (int k = 0; k < 4; ++k) {
            first = keys[k]->count > 0 ? fmin(first, keys[k]->times[0]) : first;
        }
    }
    return isfinite(first) ? first / (animation->ticksPerSecond > 0 ? animation->ticksPerSecond : 25) : 0;
}

// Sampled coarsely: their names are what is wanted, and whether they are clips at all.
static jnResult TakeAnimations(
    const char* path, const jnaScene* scene, const jnaRig* rig, jnaGltfSource* s, jnError* error)
{
    jnaClipList clips = {0};
    jnaSampling sampling = {.scene = scene, .rig = rig, .scale = s->metresPerUnit, .rate = 1};
    jnResult result = jn_ok;
    JN_TRY(jnaSampleAnimations(path, &sampling, &clips, error));
    s->animations = calloc((size_t)clips.count + 1, sizeof(*s->animations));
    JN_TRY(s->animations != NULL ? jn_ok : OutOfMemory(path, error));
    for (int a = 0; a < scene->animationCount && s->animationCount < clips.count; ++a) {
        jnaScene alone = *scene;
        jnaClipList one = {0};
        alone.animations = scene->animations + a;
        alone.animationCount = 1;
        sampling.scene = &alone;
        JN_TRY(jnaSampleAnimations(path, &sampling, &one, error));
        if (one.count == 1) {
            jnaGltfAnimation* to = &s->animations[s->animationCount];
            memcpy(to->name, clips.clips[s->animationCount++].name, sizeof(to->name));
            to->index = a;
            to->first = FirstKey(&scene->animations[a]);
        }
        jnaDestroyClipList(&one);
    }
done:
    jnaDestroyClipList(&clips);
    return result;
}

jnResult jnaReadGltfDocument(const char* path, jnaGltfSource* s, jnError* error)
{
    char* output = NULL;
    size_t size = 0;
    jnResult result = jn_ok;
    jnaPackedHead head;
    JN_TRY(jnaReadInChild(&(jnaReadingDef){.path = path, .write = jnaWritePackedGltf}, &output, &size, error));
    if (output == NULL || size < sizeof(head)) {
        JN_TRY(jnFail(error, jn_badData, "%s: the process that reads it sent nothing", path));
    }
    memcpy(&head, output, sizeof(head));
    size -= sizeof(head);
    if (head.textSize > size || head.binarySize != size - head.textSize) {
        JN_TRY(jnFail(error, jn_badData, "%s: the process that reads it sent something else than a document", path));
    }
    if (head.good != 1) {
        JN_TRY(
            jnFail(error, jn_badData, "%.*s", (int)(head.textSize < 400 ? head.textSize : 400), output + sizeof(head)));
    }
    s->text = malloc(head.textSize + 1);
    s->binary = malloc(head.binarySize + 1);
    JN_TRY(s->text != NULL && s->binary != NULL ? jn_ok : OutOfMemory(path, error));
    s->textSize = head.textSize;
    s->binarySize = head.binarySize;
    memcpy(s->text, output + sizeof(head), head.textSize);
    memcpy(s->binary, output + sizeof(head) + head.textSize, head.binarySize);
done:
    free(output);
    return result;
}

jnResult jnaReadGltfSource(const char* path, const jnaImportDef* def, jnaGltfSource* s, jnError* error)
{
    *s = (jnaGltfSource){.metresPerUnit = def->scale};
    jnaScene scene = {0};
    jnaRig rig = {0};
    jnaPlacement placement = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaReadScene(path, &(jnaSceneLimits){0}, &scene, error));
    JN_TRY(jnaChooseCharacter(path, &scene, def->character, NULL, error));
    JN_TRY(jnaSettleUpAxis(path, &scene, def->up, NULL, &rig, NULL, error));
    JN_TRY(jnaPlaceMeshes(path, &scene, &rig, &placement, NULL, error));
    JN_TRY(TakeParts(path, &placement, s, error));
    JN_TRY(TakeJoints(path, &scene, &rig, s, error));
    JN_TRY(TakeAnimations(path, &scene, &rig, s, error));
    JN_TRY(jnaReadGltfDocument(path, s, error));
done:
    if (result != jn_ok) {
        jnaDestroyGltfSource(s);
    }
    jnaDestroyPlacement(&placement);
    jnaDestroyRig(&rig);
    jnaDestroyScene(&scene);
    return result;
}

void jnaGltfJoint_ToNode(const jnaGltfJoint* joint, double translation[3], double rotation[4])
{
    if (!joint->isRoot) {
        for (int i = 0; i < 3; ++i) {
            translation[i] /= joint->unit;
        }
        return;
    }
    jnaAffine inverse;
    double t[3], q[4], s[3];
    jnaAffine_ToTrs(&joint->above, t, q, s);
    double back[4] = {-q[0], -q[1], -q[2], q[3]};
    double metres = joint->unit / ((s[0] + s[1] + s[2]) / 3);
    for (int i = 0; i < 3; ++i) {
        translation[i] /= metres;
    }
    if (jnaAffine_Invert(&joint->above, &inverse)) {
        jnaAffine_Apply(&inverse, translation, translation);
    }
    jnaQuat_Multiply(back, rotation, rotation);
    jnaQuat_Normalize(rotation);
}
