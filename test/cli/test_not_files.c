// Pipes, sockets, devices and folders where a verb expects a file: refused at once, by every verb, in place of every
// file of a workspace and of every input. A verb that waits for one is killed after a while, which fails.
#include "helpers/built_tube.h"

#include <sys/socket.h>
#include <sys/un.h>

enum { MOST_FILES = 192, KILLED = 137 };
#define LIMIT "timeout -s KILL 60"

static const char* const verbs[] = {"check far", "info far", "report far --quick -o far.html", "evaluate far",
    "export far -o far.jounce", "bake far --clip wave_top -o far.npy", "picture far --clip wave_top -o far.png",
    "anatomy far", "modes far", "fit far", "train far", "simulate far --poses", "tetrahedralize far",
    "audit far --poses 1", "view far --export farview"};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

static char names[MOST_FILES][128];

static int ListFiles(void)
{
    int count = 0;
    FILE* list = popen("cd w && find . -type f | LC_ALL=C sort", "r");
    assert_non_null(list);
    while (count < MOST_FILES && fscanf(list, "%127s", names[count]) == 1) {
        count++;
    }
    pclose(list);
    assert_true(count > 40 && count < MOST_FILES);
    return count;
}

// Runs it. Fails where it was killed, crashed or was silent about a failure; its exit code else.
static Outcome RunBriefly(const char* arguments, const char* what)
{
    Outcome outcome = RunJounceUnder(LIMIT, arguments);
    if (outcome.code > 1 || (outcome.code == 1 && strchr(outcome.error, '\n') == NULL && outcome.out[0] == '\0')) {
        fail_msg("%s: jounce %s: %s %d: %s", what, arguments, outcome.code == KILLED ? "waited, exit" : "exit",
            outcome.code, outcome.error);
    }
    return outcome;
}

static void Refuse(const char* arguments, const char* words)
{
    Outcome outcome = RunBriefly(arguments, words);
    if (outcome.code != 1 || strstr(outcome.error, words) == NULL) {
        fail_msg("jounce %s: exit %d: %s", arguments, outcome.code, outcome.error);
    }
}

static void NoVerbWaitsForAPipeInAWorkspace(void** state)
{
    (void)state;
    int count = ListFiles(), refused = 0;
    for (int i = 0; i < count; ++i) {
        char line[512];
        snprintf(
            line, sizeof(line), "rm -rf far && cp -r w far && rm far/%.127s && mkfifo far/%.127s", names[i], names[i]);
        Do(line);
        Outcome built = RunBriefly("build far", names[i]);
        if (built.code != 1 || strstr(built.error, "neither a file nor") == NULL) {
            if (strstr(built.error, "is not a file") == NULL) {
                fail_msg("%s: jounce build: exit %d: %s", names[i], built.code, built.error);
            }
        }
        refused += RunBriefly(verbs[i % VERB_COUNT], names[i]).code;
    }
    print_message("%d of %d verbs refused beside %d builds\n", refused, count, count);
    assert_true(refused > count / 2);
}

// What is read first, by all verbs, and by one of each kind of reader.
static void OtherThingsInPlaceOfAFileAreRefused(void** state)
{
    (void)state;
    static const char* const files[] = {"manifest.yaml", "character.jounce", "stages/import.json",
        "character/character.json", "character/positions.npy", "clips/wave_top/clip.json", "volume/volume.json"};
    static const char* const kinds[] = {"mkdir %s", "ln -s /dev/zero %s", "ln -s /dev/tty %s", "ln -s ../../pipe %s"};
    Do("rm -rf pipe far && mkfifo pipe && cp -r w far && cp far/character.jounce kept || true");
    Run("export w -o w/character.jounce");
    Do("rm -rf far && cp -r w far");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        for (size_t k = 0; k < 4; ++k) {
            char line[512], path[160];
            snprintf(path, sizeof(path), "far/%s", files[i]);
            snprintf(line, sizeof(line), "mv %s kept && ", path);
            size_t length = strlen(line);
            // The kind's one argument is the path.
            const char* gap = strstr(kinds[k], "%s");
            snprintf(line + length, sizeof(line) - length, "%.*s%s", (int)(gap - kinds[k]), kinds[k], path);
            Do(line);
            RunBriefly("build far --until import", files[i]);
            RunBriefly("check far", files[i]);
            RunBriefly(verbs[(4 * i + k) % VERB_COUNT], files[i]);
            Do("rm -rf far && cp -r w far");
        }
    }
}

