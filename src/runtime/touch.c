// Flesh pressed by solid bodies.
//
// The asset has a few hundred probes of the skin, and for each what a push of one newton does: G, the way that every
// other probe gives, and the displacement of all skin around it (modes/touch.h). Modes answer for their part by
// themselves. In a step the probes that are inside a collider by d, along their own normals, get pushes f >= 0:
//
//     (G + W H W^T) f >= d,  f >= 0,  and no push where it is more       H = gain (1 - position left) / k_s of an
//     interval
//
// W being what the modes move the probes by. H is the offset of a mode after the interval under one newton throughout:
// the force acts within the step that it is found in, so that what comes out is where the skin is pushed to, for any
// interval: nothing overshoots, and what rests goes on resting. The matrix is symmetric and positive, and the pushes
// are found by sweeps of projected Gauss-Seidel. A probe gives way by no more than the flesh over its bone.
//
// The dents are the sum of the responses, turned as the skin is. Between the probes a vertex may still be inside: it is
// pushed out, by no more than it was moved that way already, so that the other side of a thin limb stays.
//
// All of it is plain arithmetic in one order: the same bytes everywhere.
#include "touch.h"

#include "character_internal.h"
#include "jounce/spring_functions.h"

#include <math.h>
#include <string.h>

#define BONE 0.9f    // of the flesh over a bone that can be pressed away
#define FACING 0.05f // cosine between a collider's way in and the skin's: from here on it presses
#define FACING_FULL 0.3f
#define SLANTED 0.7f     // cosine: a probe is not pressed deeper for a slant beyond
#define FIRMER 1.02f     // of the diagonal: rounding leaves the matrix positive
#define ROUND_EDGE 4.0f  // times the nearest way out of a box, that another is longer
#define ENOUGH 2e-5f     // metres: looks end below
#define FASTEST 5.0f     // m/s: no push makes the skin faster by more in a step
#define LEAST_PART 1e-4f // of what the firmest probe gives way, for a mode to take part
#define SWING 0.06f      // metres that flesh may be off its bones' spheres
#define LARGEST_SIZE 1e6f
#define STILL 1e-6f       // metres: sweeps end below
#define OUTWARDS 3.0f     // times what a vertex was moved, that it is still pushed out by
#define FARTHEST 1.5f     // of the depth of the deepest contact, that a push moves skin by
#define MOST_FORCE 6.0f   // times what would press one probe alone so far
#define LEAST_PRESS 1e-5f // metres, of a contact
enum { SWEEPS = 40, LOOKS = 5, PARTS = 8, CHUNK = 32, MOST_MODES = 64 };

// A probe that a collider reaches.
typedef struct Reached {
    int probe, owner; // collider
    float want;       // metres that it has to give way
    float missing;    // metres more that the bone does not let it
    float point[3], normal[3], inward[3];
} Reached;

typedef struct Presses {
    int count;
    Reached list[JN_MAX_PRESSED];
    jnPosedShape shapes[JN_MAX_PRESSED]; // of their owners
    float matrix[JN_MAX_PRESSED][JN_MAX_PRESSED];
    float modes[JN_MAX_PRESSED][JN_MAX_PRESSED]; // what of it the modes do
    float forces[JN_MAX_PRESSED];
    int modeCount; // that take part
    int mode[MOST_MODES];
    float pushes[MOST_MODES][JN_MAX_PRESSED]; // newtons at the probes as forces on them
} Presses;

float jnShapeDistance(const jnPosedShape* s, const float point[3], float normal[3])
{
    float p[3], n[3] = {0.0f, 1.0f, 0.0f}, distance;
    const float *r = s->rotation,
                d[3] = {point[0] - s->position[0], point[1] - s->position[1], point[2] - s->position[2]};
    for (int i = 0; i < 3; ++i) {
        p[i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
    }
    if (s->shape == jn_colliderPlane) {
        distance = p[1];
    } else if (s->shape == jn_colliderBox) {
        float out[3], square = 0.0f;
        int nearest = 0;
        for (int i = 0; i < 3; ++i) {
            out[i] = fabsf(p[i]) - s->half[i];
            nearest = out[i] > out[nearest] ? i : nearest;
            square += out[i] > 0.0f ? out[i] * out[i] : 0.0f;
        }
        float length = sqrtf(square);
        for (int i = 0; i < 3; ++i) {
            float part = length > 0.0f ? (out[i] > 0.0f ? out[i] / length : 0.0f) : (i == nearest ? 1.0f : 0.0f);
            n[i] = p[i] < 0.0f ? -part : part;
        }
        distance = (length > 0.0f ? length : out[nearest]) - s->radius;
    } else {
        float half = s->shape == jn_colliderCapsule ? s->half[1] : 0.0f;
        n[0] = p[0];
        n[1] = p[1] - (p[1] > half ? half : p[1] < -half ? -half : p[1]) * (half > 0.0f ? 1.0f : 0.0f);
        n[2] = p[2];
        float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        distance = length - s->radius;
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 0.0f ? n[i] / length : i == 1 ? 1.0f : 0.0f;
        }
    }
    for (int i = 0; i < 3; ++i) {
        normal[i] = r[3 * i] * n[0] + r[3 * i + 1] * n[1] + r[3 * i + 2] * n[2];
    }
    return distance;
}

