// Characters and clips on disk: arrays as .npy, names and counts as JSON. Read back with the same mistrust as
// any file: shapes must match the counts, indices must lie in range, numbers must be finite.
#include "workspace/store.h"

#include "base/bounds.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Up to three dimensions; those that are 0 are not there.
typedef struct Shape {
    size_t sizes[3];
} Shape;

static int Dimensions(const Shape* shape)
{
    return shape->sizes[2] > 0 ? 3 : shape->sizes[1] > 0 ? 2 : 1;
}

static jnResult SaveArray(
    const char* folder, const char* name, jnaScalar scalar, Shape shape, const void* data, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaJoinPath(folder, name, path, error));
    return jnaWriteArray(path, scalar, Dimensions(&shape), shape.sizes, data, error);
}

// They bring every float back.
enum { FLOAT_DIGITS = 9 };

static json_t* FloatList(const float* values, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(list, json_real((double)values[i]));
    }
    return list;
}

// Names of files may hold bytes that are no UTF-8, which JSON cannot.
static json_t* SafeText(const char* text)
{
    json_t* value = json_string(text);
    if (value != NULL) {
        return value;
    }
    char plain[JNA_NAME_LENGTH];
    snprintf(plain, sizeof(plain), "%s", text);
    for (char* c = plain; *c != '\0'; ++c) {
        *c = (unsigned char)*c >= 128 ? '_' : *c;
    }
    return json_string(plain);
}

// Parts of the body that a person named; nothing where there are none.
static void DescribeBody(const jnaCharacter* c, json_t* root)
{
    json_t* body = json_object();
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        if (c->body[s] > 0) {
            json_object_set_new(body, jnaBodySlotNames[s], json_integer(c->body[s] - 1));
        }
    }
    if (json_object_size(body) > 0) {
        json_object_set(root, "body", body);
    }
    json_decref(body);
}

static bool LoadBody(const json_t* body, jnaCharacter* c)
{
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        const json_t* value = json_object_get(body, jnaBodySlotNames[s]);
        json_int_t joint = json_integer_value(value);
        if (value != NULL && (!json_is_integer(value) || joint < 0 || joint >= c->jointCount)) {
            return false;
        }
        c->body[s] = value != NULL ? (int)joint + 1 : 0;
    }
    return true;
}

static json_t* DescribeCharacter(const jnaCharacter* c, double scale)
{
    json_t *joints = json_array(), *parts = json_array(), *attributes = json_array(), *targets = json_array();
    for (int i = 0; i < c->targetCount; ++i) {
        json_array_append_new(targets,
            json_pack("{s:o, s:f}", "name", SafeText(c->targets[i].name), "weight", (double)c->targets[i].weight));
    }
    for (int i = 0; i < c->attributeCount; ++i) {
        json_array_append_new(attributes,
            json_pack("{s:o, s:i}", "name", SafeText(c->attributes[i].name), "width", c->attributes[i].width));
    }
    for (int j = 0; j < c->jointCount; ++j) {
        const jnaJoint* joint = &c->joints[j];
        json_array_append_new(
            joints, json_pack("{s:o, s:i, s:o, s:o, s:o, s:o}", "name", SafeText(joint->name), "parent", joint->parent,
                        "translation", FloatList(joint->translation, 3), "rotation", FloatList(joint->rotation, 4),
                        "scale", FloatList(joint->scale, 3), "inverse_bind", FloatList(joint->inverseBind, 12)));
    }
    for (int p = 0; p < c->partCount; ++p) {
        const jnaPart* part = &c->parts[p];
        json_array_append_new(parts,
            json_pack("{s:o, s:o, s:o, s:i, s:i, s:s}", "name", SafeText(part->name), "material",
                SafeText(part->material), "color", FloatList(part->color, 4), "first_triangle", part->firstTriangle,
                "triangle_count", part->triangleCount, "role", jnaMeshRoleNames[part->role]));
    }
    json_t* root = json_pack("{s:i, s:o, s:f, s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:o, s:o, s:o}", "format", 1, "name",
        SafeText(c->name), "scale", scale, "vertices", c->vertexCount, "outfit_vertices", c->outfitCount,
        "file_vertices", c->fileVertexCount, "source_points", c->sourcePoints != NULL ? c->sourcePointCount : 0,
        "triangles", c->triangleCount, "uvs", c->fileUvs != NULL, "parts", parts, "joints", joints, "attributes",
        attributes, "targets", targets);
    DescribeBody(c, root);
    if (c->marks != NULL) {
        json_object_set_new(root, "marks", json_true());
    }
    return root;
}

