// Small inputs that ask for much: each ends at once, in a sentence, under a cap of memory and processor time that a
// hundredth of what it asks for would break. And what ends a verb from outside: signals, and no memory.
#include "helpers/built_tube.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#ifdef JN_SANITIZED // which takes terabytes of addresses for itself
#define CAP "ulimit -t 60; timeout -s KILL 120"
#else
#define CAP "ulimit -v 1500000; ulimit -t 20; timeout -s KILL 120"
#endif

enum { MOST_NUMBERS = 16384, MOST_TEXT = 1 << 20 };

// A glTF file in the making: its buffer, accessors and views.
typedef struct Gltf {
    float numbers[MOST_NUMBERS];
    int count, accessors;
    char views[4096], list[8192];
} Gltf;

static int AddNumbers(Gltf* g, const char* type, int width, int count, const float* numbers)
{
    size_t views = strlen(g->views), list = strlen(g->list);
    snprintf(g->views + views, sizeof(g->views) - views, "%s{\"buffer\":0,\"byteOffset\":%d,\"byteLength\":%d}",
        g->accessors > 0 ? "," : "", 4 * g->count, 4 * width * count);
    snprintf(g->list + list, sizeof(g->list) - list,
        "%s{\"bufferView\":%d,\"componentType\":5126,\"type\":\"%s\",\"count\":%d}", g->accessors > 0 ? "," : "",
        g->accessors, type, count);
    assert_true(g->count + width * count <= MOST_NUMBERS);
    memcpy(g->numbers + g->count, numbers, (size_t)(width * count) * sizeof(float));
    g->count += width * count;
    return g->accessors++;
}

// Without indices: each three vertices are a triangle. joints: a chain; each animation moves the first of them with two
// keys `seconds` apart.
static void WriteModel(const char* path, Gltf* g, const float* positions, int vertices, int joints, int animations,
    float seconds, bool same)
{
    static char text[MOST_TEXT];
    static float zeros[4 * MOST_NUMBERS], ones[4 * MOST_NUMBERS];
    const float times[2] = {0, seconds}, moves[6] = {0, 0, 0, 0, 0.1F, 0};
    size_t length = 0;
#define PUT(...) length += (size_t)snprintf(text + length, sizeof(text) - length, __VA_ARGS__)
    for (int i = 0; i < vertices; ++i) {
        ones[4 * i] = 1;
    }
    int p = AddNumbers(g, "VEC3", 3, vertices, positions), t = AddNumbers(g, "SCALAR", 1, 2, times);
    int m = AddNumbers(g, "VEC3", 3, 2, moves), w = AddNumbers(g, "VEC4", 4, vertices, ones);
    // Joints as bytes: a view of zeros serves.
    int j = AddNumbers(g, "SCALAR", 1, vertices, zeros);
    char* joint = strstr(g->list, "\"bufferView\":4");
    assert_non_null(joint);
    PUT("{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,%d]}],\"nodes\":[", joints);
    for (int i = 0; i < joints; ++i) {
        PUT("{\"name\":\"j%d\"", i);
        if (i + 1 < joints) {
            PUT(",\"children\":[%d]", i + 1);
        }
        PUT("},");
    }
    PUT("{\"mesh\":0,\"skin\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"JOINTS_0\":%d,"
        "\"WEIGHTS_0\":%d}}]}],\"skins\":[{\"joints\":[",
        p, j, w);
    for (int i = 0; i < joints; ++i) {
        PUT("%s%d", i > 0 ? "," : "", i);
    }
    PUT("]}],\"animations\":[");
    for (int i = 0; i < animations; ++i) {
        PUT("%s{\"name\":\"a%d\",\"samplers\":[{\"input\":%d,\"output\":%d}],\"channels\":[{\"sampler\":0,\"target\":{"
            "\"node\":0,\"path\":\"translation\"}}]}",
            i > 0 ? "," : "", same ? 0 : i, t, m);
    }
    // The accessor of the joints is of bytes in fours.
    PUT("],\"accessors\":[%.*s\"bufferView\":4,\"componentType\":5121,\"type\":\"VEC4\",\"count\":%d}],",
        (int)(joint - g->list), g->list, vertices);
    PUT("\"bufferViews\":[%s],\"buffers\":[{\"byteLength\":%d}]}", g->views, 4 * g->count);
    while (length % 4 != 0) {
        PUT(" ");
    }
#undef PUT
    assert_true(length < sizeof(text) - 8);
    uint32_t bytes = 4 * (uint32_t)g->count, whole = 12 + 8 + (uint32_t)length + 8 + bytes;
    const uint32_t head[] = {0x46546c67, 2, whole, (uint32_t)length, 0x4e4f534a}, tail[] = {bytes, 0x004e4942};
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(head, sizeof(head), 1, file);
    fwrite(text, 1, length, file);
    fwrite(tail, sizeof(tail), 1, file);
    fwrite(g->numbers, 1, bytes, file);
    fclose(file);
}

