// Pairs that hold flesh apart, and how deep it is inside itself.
//
// A node inside foreign flesh has a material point there; the closest point of the rest surface to that, d away, is
// where the way out begins. It ends at the closest point of the deformed surface among the faces within 3 d of the
// material point at rest, which holds it for stretches up to 3, and does not lead out through other flesh. A node can
// be in several layers of flesh, and gets a pair for each.
//
// Pairs prefer a way out where the two surfaces face each other over one that is a little shorter; the penetration is
// that of the shortest. A pair that is there already goes on from its own face: the node stays on the side it came
// from, also past the middle of a limb, unless the other way out is less than half as long.
#include "flesh/contact.h"

#include "flesh/contact_internal.h"
#include "volume/mesh_internal.h"

#include "base/arena.h"
#include "base/try.h"
#include "runtime/for_author.h"

// Faces whose distance from the material point at rest is below this many times the rest depth may be the way out.
#define STRETCH_LIMIT 3.0

// How much longer than the shortest way out the way back to the side where the node came in may be.
#define RETURN_RATIO 2.0

// How much longer than the shortest way out, with what is added for the wrong direction, a pair's may be.
#define PRESSED_RATIO 3.0

enum { MAX_LAYERS = 4 };

/// Flesh that a node is in.
typedef struct Layer {
    double material[3]; // at rest
    double radius;      // within which its way out was looked for, at rest
    jnaSurfacePoint exit;
    double exitRest[3];
} Layer;

jnResult jnaCreateContactFinder(const jnaContactShape* shape, jnaContactFinder** finder, jnError* error)
{
    *finder = NULL;
    jnaContactFinder* f = jnaAllocate(1, sizeof(*f));
    if (f == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for contact");
    }
    jnaArena* memory = &f->memory;
    f->shape = shape;
    f->faceBounds = jnaArena_Take(memory, shape->faceTree.nodeCount, sizeof(jnaBounds));
    f->cells = jnaArena_Take(memory, shape->volume->nodeCount, sizeof(uint64_t));
    f->leaves = jnaArena_Take(memory, shape->tetrahedronTree.nodeCount, sizeof(jnaCellBox));
    f->patches = jnaArena_Take(memory, shape->nodeTree.nodeCount, sizeof(jnaCellBox));
    f->boxes = jnaArena_Take(memory, shape->volume->tetrahedronCount, sizeof(jnaCellBox));
    f->marks = jnaArena_Take(memory, shape->tetrahedronTree.nodeCount, sizeof(int32_t));
    f->filled = jnaArena_Take(memory, shape->tetrahedronTree.nodeCount, sizeof(int32_t));
    f->depths = jnaArena_Take(memory, shape->volume->nodeCount, sizeof(double));
    f->firstOld = jnaArena_Take(memory, shape->nodeCount, sizeof(int32_t));
    // So that sorting no hits has a list to sort.
    memory->failed |= !jnaReserve(&f->hits, &f->hitCapacity, 1, sizeof(*f->hits));
    jnResult result = jnaArena_Check(memory, "contact", error);
    if (result != jn_ok) {
        jnaDestroyContactFinder(f);
        return result;
    }
    *finder = f;
    return jn_ok;
}

void jnaDestroyContactFinder(jnaContactFinder* f)
{
    if (f == NULL) {
        return;
    }
    jnaReleaseArena(&f->memory);
    free(f->hits);
    free(f->nextOld);
    jnaDestroyContacts(&f->found);
    free(f);
}

const double* jnaContactFinder_Depths(const jnaContactFinder* finder)
{
    return finder->depths;
}

static void PointOn(const jnaContactShape* s, const double* positions, int32_t face, const double w[3], double p[3])
{
    const int32_t* c = s->faces + 3 * (size_t)face;
    for (int i = 0; i < 3; ++i) {
        p[i] = w[0] * positions[3 * (size_t)c[0] + (size_t)i] + w[1] * positions[3 * (size_t)c[1] + (size_t)i] +
               w[2] * positions[3 * (size_t)c[2] + (size_t)i];
    }
}

