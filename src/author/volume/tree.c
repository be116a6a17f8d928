// A tree of boxes over triangles: which are near, and whether a point is inside.
//
// Split at the middle of the longest side of the centres' box. The winding number sums the solid angle that each
// triangle covers, over 4 pi; a far branch counts as one dipole at its centre (Barill and others, "Fast winding
// numbers", 2018), whose error falls with the square of radius over distance.
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

enum { LEAF_SIZE = 4, MAX_DEPTH = 64, MAX_HITS = 64 };

// Distance over radius beyond which a branch is a dipole: the winding number is then right to about 0.01.
#define FAR_RATIO 2.3

static const double* Corner(const jnaTree* tree, int32_t triangle, int k)
{
    return tree->positions + 3 * (size_t)tree->triangles[3 * (size_t)triangle + (size_t)k];
}

static void Centroid(const jnaTree* tree, int32_t triangle, double out[3])
{
    for (int i = 0; i < 3; ++i) {
        out[i] = (Corner(tree, triangle, 0)[i] + Corner(tree, triangle, 1)[i] + Corner(tree, triangle, 2)[i]) / 3;
    }
}

static void MeasureNode(const jnaTree* tree, jnaTreeNode* node)
{
    double weight = 0, plain[3] = {0};
    for (int i = 0; i < 3; ++i) {
        node->low[i] = HUGE_VAL;
        node->high[i] = -HUGE_VAL;
        node->center[i] = node->normal[i] = 0;
    }
    for (int32_t k = node->first; k < node->first + node->count; ++k) {
        int32_t t = tree->order[k];
        double area[3], centroid[3];
        jnaAreaVector(Corner(tree, t, 0), Corner(tree, t, 1), Corner(tree, t, 2), area);
        Centroid(tree, t, centroid);
        double size = 0.5 * jnaLength(area);
        weight += size;
        for (int i = 0; i < 3; ++i) {
            node->normal[i] += 0.5 * area[i];
            node->center[i] += size * centroid[i];
            plain[i] += centroid[i] / node->count;
            for (int c = 0; c < 3; ++c) {
                node->low[i] = fmin(node->low[i], Corner(tree, t, c)[i]);
                node->high[i] = fmax(node->high[i], Corner(tree, t, c)[i]);
            }
        }
    }
    for (int i = 0; i < 3; ++i) {
        node->center[i] = weight > 0 ? node->center[i] / weight : plain[i];
    }
    node->radius = 0;
    for (int32_t k = node->first; k < node->first + node->count; ++k) {
        for (int c = 0; c < 3; ++c) {
            node->radius = fmax(node->radius, jnaDistance(Corner(tree, tree->order[k], c), node->center));
        }
    }
}

// Puts the triangles below the middle first; returns how many there are.
static int32_t Partition(jnaTree* tree, const jnaTreeNode* node)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, c[3];
    for (int32_t k = node->first; k < node->first + node->count; ++k) {
        Centroid(tree, tree->order[k], c);
        for (int i = 0; i < 3; ++i) {
            low[i] = fmin(low[i], c[i]);
            high[i] = fmax(high[i], c[i]);
        }
    }
    int axis = high[1] - low[1] > high[0] - low[0] ? 1 : 0;
    axis = high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
    double middle = 0.5 * (low[axis] + high[axis]);
    int32_t below = 0;
    for (int32_t k = 0; k < node->count; ++k) {
        int32_t* entry = &tree->order[node->first + k];
        Centroid(tree, *entry, c);
        if (c[axis] < middle) {
            int32_t other = tree->order[node->first + below];
            tree->order[node->first + below++] = *entry;
            *entry = other;
        }
    }
    return below > 0 && below < node->count ? below : node->count / 2;
}

static void Split(jnaTree* tree, int32_t index, int depth)
{
    jnaTreeNode* node = &tree->nodes[index];
    MeasureNode(tree, node);
    node->left = node->right = -1;
    if (node->count <= LEAF_SIZE || depth >= MAX_DEPTH - 1) {
        return;
    }
    int32_t below = Partition(tree, node);
    node->left = tree->nodeCount++;
    node->right = tree->nodeCount++;
    tree->nodes[node->left] = (jnaTreeNode){.first = node->first, .count = below};
    tree->nodes[node->right] = (jnaTreeNode){.first = node->first + below, .count = node->count - below};
    Split(tree, node->left, depth + 1);
    Split(tree, node->right, depth + 1);
}

jnResult jnaCreateTree(
    const double* positions, int triangleCount, const int32_t* triangles, jnaTree* tree, jnError* error)
{
    *tree = (jnaTree){.positions = positions, .triangles = triangles, .nodeCount = 1};
    tree->order = jnaArena_Take(&tree->memory, triangleCount, sizeof(*tree->order));
    tree->nodes = jnaArena_Take(&tree->memory, 2 * (int64_t)triangleCount, sizeof(*tree->nodes));
    jnResult result = jnaArena_Check(&tree->memory, "a tree of triangles", error);
    if (result != jn_ok) {
        jnaDestroyTree(tree);
        return result;
    }
    for (int32_t i = 0; i < triangleCount; ++i) {
        tree->order[i] = i;
    }
    tree->nodes[0].count = triangleCount;
    Split(tree, 0, 0);
    return jn_ok;
}

void jnaDestroyTree(jnaTree* tree)
{
    jnaReleaseArena(&tree->memory);
    *tree = (jnaTree){0};
}

