// The manifest: read by libcyaml against a schema, then checked value by value; written by hand with
// comments.
//
// libcyaml refuses unknown keys and wrong types but takes "30x" as 30 and names the line before a stray key,
// so numbers are read from the text again and lines come from our own map of it.
#include "workspace/manifest.h"

#include "base/path.h"
#include "character/source.h"
#include "workspace/yaml_map.h"

#include "runtime/for_author.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MANIFEST = 1 << 20 };

// What libcyaml fills. Optional numbers are pointers, NULL where the manifest leaves them out.
typedef struct RawCharacter {
    char* source;
    double* scale;
} RawCharacter;

typedef struct RawClip {
    char* name;
    jnaRole role;
    char* source;
    char* animation;
    char* motion;
    double *first, *frames;
} RawClip;

// Numbers of lists and of the layer are taken from the text alone; libcyaml only learns that their keys may be there.
typedef struct RawFlesh {
    char* joint;
    double *depth, *young, *density, *poisson;
} RawFlesh;

typedef struct RawVolume {
    jnaVolumeMethod method;
    jnaShells shells;
    double *edge, *nodes;
} RawVolume;

typedef struct RawRegion {
    jnaRegion region;
    bool* rigid;
    double *young, *density, *poisson;
} RawRegion;

typedef struct RawMaterials {
    double *density, *young, *poisson;
    RawFlesh* joints;
    unsigned jointCount;
    RawRegion* regions;
    unsigned regionCount;
    bool* calibrate;
    RawFlesh* fat;
} RawMaterials;

typedef struct RawBone {
    char* joint;
    double *radius, *length;
    bool* rigid;
} RawBone;

typedef struct RawBones {
    jnaBoneHold* hold;
    double* stiffness;
    RawBone* joints;
    unsigned jointCount;
    RawRegion* regions;
    unsigned regionCount;
} RawBones;

typedef struct RawPoses {
    bool limitsOfTrain;
    double *count, *random, *clips, *heldOut, *widen, *seed;
    char* file;
} RawPoses;

typedef struct RawNetwork {
    jnaNetworkKind kind;
    double* epochs;
} RawNetwork;

typedef struct RawSprings {
    jnaSpringLayer layer;
    jnaSpringMode mode;
    double *hertz, *dampingRatio;
    jnaManifestSpring* joints;
    unsigned jointCount;
    char *mask, *attribute, *cap;
} RawSprings;

typedef struct RawModes {
    double *count, *cutoff, *dampingRatio;
} RawModes;

typedef struct RawMotion {
    double *gravity, *damping, *drag, *substeps;
    char* integrator;
    bool* contact;
} RawMotion;

typedef struct RawManifest {
    unsigned version;
    RawCharacter character;
    double* rate;
    RawClip* clips;
    unsigned clipCount;
    jnaManifestPair* pairs;
    unsigned pairCount;
    RawVolume* volume;
    RawMaterials* materials;
    RawBones* bones;
    RawPoses* poses;
    RawNetwork* network;
    RawSprings* springs;
    RawModes* modes;
    RawMotion* flesh;
} RawManifest;

static const cyaml_strval_t roleNames[] = {{"train", jna_train}, {"test", jna_test}};
static const cyaml_strval_t layerNames[] = {
    {"vertex", jna_layerVertex}, {"modal", jna_layerModal}, {"modal+vertex", jna_layerBoth}};
static const cyaml_strval_t modeNames[] = {{"uniform", jna_springsUniform}, {"joints", jna_springsJoints},
    {"mask", jna_springsMask}, {"attribute", jna_springsAttribute}, {"fitted", jna_springsFitted}};
static const cyaml_strval_t kindNames[] = {{"cnn", jna_networkCnn}, {"pca", jna_networkPca}, {"none", jna_networkNone}};

static const cyaml_strval_t methodNames[] = {
    {"auto", jna_volumeAuto}, {"tetgen", jna_volumeTetgen}, {"lattice", jna_volumeLattice}};
static const cyaml_strval_t regionNames[] = {{"other", jna_regionOther}, {"head", jna_regionHead},
    {"neck", jna_regionNeck}, {"chest", jna_regionChest}, {"breast", jna_regionBreast}, {"belly", jna_regionBelly},
    {"back", jna_regionBack}, {"buttock", jna_regionButtock}, {"hip", jna_regionHip}, {"upper_arm", jna_regionUpperArm},
    {"elbow", jna_regionElbow}, {"forearm", jna_regionForeArm}, {"hand", jna_regionHand}, {"thigh", jna_regionThigh},
    {"knee", jna_regionKnee}, {"shin", jna_regionShin}, {"calf", jna_regionCalf}, {"foot", jna_regionFoot}};
_Static_assert(CYAML_ARRAY_LEN(regionNames) == JNA_REGIONS, "every region has a name");
static const cyaml_strval_t shellNames[] = {
    {"auto", jna_shellsAuto}, {"flesh", jna_shellsFlesh}, {"rigid", jna_shellsRigid}};
static const cyaml_strval_t holdNames[] = {{"dirichlet", jna_boneDirichlet}, {"spring", jna_boneSpring}};

enum { LONGEST = JNA_PATH_LENGTH - 1, OPTIONAL = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };

static const cyaml_schema_field_t characterFields[] = {
    CYAML_FIELD_STRING_PTR("source", CYAML_FLAG_POINTER, RawCharacter, source, 1, LONGEST),
    CYAML_FIELD_FLOAT_PTR("scale", OPTIONAL, RawCharacter, scale), CYAML_FIELD_END};

