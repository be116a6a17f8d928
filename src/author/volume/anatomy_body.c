// What was recognised, as a table of parts and as lines for a person; and recognition without a volume.
#include "base/try.h"
#include "character/body.h"
#include "volume/anatomy_internal.h"

#include "runtime/for_author.h"

jnResult jnaFindAnatomy(const jnaCharacter* character, const jnaVolume* volume, jnaAnatomy* anatomy, jnError* error)
{
    jnaSlicer slicer = {0};
    jnaJointFlesh flesh = {0};
    *anatomy = (jnaAnatomy){0};
    jnResult result = jn_ok;
    JN_TRY(jnaCreateSlicer(volume, &slicer, error));
    JN_TRY(jnaCreateJointFlesh(volume, character, &slicer, &flesh, error));
    JN_TRY(jnaNameParts(character, &flesh, &slicer, anatomy, error));
done:
    jnaDestroyJointFlesh(&flesh);
    jnaDestroySlicer(&slicer);
    return result;
}

jnResult jnaFindSurfaceAnatomy(const jnaCharacter* c, jnaAnatomy* anatomy, jnError* error)
{
    jnaArena arena = {0};
    jnaJointFlesh flesh = {0};
    *anatomy = (jnaAnatomy){0};
    jnResult result = jn_ok;
    double* nodes = jnaArena_Take(&arena, c->vertexCount, 3 * sizeof(double));
    int32_t* triangles = jnaArena_Take(&arena, c->triangleCount, 3 * sizeof(int32_t));
    int32_t* nodeOf = jnaArena_Take(&arena, c->vertexCount, sizeof(int32_t));
    jnaSlicer slicer = {.nodes = nodes,
        .nodeCount = c->vertexCount,
        .triangleCount = c->triangleCount,
        .triangles = triangles,
        .heights = jnaArena_Take(&arena, c->vertexCount, sizeof(double))};
    JN_TRY(jnaArena_Check(&arena, "the parts of a body", error));
    for (int i = 0; i < 3 * c->vertexCount; ++i) {
        nodes[i] = (double)c->positions[i];
        nodeOf[i / 3] = i / 3;
    }
    for (int i = 0; i < 3 * c->triangleCount; ++i) {
        triangles[i] = c->weld[c->triangles[i]];
    }
    JN_TRY(jnaCreateSurfaceFlesh(c, &slicer, nodeOf, &flesh, error));
    JN_TRY(jnaNameParts(c, &flesh, &slicer, anatomy, error));
done:
    jnaDestroyJointFlesh(&flesh);
    jnaReleaseArena(&arena);
    return result;
}

void jnaAnatomy_Body(const jnaAnatomy* a, const jnaCharacter* c, int* joints)
{
    for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
        joints[s] = -1;
    }
    joints[jna_slotPelvis] = a->trunk ? a->pelvis : -1;
    joints[jna_slotChest] = a->trunk ? a->chest : -1;
    joints[jna_slotHead] = a->head;
    // The lowest joint of the neck.
    for (int j = a->head >= 0 ? c->joints[a->head].parent : -1; j >= 0; j = c->joints[j].parent) {
        if (a->parts[j] == jna_bodyNeck) {
            joints[jna_slotNeck] = j;
        }
    }
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        // Wings and a second pair of arms have no slot: the first limb of an end and a side takes it.
        bool counts = a->trunk && limb->hinge >= 0 && limb->side >= 0;
        int* slot = counts ? &joints[jnaLimbSlot(limb->hind, limb->side)] : NULL;
        if (slot != NULL && slot[0] < 0) {
            slot[0] = limb->root;
            slot[1] = limb->hinge;
            slot[2] = limb->end;
        }
    }
}

void jnaAnatomy_Tell(const jnaAnatomy* a, const jnaCharacter* c, jnaNotes* notes)
{
    static const char* const sides[3] = {"", "left ", "right "};
    if (a->trunk) {
        jnaNotes_Add(notes, "recognised trunk: pelvis at '%s', chest at '%s', head at '%s'%s",
            c->joints[a->pelvis].name, c->joints[a->chest].name, a->head >= 0 ? c->joints[a->head].name : "none",
            a->ribs[0][0] > 0 ? ", with a rib cage" : "");
    } else {
        jnaNotes_Add(notes, "no trunk was recognised: every joint with flesh has a plain bone");
    }
    for (int i = 0; i < a->limbCount; ++i) {
        const jnaLimb* limb = &a->limbs[i];
        const char* side = sides[limb->side + 1];
        if (limb->hinge >= 0) {
            jnaNotes_Add(notes, "recognised %s%s: '%s', %s '%s', %s '%s'", side, limb->leg ? "leg" : "arm",
                c->joints[limb->root].name, limb->leg ? "knee" : "elbow", c->joints[limb->hinge].name,
                limb->leg ? "ankle" : "wrist", c->joints[limb->end].name);
        } else {
            jnaNotes_Add(notes, "recognised limb without joints of its own: '%s'", c->joints[limb->root].name);
        }
    }
}
