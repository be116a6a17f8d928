// See outfit.h. A vertex at x of the file, which its joints bind by B_j, stands on the character's rest surface at
//     x' = sum of w_j C_j^-1 B_j x
// with the character's own bind matrices C_j: where both files have the same rest pose that is x.
#include "character/outfit.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "character/follow.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fitting {
    const char* path;
    jnaCharacter own;  // of the file
    int* joints;       // [own.jointCount], joint of the character; -1: none
    jnaAffine* places; // [own.jointCount], from the file's rest surface to the character's
    int unbound;       // vertices that took the flesh's weights
} Fitting;

static jnaAffine Matrix(const float* rows)
{
    jnaAffine m;
    for (int i = 0; i < 12; ++i) {
        m.m[i] = (double)rows[i];
    }
    return m;
}

// Joints by name; one that the character does not have goes with the nearest above it that it has.
static void MatchJoints(const jnaCharacter* c, Fitting* f)
{
    for (int j = 0; j < f->own.jointCount; ++j) {
        const jnaJoint* joint = &f->own.joints[j];
        f->joints[j] = joint->parent >= 0 ? f->joints[joint->parent] : -1;
        f->places[j] = joint->parent >= 0 ? f->places[joint->parent] : jnaAffine_Identity();
        for (int k = 0; k < c->jointCount; ++k) {
            jnaAffine bind = Matrix(c->joints[k].inverseBind), own = Matrix(joint->inverseBind), inverse;
            if (strcmp(c->joints[k].name, joint->name) == 0 && jnaAffine_Invert(&bind, &inverse)) {
                f->joints[j] = k;
                f->places[j] = jnaAffine_Multiply(&inverse, &own);
                break;
            }
        }
    }
}

// Weights of the nearest flesh.
static void TakeWeights(const jnaCharacter* c, const jnaHold* hold, jnaInfluences* in)
{
    double sums[3 * JNA_MAX_INFLUENCES] = {0}, all = 0;
    uint16_t joints[3 * JNA_MAX_INFLUENCES];
    int count = 0;
    for (int i = 0; i < 3 * JNA_MAX_INFLUENCES; ++i) {
        const jnaInfluences* from = &c->influences[hold->corners[i / JNA_MAX_INFLUENCES]];
        int k = 0;
        while (k < count && joints[k] != from->joints[i % JNA_MAX_INFLUENCES]) {
            ++k;
        }
        joints[k] = from->joints[i % JNA_MAX_INFLUENCES];
        sums[k] += (double)hold->weights[i / JNA_MAX_INFLUENCES] * (double)from->weights[i % JNA_MAX_INFLUENCES];
        count += k == count;
    }
    *in = (jnaInfluences){0};
    for (int n = 0; n < JNA_MAX_INFLUENCES; ++n) {
        int best = 0;
        for (int k = 1; k < count; ++k) {
            best = sums[k] > sums[best] ? k : best;
        }
        in->joints[n] = sums[best] > 0 ? joints[best] : 0;
        in->weights[n] = (float)sums[best];
        all += sums[best];
        sums[best] = 0;
    }
    for (int n = 0; n < JNA_MAX_INFLUENCES; ++n) {
        in->weights[n] = (float)((double)in->weights[n] / fmax(all, 1e-30));
    }
}

// The joints of the character instead of the file's, each once. False where it has none of them.
static bool Translate(const Fitting* f, jnaInfluences* in)
{
    jnaInfluences to = {0};
    double sum = 0;
    int count = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        int joint = in->weights[i] > 0 ? f->joints[in->joints[i]] : -1, k = 0;
        while (k < count && to.joints[k] != joint) {
            ++k;
        }
        if (joint >= 0) {
            to.joints[k] = (uint16_t)joint;
            to.weights[k] += in->weights[i];
            sum += (double)in->weights[i];
            count += k == count;
        }
    }
    for (int i = 1; i < count; ++i) { // largest first
        for (int k = i; k > 0 && to.weights[k] > to.weights[k - 1]; --k) {
            float weight = to.weights[k];
            uint16_t joint = to.joints[k];
            to.weights[k] = to.weights[k - 1];
            to.joints[k] = to.joints[k - 1];
            to.weights[k - 1] = weight;
            to.joints[k - 1] = joint;
        }
    }
    for (int i = 0; i < count; ++i) {
        to.weights[i] = (float)((double)to.weights[i] / sum);
    }
    *in = count > 0 ? to : *in;
    return count > 0;
}

static void Place(const Fitting* f, const jnaInfluences* in, float* position)
{
    double at[3] = {(double)position[0], (double)position[1], (double)position[2]}, sum[3] = {0}, all = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        double moved[3], weight = f->joints[in->joints[i]] >= 0 ? (double)in->weights[i] : 0;
        jnaAffine_Apply(&f->places[in->joints[i]], at, moved);
        for (int k = 0; k < 3; ++k) {
            sum[k] += weight * moved[k];
        }
        all += weight;
    }
    for (int k = 0; k < 3 && all > 0; ++k) {
        position[k] = (float)(sum[k] / all);
    }
}

