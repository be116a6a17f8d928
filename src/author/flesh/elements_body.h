// The body of the element kernels; see elements.h. Compiled once per instruction set, without contraction to fused
// operations, so that all give the same bytes. Long functions: one element's whole chain stays in registers.
#include "flesh/elements.h"

#include <string.h>

typedef double Lanes __attribute__((vector_size(8 * JNA_ELEMENT_LANES)));
typedef int64_t LaneMask __attribute__((vector_size(8 * JNA_ELEMENT_LANES)));

static inline Lanes LoadLanes(const double* from)
{
    Lanes v;
    memcpy(&v, from, sizeof(v));
    return v;
}

static inline void StoreLanes(double* to, Lanes v)
{
    memcpy(to, &v, sizeof(v));
}

static inline Lanes AbsoluteLanes(Lanes v)
{
    return (Lanes)((LaneMask)v & (int64_t)0x7fffffffffffffff);
}

// The sum of the four in every lane; the same order in each but for swapped operands, so the same bytes.
static inline Lanes SumOverLanes(Lanes v)
{
    Lanes pairs = v + __builtin_shufflevector(v, v, 1, 0, 3, 2);
    return pairs + __builtin_shufflevector(pairs, pairs, 2, 3, 0, 1);
}

// Rows to columns; its own inverse.
static inline void Transpose(Lanes m[4])
{
    Lanes a = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6), b = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7);
    Lanes c = __builtin_shufflevector(m[2], m[3], 0, 4, 2, 6), d = __builtin_shufflevector(m[2], m[3], 1, 5, 3, 7);
    m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    m[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    m[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// Corner c of the four elements: its x, y, z by lanes.
static inline void LoadCorner(const jnaElementBlock* block, int c, const double* positions, Lanes p[4])
{
    for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
        p[lane] = LoadLanes(positions + 4 * (size_t)block->corners[c][lane]);
    }
    Transpose(p);
}

// F = (edges) (inverse of the rest edges), f[row][column].
static inline void Deform(const jnaElementBlock* block, const double* positions, Lanes f[3][3])
{
    Lanes origin[4], edge[3][4];
    LoadCorner(block, 0, positions, origin);
    for (int k = 0; k < 3; ++k) {
        LoadCorner(block, k + 1, positions, edge[k]);
        for (int r = 0; r < 3; ++r) {
            edge[k][r] -= origin[r];
        }
    }
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            f[r][c] = edge[0][r] * LoadLanes(block->inverse[c]) + edge[1][r] * LoadLanes(block->inverse[3 + c]) +
                      edge[2][r] * LoadLanes(block->inverse[6 + c]);
        }
    }
}

// C = F^T F: xx, yy, zz, xy, xz, yz.
static inline void Strain(Lanes f[3][3], Lanes strain[6])
{
    static const int FIRST[6] = {0, 1, 2, 0, 0, 1}, SECOND[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; ++i) {
        int a = FIRST[i], b = SECOND[i];
        strain[i] = f[0][a] * f[0][b] + f[1][a] * f[1][b] + f[2][a] * f[2][b];
    }
}

// cof F: columns are cross products of the other two columns.
static inline void Cofactor(Lanes f[3][3], Lanes cofactor[3][3])
{
    for (int c = 0; c < 3; ++c) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        for (int r = 0; r < 3; ++r) {
            int i = (r + 1) % 3, k = (r + 2) % 3;
            cofactor[r][c] = f[i][a] * f[k][b] - f[k][a] * f[i][b];
        }
    }
}

// Adds the viscous stress F S to `stress` and returns its energy.
static inline Lanes AddDamping(
    Lanes f[3][3], const jnaElementStrain* old, Lanes shear, Lanes volumetric, double damping, Lanes stress[3][3])
{
    Lanes c[6];
    Strain(f, c);
    for (int i = 0; i < 6; ++i) {
        c[i] -= LoadLanes((*old)[i]);
    }
    // S = b/h (V mu dC + w/2 (sum of w tr(dC)) 1)
    Lanes trace = c[0] + c[1] + c[2];
    Lanes mu = shear * damping, half = volumetric * (0.5 * damping) * SumOverLanes(volumetric * trace);
    Lanes energy =
        mu * (0.25 * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + 0.5 * (c[3] * c[3] + c[4] * c[4] + c[5] * c[5])) +
        0.25 * half * trace;
    Lanes s[3][3] = {{mu * c[0] + half, mu * c[3], mu * c[4]}, {mu * c[3], mu * c[1] + half, mu * c[5]},
        {mu * c[4], mu * c[5], mu * c[2] + half}};
    for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 3; ++k) {
            stress[r][k] += f[r][0] * s[0][k] + f[r][1] * s[1][k] + f[r][2] * s[2][k];
        }
    }
    return energy;
}

