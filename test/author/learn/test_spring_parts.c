// Springs part by part on the built-in figure: what is counted, named, found at a bound and compared left with right.
#include "helpers/the_figure.h"

#include "helpers/failing_memory.h"

#include "learn/spring_fit.h"
#include "learn/spring_parts.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

static jnError error;
static float *stiffness, *damping;

// Stiff and overdamped on the hands, soft and underdamped elsewhere.
static bool IsHand(int v)
{
    const char* joint = figure.joints[figure.influences[v].joints[0]].name;
    return strstr(joint, "Hand") != NULL;
}

static void FillSprings(void)
{
    for (int v = 0; v < figure.vertexCount; ++v) {
        stiffness[v] = IsHand(v) ? 1e5f : 400.0f;
        damping[v] = IsHand(v) ? 1e3f : 5.0f;
    }
}

static int MakeSprings(void** state)
{
    int code = CreateFigure(state);
    stiffness = calloc((size_t)figure.vertexCount, sizeof(float));
    damping = calloc((size_t)figure.vertexCount, sizeof(float));
    return code == 0 && stiffness != NULL && damping != NULL ? 0 : -1;
}

static int FreeSprings(void** state)
{
    free(stiffness);
    free(damping);
    return DestroyFigure(state);
}

static const jnaSpringPart* Find(const jnaSpringParts* parts, const char* name)
{
    for (int i = 0; i < parts->count; ++i) {
        if (strcmp(parts->parts[i].name, name) == 0) {
            return &parts->parts[i];
        }
    }
    fail_msg("no part %s", name);
    return NULL;
}

static void LeftAndRightAreOnePartAndCounted(void** state)
{
    (void)state;
    jnaSpringParts parts;
    FillSprings();
    assert_int_equal(jnaSortSprings(&figure, NULL, stiffness, damping, &parts, &error), jn_ok);
    int hands = 0, sum = 0;
    for (int v = 0; v < figure.vertexCount; ++v) {
        hands += IsHand(v);
    }
    for (int i = 0; i < parts.count; ++i) {
        sum += parts.parts[i].count;
        assert_null(strstr(parts.parts[i].name, "Left"));
        assert_null(strstr(parts.parts[i].name, "Right"));
        assert_true(i == 0 || parts.parts[i].count <= parts.parts[i - 1].count);
    }
    assert_int_equal(sum, figure.vertexCount);
    assert_int_equal(parts.all.count, figure.vertexCount);
    const jnaSpringPart *hand = Find(&parts, "Hand"), *spine = Find(&parts, "Spine");
    assert_int_equal(hand->count, hands);
    assert_int_equal(hand->stiffOverdamped, hands);
    assert_int_equal(hand->softUnderdamped, 0);
    assert_true(hand->stiffness == 1e5 && hand->damping == 1e3);
    assert_int_equal(spine->softUnderdamped, spine->count);
    assert_int_equal(parts.all.softUnderdamped, figure.vertexCount - hands);
    assert_int_equal(parts.all.atBound, 0);
    assert_true(parts.leftRight[0] > 0.9999 && parts.leftRight[1] > 0.9999);
    jnaDestroySpringParts(&parts);
}

static void BoundsAreSeenAndOnlyThose(void** state)
{
    (void)state;
    const jnaFitDef def = jnaDefaultFitDef();
    jnaSpringParts parts;
    FillSprings();
    // As the fit writes them: exponentials of logarithms, as floats.
    stiffness[10] = (float)exp(log(def.stiffnessRange[1]));
    damping[10] = (float)exp(log(def.dampingRange[1]));
    damping[20] = (float)exp(log(def.dampingRange[0]));
    stiffness[30] = (float)(def.stiffnessRange[0] * 1.001);
    assert_int_equal(jnaSortSprings(&figure, NULL, stiffness, damping, &parts, &error), jn_ok);
    assert_int_equal(parts.all.atBound, 2);
    static const int counts[jna_boundCount] = {0, 1, 1, 1};
    for (int k = 0; k < jna_boundCount; ++k) {
        assert_int_equal(parts.bounds[k], counts[k]);
    }
    jnaDestroySpringParts(&parts);
}

