// The manifest as a person finds it: every setting there, with a word on what it does.
#include "base/file.h"

#include "workspace/manifest.h"

#include "runtime/for_author.h"

#include <string.h>

// A double-quoted YAML string: nothing in a path or name can end it early.
static void PutText(FILE* file, const char* text)
{
    fputc('"', file);
    for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if (*c < ' ' || *c == 127) {
            fprintf(file, "\\x%02x", *c);
        } else {
            fputc(*c, file);
        }
    }
    fputc('"', file);
}

static void PutField(FILE* file, const char* key, const char* text)
{
    fputs(key, file);
    PutText(file, text);
    fputc('\n', file);
}

static void PutClips(FILE* file, const jnaManifest* m)
{
    fputs("\n# Motion. role: train is learned from, test is only measured on. first, frames: the part that is "
          "simulated,\n"
          "# learned from and measured on (all); frames: 0 leaves a clip to be played alone.\n",
        file);
    fputs(m->clipCount > 0 ? "clips:\n" : "clips: []\n", file);
    for (int i = 0; i < m->clipCount; ++i) {
        const jnaManifestClip* clip = &m->clips[i];
        PutField(file, "  - name: ", clip->name);
        fprintf(file, "    role: %s\n", clip->role == jna_train ? "train" : "test");
        PutField(file, "    source: ", clip->source);
        if (clip->animation != NULL) {
            PutField(file, "    animation: ", clip->animation);
        }
        if (clip->motion != NULL) {
            PutField(file, "    motion: ", clip->motion);
        }
        if (clip->first > 0) {
            fprintf(file, "    first: %d\n", clip->first);
        }
        if (clip->frames != JNA_ALL_FRAMES) {
            fprintf(file, "    frames: %d\n", clip->frames);
        }
    }
}

static void PutPairs(FILE* file, const jnaManifest* m)
{
    fputs("\n# Joints of motion files that names alone do not match; joint \"\" leaves one unused.\n", file);
    fputs(m->pairCount > 0 ? "retarget:\n" : "retarget: []\n", file);
    for (int i = 0; i < m->pairCount; ++i) {
        PutField(file, "  - source: ", m->pairs[i].source);
        PutField(file, "    joint: ", m->pairs[i].joint);
    }
}

static void PutFlesh(FILE* file, const char* indent, const jnaJointMaterial* flesh)
{
    fprintf(file, "%syoung_factor: %.10g\n%sdensity_factor: %.10g\n", indent, flesh->youngFactor, indent,
        flesh->densityFactor);
    if (flesh->poisson >= 0) {
        fprintf(file, "%spoisson: %.10g\n", indent, flesh->poisson);
    }
}

static void PutMaterials(FILE* file, const jnaManifest* m)
{
    fputs("\n# The flesh. joints: what differs, by the joint that moves it most (young_factor, density_factor: times\n"
          "# the general value; poisson: instead of it). fat: a layer of this many metres under the skin; 0: none.\n",
        file);
    fprintf(file, "materials:\n  density: %.10g # kg/m3\n  young: %.10g # Pa\n  poisson: %.10g\n", m->materials.density,
        m->materials.young, m->materials.poisson);
    fputs(m->materials.jointCount > 0 ? "  joints:\n" : "  joints: []\n", file);
    for (int i = 0; i < m->materials.jointCount; ++i) {
        PutField(file, "    - joint: ", m->materials.joints[i].joint);
        PutFlesh(file, "      ", &m->materials.joints[i]);
    }
    fprintf(file, "  calibrate: %s\n", m->materials.calibrate ? "true" : "false");
    fputs(m->materials.regionCount > 0 ? "  regions:\n" : "  regions: []\n", file);
    for (int i = 0; i < m->materials.regionCount; ++i) {
        const jnaRegionSetting* r = &m->materials.regions[i];
        fprintf(file, "    - region: %s\n", jnaRegionNames[r->region]);
        if (r->youngFactor >= 0) {
            fprintf(file, "      young_factor: %.10g\n", r->youngFactor);
        }
        if (r->densityFactor >= 0) {
            fprintf(file, "      density_factor: %.10g\n", r->densityFactor);
        }
        if (r->poisson >= 0) {
            fprintf(file, "      poisson: %.10g\n", r->poisson);
        }
    }
    fprintf(file, "  fat:\n    depth: %.10g\n", m->materials.fatDepth);
    PutFlesh(file, "    ", &m->materials.fat);
}

