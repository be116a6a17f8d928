// The flesh of a volume made ready: numbering, masses, stiffness, the factor, contact; and the buffers to solve it.
#include "flesh/flesh.h"

#include "base/affine.h"
#include "base/try.h"
#include "flesh/newton.h"
#include "volume/posing.h"

#include "volume/skin_field.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

jnaFleshDef jnaDefaultFleshDef(const jnaVolume* volume, const jnaCharacter* character)
{
    return (jnaFleshDef){
        .volume = volume,
        .character = character,
        .contact = true,
        .integrator = jna_generalizedAlpha,
        .damping = 0.006,
        .drag = 7,
        .pathSteps = 4,
        .poseTolerance = 1e-4,
        .stepTolerance = 5e-5,
    };
}

static jnResult CheckMatter(const jnaVolume* v, jnError* error)
{
    for (int i = 0; i < v->materialCount; ++i) {
        const jnaMaterial* m = &v->materials[i];
        if (!(m->young > 0 && m->young < HUGE_VAL && m->poisson >= 0 && m->poisson < 0.5 && m->density > 0 &&
                m->density < HUGE_VAL && m->extraDamping >= -1 && m->extraDamping < HUGE_VAL && m->stiffening >= 0 &&
                m->stiffening < HUGE_VAL)) {
            return jnFail(error, jn_badData,
                "material %d: Young's modulus %g and density %g must be above 0, Poisson's ratio %g in [0, 0.5), extra "
                "damping %g at least -1, stiffening %g at least 0",
                i, m->young, m->density, m->poisson, m->extraDamping, m->stiffening);
        }
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
        double gradients[4][3];
        for (int c = 0; c < 4; ++c) {
            if (corners[c] < 0 || corners[c] >= v->nodeCount) {
                return jnFail(
                    error, jn_badData, "tetrahedron %d has node %d; there are %d", t, (int)corners[c], v->nodeCount);
            }
        }
        double volume = jnaHatGradients(v->nodes, corners, gradients);
        if (!(volume > 0 && volume < HUGE_VAL)) {
            return jnFail(error, jn_badData, "tetrahedron %d has the volume %g m3; it must be above 0", t, volume);
        }
        if (v->regions[t] >= v->materialCount) {
            return jnFail(error, jn_badData, "tetrahedron %d is of material %d; there are %d", t, v->regions[t],
                v->materialCount);
        }
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        if (v->heldBy[n] < -1 || v->heldBy[n] > 2 * v->jointCount) {
            return jnFail(
                error, jn_badData, "node %d is held by bone %d; there are %d", n, (int)v->heldBy[n], 2 * v->jointCount);
        }
    }
    return jn_ok;
}

static jnResult Check(const jnaFleshDef* def, jnError* error)
{
    const jnaVolume* v = def->volume;
    if (v->rowStarts == NULL || v->heldBy == NULL || v->regions == NULL) {
        return jnFail(error, jn_badArgument, "the volume has no weights, bones or materials yet; see `tetrahedralize`");
    }
    if (v->jointCount != def->character->jointCount || v->vertexCount != def->character->vertexCount) {
        return jnFail(error, jn_badArgument,
            "the volume is of another character: %d joints and %d vertices, not %d and %d", v->jointCount,
            v->vertexCount, def->character->jointCount, def->character->vertexCount);
    }
    if (!(def->damping >= 0 && def->damping < HUGE_VAL && def->drag >= 0 && def->drag < HUGE_VAL &&
            def->poseTolerance > 0 && def->stepTolerance > 0) ||
        def->substeps < 0 || def->pathSteps < 1) {
        return jnFail(error, jn_badArgument, "damping, drag, tolerances and steps of the flesh must not be negative");
    }
    if (!isfinite(def->gravity[0] + def->gravity[1] + def->gravity[2])) {
        return jnFail(error, jn_badArgument, "gravity must be three finite numbers");
    }
    return CheckMatter(v, error);
}

