// Rigid skin holds the nodes under it, and an outfit is stiffer than flesh.
#include "helpers/support.h"
#include "volume/outfit_hold.h"

// Two tetrahedra with a common face, three vertices.
static int32_t tetrahedra[8] = {0, 1, 2, 3, 1, 2, 3, 4};
static int32_t skin[4];
static uint8_t kinds[4];
static int32_t heldBy[5];
static float strength[5];
static jnaMaterial material;

static jnaVolume Make(void)
{
    memcpy(skin, (int32_t[4]){0, 1, -1, 1}, sizeof(skin));
    memset(kinds, jna_skinFlesh, sizeof(kinds));
    memset(heldBy, 0xff, sizeof(heldBy));
    memset(strength, 0, sizeof(strength));
    material = (jnaMaterial){.young = 1000, .poisson = 0.4, .density = 1000};
    return (jnaVolume){.nodeCount = 5,
        .tetrahedronCount = 2,
        .tetrahedra = tetrahedra,
        .vertexCount = 4,
        .skinTetrahedra = skin,
        .skinKinds = kinds,
        .heldBy = heldBy,
        .holdStrength = strength,
        .jointCount = 3,
        .materialCount = 1,
        .materials = &material};
}

static void NodesUnderRigidSkinFollowSkinning(void** state)
{
    (void)state;
    jnaVolume v = Make();
    kinds[0] = kinds[2] = jna_skinRigid; // the second has no tetrahedron
    heldBy[1] = 2;                       // a bone's
    assert_int_equal(jnaVolume_HoldRigidSkin(&v, 100), 3);
    assert_int_equal(heldBy[0], 6);
    assert_int_equal(heldBy[1], 2);
    assert_int_equal(heldBy[4], -1);
    ASSERT_NEAR(strength[0], 100, 0);
    v.skinKinds = NULL;
    assert_int_equal(jnaVolume_HoldRigidSkin(&v, 100), 0);
}

static void AnOutfitIsStiffer(void** state)
{
    (void)state;
    jnaVolume v = Make();
    assert_false(jnaVolume_IsOutfit(&v));
    jnaVolume_StiffenOutfit(&v);
    ASSERT_NEAR(material.young, 1000, 0);
    kinds[1] = kinds[3] = jna_skinClothed;
    assert_true(jnaVolume_IsOutfit(&v));
    jnaVolume_StiffenOutfit(&v);
    assert_true(material.young > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(NodesUnderRigidSkinFollowSkinning),
        cmocka_unit_test(AnOutfitIsStiffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
