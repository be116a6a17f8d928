// Material of each tetrahedron: the manifest's general flesh, changed for the region of the body, for the joints that
// the manifest lists, and for the layer of fat under the skin.
//
// A tetrahedron belongs to the joint with the largest weight over its corners. It is fat if its middle lies no deeper
// than the layer is thick.
#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "volume/laplacian.h"
#include "volume/materials.h"
#include "volume/skin_depth.h"
#include "volume/volume_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MATERIALS = 256, MOST_ROUNDS = 40 };

// Stiffness changes between regions over this part of the body's size.
#define SMOOTH_OVER 0.012
// The skin of the groin is tied to the inguinal ligament and the fascia of the thigh: flesh is so many times stiffer
// where it follows trunk and thigh alike, from this part of the body's size in front of the hips on. Free flesh would
// be torn there, where skinning presses the surface to a tenth of its length as a hip bends.
#define GROIN_TIES 8.0
#define GROIN_FRONT 0.06
#define GROIN_WIDE 6.0
// Steps of the logarithm of stiffness: 4 % is not felt; coarser only where there would be too many materials.
#define FINEST_STEP 0.04
#define COARSEST_STEP 1.0
// Steps of damping.
#define DAMPING_STEP 0.25

// Young's modulus of the regions, times the general one; see docs/background/volume.md for where the numbers come from.
static const double regionYoung[JNA_REGIONS] = {
    [jna_regionOther] = 1,
    [jna_regionHead] = 1,
    [jna_regionNeck] = 0.7,
    [jna_regionChest] = 1,
    [jna_regionBreast] = 0.1,
    [jna_regionBelly] = 0.2,
    [jna_regionBack] = 0.5,
    [jna_regionButtock] = 0.35,
    [jna_regionHip] = 0.5,
    [jna_regionUpperArm] = 0.6,
    [jna_regionElbow] = 3,
    [jna_regionForeArm] = 0.7,
    [jna_regionHand] = 1,
    [jna_regionThigh] = 0.6,
    [jna_regionKnee] = 3,
    [jna_regionShin] = 1,
    [jna_regionCalf] = 0.3,
    [jna_regionFoot] = 1,
};

// Tendons and ligaments damp as tense muscle does.
double jnaRegionDamping(jnaRegion region)
{
    return region == jna_regionElbow || region == jna_regionKnee ? 2 : 1;
}

jnaBodyDef jnaDefaultBodyDef(void)
{
    jnaBodyDef def = {.build = jna_buildAuto};
    for (int r = 0; r < JNA_REGIONS; ++r) {
        def.softness[r] = def.damping[r] = 1;
        def.tone[r] = -1;
    }
    return def;
}

double jnaRegionYoung(jnaRegion region)
{
    return regionYoung[region];
}

// Moves the tetrahedra near the skin to the fat twin of their region.
static jnResult FindFat(jnaVolume* v, const double (*middles)[3], double depth, jnError* error)
{
    jnaSlicer skin;
    jnaSkinDepth* under = NULL;
    jnResult result = jnaCreateSlicer(v, &skin, error);
    if (result != jn_ok) {
        return result;
    }
    result = jnaCreateSkinDepth(&skin, &under, error);
    int count = result == jn_ok ? v->tetrahedronCount : 0;
#pragma omp parallel for schedule(static)
    for (int t = 0; t < count; ++t) {
        v->regions[t] = (uint8_t)(v->regions[t] + (jnaSkinDepth_At(under, middles[t], depth) < depth));
    }
    jnaDestroySkinDepth(under);
    jnaDestroySlicer(&skin);
    return result;
}

// The joint with the largest weight over the corners; the first of equals.
int jnaTetrahedronJoint(const jnaVolume* v, int t)
{
    int best = -1;
    double most = 0;
    const int32_t* c = v->tetrahedra + 4 * (size_t)t;
    for (int k = 0; k < 4; ++k) {
        for (int32_t i = v->rowStarts[c[k]]; i < v->rowStarts[c[k] + 1]; ++i) {
            double sum = 0;
            for (int n = 0; n < 4; ++n) {
                sum += jnaWeightOf(v, c[n], v->joints[i]);
            }
            if (sum > most) {
                most = sum;
                best = v->joints[i];
            }
        }
    }
    return best;
}

static jnaMaterial Change(jnaMaterial material, const jnaJointMaterial* flesh)
{
    material.young *= flesh->youngFactor;
    material.density *= flesh->densityFactor;
    material.poisson = flesh->poisson >= 0 ? flesh->poisson : material.poisson;
    return material;
}