static void PutVolume(FILE* file, const jnaManifest* m)
{
    static const char* const methods[] = {"auto", "tetgen", "lattice"};
    static const char* const shells[] = {"auto", "flesh", "rigid"};
    fputs("\n# Tetrahedra inside. method: tetgen (every vertex of the skin is a node), lattice (coarser, the skin "
          "hangs on\n"
          "# it), auto (tetgen where the surface is closed). edge: metres aimed at, or nodes: how many; 0: chosen.\n"
          "# shells: what separate parts that follow one joint each are: auto (rigid, carried by skinning), flesh, or\n"
          "# rigid (every part but the largest).\n",
        file);
    fprintf(file, "volume:\n  method: %s\n  edge: %.10g\n  nodes: %.10g\n  shells: %s\n", methods[m->volume.method],
        m->volume.edge, m->volume.nodes, shells[m->volume.shells]);
}

static void PutBones(FILE* file, const jnaManifest* m)
{
    static const char* const holds[] = {"dirichlet", "spring"};
    fputs("\n# Bones inside the flesh. hold: spring (a penalty where there is bone, stiffness in 1/s2) or dirichlet "
          "(exactly).\n"
          "# joints: factors on radius and length of the bones of a joint, 0 for none; rigid: true makes all its flesh "
          "bone.\n"
          "# regions: rigid: true stops a part of the body from moving; see docs/volume.md for their names.\n",
        file);
    fprintf(file, "bones:\n  hold: %s\n  stiffness: %.10g\n", holds[m->bones.hold], m->bones.stiffness);
    fputs(m->bones.jointCount > 0 ? "  joints:\n" : "  joints: []\n", file);
    for (int i = 0; i < m->bones.jointCount; ++i) {
        const jnaJointBone* bone = &m->bones.joints[i];
        PutField(file, "    - joint: ", bone->joint);
        fprintf(file, "      radius: %.10g\n      length: %.10g\n      rigid: %s\n", bone->radius, bone->length,
            bone->rigid ? "true" : "false");
    }
    fputs(m->bones.regionCount > 0 ? "  regions:\n" : "  regions: []\n", file);
    for (int i = 0; i < m->bones.regionCount; ++i) {
        const jnaRegionSetting* r = &m->bones.regions[i];
        fprintf(file, "    - {region: %s, rigid: %s}\n", jnaRegionNames[r->region], r->rigid ? "true" : "false");
    }
}

static void PutPoses(FILE* file, const jnaManifest* m)
{
    fputs(
        "\n# Poses that the flesh is solved in, for the network to learn from. random: drawn limb by limb within the\n"
        "# limits of all clips, or of those to train on (limits: train), widened by a share of the range; clips: "
        "whole\n"
        "# frames of clips to train on, spread out;\n"
        "# held_out: share of frames of test clips, only measured on. file: poses by hand, .npy (poses, joints, 4),\n"
        "# local quaternions x, y, z, w.\n",
        file);
    fprintf(file, "poses:\n  count: %d\n  random: %.10g\n  clips: %.10g\n  held_out: %.10g\n  widen: %.10g\n",
        jnaManifest_PoseCount(m), m->poses.random, m->poses.fromClips, m->poses.heldOut, m->poses.widen);
    fprintf(file, "  limits: %s\n  seed: %.17g\n", m->poses.limitsOfTrain ? "train" : "all", m->poses.seed);
    if (m->poses.file != NULL) {
        PutField(file, "  file: ", m->poses.file);
    }
}

static void PutMotion(FILE* file, const jnaManifest* m)
{
    fputs("\n# The flesh in motion. gravity: m/s2 down (clips without it look alike, and 9.81 sags the rest shape);\n"
          "# damping: seconds, share of the stiffness; drag: 1/s, share of the mass; integrator: generalized-alpha "
          "(least\n"
          "# damping of its own), bdf2 or backward-euler (damps most); ",
        file);
    fprintf(file, "substeps: steps per frame, 0: %d a second;\n", JNA_STEPS_A_SECOND);
    fputs("# contact: whether flesh keeps out of flesh; without, poses take half the time.\n", file);
    fprintf(file, "flesh:\n  gravity: %.10g\n  damping: %.10g\n  drag: %.10g\n", m->flesh.gravity, m->flesh.damping,
        m->flesh.drag);
    fprintf(file, "  integrator: %s\n  substeps: %.10g\n  contact: %s\n", jnaIntegratorName(m->flesh.integrator),
        m->flesh.substeps, m->flesh.contact ? "true" : "false");
}

