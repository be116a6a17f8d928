// The conforming mesh: the surface's vertices are its first nodes, its volume is the surface's, and a program that
// fails is a line a person can read.
#include "character/import.h"
#include "helpers/small_surface.h"

#include <sys/stat.h>

static jnError error;

static jnResult Mesh(const jnaCharacter* character, const jnaVolumeDef* def, jnaVolume* volume, jnaVolumeReport* report)
{
    jnResult result = jnaCreateVolume(character, def, volume, report, NULL, &error);
    if (result == jn_ioFailed && strstr(error.message, "not installed") != NULL &&
        strcmp(def->program, "tetgen") == 0) {
        print_message("skipped: no tetgen\n");
        skip();
    }
    return result;
}

// Meshes with a coarse edge what was added to the character. Destroy it with Leave.
static void MeshCoarsely(jnaCharacter* character, jnaVolume* v, jnaVolumeReport* report)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.edge = 0.3;
    assert_int_equal(Mesh(character, &def, v, report), jn_ok);
}

static void Leave(jnaCharacter* character, jnaVolume* v)
{
    jnaDestroyVolume(v);
    jnaDestroyCharacter(character);
}

static void ASphereKeepsItsSurface(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    AddSphere(&character, 0, 0, 0, 1);
    MeshCoarsely(&character, &v, &report);
    assert_int_equal(v.method, jna_volumeTetgen);
    assert_non_null(strstr(report.reason, "free of crossings"));
    double expected = EnclosedVolume(&character);
    ASSERT_NEAR(report.after.volume, expected, 1e-9 * expected);
    for (int i = 0; i < 3 * character.vertexCount; ++i) {
        ASSERT_NEAR(v.nodes[i], character.positions[i], 0);
    }
    assert_int_equal(report.after.orphanCount, 0);
    assert_int_equal(report.after.invertedCount, 0);
    ASSERT_NEAR(GreatestSkinError(&character, &v), 0, 1e-15);
    // None was added on the surface: its faces are the character's.
    int faces;
    jnaMesh mesh = {
        .nodeCount = v.nodeCount, .nodes = v.nodes, .tetrahedronCount = v.tetrahedronCount, .tetrahedra = v.tetrahedra};
    jnaArena arena = {0};
    int32_t* boundary = jnaListBoundary(&mesh, &faces, &arena);
    assert_int_equal(faces, character.triangleCount);
    for (int i = 0; i < 3 * faces; ++i) {
        assert_true(boundary[i] < character.vertexCount);
    }
    jnaReleaseArena(&arena);
    Leave(&character, &v);
}

static void AHollowStaysEmpty(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    AddSphere(&character, 0, 0, 0, 1);
    AddSphere(&character, 0, 0, 0, -0.6);
    double expected = EnclosedVolume(&character);
    MeshCoarsely(&character, &v, &report);
    ASSERT_NEAR(report.after.volume, expected, 1e-9 * expected);
    Leave(&character, &v);
}

static void APartLeftOutHasNoTetrahedron(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    AddSphere(&character, 0.1, 0, 0, 0.2);
    int inner = character.vertexCount;
    AddSphere(&character, 0, 0, 0, 1);
    MeshCoarsely(&character, &v, &report);
    for (int s = 0; s < v.vertexCount; ++s) {
        assert_int_equal(v.skinTetrahedra[s] < 0, s < inner);
    }
    assert_int_equal(report.after.orphanCount, 0);
    ASSERT_NEAR(GreatestSkinError(&character, &v), 0, 1e-15);
    Leave(&character, &v);
}

// Runs a shell script in the program's place.
static jnResult RunScriptFor(
    int nodes, const char* text, double timeLimit, jnaVolumeMethod method, jnaVolumeReport* report)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/fake-tetgen-%ld", JN_BINARY_DIR, (long)getpid());
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    chmod(path, 0755);
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.program = path;
    def.timeLimit = timeLimit;
    def.method = method;
    def.nodes = nodes;
    AddSphere(&character, 0, 0, 0, 1);
    jnResult result = jnaCreateVolume(&character, &def, &v, report, NULL, &error);
    unlink(path);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
    return result;
}

static jnResult RunScript(const char* text, double timeLimit, jnaVolumeMethod method, jnaVolumeReport* report)
{
    return RunScriptFor(300, text, timeLimit, method, report);
}

static void AProgramThatFailsIsALine(void** state)
{
    (void)state;
    jnaVolumeReport report;
    assert_int_equal(RunScript("kill -ABRT $$", 10, jna_volumeTetgen, &report), jn_badData);
    assert_non_null(strstr(error.message, "gave up"));
    assert_int_equal(
        RunScript("[ \"$1\" = -d ] && echo 'Facet #1 intersects facet #2'; exit 3", 10, jna_volumeTetgen, &report),
        jn_badData);
    assert_non_null(strstr(error.message, "1 pairs of faces that cross"));
    assert_int_equal(RunScript("exit 3", 10, jna_volumeTetgen, &report), jn_badData);
    assert_non_null(strstr(error.message, "exit code 3"));
    assert_int_equal(RunScript("sleep 20", 0.2, jna_volumeTetgen, &report), jn_ioFailed);
    assert_non_null(strstr(error.message, "within 0.2 s"));
    assert_int_equal(RunScript("exit 127", 10, jna_volumeTetgen, &report), jn_ioFailed);
    assert_non_null(strstr(error.message, "not installed"));
}