static const cyaml_schema_field_t clipFields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, RawClip, name, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_ENUM("role", CYAML_FLAG_STRICT, RawClip, role, roleNames, CYAML_ARRAY_LEN(roleNames)),
    CYAML_FIELD_STRING_PTR("source", CYAML_FLAG_POINTER, RawClip, source, 1, LONGEST),
    CYAML_FIELD_STRING_PTR("animation", OPTIONAL, RawClip, animation, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_STRING_PTR("motion", OPTIONAL, RawClip, motion, 1, LONGEST),
    CYAML_FIELD_FLOAT_PTR("first", OPTIONAL, RawClip, first),
    CYAML_FIELD_FLOAT_PTR("frames", OPTIONAL, RawClip, frames), CYAML_FIELD_END};

static const cyaml_schema_field_t pairFields[] = {
    CYAML_FIELD_STRING_PTR("source", CYAML_FLAG_POINTER, jnaManifestPair, source, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER, jnaManifestPair, joint, 0, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_END};

static const cyaml_schema_field_t fleshFields[] = {
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER, RawFlesh, joint, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_FLOAT_PTR("young_factor", OPTIONAL, RawFlesh, young),
    CYAML_FIELD_FLOAT_PTR("density_factor", OPTIONAL, RawFlesh, density),
    CYAML_FIELD_FLOAT_PTR("poisson", OPTIONAL, RawFlesh, poisson), CYAML_FIELD_END};
static const cyaml_schema_value_t fleshValue = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, RawFlesh, fleshFields)};

static const cyaml_schema_field_t regionFleshFields[] = {
    CYAML_FIELD_ENUM("region", CYAML_FLAG_STRICT, RawRegion, region, regionNames, CYAML_ARRAY_LEN(regionNames)),
    CYAML_FIELD_FLOAT_PTR("young_factor", OPTIONAL, RawRegion, young),
    CYAML_FIELD_FLOAT_PTR("density_factor", OPTIONAL, RawRegion, density),
    CYAML_FIELD_FLOAT_PTR("poisson", OPTIONAL, RawRegion, poisson), CYAML_FIELD_END};
static const cyaml_schema_value_t regionFleshValue = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, RawRegion, regionFleshFields)};

static const cyaml_schema_field_t regionBoneFields[] = {
    CYAML_FIELD_ENUM("region", CYAML_FLAG_STRICT, RawRegion, region, regionNames, CYAML_ARRAY_LEN(regionNames)),
    CYAML_FIELD_BOOL_PTR("rigid", CYAML_FLAG_POINTER, RawRegion, rigid), CYAML_FIELD_END};
static const cyaml_schema_value_t regionBoneValue = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, RawRegion, regionBoneFields)};

static const cyaml_schema_field_t fatFields[] = {CYAML_FIELD_FLOAT_PTR("depth", CYAML_FLAG_POINTER, RawFlesh, depth),
    CYAML_FIELD_FLOAT_PTR("young_factor", OPTIONAL, RawFlesh, young),
    CYAML_FIELD_FLOAT_PTR("density_factor", OPTIONAL, RawFlesh, density),
    CYAML_FIELD_FLOAT_PTR("poisson", OPTIONAL, RawFlesh, poisson), CYAML_FIELD_END};

static const cyaml_schema_field_t materialFields[] = {CYAML_FIELD_FLOAT_PTR("density", OPTIONAL, RawMaterials, density),
    CYAML_FIELD_FLOAT_PTR("young", OPTIONAL, RawMaterials, young),
    CYAML_FIELD_FLOAT_PTR("poisson", OPTIONAL, RawMaterials, poisson),
    CYAML_FIELD_SEQUENCE_COUNT("joints", OPTIONAL, RawMaterials, joints, jointCount, &fleshValue, 0, 4096),
    CYAML_FIELD_SEQUENCE_COUNT(
        "regions", OPTIONAL, RawMaterials, regions, regionCount, &regionFleshValue, 0, JNA_REGIONS),
    CYAML_FIELD_BOOL_PTR("calibrate", OPTIONAL, RawMaterials, calibrate),
    CYAML_FIELD_MAPPING_PTR("fat", OPTIONAL, RawMaterials, fat, fatFields), CYAML_FIELD_END};

static const cyaml_schema_field_t volumeFields[] = {CYAML_FIELD_ENUM("method", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL,
                                                        RawVolume, method, methodNames, CYAML_ARRAY_LEN(methodNames)),
    CYAML_FIELD_ENUM(
        "shells", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, RawVolume, shells, shellNames, CYAML_ARRAY_LEN(shellNames)),
    CYAML_FIELD_FLOAT_PTR("edge", OPTIONAL, RawVolume, edge),
    CYAML_FIELD_FLOAT_PTR("nodes", OPTIONAL, RawVolume, nodes), CYAML_FIELD_END};

static const cyaml_schema_field_t boneFields[] = {
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER, RawBone, joint, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_FLOAT_PTR("radius", OPTIONAL, RawBone, radius),
    CYAML_FIELD_FLOAT_PTR("length", OPTIONAL, RawBone, length), CYAML_FIELD_BOOL_PTR("rigid", OPTIONAL, RawBone, rigid),
    CYAML_FIELD_END};
