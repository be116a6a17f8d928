// Whole volumes of whole characters, by both methods: tetrahedra, weights, bones and materials together; and surfaces
// that are not what one would wish for: a volume or a clear line.
#include "helpers/small_surface.h"
#include "helpers/volumes.h"
#include "volume/bones.h"

static const char* const methodNames[] = {"auto", "tetgen", "lattice"};

// Fewer than by default, to be quick; the share of volume that a lattice may miss grows with its spacing. Under the
// sanitizer, which is ten times slower, the smallest character stands for all.
#ifdef JN_SANITIZED
enum { LATTICE_NODES = 1200, SMALL_ONLY = true };
static const double LATTICE_VOLUME = 0.1;
#else
enum { LATTICE_NODES = 4000, SMALL_ONLY = false };
static const double LATTICE_VOLUME = 0.04;
#endif

static void CheckWeights(const jnaVolume* v, const char* name)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        double sum = 0;
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            if (!(v->weights[i] >= 0) || v->joints[i] >= v->jointCount) {
                fail_msg("%s: node %d has a weight of %g", name, n, (double)v->weights[i]);
            }
            sum += (double)v->weights[i];
        }
        ASSERT_NEAR(sum, 1, 1e-6);
    }
}

// Joints with flesh worth the name hold at least a tetrahedron's worth of nodes.
static void CheckHeld(const jnaVolume* v, const jnaCharacter* c, const char* name)
{
    int* held = calloc((size_t)c->jointCount, sizeof(int));
    int* owned = calloc((size_t)c->jointCount, sizeof(int));
    for (int n = 0; n < v->nodeCount; ++n) {
        int most = v->rowStarts[n];
        for (int i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            most = v->weights[i] > v->weights[most] ? i : most;
        }
        owned[v->joints[most]]++;
        held[v->joints[most]] += v->heldBy[n] >= 0;
    }
    for (int j = 0; j < c->jointCount; ++j) {
        if (owned[j] > 0.02 * v->nodeCount && held[j] < 4) {
            fail_msg("%s: '%s' moves %d nodes and holds %d", name, c->joints[j].name, owned[j], held[j]);
        }
    }
    free(held);
    free(owned);
}

// Weights, bones and materials of a mesh.
static void FillInside(TestVolume* test, const char* name)
{
    jnaVolume* v = &test->volume;
    jnError error = {0};
    CarryTestWeights(test);
    assert_int_equal(jnaVolume_PlaceBones(v, &test->character, NULL, NULL, NULL, &error), jn_ok);
    assert_int_equal(jnaVolume_FillMaterials(v, &test->character, NULL, &error), jn_ok);
    CheckWeights(v, name);
    CheckHeld(v, &test->character, name);
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        assert_true(v->regions[t] < v->materialCount);
    }
}

// All of it; the volume is checked against the surface's.
static void Fill(const jnaCharacter* c, jnaVolumeMethod method, int nodes, const char* name)
{
    jnError error = {0};
    jnaVolumeReport report;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    TestVolume test = {.character = *c};
    jnaVolume* v = &test.volume;
    def.method = method;
    def.nodes = nodes;
    if (jnaCreateVolume(c, &def, v, &report, NULL, &error) != jn_ok) {
        fail_msg("%s by %s: %s", name, methodNames[method], error.message);
    }
    double off = fabs(report.after.volume - report.surface.volume) / report.surface.volume;
    print_message("%-14s %-8s %6d nodes %7d tetrahedra, smallest angle %5.2f (%d below 5), volume off by %.1e\n", name,
        methodNames[method], v->nodeCount, v->tetrahedronCount, report.after.smallestAngle, report.after.belowFive,
        off);
    ASSERT_AT_MOST(off, method == jna_volumeLattice ? LATTICE_VOLUME : 1e-9);
    assert_int_equal(report.after.belowFive, 0);
    FillInside(&test, name);
    jnaDestroyVolume(v);
}

// nodes: of the conforming mesh; 0 as by default.
static void FillByBoth(const jnaCharacter* c, int nodes, const char* name)
{
    Fill(c, jna_volumeTetgen, nodes, name);
    Fill(c, jna_volumeLattice, LATTICE_NODES, name);
}

static void TheFigureByBothMethods(void** state)
{
    (void)state;
    NeedTetgen(NULL);
    if (SMALL_ONLY) {
        skip();
    }
    // Its conforming mesh is made and measured in test_meshes.c.
    TestVolume test = MakeFigureVolume();
    FillInside(&test, "figure");
    Fill(&test.character, jna_volumeLattice, LATTICE_NODES, "figure");
    DestroyTestVolume(&test);
}

static void CharactersByBothMethods(void** state)
{
    (void)state;
    NeedTetgen(BODY_DATA "gltf/CesiumMan.glb");
    static const char* const files[] = {"gltf/RiggedFigure.glb", "gltf/RiggedSimple.glb", "gltf/CesiumMan.glb"};
    for (size_t i = 0; i < (SMALL_ONLY ? 1 : sizeof(files) / sizeof(files[0])); ++i) {
        char path[512];
        jnaCharacter c;
        jnaClipList clips;
        jnaImportDef def = jnaDefaultImportDef();
        snprintf(path, sizeof(path), "%s%s", BODY_DATA, files[i]);
        assert_int_equal(jnaImportCharacter(path, &def, &c, &clips, NULL, NULL, NULL), jn_ok);
        FillByBoth(&c, 0, files[i] + 5);
        jnaDestroyClipList(&clips);
        jnaDestroyCharacter(&c);
    }
}

static void OddSurfacesByBothMethods(void** state)
{
    (void)state;
    NeedTetgen(NULL);
    enum { HOLE, NESTED, HOLLOW, INSIDE_OUT, ODD };
    static const char* const names[ODD] = {"hole", "nested shells", "hollow", "inside out"};
    for (int odd = 0; odd < ODD; ++odd) {
        jnaCharacter c = {0};
        AddSphere(&c, 0, 0, 0, odd == INSIDE_OUT ? -1 : 1);
        if (odd == HOLE) {
            c.triangleCount -= 5;
        } else if (odd == NESTED || odd == HOLLOW) {
            AddSphere(&c, 0, 0, 0, odd == NESTED ? 0.3 : -0.7);
        }
        AddJoint(&c);
        FillByBoth(&c, 2000, names[odd]);
        jnaDestroyCharacter(&c);
    }
}

static void WhatHasNoInsideIsALine(void** state)
{
    (void)state;
    for (int flat = 0; flat < 2; ++flat) {
        for (jnaVolumeMethod method = jna_volumeAuto; method <= jna_volumeLattice; ++method) {
            jnaCharacter c = {0};
            strcpy(c.name, "odd");
            for (int i = 0; i < 4; ++i) {
                AddVertex(&c, i % 2, i / 2, 0);
            }
            AddTriangle(&c, 0, 1, 2);
            if (flat) {
                AddTriangle(&c, 1, 3, 2);
            }
            AddJoint(&c);
            jnaVolume v;
            jnError error = {0};
            jnaVolumeDef def = jnaDefaultVolumeDef();
            def.method = method;
            assert_int_equal(jnaCreateVolume(&c, &def, &v, NULL, NULL, &error), jn_badData);
            assert_true(strlen(error.message) > 20 && strchr(error.message, '\n') == NULL);
            assert_null(v.nodes);
            jnaDestroyCharacter(&c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(TheFigureByBothMethods),
        cmocka_unit_test(CharactersByBothMethods),
        cmocka_unit_test(OddSurfacesByBothMethods),
        cmocka_unit_test(WhatHasNoInsideIsALine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