// Names of attributes and targets may hold what names of files may not.
static void AttributeFile(int index, char name[JNA_NAME_LENGTH])
{
    snprintf(name, JNA_NAME_LENGTH, "attribute_%d.npy", index);
}

static void TargetFile(int index, char name[JNA_NAME_LENGTH])
{
    snprintf(name, JNA_NAME_LENGTH, "target_%d.npy", index);
}

static jnResult SaveInfluences(const char* folder, const jnaCharacter* c, jnError* error)
{
    size_t count = (size_t)c->vertexCount * JNA_MAX_INFLUENCES;
    int32_t* joints = malloc((count + 1) * sizeof(*joints));
    float* weights = malloc((count + 1) * sizeof(*weights));
    jnResult result = jn_ok;
    JN_TRY(joints != NULL && weights != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory"));
    for (size_t i = 0; i < count; ++i) {
        joints[i] = c->influences[i / JNA_MAX_INFLUENCES].joints[i % JNA_MAX_INFLUENCES];
        weights[i] = c->influences[i / JNA_MAX_INFLUENCES].weights[i % JNA_MAX_INFLUENCES];
    }
    size_t rows = (size_t)c->vertexCount;
    JN_TRY(SaveArray(folder, "joints.npy", jna_int32, (Shape){{rows, JNA_MAX_INFLUENCES}}, joints, error));
    JN_TRY(SaveArray(folder, "weights.npy", jna_float32, (Shape){{rows, JNA_MAX_INFLUENCES}}, weights, error));
done:
    free(joints);
    free(weights);
    return result;
}

jnResult jnaSaveCharacter(const char* folder, const jnaCharacter* c, double scale, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    JN_PASS(jnaMakeFolder(folder, "character", path, error));
    const struct {
        const char* name;
        jnaScalar scalar;
        int rows;
        size_t columns;
        const void* data;
    } arrays[] = {{"positions.npy", jna_float32, c->vertexCount, 3, c->positions},
        {"weld.npy", jna_int32, c->fileVertexCount, 0, c->weld},
        {"normals.npy", jna_float32, c->fileVertexCount, 3, c->fileNormals},
        {"triangles.npy", jna_int32, c->triangleCount, 3, c->triangles},
        {"uvs.npy", jna_float32, c->fileVertexCount, 2, c->fileUvs},
        {"marks.npy", jna_uint8, c->vertexCount, 0, c->marks}};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); ++i) {
        if (arrays[i].data != NULL) {
            JN_PASS(SaveArray(path, arrays[i].name, arrays[i].scalar,
                (Shape){{(size_t)arrays[i].rows, arrays[i].columns}}, arrays[i].data, error));
        }
    }
    for (int i = 0; i < c->attributeCount; ++i) {
        char name[JNA_NAME_LENGTH];
        AttributeFile(i, name);
        JN_PASS(SaveArray(path, name, jna_float32, (Shape){{(size_t)c->vertexCount, (size_t)c->attributes[i].width}},
            c->attributes[i].values, error));
    }
    for (int i = 0; i < c->targetCount; ++i) {
        char name[JNA_NAME_LENGTH];
        TargetFile(i, name);
        JN_PASS(SaveArray(path, name, jna_float32, (Shape){{(size_t)c->vertexCount, 3}}, c->targets[i].offsets, error));
    }
    JN_PASS(SaveInfluences(path, c, error));
    return jnaSaveJson(path, "character.json", DescribeCharacter(c, scale), FLOAT_DIGITS, error);
}

