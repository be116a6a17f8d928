// Displacements through the skin; see skin_frame.h.
#include "character/skin_frame.h"

#include "base/affine.h"

#include <math.h>
#include <string.h>

// Of the mean square of the singular values.
#define DAMPING 1e-3

void jnaToSkinMatrices(const jnaCharacter* c, float* matrices)
{
    for (int j = 0; j < c->jointCount; ++j) {
        jnaAffine global = jnaAffine_FromFloats(matrices + 12 * (size_t)j);
        jnaAffine bind = jnaAffine_FromFloats(c->joints[j].inverseBind), m = jnaAffine_Multiply(&global, &bind);
        for (size_t i = 0; i < 12; ++i) {
            matrices[12 * (size_t)j + i] = (float)m.m[i];
        }
    }
}

void jnaSkinFrame(const jnaCharacter* c, const float* matrices, int vertex, float frame[9], float place[3])
{
    const jnaInfluences* in = &c->influences[vertex];
    const float* rest = c->positions + 3 * (size_t)vertex;
    double blended[12] = {0};
    for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0.0f; ++k) {
        for (size_t i = 0; i < 12; ++i) {
            blended[i] += (double)in->weights[k] * (double)matrices[12 * (size_t)in->joints[k] + i];
        }
    }
    for (int i = 0; i < 9; ++i) {
        frame[i] = (float)blended[4 * (i / 3) + i % 3];
    }
    for (int i = 0; place != NULL && i < 3; ++i) {
        const double* row = blended + 4 * i;
        place[i] = (float)(row[0] * (double)rest[0] + row[1] * (double)rest[1] + row[2] * (double)rest[2] + row[3]);
    }
}

// Inverse of A^T A + penalty, 00 01 02 11 12 22.
static void InvertNormal(const float frame[9], double inverse[6])
{
    static const int rows[6] = {0, 0, 0, 1, 1, 2}, columns[6] = {0, 1, 2, 1, 2, 2};
    double n[6] = {0};
    for (int k = 0; k < 18; ++k) {
        n[k % 6] += (double)frame[3 * (k / 6) + rows[k % 6]] * (double)frame[3 * (k / 6) + columns[k % 6]];
    }
    double penalty = DAMPING * fmax((n[0] + n[3] + n[5]) / 3, 1e-12);
    n[0] += penalty;
    n[3] += penalty;
    n[5] += penalty;
    const double c[6] = {n[3] * n[5] - n[4] * n[4], n[2] * n[4] - n[1] * n[5], n[1] * n[4] - n[2] * n[3],
        n[0] * n[5] - n[2] * n[2], n[1] * n[2] - n[0] * n[4], n[0] * n[3] - n[1] * n[1]};
    double determinant = n[0] * c[0] + n[1] * c[1] + n[2] * c[2];
    for (int k = 0; k < 6; ++k) {
        inverse[k] = c[k] / determinant;
    }
}

// What is left is solved for again, so that the penalty takes away from singular directions alone.
double jnaSolveFrame(const float frame[9], const float offset[3], float d[3])
{
    enum { ROUNDS = 3 };
    static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double inverse[6], left[3] = {(double)offset[0], (double)offset[1], (double)offset[2]}, sum[3] = {0};
    InvertNormal(frame, inverse);
    for (int round = 0; round < ROUNDS; ++round) {
        double right[3] = {0}, step[3] = {0};
        for (int k = 0; k < 9; ++k) {
            right[k % 3] += (double)frame[k] * left[k / 3];
        }
        for (int k = 0; k < 9; ++k) {
            step[k / 3] += inverse[place[k]] * right[k % 3];
        }
        for (int k = 0; k < 9; ++k) {
            left[k / 3] -= (double)frame[k] * step[k % 3];
            sum[k / 3] += k % 3 == 0 ? step[k / 3] : 0;
        }
    }
    for (int i = 0; i < 3; ++i) {
        d[i] = (float)sum[i];
    }
    return left[0] * left[0] + left[1] * left[1] + left[2] * left[2];
}
