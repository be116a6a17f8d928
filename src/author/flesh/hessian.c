// The Hessian of a patch of tetrahedra, as it is or with negative eigenvalues taken away.
//
// With c = dE/dJ and b = mu, or mu + lambda where the guard acts, see elements.h, a tetrahedron's own part is that
// of an energy of its stretches alone, and the patch adds the dyad of ds/dx, which is never negative. For F = U diag(s)
// V^T the own part, d2psi/dF2, falls apart in the frame of U and V into a 3 x 3 block that couples the stretches and
// three pairs of eigenvalues that turn or shear two axes (the clamp of robust quasistatics and the analytic eigensystem
// are the same thing):
//
//   stretch  A_ii = mu + b (s_j s_k)^2      A_ij = b s_i s_j s_k^2 + c s_k
//   shear    mu - c s_k  on (u_i v_j^T + u_j v_i^T) / sqrt 2
//   turn     mu + c s_k  on (u_i v_j^T - u_j v_i^T) / sqrt 2
//
// Nothing is divided by, so equal, zero and negative stretches need no care.
#include "flesh/elements.h"

#include "base/affine.h"

#include <math.h>
#include <string.h>

// The deformation gradient of one element, row-major.
static void ElementDeformation(const jnaElementBlock* block, int lane, const double* positions, double deformation[9])
{
    const double* origin = positions + 4 * (size_t)block->corners[0][lane];
    memset(deformation, 0, 9 * sizeof(double));
    for (int k = 0; k < 3; ++k) {
        const double* corner = positions + 4 * (size_t)block->corners[k + 1][lane];
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 3; ++c) {
                deformation[3 * r + c] += (corner[r] - origin[r]) * block->inverse[3 * k + c][lane];
            }
        }
    }
}

// Turns rows p and q of the symmetric matrix a so that a[p][q] becomes 0, and the columns of v along.
static void TurnAxes(double a[3][3], double v[3][3], int p, int q)
{
    if (a[p][q] == 0) {
        return;
    }
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; ++k) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; ++k) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
        x = v[k][p];
        y = v[k][q];
        v[k][p] = c * x - s * y;
        v[k][q] = s * x + c * y;
    }
}

// Eigenvectors of a symmetric 3 x 3 matrix in the columns of v, eigenvalues on the diagonal of a, by Jacobi's method.
static void Diagonalize(double a[3][3], double v[3][3])
{
    enum { SWEEPS = 12 }; // it converges quadratically; five are enough
    memset(v, 0, 9 * sizeof(double));
    v[0][0] = v[1][1] = v[2][2] = 1;
    for (int i = 0; i < SWEEPS; ++i) {
        TurnAxes(a, v, 0, 1);
        TurnAxes(a, v, 0, 2);
        TurnAxes(a, v, 1, 2);
    }
}

// F = U diag(s) V^T with U and V rotations; the sign of det F goes to the least stretch. Columns.
static void Decompose(const double f[9], double u[3][3], double s[3], double v[3][3])
{
    double squares[3][3], vectors[3][3];
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            squares[i][k] = f[i] * f[k] + f[3 + i] * f[3 + k] + f[6 + i] * f[6 + k];
        }
    }
    Diagonalize(squares, vectors);
    int order[3] = {0, 1, 2}; // largest first
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2 - i; ++k) {
            if (squares[order[k]][order[k]] < squares[order[k + 1]][order[k + 1]]) {
                int swap = order[k];
                order[k] = order[k + 1];
                order[k + 1] = swap;
            }
        }
    }
    double axes[3][3], sides[3][3]; // rows: v_i and u_i
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 3; ++k) {
            axes[i][k] = vectors[k][order[i]];
        }
    }
    jnaCross(axes[0], axes[1], axes[2]);
    for (int i = 0; i < 3; ++i) {
        for (int r = 0; r < 3; ++r) {
            sides[i][r] = jnaDot(f + 3 * r, axes[i]);
        }
    }
    // u_0 and u_1 from F v, made orthonormal; where F is flat there, any direction across serves.
    if (!(jnaNormalize(sides[0]) > 0)) {
        memcpy(sides[0], (double[3]){1, 0, 0}, sizeof(sides[0]));
    }
    double along = jnaDot(sides[0], sides[1]);
    for (int r = 0; r < 3; ++r) {
        sides[1][r] -= along * sides[0][r];
    }
    if (!(jnaNormalize(sides[1]) > 0)) {
        double across[3] = {fabs(sides[0][0]) < 0.6, fabs(sides[0][0]) >= 0.6, 0};
        jnaCross(sides[0], across, sides[1]);
        jnaNormalize(sides[1]);
    }
    jnaCross(sides[0], sides[1], sides[2]);
    for (int i = 0; i < 3; ++i) {
        double image[3];
        for (int r = 0; r < 3; ++r) {
            image[r] = jnaDot(f + 3 * r, axes[i]);
            u[r][i] = sides[i][r];
            v[r][i] = axes[i][r];
        }
        s[i] = jnaDot(sides[i], image);
    }
}

