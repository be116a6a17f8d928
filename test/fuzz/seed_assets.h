// Small assets that need no file of the disk.
#pragma once

#include <stddef.h>

enum { SEED_ASSETS = 3 };

// The bytes of an asset; free them.
char* MakeSeedAsset(int kind, size_t* size);
