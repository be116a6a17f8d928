// jounce new: a workspace from a character's file, its clips, motion capture and simulated motion.
#include "base/try.h"
#include "character/body.h"
#include "character/source.h"
#include "cli.h"
#include "pipeline/stage_import.h"
#include "volume/anatomy.h"
#include "workspace/store.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// NAME=FILE words of a repeated option, split in place of the first '='; and those that are only a name.
typedef struct Pairs {
    int count, plainCount;
    const char* plain[JNC_MAX_REPEATS];
    const char* names[JNC_MAX_REPEATS];
    const char* files[JNC_MAX_REPEATS];
    char* copies[JNC_MAX_REPEATS];
} Pairs;

static int SplitPairs(const char* option, const jncList* list, bool names, Pairs* pairs)
{
    for (int i = 0; i < list->count; ++i) {
        const char* equals = strchr(list->words[i], '=');
        if (names && equals == NULL && list->words[i][0] != '\0') {
            pairs->plain[pairs->plainCount++] = list->words[i];
            continue;
        }
        if (equals == NULL || equals == list->words[i] || equals[1] == '\0') {
            return jncMisuse("%s: '%s' is not NAME=VALUE", option, list->words[i]);
        }
        char* copy = strdup(list->words[i]);
        if (copy == NULL) {
            return jncFail(&(jnError){jn_outOfMemory, "out of memory"});
        }
        copy[equals - list->words[i]] = '\0';
        pairs->copies[pairs->count] = copy;
        pairs->names[pairs->count] = copy;
        pairs->files[pairs->count++] = copy + (equals - list->words[i]) + 1;
    }
    return -1;
}

// NAME=ROLE words. roles: [JNC_MAX_REPEATS]
static int ReadRoles(const Pairs* pairs, jnaMeshRole* roles)
{
    for (int i = 0; i < pairs->count; ++i) {
        int role = 0;
        while (role < 3 && strcmp(pairs->files[i], jnaMeshRoleNames[role]) != 0) {
            ++role;
        }
        if (role == 3) {
            return jncMisuse("--part: '%s' is none of flesh, follows and rigid", pairs->files[i]);
        }
        roles[i] = (jnaMeshRole)role;
    }
    return -1;
}

static void FreePairs(Pairs* pairs)
{
    for (int i = 0; i < pairs->count; ++i) {
        free(pairs->copies[i]);
    }
}

// What was taken for which part of the body, as an object and as text for the manifest.
static jnResult DescribeParts(const char* path, json_t* root, jnError* error)
{
    jnaCharacter flesh;
    jnaAnatomy anatomy = {0};
    int joints[JNA_BODY_SLOTS];
    JN_PASS(jnaLoadCharacter(path, &flesh, error));
    jnResult result = jnaFindSurfaceAnatomy(&flesh, &anatomy, error);
    json_t* body = json_object();
    if (result == jn_ok) {
        jnaAnatomy_Body(&anatomy, &flesh, joints);
        for (int s = 0; s < JNA_BODY_SLOTS; ++s) {
            if (joints[s] >= 0) {
                json_object_set_new(body, jnaBodySlotNames[s], json_string(flesh.joints[joints[s]].name));
            }
        }
        char* text = jnaDescribeBody(&flesh, joints);
        json_object_set_new(root, "body_yaml", json_string(text != NULL ? text : ""));
        free(text);
    }
    json_object_set_new(root, "body", body);
    jnaDestroyAnatomy(&anatomy);
    jnaDestroyCharacter(&flesh);
    // Joints that cannot be placed have no parts; the workspace is there all the same.
    return result == jn_badData ? jn_ok : result;
}

