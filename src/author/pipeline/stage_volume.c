// The volume of a workspace as two stages: "volume" makes the tetrahedra, "inside" what lives in them: weights, bones,
// materials, a picture of the bones, and how many tetrahedra skinning alone turns inside out over the clips.
//
// They are apart because the mesher is slow and bones and materials are what a person tries out. Saving a new mesh
// removes what was inside the old one, so that a run that ends between the two is taken up where it ended.
#include "pipeline/stage_volume.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "draw/bone_picture.h"
#include "flesh/sag.h"
#include "volume/bones.h"
#include "volume/mesh_internal.h"
#include "volume/posing.h"
#include "volume/volume_internal.h"
#include "volume/weights.h"
#include "workspace/stage.h"
#include "workspace/store.h"
#include "workspace/volume_store.h"

#include "runtime/for_author.h"

#include <jansson.h>
#include <unistd.h>

// Frames of a clip that are skinned for the count; they are spread evenly.
enum { SAMPLED_FRAMES = 32 };

/// All that the stage "inside" reads and makes.
typedef struct Inside {
    const char* workspace;
    const jnaCharacter* character;
    jnaManifest manifest;
    jnaVolume volume;
    jnaBoneList bones;
    jnaNotes notes; // of this stage alone: kept in inside.json
    json_t* clips;  // what skinning inverts
    char* settings; // text of the manifest's sections
    char** inputs;  // [inputCount], owned
    int inputCount;
} Inside;

// The stages; texts and lists must live as long as they.
enum { SETTINGS_LENGTH = 256 };
static jnaStage DescribeMeshStage(const jnaVolumeDef* def, char text[SETTINGS_LENGTH])
{
    static const char* const inputs[] = {"character/positions.npy", "character/weld.npy", "character/triangles.npy",
        "character/joints.npy", "character/weights.npy", "character/character.json"};
    static const char* const outputs[] = {"volume/volume.json", "volume/nodes.npy", "volume/tetrahedra.npy",
        "volume/skin_tetrahedra.npy", "volume/skin_weights.npy", "volume/skin_offsets.npy", "volume/skin_blend.npy"};
    snprintf(text, SETTINGS_LENGTH, "method %d\nedge %.17g\nnodes %d\nkeepInner %d\nshells %d\nimprove %d\n",
        (int)def->method, def->edge, def->nodes, def->keepInner, (int)def->shells, def->improve);
    return (jnaStage){
        "volume", sizeof(inputs) / sizeof(inputs[0]), inputs, text, sizeof(outputs) / sizeof(outputs[0]), outputs, 0};
}

static jnaStage DescribeInsideStage(const Inside* inside)
{
    static const char* const outputs[] = {"volume/inside.json", "volume/bones.png", "volume/row_starts.npy",
        "volume/joints.npy", "volume/weights.npy", "volume/held_by.npy", "volume/hold_strength.npy",
        "volume/regions.npy", "volume/materials.npy"};
    return (jnaStage){"inside", inside->inputCount, (const char* const*)inside->inputs, inside->settings,
        sizeof(outputs) / sizeof(outputs[0]), outputs, 0};
}