static bool Apart(const double* lowA, const double* highA, const double* lowB, const double* highB)
{
    return lowA[0] > highB[0] || lowB[0] > highA[0] || lowA[1] > highB[1] || lowB[1] > highA[1] || lowA[2] > highB[2] ||
           lowB[2] > highA[2];
}

void jnaTree_Visit(const jnaTree* tree, const double low[3], const double high[3],
    bool (*visit)(int32_t triangle, void* user), void* user)
{
    int32_t stack[MAX_DEPTH + 8];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const jnaTreeNode* node = &tree->nodes[stack[--depth]];
        if (Apart(node->low, node->high, low, high)) {
            continue;
        }
        if (node->left >= 0) {
            stack[depth++] = node->right;
            stack[depth++] = node->left;
            continue;
        }
        for (int32_t k = node->first; k < node->first + node->count; ++k) {
            if (!visit(tree->order[k], user)) {
                return;
            }
        }
    }
}

// Solid angle of a triangle seen from a point (Van Oosterom and Strackee).
static double SolidAngle(const jnaTree* tree, int32_t triangle, const double point[3])
{
    double a[3], b[3], c[3], bc[3];
    jnaSubtract(Corner(tree, triangle, 0), point, a);
    jnaSubtract(Corner(tree, triangle, 1), point, b);
    jnaSubtract(Corner(tree, triangle, 2), point, c);
    jnaCross(b, c, bc);
    double la = jnaLength(a), lb = jnaLength(b), lc = jnaLength(c);
    double below = la * lb * lc + jnaDot(a, b) * lc + jnaDot(b, c) * la + jnaDot(c, a) * lb;
    return 2 * atan2(jnaDot(a, bc), below);
}

double jnaTree_Winding(const jnaTree* tree, const double point[3])
{
    int32_t stack[MAX_DEPTH + 8];
    int depth = 0;
    double sum = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        const jnaTreeNode* node = &tree->nodes[stack[--depth]];
        double away[3];
        jnaSubtract(node->center, point, away);
        double distance = jnaLength(away);
        if (distance > FAR_RATIO * node->radius) {
            sum += jnaDot(away, node->normal) / (distance * distance * distance);
        } else if (node->left >= 0) {
            stack[depth++] = node->right;
            stack[depth++] = node->left;
        } else {
            for (int32_t k = node->first; k < node->first + node->count; ++k) {
                sum += SolidAngle(tree, tree->order[k], point);
            }
        }
    }
    return sum / (4 * JNA_PI);
}

typedef struct Hits {
    const jnaTree* tree;
    const double *from, *to;
    int count;
    double at[MAX_HITS]; // shares of the way
} Hits;

static bool AddHit(int32_t triangle, void* user)
{
    Hits* hits = user;
    const int32_t* c = hits->tree->triangles + 3 * (size_t)triangle;
    const double *a = hits->tree->positions + 3 * (size_t)c[0], *b = hits->tree->positions + 3 * (size_t)c[1],
                 *d = hits->tree->positions + 3 * (size_t)c[2];
    double sp = jnaVolume6(a, b, d, hits->from), sq = jnaVolume6(a, b, d, hits->to);
    double s1 = jnaVolume6(hits->from, hits->to, a, b), s2 = jnaVolume6(hits->from, hits->to, b, d),
           s3 = jnaVolume6(hits->from, hits->to, d, a);
    bool through = (s1 >= 0 && s2 >= 0 && s3 >= 0) || (s1 <= 0 && s2 <= 0 && s3 <= 0);
    if (sp * sq <= 0 && fabs(sp - sq) > 0 && through && hits->count < MAX_HITS) {
        double at = sp / (sp - sq);
        int k = hits->count++;
        for (; k > 0 && hits->at[k - 1] > at; --k) {
            hits->at[k] = hits->at[k - 1];
        }
        hits->at[k] = at;
    }
    return true;
}

// toInside: -1 where it is not known.
static double Leave(const jnaTree* tree, const double from[3], const double to[3], int toInside)
{
    Hits hits = {.tree = tree, .from = from, .to = to};
    double low[3], high[3];
    for (int i = 0; i < 3; ++i) {
        low[i] = fmin(from[i], to[i]);
        high[i] = fmax(from[i], to[i]);
    }
    jnaTree_Visit(tree, low, high, AddHit, &hits);
    for (int k = 0; k < hits.count; ++k) {
        double next = k + 1 < hits.count ? hits.at[k + 1] : 1, middle[3];
        if (k + 1 == hits.count) {
            bool inside = toInside < 0 ? jnaTree_Winding(tree, to) > 0.5 : toInside > 0;
            return inside ? -1 : hits.at[k];
        }
        // Hits on a common edge of two faces come twice.
        if (next - hits.at[k] < 1e-9) {
            continue;
        }
        for (int i = 0; i < 3; ++i) {
            middle[i] = from[i] + 0.5 * (hits.at[k] + next) * (to[i] - from[i]);
        }
        if (jnaTree_Winding(tree, middle) <= 0.5) {
            return hits.at[k];
        }
    }
    // Through a hole that could not be capped: somewhere between.
    return toInside != 0 ? -1 : 0.5;
}

double jnaTree_Exit(const jnaTree* tree, const double from[3], const double to[3], bool toInside)
{
    return Leave(tree, from, to, toInside);
}

double jnaTree_Depth(const jnaTree* tree, const double from[3], const double to[3])
{
    double share = Leave(tree, from, to, -1);
    return share >= 0 ? share : 1;
}
