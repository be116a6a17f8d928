// Stiffness of layers and the sag that follows: bounds of the tissues, and how they go with fat, thickness and size.
#include "helpers/core.h"
#include "volume/physique.h"

#include <math.h>

static jnaPhysique Body(double fat, double thickness)
{
    jnaPhysique p = {.human = true, .height = 1.75, .fat = fat};
    for (int r = 0; r < JNA_REGIONS; ++r) {
        p.freePart[r] = 1;
        p.thickness[r] = thickness;
        p.softness[r] = p.damping[r] = 1;
        p.tone[r] = jnaUsualTone((jnaRegion)r);
    }
    return p;
}

static const jnaRegion soft[] = {jna_regionBreast, jna_regionBelly, jna_regionBack, jna_regionButtock, jna_regionHip,
    jna_regionUpperArm, jna_regionForeArm, jna_regionThigh, jna_regionCalf};
enum { SOFT = sizeof(soft) / sizeof(soft[0]) };

static void FatMakesEveryRegionSofter(void** state)
{
    (void)state;
    jnaPhysique lean = Body(0.16, 0.04), heavy = Body(0.33, 0.04);
    for (int i = 0; i < SOFT; ++i) {
        double stiff = jnaPhysique_Shear(&lean, soft[i]), weak = jnaPhysique_Shear(&heavy, soft[i]);
        assert_true(weak < stiff);
        assert_true(weak > 300 && stiff < 100000); // what is known of living tissue
        assert_true(jnaPhysique_Sag(&heavy, soft[i]).aim > jnaPhysique_Sag(&lean, soft[i]).aim);
    }
}

static void LimbsAreMuscleAndBelliesAreNot(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.2, 0.045);
    assert_true(jnaPhysique_Shear(&p, jna_regionThigh) > 3 * jnaPhysique_Shear(&p, jna_regionBelly));
    assert_true(jnaPhysique_Shear(&p, jna_regionThigh) > 15000);
}

static void SagIsThatOfAHangingLayer(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.25, 0.05);
    for (int i = 0; i < SOFT; ++i) {
        jnaSagBounds bounds = jnaPhysique_Sag(&p, soft[i]);
        double layer = 1000 * 9.81 * 0.05 * 0.05 / (2 * jnaPhysique_Shear(&p, soft[i]));
        assert_true(bounds.aim > 0.5 * layer && bounds.aim < 3 * layer); // bones are not flat
        assert_true(bounds.least < bounds.aim && bounds.aim < bounds.most);
    }
}

// The chest of a strong man bulges, and is no breast.
static void ABreastIsThickOrItsBodyHeavy(void** state)
{
    (void)state;
    jnaPhysique strong = Body(0.19, 0.024 * 1.75), woman = Body(0.19, 0.036 * 1.75), heavy = Body(0.33, 0.024 * 1.75);
    assert_true(jnaPhysique_Shear(&strong, jna_regionBreast) > 20000);
    assert_true(jnaPhysique_Shear(&woman, jna_regionBreast) < 1000);
    assert_true(jnaPhysique_Shear(&heavy, jna_regionBreast) < 1500);
    // Twice as thick does not sag four times as far.
    jnaPhysique large = Body(0.25, 0.06 * 1.75), small = Body(0.25, 0.034 * 1.75);
    assert_true(jnaPhysique_Sag(&large, jna_regionBreast).aim < 1.05 * jnaPhysique_Sag(&small, jna_regionBreast).aim);
}

static void HardAndHeldRegionsHaveNoLayers(void** state)
{
    (void)state;
    jnaPhysique p = Body(0.25, 0.05);
    ASSERT_NEAR(jnaPhysique_Shear(&p, jna_regionKnee), 0, 0);
    ASSERT_NEAR(jnaPhysique_YoungFactor(&p, jna_regionKnee), jnaRegionYoung(jna_regionKnee), 1e-12);
    assert_true(jnaPhysique_Sag(&p, jna_regionKnee).most > 0);
    ASSERT_NEAR(jnaPhysique_Sag(&p, jna_regionKnee).aim, 0, 0);
    p.thickness[jna_regionThigh] = 0; // all of it held
    ASSERT_NEAR(jnaPhysique_Shear(&p, jna_regionThigh), 0, 0);
    ASSERT_NEAR(jnaPhysique_Sag(&p, jna_regionThigh).aim, 0, 0);
}

static void ClothesAreStiff(void** state)
{
    (void)state;
    jnaPhysique bare = Body(0.17, 0.05), dressed = bare;
    dressed.dressed = true;
    for (int i = 0; i < SOFT; ++i) {
        ASSERT_NEAR(jnaPhysique_Shear(&dressed, soft[i]), fmin(1.5 * jnaPhysique_Shear(&bare, soft[i]), 65000), 1e-6);
    }
}

// A giant of twice a person's height sags by twice as much, not by four times.
static void GiantsSagInProportion(void** state)
{
    (void)state;
    jnaPhysique tall = Body(0.25, 0.06), giant = Body(0.25, 0.12);
    tall.height = 2.4;
    giant.height = 4.8;
    for (int i = 0; i < SOFT; ++i) {
        double ratio = jnaPhysique_Sag(&giant, soft[i]).aim / jnaPhysique_Sag(&tall, soft[i]).aim;
        ASSERT_NEAR(ratio, 2, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(FatMakesEveryRegionSofter),
        cmocka_unit_test(LimbsAreMuscleAndBelliesAreNot),
        cmocka_unit_test(SagIsThatOfAHangingLayer),
        cmocka_unit_test(ABreastIsThickOrItsBodyHeavy),
        cmocka_unit_test(HardAndHeldRegionsHaveNoLayers),
        cmocka_unit_test(ClothesAreStiff),
        cmocka_unit_test(GiantsSagInProportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
