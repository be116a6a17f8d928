// Whatever the bytes of a snapshot, for each layer: refused, or a state that goes on finite. The first byte chooses the
// asset. The checksum is set right first, or nothing would get past it.
#include "golden_assets.h"

#include "internal.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { MOST_FLOATS = 4096, CHECKSUM_AT = 24, CUT_SHORT = 250 };

static void Play(jnCharacter* c, const jnAsset* asset, float* out)
{
    float pose[10 * GOLDEN_JOINTS];
    size_t points = 3 * (size_t)asset->fileVertexCount;
    const jnCharacterOutput output = {.positions = out, .velocities = out + points, .normals = out + 2 * points};
    for (int frame = 0; frame < 4; ++frame) {
        jnAsset_SampleClip(asset, 0, frame / 30.0, pose, pose + 4 * GOLDEN_JOINTS, pose + 7 * GOLDEN_JOINTS);
        const jnPose at = {.rotations = pose, .translations = pose + 4 * GOLDEN_JOINTS};
        jnCharacter_Step(c, &(jnCharacterInput){.h = 1.0f / 30, .pose = at}, &output);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static float out[MOST_FLOATS];
    if (size == 0) {
        return 0;
    }
    const jnAsset* asset = GoldenAsset(data[0] % ASSETS);
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.detail = asset->driverCount > 0 && data[0] >= 128 ? jn_detailCoarse : jn_detailFull;
    jnCharacter* character;
    if (9 * (size_t)asset->fileVertexCount > MOST_FLOATS || jnCreateCharacter(&def, &character, NULL) != jn_ok) {
        abort();
    }
    size_t bytes = jnCharacter_SnapshotSize(character);
    char* snapshot = malloc(bytes);
    if (snapshot == NULL) {
        abort();
    }
    Play(character, asset, out);
    jnCharacter_Save(character, snapshot);
    // Three bytes an edit: where, and what.
    for (size_t i = 1; i + 2 < size; i += 3) {
        snapshot[(data[i] + 256 * (size_t)data[i + 1]) % bytes] ^= (char)data[i + 2];
    }
    uint64_t checksum = jnAssetChecksum(snapshot, bytes);
    memcpy(snapshot + CHECKSUM_AT, &checksum, sizeof(checksum));
    jnError error;
    size_t given = data[size - 1] >= CUT_SHORT ? bytes / 2 : bytes;
    if (jnCharacter_Restore(character, snapshot, given, &error) == jn_ok) {
        Play(character, asset, out);
    }
    // Whatever the state was, a reset forgets it.
    jnCharacter_Reset(character, &(jnCharacterInput){0}, NULL);
    Play(character, asset, out);
    for (size_t i = 0; i < 9 * (size_t)asset->fileVertexCount; ++i) {
        if (!isfinite(out[i])) {
            abort();
        }
    }
    free(snapshot);
    jnDestroyCharacter(character);
    return 0;
}
