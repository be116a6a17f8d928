// Affine matrices and quaternions in double precision, for the code that reads and converts characters.
//
// A matrix is 3 rows of 4, column vectors on the right. A quaternion is x, y, z, w.
#pragma once

#include "jounce/base.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define JNA_PI 3.14159265358979323846
#define JNA_TURN (2 * JNA_PI) // once around, in radians

typedef struct jnaAffine {
    double m[12];
} jnaAffine;

static inline jnaAffine jnaAffine_Identity(void)
{
    return (jnaAffine){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
}

static inline jnaAffine jnaAffine_FromFloats(const float* rows)
{
    jnaAffine a;
    for (int i = 0; i < 12; ++i) {
        a.m[i] = (double)rows[i];
    }
    return a;
}

static inline jnaAffine jnaAffine_Multiply(const jnaAffine* a, const jnaAffine* b)
{
    jnaAffine c;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) {
            double sum = k == 3 ? a->m[4 * i + 3] : 0.0;
            for (int l = 0; l < 3; ++l) {
                sum += a->m[4 * i + l] * b->m[4 * l + k];
            }
            c.m[4 * i + k] = sum;
        }
    }
    return c;
}

static inline double jnaAffine_Determinant(const jnaAffine* a)
{
    const double* m = a->m;
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
           m[2] * (m[4] * m[9] - m[5] * m[8]);
}

/// False, and nothing written, where the matrix is singular for its own size.
static inline bool jnaAffine_Invert(const jnaAffine* a, jnaAffine* inverse)
{
    const double* m = a->m;
    double size = 0;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            size = fmax(size, fabs(m[4 * i + k]));
        }
    }
    double det = jnaAffine_Determinant(a);
    if (!(fabs(det) > 1e-12 * size * size * size) || !isfinite(det)) {
        return false;
    }
    jnaAffine r;
    for (int i = 0; i < 3; ++i) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int k = 0; k < 3; ++k) {
            int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
            r.m[4 * k + i] = (m[4 * i1 + k1] * m[4 * i2 + k2] - m[4 * i1 + k2] * m[4 * i2 + k1]) / det;
        }
    }
    for (int i = 0; i < 3; ++i) {
        r.m[4 * i + 3] = -(r.m[4 * i] * m[3] + r.m[4 * i + 1] * m[7] + r.m[4 * i + 2] * m[11]);
    }
    *inverse = r;
    return true;
}

static inline void jnaAffine_Apply(const jnaAffine* a, const double* p, double* out)
{
    double x = p[0], y = p[1], z = p[2];
    for (int i = 0; i < 3; ++i) {
        out[i] = a->m[4 * i] * x + a->m[4 * i + 1] * y + a->m[4 * i + 2] * z + a->m[4 * i + 3];
    }
}

static inline double jnaDot(const double* a, const double* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void jnaCross(const double* a, const double* b, double* out)
{
    double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof(c));
}

static inline void jnaSubtract(const double* a, const double* b, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = a[i] - b[i];
    }
}

static inline double jnaLength(const double* a)
{
    return sqrt(jnaDot(a, a));
}

static inline double jnaDistance(const double* a, const double* b)
{
    double d[3];
    jnaSubtract(a, b, d);
    return jnaLength(d);
}

/// Twice the area vector of a triangle.
static inline void jnaAreaVector(const double* a, const double* b, const double* c, double out[3])
{
    double u[3], v[3];
    jnaSubtract(b, a, u);
    jnaSubtract(c, a, v);
    jnaCross(u, v, out);
}

/// Returns the length; a vector of length 0 stays.
static inline double jnaNormalize(double* v)
{
    double length = jnaLength(v);
    if (length > 0) {
        v[0] /= length;
        v[1] /= length;
        v[2] /= length;
    }
    return length;
}

static inline void jnaQuat_Normalize(double* q)
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 0)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
        return;
    }
    for (int i = 0; i < 4; ++i) {
        q[i] /= length;
    }
}

/// out = a b: first b, then a. `out` may be either.
static inline void jnaQuat_Multiply(const double* a, const double* b, double* out)
{
    double c[4] = {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0], a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, c, sizeof(c));
}

static inline void jnaQuat_Conjugate(const double* q, double* out)
{
    double c[4] = {-q[0], -q[1], -q[2], q[3]};
    memcpy(out, c, sizeof(c));
}

