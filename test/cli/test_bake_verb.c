// jounce bake: in the vertex order, unit and axes of another file.
#include "helpers/command.h"

#include "base/npy.h"
#include "helpers/small_gltf.h"

static int MakeCharacter(void** state)
{
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    return RunJounce("new w --figure --layer vertex").code + RunJounce("export w -o w/character.jounce").code +
           RunJounce("bake w --clip run -o plain.npy").code;
}

// The rest surface as an OBJ: centimetres, Z up, vertices from the last to the first.
static int WriteOrder(const char* path, double stretch)
{
    jnaArray rest;
    assert_int_equal(jnaOpenArray("w/character/positions.npy", &rest, NULL), jn_ok);
    FILE* file = fopen(path, "w");
    for (size_t v = rest.shape[0]; v-- > 0;) {
        fprintf(file, "v %.7g %.7g %.7g\n", 100 * jnaArray_Get(&rest, 3 * v), -100 * jnaArray_Get(&rest, 3 * v + 2),
            stretch * 100 * jnaArray_Get(&rest, 3 * v + 1));
    }
    fclose(file);
    int count = (int)rest.shape[0];
    jnaCloseArray(&rest);
    return count;
}

static void ABakeTakesTheOrderUnitAndAxesOfAnotherFile(void** state)
{
    (void)state;
    int count = WriteOrder("order.obj", 1);
    Outcome outcome = RunJounce("bake w --clip run --order order.obj -o ordered.npy");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "by position, in centimetres, Z up"));
    assert_int_equal(RunJounce("bake w --clip run --order order.obj --units metres --up y -o ours.npy").code, 0);
    jnaArray plain, ordered, ours, weld;
    assert_int_equal(jnaOpenArray("plain.npy", &plain, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ordered.npy", &ordered, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("ours.npy", &ours, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("w/character/weld.npy", &weld, NULL), jn_ok);
    assert_int_equal(ordered.shape[1], count);
    double worst = 0;
    for (size_t frame = 0; frame < plain.shape[0]; frame += 7) {
        for (size_t i = 0; i < weld.count; ++i) {
            size_t point = (size_t)count - 1 - (size_t)((const int32_t*)weld.data)[i];
            size_t from = 3 * (frame * plain.shape[1] + i), to = 3 * (frame * (size_t)count + point);
            double y = jnaArray_Get(&plain, from + 1), z = jnaArray_Get(&plain, from + 2);
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 2) - 100 * y));
            worst = fmax(worst, fabs(jnaArray_Get(&ordered, to + 1) + 100 * z));
            worst = fmax(worst, 100 * fabs(jnaArray_Get(&ours, to + 1) - y));
        }
    }
    ASSERT_AT_MOST(worst, 2e-5); // centimetres
    jnaCloseArray(&plain);
    jnaCloseArray(&ordered);
    jnaCloseArray(&ours);
    jnaCloseArray(&weld);
}

// What was written goes back in, as it is.
static void ABakeOfOursIsMotionAgain(void** state)
{
    (void)state;
    WriteOrder("order.obj", 1);
    static const char* const files[] = {"back.abc", "back.pc2", "back.usda", "back.npy"};
#ifdef JN_SANITIZED
    enum { FORMATS = 1 }; // the readers and writers have tests of their own
#else
    enum { FORMATS = 4 };
#endif
    for (int i = 0; i < FORMATS; ++i) {
        char line[256];
        snprintf(line, sizeof(line), "bake w --clip run --order order.obj -o %s", files[i]);
        assert_int_equal(RunJounce(line).code, 0);
        snprintf(line, sizeof(line), "new back%d --figure --layer vertex --motion run=%s", i, files[i]);
        Outcome outcome = RunJounce(line);
        if (outcome.code != 0) {
            fail_msg("%s: %s", line, outcome.error);
        }
        assert_non_null(strstr(outcome.out, "in centimetres, Z up"));
    }
}

static void AnotherShapeAndAGlbAreRefused(void** state)
{
    (void)state;
    WriteOrder("tall.obj", 1.5);
    Outcome outcome = RunJounce("bake w --clip run --order tall.obj -o x.npy");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "tall.obj"));
    assert_false(FileExists("x.npy"));
    WriteOrder("order.obj", 1);
    outcome = RunJounce("bake w --clip run --order order.obj -o x.glb");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "its own vertex order"));
}

// A box of two halves on two joints, in an order of points of its own; the upper joint turns about Z in a second. Every
// triangle has its own normals, so that Assimp splits each of the 12 points into its corners.
enum { BOX_POINTS = 12 };

