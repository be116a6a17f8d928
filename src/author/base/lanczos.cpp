// Spectra's Lanczos behind a C function; see lanczos.h.
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY

#include "base/lanczos.h"

#include <Spectra/SymEigsSolver.h>
#include <new>
#include <stdexcept>

namespace {

struct Stopped {
    jnResult result;
};

// What Spectra asks of a matrix.
struct Operator {
    using Scalar = double;
    const jnaLanczosDef* def;

    Eigen::Index rows() const
    {
        return def->size;
    }

    Eigen::Index cols() const
    {
        return def->size;
    }

    void perform_op(const double* in, double* out) const
    {
        jnResult result = def->multiply(def->user, in, out);
        if (result != jn_ok) {
            throw Stopped{result};
        }
    }
};

} // namespace

jnResult jnaFindLargest(const jnaLanczosDef* def, double* values, double* vectors)
{
    try {
        Operator matrix{def};
        Spectra::SymEigsSolver<Operator> solver(matrix, def->count, def->basis);
        solver.init(def->start);
        Eigen::Index found = solver.compute(Spectra::SortRule::LargestAlge, def->mostRestarts, def->tolerance);
        if (solver.info() != Spectra::CompInfo::Successful || found < def->count) {
            return jn_badData;
        }
        Eigen::Map<Eigen::VectorXd>(values, def->count) = solver.eigenvalues();
        Eigen::Map<Eigen::MatrixXd>(vectors, def->size, def->count) = solver.eigenvectors();
        return jn_ok;
    } catch (const Stopped& stopped) {
        return stopped.result;
    } catch (const std::bad_alloc&) {
        return jn_outOfMemory;
    } catch (const std::exception&) { // a factorisation of its own that met what is not a number
        return jn_badData;
    }
}