// The way out of a hit. False where the node only touches, or all surface around is near it.
static bool FindLayer(const jnaContactFinder* f, const double* nodes, const jnaContactHit* hit, Layer* layer)
{
    const jnaContactShape* s = f->shape;
    const int32_t* c = s->volume->tetrahedra + 4 * (size_t)hit->tetrahedron;
    const double* x = nodes + 3 * (size_t)hit->node;
    *layer = (Layer){0};
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < 3; ++i) {
            layer->material[i] += hit->weights[k] * s->volume->nodes[3 * (size_t)c[k] + (size_t)i];
        }
    }
    jnaSurfacePoint start = jnaFindRestExit(s, hit->node, layer->material);
    if (start.face < 0) {
        return false;
    }
    layer->radius = STRETCH_LIMIT * start.distance + s->medianEdge;
    double p[3], out[3];
    PointOn(s, nodes, start.face, start.weights, p);
    jnaSubtract(p, x, out);
    double limit = jnaLength(out);
    layer->exit = jnaFindExit(f, nodes, hit->node, &(jnaExitSearch){layer->material, layer->radius, -1, NULL, limit});
    if (layer->exit.face < 0) {
        // Tangled: every face around has the node in front of it. Then straight to where the rest surface says.
        start.distance = limit;
        for (int i = 0; i < 3; ++i) {
            start.normal[i] = out[i] / limit;
        }
        layer->exit = start;
    }
    PointOn(s, s->volume->nodes, layer->exit.face, layer->exit.weights, layer->exitRest);
    return layer->exit.distance > s->tolerance;
}

// The layers of flesh that a node is in. Hits whose ways out end close together at rest are one; the shorter counts.
static int FindLayers(const jnaContactFinder* f, const double* nodes, int first, int end, Layer layers[MAX_LAYERS])
{
    int count = 0;
    for (int h = first; h < end; ++h) {
        Layer layer;
        if (!FindLayer(f, nodes, &f->hits[h], &layer)) {
            continue;
        }
        int same = 0;
        while (same < count && jnaDistance(layers[same].exitRest, layer.exitRest) > f->shape->restDistance) {
            ++same;
        }
        if (same == MAX_LAYERS || (same < count && layers[same].exit.distance <= layer.exit.distance)) {
            continue;
        }
        layers[same] = layer;
        count += same == count;
    }
    return count;
}

static double DeformedShare(const jnaContactShape* s, const double* nodes, int32_t place)
{
    double share = 0;
    for (int32_t e = s->around.starts[place]; e < s->around.starts[place + 1]; ++e) {
        const int32_t* c = s->faces + 3 * (size_t)s->around.entries[e];
        double area[3];
        jnaAreaVector(nodes + 3 * (size_t)c[0], nodes + 3 * (size_t)c[1], nodes + 3 * (size_t)c[2], area);
        share += jnaLength(area) / 6;
    }
    return share;
}

// Whether bones leave a pair any freedom: not where all its nodes are held exactly, or firmly by the same bone.
static bool IsFree(const jnaContactShape* s, int32_t node, const int32_t* corners)
{
    bool held = s->held[node], same = s->bone[node] >= 0;
    for (int k = 0; k < 3; ++k) {
        held = held && s->held[corners[k]];
        same = same && s->bone[corners[k]] == s->bone[node];
    }
    return !held && !same;
}

// Adds a pair to what was found, unless the node has one with that face. old: the pair it goes on from, or NULL.
static bool AddPair(jnaContactFinder* f, const double* nodes, int32_t node, const jnaSurfacePoint* at,
    const jnaContactPair* old, bool kept)
{
    const jnaContactShape* s = f->shape;
    const int32_t* c = s->faces + 3 * (size_t)at->face;
    if (!IsFree(s, node, c)) {
        return true;
    }
    for (int k = f->found.count - 1; k >= 0 && f->found.pairs[k].node == node; --k) {
        if (f->found.pairs[k].face == at->face) {
            return true;
        }
    }
    if (!jnaReserve(&f->found.pairs, &f->found.capacity, f->found.count + 1, sizeof(jnaContactPair))) {
        return false;
    }
    jnaContactPair pair = {.node = node, .face = at->face, .kept = kept, .offset = old != NULL ? old->offset : 0};
    double p[3], away[3], shear = 0;
    for (int k = 0; k < 3; ++k) {
        pair.corners[k] = c[k];
        pair.weights[k] = at->weights[k];
        pair.normal[k] = at->normal[k];
        shear += s->shear[s->places[c[k]]] / 3;
    }
    PointOn(s, nodes, at->face, at->weights, p);
    jnaSubtract(nodes + 3 * (size_t)node, p, away);
    pair.gap = jnaDot(pair.normal, away);
    // The softer side gives way, so the pair need not be stiffer than that asks for.
    int32_t place = s->places[node];
    pair.stiffness = fmin(shear, s->shear[place]) * s->length[place];
    f->found.pairs[f->found.count++] = pair;
    return true;
}