// The manifest's sections "bones" and "materials", every value of them.
static char* DescribeInsideSettings(const jnaManifest* m)
{
    char* text = NULL;
    size_t size = 0;
    FILE* stream = open_memstream(&text, &size);
    if (stream == NULL) {
        return NULL;
    }
    fprintf(stream, "material %.17g %.17g %.17g\n", m->materials.young, m->materials.poisson, m->materials.density);
    fprintf(stream, "calibrate %d\n", m->materials.calibrate);
    fprintf(stream, "fat %.17g %.17g %.17g %.17g\n", m->materials.fatDepth, m->materials.fat.youngFactor,
        m->materials.fat.densityFactor, m->materials.fat.poisson);
    for (int i = 0; i < m->materials.jointCount; ++i) {
        const jnaJointMaterial* f = &m->materials.joints[i];
        fprintf(stream, "flesh %s\n%.17g %.17g %.17g\n", f->joint, f->youngFactor, f->densityFactor, f->poisson);
    }
    for (int i = 0; i < m->materials.regionCount; ++i) {
        const jnaRegionSetting* r = &m->materials.regions[i];
        fprintf(stream, "region %d %.17g %.17g %.17g\n", (int)r->region, r->youngFactor, r->densityFactor, r->poisson);
    }
    fprintf(stream, "bones %d %.17g\n", (int)m->bones.hold, m->bones.stiffness);
    for (int i = 0; i < m->bones.jointCount; ++i) {
        const jnaJointBone* b = &m->bones.joints[i];
        fprintf(stream, "bone %s\n%.17g %.17g %d\n", b->joint, b->radius, b->length, b->rigid);
    }
    for (int i = 0; i < m->bones.regionCount; ++i) {
        fprintf(stream, "rigid %d %d\n", (int)m->bones.regions[i].region, m->bones.regions[i].rigid);
    }
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

static void DestroyInside(Inside* inside)
{
    for (int i = 0; i < inside->inputCount && inside->inputs != NULL; ++i) {
        free(inside->inputs[i]);
    }
    free(inside->inputs);
    free(inside->settings);
    json_decref(inside->clips);
    jnaDestroyNotes(&inside->notes);
    jnaDestroyBoneList(&inside->bones);
    jnaDestroyVolume(&inside->volume);
    jnaDestroyManifest(&inside->manifest);
}

static bool FileIsThere(const char* workspace, const char* file)
{
    char path[JNA_PATH_LENGTH];
    return jnaJoinPath(workspace, file, path, NULL) == jn_ok && access(path, R_OK) == 0;
}

// Clips that the manifest names but nobody imported yet are no input; they become one once they are there.
static bool ListInputs(Inside* inside)
{
    static const char* const fixed[] = {"character/positions.npy", "character/weld.npy", "character/joints.npy",
        "character/weights.npy", "character/character.json", "volume/nodes.npy", "volume/tetrahedra.npy",
        "volume/skin_tetrahedra.npy", "volume/skin_weights.npy", "volume/skin_offsets.npy"};
    static const char* const clipFiles[] = {"clip.json", "rotations.npy", "translations.npy", "scales.npy"};
    enum { FIXED = sizeof(fixed) / sizeof(fixed[0]), PER_CLIP = sizeof(clipFiles) / sizeof(clipFiles[0]) };
    inside->inputs = calloc(FIXED + PER_CLIP * (size_t)inside->manifest.clipCount, sizeof(char*));
    if (inside->inputs == NULL) {
        return false;
    }
    for (int i = 0; i < FIXED; ++i) {
        inside->inputs[inside->inputCount] = strdup(fixed[i]);
        if (inside->inputs[inside->inputCount++] == NULL) {
            return false;
        }
    }
    for (int i = 0; i < PER_CLIP * inside->manifest.clipCount; ++i) {
        char file[JNA_NAME_LENGTH + 64];
        snprintf(file, sizeof(file), "clips/%s/%s", inside->manifest.clips[i / PER_CLIP].name, clipFiles[i % PER_CLIP]);
        if (FileIsThere(inside->workspace, file)) {
            inside->inputs[inside->inputCount] = strdup(file);
            if (inside->inputs[inside->inputCount++] == NULL) {
                return false;
            }
        }
    }
    return true;
}

static jnResult OpenInside(const char* workspace, const jnaCharacter* character, Inside* inside, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    *inside = (Inside){.workspace = workspace, .character = character};
    jnResult result = jnaJoinPath(workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &inside->manifest, error) : result;
    if (result != jn_ok) {
        return result;
    }
    inside->settings = DescribeInsideSettings(&inside->manifest);
    inside->clips = json_array();
    return inside->settings != NULL && inside->clips != NULL && ListInputs(inside)
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
}

static jnResult CountOneClip(Inside* inside, const char* name, jnError* error)
{
    jnaClip clip;
    jnResult result = jnaLoadClip(inside->workspace, name, inside->character, &clip, error);
    if (result != jn_ok) {
        return result;
    }
    int every = 1 + (clip.frameCount - 1) / SAMPLED_FRAMES, sampled = 1 + (clip.frameCount - 1) / every;
    int* counts = jnaAllocate(sampled, sizeof(*counts));
    result = counts != NULL ? jnaVolume_CountInversions(&inside->volume, inside->character, &clip, every, counts, error)
                            : jnFail(error, jn_outOfMemory, "out of memory for %d frames", sampled);
    if (result == jn_ok) {
        int worst = 0;
        double sum = 0;
        for (int i = 0; i < sampled; ++i) {
            worst = counts[i] > counts[worst] ? i : worst;
            sum += counts[i];
        }
        double all = inside->volume.tetrahedronCount > 0 ? inside->volume.tetrahedronCount : 1;
        json_array_append_new(inside->clips,
            json_pack("{s:s, s:i, s:i, s:f, s:f, s:i}", "name", name, "frames", clip.frameCount, "sampled", sampled,
                "mean_share", sum / sampled / all, "worst_share", counts[worst] / all, "worst_frame", every * worst));
    }
    free(counts);
    jnaDestroyClip(&clip);
    return result;
}

static jnResult CountClips(Inside* inside, jnError* error)
{
    jnResult result = jn_ok;
    for (int i = 0; i < inside->manifest.clipCount && result == jn_ok; ++i) {
        const char* name = inside->manifest.clips[i].name;
        char file[JNA_NAME_LENGTH + 64];
        snprintf(file, sizeof(file), "clips/%s/clip.json", name);
        if (FileIsThere(inside->workspace, file)) {
            result = CountOneClip(inside, name, error);
        } else {
            jnaNotes_Add(&inside->notes, "clip '%s' is not imported yet; jounce build does that", name);
        }
    }
    return result;
}

static json_t* DescribeJoints(const Inside* inside)
{
    const jnaVolume* v = &inside->volume;
    int count = inside->character->jointCount;
    int* held = jnaAllocate(2 * count + 2, sizeof(*held));
    if (held == NULL) {
        return NULL;
    }
    for (int n = 0; n < v->nodeCount; ++n) {
        held[v->heldBy[n] + 1]++;
    }
    json_t* joints = json_array();
    for (int j = 0; j < count; ++j) {
        json_array_append_new(joints, json_pack("{s:s, s:i, s:i}", "name", inside->character->joints[j].name, "held",
                                          held[j + 1], "held_by_ball", held[count + j + 1]));
    }
    free(held);
    return joints;
}

static json_t* DescribeVector(const double* values, int count)
{
    json_t* list = json_array();
    for (int i = 0; i < count; ++i) {
        json_array_append_new(list, json_real(values[i]));
    }
    return list;
}

static json_t* DescribeBones(const Inside* inside)
{
    json_t* list = json_array();
    for (int i = 0; i < inside->bones.count; ++i) {
        const jnaBone* b = &inside->bones.bones[i];
        json_array_append_new(list, json_pack("{s:s, s:b, s:b, s:f, s:o, s:o, s:o, s:o, s:o}", "joint",
                                        inside->character->joints[b->joint].name, "ball", b->ball, "blends", b->blends,
                                        "cover", b->cover, "from", DescribeVector(b->ends[0], 3), "to",
                                        DescribeVector(b->ends[1], 3), "across", DescribeVector(b->axes[0], 6), "radii",
                                        DescribeVector(b->radii[0], 4), "caps", DescribeVector(b->caps, 2)));
    }
    return list;
}

// What the flesh of each region is like: means over its volume.
static json_t* DescribeRegions(const Inside* inside)
{
    const jnaVolume* v = &inside->volume;
    struct {
        int count;
        double volume, young, poisson, density;
    } sums[JNA_REGIONS] = {{0}};
    jnaAnatomy anatomy = {0};
    if (v->nodeCount == 0) {
        return json_array();
    }
    if (jnaFindAnatomy(inside->character, v, &anatomy, NULL) != jn_ok) {
        return NULL;
    }
    for (int t = 0; t < v->tetrahedronCount; ++t) {
        const int32_t* c = v->tetrahedra + 4 * (size_t)t;
        double middle[3] = {0};
        for (int k = 0; k < 12; ++k) {
            middle[k % 3] += v->nodes[3 * (size_t)c[k / 3] + (size_t)(k % 3)] / 4;
        }
        double volume = jnaVolume6(v->nodes + 3 * (size_t)c[0], v->nodes + 3 * (size_t)c[1],
                            v->nodes + 3 * (size_t)c[2], v->nodes + 3 * (size_t)c[3]) /
                        6;
        const jnaMaterial* material = &v->materials[v->regions[t]];
        jnaRegion region = jnaAnatomy_Region(&anatomy, jnaTetrahedronJoint(v, t), middle);
        sums[region].count++;
        sums[region].volume += volume;
        sums[region].young += volume * material->young;
        sums[region].poisson += volume * material->poisson;
        sums[region].density += volume * material->density;
    }
    json_t* list = json_array();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double volume = sums[r].volume;
        if (sums[r].count > 0) {
            json_array_append_new(
                list, json_pack("{s:s, s:f, s:f, s:f, s:i, s:f}", "region", jnaRegionNames[r], "young",
                          sums[r].young / volume, "poisson", sums[r].poisson / volume, "density",
                          sums[r].density / volume, "tetrahedra", sums[r].count, "volume", volume));
        }
    }
    jnaDestroyAnatomy(&anatomy);
    return list;
}

