// Clips between their frames: one curve for whoever plays, bakes or simulates them.
//
// A Catmull-Rom spline through the frames: at t of an interval, of the frames before, at both ends and after,
//
//     w = (t (-1 + t (2 - t)), 2 + t^2 (-5 + 3 t), t (1 + t (4 - 3 t)), t^2 (-1 + t)) / 2
//
// It has a velocity everywhere (C1), the central difference at a frame. Where a clip ends the frame beyond is as far
// from the last as the one before, on the other side: it ends at the speed it had. Rotations are unit quaternions: the
// same sum in their space, each frame's taken with the sign next to its neighbour's, brought back to unit length. That
// is C1 too, and within 1e-4 of the arc at the rates of clips.
#include "asset_format.h"

#include <math.h>
#include <string.h>

void jnWeighFrames(double t, bool before, bool after, double w[4])
{
    w[0] = 0.5 * t * (-1.0 + t * (2.0 - t));
    w[1] = 1.0 + 0.5 * t * t * (-5.0 + 3.0 * t);
    w[2] = 0.5 * t * (1.0 + t * (4.0 - 3.0 * t));
    w[3] = 0.5 * t * t * (-1.0 + t);
    if (!before) {
        w[1] += 2.0 * w[0];
        w[2] -= w[0];
        w[0] = 0.0;
    }
    if (!after) {
        w[2] += 2.0 * w[3];
        w[1] -= w[3];
        w[3] = 0.0;
    }
}

// The sign that brings a quaternion next to another.
static double SignNextTo(const float* a, const float* b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0f ? -1.0 : 1.0;
}

void jnMixRotations(const float* const frames[4], const double w[4], float out[4])
{
    double after = SignNextTo(frames[1], frames[2]);
    const double signs[4] = {SignNextTo(frames[1], frames[0]), 1.0, after, after * SignNextTo(frames[2], frames[3])};
    double sum[4] = {0}, square = 0.0;
    for (int n = 0; n < 4; ++n) {
        for (int i = 0; i < 4; ++i) {
            sum[i] += signs[n] * w[n] * (double)frames[n][i];
        }
    }
    for (int i = 0; i < 4; ++i) {
        square += sum[i] * sum[i];
    }
    double scale = 1.0 / sqrt(square);
    for (int i = 0; i < 4; ++i) {
        out[i] = square > 0.0 ? (float)(scale * sum[i]) : frames[1][i];
    }
}

jnClipPlace jnPlaceInClip(const jnAssetClip* clip, double seconds)
{
    int count = clip->frameCount;
    double frames = count, at = seconds * clip->rate;
    at = jnIsFiniteD(at) ? at : 0.0;
    at = clip->looping ? at - floor(at / frames) * frames : fmin(fmax(at, 0.0), frames - 1.0);
    int from = (int)at < count ? (int)at : count - 1;
    jnClipPlace place = {.share = (float)(at - from)};
    for (int i = 0; i < 4; ++i) {
        int frame = from - 1 + i;
        bool there = frame >= 0 && frame < count;
        place.frames[i] = there ? frame : clip->looping ? (frame + count) % count : frame < 0 ? 0 : count - 1;
    }
    jnWeighFrames(at - from, clip->looping || from > 0, clip->looping || from + 2 < count, place.weights);
    return place;
}

// `count` numbers of a joint.
static void Mix(const float* track, const size_t entries[4], const double w[4], size_t count, float* out)
{
    for (size_t i = 0; i < count; ++i) {
        double sum = 0.0;
        for (int n = 0; n < 4; ++n) {
            sum += w[n] * (double)track[count * entries[n] + i];
        }
        out[i] = (float)sum;
    }
}

// The rest pose stands in for a clip that is not there: whoever asks continues with a pose.
static void CopyRestPose(const jnAsset* asset, float* rotations, float* translations, float* scales)
{
    for (size_t j = 0; j < (size_t)asset->jointCount; ++j) {
        memcpy(rotations + 4 * j, asset->joints[j].rotation, 4 * sizeof(float));
        memcpy(translations + 3 * j, asset->joints[j].translation, 3 * sizeof(float));
        memcpy(scales + 3 * j, asset->joints[j].scale, 3 * sizeof(float));
    }
}

void jnAsset_SampleClip(
    const jnAsset* asset, int index, double seconds, float* rotations, float* translations, float* scales)
{
    if (JN_BROKEN(asset != NULL && rotations != NULL && translations != NULL && scales != NULL)) {
        return;
    }
    if (JN_BROKEN(index >= 0 && index < asset->clipCount)) {
        CopyRestPose(asset, rotations, translations, scales);
        return;
    }
    jnAssetClip clip = jnAsset_Clip(asset, index);
    jnClipPlace at = jnPlaceInClip(&clip, seconds);
    size_t joints = (size_t)asset->jointCount;
    for (size_t j = 0; j < joints; ++j) {
        size_t entries[4];
        const float* turns[4];
        for (int n = 0; n < 4; ++n) {
            entries[n] = (size_t)at.frames[n] * joints + j;
            turns[n] = clip.rotations + 4 * entries[n];
        }
        jnMixRotations(turns, at.weights, rotations + 4 * j);
        Mix(clip.translations, entries, at.weights, 3, translations + 3 * j);
        if (clip.scales != NULL) {
            Mix(clip.scales, entries, at.weights, 3, scales + 3 * j);
        } else {
            memcpy(scales + 3 * j, asset->joints[j].scale, 3 * sizeof(float));
        }
    }
}
