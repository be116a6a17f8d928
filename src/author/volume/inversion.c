// Volumes in motion by skinning alone, and how many of their tetrahedra that turns inside out.
#include "base/affine.h"
#include "volume/posing.h"

#include "runtime/for_author.h"

#include <stdlib.h>

void jnaPoseTransforms(const jnaCharacter* character, const jnaClip* clip, int frame, double* transforms)
{
    // First the global matrices, parents before children; then each one times its inverse bind matrix.
    for (int j = 0; j < character->jointCount; ++j) {
        const jnaJoint* joint = &character->joints[j];
        jnaLocal from = jnaCharacter_Local(character, clip, frame, j);
        double move[3], turn[4], scale[3];
        for (int i = 0; i < 3; ++i) {
            move[i] = (double)from.translation[i];
            scale[i] = (double)from.scale[i];
        }
        for (int i = 0; i < 4; ++i) {
            turn[i] = (double)from.rotation[i];
        }
        jnaQuat_Normalize(turn); // a float quaternion is off by 1e-7, which would scale the flesh
        jnaAffine local = jnaAffine_FromTrs(move, turn, scale);
        if (joint->parent >= 0) {
            jnaAffine parent;
            memcpy(parent.m, transforms + 12 * (size_t)joint->parent, sizeof(parent.m));
            local = jnaAffine_Multiply(&parent, &local);
        }
        memcpy(transforms + 12 * (size_t)j, local.m, sizeof(local.m));
    }
    for (int j = 0; j < character->jointCount; ++j) {
        jnaAffine global, bind = jnaAffine_FromFloats(character->joints[j].inverseBind);
        memcpy(global.m, transforms + 12 * (size_t)j, sizeof(global.m));
        global = jnaAffine_Multiply(&global, &bind);
        memcpy(transforms + 12 * (size_t)j, global.m, sizeof(global.m));
    }
}

// The rotation nearest to a matrix, by averaging it with its inverse transpose (Higham); false where there is none.
static bool NearestRotation(double m[9])
{
    enum { MOST_ROUNDS = 50 };
    for (int round = 0; round < MOST_ROUNDS; ++round) {
        double cofactor[9], change = 0;
        for (int i = 0; i < 3; ++i) {
            int a = (i + 1) % 3, b = (i + 2) % 3;
            for (int k = 0; k < 3; ++k) {
                int c = (k + 1) % 3, d = (k + 2) % 3;
                cofactor[3 * i + k] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
            }
        }
        double det = m[0] * cofactor[0] + m[1] * cofactor[1] + m[2] * cofactor[2];
        if (!(det > 1e-9)) {
            return false;
        }
        for (int i = 0; i < 9; ++i) {
            double next = 0.5 * (m[i] + cofactor[i] / det);
            change = fmax(change, fabs(next - m[i]));
            m[i] = next;
        }
        if (change < 1e-15) {
            break;
        }
    }
    return true;
}

void jnaBallTransforms(const jnaCharacter* character, double* transforms)
{
    for (int j = 0; j < character->jointCount; ++j) {
        const double* own = transforms + 12 * (size_t)j;
        double* ball = transforms + 12 * (size_t)(character->jointCount + j);
        int parent = character->joints[j].parent;
        jnaAffine bind = jnaAffine_FromFloats(character->joints[j].inverseBind), rest;
        memcpy(ball, own, 12 * sizeof(double));
        if (parent < 0 || !jnaAffine_Invert(&bind, &rest)) {
            continue;
        }
        // The rotation half-way between two is the one nearest to their sum; scale is the joint's own.
        const double* above = transforms + 12 * (size_t)parent;
        jnaAffine a, b;
        memcpy(a.m, own, sizeof(a.m));
        memcpy(b.m, above, sizeof(b.m));
        double size = cbrt(fabs(jnaAffine_Determinant(&a))), other = cbrt(fabs(jnaAffine_Determinant(&b))), turn[9];
        for (int i = 0; i < 9 && size > 0 && other > 0; ++i) {
            size_t at = (size_t)(4 * (i / 3) + i % 3);
            turn[i] = own[at] / size + above[at] / other;
        }
        if (!(size > 0 && other > 0) || !NearestRotation(turn)) {
            continue; // turned by half a circle, mirrored or scaled to nothing: it goes with the joint
        }
        for (int i = 0; i < 3; ++i) {
            double at =
                own[4 * i] * rest.m[3] + own[4 * i + 1] * rest.m[7] + own[4 * i + 2] * rest.m[11] + own[4 * i + 3];
            for (int k = 0; k < 3; ++k) {
                ball[4 * i + k] = size * turn[3 * i + k];
                at -= ball[4 * i + k] * rest.m[4 * k + 3];
            }
            ball[4 * i + 3] = at;
        }
    }
}

