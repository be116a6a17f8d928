// A person of six metres or of twenty centimetres is worth a note; one of a usual height is not, nor is a tube.
#include "helpers/the_figure.h"

#include "pipeline/height_note.h"

// The figure in another unit.
static void Scale(jnaCharacter* c, float by)
{
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        c->positions[i] *= by;
    }
    for (int j = 0; j < c->jointCount; ++j) {
        for (int i = 0; i < 3; ++i) {
            c->joints[j].translation[i] *= by;
            c->joints[j].inverseBind[4 * i + 3] *= by;
        }
    }
}

static void OnlyImplausiblePeopleAreNoted(void** state)
{
    (void)state;
    static const struct {
        float by;
        bool noted;
    } cases[] = {{1, false}, {3.5F, true}, {0.05F, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        jnaCharacter c;
        jnaNotes notes = {0};
        assert_int_equal(jnaCreateFigure(&c, NULL), jn_ok);
        Scale(&c, cases[i].by);
        assert_int_equal(jnaNoteHeight(&c, 1, &notes, NULL), jn_ok);
        assert_int_equal(notes.count, cases[i].noted);
        if (cases[i].noted) {
            assert_non_null(strstr(notes.lines[0], "--scale"));
            char height[32];
            snprintf(height, sizeof(height), "%.3g m tall", jnaHeightOf(&c));
            assert_non_null(strstr(notes.lines[0], height));
        }
        jnaDestroyNotes(&notes);
        jnaDestroyCharacter(&c);
    }
}

// Names of joints that say nothing, and no limbs.
static void AColumnMayHaveAnyHeight(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaNotes notes = {0};
    assert_int_equal(jnaCreateFigure(&c, NULL), jn_ok);
    Scale(&c, 4);
    for (int j = 0; j < c.jointCount; ++j) {
        snprintf(c.joints[j].name, sizeof(c.joints[j].name), "j%d", j);
        c.joints[j].parent = j - 1;
    }
    assert_int_equal(jnaNoteHeight(&c, 1, &notes, NULL), jn_ok);
    assert_int_equal(notes.count, 0);
    jnaDestroyNotes(&notes);
    jnaDestroyCharacter(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(OnlyImplausiblePeopleAreNoted),
        cmocka_unit_test(AColumnMayHaveAnyHeight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
