// A field of the nodes at the skin: what is linear exactly, what is curved more closely than by linear tetrahedra.
#include "helpers/small_surface.h"
#include "volume/skin_field.h"

static jnError error;

// x^2, xy and 2 - z at a place; the last is linear.
static void Field(const double* p, double value[3])
{
    value[0] = p[0] * p[0];
    value[1] = p[0] * p[1];
    value[2] = 2 - p[2];
}

static void ACurvedFieldIsFollowed(void** state)
{
    (void)state;
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeReport report;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.nodes = 3000;
    AddSphere(&character, 0, 0, 0, 1);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, &report, NULL, &error), jn_ok);
    double* values = calloc((size_t)v.nodeCount, 3 * sizeof(double));
    double* gradients = calloc((size_t)v.nodeCount, JNA_GRADIENT * sizeof(double));
    for (int n = 0; n < v.nodeCount; ++n) {
        Field(v.nodes + 3 * n, values + 3 * n);
    }
    jnaVolume_Gradients(&v, values, gradients);
    double squares[2] = {0};
    for (int i = 0; i < v.vertexCount; ++i) {
        double place[3], expected[3], value[3];
        jnaVolume_AtSkin(&v, v.nodes, NULL, i, place);
        Field(place, expected);
        for (int curved = 0; curved < 2; ++curved) {
            jnaVolume_AtSkin(&v, values, curved ? gradients : NULL, i, value);
            squares[curved] += pow(value[0] - expected[0], 2) + pow(value[1] - expected[1], 2);
            ASSERT_NEAR(value[2], expected[2], 1e-12);
        }
    }
    double linear = sqrt(squares[0] / v.vertexCount), better = sqrt(squares[1] / v.vertexCount);
    print_message("off by %.2e linear, %.2e with gradients\n", linear, better);
    assert_true(better < 0.5 * linear);
    free(values);
    free(gradients);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ACurvedFieldIsFollowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
