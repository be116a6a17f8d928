// Every number of an asset, looked at once while it is loaded: afterwards no index leaves its array and no float is
// not finite. See asset.c for what comes before.
#include "network.h"

#include <math.h>
#include <string.h>

// Weights add up to 1 and quaternions have unit length to what a file that rounds to 16 bits can hold.
#define UNIT_TOLERANCE 1e-2f
// Beyond this a coordinate is no metre any more, and squares of it would leave the floats.
#define LARGEST 1e9f
// A softer vertex may follow with more than its driver's offset, within reason.
#define LARGEST_SHARE 16.0f
// A ring has its vertex and at most three entries a triangle.
enum { LONGEST_RING = 1 << 28 };

static jnResult CheckFloats(
    const jnAssetBlock* block, const char* section, const float* values, uint64_t count, float low, jnError* error)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (!(values[i] >= low && values[i] <= LARGEST)) {
            return jnFail(error, jn_badData, "%s: section %s: number %llu is %g", block->source, section,
                (unsigned long long)i, (double)values[i]);
        }
    }
    return jn_ok;
}

static jnResult CheckIndices(
    const jnAssetBlock* block, const char* section, const int32_t* values, uint64_t count, int limit, jnError* error)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (values[i] < 0 || values[i] >= limit) {
            return jnFail(error, jn_badData, "%s: section %s: index %llu is %d; it must be below %d", block->source,
                section, (unsigned long long)i, values[i], limit);
        }
    }
    return jn_ok;
}

// Starts of runs: from 0 upwards, each run at least `low` and at most `high` long.
static jnResult CheckStarts(const jnAssetBlock* block, const char* section, const uint32_t* starts, uint64_t count,
    uint32_t low, uint32_t high, jnError* error)
{
    for (uint64_t i = 0; i < count; ++i) {
        if ((i == 0 && starts[0] != 0) || starts[i + 1] < starts[i] || starts[i + 1] - starts[i] < low ||
            starts[i + 1] - starts[i] > high) {
            return jnFail(error, jn_badData, "%s: section %s: run %llu goes from %u to %u", block->source, section,
                (unsigned long long)i, starts[i], starts[i + 1]);
        }
    }
    return jn_ok;
}

static bool IsUnit(const float* q)
{
    float square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return fabsf(square - 1.0f) <= UNIT_TOLERANCE;
}

static jnResult CheckJoints(const jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    for (int j = 0; j < a->jointCount; ++j) {
        const jnAssetJoint* joint = &a->joints[j];
        if (joint->name[JN_NAME_LENGTH - 1] != '\0') {
            return jnFail(error, jn_badData, "%s: section JNTS: the name of joint %d has no end", block->source, j);
        }
        if (joint->parent < -1 || joint->parent >= j) {
            return jnFail(error, jn_badData, "%s: section JNTS: joint %d, '%s', has parent %d; it must come before it",
                block->source, j, joint->name, joint->parent);
        }
        float numbers[22];
        memcpy(numbers, joint->translation, sizeof(numbers)); // translation, rotation, scale, inverse bind
        for (int i = 0; i < 22; ++i) {
            if (!(fabsf(numbers[i]) <= LARGEST)) {
                return jnFail(error, jn_badData, "%s: section JNTS: number %d of joint %d, '%s', is %g", block->source,
                    i, j, joint->name, (double)numbers[i]);
            }
        }
        if (!IsUnit(joint->rotation)) {
            return jnFail(error, jn_badData, "%s: section JNTS: the rotation of joint %d, '%s', is no unit quaternion",
                block->source, j, joint->name);
        }
    }
    return jn_ok;
}

static jnResult CheckRest(const jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    for (int v = 0; v < a->blockCount * JN_LANES; ++v) {
        const float* p = a->rest + 4 * (size_t)v;
        if (!(fabsf(p[0]) <= LARGEST && fabsf(p[1]) <= LARGEST && fabsf(p[2]) <= LARGEST && p[3] == 1.0f)) {
            return jnFail(error, jn_badData, "%s: section POSN: vertex %d is at (%g, %g, %g, %g)", block->source, v,
                (double)p[0], (double)p[1], (double)p[2], (double)p[3]);
        }
    }
    return jn_ok;
}

