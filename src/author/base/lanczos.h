// The largest eigenvalues of a symmetric matrix that is known by its products alone: Lanczos with restarts, by Spectra.
#pragma once

#include "jounce/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// out = A in. Returns what is not jn_ok to stop the search.
typedef jnResult jnaLanczosProduct(void* user, const double* in, double* out);

typedef struct jnaLanczosDef {
    int size, count; // of the matrix; eigenvalues wanted
    int basis;       // vectors kept between restarts: more than count, at most size
    int mostRestarts;
    double tolerance;    // relative accuracy of the eigenvalues
    const double* start; // [size], not 0
    jnaLanczosProduct* multiply;
    void* user;
} jnaLanczosDef;

/// values: [count], the largest first; vectors: [count][size], of length 1. jn_badData: not all of them were found.
/// What the product returned is returned. The same start gives the same bytes.
jnResult jnaFindLargest(const jnaLanczosDef* def, double* values, double* vectors);

#ifdef __cplusplus
}
#endif
