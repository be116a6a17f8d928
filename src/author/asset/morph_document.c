// See morph_document.h.
#include "asset/morph_document.h"

#include "base/arena.h"
#include "base/try.h"

#include "runtime/for_author.h"

#include <stdlib.h>

void jnaDestroyMorphDocument(jnaMorphDocument* d)
{
    for (int i = 0; i < d->partCount; ++i) {
        free(d->parts[i].vertices);
    }
    free(d->parts);
    free(d->animations);
    free(d->starts);
    jnaDestroyGlbBuffer(&d->buffer);
    json_decref(d->root);
    *d = (jnaMorphDocument){0};
}

json_t* jnaGltfList(json_t* object, const char* name)
{
    json_t* list = json_object_get(object, name);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(object, name, list);
    }
    return list;
}

jnResult jnaCreateMorphDocument(const jnaMorphDocumentDef* def, jnaMorphDocument* d, jnError* error)
{
    jnaArena arena = {0};
    *d = (jnaMorphDocument){.clipCount = def->asset->clipCount};
    d->animations = jnaArena_Give(&arena, d->clipCount, sizeof(*d->animations));
    d->starts = jnaArena_Give(&arena, d->clipCount, sizeof(*d->starts));
    jnResult result = jn_ok;
    JN_TRY(jnaArena_Check(&arena, "the clips of a glTF file", error));
    JN_TRY(def->source != NULL ? jnaTakeSourceDocument(def, d, error) : jnaMakeAssetDocument(def, d, error));
done:
    if (result != jn_ok) {
        jnaDestroyMorphDocument(d);
    }
    return result;
}
