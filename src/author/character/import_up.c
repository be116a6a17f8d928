// Which axis of a file points up. FBX and Collada state it and glTF means Y, but files that say one and mean another
// are common: where names show the head and the legs of a human skeleton, the axis from hips to head decides.
#include "base/try.h"
#include "character/humanoid.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>

// Cosine between the trunk and an axis: a body that leans by less than 35 degrees stands.
#define STANDING 0.82

static const char axisNames[] = "XYZ";

// Where the trunk points, hips to head or highest neck, in the axes of the file. False where it is not known.
static bool FindTrunk(const jnaCharacter* skeleton, const float* matrices, int upAxis, double* trunk)
{
    jnaHumanoid h;
    jnaFindHumanoid(skeleton, &h);
    int top = h.head >= 0 ? h.head : h.neckCount > 0 ? h.neck[h.neckCount - 1] : -1;
    bool legs = h.sided[jna_thigh] >= 0 && h.sided[jna_thigh + 1] >= 0;
    if (h.hips < 0 || top < 0 || !legs) {
        return false;
    }
    double direction[3];
    for (int i = 0; i < 3; ++i) {
        direction[i] = (double)matrices[12 * top + 4 * i + 3] - (double)matrices[12 * h.hips + 4 * i + 3];
    }
    jnaAffine upright = jnaUpright(upAxis), file;
    if (!(jnaNormalize(direction) > 0) || !jnaAffine_Invert(&upright, &file)) {
        return false;
    }
    jnaAffine_Apply(&file, direction, trunk);
    return true;
}

// The axis of the file that a skeleton stands along, of joints that were made upright by the stated axis; that one
// where names do not show the trunk, or where it leans.
static int FindUpAxis(const jnaCharacter* skeleton, int stated)
{
    double trunk[3];
    float* matrices = malloc(((size_t)skeleton->jointCount + 1) * 12 * sizeof(float));
    if (matrices == NULL) {
        return stated;
    }
    jnaPoseMatrices(skeleton, NULL, 0, matrices);
    bool known = FindTrunk(skeleton, matrices, stated, trunk);
    free(matrices);
    int found = stated;
    for (int axis = 0; known && axis < 3; ++axis) {
        found = trunk[axis] > STANDING ? axis : found;
    }
    return found;
}

// The joints at rest, in file units.
static jnResult RestSkeleton(const jnaScene* scene, const jnaRig* rig, jnaCharacter* skeleton, jnError* error)
{
    skeleton->jointCount = rig->jointCount;
    JN_PASS(jnaCharacter_Allocate(skeleton, false, error));
    jnaFillJoints(scene, rig, 1, skeleton->joints);
    return jn_ok;
}

jnResult jnaSettleUpAxis(
    const char* path, jnaScene* scene, jnaUp wanted, const bool* joints, jnaRig* rig, jnaNotes* notes, jnError* error)
{
    int stated = scene->upAxis;
    jnaCharacter skeleton = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateRig(path, scene, joints, rig, error));
    if (wanted != jna_upAuto) {
        scene->upAxis = (int)wanted - (int)jna_upX;
    } else if (rig->jointCount > 0) {
        JN_TRY(RestSkeleton(scene, rig, &skeleton, error));
        scene->upAxis = FindUpAxis(&skeleton, stated);
    }
    if (scene->upAxis != stated) {
        jnaNotes_Add(notes, "the character stands along the file's %c axis and is turned upright%s",
            axisNames[scene->upAxis], wanted == jna_upAuto ? " (--up overrides)" : ", as --up says");
        jnaDestroyRig(rig);
        JN_TRY(jnaCreateRig(path, scene, joints, rig, error));
    }
done:
    jnaDestroyCharacter(&skeleton);
    if (result != jn_ok) {
        jnaDestroyRig(rig);
    }
    return result;
}
