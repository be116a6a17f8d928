// A Collada file without its morph targets, in memory. Assimp 5.2 takes the reference of a morph controller to its mesh
// with the '#' in front and then refuses the whole file; without the controllers the rest of it arrives.
//
// Three things are taken out: controllers with a <morph>, references to one, which become references to the mesh that
// it starts from, and animation channels of weights.
#include "character/mesh_cache_internal.h"
#include "character/source_points.h"

#include <stdlib.h>

enum { MAX_MORPHS = 256 };

typedef struct Morph {
    char id[JNA_MAX_ATTRIBUTE], mesh[JNA_MAX_ATTRIBUTE]; // quoted as in a reference: "#name"
} Morph;

typedef struct Morphs {
    int count;
    Morph list[MAX_MORPHS];
} Morphs;

static bool Begins(const char* at, const char* words)
{
    return strncmp(at, words, strlen(words)) == 0;
}

// Where an element ends that begins here with a tag: behind its closing tag, or behind "/>". NULL: it does not.
static const char* EndOf(const char* at, const char* closing)
{
    const char* tag = strchr(at, '>');
    if (tag == NULL || tag[-1] == '/') {
        return tag != NULL ? tag + 1 : NULL;
    }
    const char* end = strstr(tag, closing);
    return end != NULL ? end + strlen(closing) : NULL;
}

// The end of a controller that morphs; NULL where none begins here. morph: what it is called and starts from.
static const char* EndOfMorph(const char* at, Morph* morph)
{
    char id[JNA_MAX_ATTRIBUTE - 4], source[JNA_MAX_ATTRIBUTE - 4];
    const char* end = Begins(at, "<controller") ? EndOf(at, "</controller>") : NULL;
    const char* inner = end != NULL ? strstr(at, "<morph") : NULL;
    if (inner == NULL || inner >= end || !jnaTakeAttribute(at, strchr(at, '>'), " id", id, sizeof(id)) ||
        !jnaTakeAttribute(inner, strchr(inner, '>'), " source", source, sizeof(source))) {
        return NULL;
    }
    snprintf(morph->id, sizeof(morph->id), "\"#%s\"", id);
    snprintf(morph->mesh, sizeof(morph->mesh), "\"%s\"", source);
    return end;
}

static const char* EndOfWeights(const char* at)
{
    char target[JNA_MAX_ATTRIBUTE];
    const char* end = Begins(at, "<channel") ? EndOf(at, "</channel>") : NULL;
    bool moves = end != NULL && jnaTakeAttribute(at, end, " target", target, sizeof(target)) &&
                 (strcasestr(target, "weight") != NULL || strcasestr(target, "morph") != NULL);
    return moves ? end : NULL;
}

static const Morph* Reference(const char* at, const Morphs* morphs)
{
    for (int i = 0; at[0] == '"' && at[1] == '#' && i < morphs->count; ++i) {
        if (Begins(at, morphs->list[i].id)) {
            return &morphs->list[i];
        }
    }
    return NULL;
}

static void Copy(const char* text, const Morphs* morphs, FILE* to)
{
    Morph unused;
    for (const char* at = text; *at != '\0';) {
        const char* end = *at == '<' ? EndOfMorph(at, &unused) : NULL;
        end = end == NULL && *at == '<' ? EndOfWeights(at) : end;
        const Morph* reference = Reference(at, morphs);
        if (reference != NULL) {
            fputs(reference->mesh, to);
            end = at + strlen(reference->id);
        } else if (end == NULL) {
            putc(*at, to);
        }
        at = end != NULL ? end : at + 1;
    }
}

char* jnaTakeColladaMorphs(const char* path, size_t* size)
{
    char *text = NULL, *rest = NULL;
    size_t length = 0;
    if (jnaReadText(path, &text, &length, NULL) != jn_ok) {
        return NULL;
    }
    Morphs* morphs = calloc(1, sizeof(*morphs));
    for (const char* at = strstr(text, "<controller"); morphs != NULL && at != NULL && morphs->count < MAX_MORPHS;
         at = strstr(at + 1, "<controller")) {
        morphs->count += EndOfMorph(at, &morphs->list[morphs->count]) != NULL;
    }
    FILE* memory = morphs != NULL && morphs->count > 0 ? open_memstream(&rest, size) : NULL;
    if (memory != NULL) {
        Copy(text, morphs, memory);
        if (fclose(memory) != 0) {
            free(rest);
            rest = NULL;
        }
    }
    free(morphs);
    free(text);
    return rest;
}
