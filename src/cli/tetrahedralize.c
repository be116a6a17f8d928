// jounce tetrahedralize: the flesh inside a workspace's character, and how good its tetrahedra are.
#include "cli.h"

#include "jounce-author/volume_mesh.h"
#include "jounce-author/workspace.h"

#include <jansson.h>

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

static void PrintReport(const char* workspace, const jnaVolume* v, const jnaVolumeReport* r, const jnaNotes* notes)
{
    const jnaMeshQuality* q = &r->after;
    printf("%s: method %s: %s\n", workspace, MethodName(r->method), r->reason);
    for (int i = 0; i < notes->count; ++i) {
        printf("  note: %s\n", notes->lines[i]);
    }
    printf("  %d nodes, %d tetrahedra, edge aimed at %.3g m\n", v->nodeCount, v->tetrahedronCount, r->edge);
    printf("  volume %.6g m3, that of the surface %.6g m3 (off by %.2g %%)\n", q->volume, r->surface.volume,
        100 * (q->volume - r->surface.volume) / r->surface.volume);
    PrintQuality("as meshed", &r->before);
    PrintQuality("improved", q);
    PrintBad(r);
    if (r->method == jna_volumeLattice) {
        printf("  %d vertices of the skin lie outside the tetrahedra, by up to %.2g mm; they are carried along\n",
            r->outsideCount, 1000 * r->greatestOutside);
    }
    PrintHistogram(q);
    printf("  time: surface %.2f s, crossings %.2f s, %s %.2f s, improvement %.2f s\n", r->time.surface,
        r->time.crossings, MethodName(r->method), r->time.mesh, r->time.improve);
}

// volume.json as it is, with the notes and times of this run beside it.
static int PrintJson(const char* workspace, bool made, const jnaVolumeReport* r, const jnaNotes* notes)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/volume/volume.json", workspace);
    json_t *root = json_load_file(path, 0, NULL), *lines = json_array();
    if (root == NULL) {
        json_decref(lines);
        return jncFail(&(jnError){jn_ioFailed, "volume.json cannot be read back"});
    }
    for (int i = 0; i < notes->count; ++i) {
        json_array_append_new(lines, json_string(notes->lines[i]));
    }
    json_object_set_new(root, "workspace", json_string(workspace));
    json_object_set_new(root, "made", json_boolean(made));
    json_object_set_new(root, "notes", lines);
    json_object_set_new(root, "seconds",
        json_pack("{s:f, s:f, s:f, s:f}", "surface", r->time.surface, "crossings", r->time.crossings, "mesh",
            r->time.mesh, "improve", r->time.improve));
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
    return JNC_DONE;
}

static int Run(const char* workspace, const jnaVolumeDef* def, bool force, bool json)
{
    jnError error = {0};
    jnaNotes notes = {0};
    jnaVolumeReport report;
    jnaVolume volume = {0};
    bool made = false;
    int code = JNC_DONE;
    jnResult result = jnaUpdateVolume(workspace, def, force, &made, &report, &notes, &error);
    result = result == jn_ok ? jnaLoadVolume(workspace, &volume, &error) : result;
    if (result != jn_ok) {
        code = jncFail(&error);
    } else if (json) {
        code = PrintJson(workspace, made, &report, &notes);
    } else if (made) {
        PrintReport(workspace, &volume, &report, &notes);
    } else {
        printf("%s: up to date: %d nodes, %d tetrahedra by %s; --force makes them again\n", workspace, volume.nodeCount,
            volume.tetrahedronCount, MethodName(volume.method));
        PrintQuality("quality", &report.after);
    }
    jnaDestroyNotes(&notes);
    jnaDestroyVolume(&volume);
    return code;
}

int jncTetrahedralize(int argc, char** argv)
{
    static const jncUsage usage = {
        "jounce tetrahedralize WORKSPACE [--method auto|tetgen|lattice] [--edge M | --nodes N] [--json]",
        "Fills the character with tetrahedra. tetgen keeps every vertex of the surface as a node and needs a closed "
        "surface;\n"
        "small crossings are parted for the volume alone. lattice takes any surface that has an inside and hangs the "
        "skin on\n"
        "it. auto tries tetgen first and says why where it does not. Small closed parts inside others (eyeballs, "
        "teeth) are\n"
        "left out and carried by skinning, unless --keep-inner is given.\n",
        "  jounce tetrahedralize hero --method lattice --edge 0.02\n"};
    const char* workspace = NULL;
    jnaVolumeDef def = jnaDefaultVolumeDef();
    int method = 0;
    long nodes = 0;
    bool json = false, force = false, edgeGiven = false, nodesGiven = false;
    const jncOption options[] = {{.name = "WORKSPACE",
                                     .kind = jnc_text,
                                     .value = &workspace,
                                     .help = "folder of the character",
                                     .required = true},
        {.name = "--method",
            .kind = jnc_choice,
            .value = &method,
            .argument = "METHOD",
            .help = "auto, tetgen or lattice (auto)",
            .choices = "auto|tetgen|lattice"},
        {.name = "--edge",
            .kind = jnc_number,
            .value = &def.edge,
            .argument = "M",
            .help = "edge length aimed at inside, metres",
            .given = &edgeGiven},
        {.name = "--nodes",
            .kind = jnc_integer,
            .value = &nodes,
            .argument = "N",
            .help = "number of nodes aimed at",
            .given = &nodesGiven},
        {.name = "--keep-inner", .kind = jnc_flag, .value = &def.keepInner, .help = "mesh small inner parts as well"},
        {.name = "--force", .kind = jnc_flag, .value = &force, .help = "make it again, even if up to date"},
        {.name = "--json", .kind = jnc_flag, .value = &json, .help = "print what was made as JSON"}, {0}};
    int code = jncParse(argc, argv, &usage, options);
    if (code >= 0) {
        return code;
    }
    if (edgeGiven && nodesGiven) {
        return jncMisuse("--edge and --nodes both set the resolution; give one");
    }
    if (edgeGiven && !(def.edge > 0 && def.edge < 1e6)) {
        return jncMisuse("--edge: %g is not a length in metres", def.edge);
    }
    if (nodesGiven && !(nodes >= 10 && nodes <= 10000000)) {
        return jncMisuse("--nodes: %ld is not between 10 and 10000000", nodes);
    }
    def.method = (jnaVolumeMethod)method;
    def.nodes = (int)nodes;
    return Run(workspace, &def, force, json);
}
