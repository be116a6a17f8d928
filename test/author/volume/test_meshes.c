// The meshes of the figure and of the body, made once and kept for the tests that look at what is inside them: sound
// elements that fill the surface, and read back as they were made.
#include "helpers/volumes.h"

static void MeshAndKeep(jnaCharacter* c, const char* name)
{
    TestVolume again = {0};
    jnaVolume v;
    jnaVolumeReport report;
    jnError error = {0};
    jnaVolumeDef def = jnaDefaultVolumeDef();
    char folder[512], line[1200];
    def.method = jna_volumeTetgen;
    if (jnaCreateVolume(c, &def, &v, &report, NULL, &error) != jn_ok) {
        fail_msg("%s: %s", name, error.message);
    }
    print_message("%s: %d nodes, %d tetrahedra, smallest angle %.2f\n", name, v.nodeCount, v.tetrahedronCount,
        report.after.smallestAngle);
    assert_int_equal(report.after.belowFive, 0);
    ASSERT_AT_MOST(fabs(report.after.volume - report.surface.volume) / report.surface.volume, 1e-9);
    snprintf(folder, sizeof(folder), "%s%s", KEPT_VOLUMES, name);
    snprintf(line, sizeof(line), "rm -rf '%s' && mkdir -p '%s'", folder, folder);
    assert_int_equal(system(line), 0);
    assert_int_equal(jnaSaveVolume(folder, &v, &report, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &again.volume, &error), jn_ok);
    assert_int_equal(again.volume.nodeCount, v.nodeCount);
    assert_int_equal(again.volume.tetrahedronCount, v.tetrahedronCount);
    assert_memory_equal(again.volume.nodes, v.nodes, 3 * (size_t)v.nodeCount * sizeof(double));
    assert_memory_equal(again.volume.tetrahedra, v.tetrahedra, 4 * (size_t)v.tetrahedronCount * sizeof(int32_t));
    assert_memory_equal(again.volume.skinWeights, v.skinWeights, 4 * (size_t)v.vertexCount * sizeof(double));
    assert_memory_equal(again.volume.skinOffsets, v.skinOffsets, 3 * (size_t)v.vertexCount * sizeof(double));
    jnaDestroyVolume(&again.volume);
    jnaDestroyVolume(&v);
}

static void TheFigureIsMeshed(void** state)
{
    (void)state;
    jnaCharacter c;
    NeedTetgen(NULL);
    assert_int_equal(jnaCreateFigure(&c, NULL), jn_ok);
    MeshAndKeep(&c, "figure");
    jnaDestroyCharacter(&c);
}

static void TheBodyIsMeshed(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaClipList clips;
    jnaImportDef def = jnaDefaultImportDef();
    NeedsNoSanitizer();
    NeedTetgen(BODY_DATA "body.glb");
    assert_int_equal(jnaImportCharacter(BODY_DATA "body.glb", &def, &c, &clips, NULL, NULL, NULL), jn_ok);
    MeshAndKeep(&c, "body");
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheFigureIsMeshed),
        cmocka_unit_test(TheBodyIsMeshed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