// Adds four elements' vectors (by lanes in v[0..2]) to the nodes at their corner c.
static inline void Scatter(const jnaElementBlock* block, int c, Lanes v[4], double* to)
{
    Transpose(v);
    for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
        double* node = to + 4 * (size_t)block->corners[c][lane];
        StoreLanes(node, LoadLanes(node) + v[lane]);
    }
}

static inline void RunForces(jnaElementPass* pass, bool absolute, bool damped)
{
    const Lanes none = {0, 0, 0, 0};
    const jnaElements* elements = pass->elements;
    const double* positions = pass->positions;
    Lanes energy = none;
    LaneMask inverted = {0, 0, 0, 0};
    for (int n = 0; n < elements->blockCount; ++n) {
        const jnaElementBlock* block = &elements->blocks[n];
        Lanes f[3][3], cofactor[3][3], stress[3][3];
        Deform(block, positions, f);
        Cofactor(f, cofactor);
        Lanes shear = LoadLanes(block->shear), volumetric = LoadLanes(block->volumetric);
        Lanes j = f[0][0] * cofactor[0][0] + f[1][0] * cofactor[1][0] + f[2][0] * cofactor[2][0];
        Lanes growth = j - 1.0, square = none;
        Lanes shared = volumetric * SumOverLanes(volumetric * growth);
        Lanes lack = JNA_GUARD_VOLUME - j;
        lack = (Lanes)((LaneMask)lack & (LaneMask)(lack > 0.0));
        Lanes guard = LoadLanes(block->guard) * lack;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                square += f[r][c] * f[r][c];
            }
        }
        Lanes distortion = square - 3.0 - 2.0 * growth;
        distortion = (Lanes)((LaneMask)distortion & (LaneMask)(distortion > 0.0));
        Lanes added = LoadLanes(block->stiffening) * distortion, stiff = shear + added;
        Lanes pressure = shear * growth - stiff + shared - guard;
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                stress[r][c] = stiff * f[r][c] + pressure * cofactor[r][c];
            }
        }
        energy += 0.5 * shear * (square - 3.0) - shear * growth + 0.25 * added * distortion +
                  0.5 * ((shear * growth + shared) * growth + guard * lack);
        inverted += (LaneMask)(j <= 0.0) & (LaneMask)(shear > 0.0);
        if (damped) {
            energy += AddDamping(f, &pass->strains[n], shear, volumetric, pass->damping * block->damping, stress);
        }
        Lanes first[4] = {none, none, none, none};
        for (int k = 0; k < 3; ++k) {
            Lanes v[4] = {none, none, none, none}, size[4] = {none, none, none, none};
            for (int r = 0; r < 3; ++r) {
                v[r] = stress[r][0] * LoadLanes(block->inverse[3 * k]) +
                       stress[r][1] * LoadLanes(block->inverse[3 * k + 1]) +
                       stress[r][2] * LoadLanes(block->inverse[3 * k + 2]);
                first[r] -= v[r];
                size[r] = AbsoluteLanes(v[r]);
            }
            Scatter(block, k + 1, v, pass->gradient);
            if (absolute) {
                Scatter(block, k + 1, size, pass->absolute);
            }
        }
        Lanes size[4] = {AbsoluteLanes(first[0]), AbsoluteLanes(first[1]), AbsoluteLanes(first[2]), none};
        Scatter(block, 0, first, pass->gradient);
        if (absolute) {
            Scatter(block, 0, size, pass->absolute);
        }
    }
    pass->energy = (energy[0] + energy[1]) + (energy[2] + energy[3]);
    pass->invertedCount = -(int)(inverted[0] + inverted[1] + inverted[2] + inverted[3]);
}

static void AddForces(jnaElementPass* pass)
{
    if (pass->strains != NULL) {
        if (pass->absolute != NULL) {
            RunForces(pass, true, true);
        } else {
            RunForces(pass, false, true);
        }
    } else if (pass->absolute != NULL) {
        RunForces(pass, true, false);
    } else {
        RunForces(pass, false, false);
    }
}

static void MeasureStrains(const jnaElements* elements, const double* positions, jnaElementStrain* strains)
{
    for (int n = 0; n < elements->blockCount; ++n) {
        Lanes f[3][3], c[6];
        Deform(&elements->blocks[n], positions, f);
        Strain(f, c);
        for (int i = 0; i < 6; ++i) {
            StoreLanes(strains[n][i], c[i]);
        }
    }
}
