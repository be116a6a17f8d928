// A glTF file with all that it names inside, from the child process that reads it.
#pragma once

#include "character/scene.h"

/// What the child writes first; the text and the buffer follow, or a sentence that says why there is none.
typedef struct jnaPackedHead {
    uint64_t good; // 1 or 0
    uint64_t textSize, binarySize;
} jnaPackedHead;

/// In the child. See jnaWriteReading; user is not used.
void jnaWritePackedGltf(const char* path, FILE* stream, void* user);