// The old pair of a node that belongs to a layer: the one whose point is closest at rest, if it is close enough.
static int MatchOld(const jnaContactFinder* f, const jnaContacts* old, int32_t place, const Layer* layer, uint32_t used)
{
    const jnaContactShape* s = f->shape;
    int best = -1, nth = 0;
    double nearest = layer->radius + s->restDistance;
    for (int32_t o = f->firstOld[place]; o >= 0; o = f->nextOld[o], ++nth) {
        double p[3];
        PointOn(s, s->volume->nodes, old->pairs[o].face, old->pairs[o].weights, p);
        double distance = jnaDistance(p, layer->material);
        if (nth < 32 && (used >> nth & 1) == 0 && distance < nearest) {
            nearest = distance;
            best = nth;
        }
    }
    return best;
}

static const jnaContactPair* Nth(const jnaContactFinder* f, const jnaContacts* old, int32_t place, int nth)
{
    int32_t o = f->firstOld[place];
    for (; nth > 0; --nth) {
        o = f->nextOld[o];
    }
    return &old->pairs[o];
}

// Unit normal of the surface at a node; zero where there is none.
static void NodeNormal(const jnaContactShape* s, const double* nodes, int32_t place, double normal[3])
{
    memset(normal, 0, 3 * sizeof(double));
    for (int32_t e = s->around.starts[place]; e < s->around.starts[place + 1]; ++e) {
        const int32_t* c = s->faces + 3 * (size_t)s->around.entries[e];
        double area[3];
        jnaAreaVector(nodes + 3 * (size_t)c[0], nodes + 3 * (size_t)c[1], nodes + 3 * (size_t)c[2], area);
        for (int i = 0; i < 3; ++i) {
            normal[i] += area[i];
        }
    }
    double length = jnaLength(normal);
    for (int i = 0; i < 3; ++i) {
        normal[i] = length > 0 ? normal[i] / length : 0;
    }
}

// The way out of a layer that presses its surface against the node's own.
static jnaSurfacePoint PressedExit(
    const jnaContactFinder* f, const double* nodes, int32_t node, const Layer* layer, const double* normal)
{
    // Already face to face, within 60 degrees: nothing else is worth looking for.
    if (jnaDot(layer->exit.normal, normal) < -0.5) {
        return layer->exit;
    }
    const jnaExitSearch search = {layer->material, layer->radius, -1, normal, PRESSED_RATIO * layer->exit.distance};
    jnaSurfacePoint exit = jnaFindExit(f, nodes, node, &search);
    if (exit.face < 0) {
        exit = layer->exit;
        exit.score = PRESSED_RATIO * exit.distance;
    }
    return exit;
}

// The pairs of one node: one per layer that it is in, and old ones that it is still close to.
static bool PairNode(jnaContactFinder* f, const double* nodes, int32_t place, const Layer* layers, int layerCount,
    const jnaContacts* old)
{
    const jnaContactShape* s = f->shape;
    int32_t node = s->nodes[place];
    uint32_t used = 0;
    double normal[3], reach = s->localReach ? fmax(s->reach, s->length[place]) : s->reach;
    NodeNormal(s, nodes, place, normal);
    for (int l = 0; l < layerCount; ++l) {
        jnaSurfacePoint exit = PressedExit(f, nodes, node, &layers[l], normal);
        int nth = MatchOld(f, old, place, &layers[l], used);
        const jnaContactPair* pair = nth >= 0 ? Nth(f, old, place, nth) : NULL;
        if (pair != NULL) {
            double rest[3];
            PointOn(s, s->volume->nodes, pair->face, pair->weights, rest);
            jnaSurfacePoint back = jnaFindExit(
                f, nodes, node, &(jnaExitSearch){rest, s->restDistance, -1, normal, RETURN_RATIO * exit.score});
            exit = back.face >= 0 ? back : exit;
            used |= 1u << nth;
        }
        if (!AddPair(f, nodes, node, &exit, pair, false)) {
            return false;
        }
    }
    int nth = 0;
    for (int32_t o = f->firstOld[place]; o >= 0; o = f->nextOld[o], ++nth) {
        if (nth < 32 && (used >> nth & 1) != 0) {
            continue;
        }
        double rest[3];
        PointOn(s, s->volume->nodes, old->pairs[o].face, old->pairs[o].weights, rest);
        jnaSurfacePoint kept = jnaFindExit(f, nodes, node, &(jnaExitSearch){rest, s->restDistance, 1, normal, reach});
        if (kept.face >= 0 && !AddPair(f, nodes, node, &kept, &old->pairs[o], true)) {
            return false;
        }
    }
    return true;
}

