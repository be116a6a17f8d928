// Laying out the tetrahedra of the flesh; see elements.h.
#include "flesh/elements.h"

#include "base/arena.h"
#include "base/try.h"
#include "volume/laplacian.h"
#include "volume/patches.h"

#include "runtime/for_author.h"

#include <math.h>
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

_Static_assert(sizeof(jnaElementBlock) % 64 == 0, "aligned_alloc needs a multiple of the alignment");

typedef struct Place {
    int32_t lowest, patch;
} Place;

static int ComparePlaces(const void* a, const void* b)
{
    const Place *p = a, *q = b;
    int byNumber = (p->lowest > q->lowest) - (p->lowest < q->lowest);
    return byNumber != 0 ? byNumber : (p->patch > q->patch) - (p->patch < q->patch);
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
    block->volumetric[lane] = volume * def->volumetric[t];
    block->stiffening[lane] = def->stiffening != NULL ? block->shear[lane] * def->stiffening[t] : 0;
    block->guard[lane] = JNA_GUARD_FACTOR * block->volumetric[lane];
    for (int c = 0; c < 4; ++c) {
        block->corners[c][lane] = Number(def, corners[c]);
    }
}

static void FillBlock(const jnaElementsDef* def, const jnaPatch* patch, jnaElementBlock* block)
{
    double sum = 0;
    block->damping = def->damping != NULL ? def->damping[patch->tetrahedra[0]] : 1;
    for (int lane = 0; lane < patch->count; ++lane) {
        FillLane(def, patch->tetrahedra[lane], block, lane);
        sum += block->volumetric[lane];
    }
    for (int lane = 0; lane < JNA_ELEMENT_LANES; ++lane) {
        block->volumetric[lane] = sum > 0 ? block->volumetric[lane] / sqrt(sum) : 0;
        for (int c = 0; c < 4 && lane >= patch->count; ++c) {
            block->corners[c][lane] = block->corners[c][0];
        }
    }
}

// Patches by their lowest number. NULL: out of memory.
static Place* SortPatches(const jnaElementsDef* def, int count, const jnaPatch* patches)
{
    Place* places = malloc((size_t)(count + 1) * sizeof(Place));
    for (int p = 0; places != NULL && p < count; ++p) {
        places[p] = (Place){INT32_MAX, p};
        for (int i = 0; i < patches[p].nodeCount; ++i) {
            int32_t number = Number(def, patches[p].nodes[i]);
            places[p].lowest = number < places[p].lowest ? number : places[p].lowest;
        }
    }
    if (places != NULL) {
        qsort(places, (size_t)count, sizeof(Place), ComparePlaces);
    }
    return places;
}

jnResult jnaCreateElements(const jnaElementsDef* def, jnaElements* elements, jnError* error)
{
    memset(elements, 0, sizeof(*elements));
    jnaPatchesDef patchesDef = {def->nodeCount, def->count, def->tetrahedra, def->kinds};
    jnaPatch* patches = NULL;
    Place* places = NULL;
    if (jnaFindPatches(&patchesDef, &elements->blockCount, &patches)) {
        size_t size = (size_t)(elements->blockCount + 1) * sizeof(jnaElementBlock);
        places = SortPatches(def, elements->blockCount, patches);
        elements->blocks = places != NULL ? aligned_alloc(64, size) : NULL;
        if (elements->blocks != NULL) {
            memset(elements->blocks, 0, size);
        }
    }
    if (elements->blocks == NULL) {
        free(places);
        free(patches);
        jnaDestroyElements(elements);
        return jnFail(error, jn_outOfMemory, "out of memory for %d tetrahedra", def->count);
    }
    for (int i = 0; i < elements->blockCount; ++i) {
        FillBlock(def, &patches[places[i].patch], &elements->blocks[i]);
    }
    elements->count = def->count;
    free(places);
    free(patches);
    return jn_ok;
}

jnResult jnaCreateVolumeElements(const jnaVolume* v, const int32_t* numbers, jnaElements* elements, jnError* error)
{
    jnaArena arena = {0};
    double* shear = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(double));
    double* volumetric = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(double));
    double* damping = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(double));
    double* stiffening = jnaArena_Take(&arena, v->tetrahedronCount, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "tetrahedra", error));
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const jnaMaterial* m = jnaVolume_Material(v, t);
        shear[t] = m->young / (2 * (1 + m->poisson));
        volumetric[t] = m->young * m->poisson / ((1 + m->poisson) * (1 - 2 * m->poisson));
        damping[t] = 1 + m->extraDamping;
        stiffening[t] = m->stiffening;
    }
    const jnaElementsDef def = {.nodeCount = v->nodeCount,
        .nodes = v->nodes,
        .count = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .numbers = numbers,
        .kinds = v->regions,
        .shear = shear,
        .volumetric = volumetric,
        .damping = damping,
        .stiffening = stiffening};
    JN_TRY(jnaCreateElements(&def, elements, error));
done:
    jnaReleaseArena(&arena);
    return result;
}

void jnaDestroyElements(jnaElements* elements)
{
    free(elements->blocks);
    memset(elements, 0, sizeof(*elements));
}
