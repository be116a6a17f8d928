// Workspaces: what is imported is loaded back bit for bit, manifests are refused with file and line, stale is
// stale.
#include "base/hash.h"
#include "helpers/folders.h"
#include "helpers/opened.h"
#include "helpers/small_gltf.h"
#include "pipeline/stage_import.h"
#include "workspace/stage.h"
#include "workspace/store.h"

#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

static const TubeDef tube = {.joints = 3, .armature = "", .animation = "rotation"};

static const char* Path(const char* name)
{
    static char paths[64][512];
    static int next;
    char* path = paths[next++ % 64];
    snprintf(path, 512, "%s/ws_%ld/%s", JN_BINARY_DIR, (long)getpid(), name);
    return path;
}

static int SetUp(void** state)
{
    (void)state;
    return mkdir(Path("."), 0777) == 0 || mkdir(Path(""), 0777) == 0 ? 0 : -1;
}

static int TearDown(void** state)
{
    (void)state;
    unlink(WriteTube("ws", &tube));
    unlink(WriteTube("half", &tube));
    unlink(WriteTube("motion", &tube));
    return RemoveFolder(Path(""));
}

static void WriteText(const char* path, const char* text)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void MakeWorkspace(const char* path)
{
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = WriteTube("ws", &tube);
    jnError error = {0};
    jnResult result = jnaCreateWorkspace(path, &def, NULL, &error);
    if (result != jn_ok) {
        fail_msg("%s", error.message);
    }
}

static void WhatIsImportedIsLoadedBack(void** state)
{
    (void)state;
    const char* path = Path("load");
    MakeWorkspace(path);
    jnError error = {0};
    jnaCharacter stored, direct;
    jnaClip clip;
    jnaClipList clips;
    jnaImportDef def = jnaDefaultImportDef();
    assert_int_equal(jnaLoadCharacter(path, &stored, &error), jn_ok);
    assert_int_equal(jnaImportCharacter(WriteTube("ws", &tube), &def, &direct, &clips, NULL, NULL, &error), jn_ok);
    assert_int_equal(stored.vertexCount, direct.vertexCount);
    assert_int_equal(stored.triangleCount, direct.triangleCount);
    assert_int_equal(stored.jointCount, direct.jointCount);
    assert_memory_equal(stored.joints, direct.joints, (size_t)direct.jointCount * sizeof(jnaJoint));
    assert_memory_equal(stored.parts, direct.parts, (size_t)direct.partCount * sizeof(jnaPart));
    assert_memory_equal(stored.positions, direct.positions, (size_t)direct.vertexCount * 12);
    assert_memory_equal(stored.influences, direct.influences, (size_t)direct.vertexCount * sizeof(jnaInfluences));
    assert_memory_equal(stored.weld, direct.weld, (size_t)direct.fileVertexCount * 4);
    assert_memory_equal(stored.fileNormals, direct.fileNormals, (size_t)direct.fileVertexCount * 12);
    assert_memory_equal(stored.fileUvs, direct.fileUvs, (size_t)direct.fileVertexCount * 8);
    assert_memory_equal(stored.triangles, direct.triangles, (size_t)direct.triangleCount * 12);
    assert_int_equal(jnaLoadClip(path, "wave_top", &stored, &clip, &error), jn_ok);
    assert_int_equal(clip.frameCount, 31);
    size_t entries = (size_t)clip.frameCount * (size_t)clip.jointCount;
    assert_memory_equal(clip.rotations, clips.clips[0].rotations, entries * 16);
    assert_memory_equal(clip.translations, clips.clips[0].translations, entries * 12);
    jnaDestroyClip(&clip);
    assert_int_equal(jnaLoadClip(path, "../clips/wave_top", &stored, &clip, &error), jn_badArgument);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&stored);
    jnaDestroyCharacter(&direct);
}

static void DamagedWorkspacesAreRefused(void** state)
{
    (void)state;
    static const char* const files[] = {"positions.npy", "weld.npy", "joints.npy", "weights.npy", "character.json"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        char name[64], file[1024];
        snprintf(name, sizeof(name), "damaged%zu", i);
        const char* path = Path(name);
        MakeWorkspace(path);
        snprintf(file, sizeof(file), "%s/character/%s", path, files[i]);
        struct stat status;
        assert_int_equal(stat(file, &status), 0);
        assert_int_equal(truncate(file, status.st_size - 4), 0);
        jnaCharacter character;
        jnError error = {0};
        assert_int_not_equal(jnaLoadCharacter(path, &character, &error), jn_ok);
        assert_non_null(strstr(error.message, files[i]));
    }
}