// Masses by node, 2 mu + lambda by tetrahedron, and what energies and forces are measured against.
static void FillMatter(const jnaVolume* v, double* mass, jnaFlesh* f)
{
    double square = 0;
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const jnaMaterial* material = jnaVolume_Material(v, t);
        const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
        double gradients[4][3], volume = jnaHatGradients(v->nodes, corners, gradients);
        double mu = material->young / (2 * (1 + material->poisson));
        double lambda = material->young * material->poisson / ((1 + material->poisson) * (1 - 2 * material->poisson));
        f->stiffness[t] = 2 * mu + lambda;
        f->shearSum += mu * volume;
        for (int c = 0; c < 4; ++c) {
            mass[corners[c]] += 0.25 * volume * material->density;
            for (int k = 0; k < 3; ++k) {
                square += pow(f->stiffness[t] * volume * gradients[c][k], 2);
            }
        }
    }
    f->unitForce = sqrt(square);
}

// Free nodes in the order of the factor, held ones after them.
static void NumberNodes(jnaFlesh* f)
{
    int next = f->freeCount;
    for (int n = 0; n < f->nodeCount; ++n) {
        if (f->held[n] != 0) {
            f->order[next++] = n;
        }
    }
    for (int p = 0; p < f->nodeCount; ++p) {
        f->places[f->order[p]] = p;
    }
}

static jnResult Prepare(jnaFlesh* f, double* mass, double* springs, jnError* error)
{
    const jnaVolume* v = f->def.volume;
    FillMatter(v, mass, f);
    for (int n = 0; n < f->nodeCount; ++n) {
        double strength = v->heldBy[n] >= 0 ? (double)v->holdStrength[n] : 0;
        f->held[n] = v->heldBy[n] >= 0 && !(strength > 0);
        springs[n] = strength * mass[n];
        f->hasSprings = f->hasSprings || springs[n] > 0;
    }
    jnaLaplacianDef laplacianDef = {
        .nodeCount = f->nodeCount,
        .nodes = v->nodes,
        .tetrahedronCount = v->tetrahedronCount,
        .tetrahedra = v->tetrahedra,
        .stiffness = f->stiffness,
        .held = f->held,
        .diagonal = springs,
        .threads = 1,
    };
    jnaLaplacian* laplacian;
    jnResult result = jnaCreateLaplacian(&laplacianDef, &laplacian, error);
    if (result == jn_ok) {
        result = jnaCreatePreconditioner(laplacian, f->order, &f->still, error);
    }
    jnaDestroyLaplacian(laplacian);
    if (result != jn_ok) {
        return result;
    }
    f->freeCount = f->still.count;
    NumberNodes(f);
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* corners = v->tetrahedra + 4 * (size_t)t;
        double gradients[4][3], volume = jnaHatGradients(v->nodes, corners, gradients);
        for (int c = 0; c < 4; ++c) {
            f->diagonal[f->places[corners[c]]] += volume * f->stiffness[t] * jnaDot(gradients[c], gradients[c]);
        }
    }
    for (int p = 0; p < f->nodeCount; ++p) {
        f->mass[p] = mass[f->order[p]];
        f->springs[p] = springs[f->order[p]];
    }
    return jnaCreateVolumeElements(v, f->places, &f->elements, error);
}

jnResult jnaCreateFlesh(const jnaFleshDef* def, jnaFlesh** flesh, jnError* error)
{
    *flesh = NULL;
    jnResult result = jn_ok;
    jnaArena scratch = {0};
    jnaFlesh* f = NULL;
    JN_TRY(Check(def, error));
    int nodes = def->volume->nodeCount, elements = def->volume->tetrahedronCount;
    f = calloc(1, sizeof(*f));
    if (f == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for flesh of %d nodes", nodes));
    }
    *f = (jnaFlesh){.def = *def, .nodeCount = nodes, .kernels = jnaChooseElementKernels()};
    f->hasGravity = def->gravity[0] != 0 || def->gravity[1] != 0 || def->gravity[2] != 0;
    f->places = jnaArena_Take(&f->arena, nodes, sizeof(int32_t));
    f->order = jnaArena_Take(&f->arena, nodes, sizeof(int32_t));
    f->mass = jnaArena_Take(&f->arena, nodes, sizeof(double));
    f->springs = jnaArena_Take(&f->arena, nodes, sizeof(double));
    f->stiffness = jnaArena_Take(&f->arena, elements, sizeof(double));
    f->diagonal = jnaArena_Take(&f->arena, nodes, sizeof(double));
    f->held = jnaArena_Take(&f->arena, nodes, 1);
    JN_TRY(jnaArena_Check(&f->arena, "flesh", error));
    double* mass = jnaArena_Take(&scratch, nodes, sizeof(double));
    double* springs = jnaArena_Take(&scratch, nodes, sizeof(double));
    JN_TRY(jnaArena_Check(&scratch, "flesh", error));
    JN_TRY(Prepare(f, mass, springs, error));
    JN_TRY(jnaCreateSkinExtension(def->character, def->volume, &f->extension, error));
    if (def->contact) {
        jnaContactDef contact = jnaDefaultContactDef(def->volume);
        JN_TRY(jnaCreateContactShape(&contact, &f->contactShape, error));
    }
    *flesh = f;
done:
    jnaReleaseArena(&scratch);
    if (result != jn_ok) {
        jnaDestroyFlesh(f);
    }
    return result;
}

