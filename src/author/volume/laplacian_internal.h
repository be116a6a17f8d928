// The factor of a Laplacian, for those who solve with it in their own way.
#pragma once

#include "volume/laplacian.h"

#include <suitesparse/cholmod.h>

// The supernodal factor, permutation included, and the node of every free row [factor->n] before the permutation.
const cholmod_factor* jnaLaplacian_Cholesky(const jnaLaplacian* laplacian);
void jnaLaplacian_FreeNodes(const jnaLaplacian* laplacian, int32_t* nodes);

// Orders and analyses a matrix, one caller at a time: METIS draws from the one rand() of the process, so that two at
// once find other orders than one alone, or crash.
cholmod_factor* jnaAnalyzeMatrix(cholmod_sparse* matrix, cholmod_common* common);
