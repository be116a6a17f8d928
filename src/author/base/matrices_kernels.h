// The functions of matrices.h for each instruction set, from matrices_body.h.
#pragma once

#include "base/matrices.h"

typedef struct jnaMatrixKernels {
    bool (*multiplyFloats)(float scale, const jnaFloats* left, const jnaFloats* right, float* out, int stride);
    bool (*multiplyDoubles)(int size, double scale, const double* left, const double* right, double* out);
    jnResult (*findEigenvectors)(int size, double* matrix, double* values);
} jnaMatrixKernels;

#ifdef __cplusplus
extern "C" {
#endif
extern const jnaMatrixKernels jnaMatricesBaseline, jnaMatricesAvx2;
#ifdef __cplusplus
}
#endif
