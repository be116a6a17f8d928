// Clothes, hair and eyes, from the file to the asset: what follows the flesh stays on it, what is rigid is skinning.
#include "helpers/command.h"
#include "helpers/dressed_gltf.h"

#include "asset/asset_writer.h"
#include "base/affine.h"
#include "base/npy.h"
#include "character/gltf.h"
#include "character/gltf_source.h"
#include "jounce/character.h"

#include <jansson.h>

static Outcome outcome;

#define Run(...) RunInto(&outcome, __VA_ARGS__)

static const jnAssetPart* PartOf(const jnAsset* a, const char* name)
{
    for (int i = 0; i < a->partCount; ++i) {
        if (strcmp(a->parts[i].name, name) == 0) {
            return &a->parts[i];
        }
    }
    fail_msg("the asset has no part '%s'", name);
    return NULL;
}

static int32_t CornerOf(const jnAsset* a, const jnAssetPart* part, int i)
{
    return a->triangles[3 * (size_t)part->firstTriangle + (size_t)i];
}

static void Difference(const float* from, const float* to, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (double)to[i] - (double)from[i];
    }
}

// How far a point is outside of a tube whose triangles are small: from the nearest centre of one, along its normal.
static double Outside(const jnAsset* a, const jnAssetPart* body, const float* positions, const float* point)
{
    double best = HUGE_VAL, outside = 0;
    for (int t = 0; t < body->triangleCount; ++t) {
        const float* corners[3];
        double u[3], v[3], normal[3], away[3], square = 0;
        for (int k = 0; k < 3; ++k) {
            corners[k] = positions + 3 * (size_t)CornerOf(a, body, 3 * t + k);
        }
        Difference(corners[0], corners[1], u);
        Difference(corners[0], corners[2], v);
        jnaCross(u, v, normal);
        jnaNormalize(normal);
        for (int i = 0; i < 3; ++i) {
            away[i] = (double)point[i] - ((double)corners[0][i] + (double)corners[1][i] + (double)corners[2][i]) / 3;
            square += away[i] * away[i];
        }
        if (square < best) {
            best = square;
            outside = jnaDot(away, normal);
        }
    }
    return outside;
}

// The least of it over a part's vertices.
static double LeastOutside(const jnAsset* a, const float* positions)
{
    const jnAssetPart *sleeve = PartOf(a, "Sleeve"), *body = PartOf(a, "Body");
    double least = HUGE_VAL;
    int first = CornerOf(a, sleeve, 0), last = first; // its file vertices are one after another
    for (int i = 0; i < 3 * sleeve->triangleCount; ++i) {
        first = CornerOf(a, sleeve, i) < first ? CornerOf(a, sleeve, i) : first;
        last = CornerOf(a, sleeve, i) > last ? CornerOf(a, sleeve, i) : last;
    }
    for (int v = first; v <= last; ++v) {
        least = fmin(least, Outside(a, body, positions, positions + 3 * (size_t)v));
    }
    return least;
}

// The largest difference of two surfaces over a part.
static double LargestChange(const jnAsset* a, const char* part, const float* x, const float* y)
{
    const jnAssetPart* p = PartOf(a, part);
    double largest = 0, change[3];
    for (int i = 0; i < 3 * p->triangleCount; ++i) {
        size_t v = (size_t)CornerOf(a, p, i);
        Difference(x + 3 * v, y + 3 * v, change);
        largest = fmax(largest, jnaLength(change));
    }
    return largest;
}

// What a clip does to the parts.
typedef struct Played {
    double rest, least;       // how far the sleeve is outside, at rest and at least
    double body, sleeve, eye; // how far each is moved from where skinning puts it
    double skinned;           // as least, where nothing but the skeleton moves
} Played;

static Played Play(const jnAsset* a)
{
    jnCharacterDef def = jnDefaultCharacterDef(a);
    jnCharacter* character;
    size_t joints = (size_t)a->jointCount, wide = 3 * (size_t)a->fileVertexCount;
    float *pose = calloc(10 * joints, sizeof(float)), *shown = calloc(2 * wide, sizeof(float)), *skinned = shown + wide;
    assert_int_equal(jnCreateCharacter(&def, &character, NULL), jn_ok);
    Played p = {.least = HUGE_VAL, .skinned = HUGE_VAL};
    jnCharacter_Skin(character, &(jnPose){0}, &(jnCharacterOutput){.positions = shown});
    p.rest = LeastOutside(a, shown);
    for (int n = 0; n < 60; ++n) {
        jnAsset_SampleClip(a, 0, n / 30.0, pose, pose + 4 * joints, pose + 7 * joints);
        jnCharacterInput input = {.h = 1.0f / 30,
            .pose = {.rotations = pose, .translations = pose + 4 * joints, .scales = pose + 7 * joints}};
        jnCharacter_Skin(character, &input.pose, &(jnCharacterOutput){.positions = skinned});
        jnCharacter_Step(character, &input, &(jnCharacterOutput){.positions = shown});
        p.least = fmin(p.least, LeastOutside(a, shown));
        p.skinned = fmin(p.skinned, LeastOutside(a, skinned));
        p.body = fmax(p.body, LargestChange(a, "Body", shown, skinned));
        p.sleeve = fmax(p.sleeve, LargestChange(a, "Sleeve", shown, skinned));
        p.eye = a->partCount > 2 ? fmax(p.eye, LargestChange(a, "Eye", shown, skinned)) : 0;
    }
    jnDestroyCharacter(character);
    free(shown);
    free(pose);
    return p;
}