static void Box(float* corners, float size, float away)
{
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4}, {2, 6, 3},
        {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int i = 0; i < 36; ++i) {
        int corner = faces[i / 3][i % 3];
        for (int k = 0; k < 3; ++k) {
            corners[3 * i + k] = (float)(corner >> k & 1) * size + (k == 0 ? away : 0);
        }
    }
}

// A box on a chain of joints.
static void WriteBox(const char* path, float size, float away, int joints, int animations, float seconds, bool same)
{
    static Gltf g;
    float corners[108];
    Box(corners, size, away);
    g = (Gltf){0};
    WriteModel(path, &g, corners, 36, joints, animations, seconds, same);
}

static void ExpectRefusal(const char* arguments, const char* words)
{
    Outcome outcome = RunJounceUnder(CAP, arguments);
    if (outcome.code != 1 || strstr(outcome.error, words) == NULL) {
        fail_msg("jounce %s: exit %d: %s", arguments, outcome.code, outcome.error);
    }
}

// Two keys half a day apart are a million frames; times joints, times animations.
static void AnAnimationThatUnfoldsIsRefused(void** state)
{
    (void)state;
    static const char words[] = "its animations come to";
    WriteBox("joints.glb", 1, 0, 250, 100, 34000, false);
    ExpectRefusal("new x --from joints.glb", words);
    WriteBox("frames.glb", 1, 0, 2, 100, 34000, false);
    ExpectRefusal("new x --from frames.glb", words);
    ExpectRefusal("check frames.glb", words);
    ExpectRefusal("new x --from tube.glb --clip far=frames.glb", words);
    WriteBox("one.glb", 1, 0, 2, 1, 30000, false);
    ExpectRefusal("new x --from one.glb --rate 1000", "more than");
    assert_false(FileExists("x"));
    // What is long and no more is imported.
    WriteBox("long.glb", 1, 0, 2, 1, 3600, false);
    Outcome outcome = RunJounceUnder(CAP, "new long --from long.glb");
    if (outcome.code != 0 || strstr(outcome.out, "108001 frames") == NULL) {
        fail_msg("an hour: exit %d: %s%s", outcome.code, outcome.out, outcome.error);
    }
}

// A thousand clips of one name: each gets its own, and the search for it is no work.
static void ClipsOfOneNameAreToldApart(void** state)
{
    (void)state;
    WriteBox("same.glb", 1, 0, 2, 1000, 0.1F, true);
    Outcome outcome = RunJounceUnder(CAP, "new same --from same.glb");
    if (outcome.code != 0) {
        fail_msg("exit %d: %s", outcome.code, outcome.error);
    }
    assert_true(FileExists("same/clips/a0") && FileExists("same/clips/a0_2") && FileExists("same/clips/a0_1000"));
    assert_false(FileExists("same/clips/a0_1") || FileExists("same/clips/a0_1001"));
}

static void TrianglesThatCrossEverywhereAreNoBody(void** state)
{
    (void)state;
    static Gltf g;
    float positions[3 * 1200];
    uint32_t random = 7;
    for (int i = 0; i < 3600; ++i) {
        random = random * 1664525u + 1013904223u;
        positions[i] = (float)(random >> 8) * 0x1p-24F;
    }
    // Triangles of common vertices, as one mesh has.
    float triangles[9 * 800];
    for (int i = 0; i < 2400; ++i) {
        random = random * 1664525u + 1013904223u;
        memcpy(triangles + 3 * i, positions + 3 * (random >> 8) % 1200, 3 * sizeof(float));
    }
    g = (Gltf){0};
    WriteModel("tangle.glb", &g, triangles, 1600 / 3 * 3, 2, 1, 1, false);
    Do("rm -rf tangle");
    Run("new tangle --from tangle.glb");
    ExpectRefusal("build tangle --until volume", "is no body: each of its");
}

static void SizesBeyondFloatsAreRefused(void** state)
{
    (void)state;
    WriteBox("tall.glb", 800000, 0, 2, 1, 1, false);
    ExpectRefusal("new x --from tall.glb --scale 1", "8e+05 m large; characters of 1 mm to 1000 m");
    WriteBox("small.glb", 1e-5F, 0, 2, 1, 1, false);
    ExpectRefusal("new x --from small.glb --scale 1", "1e-05 m large");
    WriteBox("away.glb", 2, 900000, 2, 1, 1, false);
    ExpectRefusal("new x --from away.glb --scale 1", "where floats are too coarse");
    assert_false(FileExists("x"));
}

