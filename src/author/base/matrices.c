// Chooses among the instruction sets of this machine; see matrices.h.
#include "base/matrices.h"

#include "base/matrices_kernels.h"

#include "runtime/for_author.h"

static const jnaMatrixKernels* Choose(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return &jnaMatricesAvx2;
    }
#endif
    return &jnaMatricesBaseline;
}

bool jnaMultiplyFloats(float scale, jnaFloats left, jnaFloats right, float* out, int stride)
{
    JN_ASSERT(left.columns == right.rows);
    return Choose()->multiplyFloats(scale, &left, &right, out, stride);
}

bool jnaMultiplyDoubles(int size, double scale, const double* left, const double* right, double* out)
{
    return Choose()->multiplyDoubles(size, scale, left, right, out);
}

jnResult jnaFindEigenvectors(int size, double* matrix, double* values)
{
    return Choose()->findEigenvectors(size, matrix, values);
}