// What the manifest or the table says of a region.
static jnaMaterial OfRegion(const jnaMaterialsDef* def, jnaRegion region)
{
    jnaMaterial material = {
        def->young * regionYoung[region], def->poisson, def->density, jnaRegionDamping(region) - 1, def->stiffening};
    for (int i = 0; i < def->regionCount; ++i) {
        const jnaRegionSetting* r = &def->regions[i];
        if (r->region == region) {
            material.young = r->youngFactor >= 0 ? def->young * r->youngFactor : material.young;
            material.density *= r->densityFactor >= 0 ? r->densityFactor : 1;
            material.poisson = r->poisson >= 0 ? r->poisson : material.poisson;
            material.extraDamping = r->damping >= 0 ? r->damping - 1 : material.extraDamping;
        }
    }
    return material;
}

// Which of the manifest's joints each joint is, counted from 1; 0: none.
static jnResult FindKinds(const jnaCharacter* character, const jnaMaterialsDef* def, int* kinds, jnError* error)
{
    for (int i = 0; i < def->jointCount; ++i) {
        int joint = jnaFindJoint(character, def->joints[i].joint);
        if (joint < 0) {
            return jnFail(error, jn_badData, "materials: the character has no joint '%s'", def->joints[i].joint);
        }
        kinds[joint] = i + 1;
    }
    return jn_ok;
}

// Everything that sorting works with.
typedef struct Sorting {
    jnaVolume* volume;
    const jnaMaterialsDef* def;
    const jnaAnatomy* anatomy;
    int* kinds;           // [jointCount], the manifest's joints counted from 1; 0: none
    uint8_t* regions;     // [tetrahedronCount], of the body
    int32_t* kindOf;      // [tetrahedronCount]
    double (*middles)[3]; // [tetrahedronCount]
    double (*values)[2];  // [tetrahedronCount], logarithm of Young's modulus by region and damping, smoothed
    double (*sums)[3];    // [nodeCount]
} Sorting;

static void FindRegions(Sorting* s)
{
    const jnaVolume* v = s->volume;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        memset(s->middles[t], 0, sizeof(s->middles[t]));
        for (int k = 0; k < 12; ++k) {
            size_t node = (size_t)v->tetrahedra[4 * (size_t)t + (size_t)(k / 3)];
            s->middles[t][k % 3] += v->nodes[3 * node + (size_t)(k % 3)] / 4;
        }
        int joint = jnaTetrahedronJoint(v, t);
        s->kindOf[t] = joint >= 0 ? s->kinds[joint] : 0;
        s->regions[t] = (uint8_t)jnaAnatomy_Region(s->anatomy, joint, s->middles[t]);
        jnaMaterial material = OfRegion(s->def, (jnaRegion)s->regions[t]);
        s->values[t][0] = log(material.young);
        s->values[t][1] = material.extraDamping;
    }
}

// Flesh does not change at a line: stiffness and damping are averaged over a few centimetres, whatever the mesh.
static void Smooth(Sorting* s)
{
    const jnaVolume* v = s->volume;
    double whole = 0, gradients[4][3];
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        whole += fabs(jnaHatGradients(v->nodes, v->tetrahedra + 4 * (size_t)t, gradients));
    }
    double edge = cbrt(whole / fmax(v->tetrahedronCount, 1) * 8.5), reach = SMOOTH_OVER * s->anatomy->size / edge;
    int rounds = (int)fmin(fmax(round(reach * reach), 1), MOST_ROUNDS);
    for (int round = 0; round < rounds; ++round) {
        memset(s->sums, 0, (size_t)v->nodeCount * sizeof(*s->sums));
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            double volume = fabs(jnaHatGradients(v->nodes, v->tetrahedra + 4 * (size_t)t, gradients));
            for (int k = 0; k < 4; ++k) {
                double* sum = s->sums[v->tetrahedra[4 * (size_t)t + (size_t)k]];
                sum[0] += volume * s->values[t][0];
                sum[1] += volume * s->values[t][1];
                sum[2] += volume;
            }
        }
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            double means[2] = {0};
            for (int k = 0; k < 4; ++k) {
                const double* sum = s->sums[v->tetrahedra[4 * (size_t)t + (size_t)k]];
                for (int i = 0; i < 2; ++i) {
                    means[i] += 0.25 * (sum[2] > 0 ? sum[i] / sum[2] : s->values[t][i]);
                }
            }
            memcpy(s->values[t], means, sizeof(means));
        }
    }
}

// How much of a tetrahedron follows thighs, 0 to 1.
static double ThighPart(const Sorting* s, int t)
{
    const jnaVolume* v = s->volume;
    const jnaAnatomy* a = s->anatomy;
    double part = 0;
    for (size_t k = 0; k < 4; ++k) {
        int32_t node = v->tetrahedra[4 * (size_t)t + k];
        for (int32_t i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
            int joint = v->joints[i], limb = a->limbOf[joint];
            bool thigh = a->parts[joint] == jna_bodyUpper && limb >= 0 && a->limbs[limb].leg;
            part += thigh ? 0.25 * jnaWeightOf(v, node, joint) : 0;
        }
    }
    return part;
}