static void BoxPoint(int point, double* p)
{
    int order = point * 5 % BOX_POINTS, ring = order / 4, corner = order % 4; // 5 has no factor of 12
    p[0] = corner == 0 || corner == 3 ? 0.2 : -0.2;
    p[1] = 0.5 * ring;
    p[2] = corner < 2 ? 0.3 : -0.3;
}

static int BoxNumber(int ring, int corner)
{
    for (int point = 0; point < BOX_POINTS; ++point) {
        if (point * 5 % BOX_POINTS == 4 * ring + corner % 4) {
            return point;
        }
    }
    return -1;
}

static int AddTriangle(FILE* file, int a, int b, int c, int normal)
{
    fprintf(file, "%d %d %d %d %d %d ", a, normal, b, normal, c, normal);
    return 1;
}

static void WriteMesh(FILE* file)
{
    fprintf(
        file, "<library_geometries><geometry id=\"box\"><mesh><source id=\"p\"><float_array id=\"pa\" count=\"36\">");
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        fprintf(file, "%g %g %g ", p[0], p[1], p[2]);
    }
    fprintf(file,
        "</float_array><technique_common><accessor source=\"#pa\" count=\"12\" stride=\"3\"><param name=\"X\" "
        "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
        "</technique_common></source><source id=\"n\"><float_array id=\"na\" count=\"60\">");
    for (int i = 0; i < 20; ++i) { // one for each triangle, which is enough to split them
        fprintf(file, "%g %g 0 ", cos(0.1 * i), sin(0.1 * i));
    }
    fprintf(file,
        "</float_array><technique_common><accessor source=\"#na\" count=\"20\" stride=\"3\"><param name=\"X\" "
        "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"
        "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
        "<triangles count=\"20\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><input "
        "semantic=\"NORMAL\" source=\"#n\" offset=\"1\"/><p>");
    int count = 0;
    for (int ring = 0; ring < 2; ++ring) {
        for (int c = 0; c < 4; ++c) {
            int a = BoxNumber(ring, c), b = BoxNumber(ring, c + 1), d = BoxNumber(ring + 1, c),
                e = BoxNumber(ring + 1, c + 1);
            count += AddTriangle(file, a, d, b, count);
            count += AddTriangle(file, b, d, e, count);
        }
    }
    for (int end = 0; end < 2; ++end) {
        int c[4];
        for (int i = 0; i < 4; ++i) {
            c[i] = BoxNumber(2 * end, end ? 3 - i : i);
        }
        count += AddTriangle(file, c[0], c[1], c[2], count);
        count += AddTriangle(file, c[0], c[2], c[3], count);
    }
    assert_int_equal(count, 20);
    fprintf(file, "</p></triangles></mesh></geometry></library_geometries>");
}

static void WriteSkin(FILE* file)
{
    fprintf(file,
        "<library_controllers><controller id=\"skin\"><skin source=\"#box\"><bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 "
        "0 0 "
        "0 1</bind_shape_matrix><source id=\"j\"><Name_array id=\"ja\" count=\"2\">Low "
        "High</Name_array><technique_common>"
        "<accessor source=\"#ja\" count=\"2\" stride=\"1\"><param name=\"JOINT\" type=\"name\"/></accessor>"
        "</technique_common></source><source id=\"b\"><float_array id=\"ba\" count=\"32\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 "
        "0 1 "
        "1 0 0 0 0 1 0 -0.5 0 0 1 0 0 0 0 1</float_array><technique_common><accessor source=\"#ba\" count=\"2\" "
        "stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/></accessor></technique_common></source>"
        "<source id=\"w\"><float_array id=\"wa\" count=\"1\">1</float_array><technique_common><accessor source=\"#wa\" "
        "count=\"1\" stride=\"1\"><param name=\"WEIGHT\" "
        "type=\"float\"/></accessor></technique_common></source><joints>"
        "<input semantic=\"JOINT\" source=\"#j\"/><input semantic=\"INV_BIND_MATRIX\" source=\"#b\"/></joints>"
        "<vertex_weights count=\"12\"><input semantic=\"JOINT\" source=\"#j\" offset=\"0\"/><input semantic=\"WEIGHT\" "
        "source=\"#w\" offset=\"1\"/><vcount>1 1 1 1 1 1 1 1 1 1 1 1</vcount><v>");
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        fprintf(file, "%d 0 ", p[1] > 0.75);
    }
    fprintf(file, "</v></vertex_weights></skin></controller></library_controllers>");
}

