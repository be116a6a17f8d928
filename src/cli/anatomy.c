// jounce anatomy: how soft a character's flesh is, by region of the body.
#include "anatomy.h"
#include "base/try.h"
#include "cli.h"
#include "draw/softness_picture.h"
#include "pipeline/softness.h"
#include "surface.h"
#include "workspace/store.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static void PrintExpected(const jnaSag* sag, jnaRegion region)
{
    const jnaSagBounds* bounds = &sag->expected[region];
    char text[32] = "";
    if (jnaSag_Judge(sag, region, 0) != jna_sagUnknown) {
        snprintf(text, sizeof(text), "%.1f-%.1f", 1e3 * bounds->least, 1e3 * bounds->most);
    }
    printf("   %-9s", text);
}

static void PrintRegions(const jnaSoftness* s)
{
    printf(
        "How far the skin sags under gravity (1 g), in mm: the median of each region for gravity along -Y, -X and -Z, "
        "the\nlargest value along -Y, and what is expected of a human body of this physique; and the lowest frequency "
        "that\nmoves the region. Medians of soft regions are over skin that no bone holds.\n");
    printf("  region      vertices      -Y      -X      -Z   largest   expected     Hz\n");
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double median[3] = {0}, greatest[3] = {0};
        int count = 0;
        for (int axis = 0; axis < 3; ++axis) {
            count = jnaSag_Region(&s->sag, axis, (jnaRegion)r, &median[axis], &greatest[axis]);
        }
        if (count == 0) {
            printf("  %-10s %9s\n", jnaRegionNames[r], "n/a");
            continue;
        }
        printf("  %-10s %9d %7.2f %7.2f %7.2f %9.2f", jnaRegionNames[r], count, 1e3 * median[0], 1e3 * median[1],
            1e3 * median[2], 1e3 * greatest[0]);
        PrintExpected(&s->sag, (jnaRegion)r);
        if (s->modes[r] >= 0) {
            printf(" %5.1f", s->hertz[r]);
        } else {
            printf(" %5s", "-");
        }
        printf("   %s\n", jnaSagFit_Words(jnaSoftness_Judge(s, (jnaRegion)r, median[0])));
    }
}

// A line for each clip, in blocks of regions that fit the width.
static void PrintClips(const jnaSoftness* s)
{
    for (int i = 0; i < s->clipCount; ++i) {
        const jnaClipSoftness* clip = &s->clips[i];
        int shown = 0;
        printf("%s, %d frames %s: distance from the %s surface in mm: rms, largest (frame)\n", clip->name,
            clip->frameCount, clip->simulated ? "simulated" : "played by the modes",
            clip->against == jna_targetsQuasistatic ? "quasistatic" : "skinned");
        if (clip->simulated && clip->against != jna_targetsQuasistatic) {
            printf("  (includes the static effect of the pose; jounce simulate --clips separates the two)\n");
        }
        for (int r = 0; r < JNA_REGIONS; ++r) {
            const jnaRegionMotion* motion = &clip->regions[r];
            double median, greatest;
            if (jnaSag_Region(&s->sag, 0, (jnaRegion)r, &median, &greatest) == 0) {
                continue;
            }
            printf("  %-9s %6.2f %7.2f (%4d)%s", jnaRegionNames[r], 1e3 * motion->rms, 1e3 * motion->most,
                motion->frame, shown % 3 == 2 ? "\n" : "");
            shown++;
        }
        printf("%s", shown % 3 != 0 ? "\n" : "");
        if (s->lipPairs > 0) {
            printf("  lips open by %.2f mm at most (frame %d)\n", 1e3 * clip->lips, clip->lipsFrame);
        } else {
            printf("  lips: n/a\n");
        }
    }
}

// Travel in the standard motions, frequency and damping of each region that moves at all.
static void PrintMoves(const jnaSoftness* s)
{
    printf("As people move: peak-to-peak travel against the bones, in mm, that a tenth of the region's "
           "vertices exceed,\nin a standard walk, run and drop from 30 cm; and the region's lowest frequency and its "
           "damping ratio\n");
    printf("  region        walk    run   drop     Hz  ratio\n");
    for (int r = 0; r < JNA_REGIONS; ++r) {
        if (s->modes[r] < 0) {
            continue;
        }
        printf("  %-10s", jnaRegionNames[r]);
        for (int i = 0; i < JNA_STANDARD_MOVES; ++i) {
            printf(" %6.1f", 1e3 * s->travel[i][r]);
        }
        printf("   %4.1f   %4.2f\n", s->hertz[r], s->ratio[r]);
    }
}

static void PrintPeople(const jnaSoftness* s)
{
    static const char* const quantities[JNA_PEOPLE_QUANTITIES] = {"walk, mm", "run, mm", "drop, mm", "Hz", "ratio"};
    const jnaPeopleMeasurement* list;
    int count = jnaPeopleMeasurements(&list);
    printf("Measured on people          people   here\n");
    for (int i = 0; i < count; ++i) {
        double own = jnaSoftness_Against(s, &list[i]);
        bool length = list[i].quantity < jna_peopleHertz;
        double unit = length ? 1e3 : 1;
        char range[32];
        int digits = length ? 0 : list[i].quantity == jna_peopleRatio ? 2 : 1;
        snprintf(range, sizeof(range), "%.*f-%.*f", digits, unit * list[i].least, digits, unit * list[i].most);
        if (own >= 0) {
            printf("  %-8s %-9s %10s %6.*f   %s (%s)\n", jnaRegionNames[list[i].region], quantities[list[i].quantity],
                range, digits, unit * own, list[i].of, list[i].source);
        }
    }
}

