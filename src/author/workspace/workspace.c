// An opened workspace; see workspace.h.
#include "workspace/workspace.h"

#include "base/path.h"
#include "base/try.h"
#include "workspace/modes_store.h"
#include "workspace/network_store.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include "runtime/for_author.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// What is there so far.
typedef struct jnaLoaded {
    bool hasCharacter, hasVolume, hasModes, hasNetwork;
    jnaCharacter character, flesh; // flesh: empty where all of the character is flesh
    int clipCount;
    jnaClip* clips; // [clipCount]; NULL: not loaded
    jnaVolume volume;
    jnaModes modes;
    jnaNetwork network;
} jnaLoaded;

jnResult jnaOpenWorkspace(const char* path, jnaWorkspace** workspace, jnError* error)
{
    char name[JNA_PATH_LENGTH];
    *workspace = NULL;
    JN_PASS(jnaJoinPath(path, "manifest.yaml", name, error));
    if (access(name, F_OK) != 0) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s; jounce new makes a workspace", name, strerror(errno));
    }
    jnaWorkspace* w = calloc(1, sizeof(*w));
    bool whole = w != NULL && (w->path = strdup(path)) != NULL && (w->loaded = calloc(1, sizeof(*w->loaded))) != NULL;
    jnResult result =
        whole ? jnaReadManifest(name, &w->manifest, error) : jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    if (result != jn_ok) {
        jnaCloseWorkspace(w);
        return result;
    }
    *workspace = w;
    return jn_ok;
}

jnResult jnaOpenWorkspaceToWrite(const char* path, const char* who, jnaWorkspace** workspace, jnError* error)
{
    jnaWorkspaceLock lock = {0};
    jnaWorkspace* before = NULL;
    jnResult result = jn_ok;
    *workspace = NULL;
    // No lock is left in a folder that is none of ours. Behind it the manifest is read once more: it may have changed
    // while somebody else held it.
    JN_TRY(jnaOpenWorkspace(path, &before, error));
    JN_TRY(jnaLockWorkspace(path, who, true, &lock, error));
    JN_TRY(jnaOpenWorkspace(path, workspace, error));
    (*workspace)->lock = lock;
done:
    jnaCloseWorkspace(before);
    if (result != jn_ok) {
        jnaUnlockWorkspace(&lock);
    }
    return result;
}

static void ForgetClips(jnaLoaded* l)
{
    for (int i = 0; i < l->clipCount; ++i) {
        jnaDestroyClip(&l->clips[i]);
    }
    free(l->clips);
    l->clips = NULL;
    l->clipCount = 0;
}

void jnaWorkspace_Forget(jnaWorkspace* w)
{
    jnaLoaded* l = w->loaded;
    ForgetClips(l);
    jnaDestroyNetwork(&l->network);
    jnaDestroyModes(&l->modes);
    jnaDestroyVolume(&l->volume);
    jnaDestroyCharacter(&l->character);
    jnaDestroyCharacter(&l->flesh);
    *l = (jnaLoaded){0};
}

void jnaCloseWorkspace(jnaWorkspace* w)
{
    if (w == NULL) {
        return;
    }
    if (w->loaded != NULL) {
        jnaWorkspace_Forget(w);
    }
    free(w->loaded);
    jnaUnlockWorkspace(&w->lock);
    jnaDestroyManifest(&w->manifest);
    free((char*)w->path);
    free(w);
}

jnResult jnaWorkspace_Whole(jnaWorkspace* w, const jnaCharacter** character, jnError* error)
{
    jnaLoaded* l = w->loaded;
    *character = &l->character;
    if (l->hasCharacter) {
        return jn_ok;
    }
    JN_PASS(jnaLoadWholeCharacter(w->path, &l->character, error));
    jnResult result = l->character.outfitCount > 0 ? jnaCharacter_TakeFlesh(&l->character, &l->flesh, error) : jn_ok;
    if (result != jn_ok) {
        jnaDestroyCharacter(&l->character);
    }
    l->hasCharacter = result == jn_ok;
    return result;
}

