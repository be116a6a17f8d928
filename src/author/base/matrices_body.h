// Dense matrices by Eigen. Compiled once per instruction set, each with a name of its own for Eigen's namespace: else
// the linker would take one copy of a template for all, and it may be one that the machine cannot run.
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY

#include "base/matrices_kernels.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <new>

namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Columns = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;

template <class Left, class Right>
void multiply(float scale, const jnaFloats* left, const jnaFloats* right, float* out, int stride)
{
    Eigen::Map<const Left, 0, Stride> a(left->entries, left->rows, left->columns, Stride(left->stride));
    Eigen::Map<const Right, 0, Stride> b(right->entries, right->rows, right->columns, Stride(right->stride));
    Eigen::Map<Rows, 0, Stride> c(out, left->rows, right->columns, Stride(stride));
    c.noalias() = scale * (a * b);
}

bool multiplyFloats(float scale, const jnaFloats* left, const jnaFloats* right, float* out, int stride)
{
    try {
        if (left->transposed && right->transposed) {
            multiply<Columns, Columns>(scale, left, right, out, stride);
        } else if (left->transposed) {
            multiply<Columns, Rows>(scale, left, right, out, stride);
        } else if (right->transposed) {
            multiply<Rows, Columns>(scale, left, right, out, stride);
        } else {
            multiply<Rows, Rows>(scale, left, right, out, stride);
        }
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

bool multiplyDoubles(int size, double scale, const double* left, const double* right, double* out)
{
    try {
        Eigen::Map<const Square> a(left, size, size), b(right, size, size);
        Eigen::Map<Square>(out, size, size).noalias() = scale * (a * b);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

jnResult findEigenvectors(int size, double* matrix, double* values)
{
    try {
        Eigen::Map<Eigen::MatrixXd> map(matrix, size, size); // symmetric: by columns is by rows
        if (!map.allFinite()) {
            return jn_badData;
        }
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(map);
        if (solver.info() != Eigen::Success) {
            return jn_badData;
        }
        Eigen::Map<Eigen::VectorXd>(values, size) = solver.eigenvalues();
        map = solver.eigenvectors(); // columns by columns: rows for us
        return jn_ok;
    } catch (const std::bad_alloc&) {
        return jn_outOfMemory;
    }
}

} // namespace
