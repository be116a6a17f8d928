// The body of the shared data: our weld is its split map, our skinning is its README's formula, frame by
// frame.
#include "character/import.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <unistd.h>

#include <cmocka.h>

// All frames; under the sanitizer, which is ten times slower, one in 16.
#ifdef JN_SANITIZED
enum { FRAME_STEP = 16 };
#else
enum { FRAME_STEP = 1 };
#endif

#define DATA JN_SOURCE_DIR "/../shared/data/"

typedef struct Body {
    jnaCharacter character;
    jnaClipList clips;
    jnaNotes notes;
    double scale;
} Body;

static Body body;
static bool present;

static int Load(void** state)
{
    (void)state;
    present = access(DATA "body.glb", R_OK) == 0;
    if (!present) {
        return 0;
    }
    jnError error = {0};
    jnaImportDef def = jnaDefaultImportDef();
    jnResult result =
        jnaImportCharacter(DATA "body.glb", &def, &body.character, &body.clips, &body.scale, &body.notes, &error);
    if (result != jn_ok) {
        print_error("%s\n", error.message);
    }
    return result == jn_ok ? 0 : -1;
}

static int Unload(void** state)
{
    (void)state;
    jnaDestroyCharacter(&body.character);
    jnaDestroyClipList(&body.clips);
    jnaDestroyNotes(&body.notes);
    return 0;
}

static void NeedBody(void)
{
    if (!present) {
        print_message("skipped: no shared data\n");
        skip();
    }
}

static json_t* LoadJson(const char* path)
{
    json_error_t problem;
    json_t* root = json_load_file(path, 0, &problem);
    assert_non_null(root);
    return root;
}

static void CountsAreThoseOfTheReadme(void** state)
{
    (void)state;
    NeedBody();
    assert_int_equal(body.character.fileVertexCount, 14517);
    assert_int_equal(body.character.vertexCount, 13380);
    assert_int_equal(body.character.triangleCount, 26756);
    assert_int_equal(body.character.jointCount, 31);
    assert_int_equal(body.clips.count, 9);
    assert_string_equal(body.clips.clips[0].name, "22_16_jumping_jacks");
    assert_int_equal(body.clips.clips[0].frameCount, 108);
    assert_null(body.clips.clips[0].scales);
    assert_true(body.scale == 1);
    assert_int_equal(body.notes.count, 0);
}

static void WeldIsTheSplitMap(void** state)
{
    (void)state;
    NeedBody();
    json_t* root = LoadJson(DATA "body_split_map.json");
    const json_t* map = json_object_get(root, "source_vertex");
    assert_int_equal(json_array_size(map), body.character.fileVertexCount);
    // The same partition: each way round the map is a function.
    int forward[13380], back[13380];
    memset(forward, 0xff, sizeof(forward));
    memset(back, 0xff, sizeof(back));
    for (int i = 0; i < body.character.fileVertexCount; ++i) {
        int ours = body.character.weld[i], theirs = (int)json_integer_value(json_array_get(map, (size_t)i));
        assert_in_range(ours, 0, 13379);
        assert_true(forward[ours] == -1 || forward[ours] == theirs);
        assert_true(back[theirs] == -1 || back[theirs] == ours);
        forward[ours] = theirs;
        back[theirs] = ours;
    }
    json_decref(root);
}

// A clip as its JSON has it, joints in our order.
typedef struct Reference {
    json_t* root;
    int order[64]; // our joint to theirs
} Reference;

static Reference LoadReference(const char* id)
{
    char path[512];
    snprintf(path, sizeof(path), DATA "clips/%s.json", id);
    Reference reference = {.root = LoadJson(path)};
    const json_t* names = json_object_get(reference.root, "joints");
    for (int j = 0; j < body.character.jointCount; ++j) {
        reference.order[j] = -1;
        for (size_t k = 0; k < json_array_size(names); ++k) {
            if (strcmp(json_string_value(json_array_get(names, k)), body.character.joints[j].name) == 0) {
                reference.order[j] = (int)k;
            }
        }
        assert_true(reference.order[j] >= 0);
    }
    return reference;
}

