// The assets of the platforms' tests as seeds: their names clash with those of the models.
#include "seed_assets.h"

#include "platforms/golden_asset.h"

char* MakeSeedAsset(int kind, size_t* size)
{
    return MakeGoldenAsset((GoldenKind)kind, 13, 5, size);
}
