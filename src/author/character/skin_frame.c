// Displacements through the skin; see skin_frame.h.
#include "character/skin_frame.h"

#include "base/affine.h"
#include "runtime/for_author.h"

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

void jnaBlendTurn(const float heaviest[4], const float turn[4], double weight, double blended[4])
{
    double cosine = 0.0;
    for (int i = 0; i < 4; ++i) {
        cosine += (double)heaviest[i] * (double)turn[i];
    }
    for (int i = 0; i < 4; ++i) {
        blended[i] += (cosine < 0.0 ? -weight : weight) * (double)turn[i];
    }
}

void jnaTurnFrame(const double q[4], float frame[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3], n = 2.0 / fmax(x * x + y * y + z * z + w * w, 1e-300);
    const double r[9] = {1 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w), //
        n * (x * y + z * w), 1 - n * (x * x + z * z), n * (y * z - x * w),                  //
        n * (x * z - y * w), n * (y * z + x * w), 1 - n * (x * x + y * y)};
    float before[9];
    memcpy(before, frame, sizeof(before));
    for (int i = 0; i < 9; ++i) {
        const double* row = r + 3 * (i / 3);
        frame[i] = (float)(row[0] * (double)before[i % 3] + row[1] * (double)before[3 + i % 3] +
                           row[2] * (double)before[6 + i % 3]);
    }
}

// Where a blended dual quaternion moves the origin to: 2 (w d - e r + r x d) over the square of its length.
static void FindMove(const double q[8], double move[3])
{
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (int i = 0; i < 3; ++i) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        double cross = q[a] * q[4 + b] - q[b] * q[4 + a];
        move[i] = 2.0 * (q[3] * q[4 + i] - q[7] * q[i] + cross) / fmax(square, 1e-300);
    }
}

void jnaDualFrame(const jnaCharacter* c, const float* matrices, int vertex, float frame[9], float place[3])
{
    const jnaInfluences* in = &c->influences[vertex];
    const float* rest = c->positions + 3 * (size_t)vertex;
    double blended[8] = {0}, move[3];
    float heaviest[JN_DUAL_SIZE] = {0};
    memset(frame, 0, 9 * sizeof(float));
    for (int k = 0; k < JNA_MAX_INFLUENCES && in->weights[k] > 0.0f; ++k) { // the heaviest comes first
        double matrix[12], rotation[4] = {0}, weight = (double)in->weights[k];
        float dual[JN_DUAL_SIZE], stretch[JN_PALETTE_SIZE];
        for (size_t i = 0; i < 12; ++i) {
            matrix[i] = (double)matrices[12 * (size_t)in->joints[k] + i];
        }
        (void)jnMakeDual(matrix, dual, stretch);
        memcpy(heaviest, k == 0 ? dual : heaviest, sizeof(dual));
        jnaBlendTurn(heaviest, dual, 1.0, rotation);
        double sign = rotation[0] * (double)dual[0] + rotation[1] * (double)dual[1] + rotation[2] * (double)dual[2] +
                      rotation[3] * (double)dual[3];
        for (size_t i = 0; i < JN_DUAL_SIZE; ++i) {
            blended[i] += (sign < 0.0 ? -weight : weight) * (double)dual[i];
        }
        for (size_t i = 0; i < 9; ++i) {
            frame[i] += in->weights[k] * stretch[4 * (i / 3) + i % 3];
        }
    }
    jnaTurnFrame(blended, frame);
    FindMove(blended, move);
    for (int i = 0; place != NULL && i < 3; ++i) {
        place[i] = frame[3 * i] * rest[0] + frame[3 * i + 1] * rest[1] + frame[3 * i + 2] * rest[2] + (float)move[i];
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