// Where the trunk becomes a thigh, in front, flesh is stiffer.
static void TieGroins(Sorting* s)
{
    const jnaAnatomy* a = s->anatomy;
    for (int t = 0; t < s->volume->tetrahedronCount; ++t) {
        double part = ThighPart(s, t), ahead[3];
        jnaSubtract(s->middles[t], a->hips, ahead);
        double front = fmin(fmax(jnaDot(ahead, a->front) / (GROIN_FRONT * a->size), 0), 1);
        s->values[t][0] += log(GROIN_TIES) * front * fmin(GROIN_WIDE * part * (1 - part), 1);
    }
}

// The number of a material, added where it is not there yet; -1 where there is no room. twin: its fat follows it.
static int FindMaterial(jnaVolume* v, const jnaMaterial* material, const jnaJointMaterial* fat)
{
    int step = fat != NULL ? 2 : 1;
    for (int i = 0; i < v->materialCount; i += step) {
        if (memcmp(&v->materials[i], material, sizeof(*material)) == 0) {
            return i;
        }
    }
    if (v->materialCount + step > MAX_MATERIALS) {
        return -1;
    }
    v->materials[v->materialCount] = *material;
    if (fat != NULL) {
        v->materials[v->materialCount + 1] = Change(*material, fat);
    }
    v->materialCount += step;
    return v->materialCount - step;
}

// Gives every tetrahedron the number of its material. Stiffness in steps, so that there are few of them.
static bool Number(Sorting* s, double step, bool smooth)
{
    jnaVolume* v = s->volume;
    const jnaMaterialsDef* def = s->def;
    const jnaJointMaterial* fat = def->fatDepth > 0 ? &def->fat : NULL;
    v->materialCount = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        jnaMaterial material = OfRegion(def, (jnaRegion)s->regions[t]);
        if (smooth) {
            material.young = exp(step * round(s->values[t][0] / step));
            material.extraDamping = DAMPING_STEP * round(s->values[t][1] / DAMPING_STEP);
        }
        material = s->kindOf[t] > 0 ? Change(material, &def->joints[s->kindOf[t] - 1]) : material;
        int number = FindMaterial(v, &material, fat);
        if (number < 0) {
            return false;
        }
        v->regions[t] = (uint8_t)number;
    }
    return true;
}

static jnResult Sort(Sorting* s, jnError* error)
{
    jnaVolume* v = s->volume;
    FindRegions(s);
    // A character without parts has one region, and no borders to smooth.
    bool smooth = s->anatomy->trunk;
    if (smooth) {
        Smooth(s);
        TieGroins(s);
    }
    double step = FINEST_STEP;
    while (!Number(s, step, smooth)) {
        step *= 2;
        if (step > COARSEST_STEP) {
            return jnFail(error, jn_badData, "materials: more than %d kinds of flesh", MAX_MATERIALS);
        }
    }
    return s->def->fatDepth > 0 ? FindFat(v, (const double(*)[3])s->middles, s->def->fatDepth, error) : jn_ok;
}

jnaMaterialsDef jnaDefaultMaterialsDef(void)
{
    return (jnaMaterialsDef){.density = 1000,
        .young = 30000,
        .poisson = 0.45,
        .body = jnaDefaultBodyDef(),
        .calibrate = true,
        .fat = {.youngFactor = 0.5, .densityFactor = 0.9, .poisson = -1}};
}

jnResult jnaVolume_FillMaterials(
    jnaVolume* v, const jnaCharacter* character, const jnaMaterialsDef* def, jnError* error)
{
    JN_ASSERT(v->rowStarts != NULL);
    const jnaMaterialsDef standard = jnaDefaultMaterialsDef();
    jnaAnatomy anatomy = {0};
    Sorting s = {.volume = v, .def = def != NULL ? def : &standard, .anatomy = &anatomy};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    free(v->regions);
    free(v->materials);
    v->regions = jnaArena_Give(&arena, v->tetrahedronCount, 1);
    v->materials = jnaArena_Give(&arena, MAX_MATERIALS, sizeof(*v->materials));
    s.kinds = jnaArena_Take(&arena, character->jointCount, sizeof(int));
    s.regions = jnaArena_Take(&arena, v->tetrahedronCount, 1);
    s.kindOf = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(*s.kindOf));
    s.middles = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(*s.middles));
    s.values = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(*s.values));
    s.sums = jnaArena_Take(&arena, v->nodeCount, sizeof(*s.sums));
    JN_TRY(jnaArena_Check(&arena, "the material of tetrahedra", error));
    JN_TRY(FindKinds(character, s.def, s.kinds, error));
    JN_TRY(jnaFindAnatomy(character, v, &anatomy, error));
    JN_TRY(Sort(&s, error));
done:
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&arena);
    return result;
}
