// Points for the mesher to start from, so that bones have nodes to hold.
//
// A mesher that only looks at angles puts few nodes into a limb, and a bone as thin as a quarter of it may catch none.
// The bones of the default shares are therefore shaped once from the surface alone; along each of them go rings of
// points just under its surface, around one point on its axis, a bone's radius apart: enough for a chain of tetrahedra
// that is held as a whole. From there to the skin the mesher grades by itself, so that the size of its tetrahedra
// follows the thickness of the flesh. Points on the axis serve bones of any share; the manifest's need no new mesh.
#include "base/arena.h"
#include "base/triangle.h"
#include "base/try.h"
#include "volume/anatomy_internal.h"
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

// Rings lie this deep in their bone: inside it, even if the bone that is placed later differs a little.
#define RING_DEPTH 0.75
// A ring shallower than this, near the tips, would crowd around the point in its middle.
#define LEAST_DEPTH 0.4
// Distance between rings, in radii of the bone.
#define RING_PITCH 1.0
// A seed keeps this many of the bone's radii from the skin, or it would make slivers against it.
#define CLEARANCE 0.5
// A long thin bone is held as well by fewer rings than its radius asks for.
enum { RING_POINTS = 5, LEAST_RINGS = 5, MOST_RINGS = 14 };

typedef struct Probe {
    double point[3];
    double least; // distance to keep
    const jnaTree* tree;
    bool clear;
} Probe;

// Stops at the first triangle that is too near.
static bool Meet(int32_t triangle, void* user)
{
    Probe* probe = user;
    const int32_t* c = probe->tree->triangles + 3 * (size_t)triangle;
    const double* p[3];
    double w[3], closest[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = probe->tree->positions + 3 * (size_t)c[k];
    }
    jnaClosestOnTriangle(probe->point, p[0], p[1], p[2], w);
    for (int i = 0; i < 3; ++i) {
        closest[i] = w[0] * p[0][i] + w[1] * p[1][i] + w[2] * p[2][i];
    }
    probe->clear = jnaDistance(closest, probe->point) > probe->least;
    return probe->clear;
}

static bool IsClear(const jnaTree* tree, const double* point, double least)
{
    Probe probe = {.least = least, .tree = tree, .clear = true};
    double low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        probe.point[i] = point[i];
        low[i] = point[i] - least;
        high[i] = point[i] + least;
    }
    jnaTree_Visit(tree, low, high, Meet, &probe);
    return probe.clear && jnaTree_Winding(tree, point) > 0.5;
}

static bool AddSeed(jnaSeeds* seeds, const jnaTree* tree, const double* point, double clearance)
{
    if (!IsClear(tree, point, clearance)) {
        return true;
    }
    if (!jnaReserve(&seeds->points, &seeds->capacity, seeds->count + 1, 3 * sizeof(double))) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        seeds->points[3 * seeds->count + i] = point[i];
    }
    seeds->count++;
    return true;
}

// The ring around a bone at a distance along its axis from the first end, negative or beyond the second end in its
// rounding, and the point in its middle.
static bool SeedRing(
    jnaSeeds* seeds, const jnaTree* tree, const jnaBone* b, double along, double turn, double clearance)
{
    double length = jnaDistance(b->ends[0], b->ends[1]);
    double t = length > 0 ? fmin(fmax(along / length, 0), 1) : along > 0;
    double beyond = along < 0 ? along / b->caps[0] : along > length ? (along - length) / b->caps[1] : 0;
    double depth = sqrt(fmax(RING_DEPTH * RING_DEPTH - beyond * beyond, 0)), middle[3];
    for (int i = 0; i < 3; ++i) {
        middle[i] = b->ends[0][i] + along * b->axes[2][i];
    }
    bool good = AddSeed(seeds, tree, middle, clearance);
    for (int k = 0; k < RING_POINTS && depth > LEAST_DEPTH && good; ++k) {
        double angle = JNA_TURN * (k + turn) / RING_POINTS, point[3];
        for (int i = 0; i < 3; ++i) {
            double u = b->radii[0][0] + t * (b->radii[1][0] - b->radii[0][0]);
            double v = b->radii[0][1] + t * (b->radii[1][1] - b->radii[0][1]);
            point[i] = middle[i] + depth * (cos(angle) * u * b->axes[0][i] + sin(angle) * v * b->axes[1][i]);
        }
        good = AddSeed(seeds, tree, point, clearance);
    }
    return good;
}

