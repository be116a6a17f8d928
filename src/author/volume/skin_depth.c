// Distances to the skin: down the tree of its triangles, nearer boxes first.
#include "volume/skin_depth.h"

#include "base/triangle.h"
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

// Twice the depth of any tree that memory can hold.
enum { STACK = 128 };

struct jnaSkinDepth {
    jnaTree tree;
};

jnResult jnaCreateSkinDepth(const jnaSlicer* skin, jnaSkinDepth** depth, jnError* error)
{
    *depth = calloc(1, sizeof(**depth));
    if (*depth == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for distances to %d triangles", skin->triangleCount);
    }
    jnResult result = jnaCreateTree(skin->nodes, skin->triangleCount, skin->triangles, &(*depth)->tree, error);
    if (result != jn_ok) {
        free(*depth);
        *depth = NULL;
    }
    return result;
}

void jnaDestroySkinDepth(jnaSkinDepth* depth)
{
    if (depth != NULL) {
        jnaDestroyTree(&depth->tree);
        free(depth);
    }
}

static double BoxSquare(const jnaTreeNode* node, const double* p)
{
    double square = 0;
    for (int i = 0; i < 3; ++i) {
        double away = fmax(fmax(node->low[i] - p[i], p[i] - node->high[i]), 0);
        square += away * away;
    }
    return square;
}

static double TriangleSquare(const jnaTree* tree, int32_t triangle, const double* p)
{
    const int32_t* c = tree->triangles + 3 * (size_t)triangle;
    const double *a = tree->positions + 3 * (size_t)c[0], *b = tree->positions + 3 * (size_t)c[1],
                 *d = tree->positions + 3 * (size_t)c[2];
    double w[3], square = 0;
    jnaClosestOnTriangle(p, a, b, d, w);
    for (int i = 0; i < 3; ++i) {
        double away = w[0] * a[i] + w[1] * b[i] + w[2] * d[i] - p[i];
        square += away * away;
    }
    return square;
}

double jnaSkinDepth_At(const jnaSkinDepth* depth, const double* p, double limit)
{
    const jnaTree* tree = &depth->tree;
    double least = limit * limit;
    int32_t stack[STACK];
    int count = 0;
    if (tree->nodeCount > 0) {
        stack[count++] = 0;
    }
    while (count > 0) {
        const jnaTreeNode* node = &tree->nodes[stack[--count]];
        if (BoxSquare(node, p) >= least) {
            continue;
        }
        for (int32_t k = node->first; node->left < 0 && k < node->first + node->count; ++k) {
            least = fmin(least, TriangleSquare(tree, tree->order[k], p));
        }
        if (node->left >= 0 && count + 2 <= STACK) {
            bool leftFirst = BoxSquare(&tree->nodes[node->left], p) <= BoxSquare(&tree->nodes[node->right], p);
            stack[count++] = leftFirst ? node->right : node->left;
            stack[count++] = leftFirst ? node->left : node->right;
        }
    }
    return sqrt(least);
}