static double Number(const json_t* array, size_t index)
{
    return json_number_value(json_array_get(array, index));
}

static void Rotate(const double* q, const double* v, double* out)
{
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    out[0] = v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
}

static void Multiply(const double* a, const double* b, double* out)
{
    double c[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0], a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, c, sizeof(c));
}

// G and p of every joint by the README: G[j] = G[parent] R[j], p[j] = p[parent] + G[parent] (head[j] -
// head[parent]).
static void PoseByFormula(
    const Reference* reference, size_t frame, const double (*heads)[3], double (*g)[4], double (*p)[3])
{
    const json_t* rotations = json_array_get(json_object_get(reference->root, "rotations"), frame);
    const json_t* root = json_array_get(json_object_get(reference->root, "root_translation"), frame);
    for (int j = 0; j < body.character.jointCount; ++j) {
        int parent = body.character.joints[j].parent;
        const json_t* r = json_array_get(rotations, (size_t)reference->order[j]);
        double q[4] = {Number(r, 0), Number(r, 1), Number(r, 2), Number(r, 3)};
        if (parent < 0) {
            memcpy(g[j], q, sizeof(q));
            for (int i = 0; i < 3; ++i) {
                p[j][i] = Number(root, (size_t)i);
            }
            continue;
        }
        Multiply(g[parent], q, g[j]);
        double arm[3], turned[3];
        for (int i = 0; i < 3; ++i) {
            arm[i] = heads[j][i] - heads[parent][i];
        }
        Rotate(g[parent], arm, turned);
        for (int i = 0; i < 3; ++i) {
            p[j][i] = p[parent][i] + turned[i];
        }
    }
}

static double WorstOfFrame(const double (*heads)[3], const double (*g)[4], const double (*p)[3], const float* skinned)
{
    double worst = 0;
    for (int v = 0; v < body.character.vertexCount; ++v) {
        const jnaInfluences* in = &body.character.influences[v];
        double sum[3] = {0, 0, 0};
        for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0; ++k) {
            int j = in->joints[k];
            double local[3], turned[3];
            for (int i = 0; i < 3; ++i) {
                local[i] = (double)body.character.positions[3 * (size_t)v + (size_t)i] - heads[j][i];
            }
            Rotate(g[j], local, turned);
            for (int i = 0; i < 3; ++i) {
                sum[i] += (double)in->weights[k] * (turned[i] + p[j][i]);
            }
        }
        for (int i = 0; i < 3; ++i) {
            worst = fmax(worst, fabs(sum[i] - (double)skinned[3 * (size_t)v + (size_t)i]));
        }
    }
    return worst;
}

static void LoadHeads(double (*heads)[3])
{
    json_t* skin = LoadJson(DATA "body_skin.json");
    const json_t* joints = json_object_get(skin, "joints");
    for (int j = 0; j < body.character.jointCount; ++j) {
        bool found = false;
        for (size_t k = 0; k < json_array_size(joints); ++k) {
            const json_t* joint = json_array_get(joints, k);
            if (strcmp(json_string_value(json_object_get(joint, "name")), body.character.joints[j].name) == 0) {
                found = true;
                for (int i = 0; i < 3; ++i) {
                    heads[j][i] = Number(json_object_get(joint, "head"), (size_t)i);
                }
            }
        }
        assert_true(found);
    }
    json_decref(skin);
}

