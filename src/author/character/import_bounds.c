// The last look at what was imported: no coordinate beyond a thousand kilometres (base/bounds.h), no other number that
// arithmetic could not bear. Far-off points come from damaged files and from wrong units.
#include "base/bounds.h"
#include "character/import_internal.h"

#include "runtime/for_author.h"

jnResult jnaCheckSurfaceBounds(const char* path, const float* positions, size_t count, jnError* error)
{
    size_t bad = jnaFindUnbounded(positions, 3 * count, JNA_FARTHEST);
    return bad == 3 * count ? jn_ok
                            : jnFail(error, jn_badData,
                                  "%s: vertex %zu: a coordinate is %g m; up to %g can be taken (--scale sets the unit)",
                                  path, bad / 3, (double)positions[bad], JNA_FARTHEST);
}

static bool IsBounded(const jnaJoint* joint)
{
    return jnaFindUnbounded(joint->translation, 3, JNA_FARTHEST) == 3 && jnaFindUnbounded(joint->rotation, 4, 2) == 4 &&
           jnaFindUnbounded(joint->scale, 3, JNA_LARGEST) == 3 &&
           jnaFindUnbounded(joint->inverseBind, 12, JNA_LARGEST) == 12;
}

jnResult jnaCheckJointBounds(const char* path, const jnaCharacter* c, jnError* error)
{
    for (int j = 0; j < c->jointCount; ++j) {
        if (!IsBounded(&c->joints[j])) {
            return jnFail(error, jn_badData, "%s: joint '%s': its rest pose or bind matrix is not of a sound size",
                path, c->joints[j].name);
        }
    }
    return jn_ok;
}

jnResult jnaCheckClipBounds(const char* path, const jnaClipList* clips, jnError* error)
{
    for (int i = 0; i < clips->count; ++i) {
        const jnaClip* clip = &clips->clips[i];
        size_t joints = (size_t)clip->jointCount, entries = (size_t)clip->frameCount * joints;
        size_t bad = jnaFindUnbounded(clip->translations, 3 * entries, JNA_FARTHEST) / 3, at = bad;
        at = at == entries ? jnaFindUnbounded(clip->rotations, 4 * entries, 2) / 4 : at;
        at = at == entries && clip->scales != NULL ? jnaFindUnbounded(clip->scales, 3 * entries, JNA_LARGEST) / 3 : at;
        if (at < entries) {
            return jnFail(error, jn_badData, "%s: clip '%s', frame %zu, joint %zu: %s", path, clip->name, at / joints,
                at % joints,
                bad < entries ? "is more than 1000 km away" : "a rotation or scale is not of a sound size");
        }
    }
    return jn_ok;
}
