// The rows of the manifest, in the order in which they are written; see manifest_fields.h.
#include "workspace/manifest_fields.h"

#include "base/path.h"
#include "workspace/manifest.h"

#include "runtime/for_author.h"

#include <stdlib.h>
#include <string.h>

#define NAMES(list) .names = (list), .nameCount = (int)(sizeof(list) / sizeof((list)[0]))
#define AT(member) .offset = offsetof(jnaManifest, member)
#define OF(type, member) .offset = offsetof(type, member)
#define LIST(member, count, type, initial)                                                                             \
    AT(member), .countOffset = offsetof(jnaManifest, count), .itemSize = sizeof(type), .item = &(initial)

const char* const jnaLayerNames[3] = {"vertex", "modal", "auto"};
const char* const jnaRoleNames[2] = {"train", "test"};
static const char* const sourceNames[] = {"flesh", "motion"};
static const char* const skinningNames[] = {"linear", "dual"};
static const char* const poseNames[] = {"mean", "rest"};
static const char* const loopNames[] = {"auto", "true", "false"};
static const char* const upNames[] = {"auto", "x", "y", "z"};
static const char* const modeNames[] = {"uniform", "joints", "mask", "attribute", "fitted"};
static const char* const methodNames[] = {"auto", "tetgen", "lattice"};
static const char* const shellNames[] = {"auto", "flesh", "rigid"};
static const char* const buildNames[] = {"auto", "lean", "average", "heavy"};
static const char* const holdNames[] = {"dirichlet", "spring"};
static const char* const integratorNames[] = {"backward-euler", "bdf2", "generalized-alpha"};

static const jnaManifestClip clip = {.frames = JNA_ALL_FRAMES};
static const jnaManifestPart part = {.role = jna_meshFollows, .above = JNA_PART_ABOVE};
static const jnaManifestPair pair = {NULL, NULL};
static const jnaJointMaterial jointMaterial = {.youngFactor = 1, .densityFactor = 1, .poisson = -1};
static const jnaRegionSetting region = {.youngFactor = -1, .densityFactor = -1, .poisson = -1, .damping = -1};
static const jnaJointBone bone = {.radius = 1, .length = 1};
static const jnaManifestSpring spring = {NULL, 0, 0};
static const jnaTuning tuning = {.limit = {jna_capUsual, 0}, .softness = 1, .damping = 1, .tone = -1};

enum {
    REQUIRED = JNA_FIELD_REQUIRED,
    OMITTED = JNA_FIELD_OMITTED,
    UNIQUE = JNA_FIELD_UNIQUE,
    NAME = JNA_NAME_LENGTH - 1,
    PATH = JNA_PATH_LENGTH - 1,
};

