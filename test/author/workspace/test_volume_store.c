// A volume on disk: what is saved comes back, what is damaged is refused.
#include "base/npy.h"
#include "helpers/small_surface.h"
#include "workspace/volume_store.h"

static char folder[256];

static int Enter(void** state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "%s/volume-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int Leave(void** state)
{
    (void)state;
    char line[300];
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

// One tetrahedron with every field filled.
static jnaVolume FullVolume(void)
{
    jnaVolume v = {.method = jna_volumeLattice,
        .nodeCount = 4,
        .tetrahedronCount = 1,
        .vertexCount = 2,
        .jointCount = 3,
        .materialCount = 1};
    v.nodes = calloc(12, sizeof(double));
    v.nodes[3] = v.nodes[7] = v.nodes[11] = 1;
    v.tetrahedra = calloc(4, sizeof(int32_t));
    v.rowStarts = calloc(5, sizeof(int32_t));
    v.joints = calloc(5, sizeof(uint16_t));
    v.weights = calloc(5, sizeof(float));
    v.heldBy = calloc(4, sizeof(int32_t));
    v.skinTetrahedra = calloc(2, sizeof(int32_t));
    v.skinTetrahedra[1] = -1;
    v.skinWeights = calloc(8, sizeof(double));
    v.skinOffsets = calloc(6, sizeof(double));
    v.skinOffsets[2] = 0.1;
    v.holdStrength = calloc(4, sizeof(float));
    v.skinBlend = calloc(2, sizeof(double));
    v.skinBlend[0] = 0.25;
    v.regions = calloc(1, 1);
    v.materials = calloc(1, sizeof(*v.materials));
    v.materials[0] = (jnaMaterial){.young = 30000, .poisson = 0.45, .density = 1000, .extraDamping = 1.5};
    const int32_t starts[] = {0, 1, 2, 4, 5};
    memcpy(v.rowStarts, starts, sizeof(starts));
    for (int i = 0; i < 5; ++i) {
        v.joints[i] = (uint16_t)(i % 3);
        v.weights[i] = 0.5F;
        v.tetrahedra[i % 4] = i % 4;
        v.heldBy[i % 4] = i % 4 - 1;
    }
    return v;
}

static void EveryFieldComesBack(void** state)
{
    (void)state;
    jnaVolume v = FullVolume(), back;
    jnError error = {0};
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_ok);
    assert_int_equal(back.method, jna_volumeLattice);
    assert_memory_equal(back.nodes, v.nodes, 12 * sizeof(double));
    assert_memory_equal(back.tetrahedra, v.tetrahedra, 4 * sizeof(int32_t));
    assert_memory_equal(back.skinTetrahedra, v.skinTetrahedra, 2 * sizeof(int32_t));
    assert_memory_equal(back.skinWeights, v.skinWeights, 8 * sizeof(double));
    assert_memory_equal(back.skinOffsets, v.skinOffsets, 6 * sizeof(double));
    assert_memory_equal(back.skinBlend, v.skinBlend, 2 * sizeof(double));
    assert_memory_equal(back.rowStarts, v.rowStarts, 5 * sizeof(int32_t));
    assert_memory_equal(back.joints, v.joints, 5 * sizeof(uint16_t));
    assert_memory_equal(back.weights, v.weights, 5 * sizeof(float));
    assert_memory_equal(back.heldBy, v.heldBy, 4 * sizeof(int32_t));
    assert_memory_equal(back.holdStrength, v.holdStrength, 4 * sizeof(float));
    assert_memory_equal(back.regions, v.regions, 1);
    assert_memory_equal(back.materials, v.materials, sizeof(*v.materials));
    jnaDestroyVolume(&back);
    // What is NULL is gone from the folder as well.
    free(v.heldBy);
    v.heldBy = NULL;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_ok);
    assert_null(back.heldBy);
    assert_non_null(back.rowStarts);
    jnaDestroyVolume(&back);
    jnaDestroyVolume(&v);
}

static void WhatIsSaidAboutTheMeshStays(void** state)
{
    (void)state;
    jnaVolume v = FullVolume();
    jnaVolumeReport report = {.method = jna_volumeLattice, .reason = "because"};
    char path[512], text[8192];
    assert_int_equal(jnaSaveVolume(folder, &v, &report, NULL), jn_ok);
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, NULL), jn_ok);
    snprintf(path, sizeof(path), "%s/volume/volume.json", folder);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "because"));
    jnaDestroyVolume(&v);
}

static void DamageIsRefused(void** state)
{
    (void)state;
    jnaVolume v = FullVolume(), back;
    jnError error = {0};
    v.tetrahedra[2] = 4;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_badData);
    v.tetrahedra[2] = 2;
    v.nodes[5] = (double)NAN;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_badData);
    assert_non_null(strstr(error.message, "nodes.npy"));
    v.nodes[5] = 0;
    v.rowStarts[1] = 3;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_badData);
    v.rowStarts[1] = 1;
    v.skinBlend[1] = 1.01;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_badData);
    assert_non_null(strstr(error.message, "skin_blend.npy"));
    v.skinBlend[1] = 0;
    assert_int_equal(jnaSaveVolume(folder, &v, NULL, &error), jn_ok);
    char path[512];
    snprintf(path, sizeof(path), "%s/volume/nodes.npy", folder);
    const size_t shape[2] = {3, 3};
    assert_int_equal(jnaWriteArray(path, jna_float64, 2, shape, v.nodes, NULL), jn_ok);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_badData);
    snprintf(path, sizeof(path), "%s/volume/volume.json", folder);
    unlink(path);
    assert_int_equal(jnaLoadVolume(folder, &back, &error), jn_ioFailed);
    assert_non_null(strstr(error.message, "tetrahedralize"));
    jnaDestroyVolume(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(EveryFieldComesBack, Enter, Leave),
        cmocka_unit_test_setup_teardown(WhatIsSaidAboutTheMeshStays, Enter, Leave),
        cmocka_unit_test_setup_teardown(DamageIsRefused, Enter, Leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
