// Pressing flesh on solid bodies.
//
// A vertex of the skin at p = sum_c w_c x_c + R o (its tetrahedron's corners, and what the embedding leaves out, turned
// as its joints are) with distance d(p) from a collider has the energy k/2 min(d - a, 0)^2: a spring across the surface
// and nothing along it. d is that of the shape itself and no plane, so that flesh slides freely. k is the shear modulus
// times the vertex' area over the local edge, so that a pressure leaves the same depth on any mesh. What a penalty
// leaves is asked for again: a, the aim, grows by what is missing (the method of multipliers), in poses alone. In
// motion it would ring.
//
// A pose is solved without the colliders first. They then begin as much smaller as the skin is deep inside them, and
// grow in steps: a vertex leaves by the surface that it came in by as long as that is the nearest, so a collider whose
// middle is beyond the bone pushes flesh out at its far side. Where a bone holds the skin the collider stays inside it.
#include "flesh/colliders.h"

#include "flesh/flesh_internal.h"

#include "base/affine.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REACH 0.03      // metres around a collider in which vertices are looked at between two looks
#define LEAST_FREE 0.02 // of a vertex' corners, by weight: what bones hold by more cannot be pushed
#define MOST_AIM 0.03   // metres
#define STEP_DEPTH 5e-3 // metres that a collider grows by at once
#define ENOUGH 1e-4     // metres inside that a pose may be left with
#define ROUGH_TOLERANCE 3e-3
#define IN_MOTION 160.0 // stiffness in a step of motion, which has no second try
enum { ROUNDS = 8, MOST_STEPS = 64, ROUGH_RUN = 80 };

double jnaPosedCollider_Distance(const jnaPosedCollider* c, const double point[3], double normal[3])
{
    double p[3], n[3] = {0, 1, 0}, distance;
    for (int i = 0; i < 3; ++i) {
        p[i] = 0;
        for (int k = 0; k < 3; ++k) {
            p[i] += c->rotation[3 * k + i] * (point[k] - c->position[k]);
        }
    }
    if (c->shape == jna_colliderPlane) {
        distance = p[1];
    } else if (c->shape == jna_colliderBox) {
        double out[3], outside = 0;
        int nearest = 0;
        for (int i = 0; i < 3; ++i) {
            out[i] = fabs(p[i]) - c->half[i];
            nearest = out[i] > out[nearest] ? i : nearest;
            outside += out[i] > 0 ? out[i] * out[i] : 0;
        }
        distance = outside > 0 ? sqrt(outside) : out[nearest];
        for (int i = 0; i < 3; ++i) {
            double part = outside > 0 ? fmax(out[i], 0) / distance : i == nearest;
            n[i] = copysign(part, p[i]);
        }
        distance -= c->radius;
    } else {
        double along = c->shape == jna_colliderCapsule ? fmin(fmax(p[1], -c->half[1]), c->half[1]) : 0;
        memcpy(n, (double[3]){p[0], p[1] - along, p[2]}, sizeof(n));
        double length = jnaLength(n);
        distance = length - c->radius;
        for (int i = 0; i < 3; ++i) {
            n[i] = length > 0 ? n[i] / length : i == 1;
        }
    }
    for (int i = 0; i < 3; ++i) {
        normal[i] = c->rotation[3 * i] * n[0] + c->rotation[3 * i + 1] * n[1] + c->rotation[3 * i + 2] * n[2];
    }
    return distance;
}

static bool IsGood(const jnaCollider* c, int jointCount)
{
    double sum = c->position[0] + c->position[1] + c->position[2] + c->rotation[0] + c->rotation[1] + c->rotation[2] +
                 c->rotation[3] + c->radius + c->half[0] + c->half[1] + c->half[2];
    bool sized = c->radius >= 0 && c->half[0] >= 0 && c->half[1] >= 0 && c->half[2] >= 0;
    bool path = c->path == NULL || (c->pathCount > 0 && c->joint < 0);
    for (size_t i = 0; path && c->path != NULL && i < 7 * (size_t)c->pathCount; ++i) {
        path = isfinite(c->path[i]);
    }
    return isfinite(sum) && sized && path && c->joint >= -1 && c->joint < jointCount && c->shape <= jna_colliderBox;
}