// What is in the workspace now, read back from it.
static json_t* Describe(const char* path, const jnaNotes* notes, jnError* error)
{
    char file[4096];
    jnaCharacter character;
    jnaManifest manifest = {0};
    if (jnaLoadWholeCharacter(path, &character, error) != jn_ok) {
        return NULL;
    }
    snprintf(file, sizeof(file), "%s/manifest.yaml", path);
    jnResult result = jnaReadManifest(file, &manifest, error);
    json_t *clips = json_array(), *lines = json_array(), *attributes = json_object();
    for (int i = 0; result == jn_ok && i < manifest.clipCount; ++i) {
        jnaClip clip;
        result = jnaLoadClip(path, manifest.clips[i].name, &character, &clip, error);
        if (result == jn_ok) {
            json_array_append_new(
                clips, json_pack("{s:s, s:s, s:i, s:f, s:b, s:b}", "name", clip.name, "role",
                           manifest.clips[i].role == jna_train ? "train" : "test", "frames", clip.frameCount, "rate",
                           clip.rate, "motion", manifest.clips[i].motion != NULL, "quasistatic",
                           manifest.clips[i].shapes != NULL));
            jnaDestroyClip(&clip);
        }
    }
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_t* parts = json_array();
    for (int i = 0; i < character.partCount; ++i) {
        const jnaPart* part = &character.parts[i];
        json_array_append_new(parts, json_pack("{s:s?, s:s?, s:i, s:s}", "name", part->name, "material", part->material,
                                         "triangles", part->triangleCount, "role", jnaMeshRoleNames[part->role]));
    }
    for (int i = 0; i < character.attributeCount; ++i) {
        json_object_set_new(attributes, character.attributes[i].name, json_integer(character.attributes[i].width));
    }
    json_t* root = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:f, s:f, s:o, s:o, s:o}", "workspace",
        path, "name", character.name, "vertices", character.vertexCount, "flesh_vertices",
        character.vertexCount - character.outfitCount, "file_vertices", character.fileVertexCount, "source_points",
        character.sourcePointCount, "triangles", character.triangleCount, "joints", character.jointCount, "parts",
        parts, "height", jnaHeightOf(&character), "scale", manifest.scale, "clips", clips, "notes", lines, "attributes",
        attributes);
    jnaDestroyManifest(&manifest);
    jnaDestroyCharacter(&character);
    result = result == jn_ok ? DescribeParts(path, root, error) : result;
    if (result != jn_ok) {
        json_decref(root);
        return NULL;
    }
    return root;
}

// How the summary is printed.
typedef struct Voice {
    bool json, verbose;
} Voice;

// The lines of a summary that a list may have before it is cut.
enum { MOST_PARTS = 8, MOST_CLIPS = 16 };

