// Nothing that is learned, chosen, limited or calibrated depends on a clip with role test: the same manifest without
// its test clips gives the same bytes.
#include "helpers/command.h"

static void Do(const char* line)
{
    if (system(line) != 0) {
        fail_msg("failed: %s", line);
    }
}

// Two workspaces of the figure, small enough for a test: one with test clips before, between and behind those to train
// on, one without them.
static int MakeWorkspaces(void** state)
{
    if (EnterScratchFolder(state) != 0 || RunJounce("new with --figure").code != 0) {
        return -1;
    }
    Do("sed -i -e 's/method: .*/method: lattice/; s/  nodes: .*/  nodes: 300/; s/  count: 300/  count: 24/' "
       "-e 's/epochs: .*/epochs: 5/; s/substeps: .*/substeps: 1/; s/  shake: .*/  shake: 0.4/' "
       "-e 's/  layer: .*/  layer: auto/; s/  mode: .*/  mode: fitted/; s/  kind: .*/  kind: pca/' "
       "-e 's/    animation: .*/&\\n    first: 8\\n    frames: 12/; s/  held_out: .*/  held_out: 0.2/' "
       "with/manifest.yaml");
    // Roles test, train, test, train, test, whatever they were.
    Do("awk '/^    role:/ {print \"    role: \" (++n % 2 ? \"test\" : \"train\"); next} {print}' with/manifest.yaml "
       ">changed && mv changed with/manifest.yaml");
    Do("mkdir without && awk '/^  - name:/ {held = $0; next} held != \"\" {drop = /role: test/; if (!drop) print held; "
       "held = \"\"} /^[a-z#]/ {drop = 0} !drop {print}' with/manifest.yaml >without/manifest.yaml");
    Do("test $(grep -c '^    role: test' with/manifest.yaml) = 3 && test $(grep -c '^    role: train' "
       "with/manifest.yaml) = 2");
    Do("! grep -q '^    role: test' without/manifest.yaml && test $(grep -c '^    role: train' without/manifest.yaml) "
       "= 2");
    return 0;
}

static void WithoutTestClipsAllThatIsLearnedHasTheSameBytes(void** state)
{
    (void)state;
    Outcome outcome;
    assert_int_equal(RunInto(&outcome, "build with --until export"), 0);
    assert_int_equal(RunInto(&outcome, "build without --until export"), 0);
    // Times differ; offsets.json and errors.json measure all clips.
    Do("for folder in poses modes shake network springs; do diff -r -x times.npy -x '*_times.npy' -x offsets.json "
       "-x errors.json with/$folder without/$folder || exit 1; done");
    Do("for file in with/volume/*.npy; do cmp $file without/volume/$(basename $file) || exit 1; done");
    // Poses know no test clip, and their motion is simulated as it is.
    Do("test -f with/poses/held_out.npy && ! grep -q jumping-jacks with/poses/poses.json && grep -q calisthenics "
       "with/poses/poses.json");
    Do("cmp with/motion/run/dynamic.npy without/motion/run/dynamic.npy");
}

static void WithoutTrainingClipsModesAreThoseOfTheRestPose(void** state)
{
    (void)state;
    Outcome outcome;
    Do("cp -r with none && rm -rf none/modes none/stages/modes.json none/stages/offsets.json && "
       "sed -i 's/role: train/role: test/' none/manifest.yaml");
    assert_int_equal(RunInto(&outcome, "modes none"), 0);
    assert_non_null(strstr(outcome.out, "no clip has the role `train`"));
    Do("cp -r none rest && sed -i 's/  pose: mean/  pose: rest/' rest/manifest.yaml");
    assert_int_equal(RunInto(&outcome, "modes rest"), 0);
    Do("cmp none/modes/shapes.npy rest/modes/shapes.npy && cmp none/modes/stiffness.npy rest/modes/stiffness.npy");
    // Poses come from the body's joints alone.
    assert_int_equal(RunInto(&outcome, "simulate none --poses 4 --force"), 0);
}

static void AnOldManifestIsToldWhatBecameOfItsLimits(void** state)
{
    (void)state;
    Do("cp -r with old && sed -i 's/^  held_out: .*/&\\n  limits: all/' old/manifest.yaml");
    Outcome outcome = RunJounce("build old");
    assert_int_equal(outcome.code, 1);
    assert_non_null(strstr(outcome.error, "poses.limits is no setting any more"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WithoutTestClipsAllThatIsLearnedHasTheSameBytes),
        cmocka_unit_test(WithoutTrainingClipsModesAreThoseOfTheRestPose),
        cmocka_unit_test(AnOldManifestIsToldWhatBecameOfItsLimits),
    };
    return cmocka_run_group_tests(tests, MakeWorkspaces, LeaveScratchFolder);
}
