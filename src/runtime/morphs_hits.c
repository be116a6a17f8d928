// Impulses on the modes: at a vertex, or at the points that stand for the flesh around them in a file without a
// surface.
//
// A velocity v that a vertex' flesh of mass m gets changes those of the modes by  gain m U^T (R^T v)  with the vertex'
// rows U of the modes and R, the rotation of its skinned frame. Of many vertices around a point, U and R are those of
// the point, and what is summed is their mass.
#include "morphs.h"

#include "rig.h"

#include <math.h>
#include <string.h>

// What the modes move a vertex by at unit amplitude, times a vector: [modeCount], added to.
static void DotShapes(const jnMorphs* m, int vertex, const float vector[3], float* sums)
{
    jnVertexMorphs v = jnMorphsOf(m->asset->morphs, vertex);
    float along[JN_MAX_SHAPES];
    for (size_t s = 0; s < v.shapeCount; ++s) {
        along[s] = v.scales[s] * ((float)jnShapeAt(&v, s, 0) * vector[0] + (float)jnShapeAt(&v, s, 1) * vector[1] +
                                     (float)jnShapeAt(&v, s, 2) * vector[2]);
    }
    for (size_t at = 0; at < v.columnCount; ++at) {
        int k = v.columns[at] - m->asset->morphs->firstMode;
        float sum = 0.0f;
        for (size_t s = 0; k >= 0 && k < m->modeCount && s < v.shapeCount; ++s) {
            sum += (float)jnMixAt(&v, at, s) * along[s];
        }
        if (k >= 0 && k < m->modeCount) {
            sums[k] += sum / m->modes->modes[k].unit;
        }
    }
}

// From the world to a skinned frame: the inverse of its rotation, R^T v.
static void ToFrame(const double blended[12], const float velocity[3], float local[3])
{
    double q[4];
    float t[3];
    jnRotationOf(blended, q);
    for (int i = 0; i < 3; ++i) {
        int x = (i + 1) % 3, y = (i + 2) % 3;
        t[i] = (float)(2.0 * (q[y] * (double)velocity[x] - q[x] * (double)velocity[y]));
    }
    for (int i = 0; i < 3; ++i) {
        int x = (i + 1) % 3, y = (i + 2) % 3;
        local[i] = (float)((double)velocity[i] + q[3] * (double)t[i] + (q[y] * (double)t[x] - q[x] * (double)t[y]));
    }
}

// sums: [modeCount], U^T (R^T v)
static void AddChanges(jnMorphs* m, float mass, const float* sums)
{
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        float change = m->gain[k] * mass * sums[k];
        float* p = &m->now[(size_t)m->lanes + k];
        *p = jnIsFinite(change) ? jnClamp(*p + change, JN_LARGEST_STATE, 0.0f) : *p;
    }
}

void jnMorphs_Kick(jnMorphs* m, const double* matrices, int vertex, const float velocity[3])
{
    const jnAsset* a = m->asset;
    size_t b = (size_t)(vertex / JN_LANES), count = a->influenceStarts[b + 1] - a->influenceStarts[b];
    size_t at = (size_t)a->influenceStarts[b] * JN_LANES + (size_t)(vertex % JN_LANES) * count;
    double blended[12] = {0};
    if (m->modes == NULL) {
        return;
    }
    for (size_t k = 0; k < 12 * count; ++k) {
        blended[k % 12] +=
            (double)a->influenceWeights[at + k / 12] * matrices[12 * (size_t)a->influenceJoints[at + k / 12] + k % 12];
    }
    float local[3], *sums = m->work;
    ToFrame(blended, velocity, local);
    memset(sums, 0, (size_t)m->lanes * sizeof(float));
    DotShapes(m, vertex, local, sums);
    AddChanges(m, m->modes->masses[vertex], sums);
}

const jnHits* jnMorphs_Hits(const jnMorphs* m)
{
    return &((const jnAssetBlock*)(const void*)m->asset)->hits;
}

static void BlendPoint(const jnHitPoint* point, const double* matrices, double blended[12])
{
    memset(blended, 0, 12 * sizeof(double));
    for (int k = 0; k < 12 * JN_HIT_JOINTS; ++k) {
        blended[k % 12] +=
            (double)point->weights[k / 12] * matrices[12 * (size_t)point->joints[k / 12] + (size_t)(k % 12)];
    }
}

// The flesh of a point, `mass` of it.
static void KickPoint(jnMorphs* m, const double* matrices, int number, float mass, const float velocity[3])
{
    const jnHits* hits = jnMorphs_Hits(m);
    const jnHitPoint* point = &hits->points[number];
    const int16_t* rows = hits->rows + 3 * (size_t)number * (size_t)m->asset->modeCount;
    double blended[12];
    float local[3], *sums = m->work;
    BlendPoint(point, matrices, blended);
    ToFrame(blended, velocity, local);
    for (size_t k = 0; k < (size_t)m->modeCount; ++k) {
        const int16_t* row = rows + 3 * k;
        sums[k] = point->rowScale * ((float)row[0] * local[0] + (float)row[1] * local[1] + (float)row[2] * local[2]);
    }
    AddChanges(m, mass, sums);
}

void jnMorphs_KickHit(jnMorphs* m, const double* matrices, int vertex, const float velocity[3])
{
    const jnHits* hits = jnMorphs_Hits(m);
    const jnHitVertex* v = &hits->vertices[vertex];
    if (v->point != JN_NO_HIT_POINT && m->modes != NULL) {
        KickPoint(m, matrices, v->point, hits->massUnit * (float)v->mass, velocity);
    }
}

// Where the vertices of a point are skinned to: rows of 4 for offsets as whole numbers, from an origin.
static void FramePoint(const jnHits* hits, int number, const double* matrices, const double origin[3], float frame[12])
{
    const jnHitPoint* point = &hits->points[number];
    double blended[12];
    BlendPoint(point, matrices, blended);
    for (int i = 0; i < 3; ++i) {
        const double* row = blended + 4 * i;
        frame[4 * i + 3] = (float)(row[0] * (double)point->rest[0] + row[1] * (double)point->rest[1] +
                                   row[2] * (double)point->rest[2] + (row[3] - origin[i]));
        for (int k = 0; k < 3; ++k) {
            frame[4 * i + k] = (float)(row[k] * (double)hits->offsetUnit);
        }
    }
}

void jnMorphs_KickHits(
    jnMorphs* m, const double* matrices, const double origin[3], const jnSphere* sphere, const float velocity[3])
{
    const jnHits* hits = jnMorphs_Hits(m);
    float frames[JN_MAX_HIT_POINTS][12], masses[JN_MAX_HIT_POINTS] = {0};
    for (int i = 0; i < hits->pointCount; ++i) {
        FramePoint(hits, i, matrices, origin, frames[i]);
    }
    for (int n = 0; n < hits->vertexCount; ++n) {
        const jnHitVertex* v = &hits->vertices[n];
        if (v->point == JN_NO_HIT_POINT) {
            continue;
        }
        const float* f = frames[v->point];
        float at[3];
        for (int i = 0; i < 3; ++i, f += 4) {
            at[i] = f[0] * (float)v->offset[0] + f[1] * (float)v->offset[1] + f[2] * (float)v->offset[2] + f[3];
        }
        masses[v->point] += jnShareInSphere(sphere, at) * hits->massUnit * (float)v->mass;
    }
    for (int i = 0; i < hits->pointCount && m->modes != NULL; ++i) {
        if (masses[i] > 0.0f) {
            KickPoint(m, matrices, i, masses[i], velocity);
        }
    }
}