static void SkinningIsTheFormulaInEveryFrame(void** state)
{
    (void)state;
    NeedBody();
    static const char* const ids[] = {"22_16", "13_29", "14_06", "13_17", "14_03", "09_01", "13_11", "49_02", "05_02"};
    double heads[64][3], g[64][4], p[64][3];
    LoadHeads(heads);
    float* matrices = malloc(64 * 12 * sizeof(float));
    float* skinned = malloc((size_t)body.character.vertexCount * 3 * sizeof(float));
    double worst = 0;
    int frames = 0;
    for (int c = 0; c < 9; ++c) {
        const jnaClip* clip = &body.clips.clips[c];
        assert_memory_equal(clip->name, ids[c], 5);
        Reference reference = LoadReference(ids[c]);
        size_t count = json_array_size(json_object_get(reference.root, "rotations"));
        assert_int_equal(count, clip->frameCount);
        for (size_t f = 0; f < count; f += FRAME_STEP, ++frames) {
            PoseByFormula(&reference, f, heads, g, p);
            jnaPoseMatrices(&body.character, clip, (int)f, matrices);
            jnaSkin(&body.character, matrices, skinned);
            worst = fmax(worst, WorstOfFrame(heads, g, p, skinned));
        }
        json_decref(reference.root);
    }
    print_message("%d frames, worst vertex %.2g m from the formula\n", frames, worst);
    assert_true(FRAME_STEP > 1 || frames == 6134);
    assert_true(worst < 1e-5);
    free(matrices);
    free(skinned);
}

// The floats of an attribute, straight from the bytes of the file.
static const float* Attribute(const unsigned char* bytes, const json_t* root, const char* name)
{
    uint32_t jsonLength;
    memcpy(&jsonLength, bytes + 12, 4);
    const json_t* primitive =
        json_array_get(json_object_get(json_array_get(json_object_get(root, "meshes"), 0), "primitives"), 0);
    json_int_t index = json_integer_value(json_object_get(json_object_get(primitive, "attributes"), name));
    const json_t* accessor = json_array_get(json_object_get(root, "accessors"), (size_t)index);
    json_int_t view = json_integer_value(json_object_get(accessor, "bufferView"));
    const json_t* place = json_array_get(json_object_get(root, "bufferViews"), (size_t)view);
    assert_null(json_object_get(place, "byteStride"));
    json_int_t offset = json_integer_value(json_object_get(accessor, "byteOffset")) +
                        json_integer_value(json_object_get(place, "byteOffset"));
    return (const float*)(const void*)(bytes + 12 + 8 + jsonLength + 8 + offset);
}

static void FileVerticesAreInTheOrderOfTheFile(void** state)
{
    (void)state;
    NeedBody();
    static unsigned char bytes[8 << 20];
    FILE* file = fopen(DATA "body.glb", "rb");
    assert_non_null(file);
    assert_true(fread(bytes, 1, sizeof(bytes), file) > 1000);
    fclose(file);
    uint32_t jsonLength;
    memcpy(&jsonLength, bytes + 12, 4);
    json_t* root = json_loadb((const char*)bytes + 20, jsonLength, 0, NULL);
    assert_non_null(root);
    const float* positions = Attribute(bytes, root, "POSITION");
    const float* normals = Attribute(bytes, root, "NORMAL");
    const float* uvs = Attribute(bytes, root, "TEXCOORD_0");
    for (size_t i = 0; i < (size_t)body.character.fileVertexCount; ++i) {
        const float* p = body.character.positions + 3 * (size_t)body.character.weld[i];
        for (size_t k = 0; k < 3; ++k) {
            assert_true(fabsf(p[k] - positions[3 * i + k]) < 1e-6F);
            assert_true(fabsf(body.character.fileNormals[3 * i + k] - normals[3 * i + k]) < 1e-5F);
        }
        // glTF counts v from the top, we from the bottom.
        assert_true(fabsf(body.character.fileUvs[2 * i] - uvs[2 * i]) < 1e-6F);
        assert_true(fabsf(1 - body.character.fileUvs[2 * i + 1] - uvs[2 * i + 1]) < 1e-6F);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(CountsAreThoseOfTheReadme),
        cmocka_unit_test(WeldIsTheSplitMap),
        cmocka_unit_test(FileVerticesAreInTheOrderOfTheFile),
        cmocka_unit_test(SkinningIsTheFormulaInEveryFrame),
    };
    return cmocka_run_group_tests(tests, Load, Unload);
}