jnResult jnaWorkspace_Character(jnaWorkspace* w, const jnaCharacter** character, jnError* error)
{
    JN_PASS(jnaWorkspace_Whole(w, character, error));
    *character = (*character)->outfitCount > 0 ? &w->loaded->flesh : *character;
    return jn_ok;
}

jnResult jnaWorkspace_Clips(jnaWorkspace* w, const jnaClip** clips, jnError* error)
{
    jnaLoaded* l = w->loaded;
    const jnaCharacter* c;
    jnResult result = jn_ok;
    JN_PASS(jnaWorkspace_Character(w, &c, error));
    if (l->clips == NULL) {
        l->clips = calloc((size_t)w->manifest.clipCount + 1, sizeof(*l->clips));
        JN_TRY(l->clips != NULL ? jn_ok : jnFail(error, jn_outOfMemory, "%s: out of memory", w->path));
        for (; l->clipCount < w->manifest.clipCount; ++l->clipCount) {
            int i = l->clipCount;
            JN_TRY(jnaLoadClip(w->path, w->manifest.clips[i].name, c, &l->clips[i], error));
        }
    }
done:
    if (result != jn_ok) {
        ForgetClips(l);
    }
    *clips = l->clips;
    return result;
}

jnResult jnaWorkspace_Volume(jnaWorkspace* w, const jnaVolume** volume, jnError* error)
{
    jnResult result = w->loaded->hasVolume ? jn_ok : jnaLoadVolume(w->path, &w->loaded->volume, error);
    w->loaded->hasVolume = result == jn_ok;
    *volume = &w->loaded->volume;
    return result;
}

jnResult jnaWorkspace_Modes(jnaWorkspace* w, const jnaModes** modes, jnError* error)
{
    jnResult result = w->loaded->hasModes ? jn_ok : jnaLoadModes(w->path, &w->loaded->modes, error);
    w->loaded->hasModes = result == jn_ok;
    *modes = &w->loaded->modes;
    return result;
}

jnResult jnaWorkspace_Network(jnaWorkspace* w, const jnaNetwork** network, jnError* error)
{
    jnaLoaded* l = w->loaded;
    const jnaCharacter* c;
    *network = NULL;
    if (!l->hasNetwork &&
        (w->manifest.network.kind == jn_networkNone || !jnaWorkspace_Has(w, "network/network.json"))) {
        return jn_ok;
    }
    if (!l->hasNetwork) {
        JN_PASS(jnaWorkspace_Character(w, &c, error));
        JN_PASS(jnaLoadNetwork(w->path, &l->network, error));
        if (l->network.vertexCount != c->vertexCount || l->network.jointCount != c->jointCount) {
            jnaDestroyNetwork(&l->network);
            return jnFail(
                error, jn_badData, "%s/network: was trained for another character; run jounce train again", w->path);
        }
        l->hasNetwork = true;
    }
    *network = l->network.kind == w->manifest.network.kind && !l->network.leftOut ? &l->network : NULL;
    return jn_ok;
}

jnResult jnaWorkspace_Path(const jnaWorkspace* w, char* path, jnError* error, const char* format, ...)
{
    char name[JNA_PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    return length >= 0 && length < JNA_PATH_LENGTH
               ? jnaJoinPath(w->path, name, path, error)
               : jnFail(error, jn_badArgument, "%.200s...: the path is too long", name);
}

bool jnaWorkspace_Has(const jnaWorkspace* w, const char* format, ...)
{
    char name[JNA_PATH_LENGTH];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    return length >= 0 && length < JNA_PATH_LENGTH && jnaFolderHas(w->path, name);
}

void jnaWorkspace_Depend(const jnaWorkspace* w, jnaStage* stage)
{
    char* settings = jnaManifest_Settings(&w->manifest, stage->name);
    stage->failed = stage->failed || settings == NULL;
    if (settings != NULL) {
        jnaStage_Depend(stage, "%s", settings);
    }
    free(settings);
}
