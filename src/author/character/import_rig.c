// From a scene's nodes to a character's joints, and all meshes into one rest space.
//
// Joints are the bones, the nodes between them, and those nodes above the skeleton that cannot be folded into
// its root: animated ones and ones that shear. A folded node is a similarity; its scale a is taken out of the
// joint matrices, so that a rig under a node of scale 0.01 still has joints of scale 1:
//
//   G = (linear(N)/a, s translation(N)),  B = (a linear(b), a s translation(b)),  p = s M v,  G B p = s N b M
//   v
//
// with N the node's world matrix, s metres per unit, M the mesh's place and b = offset M^-1. M is chosen once
// per mesh from its heaviest bone; where a second skin binds a joint otherwise, the joint gets a twin with
// that bind matrix.
#include "base/arena.h"
#include "character/import_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>

// Channels that repeat the rest pose are common (Blender writes them for every object) and move nothing.
static bool KeysMove(const jnaSceneKeys* keys, const double* rest, int width)
{
    // Between cubic keys a slope moves, too.
    bool cubic = keys->interpolation == jna_cubicKeys;
    for (int k = 0; k < keys->count; ++k) {
        const float* value = keys->values + (size_t)width * (size_t)(cubic ? 3 * k + 1 : k);
        for (int i = 0; cubic && i < width; ++i) {
            if (value[i - width] != 0 || value[i + width] != 0) {
                return true;
            }
        }
        double same = 0, opposite = 0, size = 1;
        for (int i = 0; i < width; ++i) {
            same = fmax(same, fabs((double)value[i] - rest[i]));
            opposite = fmax(opposite, fabs((double)value[i] + rest[i]));
            size = fmax(size, fabs(rest[i]));
        }
        if ((width == 4 ? fmin(same, opposite) : same) > 1e-4 * size) {
            return true;
        }
    }
    return false;
}

static void FindMoving(const jnaScene* scene, bool* moving)
{
    for (int a = 0; a < scene->animationCount; ++a) {
        for (int c = 0; c < scene->animations[a].channelCount; ++c) {
            const jnaSceneChannel* channel = &scene->animations[a].channels[c];
            double t[3], q[4], s[3];
            jnaAffine_ToTrs(&scene->nodes[channel->node].local, t, q, s);
            moving[channel->node] = moving[channel->node] || KeysMove(&channel->translation, t, 3) ||
                                    KeysMove(&channel->rotation, q, 4) || KeysMove(&channel->scale, s, 3);
        }
    }
}

static bool IsSimilarity(const jnaAffine* a)
{
    double t[3], q[4], s[3];
    double shear = jnaAffine_ToTrs(a, t, q, s);
    return shear < 1e-5 && s[0] > 0 && fabs(s[0] - s[1]) <= 1e-4 * s[0] && fabs(s[0] - s[2]) <= 1e-4 * s[0];
}

jnaAffine jnaUpright(int upAxis)
{
    switch (upAxis) {
    case 0:
        return (jnaAffine){{0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0}};
    case 2:
        return (jnaAffine){{1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0}};
    default:
        return jnaAffine_Identity();
    }
}

static int AppendJoint(jnaRig* rig, const jnaRigJoint* joint)
{
    if (!jnaReserve(&rig->joints, &rig->jointCapacity, rig->jointCount + 1, sizeof(*rig->joints))) {
        return -1;
    }
    rig->joints[rig->jointCount] = *joint;
    return rig->jointCount++;
}

// Makes joints of a node and of the nodes above it that are not folded, the topmost first.
static bool EmitJoint(const jnaScene* scene, jnaRig* rig, int node)
{
    while (rig->jointOfNode[node] < 0) {
        int top = node;
        for (int up = scene->nodes[top].parent; up >= 0 && !rig->folded[up] && rig->jointOfNode[up] < 0;) {
            top = up;
            up = scene->nodes[top].parent;
        }
        int up = scene->nodes[top].parent;
        int parent = up >= 0 && !rig->folded[up] ? rig->jointOfNode[up] : -1;
        jnaRigJoint joint = {.node = top, .parent = parent, .stretch = 1};
        if (parent >= 0) {
            joint.stretch = rig->joints[parent].stretch;
        } else {
            double t[3], q[4], s[3];
            jnaAffine above = up >= 0 ? rig->above[up] : jnaUpright(scene->upAxis);
            jnaAffine_ToTrs(&above, t, q, s);
            joint.stretch = (s[0] + s[1] + s[2]) / 3;
        }
        int index = AppendJoint(rig, &joint);
        if (index < 0) {
            return false;
        }
        rig->jointOfNode[top] = index;
    }
    return true;
}

