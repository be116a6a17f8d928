// Laying out the tetrahedra of the flesh; see elements.h.
#include "elements.h"

#include "jounce-author/laplacian.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>

const jnaElementKernels* jnaChooseElementKernels(void)
{
#ifdef JN_HAVE_X86_KERNELS
    if (jnKernelAvailable(jn_kernelAvx2)) {
        return &jnaElementKernelsAvx2;
    }
#endif
    return &jnaElementKernelsBaseline;
}

typedef struct Place {
    int32_t lowest, tetrahedron;
} Place;

static int ComparePlaces(const void* a, const void* b)
{
    const Place *p = a, *q = b;
    int byNumber = (p->lowest > q->lowest) - (p->lowest < q->lowest);
    return byNumber != 0 ? byNumber : (p->tetrahedron > q->tetrahedron) - (p->tetrahedron < q->tetrahedron);
}

static int32_t Number(const jnaElementsDef* def, int32_t node)
{
    return def->numbers != NULL ? def->numbers[node] : node;
}

static void FillLane(const jnaElementsDef* def, int t, jnaElementBlock* block, int lane)
{
    const int32_t* corners = def->tetrahedra + 4 * (size_t)t;
    double gradients[4][3];
    double volume = jnaHatGradients(def->nodes, corners, gradients);
    for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 3; ++c) {
            block->inverse[3 * k + c][lane] = gradients[k + 1][c];
        }
    }
    block->shear[lane] = volume * def->shear[t];
    block->bulk[lane] = volume * def->bulk[t];
    for (int c = 0; c < 4; ++c) {
        block->corners[c][lane] = Number(def, corners[c]);
    }
}

jnResult jnaCreateElements(const jnaElementsDef* def, jnaElements* elements, jnError* error)
{
    memset(elements, 0, sizeof(*elements));
    int blockCount = (def->count + JNA_ELEMENT_LANES - 1) / JNA_ELEMENT_LANES;
    // The size of a block is no multiple of 64; aligned_alloc wants a multiple in all.
    size_t size = ((size_t)(blockCount + 1) * sizeof(jnaElementBlock) + 63) / 64 * 64;
    Place* places = malloc((size_t)(def->count + 1) * sizeof(Place));
    elements->blocks = aligned_alloc(64, size);
    if (places == NULL || elements->blocks == NULL) {
        free(places);
        jnaDestroyElements(elements);
        return jnFail(error, jn_outOfMemory, "out of memory for %d tetrahedra", def->count);
    }
    memset(elements->blocks, 0, size);
    for (int t = 0; t < def->count; ++t) {
        int32_t lowest = INT32_MAX;
        for (int c = 0; c < 4; ++c) {
            int32_t number = Number(def, def->tetrahedra[4 * (size_t)t + (size_t)c]);
            lowest = number < lowest ? number : lowest;
        }
        places[t] = (Place){lowest, t};
    }
    qsort(places, (size_t)def->count, sizeof(Place), ComparePlaces);
    for (int i = 0; i < def->count; ++i) {
        FillLane(def, places[i].tetrahedron, &elements->blocks[i / JNA_ELEMENT_LANES], i % JNA_ELEMENT_LANES);
    }
    elements->count = def->count;
    elements->blockCount = blockCount;
    free(places);
    return jn_ok;
}

void jnaDestroyElements(jnaElements* elements)
{
    free(elements->blocks);
    memset(elements, 0, sizeof(*elements));
}
