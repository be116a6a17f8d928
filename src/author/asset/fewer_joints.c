// See fewer_joints.h. With w the weights and w' those that are kept, a vertex is moved by
//
//     sum over j of (w'_j - w_j) M_j (rest + sum of weight * delta)
//
// The morph targets of the frame are in it: what hangs on a joint that is left out moves with the others.
#include "asset/fewer_joints.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN_SET = 4, MOST_SETS = 16 };

int jnaMostInfluences(const jnAsset* a)
{
    int most = 1;
    for (int b = 0; b < a->blockCount; ++b) {
        int count = (int)(a->influenceStarts[b + 1] - a->influenceStarts[b]);
        most = count > most ? count : most;
    }
    return most;
}

// Joints and weights of a vertex in the asset, the largest first.
typedef struct Skin {
    int count;
    const uint16_t* joints;
    const float* weights;
} Skin;

static Skin SkinOf(const jnAsset* a, int vertex)
{
    size_t block = (size_t)vertex / JN_LANES, start = a->influenceStarts[block];
    size_t count = a->influenceStarts[block + 1] - start;
    size_t at = start * JN_LANES + (size_t)vertex % JN_LANES * count;
    Skin skin = {0, a->influenceJoints + at, a->influenceWeights + at};
    while (skin.count < (int)count && skin.weights[skin.count] > 0.0f) {
        skin.count++;
    }
    return skin;
}

// The vertices that lose a joint, and room for a frame.
typedef struct Losing {
    jnaArena arena;
    int count, kept;
    int32_t* vertices; // [count]
    double* places;    // [count][3], displaced rest surface
    double* matrices;  // [jointCount][12]
} Losing;

static jnResult FindLosing(const jnAsset* a, int kept, Losing* l, jnError* error)
{
    *l = (Losing){.kept = kept};
    l->vertices = jnaArena_Take(&l->arena, a->vertexCount, sizeof(int32_t));
    l->places = jnaArena_Take(&l->arena, a->vertexCount, 3 * sizeof(double));
    l->matrices = jnaArena_Take(&l->arena, a->jointCount, 12 * sizeof(double));
    JN_PASS(jnaArena_Check(&l->arena, "vertices with fewer joints", error));
    for (int v = 0; v < a->vertexCount; ++v) {
        if (SkinOf(a, v).count > kept) {
            l->vertices[l->count++] = v;
        }
    }
    return jn_ok;
}

// row: [count], weights of the frame.
static void Displace(const jnAsset* a, const jnaMorphShapes* shapes, const float* row, Losing* l)
{
    for (int i = 0; i < 3 * l->count; ++i) {
        l->places[i] = (double)a->rest[4 * (size_t)l->vertices[i / 3] + (size_t)(i % 3)];
    }
    for (int k = 0; k < shapes->count; ++k) {
        const float* shape = shapes->positions + 3 * (size_t)k * (size_t)a->vertexCount;
        for (int i = 0; row[k] != 0.0f && i < 3 * l->count; ++i) {
            l->places[i] += (double)row[k] * (double)shape[3 * (size_t)l->vertices[i / 3] + (size_t)(i % 3)];
        }
    }
}

