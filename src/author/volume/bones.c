// Bones of a volume: how much of the flesh they take by the joint's part of the body, what the manifest says, and the
// order of the work: flesh, shapes, held nodes.
#include "bones_internal.h"

#include "inside_internal.h"

#include "character/affine.h"
#include "character/humanoid.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

// Shares of the local thickness. Nearly rigid parts keep a skin of flesh; soft ones have just enough to be held.
static const double HEAD_SHARE = 0.75, HAND_SHARE = 0.6, FOOT_SHARE = 0.6, NECK_SHARE = 0.3, LIMB_SHARE = 0.3,
                    SOFT_SHARE = 0.25, END_SHARE = 0.5;

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

static void Spread(const jnaCharacter* character, int joint, double share, double* shares)
{
    if (joint < 0) {
        return;
    }
    shares[joint] = share;
    // Parents come first, so one pass reaches all descendants of the joint that have not been told otherwise.
    for (int c = joint + 1; c < character->jointCount; ++c) {
        int parent = character->joints[c].parent;
        while (parent > joint) {
            parent = character->joints[parent].parent;
        }
        if (parent == joint) {
            shares[c] = share;
        }
    }
}

void jnaDefaultBoneShares(const jnaCharacter* character, double* shares)
{
    jnaHumanoid h;
    jnaFindHumanoid(character, &h);
    for (int j = 0; j < character->jointCount; ++j) {
        bool leaf = true;
        for (int c = j + 1; c < character->jointCount; ++c) {
            leaf = leaf && character->joints[c].parent != j;
        }
        // Of a skeleton without known names, the ends are what heads, hands and feet would be.
        shares[j] = leaf ? END_SHARE : SOFT_SHARE;
    }
    for (int side = 0; side < 2; ++side) {
        static const int limbs[] = {jna_clavicle, jna_foreArm, jna_shin};
        for (int i = 0; i < 3; ++i) {
            if (h.sided[limbs[i] + side] >= 0) {
                shares[h.sided[limbs[i] + side]] = LIMB_SHARE;
            }
        }
        Spread(character, h.sided[jna_hand + side], HAND_SHARE, shares);
        Spread(character, h.sided[jna_foot + side], FOOT_SHARE, shares);
    }
    for (int i = 0; i < h.neckCount; ++i) {
        shares[h.neck[i]] = NECK_SHARE;
    }
    Spread(character, h.head, HEAD_SHARE, shares);
}

// What the manifest says about joints, over the defaults.
static jnResult ApplyManifest(
    const jnaCharacter* character, const jnaManifest* m, double* shares, float* holdStrength, jnError* error)
{
    for (int j = 0; j < character->jointCount; ++j) {
        holdStrength[j] = m->bones.hold == jna_boneSpring ? (float)m->bones.stiffness : 0;
    }
    for (int i = 0; i < m->bones.jointCount; ++i) {
        const jnaManifestBone* bone = &m->bones.joints[i];
        int joint = jnaFindJoint(character, bone->joint);
        if (joint < 0) {
            return jnFail(error, jn_badData, "bones: the character has no joint '%s'", bone->joint);
        }
        shares[joint] = bone->share >= 0 ? bone->share : shares[joint];
        holdStrength[joint] = bone->hold == jna_boneSpring ? (float)bone->stiffness : 0;
    }
    return jn_ok;
}

jnResult jnaVolume_PlaceBones(jnaVolume* v, const jnaCharacter* character, const jnaManifest* manifest,
    jnaBoneList* placed, jnaNotes* notes, jnError* error)
{
    JN_ASSERT(v->rowStarts != NULL);
    jnaBoneList bones = {0};
    jnaSlicer slicer = {0};
    jnaJointFlesh flesh = {0};
    size_t joints = (size_t)character->jointCount + 1;
    double* shares = malloc(joints * sizeof(double));
    free(v->heldBy);
    free(v->holdStrength);
    v->heldBy = malloc((size_t)v->nodeCount * sizeof(*v->heldBy));
    v->holdStrength = calloc(joints, sizeof(*v->holdStrength));
    jnResult result = jn_ok;
    if (shares == NULL || v->heldBy == NULL || v->holdStrength == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the bones of %d nodes", v->nodeCount);
        goto done;
    }
    memset(v->heldBy, 0xff, (size_t)v->nodeCount * sizeof(*v->heldBy));
    v->jointCount = character->jointCount;
    jnaDefaultBoneShares(character, shares);
    if (manifest != NULL) {
        result = ApplyManifest(character, manifest, shares, v->holdStrength, error);
    }
    result = result == jn_ok ? jnaCreateSlicer(v, &slicer, error) : result;
    result = result == jn_ok ? jnaCreateJointFlesh(v, character, &slicer, &flesh, error) : result;
    result = result == jn_ok ? jnaShapeBones(character, &flesh, &slicer, shares, &bones, error) : result;
    result = result == jn_ok ? jnaHoldNodes(v, character, &flesh, shares, &bones, notes, error) : result;
done:
    if (result == jn_ok && placed != NULL) {
        *placed = bones;
        bones = (jnaBoneList){0};
    } else if (placed != NULL) {
        *placed = (jnaBoneList){0};
    }
    jnaDestroyBoneList(&bones);
    jnaDestroyJointFlesh(&flesh);
    jnaDestroySlicer(&slicer);
    free(shares);
    return result;
}
