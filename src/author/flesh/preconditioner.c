// The factor laid out in panels; see preconditioner.h.
#include "flesh/preconditioner.h"

#include "volume/laplacian_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 16, GROUP = JNA_PANEL_GROUP };

typedef jnaPanel Panel;

// Sizes of all panels; with panels == NULL it only counts.
static void LayOut(const jnaCholesky* factor, jnaPreconditioner* p)
{
    const int32_t* super = factor->supers;
    const int64_t* starts = factor->rowStarts;
    p->panelCount = 0;
    p->entryCount = p->rowCount = 0;
    for (int s = 0; s < factor->superCount; ++s) {
        int columns = super[s + 1] - super[s], rows = (int)(starts[s + 1] - starts[s]);
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

static void FillPanel(const jnaCholesky* factor, int s, const Panel* panel, jnaPreconditioner* p)
{
    const int32_t* rowList = factor->rows + factor->rowStarts[s];
    const double* values = factor->values + factor->valueStarts[s];
    int rows = (int)(factor->rowStarts[s + 1] - factor->rowStarts[s]), skip = panel->first - factor->supers[s];
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

void jnaPreconditioner_Refill(jnaPreconditioner* p, const jnaLaplacian* laplacian)
{
    const jnaCholesky* factor = jnaLaplacian_Cholesky(laplacian);
    const Panel* panel = p->panels;
    for (int s = 0; s < factor->superCount; ++s) {
        for (; panel < p->panels + p->panelCount && panel->first < factor->supers[s + 1]; ++panel) {
            FillPanel(factor, s, panel, p);
        }
    }
}

static jnaPanelSolve* ChooseSolve(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return jnaSolvePanelsAvx2;
    }
#endif
    return jnaSolvePanelsBaseline;
}

jnResult jnaCreatePreconditioner(const jnaLaplacian* laplacian, int32_t* order, jnaPreconditioner* p, jnError* error)
{
    const jnaCholesky* factor = jnaLaplacian_Cholesky(laplacian);
    memset(p, 0, sizeof(*p));
    p->solve = ChooseSolve();
    p->count = factor->size;
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
    jnaPreconditioner_Refill(p, laplacian);
    jnaLaplacian_FreeNodes(laplacian, nodes);
    for (int i = 0; i < p->count; ++i) {
        order[i] = nodes[factor->order[i]];
    }
    return jn_ok;
}

void jnaDestroyPreconditioner(jnaPreconditioner* p)
{
    jnaReleaseArena(&p->memory);
    memset(p, 0, sizeof(*p));
}

void jnaPreconditioner_Solve(const jnaPreconditioner* p, float* values)
{
    p->solve(p, values);
}