static void WrongIndicesInArraysAreRefused(void** state)
{
    (void)state;
    static const char* const files[] = {"weld.npy", "joints.npy", "triangles.npy"};
    for (size_t i = 0; i < 3; ++i) {
        char name[64], file[1024];
        snprintf(name, sizeof(name), "indices%zu", i);
        const char* path = Path(name);
        MakeWorkspace(path);
        snprintf(file, sizeof(file), "%s/character/%s", path, files[i]);
        FILE* stream = fopen(file, "r+b");
        fseek(stream, -4, SEEK_END);
        fwrite("\xff\xff\xff\x7f", 1, 4, stream);
        fclose(stream);
        jnaCharacter character;
        jnError error = {0};
        assert_int_equal(jnaLoadCharacter(path, &character, &error), jn_badData);
    }
}

static void NoHalfMadeWorkspaceIsLeft(void** state)
{
    (void)state;
    jnError error = {0};
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    assert_int_equal(mkdir(Path("half"), 0777), 0);
    const char* path = Path("half/ws");
    TubeDef bad = tube;
    bad.nan = true;
    def.character = WriteTube("half", &bad);
    assert_int_equal(jnaCreateWorkspace(path, &def, NULL, &error), jn_badData);
    def.character = WriteTube("half", &tube);
    const char *names[] = {"extra"}, *files[] = {"/nonexistent/file.bvh"};
    def.clipCount = 1;
    def.clipNames = names;
    def.clipFiles = files;
    assert_int_equal(jnaCreateWorkspace(path, &def, NULL, &error), jn_ioFailed);
    def.clipCount = 0;
    def.motionCount = 1;
    def.motionClips = names;
    def.motionFiles = files;
    assert_int_equal(jnaCreateWorkspace(path, &def, NULL, &error), jn_badArgument);
    assert_non_null(strstr(error.message, "no clip 'extra'"));
    // The folder holds nothing, no temporary one either: it can be removed as empty.
    assert_int_equal(rmdir(Path("half")), 0);
    // A disk that takes no more than 500 bytes a file.
    assert_int_equal(mkdir(Path("half"), 0777), 0);
    def.motionCount = 0;
    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = (struct rlimit){500, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    jnResult full = jnaCreateWorkspace(Path("half/ws"), &def, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(full, jn_ioFailed);
    assert_int_equal(rmdir(Path("half")), 0);
    MakeWorkspace(Path("taken"));
    assert_int_equal(jnaCreateWorkspace(Path("taken"), &def, NULL, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "already exists"));
}

static void MotionOfAClipIsStored(void** state)
{
    (void)state;
    enum { FRAMES = 31 };
    static float positions[FRAMES * TUBE_FILE_VERTICES * 3];
    for (int i = 0; i < FRAMES * TUBE_FILE_VERTICES * 3; ++i) {
        TubePosition(i / 3 % TUBE_FILE_VERTICES, &positions[i / 3 * 3]);
    }
    const size_t shape[3] = {FRAMES, TUBE_FILE_VERTICES, 3}, wrong[3] = {FRAMES - 1, TUBE_FILE_VERTICES, 3};
    jnError error = {0};
    assert_int_equal(jnaWriteArray(Path("motion.npy"), jna_float32, 3, shape, positions, &error), jn_ok);
    assert_int_equal(jnaWriteArray(Path("wrong.npy"), jna_float32, 3, wrong, positions, &error), jn_ok);
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = WriteTube("motion", &tube);
    const char *names[] = {"wave_top"}, *files[] = {Path("wrong.npy")};
    def.motionCount = 1;
    def.motionClips = names;
    def.motionFiles = files;
    assert_int_equal(jnaCreateWorkspace(Path("moved"), &def, NULL, &error), jn_badData);
    assert_non_null(strstr(error.message, "has 30 frames; clip 'wave_top' has 31"));
    files[0] = Path("motion.npy");
    const char* path = Path("moved");
    assert_int_equal(jnaCreateWorkspace(path, &def, NULL, &error), jn_ok);
    jnaCharacter character;
    jnaClip clip;
    jnaArray motion;
    bool present;
    assert_int_equal(jnaLoadCharacter(path, &character, &error), jn_ok);
    assert_int_equal(jnaLoadClip(path, "wave_top", &character, &clip, &error), jn_ok);
    assert_int_equal(jnaOpenClipCache(path, &clip, &character, jna_clipMotion, &present, &motion, &error), jn_ok);
    assert_true(present);
    assert_memory_equal(motion.data, character.positions, (size_t)character.vertexCount * 12);
    jnaCloseArray(&motion);
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&character);
}

static void AManifestComesBackAsWritten(void** state)
{
    (void)state;
    const char* path = Path("all.yaml");
    WriteText(path, "version: 1\n"
                    "character: {source: \"a \\\"b\\\".glb\", scale: 0.01}\n"
                    "rate: 60\n"
                    "clips:\n"
                    "  - {name: a, role: test, source: x.bvh, first: 7, frames: 0}\n"
                    "  - {name: b, role: train, source: y.glb, animation: walk, motion: z.pc2}\n"
                    "retarget:\n"
                    "  - {source: LArm, joint: arm_l}\n"
                    "materials:\n"
                    "  density: 900\n"
                    "  poisson: 0.3\n"
                    "  joints:\n"
                    "    - {joint: belly, young_factor: 0.5}\n"
                    "    - {joint: head, density_factor: 1.2, poisson: 0.4}\n"
                    "  regions:\n"
                    "    - {region: belly, young_factor: 0.7}\n"
                    "    - {region: upper_arm, poisson: 0.48}\n"
                    "  fat: {depth: 0.02, young_factor: 0.25}\n"
                    "bones:\n"
                    "  hold: spring\n"
                    "  stiffness: 2e5\n"
                    "  joints:\n"
                    "    - {joint: head, radius: 0.8}\n"
                    "    - {joint: belly, length: 0.5, rigid: true}\n"
                    "    - {joint: tail, radius: 0}\n"
                    "  regions:\n"
                    "    - {region: calf, rigid: true}\n"
                    "flesh: {gravity: 9.81, drag: 2, integrator: bdf2, substeps: 4, contact: false}\n"
                    "poses: {count: 70, random: 0.25, clips: 0.75, held_out: 0.1, widen: 0.3, seed: 9, file: h.npy}\n"
                    "network: {kind: pca, epochs: 12}\n"
                    "volume: {method: lattice, nodes: 800}\n"
                    "springs:\n"
                    "  mode: joints\n"
                    "  hertz: 4.5\n"
                    "  cap: 0.05 m\n"
                    "  joints:\n"
                    "    - {joint: belly, hertz: 2, damping_ratio: 0.1}\n");
    jnError error = {0};
    jnaManifest m;
    for (int pass = 0; pass < 2; ++pass) {
        if (jnaReadManifest(path, &m, &error) != jn_ok) {
            fail_msg("%s", error.message);
        }
        assert_string_equal(m.character, "a \"b\".glb");
        assert_true(m.scale == 0.01 && m.rate == 60);
        assert_int_equal(m.clipCount, 2);
        assert_int_equal(m.clips[0].role, jna_test);
        assert_null(m.clips[0].animation);
        assert_true(m.clips[0].first == 7 && m.clips[0].frames == 0);
        assert_true(m.clips[1].first == 0 && m.clips[1].frames == JNA_ALL_FRAMES);
        assert_true(m.volume.method == jna_volumeLattice && m.volume.edge == 0 && m.volume.nodes == 800);
        assert_true(m.network.epochs == 12);
        assert_string_equal(m.clips[1].motion, "z.pc2");
        assert_int_equal(m.pairCount, 1);
        assert_string_equal(m.pairs[0].joint, "arm_l");
        assert_true(m.materials.density == 900 && m.materials.young == 30000 && m.materials.poisson == 0.3);
        assert_int_equal(m.materials.jointCount, 2);
        const jnaJointMaterial* flesh = m.materials.joints;
        assert_string_equal(flesh[0].joint, "belly");
        assert_true(flesh[0].youngFactor == 0.5 && flesh[0].densityFactor == 1 && flesh[0].poisson < 0);
        assert_true(flesh[1].youngFactor == 1 && flesh[1].densityFactor == 1.2 && flesh[1].poisson == 0.4);
        assert_true(m.materials.fatDepth == 0.02 && m.materials.fat.youngFactor == 0.25);
        assert_true(m.materials.fat.densityFactor == 0.9 && m.materials.fat.poisson < 0);
        assert_int_equal(m.bones.hold, jna_boneSpring);
        assert_int_equal(m.bones.jointCount, 3);
        const jnaJointBone* bones = m.bones.joints;
        assert_string_equal(bones[1].joint, "belly");
        assert_true(bones[0].radius == 0.8 && bones[0].length == 1 && !bones[0].rigid);
        assert_true(bones[1].radius == 1 && bones[1].length == 0.5 && bones[1].rigid);
        assert_true(bones[2].radius == 0 && bones[2].length == 1 && !bones[2].rigid);
        assert_true(m.bones.stiffness == 2e5);
        assert_int_equal(m.bones.regionCount, 1);
        assert_true(m.bones.regions[0].region == jna_regionCalf && m.bones.regions[0].rigid);
        assert_int_equal(m.materials.regionCount, 2);
        assert_true(m.materials.regions[0].region == jna_regionBelly && m.materials.regions[0].youngFactor == 0.7);
        assert_true(m.materials.regions[0].densityFactor < 0 && m.materials.regions[1].poisson == 0.48);
        assert_true(
            m.flesh.gravity[1] == -9.81 && m.flesh.damping == 0.006 && m.flesh.drag == 2 && m.flesh.substeps == 4);
        assert_int_equal(m.flesh.integrator, jna_bdf2);
        assert_false(m.flesh.contact);
        assert_int_equal(jnaManifest_PoseCount(&m), 70);
        assert_true(m.poses.random == 0.25 && m.poses.fromClips == 0.75 && m.poses.heldOut == 0.1);
        assert_true(m.poses.widen == 0.3 && m.poses.seed == 9);
        assert_string_equal(m.poseFile, "h.npy");
        assert_int_equal(m.network.kind, jn_networkPca);
        assert_int_equal(m.springs.mode, jna_springsJoints);
        assert_true(m.springs.hertz == 4.5 && m.springs.dampingRatio == 0.2);
        assert_true(m.springs.cap.kind == jna_capMetres && m.springs.cap.value == 0.05);
        assert_string_equal(m.springs.joints[0].joint, "belly");
        assert_true(m.springs.joints[0].dampingRatio == 0.1);
        assert_int_equal(jnaWriteManifest(path, &m, &error), jn_ok);
        jnaDestroyManifest(&m);
    }
}

static void WrongManifestsAreRefusedWithTheLine(void** state)
{
    (void)state;
    static const char head[] = "version: 1\ncharacter:\n  source: a.glb\n"; // three lines
    static const struct {
        const char* text;
        const char* says;
    } wrong[] = {{"colour: red\n", ":4: unknown key 'colour'"},
        {"\nrate: 30\n\ncolour: red\n", ":7: unknown key 'colour'"}, {"rate: fast\n", ":4: "},
        {"rate: 30x\n", ":4: rate: '30x' is not a number"},
        {"rate: -1\n", ":4: rate is -1; it must lie between 1 and 1000"}, {"rate: nan\n", ":4: rate: 'nan'"},
        {"clips:\n- name: a\n  role: tran\n  source: b\n", ":6: "},
        {"clips:\n- name: a\n  role: train\n  source: b\n  speed: 2\n", ":8: unknown key 'speed'"},
        {"clips:\n- {name: a, role: train, source: b}\n- {name: a, role: test, source: b}\n",
            ":6: there are two clips"},
        {"clips:\n- {name: a/b, role: train, source: b}\n", ":5: the clip name 'a/b'"},
        {"clips:\n- {name: \"a\\nb\", role: train, source: b}\n", ":5: the clip name 'a b'"},
        {"rate: 30\nrate: 31\n", ":5: 'rate' is given twice"}, {"rate: [30\n", ":5: is not valid YAML"},
        {"flesh:\n  integrator: rk4\n",
            ":5: flesh.integrator is 'rk4'; it must be backward-euler, bdf2 or generalized"},
        {"springs:\n  mode: mask\n", ":5: springs by mask need"},
        {"springs:\n  cap: 5 cm\n", ":5: springs.cap is '5 cm'"}, {"springs:\n  cap: -1\n", ":5: springs.cap is '-1'"},
        {"springs:\n  cap: none\n", ":5: springs.cap is 'none'"},
        {"springs:\n  hertz: 3\n  damping_ratio: -0.5\n", ":6: springs.damping_ratio is -0.5"},
        {"springs:\n  joints:\n  - {joint: a, hertz: 1e9, damping_ratio: 1}\n", ":6: springs.joints[0].hertz"},
        {"materials:\n  poisson: 0.5\n", ":5: materials.poisson is 0.5"}, {"network: {kind: gpt}\n", ":4: "},
        {"bones:\n  joints:\n  - joint: a\n    radius: 11\n", ":7: bones.joints[0].radius is 11"},
        {"bones:\n  hold: glue\n", ":5: "}, {"bones:\n  regions:\n  - {region: nose, rigid: true}\n", ":6: "},
        {"materials:\n  regions:\n  - {region: calf}\n  - {region: calf}\n",
            ":7: materials.regions[1].region: 'calf' is"},
        {"bones:\n  joints:\n  - joint: a\n  - {joint: a, radius: 0.2}\n",
            ":7: bones.joints[1].joint: 'a' is there twice"},
        {"bones:\n  joints:\n  - radius: 0.2\n", ":6: "}, {"bones:\n  stiffness: soft\n", ":5: "},
        {"bones:\n  stiffness: 0\n", ":5: bones.stiffness is 0"},
        {"materials:\n  joints:\n  - {joint: a, young_factor: 0}\n", ":6: materials.joints[0].young_factor is 0"},
        {"flesh:\n  gravity: -1\n", ":5: flesh.gravity is -1"}, {"flesh:\n  mass: 1\n", ":5: unknown key 'mass'"},
        {"poses:\n  count: 0\n", ":5: poses.count is 0"}, {"poses:\n  count: 3.5\n", ":5: poses.count is 3.5"},
        {"modes:\n  count: 2.5\n", ":5: modes.count is 2.5"}, {"poses:\n  widen: 2\n", ":5: poses.widen is 2"},
        {"poses:\n  random: 0\n  clips: 0\n", ":5: poses.random and"},
        {"poses:\n  kind: odd\n", ":5: unknown key 'kind'"}, {"network:\n  epochs: -1\n", ":5: network.epochs is -1"},
        {"volume:\n  edge: -1\n", ":5: volume.edge is -1"}, {"volume:\n  nodes: 1.5\n", ":5: volume.nodes is 1.5"},
        {"volume:\n  edge: 0.1\n  nodes: 9\n", ":6: volume.edge and volume.nodes"},
        {"clips:\n  - {name: a, role: test, source: x, frames: -1}\n", ":5: clips[0].frames is -1"},
        {"clips:\n  - {name: a, role: test, source: x, first: 0.5}\n", ":5: clips[0].first is 0.5"},
        {"materials:\n  fat:\n    depth: -1\n", ":6: materials.fat.depth is -1"},
        {"materials:\n  fat:\n    depth: 0.1\n    poisson: 0.5\n", ":7: materials.fat.poisson is 0.5"},
        {"clips: &x []\nretarget: *x\n", ":"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        char text[1024];
        const char* path = Path("wrong.yaml");
        snprintf(text, sizeof(text), "%s%s", head, wrong[i].text);
        WriteText(path, text);
        jnError error = {0};
        jnaManifest m;
        assert_int_equal(jnaReadManifest(path, &m, &error), jn_badData);
        if (strstr(error.message, wrong[i].says) == NULL || strstr(error.message, "wrong.yaml:") == NULL) {
            fail_msg("'%s' does not say '%s'", error.message, wrong[i].says);
        }
        assert_null(m.character);
    }
    jnaManifest m;
    jnError error = {0};
    WriteText(Path("wrong.yaml"), "");
    assert_int_equal(jnaReadManifest(Path("wrong.yaml"), &m, &error), jn_badData);
    WriteText(Path("wrong.yaml"), "version: 2\ncharacter: {source: a}\n");
    assert_int_equal(jnaReadManifest(Path("wrong.yaml"), &m, &error), jn_badData);
    assert_non_null(strstr(error.message, ":1: version 2"));
    assert_int_equal(jnaReadManifest(Path("absent.yaml"), &m, &error), jn_ioFailed);
}

static void AStageIsStaleWhenWhatItReadsChanges(void** state)
{
    (void)state;
    assert_int_equal(mkdir(Path("stage"), 0777), 0);
    assert_int_equal(mkdir(Path("stage/stages"), 0777), 0);
    const char* ws = Path("stage");
    WriteText(Path("stage/in"), "one");
    WriteText(Path("stage/out"), "result");
    char in[] = "in", second[] = "second", out[] = "out", hot[] = "hot", cold[] = "cold";
    char *inputs[] = {in, second}, *outputs[] = {out};
    jnaStage stage = {
        .name = "cook", .inputCount = 1, .inputs = inputs, .settings = hot, .outputCount = 1, .outputs = outputs};
    jnError error = {0};
    char reason[JNA_NOTE_LENGTH];
    bool stale = false;
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_true(stale);
    assert_int_equal(jnaStage_Record(ws, &stage, &error), jn_ok);
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_false(stale);
    WriteText(Path("stage/in"), "two");
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_true(stale);
    assert_string_equal(reason, "changed: in");
    WriteText(Path("stage/in"), "one");
    stage.seconds = 12.5; // what it took is told, and changes nothing
    assert_int_equal(jnaStage_Record(ws, &stage, &error), jn_ok);
    json_t* record = json_load_file(Path("stage/stages/cook.json"), 0, NULL);
    assert_true(json_number_value(json_object_get(record, "seconds")) == 12.5);
    json_decref(record);
    stage.seconds = 3;
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_false(stale);
    stage.settings = cold;
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_true(stale);
    stage.settings = hot;
    stage.inputCount = 2;
    WriteText(Path("stage/second"), "more");
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_true(stale);
    stage.inputCount = 1;
    assert_int_equal(unlink(Path("stage/out")), 0);
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ok);
    assert_true(stale);
    assert_string_equal(reason, "missing: out");
    assert_int_equal(unlink(Path("stage/in")), 0);
    assert_int_equal(jnaStage_IsStale(ws, &stage, &stale, reason, &error), jn_ioFailed);
}

static void APartOfAClipIsCutToItsFrames(void** state)
{
    (void)state;
    static const struct {
        int first, frames, of, count;
    } parts[] = {{0, JNA_ALL_FRAMES, 10, 10}, {3, JNA_ALL_FRAMES, 10, 7}, {0, 450, 10, 10}, {3, 4, 10, 4},
        {9, 5, 10, 1}, {0, 0, 10, 0}, {99, 0, 10, 0}};
    jnError error = {0};
    char name[] = "walk";
    int first, count;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        jnaManifestClip clip = {.name = name, .first = parts[i].first, .frames = parts[i].frames};
        assert_int_equal(jnaManifestClip_Part(&clip, parts[i].of, &first, &count, &error), jn_ok);
        assert_int_equal(count, parts[i].count);
        assert_int_equal(first, parts[i].first);
    }
    jnaManifestClip clip = {.name = name, .first = 10, .frames = JNA_ALL_FRAMES};
    assert_int_equal(jnaManifestClip_Part(&clip, 10, &first, &count, &error), jn_badData);
    assert_non_null(strstr(error.message, "'walk' has 10 frames"));
}