static jnResult CheckInfluences(const jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    for (int v = 0; v < a->blockCount * JN_LANES; ++v) {
        uint32_t start = a->influenceStarts[v / JN_LANES], count = a->influenceStarts[v / JN_LANES + 1] - start;
        size_t at = (size_t)start * JN_LANES + (size_t)(v % JN_LANES) * count;
        float sum = 0.0f;
        for (uint32_t k = 0; k < count; ++k) {
            float weight = a->influenceWeights[at + k];
            if (a->influenceJoints[at + k] >= a->jointCount || !(weight >= 0.0f && weight <= 1.0f + UNIT_TOLERANCE)) {
                return jnFail(error, jn_badData, "%s: sections INFJ, INFW: vertex %d hangs on joint %u with weight %g",
                    block->source, v, a->influenceJoints[at + k], (double)weight);
            }
            sum += weight;
        }
        if (fabsf(sum - 1.0f) > UNIT_TOLERANCE) {
            return jnFail(error, jn_badData, "%s: section INFW: the weights of vertex %d add up to %g, not 1",
                block->source, v, (double)sum);
        }
    }
    return jn_ok;
}

static jnResult CheckClip(const jnAssetBlock* block, int index, jnError* error)
{
    const jnAssetClipEntry* clip = &block->clips[index];
    if (clip->name[JN_NAME_LENGTH - 1] != '\0' || clip->reserved != 0 || clip->flags > 7) {
        return jnFail(error, jn_badData, "%s: section CLPS: clip %d is damaged", block->source, index);
    }
    uint64_t joints = (uint64_t)block->view.jointCount, frames = (uint64_t)clip->frameCount;
    uint64_t width = (clip->flags & JN_CLIP_SCALES) != 0 ? 10 : 7;
    if (clip->frameCount < 1 || clip->frameCount > JN_MAX_ASSET_ELEMENTS || !(clip->rate > 0.0 && clip->rate <= 1e6)) {
        return jnFail(error, jn_badData, "%s: section CLPS: clip '%s' has %d frames at rate %g", block->source,
            clip->name, clip->frameCount, clip->rate);
    }
    if (clip->data > block->clipDataCount || width * joints * frames > block->clipDataCount - clip->data) {
        return jnFail(
            error, jn_badData, "%s: section CLPS: clip '%s' reaches beyond section CLPD", block->source, clip->name);
    }
    const float* data = block->clipData + clip->data;
    for (uint64_t i = 0; i < joints * frames; ++i) {
        if (!IsUnit(data + 4 * i)) {
            return jnFail(error, jn_badData, "%s: section CLPD: clip '%s', frame %llu, joint %llu: no unit quaternion",
                block->source, clip->name, (unsigned long long)(i / joints), (unsigned long long)(i % joints));
        }
    }
    return CheckFloats(block, "CLPD", data + 4 * joints * frames, (width - 4) * joints * frames, -LARGEST, error);
}

static jnResult CheckParts(const jnAssetBlock* block, jnError* error)
{
    int next = 0;
    for (int i = 0; i < block->view.partCount; ++i) {
        const jnAssetPart* part = &block->view.parts[i];
        bool good = part->name[JN_NAME_LENGTH - 1] == '\0' && part->material[JN_NAME_LENGTH - 1] == '\0' &&
                    part->firstTriangle == next && part->triangleCount >= 0 &&
                    part->triangleCount <= block->view.triangleCount - next;
        for (int k = 0; k < 4; ++k) {
            good = good && fabsf(part->color[k]) <= LARGEST;
        }
        if (!good) {
            return jnFail(error, jn_badData,
                "%s: section PART: part %d has no end of name, no colour, or triangles that "
                "do not follow those before",
                block->source, i);
        }
        next += part->triangleCount;
    }
    return jn_ok;
}