static bool IsGood(const jnCollider* c, int jointCount)
{
    float sum = c->radius + c->half[0] + c->half[1] + c->half[2];
    for (int i = 0; i < 4; ++i) {
        sum += c->rotation[i] + (i < 3 ? c->position[i] : 0.0f);
    }
    bool sized = c->radius >= 0.0f && c->half[0] >= 0.0f && c->half[1] >= 0.0f && c->half[2] >= 0.0f;
    return jnIsFinite(sum) && sized && (int)c->shape >= 0 && (int)c->shape < jn_colliderShapeCount && c->joint >= -1 &&
           c->joint < jointCount;
}

static void RotationRows(const double q[4], double rows[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), //
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),                  //
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)};
    memcpy(rows, r, sizeof(r));
}

// The inverse of an affine matrix of rows of 4. False where it has none.
static bool Invert(const float* m, double out[12])
{
    double a[12];
    for (int i = 0; i < 12; ++i) {
        a[i] = (double)m[i];
    }
    double c0 = a[5] * a[10] - a[6] * a[9], c1 = a[6] * a[8] - a[4] * a[10], c2 = a[4] * a[9] - a[5] * a[8];
    double determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
    if (!(determinant * determinant > 0.0)) {
        return false;
    }
    const double inverse[9] = {c0, a[2] * a[9] - a[1] * a[10], a[1] * a[6] - a[2] * a[5], //
        c1, a[0] * a[10] - a[2] * a[8], a[2] * a[4] - a[0] * a[6],                        //
        c2, a[1] * a[8] - a[0] * a[9], a[0] * a[5] - a[1] * a[4]};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
            out[4 * i + k] = inverse[3 * i + k] / determinant;
        }
        out[4 * i + 3] = -(out[4 * i] * a[3] + out[4 * i + 1] * a[7] + out[4 * i + 2] * a[11]);
    }
    return true;
}

// The frame that a joint gives its collider: place and rotation, from the skin's matrix.
static bool JointFrame(const jnAsset* a, const double* matrices, int joint, double rows[9], double place[3])
{
    double bind[12], global[12], q[4];
    const double* m = matrices + 12 * (size_t)joint;
    if (!Invert(a->joints[joint].inverseBind, bind)) {
        return false;
    }
    for (int i = 0; i < 12; ++i) {
        const double *row = m + i / 4 * 4, *column = bind + i % 4;
        global[i] = row[0] * column[0] + row[1] * column[4] + row[2] * column[8] + (i % 4 == 3 ? row[3] : 0.0);
    }
    jnRotationOf(global, q);
    RotationRows(q, rows);
    for (int i = 0; i < 3; ++i) {
        place[i] = global[4 * i + 3];
    }
    return true;
}

