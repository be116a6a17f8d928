// No number that is too large gets through any door: models, motion caches, the arrays of a workspace and those of the
// spring commands are refused with the frame and the vertex, and whatever a workspace holds, no verb crashes on it.
#include "helpers/built_tube.h"

#include "base/npy.h"

enum { MOST_ARRAYS = 128 };
#define FAR 1e20

// Overwrites one number of an array of floats in its file. Returns false for other arrays, which stay as they are.
static bool PutNumber(const char* path, size_t at, double value)
{
    jnaArray array;
    struct stat status;
    assert_int_equal(jnaOpenArray(path, &array, NULL), jn_ok);
    assert_int_equal(stat(path, &status), 0);
    bool real = (array.scalar == jna_float32 || array.scalar == jna_float64) && at < array.count;
    size_t size = jnaScalarSize(array.scalar), end = (size_t)status.st_size - array.count * size;
    float single = (float)value;
    const void* bytes = array.scalar == jna_float32 ? (const void*)&single : (const void*)&value;
    jnaCloseArray(&array);
    if (real) {
        FILE* file = fopen(path, "r+b");
        assert_non_null(file);
        fseek(file, (long)(end + at * size), SEEK_SET);
        assert_int_equal(fwrite(bytes, size, 1, file), 1);
        fclose(file);
    }
    return real;
}

