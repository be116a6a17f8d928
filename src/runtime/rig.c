// Poses: local joint transforms to global ones, and the closest rotation of a matrix.
//
// All in double: there are only dozens of joints, and a character may stand far from the origin.
#include "rig.h"

#include <math.h>
#include <string.h>

// Newton's iteration for the closest rotation doubles its digits each time; this many serve any sane matrix.
enum { POLAR_STEPS = 24 };
#define POLAR_TOLERANCE 1e-5 // of a step; what is left is half its square, far below a float
// Beyond these sizes of the numbers of a joint, in all, a pose is none: the fourth power of a place, which a normal's
// length has before its root is taken, is still a float, and so is an acceleration over the shortest step.
#define LARGEST_POSE 1e7
// A matrix whose determinant's square is below this share of its size's has no rotation.
#define FLAT 1e-18
// A joint whose matrix differs from a rotation by less than this is rigid.
#define RIGID_TOLERANCE 1e-6

const jnRigKernels* jnFindRigKernels(jnKernel kernel)
{
#ifdef JN_HAVE_X86_KERNELS
    if (kernel >= jn_kernelAvx2) {
        return &jnRigKernelsAvx2;
    }
#endif
    (void)kernel;
    return &jnRigKernelsBaseline;
}

// Affine matrix of translation, rotation and scale, rows of 4. The quaternion need not be of unit length.
static void Compose(const float* t, const float* q, const float* s, double m[12])
{
    double x = (double)q[0], y = (double)q[1], z = (double)q[2], w = (double)q[3];
    double n = 2.0 / (x * x + y * y + z * z + w * w);
    const double r[9] = {1 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w), //
        n * (x * y + z * w), 1 - n * (x * x + z * z), n * (y * z - x * w),                  //
        n * (x * z - y * w), n * (y * z + x * w), 1 - n * (x * x + y * y)};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            m[4 * i + k] = r[3 * i + k] * (double)s[k];
        }
        m[4 * i + 3] = (double)t[i];
    }
}

static void Multiply(const double* a, const double* b, double* out)
{
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) {
            out[4 * i + k] = a[4 * i] * b[k] + a[4 * i + 1] * b[4 + k] + a[4 * i + 2] * b[8 + k];
        }
        out[4 * i + 3] += a[4 * i + 3];
    }
}

bool jnMakeGlobals(const jnAsset* asset, const jnPose* pose, double* globals)
{
    static const float one[3] = {1, 1, 1};
    double root[12], local[12];
    if (pose->root != NULL) {
        Compose(pose->root->position, pose->root->rotation, one, root);
    }
    bool good = true;
    for (int j = 0; j < asset->jointCount; ++j) {
        const jnAssetJoint* joint = &asset->joints[j];
        double* global = globals + 12 * (size_t)j;
        const double* parent = pose->root != NULL ? root : NULL;
        if (pose->matrices != NULL) {
            for (int i = 0; i < 12; ++i) {
                local[i] = (double)pose->matrices[12 * (size_t)j + (size_t)i];
            }
        } else {
            size_t at = (size_t)j;
            Compose(pose->translations != NULL ? pose->translations + 3 * at : joint->translation,
                pose->rotations != NULL ? pose->rotations + 4 * at : joint->rotation,
                pose->scales != NULL ? pose->scales + 3 * at : joint->scale, local);
            parent = joint->parent >= 0 ? globals + 12 * (size_t)joint->parent : parent;
        }
        if (parent != NULL) {
            Multiply(parent, local, global);
        } else {
            memcpy(global, local, sizeof(local));
        }
        double sums[4];
        for (int i = 0; i < 4; ++i) {
            sums[i] = (fabs(global[i]) + fabs(global[4 + i])) + fabs(global[8 + i]);
        }
        good = good && (sums[0] + sums[1]) + (sums[2] + sums[3]) <= LARGEST_POSE;
    }
    return good;
}