static const cyaml_schema_value_t boneValue = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, RawBone, boneFields)};

static const cyaml_schema_field_t bonesFields[] = {
    CYAML_FIELD_ENUM_PTR("hold", CYAML_FLAG_STRICT | OPTIONAL, RawBones, hold, holdNames, CYAML_ARRAY_LEN(holdNames)),
    CYAML_FIELD_FLOAT_PTR("stiffness", OPTIONAL, RawBones, stiffness),
    CYAML_FIELD_SEQUENCE_COUNT("joints", OPTIONAL, RawBones, joints, jointCount, &boneValue, 0, 4096),
    CYAML_FIELD_SEQUENCE_COUNT("regions", OPTIONAL, RawBones, regions, regionCount, &regionBoneValue, 0, JNA_REGIONS),
    CYAML_FIELD_END};

static const cyaml_strval_t limitNames[] = {{"all", false}, {"train", true}};
static const cyaml_schema_field_t poseFields[] = {CYAML_FIELD_ENUM("limits", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL,
                                                      RawPoses, limitsOfTrain, limitNames, CYAML_ARRAY_LEN(limitNames)),
    CYAML_FIELD_FLOAT_PTR("count", OPTIONAL, RawPoses, count),
    CYAML_FIELD_FLOAT_PTR("random", OPTIONAL, RawPoses, random),
    CYAML_FIELD_FLOAT_PTR("clips", OPTIONAL, RawPoses, clips),
    CYAML_FIELD_FLOAT_PTR("held_out", OPTIONAL, RawPoses, heldOut),
    CYAML_FIELD_FLOAT_PTR("widen", OPTIONAL, RawPoses, widen), CYAML_FIELD_FLOAT_PTR("seed", OPTIONAL, RawPoses, seed),
    CYAML_FIELD_STRING_PTR("file", OPTIONAL, RawPoses, file, 1, LONGEST), CYAML_FIELD_END};

static const cyaml_schema_field_t networkFields[] = {CYAML_FIELD_ENUM("kind", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL,
                                                         RawNetwork, kind, kindNames, CYAML_ARRAY_LEN(kindNames)),
    CYAML_FIELD_FLOAT_PTR("epochs", OPTIONAL, RawNetwork, epochs), CYAML_FIELD_END};

static const cyaml_schema_field_t springFields[] = {
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER, jnaManifestSpring, joint, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_FLOAT("hertz", CYAML_FLAG_DEFAULT, jnaManifestSpring, hertz),
    CYAML_FIELD_FLOAT("damping_ratio", CYAML_FLAG_DEFAULT, jnaManifestSpring, dampingRatio), CYAML_FIELD_END};

static const cyaml_schema_value_t clipValue = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, RawClip, clipFields)};
static const cyaml_schema_value_t pairValue = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, jnaManifestPair, pairFields)};
static const cyaml_schema_value_t springValue = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, jnaManifestSpring, springFields)};

static const cyaml_schema_field_t springsFields[] = {CYAML_FIELD_ENUM("layer", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL,
                                                         RawSprings, layer, layerNames, CYAML_ARRAY_LEN(layerNames)),
    CYAML_FIELD_ENUM(
        "mode", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, RawSprings, mode, modeNames, CYAML_ARRAY_LEN(modeNames)),
    CYAML_FIELD_FLOAT_PTR("hertz", OPTIONAL, RawSprings, hertz),
    CYAML_FIELD_FLOAT_PTR("damping_ratio", OPTIONAL, RawSprings, dampingRatio),
    CYAML_FIELD_SEQUENCE_COUNT("joints", OPTIONAL, RawSprings, joints, jointCount, &springValue, 0, 4096),
    CYAML_FIELD_STRING_PTR("cap", OPTIONAL, RawSprings, cap, 1, JNA_NAME_LENGTH - 1),
    CYAML_FIELD_STRING_PTR("mask", OPTIONAL, RawSprings, mask, 1, LONGEST),
    CYAML_FIELD_STRING_PTR("attribute", OPTIONAL, RawSprings, attribute, 1, JNA_NAME_LENGTH + 1), CYAML_FIELD_END};

static const cyaml_schema_field_t modesFields[] = {CYAML_FIELD_FLOAT_PTR("count", OPTIONAL, RawModes, count),
    CYAML_FIELD_FLOAT_PTR("cutoff", OPTIONAL, RawModes, cutoff),
    CYAML_FIELD_FLOAT_PTR("damping_ratio", OPTIONAL, RawModes, dampingRatio), CYAML_FIELD_END};

static const cyaml_schema_field_t motionFields[] = {CYAML_FIELD_FLOAT_PTR("gravity", OPTIONAL, RawMotion, gravity),
    CYAML_FIELD_FLOAT_PTR("damping", OPTIONAL, RawMotion, damping),
    CYAML_FIELD_FLOAT_PTR("drag", OPTIONAL, RawMotion, drag),
    CYAML_FIELD_STRING_PTR("integrator", OPTIONAL, RawMotion, integrator, 0, LONGEST),
    CYAML_FIELD_FLOAT_PTR("substeps", OPTIONAL, RawMotion, substeps),
    CYAML_FIELD_BOOL_PTR("contact", OPTIONAL, RawMotion, contact), CYAML_FIELD_END};

