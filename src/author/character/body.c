// Parts of a body by the names of joints; see humanoid.h for the vocabulary.
//
// Names are believed where they fit together: shoulder, elbow and wrist of both sides, each below the one before. One
// name alone may be anything: a joint called "foot" may be a control that the skin does not know.
#include "character/body.h"

#include "character/humanoid.h"
#include "character/joint_names.h"

#include "runtime/for_author.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Two joints are mirror images where they are nearer than this part of the skeleton's size.
#define MIRROR_TOLERANCE 0.02

const char* const jnaBodySlotNames[JNA_BODY_SLOTS] = {"pelvis", "chest", "neck", "head", "left_upper_arm",
    "left_forearm", "left_hand", "right_upper_arm", "right_forearm", "right_hand", "left_thigh", "left_shin",
    "left_foot", "right_thigh", "right_shin", "right_foot"};

bool jnaIsAbove(const jnaCharacter* c, int above, int joint)
{
    while (joint > above) {
        joint = c->joints[joint].parent;
    }
    return joint == above;
}

int jnaCommonJoint(const jnaCharacter* c, int a, int b)
{
    while (a != b && a >= 0 && b >= 0) {
        if (a > b) {
            a = c->joints[a].parent;
        } else {
            b = c->joints[b].parent;
        }
    }
    return a == b ? a : -1;
}

// A pair of limbs, if the names of both sides make whole chains.
static bool NamePair(const jnaCharacter* c, const jnaHumanoid* h, bool leg, int* joints)
{
    const int parts[3] = {leg ? jna_thigh : jna_upperArm, leg ? jna_shin : jna_foreArm, leg ? jna_foot : jna_hand};
    for (int side = 0; side < 2; ++side) {
        for (int k = 0; k < 3; ++k) {
            int joint = h->sided[parts[k] + side], before = k > 0 ? h->sided[parts[k - 1] + side] : -1;
            if (joint < 0 || joint == before || (k > 0 && !jnaIsAbove(c, before, joint))) {
                return false;
            }
        }
    }
    int left = h->sided[parts[0]], right = h->sided[parts[0] + 1];
    if (jnaCommonJoint(c, left, right) < 0 || jnaIsAbove(c, left, right) || jnaIsAbove(c, right, left)) {
        return false;
    }
    for (int i = 0; i < 6; ++i) {
        joints[jnaLimbSlot(leg, i / 3) + i % 3] = h->sided[parts[i % 3] + i / 3];
    }
    return true;
}

static bool IsIn(const int* list, int count, int joint)
{
    for (int i = 0; i < count; ++i) {
        if (list[i] == joint) {
            return true;
        }
    }
    return false;
}

// The joint that the arms hang on; of a Biped whose collar bones hang on the neck, the one below it.
static int ChestOf(const jnaCharacter* c, const jnaHumanoid* h, const int* joints)
{
    int left = joints[jnaLimbSlot(false, 0)], right = joints[jnaLimbSlot(false, 1)];
    int chest = jnaCommonJoint(c, left, right);
    while (chest >= 0 && c->joints[chest].parent >= 0 && (chest == h->head || IsIn(h->neck, h->neckCount, chest))) {
        chest = c->joints[chest].parent;
    }
    return chest;
}

// The joint that the legs hang on; of a Biped whose thighs hang on the spine, the pelvis above it.
static int PelvisOf(const jnaCharacter* c, const jnaHumanoid* h, const int* joints)
{
    int left = joints[jnaLimbSlot(true, 0)], right = joints[jnaLimbSlot(true, 1)];
    int pelvis = jnaCommonJoint(c, left, right);
    int above = c->joints[pelvis].parent;
    return above >= 0 && above == h->hips && IsIn(h->spine, h->spineCount, pelvis) ? above : pelvis;
}

void jnaNameBody(const jnaCharacter* c, int* joints)
{
    jnaHumanoid h;
    jnaFindHumanoid(c, &h);
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        joints[s] = -1;
    }
    bool arms = NamePair(c, &h, false, joints), legs = NamePair(c, &h, true, joints);
    joints[jna_slotChest] = arms ? ChestOf(c, &h, joints) : -1;
    joints[jna_slotPelvis] = legs ? PelvisOf(c, &h, joints) : -1;
    // A head alone says little; with a pair of limbs it is one.
    joints[jna_slotHead] = arms || legs ? h.head : -1;
    for (int i = 0; i < h.neckCount && joints[jna_slotNeck] < 0 && joints[jna_slotHead] >= 0; ++i) {
        joints[jna_slotNeck] = h.neck[i] != h.head && jnaIsAbove(c, h.neck[i], h.head) ? h.neck[i] : -1;
    }
}

