// Springs by hand. For a vertex with skin weights w_j the frequency is exp(sum w_j log f_j), the ratio sum w_j z_j:
// a joint twice as stiff as its neighbour fades into it evenly.
#include "character/hand_springs.h"

#include "base/try.h"
#include "jounce/spring_functions.h"
#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

jnaHandSprings jnaDefaultHandSprings(void)
{
    return (jnaHandSprings){.hertz = 4.0f, .ratio = 0.25f};
}

static jnResult CheckSpring(const char* what, float hertz, float ratio, jnError* error)
{
    if (!(hertz > 0.0f && hertz <= JNA_RIGID_HERTZ)) {
        return jnFail(error, jn_badArgument, "%s: %g hertz; it must be above 0 and at most %g", what, (double)hertz,
            (double)JNA_RIGID_HERTZ);
    }
    if (!(ratio >= 0.0f && ratio <= 100.0f)) {
        return jnFail(
            error, jn_badArgument, "%s: damping ratio %g; it must be 0 to 100, 1 is critical", what, (double)ratio);
    }
    return jn_ok;
}

// The entry for each named joint; -1 where the general spring holds.
static jnResult MatchJoints(const jnaCharacter* character, const jnaHandSprings* springs, int* entries, jnError* error)
{
    for (int j = 0; j < character->jointCount; ++j) {
        entries[j] = -1;
    }
    for (int i = 0; i < springs->jointCount; ++i) {
        const jnaJointSpring* spring = &springs->joints[i];
        int j = 0;
        while (j < character->jointCount && strcmp(character->joints[j].name, spring->joint) != 0) {
            ++j;
        }
        if (j == character->jointCount) {
            return jnFail(
                error, jn_badArgument, "the character '%s' has no joint '%s'", character->name, spring->joint);
        }
        JN_PASS(CheckSpring(spring->joint, spring->hertz, spring->ratio, error));
        entries[j] = i;
    }
    return jn_ok;
}

jnResult jnaSetHandSprings(
    const jnaCharacter* character, const jnaHandSprings* springs, float* stiffness, float* damping, jnError* error)
{
    enum { MAX_JOINTS = 4096 };
    static _Thread_local int entries[MAX_JOINTS];
    if (character->jointCount > MAX_JOINTS) {
        return jnFail(error, jn_badArgument, "%d joints are more than %d", character->jointCount, MAX_JOINTS);
    }
    jnResult result = jn_ok;
    JN_TRY(CheckSpring("springs", springs->hertz, springs->ratio, error));
    JN_TRY(MatchJoints(character, springs, entries, error));
    double rigid = log((double)JNA_RIGID_HERTZ);
    for (int v = 0; v < character->vertexCount; ++v) {
        const jnaInfluences* influences = &character->influences[v];
        double pitch = 0.0, ratio = 0.0, sum = 0.0;
        for (int k = 0; k < JNA_MAX_INFLUENCES; ++k) {
            int entry = entries[influences->joints[k]];
            double weight = (double)influences->weights[k];
            pitch += weight * log((double)(entry >= 0 ? springs->joints[entry].hertz : springs->hertz));
            ratio += weight * (double)(entry >= 0 ? springs->joints[entry].ratio : springs->ratio);
            sum += weight;
        }
        double mask = springs->mask != NULL ? (double)springs->mask[v] : 1.0;
        if (!(mask >= 0.0 && mask <= 1.0) || !(sum > 0.0)) {
            return jnFail(error, jn_badArgument, "the mask of vertex %d is %g; it must be 0 to 1", v, mask);
        }
        pitch = mask * pitch / sum + (1.0 - mask) * rigid;
        ratio = mask * ratio / sum + (1.0 - mask);
        stiffness[v] = jnStiffnessFromHertz((float)exp(pitch));
        damping[v] = jnDampingFromRatio((float)exp(pitch), (float)ratio);
    }
done:
    return result;
}
