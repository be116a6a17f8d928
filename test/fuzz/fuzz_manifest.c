// Whatever the text of a manifest: settings that can be written and read again, or an error with the line.
#include "input_file.h"
#include "workspace/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    jnaManifest manifest, again;
    jnError error;
    if (jnaReadManifest(WriteInput(".yaml", data, size), &manifest, &error) != jn_ok) {
        return 0;
    }
    char path[96];
    snprintf(path, sizeof(path), "%s/again.yaml", FuzzFolder());
    if (jnaWriteManifest(path, &manifest, &error) == jn_ok) {
        if (jnaReadManifest(path, &again, &error) != jn_ok) {
            fprintf(stderr, "what was written cannot be read: %s\n", error.message);
            abort();
        }
        jnaDestroyManifest(&again);
    }
    jnaDestroyManifest(&manifest);
    return 0;
}
