// A skin on a lattice: what the lattice is too coarse for is carried by skinning, and nothing is torn or glued.
#include "flesh/flesh.h"
#include "helpers/voxels.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

static jnError error;

#define CUBE 0.05
#define EDGE 0.15

// A block with two fingers on it, a cube apart, on joints of their own.
typedef struct Fork {
    jnaCharacter character;
    jnaVolume volume;
    jnaVolumeReport report;
} Fork;

static Fork* MakeFork(int fingerWidth, double shift)
{
    Voxels* voxels = calloc(1, sizeof(*voxels));
    Fork* f = calloc(1, sizeof(*f));
    voxels->size = CUBE;
    FillVoxels(voxels, 0, 0, 0, 16, 2 * fingerWidth + 1 > 12 ? 2 * fingerWidth + 1 : 12, 12);
    FillVoxels(voxels, 16, 0, 0, 32, fingerWidth, fingerWidth);
    FillVoxels(voxels, 16, fingerWidth + 1, 0, 32, 2 * fingerWidth + 1, fingerWidth);
    AddVoxels(&f->character, voxels);
    free(voxels);
    AddJointAt(&f->character, "block", 0.4, 0.3, 0.3);
    AddJointAt(&f->character, "first", 0.8, 0.1, 0.1);
    AddJointAt(&f->character, "second", 0.8, 0.3, 0.1);
    AddInfluences(&f->character);
    for (int v = 0; v < f->character.vertexCount; ++v) {
        float* p = f->character.positions + 3 * v;
        float weight = fminf(fmaxf((p[0] - 0.75f) / 0.2f, 0), 1);
        Follow(&f->character, v, p[1] < (float)(CUBE * (fingerWidth + 0.5)) ? 1 : 2, weight, 0);
        for (int i = 0; i < 3; ++i) {
            p[i] += (float)shift;
        }
    }
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.edge = EDGE;
    assert_int_equal(jnaCreateVolume(&f->character, &def, &f->volume, &f->report, NULL, &error), jn_ok);
    return f;
}

static void DestroyFork(Fork* f)
{
    jnaDestroyCharacter(&f->character);
    jnaDestroyVolume(&f->volume);
    free(f);
}

static void ThinFingersAreCarriedBySkinningAndABlockByItsFlesh(void** state)
{
    (void)state;
    Fork* f = MakeFork(2, 0);
    int thin = 0, thick = 0;
    for (int v = 0; v < f->character.vertexCount; ++v) {
        float x = f->character.positions[3 * v];
        if (x > 0.85f) {
            assert_true(jnaVolume_Blend(&f->volume, v) <= 0);
            thin++;
        } else if (x < 0.55f) {
            ASSERT_NEAR(jnaVolume_Blend(&f->volume, v), 1, 1e-12);
            thick++;
        }
    }
    assert_true(thin > 100 && thick > 100);
    assert_true(f->report.skinnedCount >= thin);
    assert_true(f->report.blendedCount > 0);
    DestroyFork(f);
}

static bool HaveCommonNode(const jnaVolume* v, int a, int b)
{
    for (int i = 0; i < 16; ++i) {
        if (v->tetrahedra[4 * a + i / 4] == v->tetrahedra[4 * b + i % 4]) {
            return true;
        }
    }
    return false;
}

static void FingersThatFleshCarriesAreNotGlued(void** state)
{
    (void)state;
    // Fingers of 1.7 and of 3 edges in four places of the lattice: the former hang on common nodes here and there.
    for (int s = 0; s < 8; ++s) {
        int carried = 0;
        Fork* f = MakeFork(s < 4 ? 5 : 9, 0.031 * (s % 4));
        const jnaVolume* v = &f->volume;
        for (int a = 0; a < v->vertexCount; ++a) {
            for (int b = 0; b < v->vertexCount && f->character.influences[a].joints[0] == 1; ++b) {
                const float *p = f->character.positions + 3 * a, *q = f->character.positions + 3 * b;
                // Right across the gap, further from its end than the lattice is wide.
                bool across = f->character.influences[b].joints[0] == 2 && p[0] - (float)(0.031 * (s % 4)) > 1.2f &&
                              fabsf(p[0] - q[0]) < 0.01f && fabsf(p[2] - q[2]) < 0.01f && q[1] - p[1] < 0.06f;
                if (across && jnaVolume_Blend(v, a) > 0 && jnaVolume_Blend(v, b) > 0) {
                    carried++;
                    assert_false(HaveCommonNode(v, v->skinTetrahedra[a], v->skinTetrahedra[b]));
                }
            }
        }
        assert_true(carried > 0 || s < 4);
        DestroyFork(f);
    }
}

static void FleshFarAwayCarriesNothing(void** state)
{
    (void)state;
    // A plate too thin for a node, with a block beside it.
    Voxels* voxels = calloc(1, sizeof(*voxels));
    jnaCharacter character = {0};
    jnaVolume v;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    def.method = jna_volumeLattice;
    def.edge = EDGE;
    voxels->size = CUBE / 5;
    FillVoxels(voxels, 36, 0, 0, 37, 40, 40);
    AddVoxels(&character, voxels);
    int plate = character.vertexCount;
    for (int i = 0; i < plate; ++i) {
        character.positions[3 * i] += 1.0f;
    }
    AddSphere(&character, 0, 0, 0, 0.6);
    assert_int_equal(jnaCreateVolume(&character, &def, &v, NULL, NULL, &error), jn_ok);
    for (int i = 0; i < plate; ++i) {
        assert_int_equal(v.skinTetrahedra[i], -1);
        assert_true(jnaVolume_Blend(&v, i) <= 0);
    }
    assert_true(v.skinTetrahedra[plate] >= 0);
    free(voxels);
    jnaDestroyVolume(&v);
    jnaDestroyCharacter(&character);
}

