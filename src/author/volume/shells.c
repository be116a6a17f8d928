// Which parts of a surface are rigid shells: plates, armour, eyeballs, teeth, buttons.
//
// A connected part, seams joined, whose skinning weight lies on one joint as good as wholly is carried by that joint
// and is no flesh; a part with blended weights is flesh. Where one joint moves everything, weights tell nothing, and
// all is flesh; where every part is rigid but one of them is nearly all there is (a slime with eyes on joints of their
// own), that one is the body and flesh. A character of nothing but shells (a robot) has no flesh.
#include "volume/surface_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

// Share of a part's weight on one joint from which it is rigid: an artist's brush leaves a little on others.
#define RIGID_SHARE 0.98

// Share of the volume of all parts from which a single one is the body.
#define BODY_SHARE 0.75

// Joints that the note names.
enum { MOST_NAMED = 6 };

/// A part's weight, by face and corner.
typedef struct Follower {
    int joint;            // that has the most of it
    double weight, total; // of that joint, of all
    double volume;        // signed
} Follower;

// Sums up one part. row: [jointCount], scratch.
static void Follow(const jnaCharacter* c, const jnaFaces* faces, int part, double* row, Follower* f)
{
    const double* origin = faces->positions + 3 * (size_t)faces->faces[faces->byPart[faces->partStarts[part]]][0];
    memset(row, 0, (size_t)c->jointCount * sizeof(*row));
    for (int32_t i = faces->partStarts[part]; i < faces->partStarts[part + 1]; ++i) {
        const int32_t* face = faces->faces[faces->byPart[i]];
        for (int k = 0; k < 3 * JNA_MAX_INFLUENCES; ++k) {
            const jnaInfluences* influences = &c->influences[face[k % 3]];
            double weight = (double)influences->weights[k / 3];
            row[influences->joints[k / 3]] += weight;
            f->total += weight;
        }
        f->volume += jnaVolume6(origin, faces->positions + 3 * (size_t)face[0], faces->positions + 3 * (size_t)face[1],
                         faces->positions + 3 * (size_t)face[2]) /
                     6;
    }
    for (int j = 0; j < c->jointCount; ++j) {
        f->joint = row[j] > row[f->joint] ? j : f->joint;
    }
    f->weight = row[f->joint];
}

static bool OneJointMovesAll(const jnaCharacter* c)
{
    int joint = -1;
    for (int i = 0; i < c->vertexCount * JNA_MAX_INFLUENCES; ++i) {
        const jnaInfluences* influences = &c->influences[i / JNA_MAX_INFLUENCES];
        if (influences->weights[i % JNA_MAX_INFLUENCES] > 0) {
            if (joint >= 0 && influences->joints[i % JNA_MAX_INFLUENCES] != joint) {
                return false;
            }
            joint = influences->joints[i % JNA_MAX_INFLUENCES];
        }
    }
    return true;
}

static int LargestPart(const Follower* followers, int count, double* share)
{
    int largest = 0;
    double sum = 0;
    for (int p = 0; p < count; ++p) {
        sum += fabs(followers[p].volume);
        largest = fabs(followers[p].volume) > fabs(followers[largest].volume) ? p : largest;
    }
    *share = sum > 0 ? fabs(followers[largest].volume) / sum : 0;
    return largest;
}

// Decides on each part. Returns the number of shells.
static int MarkShells(const jnaCharacter* c, jnaFaces* faces, jnaShells shells, const Follower* followers)
{
    double share;
    int largest = LargestPart(followers, faces->componentCount, &share), count = 0;
    if (shells == jna_shellsAuto && OneJointMovesAll(c)) {
        return 0;
    }
    for (int p = 0; p < faces->componentCount; ++p) {
        const Follower* f = &followers[p];
        bool rigid = shells == jna_shellsRigid ? p != largest : f->weight >= RIGID_SHARE * f->total;
        faces->role[p] = rigid ? jna_partShell : faces->role[p];
        count += rigid;
    }
    if (count == faces->componentCount && share > BODY_SHARE) {
        faces->role[largest] = jna_partBoundary;
        count--;
    }
    return count;
}

// "27 parts follow one joint each and are carried by skinning: 5 of Head, 3 of LeftHand, ..."
static void TellShells(
    const jnaCharacter* c, const jnaFaces* faces, const Follower* followers, int count, int* byJoint, jnaNotes* notes)
{
    char list[JNA_NOTE_LENGTH / 2] = "";
    size_t used = 0;
    int named = 0, rest = 0;
    for (int p = 0; p < faces->componentCount; ++p) {
        byJoint[followers[p].joint] += faces->role[p] == jna_partShell;
    }
    for (int j = 0; j < c->jointCount; ++j) {
        if (byJoint[j] > 0 && named < MOST_NAMED && used + JNA_NAME_LENGTH + 24 < sizeof(list)) {
            used += (size_t)snprintf(
                list + used, sizeof(list) - used, "%s%d of %s", named > 0 ? ", " : "", byJoint[j], c->joints[j].name);
            named++;
        } else {
            rest += byJoint[j];
        }
    }
    char more[40] = "";
    if (rest > 0) {
        snprintf(more, sizeof(more), " and %d of other joints", rest);
    }
    int flesh = faces->componentCount - count;
    if (count == 1) {
        jnaNotes_Add(notes, "a part follows one joint and is carried by skinning: %s; %d taken for flesh", list, flesh);
    } else {
        jnaNotes_Add(notes, "%d parts follow one joint each and are carried by skinning: %s%s; %d taken for flesh",
            count, list, more, flesh);
    }
}

jnResult jnaFaces_FindShells(jnaFaces* faces, const jnaCharacter* character, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error)
{
    int parts = faces->componentCount;
    jnaArena arena = {0};
    faces->role = jnaArena_Give(&arena, parts, sizeof(*faces->role));
    JN_PASS(jnaArena_Check(&arena, "a surface", error));
    if (character->influences == NULL || character->jointCount < 1 || shells == jna_shellsFlesh) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    Follower* followers = jnaArena_Take(&arena, parts, sizeof(*followers));
    double* row = jnaArena_Take(&arena, character->jointCount, sizeof(*row));
    int* byJoint = jnaArena_Take(&arena, character->jointCount, sizeof(*byJoint));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    JN_TRY(jnaFaces_ListParts(faces, error));
    for (int p = 0; p < parts; ++p) {
        Follow(character, faces, p, row, &followers[p]);
    }
    surface->report.shellCount = MarkShells(character, faces, shells, followers);
    if (surface->report.shellCount > 0) {
        TellShells(character, faces, followers, surface->report.shellCount, byJoint, notes);
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
