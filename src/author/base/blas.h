// OpenBLAS, which works below CHOLMOD and ARPACK.
#pragma once

/// Its threads: one, for all others are ours. Call it before work that goes through it.
void jnaUseOneBlasThread(void);

/// Makes the buffers of `count` threads, 128 MiB each, which OpenBLAS keeps: where it finds no room for one it would
/// try again for ever. Returns how many there was room for. Before anything goes through it.
int jnaReserveBlas(int count);

/// Address space that a thread's buffer takes, bytes.
#define JNA_BLAS_BUFFER ((size_t)144 << 20)

/// The kernels that OpenBLAS should use but does not: a version that is older than the processor takes its slowest,
/// and a factor costs five to ten times as much. A value for OPENBLAS_CORETYPE; NULL where it chose well.
const char* jnaBetterBlas(void);
