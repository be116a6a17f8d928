// jounce modes: the vibration modes of a workspace's flesh, as a table.
#include "modes/modes.h"
#include "base/affine.h"
#include "base/input.h"
#include "base/try.h"
#include "cli.h"
#include "draw/modes_picture.h"
#include "pipeline/engine.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double Hertz(const jnaModes* m, int k)
{
    return sqrt(m->stiffness[k]) / JNA_TURN;
}

static double Ratio(const jnaModes* m, int k)
{
    return m->stiffness[k] > 0 ? m->damping[k] / (2 * sqrt(m->stiffness[k])) : 0;
}

static void PrintTable(const char* workspace, const jnaModes* m, const jnaCharacter* c, bool made)
{
    double numbers = 0;
    for (int k = 0; k < m->modeCount; ++k) {
        numbers += m->sizes[k];
    }
    printf("%s: %d modes%s, %.1f %% of their entries stored\n", workspace, m->modeCount, made ? "" : " (up to date)",
        m->modeCount > 0 ? 100 * numbers / m->modeCount / m->vertexCount : 0);
    printf("  mode   hertz  ratio  gain   mass  cap mm  vertices  region\n");
    for (int k = 0; k < m->modeCount; ++k) {
        printf("  %4d %7.2f %6.3f %5.2f %5.1f%% %7.1f %9d  %s\n", k, Hertz(m, k), Ratio(m, k), m->gain[k],
            100 * m->massShare[k], 1e3 * m->caps[k], m->sizes[k], c->joints[m->joints[k]].name);
    }
}

// What playing the clips showed, as the stage wrote it; NULL: nothing.
static json_t* LoadOffsets(const char* workspace)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/modes/offsets.json", workspace);
    return jnaReadJson(path, 0, NULL);
}

static double NumberAt(const json_t* object, const char* key)
{
    return json_number_value(json_object_get(object, key));
}

static int CompareOffsets(const void* a, const void* b)
{
    double x = NumberAt(*(json_t*const*)a, "offset"), y = NumberAt(*(json_t*const*)b, "offset");
    return x > y ? -1 : x < y;
}

// The joints whose flesh goes farthest in the clips.
static void PrintOffsets(const char* workspace)
{
    enum { MOST = 12 };
    json_t* root = LoadOffsets(workspace);
    const json_t* joints = json_object_get(json_object_get(root, "before_cap"), "joints");
    const json_t* capped = json_object_get(json_object_get(root, "after_cap"), "joints");
    json_t* list[4096];
    size_t count = json_array_size(joints);
    count = count < 4096 ? count : 4096;
    for (size_t i = 0; i < count; ++i) {
        list[i] = json_array_get(joints, i);
    }
    qsort(list, count, sizeof(list[0]), CompareOffsets);
    if (count > 0) {
        printf("  largest offsets in the clips, before the cap and with it\n");
        printf("      mm  %% height    capped   hertz  joint, clip\n");
    }
    for (size_t i = 0; i < count && i < MOST; ++i) {
        const char* joint = json_string_value(json_object_get(list[i], "joint"));
        double after = 0;
        for (size_t k = 0; k < json_array_size(capped); ++k) {
            const json_t* other = json_array_get(capped, k);
            bool same = strcmp(json_string_value(json_object_get(other, "joint")), joint) == 0;
            after = same ? NumberAt(other, "offset") : after;
        }
        printf("  %6.1f %9.1f %9.1f %7.2f  %s, %s\n", 1e3 * NumberAt(list[i], "offset"),
            100 * NumberAt(list[i], "offset") / NumberAt(root, "height"), 1e3 * after, NumberAt(list[i], "hertz"),
            joint, json_string_value(json_object_get(list[i], "clip")));
    }
    json_decref(root);
}

