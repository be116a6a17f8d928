// From a character to its tetrahedra: check the surface, part what crosses, choose a method, mesh, improve, hang the
// skin on it.
#include "volume/tetrahedralize.h"

#include "base/clock.h"
#include "base/try.h"
#include "volume/mesh_internal.h"

#include "runtime/for_author.h"

// Longest side of the surface over the edge aimed at inside, where nobody says: a person of 1.7 m gets 4 cm.
#define DEFAULT_EDGES 40.0

// Nodes that a conforming mesh keeps to inside where nobody says: a bulky shape would have far more at the edge above.
// Thin gaps and needles in the surface make the program refine without end; where there are more nodes than MOST_NODES
// besides the skin's, a lattice is the better flesh.
enum { INNER_NODES = 20000, MOST_NODES = 2 * INNER_NODES };

// Nodes that a lattice aims at where nobody says; half as many again are made, because it is cut at the skin. Flesh
// needs no more: frequencies are within 5 % of those of four times as many. A surface with more vertices than these is
// finer than the flesh under it (faces, hands and feet of a scanned body have two thirds of its vertices), and a mesh
// that kept every vertex as a node would take most of the simulation's time for what hardly moves.
enum { LATTICE_NODES = 6000 };

jnaVolumeDef jnaDefaultVolumeDef(void)
{
    return (jnaVolumeDef){.improve = true, .program = "tetgen", .timeLimit = 120, .memoryLimit = (size_t)4 << 30};
}

void jnaDestroyMesh(jnaMesh* mesh)
{
    free(mesh->nodes);
    free(mesh->tetrahedra);
    *mesh = (jnaMesh){0};
}

bool jnaMesh_AddNode(jnaMesh* mesh, const double position[3])
{
    if (!jnaReserve(&mesh->nodes, &mesh->nodeCapacity, mesh->nodeCount + 1, 3 * sizeof(double))) {
        return false;
    }
    memcpy(mesh->nodes + 3 * mesh->nodeCount++, position, 3 * sizeof(double));
    return true;
}

bool jnaMesh_AddTetrahedron(jnaMesh* mesh, int32_t a, int32_t b, int32_t c, int32_t d)
{
    if (!jnaReserve(&mesh->tetrahedra, &mesh->tetrahedronCapacity, mesh->tetrahedronCount + 1, 4 * sizeof(int32_t))) {
        return false;
    }
    const int32_t corners[4] = {a, b, c, d};
    memcpy(mesh->tetrahedra + 4 * mesh->tetrahedronCount++, corners, sizeof(corners));
    return true;
}

static double LongestSide(const jnaSurface* surface)
{
    double side = 0;
    for (int i = 0; i < 3; ++i) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int v = 0; v < surface->vertexCount; ++v) {
            low = fmin(low, surface->positions[3 * v + i]);
            high = fmax(high, surface->positions[3 * v + i]);
        }
        side = fmax(side, high - low);
    }
    return side;
}

// Edge of a regular tetrahedron from the volume that one node stands for: about five and a half tetrahedra.
static double EdgeOfNodes(double volume, double nodes)
{
    return cbrt(6 * sqrt(2.0) * volume / (5.5 * nodes));
}

static double ConformingEdge(const jnaSurface* surface, const jnaVolumeDef* def)
{
    if (def->edge > 0) {
        return def->edge;
    }
    if (def->nodes > surface->vertexCount) {
        return EdgeOfNodes(surface->report.volume, def->nodes - surface->vertexCount);
    }
    return fmax(LongestSide(surface) / DEFAULT_EDGES, EdgeOfNodes(surface->report.volume, INNER_NODES));
}

static int LatticeNodes(const jnaVolumeDef* def)
{
    return def->nodes > 0 ? def->nodes : LATTICE_NODES;
}

// Why a conforming mesh is out of the question, or NULL.
static const char* Obstacle(const jnaSurface* surface, char* text, size_t size)
{
    const jnaSurfaceReport* r = &surface->report;
    if (r->nonManifoldCount > 0) {
        snprintf(text, size, "%d edges are shared by more than two faces", r->nonManifoldCount);
    } else if (r->openChainCount > 0) {
        snprintf(text, size, "%d open edges form no loop", r->openChainCount);
    } else if (r->volume < 0) {
        snprintf(text, size, "its hollows are larger than it is");
    } else {
        return NULL;
    }
    return text;
}

// Whether nobody asked for a conforming mesh, and the surface is finer than the flesh needs.
static bool IsTooFine(const jnaSurface* surface, const jnaVolumeDef* def)
{
    return def->method == jna_volumeAuto && surface->vertexCount > LatticeNodes(def);
}

