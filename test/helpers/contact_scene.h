// A volume in contact with itself, for the tests of it.
#pragma once

#include "flesh/contact_internal.h"
#include "helpers/volumes.h"
#include "volume/mesh_internal.h"

/// A volume and what looks at it.
typedef struct Scene {
    jnaVolume volume;
    double* nodes; // deformed
    jnaContactShape* shape;
    jnaContactFinder* finder;
    jnaContacts contacts;
} Scene;

static inline void Prepare(Scene* s, const jnaContactDef* def)
{
    jnError error;
    jnaContactDef own = jnaDefaultContactDef(&s->volume);
    s->nodes = malloc(sizeof(double) * 3 * (size_t)s->volume.nodeCount);
    memcpy(s->nodes, s->volume.nodes, sizeof(double) * 3 * (size_t)s->volume.nodeCount);
    assert_int_equal(jnaCreateContactShape(def != NULL ? def : &own, &s->shape, &error), jn_ok);
    assert_int_equal(jnaCreateContactFinder(s->shape, &s->finder, &error), jn_ok);
}

static inline void DestroyScene(Scene* s)
{
    jnaDestroyContacts(&s->contacts);
    jnaDestroyContactFinder(s->finder);
    jnaDestroyContactShape(s->shape);
    jnaDestroyVolume(&s->volume);
    free(s->nodes);
}

static inline void CheckEqual(const jnaPenetration* a, const jnaPenetration* b)
{
    assert_int_equal(a->nodeCount, b->nodeCount);
    ASSERT_NEAR(a->depth, b->depth, 0);
    ASSERT_NEAR(a->volume, b->volume, 0);
}

static inline jnaPenetration Find(Scene* s)
{
    jnError error;
    jnaPenetration p, alone;
    assert_int_equal(jnaContactFinder_Measure(s->finder, s->nodes, &alone, &error), jn_ok);
    assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &s->contacts, &p, &error), jn_ok);
    CheckEqual(&p, &alone);
    return p;
}

static inline double Gap(const Scene* s, const jnaContactPair* pair)
{
    double gap = 0;
    for (int i = 0; i < 3; ++i) {
        double x = s->nodes[3 * pair->node + i];
        for (int k = 0; k < 3; ++k) {
            x -= pair->weights[k] * s->nodes[3 * pair->corners[k] + i];
        }
        gap += pair->normal[i] * x;
    }
    return gap;
}

// What every pair must be, whatever the flesh does.
static inline void CheckPairs(const Scene* s)
{
    for (int i = 0; i < s->contacts.count; ++i) {
        const jnaContactPair* p = &s->contacts.pairs[i];
        assert_in_range(p->node, 0, s->volume.nodeCount - 1);
        double local = s->shape->localReach ? s->shape->length[s->shape->places[p->node]] : 0;
        double reach = fmax(s->shape->reach, local);
        assert_true(i == 0 || s->contacts.pairs[i - 1].node <= p->node);
        assert_true(p->weights[0] >= 0 && p->weights[1] >= 0 && p->weights[2] >= 0);
        ASSERT_NEAR(p->weights[0] + p->weights[1] + p->weights[2], 1, 1e-12);
        ASSERT_NEAR(jnaLength(p->normal), 1, 1e-9);
        ASSERT_NEAR(p->gap, Gap(s, p), 1e-12);
        assert_true(p->stiffness > 0);
        assert_true(p->kept != 0 ? p->gap > -1e-9 && p->gap <= reach * (1 + 1e-9) : p->gap < 0);
        assert_memory_equal(p->corners, s->shape->faces + 3 * p->face, sizeof(p->corners));
    }
}

// Whether a path along edges leads from a node to another without leaving the ball: the plain way, over all tetrahedra.
static inline bool Connected(const jnaVolume* v, int32_t from, const int32_t* to, double r)
{
    char* reached = calloc((size_t)v->nodeCount, 1);
    const double* center = v->nodes + 3 * from;
    reached[from] = 1;
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < v->tetrahedronCount; ++t) {
            const int32_t* c = v->tetrahedra + 4 * t;
            if (!reached[c[0]] && !reached[c[1]] && !reached[c[2]] && !reached[c[3]]) {
                continue;
            }
            for (int k = 0; k < 4; ++k) {
                if (!reached[c[k]] && jnaDistance(v->nodes + 3 * c[k], center) < 1.5 * r) {
                    reached[c[k]] = 1;
                    more = true;
                }
            }
        }
    }
    bool any = false, all = true;
    for (int k = 0; k < 4; ++k) {
        if (jnaDistance(v->nodes + 3 * to[k], center) < r) {
            any = true;
            all = all && !reached[to[k]];
        }
    }
    free(reached);
    return !(any && all);
}

// The same input, the same bytes: from nothing, from the same pairs, by another finder.
static inline void CheckRepeats(Scene* s, bool still)
{
    jnError error;
    jnaContacts a = {0}, b = {0};
    jnaContactFinder* other;
    assert_int_equal(jnaCreateContactFinder(s->shape, &other, &error), jn_ok);
    for (int round = 0; round < 2; ++round) {
        jnaPenetration p, q;
        assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &a, &p, &error), jn_ok);
        assert_int_equal(jnaContactFinder_Find(other, s->nodes, &b, &q, &error), jn_ok);
        assert_int_equal(a.count, b.count);
        assert_true(a.count > 0);
        assert_memory_equal(a.pairs, b.pairs, (size_t)a.count * sizeof(*a.pairs));
        CheckEqual(&p, &q);
    }
    // Nothing has moved: nothing slides, unless it is deep in a tangle and finds a better way from where it got to.
    int count = a.count;
    jnaContactPair* pairs = malloc((size_t)count * sizeof(*pairs));
    memcpy(pairs, a.pairs, (size_t)count * sizeof(*pairs));
    assert_int_equal(jnaContactFinder_Find(s->finder, s->nodes, &a, NULL, &error), jn_ok);
    if (still) {
        assert_int_equal(a.count, count);
        assert_memory_equal(a.pairs, pairs, (size_t)count * sizeof(*pairs));
    }
    free(pairs);
    jnaDestroyContacts(&a);
    jnaDestroyContacts(&b);
    jnaDestroyContactFinder(other);
}
