// Notes that differ only in a name and in numbers are one line; all others stay.
#include "helpers/support.h"

#include "base/notes.h"

static void NotesOfOneKindAreOneLine(void** state)
{
    (void)state;
    static const char* const names[] = {"Idle", "Run", "Jump", "Wave", "Punch", "Yes", "No"};
    jnaNotes notes = {0};
    jnaNotes_Add(&notes, "3 morph targets are kept");
    for (int i = 0; i < 7; ++i) {
        jnaNotes_Add(&notes, "clip '%s' is a loop of %d frames at %.4g Hz", names[i], 10 * i, 30 + 0.11 * i);
        jnaNotes_Add(&notes, "joint '%s' shears", names[i]);
    }
    jnaNotes_Add(&notes, "7 morph targets are kept"); // numbers without a name are not the same thing twice
    jnaNotes groups = jnaNotes_Group(&notes);
    assert_int_equal(groups.count, 4);
    assert_string_equal(groups.lines[0], "3 morph targets are kept");
    assert_string_equal(groups.lines[1], "clip 'Idle' is a loop of 0 frames at 30 Hz; the same for 6 more: 'Run', "
                                         "'Jump', 'Wave', 'Punch' and 2 more");
    assert_string_equal(
        groups.lines[2], "joint 'Idle' shears; the same for 6 more: 'Run', 'Jump', 'Wave', 'Punch' and 2 more");
    assert_string_equal(groups.lines[3], "7 morph targets are kept");
    jnaDestroyNotes(&groups);
    jnaDestroyNotes(&notes);
}

static void NotesThatSayDifferentThingsStayApart(void** state)
{
    (void)state;
    jnaNotes notes = {0};
    jnaNotes_Add(&notes, "clip 'a': joints without a match: Tail");
    jnaNotes_Add(&notes, "clip 'b': joints without a match: Tail, Ear");
    jnaNotes_Add(&notes, "clip 'c': joints without a match: Tail");
    jnaNotes_Add(&notes, "joint 'a' is in 'x'");
    jnaNotes_Add(&notes, "joint 'b' is in 'y'");
    jnaNotes groups = jnaNotes_Group(&notes);
    assert_int_equal(groups.count, 4);
    assert_string_equal(groups.lines[0], "clip 'a': joints without a match: Tail; the same for 1 more: 'c'");
    assert_string_equal(groups.lines[3], "joint 'b' is in 'y'");
    jnaDestroyNotes(&groups);
    jnaDestroyNotes(&notes);
}

// A line that is too long loses its end, not the names.
static void LongNotesKeepTheNames(void** state)
{
    (void)state;
    char text[JNA_NOTE_LENGTH];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 20] = '\0';
    jnaNotes notes = {0};
    jnaNotes_Add(&notes, "clip 'a' %s", text);
    jnaNotes_Add(&notes, "clip 'b' %s", text);
    jnaNotes groups = jnaNotes_Group(&notes);
    assert_int_equal(groups.count, 1);
    assert_non_null(strstr(groups.lines[0], "; the same for 1 more: 'b'"));
    jnaDestroyNotes(&groups);
    jnaDestroyNotes(&notes);
}

static void NoNotesAreNoLines(void** state)
{
    (void)state;
    jnaNotes none = {0}, groups = jnaNotes_Group(&none);
    assert_int_equal(groups.count, 0);
    jnaDestroyNotes(&groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NotesOfOneKindAreOneLine),
        cmocka_unit_test(NotesThatSayDifferentThingsStayApart),
        cmocka_unit_test(LongNotesKeepTheNames),
        cmocka_unit_test(NoNotesAreNoLines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