// A third of the triangles around each vertex.
static void FindAreas(const jnaCharacter* character, double* areas)
{
    for (int t = 0; t < character->triangleCount; ++t) {
        double corners[3][3], area[3];
        int32_t vertices[3];
        for (int c = 0; c < 3; ++c) {
            vertices[c] = character->weld[character->triangles[3 * (size_t)t + (size_t)c]];
            for (size_t k = 0; k < 3; ++k) {
                corners[c][k] = (double)character->positions[3 * (size_t)vertices[c] + k];
            }
        }
        jnaAreaVector(corners[0], corners[1], corners[2], area);
        for (int c = 0; c < 3; ++c) {
            areas[vertices[c]] += jnaLength(area) / 6;
        }
    }
}

// Vertices that tetrahedra carry and bones do not hold, with what a penalty of factor 1 gives them, N/m.
static void FindPoints(const jnaFlesh* flesh, const double* areas, jnaTouching* touching)
{
    const jnaVolume* v = flesh->def.volume;
    for (int i = 0; i < v->vertexCount; ++i) {
        if (v->skinTetrahedra[i] < 0 || jnaVolume_Blend(v, i) < 0.5) {
            continue;
        }
        const int32_t* corners = v->tetrahedra + 4 * (size_t)v->skinTetrahedra[i];
        double gradients[4][3], free = 0, volume = jnaHatGradients(v->nodes, corners, gradients);
        for (int c = 0; c < 4; ++c) {
            free += flesh->held[corners[c]] ? 0 : v->skinWeights[4 * (size_t)i + (size_t)c];
        }
        if (free > LEAST_FREE && areas[i] > 0) {
            const jnaMaterial* m = jnaVolume_Material(v, v->skinTetrahedra[i]);
            touching->points[touching->pointCount] = i;
            // An even tetrahedron of edge e has e^3 / (6 sqrt 2).
            touching->stiffness[touching->pointCount++] =
                0.5 * m->young / (1 + m->poisson) * areas[i] / cbrt(8.485 * volume);
        }
    }
}

