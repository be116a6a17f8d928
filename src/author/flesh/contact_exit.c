// The way out of foreign flesh: closest points of the boundary, at rest and deformed, with faces that do not qualify
// passed over. Branches farther than the best so far are pruned, and those too far from the centre at rest: without
// that a hand deep inside an arm would first look at all of itself.
#include "flesh/contact_internal.h"

#include "base/triangle.h"
#include "volume/mesh_internal.h"

// How many times farther a face at a right angle to the one wanted counts than it is, less 1. Flesh that presses on
// flesh meets it face to face; a way out to the side, close to the rim of an overlap, would drive it along instead of
// apart.
#define WRONG_WAY 1.0

// Cosine below which the side of a face that a point is on cannot be told from rounding.
#define SIDE_TOLERANCE 1e-9

/// What is looked for.
typedef struct Query {
    const jnaContactShape* shape;
    const double* positions; // [nodes][3], rest or deformed
    const jnaBounds* bounds; // the face tree's for them
    const double* point;
    int32_t boundaryNode;
    const double* center; // faces have a corner within `radius` of it at rest; NULL: any
    double radius;
    int side; // 0: any
    const double* against;
    jnaSurfacePoint best;
} Query;

static inline double BoxDistance2(const jnaBounds* box, const double* p)
{
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
        double below = box->low[i] - p[i], above = p[i] - box->high[i];
        double away = below > above ? below : above;
        away = away > 0 ? away : 0;
        sum += away * away;
    }
    return sum;
}

static bool Qualifies(const Query* q, int32_t face)
{
    const jnaContactShape* s = q->shape;
    const int32_t* c = s->faces + 3 * (size_t)face;
    bool within = q->center == NULL;
    for (int k = 0; k < 3 && !within; ++k) {
        within = jnaDistance(s->volume->nodes + 3 * (size_t)c[k], q->center) <= q->radius;
    }
    return within && !jnaContactShape_IsOwn(s, q->boundaryNode, c[0]) &&
           !jnaContactShape_IsOwn(s, q->boundaryNode, c[1]) && !jnaContactShape_IsOwn(s, q->boundaryNode, c[2]);
}

// Unit normal away from the tetrahedron behind, which also holds where that is inverted. False for a face without area.
static bool FaceNormal(const Query* q, int32_t face, double normal[3])
{
    const int32_t* c = q->shape->faces + 3 * (size_t)face;
    const double *a = q->positions + 3 * (size_t)c[0], *b = q->positions + 3 * (size_t)c[1],
                 *d = q->positions + 3 * (size_t)c[2];
    double behind[3];
    jnaAreaVector(a, b, d, normal);
    jnaSubtract(q->positions + 3 * (size_t)q->shape->opposites[face], a, behind);
    double length = jnaLength(normal);
    if (!(length > 0)) {
        return false;
    }
    double scale = (jnaDot(normal, behind) > 0 ? -1 : 1) / length;
    for (int i = 0; i < 3; ++i) {
        normal[i] *= scale;
    }
    return true;
}

static void Consider(Query* q, int32_t face)
{
    const int32_t* c = q->shape->faces + 3 * (size_t)face;
    double w[3], away[3], normal[3] = {0};
    jnaClosestOnTriangle(
        q->point, q->positions + 3 * (size_t)c[0], q->positions + 3 * (size_t)c[1], q->positions + 3 * (size_t)c[2], w);
    for (int i = 0; i < 3; ++i) {
        away[i] = q->point[i];
        for (int k = 0; k < 3; ++k) {
            away[i] -= w[k] * q->positions[3 * (size_t)c[k] + (size_t)i];
        }
    }
    double distance = jnaLength(away);
    // Written so that the weights of a face without area, which may not be numbers, fail.
    if (!(distance <= q->best.score) || !(w[0] >= 0 && w[1] >= 0 && w[2] >= 0) || !Qualifies(q, face)) {
        return;
    }
    if (q->side != 0 && (!FaceNormal(q, face, normal) || q->side * jnaDot(normal, away) < -SIDE_TOLERANCE * distance)) {
        return;
    }
    double score = q->against != NULL ? distance * (1 + WRONG_WAY * (1 + jnaDot(normal, q->against))) : distance;
    // Equals: the lower face.
    if (!(score < q->best.score || (score <= q->best.score && (q->best.face < 0 || face < q->best.face)))) {
        return;
    }
    q->best = (jnaSurfacePoint){.face = face,
        .weights = {w[0], w[1], w[2]},
        .distance = distance,
        .score = score,
        .inner = w[0] > 0 && w[1] > 0 && w[2] > 0};
    bool along = q->side != 0 && !q->best.inner && distance > q->shape->tolerance;
    for (int i = 0; i < 3; ++i) {
        q->best.normal[i] = along ? q->side * away[i] / distance : normal[i];
    }
}

// Squared distance of a branch; beyond everything where it is out of the ball at rest.
static inline double Distance2(const Query* q, int32_t index)
{
    double distance = BoxDistance2(&q->bounds[index], q->point);
    if (q->center != NULL && distance <= q->best.score * q->best.score &&
        BoxDistance2(&q->shape->restFaceBounds[index], q->center) > q->radius * q->radius) {
        return HUGE_VAL;
    }
    return distance;
}

static void Search(Query* q)
{
    const jnaBoxTree* tree = &q->shape->faceTree;
    int32_t stack[JNA_TREE_STACK];
    double distances[JNA_TREE_STACK];
    int depth = 0;
    distances[depth] = Distance2(q, 0);
    stack[depth++] = 0;
    while (depth > 0) {
        const jnaBoxNode* node = &tree->nodes[stack[--depth]];
        if (!(distances[depth] <= q->best.score * q->best.score)) {
            continue;
        }
        if (node->left < 0) {
            for (int32_t k = node->first; k < node->first + node->count; ++k) {
                Consider(q, tree->order[k]);
            }
            continue;
        }
        double d[2] = {Distance2(q, node->left), Distance2(q, node->left + 1)};
        int closer = d[1] < d[0];
        stack[depth] = node->left + 1 - closer;
        distances[depth++] = d[1 - closer];
        stack[depth] = node->left + closer;
        distances[depth++] = d[closer];
    }
}

jnaSurfacePoint jnaFindRestExit(const jnaContactShape* shape, int32_t boundaryNode, const double rest[3])
{
    Query q = {.shape = shape,
        .positions = shape->volume->nodes,
        .bounds = shape->restFaceBounds,
        .point = rest,
        .boundaryNode = boundaryNode,
        .best = {.face = -1, .distance = HUGE_VAL, .score = HUGE_VAL}};
    Search(&q);
    return q.best;
}

jnaSurfacePoint jnaFindExit(
    const jnaContactFinder* finder, const double* nodes, int32_t boundaryNode, const jnaExitSearch* search)
{
    Query q = {.shape = finder->shape,
        .positions = nodes,
        .bounds = finder->faceBounds,
        .point = nodes + 3 * (size_t)boundaryNode,
        .boundaryNode = boundaryNode,
        .center = search->center,
        .radius = search->radius,
        .side = search->side,
        .against = search->against,
        .best = {.face = -1, .distance = search->limit, .score = search->limit}};
    Search(&q);
    return q.best;
}