// Lists the old pairs of each node, in their order. Pairs that are not of this shape are dropped.
static bool ListOld(jnaContactFinder* f, const jnaContacts* old)
{
    const jnaContactShape* s = f->shape;
    memset(f->firstOld, 0xff, (size_t)s->nodeCount * sizeof(*f->firstOld));
    if (old == NULL || old->count == 0) {
        return true;
    }
    if (!jnaReserve(&f->nextOld, &f->nextCapacity, old->count, sizeof(*f->nextOld))) {
        return false;
    }
    for (int o = old->count - 1; o >= 0; --o) {
        const jnaContactPair* pair = &old->pairs[o];
        bool known = pair->node >= 0 && pair->node < s->volume->nodeCount && s->places[pair->node] >= 0 &&
                     pair->face >= 0 && pair->face < s->faceCount;
        if (known) {
            f->nextOld[o] = f->firstOld[s->places[pair->node]];
            f->firstOld[s->places[pair->node]] = o;
        }
    }
    return true;
}

static jnResult CheckNodes(const jnaContactShape* s, const double* nodes, jnError* error)
{
    // Zero times anything finite is zero; all others stay.
    double sum = 0;
    size_t count = 3 * (size_t)s->volume->nodeCount;
    for (size_t i = 0; i < count; ++i) {
        sum += 0 * nodes[i];
    }
    for (size_t i = 0; !(sum >= 0) && i < count; ++i) {
        if (!isfinite(nodes[i])) {
            return jnFail(error, jn_badData, "node %zu has a position that is not finite", i / 3);
        }
    }
    return jn_ok;
}

// Measures, and pairs where `old` is not NULL.
static jnResult Look(
    jnaContactFinder* f, const double* nodes, const jnaContacts* old, jnaPenetration* penetration, jnError* error)
{
    const jnaContactShape* s = f->shape;
    JN_PASS(CheckNodes(s, nodes, error));
    JN_PASS(jnaContactFinder_Hits(f, nodes, error));
    bool good = ListOld(f, old);
    f->found.count = 0;
    memset(f->depths, 0, (size_t)s->volume->nodeCount * sizeof(*f->depths));
    jnaPenetration all = {0};
    if (f->hitCount > 0 || (old != NULL && old->count > 0)) {
        jnaBoxTree_Fit(&s->faceTree, nodes, f->faceBounds);
    }
    for (int32_t place = 0, hit = 0; good && place < s->nodeCount; ++place) {
        int first = hit, count = 0;
        while (hit < f->hitCount && f->hits[hit].node == s->nodes[place]) {
            ++hit;
        }
        if (first == hit && f->firstOld[place] < 0) {
            continue;
        }
        Layer layers[MAX_LAYERS];
        count = FindLayers(f, nodes, first, hit, layers);
        double depth = 0, sum = 0;
        for (int l = 0; l < count; ++l) {
            depth = fmax(depth, layers[l].exit.distance);
            sum += layers[l].exit.distance;
        }
        all.nodeCount += count > 0;
        all.depth = fmax(all.depth, depth);
        all.volume += count > 0 ? 0.5 * sum * DeformedShare(s, nodes, place) : 0;
        f->depths[s->nodes[place]] = depth;
        good = old == NULL || PairNode(f, nodes, place, layers, count, old);
    }
    if (!good) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d pairs in contact", f->found.count);
    }
    if (penetration != NULL) {
        *penetration = all;
    }
    return jn_ok;
}

jnResult jnaContactFinder_Find(
    jnaContactFinder* finder, const double* nodes, jnaContacts* contacts, jnaPenetration* penetration, jnError* error)
{
    JN_PASS(Look(finder, nodes, contacts, penetration, error));
    // What was found and what was there change places, so that neither is copied.
    jnaContacts swap = *contacts;
    *contacts = finder->found;
    finder->found = swap;
    return jn_ok;
}

jnResult jnaContactFinder_Measure(
    jnaContactFinder* finder, const double* nodes, jnaPenetration* penetration, jnError* error)
{
    return Look(finder, nodes, NULL, penetration, error);
}