void jnaDestroyFlesh(jnaFlesh* f)
{
    if (f == NULL) {
        return;
    }
    jnaDestroySkinExtension(f->extension);
    jnaDestroyContactShape(f->contactShape);
    jnaDestroyPreconditioner(&f->still);
    jnaDestroyElements(&f->elements);
    jnaReleaseArena(&f->arena);
    free(f);
}

static jnResult Allocate(jnaFleshSolver* s, jnError* error)
{
    const jnaFlesh* flesh = s->flesh;
    int nodes = flesh->nodeCount, joints = flesh->def.character->jointCount;
    double** vectors[] = {&s->x, &s->trial, &s->gradient, &s->trialGradient, &s->absolute, &s->old, &s->ahead,
        &s->pullTargets, &s->boneTargets};
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); ++i) {
        *vectors[i] = jnaArena_Take(&s->arena, nodes, 4 * sizeof(double));
    }
    s->unpadded = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    s->skin = jnaArena_Take(&s->arena, flesh->def.volume->vertexCount, 3 * sizeof(double));
    s->skinSolve = jnaArena_Take(&s->arena, (int64_t)jnaSkinExtension_ScratchCount(flesh->extension), sizeof(double));
    s->nodeGradients = jnaArena_Take(&s->arena, nodes, JNA_GRADIENT * sizeof(double));
    s->holds = jnaArena_Take(&s->arena, nodes, sizeof(double));
    for (int i = 0; i < 3; ++i) {
        s->skinned[i] = jnaArena_Take(&s->arena, nodes, 3 * sizeof(double));
    }
    s->contactStiffness = jnaArena_Take(&s->arena, nodes, sizeof(double));
    s->scales = jnaArena_Take(&s->arena, flesh->freeCount, sizeof(float));
    s->pulls = jnaArena_Take(&s->arena, flesh->freeCount, sizeof(double));
    s->direction = jnaArena_Take(&s->arena, flesh->freeCount + 1, 4 * sizeof(float));
    for (int i = 0; i < JNA_PAIRS; ++i) {
        s->steps[i] = jnaArena_Take(&s->arena, flesh->freeCount + 1, 4 * sizeof(float));
        s->changes[i] = jnaArena_Take(&s->arena, flesh->freeCount + 1, 4 * sizeof(float));
    }
    s->transforms = jnaArena_Take(&s->arena, joints, 2 * 12 * sizeof(double));
    s->oldTransforms = jnaArena_Take(&s->arena, joints, 12 * sizeof(double));
    s->relative = jnaArena_Take(&s->arena, joints, 12 * sizeof(double));
    s->strains = jnaArena_Take(&s->arena, flesh->elements.blockCount, sizeof(jnaElementStrain));
    s->strainsBefore = jnaArena_Take(&s->arena, flesh->elements.blockCount, sizeof(jnaElementStrain));
    return jnaArena_Check(&s->arena, "solving flesh", error);
}

jnResult jnaCreateFleshSolver(const jnaFlesh* flesh, jnaFleshSolver** solver, jnError* error)
{
    *solver = NULL;
    jnaFleshSolver* s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory to solve flesh");
    }
    jnResult result = jn_ok;
    s->flesh = flesh;
    s->pose = (jnaClip){.rate = 30, .frameCount = 1, .jointCount = flesh->def.character->jointCount};
    JN_TRY(Allocate(s, error));
    JN_TRY(jnaClip_Allocate(&s->pose, true, error));
    if (flesh->contactShape != NULL) {
        JN_TRY(jnaCreateContactFinder(flesh->contactShape, &s->finder, error));
        JN_TRY(jnaCreatePosedBones(flesh->def.volume, &s->bones, error));
    }
    *solver = s;