static void InputsThatAreNoFilesAreRefused(void** state)
{
    (void)state;
    static const char* const inputs[][2] = {{"new x --from %s", "p.glb"}, {"new x --from %s", "p.fbx"},
        {"new x --from tube.glb --clip a=%s", "p.bvh"}, {"new x --from tube.glb --clip a=%s", "p.glb"},
        {"new x --from tube.glb --motion wave_top=%s", "p.pc2"},
        {"new x --from tube.glb --motion wave_top=%s", "p.abc"},
        {"new x --from tube.glb --motion wave_top=%s", "p.npy"}, {"info %s", "p.jounce"}, {"check %s", "p.jounce"},
        {"check %s", "p.npy"}, {"check %s", "p.glb"}, {"view %s --export v", "p.jounce"},
        {"springs run --targets %s --dt 0.03 --stiffness 100 --damping 5 -o out.npy", "p.npy"},
        {"springs fit --dt 0.03 --sequence good.npy %s -o fit", "p.npy"}};
    static const char* const make[] = {"mkfifo %s", "mkdir %s", "ln -s /dev/zero %s"};
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); ++i) {
        for (size_t k = 0; k < 3; ++k) {
            char line[512];
            const char *name = inputs[i][1], *verb = inputs[i][0], *gap = strstr(verb, "%s");
            snprintf(line, sizeof(line), "rm -rf %s && %.*s%s", name, (int)strlen(make[k]) - 2, make[k], name);
            Do(line);
            snprintf(line, sizeof(line), "%.*s%s%s", (int)(gap - verb), verb, name, gap + 2);
            Refuse(line, k == 1 ? name : "is not a"); // a folder may also be a workspace without what is asked
            snprintf(line, sizeof(line), "rm -rf %s", name);
            Do(line);
        }
    }
    // A buffer beside the model.
    Do("printf '{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"uri\":\"b.bin\",\"byteLength\":4}]}' > m.gltf && "
       "rm -f b.bin && mkfifo b.bin");
    Refuse("new x --from m.gltf", "b.bin");
}

static void ASocketIsRefused(void** state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "p.npy"};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)unlink("p.npy");
    assert_true(listener >= 0 && bind(listener, (struct sockaddr*)&address, sizeof(address)) == 0);
    Refuse("springs run --targets p.npy --dt 0.03 --stiffness 100 --damping 5 -o out.npy", "is not a file");
    Refuse("check p.npy", "is not a file");
    close(listener);
}

// The lock of a job is not written through a link.
static void ALockThatIsALinkIsNotWrittenThrough(void** state)
{
    (void)state;
    Do("rm -rf far && cp -r w far && rm -rf far/poses far/motion && mkdir far/poses && echo mine > victim && "
       "for f in poses shards skinned dynamic quasistatic; do ln -s ../../victim far/poses/$f.lock; done");
    (void)RunBriefly("simulate far --poses", "a link in place of a lock");
    Do("test \"$(cat victim)\" = mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(InputsThatAreNoFilesAreRefused),
        cmocka_unit_test(ASocketIsRefused),
        cmocka_unit_test(NoVerbWaitsForAPipeInAWorkspace),
        cmocka_unit_test(OtherThingsInPlaceOfAFileAreRefused),
        cmocka_unit_test(ALockThatIsALinkIsNotWrittenThrough),
    };
    return cmocka_run_group_tests(tests, MakeBuiltTube, LeaveScratchFolder);
}
