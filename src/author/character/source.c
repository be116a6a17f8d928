// Where a workspace's character comes from: a file, or the figure that is built in.
#include "character/source.h"

#include "base/try.h"
#include "character/figure.h"
#include "character/import_internal.h"
#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

bool jnaIsFigure(const char* source)
{
    return strcmp(source, JNA_FIGURE_SOURCE) == 0;
}

static jnResult MakeFigure(double rate, jnaCharacter* character, jnaClipList* clips, jnError* error)
{
    jnResult result = jn_ok;
    *clips = (jnaClipList){0};
    JN_TRY(jnaCreateFigure(character, error));
    clips->clips = calloc(jna_figureAllClips, sizeof(*clips->clips));
    if (clips->clips == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the built-in figure"));
    }
    for (; clips->count < jna_figureAllClips; ++clips->count) {
        JN_TRY(jnaCreateFigureClip(character, clips->count, rate, &clips->clips[clips->count], error));
    }
done:
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
        if (def->budget != NULL) { // as of a file of no size
            jnaImportBudget_AddFile(def->budget, path);
        }
        return MakeFigure(def->rate, character, clips, error);
    }
    return jnaImportCharacter(path, def, character, clips, usedScale, notes, error);
}

jnaRole jnaSourceRole(const char* source, int index)
{
    if (jnaIsFigure(source) && index < jna_figureAllClips) {
        return jnaFigureClipRole(index);
    }
    return index == 0 ? jna_train : jna_test;
}

bool jnaSource_KeepsBack(const char* source, int index)
{
    return jnaIsFigure(source) && index >= jna_figureClipCount;
}