static void WriteCollada(const char* path)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
                  "version=\"1.4.1\"><asset><unit name=\"meter\" meter=\"1\"/><up_axis>Y_UP</up_axis></asset>");
    WriteMesh(file);
    WriteSkin(file);
    fprintf(file,
        "<library_animations><animation id=\"turn\"><source id=\"t\"><float_array id=\"ta\" count=\"2\">0 "
        "1</float_array>"
        "<technique_common><accessor source=\"#ta\" count=\"2\" stride=\"1\"><param name=\"TIME\" type=\"float\"/>"
        "</accessor></technique_common></source><source id=\"m\"><float_array id=\"ma\" count=\"32\">1 0 0 0 0 1 0 0.5 "
        "0 0 "
        "1 0 0 0 0 1 0 -1 0 0 1 0 0 0.5 0 0 1 0 0 0 0 1</float_array><technique_common><accessor source=\"#ma\" "
        "count=\"2\" stride=\"16\"><param name=\"TRANSFORM\" type=\"float4x4\"/></accessor></technique_common></source>"
        "<source id=\"i\"><Name_array id=\"ia\" count=\"2\">LINEAR LINEAR</Name_array><technique_common><accessor "
        "source=\"#ia\" count=\"2\" stride=\"1\"><param name=\"INTERPOLATION\" type=\"name\"/></accessor>"
        "</technique_common></source><sampler id=\"s\"><input semantic=\"INPUT\" source=\"#t\"/><input "
        "semantic=\"OUTPUT\" "
        "source=\"#m\"/><input semantic=\"INTERPOLATION\" source=\"#i\"/></sampler><channel source=\"#s\" "
        "target=\"High/matrix\"/></animation></library_animations><library_visual_scenes><visual_scene "
        "id=\"scene\"><node "
        "id=\"Low\" name=\"Low\" sid=\"Low\" type=\"JOINT\"><matrix sid=\"matrix\">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 "
        "1</matrix><node id=\"High\" name=\"High\" sid=\"High\" type=\"JOINT\"><matrix sid=\"matrix\">1 0 0 0 0 1 0 "
        "0.5 0 0 "
        "1 0 0 0 0 1</matrix></node></node><node id=\"body\"><instance_controller "
        "url=\"#skin\"><skeleton>#Low</skeleton>"
        "</instance_controller></node></visual_scene></library_visual_scenes><scene><instance_visual_scene "
        "url=\"#scene\"/></scene></COLLADA>");
    fclose(file);
}

static void ABakeOfAColladaCharacterIsInThePointsOfItsSource(void** state)
{
    (void)state;
    WriteCollada("box.dae");
    Outcome outcome = RunJounce("new box --from box.dae --layer vertex");
    if (outcome.code != 0) {
        fail_msg("%s", outcome.error);
    }
    assert_non_null(strstr(outcome.out, "the source has 12 points; the file splits them into 60 vertices"));
    assert_int_equal(RunJounce("export box -o box/character.jounce").code, 0);
    outcome = RunJounce("info box");
    assert_non_null(strstr(outcome.out, "points    12 in the source, 12 welded, 60 split"));
    char line[256];
    outcome = RunJounce("bake box --clip nothing -o x.npy");
    char name[64] = "";
    const char* listed = strstr(outcome.error, "it has: ");
    assert_non_null(listed);
    assert_int_equal(sscanf(listed, "it has: %60[^\n]", name), 1);
    snprintf(line, sizeof(line), "bake box --clip %s --stage skinned -o points.npy", name);
    assert_int_equal(RunJounce(line).code, 0);
    jnaArray points, split;
    assert_int_equal(jnaOpenArray("points.npy", &points, NULL), jn_ok);
    assert_int_equal(points.shape[1], BOX_POINTS);
    for (int i = 0; i < BOX_POINTS; ++i) {
        double p[3];
        BoxPoint(i, p);
        for (size_t k = 0; k < 3; ++k) {
            ASSERT_NEAR(jnaArray_Get(&points, 3 * (size_t)i + k), p[k], 1e-6);
        }
    }
    jnaCloseArray(&points);
    snprintf(line, sizeof(line), "bake box --clip %s --order split -o split.npy", name);
    assert_int_equal(RunJounce(line).code, 0);
    assert_int_equal(jnaOpenArray("split.npy", &split, NULL), jn_ok);
    assert_int_equal(split.shape[1], 60);
    jnaCloseArray(&split);
}

// The skinned loop so many times over, as targets of springs.
static size_t RepeatTargets(const char* from, const char* to, size_t times)
{
    jnaArray one;
    assert_int_equal(jnaOpenArray(from, &one, NULL), jn_ok);
    float* all = malloc(times * one.count * sizeof(float));
    assert_non_null(all);
    for (size_t i = 0; i < times * one.count; ++i) {
        all[i] = (float)jnaArray_Get(&one, i % one.count);
    }
    size_t shape[3] = {times * one.shape[0], one.shape[1], 3}, count = one.count;
    assert_int_equal(jnaWriteArray(to, jna_float32, 3, shape, all, NULL), jn_ok);
    free(all);
    jnaCloseArray(&one);
    return count;
}

