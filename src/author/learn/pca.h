// Principal components of rows of floats.
#pragma once

#include "jounce/base.h"

typedef enum jnaPcaMethod {
    jna_pcaCheaper, // by the count of operations
    jna_pcaGram,    // exact: eigenvectors of the rows' products
    jna_pcaRandomised,
} jnaPcaMethod;

typedef struct jnaPcaDef {
    const float* rows; // [..][size]
    const int* which;  // [count], the rows that count
    int count;
    size_t size;
    int most;        // components wanted at most
    double residual; // fewer, once they leave out less than this share of the rows' root mean square
    jnaPcaMethod method;
} jnaPcaDef;

typedef struct jnaPca {
    int count;
    float* mean;    // [size]
    float* basis;   // [count][size], orthonormal, the strongest first
    double* spread; // [count], sum over the rows of the squared coefficient
    double total;   // sum over the rows of the squared distance from the mean
} jnaPca;

jnResult jnaFindComponents(const jnaPcaDef* def, jnaPca* pca, jnError* error);
void jnaDestroyPca(jnaPca* pca);

/// Turns the basis within its span so that each field is large in few places and 0 elsewhere (quartimax over vertices
/// of three numbers each). The basis stays orthonormal; fields are then of a part of the body, not of all of it:
/// cheaper to store and easier to learn. False if memory is short.
bool jnaPca_Localise(jnaPca* pca, size_t size);

/// Coefficients of a row: basis . (row - mean). out: [count]
void jnaPca_Project(const jnaPca* pca, size_t size, const float* row, double* out);
