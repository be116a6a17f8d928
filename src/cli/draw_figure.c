// A character to begin with: the built-in figure with springs set by hand, soft around the belly and firm at the ends,
// for the viewer and for anyone who wants a file to begin with.
#include "draw.h"

#include "asset/asset_writer.h"
#include "base/try.h"
#include "character/figure.h"
#include "character/hand_springs.h"

#include "runtime/for_author.h"

#include <stdlib.h>

#define RATE 30.0
#define RATIO 0.18f

// Hertz around each joint: flesh is thin where the bone is near.
static const jnaJointSpring joints[] = {
    {"Head", 16, RATIO},
    {"Neck", 10, RATIO},
    {"LeftShoulder", 8, RATIO},
    {"LeftArm", 6, RATIO},
    {"LeftForeArm", 9, RATIO},
    {"LeftHand", 16, RATIO},
    {"RightShoulder", 8, RATIO},
    {"RightArm", 6, RATIO},
    {"RightForeArm", 9, RATIO},
    {"RightHand", 16, RATIO},
    {"LeftUpLeg", 6, RATIO},
    {"LeftLeg", 9, RATIO},
    {"LeftFoot", 16, RATIO},
    {"LeftToeBase", 16, RATIO},
    {"RightUpLeg", 6, RATIO},
    {"RightLeg", 9, RATIO},
    {"RightFoot", 16, RATIO},
    {"RightToeBase", 16, RATIO},
};

jnResult jncWriteFigure(const char* path, jnError* error)
{
    jnaCharacter figure = {0};
    jnaClip clips[jna_figureClipCount] = {0};
    jnaRole roles[jna_figureClipCount];
    float* springs = NULL;
    jnResult result = jn_ok;
    JN_PASS(jnaCreateFigure(&figure, error));
    for (int i = 0; i < jna_figureClipCount; ++i) {
        roles[i] = jnaFigureClipRole(i);
        JN_TRY(jnaCreateFigureClip(&figure, i, RATE, &clips[i], error));
    }
    size_t count = (size_t)figure.vertexCount;
    springs = malloc(2 * count * sizeof(float));
    JN_TRY(springs != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "out of memory for the figure's springs"));
    jnaHandSprings hand = {
        .hertz = 3.4f, .ratio = RATIO, .joints = joints, .jointCount = sizeof(joints) / sizeof(joints[0])};
    JN_TRY(jnaSetHandSprings(&figure, &hand, springs, springs + count, error));
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = &figure;
    def.clips = clips;
    def.roles = roles;
    def.clipCount = jna_figureClipCount;
    def.stiffness = springs;
    def.damping = springs + count;
    def.rate = RATE;
    JN_TRY(jnaWriteAsset(path, &def, error));
done:
    free(springs);
    for (int i = 0; i < jna_figureClipCount; ++i) {
        jnaDestroyClip(&clips[i]);
    }
    jnaDestroyCharacter(&figure);
    return result;
}
