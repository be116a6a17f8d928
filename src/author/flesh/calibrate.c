// Materials that make a character sag as a body does; see sag.h.
//
// Sag goes with thickness squared over stiffness. Stiffness that suits a heavy man leaves a slender figure without any
// motion, and a mesh that is coarse makes all flesh stiffer. So the stiffness of each region is corrected by the sag
// that it leads to, within limits: a few rounds of solving the rest pose under gravity.
#include "flesh/sag.h"

#include "runtime/for_author.h"

#include <math.h>
#include <string.h>

// A region's sag may be off from what is aimed at by so much; regions that only must not be soft stay below this part
// of their most.
#define BELOW 0.93
#define ABOVE 1.1
#define HARD 0.8
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
    const jnaSagBounds* bounds = &jnaExpectedSag[region];
    double median, greatest;
    int count = jnaSag_Region(sag, 0, region, &median, &greatest);
    if (count < FEWEST_VERTICES || count < LEAST_VERTICES * sag->vertexCount) {
        return 1;
    }
    if (region == jna_regionOther) {
        return fmax(fmax(median / OTHER_SAG, greatest / OTHER_MOST) / (stretch * sag->size), 1);
    }
    if (!(bounds->most > 0)) {
        return 1;
    }
    bool soft = bounds->aim > 0;
    double least = stretch * BELOW * bounds->aim, most = stretch * (soft ? ABOVE * bounds->aim : HARD * bounds->most);
    return median < least ? median / least : median > most ? median / most : 1;
}

// The manifest's regions, and all others with a factor to be found.
static void ListRegions(const jnaMaterialsDef* def, jnaRegionSetting regions[JNA_REGIONS], bool fixed[JNA_REGIONS])
{
    for (int r = 0; r < JNA_REGIONS; ++r) {
        regions[r] = (jnaRegionSetting){
            .region = (jnaRegion)r, .youngFactor = jnaRegionYoung((jnaRegion)r), .densityFactor = -1, .poisson = -1};
    }
    for (int i = 0; i < def->regionCount; ++i) {
        const jnaRegionSetting* own = &def->regions[i];
        double factor = own->youngFactor >= 0 ? own->youngFactor : regions[own->region].youngFactor;
        fixed[own->region] = own->youngFactor >= 0;
        regions[own->region] = *own;
        regions[own->region].youngFactor = factor;
    }
}

jnResult jnaVolume_CalibrateMaterials(
    jnaVolume* v, const jnaCharacter* c, const jnaMaterialsDef* def, jnaNotes* notes, jnError* error)
{
    const jnaMaterialsDef standard = jnaDefaultMaterialsDef();
    jnaMaterialsDef own = def != NULL ? *def : standard;
    jnaRegionSetting regions[JNA_REGIONS];
    bool fixed[JNA_REGIONS] = {false};
    ListRegions(&own, regions, fixed);
    bool calibrate = own.calibrate;
    // Another stiffness in general is wanted softer or harder than a body.
    double young = own.young, stretch = standard.young / young;
    own.regions = regions;
    own.regionCount = JNA_REGIONS;
    jnResult result = jnaVolume_FillMaterials(v, c, &own, error);
    for (int round = 0; round < ROUNDS && calibrate && result == jn_ok; ++round) {
        jnaSag sag;
        bool changed = false;
        result = jnaMeasureSag(v, c, 1, &sag, error);
        for (int r = 0; r < JNA_REGIONS && result == jn_ok; ++r) {
            if (fixed[r]) { // as the manifest has it, whatever that is
                continue;
            }
            double factor = Correction(&sag, (jnaRegion)r, stretch);
            double hardest = r == jna_regionOther ? HARDEST_OTHER : HARDEST;
            double next = fmin(fmax(regions[r].youngFactor * factor, SOFTEST / young), hardest / young);
            changed = changed || fabs(next / regions[r].youngFactor - 1) > CLOSE;
            regions[r].youngFactor = next;
        }
        if (result == jn_ok) {
            jnaDestroySag(&sag);
            result = jnaVolume_FillMaterials(v, c, &own, error);
        }
        calibrate = changed;
    }
    for (int r = 0; r < JNA_REGIONS && result == jn_ok; ++r) {
        double factor = regions[r].youngFactor / jnaRegionYoung((jnaRegion)r);
        if (!fixed[r] && fabs(factor - 1) > CLOSE) {
            jnaNotes_Add(notes, "%s: stiffness scaled by %.2g to match how far a human body sags under gravity",
                jnaRegionNames[r], factor);
        }
    }
    return result;
}
