// Units and axes of a cache, found by where its first frame lies.
//
// Every usual unit with each of the 24 ways to name the axes is tried against the posed and the rest surface. A box
// around the points throws most of them out; of the others some points are compared with their nearest vertices. The
// smallest mean distance wins; of equally good ones (a tube looks the same from many sides) the one that is expected,
// which is what the file says of itself, then metres and Y up, then Z up.
#include "character/match_internal.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 400, ROTATIONS = 24, MAX_SCALES = 16 };
// Boxes of the same character differ by what flesh and a pose do; farther off is another unit or axis.
#define BOX_TOLERANCE 0.3
// Distances that differ by less than this are the same.
#define TIE_TOLERANCE 0.01

typedef struct Box {
    double low[3], high[3];
} Box;

static Box FindBox(const float* points, int count)
{
    Box box;
    for (int k = 0; k < 3; ++k) {
        box.low[k] = HUGE_VAL;
        box.high[k] = -HUGE_VAL;
        for (size_t i = 0; i < (size_t)count; ++i) {
            box.low[k] = fmin(box.low[k], (double)points[3 * i + (size_t)k]);
            box.high[k] = fmax(box.high[k], (double)points[3 * i + (size_t)k]);
        }
    }
    return box;
}

// Signed permutations of the axes without a mirror. Rows: our axis from which of the cache's.
static void ListRotations(int upAxis, double (*rotations)[9])
{
    // Same axes; Z up to Y up; Y up to Z up; these first.
    static const int known[3][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1, 0, -1, 0}, {1, 0, 0, 0, 0, -1, 0, 1, 0}};
    int count = 0;
    for (int i = 0; i < 3; ++i) {
        int which = upAxis == JNA_UP_Z && i < 2 ? 1 - i : i;
        for (int k = 0; k < 9; ++k) {
            rotations[count][k] = known[which][k];
        }
        count++;
    }
    for (int code = 0; code < 48; ++code) {
        int a = code / 8 % 3, b = (a + 1 + code / 24) % 3, c = 3 - a - b;
        double r[9] = {0};
        r[a] = (code & 1) != 0 ? -1 : 1;
        r[3 + b] = (code & 2) != 0 ? -1 : 1;
        r[6 + c] = (code & 4) != 0 ? -1 : 1;
        double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
                             r[2] * (r[3] * r[7] - r[4] * r[6]);
        bool listed = determinant < 0;
        for (int i = 0; i < 3 && !listed; ++i) {
            listed = memcmp(rotations[i], r, sizeof(r)) == 0;
        }
        // Zeroes have no sign here: r starts from zeroes and only ones are written.
        if (!listed && count < ROTATIONS) {
            memcpy(rotations[count++], r, sizeof(r));
        }
    }
}

static int ListScales(const jnaMatching* m, double* scales)
{
    const double usual[] = {
        m->cache->metresPerUnit, 1, m->surface->metresPerUnit, 0.01, 0.001, 0.0254, 0.3048, 0.1, 100, 10, 1000};
    int count = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); ++i) {
        bool listed = !(usual[i] > 0) || !isfinite(usual[i]);
        for (int k = 0; k < count && !listed; ++k) {
            listed = fabs(usual[i] / scales[k] - 1) < 1e-9;
        }
        if (!listed && count < MAX_SCALES) {
            scales[count++] = usual[i];
        }
    }
    return count;
}

static void Place(const double* rotation, double scale, const float* point, double* out)
{
    for (int i = 0; i < 3; ++i) {
        out[i] = scale * (rotation[3 * i] * (double)point[0] + rotation[3 * i + 1] * (double)point[1] +
                             rotation[3 * i + 2] * (double)point[2]);
    }
}

