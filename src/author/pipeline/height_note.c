// A word where a person's height is no person's; see height_note.h.
//
// Flesh is simulated in metres and seconds: a soldier of 6 m sways like a tree, one of 20 cm shivers. Only a body with
// pelvis, chest and head one above the other is judged; a dragon may have any size.
#include "pipeline/height_note.h"

#include "base/try.h"
#include "volume/anatomy.h"

// Metres; children and giants of stories are between them.
#define SMALLEST 0.5
#define TALLEST 2.5
// What the note proposes, metres: an adult.
#define USUAL 1.75
// An upright trunk leans by less than 45 degrees.
#define UPRIGHT 0.7

static bool IsPerson(const jnaAnatomy* anatomy, const jnaCharacter* character)
{
    int joints[JNA_BODY_SLOTS];
    jnaAnatomy_Body(anatomy, character, joints);
    return anatomy->trunk && anatomy->up[1] > UPRIGHT && joints[jna_slotPelvis] >= 0 && joints[jna_slotChest] >= 0 &&
           joints[jna_slotHead] >= 0;
}

jnResult jnaNoteHeight(const jnaCharacter* character, double scale, jnaNotes* notes, jnError* error)
{
    double height = jnaHeightOf(character);
    if (height >= SMALLEST && height <= TALLEST) {
        return jn_ok;
    }
    jnaAnatomy anatomy = {0};
    jnResult result = jnaFindSurfaceAnatomy(character, &anatomy, error);
    if (result == jn_ok && IsPerson(&anatomy, character)) {
        jnaNotes_Add(notes,
            "the character is %.3g m tall, and stands like a person: the unit of its file is probably another; --scale "
            "%.2g makes it %.3g m",
            height, scale * USUAL / height, USUAL);
    }
    jnaDestroyAnatomy(&anatomy);
    return result == jn_badData ? jn_ok : result;
}
