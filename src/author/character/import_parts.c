// Which meshes of a file are flesh: by the name of the mesh, of a node that carries it, or of its material.
#include "character/import_internal.h"

#include "runtime/for_author.h"

#include <string.h>

static bool HasName(const jnaScene* scene, const jnaSceneMesh* mesh, const char* name)
{
    bool has = strcmp(mesh->name, name) == 0 || strcmp(mesh->material, name) == 0;
    for (int i = 0; i < mesh->placeCount && !has; ++i) {
        has = strcmp(scene->nodes[mesh->places[i]].name, name) == 0;
    }
    return has;
}

void jnaSetRoles(const jnaScene* scene, const jnaImportDef* def, jnaPlacement* placement)
{
    for (int m = 0; m < placement->count; ++m) {
        jnaPlacedMesh* placed = &placement->meshes[m];
        placed->role = def->role;
        for (int i = 0; i < def->partCount; ++i) {
            if (def->parts[i].name[0] != '\0' && HasName(scene, placed->mesh, def->parts[i].name)) {
                placed->role = def->parts[i].role;
                if (def->partsFound != NULL) {
                    def->partsFound[i] = true;
                }
            }
        }
    }
}

const char* jnaListParts(const jnaCharacter* c, char* text, size_t size)
{
    size_t length = 0;
    snprintf(text, size, "none");
    for (int p = 0; p < c->partCount; ++p) {
        const jnaPart* part = &c->parts[p];
        char entry[2 * JNA_NAME_LENGTH + 32];
        snprintf(entry, sizeof(entry), part->material[0] != '\0' ? "%s'%s' (material '%s')" : "%s'%s'",
            p > 0 ? ", " : "", part->name, part->material);
        if (length + strlen(entry) + 8 > size) {
            snprintf(text + length, size - length, ", ...");
            break;
        }
        length += (size_t)snprintf(text + length, size - length, "%s", entry);
    }
    return text;
}