// A collider in place, from an origin. False where it is none.
static bool PoseCollider(
    const jnAsset* a, const double* matrices, const double origin[3], const jnCollider* c, jnPosedShape* s)
{
    double frame[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, place[3] = {0}, q[4] = {0, 0, 0, 1}, own[9];
    if (!IsGood(c, a->jointCount) || (c->joint >= 0 && !JointFrame(a, matrices, c->joint, frame, place))) {
        return false;
    }
    double square = 0.0;
    for (int i = 0; i < 4; ++i) {
        square += (double)c->rotation[i] * (double)c->rotation[i];
    }
    for (int i = 0; square > 1e-30 && i < 4; ++i) {
        q[i] = (double)c->rotation[i] / sqrt(square);
    }
    RotationRows(q, own);
    *s = (jnPosedShape){.shape = c->shape, .radius = jnClamp(c->radius, LARGEST_SIZE, 0.0f)};
    bool near = true;
    for (int i = 0; i < 3; ++i) {
        const double* row = frame + 3 * i;
        double at = place[i] - origin[i];
        for (int k = 0; k < 3; ++k) {
            at += row[k] * (double)c->position[k];
            s->rotation[3 * i + k] = (float)(row[0] * own[k] + row[1] * own[3 + k] + row[2] * own[6 + k]);
        }
        s->half[i] = jnClamp(c->half[i], LARGEST_SIZE, 0.0f);
        s->position[i] = (float)at;
        near = near && at <= (double)LARGEST_SIZE && at >= -(double)LARGEST_SIZE;
    }
    return near;
}

// Matrices as floats, from the origin.
static void FillPalette(
    const jnAsset* a, const double* matrices, const double origin[3], float* palette, float* stretches)
{
    for (size_t i = 0; i < 12 * (size_t)a->jointCount; ++i) {
        palette[i] = (float)(matrices[i] - (i % 4 == 3 ? origin[i % 12 / 4] : 0.0));
    }
    for (size_t j = 0; j < (size_t)a->jointCount; ++j) {
        float most = 0.0f;
        for (const float* m = palette + 12 * j; m < palette + 12 * (j + 1); m += 4) {
            float square = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
            most = square > most ? square : most;
        }
        stretches[j] = sqrtf(most);
    }
}

static void Blend(const jnAsset* a, const float* palette, int vertex, float blended[12])
{
    size_t b = (size_t)(vertex / JN_LANES), count = a->influenceStarts[b + 1] - a->influenceStarts[b];
    size_t at = (size_t)a->influenceStarts[b] * JN_LANES + (size_t)(vertex % JN_LANES) * count;
    memset(blended, 0, 12 * sizeof(float));
    for (size_t k = 0; k < count && a->influenceWeights[at + k] > 0.0f; ++k) {
        const float *m = palette + 12 * (size_t)a->influenceJoints[at + k], w = a->influenceWeights[at + k];
        for (int i = 0; i < 12; ++i) {
            blended[i] += w * m[i];
        }
    }
}

static void Place(const float m[12], const float at[3], float point[3])
{
    for (int i = 0; i < 3; ++i) {
        point[i] = m[4 * i] * at[0] + m[4 * i + 1] * at[1] + m[4 * i + 2] * at[2] + m[4 * i + 3];
    }
}

// Spheres around the groups: of a blend of joints, one around all that they make of it.
static void PoseGroups(const jnTouchTable* t, const float* palette, const float* stretches, float* spheres)
{
    static const float parts[JN_GROUP_JOINTS + 1] = {0.0f, 1.0f, 1.0f / 2.0f, 1.0f / 3.0f, 1.0f / 4.0f};
    for (int g = 0; g < t->groupCount; ++g) {
        const jnTouchGroup* group = &t->groups[g];
        float centers[JN_GROUP_JOINTS][3], middle[3] = {0}, stretch = 0.0f, away = 0.0f;
        int count = 1;
        while (count < JN_GROUP_JOINTS && group->joints[count] != group->joints[0]) {
            ++count;
        }
        for (int j = 0; j < count; ++j) {
            float own = stretches[group->joints[j]];
            Place(palette + 12 * (size_t)group->joints[j], group->center, centers[j]);
            stretch = own > stretch ? own : stretch;
            for (int i = 0; i < 3; ++i) {
                middle[i] += parts[count] * centers[j][i];
            }
        }
        for (int j = 0; j < count && count > 1; ++j) {
            float square = 0.0f;
            for (int i = 0; i < 3; ++i) {
                square += (centers[j][i] - middle[i]) * (centers[j][i] - middle[i]);
            }
            away = square > away ? square : away;
        }
        memcpy(spheres + 4 * g, middle, sizeof(middle));
        spheres[4 * g + 3] = group->radius * stretch + sqrtf(away) + SWING;
    }
}

// What morph weights move a probe by at rest. Sums run in PARTS, added up in the end.
static void MoveProbe(const jnTouchTable* t, const float* weights, int probe, float moved[3])
{
    const int16_t* row = t->rows + 3 * (size_t)probe * (size_t)t->columnCount;
    for (int i = 0; i < 3; ++i, row += t->columnCount) {
        float parts[PARTS] = {0};
        int k = 0;
        for (; k + PARTS <= t->columnCount; k += PARTS) {
            for (int j = 0; j < PARTS; ++j) {
                parts[j] += weights[k + j] * (float)row[k + j];
            }
        }
        for (; k < t->columnCount; ++k) {
            parts[0] += weights[k] * (float)row[k];
        }
        moved[i] = t->probes[probe].rowUnit *
                   ((parts[0] + parts[1]) + (parts[2] + parts[3]) + (parts[4] + parts[5]) + (parts[6] + parts[7]));
    }
}

// Puts a probe that a collider presses among the others: once, by the collider that presses it most; where there are
// too many, in the place of the one that is pressed least.
static void Reach(Presses* presses, int8_t* slots, const Reached* reached, const jnPosedShape* shape)
{
    int at = slots[reached->probe];
    if (at < 0 && presses->count < JN_MAX_PRESSED) {
        at = presses->count++;
    } else if (at < 0) {
        at = 0;
        for (int i = 1; i < JN_MAX_PRESSED; ++i) {
            at = presses->list[i].want < presses->list[at].want ? i : at;
        }
        if (presses->list[at].want >= reached->want) {
            return;
        }
        slots[presses->list[at].probe] = -1;
    } else if (presses->list[at].want + presses->list[at].missing >= reached->want + reached->missing) {
        return;
    }
    slots[reached->probe] = (int8_t)at;
    presses->list[at] = *reached;
    presses->shapes[at] = *shape;
}

// The way out of a box through the face that a direction leads to, from a point inside. Near an edge it is no longer
// than a few times the nearest way, so that what slides off a box is let go and does not jump.
static float LeaveBox(const jnPosedShape* s, const float point[3], const float along[3], float nearest, float normal[3])
{
    const float *r = s->rotation,
                d[3] = {point[0] - s->position[0], point[1] - s->position[1], point[2] - s->position[2]};
    float best = ROUND_EDGE * nearest, way = nearest;
    for (int i = 0; i < 3; ++i) {
        float at = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
        float slope = r[i] * along[0] + r[3 + i] * along[1] + r[6 + i] * along[2], sign = slope < 0.0f ? -1.0f : 1.0f;
        float out = s->half[i] + s->radius - sign * at; // along the face's normal
        if (fabsf(slope) > FACING && out / fabsf(slope) < best) {
            best = out / fabsf(slope);
            way = out;
            for (int k = 0; k < 3; ++k) {
                normal[k] = sign * r[3 * k + i];
            }
        }
    }
    return way;
}

// How far a shape wants to press skin at a point, along its way in; below 0 where it is out of reach.
static float WantOf(const jnPosedShape* shape, const float point[3], const float inward[3], float normal[3])
{
    float way = -jnShapeDistance(shape, point, normal);
    if (shape->shape == jn_colliderBox && way > 0.0f) {
        way = LeaveBox(shape, point, inward, way, normal);
    }
    float facing = normal[0] * inward[0] + normal[1] * inward[1] + normal[2] * inward[2];
    float share = (facing - FACING) / (FACING_FULL - FACING);
    share = share > 0.0f ? (share < 1.0f ? share : 1.0f) : 0.0f;
    return share * way / (facing > SLANTED ? facing : SLANTED);
}

static void Limit(float depth, float want, Reached* r)
{
    float most = BONE * depth;
    r->want = want < most ? want : most;
    r->missing = want - r->want;
}

// Whether a shape presses a probe.
static bool IsPressed(const jnPosedShape* shape, float depth, Reached* r)
{
    Limit(depth, WantOf(shape, r->point, r->inward, r->normal), r);
    return r->want > 0.0f;
}

// What all probes of a step are found with.
typedef struct Where {
    const float* palette; // [jointCount][12]
    const float* weights; // [columns]; NULL: none
    const float* points;  // of the surface, [vertices][3]; NULL: they are found
} Where;

// Where a probe is and which way it looks. False where it is too far from a shape to be looked at twice.
static bool PoseProbe(
    const jnAsset* a, const jnTouchTable* t, const Where* where, const jnPosedShape* shape, Reached* r)
{
    const jnTouchProbe* p = &t->probes[r->probe];
    const float* rest = a->rest + 4 * (size_t)p->vertex;
    float blended[12], own[3] = {rest[0], rest[1], rest[2]}, moved[3], square = 0.0f;
    Blend(a, where->palette, p->vertex, blended);
    Place(blended, own, r->point);
    if (!(jnShapeDistance(shape, r->point, r->normal) < SWING)) {
        return false;
    }
    if (where->points != NULL) {
        memcpy(r->point, where->points + 3 * (size_t)p->vertex, sizeof(r->point));
    } else if (where->weights != NULL) {
        MoveProbe(t, where->weights, r->probe, moved);
        for (int i = 0; i < 3; ++i) {
            own[i] += moved[i];
        }
        Place(blended, own, r->point);
    }
    for (int i = 0; i < 3; ++i) {
        const float* m = blended + 4 * i;
        r->inward[i] = -(m[0] * p->normal[0] + m[1] * p->normal[1] + m[2] * p->normal[2]);
        square += r->inward[i] * r->inward[i];
    }
    float scale = square > 0.0f ? 1.0f / sqrtf(square) : 0.0f;
    for (int i = 0; i < 3; ++i) {
        r->inward[i] *= scale;
    }
    return true;
}

// All probes inside a collider.
static void FindReached(
    jnCharacter* c, const jnTouchTable* t, const double* matrices, const Where* where, Presses* presses)
{
    jnTouchState* state = c->touch;
    for (int i = 0; i < state->colliderCount; ++i) {
        jnPosedShape shape;
        if (!PoseCollider(c->asset, matrices, c->origin, &state->colliders[i], &shape)) {
            continue;
        }
        for (int g = 0; g < t->groupCount; ++g) {
            float normal[3];
            const float* sphere = state->groups + 4 * g;
            if (!(jnShapeDistance(&shape, sphere, normal) < sphere[3])) {
                continue;
            }
            for (int p = t->groups[g].first; p < t->groups[g].first + t->groups[g].count; ++p) {
                Reached r = {.probe = p, .owner = i};
                if (PoseProbe(c->asset, t, where, &shape, &r) && IsPressed(&shape, t->probes[p].depth, &r)) {
                    Reach(presses, state->slots, &r, &shape);
                }
            }
        }
    }
}

// What pushes do to the others, beside the modes.
static void FillMatrix(const jnTouchTable* t, const int8_t* slots, Presses* presses)
{
    for (int i = 0; i < presses->count; ++i) {
        const jnTouchProbe* p = &t->probes[presses->list[i].probe];
        memset(presses->matrix[i], 0, (size_t)presses->count * sizeof(float));
        memset(presses->modes[i], 0, (size_t)presses->count * sizeof(float));
        for (uint32_t l = p->links; l < p[1].links; ++l) {
            int k = slots[t->links[l].probe];
            if (k >= 0 && k != i) {
                float both = sqrtf(p->compliance * t->probes[t->links[l].probe].compliance);
                presses->matrix[i][k] = both * (float)t->links[l].share * (1.0f / 32767.0f);
            }
        }
        presses->matrix[i][i] = FIRMER * p->compliance;
    }
}

// Offset and velocity of the modes after the interval under one newton. After a restart they are at rest under it.
static const float* FindResponses(jnCharacter* c, bool resting)
{
    jnTouchState* state = c->touch;
    const jnMorphs* m = c->morphs;
    double h = resting ? HUGE_VAL : m->clock.interval.h;
    for (int k = 0; state->time != h && k < m->modeCapacity; ++k) {
        jnSpringResponse r = jnEvaluateSpring((double)m->stiffness[k], (double)m->damping[k], resting ? 0.0 : h);
        bool stiff = m->stiffness[k] > 1.0f;
        state->responses[k] = resting ? (stiff ? 1.0f / m->stiffness[k] : 0.0f) : (float)r.step;
        state->responses[m->modeCapacity + k] = resting ? 0.0f : (float)r.impulse;
    }
    state->time = h;
    return state->responses;
}

// Newtons at the pressed probes as forces on modes [first, end): pushes[mode - first][press].
static void FindPushes(const jnCharacter* c, const jnTouchTable* t, const Presses* presses, int first, int end,
    float pushes[CHUNK][JN_MAX_PRESSED])
{
    const jnAssetMode* modes = c->morphs->modes->modes;
    for (int i = 0; i < presses->count; ++i) {
        const jnTouchProbe* p = &t->probes[presses->list[i].probe];
        const int16_t* x =
            t->rows + 3 * (size_t)presses->list[i].probe * (size_t)t->columnCount + (size_t)c->asset->morphs->firstMode;
        const int16_t *y = x + t->columnCount, *z = y + t->columnCount;
        for (int k = first; k < end; ++k) {
            float along = p->normal[0] * (float)x[k] + p->normal[1] * (float)y[k] + p->normal[2] * (float)z[k];
            pushes[k - first][i] = -along * p->rowUnit / modes[k].unit;
        }
    }
}

// A mode's part of what pushes do; it takes part if that is worth a word.
static void AddMode(const jnCharacter* c, int mode, float response, const float* pushes, Presses* presses)
{
    const jnMorphs* m = c->morphs;
    float most = 0.0f, firmest = presses->matrix[0][0], scale = m->gain[mode] * m->strengths[mode];
    float resting = scale / (m->stiffness[mode] > 1.0f ? m->stiffness[mode] : 1.0f); // whatever the step
    for (int i = 0; i < presses->count; ++i) {
        most = fabsf(pushes[i]) > most ? fabsf(pushes[i]) : most;
        firmest = presses->matrix[i][i] < firmest ? presses->matrix[i][i] : firmest;
    }
    if (!(resting * most * most > LEAST_PART * firmest) || presses->modeCount == MOST_MODES) {
        return;
    }
    presses->mode[presses->modeCount] = mode;
    memcpy(presses->pushes[presses->modeCount++], pushes, (size_t)presses->count * sizeof(float));
    for (int i = 0; i < presses->count; ++i) {
        float own = response * scale * pushes[i];
        for (int j = 0; j < presses->count; ++j) {
            presses->modes[i][j] += own * pushes[j];
        }
    }
}

static void AddModes(const jnCharacter* c, const jnTouchTable* t, const float* responses, Presses* presses)
{
    int count = c->morphs->modeCount;
    float pushes[CHUNK][JN_MAX_PRESSED];
    presses->modeCount = 0;
    for (int first = 0; first < count; first += CHUNK) {
        int end = first + CHUNK < count ? first + CHUNK : count;
        FindPushes(c, t, presses, first, end, pushes);
        for (int k = first; k < end; ++k) {
            AddMode(c, k, responses[k], pushes[k - first], presses);
        }
    }
    for (int i = 0; i < presses->count; ++i) {
        for (int j = 0; j < presses->count; ++j) {
            presses->matrix[i][j] += presses->modes[i][j];
        }
    }
}

// What is left to go is kept up with every push that changes: most do not.
static void SolveForces(Presses* presses)
{
    float left[JN_MAX_PRESSED];
    for (int i = 0; i < presses->count; ++i) {
        left[i] = presses->list[i].want;
    }
    for (int i = 0; i < presses->count; ++i) {
        for (int j = 0; presses->forces[i] > 0.0f && j < presses->count; ++j) {
            left[j] -= presses->matrix[i][j] * presses->forces[i];
        }
    }
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        float most = 0.0f;
        for (int i = 0; i < presses->count; ++i) {
            const float* row = presses->matrix[i];
            float want = presses->list[i].want, limit = want > 0.0f ? MOST_FORCE * want / row[i] : 0.0f;
            float force = presses->forces[i] + left[i] / row[i];
            force = force > 0.0f ? (force < limit ? force : limit) : 0.0f; // what is not a number becomes 0
            float change = force - presses->forces[i];
            if (change == 0.0f) {
                continue;
            }
            for (int j = 0; j < presses->count; ++j) {
                left[j] -= row[j] * change;
            }
            most = fabsf(change) * row[i] > most ? fabsf(change) * row[i] : most;
            presses->forces[i] = force;
        }
        if (most < STILL) {
            break;
        }
    }
}

