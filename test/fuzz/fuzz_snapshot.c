// Whatever the bytes of a snapshot, for each layer: refused, or a state that is shown and goes on finite from the first
// step. The first byte chooses the asset. The checksum is set right first, or nothing would get past it.
#include "golden_assets.h"

#include "internal.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { MOST_FLOATS = 4096, CHECKSUM_AT = 24, CUT_SHORT = 250 };

static jnCharacterOutput OutputAt(const jnAsset* asset, float* out)
{
    size_t points = 3 * (size_t)asset->fileVertexCount;
    return (jnCharacterOutput){.positions = out, .velocities = out + points, .normals = out + 2 * points};
}

static void MustBeFinite(const jnAsset* asset, const float* out)
{
    for (size_t i = 0; i < 9 * (size_t)asset->fileVertexCount; ++i) {
        if (!isfinite(out[i])) {
            abort();
        }
    }
}

static void Play(jnCharacter* c, const jnAsset* asset, int frames, float* out)
{
    float pose[10 * GOLDEN_JOINTS];
    const jnCharacterOutput output = OutputAt(asset, out);
    for (int frame = 0; frame < frames; ++frame) {
        jnAsset_SampleClip(asset, 0, frame / 30.0, pose, pose + 4 * GOLDEN_JOINTS, pose + 7 * GOLDEN_JOINTS);
        const jnPose at = {.rotations = pose, .translations = pose + 4 * GOLDEN_JOINTS};
        jnCharacter_Step(c, &(jnCharacterInput){.h = 1.0f / 30, .pose = at}, &output);
        MustBeFinite(asset, out);
    }
}

// A character after four frames and its snapshot, for each asset and detail: made once, since that is most of the time.
typedef struct Scene {
    const jnAsset* asset;
    jnCharacter* character;
    char *good, *altered;
    size_t bytes;
} Scene;

static Scene* SceneOf(uint8_t choice, float* out)
{
    static Scene scenes[2][ASSETS];
    const jnAsset* asset = GoldenAsset(choice % ASSETS);
    bool coarse = asset->driverCount > 0 && choice >= 128;
    Scene* s = &scenes[coarse][choice % ASSETS];
    if (s->character != NULL) {
        return s;
    }
    jnCharacterDef def = jnDefaultCharacterDef(asset);
    def.detail = coarse ? jn_detailCoarse : jn_detailFull;
    s->asset = asset;
    if (9 * (size_t)asset->fileVertexCount > MOST_FLOATS || jnCreateCharacter(&def, &s->character, NULL) != jn_ok) {
        abort();
    }
    s->bytes = jnCharacter_SnapshotSize(s->character);
    s->good = malloc(s->bytes);
    s->altered = malloc(s->bytes);
    if (s->good == NULL || s->altered == NULL) {
        abort();
    }
    Play(s->character, asset, 4, out);
    jnCharacter_Save(s->character, s->good);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static float out[MOST_FLOATS];
    jnError error;
    if (size == 0) {
        return 0;
    }
    const Scene* s = SceneOf(data[0], out);
    memcpy(s->altered, s->good, s->bytes);
    // Three bytes an edit: where, and what.
    for (size_t i = 1; i + 2 < size; i += 3) {
        s->altered[(data[i] + 256 * (size_t)data[i + 1]) % s->bytes] ^= (char)data[i + 2];
    }
    uint64_t checksum = jnAssetChecksum(s->altered, s->bytes);
    memcpy(s->altered + CHECKSUM_AT, &checksum, sizeof(checksum));
    size_t given = data[size - 1] >= CUT_SHORT ? s->bytes / 2 : s->bytes;
    if (jnCharacter_Restore(s->character, s->altered, given, &error) == jn_ok) {
        const jnCharacterOutput output = OutputAt(s->asset, out);
        jnCharacter_Evaluate(s->character, (float)data[size - 1] / 255.0f, &output);
        MustBeFinite(s->asset, out);
        Play(s->character, s->asset, 2, out);
        // Whatever the state was, a reset forgets it.
        jnCharacter_Reset(s->character, &(jnCharacterInput){0}, NULL);
        Play(s->character, s->asset, 1, out);
    }
    return 0;
}
