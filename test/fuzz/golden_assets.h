// The three small assets of the platforms' tests, loaded once: every layer that the runtime has.
#pragma once

#include "jounce/jounce.h"
#include "platforms/golden_asset.h"

#include <stdbool.h>
#include <string.h>

enum { ASSETS = 3, ASSET_RINGS = 13, ASSET_SEGMENTS = 5 };

static inline const jnAsset* GoldenAsset(int kind)
{
    static jnAsset* assets[ASSETS];
    if (assets[kind] == NULL) {
        size_t size;
        char* file = MakeGoldenAsset((GoldenKind)kind, ASSET_RINGS, ASSET_SEGMENTS, &size);
        void* bytes = NULL; // lives as long as the process; of exactly that size, so that reads beyond it are seen
        if (posix_memalign(&bytes, 64, size) != 0) {
            abort();
        }
        memcpy(bytes, file, size);
        free(file);
        if (jnLoadAsset(&(jnAssetDef){.bytes = bytes, .size = size}, &assets[kind], NULL) != jn_ok) {
            abort();
        }
    }
    return assets[kind];
}