done:
    if (result != jn_ok) {
        jnaDestroyFleshSolver(s);
    }
    return result;
}

void jnaDestroyFleshSolver(jnaFleshSolver* s)
{
    if (s == NULL) {
        return;
    }
    jnaDestroyContactFinder(s->finder);
    jnaDestroyPosedBones(s->bones);
    jnaDestroyContacts(&s->contacts);
    jnaDestroyContacts(&s->found);
    jnaDestroyTouching(s->touching);
    jnaDestroyNewton(s->newton);
    jnaDestroyFreshFactor(s->fresh);
    jnaDestroyPreconditioner(&s->moving);
    jnaDestroyClip(&s->pose);
    jnaReleaseArena(&s->arena);
    free(s);
}

void jnaPadNodes(const jnaFlesh* flesh, const double* nodes, double* padded)
{
    for (int n = 0; n < flesh->nodeCount; ++n) {
        double* to = padded + 4 * (size_t)flesh->places[n];
        memcpy(to, nodes + 3 * (size_t)n, 3 * sizeof(double));
        to[3] = 0;
    }
}

void jnaUnpadNodes(const jnaFlesh* flesh, const double* padded, double* nodes)
{
    for (int n = 0; n < flesh->nodeCount; ++n) {
        memcpy(nodes + 3 * (size_t)n, padded + 4 * (size_t)flesh->places[n], 3 * sizeof(double));
    }
}

void jnaBlendVertex(const jnaCharacter* character, const double* transforms, int v, double blend[12])
{
    const jnaInfluences* influences = &character->influences[v];
    double sum = 0;
    memset(blend, 0, 12 * sizeof(double));
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        double w = (double)influences->weights[i];
        const double* m = transforms + 12 * (size_t)influences->joints[i];
        sum += w;
        for (int k = 0; k < 12; ++k) {
            blend[k] += w * m[k];
        }
    }
    for (int k = 0; k < 12; ++k) {
        blend[k] /= sum;
    }
}

// The displacement of flesh from skinning is carried back to the rest pose, spread over the skin, and skinned again.
void jnaFleshSolver_Surface(
    jnaFleshSolver* solver, const jnaClip* clip, int frame, const double* nodes, float* positions)
{
    const jnaVolume* v = solver->flesh->def.volume;
    const jnaCharacter* character = solver->flesh->def.character;
    double* transforms = solver->relative;
    jnaPoseTransforms(character, clip, frame, transforms);
    jnaVolume_Gradients(v, nodes, solver->nodeGradients);
    for (int i = 0; i < v->vertexCount; ++i) {
        jnaAffine skin, back;
        double point[3], *place = solver->skin + 3 * (size_t)i;
        jnaBlendVertex(character, transforms, i, skin.m);
        if (v->skinTetrahedra[i] >= 0 && jnaAffine_Invert(&skin, &back)) {
            jnaVolume_AtSkin(v, nodes, solver->nodeGradients, i, point);
            jnaAffine_Apply(&back, point, place);
            for (size_t k = 0; k < 3; ++k) { // what is carried by the joints is the offset, unmoved
                place[k] += v->skinOffsets[3 * (size_t)i + k] - (double)character->positions[3 * (size_t)i + k];
            }
        } else {
            memset(place, 0, 3 * sizeof(double));
        }
    }
    jnaSkinExtension_Apply(solver->flesh->extension, solver->skin, solver->skinSolve);
    for (int i = 0; i < v->vertexCount; ++i) {
        jnaAffine skin;
        double rest[3], point[3];
        jnaBlendVertex(character, transforms, i, skin.m);
        for (size_t k = 0; k < 3; ++k) {
            rest[k] = (double)character->positions[3 * (size_t)i + k] + solver->skin[3 * (size_t)i + k];
        }
        jnaAffine_Apply(&skin, rest, point);
        for (size_t k = 0; k < 3; ++k) {
            positions[3 * (size_t)i + k] = (float)point[k];
        }
    }
}