static double FarthestMoved(const jnAsset* a, const Losing* l)
{
    double farthest = 0;
    for (int i = 0; i < l->count; ++i) {
        Skin skin = SkinOf(a, l->vertices[i]);
        double sum = 0, moved[3] = {0};
        for (int k = 0; k < l->kept; ++k) {
            sum += (double)skin.weights[k];
        }
        for (int k = 0; k < skin.count; ++k) {
            const double *m = l->matrices + 12 * (size_t)skin.joints[k], *p = l->places + 3 * (size_t)i;
            double change = (k < l->kept ? (double)skin.weights[k] / sum : 0) - (double)skin.weights[k];
            for (int axis = 0; axis < 3; ++axis) {
                const double* row = m + 4 * axis;
                moved[axis] += change * (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
            }
        }
        farthest = fmax(farthest, jnaLength(moved));
    }
    return farthest;
}

jnResult jnaMeasureFewerJoints(const jnAsset* a, const jnaMorphShapes* shapes, const jnaMorphWeights* weights, int kept,
    double* farthest, jnError* error)
{
    Losing l;
    jnResult result = jn_ok;
    *farthest = 0;
    JN_TRY(FindLosing(a, kept, &l, error));
    for (int c = 0; l.count > 0 && c < weights->clipCount; ++c) {
        jnAssetClip clip = jnAsset_Clip(a, c);
        for (int n = 0; n < clip.frameCount; ++n) {
            size_t at = (size_t)n * (size_t)a->jointCount;
            jnPose pose = {.rotations = clip.rotations + 4 * at, .translations = clip.translations + 3 * at};
            pose.scales = clip.scales != NULL ? clip.scales + 3 * at : NULL;
            if (jnMakeGlobals(a, &pose, l.matrices)) {
                jnToSurface(a, l.matrices);
                Displace(a, shapes, weights->weights[c] + (size_t)n * (size_t)weights->count, &l);
                *farthest = fmax(*farthest, FarthestMoved(a, &l));
            }
        }
    }
done:
    jnaReleaseArena(&l.arena);
    return result;
}

// The sets of a primitive as it has them.
typedef struct Sets {
    int count;
    size_t vertices;
    float *joints[MOST_SETS], *weights[MOST_SETS]; // [vertices][4], owned
} Sets;

static void DestroySets(Sets* s)
{
    for (int i = 0; i < MOST_SETS; ++i) {
        free(s->joints[i]);
        free(s->weights[i]);
    }
}

static jnResult ReadSets(const jnaGlbBuffer* b, const json_t* attributes, Sets* s, jnError* error)
{
    for (*s = (Sets){0}; s->count < MOST_SETS; ++s->count) {
        char names[2][32];
        size_t counts[2];
        snprintf(names[0], sizeof(names[0]), "JOINTS_%d", s->count);
        snprintf(names[1], sizeof(names[1]), "WEIGHTS_%d", s->count);
        const json_t *joints = json_object_get(attributes, names[0]), *weights = json_object_get(attributes, names[1]);
        if (joints == NULL || weights == NULL) {
            break;
        }
        s->joints[s->count] = jnaGlbBuffer_Read(b, json_integer_value(joints), "VEC4", &counts[0]);
        s->weights[s->count] = jnaGlbBuffer_Read(b, json_integer_value(weights), "VEC4", &counts[1]);
        s->vertices = s->count == 0 ? counts[0] : s->vertices;
        if (counts[0] == 0 || counts[0] != s->vertices || counts[1] != s->vertices) {
            return jnFail(error, jn_badData, "%s or %s of the source cannot be read", names[0], names[1]);
        }
    }
    return jn_ok;
}

// The `kept` largest weights of a vertex, in sets of four. Equal ones stay in their order.
static void KeepLargest(const Sets* s, size_t vertex, size_t kept, uint16_t* joints, float* weights)
{
    bool taken[IN_SET * MOST_SETS] = {false};
    double sum = 0;
    for (size_t n = 0; n < kept; ++n) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < IN_SET * (size_t)s->count; ++i) {
            float weight = s->weights[i / IN_SET][IN_SET * vertex + i % IN_SET];
            bool larger = best == SIZE_MAX || weight > s->weights[best / IN_SET][IN_SET * vertex + best % IN_SET];
            best = !taken[i] && weight > 0.0f && larger ? i : best;
        }
        if (best == SIZE_MAX) {
            break;
        }
        taken[best] = true;
        joints[n] = (uint16_t)s->joints[best / IN_SET][IN_SET * vertex + best % IN_SET];
        weights[n] = s->weights[best / IN_SET][IN_SET * vertex + best % IN_SET];
        sum += (double)weights[n];
    }
    for (size_t n = 0; sum > 0 && n < kept; ++n) {
        weights[n] = (float)((double)weights[n] / sum);
    }
}

// Puts sets in the place of those that are there. joints, weights: [sets][vertices][4]
static void ReplaceSets(
    jnaGlbBuffer* b, json_t* attributes, const Sets* s, int sets, const uint16_t* joints, const float* weights)
{
    for (int i = 0; i < s->count; ++i) {
        char names[2][32];
        snprintf(names[0], sizeof(names[0]), "JOINTS_%d", i);
        snprintf(names[1], sizeof(names[1]), "WEIGHTS_%d", i);
        json_object_del(attributes, names[0]);
        json_object_del(attributes, names[1]);
        if (i < sets) {
            size_t start = IN_SET * s->vertices * (size_t)i;
            jnaGlbArray array = {.type = "VEC4", .count = s->vertices, .use = JNA_GLB_VERTICES};
            array.component = JNA_GLB_UINT16;
            array.data = joints + start;
            json_object_set_new(attributes, names[0], json_integer(jnaGlbBuffer_Add(b, &array)));
            array.component = JNA_GLB_FLOAT;
            array.data = weights + start;
            json_object_set_new(attributes, names[1], json_integer(jnaGlbBuffer_Add(b, &array)));
        }
    }
}

jnResult jnaKeepJoints(jnaMorphDocument* d, json_t* primitive, int kept, jnError* error)
{
    json_t* attributes = json_object_get(primitive, "attributes");
    Sets s;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    JN_TRY(ReadSets(&d->buffer, attributes, &s, error));
    if (IN_SET * s.count <= kept) {
        goto done;
    }
    size_t sets = ((size_t)kept + IN_SET - 1) / IN_SET, size = IN_SET * sets * s.vertices;
    uint16_t* joints = jnaArena_Take(&arena, (int64_t)size, sizeof(*joints));
    float* weights = jnaArena_Take(&arena, (int64_t)size, sizeof(*weights));
    JN_TRY(jnaArena_Check(&arena, "vertices with fewer joints", error));
    for (size_t v = 0; v < s.vertices; ++v) {
        uint16_t own[IN_SET * MOST_SETS] = {0};
        float shares[IN_SET * MOST_SETS] = {0};
        KeepLargest(&s, v, (size_t)kept, own, shares);
        for (size_t i = 0; i < sets; ++i) {
            memcpy(joints + IN_SET * (i * s.vertices + v), own + IN_SET * i, IN_SET * sizeof(*own));
            memcpy(weights + IN_SET * (i * s.vertices + v), shares + IN_SET * i, IN_SET * sizeof(*shares));
        }
    }
    ReplaceSets(&d->buffer, attributes, &s, (int)sets, joints, weights);
done:
    DestroySets(&s);
    jnaReleaseArena(&arena);
    return result;
}
