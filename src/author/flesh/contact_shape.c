// What the self-contact needs to know of a volume once and for all: its boundary, what is near at rest, trees.
#include "flesh/contact_internal.h"

#include "volume/mesh_internal.h"
#include "volume/volume_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

// Where the volume has no materials, Pa.
#define PLAIN_SHEAR 1e4

// Least restDistance, of the largest side of the boundary's box.
#define REST_SHARE 0.02

// Of the median edge, to the third power: a tetrahedron flatter than this holds nothing.
#define FLAT_SHARE 1e-9

// Of the strongest spring of a bone: a node that is held by less is flesh on the bone.
#define FIRM_SHARE 0.5

// Of the largest side: how deep a node may be and still only touch. Coordinates are right to 1e-16 of it.
#define TOUCH_SHARE 1e-10

// Items per leaf: small leaves make tight boxes, large ones few.
enum { TETRAHEDRA_PER_LEAF = 24, FACES_PER_LEAF = 4, NODES_PER_LEAF = 12 };

jnaContactDef jnaDefaultContactDef(const jnaVolume* volume)
{
    return (jnaContactDef){.volume = volume, .gaps = true};
}

void jnaDestroyContacts(jnaContacts* contacts)
{
    free(contacts->pairs);
    *contacts = (jnaContacts){0};
}

void jnaDestroyContactShape(jnaContactShape* shape)
{
    if (shape == NULL) {
        return;
    }
    free(shape->faces);
    jnaDestroyRows(&shape->around);
    jnaDestroyRows(&shape->foreign);
    jnaDestroyRows(&shape->near);
    jnaDestroyBoxTree(&shape->tetrahedronTree);
    jnaDestroyBoxTree(&shape->faceTree);
    jnaDestroyBoxTree(&shape->nodeTree);
    jnaReleaseArena(&shape->memory);
    free(shape);
}

static jnResult CheckDef(const jnaContactDef* def, jnError* error)
{
    const jnaVolume* v = def->volume;
    if (v == NULL || v->nodeCount < 4 || v->tetrahedronCount < 1) {
        return jnFail(error, jn_badArgument, "contact needs a volume with at least one tetrahedron");
    }
    if (!(def->restDistance >= 0 && def->restDistance < HUGE_VAL) || !(def->reach >= 0 && def->reach < HUGE_VAL)) {
        return jnFail(error, jn_badArgument, "restDistance and reach of a contact must be finite and not negative");
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        for (int i = 0; i < 3; ++i) {
            if (!isfinite(v->nodes[3 * (size_t)n + (size_t)i])) {
                return jnFail(error, jn_badData, "node %d of the volume has a position that is not finite", n);
            }
        }
    }
    return jn_ok;
}

// Lists the boundary's nodes and the faces around each.
static bool ListNodes(jnaContactShape* s)
{
    int count = s->volume->nodeCount;
    s->places = jnaArena_Take(&s->memory, count, sizeof(int32_t));
    s->nodes = jnaArena_Take(&s->memory, count, sizeof(int32_t));
    s->around.entries = jnaArena_Give(&s->memory, 3 * (int64_t)s->faceCount, sizeof(int32_t));
    s->around.starts = jnaArena_Give(&s->memory, (int64_t)count + 2, sizeof(int32_t));
    if (s->memory.failed) {
        return false;
    }
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        s->places[s->faces[i]] = 1;
    }
    for (int n = 0; n < count; ++n) {
        bool there = s->places[n] == 1;
        s->places[n] = there ? s->nodeCount : -1;
        if (there) {
            s->nodes[s->nodeCount++] = n;
        }
    }
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        s->around.starts[s->places[s->faces[i]] + 2]++;
    }
    for (int n = 0; n < s->nodeCount; ++n) {
        s->around.starts[n + 2] += s->around.starts[n + 1];
    }
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        s->around.entries[s->around.starts[s->places[s->faces[i]] + 1]++] = i / 3;
    }
    return true;
}

static bool HasCorner(const int32_t* face, int32_t node)
{
    return face[0] == node || face[1] == node || face[2] == node;
}

