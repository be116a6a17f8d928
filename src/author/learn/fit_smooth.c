// Smoothing of the fitted parameters over mesh neighbours. Near its minimum each vertex's loss is a parabola in theta
// whose curvature is the Gauss-Newton matrix; with a spring of strength `weight` along every edge the whole is one
// sparse quadratic problem, solved by conjugate gradients preconditioned with its 2x2 diagonal blocks. One thread: the
// sums have one order.
#include "learn/fit_batch.h"

#include "base/try.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 2000 };
#define RELATIVE_RESIDUAL 1e-10

// How far apart, in theta, neighbours are expected to be at a weight of 1: ten percent.
#define NEIGHBOUR_SPREAD 0.1

typedef struct Graph {
    size_t vertexCount, edgeCount;
    int32_t (*edges)[2];
    double weight;        // per edge
    const double* matrix; // [3][vertexCount]
    double floor;         // prior curvature, keeps blocks positive
    double* degree;       // [vertexCount], edges that end there
} Graph;

static int CompareEdges(const void* a, const void* b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

// Every edge of the faces once.
static jnResult MakeGraph(const jnaFitPlan* plan, Graph* graph, jnaArena* arena, jnError* error)
{
    const jnaFitDef* def = plan->def;
    size_t corners = 3 * (size_t)def->faceCount;
    graph->vertexCount = (size_t)plan->vertexCount;
    graph->edges = jnaArena_Take(arena, def->faceCount, 3 * sizeof(*graph->edges));
    graph->degree = jnaArena_Take(arena, plan->vertexCount, sizeof(double));
    if (arena->failed) {
        return jnaArena_Check(arena, "the edges of the surface", error);
    }
    for (size_t i = 0; i < corners; ++i) {
        int32_t a = def->faces[i], b = def->faces[i % 3 == 2 ? i - 2 : i + 1];
        graph->edges[i][0] = a < b ? a : b;
        graph->edges[i][1] = a < b ? b : a;
    }
    qsort(graph->edges, corners, sizeof(*graph->edges), CompareEdges);
    for (size_t i = 0; i < corners; ++i) {
        bool fresh = graph->edgeCount == 0 || CompareEdges(graph->edges[graph->edgeCount - 1], graph->edges[i]) != 0;
        if (fresh && graph->edges[i][0] != graph->edges[i][1]) {
            memmove(graph->edges[graph->edgeCount], graph->edges[i], sizeof(*graph->edges));
            graph->degree[graph->edges[i][0]] += 1;
            graph->degree[graph->edges[i][1]] += 1;
            graph->edgeCount++;
        }
    }
    return jn_ok;
}

// out = (blocks + weight * graph Laplacian) x
static void Multiply(const Graph* graph, const double* x, double* out)
{
    size_t n = graph->vertexCount;
    for (size_t v = 0; v < n; ++v) {
        double s = x[v], d = x[n + v];
        out[v] = (graph->matrix[v] + graph->floor) * s + graph->matrix[n + v] * d;
        out[n + v] = graph->matrix[n + v] * s + (graph->matrix[2 * n + v] + graph->floor) * d;
    }
    for (size_t e = 0; e < graph->edgeCount; ++e) {
        size_t a = (size_t)graph->edges[e][0], b = (size_t)graph->edges[e][1];
        for (size_t k = 0; k < 2 * n; k += n) {
            double pull = graph->weight * (x[k + a] - x[k + b]);
            out[k + a] += pull;
            out[k + b] -= pull;
        }
    }
}

static void Precondition(const Graph* graph, const double* x, double* out)
{
    size_t n = graph->vertexCount;
    for (size_t v = 0; v < n; ++v) {
        double more = graph->floor + graph->weight * graph->degree[v];
        double ss = graph->matrix[v] + more, sd = graph->matrix[n + v], dd = graph->matrix[2 * n + v] + more;
        double determinant = ss * dd - sd * sd;
        out[v] = (dd * x[v] - sd * x[n + v]) / determinant;
        out[n + v] = (ss * x[n + v] - sd * x[v]) / determinant;
    }
}

static double Dot(const double* a, const double* b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Conjugate gradients from x; work is [4][2 * vertexCount].
static void Solve(const Graph* graph, const double* right, double* x, double* work)
{
    size_t size = 2 * graph->vertexCount;
    double *residual = work, *direction = work + size, *product = work + 2 * size, *scaled = work + 3 * size;
    Multiply(graph, x, product);
    for (size_t i = 0; i < size; ++i) {
        residual[i] = right[i] - product[i];
    }
    Precondition(graph, residual, scaled);
    memcpy(direction, scaled, size * sizeof(double));
    double rho = Dot(residual, scaled, size), goal = RELATIVE_RESIDUAL * RELATIVE_RESIDUAL * rho;
    for (int k = 0; k < MAX_ITERATIONS && rho > goal && rho > 0.0; ++k) {
        Multiply(graph, direction, product);
        double step = rho / Dot(direction, product, size);
        for (size_t i = 0; i < size; ++i) {
            x[i] += step * direction[i];
            residual[i] -= step * product[i];
        }
        Precondition(graph, residual, scaled);
        double next = Dot(residual, scaled, size);
        for (size_t i = 0; i < size; ++i) {
            direction[i] = scaled[i] + next / rho * direction[i];
        }
        rho = next;
    }
}

jnResult jnaSmoothParameters(const jnaFitPlan* plan, double noise, double* theta, const double* matrix, jnError* error)
{
    size_t n = (size_t)plan->vertexCount;
    Graph graph = {.matrix = matrix, .floor = fmax(plan->priorWeight, 1e-30)};
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double* work = jnaArena_Take(&arena, plan->vertexCount, 8 * sizeof(double));
    double* right = jnaArena_Take(&arena, plan->vertexCount, 2 * sizeof(double));
    JN_TRY(MakeGraph(plan, &graph, &arena, error));
    graph.weight = plan->def->smooth * noise / (NEIGHBOUR_SPREAD * NEIGHBOUR_SPREAD);
    // The right-hand side is the blocks alone applied to the fitted parameters.
    Graph alone = graph;
    alone.edgeCount = 0;
    Multiply(&alone, theta, right);
    Solve(&graph, right, theta, work);
    for (size_t i = 0; i < 2 * n; ++i) {
        theta[i] = fmin(fmax(theta[i], plan->low[i / n]), plan->high[i / n]);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