// Largest difference of two boxes' sides, as a fraction of the second's size.
static double CompareBoxes(const Box* from, const double* rotation, double scale, const Box* to, double extent)
{
    float low[3], high[3];
    double a[3], b[3], worst = 0;
    for (int k = 0; k < 3; ++k) {
        low[k] = (float)from->low[k];
        high[k] = (float)from->high[k];
    }
    Place(rotation, scale, low, a);
    Place(rotation, scale, high, b);
    for (int k = 0; k < 3; ++k) {
        worst = fmax(worst, fabs(fmin(a[k], b[k]) - to->low[k]));
        worst = fmax(worst, fabs(fmax(a[k], b[k]) - to->high[k]));
    }
    return worst / extent;
}

// Mean distance of some points to their nearest vertices.
static double MeanDistance(const jnaMatching* m, const jnaPointTree* tree, const double* rotation, double scale)
{
    int count = m->cache->pointCount < SAMPLES ? m->cache->pointCount : SAMPLES;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        size_t point = (size_t)i * (size_t)m->cache->pointCount / (size_t)count;
        double place[3], distance;
        Place(rotation, scale, m->cache->positions + 3 * point, place);
        jnaPointTree_Nearest(tree, place, &distance);
        sum += distance;
    }
    return sum / count;
}

const float* jnaMatching_Surface(const jnaMatching* m, int which)
{
    return which == 0 ? m->surface->posed : m->surface->rest;
}

void jnaPlacePoints(const jnaMatch* match, const float* frame, int pointCount, float* out)
{
    for (size_t i = 0; i < (size_t)pointCount; ++i) {
        double place[3];
        Place(match->rotation, match->scale, frame + 3 * i, place);
        for (size_t k = 0; k < 3; ++k) {
            out[3 * i + k] = (float)place[k];
        }
    }
}

typedef struct Best {
    double distance, scale, box;
    const double* rotation;
    int which;
} Best;

static void TryAll(const jnaMatching* m, double (*rotations)[9], const double* scales, int scaleCount, Best* best)
{
    Box from = FindBox(m->cache->positions, m->cache->pointCount);
    for (int which = 0; which < 2; ++which) {
        const float* surface = jnaMatching_Surface(m, which);
        if (surface == NULL) {
            continue;
        }
        Box to = FindBox(surface, m->surface->vertexCount);
        for (int s = 0; s < scaleCount; ++s) {
            for (int r = 0; r < ROTATIONS; ++r) {
                double box = CompareBoxes(&from, rotations[r], scales[s], &to, m->extent);
                best->box = fmin(best->box, box);
                if (box > BOX_TOLERANCE) {
                    continue;
                }
                double distance = MeanDistance(m, &m->trees[which], rotations[r], scales[s]);
                if (distance < best->distance * (1 - TIE_TOLERANCE) - 1e-6 * m->extent) {
                    *best = (Best){distance, scales[s], best->box, rotations[r], which};
                }
            }
        }
    }
}

jnResult jnaFindFrame(jnaMatching* m, jnaMatch* match)
{
    double rotations[ROTATIONS][9], scales[MAX_SCALES];
    ListRotations(m->cache->upAxis, rotations);
    int scaleCount = ListScales(m, scales);
    Best best = {.distance = HUGE_VAL, .box = HUGE_VAL};
    TryAll(m, rotations, scales, scaleCount, &best);
    if (best.rotation == NULL) {
        return jnFail(m->error, jn_badData,
            "%s: does not lie on the character in any usual unit or axes: its box is off by %.0f %% of the character's "
            "size at best",
            m->path, 100 * best.box);
    }
    if (best.distance > JNA_FLESH_REACH * m->extent) {
        return jnFail(m->error, jn_badData,
            "%s: its first frame is %.3g m from the character's surface on average, at best (1 unit = %g m); flesh is "
            "never farther than %.3g m",
            m->path, best.distance, best.scale, JNA_FLESH_REACH * m->extent);
    }
    match->scale = best.scale;
    match->toRest = best.which == 1;
    memcpy(match->rotation, best.rotation, sizeof(match->rotation));
    jnaPlacePoints(match, m->cache->positions, m->cache->pointCount, m->placed);
    return jn_ok;
}