static inline void jnaQuat_Rotate(const double* q, const double* v, double* out)
{
    double t[3], u[3];
    jnaCross(q, v, t);
    for (int i = 0; i < 3; ++i) {
        t[i] *= 2;
    }
    jnaCross(q, t, u);
    for (int i = 0; i < 3; ++i) {
        out[i] = v[i] + q[3] * t[i] + u[i];
    }
}

/// Rotation by `angle` radians about a unit axis.
static inline void jnaQuat_FromAxis(const double* axis, double angle, double* out)
{
    double s = sin(angle / 2);
    out[0] = axis[0] * s;
    out[1] = axis[1] * s;
    out[2] = axis[2] * s;
    out[3] = cos(angle / 2);
}

/// The smallest rotation that turns unit vector `from` into unit vector `to`.
static inline void jnaQuat_Between(const double* from, const double* to, double* out)
{
    double w = 1 + jnaDot(from, to);
    if (w < 1e-9) {
        // Opposite: any axis across `from` will do.
        double across[3] = {fabs(from[0]) < 0.9, fabs(from[0]) >= 0.9, 0};
        jnaCross(from, across, out);
        out[3] = 0;
    } else {
        jnaCross(from, to, out);
        out[3] = w;
    }
    jnaQuat_Normalize(out);
}

/// From a to b along the shorter arc, t in [0, 1].
static inline void jnaQuat_Slerp(const double* a, const double* b, double t, double* out)
{
    double cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = cosine < 0 ? -1 : 1;
    cosine = fabs(cosine);
    double wa = 1 - t, wb = t;
    // Below 1e-3 radians the chord differs from the arc by less than float can hold.
    if (cosine < 1 - 5e-7) {
        double angle = acos(cosine);
        wa = sin((1 - t) * angle) / sin(angle);
        wb = sin(t * angle) / sin(angle);
    }
    double c[4];
    for (int i = 0; i < 4; ++i) {
        c[i] = wa * a[i] + sign * wb * b[i];
    }
    jnaQuat_Normalize(c);
    memcpy(out, c, sizeof(c));
}

static inline jnaAffine jnaAffine_FromTrs(const double* t, const double* q, const double* s)
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),            //
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)};
    jnaAffine a;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            a.m[4 * i + k] = r[3 * i + k] * s[k];
        }
        a.m[4 * i + 3] = t[i];
    }
    return a;
}

/// Splits into translation, rotation and scale (a mirror becomes a negative x scale). Returns the largest
/// cosine between two axes: 0 where the split is exact, more where the matrix shears.
static inline double jnaAffine_ToTrs(const jnaAffine* a, double* t, double* q, double* s)
{
    double axis[3][3];
    for (int k = 0; k < 3; ++k) {
        t[k] = a->m[4 * k + 3];
        for (int i = 0; i < 3; ++i) {
            axis[k][i] = a->m[4 * i + k];
        }
        s[k] = jnaNormalize(axis[k]);
    }
    double shear =
        fmax(fabs(jnaDot(axis[0], axis[1])), fmax(fabs(jnaDot(axis[1], axis[2])), fabs(jnaDot(axis[2], axis[0]))));
    if (jnaAffine_Determinant(a) < 0) {
        s[0] = -s[0];
        for (int i = 0; i < 3; ++i) {
            axis[0][i] = -axis[0][i];
        }
    }
    // The largest of the four squares is taken first, so that no small number is divided by.
    double m00 = axis[0][0], m11 = axis[1][1], m22 = axis[2][2], trace = m00 + m11 + m22;
    if (trace > 0) {
        q[3] = 1 + trace;
        q[0] = axis[1][2] - axis[2][1];
        q[1] = axis[2][0] - axis[0][2];
        q[2] = axis[0][1] - axis[1][0];
    } else {
        int i = m11 > m00 ? 1 : 0;
        i = m22 > axis[i][i] ? 2 : i;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + axis[i][i] - axis[j][j] - axis[k][k];
        q[j] = axis[j][i] + axis[i][j];
        q[k] = axis[k][i] + axis[i][k];
        q[3] = axis[j][k] - axis[k][j];
    }
    jnaQuat_Normalize(q);
    return shear;
}
