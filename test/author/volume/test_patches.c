// Patches of tetrahedra: each tetrahedron once, face to face, of one material where that is possible, nearly all full.
#include "helpers/volumes.h"

#include "volume/patches.h"

static const double SIZE[3] = {1, 0.7, 0.5};

static jnaPatchesDef DefOf(const jnaVolume* v, const uint8_t* kinds)
{
    return (jnaPatchesDef){v->nodeCount, v->tetrahedronCount, v->tetrahedra, kinds};
}

static bool ShareAFace(const int32_t* a, const int32_t* b)
{
    int shared = 0;
    for (int i = 0; i < 16; ++i) {
        shared += a[i / 4] == b[i % 4];
    }
    return shared == 3;
}

// Checks one patch by what patches.h says and marks its tetrahedra.
static void CheckPatch(const jnaVolume* v, const jnaPatch* patch, int* seen)
{
    assert_in_range(patch->count, 1, JNA_PATCH_SIZE);
    assert_in_range(patch->nodeCount, 4, JNA_PATCH_NODES);
    for (int e = 0; e < JNA_PATCH_SIZE; ++e) {
        int t = patch->tetrahedra[e];
        if (e >= patch->count) {
            assert_int_equal(t, -1);
            continue;
        }
        bool touches = e == 0;
        for (int before = 0; before < e; ++before) {
            touches = touches || ShareAFace(v->tetrahedra + 4 * t, v->tetrahedra + 4 * patch->tetrahedra[before]);
        }
        assert_true(touches);
        seen[t]++;
        for (int c = 0; c < 4; ++c) {
            assert_true(patch->corners[e][c] < patch->nodeCount);
            assert_int_equal(patch->nodes[patch->corners[e][c]], v->tetrahedra[4 * t + c]);
        }
    }
    for (int i = patch->nodeCount; i < JNA_PATCH_NODES; ++i) {
        assert_int_equal(patch->nodes[i], patch->nodes[0]);
    }
}

static void EveryTetrahedronIsInOnePatchThatHangsTogether(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(9, 7, 6, SIZE, 0.1, 2);
    const jnaVolume* v = &test.volume;
    jnaPatchesDef def = DefOf(v, NULL);
    jnaPatch *patches, *again;
    int count, countAgain, full = 0, *seen = calloc((size_t)v->tetrahedronCount, sizeof(int));
    assert_true(jnaFindPatches(&def, &count, &patches));
    for (int p = 0; p < count; ++p) {
        CheckPatch(v, &patches[p], seen);
        full += patches[p].count == JNA_PATCH_SIZE;
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        assert_int_equal(seen[t], 1);
    }
    print_message(
        "%d tetrahedra in %d patches, %.1f %% of them full\n", v->tetrahedronCount, count, 100.0 * full / count);
    assert_true(full > 0.9 * count);
    assert_true(jnaFindPatches(&def, &countAgain, &again));
    assert_int_equal(countAgain, count);
    for (int p = 0; p < count; ++p) {
        assert_memory_equal(patches[p].tetrahedra, again[p].tetrahedra, sizeof(again[p].tetrahedra));
    }
    free(seen);
    free(patches);
    free(again);
    DestroyTestVolume(&test);
}

static void PatchesAreOfOneMaterialButForAFew(void** state)
{
    (void)state;
    TestVolume test = MakeBlock(8, 6, 6, SIZE, 0, 2);
    const jnaVolume* v = &test.volume;
    uint8_t* kinds = calloc((size_t)v->tetrahedronCount, 1);
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        kinds[t] = t >= v->tetrahedronCount / 2;
    }
    jnaPatchesDef def = DefOf(v, kinds);
    jnaPatch* patches;
    int count, mixed = 0;
    assert_true(jnaFindPatches(&def, &count, &patches));
    for (int p = 0; p < count; ++p) {
        bool same = true;
        for (int e = 1; e < patches[p].count; ++e) {
            same = same && kinds[patches[p].tetrahedra[e]] == kinds[patches[p].tetrahedra[0]];
        }
        mixed += !same;
    }
    print_message("%d of %d patches are of two materials\n", mixed, count);
    assert_true(mixed < 0.02 * count);
    free(kinds);
    free(patches);
    DestroyTestVolume(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(EveryTetrahedronIsInOnePatchThatHangsTogether),
        cmocka_unit_test(PatchesAreOfOneMaterialButForAFew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
