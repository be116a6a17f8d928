// The factor of a Laplacian, for those who solve with it in their own way.
#pragma once

#include "volume/laplacian.h"

#include "base/cholesky.h"

// The factor, order included, and the node of every free row [size] before it was ordered.
const jnaCholesky* jnaLaplacian_Cholesky(const jnaLaplacian* laplacian);
void jnaLaplacian_FreeNodes(const jnaLaplacian* laplacian, int32_t* nodes);