static void SidesThatDifferCorrelateLess(void** state)
{
    (void)state;
    jnaSpringParts parts;
    FillSprings();
    for (int v = 0; v < figure.vertexCount; ++v) {
        stiffness[v] *= figure.positions[3 * v] > 0.0f ? (float)(1 + v % 7) : 1.0f;
    }
    assert_int_equal(jnaSortSprings(&figure, NULL, stiffness, damping, &parts, &error), jn_ok);
    assert_true(parts.leftRight[0] < 0.95 && parts.leftRight[0] > 0.3);
    assert_true(parts.leftRight[1] > 0.9999);
    jnaDestroySpringParts(&parts);
    // One vertex out of place: nothing to compare, and joints stand for themselves.
    float keep = figure.positions[0];
    figure.positions[0] += 0.3f;
    assert_int_equal(jnaSortSprings(&figure, NULL, stiffness, damping, &parts, &error), jn_ok);
    assert_true(isnan(parts.leftRight[0]) && isnan(parts.leftRight[1]));
    assert_true(Find(&parts, "LeftHand")->count > 0);
    figure.positions[0] = keep;
    jnaDestroySpringParts(&parts);
}

// Parts that somebody else named.
static void OtherPartsMayBeGiven(void** state)
{
    (void)state;
    char names[2][JNA_NAME_LENGTH] = {"upper", "lower"};
    int32_t* of = calloc((size_t)figure.vertexCount, sizeof(*of));
    assert_non_null(of);
    for (int v = 0; v < figure.vertexCount; ++v) {
        of[v] = figure.positions[3 * v + 1] < 1.0f;
    }
    const jnaParts given = {.count = 2, .names = names, .of = of};
    jnaSpringParts parts;
    FillSprings();
    assert_int_equal(jnaSortSprings(&figure, &given, stiffness, damping, &parts, &error), jn_ok);
    assert_int_equal(parts.count, 2);
    assert_int_equal(Find(&parts, "upper")->count + Find(&parts, "lower")->count, figure.vertexCount);
    jnaDestroySpringParts(&parts);
    free(of);
}

static jnResult SortOnce(jnError* failure)
{
    jnaSpringParts parts;
    jnResult result = jnaSortSprings(&figure, NULL, stiffness, damping, &parts, failure);
    if (result == jn_ok) {
        jnaDestroySpringParts(&parts);
    }
    return result;
}

static void EveryAllocationMayFail(void** state)
{
    (void)state;
    onlyOurs = true;
    FailEach(SortOnce, 8);
}

// The regions of the figure: what is in the hands is stiff.
static void RegionsAreParts(void** state)
{
    (void)state;
    jnaVolume volume = {0};
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.nodes = 3000;
    assert_int_equal(jnaCreateVolume(&figure, &def, &volume, NULL, NULL, &error), jn_ok);
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    assert_int_equal(jnaVolume_CarryWeights(&volume, &figure, &weights, &error), jn_ok);
    jnaParts regions;
    jnaSpringParts parts;
    FillSprings();
    assert_int_equal(jnaPartsByRegion(&figure, &volume, &regions, &error), jn_ok);
    assert_int_equal(jnaSortSprings(&figure, &regions, stiffness, damping, &parts, &error), jn_ok);
    const jnaSpringPart *hand = Find(&parts, "hand"), *belly = Find(&parts, "belly");
    assert_true(hand->stiffOverdamped > 0.9 * hand->count && belly->softUnderdamped == belly->count);
    jnaDestroySpringParts(&parts);
    jnaDestroyParts(&regions);
    jnaDestroyVolume(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LeftAndRightAreOnePartAndCounted),
        cmocka_unit_test(BoundsAreSeenAndOnlyThose),
        cmocka_unit_test(SidesThatDifferCorrelateLess),
        cmocka_unit_test(OtherPartsMayBeGiven),
        cmocka_unit_test(RegionsAreParts),
        cmocka_unit_test(EveryAllocationMayFail),
    };
    return cmocka_run_group_tests(tests, MakeSprings, FreeSprings);
}