static int PrintJson(const char* workspace, const jnaModes* m, const jnaCharacter* c, bool made, const jnaNotes* notes)
{
    json_t *list = json_array(), *lines = json_array();
    for (int k = 0; k < m->modeCount; ++k) {
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:f, s:f, s:f, s:i, s:s}", "hertz", Hertz(m, k), "damping_ratio", Ratio(m, k),
                      "gain", m->gain[k], "mass_share", m->massShare[k], "cap", m->caps[k], "vertices",
                      (int)m->sizes[k], "region", c->joints[m->joints[k]].name));
    }
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_t* root = json_pack("{s:s, s:b, s:i, s:o, s:o, s:o?}", "workspace", workspace, "made", made, "vertices",
        m->vertexCount, "modes", list, "notes", lines, "offsets", LoadOffsets(workspace));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
    return JNC_DONE;
}

// What the line says instead of the manifest.
typedef struct Settings {
    long count;
    double cutoff, ratio;
    bool countGiven, cutoffGiven, ratioGiven;
} Settings;

static int Run(const char* folder, const Settings* settings, const char* picture, bool force, bool json)
{
    jnError error = {0};
    jnaNotes notes = {0};
    const jnaModes* modes = NULL;
    const jnaCharacter* character = NULL;
    jnaStageRun run = {.force = force, .notes = &notes};
    bool made = false;
    int code = JNC_DONE;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspaceToWrite(folder, "jounce modes", &run.workspace, &error));
    jnaModesDef* def = &run.workspace->manifest.modes;
    def->count = settings->countGiven ? (int)settings->count : def->count;
    def->cutoff = settings->cutoffGiven ? settings->cutoff : def->cutoff;
    def->ratio = settings->ratioGiven ? settings->ratio : def->ratio;
    JN_TRY(jnaStageKind_Run(&jnaModesStage, &run, &error));
    made = run.made;
    JN_TRY(jnaStageKind_Run(&jnaOffsetsStage, &run, &error));
    made = made || run.made;
    JN_TRY(jnaWorkspace_Modes(run.workspace, &modes, &error));
    JN_TRY(jnaWorkspace_Character(run.workspace, &character, &error));
    if (picture != NULL) {
        int count = modes->modeCount < 16 ? modes->modeCount : 16;
        JN_TRY(jnaPictureModes(modes, character, count, 0.05, picture, &error));
    }
    if (json) {
        code = PrintJson(folder, modes, character, made, &notes);
    } else {
        PrintTable(folder, modes, character, made);
        PrintOffsets(folder);
        jncPrintNotes(&notes);
    }
done:
    jnaDestroyNotes(&notes);
    jnaCloseWorkspace(run.workspace);
    return result == jn_ok ? code : jncFail(&error);
}

int jncModes(int argc, char** argv)
{
    static const jncUsage usage = {"jounce modes WORKSPACE [--count N] [--cutoff HZ] [--json]",
        "Computes the vibration modes of the flesh with the bones held fixed. Springs of the layer modal move along "
        "these\n"
        "modes. Needs the volume of jounce tetrahedralize. Prints a table with each mode's frequency, damping ratio,\n"
        "fraction of the mass that moves, number of vertices, and the joint where most of it is.\n"
        "Then plays every clip and prints how far the flesh of each joint moves, with and without the limit "
        "springs.cap.\n",
        "  jounce modes hero --cutoff 15 --picture modes.png\n"};
    const char *workspace = NULL, *picture = NULL;
    Settings settings = {0};
    bool json = false, force = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", workspace, NULL, "folder of the character"), .required = true},
        {JNC_INTEGER("--count", settings.count, "N", 1, 1000, "maximum number, lowest first (default: the manifest's, 64)"), .given = &settings.countGiven},
        {JNC_NUMBER("--cutoff", settings.cutoff, "HZ", 0.1, 1000, "maximum frequency (default: the manifest's, 25)"), .given = &settings.cutoffGiven},
        {JNC_NUMBER("--ratio", settings.ratio, "R", 0, 10, "damping ratio of all modes (default: the damping of the flesh)"), .given = &settings.ratioGiven},
        {JNC_TEXT("--picture", picture, "PNG", "draw the first 16")},
        {JNC_FLAG("--force", force, "run even if up to date")},
        {JNC_FLAG("--json", json, "print the table as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    return Run(workspace, &settings, picture, force, json);
}