// Adds value * m m^T, m a 3 x 3 matrix as a vector of 9.
static void AddDyad(double value, double m[9], double hessian[9][9])
{
    for (int i = 0; i < 9; ++i) {
        for (int k = 0; k < 9; ++k) {
            hessian[i][k] += value * m[i] * m[k];
        }
    }
}

static void Dyad(double u[3][3], int i, double v[3][3], int k, double scale, double m[9])
{
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            m[3 * r + c] += scale * u[r][i] * v[c][k];
        }
    }
}

// What a tetrahedron's own part is made of.
typedef struct Own {
    double shear;    // V mu (1 + b D)
    double added;    // 2 V mu b, or 0 where D is
    double bulk;     // b of the equations above
    double pressure; // c
} Own;

static void ProjectedHessian(const Own* own, const double f[9], double hessian[9][9])
{
    double u[3][3], v[3][3], s[3], block[3][3], axes[3][3], shear = own->shear, bulk = own->bulk,
                                                            pressure = own->pressure;
    Decompose(f, u, s, v);
    for (int k = 0; k < 3; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double distorts = s[k] - s[i] * s[j];
        block[k][k] = shear + bulk * s[i] * s[i] * s[j] * s[j] + own->added * distorts * distorts;
        block[i][j] = block[j][i] = bulk * s[i] * s[j] * s[k] * s[k] + pressure * s[k] +
                                    own->added * (s[i] - s[j] * s[k]) * (s[j] - s[i] * s[k]);
        double sheared[9] = {0}, turned[9] = {0};
        Dyad(u, i, v, j, sqrt(0.5), sheared);
        Dyad(u, j, v, i, sqrt(0.5), sheared);
        Dyad(u, i, v, j, sqrt(0.5), turned);
        Dyad(u, j, v, i, -sqrt(0.5), turned);
        AddDyad(fmax(shear - pressure * s[k], 0), sheared, hessian);
        AddDyad(fmax(shear + pressure * s[k], 0), turned, hessian);
    }
    Diagonalize(block, axes);
    for (int e = 0; e < 3; ++e) {
        double stretched[9] = {0};
        for (int i = 0; i < 3; ++i) {
            Dyad(u, i, v, i, axes[i][e], stretched);
        }
        AddDyad(fmax(block[e][e], 0), stretched, hessian);
    }
}

// cof F, row-major; returns det F.
static double Cofactor(const double f[9], double cofactor[9])
{
    for (int c = 0; c < 3; ++c) {
        int a = (c + 1) % 3, b = (c + 2) % 3;
        for (int r = 0; r < 3; ++r) {
            int i = (r + 1) % 3, k = (r + 2) % 3;
            cofactor[3 * r + c] = f[3 * i + a] * f[3 * k + b] - f[3 * k + a] * f[3 * i + b];
        }
    }
    return f[0] * cofactor[0] + f[3] * cofactor[3] + f[6] * cofactor[6];
}

static void PlainHessian(const Own* own, const double f[9], double hessian[9][9])
{
    double cofactor[9], distorts[9];
    Cofactor(f, cofactor);
    AddDyad(own->bulk, cofactor, hessian);
    for (int i = 0; i < 9; ++i) {
        hessian[i][i] += own->shear;
        distorts[i] = f[i] - cofactor[i];
    }
    AddDyad(own->added, distorts, hessian);
    // d cof_rc / dF_ik = eps_rim eps_ckn F_mn
    for (int r = 0; r < 3; ++r) {
        for (int i = 0; i < 3; ++i) {
            if (r == i) {
                continue;
            }
            int m = 3 - r - i, signRow = (i == (r + 1) % 3) ? 1 : -1;
            for (int c = 0; c < 3; ++c) {
                for (int k = 0; k < 3; ++k) {
                    if (c != k) {
                        int n = 3 - c - k, sign = signRow * ((k == (c + 1) % 3) ? 1 : -1);
                        hessian[3 * r + c][3 * i + k] += own->pressure * sign * f[3 * m + n];
                    }
                }
            }
        }
    }
}