// The fork with all that lives in it, and a solver of its flesh.
static jnaFlesh* MakeFlesh(Fork* f, jnaFleshSolver** solver)
{
    jnaBoneList bones = {0};
    const jnaWeightsDef weights = jnaDefaultWeightsDef();
    jnaVolume* v = &f->volume;
    jnaFlesh* flesh = NULL;
    assert_int_equal(jnaVolume_CarryWeights(v, &f->character, &weights, &error), jn_ok);
    assert_int_equal(jnaVolume_PlaceBones(v, &f->character, NULL, &bones, NULL, &error), jn_ok);
    assert_int_equal(jnaVolume_FillMaterials(v, &f->character, NULL, &error), jn_ok);
    jnaFleshDef def = jnaDefaultFleshDef(v, &f->character);
    def.contact = false;
    assert_int_equal(jnaCreateFlesh(&def, &flesh, &error), jn_ok);
    assert_int_equal(jnaCreateFleshSolver(flesh, solver, &error), jn_ok);
    jnaDestroyBoneList(&bones);
    return flesh;
}

// One frame in which the whole turns by 70 degrees about Y and moves.
static jnaClip RigidFrame(const jnaCharacter* c)
{
    jnaClip clip = {.rate = 30, .frameCount = 1, .jointCount = c->jointCount};
    assert_int_equal(jnaClip_Allocate(&clip, false, &error), jn_ok);
    for (int j = 0; j < c->jointCount; ++j) {
        memcpy(clip.rotations + 4 * j, c->joints[j].rotation, 4 * sizeof(float));
        memcpy(clip.translations + 3 * j, c->joints[j].translation, 3 * sizeof(float));
    }
    clip.rotations[1] = sinf(0.61f);
    clip.rotations[3] = cosf(0.61f);
    clip.translations[0] += 0.7f;
    clip.translations[2] -= 0.4f;
    return clip;
}

static void ARigidMotionStaysOneAndFingersFollowTheBlock(void** state)
{
    (void)state;
    Fork* f = MakeFork(2, 0);
    jnaFleshSolver* solver = NULL;
    jnaFlesh* flesh = MakeFlesh(f, &solver);
    jnaClip clip = RigidFrame(&f->character);
    size_t nodes = (size_t)f->volume.nodeCount, vertices = (size_t)f->character.vertexCount;
    double* transforms = malloc(12 * (size_t)f->character.jointCount * sizeof(double));
    double* moved = malloc(3 * nodes * sizeof(double));
    float *skinned = malloc(3 * vertices * sizeof(float)), *surface = malloc(3 * vertices * sizeof(float));
    float* matrices = malloc(12 * (size_t)f->character.jointCount * sizeof(float));
    jnaPoseTransforms(&f->character, &clip, 0, transforms);
    jnaVolume_Skin(&f->volume, transforms, moved);
    jnaPoseMatrices(&f->character, &clip, 0, matrices);
    jnaSkin(&f->character, matrices, skinned);
    jnaFleshSolver_Surface(solver, &clip, 0, moved, surface);
    for (size_t i = 0; i < 3 * vertices; ++i) {
        ASSERT_NEAR((double)surface[i], (double)skinned[i], 2e-6); // floats of a metre
    }
    for (size_t i = 0; i < nodes; ++i) {
        moved[3 * i + 1] += 0.25; // all flesh shifts
    }
    jnaFleshSolver_Surface(solver, &clip, 0, moved, surface);
    for (size_t v = 0; v < vertices; ++v) {
        double lift = (double)(surface[3 * v + 1] - skinned[3 * v + 1]);
        if (jnaVolume_Blend(&f->volume, (int)v) >= 1) {
            ASSERT_NEAR(lift, 0.25, 2e-6);
        }
        assert_true(lift > 0 && lift < 0.25 + 2e-6);
        if (f->character.positions[3 * v] > 1.55f) { // the tip, five edges away from the block
            ASSERT_AT_MOST(lift, 0.125);
        }
    }
    for (size_t i = 0; i < 3 * (size_t)f->character.triangleCount; ++i) { // the transition is smooth
        int a = f->character.triangles[i], b = f->character.triangles[i - i % 3 + (i + 1) % 3];
        double lift = (double)(surface[3 * a + 1] - skinned[3 * a + 1] - surface[3 * b + 1] + skinned[3 * b + 1]);
        ASSERT_AT_MOST(fabs(lift), 0.25 * CUBE * sqrt(3) / EDGE);
    }
    free(transforms);
    free(moved);
    free(skinned);
    free(surface);
    free(matrices);
    jnaDestroyClip(&clip);
    jnaDestroyFleshSolver(solver);
    jnaDestroyFlesh(flesh);
    DestroyFork(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ThinFingersAreCarriedBySkinningAndABlockByItsFlesh),
        cmocka_unit_test(FingersThatFleshCarriesAreNotGlued),
        cmocka_unit_test(FleshFarAwayCarriesNothing),
        cmocka_unit_test(ARigidMotionStaysOneAndFingersFollowTheBlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
