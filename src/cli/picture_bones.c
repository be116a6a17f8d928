// jounce picture --bones: the bones inside a character, placed again by the manifest as it is now, without a new mesh.
#include "cli.h"
#include "draw/bone_picture.h"
#include "picture.h"
#include "volume/bones.h"
#include "workspace/manifest.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include <limits.h>

int jncPicture_Bones(const char* workspace, const char* output)
{
    char path[PATH_MAX];
    jnError error = {0};
    jnaCharacter character = {0};
    jnaVolume volume = {0};
    jnaManifest manifest = {0};
    jnaBoneList bones = {0};
    jnaNotes notes = {0};
    snprintf(path, sizeof(path), "%s/manifest.yaml", workspace);
    jnResult result = jnaReadManifest(path, &manifest, &error);
    result = result == jn_ok ? jnaLoadCharacter(workspace, &character, &error) : result;
    result = result == jn_ok ? jnaLoadVolume(workspace, &volume, &error) : result;
    if (result == jn_ok && volume.rowStarts == NULL) {
        error.code = result = jn_badData;
        snprintf(error.message, sizeof(error.message), "%s/volume: has no weights yet; run jounce tetrahedralize",
            workspace);
    }
    result =
        result == jn_ok ? jnaVolume_PlaceBones(&volume, &character, &manifest.bones, &bones, &notes, &error) : result;
    result = result == jn_ok ? jnaPictureBones(&volume, &character, &bones, output, &error) : result;
    if (result == jn_ok) {
        jncPrintNotes(&notes);
        printf("%d bones, written to %s\n", bones.count, output);
    }
    jnaDestroyNotes(&notes);
    jnaDestroyBoneList(&bones);
    jnaDestroyVolume(&volume);
    jnaDestroyCharacter(&character);
    jnaDestroyManifest(&manifest);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
