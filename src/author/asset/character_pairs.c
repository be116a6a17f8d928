// Pairs on the asset of their character; see character_pairs.h.
#include "asset/character_pairs.h"

#include "asset/asset_writer.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>

jnResult jnaCreateCharacterPairs(
    const jnaCharacter* c, jnSkinning skinning, int capacity, jnaPairs* pairs, jnError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    float* springs = calloc((size_t)c->vertexCount, sizeof(float));
    *pairs = (jnaPairs){0};
    if (springs == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for %d poses of '%s'", capacity, c->name);
    }
    jnaAssetDef def = jnaDefaultAssetDef();
    def.character = c;
    def.skinning = skinning;
    def.stiffness = def.damping = springs;
    jnResult result = jnaEncodeAsset(&def, &bytes, &size, error);
    free(springs);
    JN_PASS(result);
    return jnaCreatePairs(c, capacity, bytes, size, pairs, error);
}
