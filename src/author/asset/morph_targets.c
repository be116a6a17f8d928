// See morph_targets.h.
//
// Positions are floats, or 16-bit whole numbers of 1/32767 of the mesh's unit; normals floats, or 8-bit ones of 1/127.
// Such a target cannot have a scale of its own: it is enlarged (and its weight made smaller) by a power of two, until
// the rounding of all targets together, as the clips use them, stays below ROUNDING. Where that is not enough in some
// frame, the targets that add most to it are floats.
#include "asset/morph_targets.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Metres: five standard deviations of the sum of all targets' roundings.
#define ROUNDING 3e-5
// The same in the worst frame.
#define WORST_ROUNDING 6e-5
// Metres, at a weight of 1: floats below are 0 in a sparse target.
#define LEAST_MOVE 1e-7
// Change of a unit normal below which it is none.
#define LEAST_TURN 1e-5
// Fraction of normals whose change may be cut to 1: a first-order change that large is none of a unit vector's.
#define CUT_NORMALS 2e-3
#define SHORT_STEPS 32767.0
#define BYTE_STEPS 127.0
enum { MOST_STRETCH = 64 };

void jnaNameTarget(const jnaTargetsDef* def, int target, char* name)
{
    bool own = def->poses + def->modes == def->count, pose = target < def->poses;
    snprintf(name, 32, "jounce.%s.%03d",
        !own   ? "flesh"
        : pose ? "pose"
               : "mode",
        own && !pose ? target - def->poses : target);
}

// What a part's vertices have of a target, in the mesh's space.
typedef struct Field {
    size_t count;
    float* positions; // [count][3]
    float* normals;   // [count][3]
    bool exact;       // positions are to be floats
} Field;

static void Turn(const jnaAffine* m, const float* from, double factor, bool transposed, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = 0;
        for (int k = 0; k < 3; ++k) {
            out[i] += factor * m->m[transposed ? 4 * k + i : 4 * i + k] * (double)from[k];
        }
    }
}

// Displacements go by the place's inverse A; normals by the transpose of the place, the inverse transpose of A.
static void FillField(const jnaTargetsDef* def, const jnaMorphPart* part, int weight, double stretch, Field* f)
{
    const jnAsset* a = def->asset;
    const float* positions = def->shapes->positions + 3 * (size_t)weight * (size_t)a->vertexCount;
    const float* normals = def->shapes->normals + 3 * (size_t)weight * (size_t)a->normalCount;
    jnaAffine place = jnaAffine_Identity();
    (void)jnaAffine_Invert(&part->toMesh, &place);
    f->count = (size_t)part->count;
    f->exact = def->floats != NULL && def->floats[weight];
    for (size_t i = 0; i < f->count; ++i) {
        size_t vertex = (size_t)a->weld[part->vertices[i]], normal = (size_t)a->fileNormals[part->vertices[i]];
        double move[3], rest[3], change[3];
        Turn(&part->toMesh, positions + 3 * vertex, stretch, false, move);
        Turn(&place, def->shapes->restNormals + 3 * normal, 1, true, rest);
        Turn(&place, normals + 3 * normal, stretch / fmax(jnaLength(rest), 1e-30), true, change);
        for (size_t k = 0; k < 3; ++k) {
            f->positions[3 * i + k] = (float)move[k];
            f->normals[3 * i + k] = (float)change[k];
        }
    }
}

// The three numbers of a vertex as they are stored; false where all are 0.
static bool Store(const float* value, int component, double least, void* to)
{
    bool any = false;
    for (int k = 0; k < 3; ++k) {
        if (component == JNA_GLB_FLOAT) {
            any = any || fabs((double)value[k]) > least;
            memcpy((char*)to + sizeof(float) * (size_t)k, value + k, sizeof(float));
        } else if (component == JNA_GLB_SHORT) {
            int16_t number = (int16_t)lrint((double)value[k] * SHORT_STEPS);
            any = any || number != 0;
            memcpy((char*)to + sizeof(number) * (size_t)k, &number, sizeof(number));
        } else {
            ((int8_t*)to)[k] = (int8_t)lrint(fmin(fmax((double)value[k], -1), 1) * BYTE_STEPS);
            any = any || ((int8_t*)to)[k] != 0;
        }
    }
    return any;
}

// Packed: [moved] indices and values of the vertices that move; dense: all values, at `stride`.
typedef struct Stored {
    size_t moved, stride, width; // width: of three components
    uint32_t* indices;
    char *packed, *dense;
} Stored;