// clang-format off
const jnaField jnaFields[] = {
    {"version", jna_fieldCount, AT(version), REQUIRED, 1, 1, .sentence = "Of the manifest's format."},
    {"character", jna_fieldSection, .stages = "import"},
    {"character.source", jna_fieldText, AT(character), REQUIRED, 1, PATH, .sentence = "File of the rigged character, or `built-in:figure`."},
    {"character.scale", jna_fieldNumber, AT(scale), 0, 0, 1e6, .note = "metres per unit of the source; 0: detected", .sentence = "Metres per unit of the source; 0: detected."},
    {"character.up", jna_fieldChoice, AT(up), 0, NAMES(upNames), .note = "auto, x, y, z", .sentence = "Up axis of the source; auto: detected from the file or the skeleton."},
    {"character.number", jna_fieldCount, AT(number), 0, 0, 1e6, .note = "which character of a file with several; 0: all as one", .sentence = "Number of the character in a file with several, counted from 1; 0: all of them as one."},
    {"rate", jna_fieldNumber, AT(rate), 0, 1, 1000, .stages = "import evaluate report", .note = "frames a second", .sentence = "Frames a second of all clips."},

    {"parts", jna_fieldList, LIST(parts, partCount, jnaManifestPart, part), .most = 4096, .stages = "import",
        .sentence = "Parts that are not flesh: clothes, hair, eyes.\n  name: a mesh, node or material\n  shell: a connected shell, as `jounce info --shells` numbers them\n  joints: joints that have at least `above` of the weight, for example Head*, Neck\n  mask: a painted vertex attribute of at least `above`, for example COLOR_0.r\n  role: flesh, follows (moved by the flesh under it), rigid (moved by the joints alone)\n  source: a file with more parts, for example clothes"},
    {"parts[].name", jna_fieldText, OF(jnaManifestPart, name), 0, 1, NAME, .sentence = "Mesh, node or material whose parts this is about; left out with `source`: all parts of that file."},
    {"parts[].shell", jna_fieldCount, OF(jnaManifestPart, shell), OMITTED, 0, 1e6, .sentence = "Number of a connected shell, as `jounce info --shells` prints it."},
    {"parts[].joints", jna_fieldText, OF(jnaManifestPart, joints), 0, 1, PATH, .sentence = "Names of joints with commas between them: vertices with at least `above` of their weight on these. `Head*` stands for Head and all joints below it."},
    {"parts[].mask", jna_fieldText, OF(jnaManifestPart, mask), 0, 1, NAME, .sentence = "Vertex attribute, with a component if it has several (`_CLOTH`, `COLOR_0.r`): vertices where it is at least `above`."},
    {"parts[].above", jna_fieldNumber, OF(jnaManifestPart, above), OMITTED, -1e6, 1e6, .sentence = "Least weight on `joints`, least value of `mask`."},
    {"parts[].source", jna_fieldText, OF(jnaManifestPart, source), 0, 1, PATH, .sentence = "File whose meshes are added to the character: clothes, hair, armour."},
    {"parts[].role", jna_fieldChoice, OF(jnaManifestPart, role), 0, .names = jnaMeshRoleNames, .nameCount = 3, .sentence = "`flesh`: simulated; `follows`: moved by the flesh under it; `rigid`: moved by the joints alone."},

    {"body", jna_fieldSection, .stages = "import",
        .sentence = "The body.\n  build: lean, average or heavy, instead of what the shape says (auto)\n  pelvis, chest, head, left_upper_arm, ...: the joint of a part, where the recognised one is wrong;\n    `jounce new` prints all parts in a form that can stand here"},
    {"body.build", jna_fieldChoice, AT(materials.body.build), 0, NAMES(buildNames), .stages = "inside", .note = "auto, lean, average, heavy", .sentence = "How lean or heavy the body is, which sets how soft its flesh is; auto: from its shape."},
    {"body.pelvis", jna_fieldText, AT(body[jna_slotPelvis]), 0, 1, NAME, .sentence = "Joint that the legs hang on."},
    {"body.chest", jna_fieldText, AT(body[jna_slotChest]), 0, 1, NAME, .sentence = "Joint that the arms hang on, and that the rib cage follows."},
    {"body.neck", jna_fieldText, AT(body[jna_slotNeck]), 0, 1, NAME, .sentence = "Lowest joint of the neck."},
    {"body.head", jna_fieldText, AT(body[jna_slotHead]), 0, 1, NAME, .sentence = "Joint of the head."},
    {"body.left_upper_arm", jna_fieldText, AT(body[jna_slotLimbs]), 0, 1, NAME, .sentence = "Shoulder: the joint that turns the upper arm."},
    {"body.left_forearm", jna_fieldText, AT(body[jna_slotLimbs + 1]), 0, 1, NAME, .sentence = "Elbow."},
    {"body.left_hand", jna_fieldText, AT(body[jna_slotLimbs + 2]), 0, 1, NAME, .sentence = "Wrist."},
    {"body.right_upper_arm", jna_fieldText, AT(body[jna_slotLimbs + 3]), 0, 1, NAME, .sentence = "The same on the right."},
    {"body.right_forearm", jna_fieldText, AT(body[jna_slotLimbs + 4]), 0, 1, NAME, .sentence = "The same on the right."},
    {"body.right_hand", jna_fieldText, AT(body[jna_slotLimbs + 5]), 0, 1, NAME, .sentence = "The same on the right."},
    {"body.left_thigh", jna_fieldText, AT(body[jna_slotLimbs + 6]), 0, 1, NAME, .sentence = "Hip: the joint that turns the thigh."},
    {"body.left_shin", jna_fieldText, AT(body[jna_slotLimbs + 7]), 0, 1, NAME, .sentence = "Knee."},
    {"body.left_foot", jna_fieldText, AT(body[jna_slotLimbs + 8]), 0, 1, NAME, .sentence = "Ankle."},
    {"body.right_thigh", jna_fieldText, AT(body[jna_slotLimbs + 9]), 0, 1, NAME, .sentence = "The same on the right."},
    {"body.right_shin", jna_fieldText, AT(body[jna_slotLimbs + 10]), 0, 1, NAME, .sentence = "The same on the right."},
    {"body.right_foot", jna_fieldText, AT(body[jna_slotLimbs + 11]), 0, 1, NAME, .sentence = "The same on the right."},

    {"clips", jna_fieldList, LIST(clips, clipCount, jnaManifestClip, clip), .most = JNA_MAX_CLIPS, .stages = "import",
        .sentence = "Motion.\n  role: train (used for training) or test (used only for measuring)\n  first, frames: the part that is simulated, trained on and measured (default: all); frames: 0 means only played"},
    {"clips[].name", jna_fieldText, OF(jnaManifestClip, name), REQUIRED, 1, NAME, .stages = "import train export evaluate report", .sentence = "Its name and that of its folder: letters, digits, `-`, `_`, `.`."},
    {"clips[].role", jna_fieldChoice, OF(jnaManifestClip, role), REQUIRED, NAMES(jnaRoleNames), .stages = "train export evaluate report", .sentence = "`train`: used for training; `test`: used only for measuring."},
    {"clips[].source", jna_fieldText, OF(jnaManifestClip, source), REQUIRED, 1, PATH, .sentence = "File that the motion is in."},
    {"clips[].animation", jna_fieldText, OF(jnaManifestClip, animation), 0, 1, NAME, .sentence = "Name of the animation in that file; left out: the only one."},
    {"clips[].motion", jna_fieldText, OF(jnaManifestClip, motion), 0, 1, PATH, .sentence = "Vertex cache (.abc, .usda, .pc2, .mdd, .npy, .npz) with the surface's own motion."},
    {"clips[].quasistatic", jna_fieldText, OF(jnaManifestClip, shapes), 0, 1, PATH, .sentence = "Vertex cache with the equilibrium of every frame: the surface without dynamics. The springs hang on it, and a network is trained on it."},
    {"clips[].first", jna_fieldCount, OF(jnaManifestClip, first), OMITTED, 0, 1e9, .stages = "evaluate report", .sentence = "First frame that is simulated, trained on and measured."},
    {"clips[].frames", jna_fieldCount, OF(jnaManifestClip, frames), OMITTED, 0, 1e9, .stages = "evaluate report", .sentence = "Maximum number of such frames; default all; 0: the clip is only played."},
    {"clips[].loop", jna_fieldChoice, OF(jnaManifestClip, loop), OMITTED, NAMES(loopNames), .stages = "import", .sentence = "Whether the clip repeats, for `jounce bake --seamless`; auto: if its first and last frame agree."},

    {"retarget", jna_fieldList, LIST(pairs, pairCount, jnaManifestPair, pair), .most = 4096, .stages = "import",
        .sentence = "Motion capture whose joints are not matched by name.\n  source: a joint of the motion file, or a part of the body (hips, left_thigh, ...)\n  joint: the joint of this character that it drives, for example Bone.007; \"\" leaves the source unused"},
    {"retarget[].source", jna_fieldText, OF(jnaManifestPair, source), REQUIRED, 1, NAME, .sentence = "Joint of the motion file, or a part of the body: hips, spine, neck, head, left_clavicle, left_upper_arm, left_forearm, left_hand, left_thigh, left_shin, left_foot, left_toe, and the same with right_."},
    {"retarget[].joint", jna_fieldText, OF(jnaManifestPair, joint), REQUIRED, 0, NAME, .sentence = "Joint of the character; empty: the source joint is not used."},

    {"volume", jna_fieldSection, .stages = "volume",
        .sentence = "The tetrahedral mesh inside.\n  method: tetgen (every vertex of the skin is a node), lattice (the skin is embedded in a coarser lattice),\n    auto (tetgen up to 6,000 vertices or `nodes` if the surface is closed)\n  edge: target edge length in metres, or nodes: target number of nodes; 0: automatic\n  shells: connected parts that hardly bend or are sheets: auto (recognised), flesh, or rigid (all parts but the largest)"},
    {"volume.method", jna_fieldChoice, AT(volume.method), 0, NAMES(methodNames), .sentence = "Meshing method."},
    {"volume.edge", jna_fieldNumber, AT(volume.edge), 0, 0, 1000, .sentence = "Target edge length inside, metres; 0: automatic."},
    {"volume.nodes", jna_fieldCount, AT(volume.nodes), 0, 0, 1e7, .sentence = "Target number of nodes, instead of an edge length; 0: automatic."},
    {"volume.shells", jna_fieldChoice, AT(volume.shells), 0, NAMES(shellNames), .sentence = "Whether connected parts that hardly bend, and sheets, are recognised (`auto`), or flesh, or all parts but the largest rigid."},

    {"materials", jna_fieldSection, .stages = "inside",
        .sentence = "Material of the flesh.\n  calibrate: correct the stiffness of regions where the mesh falsifies how far they sag\n  joints: other values for the flesh that a joint moves most (young_factor, density_factor: times the general value)\n  regions: other values for a region, for example {region: belly, young_factor: 0.15}\n  fat: a layer of fat under the skin, depth in metres; 0: none"},
    {"materials.density", jna_fieldNumber, AT(materials.density), 0, 1, 1e5, .note = "kg/m3", .sentence = "Density, kg/m³."},
    {"materials.young", jna_fieldNumber, AT(materials.young), 0, 1, 1e12, .note = "Pa", .sentence = "Young's modulus, Pa."},
    {"materials.stiffening", jna_fieldNumber, AT(materials.stiffening), OMITTED, 0, 1000, .sentence = "Flesh that is sheared by g is 1 + stiffening g^2 times as stiff."},
    {"materials.poisson", jna_fieldNumber, AT(materials.poisson), 0, 0, 0.4999, .sentence = "Poisson's ratio."},
    {"materials.joints", jna_fieldList, LIST(materials.joints, materials.jointCount, jnaJointMaterial, jointMaterial), .most = 4096},
    {"materials.joints[].joint", jna_fieldText, OF(jnaJointMaterial, joint), REQUIRED | UNIQUE, 1, NAME, .sentence = "Joint whose flesh differs."},
    {"materials.joints[].young_factor", jna_fieldNumber, OF(jnaJointMaterial, youngFactor), 0, 1e-6, 1e6, .sentence = "Times the general Young's modulus."},
    {"materials.joints[].density_factor", jna_fieldNumber, OF(jnaJointMaterial, densityFactor), 0, 1e-3, 1e3, .sentence = "Times the general density."},
    {"materials.joints[].poisson", jna_fieldNumber, OF(jnaJointMaterial, poisson), OMITTED, 0, 0.4999, .sentence = "Instead of the general Poisson's ratio."},
    {"materials.calibrate", jna_fieldFlag, AT(materials.calibrate), .sentence = "Correct the stiffness of regions where the mesh makes them sag otherwise than their tissue."},
    {"materials.regions", jna_fieldList, LIST(materials.regions, materials.regionCount, jnaRegionSetting, region), .most = JNA_REGIONS},
    {"materials.regions[].region", jna_fieldChoice, OF(jnaRegionSetting, region), REQUIRED | UNIQUE, .names = jnaRegionNames, .nameCount = JNA_REGIONS, .sentence = "Part of the body."},
    {"materials.regions[].young_factor", jna_fieldNumber, OF(jnaRegionSetting, youngFactor), OMITTED, 1e-6, 1e6, .sentence = "Times `materials.young`, instead of the region's default and its calibration."},
    {"materials.regions[].density_factor", jna_fieldNumber, OF(jnaRegionSetting, densityFactor), OMITTED, 1e-3, 1e3, .sentence = "Times the general density."},
    {"materials.regions[].poisson", jna_fieldNumber, OF(jnaRegionSetting, poisson), OMITTED, 0, 0.4999, .sentence = "Instead of the general Poisson's ratio."},
    {"materials.fat", jna_fieldSection, .stages = NULL},
    {"materials.fat.depth", jna_fieldNumber, AT(materials.fatDepth), 0, 0, 100, .sentence = "Metres under the skin that are fat; 0: none."},
    {"materials.fat.young_factor", jna_fieldNumber, AT(materials.fat.youngFactor), 0, 1e-6, 1e6, .sentence = "Times the general Young's modulus."},
    {"materials.fat.density_factor", jna_fieldNumber, AT(materials.fat.densityFactor), 0, 1e-3, 1e3, .sentence = "Times the general density."},
    {"materials.fat.poisson", jna_fieldNumber, AT(materials.fat.poisson), OMITTED, 0, 0.4999, .sentence = "Instead of the general Poisson's ratio."},

    {"bones", jna_fieldSection, .stages = "inside",
        .sentence = "Bones inside the flesh.\n  hold: spring (a quadratic penalty, stiffness in 1/s2) or dirichlet (exactly)\n  joints: factors on radius and length of the bones of a joint, 0 for none; rigid: true makes all its flesh bone\n  regions: {region: knee, rigid: true} stops a region from moving; docs/background/volume.md has the names"},
    {"bones.hold", jna_fieldChoice, AT(bones.hold), 0, NAMES(holdNames), .sentence = "How bones hold their nodes."},
    {"bones.stiffness", jna_fieldNumber, AT(bones.stiffness), 0, 1, 1e12, .sentence = "Stiffness of the springs that hold the nodes, 1/s²."},
    {"bones.joints", jna_fieldList, LIST(bones.joints, bones.jointCount, jnaJointBone, bone), .most = 4096},
    {"bones.joints[].joint", jna_fieldText, OF(jnaJointBone, joint), REQUIRED | UNIQUE, 1, NAME, .sentence = "Joint whose bones differ."},
    {"bones.joints[].radius", jna_fieldNumber, OF(jnaJointBone, radius), 0, 0, 10, .sentence = "Factor on the automatic radius; 0: no bone."},
    {"bones.joints[].length", jna_fieldNumber, OF(jnaJointBone, length), 0, 0, 1.5, .sentence = "Factor on the automatic length."},
    {"bones.joints[].rigid", jna_fieldFlag, OF(jnaJointBone, rigid), .sentence = "All flesh that the joint moves most is bone."},
    {"bones.regions", jna_fieldList, LIST(bones.regions, bones.regionCount, jnaRegionSetting, region), .most = JNA_REGIONS},
    {"bones.regions[].region", jna_fieldChoice, OF(jnaRegionSetting, region), REQUIRED | UNIQUE, .names = jnaRegionNames, .nameCount = JNA_REGIONS, .sentence = "Part of the body."},
    {"bones.regions[].rigid", jna_fieldFlag, OF(jnaRegionSetting, rigid), REQUIRED, .sentence = "All of it is bone."},

    {"flesh", jna_fieldSection, .stages = "",
        .sentence = "Simulation of the flesh.\n  gravity: m/s2 downwards; 0 keeps the rest shape, 9.81 makes it sag\n  damping: Rayleigh damping proportional to the stiffness, seconds; drag: proportional to the mass, 1/s\n  integrator: generalized-alpha (least numerical damping), bdf2, or backward-euler (most)\n  substeps: time steps per frame; 0: 240 per second\n  contact: self-contact; without it poses take half the time"},
    {"flesh.gravity", jna_fieldDown, AT(flesh.gravity[1]), 0, 0, 1000, .sentence = "Gravity, m/s², downwards."},
    {"flesh.damping", jna_fieldNumber, AT(flesh.damping), 0, 0, 10, .stages = "modes", .sentence = "Rayleigh damping proportional to the stiffness, seconds."},
    {"flesh.drag", jna_fieldNumber, AT(flesh.drag), 0, 0, 1000, .stages = "modes", .sentence = "Rayleigh damping proportional to the mass, 1/s."},
    {"flesh.integrator", jna_fieldChoice, AT(flesh.integrator), 0, NAMES(integratorNames), .sentence = "Time integrator."},
    {"flesh.substeps", jna_fieldCount, AT(flesh.substeps), 0, 0, 1000, .sentence = "Time steps per frame; 0: 240 per second."},
    {"flesh.contact", jna_fieldFlag, AT(flesh.contact), .sentence = "Self-contact."},

    {"poses", jna_fieldSection, .stages = "",
        .sentence = "Poses in which the flesh is simulated to train the network.\n  random: fraction drawn at random from the ranges of human joints, or limb by limb from the training clips where no\n    body is recognised; clips: fraction that are frames of training clips\n  held_out: fraction that are frames of training clips, used only for measuring\n  widen: how far random poses exceed the joint limits of the clips where no body is recognised, as a fraction of the range\n  file: poses of your own, .npy (poses, joints, 4), local quaternions x, y, z, w"},
    {"poses.count", jna_fieldCount, AT(poses.count), 0, 1, 1e7, .sentence = "Number of poses; default 5000, or 300 for the built-in figure."},
    {"poses.random", jna_fieldNumber, AT(poses.random), 0, 0, 1, .sentence = "Fraction of training poses that are random."},
    {"poses.clips", jna_fieldNumber, AT(poses.fromClips), 0, 0, 1, .sentence = "Fraction of training poses that are frames of clips; only the ratio to `random` matters."},
    {"poses.held_out", jna_fieldNumber, AT(poses.heldOut), 0, 0, 0.9, .sentence = "Fraction of poses that are frames of training clips held back: they decide when training stops, and measure it."},
    {"poses.widen", jna_fieldNumber, AT(poses.widen), 0, 0, 1, .sentence = "How far random poses exceed the joint limits of the training clips, as a fraction of the range, where no body is recognised."},
    {"poses.seed", jna_fieldSeed, AT(poses.seed), 0, 0, 0x1p53, .sentence = "Random seed."},
    {"poses.file", jna_fieldText, AT(poseFile), 0, 1, PATH, .sentence = "Poses by hand, .npy (poses, joints, 4), local quaternions x, y, z, w."},

    {"network", jna_fieldSection, .stages = "export evaluate report"},
    {"network.kind", jna_fieldChoice, AT(network.kind), 0, .names = jnNetworkNames, .nameCount = jn_networkKindCount, .note = "pca, cnn, none", .sentence = "Network that predicts the displacement of a pose."},
    {"network.epochs", jna_fieldCount, AT(network.epochs), 0, 0, 1e6, .stages = "", .note = "0: by the number of poses", .sentence = "Training epochs; 0: chosen by the number of poses."},
    {"network.skinning", jna_fieldChoice, AT(network.skinning), 0, NAMES(skinningNames), .sentence = "How the skin blends joints: linear blend, or dual quaternions, for hosts that take positions. The network is trained for it, and the exported file uses it."},

    {"modes", jna_fieldSection, .stages = "modes",
        .sentence = "Vibration modes of the flesh, which move with springs.\n  source: flesh (computed from its material), or motion (found in the imported motion; nothing is simulated)\n  count: maximum number, lowest frequency first; cutoff: maximum frequency, hertz\n  pose: that they vibrate about: the mean of the training clips, or rest\n  damping_ratio: of all modes; 0: the damping of the flesh"},
    {"modes.source", jna_fieldChoice, AT(modesSource), 0, NAMES(sourceNames), .stages = "fit export evaluate report", .sentence = "Where modes come from: the vibrations of the flesh, or the imported motion (then nothing is simulated)."},
    {"modes.count", jna_fieldCount, AT(modes.count), 0, 1, 256, .sentence = "Maximum number of modes."},
    {"modes.cutoff", jna_fieldNumber, AT(modes.cutoff), 0, 0.1, 1000, .sentence = "Maximum frequency, hertz."},
    {"modes.pose", jna_fieldChoice, AT(modesPose), 0, NAMES(poseNames), .sentence = "Pose that the modes vibrate about: the mean of the training clips, or the rest pose (which it is without training clips)."},
    {"modes.damping_ratio", jna_fieldNumber, AT(modes.ratio), 0, 0, 10, .sentence = "Damping ratio of modes of soft flesh, those of tense muscle have up to twice that; 0: the damping of the flesh."},

    {"springs", jna_fieldSection, .stages = "export",
        .sentence = "Springs.\n  layer: vertex (a spring per vertex), modal (springs on vibration modes), auto (whichever explains the motion better)\n  mode: fitted (by `jounce fit`), or set by hand: uniform, joints (those listed differ), mask (an array of one number per\n    vertex, 1 flesh to 0 rigid), attribute (the same from the character's file: COLOR_0.r, _JIGGLE)\n  hertz, damping_ratio: of springs set by hand, and until some are fitted\n  cap: how far modes may move the skin: a multiple of the flesh's thickness (2), metres (0.05 m), or off\n  shake: seconds of each of six simulated shakes that springs on modes are fitted to; 0: they are fitted to the clips"},
    {"springs.layer", jna_fieldChoice, AT(springs.layer), 0, NAMES(jnaLayerNames), .stages = "export evaluate report", .sentence = "What moves: a spring per vertex, springs on modes, or whichever of the two explains the motion better (`auto`)."},
    {"springs.mode", jna_fieldChoice, AT(springs.mode), 0, NAMES(modeNames), .sentence = "Where the springs come from."},
    {"springs.hertz", jna_fieldNumber, AT(springs.hertz), 0, 0, 1000, .sentence = "Frequency of springs set by hand."},
    {"springs.damping_ratio", jna_fieldNumber, AT(springs.dampingRatio), 0, 0, 100, .sentence = "Their damping ratio."},
    {"springs.cap", jna_fieldCap, AT(springs.cap), 0, 0, 1e6, .stages = "offsets", .sentence = "How far modes may move the skin: a multiple of the flesh's thickness (`2`), metres (`0.05 m`), or `off`."},
    {"springs.shake", jna_fieldNumber, AT(springs.shake), 0, 0, 60, .stages = "fit", .sentence = "Seconds of each of six simulated shakes that springs on modes are fitted to; 0: they are fitted to the training clips."},
    {"springs.touch", jna_fieldNumber, AT(springs.touch), OMITTED, 0, 1, .sentence = "Distance between the points where the skin can be pressed at run time, in metres: `0.04` for a person; 0, the default: it cannot be. Springs on modes only."},
    {"springs.joints", jna_fieldList, LIST(springs.joints, springs.jointCount, jnaManifestSpring, spring), .most = 4096},
    {"springs.joints[].joint", jna_fieldText, OF(jnaManifestSpring, joint), REQUIRED, 1, NAME, .sentence = "Joint whose springs differ."},
    {"springs.joints[].hertz", jna_fieldNumber, OF(jnaManifestSpring, hertz), REQUIRED, 0, 1000, .sentence = "Their frequency."},
    {"springs.joints[].damping_ratio", jna_fieldNumber, OF(jnaManifestSpring, dampingRatio), REQUIRED, 0, 100, .sentence = "Their damping ratio."},
    {"springs.mask", jna_fieldText, AT(springs.mask), 0, 1, PATH, .sentence = "Array of one weight per vertex, 1 flesh to 0 rigid; for mode `mask`."},
    {"springs.attribute", jna_fieldText, AT(springs.attribute), 0, 1, NAME + 2, .sentence = "Vertex attribute, with a channel where it has several: `COLOR_0.r`, `_JIGGLE`; for mode `attribute`."},

    {"tuning", jna_fieldList, LIST(tuning, tuningCount, jnaTuning, tuning), .most = JNA_REGIONS, .stages = "inside offsets",
        .sentence = "Regions of the body by hand.\n  region: belly, breast, buttock, thigh, ...\n  softness: times as soft as its tissue, 2 sags twice as far; damping: times as damped\n  tone: of the muscles, 0 relaxed to 1 tense\n  limit: how far it may move, for example 0.02 m\n  example: - {region: thigh, tone: 0.4, limit: 0.02 m}"},
    {"tuning[].region", jna_fieldChoice, OF(jnaTuning, region), REQUIRED | UNIQUE, .names = jnaRegionNames, .nameCount = JNA_REGIONS, .sentence = "Region of the body."},
    {"tuning[].limit", jna_fieldCap, OF(jnaTuning, limit), OMITTED, 0, 1e6, .stages = "offsets", .sentence = "How far the region may move, instead of its default: metres (`0.02 m`), a multiple of the flesh's thickness (`1`), or `off`."},
    {"tuning[].softness", jna_fieldNumber, OF(jnaTuning, softness), OMITTED, 0.01, 100, .stages = "inside", .sentence = "Times as soft as its tissue is: 2 sags twice as far and swings 0.7 times as fast."},
    {"tuning[].damping", jna_fieldNumber, OF(jnaTuning, damping), OMITTED, 0, 20, .stages = "inside", .sentence = "Times the damping of its tissue, of what is proportional to the stiffness."},
    {"tuning[].tone", jna_fieldNumber, OF(jnaTuning, tone), OMITTED, 0, 1, .stages = "inside", .sentence = "Tension of its muscles, 0 relaxed to 1 tense, which makes them stiffer and more damped. Default 0.75 for limbs, 0.6 for the trunk."},
};
// clang-format on
const int jnaFieldCount = (int)(sizeof(jnaFields) / sizeof(jnaFields[0]));
_Static_assert(sizeof(jnaFields) / sizeof(jnaFields[0]) <= JNA_MAX_FIELDS, "the reader counts them");