static jnResult SaveInside(Inside* inside, jnError* error)
{
    json_t *notes = json_array(), *root = NULL;
    for (int i = 0; i < inside->notes.count; ++i) {
        json_array_append_new(notes, json_string(inside->notes.lines[i]));
    }
    int held = 0;
    for (int n = 0; n < inside->volume.nodeCount; ++n) {
        held += inside->volume.heldBy[n] >= 0;
    }
    root = json_pack("{s:i, s:s, s:i, s:o, s:o, s:o, s:O, s:o}", "format", 1, "settings", inside->settings, "held",
        held, "joints", DescribeJoints(inside), "bones", DescribeBones(inside), "regions", DescribeRegions(inside),
        "clips", inside->clips, "notes", notes);
    jnResult result = root != NULL ? jnaSaveJson(inside->workspace, "volume/inside.json", root, 17, error)
                                   : jnFail(error, jn_outOfMemory, "%s: out of memory", inside->workspace);
    json_decref(root);
    return result;
}

// Seconds since the last call.
static double Lap(double* start)
{
    double now = jnaWallClock(), lap = now - *start;
    *start = now;
    return lap;
}

static jnResult SaveAll(Inside* inside, jnError* error)
{
    char picture[JNA_PATH_LENGTH];
    jnResult result = jnaSaveVolume(inside->workspace, &inside->volume, NULL, error);
    result = result == jn_ok ? jnaJoinPath(inside->workspace, "volume/bones.png", picture, error) : result;
    if (result == jn_ok) {
        result = jnaPictureBones(&inside->volume, inside->character, &inside->bones, picture, error);
    }
    return result == jn_ok ? SaveInside(inside, error) : result;
}