// Reads an array of a known shape into memory that is there already.
static jnResult LoadArray(
    const char* folder, const char* name, jnaScalar scalar, Shape shape, void* out, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaArray array;
    JN_PASS(jnaJoinPath(folder, name, path, error));
    JN_PASS(jnaOpenArray(path, &array, error));
    jnResult result = jn_ok;
    bool fits = array.scalar == scalar && array.dimensions == Dimensions(&shape);
    for (int i = 0; fits && i < array.dimensions; ++i) {
        fits = array.shape[i] == shape.sizes[i];
    }
    if (!fits) {
        char text[96];
        jnaArray_Describe(&array, text, sizeof(text));
        JN_TRY(jnFail(error, jn_badData, "%s: is %s, which is not what its JSON says", path, text));
    }
    if (scalar == jna_float32) {
        bool places = strcmp(name, "positions.npy") == 0 || strcmp(name, "translations.npy") == 0;
        JN_TRY(places ? jnaArray_CheckPositions(&array, path, error) : jnaArray_CheckNumbers(&array, path, error));
    }
    memcpy(out, array.data, array.count * jnaScalarSize(scalar));
done:
    jnaCloseArray(&array);
    return result;
}

static bool LoadFloats(const json_t* list, float* out, size_t count)
{
    if (json_array_size(list) != count) {
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        const json_t* value = json_array_get(list, i);
        double number = json_number_value(value);
        if (!json_is_number(value) || !(fabs(number) <= JNA_LARGEST)) {
            return false;
        }
        out[i] = (float)number;
    }
    return true;
}

static bool LoadName(const json_t* object, const char* key, char* name)
{
    const char* text = json_string_value(json_object_get(object, key));
    if (text == NULL || strlen(text) >= JNA_NAME_LENGTH) {
        return false;
    }
    strcpy(name, text);
    return true;
}

static bool LoadCount(const json_t* object, const char* key, int* count)
{
    const json_t* value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    *count = (int)number;
    return json_is_integer(value) && number >= 0 && number < INT32_MAX / 16;
}

static bool LoadJoints(const json_t* list, jnaCharacter* c)
{
    for (int j = 0; j < c->jointCount; ++j) {
        const json_t* value = json_array_get(list, (size_t)j);
        const json_t* parent = json_object_get(value, "parent");
        jnaJoint* joint = &c->joints[j];
        if (!json_is_integer(parent) || json_integer_value(parent) < -1 || json_integer_value(parent) >= j) {
            return false;
        }
        joint->parent = (int)json_integer_value(parent);
        if (!LoadName(value, "name", joint->name) ||
            !LoadFloats(json_object_get(value, "translation"), joint->translation, 3) ||
            !LoadFloats(json_object_get(value, "rotation"), joint->rotation, 4) ||
            !LoadFloats(json_object_get(value, "scale"), joint->scale, 3) ||
            !LoadFloats(json_object_get(value, "inverse_bind"), joint->inverseBind, 12)) {
            return false;
        }
    }
    return true;
}

// Workspaces from before parts had roles are all flesh.
static bool LoadRole(const json_t* object, jnaMeshRole* role)
{
    const json_t* value = json_object_get(object, "role");
    const char* text = json_string_value(value);
    for (int i = 0; text != NULL && i < 3; ++i) {
        if (strcmp(text, jnaMeshRoleNames[i]) == 0) {
            *role = (jnaMeshRole)i;
            return true;
        }
    }
    return value == NULL;
}

