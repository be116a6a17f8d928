// A character from a file: scene, rig, surface, unit, clips.
//
// The unit is what the caller says; else what the file says, where the result is of a plausible size; else
// the height decides: a figure of 20 to 400 units is in centimetres, of 400 to 4000 in millimetres.
#include "character/import.h"

#include "base/try.h"
#include "character/import_internal.h"
#include "character/source_points.h"

#include "runtime/for_author.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MAX_JOINTS = 4096, MAX_TARGETS = 16384 };

// Of a surface with all that is made to build it.
#define BYTES_A_VERTEX 250.0
#define BYTES_A_TRIANGLE 60.0

jnaImportDef jnaDefaultImportDef(void)
{
    return (jnaImportDef){.rate = 30, .scale = 0};
}

// Largest side of the box around all placed meshes, in file units.
static double MeasureExtent(const jnaPlacement* placement)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int m = 0; m < placement->count; ++m) {
        const jnaPlacedMesh* placed = &placement->meshes[m];
        for (int v = 0; v < placed->mesh->vertexCount; ++v) {
            const float* p = placed->mesh->positions + 3 * (size_t)v;
            double point[3] = {(double)p[0], (double)p[1], (double)p[2]};
            jnaAffine_Apply(&placed->place, point, point);
            for (int i = 0; i < 3; ++i) {
                low[i] = fmin(low[i], point[i]);
                high[i] = fmax(high[i], point[i]);
            }
        }
    }
    return fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
}

// How the unit was found.
typedef enum Unit {
    unit_given,   // by the caller
    unit_stated,  // by the file
    unit_guessed, // centimetres or millimetres by the size
    unit_metres,  // by the size, whatever the file states
    unit_unknown, // no unit makes a character of it
} Unit;

// Metres per unit. extent: largest side, in units
static double ChooseScale(double wanted, double stated, double extent, Unit* unit)
{
    if (wanted > 0) {
        *unit = unit_given;
        return wanted;
    }
    if (stated > 0 && extent * stated >= 0.05 && extent * stated <= 20) {
        *unit = unit_stated;
        return stated;
    }
    double guess = extent >= 400 && extent <= 4000 ? 0.001 : extent >= 20 && extent < 400 ? 0.01 : 1;
    *unit = guess < 1 ? unit_guessed : extent >= 0.05 && extent < 20 ? unit_metres : unit_unknown;
    return *unit == unit_unknown && stated > 0 ? stated : guess;
}

// What was made of the unit, with the height that everything else shows.
static void NoteUnit(Unit unit, double stated, double scale, double height, jnaNotes* notes)
{
    if (unit == unit_stated && fabs(stated - 1) > 1e-6) {
        jnaNotes_Add(
            notes, "the file states %g m per unit: the character is %.3g m tall (--scale overrides)", stated, height);
    } else if (unit == unit_guessed) {
        jnaNotes_Add(notes, "%.4g units tall: taken as %s, %.3g m (--scale overrides)", height / scale,
            scale < 0.005 ? "millimetres" : "centimetres", height);
    } else if (unit == unit_metres && stated > 0) {
        jnaNotes_Add(notes,
            "the file states %g m per unit, but as metres its %.3g units fit a character: "
            "taken as metres (--scale overrides)",
            stated, height);
    } else if (unit == unit_unknown) {
        jnaNotes_Add(
            notes, "the character is %.3g m tall; if that is wrong, say how long a unit is with --scale", height);
    }
}