static const cyaml_schema_field_t manifestFields[] = {
    CYAML_FIELD_UINT("version", CYAML_FLAG_DEFAULT, RawManifest, version),
    CYAML_FIELD_MAPPING("character", CYAML_FLAG_DEFAULT, RawManifest, character, characterFields),
    CYAML_FIELD_FLOAT_PTR("rate", OPTIONAL, RawManifest, rate),
    CYAML_FIELD_SEQUENCE_COUNT("clips", OPTIONAL, RawManifest, clips, clipCount, &clipValue, 0, JNA_MAX_CLIPS),
    CYAML_FIELD_SEQUENCE_COUNT("retarget", OPTIONAL, RawManifest, pairs, pairCount, &pairValue, 0, 4096),
    CYAML_FIELD_MAPPING_PTR("materials", OPTIONAL, RawManifest, materials, materialFields),
    CYAML_FIELD_MAPPING_PTR("volume", OPTIONAL, RawManifest, volume, volumeFields),
    CYAML_FIELD_MAPPING_PTR("bones", OPTIONAL, RawManifest, bones, bonesFields),
    CYAML_FIELD_MAPPING_PTR("poses", OPTIONAL, RawManifest, poses, poseFields),
    CYAML_FIELD_MAPPING_PTR("network", OPTIONAL, RawManifest, network, networkFields),
    CYAML_FIELD_MAPPING_PTR("springs", OPTIONAL, RawManifest, springs, springsFields),
    CYAML_FIELD_MAPPING_PTR("modes", OPTIONAL, RawManifest, modes, modesFields),
    CYAML_FIELD_MAPPING_PTR("flesh", OPTIONAL, RawManifest, flesh, motionFields), CYAML_FIELD_END};

static const cyaml_schema_value_t manifestValue = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, RawManifest, manifestFields)};

jnaManifest jnaDefaultManifest(void)
{
    jnaManifest m = {.rate = 30};
    m.materials = jnaDefaultMaterialsDef();
    m.bones = jnaDefaultBonesDef();
    m.network.kind = jna_networkPca;
    m.poses.random = m.poses.fromClips = 0.5;
    m.poses.heldOut = 0.02;
    m.poses.widen = 0.1;
    m.poses.seed = 1;
    m.springs.layer = jna_layerModal;
    m.springs.mode = jna_springsFitted;
    m.springs.hertz = 3;
    m.springs.dampingRatio = 0.2;
    m.springs.cap = 2;
    m.flesh.damping = 0.006;
    m.flesh.drag = 7;
    m.flesh.integrator = jna_generalizedAlpha;
    m.flesh.contact = true;
    m.modes.count = 64;
    m.modes.cutoff = 25;
    return m;
}

int jnaManifest_PoseCount(const jnaManifest* manifest)
{
    return manifest->poses.count > 0 ? manifest->poses.count : jnaIsFigure(manifest->character) ? 300 : 5000;
}

jnResult jnaManifestClip_Part(const jnaManifestClip* clip, int frameCount, int* first, int* count, jnError* error)
{
    *first = clip->first;
    *count = 0;
    if (clip->frames == 0) {
        return jn_ok;
    }
    if (clip->first >= frameCount) {
        return jnFail(error, jn_badData, "clip '%s' has %d frames; the manifest wants it from frame %d on", clip->name,
            frameCount, clip->first);
    }
    int left = frameCount - clip->first;
    *count = clip->frames > 0 && clip->frames < left ? clip->frames : left;
    return jn_ok;
}

// What libcyaml had to say: its first sentence and the innermost line of its backtrace.
typedef struct Complaint {
    char sentence[256];
    size_t line;
} Complaint;