// What lives in no flesh: arrays of nothing, so that whoever reads the volume finds all of them.
static jnResult MakeNothing(jnaVolume* v, const jnaCharacter* c, jnError* error)
{
    v->jointCount = c->jointCount;
    v->rowStarts = jnaAllocate(1, sizeof(*v->rowStarts));
    v->joints = jnaAllocate(0, sizeof(*v->joints));
    v->weights = jnaAllocate(0, sizeof(*v->weights));
    v->heldBy = jnaAllocate(0, sizeof(*v->heldBy));
    v->holdStrength = jnaAllocate(0, sizeof(*v->holdStrength));
    v->regions = jnaAllocate(0, sizeof(*v->regions));
    v->materials = jnaAllocate(0, sizeof(*v->materials));
    return v->rowStarts != NULL && v->joints != NULL && v->weights != NULL && v->heldBy != NULL &&
                   v->holdStrength != NULL && v->regions != NULL && v->materials != NULL
               ? jn_ok
               : jnFail(error, jn_outOfMemory, "out of memory for a volume");
}

static jnResult MakeInside(Inside* inside, const jnaWatch* watch, jnaVolumeReport* report, jnError* error)
{
    jnaVolume* v = &inside->volume;
    const jnaCharacter* c = inside->character;
    const jnaWeightsDef def = jnaDefaultWeightsDef();
    double start = jnaWallClock();
    if (v->nodeCount == 0) {
        jnResult result = MakeNothing(v, c, error);
        return result == jn_ok ? SaveAll(inside, error) : result;
    }
    jnResult result = jnaVolume_CarryWeights(v, c, &def, error);
    report->time.weights = Lap(&start);
    result = result == jn_ok ? jnaWatch_Tell(watch, 0.8, error) : result;
    if (result == jn_ok) {
        result = jnaVolume_PlaceBones(v, c, &inside->manifest.bones, &inside->bones, &inside->notes, error);
    }
    report->time.bones = Lap(&start);
    result = result == jn_ok ? jnaVolume_CalibrateMaterials(v, c, &inside->manifest.materials, &inside->notes, error)
                             : result;
    report->time.materials = Lap(&start);
    result = result == jn_ok ? jnaWatch_Tell(watch, 0.9, error) : result;
    result = result == jn_ok ? CountClips(inside, error) : result;
    report->time.clips = Lap(&start);
    result = result == jn_ok ? jnaWatch_Tell(watch, 0.95, error) : result;
    result = result == jn_ok ? SaveAll(inside, error) : result;
    report->time.save = Lap(&start);
    return result;
}