static int MirrorByName(const jnaCharacter* c, int joint)
{
    jnaJointName own, other;
    jnaSplitJointName(c->joints[joint].name, &own);
    for (int j = 0; own.side != JNA_NO_SIDE && own.word[0] != '\0' && j < c->jointCount; ++j) {
        jnaSplitJointName(c->joints[j].name, &other);
        if (other.side == 1 - own.side && strcmp(own.word, other.word) == 0) {
            return j;
        }
    }
    return -1;
}

// The joint whose place is the mirror image in the plane x = 0, from left to right of a character that faces +Z or -Z.
static int MirrorByPlace(const jnaCharacter* c, int joint)
{
    float* matrices = malloc((size_t)c->jointCount * 12 * sizeof(float));
    int found = -1;
    double size = 0, least = 0;
    if (matrices == NULL) {
        return -1;
    }
    jnaPoseMatrices(c, NULL, 0, matrices);
    for (int pass = 0; pass < 2; ++pass) {
        for (int j = 0; j < c->jointCount; ++j) {
            double gap = 0;
            for (int i = 0; i < 3; ++i) {
                double a = (double)matrices[12 * (size_t)joint + 4 * (size_t)i + 3];
                double b = (double)matrices[12 * (size_t)j + 4 * (size_t)i + 3];
                double d = (pass == 1 && i == 0 ? -a : a) - b;
                gap += d * d;
            }
            size = pass == 0 ? fmax(size, sqrt(gap)) : size;
            if (pass == 1 && j != joint && sqrt(gap) < MIRROR_TOLERANCE * size && (found < 0 || gap < least)) {
                found = j;
                least = gap;
            }
        }
    }
    free(matrices);
    return found;
}

int jnaOppositeJoint(const jnaCharacter* c, int joint)
{
    int named = MirrorByName(c, joint);
    return named >= 0 ? named : MirrorByPlace(c, joint);
}

void jnaCharacter_OverrideBody(const jnaCharacter* c, int* joints)
{
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        int named = c->body[s] - 1;
        if (named < 0) {
            continue;
        }
        joints[s] = named;
        int limb = (s - jna_slotLimbs) / 3, other = limb % 2 == 0 ? s + 3 : s - 3;
        if (s >= jna_slotLimbs && c->body[other] == 0) {
            int mirrored = jnaOppositeJoint(c, named);
            joints[other] = mirrored >= 0 ? mirrored : joints[other];
        }
    }
}

jnResult jnaCharacter_SetBody(jnaCharacter* c, jnaBodySlot slot, const char* joint, jnError* error)
{
    for (int j = 0; j < c->jointCount; ++j) {
        if (strcmp(c->joints[j].name, joint) == 0) {
            c->body[slot] = j + 1;
            return jn_ok;
        }
    }
    char nearest[3 * JNA_NAME_LENGTH + 20];
    jnaNearestJoints(c, joint, nearest, sizeof(nearest));
    return jnFail(error, jn_badArgument, "body.%s: the character has no joint '%s'; the nearest names are %s",
        jnaBodySlotNames[slot], joint, nearest[0] != '\0' ? nearest : "none");
}

// A double-quoted YAML string.
static void PutText(FILE* file, const char* text)
{
    fputc('"', file);
    for (const char* c = text; *c != '\0'; ++c) {
        fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", (unsigned char)*c < ' ' ? '?' : *c);
    }
    fputc('"', file);
}

char* jnaDescribeBody(const jnaCharacter* c, const int* joints)
{
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    int shown = 0, line = -1;
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        if (joints[s] >= 0) {
            int own = s < jna_slotLimbs ? 0 : 1 + (s - jna_slotLimbs) / 3;
            fputs(shown++ == 0 ? "body: {" : own != line ? ",\n  " : ", ", file);
            fprintf(file, "%s: ", jnaBodySlotNames[s]);
            PutText(file, c->joints[joints[s]].name);
            line = own;
        }
    }
    fputs(shown > 0 ? "}\n" : "", file);
    if (fclose(file) != 0 || shown == 0) {
        free(text);
        return NULL;
    }
    return text;
}