// The modes feel the pushes over the interval.
static void PushModes(jnCharacter* c, const float* responses, const Presses* presses)
{
    jnMorphs* m = c->morphs;
    float deepest = 0.0f;
    for (int i = 0; i < presses->count; ++i) {
        deepest = presses->list[i].want > deepest ? presses->list[i].want : deepest;
    }
    for (int n = 0; n < presses->modeCount; ++n) {
        int k = presses->mode[n];
        float force = 0.0f, largest = m->modes->modes[k].largest;
        for (int i = 0; i < presses->count; ++i) {
            force += presses->pushes[n][i] * presses->forces[i];
        }
        force *= m->gain[k];
        if (!(largest > 0.0f) || !jnIsFinite(force)) {
            continue;
        }
        float offset = jnClamp(responses[k] * force, FARTHEST * deepest / largest, 0.0f);
        float velocity = jnClamp(responses[m->modeCapacity + k] * force, FASTEST / largest, 0.0f);
        float *z = &m->now[k], *p = &m->now[m->lanes + k];
        *z = jnClamp(*z + offset, JN_LARGEST_STATE, 0.0f);
        *p = jnClamp(*p + velocity, JN_LARGEST_STATE, 0.0f);
    }
}

// Once more where the modes have taken the probes: how far a shape wants to press is not linear in where the skin is,
// what is shown of modes is limited, and what rests would feel how long the step was.
static float LookAgain(jnCharacter* c, const jnTouchTable* t, const Where* where, Presses* presses)
{
    float change = 0.0f;
    jnMorphs_Weights(c->morphs, 1.0, c->weights, NULL);
    for (int i = 0; i < presses->count; ++i) {
        Reached* r = &presses->list[i];
        float moved = 0.0f;
        for (int j = 0; j < presses->count; ++j) {
            moved += presses->modes[i][j] * presses->forces[j];
        }
        float before = r->want;
        if (PoseProbe(c->asset, t, where, &presses->shapes[i], r)) {
            Limit(t->probes[r->probe].depth, moved + WantOf(&presses->shapes[i], r->point, r->inward, r->normal), r);
        }
        change = fabsf(r->want - before) > change ? fabsf(r->want - before) : change;
    }
    return change;
}