// Positions and influences of the file's vertices as they are on the character.
static jnResult Fit(const jnaCharacter* c, Fitting* f, jnError* error)
{
    jnaArena arena = {0};
    jnResult result = jn_ok;
    jnaCharacter* own = &f->own;
    f->joints = jnaArena_Take(&arena, own->jointCount, sizeof(*f->joints));
    f->places = jnaArena_Take(&arena, own->jointCount, sizeof(*f->places));
    jnaHold* holds = jnaArena_Take(&arena, own->vertexCount, sizeof(*holds));
    JN_TRY(jnaArena_Check(&arena, f->path, error));
    MatchJoints(c, f);
    for (int v = 0; v < own->vertexCount; ++v) {
        Place(f, &own->influences[v], own->positions + 3 * (size_t)v);
    }
    JN_TRY(jnaHoldPoints(c, own->vertexCount, own->positions, NULL, holds, error));
    for (int v = 0; v < own->vertexCount; ++v) {
        if (!Translate(f, &own->influences[v])) {
            TakeWeights(c, &holds[v], &own->influences[v]);
            f->unbound++;
        }
    }
done:
    jnaReleaseArena(&arena);
    return result;
}

// A list of [count] with `more` [moreCount] behind it, or zeroes; of `size` bytes each. list: the address of the
// pointer to it. What is there stays where memory is short.
static bool Append(void* list, size_t count, const void* more, size_t moreCount, size_t size)
{
    if (!jnaResize(list, (int64_t)(count + moreCount), size)) {
        return false;
    }
    char* joined;
    memcpy(&joined, list, sizeof(joined));
    if (more != NULL) {
        memcpy(joined + count * size, more, moreCount * size);
    } else {
        memset(joined + count * size, 0, moreCount * size);
    }
    return true;
}

static bool Join(jnaCharacter* c, const jnaCharacter* o)
{
    size_t files = (size_t)c->fileVertexCount, vertices = (size_t)c->vertexCount, triangles = (size_t)c->triangleCount;
    size_t moreFiles = (size_t)o->fileVertexCount, moreVertices = (size_t)o->vertexCount;
    bool good = Append(&c->positions, vertices, o->positions, moreVertices, 3 * sizeof(float)) &&
                Append(&c->influences, vertices, o->influences, moreVertices, sizeof(*c->influences)) &&
                Append(&c->weld, files, o->weld, moreFiles, sizeof(*c->weld)) &&
                Append(&c->fileNormals, files, o->fileNormals, moreFiles, 3 * sizeof(float)) &&
                Append(&c->triangles, triangles, o->triangles, (size_t)o->triangleCount, 3 * sizeof(int32_t)) &&
                Append(&c->parts, (size_t)c->partCount, o->parts, (size_t)o->partCount, sizeof(*c->parts));
    if (good && (c->fileUvs != NULL || o->fileUvs != NULL)) {
        good = (c->fileUvs != NULL || Append(&c->fileUvs, 0, NULL, files, 2 * sizeof(float))) &&
               Append(&c->fileUvs, files, o->fileUvs, moreFiles, 2 * sizeof(float));
    }
    for (int i = 0; good && i < c->attributeCount; ++i) {
        jnaAttribute* a = &c->attributes[i];
        good = Append(&a->values, vertices, NULL, moreVertices, (size_t)a->width * sizeof(float));
    }
    for (int i = 0; good && i < c->targetCount; ++i) {
        good = Append(&c->targets[i].offsets, vertices, NULL, moreVertices, 3 * sizeof(float));
    }
    for (size_t v = files; good && v < files + moreFiles; ++v) {
        c->weld[v] += c->vertexCount;
    }
    for (size_t i = 3 * triangles; good && i < 3 * (triangles + (size_t)o->triangleCount); ++i) {
        c->triangles[i] += c->fileVertexCount;
    }
    for (int p = c->partCount; good && p < c->partCount + o->partCount; ++p) {
        c->parts[p].firstTriangle += c->triangleCount;
    }
    if (good) {
        c->vertexCount += o->vertexCount;
        c->outfitCount += o->vertexCount;
        c->fileVertexCount += o->fileVertexCount;
        c->triangleCount += o->triangleCount;
        c->partCount += o->partCount;
    }
    return good;
}

static jnResult CheckRoles(const Fitting* f, jnError* error)
{
    for (int p = 0; p < f->own.partCount; ++p) {
        if (f->own.parts[p].role == jna_meshFlesh) {
            return jnFail(error, jn_badData, "%s: part '%s' cannot be flesh: flesh is of the character's own file",
                f->path, f->own.parts[p].name);
        }
    }
    return jn_ok;
}

jnResult jnaImportOutfit(
    const char* path, const jnaImportDef* def, jnaCharacter* outfit, jnaNotes* notes, jnError* error)
{
    jnaClipList clips = {0};
    jnaImportDef own = *def;
    own.loose = true;
    own.character = 0;
    jnResult result = jnaImportCharacter(path, &own, outfit, &clips, NULL, notes, error);
    jnaDestroyClipList(&clips);
    return result;
}

jnResult jnaAddOutfit(const char* path, const jnaImportDef* def, jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    Fitting f = {.path = path};
    jnResult result = jn_ok;
    JN_TRY(jnaImportOutfit(path, def, &f.own, notes, error));
    JN_TRY(CheckRoles(&f, error));
    JN_TRY(Fit(c, &f, error));
    if (!Join(c, &f.own)) {
        JN_TRY(jnFail(error, jn_outOfMemory, "%s: out of memory for %d vertices", path, f.own.vertexCount));
    }
    if (f.unbound > 0) {
        jnaNotes_Add(notes,
            "%s: %d vertices are on no joint of the character and take the weights of the nearest flesh", path,
            f.unbound);
    }
done:
    jnaDestroyCharacter(&f.own);
    return result;
}