static void FoldNodes(const jnaScene* scene, const bool* stays, jnaRig* rig)
{
    for (int i = 0; i < scene->nodeCount; ++i) {
        const jnaSceneNode* node = &scene->nodes[i];
        jnaAffine up = node->parent >= 0 ? rig->above[node->parent] : jnaUpright(scene->upAxis);
        jnaAffine world = node->parent >= 0 ? rig->restWorld[node->parent] : up;
        rig->restWorld[i] = jnaAffine_Multiply(&world, &node->local);
        rig->above[i] = jnaAffine_Multiply(&up, &node->local);
        rig->folded[i] = !stays[i] && (node->parent < 0 || rig->folded[node->parent]) && IsSimilarity(&node->local);
    }
}

jnResult jnaCreateRig(const char* path, const jnaScene* scene, const bool* wanted, jnaRig* rig, jnError* error)
{
    size_t count = (size_t)scene->nodeCount;
    *rig = (jnaRig){0};
    bool* stays = calloc(count, sizeof(*stays));
    rig->jointOfNode = malloc(count * sizeof(*rig->jointOfNode));
    rig->above = malloc(count * sizeof(*rig->above));
    rig->folded = malloc(count * sizeof(*rig->folded));
    rig->restWorld = malloc(count * sizeof(*rig->restWorld));
    bool good = stays != NULL && rig->jointOfNode != NULL && rig->above != NULL && rig->folded != NULL &&
                rig->restWorld != NULL;
    if (good) {
        FindMoving(scene, stays);
        for (size_t i = 0; i < count; ++i) {
            rig->jointOfNode[i] = -1;
            stays[i] = stays[i] || (wanted != NULL && wanted[i]);
        }
        for (int m = 0; m < scene->meshCount; ++m) {
            for (int b = 0; b < scene->meshes[m].boneCount; ++b) {
                stays[scene->meshes[m].bones[b].node] = true;
            }
        }
        FoldNodes(scene, stays, rig);
    }
    // In the order of the skin's own list, as far as parents come first.
    for (int m = 0; good && m < scene->meshCount; ++m) {
        for (int b = 0; good && b < scene->meshes[m].boneCount; ++b) {
            good = EmitJoint(scene, rig, scene->meshes[m].bones[b].node);
        }
    }
    for (int i = 0; good && wanted != NULL && i < scene->nodeCount; ++i) {
        good = !wanted[i] || EmitJoint(scene, rig, i);
    }
    free(stays);
    if (!good) {
        jnaDestroyRig(rig);
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    return jn_ok;
}

void jnaDestroyRig(jnaRig* rig)
{
    free(rig->joints);
    free(rig->jointOfNode);
    free(rig->above);
    free(rig->folded);
    free(rig->restWorld);
    *rig = (jnaRig){0};
}

static bool SameMatrix(const jnaAffine* a, const jnaAffine* b)
{
    for (int i = 0; i < 3; ++i) {
        double size = 0;
        for (int k = 0; k < 4; ++k) {
            size = fmax(size, fmax(fabs(a->m[4 * i + k]), fabs(b->m[4 * i + k])));
        }
        for (int k = 0; k < 4; ++k) {
            // Bind matrices are floats that exporters computed in their own way.
            if (fabs(a->m[4 * i + k] - b->m[4 * i + k]) > 1e-5 * size + 1e-9) {
                return false;
            }
        }
    }
    return true;
}

// A joint that moves as `joint` but has this inverse bind matrix: itself, or a twin. -1 when memory is
// short.
static int Bind(jnaRig* rig, int joint, const jnaAffine* inverseBind)
{
    if (!rig->joints[joint].bound) {
        rig->joints[joint].bound = true;
        rig->joints[joint].inverseBind = *inverseBind;
        return joint;
    }
    if (SameMatrix(&rig->joints[joint].inverseBind, inverseBind)) {
        return joint;
    }
    for (int j = 0; j < rig->jointCount; ++j) {
        const jnaRigJoint* other = &rig->joints[j];
        if (other->twin && other->parent == joint && SameMatrix(&other->inverseBind, inverseBind)) {
            return j;
        }
    }
    jnaRigJoint twin = rig->joints[joint];
    twin.parent = joint;
    twin.twin = true;
    twin.inverseBind = *inverseBind;
    return AppendJoint(rig, &twin);
}

jnaTrs jnaRig_Local(const jnaRig* rig, const jnaScene* scene, int joint, const jnaTrs* node, double scale)
{
    const jnaRigJoint* j = &rig->joints[joint];
    if (j->twin) {
        return (jnaTrs){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    }
    jnaTrs local = *node;
    for (int i = 0; i < 3; ++i) {
        local.translation[i] = node->translation[i] * j->stretch * scale;
    }
    if (j->parent < 0) {
        int up = scene->nodes[j->node].parent;
        jnaAffine above = up >= 0 ? rig->above[up] : jnaUpright(scene->upAxis);
        double aboveT[3], aboveQ[4], aboveS[3];
        jnaAffine_ToTrs(&above, aboveT, aboveQ, aboveS);
        jnaAffine_Apply(&above, node->translation, local.translation);
        for (int i = 0; i < 3; ++i) {
            local.translation[i] *= scale;
        }
        jnaQuat_Multiply(aboveQ, node->rotation, local.rotation);
    }
    jnaQuat_Normalize(local.rotation);
    return local;
}

static double BoneWeight(const jnaSceneBone* bone)
{
    double sum = 0;
    for (int w = 0; w < bone->weightCount; ++w) {
        sum += fmax((double)bone->weights[w], 0);
    }
    return sum;
}

// The bone that decides where a mesh stands: the heaviest that another mesh has bound already, else the
// heaviest.
static int ChooseBone(const jnaRig* rig, const jnaSceneMesh* mesh, jnaAffine* place)
{
    int best = -1;
    double bestScore = -1;
    for (int b = 0; b < mesh->boneCount; ++b) {
        const jnaSceneBone* bone = &mesh->bones[b];
        const jnaRigJoint* joint = &rig->joints[rig->jointOfNode[bone->node]];
        double score = BoneWeight(bone) + (joint->bound ? 1e12 : 0);
        jnaAffine world = rig->restWorld[bone->node], unused;
        if (joint->bound && !jnaAffine_Invert(&joint->inverseBind, &world)) {
            continue;
        }
        jnaAffine candidate = jnaAffine_Multiply(&world, &bone->offset);
        if (score > bestScore && jnaAffine_Invert(&candidate, &unused)) {
            best = b;
            bestScore = score;
            *place = candidate;
        }
    }
    return best;
}

static jnaPlacedMesh* AppendMesh(jnaPlacement* placement, const jnaSceneMesh* mesh)
{
    if (!jnaReserve(&placement->meshes, &placement->capacity, placement->count + 1, sizeof(*placement->meshes))) {
        return NULL;
    }
    jnaPlacedMesh* placed = &placement->meshes[placement->count++];
    *placed = (jnaPlacedMesh){.mesh = mesh, .firstVertex = placement->fileVertexCount};
    placement->fileVertexCount += mesh->vertexCount;
    placement->triangleCount += mesh->triangleCount;
    return placed;
}

static jnResult PlaceSkinned(
    const char* path, jnaRig* rig, const jnaSceneMesh* mesh, jnaPlacement* placement, jnError* error)
{
    jnaAffine place, inverse;
    int chosen = ChooseBone(rig, mesh, &place);
    if (chosen < 0 || !jnaAffine_Invert(&place, &inverse)) {
        return jnFail(error, jn_badData, "%s: mesh '%s': no joint of its skin has a bind matrix that can be inverted",
            path, mesh->name);
    }
    jnaPlacedMesh* placed = AppendMesh(placement, mesh);
    if (placed == NULL || !jnaResize(&placed->boneJoints, mesh->boneCount, sizeof(int))) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    }
    placed->place = place;
    for (int b = 0; b < mesh->boneCount; ++b) {
        jnaAffine bind = jnaAffine_Multiply(&mesh->bones[b].offset, &inverse);
        placed->boneJoints[b] = Bind(rig, rig->jointOfNode[mesh->bones[b].node], &bind);
        if (placed->boneJoints[b] < 0) {
            return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        }
    }
    placed->fallback = placed->boneJoints[chosen];
    return jn_ok;
}

// A mesh without a skin that hangs on a joint, as eyes and hats do, moves rigidly with it.
static jnResult PlaceRigid(const char* path, const jnaScene* scene, jnaRig* rig, const jnaSceneMesh* mesh,
    jnaPlacement* placement, jnaNotes* notes, jnError* error)
{
    for (int i = 0; i < mesh->placeCount; ++i) {
        int node = mesh->places[i];
        while (node >= 0 && rig->jointOfNode[node] < 0) {
            node = scene->nodes[node].parent;
        }
        jnaAffine bind, unused;
        if (node < 0 || !jnaAffine_Invert(&rig->restWorld[node], &bind) ||
            !jnaAffine_Invert(&rig->restWorld[mesh->places[i]], &unused)) {
            jnaNotes_Add(notes, "mesh '%s' has no skin and no parent joint: left out", mesh->name);
            continue;
        }
        jnaPlacedMesh* placed = AppendMesh(placement, mesh);
        int joint = Bind(rig, rig->jointOfNode[node], &bind);
        if (placed == NULL || joint < 0) {
            return jnFail(error, jn_outOfMemory, "%s: out of memory", path);
        }
        placed->place = rig->restWorld[mesh->places[i]];
        placed->fallback = joint;
    }
    return jn_ok;
}

jnResult jnaPlaceMeshes(
    const char* path, const jnaScene* scene, jnaRig* rig, jnaPlacement* placement, jnaNotes* notes, jnError* error)
{
    *placement = (jnaPlacement){0};
    jnResult result = jn_ok;
    int64_t vertices = 0, triangles = 0;
    for (int m = 0; m < scene->meshCount; ++m) {
        int64_t copies = scene->meshes[m].boneCount > 0 ? 1 : scene->meshes[m].placeCount;
        vertices += copies * scene->meshes[m].vertexCount;
        triangles += copies * scene->meshes[m].triangleCount;
    }
    if (vertices > INT32_MAX / 16 || triangles > INT32_MAX / 16) {
        return jnFail(error, jn_badData, "%s: has %lld vertices, more than can be taken", path, (long long)vertices);
    }
    for (int m = 0; m < scene->meshCount && result == jn_ok; ++m) {
        const jnaSceneMesh* mesh = &scene->meshes[m];
        if (mesh->triangleCount == 0) {
            jnaNotes_Add(notes, "mesh '%s' has no triangles: left out", mesh->name);
        } else if (mesh->boneCount > 0) {
            result = PlaceSkinned(path, rig, mesh, placement, error);
        } else {
            result = PlaceRigid(path, scene, rig, mesh, placement, notes, error);
        }
    }
    // Joints that no mesh hangs on are bound where they stand at rest.
    for (int j = 0; j < rig->jointCount && result == jn_ok; ++j) {
        jnaRigJoint* joint = &rig->joints[j];
        if (!joint->bound && !jnaAffine_Invert(&rig->restWorld[joint->node], &joint->inverseBind)) {
            joint->inverseBind = jnaAffine_Identity();
        }
        joint->bound = true;
    }
    if (result != jn_ok) {
        jnaDestroyPlacement(placement);
    }
    return result;
}

void jnaDestroyPlacement(jnaPlacement* placement)
{
    for (int m = 0; m < placement->count; ++m) {
        free(placement->meshes[m].boneJoints);
    }
    free(placement->meshes);
    *placement = (jnaPlacement){0};
}