void jnaVolume_HeldPosition(const jnaVolume* v, const double* transforms, int node, double position[3])
{
    const double* p = v->nodes + 3 * (size_t)node;
    double blend[12] = {0}, sum = 0;
    const double* m = blend;
    if (v->heldBy[node] < 2 * v->jointCount) {
        m = transforms + 12 * (size_t)v->heldBy[node];
        sum = 1;
    } else {
        for (int32_t i = v->rowStarts[node]; i < v->rowStarts[node + 1]; ++i) {
            double w = (double)v->weights[i];
            sum += w;
            for (int k = 0; k < 12; ++k) {
                blend[k] += w * transforms[12 * (size_t)v->joints[i] + (size_t)k];
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        position[i] = (m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3]) / sum;
    }
}

void jnaVolume_Skin(const jnaVolume* v, const double* transforms, double* positions)
{
    for (int n = 0; n < v->nodeCount; ++n) {
        double blend[12] = {0}, sum = 0;
        for (int32_t i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            const double* m = transforms + 12 * (size_t)v->joints[i];
            double w = (double)v->weights[i];
            sum += w;
            for (int k = 0; k < 12; ++k) {
                blend[k] += w * m[k];
            }
        }
        const double* p = v->nodes + 3 * (size_t)n;
        for (int i = 0; i < 3; ++i) {
            const double* row = blend + 4 * i;
            positions[3 * (size_t)n + (size_t)i] = (row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]) / sum;
        }
    }
}

static int CountNegative(const jnaVolume* v, const double* positions)
{
    int count = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        double edges[3][3], normal[3];
        for (int k = 0; k < 3; ++k) {
            for (int i = 0; i < 3; ++i) {
                edges[k][i] = positions[3 * (size_t)c[k + 1] + (size_t)i] - positions[3 * (size_t)c[0] + (size_t)i];
            }
        }
        jnaCross(edges[1], edges[2], normal);
        count += !(jnaDot(edges[0], normal) > 0);
    }
    return count;
}

jnResult jnaVolume_CountInversions(
    const jnaVolume* v, const jnaCharacter* character, const jnaClip* clip, int every, int* counts, jnError* error)
{
    JN_ASSERT(every > 0);
    if (clip->jointCount != character->jointCount || v->rowStarts == NULL) {
        return jnFail(error, jn_badArgument, "clip '%s' has %d joints, the character %d; or the volume has no weights",
            clip->name, clip->jointCount, character->jointCount);
    }
    int failures = 0;
#pragma omp parallel reduction(+ : failures)
    {
        double* transforms = malloc(sizeof(double) * 12 * ((size_t)character->jointCount + 1));
        double* positions = malloc(sizeof(double) * 3 * (size_t)v->nodeCount);
        bool good = transforms != NULL && positions != NULL;
        failures += !good;
#pragma omp for schedule(dynamic, 1)
        for (int f = 0; f < (clip->frameCount + every - 1) / every; ++f) {
            if (good) {
                jnaPoseTransforms(character, clip, every * f, transforms);
                jnaVolume_Skin(v, transforms, positions);
                counts[f] = CountNegative(v, positions);
            }
        }
        free(transforms);
        free(positions);
    }
    return failures == 0 ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory to skin %d nodes", v->nodeCount);
}
