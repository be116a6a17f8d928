// Layers of tissue, their stiffness and how far they sag; see physique.h, and docs/background/volume.md for sources.
//
// A region is a layer of fat over a core (muscle, organs, breast). Shear stress passes from the skin to the bone
// through one after the other, so their compliances add: 1/G = f/G_fat + (1 - f)/G_core, f the fat's part of the
// thickness. Skin, fascia and the wall of the belly are sheets that carry load along themselves: their stiffness adds,
// by their part of the thickness. Flesh of thickness t on a flat bone sags by rho g t^2 / 2 G; `shape` is how much more
// flesh does that surrounds a thin bone, where the outside is longer than the inside.
#include "volume/physique.h"

#include <math.h>

#define DENSITY 1000.0
#define GRAVITY 9.81
// Young's modulus over the shear modulus at a Poisson's ratio of 0.45.
#define YOUNG_OF_SHEAR 2.9
// Shear moduli, Pa. Muscle that is fully tense is sixteen times as stiff as passive muscle. A body that moves tenses
// its muscles, those of the limbs more than those of the trunk.
#define PASSIVE_MUSCLE 5000.0
#define TENSE_MUSCLE 80000.0
#define LIMB_TONE 0.75
#define TRUNK_TONE 0.6
// The wall of the belly gives with every breath.
#define BELLY_TONE 0.1
// Tense muscle damps more than fat by this factor and one more.
#define MUSCLE_DAMPS 1.3
#define LIMB_FAT 4000.0
#define TRUNK_FAT 1200.0
#define ORGANS 3000.0
#define ORGAN_FAT 400.0
#define BREAST 330.0
#define SKIN 30000.0
#define FASCIA 800000.0
// No flesh is stiffer: the solver is made for soft things.
#define STIFFEST 65000.0
// Metres, at the usual height.
#define USUAL_HEIGHT 1.75
#define SKIN_THICK 0.0018
#define FASCIA_THICK 0.001
#define WALL_THICK 0.012
// Muscle that is thicker than this part of the height is divided by septa.
#define MUSCLE_REACH 0.022
// Fat of the belly that is thicker than this is divided by sheets of fascia.
#define BELLY_REACH 0.047
// The wall of a heavy belly is stretched: thinner by this part.
#define WALL_LOST 0.8
// Fat that does not lie under the skin: of the leanest, in marrow and nerves.
#define INNER_FAT 0.12
// Fat around the organs: a part of the belly's core that grows so with the fraction of fat.
#define ORGAN_FAT_GROWS 3.0
// Under the skin there is always something else than fat.
#define MOST_FAT 0.75
// The fractions of fat of which a body is lean and heavy.
#define LEAN 0.19
#define HEAVY 0.29
// What bulges from a chest is muscle, unless it is thicker than these parts of the height, or the body heavy: then so
// much of it is fat.
#define PECTORAL 0.026
#define BOSOM 0.034
#define HEAVY_CHEST 0.85
// People, metres: others are as stiff as it takes to sag in proportion.
#define SMALLEST_PERSON 1.2
#define TALLEST_PERSON 2.4
// Clothes and gear are stiffer than flesh by this.
#define DRESSED 1.5
// Sag that counts as a body's own, over and under the expected one.
#define RANGE 2.0

typedef enum Core { core_none, core_limb, core_trunk, core_organs, core_breast } Core;

// fat: metres of fat under the skin for a fraction of fat of 1 above INNER_FAT, at the usual height.
static const struct {
    Core core;
    double fat, shape;
} layers[JNA_REGIONS] = {
    [jna_regionBreast] = {core_breast, 0, 0.7},
    [jna_regionBelly] = {core_organs, 0.12, 0.72},
    [jna_regionBack] = {core_trunk, 0.08, 1.2},
    [jna_regionButtock] = {core_trunk, 0.14, 1.25},
    [jna_regionHip] = {core_trunk, 0.08, 1.1},
    [jna_regionUpperArm] = {core_limb, 0.07, 1.8},
    [jna_regionForeArm] = {core_limb, 0.03, 1.1},
    [jna_regionThigh] = {core_limb, 0.085, 2.3},
    [jna_regionCalf] = {core_limb, 0.05, 2.3},
};

// Regions over bone: what the skin sags by at most, metres.
static const double hard[JNA_REGIONS] = {
    [jna_regionHead] = 0.001,
    [jna_regionChest] = 0.004,
    [jna_regionElbow] = 0.0025,
    [jna_regionHand] = 0.001,
    [jna_regionKnee] = 0.0025,
    [jna_regionShin] = 0.001,
    [jna_regionFoot] = 0.001,
};

static double Between(double value, double from, double to)
{
    return fmin(fmax((value - from) / (to - from), 0), 1);
}

// Stiffness of two layers, one on the other; part: of the first.
static double Stack(double part, double first, double second)
{
    return 1 / (part / first + (1 - part) / second);
}