static void CheckPlayed(const Played* p)
{
    print_message("sleeve outside by %.2f mm at rest, %.2f at least (skinned alone %.2f); moved: body %.1f mm, sleeve "
                  "%.1f, eye %g\n",
        1e3 * p->rest, 1e3 * p->least, 1e3 * p->skinned, 1e3 * p->body, 1e3 * p->sleeve, 1e3 * p->eye);
    assert_true(p->rest > 0.9 * SLEEVE_GAP);
    assert_true(p->least > 0);
    assert_true(p->body > 5e-3);
    assert_true(p->sleeve > 5e-3 && p->sleeve < p->body); // the ends of the tube, which it does not cover, move most
}

static void ASleeveFollowsTheTubeInItAndAnEyeIsSkinnedAlone(void** state)
{
    (void)state;
    const DressedDef def = {.body = true, .sleeve = true, .eye = true, .moves = true};
    assert_int_equal(
        Run("new w --from '%s' --part Sleeve=follows --part Eye=rigid --json", WriteDressed("all", &def)), 0);
    json_t* root = json_loads(outcome.out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "flesh_vertices")), BODY_VERTICES);
    assert_int_equal(
        json_integer_value(json_object_get(root, "vertices")), BODY_VERTICES + SLEEVE_VERTICES + EYE_VERTICES);
    const json_t* parts = json_object_get(root, "parts");
    static const char* const roles[] = {"flesh", "follows", "rigid"};
    for (size_t i = 0; i < 3; ++i) {
        assert_string_equal(json_string_value(json_object_get(json_array_get(parts, i), "role")), roles[i]);
    }
    json_decref(root);
    assert_int_equal(Run("build w --until modes"), 0);
    assert_int_equal(Run("export w -o w.jounce"), 0);
    jnaAssetFile file;
    assert_int_equal(jnaOpenAsset("w.jounce", &file, NULL), jn_ok);
    Played played = Play(file.asset);
    CheckPlayed(&played);
    assert_true(played.eye == 0);
    jnaCloseAsset(&file);
}

static void ABakeAndAGlbHaveAllParts(void** state)
{
    (void)state;
    jnaArray array;
    assert_int_equal(Run("bake w.jounce --clip swing -o w.npy"), 0);
    assert_int_equal(jnaOpenArray("w.npy", &array, NULL), jn_ok);
    assert_int_equal(array.shape[1], BODY_VERTICES + SLEEVE_VERTICES + EYE_VERTICES);
    jnaCloseArray(&array);
    assert_int_equal(Run("export w -o w.glb"), 0);
    assert_int_equal(Run("new again --from w.glb --json"), 0); // every mesh of it, with its targets
    assert_non_null(strstr(outcome.out, "\"Sleeve\""));
    assert_non_null(strstr(outcome.out, "\"Eye\""));
    assert_int_equal(Run("info w.jounce"), 0);
    assert_non_null(strstr(outcome.out, "Sleeve"));
}

// by springs of single vertices
static void ASleeveFollowsSpringsOfVerticesToo(void** state)
{
    (void)state;
    const DressedDef def = {.body = true, .sleeve = true, .eye = true, .moves = true};
    assert_int_equal(
        Run("new v --from '%s' --part Sleeve=follows --part Eye=rigid --layer vertex", WriteDressed("all", &def)), 0);
    assert_int_equal(Run("export v -o v.jounce"), 0);
    jnaAssetFile file;
    assert_int_equal(jnaOpenAsset("v.jounce", &file, NULL), jn_ok);
    Played played = Play(file.asset);
    CheckPlayed(&played);
    assert_true(played.eye < 1e-6);
    jnaCloseAsset(&file);
}

