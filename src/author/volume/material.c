// Material of each tetrahedron: the manifest's general flesh, changed for the region of the body, for the joints that
// the manifest lists, and for the layer of fat under the skin.
//
// A tetrahedron belongs to the joint with the largest weight over its corners. It is fat if its middle lies no deeper
// than the layer is thick.
#include "anatomy_internal.h"
#include "skin_depth.h"

#include "inside_internal.h"

#include "jounce-author/inside.h"

#include "character/affine.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MATERIALS = 256 };

// Young's modulus of the regions, times the general one; see docs/volume.md for where the numbers come from.
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
    [jna_regionElbow] = 1,
    [jna_regionForeArm] = 0.7,
    [jna_regionHand] = 1,
    [jna_regionThigh] = 0.6,
    [jna_regionKnee] = 1,
    [jna_regionShin] = 1,
    [jna_regionCalf] = 0.3,
    [jna_regionFoot] = 1,
};

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

static jnaMaterial Change(jnaMaterial material, const jnaManifestFlesh* flesh)
{
    material.young *= flesh->youngFactor;
    material.density *= flesh->densityFactor;
    material.poisson = flesh->poisson >= 0 ? flesh->poisson : material.poisson;
    return material;
}

// The material of a region, of a joint that the manifest lists (or NULL), and of the fat there (or NULL).
static jnaMaterial Mix(
    const jnaManifest* m, jnaRegion region, const jnaManifestFlesh* joint, const jnaManifestFlesh* fat)
{
    jnaMaterial material = {m->materials.young * regionYoung[region], m->materials.poisson, m->materials.density};
    for (int i = 0; i < m->materials.regionCount; ++i) {
        const jnaManifestRegion* r = &m->materials.regions[i];
        if (r->region == region) {
            material.young = r->youngFactor >= 0 ? m->materials.young * r->youngFactor : material.young;
            material.density *= r->densityFactor >= 0 ? r->densityFactor : 1;
            material.poisson = r->poisson >= 0 ? r->poisson : material.poisson;
        }
    }
    material = joint != NULL ? Change(material, joint) : material;
    return fat != NULL ? Change(material, fat) : material;
}

// Which of the manifest's joints each joint is, counted from 1; 0: none.
static jnResult FindKinds(const jnaCharacter* character, const jnaManifest* m, int* kinds, jnError* error)
{
    for (int i = 0; i < m->materials.jointCount; ++i) {
        int joint = jnaFindJoint(character, m->materials.joints[i].joint);
        if (joint < 0) {
            return jnFail(
                error, jn_badData, "materials: the character has no joint '%s'", m->materials.joints[i].joint);
        }
        kinds[joint] = i + 1;
    }
    return jn_ok;
}

// Gives every tetrahedron the number of its material, making those that are met for the first time. twins: 2 with fat.
static jnResult Sort(jnaVolume* v, const jnaManifest* m, const jnaAnatomy* anatomy, const int* kinds, int twins,
    double (*middles)[3], jnError* error)
{
    int16_t* numbers = malloc((size_t)JNA_REGIONS * ((size_t)m->materials.jointCount + 1) * sizeof(*numbers));
    if (numbers == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the material of %d tetrahedra", v->tetrahedronCount);
    }
    memset(numbers, 0xff, (size_t)JNA_REGIONS * ((size_t)m->materials.jointCount + 1) * sizeof(*numbers));
    v->materialCount = 0;
    jnResult result = jn_ok;
    for (int t = 0; t < v->tetrahedronCount && result == jn_ok; ++t) {
        memset(middles[t], 0, sizeof(middles[t]));
        for (int k = 0; k < 12; ++k) {
            size_t node = (size_t)v->tetrahedra[4 * (size_t)t + (size_t)(k / 3)];
            middles[t][k % 3] += v->nodes[3 * node + (size_t)(k % 3)] / 4;
        }
        int joint = jnaTetrahedronJoint(v, t), kind = joint >= 0 ? kinds[joint] : 0;
        jnaRegion region = jnaAnatomy_Region(anatomy, joint, middles[t]);
        int16_t* number = &numbers[(size_t)kind * JNA_REGIONS + (size_t)region];
        if (*number < 0 && v->materialCount + twins > MAX_MATERIALS) {
            result = jnFail(error, jn_badData, "materials: more than %d kinds of flesh", MAX_MATERIALS);
        } else if (*number < 0) {
            const jnaManifestFlesh* own = kind > 0 ? &m->materials.joints[kind - 1] : NULL;
            *number = (int16_t)v->materialCount;
            v->materials[v->materialCount++] = Mix(m, region, own, NULL);
            if (twins == 2) {
                v->materials[v->materialCount++] = Mix(m, region, own, &m->materials.fat);
            }
        }
        v->regions[t] = (uint8_t)*number;
    }
    free(numbers);
    return result;
}

jnResult jnaVolume_FillMaterials(
    jnaVolume* v, const jnaCharacter* character, const jnaManifest* manifest, jnError* error)
{
    JN_ASSERT(v->rowStarts != NULL);
    const jnaManifest standard = jnaDefaultManifest(), *m = manifest != NULL ? manifest : &standard;
    jnaAnatomy anatomy = {0};
    size_t elements = (size_t)v->tetrahedronCount + 1;
    free(v->regions);
    free(v->materials);
    v->regions = malloc(elements);
    v->materials = calloc(MAX_MATERIALS, sizeof(*v->materials));
    int* kinds = calloc((size_t)character->jointCount + 1, sizeof(int));
    double(*middles)[3] = malloc(elements * sizeof(*middles));
    jnResult result = jn_ok;
    if (v->regions == NULL || v->materials == NULL || kinds == NULL || middles == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the material of %d tetrahedra", v->tetrahedronCount);
    }
    result = result == jn_ok ? FindKinds(character, m, kinds, error) : result;
    result = result == jn_ok ? jnaFindAnatomy(character, v, &anatomy, error) : result;
    int twins = m->materials.fatDepth > 0 ? 2 : 1;
    result = result == jn_ok ? Sort(v, m, &anatomy, kinds, twins, middles, error) : result;
    if (result == jn_ok && twins == 2) {
        result = FindFat(v, (const double(*)[3])middles, m->materials.fatDepth, error);
    }
    jnaDestroyAnatomy(&anatomy);
    free(kinds);
    free(middles);
    return result;
}