// Copies a file with the first place where three numbers stand one after another changed.
static void ReplaceBytes(const char* from, const char* to, const void* numbers, const void* others)
{
    static char bytes[1 << 18];
    FILE* file = fopen(from, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    char* place = memmem(bytes, size, numbers, 3 * sizeof(float));
    assert_non_null(place);
    memcpy(place, others, 3 * sizeof(float));
    file = fopen(to, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, size, file);
    fclose(file);
}

static void AModelWithAFarVertexIsRefused(void** state)
{
    (void)state;
    const float corner[3] = {-0.3F, 0, 0.3F}, far[3] = {(float)FAR, 0, 0.3F};
    ReplaceBytes("tube.glb", "far.glb", corner, far);
    ExpectFailure("new far --from far.glb", 1, "vertex 1: a coordinate is 1e+20 m", "--scale");
    ExpectFailure("new far --from tube.glb --scale 1e6", 1, "tube.glb: vertex", "up to 1e+06 can be taken");
    assert_false(FileExists("far"));
}

static void ACacheWithAFarVertexIsRefused(void** state)
{
    (void)state;
    jnaArray good;
    float point[3];
    assert_int_equal(jnaOpenArray("good.npy", &good, NULL), jn_ok);
    size_t at = 3 * (3 * good.shape[1] + 2); // frame 3, vertex 2
    for (size_t k = 0; k < 3; ++k) {
        point[k] = (float)jnaArray_Get(&good, at + k);
    }
    jnaCloseArray(&good);
    Do("cp good.npy far.npy");
    assert_true(PutNumber("far.npy", at, FAR));
    ExpectFailure("new far --from tube.glb --motion wave_top=far.npy", 1, "far.npy: frame 3, vertex 2: a coordinate is",
        "1e+20 m; up to 1e+06 can be taken");
    // The other formats hold the same floats, one of them the other way round.
    static const char* const formats[] = {"pc2", "abc", "mdd"};
    for (int i = 0; i < 3; ++i) {
        char line[256], file[32];
        unsigned char from[12], to[12];
        float far[3] = {(float)FAR, point[1], point[2]};
        for (int k = 0; k < 12; ++k) {
            int byte = i == 2 ? 4 * (k / 4) + 3 - k % 4 : k;
            from[k] = ((const unsigned char*)point)[byte];
            to[k] = ((const unsigned char*)far)[byte];
        }
        snprintf(file, sizeof(file), "cache.%s", formats[i]);
        snprintf(line, sizeof(line), "bake w --clip wave_top -o %s", file);
        Run(line);
        ReplaceBytes(file, file, from, to);
        snprintf(line, sizeof(line), "new far --from tube.glb --motion wave_top=%s", file);
        ExpectFailure(line, 1, file, "a coordinate is 1e+20 m; up to 1e+06 can be taken");
        assert_false(FileExists("far"));
    }
}

static void ArraysOfTheSpringCommandsAreBounded(void** state)
{
    (void)state;
    Do("cp good.npy far.npy");
    assert_true(PutNumber("far.npy", 3 * (size_t)TUBE_FILE_VERTICES + 7, -FAR)); // frame 1, vertex 2
    static const char words[] = "far.npy: frame 1, vertex 2: a coordinate is -1e+20; up to 1e+06 m";
    ExpectFailure("springs run --targets far.npy --dt 0.03 --stiffness 100 --damping 5 -o out.npy", 1, words, "");
    ExpectFailure("springs fit --dt 0.03 --sequence far.npy good.npy -o fit", 1, words, "");
    ExpectFailure("springs fit --dt 0.03 --sequence good.npy far.npy -o fit", 1, words, "");
    assert_false(FileExists("out.npy"));
}

static void MotionOfAWorkspaceIsBounded(void** state)
{
    (void)state;
    Do("rm -rf far && cp -r w far");
    size_t at = 3 * (5 * (size_t)TUBE_VERTICES + 4);
    static const char words[] = "dynamic.npy: frame 5, vertex 4: a coordinate is 1e+20; up to 1e+06 m can be taken";
    assert_true(PutNumber("far/motion/wave_top/dynamic.npy", at, FAR));
    ExpectFailure("fit far", 1, words, "");
    ExpectFailure("evaluate far", 1, words, "");
    ExpectFailure("picture far --clip wave_top --frame 5 --stage dynamic --compare --near J1 -o far.png", 1, words, "");
    // The report says what it leaves out.
    Outcome outcome = RunJounce("report far --quick -o far.html");
    assert_int_equal(outcome.code, 0);
    assert_non_null(strstr(outcome.out, words));
    assert_false(FileExists("far.png"));
}

// Every array of real numbers in turn, its middle number; a verb may do its work or refuse, with a line.
static void NoArrayCrashesAVerb(void** state)
{
    (void)state;
    static const char* const verbs[] = {"export far -o out.jounce", "report far --quick -o far.html", "evaluate far"};
#ifdef JN_SANITIZED
    enum { TRIED = 1 }; // of the verbs for each array, in turn: they take a second there
#else
    enum { TRIED = 2 };
#endif
    static char names[MOST_ARRAYS][128];
    int count = 0, refused = 0, tried = 0;
    FILE* list = popen("cd w && find . -name '*.npy' | LC_ALL=C sort", "r");
    assert_non_null(list);
    while (count < MOST_ARRAYS && fscanf(list, "%127s", names[count]) == 1) {
        count++;
    }
    pclose(list);
    assert_true(count > 20 && count < MOST_ARRAYS);
    Do("rm -rf far && cp -r w far");
    for (int i = 0; i < count; ++i) {
        char path[160];
        jnaArray array;
        snprintf(path, sizeof(path), "far/%.127s", names[i]);
        assert_int_equal(jnaOpenArray(path, &array, NULL), jn_ok);
        size_t middle = array.count / 2;
        jnaCloseArray(&array);
        if (!PutNumber(path, middle, FAR)) {
            continue;
        }
        for (int k = 0; k < TRIED; ++k) {
            const char* verb = verbs[(i + k) % 3];
            Outcome outcome = RunJounce(verb);
            if (outcome.code > 1 || (outcome.code == 1 && strchr(outcome.error, '\n') == NULL)) {
                fail_msg("%s: jounce %s: exit %d: %s", names[i], verb, outcome.code, outcome.error);
            }
            refused += outcome.code;
            tried++;
        }
        Do("rm -rf far && cp -r w far");
    }
    print_message("%d of %d runs refused\n", refused, tried);
    assert_true(tried > 15 && refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AModelWithAFarVertexIsRefused),
        cmocka_unit_test(ACacheWithAFarVertexIsRefused),
        cmocka_unit_test(ArraysOfTheSpringCommandsAreBounded),
        cmocka_unit_test(MotionOfAWorkspaceIsBounded),
        cmocka_unit_test(NoArrayCrashesAVerb),
    };
    return cmocka_run_group_tests(tests, MakeBuiltTube, LeaveScratchFolder);
}
