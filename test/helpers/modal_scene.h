// Flesh around a core as an asset and as a character in motion.
#pragma once

#include "asset/asset_writer.h"
#include "helpers/core.h"
#include "jounce/jounce.h"

#include "runtime/asset_format.h"

#define DAMPING 6.0
#define FRAME (1.0f / 30)

// Flesh around a core as an asset.
typedef struct Scene {
    Core core;
    jnaModes modes;
    void* bytes;
    jnAsset* asset;
    int vertices;
} Scene;

static inline int CompareFaces(const void* a, const void* b)
{
    return memcmp(a, b, 3 * sizeof(int32_t));
}

// The faces that only one tetrahedron has, turned outwards.
static inline void FindSurface(TestVolume* test)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    jnaVolume* v = &test->volume;
    int32_t(*all)[6] = malloc((size_t)v->tetrahedronCount * 4 * sizeof(*all)); // sorted, then as it is
    int count = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        for (int f = 0; f < 4; ++f, ++count) {
            for (int i = 0; i < 3; ++i) {
                all[count][i] = all[count][3 + i] = v->tetrahedra[4 * t + faces[f][i]];
            }
            for (int i = 0; i < 3; ++i) {
                for (int k = 0; k < 2; ++k) {
                    if (all[count][k] > all[count][k + 1]) {
                        int32_t swap = all[count][k];
                        all[count][k] = all[count][k + 1];
                        all[count][k + 1] = swap;
                    }
                }
            }
        }
    }
    qsort(all, (size_t)count, sizeof(*all), CompareFaces);
    jnaCharacter* c = &test->character;
    c->triangles = realloc(c->triangles, (size_t)count * 3 * sizeof(int32_t));
    for (int i = 0; i < count; ++i) {
        bool shared = (i > 0 && CompareFaces(all[i], all[i - 1]) == 0) ||
                      (i + 1 < count && CompareFaces(all[i], all[i + 1]) == 0);
        if (!shared) {
            memcpy(c->triangles + 3 * c->triangleCount++, all[i] + 3, 3 * sizeof(int32_t));
        }
    }
    for (int i = 0; i < c->fileVertexCount; ++i) {
        c->weld[i] = i;
        c->fileNormals[3 * i] = 1;
    }
    free(all);
}

// m/s: what the forces on a scene's modes level off at; 0: nothing.
static double forceSpeed;
// Metres: the cap of every mode; 0: none.
static double amplitudeCap;
// The frequency of every mode; 0: its own.
static double modeHertz;

static inline Scene MakeScene(int cells, int count)
{
    Scene s = {.core = MakeCore(cells)};
    jnaCharacter* c = &s.core.block.character;
    for (int v = 0; v < c->vertexCount; ++v) {
        c->influences[v] = (jnaInfluences){.joints = {0}, .weights = {1}};
    }
    FindSurface(&s.core.block);
    s.modes = FindCoreModes(&s.core, count, jna_projectVolume);
    for (int k = 0; k < s.modes.modeCount; ++k) {
        double omega = 6.283185307179586 * modeHertz;
        s.modes.stiffness[k] = modeHertz > 0 ? omega * omega : s.modes.stiffness[k];
        s.modes.damping[k] = DAMPING;
        s.modes.limits[k] = forceSpeed * sqrt(s.modes.stiffness[k]);
        s.modes.caps[k] = amplitudeCap;
    }
    s.vertices = c->vertexCount;
    float* springs = malloc(2 * (size_t)s.vertices * sizeof(float));
    for (int i = 0; i < s.vertices; ++i) {
        springs[i] = 900;
        springs[s.vertices + i] = 12;
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = c;
    def.stiffness = springs;
    def.damping = springs + s.vertices;
    def.modes = &s.modes;
    def.networkTolerance = 2e-6; // weights go far beyond their usual size here
    size_t size;
    jnError error = {0};
    if (jnaEncodeAsset(&def, &s.bytes, &size, &error) != jn_ok ||
        jnLoadAsset(&(jnAssetDef){.bytes = s.bytes, .size = size}, &s.asset, &error) != jn_ok) {
        fail_msg("%s", error.message);
    }
    free(springs);
    return s;
}

static inline void DestroyScene(Scene* s)
{
    jnDestroyAsset(s->asset);
    free(s->bytes);
    jnaDestroyModes(&s->modes);
    DestroyCore(&s->core);
}

static inline jnTransform RootAt(CoreMotion motion, double t)
{
    double place[3], q[4];
    jnTransform root;
    CorePose(motion, t, place, q);
    for (int i = 0; i < 4; ++i) {
        root.position[i < 3 ? i : 0] = i < 3 ? (float)place[i] : root.position[0];
        root.rotation[i] = (float)q[i];
    }
    return root;
}

static inline jnCharacter* MustMake(const Scene* s, jnTiming timing, jnKernel kernel)
{
    jnCharacterDef def = jnDefaultCharacterDef(s->asset);
    def.timing = timing;
    def.kernel = kernel;
    jnCharacter* c;
    assert_int_equal(jnCreateCharacter(&def, &c, NULL), jn_ok);
    return c;
}

static inline void StepTo(jnCharacter* c, CoreMotion motion, double t, float h, float* positions, float* velocities)
{
    jnTransform root = RootAt(motion, t);
    jnCharacter_Step(c, &(jnCharacterInput){.h = h, .pose = {.root = &root}},
        &(jnCharacterOutput){.positions = positions, .velocities = velocities});
}

static inline double FarthestOf(const float* a, const float* b, int vertices)
{
    double worst = 0;
    for (int i = 0; i < 3 * vertices; ++i) {
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    }
    return worst;
}

static inline float* Positions(const Scene* s)
{
    return calloc(3 * (size_t)s->vertices + 16, sizeof(float));
}

// How far the flesh is from where the skeleton alone puts it.
static inline double OffsetOf(
    jnCharacter* c, CoreMotion motion, double t, const float* positions, float* skinned, int vertices)
{
    jnTransform root = RootAt(motion, t);
    jnCharacter* other;
    jnCharacterDef def = jnDefaultCharacterDef(jnCharacter_Asset(c));
    assert_int_equal(jnCreateCharacter(&def, &other, NULL), jn_ok);
    jnCharacter_Skin(other, &(jnPose){.root = &root}, &(jnCharacterOutput){.positions = skinned});
    jnDestroyCharacter(other);
    return FarthestOf(positions, skinned, vertices);
}