static bool LoadParts(const json_t* list, jnaCharacter* c)
{
    int next = 0;
    for (int p = 0; p < c->partCount; ++p) {
        const json_t* value = json_array_get(list, (size_t)p);
        jnaPart* part = &c->parts[p];
        if (!LoadName(value, "name", part->name) || !LoadName(value, "material", part->material) ||
            !LoadFloats(json_object_get(value, "color"), part->color, 4) ||
            !LoadCount(value, "first_triangle", &part->firstTriangle) ||
            !LoadCount(value, "triangle_count", &part->triangleCount) || part->firstTriangle != next ||
            !LoadRole(value, &part->role)) {
            return false;
        }
        next += part->triangleCount;
    }
    return next == c->triangleCount;
}

static bool InRange(const int32_t* values, size_t count, int limit)
{
    for (size_t i = 0; i < count; ++i) {
        if (values[i] < 0 || values[i] >= limit) {
            return false;
        }
    }
    return true;
}

static jnResult LoadInfluences(const char* folder, jnaCharacter* c, jnError* error)
{
    size_t rows = (size_t)c->vertexCount, count = rows * JNA_MAX_INFLUENCES;
    int32_t* joints = malloc((count + 1) * sizeof(*joints));
    float* weights = malloc((count + 1) * sizeof(*weights));
    jnResult result = jn_ok;
    JN_TRY(joints != NULL && weights != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory"));
    JN_TRY(LoadArray(folder, "joints.npy", jna_int32, (Shape){{rows, JNA_MAX_INFLUENCES}}, joints, error));
    JN_TRY(LoadArray(folder, "weights.npy", jna_float32, (Shape){{rows, JNA_MAX_INFLUENCES}}, weights, error));
    if (!InRange(joints, count, c->jointCount)) {
        JN_TRY(jnFail(error, jn_badData, "%s/joints.npy: names a joint that does not exist", folder));
    }
    for (size_t i = 0; i < count; ++i) {
        c->influences[i / JNA_MAX_INFLUENCES].joints[i % JNA_MAX_INFLUENCES] = (uint16_t)joints[i];
        c->influences[i / JNA_MAX_INFLUENCES].weights[i % JNA_MAX_INFLUENCES] = weights[i];
    }
done:
    free(joints);
    free(weights);
    return result;
}

static jnResult LoadSurface(const char* folder, jnaCharacter* c, jnError* error)
{
    size_t vertices = (size_t)c->vertexCount, files = (size_t)c->fileVertexCount, triangles = (size_t)c->triangleCount;
    JN_PASS(LoadArray(folder, "positions.npy", jna_float32, (Shape){{vertices, 3}}, c->positions, error));
    JN_PASS(LoadArray(folder, "weld.npy", jna_int32, (Shape){{files}}, c->weld, error));
    JN_PASS(LoadArray(folder, "normals.npy", jna_float32, (Shape){{files, 3}}, c->fileNormals, error));
    JN_PASS(LoadArray(folder, "triangles.npy", jna_int32, (Shape){{triangles, 3}}, c->triangles, error));
    if (c->fileUvs != NULL) {
        JN_PASS(LoadArray(folder, "uvs.npy", jna_float32, (Shape){{files, 2}}, c->fileUvs, error));
    }
    if (!InRange(c->weld, files, c->vertexCount) || !InRange(c->triangles, 3 * triangles, c->fileVertexCount)) {
        return jnFail(error, jn_badData, "%s: the weld or a triangle names a vertex that does not exist", folder);
    }
    return LoadInfluences(folder, c, error);
}

// What a person said of single vertices.
static jnResult LoadMarks(const char* folder, jnaCharacter* c, jnError* error)
{
    c->marks = calloc((size_t)c->vertexCount + 1, 1);
    JN_PASS(c->marks != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory"));
    JN_PASS(LoadArray(folder, "marks.npy", jna_uint8, (Shape){{(size_t)c->vertexCount}}, c->marks, error));
    for (int v = 0; v < c->vertexCount; ++v) {
        if (c->marks[v] > JNA_MARK(jna_meshRigid)) {
            return jnFail(error, jn_badData, "%s/marks.npy: has a number that is no role", folder);
        }
    }
    return jn_ok;
}

// Vertices of the flesh come first, and no part has vertices of both.
static bool OutfitIsLast(const jnaCharacter* c)
{
    int flesh = c->vertexCount - c->outfitCount;
    for (int p = 0; p < c->partCount; ++p) {
        for (int i = 0; i < 3 * c->parts[p].triangleCount; ++i) {
            int v = c->weld[c->triangles[3 * (size_t)c->parts[p].firstTriangle + (size_t)i]];
            if ((v < flesh) != (c->parts[p].role == jna_meshFlesh)) {
                return false;
            }
        }
    }
    return true;
}

static jnResult LoadAttributes(const char* folder, const json_t* list, jnaCharacter* c, jnError* error)
{
    for (int i = 0; i < (int)json_array_size(list); ++i) {
        const json_t* value = json_array_get(list, (size_t)i);
        char name[JNA_NAME_LENGTH], file[JNA_NAME_LENGTH];
        int width = 0;
        if (!LoadName(value, "name", name) || !LoadCount(value, "width", &width) || width < 1 || width > 4) {
            return jnFail(error, jn_badData, "%s/character.json: is damaged; import the character again", folder);
        }
        float* values = jnaCharacter_AddAttribute(c, name, width);
        AttributeFile(i, file);
        JN_PASS(values != NULL ? LoadArray(folder, file, jna_float32, (Shape){{(size_t)c->vertexCount, (size_t)width}},
                                     values, error)
                               : jnFail(error, jn_outOfMemory, "out of memory"));
    }
    return jn_ok;
}

static jnResult LoadTargets(const char* folder, const json_t* list, jnaCharacter* c, jnError* error)
{
    for (int i = 0; i < (int)json_array_size(list); ++i) {
        const json_t *value = json_array_get(list, (size_t)i), *weight = json_object_get(value, "weight");
        char name[JNA_NAME_LENGTH], file[JNA_NAME_LENGTH];
        if (!LoadName(value, "name", name) || !json_is_number(weight) || !(fabs(json_number_value(weight)) <= 1e6)) {
            return jnFail(error, jn_badData, "%s/character.json: is damaged; import the character again", folder);
        }
        jnaTarget* target = jnaCharacter_AddTarget(c, name, (float)json_number_value(weight));
        TargetFile(i, file);
        JN_PASS(target != NULL
                    ? LoadArray(folder, file, jna_float32, (Shape){{(size_t)c->vertexCount, 3}}, target->offsets, error)
                    : jnFail(error, jn_outOfMemory, "out of memory"));
    }
    return jn_ok;
}

jnResult jnaLoadWholeCharacter(const char* workspace, jnaCharacter* c, jnError* error)
{
    *c = (jnaCharacter){0};
    char folder[JNA_PATH_LENGTH];
    json_t* root = NULL;
    JN_PASS(jnaJoinPath(workspace, "character", folder, error));
    JN_PASS(jnaLoadJson(folder, "character.json", &root, error));
    const json_t *joints = json_object_get(root, "joints"), *parts = json_object_get(root, "parts");
    bool withUvs = json_is_true(json_object_get(root, "uvs"));
    c->jointCount = (int)json_array_size(joints);
    c->partCount = (int)json_array_size(parts);
    bool good = LoadCount(root, "vertices", &c->vertexCount) && LoadCount(root, "file_vertices", &c->fileVertexCount) &&
                LoadCount(root, "triangles", &c->triangleCount) && LoadName(root, "name", c->name) &&
                c->jointCount > 0 && c->jointCount <= UINT16_MAX;
    const json_t* outfit = json_object_get(root, "outfit_vertices");
    good = good && (outfit == NULL || LoadCount(root, "outfit_vertices", &c->outfitCount)) &&
           c->outfitCount <= c->vertexCount;
    jnResult result = good ? jnaCharacter_Allocate(c, withUvs, error) : jn_badData;
    // The number alone is kept; it is told to people.
    json_int_t points = json_integer_value(json_object_get(root, "source_points"));
    c->sourcePointCount = points > 0 && points <= c->fileVertexCount ? (int)points : 0;
    good =
        result == jn_ok && LoadJoints(joints, c) && LoadParts(parts, c) && LoadBody(json_object_get(root, "body"), c);
    if (result != jn_outOfMemory && !good) {
        result = jnFail(error, jn_badData, "%s/character.json: is damaged; import the character again", folder);
    }
    JN_TRY(result);
    JN_TRY(LoadSurface(folder, c, error));
    JN_TRY(json_is_true(json_object_get(root, "marks")) ? LoadMarks(folder, c, error) : jn_ok);
    JN_TRY(OutfitIsLast(c)
               ? jn_ok
               : jnFail(error, jn_badData, "%s: a part and its vertices disagree on what is flesh", folder));
    JN_TRY(LoadAttributes(folder, json_object_get(root, "attributes"), c, error));
    JN_TRY(LoadTargets(folder, json_object_get(root, "targets"), c, error));
done:
    json_decref(root);
    if (result != jn_ok) {
        jnaDestroyCharacter(c);
    }
    return result;
}

jnResult jnaLoadCharacter(const char* workspace, jnaCharacter* c, jnError* error)
{
    JN_PASS(jnaLoadWholeCharacter(workspace, c, error));
    if (c->outfitCount == 0) {
        return jn_ok;
    }
    jnaCharacter whole = *c;
    jnResult result = jnaCharacter_TakeFlesh(&whole, c, error);
    jnaDestroyCharacter(&whole);
    return result;
}

static jnResult ClipFolder(const char* workspace, const char* name, char* folder, jnError* error)
{
    char relative[JNA_NAME_LENGTH + 16];
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL || strlen(name) >= JNA_NAME_LENGTH) {
        return jnFail(error, jn_badArgument, "'%.64s' is not the name of a clip", name);
    }
    snprintf(relative, sizeof(relative), "clips/%s", name);
    return jnaJoinPath(workspace, relative, folder, error);
}

const char* jnaClipCacheName(jnaClipCache kind)
{
    return kind == jna_clipMotion ? "motion.npy" : "quasistatic.npy";
}

jnResult jnaSaveClip(
    const char* workspace, const jnaClip* clip, const jnaMotion* motion, const jnaMotion* shapes, jnError* error)
{
    char clips[JNA_PATH_LENGTH], folder[JNA_PATH_LENGTH];
    JN_PASS(ClipFolder(workspace, clip->name, folder, error));
    JN_PASS(jnaMakeFolder(workspace, "clips", clips, error));
    JN_PASS(jnaMakeFolder(clips, clip->name, folder, error));
    size_t frames = (size_t)clip->frameCount, joints = (size_t)clip->jointCount;
    JN_PASS(SaveArray(folder, "rotations.npy", jna_float32, (Shape){{frames, joints, 4}}, clip->rotations, error));
    JN_PASS(
        SaveArray(folder, "translations.npy", jna_float32, (Shape){{frames, joints, 3}}, clip->translations, error));
    if (clip->scales != NULL) {
        JN_PASS(SaveArray(folder, "scales.npy", jna_float32, (Shape){{frames, joints, 3}}, clip->scales, error));
    }
    if (clip->targets != NULL) {
        JN_PASS(SaveArray(
            folder, "targets.npy", jna_float32, (Shape){{frames, (size_t)clip->targetCount}}, clip->targets, error));
    }
    for (int kind = jna_clipMotion; kind <= (int)jna_clipShapes; ++kind) {
        const jnaMotion* m = kind == (int)jna_clipMotion ? motion : shapes;
        if (m != NULL) {
            JN_PASS(SaveArray(folder, jnaClipCacheName((jnaClipCache)kind), jna_float32,
                (Shape){{frames, (size_t)m->vertexCount, 3}}, m->positions, error));
        }
    }
    json_t* root = json_pack("{s:i, s:s, s:f, s:i, s:i, s:b, s:b, s:b, s:b, s:i}", "format", 1, "name", clip->name,
        "rate", clip->rate, "frames", clip->frameCount, "joints", clip->jointCount, "looping", clip->looping, "scales",
        clip->scales != NULL, "motion", motion != NULL, "quasistatic", shapes != NULL, "targets",
        clip->targets != NULL ? clip->targetCount : 0);
    return jnaSaveJson(folder, "clip.json", root, FLOAT_DIGITS, error);
}

jnResult jnaLoadClip(
    const char* workspace, const char* name, const jnaCharacter* character, jnaClip* clip, jnError* error)
{
    *clip = (jnaClip){0};
    char folder[JNA_PATH_LENGTH];
    json_t* root = NULL;
    JN_PASS(ClipFolder(workspace, name, folder, error));
    JN_PASS(jnaLoadJson(folder, "clip.json", &root, error));
    jnResult result = jn_ok;
    bool withScales = json_is_true(json_object_get(root, "scales"));
    bool good = LoadName(root, "name", clip->name) && LoadCount(root, "frames", &clip->frameCount) &&
                LoadCount(root, "joints", &clip->jointCount) && clip->jointCount == character->jointCount;
    good = good && (json_object_get(root, "targets") == NULL || LoadCount(root, "targets", &clip->targetCount));
    clip->rate = json_number_value(json_object_get(root, "rate"));
    clip->looping = json_is_true(json_object_get(root, "looping"));
    json_decref(root);
    size_t frames = (size_t)clip->frameCount, joints = (size_t)clip->jointCount;
    if (!good || !(clip->rate > 0) || !isfinite(clip->rate) || frames == 0 || frames * joints > (size_t)1 << 28 ||
        clip->targetCount > 1 << 12) {
        *clip = (jnaClip){0};
        return jnFail(error, jn_badData, "%s/clip.json: is damaged or of another character; import it again", folder);
    }
    JN_TRY(jnaClip_Allocate(clip, withScales, error));
    JN_TRY(LoadArray(folder, "rotations.npy", jna_float32, (Shape){{frames, joints, 4}}, clip->rotations, error));
    JN_TRY(LoadArray(folder, "translations.npy", jna_float32, (Shape){{frames, joints, 3}}, clip->translations, error));
    if (withScales) {
        JN_TRY(LoadArray(folder, "scales.npy", jna_float32, (Shape){{frames, joints, 3}}, clip->scales, error));
    }
    if (clip->targetCount > 0) {
        JN_TRY(LoadArray(
            folder, "targets.npy", jna_float32, (Shape){{frames, (size_t)clip->targetCount}}, clip->targets, error));
    }
done:
    if (result != jn_ok) {
        jnaDestroyClip(clip);
    }
    return result;
}

jnResult jnaOpenClipCache(const char* workspace, const jnaClip* clip, const jnaCharacter* character, jnaClipCache kind,
    bool* present, jnaArray* positions, jnError* error)
{
    *positions = (jnaArray){0};
    *present = false;
    char folder[JNA_PATH_LENGTH], path[JNA_PATH_LENGTH];
    JN_PASS(ClipFolder(workspace, clip->name, folder, error));
    JN_PASS(jnaJoinPath(folder, jnaClipCacheName(kind), path, error));
    if (!jnaFileIsThere(path)) {
        return jn_ok;
    }
    JN_PASS(jnaOpenPositions(path, positions, error));
    if (positions->scalar != jna_float32 || positions->dimensions != 3 ||
        positions->shape[0] != (size_t)clip->frameCount || positions->shape[1] != (size_t)character->vertexCount ||
        positions->shape[2] != 3) {
        jnaCloseArray(positions);
        return jnFail(
            error, jn_badData, "%s: is not float32 (%d, %d, 3)", path, clip->frameCount, character->vertexCount);
    }
    *present = true;
    return jn_ok;
}
