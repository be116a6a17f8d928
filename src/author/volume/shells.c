// Which connected parts of a surface are no flesh: pieces (plates, pouches, eyeballs, teeth) and sheets (coats, hems,
// hair cards).
//
// A piece hardly bends: one joint has as good as all of its weight, or its weights are nearly the same all over it, or
// it is small against the character. A sheet encloses next to nothing, or is open and lies over flesh. Where one joint
// moves everything, weights tell nothing, and all is flesh; where every part is a piece but one of them is nearly all
// there is (a slime with eyes on joints of their own), that one is the body and flesh. A character of nothing but
// pieces (a robot) has no flesh. What a person marked is above all that.
#include "volume/surface_internal.h"

#include "base/try.h"
#include "runtime/for_author.h"

// Fraction of a part's weight on one joint from which it is a piece: an artist's brush leaves a little on others.
#define RIGID_SHARE 0.98

// Bend (jnaPartMeasure) up to which a part is a piece. Shoulder plates and collars of game characters have 0.1 to 0.2,
// sleeves and trouser legs 0.6 and more. A large part of the flesh may be stiff and is flesh all the same.
#define LEAST_BEND 0.25
#define STIFF_VOLUME 0.2

// Of the character's size and area: a part this small is a piece however it bends.
#define SMALL_SIZE 0.065
#define SMALL_AREA 0.02

// Of the character's size: mean thickness of a sheet, and how deep under an open part another is looked for. A part
// that is open wide, such as a skirt, hangs farther from the legs.
#define SHEET_THICKNESS 0.0065
#define COVER_REACH 0.04
#define WIDE_REACH 0.12

// Open edges against the root of the area from which a part is open, or open wide, and the fraction of it that
// something lies under.
#define OPEN_RIM 0.3
#define WIDE_RIM 1.5
#define LEAST_COVER 0.45

// Fraction of the volume of all parts from which a single one is the body.
#define BODY_SHARE 0.75

// Joints that the note names.
enum { MOST_NAMED = 6 };

/// The whole surface.
typedef struct Whole {
    const jnaPartMeasure* measures; // [componentCount]
    double size, area, volume;
    int largest;      // part by volume
    int largestFlesh; // of those that more than one joint moves; -1: none
} Whole;

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

static bool HasOneJoint(const jnaPartMeasure* m)
{
    return m->weight >= RIGID_SHARE * m->total;
}

static Whole MeasureWhole(const jnaFaces* faces, const jnaPartMeasure* measures)
{
    Whole w = {.measures = measures, .largestFlesh = -1};
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int i = 0; i < 3 * faces->vertexCount; ++i) {
        low[i % 3] = fmin(low[i % 3], faces->positions[i]);
        high[i % 3] = fmax(high[i % 3], faces->positions[i]);
    }
    for (int i = 0; i < 3; ++i) {
        w.size = fmax(w.size, high[i] - low[i]);
    }
    for (int p = 0; p < faces->componentCount; ++p) {
        double volume = fabs(measures[p].volume);
        w.area += measures[p].area;
        w.volume += volume;
        w.largest = volume > fabs(measures[w.largest].volume) ? p : w.largest;
        bool flesh = !HasOneJoint(&measures[p]);
        if (flesh && (w.largestFlesh < 0 || volume > fabs(measures[w.largestFlesh].volume))) {
            w.largestFlesh = p;
        }
    }
    return w;
}

static bool IsPiece(const Whole* w, int part)
{
    const jnaPartMeasure* m = &w->measures[part];
    bool stiff = m->bend <= LEAST_BEND && fabs(m->volume) <= STIFF_VOLUME * w->volume;
    bool small = m->diagonal <= SMALL_SIZE * w->size && m->area <= SMALL_AREA * w->area;
    return HasOneJoint(m) || (part != w->largestFlesh && (stiff || small));
}

