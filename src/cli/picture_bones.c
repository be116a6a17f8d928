// jounce picture --bones: the bones inside a character, placed again by the manifest as it is now, without a new mesh.
#include "base/try.h"
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
    jnResult result = jn_ok;
    JN_TRY(jnaReadManifest(path, &manifest, &error));
    JN_TRY(jnaLoadCharacter(workspace, &character, &error));
    JN_TRY(jnaManifest_SetBody(&manifest, &character, &error));
    JN_TRY(jnaLoadVolume(workspace, &volume, &error));
    if (volume.rowStarts == NULL) {
        error.code = result = jn_badData;
        snprintf(error.message, sizeof(error.message), "%s/volume: has no weights yet; run jounce tetrahedralize",
            workspace);
        goto done;
    }
    JN_TRY(jnaVolume_PlaceBones(&volume, &character, &manifest.bones, &bones, &notes, &error));
    JN_TRY(jnaPictureBones(&volume, &character, &bones, output, &error));
    jncPrintNotes(&notes);
    printf("%d bones, written to %s\n", bones.count, output);
done:
    jnaDestroyNotes(&notes);
    jnaDestroyBoneList(&bones);
    jnaDestroyVolume(&volume);
    jnaDestroyCharacter(&character);
    jnaDestroyManifest(&manifest);
    return jncEnd(result, &error);
}