// The fourth corner of the tetrahedron behind each face.
static bool ListOpposites(jnaContactShape* s)
{
    s->opposites = jnaArena_Take(&s->memory, s->faceCount, sizeof(int32_t));
    for (size_t i = 0; s->opposites != NULL && i < 4 * (size_t)s->volume->tetrahedronCount; ++i) {
        const int32_t* c = s->volume->tetrahedra + (i & ~(size_t)3);
        int32_t own[3] = {c[(i + 1) % 4], c[(i + 2) % 4], c[(i + 3) % 4]};
        int32_t place = s->places[own[0]];
        for (int32_t e = place < 0 ? 0 : s->around.starts[place]; place >= 0 && e < s->around.starts[place + 1]; ++e) {
            const int32_t* face = s->faces + 3 * (size_t)s->around.entries[e];
            if (HasCorner(face, own[1]) && HasCorner(face, own[2])) {
                s->opposites[s->around.entries[e]] = c[i % 4];
            }
        }
    }
    return s->opposites != NULL;
}

static int CompareNumbers(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

// Sizes of the boundary, and what follows from them.
static bool Measure(jnaContactShape* s, const jnaContactDef* def)
{
    const double* nodes = s->volume->nodes;
    double* edges = jnaAllocate(3 * (int64_t)s->faceCount, sizeof(double));
    if (edges == NULL) {
        return false;
    }
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * s->faceCount; ++i) {
        const double* p = nodes + 3 * (size_t)s->faces[i];
        const double* q = nodes + 3 * (size_t)s->faces[i % 3 == 2 ? i - 2 : i + 1];
        edges[i] = jnaDistance(p, q);
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], p[k]);
            high[k] = fmax(high[k], p[k]);
        }
    }
    qsort(edges, 3 * (size_t)s->faceCount, sizeof(double), CompareNumbers);
    s->medianEdge = edges[3 * s->faceCount / 2];
    free(edges);
    s->size = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    s->restDistance = def->restDistance > 0 ? def->restDistance : fmax(3 * s->medianEdge, REST_SHARE * s->size);
    s->localReach = !(def->reach > 0);
    s->reach = def->reach > 0 ? def->reach : 2 * s->medianEdge;
    s->flatVolume = FLAT_SHARE * s->medianEdge * s->medianEdge * s->medianEdge;
    s->tolerance = TOUCH_SHARE * s->size;
    return true;
}

double jnaContactShape_Size(const jnaContactShape* shape)
{
    return shape->size;
}

double jnaFirmStrength(const jnaVolume* v)
{
    float strongest = 0;
    for (int n = 0; v->holdStrength != NULL && n < v->nodeCount; ++n) {
        strongest = v->heldBy[n] >= 0 ? fmaxf(strongest, v->holdStrength[n]) : strongest;
    }
    return FIRM_SHARE * (double)strongest;
}

// Who is held, and by which bone. Nodes that follow their own skinned place have none in common.
static void FindHeld(jnaContactShape* s)
{
    const jnaVolume* v = s->volume;
    double firm = v->heldBy != NULL ? jnaFirmStrength(v) : 0;
    for (int n = 0; n < v->nodeCount; ++n) {
        int32_t by = v->heldBy != NULL ? v->heldBy[n] : -1;
        double strength = by >= 0 && v->holdStrength != NULL ? (double)v->holdStrength[n] : 0;
        s->held[n] = by >= 0 && !(strength > 0);
        s->bone[n] = by < 2 * v->jointCount && (s->held[n] || strength >= firm) ? by : -1;
    }
}

