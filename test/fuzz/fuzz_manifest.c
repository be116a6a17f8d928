// Whatever the text of a manifest: settings that can be written and read again, or an error with the line.
#include "memory_files.h"
#include "workspace/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaManifest manifest, again;
    jnError error;
    if (jnaReadManifest(PutFile("input.yaml", data, size), &manifest, &error) != jn_ok) {
        return 0;
    }
    if (jnaWriteManifest("again.yaml", &manifest, &error) == jn_ok) {
        if (jnaReadManifest("again.yaml", &again, &error) != jn_ok) {
            fprintf(stderr, "what was written cannot be read: %s\n", error.message);
            abort();
        }
        jnaDestroyManifest(&again);
    }
    jnaDestroyManifest(&manifest);
    return 0;
}