static bool IsThin(const Whole* w, int part)
{
    const jnaPartMeasure* m = &w->measures[part];
    return part != w->largestFlesh && 2 * fabs(m->volume) <= SHEET_THICKNESS * w->size * m->area;
}

static bool IsOpen(const jnaPartMeasure* m)
{
    return m->rim > OPEN_RIM * sqrt(m->area);
}

static bool IsCover(const jnaFaces* faces, const Whole* w, const jnaTree* tree, const int32_t* faceOf, int part)
{
    const jnaPartMeasure* m = &w->measures[part];
    double reach = (m->rim > WIDE_RIM * sqrt(m->area) ? WIDE_REACH : COVER_REACH) * w->size;
    return faces->kinds[part] == jna_skinFlesh && IsOpen(m) &&
           jnaFaces_Cover(faces, w->measures, tree, faceOf, part, reach) >= LEAST_COVER;
}

// Open parts over others. These are what they were before any is taken out, so that the order of parts is nothing.
static jnResult FindCovers(jnaFaces* faces, const Whole* w, jnError* error)
{
    jnaArena arena = {0};
    jnaTree tree = {0};
    jnResult result = jn_ok;
    int count = 0, open = 0;
    int32_t* triangles = jnaArena_Take(&arena, faces->count, 3 * sizeof(int32_t));
    int32_t* faceOf = jnaArena_Take(&arena, faces->count, sizeof(int32_t));
    bool* covers = jnaArena_Take(&arena, faces->componentCount, sizeof(*covers));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    for (int f = 0; f < faces->count; ++f) {
        if (faces->kinds[faces->component[f]] != jna_skinSheet) {
            memcpy(triangles + 3 * (size_t)count, faces->faces[f], 3 * sizeof(int32_t));
            faceOf[count++] = f;
        }
    }
    for (int p = 0; p < faces->componentCount; ++p) {
        open += faces->kinds[p] == jna_skinFlesh && IsOpen(&w->measures[p]);
    }
    if (open == 0) {
        goto done;
    }
    JN_TRY(jnaCreateTree(faces->positions, count, triangles, &tree, error));
    for (int p = 0; p < faces->componentCount; ++p) {
        covers[p] = IsCover(faces, w, &tree, faceOf, p);
    }
    for (int p = 0; p < faces->componentCount; ++p) {
        faces->kinds[p] = covers[p] ? jna_skinSheet : faces->kinds[p];
    }
done:
    jnaDestroyTree(&tree);
    jnaReleaseArena(&arena);
    return result;
}

// What a person said of a whole part: a role, or -1.
static int MarkOf(const jnaFaces* faces, int part)
{
    for (int role = jna_meshFlesh; role <= jna_meshRigid; ++role) {
        bool all = true;
        for (int32_t i = faces->partStarts[part]; all && i < faces->partStarts[part + 1]; ++i) {
            all = jnaFaces_IsMarked(faces, faces->byPart[i], (jnaMeshRole)role);
        }
        if (all) {
            return role;
        }
    }
    return -1;
}

// Decides on each part. shells: of the manifest; auto where all follow one joint is flesh.
static jnResult Decide(jnaFaces* faces, jnaShells shells, const Whole* w, jnError* error)
{
    static const jnaSkinKind kinds[3] = {jna_skinFlesh, jna_skinSheet, jna_skinRigid};
    int pieces = 0;
    for (int p = 0; p < faces->componentCount; ++p) {
        bool piece = (shells == jna_shellsRigid && p != w->largest) || (shells == jna_shellsAuto && IsPiece(w, p));
        bool sheet = shells == jna_shellsAuto && IsThin(w, p);
        faces->kinds[p] = piece ? jna_skinPiece : sheet ? jna_skinSheet : jna_skinFlesh;
        pieces += piece;
    }
    if (pieces == faces->componentCount && fabs(w->measures[w->largest].volume) > BODY_SHARE * w->volume) {
        faces->kinds[w->largest] = jna_skinFlesh;
    }
    if (shells == jna_shellsAuto) {
        JN_PASS(FindCovers(faces, w, error));
    }
    for (int p = 0; faces->marks != NULL && p < faces->componentCount; ++p) {
        int role = MarkOf(faces, p);
        faces->kinds[p] = role >= 0 ? kinds[role] : faces->kinds[p];
    }
    return jn_ok;
}