// Forces and modes.
static void SolvePresses(jnCharacter* c, const jnTouchTable* t, const Where* where, bool resting, Presses* presses)
{
    jnMorphs* m = c->morphs;
    float before[2][JN_MAX_ASSET_MODES];
    const float* responses = FindResponses(c, resting);
    AddModes(c, t, responses, presses);
    SolveForces(presses);
    size_t bytes = (size_t)m->modeCount * sizeof(float);
    memcpy(before[0], m->now, bytes);
    memcpy(before[1], m->now + m->lanes, bytes);
    bool looks = true;
    for (int look = 1; looks && look < LOOKS; ++look) {
        PushModes(c, responses, presses);
        looks = LookAgain(c, t, where, presses) > ENOUGH;
        SolveForces(presses);
        memcpy(m->now, before[0], bytes);
        memcpy(m->now + m->lanes, before[1], bytes);
    }
    PushModes(c, responses, presses);
}

// The contact of a collider, made when its first probe comes; NULL: there are too many.
static jnContact* ContactOf(jnTouchState* state, int collider, const jnPosedShape* shape)
{
    int i = 0;
    while (i < state->contactCount && state->contacts[i].collider != collider) {
        ++i;
    }
    if (i == state->contactCount && i < JN_MAX_CONTACTS) {
        state->contacts[i] = (jnContact){.collider = collider};
        state->shapes[i] = *shape;
        state->contactCount++;
    }
    return i < JN_MAX_CONTACTS ? &state->contacts[i] : NULL;
}