static void FilesThatLieAreRefused(void** state)
{
    (void)state;
    jnaVolumeReport report;
    static const char* const scripts[] = {
        "exit 0",
        "echo 4 3 0 0 > surface.1.node; echo 1 4 0 > surface.1.ele",
        "head -267 surface.poly > surface.1.node; printf '1 4 0\\n0 0 1 2 99999\\n' > surface.1.ele",
        "head -267 surface.poly > surface.1.node; printf '9 4 0\\n0 0 1 2 3\\n' > surface.1.ele",
        "head -267 surface.poly | sed 's/^7 /7 9/' > surface.1.node; printf '1 4 0\\n0 0 1 2 3\\n' > surface.1.ele",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); ++i) {
        assert_int_equal(RunScript(scripts[i], 10, jna_volumeTetgen, &report), jn_badData);
        assert_non_null(strstr(error.message, "cannot be read"));
    }
}

static void AutoFallsBackToTheLatticeAndSaysWhy(void** state)
{
    (void)state;
    jnaVolumeReport report;
    assert_int_equal(RunScript("kill -ABRT $$", 10, jna_volumeAuto, &report), jn_ok);
    assert_int_equal(report.method, jna_volumeLattice);
    assert_non_null(strstr(report.reason, "tetgen gave up"));
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.nodes = 300;
    AddSphere(&character, 0, 0, 0, 1);
    AddVertex(&character, 0, 3, 0);
    AddTriangle(&character, 0, 1, character.vertexCount - 1);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
    assert_int_equal(report.method, jna_volumeLattice);
    assert_non_null(strstr(report.reason, "1 edges are shared by more than two faces"));
    jnaDestroyVolume(&v);
    def.method = jna_volumeTetgen;
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_badData);
    jnaDestroyCharacter(&character);
}

// Needles make the program add nodes without end; nobody asked for so many.
static void AMeshOfTooManyNodesIsALattice(void** state)
{
    (void)state;
    jnaVolumeReport report;
    static const char many[] =
        "head -267 surface.poly | awk '"
        "NR == 1 { print $1 + 50000, 3, 0, 0 > \"surface.1.node\"; print 50000, 4, 0 > \"surface.1.ele\"; n = $1 }"
        "NR > 1 { print > \"surface.1.node\" }"
        "END { for (i = 0; i < 50000; ++i) { print n + i, 0, 0, i / 50000 > \"surface.1.node\";"
        " print i, 0, 1, 2, n + i > \"surface.1.ele\" } }'";
    assert_int_equal(RunScriptFor(0, many, 60, jna_volumeAuto, &report), jn_ok);
    assert_int_equal(report.method, jna_volumeLattice);
    assert_non_null(strstr(report.reason, "thin gaps or needles"));
}

static void TheBodyIsMeshedFromItsOriginalSurface(void** state)
{
    (void)state;
    NEEDS_DATA("body.glb");
    jnaImportDef import = jnaDefaultImportDef();
    jnaCharacter character;
    jnaClipList clips;
    jnaVolume v;
    jnaVolumeReport report;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    assert_int_equal(jnaImportCharacter(DATA "body.glb", &import, &character, &clips, NULL, NULL, NULL), jn_ok);
    // It has more vertices than its flesh needs nodes, so that nobody gets this mesh who does not ask for it.
    assert_int_equal(Mesh(&character, &def, &v, &report), jn_ok);
    assert_int_equal(v.method, jna_volumeLattice);
    assert_true(v.nodeCount < 10000 && strstr(report.reason, "more than its flesh needs") != NULL);
    jnaDestroyVolume(&v);
    def.method = jna_volumeTetgen;
    assert_int_equal(Mesh(&character, &def, &v, &report), jn_ok);
    assert_int_equal(v.method, jna_volumeTetgen);
    ASSERT_NEAR(v.nodeCount, 21700, 700);
    ASSERT_NEAR(v.tetrahedronCount, 93000, 3000);
    ASSERT_NEAR(report.after.volume, report.surface.volume, 1e-9 * report.surface.volume);
    assert_true(report.before.belowFive > 50);
    assert_int_equal(report.after.belowFive, 0);
    assert_true(report.after.smallestAngle > 6);
    assert_true(report.after.largestAngle < 174);
    // The skin comes out where it was, crossings and all.
    assert_true(report.surface.greatestMove > 1e-5);
    ASSERT_AT_MOST(GreatestSkinError(&character, &v), 1e-12);
    jnaDestroyVolume(&v);
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ASphereKeepsItsSurface),
        cmocka_unit_test(AHollowStaysEmpty),
        cmocka_unit_test(APartLeftOutHasNoTetrahedron),
        cmocka_unit_test(AProgramThatFailsIsALine),
        cmocka_unit_test(FilesThatLieAreRefused),
        cmocka_unit_test(AutoFallsBackToTheLatticeAndSaysWhy),
        cmocka_unit_test(AMeshOfTooManyNodesIsALattice),
        cmocka_unit_test(TheBodyIsMeshedFromItsOriginalSurface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
