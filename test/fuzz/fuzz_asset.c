// libFuzzer target: whatever the bytes of an asset, loading ends in an asset that can be stepped or in an error.
//
// The checksum and the length are set right first, or nothing would get past them.
#include "jounce/character.h"

#include "asset_format.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Characters of hostile counts may be large; those are not worth a fuzzer's time.
enum { LARGEST_CHARACTER = 1 << 24 };

static void Play(const jnAsset* asset, jnDetail detail)
{
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.detail = detail;
    jnCharacter* character;
    if (jnCharacter_ByteCount(&def) > LARGEST_CHARACTER || jnCreateCharacter(&def, &character, NULL) != jn_ok) {
        return;
    }
    size_t files = (size_t)asset->fileVertexCount, joints = (size_t)asset->jointCount;
    size_t weights = (size_t)(asset->componentCount + asset->modeCount);
    float* out = malloc((9 * files + weights) * sizeof(float) + 1);
    float* pose = malloc(10 * joints * sizeof(float));
    for (int frame = 0; out != NULL && pose != NULL && frame < 4; ++frame) {
        jnCharacterInput input = {.h = 0.03f};
        if (asset->clipCount > 0) {
            jnAsset_SampleClip(asset, asset->clipCount - 1, 0.05 * frame, pose, pose + 4 * joints, pose + 7 * joints);
            input.pose.rotations = pose;
        }
        jnCharacterOutput output = {.positions = out, .velocities = out + 3 * files, .normals = out + 6 * files};
        output = files > 0 ? output : (jnCharacterOutput){.weights = out};
        jnCharacter_Step(character, &input, &output);
        if (asset->hitVertexCount > 0) {
            jnCharacter_AddImpulse(character, frame * (asset->hitVertexCount - 1) / 3, (const float[3]){1, -2, 3});
            jnCharacter_AddImpulseSphere(character, (const float[3]){0, 0.5f, 0}, 0.7f, (const float[3]){1, 0, 2});
        }
    }
    free(out);
    free(pose);
    jnDestroyCharacter(character);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    // Of exactly that size, or a read just beyond it would not be seen.
    void* block = NULL;
    if (posix_memalign(&block, JN_ALIGNMENT, size) != 0 || block == NULL) {
        return 0;
    }
    char* copy = block;
    memcpy(copy, data, size);
    if (size >= sizeof(jnAssetHeader)) {
        uint64_t length = size;
        memcpy(copy + offsetof(jnAssetHeader, byteCount), &length, sizeof(length));
        uint64_t checksum = jnAssetChecksum(copy, size);
        memcpy(copy + offsetof(jnAssetHeader, checksum), &checksum, sizeof(checksum));
    }
    jnAsset* asset;
    jnError error;
    if (jnLoadAsset(&(jnAssetDef){.bytes = copy, .size = size}, &asset, &error) == jn_ok) {
        Play(asset, jn_detailFull);
        if (asset->driverCount > 0) {
            Play(asset, jn_detailCoarse);
        }
        jnDestroyAsset(asset);
    }
    free(copy);
    return 0;
}