// Nodes over those aimed at in a lattice, which is cut at the skin, and over the skin's vertices in a conforming mesh:
// as the characters that were tried have it.
#define MORE_LATTICE 1.5
#define MORE_CONFORMING 2.0

jnResult jnaForeseeVolume(
    const jnaCharacter* character, const jnaVolumeDef* def, jnaVolumeForecast* forecast, jnError* error)
{
    char text[JNA_NOTE_LENGTH];
    jnaSurface surface = {0};
    *forecast = (jnaVolumeForecast){0};
    jnResult result = jnaCreateSurface(character, def->keepInner, def->shells, &surface, NULL, error);
    if (result == jn_ok && surface.triangleCount > 0) {
        bool lattice = def->method == jna_volumeLattice || IsTooFine(&surface, def) ||
                       (def->method == jna_volumeAuto && Obstacle(&surface, text, sizeof(text)) != NULL);
        double volume = fabs(surface.report.volume), aimed = LatticeNodes(def);
        double inside = volume / pow(def->edge > 0 ? def->edge : HUGE_VAL, 3);
        double nodes = lattice ? fmax(def->edge > 0 ? 2 * inside : aimed, 1)
                               : fmax(fmax(surface.vertexCount, def->nodes), 1.5 * inside);
        *forecast = (jnaVolumeForecast){true, lattice ? jna_volumeLattice : jna_volumeTetgen,
            (int)fmin((lattice ? MORE_LATTICE : MORE_CONFORMING) * nodes, 1e8),
            surface.report.componentCount - surface.report.shellCount - surface.report.leftOutCount};
    }
    jnaDestroySurface(&surface);
    return result;
}

// Why there is no conforming mesh, for the lattice that is made instead; empty where there is no use in one either.
enum { OBSTACLE_LENGTH = JNA_NOTE_LENGTH - 64 };

// Parts faces that cross.
static jnResult PartCrossings(
    jnaSurface* surface, jnaVolumeReport* report, char obstacle[OBSTACLE_LENGTH], jnaNotes* notes, jnError* error)
{
    double start = jnaWallClock();
    bool repaired;
    jnResult result = jnaRepairCrossings(surface, &repaired, error);
    report->time.crossings = jnaWallClock() - start;
    if (result != jn_ok) {
        return result;
    }
    const jnaSurfaceReport* r = &surface->report;
    if (!repaired) {
        snprintf(obstacle, OBSTACLE_LENGTH, "%d pairs of faces cross, too many or too deep to part", r->crossingCount);
        return jnFail(error, jn_badData, "no conforming mesh: %s", obstacle);
    }
    if (r->crossingCount > 0) {
        jnaNotes_Add(notes,
            "%d pairs of faces cross; for the volume alone %d vertices moved by up to %.2g mm to part them",
            r->crossingCount, r->movedCount, 1000 * r->greatestMove);
    }
    return jn_ok;
}

static jnResult TryTetgen(const jnaCharacter* character, const jnaSurface* surface, const jnaVolumeDef* def,
    jnaMesh* mesh, jnaVolumeReport* report, char obstacle[OBSTACLE_LENGTH], jnError* error)
{
    report->edge = ConformingEdge(surface, def);
    double start = jnaWallClock();
    jnaSeeds seeds;
    jnResult result = jnaFindSeeds(character, surface, &seeds, error);
    report->time.seeds = jnaWallClock() - start;
    if (result != jn_ok) {
        return result;
    }
    start = jnaWallClock();
    jnError reason = {0};
    result = jnaRunTetgen(
        surface, &seeds, def, pow(report->edge, 3) / (6 * sqrt(2.0)), mesh, &report->time.program, &reason);
    jnaDestroySeeds(&seeds);
    report->time.mesh = jnaWallClock() - start;
    if (result != jn_ok) {
        // A lattice would need as much memory.
        bool another = result != jn_outOfMemory && result != jn_cancelled;
        snprintf(obstacle, OBSTACLE_LENGTH, "%.300s", another ? reason.message : "");
        return jnFail(error, result, "%s", reason.message);
    }
    bool chosen = def->method == jna_volumeTetgen || def->edge > 0 || def->nodes > 0;
    if (!chosen && mesh->nodeCount > MOST_NODES + surface->vertexCount) {
        snprintf(obstacle, OBSTACLE_LENGTH, "thin gaps or needles of the surface give a conforming mesh %d nodes",
            mesh->nodeCount);
        jnaDestroyMesh(mesh);
        return jnFail(error, jn_badData, "no conforming mesh: %s", obstacle);
    }
    int crossings = surface->report.crossingCount;
    snprintf(report->reason, sizeof(report->reason),
        crossings > 0 ? "closed, and its %d small crossings could be parted" : "closed and free of crossings",
        crossings);
    return jn_ok;
}