void jnToSurface(const jnAsset* asset, double* matrices)
{
    for (int j = 0; j < asset->jointCount; ++j) {
        double bind[12], m[12];
        for (int i = 0; i < 12; ++i) {
            bind[i] = (double)asset->joints[j].inverseBind[i];
        }
        Multiply(matrices + 12 * (size_t)j, bind, m);
        memcpy(matrices + 12 * (size_t)j, m, sizeof(m));
    }
}

void jnMakePalette(const jnAsset* asset, const double* matrices, float* palette)
{
    for (int j = 0; j < asset->jointCount; ++j) {
        const double* m = matrices + 12 * (size_t)j;
        float* out = palette + (size_t)j * JN_PALETTE_SIZE;
        for (int i = 0; i < 12; ++i) {
            out[i] = (float)m[i];
        }
        memset(out + 12, 0, 4 * sizeof(float));
    }
}

// Cofactors of a 3x3 matrix, rows; returns the determinant. The inverse transpose is the cofactors over it.
static double Cofactors(const double r[9], double c[9])
{
    for (int i = 0; i < 3; ++i) {
        const double *a = r + 3 * ((i + 1) % 3), *b = r + 3 * ((i + 2) % 3);
        c[3 * i] = a[1] * b[2] - a[2] * b[1];
        c[3 * i + 1] = a[2] * b[0] - a[0] * b[2];
        c[3 * i + 2] = a[0] * b[1] - a[1] * b[0];
    }
    return r[0] * c[0] + r[1] * c[1] + r[2] * c[2];
}

// The rotation closest to a matrix: R <- (R + R^-T) / 2 until it stands. A mirror is turned into a rotation by its
// negative, so that the stretch has the mirror; a flat matrix has no closest rotation and gets none.
static void FindRotation(const double* m, double r[9])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double c[9];
    for (int i = 0; i < 9; ++i) {
        r[i] = m[4 * (i / 3) + i % 3];
    }
    double determinant = Cofactors(r, c), size = 0.0;
    for (int i = 0; i < 9; ++i) {
        size += r[i] * r[i];
    }
    // |det| > 1e-9 size^(3/2), which has no meaning for what is not a number or too large to be squared.
    if (!(determinant * determinant > FLAT * (size * size * size) && size < 1e90)) {
        memcpy(r, identity, sizeof(identity));
        return;
    }
    // Of a rotation's size from the start: each step only halves what is too large.
    double scale = (determinant < 0.0 ? -1.0 : 1.0) / sqrt(size / 3.0);
    for (int i = 0; i < 9; ++i) {
        r[i] *= scale;
    }
    determinant = Cofactors(r, c);
    for (int step = 0; step < POLAR_STEPS; ++step) {
        double change = 0.0, inverse = 1.0 / determinant;
        for (int i = 0; i < 9; ++i) {
            double next = 0.5 * (r[i] + c[i] * inverse), far = fabs(next - r[i]);
            change = far > change ? far : change; // fmax is a call on many machines
            r[i] = next;
        }
        if (change < POLAR_TOLERANCE) {
            break;
        }
        determinant = Cofactors(r, c);
    }
}

// Unit quaternion of a rotation matrix, from its largest component.
static void ToQuaternion(const double r[9], double q[4])
{
    double square[4] = {1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8], 1 - r[0] - r[4] + r[8], 1 + r[0] + r[4] + r[8]};
    int best = 0;
    for (int i = 1; i < 4; ++i) {
        best = square[i] > square[best] ? i : best;
    }
    double s = 0.5 / sqrt(square[best]);
    double table[4][4] = {
        {square[0], r[1] + r[3], r[2] + r[6], r[7] - r[5]},
        {r[1] + r[3], square[1], r[5] + r[7], r[2] - r[6]},
        {r[2] + r[6], r[5] + r[7], square[2], r[3] - r[1]},
        {r[7] - r[5], r[2] - r[6], r[3] - r[1], square[3]},
    };
    double length = 0.0;
    for (int i = 0; i < 4; ++i) {
        q[i] = s * table[best][i];
        length += q[i] * q[i];
    }
    // The iteration does not get to the rotation of a matrix that is nearly flat: it is of unit length all the same.
    double scale = fabs(length - 1.0) > RIGID_TOLERANCE ? 1.0 / sqrt(length) : 1.0;
    for (int i = 0; i < 4; ++i) {
        q[i] *= scale;
    }
}