static int CompareTriangles(const void* a, const void* b)
{
    const json_t *const *one = a, *const *other = b;
    long long difference = json_integer_value(json_object_get(*other, "triangles")) -
                           json_integer_value(json_object_get(*one, "triangles"));
    return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

// Where not all are printed, the largest are.
static void PrintParts(const json_t* root, bool verbose)
{
    const json_t* parts = json_object_get(root, "parts");
    size_t count = json_array_size(parts), shown = !verbose && count > MOST_PARTS + 1 ? MOST_PARTS : count;
    const json_t** order = calloc(count + 1, sizeof(*order));
    for (size_t i = 0; order != NULL && i < count; ++i) {
        order[i] = json_array_get(parts, i);
    }
    if (order != NULL && shown < count) {
        qsort((void*)order, count, sizeof(*order), CompareTriangles);
    }
    for (size_t i = 0; order != NULL && i < shown && count > 1; ++i) {
        const char* material = json_string_value(json_object_get(order[i], "material"));
        printf("  part %-32s %6lld triangles  %s%s%s\n", json_string_value(json_object_get(order[i], "name")),
            (long long)json_integer_value(json_object_get(order[i], "triangles")),
            json_string_value(json_object_get(order[i], "role")), material[0] != '\0' ? ", material " : "", material);
    }
    if (shown < count) {
        printf("  and %zu more parts (--verbose lists all; jounce info %s does after a build)\n", count - shown,
            json_string_value(json_object_get(root, "workspace")));
    }
    free((void*)order);
}

static void PrintClips(const json_t* clips, bool verbose)
{
    size_t count = json_array_size(clips), shown = !verbose && count > MOST_CLIPS + 1 ? MOST_CLIPS : count;
    for (size_t i = 0; i < shown; ++i) {
        const json_t* clip = json_array_get(clips, i);
        printf("  clip %-32s %6lld frames  %s%s%s\n", json_string_value(json_object_get(clip, "name")),
            (long long)json_integer_value(json_object_get(clip, "frames")),
            json_string_value(json_object_get(clip, "role")),
            json_is_true(json_object_get(clip, "motion")) ? ", with motion" : "",
            json_is_true(json_object_get(clip, "quasistatic")) ? ", with equilibria" : "");
    }
    if (shown < count) {
        printf("  and %zu more clips (--verbose lists all)\n", count - shown);
    }
}

static void PrintSummary(const json_t* root, bool verbose)
{
    size_t index;
    const json_t* value;
    const char *name, *body = json_string_value(json_object_get(root, "body_yaml"));
    json_t* width;
    bool imported = false;
    printf("%s: %lld vertices (%lld in the file), %lld triangles, %lld joints, %.3g m tall\n",
        json_string_value(json_object_get(root, "workspace")),
        (long long)json_integer_value(json_object_get(root, "vertices")),
        (long long)json_integer_value(json_object_get(root, "file_vertices")),
        (long long)json_integer_value(json_object_get(root, "triangles")),
        (long long)json_integer_value(json_object_get(root, "joints")),
        json_number_value(json_object_get(root, "height")));
    PrintParts(root, verbose);
    PrintClips(json_object_get(root, "clips"), verbose);
    json_array_foreach(json_object_get(root, "clips"), index, value)
    {
        imported = imported || json_is_true(json_object_get(value, "motion"));
    }
    json_object_foreach(json_object_get(root, "attributes"), name, width)
    {
        printf("  vertex attribute %s, %lld wide\n", name, (long long)json_integer_value(width));
    }
    json_array_foreach(json_object_get(root, "notes"), index, value)
    {
        printf("  note: %s\n", json_string_value(value));
    }
    if (body != NULL && body[0] != '\0') {
        printf("parts of the body as recognised; to correct one, put this in the place of body: in manifest.yaml and "
               "edit it:\n%s",
            body);
    }
    printf("next: jounce build %s%s\n", json_string_value(json_object_get(root, "workspace")),
        imported ? "" : " --until modes");
}

static int Run(const char* workspace, const jnaWorkspaceDef* def, Voice voice)
{
    jnError error = {0};
    jnaNotes notes = {0};
    if (jnaCreateWorkspace(workspace, def, &notes, &error) != jn_ok) {
        jnaDestroyNotes(&notes);
        return jncFail(&error);
    }
    if (!voice.json && !voice.verbose) {
        jnaNotes groups = jnaNotes_Group(&notes);
        jnaDestroyNotes(&notes);
        notes = groups;
    }
    json_t* root = Describe(workspace, &notes, &error);
    jnaDestroyNotes(&notes);
    if (root == NULL) {
        return jncFail(&error);
    }
    if (voice.json) {
        json_object_del(root, "body_yaml"); // "body" has the same for programs
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
    } else {
        PrintSummary(root, voice.verbose);
    }
    json_decref(root);
    return JNC_DONE;
}

// What the repeated options name.
typedef struct Lists {
    jncList clips, motions, shapes, retarget, parts, follow;
} Lists;

// The same with them.
static int RunWithLists(const char* workspace, jnaWorkspaceDef* def, Voice voice, const Lists* lists)
{
    Pairs clipPairs = {0}, motionPairs = {0}, shapePairs = {0}, retargetPairs = {0}, partPairs = {0};
    jnaMeshRole roles[JNC_MAX_REPEATS];
    int code = SplitPairs("--clip", &lists->clips, true, &clipPairs);
    code = code < 0 ? SplitPairs("--motion", &lists->motions, false, &motionPairs) : code;
    code = code < 0 ? SplitPairs("--quasistatic", &lists->shapes, false, &shapePairs) : code;
    code = code < 0 ? SplitPairs("--retarget", &lists->retarget, false, &retargetPairs) : code;
    code = code < 0 ? SplitPairs("--part", &lists->parts, false, &partPairs) : code;
    code = code < 0 ? ReadRoles(&partPairs, roles) : code;
    if (code < 0) {
        def->partCount = partPairs.count;
        def->partNames = partPairs.names;
        def->partRoles = roles;
        def->followCount = lists->follow.count;
        def->followFiles = lists->follow.words;
        def->ownCount = clipPairs.plainCount;
        def->ownClips = clipPairs.plain;
        def->pairCount = retargetPairs.count;
        def->pairSources = retargetPairs.names;
        def->pairJoints = retargetPairs.files;
        def->clipCount = clipPairs.count;
        def->clipNames = clipPairs.names;
        def->clipFiles = clipPairs.files;
        def->motionCount = motionPairs.count;
        def->motionClips = motionPairs.names;
        def->motionFiles = motionPairs.files;
        def->shapeCount = shapePairs.count;
        def->shapeClips = shapePairs.names;
        def->shapeFiles = shapePairs.files;
        code = Run(workspace, def, voice);
    }
    FreePairs(&clipPairs);
    FreePairs(&motionPairs);
    FreePairs(&shapePairs);
    FreePairs(&retargetPairs);
    FreePairs(&partPairs);
    return code;
}

static const jncUsage usage = {
    "jounce new WORKSPACE --from CHARACTER|--figure [--clip NAME=FILE ...] [--motion CLIP=FILE ...]",
    "Creates a workspace from a rigged character: glTF 2.0 (.glb, .gltf, .vrm), FBX, Collada (.dae), or the built-in\n"
    "figure. Clips inside the file are resampled at --rate: all of them, or those given by --clip NAME. --clip "
    "NAME=FILE\n"
    "adds a clip from another file; .bvh motion capture and other skeletons are retargeted. --motion gives a clip its\n"
    "simulated or scanned surface, --quasistatic that surface without dynamics, with points in any order\n"
    "(docs/guides/own-data.md). The first clip is used for training, the others for testing; edit manifest.yaml to\n"
    "change that.\n",
    "  jounce new hero --from hero.glb --clip box=shadow_boxing.bvh\n"
    "  jounce new hero --from hero.glb --follow shirt.glb --part Eyes=rigid\n"
    "  jounce new hero --from hero.glb && jounce build hero --until modes     # flesh in a minute\n"};

int jncNew(int argc, char** argv)
{
    const char *workspace = NULL, *from = NULL;
    Lists lists = {0};
    Voice voice = {0};
    double rate = 30, scale = 0;
    int layer = jna_layerModal, up = jna_upAuto;
    long number = 0;
    bool scaled = false, figure = false, layered = false, confined = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", workspace, NULL, "folder to create"), .required = true},
        {JNC_TEXT("--from", from, "CHARACTER", "rigged character")},
        {JNC_FLAG("--figure", figure, "the built-in figure instead of a file")},
        {JNC_LIST("--clip", lists.clips, "NAME[=FILE]", "add a clip from another file; without FILE use only this clip of the character's file"), .arity = 1},
        {JNC_LIST("--retarget", lists.retarget, "PART=JOINT", "joint of the character for a part of the body (hips, left_thigh, ...) or for a joint of the motion"), .arity = 1},
        {JNC_LIST("--motion", lists.motions, "CLIP=FILE", "simulated or scanned motion of a clip"), .arity = 1},
        {JNC_LIST("--quasistatic", lists.shapes, "CLIP=FILE", "equilibrium of every frame of a clip: its surface without dynamics"), .arity = 1},
        {JNC_LIST("--part", lists.parts, "NAME=ROLE", "what a mesh, node or material is: flesh, follows (clothes, hair) or rigid (eyes, armour); also shell:12, joints:Head* or mask:COLOR_0.r>0.5 in the place of NAME"), .arity = 1},
        {JNC_LIST("--follow", lists.follow, "FILE", "add clothes or hair from another file; they follow the flesh"), .arity = 1},
        {JNC_CHOICE("--layer", layer, "vertex|modal|auto", "springs on vertices, on modes, or whichever explain the motion better (default modal; with --motion auto)"), .given = &layered},
        {JNC_NUMBER("--rate", rate, "HZ", 1, 1000, "frames per second of all clips (default 30)")},
        {JNC_NUMBER("--scale", scale, "S", 0, 0, "metres per unit of the file (default: detected)"), .given = &scaled},
        {JNC_CHOICE("--up", up, "auto|x|y|z", "up axis of the file (default auto: detected)")},
        {JNC_INTEGER("--character", number, "N", 0, 1000000, "number of the character in a file with several (default 0: all as one)")},
        JNC_REQUIRE_SANDBOX(confined),
        {JNC_FLAG("--verbose", voice.verbose, "list all parts, clips and notes")},
        {JNC_FLAG("--json", voice.json, "print the result as JSON, with all notes")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (figure == (from != NULL)) {
        return jncMisuse("either --from or --figure is needed");
    }
    if (scaled && !(scale > 0 && scale <= 1e6)) {
        return jncMisuse("--scale: %g is not a positive number of metres per unit", scale);
    }
    jncRequireSandbox(confined);
    jnaWorkspaceDef def = jnaDefaultWorkspaceDef();
    def.character = figure ? JNA_FIGURE_SOURCE : from;
    def.rate = rate;
    def.scale = scale;
    def.layer = (jnaSpringLayer)layer;
    def.layerGiven = layered;
    def.up = (jnaUp)up;
    def.number = (int)number;
    return RunWithLists(workspace, &def, voice, &lists);
}