static void PrintPhysique(const jnaPhysique* physique)
{
    jnaNotes notes = {0};
    jnaPhysique_Tell(physique, &notes);
    for (int i = 0; i < notes.count; ++i) {
        printf("%s\n", notes.lines[i]);
    }
    jnaDestroyNotes(&notes);
}

static void PrintAll(const jnaSoftness* s)
{
    PrintPhysique(&s->sag.physique);
    PrintRegions(s);
    if (s->modeCount == 0) {
        printf("no vibration modes yet; `jounce modes` computes them\n");
    }
    if (!s->sag.human) {
        printf("not a standing human body: the regions are measured, but not compared with people\n");
    }
    if (s->lipPairs > 0) {
        printf("lips: %d pairs of vertices touch at rest, %.2f mm apart at most\n", s->lipPairs, 1e3 * s->lipsRest);
    } else {
        printf("lips: n/a, no lips touch at rest\n");
    }
    if (s->moved) {
        PrintMoves(s);
        PrintPeople(s);
    }
    PrintClips(s);
    for (int i = 0; i < s->warnings.count; ++i) {
        printf("warning: %s\n", s->warnings.lines[i]);
    }
}

static jnResult Draw(const char* workspace, const jnaSag* sag, const char* path, jnError* error)
{
    jnaCharacter character = {0};
    jnaPicture picture = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaLoadCharacter(workspace, &character, error));
    JN_TRY(jnaDrawSoftness(sag, &character, NULL, &picture, NULL, error));
    JN_TRY(jnaPicture_Write(&picture, path, error));
done:
    jnaDestroyPicture(&picture);
    jnaDestroyCharacter(&character);
    return result;
}

static int Run(const char* workspace, const char* picture, bool json)
{
    jnError error = {0};
    jnaSoftness softness = {0};
    jnaSoftnessDef def = jnaDefaultSoftnessDef();
    jncProgress progress = jncBeginProgress("measuring");
    def.watch = (jnaWatch){jncShowProgress, &progress};
    jnResult result = jnaMeasureSoftness(workspace, &def, &softness, &error);
    jncEndProgress(&progress);
    JN_TRY(result);
    JN_TRY(picture != NULL ? Draw(workspace, &softness.sag, picture, &error) : jn_ok);
    if (json) {
        char* text = jnaSoftness_Json(&softness);
        result = text != NULL ? jn_ok : jn_outOfMemory;
        printf("%s\n", text != NULL ? text : "");
        free(text);
    } else {
        PrintAll(&softness);
        jncPrintSurface(workspace);
        if (picture != NULL) {
            printf("sag and regions drawn to %s\n", picture);
        }
    }
done:
    jnaDestroySoftness(&softness);
    return jncEnd(result, &error);
}

void jncPrintSoftness(const char* workspace)
{
    char path[PATH_MAX];
    jnError error = {0};
    jnaSoftness s = {0};
    jnaSoftnessDef def = jnaDefaultSoftnessDef();
    def.axes = 1;
    snprintf(path, sizeof(path), "%s/volume/held_by.npy", workspace);
    if (access(path, R_OK) != 0) {
        return;
    }
    if (jnaMeasureSoftness(workspace, &def, &s, &error) != jn_ok) {
        printf("  note: %s\n", error.message);
        return;
    }
    PrintPhysique(&s.sag.physique);
    printf("sag under 1 g, mm (expected of such a body):");
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double median = 0, greatest = 0;
        if (jnaSag_Region(&s.sag, 0, (jnaRegion)r, &median, &greatest) > 0) {
            const jnaSagBounds* bounds = &s.sag.expected[r];
            printf(" %s %.1f", jnaRegionNames[r], 1e3 * median);
            if (jnaSag_Judge(&s.sag, (jnaRegion)r, median) != jna_sagUnknown) {
                printf(" (%.1f-%.1f)", 1e3 * bounds->least, 1e3 * bounds->most);
            }
        }
    }
    printf("\n");
    for (int i = 0; i < s.warnings.count; ++i) {
        printf("warning: %s\n", s.warnings.lines[i]);
    }
    printf("jounce anatomy %s has more of it\n", workspace);
    jnaDestroySoftness(&s);
}

int jncAnatomy(int argc, char** argv)
{
    static const jncUsage usage = {"jounce anatomy WORKSPACE [--picture PNG] [--json]",
        "Measures how soft the flesh is in each region of the body, and compares it with people. Prints how far the "
        "skin\n"
        "sags under gravity in the rest pose, the lowest frequency of each region, how far the skin moves from where "
        "the\n"
        "pose puts it in each clip (simulated, or played by the modes), and how far lips that touch at rest come "
        "apart.\n"
        "Marks regions that are far from a human body. After a build, adds what the played surface does in each clip. "
        "Needs the volume of jounce tetrahedralize.\n",
        "  jounce anatomy hero --picture hero-anatomy.png\n"};
    const char *workspace = NULL, *picture = NULL;
    bool json = false;
    // clang-format off
    const jncOption options[] = {
        JNC_WORKSPACE(workspace),
        {JNC_TEXT("--picture", picture, "PNG", "draw sag and regions from front, side and back")},
        {JNC_FLAG("--json", json, "print everything as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    return code >= 0 ? code : Run(workspace, picture, json);
}
