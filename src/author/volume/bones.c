// Bones of a volume: what the manifest says, and the order of the work: parts of the body, shapes, held nodes.
#include "volume/bones.h"

#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "volume/anatomy_internal.h"
#include "volume/volume_internal.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

void jnaDestroyBoneList(jnaBoneList* bones)
{
    free(bones->bones);
    *bones = (jnaBoneList){0};
}

double jnaBone_Depth(const jnaBone* bone, const double* point)
{
    double axis[3], offset[3], scaled[3];
    for (int i = 0; i < 3; ++i) {
        axis[i] = bone->ends[1][i] - bone->ends[0][i];
        offset[i] = point[i] - bone->ends[0][i];
    }
    double length = sqrt(jnaDot(axis, axis)), along = jnaDot(offset, bone->axes[2]);
    double t = length > 0 ? fmin(fmax(along / length, 0), 1) : along > 0;
    double beyond = along < 0 ? along : along > length ? along - length : 0;
    for (int k = 0; k < 2; ++k) {
        double radius = bone->radii[0][k] + t * (bone->radii[1][k] - bone->radii[0][k]);
        scaled[k] = jnaDot(offset, bone->axes[k]) / radius;
    }
    scaled[2] = beyond / bone->caps[beyond > 0];
    return sqrt(jnaDot(scaled, scaled));
}

// The joint that moves most of what lies in the rib cage, which may begin below the joint of the chest. The pelvis goes
// with the joint that its legs hang on, whatever the skin's weights say.
static void ChooseTrunkJoint(
    const jnaVolume* v, const jnaAnatomy* a, const double* nodeVolumes, double* shares, jnaBone* bone)
{
    memset(shares, 0, (size_t)v->jointCount * sizeof(double));
    for (int n = 0; n < v->nodeCount; ++n) {
        if (jnaBone_Depth(bone, v->nodes + 3 * (size_t)n) >= 1) {
            continue;
        }
        for (int32_t i = v->rowStarts[n]; i < v->rowStarts[n + 1]; ++i) {
            shares[v->joints[i]] += nodeVolumes[n] * (double)v->weights[i];
        }
    }
    int best = bone->joint;
    for (int j = 0; j < v->jointCount; ++j) {
        best = a->parts[j] == jna_bodyTrunk && shares[j] > shares[best] ? j : best;
    }
    bone->joint = best;
}

// What the manifest says about joints and regions.
static jnResult ReadSettings(
    const jnaCharacter* character, const jnaBonesDef* def, jnaBoneSetting* settings, bool* rigidRegions, jnError* error)
{
    for (int j = 0; j < character->jointCount; ++j) {
        settings[j] = (jnaBoneSetting){.radius = 1, .length = 1};
    }
    for (int i = 0; i < def->jointCount; ++i) {
        const jnaJointBone* bone = &def->joints[i];
        int joint = jnaFindJoint(character, bone->joint);
        if (joint < 0) {
            return jnFail(error, jn_badData, "bones: the character has no joint '%s'", bone->joint);
        }
        settings[joint] = (jnaBoneSetting){bone->radius, bone->length, bone->rigid};
    }
    for (int i = 0; i < def->regionCount; ++i) {
        rigidRegions[def->regions[i].region] = def->regions[i].rigid;
    }
    return jn_ok;
}

static jnResult Place(jnaVolume* v, const jnaCharacter* character, const jnaBonesDef* def, jnaAnatomy* anatomy,
    jnaBoneList* bones, jnaNotes* notes, jnError* error)
{
    jnaSlicer slicer = {0};
    jnaJointFlesh flesh = {0};
    bool rigidRegions[JNA_REGIONS] = {false};
    jnaArena arena = {0};
    jnaBoneSetting* settings = jnaArena_Take(&arena, character->jointCount, sizeof(*settings));
    double* shares = jnaArena_Take(&arena, character->jointCount, sizeof(double));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the settings of bones", error));
    JN_TRY(ReadSettings(character, def, settings, rigidRegions, error));
    JN_TRY(jnaCreateSlicer(v, &slicer, error));
    JN_TRY(jnaCreateJointFlesh(v, character, &slicer, &flesh, error));
    JN_TRY(jnaNameParts(character, &flesh, &slicer, anatomy, error));
    JN_TRY(jnaShapeBones(character, &flesh, &slicer, anatomy, settings, bones, error));
    for (int b = 0; b < bones->count; ++b) {
        jnaBone* bone = &bones->bones[b];
        if (!bone->ball && !bone->blends && bone->joint == anatomy->chest) {
            ChooseTrunkJoint(v, anatomy, flesh.nodeVolumes, shares, bone);
        }
    }
    const jnaHoldDef hold = {.character = character,
        .flesh = &flesh,
        .anatomy = anatomy,
        .bones = bones,
        .settings = settings,
        .rigidRegions = rigidRegions,
        .exactly = def->hold == jna_boneDirichlet,
        .strength = def->stiffness};
    JN_TRY(jnaHoldNodes(v, &hold, notes, error));
    jnaAnatomy_Tell(anatomy, character, notes);
done:
    jnaDestroyJointFlesh(&flesh);
    jnaDestroySlicer(&slicer);
    jnaReleaseArena(&arena);
    return result;
}

jnaBonesDef jnaDefaultBonesDef(void)
{
    return (jnaBonesDef){.hold = jna_boneSpring, .stiffness = 1e7};
}

jnResult jnaVolume_PlaceBones(jnaVolume* v, const jnaCharacter* character, const jnaBonesDef* def, jnaBoneList* placed,
    jnaNotes* notes, jnError* error)
{
    JN_ASSERT(v->rowStarts != NULL);
    jnaBoneList bones = {0};
    jnaAnatomy anatomy = {0};
    const jnaBonesDef standard = jnaDefaultBonesDef();
    jnResult result = jn_ok;
    jnaArena arena = {0};
    free(v->heldBy);
    free(v->holdStrength);
    v->heldBy = jnaArena_Give(&arena, v->nodeCount, sizeof(*v->heldBy));
    v->holdStrength = jnaArena_Give(&arena, v->nodeCount, sizeof(*v->holdStrength));
    v->jointCount = character->jointCount;
    JN_TRY(jnaArena_Check(&arena, "bones", error));
    JN_TRY(Place(v, character, def != NULL ? def : &standard, &anatomy, &bones, notes, error));
done:
    if (placed != NULL) {
        *placed = result == jn_ok ? bones : (jnaBoneList){0};
    }
    if (placed == NULL || result != jn_ok) {
        jnaDestroyBoneList(&bones);
    }
    jnaDestroyAnatomy(&anatomy);
    return result;
}