// Whether a map is the identity is noted on the way.
static jnResult CheckSurface(jnAssetBlock* block, jnError* error)
{
    jnAsset* a = &block->view;
    uint64_t files = (uint64_t)a->fileVertexCount, corners = 3 * (uint64_t)a->triangleCount;
    uint64_t quads = (uint64_t)jnBlockCount(a->normalCount) * (JN_LANES / 4);
    JN_PASS(CheckIndices(block, "WELD", a->weld, files, a->vertexCount, error));
    JN_PASS(CheckIndices(block, "NGRP", a->fileNormals, files, a->normalCount, error));
    JN_PASS(CheckIndices(block, "TRIS", a->triangles, corners, a->fileVertexCount, error));
    for (uint64_t i = 0; i < (uint64_t)a->ringStarts[quads] * 4; ++i) {
        if (a->rings[i] >= (uint32_t)a->vertexCount) {
            return jnFail(error, jn_badData, "%s: section RNGF: entry %llu is %u; it must be below %d", block->source,
                (unsigned long long)i, a->rings[i], a->vertexCount);
        }
    }
    if (a->order != NULL) {
        JN_PASS(CheckIndices(block, "VORD", a->order, (uint64_t)a->vertexCount, a->vertexCount, error));
    }
    if (a->uvs != NULL) {
        JN_PASS(CheckFloats(block, "UVS0", a->uvs, 2 * files, -LARGEST, error));
    }
    a->weldIsIdentity = a->fileVertexCount == a->vertexCount;
    a->normalsAreIdentity = a->fileVertexCount == a->normalCount;
    for (uint64_t i = 0; i < files; ++i) {
        a->weldIsIdentity = a->weldIsIdentity && a->weld[i] == (int32_t)i;
        a->normalsAreIdentity = a->normalsAreIdentity && a->fileNormals[i] == (int32_t)i;
    }
    return jn_ok;
}

static jnResult CheckFollowers(const jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    if (a->followers == NULL) {
        return jn_ok;
    }
    if (a->driverCount % JN_LANES != 0 || a->driverCount > a->springCount / 2) {
        return jnFail(error, jn_badData, "%s: section FOLW: %d drivers of %d springs are no multiple of %d up to half",
            block->source, a->driverCount, a->springCount, JN_LANES);
    }
    for (int i = 0; i < jnBlockCount(a->springCount) * JN_LANES - a->driverCount; ++i) {
        for (int k = 0; k < JN_MAX_DRIVERS; ++k) {
            int driver = a->followers[i].drivers[k];
            float weight = a->followers[i].weights[k];
            if (driver < 0 || driver >= a->driverCount || !(weight >= 0.0f && weight <= LARGEST_SHARE)) {
                return jnFail(error, jn_badData, "%s: section FOLW: vertex %d hangs on driver %d with weight %g",
                    block->source, a->driverCount + i, driver, (double)weight);
            }
        }
    }
    return jn_ok;
}

jnResult jnCheckStarts(const jnAssetBlock* block, uint32_t id, jnError* error)
{
    const jnAsset* a = &block->view;
    if (id == JN_SECTION_INFLUENCE_STARTS) {
        return CheckStarts(block, "INFS", a->influenceStarts, (uint64_t)a->blockCount, 1, JN_MAX_INFLUENCES, error);
    }
    uint64_t quads = (uint64_t)jnBlockCount(a->normalCount) * (JN_LANES / 4);
    return CheckStarts(block, "RNGS", a->ringStarts, quads, 2, LONGEST_RING, error);
}

// The surface, where there is one.
static jnResult CheckVertices(jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    uint64_t vertices = (uint64_t)a->vertexCount;
    if (vertices == 0) {
        return jn_ok;
    }
    JN_PASS(CheckRest(block, error));
    JN_PASS(CheckInfluences(block, error));
    JN_PASS(CheckFloats(block, "STIF", a->stiffness, vertices, 0.0f, error));
    JN_PASS(CheckFloats(block, "DAMP", a->damping, vertices, 0.0f, error));
    JN_PASS(CheckSurface(block, error));
    JN_PASS(CheckParts(block, error));
    return CheckFollowers(block, error);
}

static jnResult CheckScales(const jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    uint64_t count = a->weightScales != NULL ? (uint64_t)a->componentCount + (uint64_t)a->modeCount : 0;
    return CheckFloats(block, "WSCL", a->weightScales, count, 1e-9f, error);
}

jnResult jnCheckAsset(jnAssetBlock* block, jnError* error)
{
    const jnAsset* a = &block->view;
    JN_PASS(CheckJoints(block, error));
    JN_PASS(CheckVertices(block, error));
    JN_PASS(CheckScales(block, error));
    for (int i = 0; i < a->clipCount; ++i) {
        JN_PASS(CheckClip(block, i, error));
    }
    int components = 0;
    if (block->network != NULL) {
        jnNetwork network;
        JN_PASS(jnCheckNetwork(block, block->network, block->networkSize, &network, error));
        block->view.network = (jnNetworkKind)network.head->kind;
        block->view.networkByteCount = (size_t)block->networkSize;
        block->view.networkError = network.head->validation;
        components = network.head->componentCount;
    }
    block->view.isLinear = a->skinning == jn_skinLinear && a->network != jn_networkCnn;
    return jnCheckWeights(block, components, error);
}
