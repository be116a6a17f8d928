// What tetrahedra do not resolve follows the skin that it grows or lies on.
#include "helpers/voxels.h"
#include "volume/skin_extension.h"
#include "volume/tetrahedralize.h"

static jnError error;

#define EDGE 0.15

// A ball of flesh with a patch at the top that its tetrahedra do not resolve, and a box on it that one joint moves.
typedef struct Ball {
    jnaCharacter character;
    jnaVolume volume;
    jnaSkinExtension* extension;
    double *displacements, *scratch;
    int boxStart;
} Ball;

static bool IsPatch(const Ball* b, int v)
{
    return v < b->boxStart && b->character.positions[3 * v + 1] > 0.55f;
}

static Ball* MakeBall(float boxHeight)
{
    Ball* b = calloc(1, sizeof(*b));
    Voxels* voxels = calloc(1, sizeof(*voxels));
    jnaCharacter* c = &b->character;
    AddSphere(c, 0, 0, 0, 0.6);
    b->boxStart = c->vertexCount;
    voxels->size = 0.05;
    FillVoxels(voxels, 0, 0, 0, 2, 1, 2);
    AddVoxels(c, voxels);
    free(voxels);
    for (int v = b->boxStart; v < c->vertexCount; ++v) {
        c->positions[3 * v + 1] += boxHeight;
    }
    AddJointAt(c, "ball", 0, 0, 0);
    AddJointAt(c, "box", 0, 0.6, 0);
    AddInfluences(c);
    for (int v = 0; v < c->vertexCount; ++v) {
        Follow(c, v, v < b->boxStart ? 0 : 1, 1, 0);
    }
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.edge = EDGE;
    assert_int_equal(jnaCreateVolume(c, &def, &b->volume, NULL, NULL, &error), jn_ok);
    free(b->volume.skinBlend);
    b->volume.skinBlend = malloc((size_t)c->vertexCount * sizeof(double));
    for (int v = 0; v < c->vertexCount; ++v) {
        b->volume.skinBlend[v] = v >= b->boxStart || IsPatch(b, v) ? 0 : 1;
    }
    assert_int_equal(jnaCreateSkinExtension(c, &b->volume, &b->extension, &error), jn_ok);
    b->displacements = malloc(3 * (size_t)c->vertexCount * sizeof(double));
    b->scratch = malloc(jnaSkinExtension_ScratchCount(b->extension) * sizeof(double));
    return b;
}

static void DestroyBall(Ball* b)
{
    jnaDestroySkinExtension(b->extension);
    jnaDestroyVolume(&b->volume);
    jnaDestroyCharacter(&b->character);
    free(b->displacements);
    free(b->scratch);
    free(b);
}

// Displaces the flesh by offset + slope x along Z, and leaves rubbish where it carries nothing.
static void Displace(Ball* b, double offset, double slope)
{
    for (int v = 0; v < b->character.vertexCount; ++v) {
        double* d = b->displacements + 3 * v;
        d[0] = d[1] = 0;
        d[2] = b->volume.skinBlend[v] > 0 ? offset + slope * (double)b->character.positions[3 * v] : 7;
    }
    jnaSkinExtension_Apply(b->extension, b->displacements, b->scratch);
}

static void APatchFollowsTheSkinAroundIt(void** state)
{
    (void)state;
    Ball* b = MakeBall(0.62f);
    int patch = 0;
    Displace(b, 1, 0);
    for (int v = 0; v < b->boxStart; ++v) {
        patch += IsPatch(b, v);
        ASSERT_NEAR(b->displacements[3 * v + 2], 1, IsPatch(b, v) ? 0.12 : 1e-12); // a little fades over a patch
    }
    assert_true(patch > 3);
    Displace(b, 0, 1);
    for (int v = 0; v < b->boxStart; ++v) {
        ASSERT_NEAR(b->displacements[3 * v + 2], (double)b->character.positions[3 * v], 0.04);
        ASSERT_NEAR(b->displacements[3 * v], 0, 1e-12);
    }
    DestroyBall(b);
}

static void AShellOfOneJointRidesAsOnePiece(void** state)
{
    (void)state;
    Ball* b = MakeBall(0.62f);
    Displace(b, 1, 1);
    double first = b->displacements[3 * b->boxStart + 2];
    assert_true(first > 0.75 && first < 1.2);
    for (int v = b->boxStart; v < b->character.vertexCount; ++v) {
        ASSERT_NEAR(b->displacements[3 * v + 2], first, 1e-12);
    }
    DestroyBall(b);
}

static void AShellFarFromFleshStays(void** state)
{
    (void)state;
    Ball* b = MakeBall(1.6f);
    Displace(b, 1, 1);
    for (int v = b->boxStart; v < b->character.vertexCount; ++v) {
        ASSERT_NEAR(b->displacements[3 * v + 2], 0, 1e-12);
    }
    DestroyBall(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(APatchFollowsTheSkinAroundIt),
        cmocka_unit_test(AShellOfOneJointRidesAsOnePiece),
        cmocka_unit_test(AShellFarFromFleshStays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