static void Tell(jnCharacter* c, const jnTouchTable* t, const Presses* presses)
{
    jnTouchState* state = c->touch;
    for (int i = 0; i < presses->count; ++i) {
        const Reached* r = &presses->list[i];
        const jnTouchProbe* probe = &t->probes[r->probe];
        jnContact* contact = r->want > LEAST_PRESS ? ContactOf(state, r->owner, &presses->shapes[i]) : NULL;
        if (contact == NULL) {
            continue;
        }
        // Flesh is the firmer the more of it is pressed away.
        float share = probe->depth > 0.0f ? r->want / probe->depth : 0.0f;
        float force = presses->forces[i] * (1.0f + t->stiffening * share * share);
        for (int k = 0; k < 3; ++k) {
            contact->force[k] += force * r->inward[k];
        }
        contact->beyond = r->missing > contact->beyond ? r->missing : contact->beyond;
        if (r->want > contact->depth) {
            contact->depth = r->want;
            contact->vertex = probe->vertex;
            for (int k = 0; k < 3; ++k) {
                contact->point[k] = (float)((double)r->point[k] + (double)(r->want * r->inward[k]) + c->origin[k]);
                contact->normal[k] = r->normal[k];
            }
        }
    }
}

void jnTouch(jnCharacter* c, const double* matrices, const float* weights, const float* points, jnTouchModes modes)
{
    jnTouchState* state = c->touch;
    const jnTouchTable* t = &((const jnAssetBlock*)(const void*)c->asset)->touch;
    if (state == NULL) {
        return;
    }
    state->pressedCount = state->contactCount = 0;
    c->isTouched = state->colliderCount > 0;
    if (!c->isTouched) {
        return;
    }
    Presses presses;
    const Where where = {state->palette, weights, points};
    presses.count = 0;
    float* stretches = state->palette + 12 * (size_t)c->asset->jointCount;
    FillPalette(c->asset, matrices, c->origin, state->palette, stretches);
    PoseGroups(t, state->palette, stretches, state->groups);
    FindReached(c, t, matrices, &where, &presses);
    bool moves = modes != jn_touchStill && c->morphs != NULL && c->morphs->modes != NULL;
    if (presses.count > 0) {
        FillMatrix(t, state->slots, &presses);
        memset(presses.forces, 0, sizeof(presses.forces));
        if (moves) {
            SolvePresses(c, t, &where, modes == jn_touchResting, &presses);
        } else {
            SolveForces(&presses);
        }
        Tell(c, t, &presses);
    }
    for (int i = 0; i < presses.count; ++i) {
        state->slots[presses.list[i].probe] = -1;
        if (presses.forces[i] > 0.0f) {
            state->probes[state->pressedCount] = presses.list[i].probe;
            state->forces[state->pressedCount++] = presses.forces[i];
        }
    }
}

