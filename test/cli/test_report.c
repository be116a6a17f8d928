// jounce report on a tiny workspace: every figure is there once its stage has run, and what is missing is said.
#include "helpers/command.h"
#include "helpers/network_scene.h"
#include "helpers/small_gltf.h"
#include "helpers/write_shapes.h"
#include "workspace/store.h"

enum { POSES = 40 };

// The report as text; the caller frees it.
static char* ReadReport(const char* path)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char* text = calloc(1, size + 1);
    assert_non_null(text);
    rewind(file);
    assert_true(fread(text, 1, size, file) == size);
    fclose(file);
    return text;
}

static void Run(const char* arguments)
{
    Outcome outcome = RunJounce(arguments);
    if (outcome.code != 0) {
        fail_msg("jounce %s: exit %d: %s", arguments, outcome.code, outcome.error);
    }
}

// A workspace whose name and manifest would break a page that does not escape them.
static int MakeWorkspace(void** state)
{
    TubeDef def = {.joints = 2, .armature = "", .animation = "rotation"};
    char line[2048];
    if (EnterScratchFolder(state) != 0) {
        return -1;
    }
    snprintf(line, sizeof(line), "new w --from '%s' --layer vertex", WriteTube("report", &def));
    Run(line);
    FILE* manifest = fopen("w/manifest.yaml", "ab");
    assert_non_null(manifest);
    fputs("# <script>alert(\"1\")</script> & more\n", manifest);
    fclose(manifest);
    return 0;
}

// Tags are closed in the order they were opened; attributes are quoted; nothing is left open.
static void AssertWellFormed(const char* html)
{
    static const char* const empty[] = {"meta", "img", "br", "path", "rect", "polyline"};
    static char open[64][16];
    int depth = 0;
    for (const char* at = strchr(html, '<'); at != NULL; at = strchr(at, '<')) {
        char name[16] = "";
        bool closing = at[1] == '/';
        int length = (int)strspn(at + 1 + closing, "abcdefghijklmnopqrstuvwxyz123456789");
        if (at[1] == '!') {
            at = strchr(at, '>');
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", length < 15 ? length : 15, at + 1 + closing);
        if (length == 0) {
            fail_msg("a bare < in the page: %.60s", at);
        }
        bool quoted = false;
        for (++at; *at != '\0' && (quoted || *at != '>'); ++at) {
            quoted = *at == '"' ? !quoted : quoted;
        }
        assert_true(*at == '>');
        bool isEmpty = at[-1] == '/';
        for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); ++i) {
            isEmpty = isEmpty || strcmp(empty[i], name) == 0;
        }
        if (closing) {
            if (depth == 0 || strcmp(open[depth - 1], name) != 0) {
                fail_msg("</%s> closes <%s>", name, depth > 0 ? open[depth - 1] : "nothing");
            }
            depth--;
        } else if (!isEmpty) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof(name));
        }
    }
    assert_int_equal(depth, 0);
}

static void AssertIds(const char* html, const char* const* ids)
{
    for (; *ids != NULL; ++ids) {
        char wanted[64];
        snprintf(wanted, sizeof(wanted), " id=\"%s\"", *ids);
        const char* found = strstr(html, wanted);
        if (found == NULL) {
            fail_msg("the page has no%s", wanted);
        }
        assert_null(strstr(found + 1, wanted));
    }
}

// No number of the page is none; the letters of pictures do not count.
static void AssertNoNan(const char* html)
{
    for (const char* at = html; at != NULL;) {
        const char *picture = strstr(at, ";base64,"), *nan = strstr(at, "nan");
        if (nan != NULL && (picture == NULL || nan < picture)) {
            fail_msg("%.80s", nan > html + 40 ? nan - 40 : html);
        }
        at = picture != NULL ? strchr(picture, '"') : NULL;
    }
}

static const char* const sections[] = {"surface", "worst", "evaluation", "anatomy", "stills", "curves", "robust",
    "springs", "modes", "network", "poses", "sizes", "times", "timings", "settings", "versions", "manifest", NULL};

static void WhatIsMissingIsSaid(void** state)
{
    (void)state;
    Outcome outcome = RunJounce("report w");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "w/report.html"));
    char* html = ReadReport("w/report.html");
    AssertWellFormed(html);
    AssertIds(html, sections);
    // With the folder on the screen; the page does not know where it was made.
    static const char* const said[] = {"jounce evaluate %s", "jounce simulate %s --clips --dynamic", "jounce fit %s",
        "jounce tetrahedralize %s", "jounce modes %s", "jounce train %s", "jounce simulate %s --poses",
        "jounce build %s"};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); ++i) {
        char line[64];
        snprintf(line, sizeof(line), said[i], "WORKSPACE");
        assert_non_null(strstr(html, line));
        snprintf(line, sizeof(line), said[i], "w");
        assert_non_null(strstr(outcome.out, line));
    }
    assert_int_equal(system("cp -r w copy"), 0);
    Run("report copy");
    assert_int_equal(system("cmp w/report.html copy/report.html"), 0);
    assert_null(strstr(html, "<img"));
    free(html);
    ExpectFailure("report nowhere", 1, "nowhere", "manifest");
    ExpectFailure("report", 2, "WORKSPACE", "missing");
    ExpectFailure("report w -o no/such/folder.html", 1, "no/such/folder.html", "cannot write");
    assert_int_equal(system("ls w | grep -q part"), 256);
}

