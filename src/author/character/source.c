// Where a workspace's character comes from: a file, or the figure that is built in.
#include "character/source.h"

#include "character/figure.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

bool jnaIsFigure(const char* source)
{
    return strcmp(source, JNA_FIGURE_SOURCE) == 0;
}

static jnResult MakeFigure(double rate, jnaCharacter* character, jnaClipList* clips, jnError* error)
{
    jnResult result = jnaCreateFigure(character, error);
    if (result != jn_ok) {
        return result;
    }
    clips->clips = calloc(jna_figureClipCount, sizeof(*clips->clips));
    if (clips->clips == NULL) {
        result = jnFail(error, jn_outOfMemory, "out of memory for the built-in figure");
    }
    for (int i = 0; result == jn_ok && i < jna_figureClipCount; ++i) {
        result = jnaCreateFigureClip(character, i, rate, &clips->clips[i], error);
        clips->count += result == jn_ok;
    }
    if (result != jn_ok) {
        jnaDestroyClipList(clips);
        jnaDestroyCharacter(character);
    }
    return result;
}

jnResult jnaOpenSource(const char* path, const jnaImportDef* def, jnaCharacter* character, jnaClipList* clips,
    double* usedScale, jnaNotes* notes, jnError* error)
{
    if (jnaIsFigure(path)) {
        *usedScale = 1.0;
        return MakeFigure(def->rate, character, clips, error);
    }
    return jnaImportCharacter(path, def, character, clips, usedScale, notes, error);
}

jnaRole jnaSourceRole(const char* source, int index)
{
    if (jnaIsFigure(source) && index < jna_figureClipCount) {
        return jnaFigureClipRole(index);
    }
    return index == 0 ? jna_train : jna_test;
}
