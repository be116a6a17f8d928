// An avatar without a body under its clothes is recognised by how its parts hang together.
#include "character/figure.h"
#include "helpers/voxels.h"

static jnaCharacter character;
static jnaSurface surface;
static jnaNotes notes;
static jnError error;

static int Clear(void** state)
{
    (void)state;
    jnaDestroyCharacter(&character);
    jnaDestroySurface(&surface);
    jnaDestroyNotes(&notes);
    notes = (jnaNotes){0};
    return 0;
}

static double WeightOn(int vertex, const char* first, const char* second)
{
    double sum = 0;
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        const char* name = character.joints[character.influences[vertex].joints[i]].name;
        bool on = strstr(name, first) != NULL || strstr(name, second) != NULL;
        sum += on ? (double)character.influences[vertex].weights[i] : 0;
    }
    return sum;
}

// Takes the triangles between head, hands and the rest out, as if the body ended in collar and cuffs.
static void Cut(void)
{
    for (int p = 0; p < character.partCount; ++p) {
        character.parts[p].triangleCount = 0;
    }
    int kept = 0;
    for (int t = 0; t < character.triangleCount; ++t) {
        int own = 0;
        bool between = false;
        for (int k = 0; k < 3; ++k) {
            int v = character.weld[character.triangles[3 * t + k]];
            double weight = WeightOn(v, "ead", "and");
            own += weight > 0.5;
            between = between || (weight > 0.01 && weight < 0.99);
        }
        if ((own == 0 || own == 3) && !between) {
            memmove(character.triangles + 3 * kept++, character.triangles + 3 * t, 3 * sizeof(int32_t));
        }
    }
    character.triangleCount = kept;
}

static int CountKind(jnaSkinKind kind)
{
    int count = 0;
    for (int v = 0; v < character.vertexCount; ++v) {
        count += surface.kinds[v] == kind;
    }
    return count;
}

static void ABodyInOnePieceIsFlesh(void** state)
{
    (void)state;
    assert_int_equal(jnaCreateFigure(&character, &error), jn_ok);
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, &notes, &error), jn_ok);
    assert_int_equal(CountKind(jna_skinClothed), 0);
    assert_false(HasNote(&notes, "no body under the clothes"));
}

static void HeadAndHandsApartAreAnOutfit(void** state)
{
    (void)state;
    assert_int_equal(jnaCreateFigure(&character, &error), jn_ok);
    Cut();
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, &notes, &error), jn_ok);
    assert_true(HasNote(&notes, "no body under the clothes"));
    assert_true(CountKind(jna_skinClothed) > character.vertexCount / 4);
    for (int v = 0; v < character.vertexCount; ++v) {
        if (WeightOn(v, "ead", "and") > 0.99) {
            assert_int_not_equal(surface.kinds[v], jna_skinClothed);
        }
    }
}

static void WhatAPersonCallsFleshIsNoOutfit(void** state)
{
    (void)state;
    assert_int_equal(jnaCreateFigure(&character, &error), jn_ok);
    Cut();
    character.marks = malloc((size_t)character.vertexCount);
    memset(character.marks, JNA_MARK(jna_meshFlesh), (size_t)character.vertexCount);
    assert_int_equal(jnaCreateSurface(&character, false, jna_shellsAuto, &surface, &notes, &error), jn_ok);
    assert_int_equal(CountKind(jna_skinClothed), 0);
    assert_false(HasNote(&notes, "no body under the clothes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(ABodyInOnePieceIsFlesh, Clear),
        cmocka_unit_test_teardown(HeadAndHandsApartAreAnOutfit, Clear),
        cmocka_unit_test_teardown(WhatAPersonCallsFleshIsNoOutfit, Clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
