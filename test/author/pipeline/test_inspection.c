// What an inspection says of clips that are whole, that break and that do not move.
#include "helpers/small_surface.h"
#include "pipeline/inspection.h"
#include "pipeline/inspection_store.h"

enum { CLIPS = 3 };

// Three clips of a body of two vertices: a thigh and something on the joint "Tail".
typedef struct Scene {
    jnaCharacter character;
    jnaJoint joints[2];
    jnaInfluences influences[2];
    uint8_t regions[2];
    jnaClipInspection clips[CLIPS];
    jnaInspection in;
} Scene;

static void MakeScene(Scene* s)
{
    static const char* const names[CLIPS] = {"idle", "run", "jump"};
    *s = (Scene){.regions = {jna_regionThigh, jna_regionOther}};
    snprintf(s->joints[1].name, sizeof(s->joints[1].name), "Tail");
    s->influences[1].joints[0] = 1;
    s->character = (jnaCharacter){.vertexCount = 2, .jointCount = 2, .joints = s->joints, .influences = s->influences};
    for (int i = 0; i < CLIPS; ++i) {
        s->clips[i] = (jnaClipInspection){.name = names[i],
            .frameCount = 100,
            .frame = 7 + i,
            .largest = 0.01 * (i + 1),
            .brokenFrame = -1,
            .travel = 1};
        s->clips[i].motion[jna_regionThigh] = 0.001 * (i + 1);
    }
    s->in = (jnaInspection){.character = &s->character,
        .modal = true,
        .edgeCount = 1000,
        .triangleCount = 600,
        .clipCount = CLIPS,
        .clips = s->clips,
        .regions = s->regions,
        .frameCount = 300,
        .farthest = 2,
        .worst = 2,
        .strongest = 2};
    s->in.sizes[jna_regionThigh] = s->in.sizes[jna_regionOther] = 1;
}

static void ExpectLine(const jnaNotes* notes, int line, const char* text)
{
    assert_true(line < notes->count);
    if (strstr(notes->lines[line], text) == NULL) {
        fail_msg("'%s' has no '%s'", notes->lines[line], text);
    }
}

static void OneLineSaysThatAllIsWhole(void** state)
{
    (void)state;
    Scene s;
    jnaNotes notes = {0};
    MakeScene(&s);
    assert_true(jnaInspection_IsWhole(&s.in));
    jnaInspection_Tell(&s.in, 3, &notes);
    assert_int_equal(notes.count, 2);
    ExpectLine(&notes, 0,
        "surface: 3 clips, 300 frames: 0 flipped, 0 torn edges (0.00 in a million), worst frame 9 of jump at the "
        "thigh, "
        "30.0 mm");
    ExpectLine(&notes, 1, "motion: thigh 3.0 mm rms in jump");
    jnaDestroyNotes(&notes);
}

// 300 frames of 1000 edges: one torn edge is 3.3 in a million.
static void OneTornEdgeInAMillionIsAccepted(void** state)
{
    (void)state;
    Scene s;
    MakeScene(&s);
    s.in.torn = 1;
    assert_false(jnaInspection_IsWhole(&s.in));
    s.in.frameCount = 1000;
    assert_true(jnaInspection_IsWhole(&s.in));
    s.in.flipped = 1;
    assert_false(jnaInspection_IsWhole(&s.in));
}

static void ClipsThatBreakAreNamedTheWorstFirst(void** state)
{
    (void)state;
    Scene s;
    jnaNotes notes = {0};
    MakeScene(&s);
    for (int i = 0; i < CLIPS; ++i) {
        s.clips[i].torn = i == 1 ? 50 : 20;
        s.clips[i].flipped = 2;
        s.clips[i].badFrames = 4;
        s.clips[i].broken = 9;
        s.clips[i].brokenFrame = 30 + i;
        s.clips[i].brokenVertex = i == 0;
    }
    s.clips[1].isTest = true;
    jnaInspection_Tell(&s.in, 2, &notes);
    assert_int_equal(notes.count, 5);
    ExpectLine(&notes, 2,
        "warning: the surface breaks in 4 of 100 frames of run (test): 2 flipped triangles, 50 torn edges; worst in "
        "frame "
        "31 at the thigh");
    ExpectLine(&notes, 3, "of idle: 2 flipped triangles, 20 torn edges; worst in frame 30 at joint Tail");
    ExpectLine(&notes, 4, "the surface breaks in 1 more clip");
    assert_int_equal(jnaClipInspection_Worst(&s.clips[1]), 31);
    jnaDestroyNotes(&notes);
}

static void ASurfaceThatDoesNotMoveIsSaid(void** state)
{
    (void)state;
    Scene s;
    jnaNotes notes = {0};
    MakeScene(&s);
    s.in.still = true;
    jnaInspection_Tell(&s.in, 3, &notes);
    ExpectLine(&notes, 2, "warning: nothing moves in any clip");
    jnaDestroyNotes(&notes);
}

static void AllNumbersAreInTheJson(void** state)
{
    (void)state;
    Scene s;
    MakeScene(&s);
    s.in.torn = s.clips[1].torn = 3;
    json_t* root = jnaInspection_Describe(&s.in);
    assert_non_null(root);
    const json_t* clip = json_array_get(json_object_get(root, "clips"), 1);
    assert_int_equal(json_integer_value(json_object_get(root, "torn")), 3);
    assert_int_equal(json_integer_value(json_object_get(clip, "torn")), 3);
    assert_true(fabs(json_number_value(json_object_get(clip, "torn_in_a_million")) - 30) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(clip, "largest_mm")) - 20) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(json_object_get(clip, "motion_mm"), "thigh")) - 2) < 1e-9);
    assert_true(json_is_false(json_object_get(root, "whole")));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(OneLineSaysThatAllIsWhole),
        cmocka_unit_test(OneTornEdgeInAMillionIsAccepted),
        cmocka_unit_test(ClipsThatBreakAreNamedTheWorstFirst),
        cmocka_unit_test(ASurfaceThatDoesNotMoveIsSaid),
        cmocka_unit_test(AllNumbersAreInTheJson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
