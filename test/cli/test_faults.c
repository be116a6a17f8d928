// One system call that a verb cannot do without fails: each name of a file, each folder, each sync, by strace. The verb
// ends in a line, nothing is left half made, and the same verb then does its work. tools/hardship.sh tries every call
// of every verb; here the first of each kind.
#include "helpers/built_tube.h"

enum { TRIED = 1 };

static const char* const verbs[] = {"new fresh --from tube.glb", "build far --until evaluate", "tetrahedralize far",
    "simulate far --poses", "train far", "fit far", "evaluate far", "export far -o out/far.jounce",
    "report far --quick -o out/far.html", "bake far --clip wave_top -o out/far.npy",
    "picture far --clip wave_top -o out/far.png", "view far --export out/page",
    "springs run --targets good.npy --dt 0.03 --stiffness 100 --damping 5 -o out/run.npy",
    "springs fit --dt 0.03 --sequence good.npy good.npy -o out/fit"};

static void Prepare(bool changed)
{
    Do("rm -rf far out fresh && cp -r w far && mkdir out");
    if (changed) { // so that a build has something to do in every stage
        Do("sed -i 's/  nodes: .*/  nodes: 140/' far/manifest.yaml");
    }
}

// Whether calls can be made to fail here.
static bool CanTrace(void)
{
#ifdef JN_SANITIZED // whose search for leaks cannot be traced
    return false;
#else
    return system("strace -o /dev/null true 2> /dev/null") == 0;
#endif
}

static void AVerbThatCannotRenameSyncOrMakeFoldersLosesNothing(void** state)
{
    (void)state;
    if (!CanTrace()) {
        skip();
    }
    static const char* const calls[] = {"rename", "fsync", "mkdir"};
    int failed = 0, done = 0;
    for (size_t v = 0; v < sizeof(verbs) / sizeof(verbs[0]); ++v) {
        for (int i = 0; i < 3 * TRIED; ++i) {
            char before[256];
            Prepare(v == 1);
            snprintf(before, sizeof(before),
                "timeout -s KILL 100 strace -f -qq -o /dev/null -e trace=%s -e inject=%s:error=EIO:when=%d",
                calls[i / TRIED], calls[i / TRIED], i % TRIED + 1);
            Outcome outcome = RunJounceUnder(before, verbs[v]);
            if (outcome.code > 1 || (outcome.code == 1 && strstr(outcome.error, "Input/output error") == NULL)) {
                fail_msg("%s %d failing: jounce %s: exit %d: %s", calls[i / TRIED], i % TRIED + 1, verbs[v],
                    outcome.code, outcome.error);
            }
            failed += outcome.code == 1;
            done += outcome.code == 0;
            if (outcome.code == 1) {
                Run(verbs[v]);
                Do("test -z \"$(find far out fresh -name '*.part' 2> /dev/null)\"");
            }
        }
    }
    print_message("%d verbs ended in a line, %d did their work\n", failed, done);
    assert_true(failed > 14);
}

// A run that was killed, or lost its power, after it had joined its shards and before it removed them.
static void ShardsOfAJobThatIsDoneAreRemoved(void** state)
{
    (void)state;
    Do("rm -rf far && cp -r w far && mkdir far/poses/shards far/motion/wave_top/dynamic.shards && "
       "touch far/poses/shards/000000-9e21c1e401b51071.shard "
       "far/motion/wave_top/dynamic.shards/000000-f651998f10ee2d8b.shard");
    Run("build far --until evaluate");
    Do("test ! -e far/poses/shards && test ! -e far/motion/wave_top/dynamic.shards");
    Do("cmp far/character.jounce w/character.jounce");
}

// A kernel that has one of the two mechanisms, or neither.
static void ASandboxThatIsNotToBeHadIsTold(void** state)
{
    (void)state;
    if (!CanTrace()) {
        skip();
    }
    static const char* const missing[][2] = {{"landlock_create_ruleset", "without Landlock, it could read other files"},
        {"landlock_restrict_self", "without Landlock"}, {"prctl", "without seccomp and Landlock"}};
    for (size_t i = 0; i < 3; ++i) {
        char before[256];
        snprintf(before, sizeof(before),
            "timeout -s KILL 100 strace -f -qq -o /dev/null -e trace=%s -e inject=%s:error=ENOSYS", missing[i][0],
            missing[i][0]);
        Do("rm -rf fresh");
        Outcome outcome = RunJounceUnder(before, "new fresh --from tube.glb");
        if (outcome.code != 0 || strstr(outcome.out, missing[i][1]) == NULL) {
            fail_msg("without %s: exit %d: %s%s", missing[i][0], outcome.code, outcome.out, outcome.error);
        }
        Do("rm -rf fresh");
        outcome = RunJounceUnder(before, "new fresh --from tube.glb --require-sandbox");
        if (outcome.code != 1 || strstr(outcome.error, "was not read: this system cannot confine") == NULL) {
            fail_msg("without %s: exit %d: %s%s", missing[i][0], outcome.code, outcome.out, outcome.error);
        }
        assert_false(FileExists("fresh"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(AVerbThatCannotRenameSyncOrMakeFoldersLosesNothing),
        cmocka_unit_test(ShardsOfAJobThatIsDoneAreRemoved),
        cmocka_unit_test(ASandboxThatIsNotToBeHadIsTold),
    };
    return cmocka_run_group_tests(tests, MakeBuiltTube, LeaveScratchFolder);
}