static void PutSprings(FILE* file, const jnaManifest* m)
{
    static const char* const modes[] = {"uniform", "joints", "mask", "attribute", "fitted"};
    static const char* const layers[] = {"vertex", "modal", "modal+vertex"};
    fputs("\n# What moves. layer: vertex (a spring per vertex), modal (springs on the flesh's vibration modes, which "
          "need\n"
          "# nothing but its material), modal+vertex (both). modes: the lowest, at most count, none above cutoff "
          "hertz.\n"
          "# damping_ratio 0: they are damped as the flesh is.\n",
        file);
    fprintf(file, "modes:\n  count: %.10g\n  cutoff: %.10g\n  damping_ratio: %.10g\n", m->modes.count, m->modes.cutoff,
        m->modes.dampingRatio);
    fputs(
        "\n# Springs set by hand, used until some are fitted. mode: uniform, joints (those listed differ), "
        "mask\n"
        "# (an array of one number a vertex, 1 flesh to 0 rigid), attribute (the same in the file: COLOR_0.r, "
        "_JIGGLE),\n"
        "# fitted (what `jounce fit` learned). A mask or attribute acts on modes as well.\n"
        "# cap: how far modes may move the skin: a multiple of the flesh's thickness there (2), metres (0.05 m), off\n",
        file);
    fprintf(file, "springs:\n  layer: %s\n  mode: %s\n", layers[m->springs.layer], modes[m->springs.mode]);
    fprintf(file, "  hertz: %.10g\n  damping_ratio: %.10g\n", m->springs.hertz, m->springs.dampingRatio);
    if (m->springs.capKind == jna_capOff) {
        fputs("  cap: off\n", file);
    } else {
        fprintf(file, "  cap: %.10g%s\n", m->springs.cap, m->springs.capKind == jna_capMetres ? " m" : "");
    }
    fputs(m->springs.jointCount > 0 ? "  joints:\n" : "  joints: []\n", file);
    for (int i = 0; i < m->springs.jointCount; ++i) {
        PutField(file, "    - joint: ", m->springs.joints[i].joint);
        fprintf(file, "      hertz: %.10g\n      damping_ratio: %.10g\n", m->springs.joints[i].hertz,
            m->springs.joints[i].dampingRatio);
    }
    if (m->springs.mask != NULL) {
        PutField(file, "  mask: ", m->springs.mask);
    }
    if (m->springs.attribute != NULL) {
        PutField(file, "  attribute: ", m->springs.attribute);
    }
}

jnResult jnaWriteManifest(const char* path, const jnaManifest* m, jnError* error)
{
    static const char* const kinds[] = {"pca", "cnn", "none"};
    jnaFile output;
    jnResult result = jnaCreateFile(path, &output, error);
    if (result != jn_ok) {
        return result;
    }
    FILE* file = output.stream;
    fputs("# A Jounce workspace. Edit by hand; what a change makes stale is made again by `jounce build`.\n", file);
    fputs("version: 1\ncharacter:\n", file);
    PutField(file, "  source: ", m->character);
    fprintf(file, "  scale: %.10g # metres per unit of the source; 0: recognised\n", m->scale);
    fprintf(file, "rate: %.10g # frames a second\n", m->rate);
    PutClips(file, m);
    PutPairs(file, m);
    PutVolume(file, m);
    PutMaterials(file, m);
    PutBones(file, m);
    PutMotion(file, m);
    PutPoses(file, m);
    fprintf(file, "\nnetwork:\n  kind: %s # pca, cnn, none\n  epochs: %.10g # 0: by the number of poses\n",
        kinds[m->network.kind], m->network.epochs);
    PutSprings(file, m);
    return jnaFile_Commit(&output, error);
}