static void TheHashIsFnv(void** state)
{
    (void)state;
    assert_true(jnaHash("", 0, 0) == 0xcbf29ce484222325u);
    assert_true(jnaHash("a", 1, 0) == 0xaf63dc4c8601ec8cu);
    assert_true(jnaHash("foobar", 6, 0) == 0x85944171f73967e8u);
}

static void AnEditedManifestIsImportedAgain(void** state)
{
    (void)state;
    const char* path = Path("edit");
    MakeWorkspace(path);
    jnError error = {0};
    bool imported = true;
    assert_int_equal(UpdateImport(path, &imported, &error), jn_ok);
    assert_false(imported);
    jnaManifest m;
    char file[1024];
    snprintf(file, sizeof(file), "%s/manifest.yaml", path);
    assert_int_equal(jnaReadManifest(file, &m, &error), jn_ok);
    m.rate = 60;
    assert_int_equal(jnaWriteManifest(file, &m, &error), jn_ok);
    assert_int_equal(UpdateImport(path, &imported, &error), jn_ok);
    assert_true(imported);
    jnaCharacter character;
    jnaClip clip;
    assert_int_equal(jnaLoadCharacter(path, &character, &error), jn_ok);
    assert_int_equal(jnaLoadClip(path, "wave_top", &character, &clip, &error), jn_ok);
    assert_int_equal(clip.frameCount, 61);
    jnaDestroyClip(&clip);
    // A change that cannot be imported leaves what was there.
    free(m.clips[0].animation);
    m.clips[0].animation = strdup("nothing");
    assert_int_equal(jnaWriteManifest(file, &m, &error), jn_ok);
    assert_int_equal(UpdateImport(path, &imported, &error), jn_badData);
    assert_non_null(strstr(error.message, "has no animation 'nothing'"));
    assert_int_equal(jnaLoadClip(path, "wave_top", &character, &clip, &error), jn_ok);
    jnaDestroyClip(&clip);
    jnaDestroyCharacter(&character);
    jnaDestroyManifest(&m);
}