static void AnImportedLoopOfAnyLengthBakesSeamlessly(void** state)
{
    (void)state;
    char line[1024];
    const double hertz = 3, ratio = 0.2, turn = 6.283185307179586; // of springs by hand
    snprintf(line, sizeof(line), "new loop --from '%s' --layer vertex",
        WriteTube("seamless", &(TubeDef){.joints = 2, .armature = "", .animation = "loop"}));
    Outcome outcome = RunJounce(line);
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "a loop of 21 frames at 29.65 Hz"));
    assert_int_equal(RunJounce("export loop -o loop/character.jounce").code, 0);
    assert_int_equal(RunJounce("bake loop --clip wave_top --stage skinned -o skinned.npy").code, 0);
    assert_int_equal(RunJounce("bake loop --clip wave_top --seamless -o seamless.npy").code, 0);
    size_t count = RepeatTargets("skinned.npy", "repeated.npy", 8);
    snprintf(line, sizeof(line),
        "springs run --targets repeated.npy --stiffness %.9g --damping %.9g --dt %.9g --mode causal -o run.npy",
        turn * hertz * turn * hertz, 2 * ratio * turn * hertz, TUBE_LOOP / 21);
    assert_int_equal(RunJounce(line).code, 0);
    jnaArray seamless, run;
    assert_int_equal(jnaOpenArray("seamless.npy", &seamless, NULL), jn_ok);
    assert_int_equal(jnaOpenArray("run.npy", &run, NULL), jn_ok);
    assert_int_equal(seamless.shape[0], 21);
    double worst = 0, moved = 0;
    for (size_t i = 0; i < count; ++i) { // its last round against the periodic solution
        worst = fmax(worst, fabs(jnaArray_Get(&seamless, i) - jnaArray_Get(&run, 7 * count + i)));
        moved = fmax(moved, fabs(jnaArray_Get(&seamless, i) - jnaArray_Get(&run, i)));
    }
    print_message("a loop against its eighth round: %.2g m; its first is %.2g m off\n", worst, moved);
    assert_true(worst < 1e-5 && moved > 1e-3);
    jnaCloseArray(&seamless);
    jnaCloseArray(&run);
    // As the file has it, where the manifest wants that.
    assert_int_equal(system("sed -i 's/    animation: .*/&\\n    loop: false/' loop/manifest.yaml"), 0);
    assert_int_equal(RunJounce("build loop --until import").code, 0);
    assert_int_equal(RunJounce("export loop -o loop/character.jounce").code, 0);
    outcome = RunJounce("info loop");
    assert_non_null(strstr(outcome.out, "wave_top: 22 frames at 30 Hz"));
    assert_null(strstr(outcome.out, "looping"));
}

static void AClipCanBeDeclaredALoop(void** state)
{
    (void)state;
    char line[1024];
    snprintf(line, sizeof(line), "new open --from '%s' --layer vertex",
        WriteTube("seamless", &(TubeDef){.joints = 2, .armature = "", .animation = "rotation"}));
    assert_int_equal(RunJounce(line).code, 0);
    assert_int_equal(RunJounce("export open -o open/character.jounce").code, 0);
    assert_null(strstr(RunJounce("info open").out, "looping"));
    assert_int_equal(system("sed -i 's/    animation: .*/&\\n    loop: true/' open/manifest.yaml"), 0);
    assert_int_equal(RunJounce("build open --until import").code, 0);
    assert_int_equal(RunJounce("export open -o open/character.jounce").code, 0);
    assert_non_null(strstr(RunJounce("info open").out, "wave_top: 31 frames at 30 Hz, 1.03 s, looping"));
    assert_int_equal(RunJounce("bake open --clip wave_top --seamless -o seamless.npy").code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnImportedLoopOfAnyLengthBakesSeamlessly),
        cmocka_unit_test(AClipCanBeDeclaredALoop),
        cmocka_unit_test(ABakeOfAColladaCharacterIsInThePointsOfItsSource),
        cmocka_unit_test(ABakeTakesTheOrderUnitAndAxesOfAnotherFile),
        cmocka_unit_test(ABakeOfOursIsMotionAgain),
        cmocka_unit_test(AnotherShapeAndAGlbAreRefused),
    };
    return cmocka_run_group_tests(tests, MakeCharacter, LeaveScratchFolder);
}