void jnaFillJoints(const jnaScene* scene, const jnaRig* rig, double scale, jnaJoint* joints)
{
    for (int j = 0; j < rig->jointCount; ++j) {
        const jnaRigJoint* from = &rig->joints[j];
        jnaJoint* to = &joints[j];
        const char* name = scene->nodes[from->node].name;
        snprintf(to->name, sizeof(to->name), from->twin ? "%.48s.bind%d" : "%.63s", name, j);
        to->parent = from->parent;
        jnaTrs local;
        jnaAffine_ToTrs(&scene->nodes[from->node].local, local.translation, local.rotation, local.scale);
        local = jnaRig_Local(rig, scene, j, &local, scale);
        for (int i = 0; i < 4; ++i) {
            to->rotation[i] = (float)local.rotation[i];
        }
        for (int i = 0; i < 3; ++i) {
            to->translation[i] = (float)local.translation[i];
            to->scale[i] = (float)local.scale[i];
        }
        for (int i = 0; i < 12; ++i) {
            double metres = i % 4 == 3 ? scale : 1;
            to->inverseBind[i] = (float)(from->inverseBind.m[i] * from->stretch * metres);
        }
    }
}

// A joint's rest transform is kept as translation, rotation and scale; a node that shears is only met
// halfway.
static void NoteShear(const jnaScene* scene, const jnaRig* rig, jnaNotes* notes)
{
    for (int j = 0; j < rig->jointCount; ++j) {
        double t[3], q[4], s[3];
        if (jnaAffine_ToTrs(&scene->nodes[rig->joints[j].node].local, t, q, s) > 1e-3) {
            jnaNotes_Add(notes, "joint '%s' shears, which is left out", scene->nodes[rig->joints[j].node].name);
        }
    }
}

// A file as it is being read.
typedef struct Reading {
    const char* path;
    const jnaImportDef* def;
    jnaScene scene;
    jnaRig rig;
    jnaTargetSources targets;
    jnaNotes* notes;
    jnaImportBudget* budget;
} Reading;

// A target takes an offset for each vertex of the character, in whichever mesh it is.
static jnResult TakeTargets(Reading* r, const jnaPlacement* placement, const jnaCharacter* character, jnError* error)
{
    double count = 0;
    for (int m = 0; m < placement->count; ++m) {
        count += placement->meshes[m].mesh->targetCount;
    }
    if (count > MAX_TARGETS) {
        return jnFail(error, jn_badData, "%s: has %g morph targets; %d can be taken", r->path, count, MAX_TARGETS);
    }
    return jnaImportBudget_TakeBytes(r->budget, r->path, count * 3 * sizeof(float) * character->vertexCount, error);
}

// scale: metres per unit as wanted, 0 for what is likely; then what it is.
static jnResult BuildCharacter(Reading* r, jnaCharacter* character, double* scale, jnError* error)
{
    const char* path = r->path;
    const jnaScene* scene = &r->scene;
    jnaRig* rig = &r->rig;
    jnaNotes* notes = r->notes;
    bool skinned = r->def->loose;
    for (int m = 0; m < scene->meshCount; ++m) {
        skinned = skinned || scene->meshes[m].boneCount > 0;
    }
    if (!skinned) {
        return jnFail(error, jn_badData,
            scene->meshCount == 0 ? "%s: has no mesh" : "%s: has no skin: no mesh is bound to a skeleton", path);
    }
    jnaPlacement placement = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaPlaceMeshes(path, scene, rig, &placement, notes, error));
    if (rig->jointCount > MAX_JOINTS) {
        JN_TRY(jnFail(error, jn_badData, "%s: has %d joints; %d can be taken", path, rig->jointCount, MAX_JOINTS));
    }
    if (placement.count == 0 || placement.fileVertexCount == 0) {
        JN_TRY(jnFail(error, jn_badData, "%s: has no triangles that a joint moves", path));
    }
    JN_TRY(jnaImportBudget_TakeBytes(r->budget, path,
        BYTES_A_VERTEX * placement.fileVertexCount + BYTES_A_TRIANGLE * placement.triangleCount, error));
    JN_TRY(jnaWatch_Tell(&r->def->watch, 0, error));
    jnaSetRoles(scene, r->def, &placement);
    Unit unit;
    *scale = ChooseScale(*scale, scene->metresPerUnit, MeasureExtent(&placement), &unit);
    character->jointCount = rig->jointCount;
    JN_TRY(jnaBuildSurface(path, &placement, *scale, character, notes, error));
    NoteUnit(unit, scene->metresPerUnit, *scale, jnaHeightOf(character), notes);
    JN_TRY(jnaSpreadWeights(&placement, character, error));
    JN_TRY(jnaBuildAttributes(&placement, character, notes, error));
    JN_TRY(jnaFindSourcePoints(path, &placement, character, notes, error));
    jnaNameByFile(path, character->name);
    jnaFillJoints(scene, rig, *scale, character->joints);
    NoteShear(scene, rig, notes);
    JN_TRY(jnaWatch_Tell(&r->def->watch, 0, error));
    JN_TRY(TakeTargets(r, &placement, character, error));
    JN_TRY(jnaBuildTargets(&placement, *scale, character, &r->targets, notes, error));
