// See morph_document.h.
#include "asset/morph_document.h"

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
    size_t clips = (size_t)def->asset->clipCount + 1;
    *d = (jnaMorphDocument){.clipCount = def->asset->clipCount};
    d->animations = calloc(clips, sizeof(*d->animations));
    d->starts = calloc(clips, sizeof(*d->starts));
    jnResult result = jn_ok;
    if (d->animations == NULL || d->starts == NULL) {
        JN_TRY(jnFail(error, jn_outOfMemory, "out of memory for the glTF of '%s'", def->asset->name));
    }
    JN_TRY(def->source != NULL ? jnaTakeSourceDocument(def, d, error) : jnaMakeAssetDocument(def, d, error));
done:
    if (result != jn_ok) {
        jnaDestroyMorphDocument(d);
    }
    return result;
}
