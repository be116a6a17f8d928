// The joints that only say where the body stands, and motion without them.
#include "flesh/poses.h"

#include "base/affine.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

static int CountBelow(const jnaCharacter* c, int joint)
{
    int count = 0;
    for (int j = joint + 1; j < c->jointCount; ++j) {
        int up = j;
        while (up > joint) {
            up = c->joints[up].parent;
        }
        count += up == joint;
    }
    return count;
}

static int CountChildren(const jnaCharacter* c, int joint, int* last)
{
    int count = 0;
    for (int j = joint + 1; j < c->jointCount; ++j) {
        if (c->joints[j].parent == joint) {
            *last = j;
            count++;
        }
    }
    return count;
}

int jnaRootChain(const jnaCharacter* character, bool* inChain)
{
    int root = 0, most = -1;
    for (int j = 0; j < character->jointCount; ++j) {
        int below = character->joints[j].parent < 0 ? CountBelow(character, j) : -1;
        if (below > most) {
            most = below;
            root = j;
        }
    }
    int end = root, child = root;
    int children;
    while ((children = CountChildren(character, end, &child)) == 1) {
        end = child;
    }
    // A chain without any branch: all but its root bend.
    end = children == 0 ? root : end;
    if (inChain != NULL) {
        memset(inChain, 0, (size_t)character->jointCount * sizeof(bool));
        for (int j = end; j >= 0; j = character->joints[j].parent) {
            inChain[j] = true;
        }
    }
    return end;
}

jnResult jnaClip_WithoutRoot(const jnaCharacter* character, const jnaClip* clip, jnaClip* still, jnError* error)
{
    *still = *clip;
    JN_PASS(jnaClip_Allocate(still, clip->scales != NULL, error));
    int end = jnaRootChain(character, NULL);
    size_t joints = (size_t)clip->jointCount, entries = (size_t)clip->frameCount * joints;
    memcpy(still->rotations, clip->rotations, entries * 4 * sizeof(float));
    memcpy(still->translations, clip->translations, entries * 3 * sizeof(float));
    if (clip->scales != NULL) {
        memcpy(still->scales, clip->scales, entries * 3 * sizeof(float));
    }
    for (int f = 0; f < clip->frameCount; ++f) {
        for (int j = end; j >= 0; j = character->joints[j].parent) {
            size_t entry = (size_t)f * joints + (size_t)j;
            const jnaJoint* joint = &character->joints[j];
            memcpy(still->rotations + 4 * entry, joint->rotation, sizeof(joint->rotation));
            memcpy(still->translations + 3 * entry, joint->translation, sizeof(joint->translation));
            if (clip->scales != NULL) {
                memcpy(still->scales + 3 * entry, joint->scale, sizeof(joint->scale));
            }
        }
    }
    return jn_ok;
}

static jnaAffine Local(const float* translation, const float* rotation, const float* scale)
{
    double t[3], q[4], s[3];
    for (int i = 0; i < 3; ++i) {
        t[i] = (double)translation[i];
        s[i] = (double)scale[i];
    }
    for (int i = 0; i < 4; ++i) {
        q[i] = (double)rotation[i];
    }
    return jnaAffine_FromTrs(t, q, s);
}

void jnaRootMotion(const jnaCharacter* character, const jnaClip* clip, int frame, double* affine)
{
    jnaAffine rest = jnaAffine_Identity(), posed = jnaAffine_Identity(), back;
    for (int j = jnaRootChain(character, NULL); j >= 0; j = character->joints[j].parent) {
        const jnaJoint* joint = &character->joints[j];
        size_t entry = (size_t)frame * (size_t)clip->jointCount + (size_t)j;
        jnaAffine still = Local(joint->translation, joint->rotation, joint->scale);
        jnaAffine moved = Local(clip->translations + 3 * entry, clip->rotations + 4 * entry,
            clip->scales != NULL ? clip->scales + 3 * entry : joint->scale);
        rest = jnaAffine_Multiply(&still, &rest);
        posed = jnaAffine_Multiply(&moved, &posed);
    }
    jnaAffine result = jnaAffine_Invert(&rest, &back) ? jnaAffine_Multiply(&posed, &back) : jnaAffine_Identity();
    memcpy(affine, result.m, sizeof(result.m));
}
