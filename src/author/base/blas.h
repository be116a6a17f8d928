// OpenBLAS, which works below CHOLMOD and ARPACK.
#pragma once

/// Its threads: one, for all others are ours. Call it before work that goes through it.
void jnaUseOneBlasThread(void);

/// The kernels that OpenBLAS should use but does not: a version that is older than the processor takes its slowest,
/// and a factor costs five to ten times as much. A value for OPENBLAS_CORETYPE; NULL where it chose well.
const char* jnaBetterBlas(void);
