// See dress.h.
#include "asset/dress.h"

#include "base/arena.h"
#include "base/try.h"
#include "character/follow.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

// Rigid vertices have no springs, but for those that share the last block with some that have: at 1000 m/s^2 such a
// spring, the stiffest that an asset may have and critically damped, is off by a micrometre.
#define RIGID_STIFFNESS 1e9F
#define RIGID_DAMPING 6.3e4F

void jnaDestroyDressed(jnaDressed* d)
{
    jnaDestroyModes(&d->modes);
    free(d->network.basis);
    free(d->network.lookupStarts);
    free(d->network.lookups);
    free(d->stiffness);
    free(d->damping);
    *d = (jnaDressed){0};
}

// A field of vectors with the outfit behind the flesh. to: [vertexCount][3]
static void CarryField(const jnaFollow* f, const float* flesh, float* to, float* scratch)
{
    memcpy(to, flesh, (size_t)f->fleshCount * 3 * sizeof(float));
    jnaFollow_Carry(f, flesh, 3, to + 3 * (size_t)f->fleshCount, scratch);
}

static jnResult DressModes(
    const jnaCharacter* c, const jnaFollow* f, const jnaModes* from, float* scratch, jnaModes* to, jnError* error)
{
    size_t modes = (size_t)from->modeCount, wide = 3 * (size_t)c->vertexCount, own = 3 * (size_t)f->fleshCount;
    JN_PASS(jnaModes_Allocate(to, from->modeCount, c->vertexCount, c->jointCount, error));
    memcpy(to->stiffness, from->stiffness, modes * sizeof(double));
    memcpy(to->damping, from->damping, modes * sizeof(double));
    memcpy(to->masses, from->masses, modes * sizeof(double));
    memcpy(to->gain, from->gain, modes * sizeof(double));
    memcpy(to->limits, from->limits, modes * sizeof(double));
    memcpy(to->caps, from->caps, modes * sizeof(double));
    to->criticalCount = from->criticalCount; // vertices of the flesh come first
    memcpy(to->critical, from->critical, 3 * (size_t)from->criticalCount * sizeof(int32_t));
    memcpy(to->criticalLimits, from->criticalLimits, (size_t)from->criticalCount * sizeof(float));
    memcpy(to->joints, from->joints, modes * sizeof(*to->joints));
    memcpy(to->massShare, from->massShare, modes * sizeof(double));
    memcpy(to->spins, from->spins, 3 * (size_t)c->jointCount * modes * modes * sizeof(float));
    for (size_t k = 0; k < modes; ++k) {
        float* shape = to->shapes + k * wide;
        CarryField(f, from->shapes + k * own, shape, scratch);
        memcpy(to->projections + k * wide, from->projections + k * own, own * sizeof(float));
        for (size_t v = 0; v < (size_t)c->vertexCount; ++v) {
            to->sizes[k] += shape[3 * v] != 0 || shape[3 * v + 1] != 0 || shape[3 * v + 2] != 0;
        }
    }
    return jn_ok;
}

static jnResult DressComponents(
    const jnaCharacter* c, const jnaFollow* f, const jnaNetwork* from, float* scratch, jnaNetwork* to, jnError* error)
{
    size_t wide = 3 * (size_t)c->vertexCount, own = 3 * (size_t)f->fleshCount;
    to->basis = calloc((size_t)from->componentCount + 1, wide * sizeof(float));
    if (to->basis == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the components of %d vertices", c->vertexCount);
    }
    for (size_t k = 0; k <= (size_t)from->componentCount; ++k) {
        CarryField(f, from->basis + k * own, to->basis + k * wide, scratch);
    }
    return jn_ok;
}

// The vertex of the flesh that a vertex is looked up at; -1: nowhere.
static int LookAt(const jnaFollow* f, int vertex)
{
    if (vertex < f->fleshCount) {
        return vertex;
    }
    const jnaHold* hold = &f->holds[vertex - f->fleshCount];
    int best = 0;
    for (int k = 1; k < 3; ++k) {
        best = hold->weights[k] > hold->weights[best] ? k : best;
    }
    return f->roles[vertex - f->fleshCount] == jna_meshRigid ? -1 : hold->corners[best];
}