static jnResult CreateTouching(const jnaFlesh* flesh, jnaTouching** touching, jnError* error)
{
    int vertices = flesh->def.volume->vertexCount;
    jnaTouching* t = calloc(1, sizeof(*t));
    jnaArena scratch = {0};
    jnResult result = jn_ok;
    JN_TRY(t != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for colliders"));
    t->points = jnaArena_Take(&t->arena, vertices, sizeof(int32_t));
    t->stiffness = jnaArena_Take(&t->arena, vertices, sizeof(double));
    t->shifts = jnaArena_Take(&t->arena, vertices, 3 * sizeof(double));
    double* areas = jnaArena_Take(&scratch, vertices, sizeof(double));
    JN_TRY(jnaArena_Check(&t->arena, "colliders", error));
    JN_TRY(jnaArena_Check(&scratch, "colliders", error));
    FindAreas(flesh->def.character, areas);
    FindPoints(flesh, areas, t);
    *touching = t;
    t = NULL;
done:
    jnaReleaseArena(&scratch);
    jnaDestroyTouching(t);
    return result;
}

void jnaDestroyTouching(jnaTouching* t)
{
    if (t != NULL) {
        free(t->colliders);
        free(t->posed);
        free(t->touches);
        free(t->pairs);
        jnaReleaseArena(&t->arena);
        free(t);
    }
}

jnResult jnaFleshSolver_SetColliders(jnaFleshSolver* solver, const jnaCollider* colliders, int count, jnError* error)
{
    const jnaFlesh* flesh = solver->flesh;
    for (int i = 0; i < count; ++i) {
        if (!IsGood(&colliders[i], flesh->def.volume->jointCount)) {
            return jnFail(error, jn_badArgument,
                "collider %d: its numbers must be finite, sizes not negative, its joint one of %d or -1, and a path is "
                "for joint -1",
                i, flesh->def.volume->jointCount);
        }
    }
    if (count > 0 && flesh->def.newton) {
        return jnFail(error, jn_badArgument, "colliders are not for flesh that is solved by Newton's method");
    }
    if (solver->touching == NULL && count > 0) {
        JN_PASS(CreateTouching(flesh, &solver->touching, error));
    }
    jnaTouching* t = solver->touching;
    if (t == NULL) {
        return jn_ok;
    }
    t->count = t->pairCount = 0;
    jnaCollider* kept = realloc(t->colliders, ((size_t)count + 1) * sizeof(*kept));
    t->colliders = kept != NULL ? kept : t->colliders;
    jnaPosedCollider* posed = realloc(t->posed, ((size_t)count + 1) * sizeof(*posed));
    t->posed = posed != NULL ? posed : t->posed;
    jnaColliderTouch* touches = realloc(t->touches, ((size_t)count + 1) * sizeof(*touches));
    t->touches = touches != NULL ? touches : t->touches;
    if (kept == NULL || posed == NULL || touches == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d colliders", count);
    }
    memset(touches, 0, ((size_t)count + 1) * sizeof(*touches));
    if (count > 0) {
        memcpy(kept, colliders, (size_t)count * sizeof(*kept));
    }
    t->count = count;
    return jn_ok;
}

const jnaColliderTouch* jnaFleshSolver_Touches(const jnaFleshSolver* solver)
{
    return solver->touching != NULL ? solver->touching->touches : NULL;
}

// Place and rotation of a collider with a path between two frames, on the curve that clips are played on.
static void FollowPath(const jnaCollider* c, int frame, double share, double position[3], double rotation[4])
{
    double w[4];
    const float* rotations[4];
    float mixed[4];
    jnWeighFrames(share, frame > 0, frame + 2 < c->pathCount, w);
    memset(position, 0, 3 * sizeof(double));
    for (int i = 0; i < 4; ++i) {
        int at = frame - 1 + i;
        at = at < 0 ? 0 : at < c->pathCount ? at : c->pathCount - 1;
        const float* entry = c->path + 7 * (size_t)at;
        rotations[i] = entry + 3;
        for (int k = 0; k < 3; ++k) {
            position[k] += w[i] * (double)entry[k];
        }
    }
    jnMixRotations(rotations, w, mixed);
    for (int k = 0; k < 4; ++k) {
        rotation[k] = (double)mixed[k];
    }
}

void jnaPoseColliders(jnaFleshSolver* solver, int frame, double share)
{
    jnaTouching* t = solver->touching;
    const jnaVolume* v = solver->flesh->def.volume;
    for (int i = 0; t != NULL && i < t->count; ++i) {
        const jnaCollider* c = &t->colliders[i];
        jnaPosedCollider* posed = &t->posed[i];
        double q[4], place[3];
        memcpy(q, c->rotation, sizeof(q));
        memcpy(place, c->position, sizeof(place));
        if (c->path != NULL) {
            FollowPath(c, frame, share, place, q);
        }
        jnaAffine own = jnaAffine_FromTrs(place, q, (const double[3]){1, 1, 1});
        if (c->joint >= 0) {
            jnaAffine joint;
            double scale[3], at[3], turn[4];
            memcpy(joint.m, solver->transforms + 12 * (size_t)c->joint, sizeof(joint.m));
            jnaAffine all = jnaAffine_Multiply(&joint, &own);
            jnaAffine_ToTrs(&all, at, turn, scale);
            own = jnaAffine_FromTrs(at, turn, (const double[3]){1, 1, 1});
        }
        *posed = (jnaPosedCollider){.shape = c->shape, .radius = c->radius};
        memcpy(posed->half, c->half, sizeof(posed->half));
        for (int k = 0; k < 3; ++k) {
            posed->position[k] = own.m[4 * k + 3];
            memcpy(posed->rotation + 3 * k, own.m + 4 * k, 3 * sizeof(double));
        }
    }
    for (int n = 0; t != NULL && t->count > 0 && n < t->pointCount; ++n) {
        double blend[12];
        const double* offset = v->skinOffsets + 3 * (size_t)t->points[n];
        jnaBlendVertex(solver->flesh->def.character, solver->transforms, t->points[n], blend);
        for (int k = 0; k < 3; ++k) {
            t->shifts[3 * (size_t)n + (size_t)k] =
                blend[4 * k] * offset[0] + blend[4 * k + 1] * offset[1] + blend[4 * k + 2] * offset[2];
        }
    }
}

static void PointAt(const jnaFlesh* flesh, const jnaTouching* t, int point, const double* x, double place[3])
{
    const jnaVolume* v = flesh->def.volume;
    const int32_t* corners = v->tetrahedra + 4 * (size_t)v->skinTetrahedra[t->points[point]];
    const double* w = v->skinWeights + 4 * (size_t)t->points[point];
    memcpy(place, t->shifts + 3 * (size_t)point, 3 * sizeof(double));
    for (int c = 0; c < 4; ++c) {
        const double* at = x + 4 * (size_t)flesh->places[corners[c]];
        for (int k = 0; k < 3; ++k) {
            place[k] += w[c] * at[k];
        }
    }
}

// How far the deepest vertex is inside a collider, metres; 0: none is.
static double Deepest(const jnaFleshSolver* solver)
{
    const jnaTouching* t = solver->touching;
    double deepest = 0, place[3], normal[3];
    for (int n = 0; n < t->pointCount; ++n) {
        PointAt(solver->flesh, t, n, solver->x, place);
        for (int i = 0; i < t->count; ++i) {
            deepest = fmax(deepest, -jnaPosedCollider_Distance(&t->posed[i], place, normal));
        }
    }
    return deepest;
}

// The pairs of vertices and colliders that are near each other. Those that were there keep their aims; in both lists
// they are sorted.
jnResult jnaLookAtColliders(jnaFleshSolver* solver, bool again, jnError* error)
{
    jnaTouching* t = solver->touching;
    const jnaVolume* v = solver->flesh->def.volume;
    int old = again ? t->pairCount : 0, used = 0, from = 0;
    double place[3], normal[3];
    // Written behind the old ones, then moved to the front.
    for (int n = 0; n < t->pointCount; ++n) {
        PointAt(solver->flesh, t, n, solver->x, place);
        for (int i = 0; i < t->count; ++i) {
            if (jnaPosedCollider_Distance(&t->posed[i], place, normal) + t->shrunk > REACH) {
                continue;
            }
            if (!jnaReserve(&t->pairs, &t->pairCapacity, old + used + 1, sizeof(*t->pairs))) {
                return jnFail(error, jn_outOfMemory, "out of memory for %d vertices on colliders", used);
            }
            jnaTouchPair* pair = &t->pairs[old + used++];
            *pair = (jnaTouchPair){.collider = i, .point = n, .stiffness = t->stiffness[n]};
            memcpy(pair->shift, t->shifts + 3 * (size_t)n, sizeof(pair->shift));
            for (int c = 0; c < 4; ++c) {
                pair->weights[c] = v->skinWeights[4 * (size_t)t->points[n] + (size_t)c];
                pair->places[c] =
                    solver->flesh->places[v->tetrahedra[4 * (size_t)v->skinTetrahedra[t->points[n]] + (size_t)c]];
            }
            while (from < old &&
                   (t->pairs[from].point < n || (t->pairs[from].point == n && t->pairs[from].collider < i))) {
                ++from;
            }
            bool same = from < old && t->pairs[from].point == n && t->pairs[from].collider == i;
            pair->aim = same ? t->pairs[from].aim : 0;
        }
    }
    if (used > 0) { // else there may be no list yet
        memmove(t->pairs, t->pairs + old, (size_t)used * sizeof(*t->pairs));
    }
    t->pairCount = used;
    return jn_ok;
}

// Distance of a pair from where it aims, negative where it is pressed.
static double GapOf(const jnaTouching* t, const jnaTouchPair* pair, const double* x, double normal[3])
{
    double place[3];
    memcpy(place, pair->shift, sizeof(place));
    for (int c = 0; c < 4; ++c) {
        for (int k = 0; k < 3; ++k) {
            place[k] += pair->weights[c] * x[4 * (size_t)pair->places[c] + (size_t)k];
        }
    }
    return jnaPosedCollider_Distance(&t->posed[pair->collider], place, normal) + t->shrunk - pair->aim;
}

double jnaAddTouching(const jnaFleshProblem* problem, const double* x, double* gradient, double* absolute)
{
    const jnaTouching* t = problem->touching;
    double energy = 0, normal[3];
    for (int p = 0; p < t->pairCount; ++p) {
        const jnaTouchPair* pair = &t->pairs[p];
        double gap = GapOf(t, pair, x, normal), push = problem->touchFactor * pair->stiffness * gap;
        if (gap >= 0) {
            continue;
        }
        energy += 0.5 * push * gap;
        for (int c = 0; c < 4; ++c) {
            for (int k = 0; k < 3; ++k) {
                size_t at = 4 * (size_t)pair->places[c] + (size_t)k;
                gradient[at] += pair->weights[c] * push * normal[k];
                if (absolute != NULL) {
                    absolute[at] += fabs(pair->weights[c] * push * normal[k]);
                }
            }
        }
    }
    return energy;
}

void jnaSumTouchStiffness(const jnaFleshProblem* problem, const double* x, double* sums)
{
    const jnaTouching* t = problem->touching;
    double normal[3];
    for (int p = 0; p < t->pairCount; ++p) {
        const jnaTouchPair* pair = &t->pairs[p];
        bool pressed = GapOf(t, pair, x, normal) < 0;
        for (int c = 0; pressed && c < 4; ++c) {
            sums[pair->places[c]] += problem->touchFactor * pair->stiffness * pair->weights[c];
        }
    }
}

void jnaHoldTouched(const jnaFleshSolver* solver, double* holds)
{
    const jnaTouching* t = solver->touching;
    double normal[3];
    for (int p = 0; p < t->pairCount; ++p) {
        bool pressed = GapOf(t, &t->pairs[p], solver->x, normal) < 0;
        for (int c = 0; pressed && c < 4; ++c) {
            holds[t->pairs[p].places[c]] = 1;
        }
    }
}

// What every collider does at solver->x; returns how deep any is.
static double Measure(jnaFleshSolver* solver, double factor)
{
    jnaTouching* t = solver->touching;
    double deepest = 0, normal[3];
    memset(t->touches, 0, (size_t)t->count * sizeof(*t->touches));
    for (int p = 0; p < t->pairCount; ++p) {
        const jnaTouchPair* pair = &t->pairs[p];
        jnaColliderTouch* touch = &t->touches[pair->collider];
        double gap = GapOf(t, pair, solver->x, normal), push = factor * pair->stiffness * gap;
        touch->depth = fmax(touch->depth, -(gap + pair->aim));
        deepest = fmax(deepest, touch->depth);
        touch->count += gap < 0;
        for (int k = 0; gap < 0 && k < 3; ++k) {
            touch->force[k] -= push * normal[k];
        }
    }
    return deepest;
}

// Where vertices are still inside they aim farther out, and back where they came out beyond it.
static void Aim(jnaFleshSolver* solver)
{
    jnaTouching* t = solver->touching;
    double normal[3];
    for (int p = 0; p < t->pairCount; ++p) {
        jnaTouchPair* pair = &t->pairs[p];
        double gap = GapOf(t, pair, solver->x, normal);
        pair->aim = fmin(fmax(-gap, 0), MOST_AIM);
    }
}

jnResult jnaSolveTouched(jnaFleshSolver* solver, jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error)
{
    jnaTouching* t = solver->touching;
    if (t == NULL || t->count == 0) {
        return jnaSolveWithContact(solver, problem, effort, report, error);
    }
    double factor = problem->contactFactor * (effort->firm ? effort->stiffness : IN_MOTION);
    problem->touching = t;
    problem->touchFactor = factor;
    jnResult result = jn_ok;
    for (int round = 0; round < (effort->firm ? ROUNDS : 1); ++round) {
        double contactFactor = problem->contactFactor;
        JN_PASS(jnaLookAtColliders(solver, round > 0, error));
        result = jnaSolveWithContact(solver, problem, effort, report, error);
        problem->contactFactor = contactFactor; // the contact multiplies it by its effort
        JN_PASS(result);
        if (Measure(solver, factor) < ENOUGH) {
            break;
        }
        if (effort->firm && round + 1 < ROUNDS) {
            Aim(solver);
        }
    }
    return result;
}

jnResult jnaPressColliders(jnaFleshSolver* solver, const jnaFleshProblem* problem, const jnaContactEffort* effort,
    jnaFleshReport* report, jnError* error)
{
    jnaTouching* t = solver->touching;
    t->shrunk = 0;
    t->pairCount = 0;
    double depth = Deepest(solver);
    int steps = (int)fmin(ceil(depth / STEP_DEPTH), MOST_STEPS);
    for (int i = 1; i < steps; ++i) { // on the way there
        jnaFleshProblem rough = *problem;
        rough.tolerance = fmax(problem->tolerance, ROUGH_TOLERANCE);
        rough.mostIterations = ROUGH_RUN;
        rough.touching = t;
        rough.touchFactor = problem->contactFactor * effort->stiffness;
        t->shrunk = depth * (1 - (double)i / steps);
        JN_PASS(jnaLookAtColliders(solver, false, error));
        jnaContactEffort way = *effort;
        way.holds = 0;
        JN_PASS(jnaSolveWithContact(solver, &rough, &way, report, error));
    }
    t->shrunk = 0;
    jnaFleshProblem last = *problem;
    return jnaSolveTouched(solver, &last, effort, report, error);
}
