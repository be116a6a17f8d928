// Triangular solves with three right-hand sides at once; see preconditioner.h.
//
// CHOLMOD's supernodes are cut into panels of at most WIDTH columns. A panel holds the triangle of its own columns
// (column by column, the reciprocal of the diagonal first) and then the rows below, four at a time: [column][4 rows].
// Forward: x_below -= B x_own after the triangle; backward: x_own -= B^T x_below before it. Both read the panel once;
// four rows share every load of x_own. A wide supernode thus becomes several panels whose rows are partly its own.
// Single precision is enough: this matrix only has to be close to the Hessian, not right to the last digit.
#include "flesh/preconditioner.h"

#include "volume/laplacian_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 16, GROUP = 4 };

typedef struct jnaPanel {
    int32_t first, width; // columns
    int32_t groups;       // of four rows below
    uint32_t rows;        // place of the first in `rows`
    size_t entries;       // place of the first in `entries`
} Panel;

typedef float Float4 __attribute__((vector_size(16)));

// Sizes of all panels; with panels == NULL it only counts.
static void LayOut(const cholmod_factor* factor, jnaPreconditioner* p)
{
    const int *super = factor->super, *starts = factor->pi;
    p->panelCount = 0;
    p->entryCount = p->rowCount = 0;
    for (size_t s = 0; s < factor->nsuper; ++s) {
        int columns = super[s + 1] - super[s], rows = starts[s + 1] - starts[s];
        for (int c = 0; c < columns; c += WIDTH) {
            int width = columns - c < WIDTH ? columns - c : WIDTH;
            int groups = (rows - c - width + GROUP - 1) / GROUP;
            if (p->panels != NULL) {
                p->panels[p->panelCount] = (Panel){super[s] + c, width, groups, (uint32_t)p->rowCount, p->entryCount};
            }
            p->panelCount++;
            p->entryCount += (size_t)(width * (width + 1) / 2) + (size_t)groups * GROUP * (size_t)width;
            p->rowCount += (size_t)groups * GROUP;
        }
    }
}

static void FillPanel(const cholmod_factor* factor, size_t s, const Panel* panel, jnaPreconditioner* p)
{
    const int *super = factor->super, *starts = factor->pi, *places = factor->px;
    const int* rowList = (const int*)factor->s + starts[s];
    const double* values = (const double*)factor->x + places[s];
    int rows = starts[s + 1] - starts[s], skip = panel->first - super[s];
    float* to = p->entries + panel->entries;
    for (int c = 0; c < panel->width; ++c) {
        const double* column = values + (size_t)(skip + c) * (size_t)rows + skip;
        *to++ = (float)(1 / column[c]);
        for (int r = c + 1; r < panel->width; ++r) {
            *to++ = (float)column[r];
        }
    }
    for (int g = 0; g < panel->groups; ++g) {
        for (int c = 0; c < panel->width; ++c) {
            for (int i = 0; i < GROUP; ++i) {
                int r = skip + panel->width + GROUP * g + i;
                *to++ = r < rows ? (float)values[(size_t)(skip + c) * (size_t)rows + (size_t)r] : 0.0f;
            }
        }
        for (int i = 0; i < GROUP; ++i) {
            int r = skip + panel->width + GROUP * g + i;
            p->rows[panel->rows + (uint32_t)(GROUP * g + i)] = r < rows ? rowList[r] : p->count;
        }
    }
}

jnResult jnaCreatePreconditioner(const jnaLaplacian* laplacian, int32_t* order, jnaPreconditioner* p, jnError* error)
{
    const cholmod_factor* factor = jnaLaplacian_Cholesky(laplacian);
    memset(p, 0, sizeof(*p));
    p->count = (int)factor->n;
    LayOut(factor, p);
    int32_t* nodes = jnaArena_Take(&p->memory, p->count, sizeof(int32_t));
    p->panels = jnaArena_Take(&p->memory, p->panelCount, sizeof(Panel));
    p->entries = jnaArena_Take(&p->memory, (int64_t)p->entryCount, sizeof(float));
    p->rows = jnaArena_Take(&p->memory, p->rowCount > UINT32_MAX ? -1 : (int64_t)p->rowCount, sizeof(int32_t));
    jnResult result = jnaArena_Check(&p->memory, "a factor", error);
    if (result != jn_ok) {
        jnaDestroyPreconditioner(p);
        return result;
    }
    LayOut(factor, p);
    const int* super = factor->super;
    const Panel* panel = p->panels;
    for (size_t s = 0; s < factor->nsuper; ++s) {
        for (; panel < p->panels + p->panelCount && panel->first < super[s + 1]; ++panel) {
            FillPanel(factor, s, panel, p);
        }
    }
    jnaLaplacian_FreeNodes(laplacian, nodes);
    const int* permutation = factor->Perm;
    for (int i = 0; i < p->count; ++i) {
        order[i] = nodes[permutation[i]];
    }
    return jn_ok;
}

void jnaDestroyPreconditioner(jnaPreconditioner* p)
{
    jnaReleaseArena(&p->memory);
    memset(p, 0, sizeof(*p));
}

static void SolveForward(const jnaPreconditioner* p, const Panel* panel, Float4* x)
{
    Float4* own = x + panel->first;
    const float* entry = p->entries + panel->entries;
    int width = panel->width;
    for (int c = 0; c < width; ++c) {
        Float4 value = own[c] *= *entry++;
        for (int r = c + 1; r < width; ++r) {
            own[r] -= value * *entry++;
        }
    }
    const int32_t* rows = p->rows + panel->rows;
    for (int g = 0; g < panel->groups; ++g, rows += GROUP) {
        Float4 a = x[rows[0]], b = x[rows[1]], c = x[rows[2]], d = x[rows[3]];
        for (int i = 0; i < width; ++i, entry += GROUP) {
            a -= own[i] * entry[0];
            b -= own[i] * entry[1];
            c -= own[i] * entry[2];
            d -= own[i] * entry[3];
        }
        x[rows[0]] = a;
        x[rows[1]] = b;
        x[rows[2]] = c;
        x[rows[3]] = d;
    }
}

static void SolveBackward(const jnaPreconditioner* p, const Panel* panel, Float4* x)
{
    Float4* own = x + panel->first;
    int width = panel->width, triangle = width * (width + 1) / 2;
    const float* entry = p->entries + panel->entries + triangle;
    const int32_t* rows = p->rows + panel->rows;
    for (int g = 0; g < panel->groups; ++g, rows += GROUP) {
        Float4 a = x[rows[0]], b = x[rows[1]], c = x[rows[2]], d = x[rows[3]];
        for (int i = 0; i < width; ++i, entry += GROUP) {
            own[i] -= (a * entry[0] + b * entry[1]) + (c * entry[2] + d * entry[3]);
        }
    }
    const float* column = p->entries + panel->entries + triangle;
    for (int c = width - 1; c >= 0; --c) {
        column -= width - c;
        Float4 value = own[c];
        for (int r = c + 1; r < width; ++r) {
            value -= own[r] * column[r - c];
        }
        own[c] = value * column[0];
    }
}

void jnaPreconditioner_Solve(const jnaPreconditioner* p, float* values)
{
    Float4* x = (Float4*)(void*)values;
    for (int i = 0; i < p->panelCount; ++i) {
        SolveForward(p, &p->panels[i], x);
    }
    for (int i = p->panelCount - 1; i >= 0; --i) {
        SolveBackward(p, &p->panels[i], x);
    }
}
