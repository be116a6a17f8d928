// Soundness of surfaces: what they lose of the volume, and a surface that goes through itself.
#include "asset/character_pairs.h"
#include "helpers/volumes.h"
#include "learn/network.h"

enum { POSES = 12 };

static TestVolume block;
static jnaPairs pairs;
static jnaNetwork network;

// The block bent at its middle joint, its surface scaled across by `across`.
static void AddPoses(double across, double most)
{
    size_t floats = 3 * (size_t)block.character.vertexCount;
    float rotations[POSES][3][4];
    float* surfaces = malloc(POSES * floats * sizeof(float));
    float matrices[3 * 12];
    jnaPair list[POSES];
    for (int i = 0; i < POSES; ++i) {
        float half = (float)(0.5 * most * i / (POSES - 1));
        for (int j = 0; j < 3; ++j) {
            const float still[4] = {0, 0, 0, 1}, bent[4] = {0, 0, sinf(half), cosf(half)};
            memcpy(rotations[i][j], j == 1 ? bent : still, sizeof(still));
        }
        jnaClip clip = {.rate = 30, .frameCount = 1, .jointCount = 3, .rotations = rotations[i][0]};
        float translations[3][3];
        for (int j = 0; j < 3; ++j) {
            memcpy(translations[j], block.character.joints[j].translation, sizeof(translations[j]));
        }
        clip.translations = translations[0];
        jnaPoseMatrices(&block.character, &clip, 0, matrices);
        jnaSkin(&block.character, matrices, surfaces + (size_t)i * floats);
        for (size_t v = 2; v < floats; v += 3) {
            surfaces[(size_t)i * floats + v] *= (float)across;
        }
        list[i] = (jnaPair){.rotations = rotations[i][0],
            .positions = surfaces + (size_t)i * floats,
            .use = i % 4 == 3 ? jna_pairValidation : jna_pairTrain};
    }
    jnError error = {0};
    if (jnaCreateCharacterPairs(&block.character, jn_skinLinear, POSES, &pairs, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(jnaPairs_Add(&pairs, POSES, list, NULL), jn_ok);
    free(surfaces);
    jnaTrainDef def = jnaDefaultTrainDef(jn_networkPca);
    def.epochs = 60;
    if (jnaTrainNetwork(&block.character, &pairs, &def, &network, NULL, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

static void Measure(jnaSoundness soundness[3])
{
    const jnaPairs* sets[1] = {&pairs};
    jnError error = {0};
    if (jnaMeasureSoundness(
            &block.volume, &block.character, &network, &(jnaPairSets){sets, 1, 100}, soundness, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
}

static void Forget(void)
{
    jnaDestroyPairs(&pairs);
    jnaDestroyNetwork(&network);
}

static void VolumeThatIsMissingIsSeen(void** state)
{
    (void)state;
    jnaSoundness s[3];
    AddPoses(0.9, 0.05);
    Measure(s);
    assert_int_equal(s[0].count, 3);
    // Hardly bent, the skinned block is whole; the surface that is given is a tenth thinner, and so is what is learned.
    print_message(
        "volume off by %g skinned, %g network, %g given\n", s[0].volumeError, s[1].volumeError, s[2].volumeError);
    assert_true(s[0].mostVolumeError < 1e-3 && s[0].mostDepth == 0.0);
    assert_true(fabs(s[2].volumeError - 0.1) < 1e-3 && fabs(s[2].mostVolumeError - 0.1) < 1e-3);
    assert_true(fabs(s[1].volumeError - 0.1) < 2e-3);
    Forget();
}

static void ASurfaceThatGoesThroughItselfIsSeen(void** state)
{
    (void)state;
    jnaSoundness s[3];
    AddPoses(1.0, 3.0);
    Measure(s);
    assert_int_equal(s[0].count, 3);
    print_message("skinned %.1f mm deep, %.1f cm3; volume off by %.1f %%\n", 1e3 * s[0].mostDepth,
        1e6 * s[0].mostOverlap, 100 * s[0].mostVolumeError);
    assert_true(s[0].mostDepth > 0.02 && s[0].mostOverlap > 1e-4 && s[0].mostVolumeError > 0.01);
    // The surface that is given is the skinned one: the same measured twice.
    assert_true(fabs(s[2].mostDepth - s[0].mostDepth) < 1e-4);
    Forget();
}

// The same flesh tied to its skin as a lattice is, instead of held by it.
static void ALatticeIsMeasuredAlike(void** state)
{
    (void)state;
    jnaSoundness held[3], tied[3];
    AddPoses(0.9, 0.5);
    Measure(held);
    block.volume.method = jna_volumeLattice;
    Measure(tied);
    block.volume.method = jna_volumeTetgen;
    assert_int_equal(tied[0].count, 3);
    for (int i = 0; i < 3; ++i) {
        print_message("volume off by %g held, %g tied\n", held[i].volumeError, tied[i].volumeError);
        assert_true(fabs(tied[i].volumeError - held[i].volumeError) < 1e-3);
    }
    Forget();
}

static int SetUp(void** state)
{
    (void)state;
    static const double size[3] = {1.6, 0.3, 0.3};
    jnaWeightsDef def = jnaDefaultWeightsDef();
    block = MakeBlock(24, 5, 5, size, 0.1, 3);
    // A triangle, so that the character has a surface at all: pairs are made by the runtime.
    jnaCharacter* c = &block.character;
    free(c->triangles);
    c->triangleCount = 1;
    c->triangles = malloc(3 * sizeof(int32_t));
    for (int i = 0; i < 3; ++i) {
        c->triangles[i] = i;
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        c->weld[v] = v;
        c->fileNormals[3 * v + 1] = 1.0f;
    }
    return jnaVolume_CarryWeights(&block.volume, c, &def, NULL) == jn_ok ? 0 : -1;
}

static int TearDown(void** state)
{
    (void)state;
    DestroyTestVolume(&block);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(VolumeThatIsMissingIsSeen),
        cmocka_unit_test(ASurfaceThatGoesThroughItselfIsSeen),
        cmocka_unit_test(ALatticeIsMeasuredAlike),
    };
    return cmocka_run_group_tests(tests, SetUp, TearDown);
}
