// Avatars that have no body under their clothes: head and hands end in the collar and the cuffs, and the outfit itself
// is all the flesh that there is.
//
// It shows in how the parts hang together: the one that has the most of the trunk has neither the head nor a hand,
// while another part has the head. Bodies in one mesh, and those whose seams were joined, have all of it in one part.
#include "volume/anatomy.h"
#include "volume/surface_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

// Fraction of a part's weight below which it has nothing of the head and hands, and above which it has a head.
#define NOTHING 0.02
#define SOME 0.2

/// Weight of a part by what the joints move.
typedef struct Shares {
    double trunk, head, hands, all;
} Shares;

static void AddCorner(const jnaCharacter* c, const jnaAnatomy* a, int32_t vertex, double area, Shares* s)
{
    for (int i = 0; i < JNA_MAX_INFLUENCES; ++i) {
        int joint = c->influences[vertex].joints[i];
        double weight = area * (double)c->influences[vertex].weights[i];
        jnaBodyPart part = (jnaBodyPart)a->parts[joint];
        int limb = a->limbOf[joint];
        s->trunk += part == jna_bodyTrunk ? weight : 0;
        s->head += part == jna_bodyHead ? weight : 0;
        s->hands += part == jna_bodyEnd && limb >= 0 && !a->limbs[limb].leg ? weight : 0;
        s->all += weight;
    }
}

static void SumShares(const jnaCharacter* c, const jnaAnatomy* a, const jnaFaces* faces, Shares* shares)
{
    for (int f = 0; f < faces->count; ++f) {
        const int32_t* face = faces->faces[f];
        double normal[3];
        jnaAreaVector(faces->positions + 3 * (size_t)face[0], faces->positions + 3 * (size_t)face[1],
            faces->positions + 3 * (size_t)face[2], normal);
        for (int k = 0; k < 3; ++k) {
            AddCorner(c, a, face[k], jnaLength(normal) / 6, &shares[faces->component[f]]);
        }
    }
}

// Whether the part with most of the trunk is clothes alone.
static bool IsOutfit(const jnaFaces* faces, const Shares* shares)
{
    int trunk = -1;
    bool head = false;
    for (int p = 0; p < faces->componentCount; ++p) {
        bool flesh = faces->kinds[p] == jna_skinFlesh;
        trunk = flesh && (trunk < 0 || shares[p].trunk > shares[trunk].trunk) ? p : trunk;
        head = head || shares[p].head > SOME * shares[p].all;
    }
    return trunk >= 0 && head && shares[trunk].trunk > SOME * shares[trunk].all &&
           shares[trunk].head + shares[trunk].hands < NOTHING * shares[trunk].all;
}

// Head and hands stay what they are, and what a person marked. Returns the number of parts.
static int MarkOutfit(jnaFaces* faces, const Shares* shares)
{
    int count = 0;
    for (int p = 0; p < faces->componentCount; ++p) {
        bool own = shares[p].head + shares[p].hands > SOME * shares[p].all;
        bool marked = jnaFaces_IsMarked(faces, faces->byPart[faces->partStarts[p]], jna_meshFlesh);
        if (faces->kinds[p] == jna_skinFlesh && !own && !marked) {
            faces->kinds[p] = jna_skinClothed;
            count++;
        }
    }
    return count;
}

jnResult jnaFaces_FindOutfit(jnaFaces* faces, const jnaCharacter* c, jnaNotes* notes, jnError* error)
{
    jnaArena arena = {0};
    jnaAnatomy anatomy = {0};
    jnResult result = jn_ok;
    Shares* shares = jnaArena_Take(&arena, faces->componentCount, sizeof(*shares));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    if (faces->componentCount < 2) {
        goto done;
    }
    JN_TRY(jnaFindSurfaceAnatomy(c, &anatomy, error));
    if (!anatomy.trunk || anatomy.head < 0) {
        goto done;
    }
    SumShares(c, &anatomy, faces, shares);
    if (!IsOutfit(faces, shares)) {
        goto done;
    }
    if (MarkOutfit(faces, shares) > 0) {
        jnaNotes_Add(notes,
            "there is no body under the clothes: the outfit is taken for flesh, and is stiffer than flesh (parts: in "
            "the manifest says otherwise)");
    }
done:
    jnaDestroyAnatomy(&anatomy);
    jnaReleaseArena(&arena);
    return result;
}
