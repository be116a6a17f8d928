// The factor of a Laplacian, for those who solve with it in their own way.
#pragma once

#include "jounce-author/laplacian.h"

#include <suitesparse/cholmod.h>

// The supernodal factor, permutation included, and the node of every free row [factor->n] before the permutation.
const cholmod_factor* jnaLaplacian_Cholesky(const jnaLaplacian* laplacian);
void jnaLaplacian_FreeNodes(const jnaLaplacian* laplacian, int32_t* nodes);