static void Listen(cyaml_log_t level, void* context, const char* format, va_list arguments)
{
    Complaint* complaint = context;
    char text[256];
    vsnprintf(text, sizeof(text), format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const char* place = strstr(text, "(line: ");
    if (place != NULL && complaint->line == 0) {
        complaint->line = strtoul(place + strlen("(line: "), NULL, 10);
    }
    if (level >= CYAML_LOG_ERROR && complaint->sentence[0] == '\0') {
        snprintf(
            complaint->sentence, sizeof(complaint->sentence), "%s", strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
    }
}

// The line of a key that libcyaml does not know: the first entry of that name at or after the line it gives.
static size_t LineOfKey(const jnaYamlMap* map, const char* key, size_t from)
{
    for (int i = 0; i < map->count; ++i) {
        const char* dot = strrchr(map->entries[i].path, '.');
        if ((size_t)map->entries[i].line >= from && strcmp(dot != NULL ? dot + 1 : map->entries[i].path, key) == 0) {
            return (size_t)map->entries[i].line;
        }
    }
    return from;
}

static jnResult Complain(
    const char* file, const jnaYamlMap* map, const Complaint* complaint, cyaml_err_t code, jnError* error)
{
    static const char unknown[] = "Unexpected key: ", twice[] = "Mapping field already seen: ";
    const char* sentence = complaint->sentence;
    size_t line = complaint->line > 0 ? complaint->line : 1;
    if (strncmp(sentence, unknown, strlen(unknown)) == 0) {
        const char* key = sentence + strlen(unknown);
        return jnFail(error, jn_badData, "%s:%zu: unknown key '%s'", file, LineOfKey(map, key, line), key);
    }
    if (strncmp(sentence, twice, strlen(twice)) == 0) {
        const char* key = sentence + strlen(twice);
        return jnFail(error, jn_badData, "%s:%zu: '%s' is given twice", file, LineOfKey(map, key, line + 1), key);
    }
    return jnFail(error, code == CYAML_ERR_OOM ? jn_outOfMemory : jn_badData, "%s:%zu: %s", file, line,
        sentence[0] != '\0' ? sentence : cyaml_strerror(code));
}

typedef struct Checker {
    const char* file;
    const jnaYamlMap* map;
    jnError* error;
} Checker;

static jnResult FailAt(const Checker* c, const char* path, const char* format, ...)
{
    char sentence[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    const jnaYamlEntry* entry = jnaYamlMap_Find(c->map, path);
    return jnFail(c->error, jn_badData, "%s:%d: %s", c->file, entry != NULL ? entry->line : 1, sentence);
}

// A number of the text, strictly read, within limits. A path that is not in the text keeps its default.
static jnResult CheckNumber(const Checker* c, const char* path, double least, double most, double* value)
{
    const jnaYamlEntry* entry = jnaYamlMap_Find(c->map, path);
    if (entry == NULL) {
        return jn_ok;
    }
    char* end = NULL;
    double number = entry->text != NULL ? strtod(entry->text, &end) : 0;
    if (end == NULL || end == entry->text || *end != '\0' || !isfinite(number)) {
        return FailAt(c, path, "%s: '%s' is not a number", path, entry->text != NULL ? entry->text : "");
    }
    if (number < least || number > most) {
        return FailAt(c, path, "%s is %g; it must lie between %g and %g", path, number, least, most);
    }
    *value = number;
    return jn_ok;
}

static jnResult CheckNumbers(const Checker* c, jnaManifest* m)
{
    const struct {
        const char* path;
        double least, most;
        double* value;
    } numbers[] = {{"character.scale", 0, 1e6, &m->scale}, {"rate", 1, 1000, &m->rate},
        {"materials.density", 1, 1e5, &m->materials.density}, {"materials.young", 1, 1e12, &m->materials.young},
        {"materials.poisson", 0, 0.4999, &m->materials.poisson}, {"springs.hertz", 0, 1000, &m->springs.hertz},
        {"springs.damping_ratio", 0, 100, &m->springs.dampingRatio}, {"modes.count", 1, 1000, &m->modes.count},
        {"modes.cutoff", 0.1, 1000, &m->modes.cutoff}, {"modes.damping_ratio", 0, 10, &m->modes.dampingRatio},
        {"flesh.gravity", 0, 1000, &m->flesh.gravity}, {"flesh.damping", 0, 10, &m->flesh.damping},
        {"flesh.drag", 0, 1000, &m->flesh.drag}, {"flesh.substeps", 0, 1000, &m->flesh.substeps},
        {"volume.edge", 0, 1000, &m->volume.edge}, {"materials.fat.depth", 0, 100, &m->materials.fatDepth},
        {"bones.stiffness", 1, 1e12, &m->bones.stiffness}};
    jnResult result = jn_ok;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && result == jn_ok; ++i) {
        result = CheckNumber(c, numbers[i].path, numbers[i].least, numbers[i].most, numbers[i].value);
    }
    for (int i = 0; i < m->springs.jointCount && result == jn_ok; ++i) {
        char path[80];
        snprintf(path, sizeof(path), "springs.joints[%d].hertz", i);
        result = CheckNumber(c, path, 0, 1000, &m->springs.joints[i].hertz);
        snprintf(path, sizeof(path), "springs.joints[%d].damping_ratio", i);
        result = result == jn_ok ? CheckNumber(c, path, 0, 100, &m->springs.joints[i].dampingRatio) : result;
    }
    return result;
}

// A whole number.
static jnResult CheckCount(const Checker* c, const char* path, double least, double most, double* value)
{
    jnResult result = CheckNumber(c, path, least, most, value);
    return result == jn_ok && *value != floor(*value) ? FailAt(c, path, "%s is %g; it must be whole", path, *value)
                                                      : result;
}

// "off", a multiple of the flesh's thickness, or metres: "1.5", "0.05 m".
static jnResult CheckCap(const Checker* c, jnaManifest* m)
{
    const jnaYamlEntry* entry = jnaYamlMap_Find(c->map, "springs.cap");
    const char* text = entry != NULL && entry->text != NULL ? entry->text : "1";
    char* end = NULL;
    double number = strtod(text, &end);
    bool off = strcmp(text, "off") == 0, metres = strcmp(end, " m") == 0;
    if (!off && (end == text || !(metres || *end == '\0') || !(number > 0 && number <= 1e6))) {
        return FailAt(c, "springs.cap",
            "springs.cap is '%s'; it may be off, a multiple of the flesh's thickness (1.5) or metres (0.05 m)", text);
    }
    m->springs.capKind = off ? jna_capOff : metres ? jna_capMetres : jna_capFlesh;
    m->springs.cap = off ? 1 : number;
    return jn_ok;
}

static jnResult CheckVolume(const Checker* c, jnaManifest* m)
{
    jnResult result = CheckCount(c, "volume.nodes", 0, 1e7, &m->volume.nodes);
    if (result == jn_ok && m->volume.nodes > 0 && m->volume.edge > 0) {
        result = FailAt(c, "volume.nodes", "volume.edge and volume.nodes both set the resolution; one must be 0");
    }
    return result;
}

// The part of each clip.
static jnResult CheckClipParts(const Checker* c, jnaManifest* m)
{
    jnResult result = jn_ok;
    for (int i = 0; i < m->clipCount && result == jn_ok; ++i) {
        char path[40];
        double first = 0, frames = JNA_ALL_FRAMES;
        snprintf(path, sizeof(path), "clips[%d].first", i);
        result = CheckCount(c, path, 0, 1e9, &first);
        snprintf(path, sizeof(path), "clips[%d].frames", i);
        result = result == jn_ok ? CheckCount(c, path, 0, 1e9, &frames) : result;
        m->clips[i].first = (int)first;
        m->clips[i].frames = (int)frames;
    }
    return result;
}

static jnResult CheckPoses(const Checker* c, jnaManifest* m)
{
    double count = m->poses.count;
    jnResult result = CheckCount(c, "poses.count", 1, 1e7, &count);
    m->poses.count = (int)count;
    result = result == jn_ok ? CheckCount(c, "network.epochs", 0, 1e6, &m->network.epochs) : result;
    result = result == jn_ok ? CheckCount(c, "poses.seed", 0, 0x1p53, &m->poses.seed) : result;
    result = result == jn_ok ? CheckNumber(c, "poses.random", 0, 1, &m->poses.random) : result;
    result = result == jn_ok ? CheckNumber(c, "poses.clips", 0, 1, &m->poses.fromClips) : result;
    result = result == jn_ok ? CheckNumber(c, "poses.held_out", 0, 0.9, &m->poses.heldOut) : result;
    result = result == jn_ok ? CheckNumber(c, "poses.widen", 0, 1, &m->poses.widen) : result;
    if (result == jn_ok && !(m->poses.random + m->poses.fromClips > 0)) {
        result = FailAt(c, "poses.random", "poses.random and poses.clips are both 0; one must not be");
    }
    return result;
}

// One number of a list's entry: path "list.key".
static jnResult CheckEntry(
    const Checker* c, const char* list, const char* key, double least, double most, double* value)
{
    char path[100];
    snprintf(path, sizeof(path), "%s.%s", list, key);
    return CheckNumber(c, path, least, most, value);
}

static jnResult CheckIntegrator(const Checker* c, jnaManifest* m)
{
    const jnaYamlEntry* entry = jnaYamlMap_Find(c->map, "flesh.integrator");
    if (entry == NULL || entry->text == NULL) {
        return jn_ok;
    }
    for (int i = 0; i < jna_integratorCount; ++i) {
        if (strcmp(entry->text, jnaIntegratorName((jnaIntegrator)i)) == 0) {
            m->flesh.integrator = (jnaIntegrator)i;
            return jn_ok;
        }
    }
    return FailAt(c, "flesh.integrator", "flesh.integrator is '%s'; it must be backward-euler, bdf2 or %s", entry->text,
        jnaIntegratorName(jna_generalizedAlpha));
}

static jnResult CheckFlesh(const Checker* c, const char* list, jnaJointMaterial* flesh)
{
    jnResult result = CheckEntry(c, list, "young_factor", 1e-6, 1e6, &flesh->youngFactor);
    result = result == jn_ok ? CheckEntry(c, list, "density_factor", 1e-3, 1e3, &flesh->densityFactor) : result;
    return result == jn_ok ? CheckEntry(c, list, "poisson", 0, 0.4999, &flesh->poisson) : result;
}

// A joint may stand in a list once.
static jnResult CheckTwice(const Checker* c, const char* list, const char* joint, const char* earlier)
{
    char path[100];
    snprintf(path, sizeof(path), "%s.joint", list);
    return strcmp(joint, earlier) == 0 ? FailAt(c, path, "%s: '%s' is there twice", path, joint) : jn_ok;
}

static jnResult CheckRegionTwice(const Checker* c, const char* list, jnaRegion region, jnaRegion earlier)
{
    char path[100];
    snprintf(path, sizeof(path), "%s.region", list);
    return region == earlier ? FailAt(c, path, "%s: '%s' is there twice", path, jnaRegionNames[region]) : jn_ok;
}

// Materials by joint and bones. What an entry leaves out is the general value.
static jnResult CheckParts(const Checker* c, jnaManifest* m)
{
    jnResult result = CheckFlesh(c, "materials.fat", &m->materials.fat);
    for (int i = 0; i < m->materials.jointCount && result == jn_ok; ++i) {
        char list[60];
        snprintf(list, sizeof(list), "materials.joints[%d]", i);
        result = CheckFlesh(c, list, &m->materials.joints[i]);
        for (int k = 0; k < i && result == jn_ok; ++k) {
            result = CheckTwice(c, list, m->materials.joints[i].joint, m->materials.joints[k].joint);
        }
    }
    for (int i = 0; i < m->materials.regionCount && result == jn_ok; ++i) {
        char list[60];
        jnaRegionSetting* region = &m->materials.regions[i];
        snprintf(list, sizeof(list), "materials.regions[%d]", i);
        result = CheckEntry(c, list, "young_factor", 1e-6, 1e6, &region->youngFactor);
        result = result == jn_ok ? CheckEntry(c, list, "density_factor", 1e-3, 1e3, &region->densityFactor) : result;
        result = result == jn_ok ? CheckEntry(c, list, "poisson", 0, 0.4999, &region->poisson) : result;
        for (int k = 0; k < i && result == jn_ok; ++k) {
            result = CheckRegionTwice(c, list, region->region, m->materials.regions[k].region);
        }
    }
    for (int i = 0; i < m->bones.regionCount && result == jn_ok; ++i) {
        char list[60];
        snprintf(list, sizeof(list), "bones.regions[%d]", i);
        for (int k = 0; k < i && result == jn_ok; ++k) {
            result = CheckRegionTwice(c, list, m->bones.regions[i].region, m->bones.regions[k].region);
        }
    }
    for (int i = 0; i < m->bones.jointCount && result == jn_ok; ++i) {
        char list[60];
        snprintf(list, sizeof(list), "bones.joints[%d]", i);
        jnaJointBone* bone = &m->bones.joints[i];
        result = CheckEntry(c, list, "radius", 0, 10, &bone->radius);
        result = result == jn_ok ? CheckEntry(c, list, "length", 0, 1.5, &bone->length) : result;
        for (int k = 0; k < i && result == jn_ok; ++k) {
            result = CheckTwice(c, list, bone->joint, m->bones.joints[k].joint);
        }
    }
    return result;
}

static jnResult CheckClips(const Checker* c, const jnaManifest* m)
{
    for (int i = 0; i < m->clipCount; ++i) {
        char path[40];
        snprintf(path, sizeof(path), "clips[%d].name", i);
        const char* name = m->clips[i].name;
        if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != strlen(name) ||
            name[0] == '.') {
            return FailAt(
                c, path, "the clip name '%s' has characters other than letters, digits, '-', '_' and '.'", name);
        }
        for (int k = 0; k < i; ++k) {
            if (strcmp(m->clips[k].name, name) == 0) {
                return FailAt(c, path, "there are two clips called '%s'", name);
            }
        }
    }
    if (m->springs.mode == jna_springsMask && m->springs.mask == NULL) {
        return FailAt(c, "springs.mode", "springs by mask need springs.mask, an array of one weight per vertex");
    }
    if (m->springs.mode == jna_springsAttribute && m->springs.attribute == NULL) {
        return FailAt(c, "springs.mode", "springs by attribute need springs.attribute, COLOR_0.r for instance");
    }
    return jn_ok;
}

static bool AdoptRegions(const RawRegion* raw, unsigned count, int* regionCount, jnaRegionSetting** regions)
{
    *regions = calloc(count + 1, sizeof(**regions));
    *regionCount = *regions != NULL ? (int)count : 0;
    for (int i = 0; i < *regionCount; ++i) {
        (*regions)[i] = (jnaRegionSetting){.region = raw[i].region,
            .youngFactor = -1,
            .densityFactor = -1,
            .poisson = -1,
            .rigid = raw[i].rigid != NULL && *raw[i].rigid};
    }
    return *regions != NULL;
}

// The lists of materials and bones, with their names and defaults; numbers follow from the text. False without memory.
static bool AdoptParts(RawManifest* raw, jnaManifest* m)
{
    if (raw->materials != NULL && raw->materials->jointCount > 0) {
        m->materials.joints = calloc(raw->materials->jointCount, sizeof(*m->materials.joints));
        if (m->materials.joints == NULL) {
            return false;
        }
        m->materials.jointCount = (int)raw->materials->jointCount;
        for (int i = 0; i < m->materials.jointCount; ++i) {
            RawFlesh* flesh = &raw->materials->joints[i];
            m->materials.joints[i] =
                (jnaJointMaterial){.joint = flesh->joint, .youngFactor = 1, .densityFactor = 1, .poisson = -1};
            flesh->joint = NULL;
        }
    }
    if (raw->materials != NULL && raw->materials->calibrate != NULL) {
        m->materials.calibrate = *raw->materials->calibrate;
    }
    if (raw->materials != NULL && !AdoptRegions(raw->materials->regions, raw->materials->regionCount,
                                      &m->materials.regionCount, &m->materials.regions)) {
        return false;
    }
    if (raw->bones == NULL) {
        return true;
    }
    if (!AdoptRegions(raw->bones->regions, raw->bones->regionCount, &m->bones.regionCount, &m->bones.regions)) {
        return false;
    }
    m->bones.hold = raw->bones->hold != NULL ? *raw->bones->hold : m->bones.hold;
    m->bones.joints = calloc(raw->bones->jointCount + 1, sizeof(*m->bones.joints));
    if (m->bones.joints == NULL) {
        return false;
    }
    m->bones.jointCount = (int)raw->bones->jointCount;
    for (int i = 0; i < m->bones.jointCount; ++i) {
        RawBone* bone = &raw->bones->joints[i];
        m->bones.joints[i] = (jnaJointBone){
            .joint = bone->joint, .radius = 1, .length = 1, .rigid = bone->rigid != NULL && *bone->rigid};
        bone->joint = NULL;
    }
    return true;
}

// Moves what libcyaml allocated into the manifest; it uses malloc, as we told it.
static void Adopt(RawManifest* raw, jnaManifest* m)
{
    m->character = raw->character.source;
    raw->character.source = NULL;
    m->clipCount = (int)raw->clipCount;
    m->clips = calloc((size_t)m->clipCount + 1, sizeof(*m->clips));
    for (int i = 0; m->clips != NULL && i < m->clipCount; ++i) {
        RawClip* clip = &raw->clips[i];
        m->clips[i] = (jnaManifestClip){
            clip->name, clip->role, clip->source, clip->animation, clip->motion, .frames = JNA_ALL_FRAMES};
        clip->name = clip->source = clip->animation = clip->motion = NULL;
    }
    if (raw->volume != NULL) {
        m->volume.method = raw->volume->method;
        m->volume.shells = raw->volume->shells;
    }
    m->pairs = raw->pairs;
    m->pairCount = (int)raw->pairCount;
    raw->pairs = NULL;
    raw->pairCount = 0;
    if (raw->poses != NULL) {
        m->poses.file = raw->poses->file;
        m->poses.limitsOfTrain = raw->poses->limitsOfTrain;
        raw->poses->file = NULL;
    }
    if (raw->flesh != NULL && raw->flesh->contact != NULL) {
        m->flesh.contact = *raw->flesh->contact;
    }
    if (raw->network != NULL) {
        m->network.kind = raw->network->kind;
    }
    if (raw->springs != NULL) {
        m->springs.layer = raw->springs->layer;
        m->springs.mode = raw->springs->mode;
        m->springs.joints = raw->springs->joints;
        m->springs.jointCount = (int)raw->springs->jointCount;
        m->springs.mask = raw->springs->mask;
        raw->springs->joints = NULL;
        raw->springs->jointCount = 0;
        raw->springs->mask = NULL;
        m->springs.attribute = raw->springs->attribute;
        raw->springs->attribute = NULL;
    }
}

static jnResult ParseManifest(const char* file, const char* text, size_t size, jnaManifest* manifest, jnError* error)
{
    jnaYamlMap map;
    jnResult result = jnaMapYaml(file, text, size, &map, error);
    if (result != jn_ok) {
        return result;
    }
    Complaint complaint = {0};
    cyaml_config_t config = {.log_fn = Listen,
        .log_ctx = &complaint,
        .log_level = CYAML_LOG_WARNING,
        .mem_fn = cyaml_mem,
        .flags = CYAML_CFG_NO_ALIAS};
    RawManifest* raw = NULL;
    cyaml_err_t code = cyaml_load_data((const uint8_t*)text, size, &config, &manifestValue, (cyaml_data_t**)&raw, NULL);
    Checker checker = {file, &map, error};
    if (code != CYAML_OK) {
        result = Complain(file, &map, &complaint, code, error);
    } else if (raw == NULL) {
        result = jnFail(error, jn_badData, "%s:1: the manifest is empty", file);
    } else if (raw->version != 1) {
        result = FailAt(&checker, "version", "version %u is not known; this is version 1", raw->version);
    } else {
        Adopt(raw, manifest);
        bool adopted = AdoptParts(raw, manifest) && manifest->clips != NULL;
        result = adopted ? CheckNumbers(&checker, manifest) : jnFail(error, jn_outOfMemory, "%s: out of memory", file);
        result = result == jn_ok ? CheckParts(&checker, manifest) : result;
        result = result == jn_ok ? CheckIntegrator(&checker, manifest) : result;
        result = result == jn_ok ? CheckCap(&checker, manifest) : result;
        result = result == jn_ok ? CheckVolume(&checker, manifest) : result;
        result = result == jn_ok ? CheckClipParts(&checker, manifest) : result;
        result = result == jn_ok ? CheckPoses(&checker, manifest) : result;
        result = result == jn_ok ? CheckClips(&checker, manifest) : result;
    }
    cyaml_free(&config, &manifestValue, raw, 0);
    jnaDestroyYamlMap(&map);
    return result;
}

jnResult jnaReadManifest(const char* path, jnaManifest* manifest, jnError* error)
{
    *manifest = jnaDefaultManifest();
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return jnFail(error, jn_ioFailed, "%s: cannot read: %s", path, strerror(errno));
    }
    char* text = malloc(MAX_MANIFEST + 1);
    size_t size = text != NULL ? fread(text, 1, MAX_MANIFEST + 1, file) : 0;
    bool failed = ferror(file) != 0;
    fclose(file);
    jnResult result;
    if (text == NULL) {
        result = jnFail(error, jn_outOfMemory, "%s: out of memory", path);
    } else if (failed) {
        result = jnFail(error, jn_ioFailed, "%s: cannot read", path);
    } else if (size > MAX_MANIFEST) {
        result = jnFail(error, jn_badData, "%s: is larger than 1 MiB", path);
    } else {
        result = ParseManifest(path, text, size, manifest, error);
    }
    free(text);
    if (result != jn_ok) {
        jnaDestroyManifest(manifest);
    }
    return result;
}

void jnaDestroyManifest(jnaManifest* m)
{
    free(m->character);
    free(m->poses.file);
    for (int i = 0; m->clips != NULL && i < m->clipCount; ++i) {
        free(m->clips[i].name);
        free(m->clips[i].source);
        free(m->clips[i].animation);
        free(m->clips[i].motion);
    }
    for (int i = 0; m->pairs != NULL && i < m->pairCount; ++i) {
        free(m->pairs[i].source);
        free(m->pairs[i].joint);
    }
    for (int i = 0; m->springs.joints != NULL && i < m->springs.jointCount; ++i) {
        free(m->springs.joints[i].joint);
    }
    for (int i = 0; i < m->materials.jointCount; ++i) {
        free(m->materials.joints[i].joint);
    }
    for (int i = 0; i < m->bones.jointCount; ++i) {
        free(m->bones.joints[i].joint);
    }
    free(m->materials.joints);
    free(m->materials.regions);
    free(m->bones.joints);
    free(m->bones.regions);
    free(m->clips);
    free(m->pairs);
    free(m->springs.joints);
    free(m->springs.mask);
    free(m->springs.attribute);
    *m = (jnaManifest){0};
}