// The tube as a .gltf with its bytes in a file beside it.
static void WriteSplitTube(const char* text, const char* binary, const char* uri)
{
    static char bytes[1 << 16];
    FILE* file = fopen(WriteTube("ws", &tube), "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    uint32_t length;
    memcpy(&length, bytes + 12, 4);
    static const char key[] = "\"buffers\":[{";
    char* at = memmem(bytes + 20, length, key, strlen(key));
    assert_non_null(at);
    at += strlen(key);
    file = fopen(text, "wb");
    fwrite(bytes + 20, 1, (size_t)(at - bytes - 20), file);
    fprintf(file, "\"uri\":\"%s\",", uri);
    fwrite(at, 1, (size_t)(bytes + 20 + length - at), file);
    fclose(file);
    file = fopen(binary, "wb");
    fwrite(bytes + 28 + length, 1, size - 28 - length, file);
    fclose(file);
}

static void AChangedBufferBesideAGltfIsNoticed(void** state)
{
    (void)state;
    WriteSplitTube(Path("split.gltf"), Path("split.bin"), "split.bin");
    jnError error = {0};
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = Path("split.gltf");
    const char* path = Path("split");
    if (jnaCreateWorkspace(path, &def, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    bool imported = true;
    assert_int_equal(UpdateImport(path, &imported, &error), jn_ok);
    assert_false(imported);
    FILE* file = fopen(Path("split.bin"), "r+b");
    const float moved = 0.35F;
    fwrite(&moved, 4, 1, file);
    fclose(file);
    assert_int_equal(UpdateImport(path, &imported, &error), jn_ok);
    assert_true(imported);
    jnaCharacter character;
    assert_int_equal(jnaLoadCharacter(path, &character, &error), jn_ok);
    assert_true(character.positions[0] == moved);
    jnaDestroyCharacter(&character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(WhatIsImportedIsLoadedBack),
        cmocka_unit_test(DamagedWorkspacesAreRefused),
        cmocka_unit_test(WrongIndicesInArraysAreRefused),
        cmocka_unit_test(NoHalfMadeWorkspaceIsLeft),
        cmocka_unit_test(MotionOfAClipIsStored),
        cmocka_unit_test(AManifestComesBackAsWritten),
        cmocka_unit_test(WrongManifestsAreRefusedWithTheLine),
        cmocka_unit_test(AStageIsStaleWhenWhatItReadsChanges),
        cmocka_unit_test(APartOfAClipIsCutToItsFrames),
        cmocka_unit_test(TheHashIsFnv),
        cmocka_unit_test(AnEditedManifestIsImportedAgain),
        cmocka_unit_test(AChangedBufferBesideAGltfIsNoticed),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
