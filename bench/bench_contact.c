// jounce-bench contact: looking for self-contact in skinned poses, against one pass over the tetrahedra.
#include "base/clock.h"
#include "base/try.h"
#include "bench.h"
#include "character/figure.h"
#include "character/import.h"
#include "cli.h"
#include "draw/contact_picture.h"
#include "flesh/contact.h"
#include "helpers/bend.h"
#include "measure.h"
#include "volume/bones.h"
#include "volume/posing.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

#include <stdlib.h>
#include <string.h>

/// All that the races share.
typedef struct Scene {
    jnaCharacter character;
    jnaVolume volume;
    jnaClip clip;
    jnaContactShape* shape;
    jnaContactFinder* finder;
    jnaContacts contacts;
    double *transforms, *nodes, *boxes;
    jnaPenetration penetration;
    jnResult result;
    jnError error;
} Scene;

static jnResult LoadCharacter(const char* file, jnaCharacter* character, jnError* error)
{
    if (file == NULL) {
        return jnaCreateFigure(character, error);
    }
    jnaImportDef def = jnaDefaultImportDef();
    jnaClipList clips = {0};
    jnResult result = jnaImportCharacter(file, &def, character, &clips, NULL, NULL, error);
    jnaDestroyClipList(&clips);
    return result;
}

static jnResult FillVolume(Scene* s, jnError* error)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    JN_PASS(jnaCreateVolume(&s->character, &def, &s->volume, NULL, NULL, error));
    JN_PASS(jnaVolume_CarryWeights(&s->volume, &s->character, &weights, error));
    JN_PASS(jnaVolume_PlaceBones(&s->volume, &s->character, NULL, NULL, NULL, error));
    return jnaVolume_FillMaterials(&s->volume, &s->character, NULL, error);
}

static jnResult CreateScene(const char* file, Scene* s, double* seconds, jnError* error)
{
    JN_PASS(LoadCharacter(file, &s->character, error));
    JN_PASS(FillVolume(s, error));
    JN_PASS(jnbCreateBends(&s->character, 1, &s->clip, error));
    double start = jnaWallClock();
    jnaContactDef def = jnaDefaultContactDef(&s->volume);
    JN_PASS(jnaCreateContactShape(&def, &s->shape, error));
    *seconds = jnaWallClock() - start;
    JN_PASS(jnaCreateContactFinder(s->shape, &s->finder, error));
    s->transforms = calloc(12 * (size_t)s->character.jointCount, sizeof(double));
    s->nodes = calloc(3 * (size_t)s->volume.nodeCount, sizeof(double));
    s->boxes = calloc(6 * (size_t)s->volume.tetrahedronCount, sizeof(double));
    if (s->transforms == NULL || s->nodes == NULL || s->boxes == NULL) {
        snprintf(error->message, sizeof(error->message), "out of memory for the benchmark");
        JN_PASS(error->code = jn_outOfMemory);
    }
    return jn_ok;
}

static void DestroyScene(Scene* s)
{
    jnaDestroyContacts(&s->contacts);
    jnaDestroyContactFinder(s->finder);
    jnaDestroyContactShape(s->shape);
    jnaDestroyClip(&s->clip);
    jnaDestroyVolume(&s->volume);
    jnaDestroyCharacter(&s->character);
    free(s->transforms);
    free(s->nodes);
    free(s->boxes);
}

// The limit: gathers the corners of every tetrahedron and writes its box.
static void RunPass(void* user)
{
    Scene* s = user;
    for (int t = 0; t < s->volume.tetrahedronCount; ++t) {
        const int32_t* c = s->volume.tetrahedra + 4 * (size_t)t;
        for (int i = 0; i < 3; ++i) {
            double a = s->nodes[3 * c[0] + i], b = s->nodes[3 * c[1] + i], d = s->nodes[3 * c[2] + i],
                   e = s->nodes[3 * c[3] + i];
            double low1 = a < b ? a : b, low2 = d < e ? d : e, high1 = a < b ? b : a, high2 = d < e ? e : d;
            s->boxes[6 * (size_t)t + (size_t)i] = low1 < low2 ? low1 : low2;
            s->boxes[6 * (size_t)t + 3 + (size_t)i] = high1 > high2 ? high1 : high2;
        }
    }
}

static void RunFirst(void* user)
{
    Scene* s = user;
    s->contacts.count = 0;
    s->result = jnaContactFinder_Find(s->finder, s->nodes, &s->contacts, &s->penetration, &s->error);
}

static void RunAgain(void* user)
{
    Scene* s = user;
    s->result = jnaContactFinder_Find(s->finder, s->nodes, &s->contacts, &s->penetration, &s->error);
}

static void PrintRow(Scene* s, const char* name, double seconds)
{
    jnbContender race[] = {{.name = "pass", .run = RunPass, .user = s}, {.name = "first", .run = RunFirst, .user = s},
        {.name = "again", .run = RunAgain, .user = s}};
    jnbRace(race, 3, seconds);
    if (s->result != jn_ok) {
        jncFail(&s->error);
        return;
    }
    printf("  %-16s %6d %7.1f %8.1f %7d %10.2f %10.2f %11.1f\n", name, s->penetration.nodeCount,
        1e3 * s->penetration.depth, 1e6 * s->penetration.volume, s->contacts.count, 1e3 * race[1].min,
        1e3 * race[2].min, race[2].min / race[0].min);
}

int jnbBenchContact(const char* file, const char* keep, double seconds)
{
    Scene s = {0};
    jnError error = {0};
    double creation;
    jnResult result = CreateScene(file, &s, &creation, &error);
    if (result == jn_ok) {
        printf("contact of %s: %d nodes, %d tetrahedra; prepared in %.2f s\n", file != NULL ? file : "the figure",
            s.volume.nodeCount, s.volume.tetrahedronCount, creation);
        printf("                   nodes   depth   volume   pairs      first      again  again over a pass over\n"
               "  skinned pose    inside      mm      cm3                 ms         ms  all tetrahedra\n");
    }
    for (int frame = -1; result == jn_ok && frame < JNB_BENDS; ++frame) {
        jnaPoseTransforms(&s.character, frame >= 0 ? &s.clip : NULL, frame, s.transforms);
        jnaVolume_Skin(&s.volume, s.transforms, s.nodes);
        s.contacts.count = 0;
        PrintRow(&s, frame >= 0 ? jnbBends[frame].name : "rest", seconds / (JNB_BENDS + 1));
        if (keep != NULL && frame >= 0) {
            char path[1024];
            const double* list[1] = {s.nodes};
            snprintf(path, sizeof(path), "%s/contact_%d.png", keep, frame);
            result = jnaPictureContact(s.finder, 1, list, &jnbBends[frame].name, path, &error);
        }
    }
    DestroyScene(&s);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