size_t jnaField_ParentLength(const jnaField* field)
{
    const char* dot = strrchr(field->path, '.');
    return dot != NULL ? (size_t)(dot - field->path) : 0;
}

// The row of a path's beginning, without the brackets of an item.
static const jnaField* FindParent(const jnaField* field)
{
    size_t length = jnaField_ParentLength(field);
    length -= length > 0 && field->path[length - 1] == ']' ? 2 : 0;
    for (const jnaField* f = field; length > 0 && f-- != jnaFields;) {
        if (strlen(f->path) == length && memcmp(f->path, field->path, length) == 0) {
            return f;
        }
    }
    return NULL;
}

const jnaField* jnaField_List(const jnaField* field)
{
    const jnaField* parent = FindParent(field);
    return parent != NULL && parent->kind == jna_fieldList ? parent : NULL;
}

const char* jnaField_Stages(const jnaField* field)
{
    while (field != NULL && field->stages == NULL) {
        field = FindParent(field);
    }
    return field != NULL ? field->stages : "";
}

static void PrintCap(const jnaCap* cap, FILE* file)
{
    if (cap->kind == jna_capUsual) {
        fputs("usual", file);
    } else if (cap->kind == jna_capOff) {
        fputs("off", file);
    } else {
        fprintf(file, "%.10g%s", cap->value, cap->kind == jna_capMetres ? " m" : "");
    }
}

void jnaField_Print(const jnaField* field, const void* base, FILE* file)
{
    const void* at = (const char*)base + field->offset;
    switch (field->kind) {
    case jna_fieldText:
        fputs(*(char* const*)at != NULL ? *(char* const*)at : "", file);
        break;
    case jna_fieldNumber:
        fprintf(file, "%.10g", *(const double*)at);
        break;
    case jna_fieldDown:
        fprintf(file, "%.10g", 0 - *(const double*)at);
        break;
    case jna_fieldCount:
        fprintf(file, "%d", *(const int*)at);
        break;
    case jna_fieldSeed:
        fprintf(file, "%llu", (unsigned long long)*(const uint64_t*)at);
        break;
    case jna_fieldFlag:
        fputs(*(const bool*)at ? "true" : "false", file);
        break;
    case jna_fieldChoice:
        fputs(field->names[*(const int*)at], file);
        break;
        fputs(field->names[*(const bool*)at], file);
        break;
    case jna_fieldCap:
        PrintCap(at, file);
        break;
    case jna_fieldSection:
    case jna_fieldList:
        break;
    }
}