static bool SeedBone(jnaSeeds* seeds, const jnaTree* tree, const jnaBone* b)
{
    double radius = 0, least = HUGE_VAL;
    for (int i = 0; i < 4; ++i) {
        radius += b->radii[i / 2][i % 2] / 4;
        least = fmin(least, b->radii[i / 2][i % 2]);
    }
    if (!(least > 0 && b->caps[0] > 0 && b->caps[1] > 0)) {
        return true;
    }
    // From tip to tip.
    double start = -RING_DEPTH * b->caps[0];
    double length = jnaDistance(b->ends[0], b->ends[1]) + RING_DEPTH * b->caps[1] - start;
    int rings = (int)fmin(fmax(round(length / (RING_PITCH * radius)), LEAST_RINGS - 1), MOST_RINGS - 1) + 1;
    bool good = true;
    for (int r = 0; r < rings && good; ++r) {
        // Every other ring is turned by half a step: better tetrahedra than a stack of prisms.
        good = SeedRing(seeds, tree, b, start + length * r / (rings - 1), 0.5 * (r % 2), CLEARANCE * radius);
    }
    return good;
}

void jnaDestroySeeds(jnaSeeds* seeds)
{
    free(seeds->points);
    *seeds = (jnaSeeds){0};
}

jnResult jnaFindSeeds(const jnaCharacter* character, const jnaSurface* surface, jnaSeeds* seeds, jnError* error)
{
    *seeds = (jnaSeeds){0};
    if (character->jointCount == 0 || character->influences == NULL) {
        return jn_ok;
    }
    jnaArena arena = {0};
    jnaSlicer slicer = {.nodes = surface->positions,
        .nodeCount = surface->vertexCount,
        .triangleCount = surface->triangleCount,
        .triangles = surface->triangles,
        .heights = jnaArena_Take(&arena, surface->vertexCount, sizeof(double))};
    jnaJointFlesh flesh = {0};
    jnaBoneList bones = {0};
    jnaTree tree = {0};
    jnaAnatomy anatomy = {0};
    jnaBoneSetting* settings = jnaArena_Take(&arena, character->jointCount, sizeof(*settings));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the seeds of a mesh", error));
    result = jnaCreateSurfaceFlesh(character, &slicer, surface->vertexOf, &flesh, error);
    if (result == jn_badData) {
        // Joints that cannot be placed have no bones; the volume can be made all the same.
        result = jn_ok;
        goto done;
    }
    JN_TRY(result);
    for (int j = 0; j < character->jointCount; ++j) {
        settings[j] = (jnaBoneSetting){.radius = 1, .length = 1};
    }
    JN_TRY(jnaNameParts(character, &flesh, &slicer, &anatomy, error));
    JN_TRY(jnaShapeBones(character, &flesh, &slicer, &anatomy, settings, &bones, error));
    JN_TRY(jnaCreateTree(surface->positions, surface->triangleCount, surface->triangles, &tree, error));
    for (int b = 0; b < bones.count; ++b) {
        if (!SeedBone(seeds, &tree, &bones.bones[b])) {
            JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the seeds of a mesh"));
        }
    }
done:
    jnaDestroyTree(&tree);
    jnaDestroyBoneList(&bones);
    jnaDestroyJointFlesh(&flesh);
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroySeeds(seeds);
    }
    return result;
}
