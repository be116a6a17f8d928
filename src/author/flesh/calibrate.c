// Materials of a body of a certain physique; see sag.h.
//
// The stiffness of a region follows from its layers (volume/tissue.c). A coarse mesh makes flesh stiffer than its
// material, and one that hangs on few nodes softer. So the stiffness of each region is corrected by the sag that it
// leads to on skin that no bone holds: a few rounds of solving the rest pose under gravity. The correction is bounded,
// because it is the mesh that is wrong and not the tissue.
#include "flesh/sag.h"

#include "base/try.h"
#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// A region's sag may be off from what is expected by so much; regions that only must not be soft stay below this part
// of their most.
#define BELOW 0.67
#define ABOVE 1.25
#define HARD 0.8
// A mesh falsifies stiffness by no more than this.
#define MOST_CORRECTION 3.0
// Clothes over bone: a region with less free skin than this is never made softer.
#define FREE_ENOUGH 0.35
// No flesh is softer or harder than this, Pa; what is no known part of a body may be a large thing, and is as hard as
// its size asks for.
#define SOFTEST 1500.0
#define HARDEST 200000.0
#define HARDEST_OTHER 1e8
// What is no known part of a body sags by this part of the character's size at most, as a belly does. Without it a
// cube of two metres would be jelly. Its softest place may sag more.
#define OTHER_SAG 0.0075
#define OTHER_MOST 0.012
// Fewer vertices say nothing about a region.
#define LEAST_VERTICES 0.003
enum { FEWEST_VERTICES = 6, ROUNDS = 3 };
// Regions that are off by less than this need no other round.
#define CLOSE 0.1

// The factor that brings a region's sag to where it should be; 1 where it is.
static double Correction(const jnaSag* sag, jnaRegion region, double stretch)
{
    const jnaSagBounds* bounds = &sag->expected[region];
    double median = 0, greatest = 0;
    int count = jnaSag_Region(sag, 0, region, &median, &greatest);
    if (count < FEWEST_VERTICES || count < LEAST_VERTICES * sag->vertexCount) {
        return 1;
    }
    if (region == jna_regionOther) {
        return fmax(fmax(median / OTHER_SAG, greatest / OTHER_MOST) / (stretch * sag->size), 1);
    }
    bool soft = bounds->aim > 0;
    if (!(bounds->most > 0) || (soft && jnaSag_FreeCount(sag, region) == 0)) {
        return 1;
    }
    double least = stretch * BELOW * bounds->aim, most = stretch * (soft ? ABOVE * bounds->aim : HARD * bounds->most);
    double factor = median < least ? median / least : median > most ? median / most : 1;
    return sag->physique.freePart[region] < FREE_ENOUGH ? fmax(factor, 1) : factor;
}

// The manifest's regions, and all others with what the physique says.
static void ListRegions(const jnaMaterialsDef* def, const jnaPhysique* physique, jnaRegionSetting regions[JNA_REGIONS],
    bool fixed[JNA_REGIONS])
{
    for (int r = 0; r < JNA_REGIONS; ++r) {
        regions[r] = (jnaRegionSetting){.region = (jnaRegion)r,
            .youngFactor = jnaPhysique_YoungFactor(physique, (jnaRegion)r),
            .densityFactor = -1,
            .poisson = -1,
            .damping = jnaPhysique_Damping(physique, (jnaRegion)r)};
    }
    for (int i = 0; i < def->regionCount; ++i) {
        const jnaRegionSetting* own = &def->regions[i];
        double factor = own->youngFactor >= 0 ? own->youngFactor : regions[own->region].youngFactor;
        double damping = own->damping >= 0 ? own->damping : regions[own->region].damping;
        fixed[own->region] = own->youngFactor >= 0;
        regions[own->region] = *own;
        regions[own->region].youngFactor = factor;
        regions[own->region].damping = damping;
    }
}

static jnResult FindBody(
    const jnaVolume* v, const jnaCharacter* c, const jnaBodyDef* body, jnaPhysique* physique, jnError* error)
{
    jnaAnatomy anatomy = {0};
    jnResult result = jn_ok;
    JN_TRY(jnaFindAnatomy(c, v, &anatomy, error));
    JN_TRY(jnaFindPhysique(v, c, &anatomy, body, physique, NULL, error));
done:
    jnaDestroyAnatomy(&anatomy);
    return result;
}

// The stiffness that a region has after a correction, within its bounds.
static double Next(jnaRegion region, double now, double physical, double factor, double young)
{
    bool other = region == jna_regionOther;
    double least = other ? 0 : physical / MOST_CORRECTION, most = other ? HUGE_VAL : physical * MOST_CORRECTION;
    double next = fmin(fmax(now * factor, least), most);
    return fmin(fmax(next, SOFTEST / young), fmax((other ? HARDEST_OTHER : HARDEST) / young, physical));
}

// One round: true in changed where a region is far from what it was.
static jnResult Correct(jnaVolume* v, const jnaCharacter* c, const jnaMaterialsDef* def, const bool fixed[JNA_REGIONS],
    const double physical[JNA_REGIONS], bool* changed, jnError* error)
{
    jnaSag sag;
    // Another stiffness in general is wanted softer or harder than a body.
    double stretch = jnaDefaultMaterialsDef().young / def->young;
    *changed = false;
    JN_PASS(jnaMeasureSag(v, c, &def->body, 1, &sag, error));
    for (int r = 0; r < JNA_REGIONS; ++r) {
        jnaRegionSetting* region = &def->regions[r];
        if (!fixed[r]) { // else as the manifest has it, whatever that is
            double factor = Correction(&sag, (jnaRegion)r, stretch);
            double next = Next((jnaRegion)r, region->youngFactor, physical[r], factor, def->young);
            *changed = *changed || fabs(next / region->youngFactor - 1) > CLOSE;
            region->youngFactor = next;
        }
    }
    jnaDestroySag(&sag);
    return jnaVolume_FillMaterials(v, c, def, error);
}

jnResult jnaVolume_CalibrateMaterials(
    jnaVolume* v, const jnaCharacter* c, const jnaMaterialsDef* def, jnaNotes* notes, jnError* error)
{
    jnaMaterialsDef own = def != NULL ? *def : jnaDefaultMaterialsDef();
    jnaRegionSetting regions[JNA_REGIONS];
    jnaPhysique physique = {0};
    bool fixed[JNA_REGIONS] = {false}, again = own.calibrate;
    double physical[JNA_REGIONS];
    JN_PASS(FindBody(v, c, &own.body, &physique, error));
    jnaPhysique_Tell(&physique, notes);
    ListRegions(&own, &physique, regions, fixed);
    for (int r = 0; r < JNA_REGIONS; ++r) {
        physical[r] = regions[r].youngFactor;
    }
    own.regions = regions;
    own.regionCount = JNA_REGIONS;
    JN_PASS(jnaVolume_FillMaterials(v, c, &own, error));
    for (int round = 0; round < ROUNDS && again; ++round) {
        JN_PASS(Correct(v, c, &own, fixed, physical, &again, error));
    }
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double factor = regions[r].youngFactor / physical[r];
        if (!fixed[r] && fabs(factor - 1) > CLOSE) {
            jnaNotes_Add(notes, "%s: stiffness scaled by %.2g to sag as this physique does on this mesh",
                jnaRegionNames[r], factor);
        }
    }
    return jn_ok;
}
