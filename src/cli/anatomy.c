// jounce anatomy: how soft a character's flesh is, by region of the body.
#include "cli.h"

#include "jounce-author/inside.h"
#include "jounce-author/sag.h"
#include "jounce-author/volume_mesh.h"
#include "jounce-author/workspace.h"

#include <jansson.h>

static const char* Judge(jnaRegion region, double median)
{
    const jnaSagBounds* bounds = &jnaExpectedSag[region];
    return bounds->most > 0 && median > bounds->most ? "softer than a body"
           : median < bounds->least                  ? "stiffer than a body"
                                                     : "";
}

static void PrintTable(const jnaSag* sag)
{
    printf("sag of the skin under 1 g, mm: median over the region, along -Y, -X, -Z; greatest along -Y; expected of a "
           "body\n");
    printf("  region      vertices      -Y      -X      -Z  greatest   expected\n");
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double median[3] = {0}, greatest[3] = {0};
        int count = 0;
        for (int axis = 0; axis < 3; ++axis) {
            count = jnaSag_Region(sag, axis, (jnaRegion)r, &median[axis], &greatest[axis]);
        }
        if (count == 0) {
            printf("  %-10s %9s\n", jnaRegionNames[r], "n/a");
            continue;
        }
        const jnaSagBounds* bounds = &jnaExpectedSag[r];
        char expected[32] = "";
        if (bounds->most > 0) {
            snprintf(expected, sizeof(expected), "%g-%g", 1e3 * bounds->least, 1e3 * bounds->most);
        }
        printf("  %-10s %9d %7.2f %7.2f %7.2f %9.2f   %-8s %s\n", jnaRegionNames[r], count, 1e3 * median[0],
            1e3 * median[1], 1e3 * median[2], 1e3 * greatest[0], expected, Judge((jnaRegion)r, median[0]));
    }
    if (!sag->converged) {
        printf("  the flesh did not come to rest under its weight: it is too soft somewhere\n");
    }
}

static int PrintJson(const char* workspace, const jnaSag* sag)
{
    json_t* list = json_array();
    for (int r = 0; r < JNA_REGIONS; ++r) {
        double median[3] = {0}, greatest[3] = {0};
        int count = 0;
        for (int axis = 0; axis < 3; ++axis) {
            count = jnaSag_Region(sag, axis, (jnaRegion)r, &median[axis], &greatest[axis]);
        }
        if (count > 0) {
            json_array_append_new(
                list, json_pack("{s:s, s:i, s:[f,f,f], s:[f,f,f], s:s}", "region", jnaRegionNames[r], "vertices", count,
                          "median", median[0], median[1], median[2], "greatest", greatest[0], greatest[1], greatest[2],
                          "judgement", Judge((jnaRegion)r, median[0])));
        }
    }
    json_t* root = json_pack("{s:s, s:b, s:o}", "workspace", workspace, "converged", sag->converged, "regions", list);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
    return JNC_DONE;
}

static int Run(const char* workspace, bool json)
{
    jnError error = {0};
    jnaCharacter character = {0};
    jnaVolume volume = {0};
    jnaSag sag = {0};
    int code = JNC_DONE;
    jnResult result = jnaLoadCharacter(workspace, &character, &error);
    result = result == jn_ok ? jnaLoadVolume(workspace, &volume, &error) : result;
    result = result == jn_ok ? jnaMeasureSag(&volume, &character, 3, &sag, &error) : result;
    if (result != jn_ok) {
        code = jncFail(&error);
    } else if (json) {
        code = PrintJson(workspace, &sag);
    } else {
        PrintTable(&sag);
    }
    jnaDestroySag(&sag);
    jnaDestroyVolume(&volume);
    jnaDestroyCharacter(&character);
    return code;
}

int jncAnatomy(int argc, char** argv)
{
    static const jncUsage usage = {"jounce anatomy WORKSPACE [--json]",
        "Measures how soft the flesh is, by region of the body: how far the skin sags when gravity is switched on in "
        "the\nrest pose, bones held. Regions that are far from a human body's are marked. Needs the volume of jounce\n"
        "tetrahedralize.\n",
        "  jounce anatomy hero\n"};
    const char* workspace = NULL;
    bool json = false;
    const jncOption options[] = {{.name = "WORKSPACE",
                                     .kind = jnc_text,
                                     .value = &workspace,
                                     .help = "folder of the character",
                                     .required = true},
        {.name = "--json", .kind = jnc_flag, .value = &json, .help = "print the table as JSON"}, {0}};
    int code = jncParse(argc, argv, &usage, options);
    return code >= 0 ? code : Run(workspace, json);
}
