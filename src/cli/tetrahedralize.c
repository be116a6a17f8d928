// jounce tetrahedralize: the flesh inside a workspace's character, how good its tetrahedra are, and what lives in them.
#include "volume/tetrahedralize.h"
#include "base/input.h"
#include "base/try.h"
#include "cli.h"
#include "pipeline/stage_volume.h"

#include <jansson.h>
#include <string.h>

static const char* MethodName(jnaVolumeMethod method)
{
    return method == jna_volumeLattice ? "lattice" : "tetgen";
}

static void PrintQuality(const char* name, const jnaMeshQuality* q)
{
    printf("  %-18s smallest angle %6.2f, largest %6.2f degrees, %d tetrahedra below 5, smallest volume %.2g m3\n",
        name, q->smallestAngle, q->largestAngle, q->belowFive, q->smallestVolume);
}

static void PrintHistogram(const jnaMeshQuality* q)
{
    int64_t most = 1;
    for (int i = 0; i < JNA_ANGLE_BINS; ++i) {
        most = q->histogram[i] > most ? q->histogram[i] : most;
    }
    printf("  dihedral angles, degrees:\n");
    for (int i = 0; i < JNA_ANGLE_BINS; ++i) {
        int length = (int)(40 * q->histogram[i] / most);
        printf("  %4d-%-4d %8lld %.*s\n", 10 * i, 10 * i + 10, (long long)q->histogram[i], length,
            "########################################");
    }
}

static void PrintBad(const jnaVolumeReport* r)
{
    int count = r->forcedCount + r->unforcedCount;
    if (count > 0) {
        printf("  below 5 degrees: %d where the surface itself has an angle below 15, %d elsewhere\n", r->forcedCount,
            r->unforcedCount);
    }
    for (int i = 0; i < count && i < JNA_MAX_LISTED; ++i) {
        printf("    tetrahedron %d: %.2f degrees; the surface has %.2f there\n", (int)r->forced[i].tetrahedron,
            r->forced[i].angle, r->forced[i].surfaceAngle);
    }
}

static void PrintMesh(const char* workspace, const jnaVolume* v, const jnaVolumeReport* r)
{
    const jnaMeshQuality* q = &r->after;
    if (!r->meshMade) {
        printf("%s: up to date: %d nodes, %d tetrahedra by %s; --force makes them again\n", workspace, v->nodeCount,
            v->tetrahedronCount, MethodName(v->method));
        PrintQuality("quality", q);
        return;
    }
    printf("%s: method %s: %s\n", workspace, MethodName(r->method), r->reason);
    printf("  %d nodes, %d tetrahedra, edge aimed at %.3g m\n", v->nodeCount, v->tetrahedronCount, r->edge);
    printf("  volume %.6g m3, that of the surface %.6g m3 (off by %.2g %%)\n", q->volume, r->surface.volume,
        100 * (q->volume - r->surface.volume) / r->surface.volume);
    PrintQuality("as meshed", &r->before);
    PrintQuality("improved", q);
    PrintBad(r);
    if (r->method == jna_volumeLattice) {
        printf("  %d vertices of the skin lie outside the tetrahedra, by up to %.2g mm; they are carried along\n",
            r->outsideCount, 1000 * r->greatestOutside);
        printf("  %d vertices of the skin are too fine for the lattice and follow the skin around them, %d more partly\n",
            r->skinnedCount, r->blendedCount);
    }
    PrintHistogram(q);
}