static jnResult MakeConforming(const jnaCharacter* character, jnaSurface* surface, const jnaVolumeDef* def,
    jnaMesh* mesh, jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    char* obstacle = report->reason;
    if (Obstacle(surface, obstacle, OBSTACLE_LENGTH) != NULL) {
        return jnFail(error, jn_badData, "no conforming mesh: %s", obstacle);
    }
    JN_PASS(PartCrossings(surface, report, obstacle, notes, error));
    return TryTetgen(character, surface, def, mesh, report, obstacle, error);
}

// Each vertex is a node: it hangs on one tetrahedron with weight 1 at its corner.
static jnResult HangSkin(const jnaCharacter* character, const jnaSurface* surface, jnaVolume* volume, jnError* error)
{
    int32_t* corner = jnaAllocate(volume->nodeCount, sizeof(*corner));
    if (corner == NULL) {
        return jnFail(error, jn_outOfMemory, "out of memory for the skin of a volume");
    }
    for (int i = 4 * volume->tetrahedronCount - 1; i >= 0; --i) {
        corner[volume->tetrahedra[i]] = i;
    }
    for (int v = 0; v < character->vertexCount; ++v) {
        int32_t node = surface->vertexOf[v];
        volume->skinTetrahedra[v] = node >= 0 ? corner[node] / 4 : -1;
        volume->skinBlend[v] = node >= 0 ? 1 : 0;
        volume->skinWeights[4 * v + (node >= 0 ? corner[node] % 4 : 0)] = 1;
        for (int i = 0; i < 3 && node >= 0; ++i) {
            volume->skinOffsets[3 * v + i] = (double)character->positions[3 * v + i] - volume->nodes[3 * node + i];
        }
    }
    free(corner);
    return jn_ok;
}

static jnResult TakeMesh(const jnaCharacter* character, jnaMesh* mesh, jnaVolume* volume, jnError* error)
{
    volume->nodeCount = mesh->nodeCount;
    volume->nodes = mesh->nodes;
    volume->tetrahedronCount = mesh->tetrahedronCount;
    volume->tetrahedra = mesh->tetrahedra;
    *mesh = (jnaMesh){0};
    volume->vertexCount = character->vertexCount;
    jnaArena arena = {0};
    volume->skinTetrahedra = jnaArena_Give(&arena, character->vertexCount, sizeof(*volume->skinTetrahedra));
    volume->skinWeights = jnaArena_Give(&arena, character->vertexCount, 4 * sizeof(double));
    volume->skinOffsets = jnaArena_Give(&arena, character->vertexCount, 3 * sizeof(double));
    volume->skinBlend = jnaArena_Give(&arena, character->vertexCount, sizeof(double));
    return jnaArena_Check(&arena, "the skin of a volume", error);
}

static jnResult RunLattice(
    const jnaSurface* surface, const jnaVolumeDef* def, jnaMesh* mesh, jnaVolumeReport* report, jnError* error)
{
    // Two nodes a cube; edges are the cube's side and 0.87 of it.
    double spacing = def->edge > 0 ? def->edge : cbrt(2 * fabs(surface->report.volume) / LatticeNodes(def));
    double start = jnaWallClock();
    jnaTree tree;
    jnResult result = jnaCreateTree(surface->positions, surface->triangleCount, surface->triangles, &tree, error);
    if (result == jn_ok) {
        result = jnaBuildLattice(surface, &tree, spacing, &def->watch, mesh, error);
        jnaDestroyTree(&tree);
    }
    report->edge = spacing;
    report->time.mesh = jnaWallClock() - start;
    return result;
}

static jnResult HangOutside(const jnaCharacter* character, const jnaSurface* surface, jnaVolume* volume,
    jnaVolumeReport* report, jnError* error)
{
    jnaTree tree;
    JN_PASS(jnaCreateTree(surface->positions, surface->triangleCount, surface->triangles, &tree, error));
    double start = jnaWallClock();
    jnResult result = jnaEmbedSkin(character, surface, &tree, report->edge, volume, report, error);
    report->time.mesh += jnaWallClock() - start;
    jnaDestroyTree(&tree);
    return result;
}

static jnResult CheckMesh(const jnaVolumeReport* report, jnError* error)
{
    const jnaMeshQuality* q = &report->after;
    if (q->invertedCount > 0 || q->orphanCount > 0) {
        return jnFail(error, jn_badData, "the mesh has %d tetrahedra without a volume and %d nodes of none",
            q->invertedCount, q->orphanCount);
    }
    return jn_ok;
}