static double SumOfSquares(const double f[9])
{
    double sum = 0;
    for (int i = 0; i < 9; ++i) {
        sum += f[i] * f[i];
    }
    return sum;
}

static void Hats(const jnaElementBlock* block, int lane, double hats[4][3])
{
    for (int c = 0; c < 3; ++c) {
        hats[0][c] = 0;
        for (int k = 0; k < 3; ++k) {
            hats[k + 1][c] = block->inverse[3 * k + c][lane];
            hats[0][c] -= hats[k + 1][c];
        }
    }
}

// Adds a tetrahedron's own part to the rows of its corners.
static void AddElement(
    double byStrain[9][9], double hats[4][3], const uint8_t corners[4], double hessian[JNA_PATCH_ROWS][JNA_PATCH_ROWS])
{
    // dF_rc = sum over corners of dx_r * hat_c: contract one side, then the other.
    double half[9][12];
    for (int a = 0; a < 9; ++a) {
        for (int n = 0; n < 4; ++n) {
            for (int r = 0; r < 3; ++r) {
                half[a][3 * n + r] = byStrain[a][3 * r] * hats[n][0] + byStrain[a][3 * r + 1] * hats[n][1] +
                                     byStrain[a][3 * r + 2] * hats[n][2];
            }
        }
    }
    for (int n = 0; n < 4; ++n) {
        for (int r = 0; r < 3; ++r) {
            for (int b = 0; b < 12; ++b) {
                hessian[3 * corners[n] + r][3 * corners[b / 3] + b % 3] +=
                    half[3 * r][b] * hats[n][0] + half[3 * r + 1][b] * hats[n][1] + half[3 * r + 2][b] * hats[n][2];
            }
        }
    }
}

int jnaElementBlock_Nodes(
    const jnaElementBlock* block, int32_t nodes[JNA_PATCH_NODES], uint8_t corners[JNA_ELEMENT_LANES][4])
{
    int count = 0;
    for (int i = 0; i < 4 * JNA_ELEMENT_LANES; ++i) {
        int32_t node = block->corners[i % 4][i / 4];
        int place = 0;
        while (place < count && nodes[place] != node) {
            ++place;
        }
        nodes[place] = node;
        count += place == count;
        corners[i / 4][i % 4] = (uint8_t)place;
    }
    return count;
}

int jnaPatchHessian(const jnaElementBlock* block, const double* positions, bool project, int32_t nodes[JNA_PATCH_NODES],
    double hessian[JNA_PATCH_ROWS][JNA_PATCH_ROWS])
{
    uint8_t corners[JNA_ELEMENT_LANES][4];
    int count = jnaElementBlock_Nodes(block, nodes, corners);
    double f[JNA_ELEMENT_LANES][9], cofactor[JNA_ELEMENT_LANES][9], growth[JNA_ELEMENT_LANES], sum = 0;
    for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
        ElementDeformation(block, lane, positions, f[lane]);
        growth[lane] = Cofactor(f[lane], cofactor[lane]) - 1;
        sum += block->volumetric[lane] * growth[lane];
    }
    memset(hessian, 0, JNA_PATCH_ROWS * sizeof(*hessian));
    double slope[JNA_PATCH_ROWS] = {0}; // ds/dx
    for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
        double shear = block->shear[lane], weight = block->volumetric[lane], hats[4][3], byStrain[9][9] = {{0}};
        if (!(shear > 0)) {
            continue; // a lane left over
        }
        Hats(block, lane, hats);
        double guard = block->guard[lane], lack = fmax(JNA_GUARD_VOLUME - 1 - growth[lane], 0);
        double distortion = fmax(SumOfSquares(f[lane]) - 3 - 2 * growth[lane], 0), stiffens = block->stiffening[lane];
        const Own own = {.shear = shear + stiffens * distortion,
            .added = distortion > 0 ? 2 * stiffens : 0,
            .bulk = shear + (lack > 0 ? guard : 0),
            .pressure = shear * (growth[lane] - 1) - stiffens * distortion + weight * sum - guard * lack};
        (project ? ProjectedHessian : PlainHessian)(&own, f[lane], byStrain);
        AddElement(byStrain, hats, corners[lane], hessian);
        for (int i = 0; i < 12; ++i) {
            slope[3 * corners[lane][i / 3] + i % 3] += weight * jnaDot(cofactor[lane] + 3 * (i % 3), hats[i / 3]);
        }
    }
    for (int i = 0; i < 3 * count; ++i) {
        for (int k = 0; k < 3 * count; ++k) {
            hessian[i][k] += slope[i] * slope[k];
        }
    }
    return count;
}