static void NamesAreEscaped(void** state)
{
    (void)state;
    char* html = ReadReport("w/report.html");
    assert_null(strstr(html, "<script"));
    assert_non_null(strstr(html, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more"));
    free(html);
}

// Shapes of a known truth and a network trained on them.
static void MakeNetwork(void)
{
    jnbShapes s = {.reach = 0.5};
    assert_int_equal(jnaLoadCharacter("w", &s.character, NULL), jn_ok);
    assert_int_equal(jnbFillShapes(&s, POSES, 0, 3, NULL), jn_ok);
    jnaShapes shapes = {.count = POSES,
        .jointCount = s.character.jointCount,
        .vertexCount = s.character.vertexCount,
        .rotations = s.rotations,
        .positions = s.positions};
    WriteShapes("w", &shapes);
    jnbDestroyShapes(&s);
    Run("train w --epochs 20 --threads 1");
    FILE* file = fopen("w/poses/poses.json", "wb");
    assert_non_null(file);
    fputs(
        "{\"count\": 40, \"failed\": 1, \"failures\": [{\"index\": 3, \"reason\": \"8.2 mm <inside> flesh\"}]}", file);
    fclose(file);
}

// Motion to compare with: the skinned surface but for one vertex as the equilibrium, and around it a swing that grows
// upwards. One frame of the clip that is only measured on is not there.
static void WriteMotion(const char* name, const jnaCharacter* c)
{
    jnaClip clip;
    char path[256];
    assert_int_equal(jnaLoadClip("w", name, c, &clip, NULL), jn_ok);
    size_t row = 3 * (size_t)c->vertexCount, shape[3] = {(size_t)clip.frameCount, (size_t)c->vertexCount, 3};
    float* skinned = malloc(row * shape[0] * sizeof(float));
    float* moved = malloc(row * shape[0] * sizeof(float));
    float matrices[12 * 8];
    for (int n = 0; n < clip.frameCount; ++n) {
        jnaPoseMatrices(c, &clip, n, matrices);
        jnaSkin(c, matrices, skinned + row * (size_t)n);
        skinned[row * (size_t)n + 2] += 0.02f;
        for (size_t i = 0; i < row; ++i) {
            float swing = i % 3 == 0 ? 0.05f * sinf(0.7f * (float)n) * c->positions[i + 1] : 0.0f;
            moved[row * (size_t)n + i] = skinned[row * (size_t)n + i] + swing;
            if (n == 9 && strcmp(name, "other") == 0) {
                moved[row * (size_t)n + i] = NAN;
            }
        }
    }
    snprintf(path, sizeof(path), "w/motion/%s/dynamic.npy", name);
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, moved, NULL), jn_ok);
    snprintf(path, sizeof(path), "w/motion/%s/quasistatic.npy", name);
    assert_int_equal(jnaWriteArray(path, jna_float32, 3, shape, skinned, NULL), jn_ok);
    free(skinned);
    free(moved);
    jnaDestroyClip(&clip);
}

static void MakeMotion(void)
{
    jnaCharacter character;
    assert_int_equal(jnaLoadCharacter("w", &character, NULL), jn_ok);
    assert_true(character.jointCount <= 8);
    assert_int_equal(system("mkdir -p w/motion/wave_top w/motion/other"), 0);
    WriteMotion("wave_top", &character);
    WriteMotion("other", &character);
    jnaDestroyCharacter(&character);
    Run("fit w --threads 1");
    Run("build w --until modes");
    // The springs beside the simulation as a picture.
    Run("picture w --clip wave_top --frame 3 --frame 5 --compare --stage dynamic --near J1 --height 64 -o "
        "motion.png");
    assert_true(FileExists("motion.png"));
    ExpectFailure("picture w --clip wave_top --frame 31 --compare --stage dynamic --near J1 -o x.png", 1, "frame 31",
        "wave_top' has 31");
}

static void MakeEvaluation(void)
{
    static const char rows[] =
        "{\"rows\": [{\"method\": \"skinned\", \"targets\": \"skinned\", \"timing\": \"exact\", \"rms_mm\": 8.25, "
        "\"p95_mm\": 20, \"rms_soft_mm\": 15, \"captured\": null, \"captured_soft\": null}, {\"method\": \"vertex\", "
        "\"targets\": \"network\", \"timing\": \"causal\", \"rms_mm\": 3.125, \"p95_mm\": 9, \"rms_soft_mm\": 7, "
        "\"captured\": 0.62, \"captured_soft\": 0.71, \"best\": 0.68, \"best_soft\": 0.83}]}";
    assert_int_equal(system("mkdir -p w/evaluation"), 0);
    FILE* file = fopen("w/evaluation/evaluation.json", "wb");
    assert_non_null(file);
    fprintf(file,
        "{\"version\": 1, \"soft_share\": 0.1, \"clips\": [{\"clip\": \"other\", "
        "\"trained\": false, \"frames\": 31, \"dropped\": 3, \"failed\": 2, \"rows\": []}], \"seen\": %s, \"unseen\": "
        "%s}",
        rows, rows);
    fclose(file);
}

