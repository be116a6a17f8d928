// Girths, fat and thickness of the flesh; see physique.h.
//
// Fat is the relative fat mass of Woolcott and Bergman (2018) for men, 0.64 - 0.20 height / waist. Women have 0.12 more
// at the same waist, but neither a waist over a hip nor a chest tells a woman from a man, and what is asked here is how
// lean a body is among its kind. It is an estimate for people with little on: a coat makes a body heavy, and body.build
// corrects that.
#include "volume/physique.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"
#include "volume/laplacian.h"
#include "volume/section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Heights of people, metres.
#define SMALLEST_PERSON 1.2
#define TALLEST_PERSON 2.4
// Where the girths are taken, as heights of the trunk: the crest of the hip bone, and the widest of the hips.
#define WAIST_AT 0.27
#define HIP_FROM (-0.04)
#define HIP_TO 0.12
enum { HIP_CUTS = 5 };
// Relative fat mass, and the fractions that it is kept within.
#define FAT_BASE 0.64
#define FAT_SLOPE 0.20
#define LEANEST 0.14
#define FATTEST 0.36
// Fat that a build has, and where the words change: waist over height 0.465 and 0.55.
#define LEAN_FAT 0.17
#define AVERAGE_FAT 0.24
#define HEAVY_FAT 0.33
#define LEAN_TO 0.21
#define AVERAGE_TO 0.276
// Of a bare body nearly all of the belly's and the thighs' skin is free; less than this is clothes.
#define BARE 0.8
#define DRESSED_FAT 0.20
// Skin nearer to a bone than this part of the height is held.
#define HELD 0.005
// A vertex whose tetrahedron resolves less of it than this follows others.
#define OWN_BLEND 0.5

const char* jnaBuildName(jnaBodyBuild build)
{
    static const char* const names[] = {"auto", "lean", "average", "heavy"};
    return names[build];
}

void jnaPhysique_Judge(jnaPhysique* p, const jnaBodyDef* body)
{
    jnaBodyBuild build = body->build;
    static const double fats[] = {0, LEAN_FAT, AVERAGE_FAT, HEAVY_FAT};
    bool measured = p->human && p->waist > 0;
    double found = measured ? FAT_BASE - FAT_SLOPE * p->height / p->waist : AVERAGE_FAT;
    p->asked = build != jna_buildAuto;
    p->dressed = p->human && fmin(p->freePart[jna_regionBelly], p->freePart[jna_regionThigh]) < BARE;
    found = p->asked ? fats[build] : p->dressed ? fmin(found, DRESSED_FAT) : found;
    p->build = p->asked             ? build
               : found < LEAN_TO    ? jna_buildLean
               : found < AVERAGE_TO ? jna_buildAverage
                                    : jna_buildHeavy;
    p->fat = fmin(fmax(found, LEANEST), FATTEST);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        p->softness[r] = body->softness[r];
        p->damping[r] = body->damping[r];
        p->tone[r] = body->tone[r] >= 0 ? fmin(body->tone[r], 1) : jnaUsualTone((jnaRegion)r);
    }
}

// Length around a section.
static double Girth(jnaSlicer* slicer, const double* at, const double* u, const double* v)
{
    jnaSection section;
    double sum = 0;
    jnaSlice(slicer, at, u, v, &section);
    for (int k = 0; section.inside && k < JNA_SECTION_RAYS; ++k) {
        double a = section.distances[k], b = section.distances[(k + 1) % JNA_SECTION_RAYS];
        sum += sqrt(a * a + b * b - 2 * a * b * cos(JNA_TURN / JNA_SECTION_RAYS));
    }
    return sum;
}

static double TrunkGirth(jnaSlicer* slicer, const jnaAnatomy* a, double height)
{
    double at[3];
    for (int k = 0; k < 3; ++k) {
        at[k] = a->hips[k] + height * a->length * a->up[k];
    }
    return Girth(slicer, at, a->left, a->front);
}

// Girth half-way between the root and the hinge, mean of all legs or arms.
static double LimbGirth(jnaSlicer* slicer, const jnaAnatomy* a, bool leg)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        double axis[3], at[3], u[3], v[3];
        if (limb->hinge < 0 || limb->leg != leg) {
            continue;
        }
        for (int k = 0; k < 3; ++k) {
            axis[k] = limb->hingeAt[k] - limb->rootAt[k];
            at[k] = 0.5 * (limb->hingeAt[k] + limb->rootAt[k]);
        }
        jnaNormalize(axis);
        jnaCrossAxes(axis, u, v);
        double girth = Girth(slicer, at, u, v);
        sum += girth;
        count += girth > 0;
    }
    return count > 0 ? sum / count : 0;
}

static bool IsHuman(const jnaAnatomy* a)
{
    int arms = 0, legs = 0;
    for (int i = 0; i < a->limbCount; ++i) {
        arms += a->limbs[i].hinge >= 0 && !a->limbs[i].leg;
        legs += a->limbs[i].hinge >= 0 && a->limbs[i].leg;
    }
    return a->trunk && a->head >= 0 && arms == 2 && legs == 2 && a->size > SMALLEST_PERSON && a->size < TALLEST_PERSON;
}