// The material of the sleeve in an exported file is that of the file it came from, with its picture.
static void CheckLinen(const char* path)
{
    jnaGltf g;
    assert_int_equal(jnaOpenGltf(path, &g, NULL), jn_ok);
    const json_t *linen = NULL, *meshes = json_object_get(g.root, "meshes");
    for (size_t m = 0; m < json_array_size(meshes); ++m) {
        const json_t* primitives = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t p = 0; p < json_array_size(primitives); ++p) {
            const json_t* material =
                jnaGltf_Entry(&g, "materials", jnaGltf_Integer(json_array_get(primitives, p), "material", -1));
            const char* name = json_string_value(json_object_get(material, "name"));
            linen = name != NULL && strcmp(name, "Linen") == 0 ? material : linen;
        }
    }
    assert_non_null(linen);
    assert_true(json_is_true(json_object_get(linen, "doubleSided")));
    assert_null(json_object_get(linen, "normalTexture")); // on a second set of UVs, which is not there
    const json_t* sheen = json_object_get(json_object_get(linen, "extensions"), "KHR_materials_sheen");
    const json_t* color = json_object_get(json_object_get(linen, "pbrMetallicRoughness"), "baseColorTexture");
    int64_t number = jnaGltf_Integer(color, "index", -1);
    assert_int_equal(jnaGltf_Integer(json_object_get(sheen, "sheenColorTexture"), "index", -2), number);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(g.root, "extensionsUsed"), 0)), "KHR_materials_sheen");
    const json_t* texture = jnaGltf_Entry(&g, "textures", number);
    assert_int_equal(
        jnaGltf_Integer(jnaGltf_Entry(&g, "samplers", jnaGltf_Integer(texture, "sampler", -1)), "magFilter", 0), 9728);
    const json_t* image = jnaGltf_Entry(&g, "images", jnaGltf_Integer(texture, "source", -1));
    const json_t* view = jnaGltf_Entry(&g, "bufferViews", jnaGltf_Integer(image, "bufferView", -1));
    jnaGltfSource packed = {0};
    assert_int_equal(jnaReadGltfDocument(path, &packed, NULL), jn_ok);
    assert_int_equal(jnaGltf_Integer(view, "byteLength", 0), sizeof(DRESSED_PICTURE));
    assert_memory_equal(
        packed.binary + jnaGltf_Integer(view, "byteOffset", 0), DRESSED_PICTURE, sizeof(DRESSED_PICTURE));
    jnaDestroyGltfSource(&packed);
    jnaCloseGltf(&g);
}

// A shirt with the skeleton, and one that is only a shape; on modes, and on springs of vertices, which need no build.
static void ASleeveFromAnotherFileFollows(void** state)
{
    (void)state;
    const DressedDef body = {.body = true, .moves = true};
    char character[512];
    snprintf(character, sizeof(character), "%s", WriteDressed("body", &body));
    for (int bare = 0; bare < 2; ++bare) {
        const DressedDef shirt = {.sleeve = true, .bare = bare == 1, .woven = true};
        assert_int_equal(Run("new f%d --from '%s' --follow '%s' --layer %s", bare, character,
                             WriteDressed("shirt", &shirt), bare == 1 ? "vertex" : "modal"),
            0);
        assert_non_null(strstr(outcome.out, "follows"));
        assert_true((strstr(outcome.out, "take the weights of the nearest flesh") != NULL) == (bare == 1));
        assert_int_equal(bare == 1 ? 0 : Run("build f%d --until modes", bare), 0);
        assert_int_equal(Run("export f%d -o f.jounce", bare), 0);
        jnaAssetFile file;
        assert_int_equal(jnaOpenAsset("f.jounce", &file, NULL), jn_ok);
        assert_int_equal(file.asset->vertexCount, BODY_VERTICES + SLEEVE_VERTICES);
        Played played = Play(file.asset);
        CheckPlayed(&played);
        jnaCloseAsset(&file);
        if (bare == 1) {
            break; // springs of vertices are no morph targets
        }
        assert_int_equal(Run("export f%d -o f.glb", bare), 0);
        CheckLinen("f.glb");
        assert_int_equal(Run("new g%d --from f.glb --json", bare), 0);
        json_t* root = json_loads(outcome.out, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(root, "vertices")), BODY_VERTICES + SLEEVE_VERTICES);
        assert_int_equal(json_array_size(json_object_get(root, "parts")), 2);
        json_decref(root);
    }
}

static void AnUnknownPartIsRefusedWithTheListOfParts(void** state)
{
    (void)state;
    const DressedDef def = {.body = true, .sleeve = true, .moves = true};
    const char* path = WriteDressed("two", &def);
    assert_int_equal(Run("new x --from '%s' --part Shirt=follows", path), 1);
    assert_non_null(strstr(outcome.error, "'Shirt'"));
    assert_non_null(strstr(outcome.error, "'Body', 'Sleeve'"));
    assert_int_equal(Run("new x --from '%s' --part Body=rigid --part Sleeve=follows", path), 1);
    assert_non_null(strstr(outcome.error, "no part of the character is flesh"));
    assert_int_equal(Run("new x --from '%s' --part Sleeve=silk", path), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASleeveFollowsTheTubeInItAndAnEyeIsSkinnedAlone),
        cmocka_unit_test(ABakeAndAGlbHaveAllParts),
        cmocka_unit_test(ASleeveFollowsSpringsOfVerticesToo),
        cmocka_unit_test(ASleeveFromAnotherFileFollows),
        cmocka_unit_test(AnUnknownPartIsRefusedWithTheListOfParts),
    };
    return cmocka_run_group_tests(tests, EnterScratchFolder, LeaveScratchFolder);
}