// The responses of all pushes, of the blocks that they reach: [blocks][3][JN_LANES], and their marks.
static void AddResponses(const jnTouchState* state, const jnTouchTable* t, float* dents)
{
    for (int i = 0; i < state->pressedCount; ++i) {
        const jnTouchProbe* p = &t->probes[state->probes[i]];
        float scale = state->forces[i] * p->entryUnit;
        for (uint32_t e = p->entries; e < p[1].entries; ++e) {
            float* to = dents + (size_t)t->entryBlocks[e] * JN_FIELD_SIZE;
            const int8_t* from = t->entries + (size_t)e * JN_FIELD_SIZE;
            if (!state->marks[t->entryBlocks[e]]) {
                memset(to, 0, JN_FIELD_SIZE * sizeof(float));
                state->marks[t->entryBlocks[e]] = 1;
            }
            for (int k = 0; k < JN_FIELD_SIZE; ++k) {
                to[k] += scale * (float)from[k];
            }
        }
    }
}

// What is inside a collider yet goes out, by no more than a few times what it was moved that way. A shape is looked at
// where a block's first vertex is nearer to it than to the farthest other.
static void PushOut(const jnTouchState* state, const float* moved, int count, float deepest, float* places)
{
    float radius = 0.0f, normal[3], spent[JN_LANES] = {0};
    for (int v = 1; v < count; ++v) {
        float square = 0.0f;
        for (int k = 0; k < 3; ++k) {
            square += (places[3 * v + k] - places[k]) * (places[3 * v + k] - places[k]);
        }
        radius = square > radius ? square : radius;
    }
    radius = sqrtf(radius);
    for (int i = 0; i < state->contactCount; ++i) {
        if (jnShapeDistance(&state->shapes[i], places, normal) > radius) {
            continue;
        }
        for (int v = 0; v < count; ++v) {
            float *place = places + 3 * v, way = -jnShapeDistance(&state->shapes[i], place, normal), most = 0.0f;
            const float went[3] = {moved[v], moved[JN_LANES + v], moved[2 * JN_LANES + v]};
            if (!(way > 0.0f)) {
                continue;
            }
            if (state->shapes[i].shape == jn_colliderBox) {
                float length = sqrtf(went[0] * went[0] + went[1] * went[1] + went[2] * went[2]);
                float scale = length > 0.0f ? 1.0f / length : 0.0f;
                const float along[3] = {scale * went[0], scale * went[1], scale * went[2]};
                way = LeaveBox(&state->shapes[i], place, along, way, normal);
            }
            for (int k = 0; k < 3; ++k) {
                most += OUTWARDS * normal[k] * went[k];
            }
            most = most < deepest - spent[v] ? most : deepest - spent[v];
            float push = way < most ? way : most;
            if (!(push > 0.0f)) {
                continue;
            }
            spent[v] += push;
            for (int k = 0; k < 3; ++k) {
                place[k] += push * normal[k];
            }
        }
    }
}

