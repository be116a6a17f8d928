// jounce-bench modes --meshes: the lowest frequencies of a character's flesh on meshes of several sizes. A model of
// flesh and bones that does not depend on the mesh gives the same ones on all. First with the regions' own stiffness,
// which shows what the elements and the holding do; then calibrated, which is what a build leaves.
#include "base/affine.h"
#include "base/arena.h"
#include "base/try.h"
#include "bench.h"
#include "character/figure.h"
#include "character/import.h"
#include "cli.h"
#include "flesh/sag.h"
#include "modes/elastic.h"
#include "volume/bones.h"
#include "volume/tetrahedralize.h"
#include "volume/weights.h"

#include "runtime/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COUNT = 10,           // frequencies that are compared
    ASKED = COUNT + 6 * 4 // and room for the motions of four pieces that no bone holds
};

#define LOOSE_HERTZ 0.05 // slower than any flesh: a piece that no bone holds

typedef struct Spectrum {
    const char* method;
    int nodeCount, tetrahedronCount, heldCount;
    double hertz[COUNT]; // 0 where there are fewer
} Spectrum;

static jnResult CreateMesh(const jnaCharacter* character, jnaVolumeMethod method, int nodes, bool calibrated,
    jnaVolume* volume, jnError* error)
{
    jnaVolumeDef def = jnaDefaultVolumeDef();
    jnaWeightsDef weights = jnaDefaultWeightsDef();
    def.method = method;
    def.nodes = nodes;
    JN_PASS(jnaCreateVolume(character, &def, volume, NULL, NULL, error));
    JN_PASS(jnaVolume_CarryWeights(volume, character, &weights, error));
    JN_PASS(jnaVolume_PlaceBones(volume, character, NULL, NULL, NULL, error));
    JN_PASS(jnaVolume_FillMaterials(volume, character, NULL, error));
    return calibrated ? jnaVolume_CalibrateMaterials(volume, character, NULL, NULL, error) : jn_ok;
}

static jnResult FindSpectrum(const jnaVolume* volume, Spectrum* spectrum, jnError* error)
{
    jnaElastic* elastic = NULL;
    jnaArena arena = {0};
    jnResult result = jn_ok;
    double omega2[ASKED];
    int found = 0, used = 0;
    JN_TRY(jnaCreateElastic(volume, NULL, &elastic, error));
    double* shapes = jnaArena_Take(&arena, jnaElastic_FreeCount(elastic), 3 * ASKED * sizeof(double));
    JN_TRY(jnaArena_Check(&arena, "modes", error));
    JN_TRY(jnaElastic_FindModes(elastic, ASKED, omega2, shapes, &found, NULL, error));
    for (int k = 0; k < found && used < COUNT; ++k) {
        double hertz = sqrt(fmax(omega2[k], 0)) / JNA_TURN;
        if (hertz > LOOSE_HERTZ) {
            spectrum->hertz[used++] = hertz;
        }
    }
    spectrum->nodeCount = volume->nodeCount;
    spectrum->tetrahedronCount = volume->tetrahedronCount;
    for (int n = 0; n < volume->nodeCount; ++n) {
        spectrum->heldCount += volume->heldBy[n] >= 0;
    }
done:
    jnaReleaseArena(&arena);
    jnaDestroyElastic(elastic);
    return result;
}

// Changes against the finest mesh of all, the last in the list.
static void PrintChanges(const Spectrum* list, int count)
{
    const Spectrum* finest = &list[count - 1];
    printf("  change against the last, %%\n");
    for (int i = 0; i + 1 < count; ++i) {
        double greatest = 0;
        printf("  %-8s %7d                     ", list[i].method, list[i].nodeCount);
        for (int k = 0; k < COUNT; ++k) {
            double change = finest->hertz[k] > 0 ? 100 * (list[i].hertz[k] / finest->hertz[k] - 1) : 0;
            greatest = fmax(greatest, fabs(change));
            printf(" %+6.1f", change);
        }
        printf("   at most %.1f\n", greatest);
    }
}

static void PrintSpectrum(const Spectrum* s)
{
    printf("  %-8s %7d  %10d  %5.1f %%", s->method, s->nodeCount, s->tetrahedronCount,
        100.0 * s->heldCount / s->nodeCount);
    for (int k = 0; k < COUNT; ++k) {
        printf(" %6.2f", s->hertz[k]);
    }
    printf("\n");
    fflush(stdout);
}

static jnResult PrintMeshes(const jnaCharacter* character, bool calibrated, jnError* error)
{
    static const int sizes[] = {3000, 6000, 12000, 24000, 48000};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
    Spectrum list[2 * SIZES] = {{0}};
    int count = 0;
    printf("  mesh       nodes  tetrahedra    held  first %d frequencies, Hz, %s\n", COUNT,
        calibrated ? "calibrated" : "stiffness of the regions");
    for (int i = 0; i < 2 * SIZES; ++i) {
        bool lattice = i >= SIZES;
        jnaVolume volume = {0};
        Spectrum* s = &list[count];
        *s = (Spectrum){.method = lattice ? "lattice" : "tetgen"};
        jnResult result = CreateMesh(
            character, lattice ? jna_volumeLattice : jna_volumeTetgen, sizes[i % SIZES], calibrated, &volume, error);
        // TetGen keeps the skin's vertices: below a certain size the mesh is the same again.
        bool again = count > 0 && s[-1].method == s->method && s[-1].nodeCount == volume.nodeCount;
        result = result == jn_ok && !again ? FindSpectrum(&volume, s, error) : result;
        jnaDestroyVolume(&volume);
        if (result != jn_ok && lattice) {
            return result; // a lattice is always possible
        }
        if (result != jn_ok) {
            printf("  %-8s %7d  %s\n", s->method, sizes[i % SIZES], error->message);
        } else if (!again) {
            PrintSpectrum(s);
            count++;
        }
    }
    PrintChanges(list, count);
    return jn_ok;
}

int jnbBenchMeshes(const char* file)
{
    jnaCharacter character = {0};
    jnaClipList clips = {0};
    jnaImportDef import = jnaDefaultImportDef();
    jnError error = {0};
    jnResult result = file != NULL ? jnaImportCharacter(file, &import, &character, &clips, NULL, NULL, &error)
                                   : jnaCreateFigure(&character, &error);
    if (result == jn_ok) {
        printf("flesh of %s on meshes of several sizes\n", file != NULL ? file : "the figure");
        result = PrintMeshes(&character, false, &error);
        result = result == jn_ok ? PrintMeshes(&character, true, &error) : result;
    }
    jnaDestroyClipList(&clips);
    jnaDestroyCharacter(&character);
    return result == jn_ok ? JNC_DONE : jncFail(&error);
}