// Lengths, shear moduli and who is held.
static bool MeasureNodes(jnaContactShape* s)
{
    const jnaVolume* v = s->volume;
    s->shear = jnaArena_Take(&s->memory, s->nodeCount, sizeof(double));
    s->length = jnaArena_Take(&s->memory, s->nodeCount, sizeof(double));
    s->held = jnaArena_Take(&s->memory, v->nodeCount, sizeof(bool));
    s->bone = jnaArena_Take(&s->memory, v->nodeCount, sizeof(int32_t));
    int* counts = jnaArena_Give(&s->memory, s->nodeCount, sizeof(int));
    if (s->memory.failed) {
        free(counts);
        return false;
    }
    for (size_t i = 0; i < 4 * (size_t)v->tetrahedronCount; ++i) {
        int32_t place = s->places[v->tetrahedra[i]];
        if (place >= 0) {
            const jnaMaterial* m = v->materials != NULL && v->regions != NULL ? &v->materials[v->regions[i / 4]] : NULL;
            s->shear[place] += m != NULL ? m->young / (2 * (1 + m->poisson)) : PLAIN_SHEAR;
            counts[place]++;
        }
    }
    for (int n = 0; n < s->nodeCount; ++n) {
        double share = 0;
        for (int32_t e = s->around.starts[n]; e < s->around.starts[n + 1]; ++e) {
            const int32_t* c = s->faces + 3 * (size_t)s->around.entries[e];
            double area[3];
            jnaAreaVector(v->nodes + 3 * (size_t)c[0], v->nodes + 3 * (size_t)c[1], v->nodes + 3 * (size_t)c[2], area);
            share += jnaLength(area) / 6;
        }
        s->length[n] = sqrt(share * 2 / sqrt(3.0));
        s->shear[n] /= counts[n];
    }
    FindHeld(s);
    free(counts);
    return true;
}

static jnResult PlantTrees(jnaContactShape* s, jnError* error)
{
    const jnaVolume* v = s->volume;
    const jnaBoxItems tetrahedra = {v->nodes, v->nodeCount, v->tetrahedra, v->tetrahedronCount, 4};
    const jnaBoxItems faces = {v->nodes, v->nodeCount, s->faces, s->faceCount, 3};
    const jnaBoxItems nodes = {v->nodes, v->nodeCount, s->nodes, s->nodeCount, 1};
    JN_PASS(jnaCreateBoxTree(&tetrahedra, TETRAHEDRA_PER_LEAF, &s->tetrahedronTree, error));
    JN_PASS(jnaCreateBoxTree(&faces, FACES_PER_LEAF, &s->faceTree, error));
    JN_PASS(jnaCreateBoxTree(&nodes, NODES_PER_LEAF, &s->nodeTree, error));
    s->restFaceBounds = jnaArena_Take(&s->memory, s->faceTree.nodeCount, sizeof(jnaBounds));
    s->leafTetrahedra = jnaArena_Take(&s->memory, v->tetrahedronCount, 4 * sizeof(int32_t));
    JN_PASS(jnaArena_Check(&s->memory, "the boxes of contact", error));
    for (size_t k = 0; k < (size_t)v->tetrahedronCount; ++k) {
        memcpy(s->leafTetrahedra + 4 * k, v->tetrahedra + 4 * (size_t)s->tetrahedronTree.order[k], 4 * sizeof(int32_t));
    }
    jnaBoxTree_Fit(&s->faceTree, v->nodes, s->restFaceBounds);
    return jn_ok;
}

jnResult jnaCreateContactShape(const jnaContactDef* def, jnaContactShape** shape, jnError* error)
{
    *shape = NULL;
    JN_PASS(CheckDef(def, error));
    jnaContactShape* s = jnaAllocate(1, sizeof(*s));
    if (s == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for contact");
    }
    s->volume = def->volume;
    jnResult result = jn_ok;
    JN_TRY(jnaFindBoundary(def->volume, &s->faceCount, &s->faces, error));
    if (!(ListNodes(s) && ListOpposites(s) && Measure(s, def) && MeasureNodes(s))) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for a boundary of %d faces", s->faceCount));
    }
    if (!(s->size > 0)) {
        JN_TRY(jnFail(error, jn_badData, "the volume has no boundary, or all its nodes are in one place"));
    }
    JN_TRY(PlantTrees(s, error));
    JN_TRY(jnaContactShape_FindNear(s, def->gaps, error));
    *shape = s;
done:
    if (result != jn_ok) {
        jnaDestroyContactShape(s);
    }
    return result;
}