// deepest: metres, of the contacts.
static void DentBlock(jnCharacter* c, int block, float deepest, float* dents)
{
    const jnAsset* a = c->asset;
    bool dual = a->skinning == jn_skinDual;
    jnSkinPass pass = {
        .rest = a->rest,
        .starts = a->influenceStarts,
        .joints = a->influenceJoints,
        .weights = a->influenceWeights,
        .palette = c->palette,
        .duals = dual ? c->duals : NULL,
        .stretches = dual && c->stretches ? c->stretchPalette : NULL,
        .displaced = true,
        .bare = true,
        .field = dents,
        .fieldStart = block,
    };
    int first = block * JN_LANES, count = a->vertexCount - first < JN_LANES ? a->vertexCount - first : JN_LANES;
    float *places = c->positions + 3 * (size_t)first, farthest = FARTHEST * deepest;
    c->kernels->skin(&pass, block, block + 1);
    for (int v = 0; v < count; ++v) {
        float x = dents[v], y = dents[JN_LANES + v], z = dents[2 * JN_LANES + v], square = x * x + y * y + z * z;
        if (square > farthest * farthest) { // squeezed from all sides
            float scale = farthest / sqrtf(square);
            for (int k = 0; k < 3; ++k) {
                dents[k * JN_LANES + v] *= scale;
            }
        }
        for (int k = 0; k < 3; ++k) {
            places[3 * v + k] += dents[k * JN_LANES + v];
        }
    }
    PushOut(c->touch, dents, count, deepest, places);
}

void jnDent(jnCharacter* c)
{
    jnTouchState* state = c->touch;
    if (state == NULL || state->pressedCount == 0) {
        return;
    }
    const jnTouchTable* t = &((const jnAssetBlock*)(const void*)c->asset)->touch;
    float deepest = 0.0f;
    for (int i = 0; i < state->contactCount; ++i) {
        deepest = state->contacts[i].depth > deepest ? state->contacts[i].depth : deepest;
    }
    AddResponses(state, t, c->normals); // which are made behind this
    for (int b = 0; b < c->asset->blockCount; ++b) {
        if (state->marks[b]) {
            state->marks[b] = 0;
            DentBlock(c, b, deepest, c->normals + (size_t)b * JN_FIELD_SIZE);
        }
    }
}

size_t jnPlaceTouchState(jnCharacter* c, const jnAsset* asset, char* base)
{
    const jnTouchTable* t = &((const jnAssetBlock*)(const void*)asset)->touch;
    size_t sizes[6] = {sizeof(jnTouchState), 4 * (size_t)t->groupCount * sizeof(float), (size_t)t->probeCount,
        (size_t)asset->blockCount, 2 * (size_t)asset->modeCount * sizeof(float),
        13 * (size_t)asset->jointCount * sizeof(float)};
    size_t at = 0, places[6];
    c->touch = NULL;
    if (t->probeCount == 0) {
        return 0;
    }
    for (int i = 0; i < 6; ++i) {
        places[i] = at;
        at += jnAlignUp(sizes[i]);
    }
    if (base != NULL) {
        c->touch = (jnTouchState*)(void*)base;
        c->touch->groups = (float*)(void*)(base + places[1]);
        c->touch->slots = (int8_t*)(base + places[2]);
        c->touch->marks = (uint8_t*)(base + places[3]);
        c->touch->responses = (float*)(void*)(base + places[4]);
        c->touch->palette = (float*)(void*)(base + places[5]);
        memset(c->touch->slots, -1, sizes[2]);
    }
    return at;
}

void jnCharacter_SetColliders(jnCharacter* c, const jnCollider* colliders, int count)
{
    if (JN_BROKEN(c != NULL && count >= 0 && (count == 0 || colliders != NULL)) || c->touch == NULL) {
        return;
    }
    c->touch->colliders = colliders;
    c->touch->colliderCount = count;
    c->isTouched = count > 0 || c->touch->pressedCount > 0 || c->touch->contactCount > 0;
}

int jnCharacter_Contacts(const jnCharacter* c, jnContact* contacts, int capacity)
{
    if (JN_BROKEN(c != NULL) || c->touch == NULL) {
        return 0;
    }
    int count = c->touch->contactCount, some = count < capacity ? count : capacity;
    if (contacts != NULL && some > 0) {
        memcpy(contacts, c->touch->contacts, (size_t)some * sizeof(*contacts));
    }
    return count;
}