static void EveryFigureIsThere(void** state)
{
    (void)state;
    // The same motion once more, only measured on.
    assert_int_equal(system("sed -n '/- name: \"wave_top\"/,/animation/p' w/manifest.yaml | sed "
                            "'s/name: \"wave_top\"/name: \"other\"/; s/role: train/role: test/' > second.txt && sed -i "
                            "'/^clips:/r second.txt' w/manifest.yaml"),
        0);
    Run("build w --until import");
    Run("tetrahedralize w --method lattice --nodes 1500");
    Run("modes w --count 4 --cutoff 200");
    Run("build w --until modes");
    MakeNetwork();
    MakeMotion();
    MakeEvaluation();
    Outcome outcome = RunJounce("report w --quick --threads 1");
    assert_int_equal(outcome.code, 0);
    char* html = ReadReport("w/report.html");
    AssertWellFormed(html);
    AssertIds(html, sections);
    static const char* const figures[] = {"worst-0", "worst-1", "table-seen", "table-unseen", "anatomy-picture", "sag",
        "swing", "still-0", "still-1", "sequence-0", "curves-0", "curves-1", "robust-trajectories", "robust-numbers",
        "robust-own", "prior", "prior-numbers", "map-stiffness", "map-damping", "map-regime", "spring-parts",
        "mode-table", "mode-shapes", "network-errors", "close-armpit", "close-knee", "failures", NULL};
    AssertIds(html, figures);
    assert_non_null(strstr(html, "class=\"ships\""));
    assert_non_null(strstr(html, "<td>0.68</td><td>0.83</td>"));
    // What the fit dropped is the fit's, what the simulation did not solve is the simulation's.
    assert_non_null(strstr(html, "29 of 31 frames count; the robust fit of springs per vertex dropped 3 of them"));
    assert_non_null(strstr(html, "in 2 the simulation found no equilibrium"));
    assert_null(strstr(html, "the simulation failed there"));
    // Springs per vertex ship here: they are not shown twice.
    assert_null(strstr(html, "springs per vertex to simulation: error</span><span"));
    assert_non_null(strstr(html, "<b>3.12 mm</b> (rms)"));
    assert_non_null(strstr(html, "8.2 mm &lt;inside&gt; flesh"));
    assert_null(strstr(html, "class=\"missing\">"));
    AssertNoNan(html);
    assert_null(strstr(html, "src=\"http"));
    free(html);
    // For the test that opens it in a browser.
    assert_int_equal(system("cp w/report.html '" JN_BINARY_DIR "/report.html'"), 0);
}

static void TheSameWorkspaceGivesTheSameBytes(void** state)
{
    (void)state;
    Run("report w --quick --threads 3 -o again.html");
    assert_int_equal(system("cmp w/report.html again.html"), 0);
    // Only the table of timings tells how long something took.
    assert_int_equal(
        system("mkdir -p w/stages && printf '{\"stage\": \"slow\", \"seconds\": 12.5}' > w/stages/slow.json"), 0);
    Run("report w --quick -o timed.html");
    assert_int_not_equal(system("cmp -s w/report.html timed.html"), 0);
    assert_int_equal(
        system("for f in w/report.html timed.html; do sed '/id=\"timings\"/,/<\\/table>/d' $f > $f.cut; done; cmp "
               "w/report.html.cut timed.html.cut"),
        0);
    char* html = ReadReport("timed.html");
    assert_non_null(strstr(html, "<td>slow</td><td>12.5</td>"));
    free(html);
}

static void FilesOfAnotherCharacterAreLeftOut(void** state)
{
    (void)state;
    assert_int_equal(
        system("cp w/poses/poses.npy w/motion/other/dynamic.npy && cp w/poses/poses.npy w/springs/damping.npy && "
               "echo '{]' > w/evaluation/evaluation.json && printf 'no asset' > w/character.jounce"),
        0);
    Outcome outcome = RunJounce("report w --quick -o broken.html");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, "does not fit this character"));
    assert_non_null(strstr(outcome.out, "jounce evaluate w"));
    char* html = ReadReport("broken.html");
    AssertWellFormed(html);
    AssertIds(html, sections);
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsMissingIsSaid),
        cmocka_unit_test(NamesAreEscaped),
        cmocka_unit_test(EveryFigureIsThere),
        cmocka_unit_test(TheSameWorkspaceGivesTheSameBytes),
        cmocka_unit_test(FilesOfAnotherCharacterAreLeftOut),
    };
    return cmocka_run_group_tests(tests, MakeWorkspace, LeaveScratchFolder);
}