static int IntegerOf(const json_t* object, const char* key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

static double NumberOf(const json_t* object, const char* key)
{
    return json_number_value(json_object_get(object, key));
}

static const char* TextOf(const json_t* object, const char* key)
{
    const char* text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

// From inside.json, so that it can be told again without making it.
static void PrintInside(const json_t* inside, const jnaVolume* v)
{
    size_t i;
    const json_t* entry;
    printf("  bones hold %d of %d nodes\n", IntegerOf(inside, "held"), v->nodeCount);
    json_array_foreach(json_object_get(inside, "regions"), i, entry)
    {
        printf("  %-9s  %.4g Pa, Poisson %.4g, %.4g kg/m3: %d tetrahedra, %.4g litres\n", TextOf(entry, "region"),
            NumberOf(entry, "young"), NumberOf(entry, "poisson"), NumberOf(entry, "density"),
            IntegerOf(entry, "tetrahedra"), 1000 * NumberOf(entry, "volume"));
    }
    json_array_foreach(json_object_get(inside, "clips"), i, entry)
    {
        printf("  skinning over %-24s inverts %.3f %% of the tetrahedra, %.3f %% at worst, in frame %d (%d of %d "
               "frames)\n",
            TextOf(entry, "name"), 100 * NumberOf(entry, "mean_share"), 100 * NumberOf(entry, "worst_share"),
            IntegerOf(entry, "worst_frame"), IntegerOf(entry, "sampled"), IntegerOf(entry, "frames"));
    }
}

static void PrintTimes(const jnaVolumeReport* r)
{
    if (r->meshMade) {
        printf("  time: surface %.2f s, crossings %.2f s, seeds %.2f s, %s %.2f s, improvement %.2f s\n",
            r->time.surface, r->time.crossings, r->time.seeds, MethodName(r->method), r->time.mesh, r->time.improve);
    }
    if (r->insideMade) {
        printf("  time: weights %.2f s, bones %.2f s, materials %.2f s, clips %.2f s, picture and files %.2f s\n",
            r->time.weights, r->time.bones, r->time.materials, r->time.clips, r->time.save);
    }
}

static json_t* LoadJson(const char* workspace, const char* name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/volume/%s", workspace, name);
    return jnaReadJson(path, 0, NULL);
}

// volume.json as it is, with inside.json and the notes and times of this run beside it.
static void PrintJson(
    const char* workspace, json_t* root, json_t* inside, const jnaVolumeReport* r, const jnaNotes* notes)
{
    json_t* lines = json_array();
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_object_set_new(root, "workspace", json_string(workspace));
    json_object_set_new(root, "made", json_boolean(r->meshMade || r->insideMade));
    json_object_set_new(root, "mesh_made", json_boolean(r->meshMade));
    json_object_set_new(root, "notes", lines);
    json_object_set(root, "inside", inside);
    json_object_set_new(root, "seconds",
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "surface", r->time.surface, "crossings",
            r->time.crossings, "seeds", r->time.seeds, "mesh", r->time.mesh, "improve", r->time.improve, "weights",
            r->time.weights, "bones", r->time.bones, "materials", r->time.materials, "clips", r->time.clips, "save",
            r->time.save));
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
}

// Notes of the mesh are of this run; those of the inside are kept, and told each time.
static void PrintNotes(const jnaVolumeReport* r, const jnaNotes* notes, const json_t* inside)
{
    size_t i;
    const json_t* note;
    jncPrintNotes(notes);
    json_array_foreach(json_object_get(inside, "notes"), i, note)
    {
        if (!r->insideMade) {
            printf("  note: %s\n", json_string_value(note));
        }
    }
}

static int Tell(
    const char* workspace, const jnaVolume* volume, const jnaVolumeReport* report, const jnaNotes* notes, bool json)
{
    json_t *root = LoadJson(workspace, "volume.json"), *inside = LoadJson(workspace, "inside.json");
    int code = JNC_DONE;
    if (root == NULL || inside == NULL) {
        code = jncFail(&(jnError){jn_ioFailed, "volume.json or inside.json cannot be read back"});
    } else if (json) {
        PrintJson(workspace, root, inside, report, notes);
    } else {
        PrintMesh(workspace, volume, report);
        PrintInside(inside, volume);
        PrintNotes(report, notes, inside);
        PrintTimes(report);
        printf("  %s/volume/bones.png shows the bones and the nodes that they hold\n", workspace);
    }
    json_decref(root);
    json_decref(inside);
    return code;
}

/// What the line says about the mesh; the rest is the manifest's.
typedef struct Wish {
    bool method, resolution; // given
    jnaVolumeDef def;
} Wish;

static int Run(const char* folder, const Wish* wish, bool force, bool json)
{
    jnError error = {0};
    jnaNotes notes = {0};
    jnaVolumeReport report;
    const jnaVolume* volume = NULL;
    jnaStageRun run = {.report = &report, .force = force, .notes = &notes};
    int code = JNC_DONE;
    jnResult result = jn_ok;
    JN_TRY(jnaOpenWorkspaceToWrite(folder, "jounce tetrahedralize", &run.workspace, &error));
    jnaVolumeDef* def = &run.workspace->manifest.volume;
    def->method = wish->method ? wish->def.method : def->method;
    def->edge = wish->resolution ? wish->def.edge : def->edge;
    def->nodes = wish->resolution ? wish->def.nodes : def->nodes;
    def->keepInner = wish->def.keepInner;
    JN_TRY(jnaUpdateVolume(&run, &error));
    JN_TRY(jnaWorkspace_Volume(run.workspace, &volume, &error));
    code = Tell(folder, volume, &report, &notes, json);
done:
    jnaDestroyNotes(&notes);
    jnaCloseWorkspace(run.workspace);
    return result == jn_ok ? code : jncFail(&error);
}

int jncTetrahedralize(int argc, char** argv)
{
    static const jncUsage usage = {
        "jounce tetrahedralize WORKSPACE [--method auto|tetgen|lattice] [--edge M | --nodes N] [--json]",
        "Fills the character with tetrahedra. The method tetgen keeps every vertex of the surface as a node and needs "
        "a\n"
        "closed surface; small self-intersections are resolved for the volume only. The method lattice accepts any "
        "surface\n"
        "that has an inside and embeds the skin in a lattice. auto uses tetgen for surfaces of up to 6,000 vertices "
        "(or\n"
        "--nodes) that it can mesh, otherwise a lattice, and prints why.\n"
        "Small closed parts inside others (eyeballs, teeth) are not meshed and follow skinning, unless --keep-inner is "
        "given.\n"
        "Options that are not given come from the manifest's section volume; jounce build always uses the manifest.\n"
        "Then it computes the skinning weights inside, places bones and materials, draws them to volume/bones.png, "
        "and\n"
        "counts the tetrahedra that skinning alone inverts over the clips.\n",
        "  jounce tetrahedralize hero --method lattice --edge 0.02\n"};
    const char* workspace = NULL;
    Wish wish = {.def = jnaDefaultVolumeDef()};
    int method = 0;
    long nodes = 0;
    bool json = false, force = false, edgeGiven = false, nodesGiven = false;
    // clang-format off
    const jncOption options[] = {
        {JNC_TEXT("WORKSPACE", workspace, NULL, "folder of the character"), .required = true},
        {JNC_CHOICE("--method", method, "auto|tetgen|lattice", "meshing method (default: the manifest's)"), .given = &wish.method},
        {JNC_NUMBER("--edge", wish.def.edge, "M", 0, 0, "target edge length inside, metres (default: the manifest's)"), .given = &edgeGiven},
        {JNC_INTEGER("--nodes", nodes, "N", 0, 0, "target number of nodes"), .given = &nodesGiven},
        {JNC_FLAG("--keep-inner", wish.def.keepInner, "mesh small inner parts too")},
        {JNC_FLAG("--force", force, "run even if up to date")},
        {JNC_FLAG("--json", json, "print what was made as JSON")},
        {0},
    };
    // clang-format on
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (edgeGiven && nodesGiven) {
        return jncMisuse("--edge and --nodes both set the resolution; give one");
    }
    if (edgeGiven && !(wish.def.edge > 0 && wish.def.edge < 1e6)) {
        return jncMisuse("--edge: %g is not a length in metres", wish.def.edge);
    }
    if (nodesGiven && !(nodes >= 10 && nodes <= 10000000)) {
        return jncMisuse("--nodes: %ld is not between 10 and 10000000", nodes);
    }
    wish.def.method = (jnaVolumeMethod)method;
    wish.def.nodes = (int)nodes;
    wish.resolution = edgeGiven || nodesGiven;
    return Run(workspace, &wish, force, json);
}