// Values that are left out become 0 in place too.
static void StoreAll(float* values, size_t count, int component, double least, Stored* s)
{
    s->moved = 0;
    s->width = 3 * jnaGltfComponentSize(component);
    s->stride = (s->width + 3) / 4 * 4;
    memset(s->dense, 0, count * s->stride);
    for (size_t i = 0; i < count; ++i) {
        if (Store(values + 3 * i, component, least, s->dense + i * s->stride)) {
            memcpy(s->packed + s->moved * s->width, s->dense + i * s->stride, s->width);
            s->indices[s->moved++] = (uint32_t)i;
        } else {
            memset(values + 3 * i, 0, 3 * sizeof(float));
            memset(s->dense + i * s->stride, 0, s->stride);
        }
    }
}

static void SetBounds(json_t* accessor, const float* values, size_t count, int component)
{
    if (component == JNA_GLB_FLOAT) {
        jnaSetGltfBounds(accessor, values, count, 3);
        return;
    }
    json_t *low = json_array(), *high = json_array();
    for (size_t axis = 0; axis < 3; ++axis) {
        long least = LONG_MAX, most = LONG_MIN;
        for (size_t i = 0; i < count; ++i) {
            long value = lrint((double)values[3 * i + axis] * SHORT_STEPS);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        json_array_append_new(low, json_integer(least));
        json_array_append_new(high, json_integer(most));
    }
    json_object_set_new(accessor, "min", low);
    json_object_set_new(accessor, "max", high);
}

static void AddSparse(jnaGlbBuffer* b, const Stored* s, size_t count, json_t* accessor)
{
    bool small = count <= UINT16_MAX;
    uint16_t* words = (uint16_t*)(void*)s->dense; // used up already
    for (size_t i = 0; small && i < s->moved; ++i) {
        words[i] = (uint16_t)s->indices[i];
    }
    json_int_t indices =
        jnaGlbBuffer_AddView(b, small ? (void*)words : (void*)s->indices, s->moved * (small ? 2 : 4), 0, 0);
    json_int_t values = jnaGlbBuffer_AddView(b, s->packed, s->moved * s->width, 0, 0);
    json_object_set_new(accessor, "sparse",
        json_pack("{s:I, s:{s:I, s:i}, s:{s:I}}", "count", (json_int_t)s->moved, "indices", "bufferView", indices,
            "componentType", small ? JNA_GLB_UINT16 : JNA_GLB_UINT32, "values", "bufferView", values));
}

// How values are stored.
typedef struct Storing {
    int component;    // JNA_GLB_FLOAT and so on
    double least;     // values up to it are 0 where not all are stored
    bool sparse;      // not all are stored where that is smaller
    json_int_t zeros; // view of zeroes that sparse values change; -1: none is named
} Storing;

// Adds values as they are smallest: none at all, those that are not 0, or all. Returns the accessor.
static json_int_t AddValues(jnaGlbBuffer* b, float* values, size_t count, const Storing* how, Stored* s)
{
    int component = how->component;
    bool sparse = how->sparse;
    StoreAll(values, count, component, sparse ? how->least : 0, s);
    json_t* accessor =
        json_pack("{s:i, s:I, s:s}", "componentType", component, "count", (json_int_t)count, "type", "VEC3");
    if (component != JNA_GLB_FLOAT) {
        json_object_set_new(accessor, "normalized", json_true());
    }
    if (component != JNA_GLB_BYTE) {
        SetBounds(accessor, values, count, component);
    }
    size_t index = count <= UINT16_MAX ? 2 : 4;
    if (s->moved > 0 && sparse && s->moved * (s->width + index) < count * s->stride) {
        AddSparse(b, s, count, accessor);
    } else if (s->moved > 0 || !sparse) {
        json_int_t view = jnaGlbBuffer_AddView(
            b, s->dense, count * s->stride, JNA_GLB_VERTICES, s->stride != s->width ? s->stride : 0);
        json_object_set_new(accessor, "bufferView", json_integer(view));
    }
    if (how->zeros >= 0 && json_object_get(accessor, "bufferView") == NULL) {
        json_object_set_new(accessor, "bufferView", json_integer(how->zeros));
    }
    json_array_append_new(b->accessors, accessor);
    return (json_int_t)json_array_size(b->accessors) - 1;
}

// How many of some vectors have a component beyond a limit.
static size_t CountBeyond(const float* values, size_t count, double limit)
{
    size_t beyond = 0;
    for (size_t i = 0; i < count; ++i) {
        const float* v = values + 3 * i;
        beyond += (double)fmaxf(fabsf(v[0]), fmaxf(fabsf(v[1]), fabsf(v[2]))) > limit;
    }
    return beyond;
}

// Room for one part's field.
typedef struct Scratch {
    jnaArena arena;
    Field field;
    Stored stored;
    size_t most;      // vertices of a part
    json_int_t zeros; // as in Storing
} Scratch;

static jnResult MakeScratch(const jnaMorphDocument* d, Scratch* s, jnError* error)
{
    size_t most = 1;
    for (int i = 0; i < d->partCount; ++i) {
        most = (size_t)d->parts[i].count > most ? (size_t)d->parts[i].count : most;
    }
    const size_t size = 3 * sizeof(float);
    *s = (Scratch){.most = most, .zeros = -1};
    s->field.positions = jnaArena_Take(&s->arena, (int64_t)most, size);
    s->field.normals = jnaArena_Take(&s->arena, (int64_t)most, size);
    s->stored.indices = jnaArena_Take(&s->arena, (int64_t)most, sizeof(uint32_t));
    s->stored.packed = jnaArena_Take(&s->arena, (int64_t)most, size);
    s->stored.dense = jnaArena_Take(&s->arena, (int64_t)most, size);
    return jnaArena_Check(&s->arena, "a morph target", error);
}

// Encodes what a part has of a weight. normals: the primitive has normals. target: NULL or gets the accessors.
static bool AddPart(const jnaTargetsDef* def, const Scratch* scratch, jnaGlbBuffer* b, bool normals, json_t* target)
{
    const Field* f = &scratch->field;
    Stored stored = scratch->stored;
    size_t cut = CountBeyond(f->normals, f->count, 1);
    bool whole = def->quantize && !f->exact && CountBeyond(f->positions, f->count, 1) == 0;
    bool small = def->quantize && (double)cut <= CUT_NORMALS * (double)f->count;
    int component = whole ? JNA_GLB_SHORT : JNA_GLB_FLOAT;
    Storing how = {component, LEAST_MOVE, def->sparse, scratch->zeros};
    json_int_t accessor = AddValues(b, f->positions, f->count, &how, &stored);
    json_object_set_new(target, "POSITION", json_integer(accessor));
    if (normals) {
        how.component = small ? JNA_GLB_BYTE : JNA_GLB_FLOAT;
        how.least = LEAST_TURN;
        accessor = AddValues(b, f->normals, f->count, &how, &stored);
        json_object_set_new(target, "NORMAL", json_integer(accessor));
    }
    return whole || (small && normals);
}

static const jnaMorphPart* FindPart(const jnaMorphDocument* d, size_t mesh, size_t primitive)
{
    for (int i = 0; i < d->partCount; ++i) {
        if ((size_t)d->parts[i].mesh == mesh && (size_t)d->parts[i].primitive == primitive) {
            return &d->parts[i];
        }
    }
    return NULL;
}

static bool HasParts(const jnaMorphDocument* d, size_t mesh)
{
    bool has = false;
    for (int i = 0; i < d->partCount; ++i) {
        has = has || (size_t)d->parts[i].mesh == mesh;
    }
    return has;
}

static bool HasNormals(const json_t* primitive)
{
    return json_object_get(json_object_get(primitive, "attributes"), "NORMAL") != NULL;
}

// Metres of the mesh's unit.
static double UnitOf(const jnaMorphPart* part)
{
    return 1 / fmax(cbrt(fabs(jnaAffine_Determinant(&part->toMesh))), 1e-12);
}

// Brings the sum of squares of a frame down to what is allowed by making the largest of it floats.
static void PickFloats(const jnaTargetsDef* def, const float* row, const float* stretches, double allowed)
{
    double sum = 0;
    int count = def->weights->count, largest = 0;
    do {
        double most = 0;
        sum = 0;
        for (int k = 0; k < count; ++k) {
            double share = def->floats[k] ? 0 : (double)row[k] / (double)stretches[k];
            sum += share * share;
            largest = share * share > most ? k : largest;
            most = fmax(most, share * share);
        }
        def->floats[largest] = def->floats[largest] || sum > allowed;
    } while (sum > allowed);
}

void jnaStretchTargets(const jnaTargetsDef* def, const jnaMorphDocument* d, float* stretches)
{
    const jnaMorphWeights* w = def->weights;
    const jnAsset* a = def->asset;
    double square = 0, unit = 0, shift = 1;
    for (int k = 0; k < w->count; ++k) {
        stretches[k] = w->reach[k];
        square += w->squares[k] / ((double)w->reach[k] * (double)w->reach[k]);
    }
    for (int i = 0; i < d->partCount; ++i) {
        unit = fmax(unit, UnitOf(&d->parts[i]));
    }
    double error = 5 * sqrt(square / 12) * unit / SHORT_STEPS;
    while (def->quantize && error / shift > ROUNDING && shift < MOST_STRETCH) {
        shift *= 2;
    }
    for (int k = 0; k < w->count; ++k) {
        const float* positions = def->shapes->positions + 3 * (size_t)k * (size_t)a->vertexCount;
        const float* normals = def->shapes->normals + 3 * (size_t)k * (size_t)a->normalCount;
        double factor = shift;
        for (; factor > 1; factor /= 2) {
            double limit = 1 / (factor * (double)w->reach[k]);
            size_t cut = CountBeyond(normals, (size_t)a->normalCount, limit);
            if (CountBeyond(positions, (size_t)a->vertexCount, limit * unit) == 0 &&
                (double)cut <= 0.5 * CUT_NORMALS * a->normalCount) {
                break;
            }
        }
        stretches[k] *= (float)factor;
    }
    for (int c = 0; def->quantize && def->floats != NULL && c < w->clipCount; ++c) {
        double step = 5 * unit / SHORT_STEPS;
        for (int n = 0; n < w->keyCounts[c]; ++n) {
            const float* row = w->weights[c] + (size_t)n * (size_t)w->count;
            PickFloats(def, row, stretches, 12 * WORST_ROUNDING * WORST_ROUNDING / (step * step));
        }
    }
}

jnResult jnaMeasureTargets(
    const jnaTargetsDef* def, const jnaMorphDocument* d, const float* stretches, size_t* sizes, jnError* error)
{
    Scratch s;
    jnaGlbBuffer b = {.views = json_array(), .accessors = json_array()};
    jnResult result = jn_ok;
    JN_TRY(MakeScratch(d, &s, error));
    for (int k = 0; k < def->weights->count; ++k) {
        b.size = 0;
        for (int i = 0; i < d->partCount; ++i) {
            FillField(def, &d->parts[i], k, (double)stretches[k], &s.field);
            json_t* target = json_object();
            (void)AddPart(def, &s, &b, true, target);
            json_decref(target);
        }
        // and what the JSON says of it
        char* text = json_dumps(b.accessors, JSON_COMPACT);
        char* views = json_dumps(b.views, JSON_COMPACT);
        sizes[k] = b.size + (text != NULL ? strlen(text) : 0) + (views != NULL ? strlen(views) : 0);
        free(text);
        free(views);
        json_array_clear(b.accessors);
        json_array_clear(b.views);
    }
    if (b.failed) {
        result = jnFail(error, jn_outOfMemory, "out of memory for morph targets");
    }
done:
    jnaReleaseArena(&s.arena);
    json_decref(b.views);
    json_decref(b.accessors);
    b.views = b.accessors = NULL;
    jnaDestroyGlbBuffer(&b);
    return result;
}

static void AddNothing(jnaGlbBuffer* b, size_t count, json_t* target, const char* name)
{
    json_array_append_new(
        b->accessors, json_pack("{s:i, s:I, s:s, s:[f,f,f], s:[f,f,f]}", "componentType", JNA_GLB_FLOAT, "count",
                          (json_int_t)count, "type", "VEC3", "min", 0.0, 0.0, 0.0, "max", 0.0, 0.0, 0.0));
    json_object_set_new(target, name, json_integer((json_int_t)json_array_size(b->accessors) - 1));
}

// A primitive of such a mesh that is none of the character's: the same number of targets, all 0.
static void AddStill(jnaMorphDocument* d, const json_t* primitive, json_t* target)
{
    const json_t* index = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
    size_t at = json_is_integer(index) ? (size_t)json_integer_value(index) : SIZE_MAX;
    const json_t* accessor = json_array_get(json_object_get(d->root, "accessors"), at);
    size_t count = (size_t)json_integer_value(json_object_get(accessor, "count"));
    AddNothing(&d->buffer, count, target, "POSITION");
    if (HasNormals(primitive)) {
        AddNothing(&d->buffer, count, target, "NORMAL");
    }
}

static bool Moves(const Field* f)
{
    bool moves = false;
    for (size_t i = 0; i < 3 * f->count; ++i) {
        moves = moves || fabs((double)f->positions[i]) > 1e-6;
    }
    return moves;
}

// All targets of one primitive. *whole: some are whole numbers.
static jnResult AddToPrimitive(const jnaTargetsDef* def, const float* stretches, const jnaMorphPart* part,
    json_t* primitive, jnaMorphDocument* d, Scratch* s, jnError* error)
{
    json_t* targets = jnaGltfList(primitive, "targets");
    bool whole = false;
    for (int t = 0; t < def->count; ++t) {
        json_t* target = json_object();
        json_array_append_new(targets, target);
        if (part == NULL) {
            AddStill(d, primitive, target);
            continue;
        }
        FillField(def, part, t, (double)stretches[t], &s->field);
        if (part->shared && Moves(&s->field)) {
            return jnFail(error, jn_badData,
                "mesh %d of the source stands at several nodes and moves differently at each; give each its own mesh",
                part->mesh);
        }
        whole = AddPart(def, s, &d->buffer, HasNormals(primitive), target) || whole;
    }
    if (whole) {
        json_t* lists[2] = {jnaGltfList(d->root, "extensionsUsed"), jnaGltfList(d->root, "extensionsRequired")};
        for (int i = 0; i < 2; ++i) {
            bool there = false;
            for (size_t k = 0; k < json_array_size(lists[i]); ++k) {
                const char* name = json_string_value(json_array_get(lists[i], k));
                there = there || (name != NULL && strcmp(name, "KHR_mesh_quantization") == 0);
            }
            if (!there) {
                json_array_append_new(lists[i], json_string("KHR_mesh_quantization"));
            }
        }
    }
    return jn_ok;
}

// Makes a list of weights as long as the mesh has targets; new ones are 0.
static void PadWeights(json_t* weights, size_t count)
{
    while (json_is_array(weights) && json_array_size(weights) < count) {
        json_array_append_new(weights, json_real(0.0));
    }
}

// Names of targets are where exporters agree to put them, in the mesh's extras.
static void NameTargets(const jnaTargetsDef* def, json_t* mesh, size_t own)
{
    json_t* extras = json_object_get(mesh, "extras");
    if (!json_is_object(extras)) {
        extras = json_object();
        json_object_set_new(mesh, "extras", extras);
    }
    json_t* names = jnaGltfList(extras, "targetNames");
    char name[32];
    while (json_array_size(names) > own) {
        json_array_remove(names, own);
    }
    while (json_array_size(names) < own) {
        snprintf(name, sizeof(name), "target_%zu", json_array_size(names));
        json_array_append_new(names, json_string(name));
    }
    for (int t = 0; t < def->count; ++t) {
        jnaNameTarget(def, t, name);
        json_array_append_new(names, json_string(name));
    }
}

static jnResult AddToMesh(
    const jnaTargetsDef* def, const float* stretches, size_t index, jnaMorphDocument* d, Scratch* s, jnError* error)
{
    json_t* mesh = json_array_get(json_object_get(d->root, "meshes"), index);
    json_t* primitives = json_object_get(mesh, "primitives");
    size_t own = json_array_size(json_object_get(json_array_get(primitives, 0), "targets"));
    for (size_t p = 0; p < json_array_size(primitives); ++p) {
        json_t* primitive = json_array_get(primitives, p);
        JN_PASS(AddToPrimitive(def, stretches, FindPart(d, index, p), primitive, d, s, error));
    }
    size_t all = own + (size_t)def->count, n;
    PadWeights(jnaGltfList(mesh, "weights"), all);
    NameTargets(def, mesh, own);
    json_t* node;
    json_array_foreach(json_object_get(d->root, "nodes"), n, node)
    {
        const json_t* carried = json_object_get(node, "mesh");
        if (json_is_integer(carried) && (size_t)json_integer_value(carried) == index) {
            PadWeights(json_object_get(node, "weights"), all);
        }
    }
    return jn_ok;
}

jnResult jnaAddMorphTargets(const jnaTargetsDef* def, const float* stretches, jnaMorphDocument* d, jnError* error)
{
    Scratch s;
    jnResult result = jn_ok;
    if (def->count == 0) {
        return jn_ok; // an empty list of targets is no glTF
    }
    JN_TRY(MakeScratch(d, &s, error));
    if (def->sparse && def->zeros && !def->quantize) {
        memset(s.stored.dense, 0, s.most * 3 * sizeof(float));
        s.zeros = jnaGlbBuffer_AddView(
            &d->buffer, s.stored.dense, s.most * 3 * sizeof(float), JNA_GLB_VERTICES, 3 * sizeof(float));
    }
    for (size_t m = 0; m < json_array_size(json_object_get(d->root, "meshes")); ++m) {
        if (HasParts(d, m)) {
            JN_TRY(AddToMesh(def, stretches, m, d, &s, error));
        }
    }
done:
    jnaReleaseArena(&s.arena);
    return result;
}