done:
    jnaDestroyPlacement(&placement);
    return result;
}

static jnResult CheckDef(const jnaImportDef* def, jnError* error)
{
    if (!(def->rate >= 1 && def->rate <= 1000)) {
        return jnFail(error, jn_badArgument, "the rate is %g Hz; it must lie between 1 and 1000", def->rate);
    }
    if (!(def->scale >= 0 && def->scale <= 1e6)) {
        return jnFail(
            error, jn_badArgument, "the scale is %g; it must be positive, metres per unit of the file", def->scale);
    }
    return jn_ok;
}

// The top of a file without a skeleton becomes a joint, so that its meshes hang on something.
static jnResult ChooseJoints(Reading* r, jnError* error)
{
    bool* wanted = r->def->loose ? calloc((size_t)r->scene.nodeCount + 1, sizeof(bool)) : NULL;
    if (r->def->loose && wanted == NULL) {
        return jnFail(error, jn_outOfMemory, "%s: out of memory", r->path);
    }
    if (wanted != NULL) {
        wanted[0] = true;
    }
    jnResult result = jnaSettleUpAxis(r->path, &r->scene, r->def->up, wanted, &r->rig, r->notes, error);
    free(wanted);
    return result;
}

jnResult jnaImportCharacter(const char* path, const jnaImportDef* def, jnaCharacter* character, jnaClipList* clips,
    double* usedScale, jnaNotes* notes, jnError* error)
{
    *character = (jnaCharacter){0};
    *clips = (jnaClipList){0};
    Reading r = {.path = path, .def = def, .notes = notes};
    jnaSceneLimits limits = {def->memoryLimit, def->timeLimit, def->watch, notes};
    jnaImportBudget own = {0};
    r.budget = def->budget != NULL ? def->budget : &own;
    double scale = def->scale;
    jnResult result = jn_ok;
    JN_TRY(CheckDef(def, error));
    jnaImportBudget_AddFile(r.budget, path);
    JN_TRY(jnaReadScene(path, &limits, &r.scene, error));
    for (int n = 0; n < r.scene.noteCount; ++n) {
        jnaNotes_Add(notes, "%s", r.scene.notes[n]);
    }
    JN_TRY(jnaChooseCharacter(path, &r.scene, def->character, notes, error));
    JN_TRY(ChooseJoints(&r, error));
    JN_TRY(BuildCharacter(&r, character, &scale, error));
    const jnaSampling sampling = {
        &r.scene, &r.rig, scale, def->rate, notes, character, &r.targets, def, r.budget, &def->watch};
    JN_TRY(jnaSampleAnimations(path, &sampling, clips, error));
    JN_TRY(jnaCheckJointBounds(path, character, error));
    JN_TRY(jnaCheckClipBounds(path, clips, error));
    if (usedScale != NULL) {
        *usedScale = scale;
    }
done:
    if (result != jn_ok) {
        jnaDestroyClipList(clips);
        jnaDestroyCharacter(character);
    }
    free(r.targets.list);
    jnaDestroyRig(&r.rig);
    jnaDestroyScene(&r.scene);
    return result;
}