// Processor time of a process, seconds; children that it has waited for included.
static double Spent(pid_t process)
{
    char path[64], text[1024];
    unsigned long own = 0, system = 0, children = 0, others = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    ReadAll(path, text, sizeof(text));
    const char* behind = strrchr(text, ')');
    assert_non_null(behind);
    assert_int_equal(sscanf(behind + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &own, &system,
                         &children, &others),
        4);
    return (double)(own + system + children + others) / (double)sysconf(_SC_CLK_TCK);
}

// Begins a build, sends it a signal once a stage is under way, and returns the processor time that it took from there.
static double Interrupt(const char* workspace, const char* stage, int signal, int* code)
{
    char command[512], line[4096], word[64];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        (void)!freopen("/dev/null", "w", stdout);
        snprintf(command, sizeof(command), "%s/bin/jounce", JN_BINARY_DIR);
        execl(command, command, "build", workspace, "--progress", (char*)NULL);
        _exit(99);
    }
    close(ends[1]);
    FILE* lines = fdopen(ends[0], "r");
    snprintf(word, sizeof(word), "\"%s\"", stage);
    while (fgets(line, sizeof(line), lines) != NULL && strstr(line, word) == NULL) {}
    double before = Spent(child);
    kill(child, signal);
    while (fgets(line, sizeof(line), lines) != NULL) {}
    fclose(lines);
    struct rusage usage;
    int status;
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)usage.ru_stime.tv_usec - before;
}

// Two seconds of processor time, whatever the stage; what the work was to come to is not lost.
static void ASignalEndsEveryStage(void** state)
{
    (void)state;
    static const char* const stages[] = {"import", "volume", "modes", "poses", "motion", "train", "fit", "evaluate"};
    Do("rm -rf cut && mkdir cut && cp w/manifest.yaml cut && sed -i 's/  nodes: .*/  nodes: 400/' cut/manifest.yaml && "
       "rm -rf whole && cp -r cut whole");
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); ++i) {
        int code;
        double seconds = Interrupt("cut", stages[i], i % 2 == 0 ? SIGTERM : SIGINT, &code);
        print_message("%s: exit %d after %.2f s\n", stages[i], code, seconds);
        assert_true(seconds <= 2.0);
        assert_true(code == 0 || code == 1);
    }
    Run("build cut --until evaluate");
    Run("build whole --until evaluate");
    Do("cmp cut/character.jounce whole/character.jounce");
}

static void NoLimitOnMemoryMakesAVerbSpin(void** state)
{
    (void)state;
#ifdef JN_SANITIZED
    skip();
#endif
    static const char* const verbs[] = {"new x --from tube.glb", "tetrahedralize far", "modes far",
        "simulate far --poses", "train far", "fit far", "evaluate far", "export far -o far.jounce",
        "report far --quick -o far.html", "bake far --clip wave_top -o far.npy",
        "picture far --clip wave_top -o far.png", "check far", "info far", "anatomy far",
        "springs run --targets good.npy --dt 0.03 --stiffness 100 --damping 5 -o out.npy",
        "springs fit --dt 0.03 --sequence good.npy good.npy -o fit"};
    int refused = 0, done = 0, early = 0;
    for (int megabytes = 60; megabytes <= 600; megabytes += megabytes < 100 ? 10 : megabytes < 400 ? 100 : 200) {
        for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); ++i) {
            char cap[128];
            Do("rm -rf x far && cp -r w far");
            snprintf(cap, sizeof(cap), "ulimit -v %d; timeout -s KILL 100", 1000 * megabytes);
            Outcome outcome = RunJounceUnder(cap, verbs[i]);
            // Below what the libraries take to be loaded the loader's words.
            bool loading = outcome.code == 127 || (outcome.code == 126 && megabytes < 200);
            if (outcome.code > 1 && !loading) {
                fail_msg("%d MB: jounce %s: exit %d: %s", megabytes, verbs[i], outcome.code, outcome.error);
            }
            assert_true(outcome.code == 0 || outcome.error[0] != '\0' || outcome.out[0] != '\0');
            early += loading;
            refused += outcome.code == 1;
            done += outcome.code == 0;
        }
    }
    print_message("%d done, %d refused, %d not loaded\n", done, refused, early);
    assert_true(done > 20 && refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AnAnimationThatUnfoldsIsRefused),
        cmocka_unit_test(ClipsOfOneNameAreToldApart),
        cmocka_unit_test(TrianglesThatCrossEverywhereAreNoBody),
        cmocka_unit_test(SizesBeyondFloatsAreRefused),
        cmocka_unit_test(ASignalEndsEveryStage),
        cmocka_unit_test(NoLimitOnMemoryMakesAVerbSpin),
    };
    return cmocka_run_group_tests(tests, MakeBuiltTube, LeaveScratchFolder);
}