static jnResult Improve(jnaMesh* mesh, const jnaVolumeDef* def, int fixedCount, jnaVolumeReport* report, jnError* error)
{
    report->before = jnaMeasureMesh(mesh->nodeCount, mesh->nodes, mesh->tetrahedronCount, mesh->tetrahedra);
    double start = jnaWallClock();
    jnResult result = def->improve ? jnaImproveMesh(mesh, fixedCount, error) : jn_ok;
    report->time.improve = jnaWallClock() - start;
    JN_PASS(result); // with gaps between its tetrahedra
    report->after = jnaMeasureMesh(mesh->nodeCount, mesh->nodes, mesh->tetrahedronCount, mesh->tetrahedra);
    JN_PASS(CheckMesh(report, error));
    return jnaExplainSlivers(mesh, report, error);
}

static jnResult MakeMesh(const jnaCharacter* character, jnaSurface* surface, const jnaVolumeDef* def, jnaMesh* mesh,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    jnResult result = jn_ok;
    bool conforming = false;
    if (IsTooFine(surface, def)) {
        snprintf(report->reason, sizeof(report->reason), "the surface has %d vertices, more than its flesh needs",
            surface->vertexCount);
    } else if (def->method != jna_volumeLattice) {
        report->method = jna_volumeTetgen;
        result = MakeConforming(character, surface, def, mesh, report, notes, error);
        // Its reason is the obstacle where there is one.
        conforming = result == jn_ok || def->method == jna_volumeTetgen || report->reason[0] == '\0';
    }
    if (def->method != jna_volumeAuto) {
        snprintf(report->reason, sizeof(report->reason), "as asked for");
    }
    if (!conforming) {
        report->method = jna_volumeLattice;
        result = RunLattice(surface, def, mesh, report, error);
    }
    return result;
}

static jnResult Fill(const jnaCharacter* character, jnaSurface* surface, const jnaVolumeDef* def, jnaVolume* volume,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    jnaMesh mesh = {0};
    jnResult result = jn_ok;
    JN_TRY(MakeMesh(character, surface, def, &mesh, report, notes, error));
    bool conforming = report->method == jna_volumeTetgen;
    JN_TRY(jnaWatch_Tell(&def->watch, 0.4, error));
    JN_TRY(Improve(&mesh, def, conforming ? surface->vertexCount : 0, report, error));
    JN_TRY(jnaWatch_Tell(&def->watch, 0.6, error));
    JN_TRY(TakeMesh(character, &mesh, volume, error));
    volume->method = report->method;
    JN_TRY(conforming ? HangSkin(character, surface, volume, error)
                      : HangOutside(character, surface, volume, report, error));
done:
    jnaDestroyMesh(&mesh);
    return result;
}

// No flesh: skinning carries every vertex.
static jnResult LeaveEmpty(const jnaCharacter* character, jnaVolume* volume, jnaVolumeReport* report, jnError* error)
{
    jnaMesh mesh = {.nodes = jnaAllocate(0, sizeof(double)), .tetrahedra = jnaAllocate(0, sizeof(int32_t))};
    jnResult result = mesh.nodes != NULL && mesh.tetrahedra != NULL
                          ? TakeMesh(character, &mesh, volume, error)
                          : jnFail(error, jn_outOfMemory, "out of memory for a volume");
    jnaDestroyMesh(&mesh);
    volume->method = report->method = jna_volumeLattice;
    snprintf(report->reason, sizeof(report->reason), "nothing to fill: the character is made of rigid parts alone");
    for (int v = 0; result == jn_ok && v < character->vertexCount; ++v) {
        volume->skinTetrahedra[v] = -1;
        volume->skinWeights[4 * v] = 1;
    }
    return result;
}

jnResult jnaCreateVolume(const jnaCharacter* character, const jnaVolumeDef* def, jnaVolume* volume,
    jnaVolumeReport* report, jnaNotes* notes, jnError* error)
{
    jnaVolumeReport local;
    report = report != NULL ? report : &local;
    *report = (jnaVolumeReport){0};
    *volume = (jnaVolume){0};
    jnaSurface surface = {0};
    double start = jnaWallClock();
    jnResult result = jn_ok;
    JN_TRY(jnaCreateSurface(character, def->keepInner, def->shells, &surface, notes, error));
    report->time.surface = jnaWallClock() - start;
    JN_TRY(jnaWatch_Tell(&def->watch, 0.1, error));
    if (surface.triangleCount > 0) {
        JN_TRY(jnaSurface_CheckEntangled(character, &surface, &def->watch, error));
    }
    JN_TRY(surface.triangleCount > 0 ? Fill(character, &surface, def, volume, report, notes, error)
                                     : LeaveEmpty(character, volume, report, error));
    volume->skinKinds = surface.kinds;
    surface.kinds = NULL;
done:
    report->surface = surface.report;
    jnaDestroySurface(&surface);
    if (result != jn_ok) {
        jnaDestroyVolume(volume);
    }
    return result;
}
