// The volume of a workspace as two stages: "volume" makes the tetrahedra, "inside" what lives in them: weights, bones,
// materials, a picture of the bones, and how many tetrahedra skinning alone turns inside out over the clips.
//
// They are apart because the mesher is slow and bones and materials are what a person tries out. Saving a new mesh
// removes what was inside the old one, so that a run that ends between the two is taken up where it ended.
#include "pipeline/stage_volume.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "base/try.h"
#include "draw/bone_picture.h"
#include "flesh/sag.h"
#include "volume/bones.h"
#include "volume/mesh_internal.h"
#include "volume/outfit_hold.h"
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

/// All that the stage "inside" makes.
typedef struct Inside {
    const jnaWorkspace* workspace;
    const jnaCharacter* character;
    jnaVolume volume;
    jnaBoneList bones;
    jnaNotes notes; // of this stage alone: kept in inside.json
    json_t* clips;  // what skinning inverts
} Inside;

static jnResult DescribeMesh(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"character/positions.npy", "character/weld.npy", "character/triangles.npy",
        "character/joints.npy", "character/weights.npy", "character/character.json", NULL};
    static const char* const outputs[] = {"volume/nodes.npy", "volume/tetrahedra.npy", "volume/skin_tetrahedra.npy",
        "volume/skin_weights.npy", "volume/skin_offsets.npy", "volume/skin_blend.npy", "volume/skin_kinds.npy", NULL};
    const jnaVolumeDef* def = &run->workspace->manifest.volume;
    (void)error;
    jnaStage_ReadAll(stage, NULL, inputs);
    if (jnaWorkspace_Has(run->workspace, "character/marks.npy")) {
        jnaStage_Read(stage, run->workspace->path, "character/marks.npy");
    }
    jnaStage_MakeAll(stage, outputs);
    jnaStage_Share(stage, jnaInsideStage.name, "volume/volume.json");
    jnaWorkspace_Depend(run->workspace, stage);
    // The rule by which a method is chosen and the skin hung on it: 3, pieces, sheets and outfits.
    jnaStage_Depend(stage, "keep inner %d\nimprove %d\nrule 3\n", def->keepInner, def->improve);
    return jn_ok;
}

// Clips that the manifest names but nobody imported yet are no input; they become one once they are there.
static jnResult DescribeInside(const jnaStageRun* run, jnaStage* stage, jnError* error)
{
    static const char* const inputs[] = {"character/positions.npy", "character/weld.npy", "character/joints.npy",
        "character/weights.npy", "character/character.json", "volume/nodes.npy", "volume/tetrahedra.npy",
        "volume/skin_tetrahedra.npy", "volume/skin_weights.npy", "volume/skin_offsets.npy", NULL};
    static const char* const outputs[] = {"volume/volume.json", "volume/inside.json", "volume/bones.png",
        "volume/row_starts.npy", "volume/joints.npy", "volume/weights.npy", "volume/held_by.npy",
        "volume/hold_strength.npy", "volume/regions.npy", "volume/materials.npy", NULL};
    static const char* const clipFiles[] = {"clip.json", "rotations.npy", "translations.npy", "scales.npy"};
    const jnaWorkspace* w = run->workspace;
    (void)error;
    jnaStage_ReadAll(stage, NULL, inputs);
    for (int i = 0; i < 4 * w->manifest.clipCount; ++i) {
        jnaStage_Read(stage, w->path, "clips/%s/%s", w->manifest.clips[i / 4].name, clipFiles[i % 4]);
    }
    jnaStage_MakeAll(stage, outputs);
    jnaStage_Share(stage, stage->name, "volume/volume.json"); // the mesh made it
    jnaWorkspace_Depend(w, stage);
    // The rule by which stiffness is found: 3, from the physique, groins tied.
    jnaStage_Depend(stage, "stiffness rule 3\n");
    return jn_ok;
}

static void DestroyInside(Inside* inside)
{
    json_decref(inside->clips);
    jnaDestroyNotes(&inside->notes);
    jnaDestroyBoneList(&inside->bones);
    jnaDestroyVolume(&inside->volume);
}

static jnResult CountOneClip(Inside* inside, const char* name, jnError* error)
{
    jnaClip clip;
    JN_PASS(jnaLoadClip(inside->workspace->path, name, inside->character, &clip, error));
    jnResult result = jn_ok;
    int every = 1 + (clip.frameCount - 1) / SAMPLED_FRAMES, sampled = 1 + (clip.frameCount - 1) / every;
    int* counts = jnaAllocate(sampled, sizeof(*counts));
    JN_TRY(counts != NULL ? jnaVolume_CountInversions(&inside->volume, inside->character, &clip, every, counts, error)
                          : jnFail(error, jn_outOfMemory, "out of memory for %d frames", sampled));
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
done:
    free(counts);
    jnaDestroyClip(&clip);
    return result;
}

