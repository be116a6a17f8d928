// See linear_host.h. Both surfaces by the runtime's own kernels.
#include "asset/linear_host.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

enum { FIELD = 3 * JN_LANES };

typedef struct Surfaces {
    jnaArena arena;
    double* matrices;                    // [jointCount][12]
    float *palette, *duals, *stretches;  // of the joints
    float *displacement, *linear, *dual; // [blockCount][3][JN_LANES]
} Surfaces;

static jnResult MakeSurfaces(const jnAsset* a, Surfaces* s, jnError* error)
{
    s->matrices = jnaArena_Take(&s->arena, a->jointCount, 12 * sizeof(double));
    s->palette = jnaArena_Take(&s->arena, a->jointCount, JN_PALETTE_SIZE * sizeof(float));
    s->duals = jnaArena_Take(&s->arena, a->jointCount, JN_DUAL_SIZE * sizeof(float));
    s->stretches = jnaArena_Take(&s->arena, a->jointCount, JN_PALETTE_SIZE * sizeof(float));
    s->displacement = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    s->linear = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    s->dual = jnaArena_Take(&s->arena, a->blockCount, FIELD * sizeof(float));
    return jnaArena_Check(&s->arena, "surfaces of dual quaternions", error);
}

static size_t PlaceOf(size_t v, size_t axis)
{
    return v / JN_LANES * FIELD + axis * JN_LANES + v % JN_LANES;
}

// row: [count], weights of the frame.
static void Displace(const jnAsset* a, const jnaMorphShapes* shapes, const float* row, float* field)
{
    size_t vertices = (size_t)a->vertexCount;
    memset(field, 0, (size_t)a->blockCount * FIELD * sizeof(float));
    for (int k = 0; k < shapes->count; ++k) {
        const float* shape = shapes->positions + 3 * (size_t)k * vertices;
        for (size_t i = 0; row[k] != 0.0f && i < 3 * vertices; ++i) {
            field[PlaceOf(i / 3, i % 3)] += row[k] * shape[i];
        }
    }
}

// The surface of the matrices and the displacement at hand.
static void Skin(const jnAsset* a, Surfaces* s, bool dual)
{
    float* field = dual ? s->dual : s->linear;
    memcpy(field, s->displacement, (size_t)a->blockCount * FIELD * sizeof(float));
    jnSkinPass pass = {.rest = a->rest,
        .starts = a->influenceStarts,
        .joints = a->influenceJoints,
        .weights = a->influenceWeights,
        .palette = s->palette,
        .duals = dual ? s->duals : NULL,
        .stretches = dual ? s->stretches : NULL,
        .displaced = true,
        .field = field};
    jnFindRigKernels(jnBestKernel())->skin(&pass, 0, a->blockCount);
}

// Sum of the squares of the distances; *farthest: the largest square.
static double Compare(const jnAsset* a, const Surfaces* s, double* farthest)
{
    double sum = 0;
    *farthest = 0;
    for (size_t v = 0; v < (size_t)a->vertexCount; ++v) {
        double square = 0;
        for (size_t axis = 0; axis < 3; ++axis) {
            double way = (double)s->dual[PlaceOf(v, axis)] - (double)s->linear[PlaceOf(v, axis)];
            square += way * way;
        }
        sum += square;
        *farthest = fmax(*farthest, square);
    }
    return sum;
}

jnResult jnaMeasureLinearHost(
    const jnAsset* a, const jnaMorphShapes* shapes, const jnaMorphWeights* weights, jnaLinearHost* host, jnError* error)
{
    Surfaces s = {0};
    jnResult result = jn_ok;
    double sum = 0, count = 0, most = 0, own;
    *host = (jnaLinearHost){.clip = -1};
    JN_TRY(MakeSurfaces(a, &s, error));
    for (int c = 0; c < weights->clipCount; ++c) {
        jnAssetClip clip = jnAsset_Clip(a, c);
        for (int n = 0; n < clip.frameCount; ++n) {
            size_t at = (size_t)n * (size_t)a->jointCount;
            jnPose pose = {.rotations = clip.rotations + 4 * at, .translations = clip.translations + 3 * at};
            pose.scales = clip.scales != NULL ? clip.scales + 3 * at : NULL;
            if (!jnMakeGlobals(a, &pose, s.matrices)) {
                continue;
            }
            jnToSurface(a, s.matrices);
            jnMakePalette(a, s.matrices, s.palette);
            for (size_t j = 0; j < (size_t)a->jointCount; ++j) {
                (void)jnMakeDual(s.matrices + 12 * j, s.duals + j * JN_DUAL_SIZE, s.stretches + j * JN_PALETTE_SIZE);
            }
            Displace(a, shapes, weights->weights[c] + (size_t)n * (size_t)weights->count, s.displacement);
            Skin(a, &s, false);
            Skin(a, &s, true);
            sum += Compare(a, &s, &own);
            count += a->vertexCount;
            if (own > most) {
                most = own;
                host->clip = c;
                host->frame = n;
            }
        }
    }
    host->farthest = sqrt(most);
    host->rms = count > 0 ? sqrt(sum / count) : 0;
done:
    jnaReleaseArena(&s.arena);
    return result;
}

jnResult jnaNoteLinearHost(jnaMorphDocument* d, const jnaLinearHost* host, jnError* error)
{
    json_t* asset = json_object_get(d->root, "asset");
    json_t* extras = json_object_get(asset, "extras");
    if (!json_is_object(extras)) {
        extras = json_object();
        json_object_set_new(asset, "extras", extras);
    }
    json_t* note = json_pack("{s:s, s:f, s:f}", "madeFor", "dual quaternions", "linearBlendDiffersByAtMostMetres",
        host->farthest, "linearBlendDiffersByRmsMetres", host->rms);
    return json_object_set_new(extras, "jounceSkinning", note) == 0
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for a .glb");
}
