// Every allocation of ours in the making of a volume fails once: a result that says so, no crash, nothing half done.
#include "helpers/failing_memory.h"
#include "helpers/small_surface.h"
#include "helpers/volumes.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "workspace/volume_store.h"

#include <omp.h>

static jnaCharacter sphere;
static TestVolume block;
static jnaClip clip;
static char folder[256];
static jnaVolumeMethod method;

static jnResult MakeMesh(jnError* error)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaVolume volume;
    def.method = method;
    def.nodes = 300;
    jnResult result = jnaCreateVolume(&sphere, &def, &volume, NULL, NULL, error);
    if (result == jn_ok) {
        assert_true(volume.tetrahedronCount > 100);
        jnaDestroyVolume(&volume);
    } else {
        assert_null(volume.nodes);
        assert_int_equal(result, jn_outOfMemory);
    }
    return result;
}

static void ALatticeSurvivesEveryFailure(void** state)
{
    (void)state;
    method = jna_volumeLattice;
    FailEach(MakeMesh, 20);
}

static void AConformingMeshSurvivesEveryFailure(void** state)
{
    (void)state;
    NeedTetgen(NULL);
    method = jna_volumeTetgen;
    FailEach(MakeMesh, 30);
}

static jnResult FillInside(jnError* error)
{
    jnaWeightsDef def = jnaDefaultWeightsDef();
    jnaBoneList bones = {0};
    int counts[2];
    jnaVolume* v = &block.volume;
    jnResult result = jnaVolume_CarryWeights(v, &block.character, &def, error);
    result = result == jn_ok ? jnaVolume_PlaceBones(v, &block.character, NULL, &bones, NULL, error) : result;
    result = result == jn_ok ? jnaVolume_FillMaterials(v, &block.character, NULL, error) : result;
    result = result == jn_ok ? jnaVolume_CountInversions(v, &block.character, &clip, 1, counts, error) : result;
    assert_true(result == jn_ok || result == jn_outOfMemory);
    jnaDestroyBoneList(&bones);
    return result;
}

static void WhatIsInsideSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(FillInside, 30);
}

static jnResult SaveAndLoad(jnError* error)
{
    jnaVolume back = {0};
    jnResult result = jnaSaveVolume(folder, &block.volume, NULL, error);
    result = result == jn_ok ? jnaLoadVolume(folder, &back, error) : result;
    assert_true(result == jn_ok || back.nodes == NULL);
    jnaDestroyVolume(&back);
    return result;
}

static void StoringSurvivesEveryFailure(void** state)
{
    (void)state;
    FailEach(SaveAndLoad, 10);
}

static int SetUp(void** state)
{
    (void)state;
    static const double size[3] = {1.6, 0.4, 0.4};
    onlyOurs = true;
    // The threads of OpenMP allocate when they like.
    omp_set_num_threads(1);
    AddSphere(&sphere, 0, 0, 0, 1);
    AddJoint(&sphere);
    block = MakeBlock(12, 4, 4, size, 0.1, 3);
    clip = (jnaClip){.rate = 30, .frameCount = 2, .jointCount = 3};
    if (jnaClip_Allocate(&clip, false, NULL) != jn_ok) {
        return -1;
    }
    for (int i = 0; i < 6; ++i) {
        clip.rotations[4 * i + 3] = 1;
    }
    snprintf(folder, sizeof(folder), "%s/memory-XXXXXX", JN_BINARY_DIR);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int TearDown(void** state)
{
    (void)state;
    char line[300];
    jnaDestroyCharacter(&sphere);
    jnaDestroyClip(&clip);
    DestroyTestVolume(&block);
    snprintf(line, sizeof(line), "rm -rf '%s'", folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ALatticeSurvivesEveryFailure),
        cmocka_unit_test(AConformingMeshSurvivesEveryFailure),
        cmocka_unit_test(WhatIsInsideSurvivesEveryFailure),
        cmocka_unit_test(StoringSurvivesEveryFailure),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