static jnResult MeasureGirths(const jnaVolume* v, const jnaAnatomy* a, jnaPhysique* p, jnError* error)
{
    jnaSlicer slicer = {0};
    double gradients[4][3];
    JN_PASS(jnaCreateSlicer(v, &slicer, error));
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        p->volume += fabs(jnaHatGradients(v->nodes, v->tetrahedra + 4 * (size_t)t, gradients));
    }
    if (a->trunk) {
        p->waist = TrunkGirth(&slicer, a, WAIST_AT);
        for (int i = 0; i < HIP_CUTS; ++i) {
            double height = HIP_FROM + (HIP_TO - HIP_FROM) * i / (HIP_CUTS - 1);
            p->hip = fmax(p->hip, TrunkGirth(&slicer, a, height));
        }
    }
    p->thigh = LimbGirth(&slicer, a, true);
    p->upperArm = LimbGirth(&slicer, a, false);
    jnaDestroySlicer(&slicer);
    return jn_ok;
}

// Whether every corner of a vertex's tetrahedron follows a bone.
static bool IsHeld(const jnaVolume* v, int vertex)
{
    const int32_t* corners = v->tetrahedra + 4 * (size_t)v->skinTetrahedra[vertex];
    return v->heldBy[corners[0]] >= 0 && v->heldBy[corners[1]] >= 0 && v->heldBy[corners[2]] >= 0 &&
           v->heldBy[corners[3]] >= 0;
}

// Distances of the skin to the nearest node that a bone holds; 0 where the flesh is not free.
static void FindDepths(
    const jnaVolume* v, const jnaCharacter* c, double held, const double* bones, size_t count, float* depths)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->vertexCount; ++i) {
        const float* x = c->positions + 3 * (size_t)i;
        double least = HUGE_VAL;
        bool own = v->skinTetrahedra[i] >= 0 && jnaVolume_Blend(v, i) >= OWN_BLEND && !IsHeld(v, i);
        for (size_t n = 0; own && n < count; ++n) {
            double dx = (double)x[0] - bones[3 * n], dy = (double)x[1] - bones[3 * n + 1];
            double dz = (double)x[2] - bones[3 * n + 2];
            least = fmin(least, dx * dx + dy * dy + dz * dz);
        }
        depths[i] = isfinite(least) && sqrt(least) > held ? (float)sqrt(least) : 0.0f;
    }
}

static int CompareFloats(const void* a, const void* b)
{
    return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b);
}

// The median depth of each region's free skin. values: [vertexCount], scratch.
static void SortDepths(int count, const uint8_t* regions, const float* depths, float* values, jnaPhysique* p)
{
    for (int r = 0; r < JNA_REGIONS; ++r) {
        int free = 0, all = 0;
        for (int i = 0; i < count; ++i) {
            all += regions[i] == r;
            if (regions[i] == r && depths[i] > 0.0f) {
                values[free++] = depths[i];
            }
        }
        qsort(values, (size_t)free, sizeof(float), CompareFloats);
        p->thickness[r] = free > 0 ? (double)values[free / 2] : 0;
        p->freePart[r] = all > 0 ? (double)free / all : 0;
    }
}

jnResult jnaFindPhysique(const jnaVolume* v, const jnaCharacter* c, const jnaAnatomy* anatomy, const jnaBodyDef* body,
    jnaPhysique* p, float* depths, jnError* error)
{
    JN_ASSERT(v->heldBy != NULL);
    *p = (jnaPhysique){.human = IsHuman(anatomy), .height = anatomy->size};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    uint8_t* regions = jnaArena_Take(&arena, c->vertexCount, 1);
    float* own = jnaArena_Take(&arena, c->vertexCount, 2 * sizeof(float));
    double* bones = jnaArena_Take(&arena, v->nodeCount, 3 * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "the physique of a body", error));
    JN_TRY(MeasureGirths(v, anatomy, p, error));
    size_t count = 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] >= 0) {
            memcpy(bones + 3 * count++, v->nodes + 3 * (size_t)n, 3 * sizeof(double));
        }
    }
    float* found = depths != NULL ? depths : own;
    FindDepths(v, c, HELD * p->height, bones, count, found);
    jnaAnatomy_SkinRegions(anatomy, c, regions);
    SortDepths(c->vertexCount, regions, found, own + c->vertexCount, p);
    jnaPhysique_Judge(p, body);
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaPhysique_Tell(const jnaPhysique* p, jnaNotes* notes)
{
    double h = p->height;
    if (!p->human || !(p->waist > 0)) {
        jnaNotes_Add(notes, "physique: %s%s", jnaBuildName(p->build),
            p->asked ? ", as the manifest says" : ", because this is no standing human body");
        return;
    }
    if (p->dressed && !p->asked) {
        jnaNotes_Add(notes,
            "physique: taken for lean and stiff, because only %.0f %% of belly and thighs is free flesh, as under "
            "clothes or gear; body: build: average or heavy makes it softer",
            100 * fmin(p->freePart[jna_regionBelly], p->freePart[jna_regionThigh]));
        return;
    }
    jnaNotes_Add(notes,
        "physique: %s%s, %.0f %% fat (waist/height %.2f, waist/hip %.2f, thigh/height %.2f, upper arm/height %.2f, "
        "volume/height^3 %.4f)",
        jnaBuildName(p->build), p->asked ? ", as the manifest says" : "", 100 * p->fat, p->waist / h,
        p->waist / fmax(p->hip, 1e-9), p->thigh / h, p->upperArm / h, p->volume / (h * h * h));
}