static jnResult DressMap(
    const jnaCharacter* c, const jnaFollow* f, const jnaNetwork* from, jnaNetwork* to, jnError* error)
{
    to->lookupStarts = calloc((size_t)c->vertexCount + 1, sizeof(int32_t));
    for (int v = 0; to->lookupStarts != NULL && v < c->vertexCount; ++v) {
        int at = LookAt(f, v);
        to->lookupStarts[v + 1] =
            to->lookupStarts[v] + (at >= 0 ? from->lookupStarts[at + 1] - from->lookupStarts[at] : 0);
    }
    to->lookupCount = to->lookupStarts != NULL ? to->lookupStarts[c->vertexCount] : 0;
    to->lookups = calloc((size_t)to->lookupCount + 1, 2 * sizeof(float));
    if (to->lookupStarts == NULL || to->lookups == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the map of %d vertices", c->vertexCount);
    }
    for (int v = 0; v < c->vertexCount; ++v) {
        int at = LookAt(f, v), count = to->lookupStarts[v + 1] - to->lookupStarts[v];
        if (count > 0) {
            memcpy(to->lookups + 2 * (size_t)to->lookupStarts[v], from->lookups + 2 * (size_t)from->lookupStarts[at],
                (size_t)count * 2 * sizeof(float));
        }
    }
    return jn_ok;
}

static jnResult DressNetwork(
    const jnaCharacter* c, const jnaFollow* f, const jnaNetwork* from, float* scratch, jnaNetwork* to, jnError* error)
{
    *to = *from;
    to->vertexCount = c->vertexCount;
    to->basis = NULL;
    to->lookupStarts = NULL;
    to->lookups = NULL;
    return from->kind == jn_networkPca ? DressComponents(c, f, from, scratch, to, error)
                                       : DressMap(c, f, from, to, error);
}

// Numbers of the flesh, and `rigid` where a part is.
static void CarryNumbers(const jnaFollow* f, const float* flesh, float rigid, float* to)
{
    memcpy(to, flesh, (size_t)f->fleshCount * sizeof(float));
    jnaFollow_Take(f, flesh, 1, to + f->fleshCount);
    for (int v = 0; v < f->count; ++v) {
        to[f->fleshCount + v] = f->roles[v] == jna_meshRigid ? rigid : to[f->fleshCount + v];
    }
}

jnResult jnaDress(const jnaCharacter* c, const jnaFleshMotion* flesh, jnaDressed* d, jnError* error)
{
    *d = (jnaDressed){0};
    jnaArena arena = {0};
    jnaFollow follow = {0};
    jnResult result = jn_ok;
    float* scratch = jnaArena_Take(&arena, c->outfitCount, 3 * sizeof(float));
    d->stiffness = jnaArena_Give(&arena, c->vertexCount, sizeof(float));
    d->damping = jnaArena_Give(&arena, c->vertexCount, sizeof(float));
    JN_TRY(jnaArena_Check(&arena, "what the character wears", error));
    JN_TRY(jnaCreateFollow(c, &follow, error));
    CarryNumbers(&follow, flesh->stiffness, RIGID_STIFFNESS, d->stiffness);
    CarryNumbers(&follow, flesh->damping, RIGID_DAMPING, d->damping);
    if (flesh->modes != NULL) {
        JN_TRY(DressModes(c, &follow, flesh->modes, scratch, &d->modes, error));
    }
    if (flesh->network != NULL) {
        JN_TRY(DressNetwork(c, &follow, flesh->network, scratch, &d->network, error));
    }
done:
    jnaDestroyFollow(&follow);
    jnaReleaseArena(&arena);
    if (result != jn_ok) {
        jnaDestroyDressed(d);
    }
    return result;
}
