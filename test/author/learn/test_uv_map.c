// The map over the UV charts: what it shows, and which UVs it refuses.
#include "helpers/support.h"

#include "helpers/network_scene.h"
#include "learn/uv_map.h"

enum { SIZE = 64 };

static void LookedUpVerticesFindWhatTheTexelsShow(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaUvMap map;
    assert_int_equal(jnbCreateUvTube(20, 16, 4, &c, NULL), jn_ok);
    assert_int_equal(jnaCreateUvMap(&c, SIZE, &map, NULL), jn_ok);
    ASSERT_AT_MOST(map.overlap, 0.0);
    assert_int_equal(map.lookupCount, c.fileVertexCount); // seam vertices twice, all others once
    // A field that is smooth on the surface: its height. Dilation is off by a texel at the borders.
    double worst = 0.0;
    for (int v = 0; v < c.vertexCount; ++v) {
        double found = 0.0;
        int count = map.lookupStarts[v + 1] - map.lookupStarts[v];
        for (int l = map.lookupStarts[v]; l < map.lookupStarts[v + 1]; ++l) {
            double x = (double)map.lookups[2 * l], y = (double)map.lookups[2 * l + 1];
            for (int corner = 0; corner < 4; ++corner) {
                int column = (int)x + corner % 2, row = (int)y + corner / 2;
                double share = fabs(1 - corner % 2 - (x - (int)x)) * fabs(1 - corner / 2 - (y - (int)y));
                const int32_t* at = map.vertices + 3 * (row * SIZE + column);
                assert_true(at[0] >= 0); // all that a vertex looks at is covered or dilated
                for (int i = 0; i < 3; ++i) {
                    found += share / count * (double)map.shares[3 * (row * SIZE + column) + i] *
                             (double)c.positions[3 * at[i] + 1];
                }
            }
        }
        worst = fmax(worst, fabs(found - (double)c.positions[3 * v + 1]));
    }
    ASSERT_AT_MOST(worst, 0.8 / (0.9 * SIZE)); // the tube is 0.8 m long: a texel
    jnaDestroyUvMap(&map);
    jnaDestroyCharacter(&c);
}

static void MissingUvsAreToldWithTheWayOut(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaUvMap map;
    jnError error = {0};
    assert_int_equal(jnbCreateUvTube(20, 16, 4, &c, NULL), jn_ok);
    float* uvs = c.fileUvs;
    c.fileUvs = NULL;
    assert_int_equal(jnaCreateUvMap(&c, SIZE, &map, &error), jn_badData);
    assert_non_null(strstr(error.message, "no UVs"));
    assert_non_null(strstr(error.message, "pca"));
    c.fileUvs = uvs;
    memset(uvs, 0, sizeof(float) * 2 * (size_t)c.fileVertexCount);
    assert_int_equal(jnaCreateUvMap(&c, SIZE, &map, &error), jn_badData);
    assert_non_null(strstr(error.message, "no area"));
    jnaDestroyCharacter(&c);
}

static void ChartsThatLieOnEachOtherAreTold(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaUvMap map;
    jnError error = {0};
    assert_int_equal(jnbCreateUvTube(20, 16, 4, &c, NULL), jn_ok);
    for (int i = 0; i < c.fileVertexCount; ++i) {
        c.fileUvs[2 * i] = fabsf(c.fileUvs[2 * i] - 0.5f); // mirrored about the middle
    }
    assert_int_equal(jnaCreateUvMap(&c, SIZE, &map, &error), jn_badData);
    assert_non_null(strstr(error.message, "lie on each other"));
    assert_non_null(strstr(error.message, "pca"));
    jnaDestroyCharacter(&c);
}

static void UvsOutsideTheUnitSquareAreScaledIntoIt(void** state)
{
    (void)state;
    jnaCharacter c;
    jnaUvMap map;
    assert_int_equal(jnbCreateUvTube(20, 16, 4, &c, NULL), jn_ok);
    for (int i = 0; i < 2 * c.fileVertexCount; ++i) {
        c.fileUvs[i] = 3.0f * c.fileUvs[i] - 1.0f;
    }
    assert_int_equal(jnaCreateUvMap(&c, SIZE, &map, NULL), jn_ok);
    for (int i = 0; i < 2 * map.lookupCount; ++i) {
        assert_true(map.lookups[i] >= 0.0f && map.lookups[i] < SIZE - 1);
    }
    jnaDestroyUvMap(&map);
    jnaDestroyCharacter(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(LookedUpVerticesFindWhatTheTexelsShow),
        cmocka_unit_test(MissingUvsAreToldWithTheWayOut),
        cmocka_unit_test(ChartsThatLieOnEachOtherAreTold),
        cmocka_unit_test(UvsOutsideTheUnitSquareAreScaledIntoIt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
