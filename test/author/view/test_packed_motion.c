// The packed motion of a page: a motion that lies in a few fields comes back, a budget is kept, and a file that was
// packed reads as its header says.
#include "helpers/support.h"
#include "helpers/tube_scene.h"

#include "jounce/character.h"
#include "runtime/for_author.h"
#include "view/packed_motion.h"

enum { FIRST = 4, FRAMES = 50, PLENTY = 1 << 24 };

static TubeScene scene;
static void* bytes;
static jnAsset* asset;
static float* rows; // [FRAMES][vertexCount][3]

// What the runtime plays on nine modes: fields enough are the mean and nine more.
static void Play(void)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    jnCharacter* character;
    jnError error;
    assert_int_equal(jnCreateCharacter(&def, &character, &error), jn_ok);
    float* positions = calloc((size_t)asset->vertexCount * 3, sizeof(float));
    for (int n = 0; n < FIRST + FRAMES; ++n) {
        float rotations[4 * TUBE_JOINTS], translations[3 * TUBE_JOINTS], scales[3 * TUBE_JOINTS];
        jnAsset_SampleClip(asset, 0, n / 30.0, rotations, translations, scales);
        jnCharacter_Step(character,
            &(jnCharacterInput){
                .h = 1.0f / 30, .pose = {.rotations = rotations, .translations = translations, .scales = scales}},
            &(jnCharacterOutput){.positions = positions, .welded = true});
        for (int v = 0; v < asset->vertexCount && n >= FIRST; ++v) {
            size_t to =
                (size_t)(n - FIRST) * (size_t)asset->vertexCount + (size_t)(asset->order != NULL ? asset->order[v] : v);
            memcpy(rows + 3 * to, positions + 3 * v, 3 * sizeof(float));
        }
    }
    free(positions);
    jnDestroyCharacter(character);
}

static int Make(void** state)
{
    (void)state;
    jnError error = {0};
    size_t size;
    if (MakeTubeScene(&scene, true, &error) != jn_ok) {
        return -1;
    }
    jnaAssetDef def = DefineTube(&scene);
    if (jnaEncodeAsset(&def, &bytes, &size, &error) != jn_ok ||
        jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &asset, &error) != jn_ok) {
        print_message("%s\n", error.message);
        return -1;
    }
    rows = malloc((size_t)FRAMES * (size_t)asset->vertexCount * 3 * sizeof(float));
    Play();
    return 0;
}

static int Free(void** state)
{
    (void)state;
    free(rows);
    jnDestroyAsset(asset);
    free(bytes);
    DestroyTubeScene(&scene);
    return 0;
}

static jnaPackedMotion Pack(size_t budget)
{
    jnaPackedMotion packed;
    jnError error = {0};
    jnaPackDef def = {.asset = asset, .clip = 0, .first = FIRST, .frames = FRAMES, .rows = rows, .budget = budget};
    if (jnaPackMotion(&def, &packed, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    return packed;
}

static void test_a_motion_on_nine_modes_is_at_most_ten_fields(void** state)
{
    (void)state;
    jnaPackedMotion packed = Pack(PLENTY);
    assert_true(packed.fields > 2 && packed.fields <= TUBE_MODES + 1);
    assert_true(packed.rms < 1.1e-4);
    assert_true(packed.worst < 2e-3 && packed.worst >= packed.rms);
    free(packed.bytes);
}

static void test_the_file_is_what_its_header_says(void** state)
{
    (void)state;
    jnaPackedMotion packed = Pack(PLENTY);
    const char* file = packed.bytes;
    uint32_t head[5];
    memcpy(head, file + 4, sizeof(head));
    assert_memory_equal(file, "JNPM", 4);
    assert_int_equal(head[0], 1);
    assert_int_equal(head[1], FRAMES);
    assert_int_equal(head[2], FIRST);
    assert_int_equal(head[3], asset->vertexCount);
    assert_int_equal(head[4], packed.fields);
    size_t fields = (size_t)packed.fields, vertices = (size_t)asset->vertexCount;
    assert_int_equal(packed.size, 24 + 4 * fields + 4 * FRAMES * fields + 6 * fields * vertices);
    // the first field is the mean, with a coefficient of 1
    const float* coefficients = (const float*)(file + 24) + fields;
    for (size_t n = 0; n < FRAMES; ++n) {
        assert_true(coefficients[n * fields] == 1.0f);
    }
    free(packed.bytes);
}

static void test_a_budget_is_kept_and_costs_precision(void** state)
{
    (void)state;
    jnaPackedMotion all = Pack(PLENTY);
    size_t field = (all.size - 24) / (size_t)all.fields;
    jnaPackedMotion some = Pack(24 + 3 * field), mean = Pack(1);
    assert_int_equal(some.fields, 3);
    assert_true(some.size <= 24 + 3 * field);
    assert_int_equal(mean.fields, 1);
    assert_true(some.rms > 2 * all.rms && mean.rms > some.rms);
    free(all.bytes);
    free(some.bytes);
    free(mean.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_motion_on_nine_modes_is_at_most_ten_fields),
        cmocka_unit_test(test_the_file_is_what_its_header_says),
        cmocka_unit_test(test_a_budget_is_kept_and_costs_precision),
    };
    return cmocka_run_group_tests(tests, Make, Free);
}