static jnResult UpdateInside(const char* workspace, const jnaCharacter* character, const jnaWatch* watch, bool force,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    Inside inside;
    bool stale = true;
    double started = jnaWallClock();
    jnResult result = OpenInside(workspace, character, &inside, error);
    jnaStage stage = DescribeInsideStage(&inside);
    result = result == jn_ok ? jnaStage_IsStale(workspace, &stage, &stale, NULL, error) : result;
    report->insideMade = stale || force;
    if (result == jn_ok && report->insideMade) {
        result = jnaLoadVolume(workspace, &inside.volume, error);
        result = result == jn_ok ? jnaWatch_Tell(watch, 0.7, error) : result;
        result = result == jn_ok ? MakeInside(&inside, watch, report, error) : result;
        stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(workspace, &stage, error) : result;
    }
    for (int i = 0; i < inside.notes.count; ++i) {
        jnaNotes_Add(notes, "%s", inside.notes.lines[i]);
    }
    DestroyInside(&inside);
    return result;
}

static jnResult UpdateMesh(const char* workspace, const jnaCharacter* character, const jnaVolumeDef* def, bool force,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    char settings[SETTINGS_LENGTH];
    jnaStage stage = DescribeMeshStage(def, settings);
    double started = jnaWallClock();
    jnaVolume volume = {0};
    bool stale = true;
    jnResult result = jnaStage_IsStale(workspace, &stage, &stale, NULL, error);
    stale = stale || force;
    if (result == jn_ok && stale) {
        result = jnaCreateVolume(character, def, &volume, report, notes, error);
        result = result == jn_ok ? jnaSaveVolume(workspace, &volume, report, error) : result;
        stage.seconds = jnaWallClock() - started;
        result = result == jn_ok ? jnaStage_Record(workspace, &stage, error) : result;
    } else if (result == jn_ok) {
        result = jnaLoadVolume(workspace, &volume, error);
        *report = (jnaVolumeReport){.method = volume.method};
        if (result == jn_ok) {
            report->after = jnaMeasureMesh(volume.nodeCount, volume.nodes, volume.tetrahedronCount, volume.tetrahedra);
        }
    }
    report->meshMade = stale;
    jnaDestroyVolume(&volume);
    return result;
}

jnResult jnaCheckInside(const char* workspace, const jnaManifest* manifest, jnError* error)
{
    json_t* root = NULL;
    char* now = DescribeInsideSettings(manifest);
    jnResult result = now != NULL ? jnaLoadJson(workspace, "volume/inside.json", &root, error)
                                  : jnFail(error, jn_outOfMemory, "%s: out of memory", workspace);
    const char* then = json_string_value(json_object_get(root, "settings"));
    if (result == jn_ok && (then == NULL || strcmp(then, now) != 0)) {
        result = jnFail(error, jn_badData,
            "%s: bones or materials changed in the manifest since; run jounce tetrahedralize again", workspace);
    }
    json_decref(root);
    free(now);
    return result;
}

jnResult jnaReadVolumeDef(const char* workspace, jnaVolumeDef* def, jnError* error)
{
    char path[JNA_PATH_LENGTH];
    jnaManifest manifest = {0};
    *def = jnaDefaultVolumeDef();
    jnResult result = jnaJoinPath(workspace, "manifest.yaml", path, error);
    result = result == jn_ok ? jnaReadManifest(path, &manifest, error) : result;
    if (result == jn_ok) {
        *def = manifest.volume;
        jnaDestroyManifest(&manifest);
    }
    return result;
}

jnResult jnaVolumeIsStale(const char* workspace, const jnaVolumeDef* def, bool* stale, char* reason, jnError* error)
{
    char settings[SETTINGS_LENGTH];
    const jnaStage mesh = DescribeMeshStage(def, settings);
    jnResult result = jnaStage_IsStale(workspace, &mesh, stale, reason, error);
    if (result != jn_ok || *stale) {
        return result;
    }
    Inside inside;
    result = OpenInside(workspace, NULL, &inside, error);
    const jnaStage stage = DescribeInsideStage(&inside);
    result = result == jn_ok ? jnaStage_IsStale(workspace, &stage, stale, reason, error) : result;
    DestroyInside(&inside);
    return result;
}

jnResult jnaUpdateVolume(const char* workspace, const jnaVolumeDef* def, bool force, bool* made,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    jnaVolumeReport local;
    report = report != NULL ? report : &local;
    *report = (jnaVolumeReport){0};
    jnaCharacter character;
    jnResult result = jnaLoadCharacter(workspace, &character, error);
    if (result != jn_ok) {
        return result;
    }
    result = UpdateMesh(workspace, &character, def, force, report, notes, error);
    result = result == jn_ok ? UpdateInside(workspace, &character, &def->watch, force, report, notes, error) : result;
    if (made != NULL) {
        *made = report->meshMade || report->insideMade;
    }
    jnaDestroyCharacter(&character);
    return result;
}