// What a sheet adds to flesh of some thickness.
static double Sheet(double shear, double thick, double thickness)
{
    return shear * fmin(thick / thickness, 1);
}

// Muscle of some tone.
static double Muscle(double tone)
{
    return PASSIVE_MUSCLE * pow(TENSE_MUSCLE / PASSIVE_MUSCLE, tone);
}

// How much of what bulges from a chest is no muscle, 0 to 1.
static double Gland(const jnaPhysique* p, double thickness)
{
    return fmax(Between(thickness / p->height, PECTORAL, BOSOM), HEAVY_CHEST * Between(p->fat, LEAN, HEAVY));
}

// A breast, or the muscle that bulges in its place.
static double BreastShear(const jnaPhysique* p, double thickness)
{
    double gland = Gland(p, thickness);
    // Its tissue stiffens as it stretches: a large breast is carried by ligaments that a small one hardly needs.
    double large = fmax(thickness / (BOSOM * p->height), 1);
    return exp((1 - gland) * log(Muscle(p->tone[jna_regionBreast])) + gland * log(BREAST * pow(large, 3)));
}

double jnaUsualTone(jnaRegion region)
{
    static const double tones[] = {[core_none] = 0,
        [core_limb] = LIMB_TONE,
        [core_trunk] = TRUNK_TONE,
        [core_organs] = BELLY_TONE,
        [core_breast] = TRUNK_TONE};
    return tones[layers[region].core];
}

// The fraction of a region's thickness that is fat under the skin.
static double FatPart(const jnaPhysique* p, jnaRegion region)
{
    double under = fmax(p->fat - INNER_FAT, 0), scale = p->height / USUAL_HEIGHT;
    return fmin(layers[region].fat * under * scale / p->thickness[region], MOST_FAT);
}

double jnaPhysique_Damping(const jnaPhysique* p, jnaRegion region)
{
    Core core = layers[region].core;
    double t = p->thickness[region], muscle = 0;
    if (core == core_none || !(t > 0) || !(p->height > 0)) {
        return jnaRegionDamping(region) * p->damping[region];
    }
    if (core == core_breast) {
        muscle = 1 - Gland(p, t);
    } else if (core == core_limb || core == core_trunk) {
        muscle = 1 - FatPart(p, region);
    }
    return (1 + MUSCLE_DAMPS * p->tone[region] * muscle) * p->damping[region];
}

double jnaPhysique_Shear(const jnaPhysique* p, jnaRegion region)
{
    Core core = layers[region].core;
    double t = p->thickness[region], scale = p->height / USUAL_HEIGHT, person = p->height;
    if (core == core_none || !(t > 0) || !(p->height > 0)) {
        return 0;
    }
    person = fmin(fmax(person, SMALLEST_PERSON), TALLEST_PERSON);
    double under = fmax(p->fat - INNER_FAT, 0), fat = FatPart(p, region);
    double shear = Sheet(SKIN, SKIN_THICK * scale, t);
    if (core == core_breast) {
        shear = BreastShear(p, t); // its skin hangs with it
    } else if (core == core_organs) {
        double wall = WALL_THICK * (1 - WALL_LOST * Between(p->fat, LEAN, HEAVY));
        double thick = fmax(t / (BELLY_REACH * p->height), 1);
        shear += Stack(fat, TRUNK_FAT, Stack(fmin(ORGAN_FAT_GROWS * under, 1), ORGAN_FAT, ORGANS)) * pow(thick, 5);
        shear += Sheet(Muscle(p->tone[region]), wall * scale, t);
    } else if (core == core_limb) {
        // A thick muscle is many, each tied to the bone by septa: it does not hang farther than a thin one.
        double thick = fmax((1 - fat) * t / (MUSCLE_REACH * p->height), 1);
        shear += Stack(fat, LIMB_FAT, Muscle(p->tone[region]) * pow(thick, 3) + Sheet(FASCIA, FASCIA_THICK * scale, t));
    } else {
        shear += Stack(fat, TRUNK_FAT, Muscle(p->tone[region]));
    }
    return fmin(shear * (p->dressed ? DRESSED : 1), STIFFEST) * p->height / person / p->softness[region];
}

double jnaPhysique_YoungFactor(const jnaPhysique* p, jnaRegion region)
{
    double shear = jnaPhysique_Shear(p, region);
    return shear > 0 ? YOUNG_OF_SHEAR * shear / jnaDefaultMaterialsDef().young
                     : jnaRegionYoung(region) / p->softness[region];
}

jnaSagBounds jnaPhysique_Sag(const jnaPhysique* p, jnaRegion region)
{
    double shear = jnaPhysique_Shear(p, region), thickness = p->thickness[region];
    if (!(shear > 0)) {
        return (jnaSagBounds){0, hard[region], 0};
    }
    double aim = layers[region].shape * DENSITY * GRAVITY * thickness * thickness / (2 * shear);
    return (jnaSagBounds){aim / RANGE, aim * RANGE, aim};
}