static jnResult CountClips(Inside* inside, jnError* error)
{
    for (int i = 0; i < inside->workspace->manifest.clipCount; ++i) {
        const char* name = inside->workspace->manifest.clips[i].name;
        if (jnaWorkspace_Has(inside->workspace, "clips/%s/clip.json", name)) {
            JN_PASS(CountOneClip(inside, name, error));
        } else {
            jnaNotes_Add(&inside->notes, "clip '%s' is not imported yet; jounce build does that", name);
        }
    }
    return jn_ok;
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
        const jnaMaterial* material = jnaVolume_Material(v, t);
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
    char* settings = jnaManifest_Settings(&inside->workspace->manifest, "inside");
    root = settings == NULL ? NULL
                            : json_pack("{s:i, s:s, s:i, s:o, s:o, s:o, s:O, s:o}", "format", 1, "settings", settings,
                                  "held", held, "joints", DescribeJoints(inside), "bones", DescribeBones(inside),
                                  "regions", DescribeRegions(inside), "clips", inside->clips, "notes", notes);
    free(settings);
    return jnaSaveJson(inside->workspace->path, "volume/inside.json", root, 17, error);
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
    JN_PASS(jnaSaveVolume(inside->workspace->path, &inside->volume, NULL, error));
    JN_PASS(jnaJoinPath(inside->workspace->path, "volume/bones.png", picture, error));
    JN_PASS(jnaPictureBones(&inside->volume, inside->character, &inside->bones, picture, error));
    return SaveInside(inside, error);
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
    const jnaManifest* m = &inside->workspace->manifest;
    const jnaWeightsDef def = jnaDefaultWeightsDef();
    double start = jnaWallClock();
    if (v->nodeCount == 0) {
        JN_PASS(MakeNothing(v, c, error));
        return SaveAll(inside, error);
    }
    JN_PASS(jnaVolume_CarryWeights(v, c, &def, error));
    report->time.weights = Lap(&start);
    JN_PASS(jnaWatch_Tell(watch, 0.8, error));
    JN_PASS(jnaVolume_PlaceBones(v, c, &m->bones, &inside->bones, &inside->notes, error));
    report->time.bones = Lap(&start);
    JN_PASS(jnaVolume_CalibrateMaterials(v, c, &m->materials, &inside->notes, error));
    jnaVolume_StiffenOutfit(v);
    // After the calibration: a leg that is held would make the other one soft until both sag enough.
    jnaVolume_HoldRigidSkin(v, m->bones.hold == jna_boneDirichlet ? 0 : (float)m->bones.stiffness);
    report->time.materials = Lap(&start);
    JN_PASS(jnaWatch_Tell(watch, 0.9, error));
    JN_PASS(CountClips(inside, error));
    report->time.clips = Lap(&start);
    JN_PASS(jnaWatch_Tell(watch, 0.95, error));
    JN_PASS(SaveAll(inside, error));
    report->time.save = Lap(&start);
    return jn_ok;
}

static jnResult RunInside(jnaStageRun* run, jnError* error)
{
    jnaVolumeReport local = {0}, *report = run->report != NULL ? run->report : &local;
    jnaWorkspace* w = run->workspace;
    Inside inside = {.workspace = w, .clips = json_array()};
    jnResult result = jn_ok;
    JN_TRY(inside.clips != NULL ? jnaWorkspace_Character(w, &inside.character, error)
                                : jnFail(error, jn_outOfMemory, "%s: out of memory", w->path));
    JN_TRY(jnaLoadMesh(w->path, &inside.volume, error));
    JN_TRY(jnaWatch_Tell(&run->watch, 0.7, error));
    JN_TRY(MakeInside(&inside, &run->watch, report, error));
done:
    for (int i = 0; i < inside.notes.count; ++i) {
        jnaNotes_Add(run->notes, "%s", inside.notes.lines[i]);
    }
    DestroyInside(&inside);
    return result;
}

static jnResult RunMesh(jnaStageRun* run, jnError* error)
{
    jnaWorkspace* w = run->workspace;
    const jnaCharacter* character;
    jnaVolume volume = {0};
    jnaVolumeReport local, *report = run->report != NULL ? run->report : &local;
    jnaVolumeDef def = w->manifest.volume;
    def.watch = run->watch;
    jnResult result = jn_ok;
    JN_TRY(jnaWorkspace_Character(w, &character, error));
    JN_TRY(jnaCreateVolume(character, &def, &volume, report, run->notes, error));
    JN_TRY(jnaSaveVolume(w->path, &volume, report, error));
done:
    jnaDestroyVolume(&volume);
    return result;
}

const jnaStageKind jnaVolumeStage = {"volume", DescribeMesh, RunMesh};
const jnaStageKind jnaInsideStage = {"inside", DescribeInside, RunInside};

jnResult jnaCheckInside(const jnaWorkspace* w, jnError* error)
{
    json_t* root = NULL;
    char* now = jnaManifest_Settings(&w->manifest, "inside");
    jnResult result = jn_ok;
    JN_TRY(now != NULL ? jnaLoadJson(w->path, "volume/inside.json", &root, error)
                       : jnFail(error, jn_outOfMemory, "%s: out of memory", w->path));
    const char* then = json_string_value(json_object_get(root, "settings"));
    if (then == NULL || strcmp(then, now) != 0) {
        JN_TRY(jnFail(error, jn_badData,
            "%s: bones or materials changed in the manifest since; run jounce tetrahedralize again", w->path));
    }
done:
    json_decref(root);
    free(now);
    return result;
}

jnResult jnaUpdateVolume(jnaStageRun* run, jnError* error)
{
    jnaVolumeReport local, *report = run->report != NULL ? run->report : &local;
    *report = (jnaVolumeReport){0};
    JN_PASS(jnaStageKind_Run(&jnaVolumeStage, run, error));
    report->meshMade = run->made;
    if (!run->made && run->report != NULL) {
        jnaVolume mesh;
        JN_PASS(jnaLoadMesh(run->workspace->path, &mesh, error));
        report->method = mesh.method;
        report->after = jnaMeasureMesh(mesh.nodeCount, mesh.nodes, mesh.tetrahedronCount, mesh.tetrahedra);
        jnaDestroyVolume(&mesh);
    }
    JN_PASS(jnaStageKind_Run(&jnaInsideStage, run, error));
    report->insideMade = run->made;
    run->made = report->meshMade || report->insideMade;
    return jn_ok;
}