// S = R^T M. Returns how far it is from the identity.
static double FindStretch(const double* m, const double r[9], float* out)
{
    double far = 0.0;
    memset(out, 0, JN_PALETTE_SIZE * sizeof(float));
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            double value = r[i] * m[k] + r[3 + i] * m[4 + k] + r[6 + i] * m[8 + k];
            far = fmax(far, fabs(value - (i == k ? 1.0 : 0.0)));
            out[4 * i + k] = (float)value;
        }
    }
    return far;
}

// Whether columns of a matrix are of unit length and at right angles, and not mirrored.
static bool IsRotation(const double* m)
{
    double far = 0.0;
    for (int i = 0; i < 3; ++i) {
        int k = (i + 1) % 3;
        double length = m[i] * m[i] + m[4 + i] * m[4 + i] + m[8 + i] * m[8 + i];
        double cosine = m[i] * m[k] + m[4 + i] * m[4 + k] + m[8 + i] * m[8 + k];
        far += fabs(length - 1.0) + fabs(cosine);
    }
    double determinant =
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
    return far < RIGID_TOLERANCE && determinant > 0.0;
}

void jnRotationOf(const double* matrix, double q[4])
{
    double r[9];
    if (IsRotation(matrix)) { // as most are: what is left to find is below a float's last digits
        for (int i = 0; i < 9; ++i) {
            r[i] = matrix[4 * (i / 3) + i % 3];
        }
    } else {
        FindRotation(matrix, r);
    }
    ToQuaternion(r, q);
}

bool jnMakeDual(const double* m, float* dual, float* stretch)
{
    double r[9], q[4];
    FindRotation(m, r);
    ToQuaternion(r, q);
    // The dual part is half the product (t, 0) q.
    double t[3] = {0.5 * m[3], 0.5 * m[7], 0.5 * m[11]};
    const double second[4] = {t[0] * q[3] + t[1] * q[2] - t[2] * q[1], t[1] * q[3] + t[2] * q[0] - t[0] * q[2],
        t[2] * q[3] + t[0] * q[1] - t[1] * q[0], -(t[0] * q[0] + t[1] * q[1] + t[2] * q[2])};
    for (int i = 0; i < 4; ++i) {
        dual[i] = (float)q[i];
        dual[4 + i] = (float)second[i];
    }
    return FindStretch(m, r, stretch) > RIGID_TOLERANCE;
}

void jnMakeTurns(const jnAsset* asset, const double* matrices, float* turns)
{
    for (int j = 0; j < asset->jointCount; ++j) {
        double q[4];
        jnRotationOf(matrices + 12 * (size_t)j, q);
        // Both halves of the double cover are the same rotation; each joint takes the one near its parent.
        int parent = asset->joints[j].parent;
        double cosine = 0.0;
        for (int i = 0; parent >= 0 && i < 4; ++i) {
            cosine += q[i] * (double)turns[4 * parent + i];
        }
        double sign = cosine < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < 4; ++i) {
            turns[4 * j + i] = (float)(sign * q[i]);
        }
    }
}

jnTransform jnRigidPart(const double* global)
{
    double q[4];
    jnRotationOf(global, q);
    return (jnTransform){
        .position = {(float)global[3], (float)global[7], (float)global[11]},
        .rotation = {(float)q[0], (float)q[1], (float)q[2], (float)q[3]},
    };
}
