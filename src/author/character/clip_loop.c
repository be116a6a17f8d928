// Clips that repeat. A file says nothing of it; its first and last frame agree. The last is then one too many: the
// frame after the last is the first.
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <math.h>

// Half a degree and a millimetre: keys of exporters agree to rounding, and nobody sees more.
#define LEAST_COSINE 0.99999048 // of half the angle between two quaternions
#define TRANSLATION_TOLERANCE 1e-3
#define SCALE_TOLERANCE 1e-3
#define WEIGHT_TOLERANCE 1e-2

enum { LEAST_FRAMES = 4 };

static bool SameVector(const float* a, const float* b, double tolerance)
{
    for (int i = 0; i < 3; ++i) {
        if (fabs((double)a[i] - (double)b[i]) > tolerance) {
            return false;
        }
    }
    return true;
}

// True where the last frame is the first again: every joint within half a degree and a millimetre.
bool jnaClip_EndsMeet(const jnaClip* clip)
{
    size_t joints = (size_t)clip->jointCount, last = ((size_t)clip->frameCount - 1) * joints;
    if (clip->frameCount < LEAST_FRAMES) {
        return false;
    }
    for (size_t j = 0; j < joints; ++j) {
        const float *a = clip->rotations + 4 * j, *b = clip->rotations + 4 * (last + j);
        double cosine = 0;
        for (int i = 0; i < 4; ++i) {
            cosine += (double)a[i] * (double)b[i];
        }
        bool same = fabs(cosine) >= LEAST_COSINE &&
                    SameVector(clip->translations + 3 * j, clip->translations + 3 * (last + j), TRANSLATION_TOLERANCE);
        if (!same || (clip->scales != NULL &&
                         !SameVector(clip->scales + 3 * j, clip->scales + 3 * (last + j), SCALE_TOLERANCE))) {
            return false;
        }
    }
    size_t targets = (size_t)clip->targetCount, end = ((size_t)clip->frameCount - 1) * targets;
    for (size_t i = 0; i < targets; ++i) {
        if (fabs((double)clip->targets[i] - (double)clip->targets[end + i]) > WEIGHT_TOLERANCE) {
            return false;
        }
    }
    return true;
}

bool jnaClip_SetLoop(jnaClip* clip, jnaLoop loop)
{
    if (clip->looping && loop == jna_loopAuto) {
        return false; // made as one
    }
    bool meets = jnaClip_EndsMeet(clip);
    clip->looping = loop == jna_loopAuto ? meets : loop == jna_loopYes;
    if (clip->looping && meets) {
        clip->frameCount--;
    }
    return clip->looping;
}