// "27 parts hardly bend and move as one piece each: 5 of Head, 3 of LeftHand, ..."
static void TellPieces(const jnaCharacter* c, const jnaFaces* faces, const jnaPartMeasure* measures, int count,
    int flesh, int* byJoint, jnaNotes* notes)
{
    char list[JNA_NOTE_LENGTH / 2] = "";
    size_t used = 0;
    int named = 0, rest = 0;
    for (int p = 0; p < faces->componentCount; ++p) {
        byJoint[measures[p].joint] += faces->kinds[p] == jna_skinPiece;
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
    if (count == 1) {
        jnaNotes_Add(notes, "a part hardly bends and moves as one piece: %s; %d taken for flesh", list, flesh);
    } else {
        jnaNotes_Add(notes, "%d parts hardly bend and move as one piece each: %s%s; %d taken for flesh", count, list,
            more, flesh);
    }
}

static void TellShells(
    const jnaCharacter* c, const jnaFaces* faces, const jnaPartMeasure* measures, int* byJoint, jnaNotes* notes)
{
    int counts[jna_skinRigid + 1] = {0};
    for (int p = 0; p < faces->componentCount; ++p) {
        counts[faces->kinds[p]]++;
    }
    if (counts[jna_skinPiece] > 0) {
        TellPieces(c, faces, measures, counts[jna_skinPiece], counts[jna_skinFlesh], byJoint, notes);
    }
    if (counts[jna_skinSheet] > 0) {
        jnaNotes_Add(notes, "%d %s (clothes, hems, hair cards) and follow the flesh under them", counts[jna_skinSheet],
            counts[jna_skinSheet] == 1 ? "part is a sheet" : "parts are sheets");
    }
}

static int TakeOut(jnaFaces* faces)
{
    int count = 0;
    for (int p = 0; p < faces->componentCount; ++p) {
        bool flesh = faces->kinds[p] == jna_skinFlesh;
        faces->role[p] = flesh ? jna_partBoundary : jna_partShell;
        count += !flesh;
    }
    return count;
}

jnResult jnaFaces_FindShells(jnaFaces* faces, const jnaCharacter* character, jnaShells shells, jnaSurface* surface,
    jnaNotes* notes, jnError* error)
{
    int parts = faces->componentCount;
    jnaArena arena = {0};
    faces->role = jnaArena_Give(&arena, parts, sizeof(*faces->role));
    faces->kinds = jnaArena_Give(&arena, parts, sizeof(*faces->kinds));
    JN_PASS(jnaArena_Check(&arena, "a surface", error));
    if (character->influences == NULL || character->jointCount < 1) {
        return jn_ok;
    }
    jnResult result = jn_ok;
    jnaPartMeasure* measures = jnaArena_Take(&arena, parts, sizeof(*measures));
    int* byJoint = jnaArena_Take(&arena, character->jointCount, sizeof(*byJoint));
    JN_TRY(jnaArena_Check(&arena, "a surface", error));
    JN_TRY(jnaFaces_ListParts(faces, error));
    JN_TRY(jnaFaces_Measure(faces, character, measures, error));
    Whole whole = MeasureWhole(faces, measures);
    shells = shells == jna_shellsAuto && OneJointMovesAll(character) ? jna_shellsFlesh : shells;
    JN_TRY(Decide(faces, shells, &whole, error));
    surface->report.shellCount = TakeOut(faces);
    TellShells(character, faces, measures, byJoint, notes);
    if (shells == jna_shellsAuto) {
        JN_TRY(jnaFaces_FindOutfit(faces, character, notes, error));
    }
done:
    jnaReleaseArena(&arena);
    return result;
}
