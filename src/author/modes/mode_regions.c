// Which regions of the body a mode lives in: the fraction of its strain energy in each.
//
// To first order a mode's stiffness follows that of the flesh by these fractions. With K = sum over patches p of K_p
// and a shape phi of unit modal mass, flesh of region r that is f_r times as stiff makes
//     omega^2' = omega^2 sum over r of e_r f_r        e_r = sum over patches of r of phi . K_p phi / sum over all
//     patches
// as long as the shape stays as it is.
#include "base/arena.h"
#include "base/try.h"
#include "flesh/elements.h"
#include "modes/modes_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// The joint that moves a tetrahedron most, by the weights of its corners.
static int JointOf(const jnaVolume* v, const int32_t corners[4])
{
    int best = 0;
    double most = -1;
    for (int i = v->rowStarts[corners[0]]; i < v->rowStarts[corners[0] + 1]; ++i) {
        double sum = 0;
        for (int c = 0; c < 4; ++c) {
            for (int k = v->rowStarts[corners[c]]; k < v->rowStarts[corners[c] + 1]; ++k) {
                sum += v->joints[k] == v->joints[i] ? (double)v->weights[k] : 0;
            }
        }
        if (sum > most) {
            most = sum;
            best = v->joints[i];
        }
    }
    return best;
}

// The region of a patch: that of the middle of its first tetrahedron at rest.
static jnaRegion RegionOf(const jnaVolume* v, const jnaAnatomy* anatomy, const jnaElementBlock* block)
{
    int32_t corners[4];
    double middle[3] = {0};
    for (int c = 0; c < 4; ++c) {
        corners[c] = block->corners[c][0];
        for (int a = 0; a < 3; ++a) {
            middle[a] += v->nodes[3 * (size_t)corners[c] + (size_t)a] / 4;
        }
    }
    return jnaAnatomy_Region(anatomy, JointOf(v, corners), middle);
}

// phi . K_p phi of a patch.
static double EnergyOf(const jnaNodeModes* f, int mode, const int32_t nodes[JNA_PATCH_NODES], int count,
    double local[JNA_PATCH_ROWS][JNA_PATCH_ROWS])
{
    double shape[JNA_PATCH_ROWS] = {0}, energy = 0;
    for (int i = 0; i < count; ++i) {
        int place = f->places[nodes[i]];
        if (place >= 0) {
            memcpy(shape + 3 * i, f->shapes + (size_t)mode * f->numbers + 3 * (size_t)place, 3 * sizeof(double));
        }
    }
    for (int i = 0; i < 3 * count; ++i) {
        double row = 0;
        for (int k = 0; k < 3 * count; ++k) {
            row += local[i][k] * shape[k];
        }
        energy += shape[i] * row;
    }
    return energy;
}

// Rows of sum 1. Flesh under pressure may have a little below 0.
static void Normalise(int count, double* regions)
{
    for (int k = 0; k < count; ++k) {
        double *row = regions + (size_t)k * JNA_REGIONS, sum = 0;
        for (int r = 0; r < JNA_REGIONS; ++r) {
            row[r] = fmax(row[r], 0);
            sum += row[r];
        }
        for (int r = 0; r < JNA_REGIONS; ++r) {
            row[r] = sum > 0 ? row[r] / sum : 0;
        }
    }
}

jnResult jnaFindModeRegions(const jnaVolume* v, const jnaCharacter* c, const double* nodes, const jnaNodeModes* f,
    double* regions, jnError* error)
{
    jnaElements elements = {0};
    jnaAnatomy anatomy = {0};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double* positions = jnaArena_Take(&arena, v->nodeCount, 4 * sizeof(double));
    memset(regions, 0, (size_t)f->count * JNA_REGIONS * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the regions of modes", error));
    JN_TRY(jnaFindAnatomy(c, v, &anatomy, error));
    JN_TRY(jnaCreateVolumeElements(v, NULL, &elements, error));
    const double* at = nodes != NULL ? nodes : v->nodes;
    for (size_t i = 0; i < 3 * (size_t)v->nodeCount; ++i) {
        positions[4 * (i / 3) + i % 3] = at[i];
    }
    for (int b = 0; b < elements.blockCount; ++b) {
        int32_t own[JNA_PATCH_NODES];
        double local[JNA_PATCH_ROWS][JNA_PATCH_ROWS];
        int count = jnaPatchHessian(&elements.blocks[b], positions, false, own, local);
        jnaRegion region = RegionOf(v, &anatomy, &elements.blocks[b]);
        for (int k = 0; k < f->count; ++k) {
            regions[(size_t)k * JNA_REGIONS + (size_t)region] += EnergyOf(f, k, own, count, local);
        }
    }
    Normalise(f->count, regions);
done:
    jnaDestroyElements(&elements);
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&arena);
    return result;
}
